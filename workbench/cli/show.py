"""The command `workbench show`: the mathematics of a formulation, from its declaration."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.words import number_option
from workbench.support.errors import WorkbenchError


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    show = command(
        commands, "show", "print the equations and options of a formulation, or the contents of a scene",
        "show phantom-inertia", "show stewart-trinkle:directions=8 --latex", "show box --numbers --case cube",
        "show ./mine.py:elliptic", "show robot.xml",
    )  # fmt: skip
    show.add_argument(
        "formulation", metavar="NAME[:OPTION=VALUE,...]", help="formulation, scene or model file (.xml, .mjcf, .urdf)"
    )
    show.add_argument("--case", help="case that gives sizes and numbers; default: wheel")
    show.add_argument("--latex", action="store_true", help="print a LaTeX document")
    show.add_argument(
        "--numbers", action="store_true", help="also print the assembled numbers of the case's first step"
    )
    show.add_argument("--step", default="1e-3", metavar="H", help="step size for --numbers [s]; default: 1e-3")
    show.set_defaults(run=run_show)


def run_show(o: argparse.Namespace) -> None:
    """Print relations, sets, class, block matrix and options of a declaration; with --numbers the assembled problem."""
    from workbench.verbs.scene import is_scene
    from workbench.verbs.show import show

    if is_scene(o.formulation):
        for option in ("case", "latex", "numbers"):
            if getattr(o, option):
                raise WorkbenchError(f"--{option} is for formulations; {o.formulation} is a scene")
        print(show(o.formulation).text)
        return
    shown: Any = show(o.formulation, o.case)
    print(shown.latex if o.latex else shown.text)
    if o.numbers:
        comment = "% " if o.latex else ""
        text = shown.numbers(number_option(o.step, "--step", "seconds"))
        print("\n".join(comment + line for line in ["", *text.split("\n")]))
