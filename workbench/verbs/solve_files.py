"""Problems in files, each solved by several solvers: a row of results for each, as the command `solve` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.algorithms.tuning import Tuning
from workbench.comparison.solving import COLUMNS, Task, profile, solve_row, solve_rows, summary
from workbench.diagnostics.proved_answer import ProvedAnswer
from workbench.language.formulation import Formulation
from workbench.readers.answers import read_answer, write_answer
from workbench.readers.files import read_problem_file
from workbench.studies.problem_files import JOURNAL, resumed
from workbench.support.errors import WorkbenchError
from workbench.verbs.find import find_solver
from workbench.verbs.solve import answer_proof

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FileTasks:
    """Every file with every solver, each solved within `seconds` [s] in a process of its own if that is given."""

    tasks: list[Task]
    seconds: float | None

    @staticmethod
    def of(
        files: Sequence[tuple[Path, bool]], formulation: Formulation, solvers: Sequence[str], seconds: float | None,
        start: str | None = None, tolerance: float | None = None, iterations: int | None = None,
    ) -> FileTasks:  # fmt: skip
        """Make the tasks of files, each with whether it was found inside a folder, in which case a file that cannot be
        read is a row. Without solvers the default one is taken; `start` is a file with an initial guess.

        Raises WorkbenchError for an unknown solver or an unusable start.
        """
        for name in solvers:
            find_solver(name)
        guess = None if start is None else read_answer(start, read_problem_file(files[0][0]))
        tuning = Tuning(guess, tolerance, iterations)
        pairs = [(path, inside, s) for path, inside in files for s in solvers or (None,)]
        return FileTasks([(path, formulation, s, not inside, tuning) for path, inside, s in pairs], seconds)

    def rows(self, prove: bool = False) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield each row of results as it is computed, with the arrays of its solution if there is one.

        With `prove` a row also has `proved`, the distance of an exact solution, and `not_proved`, why there is none.
        """
        alone = len(self.tasks) == 1 and self.seconds is None
        rows = [solve_row(*self.tasks[0], alone=True)] if alone else solve_rows(self.tasks, self.seconds)
        for task, (row, values) in zip(self.tasks, rows, strict=True):
            yield (row | _proof(task, row, values) if prove else row), values

    def resumed(self, folder: Path) -> AbstractContextManager[tuple[int, Iterator[dict[str, Any]]]]:
        """Return how many rows the journal of a folder has, and all rows in order, those that it lacks computed."""
        return resumed(self.tasks, self.seconds, folder)

    @staticmethod
    def journal(folder: Path) -> Path:
        """Return the file in a folder in which finished rows are kept."""
        return folder / JOURNAL

    def write_answer(self, row: dict[str, Any], values: dict[str, Any], path: Path) -> None:
        """Write the solution of the only task. Raises WorkbenchError if there is none."""
        if not values:
            raise WorkbenchError(f"no solution to write to '{path}': {row['reason']}")
        write_answer(read_problem_file(self.tasks[0][0]), values, path)


def _proof(task: Task, row: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """The row's entries on a proof of its solution."""
    if not values:
        return {"proved": None, "not_proved": "there is no answer"}
    z = values["p"] if "p" in values else values["z"]
    found = answer_proof(read_problem_file(task[0]), task[1], z, row["moved"])
    return {"proved": found.distance, "not_proved": found.reason or None}


def proof_in_words(row: dict[str, Any]) -> str:
    """Return the outcome of a row's proof as text."""
    return ProvedAnswer(row["proved"], row["not_proved"] or "").words


def test_set(found: Sequence[dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the rows as a frame, their summary with a row per solver, and the performance profile of the times."""
    import pandas as pd

    rows = pd.DataFrame(found, columns=list(COLUMNS))
    rows = rows.astype(dict.fromkeys(("size", "contacts", "iterations"), "Int64"))
    return rows, summary(rows), profile(rows)
