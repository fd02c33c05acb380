"""The command `workbench export`: the contact problem of one step of a case, or of a MuJoCo model."""

import argparse
from typing import Any

from workbench.cli.files import WRITTEN
from workbench.cli.parsing import command
from workbench.cli.words import OF_MODEL, case_with_settings, named_settings, number_if_given, number_option
from workbench.support.errors import WorkbenchError


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    export = command(
        commands, "export", "write the contact problem of one time step of a case or of a MuJoCo model",
        "export cube step.hdf5 --step-number 100", "export scene.xml step.hdf5 --at 0.5",
        "export robot.xml step.npz --at 1 --key home --ctrl gait.csv --set geom/foot.friction=0.4",
    )  # fmt: skip
    export.add_argument("case", help="name of a case (see: workbench list cases), or a model file (.xml, .urdf, .mjb)")
    export.add_argument("out", help=f"{WRITTEN}; for a model also NAME.names.json, which names the rows")
    export.add_argument(
        "--step-number", type=int, metavar="K", help="of a case: number of the step, from 0; default: 0"
    )
    export.add_argument("--step", metavar="H", help="step size [s]; default: 1e-3, for models the model's")
    export.add_argument(
        "--set", action="append", metavar="NAME=VALUE", default=[],
        help="parameter of the case, or value in the model such as geom/foot.friction=0.4; repeatable",
    )  # fmt: skip
    export.add_argument(
        "--at", metavar="T", help="of a model: time [s] up to which MuJoCo simulates it first; default: 0"
    )
    export.add_argument("--key", metavar="NAME", help="of a model: keyframe to start from")
    export.add_argument(
        "--ctrl", metavar="FILE", help="of a model: actuator commands, a number or a table over time (.csv, .npy)"
    )
    export.add_argument("--local", action="store_true", help="of a model: write W, q, mu instead of M, H, f, w, mu")
    export.set_defaults(run=run_export)


def run_export(o: argparse.Namespace) -> None:
    """Export the step's problem under exact Coulomb friction; for a model, report what was changed and omitted."""
    from workbench.verbs.scene import is_model

    model = is_model(o.case)
    wrong = ("step_number",) if model else ("at", "key", "ctrl", "local")
    instead = {"step_number": "; give --at", "at": "; give --step-number"}
    for name in wrong:
        if getattr(o, name):
            what = "cases of the workbench" if model else "MuJoCo models"
            raise WorkbenchError(f"--{name.replace('_', '-')} is for {what}{instead.get(name, '')}")
    if model:
        _of_model(o)
        return
    h = number_option(o.step or "1e-3", "--step", "seconds")
    case = case_with_settings(o.case, o.set)
    from workbench.verbs.export import export_case

    export_case(case, o.out, h, o.step_number or 0)


def _of_model(o: argparse.Namespace) -> None:
    from workbench.verbs.export import export

    step = number_if_given(o.step, "--step", "seconds")
    at = number_option(o.at, "--at", "seconds") if o.at else 0.0
    found = export(o.case, at, step, o.local, named_settings(o.set, OF_MODEL), o.key, o.ctrl)
    found.problem_file(o.out)
    print(found)
