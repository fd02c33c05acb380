"""What of the pages is made from the code: it takes the place of a comment that names it."""

import re
from collections.abc import Callable
from pathlib import Path

from docs.site.commands import commands
from docs.site.gallery import cases, formulations
from docs.site.notebooks import notebooks
from docs.site.public import public_names
from docs.site.solvers import solvers
from docs.site.words import words

DECISIONS = "```{toctree}\n:hidden:\n:glob:\n\n0*\n```"
MADE: dict[str, Callable[[Path | None], str]] = {
    "cases": cases,
    "formulations": lambda extra: formulations(),
    "commands": lambda extra: commands(),
    "python": lambda extra: public_names(),
    "solvers": lambda extra: solvers(),
    "words": lambda extra: words(),
    "notebooks": notebooks,
    "decisions": lambda extra: DECISIONS,
}
"""By name, the Markdown that takes the place of `<!-- made: NAME -->`; it may look for pages in the folder given."""
MARK = re.compile(r"^<!-- made: (\w+) -->$", re.MULTILINE)


def filled(text: str, extra: Path | None) -> str:
    """A page with what is made from the code; `extra` is the folder of pages that are copied beside the site's."""
    return MARK.sub(lambda mark: MADE[mark[1]](extra), text)
