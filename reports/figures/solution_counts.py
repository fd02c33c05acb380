"""Numbers of solutions in words and colours, and the columns of I and -M by name; columns count from zero."""

from collections.abc import Iterable

from workbench.matrices.solutions.complementary_cones import Direction, Region

COLOURS = ("#f3c4bd", "#edf0f3", "#c3dbf0", "#96bfe4", "#6ba1d3", "#4a83bd", "#3a6aa3", "#2c5288", "#1f3d6b")
"""Colours for 0, 1, ..., 8 solutions; 8 is the largest number within a region for three unknowns."""
OF_I, OF_M, OF_Q = "#666", "#1f4e8c", "#111"


def in_words(count: int | str | None) -> str:
    """The number of solutions of an LCP as a check gives it."""
    known = {None: "not counted", "infinite": "infinitely many solutions", 0: "no solution", 1: "one solution"}
    return known.get(count, f"{count} solutions")


def set_of(index_set: Iterable[int]) -> str:
    """Return an index set as text."""
    return "{" + ", ".join(map(str, index_set)) + "}"


def signed(number: int) -> str:
    """A whole number with its sign."""
    return f"{number:+d}".replace("-", "−") if number else "0"


def about(region: Region) -> str:
    """Return the findings on the solutions for q in a region."""
    if not region.cones:
        return "no solution"
    each = "; ".join(f"z > 0 on {set_of(cone.index_set)}, index {signed(cone.index)}" for cone in region.cones)
    return f"{in_words(region.count)}: {each}"


def names(generators: tuple[Direction, ...]) -> dict[Direction, str]:
    """The columns of I and then of -M that lie in each direction; zero columns have none."""
    n = len(generators) // 2
    found: dict[Direction, str] = {}
    for i, generator in enumerate(generators):
        if any(generator):
            name = f"{'I' if i < n else '−M'}{'₀₁₂'[i % n]}"
            found[generator] = f"{found[generator]}, {name}" if generator in found else name
    return found


def colour_of(name: str) -> str:
    """Return the colour of a column: that of M if a column of M lies there."""
    return OF_M if "M" in name else OF_I
