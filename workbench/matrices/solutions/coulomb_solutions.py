"""All solutions of Coulomb's law for one q, proved to be all: mode by mode, exactly or in balls.

In the plane, and in space if no contact slides, a combination of modes is linear and is solved in rationals
(`planar_solutions`; here). With sliding contacts in space, branch and bound finds all zeros of the modes' equations
(`spatial_solutions`), and Krawczyk's test in ball arithmetic decides which of them are solutions (`contact_modes`). A
solution on the boundary between modes occurs in several and is counted once.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock
from workbench.matrices.linear_algebra.in_time import all_solutions
from workbench.matrices.linear_algebra.rationals import Vector, affine, dot, doubles, exact, nearest_double, spread
from workbench.matrices.solutions.contact_modes import (
    BITS,
    FRICTIONLESS,
    OPEN,
    SLIP,
    STICK,
    EnclosedZero,
    ModeEquations,
    Modes,
    enclosed,
)
from workbench.matrices.solutions.contradictions import contradicted
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.matrices.solutions.impulse_bound import UNBOUNDED, ImpulseBound, impulse_bound
from workbench.matrices.solutions.planar_solutions import PlanarPiece, holds, planar_pieces
from workbench.matrices.solutions.slides import Slides
from workbench.matrices.solutions.spatial_solutions import Settled, sliding_zeros
from workbench.problems.classes import Array

LARGEST = {1: 8, 2: 4}
"""Largest number of contacts for which solutions are counted, by the number of tangents."""
STILL = 1e-12
"""Share of |q| up to which a velocity counts as zero."""

Near = Callable[[], Array | None]
"""Impulses (n) around which a continuum is searched. Where there is no solution a solver takes seconds for them."""


@dataclass(frozen=True, eq=False)
class CoulombSolution:
    """An isolated solution: modes, impulses p and velocities u (n), as nearest doubles.

    An exact solution is within `distance` of p; the distance is zero if it is known `exact`ly. `determinant`: of the
    linearised law, whose sign is the index; None where contacts are on the boundary `between` two modes, each with its
    place and how.
    """

    modes: Modes
    p: Array
    u: Array
    distance: float
    determinant: float | None
    exact: tuple[fmpq, ...] | None = None
    between: tuple[tuple[int, str], ...] = ()

    @property
    def borders(self) -> tuple[str, ...]:
        """`between` as text, contacts from 1 on."""
        return tuple(f"contact {i + 1} {how}" for i, how in self.between)

    @property
    def regular(self) -> bool:
        return not self.between

    @property
    def index(self) -> int | None:
        """The sign of the determinant."""
        return None if self.determinant is None else int(np.sign(self.determinant))


@dataclass(eq=False)
class CoulombSolutions:
    """`count`: a number, "infinite", or None, with the `reason`; `points`, the isolated ones found.

    `dimension`: of the largest continuum found, else None; `modes` are then those of the continuum.
    """

    count: int | str | None = None
    points: list[CoulombSolution] = field(default_factory=list)
    reason: str | None = None
    dimension: int | None = None
    modes: Modes | None = None


def coulomb_solutions(friction: RationalFriction, deadline: float, near: Near | None = None) -> CoulombSolutions:
    """All solutions of Coulomb's law for these data; `near` is called only where a continuum is searched."""
    found, r, d = CoulombSolutions(), len(friction.mu), friction.d
    if r > LARGEST[d]:
        where = "the plane" if d == 1 else "space"
        found.reason = f"{r} contacts; solutions are counted up to {LARGEST[d]} in {where}"
        return found
    try:
        if d == 1:
            _in_the_plane(friction, found, deadline)
        else:
            _in_space(friction, found, deadline, near)
    except OutOfTimeError:
        found.reason = f"{OUT_OF_TIME} before all modes of {r} contacts were seen"
        if d == 2 and vars(friction).get("psd") is False:
            found.reason += "; W is not positive semidefinite, perhaps by rounding, so that impulses are not bounded"
    if found.dimension:
        found.count = "infinite"
    elif found.reason is None:
        found.count = len(found.points)
    found.points.sort(key=lambda x: tuple(x.p))
    return found


def _in_the_plane(friction: RationalFriction, found: CoulombSolutions, deadline: float) -> None:
    pieces: list[PlanarPiece] = []
    try:
        for piece in planar_pieces(friction, deadline):
            pieces.append(piece)
    finally:
        wide = [x for x in pieces if x.piece.dimension]
        if wide:
            largest = max(wide, key=lambda x: x.piece.dimension)
            found.dimension, found.modes = largest.piece.dimension, largest.modes
        for p, same in itertools.groupby(
            sorted((x for x in pieces if not x.piece.dimension), key=lambda x: x.piece.vertices[0]),
            key=lambda x: x.piece.vertices[0],
        ):
            if not any(holds(friction, x.modes, p) for x in wide):
                found.points.append(_exact_point(friction, next(same).modes, p))


