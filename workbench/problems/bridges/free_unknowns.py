"""Elimination of free unknowns: their equations are solved for them, and the others keep the Schur complement.

    M_ff z_f + M_fo z_o + q_f = 0     gives     z_f = -M_ff^-1 (M_fo z_o + q_f),
    F_o = (M_oo - M_of M_ff^-1 M_fo) z_o + q_o - M_of M_ff^-1 q_f

Source: Cottle, Pang & Stone 1992, section 1.5.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.bridges.intervals import bounded
from workbench.problems.classes import LCP, MLCP, Equations, equilibration
from workbench.problems.mixed import MixedNCP
from workbench.support.arrays import Array

SINGULAR = 1e-13
"""Share of the largest singular value of the equilibrated M_ff below which the smallest one counts as round-off."""


def are_free(problem: MLCP | MixedNCP) -> NDArray[np.bool_]:
    """(n,) mask of the unknowns without bounds."""
    unbounded: NDArray[np.bool_] = (problem.lower == -np.inf) & (problem.upper == np.inf)
    return unbounded & problem.sets.in_intervals if isinstance(problem, MixedNCP) else unbounded


def applies(problem: MLCP | MixedNCP) -> str | None:
    f = are_free(problem)
    if not f.any():
        return "no unknown is free, hence no equation determines one"
    return "there are no other unknowns" if f.all() else _objection(problem, f)


def are_equations(problem: MLCP | MixedNCP) -> str | None:
    f = are_free(problem)
    return _objection(problem, f) if f.all() else "unknowns with bounds or friction are not determined by equations"


def _objection(problem: MLCP | MixedNCP, f: NDArray[np.bool_]) -> str | None:
    M = problem.M[np.ix_(f, f)]
    D = equilibration(M)
    values = np.linalg.svd(D[:, None] * M * D, compute_uv=False)
    if f.any() and values[-1] <= SINGULAR * values[0]:
        return f"the equations of the {f.sum()} free unknowns are singular"
    return None


def forward(problem: MLCP | MixedNCP) -> Image:
    f = are_free(problem)
    o, M, q = ~f, problem.M, problem.q
    # z_f = T z_o + t
    T, t = (-np.linalg.solve(M[np.ix_(f, f)], x) for x in (M[np.ix_(f, o)], q[f]))
    W, w = M[np.ix_(o, o)] + M[np.ix_(o, f)] @ T, q[o] + M[np.ix_(o, f)] @ t
    if np.array_equal(M, M.T):
        W = 0.5 * (W + W.T)

    def back(z_o: Array) -> Array:
        z = np.empty(problem.size)
        z[o], z[f] = z_o, T @ z_o + t
        return z

    lower, upper = problem.lower[o], problem.upper[o]
    if not o.any():
        left: MLCP | MixedNCP = Equations(W, w)
    elif isinstance(problem, MixedNCP):
        left = MixedNCP(W, w, lower, upper, problem.mu, problem.sets.without(f))
    else:
        left = bounded(W, w, lower, upper)
    return Image(left, back, lambda z: z[o])


BOUNDED = frozenset({LCP.kind, MLCP.kind})
LEFT = {LCP.kind: BOUNDED, MLCP.kind: BOUNDED, MixedNCP.kind: frozenset({MixedNCP.kind})}
BRIDGE = Bridge("free unknowns eliminated", LEFT, 2, applies, forward)
EQUATIONS = Bridge("equations solved", between(LEFT, Equations.kind), 2, are_equations, forward)
