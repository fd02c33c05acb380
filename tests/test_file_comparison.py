"""`workbench compare FILE`: a friction problem without bodies under every formulation, beside its exact solution."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.algorithms import find_solver
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.figures.charts import write_figures
from workbench.builtin.reports.figures.comparison import contacts_of, figures
from workbench.builtin.reports.pages.comparison import render
from workbench.builtin.reports.text.comparison import (
    budget_columns,
    error_columns,
    judged_columns,
    known_in_words,
)
from workbench.builtin.reports.text.terminal import print_comparison
from workbench.cli.main import main
from workbench.comparison import files
from workbench.comparison.files import compare_problem
from workbench.comparison.merging import Saved, merged
from workbench.comparison.metrics import METRICS
from workbench.comparison.solving import exported_step
from workbench.engine.timing import clock
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.readers.files import write_problem_file
from workbench.step.simulation import simulate
from workbench.support.errors import WorkbenchError
from workbench.support.output import provenance

BY_NAME = {f.name: f for f in FORMULATIONS}
COULOMB = BY_NAME["coulomb"]
HEXAGON = BY_NAME["stewart-trinkle"].with_options(directions=6)
COUPLED = BY_NAME["box"].with_options(bounds="coupled")


def compared(problem, formulations=FORMULATIONS, solvers=(), **options):
    return compare_problem("the problem", problem, formulations, COULOMB, solvers, **options)


def sliding(angle=0.3, mu=0.5):
    """A contact with W = I that is pressed together at 2 and slides at 5 along an angle [rad]."""
    return FrictionProblem(np.eye(3), np.array([-2.0, 5 * np.cos(angle), 5 * np.sin(angle)]), np.array([mu]), 2)


def redundant(seed, r=4, d=2, n=6):
    """rank W = n < r (1 + d), q in its range."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(r * (1 + d), n))
    return FrictionProblem(J @ J.T, J @ rng.normal(size=n), rng.uniform(0.2, 0.8, r), d)


def first(c, label):
    return c.runs[c.runs["label"] == label].iloc[0]


def impulses(c, label):
    t = c.trajectories
    row = t[(t["label"] == label) & (t["role"] == "run")].drop_duplicates("contact")
    return row[["p_n", *[f"p_t{j + 1}" for j in range(c.facts["dimension"] - 1)]]].to_numpy()


@pytest.fixture(scope="module")
def one():
    return compared(sliding(), [*FORMULATIONS, HEXAGON, COUPLED])


def by_hand(angle=0.3, mu=0.5):
    """Impulses (p_n, p_t) on W = I, pressed at 2, sliding at 5 along e = (cos, sin), by each friction model.

    Normal and tangent are not coupled, so p_n = 2 but for the CCP, and friction takes the most dissipation p_t.u from
    its set: the disc -mu p_n e; the square with corners on the axes (4 directions) its corner next to -e; the hexagon
    the same; the box its corner (-1, -1). The CCP's p is the projection of -q onto the cone: on the generator along -e,
    p_n = (2 + 5 mu) / (1 + mu^2).
    """
    e = np.array([np.cos(angle), np.sin(angle)])
    corners = np.array([[np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)] for k in range(6)])
    p_n = (2 + 5 * mu) / (1 + mu**2)
    disc, square, box = [2.0, *(-2 * mu * e)], [2.0, -2 * mu, 0.0], [2.0, -2 * mu, -2 * mu]
    return {
        "frictionless": [2.0, 0.0, 0.0], "stewart-trinkle": square, "anitescu-potra": square, "staggered": square,
        "stewart-trinkle:directions=6": [2.0, *(2 * mu * corners[np.argmin(corners @ e)])],
        "discrete-velocity": box, "box": box, "box:bounds=coupled": box,
        "phantom-inertia": disc, "hybrid": disc, "coulomb": disc, "ccp": [p_n, *(-mu * p_n * e)],
    }  # fmt: skip


