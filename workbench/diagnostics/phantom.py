"""The window of the phantom inertia rho [kg] in which its lead matrix is regular, and in which it is a P-matrix.

The lead matrix is affine in rho, A + rho B, mixed (all unknowns) as well as reduced (after the Schur complement on the
free unknowns). It is singular at rho = 0, numerically so below a threshold that depends on scaling and on the tolerance
of the rank, and again at isolated values of rho: the eigenvalues

    2 eig(E^T K E),    K = [W^-1]_tt  the effective tangential mass with the normal rows held,

which are k eig(K) for k >= 2 axes spaced by pi / k and 2 eig(K) for the one axis of the plane. Indeed, the sum of the
rows of w_up and w_lo is 2 mu p_n + rho (w_up + w_lo) = 0, their difference 2 E^T p_t = rho (w_up - w_lo), and
p_t = K u_t with u_t = E (w_up - w_lo). Since K >= W_tt^-1 none lies below k / lambda_max(W_tt), or 2 / lambda_max(W_tt)
in the plane.
"""

import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.lazy import linalg
from workbench.matrices.p_property.verdict import p_verdict_of
from workbench.problems.classes import Array, equilibration
from workbench.problems.rank import rank
from workbench.step.stepper import Stepper
from workbench.support.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

SINGULAR = 1e-9
"""Ratio of smallest to largest singular value, equilibrated, below which the pencil counts as singular."""


@dataclass(frozen=True, eq=False)
class Pencil:
    """A + rho B, reduced and mixed, of a posed problem with phantom inertia; `rho` [kg] is the original value."""

    A: Array
    B: Array
    mixed_A: Array
    mixed_B: Array
    rho: float

    def reduced(self, rho: float) -> Array:
        return self.A + rho * self.B

    def mixed(self, rho: float) -> Array:
        return self.mixed_A + rho * self.mixed_B


def lead_matrices(stepper: Stepper) -> tuple[Array, Array]:
    """The mixed and the reduced lead matrix of the problem that a stepper poses. Raises DataError if it cannot."""
    reduced = stepper.problem().M
    if not reduced.size:
        raise DataError("equations alone leave no matrix of a complementarity problem")
    n = stepper.c.plan.n_free + reduced.shape[0]
    return stepper.work.A[:n, :n].copy(), reduced


def pencil(stepper: Stepper) -> Pencil:
    """The pencil of a stepper with phantom inertia, with its step begun. Raises DataError like posing."""
    rho = float(stepper.own[0])
    stepper.own[0] = 1.0
    mixed_1, reduced_1 = lead_matrices(stepper)
    stepper.own[0] = 0.0
    mixed_0, reduced_0 = lead_matrices(stepper)
    stepper.own[0] = rho
    return Pencil(reduced_0, reduced_1 - reduced_0, mixed_0, mixed_1 - mixed_0, rho)


def scan(p: Pencil, values: Iterable[float]) -> "pd.DataFrame":
    """Rank and condition over rho: one row per value and matrix, "mixed", "reduced" and "equilibrated" (D M D).

    Columns rho, matrix, size, rank, smallest (singular value over the largest; its inverse is the condition number).
    Ranks by the default tolerance of `rank`, size times eps times the largest singular value.
    """
    # Imported here, since a limit needs no table.
    import pandas as pd

    rows = []
    for x in values:
        M = p.reduced(x)
        D = equilibration(M)
        for name, matrix in (("mixed", p.mixed(x)), ("reduced", M), ("equilibrated", D[:, None] * M * D)):
            found = rank(matrix)
            sigma = found.singular_values
            rows.append((x, name, len(matrix), found.value, float(sigma[-1] / sigma[0])))
    return pd.DataFrame(rows, columns=["rho", "matrix", "size", "rank", "smallest"])


def singular_values_of_rho(p: Pencil) -> Array:
    """The isolated values of rho [kg] > 0 at which the lead matrix is singular, in order, without repetition.

    Generalised eigenvalues of the reduced pencil, kept where the matrix is singular there. Those far below
    1 / lambda_max(W_tt), the default value of the pencil's formulation, are round-off of the one at zero.
    """
    candidates = linalg.eigvals(p.A, -p.B)
    real = np.isfinite(candidates) & (np.abs(candidates.imag) <= 1e-6 * np.abs(candidates.real))
    found: list[float] = []
    for x in np.sort(candidates[real].real):
        if x > 1e-3 * p.rho and _is_singular(p.reduced(x)) and not (found and x <= found[-1] * (1 + 1e-6)):
            found.append(float(x))
    return np.array(found)


def _is_singular(M: Array) -> bool:
    D = equilibration(M)
    sigma = np.linalg.svd(D[:, None] * M * D, compute_uv=False)
    return bool(sigma[-1] <= SINGULAR * sigma[0])


def threshold(p: Pencil, matrix: Callable[[float], Array], tolerance: float | None = None) -> float:
    """Smallest rho [kg] with full numerical rank, to 1 %; `tolerance` relative to the largest singular value.

    `matrix` is `p.mixed` or `p.reduced`. The rank is assumed to be deficient below and full up to `p.rho`.
    """

    def full(log_rho: float) -> bool:
        M = matrix(np.exp(log_rho))
        sigma = np.linalg.svd(M, compute_uv=False)
        return bool(sigma[-1] > (len(M) * np.finfo(float).eps if tolerance is None else tolerance) * sigma[0])

    return _crossing(full, p.rho * 1e-20, p.rho, 0.01)


def p_limit(p: Pencil, highest: float, seconds: float = 10.0) -> float:
    """The rho [kg] between `p.rho` and `highest` at which the reduced matrix ceases to be a P-matrix, to 1e-5.

    NaN where it is not P at `p.rho`; `highest` where it is still P there. `seconds` limits each exact verdict, and
    an undecided verdict counts as not P.
    """

    def lost(log_rho: float) -> bool:
        return p_verdict_of(p.reduced(float(np.exp(log_rho))), seconds).verdict != "P"

    return float("nan") if lost(np.log(p.rho)) else _crossing(lost, p.rho, highest, 1e-5)


def _crossing(true_above: Callable[[float], bool], low: float, high: float, precision: float) -> float:
    """The point where a condition on log rho becomes true between low and high, by bisection."""
    grid = np.linspace(np.log(low), np.log(high), 2 + int(np.log(high / low) / precision))
    i = bisect.bisect_left(range(len(grid)), True, key=lambda k: true_above(float(grid[k])))
    return float(np.exp(grid[min(i, len(grid) - 1)]))
