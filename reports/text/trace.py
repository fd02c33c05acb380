"""The steps of a traced method as a page of plain text, and what of them all other forms are made from."""

import itertools
import textwrap
from collections.abc import Sequence
from typing import Any

from flint import fmpq

from workbench.builtin.reports.text.check import WIDTH, number
from workbench.diagnostics.tracing.tableau import Tableau
from workbench.diagnostics.tracing.trace import GaussSeidelSweep, PivotStep, Trace, on_support, set_text

HEADS = {
    "lemke": ("step", "enters", "leaves", "t", "basic", "z"),
    "murty": ("step", "enters", "leaves", "z basic", "infeasible", "z"),
    "judice-pires": ("step", "exchanged", "z basic", "infeasible", "z"),
    "keller": ("step", "enters", "leaves", "z basic", "infeasible", "z"),
    "pgs": ("sweep", "change", "residual", "z"),
}
MEANINGS = {
    "enters": "unknown that becomes basic",
    "leaves": "unknown that becomes nonbasic, hence zero",
    "t": "artificial unknown (z_0 in the textbooks), w = q + M z + t e",
    "basic": "unknowns of the rows of the tableau",
    "exchanged": "indices i whose w_i and z_i change places",
    "z basic": "indices of the basic z's, the set a of the basis M_aa",
    "infeasible": "indices at which z_i or w_i is negative",
    "change": "relative change of z by the sweep",
    "residual": "natural map min(z_i, w_i / M_ii), relative in the same norm",
}
DIGITS = 7
"""Significant digits of doubles."""


def heads(trace: Trace) -> tuple[str, ...]:
    """Titles of the columns of `cells`."""
    return HEADS[trace.solver]


def cells(trace: Trace, step: PivotStep | GaussSeidelSweep) -> list[str]:
    """A step's row of the table."""
    z = vector(step.z)
    if isinstance(step, GaussSeidelSweep):
        change = "" if step.change is None else f"{step.change:.2e}"
        return [str(step.number), change, f"{step.residual:.2e}", z]
    system = trace.system
    enters, leaves = (" ".join(map(system.name, some)) for some in (step.entering, step.leaving))
    if trace.solver == "lemke":
        assert step.t is not None
        return [str(step.number), enters, leaves, value(step.t), " ".join(map(system.name, step.basis)), z]
    sets = [set_text(system.index_set(step.basis)), set_text(step.infeasible) if step.infeasible else "none"]
    if trace.solver == "judice-pires":
        exchanged = set_text(sorted(b % system.n for b in step.leaving)) if step.leaving else ""
        return [str(step.number), exchanged, *sets, z]
    return [str(step.number), enters, leaves, *sets, z]


def detail(trace: Trace, step: PivotStep | GaussSeidelSweep) -> str:
    """Return the reason for this step: its ratios and the rule."""
    if isinstance(step, GaussSeidelSweep):
        return ""
    ratios = ", ".join(f"{trace.system.name(unknown)} {value(ratio)}" for unknown, ratio in step.ratios)
    return f"ratios {ratios}; {step.rule}" if ratios else step.rule


def value(x: Any) -> str:
    """A fraction as it is when short, a double in a few digits."""
    return number(str(x)) if isinstance(x, fmpq) else f"{x:.{DIGITS}g}"


def vector(x: Sequence) -> str:
    return "(" + ", ".join(map(value, x)) + ")"


def in_words(trace: Trace) -> list[str]:
    """Return sentences on how the method ended and what that proves."""
    return [f"{_counted(trace)} {_ending(trace)}", *_consequences(trace)]


def _counted(trace: Trace) -> str:
    taken, kind = len(trace.steps) - 1, "sweep" if trace.solver == "pgs" else "pivot"
    kind = "exchange" if trace.solver == "judice-pires" else kind
    return f"{trace.solver}, after {taken} {kind}{'' if taken == 1 else 's'}:"


def _ending(trace: Trace) -> str:
    if trace.outcome == "solution":
        assert trace.z is not None
        return f"a solution, z = {vector(trace.z)}, w = {vector(trace.steps[-1].w)}."
    if trace.outcome == "cycle":
        return f"a cycle. The basis is that after step {trace.again} again, so the method would never end."
    if trace.outcome == "ray":
        return f"a ray: {trace.because}."
    verb = {"singular": "no further step is possible", "settled": "settled", "stopped": "stopped unfinished"}[
        trace.outcome
    ]
    return f"{verb}; {trace.because}."


def _consequences(trace: Trace) -> list[str]:
    found = []
    if trace.outcome == "solution":
        found.append("Verified in exact arithmetic: z >= 0, w = M z + q >= 0, and z_i w_i = 0 for all i.")
    if trace.ray is not None:
        away = f"z + s {vector(trace.ray.dz)}"
        if trace.solver == "lemke":
            away += f", t + {value(trace.ray.dt)} s" if trace.ray.dt else " with t unchanged"
        found.append(f"The ray is {away} for all s >= 0, starting from the last step.")
    if trace.proof is not None:
        found.append(
            f"There is no solution: x = {vector(trace.proof)} has x >= 0, M^T x <= 0 and q^T x < 0, hence "
            "x^T (M z + q) < 0 for every z >= 0, and M z + q >= 0 is impossible."
        )
    elif trace.ray is not None:
        found.append("This ray proves nothing: a solution may exist elsewhere (workbench check finds all).")
    if trace.outcome == "settled":
        assert trace.z is not None
        near = on_support(trace.system, trace.z)
        found.append(
            "No exact solution has the same positive unknowns."
            if near is None
            else f"The exact solution with the same positive unknowns is z = {vector(near)}, verified."
        )
    return found


