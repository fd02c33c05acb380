"""Recommendation: formulations as accurate as exact Coulomb friction, the cost of their steps, and the one to use.

All verified formulations are ranked, along the axes that they run with, by one error: of a case how far a body gets
from where it is in the reference, of a scene the same on average, of a problem that of the velocity. With e_C, the
error of exact Coulomb friction at the same step, and u, the reference's own uncertainty or a twentieth of the error,
whichever is more, all whose error is at most e_C + u share the first place: an error below e_C is chance and no merit.
Below it, whose error is within u of the first of their place share that. Formulations are one entry where their runs,
and not only their errors, are the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.comparison.columns import SHOWN, Column
from workbench.comparison.cost import SAME_COST, SAME_COST_ONCE
from workbench.comparison.families import ENGINE, family
from workbench.comparison.metric import Metric
from workbench.comparison.once import once
from workbench.comparison.result import Comparison
from workbench.support.arrays import Array

EXACT, BARE = "coulomb", "none"
"""Name of the exact formulation, and the `friction` of a formulation without friction."""
RANKED = ("path_error", "body_position_error", "velocity_error")
"""Errors that rank, in order of preference; the first available one is used."""
ALIKE = 0.01
"""Relative error difference up to which two runs are the same, if it exceeds the reference's uncertainty."""
TIED = 0.05
"""Share of an error within which another one shares its place: where in their steps events fall changes more."""
NAMED = 3
"""Number of an entry's labels that are named in narrow places."""
LEAST = 1e-9
"""Error [m, or relative to |q|] below which differences are round-off."""
NEGLIGIBLE = 1e-6
"""Share of |q| within which velocity errors of problems share a place: generic solvers answer to this tolerance."""
COARSE = 0.1
"""Share of the reference path, or of a body's size if that is more, above which the error of the time step hides those
of formulations."""
LENGTHS = ((0.9995, 1.0, "m"), (0.9995e-5, 1e3, "mm"), (0.9995e-7, 1e6, "µm"), (0.0, 1e9, "nm"))
"""Length [m] from which on a unit is used, its number in a metre, and its name."""
SHOWN_ROWS = 10
"""Number of rows on the first screen: entries, and reasons why formulations have no answer."""
ASIDE = (
    "comfree", "genesis", "hunt-crossley", "gauss-seidel", "mujoco-pyramid", "discrete-velocity", "mujoco-noslip",
    "sap",
)  # fmt: skip
"""Formulations left out first if there are too many and others are more accurate: variants of engines, and near
duplicates of others."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A formulation, by its row of `runs`, and the rows of the `others` whose run is the same."""

    row: dict[str, Any]
    error: float
    place: int
    others: tuple[dict[str, Any], ...] = ()
    friction: str = ""
    stops: float | None = None
    """Time [s] at which the run ends early; None if it reaches the end of the case."""

    @property
    def label(self) -> str:
        return str(self.row["label"])

    @property
    def alike(self) -> tuple[str, ...]:
        """Labels of the other formulations with the same run."""
        return tuple(str(x["label"]) for x in self.others)

    @property
    def condition(self) -> str:
        """Condition under which its motion is that of Coulomb's law; empty if none is known."""
        return str(self.row.get("condition") or "")

    @property
    def by_condition(self) -> tuple["Entry", ...]:
        """The entry once for each condition of its formulations, with those that have it."""
        found: dict[str, Entry] = {}
        for row in (self.row, *self.others):
            one = replace(self, row=row, others=())
            known = found.setdefault(one.condition, one)
            if known is not one:
                found[one.condition] = replace(known, others=(*known.others, row))
        return tuple(found.values())

    @property
    def every(self) -> str:
        """The labels whose runs are the same: hybrid = ipc."""
        return " = ".join([self.label, *self.alike])

    @property
    def names(self) -> str:
        """The first of these names, for narrow places."""
        several = [self.label, *self.alike]
        more = len(several) - NAMED
        return " = ".join(several[:NAMED]) + (f" and {more} more" if more > 0 else "")

    @property
    def exact(self) -> bool:
        return bool(self.row["formulation"] == EXACT)

    @property
    def bare(self) -> bool:
        """True if the formulation has no friction."""
        return self.friction == BARE

    @property
    def cost(self) -> float:
        """[s] of a step; nan where it is not known."""
        return float(self.row.get("cost", np.nan))

    @property
    def dearest(self) -> float:
        """[s] of a step of the dearest formulation with the same run, if it is clearly dearer; else `cost`."""
        others = (replace(self, row=row, others=()) for row in self.others)
        return max((x.cost for x in others if self.cheaper(x) > 1.0), default=self.cost)

    def same_cost(self, other: "Entry") -> float:
        """The ratio of two costs up to which they are the same."""
        return SAME_COST_ONCE if min(self.row["timings"], other.row["timings"]) == 1 else SAME_COST

    def cheaper(self, other: "Entry") -> float:
        """Factor by which its step is cheaper than another's; 1 if the timings do not differ significantly."""
        if not self.cost > 0.0:
            return 1.0
        ratio, apart = other.cost / self.cost, self.row["cost_high"] < other.row["cost_low"]
        # What else a machine does makes timings longer, never shorter.
        least = min(ratio, other.row["cost_low"] / self.row["cost_low"])
        return ratio if apart and least > self.same_cost(other) else 1.0


