"""The cards of a comparison's formulations: mathematics, cross-section, guarantees, verdicts, options, source."""

from collections.abc import Mapping
from typing import Any

from workbench.builtin.reports.figures.styles import dashes, palette
from workbench.builtin.reports.figures.tangent_plane import thumbnail
from workbench.builtin.reports.text.cards import axes_words, section_words, verdict_words
from workbench.comparison.result import Comparison


def cards(c: Comparison) -> list[dict[str, Any]]:
    """Return the data of `cards.html.j2`; formulations that differ only in options such as axes share a card."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for card in c.mathematics:
        groups.setdefault((card["name"], *card["relations"], card["blocks"], str(card["failure"])), []).append(card)
    labels = [card["label"] for card in c.mathematics]
    styles = dict(zip(labels, zip(palette(labels), dashes(labels), strict=True), strict=True))
    return [_card(c, some, styles) for some in groups.values()]


def _card(c: Comparison, some: list[dict[str, Any]], styles: Mapping[str, tuple[str, list[int]]]) -> dict[str, Any]:
    labels = [card["label"] for card in some]
    # The variant that shows most: one whose section is another while a contact slides.
    drawn = max(some, key=lambda x: (x["section"] is not None, x["section"] != x["sliding_section"]))
    words = list(dict.fromkeys(section_words(x["section"], x["sliding_section"]) for x in some))
    options = [
        (name, " or ".join(dict.fromkeys(card["options"][i][1] for card in some)), values, meaning)
        for i, (name, _, values, meaning) in enumerate(some[0]["options"])
    ]
    return some[0] | {
        "labels": [(card["label"], *styles[card["label"]], axes_words(card["section_axes"])) for card in some],
        "label": ", ".join(labels),
        "picture": "" if drawn["section"] is None else thumbnail(
            drawn["section"], drawn["sliding_section"], *styles[drawn["label"]], f"Cross-section of {drawn['label']}"
        ),
        "section_words": [x for x in words if not any(y.startswith(x) for y in words if y != x)],
        "verdicts": verdict_words(c.diagnostics, labels),
        "option_rows": options,
    }  # fmt: skip
