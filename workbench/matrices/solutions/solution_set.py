"""Every solution of 0 <= z perp M z + q >= 0, in exact arithmetic: none, isolated points, or a union of polyhedra.

For an index set a the solutions with z = 0 outside a and w = M z + q = 0 on a form a polyhedron; the solution set is
the union over all a (Cottle, Pang and Stone 1992, section 1.3). Up to `BY_BASES` unknowns all index sets are tried in
turn. Beyond, they are the leaves of a tree in which each branch fixes z_i or w_i to zero. A branch ends as soon as the
linear inequalities alone, without complementarity, have no solution: a dual simplex method in floating point, started
from its parent, proposes the row that makes it infeasible, and this row is then computed and checked exactly.
The vertices and rays of a polyhedron come from the double description of its homogeneous cone (Motzkin 1953; Fukuda
and Prodon 1996).
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.in_time import all_solutions, pivots, solution
from workbench.matrices.linear_algebra.rationals import dot, doubles, product
from workbench.support.arrays import index_sets

BY_BASES = 9
"""Largest number of unknowns for which all 2^n index sets are tried."""
PIVOTS = 20
"""Number of floating-point pivots per unknown after which a branch is divided without a verdict."""
ZERO = 1e-10
"""Size below which a scaled floating-point entry is neither a pivot nor negative."""

Vector = tuple[fmpq, ...]


@dataclass(frozen=True, eq=False)
class Piece:
    """A maximal polyhedral piece of the solution set: the hull of `vertices` plus the cone of `rays`, all exact (n).

    `support` holds the indices i whose z_i is positive somewhere on the piece; `dimension` is that of its affine hull.
    """

    dimension: int
    support: tuple[int, ...]
    vertices: list[Vector]
    rays: list[Vector]


@dataclass(frozen=True, eq=False)
class SolutionSet:
    """`count`: the number of solutions, "infinite", or None with the `reason` when the set was not found in time.

    `pieces` are the maximal ones, points (dimension 0) first; `dimension` is the largest, None without a solution.
    After an early end `pieces` holds those found so far.
    """

    count: int | str | None
    pieces: list[Piece]
    reason: str | None = None

    @property
    def dimension(self) -> int | None:
        return max((piece.dimension for piece in self.pieces), default=None)

    @property
    def points(self) -> list[Vector]:
        """The isolated solutions."""
        return [piece.vertices[0] for piece in self.pieces if piece.dimension == 0]


def solution_set(M: fmpq_mat, q: list[fmpq], deadline: float, unique: bool = False) -> SolutionSet:
    """All solutions z of LCP(q, M), M (n, n) and q (n) rational.

    `unique`: at most one solution is known to exist (M a P-matrix), so the search ends at the first one.
    """
    n = M.nrows()
    search = index_sets(range(n)) if n <= BY_BASES else leaves(M, q, deadline)
    found: dict[tuple, Piece] = {}
    reason = None
    try:
        for a in search:
            check_clock(deadline)
            piece = _polyhedron(M, q, a, deadline)
            if piece is not None:
                found[(frozenset(piece.vertices), frozenset(piece.rays))] = piece
                if unique:
                    break
    except OutOfTimeError:
        reason = f"{OUT_OF_TIME} before all index sets of {n} unknowns were seen"
    pieces = sorted(_maximal(M, q, list(found.values())), key=lambda p: (p.dimension, p.vertices))
    if any(piece.dimension for piece in pieces):
        return SolutionSet("infinite", pieces, reason)
    return SolutionSet(None if reason else len(pieces), pieces, reason)


def infeasibility(M: fmpq_mat, q: list[fmpq], deadline: float) -> list[fmpq] | None:
    """y (n) >= 0 with M^T y <= 0 and y . q < 0, so that no z >= 0 has M z + q >= 0; None if some z has.

    Floating point proposes the basis of the certificate; if it fails, rationals find it. Raises OutOfTimeError.
    """
    node, r = _made_feasible(_root(M, q))
    y = None if r is None else _forbidding(M, q, node, r, deadline)
    return y if y is not None else solve_inequalities(M, [-x for x in q], deadline)[1]


def first_solution(M: fmpq_mat, q: list[fmpq], deadline: float) -> list[fmpq] | None:
    """A solution z (n) of LCP(q, M); None if there is none, with every branch ended by an exact proof.

    Raises OutOfTimeError before either is known.
    """
    return next((z for a in leaves(M, q, deadline) if (z := _point(M, q, a, deadline)) is not None), None)


def _point(M: fmpq_mat, q: list[fmpq], a: tuple[int, ...], deadline: float) -> list[fmpq] | None:
    """A solution with z = 0 outside a and w = 0 on a."""
    n = M.nrows()
    if not a:
        return None if min(q) < 0 else [fmpq(0)] * n
    rows = [[M[i, j] for j in a] for i in range(n)] + [[-M[i, j] for j in a] for i in a]
    x, _ = solve_inequalities(fmpq_mat(rows), [*(-c for c in q), *(q[i] for i in a)], deadline)
    if x is None:
        return None
    value = dict(zip(a, x, strict=True))
    return [value.get(i, fmpq(0)) for i in range(n)]


@dataclass(frozen=True, eq=False)
class _Node:
    """A branch: floats T (n, k + 1) with x_basic = T (x_others, 1), unknowns 0 .. n - 1 being z, n .. 2 n - 1 w.

    z_i is free and w_i zero for i in `a`, w_i free and z_i zero for i in `b`; unknowns fixed at zero have no column.
    """

    T: NDArray[np.float64]
    basic: list[int]
    others: list[int]
    a: frozenset[int] = frozenset()
    b: frozenset[int] = frozenset()

    def is_fixed(self, unknown: int) -> bool:
        n = len(self.basic)
        return unknown in self.b if unknown < n else unknown - n in self.a


def leaves(
    M: fmpq_mat, q: list[fmpq], deadline: float, nodes_seen: list[list] | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield index sets a that include all those with a nonempty polyhedron. A branch ends by an exact proof only.

    The nodes are recorded in `nodes_seen`, in preorder: ["branch", i], ["none", y], or ["leaf", a]. Raises
    OutOfTimeError.
    """
    seen = [] if nodes_seen is None else nodes_seen
    n = M.nrows()
    nodes = [_root(M, q)]
    while nodes:
        check_clock(deadline)
        node, r = _made_feasible(nodes.pop())
        y = None if r is None else _forbidding(M, q, node, r, deadline)
        if y is not None:
            seen.append(["none", y])
            continue
        undecided = [i for i in range(n) if i not in node.a and i not in node.b]
        if not undecided:
            seen.append(["leaf", tuple(sorted(node.a))])
            yield tuple(sorted(node.a))
            continue
        # An index where complementarity fails at this vertex excludes it in both branches.
        value = dict(zip(node.basic, node.T[:, -1], strict=True))
        i = max(undecided, key=lambda i: value.get(i, 0.0) * value.get(n + i, 0.0))
        seen.append(["branch", i])
        nodes.append(_fixed(node, n + i, node.a | {i}, node.b))
        nodes.append(_fixed(node, i, node.a, node.b | {i}))


