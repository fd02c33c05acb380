"""Contacts posed one by one: the laws of every formulation, the steps of the cases, contacts that come and go."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.test_formulations import LAWS, VARIANTS, obeys_the_laws, rebound, solve
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import FORMULATIONS
from workbench.engine.compiling import kernel
from workbench.engine.lazy import sparse
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols
from workbench.language.hooks import GIVEN
from workbench.language.modelling import Hooks
from workbench.mechanics.contact import ContactSolution
from workbench.mechanics.instant import instant, without_friction
from workbench.mechanics.relaxation import RIGID
from workbench.problems.solution import Status
from workbench.scenes.case_scene import CaseScene
from workbench.scenes.posing import Memory, Poser
from workbench.scenes.run import run
from workbench.scenes.scene import Scene
from workbench.scenes.stepper import SceneStepper
from workbench.step.simulation import simulate
from workbench.support.errors import DataError, ModellingError

NAMED = {f.name: f for f in FORMULATIONS}
STEPS = [f for f in FORMULATIONS if f.symbols is ContactSymbols and f.name not in ("gauss-seidel", "mujoco-noslip")]
"""Sweeps go from contact to contact, so that they are not local to one."""
SOLVER: Any = find_solver("blocks-exact").adjusted(1e-14, 50)
"""What is tested here is how problems are posed, so it goes on as long as it gets better."""


def interleaved(normal, tangent):
    """Rows contact by contact, the normal first."""
    r, row = normal.shape[0], normal.shape[1:]
    return np.concatenate([normal[:, None], tangent.reshape(r, -1, *row)], axis=1).reshape(-1, *row)


def instant_of(s):
    """A `ContactSystem` as an instant."""
    _, _, r, d = s.size
    rate, eps = interleaved(s.r_n, s.r_t), interleaved(s.eps_n, s.eps_t)
    return instant(
        s.h, s.M, s.v, s.f, first=np.arange(r + 1) * (1 + d), J=interleaved(s.J_n, s.J_t), mu=np.repeat(s.mu, 1 + d),
        phi=s.phi, rate=rate, e=s.e, eps=eps, heading=s.heading, J_b=s.J_b, g=s.g, r_b=s.r_b, eps_b=s.eps_b,
    )  # fmt: skip


def answer_of(formulation, s, last=None):
    """One step of a `ContactSystem`, contact by contact; `last` are the impulses of the one before."""
    at, memory, (_, _, r, d) = instant_of(s), Memory(), s.size
    poser = Poser(formulation, s.law, s.v_th)
    if last is not None:
        rows = np.full((r, poser.kind(d).memory), np.nan)
        rows[:, : 1 + d] = np.hstack([last[0][:, None], last[1]])
        memory.keep(d, at.key, rows)
    posed = poser.pose(at, memory)
    for _ in range(50):
        solution = SOLVER.solve(posed.problem())
        assert solution.claimed is Status.SOLVED
        if not posed.again(solution.z):
            P, p_b, _ = posed.impulses(solution.z)
            P = P.reshape(r, 1 + d)
            return ContactSolution(posed.velocity(solution.z), P[:, 0], P[:, 1:].ravel(), p_b)
    return None


LOCAL = [f for f in VARIANTS if NAMED[f.name] in STEPS and f.options.get("restitution") != "poisson"]


@pytest.mark.share(4)
@pytest.mark.parametrize("f", LOCAL, ids=lambda f: f.label)
def test_a_step_obeys_the_dynamics_and_its_own_contact_laws(systems, f):
    runs = [(0, "two contacts, one constraint", False), (1, "three contacts", True)]
    # Options that were given alternate, so that few steps meet all of them.
    for seed, shape, past in [runs[LOCAL.index(f) % 2]] if f.chosen and f not in STEPS else runs:
        system = systems.random_system(seed, normal=LAWS[seed], mu=(0.05, 0.5), **systems.SHAPES[shape], **rebound(f))
        estimate, last = solve(NAMED["frictionless"], system).p_n, None
        if past:
            last, estimate = systems.past(system, seed, estimate)
        answer = answer_of(f, system, last)
        if answer is None:
            assert f.options.get("bounds") == "iterated" or f.name == "staggered"
            continue
        obeys_the_laws(systems, f, system, answer, estimate, last)


def case_of(name):
    found = next(c for c in CASES if c.name == name)
    return found() if isinstance(found, type) else found


RUNS = [("wheel", f.name) for f in STEPS] + [
    (name, f)
    for name, some in {
        "drawer": "box hybrid staggered coulomb", "gripper": "stewart-trinkle hybrid coulomb",
        "off-axis": "ccp phantom-inertia", "table": "hybrid", "stacked-cubes": "mujoco",
    }.items()
    for f in some.split()
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "f"), RUNS)
def test_the_scene_of_a_case_takes_the_steps_of_the_case(name, f):
    case, h, steps = case_of(name), 1e-3, 12
    formulation = NAMED[f]
    run = simulate(
        case, formulation, default_solver(compiled(formulation, *case.size).kind), h, steps * h, relaxation=RIGID
    )
    assert run.steps == steps
    scene = CaseScene(case, h)
    stepper, (q, v) = SceneStepper(scene, formulation, normal=case.normal), scene.start()
    for k in range(steps):
        x = stepper.step(q, v, k * h)
        assert x.status is Status.SOLVED
        np.testing.assert_allclose(x.v, run.v_after[k], rtol=0, atol=1e-9 * max(1e-3, np.abs(run.v_after).max()))
        if name in ("wheel", "drawer", "gripper"):
            P = x.P.reshape(case.size[2], -1)
            np.testing.assert_allclose(P[:, 0], run.p_n[k], rtol=0, atol=1e-9 * run.p_n.max())
            np.testing.assert_allclose(P[:, 1:], run.p_t[k], rtol=0, atol=1e-9 * run.p_n.max())
        q, v = x.q, x.v


class Shuffled(CaseScene):
    """A case whose contacts come in another order at every step, and under new keys where `forgetful`."""

    forgetful = False

    def instant(self, q, v, t, h):
        s, step = super().instant(q, v, t, h), round(t / h)
        order = np.random.default_rng(step).permutation(s.contacts)
        rows = (s.first[order][:, None] + np.arange(1 + self.case.size[3])).ravel()
        return replace(
            s, J=s.J[rows], mu=s.mu[rows], rate=s.rate[rows], eps=s.eps[rows], phi=s.phi[order], e=s.e[order],
            heading=s.heading[order], key=s.key[order] + 100 * step * self.forgetful,
        )  # fmt: skip


def test_contacts_are_remembered_by_their_keys():
    # The hybrid keeps impulses of single contacts; the table's four legs differ.
    case, h, f = case_of("table"), 1e-3, NAMED["hybrid"]
    ends = {}
    for forgetful in (None, False, True):
        scene = CaseScene(case, h) if forgetful is None else Shuffled(case, h)
        scene.forgetful = forgetful
        stepper, (q, v) = SceneStepper(scene, f, normal=case.normal), scene.start()
        for k in range(6):
            x = stepper.step(q, v, k * h)
            q, v = x.q, x.v
        ends[forgetful] = np.concatenate([q, v])
    np.testing.assert_allclose(ends[False], ends[None], rtol=0, atol=1e-12)
    assert np.abs(ends[True] - ends[None]).max() > 1e-9


def test_a_second_run_with_the_same_stepper_is_the_first_one():
    case, h = case_of("table"), 1e-3
    scene = CaseScene(case, h)
    stepper = SceneStepper(scene, NAMED["hybrid"], normal=case.normal)
    first, again = run(scene, stepper, 6), run(scene, stepper, 6)
    np.testing.assert_array_equal(again.v, first.v)
    np.testing.assert_array_equal(again.iterations, first.iterations)
    # The table's legs have pressed by then: a step that remembers them is another one.
    given = SceneStepper(scene, NAMED["hybrid"], normal=case.normal)
    given.memory = stepper.memory
    assert np.abs(given.step(*scene.start(), 0.0).v - first.v[1]).max() > 1e-9


@pytest.mark.parametrize("f", ["coulomb", "hybrid", "stewart-trinkle", "mujoco"])
def test_a_step_takes_nothing_from_the_arrays_of_the_step_before(f):
    case, h, ends, kept = case_of("table"), 1e-3, [], []
    for spoiled in (False, True):
        scene = CaseScene(case, h)
        stepper, (q, v) = SceneStepper(scene, NAMED[f], normal=case.normal), scene.start()
        for k in range(6):
            x = stepper.step(q, v, k * h)
            kept.append((x, x.P.copy(), x.given.phi.copy()))
            q, v, posed = x.q, x.v, stepper.posed
            for arrays in (posed.rows, posed.mass, posed.stamped, posed.few) if spoiled else ():
                if arrays is not None:
                    arrays.buffer[:] = np.nan
            for _, cores in posed.groups if spoiled else ():
                cores.states = cores.roots = cores.memory = cores.numbers = cores.p_bar = np.nan
        ends.append(np.concatenate([q, v]))
    np.testing.assert_array_equal(*ends)
    # Nor does a step write over what the steps before have answered.
    for x, P, phi in kept:
        np.testing.assert_array_equal(x.P, P)
        np.testing.assert_array_equal(x.given.phi, phi)


ALIKE = [("wheel", "coulomb"), ("particle", "hybrid"), ("table", "ipc"), ("table", "stewart-trinkle"), ("cube", "box")]
"""A wheel that rolls; an impact; four legs with several passes a step and without; tumbling on eight corners."""


@pytest.mark.parametrize(("name", "f"), ALIKE)
def test_steps_that_are_alike_are_those_made_one_by_one(name, f, monkeypatch):
    """A run makes steps that are like the one before in one compiled call: bit for bit those posed from nothing."""
    scene, steps, tracks = CaseScene(case_of(name), 1e-3), 460 if name == "particle" else 40, []
    made: list[float] = []
    step = SceneStepper.step
    monkeypatch.setattr(SceneStepper, "step", lambda self, *state: made.append(state[2]) or step(self, *state))
    track = run(scene, SceneStepper(scene, NAMED[f]), steps)
    assert track.finished
    assert len(made) < 5
    for anew in (False, True):
        stepper, (q, v) = SceneStepper(scene, NAMED[f]), scene.start()
        for k in range(steps):
            if anew:
                stepper.posed = None
            x = stepper.step(q, v, k * 1e-3)
            q, v = x.q, x.v
            tracks.append((q, v, x.residual, x.iterations))
    expected = zip(track.q[1:], track.v[1:], track.residuals, track.iterations, strict=True)
    for k, both in enumerate(zip([*expected] * 2, tracks, strict=True)):
        for one, other in zip(*both, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"step {k % steps}")


class Alternating(CaseScene):
    """A case of which every other contact is closed, and at the next step the others."""

    def instant(self, q, v, t, h):
        s = super().instant(q, v, t, h)
        return replace(s, phi=np.where(np.arange(s.contacts) % 2 == round(t / h) % 2, 1e-3, 0.0))


@pytest.mark.parametrize("f", ["coulomb", "hybrid"])
def test_as_many_closed_contacts_are_not_the_same(f):
    scene, ends = Alternating(case_of("table"), 1e-3), []
    for anew in (False, True):
        stepper, (q, v) = SceneStepper(scene, NAMED[f], normal="moreau"), scene.start()
        for k in range(6):
            if anew:
                stepper.posed = None
            x = stepper.step(q, v, k * 1e-3)
            assert ((x.P.reshape(4, -1)[:, 0] > 0) <= (x.given.phi == 0)).all()
            q, v = x.q, x.v
        ends.append(np.concatenate([q, v]))
    np.testing.assert_array_equal(*ends)


def test_estimates_in_flight_and_at_an_impact_are_those_of_the_case():
    """No contact presses in flight, so that no step without friction is solved; the impact's estimate is from one."""
    case, h, f, steps = case_of("particle"), 1e-3, NAMED["hybrid"], 460
    expected = simulate(case, f, default_solver("LCP"), h, steps * h, relaxation=RIGID)
    scene = CaseScene(case, h)
    track = run(scene, SceneStepper(scene, f, normal=case.normal), steps)
    np.testing.assert_allclose(track.v[1:], expected.v_after, rtol=0, atol=1e-12)
    assert 0.0 < track.v[-1, 0] < 0.99 * track.v[0, 0]


