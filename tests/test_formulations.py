"""Every formulation on random systems: dynamics, contact laws, agreement of solvers, limits, invariances, refusals."""

import itertools
import re
import typing
from dataclasses import replace

import numpy as np
import pytest

from tests import engine_laws
from workbench.algorithms import SOLVERS, find_solver
from workbench.algorithms.base import EXACT
from workbench.algorithms.escalation import default_solver
from workbench.builtin.formulations import FORMULATIONS, box, hybrid
from workbench.judge.coulomb import judge
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.contact import ContactSolution, ContactSystem
from workbench.mechanics.core import open_contact
from workbench.problems.rank import rank
from workbench.problems.solution import Solution, Status
from workbench.step import stepping
from workbench.step.one_step import pose, solve_system
from workbench.step.stepper import Stepper
from workbench.support.errors import DataError

NUMBERS = {
    "directions": (4, 8), "rho": ("auto", 0.1, 10.0), "k_t": (1e10, np.inf),
    "timeconst": (0.02, 0.1), "dampratio": (1.0, 0.5), "dmin": (0.9, 0.5), "dmax": (0.95, 0.99), "width": (1e-3, 5e-3),
    "impratio": (1.0, 10.0), "midpoint": (0.5, 0.2), "power": (2.0, 3.0), "timeconst_t": (0.0, 0.05),
    "stiffness": (1e6, 1e4), "tau_d": (0.1, 0.01), "beta": (1.0, 2.0), "sigma": (1e-3, 0.1),
    "kappa": ("auto", 0.05), "sweeps": (10, 3), "dissipation": (50.0, 1.0), "v_s": (1e-3, 0.1), "eps_v": (1e-3, 0.1),
}  # fmt: skip
"""Values of the options that are not words; of words, all are taken."""
BY_NAME = {f.name: f for f in FORMULATIONS}
CONVEX = {"frictionless", "box", "hybrid", "ccp", "mujoco", "mujoco-pyramid", "sap"}
"""Formulations whose v+ is unique: a convex programme once the bounds are given."""
SMOOTH = set(engine_laws.LAWS) - {"gauss-seidel"}
"""Engines' formulations: their closed forms are in `test_engine_formulations`."""
LAWS = ("velocity", "gap")
NOT_REDUNDANT = {"discrete-velocity", "phantom-inertia"}
"""Formulations that eliminate p_t, which redundant contacts leave undetermined."""


def chosen(name: str, **options: typing.Any) -> Formulation:
    return BY_NAME[name].with_options(**options)


def variants(f: Formulation) -> list[Formulation]:
    """All combinations of a formulation's options; where these are many, one option at a time."""
    values = {k: NUMBERS[k] if k in NUMBERS else typing.get_args(kind) for k, kind in f.kinds.items()}
    combinations = [dict(zip(values, c, strict=True)) for c in itertools.product(*values.values())]
    if len(combinations) > 12:
        combinations = [{}] + [{k: x} for k in values for x in values[k] if x != f.defaults[k]]
    return [f.with_options(**c) for c in combinations]


def is_convex(f: Formulation) -> bool:
    return f.name in CONVEX and f.options.get("bounds") != "coupled"


VARIANTS = [v for f in FORMULATIONS for v in variants(f)]
# Only here would axes that a sliding contact gives up show: they would cut the corners of its box.
VARIANTS.append(chosen("phantom-inertia", directions=8, lateral="regularised"))


def rebound(f: Formulation) -> dict[str, float]:
    """Random systems have restitutions, except for Poisson's, whose two phases are tested apart (test_restitution)."""
    return {"e": 0.0} if f.options.get("restitution") == "poisson" else {}


# At module scope all tests of a variant run together, and find it compiled.
@pytest.fixture(scope="module", params=VARIANTS, ids=lambda f: f.label)
def formulation(request) -> Formulation:
    return request.param


