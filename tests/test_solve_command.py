"""`workbench solve | info | convert | export`, what they stand on, and the summaries of a test set."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests import siconos_text as text
from workbench.algorithms import find_solver
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import FORMULATIONS
from workbench.cli.main import main
from workbench.comparison.posing import contact_system
from workbench.comparison.profiles import performance_profile, shifted_geometric_mean
from workbench.comparison.solving import COLUMNS, exported_step, profile, summary
from workbench.problems.bridges import cones_over_bodies
from workbench.problems.classes import LCP, CoulombNCP
from workbench.problems.examples import examples
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.problems.sets import normals_first
from workbench.readers.files import read_problem_file, write_problem_file
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.support.errors import DataError

BY_NAME = {f.name: f for f in FORMULATIONS}
COULOMB = BY_NAME["coulomb"]
OF_SPHERES = "nsgs", "apgd", "blocks-exact", "interior-point"


def one_contact(q, mu=0.5):
    """W = I: the impulse is the projection of -q where that sticks, and known in closed form elsewhere."""
    return FrictionProblem(np.eye(3), np.array(q), np.array([mu]), 2)


def redundant(rng, r=5, d=2, n=7):
    """A problem with rank W = n < r (1 + d) and a free velocity in the range of J."""
    J = rng.normal(size=(r * (1 + d), n))
    return FrictionProblem(J @ J.T, J @ rng.normal(size=n), rng.uniform(0.2, 0.8, r), d)


@pytest.mark.parametrize(
    ("q", "p"),
    [
        ([1.0, 3.0, -2.0], [0.0, 0.0, 0.0]),  # opens
        ([-2.0, 0.3, -0.4], [2.0, -0.3, 0.4]),  # sticks: p = -q
        ([-2.0, 3.0, -4.0], [2.0, -0.6, 0.8]),  # slides: p_n = 2, |p_t| = mu p_n, against the velocity
    ],
)
def test_one_contact_in_closed_form(q, p):
    answer = wb.solve(one_contact(q), COULOMB)
    assert answer.solution.verified
    assert answer.p == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("d", [1, 2])
def test_a_system_of_bodies_has_the_same_w_and_q(d):
    problem = redundant(np.random.default_rng(1), d=d, n=4)
    system = contact_system(problem)
    assert system.n == 4
    J = np.vstack([system.J_n, system.J_t])
    assert np.allclose(J @ np.linalg.solve(system.M, J.T), problem.dense, atol=1e-12)
    assert np.allclose(J @ system.v + np.r_[system.r_n, system.r_t], problem.q)


@pytest.mark.parametrize("change", ["not symmetric", "indefinite"])
def test_w_that_no_bodies_have_is_refused_by_all_but_cones(change):
    rng = np.random.default_rng(2)
    W = redundant(rng, n=15).dense.copy()
    if change == "indefinite":
        W -= 1.5 * np.linalg.eigvalsh(W)[0] * np.eye(15)
    else:
        W[0, 1] *= 3
    problem = FrictionProblem(W, rng.normal(size=15), np.full(5, 0.3), 2)
    with pytest.raises(DataError, match=r"of the form J M\^-1 J\^T.*coulomb, and ccp"):
        wb.solve(problem, BY_NAME["stewart-trinkle"])
    assert isinstance(problem.coulomb(), CoulombNCP)
    assert np.array_equal(problem.coulomb().M, W)
    if change == "not symmetric":
        with pytest.raises(DataError, match="asymmetry"):
            wb.solve(problem, BY_NAME["ccp"])


def test_the_way_through_bodies_agrees_with_the_problem_classes():
    """Cones put over bodies by the assembly, and straight over W."""
    rng = np.random.default_rng(3)
    for name in ("coulomb", "ccp"):
        for d in (1, 2):
            problem = redundant(rng, r=3, d=d, n=12)
            answer = wb.solve(problem, BY_NAME[name])
            contact, solution = solve_system(BY_NAME[name], contact_system(problem), find_solver(f"{name}-exact"))
            assert answer.solution.verified
            assert solution.verified
            u, u_bodies = (problem.dense @ p for p in (answer.p, np.r_[contact.p_n, contact.p_t]))
            assert np.allclose(u, u_bodies, atol=1e-9)


@pytest.mark.parametrize(("r", "d", "m"), [(3, 2, 0), (3, 1, 2)])
def test_formulations_over_a_file_are_those_of_the_system_it_came_from(systems, r, d, m):
    """A system of bodies, with bilateral constraints or without, and its W and q alone."""
    system = systems.random_system(4, r=r, d=d, m=m)
    W, q = systems.delassus(system)
    problem = FrictionProblem(0.5 * (W + W.T), q, system.mu, d)
    for name, solver in (("stewart-trinkle", "lemke"), ("box", "judice-pires"), ("frictionless", "lemke")):
        contact, solution = solve_system(BY_NAME[name], system, find_solver(solver))
        answer = wb.solve(problem, BY_NAME[name])
        assert solution.verified
        assert answer.solution.verified, name
        assert np.allclose(answer.p[:r], contact.p_n, atol=1e-9), name
        assert np.allclose(answer.p[r:], contact.p_t, atol=1e-9), name


def test_in_one_plane_the_polygon_is_the_cone():
    """With one tangent Stewart and Trinkle's polygon is exact: all formulations of the law agree."""
    problem = redundant(np.random.default_rng(5), r=4, d=1, n=8)
    exact = wb.solve(problem, COULOMB)
    polygon = wb.solve(problem, BY_NAME["stewart-trinkle"])
    assert problem.coulomb().residual(polygon.p) < 1e-12
    assert np.allclose(problem.dense @ polygon.p, problem.dense @ exact.p, atol=1e-9)


