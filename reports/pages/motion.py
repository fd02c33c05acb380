"""The motion of a case on its page: the viewer of `motion.js` with its data, and still pictures in its place."""

import base64
from typing import Any

import numpy as np
from markupsafe import Markup

from workbench.builtin.reports.figures.motion import (
    LONGEST,
    TALLEST,
    colours_of,
    drawn_tracks,
    farthest,
    planes,
    stills,
    tidy,
    view_of,
)
from workbench.builtin.reports.pages.page import in_script, script
from workbench.builtin.reports.text.decision import defect
from workbench.builtin.reports.text.headline import extremes
from workbench.comparison.decision import decide
from workbench.comparison.motion import DrawnMotion, MotionTrack
from workbench.comparison.result import Comparison
from workbench.support.arrays import Array

HEAVIEST = 1_000_000
"""Limit of the size of tracks on a page [bytes]; longer ones are halved in time until they fit."""
MOST_CONES = 4
"""Contacts up to which friction cones are shown at first; those of more hide the bodies."""
SECONDS, BEGIN = 6.0, 0.4
"""Approximate duration of playback [s], and the share of the motion shown first if no run deviates."""
ROUNDING = 1e-9
"""Tolerance of times [s]."""
FLOATS = ("position", "force")
"""Arrays that are printed as numbers or span decades; all others are only drawn, and are rounded to 16 bits."""
KEPT = (*FLOATS, "orientation", "point", "axes", "slip")


def motion_view(c: Comparison) -> dict[str, Any]:
    """Return what `motion.html.j2` needs: the data `motion`, and the viewer's script `viewer`; empty without motion."""
    tracks = drawn_tracks(c)
    if c.motion is None or len(c.motion.t) < 2:
        return {"motion": {}, "viewer": ""}
    # The best besides exact Coulomb friction, and the one whose defect tells most; without ranks the farthest one.
    chosen = [i for x in extremes(c) for i, track in enumerate(tracks) if i and track.label == x]
    shown = [0, *(chosen or [i for i in [farthest(c, tracks)] if i])]
    cards = {card["label"]: _section(card) for card in c.mathematics}
    found = moving(c.motion, tracks, shown, cards, c.case.v_th if c.case else 0.0, _compared(c))
    if d := decide(c):
        entries = {x.label: x for x in d.entries}
        for i in chosen:
            entry = entries[tracks[i].label]
            found["motion"]["ranked"][entry.label] = (
                "recommended" if entry is d.recommended
                else "smallest error" if i == chosen[0] and len(chosen) > 1
                else defect(c, d, entry)
            )  # fmt: skip
    return found


