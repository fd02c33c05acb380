"""One bad row never costs a comparison: what cannot be declared, printed, compiled, posed or solved says why."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.scenes import Balls
from tests.tables import TIMES
from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.pages.comparison import render
from workbench.builtin.reports.text.terminal import print_comparison
from workbench.comparison.cases import compare_case
from workbench.comparison.files import compare_problem
from workbench.comparison.jobs import Settings
from workbench.comparison.scenes.compare import compare_scene
from workbench.engine.compiling import kernel
from workbench.language.formulation import formulation
from workbench.language.hooks import GIVEN
from workbench.language.modelling import Hooks, complements, declare, equals, free, nonneg
from workbench.problems.friction_problem import FrictionProblem
from workbench.scenes.stepper import SceneStepper
from workbench.support.errors import ModellingError
from workbench.support.output import provenance

pytestmark = pytest.mark.thorough

BY_NAME = {f.name: f for f in FORMULATIONS}
COULOMB = BY_NAME["coulomb"]
SETTINGS = Settings((1e-3,), 5e-4, 0.02)
PROBLEM = FrictionProblem(np.eye(3), np.array([-2.0, 4.0, 3.0]), np.array([0.5]), 2)


def own(name):
    return formulation(name, friction="of this test", source="this test")


@own("raises")
def raises(s):
    raise ZeroDivisionError("first line\nof \x1b[31m several " + 1000 * "x")


@own("refuses")
def refuses(s):
    raise ModellingError("four contacts are needed")


@own("returns-nothing")
def returns_nothing(s):
    return None


@kernel(GIVEN)
def unknown_field(core, memory, own, numbers):
    core.no_such_field[0] = 1.0


@own("bad-hook")
def bad_hook(s):
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    hooks = Hooks(unknown_field)
    return declare(equals(s.balance(v, p_n)), complements(s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n), hooks=hooks)


@own("penalty")
def penalty(s, c: float = 1e-3):
    """Pure equations: a damper, which also pulls, and no friction."""
    v, p_n, p_t = free("v", s.n), free("p_n", s.r), free("p_t", s.d * s.r)
    law = [equals(p_n + c * s.un(v, p_n)), equals(p_t)]
    return declare(equals(s.balance(v, p_n, p_t)), *s.bilateral(v), *law, recover=dict(v=v, p_n=p_n, p_t=p_t))


def on_wheel(*formulations, solvers=(), workers=1):
    return compare_case(Wheel(), formulations, COULOMB, solvers, SETTINGS, workers=workers)


def on_problem(*formulations, seconds=None):
    return compare_problem("slide", PROBLEM, formulations, COULOMB, seconds=seconds)


def of(c, label):
    return c.runs[c.runs["label"] == label]


@dataclass(frozen=True)
class Off:
    """Exact answers times 1 + share, called solved."""

    share: float
    name: str = "off"
    solves: frozenset[str] = frozenset({"Coulomb NCP"})
    guaranteed_for: str = "nothing"
    tolerance: float = EXACT

    def why_not(self, problem):
        return None

    def solve(self, problem):
        exact = find_solver("coulomb-exact").solve(problem)
        z = (1 + self.share) * exact.z
        return replace(exact, z=z, residual=float(problem.residual(z)), solver=self.name)


@pytest.mark.parametrize("share", [0.0, 1e-11, 5e-9, 5e-7])
def test_a_row_is_verified_up_to_the_tolerance_and_says_inaccurate_beyond(share):
    good = share < EXACT
    on_file = compare_problem("slide", PROBLEM, [COULOMB], COULOMB, [Off(share)])
    for runs in (on_wheel(COULOMB, solvers=[Off(share)]).runs, on_file.runs):
        rows = runs[runs["solver"] == "off"]
        assert len(rows) > 0
        assert (rows["verified"] == good).all()
        assert (rows["claimed"] == ("SOLVED" if good else "INACCURATE")).all()
        assert (rows["reason"].str.contains("above (?:the tolerance )?1e-09") != good).all()


@pytest.mark.parametrize("compared", [on_wheel, on_problem])
@pytest.mark.parametrize(
    ("bad", "claimed", "words"),
    [
        (raises, "FAILED", "ZeroDivisionError: first line of"),
        (refuses, "REFUSED", "four contacts are needed"),
        (returns_nothing, "REFUSED", "it has to return declare(...)"),
        (bad_hook, "FAILED", "no_such_field"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_a_formulation_that_breaks_is_a_row_with_its_reason(compared, bad, claimed, words, capsys):
    c, without = compared(bad, BY_NAME["box"]), compared(BY_NAME["box"])
    row = of(c, bad.name).iloc[0]
    assert (row["claimed"], row["verified"]) == (claimed, False)
    assert words in row["reason"]
    assert row["reason"].isprintable()
    assert len(row["reason"]) < 400
    numbers = without.runs.select_dtypes("number").columns.drop([*TIMES])
    assert np.array_equal(of(c, "box")[numbers], without.runs[numbers], equal_nan=True)
    card = next(m for m in c.mathematics if m["label"] == bad.name)
    page = render(c, provenance())
    assert words in page
    assert (card["failure"] is None) == (bad is bad_hook)
    assert ("cannot be compiled" in page) == (bad is not bad_hook)
    print_comparison(c)
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("compared", [on_wheel, on_problem])
def test_a_comparison_of_nothing_but_bad_rows_is_one(compared):
    c = compared(raises)
    assert (c.runs["claimed"] == "FAILED").all()
    assert "ZeroDivisionError" in render(c, provenance())


@pytest.mark.parametrize("compared", [on_wheel, on_problem])
def test_a_declaration_that_cannot_be_printed_is_compared(compared, monkeypatch):
    def unknown_node(declaration):
        raise ModellingError("cannot print this node")

    monkeypatch.setattr("workbench.language.notation.latex_blocks", unknown_node)
    c = compared(BY_NAME["box"], COULOMB)
    assert c.runs["verified"].all()
    assert render(c, provenance()).count("This declaration cannot be printed: cannot print this node") == 2


@pytest.mark.parametrize("compared", [on_wheel, on_problem])
def test_a_solver_that_raises_is_a_row(compared, monkeypatch):
    def broken(self, problem):
        raise FloatingPointError("the optimiser has lost its way")

    monkeypatch.setattr(type(find_solver("cvxpy:CLARABEL")), "solve", broken)
    c = compared(BY_NAME["ccp"], COULOMB)
    generic = c.runs[c.runs["solver"] == "cvxpy:CLARABEL"]
    assert len(generic)
    assert (generic["claimed"] == "FAILED").all()
    assert (generic["reason"] == "FloatingPointError: the optimiser has lost its way").all()
    assert c.runs[c.runs["solver"] != "cvxpy:CLARABEL"]["verified"].all()


def test_what_another_process_cannot_take_is_a_row():
    """Formulations that a function makes are known to this process alone."""

    @own("local")
    def local(s):
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        return declare(equals(s.balance(v, p_n)), complements(s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n))

    c = on_problem(local, COULOMB, seconds=60.0)
    assert of(c, "coulomb")["verified"].all()
    assert set(of(c, "local")["claimed"]) <= {"SOLVED", "FAILED", "CRASHED"}
    both = on_wheel(local, BY_NAME["ccp"], BY_NAME["box"], workers=2)
    assert set(both.runs["solver"]) > {"cvxpy:CLARABEL"}
    assert both.runs["verified"].all()


def test_an_interruption_is_no_row():
    @own("interrupted")
    def interrupted(s):
        raise KeyboardInterrupt

    for compared in (on_wheel, on_problem):
        with pytest.raises(KeyboardInterrupt):
            compared(interrupted, COULOMB)


def test_pure_equations_are_compared():
    """Of nothing that is convex too, no optimiser is asked."""
    c = on_wheel(penalty, BY_NAME["box"])
    assert "cvxpy:CLARABEL" not in set(of(c, "penalty")["solver"])
    row = of(c, "penalty").iloc[0]
    assert (row["claimed"], row["verified"], row["size"]) == ("SOLVED", True, 0)
    assert np.isnan(row["rank"])
    assert row["friction_rmsd"] == pytest.approx(1.0)
    steps = c.trajectories[c.trajectories["label"] == "penalty"]
    assert np.allclose(steps["p_n"], -1e-3 * steps["u_n"], atol=1e-15)
    verdicts = c.diagnostics[c.diagnostics["label"] == "penalty"]
    assert verdicts["witness"].str.contains("pure equations").sum() == 3
    assert "pure equations" in render(c, provenance())
    assert of(on_problem(penalty, COULOMB), "penalty")["verified"].all()


class UnshownWheel(Wheel):
    def contacts(self, q):
        return super().contacts(q) if q.ndim == 1 else 1 / 0


class UnshownBall(Balls):
    def solids(self):
        return 1 / 0


def on_unshown_wheel(f):
    return compare_case(UnshownWheel(), [f], COULOMB, (), SETTINGS)


def on_unshown_ball(f):
    ball = UnshownBall([[0, 0, 0.1]], [[1, 0, 0]])
    return compare_scene(ball, [f], COULOMB, SceneStepper, Settings((6e-3,), 1e-3, 0.012))


@pytest.mark.parametrize("compared", [on_unshown_wheel, on_unshown_ball])
def test_shapes_that_raise_cost_the_motion_alone(compared):
    c = compared(BY_NAME["ccp"])
    assert c.motion is None
    assert "The motion is not shown: ZeroDivisionError: division by zero" in c.remarks
    assert c.runs["verified"].all()
    assert len(c.timeline) > 0


def test_what_no_solver_has_begun_is_not_shown():
    """Lemke's method refuses the first step of exact friction, whose row says so."""
    c = on_wheel(COULOMB, BY_NAME["stewart-trinkle"], solvers=["lemke", "coulomb-exact"])
    begun = c.runs[c.runs["steps"] > 0].drop_duplicates(["label", "solver"])
    assert of(c, "coulomb")["steps"].min() == 0
    assert [(x.label, x.solver) for x in c.motion.tracks[1:]] == list(zip(begun["label"], begun["solver"], strict=True))
