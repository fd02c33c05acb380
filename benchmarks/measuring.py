"""Peers side by side: who solves which problem, how fast, and to which residual.

All peers of a comparison solve a problem one after the other, round by round, so that whatever slows the machine down
slows all of them; a peer that is not installed is said to be missing. No peer grades itself: the residual is the
problem's own, `Problem.residual`.
"""

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import (
    BUDGET,
    ROUNDS,
    Comparison,
    Failed,
    Measure,
    Missing,
    Options,
    Result,
    Task,
    say,
)
from benchmarks.peers.apart import apart
from workbench.problems.classes import Array

Rows = list[dict[str, Any]]


def loaded(comparison: Comparison) -> tuple[dict[str, Measure], dict[str, str]]:
    """Measures of the peers that are there, and the reasons of those that are not."""
    found, missing = {}, {}
    for peer in comparison.peers:
        try:
            found[peer.name] = limited(peer.most, apart(comparison, peer) if peer.apart else peer.load())
        except (ImportError, Missing) as error:
            missing[peer.name] = " ".join(str(error).split())[:160]
            say(f"missing: {peer.name} ({missing[peer.name]})")
    return found, missing


def limited(contacts: int | None, ask: Measure) -> Measure:
    """Asked for so many contacts at most: data for more, such as a dense W, are not even made."""

    def measure(task: Task) -> tuple[Any, float, str]:
        if contacts is not None and (task.contacts or 0) > contacts:
            raise Failed(f"not asked above {contacts} contacts")
        return ask(task)

    return measure


def compare(comparison: Comparison, options: Options, keep: Callable[[Rows], None] = lambda rows: None) -> Result:
    """Every task by every peer, interleaved; the smallest task once beforehand, so that kernels are loaded.

    `keep` gets the rows of each task as they come. Raises Missing where the problems are not there.
    """
    tasks = comparison.tasks(options)
    measures, missing = loaded(comparison)
    for measure in measures.values():
        attempt(measure, min(tasks, key=lambda t: t.problem.size))
    rows: Rows = []
    for k, task in enumerate(tasks):
        say(f"{comparison.name} {k + 1}/{len(tasks)}: {task.name}")
        new = solved_by_all(task, measures, 1 if options.quick else ROUNDS, comparison.within)
        rows += [{"comparison": comparison.name, **row} for row in new]
        keep(rows)
    return Result(comparison, rows, missing)


def attempt(measure: Measure, task: Task) -> tuple[Any, float, str]:
    """The measure's answer; (None, nan, reason) where it failed."""
    try:
        return measure(task)
    except Failed as reason:
        return None, np.nan, str(reason)


def solved_by_all(task: Task, measures: dict[str, Measure], rounds: int, within: tuple[float, float]) -> Rows:
    """One row a peer: median, least and largest seconds of the rounds, the largest residuals among their answers."""
    seconds: dict[str, list[float]] = {name: [] for name in measures}
    residuals: dict[str, Array] = {}
    remarks = dict.fromkeys(measures, "")
    for k in range(rounds):
        for name, measure in measures.items():
            # Who failed once fails again, and who is slow has been measured well enough.
            if k and (len(seconds[name]) < k or sum(seconds[name][1:]) + seconds[name][-1] > BUDGET):
                continue
            z, spent, remarks[name] = attempt(measure, task)
            if np.isfinite(spent):
                seconds[name].append(spent)
                found = judged(task, z)
                residuals[name] = np.maximum(residuals.get(name, found), found)
    failed = np.full(task.count, np.inf)
    return [row(task, name, seconds[name], residuals.get(name, failed), within, remarks[name]) for name in measures]


def judged(task: Task, z: Any) -> Array:
    """The residuals of z by the problem, one for each problem of a batch: nan without z, inf where z is not finite."""
    if z is None:
        return np.full(task.count, np.nan)
    z = np.asarray(z, dtype=float)
    # Answers may be so far off that their squares overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        residual = np.atleast_1d(task.problem.residual(np.where(np.isfinite(z), z, 0.0)))
    bad = ~np.isfinite(z).reshape(len(residual), -1).all(axis=1) | np.isnan(residual)
    return np.where(bad, np.inf, residual)


def row(
    task: Task, peer: str, seconds: list[float], residuals: Array, within: tuple[float, float], remark: str
) -> dict[str, Any]:
    """One line of the table of everything; seconds are those of one of the task's `count` problems or steps."""
    each = [s / task.count for s in seconds]
    return {
        "problem": task.name, "group": task.group, "size": task.problem.size, "contacts": task.contacts, "peer": peer,
        "seconds": median(each) if each else np.nan, "least": min(each, default=np.nan),
        "largest": max(each, default=np.nan), "rounds": len(each), "residual": residuals.max(),
        "problems": residuals.size, "solved": int((residuals <= within[0]).sum()),
        "closely": int((residuals <= within[1]).sum()), "remark": remark,
    }  # fmt: skip
