"""The complementary cones of three unknowns: the sphere of directions of q as two discs that keep areas.

The map is Lambert's azimuthal one of the half of the sphere around (1, 1, 1) and of the other half, which lie beside
each other as if the sphere were opened at its rim.
"""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from workbench.builtin.reports.figures.marks import COUNT, WIDTH, Point, dot, tooltip, words
from workbench.builtin.reports.figures.solution_counts import COLOURS, OF_Q, about, colour_of, names
from workbench.matrices.solutions.complementary_cones import ComplementaryCones, Direction, Region, unit

HEIGHT = 400
RADIUS = 165.0
CENTRES = ((WIDTH / 2 - 185, 190.0), (WIDTH / 2 + 185, 190.0))
GRID = 28
"""Points across a region among which the place of its number is sought."""
STEP = math.radians(3)
"""Angle between two points of an arc."""

Array = NDArray[np.float64]
_FRONT = np.array([1.0, 1.0, 1.0]) / math.sqrt(3)
_UP = np.array([-1.0, -1.0, 2.0]) / math.sqrt(6)
_RIGHT = np.array([-1.0, 1.0, 0.0]) / math.sqrt(2)


def sphere(cones: ComplementaryCones, q: Direction | None, counted: bool = True) -> str:
    """The regions in their colours, all facets, the columns of I and -M and q, as the content of an SVG.

    Not `counted`: without the numbers within regions, where others will stand.
    """
    at_ray = names(cones.generators)
    marks = [(ray, f"{name}, q" if ray == q else name, colour_of(name)) for ray, name in at_ray.items()]
    if q is not None and q not in at_ray:
        marks.append((q, "q", OF_Q))
    points = [(at, name, colour) for ray, name, colour in marks for at in places(ray)]
    outlines = [[_loop(loop, _side(region.inside)) for loop in region.outline] for region in cones.regions]
    body = [_area(region, loops) for region, loops in zip(cones.regions, outlines, strict=True)]
    lines = (line for facet in cones.facets for line in arcs(*facet))
    body += [f'<path d="{path(line)}" fill="none" stroke="#444"/>' for line in lines]
    for side, (x, y) in enumerate(CENTRES):
        body.append(f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="none" stroke="#888"/>')
        body.append(words((x, y + RADIUS + 18), f"seen from {'−' if side else ''}(1, 1, 1)", 12, "#666"))
    labels = _labels(points)
    taken = [at for at, _, _ in points] + [place for at, text, _ in labels for place in _extent(at, text)]
    if counted:
        body += [_number(region, loops, taken) for region, loops in zip(cones.regions, outlines, strict=True)]
    body += [dot(at, colour, 5.0 if name == "q" else 3.5, name) for at, name, colour in points]
    for at, text, colour in labels:
        body.append(words(at, text, 17 if text == "q" else 14, colour, style='font-style="italic"'))
    return "".join(body)


def _projected(points: Array, side: int) -> Array:
    """Unit vectors (k, 3) of the half of the sphere around (1, 1, 1), side 0, or of the other one, as points (k, 2)."""
    sign = 1 - 2 * side
    size = RADIUS / np.sqrt(1.0 + np.maximum(0.0, sign * points @ _FRONT))
    across, up = sign * points @ _RIGHT * size, points @ _UP * size
    return np.column_stack([CENTRES[side][0] + across, CENTRES[side][1] - up])


def _side(ray: Direction) -> int:
    return int(sum(ray) < 0)


def places(ray: Direction) -> list[Point]:
    """Return the position of a direction; on both discs if it is on the rim."""
    sides = (0, 1) if sum(ray) == 0 else (_side(ray),)
    return [(float(x), float(y)) for side in sides for x, y in _projected(np.array([unit(ray)]), side)]


def _arc(a: Direction, b: Direction) -> Array:
    """Points of the shorter great circle between two directions."""
    normal = np.array(unit(_cross(a, b)))
    start, end = np.array(unit(a)), np.array(unit(b))
    along = np.cross(normal, start)
    angle = math.atan2(float(end @ along), float(end @ start))
    t = np.linspace(0.0, angle, 2 + int(angle / STEP))[:, None]
    return np.cos(t) * start + np.sin(t) * along


def _cross(u: Direction, v: Direction) -> Direction:
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


def _loop(loop: tuple[Direction, ...], side: int) -> Array:
    pairs = itertools.pairwise((*loop, loop[0]))
    return np.concatenate([_projected(_arc(a, b), side)[:-1] for a, b in pairs])


def arcs(a: Direction, b: Direction) -> list[Array]:
    """A facet as drawn: in two parts where it crosses the rim, and on both discs where it lies on it."""
    s, t = sum(a), sum(b)
    if s * t < 0:
        crossing = tuple(s * y - t * x if s > 0 else t * x - s * y for x, y in zip(a, b, strict=True))
        return [*arcs(a, crossing), *arcs(crossing, b)]
    sides = (_side(a if s else b),) if s or t else (0, 1)
    return [_projected(_arc(a, b), side) for side in sides]


def path(points: Array) -> str:
    """Points (k, 2) joined, as the data of an SVG path."""
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _area(region: Region, loops: list[Array]) -> str:
    outline = "".join(path(loop) + "Z" for loop in loops)
    colour = COLOURS[region.count]
    return (
        f'<path class="region" d="{outline}" fill="{colour}" fill-rule="evenodd" stroke="{colour}" '
        f'stroke-width="0.6">{tooltip(about(region))}</path>'
    )


def _number(region: Region, loops: list[Array], taken: list[Point]) -> str:
    """The number of solutions where the region is widest, away from what is drawn there; none where it is too thin."""
    outline = np.concatenate(loops)
    low, high = outline.min(axis=0), outline.max(axis=0)
    grid = np.stack(np.meshgrid(*(np.linspace(a, b, GRID) for a, b in zip(low, high, strict=True))), axis=-1)
    grid = grid.reshape(-1, 2)
    grid = grid[_within(grid, loops)]
    if not len(grid):
        return ""
    near = np.concatenate([outline, np.array(taken)])
    room = np.sqrt(((grid[:, None, :] - near[None, :, :]) ** 2).sum(axis=2).min(axis=1))
    best = int(room.argmax())
    if room[best] < 6:
        return ""
    at = float(grid[best, 0]), float(grid[best, 1])
    return words(at, str(region.count), min(18.0, max(10.0, room[best])), style=COUNT)


def _within(points: Array, loops: list[Array]) -> NDArray[np.bool_]:
    """Return which points (k, 2) lie inside, by the parity of crossings to the right."""
    inside = np.zeros(len(points), dtype=bool)
    x, y = points.T
    for loop in loops:
        for (a, b), (c, d) in itertools.pairwise([*loop, loop[0]]):
            if b != d:
                inside ^= ((b > y) != (d > y)) & (x < a + (c - a) * (y - b) / (d - b))
    return inside


def _labels(points: list[tuple[Point, str, str]]) -> list[tuple[Point, str, str]]:
    """Place each name next to its point, on the side with the most room."""
    placed: list[tuple[Point, str, str]] = []
    for (x, y), name, colour in points:
        half = 4.2 * len(name) + 7
        choices = [
            (x + half, y - 9),
            (x - half, y - 9),
            (x + half, y + 10),
            (x - half, y + 10),
            (x, y - 16),
            (x, y + 17),
        ]
        others = [at for at, _, _ in points if at != (x, y)] + [p for at, text, _ in placed for p in _extent(at, text)]
        room = [min((math.dist(p, o) for p in _extent(c, name) for o in others), default=math.inf) for c in choices]
        # The first place that is free enough, else the freest.
        best = next((i for i, r in enumerate(room) if r > 16), room.index(max(room)))
        placed.append((choices[best], name, colour))
    return placed


def _extent(at: Point, text: str) -> list[Point]:
    half = 4.2 * len(text)
    return [(at[0] - half, at[1]), at, (at[0] + half, at[1])]
