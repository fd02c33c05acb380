"""The way of a pivoting method through the complementary cones of two or three unknowns.

Lemke's method moves the point q + t e along a line: between two pivots it lies in the cone of the z's that are basic or
entering. Principal pivoting keeps q and goes from cone to cone, until one holds q.
"""

import itertools
import math
from collections.abc import Sequence

from flint import fmpq

from workbench.builtin.reports.figures import cones_sphere
from workbench.builtin.reports.figures.cones import Picture, counts_on_rays, drawn, with_legend
from workbench.builtin.reports.figures.cones_plane import CENTRE, RADIUS, at
from workbench.builtin.reports.figures.marks import Point, dot, tooltip, words
from workbench.builtin.reports.figures.solution_counts import OF_Q, set_of
from workbench.diagnostics.tracing.trace import PivotStep, Trace
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.matrices.solutions.complementary_cones import (
    ComplementaryCones,
    Direction,
    complementary_cones,
    direction,
    turn,
    unit,
)

TITLE = "Path through the complementary cones"
COLOUR = "#b8400b"
"""Colour of the path; the colour-blind can tell it from the blues and the red of the solution numbers."""
MOST = 12
"""Steps drawn; more would hide each other."""
APART = 6.0
"""Distance between two pieces of a line that is traversed twice [px]."""


def picture(trace: Trace) -> Picture:
    """The cones of M and the first `MOST` pivots, for two or three unknowns."""
    system = trace.system
    cones = complementary_cones(system.M)
    q = direction(system.q) if any(system.q) else None
    moves = trace.solver == "lemke" and len(trace.steps) > 1
    body = drawn(cones, counts_on_rays(system.M, cones), None if moves else q, counted=False)
    if moves:
        body += _line_in_plane(trace) if system.n == 2 else _line_on_sphere(trace)
    elif q is not None:
        body += _cones_in_plane(trace, cones) if system.n == 2 else _cones_on_sphere(trace, cones)
    entry = (f"{trace.solver}, step numbers", COLOUR)
    return with_legend(TITLE, body, cones, entry, _caption(trace, moves))


def _caption(trace: Trace, moves: bool) -> str:
    plane = trace.system.n == 2
    where = "The plane of q" if plane else "The directions of q on a sphere, drawn as two hemispheres"
    cut = f"{where}, divided by the columns of I and of −M into regions with the same number of solutions."
    if moves:
        what = (
            "The path is q + t e: it starts at t = ∞, each number marks t after that step, and it ends at q (t = 0) if "
            "a solution is found. Between two pivots the point stays in the cone of the z's that are basic or "
            "entering; where cones fold, t increases again and the path turns back. Repeated pieces are drawn side by "
            "side."
            if plane
            else "The path is q + t e: it starts at t = ∞, the direction (1, 1, 1) in the middle of the left "
            "hemisphere, each number marks t after that step, and it ends at q if a solution is found. Where cones "
            "fold, t increases again and the path turns back."
        )
    else:
        what = (
            "Each numbered arc is the cone of the basis after that step; it is a solution if q lies in it."
            if plane
            else "Each number marks the middle of the cone of the basis after that step, and the last cone is "
            "outlined; it is a solution if q lies in it."
        )
    if moves and not plane and len(set(trace.system.q)) == 1:
        what += " It passes through 0, which has no direction and is not drawn."
    left = len(trace.pivots) - 1 - MOST
    return f"{cut} {what}" + (f" The last {left} steps are not drawn." if left > 0 else "")


def _along(trace: Trace) -> list[tuple[int, fmpq]]:
    """Number and t of the steps drawn of Lemke's method, without the start."""
    return [(step.number, step.t) for step in trace.pivots[1 : MOST + 1] if step.t is not None]


def _about(trace: Trace, step: PivotStep) -> str:
    """Return the tooltip of one step."""
    name, system = trace.system.name, trace.system
    moved = (
        f"{' '.join(map(name, step.entering))} for {' '.join(map(name, step.leaving))}" if step.entering else "start"
    )
    t = "" if step.t is None else f", t = {nearest_double(step.t):.6g}"
    return f"step {step.number}: {moved}{t}; z basic: {set_of(system.index_set(step.basis))}"


# Two unknowns


