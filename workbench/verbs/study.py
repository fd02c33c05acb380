"""`study`: comparisons over many parameters, saved row by row, resumable, distributed."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from workbench.comparison.columns import CASE
from workbench.comparison.result import chosen_metrics
from workbench.studies.design import DesignAxis, Range, Sample, points, together, varied
from workbench.studies.executors import pool_of
from workbench.studies.journal import Kept
from workbench.studies.long_table import LongTable
from workbench.studies.on_submitit import is_submitit, run_in_jobs, submitter_of
from workbench.studies.plan import columns_of, plan
from workbench.studies.study import Progress, Study
from workbench.studies.tables import shown_columns
from workbench.support.errors import WorkbenchError
from workbench.support.numbers import must_be_whole
from workbench.support.output import path_of, provenance, write_json
from workbench.verbs.compare import ComparisonSettings, settings_of, written
from workbench.verbs.find import find_case, find_formulation, find_formulations, find_solver, must_differ, several
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Studied(Result):
    """A study: `rows` is a tidy frame with one row per point, formulation, solver, step and window."""

    study: Study = field(repr=False)
    kept: Kept = field(repr=False)
    settings: dict[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        names = list(dict.fromkeys(point.case.name for point in self.study.points))
        return f"a study of {' and '.join(names)} over {len(self.study.points)} points"

    @property
    def rows(self) -> pd.DataFrame:
        """Varied parameters, then the columns of a comparison's `runs`; units and meanings in `attrs["columns"]`."""
        return self.table.frame()

    @cached_property
    def table(self) -> LongTable:
        """`rows`, without loading all of them into memory."""
        return self.study.table(self.kept)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"rows": self.rows}

    @property
    def whole(self) -> bool:
        """True if all rows are complete, including those of other shards."""
        return all(key in self.kept.records for point in self.study.points for key in point.keys)

    @property
    def words(self) -> Sequence[str]:
        return self._words(self._shown)

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(**self.settings)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        return self._page(self._shown, facts or self.facts)

    def write(self, folder: Path, facts: dict[str, Any] | None = None) -> None:
        """Write rows.parquet, rows.csv, the page and provenance.json into an existing folder."""
        import pandas as pd

        path, facts = folder / "rows.parquet", facts or self.facts
        self.table.write(path, folder / "rows.csv")
        # Columns of the file are read faster than lines of the journal.
        rows = pd.read_parquet(path, columns=shown_columns(self.table.columns))
        (folder / "report.html").write_bytes(self._page(rows, facts).encode())
        write_json(folder / "provenance.json", facts)

    @cached_property
    def _shown(self) -> pd.DataFrame:
        return self.table.frame(shown_columns(self.table.columns))

    def _page(self, rows: pd.DataFrame, facts: dict[str, Any]) -> str:
        from workbench.builtin.reports.pages.study import render

        return render(self.title, self._words(rows), rows, self.study.metrics, facts)

    def _words(self, rows: pd.DataFrame) -> list[str]:
        """Number of rows there are, and what they say if none is missing."""
        from workbench.builtin.reports.text.study import conclusions

        wanted = {key for point in self.study.points for key in point.keys}
        there = [record for key, record in self.kept.records.items() if key in wanted]
        verified = sum(record.verified for record in there)
        words = [f"{len(there)} of {len(wanted)} runs are complete, {verified} of them verified in every window."]
        if others := len(self.kept.records) - len(there):
            words.append(f"{others} kept runs of other parameters, settings or versions are not used here.")
        for name, count in self.kept.damaged.items():
            words.append(f"{count} damaged record{'s' * (count > 1)} in {name}: these runs were repeated.")
        return [*words, *(conclusions(rows, self.study.metrics) if self.whole else [])]


class Computation(TypedDict, total=False):
    """Where the rows of a study are computed, as people give it: arguments of `_computed` by name."""

    folder: str | Path | None
    executor: Any
    workers: int | None
    retry_failed: bool


class StudySettings(ComparisonSettings, Computation, total=False):
    """What all runs of a study share, and where they are computed."""