@dataclass(frozen=True, eq=False)
class Decision:
    """Entries by place and error, rows without a verified answer, and how well errors are known.

    `own` is e_C and `known` u, both in the unit of the column `error`, nan where they are not known.
    """

    error: Column
    step: float
    entries: tuple[Entry, ...]
    missing: tuple[dict[str, Any], ...]
    own: float
    known: float

    @property
    def first(self) -> tuple[Entry, ...]:
        """Entries that share the first place, have friction and reach the end."""
        return tuple(x for x in self.entries if x.place == 1 and not x.bare and x.stops is None)

    @property
    def exact(self) -> Entry | None:
        return next((x for x in self.entries if x.exact), None)

    @property
    def exact_in_words(self) -> str:
        """Exact Coulomb friction with its step, by which it differs from Coulomb's law."""
        return f"exact Coulomb friction{f' stepped at {1e3 * self.step:g} ms' if np.isfinite(self.step) else ''}"

    @property
    def as_exact(self) -> bool:
        """True if the entries at the first place are as accurate as exact Coulomb friction at this step."""
        return bool(self.entries) and self.entries[0].error <= shared_up_to(self.own, self.known)

    @property
    def tested(self) -> bool:
        """True if friction matters: without it bodies move differently."""
        return not any(x.place == 1 and x.bare for x in self.entries)

    @property
    def moved(self) -> float:
        """Length [m] with which errors of a motion are compared: the longest reference path or the largest body; 0
        where neither is known."""
        row = self.entries[0].row if self.entries else {}
        return max(float(np.nan_to_num(row.get(name, 0.0))) for name in ("path_length", "body_size"))

    @property
    def coarse(self) -> bool:
        """True if the time step is so long that exact Coulomb friction itself misses the reference."""
        return bool(self.moved > 0.0 and self.own > COARSE * self.moved)

    @property
    def cheapest(self) -> Entry | None:
        """The entry with the cheapest step at the first place, exact Coulomb friction excluded."""
        others = (x for x in self.first if not x.exact)
        return min(others, key=lambda x: (np.isnan(x.cost), x.cost), default=None)

    @property
    def taken(self) -> Entry | None:
        """The recommended entry: exact Coulomb friction, unless another entry at the first place is clearly cheaper."""
        exact, cheapest = self.exact, self.cheapest
        if exact is not None and exact in self.first and (cheapest is None or cheapest.cheaper(exact) == 1.0):
            return exact
        return cheapest

    @property
    def recommended(self) -> Entry | None:
        """`taken`, unless it is less accurate than exact Coulomb friction, friction does not matter or the step is too
        long."""
        return self.taken if self.as_exact and self.tested and not self.coarse else None

    @property
    def near_miss(self) -> Entry | None:
        """The most accurate entry that is clearly cheaper than exact Coulomb friction where that is recommended.

        None if a more accurate one costs about as much, whose timings scatter too much to call it cheaper.
        """
        taken = self.taken
        if taken is None or not taken.exact:
            return None
        # An engine's steps are not verified, and an error as large as that without friction is no advice.
        most = min((x.error for x in self.entries if x.bare), default=np.inf)
        able = [
            x for x in self.entries
            if x.error < most and not x.bare and x.stops is None and family(x.label) != ENGINE
        ]  # fmt: skip
        best = next((x for x in able if x.cheaper(taken) > 1.0), None)
        if best is None or any(best.cheaper(x) == 1.0 and x.error < best.error for x in able):
            return None
        return best


