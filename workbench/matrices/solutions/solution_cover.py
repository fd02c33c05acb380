"""A proof that an LCP has no other solutions: a tree of complementary branches, as in `certificates.solutions`."""

from typing import Any

from flint import fmpq, fmpq_mat

from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.rationals import Vector, as_text, submatrix
from workbench.matrices.solutions.solution_set import SolutionSet, leaves


def support_of(M: fmpq_mat, q: Vector, found: SolutionSet, deadline: float) -> dict[str, Any]:
    """The proof of the count of `found`, which is complete. Raises OutOfTimeError."""
    if found.count == "infinite":
        piece = next(piece for piece in found.pieces if piece.dimension)
        first = list(piece.vertices[0])
        second = (
            list(piece.vertices[1])
            if len(piece.vertices) > 1
            else [x + y for x, y in zip(first, piece.rays[0], strict=True)]
        )
        return {"points": [as_text(first), as_text(second)]}
    points = [list(point) for point in found.points]
    return {"points": [as_text(point) for point in points], "cover": cover(M, q, points, deadline)}


def cover(M: fmpq_mat, q: Vector, points: list[Vector], deadline: float) -> list[list]:
    """The nodes of a tree that covers all z, given all `points` that solve LCP(q, M), finitely many."""
    nodes: list[list] = []
    for _ in leaves(M, q, deadline, nodes):
        pass
    closed = []
    for kind, *data in nodes:
        if kind == "branch":
            closed.append([kind, *data])
        elif kind == "none":
            closed.append([kind, as_text(data[0])])
        else:
            closed.append(_closed(M, q, data[0], points, deadline))
    return closed


def _closed(M: fmpq_mat, q: Vector, a: tuple[int, ...], points: list[Vector], deadline: float) -> list:
    """The branch with w = 0 on a and z = 0 elsewhere: no solution, or one of the points alone."""
    n = M.nrows()
    if not a:
        worst = min(range(n), key=lambda i: q[i])
        if q[worst] < 0:
            return ["none", as_text([fmpq(i == worst) for i in range(n)])]
    else:
        rows = [[M[i, j] for j in a] for i in range(n)] + [[-M[i, j] for j in a] for i in a]
        _, y = solve_inequalities(fmpq_mat(rows), [*(-c for c in q), *(q[i] for i in a)], deadline)
        if y is not None:
            minus = dict(zip(a, y[n:], strict=True))
            return ["none", as_text([y[i] - minus.get(i, fmpq(0)) for i in range(n)])]
    k, z = next(
        (k, z)
        for k, z in enumerate(points)
        if not any(z[i] for i in range(n) if i not in a) and not any(_rate(M, q, z, i) for i in a)
    )
    return ["point", k, as_text(_pinning(M, q, a, z, deadline))]


def _rate(M: fmpq_mat, q: Vector, z: Vector, i: int) -> fmpq:
    return sum((M[i, j] * z[j] for j in range(len(z)) if z[j]), q[i])


def _pinning(M: fmpq_mat, q: Vector, a: tuple[int, ...], z: Vector, deadline: float) -> Vector:
    """c >= 0 on the unknowns of the branch that are zero at z, with c . unknowns = 0 throughout it, with as many
    c_i > 0 as possible. Zero if M_aa is nonsingular, which already determines z."""
    n, c = M.nrows(), [fmpq(0)] * M.nrows()
    if not a or submatrix(M, a).det() != 0:
        return c
    rows = {i: [fmpq(i == j) for j in a] if i in a else [M[i, j] for j in a] for i in range(n)}
    zero = [i for i in range(n) if (z[i] if i in a else _rate(M, q, z, i)) == 0]
    equations = [[M[i, j] for j in a] for i in a]
    # Unknowns: c on the zeros, and the multipliers of the equations, positive and negative parts. The constants need
    # no separate equation: z itself is a point of the branch where everything vanishes.
    columns = [rows[i] for i in zero] + equations + [[-x for x in row] for row in equations]
    balance = [[column[k] for column in columns] for k in range(len(a))]
    for position, i in enumerate(zero):
        if c[i]:
            continue
        wanted = [fmpq(j == position) for j in range(len(columns))]
        A = fmpq_mat([*balance, *([-x for x in row] for row in balance), wanted])
        x, _ = solve_inequalities(A, [fmpq(0)] * (2 * len(a)) + [fmpq(1)], deadline)
        if x is not None:
            for where, j in enumerate(zero):
                c[j] += x[where]
    return c