def _line_in_plane(trace: Trace) -> str:
    """Points q + t e to scale, each piece slightly offset from the previous one."""
    # Doubles hold shares of the largest coordinate, whatever that is.
    size = max(abs(x + t) for x in trace.system.q for t in (fmpq(0), *(t for _, t in _along(trace))))
    q = [nearest_double(x / size) for x in trace.system.q]
    marked = [(number, nearest_double(t / size)) for number, t in _along(trace)]
    longest = max(math.hypot(q[0] + t, q[1] + t) for t in (0.0, *(t for _, t in marked)))
    scale = 0.72 * RADIUS / longest

    def place(t: float, lane: int) -> Point:
        x, y = CENTRE[0] + scale * (q[0] + t), CENTRE[1] - scale * (q[1] + t)
        # Away from the line's own direction, (1, 1).
        return x + APART * lane / math.sqrt(2), y + APART * lane / math.sqrt(2)

    first = marked[0][1]
    # Where the line of direction (1, 1) leaves the circle.
    rim = 0.97 * RADIUS / scale
    far = (math.sqrt(2 * rim**2 - (q[0] - q[1]) ** 2) - q[0] - q[1]) / 2
    parts = [_joined([place(far, 0), place(first, 0)], dashed=True)]
    lane, before, forward = 0, first, True
    for (_, t), step in zip(marked[1:], trace.pivots[2:], strict=False):
        if t != before and (t < before) != forward:
            lane, forward = lane + 1, not forward
            parts.append(_joined([place(before, lane - 1), place(before, lane)]))
        parts.append(_joined([place(before, lane), place(t, lane)], about=_about(trace, step)))
        before = t
    if trace.ray is not None and trace.ray.dt > 0:
        parts.append(_joined([place(before, lane + 1), place(far, lane + 1)], dashed=True))
    parts.append(dot(place(0.0, 0), OF_Q, 5.0, "q"))
    x, y = place(0.0, 0)
    parts.append(words((x + 12, y + 14), "q", 17, OF_Q, style='font-style="italic"'))
    # The pieces that are gone over again lie on the other side.
    labels = [(place(t, 0), number, (math.sqrt(0.5), math.sqrt(0.5))) for number, t in marked]
    return "".join(parts) + _beside(labels, (-14.0, -34.0, -54.0))


def _cones_in_plane(trace: Trace, cones: ComplementaryCones) -> str:
    """An arc for the cone of each basis, from the inside to the outside."""
    shown, parts = trace.pivots[: MOST + 1], []
    first = cones.generators[0]
    for k, step in enumerate(shown):
        distance = 0.28 + 0.62 * k / max(len(shown) - 1, 3)
        a, b = _generators(trace, step, cones)
        if turn(a, b) > math.pi:
            a, b = b, a
        start, width = turn(first, a), turn(a, b)
        (x, y), (u, v) = at(start, distance), at(start + width, distance)
        r = RADIUS * distance
        parts.append(
            f'<path class="visited" d="M{x:.1f},{y:.1f} A{r:.1f},{r:.1f} 0 0 0 {u:.1f},{v:.1f}" fill="none" '
            f'stroke="{COLOUR}" stroke-width="4" stroke-linecap="round">{tooltip(_about(trace, step))}</path>'
        )
        parts.append(_number(at(start + width / 2, distance), str(step.number)))
    return "".join(parts)


def _generators(trace: Trace, step: PivotStep, cones: ComplementaryCones) -> list[Direction]:
    """Return the generators of the cone of a complementary basis."""
    return [cones.generators[unknown] for unknown in step.basis]


# Three unknowns


def _line_on_sphere(trace: Trace) -> str:
    """The directions of q + t e from (1, 1, 1) on."""
    marked = [
        (number, direction([x + t for x in trace.system.q]))
        for number, t in _along(trace)
        if any(x + t for x in trace.system.q)
    ]
    q = trace.system.q
    stops = [direction([fmpq(1)] * 3), *(ray for _, ray in marked)]
    parts = []
    for a, b in itertools.pairwise(stops):
        # Through zero, for q = -t e, there is no way on the sphere.
        if a != b and a != tuple(-x for x in b):
            for points in cones_sphere.arcs(a, b):
                d = cones_sphere.path(points)
                parts.append(f'<path class="way" d="{d}" fill="none" stroke="{COLOUR}" stroke-width="3"/>')
    for place in cones_sphere.places(direction(q)) if any(q) else []:
        u, v, outward = _from_centre(place)
        beyond = (place[0] + 17 * outward * u, place[1] + 17 * outward * v)
        parts += [dot(place, OF_Q, 5.0, "q"), words(beyond, "q", 17, OF_Q, style='font-style="italic"')]
    labels = []
    for number, ray in marked:
        for place in cones_sphere.places(ray):
            u, v, _ = _from_centre(place)
            labels.append((place, number, (-v, u)))
    return "".join(parts) + _beside(labels, (16.0, -16.0, 36.0, -36.0, 56.0, -56.0))


