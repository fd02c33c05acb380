"""How far the commands are that take long, and what is said of one that a signal ends."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from signal import SIGINT
from threading import Event, Thread
from time import monotonic
from typing import Any

from workbench.signals import EndedBySignal

EVERY = 5.0
"""Seconds between the lines that a pipe gets."""


class CommandProgress:
    """A bar on a terminal, in a pipe a line every few seconds, nothing when quiet or where stderr is somebody's own."""

    def __init__(self, quiet: bool) -> None:
        self.bar: Any = None
        self.ended = Event()
        self.teller: Thread | None = None
        self.quiet = quiet

    def __enter__(self) -> Any:
        if self.quiet:
            return None
        if sys.stderr.isatty():
            return self._on_terminal()
        return self._in_pipe() if sys.stderr is sys.__stderr__ else None

    def _on_terminal(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        task = self.bar.add_task("compiling", total=None)
        self.bar.start()

        def report(label: str, done: int, total: int) -> None:
            self.bar.update(task, description=label, completed=done, total=total)

        return report

    def _in_pipe(self) -> Any:
        state, start = ["compiling"], monotonic()

        def say() -> None:
            while not self.ended.wait(EVERY):
                # Whoever reads the pipe may be gone.
                with suppress(OSError, ValueError):
                    print(f"workbench: {monotonic() - start:.0f} s: {state[0]}", file=sys.stderr, flush=True)

        def report(label: str, done: int, total: int) -> None:
            state[0] = f"{label}, {done} of {total}"

        # While kernels are compiled nothing else is called.
        self.teller = Thread(target=say, daemon=True)
        self.teller.start()
        return report

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.teller is not None:
            self.teller.join()
        if self.bar is not None:
            # The terminal may be gone, which is what SIGHUP says.
            with suppress(OSError):
                self.bar.stop()


@contextmanager
def goes_on(kept: Callable[[], str]) -> Iterator[None]:
    """Where a signal ends the block, say what is kept and that the same command goes on from there.

    What `kept` returns is a clause; where it is empty, nothing is said here.
    """
    try:
        yield
    except (KeyboardInterrupt, EndedBySignal) as end:
        words = kept()
        if not words:
            raise
        with suppress(OSError):
            print(f"workbench: interrupted; {words}, the same command goes on", file=sys.stderr)
        raise EndedBySignal(128 + SIGINT if isinstance(end, KeyboardInterrupt) else end.code) from None
