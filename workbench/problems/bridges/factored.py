"""Mixed problems with a symmetric positive semidefinite matrix as contact blocks over unit masses: W = J J^T.

The columns of J are eigenvectors of W times the square roots of the eigenvalues. Every interval becomes a block.
"""

import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.classes import is_psd
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mixed import MixedNCP
from workbench.support.arrays import Array
from workbench.support.errors import DataError

NOT_PSD = "W is not of the form J M^-1 J^T: it is not symmetric positive semidefinite"


def factor(W: Array) -> Array:
    """Return J (n, rank) with J J^T = W, with at least one column. Raises DataError unless W is symmetric PSD."""
    if not is_psd(W):
        raise DataError(NOT_PSD)
    values, vectors = np.linalg.eigh(W)
    kept = values > W.shape[0] * np.finfo(float).eps * values[-1]
    if not kept.any():
        kept[-1] = True
    J: Array = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))
    return J


def applies(problem: MixedNCP) -> str | None:
    return None if is_psd(problem.by_set.matrix) else NOT_PSD


def forward(problem: MixedNCP) -> Image:
    s, p = problem.sets, problem.by_set
    J = factor(p.matrix)
    n = J.shape[1]
    first = np.append(np.flatnonzero(s.begins), problem.size)
    set_of = s.set_of[first[:-1]]
    square = np.concatenate([np.eye(k).ravel() for k in np.diff(first)])
    _, _, mu, lower, upper = p.sets
    blocks = ContactBlocks(
        sparse.eye_array(n, format="csr"), np.zeros(n), sparse.csr_array(J), first, first, square,
        np.zeros(square.size), square, p.q, np.zeros(problem.size), lower, upper, s.cone[set_of], mu[set_of],
    )  # fmt: skip

    def there(z: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(p.unit > 0, z[s.order] / p.unit, 0.0)

    return Image(blocks, p.plain, there)


BRIDGE = Bridge("W = J J^T over unit masses", between([MixedNCP.kind], ContactBlocks.kind), 3, applies, forward)
