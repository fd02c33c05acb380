"""Friction-cone problems over (M, H, f, w, mu [, G, b]), in which W = H^T M^-1 H is never formed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.classes import Array, ConeComplementarity, is_symmetric
from workbench.problems.friction_problem import LARGEST_DENSE, GlobalFrictionProblem, Sparse
from workbench.problems.inertia import Inertia
from workbench.problems.problem import Indices, Operator, own_blocks, owners
from workbench.problems.sets import contact_of_row
from workbench.support.errors import DataError

FEW = 100
"""Number of unknowns up to which W is always formed, since it is a small dense matrix."""
MOST_PLACES = 20_000_000
"""Total number of entries of all H_i D_i H_i^T, over contacts i, up to which problems are solved over (M, H)."""


@dataclass(frozen=True, eq=False)
class GlobalConeProblem(ConeComplementarity):
    """Contact law between z = p and u = W z + q = H^T v + w, with M v = H p + G p_b + f and G^T v + b = 0.

    Size, residual and solutions are those of the problem over W. No batch axes. Raises DataError if M (with G) is
    singular.
    """

    data: GlobalFrictionProblem

    def __post_init__(self) -> None:
        for name, value in (("mu", self.data.mu), ("d", self.data.d), ("q", self.data.free_velocity)):
            object.__setattr__(self, name, value)

    def _operator(self, order: Indices, first: Indices) -> Operator:
        return OverBodies(self.data.inertia, self.data.inertia.scaled(self.data.H)[:, order], first)


@dataclass(frozen=True, eq=False)
class OverBodies:
    """The operator H^T K^-1 H over bodies and bilateral constraints; H (n, X) in the scaled velocities of `inertia`."""

    inertia: Inertia
    H: Sparse
    first: Indices

    @cached_property
    def diagonal(self) -> Array:
        return self.inertia.squares(self.H)

    @cached_property
    def own(self) -> Array:
        J, V = self.factors()
        return own_blocks(self.first, lambda rows, columns: (J[rows] * V[columns]).sum(axis=1))

    def products(self, x: Array) -> tuple[Array, Array]:
        v = self.inertia.response(self.H @ x)
        return self.H.T @ v, abs(self.H.T) @ abs(v)

    def parts(self) -> Indices:
        from workbench.problems.islands import parts_of

        H, B, body = self.H.tocoo(), self.first.size - 1, self.inertia.body
        contact = owners(self.first)
        return parts_of(contact[H.col], B + body[H.row], B + int(body.max()) + 1)[:B]

    def factors(self) -> tuple[Sparse, Sparse]:
        return self.H.T.tocsr(), sparse.csr_array(self.inertia.inverse @ self.H).T.tocsr()

    def why_no_factors(self) -> str | None:
        if self.inertia.inverse is None:
            return "too many velocities are coupled by M and bilateral constraints to hold their inverse"
        return None


class GlobalConicQP(GlobalConeProblem):
    """The cone complementarity problem over (M, H). Raises DataError if M is not symmetric."""

    kind = "global conic QP"

    def __post_init__(self) -> None:
        if not is_symmetric(self.data.M):
            raise DataError("a conic QP needs a symmetric M; this one is not")
        super().__post_init__()


class GlobalCoulombNCP(GlobalConeProblem):
    """Exact Coulomb friction over (M, H)."""

    kind = "global Coulomb NCP"
    associated = False


@dataclass(frozen=True)
class Way:
    """Choice between (M, H) and W for a global problem, and the numbers that Newton's method stores in each.

    `over_W` is None if W would exceed the size up to which it is formed.
    """

    bodies: bool
    over_bodies: int
    over_W: int | None

    def __str__(self) -> str:
        if not self.bodies:
            return f"over W, formed from (M, H): {self.over_W} numbers, {self.over_bodies} over (M, H)"
        other = "W too large to form" if self.over_W is None else f"{self.over_W} over W"
        return f"over (M, H): {self.over_bodies} numbers, {other}"


def way(problem: GlobalFrictionProblem) -> Way:
    """Choose the form that stores fewer numbers; W for few unknowns.

    W has a block for every two contacts of a body; Newton's matrix over (M, H), M + H D H^T with blocks D of one
    contact each, has one for every two bodies in contact, plus H itself.
    """
    r, d, n = problem.contacts, problem.d, problem.M.shape[0]
    contact = contact_of_row(r, d)
    H = problem.H.tocoo()
    meets = _pattern(H.row, contact[H.col], (n, r))
    places = int((meets.sum(axis=0) ** 2).sum())
    joined = (meets @ meets.T + abs(problem.M)).nnz if places <= MOST_PLACES else places
    over_bodies, over_W = int(joined + 2 * problem.G.nnz + problem.H.nnz), None
    if problem.size <= LARGEST_DENSE:
        coupled = _pattern(problem.inertia.body[H.row], contact[H.col], (problem.inertia.body.size, r))
        over_W = (1 + d) ** 2 * int((coupled.T @ coupled).nnz)
    fewer = over_W is None or (problem.size > FEW and over_bodies < over_W)
    return Way(fewer and places <= MOST_PLACES, over_bodies, over_W)


def _pattern(row: Array, column: Array, shape: tuple[int, int]) -> Sparse:
    """Return a sparse matrix of ones at (row, column)."""
    found = sparse.csr_array((np.ones(row.size), (row, column)), shape=shape)
    found.data[:] = 1.0
    return found
