"""Figures of a comparison: curves over time of a case, points for contacts and small multiples of a problem."""

from typing import TypeVar

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import WIDTH, Chart, Figure, budget, envelopes, lines, short
from workbench.builtin.reports.figures.ranges import SMALLEST, range_of
from workbench.builtin.reports.figures.ranking import ranking_figure
from workbench.builtin.reports.figures.scenes import figures_of_scene
from workbench.builtin.reports.figures.styles import MODE_COLOURS
from workbench.builtin.reports.figures.timeline import timeline_figure
from workbench.comparison.metrics.force_errors import SHARE
from workbench.comparison.result import Comparison
from workbench.support.arrays import Array

POINTS, ROWS = 400, 4800
"""Points drawn per curve at most, and rows of a figure; the frames keep every step."""
ROUND_OFF = 1e-8
"""Smallest share of an error budget for which a field is shown."""
SHARE_OF_SOLVER = 0.01
"""Share of an error from which on a further solver's part in it is worth a row of the budget."""
SHOWN_AS = {"discretisation": "step size"}
"""Display names of parts of the error budget that differ from their columns."""
MOST_CONTACTS = 6
"""Contacts that have a plot of their own each; of more the range is drawn."""
COLUMNS, SIDE = 4, 170
"""Small multiples in a row, and their side [px]."""
SEEN_AS_ONE = 0.005
"""Share of an axis up to which points are seen as one."""
SEEN = 1e-4
"""Errors [mm, °, %] from which on what becomes of exact states is drawn."""
LOW, REACH = -0.08, 1.6
"""Normalised friction between which contacts are drawn: a little below zero, so that none lies on an axis."""
C = TypeVar("C", alt.X, alt.Y)
UNCERTAIN = "uncertainty of the reference"


def figures(c: Comparison) -> list[Figure]:
    """All figures of a comparison, in the order of the page."""
    if c.scene:
        return figures_of_scene(c)
    return ranking_figure(c) + (_of_problem(c) if c.case is None else _of_case(c))


def _budget(c: Comparison, caption: str) -> list[Figure]:
    """Error budget of the first window, a plot for each relative error; none without metrics that have a budget.

    Rows are of the first solver, and of others that make `SHARE_OF_SOLVER` of an error.
    """
    runs = next(iter(c.windows.values()))
    metrics = [m for m in c.metrics if m.parts and m.column.shown == "percent" and runs[m.column.name].notna().any()]
    first = ~runs.duplicated([name for name in ("label", "step") if name in runs])
    telling = first.copy()
    for m in metrics:
        own = [x.name for x in m.parts if x.part == "solver" and x.name in runs]
        telling |= (runs[own].gt((SHARE_OF_SOLVER * runs[m.column.name]).clip(lower=1e-6), axis=0)).any(axis=1)
    run = runs["label"].where(first, runs["label"] + " by " + runs["solver"])
    if "step" in runs and runs["step"].nunique() > 1:
        run += runs["step"].map(", {:g} s".format)
    fields = [
        runs[[x.name for x in m.columns if x.name in runs]]
        .rename(columns={x.name: SHOWN_AS.get(x.part, x.part) or "total" for x in m.columns})
        .assign(run=run, field=m.column.title)[telling]
        for m in metrics
    ]
    fields = [field for field in fields if (field.select_dtypes("number") > ROUND_OFF).any(axis=None)]
    if not fields:
        return []
    return [Figure("budget", "Error budget", caption, budget(pd.concat(fields)))]


