"""Recommendation of a comparison in sentences: formulation to use, confidence, and price of the CCP."""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.conclusions import CLEAR, NAMED, capital, few, is_cross_check, listed, significant
from workbench.builtin.reports.text.mechanisms import FRICTION_LAW, errs
from workbench.builtin.reports.text.scenes import ANY_BODY, body, far, symptoms_of
from workbench.comparison.cost import SAME_COST, SAME_COST_ONCE
from workbench.comparison.decision import LEAST, NEGLIGIBLE, TIED, Decision, Entry, amount, apart, shown
from workbench.comparison.families import BOX, CONE, POLYGON, SOFT, family
from workbench.comparison.result import Comparison
from workbench.comparison.scenes.horizon import PERTURBATION

MAIN = 0.25
"""Share of the error that a displacement must reach to be its main reason."""
ALTERNATIVES = 2
"""Number of equally accurate formulations that are named beside the recommended one."""
VISIBLE = 1e-4
"""Smallest lift [m] that counts as visible in the price of the CCP."""


def time(x: float) -> str:
    """Format a time [s] with two digits and a suitable unit."""
    if not np.isfinite(x):
        return "–"
    scale, unit = (1e6, "µs") if x < 1e-3 else (1e3, "ms") if x < 1.0 else (1.0, "s")
    value = scale * x
    return f"{value:.1f} {unit}" if value < 9.95 else f"{significant(value)} {unit}"


def costs(x: Entry) -> str:
    """Format the cost of an entry's step; where formulations with the same run cost clearly more, a range."""
    least, most = time(x.cost), time(x.dearest)
    (low, unit), (_, other) = (
        least.split() if " " in least else (least, ""),
        most.split() if " " in most else (most, ""),
    )
    return least if x.dearest == x.cost or not np.isfinite(x.cost) else f"{low if unit == other else least}–{most}"


def recommendation(c: Comparison, d: Decision) -> list[str]:
    """Recommend a formulation, with its condition and cost; every number is in the table."""
    if not d.entries:
        return ["No formulation has a verified answer here, so none is recommended."]
    if d.coarse:
        return [_too_coarse(d)]
    if not d.tested:
        return _untested(c, d)
    taken = d.taken
    if taken is None or not d.as_exact:
        return [_none_as_good(c, d)]
    if taken.exact:
        return _exact(c, d, taken)
    # Formulations with the same run may cost more.
    words = f"Use {taken.label}: as accurate as {d.exact_in_words}"
    if d.exact is not None and d.exact in d.first:
        words += f", {_times(taken.cheaper(d.exact))} cheaper"
    words += f" ({_cost(c, taken)})" if np.isfinite(taken.cost) else ""
    return [f"{words}{_as_long_as(taken)}.", *_alternatives(d, taken)]


def _too_coarse(d: Decision) -> str:
    off = f"{d.exact_in_words} is itself {amount(d.own, d.error)} off the reference"
    return f"No formulation is recommended: {off}. Use a shorter step."


def _exact(c: Comparison, d: Decision, taken: Entry) -> list[str]:
    cheapest = d.cheapest
    if len(d.entries) == 1 and not d.missing:
        return [f"Exact Coulomb friction ({_cost(c, taken)}) is the only formulation here: add others to compare."]
    if cheapest is None:
        others = "no other verified formulation" if d.missing else "no other formulation"
        words = f"Use exact Coulomb friction ({_cost(c, taken)}): {others} here is as accurate."
        return [words, *_near_miss(c, d, taken)]
    known = np.isfinite(taken.cost) and np.isfinite(cheapest.cost)
    # Also of those whose runs are the same, which need not cost the same.
    members = [row for x in d.first if not x.exact for row in (x.row, *x.others)]
    less = any(row["cost"] < taken.cost for row in members if "cost" in row)
    much = (
        ", less than any other equally accurate formulation" if taken.cheaper(cheapest) > 1.0
        else "; timings scatter too much to call an equally accurate formulation cheaper" if _scattered(d, taken)
        else "; no equally accurate formulation is clearly cheaper" if less
        else "; no equally accurate formulation is cheaper"
    )  # fmt: skip
    cost = f": {_cost(c, taken)}{much}" if known else ""
    return [f"Use exact Coulomb friction{cost}.", *_near_miss(c, d, taken), *_alternatives(d, taken)]


