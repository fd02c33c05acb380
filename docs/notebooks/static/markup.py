"""What marimo shows, as plain HTML: mathematics as MathML, charts as pictures, accordions as details."""

import base64
import json
import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from typing import Any

import vl_convert

from workbench.builtin.reports.pages.page import mathml

Slider = Callable[[str, str], str]
"""The control that stands for a slider, by the id of marimo's object and its label."""
VOID = {"br", "hr", "img", "input", "meta", "link", "col"}
CHART = {"background": "#fff", "axis": {"labelLimit": 0}, "legend": {"labelLimit": 0}}
"""Configuration of all charts. A label with a limit is measured again each time that it is placed."""
RENAMED = {"h4": "p"}
"""The headings of results, which stand below no heading of their own level."""
SPACED = (
    (r"\\perp(?![a-z])", r"\\;\\perp\\;"),
    (r"\\[lr]vert(?![a-z])", "|"),
    (r"(?<![(])\\(sin|cos|tan|det|sgn)(?![a-z])", r"\\,\\\1"),
    (r"\\(sin|cos|tan|det)\s+(?=[a-zA-Z\\])", r"\\\1\\,"),
)
"""LaTeX that MathML's dictionary of operators would set too tight or too tall."""


def plain(html: str, slider: Slider) -> str:
    """The HTML without marimo's own elements.

    Raises ValueError for elements that a page without Python cannot show, and for charts without a description.
    """
    found = _Plain(slider)
    found.feed(html)
    found.close()
    return "".join(found.parts)


def picture(spec: dict[str, Any]) -> str:
    """A Vega-Lite chart as an image with its description as alternative text."""
    described = spec.get("description")
    if not described:
        raise ValueError('a chart has no description; give it one with .properties(description="...")')
    svg = vl_convert.vegalite_to_svg(json.dumps(spec), config=CHART)
    link = base64.b64encode(svg.encode()).decode()
    return f'<figure><img alt="{escape(described)}" src="data:image/svg+xml;base64,{link}"></figure>'


class _Plain(HTMLParser):
    """Ordinary tags pass; of marimo's, `tex` holds what is between its ends and `open` what closes an accordion."""

    def __init__(self, slider: Slider) -> None:
        super().__init__(convert_charrefs=True)
        self.slider, self.parts = slider, []
        self.tex: list[str] | None = None
        self.labels: list[list[str]] = []
        self.depth: list[int] = []
        self.object = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag, given = RENAMED.get(tag, tag), {name: value or "" for name, value in attrs}
        if tag == "marimo-tex":
            self.tex = []
        elif tag == "marimo-accordion":
            self.labels.append(json.loads(given["data-labels"])[::-1])
            self.depth.append(0)
        elif tag == "marimo-ui-element":
            self.object = given["object-id"]
        elif tag == "marimo-slider":
            self.parts.append(self.slider(self.object, plain(json.loads(given["data-label"]) or "", self.slider)))
        elif tag == "marimo-callout-output":
            self.parts.append(f'<div class="callout">{plain(json.loads(given["data-html"]), self.slider)}</div>')
        elif tag == "marimo-table":
            self.parts.append(_table(json.loads(json.loads(given["data-data"]))))
        elif tag == "marimo-mime-renderer" and "vegalite" in given["data-mime"]:
            self.parts.append(picture(json.loads(json.loads(given["data-data"]))))
        elif tag.startswith("marimo-"):
            raise ValueError(f"a page without Python cannot show <{tag}> {given.get('data-mime', '')}")
        else:
            if self.depth and tag not in VOID:
                self.depth[-1] += 1
                if self.depth[-1] == 1:
                    label = plain(self.labels[-1].pop(), self.slider)
                    self.parts.append(f"<details><summary>{label}</summary>")
            self.parts.append('<div class="scroll" tabindex="0">' if tag == "table" else "")
            attributes = (f' {name}="{escape(value)}"' for name, value in given.items())
            self.parts.append(f"<{tag}{''.join(attributes)}>")

    def handle_endtag(self, tag: str) -> None:
        tag = RENAMED.get(tag, tag)
        if tag == "marimo-tex":
            self.parts.append(_formula("".join(self.tex or [])))
            self.tex = None
        elif tag == "marimo-accordion":
            self.labels.pop()
            self.depth.pop()
        elif not tag.startswith("marimo-") and tag not in VOID:
            self.parts.append("</table></div>" if tag == "table" else f"</{tag}>")
            if self.depth:
                self.depth[-1] -= 1
                if self.depth[-1] == 0:
                    self.parts.append("</details>")

    def handle_data(self, data: str) -> None:
        if self.tex is None:
            self.parts.append(escape(data, quote=False))
        else:
            self.tex.append(data)


def _formula(text: str) -> str:
    displayed = text.startswith("||[")
    latex = text[3:-3].strip()
    for pattern, better in SPACED:
        latex = re.sub(pattern, better, latex)
    found = str(mathml(latex, "block" if displayed else "inline"))
    # The LaTeX itself is there for those who cannot see the formula.
    if not found.startswith("<math") or "\\" in re.sub('alttext="[^"]*"', "", found):
        raise ValueError(f"this is no LaTeX that a page can show: {latex}")
    return f'<div class="math" tabindex="0">{found}</div>' if displayed else found


def _table(rows: list[dict[str, Any]]) -> str:
    def cell(x: Any) -> str:
        return escape(f"{x:.6g}" if isinstance(x, float) else "" if x is None else str(x))

    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{cell(x)}</td>' for x in row.values())}</tr>" for row in rows)
    return f'<div class="scroll" tabindex="0"><table><tr>{head}</tr>{body}</table></div>'