def _exact_point(friction: RationalFriction, modes: Modes, p: tuple[fmpq, ...]) -> CoulombSolution:
    u = _velocity(friction, list(p))
    between = _between(friction, list(p), u)
    impulses, velocities = doubles(p), doubles(u)
    determinant = None
    if not between:
        with ctx.workprec(BITS):
            # Without sliding in space it does not depend on the unknowns.
            determinant = float(ModeEquations(friction, modes).determinant([]).mid())
    return CoulombSolution(modes, impulses, velocities, 0.0, determinant, p, between)


def _velocity(friction: RationalFriction, p: Vector) -> Vector:
    return affine(friction.W, p, friction.q)


def _between(friction: RationalFriction, p: Vector, u: Vector) -> tuple[tuple[int, str], ...]:
    """The contacts on the boundary between modes, exactly, and how."""
    found = []
    for i, ((p_n, p_t, mu), (u_n, slip, _)) in enumerate(zip(friction.contacts(p), friction.contacts(u), strict=True)):
        if p_n == 0 and u_n == 0:
            still = slip == 0 and mu > 0
            found.append((i, "touches, with neither impulse nor velocity" if still else "touches"))
        elif p_n > 0 and mu > 0 and slip == 0 and p_t == mu * mu * p_n * p_n:
            found.append((i, "is between stick and slip"))
    return tuple(found)


def _in_space(friction: RationalFriction, found: CoulombSolutions, deadline: float, near: Near | None) -> None:
    combinations = list(itertools.product(*((OPEN, STICK, SLIP) if mu else (OPEN, FRICTIONLESS) for mu in friction.mu)))
    known: list[tuple[fmpq, ...]] = []
    bound = impulse_bound(friction, deadline)
    for modes in combinations:
        if SLIP not in modes:
            check_clock(deadline)
            _held(Slides(friction, modes, bound), found, known, deadline, near)
    for modes in sorted((m for m in combinations if SLIP in m), key=lambda m: m.count(SLIP)):
        check_clock(deadline)
        if _is_still(friction, known, modes):
            found.reason = "at a solution a contact has neither impulse nor velocity: slips nearby cannot be told apart"
            continue
        _with_slides(Slides(friction, modes, bound), found, known, deadline)


def are_isolated(friction: RationalFriction, u: Array) -> bool:
    """Whether impulses of a solution in space with velocities u (n) are, as far as rounding lets see.

    Where they are not, no search tells solutions near it apart, and they are not counted.
    """
    r, still = len(friction.mu), STILL * float(np.linalg.norm(doubles(friction.q)))
    tangential = u[r:].reshape(r, 2)
    slip = np.linalg.norm(tangential, axis=1)
    modes = tuple(
        OPEN if normal > still else FRICTIONLESS if not mu else SLIP if fast else STICK
        for normal, mu, fast in zip(u[:r], friction.mu, slip > still, strict=True)
    )
    slides = Slides(friction, modes, ImpulseBound(np.full(len(u), UNBOUNDED)))
    e = tangential[slides.sliding] / slip[slides.sliding, None]
    return not len(slides.held) or not slides.singular(e[None])[0]


def _held(
    slides: Slides, found: CoulombSolutions, known: list[tuple[fmpq, ...]], deadline: float, near: Near | None
) -> None:
    """The solutions in modes without sliding: one, none, or an affine set cut by the cones."""
    friction, modes = slides.friction, slides.modes
    r, n = len(friction.mu), len(friction.q)
    rows = [i for i, mode in enumerate(modes) if mode != OPEN]
    rows += [r + 2 * i + k for i, mode in enumerate(modes) if mode == STICK for k in range(2)]
    system = fmpq_mat([[*(friction.W[i, j] for j in rows), -friction.q[i]] for i in rows]) if rows else fmpq_mat(0, 1)
    solutions = all_solutions(system, deadline)
    if solutions is None:
        return
    free, basis = solutions

    def point(values: Vector) -> tuple[fmpq, ...]:
        return tuple(spread(n, rows, [dot(row, [*values, fmpq(1)]) for row in basis]))

    if not free:
        p = point([])
        if _holds_in_space(friction, modes, p, strictly=False) and p not in known:
            known.append(p)
            found.points.append(_exact_point(friction, modes, p))
        return
    if contradicted(slides, np.empty((1, 0)), np.empty((1, 0)))[0]:
        return
    around = near() if near else None
    for impulses in (np.zeros(n),) if around is None else (around, np.zeros(n)):
        p = point([exact(float(impulses[rows[j]])) for j in free])
        if _holds_in_space(friction, modes, p, strictly=True):
            found.dimension = max(found.dimension or 0, len(free))
            found.modes = modes
            return
    found.reason = f"contacts are redundant: with modes {', '.join(modes)} impulses are not isolated"


