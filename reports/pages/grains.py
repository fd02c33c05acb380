"""The motion of grains on the page of a flow: the viewer of `motion.js`, formulations side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from workbench.builtin.reports.figures.grains import stills
from workbench.builtin.reports.figures.motion import planes_of, tidy
from workbench.builtin.reports.figures.styles import palette
from workbench.builtin.reports.pages.motion import HEAVIEST, SECONDS, decimals, mesh, packed, viewer
from workbench.comparison.scenes.flow import Moving
from workbench.support.arrays import Array

VIEW = (-1.2, 0.2)
"""Angles of the eye [rad] about the vertical and above the ground."""
BEGIN = 0.7
"""Time shown at first, as a share of the motion: by then grains flow."""
NOTHING = np.zeros((1, 0))


def grains_view(moving: Sequence[Moving]) -> dict[str, Any]:
    """Return what `grains.html.j2` needs: the data `motion`, and the viewer's script `viewer`; empty without motion."""
    if not moving or len(moving[0].t) < 2:
        return {"motion": {}, "viewer": ""}
    colours = palette([x.formulation for x in moving])
    # All coordinates are drawn from 16 bits, three a grain.
    stride = max(1, -(-sum(2 * x.position.size for x in moving) // HEAVIEST))
    t = moving[0].t[::stride]
    speed = tidy(float(t[-1]) / SECONDS)
    page = {
        "tracks": [(x.formulation, colour) for x, colour in zip(moving, colours, strict=True)],
        "stills": [(words, Markup(svg)) for words, svg in stills(moving, colours)],
        "last": len(t) - 1, "end": float(t[-1]), "speed": speed, "grains": len(moving[0].radius),
    }  # fmt: skip
    return {"motion": page, "viewer": _viewer(moving, colours, t, stride, speed)}


def _viewer(moving: Sequence[Moving], colours: Sequence[str], t: Array, stride: int, speed: float) -> str:
    faces, ground = planes_of(moving[0].ground)
    nothing = packed(NOTHING, True)
    data = {
        "moments": len(t), "end": float(t[-1]), "compared": (0.0, float(t[-1])),
        "begin": float(t[int(BEGIN * (len(t) - 1))]), "sticks": 0.0,
        "decimals": decimals(t), "speed": speed, "view": VIEW,
        "square": tidy(4 * float(moving[0].radius.max())), "metres_per_newton": 1.0, "metres_per_speed": 1.0,
        "longest": 0.0, "tallest": 0.0, "contacts": 0, "tangents": 0,
        "planes": [
            {"origin": a.tolist(), "across": axes.tolist(), "size": None if sizes is None else sizes.tolist()}
            for a, axes, sizes in faces
        ],
        "radii": packed(moving[0].radius[None], True), "bodies": [], "ground": [mesh(x) for x in ground],
        "tracks": [
            {
                "label": x.formulation, "role": "run", "colour": colour, "mu": [], "section": "disc",
                "position": packed(x.position[::stride], False),
                **dict.fromkeys(("orientation", "point", "axes", "force", "slip"), nothing),
            }
            for x, colour in zip(moving, colours, strict=True)
        ],
    }  # fmt: skip
    return viewer(data)
