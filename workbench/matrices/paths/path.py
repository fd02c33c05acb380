"""The solution set of an LCP along one parameter t, exactly: the number of solutions, and where it changes.

The solutions of an index set are rational functions of t (`parametric`). They begin and end only at roots of their
numerators and denominators, so that between neighbouring roots one rational sample counts them all. The event at a
root is found from the solutions there and the limits of those on either side:

    birth, fold      two solutions begin in one point, or meet in one and end (both are folds of the branch)
    exchange         one solution continues under another index set
    branching        other numbers of solutions begin and end in one point
    ray              a solution comes from infinity or goes there
    family           infinitely many solutions at this value, including those that begin and end there
    isolated         a solution at this value alone
    untraced         changes of degenerate solutions for which every basis is singular at all t
"""

import itertools
from dataclasses import dataclass, field

from flint import fmpq, fmpz_poly

from workbench.engine.timing import check_clock
from workbench.matrices.paths.local_solutions import Face, Point, Solutions, is_feasible, limit, solutions_at, support
from workbench.matrices.paths.parametric import Basis, Parametric, bases
from workbench.matrices.paths.roots import Root, irreducible_factors, real_roots
from workbench.support.errors import DataError

LARGEST = 8
"""Largest number of unknowns for which all 2^n index sets are followed."""

Support = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Event:
    """An event at a critical value, of one of the module's kinds: the supports {j : y_j > 0} of the solutions that end
    there (`before`, for t below it) and begin there (`after`); `points` at that value in which they meet."""

    kind: str
    before: list[Support]
    after: list[Support]
    points: list[Point]


@dataclass(frozen=True, eq=False)
class CriticalValue:
    """A value of t at which the solutions change, all solutions there, and the events."""

    t: Root
    solutions: Solutions
    events: list[Event]


@dataclass(frozen=True, eq=False)
class Interval:
    """An open interval on which the solutions are the same rational functions of t; all of them at `sample`."""

    lo: Root
    hi: Root
    sample: Root
    solutions: Solutions


@dataclass(frozen=True, eq=False)
class SolutionPath:
    """Intervals and the critical values between them; the solutions at both ends of the range."""

    data: Parametric
    start: tuple[Root, Solutions]
    end: tuple[Root, Solutions]
    intervals: list[Interval]
    critical: list[CriticalValue]


def follow(data: Parametric, low: fmpq, high: fmpq, deadline: float) -> SolutionPath:
    """The solutions for t in [low, high]. Raises DataError beyond `LARGEST` unknowns, OutOfTimeError."""
    if data.n > LARGEST:
        raise DataError(f"the order is {data.n}; solutions are followed along a parameter up to order {LARGEST}")
    if not low < high:
        raise DataError(f"the parameter goes from {low} to {high}; the first must be the smaller one")
    found = list(bases(data, deadline))
    ends = Root(low, low), Root(high, high)
    values = _candidates(found, *ends, deadline)
    places = [ends[0], *values, ends[1]]
    intervals = []
    for lo, hi in itertools.pairwise(places):
        sample = _between(lo, hi)
        intervals.append(Interval(lo, hi, sample, solutions_at(data, found, sample, deadline)))
    start, end = ((t, solutions_at(data, found, t, deadline)) for t in ends)
    path = SolutionPath(data, start, end, intervals[:1], [])
    for t, after in zip(values, intervals[1:], strict=True):
        here, last = solutions_at(data, found, t, deadline), path.intervals[-1]
        events = _events(t, here, last.solutions, after.solutions)
        if events:
            path.critical.append(CriticalValue(t, here, events))
            path.intervals.append(after)
        else:
            path.intervals[-1] = Interval(last.lo, after.hi, last.sample, last.solutions)
    return path


def _between(lo: Root, hi: Root) -> Root:
    middle = (lo.hi + hi.lo) / 2
    return Root(middle, middle)