def _scattered(d: Decision, exact: Entry) -> bool:
    """Return whether an equally accurate formulation seems much cheaper than exact Coulomb friction."""
    return any(x.same_cost(exact) * x.cost < exact.cost for x in d.first if not x.exact)


def _near_miss(c: Comparison, d: Decision, taken: Entry) -> list[str]:
    """Return the cheaper formulation with the smallest error, with that error and its condition."""
    best = d.near_miss
    if best is None:
        return []
    times = _times(best.cheaper(taken))
    return [f"If {_of_error(c, d, best)} is small enough, {best.label} is {times} cheaper{_as_long_as(best)}."]


def _alternatives(d: Decision, taken: Entry) -> list[str]:
    """Return the cheapest other formulations at the first place, with condition, family, class and cost."""
    others = [x for x in shown(d) if x in d.first and not x.exact]
    parts = [y for x in others for y in (x.by_condition[1:] if x is taken else x.by_condition)]
    parts.sort(key=lambda x: (np.isnan(x.cost), x.cost))
    if not parts:
        return []
    groups: dict[str, list[str]] = {}
    for x in parts[:ALTERNATIVES]:
        groups.setdefault(_as_long_as(x), []).append(f"{x.label}{_kind(x)}")
    in_words = [f"{listed(labels)}{condition}" for condition, labels in groups.items()]
    if more := parts[ALTERNATIVES:]:
        held = ", under conditions of their own" if len(more) > 1 else ", under a condition of its own"
        in_words.append(f"also {few([x.label for x in more])}{held if any(x.condition for x in more) else ''}")
    # Why what costs less is not what to take, of which `_exact` has a word; the legend of the table says what is clear.
    less = not taken.exact and parts[0].cost < taken.cost and parts[0].cheaper(taken) == 1.0
    clear = ", at about the same cost or more" if less else ""
    return [f"Equally accurate here{clear}: {'; '.join(in_words)}."]


def _kind(x: Entry) -> str:
    cost = time(x.cost) if np.isfinite(x.cost) else ""
    return f" ({', '.join(filter(None, [family(x.label), str(x.row.get('problem_class') or ''), cost]))})"


def _as_long_as(x: Entry) -> str:
    if x.condition:
        return f", as long as {x.condition}"
    # In space a polygon's condition is on its axes.
    return ", without a condition in the plane" if family(x.label) == POLYGON else ""


def _untested(c: Comparison, d: Decision) -> list[str]:
    words = f"Friction is not tested here: the {'motion' if c.stepped else 'velocity'} is the same without it"
    if not d.first:
        return [f"{words}, so no formulation is recommended."]
    labels = [label for x in d.first for label in (x.label, *x.alike)]
    if len(labels) == 1:
        return [f"{words}.", f"{labels[0]} reproduces it."]
    least = min(d.first, key=lambda x: (np.isnan(x.cost), x.cost))
    cheap = "none is clearly cheaper than exact Coulomb friction"
    if d.exact is None or least.cheaper(d.exact) > 1.0:
        cheap = f"{least.label} costs least"
    elif _scattered(d, d.exact):
        cheap = "timings scatter too much to call one cheaper than exact Coulomb friction"
    return [f"{words}.", f"Equally accurate with friction: {few(labels)}; {cheap}."]


def _none_as_good(c: Comparison, d: Decision) -> str:
    near, last = d.entries[0], d.entries[-1]
    own = f" (error {_of_error(c, d, None)})" if np.isfinite(d.own) else ""
    better = f"{d.exact_in_words}{own}"
    if len(d.entries) == 1:
        return f"{near.names} ({amount(near.error, d.error)}) is less accurate than {better}."
    smallest = listed([f"{x.names} ({amount(x.error, d.error)})" for x in d.entries if x.place == 1][:NAMED])
    return (
        f"No formulation here is as accurate as {better}. Smallest error: {smallest}. "
        f"Largest: {last.names} ({amount(last.error, d.error)})."
    )


def _of_error(c: Comparison, d: Decision, entry: Entry | None) -> str:
    what = amount(d.own if entry is None else entry.error, d.error)
    if entry is None:
        return what
    return f"{'a velocity error' if c.case is None and c.scene is None else 'an error'} of {what}"


