"""What must not disturb numba while it compiles: signals wait, and no garbage is collected."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.engine.numba_internals import Listener, register_listener
from workbench.signals import uninterrupted


@contextmanager
def no_collection() -> Iterator[None]:
    """Compiling makes millions of objects, and the garbage collector would go through them for a fifth of the time.

    It goes through them once, before this ends: else whatever makes the next object would pay for that.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
            if gc.get_count()[0] > gc.get_threshold()[0]:
                gc.collect(0)


class _Uninterrupted(Listener):
    """Signals wait while the main thread holds numba's lock: for kernels, and for all else that numba compiles."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def on_start(self, event: Any) -> None:
        """The lock is about to be taken, maybe once more."""
        if threading.current_thread() is threading.main_thread():
            waiting = uninterrupted()
            waiting.__enter__()
            self.held.append(waiting)

    def on_end(self, event: Any) -> None:
        """It has been given back."""
        if threading.current_thread() is threading.main_thread():
            self.held.pop().__exit__(None, None, None)


register_listener("numba:compiler_lock", _Uninterrupted())
