"""The option `--print-completion`: a script that completes words in a shell, including names of cases and so on."""

import argparse
from collections.abc import Iterator
from typing import Any

import shtab


def add_option(top: argparse.ArgumentParser) -> None:
    """Add the option to the parser of the whole command line."""
    words = "print a completion script for this shell and exit"
    top.add_argument("--print-completion", choices=shtab.SUPPORTED_SHELLS, action=_Print, help=words)


class _Print(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        print(script(parser, values))
        parser.exit(0)


def script(top: argparse.ArgumentParser, shell: str) -> str:
    """The script for bash, zsh or tcsh; it knows the names that exist when it is made, and in bash and zsh file names.

    An argument takes names by its destination: `case`, `formulation`, `solver`, `metric`.
    """
    from workbench.verbs.registries import BY_KIND

    kinds = (BY_KIND[kind][0] for kind in ("cases", "formulations", "solvers", "metrics"))
    names = {registry.kind: " ".join(registry.names) for registry in kinds}
    for action in _actions(top):
        if action.dest in names:
            action.complete = {"bash": f"_workbench_{action.dest}", "zsh": f"_workbench_{action.dest}"}  # type: ignore[attr-defined]
    own = {
        "bash": '_workbench_{}() {{ compgen -W "{}" -- "$1"; compgen -f -- "$1"; }}',
        "zsh": "_workbench_{}() {{ compadd -- {}; _files }}",
    }
    functions = [own[shell].format(*of_kind) for of_kind in names.items()] if shell in own else []
    return shtab.complete(top, shell, preamble="\n".join(functions))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
