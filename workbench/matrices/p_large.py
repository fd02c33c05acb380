"""The P-property beyond the order at which all minors can be taken one by one: a walk to disprove, a tree to prove."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.engine.timing import clock
from workbench.matrices.definiteness import nearest_double, submatrix
from workbench.matrices.diagonal_stability import proved_diagonal, root_diagonal
from workbench.matrices.p_minors import unit_diagonal
from workbench.matrices.p_tree import BRANCH, DIAGONAL, DONE, MINORS, PAUSED, SMALL, U, note, search
from workbench.matrices.p_walk import walk
from workbench.matrices.p_witness import PVerdict, first_loss, not_p, schur_complement

BUDGET = 1_000_000
"""Units of work of the tree, about 30 ns each, between two looks at the clock."""
WORK = 20_000_000
"""Multiplications of one walk."""
FIRST_TURN = 0.1
"""Seconds of the first walk; the tree gets twice that, and each turn lasts twice as long as the one before."""
SWEEPS = 6
"""Of balancing."""
FAILED = 2**50
"""Attempts after which an order is not tried again."""
LONGEST_PROOF = 100_000
"""Lines of a tree that are kept."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """A = R M T rounded once, R and T positive diagonal: ones on the diagonal, rows and columns of similar size."""

    A: NDArray[np.float64]
    r: list[fmpq]
    t: list[fmpq]

    @staticmethod
    def of(M: fmpq_mat) -> "Scaled":
        A, s = unit_diagonal(M)
        n, d = len(A), np.ones(len(A))
        if np.isfinite(A).all():
            A, d = balanced(A)
        # A_ij = M_ij / m_ii 2^(s_i - s_j) d_j / d_i, with powers of two for d.
        exact = [fmpq(*float(x).as_integer_ratio()) for x in d]
        r = [fmpq(2) ** s[i] / (M[i, i] * exact[i]) for i in range(n)]
        return Scaled(np.ascontiguousarray(A), r, [fmpq(2) ** -s[i] * exact[i] for i in range(n)])

    def weights(self, w: Iterable[float], index: Iterable[int]) -> list[fmpq]:
        """A diagonal W of the rows `index` of A as one of M: the congruence by T^-1 takes W R M T to T^-1 W R M."""
        return [fmpq(*float(x).as_integer_ratio()) * self.r[i] / self.t[i] for x, i in zip(w, index, strict=True)]


def balanced(A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A_ij d_j / d_i with powers of two for d, so that off the diagonal rows and columns are of similar size."""
    n = len(A)
    off, d = np.abs(A), np.ones(n)
    np.fill_diagonal(off, 0.0)
    for _ in range(SWEEPS):
        for i in range(n):
            row, column = off[i].sum(), off[:, i].sum()
            if row > 0 and column > 0 and np.isfinite(row / column) and row / column > 0:
                factor = np.exp2(np.round(0.5 * np.log2(row / column)))
                d[i] *= factor
                off[i] /= factor
                off[:, i] *= factor
    result = A / d[:, None] * d
    return (result, d) if np.isfinite(result).all() else (A, np.ones(n))


def by_walk_and_tree(M: fmpq_mat, deadline: float, seconds: float) -> PVerdict:
    """The verdict on M (n, n), its diagonal positive: a diagonal W, else walks, else the tree of principal pivots."""
    scaled = Scaled.of(M)
    if not np.isfinite(scaled.A).all():
        return PVerdict("undecided", reason="the entries differ by more than the range of floating-point numbers")
    w = root_diagonal(scaled.A)
    if w is not None:
        exact = scaled.weights(w, range(len(w)))
        if proved_diagonal(M, exact):
            proof = "a diagonal W > 0 makes W M + M^T W positive definite"
            return PVerdict("P", proof, tree=("diagonal", exact))
    walks, tree, turn = Walks(M, scaled.A), Tree(M, scaled), FIRST_TURN
    while True:
        verdict = walks.go(min(deadline, clock() + turn))
        verdict = verdict or tree.grow(min(deadline, clock() + 2 * turn))
        if verdict:
            return verdict
        if clock() > deadline:
            reason = (
                f"the limit of {seconds:g} s was reached after {tree.nodes} nodes of the tree of principal pivots, "
                f"{tree.state[4]} of them leaves with a diagonal W; no minor that is not positive was met"
            )
            return PVerdict("undecided", reason=reason, exact_minors=tree.exact)
        turn *= 2


