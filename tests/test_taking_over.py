"""What passes the problem's residual is solved, whatever a method claims; what does not is taken over by a chain."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.block_problems import random_blocks
from tests.tosses import THROWER, starts
from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT, KernelSolver
from workbench.algorithms.escalation import AUTO, HOPELESS, RATIONALS, Chain, default_solver, in_steps
from workbench.algorithms.lemke.method import lemke_kernel
from workbench.builtin.cases import CASES
from workbench.builtin.cases.bouncing_ball import BouncingBall
from workbench.builtin.cases.cube import Cube
from workbench.engine.compiling import kernel
from workbench.engine.kernels import SOLVE
from workbench.exams.recorded.throws import Subject, Thrower
from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import LCP, MLCP, CoulombNCP
from workbench.problems.solution import Solution, Status
from workbench.step.local_steps import local_steps
from workbench.step.run import make_problem
from workbench.step.simulation import simulate
from workbench.step.sweep import sweep_steps
from workbench.verbs.find import find_formulation

coulomb_kernel = find_solver("coulomb-exact").kernel

SOLVED, RAY, INACCURATE = int(Status.SOLVED), int(Status.RAY), int(Status.INACCURATE)


@pytest.mark.parametrize("claimed", [s for s in Status if s not in (Status.REFUSED, Status.NO_FIXED_POINT)])
def test_no_claim_stands_against_a_verified_answer(claimed):
    passes = Solution(np.ones(2), claimed, 1e-10, EXACT, 3, 0.0, "somebody", claimed.meaning)
    fails = replace(passes, claimed=claimed, residual=2e-9)
    assert passes.verified
    assert passes.claimed is Status.SOLVED
    assert not fails.verified
    assert fails.claimed is claimed


def test_a_fixed_point_that_did_not_settle_and_a_proof_stay_what_they_are():
    unsettled = Solution(np.ones(2), Status.NO_FIXED_POINT, 0.0, EXACT, 3, 0.0, "somebody")
    proved = Solution(np.full(2, np.nan), Status.NO_SOLUTION, np.inf, EXACT, 3, 0.0, "somebody", proof="none")
    assert (unsettled.claimed, unsettled.verified) == (Status.NO_FIXED_POINT, False)
    assert (proved.claimed, proved.verified) == (Status.NO_SOLUTION, True)


@kernel(SOLVE)
def timid(M, q, lower, upper, mu, d, z, info):
    """Lemke's method, which calls every answer a ray."""
    lemke_kernel(M, q, lower, upper, mu, d, z, info)
    return RAY


TIMID = KernelSolver("timid", timid, frozenset({"LCP"}), "nothing", "a test")


def test_a_run_does_not_end_on_a_ray_that_is_a_solution():
    f = find_formulation("stewart-trinkle")
    found, sure = (simulate(Cube(), f, solver, 1e-3, 0.3) for solver in (TIMID, find_solver("lemke")))
    assert (found.status, found.reason, found.steps) == (Status.SOLVED, "", found.steps_wanted)
    np.testing.assert_array_equal(found.states_q, sure.states_q)


@kernel(SOLVE)
def fragile(M, q, lower, upper, mu, d, z, info):
    """Exact Coulomb friction, which gives up where a contact comes down fast."""
    if q[0] < -1.0:
        for i in range(z.shape[0]):
            z[i] = 0.0
        return RAY
    return coulomb_kernel(M, q, lower, upper, mu, d, z, info)


@kernel(SOLVE)
def bold(M, q, lower, upper, mu, d, z, info):
    """The same, which calls what it has there solved."""
    status = coulomb_kernel(M, q, lower, upper, mu, d, z, info)
    if q[0] < -1.0:
        for i in range(z.shape[0]):
            z[i] *= 1.01
    return status


