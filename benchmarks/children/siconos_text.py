"""Problems as Siconos reads them, column by column; the parts of an MLCP go row by row."""

import numpy as np


def numbers(values):
    """One number a line, all digits."""
    return "\n".join(f"{v:.17g}" for v in np.ravel(values)) + "\n"


def integers(values):
    return " ".join(map(str, values)) + "\n"


def dense(M):
    return integers([0]) + 2 * integers(M.shape) + numbers(M.T)


def sparse_blocks(first, column, blocks):
    """Siconos' SBM of square blocks (b, k, k), stored row by row as in SciPy's BSR, every one of the diagonal there."""
    r, size = len(first) - 1, blocks.shape[1]
    ends = integers(size * np.arange(1, r + 1))
    lines = [integers([1]), integers([r * size, r * size]), integers([len(column)]), integers([r, r]), ends, ends]
    lines += [integers([r + 1, len(column)]), integers(first), integers(column)]
    for k, block in enumerate(blocks):
        lines += [integers([k]), numbers(block.T)]
    return "".join(lines)


def friction_text(W, q, mu):
    """A FrictionContactProblem, numbered contact by contact; W is dense, or what `sparse_blocks` takes."""
    matrix = sparse_blocks(*W) if isinstance(W, tuple) else dense(W)
    return integers([len(q) // len(mu), len(mu)]) + matrix + numbers(q) + numbers(mu)


def mlcp_text(M, q, n):
    """n free unknowns first: rows [A C; D B] (u, v) + (a, b), whole and in parts."""
    whole = integers([0, n, len(q)]) + integers([0, 1]) + dense(M) + numbers(q)
    parts = (M[:n, :n], M[n:, n:], M[:n, n:], M[n:, :n], q[:n], q[n:])
    return integers([1, 1, n, len(q) - n]) + whole + "".join(map(numbers, parts))