def study(
    cases: Any, formulations: Any = None, *, parameters: Mapping[Any, Any] | None = None, sample: str | None = None,
    seed: int = 0, solvers: Any = (), metrics: Any = None, shard: tuple[int, int] = (1, 1),
    progress: Callable[[Progress], None] | None = None, **settings: Unpack[StudySettings],
) -> Studied:  # fmt: skip
    """Compare formulations over many parameters of cases, with each run judged against Coulomb's law.

    `parameters` maps a name to values: a list, "0.1:0.9:9" (nine values), "1e-3:1:4:log", or a range "0.1:0.9" or
    `(0.1, 0.9)` that is sampled; a tuple of names maps to a list of tuples, for quantities that vary together.
    Names are parameters of the cases, `step`, `scheme`, `reference_step`, `duration`, `relax.k_n` and other
    compliances, and FORMULATION.OPTION. `sample` is "sobol:128", "lhs:100" or "random:100", and `seed` that of its
    random numbers. `solvers`, `metrics` and the settings are those of `compare`; without `solvers` the solver is
    "auto".

    Finished rows are kept in `folder`, where repeating the same study computes only what is missing; without a folder
    nothing is kept. `executor` is "processes", "dask://HOST:PORT", "mpi", "submitit:slurm", "submitit:local", one of
    submitit's objects, or one with the interface of `concurrent.futures`. `workers` is the number of processes, of
    submitit's jobs, or of units that an object takes at once; the default is the number of processors. `shard` (i, n)
    computes every n-th point from the i-th. A row that fails has its reason, and `retry_failed` computes it again.
    A script that uses other processes begins with `if __name__ == "__main__":`. Raises WorkbenchError for an invalid
    study.

    >>> import workbench as wb
    >>> found = wb.study("wheel", "box", parameters={"mu": [0.2, 0.4]}, duration=0.01, workers=1)
    >>> found.rows.query("window == 'all'")[["mu", "label", "verified"]].values.tolist()
    [[0.2, 'box', True], [0.4, 'box', True]]
    """
    chosen = find_formulations(formulations)
    must_differ(chosen)
    found = [find_case(case) for case in several(cases)]
    axes, ranges, steps = _varied(parameters or {})
    places = points(axes, ranges, _sample(sample, seed))
    where: Any = {name: value for name, value in settings.items() if name in Computation.__annotations__}
    shared: Any = {name: value for name, value in settings.items() if name not in where}
    own = settings_of(shared | steps)
    measured = chosen_metrics(CASE, None if metrics is None else several(metrics))
    planned = tuple(plan(found, chosen, [find_solver(s) for s in several(solvers)], measured, own, places))
    what = Study(planned, find_formulation("coulomb"), measured, columns_of(found, places), _shard(shard))
    facts = {
        "cases": [case.name for case in found], "formulations": [f.label for f in chosen], "seed": seed,
        "parameters": {str(k): v for k, v in (parameters or {}).items()}, "sample": sample,
        "settings": written(own), "metrics": [m.name for m in measured],
    }  # fmt: skip
    return _computed(what, facts, progress, **where)


def _computed(
    what: Study, facts: dict[str, Any], progress: Callable[[Progress], None] | None, *,
    folder: str | Path | None = None, executor: Any = None, workers: int | None = None, retry_failed: bool = False,
) -> Studied:  # fmt: skip
    workers = (os.cpu_count() or 1) if workers is None else workers
    kept = None if folder is None else path_of("folder", folder)
    if is_submitit(executor):
        if kept is None:
            raise WorkbenchError("a study in jobs of submitit needs a folder that all machines see")
        submitter = submitter_of(executor, kept)
        return Studied(what, run_in_jobs(what, _made(kept), submitter, workers, retry_failed, progress), facts)
    pool = pool_of(executor, workers)
    if kept is not None:
        return Studied(what, what.run(_made(kept), pool, retry_failed, progress), facts)
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="workbench-"))
        result = Studied(what, what.run(Path(place), pool, retry_failed, progress), facts)
        # Its rows are read from the folder.
        weakref.finalize(result, stack.pop_all().close)
    return result


def _varied(parameters: Mapping[Any, Any]) -> tuple[list[DesignAxis], list[Range], ComparisonSettings]:
    """Axes and ranges; steps that are a separate axis are steps of every point, which share its reference."""
    axes, ranges, steps = [], [], ComparisonSettings()
    if not isinstance(parameters, Mapping):
        raise WorkbenchError(f"parameters of type {type(parameters).__name__}; values by name are needed")
    for name, values in parameters.items():
        if isinstance(name, tuple):
            rows = [several(row) for row in values]
            if wrong := next((row for row in rows if len(row) != len(name)), None):
                raise WorkbenchError(f"{', '.join(name)} = {wrong!r:.40}; {len(name)} values are needed at a time")
            axes.append(together({key: [row[k] for row in rows] for k, key in enumerate(name)}))
            continue
        if not isinstance(name, str):
            raise WorkbenchError(f"{name!r:.40} is varied; the name of a parameter is needed")
        found = varied(name, values)
        if isinstance(found, Range):
            ranges.append(found)
        elif name == "step":
            steps["steps"] = [x for (x,) in found.values]
        else:
            axes.append(found)
    return axes, ranges, steps


def _sample(text: str | None, seed: int) -> Sample | None:
    if text is None:
        return None
    must_be_whole("seed", seed, 0)
    method, _, count = str(text).partition(":")
    if not count.isdecimal():
        raise WorkbenchError(f"sample '{text}'; give a method and a number of points, such as sobol:128 or lhs:100")
    return Sample(method, int(count), seed)


def _shard(given: tuple[int, int]) -> tuple[int, int]:
    i, n = several(given) if len(several(given)) == 2 else (given, None)
    if not (isinstance(i, Integral) and isinstance(n, Integral) and 1 <= int(i) <= int(n)):
        raise WorkbenchError(f"shard {i}/{n}; the first number counts from 1 to the second")
    return int(i), int(n)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkbenchError(f"cannot write to '{folder}': {error.strerror}; choose another folder") from error
    return folder
