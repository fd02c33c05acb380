"""Solvers step by step: known runs by hand and of textbooks, agreement with the compiled codes, exact ends, pages."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from latex2mathml.converter import convert

import workbench as wb
from tests.lcps import lemke_workspace
from workbench.algorithms import SOLVERS, keller
from workbench.algorithms.judice_pires import by_pivots
from workbench.algorithms.lemke.path import follow_path
from workbench.algorithms.pgs import relative_step, sweeps_from
from workbench.builtin.reports.text.trace_latex import in_latex
from workbench.cli.main import main
from workbench.matrices.solution_set import solution_set
from workbench.problems.classes import LCP

KOSTREVA = [[1, 2, 0], [0, 1, 2], [2, 0, 1]]
CPS = ([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1])
PIVOTING = ("lemke", "murty", "judice-pires", "keller")


def pairs(found):
    name = found.trace.system.name
    return [tuple(" ".join(map(name, some)) for some in (s.entering, s.leaving)) for s in found.trace.pivots[1:]]


def murty_1978(n):
    """Lower triangular with 2 below the unit diagonal, and q_i = -2^n - ... - 2^(n-i)."""
    return np.tril(2 * np.ones((n, n)), -1) + np.eye(n), [-sum(2 ** (n - k) for k in range(i + 1)) for i in range(n)]


def lower_p(rng, n):
    """A P-matrix of small integers: diagonally dominant by rows, with the same diagonal everywhere."""
    M = rng.integers(-2, 3, (n, n)).astype(float)
    np.fill_diagonal(M, 2 * n)
    return M


def general_q(rng, n):
    """Integers without ties."""
    return rng.permutation(np.arange(1, 40 * n + 1))[:n] * np.where(rng.random(n) < 0.7, -1.0, 1.0)


def integers(rng, n):
    """Small integers of no class at all."""
    return rng.integers(-3, 4, (n, n)).astype(float), rng.integers(-5, 3, n).astype(float)


# Known runs


def test_lemke_by_hand_in_two_unknowns():
    """(5, 6) asks for t = 6; then z_1 pushes t to 4, where w_0 is zero, and z_0 the rest of the way."""
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6])
    assert pairs(found) == [("t", "w_1"), ("z_1", "w_0"), ("z_0", "t")]
    assert [s.t for s in found.trace.steps] == [0, 6, 4, 0]
    assert dict(found.trace.steps[2].ratios) == {0: 1, 4: 3}
    assert found.trace.z == [fmpq(4, 3), fmpq(7, 3)]
    assert found.tableau(1).to_numpy().tolist() == [["1", "1", "1", "[-1]"], ["6", "1", "-1", "-2"]]


def test_the_example_of_cps_4_4():
    found = wb.trace(CPS[0], rhs=CPS[1])
    assert pairs(found) == [("t", "w_0"), ("z_0", "w_2"), ("z_2", "z_0"), ("w_0", "w_1"), ("z_1", "t")]
    assert [s.t for s in found.trace.steps] == [0, 3, 3, 1, 1, 0]
    assert found.trace.z == [0, 1, 3]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_exponentially_many_pivots(n):
    """Murty 1978: 2^n of Lemke's method, and 2^n - 1 of least-index exchanges on the transposed matrix with q = -e."""
    M, q = murty_1978(n)
    assert len(wb.trace(M, rhs=q).trace.steps) - 1 == 2**n
    assert len(wb.trace(M.T, rhs=[-1] * n, solver="murty").trace.steps) - 1 == 2**n - 1


def test_only_the_lexicographic_rule_keeps_lemke_from_cycling():
    cycling = wb.trace(KOSTREVA, rhs=[-1, -1, -1], ties="first").trace
    assert (cycling.outcome, cycling.again) == ("cycle", 2)
    last, again = cycling.steps[-1], cycling.steps[2]
    assert (last.basis, last.leaving) == (again.basis, again.leaving)
    assert wb.trace(KOSTREVA, rhs=[-1, -1, -1]).trace.z == [fmpq(1, 3)] * 3
    rng = np.random.default_rng(0)
    plain = set()
    for _ in range(300):
        M = rng.integers(-2, 3, (3, 3))
        assert wb.trace(M, rhs=[-1, -1, -1]).trace.outcome in ("solution", "ray")
        plain.add(wb.trace(M, rhs=[-1, -1, -1], ties="first").trace.outcome)
    assert plain == {"solution", "ray", "cycle"}


