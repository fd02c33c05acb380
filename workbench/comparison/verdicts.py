"""Diagnostics of a run's matrices: ranks, the P-property, and the distance of sliding from Painlevé's paradox."""

from typing import Any

import numpy as np

from workbench.comparison.once import once
from workbench.engine.interpreted import SMALL, interpreting
from workbench.matrices.p_property.verdict import INTERPRETED, LARGEST_BATCH_ORDER, p_verdict_of, smallest_minor
from workbench.matrices.p_property.witness import PVerdict
from workbench.problems.rank import rank, ranks
from workbench.step.run import Run
from workbench.support.arrays import Array

P_SECONDS = 0.5
"""Time for one P verdict of a comparison."""


@once
def sliding_minor(run: Run) -> Array:
    """(K,) smallest principal minor [1/kg^k] of the sliding matrix A_nn - A_nt [mu xi] of the contacts that slide.

    Positive: the matrix is a P-matrix and the sliding contact forces are unique (formulary, section 5). nan where no
    contact slides, and of more than eight contacts. Directions are those of the velocity before the step.
    """
    _, _, r, d = run.case.size
    if r > LARGEST_BATCH_ORDER:
        return np.full(run.steps, np.nan)
    before = np.einsum("kij,kj->ki", run.record.J[:, r:], run.states_v[:-1]) + run.record.r_t
    before = before.reshape(-1, r, d)
    speed = np.linalg.norm(before, axis=-1)
    slides = speed > run.case.v_th
    xi = np.where(slides[..., None], before / np.where(slides, speed, 1.0)[..., None], 0.0)
    W_nt = run.W[:, :r, r:].reshape(-1, r, r, d)
    D = run.W[:, :r, :r] - np.einsum("kijd,kjd->kij", W_nt, run.record.friction[..., None] * xi)
    minors = smallest_minor(D)
    return np.where(slides.any(axis=-1), minors, np.nan)


def verdicts(named: dict[str, Any], run: Run) -> list[dict[str, Any]]:
    """Rows of `diagnostics`: ranks of the lead matrix and its P-property, and the Painleve line of `sliding_minor`.

    `named` is what all rows begin with (`rows.of_run`)."""
    if not run.steps:
        return []
    rows, minor = _of_lead_matrix(run.record.M), sliding_minor(run)
    worst = float(np.nanmin(minor)) if np.isfinite(minor).any() else np.nan
    when = float(run.t[np.nanargmin(minor)]) if np.isfinite(worst) else np.nan
    contacts = run.case.size[2]
    why_not = (
        f"{contacts} contacts; minors are taken of up to {LARGEST_BATCH_ORDER}" if contacts > LARGEST_BATCH_ORDER
        else "no sliding contact"
    )  # fmt: skip
    rows.append({
        "quantity": "smallest minor of the sliding matrix", "value": worst,
        "verdict": "not defined" if np.isnan(worst) else "P" if worst > 0 else "not P",
        "witness": why_not if np.isnan(worst) else f"at t = {when:.4g} s",
    })  # fmt: skip
    return [named | row for row in rows]


def p_verdict_in_short(M: Array) -> PVerdict:
    """Return the verdict on the P-property of M (n, n), by exact means within `P_SECONDS`, with what supports it."""
    n = len(M)
    with interpreting(SMALL if n <= INTERPRETED else n):
        return p_verdict_of(M, P_SECONDS)


def _of_lead_matrix(M: Array) -> list[dict[str, Any]]:
    """Return rank and P-property of the first reduced lead matrix M (K, n, n), and the smallest rank of all."""
    quantities = (
        "rank of the reduced lead matrix, first step", "smallest rank along the trajectory",
        "P-matrix? reduced lead matrix, first step",
    )  # fmt: skip
    n = M.shape[-1]
    if n == 0:
        nothing = {"value": np.nan, "verdict": "not defined", "witness": "pure equations leave no problem to solve"}
        return [{"quantity": quantity} | nothing for quantity in quantities]
    first, lowest = rank(M[0]), int(ranks(M).min())
    gap = "none" if first.gap is None else f"{first.gap:.1e}"
    found = p_verdict_in_short(M[0])
    support = found.proof or found.reason or f"minor of rows {', '.join(map(str, found.index_set or ()))} <= 0"
    return [
        {
            "quantity": quantity, "value": float(value),
            "verdict": "full" if value == n else f"deficient by {n - value}", "witness": witness,
        }
        for quantity, value, witness in (
            (quantities[0], first.value, f"n = {n}, tolerance {first.tolerance:.1e}, gap {gap}"),
            (quantities[1], lowest, f"{len(M)} steps"),
        )
    ] + [{"quantity": quantities[2], "value": np.nan, "verdict": found.verdict, "witness": support}]  # fmt: skip
