"""A page of every kind, made of short runs, for tests in a browser and for the pictures of the documentation."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import workbench as wb
from tests.scenes import Balls
from tests.tosses import tosses, write_tosses
from workbench.builtin.reports.reproductions.page import Page, make_page, render_index, silent
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.output import provenance

MURTY = [[1, 0, 0], [2, 1, 0], [2, 2, 1]]
FEW = ["stewart-trinkle", "box", "ccp", "coulomb"]


def four_contacts() -> FrictionProblem:
    """Random rows of six velocities in twelve components, hence impulses that are not unique."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(12, 6))
    return FrictionProblem(J @ J.T, J @ rng.normal(size=6), np.array([0.3, 0.5, 0.5, 0.8]), 2)


def rolling() -> Balls:
    """A ball that slides, one that falls beside it, and one that falls onto the first."""
    return Balls([[0, 0, 0.1], [0, 0.5, 0.11], [0.02, 0, 0.31]], [[1, 0.3, 0], [0.5, 0, 0], [0, 0, 0]])


def regimes_of_the_rod(count: int) -> str:
    axes = {"x": ("theta", np.linspace(10, 85, count)), "y": ("mu", np.linspace(0, 3, count))}
    return wb.painleve("rod", {"tan_theta": 2, "mu": "4/3"}, **axes).html()


def regimes_of_the_wheel(count: int) -> str:
    axes = {"x": ("slip", np.linspace(0, 360, count)), "y": ("mu", np.linspace(0, 8, count))}
    return wb.painleve("wheel", **axes).html()


def study() -> str:
    with ThreadPoolExecutor(1) as here:
        given = {"parameters": {"mu": [0.2, 0.4], "speed": [4.0, 6.0]}, "steps": (1e-3, 5e-4), "executor": here}
        return wb.study("wheel", FEW, duration=0.02, reference_step=2.5e-4, workers=1, **given).html()


def recorded() -> str:
    with TemporaryDirectory() as folder:
        write_tosses(Path(folder), tosses(6, 20, mu=0.2, e=0.0))
        return wb.reality(folder, ["box", "ccp"], rows=["rigid"], share=0.5, members=1, normal="gap").html()


@cache
def reproduction() -> Page:
    return make_page("cnd-17-1068", provenance(), silent)


# The HTML of a page by its name, which is also that of its file and of its picture.
PAGES: dict[str, Callable[[], str]] = {
    "compare-wheel": lambda: wb.compare("wheel", FEW, duration=0.1, reference_step=5e-4).html(),
    "compare-cube": lambda: wb.compare("cube", FEW, duration=0.03, reference_step=5e-4).html(),
    "compare-scene": lambda: wb.compare(rolling(), FEW, duration=0.1, steps=2e-3).html(),
    "compare-file": lambda: wb.compare(four_contacts(), FEW).html(),
    "check-matrix": lambda: wb.check([[2, 1, 0], [-1, 1, 3], [0, 1, 2]], rhs=[-1, -2, 1]).html(),
    "check-box": lambda: wb.check("[2+-0.6 1+-1 0; -1 1 3+-0.4; 0 1+-0.5 2]", rhs="[-1+-0.2; -2; 1]").html(),
    "check-ranges": lambda: wb.vary("rod", along={"mu": (0, 2), "theta": (30, 80)}, undecided="0.05").html(),
    "check-friction": lambda: wb.check(four_contacts()).html(),
    "check-case": lambda: wb.check("wheel", "box", seconds=2).html(),
    "painleve-rod": lambda: regimes_of_the_rod(31),
    "painleve-wheel": lambda: regimes_of_the_wheel(13),
    "vary-rod": lambda: wb.vary("rod", along=("mu", 0, 2)).html(),
    "trace-lemke": lambda: wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="lemke").html(),
    "trace-murty": lambda: wb.trace(MURTY, rhs=[-4, -5, -1], solver="murty").html(),
    "show-box": lambda: wb.show("box").html(),
    "study-wheel": study,
    "flow-drum": lambda: wb.flow("rotating-drum", values={"N": 25}, steps=[4e-3, 2e-3], seeds=2, duration=0.08).html(),
    "reality-cube": recorded,
    "exam": lambda: wb.exam(["coulomb", "stewart-trinkle"], steps=[1e-2, 2e-2]).html(),
    "reproduction": lambda: reproduction().html,
    "reproductions": lambda: render_index([reproduction()], provenance()),
}
