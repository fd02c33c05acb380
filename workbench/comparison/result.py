"""Result of a comparison on a case or on a problem from a file, with the mathematics of its formulations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.comparison.columns import CASE, PROBLEM, SCENE
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Settings
from workbench.comparison.metric import Metric
from workbench.comparison.metrics import METRICS
from workbench.comparison.motion import DrawnMotion
from workbench.comparison.shown import SavedCase, SavedFormulation, SceneShown
from workbench.diagnostics.friction_section import friction_section, section_axes
from workbench.diagnostics.lead_matrix import theory_of
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import Compiled
from workbench.language.formulation import ContactSymbols, Formulation
from workbench.mechanics.case import Case, Truth
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import DataError

ABOUT = {CASE: "cases", PROBLEM: "problems from files", SCENE: "scenes"}
GENERIC_SOLVER = "cvxpy:CLARABEL"
"""Generic solver shown next to the round-off solver if a formulation is also a convex (conic) QP."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Tidy frames of a comparison, whose columns are those of `columns` and `metrics`. NaN means "not defined".

    runs            a row per formulation and solver, of a case also per step size and window
    trajectories    per run, step and contact; the exact solution's with role "reference"
    diagnostics     of a case: formulation, step, quantity, value, verdict, witness
    onward          of a case: what a formulation makes of exact states within up to a hundred steps (`onward`)
    bodies          of a scene: a row per run and body, the columns of `scenes.bodies.BODIES`
    timeline        when which contacts of a case, or bodies of a scene, stick or slide, the columns of `TIMELINE`
    events          of a case: events of the reference, and those that runs miss or have in excess, `EVENTS`
    mathematics     each formulation's relations, block matrix and source, printed from its declaration

    A `case` was stepped with `settings`, its `truths` were found on the reference, and `remarks` are sentences on what
    Coulomb's law leaves open. A `problem` is a single step
    without bodies: `facts` are those of `problem_facts`; `known` tells of its exact solution whether impulses and
    velocity are determined, and what the `nearest` W of bodies changes where the given one is none (`Nearest.facts`);
    `seconds` is the time that each of its rows was given, None for any. A `scene` was stepped as a case is, and tells
    up to when it is compared and what is left out of it. `motion` is what a case or scene with shapes moves like.
    A comparison that comes from files (`saved`) holds what pages show of the case and of formulations, and no problem.
    """

    name: str
    formulations: tuple[Formulation | SavedFormulation, ...]
    metrics: tuple[Metric, ...]
    runs: pd.DataFrame
    trajectories: pd.DataFrame
    diagnostics: pd.DataFrame
    mathematics: tuple[dict[str, Any], ...]
    case: Case | SavedCase | None = None
    settings: Settings = field(default_factory=Settings)
    truths: tuple[Truth, ...] = ()
    remarks: tuple[str, ...] = ()
    problem: FrictionProblem | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    motion: DrawnMotion | None = None
    scene: SceneShown | None = None
    bodies: pd.DataFrame = field(default_factory=pd.DataFrame)
    onward: pd.DataFrame = field(default_factory=pd.DataFrame)
    timeline: pd.DataFrame = field(default_factory=pd.DataFrame)
    events: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def stepped(self) -> bool:
        """True for a comparison of a case or a scene, False for a single problem."""
        return self.case is not None or self.scene is not None

    @property
    def turned(self) -> frozenset[str]:
        """Labels of formulations with axes along the sliding direction that are also present with fixed axes; they are
        ranked separately and shown on request."""
        fixed = {f.name for f in self.formulations if f.axes == "fixed"}
        return frozenset(f.label for f in self.formulations if f.axes == "sliding" and f.name in fixed)

    @property
    def windows(self) -> dict[str, pd.DataFrame]:
        """The rows of `runs`, window by window; those of a problem under the name ""."""
        if not self.stepped:
            return {"": self.runs}
        return {str(name): rows for name, rows in self.runs.groupby("window", sort=False)}


def by_first_solver(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a frame of runs that belong to the first solver of each formulation and step."""
    return frame[frame["solver"] == frame.groupby(["label", "step"])["solver"].transform("first")]


