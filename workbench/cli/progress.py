"""Progress of long commands, and messages when a signal ends one."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from signal import SIGINT
from threading import Event, Thread
from time import monotonic
from typing import Any

from workbench.support.signals import EndedBySignal

EVERY = 5.0
"""Seconds between the lines written to a pipe."""
AT_FIRST = "loading and compiling kernels"
"""Work before the first report of progress."""


def kernels() -> int:
    """Return how many kernels this process has compiled or loaded from disk; numba is not imported for that."""
    known = getattr(sys.modules.get("workbench.engine.compiling"), "PLACES", {})
    return sum(bool(x.place) for x in list(known.values()))


class _Bar:
    """The bar, and results above it."""

    def __init__(self, bar: Any) -> None:
        self.bar, self.task = bar, bar.add_task(AT_FIRST, total=None)

    def __call__(self, label: str, done: int, total: int) -> None:
        self.bar.update(self.task, description=label, completed=done, total=total)

    def say(self, line: str) -> None:
        self.bar.console.print(line, highlight=False, markup=False)


class _Lines:
    """The latest progress, every few seconds, and results as they are computed."""

    def __init__(self) -> None:
        self.state, self.start, self.kernels = AT_FIRST, monotonic(), kernels()

    def __call__(self, label: str, done: int, total: int) -> None:
        self.state = f"{label}, {done} of {total}" if total > 1 else label

    def latest(self) -> str:
        """The state, with the number of kernels if some were compiled or loaded since the last time."""
        before, self.kernels = self.kernels, kernels()
        return f"{self.state}; {self.kernels} kernels ready" if self.kernels > before else self.state

    def say(self, line: str) -> None:
        # The reader of the pipe may be gone.
        with suppress(OSError, ValueError):
            print(f"workbench: {monotonic() - self.start:.0f} s: {line}", file=sys.stderr, flush=True)


class CommandProgress:
    """A bar on a terminal, a line every few seconds in a pipe, nothing when quiet or when the caller has set stderr.

    Results are shown as they are computed, on a terminal above the bar.
    """

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
        report = _Bar(self.bar)
        self.bar.start()
        return report

    def _in_pipe(self) -> Any:
        report = _Lines()

        def say() -> None:
            while not self.ended.wait(EVERY):
                report.say(report.latest())

        # While kernels are compiled nothing else is called.
        self.teller = Thread(target=say, daemon=True)
        self.teller.start()
        return report

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.teller is not None:
            self.teller.join()
        if self.bar is not None:
            # The terminal may be gone, which is the reason for SIGHUP.
            with suppress(OSError):
                self.bar.stop()


@contextmanager
def goes_on(kept: Callable[[], str]) -> Iterator[None]:
    """If a signal ends the block, say what is kept and that the same command resumes from there.

    `kept` returns a clause; if it is empty, nothing is printed.
    """
    try:
        yield
    except (KeyboardInterrupt, EndedBySignal) as end:
        words = kept()
        if not words:
            raise
        with suppress(OSError):
            print(f"workbench: interrupted; {words}; the same command resumes", file=sys.stderr)
        raise EndedBySignal(128 + SIGINT if isinstance(end, KeyboardInterrupt) else end.code) from None
