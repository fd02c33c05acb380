"""Growth of a formulation's error from exact states, after 1, 3, 10, 30 and 100 steps.

From states that exact Coulomb friction comes to at the step of the run, a formulation goes on by itself, and its
contacts are compared with those of exact Coulomb friction at the same times: how far they have opened or gone in, and
how they slide. An error that ends is a transient; one that grows with the steps is a drift. None is divided by itself,
so that none ends at 100 %.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.step.local_steps import onward
from workbench.step.parts import RunOfParts
from workbench.step.run import Run
from workbench.support.arrays import Array

AFTER = (1, 3, 10, 30, 100)
"""Numbers of steps after which contacts are compared."""
STARTS = 8
"""States, spread evenly over the window, from which runs go on."""


def onward_rows(named: dict[str, Any], exact: Run, run: Run, window: tuple[float, float]) -> list[dict[str, Any]]:
    """Return the rows of `columns.ONWARD` of a run's formulation against exact Coulomb friction at the same step.

    The states are those of the `window`, start and end [s]; `named` is what all rows begin with (`rows.of_run`). No row
    for cases in parts, and where no step is left.
    """
    first, last = round(window[0] / exact.h), min(round(window[1] / exact.h), exact.steps) - AFTER[0] - 1
    if isinstance(exact, RunOfParts) or last < first:
        return []
    # A state that is nearer to the end says nothing of the largest number of steps.
    far = last - AFTER[-1]
    starts = sorted({int(k) for k in np.linspace(first, far if far > first else last, STARTS)})
    found = onward(exact, run.formulation, default_solver(run.kind), starts, AFTER[-1] + 1)
    table = []
    for n in AFTER:
        reached = [(k, x) for k, x in zip(starts, found, strict=True) if x.steps > n and exact.steps > k + n]
        errors = np.array([_errors(exact, x, k, n) for k, x in reached])
        if len(errors):
            medians = [float(np.median(e[np.isfinite(e)])) if np.isfinite(e).any() else np.nan for e in errors.T]
            names = ("gap_error", "normal_error", "direction_error", "speed_error")
            table.append(named | {"after": n, "states": len(errors)} | dict(zip(names, medians, strict=True)))
    return table


def _errors(exact: Run, run: Run, k: int, n: int) -> Sequence[float]:
    """Gap, normal velocity, direction and speed of sliding n steps after the state before step k."""
    apart = run.record.phi[n - 1 : n + 1] - exact.record.phi[k + n - 1 : k + n + 1]
    gap, normal = abs(apart[1]), abs(apart[1] - apart[0]) / exact.h
    own, true = run.u_t[n - 1], exact.u_t[k + n - 1]
    speed, wanted = np.linalg.norm(own, axis=1), np.linalg.norm(true, axis=1)
    slides = wanted > exact.v_th
    both = slides & (speed > exact.v_th)
    cosine = (own * true).sum(axis=1)[both] / (speed * wanted)[both]
    angle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    share = abs(speed - wanted)[slides] / wanted[slides]
    return [_most(x) for x in (gap, normal, angle, share)]


def _most(x: Array) -> float:
    return float(x.max()) if x.size else np.nan