def some(formulation: Formulation, of: typing.Iterable, count: int = 2) -> list:
    """All of these for a formulation as it is; where options are given so many, which variants take in turn."""
    everything = list(of)
    if not formulation.chosen:
        return everything
    first = count * VARIANTS.index(formulation)
    return [everything[(first + k) % len(everything)] for k in range(count)]


def solve(formulation: Formulation, system: ContactSystem) -> ContactSolution:
    """The step, by the solver that takes it to round-off; it must be a verified solution."""
    answer, solution = solve_system(formulation, system, default_solver(compiled(formulation, *system.size).kind))
    assert solution.claimed is Status.SOLVED, solution.reason
    assert solution.verified
    return answer


def with_past(formulation: Formulation, system: ContactSystem, last: tuple) -> tuple[ContactSolution, Solution]:
    """A step that remembers the impulses p_n (r,), p_t (r, d) of the one before it."""
    stepper = begun_again(formulation, system, last)
    stepper.begin()
    solution = stepper.solve(default_solver(stepper.c.kind))[0]
    return recovered(stepper), solution


def begun_again(formulation: Formulation, system: ContactSystem, last: tuple) -> Stepper:
    """A stepper with a memory, whose data hooks have not seen yet."""
    stepper = pose(formulation, system)
    impulses = np.concatenate([last[0], last[1].ravel()])
    stepper.memory[: impulses.size] = impulses
    for name in ("J_n", "eps_n", "mu", "J_t", "eps_t"):
        getattr(stepper.core, name)[:] = getattr(system, name)
    stepping.discretise(stepper.core)
    return stepper


def recovered(stepper: Stepper) -> ContactSolution:
    """v+ and the impulses that stand in a stepper, friction in the system's own axes."""
    n, _, r, d = stepper.c.size
    out = stepper.work.out.copy()
    stepping.turn_back(stepper.core, out[n + r : n + r + d * r])
    return ContactSolution(*np.split(out, [n, n + r, n + r + d * r]))


def obeys_the_laws(systems, formulation, system, answer, estimate, last=None) -> None:
    s, a = system, answer
    parts = [s.M @ a.v, s.M @ s.v, s.h * s.f, s.J_n.T @ a.p_n, s.J_t.T @ a.p_t, s.J_b.T @ a.p_b]
    balance = parts[0] - sum(parts[1:])
    assert np.abs(balance).max() <= 1e-10 * max(np.abs(x).max() for x in parts)
    np.testing.assert_allclose(s.J_b @ a.v, -s.g / s.h, rtol=0, atol=1e-10)
    if formulation.name in engine_laws.LAWS:
        contacts = systems.contacts(formulation, s, a, estimate, last)
        p_n, p_t = engine_laws.LAWS[formulation.name](formulation.options, s, a, contacts)
        largest = max(np.abs(a.p_n).max(), 1e-3)
        np.testing.assert_allclose(a.p_n, p_n, rtol=0, atol=1e-9 * largest)
        np.testing.assert_allclose(a.p_t.reshape(p_t.shape), p_t, rtol=0, atol=1e-9 * largest)
        if formulation.name != "ipc":
            return
    lift = systems.rates(formulation, s, a)[0]
    assert min(a.p_n.min(), lift.min()) >= -1e-10
    if formulation.name not in systems.ASSOCIATED:
        assert np.minimum(a.p_n, lift).max() <= 1e-10
    if formulation.name == "ipc":
        return
    for contact in systems.contacts(formulation, s, a, estimate, last):
        assert systems.LAWS[formulation.name](formulation.options, contact, s.h) <= 1e-9


