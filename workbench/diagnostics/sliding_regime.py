"""The number of solutions at a state of sliding contacts: none, one, several, infinitely many, or undecided.

Rational data are classified exactly. Doubles stand for measured or rounded numbers: they are classified as exact
numbers, and the result counts only if all data within a stated relative tolerance share it (ball arithmetic); otherwise
it is "undecided". No verdict depends on the sign of a rounding error.

The literature (Génot & Brogliato 1999; Champneys & Várkonyi, IMA J. Appl. Math. 81, 2016) names the regimes of one
contact; here they apply to all: "sliding", one motion in which every contact stays closed; "lift-off", one motion in
which some contact opens; "indeterminate", several motions; "inconsistent", none. Redundant contacts may leave the
forces undetermined but not the motion: the regime is then that of the motion.
"""

from dataclasses import dataclass
from typing import NamedTuple

from flint import fmpq, fmpq_mat

from workbench.engine.timing import clock
from workbench.matrices.linear_algebra.rationals import doubles, nearest_double
from workbench.matrices.solutions.solution_set import Piece, solution_set
from workbench.mechanics.contact import Array
from workbench.step.sliding.exact import ExactSliding, MatrixPair, as_balls, as_doubles, ball_arithmetic, regular_base
from workbench.step.sliding.system import Multipliers, SlidingSystem
from workbench.support.arrays import index_sets
from workbench.support.errors import DataError

TOLERANCE = 1e-12
"""Default relative uncertainty of the doubles of a system."""
LARGEST_BALLS = 9
"""Largest number of contacts for which all 2^m bases are followed in ball arithmetic."""
NAMES = {0: "none", 1: "unique", 2: "two"}
SLIDING, LIFT_OFF, INDETERMINATE, INCONSISTENT = REGIMES = ("sliding", "lift-off", "indeterminate", "inconsistent")


@dataclass(frozen=True, eq=False)
class IsolatedSolution:
    """An isolated solution: multipliers [N] nearest to the exact ones, `exact` as "p/q" (lambda_nb, then lambda_nu),
    and the accelerations (n,) of the system; `opening`, the unilateral contacts that open."""

    multipliers: Multipliers
    exact: list[str]
    acceleration: Array
    opening: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Continuum:
    """Infinitely many solutions: the hull of the corners plus the cone of the directions, multipliers [N] as floats."""

    dimension: int
    corners: list[list[float]]
    directions: list[list[float]]


@dataclass(frozen=True, eq=False)
class Regime:
    """`kind`, the number of solutions: "none", "unique", "two", "3", ..., "infinitely many" or "undecided" (`reason`).

    `as_given` is the kind of the data as exact numbers, whose solutions are listed. `exact`: the data are rational.
    `tolerance` is 0 for these, and for more than `LARGEST_BALLS` contacts, where the doubles count as exact.
    `opening`: the unilateral contacts that open if all solutions, as given, have the same accelerations; else None.
    """

    kind: str
    as_given: str
    exact: bool
    tolerance: float
    answers: list[IsolatedSolution]
    continua: list[Continuum]
    opening: tuple[int, ...] | None
    reason: str = ""

    @property
    def name(self) -> str:
        """Name of the regime, one of `REGIMES`, or "undecided"."""
        if self.kind in ("none", "undecided"):
            return INCONSISTENT if self.kind == "none" else "undecided"
        if self.opening is None:
            return INDETERMINATE
        return LIFT_OFF if self.opening else SLIDING


def regime(
    system: SlidingSystem,
    exact: ExactSliding | None = None,
    tolerance: float = TOLERANCE,
    seconds: float = 10.0,
) -> Regime:
    """The regime of a system; that of the rational data `exact` if given, with contacts in the system's order.

    Raises DataError where every base is singular, or for a tolerance that is not within (0, 1).
    """
    if not 0 < tolerance < 1:
        raise DataError(f"tolerance {tolerance:g}; a relative uncertainty between 0 and 1 is needed")
    data = exact or as_doubles(system)
    as_given, pieces, opening, reason = classified(data, seconds)
    answers = [_answer(system, data, z) for z in pieces if not isinstance(z, Continuum)]
    continua = [z for z in pieces if isinstance(z, Continuum)]
    kind = as_given
    followed = exact is None and data.m <= LARGEST_BALLS
    if followed and not reason:
        reason = open_question(system, tolerance)
        kind = "undecided" if reason else as_given
    return Regime(kind, as_given, exact is not None, tolerance if followed else 0.0, answers, continua, opening, reason)


class Isolated(NamedTuple):
    """Exact multipliers (lambda_nb, lambda_nu) and the unilateral contacts whose acceleration is positive."""

    multipliers: list[fmpq]
    opening: tuple[int, ...]


