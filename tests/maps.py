"""The map of the rooms in CONTRIBUTING.md, made from what the packages say of themselves: `python -m tests.maps`."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- rooms -->\n", "<!-- end of rooms -->"


def rooms() -> list[str]:
    """Names of the modules and packages in the layers contracts, the topmost first, each before the rooms inside it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    house = next(c["layers"] for c in contracts if c["type"] == "layers")
    inside = {c["containers"][0]: c["layers"] for c in contracts if "containers" in c}
    return [
        room for name in _names(house) for room in (name, *(f"{name}.{part}" for part in _names(inside.get(name, []))))
    ]


def _names(layers: list[str]) -> list[str]:
    return [name.strip() for layer in layers for name in layer.split("|")]


def sentence(name: str) -> str:
    """The first sentence of a module's docstring."""
    path = ROOT / name.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def table() -> str:
    """The map as a Markdown table."""
    rows = [
        f"| `{name.removeprefix('workbench.builtin.').removeprefix('workbench.')}` | {sentence(name)} |"
        for name in rooms()
    ]
    return "\n".join(["| room | what it holds |", "|---|---|", *rows, ""])


def written(text: str) -> str:
    """CONTRIBUTING.md with the map as it is now."""
    head, rest = text.split(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    page = ROOT / "CONTRIBUTING.md"
    page.write_text(written(page.read_text("utf-8")), "utf-8")
