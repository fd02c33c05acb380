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
    rows_of: Callable[[Job], Rows], metrics: Sequence[Metric], progress: ProgressCallback | None,
) -> dict[Job, Rows]:  # fmt: skip
    """Return the rows of every planned job; `runs` collects those that are `made`. Jobs never `ready` come last."""
    rows: dict[Job, Rows] = {}

    def judge(job: Job) -> None:
        rows[job] = rows_of(job)
        if rows[job] and (told := in_short(rows[job][0], metrics)):
            say(progress, told)

    for one, found in made:
        runs[one] = found
        # The last runs may come much later.
        for job in [job for job in plan if job not in rows and ready(job)]:
            judge(job)
    left = [job for job in plan if job not in rows]
    for k, job in enumerate(left):
        if progress:
            progress(f"judging {job}", k, len(left))
        judge(job)
    return {job: rows[job] for job in plan}
