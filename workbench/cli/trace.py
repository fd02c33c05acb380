"""The command `workbench trace`: a pivoting method on a small LCP, step by step."""

import argparse
import shlex
from contextlib import nullcontext
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.words import whole_if_given
from workbench.support.errors import WorkbenchError
from workbench.support.output import json_text, page_path


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    trace = command(
        commands, "trace", "run an LCP solver step by step: pivots, ratios, tableaux in fractions",
        "trace problem.csv --rhs q.csv", "trace '[2 1; 1 2]' --rhs '[-5; -6]' --tableau",
        "trace problem.json --solver keller --out page.html",
        "trace '[1 2 0; 0 1 2; 2 0 1]' --rhs '[-1; -1; -1]' --ties first",
    )  # fmt: skip
    trace.add_argument(
        "file", help="file with M, or with M and q (see: workbench check --help), or M in brackets; at most 12 unknowns"
    )
    trace.add_argument("--rhs", metavar="FILE", help="q, as a row or a column; default: the q of the file")
    trace.add_argument(
        "--solver", metavar="NAME", default="lemke", help="lemke, murty, judice-pires, keller or pgs; default: lemke"
    )
    trace.add_argument(
        "--ties", metavar="RULE", default="lexicographic",
        help="tie-breaking rule of Lemke's ratio test: lexicographic, or first (the topmost row, which may cycle); "
        "default: lexicographic",
    )  # fmt: skip
    trace.add_argument("--exact", action="store_true", help="run pgs in fractions instead of doubles")
    trace.add_argument("--max-steps", metavar="N", help="maximum number of steps; default: 1000, with --exact 10")
    trace.add_argument(
        "--tableau", action="store_true", help="also print every tableau, in fractions, with the next pivot in []"
    )
    trace.add_argument("--latex", action="store_true", help="print the steps as LaTeX with booktabs")
    trace.add_argument("--json", action="store_true", help="print the result as JSON")
    trace.add_argument(
        "--out",
        type=page_path,
        metavar="FILE.html",
        help="also write a page, with a picture for two or three unknowns",
    )
    trace.set_defaults(run=run_trace)


def run_trace(o: argparse.Namespace) -> None:
    """Print every step in the terminal, as LaTeX or JSON, and as a page; any end of the method is success."""
    if o.json and o.latex:
        raise WorkbenchError("--json and --latex exclude each other; give one of them")
    from workbench.builtin.reports.text.trace import as_data, to_text
    from workbench.builtin.reports.text.trace_latex import to_latex
    from workbench.support.output import provenance, replaced
    from workbench.verbs.trace import trace

    with replaced(o.out) if o.out else nullcontext() as page:
        found = trace(
            o.file, rhs=o.rhs, solver=o.solver, max_steps=whole_if_given(o.max_steps, "--max-steps"),
            ties=o.ties, exact=o.exact,
        )  # fmt: skip
        if page:
            facts = provenance(file=o.file, rhs=o.rhs or "", command=f"workbench {shlex.join(o.words)}")
            page.write_bytes(found.html(facts).encode())
    if o.json:
        print(json_text(as_data(found.trace, found.title, found.judged, o.tableau)))
    elif o.latex:
        print(to_latex(found.trace, found.title, o.tableau))
    else:
        print(to_text(found.trace, found.title, o.tableau) + (f"\npage: {o.out}" if o.out else ""))
