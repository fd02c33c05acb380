"""Cases with uncoupled parts (`Case.parts`): stepped part by part, so that time and memory grow linearly with their
number, and their runs combined into one.

A step of the whole would eliminate all velocities at once, at a cost cubic in their number. Parts of one kind, with the
same mechanics and size, share the compiled declaration and the arrays of a step (`loops`). Vectors of the whole are
combined on demand, matrices only if the whole ones are requested; the judge and the tables do not need these.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.algorithms.base import Solver
from workbench.engine.timing import clock
from workbench.judge import coulomb
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.core import Core
from workbench.mechanics.law import COULOMB
from workbench.problems.classes import Array
from workbench.problems.solution import Status
from workbench.step.loops import CaseStepper, Starts
from workbench.step.record import MEMORY, RunRecord
from workbench.step.run import Course, Run
from workbench.step.scheme import MIDPOINT, at_start
from workbench.support.errors import DataError

AGREEMENT = 1e-12
"""Share of the largest entry by which a part's data may differ from the whole's, since both round."""

RESIDUALS = ("signorini", "cone", "dissipation", "natural_map", "law")
"""Residuals of a `coulomb.Verdict`, one per step."""


class PartIndices:
    """Positions of the parts' rows and velocities within the whole, of (n, m, r, d) in all."""

    def __init__(self, sizes: Sequence[tuple[int, int, int, int]]):
        n, m, r, d = (np.array(column) for column in zip(*sizes, strict=True))
        self.velocities, self.constraints, self.normals, self.slides = map(in_turn, (n, m, r, d * r))
        contacts, rows = int(r.sum()), int((r + d * r).sum())
        self.contacts = [
            np.r_[a, contacts + b.start : contacts + b.stop] for a, b in zip(self.normals, self.slides, strict=True)
        ]
        """Rows [n, t] of the contacts."""
        self.impulses = [
            np.r_[a, rows + b.start : rows + b.stop] for a, b in zip(self.contacts, self.constraints, strict=True)
        ]
        """Rows of the contacts and of the bilateral constraints."""


def in_turn(sizes: Any) -> list[slice]:
    """Return the slices of consecutive parts."""
    ends = np.cumsum(sizes)
    return [slice(int(b - size), int(b)) for size, b in zip(sizes, ends, strict=True)]


def joined(columns: Sequence[Array], places: Sequence[Any]) -> Array:
    """Combine columns (K, k) of the parts into those of the whole."""
    whole = np.empty((len(columns[0]), sum(c.shape[1] for c in columns)))
    for column, place in zip(columns, places, strict=True):
        whole[:, place] = column
    return whole


def blocks(parts: Sequence[Array], rows: Sequence[Any], columns: Sequence[Any]) -> Array:
    """Combine matrices (K, a, b) of the parts as blocks of the whole's. Raises DataError if memory does not suffice."""
    shape = len(parts[0]), sum(p.shape[1] for p in parts), sum(p.shape[2] for p in parts)
    size = 8.0 * np.prod(shape, dtype=float)
    if size > MEMORY:
        raise DataError(
            f"matrices of {len(parts)} parts together need {size / 1e9:.3g} GB; at most {MEMORY / 1e9:g} GB are used: "
            "give a shorter duration, a larger step or fewer parts"
        )
    whole = np.zeros(shape)
    for part, i, j in zip(parts, rows, columns, strict=True):
        whole[(slice(None), *np.ix_(_indices(i), _indices(j)))] = part
    return whole


def _indices(place: Any) -> Any:
    return np.arange(place.start, place.stop) if isinstance(place, slice) else place


class RecordOfParts:
    """The fields of `RunRecord`, combined on demand; the problem's numbers come part by part."""

    def __init__(self, parts: Sequence[Run]):
        self.records, self.places = [p.record for p in parts], PartIndices([p.case.size for p in parts])

    def __getattr__(self, name: str) -> Any:
        if name not in RunRecord._fields:
            raise AttributeError(f"a record has no '{name}'; it has {', '.join(RunRecord._fields)}")
        found = self._whole(name, [getattr(r, name) for r in self.records])
        setattr(self, name, found)
        return found

    def _whole(self, name: str, columns: list[Array]) -> Array:
        places, widths = self.places, [c.shape[1] for c in columns]
        if name == "effort":
            return np.stack([sum(c[:, 0] for c in columns), np.max([c[:, 1] for c in columns], axis=0)], axis=1)
        if name == "J":
            return blocks(columns, places.contacts, places.velocities)
        if name == "J_b":
            return blocks(columns, places.constraints, places.velocities)
        if name in ("M", "mass"):
            return blocks(columns, in_turn(widths), in_turn(widths))
        if name == "p":
            return joined(columns, places.impulses)
        return joined(columns, places.contacts if name in ("rate", "eps") else in_turn(widths))