@kernel(SOLVE)
def afraid(M, q, lower, upper, mu, d, z, info):
    """The same, which gives up wherever a contact closes."""
    status = coulomb_kernel(M, q, lower, upper, mu, d, z, info)
    for i in range(mu.shape[0]):
        if z[i] > 0.0:
            z[i], status = 0.0, RAY
    return status


FAILING = {
    name: KernelSolver(name, method, frozenset({"Coulomb NCP"}), "nothing", "a test")
    for name, method in (("fragile", fragile), ("bold", bold))
}


def in_python(solver):
    """The same without its kernel, so that the loop over steps is one in Python."""
    return SimpleNamespace(**{x: getattr(solver, x) for x in ("name", "solves", "tolerance", "why_not", "solve")})


AFRAID = KernelSolver("afraid", afraid, frozenset({"Coulomb NCP"}), "nothing", "a test")


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("progress", [None, lambda done: None], ids=["at once", "in chunks"])
def test_a_step_that_a_method_fails_at_is_taken_over_and_the_loop_goes_on(name, progress):
    case, f = BouncingBall(), find_formulation("coulomb")
    chain = Chain(FAILING[name], ("nsgs", "coulomb-exact"))
    found = simulate(case, f, chain, 1e-3, progress=progress)
    exact = simulate(case, f, find_solver("coulomb-exact"), 1e-3)
    assert (found.status, found.steps) == (Status.SOLVED, found.steps_wanted)
    hits = int((found.record.q_[:, 0] < -1.0).sum())
    assert 0 < hits == sum(found.others.values())
    assert set(found.others) <= {"nsgs", "coulomb-exact"}
    np.testing.assert_allclose(found.states_q, exact.states_q, rtol=0, atol=1e-6)
    assert found.residuals.max() <= EXACT
    assert not exact.others
    alone = simulate(case, f, FAILING[name], 1e-3)
    assert alone.status is (Status.RAY if name == "fragile" else Status.INACCURATE)


def test_a_throw_goes_on_over_steps_that_its_first_method_fails_at(monkeypatch):
    start, samples = starts(3, seed=5), np.array([15, 15, 15])
    given = Subject(find_formulation("coulomb"))
    expected, _ = THROWER.throw(given, start, samples, 0.3, 0.1)
    chain = Chain(AFRAID, ("coulomb-exact",))
    monkeypatch.setattr(Thrower, "solver", lambda self, subject: chain)
    found, status = THROWER.throw(given, start, samples, 0.3, 0.1)
    assert (status == Status.SOLVED).all()
    np.testing.assert_array_equal(found, expected)
    # Without anybody who takes over, a throw ends there.
    monkeypatch.setattr(Thrower, "solver", lambda self, subject: Chain(AFRAID, ()))
    ended, status = THROWER.throw(given, start, samples, 0.3, 0.1)
    assert (status == Status.RAY).any()
    assert np.isnan(ended[status == Status.RAY, -1]).all()


def test_local_steps_and_sweeps_are_taken_over_too(monkeypatch):
    case, f = BouncingBall(), find_formulation("coulomb")
    exact = simulate(case, f, find_solver("coulomb-exact"), 1e-3)
    chain, steps = Chain(FAILING["fragile"], ("coulomb-exact",)), np.arange(0, exact.steps, 7)
    steps = np.union1d(steps, np.flatnonzero(exact.record.q_[:, 0] < -1.0)[:3])
    found = local_steps(exact, f, chain, steps)
    assert found.status is Status.SOLVED
    assert sum(found.others.values()) == (found.record.q_[:, 0] < -1.0).sum() >= 3
    np.testing.assert_allclose(found.v_after, exact.v_after[steps], rtol=0, atol=1e-12)

    block = ContactSystem(np.eye(3), [0, 0, 0], [1.0, 0, 0], 0.01, [[0, 0, 1]], [[1, 0, 0], [0, 1, 0]], mu=0.3)
    fall = np.array([[1.0, 0.0, -x] for x in (0.1, 0.9, 1.1, 3.0)])
    expected = sweep_steps(f, block, v=fall)
    assert not expected.others
    monkeypatch.setattr("workbench.step.sweep.compiled_solver", lambda name, kind: FAILING["fragile"])
    monkeypatch.setattr("workbench.algorithms.escalation.default_solver", lambda kind: chain)
    taken = sweep_steps(f, block, v=fall)
    assert taken.others == {"coulomb-exact": 2}
    np.testing.assert_allclose(taken.v, expected.v, rtol=0, atol=1e-14)
    assert (taken.residuals <= EXACT).all()
    assert taken.solved.all()
    # A solver that is asked for by name is that solver alone.
    assert (sweep_steps(f, block, solver="coulomb-exact", v=fall).status != Status.SOLVED).sum() == 2