def _of_case(c: Comparison) -> list[Figure]:
    curves = curves_of(c)
    if curves.empty:
        return []
    # What belongs to the whole system is the same for every contact.
    system = curves[curves["contact"] == curves["contact"].min()]
    known = pd.concat([system, uncertainty_of(c)])
    known.attrs["aside"] = system.attrs["aside"]
    return [
        *timeline_figure(c), *_onward(c),
        *_by_contact(
            "friction", "Normalised friction |p_t| / (μ p_n)",
            "Against time. A sliding contact must be at 1, the boundary of Coulomb's cone; polygon and box leave it as "
            "the sliding direction turns relative to their axes. Drawn where the contact "
            f"carries a tenth of its RMS normal impulse or more. {undetermined(curves)}".strip(),
            loaded(curves), "normalised_friction", "normalised friction [-]",
        ),
        *_by_contact(
            "misalignment", "Angle between friction and the direction opposite to sliding",
            "Against time; 0° under Coulomb's law. Drawn where the contact slides faster than the stick "
            f"threshold. {undetermined(curves)}".strip(),
            curves, "misalignment", "misalignment [°]",
        ),
        *_of_system(
            "position", "Distance of the centre of mass from the reference",
            "Against time, logarithmic. "
            f"A curve below “{UNCERTAIN}” is as good as the reference.",
            known, "position_error", "distance [m]", log=True,
        ),
        *_of_system(
            "energy", "Difference of mechanical energy from the reference",
            "Against time, logarithmic; potential energy is zero at the floor.",
            known, "energy_error", "energy difference [J]", log=True,
        ),
        *_budget(
            c,
            f"Errors of the table in the window “{next(iter(c.windows))}”, logarithmic. Reference: its uncertainty. "
            "Step size, formulation, compliance, solver: the differences that lead from the reference to the run. "
            "Parts may cancel, so one can exceed the total. Values below 1e-6 % are round-off and not drawn.",
        ),
        *_of_system(
            "painleve", "Smallest principal minor of the sliding matrix",
            "Against time; the matrix is A_nn − A_nt [μ ξ] of the sliding contacts. Positive: a P-matrix, so sliding "
            "forces are unique. Zero or negative: Painlevé paradoxes are possible.",
            system, "sliding_minor", "smallest minor [1/kg]", zero=True,
        ),
    ]  # fmt: skip


def _onward(c: Comparison) -> list[Figure]:
    """Figures of the errors in gap, sliding direction and sliding speed after n steps from exact states."""
    if c.onward.empty:
        return []
    frame = c.onward.assign(step=c.onward["step"].map("{:g} s".format))
    frame = frame.assign(gap_error=1e3 * frame["gap_error"], speed_error=100.0 * frame["speed_error"])
    words = (
        f"Each formulation starts from {frame['states'].max()} states of exact Coulomb friction at this step, in the "
        f"window “{next(iter(c.windows))}”. Lines: median over these states of the largest contact error; both "
        "axes logarithmic. A rising line is drift, a falling one a transient. "
        f"Errors below {SEEN:g} are not drawn. Soft formulations start without the penetration that carries their load."
    )
    found = []
    for column, title, axis in (
        ("gap_error", "Gap error after an exact state", "gap error [mm]"),
        ("direction_error", "Sliding direction error after an exact state", "direction error [°]"),
        ("speed_error", "Sliding speed error after an exact state", "speed error [%]"),
    ):
        if not (frame[column] > SEEN).any():
            continue
        chart = lines(frame[frame[column] > SEEN], column, axis, ("after", "steps since the exact state"), log=True)
        found.append(Figure(column.replace("_error", "-onward"), title, words, chart))
    return found


def _of_system(
    name: str, title: str, caption: str, curves: pd.DataFrame, column: str, axis: str, log: bool = False,
    zero: bool = False,
) -> list[Figure]:  # fmt: skip
    """Return the figure, or none if no value can be drawn."""
    if curves[column].isna().all() or (log and not (curves[column] > SMALLEST).any()):
        return []
    aside = curves.attrs["aside"]
    within = range_of(curves[~curves["label"].isin(aside)], column, log, zero)
    chart = lines(curves, column, axis, log=log, zero=zero, within=within, aside=aside)
    return [Figure(name, title, f"{caption} {within.words}".strip(), chart)]


