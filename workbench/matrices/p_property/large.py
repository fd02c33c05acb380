"""The P-property beyond the order for which all minors can be enumerated: walks disprove it, quotients and a tree
prove it. Uninterruptible steps are started only if their estimated cost fits into the remaining time."""

import itertools
from collections.abc import Sequence

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock, clock
from workbench.matrices.linear_algebra.in_time import bits, elimination_seconds, minor
from workbench.matrices.linear_algebra.rationals import nearest_double, submatrix
from workbench.matrices.p_property.diagonal_stability import proved_diagonal, root_diagonal
from workbench.matrices.p_property.quotients import Quotients
from workbench.matrices.p_property.scaled import Scaled
from workbench.matrices.p_property.tree import BRANCH, DIAGONAL, DONE, MINORS, PAUSED, SMALL, U, note, search
from workbench.matrices.p_property.walk import walk
from workbench.matrices.p_property.witness import PVerdict, first_loss, not_p, schur_complement

BUDGET = 1_000_000
"""Units of work of the tree, about 30 ns each, between two checks of the clock."""
WORK = 20_000_000
"""Number of multiplications of one walk."""
FIRST_TURN = 0.1
"""Seconds of the first walk; the tree gets twice that, quotients four times, and each turn is twice the one before."""
LARGEST_TREE = 150
"""Largest order for which the tree is grown: each of its nodes costs Newton steps, and beyond it fills the memory."""
UNIT = 30e-9
"""Approximate seconds of a unit of the tree's work."""
FAILED = 2**50
"""Number of failed attempts after which an order is not tried again."""
LONGEST_PROOF = 100_000
"""Largest number of lines of a tree that are kept."""


def by_walk_and_tree(M: fmpq_mat, deadline: float) -> PVerdict:
    """The verdict on M (n, n), with positive diagonal: a diagonal W, else walks, quotients and the tree of principal
    pivots in turns."""
    n = M.nrows()
    try:
        scaled = Scaled.of(M, deadline)
        if not np.isfinite(scaled.A).all():
            return PVerdict("undecided", reason="the entries differ by more than the range of floating-point numbers")
        walks = Walks(M, scaled.A, deadline)
        # For a large matrix a disproof is cheaper than one step of a proof.
        verdict = walks.go(min(deadline, clock() + FIRST_TURN)) if n > LARGEST_TREE else None
        if verdict:
            return verdict
        w = root_diagonal(scaled.A, deadline)
        if w is not None:
            exact = scaled.weights(w, range(n))
            if proved_diagonal(M, exact, deadline):
                proof = "a diagonal W > 0 makes W M + M^T W positive definite"
                return PVerdict("P", proof, tree=("diagonal", exact))
    except OutOfTimeError:
        return PVerdict("undecided", reason=f"{OUT_OF_TIME} in the search for a diagonal W")
    quotients, turn = Quotients(M, scaled, deadline), FIRST_TURN
    tree = Tree(M, scaled, deadline) if n <= LARGEST_TREE else None
    while clock() < deadline:
        verdict = walks.go(min(deadline, clock() + turn))
        if tree and not verdict:
            verdict = tree.go(min(deadline, clock() + 2 * turn))
        verdict = verdict or quotients.go(min(deadline, clock() + 4 * turn))
        if verdict:
            return verdict
        turn *= 2
    walked = f"{OUT_OF_TIME} after {walks.seed} walks of principal pivots"
    if tree is None:
        reason = f"{walked}; their tree is not grown beyond order {LARGEST_TREE}"
        return PVerdict("undecided", reason=reason)
    reason = (
        f"{walked} and {tree.nodes} nodes of their tree, {tree.state[4]} of them leaves with a diagonal W; no minor "
        "that is not positive was met"
    )
    return PVerdict("undecided", reason=reason, exact_minors=tree.exact)


