"""The command `workbench verify`: does a certificate prove what it says?"""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    verify = command(
        commands, "verify", "check a certificate by code that shares nothing with what wrote it",
        "verify proof.json", "verify proof.json --of matrix.csv",
    )  # fmt: skip
    verify.add_argument("file", help="JSON written by check --certificate")
    verify.add_argument("--of", metavar="FILE", help="the matrix that the certificate should be about")
    verify.add_argument("--json", action="store_true", help="for programs")
    verify.set_defaults(run=run_verify)


def run_verify(o: argparse.Namespace) -> None:
    """Every claim and whether it holds; status 1 where one was refused."""
    from workbench.verbs.verify import verify

    found = verify(o.file, o.of)
    print(json_text({"holds": found.holds, "claims": [vars(f) for f in found.findings]}) if o.json else found.text)
    if not found.holds:
        raise SystemExit(1)