def _root(M: fmpq_mat, q: list[fmpq]) -> _Node:
    """The root: nothing is fixed, all w are basic."""
    n = M.nrows()
    table = np.column_stack([doubles(M), doubles(q)])
    # Powers of two are exact, and bring the entries of a row and of a column near one.
    with np.errstate(over="ignore", invalid="ignore"):
        for axis in (1, 0):
            largest = np.abs(table).max(axis=axis, keepdims=True)
            table = table * np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))
    return _Node(table, list(range(n, 2 * n)), list(range(n)))


def _made_feasible(node: _Node) -> tuple[_Node, int | None]:
    """Dual simplex in floating point; return also the row that seems to have no solution."""
    T, basic, others = node.T.copy(), list(node.basic), list(node.others)
    r = None
    for _ in range(PIVOTS * len(basic)):
        worst = int(T[:, -1].argmin())
        if not T[worst, -1] < -ZERO or not others:
            break
        c = int(T[worst, :-1].argmax())
        if not T[worst, c] > ZERO:
            r = worst
            break
        _exchange(T, basic, others, worst, c)
    if r is None:
        # A fixed unknown stays basic only in a row without coefficients.
        r = next((i for i, v in enumerate(basic) if node.is_fixed(v) and T[i, -1] > ZERO), None)
    return _Node(T, basic, others, node.a, node.b), r


