"""Slides of a comparison: its figures and the mathematics of its formulations, one a screen."""

from workbench.builtin.reports.figures.comparison import figures
from workbench.builtin.reports.figures.drawing import drawing
from workbench.builtin.reports.figures.scenes import figures_of_scene
from workbench.builtin.reports.pages.cards import cards
from workbench.builtin.reports.pages.motion import motion_view
from workbench.builtin.reports.pages.page import environment, script, scripts
from workbench.builtin.reports.text.headline import headline, subject
from workbench.builtin.reports.text.names import named
from workbench.comparison.result import Comparison


def render(c: Comparison) -> str:
    """The slides as one page that opens offline."""
    c = named(c)
    shown, moving = figures_of_scene(c) if c.scene else figures(c), motion_view(c)
    answer, *conditions = headline(c).sentences
    return (
        environment()
        .get_template("slides.html.j2")
        .render(
            c=c, answer=answer, conditions=conditions, cards=cards(c), figures=shown, about=subject(c),
            sketch=drawing(c.case.sketch(), f"{c.name} at its start") if c.case else "",
            motion=moving["motion"],
            **scripts(shown, moving["viewer"], script("slides.js")),
        )
    )  # fmt: skip