def test_unscaled_residual_depends_on_the_units_and_the_scaled_one_does_not():
    rng = np.random.default_rng(6)
    problem = redundant(rng)
    p = rng.normal(size=15)
    for seconds, kilograms in ((1.0, 1.0), (1e3, 1e-2)):
        # q in m/s, p in kg m/s, hence W in 1/kg.
        W, q = problem.dense / kilograms, problem.q / seconds
        law = CoulombNCP(W, q, problem.mu, 2)
        z = p * kilograms / seconds
        gap = z - projected(z - W @ z - q - np.r_[problem.mu * slip(W @ z + q), np.zeros(10)], problem.mu)
        assert law.unscaled_residual(z) == pytest.approx(np.linalg.norm(gap) / np.linalg.norm(q), rel=1e-12)
        assert law.residual(z) == pytest.approx(problem.coulomb().residual(p), rel=1e-12)


def slip(u):
    return np.linalg.norm(u[5:].reshape(5, 2), axis=1)


def projected(y, mu):
    """Onto the friction cones, contact by contact, written out."""
    z = np.zeros_like(y)
    for i in range(5):
        n, t = y[i], y[5 + 2 * i : 7 + 2 * i]
        size = np.hypot(*t)
        if size <= mu[i] * n:
            z[i], z[5 + 2 * i : 7 + 2 * i] = n, t
        elif mu[i] * size > -n:
            z[i] = (n + mu[i] * size) / (1 + mu[i] ** 2)
            z[5 + 2 * i : 7 + 2 * i] = mu[i] * z[i] * t / size
    return z


def test_success_rates_profiles_and_means():
    costs = np.array([[1.0, 2.0], [4.0, 1.0], [np.inf, 3.0], [np.inf, np.inf]])
    factors, shares = performance_profile(costs)
    assert factors.tolist() == [1.0, 2.0, 4.0]
    assert shares.tolist() == [[0.25, 0.5], [0.25, 0.75], [0.5, 0.75]]
    _, shares = performance_profile(costs, [1e9])
    assert shares[0].tolist() == [0.5, 0.75]
    # The unit of the costs does not matter to a profile; it does to a mean, whose shift has the same unit.
    assert np.array_equal(performance_profile(1e3 * costs)[1], performance_profile(costs)[1])
    assert shifted_geometric_mean([1.0, 3.0], 1.0) == pytest.approx(np.sqrt(8.0) - 1.0)
    assert shifted_geometric_mean([7.0], 2.0) == pytest.approx(7.0)
    values = np.random.default_rng(7).uniform(0.0, 5.0, 40)
    means = [shifted_geometric_mean(values, s) for s in (1e-9, 1.0, 1e9)]
    assert values.min() <= means[0] < means[1] < means[2] == pytest.approx(values.mean(), rel=1e-6)
    with pytest.raises(DataError, match="shift 0"):
        shifted_geometric_mean([1.0], 0.0)
    with pytest.raises(DataError, match="shape"):
        performance_profile([1.0, 2.0])


