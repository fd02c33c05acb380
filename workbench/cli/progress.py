"""A progress bar for the commands that take long, and what is said of one that a signal ends."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from signal import SIGINT
from typing import Any

from workbench.signals import EndedBySignal


class Progress:
    """A progress bar on a terminal, None (nothing) in a pipe or when quiet."""

    def __init__(self, quiet: bool) -> None:
        self.shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Any:
        if not self.shown:
            return None
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        task = self.bar.add_task("compiling", total=None)
        self.bar.start()

        def report(label: str, done: int, total: int) -> None:
            self.bar.update(task, description=label, completed=done, total=total)

        return report

    def __exit__(self, *_: object) -> None:
        if self.shown:
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
