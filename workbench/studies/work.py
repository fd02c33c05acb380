"""One unit of work: the missing rows of a point, computed in this process or in another one."""

import pickle
import platform
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.comparison.cases import CaseBenchmark
from workbench.comparison.compare import judged
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job
from workbench.comparison.metric import Metric
from workbench.comparison.reference import make_reference
from workbench.comparison.rows import rows_before, windows
from workbench.engine.travel import Parcel
from workbench.language.formulation import Formulation
from workbench.studies.plan import Point
from workbench.support.errors import WorkbenchError
from workbench.support.sources import digest_of

Records = list[tuple[str, list[dict[str, Any]]]]
"""Rows by the key of their run."""


@dataclass(frozen=True)
class Unit:
    """The missing runs of a point; `number` is the point's in the plan, `code` the digest of the planning workbench."""

    number: int
    point: Point
    exact: Formulation
    metrics: tuple[Metric, ...]
    missing: frozenset[str]
    code: str

    def __reduce__(self) -> tuple:
        return Unit, (self.number, self.point, self.exact, packed(self.metrics), self.missing, self.code)

    @property
    def wanted(self) -> list[tuple[str, Job]]:
        pairs = zip(self.point.keys, self.point.jobs, strict=True)
        return [(key, job) for key, job in pairs if key in self.missing]


class _Packed:
    """Pickled metrics, whose functions may come from a script; pickled once for all units."""

    def __init__(self, metrics: tuple[Metric, ...]) -> None:
        self.content = pickle.dumps(Parcel(metrics))

    def __reduce__(self) -> tuple:
        return pickle.loads, (self.content,)


packed = lru_cache(maxsize=4)(_Packed)


class OtherVersionError(WorkbenchError):
    """Raised if a worker, for example on another machine, has other code than the keys of its rows say."""


def run_unit(unit: Unit) -> Records:
    """Return the rows of a unit; if the point as a whole fails, each row has the reason. Raises OtherVersionError."""
    if unit.code != digest_of():
        raise OtherVersionError(
            f"workers on {platform.node()} have another version of the workbench, or of NumPy, SciPy, Numba, Clarabel "
            "or CVXPY, than the process that holds the study; install the same ones there"
        )
    case, settings, wanted = unit.point.case, unit.point.settings, unit.wanted
    try:
        jobs = [job for _, job in wanted]
        reference = make_reference(case, unit.exact, settings)
        found = judged(CaseBenchmark(case, settings, reference, jobs, unit.point.refused), unit.metrics)
    except Exception as error:
        return lost(unit, failed(error))
    return [(key, found[job]) for key, job in wanted]


def lost(unit: Unit, why: Failed) -> Records:
    """Return rows in place of those that could not be computed."""
    case, settings = unit.point.case, unit.point.settings
    duration = settings.duration or case.duration
    shown = windows(case, duration, max(job.h for _, job in unit.wanted))
    before = {job: rows_before(case, job, shown, duration) for _, job in unit.wanted}
    return [(key, [row | vars(why) for row in before[job]]) for key, job in unit.wanted]
