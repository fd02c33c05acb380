"""Check whether a sparse factor proves a large matrix positive definite. Standard library only.

With S = M + M^T, an `order` of the indices, `powers` of two e and a lower triangular G of integers, given by the
columns and the entries of each row, 2^e_i S_ij 2^e_j - 4^-bits (G G^T)_ij in that order is strictly diagonally dominant
with a positive diagonal: then S is positive definite. That M is P is proved by w > 0 and the same for diag(w) M.
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import SparseRows, indices, symmetric, vector
from workbench.certificates.factors import LARGEST_POWER, whole_numbers
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError, TooLongError

FIELDS = ("order", "powers", "bits", "G")


def check(M: SparseRows, name: str, verdict: str, support: dict[str, Any]) -> None:
    """Raise RefusedError unless the factor proves M positive definite (PD), or P with weights w."""
    if verdict != "yes" or name not in ("PD", "P"):
        raise RefusedError(f"a {verdict} to {name} cannot be proved by a factor")
    check_fields(support, ("by", *FIELDS, *(["w"] if name == "P" else [])), "the support")
    n = len(M)
    if name == "P":
        w = vector(support["w"], n, "w")
        if min(w) <= 0:
            raise RefutedError("a weight w is not positive")
        M = [{j: weight * x for j, x in row.items()} for weight, row in zip(w, M, strict=True)]
    S = symmetric(M)
    order, rows = indices(support["order"], n, "the order"), support["G"]
    if len(order) != n or not isinstance(rows, list) or len(rows) != n:
        raise RefusedError(f"the factor is not that of a matrix of order {n}")
    powers = whole_numbers(support["powers"], n, "powers")
    [bits] = whole_numbers([support["bits"]], 1, "bits")
    if max(abs(x) for x in (*powers, bits)) > LARGEST_POWER:
        raise TooLongError(f"a power of two exceeds {LARGEST_POWER}")
    place = {i: p for p, i in enumerate(order)}
    # Row sums in units of 4^-bits.
    diagonal, sums = [Fraction(0)] * n, [Fraction(0)] * n
    columns: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for p, i in enumerate(order):
        product = _row_of_product(rows[p], p, columns)
        for j, x in S[i].items():
            if place[j] <= p:
                scaled = x * Fraction(2) ** (powers[i] + powers[j] + 2 * bits)
                product[place[j]] = product.get(place[j], 0) - scaled
        diagonal[p] = -Fraction(product.pop(p, 0))
        for k, left in product.items():
            sums[p] += abs(left)
            sums[k] += abs(left)
    weak = next((p for p in range(n) if not diagonal[p] > sums[p]), None)
    if weak is not None:
        raise RefutedError(f"what G leaves of the matrix is not diagonally dominant in row {order[weak]}")


def _row_of_product(row: Any, p: int, columns: list[list[tuple[int, int]]]) -> dict[int, Any]:
    """Row p of G G^T up to the diagonal, by its columns; `columns` holds the rows of G so far by columns, and gets
    this one."""
    if not isinstance(row, list) or len(row) != 2:
        raise RefusedError(f"row {p} of G is not a pair of lists")
    at = indices(row[0], p + 1, f"the columns of row {p} of G")
    product: dict[int, Any] = {}
    for k, g in zip(at, whole_numbers(row[1], len(at), f"row {p} of G"), strict=True):
        check_time()
        columns[k].append((p, g))
        for j, other in columns[k]:
            product[j] = product.get(j, 0) + g * other
    return product
