"""The command `workbench exam [SUBJECT ...]`."""

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress, goes_on
from workbench.cli.words import numbers, workers_of
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "exam", "test formulations and physics engines against the friction law they claim",
        "exam coulomb ccp box --step 1e-3 5e-3", "exam mujoco --experiment slope --json",
        "exam --python ~/engines/bin/python        # all formulations, and all engines installed there",
    )  # fmt: skip
    p.add_argument(
        "subject", nargs="*",
        help="formulation, engine (mujoco, drake, bullet, dart, pinocchio, newton, siconos) or variant of an engine "
        "such as mujoco/elliptic; default: all formulations and all installed engines",
    )  # fmt: skip
    p.add_argument("--step", metavar="H [H...]", default="1e-3", help="step sizes [s]; default: 1e-3")
    p.add_argument(
        "--experiment", metavar="NAME", action="append", default=[], help="experiment; repeatable; default: all"
    )
    p.add_argument(
        "--python", metavar="PATH", action="append", default=[],
        help="Python interpreter in which engines are installed, searched before this one; repeatable",
    )  # fmt: skip
    p.add_argument(
        "--out", metavar="FOLDER", default="exam",
        help="folder for the report, and for finished trials after an interruption; default: exam",
    )  # fmt: skip
    p.add_argument("--workers", type=int, metavar="N", help="number of processes; default: the number of processors")
    p.add_argument("--json", action="store_true", help="print results and badges as JSON")
    p.add_argument("--quiet", action="store_true", help="print no progress and no summary")
    p.set_defaults(run=run_exam)


def run_exam(o: argparse.Namespace) -> None:
    """Run the exam, write rows, page and motions, print the summary."""
    from workbench.support.output import staged
    from workbench.verbs.exam import exam

    steps, folder = numbers(o.step, "--step"), Path(o.out)
    workers = workers_of(o.workers)
    with goes_on(lambda: "finished trials are kept"), staged(folder) as stage:
        with CommandProgress(o.quiet) as progress:
            found = exam(
                o.subject, experiments=o.experiment, steps=steps, python=o.python, folder=folder, workers=workers,
                progress=progress,
            )  # fmt: skip
        found.write(stage)
    if o.json:
        print(json_text(found.badges))
    elif not o.quiet:
        print("\n".join(found.words))
        print(f"report: {folder}/report.html")
