"""The command `workbench reality FOLDER`."""

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress, goes_on
from workbench.cli.words import number_option, workers_of
from workbench.errors import WorkbenchError
from workbench.output import json_text
from workbench.readers.numbers import parse_entry


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "reality", "which formulation predicts recorded motions best, and is it beyond the noise",
        "reality tosses", "reality tosses -f ccp -f stewart-trinkle:directions=8 --rows rigid --workers 2",
        "reality drops --about body.toml --share 0.5 --mu 0:1 --normal gap",
    )  # fmt: skip
    p.add_argument("folder", help="folder of recordings, described by its recordings.toml, or ContactNets' tosses")
    p.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="repeatable; default: all. Exact Coulomb friction comes along, since the others are paired with it",
    )  # fmt: skip
    p.add_argument("--about", metavar="FILE.toml", help="description of the folder, in place of its own")
    p.add_argument("--rows", choices=("rigid", "relaxed", "both"), default="both", help="constraint rows; default both")
    p.add_argument(
        "--relaxation", metavar="NAME=VALUE,...", help="of relaxed rows, such as k_n=1e10; default: the case cube's"
    )
    p.add_argument("--share", metavar="S", default="0.25", help="of the recordings, to identify mu and e on; 0.25")
    p.add_argument("--step", metavar="H", help="step [s]; default: a quarter of the time between samples")
    p.add_argument("--normal", choices=("moreau", "gap"), default="moreau", help="normal law; gap has no restitution")
    p.add_argument("--mu", metavar="LOW:HIGH", default="0:0.6", help="bounds of the search for mu; default 0:0.6")
    p.add_argument("--e", metavar="LOW:HIGH", default="0:0.6", help="bounds of the search for e; default 0:0.6")
    p.add_argument("--members", type=int, metavar="N", default=8, help="starts of the ensemble; default 8")
    p.add_argument("--seconds", metavar="T", help="what is not done by then is left out, and named")
    p.add_argument("--workers", type=int, metavar="N", help="processes; default: the number of processors")
    p.add_argument(
        "--out", metavar="FOLDER",
        help="where to write; what an interrupted run has finished is kept there; default: FOLDER-reality, here",
    )  # fmt: skip
    p.add_argument("--json", action="store_true", help="print a row a formulation as JSON instead of sentences")
    p.add_argument("--quiet", action="store_true", help="no progress bar, no sentences")
    p.set_defaults(run=run_reality)


def run_reality(o: argparse.Namespace) -> None:
    """Identify and test all formulations, write rows and page, print the summary."""
    from workbench.output import staged
    from workbench.verbs.reality import reality

    given: dict[str, Any] = {
        name: number_option(getattr(o, name), f"--{name}", unit)
        for name, unit in (("share", "parts of one"), ("step", "seconds"), ("seconds", "seconds"))
        if getattr(o, name) is not None
    }
    workers = workers_of(o.workers)
    rows = ("rigid", "relaxed") if o.rows == "both" else (o.rows,)
    folder = Path(o.out or f"{Path(o.folder).name or 'recordings'}-reality")
    with goes_on(lambda: "what was finished is kept"), staged(folder) as stage:
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
