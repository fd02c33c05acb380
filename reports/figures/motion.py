"""The motion of a case in still pictures, and the tracks and view that these share with the moving one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from workbench.builtin.reports.figures.styles import INK, palette
from workbench.comparison.motion import DrawnMotion, MotionTrack
from workbench.comparison.result import Comparison
from workbench.mechanics.solids import Solid, turning
from workbench.support.arrays import Array

STILLS = 6
SIDE, MARGIN = 220.0, 1.15
"""Width and height of a still [px]; the picture reaches so many times a body's reach beyond its centre."""
SHADES, SHADED = 5, 200
"""Shades of a body's faces, and how many it may have; one that has more is flat in stills, which keeps these light."""
GREY, BLACK = "#a9adb3", "#222222"
TRAVELS = 1.5
"""Reaches of a body that a path may have before the camera follows the bodies."""
LONGEST = 4.0
"""Reaches of a body beyond which an arrow is cut."""
TALLEST = 1.5
"""Height and distance from the axis at which a friction cone is cut, in reaches of a body."""
SIGHT = 1000.0
"""Distance, in reaches of a body, beyond which the view no longer follows it."""
SHORT = 8.0
"""Length [px] below which the line between a body and its reference position is omitted."""
LIGHT = np.array([-0.5, 0.9, 1.0]) / np.linalg.norm([-0.5, 0.9, 1.0])
"""Direction to the light: right, up, towards the viewer, as in `scene.js`."""


@dataclass(frozen=True)
class View:
    """Shared settings of a motion's pictures: angles of the eye [rad], sizes, scales of arrows."""

    azimuth: float
    elevation: float
    reach: float
    """of the largest body about its centre [m]"""
    follows: bool
    square: float
    """side of the grid's squares [m]"""
    newton: float
    """force [N] that is drawn as `square`"""
    speed: float
    """sliding velocity [m/s] that is drawn as `square`"""


def tidy(x: float) -> float:
    """The number 1, 2 or 5 times a power of ten that is nearest to x > 0 in proportion."""
    if not (np.isfinite(x) and x > 0):
        return 1.0
    choices = np.outer(10.0 ** np.arange(np.floor(np.log10(x)), np.floor(np.log10(x)) + 2), [1, 2, 5]).ravel()
    return float(f"{choices[np.argmin(abs(np.log(choices / x)))]:.0e}")


def drawn_tracks(c: Comparison) -> list[MotionTrack]:
    """The reference and the first run of each formulation, at the first step size, as far as figures show it.

    A track has no place (NaN) from where it is `SIGHT` reaches away, as runs that diverge are.
    """
    if c.motion is None:
        return []
    far = SIGHT * view_of(c.motion).reach
    runs = [x for x in c.motion.tracks[1:] if x.step == c.settings.steps[0]]
    firsts: dict[str, MotionTrack] = {}
    for run in runs:
        firsts.setdefault(run.label, run)
    return [c.motion.tracks[0], *(_in_sight(x, far) for x in firsts.values())]


def _in_sight(x: MotionTrack, far: float) -> MotionTrack:
    gone = ~(abs(x.position) < far).all(axis=(1, 2))
    return replace(x, position=np.where(np.logical_or.accumulate(gone)[:, None, None], np.nan, x.position))


def colours_of(tracks: Sequence[MotionTrack]) -> list[str]:
    """A colour for each track, the reference's first: the ink."""
    return [INK, *palette([x.label for x in tracks[1:]])]


def farthest(c: Comparison, tracks: Sequence[MotionTrack]) -> int:
    """Return the track that is on average farthest from the reference, the first of `tracks`.

    Those without friction, and with axes that turn where there are fixed ones too, come last.
    """
    free = {card["label"] for card in c.mathematics if card["friction"] == "none"}
    order = [(_apart(tracks[0], x), x.label not in free | c.turned) for x in tracks[1:]]
    if not order:
        return 0
    return 1 + max(range(len(order)), key=lambda i: (order[i][1] and order[i][0] > 0, order[i][0]))


def _apart(a: MotionTrack, b: MotionTrack) -> float:
    gap = np.linalg.norm(a.position - b.position, axis=-1)
    return float(gap[np.isfinite(gap)].mean()) if np.isfinite(gap).any() else 0.0


