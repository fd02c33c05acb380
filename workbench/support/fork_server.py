"""First import of the server that forks workers: it ties the lifetimes of processes together.

The server ends with the process that it serves, and every forked worker ends with the server, even while importing or
compiling."""

import os
import signal

from workbench.support.lifetime import PARENT, end_with, restore_path

_server = os.getpid()


def _forked() -> None:
    """Set up a new worker; processes forked by a worker itself are not affected."""
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
