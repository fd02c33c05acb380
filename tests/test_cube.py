"""The cube's sliding phase against an independent solution, its orders of convergence, and the paper's agreements."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.mechanics import failing
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.cube import Cube
from workbench.language.assemble.find import compiled
from workbench.mechanics.relaxation import Relaxation
from workbench.step.simulation import simulate
from workbench.step.stepping import PASSES
from workbench.verbs.find import find_formulation

UNDAMPED = Relaxation(k_n=1e10, b_n=1e8, k_t=1e8)
"""Table 1 without the bristle's damping, which would make friction oppose the velocity b_t / k_t later."""


def arms(case, psi):
    """(4, 2) vertices relative to the centre."""
    c, s = np.cos(psi), np.sin(psi)
    square = 0.5 * case.edge * np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]])
    return square @ np.array([[c, s], [-s, c]])


def across(r):
    return np.stack([-r[:, 1], r[:, 0]], axis=-1)


def normal_forces(case, r, e):
    """N (4,) = max(0, c + a . r): sum N = m g and no tilting, sum N (r - mu l/2 e) = 0, e (4, 2) along the slide."""
    active = np.ones(4, dtype=bool)
    for _ in range(8):
        share = np.column_stack([np.ones(4), r])
        rows = np.vstack([np.ones(4), (r - 0.5 * case.mu * case.edge * e).T])
        c = np.linalg.solve(rows @ (active[:, None] * share), [case.m * case.gravity, 0, 0])
        N = share @ c
        if ((N > 0) == active).all():
            return np.where(active, N, 0.0)
        active = N > 0
    raise AssertionError("no set of carrying vertices found")


def accelerations(case, y, lag=0.0):
    """(xdd, ydd, psidd) and N; with a lag friction opposes u + lag J_t a, as a damped bristle makes it."""
    r = arms(case, y[2])
    u = y[3:5] + y[5] * across(r)
    a = np.zeros(3)
    for _ in range(100):
        d = u + lag * (a[:2] + a[2] * across(r))
        e = d / np.linalg.norm(d, axis=1)[:, None]
        N = normal_forces(case, r, e)
        F = -case.mu * N[:, None] * e
        torque = (r[:, 0] * F[:, 1] - r[:, 1] * F[:, 0]).sum()
        old, a = a, np.array([*F.sum(axis=0) / case.m, 6 * torque / (case.m * case.edge**2)])
        if lag == 0.0 or np.abs(a - old).max() < 1e-12:
            return a, N
    raise AssertionError("the lagged direction did not settle")


def solution(case, slowest, lag=0.0):
    """The sliding phase from the start until no vertex is faster than `slowest` [m/s]."""

    def speed(t, y):
        return np.linalg.norm(y[3:5] + y[5] * across(arms(case, y[2])), axis=1).max() - slowest

    speed.terminal = True
    start = [0, 0, 0, 0, case.speed, case.spin]
    return solve_ivp(
        lambda t, y: [*y[3:], *accelerations(case, y, lag)[0]], (0, 2), start, "DOP853", rtol=1e-10, atol=1e-11,
        events=speed, dense_output=True,
    )  # fmt: skip


def run(h, label="coulomb", relaxation=None, case=None, duration=None):
    case, formulation = case or Cube(), find_formulation(label)
    r = simulate(case, formulation, default_solver(compiled(formulation, *case.size).kind), h, duration,
                 relaxation=relaxation)  # fmt: skip
    assert (r.steps, r.residuals.max() <= r.tolerance) == (r.steps_wanted, True), r.reason
    return r


def at(r, t):
    """(x, y, yaw) of a run."""
    q = r.states_q[round(t / r.h)]
    return np.array([*q[:2], 2 * np.arctan2(q[6], q[3])])


@pytest.fixture(scope="module")
def independent():
    return solution(Cube(), 1e-4)


def test_the_truths_are_the_numbers_of_the_independent_solution(independent):
    end, slow = independent.y[:, -1], 1e-4
    # The last 0.1 mm/s take slow / (mu g) or so.
    assert independent.t[-1] == pytest.approx(0.661241, abs=2 * slow / 9.81)
    np.testing.assert_allclose(end[:3], [0.440646, 1.583968, 1.953472], rtol=0, atol=1e-6)


