"""`python -m workbench.certificates FILE`: the stand-alone checker, by Python's standard library alone."""

import argparse
import sys

from workbench.certificates.documents import read_document
from workbench.certificates.limits import SECONDS
from workbench.certificates.outcomes import NO_CERTIFICATE, STATUS, RefusedError, outcome, printable, text
from workbench.certificates.verify import verify

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m workbench.certificates", description=__doc__)
    parser.add_argument("file", help="JSON written by check --certificate")
    parser.add_argument("--time-limit", type=float, metavar="S", default=SECONDS, help="for all claims together [s]")
    given = parser.parse_args()
    try:
        document = read_document(given.file)
        findings = verify(document, seconds=given.time_limit)
    except (OSError, RefusedError) as error:
        print(printable(f"{given.file}: {error}"), file=sys.stderr)
        sys.exit(NO_CERTIFICATE)
    print(text(findings, document["left_out"]))
    sys.exit(STATUS[outcome(findings)])