def _holds_in_space(friction: RationalFriction, modes: Modes, p: tuple[fmpq, ...], strictly: bool) -> bool:
    """Whether p (n) satisfies the inequalities of modes without sliding."""
    u = _velocity(friction, list(p))
    for (p_n, p_t, mu), u_n, mode in zip(friction.contacts(list(p)), u, modes, strict=False):
        margins = {OPEN: [u_n], STICK: [p_n, mu * mu * p_n * p_n - p_t], FRICTIONLESS: [p_n]}[mode]
        if min(margins) < 0 or (strictly and min(margins) == 0):
            return False
    return True


def _is_still(friction: RationalFriction, known: list[tuple[fmpq, ...]], modes: Modes) -> bool:
    """Whether a contact that slides in these modes has neither impulse nor velocity at a known solution."""
    for p in known:
        parts = zip(friction.contacts(list(p)), friction.contacts(_velocity(friction, list(p))), modes, strict=True)
        if any(mode == SLIP and p_n == 0 and u_n == 0 and slip == 0 for (p_n, _, _), (u_n, slip, _), mode in parts):
            return True
    return False


def _with_slides(slides: Slides, found: CoulombSolutions, known: list[tuple[fmpq, ...]], deadline: float) -> None:
    friction, modes = slides.friction, slides.modes
    zeros, whole = sliding_zeros(slides, deadline)
    if not whole:
        found.reason = f"with modes {', '.join(modes)} solutions cannot be told apart: the equations are singular"
    seen: list[Settled] = []
    for zero in zeros:
        if any(other.holds(zero.angles) for other in seen):
            continue
        seen.append(zero)
        if any(zero.holds(angles) for p in known if (angles := _angles(friction, modes, p)) is not None):
            continue
        enclosure = _proved(slides, zero)
        margins = enclosure.margins() if enclosure else []
        if enclosure and all(x > 0 for x in margins):
            found.points.append(enclosed_point(enclosure))
        elif not any(x < 0 for x in margins):
            found.reason = f"with modes {', '.join(modes)} a solution is on the border of what is possible"


def _proved(slides: Slides, zero: Settled) -> EnclosedZero | None:
    """The zero, enclosed around its position in its box."""
    equations = ModeEquations(slides.friction, slides.modes)
    y = zero.y * slides.unit[slides.held]
    e = np.stack([np.cos(zero.angles), np.sin(zero.angles)], axis=1)
    p = slides.impulses(zero.y[None], e[None])
    u = (p @ slides.W.T + slides.q)[0] / slides.unit
    value = dict(zip(slides.held.tolist(), y.tolist(), strict=True))
    x: list[float] = []
    j = 0
    for _, mode, _, rows in equations.active:
        x += [value[row] for row in (rows if mode == STICK else rows[:1])]
        if mode == SLIP:
            x += [*e[j], float(u[rows[1:]] @ e[j])]
            j += 1
    enclosure = enclosed(equations, [exact(value) for value in x])
    if enclosure is None:
        return None
    # Check that the zero is the one of its box, and not another next to it.
    at = [k for _, mode, k, _ in equations.active if mode == SLIP]
    box = enclosure.box
    angles = np.array([float(arb.atan2(box[k + 2], box[k + 1]).mid()) for k in at])
    return enclosure if zero.holds(angles) else None


def _angles(friction: RationalFriction, modes: Modes, p: tuple[fmpq, ...]) -> Array | None:
    """Sliding directions with which the known solution p (n), on the boundary of these modes, satisfies their
    equations; None if it does not."""
    u, r, found = _velocity(friction, list(p)), len(friction.mu), []
    for i, mode in enumerate(modes):
        rows, mu = [r + 2 * i, r + 2 * i + 1], friction.mu[i]
        tangent, slip = [p[k] for k in rows], [u[k] for k in rows]
        if mode == OPEN and (p[i] or any(tangent)):
            return None
        if mode in (STICK, FRICTIONLESS) and (u[i] or (mode == STICK and any(slip))):
            return None
        if mode == SLIP:
            edge = not any(slip) and p[i] > 0 and dot(tangent, tangent) == mu * mu * p[i] * p[i]
            touch = p[i] == 0 and any(slip)
            if u[i] or not (edge or touch):
                return None
            e = [-x for x in tangent] if edge else slip
            found.append(math.atan2(nearest_double(e[1]), nearest_double(e[0])))
    return np.array(found)


def enclosed_point(enclosure: EnclosedZero) -> CoulombSolution:
    """The solution in an enclosure whose inequalities hold strictly."""
    p, u = (np.array([float(x.mid()) for x in some]) for some in (enclosure.impulses(), enclosure.velocities()))
    determinant = enclosure.determinant()
    sign = determinant > 0 or determinant < 0
    return CoulombSolution(
        enclosure.equations.modes, p, u, enclosure.distance(p.tolist()), float(determinant.mid()) if sign else None
    )