def to_text(trace: Trace, title: str, tableaux: bool = False) -> str:
    """Format a trace in `WIDTH` characters; table columns that do not fit go to the line below each step."""
    table = [heads(trace), *(cells(trace, step) for step in trace.steps)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    shown = len(widths)
    while shown > 1 and sum(widths[:shown]) + 2 * (shown - 1) > WIDTH:
        shown -= 1
    lines = [f"{title}: {trace.solver} step by step", ""]
    for step, row in zip([None, *trace.steps], table, strict=True):
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row[:shown], widths, strict=False)).rstrip()
        lines.append(line)
        if step is None:
            continue
        below = [f"{head} {cell}" for head, cell in zip(heads(trace)[shown:], row[shown:], strict=True)]
        below += [detail(trace, step)] if detail(trace, step) else []
        for part in below:
            lines += textwrap.wrap(part, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 8)
        if tableaux and isinstance(step, PivotStep):
            lines += ["", *tableau_lines(trace, step.number), ""]
    explained = [f"{head}: {MEANINGS[head]}" for head in heads(trace) if head in MEANINGS]
    lines += ["", *textwrap.wrap("; ".join(explained) + ". Indices count from zero.", WIDTH)]
    return "\n".join([*lines, "", *(line for words in in_words(trace) for line in textwrap.wrap(words, WIDTH))])


def pivots_of(trace: Trace, number: int) -> set[tuple[int, int]]:
    """The pairs (leaving, entering) of the step that follows one, whose entries of its tableau are the pivots."""
    following = trace.pivots[number + 1 : number + 2]
    return {pair for step in following for pair in zip(step.leaving, step.entering, strict=True)}


def tableau_cells(trace: Trace, number: int) -> list[list[str]]:
    """A head and a row for each basic unknown: name, constant, entries; the next pivot in square brackets."""
    tableau: Tableau = trace.tableau(number)
    name, pivots = trace.system.name, pivots_of(trace, number)
    found = [["", "1", *map(name, tableau.nonbasic)]]
    for b, constant, row in zip(tableau.basic, tableau.constants, tableau.entries, strict=True):
        entries = [
            f"[{value(x)}]" if (b, v) in pivots else value(x) for v, x in zip(tableau.nonbasic, row, strict=True)
        ]
        found.append([name(b), value(constant), *entries])
    return found


def tableau_lines(trace: Trace, number: int) -> list[str]:
    """Format the tableau for a terminal, its columns in several blocks if they do not fit side by side."""
    rows = tableau_cells(trace, number)
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    pieces: list[list[int]] = [[]]
    for k in range(1, len(widths)):
        if pieces[-1] and 6 + widths[0] + sum(widths[j] for j in pieces[-1]) + widths[k] > WIDTH:
            pieces.append([])
        pieces[-1].append(k)
    lines = (
        [" " * 6 + f"{row[0]:<{widths[0]}}" + "".join(f"{row[k]:>{widths[k]}}" for k in piece) for row in rows]
        for piece in pieces
    )
    return list(itertools.chain.from_iterable(lines))


def as_data(trace: Trace, title: str, judged: str, tableaux: bool = False) -> dict[str, Any]:
    """Everything, ready for JSON: fractions are "p/q", doubles numbers (null where not finite)."""
    system = trace.system
    return {
        "problem": title, "solver": trace.solver, "n": system.n, "judged": judged, "outcome": trace.outcome,
        "because": trace.because, "in_words": " ".join(in_words(trace)),
        "M": [list(map(str, row)) for row in system.M.tolist()], "q": list(map(str, system.q)),
        "z": None if trace.z is None else list(map(_plain, trace.z)),
        "ray": trace.ray and {"dz": list(map(str, trace.ray.dz)), "dt": str(trace.ray.dt)},
        "proof": None if trace.proof is None else list(map(str, trace.proof)), "again": trace.again,
        "steps": [_step_data(trace, step, tableaux) for step in trace.steps],
    }  # fmt: skip


def _step_data(trace: Trace, step: PivotStep | GaussSeidelSweep, tableaux: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"step": step.number, "z": list(map(_plain, step.z)), "w": list(map(_plain, step.w))}
    if isinstance(step, GaussSeidelSweep):
        return found | {"change": step.change, "residual": step.residual}
    name = trace.system.name
    found |= {
        "entering": list(map(name, step.entering)), "leaving": list(map(name, step.leaving)),
        "driven": None if step.driven is None else name(step.driven), "basic": list(map(name, step.basis)),
        "index_set": list(trace.system.index_set(step.basis)), "infeasible": list(step.infeasible),
        "t": None if step.t is None else str(step.t), "ratios": {name(u): str(x) for u, x in step.ratios},
        "rule": step.rule,
    }  # fmt: skip
    if tableaux:
        tableau = trace.tableau(step.number)
        found["tableau"] = {
            "nonbasic": list(map(name, tableau.nonbasic)), "constants": list(map(str, tableau.constants)),
            "entries": [list(map(str, row)) for row in tableau.entries],
        }  # fmt: skip
    return found


def _plain(x: Any) -> Any:
    return str(x) if isinstance(x, fmpq) else x
