"""Which impulses of a step are determined: closed forms, and the whole set against other answers to the same step."""

import numpy as np
import pytest

from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.pushed_box import PushedBox
from workbench.builtin.cases.v_groove import VGroove
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.phantom_inertia import phantom_inertia
from workbench.builtin.formulations.stewart_trinkle import stewart_trinkle
from workbench.diagnostics.lead_matrix import THEORY, lead_matrix
from workbench.diagnostics.redundancy import freedom, redundancy
from workbench.judge.coulomb import judge
from workbench.mechanics.contact import ContactSolution
from workbench.mechanics.relaxation import RIGID
from workbench.step.one_step import first_step


def step(case, h=1e-3, relaxation=RIGID):
    n, _, r, d = case.size
    stepper = first_step(case, coulomb, h, relaxation=relaxation)
    solution, _, _ = stepper.solve(default_solver("Coulomb NCP"))
    assert solution.residual < 1e-12
    parts = np.split(stepper.work.out.copy(), [n, n + r, n + r + d * r])
    return stepper.core, ContactSolution(*parts)


def test_a_single_contact_is_determined():
    for case in (Block(), Wheel()):
        found = redundancy(*step(case))
        assert found.dimension == 0
        assert found.determined.all()
        assert found.modes == ("sliding",)
        np.testing.assert_array_equal(found.ranges[:, 0], found.values)


def test_a_box_at_rest_on_four_corners_shares_its_weight_as_it_likes():
    """Shares (x, W/2 - x, W/2 - x, x): each between nothing and half the weight; friction within its cones."""
    case, h = Cube(speed=0.0, spin=0.0), 1e-3
    found = redundancy(*step(case, h))
    weight = case.m * case.gravity * h
    assert found.modes == 4 * ("sticking",)
    # Twelve impulses, an effect of rank six.
    assert found.dimension == 6
    np.testing.assert_allclose(found.ranges[:4], np.tile([0.0, weight / 2], (4, 1)), atol=1e-7 * weight)
    assert not found.determined.any()
    # Opposite corners squeezed against each other: mu p_n at most.
    assert np.abs(found.ranges[4:]).max() <= case.mu * weight / 2 * (1 + 1e-6)


def test_compliance_determines_everything():
    case = Cube(speed=0.0, spin=0.0)
    found = redundancy(*step(case, relaxation=case.relaxation))
    assert found.dimension == 0
    assert found.determined.all()


def test_other_answers_to_the_same_step_lie_in_the_ranges_and_their_ends_are_answers():
    """The pushed box slides: one dimension, front and rear pair share left and right. The judge accepts either end."""
    case = PushedBox()
    core, answer = step(case)
    found = redundancy(core, answer)
    assert found.dimension == 1
    assert (found.values >= found.ranges[:, 0] - 1e-12).all()
    assert (found.values <= found.ranges[:, 1] + 1e-12).all()
    u_n = core.J_n @ answer.v + core.b_n
    u_t = (core.J_t @ answer.v + core.b_t).reshape(4, 2)
    e = u_t / np.linalg.norm(u_t, axis=1)[:, None]
    # Along the one direction that keeps the effect: corners 0 and 3 against 1 and 2, or as the rows have it.
    C = core.J_n.T - np.einsum("idn,id->ni", core.J_t.reshape(4, 2, -1), core.mu[:, None] * e)
    direction = np.linalg.svd(C)[2][-1]
    assert np.abs(C @ direction).max() < 1e-12
    for k, side in ((0, 0), (0, 1)):
        p_n = answer.p_n + (found.ranges[k, side] - answer.p_n[k]) / direction[k] * direction
        p_t = -core.mu[:, None] * p_n[:, None] * e
        np.testing.assert_allclose(core.J_n.T @ p_n + core.J_t.T @ p_t.ravel(), C @ answer.p_n, atol=1e-12)
        verdict = judge(p_n[None], p_t[None], u_n[None], u_t[None], core.mu[None], np.eye(12), np.ones(12))
        assert max(verdict.signorini[0], verdict.cone[0], verdict.dissipation[0]) < 1e-7


def test_an_open_contact_bears_nothing_whatever_the_others_share():
    core, answer = step(Cube(speed=0.0, spin=0.0))
    core.b_n[:] = [0.0, 0.0, 1.0, 0.0]
    one_open = ContactSolution(answer.v, np.where(core.b_n > 0, 0.0, answer.p_n), answer.p_t * 0, answer.p_b)
    found = redundancy(core, one_open)
    assert found.modes[2] == "open"
    np.testing.assert_allclose(found.ranges[2], 0.0, atol=1e-9)


def test_a_wedged_disc_is_determined_while_it_spins():
    found = redundancy(*step(VGroove()))
    assert found.dimension == 0


def test_a_report_on_phantom_inertia_knows_its_window():
    report = lead_matrix(Wheel(), phantom_inertia, coulomb, seconds=6.0)
    assert (report.rank, report.size) == ({"mixed": 13, "reduced": 5}, {"mixed": 13, "reduced": 5})
    assert report.p_verdict == "P"
    assert report.rho["singular_values"] == pytest.approx([1.1972525, 1.4117647], rel=1e-6)
    assert report.rho["p_limit"] == pytest.approx(1.15217, rel=1e-4)
    assert report.redundancy.dimension == 0


def test_a_report_on_a_redundant_case_refuses_to_reduce_and_says_which_impulses_are_open():
    report = lead_matrix(PushedBox(), phantom_inertia, coulomb, seconds=2.0)
    assert "constraint relaxation" in report.refused
    assert report.rank["reduced"] is None
    assert report.rank["mixed"] < report.size["mixed"]
    assert report.redundancy.dimension == 1


def test_the_polygons_diagonal_zeros_are_no_fault():
    report = lead_matrix(Wheel(), anitescu_potra, coulomb, seconds=3.0)
    assert report.p_verdict == "not P"
    assert report.classes["copositive"] == "yes"
    assert report.size["reduced"] - report.rank["reduced"] == 1
    assert "Lemke" in report.theory


def test_every_formulation_has_its_theory():
    from workbench.builtin.formulations import FORMULATIONS, OTHER_LAWS

    assert {f.name for f in (*FORMULATIONS, *OTHER_LAWS)} == set(THEORY)
    assert THEORY[anitescu_potra.name] == THEORY[stewart_trinkle.name]


def test_sliding_contacts_are_redundant_where_their_forces_share_a_line():
    """A body between two walls that move in opposite directions: friction at both is along the slip of the walls.

    The contact forces, (1, -mu) and (-1, mu), balance if they act along one line, through points (1, -mu) apart.
    """
    mu, M = 0.4, np.diag([2.0, 2.0, 0.3])
    u_t = np.array([[1.0], [-1.0]])

    def free(rise):
        rows = [(0.0, 0.0, 1.0, 0.0), (1.0, rise, -1.0, 0.0), (0.0, 0.0, 0.0, 1.0), (1.0, rise, 0.0, 1.0)]
        J = np.array([[n_x, n_y, x * n_y - y * n_x] for x, y, n_x, n_y in rows])
        return freedom(J @ np.linalg.inv(M) @ J.T, np.full(2, mu), ("sliding", "sliding"), u_t)

    assert (free(-mu), free(mu), free(0.0)) == (1, 0, 0)