def test_without_the_bristles_damping_the_motion_converges_to_the_solution_at_first_order(independent):
    error = {h: np.linalg.norm(at(run(h, relaxation=UNDAMPED), 0.4) - independent.sol(0.4)[:3]) for h in (2e-3, 1e-3)}
    assert error[1e-3] < 2.7e-3
    assert error[2e-3] / error[1e-3] == pytest.approx(2, abs=0.03)


@pytest.mark.thorough
def test_the_bristles_damping_turns_friction_by_a_millisecond_whatever_the_step(independent):
    """Extrapolated to h = 0 the run of Table 1 is the solution with lag b_t / k_t, 0.3 mm off the one without."""
    limit = 2 * at(run(5e-4), 0.4) - at(run(1e-3), 0.4)
    lagged = solution(Cube(), 1.0, lag=1e-3).sol(0.4)[:3]
    shift = np.linalg.norm(lagged - independent.sol(0.4)[:3])
    assert shift > 2e-4
    assert np.linalg.norm(limit - lagged) < 0.1 * shift


def test_vertices_carry_what_equal_compliance_gives_and_one_lifts(independent):
    r = run(1e-3, relaxation=UNDAMPED, duration=0.55)
    for k in range(50, 550, 50):
        N = accelerations(Cube(), independent.sol(k * 1e-3))[1]
        np.testing.assert_allclose(r.p_n[k] / r.h, N, atol=0.15)
    assert ((r.p_n <= 1e-12).sum(axis=1) == 1).mean() > 0.6
    # By nanometres: the vertices of a cube of 1 kg on springs of 1e10 N/m.
    assert r.record.phi.max() < 3e-9


def test_a_flatter_friction_keeps_all_vertices_down():
    """The load moves by at most mu l / 2: up to mu = 1 / sqrt 2 every vertex carries, whatever the direction."""
    assert (run(1e-3, case=Cube(mu=0.7), duration=0.3).p_n > 0).all()


@pytest.mark.parametrize("h", [1e-2, 1e-3])
@pytest.mark.parametrize("relaxation", [None, UNDAMPED], ids=["Table 1", "undamped"])
def test_the_truths_hold(h, relaxation):
    truths = Cube().truths(run(h, relaxation=relaxation))
    assert (len(truths), failing(truths)) == (5, set())


def test_other_cubes_keep_momentum_and_energy():
    for case in (Cube(mu=0.4, m=3.0, spin=1.0), Cube(edge=0.2, speed=2.0, gravity=4.0)):
        truths = case.truths(run(2e-3, case=case))
        assert (len(truths), failing(truths)) == (2, set())


def test_friction_in_a_fixed_square_misses_the_truths():
    assert len(failing(Cube().truths(run(1e-3, "box")))) >= 1


@pytest.mark.parametrize(("h", "allowed"), [(1e-2, 1e-3), (1e-3, 2e-5)])
def test_the_regularised_phantom_follows_the_iterated_hybrid(h, allowed):
    pair = [run(h, label) for label in ("phantom-inertia:lateral=regularised", "hybrid:bounds=iterated")]
    a, b = (r.case.centre(r.states_q) for r in pair)
    assert np.abs(a - b).max() < allowed


def test_the_phantom_with_fixed_axes_is_the_coupled_box():
    pair = [run(1e-3, label) for label in ("phantom-inertia:axes=fixed", "box:bounds=coupled")]
    a, b = (r.case.centre(r.states_q) for r in pair)
    assert np.abs(a - b).max() < 1e-8


@pytest.mark.parametrize("label", ["hybrid:bounds=iterated", "box:bounds=iterated"])
@pytest.mark.parametrize("h", [1e-3, 1e-2])
def test_iterated_bounds_settle_where_a_compliance_leaves_impulses_fewer_digits(h, label):
    """Bounds that change by the rounding of the normal impulses have settled: they are known no better."""
    rng = np.random.default_rng(8)
    for _ in range(8):
        case = Cube(
            m=rng.uniform(0.2, 5), edge=rng.uniform(0.3, 2), mu=rng.uniform(0.1, 0.4), speed=rng.uniform(0.1, 5),
            spin=rng.uniform(-7, 7), k_n=10 ** rng.uniform(7, 11),
        )  # fmt: skip
        r = run(h, label, case=case, duration=20 * h)
        assert r.record.effort[:, 1].max() < PASSES
