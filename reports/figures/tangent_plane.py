"""The tangent plane of a contact: Coulomb's disc, declared cross-sections, friction impulses, and how it slides.

Every run is a group of elements at their places of one moment, which `loupe.js` moves to those of another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from workbench.builtin.reports.figures.styles import INK
from workbench.support.arrays import Array

RADIUS, HALF, LANE = 105.0, 180.0, 18.0
"""Radius of the disc, half the picture's side, and height of a run's lane in the plane [px]."""
LIMIT = 1.62
"""Radii of the disc up to which friction is drawn; what lies beyond is a triangle at the edge."""
ALIKE, DOT, RING = 3.0, 4.0, 3.5
"""Marks closer than this are rings around one another; the radius of a dot, and what each ring has more [px]."""
SLIP, FAST = 0.8, 1.8
"""Length of the arrow of a sliding velocity 1, in radii, and the largest velocity that is drawn to scale."""


@dataclass(frozen=True, eq=False)
class Mark:
    """One run: its `point` p_t/(mu p_n) (2,), NaN where there is none; its sliding velocity over the reference's (2,).

    `section` and `sliding_section` are its cross-sections (n, 2) in the axes that are turned by `axis` [rad], of which
    the second is in force where it `slid`. One that is not `shown` is there for the page's script.
    """

    label: str
    colour: str
    dash: Sequence[int]
    section: Array | None
    sliding_section: Array | None
    point: Array
    slip: Array
    axis: float = 0.0
    slid: bool = False
    shown: bool = True


def picture(marks: Sequence[Mark], d: int, title: str) -> str:
    """The SVG; the first mark, the reference's, is a cross. In the plane (d = 1) each run has a lane."""
    top, height = (-HALF, 2 * HALF) if d == 2 else (-1.5 * LANE, LANE * (len(marks) + 3))
    drawn: list[tuple[float, float]] = []
    runs = "".join(_run(m, i, d, drawn) for i, m in enumerate(marks))
    return (
        f'<svg class="marks" viewBox="{-HALF:g} {top:g} {2 * HALF:g} {height:g}" width="{2 * HALF:g}" role="img" '
        f'aria-label="{escape(title)}" font-size="12" fill="currentColor">'
        f"{_ground() if d == 2 else _lanes(len(marks))}{runs}</svg>"
    )


def _ground() -> str:
    """Axes and disc."""
    return (
        f'<path d="M-170,0h340M0,-170v340" stroke="#8888"/><text x="162" y="-6">t₁</text><text x="6" y="-160">t₂</text>'
        f'<circle r="{RADIUS:g}" fill="none" stroke="{INK}" stroke-width="1.5"/>'
    )


def _lanes(count: int) -> str:
    """The interval from -1 to 1 in the place of the disc."""
    bottom = LANE * count
    rims = "".join(f'<path d="M{x * RADIUS:g},{-LANE / 2:g}V{bottom:g}" stroke="{INK}"/>' for x in (-1, 1))
    words = "".join(
        f'<text x="{x * RADIUS:g}" y="{bottom + LANE:g}" text-anchor="middle">{word}</text>'
        for x, word in ((-1, "−1"), (0, "p_t / (μ p_n)"), (1, "1"))
    )
    return f'<path d="M0,{-LANE / 2:g}V{bottom:g}" stroke="#8888"/>{rims}{words}'


def _run(m: Mark, i: int, d: int, drawn: list[tuple[float, float]]) -> str:
    y = 0.0 if d == 2 else LANE * i
    parts = [f"<title>{escape(m.label)}</title>"]
    if d == 2 and m.section is not None and m.sliding_section is not None:
        same = np.shape(m.section) == np.shape(m.sliding_section)
        turn = f'transform="rotate({-np.degrees(m.axis):.2f})"' if np.isfinite(m.axis) else 'display="none"'
        for name, section in (("stick", m.section), ("slide", m.sliding_section))[: 1 if same else 2]:
            seen = turn if same or m.slid == (name == "slide") else 'display="none"'
            parts.append(outline(section, m.dash, f'class="{name}" {seen}'))
    parts.append(_arrow(m.slip, 2.6 if i == 0 else 1.4, y))
    parts.append(_point(m.point, y, i == 0, drawn if m.shown and d == 2 else []))
    seen = "" if m.shown else ' display="none"'
    return f'<g data-run="{i}" style="color:{m.colour}" fill="currentColor"{seen}>{"".join(parts)}</g>'


