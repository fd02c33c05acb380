"""Processes that end with their parent process, however that ends.

On Linux the kernel kills them (prctl(2), PR_SET_PDEATHSIG), even while compiled code holds the Python interpreter. On
every system a thread of a worker waits for the end of the parent; it acts as soon as it gets the interpreter.
"""

import ctypes
import os
import signal
import sys
from functools import cache
from multiprocessing import parent_process
from threading import Event, Thread

PARENT = "WORKBENCH_FORKS_FOR"
"""Environment variable with the process number that a fork server works for, followed by a blank and the PYTHONPATH of
that process."""
SAFE_PATH, OURS = "PYTHONSAFEPATH", "for the server of forks"
"""Environment variable, and its value, that keeps Python from searching the current folder first, which may contain a
user's package named `workbench`."""
PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Have the kernel kill this process when its parent, the process with this number, ends (Linux only).

    The kernel takes the end of the thread that started this process as the parent's end.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            # The parent has already ended.
            os._exit(1)


def worker() -> None:
    """Set up a worker; call this first."""
    # Ctrl-C reaches all processes of a terminal; the parent process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


@cache
def serve_forks() -> None:
    """Start the server that forks this process's workers (`workbench.support.fork_server`), once.

    It is started from a permanent thread, since the server ends with the thread; others may belong to a notebook or a
    pool.
    """
    from multiprocessing.forkserver import ensure_running

    running = Event()

    def start() -> None:
        before = os.environ.get("PYTHONPATH", "")
        os.environ[PARENT] = f"{os.getpid()} {before}"
        # The server must find modules where this process does.
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
    """Restore PYTHONPATH in the environment (unset if empty), and remove the other variables of `serve_forks`."""
    del os.environ["PYTHONPATH"]
    if os.environ.get(SAFE_PATH) == OURS:
        del os.environ[SAFE_PATH]
    if before:
        os.environ["PYTHONPATH"] = before
