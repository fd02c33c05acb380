"""Is every matrix of a box a P-matrix? The tree over signed indices proves, walks of principal pivots refute."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from workbench.engine.lazy import csgraph, sparse
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock
from workbench.matrices.intervals.signed_tree import DOMINANT, search
from workbench.matrices.linear_algebra.rationals import as_text, exact, nearest_double
from workbench.matrices.p_property.diagonal_stability import FOUND, find_diagonal
from workbench.matrices.p_property.large import BUDGET, FIRST_TURN, Tree, Walks
from workbench.matrices.p_property.scaled import Scaled
from workbench.matrices.p_property.tree import DIAGONAL, MINORS
from workbench.matrices.p_property.witness import PVerdict, first_loss, not_p
from workbench.readers.interval_matrix import IntervalMatrix

LARGEST_TREE = 60
"""Order up to which the tree is grown; the largest boxes proved so far are of order 40."""
HALVINGS = 8
"""Steps of the search for the W that stands the largest radii."""
NEWTON = 60
"""Newton steps of each."""


@dataclass(frozen=True, eq=False)
class AllP:
    """Verdict "all", "not all" or "undecided" on the P-property of a box, and what supports it.

    All: `proof` in words, and `tree`: its nodes in preorder, each (kind, *data) with kind "branch" and a position,
    "dominant" with u, "diagonal" with w and u, or "minors"; None where it was too long to keep. Not all: `signs` z (n)
    and `p`, the verdict "not P" on the member A_z. Undecided: `reason`. `nodes` counts those of the tree.
    """

    verdict: str
    proof: str | None = None
    tree: list[tuple] | None = None
    signs: tuple[int, ...] | None = None
    p: PVerdict | None = None
    reason: str | None = None
    nodes: int = 0


def as_lines(tree: Sequence[tuple]) -> list[list]:
    """A tree with numbers as "p/q" (`certificates.signed_pivots`)."""
    return [[kind, *(as_text(x) if isinstance(x, list) else x for x in data)] for kind, *data in tree]


def all_p(box: IntervalMatrix, deadline: float) -> AllP:
    """Decide whether every matrix of the square box is a P-matrix, by about `deadline` (`clock()`).

    Of a symmetric box all members are P if the symmetric ones are (Rohn and Rex 1996), so that both questions are one.
    """
    n = box.order
    for i in range(n):
        if box.lower[i, i] <= 0:
            return _refuted(box, [2 * i])
    if n > LARGEST_TREE:
        return AllP("undecided", reason=f"the tree of principal pivots is not grown beyond order {LARGEST_TREE}")
    doubled = doubled_matrix(box)
    try:
        scaled = _scaled(box, deadline)
        if not np.isfinite(scaled.A).all():
            return AllP("undecided", reason="the entries differ by more than the range of floating-point numbers")
        tree = SignedTree(box, doubled, scaled, deadline)
    except OutOfTimeError:
        return AllP("undecided", reason=f"{OUT_OF_TIME} before the tree was begun")
    partner = np.arange(2 * n) ^ 1
    walks, turn = Walks(doubled, scaled.A, deadline, partner), FIRST_TURN
    while clock() < deadline:
        found = tree.go(min(deadline, clock() + turn)) or walks.go(min(deadline, clock() + turn))
        if found and found.verdict == "P":
            leaves = int(tree.state[4])
            proof = f"a tree of principal pivots with both signs: {tree.nodes} nodes, {leaves} proved by their hull"
            return AllP("all", proof, found.tree, nodes=tree.nodes)  # type: ignore[arg-type]
        if found:
            return _refuted(box, found.index_set or ())
        turn *= 2
    reason = f"{OUT_OF_TIME} after {tree.nodes} nodes of the tree of principal pivots and {walks.seed} walks"
    return AllP("undecided", reason=reason, nodes=tree.nodes)


def _refuted(box: IntervalMatrix, lost: Sequence[int]) -> AllP:
    """From doubled indices whose principal minor is not positive."""
    signs = [1] * box.order
    for k in lost:
        signs[k // 2] = -1 if k % 2 else 1
    A = box.member(signs)
    found = not_p(A, first_loss(A, [k // 2 for k in lost]), minors_checked=0, exact_minors=1)
    return AllP("not all", signs=tuple(signs), p=found)


def doubled_matrix(box: IntervalMatrix) -> fmpq_mat:
    """The entries C - D where the signs of row 2 i + s and column 2 j + t are equal, C + D where they are not."""
    L, U, n = box.lower.tolist(), box.upper.tolist(), box.order
    rows = [[(L if s == t else U)[i][j] for j in range(n) for t in range(2)] for i in range(n) for s in range(2)]
    return fmpq_mat(rows)


def _scaled(box: IntervalMatrix, deadline: float) -> Scaled:
    """The doubled matrix scaled, both indices of a pair alike. Raises OutOfTimeError."""
    sizes = [
        [low if i == j else max(abs(low), abs(high)) for j, (low, high) in enumerate(zip(*rows, strict=True))]
        for i, rows in enumerate(zip(box.lower.tolist(), box.upper.tolist(), strict=True))
    ]
    one = Scaled.of(fmpq_mat(sizes), deadline)
    r, t = ([x for x in given for _ in range(2)] for given in (one.r, one.t))
    rows = doubled_matrix(box).tolist()
    A = [[nearest_double(x * r[i] * t[j]) for j, x in enumerate(row)] for i, row in enumerate(rows)]
    return Scaled(np.array(A), r, t)


def uncertain_components(box: IntervalMatrix) -> NDArray[np.int64]:
    """The number (n) of each index's connected component in the graph of the uncertain entries."""
    uncertain = np.array([x != 0 for x in box.radius.entries()]).reshape(box.order, -1)
    return csgraph.connected_components(sparse.csr_array(uncertain), directed=False)[1].astype(np.int64)


