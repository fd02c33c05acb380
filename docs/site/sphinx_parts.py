"""What Sphinx is taught here: pages with parts made from the code, mathematics as MathML, docstrings as plain text."""

import re
from functools import cache
from typing import Any
from unittest.mock import patch

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.search.en import SearchEnglish

from docs.site.made import filled
from workbench.builtin.reports.pages.page import mathml

ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[~?numpy\.float64\]\]")
POLICY = "default-src 'self' data: 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'self'"


def connect(app: Any) -> None:
    """Teach it to Sphinx."""
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", lambda app, what, name, thing, options, lines: _as_rst(lines))
    app.connect("autodoc-process-signature", _in_short)
    app.connect("html-page-context", _keep_to_the_disk)
    # Before Furo makes its tree.
    app.connect("html-page-context", _navigate_by_titles, priority=400)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    # Sphinx forgets the stems of words after each page.
    SearchEnglish.stem = cache(SearchEnglish.stem)


def _fill(app: Any, name: str, content: list[str]) -> None:
    content[0] = filled(content[0], app.tags.has("whole"))


def _keep_to_the_disk(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    context["metatags"] = (
        context.get("metatags", "") + f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    )


def _navigate_by_titles(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The navigation tree, which holds titles alone, from titles: for every page Sphinx copies all headings of all."""
    whole = context["toctree"]

    def of_titles(**settings: Any) -> str:
        with patch.object(app.env, "tocs", _titles(app)):
            return whole(**settings)

    context["toctree"] = of_titles


@cache
def _titles(app: Any) -> dict[str, nodes.Node]:
    """Tables of contents of all pages, without the headings below their titles."""
    found = {name: contents.deepcopy() for name, contents in app.env.tocs.items()}
    for contents in found.values():
        for title in contents.children:
            for below in title.children[1:]:
                below[:] = list(below.findall(toctree))
    return found


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math" tabindex="0">{mathml(node.astext())}</div>')
    raise nodes.SkipNode


def _as_rst(lines: list[str]) -> None:
    """Docstrings are plain text with `code` in it: what reStructuredText would take for markup is escaped.

    Indented lines are kept as they stand.
    """
    found: list[str] = []
    inside = example = False
    for line in lines:
        example = line.startswith(">>>") or (example and bool(line.strip()))
        indented = line.startswith("  ") and not example
        if indented and not inside:
            found += ["", "::", ""]
        elif inside and not indented and line.strip():
            found.append("")
        inside = indented or (inside and not line.strip())
        found.append(line if example or indented else _escaped(line))
    lines[:] = found


def _in_short(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Signatures with `Array` for the type that it stands for, and without values that are made anew each time."""

    def short(text: str | None) -> str | None:
        return text and ARRAY.sub("Array", text).replace("<factory>", "...")

    return short(signature), short(returned)


def _escaped(line: str) -> str:
    # A literal may stand within a word only behind an escaped blank: `quantity`s.
    parts = re.split(r"`([^`]+)`", line)
    return "".join(
        f"``{part}``\\ " if i % 2 else re.sub(r"([|*\\`]|_\b)", r"\\\1", part) for i, part in enumerate(parts)
    )
