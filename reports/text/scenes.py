"""What a comparison of a scene says, in sentences: whose motion is closest, by which symptoms, how sure that is."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.comparison import cell, who, why_not
from workbench.builtin.reports.text.conclusions import by_error, listed, ranking, sentence
from workbench.builtin.reports.text.headline import Ranked, ranked
from workbench.comparison.columns import Column
from workbench.comparison.result import Comparison, by_first_solver
from workbench.comparison.scenes.bodies import SYMPTOMS
from workbench.comparison.shown import SceneShown

RECOVERY = "rigid recovery of"
"""What a line on overlaps and limits that are violated at the start begins with."""
STILL = 1e-6
"""Distances up to which nobody sees a difference [m]."""
GROWN = 1.5
"""Times from which on a displacement of the start is said to have grown."""
SHARED = "one_step_error", "body_orientation_error", "body_force_error"
"""Further errors that are ranked in a sentence each."""
SENSES = {
    "one_step_error": "In single steps", "body_orientation_error": "In how bodies turn",
    "body_force_error": "In the contact force on a body",
}  # fmt: skip
LEAST = {"penetration": 1e-4, "lift": 1e-4, "creep": 1e-4, "drift": 1e-4}
"""Symptoms from which on they are named [m, m/s]."""
VERBS = {
    "penetration": "goes in by {} mm", "lift": "is lifted by {} mm", "creep": "creeps at {} mm/s",
    "drift": "drifts by {} mm",
}  # fmt: skip


def compared(c: Comparison) -> str:
    """What is compared with what, up to when."""
    s = shown(c)
    steps = " and ".join(f"{1e3 * h:g}" for h in c.settings.steps)
    engines = " and ".join(s.engines)
    beside = f", and {engines} beside them," if engines else ""
    return (
        f"Formulations at {steps} ms a step{beside} against exact Coulomb friction at "
        f"{1e3 * c.settings.reference_step:g} ms, {until_words(s)}. Distances are those of the body that is farthest "
        "from where it is in the reference, the mean over that time."
    )


def shown(c: Comparison) -> SceneShown:
    """What the page says of the scene."""
    assert c.scene
    return c.scene


def until_words(s: SceneShown) -> str:
    """From when to when."""
    return f"from 0 to {s.until:.4g} s" + (f" of {s.duration:.4g} s" if s.until < s.duration - 1e-9 else "")


def headline(c: Comparison) -> list[str]:
    """Whose motion is closest and by how much; what the engine does; where the comparison stops; how sure that is."""
    found, rows = ranked(c), first_rows(c)
    parts = [_start(c), _first(c, found, rows), _engines(c, rows), _yardsticks(c, rows), _symptoms(c, found), _stop(c)]
    return [words for words in [*parts, _sure(c, rows)] if words]


def _start(c: Comparison) -> str:
    """What is violated at the start, since distances are mostly about how that is undone then."""
    lines = [x for x in shown(c).left_out if x.startswith(RECOVERY)]
    if not lines:
        return ""
    return (
        f"Mind the start: {'; '.join(lines)}. How fast that is undone is nobody's law, and distances are about it too."
    )


def first_rows(c: Comparison) -> pd.DataFrame:
    """The rows of the first step size."""
    return c.runs[c.runs["step"] == c.settings.steps[0]]


def _others(rows: pd.DataFrame) -> pd.DataFrame:
    """The verified rows of all but exact Coulomb friction, of each the first solver's."""
    return rows[rows["verified"] & (rows["formulation"] != "coulomb")].drop_duplicates("label")


def _bodies(c: Comparison, name: str, value: str) -> pd.DataFrame:
    """The bodies of the first step size of whose rows a column has this value, by the first solver."""
    return by_first_solver(c.bodies[(c.bodies[name] == value) & (c.bodies["step"] == c.settings.steps[0])])


def _column(c: Comparison, name: str) -> Column | None:
    return next((x for m in c.metrics for x in m.columns if x.name == name), None)


def farthest_body(c: Comparison, label: str) -> str:
    """The body of a row that is farthest from the reference, at the first step size."""
    own = _bodies(c, "label", label)
    return str(own["body"].iloc[int(np.nanargmax(own["position_error"]))]) if len(own) else ""


