"""Derivatives of a run of a scene by its parameters, under one formulation: those of its steps, chained.

Parameters are mu, a change common to all coefficients of sliding friction; mass[BODY], whose inertia keeps its radii of
gyration; v[i], a velocity at the start; f[i], a constant force along a velocity. Contacts that come or go between two
steps are events: within a sequence of contacts and modes the chain is exact, and parameters shift it in time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from workbench.derivatives.differences import slopes
from workbench.derivatives.motion import MotionDerivative, OfStates, checked
from workbench.derivatives.scene_step import SceneStep
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import Instant, pushed
from workbench.problems.solution import Status
from workbench.scenes.posing import Memory
from workbench.scenes.run import run
from workbench.scenes.scene import Scene
from workbench.scenes.stepper import SceneStepper
from workbench.support.arrays import Array
from workbench.support.errors import DataError, UnknownNameError
from workbench.support.progress import ProgressCallback


@dataclass(frozen=True)
class SceneParameter:
    """A parameter of a scene, and its size: tangents of the velocities at the start, v (n,), of the forces, f (n,), and
    of all coefficients of sliding friction, mu, or a mass; `moved` is the scene with the parameter varied."""

    name: str
    unit: float
    v: Array
    f: Array
    mu: float
    moved: Callable[[float], Scene]

    @property
    def is_mass(self) -> bool:
        return not (self.v.any() or self.f.any() or self.mu)


class VariedScene(Scene):
    """A scene with other velocities at the start, and constant forces f (n,) and a change of sliding friction added."""

    def __init__(self, scene: Scene, v: Array, f: Array, mu: float) -> None:
        self.scene, self.given = scene, (v, f, mu)
        self.name, self.bodies, self.step = scene.name, scene.bodies, scene.step
        self.v_th, self.recovery = scene.v_th, scene.recovery

    def under(self, formulation: str) -> "VariedScene":
        return VariedScene(self.scene.under(formulation), *self.given)

    def start(self) -> tuple[Array, Array]:
        q, v = self.scene.start()
        return q, v + self.given[0]

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        given, (_, f, mu) = self.scene.instant(q, v, t, h), self.given
        return pushed(given, f, mu * slides(given))

    def advance(self, q: Array, v: Array, h: float) -> Array:
        return self.scene.advance(q, v, h)

    def poses(self, q: Array) -> tuple[Array, Array]:
        return self.scene.poses(q)

    def energy(self, q: Array, v: Array) -> float:
        return self.scene.energy(q, v)


def slides(given: Instant) -> Array:
    """1 for the rows (R,) of sliding friction, 0 for those of normals, torsion and rolling."""
    found = np.zeros(given.mu.size)
    for k in (1, 2):
        at = given.first[:-1] + k
        found[at[at < given.first[1:]]] = 1.0
    return found


def scene_parameter(scene: Scene, name: str) -> SceneParameter:
    """The parameter of this name; raises UnknownNameError, and DataError for masses of a scene that has none."""
    n = scene.start()[1].size
    none, kind, inside = np.zeros(n), name.partition("[")[0], name.partition("[")[2].removesuffix("]")
    if name == "mu":
        return _added(scene, name, none, none, 1.0)
    if kind in ("v", "f") and inside.isdecimal() and int(inside) < n:
        e = np.eye(n)[int(inside)]
        v, f = (e, none) if kind == "v" else (none, e)
        return _added(scene, name, v, f, 0.0)
    weigh = getattr(scene, "with_mass", None)
    if kind == "mass" and weigh:
        mass = scene.mass_of(inside)  # type: ignore[attr-defined]
        # Such a scene takes longer to build than a step.
        heavier = cache(lambda s: weigh(inside, mass + s) if s else scene)
        return SceneParameter(name, mass, none, none, 0.0, heavier)
    known = ["mu", *(f"mass[{body}]" for body in scene.bodies if weigh), *(f"{x}[{i}]" for x in "vf" for i in range(n))]
    raise UnknownNameError(f"parameter of {scene.name}", name, known)


def _added(scene: Scene, name: str, v: Array, f: Array, mu: float) -> SceneParameter:
    return SceneParameter(name, 1.0, v, f, mu, lambda s: VariedScene(scene, s * v, s * f, s * mu) if s else scene)


def scene_output(scene: Scene, name: str) -> Callable[[Scene, Array, Array], float]:
    """The output of this name as a function of a scene and its state: q[i], v[i] or energy; raises UnknownNameError."""
    q, v = scene.start()
    known: dict[str, Callable[[Scene, Array, Array], float]] = {"energy": lambda own, q, v: own.energy(q, v)}
    known |= {f"q[{i}]": lambda own, q, v, i=i: float(q[i]) for i in range(q.size)}  # type: ignore[misc]
    known |= {f"v[{i}]": lambda own, q, v, i=i: float(v[i]) for i in range(v.size)}  # type: ignore[misc]
    if name not in known:
        raise UnknownNameError("output", name, list(known))
    return known[name]


@dataclass(frozen=True, eq=False)
class SceneMotion:
    """A run of a scene, states_q (steps + 1, n_q), states_v (steps + 1, n), and its tangents by K parameters: q
    (steps + 1, K, n_q), v (steps + 1, K, n), NaN from a step on that has no derivative, for a reason.

    For each parameter: kinks and jumps, the steps that have one-sided derivatives only, and those whose data jump
    within the reach of the differences. switches: how often a set changed its mode from step to step; events: how
    many contacts came or went.
    """

    states_q: Array
    states_v: Array
    q: Array
    v: Array
    kinks: list[list[int]]
    jumps: list[list[int]]
    reasons: list[str]
    switches: int
    events: int


def scene_motion(
    scene: Scene, formulation: Formulation, parameters: Sequence[SceneParameter], h: float, steps: int,
    progress: ProgressCallback | None = None,
) -> SceneMotion:  # fmt: skip
    """So many steps of h [s] of a scene with their tangents by parameters.

    Raises DataError where a step has no solution, and for formulations that iterate.
    """
    (q, v), K = scene.start(), len(parameters)
    memory, reasons, undetermined = Memory(), [""] * K, [""] * K
    remembered: list[dict[int, Array]] = [{} for _ in parameters]
    states_q, states_v = (np.repeat(x[None], steps + 1, axis=0) for x in (q, v))
    found_q, found_v = np.zeros((steps + 1, K, q.size)), np.zeros((steps + 1, K, v.size))
    found_q[1:] = found_v[1:] = np.nan
    found_v[0] = [p.v for p in parameters]
    kinks: list[list[int]] = [[] for _ in parameters]
    jumps: list[list[int]] = [[] for _ in parameters]
    switches, events, last = 0, 0, None
    for k in range(steps):
        if progress:
            progress(f"derivatives of {scene.name}", k, steps)
        try:
            step = SceneStep(scene, formulation, states_q[k], states_v[k], k * h, h, memory)
        except DataError as error:
            raise DataError(f"step {k}: {error}") from None
        key, modes = step.closed, step.modes
        if last is not None:
            events += np.setxor1d(last[0], key).size
            switches += int((last[1] != modes).sum()) if np.array_equal(last[0], key) else 0
        last = key, modes
        if any(undetermined) and step.remembers():
            reasons = [x or (why and f"step {k - 1}: {why}") for x, why in zip(reasons, undetermined, strict=True)]
        for j, p in enumerate(parameters):
            if reasons[j]:
                continue
            try:
                along = step.velocities_of(found_q[k, j])
                weigh = p.moved if p.is_mass else None
                friction = p.mu * slides(step.instant)
                found = step.along(along, found_v[k, j], p.f, friction, weigh, p.unit, remembered[j])
            except DataError as error:
                reasons[j] = f"step {k}: {error}"
                continue
            found_q[k + 1, j], found_v[k + 1, j] = found.q, found.v
            remembered[j], undetermined[j] = found.memory, found.undetermined
            for noted, where in ((found.is_kink, kinks[j]), (found.is_rough, jumps[j])):
                if noted:
                    where.append(k)
        states_q[k + 1], states_v[k + 1], memory = step.q_next, step.v_next, step.remembered()
    return SceneMotion(states_q, states_v, found_q, found_v, kinks, jumps, reasons, switches, events)


def scene_derivatives(
    scene: Scene, formulation: Formulation, outputs: Sequence[str], parameters: Sequence[str], h: float, steps: int,
    progress: ProgressCallback | None = None,
) -> tuple[Array, dict[str, MotionDerivative]]:  # fmt: skip
    """The outputs after so many steps of h [s] of a scene, and their derivatives by parameters.

    Raises as `scene_motion`, and UnknownNameError for an output or a parameter that the scene does not have.
    """
    wanted, moving = [scene_output(scene, x) for x in outputs], [scene_parameter(scene, x) for x in parameters]
    m = scene_motion(scene, formulation, moving, h, steps, progress)
    derivatives = {}
    for j, p in enumerate(moving):
        value = np.full(len(wanted), np.nan) if m.reasons[j] else _of_outputs(scene, p, wanted, m, j)
        noted = tuple(m.kinks[j]), tuple(m.jumps[j]), m.switches, m.reasons[j], m.events
        derivatives[p.name] = MotionDerivative(value, *noted)
    return np.array([of(scene, m.states_q[-1], m.states_v[-1]) for of in wanted]), derivatives


def scene_gradient(
    scene: Scene, formulation: Formulation, of: str | OfStates, parameters: Sequence[str], h: float, steps: int
) -> tuple[float, SceneMotion, Array]:
    """The output of this name after so many steps of h [s] of a scene, or a function of all states; the motion; and the
    derivatives (K,) by parameters, in forward mode.

    Raises as `scene_derivatives`, and DataError where a parameter has no derivative, or as `checked`.
    """
    output, moving = None if callable(of) else scene_output(scene, of), [scene_parameter(scene, x) for x in parameters]
    m = scene_motion(scene, formulation, moving, h, steps)
    for p, reason in zip(moving, m.reasons, strict=True):
        if reason:
            raise DataError(f"{p.name}: {reason}")
    if callable(of):
        value, due_q, due_v = checked(of, m.states_q, m.states_v)
        return value, m, np.einsum("kq,kjq->j", due_q, m.q) + np.einsum("kq,kjq->j", due_v, m.v)
    assert output
    by = [float(_of_outputs(scene, p, [output], m, j)[0]) for j, p in enumerate(moving)]
    return output(scene, m.states_q[-1], m.states_v[-1]), m, np.array(by)


def scene_end(
    scene: Scene, formulation: Formulation, h: float, steps: int, parameter: SceneParameter, s: float
) -> tuple[Array, Array]:
    """The state after a run with the parameter varied by s; raises DataError where the run ends before."""
    beside = parameter.moved(s)
    track = run(beside, SceneStepper(beside, formulation, h), steps)
    if track.status is not Status.SOLVED:
        raise DataError(track.reason or track.status.meaning)
    return track.q[-1], track.v[-1]


def _of_outputs(
    scene: Scene, p: SceneParameter, wanted: Sequence[Callable[[Scene, Array, Array], float]], m: SceneMotion, j: int
) -> Array:
    """Derivatives of the outputs at a motion's end by the parameter j, p."""
    q, v, dq, dv = m.states_q[-1], m.states_v[-1], m.q[-1, j], m.v[-1, j]
    size = max(1.0 / p.unit, float(np.abs(dq).max(initial=0.0)), float(np.abs(dv / (1.0 + np.abs(v))).max(initial=0.0)))

    def of(s: float) -> list[Array]:
        own = p.moved(s) if p.is_mass else scene
        return [np.array([one(own, q + s * dq, v + s * dv) for one in wanted])]

    return slopes(of, 1.0 / size)[0][0]