@pytest.mark.parametrize("name", ["table", "gripper"])
def test_an_instant_without_friction_has_the_normal_rows_and_all_that_is_no_contact_s(name):
    case = case_of(name)
    s = CaseScene(case, 1e-3).instant(*case.start(), 0.0, 1e-3)
    bare, normals = without_friction(s), s.first[:-1]
    np.testing.assert_array_equal(bare.J.toarray(), s.J.toarray()[normals])
    np.testing.assert_array_equal(bare.first, np.arange(s.contacts + 1))
    for x in ("mu", "rate", "eps"):
        np.testing.assert_array_equal(getattr(bare, x), getattr(s, x)[normals])
    for x in ("h", "v", "f", "phi", "e", "key", "heading", "g", "r_b", "eps_b", "limit"):
        np.testing.assert_array_equal(getattr(bare, x), getattr(s, x))
    for x in ("M", "J_b", "J_f"):
        np.testing.assert_array_equal(getattr(bare, x).toarray(), getattr(s, x).toarray())


def test_arrays_of_other_types_and_layouts_are_the_same_instant():
    """Kernels read them as they are declared: an instant makes them plain."""
    s, states = CaseScene(case_of("table"), 1e-3).instant(*case_of("table").start(), 0.0, 1e-3), []
    n, r = s.v.size, s.contacts
    f, J = np.repeat(s.f, 2)[::2], s.J.copy()
    f.flags.writeable = J.data.flags.writeable = False
    plain = replace(s, v=np.zeros(n), mu=np.ones(s.mu.size))
    odd = replace(
        s, v=np.zeros(n, dtype=int), f=f, J=J, mu=np.ones(s.mu.size, dtype=np.float32), first=s.first.astype(np.int32),
        heading=np.asfortranarray(s.heading), phi=np.stack([s.phi, np.full(r, 9.0)], axis=1)[:, 0],
    )  # fmt: skip
    for given in (plain, odd):
        posed = Poser(NAMED["hybrid"]).pose(given)
        states.append(posed.velocity(SOLVER.solve(posed.problem()).z))
    np.testing.assert_array_equal(*states)
    with pytest.raises(DataError, match="phi has an entry that is nan"):
        replace(odd, phi=np.full(2 * r, np.nan)[::2])