@pytest.mark.share(9)
@pytest.mark.parametrize("past", [False, True], ids=["first step", "later step"])
def test_a_step_obeys_the_dynamics_and_its_own_contact_laws(systems, formulation, past):
    for shape, seed in itertools.product(some(formulation, systems.SHAPES.values()), range(2)):
        system = systems.random_system(seed, normal=LAWS[bool(seed)], mu=(0.05, 0.5), **shape, **rebound(formulation))
        estimate, last = solve(BY_NAME["frictionless"], system).p_n, None
        if past:
            last, estimate = systems.past(system, seed, estimate)
            answer, solution = with_past(formulation, system, last)
        else:
            answer, solution = solve_system(
                formulation, system, default_solver(compiled(formulation, *system.size).kind)
            )
        iterated = formulation.options.get("bounds") == "iterated" or formulation.name == "staggered"
        if iterated and solution.claimed is Status.NO_FIXED_POINT:
            # A strong coupling of normal and tangent can keep the passes from settling.
            assert "settle" in solution.reason
            continue
        assert solution.claimed is Status.SOLVED
        assert solution.verified
        obeys_the_laws(systems, formulation, system, answer, estimate, last)


SOLVER_NAMES = [*SOLVERS.names, "cvxpy:CLARABEL"]
POLISHED = {name for name in SOLVERS.names if find_solver(name).tolerance <= EXACT}


@pytest.mark.share(9)
def test_solvers_agree_on_the_velocity(systems, formulation):
    """Of one problem, the bounds given: on the unique v+, that is for convex programmes and for little friction."""
    shapes = [*systems.SHAPES.values(), dict(r=2, d=1, duplicates=1), dict(r=1, d=2, duplicates=1)]
    for seed, shape in some(formulation, enumerate(shapes)):
        if "duplicates" in shape and formulation.name in NOT_REDUNDANT:
            continue
        system = systems.random_system(
            seed, mu=(0.3, 1.0) if is_convex(formulation) else (0.01, 0.1), **shape, **rebound(formulation)
        )
        stepper = pose(formulation, system)
        problem, own = stepper.problem(), stepper.own.copy()
        polished: list[np.ndarray] = []
        generic: list[np.ndarray] = []
        for solver in map(find_solver, SOLVER_NAMES):
            refusal = solver.why_not(problem)
            solution = solver.solve(problem)
            if refusal is not None:
                assert solution.claimed is Status.REFUSED
                assert solution.reason == refusal
                assert not solution.verified
                continue
            if solution.claimed is not Status.SOLVED:
                assert solution.reason
                # Outside the class for which a method promises an answer it may stop, and says how.
                may_stop = not is_convex(formulation) and solver.name != "lemke"
                assert may_stop or (solution.claimed is Status.INACCURATE and solver.name not in POLISHED)
                continue
            assert solution.verified
            assert solution.residual == problem.residual(solution.z)
            stepper.finish_pass(solution.z)
            stepper.own[:] = own
            (polished if solver.name in POLISHED else generic).append(recovered(stepper).v)
        assert polished
        for v in polished[1:]:
            np.testing.assert_allclose(v, polished[0], rtol=0, atol=1e-9)
        for v in generic:
            np.testing.assert_allclose(v, polished[0], rtol=0, atol=1e-4)
        assert generic or not is_convex(formulation)


def test_a_solver_that_does_not_apply_answers_with_a_reason_and_no_solution(systems):
    _, solution = solve_system(BY_NAME["coulomb"], systems.random_system(0, r=1, d=2), find_solver("lemke"))
    assert solution.claimed is Status.REFUSED
    assert "Coulomb NCP" in solution.reason
    assert not solution.verified


@pytest.mark.parametrize("axes", ["fixed", "sliding"])
@pytest.mark.parametrize("bounds", ["box", "hybrid"])
def test_iterated_bounds_settle_on_mu_times_the_step_s_own_normal_impulse(systems, bounds, axes):
    settled = {"box": box.SETTLED, "hybrid": hybrid.SETTLED}[bounds]
    for shape, seed in itertools.product(systems.SHAPES.values(), range(4)):
        system = systems.random_system(seed, mu=(0.01, 0.1), **shape)
        stepper = pose(chosen(bounds, bounds="iterated", axes=axes), system)
        solution = stepper.solve(default_solver("MLCP"))[0]
        assert solution.claimed is Status.SOLVED
        r, d = len(system.mu), stepper.c.plan.d
        limit = np.repeat(system.mu * stepper.work.out[system.n : system.n + r], d)
        np.testing.assert_allclose(stepper.work.upper[r:], limit, rtol=0, atol=2 * settled * limit.max())
        np.testing.assert_array_equal(stepper.work.lower[r:], -stepper.work.upper[r:])