def test_means_are_over_what_all_methods_solved():
    times = {("a", "x"): 1.0, ("a", "y"): 2.0, ("b", "x"): 5.0, ("b", "y"): None, ("b", "z"): None, ("a", "z"): None}
    rows = pd.DataFrame(
        [{"file": f, "method": m, "solve_time": t, "verified": t is not None} for (f, m), t in times.items()]
    )
    rows["claimed"] = ["SOLVED", "SOLVED", "NO_SOLUTION", "RAY", "RAY", "RAY"]
    found = summary(rows).set_index("method")
    assert found["solved"].tolist() == [2, 1, 0]
    assert found["without_solution"].tolist() == [1, 0, 0]
    assert found["mean_over"].tolist() == [1, 1, 1]
    assert found["time_mean"].tolist()[:2] == pytest.approx([1.0, 2.0])
    last = profile(rows).groupby("method")["share"].max()
    assert last.to_dict() == {"x": 1.0, "y": 0.5, "z": 0.0}


@pytest.fixture
def folder(tmp_path):
    """A test set: two friction problems, one of them in global form, an LCP, a broken file and one that is none."""
    rng = np.random.default_rng(8)
    inside = tmp_path / "set" / "deeper"
    inside.mkdir(parents=True)
    write_problem_file(redundant(rng), tmp_path / "set" / "a.hdf5")
    H = rng.normal(size=(9, 6))
    (inside / "b.dat").write_text(
        text.global_(2.0 * np.eye(9), H, np.ones(9), np.zeros(6), np.full(2, 0.4), 3, text.triplets)
    )
    (tmp_path / "set" / "c.dat").write_text(text.lcp(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])))
    (tmp_path / "set" / "d.dat").write_text("3\n4\n0\n")
    (tmp_path / "set" / "README.md").write_text("no problem")
    return tmp_path / "set"


def run(capsys, *arguments):
    assert main(list(map(str, arguments))) == 0
    return capsys.readouterr().out


def test_solve_a_folder(folder, tmp_path, capsys):
    rows = json.loads(run(capsys, "solve", folder, "--json", "--out", tmp_path / "out"))
    assert [tuple(row) for row in rows] == [COLUMNS] * 4
    a, c, d, b = rows
    assert [row["file"].removeprefix(f"{folder}/") for row in (a, b, c, d)] == [
        "a.hdf5", "deeper/b.dat", "c.dat", "d.dat"
    ]  # fmt: skip
    assert [row["claimed"] for row in (a, b, c, d)] == ["SOLVED", "SOLVED", "SOLVED", "UNREADABLE"]
    assert [row["verified"] for row in (a, b, c, d)] == [True, True, True, False]
    assert (a["formulation"], a["solver"], a["contacts"], a["size"]) == ("coulomb", "coulomb-exact", 5, 15)
    assert (c["formulation"], c["solver"], c["contacts"], c["natural_map"]) == ("LCP", "lemke", None, None)
    assert b["natural_map"] == pytest.approx(b["residual"])
    assert b["natural_map_unscaled"] < 1e-9
    assert "d.dat" in d["reason"]
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "results.csv", "summary.csv", "journal.jsonl", "profile.csv", "provenance.json"
    }  # fmt: skip
    totals = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert totals[["problems", "solved", "success_rate"]].to_numpy().tolist() == [[4, 3, 0.75]]
    facts = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert facts["versions"]["h5py"][0].isdigit()


def test_solve_with_solvers_that_refuse(folder, capsys):
    out = run(capsys, "solve", folder / "a.hdf5", folder / "c.dat", "--solver", "lemke", "--solver", "coulomb-exact")
    assert "cones in space have no finite set of generators" in " ".join(out.split())
    assert "through: its sets one by one; friction cones under Coulomb's law" in out
    assert "lemke: 1 of 2 verified" in out
    assert "coulomb-exact: 2 of 2 verified" in out


