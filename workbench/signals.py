"""Signals that wait for the end of what must not stop half-way.

    with uninterrupted():
        ...

A handler that raises an exception while numba compiles leaves numba confused for the rest of the process, or crashes
it, since LLVM is compiled code that knows no exceptions; within an import it leaves half of a package.
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
"""Signals of users, shells and timers that by default end the process."""

ALL = sorted(signal.valid_signals())
_system = ctypes.CDLL(None) if os.name == "posix" else None
_waiting = False


class EndedBySignal(SystemExit):
    """What a signal that is to end the process raises: no exit that somebody's own code has asked for."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals with a handler in Python, and those of `ENDING`, act when the block has ended, each once.

    They then act as if they had just arrived: the handler of before is called, what it raises is raised by the block,
    or the process ends. Python calls handlers in the main thread only, so in other threads nothing has to wait.
    Handlers of C that Python does not know of wait too, where they replace the default of `ENDING`.
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
        # What a loop of events hears of a signal by its file it hears when the signal acts, not now as well.
        restorations.append(_deaf())
        yield
    finally:
        _waiting = False
        _run_all(restorations)
        _raise_all(came)


def _restoration(number: int) -> Callable[[], object]:
    """A function that gives the signal its present handler, as Python and as the system know it."""
    handler, action = signal.getsignal(number), ctypes.create_string_buffer(256)
    if _system:
        _system.sigaction(number, None, action)

    def restore() -> None:
        signal.signal(number, handler)
        # Python does not know of a C library's handler, nor whether system calls go on afterwards.
        if _system:
            _system.sigaction(number, action, None)

    return restore


def _deaf() -> Callable[[], object]:
    """Signals write to no file until the returned function is called."""
    file = signal.set_wakeup_fd(-1)

    def restore() -> None:
        # It may have been closed meanwhile.
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(file, warn_on_full_buffer=False)

    return restore


def _run_all(restorations: list[Callable[[], object]]) -> None:
    """All of them, although a handler that is back already may raise an exception at any moment."""
    try:
        while restorations:
            restorations[-1]()
            restorations.pop()
    except BaseException:
        _run_all(restorations)
        raise


def _raise_all(numbers: dict[int, None]) -> None:
    """All of these signals, although the handler of one may raise an exception."""
    try:
        while numbers:
            signal.raise_signal(numbers.popitem()[0])
    except BaseException:
        _raise_all(numbers)
        raise


def imported(name: str) -> ModuleType:
    """The module of this name, which no signal leaves half imported."""
    with nullcontext() if name in sys.modules else uninterrupted():
        return import_module(name)
