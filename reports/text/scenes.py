"""Conclusions of a comparison of a scene, in sentences: errors, symptoms and confidence."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.comparison import cell, who, why_not
from workbench.builtin.reports.text.conclusions import capital, few, listed, ranking, sentence
from workbench.builtin.reports.text.contact_modes import FIRST
from workbench.comparison.columns import Column
from workbench.comparison.result import Comparison, by_first_solver
from workbench.comparison.scenes.bodies import SYMPTOMS
from workbench.comparison.shown import SceneShown
from workbench.comparison.timeline import first_contact

RECOVERY = "rigid recovery of"
"""Beginning of a line on overlaps and limits violated at the start."""
STILL = 1e-6
"""Largest distance [m] that is not visible."""
SHARED = "one_step_error", "body_orientation_error", "body_force_error"
"""Further errors that are ranked in a sentence each."""
SENSES = {
    "one_step_error": "error of single steps", "body_orientation_error": "orientation error",
    "body_force_error": "error of the contact force on a body",
}  # fmt: skip
LEAST = {"penetration": 1e-4, "lift": 1e-4, "creep": 1e-4, "drift": 1e-4}
"""Symptoms from which on they are named [m, m/s]."""
VERBS = {
    "penetration": "penetrates by {} mm", "lift": "lifts off by {} mm", "creep": "creeps at {} mm/s",
    "drift": "drifts by {} mm",
}  # fmt: skip


def compared(c: Comparison) -> str:
    """Return what is compared with which reference, up to which time."""
    s = scene_data(c)
    engines = " and ".join(s.engines)
    more = f" and {engines}" if engines else ""
    return (
        f"Formulations{more} with {steps(c)} ms steps are compared with the reference, Coulomb's law "
        f"(stepped at {1e3 * c.settings.reference_step:g} ms), {until_words(s)}. The error is the mean distance from "
        "the reference over that time, for the farthest body."
    )


def about(c: Comparison) -> str:
    """Return the numbers of bodies, velocities and so on of the scene."""
    s = scene_data(c)
    bodies, aside = f"{len(s.bodies)} bod{'y' if len(s.bodies) == 1 else 'ies'}", ("velocities", "note")
    counts = {"velocities": str(s.velocities), **{key: n for key, n in s.facts.items() if key not in aside}}
    return f"{', '.join([bodies, *(counted(n, name) for name, n in counts.items() if n != '0')])}."


ONE = {"velocities": "velocity", "joints": "joint", "tendons": "tendon", "actuators": "actuator"}


def counted(n: int | str, name: str) -> str:
    """Return a number of things in words: "1 joint", "2 joints"."""
    return f"{n} {ONE.get(name, name) if str(n) == '1' else name}"


def setting(c: Comparison) -> str:
    """Return the time compared, the step, the size of the scene, and the reference."""
    s = scene_data(c)
    return (
        f"Compared {until_words(s)} in {steps(c)} ms steps{extent(c, 0.0, s.until)}. "
        f"Reference: Coulomb's law, stepped at {1e3 * c.settings.reference_step:g} ms."
    )


def steps(c: Comparison) -> str:
    """The step sizes [ms]."""
    return " and ".join(f"{1e3 * h:g}" for h in c.settings.steps)


def extent(c: Comparison, start: float, end: float) -> str:
    """Return the size of the largest body and the longest reference path between two times [s]; "" if not known."""
    if c.motion is None:
        return ""
    across, path = c.motion.measures(start, end)
    several = len(c.motion.across) > 1
    largest = "the largest body" if several else body(c)
    way = "the longest reference path" if several else "the reference path"
    if across == 0:
        return f"; {way} measures {far(path)}"
    moves = f"{way} {far(path)}" if path > STILL else "nothing moves in the reference"
    return f"; {largest} measures {far(across)}, {moves}"


ANY_BODY = "a body"
"""Name of a body where there are several."""


def body(c: Comparison) -> str:
    """Return the name of the only body, or `ANY_BODY`."""
    if c.motion is None or len(c.motion.across) != 1:
        return ANY_BODY
    # Shapes of a model are named after its geoms, and a body without a name after its number.
    name = c.scene.bodies[0] if c.scene else c.motion.bodies[0].name if c.motion.bodies else "body"
    return f"the {'body' if name.startswith('body ') else name}"


def scene_data(c: Comparison) -> SceneShown:
    """Return the data of the scene that the page shows."""
    assert c.scene
    return c.scene


def until_words(s: SceneShown) -> str:
    """Return the time interval compared."""
    return f"from 0 to {s.until:.4g} s" + (f" of {s.duration:.4g} s" if s.until < s.duration - 1e-9 else "")


def notes(c: Comparison) -> list[str]:
    """Return notes for the recommendation: violations at the start, first contact, and the reason for stopping."""
    return [words for words in (_start(c), _touch(c), _stop(c)) if words]


def untouched(c: Comparison, own: float) -> list[str]:
    """Return the text if no contact bears a load; `own` [m] is the error of exact Coulomb friction at the step."""
    step = f" All have an error of {far(own)}, which comes from the time step alone." if np.isfinite(own) else ""
    return [
        f"No contact in {scene_data(c).until:.3g} s: contact formulations cannot differ, and none is "
        f"recommended.{step}",
        "Try a longer --duration, or a keyframe in which bodies touch (--key NAME).",
    ]


def _touch(c: Comparison) -> str:
    """Return the time and bodies of the reference's first contact, if it is not at the start."""
    if c.timeline.empty:
        return ""
    begin, between = first_contact(_of_reference(c))
    if begin <= FIRST * scene_data(c).until:
        return ""
    if begin == np.inf:
        return f"No contact in the reference in {scene_data(c).until:.3g} s; other formulations have contact."
    alone = "integration" if scene_data(c).free else "integration and joints"
    apart = _before_contact(c)
    much = f", by up to {far(apart)}" if apart > STILL else ""
    return f"No contact until {begin:.4g} s ({few(between)}); until then runs differ only by {alone}{much}."