def _from_centre(place: Point) -> tuple[float, float, int]:
    """The direction (2) of the line through a point, which runs from the centre of a disc, and 1 where t falls along
    it, -1 on the other disc."""
    x, y = min(cones_sphere.CENTRES, key=lambda centre: math.dist(centre, place))
    length = math.dist((x, y), place)
    u, v = ((place[0] - x) / length, (place[1] - y) / length) if length > 1.0 else (1.0, 0.0)
    return u, v, 1 if (x, y) == cones_sphere.CENTRES[0] else -1


def _cones_on_sphere(trace: Trace, cones: ComplementaryCones) -> str:
    """Numbers in the middle of the cones, joined in their order, and the outline of the last."""
    shown = trace.pivots[: MOST + 1]
    middles = [_middle(_generators(trace, step, cones)) for step in shown]
    parts = []
    a, b, c = _generators(trace, shown[-1], cones)
    for u, v in ((a, b), (b, c), (c, a)):
        for points in cones_sphere.arcs(u, v):
            d = cones_sphere.path(points)
            parts.append(f'<path class="visited" d="{d}" fill="none" stroke="{COLOUR}" stroke-width="4"/>')
    for u, v in itertools.pairwise(middles):
        for points in cones_sphere.arcs(u, v) if u not in (v, tuple(-x for x in v)) else []:
            d = cones_sphere.path(points)
            parts.append(
                f'<path class="way" d="{d}" fill="none" stroke="{COLOUR}" stroke-width="2" stroke-dasharray="5 4"/>'
            )
    marked = [
        (place, step.number) for ray, step in zip(middles, shown, strict=True) for place in cones_sphere.places(ray)
    ]
    return "".join([*parts, *(_number(place, text) for place, text in _together(marked, 12.0).items())])


def _middle(generators: Sequence[Direction]) -> Direction:
    """A direction in the middle of a cone, rounded."""
    units = [unit(g) for g in generators]
    return direction([fmpq(round(1e6 * sum(x)), 1) for x in zip(*units, strict=True)])


# Marks


def _joined(points: Sequence[Point], dashed: bool = False, about: str = "") -> str:
    d = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<path class="way" d="{d}" fill="none" stroke="{COLOUR}" stroke-width="3" '
        f'stroke-linecap="round"{dashes}>{tooltip(about)}</path>'
    )


def _together(marked: Sequence[tuple[Point, int]], near: float) -> dict[Point, str]:
    """The numbers of steps by place; those that are nearer to each other share one."""
    places: dict[Point, list[str]] = {}
    for point, number in marked:
        place = next((p for p in places if math.dist(p, point) < near), point)
        places.setdefault(place, []).append(str(number))
    return {place: ", ".join(numbers) for place, numbers in places.items()}


def _beside(marked: Sequence[tuple[Point, int, Point]], distances: Sequence[float]) -> str:
    """Dots on a line, and their numbers at the first of these distances along a normal that is free, else the last."""
    across = {place: normal for place, _, normal in marked}
    parts, taken = [], list[Point]()
    for (x, y), text in _together([(place, number) for place, number, _ in marked], 2.0).items():
        u, v = across[x, y]
        choices = [(x + u * d, y + v * d) for d in distances]
        place = next((c for c in choices if all(math.dist(c, p) > 24 for p in taken)), choices[-1])
        taken.append(place)
        away = f'<path d="M{x:.1f},{y:.1f}L{place[0]:.1f},{place[1]:.1f}" stroke="{COLOUR}"/>'
        parts.append((away + dot((x, y), COLOUR, 4.0), _number(place, text)))
    return "".join(mark for mark, _ in parts) + "".join(label for _, label in parts)


def _number(place: Point, text: str) -> str:
    x, y = place
    half = 4.0 + 4.0 * len(text)
    return (
        f'<rect class="step" x="{x - half:.1f}" y="{y - 9:.1f}" width="{2 * half:.1f}" height="18" rx="9" '
        f'fill="{COLOUR}" stroke="#fff" stroke-width="1.2"/>'
        f'<text x="{x:.1f}" y="{y + 4.2:.1f}" font-size="12" font-weight="600" fill="#fff" text-anchor="middle">'
        f"{text}</text>"
    )