@pytest.mark.parametrize(("label", "p"), by_hand().items())
def test_one_contact_by_hand(one, label, p):
    """Impulses, and with W = I their distances; u = p + q."""
    assert impulses(one, label)[0] == pytest.approx(p, abs=1e-8)
    row, exact, q = first(one, label), np.array(by_hand()["coulomb"]), sliding().q
    apart = np.linalg.norm(np.array(p) - exact)
    assert row["velocity_error"] == pytest.approx(apart / np.linalg.norm(q), abs=1e-8)
    assert row["velocity_formulation"] == pytest.approx(row["velocity_error"], abs=1e-12)
    assert row["impulse_error"] == pytest.approx(apart / np.linalg.norm(exact), abs=1e-8)
    size = np.hypot(p[1], p[2])
    assert row["friction_rmsd"] == pytest.approx(abs(size / (0.5 * p[0]) - 1.0), abs=1e-8)
    assert row["cone"] == pytest.approx(max(size - 0.5 * p[0], 0.0), abs=1e-8)
    u = np.array(p) + q
    slip = np.hypot(u[1], u[2])
    assert row["dissipation"] == pytest.approx(abs(0.5 * p[0] * slip + p[1] * u[1] + p[2] * u[2]), abs=1e-7)
    if size:
        angle = np.degrees(np.arccos(np.clip(-(p[1] * u[1] + p[2] * u[2]) / size / slip, -1, 1)))
        assert row["misalignment_rms"] == pytest.approx(angle, abs=1e-5)
    # The CCP lifts a sliding contact to u_n = mu |u_t|, and presses all the same: it slides and is not open.
    assert row["other_mode"] == 0
    assert u[0] == pytest.approx(0.5 * slip if label == "ccp" else 0.0, abs=1e-12)


def test_every_formulation_has_a_row_and_convex_ones_two(one):
    assert set(one.runs["label"]) == {f.label for f in (*FORMULATIONS, HEXAGON, COUPLED)}
    assert {m.column.name for m in METRICS if "problem" in m.column.of} <= set(one.runs.columns)
    generic = set(one.runs[one.runs["solver"] == "cvxpy:CLARABEL"]["label"])
    convex = {"frictionless", "box", "hybrid", "ccp", "mujoco", "mujoco-pyramid", "sap", "comfree", "ipc"}
    # The rows of a single contact with a diagonal W do not see each other in a sweep.
    assert generic == convex | {"gauss-seidel"}
    assert one.runs["verified"].all()
    assert "velocity_discretisation" not in one.runs


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_run_in_two_comparisons_the_newer_is_shown(order):
    c = compared(sliding(), [BY_NAME["ccp"], COULOMB])
    versions = {"versions": {}}
    both = [
        Saved(Path(year), replace(c, runs=c.runs.assign(solve_time=float(year))), versions | {"created": year})
        for year in ("2024", "2025")
    ]
    found = merged(both[::order])
    assert found.runs["solve_time"].tolist() == [2025.0] * len(c.runs)
    assert found.remarks[-1].endswith("shown is the newer, of 2025, in '2025'.")


def test_formulation_and_solver_error_are_told_apart():
    """The generic optimiser's share is its distance to the formulation solved to round-off, and no more."""
    c = compared(sliding(), [BY_NAME["ccp"]])
    exact, generic = (c.runs[c.runs["solver"] == name].iloc[0] for name in ("ccp-exact", "cvxpy:CLARABEL"))
    assert exact["velocity_solver"] == exact["impulse_solver"] == 0
    assert 0 < generic["velocity_solver"] < 1e-5
    assert generic["velocity_formulation"] == exact["velocity_formulation"] == exact["velocity_error"] > 0.1
    t = c.trajectories[c.trajectories["role"] == "run"].set_index("solver")[["p_n", "p_t1", "p_t2"]]
    apart = np.linalg.norm(t.loc["cvxpy:CLARABEL"] - t.loc["ccp-exact"])
    assert generic["velocity_solver"] == pytest.approx(apart / np.linalg.norm(sliding().q), rel=1e-9)


def test_a_named_solver_takes_what_it_can():
    c = compared(sliding(), [BY_NAME["ccp"], BY_NAME["anitescu-potra"]], ["lemke"])
    refused, solved = first(c, "ccp"), first(c, "anitescu-potra")
    assert len(c.runs) == 2
    assert (refused["claimed"], refused["verified"]) == ("REFUSED", False)
    assert "lemke solves LCP" in refused["reason"]
    assert solved["verified"]