class Walks:
    """Walks of principal pivots (`walk`), one after the other; `partner` (n) are indices that exclude each other."""

    def __init__(
        self, M: fmpq_mat, A: NDArray[np.float64], deadline: float, partner: NDArray[np.int64] | None = None
    ) -> None:
        self.M, self.A, self.deadline, self.seed = M, A, deadline, 0
        self.partner = np.full(len(A), -1) if partner is None else partner
        self.bits = bits(M)

    def confirmation(self, k: int) -> float:
        """Approximate seconds to confirm a suspect of order k and to write the witness."""
        return (k.bit_length() + 3) * elimination_seconds(k, self.bits)

    def go(self, until: float) -> PVerdict | None:
        """Walk until the time is up, or a minor is confirmed not to be positive."""
        n = len(self.A)
        member, steps = np.zeros(n, dtype=np.int64), max(50, WORK // (2 * n * n))
        while clock() < until:
            self.seed += 1
            if walk(self.A, self.partner, member, self.seed, steps):
                a = np.flatnonzero(member).tolist()
                if a and clock() + self.confirmation(len(a)) < self.deadline and submatrix(self.M, a).det() <= 0:
                    return not_p(self.M, first_loss(self.M, a), minors_checked=0, exact_minors=1)
        return None


class Tree:
    """The tree of principal pivots: the stack of `tree.search`, with its steps in exact arithmetic."""

    def __init__(self, M: fmpq_mat, scaled: Scaled, deadline: float) -> None:
        n = M.nrows()
        self.M, self.scaled, self.n, self.deadline = M, scaled, n, deadline
        self.B, self.R = np.zeros((n + 2, n, n)), np.zeros((n + 2, n, n))
        self.index = np.zeros((n + 2, 2 * n), dtype=np.int64)
        self.order, self.pivoted = np.zeros((2, n + 2), dtype=np.int64)
        self.B[0], self.R[0] = scaled.A, U * np.abs(scaled.A)
        self.index[0, :n], self.order[0] = np.arange(n), n
        self.tries, self.state = np.zeros((n + 1, 2), dtype=np.int64), np.array([1, 0, 0, 0, 0])
        # A diagonal W of the whole matrix has been tried before.
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
        """Pivoted and remaining indices of the top node."""
        s = int(self.state[0]) - 1
        pivots = self.index[s, self.n : self.n + self.pivoted[s]].tolist()
        return pivots, self.index[s, : self.order[s]].tolist()

    def refresh(self) -> None:
        """Recompute the matrix of the top node in exact arithmetic, rounded once. Raises OutOfTimeError."""
        pivots, rest = self.top
        s, N = int(self.state[0]) - 1, schur_complement(self.M, pivots, rest, self.deadline)
        for i, row in enumerate(rest):
            for j, column in enumerate(rest):
                self.B[s, i, j] = nearest_double(N[i, j] * self.scaled.r[row] * self.scaled.t[column])
                self.R[s, i, j] = U * abs(self.B[s, i, j])

    def settle(self) -> list[int] | None:
        """Compute all minors of the top node exactly and remove it; return an index set whose minor is not positive.

        Raises OutOfTimeError.
        """
        pivots, rest = self.top
        # The minor of the pivots is positive, so minors of the Schur complement have the same signs.
        N = schur_complement(self.M, pivots, rest, self.deadline)
        for k in range(1, len(rest) + 1):
            for part in itertools.combinations(range(len(rest)), k):
                check_clock(self.deadline)
                if not self.excludes(part) and submatrix(N, part).det() <= 0:
                    return [*pivots, *(rest[i] for i in part)]
        note(self.log, self.state, MINORS, len(rest))
        self.state[0] -= 1
        return None

    def excludes(self, part: Sequence[int]) -> bool:
        """Whether a minor of these positions of the top node is one that does not count."""
        return False

    def proof(self) -> tuple | None:
        """The tree in the format of `PVerdict`; None if it was too long to keep."""
        if self.state[1] < 0:
            return None
        lines = iter(self.log[: self.state[1]].reshape(-1, 2).tolist())
        weights = iter(self.w[: self.state[2]].tolist())

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

    def go(self, until: float) -> PVerdict | None:
        """Work on the tree until the time is up or the verdict is reached."""
        while clock() + self.next_cost < until:
            result = self.search()
            if result == DONE:
                leaves = int(self.state[4])
                proof = f"a tree of principal pivots: {self.nodes} nodes, {leaves} of them leaves with a diagonal W"
                return PVerdict("P", proof, exact_minors=self.exact, tree=self.proof())
            if result == PAUSED:
                continue
            try:
                lost = self.resolve()
            except OutOfTimeError:
                # The sign remains open, and the search will meet it again.
                self.state[3] -= 1
                return None
            if lost:
                return not_p(self.M, first_loss(self.M, lost), minors_checked=0, exact_minors=self.exact)
        return None

    @property
    def next_cost(self) -> float:
        """Approximate seconds of a diagonal W of the top node, which cannot be interrupted."""
        return UNIT * 2 * float(self.order[self.state[0] - 1]) ** 3

    def resolve(self) -> list[int] | None:
        """The exact sign of the minor at which the search stopped: its index set where it is not positive.

        Otherwise the top node, counted once, gets exact data, and if it already had them, exact minors.
        """
        lost = self.failure[: self.failure[-1]].tolist()
        if minor(self.M, lost, self.deadline) <= 0:
            self.exact += 1
            return lost
        self.exact += 1
        self.state[3] -= 1
        if self.top == self.refreshed and len(self.top[1]) <= SMALL:
            return self.settle()
        self.refreshed = self.top
        self.refresh()
        return None
