"""Rows of planned runs, each computed and reported as soon as the runs with which it is compared exist."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench.comparison.decision import in_short
from workbench.comparison.jobs import Job
from workbench.comparison.metric import Metric
from workbench.support.progress import ProgressCallback, say

Rows = list[dict[str, Any]]


def rows_in_turn(
    plan: Sequence[Job], made: Iterable[tuple[Job, Any]], runs: dict[Job, Any], ready: Callable[[Job], bool],
    first_of: Callable[[Job], dict[str, Any]], rows_of: Callable[[Job], Rows], metrics: Sequence[Metric],
    progress: ProgressCallback | None,
) -> dict[Job, Rows]:  # fmt: skip
    """Return the rows of every planned job; `runs` collects those that are `made`. Jobs never `ready` come last.

    The error that ranks is reported as soon as a run is made, from `first_of`: the rest of its row may come much later.
    """
    rows: dict[Job, Rows] = {}
    told: set[Job] = set()

    def tell(job: Job, row: dict[str, Any]) -> None:
        words = in_short(row, metrics)
        if words and job not in told:
            told.add(job)
            say(progress, words)

    def judge(job: Job) -> None:
        rows[job] = rows_of(job)
        if rows[job]:
            tell(job, rows[job][0])

    for one, found in made:
        runs[one] = found
        if one in plan:
            tell(one, first_of(one))
        # The last runs may come much later.
        for job in [job for job in plan if job not in rows and ready(job)]:
            judge(job)
    left = [job for job in plan if job not in rows]
    for k, job in enumerate(left):
        if progress:
            progress(f"judging {job}", k, len(left))
        judge(job)
    return {job: rows[job] for job in plan}
