"""Number of solutions of Coulomb's law at single steps, and which of them each formulation's step is nearest to.

Coulomb's law with impulses for unknowns is no convex problem. Where a step has several solutions, a distance from the
reference may not be an error. At a few steps of exact Coulomb friction, changes of mode among them, a theorem proves
that there is one solution, or the search of all solutions proves their number. A step with too many contacts is solved
once more with the contacts in reverse order, which leads a solver to another solution where there is one near its path.
That none is found is evidence and no proof.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.algorithms.asking import solved_by
from workbench.algorithms.escalation import default_solver
from workbench.comparison.measured import modes
from workbench.comparison.once import once
from workbench.diagnostics.contact_uniqueness import holds_strictly
from workbench.diagnostics.coulomb_answers import modes_words
from workbench.diagnostics.problem_check import in_rationals
from workbench.engine.timing import clock
from workbench.matrices.linear_algebra.rationals import exact as rational
from workbench.matrices.solutions.coulomb_islands import solutions_by_islands
from workbench.matrices.solutions.coulomb_solutions import CoulombSolution, CoulombSolutions, are_isolated
from workbench.matrices.solutions.existence import rational_friction
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import CoulombNCP, is_psd
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem, reversed_contacts
from workbench.problems.rank import rank
from workbench.step.run import Run
from workbench.support.arrays import Array, evenly

CHANGES, EVEN = 16, 24
"""Steps that are examined: changes of mode, and evenly spread ones."""
LARGEST = 30
"""Largest number of rows of a problem of which all solutions are searched."""
SEARCH, SEARCH_IN_RUN = 3.0, 10.0
"""Seconds for this search in a problem, and in all steps of a run."""
ROWS = 120
"""Largest number of rows of all problems of a run whose solutions are searched: ten steps of four contacts in space,
which take two to three seconds."""
LOST = 3
"""Searches without a result, one after the other, after which there are no more in a run."""
ROUNDING = 1e-12
"""Share of the largest entry up to which two problems are the same but for rounding, as those of bodies at rest."""
SAME_SOLUTION = 1e-6
"""Share of |q| up to which two velocities count as those of one solution."""


class NearestSolution(NamedTuple):
    """The number of the solution nearest to a velocity, None where it is farther than the solutions are from one
    another; and the distance [m/s]."""

    number: int | None
    distance: float


@dataclass(frozen=True, eq=False)
class StepSolutions:
    """All solutions of Coulomb's law in a step that has several, at the time t [s].

    u (c, n) [m/s] the contact velocities of the solutions, own (n,) those of exact Coulomb friction's own step, free
    (n,) those without impulses.
    """

    t: float
    points: Sequence[CoulombSolution]
    u: Array
    own: Array
    free: Array

    @property
    def size(self) -> float:
        """|q|, the size of velocities [m/s]; 1 if nothing moves."""
        return float(np.linalg.norm(self.free)) or 1.0

    @property
    def apart(self) -> float:
        """Largest distance of two solutions [m/s]."""
        return float(max((np.linalg.norm(self.u - u, axis=1).max() for u in self.u), default=0.0))

    @property
    def reference(self) -> int | None:
        """The number of the solution that exact Coulomb friction's own step takes."""
        return self.nearest(self.own).number

    def nearest(self, u: Array) -> NearestSolution:
        """Return the solution nearest to contact velocities (n,)."""
        away = np.linalg.norm(self.u - u, axis=1)
        k = int(away.argmin())
        distance = float(away[k])
        if distance <= SAME_SOLUTION * self.size:
            distance = 0.0
        return NearestSolution(k if distance <= self.apart else None, distance)


@dataclass(frozen=True, eq=False)
class ExaminedSteps:
    """Steps of exact Coulomb friction whose solutions were looked for, of `h` [s] each.

    `counted`: for how many of the steps `examined` it is proved how many contact velocities solve them; `several`: by
    their numbers, those with more than one; `seen`: (number, distance [m/s]) of those not counted where another one was
    found.
    """

    h: float
    examined: int
    counted: int
    several: Mapping[int, StepSolutions]
    seen: Sequence[tuple[int, float]]


