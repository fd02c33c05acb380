"""The list of the notebooks in `docs/notebooks`."""

import ast
from pathlib import Path

from docs.site.text import escaped, table

FOLDER = Path(__file__).parents[1] / "notebooks"


def notebooks(extra: Path | None = None) -> str:
    """The notebooks by their titles, with links to those that lie as pages in `extra`."""
    rows = []
    for path in sorted(FOLDER.glob("[0-9]*.py")):
        words = escaped(title(path))
        if _is_there(extra, path.stem):
            words = f'<a href="notebooks/{path.stem}.html">{words}</a>'
        rows.append((words, f"`marimo edit docs/notebooks/{path.name}`"))
    return table(["notebook", "to turn its sliders and change its code"], rows) if rows else ""


def title(path: Path) -> str:
    """The first heading of a notebook's prose."""
    strings = (x.value for x in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(x, ast.Constant))
    found = (x.strip() for x in strings if isinstance(x, str))
    return next((x.partition("\n")[0][2:] for x in found if x.startswith("# ")), path.stem)


def _is_there(extra: Path | None, name: str) -> bool:
    return extra is not None and (extra / "notebooks" / f"{name}.html").exists()
