"""The command `workbench list`: formulations, cases, solvers and so on, by name."""

import argparse
import textwrap
from typing import Any

from workbench.cli.parsing import WIDTH, command
from workbench.support.errors import WorkbenchError, meant
from workbench.support.output import json_text

KINDS = ("cases", "scenes", "formulations", "solvers", "metrics", "reproductions")


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    listing = command(
        commands, "list", "list cases, scenes, formulations, solvers, metrics and reproductions, or describe one",
        "list", "list cases", "list wheel", "list solvers", "list lemke",
    )  # fmt: skip
    listing.add_argument(
        "what", nargs="?", metavar="KIND|NAME", help=f"{', '.join(KINDS)}; or the name of one of these"
    )
    listing.add_argument("--json", action="store_true", help="print the result as JSON")
    listing.set_defaults(run=run_list)


def run_list(o: argparse.Namespace) -> None:
    """Print all names; those of one kind with a line each; or details of one item."""
    if o.what is None and not o.json:
        for kind, names in _names().items():
            print(
                textwrap.fill(
                    ", ".join(names),
                    WIDTH,
                    initial_indent=f"{kind + ':':<15}",
                    subsequent_indent=" " * 15,
                    break_on_hyphens=False,
                )
            )
        return
    lists = _lists()
    if o.json:
        print(json_text(_records(o.what, lists)))
        return
    if o.what in lists:
        for name, line in lists[o.what].items():
            short = textwrap.shorten(line, WIDTH - 23, placeholder=" ...")
            print(f"{name:<22} {short}".rstrip())
        if o.what == "solvers":
            from workbench.builtin.reports.text.solver_table import table
            from workbench.verbs.registries import solver_cells

            print(f"\n{table(solver_cells())}")
        return
    details = _details(o.what) or _line(o.what, lists)
    print(details)


def _line(name: str, lists: dict[str, dict[str, str]]) -> str:
    """The line about a name in a list. Raises WorkbenchError for an unknown name."""
    known = next((names[name] or "a reproduction" for names in lists.values() if name in names), None)
    if known is None:
        everything = [*KINDS, *(name for names in lists.values() for name in names)]
        raise WorkbenchError(
            f"unknown kind or name '{name}'; {meant(name, everything)}kinds: {', '.join(KINDS)} "
            "(all names: workbench list)"
        )
    return f"{name}: {known}"


def _records(what: str | None, lists: dict[str, dict[str, str]]) -> Any:
    """The output of `list` for programs; for solvers the cells of their table."""
    from workbench.verbs.registries import solver_cells

    if what == "solvers":
        return [cell._asdict() for cell in solver_cells()]
    if what in lists:
        return lists[what]
    if what is None:
        return lists
    cells = [cell._asdict() for cell in solver_cells(what)]
    return cells or {"name": what, "text": _details(what) or _line(what, lists)}


GENERIC = {"cvxpy:NAME": "any installed CVXPY solver, for problems that are convex (conic) QPs"}


def _names() -> dict[str, list[str]]:
    """The names of every kind, without importing the objects."""
    from workbench.builtin.reports.reproductions import REPRODUCTIONS
    from workbench.verbs.registries import BY_KIND

    names = {kind: [name for r in registries for name in r.names] for kind, registries in BY_KIND.items()}
    names["solvers"] += GENERIC
    return names | {"reproductions": [*REPRODUCTIONS]}


def _lists() -> dict[str, dict[str, str]]:
    """The names of every kind with a line each."""
    from workbench.builtin.reports.reproductions import REPRODUCTIONS
    from workbench.verbs.registries import BY_KIND

    lists = {k: {name: x for r in some for name, x in r.lines().items()} for k, some in BY_KIND.items()}
    lists["solvers"] |= GENERIC
    return lists | {"reproductions": dict.fromkeys(REPRODUCTIONS, "")}


def _details(name: str) -> str | None:
    """A case with its parameters, a formulation with its options, a solver with its theoretical guarantees."""
    from workbench.builtin.reports.text.check import in_lines
    from workbench.verbs.registries import BY_KIND, solver_cells

    (cases,), (scenes,), formulations = (BY_KIND[kind] for kind in ("cases", "scenes", "formulations"))
    (solvers,), (metrics,) = BY_KIND["solvers"], BY_KIND["metrics"]
    if name in scenes or name in cases or _is_place_of(cases, name):
        case = scenes.find(name)() if name in scenes else cases.find(name)
        values = [(f"{key} = {x:g} {unit}", meaning) for key, x, unit, meaning in case.parameter_table()]
        width = max((len(value) for value, _ in values), default=0)
        table = [f"  {value:<{width}}  {meaning}" for value, meaning in values]
        return "\n".join([in_lines(f"{name}: {case.description}"), in_lines(case.source), "", *table])
    if any(name in registry for registry in formulations) or _is_place_of(formulations[0], name):
        f = next((registry for registry in formulations if name in registry), formulations[0]).find(name)
        table = [textwrap.indent(in_lines(f"{key} = {values}"), "  ") for key, values in f.described_options.items()]
        return "\n".join([in_lines(f"{name}: {f.friction}"), in_lines(f.source), "", *(table or ["  no options"])])
    if name in solvers:
        from workbench.builtin.reports.text.solver_table import row
        from workbench.verbs.find import find_solver

        solver = find_solver(name)
        said = [f"{name}: {', '.join(sorted(solver.solves))}", f"guaranteed for {solver.guaranteed_for}"]
        return "\n".join([*map(in_lines, said), "", row(solver_cells(name))])
    return in_lines(f"{name}: {metrics.lines()[name]}") if name in metrics else None


def _is_place_of(registry: Any, name: str) -> bool:
    """Return whether there is an object of this kind at a place in user-defined code."""
    if ":" not in name and not name.endswith(".py"):
        return False
    try:
        return bool(registry.find(name))
    except WorkbenchError:
        return False