def _before_contact(c: Comparison) -> float:
    """Return the largest distance [m] of a body from the reference before any contact in either."""
    rows = c.trajectories
    before = rows[(rows["role"] == "run") & (rows["t"] <= c.timeline["start"].min())]
    return float(before["position_error"].max()) if len(before) else 0.0


def _of_reference(c: Comparison) -> pd.DataFrame:
    """The rows of `timeline` of the reference."""
    return c.timeline[c.timeline["role"] == "reference"]


def touches_nothing(c: Comparison) -> bool:
    """Return whether there is no contact, neither in the reference nor in any run."""
    return c.timeline.empty and "start" in c.timeline


def began(c: Comparison) -> str:
    """Return the time of the reference's first contact; empty if there is none."""
    begin, between = first_contact(_of_reference(c))
    return f"The reference's first contact begins at {begin:.4g} s ({few(between)})." if between else ""


def _start(c: Comparison) -> str:
    """Return the violations at the start, whose correction then dominates the distances."""
    lines = [x for x in scene_data(c).left_out if x.startswith(RECOVERY)]
    if not lines:
        return ""
    return f"Initial state: {'; '.join(lines)}. No contact law prescribes how fast, and it contributes to the errors."


def first_rows(c: Comparison) -> pd.DataFrame:
    """The rows of the first step size."""
    return c.runs[c.runs["step"] == c.settings.steps[0]]