def _exchange(T: NDArray, basic: list[int], others: list[int], r: int, c: int) -> None:
    """`exact_lp.exchange` in place."""
    p, column, row = T[r, c], T[:, c].copy(), T[r].copy()
    column[r], row[c] = p + 1, p - 1
    with np.errstate(over="ignore", invalid="ignore"):
        T -= np.outer(column, row / p)
    basic[r], others[c] = others[c], basic[r]


def _fixed(node: _Node, unknown: int, a: frozenset[int], b: frozenset[int]) -> _Node:
    """The node with this unknown fixed at zero."""
    T, basic, others = node.T.copy(), list(node.basic), list(node.others)
    if unknown in basic:
        r = basic.index(unknown)
        sizes = np.abs(T[r, :-1])
        if not sizes.size or not sizes.max() > ZERO:
            return _Node(T, basic, others, a, b)
        _exchange(T, basic, others, r, int(sizes.argmax()))
    c = others.index(unknown)
    return _Node(np.delete(T, c, axis=1), basic, others[:c] + others[c + 1 :], a, b)


def _forbidding(M: fmpq_mat, q: list[fmpq], node: _Node, r: int, deadline: float) -> list[fmpq] | None:
    """y (n) if exactly, in this basis, unknown r is a negative constant minus nonnegative multiples of the others; or,
    if it is fixed at zero, a positive constant plus such multiples. None if it is not.

    y . (w - M z - q) has coefficient one on unknown r (minus one in the second case) and zero on the other basic ones.
    Raises OutOfTimeError.
    """
    n = M.nrows()
    z = [v for v in node.basic if v < n]
    rows = [i for i in range(n) if n + i not in node.basic or node.basic[r] == n + i]
    y = [fmpq(0)] * n
    if node.basic[r] >= n:
        y[node.basic[r] - n] = fmpq(1)
        rows.remove(node.basic[r] - n)
    rhs = [fmpq(v == node.basic[r]) + sum((y[i] * M[i, v] for i in range(n) if y[i]), fmpq(0)) for v in z]
    if z:
        system = fmpq_mat([[-M[i, v] for i in rows] for v in z])
        try:
            multipliers = solution(system, fmpq_mat(len(z), 1, rhs), deadline).entries()
        except ZeroDivisionError:
            return None
        for i, value in zip(rows, multipliers, strict=True):
            y[i] = value
    constant = dot(y, q)
    if constant > 0 and node.is_fixed(node.basic[r]):
        y = [-value for value in y]
    elif constant >= 0:
        return None
    products = (fmpq_mat(1, n, y) * M).entries()
    return y if all((y[v - n] if v >= n else -products[v]) >= 0 for v in node.others) else None


def _polyhedron(M: fmpq_mat, q: list[fmpq], a: tuple[int, ...], deadline: float) -> Piece | None:
    """The solutions with z = 0 outside a and w = 0 on a; None when there are none."""
    n = M.nrows()
    B = fmpq_mat([[M[i, j] for j in a] + [-q[i]] for i in a]) if a else fmpq_mat(0, 1)
    found = all_solutions(B, deadline)
    if found is None:
        return None
    free, rows = found
    # z = basis (t, t_0) over the free entries t of z_a, then w = M z + q as functions of them.
    basis = [rows[a.index(i)] if i in a else [fmpq(0)] * (len(free) + 1) for i in range(n)]
    z = fmpq_mat(basis)
    if not free:
        point = tuple(z.entries())
        w = (M * z).entries()
        if min(point) < 0 or any(w[i] + q[i] < 0 for i in range(n) if i not in a):
            return None
        return _piece([point], [])
    activity: list[list[fmpq]] = (M * z).tolist()
    for i in range(n):
        activity[i][-1] += q[i]
    return polyhedron(z, [basis[i] if i in a else activity[i] for i in range(n)], deadline)


