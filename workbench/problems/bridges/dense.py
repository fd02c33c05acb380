"""Contact blocks as a dense mixed problem: F = (L W R + N) x + q over all of W, set by set."""

import numpy as np

from workbench.problems.bridges import cones, intervals
from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.friction_problem import LARGEST_DENSE
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import NO_CONE, Sets
from workbench.support.arrays import Array
from workbench.support.errors import DataError


def dense_matrix(p: ContactBlocks) -> Array:
    """L W R + N (X, X)."""
    L, N, R = p.whole
    if not p.b.size:
        return N.toarray()
    J = p.rows.toarray()
    return L @ (J @ p.inertia.response(J.T)) @ R.toarray() + N.toarray()


def applies(p: ContactBlocks) -> str | None:
    if p.size > LARGEST_DENSE:
        return f"L W R + N would have {p.size} rows; at most {LARGEST_DENSE} are held as a dense matrix"
    return None


def numbers(p: ContactBlocks) -> dict[str, Array]:
    """The data of the dense problem by name: M (X, X), q, lower, upper (X,), mu of its cones and discs."""
    # Blocks without unknowns do not become sets.
    mu = p.mu[(np.diff(p.unknown) > 0) & (p.cone != NO_CONE)]
    M, q = (p.few.A, p.few.q) if p.few else (dense_matrix(p), p.free[1])
    return {"M": M, "q": q, "lower": p.lower, "upper": p.upper, "mu": mu}


def forward(p: ContactBlocks) -> Image:
    counts = np.diff(p.unknown)
    cone = p.cone[counts > 0]
    first, at = np.append(0, np.cumsum(counts[counts > 0])), np.append(0, np.cumsum(cone != NO_CONE))
    problem = MixedNCP(**numbers(p), sets=Sets(cone, first, np.arange(p.size), at))
    return Image(problem, lambda x: x, lambda x: x)


def of_one_kind(p: ContactBlocks) -> Image:
    """Return contact blocks as an LCP, MLCP, ConicQP or CoulombNCP. Raises DataError if their sets allow none."""
    if reason := applies(p):
        raise DataError(reason)
    mixed = forward(p).problem
    for bridge in (intervals.BRIDGE, cones.ASSOCIATED_CONES, cones.COULOMB_CONES):
        reason = bridge.applies(mixed)
        if reason is None:
            return bridge.forward(mixed)
    raise DataError(f"blocks of several kinds cannot be written as one dense problem: {reason}")


BRIDGE = Bridge("L W R + N formed", between([ContactBlocks.kind], MixedNCP.kind), 2, applies, forward)
