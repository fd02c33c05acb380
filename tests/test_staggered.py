"""Staggered projections: what a pass is, where the passes settle, on what, and where they do not."""

import itertools

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import MLCP
from workbench.problems.solution import Status
from workbench.step import stepping
from workbench.step.one_step import pose, solve_system
from workbench.step.simulation import simulate
from workbench.step.sweep import sweep_steps

BY_NAME = {f.name: f for f in FORMULATIONS}
STAGGERED = BY_NAME["staggered"]
LEMKE = find_solver("lemke")
DIRECTIONS = (4, 8)


def coupled(mu: float, coupling: float) -> ContactSystem:
    """A planar contact with W = [[1, c], [c, 1 + c^2]], whose free rates are -1 along the normal, 10 along the floor.

    It slides whatever mu p_n <= 1 does: p_t = -mu p_n, hence p_n = 1 + c mu p_n for the coupled problem.
    """
    return ContactSystem(np.eye(2), [-1.0, 10.0 + coupling], np.zeros(2), 0.01, [[1.0, 0.0]], [[coupling, 1.0]], mu)


def passes_of(system: ContactSystem, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """p_n and p_t of the first passes of a step."""
    stepper, found = pose(STAGGERED, system), []
    n, _, r, _ = system.size
    for _ in range(count):
        stepper.finish_pass(LEMKE.solve(stepper.problem()).z)
        out = stepper.work.out.copy()
        found.append((out[n : n + r], out[n + r : n + r + len(system.J_t)]))
    return found


@pytest.mark.parametrize("shape", ["one planar contact", "three planar contacts, two constraints"])
def test_a_pass_is_the_normal_projection_and_then_that_of_friction(systems, shape):
    """Against the two projections posed one by one, from the Delassus operator: in the plane the polygon is a box."""
    keller, box = find_solver("keller"), find_solver("judice-pires")
    for seed in range(4):
        system = systems.random_system(seed, **systems.SHAPES[shape])
        W, q = systems.delassus(system)
        r = len(system.mu)
        p_t = np.zeros(r)
        for found_n, found_t in passes_of(system, 6):
            normal = MLCP(W[:r, :r], q[:r] + W[:r, r:] @ p_t, np.zeros(r), np.full(r, np.inf))
            p_n = keller.solve(normal).z
            limit = np.asarray(system.mu) * p_n
            p_t = box.solve(MLCP(W[r:, r:], q[r:] + W[r:, :r] @ p_n, -limit, limit)).z
            np.testing.assert_allclose(found_n, p_n, rtol=0, atol=1e-11)
            np.testing.assert_allclose(found_t, p_t, rtol=0, atol=1e-11)


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_where_the_passes_settle_the_step_is_stewart_and_trinkle_s(systems, directions):
    settled = 0
    f, of_one_piece = (BY_NAME[name].with_options(directions=directions) for name in ("staggered", "stewart-trinkle"))
    for shape, seed in itertools.product(systems.SHAPES.values(), range(8)):
        system = systems.random_system(seed, mu=(0.01, 0.3), normal=("velocity", "gap")[seed % 2], **shape)
        answer, solution = solve_system(f, system, LEMKE)
        if solution.claimed is Status.NO_FIXED_POINT:
            continue
        expected, _ = solve_system(of_one_piece, system, LEMKE)
        np.testing.assert_allclose(answer.v, expected.v, rtol=0, atol=1e-9)
        np.testing.assert_allclose(answer.p_n, expected.p_n, rtol=0, atol=1e-9)
        settled += 1
    assert settled >= 36


@pytest.mark.parametrize("case", [Block(), Wheel()], ids=lambda c: c.name)
def test_the_passes_settle_throughout_a_case_on_stewart_and_trinkle_s_run(case):
    found, expected = (simulate(case, BY_NAME[name], LEMKE, 1e-3) for name in ("staggered", "stewart-trinkle"))
    assert found.status is expected.status is Status.SOLVED
    np.testing.assert_allclose(found.states_v, expected.states_v, rtol=0, atol=1e-9)
    assert found.record.effort[:, 1].max() < stepping.PASSES


def test_the_passes_settle_to_rounding_on_contacts_that_share_a_load_by_their_compliance():
    """Rounding moves the impulses of the relaxed cube by 1e-10 from pass to pass; a fixed 1e-12 ends its first step."""
    found, expected = (simulate(Cube(), BY_NAME[name], LEMKE, 1e-2, 0.4) for name in ("staggered", "stewart-trinkle"))
    assert found.status is expected.status is Status.SOLVED
    np.testing.assert_allclose(found.states_v, expected.states_v, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("direction", "axes"), [(0.0, "fixed"), (30.0, "sliding")])
def test_the_passes_start_from_the_last_step_s_friction(direction, axes):
    """The block's friction stays the same: the first step needs two passes, later ones see it settled in one."""
    f = STAGGERED.with_options(axes=axes)
    passes = simulate(Block(direction=direction), f, LEMKE, 1e-3, 0.5).record.effort[:, 1]
    assert passes[0] == 2
    assert (passes[1:] == 1).all()


def test_passes_contract_by_mu_times_the_coupling():
    """p_n <- 1 + c mu p_n: the distance from 1 / (1 - c mu) shrinks by |c mu|, with either sign of c."""
    mu = 0.4
    for coupling in (1.2, -1.2):
        end = 1.0 / (1.0 - coupling * mu)
        distance = [abs(p_n[0] - end) for p_n, _ in passes_of(coupled(mu, coupling), 12)]
        np.testing.assert_allclose(np.divide(distance[1:], distance[:-1]), abs(coupling * mu), rtol=1e-6)
        answer, solution = solve_system(STAGGERED, coupled(mu, coupling), LEMKE)
        assert solution.claimed is Status.SOLVED
        assert answer.p_n[0] == pytest.approx(end, rel=1e-11)


def test_strong_coupling_keeps_the_passes_from_settling_and_the_status_says_so():
    """mu c = -2: friction lifts the contact it is computed for, and the next pass, without it, closes it again."""
    system = coupled(1.0, -2.0)
    found = passes_of(system, 8)
    np.testing.assert_allclose([p_n[0] for p_n, _ in found], [1, 0, 1, 0, 1, 0, 1, 0], atol=1e-12)
    np.testing.assert_allclose([p_t[0] for _, p_t in found], [-1, 0, -1, 0, -1, 0, -1, 0], atol=1e-12)
    answer, solution = solve_system(STAGGERED, system, LEMKE)
    assert solution.claimed is Status.NO_FIXED_POINT
    assert "settle" in solution.reason
    assert np.isnan(answer.v).all()
    assert solution.residual < solution.tolerance
    assert not solution.verified
    assert np.isinf(sweep_steps(STAGGERED, system, mu=np.ones(2)).residuals).all()
    # The problem itself has a solution, which the passes do not reach.
    whole, solution = solve_system(BY_NAME["stewart-trinkle"], system, LEMKE)
    assert solution.verified
    assert whole.p_n[0] == pytest.approx(1 / 3, rel=1e-12)