@kernel(SOLVE)
def hopeless(M, q, lower, upper, mu, d, z, info):
    """No answer, and no claim to one."""
    for i in range(z.shape[0]):
        z[i] = 0.5 * abs(q[i])
    return INACCURATE


def test_a_chain_that_solves_nothing_is_not_asked_at_every_step(monkeypatch):
    """A run whose steps no method solves is no slower for it: after some the first method is alone."""
    nothing = KernelSolver("hopeless", hopeless, frozenset({"Coulomb NCP"}), "nothing", "a test")
    asked = []
    solve = Chain.solve
    monkeypatch.setattr(Chain, "solve", lambda self, *given: asked.append(1) or solve(self, *given))
    run = simulate(BouncingBall(), find_formulation("coulomb"), Chain(nothing, ()), 1e-3, 0.1)
    assert (run.status, run.steps) == (Status.INACCURATE, 100)
    assert len(asked) == HOPELESS
    asked.clear()
    local = local_steps(run, run.formulation, Chain(nothing, ()), range(100))
    assert len(asked) == HOPELESS
    assert (local.statuses == Status.INACCURATE).all()
    np.testing.assert_array_equal(local.v_after, run.v_after)


def test_a_chain_is_asked_again_after_a_step_that_its_first_method_solves(monkeypatch):
    exact = simulate(BouncingBall(e=1.0), find_formulation("coulomb"), find_solver("coulomb-exact"), 1e-3, 12.0)
    hits = np.flatnonzero(exact.record.q_[:, 0] < -1.0)
    assert len(hits) > HOPELESS
    asked = []
    solve = Chain.solve
    monkeypatch.setattr(Chain, "solve", lambda self, *given: asked.append(1) or solve(self, *given))
    local = local_steps(exact, exact.formulation, Chain(FAILING["fragile"], ()), np.union1d(hits, hits - 1))
    failing = local.statuses == Status.RAY
    np.testing.assert_array_equal(local.numbers[failing], hits)
    # Their rows hold the problems that were not solved.
    np.testing.assert_array_equal(local.record.q_[failing, 0] < -1.0, True)
    assert len(asked) == len(hits)


def test_a_run_in_python_is_as_good_as_its_worst_step():
    exact = find_solver("coulomb-exact")

    def solve(problem, *given):
        found = exact.solve(problem, *given)
        z = 1.01 * found.z
        wrong = replace(found, z=z, residual=float(problem.residual(z)), claimed=Status.INACCURATE)
        return wrong if problem.q[0] < -1.0 else found

    alone = in_python(exact)
    alone.solve = solve
    run = simulate(BouncingBall(), find_formulation("coulomb"), alone, 1e-3, 0.5)
    assert (run.status, run.steps) == (Status.INACCURATE, 500)


@kernel(SOLVE)
def endless(M, q, lower, upper, mu, d, z, info):
    """Impulses beyond all numbers, claimed to be right."""
    for i in range(z.shape[0]):
        z[i] = 1e308
    return SOLVED


