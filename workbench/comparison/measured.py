"""Input of metrics: a solution and the exact one, with the same names for a trajectory and for a single problem."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.columns import ALL, CASE, OPEN, SLIDING, STEPPED, STICKING
from workbench.comparison.kinetic import kick, kinetic
from workbench.comparison.once import contact_impulses, energies, fall, fastest, velocities
from workbench.diagnostics.determinacy import Determinacy, determinacy
from workbench.judge import coulomb
from workbench.judge.laws import axes_of, borne_along
from workbench.mechanics.law import Law
from workbench.support.arrays import Array

if TYPE_CHECKING:
    from workbench.mechanics.case import Case
    from workbench.step.local_steps import LocalSteps
    from workbench.step.run import Run

PARTS = {
    "reference": (
        "(reference)",
        "uncertainty of the reference: for an event-driven motion the change with coarser tolerances, for a stepped "
        "one twice the change at half its step, for scenes the change at twice its step", STEPPED,
    ),
    "discretisation": ("(step size)", "exact Coulomb at this step against the reference", STEPPED),
    "formulation": ("(formulation)", "the formulation, solved to round-off, against exact Coulomb at this step", ALL),
    "compliance": ("(compliance)", "the formulation with the run's tangential compliance against without it", CASE),
    "solver": ("(solver)", "this solver's answer against the formulation solved to round-off", ALL),
}  # fmt: skip
"""Parts of an error budget (formulary, section 7): heading, the two solutions compared, and where it applies."""


class Answer(Protocol):
    """Impulses p_n (K, r), p_t (K, r, d) [N s], velocities u_n, u_t [m/s] after each of K steps, and the judge's word:
    `judged` by Coulomb's law, `judged_by_law` by the formulation's own, `law`.

    `slack` (K, r) [m/s] is u_n, and above zero wherever the normal law itself leaves a contact open. A `Run`
    is one, and a `ProblemStep` with K = 1. `tolerance` is the solver's, `v_th` [m/s] counts as no sliding.
    """

    @property
    def p_n(self) -> Array: ...
    @property
    def p_t(self) -> Array: ...
    @property
    def u_n(self) -> Array: ...
    @property
    def slack(self) -> Array: ...
    @property
    def u_t(self) -> Array: ...
    @property
    def mu(self) -> Array: ...
    @property
    def v_th(self) -> float | Array: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def judged(self) -> coulomb.Verdict: ...
    @property
    def judged_by_law(self) -> coulomb.Verdict: ...
    @property
    def law(self) -> Law: ...
    @property
    def h(self) -> float: ...


class AnswerPair(NamedTuple):
    """Two answers whose distance is part of an error budget, and the factor of that part."""

    answers: tuple[Any, Any]
    factor: float = 1.0


SPAN = 0.05
"""Share of the window over which impulses and energies are summed before they are compared: an impact that comes a step
late, or a contact that shakes, is then compared with what it stands for in the reference."""


def uncertainty_factor(reference: Any, second: Any) -> float:
    """Return the factor by which the distance of a reference from the second, if there is one, is multiplied.

    The error of a first-order method is twice its change at half the step, and once that at twice the step
    (Richardson).
    """
    return 2.0 if second is not None and second.h < reference.h else 1.0


def rms(x: Array) -> float:
    """Root mean square of the entries that are defined; nan where none is."""
    x = x[np.isfinite(x)]
    return float(np.sqrt(np.mean(x**2))) if x.size else np.nan


def closed(run: Answer) -> NDArray[np.bool_]:
    """Return True for each contact (K, r) whose impulse exceeds the run's tolerance.

    Without that, the friction ratio and angle of an interior-point answer's p_n = 1e-10 in flight would be random.
    """
    return run.p_n > run.tolerance * run.judged.normaliser


def modes(run: Answer) -> NDArray[np.str_]:
    """Modes (K, r), open, sliding or sticking: an open contact carries no impulse and separates noticeably.

    What presses while it leaves, as under the cone complementarity problem, is closed. Under Coulomb's law this is the
    mode by velocity, which is the same for all impulses that make the same motion.
    """
    leaves, slides = run.slack > run.v_th, np.linalg.norm(run.u_t, axis=-1) > run.v_th
    return np.where(leaves & ~closed(run), OPEN, np.where(slides, SLIDING, STICKING))


def misalignment_by_law(run: Answer) -> Array:
    """`misalignment` in the terms of Coulomb's law: of an ellipse, between p_a / s_a and -s_a u_a (`judge.laws`).

    What counts as carrying nothing counts the pull that a contact bears.
    """
    _, scale = axes_of(run.law, run.p_t.shape[-1])
    few = run.tolerance * run.judged_by_law.normaliser
    bears = (run.p_n + run.law.cohesion * run.h > few) & (np.linalg.norm(run.p_t, axis=-1) > few)
    slides = np.isfinite(coulomb.misalignment(run.p_t, run.u_t, run.v_th))
    own = coulomb.misalignment(borne_along(run.p_t, scale), scale * run.u_t, 0.0)
    return np.where(bears & slides, own, np.nan)


def least(run: Answer) -> tuple[Array, Array]:
    """Impulses [N s] and velocities [m/s], both (K, r), that count as none."""
    impulse = run.tolerance * run.judged.normaliser
    return impulse, np.maximum(run.v_th, impulse / run.judged.rho)


def friction(run: Answer) -> Array:
    """Normalised friction (K, r); 0 for contacts that are open."""
    return coulomb.normalised_friction(np.where(closed(run), run.p_n, 0.0), run.p_t, run.mu)


def misalignment(run: Answer) -> Array:
    """Angle between friction and -u_t (K, r) [deg]; nan where a contact is open, does not slide or has no friction."""
    rubs = np.linalg.norm(run.p_t, axis=-1) > run.tolerance * run.judged.normaliser
    return np.where(closed(run) & rubs, coulomb.misalignment(run.p_t, run.u_t, run.v_th), np.nan)


def distances(a: Array, b: Array) -> Array:
    """(..., B) [m] between positions (..., B, 3)."""
    return np.linalg.norm(a - b, axis=-1)


def angles(a: Array, b: Array) -> Array:
    """(...) [rad], from 0 to pi, between orientations (..., 4), unit quaternions."""
    # |a - b| and |a + b| are twice the sine and cosine of a quarter of it: exact for small angles too.
    sine, cosine = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return np.asarray(4.0 * np.arctan2(np.minimum(sine, cosine), np.maximum(sine, cosine)))


@dataclass(frozen=True, eq=False)
class Measured:
    """Input of a metric for a row of `runs`: the solution and the solutions with which it is compared.

    run, reference    this row's answer, and exact Coulomb friction, of a case its motion or stepped much more finely
    exact, round_off  exact Coulomb friction at this row's step, and this formulation solved to round-off; None where
                      they do not reach the end of the window
    steps             (k,) steps of `run`, `exact`, `round_off` that lie in the window; those of a problem are [0]
    """

    run: Any
    reference: Any
    exact: Any
    round_off: Any
    steps: NDArray[np.int64]

    about: ClassVar[frozenset[str]]

    @property
    def pairs(self) -> dict[str, AnswerPair]:
        """The two answers of each part of the error budget that there is, and under "" those of the whole error."""
        raise NotImplementedError

    @property
    def determined(self) -> NDArray[np.bool_]:
        """(k, r) whether the motion determines the impulses of the contact."""
        raise NotImplementedError

    @property
    def free_directions(self) -> int:
        """Most directions in which the reference's impulses may change in a step of the window while its motion does
        not."""
        raise NotImplementedError

    def starts(self, a: Answer) -> NDArray[np.int64]:
        """(k,) the steps of an answer that start at the same times as `steps`."""
        return self.steps

    def impulses(self, a: Any) -> tuple[Array, Array]:
        """p_n (k, r), p_t (k, r, d) [N s] of an answer over each of the steps."""
        return a.p_n[self.steps], a.p_t[self.steps]

    @property
    def span(self) -> int:
        """Steps over which impulses and energies are summed before they are compared."""
        return 1

    def over_spans(self, x: Array) -> Array:
        """(k + span - 1, ...) of what each of the steps has (k, ...), the sums over all spans that meet them."""
        w, nothing = self.span, np.zeros((self.span, *x.shape[1:]))
        if w == 1:
            return x
        so_far = np.cumsum(np.concatenate([nothing, x, nothing[1:]]), axis=0)
        return so_far[w:] - so_far[:-w]

    def velocities_apart(self, a: Any, b: Any) -> float:
        """Distance of the velocities of two answers, over a speed that does not vanish; what that is, is up to those
        derived from this."""
        raise NotImplementedError

    @cached_property
    def friction_bound(self) -> Array:
        """(k, r) mu p_n [N s] of the reference over each of the steps."""
        return self.reference.mu[self.starts(self.reference)] * self.impulses(self.reference)[0]

    @cached_property
    def determined_share(self) -> float:
        """Share of the reference's sum of (mu p_n)^2 at contacts whose impulses are determined; nan where it is 0."""
        bound = self.friction_bound**2
        return float(bound[self.determined].sum() / bound.sum()) if bound.any() else np.nan