def _by_contact(name: str, title: str, caption: str, curves: pd.DataFrame, column: str, axis: str) -> list[Figure]:
    """A plot for each contact; of very many their range, at the first step size."""
    if curves["contact"].nunique() <= MOST_CONTACTS or curves[column].isna().all():
        return _of_system(name, title, caption, curves, column, axis)
    first = curves[(curves["step"] == curves["step"].iloc[0]) & ~curves["label"].isin(curves.attrs["aside"])]
    words = f"Shaded: from the least to the greatest of {curves['contact'].nunique()} contacts; the line is the median."
    return [Figure(name, title, f"{caption} {words}", envelopes(first, column, axis, range_of(first, column)))]


def curves_of(c: Comparison) -> pd.DataFrame:
    """The first solver's run of each formulation and step, thinned for drawing; `attrs["aside"]` are those that are
    drawn when they are singled out, `Comparison.turned`."""
    frame = c.trajectories
    frame = frame[frame["role"] == "run"]
    parts = []
    curves = frame.groupby(["label", "step", "contact"], sort=False)
    points = min(POINTS, ROWS // max(1, len(curves)))
    for _, group in curves:
        first = group[group["solver"] == group["solver"].iloc[0]]
        parts.append(first.iloc[:: max(1, -(-len(first) // points))])
    if not parts:
        return frame
    thinned = pd.concat(parts, ignore_index=True)
    thinned["step"] = thinned["step"].map("{:g} s".format)
    thinned.attrs["aside"] = sorted(c.turned)
    return thinned


def uncertainty_of(c: Comparison) -> pd.DataFrame:
    """The reference's rows of one contact, thinned, as a curve of its own in every figure of errors."""
    frame = c.trajectories
    own = frame[(frame["role"] == "reference") & (frame["contact"] == frame["contact"].min())]
    if "position_error" not in own or own["position_error"].isna().all():
        return own.iloc[:0]
    thinned = own.iloc[:: max(1, -(-len(own) // POINTS))]
    # In the plot of every step size.
    return pd.concat([thinned.assign(label=UNCERTAIN, step=f"{h:g} s") for h in c.settings.steps])


def loaded(curves: pd.DataFrame) -> pd.DataFrame:
    """No friction where a contact carries less than `SHARE` of the RMS normal impulse that it has over the run."""
    squares = curves["p_n"].where(curves["p_n"] > 0) ** 2
    mean = squares.groupby([curves[name] for name in ("label", "step", "contact")]).transform("mean")
    carries = curves["p_n"] >= SHARE * np.sqrt(mean)
    return curves.assign(normalised_friction=curves["normalised_friction"].where(carries))


def undetermined(curves: pd.DataFrame) -> str:
    """Return a sentence on the share of the drawn impulses that the motion does not determine; "" if there is none."""
    if "determined" not in curves:
        return ""
    share = 1.0 - curves["determined"][curves["mode"] != "open"].astype(float).mean()
    if not share > 0:
        return ""
    return (
        f"At {100 * share:.3g} % of the closed-contact samples the motion does not determine friction; the value drawn "
        "there is one of many."
    )


def _of_problem(c: Comparison) -> list[Figure]:
    points = contacts_of(c)
    if points.empty:
        return []
    points, alike = apart(points)
    beyond = int((points["normalised_friction"] > REACH).sum())
    left_out = f" {beyond} points beyond {REACH:g} are not drawn." if beyond else ""
    thin = points.attrs["of"]
    some = f" Formulations whose points coincide share a plot: {alike}." if alike else ""
    some += f" Drawn: {points['contact'].nunique()} of {thin} contacts." if points["contact"].nunique() < thin else ""
    hollow = (
        "" if points["determined"].all()
        else " Hollow: the velocity does not determine the impulses of this contact; the point is one of many."
    )  # fmt: skip
    return [
        *_budget(
            c,
            "Errors of the table, logarithmic; velocities relative to |q|. Total: the row against Coulomb's law. "
            "Formulation: solved to round-off, against Coulomb's law. Solver: the row against the formulation solved "
            "to round-off. Values below 1e-6 % are round-off and not drawn.",
        ),
        Figure(
            "friction", "Normalised friction |p_t| / (μ p_n), contact by contact",
            "Horizontal: Coulomb's law. Vertical: the formulation. On the diagonal they agree; 1 is the boundary of "
            f"Coulomb's cone. Colour: contact mode in the exact solution.{hollow}{left_out}{some}",
            scatter(points),
        ),
        Figure(
            "cones", "Friction within its cone, p_t / (μ p_n)",
            "Each loaded contact, in the file's tangent axes. Circle: boundary of Coulomb's disc. "
            f"Polygons and boxes show as corners and edges.{hollow}{left_out}{some}" if c.facts["dimension"] == 3 else
            "Each loaded contact; ±1 is the boundary of Coulomb's cone."
            f"{hollow}{left_out}{some}",
            cones(points) if c.facts["dimension"] == 3 else strips(points),
        ),
        Figure(
            "motion", "Normal velocity against sliding velocity",
            "Horizontal: |u_t|. Vertical: u_n. Both after the step, in the file's unit. Under Coulomb's law a loaded "
            f"contact has u_n = 0; the CCP opens sliding ones at u_n = μ |u_t|. Every contact is drawn.{some}",
            motion(points),
        ),
    ]  # fmt: skip


def contacts_of(c: Comparison) -> pd.DataFrame:
    """The contacts of each formulation's first row that has impulses; evenly thinned where there are very many."""
    frame, d = c.trajectories[c.trajectories["role"] == "run"], c.facts["dimension"] - 1
    first = frame.drop_duplicates("label")[["label", "solver"]]
    points = frame.merge(first, on=["label", "solver"])
    contacts = int(frame["contact"].max()) + 1 if len(frame) else 0
    every = -(-contacts * max(1, len(first)) // ROWS)
    points = points[points["contact"] % max(1, every) == 0].copy()
    points.attrs["of"] = contacts
    tangents = [f"p_t{j + 1}" for j in range(d)]
    size = np.linalg.norm(points[tangents], axis=1)
    for name in tangents:
        points[name] = points["normalised_friction"] * points[name] / np.where(size > 0, size, 1.0)
    points["slip"] = np.linalg.norm(points[[f"u_t{j + 1}" for j in range(d)]], axis=1)
    numbers = [*tangents, "slip", "u_n", "normalised_friction", "exact_friction"]
    points[numbers] = points[numbers].map(short)
    return points


def apart(points: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the points of one formulation of each indistinguishable group, and the groups in words."""
    numbers = [x for x in ("p_t1", "p_t2", "normalised_friction", "slip", "u_n") if x in points]
    size = points[numbers].abs().max().replace(0.0, 1.0)
    size[[x for x in numbers if x not in ("slip", "u_n")]] = REACH
    seen = points[["contact", "closed"]].join((points[numbers].fillna(0.0) / size).clip(-1.1, 1.1))
    lots: list[list[str]] = []
    for label in dict.fromkeys(points["label"]):
        own = seen[points["label"] == label].to_numpy(dtype=float)
        like = (x for x in lots if _alike(seen[points["label"] == x[0]].to_numpy(dtype=float), own))
        found = next(like, None)
        if found is None:
            lots.append([label])
        else:
            found.append(label)
    shown = points[points["label"].isin([x[0] for x in lots])].copy()
    shown.attrs["of"] = points.attrs["of"]
    titles = {x[0]: "\n".join([*x[0].split(" with "), *[f"and {len(x) - 1} more"] * (len(x) > 1)]) for x in lots}
    shown["label"] = shown["label"].map(titles)
    return shown, "; ".join(f"{', '.join(x[:-1])} and {x[-1]}" for x in lots if len(x) > 1)


def _alike(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= SEEN_AS_ONE)


def _multiples(points: pd.DataFrame, marks: alt.Chart, frame: alt.Chart | None, side: int = SIDE) -> Chart:
    """A small chart per formulation, `frame` (with data of its own) behind its points."""
    order = list(dict.fromkeys(points["label"]))
    layers = [marks] if frame is None else [frame, marks]
    return (
        alt.layer(*layers, data=points)
        .properties(width=side, height=side)
        .facet(
            facet=alt.Facet(
                "label:N",
                sort=order,
                title=None,
                header=alt.Header(labelFontSize=12, labelPadding=4, labelExpr="split(datum.value, '\\n')"),
            ),
            columns=COLUMNS,
        )
    )


def _marks(x: alt.X, y: alt.Y) -> alt.Chart:
    scale = alt.Scale(domain=list(MODE_COLOURS), range=list(MODE_COLOURS.values()))
    legend = alt.Legend(orient="top", title="in the exact solution")
    return (
        alt.Chart()
        .mark_point(filled=True, size=26, strokeWidth=1)
        .encode(
            x=x, y=y, color=alt.Color("exact_mode:N", scale=scale, legend=legend),
            stroke=alt.Stroke("exact_mode:N", scale=scale, legend=legend),
            fillOpacity=alt.condition("datum.determined", alt.value(0.75), alt.value(0.0)),
            strokeOpacity=alt.value(0.8), tooltip=["contact:Q", "mode:N", "exact_mode:N"],
        )
    )  # fmt: skip


def _ratio(channel: type[C], key: str, low: float, title: str | None) -> C:
    return channel(
        f"{key}:Q", title=title, scale=alt.Scale(domain=[low, REACH], nice=False),
        axis=alt.Axis(values=[-1, 0, 1] if low < LOW else [0, 0.5, 1, 1.5]),
    )  # fmt: skip


def within(points: pd.DataFrame) -> pd.DataFrame:
    """Without the points that lie beyond the axes."""
    return points[(points["normalised_friction"] <= REACH) & (points["exact_friction"] <= REACH)]


def scatter(points: pd.DataFrame) -> Chart:
    """Normalised friction, exact across and the formulation's up; contacts open in both are left out."""
    shown = within(points[points["closed"] | (points["exact_mode"] != "open")])
    diagonal = pd.DataFrame({"x": [0.0, REACH], "y": [0.0, REACH]})
    line = alt.Chart(diagonal).mark_line(color="#bbb", strokeWidth=1).encode(x="x:Q", y="y:Q")
    x, y = _ratio(alt.X, "exact_friction", LOW, "exact"), _ratio(alt.Y, "normalised_friction", LOW, "formulation")
    return _multiples(shown, _marks(x, y), line)


def cones(points: pd.DataFrame) -> Chart:
    """Friction of the contacts in space that carry something, in the unit disc."""
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    rim = pd.DataFrame({"x": np.cos(angle).round(4), "y": np.sin(angle).round(4), "order": range(73)})
    circle = alt.Chart(rim).mark_line(color="#bbb", strokeWidth=1).encode(x="x:Q", y="y:Q", order="order:Q")
    x, y = _ratio(alt.X, "p_t1", -REACH, None), _ratio(alt.Y, "p_t2", -REACH, None)
    return _multiples(within(points[points["closed"]]), _marks(x, y), circle)


def strips(points: pd.DataFrame) -> Chart:
    """Friction of the contacts in the plane that carry something, a line for every formulation."""
    order = list(dict.fromkeys(points["label"]))
    rim = alt.Chart(pd.DataFrame({"x": [-1.0, 1.0]})).mark_rule(color="#bbb").encode(x="x:Q")
    x = _ratio(alt.X, "p_t1", -REACH, "p_t / (μ p_n)")
    y = alt.Y(
        "label:N",
        sort=order,
        title=None,
        axis=alt.Axis(labelLimit=300, labelExpr="replace(datum.value, '\\n', ' with ')"),
    )
    marks = _marks(x, y).properties(data=within(points[points["closed"]]))
    return alt.layer(rim, marks).properties(width=WIDTH - 220, height=alt.Step(22))


def motion(points: pd.DataFrame) -> Chart:
    """u_n over |u_t| of every contact."""
    x = alt.X("slip:Q", title="|u_t|", scale=alt.Scale(padding=6), axis=alt.Axis(tickCount=3, format="~g"))
    y = alt.Y("u_n:Q", title="u_n", scale=alt.Scale(padding=6), axis=alt.Axis(tickCount=4, format="~g"))
    marks = _marks(x, y).encode(fillOpacity=alt.value(0.75))
    return _multiples(points, marks, None)
