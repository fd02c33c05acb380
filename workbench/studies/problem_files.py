"""Problems from files solved one after the other, each finished row stored in a journal."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench.algorithms import find_solver
from workbench.comparison.solving import COLUMNS, Task, solve_rows
from workbench.studies.journal import Journal, read_journals
from workbench.support.sources import digest_of

JOURNAL = "journal.jsonl"
BROKEN = ("FAILED", "CRASHED")
"""Outcomes of rows that are computed again, since the failure may have been fixed."""


@contextmanager
def resumed(tasks: Sequence[Task], seconds: float | None, folder: Path) -> Iterator[tuple[int, Iterator[dict]]]:
    """Return the number of task rows in a folder's journal, and all rows in order, computed if missing.

    `seconds` is the time limit of each. The folder is created, and removed again if nothing was stored. Raises
    WorkbenchError if the journal cannot be written or another process writes to it.
    """
    made, path = not folder.exists(), folder / JOURNAL
    folder.mkdir(exist_ok=True)
    try:
        with Journal(path) as journal:
            before = read_journals(folder).rows
            keys = [key_of(task, seconds) for task in tasks]
            there = {key: before[key][0] for key in keys if key in before and before[key][0]["claimed"] not in BROKEN}
            missing = [task for key, task in zip(keys, tasks, strict=True) if key not in there]
            fresh = solve_rows(missing, seconds)

            def rows() -> Iterator[dict[str, Any]]:
                for key in keys:
                    if key in there:
                        yield dict.fromkeys(COLUMNS) | there[key]
                    else:
                        row, _ = next(fresh)
                        journal.append([(key, [row])])
                        yield row

            yield len(tasks) - len(missing), rows()
    finally:
        if path.exists() and not path.stat().st_size:
            path.unlink()
        if made:
            with suppress(OSError):
                # Only an empty folder can be removed.
                folder.rmdir()


def key_of(task: Task, seconds: float | None) -> str:
    """Return a digest of all that determines a row: the file's name and content, solver and settings, versions."""
    path, formulation, solver, strict, tuning = task
    try:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        # The row says that the file cannot be read, and is obsolete once it can.
        content = f"cannot be read: {error.strerror}"
    own = (digest_of(type(find_solver(solver))),) if solver else ()
    start = None if tuning.start is None else tuning.start.tolist()
    facts = (
        str(path), content, formulation.name, sorted(formulation.options.items()), digest_of(formulation.build),
        solver, own, strict, start, tuning.tolerance, tuning.max_iterations, seconds,
    )  # fmt: skip
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
