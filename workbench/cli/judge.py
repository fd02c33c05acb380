"""The command `workbench judge PROBLEM [ANSWER]`."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.words import number_if_given
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "judge", "check a given solution against Coulomb's law, contact by contact",
        "judge problem.hdf5",
        "judge problem.npz impulses.csv --step 1e-3",
        "judge scene.xml states.npz",
    )  # fmt: skip
    p.add_argument("problem", help="friction problem (FCLIB HDF5, .npz, .mat or Siconos text) or model file")
    p.add_argument(
        "answer", nargs="?",
        help="impulses p (.npz or .csv) or FCLIB HDF5 with a solution; default: the solution in PROBLEM; for a model, "
        "a log of MuJoCo states (.npz or .csv with qpos and qvel)",
    )  # fmt: skip
    p.add_argument("--step", metavar="H", help="step size of the impulses [s], to print forces too")
    p.add_argument("--out", metavar="FOLDER", help="write rows and a page to this folder")
    p.add_argument("--json", action="store_true", help="print one row for each contact as JSON")
    p.set_defaults(run=run_judge)


def run_judge(o: argparse.Namespace) -> None:
    """Print residuals, and the symptoms of each contact."""
    from workbench.builtin.reports.text.check import in_lines
    from workbench.verbs.verdict import verdict

    step = number_if_given(o.step, "--step", "seconds")
    found = verdict(o.problem, o.answer, step=step)
    if o.out:
        found.save(o.out)
    words = "\n".join(map(in_lines, [found.title, *found.words]))
    print(json_text(found.rows.to_dict("records")) if o.json else words)
