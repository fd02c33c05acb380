"""Declarations without complementarity: penalty laws, which elimination alone solves."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.algorithms import find_solver, is_quadratic_program
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.particle import Particle
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.diagnostics.lead_matrix import lead_matrix, text_rows
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, declare, equals, free
from workbench.language.notation import latex_page, text_page
from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import Equations
from workbench.problems.solution import Status
from workbench.step.one_step import pose, solve_system
from workbench.step.simulation import simulate
from workbench.step.sweep import sweep_steps
from workbench.support.errors import DataError

H = 1e-3


@formulation("penalty", friction="linear viscous", source="this test")
def penalty(s: ContactSymbols, stiffness: float = 50.0, viscosity: float = 0.3) -> Declaration:
    """p_n = -stiffness (u_n + phi/h), a spring of stiffness/h^2 [N/m]; p_t = -viscosity u_t."""
    v, p_n, p_t = free("v", s.n), free("p_n", s.r), free("p_t", s.d * s.r)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        equals(p_n + stiffness * s.un(v, p_n)),
        equals(p_t + viscosity * s.ut(v, p_t)),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
    )


SOLVER = find_solver("elimination")
IN_PYTHON = SimpleNamespace(
    name="python", solves=SOLVER.solves, tolerance=SOLVER.tolerance, why_not=SOLVER.why_not, solve=SOLVER.solve
)
BLOCK = ContactSystem(
    2 * np.eye(3), [0.6, 0.8, -1.0], [0, 0, -20.0], 0.01, [[0, 0, 1]], [[1, 0, 0], [0, 1, 0]], 0.5, phi=-2e-3
)


def test_equations_are_a_class_of_their_own():
    c = compiled(penalty, 3, 0, 1, 2)
    assert (c.kind, c.plan.lower.size) == ("equations", 0)
    assert default_solver(c.kind).first is SOLVER
    problem = pose(penalty, BLOCK).problem()
    assert isinstance(problem, Equations)
    assert (problem.size, problem.residual(np.zeros(0))) == (0, 0.0)
    assert not is_quadratic_program(problem)
    with pytest.raises(DataError, match="3 unknowns are left"):
        Equations(np.eye(3), np.ones(3))


def test_one_step_by_hand():
    """(m + k) u_n = m v_n + h f - k phi/h and (m + c) u_t = m v_t."""
    answer, solution = solve_system(penalty, BLOCK, SOLVER)
    assert (solution.claimed, solution.verified, solution.iterations) == (Status.SOLVED, True, 0)
    u_n = (2 * -1.0 + 0.01 * -20 - 50 * -0.2) / (2 + 50)
    np.testing.assert_allclose(answer.v, [2 * 0.6 / 2.3, 2 * 0.8 / 2.3, u_n], rtol=1e-14)
    np.testing.assert_allclose(answer.p_n, -50 * (u_n - 0.2), rtol=1e-13)
    np.testing.assert_allclose(answer.p_t, -0.3 * answer.v[:2], rtol=1e-14)


def test_what_is_left_of_equations_is_solved_by_any_solver_and_cones_are_no_equations():
    usual, _ = solve_system(penalty, BLOCK, SOLVER)
    for name in ("lemke", "proximal", "clarabel", "coulomb-exact", "cvxpy:CLARABEL"):
        answer, solution = solve_system(penalty, BLOCK, find_solver(name))
        assert (solution.claimed, solution.verified, solution.solver) == (Status.SOLVED, True, name)
        assert np.array_equal(answer.v, usual.v)
    refused = simulate(Wheel(), FORMULATIONS.find("ccp"), SOLVER, H, 0.01)
    assert (refused.status, refused.steps) == (Status.REFUSED, 0)


@pytest.mark.parametrize("solver", [SOLVER, IN_PYTHON], ids=["compiled", "python"])
@pytest.mark.parametrize("case", [Particle(), Wheel()], ids=lambda c: c.name)
def test_a_penalty_law_steps_a_case(case, solver):
    run = simulate(case, penalty, solver, H, 0.1, normal="gap")
    assert (run.status, run.steps, run.kind) == (Status.SOLVED, 100, "equations")
    np.testing.assert_array_equal(run.residuals, np.zeros(100))
    np.testing.assert_allclose(run.p_n, -50 * run.u_n, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.p_t, -0.3 * run.u_t, rtol=1e-9, atol=1e-12)
    assert np.abs(run.p_n).max() > 1e-3
    r = run.record
    impulse = np.einsum("kji,kj->ki", r.J, r.p)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", r.mass, r.v[1:]), r.b + impulse, rtol=1e-10, atol=1e-12)
    assert r.M.shape == (100, 0, 0)
    assert np.isfinite(run.judged.signorini).all()


def test_a_sweep_of_equations():
    found = sweep_steps(penalty, BLOCK, h=[0.01, 0.02])
    np.testing.assert_array_equal(found.v[0], solve_system(penalty, BLOCK, SOLVER)[0].v)
    assert (found.solver, list(found.status), list(found.residuals)) == ("elimination", [0, 0], [0.0, 0.0])


def test_equations_that_do_not_determine_their_unknowns():
    """stiffness = -m takes the mass away: nothing tells u_n."""
    with pytest.raises(DataError, match="dependent rows"):
        solve_system(penalty.with_options(stiffness=-2.0), BLOCK, SOLVER)


def test_equations_are_printed_and_checked():
    c = compiled(penalty, *BLOCK.size)
    assert "problem class  equations" in text_page(c.declaration, c.kind)
    assert r"p_{n} + 50 J_{n} v^{+}" in latex_page(c.declaration, "penalty")
    rows = text_rows(lead_matrix(Wheel(), penalty, FORMULATIONS.find("coulomb")))
    assert any("equations alone" in words for _, words in rows)