def _candidates(found: list[Basis], low: Root, high: Root, deadline: float) -> list[Root]:
    """The values of t strictly within the range at which some index set may gain or lose solutions, in order."""
    factors: dict[tuple[int, ...], fmpz_poly] = {}
    of_basis = []
    for basis in found:
        own: dict[tuple[int, ...], fmpz_poly] = {}
        for f in basis.polynomials():
            check_clock(deadline)
            own |= irreducible_factors(f)
        factors |= own
        of_basis.append(own.keys())
    ends = [fmpz_poly([-int(t.lo.p), int(t.lo.q)]) for t in (low, high)]
    check_clock(deadline)
    # The ends are among the roots, so that every other root lies on one side of them.
    found_roots = real_roots([*factors.values(), *ends], deadline)
    within = {key: [t for t in some if low.hi < t.lo and t.hi < high.lo] for key, some in found_roots.items()}
    kept: dict[fmpq, Root] = {}
    for basis, keys in zip(found, of_basis, strict=True):
        check_clock(deadline)
        roots = sorted((t for key in keys for t in within[key]), key=lambda t: t.lo)
        kept |= {t.lo: t for t in (_changing(basis, roots, low, high) if basis.regular else roots)}
    return [kept[lo] for lo in sorted(kept)]


def _changing(basis: Basis, roots: list[Root], low: Root, high: Root) -> list[Root]:
    """The roots of a regular basis at which it has solutions, or next to which it has."""
    beside = [is_feasible(basis, _between(s, t)) for s, t in itertools.pairwise([low, *roots, high])]

    def here(t: Root) -> bool:
        if t.at(basis.denominator) == 0:
            # If the equations of a singular basis have solutions, Cramer's determinants vanish.
            return all(t.at(f) == 0 for f in basis.numerators)
        return is_feasible(basis, t)

    return [t for t, sides in zip(roots, itertools.pairwise(beside), strict=True) if any(sides) or here(t)]


@dataclass(eq=False)
class _Meeting:
    """Solutions of the intervals before and after that meet in one connected part of the solutions at t."""

    points: list[Point] = field(default_factory=list)
    faces: list[Face] = field(default_factory=list)
    family: bool = False
    before: list[Point] = field(default_factory=list)
    after: list[Point] = field(default_factory=list)

    def event(self, same_faces: bool) -> Event | None:
        """The event here; None if nothing happens because the same faces continue on either side."""
        kind = {(1, 1): "exchange", (0, 2): "birth", (2, 0): "fold", (0, 0): "isolated"}.get(
            (len(self.before), len(self.after)), "branching"
        )
        unchanged = sorted(map(_pattern, self.before)) == sorted(map(_pattern, self.after))
        if unchanged and (same_faces if self.family else kind == "exchange"):
            return None
        return self.named("family" if self.family else kind)

    def named(self, kind: str) -> Event:
        return Event(kind, list(map(support, self.before)), list(map(support, self.after)), self.points)


def _pattern(point: Point) -> tuple[bool, ...]:
    return tuple(map(bool, point))


def _events(t: Root, here: Solutions, before: Solutions, after: Solutions) -> list[Event]:
    """The events at t between two intervals; none if each solution continues with its index set."""
    parts, lost, untraced = _parts(here, before, after), _Meeting(), _Meeting()
    for side, solutions in (("before", before), ("after", after)):
        for point, found in solutions.points.items():
            basis = next((b for b in found if b.regular), None)
            same_pattern = (p for p in here.points if _pattern(p) == _pattern(point))
            end = limit(basis, t) if basis else next(same_pattern, None)
            if end is None:
                part = lost if basis else untraced
            else:
                part = next(p for p in parts if end in p.points or any(face.holds(end) for face in p.faces))
            getattr(part, side).append(point)
    same = {f.a for f in before.faces} == {f.a for f in here.faces} == {f.a for f in after.faces}
    events = [event for part in parts if (event := part.event(same))]
    for kind, part in (("ray", lost), ("untraced", untraced)):
        if part.before or part.after:
            events.append(part.named(kind))
    if not events and not (same and before.count == here.count == after.count):
        events.append(_Meeting().named("family"))
    return events


def _parts(here: Solutions, before: Solutions, after: Solutions) -> list[_Meeting]:
    """The connected parts of the solutions at a value of t."""
    parts: list[_Meeting] = []
    for face in here.faces:
        # Two faces that share a point share a vertex, as both are polyhedra without lines.
        met = [p for p in parts if any(v in p.points for v in face.vertices)]
        joined = _Meeting(
            face.vertices + [v for p in met for v in p.points], [face, *(f for p in met for f in p.faces)]
        )
        parts = [p for p in parts if p not in met] + [joined]
    for point in here.points:
        if not any(face.holds(point) for p in parts for face in p.faces):
            parts.append(_Meeting([point]))
    beside = before.faces + after.faces
    for part in parts:
        part.family = bool(part.faces) or any(face.holds(p) for face in beside for p in part.points)
    return parts
