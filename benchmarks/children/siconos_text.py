"""Problems as Siconos reads them, column by column; the parts of an MLCP go row by row."""

import numpy as np


def numbers(values):
    """One number a line, all digits."""
    return "\n".join(f"{v:.17g}" for v in np.ravel(values)) + "\n"


def integers(values):
    return " ".join(map(str, values)) + "\n"


def dense(M):
    return integers([0]) + 2 * integers(M.shape) + numbers(M.T)


def sparse_blocks(M, size=3):
    """M as Siconos' SBM: the blocks that are not zero, and those of the diagonal."""
    r = len(M) // size
    blocks = M.reshape(r, size, r, size).swapaxes(1, 2)
    row, column = np.nonzero(np.abs(blocks).max(axis=(2, 3)) + np.eye(r))
    ends = integers(size * np.arange(1, r + 1))
    pointer = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=r))])
    lines = [integers([1]), integers([len(M), len(M)]), integers([len(row)]), integers([r, r]), ends, ends]
    lines += [integers([r + 1, len(row)]), integers(pointer), integers(column)]
    for k in range(len(row)):
        lines += [integers([k]), numbers(blocks[row[k], column[k]].T)]
    return "".join(lines)


def friction_text(W, q, mu, in_blocks):
    """A FrictionContactProblem, numbered contact by contact."""
    d = len(q) // len(mu)
    return integers([d, len(mu)]) + (sparse_blocks(W, d) if in_blocks else dense(W)) + numbers(q) + numbers(mu)


def mlcp_text(M, q, n):
    """n free unknowns first: rows [A C; D B] (u, v) + (a, b), whole and in parts."""
    whole = integers([0, n, len(q)]) + integers([0, 1]) + dense(M) + numbers(q)
    parts = (M[:n, :n], M[n:, n:], M[:n, n:], M[n:, :n], q[:n], q[n:])
    return integers([1, 1, n, len(q) - n]) + whole + "".join(map(numbers, parts))
