"""A comparison of a case in few steps and from its last formulation on, which `ahead` has another process make.

    python -m workbench.cli.in_short PARENT WORDS

The number of the process that it works for, with which it ends, and the words of that process.
"""

import sys
from typing import Any

from workbench.cli.compare import chosen
from workbench.cli.main import parsed
from workbench.lifetime import end_with

STEPS = 10
"""Steps of the comparison in short."""


def in_short(case: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `wb.compare` for the same comparison of a case, in short."""
    from workbench.verbs.find import find_formulations

    formulations = given["formulations"] or find_formulations(None)
    duration = min(given["duration"] or case.duration, STEPS * max(given["steps"]))
    return given | {"formulations": list(reversed(formulations)), "duration": duration, "workers": 1}


def main() -> None:
    """The second process."""
    from workbench.verbs.compare import compare

    end_with(int(sys.argv[1]))
    case, given = chosen(parsed(sys.argv[2:]))
    compare(case, **in_short(case, given))


if __name__ == "__main__":
    main()
