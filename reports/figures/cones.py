"""Picture of the complementary cones of a matrix of two or three unknowns, with the number of solutions by q."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from flint import fmpq, fmpq_mat

from workbench.builtin.reports.figures import cones_plane, cones_sphere
from workbench.builtin.reports.figures.marks import FONT, WIDTH, dot, words
from workbench.builtin.reports.figures.solution_counts import COLOURS, OF_Q, in_words, names, set_of, signed
from workbench.matrices.solutions.complementary_cones import (
    ComplementaryCones,
    Direction,
    complementary_cones,
    direction,
)
from workbench.matrices.solutions.solution_set import solution_set
from workbench.support.errors import WorkbenchError
from workbench.support.output import replaced

UNKNOWNS = (2, 3)
ENDINGS = (".svg", ".pdf", ".png")
TITLE = "Number of solutions over q"
LINE, COLUMNS = 23, 3
"""Height of a line of the legend [px] and entries in it."""


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG, as a page holds it, and the words that belong to it."""

    svg: str
    caption: str

    def write(self, path: str | Path) -> Path:
        """Write a file of the format that its name asks for; raises WorkbenchError where that is none of `ENDINGS`."""
        ending = ending_of(path)
        with replaced(path) as stage:
            stage.write_bytes(self.rendered(ending))
        return Path(path)

    def rendered(self, ending: str) -> bytes:
        """The drawing in one of the formats `ENDINGS`."""
        # Outside of a page SVG has to say what it is.
        svg = self.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        if ending == ".svg":
            return svg.encode()
        import vl_convert

        return vl_convert.svg_to_pdf(svg) if ending == ".pdf" else vl_convert.svg_to_png(svg, scale=2)

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg}<figcaption>{escape(self.caption)}</figcaption></figure>"


