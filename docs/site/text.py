"""Text of the code as Markdown."""

import re
from collections.abc import Iterable, Sequence


def escaped(text: str) -> str:
    """Plain text, with what Markdown would take for markup escaped."""
    return re.sub(r"([\\`*_\[\]<>|$#])", r"\\\1", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown."""
    lines = [head, ["-"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def sentence(text: str) -> str:
    """With a capital in front and a full stop behind."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""
