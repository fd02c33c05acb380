"""One unit of work: the missing rows of a point, made in this process or in another one."""

import pickle
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job
from workbench.comparison.judged import judged
from workbench.comparison.metric import Metric
from workbench.comparison.rows import windows
from workbench.engine.travel import Parcel
from workbench.language.formulation import Formulation
from workbench.studies.plan import Point

Records = list[tuple[str, list[dict[str, Any]]]]
"""Rows by the key of their run."""


@dataclass(frozen=True)
class Unit:
    """The runs of a point that are still to be made; `number` is the point's in the plan."""

    number: int
    point: Point
    exact: Formulation
    metrics: tuple[Metric, ...]
    missing: frozenset[str]

    def __reduce__(self) -> tuple:
        return Unit, (self.number, self.point, self.exact, _packed(self.metrics), self.missing)

    @property
    def wanted(self) -> list[tuple[str, Job]]:
        pairs = zip(self.point.keys, self.point.jobs, strict=True)
        return [(key, job) for key, job in pairs if key in self.missing]


class _Packed:
    """Metrics on their way, whose functions may be those of a script; packed once for all units."""

    def __init__(self, metrics: tuple[Metric, ...]) -> None:
        self.content = pickle.dumps(Parcel(metrics))

    def __reduce__(self) -> tuple:
        return pickle.loads, (self.content,)


_packed = lru_cache(maxsize=4)(_Packed)


def rows_of(unit: Unit) -> Records:
    """The rows of a unit; where the point as a whole fails, each row has the reason."""
    case, settings, wanted = unit.point.case, unit.point.settings, unit.wanted
    try:
        jobs = [job for _, job in wanted]
        found = judged(case, jobs, unit.exact, settings, unit.metrics, unit.point.refused).rows
    except Exception as error:
        return lost(unit, failed(error))
    return [(key, found[job]) for key, job in wanted]


def lost(unit: Unit, why: Failed) -> Records:
    """Rows in the place of those that could not be made."""
    case, settings = unit.point.case, unit.point.settings
    duration = settings.duration or case.duration
    return [(key, [w | vars(why) for w in windows(job, case, duration)]) for key, job in unit.wanted]