@pytest.mark.parametrize("name", ["phantom-inertia", "discrete-velocity"])
def test_fixed_axes_of_the_half_plane_models_are_the_coupled_box(systems, name):
    one = [systems.random_system(seed, r=1, d=2) for seed in range(12)]
    several = [systems.random_system(seed, mu=(0.01, 0.1), **shape) for seed in range(4) for shape in
               (dict(r=2, d=2, m=1), dict(r=3, d=2))]  # fmt: skip
    for system in one + several:
        v = solve(chosen(name, axes="fixed"), system).v
        np.testing.assert_allclose(v, solve(chosen("box", bounds="coupled"), system).v, rtol=0, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("axes", ["fixed", "sliding"])
def test_phantom_inertia_does_not_show_in_the_velocity(systems, axes):
    for shape in (dict(r=1, d=2), dict(r=3, d=1, m=2), dict(r=2, d=2, m=1)):
        system = systems.random_system(3, mu=(0.01, 0.3 if shape["r"] == 1 else 0.1), **shape)
        v = solve(chosen("phantom-inertia", axes=axes), system).v
        for rho in np.geomspace(1e-3, 1e3, 5):
            other = solve(chosen("phantom-inertia", axes=axes, rho=rho), system).v
            np.testing.assert_allclose(other, v, rtol=0, atol=1e-8)


def test_the_hybrid_without_compliance_in_fixed_axes_is_the_box(systems):
    hybrid = chosen("hybrid", k_t=np.inf, axes="fixed")
    for shape, seed in itertools.product(systems.SHAPES.values(), range(3)):
        system = systems.random_system(seed, **shape)
        r, d = len(system.mu), len(system.J_t) // len(system.mu)
        last = np.linspace(0.0, 1.0, r), np.full((r, d), 0.1)
        np.testing.assert_allclose(solve(hybrid, system).v, solve(BY_NAME["box"], system).v, rtol=0, atol=1e-9)
        v = [with_past(f, system, last)[0].v for f in (hybrid, BY_NAME["box"])]
        np.testing.assert_allclose(v[0], v[1], rtol=0, atol=1e-9)


def test_exact_coulomb_friction_satisfies_the_judge(systems):
    for shape, seed in itertools.product(systems.SHAPES.values(), range(6)):
        system = systems.random_system(seed, normal=LAWS[seed % 2], **shape)
        answer = solve(BY_NAME["coulomb"], system)
        W, q = systems.delassus(system)
        u_n, u_t = systems.normal_law(system, answer.v), systems.slip(system, answer.v)
        p_t = answer.p_t.reshape(u_t.shape)
        verdict = judge(answer.p_n, p_t, u_n, u_t, system.mu, W, q)
        assert max(verdict.signorini, verdict.natural_map) <= 1e-11
        assert verdict.cone <= 1e-11 * verdict.normaliser.max()
        assert verdict.dissipation <= 1e-11 * verdict.normaliser.max() * np.linalg.norm(q)


@pytest.mark.parametrize(
    "name", ["coulomb", "ccp", "mujoco", "mujoco-noslip", "genesis", "sap", "hunt-crossley", "ipc"]
)
def test_the_cone_models_do_not_see_the_tangent_frame(systems, name):
    rng = np.random.default_rng(5)
    for shape in (dict(r=1, d=2), dict(r=2, d=2, m=1), dict(r=3, d=2)):
        system = systems.random_system(4, mu=(0.05, 0.3), **shape)
        answer = solve(BY_NAME[name], system)
        c, s = np.cos(angle := rng.uniform(0, 2 * np.pi, shape["r"])), np.sin(angle)
        T = np.zeros((2 * len(c), 2 * len(c)))
        for i in range(len(c)):
            T[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c[i], s[i]], [-s[i], c[i]]]
        turned = solve(BY_NAME[name], replace(system, J_t=T @ system.J_t, r_t=T @ system.r_t))
        np.testing.assert_allclose(turned.v, answer.v, rtol=0, atol=1e-9)
        np.testing.assert_allclose(turned.p_t, T @ answer.p_t, rtol=0, atol=1e-9)


