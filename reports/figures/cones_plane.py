"""The complementary cones of two unknowns: the plane of q, cut by four rays."""

import math
from collections.abc import Mapping

from workbench.builtin.reports.figures.marks import COUNT, INK, WIDTH, Point, arrow, tooltip, words
from workbench.builtin.reports.figures.solution_counts import COLOURS, OF_Q, about, colour_of, in_words, names
from workbench.matrices.solutions.complementary_cones import ComplementaryCones, Direction, Region, turn

HEIGHT = 370
CENTRE, RADIUS = (WIDTH / 2, 185.0), 145.0
PLACES = (0.5, 0.33, 0.67, 0.2, 0.8)
"""Parts of a sector at which its number may stand."""
AMPLE, LEAST = 24.0, 8.0
"""Distance from the nearest line for a large and a small number [px]; with less it is placed outside."""
APART = math.radians(14)
"""Angle between words around the circle at least."""


def plane(
    cones: ComplementaryCones, on_rays: Mapping[Direction, int | str | None], q: Direction | None, counted: bool = True
) -> str:
    """The sectors in their colours, the columns of I and -M and q as arrows, as the content of an SVG.

    `on_rays` is the number of solutions for q on each of the columns; infinity is marked there. Not `counted`: without
    the numbers within sectors, where others will stand.
    """
    (x, y), at_ray, body = CENTRE, names(cones.generators), list[str]()
    aim = None if q is None else turn(cones.generators[0], q)
    # What stands around the circle, counterclockwise: angle, text, colour, size.
    around: list[tuple[float, str, str, float]] = []
    rays = list[str]()
    for region in cones.regions:
        ray = region.outline[0][0]
        start, width = turn(cones.generators[0], ray), 2 * math.pi * region.share
        name, colour = at_ray[ray], colour_of(at_ray[ray])
        infinite = " (∞)" if on_rays[ray] == "infinite" else ""
        around.append((start, (f"{name}, q" if ray == q else name) + infinite, colour, 15.0))
        rays.append(arrow(CENTRE, at(start, 1.06), colour, about=f"{name}: {in_words(on_rays[ray])}"))
        body.append(_sector(region, start, width))
        number = _number(region.count, start, width, aim) if counted else ""
        if number is None:
            around.append((start + width / 2, str(region.count), INK, 13.0))
        else:
            body.append(number)
    body += [f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="none" stroke="#888"/>', *rays]
    if aim is not None:
        body.append(arrow(CENTRE, at(aim, 0.9), OF_Q, 2.8, "q"))
        around += [] if q in at_ray else [(aim, "q", OF_Q, 17.0)]
    places = _spread([item[0] for item in around])
    return "".join([*body, *(_outside(place, *item) for place, item in zip(places, around, strict=True))])


def _outside(place: float, angle: float, text: str, colour: str, size: float) -> str:
    """Words around the circle, with a line to what they name where they do not stand before it."""
    line = ""
    if text.isdigit() or abs(place - angle) > 0.01:
        (x, y), (u, v) = at(angle, 1.03), at(place, 1.12)
        line = f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" stroke="#999" stroke-width="0.8"/>'
    anchor = "start" if math.cos(place) > 0.35 else "end" if math.cos(place) < -0.35 else "middle"
    style = COUNT if text.isdigit() else 'font-style="italic"'
    return line + words(at(place, 1.16), text, size, colour, anchor, style)


def at(angle: float, distance: float) -> Point:
    """The point at an angle, in shares of the radius from the centre."""
    return CENTRE[0] + distance * RADIUS * math.cos(angle), CENTRE[1] - distance * RADIUS * math.sin(angle)


def _sector(region: Region, start: float, width: float) -> str:
    (x, y), (u, v) = at(start, 1.0), at(start + width, 1.0)
    return (
        f'<path class="region" d="M{CENTRE[0]},{CENTRE[1]} L{x:.2f},{y:.2f} A{RADIUS},{RADIUS} 0 '
        f'{int(width > math.pi)} 0 {u:.2f},{v:.2f} Z" fill="{COLOURS[region.count]}">{tooltip(about(region))}</path>'
    )


def _number(count: int, start: float, width: float, aim: float | None) -> str | None:
    """Label of a sector with its number of solutions, off the arrow of q; None if it has no room."""
    lines = [start, start + width] + ([] if aim is None else [aim])

    def room(angle: float, distance: float) -> float:
        apart = min(math.acos(math.cos(angle - line)) for line in lines)
        return distance * RADIUS * math.sin(min(apart, math.pi / 2))

    places = [start + width * part for part in PLACES]
    for place in places:
        if room(place, 0.6) > AMPLE:
            return words(at(place, 0.6), str(count), 22, style=COUNT)
    place = max(places, key=lambda place: room(place, 0.82))
    return words(at(place, 0.82), str(count), 15, style=COUNT) if room(place, 0.82) > LEAST else None


def _spread(angles: list[float]) -> list[float]:
    """The angles, moved apart where words would lie on each other."""
    placed, order = list(angles), sorted(range(len(angles)), key=lambda i: angles[i])
    for _ in range(100):
        for i, j in zip(order, order[1:] + order[:1], strict=True):
            gap = placed[j] - placed[i] + (2 * math.pi if j == order[0] else 0.0)
            if gap < APART - 1e-9 and i != j:
                placed[i] -= (APART - gap) / 2
                placed[j] += (APART - gap) / 2
    return placed
