"""The tableau of a basis, in exact fractions: basic unknowns as affine functions of the others.

The system is w = q + M z + t e. Its unknowns are numbered: w_i is i, z_i is n + i, and t, the covering unknown that
textbooks call z_0, is 2 n. Every tableau is computed from its basis, independently of the previous step.

Source: R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem (1992), CPS, sections 2.3 and 4.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from workbench.matrices.linear_algebra.rationals import Vector


@dataclass(frozen=True, eq=False)
class Tableau:
    """basic_r = constants_r + sum_k entries_rk nonbasic_k; a row of `weights` expresses its constant in q.

    With m nonbasic unknowns `constants` is (n,), `entries` (n, m), and `weights` (n, n), the inverse of the basis.
    """

    basic: tuple[int, ...]
    nonbasic: tuple[int, ...]
    constants: Vector
    entries: list[Vector]
    weights: list[Vector]

    def column(self, unknown: int) -> Vector:
        """Coefficients of a nonbasic unknown in the basic ones (n,)."""
        k = self.nonbasic.index(unknown)
        return [row[k] for row in self.entries]


@dataclass(frozen=True, eq=False)
class TracedSystem:
    """The system w = q + M z, M (n, n) and q (n,), or with `covered` w = q + M z + t e."""

    M: fmpq_mat
    q: Vector
    covered: bool = False

    @property
    def n(self) -> int:
        return len(self.q)

    @property
    def t(self) -> int:
        """Number of the covering unknown."""
        return 2 * self.n

    @cached_property
    def columns(self) -> list[Vector]:
        """The columns of I, -M and -e, by unknown: w - M z - t e = q."""
        n = self.n
        found = [[fmpq(int(i == j)) for i in range(n)] for j in range(n)]
        found += [[-self.M[i, j] for i in range(n)] for j in range(n)]
        return [*found, [fmpq(-1)] * n] if self.covered else found

    def complement(self, unknown: int) -> int:
        """Return z_i for w_i and w_i for z_i."""
        return (unknown + self.n) % (2 * self.n)

    def name(self, unknown: int) -> str:
        """Name w_i, z_i or t; indices count from zero."""
        if unknown == self.t:
            return "t"
        return f"{'wz'[unknown // self.n]}_{unknown % self.n}"

    def basis_of(self, index_set: Sequence[int]) -> tuple[int, ...]:
        """Return the complementary basis whose basic z's are this set, the unknown of index i in row i."""
        return tuple(self.n + i if i in index_set else i for i in range(self.n))

    def index_set(self, basis: Sequence[int]) -> tuple[int, ...]:
        """Indices of the basic z's."""
        return tuple(sorted(b - self.n for b in basis if self.n <= b < self.t))

    def tableau(self, basis: Sequence[int]) -> Tableau | None:
        """Return the tableau of a basis (n unknowns, one a row); None if its matrix is singular."""
        n = self.n
        B = _beside([self.columns[b] for b in basis])
        if B.det() == 0:
            return None
        inverse = B.inv()
        nonbasic = tuple(v for v in range(len(self.columns)) if v not in basis)
        constants = inverse * fmpq_mat(n, 1, self.q)
        entries = -(inverse * _beside([self.columns[v] for v in nonbasic]))
        return Tableau(tuple(basis), nonbasic, constants.entries(), entries.tolist(), inverse.tolist())


def _beside(columns: Sequence[Vector]) -> fmpq_mat:
    return fmpq_mat(len(columns[0]), len(columns), [x for row in zip(*columns, strict=True) for x in row])
