"""The solutions along a parameter, as data for programs, as text for a terminal, and in words."""

import textwrap
from collections.abc import Sequence
from typing import Any

from workbench.builtin.reports.text.check import WIDTH
from workbench.builtin.reports.text.painleve import short
from workbench.diagnostics.solution_paths import SolutionPaths, labels, shown
from workbench.matrices.paths.local_solutions import Solutions
from workbench.matrices.paths.path import CriticalValue, Event, Interval
from workbench.matrices.paths.roots import Root

WORDS = {
    "birth": "two solutions start at one point", "fold": "two solutions merge and end",
    "exchange": "a solution continues with another index set", "branching": "solutions start or end at one point",
    "family": "infinitely many solutions", "isolated": "a solution at this value only",
    "untraced": "degenerate solutions change",
}  # fmt: skip


def as_data(paths: SolutionPaths, title: str) -> dict[str, Any]:
    """JSON-ready. Values of the parameter are enclosed by doubles `lo`, `hi`; `exact` is "p/q" where they are rational,
    `polynomial` has the coefficients of the minimal polynomial, constant first, where they are not."""
    p, path = paths.problem, paths.path
    return {
        "title": title, "parameter": p.parameter, "unit": p.unit or None, "n": path.data.n, "source": p.source,
        "in_words": in_words(paths),
        "ends": [place(t) | {"count": found.count} for t, found in (path.start, path.end)],
        "intervals": [_interval(i) for i in path.intervals],
        "critical": [_critical(paths, c) for c in path.critical],
    }  # fmt: skip


def place(t: Root) -> dict[str, Any]:
    """A value of the parameter."""
    lo, hi = t.bracket
    return {
        "lo": lo, "hi": hi, "exact": t.exact,
        "polynomial": None if t.factor is None else [str(c) for c in t.factor.coeffs()],
    }  # fmt: skip


def _interval(i: Interval) -> dict[str, Any]:
    return {
        "from": place(i.lo), "to": place(i.hi), "count": i.solutions.count, "sample": i.sample.exact,
        "solutions": [
            {
                "index_set": list(basis.a), "denominator": [str(c) for c in basis.denominator.coeffs()],
                "numerators": [[str(c) for c in f.coeffs()] for f in basis.numerators],
            }
            for found in i.solutions.points.values() for basis in found if basis.regular
        ],
        "families": [list(face.a) for face in i.solutions.faces],
    }  # fmt: skip


def _critical(paths: SolutionPaths, c: CriticalValue) -> dict[str, Any]:
    events = [{"kind": e.kind, "before": e.before, "after": e.after} for e in c.events]
    points = [shown(paths.problem, c.t, point) for point in c.solutions.points]
    families = [
        {"index_set": list(f.a), **{name: [shown(paths.problem, c.t, x) for x in some] for name, some in
         (("vertices", f.vertices), ("rays", f.rays))}}
        for f in c.solutions.faces
    ]  # fmt: skip
    return place(c.t) | {"count": c.solutions.count, "events": events, "points": points, "families": families}


def value(t: Root) -> str:
    """A value of the parameter: a short fraction as it is, with its decimals; otherwise rounded decimals."""
    exact = short(t.exact)
    if exact is None:
        return f"~{t.value:.10g}"
    return f"{exact} = {t.value:.10g}" if "/" in exact else exact


def sets(some: Sequence[tuple[int, ...]]) -> str:
    """Index sets, or that there is none."""
    return ", ".join("{" + ", ".join(map(str, a)) + "}" for a in some) or "none"


def event_words(e: Event) -> str:
    """Return the change at a parameter value, with the index sets before and after."""
    if e.kind == "ray":
        what = " and ".join(
            f"{'a solution' if len(some) == 1 else f'{len(some)} solutions'} {verb}"
            for some, verb in ((e.before, "goes to infinity"), (e.after, "comes from infinity"))
            if some
        ).replace("solutions goes", "solutions go").replace("solutions comes", "solutions come")  # fmt: skip
    else:
        what = WORDS[e.kind]
    return f"{e.kind}: {what} ({sets(e.before)} before, {sets(e.after)} after)"


def count_words(found: Solutions) -> str:
    return "infinitely many" if found.count == "infinite" else str(found.count)


def rows(paths: SolutionPaths) -> list[tuple[str, str, str]]:
    """Return rows from the lower to the upper end: place, number of solutions, and solutions or change."""
    path, table = paths.path, []
    table.append((value(path.start[0]), count_words(path.start[1]), ""))
    for k, i in enumerate(path.intervals):
        where = f"({value(i.lo).split(' = ')[0]}, {value(i.hi).split(' = ')[0]})"
        names = [labels(point) for point in i.solutions.isolated]
        names += [f"a family within {sets([face.a])}" for face in i.solutions.faces]
        table.append((where, count_words(i.solutions), ", ".join(names)))
        if k < len(path.critical):
            c = path.critical[k]
            table.append((value(c.t), count_words(c.solutions), "; ".join(map(event_words, c.events))))
    table.append((value(path.end[0]), count_words(path.end[1]), ""))
    return table


def in_words(paths: SolutionPaths) -> list[str]:
    """Sentences made from the findings."""
    p, path = paths.problem, paths.path
    n = len(path.critical)
    many = {0: "nowhere", 1: "at one value"}.get(n, f"at {n} values")
    span = f"{p.parameter} from {value(path.start[0])} to {value(path.end[0])}"
    counts = list(dict.fromkeys(count_words(i.solutions) for i in path.intervals))
    sentences = [
        f"For {span} the solutions change {many}.",
        f"Number of solutions between the critical values: {', '.join(counts)}."
        if n
        else f"Number of solutions: {counts[0]}.",
    ]
    for c in path.critical:
        sentences.append(f"At {p.parameter} = {value(c.t)}: {'; '.join(map(event_words, c.events))}.")
    return sentences


def to_text(paths: SolutionPaths, title: str) -> str:
    """Format solution paths for a terminal."""
    p, table = paths.problem, rows(paths)
    widths = [max(len(row[k]) for row in [*table, (p.parameter, "solutions", "")]) for k in (0, 1)]
    head = f"{p.parameter:<{widths[0]}}  {'solutions':<{widths[1]}}  index sets {{i: unknown i > 0}}, or events"
    lines = [f"{where:<{widths[0]}}  {count:<{widths[1]}}  {what}".rstrip() for where, count, what in table]
    words = (textwrap.wrap(sentence, WIDTH) for sentence in (path_words(paths), *in_words(paths)[:2]))
    source, *summary = ("\n".join(lines) for lines in words)
    return "\n".join([title, source, "", head, *lines, "", *summary])


def path_words(paths: SolutionPaths) -> str:
    """Return what was followed, and how certain it is."""
    n = paths.path.data.n
    return f"{n} unknown{'' if n == 1 else 's'}: {paths.problem.source}; results are exact for these polynomials"
