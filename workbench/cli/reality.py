"""The command `workbench reality FOLDER`."""

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress, goes_on
from workbench.cli.words import number_option, workers_of
from workbench.support.errors import WorkbenchError
from workbench.support.numbers import parse_entry
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "reality", "compare formulations with recorded motions",
        "reality tosses", "reality tosses -f ccp -f stewart-trinkle:directions=8 --rows rigid --workers 2",
        "reality drops --about body.toml --share 0.5 --mu 0:1 --normal gap",
    )  # fmt: skip
    p.add_argument("folder", help="folder of recordings with a recordings.toml, or the ContactNets tosses")
    p.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="formulation; repeatable; default: all; exact Coulomb friction is always included, as the baseline",
    )  # fmt: skip
    p.add_argument(
        "--about", metavar="FILE.toml", help="description of the recordings; default: the folder's recordings.toml"
    )
    p.add_argument(
        "--rows", choices=("rigid", "relaxed", "both"), default="both", help="constraint rows; default: both"
    )
    p.add_argument(
        "--relaxation",
        metavar="NAME=VALUE,...",
        help="compliance of relaxed rows, such as k_n=1e10; default: that of the case cube",
    )
    p.add_argument(
        "--share", metavar="S", default="0.25", help="share of the recordings used to identify mu and e; default: 0.25"
    )
    p.add_argument("--step", metavar="H", help="step size [s]; default: a quarter of the sampling interval")
    p.add_argument(
        "--normal",
        choices=("moreau", "gap"),
        default="moreau",
        help="normal law (gap has no restitution); default: moreau",
    )
    p.add_argument("--mu", metavar="LOW:HIGH", default="0:0.6", help="search range of mu; default: 0:0.6")
    p.add_argument("--e", metavar="LOW:HIGH", default="0:0.6", help="search range of e; default: 0:0.6")
    p.add_argument("--members", type=int, metavar="N", default=8, help="initial states in the ensemble; default: 8")
    p.add_argument(
        "--seconds",
        metavar="T",
        help="time limit [s]; formulations not finished by then are left out and named; default: none",
    )
    p.add_argument("--workers", type=int, metavar="N", help="number of processes; default: the number of processors")
    p.add_argument(
        "--out", metavar="FOLDER",
        help="folder for the report, and for finished results after an interruption; default: FOLDER-reality in the "
        "current folder",
    )  # fmt: skip
    p.add_argument("--json", action="store_true", help="print one row for each formulation as JSON")
    p.add_argument("--quiet", action="store_true", help="print no progress and no summary")
    p.set_defaults(run=run_reality)


def run_reality(o: argparse.Namespace) -> None:
    """Identify and test all formulations, write rows and page, print the summary."""
    from workbench.support.output import staged
    from workbench.verbs.reality import reality

    given: dict[str, Any] = {
        name: number_option(getattr(o, name), f"--{name}", unit)
        for name, unit in (("share", "parts of one"), ("step", "seconds"), ("seconds", "seconds"))
        if getattr(o, name) is not None
    }
    workers = workers_of(o.workers)
    rows = ("rigid", "relaxed") if o.rows == "both" else (o.rows,)
    folder = Path(o.out or f"{Path(o.folder).name or 'recordings'}-reality")
    with goes_on(lambda: "finished results are kept"), staged(folder) as stage:
        with CommandProgress(o.quiet) as progress:
            found = reality(
                o.folder, o.formulation, about=o.about, rows=rows, relaxation=o.relaxation, normal=o.normal,
                mu=_bounds(o.mu, "--mu"), e=_bounds(o.e, "--e"), members=o.members,
                kept=folder, workers=workers, progress=progress, **given,
            )  # fmt: skip
        found.write(stage)
    if o.json:
        print(json_text(found.subjects.to_dict("records")))
    elif not o.quiet:
        print("\n".join(found.words))
        print(f"report: {folder}/report.html")


def _bounds(text: str, option: str) -> tuple[float, float]:
    low, colon, high = text.partition(":")
    if not colon:
        raise WorkbenchError(f"{option} {text[:40]}: give LOW:HIGH, such as 0:0.6")
    return parse_entry(low.strip(), option), parse_entry(high.strip(), option)