@pytest.mark.parametrize("case", [Wheel(), Cube()])
@pytest.mark.parametrize("name", ["anitescu-potra", "ccp"])
def test_an_exported_step_gives_the_impulses_of_the_run(case, name):
    """Formulations without a memory make the same first step of a case and of its file."""
    exact = simulate(case, COULOMB, find_solver("coulomb-exact"), 1e-3, 1e-3)
    f = BY_NAME[name]
    c = compared(exported_step(case, COULOMB, 1e-3, 0), [f])
    solver = c.runs["solver"].iloc[0]
    run = simulate(case, f, find_solver(solver), 1e-3, 1e-3)
    assert run.steps == exact.steps == 1
    mine = impulses(c, f.label)
    if c.known["null_space"] == 0:
        assert mine == pytest.approx(np.column_stack([run.p_n[0], run.p_t[0]]), abs=1e-9 * np.abs(mine).max())
    own, other = (r.W[0] @ np.concatenate([r.p_n[0], r.p_t[0].ravel()]) + r.free_rates[0] for r in (run, exact))
    assert first(c, f.label)["velocity_error"] == pytest.approx(
        np.linalg.norm(own - other) / np.linalg.norm(exact.free_rates[0]), abs=1e-9
    )


def counted_twice():
    """A contact that sticks, counted twice, beside an independent one that slides."""
    rng = np.random.default_rng(5)
    twice, alone = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    J = np.zeros((9, 6))
    for i, block in enumerate((twice, twice)):
        J[[i, 3 + 2 * i, 4 + 2 * i], :3] = block
    J[[2, 7, 8], 3:] = alone
    free = -twice.T @ [1.0, 0.1, 0.05], np.linalg.solve(alone, [-1.0, 4.0, 0.0])
    return FrictionProblem(J @ J.T, J @ np.concatenate(free), np.full(3, 0.5), 2)


def test_the_set_of_exact_impulses_of_contacts_counted_twice_has_three_dimensions():
    """Impulses of the sticking twins may be shared between them at will: three directions."""
    known = compared(counted_twice(), [COULOMB]).known
    assert known["dimension"] == 3
    assert (known["open"], known["sliding"], known["sticking"]) == (0, 1, 2)


@pytest.mark.thorough
def test_impulses_are_compared_only_where_velocities_determine_them():
    """Of the twins and the third contact only the third is compared."""
    c = compared(counted_twice())
    assert c.known["null_space"] == 3
    assert c.known["comparable"] == 1
    reference = c.trajectories[c.trajectories["role"] == "reference"]
    assert reference["determined"].tolist() == [False, False, True]
    for label in ("ccp", "anitescu-potra"):
        row, p = first(c, label), impulses(c, label)[2]
        exact = reference[["p_n", "p_t1", "p_t2"]].to_numpy()[2]
        assert row["impulse_error"] == pytest.approx(np.linalg.norm(p - exact) / np.linalg.norm(exact), rel=1e-9)
    assert any("those of 2 of 3 contacts" in sentence for sentence in known_in_words(c))


def test_where_nothing_is_determined_nothing_is_printed():
    c = compared(redundant(1), [BY_NAME["ccp"], COULOMB])
    assert c.known["comparable"] == 0
    assert c.runs[["impulse_error", "friction_rmsd", "misalignment_rms"]].isna().all(axis=None)
    assert first(c, "ccp")["velocity_error"] > 0
    page = outside_scripts(render(c, provenance()))
    assert "impulses at none" in page
    assert "<td>n/u (" in page


def test_the_proof_of_uniqueness_is_claimed_where_it_holds_and_nowhere_else():
    known = compared(sliding(mu=0.5), [COULOMB]).known
    assert known["velocity"] == "unique"  # cond W = 1
    alone = compared(sliding(mu=1.5), [COULOMB]).known
    assert (alone["velocity"], "the closed criterion for one contact holds" in alone["reason"]) == ("unique", True)
    coupled = FrictionProblem(np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]), np.array([-1, 0.1, 0]), [1.05], 2)
    searched = compared(coupled, [COULOMB]).known
    assert (searched["velocity"], "all modes were searched, with proof" in searched["reason"]) == ("unique", True)
    assert compared(redundant(2), [COULOMB]).known["velocity"] == "not known"
    smooth = redundant(2)
    without = FrictionProblem(smooth.W, smooth.q, np.zeros(4), 2)
    assert compared(without, [COULOMB]).known["velocity"] == "unique"