def test_memory_forgets_contacts_that_are_gone():
    memory, keys = Memory(), np.array([7, -3, 12])
    memory.keep("x", keys, np.array([[7.0], [-3.0], [12.0]]))
    np.testing.assert_array_equal(memory.recall("x", np.array([12, 5, -3]), 1)[:, 0], [12.0, np.nan, -3.0])
    memory.keep("x", keys[:1], np.array([[8.0]]))
    np.testing.assert_array_equal(memory.recall("x", keys, 1)[:, 0], [8.0, np.nan, np.nan])
    # Another number of unknowns is another formulation's.
    assert np.isnan(memory.recall("x", keys, 2)).all()


BALL = np.diag([2.0, 2.0, 2.0, 0.1, 0.1, 0.1])
"""A ball that rests on the ground: x, y, z and the angular velocities; its weight presses 2 N s in a step of 0.1 s."""
DIRECTIONS = np.eye(6)[[2, 0, 1, 5, 3, 4]]
"""Normal; sliding along x and y; torsion about z; rolling about x and y."""


def ball(d, mu, v=(0.0,) * 6, **given):
    f = np.array([0, 0, -20.0, 0, 0, 0])
    given = dict(J=DIRECTIONS[: 1 + d], first=[0, 1 + d], mu=[1.0, *mu]) | given
    return instant(0.1, BALL, v, f, **given)


