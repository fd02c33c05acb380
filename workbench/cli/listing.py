"""The command `workbench list`: what there is, by name."""

import argparse
from typing import Any


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    listing = commands.add_parser("list", help="list cases, formulations, solvers, reproductions", allow_abbrev=False)
    listing.add_argument("what", nargs="?", choices=("cases", "formulations", "solvers", "reproductions"))
    listing.set_defaults(run=run_list)


def run_list(o: argparse.Namespace) -> None:
    """Names with a line each."""
    if o.what in (None, "cases"):
        from workbench.builtin.cases import CASES

        print("cases")
        for case in CASES:
            print(f"  {case.name:<20} {case.description}")
            for name, default, unit, meaning in case.parameter_table():
                print(f"      {name} = {default:g} {unit:<6} {meaning}")
    if o.what in (None, "formulations"):
        from workbench.builtin.formulations import FORMULATIONS, SLIDING

        print("formulations")
        for f in (*FORMULATIONS, *SLIDING):
            print(f"  {f.name:<20} {f.friction}" + (f"  [{f.listed_options}]" if f.options else ""))
    if o.what in (None, "solvers"):
        from workbench.algorithms import SOLVERS, find_solver

        print("solvers")
        for name in SOLVERS:
            solver = find_solver(name)
            print(f"  {name:<20} {', '.join(sorted(solver.solves))}; guaranteed for {solver.guaranteed_for}")
        print(f"  {'cvxpy:NAME':<20} any installed CVXPY solver, for problems that are convex (conic) QPs")
    if o.what in (None, "reproductions"):
        from workbench.builtin.reports.reproductions import REPRODUCTIONS

        print("\n  ".join(["reproductions", *REPRODUCTIONS]))
