"""Trinkle's lecture notes: the particle in space, three bodies, the final formulation, and what its misprints do."""

from functools import cache

import numpy as np
import pytest
from scipy.linalg import expm

from tests import mechanics
from workbench.algorithms import find_solver
from workbench.algorithms.enumeration import all_solutions
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.particle import Particle
from workbench.builtin.cases.spatial_particle import SpatialParticle
from workbench.builtin.cases.three_bodies import INNER, ThreeBodies
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.frictionless import frictionless
from workbench.builtin.formulations.stewart_trinkle import stewart_trinkle
from workbench.builtin.reports.reproductions import _notes as notes
from workbench.builtin.reports.reproductions import friction_notes
from workbench.builtin.reports.reproductions._notes_bodies import GRAPH
from workbench.mechanics.bodies import rotation
from workbench.problems.classes import LCP
from workbench.problems.rank import rank
from workbench.step.one_step import pose
from workbench.step.simulation import simulate

ROUND_OFF = 1e-12


def polygon(directions):
    return stewart_trinkle.with_options(directions=directions)


def run(case, formulation=coulomb, h=1e-3, duration=None):
    solver = find_solver("coulomb-exact") if formulation is coulomb else default_solver("LCP")
    r = simulate(case, formulation, solver, h, duration)
    assert r.steps == r.steps_wanted, r.reason
    assert r.residuals.max() <= r.tolerance
    return r


# The particle in space


