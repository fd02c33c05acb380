"""Stepping of a case with uncoupled parts (`Case.parts`), one by one: time and memory grow linearly with their number.

A step of the whole would eliminate all velocities at once, at a cost cubic in their number. Parts of one kind, with the
same mechanics and size, share the compiled declaration and the arrays of a step (`starts`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import in_steps
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.core import Core
from workbench.problems.classes import Array
from workbench.problems.solution import Status
from workbench.step.run import Course, Run
from workbench.step.run_of_parts import PartIndices, RecordOfParts, RunOfParts
from workbench.step.scheme import MIDPOINT, at_start
from workbench.step.starts import Ends, Starts, run_from
from workbench.step.stepper import Stepper
from workbench.step.whole import run_of
from workbench.support.errors import DataError

AGREEMENT = 1e-12
"""Share of the largest entry by which a part's data may differ from the whole's, since both round."""


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
    one = runs[0]
    record: Any = RecordOfParts([r.record for r in runs], PartIndices([p.size for p in parts]))
    return RunOfParts(
        case, formulation, one.solver, one.kind, one.tolerance, course.h, course.scheme, course.normal,
        course.relaxation, status, reason, steps, one.build_time, seconds, record, None,
        dict(sum((Counter(r.others) for r in runs), Counter())), tuple(runs),
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
    one, steps, count = parts[0], course.steps, len(parts)
    c = compiled(formulation, *one.size)
    s = Stepper(c, course.h, course.normal, one.v_th, course.passes, course.scheme)
    s.follow(one, course.relaxation, steps)
    q, v = (np.array(column) for column in zip(*(p.start() for p in parts), strict=True))
    starts = Starts.of(s, q, v, np.array([p.data() for p in parts]))
    if course.scheme.kind == MIDPOINT:
        starts.since[:] = [at_start(p, s.core).ravel() for p in parts]
    ends, begun = Ends.unset(s, count, steps, 1), clock()
    made = None if progress is None else lambda k: progress(steps * k // count)
    reasons, others = run_from(one, s, in_steps(solver, c.kind), starts, ends, made)
    seconds = (clock() - begun) / count
    return [
        run_of(part, course, s, solver, Status(ends.status[k]), reasons[k], seconds, ends.record(s, k), others[k])
        for k, part in enumerate(parts)
    ]


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
