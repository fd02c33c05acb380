"""The command `workbench convergence CASE`."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import case_with_settings, number_if_given
from workbench.support.output import json_rows, staged


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "convergence", "fit orders of convergence in the time step, for formulations and schemes",
        "convergence rod", "convergence wheel -f coulomb -f box -f ccp --scheme symplectic --scheme midpoint",
        "convergence particle --step 1e-3 5e-4 2.5e-4 1.25e-4", "convergence rod --set speed=0.5 --out rod-orders",
    )  # fmt: skip
    p.add_argument("case", help="name of a case with an event-driven motion (see: workbench list cases)")
    p.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="formulation, or all; repeatable; default: coulomb",
    )  # fmt: skip
    p.add_argument(
        "--scheme", action="append", metavar="NAME",
        help="time-stepping scheme: symplectic, explicit, moreau-jean[:theta=0.7] or midpoint; repeatable; default: "
        "all four",
    )  # fmt: skip
    p.add_argument(
        "--step", action="append", metavar="H[,H...]", help="step sizes [s]; default: 2e-3, 1e-3, ..., 6.25e-5"
    )
    p.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's")
    p.add_argument("--set", action="append", metavar="NAME=VALUE", help="parameter of the case; repeatable")
    p.add_argument("--out", metavar="FOLDER", help="write the page, the orders and the rows to this folder")
    p.add_argument("--all", action="store_true", help="print all rows of the table; default: at most ten")
    p.add_argument(
        "--json",
        action="store_true",
        help="print the orders of positions and velocities, with confidence limits, as JSON",
    )
    p.add_argument("--quiet", action="store_true", help="print no progress")
    p.set_defaults(run=run_convergence)


def run_convergence(o: argparse.Namespace) -> None:
    """Fit the orders, write the requested files, print the table."""
    from workbench.builtin.reports.text.convergence import print_orders
    from workbench.cli.compare import steps_of
    from workbench.verbs.convergence import convergence
    from workbench.verbs.find import find_formulations

    given: dict[str, Any] = {
        "formulations": None if "all" in (o.formulation or ()) else find_formulations(o.formulation or "coulomb"),
        "steps": steps_of(o.step) if o.step else None, "schemes": o.scheme,
        "duration": number_if_given(o.duration, "--duration", "seconds"),
    }  # fmt: skip
    case = case_with_settings(o.case, o.set or [])
    asked = {key: x for key, x in given.items() if x is not None or key == "formulations"}
    with CommandProgress(o.quiet) as progress:
        found = convergence(case, progress=progress, **asked)
    if o.out:
        with staged(Path(o.out)) as stage:
            found.write(stage, found.facts | {"command": f"workbench {shlex.join(o.words)}"})
    if o.json:
        print(json_rows(found.orders))
        return
    print_orders(found.title, found.words, found.orders, o.all)
    if o.out:
        print(f"report: {o.out}/report.html")
