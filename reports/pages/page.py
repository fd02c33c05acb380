"""What all pages share: templates, mathematics, and figures that draw themselves in a browser without a network."""

import json
import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from workbench.builtin.reports.figures.comparison import Figure, styled
from workbench.engine.disk import read, write


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
    found.filters |= {"mathml": mathml, "prose": prose}
    return found


def mathml(latex: str, display: Literal["block", "inline"] = "block") -> Markup:
    """LaTeX as MathML, displayed or within a line."""
    # As an operator a bar would be spaced like one, and |u| is no sum.
    return Markup(convert(latex, display=display).replace(">&#x0007C;</mo>", ' lspace="0" rspace="0">&#x0007C;</mo>'))


def prose(text: str) -> Markup:
    """Plain text, escaped, with LaTeX between dollar signs as inline mathematics."""
    parts = re.split(r"\$([^$]+)\$", text)
    return Markup("").join(mathml(part, "inline") if i % 2 else escape(part) for i, part in enumerate(parts))


def scripts(figures: Sequence[Figure]) -> dict[str, Markup]:
    """What `scripts.html.j2` needs: the drawing library and the charts, to be drawn into `#figure-NAME`."""
    if not figures:
        return {"bundle": Markup(""), "specs": Markup("{}")}
    specs = json.dumps({f.name: styled(f.chart).to_dict() for f in figures}).replace("</", "<\\/")
    return {"bundle": _drawing_library(), "specs": Markup(specs)}


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
