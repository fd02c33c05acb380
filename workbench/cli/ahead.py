"""Compile the kernels of a case's comparison in a second process while the first one runs.

Two thirds of the first comparison on a machine are compilation, on one processor. If another one is idle, a process
compiles there what the first row needs last, and then makes a shortened version of the same comparison, from its last
formulation on (`in_short`). Each of the two finds on disk what the other has compiled, and waits for what the other is
compiling (`engine.disk.alone`).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import Any

from workbench.cli.in_short import compile_in_short

IDLE = 0.5
"""Fraction of a processor that has to be idle."""
BEGUN = "fork" if sys.platform == "linux" else "spawn"
"""How the second process begins. A fork has imported everything, which takes seconds; elsewhere it is unsafe."""


@contextmanager
def compiled_ahead(words: list[str], case: Any, given: dict[str, Any]) -> Iterator[None]:
    """During the block, a second process compiles what `wb.compare(case, **given)` needs, if that helps.

    It ends with the block. `words` are those of the command line.
    """
    # User-defined code, which may write or print, runs only once.
    own = any(".py:" in word for word in words)
    process = _started(case, given) if not own and _helps() else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.join()


def _helps() -> bool:
    from workbench.verbs.compare import steps_are_compiled

    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _load() <= processors - 1 + IDLE and not steps_are_compiled()


def _load() -> float:
    """Number of processes that wanted a processor in the last minute; infinite if unknown."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("inf")


def _started(case: Any, given: dict[str, Any]) -> Any:
    """Start the process; None if that fails."""
    context: Any = get_context(BEGUN)
    process = context.Process(target=compile_in_short, args=(os.getpid(), case, given), daemon=True)
    # Where a process is spawned, the case must be pickled: without its help the comparison is as right.
    with suppress(Exception):
        process.start()
        return process
    return None
