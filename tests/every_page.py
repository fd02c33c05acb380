"""A page of every kind, made of short runs, for tests in a browser and for the pictures of the documentation."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.builtin.reports.reproductions.page import make_page, render_index, silent
from workbench.output import provenance
from workbench.problems.friction_problem import FrictionProblem
from workbench.verbs.results import Result

MURTY = [[1, 0, 0], [2, 1, 0], [2, 2, 1]]
FEW = ["stewart-trinkle", "box", "ccp", "coulomb"]


def four_contacts() -> FrictionProblem:
    """Random rows of six velocities in twelve components, hence impulses that are not unique."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(12, 6))
    return FrictionProblem(J @ J.T, J @ rng.normal(size=6), np.array([0.3, 0.5, 0.5, 0.8]), 2)


def regimes_of_the_rod(count: int = 13) -> Result:
    axes = {"x": ("theta", np.linspace(10, 85, count)), "y": ("mu", np.linspace(0, 3, count))}
    return wb.painleve("rod", {"tan_theta": 2, "mu": "4/3"}, **axes)


def regimes_of_the_wheel(count: int = 7) -> Result:
    return wb.painleve("wheel", x=("slip", np.linspace(0, 360, count)), y=("mu", np.linspace(0, 8, count)))


# Names are those of the files, and of the pictures.
RESULTS: dict[str, Callable[[], Result]] = {
    "compare-wheel": partial(wb.compare, "wheel", FEW, duration=0.1, reference_step=5e-4),
    "compare-cube": partial(wb.compare, "cube", FEW, duration=0.03, reference_step=5e-4),
    "compare-file": lambda: wb.compare(four_contacts(), FEW),
    "check-matrix": lambda: wb.check([[2, 1, 0], [-1, 1, 3], [0, 1, 2]], rhs=[-1, -2, 1]),
    "check-friction": lambda: wb.check(four_contacts()),
    "check-case": lambda: wb.check("wheel", "box", seconds=2),
    "painleve-rod": regimes_of_the_rod,
    "painleve-wheel": regimes_of_the_wheel,
    "vary-rod": lambda: wb.vary("rod", along=("mu", 0, 2)),
    "trace-lemke": lambda: wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="lemke"),
    "trace-murty": lambda: wb.trace(MURTY, rhs=[-4, -5, -1], solver="murty"),
    "show-box": lambda: wb.show("box"),
}


def write(folder: Path) -> dict[str, Path]:
    """The page of each of RESULTS, of the quickest reproduction, and the index of reproductions: name and file."""
    pages = {name: result().page(folder / f"{name}.html") for name, result in RESULTS.items()}
    found = make_page("cnd-17-1068", provenance(), silent)
    for name, text in (("reproduction", found.html), ("reproductions", render_index([found], provenance()))):
        pages[name] = folder / f"{name}.html"
        pages[name].write_text(text, "utf-8")
    return pages
