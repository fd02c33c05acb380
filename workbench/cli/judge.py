"""The command `workbench judge PROBLEM [ANSWER]`."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.words import number_option
from workbench.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "judge", "hold somebody's answer to a contact problem against Coulomb's law",
        "judge problem.hdf5",
        "judge problem.npz impulses.csv --step 1e-3",
        "judge scene.xml states.npz",
    )  # fmt: skip
    p.add_argument(
        "problem", help="a friction problem: FCLIB's HDF5, .npz, .mat or text as Siconos prints it; or a model's file"
    )
    p.add_argument(
        "answer", nargs="?",
        help=".npz or .csv with the impulses p, or FCLIB's HDF5 with a solution, default: PROBLEM; of a model a log of "
        "MuJoCo's states, .npz or .csv with qpos and qvel",
    )  # fmt: skip
    p.add_argument("--step", metavar="H", help="the step of which the impulses are [s], to tell forces too")
    p.add_argument("--out", metavar="FOLDER", help="write rows and a page there")
    p.add_argument("--json", action="store_true", help="print a row per contact as JSON")
    p.set_defaults(run=run_judge)


def run_judge(o: argparse.Namespace) -> None:
    """Print residuals, and the symptoms of each contact."""
    from workbench.verbs.verdict import verdict

    step = None if o.step is None else number_option(o.step, "--step", "seconds")
    found = verdict(o.problem, o.answer, step=step)
    if o.out:
        found.save(o.out)
    print(json_text(found.rows.to_dict("records")) if o.json else "\n".join([found.title, *found.words]))
