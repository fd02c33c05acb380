"""Block Gauss-Seidel: the solution of one block with all others held fixed, and sweeps over any storage of W.

An interval's unknown sets its own row to zero within its bounds; a friction cone or disc solves its own problem,
exactly if a closed form is known (`one_contact`), otherwise by Newton steps (`one_block`). A sweep solves block after
block. It is written once: `sweeps_over` makes its kernel for an operator, accessed by `read` and `take`, and for the
sets, solved by `answer`. Over bodies W is not formed:

    v = V^T x,   u = J v + q,   W = J V^T

with the rows of J and V sparse. A problem over a sparse W has J = W and v = x, with nothing else to update.

Sources: Jourdan, Alart & Jean 1998; Acary, Bremond & Huber 2018.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.algorithms.law_equations import one_block
from workbench.algorithms.one_contact import one_contact
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import FAST, INDICES, MATRIX, VECTOR, WITHIN
from workbench.engine.scratch import scratch
from workbench.problems.residual import BLOCK_SETS
from workbench.problems.sets import ASSOCIATED, NO_CONE
from workbench.support.arrays import Array

NUMBER, COUNT = types.float64, types.int64
Indices = NDArray[np.int64]


class FactoredDelassus(NamedTuple):
    """W over bodies, in sparse rows.

    first, column, values of the rows of J (X, n), of V (X, n) and of the diagonal blocks of W; `own` are the starts of
    the latter; v (n,) = V^T x is kept up to date with x."""

    J_first: Indices
    J_column: Indices
    J: Array
    V_first: Indices
    V_column: Indices
    V: Array
    own_first: Indices
    own: Array
    v: Array


BODIES = argument_type(FactoredDelassus, INDICES, INDICES, VECTOR, INDICES, INDICES, VECTOR, INDICES, VECTOR, VECTOR)


def own_rows(first: Indices) -> Indices:
    """(X,) start of every row in the diagonal blocks first[i] : first[i + 1], stored flat, block by block, by row."""
    m = np.diff(first)
    width = np.repeat(m, m)
    return np.cumsum(width) - width


@kernel(NUMBER(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER), **WITHIN)
def interval_answer(diagonal, u, x, lower, upper):
    """Return the unknown of an interval whose row has the velocity u at x.

    Without a positive diagonal the unknown goes to the bound at which the row's sign is right; if that bound is
    infinite there is no solution, and x is kept.
    """
    if diagonal > 0.0:
        return min(max(x - u / diagonal, lower), upper)
    bound = lower if u > 0.0 else upper if u < 0.0 else x
    return min(max(bound if np.isfinite(bound) else x, lower), upper)


@kernel(types.void(COUNT, MATRIX, VECTOR, NUMBER, VECTOR), **WITHIN)
def cone_answer(cone, A, q, mu, x):
    """Solve a cone or disc for x (m,), F = A x + q; Newton steps begin at the given x."""
    if cone > ASSOCIATED:
        one_block(A, q, mu, cone, x)
    else:
        one_contact(A, q, mu, cone == ASSOCIATED, x)


@kernel(types.void(BLOCK_SETS, COUNT, VECTOR, VECTOR, VECTOR), **WITHIN, **FAST)
def set_answer(sets, i, A, q, x):
    """The default `answer`: a cone or disc as a block, intervals row by row."""
    first, m = sets.first[i], sets.first[i + 1] - sets.first[i]
    if sets.cone[i] != NO_CONE:
        cone_answer(sets.cone[i], A[: m * m].reshape(m, m), q[:m], sets.mu[i], x[:m])
        return
    for a in range(m):
        u, row = q[a], A[a * m : a * m + m]
        for b in range(m):
            u += row[b] * x[b]
        x[a] = interval_answer(row[a], u, x[a], sets.lower[first + a], sets.upper[first + a])


def sweeps_over(operator: Any, kind: Any, read: Any, answer: Any, take: Any) -> Any:
    """Return the kernel sweeps(W, q, sets, count, x) for one type of W and of sets: `count` sweeps over x (X,).

    read(W, q, top, m, x, A, u): A = W_ii, row by row, and u = q_i + sum of W_ij x_j over all j but i, for the block
    whose m rows begin at `top`; answer(sets, i, A, u, now): replaces the current x in `now` by the block's solution;
    take(W, k, value, x): sets x_k. A, u and now may be larger than needed. sets.first (B + 1,) are the starts of the
    blocks' rows.
    """

    @kernel(types.void(operator, VECTOR, kind, COUNT, VECTOR))
    def sweeps(W, q, sets, count, x):
        first, widest = sets.first, 1
        for i in range(first.shape[0] - 1):
            widest = max(widest, first[i + 1] - first[i])
        A, u, now = scratch(widest * widest), scratch(widest), scratch(widest)
        for _ in range(count):
            for i in range(first.shape[0] - 1):
                top, m = first[i], first[i + 1] - first[i]
                read(W, q, top, m, x, A, u)
                for a in range(m):
                    now[a] = x[top + a]
                answer(sets, i, A, u, now)
                for a in range(m):
                    take(W, top + a, now[a], x)

    return sweeps


@kernel(types.void(MATRIX, VECTOR, COUNT, COUNT, VECTOR, VECTOR, VECTOR), **WITHIN, **FAST)
def read_dense(W, q, top, m, x, A, u):
    """`read` for a dense W (X, X)."""
    now = x[top : top + m]
    for a in range(m):
        row, moved = W[top + a], q[top + a]
        block, own = row[top : top + m], A[a * m : a * m + m]
        for j in range(x.shape[0]):
            moved += row[j] * x[j]
        for b in range(m):
            own[b] = block[b]
            moved -= block[b] * now[b]
        u[a] = moved


@kernel(types.void(MATRIX, COUNT, NUMBER, VECTOR), **WITHIN)
def take_dense(W, k, value, x):
    """`take` for a dense W (X, X)."""
    x[k] = value


@kernel(types.void(BODIES, VECTOR, COUNT, COUNT, VECTOR, VECTOR, VECTOR), **WITHIN)
def read_bodies(W, q, top, m, x, A, u):
    """`read` for W over bodies."""
    for a in range(m):
        moved, own = q[top + a], W.own_first[top + a]
        for b in range(m):
            A[a * m + b] = W.own[own + b]
            moved -= W.own[own + b] * x[top + b]
        for p in range(W.J_first[top + a], W.J_first[top + a + 1]):
            moved += W.J[p] * W.v[W.J_column[p]]
        u[a] = moved


@kernel(types.void(BODIES, COUNT, NUMBER, VECTOR), **WITHIN)
def take_bodies(W, k, value, x):
    """`take` for W over bodies, updating v."""
    change = value - x[k]
    x[k] = value
    if change != 0.0:
        for p in range(W.V_first[k], W.V_first[k + 1]):
            W.v[W.V_column[p]] += W.V[p] * change


sweeps_of_dense = sweeps_over(MATRIX, BLOCK_SETS, read_dense, set_answer, take_dense)
sweeps_of_bodies = sweeps_over(BODIES, BLOCK_SETS, read_bodies, set_answer, take_bodies)
