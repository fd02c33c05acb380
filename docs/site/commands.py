"""The commands, as their parsers tell them."""

import argparse
from collections.abc import Iterator

from docs.site.text import escaped, table
from workbench.cli.main import parser


def commands() -> str:
    """Every command with its arguments, options and examples."""
    return "\n\n".join(_command(name, found) for name, found in parsers())


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The name and the parser of each command."""
    (found,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return iter(found.choices.items())


def _command(name: str, found: argparse.ArgumentParser) -> str:
    rows = [(_call(a), escaped(a.help or "")) for a in found._actions if a.dest != "help"]
    examples = (found.epilog or "").removeprefix("examples:\n")
    shown = "\n".join(line.strip() for line in examples.split("\n"))
    return "\n\n".join([
        f"(command-{name})=\n## {name}", escaped(found.description or ""), table(["argument", "meaning"], rows),
        f"```text\n{shown}\n```",
    ])  # fmt: skip


def _call(action: argparse.Action) -> str:
    """How an argument is written: `-f`, `--formulation NAME`."""
    value = action.metavar if isinstance(action.metavar, str) else "|".join(map(str, action.choices or ()))
    value = value or ("" if action.nargs == 0 else action.dest.upper())
    *others, last = action.option_strings or [""]
    names = [*others, f"{last} {value}".strip()]
    return ", ".join(f"`{name}`" for name in names).replace("|", "\\|")