def test_the_lexicographic_rule_is_that_of_a_small_perturbation():
    """Of q + (s, s^2, ..., s^n) with s = 10^-9, which has no ties; but t leaves as soon as it can."""
    rng, tied = np.random.default_rng(8), 0
    for _ in range(60):
        n = int(rng.integers(2, 5))
        M, q = rng.integers(-2, 3, (n, n)), rng.integers(-2, 1, n)
        found = wb.trace(M, rhs=q).trace
        if min(q) == 0:
            continue
        assert [s.t == 0 for s in found.steps[1:-1]] == [False] * (len(found.steps) - 2)
        nearby = wb.trace(M, rhs=[Fraction(int(x)) + Fraction(1, 10**9) ** (i + 1) for i, x in enumerate(q)]).trace
        alike = len(found.steps) - (found.outcome == "solution")
        assert [s.leaving for s in nearby.steps[:alike]] == [s.leaving for s in found.steps[:alike]]
        assert not any("shared" in s.rule for s in nearby.steps)
        tied += any("shared" in s.rule for s in found.steps[:alike])
    assert tied > 20


def test_t_leaves_as_soon_as_it_can():
    """z_0 is zero with it, and the lexicographic rule would take that one."""
    found = wb.trace([[2, 2], [0, 1]], rhs=[-2, -1]).trace
    assert [s.t for s in found.steps] == [0, 2, 1, 0]
    assert len({ratio for _, ratio in found.steps[-1].ratios}) < len(found.steps[-1].ratios)


def test_keller_by_hand_drives_the_greatest_promise():
    """6^2 / 2 is more than 5^2 / 2; driven, z_1 ends at 3, and then z_0 grows by 4/3 while z_1 falls to 7/3."""
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="keller")
    assert pairs(found) == [("z_1", "w_1"), ("z_0", "w_0")]
    assert [s.z for s in found.trace.steps] == [[0, 0], [0, 3], [fmpq(4, 3), fmpq(7, 3)]]
    assert dict(found.trace.steps[2].ratios) == {0: fmpq(4, 3), 3: 6}


# Ends


def test_a_ray_with_a_proof_and_one_without():
    none = wb.trace([[1, -1], [-1, 1]], rhs=[-5, 4]).trace
    assert (none.outcome, none.ray.dz, none.ray.dt, none.proof) == ("ray", [1, 1], 0, [1, 1])
    some = wb.trace([[-2, 2], [-2, -1]], rhs=[-2, -1])
    assert (some.trace.outcome, some.trace.proof) == ("ray", None)
    assert "proves nothing" in some.text
    # The solution of this one is (1, 1).
    indefinite = wb.trace([[0, 1], [1, 0]], rhs=[-1, -1], solver="keller")
    assert (indefinite.trace.ray.dz, indefinite.trace.proof) == ([1, 0], None)


@pytest.mark.parametrize("solver", PIVOTING)
def test_every_end_is_what_it_says(solver):
    """Solutions are among all solutions, proofs leave none, rays stay complementary, cycles come to the same basis."""
    rng, ends = np.random.default_rng(1), set()
    for _ in range(150):
        M, q = integers(rng, rng.integers(1, 5))
        M = M @ M.T if solver == "keller" else M
        found = wb.trace(M, rhs=q, solver=solver).trace
        ends.add(found.outcome)
        everything = solution_set(found.system.M, found.system.q, np.inf)
        if found.outcome == "solution":
            z = np.array([float(Fraction(str(x))) for x in found.z])
            assert everything.count != 0
            assert np.minimum(z, M @ z + q) == pytest.approx(0, abs=1e-9)
        if found.proof is not None:
            assert everything.count == 0
        if found.ray is not None:
            last, system = found.steps[-1], found.system
            z = [a + 7 * b for a, b in zip(last.z, found.ray.dz, strict=True)]
            t = 0 if last.t is None else last.t + 7 * found.ray.dt
            w = [sum((system.M[i, j] * z[j] for j in range(len(q))), system.q[i]) + t for i in range(len(q))]
            assert solver == "keller" or all(x >= 0 and y >= 0 and x * y == 0 for x, y in zip(z, w, strict=True))
        if found.outcome == "cycle":
            assert found.steps[found.again].basis == found.steps[-1].basis
            assert found.again < found.steps[-1].number
    assert ends == {
        "lemke": {"solution", "ray"}, "keller": {"solution", "ray"},
        "murty": {"solution", "cycle", "singular"}, "judice-pires": {"solution", "cycle", "singular"},
    }[solver]  # fmt: skip