def asymmetric():
    """No bodies have such a W, nor one near to it."""
    problem = redundant(3, n=12)
    return FrictionProblem(problem.dense + 0.5 * np.triu(np.ones((12, 12))), problem.q, problem.mu, 2)


def test_formulations_that_cannot_take_the_problem_are_rows_with_a_reason():
    c = compared(asymmetric())
    assert len(c.runs) == len(FORMULATIONS)
    assert c.runs[c.runs["verified"]]["label"].tolist() == ["coulomb"]
    refused = c.runs[~c.runs["verified"]]
    assert (refused["claimed"] == "REFUSED").all()
    assert refused["reason"].str.contains("asymmetry|symmetric").all()
    assert refused["velocity_error"].isna().all()
    page = outside_scripts(render(c, provenance()))
    assert page.count("relative asymmetry") >= len(FORMULATIONS) - 2


def test_a_row_that_takes_too_long_says_so():
    c = compared(redundant(4, n=12), [BY_NAME["ccp"], COULOMB], seconds=1e-6)
    late = c.runs[c.runs["label"] == "ccp"]
    assert late["claimed"].tolist() == ["TIME_LIMIT"]
    assert late["reason"].str.contains("no answer within 1e-06 s").all()
    # The exact solution is there already.
    assert first(c, "coulomb")["verified"]
    assert set(contacts_of(c)["label"]) == {"coulomb"}
    assert "no answer within" in render(c, provenance())


def test_a_late_row_tells_the_residual_of_its_best_iterate(monkeypatch):
    problem = redundant(4, n=12)
    p = np.r_[np.ones(4), np.zeros(8)]

    def late(function, waiting, seconds, lost):
        while waiting:
            yield lost(waiting.pop(0), "TIME_LIMIT", f"no answer within {seconds:g} s", p)

    monkeypatch.setattr("workbench.comparison.files.limited", late)
    row = first(compared(problem, [BY_NAME["ccp"], COULOMB], seconds=2.0), "ccp")
    residual = float(problem.ccp().residual(p))
    assert residual > 1e-3
    assert row["reason"] == f"no answer within 2 s; the best iterate has residual {residual:.1e}"
    assert not row["verified"]


def test_without_an_exact_solution_there_is_no_comparison():
    """Pulled apart along the normal of one contact whose W is negative: no impulse makes it stop."""
    with pytest.raises(WorkbenchError, match="exact solution is not verified"):
        compared(FrictionProblem(-np.eye(3), np.array([-1.0, 0.0, 0.0]), np.array([0.5]), 2), [COULOMB])


def outside_scripts(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def test_what_is_asked_after_an_answer_does_not_count_as_its_time(monkeypatch):
    """A problem that is posed once more, to see whether it is convex, is no reason for a TIME_LIMIT."""
    passed, posed = [], files.posed

    def slowly(problem, formulation):
        begun = clock()
        time.sleep(0.01)
        passed.append(clock() - begun)
        return posed(problem, formulation)

    monkeypatch.setattr(files, "posed", slowly)
    outcome = files.outcome_of(redundant(4, n=12), files.Job(BY_NAME["ccp"], None, files.STEP))
    assert (outcome.claimed, outcome.convex, passed) == ("SOLVED", True, [0.0])


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 2])
def test_the_page_has_every_row_figure_and_relation(d, tmp_path):
    c = compared(redundant(6, d=d, n=4 * (1 + d)))
    page = render(c, provenance())
    text = outside_scripts(page)
    assert not re.search(r"""src\s*=|@import|url\(""", text)
    assert all(link.startswith(("data:", "#")) for link in re.findall(r'href="([^"]*)"', text))
    assert text.count('<td class="name">') == (2 + len(budget_columns(c))) * len(c.runs)
    details = text.count("<details") - text.count("Column definitions") - text.count('<details class="fold')
    assert details == len(FORMULATIONS) + len(budget_columns(c)) + 1, "the second table is folded"
    assert "no time discretisation error" in text
    for column in (*error_columns(c), *judged_columns(c)):
        assert f">{column.title}</button></th>" in text
    spec = re.search(r"const specs = (.*?);\nadd", page, flags=re.S).group(1)
    json.loads(spec.replace("<\\/", "</"), parse_constant=lambda name: pytest.fail(f"{name} in a figure"))
    paths = write_figures(figures(c), tmp_path, "svg")
    assert [p.stem for p in paths] == ["ranking", "budget", "friction", "cones", "motion"]
    assert all("NaN" not in p.read_text() for p in paths)


