"""LaTeX within sentences as plain text, for a terminal."""

import re
from functools import cache

BARS, SPACED = re.compile(r"\\\|"), re.compile(r"(\\[A-Za-z]+) (?=\\)")


def plain(text: str) -> str:
    """Convert the mathematics between dollar signs to text: $\\mu < \\mu_c$ becomes μ < μ_c."""
    parts = re.split(r"\$([^$]+)\$", text)
    return "".join(_converted(part) if i % 2 else part for i, part in enumerate(parts))


@cache
def _converted(latex: str) -> str:
    # Lazy: only the tables of reproductions hold mathematics.
    from pylatexenc.latex2text import LatexNodes2Text

    # The library leaves out the double bars of a norm, and the space between two names.
    latex = SPACED.sub(r"\1\ ", BARS.sub("‖", latex))
    converter = LatexNodes2Text(math_mode="text", strict_latex_spaces="except-in-equations")
    return str(converter.latex_to_text(f"${latex}$"))