class PosedStep(NamedTuple):
    """Coulomb's problem of step `k`, its rows' compliance (n,), and the contact velocities (n,) that were found.

    `exact` returns the problem with W = J M^-1 J^T in rationals, which redundant contacts leave semidefinite; None
    where it is known as W alone.
    """

    k: int
    problem: FrictionProblem
    compliance: Array
    own: Array
    exact: Callable[[], RationalFriction] | None = None


def examine(h: float, steps: Iterable[PosedStep]) -> ExaminedSteps:
    """Count the solutions of Coulomb's law in these steps of h [s] each, those first where another one is seen."""
    examined, counted_steps, known = 0, 0, b""
    left, seen = [], {}
    for x in steps:
        examined += 1
        data = x.problem.dense.tobytes() + x.problem.mu.tobytes()
        if x.problem.size <= LARGEST and (data == known or one_velocity(x.problem)):
            counted_steps, known = counted_steps + 1, data
            continue
        left.append(x)
        if (apart := _apart(x)) > 0:
            seen[x.k] = apart
    several: dict[int, StepSolutions] = {}
    hard: list[FrictionProblem] = []
    deadline, rows, lost = clock() + SEARCH_IN_RUN, 0, 0
    for x in sorted(left, key=lambda x: x.k not in seen):
        # Where rounding may have made a singular W indefinite, nothing bounds the impulses, and searches are long.
        if x.problem.size > LARGEST or (not x.exact and rank(x.problem.dense).value < x.problem.size):
            continue
        if any(_are_same(x.problem, y) for y in hard):
            continue
        rows += x.problem.size
        seconds = min(SEARCH, deadline - clock())
        found = counted(x.problem, seconds, x.exact and x.exact(), x.own) if rows <= ROWS and lost < LOST else None
        lost = 0 if found else lost + 1
        if found is None:
            hard.append(x.problem)
            continue
        counted_steps += 1
        # Compliance is no velocity.
        u = np.array([point.u - x.compliance * point.p for point in found.points])
        step = StepSolutions(h * x.k, found.points, u, x.own, x.problem.q)
        if step.apart > SAME_SOLUTION * step.size:
            several[x.k] = step
        seen.pop(x.k, None)
    return ExaminedSteps(h, examined, counted_steps, several, sorted(seen.items()))


@once
def examined_steps(exact: Run) -> ExaminedSteps:
    """Examine steps of a run of exact Coulomb friction: changes of mode, and evenly spread ones."""
    _, m, r, d = exact.case.size
    if not exact.steps or not r:
        return ExaminedSteps(exact.h, 0, 0, {}, ())
    own, x = modes(exact), exact.record
    changed = 1 + np.flatnonzero((own[1:] != own[:-1]).any(axis=1))
    return examine(exact.h, (
        PosedStep(
            k, FrictionProblem(x.M[k], x.q_[k], x.mu[k], d), x.eps[k], contact_velocity(exact, k, exact),
            None if m else partial(_in_rationals, exact, k),
        )
        for k in chosen_steps(changed, np.arange(exact.steps), CHANGES, EVEN)
    ))  # fmt: skip


def _in_rationals(exact: Run, k: int) -> RationalFriction:
    """Return Coulomb's problem of step k without bilateral rows, eliminated without rounding."""
    x, d = exact.record, exact.case.size[3]
    bodies = GlobalFrictionProblem(x.mass[k], x.J[k].T, x.b[k], x.rate[k], x.mu[k], d)
    found = in_rationals(bodies)
    n = len(found.q)
    soft = fmpq_mat(n, n, [rational(x.eps[k, i]) if i == j else fmpq(0) for i in range(n) for j in range(n)])
    return RationalFriction(found.W + soft, found.q, found.mu, d)


def chosen_steps(changed: NDArray[np.int64], steps: NDArray[np.int64], changes: int, even: int) -> list[int]:
    """Return the steps that are examined: some of the `changed` ones, then others, evenly spread over all `steps`."""
    first = evenly(changed, changes).tolist() if changed.size else []
    return [*first, *(k for k in evenly(steps, even).tolist() if k not in first)]