def outline(section: Array, dash: Sequence[int], more: str = "", width: float = 2.0) -> str:
    """A cross-section in the group's colour, the radius of the disc being `RADIUS`."""
    text = " ".join(f"{RADIUS * x:.1f},{-RADIUS * y:.1f}" for x, y in section)
    return (
        f'<polygon points="{text}" fill="none" stroke="currentColor" stroke-width="{width:g}" '
        f'stroke-dasharray="{dashes(dash)}" stroke-linejoin="round" vector-effect="non-scaling-stroke" {more}/>'
    )


def dashes(dash: Sequence[int]) -> str:
    """A dash for SVG; a full line has none."""
    return "none" if list(dash) == [1, 0] else " ".join(map(str, dash))


def _arrow(slip: Array, width: float, y: float) -> str:
    length = SLIP * RADIUS * min(float(np.hypot(*slip)), FAST) if np.isfinite(slip).all() else 0.0
    place = f"translate(0 {y:g}) rotate({-np.degrees(np.arctan2(slip[1], slip[0])):.2f})" if length else ""
    seen = f'transform="{place}"' if length >= 1 else 'display="none"'
    return (
        f'<g class="slip" opacity="0.75" {seen}>'
        f'<line x2="{length:.1f}" stroke="currentColor" stroke-width="{width:g}"/>'
        f'<path class="tip" d="M2,0l-11,4v-8z" transform="translate({length:.1f} 0)"/></g>'
    )


def _point(point: Array, y: float, cross: bool, drawn: list[tuple[float, float]]) -> str:
    """A cross, or a dot, a ring where there is one in `drawn` already, a triangle beyond the edge."""
    if not np.isfinite(point).all():
        return '<path class="point" stroke="currentColor" stroke-width="2.2" display="none"/>'
    size = float(np.abs(point).max())
    u, v = np.asarray(point) * (LIMIT / size if size > LIMIT else 1.0)
    at = RADIUS * float(u), y - RADIUS * float(v)
    around = sum(float(np.hypot(at[0] - p, at[1] - q)) < ALIKE for p, q in drawn)
    if not cross:
        drawn.append(at)
    r = DOT + RING * around
    ring = f"M{-r:g},0a{r:g},{r:g} 0 1,0 {2 * r:g},0a{r:g},{r:g} 0 1,0 {-2 * r:g},0"
    shape = "M-9,0H9M0,-9V9" if cross else "M0,-6l6,10h-12z" if size > LIMIT else ring
    fill = ' fill="none"' if around else ""
    return (
        f'<path class="point" d="{shape}" transform="translate({at[0]:.1f} {at[1]:.1f})" stroke="currentColor" '
        f'stroke-width="2.2"{fill}/>'
    )


def thumbnail(section: ArrayLike, sliding: ArrayLike, colour: str, dash: Sequence[int], title: str) -> str:
    """A cross-section small, before the disc; that of a contact that slides as a thick line where it is another."""
    side = 1.5 * RADIUS
    drawn = outline(np.array(section), dash, width=2.5) if np.shape(section)[0] > 1 else '<circle r="10"/>'
    if np.shape(section) != np.shape(sliding):
        drawn += outline(np.array(sliding), [1, 0], width=5)
    return (
        f'<svg class="marks section" viewBox="{-side:g} {-side:g} {2 * side:g} {2 * side:g}" width="120" height="120" '
        f'role="img" aria-label="{escape(title)}"><circle r="{RADIUS:g}" fill="none" stroke="{INK}" stroke-width="2"/>'
        f'<g style="color:{colour}" fill="currentColor">{drawn}</g></svg>'
    )
