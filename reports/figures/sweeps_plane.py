"""The sweeps of a Gauss-Seidel method on two unknowns: steps parallel to the axes in the plane of z."""

import itertools
import math
from collections.abc import Sequence

from flint import fmpq

from workbench.builtin.reports.figures.cones import Picture, sheet
from workbench.builtin.reports.figures.cones_path import COLOUR
from workbench.builtin.reports.figures.marks import Point, arrow, dot, words
from workbench.builtin.reports.figures.solution_counts import OF_I, OF_M
from workbench.diagnostics.tracing.trace import Trace
from workbench.matrices.linear_algebra.rationals import nearest_double

TITLE = "Sweeps in the plane of z"
SIDE, LEFT, TOP = 320.0, 210.0, 25.0
"""Side, left edge and top edge of the drawn part of the plane [px]."""
HEIGHT = TOP + SIDE + 45
ROOM = 60.0, 18.0
"""Width and height of the name of a line [px]."""
MOST, NUMBERED = 30, 3
"""Sweeps drawn, and those that bear a number: later ones lie on each other."""
CAPTION = (
    "Horizontal: z₀. Vertical: z₁, on its own scale. Each sweep sets z₀ and then z₁ to the value at which its w is "
    "zero, or to zero if that is negative. Lines: w₀ = 0 and w₁ = 0. The first sweeps are numbered."
)


def picture(trace: Trace) -> Picture:
    """Draw the sweeps of two unknowns; sweeps beyond the range of doubles are left out."""
    points = [tuple(map(_double, step.z)) for step in trace.sweeps[: MOST + 1]]
    points = [z for z in points if all(map(math.isfinite, z))]
    size = [1.2 * max(abs(z[i]) for z in points) or 1.0 for i in (0, 1)]

    def at(x: float, y: float) -> Point:
        return LEFT + SIDE * (x / size[0]), TOP + SIDE * (1 - y / size[1])

    parts = [arrow(at(0, 0), at(*end), OF_I) for end in ((1.08 * size[0], 0), (0, 1.05 * size[1]))]
    parts += [
        words((at(1.08 * size[0], 0)[0] + 14, at(0, 0)[1]), "z₀", 16, OF_I, style='font-style="italic"'),
        words((LEFT - 16, at(0, 1.05 * size[1])[1] + 4), "z₁", 16, OF_I, style='font-style="italic"'),
        words((at(*points[-1])[0], at(0, 0)[1] + 18), f"{points[-1][0]:.4g}", 12, OF_I),
        words((LEFT - 8, at(*points[-1])[1]), f"{points[-1][1]:.4g}", 12, OF_I, "end"),
    ]
    labels = []
    for i, name in enumerate(("w₀ = 0", "w₁ = 0")):
        ends = _across([_double(trace.system.M[i, j]) * size[j] for j in (0, 1)], _double(trace.system.q[i]))
        if ends is not None:
            (x, y), (u, v) = (at(a * size[0], b * size[1]) for a, b in ends)
            parts.append(f'<path class="row" d="M{x:.1f},{y:.1f}L{u:.1f},{v:.1f}" stroke="{OF_M}" stroke-width="1.6"/>')
            labels.append((u, v - 9, name))
    parts += _named(labels)
    # z_0 moves first, so that a corner has the new z_0 and the old z_1.
    way = [at(*points[0])]
    for (_, old), (x, y) in itertools.pairwise(points):
        way += [at(x, old), at(x, y)]
    line = "L".join(f"{x:.1f},{y:.1f}" for x, y in way)
    parts.append(f'<path class="way" d="M{line}" fill="none" stroke="{COLOUR}" stroke-width="2"/>')
    for number, z in enumerate(points[: NUMBERED + 1]):
        x, y = at(*z)
        parts += [dot((x, y), COLOUR, 4.0), words((x + 10, y - 11), str(number), 13, COLOUR, style='font-weight="600"')]
    parts.append(dot(at(*points[-1]), "#111", 4.5, "the last sweep drawn"))
    return sheet(TITLE, "".join(parts), HEIGHT, CAPTION)


def _named(labels: list[tuple[float, float, str]]) -> list[str]:
    """Names to the right of the ends (u, v) of lines; of two that are close the left one has its name to its left."""
    spread = [max(x) - min(x) for x in list(zip(*labels, strict=True))[:2]]
    close = len(labels) == 2 and spread[0] < ROOM[0] and spread[1] < ROOM[1]
    return [
        words((u - 6, v), name, 13, OF_M, "end", 'font-style="italic"')
        if close and (u, v, name) == min(labels)
        else words((u + 6, v), name, 13, OF_M, "start", 'font-style="italic"')
        for u, v, name in labels
    ]


def _across(slopes: Sequence[float], constant: float) -> tuple[Point, Point] | None:
    """Points at which the line slopes . x + constant = 0 enters and leaves the unit square; None if it misses it."""
    a, b = slopes
    found = []
    if b:
        found += [(x, -(constant + a * x) / b) for x in (0.0, 1.0)]
    if a:
        found += [(-(constant + b * y) / a, y) for y in (0.0, 1.0)]
    inside = sorted({p for p in found if 0 <= p[0] <= 1 and 0 <= p[1] <= 1})
    return (inside[0], inside[-1]) if len(inside) > 1 else None


def _double(x: object) -> float:
    return nearest_double(x) if isinstance(x, fmpq) else float(x)  # type: ignore[arg-type]