def moving(
    m: DrawnMotion, tracks: list[MotionTrack], shown: list[int], sections: dict[str, Any], sticks: float = 0.0,
    compared: tuple[float, float] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the view of tracks, with those `shown` visible first; below `sticks` [m/s] a contact counts as sticking.

    `sections` are cross-sections of friction cones by label (`_section`), a disc where there is none. Errors are over
    the times `compared` [s], all by default.
    """
    compared = compared or (0.0, float(m.t[-1]))
    colours, view = colours_of(tracks), view_of(m)
    pictures = stills(m, [tracks[i] for i in shown], [colours[i] for i in shown])
    end = float(m.t[-1])
    page = {
        "tracks": [(i, _name(x), colours[i], i in shown) for i, x in enumerate(tracks)],
        "shown": [_name(tracks[i]) for i in shown],
        "colours": [colours[i] for i in shown],
        "stills": [(f"{t:.3g} s", Markup(svg)) for t, svg in pictures],
        "view": view, "end": end, "longest": LONGEST * view.reach, "tallest": TALLEST * view.reach,
        "last": -(-len(m.t) // _stride(tracks)) - 1, "speed": tidy(end / SECONDS),
        "runs": len(tracks) - 1, "contacts": len(tracks[0].mu), "ranked": {},
        "cones": len(tracks[0].mu) <= MOST_CONES, "balls": bool(m.radii.size),
    }  # fmt: skip
    return {
        "motion": page,
        "viewer": _viewer(m, tracks, colours, sections, sticks, compared, tracks[shown[-1]]),
    }


def _viewer(
    m: DrawnMotion, tracks: list[MotionTrack], colours: list[str], sections: dict[str, Any], sticks: float,
    compared: tuple[float, float], other: MotionTrack,
) -> str:  # fmt: skip
    """The viewer with its data; at first it shows the time at which another track is farthest from the reference."""
    view, stride = view_of(m), _stride(tracks)
    t, (faces, ground) = m.t[::stride], planes(m)
    data = {
        "moments": len(t), "end": float(t[-1]), "compared": compared,
        "begin": _parted(m, tracks[0], other, compared),
        "sticks": sticks,
        "decimals": decimals(t),
        "speed": tidy(t[-1] / SECONDS), "view": [view.azimuth, view.elevation], "square": view.square,
        "metres_per_newton": view.square / view.newton, "metres_per_speed": view.square / view.speed,
        "longest": LONGEST * view.reach, "tallest": TALLEST * view.reach,
        "contacts": len(tracks[0].mu), "tangents": tracks[0].slip.shape[2],
        "planes": [
            {"origin": a.tolist(), "across": axes.tolist(), "size": None if sizes is None else sizes.tolist()}
            for a, axes, sizes in faces
        ],
        "bodies": [mesh(x) for x in m.bodies],
        **({"radii": packed(m.radii[None], True)} if m.radii.size else {}),
        "ground": [mesh(x) for x in ground],
        "tracks": [
            {
                "label": _name(x), "role": x.role, "colour": colour, "mu": [round(float(mu), 6) for mu in x.mu],
                "section": sections.get(x.label, "disc") if x.role == "run" else "disc",
                **{name: packed(getattr(x, name)[::stride], name in FLOATS) for name in KEPT},
            }
            for x, colour in zip(tracks, colours, strict=True)
        ],
    }  # fmt: skip
    return viewer(data)


def viewer(data: dict[str, Any]) -> str:
    """The script that draws a motion from its data, in a block of its own: no name meets one of another script."""
    return "\n".join(["{", script("scene.js"), f"const motion = {in_script(data)};", script("motion.js"), "}"])


def _compared(c: Comparison) -> tuple[float, float]:
    """Start and end [s] of the times over which errors are ranked."""
    start, end = next(iter(c.windows.values()))[["window_start", "window_end"]].iloc[0]
    return float(start), float(c.scene.until if c.scene else end)


def _parted(m: DrawnMotion, reference: MotionTrack, other: MotionTrack, compared: tuple[float, float]) -> float:
    """The time [s], of those compared, at which a body is farthest from where it is in the reference."""
    apart = np.linalg.norm(other.position - reference.position, axis=-1).max(axis=-1, initial=0.0)
    inside = (m.t >= compared[0] - ROUNDING) & (m.t <= compared[1] + ROUNDING)
    apart = np.where(np.isfinite(apart) & inside, apart, 0.0)
    return float(m.t[int(apart.argmax()) if apart.any() else int(BEGIN * (len(m.t) - 1))])


def moments(c: Comparison) -> Array | None:
    """The times [s] that the viewer shows, None without a motion."""
    return None if c.motion is None or len(c.motion.t) < 2 else c.motion.t[:: _stride(drawn_tracks(c))]


def decimals(t: Array) -> int:
    """Return the number of decimals needed to tell equidistant times [s] apart."""
    return int(np.clip(np.ceil(-np.log10(t[-1] / max(1, len(t) - 1)) - 1e-9), 0, 6)) if t[-1] > 0 else 0


def _name(track: MotionTrack) -> str:
    return "reference" if track.role == "reference" else track.label


def _stride(tracks: list[MotionTrack]) -> int:
    weight = sum(getattr(x, name).size * (4 if name in FLOATS else 2) for x in tracks for name in KEPT)
    return max(1, int(np.ceil(weight / HEAVIEST)))


def mesh(solid: Any) -> dict[str, Any]:
    bytes_ = base64.b64encode(solid.triangles.astype("<u4").tobytes()).decode()
    return {"vertices": packed(solid.vertices[None], True), "triangles": bytes_}


def _section(card: dict[str, Any]) -> Any:
    """Return the cross-section of a formulation's friction cone from its card; a disc by default."""
    if "section" not in card:
        return "disc"
    if card["section"] is None or card["section_axes"] is None:
        return None
    sticking, sliding = (np.round(card[name] or [], 4).tolist() for name in ("section", "sliding_section"))
    return {"sticking": sticking, "sliding": sliding, "axes": list(card["section_axes"])}


def packed(x: Array, exact: bool) -> dict[str, Any]:
    """Rows (K, ...) as base64 of 32-bit floats, or of 16-bit integers times a scale; one row if all are the same."""
    rows = np.asarray(x, dtype=float).reshape(len(x), -1)
    if len(rows) and (rows == rows[0]).all():
        rows = rows[:1]
    known = np.isfinite(rows)
    scale = 0.0 if exact else float(np.max(abs(rows), where=known, initial=0.0)) / 32767 or 1.0
    if scale:
        numbers = np.where(known, np.round(np.where(known, rows, 0.0) / scale), -32768).astype("<i2")
    else:
        numbers = np.where(known, rows, np.nan).astype("<f4")
    return {"bytes": base64.b64encode(numbers.tobytes()).decode(), "scale": scale, "row": rows.shape[1]}