def shared_up_to(own: float, known: float) -> float:
    """Return the error up to which the first place is shared; LEAST if it is not known."""
    return float(np.nan_to_num(own)) + apart(np.nan_to_num(own), known)


def apart(error: float, known: float) -> float:
    """Return the difference above which another error counts as larger, given the reference's uncertainty `known`."""
    return max(float(np.nan_to_num(known)), TIED * error, LEAST)


def amount(x: float, column: Column) -> str:
    """An error with its unit: a length in metres, millimetres, micrometres or nanometres, or percent."""
    if np.isnan(x):
        return "–"
    factor, _, unit = SHOWN[column.shown]
    if column.shown == "millimetres" and x >= LEAST:
        factor, unit = next((by, name) for least, by, name in LENGTHS if x >= least)
    value = factor * x
    return (
        f"{value:.3g} {unit}"
        if value >= 1e-3 or x == 0
        else f"{value:.0e} {unit}".replace("e-0", "e-")
        if x >= LEAST
        else f"0 {unit}"
    )


def in_short(row: Mapping[str, Any], metrics: Sequence[Metric]) -> str:
    """Return the ranking error of a row as a short text; empty if the row is not verified or has none."""
    columns = {c.name: c for m in metrics for c in m.columns}
    name = next((x for x in RANKED if x in columns), None)
    if not row["verified"] or name is None or not np.isfinite(row.get(name, np.nan)):
        return ""
    return f"{row['label']}, {row['solver']}: error {amount(row[name], columns[name])}"


def shown(d: Decision) -> list[Entry]:
    """The entries that a first screen has room for; all where there are few, and always what is recommended."""
    found, room = list(d.entries), SHOWN_ROWS - len({x["claimed"] for x in d.missing})
    advised = [x for x in (d.taken, d.near_miss) if x is not None]
    for label in ASIDE:
        if len(found) > room:
            found = [x for x in found if x.row["formulation"] != label or x.alike or x.place == 1 or x in advised]
    others = [x for x in found if x not in advised][: max(0, room - len(advised))]
    return [x for x in found if x in advised or x in others]


@once
def decide(c: Comparison, step: float | None = None) -> Decision | None:
    """Return the decision at a step size [s], by default the first, in the first window; None without a ranking error.

    Of several solvers of a formulation the first counts whose answer is verified.
    """
    columns = {x.name: x for m in c.metrics for x in m.columns}
    name = next((x for x in RANKED if x in columns), None)
    if name is None or c.runs.empty:
        return None
    rows = next(iter(c.windows.values()))
    if c.stepped:
        step = c.settings.steps[0] if step is None else step
        rows = rows[(rows["step"] == step) & ~rows["sampled"].astype(bool)]
    rows = rows.sort_values("verified", ascending=False, kind="stable").drop_duplicates("label").sort_index()
    answered = rows[rows["verified"].astype(bool) & rows[name].notna()]
    mine = answered.loc[answered["formulation"] == EXACT, name]
    own = float(mine.iloc[0]) if len(mine) else _part(answered, name, "discretisation")
    known = _part(answered, name, "reference") if c.stepped else NEGLIGIBLE
    missing = _records(rows[~rows.index.isin(answered.index)])
    entries = _placed(_joined(c, _records(answered), name, known, step), own, known)
    return Decision(columns[name], float(step or np.nan), entries, tuple(missing), own, known)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in rows.to_dict("records")]


def _part(rows: pd.DataFrame, name: str, part: str) -> float:
    """A part of the error budget that all rows share: the largest that is known; nan where none is."""
    column = f"{name.removesuffix('_error')}_{part}"
    return float(rows[column].max()) if column in rows else np.nan


