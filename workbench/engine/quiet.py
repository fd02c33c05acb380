"""Protection of numba's compilation: signals are deferred, and garbage collection is disabled."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.engine.numba_internals import Listener, register_listener
from workbench.support.signals import uninterrupted


@contextmanager
def no_collection() -> Iterator[None]:
    """Disable the garbage collector during compilation, which makes millions of objects.

    Traversing them would take a fifth of the time.

    One collection is made before this ends, since otherwise the next allocation elsewhere would trigger it.
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
    """Deferral of signals while the main thread holds numba's lock, for kernels and all else that numba compiles."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def on_start(self, event: Any) -> None:
        """Called before the lock is acquired, possibly once more."""
        if threading.current_thread() is threading.main_thread():
            waiting = uninterrupted()
            waiting.__enter__()
            self.held.append(waiting)

    def on_end(self, event: Any) -> None:
        """Called after the lock is released."""
        if threading.current_thread() is threading.main_thread():
            self.held.pop().__exit__(None, None, None)


register_listener("numba:compiler_lock", _Uninterrupted())
