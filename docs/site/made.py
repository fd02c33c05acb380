"""What of the pages is made from the code: it takes the place of a comment that names it."""

import re
from collections.abc import Callable

from docs.site.commands import commands
from docs.site.gallery import cases, formulations
from docs.site.notebooks import notebooks
from docs.site.public import public_names
from docs.site.solvers import solvers
from docs.site.words import words

DECISIONS = "```{toctree}\n:hidden:\n:glob:\n\n0*\n```"
MADE: dict[str, Callable[[bool], str]] = {
    "cases": cases,
    "formulations": lambda whole: formulations(),
    "commands": lambda whole: commands(),
    "python": lambda whole: public_names(),
    "solvers": lambda whole: solvers(),
    "words": lambda whole: words(),
    "notebooks": notebooks,
    "decisions": lambda whole: DECISIONS,
}
"""By name, the Markdown that takes the place of `<!-- made: NAME -->`; whole sites have further pages."""
MARK = re.compile(r"^<!-- made: (\w+) -->$", re.MULTILINE)


def filled(text: str, whole: bool) -> str:
    """A page with what is made from the code; a `whole` site has comparisons and notebooks too."""
    return MARK.sub(lambda mark: MADE[mark[1]](whole), text)
