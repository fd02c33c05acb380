"""Marks of a drawing in SVG: words, arrows and points that stay legible over coloured areas."""

from html import escape

import numpy as np

FONT = "system-ui, 'DejaVu Sans', sans-serif"
INK = "#222"
WIDTH = 760
"""Width of a drawing [px]."""
COUNT = 'class="count" font-weight="600"'
"""SVG attributes of solution numbers."""
Point = tuple[float, float]


def words(at: Point, text: str, size: float = 14, colour: str = INK, anchor: str = "middle", style: str = "") -> str:
    """Text centred in height at a point, with a white rim."""
    x, y = at
    return (
        f'<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" font-size="{size:g}" fill="{colour}" text-anchor="{anchor}" '
        f'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke" {style}>{escape(text)}</text>'
    )


def arrow(tail: Point, head: Point, colour: str, width: float = 1.8, about: str = "") -> str:
    """An arrow with a solid tip; `about` is shown where the pointer rests on it."""
    (x, y), (u, v) = tail, head
    length = float(np.hypot(u - x, v - y)) or 1.0
    a, b = (4.0 + 3.0 * width) * (u - x) / length, (4.0 + 3.0 * width) * (v - y) / length
    tip = " ".join(
        f"{p:.1f},{q:.1f}" for p, q in ((u, v), (u - a - 0.4 * b, v - b + 0.4 * a), (u - a + 0.4 * b, v - b - 0.4 * a))
    )
    return (
        f'<g stroke="{colour}" fill="{colour}">{tooltip(about)}<line x1="{x:.1f}" y1="{y:.1f}" x2="{u - a:.1f}" '
        f'y2="{v - b:.1f}" stroke-width="{width:g}"/><polygon points="{tip}" stroke="none"/></g>'
    )


def dot(at: Point, colour: str, radius: float = 3.5, about: str = "") -> str:
    """A filled circle with a white rim."""
    place = f'cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:g}"'
    return f'<circle {place} fill="{colour}" stroke="#fff" stroke-width="1.2">{tooltip(about)}</circle>'


def tooltip(about: str) -> str:
    """Return a tooltip element."""
    return f"<title>{escape(about)}</title>" if about else ""
