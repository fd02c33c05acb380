"""First lines of a comparison: subject and reference, recommendation, confidence."""

from typing import NamedTuple

from workbench.builtin.reports.text import conclusions, scenes
from workbench.builtin.reports.text.comparison import changed, facts_in_words
from workbench.builtin.reports.text.contact_modes import slip_words
from workbench.builtin.reports.text.decision import confidence, price, recommendation, redundant, several_solutions
from workbench.comparison.decision import Entry, decide, shown
from workbench.comparison.families import family
from workbench.comparison.jobs import EVENTS
from workbench.comparison.result import Comparison


def compared(c: Comparison) -> str:
    """Return a sentence on what is compared with which reference, over which time, and on the unit of errors."""
    if c.scene:
        return scenes.compared(c)
    if c.case is None:
        return (
            "Each formulation solves one step, and its solution is compared with the exact solution of Coulomb's law. "
            "Velocity errors are in percent of |q|, the velocity without contact impulses; friction errors are in "
            "percent of μ p_n."
        )
    window, rows = next(iter(c.windows.items()))
    start, end = rows[["window_start", "window_end"]].iloc[0]
    where = f"{start:g} s ≤ t < {end:g} s"
    if window != "all":
        where += f" of {list(c.windows.values())[-1]['window_end'].iloc[0]:g} s (the window “{window}”)"
    return (
        f"Formulations with {1e3 * c.settings.steps[0]:g} ms steps are compared with the reference, Coulomb's "
        f"law ({followed(c)}), over {where}."
    )


def subject(c: Comparison) -> str:
    """Return the subject of a comparison, its size, the time compared, the step, and the reference."""
    if c.scene:
        return f"{scenes.about(c)} {scenes.setting(c)}"
    if c.case is None:
        return (
            f"{facts_in_words(c)}; one step. Reference: exact solution of Coulomb's law, residual "
            f"{c.known['residual']:.0e}. Errors are in percent of |q|, the velocity without contact impulses; these "
            f"change it by {100 * changed(c):.3g} %."
        )
    start, end = next(iter(c.windows.values()))[["window_start", "window_end"]].iloc[0]
    contacts = c.trajectories["contact"].nunique()
    return (
        f"{f'{c.case.description}; ' if c.case.description else ''}{contacts} contact{'s' if contacts > 1 else ''}. "
        f"Compared from {start:g} to {end:g} s "
        f"in {scenes.steps(c)} ms steps{scenes.extent(c, start, end)}. "
        f"Reference: Coulomb's law, {followed(c)}."
    )


def followed(c: Comparison) -> str:
    """Return how the reference of a case was computed."""
    if c.settings.reference == EVENTS:
        return "event-driven"
    return f"stepped at {1e3 * c.settings.reference_step:g} ms"


class Headline(NamedTuple):
    """Headline of a comparison, in sentences; `price` and `confidence` may be empty."""

    recommendation: list[str]
    notes: list[str]
    price: str = ""
    confidence: str = ""

    @property
    def sentences(self) -> list[str]:
        """All sentences in order."""
        return [x for x in (*self.recommendation, self.confidence, self.price, *self.notes) if x]


def headline(c: Comparison) -> Headline:
    """Return recommendation, price of the CCP and confidence, at the first step size in the first window."""
    found = decide(c)
    if found is None:
        return Headline(["No formulation is recommended: the error that ranks them was not computed."], [])
    notes = scenes.notes(c) if c.scene else []
    if c.scene and scenes.touches_nothing(c):
        return Headline(scenes.untouched(c, found.own), notes)
    notes += [x for x in (redundant(c), several_solutions(c)) if x]
    return Headline(recommendation(c, found), notes, price(c, found), confidence(c, found))


def findings(c: Comparison) -> list[str]:
    """Return the further sentences: other errors, their causes, unverified rows, contact modes."""
    return scenes.summary(c) if c.scene else [*conclusions.summary(c), *slip_words(c)]


def extremes(c: Comparison) -> tuple[str, ...]:
    """Return the most instructive labels: the best one besides exact Coulomb friction, and one with a clear defect."""
    found = decide(c)
    if found is None:
        return ()
    rubs = [x for x in shown(found) if not x.bare and not x.exact]
    taken = found.taken
    best = taken if taken in rubs else next(iter(rubs), None)
    worst = _instructive(best, rubs)
    return tuple(dict.fromkeys(x.label for x in (best, worst) if x is not None))


def _instructive(best: Entry | None, rubs: list[Entry]) -> Entry | None:
    """Return the CCP unless it shares the first place, else the entry with friction and the largest error.

    Another family than that of the best comes first: colours of one family are hard to tell apart.
    """
    behind = [x for x in rubs if x.place > 1]
    ccp = [x for x in behind if x.row["formulation"] == "ccp"]
    other = [x for x in behind if best is None or family(x.label) != family(best.label)]
    return next((found[-1] for found in (ccp, other, behind) if found), None)
