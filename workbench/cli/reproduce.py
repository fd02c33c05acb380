"""The command `workbench reproduce`: the figures of a paper compared with the computed ones."""

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.support.errors import WorkbenchError


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    reproduce = command(
        commands,
        "reproduce",
        "reproduce the numbers of a paper and compare them with the published ones",
        "reproduce idetc2016-60064",
        "reproduce --all",
    )
    reproduce.add_argument("names", nargs="*", metavar="NAME", help="reproduction (see: workbench list reproductions)")
    reproduce.add_argument("--all", action="store_true", help="run all reproductions, in several processes")
    reproduce.add_argument(
        "--out", metavar="FOLDER", help="folder for the pages; default: NAME-reproduction, or reproductions for several"
    )
    reproduce.set_defaults(run=run_reproduce)
    reproduce.add_argument("--json", action="store_true", help="print the rows of claims.csv as JSON")
    reproduce.add_argument("--quiet", action="store_true", help="print no progress and no table")


def run_reproduce(o: argparse.Namespace) -> None:
    """Write pages, claims and provenance; see `reports.reproductions.page`."""
    from workbench.builtin.reports.reproductions import REPRODUCTIONS, known_names

    if o.all == bool(o.names):
        raise WorkbenchError(f"give either names or --all; known: {', '.join(REPRODUCTIONS)}")
    names = known_names(REPRODUCTIONS if o.all else o.names)
    from workbench.builtin.reports.reproductions.page import make_pages, write_pages
    from workbench.support.output import json_rows, provenance, staged

    out = Path(o.out or (f"{names[0]}-reproduction" if len(names) == 1 else "reproductions"))
    with staged(out) as stage, CommandProgress(o.quiet) as progress:
        facts = provenance(command=f"workbench {shlex.join(o.words)}")
        pages = make_pages(names, facts, progress, os.cpu_count() or 1)
        claims = write_pages(pages, stage, facts)
    if o.json:
        print(json_rows(claims))
    elif not o.quiet:
        from workbench.builtin.reports.text.terminal import print_claims

        print_claims(claims)
        print(f"page: {out / ('index' if len(names) > 1 else names[0])}.html")