def ending_of(path: str | Path) -> str:
    """The format that a file's name asks for; WorkbenchError where it is none of `ENDINGS`."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise WorkbenchError(f"'{path}' ends in '{ending}'; a picture is .svg, .pdf or .png")
    return ending


def require_drawable(n: int) -> None:
    """Raise WorkbenchError unless n unknowns can be drawn."""
    if n not in UNKNOWNS:
        raise WorkbenchError(f"complementary cones are drawn for two or three unknowns; the matrix has {n}")


def picture(result: dict[str, Any]) -> Picture:
    """The picture of a matrix that `check_matrix` has diagnosed; raises WorkbenchError unless it is of order 2 or 3."""
    require_drawable(result["n"])
    M = fmpq_mat([[fmpq(x) for x in row] for row in result["M"]])
    cones = complementary_cones(M)
    q = None if result["q"] is None else direction([fmpq(x) for x in result["q"]])
    answer = None if q is None else in_words(result["solutions"]["count"])
    aim = q if q and any(q) else None
    on_rays = counts_on_rays(M, cones)
    caption = " ".join(_caption(cones, on_rays, q, result["classes"]["R0"]["verdict"] == "yes"))
    entry = None if answer is None else (f"q: {answer}", OF_Q)
    return with_legend(TITLE, drawn(cones, on_rays, aim), cones, entry, caption)


def counts_on_rays(M: fmpq_mat, cones: ComplementaryCones) -> dict[Direction, int | str | None]:
    """The number of solutions for q on each column of I and -M; of two unknowns only."""
    if M.nrows() == 3:
        return {}
    return {ray: solution_set(M, [fmpq(x) for x in ray], math.inf).count for ray in names(cones.generators)}


def drawn(
    cones: ComplementaryCones,
    on_rays: Mapping[Direction, int | str | None],
    aim: Direction | None,
    counted: bool = True,
) -> str:
    """The regions, `counted` or not, the columns of I and -M, and q in the direction `aim`: the content of an SVG."""
    if len(cones.generators) == 4:
        return cones_plane.plane(cones, on_rays, aim, counted)
    return cones_sphere.sphere(cones, aim, counted)


def with_legend(
    title: str, body: str, cones: ComplementaryCones, entry: tuple[str, str] | None, caption: str
) -> Picture:
    """The content of an SVG with the legend of numbers of solutions below it, `entry` (words, colour) at its end."""
    top = cones_plane.HEIGHT if len(cones.generators) == 4 else cones_sphere.HEIGHT
    legend, height = _legend(cones, entry, top + 10)
    return sheet(title, body + legend, height, caption)


def sheet(title: str, body: str, height: float, caption: str) -> Picture:
    """The content of an SVG on white, `height` [px] high."""
    svg = (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
        f'role="img" aria-label="{escape(title)}" font-family="{FONT}"><desc>{escape(caption)}</desc>'
        f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>{body}</svg>'
    )
    return Picture(svg, caption)


def _legend(cones: ComplementaryCones, entry: tuple[str, str] | None, top: float) -> tuple[str, float]:
    """Draw the legend: colours with their shares of all directions, a last entry with a dot; return where it ends."""
    shares: dict[int, float] = {}
    for region in sorted(cones.regions, key=lambda region: region.count):
        shares[region.count] = shares.get(region.count, 0.0) + region.share
    entries = [
        (f"{in_words(count)}: {_percent(share) if len(shares) > 1 else '100 %'}", COLOURS[count])
        for count, share in shares.items()
    ]
    entries += [] if entry is None else [entry]
    parts = [words((30, top), "Number of solutions, share of the directions of q", 12, "#666", "start")]
    for i, (text, colour) in enumerate(entries):
        x, y = 30 + WIDTH // COLUMNS * (i % COLUMNS), top + LINE * (1 + i // COLUMNS)
        if entry is not None and i == len(entries) - 1:
            parts.append(dot((x + 10, y), colour, 5.0))
        else:
            parts.append(f'<rect x="{x}" y="{y - 7}" width="20" height="14" fill="{colour}" stroke="#999"/>')
        parts.append(words((x + 28, y), text, 13, anchor="start"))
    return "".join(parts), top + LINE * (1.5 + (len(entries) - 1) // COLUMNS)


def _percent(share: float) -> str:
    if share < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.9995 else "more than 99.9 %"


def _caption(
    cones: ComplementaryCones, on_rays: Mapping[Direction, int | str | None], q: Direction | None, is_r0: bool
) -> Iterator[str]:
    """Return sentences on what is drawn and what the picture cannot show."""
    n = len(cones.generators) // 2
    if n == 2:
        yield "The plane of q, divided by the columns of I and of −M (counted from zero)."
    else:
        yield (
            "The directions of q on a sphere, drawn as two hemispheres in an equal-area projection. "
            "Points: columns of I and of −M (counted from zero). Lines: facets of the complementary cones."
        )
    yield (
        "Each index set α has a complementary cone, spanned by column i of −M for i in α and of I for the other i. Off "
        "the boundaries q has one solution for each cone that contains it, with zᵢ > 0 for i in α. The numbers are "
        "exact and depend only on the direction of q. The tooltip of a region lists its solutions."
    )
    zero = [str(i) for i in range(n) if not any(cones.generators[n + i])]
    if zero:
        yield f"Zero, hence without a direction: column {' and '.join(zero)} of M."
    if cones.degenerate:
        sets = ", ".join(map(set_of, cones.degenerate))
        yield f"Flat cones (det M_αα = 0), which lie in the boundaries: α = {sets}."
    if on_rays:
        each = (f"{in_words(on_rays[ray])} on {name}" for ray, name in names(cones.generators).items())
        yield f"On the rays: {', '.join(each)}."
    if is_r0:
        yield (
            "M is an R0-matrix: for every q off the boundaries the signs of det M_αα of its solutions add up to the "
            f"degree, {signed(cones.regions[0].degree)}."
        )
    if q is not None and not any(q):
        yield "q = 0 has no direction and is not drawn."
    elif q is not None and cones.at_boundary(q):
        yield "This q lies on a boundary."
