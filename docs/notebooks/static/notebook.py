"""A notebook as a list of cells, and what they show for every position of the sliders."""

import ast
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import marimo as mo
import numpy as np

POSITIONS = {1: 7, 2: 4, 3: 3}
"""Positions of a slider that a page holds, by the number of sliders that a cell depends on."""


@dataclass(frozen=True)
class Cell:
    """`code` as typed; it `reads` names of earlier cells and `gives` names to later ones."""

    name: str
    code: str
    reads: tuple[str, ...]
    gives: tuple[str, ...]
    hidden: bool

    def evaluate(self, known: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """What the cell shows, and the names that it gives."""
        names = {name: known[name] for name in self.reads}
        tree = ast.parse(self.code)
        shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {self.name}", "exec"), names)
        output = eval(compile(ast.Expression(shown.value), f"cell {self.name}", "eval"), names) if shown else None
        return output, {name: names[name] for name in self.gives}


@dataclass(frozen=True)
class Ran:
    """What every cell showed, and all names."""

    outputs: tuple[Any, ...]
    names: dict[str, Any]


@dataclass(frozen=True)
class Notebook:
    path: Path
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        return self.path.stem

    def run(self) -> Ran:
        """Run all cells as marimo does; the first one that fails raises its error."""
        # The first call teaches marimo how to show what other libraries make, charts within layouts among it.
        mo.as_html("")
        spec = importlib.util.spec_from_file_location(self.name, self.path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        outputs, names = module.app.run()
        return Ran(tuple(outputs), dict(names))

    def vary(self, ran: Ran, sliders: tuple[str, ...], values: tuple[Any, ...]) -> dict[int, Any]:
        """What the cells that depend on these sliders and no others show with these values, by cell."""
        roots = self.roots(ran)
        if values == tuple(ran.names[name].value for name in sliders):
            return {i: output for i, output in enumerate(ran.outputs) if roots[i] == set(sliders)}
        known = ran.names | {name: SimpleNamespace(value=x) for name, x in zip(sliders, values, strict=True)}
        shown = {}
        for i, cell in enumerate(self.cells):
            if roots[i] and roots[i] <= set(sliders):
                output, given = cell.evaluate(known)
                known |= given
                if roots[i] == set(sliders):
                    shown[i] = output
        return shown

    def roots(self, ran: Ran) -> list[frozenset[str]]:
        """The sliders that each cell depends on, directly or through others."""
        of: dict[str, frozenset[str]] = {}
        found = []
        for cell in self.cells:
            root = frozenset().union(*(of.get(name, frozenset()) for name in cell.reads))
            found.append(root)
            of |= {n: frozenset([n]) if isinstance(ran.names[n], mo.ui.slider) else root for n in cell.gives}
        return found


def read(path: Path) -> Notebook:
    """The cells of a marimo file, in their order. Raises ValueError where something else stands between them."""
    tree, cells = ast.parse(path.read_text("utf-8")), []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        (decorator,) = node.decorator_list
        options = {k.arg: k.value.value for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
        cells.append(Cell(node.name, _code(path, node), tuple(a.arg for a in node.args.args), _given(node),
                          options.get("hide_code", False)))  # fmt: skip
    return Notebook(path, tuple(cells))


def positions(notebook: Notebook, ran: Ran, most: int | None = None) -> dict[str, list[Any]]:
    """The values of every slider that a page holds, evenly chosen; its own takes the place of the nearest."""
    roots = set(notebook.roots(ran))
    chosen = {}
    for name, slider in ran.names.items():
        if isinstance(slider, mo.ui.slider):
            company = max((len(r) for r in roots if name in r), default=1)
            steps = slider.steps or list(_steps(slider.start, slider.stop, slider.step))
            count = min(most or POSITIONS[company], len(steps))
            picked = [steps[round(x)] for x in np.linspace(0, len(steps) - 1, count)]
            picked[min(range(count), key=lambda i: abs(picked[i] - slider.value))] = slider.value
            chosen[name] = picked
    return chosen


def variants(notebook: Notebook, ran: Ran, chosen: dict[str, list[Any]]) -> Iterator[tuple[int, tuple[str, ...], dict]]:
    """For every cell that depends on sliders: the cell, the sliders, and what it shows by their positions."""
    for group in sorted(set(notebook.roots(ran)) - {frozenset()}, key=sorted):
        sliders = tuple(sorted(group))
        shown: dict[int, dict] = {}
        for at in product(*(range(len(chosen[s])) for s in sliders)):
            values = tuple(chosen[s][i] for s, i in zip(sliders, at, strict=True))
            for cell, output in notebook.vary(ran, sliders, values).items():
                shown.setdefault(cell, {})[at] = output
        yield from ((cell, sliders, by_position) for cell, by_position in shown.items())


def _steps(start: float, stop: float, step: float | None) -> Iterator[float]:
    step = step or 1
    count = int(np.floor((stop - start) / step + 1e-9))
    yield from (round(start + i * step, 12) for i in range(count + 1))


def _code(path: Path, node: ast.FunctionDef) -> str:
    """The body without the `return` at its end, which marimo writes."""
    lines, first = path.read_text("utf-8").splitlines(), node.body[0]
    start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    end = node.body[-1].lineno - 1 if isinstance(node.body[-1], ast.Return) else node.end_lineno
    return dedent("\n".join(lines[start - 1 : end])).strip()


def _given(node: ast.FunctionDef) -> tuple[str, ...]:
    last = node.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    names = value.elts if isinstance(value, ast.Tuple) else [] if value is None else [value]
    return tuple(name.id for name in names)