def test_figures_of_very_many_contacts_are_thinned(one, monkeypatch):
    monkeypatch.setattr("workbench.builtin.reports.figures.comparison.ROWS", 20)
    c = compared(redundant(7, r=8, n=24), [BY_NAME["ccp"], BY_NAME["frictionless"], COULOMB])
    points = contacts_of(c)
    assert len(points) <= 20
    assert "Drawn: 4 of 8 contacts" in next(f for f in figures(c) if f.name == "friction").caption


def test_the_command_writes_what_it_promises(tmp_path, capsys):
    write_problem_file(sliding(), tmp_path / "slide.npz")
    out = tmp_path / "result"
    command = ["compare", str(tmp_path / "slide.npz"), "-f", "ccp", "-f", "coulomb", "--out", str(out)]
    assert main([*command, "--time-limit", "60", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["label"], r["solver"]) for r in rows] == [
        ("ccp", "ccp-exact"), ("ccp", "cvxpy:CLARABEL"), ("coulomb", "coulomb-exact"),
    ]  # fmt: skip
    keys = (
        "file formulation label options solver problem_class claimed verified size residual tolerance iterations",
        "build_time solve_time reason velocity_error velocity_formulation velocity_solver impulse_error friction_rmsd",
        "misalignment_rms other_mode signorini cone dissipation natural_map",
    )
    assert {name for line in keys for name in line.split()} <= set(rows[0])
    assert len(pd.read_csv(out / "runs.csv")) == len(pd.read_parquet(out / "runs.parquet")) == 3
    assert set(pd.read_parquet(out / "trajectories.parquet")["role"]) == {"run", "reference"}
    facts = json.loads((out / "provenance.json").read_text())
    assert facts["problem"]["contacts"] == 1
    assert facts["settings"] == {"time_limit": 60.0}
    assert "report.html" in {p.name for p in out.iterdir()}


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_tells_all_and_cuts_nothing_off(one, width, capsys, monkeypatch):
    monkeypatch.setattr("workbench.builtin.reports.text.terminal.PIPE_WIDTH", width)
    print_comparison(one)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= width
    assert all(label in said for label in one.runs["label"])
    assert "discretisation" in said


def test_reasons_that_rows_share_are_reported_once(capsys):
    print_comparison(compared(asymmetric()))
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("W is not of the form J M^-1 J^T") == 1
    assert "frictionless, stewart-trinkle, anitescu-potra" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.npz"], ["missing.npz", "does not exist"]),
        (["no/such/file"], ["does not exist"]),
        (["lcp.npz"], ["lcp.npz", "LCP", "friction problems"]),
        (["broken.dat"], ["broken.dat"]),
        (["slide.npz", "--step", "1e-3"], ["--step", "cases"]),
        (["slide.npz", "--set", "m=2"], ["--set", "cases"]),
        (["slide.npz", "--normal", "gap"], ["--normal", "cases"]),
        (["slide.npz", "--reference-step", "1e-4"], ["--reference-step", "cases"]),
        (["slide.npz", "--time-limit", "-3"], ["--time-limit", "positive"]),
        (["slide.npz", "-f", "cpp"], ["cpp", "ccp"]),
        (["slide.npz", "-f", "sliding-lcp"], ["sliding-lcp", "no time steps"]),
        (["slide.npz", "--solver", "lemkee"], ["lemkee", "lemke"]),
        (["wheel", "--time-limit", "3"], ["--time-limit", "files"]),
        (["whell"], ["whell", "did you mean 'wheel'?"]),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_problem_file(sliding(), tmp_path / "slide.npz")
    write_problem_file(MLCP(np.eye(2), np.ones(2), 0.0, np.inf), tmp_path / "lcp.npz")
    (tmp_path / "broken.dat").write_text("three contacts")
    before = sorted(p.name for p in tmp_path.iterdir())
    assert main(["compare", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().split("\n")) == 1
    assert all(word in err for word in words), err
    assert sorted(p.name for p in tmp_path.iterdir()) == before
