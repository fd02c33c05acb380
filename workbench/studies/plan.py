"""The plan of a study: its points, and the runs at each, with a key of everything that determines their rows."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.comparison.columns import RUNS
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job, Settings
from workbench.comparison.metric import Metric
from workbench.comparison.rows import must_hold_a_step
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.step.scheme import find_scheme
from workbench.support.errors import UnknownNameError
from workbench.support.sources import digest_of

SETTINGS = {"step": "s", "reference_step": "s", "duration": "s", "scheme": ""}
"""Run settings that a study may vary, with their units; in addition, `relax.NAME` is a compliance."""


@dataclass(frozen=True)
class Point:
    """A case with its parameters and settings, and the runs there, which share the reference.

    `given` are the values of varied quantities, by column; `refused` are formulations that cannot be run here.
    """

    case: Case
    settings: Settings
    given: dict[str, Any]
    jobs: tuple[Job, ...]
    keys: tuple[str, ...]
    refused: dict[Formulation, Failed]


def plan(
    cases: Sequence[Case], formulations: Sequence[Formulation], solvers: Sequence[Solver], metrics: Sequence[Metric],
    settings: Settings, places: Sequence[dict[str, Any]],
) -> Iterator[Point]:  # fmt: skip
    """Yield every case at every combination of values; raises WorkbenchError for an invalid combination.

    A combination names parameters of the case, settings (`SETTINGS`), `relax.NAME` for a compliance, and
    FORMULATION.OPTION for options. Without `solvers` the solver is "auto".
    """
    kinds = Kinds(solvers)
    made = digest_of(*(m.function for m in metrics)), sorted(m.name for m in metrics)
    for case, place in product(cases, places):
        there, own, variants, given = _at(case, settings, formulations, place)
        own.must_fit()
        must_hold_a_step(there, own)
        jobs, refused = kinds.jobs(there, variants, own)
        about = (*made, _identity(there), vars(replace(own, steps=())))
        keys = [_key(about, job) for job in jobs]
        yield Point(there, own, given, tuple(jobs), tuple(keys), refused)


@dataclass
class Kinds:
    """Solvers of formulations, looked up once for each size."""

    solvers: Sequence[Solver]

    def __post_init__(self) -> None:
        self.known: dict[tuple[Formulation, tuple[int, ...]], Failed | tuple[Solver, ...]] = {}

    def jobs(
        self, case: Case, formulations: Sequence[Formulation], settings: Settings
    ) -> tuple[list[Job], dict[Formulation, Failed]]:
        """Return the runs to make, and the formulations for which no step can be formed, with the reason."""
        refused = {f: found for f in formulations if isinstance(found := self._of(f, case.size), Failed)}
        jobs = [
            Job(f, solver, h, settings.relaxation)
            for h in settings.steps for f in formulations
            for solver in ([None] if f in refused else self.known[f, case.size])  # type: ignore[union-attr]
        ]  # fmt: skip
        return jobs, refused

    def _of(self, f: Formulation, size: tuple[int, int, int, int]) -> Failed | tuple[Solver, ...]:
        if (f, size) not in self.known:
            try:
                self.known[f, size] = tuple(self.solvers) or (default_solver(compiled(f, *size).kind),)
            except Exception as error:
                self.known[f, size] = failed(error)
        return self.known[f, size]


def columns_of(cases: Sequence[Case], places: Sequence[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the columns of varied quantities, with unit and meaning; a name that `runs` has is preceded by "case."."""
    names = dict.fromkeys(name for place in places for name in place if name != "step")
    units = {name: (unit, meaning) for case in cases for name, _, unit, meaning in case.parameter_table()}
    found = {}
    for name in names:
        unit, meaning = units.get(name, (SETTINGS.get(name, ""), f"{name}, varied"))
        found[column(name)] = {"unit": "1" if unit == "-" else unit, "meaning": meaning, "defined": ""}
    return found


def column(name: str) -> str:
    """Return the column of the quantity varied under this name."""
    return f"case.{name}" if name in {c.name for c in RUNS} else name


def _at(
    case: Case, settings: Settings, formulations: Sequence[Formulation], place: dict[str, Any]
) -> tuple[Case, Settings, list[Formulation], dict[str, Any]]:
    parameters: dict[str, Any] = {}
    compliance: dict[str, float] = {}
    run: dict[str, Any] = {}
    options: dict[str, dict[str, Any]] = {}
    for name, value in place.items():
        head, dot, tail = name.partition(".")
        if dot and head == "relax":
            compliance[tail] = value
        elif dot and any(f.name == head for f in formulations):
            options.setdefault(head, {})[tail] = value
        elif name in SETTINGS:
            run["steps" if name == "step" else name] = _setting(name, value)
        elif dot:
            raise UnknownNameError("quantity to vary", name, [f"{f.name}.OPTION" for f in formulations])
        else:
            parameters[name] = value
    there = case.with_parameters(**parameters)
    own = replace(settings, **run).of_case(there)
    if compliance:
        own = replace(own, relaxation=(own.relaxation or Relaxation()).with_values(**compliance))
    variants = [f.with_options(**options.get(f.name, {})) for f in formulations]
    given = {column(name): value for name, value in place.items() if name != "step"}
    return there, own, list(dict.fromkeys(variants)), given


def _setting(name: str, value: Any) -> Any:
    return (value,) if name == "step" else find_scheme(value) if name == "scheme" else value


def _identity(case: Case) -> tuple[Any, ...]:
    kind = type(case)
    return digest_of(kind), kind.__qualname__, case.data().tolist()


def _key(about: tuple[Any, ...], job: Job) -> str:
    solver: Any = type(job.solver)
    facts = (
        *about, digest_of(job.subject.build), job.subject.name, sorted(job.subject.options.items()),
        job.solver_name, digest_of(solver), job.h,
    )  # fmt: skip
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
