"""Kernels that a comparison of a case needs, compiled by a second process while the first is at work.

Two thirds of the first comparison on a machine are compiling, on one processor. Where another one is idle, a process
makes the same comparison there in short and from its last formulation on. Each of the two finds on the disk what the
other has compiled, and waits for what the other is compiling (`engine.disk.alone`).
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

IN_SHORT = "workbench.cli.in_short"
"""What the second process runs. It needs the command that needs this module."""
IDLE = 0.5
"""Share of a processor that has to be idle."""


@contextmanager
def compiled_ahead(words: Sequence[str]) -> Iterator[None]:
    """While the block runs, a second process compiles what `workbench WORDS` needs, if that helps. It ends with it."""
    # Somebody's own code, which may write or print, runs once.
    own = any(".py:" in word for word in words)
    process = _started(words) if not own and _helps() else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def _helps() -> bool:
    from workbench.step.local_steps import each

    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Interpreted kernels have no machine code to look for.
    return hasattr(each, "is_ready") and _load() <= processors - 1 + IDLE and not each.is_ready()


def _load() -> float:
    """How many processes wanted a processor in the last minute; without limit where nobody counts."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("inf")


def _started(words: Sequence[str]) -> "subprocess.Popen[bytes] | None":
    # It finds modules where this process does, and not in the current folder, where others of their names may lie.
    found = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    with suppress(OSError):
        # Ctrl-C reaches all processes of a session; the one that started this one ends it.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", IN_SHORT, str(os.getpid()), *words], env=found, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    return None
