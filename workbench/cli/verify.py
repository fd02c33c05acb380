"""The command `workbench verify`: check whether a certificate proves its claims."""

import argparse
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.words import number_option
from workbench.support.errors import WorkbenchError
from workbench.support.output import json_text


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    verify = command(
        commands, "verify", "check a certificate with independent code",
        "verify proof.json", "verify proof.json --of matrix.csv", "verify proof.json --of matrix.csv --rhs q.csv",
    )  # fmt: skip
    verify.add_argument("file", help="JSON file written by check or painleve --certificate")
    verify.add_argument("--of", metavar="FILE", help="matrix or problem to which the certificate must belong")
    verify.add_argument("--rhs", metavar="FILE", help="with --of: q, as a row or a column; default: the q of the file")
    verify.add_argument(
        "--time-limit", metavar="S", default="60", help="time limit for all claims together [s]; default: 60"
    )
    verify.add_argument("--json", action="store_true", help="print the result as JSON")
    verify.set_defaults(run=run_verify)


def run_verify(o: argparse.Namespace) -> None:
    """Print every claim and its outcome; status 1 if one was refuted, 3 if one, or all, were not verified."""
    from workbench.verbs.verify import verify

    seconds = number_option(o.time_limit, "--time-limit", "seconds")
    if o.rhs and not o.of:
        raise WorkbenchError("--rhs is the q of a matrix; give the matrix as --of FILE")
    found = verify(o.file, o.of, rhs=o.rhs, seconds=seconds)
    claims = [vars(f) for f in found.findings]
    said = {"outcome": found.outcome, "holds": found.holds, "claims": claims, "left_out": found.left_out}
    print(json_text(said) if o.json else found.text)
    if not found:
        raise SystemExit(found.status)
