"""Shared parts of all pages: templates, mathematics, and figures that a browser draws without a network."""

import base64
import json
import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from workbench.builtin.reports.pages.terms import term, terms
from workbench.builtin.reports.text.exports import ExportedTable, csv, latex_of, markdown, of_page
from workbench.engine.disk import read, write

if TYPE_CHECKING:
    from workbench.builtin.reports.figures.charts import Figure

EXPONENTS = re.compile(r"(?<=\de)-(?=\d)")
UNITS = re.compile(r"(?<=\d) (?=(?:[nµmk]?[mgsJN]|%|°)(?![\w]))")
"""Space between a number and its unit."""
LOWERED = re.compile(r"(?<!\w)([^\W\d_])_([^\W_]{1,2})(?!\w)")
RAISED = re.compile(r"(?:\^|(?<=/s))([23]|T)(?!\w)")
"""Subscripts of one letter, as in M_μ, and exponents, as in v^2, LDL^T and m/s2."""


@cache
def environment() -> Environment:
    """The templates of `reports/templates`; text is escaped unless it is `Markup`, unknown names are errors."""
    found = Environment(
        loader=PackageLoader("workbench.builtin.reports"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"mathml": mathml, "prose": prose, "terms": terms, "typeset": typeset, "unbroken": unbroken}
    found.globals |= {"policy": policy(), "swatch": swatch, "saved_as": saved_as, "term": term}
    return found


def unbroken(text: str) -> str:
    """Return the text with its numbers and their units on one line each."""
    return EXPONENTS.sub("\u2060-\u2060", UNITS.sub("\u00a0", text))


def typeset(text: str) -> Markup:
    """Return the text with subscripts lowered and exponents raised, which a terminal cannot do."""
    lowered = LOWERED.sub(r"\1<sub>\2</sub>", str(escape(text)))
    return Markup(RAISED.sub(r"<sup>\1</sup>", lowered))


def swatch(colour: str, dash: Sequence[int]) -> Markup:
    """Return a short line in the colour and dash of a formulation, for use before its name."""
    return Markup(
        '<svg class="marks" viewBox="0 0 34 8" width="34" height="8" aria-hidden="true"><path d="M0,4h34" stroke="{}" '
        'stroke-width="3" stroke-dasharray="{}"/></svg>'
    ).format(colour, "none" if list(dash) == [1, 0] else " ".join(map(str, dash)))


def policy(*allowed: str) -> str:
    """Return a page's content security policy: no external resources, and no scripts except those allowed."""
    digests = [base64.b64encode(sha256(script.encode()).digest()).decode() for script in allowed]
    scripts = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def data_link(content: str | bytes, kind: str) -> str:
    """The address of a file that is within the page; `kind` is its media type, such as "text/csv"."""
    form = ";charset=utf-8" if isinstance(content, str) else ""
    binary = content.encode() if isinstance(content, str) else content
    return f"data:{kind}{form};base64,{base64.b64encode(binary).decode()}"


def saved_as(html: str, title: str) -> list[tuple[str, str, str]]:
    """Words, file name and address of the first table in a page's HTML, in each format that it can be saved in."""
    return links(of_page(html, title))


def links(table: ExportedTable) -> list[tuple[str, str, str]]:
    """Words, file name and address of a table in each format that it can be saved in."""
    kinds = (
        ("CSV", "csv", "text/csv", csv(table)), ("Markdown", "md", "text/markdown", markdown(table)),
        ("LaTeX", "tex", "application/x-tex", latex_of(table)),
    )  # fmt: skip
    return [(words, f"{table.file}.{ending}", data_link(text, kind)) for words, ending, kind, text in kinds]


def mathml(latex: str, display: Literal["block", "inline"] = "block") -> Markup:
    """LaTeX as MathML, displayed or within a line."""
    try:
        found = convert(latex, display=display)
        # Names are the user's own, and may be anything: within \text the converter lets markup through.
        known = all(_is_mathematics(element) for element in ElementTree.fromstring(found).iter())
    except Exception:
        known = False
    if not known:
        return escape(latex)
    if display == "inline":
        # What a table that is saved has in its place.
        found = found.replace("<math ", f'<math alttext="{escape(latex)}" ', 1)
    # As an operator a bar would be spaced like one, and |u| is no sum.
    return Markup(found.replace(">&#x0007C;</mo>", ' lspace="0" rspace="0">&#x0007C;</mo>'))


def _is_mathematics(element: ElementTree.Element) -> bool:
    """Return whether it is one of MathML's, without an address and without styles or scripts of its own."""
    name = element.tag.removeprefix("{http://www.w3.org/1998/Math/MathML}")
    return re.fullmatch("m[a-z]+", name) is not None and not any(
        key in ("href", "style", "class", "src") or key.startswith("on") for key in element.attrib
    )


def prose(text: str) -> Markup:
    """Plain text, escaped, with LaTeX between dollar signs as inline mathematics."""
    parts = re.split(r"\$([^$]+)\$", text)
    return Markup("").join(mathml(part, "inline") if i % 2 else escape(part) for i, part in enumerate(parts))


def scripts(figures: "Sequence[Figure]", *views: str) -> dict[str, Markup | str]:
    """Return the data of `scripts.html.j2`: the drawing library and the charts of `#figure-NAME`, and `policy`.

    `views` are scripts of other parts of the page; they may use `clock`, the time that all parts show.
    """
    # Pages without figures need no drawing library.
    bundle = _drawing_library() if figures else Markup("")
    text = [script("clock.js"), f"const specs = {_specs(figures)};", script("figures.js"), *views]
    drawing = Markup("\n".join(["", *text, ""]))
    return {"bundle": bundle, "drawing": drawing, "policy": policy(bundle, drawing)}


def script(name: str) -> str:
    """A script of `reports/templates`."""
    return environment().get_template(name).render()


def in_script(data: Any) -> str:
    """Data as JSON without text that begins or ends a script element."""
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c")


def _specs(figures: "Sequence[Figure]") -> str:
    if not figures:
        return "{}"
    from workbench.builtin.reports.figures.charts import styled, unlimited

    with unlimited():
        # Every part was validated when it was made; of the whole this would be a second time.
        specs = {f.name: styled(f.chart).to_dict(validate=False) for f in figures}
    return in_script(specs)


@cache
def _drawing_library() -> Markup:
    # Bundling takes seconds and gives the same for every page, so that it is kept for later ones too.
    snippet = "window.vegaEmbed = vegaEmbed;"
    key = f"{snippet} {version('vl-convert-python')}"
    name = f"{sha256(key.encode()).hexdigest()}.js"
    content = read(name)
    if content is None:
        import vl_convert

        content = vl_convert.javascript_bundle(snippet).encode()
        write(name, content)
    return Markup(content.decode().replace("</script", "<\\/script"))
