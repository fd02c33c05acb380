"""Grains in still pictures, where a page cannot move them: on paper, and without WebGL."""

from collections.abc import Sequence

import numpy as np

from workbench.builtin.reports.figures.motion import SIDE
from workbench.comparison.scenes.flow import Moving

MOMENTS = 3
MOST = 1000
"""Circles of a still at most: those of the grains in front."""
BACK = np.array([np.cos(0.2) * np.cos(-1.2), np.cos(0.2) * np.sin(-1.2), np.sin(0.2)])
"""Towards the eye, as in the moving picture."""


def stills(moving: Sequence[Moving], colours: Sequence[str]) -> list[tuple[str, str]]:
    """(words, SVG) of every run at some moments, evenly spread."""
    right = np.array([-BACK[1], BACK[0], 0.0]) / np.hypot(*BACK[:2])
    eye = np.stack([right, np.cross(BACK, right)])
    seen = [x.position @ eye.T for x in moving]
    low, high = (f([f(s, axis=(0, 1)) for s in seen], axis=0) for f in (np.min, np.max))
    reach = 0.5 * float((high - low).max()) + float(moving[0].radius.max())
    found = []
    for x, flat, colour in zip(moving, seen, colours, strict=True):
        pixels = np.round((flat - 0.5 * (low + high)) * [1, -1] * SIDE / (2 * reach) + 0.5 * SIDE, 1)
        radii = np.round(x.radius * SIDE / (2 * reach), 1)
        for k in np.linspace(0, len(x.t) - 1, MOMENTS).astype(int):
            order = np.argsort(x.position[k] @ BACK)[-MOST:]
            circles = "".join(
                f'<circle cx="{pixels[k, i, 0]:g}" cy="{pixels[k, i, 1]:g}" r="{radii[i]:g}"/>' for i in order
            )
            drawn = f'<g fill="{colour}" stroke="#fff" stroke-width=".5">{circles}</g>'
            svg = f'<svg viewBox="0 0 {SIDE:g} {SIDE:g}" aria-hidden="true">{drawn}</svg>'
            found.append((f"{x.formulation}, {x.t[k]:.2g} s", svg))
    return found
