"""A case's sketch as an inline SVG."""

from collections.abc import Sequence
from html import escape

import numpy as np

from workbench.mechanics.sketch import Arrow, Disc, Outline, Shape

WIDTH, HEIGHT, MARGIN = 420.0, 240.0, 22.0
TIP = 9.0
FONT = 16
BODY, RED = 'fill="#dbe6f2" stroke="#2b4f77" stroke-width="1.5"', "#b5442c"
GROUND = 'fill="#e4e4e0" stroke="#777" stroke-width="1"'


def drawing(shapes: Sequence[Shape], title: str) -> str:
    """Return the shapes to scale, with `title` as alternative text; empty if there is nothing to draw."""
    points = np.concatenate([_extent(s) for s in shapes]) if shapes else np.zeros((0, 2))
    if not len(points):
        return ""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-12)
    scale = min((WIDTH - 2 * MARGIN) / span[0], (HEIGHT - 2 * MARGIN) / span[1])
    width, height = scale * span + 2 * MARGIN

    def at(p: object) -> tuple[float, float]:
        x, y = (np.asarray(p, dtype=float) - low) * scale
        return round(x + MARGIN, 1), round(height - y - MARGIN, 1)

    body = "".join(_svg(s, at, scale) for s in shapes)
    return (
        f'<svg class="sketch" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" '
        f'aria-label="{escape(title)}">'
        f"{body}</svg>"
    )


def _extent(shape: Shape) -> np.ndarray:
    if isinstance(shape, Disc):
        return np.asarray(shape.centre) + shape.radius * np.array([[-1.0, -1.0], [1.0, 1.0]])
    if isinstance(shape, Arrow):
        return np.array([shape.tail, shape.head], dtype=float)
    return np.asarray(shape.points, dtype=float)


def _svg(shape: Shape, at, scale: float) -> str:
    if isinstance(shape, Disc):
        x, y = at(shape.centre)
        radius = shape.radius * scale
        circle = f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" {BODY}/>'
        return circle + _label(shape.label, x + radius + 6, y + 5)
    if isinstance(shape, Arrow):
        return _arrow(at(shape.tail), at(shape.head), escape(shape.label))
    text = " ".join(f"{x},{y}" for x, y in map(at, shape.points))
    if isinstance(shape, Outline):
        return f'<polygon points="{text}" {GROUND if shape.ground else BODY} stroke-linejoin="round"/>'
    line = f'<polyline points="{text}" fill="none" stroke="#2b4f77" stroke-width="1"/>'
    points = np.asarray(shape.points, dtype=float)
    x, y = at(points[len(points) // 2] if len(points) > 2 else points.mean(axis=0))
    return line + _label(shape.label, x, y + 5, "middle")


def _label(words: str, x: float, y: float, anchor: str = "start") -> str:
    """Text that stays legible on a line: it has the paper around it."""
    return words and (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{FONT}" fill="#2b4f77" text-anchor="{anchor}" paint-order="stroke" '
        f'stroke="#fff" stroke-width="5">{escape(words)}</text>'
    )


def _arrow(tail: tuple[float, float], head: tuple[float, float], label: str) -> str:
    (x, y), (u, v) = tail, head
    length = float(np.hypot(u - x, v - y)) or 1.0
    a, b = TIP * (u - x) / length, TIP * (v - y) / length
    tip = f"{u},{v} {u - a - 0.4 * b:.1f},{v - b + 0.4 * a:.1f} {u - a + 0.4 * b:.1f},{v - b - 0.4 * a:.1f}"
    line = f'<line x1="{x}" y1="{y}" x2="{u - a:.1f}" y2="{v - b:.1f}" stroke="{RED}" stroke-width="1.8"/>'
    text = f'<text x="{u + 4}" y="{v - 5}" font-size="{FONT}" font-style="italic" fill="{RED}">{label}</text>'
    return f'{line}<polygon points="{tip}" fill="{RED}"/>' + (text if label else "")