def test_solve_under_another_formulation(folder, capsys):
    rows = json.loads(run(capsys, "solve", folder / "a.hdf5", "-f", "stewart-trinkle:directions=8", "--json"))
    assert (rows[0]["formulation"], rows[0]["solver"]) == ("stewart-trinkle:directions=8", "lemke")
    assert rows[0]["verified"]
    # Its own problem is solved to round-off; Coulomb's law it meets as well as eight directions can.
    assert 1e-6 < rows[0]["natural_map"] < 0.3
    rows = json.loads(run(capsys, "solve", folder / "a.hdf5", "-f", "sliding-lcp", "--json"))
    assert rows[0]["claimed"] == "REFUSED"
    assert "one instant" in rows[0]["reason"]


@pytest.mark.thorough
def test_solve_with_a_time_limit(folder, capsys):
    """What takes too long is a row, and what comes after it is solved."""
    rng = np.random.default_rng(9)
    J = rng.normal(size=(900, 200))
    write_problem_file(FrictionProblem(J @ J.T, rng.normal(size=900), np.full(300, 0.9), 2), folder / "a-slow.hdf5")
    rows = json.loads(run(capsys, "solve", folder, "--json", "--time-limit", "2"))
    claimed = {Path(row["file"]).name: row["claimed"] for row in rows}
    assert claimed == {
        "a-slow.hdf5": "TIME_LIMIT", "a.hdf5": "SOLVED", "b.dat": "SOLVED", "c.dat": "SOLVED", "d.dat": "UNREADABLE"
    }  # fmt: skip
    (late,) = (row for row in rows if row["claimed"] == "TIME_LIMIT")
    assert re.fullmatch(r"no answer within 2 s; the best iterate has residual \S+", late["reason"])
    assert 0 < late["residual"] == late["natural_map"] < 1
    assert not late["verified"]


def test_info(folder, capsys):
    facts = json.loads(run(capsys, "info", folder / "deeper" / "b.dat", "--json"))
    assert (facts["kind"], facts["contacts"], facts["velocities"], facts["rank"]) == ("global friction", 2, 9, 6)
    assert "rank" in run(capsys, "info", folder / "c.dat")


def test_convert_to_local(folder, tmp_path, capsys):
    run(capsys, "convert", folder / "deeper" / "b.dat", tmp_path / "b.hdf5")
    assert isinstance(read_problem_file(tmp_path / "b.hdf5"), GlobalFrictionProblem)
    run(capsys, "convert", tmp_path / "b.hdf5", tmp_path / "b.npz", "--local")
    local = read_problem_file(tmp_path / "b.npz")
    H = read_problem_file(tmp_path / "b.hdf5").H.toarray()
    assert np.allclose(local.dense, 0.5 * H.T @ H)
    assert np.allclose(local.q, 0.5 * H.T @ np.ones(9))


def test_convert_an_lcp_through_every_format_that_has_one(folder, tmp_path, capsys):
    """And `check` reads the last as it reads the first."""
    names = [folder / "c.dat", tmp_path / "c.mat", tmp_path / "d.dat", tmp_path / "e.npz", tmp_path / "c.mtx"]
    for given, out in itertools.pairwise(names):
        run(capsys, "convert", given, out)
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".mtx") == ["c.mtx", "c_q.mtx"]
    first = json.loads(run(capsys, "check", names[0], "--json"))
    last = json.loads(run(capsys, "check", names[-1], "--rhs", tmp_path / "c_q.mtx", "--json"))
    assert first["solutions"] == last["solutions"]
    assert first["solutions"]