@pytest.mark.parametrize("loop", [lambda x: x, in_python], ids=["compiled", "python"])
def test_velocities_that_are_not_finite_are_no_step(loop):
    solver = KernelSolver("endless", endless, frozenset({"Coulomb NCP"}), "nothing", "a test")
    run = simulate(BouncingBall(m=0.01), find_formulation("coulomb"), loop(solver), 1e-3, 0.01)
    assert (run.status in (Status.NOT_FINITE, Status.INACCURATE), run.steps) == (True, 0)


def test_who_takes_over_is_held_to_the_tolerance_of_the_first():
    """Sweeps that stop at 1e-7 by themselves, and count as verified up to 1e-6, are asked for 1e-9."""
    problem = CoulombNCP(np.diag([1.0, 2.0, 2.0]) + 0.3, np.array([-1.0, 2.0, 0.5]), np.array([0.3]))
    failed = Solution(np.zeros(3), Status.INACCURATE, 1.0, EXACT, 1, 0.0, "none")
    found = Chain(find_solver("coulomb-exact"), ("nsgs",)).take_over(problem, failed)
    assert (found.solver, found.tolerance) == ("nsgs", EXACT)
    assert found.residual <= EXACT
    assert found.verified


class Says:
    """A solver of contact blocks, or of anything, that says this of every problem."""

    name, guaranteed_for, tolerance, asked = "says", "nothing", EXACT, 0

    def __init__(self, z=None, claimed=Status.RAY, kinds=("contact blocks",)):
        self.z, self.claimed, self.solves = z, claimed, frozenset(kinds)

    def why_not(self, problem):
        return None

    def solve(self, problem, *guess):
        self.asked += 1
        z = np.full(problem.size, np.nan) if self.z is None else self.z
        residual = float(problem.residual(z)) if np.isfinite(z).all() else np.inf
        return Solution(z, self.claimed, residual, EXACT, 1, 0.0, self.name)


PARTICLE = CoulombNCP(np.eye(3), np.array([-1.0, 0.2, 0.0]), np.array([0.5]))


def test_nobody_takes_over_from_a_verified_answer_or_from_a_refusal():
    chain = default_solver("Coulomb NCP")
    right = find_solver("coulomb-exact").solve(PARTICLE)
    refused = Solution(np.full(3, np.nan), Status.REFUSED, np.inf, EXACT, 0, 0.0, "none", "no")
    assert chain.take_over(PARTICLE, right) is right
    assert chain.take_over(PARTICLE, refused) is refused


def test_methods_are_asked_in_turn_until_one_has_solved_the_problem(monkeypatch):
    wrong, worse, right, never = (Says(np.array([x, -0.2, 0.0]), kinds=("Coulomb NCP",)) for x in (1.1, 1.3, 1.0, 1.0))
    solvers = {"worse": worse, "right": right, "never": never}
    monkeypatch.setattr("workbench.algorithms.escalation.find_solver", solvers.__getitem__)
    found = Chain(wrong, ("worse", "right", "never")).solve(PARTICLE)
    assert (found.verified, worse.asked, right.asked, never.asked) == (True, 1, 1, 0)
    assert found.reason == "tried: says RAY, says RAY"
    best = Chain(worse, ("worse",)).take_over(PARTICLE, wrong.solve(PARTICLE))
    np.testing.assert_array_equal(best.z, wrong.z)
    assert not best.verified