def chosen_metrics(about: frozenset[str], given: Iterable[Metric | str] | None) -> tuple[Metric, ...]:
    """Return the metrics given, as names or objects, or those of `METRICS` `about` the subject of the comparison.

    Raises UnknownNameError for an unknown name, DataError for what is no metric, comes twice, or is asked for by itself
    and about something else.
    """
    found = [METRICS.find(x) if isinstance(x, str) else x for x in (METRICS if given is None else given)]
    everything = {x.name for x in found if isinstance(x, Metric)} >= set(METRICS.names)
    for i, x in enumerate(found):
        if not isinstance(x, Metric):
            raise DataError(f"{x!r} is not a metric; make one with @metric(name, unit=..., meaning=...)")
        if x.name in METRICS and METRICS.find(x.name).column != x.column:
            raise DataError(f"the metric {x.name} has the name of a built-in one; rename it")
        if x.name in [y.name for y in found[:i]]:
            raise DataError(f"the metric {x.name} is given twice")
        if not about <= x.column.of and not (x.name in METRICS and everything):
            own = " and ".join(words for kind, words in ABOUT.items() if kind <= x.column.of)
            raise DataError(f"the metric {x.name} is about {own}, not about {ABOUT[about]}; leave it out here")
    return tuple(x for x in found if about <= x.column.of)


def mathematics(formulations: Sequence[Formulation], size: tuple[int, int, int, int]) -> tuple[dict[str, Any], ...]:
    """Return the mathematics of each formulation, printed from its declaration for the size (n, m, r, d).

    `options` are those of `Formulation.option_rows`.
    `section` and `sliding_section` are the vertices of `friction_section`, of a contact that sticks and of one that
    slides along its first axis; `section_axes` says along what that axis lies in either. What cannot be declared,
    compiled or printed says so in `failure`, and is not `compiled` in the first two cases.
    """
    return tuple(_card(f, size) for f in formulations)


def refusals(formulations: Sequence[Formulation], size: tuple[int, int, int, int]) -> dict[Formulation, Failed]:
    """Return why formulations cannot be declared or compiled for the size (n, m, r, d); the others are left out."""
    found = {}
    for f in formulations:
        try:
            _compiled(f, size)
        except Exception as error:
            found[f] = failed(error)
    return found


def _compiled(f: Formulation, size: tuple[int, int, int, int]) -> Compiled:
    if f.symbols is not ContactSymbols:
        raise DataError(f"{f.label} is about {f.symbols.about} and makes no time steps to compare")
    return compiled(f, *size)


def _section(f: Formulation) -> dict[str, Any]:
    """Return the cross-section of friction at mu = 1 for a card; None also if that of a user's formulation fails."""
    try:
        found = [friction_section(f, slides=slides) for slides in (False, True)]
        axes = section_axes(f) if found[0] is not None else None
    except Exception:
        found, axes = [None, None], None
    section, sliding = (None if x is None else x.tolist() for x in found)
    return {"section": section, "sliding_section": sliding, "section_axes": axes}


def _card(f: Formulation, size: tuple[int, int, int, int]) -> dict[str, Any]:
    # Lazy import: CVXPY takes longer to import than a warm comparison needs for its first row.
    from workbench.language.notation import glossary, latex_blocks, relation, sets

    card: dict[str, Any] = {
        "name": f.name, "label": f.label,
        "friction": f.friction, "source": f.source, "theory": theory_of(f), "problem_class": "",
        "relations": [], "sets": [], "blocks": "", "glossary": [], "compiled": False, "failure": None,
        "options": [list(option) for option in f.option_rows], **_section(f),
    }  # fmt: skip
    try:
        c = _compiled(f, size)
        card |= {"compiled": True, "problem_class": c.kind}
        relations = [relation(r, "latex") for r in c.declaration.relations]
        words, blocks, names = sets(c.declaration), latex_blocks(c.declaration), glossary(c.declaration)
    except Exception as error:
        return card | {"failure": failed(error)}
    return card | {"relations": relations, "sets": words, "blocks": blocks, "glossary": names}
