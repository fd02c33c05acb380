"""The command `workbench slides`."""

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.compare import add_options, chosen
from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.support.output import page_path


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    slides = command(
        commands, "slides", "write a comparison as slides, one figure each, for a lecture",
        "slides wheel", "slides cube -f box -f ccp --out lecture.html", "slides problem.hdf5",
        "slides robot.xml --duration 1",
    )  # fmt: skip
    add_options(slides)
    slides.add_argument(
        "--out",
        type=page_path,
        metavar="FILE.html",
        help="file for the slides; default: CASE-slides.html or FILE-slides.html",
    )
    slides.add_argument("--quiet", action="store_true", help="print no progress")
    slides.set_defaults(run=run_slides)


def run_slides(o: argparse.Namespace) -> None:
    """Compare and write the slides."""
    from workbench.verbs.compare import compare

    what, given = chosen(o)
    out = Path(o.out or f"{Path(what).name if isinstance(what, str) else what.name}-slides.html")
    with CommandProgress(o.quiet) as progress:
        found = compare(what, progress=progress, **given)
        found.slides(out)
    print(f"slides: {out} (arrow keys: next and previous; f: full screen)")
