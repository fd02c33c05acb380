"""No module imports itself over others, not even when it is called: whoever reads one need not have read all."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).parents[1]


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """The modules that the code of one imports, whenever it does; what is for types alone counts nothing."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        yield from imported(node, known)


def test_no_module_imports_itself_over_others():
    found = modules()
    place = {name: i for i, name in enumerate(found)}
    edges = np.zeros((len(found), len(found)), dtype=bool)
    for name, path in found.items():
        for other in imported(ast.parse(path.read_text(encoding="utf-8")), set(found)):
            if other in place and other != name:
                edges[place[name], place[other]] = True
    assert edges.sum() > len(found)
    count, part = connected_components(csr_array(edges), connection="strong")
    names = np.array(list(found))
    circles = {frozenset(names[part == k].tolist()) for k in range(count) if (part == k).sum() > 1}
    assert not circles