def classified(
    data: ExactSliding, seconds: float
) -> tuple[str, list[Isolated | Continuum], tuple[int, ...] | None, str]:
    """Kind, isolated solutions and continua of exact data, `Regime.opening`, and why the kind is undecided."""
    pair = data.pair()
    base = regular_base(pair)
    rest = [j for j in range(data.m) if j not in base]
    B = pair.columns(base)
    # With S = -1 on the base, 1 elsewhere, t the unknowns of C_a's columns, z their partners: C_a S t = C_rest S z - w.
    sign = fmpq_mat(data.m, data.m, [(i == j) * (-1 if i in base else 1) for i in range(data.m) for j in range(data.m)])
    M = sign * B.solve(pair.columns(rest)) * sign
    q = (sign * B.solve(pair.w) * fmpq(-1)).entries()
    found = solution_set(M, q, clock() + seconds)

    def states(z: tuple[fmpq, ...], constant: int) -> tuple[list[fmpq], list[fmpq]]:
        slack = (M * fmpq_mat(data.m, 1, list(z))).entries()
        slack = [x + constant * c for x, c in zip(slack, q, strict=True)]
        s = [z[j] if j in base else slack[j] for j in range(data.m)]
        return s, [slack[j] if j in base else z[j] for j in range(data.m)]

    def forces(z: tuple[fmpq, ...], constant: int) -> list[fmpq]:
        s, y = states(z, constant)
        return [s[j] - y[j] if j < data.m_b else y[j] for j in range(data.m)]

    def push(z: tuple[fmpq, ...], constant: int) -> list[fmpq]:
        # The generalised force: equal forces give equal motions. |lambda| and lambda are sums and differences of s and
        # y.
        s, y = states(z, constant)
        load = [s[j] + y[j] if j < data.m_b else y[j] for j in range(data.m)]
        rubbing = [-c * x * f for c, x, f in zip(data.mu, data.xi, load, strict=True)]
        n, t = (fmpq_mat(1, data.m, x) for x in (forces(z, constant), rubbing))
        return (n * data.J_n + t * data.J_t).entries()

    def isolated(z: tuple[fmpq, ...]) -> Isolated:
        s, _ = states(z, 1)
        return Isolated(forces(z, 1), tuple(j - data.m_b for j in range(data.m_b, data.m) if s[j] > 0))

    def continuum(piece: Piece) -> Continuum:
        corners, rays = ([forces(z, k) for z in points] for points, k in ((piece.vertices, 1), (piece.rays, 0)))
        return Continuum(piece.dimension, *([[nearest_double(x) for x in z] for z in some] for some in (corners, rays)))

    answers: list[Isolated | Continuum] = [
        continuum(p) if p.dimension else isolated(p.vertices[0]) for p in found.pieces
    ]
    pushes = [push(z, 1) for p in found.pieces for z in p.vertices]
    still = all(x == 0 for p in found.pieces for z in p.rays for x in push(z, 0))
    same = still and pushes and all(x == pushes[0] for x in pushes)
    opening = isolated(found.pieces[0].vertices[0]).opening if same else None
    if found.count is None:
        return "undecided", answers, opening, found.reason or ""
    kind = "infinitely many" if found.count == "infinite" else NAMES.get(int(found.count), str(found.count))
    return kind, answers, opening, ""


def _answer(system: SlidingSystem, data: ExactSliding, found: Isolated) -> IsolatedSolution:
    floats = doubles(found.multipliers)
    multipliers = Multipliers(floats[: data.m_b], floats[data.m_b :])
    exact = [str(x) for x in found.multipliers]
    return IsolatedSolution(multipliers, exact, system.acceleration(multipliers), found.opening)


def open_question(system: SlidingSystem, tolerance: float) -> str:
    """Return why data within the tolerance might have another number of solutions; empty if none of them has."""
    with ball_arithmetic():
        return open_base(as_balls(system, tolerance).pair(), tolerance)


def open_base(pair: MatrixPair, tolerance: float) -> str:
    """The first base for which balls cannot decide whether it gives a solution; empty if all are decided."""
    m = pair.P.nrows()
    for a in index_sets(range(m)):
        where = "{" + ", ".join(map(str, a)) + "}"
        try:
            x = pair.columns(a).solve(pair.w).entries()
        except ZeroDivisionError:
            return f"within {tolerance:g} of the data the base {where} is singular (the minor of M_mu may vanish)"
        # C_a (s, -y) = -w.
        x = [v if j in a else -v for j, v in enumerate(x)]
        if not any(v < 0 for v in x) and not all(v > 0 for v in x):
            return f"within {tolerance:g} of the data an unknown of the base {where} has either sign"
    return ""


def open_p(system: SlidingSystem, tolerance: float) -> str:
    """Return why data within the tolerance might differ in whether M_mu is a P-matrix; empty if they do not."""
    if system.m_b + system.m_u > LARGEST_BALLS:
        return ""
    with ball_arithmetic():
        pair = as_balls(system, tolerance).pair()
        minors = {a: pair.columns(a).det() for a in index_sets(range(pair.P.nrows()))}
    signs = {1 if x > 0 else -1 if x < 0 else 0 for x in minors.values()}
    if {1, -1} <= signs or 0 not in signs:
        return ""
    a = next(a for a, x in minors.items() if not x > 0 and not x < 0)
    what = f"the minor of M_mu on {{{', '.join(map(str, a))}}}" if a else "det A"
    return f"within {tolerance:g} of the data {what} has either sign or vanishes"
