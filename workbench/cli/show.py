"""The command `workbench show`: the mathematics of a formulation, from its declaration."""

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli.words import find_case, find_formulation, number_option
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.mechanics.case import Case


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    show = commands.add_parser(
        "show", help="print the mathematics of a formulation from its declaration", allow_abbrev=False
    )
    show.add_argument("formulation", metavar="NAME[:OPTION=VALUE,...]")
    show.add_argument("--case", help="size and numbers of this case; default: wheel")
    show.add_argument("--latex", action="store_true", help="a LaTeX document instead of text")
    show.add_argument("--numbers", action="store_true", help="also the assembled numbers at the case's first step")
    show.add_argument("--step", default="1e-3", metavar="H", help="step for --numbers [s]; default 1e-3")
    show.set_defaults(run=run_show)


def run_show(o: argparse.Namespace) -> None:
    """Relations, sets, class and block matrix of a declaration; with --numbers the assembled problem."""
    formulation = find_formulation(o.formulation)
    from workbench.assemble.find import compiled
    from workbench.language.formulation import ContactSymbols
    from workbench.language.notation import latex_page, text_page

    steps = formulation.symbols is ContactSymbols
    case = find_case(o.case or ("wheel" if steps else "rod-in-guide"))
    c = compiled(formulation, *(case.size if steps else _sliding_system(case).size))
    if o.latex:
        print(latex_page(c.declaration, f"{formulation.label}: {formulation.friction}"))
    else:
        print(f"{formulation.label}: {formulation.friction}\n{formulation.source}\n")
        print(f"size of {case.name}: {c.symbols}\n")
        print(text_page(c.declaration, c.kind))
    if o.numbers:
        from workbench.builtin.reports.text.terminal import problem_text
        from workbench.sliding.system import pose_sliding
        from workbench.step.one_step import first_problem

        h = number_option(o.step, "--step", "seconds")
        if steps:
            problem, where = first_problem(case, formulation, h, case.normal), f"first step, h = {h:g} s"
        else:
            problem, where = pose_sliding(formulation, _sliding_system(case))[0], "at the start"
        comment = "% " if o.latex else ""
        entries = [f"{u.name()}[{i}]" for u in c.declaration.partners for i in range(u.size)]
        text = problem_text(problem, f"{case.name}, {where}", entries)
        print("\n".join(comment + line for line in ["", *text.split("\n")]))


def _sliding_system(case: "Case") -> Any:
    """The sliding contacts of a case at its start."""
    from workbench.builtin.cases import CASES

    if not hasattr(case, "sliding_system"):
        able = ", ".join(c.name for c in CASES if hasattr(c, "sliding_system"))
        raise WorkbenchError(f"{case.name} does not give its sliding contacts; cases that do: {able}")
    return case.sliding_system(*case.start())
