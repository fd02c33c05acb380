"""The command `workbench sensitivity CASE|MODEL`."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import OF_MODEL, case_with_settings, named_settings, number_if_given
from workbench.support.errors import WorkbenchError
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "sensitivity", "compare derivatives of a motion with respect to parameters, formulation by "
        "formulation",
        "sensitivity block --of x --to mu", "sensitivity spatial-particle --of x y --to mu speed --duration 0.5",
        "sensitivity rod -f ccp -f hybrid --of v[2] --to mu kappa --step 5e-4 --json",
        "sensitivity robot.xml -f ccp --of v[0] --to mu mass[hull] --duration 0.1",
    )  # fmt: skip
    p.add_argument("case", help="name of a case or scene (see: workbench list cases), or a model's file (MJCF, URDF)")
    p.add_argument(
        "--of",
        nargs="+",
        required=True,
        metavar="OUTPUT",
        help="quantities at the end of the motion: x, y, z (of cases), energy, q[i], v[i]",
    )
    p.add_argument(
        "--to",
        nargs="+",
        required=True,
        metavar="NAME",
        help="parameters of the case, v[i], q[i] at its start; of a scene: mu, mass[BODY], v[i], f[i]",
    )
    p.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="formulation; repeatable; default: ten classical ones, for scenes three",
    )  # fmt: skip
    p.add_argument(
        "--set", action="append", metavar="NAME=VALUE", help="parameter of the case or value of the model; repeatable"
    )
    p.add_argument("--key", metavar="NAME", help="keyframe of the model to start from")
    p.add_argument("--step", metavar="H", help="step size [s]; default: 1e-3, for scenes the scene's")
    p.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's")
    p.add_argument("--all", action="store_true", help="print all rows of the table; default: at most ten")
    p.add_argument("--out", metavar="FOLDER", help="write the table and a page to this folder")
    p.add_argument("--json", action="store_true", help="print the result as JSON")
    p.add_argument("--quiet", action="store_true", help="print no progress")
    p.set_defaults(run=run_sensitivity)


def run_sensitivity(o: argparse.Namespace) -> None:
    """Print a table of derivatives and its summary."""
    from workbench.builtin.reports.text.sensitivity import print_table
    from workbench.verbs.scene import is_scene, scene
    from workbench.verbs.sensitivity import sensitivity

    step = number_if_given(o.step, "--step", "seconds")
    duration = number_if_given(o.duration, "--duration", "seconds")
    if not is_scene(o.case) and o.key is not None:
        raise WorkbenchError(f"--key is for models' files; {o.case} is none")
    case: Any
    if is_scene(o.case):
        case = scene(o.case, named_settings(o.set or [], OF_MODEL), o.key)
    else:
        case = case_with_settings(o.case, o.set or [])
    with CommandProgress(o.quiet) as progress:
        found = sensitivity(case, o.formulation, of=o.of, to=o.to, step=step, duration=duration, progress=progress)
    if o.out:
        found.save(o.out)
    if o.json:
        print(json_text(found.data))
    else:
        print_table(found.title, found.words, found.table, o.all)
        if o.out:
            print(f"report: {o.out}/report.html")
