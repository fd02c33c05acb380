"""A progress bar for the commands that take long."""

import sys
from contextlib import suppress
from typing import Any


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
