"""The command `workbench index`: a page that links the pages in a folder."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.support.errors import WorkbenchError


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    index = command(
        commands, "index",
        "write a page that links all workbench pages in a folder",
        "index .", "index results",
    )  # fmt: skip
    index.add_argument(
        "folder", help="folder with pages of the workbench, also in subfolders; index.html is written there"
    )
    index.add_argument("--quiet", action="store_true", help="print nothing")
    index.set_defaults(run=run_index)


def run_index(o: argparse.Namespace) -> None:
    """Find the pages, write index.html; a file of the same name from elsewhere is not overwritten."""
    from workbench.builtin.reports.pages.index import NAME, entries, head_of, render
    from workbench.support.output import provenance, replaced

    folder = Path(o.folder)
    if not folder.is_dir():
        raise WorkbenchError(f"'{folder}' is not a folder; give a folder with pages of the workbench")
    out = folder / NAME
    if out.exists() and head_of(out).kind != "index":
        raise WorkbenchError(f"'{out}' was not written by the workbench; rename it, or choose another folder")
    found = entries(folder)
    with replaced(out) as page:
        facts = provenance(command=f"workbench {shlex.join(o.words)}")
        page.write_bytes(render(folder.absolute().name, found, facts).encode())
    if not o.quiet:
        print(f"{len(found)} page{'s' * (len(found) != 1)} linked: {out}")