@pytest.mark.parametrize("solver", [*PIVOTING, "pgs"])
def test_steps_at_most(solver):
    """All of them take more for this one."""
    M, q = ([[-2, 2], [-2, -1]], [-2, -1]) if solver == "judice-pires" else ([[2, 1], [1, 2]], [-5, -6])
    found = wb.trace(M, rhs=q, solver=solver, max_steps=1).trace
    assert (found.outcome, len(found.steps)) == ("stopped", 2)


def test_a_tableau_is_the_system_solved_for_its_basis():
    """Whatever the nonbasic unknowns are, w = q + M z + t e."""
    found = wb.trace(*CPS[:1], rhs=CPS[1]).trace
    M, q = np.array(CPS[0]), np.array(CPS[1])
    rng = np.random.default_rng(2)
    for step in found.steps:
        tableau, x = found.tableau(step.number), np.zeros(7)
        free = rng.integers(-9, 10, 4)
        x[list(tableau.nonbasic)] = free
        entries = [[float(y) for y in row] for row in tableau.entries]
        x[list(tableau.basic)] = np.array([float(y) for y in tableau.constants]) + entries @ free
        np.testing.assert_allclose(x[:3], q + M @ x[3:6] + x[6], atol=1e-12)


# The compiled codes take the same steps


@pytest.mark.parametrize("kind", ["P", "any"])
def test_lemke_takes_the_compiled_path_pivot_by_pivot(kind):
    rng, compared = np.random.default_rng(3), 0
    for _ in range(40):
        n = int(rng.integers(2, 7))
        M = lower_p(rng, n) if kind == "P" else integers(rng, n)[0]
        q = general_q(rng, n)
        found = wb.trace(M, rhs=q).trace
        if min(q) >= 0 or any("shared" in step.rule for step in found.steps):
            continue
        for step in found.pivots[1:]:
            work, info = lemke_workspace(M), np.zeros(1, dtype=np.int64)
            follow_path(M, q, 1.0, work, step.number, info)
            named = {2 * n if j == n else n + j if j >= 0 else i for i, j in enumerate(work.basic[:n])}
            assert (named, info[0]) == (set(step.basis), step.number)
            compared += 1
        if kind == "P":
            solution = SOLVERS.find("lemke").solve(LCP(M, q))
            assert solution.iterations == len(found.steps) - 1
            np.testing.assert_allclose(solution.z, [float(x) for x in found.z], rtol=1e-12)
    assert compared > 60


@pytest.mark.parametrize("kind", ["P", "any"])
def test_judice_pires_takes_the_compiled_exchanges_one_by_one(kind):
    rng, rules = np.random.default_rng(4), set()
    for k in range(40):
        n = int(rng.integers(2, 6))
        M, q = integers(rng, n) if kind == "any" else (lower_p(rng, n), general_q(rng, n))
        if k == 0 and kind == "any":
            n, M, q = 2, np.array([[1.0, -2.0], [2.0, -2.0]]), np.array([-3.0, -1.0])
        found = wb.trace(M, rhs=q, solver="judice-pires").trace
        for step in found.steps[1:20]:
            z, info = np.zeros(n), np.zeros(1, dtype=np.int64)
            by_pivots(M, q, np.zeros(n), np.full(n, np.inf), 1e-12, step.number, False, z, info)
            assert info[0] == step.number
            np.testing.assert_allclose(z, [float(x) for x in step.z], rtol=1e-9, atol=1e-9)
            rules.add(step.rule.split()[0].strip(":") + (" back" if "taken back" in step.rule else ""))
    assert rules == ({"block"} if kind == "P" else {"block", "block back", "single"})


def test_murty_takes_as_many_exchanges_as_the_compiled_method():
    rng = np.random.default_rng(5)
    for _ in range(30):
        n = int(rng.integers(2, 8))
        M, q = np.triu(rng.integers(-3, 4, (n, n)), 1) + np.eye(n) + np.eye(n, k=1 - n), general_q(rng, n)
        found, solution = wb.trace(M, rhs=q, solver="murty").trace, SOLVERS.find("murty").solve(LCP(M, q))
        if found.outcome == "solution":
            assert solution.iterations == len(found.steps) - 1
            np.testing.assert_allclose(solution.z, [float(x) for x in found.z], rtol=1e-9, atol=1e-12)