@pytest.mark.parametrize("name", ["cube", "rod-in-guide"])
def test_export_is_the_problem_of_that_step(name, tmp_path, capsys):
    """Its solution is the run's own impulse of that step; with bilateral constraints, too."""
    run(capsys, "export", name, tmp_path / "p.hdf5", "--step-number", "30", "--step", "2e-3")
    case = next(c for c in CASES if c.name == name)()
    steps = simulate(case, COULOMB, find_solver("coulomb-exact"), 2e-3, 31 * 2e-3)
    problem = read_problem_file(tmp_path / "p.hdf5")
    p = np.r_[steps.p_n[30], steps.p_t[30].ravel()]
    assert np.array_equal(problem.mu, steps.record.friction[30])
    assert problem.coulomb().residual(p) < 1e-9
    if not case.size[1]:
        assert np.allclose(problem.dense, steps.W[30], rtol=1e-10)
        assert np.allclose(problem.q, steps.free_rates[30], rtol=1e-10, atol=1e-12)
    with pytest.raises(DataError, match="from 0"):
        exported_step(case, COULOMB, 1e-3, -1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "nothing.dat"], "does not exist"),
        (["solve", "."], "holds no problems"),
        (["solve", "a.npz", "--solver", "magic"], "unknown solver 'magic'"),
        (["solve", "a.npz", "-f", "magic"], "unknown formulation 'magic'"),
        (["info", "."], "is a folder"),
        (["convert", "a.npz", "a.csv"], "written as .hdf5"),
        (["convert", "a.npz", "a.hdf5"], "this is an LCP"),
        (["convert", "a.npz", "b.npz", "--local"], "global friction problems"),
        (["export", "wheel", "a.hdf5", "--step", "soon"], "--step in seconds: 'soon'"),
        (["solve", "a.npz", "--time-limit", "-1"], "--time-limit -1 is out of range"),
        (["export", "wheel", "a.hdf5", "--step-number", "-1"], "counted from 0"),
    ],
)
def test_mistakes_are_one_line(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if "a.npz" in arguments:
        write_problem_file(LCP(np.eye(2), -np.ones(2)), "a.npz")
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert words in captured.err
    assert sorted(p.name for p in tmp_path.iterdir()) == (["a.npz"] if "a.npz" in arguments else [])


def test_order_of_a_local_file(tmp_path, capsys):
    """A problem whose contacts differ, so that a wrong order gives other contacts the impulses."""
    W, q, mu = np.diag([1.0, 2.0, 2.0, 4.0, 8.0, 8.0]), np.array([-1.0, 0, 0, -8.0, 0.8, 0]), np.array([0.1, 0.5])
    (tmp_path / "p.dat").write_text(text.local(W, q, mu, 3, text.columns))
    answer = wb.solve(read_problem_file(tmp_path / "p.dat"), COULOMB)
    by_contact = np.zeros(6)
    by_contact[normals_first(2, 2)] = answer.p
    assert by_contact == pytest.approx([1.0, 0, 0, 2.0, -0.1, 0], abs=1e-12)


def test_a_file_with_contacts_of_spheres_is_solved_by_their_solvers(tmp_path, capsys):
    """Over (M, H), which bridges lead to the blocks that these take; other files are refused for what they are."""
    for law, formulation, names in (("CCP", "ccp", OF_SPHERES), ("Coulomb", "coulomb", OF_SPHERES)):
        data = cones_over_bodies.BRIDGE.forward(examples(1)[f"{law} of spheres"]).problem.data
        write_problem_file(data, tmp_path / "spheres.hdf5")
        options = [x for name in names for x in ("--solver", name)]
        rows = json.loads(run(capsys, "solve", tmp_path / "spheres.hdf5", "-f", formulation, *options, "--json"))
        assert [row["verified"] for row in rows] == [True] * len(names)
        assert "contacts and bilateral rows as blocks" in rows[-1]["path"]
    write_problem_file(redundant(np.random.default_rng(8)), tmp_path / "others.hdf5")
    rows = json.loads(run(capsys, "solve", tmp_path / "others.hdf5", "--solver", "interior-point", "--json"))
    assert "these are not contacts of spheres: " in rows[0]["reason"]


def test_the_default_solver_takes_a_tolerance(folder, capsys):
    (row,) = json.loads(run(capsys, "solve", folder / "a.hdf5", "-f", "ccp", "--tolerance", "1e-6", "--json"))
    assert (row["verified"], row["tolerance"], row["path"]) == (True, 1e-6, None)
    assert row["residual"] <= 1e-6