def step_of(f, s, **options):
    posed = Poser(f, **options).pose(s)
    solution = SOLVER.solve(posed.problem())
    assert solution.claimed is Status.SOLVED
    return posed.velocity(solution.z), *posed.impulses(solution.z)


@pytest.mark.parametrize("f", ["coulomb", "box"])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_directions_have_friction_of_their_own(f, d):
    mu, v = np.array([0.5, 0.2, 0.01, 0.02, 0.03])[:d], np.array([3.0, -2.0, 0.0, 1.0, -4.0, 5.0])
    v_next, P, _, _ = step_of(NAMED[f], ball(d, mu, v))
    u = DIRECTIONS[1 : 1 + d] @ v_next
    assert P[0] == pytest.approx(2.0)
    # On the ellipsoid (the box) of the coefficients, where it takes the most out of the motion.
    scaled = mu * u / np.linalg.norm(mu * u) if f == "coulomb" else np.sign(u)
    np.testing.assert_allclose(P[1:], -2.0 * mu * scaled, rtol=0, atol=1e-8)
    np.testing.assert_allclose(BALL @ (v_next - v), [0, 0, -2, 0, 0, 0] + DIRECTIONS[: 1 + d].T @ P, rtol=0, atol=1e-12)


def test_rows_may_come_in_any_order_and_in_parts():
    v = np.array([3.0, -2.0, 0.0, 1.0, -4.0, 5.0])
    tidy = ball(3, [0.5, 0.2, 0.1], v, J=DIRECTIONS[:4] @ (np.eye(6) + 0.1))
    rows, columns = np.nonzero(tidy.J.toarray())
    back = np.lexsort((-columns, rows))
    # Every entry in two halves, the columns from the last to the first.
    parts = (
        np.repeat(tidy.J.data[back] / 2, 2),
        np.repeat(columns[back], 2),
        np.concatenate([[0], np.cumsum(2 * np.bincount(rows))]),
    )
    mixed = replace(tidy, J=sparse.csr_array(parts, shape=(4, 6)))
    for one, other in zip(step_of(NAMED["hybrid"], mixed), step_of(NAMED["hybrid"], tidy), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("first", [[0], [0, 2], [1, 3], [0, 3, 3]])
def test_rows_that_are_no_contacts_are_reported(first):
    with pytest.raises(DataError, match=r"first = \[.*\]; it must rise from 0 to 3, by one at least"):
        instant(0.1, BALL, np.zeros(6), np.zeros(6), J=DIRECTIONS[:3], first=first)
    with pytest.raises(DataError, match=r"phi has shape \(2,\); \(1,\) is needed"):
        ball(2, [0.5, 0.5], phi=[0.0, 0.0])


def test_a_direction_without_friction_scales_by_the_largest():
    v = np.array([3.0, -2.0, 0.0, 0.0, 0.0, 0.0])
    P = step_of(NAMED["coulomb"], ball(2, [0.0, 0.2], v))[1]
    np.testing.assert_allclose(P, [2.0, 0.0, 0.4], rtol=0, atol=1e-12)


def test_compliances_are_those_of_the_directions_as_they_are():
    v, eps = np.array([0.01, 0.02, 0.0, 0.0, 0.0, 0.03]), np.array([0.0, 1.0, 2.0, 3.0])
    v_next, P, _, _ = step_of(NAMED["coulomb"], ball(3, [0.5, 0.2, 0.1], v, eps=eps))
    # It sticks: u + eps p = 0.
    np.testing.assert_allclose(DIRECTIONS[:4] @ v_next + eps * P, 0.0, rtol=0, atol=1e-12)
    assert np.abs(P[1:]).min() > 1e-3


@pytest.mark.parametrize("f", STEPS, ids=lambda f: f.name)
def test_a_contact_without_directions_is_frictionless_under_every_formulation(f):
    v = np.array([3.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    v_next, P, _, _ = step_of(f, ball(0, [], v))
    assert v_next[0] == pytest.approx(3.0, rel=1e-15, abs=0)
    # Cones with springs of their own are soft along the normal too.
    assert 0.0 < P[0] < 4.0 if f.name in ("mujoco", "mujoco-pyramid", "genesis", "sap") else P[0] == pytest.approx(4.0)


@pytest.mark.parametrize("f", STEPS, ids=lambda f: f.name)
def test_joints_have_bilateral_rows_and_dry_friction(f):
    x, y = np.eye(6)[:1], np.eye(6)[1:2]
    s = ball(0, [], [3.0, 4.0, 1.0, 0, 0, 0], J_b=x, g=0.01, r_b=0.3, eps_b=0.25, J_f=y, limit=2.0, r_f=-1.0)
    v_next, _, p_b, p_f = step_of(f, s)
    # x + 0.3 + 0.1 + eps p_b = 0 with 2 x = 6 + p_b; the dry friction slides.
    assert p_b == pytest.approx([-3.4 / 0.75])
    assert v_next[0] == pytest.approx(3.0 - 3.4 / 1.5)
    assert p_f == pytest.approx([-2.0])
    assert v_next[1] == pytest.approx(3.0)


def test_overlaps_are_undone_at_the_speed_of_recovery_at_most():
    deep = ball(1, [0.5], phi=-0.5, J_b=np.eye(6)[3:4], g=-1.0)
    assert step_of(NAMED["coulomb"], deep)[0][2] == pytest.approx(5.0)
    v_next = step_of(NAMED["coulomb"], deep, recovery=2.0)[0]
    assert v_next[[2, 3]] == pytest.approx([2.0, 2.0])
    # What overlaps less is undone in one step.
    assert step_of(NAMED["coulomb"], ball(1, [0.5], phi=-0.1), recovery=2.0)[0][2] == pytest.approx(1.0)


def test_contacts_have_numbers_of_their_own():
    def impulses(f, *own, name="timeconst"):
        mu = [0.5, 0.5, 1.0, 0.5, 0.5]
        numbers = {name: np.array(own)} if own else {}
        two = ball(2, mu, first=[0, 3, 6], J=np.vstack([DIRECTIONS[:3]] * 2), phi=-1e-4, numbers=numbers)
        return step_of(f, two)[1]

    f = NAMED["mujoco"]
    for x in (0.3, 0.6):
        np.testing.assert_allclose(impulses(f, x, x), impulses(f.with_options(timeconst=x)), rtol=0, atol=1e-12)
    unlike = impulses(f, 0.3, 0.6)
    assert unlike[0] != pytest.approx(unlike[3], rel=1e-6)
    # What the formulation was given counts for all; what is no option of it belongs to others.
    chosen = f.with_options(timeconst=0.3)
    np.testing.assert_array_equal(impulses(chosen, 0.6, 0.6), impulses(chosen))
    np.testing.assert_array_equal(impulses(NAMED["coulomb"], 0.6, 0.6), impulses(NAMED["coulomb"]))
    with pytest.raises(ModellingError, match="hybrid cannot take k_t from single contacts"):
        impulses(NAMED["hybrid"], 1e3, 1e3, name="k_t")


@kernel(GIVEN)
def push(core, memory, own, numbers):
    """Adds to the momentum, which all contacts share."""
    core.b[0] += 1.0


@kernel(GIVEN)
def bend(core, memory, own, numbers):
    """Doubles a tangent row."""
    for j in range(core.v.shape[0]):
        core.J_t[0, j] *= 2.0


@pytest.mark.parametrize(("hook", "why"), [(push, "changes the momentum b"), (bend, "changes rows of J other than by")])
def test_hooks_that_are_not_local_are_reported(hook, why):
    f = NAMED["ccp"]
    bad = replace(f, name=f"bad-{why[:9]}", build=lambda s: replace(f.build(s), hooks=Hooks(hook)))
    with pytest.raises(ModellingError, match=f"is not local to its contacts: a hook {why}"):
        step_of(bad, ball(2, [0.5, 0.5]))


def test_what_a_scene_cannot_be_stepped_with_is_refused():
    scene = CaseScene(case_of("wheel"))
    for given, why in (
        (dict(h=0.0), "step = 0 s; a positive number is needed"),
        (dict(passes=0), "passes = 0; a whole number >= 1 is needed"),
    ):
        with pytest.raises(DataError, match=why):
            SceneStepper(scene, NAMED["coulomb"], **given)
    assert isinstance(scene, Scene)


def test_a_mass_matrix_that_is_not_definite_is_reported():
    M = BALL.copy()
    M[0, 1] = M[1, 0] = 3.0
    s = instant(0.1, M, np.zeros(6), np.zeros(6), J=DIRECTIONS[:3], first=[0, 3], mu=0.5)
    with pytest.raises(DataError, match="the mass matrix M is not positive definite: velocity 1 has no inertia"):
        Poser(NAMED["mujoco"]).pose(s)


def test_passes_that_do_not_settle_are_reported():
    case = case_of("table")
    scene = CaseScene(case)
    x = SceneStepper(scene, NAMED["box"].with_options(bounds="iterated"), passes=1).step(*scene.start(), 0.0)
    assert x.status is Status.NO_FIXED_POINT
    assert x.reason == "the state-dependent data did not settle within 1 pass"


@pytest.mark.parametrize("name", ["mu", "e", "eps", "eps_b", "limit", "eps_f", "phi", "heading", "g", "r_f"])
def test_numbers_of_an_instant_that_make_no_sense_are_refused_by_name(name):
    """What must not be negative, and what must be finite; a gap, an error or a rate may be negative."""
    sizes = dict(J=np.eye(2, 3), first=[0, 2], J_b=np.eye(1, 3), J_f=np.eye(1, 3))
    right = dict(mu=0.5, e=0.1, eps=0.0, eps_b=0.0, limit=1.0, eps_f=0.0, phi=-0.1, g=-0.1, r_f=-0.1)
    instant(1e-3, np.eye(3), np.zeros(3), np.zeros(3), **sizes, **right)
    signed = name in ("phi", "heading", "g", "r_f")
    for value in [np.nan, np.inf] if signed else [np.nan, np.inf, -1.0]:
        with pytest.raises(DataError, match=f"^{name} "):
            instant(1e-3, np.eye(3), np.zeros(3), np.zeros(3), **sizes, **(right | {name: value}))
