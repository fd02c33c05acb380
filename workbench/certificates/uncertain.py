"""Check what is claimed of the solutions of an LCP or MLCP with uncertain data. Standard library only.

    l <= z <= u,  w = M z + q,  w_i >= 0 where z_i = l_i,  <= 0 where z_i = u_i,  = 0 between;  LCP: l = 0, no u

for all |M - C| <= D, |q - c| <= d, and l_i, u_i between the ends of `lower`[i], `upper`[i]. With parts p, n >= 0 of
z = p - n, one of them zero, the largest and least w are C z + c +- (D (p + n) + d) (Oettli and Prager, Numer. Math. 6,
1964). z solves one of these problems if and only if least l <= z <= largest u, and each z_i is in one of the places

    between     largest w_i >= 0 >= least w_i
    lower       z_i <= largest l_i, and largest w_i >= 0
    upper       z_i >= least u_i, and least w_i <= 0

that its bounds allow. Where these fix the sign of z_k there is no other part. A cover is a list of nodes in preorder:

["branch", i]   what follows covers the branches of z_i between, lower and upper, as far as it has bounds; for i >= n
                those of z_(i - n) >= 0 and <= 0
["bound", y]    sign z_k >= value here: y >= 0 has one number for each row that holds here, and sign z_k - value is at
                least this combination. The rows are for each i in turn largest w_i >= 0 where there is no u_i, and
                -(least w_i) >= 0 where there is no l_i; for each i in turn z_i >= least l_i and z_i <= largest u_i, as
                far as signs of the parts do not say it; then of each place that is chosen, in increasing order of i,
                what it says of z_i, of the largest and of the least w_i, as far as no earlier row does
["none", y]     nothing solves the inequalities here: the combination is at most a negative number

Claims on "basis": every problem has a solution with these places, for an LCP written as the list of the unknowns that
are positive. With unknowns x = (z between bounds, w elsewhere) of G x = q + M z, z at its bounds elsewhere, any matrix
R and radii e, and the radii r of the bounds, Krawczyk's test

    |R (q + M z - G x)| + |R| (D |z| + d + (|C| + D) r) + (|I - R G| + |R| D) e < e

encloses x for all data, and x +- e stays in its place.
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.boxes import MatrixBox
from workbench.certificates.documents import check_fields
from workbench.certificates.exact import Rows, Vector, dot, index, indices, part, rational, times, transposed, vector
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import PremiseError, RefusedError, RefutedError
from workbench.certificates.symmetric import SymmetricBox, check_symmetric_bound

Support = dict[str, Any]
Bound = tuple[Fraction, Fraction] | None
Option = tuple[str, Rows, frozenset[int]]
"""A choice by name, rows that are nonnegative then, and parts that are zero."""
Chosen = dict[int, Option]
ZERO = Fraction(0)
BETWEEN, LOWER, UPPER = "between", "lower", "upper"


class Uncertain:
    """The box of M, q within d of c (n), and the ends of the bounds (n), None for no bound; an LCP without them."""

    def __init__(
        self, box: MatrixBox, c: Vector, d: Vector, lower: list[Bound] | None = None, upper: list[Bound] | None = None
    ) -> None:
        self.n, self.box, self.c, self.d = len(c), box, c, d
        self.is_lcp = lower is None or upper is None
        self.lower: list[Bound] = lower or [(ZERO, ZERO)] * self.n
        self.upper: list[Bound] = upper or [None] * self.n
        ends = list(zip(self.lower, self.upper, strict=True))
        self.parts = [
            (k, sign)
            for k, (low, high) in enumerate(ends)
            for sign in (1, -1)
            if (high is None or high[1] > 0 if sign > 0 else low is None or low[0] < 0)
        ]
        # Rows over (parts, 1) that are nonnegative at every solution.
        self.rows: Rows = []
        for i, (low, high) in enumerate(ends):
            self.rows += [] if high else [self._w(i, 1)]
            self.rows += [] if low else [self._w(i, -1)]
        for k, (low, high) in enumerate(ends):
            self.rows += self._beyond(k, 1, low[0])[0] if low else []
            self.rows += self._beyond(k, -1, -high[1])[0] if high else []

    def _w(self, i: int, sign: int) -> Vector:
        """The largest w_i, or minus the least."""
        C, D = self.box.C[i], self.box.D[i]
        return [*(sign * s * C[k] + D[k] for k, s in self.parts), sign * self.c[i] + self.d[i]]

    def _beyond(self, k: int, sign: int, value: Fraction) -> tuple[Rows, frozenset[int]]:
        """What says sign z_k >= value of the parts."""
        towards, against = ([j for j, part in enumerate(self.parts) if part == (k, s)] for s in (sign, -sign))
        zeros = frozenset(against if value >= 0 else [])
        if value == 0 or (value < 0 and not against):
            return [], zeros
        row = [ZERO] * len(self.parts) + [-value]
        for j in towards if value > 0 else against:
            row[j] = Fraction(1 if value > 0 else -1)
        return [row], zeros

    def is_fixed(self, i: int) -> bool:
        """Whether exact bounds leave one value to z_i."""
        return self.lower[i] is not None and self.lower[i] == self.upper[i] and len({*(self.lower[i] or ())}) == 1

    def options(self, i: int) -> list[Option]:
        """What z_i may be, or for i >= n the signs of z_(i - n); empty where there is no choice."""
        if i >= self.n:
            both = [j for j, (k, _) in enumerate(self.parts) if k == i - self.n]
            return [("sign", [], frozenset([j])) for j in reversed(both)] if len(both) == 2 else []
        low, high = self.lower[i], self.upper[i]
        if (low is None and high is None) or self.is_fixed(i):
            return []
        largest, least = [self._w(i, 1)] if high else [], [self._w(i, -1)] if low else []
        found: list[Option] = [(BETWEEN, [*largest, *least], frozenset())]
        if low:
            rows, zeros = self._beyond(i, -1, -low[1])
            found.append((LOWER, [*rows, *largest], zeros))
        if high:
            rows, zeros = self._beyond(i, 1, high[0])
            found.append((UPPER, [*rows, *least], zeros))
        return found

    def places(self, verdict: Any) -> list[str]:
        """The places (n) of a claim on the basis."""
        if self.is_lcp:
            a = set(indices(verdict, self.n, "the basis"))
            return [BETWEEN if i in a else LOWER for i in range(self.n)]
        if not isinstance(verdict, list) or len(verdict) != self.n:
            raise RefusedError(f"the basis is not a list of {self.n} places")
        for i, place in enumerate(verdict):
            if place not in (BETWEEN, LOWER, UPPER) or (place != BETWEEN and self._at(i, place) is None):
                raise RefusedError(f"the unknown {i} has no place {str(place)[:20]!r}")
        return verdict

    def _at(self, i: int, place: str) -> Bound:
        return self.lower[i] if place == LOWER else self.upper[i]

    def bound(self, i: int, place: str) -> tuple[Fraction, Fraction]:
        """Middle and radius of z_i at its bound."""
        low, high = self._at(i, place) or (ZERO, ZERO)
        return (low + high) / 2, (high - low) / 2


def check_solvable(p: Uncertain, verdict: Any, support: Support, known: dict[str, Any]) -> None:
    """Raise RefusedError unless every problem has "one" solution or "some", or "none" has any."""
    by = support.get("by")
    unique = ("P", "P") if p.is_lcp else ("uniqueness", "uniqueness")
    if (verdict, by) == ("one", unique[0]):
        check_fields(support, ("by",), "the support")
        if known.get(unique[1]) != "all":
            raise PremiseError(
                "that all matrices are P is not verified" if p.is_lcp else "uniqueness for all is not verified"
            )
    elif (verdict, by) == ("some", "basis"):
        check_fields(support, ("by",), "the support")
        if "basis" not in known:
            raise PremiseError("the basis is not verified")
    elif (verdict, by) == ("some", "compact"):
        check_fields(support, ("by",), "the support")
        if not all(p.lower) or not all(p.upper):
            raise RefutedError("an unknown has no lower or no upper bound")
    elif (verdict, by) == ("none", "cover"):
        check_fields(support, ("by", "cover"), "the support")
        _check_cover(p, None, ZERO, {}, support["cover"])
    else:
        raise RefusedError(f"{str(verdict)[:20]!r} cannot be proved by {str(by)[:20]!r}")


def check_basis(p: Uncertain, verdict: Any, support: Support) -> None:
    """Raise RefusedError unless every problem has a solution whose unknowns have the places of the verdict."""
    n, places = p.n, p.places(verdict)
    a = {i for i, place in enumerate(places) if place == BETWEEN}
    check_fields(support, ("centre", "radii", "R"), "the support")
    x, e = vector(support["centre"], n, "the centre"), vector(support["radii"], n, "the radii")
    if not isinstance(support["R"], list) or len(support["R"]) != n:
        raise RefusedError(f"R is not a list of {n} rows")
    R = [vector(row, n, "a row of R") for row in support["R"]]
    size = [[abs(v) for v in row] for row in R]
    C, D = p.box.C, p.box.D
    at = [(ZERO, ZERO) if i in a else p.bound(i, places[i]) for i in range(n)]
    fixed, r = [middle for middle, _ in at], [radius for _, radius in at]
    # G x = q + M z with z at its bounds: w = M z + q.
    G = [[-C[i][j] if j in a else Fraction(i == j) for j in range(n)] for i in range(n)]
    spread = [[D[i][j] if j in a else ZERO for j in range(n)] for i in range(n)]
    right = [q + v for q, v in zip(p.c, times(C, fixed), strict=True)]
    moduli = [abs(x[i]) if i in a else abs(fixed[i]) for i in range(n)]
    more = [dot([abs(v) + w for v, w in zip(C[i], D[i], strict=True)], r) for i in range(n)]
    off = [abs(v) for v in times(R, [q - v for q, v in zip(right, times(G, x), strict=True)])]
    moved = times(size, [u + v + d for u, v, d in zip(times(D, moduli), more, p.d, strict=True)])
    again = times(size, times(spread, e))
    columns = transposed(G)
    for i in range(n):
        check_time()
        rest = dot([abs((i == j) - dot(R[i], column)) for j, column in enumerate(columns)], e)
        if not off[i] + moved[i] + rest + again[i] < e[i]:
            raise RefutedError("the radii do not enclose the unknowns of the basis for all data")
        if not _stays(p, i, places[i], x[i], e[i]):
            raise RefutedError(f"the {'unknown' if i in a else 'slack'} {i} need not {_STAYS[places[i]]} on the basis")


_STAYS = {BETWEEN: "stay between its bounds", LOWER: "be positive", UPPER: "be negative"}


def _stays(p: Uncertain, i: int, place: str, x: Fraction, e: Fraction) -> bool:
    low, high = p.lower[i], p.upper[i]
    if place == BETWEEN:
        return (low is None or x - e > low[1]) and (high is None or x + e < high[0])
    return p.is_fixed(i) or (x > e if place == LOWER else x < -e)


def check_bounds(p: Uncertain, k: int, verdict: Any, support: Support, known: dict[str, Any]) -> None:
    """Raise RefusedError unless z_k of all solutions is within the verdict [lower, upper], None for no bound.

    `by` "cover" starts without choices, "basis" with the places of the verified basis, where every problem has one
    solution; "symmetric", for symmetric members and an LCP, proves bounds of an unknown of this basis (`symmetric`).
    """
    by = support.get("by")
    if not isinstance(verdict, list) or len(verdict) != 2:
        raise RefusedError("the verdict is not a pair of bounds")
    if by not in ("cover", "basis", "symmetric"):
        raise RefusedError(f"bounds cannot be proved by {str(by)[:20]!r}")
    ends = [name for name, end in zip(("lower", "upper"), verdict, strict=True) if end is not None]
    check_fields(support, ("by", *ends), "the support")
    start: Chosen = {}
    if by != "cover" and (known.get("P" if p.is_lcp else "uniqueness") != "all" or "basis" not in known):
        raise PremiseError("that there is one solution for all data, and the basis, are not verified")
    if by == "symmetric":
        _check_symmetric(p, k, verdict, support, known["basis"])
        return
    if by == "basis":
        for i, place in enumerate(p.places(known["basis"])):
            start.update((i, option) for option in p.options(i) if option[0] == place)
    for name, sign, end in (("lower", 1, verdict[0]), ("upper", -1, verdict[1])):
        if end is not None:
            _check_cover(p, (k, sign), sign * rational(end), start, support[name])


def _check_symmetric(p: Uncertain, k: int, verdict: list[Any], support: Support, basis: Any) -> None:
    """Raise RefusedError unless both ends hold for the symmetric members on the verified basis."""
    places = p.places(basis)
    a = [i for i, place in enumerate(places) if place == BETWEEN]
    if not (p.box.symmetric and p.is_lcp) or k not in a:
        raise RefusedError("bounds of symmetric members are for an unknown of the basis of an LCP")
    whole = SymmetricBox(part(p.box.C, a), part(p.box.D, a), [p.c[i] for i in a], [p.d[i] for i in a])
    for name, sign, end in (("lower", 1, verdict[0]), ("upper", -1, verdict[1])):
        if end is not None:
            check_symmetric_bound(whole, a.index(k), sign, sign * rational(end), support[name])


Goal = tuple[int, int]


def _check_cover(p: Uncertain, goal: Goal | None, value: Fraction, start: Chosen, cover: Any) -> None:
    if not isinstance(cover, list):
        raise RefusedError("the cover of all branches is not a list")
    nodes, stack = iter(cover), [start]
    while stack:
        check_time()
        chosen = stack.pop()
        node = next(nodes, None)
        if not isinstance(node, list) or len(node) != 2:
            raise RefusedError("a branch of the cover is missing")
        kind, data = node
        if kind == "branch":
            i = index(data, 2 * p.n, "the index of a branch")
            options = p.options(i)
            if i in chosen or not options:
                raise RefusedError(f"the cover branches on index {i}, which leaves no choice")
            stack += [chosen | {i: option} for option in reversed(options)]
        elif kind == "none" or (kind == "bound" and goal is not None):
            _check_leaf(p, goal if kind == "bound" else None, value, chosen, data)
        else:
            raise RefusedError(f"the cover has a node {str(node)[:40]}, which is none of branch, bound, none")
    if next(nodes, None) is not None:
        raise RefusedError("the cover continues after every branch has ended")


def _check_leaf(p: Uncertain, goal: Goal | None, value: Fraction, chosen: Chosen, y: Any) -> None:
    options = [chosen[i] for i in sorted(chosen)]
    rows = [*p.rows, *(row for option in options for row in option[1])]
    zeros = {j for option in options for j in option[2]}
    multipliers = vector(y, len(rows), "y")
    left = [-v for v in times(transposed(rows), multipliers)] or [ZERO] * (len(p.parts) + 1)
    # What the goal has beyond the combination, over (parts, 1): nowhere negative where the parts are not.
    if goal is not None:
        k, sign = goal
        for j, (unknown, s) in enumerate(p.parts):
            left[j] += sign * s * (unknown == k)
        left[-1] -= value
    last = left.pop()
    where = ", ".join(f"{i} {option[0]}" for i, option in sorted(chosen.items()))
    if min(multipliers, default=ZERO) < 0 or any(v < 0 for j, v in enumerate(left) if j not in zeros):
        raise RefutedError(f"y is no combination for the branch of {where}")
    if last < 0 if goal is not None else last <= 0:
        raise RefutedError(f"y does not prove the branch of {where}")