@dataclass(frozen=True, eq=False)
class RunOfParts(Run):
    """A `Run` whose steps were made by its `parts`, all of the same length."""

    parts: tuple[Run, ...] = field(repr=False, default=())

    @cached_property
    def _places(self) -> PartIndices:
        return PartIndices([p.case.size for p in self.parts])

    @cached_property
    def contact_impulse(self) -> Array:
        return joined([p.contact_impulse for p in self.parts], self._places.velocities)

    @cached_property
    def _Jv(self) -> Array:
        return joined([p._Jv for p in self.parts], self._places.contacts)

    @cached_property
    def W(self) -> Array:
        rows = self._places.contacts
        return blocks([p.W for p in self.parts], rows, rows)

    @cached_property
    def free_rates(self) -> Array:
        return joined([p.free_rates for p in self.parts], self._places.contacts)

    @cached_property
    def judged(self) -> coulomb.Verdict:
        """The worst residuals among the parts: uncoupled parts are judged separately, as in `coulomb.judge`."""
        return self._worst([p.judged for p in self.parts])

    @cached_property
    def judged_by_law(self) -> coulomb.Verdict:
        return self.judged if self.law == COULOMB else self._worst([p.judged_by_law for p in self.parts])

    def _worst(self, found: Sequence[coulomb.Verdict]) -> coulomb.Verdict:
        worst = (np.max([getattr(v, name) for v in found], axis=0) for name in RESIDUALS)
        by_contact = (joined([getattr(v, name) for v in found], self._places.normals) for name in ("rho", "normaliser"))
        return coulomb.Verdict(*worst, *by_contact)

    @cached_property
    def residuals(self) -> Array:
        """(K,) the largest residual among the problems of the parts."""
        return np.max([p.residuals for p in self.parts], axis=0) if self.steps else np.zeros(0)


def run_parts(case: Case, formulation: Formulation, solver: Solver, course: Course, progress: Any = None) -> RunOfParts:
    """Call `simulation.simulate` for a case with parts; the run ends when the first part fails.

    Also raises DataError if the parts are not all of the case (`must_be_apart`).
    """
    parts, steps = case.parts, course.steps
    must_be_apart(case, parts)
    runs: list[Run] = []
    order: list[int] = []
    start = clock()
    for members in _kinds(parts):
        share = None if progress is None else _share(progress, steps, len(runs), len(members), len(parts))
        some = [parts[k] for k in members]
        runs += _run_kind(some, formulation, solver, course, share)
        order += members
        if share:
            share(steps)
    seconds = clock() - start
    runs = [runs[k] for k in np.argsort(order)]
    k = min(r.steps for r in runs)
    if k < steps:
        ending = next(i for i, r in enumerate(runs) if r.steps == k)
        status, reason = runs[ending].status, f"part {ending}: {runs[ending].reason}"
    else:
        status, reason = max((r.status for r in runs), key=lambda s: s is not Status.SOLVED), ""
    runs = [replace(r, record=_first(r.record, k) if r.steps > k else r.record, compiled=None) for r in runs]
    record: Any = RecordOfParts(runs)
    one = runs[0]
    return RunOfParts(
        case, formulation, one.solver, one.kind, one.tolerance, course, status, reason, one.build_time, seconds,
        record, None, dict(sum((Counter(r.others) for r in runs), Counter())), tuple(runs),
    )  # fmt: skip


def _kinds(parts: Sequence[Case]) -> list[list[int]]:
    """Group the parts by mechanics and size."""
    found: dict[Any, list[int]] = {}
    for k, p in enumerate(parts):
        key = p.fill, p.advance, p.size, p.start()[0].size, p.data().size, p.v_th
        found.setdefault(key, []).append(k)
    return list(found.values())