def common_diagonal(C: NDArray[np.float64], D: NDArray[np.float64]) -> NDArray[np.float64]:
    """w (n) for which sym(W A), |A - C| <= D, is positive definite for D as large as found, about; zeros where C itself
    has no W. C (n, n) has about ones on its diagonal."""
    n = len(C)
    best, score, reach = np.zeros(n), np.empty(n), 0.5 * (D.sum(axis=0) + D.sum(axis=1))
    low, high = 0.0, 1.0
    for step in range(HALVINGS + 1):
        # All of the radii first, then none, then between.
        part = 1.0 if step == 0 else 0.0 if step == 1 else 0.5 * (low + high)
        w = np.empty(n)
        B = C - part * np.diag(reach)
        if (np.diag(B) > 0).all() and find_diagonal(
            np.ascontiguousarray(B / np.diag(B)[:, None]), w, score, NEWTON
        ) == FOUND:
            best, low = w / np.diag(B), part
            if step == 0:
                break
        elif step == 1:
            break
        else:
            high = part
    return best


class SignedTree(Tree):
    """`Tree` over the doubled indices of a box, with its own search and its own proof."""

    def __init__(self, box: IntervalMatrix, doubled: fmpq_mat, scaled: Scaled, deadline: float) -> None:
        super().__init__(doubled, scaled, deadline)
        self.tries[:] = 0
        self.component = uncertain_components(box)
        equal, unequal = scaled.A[::2, ::2], scaled.A[::2, 1::2]
        C, D = 0.5 * (equal + unequal), 0.5 * np.abs(unequal - equal)
        np.fill_diagonal(C, np.diag(equal))
        np.fill_diagonal(D, 0.0)
        self.W = common_diagonal(C, D)

    def search(self) -> int:
        return search(
            self.B, self.R, self.index, self.order, self.pivoted, self.tries, self.state, BUDGET, self.log, self.w,
            self.failure, self.W, self.component,
        )  # fmt: skip

    def excludes(self, part: Sequence[int]) -> bool:
        pairs = [self.top[1][k] // 2 for k in part]
        return len(set(pairs)) < len(pairs)

    def proof(self) -> list[tuple] | None:  # type: ignore[override]
        if self.state[1] < 0:
            return None
        weights, nodes = iter(self.w[: self.state[2]].tolist()), []
        for code, value in self.log[: self.state[1]].reshape(-1, 2).tolist():
            nodes.append((code, value, list(itertools.islice(weights, value)) if code in (DOMINANT, DIAGONAL) else []))
        lines: list[tuple] = []
        rest_of = iter(nodes)

        def read(rest: list[int], pivots: list[int]) -> None:
            code, value, numbers = next(rest_of)
            if code == DOMINANT:
                lines.append(
                    ("dominant", [exact(x) * self.scaled.t[2 * i] for x, i in zip(numbers, rest, strict=True)])
                )
            elif code == DIAGONAL:
                places = [2 * i for i in rest]
                lines.append(("diagonal", self.scaled.weights(numbers, places), [self.scaled.t[i] for i in places]))
            elif code == MINORS:
                lines.append(("minors",))
            else:
                i = rest[value]
                left = [j for j in rest if j != i]
                lines.append(("branch", value))
                for _ in range(1 + any(self.component[j] == self.component[i] for j in pivots)):
                    read(left, [*pivots, i])
                if left:
                    read(left, pivots)

        read(list(range(self.n // 2)), [])
        return lines
