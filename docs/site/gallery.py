"""The galleries of cases and formulations, from the registries."""

from typing import Any

from docs.site.text import escaped, sentence, table
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import REGISTRIES, SLIDING
from workbench.builtin.reports.figures.drawing import drawing
from workbench.builtin.reports.figures.styles import dashes, palette
from workbench.builtin.reports.figures.tangent_plane import thumbnail
from workbench.diagnostics.friction_section import friction_section
from workbench.diagnostics.lead_matrix import theory_of
from workbench.language.notation import relation, sets
from workbench.verbs.show import show

COMPARED = {
    "wheel": dict(duration=0.5, steps=5e-3, reference_step=1e-3),
    "cube": dict(duration=0.3, steps=5e-3, reference_step=1e-3),
    "block": dict(duration=0.3, steps=5e-3, reference_step=1e-3),
    "sphere": dict(duration=0.3, steps=5e-3, reference_step=1e-3),
    "rod": dict(duration=0.1, steps=5e-3, reference_step=1e-3),
}
"""Cases whose comparison is on the site, with the settings of a short run."""


def cases(whole: bool = False) -> str:
    """Every case with its picture, its size and its parameters; in a whole site with links to the comparisons."""
    found = {name: CASES.find(name) for name in CASES.bundled}
    cards = "".join(f'<a href="#case-{name}">{_picture(case)}<span>{name}</span></a>' for name, case in found.items())
    sections = [_case(name, case, whole) for name, case in found.items()]
    return "\n\n".join([f'<div class="gallery">{cards}</div>', *sections])


def formulations() -> str:
    """Every formulation with its relations, sets, options and what theory promises."""
    return "\n\n".join(_formulation(name) for registry in REGISTRIES for name in registry.bundled)


def page_of(name: str) -> str:
    """Where the comparison of a case lies, seen from the site's root."""
    return f"comparisons/{name}.html"


def _picture(case: Any) -> str:
    return drawing(case().sketch(), f"{case.name} at its start")


def _case(name: str, case: Any, whole: bool) -> str:
    n, m, r, d = case.size
    words = f"{sentence(escaped(case.description))} {sentence(escaped(case.source))}"
    size = f"Velocities: {n}; bilateral rows: {m}; contacts: {r}, with {d} tangents each; time: {case.duration:g} s."
    rows = [
        (f"`{key}`", f"{value:g}", escaped(unit), escaped(meaning))
        for key, value, unit, meaning in case.parameter_table()
    ]
    links = [f"`workbench compare {name}`"]
    if whole and name in COMPARED:
        links.append(f'<a href="../{page_of(name)}">a short run under every formulation</a>')
    if hasattr(case, "sliding_system"):
        links.append(f"`workbench painleve {name}`")
    if hasattr(case, "sliding_rows"):
        links.append(f"`workbench painleve {name} --prove` with `--x` and `--y`")
    return "\n\n".join([
        f"(case-{name})=\n## {name}", words.strip(), _picture(case), size,
        table(["parameter", "default", "unit", "meaning"], rows), f"Try: {', '.join(links)}.",
    ])  # fmt: skip


def _formulation(name: str) -> str:
    shown = show(name)
    f, declaration = shown.formulation, shown.compiled.declaration
    relations = "\n\n".join(f"```{{math}}\n{relation(r, 'latex')}\n```" for r in declaration.relations)
    unknowns = [(escaped(unknown), escaped(words)) for unknown, words in sets(declaration)]
    options = [(f"`{option}`", escaped(words)) for option, words in f.described_options.items()]
    theory = theory_of(f) if name not in SLIDING else ""
    return "\n\n".join([
        f"(formulation-{name})=\n## {name}",
        f"Friction: {escaped(f.friction)}. Problem class: {shown.compiled.kind}.",
        _section(f),
        relations,
        f"Of these symbols, {shown.compiled.symbols}." if name in SLIDING else "",
        table(["unknown", "set"], unknowns),
        table(["option", "default and values"], options) if options else "No options.",
        sentence(escaped(str(theory))), f"Source: {escaped(f.source)}.",
    ])  # fmt: skip


def _section(f: Any) -> str:
    """The friction impulses admitted at p_n = 1 with mu = 1, in Coulomb's disc; empty where they have no end."""
    still, sliding = friction_section(f), friction_section(f, slides=True)
    if still is None or sliding is None:
        return ""
    (colour,), (dash,) = palette([f.name]), dashes([f.name])
    words = f"friction impulses that {f.name} admits, in Coulomb's disc"
    return thumbnail(still.tolist(), sliding.tolist(), colour, dash, words)
