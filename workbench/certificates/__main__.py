"""`python -m workbench.certificates FILE`: the check by itself, with nothing but Python's standard library."""

import json
import sys

from workbench.certificates.exact import RefusedError
from workbench.certificates.verify import REFUSED, verify

if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            findings = verify(json.load(file))
    except (IndexError, OSError, ValueError, RefusedError) as error:
        sys.exit(f"no certificate could be checked: {error}")
    for finding in findings:
        print(f"{finding.about} {finding.claim}: {finding.result} {finding.reason}".rstrip())
    sys.exit(any(finding.result == REFUSED for finding in findings))
