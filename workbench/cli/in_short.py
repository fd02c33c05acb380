"""A comparison of a case with few steps, from its last formulation on, run by `ahead` in another process.

    python -m workbench.cli.in_short PARENT WORDS

PARENT is the id of the process that it serves and with which it ends, WORDS that process's command line.

Both processes would need the same kernels in the same order up to the first row. So this one begins with those that the
other needs last before that row (`compile_last`).
"""

import sys
from typing import Any

from workbench.cli.compare import chosen
from workbench.cli.main import parsed
from workbench.support.lifetime import end_with

STEPS = 10
"""Number of steps of the shortened comparison."""


def in_short(case: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `wb.compare` for the shortened comparison of a case."""
    from workbench.verbs.find import find_formulations

    formulations = given["formulations"] or find_formulations(None)
    duration = min(given["duration"] or case.duration, STEPS * max(given["steps"]))
    return given | {"formulations": list(reversed(formulations)), "duration": duration, "workers": 1}


def main() -> None:
    """Run the second process."""
    from workbench.verbs.compare import compare, compile_last

    end_with(int(sys.argv[1]))
    case, given = chosen(parsed(sys.argv[2:]))
    shorter = in_short(case, given)
    compile_last(case, shorter["duration"])
    compare(case, **shorter)


if __name__ == "__main__":
    main()
