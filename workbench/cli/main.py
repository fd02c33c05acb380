"""The command line. Heavy imports happen inside the commands."""

import argparse
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from workbench.cli import (
    check,
    compare,
    completion,
    convergence,
    exam,
    export,
    files,
    fit,
    flow,
    follow,
    index,
    judge,
    listing,
    painleve,
    reality,
    report,
    reproduce,
    sensitivity,
    show,
    slides,
    study,
    trace,
    verify,
)
from workbench.cli.parsing import Parser
from workbench.support import __version__
from workbench.support.errors import WorkbenchError
from workbench.support.signals import ENDING, EndedBySignal

COMMANDS = (
    compare, follow, convergence, sensitivity, fit, study, flow, reality, exam, report, index, slides, reproduce, show,
    check, judge, trace, verify, files, export, painleve, listing,
)  # fmt: skip
"""In the order of the help."""
NUMERIC = ("--step", "--duration", "--reference-step", "--time-limit", "--at", "--slip")


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = Parser(
        prog="workbench",
        description="Declare, solve, judge and compare formulations of frictional contact.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"workbench {__version__}")
    completion.add_option(top)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for command in COMMANDS:
        command.add_command(commands)
    return top


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Parse the options of these words, and the `words` themselves. Raises WorkbenchError for unknown ones."""
    return parser().parse_args(_join_numbers(arguments), argparse.Namespace(words=arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 on success, 2 on a mistake, reported in one line, 128 + n when ended by signal n."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    # Matrices are small and work is distributed to processes: BLAS threads would wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # As on stderr: a terminal or a pipe may have no sign for μ, and the work is done when that shows.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _signals_exit():
            options = parsed(arguments)
            options.run(options)
    except WorkbenchError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("workbench: interrupted, nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output closed it (`| head`), so an error message would be of no use.
        sys.stderr.close()
        return 0
    return 0


@contextmanager
def _signals_exit() -> Iterator[None]:
    """Make signals that would end the process at once exit as Ctrl-C does: temporary folders and workers go too."""

    def leave(number: int, _: object) -> NoReturn:
        raise EndedBySignal(128 + number)

    taken = []
    try:
        if threading.current_thread() is threading.main_thread():
            # Signals that the caller handles or ignores, as `nohup` does, are left unchanged.
            taken = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
            for number in taken:
                signal.signal(number, leave)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _join_numbers(arguments: list[str]) -> list[str]:
    """`--step 1e-3 1e-2` and `--step -1e-3` as `--step=1e-3,1e-2` and `--step=-1e-3`, which argparse understands."""
    joined: list[str] = []
    i = 0
    while i < len(arguments):
        word = arguments[i]
        i += 1
        if word in NUMERIC:
            values: list[str] = []
            while i < len(arguments) and (not values or word == "--step") and _is_number(arguments[i]):
                values.append(arguments[i])
                i += 1
            word = f"{word}={','.join(values)}" if values else word
        joined.append(word)
    return joined


def _is_number(word: str) -> bool:
    try:
        return all(float(part) is not None for part in word.split(","))
    except ValueError:
        return False