def _share(progress: Any, steps: int, before: int, members: int, parts: int) -> Any:
    """Convert the progress of some members, after those before them, to that of all parts."""
    return lambda made: progress((steps * before + made * members) // parts)


def _run_kind(parts: Sequence[Case], formulation: Formulation, solver: Any, course: Course, progress: Any) -> list[Run]:
    """Return the runs of parts of one kind."""
    s, count = CaseStepper(parts[0], formulation, solver, course), len(parts)
    q, v = (np.array(column) for column in zip(*(p.start() for p in parts), strict=True))
    starts = Starts.of(s, q, v, np.array([p.data() for p in parts]))
    if course.scheme.kind == MIDPOINT:
        starts.since[:] = [at_start(p, s.core).ravel() for p in parts]
    made = s.run_from(starts, None if progress is None else lambda k: progress(course.steps * k // count))
    return [made.run(k, part) for k, part in enumerate(parts)]


def _first(record: Any, k: int) -> Any:
    """Return the first k steps."""
    return record._replace(
        **{name: x[: k + 1] if name in ("q", "v") else x[:k] for name, x in record._asdict().items()}
    )


def must_be_apart(case: Case, parts: Sequence[Case]) -> None:
    """Raise DataError if the parts are not all of the case.

    Their sizes must add up to the case's, and the case's initial data must be theirs, and zero elsewhere: a coupling
    shows as an additional row or a nonzero entry.
    """
    if any(p.parts for p in parts):
        raise DataError(f"a part of {case.name} has parts of its own; give these as parts of {case.name}")
    sizes = [p.size for p in parts]
    total = (*(sum(s[k] for s in sizes) for k in range(3)), sizes[0][3])
    if total != tuple(case.size) or any(s[3] != total[3] for s in sizes):
        raise DataError(
            f"the parts of {case.name} have (n, m, r, d) = {total} together; the case has {tuple(case.size)}"
        )
    q, v = case.start()
    starts = [p.start() for p in parts]
    for name, whole, those in (("q", q, [q for q, _ in starts]), ("v", v, [v for _, v in starts])):
        if not np.array_equal(whole, np.concatenate(those)):
            raise DataError(f"the start {name} of {case.name} is not that of its parts one after the other")
    core, places = _filled(case, q, v), PartIndices(sizes)
    for k, part in enumerate(parts):
        own, its = _filled(part, *starts[k]), Core(part.size, 1.0, 0.0, part.v_th)
        its.v = starts[k][1]
        for name, block in _blocks(core, places, k):
            getattr(its, name)[...] = block
            block[...] = 0.0
        if not np.array_equal(its.buffer, own.buffer):
            _must_agree(case, k, its, own)
    left = next((name for name in ("M", "J_b", "J_n", "J_t") if getattr(core, name).any()), None)
    if left:
        raise DataError(f"{left} of {case.name} couples its parts; a case is taken apart only where nothing does")


def _must_agree(case: Case, k: int, its: Core, own: Core) -> None:
    """Raise DataError if `its`, the case's data of part k, and the part's `own` differ by more than round-off."""
    for name in own.fields:
        expected, there = np.asarray(getattr(own, name)), np.asarray(getattr(its, name))
        if not np.allclose(there, expected, rtol=0.0, atol=AGREEMENT * np.abs(expected).max(initial=1.0)):
            raise DataError(f"{name} of {case.name} at its start is not that of its part {k}")


def _filled(case: Case, q: Array, v: Array) -> Core:
    core = Core(case.size, 1.0, 0.0, case.v_th)
    core.v = v
    case.fill(q.copy(), v.copy(), case.data(), core)
    return core


def _blocks(core: Core, places: PartIndices, k: int) -> Iterator[tuple[str, Array]]:
    """Iterate over the entries of part k in a case's data, as views."""
    n, m, r, t = (rows[k] for rows in (places.velocities, places.constraints, places.normals, places.slides))
    for name, rows in (("J_b", m), ("J_n", r), ("J_t", t), ("M", n)):
        yield name, getattr(core, name)[rows, n]
    for name, rows in (("f", n), ("g", m), ("r_b", m), ("eps_b", m), ("r_t", t), ("eps_t", t)):
        yield name, getattr(core, name)[rows]
    for name in ("phi", "r_n", "eps_n", "mu", "mu_s", "e", "heading"):
        yield name, getattr(core, name)[r]
