"""A notebook as one page that opens offline: everything that it shows, and its sliders at a few positions."""

import ast
import re
from html import escape
from pathlib import Path
from typing import Any

import marimo as mo
from jinja2 import ChoiceLoader, FileSystemLoader
from markupsafe import Markup

from docs.notebooks.static.markup import Slider, plain
from docs.notebooks.static.notebook import Cell, Notebook, Ran, positions, variants
from workbench.builtin.reports.pages.page import environment, policy

HERE = Path(__file__).parent


def page(notebook: Notebook, most: int | None = None) -> str:
    """The notebook is run. A page holds at most so many positions of each slider, if not as `positions` says."""
    ran = notebook.run()
    chosen = positions(notebook, ran, most)
    control = _controls(ran, chosen)
    # What depends on sliders comes next.
    fixed = [None if roots else output for roots, output in zip(notebook.roots(ran), ran.outputs, strict=True)]
    blocks = [_block(cell, shown(output, control)) for cell, output in zip(notebook.cells, fixed, strict=True)]
    for i, sliders, by_position in variants(notebook, ran, chosen):
        own = tuple(chosen[s].index(_nearest(chosen[s], ran.names[s].value)) for s in sliders)
        parts = [
            f'<div data-at="{" ".join(map(str, at))}"{"" if at == own else " hidden"}>{shown(output, control)}</div>'
            for at, output in by_position.items()
        ]
        if any(output is not None for output in by_position.values()):
            blocks[i]["shown"] = Markup(f'<div data-sliders="{" ".join(sliders)}">{"".join(parts)}</div>')
    script = Markup((HERE / "page.js").read_text("utf-8")) if chosen else Markup("")
    templates = environment().overlay(loader=ChoiceLoader([FileSystemLoader(HERE), environment().loader]))
    return templates.get_template("page.html.j2").render(
        title=title(notebook), name=notebook.path.name, blocks=blocks, script=script,
        policy=policy(script) if script else policy(),
    )  # fmt: skip


def title(notebook: Notebook) -> str:
    """The first heading."""
    for cell in notebook.cells:
        if found := re.search(r'mo\.md\(\s*[rf]*"+\s*# ([^"\n]+)', cell.code):
            return found[1].strip()
    raise ValueError(f"{notebook.path.name} has no heading")


def shown(output: Any, control: Slider) -> Markup:
    return Markup("" if output is None else plain(mo.as_html(output).text, control))


def _block(cell: Cell, html: Markup) -> dict[str, Any]:
    return {"code": _code(cell), "folded": cell.hidden, "shown": html}


def _code(cell: Cell) -> str:
    """What a reader wants to see of it: no prose, and of hidden cells no words that only dress a result."""
    last = ast.parse(cell.code).body[-1]
    dresses = isinstance(last, ast.Expr) and ast.unparse(last).startswith(("mo.md(", "mo.accordion(", "mo.Html("))
    kept = cell.code.splitlines()[: last.lineno - 1] if cell.hidden and dresses else cell.code.splitlines()
    return "\n".join(kept).strip()


def _controls(ran: Ran, chosen: dict[str, list[Any]]) -> Slider:
    """The control of a page for each slider, found by the id of marimo's object."""

    def control(identity: str, label: str) -> str:
        name = next(n for n in chosen if f"'{identity}'" in ran.names[n].text)
        slider, values = ran.names[name], chosen[name]
        own = values.index(_nearest(values, slider.value))
        texts = [f"{x:g}" for x in values]
        return (
            f'<label class="slider"><span>{label or escape(name)}</span> <input type="range" name="{escape(name)}" '
            f'min="0" max="{len(values) - 1}" value="{own}" data-values="{escape(" ".join(texts))}" '
            f'aria-valuetext="{texts[own]}"> <output>{texts[own]}</output></label>'
        )

    return control


def _nearest(values: list[Any], x: Any) -> Any:
    return min(values, key=lambda value: abs(value - x))