def test_an_answer_with_impulses_that_hide_q_is_held_against_a_proof():
    """A particle between a floor and a ceiling that close: its residual is relative to impulses of 1e12."""
    J = np.array([[0.0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])
    problem = CoulombNCP(J @ J.T, np.array([-1.0, -1, 0, 0, 0, 0]), np.full(2, 0.5))
    squeezed = np.array([1e12, 1e12, 0, 0, 0, 0])
    claimed = Solution(squeezed, Status.SOLVED, 1e-12, EXACT, 1, 0.0, "none")
    assert default_solver("Coulomb NCP").take_over(problem, claimed).proof
    assert default_solver("Coulomb NCP").take_over(problem, replace(claimed, z=squeezed / 3e3)).proof
    for share in (1e4, 1e5):
        mild = replace(claimed, z=squeezed / share)
        assert default_solver("Coulomb NCP").take_over(problem, mild) is mild
    # Of a problem that has a solution nothing is proved, and the answer stays.
    open_end = replace(problem, q=np.array([-1.0, 1.0, 0, 0, 0, 0]))
    assert default_solver("Coulomb NCP").take_over(open_end, claimed).z is squeezed


@pytest.mark.parametrize("kinds", [["limit"], ["coulomb"], ["ccp"]])
def test_contact_blocks_of_one_kind_are_taken_over_as_the_dense_problem_that_they_are(kinds):
    p = random_blocks(np.random.default_rng(4), kinds, count=4, bodies=2)
    found, exact = Chain(Says(), ()).solve(p), find_solver("blocks-exact").solve(p)
    assert found.verified
    assert found.solver in ("lemke", "proximal", "coulomb-exact", "ccp-exact")
    assert found.residual == p.residual(found.z)
    np.testing.assert_allclose(p.velocities(found.z), p.velocities(exact.z), rtol=0, atol=1e-6)


def test_blocks_that_are_no_dense_problem_of_one_kind_keep_their_best_answer():
    p = random_blocks(np.random.default_rng(5), ["coulomb", "dry"], count=6, bodies=2)
    assert len(set(p.cone.tolist())) > 1
    z = np.zeros(p.size)
    found = Chain(Says(z), ()).solve(p)
    assert not found.verified
    assert found.z is z


WEDGED = [0.0, 1e-13, -1e-13, 1e-12]


@pytest.mark.parametrize("apart", WEDGED)
def test_contacts_that_fit_together_but_for_rounding_have_an_answer_by_every_method(apart):
    """A body between a floor and a ceiling that ask for velocities `apart` from one another: 0 but for rounding.

    For apart > 0 no impulse satisfies both: exact arithmetic finds no solution, and none is needed within 1e-12.
    """
    J = np.array([[1.0], [-1.0]])
    problem = LCP(J @ J.T, np.array([-1.0, 1.0 - apart]))
    for name in ("lemke", "murty", "proximal", "enumerate"):
        solution = find_solver(name).solve(problem)
        assert solution.claimed not in (Status.RAY, Status.INFEASIBLE) or solution.residual > EXACT
        assert default_solver("LCP").take_over(problem, solution).verified
    assert find_solver("enumerate").solve(problem).claimed is Status.SOLVED


def test_a_solution_that_rounding_has_taken_away_is_found_and_said():
    """Pang's LCP with a shift of 1e-14: infeasible as it stands, by 1e-14."""
    problem = LCP(np.array([[0.0, -1, -1], [1, 0, 0], [-1, 0, 0]]), np.array([-1e-14, -1.0, 1.0]))
    failed = Solution(np.full(3, np.nan), Status.RAY, np.inf, EXACT, 1, 0.0, "none")
    found = replace(default_solver("LCP"), then=()).take_over(problem, failed)
    assert found.verified
    assert not found.proof
    assert "q raised by 1e-14" in found.reason
    least = replace(problem, q=np.array([-1e-15, -1.0, 1.0]))
    assert "q raised by 1e-15" in replace(default_solver("LCP"), then=()).take_over(least, failed).reason
    further = replace(problem, q=np.array([-1e-6, -1.0, 1.0]))
    assert replace(default_solver("LCP"), then=()).take_over(further, failed).proof


def failed(n):
    """The answer of a method that found nothing."""
    return Solution(np.full(n, np.nan), Status.RAY, np.inf, EXACT, 1, 0.0, "none")


@pytest.mark.parametrize("share", [1e-15, 1e-14, 1e-13, 1e-12])
def test_q_is_raised_by_the_least_share_that_suffices(share):
    """A floor and a ceiling whose velocities are apart by this share of the larger one, and then by some more."""
    problem = LCP(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0 - share]))
    found = replace(default_solver("LCP"), then=()).take_over(problem, failed(2))
    assert found.verified
    assert f"q raised by {share:g} of" in found.reason
    apart = replace(problem, q=np.array([-1.0, 1.0 - 3 * share]))
    found = replace(default_solver("LCP"), then=()).take_over(apart, failed(2))
    assert found.proof if share == 1e-12 else f"q raised by {10 * share:g} of" in found.reason