def _first(c: Comparison, found: Ranked | None, rows: pd.DataFrame) -> str:
    others, column = _others(rows), _column(c, "body_position_error")
    if others.empty or column is None:
        return ""
    errors, alike = by_error(others, column), as_coulomb(c, rows)
    if errors.max() <= STILL:
        return "All rows move as under Coulomb's law, but for less than a micrometre."
    if alike:
        return _alike(c, errors, rows, alike)
    if found is None:
        off = ", ".join(f"{label} is {_far(error)} off" for label, error in errors.items())
        return f"Over {shown(c).until:.3g} s of motion {off}."
    label = found.order[0][0]
    words = sentence(found.column, f"Over {shown(c).until:.3g} s of motion", found.order, found.rows)
    several = len(shown(c).bodies) > 1
    where = [farthest_body(c, x) for x in dict.fromkeys((label, found.order[-1][-1]))]
    farthest = f" (the farthest body is {' and '.join(dict.fromkeys(where))})" if several and all(where) else ""
    return f"{words[0].upper()}{words[1:-1]}{farthest}."


def as_coulomb(c: Comparison, rows: pd.DataFrame) -> list[str]:
    """Labels of rows that cannot be told from exact Coulomb friction at the same step: that makes no more difference
    than is known of the reference, or a twentieth of what the step itself makes."""
    needed = [f"body_position_{part}" for part in ("formulation", "reference", "discretisation")]
    if not set(needed) <= set(rows):
        return []
    others = _others(rows)
    apart, known, step = (others[name] for name in needed)
    return list(others["label"][apart <= np.maximum(np.maximum(known, 0.05 * step), STILL)])


def _alike(c: Comparison, errors: pd.Series, rows: pd.DataFrame, alike: list[str]) -> str:
    """The first sentence where rows move as exact Coulomb friction does at their step."""
    named = [x for x in alike if x not in without_friction(c)]
    own = rows["body_position_discretisation"].dropna()
    step = f", which at this step is itself {_far(own.iloc[0])} off" if len(own) else ""
    parts = [f"{listed(named)} cannot be told from exact Coulomb friction{step}"] if named else []
    rest = errors.drop(alike)
    if len(rest):
        closer = len(own) and rest.iloc[-1] < own.iloc[0]
        where = "comes closer to the reference than that" if closer else "moves farthest from it"
        parts.append(f"{rest.index[-1]} {where} ({_far(rest.iloc[-1])})")
    if len(named) < len(alike):
        parts.append("friction plays no part so far: without it bodies move alike")
    return f"Over {shown(c).until:.3g} s of motion {'; '.join(parts)}."


def _engines(c: Comparison, rows: pd.DataFrame) -> str:
    """Every engine's place among the formulations."""
    column = _column(c, "body_position_error")
    if column is None:
        return ""
    errors = by_error(_others(rows), column)
    parts = []
    for label in shown(c).engines:
        if label in errors.index:
            place = 1 + list(errors.index).index(label)
            body = f" ({farthest_body(c, label)})" if len(shown(c).bodies) > 1 else ""
            parts.append(f"{label} is {_far(errors[label])} off{body}, place {place} of {len(errors)}")
        else:
            reason = next((why_not(r) for r in rows[rows["label"] == label].to_dict("records")), "")
            parts.append(f"{label} is not compared ({reason})")
    return f"{_sentence('; '.join(parts))}." if parts else ""


def _yardsticks(c: Comparison, rows: pd.DataFrame) -> str:
    """How far Coulomb's law itself is off at this step, and how far it is without any friction; if not said yet."""
    if "body_position_discretisation" not in rows or as_coulomb(c, rows):
        return ""
    own = rows["body_position_discretisation"].dropna()
    free = without_friction(c)
    bare = rows[rows["label"].isin(free) & rows["verified"]]["body_position_error"].dropna()
    words = f"Exact Coulomb friction at the same step is itself {_far(own.iloc[0])} off" if len(own) else ""
    without = f"without friction it would be {_far(bare.iloc[0])}" if len(bare) else ""
    both = ", and ".join(filter(None, [words, without]))
    return f"{_sentence(both)}." if both else ""


def without_friction(c: Comparison) -> set[str]:
    """Labels of formulations that leave friction out."""
    return {f.label for f in c.formulations if f.friction == "none"}


