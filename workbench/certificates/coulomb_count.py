"""Check the number of solutions of Coulomb's law for one q, in rationals. Standard library only.

In the plane, kind "modes", and for one contact in space, kind "directions"; kind "islands", each {contacts, support}:
the product of the numbers of islands, contacts whose velocities depend on their own impulses only. A mode without
sliding in space is linear: where its equations are regular it has the one point that they give, where they have no
solution none; everything else is refused. Contacts between two modes are counted once, since the same p is.

One contact that slides in space has p_t = -mu p_n e with D p_n = -q_n, D = W_nn - mu W_nt.e, and u_t along e. With
t normal to e, D t.u_t = t.(D q_t - q_n (W_tn - mu W_tt e)) = 0 is a quartic in the tangent of half the angle of e. Its
`brackets` (lo, hi] hold one root each, by Sturm's theorem, and as many as there are; e = (-1, 0) is tried apart. A root
is a solution if -q_n D > 0 and -q_n D e.u_t > 0, and none if one of them is negative; neither has a root in the
bracket.
"""

import itertools
from fractions import Fraction
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import dot, is_sparse, rank, solve, vector
from workbench.certificates.friction import Friction, solves_coulomb
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError
from workbench.certificates.polynomials import (
    DIRECTION,
    ROUND,
    ZERO,
    Polynomial,
    added,
    number_of_roots,
    product,
    scaled,
    sturm_chain,
    value,
)

COUNT = "number of solutions of Coulomb's law"
"""What the claim is about."""


def check_count(p: Friction, verdict: Any, support: dict[str, Any]) -> None:
    """Raise RefusedError unless Coulomb's law has exactly `verdict` solutions."""
    if type(verdict) is not int:
        raise RefusedError("the number of solutions is not a whole number")
    found = count(p, support)
    if found != verdict:
        raise RefutedError(f"it has {found}")


def count(p: Friction, support: dict[str, Any]) -> int:
    """The number of solutions, with the help of the support. RefusedError where it does not suffice."""
    kind = support.get("kind")
    if kind == "islands":
        check_fields(support, ("kind", "islands"), "the support")
        return _of_islands(p, support["islands"])
    if is_sparse(p.W):
        raise RefusedError("a number of solutions is checked island by island for a large W")
    if p.d == 1 and kind == "modes":
        check_fields(support, ("kind",), "the support")
        return len(_points(p))
    if p.d == 2 and len(p.mu) == 1 and kind == "directions":
        check_fields(support, ("kind", "brackets"), "the support")
        return len(_points(p)) + (_slides(p, support["brackets"]) if p.mu[0] else 0)
    raise RefusedError("a number of solutions is checked in the plane, and of one contact in space")


def _of_islands(p: Friction, islands: Any) -> int:
    """The product of the numbers of islands that share out all contacts."""
    total = 1
    for island, support in p.islands(islands):
        if support.get("kind") == "islands":
            raise RefusedError("an island has no islands")
        total *= count(island, support)
    return total


def _points(p: Friction) -> set[tuple[Fraction, ...]]:
    """The solutions in all modes without sliding in space."""
    r, d, found = len(p.mu), p.d, set()
    for senses in itertools.product(*((None, 0, *((1, -1) if d == 1 else ())) if mu else (None, 1) for mu in p.mu)):
        check_time()
        columns: list[dict[int, Fraction]] = []
        rows = []
        for i, (sense, mu) in enumerate(zip(senses, p.mu, strict=True)):
            tangents = range(r + d * i, r + d * (i + 1))
            if sense is None:
                continue
            columns.append({i: Fraction(1), **({tangents[0]: -sense * mu} if sense and mu else {})})
            rows.append(i)
            if not sense:
                columns += [{k: Fraction(1)} for k in tangents]
                rows += tangents
        A = [[sum((p.W[i][j] * x for j, x in column.items()), ZERO) for column in columns] for i in rows]
        b = [-p.q[i] for i in rows]
        y = solve(A, b)
        if y is None:
            if rank(A) == rank([[*row, x] for row, x in zip(A, b, strict=True)]):
                raise RefusedError("the equations of a mode are singular, so that its solutions are not counted")
            continue
        impulses = [ZERO] * len(p.q)
        for column, impulse in zip(columns, y, strict=True):
            for j, x in column.items():
                impulses[j] += impulse * x
        if solves_coulomb(p, impulses):
            found.add(tuple(impulses))
    return found


def _slides(p: Friction, brackets: Any) -> int:
    """The number of solutions in which the one contact slides in space."""
    a, *c = p.W[0]
    if not isinstance(brackets, list):
        raise RefusedError("the brackets are not a list")
    if not p.q[0]:
        if a > 0 and a * a > p.mu[0] ** 2 * dot(c, c):
            return 0
        raise RefusedError("q_n is zero, and D may be")
    across, signs = directions(p)
    if not across:
        raise RefusedError("every direction satisfies the equations of sliding")
    found = 0
    if len(across) < 5:
        # e = (-1, 0), where the tangent is infinite: the leading coefficients are the values.
        found += _slips(
            [(f[top] > 0) - (f[top] < 0) if len(f) > top else 0 for f, top in zip(signs, (2, 4), strict=True)]
        )
    chain = sturm_chain(across)
    ends = [vector(bracket, 2, "a bracket") for bracket in brackets]
    if any(lo >= hi for lo, hi in ends) or any(x[1] > y[0] for x, y in itertools.pairwise(sorted(ends))):
        raise RefusedError("the brackets overlap, or are empty")
    if any(number_of_roots(chain, lo, hi) != 1 for lo, hi in ends) or number_of_roots(chain) != len(ends):
        raise RefutedError("the brackets do not hold one direction each, and all of them")
    for lo, hi in ends:
        if any(not f or number_of_roots(sturm_chain(f), lo, hi) for f in signs):
            raise RefusedError("a direction may be between sliding and another mode")
        found += _slips([1 if value(f, hi) > 0 else -1 for f in signs])
    return found


def directions(p: Friction) -> tuple[Polynomial, list[Polynomial]]:
    """D t.u_t of one contact in space, and -q_n D and -q_n D e.u_t, times powers of 1 + s^2; s is the tangent of half
    the angle of e."""
    (a, *c), mu, q = p.W[0], p.mu[0], p.q
    x, y = DIRECTION
    D = added(scaled(a, ROUND), scaled(-mu * c[0], x), scaled(-mu * c[1], y))
    u = []
    for (b, *B), slip in zip(p.W[1:], q[1:], strict=True):
        moved = added(scaled(mu * B[0], x), scaled(mu * B[1], y), scaled(-b, ROUND))
        u.append(added(scaled(slip, D), scaled(q[0], moved)))
    across = added(product(x, u[1]), scaled(Fraction(-1), product(y, u[0])))
    along = added(product(x, u[0]), product(y, u[1]))
    return across, [scaled(-q[0], D), scaled(-q[0], along)]


def _slips(signs: list[int]) -> int:
    if min(signs) == 0:
        raise RefusedError("a direction is between sliding and another mode")
    return int(min(signs) > 0)