def test_what_has_an_exact_solution_is_solved_as_it_stands():
    found = replace(default_solver("LCP"), then=()).take_over(LCP(np.eye(2), np.array([-1.0, 0.0])), failed(2))
    np.testing.assert_array_equal(found.z, [1.0, 0.0])
    assert (found.solver, found.reason) == (RATIONALS, "tried: none RAY")


def test_exact_arithmetic_is_begun_up_to_its_most_unknowns_and_no_further(monkeypatch):
    absent = LCP(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([-1.0, -1.0]))
    chain = replace(default_solver("LCP"), then=(), most=2)
    assert chain.take_over(absent, failed(2)).proof
    late = replace(chain, seconds=0.0).take_over(absent, failed(2))
    assert "not proved within 0 s" in late.reason
    beyond = replace(chain, most=1).take_over(absent, failed(2))
    assert not beyond.proof
    assert "not proved beyond 1 unknowns" in beyond.reason
    J = np.array([[0.0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])
    closing = CoulombNCP(J @ J.T, np.array([-1.0, -1, 0, 0, 0, 0]), np.full(2, 0.5))
    blocks = random_blocks(np.random.default_rng(4), ["coulomb"], count=4, bodies=2)
    for problem in (closing, blocks):
        for most, decided in ((problem.size, True), (problem.size - 1, False)):
            monkeypatch.setattr("workbench.algorithms.escalation.LARGEST_FRICTION", most)
            assert Chain(Says(), ()).take_over(problem, failed(problem.size)).verified == decided


def test_bounds_that_no_number_is_within_are_told_from_either_side():
    far = np.full(2, np.inf)
    for lower, upper in ((np.array([0.0, np.inf]), far), (-far, np.array([0.0, -np.inf]))):
        found = default_solver("MLCP").solve(MLCP(np.eye(2), np.ones(2), lower, upper))
        assert found.proof == "no solution: no number is within the bounds of z[1]"


@pytest.mark.parametrize(
    ("M", "asked"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], True),
        ([[9e149, 0.0], [0.0, 1.0]], True),
        ([[1e150, 0.0], [0.0, 1.0]], False),
        ([[2e-150, 0.0], [0.0, 1.0]], True),
        ([[1e-150, 0.0], [0.0, 1.0]], False),
    ],
)
def test_lemkes_method_takes_an_mlcp_of_numbers_whose_squares_are_doubles(monkeypatch, M, asked):
    """z >= 1 is an LCP in z - 1, with M and M 1 + q."""
    names = []
    monkeypatch.setattr(
        "workbench.algorithms.escalation.find_solver", lambda name: names.append(name) or find_solver(name)
    )
    problem = MLCP(np.array(M), np.array([0.0, -3.0]), np.ones(2), np.full(2, np.inf))
    found = Chain(Says(), ()).take_over(problem, failed(2))
    assert names == ["lemke"] * asked
    assert found.verified
    assert found.solver == ("lemke" if asked else RATIONALS)


def test_lemkes_method_is_asked_once_and_not_of_equations(monkeypatch):
    monkeypatch.setattr("workbench.algorithms.escalation.find_solver", lambda name: pytest.fail(name))
    free = np.full(1, np.inf)
    for problem in (LCP(np.eye(1), -np.ones(1)), MLCP(np.eye(1), -np.ones(1), -free, free)):
        found = Chain(Says(), ()).take_over(problem, failed(1))
        assert (found.solver, found.verified) == (RATIONALS, True)