@dataclass(frozen=True, eq=False)
class MeasuredSteps(Measured):
    """Input of a metric for a run of a case or of a scene.

    second       the reference made otherwise, its distance from which is its uncertainty
    """

    second: Any

    @property
    def pairs(self) -> dict[str, AnswerPair]:
        parts = self.parts
        factor = {"reference": uncertainty_factor(self.reference, self.second)}
        return {part: AnswerPair(ab, factor.get(part, 1.0)) for part, ab in parts.items() if None not in ab}

    @property
    def parts(self) -> dict[str, tuple[Any, Any]]:
        """The two answers of `pairs`, None for one that there is not."""
        return {
            "": (self.run, self.reference), "reference": (self.reference, self.second),
            "discretisation": (self.exact, self.reference), "formulation": (self.round_off, self.exact),
            "solver": (self.run, self.round_off),
        }  # fmt: skip

    def _stride(self, a: Any) -> int:
        return round(self.run.h / a.h)

    def starts(self, a: Any) -> NDArray[np.int64]:
        return self.steps * self._stride(a)

    def ends(self, a: Any) -> NDArray[np.int64]:
        """(k,) rows of a run's states at the ends of the window's steps."""
        return (self.steps + 1) * self._stride(a)

    def over(self, a: Any, x: NDArray[Any], by: Callable[..., Any] = np.sum) -> NDArray[Any]:
        """Return sums (k, ...), or another reduction, of a run's data per step (K, ...) over each step of this row."""
        every = self.starts(a)[:, None] + np.arange(self._stride(a))
        return x[self.steps] if every.shape[1] == 1 else by(x[every], axis=1)

    @property
    def span(self) -> int:
        return max(1, round(SPAN * len(self.steps)))