def _cost(c: Comparison, x: Entry) -> str:
    return f"{time(x.cost)}{' a step' if c.stepped else ''}"


LAWS = {POLYGON: "friction polygon", BOX: "box friction", CONE: "associated flow", SOFT: "soft contact law"}
"""The contact law of a family, which is the main defect where no symptom shows."""


def law(entry: Entry) -> str:
    """Return the contact law of an entry in a word or two."""
    return LAWS.get(family(entry.label), "contact law")


def defect(c: Comparison, d: Decision, entry: Entry) -> str:
    """Return the main defect of an entry in a few words."""
    if entry.bare:
        return "no friction"
    if entry.place == 1 and d.as_exact:
        return "none beyond the time step" if c.stepped else "none"
    if c.case is not None:
        found = errs(c, d.step).get(entry.label, [])
        # What moves a body by much less than its error is not the main thing.
        main = [x for x in found if not x.far < MAIN * entry.error] or found
        short = main[0].short if main else ""
        return law(entry) if short == FRICTION_LAW else short
    if c.scene is not None:
        return next(iter(symptoms_of(c, entry.label)), law(entry))
    return _of_problem(entry)


class DecisionRow(NamedTuple):
    """A line of the ranking as text; `state` is yes, differs (it stops early) or no."""

    place: str
    names: str
    error: str
    defect: str
    cost: str
    verified: str
    state: str


def rows(c: Comparison, d: Decision, everything: bool = True) -> list[DecisionRow]:
    """Return a line for each entry, best first, and one for each reason why formulations have no solution."""
    engines = c.scene.engines if c.scene else {}
    found = []
    for x in d.entries if everything else shown(d):
        tie = "=" if sum(y.place == x.place for y in d.entries) > 1 else ""
        early = x.stops is not None
        ok = f"to {x.stops:.3g} s" if early else "ran" if x.label in engines else "yes"
        cells = (f"{x.place}{tie}", x.every, amount(x.error, d.error), defect(c, d, x), costs(x), ok)
        found.append(DecisionRow(*cells, "differs" if early else "yes"))
    without: dict[str, list[str]] = {}
    for row in d.missing:
        without.setdefault(row["claimed"].lower().replace("_", " "), []).append(row["label"])
    for why, labels in without.items():
        found.append(DecisionRow("", ", ".join(labels), "–", f"no answer: {why}", "–", "no", "no"))
    return found


def _of_problem(entry: Entry) -> str:
    """Return the number of contacts in the wrong mode, else the friction error, else the kind of friction."""
    other, friction = entry.row.get("other_mode", np.nan), entry.row.get("friction_error", np.nan)
    if pd.notna(other) and other > 0:
        return f"{other:.0f} contact{'s' if other > 1 else ''} in the wrong mode"
    if pd.notna(friction) and friction > LEAST:
        return f"friction error {float(f'{100 * friction:.3g}'):g} %"
    return re.split(r" \(|,", entry.friction)[0]


def redundant(c: Comparison) -> str:
    """Return whether redundant contacts leave the impulses open, so that the motion alone is compared; "" where not."""
    free = c.known["null_space"] if c.known else c.runs["free_directions"].max() if "free_directions" in c.runs else 0
    if not free > 0:
        return ""
    what = "velocities are compared" if c.case is None else "formulations are ranked by their motion alone"
    directions = f"{free:.0f} redundant direction{'s' if free > 1 else ''}"
    return f"Impulses are not unique ({directions}): {what}."


