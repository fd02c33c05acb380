"""The glossary: the words that pages of results and of this site link to."""

from docs.site.text import escaped
from workbench.builtin.reports.text.glossary import WORDS


def terms() -> list[str]:
    """Every word or spelling that the glossary explains."""
    return [term for word in WORDS for term in word.split(", ")]


def words() -> str:
    """The whole glossary."""
    entries = [
        "\n".join([*map(escaped, word.split(", ")), f"  {escaped(WORDS[word])}", ""])
        for word in sorted(WORDS, key=str.casefold)
    ]
    return "\n".join(["```{glossary}", *entries, "```"])
