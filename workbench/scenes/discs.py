"""Blocks of which discs, or the tips of cones, are not as problems take them."""

from typing import Any

import numpy as np

from workbench.problems.block_kernels import BlockArrays
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import DISC, NO_CONE
from workbench.support.arrays import Array


def with_tips_at_zero(p: BlockArrays) -> tuple[ContactBlocks, Array | None]:
    """The problem of blocks, and the impulses (R,) that are there whatever its answer, if there are any.

    A normal row before a disc becomes a block by itself; a cone's tip that is not at zero is such an impulse. Raises
    DataError where the numbers make no problem.
    """
    numbers = {name: getattr(p, name) for name in BlockArrays.fields if name[:2] not in ("M_", "J_")}
    matrices = ContactBlocks.of_kernels(p)
    if (p.cone == DISC).any():
        numbers |= normals_apart(p)
    tips = np.where(np.repeat(numbers["cone"] != NO_CONE, np.diff(numbers["row"])), p.s, 0.0)
    if not tips.any():
        return ContactBlocks(matrices.M, J=matrices.J, **numbers), None
    numbers |= {"b": p.b + matrices.J.T @ tips, "s": p.s - tips}
    return ContactBlocks(matrices.M, J=matrices.J, **numbers), tips


def normals_apart(p: BlockArrays) -> dict[str, Any]:
    """What changes of blocks in which a normal row stands before a disc that it does not couple to, as two."""
    m, discs = np.diff(p.row), p.cone == DISC
    block = np.repeat(np.arange(m.size), m * m)
    within = np.arange(block.size) - np.repeat(_ends(m * m)[:-1], m * m)
    a, b = np.divmod(within, m[block])
    kept = ~discs[block] | ((a == 0) == (b == 0))
    one = np.repeat(np.arange(m.size), 1 + discs)
    second = np.append(False, one[1:] == one[:-1])
    ends = _ends(np.where(second, m[one] - 1, np.where(discs[one], 1, m[one])))
    first = discs[one] & ~second
    return {
        "row": ends, "unknown": ends, "L": p.L[kept], "N": p.N[kept], "R": p.R[kept],
        "cone": np.where(first, NO_CONE, p.cone[one]), "mu": np.where(first, 0.0, p.mu[one]),
    }  # fmt: skip


def _ends(sizes: Any) -> Any:
    """0 and the cumulative sums."""
    found = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=found[1:])
    return found