def test_keller_takes_the_compiled_drives_from_zero():
    rng, goes_on = np.random.default_rng(6), 0
    for _ in range(60):
        n = int(rng.integers(4, 8))
        A = rng.integers(0, 5, (n, n)).astype(float)
        M = A @ A.T + np.eye(n)
        q = -M @ rng.integers(-2, 6, n) + rng.integers(-3, 4, n)
        found = wb.trace(M, rhs=q, solver="keller").trace
        goes_on += any("goes on" in step.rule for step in found.steps)
        z, U, y, x, w = np.zeros(n), np.zeros((n, n)), np.empty(n), np.empty(n), q.copy()
        basis, active = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        info, m = np.zeros(1, dtype=np.int64), 0
        lower, upper = np.zeros(n), np.full(n, np.inf)
        while True:
            active[:] = [i in basis[:m] for i in range(n)]
            w = np.where(np.abs(M @ z + q) < 1e-9, 0, M @ z + q)
            i, _ = keller.most_promising(M, w, lower, upper, z, active)
            if i < 0:
                break
            m = keller.drive(M, U, lower, upper, basis, m, i, w[i], z, y, x, info)
            step = found.steps[info[0]]
            assert found.system.index_set(step.basis) == tuple(sorted(basis[:m]))
            np.testing.assert_allclose(z, [float(x) for x in step.z], rtol=1e-9, atol=1e-9)
        assert (info[0], found.outcome) == (len(found.steps) - 1, "solution")
    assert goes_on > 2


def test_sweeps_are_the_compiled_ones_bit_by_bit():
    rng = np.random.default_rng(7)
    A = rng.normal(size=(5, 5))
    M, q = A @ A.T + np.eye(5), rng.normal(size=5)
    found = wb.trace(M, rhs=q, solver="pgs").trace
    z, info = np.zeros(5), np.zeros(1, dtype=np.int64)
    for sweep in found.sweeps[1:]:
        sweeps_from(M, q, np.zeros(5), np.full(5, np.inf), z, 0.0, 1, info)
        assert z.tolist() == sweep.z
        residual = relative_step(M, q, np.zeros(5), np.full(5, np.inf), z.copy(), False)
        assert sweep.residual == pytest.approx(residual, rel=1e-12, abs=1e-18)
    solution = SOLVERS.find("pgs").solve(LCP(M, q))
    assert (solution.iterations, solution.z.tolist(), found.outcome) == (len(found.steps) - 1, found.z, "settled")


def test_exact_sweeps_are_fractions():
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="pgs", exact=True)
    assert found.trace.sweeps[2].z == [fmpq(13, 8), fmpq(35, 16)]
    assert (found.trace.outcome, len(found.trace.steps)) == ("stopped", 11)
    assert wb.trace([[2, 0], [1, "1/3"]], rhs=[-1, -1], solver="pgs", exact=True).trace.z == [fmpq(1, 2), fmpq(3, 2)]


def test_sweeps_that_diverge_are_told():
    found = wb.trace([[1, -1e200], [-1e200, 1]], rhs=[-1e200, 1], solver="pgs")
    assert "leave the range of doubles" in found.text
    assert json.loads(json.dumps(found.data))["z"] is None


# What is shown


def test_the_text_fits_a_terminal_and_tells_all_steps(capsys):
    M, q = murty_1978(12)
    M[0, 1], M[3, 2] = 0.125, 0.25
    for solver in ("lemke", "murty", "judice-pires", "pgs"):
        problem = json.dumps({"M": M.tolist(), "q": q})
        assert main(["trace", problem, "--solver", solver, "--max-steps", "20", "--tableau"]) == 0
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= 80
        steps = wb.trace(M, rhs=q, solver=solver, max_steps=20).trace.steps
        assert all(re.search(rf"^{step.number}( |$)", shown, re.MULTILINE) for step in steps)


def test_frames_are_tidy():
    found = wb.trace(CPS[0], rhs=CPS[1])
    assert found.frame["step"].tolist() == list(range(6))
    assert found.points.query("step == 5")["z_exact"].tolist() == ["0", "1", "3"]
    assert found.ratios.query("leaves").groupby("step").size().tolist() == [1] * 5
    assert found.ratios["ratio"].dtype == float
    assert set(found.frames) == {"steps", "points", "ratios"}
    assert "Verified in exact arithmetic" in repr(found)
    assert "<svg" in found._repr_html_()
    with pytest.raises(wb.WorkbenchError, match="steps are 0 to 5"):
        found.tableau(6)


