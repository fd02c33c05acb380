"""A peer in a process of its own, which stays: for peers that may abort, run for ever or need another interpreter."""

import atexit
import os
import select
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

from benchmarks.children.channel import receive, send
from benchmarks.harness import LIMIT, Failed, Missing

START = 60.0
"""Seconds that a child may take to import what it needs."""
GROWN = 1_000_000_000
"""Bytes above which a child is replaced: some solvers leak hundreds of megabytes a solve."""


@dataclass
class Child:
    """Answers questions as `channel.serve` does; one that dies or takes too long fails and is replaced."""

    command: list[str]
    limit: float = LIMIT
    folder: Path | None = None
    process: Any = field(default=None, init=False)

    def start(self) -> None:
        """Raises Missing where the child does not come up."""
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(self.folder or ""),
        }
        try:
            self.process = subprocess.Popen(
                self.command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, cwd=self.folder
            )
        except OSError as error:
            raise Missing(f"{self.command[0]}: {error.strerror}") from None
        atexit.register(self.stop)
        try:
            self.answer(START)
        except Failed as error:
            lines = self.process.stderr.read().decode(errors="replace").splitlines()
            self.stop()
            raise Missing(lines[-1] if lines else str(error)) from None

    def ask(self, words: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The answer to a question; Failed where there is none."""
        if self.process is None:
            self.start()
        try:
            send(self.process.stdin, words, arrays)
            words, arrays = self.answer(self.limit)
        except BrokenPipeError:
            self.stop()
            raise Failed("the process had died") from None
        except Failed:
            self.stop()
            raise
        if words.get("resident", 0) > GROWN:
            self.stop()
        if "failed" in words:
            raise Failed(words["failed"])
        return words, arrays

    def answer(self, seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            raise Failed(f"no answer within {seconds:g} s")
        try:
            return receive(self.process.stdout)
        except EOFError:
            raise Failed(f"the process died (exit {self.process.wait()})") from None

    def stop(self) -> None:
        """End the process, the only one this object has started."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