def view_of(motion: DrawnMotion) -> View:
    """Return view and scale of a motion, from its reference and its bodies."""
    first = motion.tracks[0]
    # The squares of tiny lengths are zero.
    reach = float(motion.sizes.max()) or 1.0
    plane = first.axes.shape[2] == 2
    azimuth, elevation = np.radians([-80.0, 10.0] if plane else [-62.0, 20.0])
    path = np.nanmax(first.position, axis=(0, 1)) - np.nanmin(first.position, axis=(0, 1))
    square = tidy(reach)
    force, slip = (np.linalg.norm(x, axis=-1) for x in (first.force, first.slip))
    typical = [x[np.isfinite(x) & (x > 1e-9)] for x in (force, slip)]
    newton, speed = (tidy(float(np.quantile(x, 0.9)) * square / reach) if x.size else 1.0 for x in typical)
    # Grains go everywhere; the walls between which they do stay in view.
    follows = not motion.radii.size and bool(np.linalg.norm(path) > TRAVELS * reach)
    return View(float(azimuth), float(elevation), reach, follows, square, newton, speed)


def planes(motion: DrawnMotion) -> tuple[list[tuple[Array, Array, Array | None]], list[Solid]]:
    """`planes_of` the ground of a motion."""
    return planes_of(motion.ground)


def planes_of(ground: Sequence[Solid]) -> tuple[list[tuple[Array, Array, Array | None]], list[Solid]]:
    """Faces of the ground that carry a grid, as a corner, two unit axes (2, 3) and their lengths; solids to be drawn.

    A slab of four corners whose upper face is large is the ground behind a plane (`mechanics.solids.Plane`). A level
    one is a grid without end, whose lengths are None, and no solid.
    """
    found, solids = [], []
    for x in ground:
        if len(x.vertices) != 10:
            solids.append(x)
            continue
        deep = np.linalg.norm(x.vertices[9] - x.vertices[0])
        a, b, _, d = x.vertices[5:9]
        sizes = np.array([np.linalg.norm(b - a), np.linalg.norm(d - a)])
        axes = np.stack([b - a, d - a]) / sizes[:, None]
        flat, level = deep < 0.2 * sizes.min(), abs(np.cross(*axes)[2]) > 1 - 1e-9
        if flat:
            found.append((a, axes, None if level else sizes))
        if not (flat and level):
            solids.append(x)
    return found, solids


def framing(view: View, tracks: Sequence[MotionTrack]) -> tuple[Array, Array]:
    """The middle (K, 3) of a picture and half its side (K,) [m], as in `motion.js`: drawn back as bodies part."""
    where = np.concatenate([x.position for x in tracks], axis=1)
    if not view.follows:
        low, high = np.nanmin(where, axis=(0, 1)), np.nanmax(where, axis=(0, 1))
        middle = np.broadcast_to(0.5 * (low + high), where[:, 0].shape)
        half = np.nanmax(np.linalg.norm(where - middle[:, None], axis=-1)) + MARGIN * view.reach
        return middle, np.full(len(where), half)
    middle = np.nanmean(where, axis=1)
    apart = np.nanmax(np.linalg.norm(where - middle[:, None], axis=-1), axis=1)
    return middle, np.maximum.accumulate(apart) + MARGIN * view.reach


def stills(motion: DrawnMotion, tracks: Sequence[MotionTrack], colours: Sequence[str]) -> list[tuple[float, str]]:
    """(time, SVG) of `STILLS` moments evenly spread: the first of the tracks solid, the others laid over it."""
    view = view_of(motion)
    lasting = [k for k in range(len(motion.t)) if all(np.isfinite(x.position[k]).all() for x in tracks)]
    moments = sorted({lasting[int(i)] for i in np.linspace(0, len(lasting) - 1, STILLS)})
    middle, half = framing(view, [replace(x, position=x.position[: lasting[-1] + 1]) for x in tracks])
    return [(float(motion.t[k]), _still(motion, view, tracks, colours, k, middle[k], half[k])) for k in moments]