def test_what_is_no_mathematics_is_escaped():
    assert in_latex("50 % of a_b & #1 {x} ^ ~1/2") == r"50 \% of a\_b \& \#1 \{x\} \^{} $\approx$$\frac{1}{2}$"


@pytest.mark.parametrize("solver", [*PIVOTING, "pgs"])
def test_latex_is_balanced_and_escaped(solver, capsys):
    problem = '{"M": [["1/3", "-1/7"], ["-1/7", "2"]], "q": [-1, "-5/2"]}'
    assert main(["trace", problem, "--solver", solver, "--latex", "--tableau", "--max-steps", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("%")
    shown = "\n".join(lines[1:])
    assert re.findall(r"\\begin\{(\w+)\}", shown) == re.findall(r"\\end\{(\w+)\}", shown)
    assert shown.count(r"\begin{array}") == (0 if solver == "pgs" else shown.count("Tableau after"))
    bare = re.sub(r"\\[{}_&%$#^~]", "", shown)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    outside = re.sub(r"\$[^$]*\$|\\\[.*?\\\]", "", bare, flags=re.DOTALL)
    assert not set("_^") & set(outside)
    row = next(line for line in lines if line.startswith("1 &"))
    columns = re.search(r"\\begin\{tabular\}\{([rl]*)", shown)[1]
    assert row.count("&") == len(columns) - (solver == "pgs")
    assert solver == "pgs" or r"\frac{" in shown
    for formula in (*re.findall(r"\$([^$]+)\$", shown), *re.findall(r"\\\[(.*?)\\\]", shown, flags=re.DOTALL)):
        assert convert(formula.replace("|", ""))


@pytest.mark.parametrize(
    ("M", "q", "solver", "drawn"),
    [
        (KOSTREVA, [-8, -12, -14], "lemke", True), ([[2, 1], [1, 2]], [-5, -6], "lemke", True),
        ([[-2, 0], [-1, 1]], [-2, -4], "lemke", True), ([[1, -1], [-1, 1]], [-5, 4], "keller", True),
        (KOSTREVA, [-1, -2, -3], "murty", True), ([[1, 2], [0, 1]], [-1, -1], "murty", True),
        (KOSTREVA, [1, 2, 3], "lemke", True), ([[1, 0], [0, 1]], [0, 0], "judice-pires", True),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], [-1, 0, 1], "lemke", True),
        ([[2, 1], [1, 2]], [-5, -6], "pgs", True), (np.eye(4), [-1] * 4, "lemke", False),
        (KOSTREVA, [-1, -1, -1], "pgs", False), ([[2, 1], [1, 2]], [5, 0], "pgs", True),
        ([[3]], [-2], "keller", False),
    ],
)  # fmt: skip
def test_pages_tell_the_end_then_draw_then_list(M, q, solver, drawn, tmp_path):
    found = wb.trace(M, rhs=q, solver=solver)
    page = found.page(tmp_path / "page.html").read_text("utf-8")
    places = [page.index("<p>" + solver), page.index("<h2>The steps"), page.index("<h2>Provenance")]
    assert ("<svg" in page) == drawn
    if drawn:
        places.insert(1, page.index("<svg"))
    assert places == sorted(places)
    assert "nan" not in page.partition("</svg>")[0].partition("<svg")[2]
    assert page.count("<figure><figcaption>after step") == len(found.trace.pivots)
    if drawn and solver != "pgs" and any(q) and min(q) < 0:
        marks = set(re.findall(r"\d+", " ".join(re.findall(r'fill="#fff" text-anchor="middle">([\d, ]+)<', page))))
        first = 1 if solver == "lemke" else 0
        assert marks == {str(step.number) for step in found.trace.pivots[first:]}


def test_where_the_path_has_no_direction_the_caption_says_so():
    """q = -e: the line q + t e goes through zero."""
    found = wb.trace(KOSTREVA, rhs=[-1, -1, -1]).picture()
    assert "through 0, which has no direction" in found.caption
    assert "through 0" not in wb.trace(KOSTREVA, rhs=[-1, -2, -1]).picture().caption


