"""Processes that end with the process that started them, in whatever way that one ends.

On Linux the kernel kills them (prctl(2), PR_SET_PDEATHSIG), also while compiled code holds Python's interpreter. On
every system a thread of a worker waits for the parent's end; it acts as soon as it gets the interpreter.
"""

import ctypes
import os
import signal
import sys
from functools import cache
from multiprocessing import parent_process
from threading import Event, Thread

PARENT = "WORKBENCH_FORKS_FOR"
"""Entry of the environment that tells a server of forks the number of the process that it works for, and behind a blank
the PYTHONPATH of that process."""
SAFE_PATH, OURS = "PYTHONSAFEPATH", "for the server of forks"
"""Entry of the environment, and its value, that keeps Python from looking in the current folder first, where somebody's
own package `workbench` may lie."""
PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """This process, a child of the process with this number, is killed when its parent ends. Only Linux does that.

    The kernel takes the end of the thread that started this process for the parent's.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            # It ended before.
            os._exit(1)


def worker() -> None:
    """The first thing that a worker does."""
    # Ctrl-C reaches all processes of a terminal; the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


@cache
def serve_forks() -> None:
    """Start the server that forks this process' workers (`workbench.fork_server`), once.

    A thread that lasts starts it, since the server ends with the thread: another one may be a notebook's, or a pool's.
    """
    from multiprocessing.forkserver import ensure_running

    running = Event()

    def start() -> None:
        before = os.environ.get("PYTHONPATH", "")
        os.environ[PARENT] = f"{os.getpid()} {before}"
        # It finds modules where this process does.
        os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
        os.environ.setdefault(SAFE_PATH, OURS)
        try:
            ensure_running()
        finally:
            restore_path(before)
            del os.environ[PARENT]
            running.set()
        Event().wait()

    Thread(target=start, daemon=True).start()
    running.wait()


def restore_path(before: str) -> None:
    """Give the environment this PYTHONPATH, none where it is empty, and what else `serve_forks` has put there."""
    del os.environ["PYTHONPATH"]
    if os.environ.get(SAFE_PATH) == OURS:
        del os.environ[SAFE_PATH]
    if before:
        os.environ["PYTHONPATH"] = before