@dataclass(frozen=True, eq=False)
class MeasuredRun(MeasuredSteps):
    """Input of a metric of cases: all solutions are `Run`s.

    second       the reference made otherwise, its distance from which is its uncertainty (`reference.Reference`)
    unrelaxed    this formulation to round-off without tangential compliance; `round_off` itself where the run has none
    exact_alike  exact Coulomb friction at this step with the compliance of the run
    local        steps of this formulation to round-off from the states of `local.base`, which is exact Coulomb friction
                 at this step, alike where the formulation needs the compliance; None where that ends before the window
    """

    run: "Run"
    reference: "Run"
    exact: "Run | None"
    round_off: "Run | None"
    second: "Run | None"
    unrelaxed: "Run | None"
    exact_alike: "Run | None"
    local: "LocalSteps | None" = None

    about = CASE

    @property
    def case(self) -> "Case":
        return self.run.case

    @property
    def parts(self) -> dict[str, tuple[Any, Any]]:
        found = super().parts | {"formulation": (self.unrelaxed, self.exact)}
        if self.unrelaxed is None:
            found |= {"formulation": (self.round_off, self.exact_alike), "compliance": (self.exact_alike, self.exact)}
        elif self.unrelaxed is not self.round_off:
            found["compliance"] = (self.round_off, self.unrelaxed)
        return found

    def impulses(self, a: Any) -> tuple[Array, Array]:
        return self.over(a, a.p_n), self.over(a, a.p_t)

    def contact_impulse(self, a: "Run") -> Array:
        """(k, n) the net impulse of all contacts on the bodies over each of the steps, in space (`Case.in_space`)."""
        return self.over(a, contact_impulses(a))

    def velocities(self, a: "Run") -> Array:
        """(k, n) at the ends of the steps, in space."""
        return velocities(a)[self.ends(a)]

    @cached_property
    def _mass(self) -> Array:
        return self.reference.record.mass[self.starts(self.reference)]

    def _turned(self, v: Array, rows: NDArray[np.int64], back: bool = True) -> Array:
        """Velocities in space along the axes of the reference's bodies at the starts of these of the steps."""
        return self.case.in_space(self.reference.states_q[self.starts(self.reference)[rows]], v, back)

    def speed(self, dv: Array) -> Array:
        """(k,) `kinetic` of velocities in space, with the reference's mass matrices."""
        return kinetic(self._mass, self._turned(dv, np.arange(len(dv))))

    def kick(self, impulse: Array) -> Array:
        """(k + span - 1,) the size of what impulses in space (k, n) make of the velocity over each of the spans.

        `kick` with the reference's bilateral constraints, and `kinetic` with its mass matrix amid the span.
        """
        every = np.arange(len(impulse))
        J_b = self.reference.record.J_b[self.starts(self.reference)]
        made = self.over_spans(self._turned(kick(self._mass, J_b, self._turned(impulse, every)), every, back=False))
        amid = np.clip(np.arange(len(made)) - self.span // 2, 0, len(impulse) - 1)
        return kinetic(self._mass[amid], self._turned(made, amid))

    @cached_property
    def reference_kick(self) -> float:
        """Sum over the spans of the velocity change by the reference's contacts [sqrt J]."""
        return float(self.kick(self.contact_impulse(self.reference)).sum())

    def falls(self, k: Any) -> Array:
        """(..., n) velocities that the forces make in one step of this row, at steps k of the reference."""
        return fall(self.reference)[k] * self._stride(self.reference)

    @property
    def _made(self) -> float:
        """The largest speed that the forces make in one step of this row [sqrt J]."""
        return fastest(self.reference)[1] * self._stride(self.reference)

    @property
    def _fastest(self) -> float:
        """The reference's largest speed in the whole run, and at least what one step's forces make [sqrt J]."""
        return max(fastest(self.reference)[0], self._made)

    # Each scale is the largest of the motions of the reference and of the two answers that are compared, so that no
    # error is above 2: beside a reference that rests, what falls is wrong altogether, however far it comes.

    def velocities_apart(self, a: "Run", b: "Run") -> float:
        """RMS over the window in the kinetic norm, over the largest of `_fastest` and the RMS of both."""
        here, there = self.velocities(a), self.velocities(b)
        scale = max(self._fastest, rms(self.speed(here)), rms(self.speed(there)))
        return rms(self.speed(here - there)) / (scale or np.nan)

    def length(self, a: "Run", b: "Run") -> float:
        """A length that does not vanish [m]: the path of the reference's centre up to the end of the window, or how
        far one of both comes from its start; and at least the way that v_th, or what one step's forces make of the
        centre's speed, leads in that time."""
        return max(self._path, *(self._farthest(x, self.case.centre(x.states_q)) for x in (a, b)))

    def energy(self, a: "Run", b: "Run") -> float:
        """An energy that does not vanish [J]: the reference's largest kinetic one or its range in the whole run, or
        how far that of one of both comes from its start; and at least the work of the forces on a fall through the
        window at the speed of its first step; nan where nothing moves and nothing pushes."""
        own = (self._farthest(x, energies(x)[:, None]) for x in (a, b))
        return max(self._energy, *own) or np.nan

    def _farthest(self, a: "Run", x: Array) -> float:
        """The largest distance in the window of x (K + 1, .) from its first row."""
        return float(np.linalg.norm(x[self.ends(a)] - x[0], axis=-1).max())

    @cached_property
    def _path(self) -> float:
        r, first, last = self.reference, self.starts(self.reference)[0], self.ends(self.reference)[-1]
        centres = self.case.centre(r.states_q[: last + 1])
        path = np.linalg.norm(np.diff(centres, axis=0), axis=-1).sum()
        fallen = np.empty_like(r.states_q[first])
        self.case.advance(r.states_q[first].copy(), self.falls(first), self.run.h, self.case.data(), fallen)
        speed = float(np.linalg.norm(self.case.centre(fallen) - centres[first])) / self.run.h
        return max(float(path), max(self.case.v_th, speed) * r.h * last)

    @cached_property
    def _energy(self) -> float:
        work = len(self.steps) * self._made**2
        return max(0.5 * self._fastest**2, float(np.ptp(energies(self.reference))), work)

    @cached_property
    def _determinacy(self) -> Determinacy:
        """Return the determinacy of impulses, given the contacts that carry a force in any of the compared answers."""
        answers = {id(a): a for pair in self.pairs.values() for a in pair.answers if a.h >= self.run.h}
        carries = self._carries
        for a in answers.values():
            carries = carries | closed(a)[self.steps]
        return self._determined(carries)

    @property
    def _carries(self) -> NDArray[np.bool_]:
        """(k, r) whether the contact carries something in the reference."""
        return self.over(self.reference, closed(self.reference).astype(float)) > 0

    def _determined(self, carries: NDArray[np.bool_]) -> Determinacy:
        record, k = self.reference.record, self.starts(self.reference)
        return determinacy(record.mass[k], record.J[k], record.J_b[k], record.friction[k], carries)

    @property
    def determined(self) -> NDArray[np.bool_]:
        return self._determinacy.contacts

    @property
    def free_directions(self) -> int:
        return int(self._determined(self._carries).dimension.max(initial=0))
