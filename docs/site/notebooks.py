"""The list of the notebooks in `docs/notebooks`."""

import ast
from pathlib import Path

from docs.site.text import escaped, table

FOLDER = Path(__file__).parents[1] / "notebooks"


def files() -> list[Path]:
    """The notebooks, in their order."""
    return sorted(FOLDER.glob("[0-9]*.py"))


def page_of(path: Path) -> str:
    """Where the page of a notebook lies, seen from the site's root."""
    return f"notebooks/{path.stem}.html"


def notebooks(whole: bool = False) -> str:
    """The notebooks by their titles; of a whole site with links to their pages."""
    rows = []
    for path in files():
        words = escaped(title(path))
        if whole:
            words = f'<a href="{page_of(path)}">{words}</a>'
        rows.append((words, f"`marimo edit docs/notebooks/{path.name}`"))
    return table(["notebook", "to turn its sliders and change its code"], rows)


def title(path: Path) -> str:
    """The first heading of a notebook's prose."""
    strings = (x.value for x in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(x, ast.Constant))
    found = (x.strip() for x in strings if isinstance(x, str))
    return next((x.partition("\n")[0][2:] for x in found if x.startswith("# ")), path.stem)
