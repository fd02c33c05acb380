"""The command `workbench sensitivity CASE`."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import case_with_settings, number_option
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "sensitivity", "compare derivatives of a motion with respect to parameters, formulation by "
        "formulation",
        "sensitivity block --of x --to mu", "sensitivity spatial-particle --of x y --to mu speed --duration 0.5",
        "sensitivity rod -f ccp -f hybrid --of v[2] --to mu kappa --step 5e-4 --json",
    )  # fmt: skip
    p.add_argument("case", help="name of a case (see: workbench list cases)")
    p.add_argument(
        "--of",
        nargs="+",
        required=True,
        metavar="OUTPUT",
        help="quantities at the end of the motion: x, y, z, energy, q[i], v[i]",
    )
    p.add_argument("--to", nargs="+", required=True, metavar="NAME", help="parameters of the case")
    p.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="formulation; repeatable; default: ten classical ones",
    )  # fmt: skip
    p.add_argument("--set", action="append", metavar="NAME=VALUE", help="parameter of the case; repeatable")
    p.add_argument("--step", default="1e-3", metavar="H", help="step size [s]; default: 1e-3")
    p.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's")
    p.add_argument("--all", action="store_true", help="print all rows of the table; default: at most ten")
    p.add_argument("--out", metavar="FOLDER", help="write the table and a page to this folder")
    p.add_argument("--json", action="store_true", help="print the result as JSON")
    p.add_argument("--quiet", action="store_true", help="print no progress")
    p.set_defaults(run=run_sensitivity)


def run_sensitivity(o: argparse.Namespace) -> None:
    """Print a table of derivatives and its summary."""
    from workbench.builtin.reports.text.sensitivity import print_table
    from workbench.verbs.sensitivity import CLASSICAL, sensitivity

    step = number_option(o.step, "--step", "seconds")
    duration = None if o.duration is None else number_option(o.duration, "--duration", "seconds")
    case = case_with_settings(o.case, o.set or [])
    with CommandProgress(o.quiet) as progress:
        found = sensitivity(
            case, o.formulation or CLASSICAL, of=o.of, to=o.to, step=step, duration=duration, progress=progress
        )
    if o.out:
        found.save(o.out)
    if o.json:
        print(json_text(found.data))
    else:
        print_table(found.title, found.words, found.table, o.all)
        if o.out:
            print(f"report: {o.out}/report.html")
