"""Uniqueness of solutions of Coulomb's law for every q: a closed criterion for one contact, in exact arithmetic.

With a = W_nn, c = W_nt, b = W_tn, B = W_tt, and t normal to the unit sliding direction e: the law at one contact has
exactly one solution for every q if

    space   a - mu c.e > 0  and  (a - mu c.e) t.Bt - (c.t) (b.t - mu t.Be) > 0  for all e,
    plane   a - mu |c| > 0  and  det W > 0,

and more than one for some q if one of these is negative somewhere (our own result; W need not be symmetric).

Proof. The law's graph is a cone, homeomorphic to the space by y = (p_n - u_n, p_t - u_t), and q = u - W p is a
piecewise smooth map of y. The sign of its Jacobian is that of 1 where the contact is open, of det W where it sticks, of
(a - mu c.e) (t.Bt + h) - (c.t) (b.t - mu t.Be), h = |u_t| / (mu p_n) > 0, where it slides. Neighbouring pieces differ
by a matrix of rank one, so that nothing vanishes between them. If all signs are positive, the map is a local
homeomorphism except at zero, positively homogeneous, hence a covering of the space without zero: in space this is
simply connected, in the plane the map winds once, since each of the three pieces other than "open" winds by less than
half a turn. If signs differ, the map is not injective, since injective maps preserve orientation. With K the adjugate
of W the second condition in space is e.K_tt e + mu K_nt.e > 0, a quartic in the tangent of half the angle; its mean
over e and -e is e.K_tt e > 0, and det K_tt = a det W then gives det W > 0, so that sticking needs no condition. As
a K_nt = -c.K_tt, it is (e - mu c / a).K_tt e > 0, which at e = c / |c| gives the first condition where a > 0. Both
conditions become stricter as mu grows. Without friction the condition is a > 0.

With several contacts each alone must have at most one solution: where one has two, any sufficiently large q_n at the
others opens these in both.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from workbench.matrices.linear_algebra.rationals import Vector, as_text, dot, nearest_double
from workbench.matrices.paths.roots import irreducible_factors, isolated
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import Array

NEAR = (1e-13, 1e-11, 1e-8)
"""Relative distances of exact brackets around the critical friction computed in floating point."""
HALVINGS = 50
"""Relative width of its bracket where none of these holds."""
SAMPLES = 2000
"""Number of directions of a half turn among which the worst is searched, and again around it."""
SLOPES = 32
"""Number of directions of an eighth turn, by the tangent of half their angle, that are tried first as witnesses."""


@dataclass(frozen=True, eq=False)
class ContactUniqueness:
    """One contact: "unique", "not unique" or "undecided" (on the boundary of the criterion), and the evidence.

    `contact` counts from zero. `critical`: (lo, hi) with one solution for every q below lo and more for some q above
    hi, for the friction coefficient of this contact; zero where W itself fails, None for infinity. `q` (1 + d): for
    "not unique" a q that has more than one solution, one of which, `p` (1 + d), has a negative determinant; both None
    where the failure is at a singular stick.
    """

    contact: int
    verdict: str
    proof: str
    critical: tuple[fmpq, fmpq] | None
    q: Vector | None = None
    p: Vector | None = None

    def entry(self) -> dict[str, Any]:
        """Ready for JSON."""
        bracket = None if self.critical is None else [nearest_double(x) for x in self.critical]
        return {
            "contact": self.contact, "verdict": self.verdict, "proof": self.proof, "critical_mu": bracket,
            "q": as_text(self.q), "p": as_text(self.p),
        }  # fmt: skip


def holds_strictly(friction: RationalFriction) -> bool:
    """Decide if the criterion holds strictly for a problem of one contact, without its critical friction."""
    return _decided(friction.W, friction.mu[0])[0] == "unique"


def contact_uniqueness(friction: RationalFriction, i: int = 0) -> ContactUniqueness:
    """The criterion at contact i, with the others open."""
    r, d = len(friction.mu), friction.d
    rows = [i, *range(r + d * i, r + d * (i + 1))]
    W, mu = fmpq_mat([[friction.W[j, k] for k in rows] for j in rows]), friction.mu[i]
    verdict, e = _decided(W, mu)
    critical = _critical(W)
    if verdict == "unique":
        return ContactUniqueness(i, verdict, "the closed criterion for one contact holds", critical)
    if verdict == "undecided":
        return ContactUniqueness(i, verdict, "the closed criterion for one contact holds with equality", critical)
    proof = "the closed criterion for one contact fails"
    if e is None:
        return ContactUniqueness(i, verdict, proof, critical)
    p = [fmpq(1), *(-mu * x for x in e)]
    slip = _slip(W, mu, e)
    u = [fmpq(0), *(slip * x for x in e)]
    q = [x - y for x, y in zip(u, (W * fmpq_mat(1 + d, 1, p)).entries(), strict=True)]
    return ContactUniqueness(i, verdict, proof, critical, q, p)


def determinant(W: fmpq_mat, mu: fmpq, e: Vector, h: fmpq) -> fmpq:
    """The determinant of a slide in the unit direction e, h = |u_t| / (mu p_n); in the plane without h."""
    a, c = W[0, 0], [W[0, 1 + k] for k in range(len(e))]
    stiff = a - mu * dot(c, e)
    if len(e) == 1:
        return stiff
    t = [-e[1], e[0]]
    across = [sum((W[1 + k, 1 + m] * t[k] for k in range(2)), fmpq(0)) for m in range(2)]
    left = W[1, 0] * t[0] + W[2, 0] * t[1]
    return stiff * (dot(across, t) + h) - dot(c, t) * (left - mu * dot(across, e))


def _slip(W: fmpq_mat, mu: fmpq, e: Vector) -> fmpq:
    """A slip for p_n = 1 with a negative determinant in the direction e, negative for small or for large h."""
    h = fmpq(1)
    shrinks = determinant(W, mu, e, fmpq(0)) < 0
    while determinant(W, mu, e, h) >= 0:
        h = h / 2 if shrinks else h * 2
    return h * mu


def _decided(W: fmpq_mat, mu: fmpq) -> tuple[str, Vector | None]:
    """The verdict, and a direction in which a slide has a negative determinant, if there is one."""
    a, d = W[0, 0], W.nrows() - 1
    if mu == 0:
        return ("unique" if a > 0 else "undecided" if a == 0 else "not unique"), None
    if d == 1:
        values = [a - mu * W[0, 1], a + mu * W[0, 1]]
        least = min(values)
        if least < 0:
            return "not unique", [fmpq(1 if values[0] < 0 else -1)]
        # At equality on one side the sign of the other pieces decides.
        det = W.det()
        if det < 0 and max(values) > 0:
            return "not unique", None
        return ("unique" if least > 0 and det > 0 else "undecided"), None
    K = _adjugate(W)
    quartic = _over_the_circle(
        [[K[1 + j][1 + k] for k in range(2)] for j in range(2)], [mu * K[0][1 + k] for k in range(2)]
    )
    straight = K[1][1] - mu * K[0][1]
    roots = isolated(list(irreducible_factors(quartic.numer()).values())) if quartic.degree() > 0 else []
    # The first condition follows.
    if a > 0 and quartic(fmpq(0)) > 0 and straight > 0 and not roots:
        return "unique", None
    # Both conditions are examined between the roots of the second, and where the first is smallest.
    for e in _directions(W, [(r.lo, r.hi) for r, _ in roots]):
        if determinant(W, mu, e, fmpq(0)) < 0 or a - mu * (W[0, 1] * e[0] + W[0, 2] * e[1]) < 0:
            return "not unique", e
    return "undecided", None


def _directions(W: fmpq_mat, roots: list[tuple[fmpq, fmpq]]) -> list[Vector]:
    """Rational unit directions: around the circle, between neighbouring roots of the quartic, and towards W_nt."""
    found = []
    for k in range(-SLOPES, SLOPES + 1):
        x, y = _unit(fmpq(k, SLOPES))
        found += [[x, y], [-x, y]]
    ends = [x for lo, hi in roots for x in (lo, hi)]
    between = [(x + y) / 2 for x, y in zip(ends[1::2], ends[2::2], strict=False)]
    if ends:
        between += [ends[0] - 1, ends[-1] + 1]
    found += map(_unit, between)
    along, across = nearest_double(W[0, 1]), nearest_double(W[0, 2])
    size = math.hypot(along, across)
    if 0 < size < math.inf:
        # The tangent of half the angle is y / (size + x); on the far side the circle is traversed in reverse.
        cosine, sine = _unit(fmpq(round(abs(across) / (size + abs(along)) * 2**60), 2**60))
        found.append([cosine if along >= 0 else -cosine, sine if across >= 0 else -sine])
    return found


def _unit(half: fmpq) -> Vector:
    """The unit vector at the angle whose half has this tangent."""
    return [(1 - half * half) / (1 + half * half), 2 * half / (1 + half * half)]


def _adjugate(W: fmpq_mat) -> list[list[fmpq]]:
    def minor(i: int, j: int) -> fmpq:
        (a, b), (c, d) = [[W[k, m] for m in range(3) if m != j] for k in range(3) if k != i]
        return (a * d - b * c) * (-1) ** (i + j)

    return [[minor(j, i) for j in range(3)] for i in range(3)]


def _over_the_circle(P: list[Vector], r: Vector) -> fmpq_poly:
    """(1 + t^2)^2 (e.P e + r.e) with e at the angle whose half has the tangent t."""
    x, y, one = fmpq_poly([1, 0, -1]), fmpq_poly([0, 2]), fmpq_poly([1, 0, 1])
    square = x * x * P[0][0] + x * y * (P[0][1] + P[1][0]) + y * y * P[1][1]
    return square + one * (x * r[0] + y * r[1])


def _critical(W: fmpq_mat) -> tuple[fmpq, fmpq] | None:
    """Bracket the friction at which the criterion fails; it holds below and fails above, so bisection is safe."""
    zero, top = fmpq(0), fmpq(1)
    # For any friction, however small, sticking and sliding require more of W than a > 0.
    if not _holds_near_zero(W):
        return zero, zero
    free = [W[0, 1 + k] for k in range(W.nrows() - 1)]
    if not any(free) and (W.nrows() == 2 or not any(_adjugate(W)[0][1:])):
        return None
    if W.nrows() == 2:
        root = W[0, 0] / abs(free[0])
        return root, root
    guess = _least_ratio(W)
    for near in NEAR if math.isfinite(guess) else ():
        low, high = (fmpq(*(guess * (1 + sign * near)).as_integer_ratio()) for sign in (-1, 1))
        if _decided(W, low)[0] == "unique" and _decided(W, high)[0] != "unique":
            return low, high
    while _decided(W, top)[0] == "unique":
        top *= 2
    low = zero if top == 1 else top / 2
    for _ in range(HALVINGS):
        middle = (low + top) / 2
        low, top = (middle, top) if _decided(W, middle)[0] == "unique" else (low, middle)
    return low, top


def _least_ratio(W: fmpq_mat) -> float:
    """The critical friction in floating point: the minimum of a / |c| and e.K_tt e / |K_nt.e|."""
    K = _adjugate(W)
    top = max(abs(x) for row in K for x in row)
    P = np.array([[nearest_double(K[1 + j][1 + k] / top) for k in range(2)] for j in range(2)])
    r = np.array([nearest_double(K[0][1 + k] / top) for k in range(2)])
    size = math.hypot(*(nearest_double(W[0, 1 + k] / W[0, 0]) for k in range(2)))

    def ratio(angle: Array) -> Array:
        e = np.stack([np.cos(angle), np.sin(angle)])
        with np.errstate(divide="ignore"):
            return np.asarray((e * (P @ e)).sum(axis=0) / np.abs(r @ e))

    middle, half = 0.5 * math.pi, 0.5 * math.pi
    while half > 1e-9:
        angles = middle + np.linspace(-half, half, SAMPLES)
        middle, half = float(angles[np.argmin(ratio(angles))]), 4 * half / SAMPLES
    return min(1 / size if size > 0 else math.inf, float(ratio(np.array([middle]))[0]))


def _holds_near_zero(W: fmpq_mat) -> bool:
    if W.nrows() == 2:
        return bool(W[0, 0] > 0 and W.det() > 0)
    K = _adjugate(W)
    x, both, y = K[1][1], K[1][2] + K[2][1], K[2][2]
    return bool(W[0, 0] > 0 and x > 0 and 4 * x * y > both * both)