def test_sweeps_are_steps_parallel_to_the_axes():
    """To where their own row is zero: the corners after z_0 moved lie on w_0 = 0, the others on w_1 = 0."""
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="pgs")
    svg = found.picture().svg
    way = np.array(
        [[float(x) for x in p.split(",")] for p in re.search(r'class="way" d="M([^"]+)"', svg)[1].split("L")]
    )
    moves = np.abs(np.diff(way, axis=0))
    assert (moves.min(axis=1) == 0).all()
    rows = re.findall(r'class="row" d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)"', svg)
    for k, row in enumerate(rows):
        a, b, c, d = map(float, row)
        for x, y in way[k + 1 : 6 : 2]:
            assert ((x - a) * (d - b) - (y - b) * (c - a)) / np.hypot(c - a, d - b) == pytest.approx(0, abs=0.3)
    with pytest.raises(wb.WorkbenchError, match="sweeps are drawn for two unknowns; the matrix has 3"):
        wb.trace(KOSTREVA, rhs=[-1, -1, -1], solver="pgs").picture()
    wild = wb.trace([[1, "-1e200"], ["-1e200", 1]], rhs=["-1e200", 1], solver="pgs")
    assert "nan" not in wild.picture().svg
    with pytest.raises(wb.WorkbenchError, match="two or three unknowns; the matrix has 4"):
        wb.trace(np.eye(4), rhs=[-1] * 4).picture()


def test_the_path_is_drawn_to_scale():
    """q + t e with t = 0, 4, 6 lies on one line of direction (1, 1), in proportion."""
    svg = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6]).picture().svg
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4"', svg)]
    (six, four, zero) = map(np.array, dots)
    np.testing.assert_allclose(six - four, (four - zero) / 2, atol=0.2)
    assert (four - zero)[0] == pytest.approx(-(four - zero)[1], abs=0.2)


def test_the_command_writes_a_page_and_json(tmp_path, capsys):
    file = tmp_path / "<b>&.csv"
    file.write_text("M = [2 1; 1 2]\nq = [-5 -6]\n")
    out = tmp_path / "page.html"
    assert main(["trace", str(file), "--json", "--tableau", "--out", str(out)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["outcome"], data["z"], data["steps"][1]["entering"]) == ("solution", ["4/3", "7/3"], ["t"])
    assert data["steps"][1]["tableau"]["constants"] == ["1", "6"]
    page = out.read_text("utf-8")
    assert "z ≥ 0" in page
    assert "&lt;b&gt;&amp;.csv" in page
    assert "<b>" not in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["[1 2; 3 4]"], "has no right-hand side"),
        (["[1 2 3; 4 5 6]", "--rhs", "[1; 2]"], "2 x 3"),
        (["[1 2; 3 4]", "--rhs", "[1; 2; 3]"], "q has 3 entries"),
        (["[1 nan; 3 4]", "--rhs", "[1; 2]"], "nan"),
        ([str(np.eye(13).tolist()), "--rhs", str([-1] * 13)], "at most 12 are traced"),
        (["[1]", "--rhs", "[1]", "--solver", "simplex"], "simplex"),
        (["[1]", "--rhs", "[1]", "--solver", "lemk"], "did you mean 'lemke'?"),
        (["[1]", "--rhs", "[1]", "--ties", "random"], "lexicographic or first, not 'random'"),
        (["[1]", "--rhs", "[1]", "--ties", "first", "--solver", "murty"], "murty has no ratio test"),
        (["[1]", "--rhs", "[1]", "--exact"], "exact is for pgs"),
        (["[1 2; 0 1]", "--rhs", "[1; 1]", "--solver", "keller"], "M[1, 0] = 0 and M[0, 1] = 2"),
        (["[1 0; 0 0]", "--rhs", "[1; 1]", "--solver", "pgs"], "M[1, 1] = 0"),
        (["[1]", "--rhs", "[1]", "--max-steps", "x"], "--max-steps x"),
        (["[1]", "--rhs", "[1]", "--max-steps", "0"], "max_steps = 0"),
        (["[1]", "--rhs", "[1]", "--max-steps", "99999"], "1 to 10000"),
        (["[1]", "--rhs", "[1]", "--max-steps", "99", "--solver", "pgs", "--exact"], "1 to 30"),
        (["[1]", "--rhs", "[1]", "--json", "--latex"], "exclude each other"),
        (["nowhere.csv"], "nowhere.csv"),
    ],
)  # fmt: skip
def test_refusals_in_one_line(arguments, words, capsys):
    assert main(["trace", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_huge_and_tiny_numbers_stay_exact(tmp_path):
    M, q = [["1e300", "1e-300"], ["-1e-300", "1/3"]], ["-1e-300", -1]
    for solver in ("lemke", "murty", "judice-pires"):
        found = wb.trace(M, rhs=q, solver=solver)
        assert found.trace.outcome == "solution"
        found.page(tmp_path / f"{solver}.html")
        assert max(map(len, found.text.splitlines())) <= 80
