"""The command `workbench fit CASE FILE`."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import case_with_settings, number_option
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "fit", "fit parameters of a case to measurements of its motion, under several formulations",
        "fit block measured.csv --to mu", "fit bouncing-ball heights.csv --to e height -f coulomb --json",
    )  # fmt: skip
    p.add_argument("case", help="name of a case (see: workbench list cases)")
    p.add_argument("file", help="CSV file with a column t [s] and measured outputs (x, y, z, energy, q[i], v[i])")
    p.add_argument(
        "--to", nargs="+", required=True, metavar="NAME", help="parameters of the case to fit; v[i], q[i] at its start"
    )
    p.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="formulation; repeatable; default: coulomb, ccp, stewart-trinkle, box, mujoco",
    )  # fmt: skip
    p.add_argument(
        "--set", action="append", metavar="NAME=VALUE",
        help="parameter of the case, or start value of a fitted one; repeatable",
    )  # fmt: skip
    p.add_argument("--step", default="1e-3", metavar="H", help="step size [s]; default: 1e-3")
    p.add_argument("--out", metavar="FOLDER", help="write the table and a page to this folder")
    p.add_argument("--json", action="store_true", help="print the result as JSON")
    p.add_argument("--quiet", action="store_true", help="print no progress")
    p.set_defaults(run=run_fit)


def run_fit(o: argparse.Namespace) -> None:
    """A table of fitted parameters and what they say."""
    from workbench.builtin.reports.text.fit import print_table
    from workbench.verbs.fit import CLASSICAL, fit

    step = number_option(o.step, "--step", "seconds")
    case = case_with_settings(o.case, o.set or [])
    with CommandProgress(o.quiet) as progress:
        found = fit(case, o.file, o.formulation or CLASSICAL, to=o.to, step=step, progress=progress)
    if o.out:
        found.save(o.out)
    if o.json:
        print(json_text(found.data))
    else:
        print_table(found.title, found.words, found.table)
        if o.out:
            print(f"report: {o.out}/report.html")
