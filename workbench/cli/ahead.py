"""Compile the kernels of a case's comparison in a second process while the first one runs.

Two thirds of the first comparison on a machine are compilation, on one processor. If another one is idle, a process
makes a shortened version of the same comparison there, from its last formulation on. Each of the two finds on disk what
the other has compiled, and waits for what the other is compiling (`engine.disk.alone`).
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

IN_SHORT = "workbench.cli.in_short"
"""The module that the second process runs. It imports the command that imports this module."""
IDLE = 0.5
"""Fraction of a processor that has to be idle."""


@contextmanager
def compiled_ahead(words: Sequence[str]) -> Iterator[None]:
    """During the block, a second process compiles what `workbench WORDS` needs, if that helps, and ends with it."""
    # User-defined code, which may write or print, runs only once.
    own = any(".py:" in word for word in words)
    process = _started(words) if not own and _helps() else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def _helps() -> bool:
    from workbench.verbs.compare import steps_are_compiled

    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _load() <= processors - 1 + IDLE and not steps_are_compiled()


def _load() -> float:
    """Number of processes that wanted a processor in the last minute; infinite if unknown."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("inf")


def _started(words: Sequence[str]) -> "subprocess.Popen[bytes] | None":
    # It finds modules as this process does, and not in the current folder, which may contain others of the same name.
    found = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    with suppress(OSError):
        # Ctrl-C reaches all processes of a session; the parent process ends this one.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", IN_SHORT, str(os.getpid()), *words], env=found, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    return None
