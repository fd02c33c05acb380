"""The comparison report on a friction problem without bodies: the page of `comparison` with its own words."""

from typing import Any

from workbench.builtin.reports.figures.file import figures
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.comparison import rows_of
from workbench.builtin.reports.text.file import ERRORS, JUDGED, defined, facts_in_words, known_in_words, summary
from workbench.comparison.files import SLOW, FileComparison

FACTS: list[tuple[str, str, str]] = [
    ("contacts", "contacts n_c", "{}"),
    ("dimension", "components of a contact, 1 + d", "{}"),
    ("size", "size of W, n = (1 + d) n_c", "{}"),
    ("rank", "rank W", "{}"),
    ("rank_tolerance", "singular values counted as zero, up to", "{:.1e}"),
    ("rank_gap", "ratio of the last one kept to the first one dropped", "{:.1e}"),
    ("rank_share", "rank W / (1 + d) n_c, below 1: redundant contacts", "{:.3g}"),
    ("condition", "condition number on the range", "{:.3g}"),
    ("asymmetry", "asymmetry |W − Wᵀ| / |W|", "{:.1e}"),
    ("eigenvalue_min", "eigenvalues of the symmetric part, from", "{:.3g}"),
    ("eigenvalue_max", "to", "{:.3g}"),
    ("mu_min", "friction coefficients, from", "{:g}"),
    ("mu_max", "to", "{:g}"),
    ("velocities", "generalised velocities n_v", "{}"),
    ("bilateral", "bilateral rows", "{}"),
    ("hardness", "hardness (1 + d) n_c / n_v", "{:.3g}"),
]
"""Key of `problem_facts`, words, format; a fact that does not apply is left out."""


def render(c: FileComparison, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    shown = figures(c)
    tables = [
        {"title": title, "rows": rows_of(c.runs, columns), "columns": columns, "clipped": False}
        for title, columns in (
            ("Distance from the exact solution", defined(c, ERRORS)),
            ("Held against Coulomb's law by the judge", JUDGED),
        )
    ]
    template = environment().get_template("file_comparison.html.j2")
    facts = [(words, form.format(c.facts[key])) for key, words, form in FACTS if c.facts.get(key) is not None]
    return template.render(
        c=c, name=c.name, provenance=provenance, tables=tables, figures=shown, summary=summary(c), slow=SLOW,
        undefined="no answer, impulses that are not determined, or nothing slides", facts=facts,
        words=facts_in_words(c), known=known_in_words(c), **scripts(shown),
    )  # fmt: skip
