"""The command `workbench flow SCENE`."""

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import number_option, number_settings, numbers
from workbench.support.errors import WorkbenchError
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "flow", "compare formulations on granular flow, over friction coefficients and step sizes",
        "flow hopper", "flow hopper --set N=1000 --mu 0.1,0.3,0.5 --step 2e-3,1e-3,5e-4 --duration 1",
        "flow hopper --openings 0.04,0.05,0.06",
        "flow rotating-drum -f coulomb -f ccp -f frictionless --roughness 1e-4",
    )  # fmt: skip
    p.add_argument("scene", help="name of a granular scene: packing, column-collapse, hopper, rotating-drum or silo")
    p.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="formulation; repeatable; default: coulomb and ccp",
    )  # fmt: skip
    p.add_argument("--mu", metavar="MU[,MU...]", help="friction coefficients; default: 0.1,0.5, with --openings 0.5")
    p.add_argument("--step", metavar="H[,H...]", help="step sizes [s]; default: 4e-3,2e-3,1e-3, with --openings 4e-3")
    p.add_argument(
        "--openings", metavar="D,D[,D...]",
        help="diameters of the hopper's opening [m]; fit Beverloo's law to the discharge rates (of 400 grains)",
    )  # fmt: skip
    p.add_argument(
        "--seeds", metavar="N", help="random initial packings of each run, to estimate the scatter; default: 3"
    )
    p.add_argument("--duration", metavar="T", help="simulated time [s]; default: the scene's")
    p.add_argument(
        "--set", action="append", metavar="NAME=VALUE", default=[], help="parameter of the scene; repeatable"
    )
    p.add_argument(
        "--roughness", metavar="R", help="surface roughness of the grains, relative to the radius; default: 1e-3"
    )
    p.add_argument("--tolerance", metavar="EPS", help="residual to which each step is solved; default: 1e-3")
    p.add_argument("--out", metavar="FOLDER", help="folder for the report; default: SCENE-flow")
    p.add_argument("--json", action="store_true", help="print the rows as JSON")
    p.add_argument("--quiet", action="store_true", help="print no progress and no summary")
    p.set_defaults(run=run_flow)


def run_flow(o: argparse.Namespace) -> None:
    """Make all runs, write rows and page, print the summary."""
    from workbench.support.output import staged

    folder = Path(o.out or f"{o.scene}-flow")
    with staged(folder) as stage:
        with CommandProgress(o.quiet) as progress:
            found = _found(o, progress)
        found.write(stage)
    if o.json:
        print(json_text(found.rows.to_dict("records")))
    elif not o.quiet:
        print("\n".join(found.words))
        print(f"report: {folder}/report.html")


def _found(o: argparse.Namespace, progress: Any) -> Any:
    """The result of the requested verb."""
    given: dict[str, Any] = {
        name: number_option(getattr(o, name), f"--{name}", unit)
        for name, unit in (("duration", "seconds"), ("roughness", "radii"), ("tolerance", "1"), ("seeds", "starts"))
        if getattr(o, name) is not None
    }
    for name, text in (("mu", o.mu), ("steps", o.step)):
        if text is not None:
            given[name] = numbers(text, "--step" if name == "steps" else "--mu")
    given |= {"values": number_settings(o.set), "progress": progress}
    formulations = o.formulation or ("coulomb", "ccp")
    if o.openings is None:
        from workbench.verbs.flow import flow

        return flow(o.scene, formulations, **given)
    from workbench.verbs.discharge import discharge

    if o.scene != "hopper":
        raise WorkbenchError(f"--openings is for the hopper; {o.scene} has no opening")
    if "roughness" in given:
        raise WorkbenchError("--roughness and --openings exclude each other; give one of them")
    return discharge(numbers(o.openings, "--openings"), formulations, **given)