def confidence(c: Comparison, d: Decision) -> str:
    """Return the confidence in the ranking, in a word and with the reasons; "" if there is no ranking."""
    if not d.entries:
        return ""
    engines = set(c.scene.engines) if c.scene else set()
    labels = {label for x in d.entries for label in (x.label, *x.alike)}
    count = len(labels - engines) + len(d.missing)
    answered = count - len(d.missing)
    what = "answers" if not c.stepped else "runs"
    whole = f"{'both' if count == 2 else f'all {count}'} {what} are verified"
    if d.missing:
        whole = f"{answered} of {count} {what} are verified (not: {few([x['label'] for x in d.missing])})"
    if count == 1:
        whole = f"the {what[:-1]} is {'verified' if answered else 'not verified'}"
    parts, doubts = [whole] if count else [], []
    if ran := sorted(labels & engines):
        parts.append(f"the run{'s' if len(ran) > 1 else ''} of {few(ran)} cannot be verified")
    if c.stepped and np.isfinite(d.known):
        well = amount(d.known, d.error) if d.known > LEAST else f"better than {1e9 * LEAST:g} nm"
        parts.append(f"the reference path is known to {well}")
    elif c.stepped:
        doubts.append("the reference path was run at one step only, so that its uncertainty is unknown")
    if several_solutions(c):
        doubts.append("Coulomb's law itself has several solutions here")
    if c.known and c.known["velocity"] != "unique" and not several_solutions(c):
        doubts.append("uniqueness of the velocity is not proved")
    failing = sum(not t.holds for t in c.truths)
    if failing:
        doubts.append(f"{failing} of {len(c.truths)} checks against theory fail")
    after = [x for x in d.entries if x.place > 1]
    gap = after[0].error - max((x.error for x in d.entries if x.place == 1), default=0.0) if after else np.inf
    if gap <= np.nan_to_num(d.known):
        doubts.append(f"{after[0].names} is within the reference's uncertainty of rank 1")
    growth = _growth(c, d)
    end = amount(growth * PERTURBATION, d.error)
    sensitive = f"a {amount(PERTURBATION, d.error)} displacement of the start moves {body(c)} by up to {end}"
    # A start too close to this one to be told from it may rank differently.
    chance = growth > GROWN and growth * PERTURBATION > gap
    if chance:
        doubts.append(f"{sensitive}, more than the {amount(gap, d.error)} between rank 1 and {after[0].names}")
    elif growth > GROWN:
        parts.append(sensitive)
    if d.coarse:
        doubts.append(f"the time step alone causes an error of {amount(d.own, d.error)}")
    if unseen := _faster_than_seen(c, d):
        doubts.append(
            f"the velocity error of {few(unseen)} exceeds that of exact Coulomb friction, which the distance of the "
            "case's `centre` does not show"
        )
    why = f", because {listed(doubts)}" if doubts else ""
    words = "; ".join(parts)
    level = "low" if chance or d.coarse else ("high", "medium", "low")[min(len(doubts), 2)]
    found = f"Confidence: {level}{why}."
    return f"{found} {capital(words)}." if words else found


def _faster_than_seen(c: Comparison, d: Decision) -> list[str]:
    """Return the labels at the first place whose velocities are less accurate than those of exact Coulomb friction.

    Only of a case without shapes, which may have more bodies than its `centre` has points.
    """
    if c.case is None or c.motion is not None:
        return []
    found = []
    for x in d.first:
        error, *own = (x.row.get(f"velocity_{part}", np.nan) for part in ("error", "discretisation", "reference"))
        if error > max(CLEAR * np.nansum(own), NEGLIGIBLE):
            found += [x.label, *x.alike]
    return found


def _growth(c: Comparison, d: Decision) -> float:
    """Return how many times a displacement of the start grows; 0 where that is not known."""
    if c.scene is not None:
        return max(c.scene.growth, default=0.0)
    return max((float(np.nan_to_num(x.row.get("growth", 0.0))) for x in d.entries), default=0.0)


def _times(x: float) -> str:
    return f"{significant(x)} times" if x < 1e4 else "more than 10000 times"


GROWN = 1.5
"""Growth factor of an initial displacement from which on it is reported."""
SEVERAL = "several solutions"
"""Words by which a remark reports several solutions of Coulomb's step."""


def several_solutions(c: Comparison) -> str:
    """Return the remark on several solutions of Coulomb's law; "" if there is none."""
    return next((x for x in c.remarks if SEVERAL in x), "")


