"""The command `workbench follow CASE`."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import case_with_settings, number_if_given
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "follow", "compute the motion of a case under Coulomb's law event by event, to twelve digits",
        "follow wheel", "follow rod --set speed=0.5 --duration 0.5", "follow particle --prove",
        "follow wedged-box --branches",
    )  # fmt: skip
    p.add_argument("case", help="name of a case (see: workbench list cases)")
    p.add_argument("--set", action="append", metavar="NAME=VALUE", help="parameter of the case; repeatable")
    p.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's")
    p.add_argument(
        "--prove", action="store_true",
        help="enclose events and states in ball arithmetic (cases of particles, rods, block, sphere and ball)",
    )  # fmt: skip
    p.add_argument(
        "--branches", action="store_true",
        help="follow every continuation where the motion is not unique (Painlevé's paradox, impacts)",
    )  # fmt: skip
    p.add_argument("--out", metavar="FOLDER", help="write events, contact modes and a page to this folder")
    p.add_argument("--json", action="store_true", help="print the result as JSON")
    p.add_argument("--quiet", action="store_true", help="print no progress")
    p.set_defaults(run=run_follow)


def run_follow(o: argparse.Namespace) -> None:
    """Print the modes of each contact over time, their accuracy, and the proved part."""
    from workbench.builtin.reports.text.check import in_lines
    from workbench.verbs.follow import follow

    duration = number_if_given(o.duration, "--duration", "seconds")
    case = case_with_settings(o.case, o.set or [])
    with CommandProgress(o.quiet) as progress:
        found = follow(case, duration=duration, prove=o.prove, branches=o.branches, progress=progress)
    if o.out:
        found.save(o.out)
    print(json_text(found.data) if o.json else "\n".join(map(in_lines, [found.title, *found.words])))
    if o.out and not o.json:
        print(f"report: {o.out}/report.html")
