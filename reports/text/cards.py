"""Text of a formulation's card: the cross-section of friction, and the matrices of the first step."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

Points = Sequence[Sequence[float]]

AXES = {
    "sliding": "with the sliding velocity", "friction": "with the last friction impulse", "body": "with the body",
}  # fmt: skip
"""Orientation of the first tangent axis, by the names of `section_axes`."""


def section_words(section: Points | None, sliding: Points | None) -> str:
    """Return the range of friction of a cross-section relative to the disc; vertices are at mu = 1."""
    if section is None:
        return "No cross-section: a normal impulse alone does not bound friction."
    if len(section) == 1:
        return "Admits no friction."
    low, high, area = _reach(section)
    words = "Admits Coulomb's disc."
    if high - low > 0.01:
        words = (
            f"Admits {100 * low:.0f} to {100 * high:.0f} % of μ pₙ depending on direction; area "
            f"{100 * area / np.pi:.0f} % of the disc's."
        )
    thin = sliding is not None and len(sliding) == 2
    return f"{words} At a sliding contact: only along the sliding direction (thick)." if thin else words


def axes_words(axes: Sequence[str] | None) -> str:
    """Return how the tangent axes turn; empty if they do not."""
    stick, slide = axes or ("fixed", "fixed")
    if stick == slide:
        return f"axes turn {AXES[stick]}" if stick in AXES else ""
    parts = [f"{AXES[name]} {when}" for name, when in ((slide, "in slip"), (stick, "in stick")) if name in AXES]
    return f"axes turn {', '.join(parts)}"


def _reach(section: Points) -> tuple[float, float, float]:
    """The least and the largest distance of the rim from the origin, and the area."""
    p = np.array(section)
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    sides = np.abs(cross) / np.linalg.norm(q - p, axis=1)
    return float(sides.min()), float(np.linalg.norm(p, axis=1).max()), float(cross.sum() / 2)


def verdict_words(diagnostics: pd.DataFrame, labels: Sequence[str]) -> list[str]:
    """Quantity and verdict at the first step size; where variants differ, each with its label."""
    if diagnostics.empty:
        return []
    rows = diagnostics[diagnostics["label"].isin(labels) & (diagnostics["step"] == diagnostics["step"].iloc[0])]
    found = []
    for quantity, some in rows.groupby("quantity", sort=False):
        said: dict[str, list[str]] = {}
        for r in some.to_dict("records"):
            value = f"{r['value']:.3g}, " if np.isfinite(r["value"]) else ""
            said.setdefault(f"{value}{r['verdict']}", []).append(r["label"])
        words = [text if len(said) == 1 else f"{text} ({', '.join(of)})" for text, of in said.items()]
        found.append(f"{str(quantity).rstrip('?')}: {'; '.join(words)}")
    return found