def test_a_sparse_problem_is_neither_doubted_nor_taken_for_contact_blocks():
    """Nor is one without contacts."""
    sparse = CoulombNCP(csr_array(PARTICLE.M), PARTICLE.q, PARTICLE.mu)
    huge = Solution(np.array([1e12, 0.0, 0.0]), Status.SOLVED, 1e-12, EXACT, 1, 0.0, "none")
    assert default_solver("Coulomb NCP").take_over(sparse, huge) is huge
    best = Chain(Says(), ()).take_over(sparse, failed(3))
    assert (best.verified, best.claimed, best.reason) == (False, Status.RAY, "")
    nothing = CoulombNCP(np.zeros((0, 0)), np.zeros(0), np.zeros(0))
    empty = Solution(np.zeros(0), Status.SOLVED, 0.0, EXACT, 1, 0.0, "none")
    assert default_solver("Coulomb NCP").take_over(nothing, empty) is empty


def test_a_proof_says_of_what_it_is():
    """z_1 is free, and 0 z_1 = -1 has no solution; of an LCP there is nothing to say."""
    problem = MLCP(np.zeros((1, 1)), np.ones(1), np.full(1, -np.inf), np.full(1, np.inf))
    assert default_solver("MLCP").solve(problem).proof.startswith("no solution: as an LCP of 2 unknowns, ")
    assert (
        default_solver("LCP").solve(LCP(np.zeros((1, 1)), -np.ones(1))).proof.startswith("no solution: y^T (M z + q)")
    )


def test_a_start_is_handed_to_a_method_that_takes_one():
    right, start = find_solver("coulomb-exact").solve(PARTICLE), np.array([1.0, -0.2, 0.0])
    assert Chain(Says(right.z, kinds=("Coulomb NCP",)), ()).solve_from(PARTICLE, start).z is right.z
    found = Chain(find_solver("nsgs"), ()).solve_from(PARTICLE, right.z)
    assert found.iterations == 0


def moved(rng, x):
    """Every number but zeros one unit in the last place up or down."""
    return np.where(x == 0, 0.0, np.nextafter(x, np.where(rng.random(x.shape) < 0.5, -np.inf, np.inf)))


SOME = ["wedged-box", "stacked-cubes", "table", "gripper", "pinched-capsule", "v-groove"]
"""Cases with redundant contacts, whose q is inconsistent in the last digits. `benchmarks.failures` takes all cases."""


@pytest.mark.parametrize("label", ["box:bounds=coupled", "stewart-trinkle", "coulomb", "ccp", "hybrid"])
@pytest.mark.parametrize(
    "name", [*SOME, *(pytest.param(n, marks=pytest.mark.thorough) for n in CASES.names if n not in SOME)]
)
def test_the_last_place_of_the_data_decides_no_verdict(name, label):
    """Steps of a run with M, q and phi moved by one unit in the last place: as verified as they were."""
    case, f, rng = CASES.find(name)(), find_formulation(label), np.random.default_rng(8)
    run = simulate(case, f, default_solver(run_kind(f, case)), 5e-3, min(case.duration, 0.3))
    assert (run.status, run.steps) == (Status.SOLVED, run.steps_wanted)
    r, chain = run.record, in_steps(AUTO, run.kind)
    for k in range(0, run.steps, max(1, run.steps // 8)):
        M = moved(rng, r.M[k])
        M = np.triu(M) + np.triu(M, 1).T if run.kind == "conic QP" else M
        problem = make_problem(run.compiled, M, moved(rng, r.q_[k]), r.lower[k], r.upper[k], r.mu[k])
        assert chain.solve(problem).verified, (k, problem)


def run_kind(f, case):
    from workbench.language.assemble.find import compiled

    return compiled(f, *case.size).kind