def _are_same(one: FrictionProblem, other: FrictionProblem) -> bool:
    """Return whether two problems differ by rounding alone."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("dense", "q", "mu")]
    return all(a.shape == b.shape and abs(a - b).max() <= ROUNDING * abs(b).max() for a, b in pairs)


def _apart(x: PosedStep) -> float:
    """Distance [m/s] of the contact velocities found from those of another solution; 0 where none is seen."""
    problem = x.problem
    if problem.contacts < 2:
        return 0.0
    order, rows = reversed_contacts(problem.contacts, problem.d)
    turned = CoulombNCP(problem.dense[np.ix_(rows, rows)], problem.q[rows], problem.mu[order], problem.d)
    other = solved_by(default_solver(turned.kind), turned)
    if not other.verified:
        return 0.0
    p: Array = np.empty_like(x.own)
    p[rows] = other.z
    apart = float(np.linalg.norm(problem.velocity(p) - x.compliance * p - x.own))
    return apart if apart > SAME_SOLUTION * float(np.linalg.norm(problem.q)) else 0.0


def one_velocity(problem: FrictionProblem) -> str:
    """Return why all solutions have the same velocity, whatever q is; "" where no theorem applies.

    With W symmetric positive definite the CCP's answer to a shift s along the normals is Lipschitz: subtracting the
    variational inequalities of two shifts gives |du| <= sqrt(cond W) |ds|. De Saxce's s = mu |u_t| has
    |ds| <= mu_max |du|, so mu_max sqrt(cond W) < 1 makes the fixed point unique. Without friction the problem is the
    CCP, whose velocity is unique.
    """
    W, mu_max = problem.dense, float(problem.mu.max())
    if mu_max == 0 and is_psd(W):
        return "without friction the problem is a convex quadratic program"
    sigma = np.linalg.svd(W, compute_uv=False)
    bound = mu_max * float(np.sqrt(sigma[0] / sigma[-1])) if sigma[-1] > 0 else np.inf
    if bound < 1 and is_psd(W):
        return f"W is positive definite and μ_max √cond W = {bound:.3g} < 1, so De Saxcé's shift contracts"
    if problem.contacts == 1 and holds_strictly(rational_friction(W, problem.q, problem.mu, problem.d)):
        return "the closed criterion for one contact holds, so that there is exactly one solution"
    return ""


def counted(
    problem: FrictionProblem,
    seconds: float = SEARCH,
    exact: RationalFriction | None = None,
    own: Array | None = None,
) -> CoulombSolutions | None:
    """All solutions of Coulomb's law, of the problem in rationals if it is given; None where they are not known, or are
    a continuum, as around `own` (n) contact velocities that solve it already."""
    if problem.size > LARGEST or not problem.contacts:
        return None
    friction = exact or rational_friction(problem.dense, problem.q, problem.mu, problem.d)
    if own is not None and friction.d == 2 and not are_isolated(friction, own):
        return None
    found = solutions_by_islands(friction, clock() + seconds)
    return found if isinstance(found.count, int) and found.count == len(found.points) else None


def solution_columns(examined: ExaminedSteps, velocities: Mapping[int, Array] | None) -> dict[str, float]:
    """Return the columns of `runs` on several solutions of Coulomb's law.

    `velocities` (n,) [m/s] are the contact velocities after the formulation's own steps from the same states, by the
    numbers of the steps; None where there are none.
    """
    several = examined.several
    found: dict[str, float] = {
        "steps_examined": float(examined.examined), "steps_counted": float(examined.counted),
        "steps_several": float(len(several)),
    }  # fmt: skip
    if not several:
        return found
    found |= {
        "several_from": min(x.t for x in several.values()),
        "solutions_apart": max(x.apart for x in several.values()),
    }
    if velocities is None:
        return found
    near = [(x.nearest(velocities[k]), x.reference) for k, x in several.items()]
    return found | {
        "took_reference": float(sum(x.number is not None and x.number == own for x, own in near)),
        "took_other": float(sum(x.number is not None and x.number != own for x, own in near)),
        "took_none": float(sum(x.number is None for x, _ in near)),
        "solution_distance": max(x.distance for x, _ in near),
    }


def contact_velocity(exact: Run, k: int, run: Run) -> Array:
    """Return contact velocities (n,) [m/s] after step k of a run, in the rows of exact Coulomb friction's problem."""
    return np.asarray(run.contact_velocities[k] + exact.record.rate[k])


