"""A matrix of intervals: all matrices between two, or only the symmetric ones.

End points are rationals. A radius given as a double is that exact rational, and 0.1 in text is a tenth, so nothing is
rounded on input.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from workbench.readers.matrix import Matrix
from workbench.support.errors import DataError

_ZERO = fmpq(0)


@dataclass(frozen=True, eq=False)
class IntervalMatrix:
    """The box of matrices A with |A - centre| <= radius entrywise, centre and radius (m, n) rational.

    If `symmetric`, only the symmetric matrices of the box count; centre and radius are then symmetric. Raises
    DataError for different shapes, for a negative radius, and if symmetric members are requested of a box that is not
    equal to its transpose.
    """

    centre: fmpq_mat
    radius: fmpq_mat
    symmetric: bool = False

    def __post_init__(self) -> None:
        shape, other = ((M.nrows(), M.ncols()) for M in (self.centre, self.radius))
        if shape != other:
            raise DataError(f"the radii are {other[0]} x {other[1]} and the matrix is {shape[0]} x {shape[1]}")
        for i, row in enumerate(self.radius.tolist()):
            for j, x in enumerate(row):
                if x < 0:
                    raise DataError(f"radius [{i}, {j}] is {x}; a radius is zero or positive")
        if self.symmetric:
            for M, what in ((self.centre, "middle"), (self.radius, "radius")):
                uneven = _uneven(M)
                if uneven is not None:
                    i, j = uneven
                    raise DataError(
                        f"symmetric matrices need intervals that are symmetric; the {what} of entry [{i}, {j}] is "
                        f"{M[i, j]} and that of [{j}, {i}] is {M[j, i]}"
                    )

    @staticmethod
    def of(M: Matrix) -> "IntervalMatrix":
        """The box of a matrix as read, with radius zero where an entry is a single number."""
        if M.upper is None:
            return IntervalMatrix(M.exact, M.exact * fmpq(0))
        half = fmpq(1, 2)
        return IntervalMatrix((M.exact + M.upper.exact) * half, (M.upper.exact - M.exact) * half)

    def widened(self, relative: fmpq = _ZERO, radius: fmpq_mat | None = None) -> "IntervalMatrix":
        """The box with larger radii: by the fraction `relative` of each central entry's modulus, and by `radius`."""
        more = fmpq_mat(self.order, self.centre.ncols(), [relative * abs(x) for x in self.centre.entries()])
        extra = more if radius is None else more + IntervalMatrix(self.centre, radius).radius
        return IntervalMatrix(self.centre, self.radius + extra, self.symmetric)

    @property
    def order(self) -> int:
        """Number of rows, and of columns if the matrices are square."""
        return self.centre.nrows()

    @cached_property
    def lower(self) -> fmpq_mat:
        """The lower end points."""
        return self.centre - self.radius

    @cached_property
    def upper(self) -> fmpq_mat:
        """The upper end points."""
        return self.centre + self.radius

    @property
    def uncertain(self) -> int:
        """Number of entries that are not known exactly."""
        return sum(x != 0 for x in self.radius.entries())

    def scaled(self, factor: fmpq) -> "IntervalMatrix":
        """The box with all radii multiplied by a factor >= 0."""
        return IntervalMatrix(self.centre, self.radius * factor, self.symmetric)

    def transpose(self) -> "IntervalMatrix":
        """The box of the transposed matrices."""
        return IntervalMatrix(self.centre.transpose(), self.radius.transpose(), self.symmetric)

    def symmetric_part(self) -> "IntervalMatrix":
        """The box of the symmetric parts (A + A^T) / 2, with entries taken as independent."""
        half = fmpq(1, 2)
        centre, radius = ((M + M.transpose()) * half for M in (self.centre, self.radius))
        return IntervalMatrix(centre, radius, True)

    def member(self, signs: Iterable[int]) -> fmpq_mat:
        """The member A_z = centre - diag(z) radius diag(z) for signs z (n) of 1 and -1."""
        z = list(signs)
        rows = zip(self.centre.tolist(), self.radius.tolist(), strict=True)
        return fmpq_mat([
            [c - d if z[i] == z[j] else c + d for j, (c, d) in enumerate(zip(row, spread, strict=True))]
            for i, (row, spread) in enumerate(rows)
        ])  # fmt: skip

    def __contains__(self, A: fmpq_mat) -> bool:
        """Return whether A is one of the matrices, exactly."""
        entries = zip(A.entries(), self.lower.entries(), self.upper.entries(), strict=True)
        between = all(low <= x <= high for x, low, high in entries)
        return between and (not self.symmetric or A.transpose() == A)


def _uneven(M: fmpq_mat) -> tuple[int, int] | None:
    """An entry that differs from its mirror image; (0, columns) where the matrix is not square."""
    if M.nrows() != M.ncols():
        raise DataError(f"the matrix is {M.nrows()} x {M.ncols()}; symmetric ones are square")
    return next(((i, j) for i in range(M.nrows()) for j in range(i) if M[i, j] != M[j, i]), None)
