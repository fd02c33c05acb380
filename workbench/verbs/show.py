"""`show`: the mathematics of a formulation, printed from the declaration that is solved."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from textwrap import indent
from typing import TYPE_CHECKING, Any

from workbench.builtin.cases import CASES
from workbench.builtin.reports.text.check import in_lines
from workbench.builtin.reports.text.problem import problem_text
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import Compiled
from workbench.language.formulation import ContactSymbols, Formulation
from workbench.language.notation import latex_page, text_page
from workbench.mechanics.case import Case
from workbench.step.one_step import first_problem
from workbench.step.sliding.system import SlidingSystem, pose_sliding
from workbench.support.errors import WorkbenchError
from workbench.verbs.find import find_case, find_formulation
from workbench.verbs.results import Result
from workbench.verbs.scene import is_scene, scene
from workbench.verbs.show_scene import ShownScene

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Shown(Result):
    """A formulation for the size of a case: `text`, `latex` (a document), `options` with their values."""

    formulation: Formulation
    case: Case = field(repr=False)
    compiled: Compiled = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.formulation.label}: {self.formulation.friction}"

    @cached_property
    def text(self) -> str:
        c = self.compiled
        head = [*map(in_lines, (self.title, self.formulation.source)), "", f"size of {self.case.name}: {c.symbols}", ""]
        described = self.formulation.described_options.items()
        options = [indent(in_lines(f"{name} = {shown}"), "  ") for name, shown in described]
        tail = ["", "options", *options] if options else []
        return "\n".join([*head, text_page(c.declaration, c.kind), *tail])

    @cached_property
    def latex(self) -> str:
        return latex_page(self.compiled.declaration, self.title)

    def numbers(self, step: float = 1e-3) -> str:
        """The assembled problem of the case's first step of `step` [s], row by row."""
        f, case, c = self.formulation, self.case, self.compiled
        if f.symbols is ContactSymbols:
            problem, where = first_problem(case, f, step, case.normal), f"first step, h = {step:g} s"
        else:
            problem, where = pose_sliding(f, _sliding_system(case))[0], "at the start"
        entries = [f"{u.name()}[{i}]" for u in c.declaration.partners for i in range(u.size)]
        return problem_text(problem, f"{case.name}, {where}", entries)

    @property
    def words(self) -> list[str]:
        return self.text.split("\n")[1:]

    @property
    def drawn(self) -> str:
        """The cross-section of friction that the declaration admits, with Coulomb's disc, if there is one."""
        from workbench.builtin.reports.figures.styles import dashes, palette
        from workbench.builtin.reports.figures.tangent_plane import thumbnail
        from workbench.diagnostics.friction_section import friction_section

        f = self.formulation
        try:
            section, sliding = friction_section(f), friction_section(f, slides=True)
        except WorkbenchError:
            # A declaration for a case in the plane may be refused in space.
            return ""
        if section is None or sliding is None:
            return ""
        (colour,), (dash,) = palette([f.label]), dashes([f.label])
        return thumbnail(section, sliding, colour, dash, f"{self.title}: cross-section of the friction admitted")

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per option: name, default, allowed values."""
        import pandas as pd

        rows = list(self.formulation.described_options.items())
        return pd.DataFrame(rows, columns=["option", "values"])

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"options": self.frame}


def show(formulation: Any, case: str | Case | None = None) -> Shown | ShownScene:
    """Return relations, sets, problem class, block matrix and options of a formulation, for the size of a case; for a
    scene, or a model's file, its contents.

    The default case is the wheel, for sliding formulations the rod in its guide. Raises WorkbenchError.

    >>> import workbench as wb
    >>> print(wb.show("frictionless").text.split("\\n")[0])
    frictionless: none
    """
    if is_scene(formulation):
        return ShownScene.of(scene(formulation))
    f = find_formulation(formulation)
    steps = f.symbols is ContactSymbols
    found = find_case(case or ("wheel" if steps else "rod-in-guide"))
    return Shown(f, found, compiled(f, *(found.size if steps else _sliding_system(found).size)))


def _sliding_system(case: Case) -> SlidingSystem:
    """The sliding contacts of a case at its start."""
    own: Any = getattr(case, "sliding_system", None)
    if own is None:
        able = ", ".join(name for name in CASES.bundled if hasattr(CASES.find(name), "sliding_system"))
        raise WorkbenchError(f"{case.name} does not give its sliding contacts; cases that do: {able}")
    return own(*case.start())