def _still(
    motion: DrawnMotion,
    view: View,
    tracks: Sequence[MotionTrack],
    colours: Sequence[str],
    k: int,
    middle: Array,
    half: float,
) -> str:
    cos, sin = np.cos, np.sin
    az, el = view.azimuth, view.elevation
    back = np.array([cos(el) * cos(az), cos(el) * sin(az), sin(el)])
    right = np.array([-sin(az), cos(az), 0.0])
    eye = np.stack([right, np.cross(back, right), back])
    draw = _Drawing(eye, middle, SIDE / (2 * half))
    draw.grid(motion, view, half)
    for solid in planes(motion)[1]:
        draw.solid(solid, np.zeros(3), np.eye(3), "#d9dce0", 0.5, 0.6)
    if motion.radii.size:
        for track, colour in zip(tracks, colours, strict=True):
            first = track is tracks[0]
            order = np.argsort(track.position[k] @ back)
            fill, opacity = (GREY, 1.0) if first else (BLACK if colour == INK else colour, 0.35)
            draw.balls(track.position[k, order], motion.radii[order], fill, opacity)
        return draw.svg()
    for track, colour in zip(tracks, colours, strict=True):
        ink = BLACK if colour == INK else colour
        draw.line(track.position[: k + 1].swapaxes(0, 1), ink, 1.2)
    for track, colour in zip(tracks, colours, strict=True):
        first = track is tracks[0]
        ink = BLACK if colour == INK else colour
        order = np.argsort(track.position[k] @ back)
        for b in order:
            turn = turning(track.orientation[k, b])
            fill, opacity = (GREY, 1.0) if first else (ink, 0.35)
            draw.solid(motion.bodies[b], track.position[k, b], turn, fill, opacity, 1.2, ink)
    for track, colour in zip(tracks, colours, strict=True):
        known = np.where(np.isfinite(track.force[k]), track.force[k], 0.0)
        force = np.einsum("ri,rix->rx", known, track.axes[k]) * view.square / view.newton
        for tail, along in zip(track.point[k], force, strict=True):
            length = float(np.linalg.norm(along))
            if length > 0.05 * view.reach:
                along = along * min(1.0, LONGEST * view.reach / length)
                draw.arrow(tail, tail + along, BLACK if colour == INK else colour)
    if tracks[0].role == "reference":
        for track in tracks[1:]:
            draw.gap(*_farthest(tracks[0].position[k], track.position[k]))
    return draw.svg()


def _farthest(reference: Array, run: Array) -> tuple[Array, Array]:
    """The centres (3,) in the reference and in a run of the body that is farthest apart, positions (B, 3)."""
    b = int(np.linalg.norm(run - reference, axis=-1).argmax())
    return reference[b], run[b]


