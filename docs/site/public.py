"""What `import workbench as wb` offers, as its docstrings tell it."""

import workbench as wb
from workbench.support.registry import Registry

GROUPS = {
    "Verbs": [
        "solve", "solutions", "sweep", "compare", "report", "study", "check", "vary", "trace", "painleve", "verify",
        "show", "read", "export", "follow", "convergence", "sensitivity", "gradient", "fit", "scene", "flow",
        "discharge", "reality", "exam", "verdict",
    ],
    "Data": ["ContactSystem", "SlidingSystem", "interval", "uncertain_mlcp"],
    "Lists": ["formulations", "cases", "solvers", "metrics"],
    "The language of formulations": [
        "formulation", "ContactSymbols", "SlidingSymbols", "free", "nonneg", "box", "disc", "friction_cone",
        "polygon", "equals", "complements", "declare", "Law", "Hooks", "kernel",
    ],
    "Cases and metrics of your own": ["Case", "quantity", "Truth", "metric", "distance", "derivative_error"],
    "Errors": ["WorkbenchError", "DataError", "ModellingError", "UnknownNameError"],
}  # fmt: skip
"""The public names, in the order in which somebody meets them."""
MEMBERS = {"ContactSystem", "SlidingSystem", "ContactSymbols", "SlidingSymbols", "Case", "Truth"}
"""Classes whose methods are called or written by users."""
RESULTS = {
    "solve": "Solved", "solutions": "AllSolutions", "sweep": "Swept", "compare": "Compared", "report": "Reported",
    "study": "Studied", "check": "Checked", "vary": "Varying", "trace": "Traced", "painleve": "Regimes",
    "verify": "Verified", "show": "Shown", "export": "Exported", "follow": "Followed", "convergence": "Convergence",
    "sensitivity": "Sensitivities", "gradient": "Gradient", "fit": "Fits", "flow": "FlowResult",
    "discharge": "DischargeResult", "reality": "RealityResult", "exam": "ExamResult", "verdict": "Judged",
}  # fmt: skip
"""What a verb hands back: a class of its module."""


def public_names() -> str:
    """Every public name, group by group, and the results of the verbs."""
    parts = [f"## {group}\n\n" + "\n\n".join(map(_entry, names)) for group, names in GROUPS.items()]
    results = [_rst("workbench.verbs.results", "autoclass:: Result", members=True)]
    results += [_rst(f"workbench.verbs.{verb}", f"autoclass:: {name}", members=True) for verb, name in RESULTS.items()]
    return "\n\n".join([*parts, "## Results\n\nWhat verbs hand back. Results have what `Result` has.", *results])


def _entry(name: str) -> str:
    thing = getattr(wb, name)
    if isinstance(thing, Registry):
        names = ", ".join(f"`{x}`" for x in thing.bundled)
        return f"`wb.{name}`, {len(thing.bundled)} of which come with the workbench: {names}."
    directive = "autoclass" if isinstance(thing, type) else "autofunction"
    return _rst("workbench", f"{directive}:: {name}", members=name in MEMBERS)


def _rst(module: str, directive: str, members: bool) -> str:
    options = ["   :members:"] * members
    return "\n".join(["```{eval-rst}", f".. py:currentmodule:: {module}", "", f".. {directive}", *options, "```"])
