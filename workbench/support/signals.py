"""Deferral of signals until the end of a block that must not be interrupted.

    with uninterrupted():
        ...

A handler that raises an exception while numba compiles leaves numba in an inconsistent state for the rest of the
process, or crashes it, since LLVM is compiled code without exceptions; within an import it leaves half a package.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from types import ModuleType

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name)]
"""Signals of users, shells and timers that end the process by default."""

ALL = sorted(signal.valid_signals())
_system = ctypes.CDLL(None) if os.name == "posix" else None
_waiting = False


class EndedBySignal(SystemExit):
    """Raised by a signal that is to end the process, as opposed to an exit requested by user code."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer signals with a Python handler, and those of `ENDING`, to the end of the block, each once.

    They then act as if they had just arrived: the previous handler is called, its exception is raised by the block, or
    the process ends. Python calls handlers in the main thread only, so in other threads nothing is deferred. C handlers
    unknown to Python are deferred too, if they replace the default of `ENDING`.
    """
    global _waiting
    if _waiting or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: dict[int, None] = {}
    restorations: list[Callable[[], object]] = []
    try:
        _waiting = True
        for number in ALL:
            before = signal.getsignal(number)
            if callable(before) or (number in ENDING and before is signal.SIG_DFL):
                restorations.append(_restoration(number))
                signal.signal(number, lambda number, _: came.setdefault(number))
        # An event loop that is notified of signals through a file hears of them when they act, not already now.
        restorations.append(_deaf())
        yield
    finally:
        _waiting = False
        _run_all(restorations)
        _raise_all(came)


def _restoration(number: int) -> Callable[[], object]:
    """Return a function that restores the signal's present handler, both Python's and the system's."""
    handler, action = signal.getsignal(number), ctypes.create_string_buffer(256)
    if _system:
        _system.sigaction(number, None, action)

    def restore() -> None:
        signal.signal(number, handler)
        # Python knows neither the handler of a C library nor whether system calls are restarted afterwards.
        if _system:
            _system.sigaction(number, action, None)

    return restore


def _deaf() -> Callable[[], object]:
    """Keep signals from writing to any file until the returned function is called."""
    file = signal.set_wakeup_fd(-1)

    def restore() -> None:
        # It may have been closed in the meantime.
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(file, warn_on_full_buffer=False)

    return restore


def _run_all(restorations: list[Callable[[], object]]) -> None:
    """Call all of them, although a restored handler may raise an exception at any moment."""
    try:
        while restorations:
            restorations[-1]()
            restorations.pop()
    except BaseException:
        _run_all(restorations)
        raise


def _raise_all(numbers: dict[int, None]) -> None:
    """Raise all of these signals, although the handler of one may raise an exception."""
    try:
        while numbers:
            signal.raise_signal(numbers.popitem()[0])
    except BaseException:
        _raise_all(numbers)
        raise


def imported(name: str) -> ModuleType:
    """Import the module of this name, without leaving it half imported on a signal."""
    with nullcontext() if name in sys.modules else uninterrupted():
        return import_module(name)
