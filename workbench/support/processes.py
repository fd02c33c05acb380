"""Pools of processes that end with the block that uses them, and with the process that it is in (`lifetime`)."""

import pickle
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_all_start_methods, get_context
from pathlib import Path
from typing import Any

from workbench.support.lifetime import serve_forks, worker


@contextmanager
def processes(workers: int, imported: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes, started when work comes; they end with the block, at once where it fails.

    Where the system can they are forked from one that has imported nothing but these modules: pools that are started
    again and again then cost no imports. The first names given in a program hold for all of it.
    """
    forked = "forkserver" in get_all_start_methods()
    context = get_context("forkserver" if forked else "spawn")
    if forked:
        context.set_forkserver_preload(["workbench.support.fork_server", *imported])
    others = active_children()
    pool = (_ForkedPool if forked else ProcessPoolExecutor)(workers, context, worker)
    try:
        with _main_from_a_file():
            yield pool
    except BaseException:
        # Interrupted or failed: the workers must not work on, and one that compiles would let SIGTERM wait.
        for process in set(active_children()).difference(others):
            process.kill()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _main_from_a_file() -> Iterator[None]:
    """Context in which new processes do not try to import a main program that is no file: it came by standard input."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    if path is None or Path(path).exists():
        yield
        return
    del main.__file__
    try:
        yield
    finally:
        main.__file__ = path


class _ForkedPool(ProcessPoolExecutor):
    def submit(self, *call: Any, **named: Any) -> Future:
        serve_forks()
        return super().submit(*call, **named)


def travels(*things: object) -> bool:
    """Return whether these can be sent to another process; what cannot arrive there would take the whole pool down."""
    try:
        pickle.loads(pickle.dumps(things))
    except Exception:
        return False
    return True