@pytest.mark.share(5)
def test_a_contact_that_is_opened_exerts_nothing(systems, formulation):
    """Whatever the last step left behind."""
    system = systems.random_system(2, r=2, d=2, m=1, mu=(0.1, 0.3))
    system = replace(system, phi=np.array([1e-3, -1e-4]))
    stepper = begun_again(formulation, system, (np.ones(2), np.full((2, 2), 0.05)))
    open_contact(stepper.core, 0)
    stepper.begin()
    solution = stepper.solve(default_solver(stepper.c.kind))[0]
    assert solution.verified
    answer = recovered(stepper)
    np.testing.assert_allclose([answer.p_n[0], *answer.p_t[:2]], 0.0, atol=1e-14)
    assert answer.p_n[1] > 0.01


def test_a_sliding_contact_of_the_ccp_lifts_off_at_mu_times_its_sliding_velocity(systems):
    sliding = 0
    for shape, seed in itertools.product(systems.SHAPES.values(), range(6)):
        system = systems.random_system(seed, **shape)
        answer = solve(BY_NAME["ccp"], system)
        u_n, speed = systems.normal_law(system, answer.v), np.linalg.norm(systems.slip(system, answer.v), axis=1)
        slides = (answer.p_n > 1e-6) & (speed > 1e-6)
        np.testing.assert_allclose(u_n[slides], (system.mu * speed)[slides], rtol=0, atol=1e-9)
        sliding += slides.sum()
    assert sliding >= 10


@pytest.mark.share(5)
def test_without_friction_every_formulation_is_frictionless(systems, formulation):
    if formulation.name in systems.SOFT | {"gauss-seidel"}:
        pytest.skip("its normal law is compliant, or half solved, with friction or without")
    for shape, seed in itertools.product(some(formulation, systems.SHAPES.values()), range(2)):
        system = systems.random_system(seed, mu=(0.0, 0.0), **shape, **rebound(formulation))
        v = solve(BY_NAME["frictionless"], system).v
        np.testing.assert_allclose(solve(formulation, system).v, v, rtol=0, atol=1e-9)
        r, d = len(system.mu), len(system.J_t) // len(system.mu)
        later, solution = with_past(formulation, system, (np.ones(r), np.zeros((r, d))))
        assert solution.verified
        np.testing.assert_allclose(later.v, v, rtol=0, atol=1e-9)


