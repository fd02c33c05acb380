"""What the server that forks workers imports before all else: from then on it ends with the process that it serves,
and every worker that it forks ends with it, whatever either is importing or compiling."""

import os
import signal

from workbench.lifetime import PARENT, end_with, restore_path

_server = os.getpid()


def _forked() -> None:
    """In a new worker; what a worker itself forks is no concern of the server's."""
    global _server
    if _server:
        end_with(_server)
        _server = 0


if PARENT in os.environ:
    # Ctrl-C reaches all processes of a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent, _, path = os.environ.pop(PARENT).partition(" ")
    end_with(int(parent))
    restore_path(path)
    os.register_at_fork(after_in_child=_forked)