def _symptoms(c: Comparison, found: Ranked | None) -> str:
    """What of the engines, of the closest and of the farthest can be seen with the eye."""
    parts = []
    for label in dict.fromkeys(x for x in _ends(c, found) if x not in without_friction(c)):
        words = symptoms_of(c, label)
        if words:
            parts.append(f"under {label} {', '.join(words)}")
    return f"What shows: {'; '.join(parts)}." if parts else ""


def _ends(c: Comparison, found: Ranked | None) -> list[str]:
    """Labels of the engines, of the closest and of the farthest."""
    return [*shown(c).engines, *([] if found is None else [found.order[0][0], found.order[-1][-1]])]


def symptoms_of(c: Comparison, label: str) -> list[str]:
    """What a row's worst bodies do beyond what exact Coulomb friction does at the same step."""
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
    """Why the comparison stops before the end."""
    s = shown(c)
    return f"The comparison stops at {s.until:.3g} s: {s.why}." if s.why else ""


def _sure(c: Comparison, rows: pd.DataFrame) -> str:
    s, parts = shown(c), [f"{rows['verified'].sum()} of {len(rows)} rows come to the end of what is compared"]
    parts.append(f"the reference is known to {_far(max(s.uncertainty))} on average (what twice its step changes)")
    grown = int(np.argmax(s.growth))
    most = f"has grown {times(s.growth[grown])} (at {s.bodies[grown]})" if s.growth[grown] > GROWN else "has not grown"
    parts.append(f"a displacement of the start by 1e-7 m {most}")
    return f"How sure: {'; '.join(parts)}."


def summary(c: Comparison) -> list[str]:
    """Further sentences: errors in other senses, symptoms of every row, what is not verified."""
    rows = first_rows(c)
    others = _others(rows)
    others, alike = others[~others["label"].isin(as_coulomb(c, rows))], as_coulomb(c, rows)
    said = []
    for name in SHARED:
        column = _column(c, name)
        order = ranking(others, column) if column is not None and name in others else []
        if column is not None and order:
            said.append(_sentence(sentence(column, SENSES[name], order, others)))
    symptoms: dict[tuple[str, ...], list[str]] = {}
    for label in (x for x in others["label"] if x not in {*without_friction(c), *_ends(c, ranked(c))}):
        symptoms.setdefault(tuple(symptoms_of(c, label)), []).append(str(label))
    said += [f"{_sentence(listed(labels))}: {', '.join(words)}." for words, labels in symptoms.items() if words]
    if plain := [*alike, *symptoms.get((), ())]:
        said.append(f"Nothing beyond what exact Coulomb friction does at this step shows under {listed(plain)}.")
    said += _solvers(rows)
    name_of = who if rows["label"].duplicated().any() else itemgetter("label")
    said += [f"{_sentence(name_of(r))} is not compared: {why_not(r)}." for r in _records(rows[~rows["verified"]])]
    if c.truths:
        failing = [x.name for x in c.truths if not x.holds]
        ends = f"; these fail: {listed(failing)}" if failing else ""
        said.append(
            f"{len(c.truths) - len(failing)} of {len(c.truths)} checks of the reference against theory hold{ends}."
        )
    return [*said, *c.remarks]


def _solvers(rows: pd.DataFrame) -> list[str]:
    """What solvers that stop before they have solved a formulation to round-off do to the motion."""
    if "body_position_solver" not in rows:
        return []
    parts = rows.dropna(subset="body_position_solver").sort_values("body_position_solver", ascending=False)
    worst = [(r["solver"], r["body_position_solver"], r["label"]) for r in _records(parts.drop_duplicates("solver"))]
    return [
        f"What {solver} leaves unsolved moves bodies by "
        f"{f'{_far(apart)} at most, under {label}' if apart > STILL else 'less than a micrometre'}."
        for solver, apart, label in worst
    ]


def _records(rows: pd.DataFrame) -> Sequence[dict[Any, Any]]:
    return rows.to_dict("records")


def _far(metres: float) -> str:
    return f"{cell(metres, MILLIMETRES)} mm" if metres < 1 else f"{metres:.3g} m"


MILLIMETRES = Column("distance", "m", "distance", shown="millimetres")


def times(x: float) -> str:
    """How many times, in two digits without an exponent."""
    return f"{float(f'{x:.2g}'):g} times" if x < 1e4 else "more than 10000 times"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