@pytest.mark.parametrize("f", [f for f in FORMULATIONS if f.name not in SMOOTH], ids=lambda f: f.name)
def test_a_particle_meeting_a_floor_loses_mu_times_its_fall(systems, f):
    """Coulomb's particle slides on with |u_t| - mu |u_n|, or stops; the CCP's lifts off, u_n = mu |u_t|.

    MuJoCo's goes a part of the CCP's way: d h b = 2 h dmin / (dmax timeconst) = 0.9/0.95 at this step, 10 ms.
    """
    f = f.with_options(k_t=np.inf) if f.name == "hybrid" else f
    mu = 0.5
    for slip in (1.5, 0.3):
        v = solve(f, systems.particle((slip, 0.0), mu)).v
        # Of the velocities in the dual cone, that nearest to (slip, fall = -1): at the apex, or on its rim.
        along = max(0.0, (slip - mu) / (1 + mu**2))
        associated, before = np.array([along, 0.0, mu * along]), np.array([slip, 0.0, -1.0])
        expected = {
            "ccp": associated, "frictionless": [slip, 0.0, 0.0],
            "mujoco": before + 0.9 / 0.95 * (associated - before),
        }  # fmt: skip
        np.testing.assert_allclose(v, expected.get(f.name, [max(0.0, slip - mu), 0.0, 0.0]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("directions", [4, 8, 16])
@pytest.mark.parametrize("name", ["stewart-trinkle", "anitescu-potra", "discrete-velocity", "phantom-inertia"])
def test_a_friction_polygon_misses_the_sliding_direction_by_at_most_pi_over_n(systems, name, directions):
    formulation, worst = chosen(name, directions=directions, axes="fixed"), 0.0
    heading = np.random.default_rng(6).uniform(0, 2 * np.pi, 24)
    particles = [systems.particle((2 * np.cos(a), 2 * np.sin(a)), 0.2) for a in heading]
    bodies = [systems.random_system(seed, r=1, d=2, mu=(0.05, 0.2)) for seed in range(8)]
    for system in particles + bodies:
        answer = solve(formulation, system)
        x, y = answer.p_t, -systems.slip(system, answer.v)[0]
        if np.linalg.norm(y) > 1e-6:
            angle = abs(np.arctan2(x[0] * y[1] - x[1] * y[0], x @ y))
            assert angle <= np.pi / directions + 1e-9
            worst = max(worst, angle)
    # The bound is attained, so that more directions are what makes the error smaller.
    assert worst >= 0.8 * np.pi / directions


@pytest.mark.parametrize("directions", [4, 8, 16])
def test_ranks_of_the_reduced_lead_matrices(systems, directions):
    """Formulary, section 2: deficiency r (n_d - 3) of the polygon, none of phantom inertia, rank 3 r without it."""
    for shape in (dict(r=1, d=2), dict(r=2, d=2, m=1), dict(r=3, d=2)):
        system, r = systems.random_system(0, mu=(0.1, 0.5), **shape), shape["r"]

        def lead(name, system=system, **options):
            problem = pose(chosen(name, directions=directions, axes="fixed", **options), system).problem()
            return problem.size, rank(problem.M)

        size, polygon = lead("anitescu-potra")
        assert polygon.value == size - r * (directions - 3)
        size, phantom = lead("phantom-inertia")
        assert phantom.value == size == r * (1 + directions)
        size, glocker = lead("discrete-velocity")
        assert glocker.value == 3 * r < size
        assert min(polygon.gap, glocker.gap) > 1e6
    for r in (1, 3):
        planar = systems.random_system(0, r=r, d=1)
        problem = pose(chosen("anitescu-potra", directions=directions), planar).problem()
        assert rank(problem.M).value == problem.size == 4 * r


@pytest.mark.parametrize("r", [1, 2, 3])
def test_in_the_plane_polygon_box_and_coulomb_are_one(systems, r):
    polyhedral = [chosen(name) for name in ("stewart-trinkle", "anitescu-potra", "discrete-velocity",
                                            "phantom-inertia")] + [chosen("box", bounds="coupled")]  # fmt: skip
    for seed in range(8):
        system = systems.random_system(seed, r=r, d=1, mu=(0.02, 0.2), normal=LAWS[seed % 2])
        v = solve(BY_NAME["coulomb"], system).v
        for formulation in polyhedral:
            np.testing.assert_allclose(solve(formulation, system).v, v, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", sorted(NOT_REDUNDANT))
def test_redundant_contacts_are_refused_with_the_dependent_rows_until_they_are_relaxed(systems, name):
    redundant = systems.random_system(1, r=1, d=2, duplicates=1)
    formulation = chosen(name, axes="fixed")
    with pytest.raises(DataError, match="relaxation") as refusal:
        pose(formulation, redundant).problem()
    assert sorted(re.findall(r"(\d), (\d) of 'J_t ", str(refusal.value))) == [("0", "2"), ("1", "3")]
    relaxed = solve(formulation, replace(redundant, eps_t=1e-7))
    v = solve(chosen("box", bounds="coupled"), redundant).v
    np.testing.assert_allclose(relaxed.v, v, rtol=0, atol=1e-5)