@pytest.mark.parametrize("direction", [0.0, 33.0, -100.0, 180.0])
def test_under_coulomb_every_direction_is_the_planar_particle(direction):
    case = SpatialParticle(direction=direction)
    r, plane = run(case), run(Particle())
    np.testing.assert_allclose(case.along(r.states_q), plane.states_q[:, 0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(r.states_q[:, 2], plane.states_q[:, 1], rtol=0, atol=1e-10)
    assert mechanics.failing(case.truths(r)) == set()
    assert {t.name for t in case.truths(r)} >= {t.name for t in Particle().truths(plane)}


@pytest.mark.parametrize("directions", [4, 6, 8, 16])
@pytest.mark.parametrize("direction", [0.0, 7.0, 40.0, 202.0])
def test_a_polygon_stops_when_its_closed_form_says(directions, direction):
    case = SpatialParticle(direction=direction)
    r = run(case, polygon(directions), duration=1.6)
    slides = np.flatnonzero(np.linalg.norm(r.u_t[:, 0], axis=-1) > 1e-9)
    stop = r.h * (slides[-1] + 2)
    assert stop == pytest.approx(case.impact()[0] + case.polygon_stop(directions), abs=2 * r.h)


def test_a_polygon_uses_the_corner_against_sliding_and_then_two_neighbours_by_halves():
    case, n_d = SpatialParticle(direction=10.0), 8
    r = run(case, polygon(n_d))
    alpha, p_n, u = r.record.z[:, 1 : n_d + 1], r.p_n[:, 0], r.u_t[:, 0]
    # Sliding along x and a little y: against corner 5 (at 180 deg), later between corners 5 and 6 (at 225 deg).
    closed = p_n > 0
    slides = closed & (np.linalg.norm(u, axis=1) > 0.01)
    angle = np.degrees(np.arctan2(u[:, 1], u[:, 0]))
    early, late = slides & (angle < 22.49), slides & (angle >= 22.49)
    early[np.flatnonzero(late)[0]] = late[np.flatnonzero(late)[0]] = False
    assert early.sum() > 200
    assert late.sum() > 400
    share = alpha / np.where(closed, case.mu * p_n, 1.0)[:, None]
    corner = np.eye(n_d)
    np.testing.assert_allclose(share[early] - corner[4], 0, atol=1e-9)
    np.testing.assert_allclose(share[late] - 0.5 * (corner[4] + corner[5]), 0, atol=1e-9)
    np.testing.assert_allclose(angle[late], 22.5, atol=1e-6)


# Pages 1 to 6: friction at a given velocity


@pytest.mark.parametrize(
    ("v", "limit", "wanted"),
    [
        (1.0, 0.5, [(0.5, 0.5), (0, 0), (1, 1)]),
        (-1.0, 0.5, [(0, 0), (0.5, 0.5), (1, 1)]),
        (0.0, 0.5, [(0, 0.5), (0, 0.5), (0, 0)]),
        (1.0, 0.0, [(0, 0), (0, 0), (1, np.inf)]),
        (0.0, 0.0, [(0, 0), (0, 0), (0, np.inf)]),
    ],
)
def test_the_examples_of_pages_3_and_4_have_these_solutions_and_no_others(v, limit, wanted):
    problem = friction_notes.example(v, limit)
    np.testing.assert_allclose(notes.ranges(problem), wanted, atol=ROUND_OFF)
    for z in all_solutions(problem):
        assert problem.residual(z) <= ROUND_OFF


def test_the_solution_set_of_a_skew_lcp_is_the_polyhedron_that_the_ranges_are_taken_over():
    """Random nonnegative points: a solution exactly where M z + q >= 0 and q.z = 0."""
    rng = np.random.default_rng(0)
    problem = friction_notes.example(0.0, 0.5)
    inside = 0
    for z in rng.uniform(0, 0.6, (200, 3)) * rng.integers(0, 2, (200, 3)):
        in_polyhedron = (problem.M @ z + problem.q).min() >= 0 and abs(problem.q @ z) <= ROUND_OFF
        inside += in_polyhedron
        assert in_polyhedron == (problem.residual(z) <= ROUND_OFF)
    assert 10 < inside < 190


@pytest.mark.parametrize("n_d", [4, 6, 8])
def test_in_space_s_is_the_speed_against_the_best_corner(n_d):
    D = notes.directions(n_d)
    for angle in np.random.default_rng(1).uniform(-np.pi, np.pi, 20):
        v = 1.7 * np.array([np.cos(angle), np.sin(angle)])
        (z,) = all_solutions(notes.friction_lcp(v, D, 0.3))
        best = np.argmax(-D.T @ v)
        np.testing.assert_allclose(z, [*(0.3 * np.eye(n_d)[best]), -D[:, best] @ v], atol=ROUND_OFF)
        assert 1.7 * np.cos(np.pi / n_d) <= z[-1] <= 1.7


# The three bodies


def test_the_contacts_lie_between_the_bodies_of_page_9():
    case = ThreeBodies()
    for q, v in [case.start(), *mechanics.states(case, 2, 3)]:
        blocks = mechanics.filled(case, q, v).J_n.reshape(6, 3, 6)
        np.testing.assert_array_equal(np.abs(blocks).max(axis=2).T > 0, GRAPH > 0)
        # The normal points into body 1 and out of body 2, the ground's part is not in the matrix.
        for i in INNER:
            first, second = (int(np.flatnonzero(GRAPH[:, i] == k)[0]) for k in (1, 2))
            np.testing.assert_allclose(blocks[i, first, :3], -blocks[i, second, :3], atol=1e-15)
            if np.array_equal(q, case.start()[0]):
                assert blocks[i, first, 2] * (q[7 * first + 2] - q[7 * second + 2]) > 0


def test_the_graph_leaves_three_combinations_of_contact_forces_undetermined():
    case = ThreeBodies()
    for q, v in [case.start(), *mechanics.states(case, 3, 5)]:
        core = mechanics.filled(case, q, v)
        assert rank(np.vstack([core.J_n, core.J_t])).value == 15


def test_a_plank_without_friction_at_the_support_is_driven_backwards_by_the_roller():
    """m_A a_A = -F_p, and a roller between belt (c) and plank (a_A): a_A = (I/R^2 - m_B) c / (4 m_A + m_B + I/R^2)."""
    case = ThreeBodies(mu_support=0.0, mu_ball=0.0)
    r = run(case, duration=0.2)
    equivalent = 0.4 * case.m_roller
    wanted = (equivalent - case.m_roller) * case.belt / (4 * case.m_plank + case.m_roller + equivalent)
    gained = (r.states_v[-1, 0] - r.states_v[100, 0]) / (r.h * (r.steps - 100))
    assert wanted < 0
    assert gained == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("rise", [0.0, 3.0])
def test_a_fast_belt_slides_and_pulls_with_mu_times_the_load_in_the_rising_frame(rise):
    """Both balls slide on the belt until they roll: the belt's friction is mu (p_3 + p_4), whatever the rest does."""
    case = ThreeBodies(belt=60.0, mu_belt=0.05, rise=rise)
    r = run(case, duration=0.1)
    slides = np.linalg.norm(r.u_t[:, 2:4], axis=-1) > 0.1
    assert slides[20:].all()
    np.testing.assert_allclose(r.p_t[20:, 2:4, 0], 0.05 * r.p_n[20:, 2:4], rtol=1e-3)
    assert r.p_n[20:, [0, 2, 3]].sum(axis=1) / r.h == pytest.approx(3.5 * (9.81 + rise), rel=1e-3)


def test_newtons_laws_hold_for_any_formulation_and_break_with_an_unbalanced_contact():
    case = ThreeBodies()
    for formulation in (polygon(4), frictionless):
        r = run(case, formulation, duration=0.1)
        assert np.abs(case.wrench(r, INNER)).max() < 1e-13
        assert np.abs(case.unbalanced(r)[:3]).max() < 1e-12
    r.record.J[:, 5, 14] *= 2.0
    assert np.abs(case.wrench(r, INNER)).max() > 0.1


# The final formulation


@pytest.mark.parametrize("n_d", [4, 8])
def test_the_notes_lcp_is_the_workbenchs(n_d):
    case = mechanics.scaled(ThreeBodies())
    for q, v in [case.start(), *mechanics.states(case, 4, 8)]:
        found = notes.compare(case, q, v, 2e-3, n_d)
        assert max(found.M, found.q, found.mixed) <= ROUND_OFF


@pytest.mark.parametrize("name", notes.MISPRINTS)
def test_each_misprint_changes_the_lcp(name):
    case = ThreeBodies()
    for q, v in mechanics.states(case, 5, 4):
        found = notes.compare(case, q, v, 1e-3, 4, (name,))
        assert max(found.M, found.q) > 1e-5
        assert found.mixed > 1e-5


def test_two_bodies_that_turn_as_one_do_not_slide_on_each_other_unless_as_printed():
    case = ThreeBodies()
    q, v = next(mechanics.states(case, 6, 1))
    bodies, touches = notes.three_bodies(case, q, v)
    w = np.array([0.3, -1.0, 0.7])
    rigid = np.concatenate([np.concatenate([np.cross(w, b.x), w]) for b in bodies])
    for i in INNER:
        for D in (touches[i].n[:, None], touches[i].F):
            # The contact point is one point in space: both bodies have the velocity w x point there.
            assert np.abs(notes.wrench_columns(bodies, touches[i], D).T @ rigid).max() < 1e-14
            assert np.abs(notes.wrench_columns(bodies, touches[i], D, ["torque of body 2"]).T @ rigid).max() > 1e-3


def test_a_step_of_the_notes_lcp_is_a_step_of_the_workbench():
    case = ThreeBodies()
    r = run(case, polygon(4), duration=0.1)
    for k in (0, 10, 99):
        bodies, touches = notes.three_bodies(case, r.states_q[k], r.states_v[k])
        ours = notes.final_formulation(bodies, touches, r.h, case.gravity, 4)
        z = default_solver("LCP").solve(LCP(ours.M_lcp, ours.q)).z
        end = notes.in_body_axes(bodies, ours.velocity(z))
        np.testing.assert_allclose(end, r.states_v[k + 1], rtol=0, atol=1e-11)
        # With the printed factor h before M^-1 the velocity does not move as it should.
        assert np.abs(notes.in_body_axes(bodies, ours.velocity(z, r.h)) - r.states_v[k + 1]).max() > 1e-4


def test_the_contact_data_of_a_state_are_those_of_the_run():
    case = ThreeBodies()
    r = run(case, polygon(4), duration=0.02)
    problem = pose(polygon(4), notes.system_at(case, r.states_q[7], r.states_v[7], r.h)).problem()
    np.testing.assert_array_equal(problem.M, r.record.M[7])
    np.testing.assert_array_equal(problem.q, r.record.q_[7])


# The rigid body


def test_only_the_corrected_quaternion_rates_turn_the_body():
    rng = np.random.default_rng(7)
    for omega in rng.uniform(-2, 2, (5, 3)):
        K = np.cross(np.eye(3), omega)
        R = np.empty((3, 3))
        rotation(np.array([0, 0, 0, *notes.turn(omega, 1.0)]), 0, R)
        np.testing.assert_allclose(R, expm(K), atol=1e-9)
        np.testing.assert_allclose(notes.rotation_by(omega), expm(K), atol=1e-12)
        for name in ("last row", "factor"):
            rotation(np.array([0, 0, 0, *notes.turn(omega, 1.0, [name])]), 0, R)
            assert np.abs(R - expm(K)).max() > 0.01


def test_corrected_rates_are_orthogonal_to_the_quaternion_and_printed_ones_are_not():
    q = np.array([0.1, 0.5, -0.7, 0.5])
    assert np.abs(q @ notes.quaternion_rates(q)).max() < 1e-15
    # d|q|^2/dt = 4 c d omega_1 / 2 with the printed last row.
    np.testing.assert_allclose(2 * q @ notes.quaternion_rates(q, ["last row"]), [2 * q[2] * q[3], 0, 0], atol=1e-15)


def test_the_printed_sign_of_the_gyroscopic_term_turns_the_angular_momentum():
    assert notes.spun(1e-2) / notes.spun(1e-3) == pytest.approx(10, rel=0.01)
    assert min(notes.spun(h, sign=1.0) for h in (1e-2, 1e-3)) > 1


# The page


@cache
def page():
    return friction_notes.reproduce(lambda label, done, total: None)


def test_what_is_printed_wrong_differs_and_everything_else_is_confirmed():
    claims = page().claims
    differ = {c.statement for c in claims if c.verdict != "confirmed"}
    assert differ == {
        c.statement for c in claims if c.origin in (friction_notes.PRINTED, "the notes, p. 2, in the plane")
    }
    assert all(c.why for c in claims if c.statement in differ)
    assert len(claims) - len(differ) >= 35


def test_the_page_shows_the_declaration_the_drawings_and_one_step_in_numbers():
    sections = page().sections
    assert [len(s.sketches) for s in sections] == [0, 0, 1, 0, 1, 0, 0]
    assert all(x.svg.startswith("<svg") for s in sections for x in s.sketches)
    final = sections[5]
    assert any(r"\beta \;\perp\;" in x for x in final.mathematics)
    assert r"\begin{bmatrix}" in final.mathematics[-1]
    states = [row[-1] for t in final.tables for row in t.rows if t.title.startswith("One step")]
    assert states == ["sticks"] * 5 + ["slides"]
