"""Glossary terms in the text: buttons that show the definition, without a script."""

import re
from collections.abc import Mapping

from markupsafe import Markup, escape

from workbench.builtin.reports.text.glossary import GLOSSARY

IN_TEXT = (
    "CCP", "conic QP", "copositive", "Coulomb NCP", "LCP", "lead matrix", "mixed NCP", "MLCP", "P, P-matrix",
    "principal minor", "PSD", "r, n_d", "rank", "rho, ρ", "Delassus operator, W",
)  # fmt: skip
"""Glossary terms without another meaning in a sentence."""
ALIASES = {x: word for word in IN_TEXT for alias in word.split(", ") for x in (alias, alias[:1].upper() + alias[1:])}
WORDS = re.compile("|".join(rf"\b{re.escape(x)}(?![\w-])" for x in sorted(ALIASES, key=len, reverse=True)))


def term(title: str, name: str) -> Markup:
    """A button that opens the meaning of that name, which `meanings` puts on the page."""
    return Markup('<button type="button" class="term" popovertarget="{}">{}</button>').format(_place(name), title)


def terms(text: str) -> Markup:
    """Return the text with the terms of `IN_TEXT` as buttons."""
    parts, end = [], 0
    for found in WORDS.finditer(text):
        parts += [escape(text[end : found.start()]), term(found.group(), ALIASES[found.group()])]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def meanings(others: Mapping[str, tuple[str, str]]) -> Markup:
    """Return the texts opened by buttons: the glossary and `others`, title and meaning by name."""
    every = {word: (word, meaning) for word, meaning in GLOSSARY.items()} | dict(others)
    text = '<div popover class="meaning" id="{}"><b>{}</b>: {}.</div>'
    return Markup("\n").join(Markup(text).format(_place(name), *texts) for name, texts in every.items())


def _place(name: str) -> str:
    return "word-" + "-".join(re.findall(r"\w+", name.lower()))