LEFT_OPEN = (
    "A distance from the reference may then come from the choice of a solution, which the law leaves open, and not "
    "from an error of the formulation."
)


def several_solutions(examined: ExaminedSteps, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """A sentence where examined steps have several solutions of Coulomb's law, "" where none was found.

    `rows` are those of `runs`, by label: which solution a formulation's steps are nearest to.
    """
    at = f"At {1e3 * examined.h:g} ms Coulomb's"
    if several := examined.several:
        first, apart = min(several.values(), key=lambda x: x.t), max(x.apart for x in several.values())
        which = "; ".join(_described(first, k) for k in range(len(first.points)))
        return (
            f"{at} law has several solutions, proved, in {len(several)} of {examined.examined} examined steps, up to "
            f"{apart:.2g} m/s apart. The first is at t = {first.t:.3g} s ({which}). {_taken(rows)}{LEFT_OPEN}"
        )
    if seen := examined.seen:
        return (
            f"{at} law has several solutions in {len(seen)} of {examined.examined} examined steps, the first at t = "
            f"{examined.h * seen[0][0]:.3g} s. Solving with the contacts in reverse order gives another verified one, "
            f"with contact velocities up to {max(x for _, x in seen):.2g} m/s away. {LEFT_OPEN}"
        )
    return ""


def _taken(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """A sentence on the solutions that single steps of the formulations are nearest to."""
    groups: dict[str, list[str]] = {}
    for label, row in rows.items():
        numbers = {name: row.get(f"took_{name}", np.nan) for name in ("reference", "other", "none")}
        some = {name: int(x) for name, x in numbers.items() if x > 0}
        if not some:
            continue
        parts = [OUTCOMES[name] + (f" in {x}" if len(some) > 1 else "") for name, x in some.items()]
        groups.setdefault(", ".join(parts), []).append(f"{label} ({row['solution_distance']:.2g} m/s)")
    if not groups:
        return ""
    listed = "; ".join(f"{outcome}: {', '.join(labels)}" for outcome, labels in groups.items())
    return f"Nearest to single steps from the same states, and largest distance: {listed}. "


OUTCOMES = {
    "reference": "the reference's solution", "other": "another solution",
    "none": "none, farther than the solutions are from one another",
}  # fmt: skip
"""Outcomes of a formulation's step, by the columns `took_...`."""


def _described(step: StepSolutions, k: int) -> str:
    """A solution as text: number, modes, index, and whether it is the reference's."""
    x = step.points[k]
    index = "degenerate" if x.index is None else f"index {x.index:+d}"
    return f"{k + 1}: {modes_words(x.modes)}, {index}{', the reference' * (k == step.reference)}"


def which_solution(step: StepSolutions, velocities: Mapping[str, Array]) -> str:
    """A sentence on several solutions of a problem, and which of them each formulation is nearest to.

    `velocities` (n,) are those of formulations by their labels. Distances are relative to |q|.
    """
    near: dict[int | None, list[str]] = {}
    for label, u in velocities.items():
        k, apart = step.nearest(u)
        near.setdefault(k, []).append(f"{label} ({100 * apart / step.size:.2g} %)")
    parts = [
        f"{_described(step, k)}; nearest to it: {', '.join(near.get(k, ['no formulation']))}"
        for k in range(len(step.points))
    ]
    if None in near:
        parts.append(f"Farther from each than they are from one another: {', '.join(near[None])}")
    return (
        f"Coulomb's law has several solutions here, proved to be exactly {len(step.points)}. {'. '.join(parts)}. "
        f"{LEFT_OPEN}"
    )
