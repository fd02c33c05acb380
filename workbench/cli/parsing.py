"""The parser of the command line: errors in one line, examples below the help of every command."""

import argparse
from typing import Any, NoReturn

from workbench.errors import WorkbenchError


class Parser(argparse.ArgumentParser):
    """Errors as one line that says what is wrong, exit code 2."""

    def error(self, message: str) -> NoReturn:
        raise WorkbenchError(f"{message} (see {self.prog} --help)")


def command(commands: Any, name: str, words: str, *examples: str) -> argparse.ArgumentParser:
    """A command of this name: what it does in words, and examples of its use without the leading `workbench`."""
    shown = "\n".join(f"  workbench {example}" for example in examples)
    return commands.add_parser(
        name, help=words, description=f"{words[0].upper()}{words[1:]}.", epilog=f"examples:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