class Walks:
    """Walks of principal pivots (`p_walk`), one after the other."""

    def __init__(self, M: fmpq_mat, A: NDArray[np.float64]) -> None:
        self.M, self.A, self.seed = M, A, 0

    def go(self, until: float) -> PVerdict | None:
        """Walk until the time is up, or a minor that is not positive is confirmed."""
        n = len(self.A)
        member, steps = np.zeros(n, dtype=np.int64), max(50, WORK // (2 * n * n))
        while clock() < until:
            self.seed += 1
            if walk(self.A, member, self.seed, steps):
                a = np.flatnonzero(member).tolist()
                if a and submatrix(self.M, a).det() <= 0:
                    return not_p(self.M, first_loss(self.M, a), minors_checked=0, exact_minors=1)
        return None


class Tree:
    """The tree of principal pivots: the stack of `p_tree.search`, and its dealings with exact arithmetic."""

    def __init__(self, M: fmpq_mat, scaled: Scaled) -> None:
        n = M.nrows()
        self.M, self.scaled, self.n = M, scaled, n
        self.B, self.R = np.zeros((n + 2, n, n)), np.zeros((n + 2, n, n))
        self.index = np.zeros((n + 2, 2 * n), dtype=np.int64)
        self.order, self.pivoted = np.zeros((2, n + 2), dtype=np.int64)
        self.B[0], self.R[0] = scaled.A, U * np.abs(scaled.A)
        self.index[0, :n], self.order[0] = np.arange(n), n
        self.tries, self.state = np.zeros((n + 1, 2), dtype=np.int64), np.array([1, 0, 0, 0, 0])
        # A diagonal W of the whole matrix has been sought before.
        self.tries[n, 0] = FAILED
        self.failure = np.zeros(n + 1, dtype=np.int64)
        self.exact, self.refreshed = 0, ([0], [0])
        self.log, self.w = np.zeros(LONGEST_PROOF, dtype=np.int64), np.zeros(LONGEST_PROOF * n // 2)

    def search(self) -> int:
        return search(
            self.B, self.R, self.index, self.order, self.pivoted, self.tries, self.state, BUDGET, self.log, self.w,
            self.failure,
        )  # fmt: skip

    @property
    def top(self) -> tuple[list[int], list[int]]:
        """Pivoted and remaining indices of the node on top."""
        s = int(self.state[0]) - 1
        pivots = self.index[s, self.n : self.n + self.pivoted[s]].tolist()
        return pivots, self.index[s, : self.order[s]].tolist()

    def refresh(self) -> None:
        """The matrix of the node on top from exact arithmetic, rounded once."""
        pivots, rest = self.top
        s, N = int(self.state[0]) - 1, schur_complement(self.M, pivots, rest)
        for i, row in enumerate(rest):
            for j, column in enumerate(rest):
                self.B[s, i, j] = nearest_double(N[i, j] * self.scaled.r[row] * self.scaled.t[column])
                self.R[s, i, j] = U * abs(self.B[s, i, j])

    def settle(self) -> list[int] | None:
        """Take all minors of the node on top exactly and remove it; an index set with one that is not positive."""
        pivots, rest = self.top
        for k in range(1, len(rest) + 1):
            for part in itertools.combinations(rest, k):
                if submatrix(self.M, [*pivots, *part]).det() <= 0:
                    return [*pivots, *part]
        note(self.log, self.state, MINORS, len(rest))
        self.state[0] -= 1
        return None

    def proof(self) -> tuple | None:
        """The tree as `PVerdict` has it; None where it was too long to keep."""
        if self.state[1] < 0:
            return None
        lines = iter(self.log[: self.state[1]].reshape(-1, 2).tolist())
        weights = iter(self.w.tolist())

        def node(index: Sequence[int]) -> tuple:
            code, value = next(lines)
            if code == BRANCH:
                rest = [i for k, i in enumerate(index) if k != value]
                return ("branch", value, node(rest), node(rest))
            if code == DIAGONAL:
                return ("diagonal", self.scaled.weights(itertools.islice(weights, value), index))
            return ("minors",)

        return node(range(self.n))

    @property
    def nodes(self) -> int:
        return int(self.state[3])

    def grow(self, until: float) -> PVerdict | None:
        """Work on the tree until the time is up or the verdict is there."""
        while True:
            result = self.search()
            if result == DONE:
                leaves = int(self.state[4])
                proof = f"a tree of principal pivots: {self.nodes} nodes, {leaves} of them leaves with a diagonal W"
                return PVerdict("P", proof, exact_minors=self.exact, tree=self.proof())
            if result != PAUSED:
                lost = self.resolve()
                if lost:
                    return not_p(self.M, first_loss(self.M, lost), minors_checked=0, exact_minors=self.exact)
            if clock() > until:
                return None

    def resolve(self) -> list[int] | None:
        """The exact sign of the minor at which the search stopped: its index set where it is not positive.

        Otherwise the node on top, counted once, gets exact data, and if it already had them, exact minors.
        """
        lost = self.failure[: self.failure[-1]].tolist()
        self.exact += 1
        if submatrix(self.M, lost).det() <= 0:
            return lost
        self.state[3] -= 1
        if self.top == self.refreshed and len(self.top[1]) <= SMALL:
            return self.settle()
        self.refreshed = self.top
        self.refresh()
        return None
