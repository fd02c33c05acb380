"""The command `workbench report`: the page of saved comparisons."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    report = command(
        commands, "report", "rebuild the report of one or several saved comparisons, without computing again",
        "report wheel-comparison", "report monday tuesday --out both", "report wheel-comparison --figures pdf",
    )  # fmt: skip
    report.add_argument(
        "runs", nargs="+", metavar="FOLDER",
        help="folder written by compare; several are merged if they have the same case or scene and settings, or the "
        "same file",
    )  # fmt: skip
    report.add_argument("--out", metavar="FOLDER", help="folder for the report; default: CASE-report or FILE-report")
    report.add_argument("--figures", choices=("pdf", "svg", "png"), help="also write each figure as a file")
    report.add_argument("--quiet", action="store_true", help="print no table")
    report.set_defaults(run=run_report)


def run_report(o: argparse.Namespace) -> None:
    """Read, merge, write the results of a comparison, print its table."""
    from workbench.builtin.reports.pages.comparison import remove_others
    from workbench.builtin.reports.text.terminal import print_comparison
    from workbench.support.output import staged
    from workbench.verbs.report import report

    found = report(o.runs)
    c = found.comparison
    out = Path(o.out or f"{Path(c.name).name}-report")
    with staged(out) as stage:
        found.write(stage, o.figures, found.facts | {"command": f"workbench {shlex.join(o.words)}"})
    remove_others(c, out, o.figures)
    if not o.quiet:
        print_comparison(c)
        for remark in c.remarks:
            print(remark)
        print(f"report: {out / 'report.html'}")
