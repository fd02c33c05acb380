"""No module imports itself over others, not even when it is called: whoever reads one need not have read all.

What is imported for types alone does not count.
"""

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tests.imports import written

ROOT = Path(__file__).parents[1]


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def test_no_module_imports_itself_over_others():
    found = modules()
    place = {name: i for i, name in enumerate(found)}
    edges = np.zeros((len(found), len(found)), dtype=bool)
    for name, path in found.items():
        for module, imported in written(path.read_text("utf-8"), types=False):
            whole = f"{module}.{imported}"
            other = whole if whole in place else module
            if other in place and other != name:
                edges[place[name], place[other]] = True
    assert edges.sum() > len(found)
    count, part = connected_components(csr_array(edges), connection="strong")
    names = np.array(list(found))
    circles = {frozenset(names[part == k].tolist()) for k in range(count) if (part == k).sum() > 1}
    assert not circles