def _others(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the verified rows except exact Coulomb friction's, of the first solver of each formulation."""
    return rows[rows["verified"] & (rows["formulation"] != "coulomb")].drop_duplicates("label")


def _bodies(c: Comparison, name: str, value: str) -> pd.DataFrame:
    """Return the rows of bodies at the first step size, by the first solver, in which a column has this value."""
    return by_first_solver(c.bodies[(c.bodies[name] == value) & (c.bodies["step"] == c.settings.steps[0])])


def as_coulomb(c: Comparison, rows: pd.DataFrame) -> list[str]:
    """Return the labels of rows that cannot be distinguished from exact Coulomb friction at the same step: they differ
    by no more than the reference's uncertainty or a twentieth of the effect of the step size."""
    needed = [f"body_position_{part}" for part in ("formulation", "reference", "discretisation")]
    if not set(needed) <= set(rows):
        return []
    others = _others(rows)
    apart, known, step = (others[name] for name in needed)
    return list(others["label"][apart <= np.maximum(np.maximum(known, 0.05 * step), STILL)])


def without_friction(c: Comparison) -> set[str]:
    """Labels of formulations that leave friction out."""
    return {f.label for f in c.formulations if f.friction == "none"}


def symptoms_of(c: Comparison, label: str) -> list[str]:
    """Return the symptoms of a row's worst bodies beyond those of exact Coulomb friction at the same step."""
    own, exact = _bodies(c, "label", label), _bodies(c, "formulation", "coulomb")
    words = []
    for x in SYMPTOMS:
        name = x.column.name
        values = own[name].to_numpy(dtype=float) if len(own) else np.zeros(0)
        if name not in VERBS or not np.isfinite(values).any():
            continue
        beyond = 1.2 * exact[name].max() if len(exact) and exact[name].notna().any() else 0.0
        if np.nanmax(values) > max(LEAST[name], beyond):
            most = cell(float(np.nanmax(values)), MILLIMETRES)
            words.append(f"{own['body'].iloc[int(np.nanargmax(values))]} {VERBS[name].format(most)}")
    return words


def _stop(c: Comparison) -> str:
    """Return why the comparison stops before the end."""
    s = scene_data(c)
    return f"The comparison stops at {s.until:.3g} s: {s.why}." if s.why else ""


def summary(c: Comparison) -> list[str]:
    """Return further sentences: other errors, symptoms of every row, unverified rows."""
    rows = first_rows(c)
    others = _others(rows)
    others, alike = others[~others["label"].isin(as_coulomb(c, rows))], as_coulomb(c, rows)
    said = []
    for name in SHARED:
        column = next((x for m in c.metrics for x in m.columns if x.name == name), None)
        order = ranking(others, column) if column is not None and name in others else []
        if column is not None and order:
            said.append(capital(sentence(column, SENSES[name], order, others)))
    symptoms: dict[tuple[str, ...], list[str]] = {}
    for label in (x for x in others["label"] if x not in without_friction(c)):
        symptoms.setdefault(tuple(symptoms_of(c, label)), []).append(str(label))
    said += [f"{listed(labels)}: {', '.join(words)}." for words, labels in symptoms.items() if words]
    if plain := [*alike, *symptoms.get((), ())]:
        said.append(f"No defect beyond that of exact Coulomb friction at this step: {listed(plain)}.")
    said += _solvers(rows)
    name_of = who if rows["label"].duplicated().any() else itemgetter("label")
    said += [f"{name_of(r)} is not compared: {why_not(r)}." for r in _records(rows[~rows["verified"]])]
    if c.truths:
        failing = [x.name for x in c.truths if not x.holds]
        ends = f"; these fail: {listed(failing)}" if failing else ""
        said.append(f"{len(c.truths) - len(failing)} of {len(c.truths)} checks against theory hold{ends}.")
    return [*said, *c.remarks]


def _solvers(rows: pd.DataFrame) -> list[str]:
    """Return the effect on the motion of solvers that stop before round-off."""
    if "body_position_solver" not in rows:
        return []
    parts = rows.dropna(subset="body_position_solver").sort_values("body_position_solver", ascending=False)
    worst = [(r["solver"], r["body_position_solver"], r["label"]) for r in _records(parts.drop_duplicates("solver"))]
    return [
        f"The remaining residual of {solver} moves bodies by "
        f"{f'{far(apart)} at most, under {label}' if apart > STILL else 'less than a micrometre'}."
        for solver, apart, label in worst
    ]


def _records(rows: pd.DataFrame) -> Sequence[dict[Any, Any]]:
    return rows.to_dict("records")


def far(metres: float) -> str:
    """A length: in millimetres, from a metre on in metres."""
    return f"{cell(metres, MILLIMETRES)} mm" if metres < 0.9995 else f"{metres:.3g} m"


MILLIMETRES = Column("distance", "m", "distance", shown="millimetres")