def price(c: Comparison, d: Decision) -> str:
    """Return the error due to associated flow, as one number; "" if no CCP was compared."""
    ccp = next((x for x in d.entries if x.row["formulation"] == "ccp" or "ccp" in x.alike), None)
    if ccp is None:
        return ""
    opens = "Price of the CCP: associated flow opens sliding contacts"
    lift, own = _lift(ccp), _lift(d.exact) if d.exact is not None else 0.0
    free = ccp.place == 1 and d.as_exact
    if not c.stepped and free:
        return "Price of the CCP: none visible; its velocity is that of Coulomb's law."
    if not c.stepped:
        return f"{opens}; the velocity error is {amount(ccp.error, d.error)} of |q|."
    if pd.isna(lift):
        what = f"none visible; {_off(c, d, ccp, lift)}" if free else f"an error of {amount(ccp.error, d.error)}"
        return f"Price of the CCP: {what}."
    little = (
        "contacts open by less than 0.1 mm" if lift < VISIBLE
        else f"contacts open no more than under {d.exact_in_words}" if lift <= CLEAR * own
        else ""
    )  # fmt: skip
    if little:
        return f"Price of the CCP: {f'none visible; {little}' if free else f'{little}; {_off(c, d, ccp, lift)}'}."
    return f"{opens} by up to {far(lift)}; {_off(c, d, ccp, lift)}."


def _off(c: Comparison, d: Decision, ccp: Entry, lift: float) -> str:
    """Return how far bodies are off the reference path where contacts open by up to `lift` [m]."""
    if ccp.place == 1 and d.as_exact:
        return f"the motion is as accurate{' on average' if c.scene else ''} as under {d.exact_in_words}"
    error = amount(ccp.error, d.error)
    if c.scene:
        return f"the mean distance from the reference path is {error}"
    # The gap is the contact's and the path the centre's: where one body opens farther than its centre goes, it tilts.
    if body(c) != ANY_BODY and lift > ccp.error:
        return f"{body(c)} tilts, its centre leaving the reference path by up to {error}"
    return f"the centre of {body(c)} leaves the reference path by up to {error}"


def _lift(x: Entry) -> float:
    """Return how far a contact opens more than in the reference [m]; nan where that was not measured."""
    return next(
        (float(x.row[name]) / per for name, per in (("lift", 1e3), ("body_lift", 1.0)) if name in x.row), np.nan
    )


def cross_checks(c: Comparison) -> str:
    """Return the number of verified cross-checks by the generic solver: sampled steps of a case, or a whole problem."""
    rows = next(iter(c.windows.values()))
    checks = rows[is_cross_check(c, rows)]
    if checks.empty:
        return ""
    failed = list(dict.fromkeys(checks["label"][~checks["verified"].astype(bool)]))
    named = f" (not: {', '.join(failed)}; the report gives the residuals)" if failed else ""
    if len(checks) == 1:
        return f"The cross-check by a generic solver {'does not agree' if failed else 'agrees'}{named}."
    return f"{int(checks['verified'].sum())} of {len(checks)} cross-checks by a generic solver agree{named}."


def legend(c: Comparison, d: Decision) -> str:
    """Explain the columns of the table: error, ties and cost."""
    more = f" or {amount(d.known, d.error)}" if d.known > TIED * max(np.nan_to_num(d.own), LEAST) else ""
    lower = any(x.error < d.own - apart(d.own, d.known) for x in d.entries)
    first = ", and at rank 1 all errors below that of exact Coulomb friction" if lower else ""
    tie = f'; "=" marks ties, within {100 * TIED:g} %{more}{first}'
    if c.case is not None:
        start, end = next(iter(c.windows.values()))[["window_start", "window_end"]].iloc[0]
        what = f"largest distance of a body's centre from the reference path, {start:g} to {end:g} s"
    elif c.scene is not None:
        what = f"mean distance from the reference path over {c.scene.until:.3g} s, for the farthest body"
    else:
        what = (
            "velocity W p + q minus the reference's, in percent of |q|, the velocity without contact impulses; one "
            "step has no time discretisation error"
        )
    timings = {x.row.get("timings") == 1 for x in d.entries}
    least = f"{SAME_COST_ONCE:g}, because each is a single timing," if timings == {True} else f"{SAME_COST:g}"
    once = f" ({SAME_COST_ONCE:g} for single timings)" if len(timings) > 1 else ""
    stop = ' "to T" under ok: the run stops at T, after the time compared.' if any(x.stops for x in d.entries) else ""
    equal = f"Costs within a factor of {least}{once} or with overlapping timings count as equal."
    ranges = " A range of costs: the first of those with the same run, and the dearest." if _have_ranges(d) else ""
    return f"error: {what}{tie}. {equal}{ranges}{stop}"


def _have_ranges(d: Decision) -> bool:
    """Return whether the cost of an entry is a range."""
    return any(x.dearest > x.cost for x in d.entries)
