"""Does a witness prove its verdict? Definitions in Python's own fractions, no code in common with what finds them."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

Rows = list[list[Fraction]]


def verify_witness(name: str, M: Rows, witness: dict[str, Any]) -> str | None:
    """The verdict on class `name` that the witness proves for M (n, n): "yes", "no", or None when it proves nothing.

    Numbers of the witness are "p/q" strings or integers, indices count from zero; see `matrix_classes` for the classes.
    """
    n = len(M)
    vectors = {key: [Fraction(value) for value in witness[key]] for key in "xyzdq" if key in witness}
    if any(len(v) != n for v in vectors.values()):
        return None
    x, y, z, d, q = (vectors.get(key) for key in "xyzdq")
    if name in ("H_plus", "M") and d:
        off = [[-abs(v) if name == "H_plus" and i != j else v for j, v in enumerate(row)] for i, row in enumerate(M)]
        is_z = all(off[i][j] <= 0 for i in range(n) for j in range(n) if i != j)
        return "yes" if is_z and min(d) > 0 and min(_times(off, d)) > 0 else None
    if name == "S" and x:
        return "yes" if min(x) >= 0 and min(_times(M, x)) > 0 else None
    if name == "S" and y:
        return "no" if min(y) >= 0 and any(y) and max(_times(_transposed(M), y)) <= 0 else None
    if name in ("Q", "Q0") and q:
        feasible = name == "Q" or (z and min(z) >= 0 and min(w + c for w, c in zip(_times(M, z), q, strict=True)) >= 0)
        return "no" if feasible and not _is_solvable(M, q) else None
    if name in ("Z", "M") and "entry" in witness:
        i, j = witness["entry"]
        return "no" if i != j and M[i][j] > 0 else None
    if "index_set" in witness:
        return "no" if _minor_contradicts(name, M, witness["index_set"]) else None
    return "no" if x and any(x) and _vector_contradicts(name, M, x) else None


def _minor_contradicts(name: str, M: Rows, a: list[int]) -> bool:
    if not a or len(set(a)) != len(a):
        return False
    sign = -1 if name == "H_plus" else 1
    minor = _determinant(
        [[M[i][j] if i == j else sign * (abs(M[i][j]) if sign < 0 else M[i][j]) for j in a] for i in a]
    )
    return {"P": minor <= 0, "M": minor <= 0, "H_plus": minor <= 0, "P0": minor < 0, "nondegenerate": minor == 0}.get(
        name, False
    )


def _vector_contradicts(name: str, M: Rows, x: list[Fraction]) -> bool:
    image = _times(_transposed(M) if name == "row_sufficient" else M, x)
    products = [u * v for u, v in zip(x, image, strict=True)]
    form, nonnegative = sum(products), min(x) >= 0
    gradient = [u + v for u, v in zip(_times(M, x), _times(_transposed(M), x), strict=True)]
    inside = [v for u, v in zip(x, image, strict=True) if u > 0]
    return {
        "PD": form <= 0,
        "PSD": form < 0,
        "column_sufficient": max(products) <= 0 and min(products) < 0,
        "row_sufficient": max(products) <= 0 and min(products) < 0,
        "copositive": nonnegative and form < 0,
        "strictly_copositive": nonnegative and form <= 0,
        "copositive_plus": nonnegative and (form < 0 or (form == 0 and any(gradient))),
        "E0": nonnegative and max(inside, default=Fraction(0)) < 0,
        "E": nonnegative and max(inside, default=Fraction(1)) <= 0,
        "R0": nonnegative and min(image) >= 0 and not any(products),
        "P": max(products) <= 0,
    }.get(name, False)


def _times(M: Rows, x: list[Fraction]) -> list[Fraction]:
    return [sum((u * v for u, v in zip(row, x, strict=True)), Fraction(0)) for row in M]


def _transposed(M: Rows) -> Rows:
    return [list(column) for column in zip(*M, strict=True)]


def _determinant(M: Rows) -> Fraction:
    """Laplace's expansion is too slow; elimination with the first nonzero pivot."""
    rows, product = [list(row) for row in M], Fraction(1)
    for k in range(len(rows)):
        p = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if p is None:
            return Fraction(0)
        if p != k:
            rows[k], rows[p], product = rows[p], rows[k], -product
        product *= rows[k][k]
        for i in range(k + 1, len(rows)):
            f = rows[i][k] / rows[k][k]
            rows[i] = [u - f * v for u, v in zip(rows[i], rows[k], strict=True)]
    return product


def _is_solvable(M: Rows, q: list[Fraction]) -> bool:
    """Whether some index set a has z_a >= 0, (M z + q)_a = 0, M z + q >= 0, by elimination of the z_a one by one."""
    n = len(M)
    return any(_is_feasible(*_system(M, q, a)) for k in range(n + 1) for a in combinations(range(n), k))


def _system(M: Rows, q: list[Fraction], a: tuple[int, ...]) -> tuple[Rows, Rows]:
    """Equations and inequalities in z_a as rows (coefficients, constant): = 0 and >= 0."""
    rows = [[M[i][j] for j in a] + [q[i]] for i in range(len(M))]
    signs = [[Fraction(j == k) for k in range(len(a))] + [Fraction(0)] for j in range(len(a))]
    return [rows[i] for i in a], [rows[i] for i in range(len(M)) if i not in a] + signs


def _is_feasible(equations: Rows, inequalities: Rows) -> bool:
    """Gauss on the equations, Fourier and Motzkin on what is left."""
    unknowns = len((equations + inequalities)[0]) - 1
    while equations:
        first, *equations = equations
        column = next((k for k in range(unknowns) if first[k]), None)
        if column is None:
            if first[-1]:
                return False
            continue
        equations = list(_eliminated(equations, first, column))
        inequalities = list(_eliminated(inequalities, first, column))
    for column in range(unknowns):
        below, above = ([row for row in inequalities if sign * row[column] > 0] for sign in (1, -1))
        inequalities = [row for row in inequalities if not row[column]]
        inequalities += [
            [u / low[column] - v / high[column] for u, v in zip(low, high, strict=True)]
            for low in below
            for high in above
        ]
    return all(row[-1] >= 0 for row in inequalities)


def _eliminated(rows: Rows, pivot: list[Fraction], column: int) -> Iterator[list[Fraction]]:
    for row in rows:
        f = row[column] / pivot[column]
        yield [u - f * v for u, v in zip(row, pivot, strict=True)]
