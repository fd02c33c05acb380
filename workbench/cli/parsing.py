"""The parser of the command line: errors in one line, examples below the help of every command."""

import argparse
from typing import Any, NoReturn

from workbench.support.errors import WorkbenchError, meant

WIDTH = 100
"""Columns of a terminal."""


class Parser(argparse.ArgumentParser):
    """Reports errors in one line, exit code 2; for a word that is not a choice, suggests the nearest one."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            what = action.metavar or "/".join(action.option_strings) or action.dest
            raise WorkbenchError(
                f"{what} '{value}' is unknown; {meant(str(value), known)}known: {', '.join(known)} "
                f"(see {self.prog} --help)"
            )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse unknown options here: argparse leaves those of a command to the parser of all commands."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        raise WorkbenchError(f"{message} (see {self.prog} --help)")


def command(commands: Any, name: str, words: str, *examples: str) -> argparse.ArgumentParser:
    """Add a command of this name: its description, and examples of its use without the leading `workbench`."""
    shown = "\n".join(f"  workbench {example}" for example in examples)
    stop = "" if words.endswith("?") else "."
    return commands.add_parser(
        name, help=words, description=f"{words[0].upper()}{words[1:]}{stop}", epilog=f"examples:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