def polyhedron(z: fmpq_mat, constraints: list[list[fmpq]], deadline: float) -> Piece | None:
    """The points z (t, 1), z (n, k + 1), at which constraints (k + 1 numbers each) are >= 0; None when there are none.

    The cone c . (t, t_0) >= 0 for all constraints, t_0 >= 0, must be pointed. Raises OutOfTimeError.
    """
    k = z.ncols() - 1
    generators = _extreme_rays([*constraints, [fmpq(0)] * k + [fmpq(1)]], deadline)
    images = [(tuple(product(z, g)), g[-1]) for g in generators]
    vertices = [tuple(x / t_0 for x in image) for image, t_0 in images if t_0 > 0]
    rays = [_direction(image) for image, t_0 in images if t_0 == 0]
    return _piece(vertices, rays) if vertices else None


def _direction(ray: Vector) -> Vector:
    total = sum(map(abs, ray), fmpq(0))
    return tuple(x / total for x in ray)


def _piece(vertices: list[Vector], rays: list[Vector]) -> Piece:
    """The piece with sorted vertices; the absolute entries of a ray add up to one."""
    n, first = len(vertices[0]), vertices[0]
    spanned = [[x - y for x, y in zip(v, first, strict=True)] for v in vertices[1:]] + [list(r) for r in rays]
    dimension = fmpq_mat(spanned).rank() if spanned else 0
    support = tuple(i for i in range(n) if any(g[i] > 0 for g in (*vertices, *rays)))
    return Piece(int(dimension), support, sorted(vertices), sorted(rays))


def _extreme_rays(constraints: list[list[fmpq]], deadline: float) -> list[list[fmpq]]:
    """Extreme rays of the pointed cone {y : c . y >= 0 for every constraint c}, by double description."""
    d = len(constraints[0])
    chosen = pivots(*fmpq_mat(constraints).transpose().rref())
    columns = fmpq_mat([constraints[i] for i in chosen]).inv().transpose().tolist()
    # Each ray with the set of its active constraints.
    rays = [(list(ray), {i for i in chosen if i != chosen[j]}) for j, ray in enumerate(columns)]
    for i, row in enumerate(constraints):
        if i in chosen:
            continue
        check_clock(deadline)
        values = [dot(row, ray) for ray, _ in rays]
        new = [(ray, tight | {i} if v == 0 else tight) for (ray, tight), v in zip(rays, values, strict=True) if v >= 0]
        for (p, v), (m, u) in itertools.product(*(_signed(values, sign) for sign in (1, -1))):
            common = rays[p][1] & rays[m][1]
            adjacent = len(common) >= d - 2 and not any(
                common <= tight for j, (_, tight) in enumerate(rays) if j not in (p, m)
            )
            if adjacent:
                ray = [v * y - u * x for x, y in zip(rays[p][0], rays[m][0], strict=True)]
                new.append((ray, common | {i}))
        rays = new
    return [ray for ray, _ in rays]


def _signed(values: list[fmpq], sign: int) -> list[tuple[int, fmpq]]:
    return [(j, v) for j, v in enumerate(values) if sign * v > 0]


def _maximal(M: fmpq_mat, q: list[fmpq], pieces: list[Piece]) -> list[Piece]:
    """The pieces that lie in no other. One with z > 0 on s and w > 0 on t lies in another with s', t' iff the other's
    polyhedron admits it: where the other always has z_i = 0 or w_i = 0, so has this one."""
    positive = [(set(p.support), _rates(M, q, p)) for p in pieces]

    def within(i: int, j: int) -> bool:
        (s, t), (other_s, other_t) = positive[i], positive[j]
        return s <= other_s and t <= other_t

    # Pieces are distinct, so none lies within a point.
    wide = [j for j, piece in enumerate(pieces) if piece.dimension]
    return [
        piece
        for i, piece in enumerate(pieces)
        if not any(within(i, j) and (not within(j, i) or j < i) for j in wide if j != i)
    ]


def _rates(M: fmpq_mat, q: list[fmpq], piece: Piece) -> set[int]:
    """The indices i whose w_i is positive somewhere on the piece."""
    n = M.nrows()
    positive = set()
    for generators, constant in ((piece.vertices, 1), (piece.rays, 0)):
        for g in generators:
            w = product(M, g)
            positive |= {i for i in range(n) if w[i] + constant * q[i] > 0}
    return positive