def _joined(c: Comparison, rows: Sequence[dict[str, Any]], name: str, known: float, step: float | None) -> list[Entry]:
    """Return an entry for each row; rows with the same run share one, except exact and frictionless ones."""
    frictions = {f.label: f.friction for f in c.formulations}
    early = stops(c, step) if step else {}
    runs, distance = _answers(c, rows, step), _apart if c.case else _mean_apart
    found: list[Entry] = []
    # Variants of engines and near duplicates are not what others are named after.
    for row in sorted(rows, key=lambda row: row["formulation"] in ASIDE):
        label, error = str(row["label"]), float(row[name])
        one = Entry(row, error, 0, friction=frictions.get(label, ""), stops=early.get(label))
        alone = one.exact or one.bare or label in early
        for i, other in enumerate(found):
            if alone or other.exact or other.bare or other.label in early or not {label, other.label} <= set(runs):
                continue
            least = max(np.nan_to_num(known), ALIKE * max(error, other.error), LEAST)
            if distance(runs[label], runs[other.label]) < least:
                found[i] = replace(other, others=(*other.others, row))
                break
        else:
            found.append(one)
    exact = next((x for x in found if x.exact), None)
    return [_cheapest_first(x, name, exact) for x in found]


def _cheapest_first(x: Entry, name: str, exact: Entry | None) -> Entry:
    """Return the entry with its cheapest formulation first, if it is clearly cheaper than the one that was first, or if
    it is clearly cheaper than exact Coulomb friction and that one is not."""
    rows = (x.row, *x.others)
    least = min(rows, key=lambda row: np.nan_to_num(row.get("cost", np.nan), nan=np.inf))
    other = replace(x, row=least, error=float(least[name]), others=tuple(row for row in rows if row is not least))
    alone = exact is not None and other.cheaper(exact) > 1.0 and x.cheaper(exact) == 1.0
    return other if other.cheaper(x) > 1.0 or alone else x


def _answers(c: Comparison, rows: Sequence[dict[str, Any]], step: float | None) -> dict[str, Array]:
    """Return by label the data by which two runs are compared: positions (K, B, 3) [m] up to the end of the window, or
    for a problem the contact velocities (1, contacts, 1 + d) over |q|."""
    solvers = {str(r["label"]): r["solver"] for r in rows}
    if c.motion is not None and rows:
        within = c.motion.t <= rows[0]["window_end"] + 1e-9
        return {
            x.label: x.position[within] for x in c.motion.tracks
            if x.role == "run" and x.step == step and solvers.get(x.label) == x.solver
        }  # fmt: skip
    if c.problem is None:
        return {}
    free = float(np.linalg.norm(c.problem.q)) or 1.0
    curves = c.trajectories[c.trajectories["role"] == "run"]
    names = [x for x in ("u_n", "u_t1", "u_t2") if x in curves]
    own = curves[curves["solver"] == curves["label"].map(solvers)]
    return {str(label): x[names].to_numpy()[None] / free for label, x in own.groupby("label", sort=False)}


def _apart(a: Array, b: Array) -> float:
    """Return the largest distance of two runs; nan, which compares as false, if one of them ends early."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(a - b, axis=-1).max())


def _mean_apart(a: Array, b: Array) -> float:
    """Return the mean distance of the farthest body of a scene, or the norm over all contacts of a problem."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.linalg.norm(a - b, axis=-1)
        return float(np.linalg.norm(apart) if len(a) == 1 else apart.mean(axis=0).max())


def _placed(entries: Sequence[Entry], own: float, known: float) -> tuple[Entry, ...]:
    """Return entries with places, ties ordered by error, exact Coulomb friction before all others."""
    ordered = sorted(entries, key=lambda x: x.error)
    found: list[Entry] = []
    share, place = shared_up_to(own, known), 1
    for i, x in enumerate(ordered):
        if x.error > share:
            share, place = x.error + apart(x.error, known), i + 1
        found.append(replace(x, place=place))
    return tuple(sorted(found, key=lambda x: (x.place, not x.exact, x.error)))


def stops(c: Comparison, step: float) -> dict[str, float]:
    """Return by label the times [s] at which runs at a step size [s] stop before the end of the case."""
    if c.case is None:
        return {}
    rows = list(c.windows.values())[-1]
    rows = rows[~rows["sampled"].astype(bool) & (rows["step"] == step)]
    rows = rows[~rows["label"].isin(rows["label"][rows["residual"].notna()]) & (rows["steps"] > 0)]
    ends = rows["window_start"] + rows["steps"] * rows["step"]
    return {str(k): float(t) for k, t in ends.groupby(rows["label"], sort=False).max().items()}
