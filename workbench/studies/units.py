"""Units of work stored as they finish, for other long computations than studies: the exam, recorded motions.

Units in the journals of a folder are not computed again, so that an interrupted command resumes where it stopped.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TypeVar

from workbench.studies.executors import done, pool_of
from workbench.studies.journal import Journal, Rows, read_journals
from workbench.support.errors import WorkbenchError

T = TypeVar("T")


def kept_or_made(
    units: Mapping[str, T], function: Callable[[T], Rows], folder: Path | None = None, workers: int = 1
) -> Iterator[tuple[str, Rows]]:
    """Yield the rows of every unit by its key: first those in the folder's journals, then the others as they finish.

    They are computed in this process, or in several if there are more `workers`. The row of a unit whose process died
    has `claimed` and `reason`; rows whose `claimed` is in `journal.BROKEN` are computed again the next time. Without a
    folder nothing is stored. Raises WorkbenchError if the folder cannot be written.
    """
    there = {} if folder is None else read_journals(folder).records
    there = {key: record for key, record in there.items() if key in units and not record.failed}
    for key, record in there.items():
        yield key, record.rows
    missing = {key: unit for key, unit in units.items() if key not in there}
    if not missing:
        return
    with _journal(folder) as journal, closing(_made(missing, function, workers)) as made:
        for key, rows in made:
            if journal:
                journal.append([(key, rows)])
            yield key, rows


def _made(
    units: Mapping[str, T], function: Callable[[T], Rows], workers: int
) -> Generator[tuple[str, Rows], None, None]:
    if workers == 1:
        for key, unit in units.items():
            yield key, function(unit)
        return
    with closing(done(pool_of(None, workers), partial(_of_pair, function), iter(units.items()))) as made:
        for (key, _), found in made:
            if isinstance(found, Exception):
                yield key, [{"claimed": "CRASHED", "reason": f"its process failed: {found}"}]
            else:
                yield key, found


def _of_pair(function: Callable[[T], Rows], pair: tuple[str, T]) -> Rows:
    return function(pair[1])


def _journal(folder: Path | None) -> AbstractContextManager[Journal | None]:
    if folder is None:
        return nullcontext()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkbenchError(f"cannot write to '{folder}': {error.strerror}; choose another folder") from error
    return Journal(folder / "journal.jsonl")