class _Drawing:
    """Lines and faces of one still, as they are added one over the other."""

    def __init__(self, eye: Array, middle: Array, scale: float) -> None:
        self.eye, self.middle, self.scale = eye, middle, scale
        self.parts: list[str] = []

    def at(self, points: Array) -> Array:
        """Pixels (..., 2) of points (..., 3), to the tenth."""
        seen = (points - self.middle) @ self.eye[:2].T * self.scale
        return np.round(seen * [1, -1] + 0.5 * SIDE, 1)

    def line(self, paths: Array, colour: str, width: float, opacity: float = 1.0) -> None:
        pixels = self.at(paths)
        if len(pixels):
            text = "".join("M" + "L".join(f"{x:g},{y:g}" for x, y in path) for path in pixels)
            self.parts.append(
                f'<path d="{text}" fill="none" stroke="{colour}" stroke-width="{width}" opacity="{opacity:g}"/>'
            )

    def fill(self, paths: Iterable[Array], colour: str, opacity: float) -> None:
        pixels = [self.at(path) for path in paths]
        text = "".join("M" + "L".join(f"{x:g},{y:g}" for x, y in path) + "Z" for path in pixels)
        # A stroke of the same colour closes the hair lines between neighbours; translucent ones would show it.
        closed = f' stroke="{colour}" stroke-width="0.5"' if opacity == 1 else ""
        self.parts.append(f'<path d="{text}" fill="{colour}" fill-opacity="{opacity:g}"{closed}/>')

    def grid(self, motion: DrawnMotion, view: View, half: float) -> None:
        for origin, axes, sizes in planes(motion)[0]:
            s, ends = view.square, []
            for i in range(2):
                at, far = float((self.middle - origin) @ axes[i]), 3 * half
                ends.append((0.0, float(sizes[i])) if sizes is not None else (s * (at - far) // s, at + far))
            (a, b), (c, d) = ends
            u, v = axes
            steps = [np.arange(low, high + 1e-6 * s, s)[:200, None] for low, high in ends]
            along = [np.stack([origin + steps[0] * u + e * v for e in (c, d)], axis=1)]
            along += [np.stack([origin + e * u + steps[1] * v for e in (a, b)], axis=1)]
            self.line(np.concatenate(along), "#9aa0a8", 0.6, 0.6)

    def solid(
        self,
        solid: Solid,
        position: Array,
        turn: Array,
        colour: str,
        opacity: float,
        width: float,
        edge: str = "#9aa0a8",
    ) -> None:
        """The faces that are seen, in a few shades, and the edges at which the surface ends or bends."""
        corners = solid.vertices @ turn.T + position
        a, b, c = (corners[solid.triangles[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        size = np.linalg.norm(normal, axis=1)
        normal = normal / np.where(size > 0, size, 1.0)[:, None]
        front = (normal @ self.eye[2] > 0) & (size > 0)
        if len(solid.triangles) > SHADED:
            self.fill([corners[x] for x in _rims(solid.triangles[front])], _shaded(colour, 0.95), opacity)
            return self.line(corners[_edges(solid, normal, front)], edge, width)
        shade = 0.62 + 0.38 * abs(normal @ (LIGHT @ self.eye))
        level = np.round(shade * SHADES)
        for i in np.unique(level[front]):
            self.fill(corners[solid.triangles[front & (level == i)]], _shaded(colour, i / SHADES), opacity)
        return self.line(corners[_edges(solid, normal, front)], edge, width)

    def balls(self, centres: Array, radii: Array, colour: str, opacity: float) -> None:
        """Balls as circles, the farthest first."""
        circles = "".join(
            f'<circle cx="{x:g}" cy="{y:g}" r="{r:.1f}"/>'
            for (x, y), r in zip(self.at(centres), radii * self.scale, strict=True)
        )
        self.parts.append(
            f'<g fill="{colour}" fill-opacity="{opacity:g}" stroke="#fff" stroke-width=".5">{circles}</g>'
        )

    def arrow(self, tail: Array, head: Array, colour: str) -> None:
        (x, y), (u, v) = self.at(np.stack([tail, head]))
        length = float(np.hypot(u - x, v - y))
        if length < 2:
            return
        a, b = (min(9.0, length) * d / length for d in (u - x, v - y))
        tip = f"{u:g},{v:g} {u - a - 0.4 * b:.1f},{v - b + 0.4 * a:.1f} {u - a + 0.4 * b:.1f},{v - b - 0.4 * a:.1f}"
        self.parts.append(
            f'<path d="M{x:g},{y:g}L{u - 0.8 * a:.1f},{v - 0.8 * b:.1f}" stroke="{colour}" stroke-width="2"/>'
            f'<polygon points="{tip}" fill="{colour}"/>'
        )

    def gap(self, tail: Array, head: Array) -> None:
        """Draw a line between two positions, labelled with its length [mm], if it is long enough to be seen."""
        (x, y), (u, v) = self.at(np.stack([tail, head]))
        if np.hypot(u - x, v - y) < SHORT:
            return
        apart = float(np.linalg.norm(head - tail))
        words = f"{1e3 * apart:.3g} mm" if apart < 0.9995 else f"{apart:.3g} m"
        self.parts.append(
            f'<path d="M{x:g},{y:g}L{u:g},{v:g}" stroke="#fff" stroke-width="6"/>'
            f'<path d="M{x:g},{y:g}L{u:g},{v:g}" stroke="{BLACK}" stroke-width="2"/>'
            f'<text x="{0.5 * (x + u) + 4:g}" y="{0.5 * (y + v) + 4:g}" font-size="12" fill="{BLACK}" stroke="#fff" '
            f'stroke-width="3" paint-order="stroke">{words}</text>'
        )

    def svg(self) -> str:
        return f'<svg viewBox="0 0 {SIDE:g} {SIDE:g}" aria-hidden="true">{"".join(self.parts)}</svg>'


def _edges(solid: Solid, normal: Array, front: Array) -> Array:
    """Ends (e, 2) of the edges to draw: those before the eye that are sharp, and those where the surface turns away."""
    ends, f, g = _neighbours(solid)
    sharp = (g < 0) | ((normal[f] * normal[g]).sum(axis=1) < np.cos(np.radians(35.0)))
    beyond = (g >= 0) & front[g]
    return ends[(front[f] | beyond) & (sharp | (front[f] != beyond))]


@lru_cache(maxsize=64)
def _neighbours(solid: Solid) -> tuple[Array, Array, Array]:
    """The edges' ends (e, 2), and the two faces (e,) at each; the second is -1 at the rim of an open surface."""
    faces: dict[tuple[int, int], list[int]] = {}
    for i, triangle in enumerate(solid.triangles.tolist()):
        for a, b in zip(triangle, triangle[1:] + triangle[:1], strict=True):
            faces.setdefault((min(a, b), max(a, b)), []).append(i)
    pairs = np.array([[*both, -1][:2] for both in faces.values()])
    return np.array(list(faces)), pairs[:, 0], pairs[:, 1]


def _rims(triangles: Array) -> list[list[int]]:
    """The closed ways of vertices around some triangles."""
    ways = {(int(t[i]), int(t[(i + 1) % 3])) for t in triangles for i in range(3)}
    after: dict[int, list[int]] = {}
    for a, b in sorted(ways):
        if (b, a) not in ways:
            after.setdefault(a, []).append(b)
    rims = []
    while after:
        rim = [next(iter(after))]
        while rim[-1] in after:
            choices = after[rim[-1]]
            rim.append(choices.pop())
            if not choices:
                del after[rim[-2]]
        rims.append(rim)
    return rims


def _shaded(colour: str, share: float) -> str:
    return "#" + "".join(f"{round(int(colour[i : i + 2], 16) * share):02x}" for i in (1, 3, 5))
