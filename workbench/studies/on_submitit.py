"""Cluster jobs by submitit: each runs a shard of the study in the study's folder, which all machines share."""

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.studies.executors import pool_of
from workbench.studies.journal import Kept, in_use, read_journals
from workbench.studies.study import Progress, Study
from workbench.support.errors import WorkbenchError

JOBS = ".jobs"
"""Folder within the study's for files of submitit: the tasks, and logs."""
MINUTES = 60
REQUEUES = 1000
"""Maximum number of times that a job is queued again after its requested minutes, until its shard is complete."""
LOOK = 0.5
READ = 10.0
"""Seconds between checks of the jobs and of their results."""


@dataclass(frozen=True)
class Shard:
    """Task of a job, on one processor; repeated after preemption or timeout."""

    study: Study
    folder: Path
    retry_failed: bool

    def __call__(self) -> None:
        self.study.run(self.folder, pool_of("processes", 1), self.retry_failed)

    def checkpoint(self) -> Any:
        """Called by submitit before it queues a job again."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def is_submitit(executor: Any) -> bool:
    """Return whether an executor is one of submitit's, or its name."""
    return str(executor).startswith("submitit:") or type(executor).__module__.partition(".")[0] == "submitit"


def run_in_jobs(
    study: Study, folder: Path, submitter: Any, jobs: int, retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Kept:  # fmt: skip
    """Run the study in a number of jobs and wait for them; cancel them if this ends early.

    Raises WorkbenchError if a job fails.
    """
    if study.shard != (1, 1):
        raise WorkbenchError("submitit distributes the study itself; leave out --shard")
    if names := in_use(folder):
        raise WorkbenchError(
            f"jobs are using '{folder}' ({', '.join(names)}); progress: workbench study status {folder}"
        )
    folder = folder.absolute()
    before = study.begin(folder)
    wanted = {key for _, point in study.own for key in point.keys}
    there, start = len(wanted & before.done(retry_failed)), time.monotonic()

    def report() -> None:
        if progress:
            seconds, found = time.monotonic() - start, read_journals(folder).records
            made = sum(key in found and found[key] != before.records.get(key) for key in wanted)
            progress(Progress(there, made, len(wanted), seconds, f"{len(running)} of {jobs} jobs are left"))

    running: list[Any] = []
    try:
        if there < len(wanted):
            shards = [Shard(study.part(i, jobs), folder, retry_failed) for i in range(1, jobs + 1)]
            submitted = [submitter.submit(shard) for shard in shards]
            running += submitted
        report()
        read = time.monotonic()
        while running:
            time.sleep(LOOK)
            running = [job for job in running if not job.done()]
            if not running or time.monotonic() - read > READ:
                report()
                read = time.monotonic()
        if there < len(wanted):
            _must_have_ended_well(submitted)
        shutil.rmtree(folder / JOBS, ignore_errors=True)
    finally:
        for job in running:
            with suppress(Exception):
                job.cancel()
    return read_journals(folder)


def submitter_of(executor: Any, folder: Path) -> Any:
    """Return a submitit executor: the given one, or "submitit:slurm" or "submitit:local"; raises WorkbenchError."""
    if not isinstance(executor, str):
        return executor
    try:
        from submitit import AutoExecutor
    except ImportError as error:
        raise WorkbenchError("executor submitit needs submitit: pip install submitit") from error
    cluster = executor.partition(":")[2]
    again = {"slurm_max_num_timeout": REQUEUES} if cluster == "slurm" else {}
    try:
        found = AutoExecutor(folder.absolute() / JOBS, cluster, **again)
    except (RuntimeError, ValueError, OSError) as error:
        raise WorkbenchError(f"executor '{executor}' cannot be used here: {' '.join(str(error).split())}") from error
    found.update_parameters(name="workbench", timeout_min=MINUTES, cpus_per_task=1)
    return found


def _must_have_ended_well(jobs: list[Any]) -> None:
    for i, job in enumerate(jobs, 1):
        error = job.exception()
        if error is not None:
            # The last line of the job's error; the log has all of it.
            words = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
            raise WorkbenchError(
                f"job {i} of {len(jobs)} has failed: {words}; its log is {job.paths.stderr}; "
                "what was finished is kept, and the same command resumes"
            )
