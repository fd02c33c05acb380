"""Contact formulation workbench: declare, solve, judge and compare formulations of frictional contact.

    >>> import workbench as wb
    >>> wb.formulations.names[:3]
    ['frictionless', 'stewart-trinkle', 'anitescu-potra']

The language: `formulation`, `free`, `nonneg`, `box`, `disc`, `friction_cone`, `equals`, `complements`, `declare`, over
the symbols `ContactSymbols` and `SlidingSymbols`, with `Hooks` for data that depend on the state. Data:
`ContactSystem`, `SlidingSystem`, `read`, `interval`, `uncertain_mlcp`; a user-defined case is a `Case` with a
`quantity` for each parameter. Lists: `formulations`, `cases`, `solvers`, `metrics`. Verbs: `solve`, `solutions`,
`compare`, `follow`, `convergence`, `sensitivity`, `gradient`, `fit`, `scene`, `flow`, `discharge`, `exam`, `reality`,
`report`, `study`, `check`, `vary`, `trace`, `painleve`, `sweep`, `show`, `export`, `verdict`, `verify`. A step as a
differentiable layer: `wb.torch.ContactLayer`, `wb.jax.ContactLayer`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.algorithms import SOLVERS as solvers
    from workbench.builtin.cases import CASES as cases
    from workbench.builtin.formulations import FORMULATIONS as formulations
    from workbench.comparison.derivative_error import derivative_error
    from workbench.comparison.metric import metric
    from workbench.comparison.metrics import METRICS as metrics
    from workbench.engine.compiling import kernel
    from workbench.language.formulation import ContactSymbols, SlidingSymbols, formulation
    from workbench.language.modelling import (
        Hooks,
        box,
        complements,
        declare,
        disc,
        equals,
        free,
        friction_cone,
        nonneg,
    )
    from workbench.language.polygon import polygon
    from workbench.mechanics.case import Case, Truth, quantity
    from workbench.mechanics.contact import ContactSystem
    from workbench.mechanics.law import Law
    from workbench.step.sliding.system import SlidingSystem
    from workbench.support import __version__ as __version__
    from workbench.support.errors import DataError, ModellingError, UnknownNameError, WorkbenchError
    from workbench.verbs.check import check, interval, uncertain_mlcp
    from workbench.verbs.compare import compare
    from workbench.verbs.convergence import convergence
    from workbench.verbs.discharge import discharge
    from workbench.verbs.exam import exam
    from workbench.verbs.export import export
    from workbench.verbs.fit import fit
    from workbench.verbs.flow import flow
    from workbench.verbs.follow import follow
    from workbench.verbs.gradient import gradient
    from workbench.verbs.painleve import painleve
    from workbench.verbs.read import read
    from workbench.verbs.reality import reality
    from workbench.verbs.report import report
    from workbench.verbs.scene import scene
    from workbench.verbs.sensitivity import sensitivity
    from workbench.verbs.show import show
    from workbench.verbs.solutions import solutions
    from workbench.verbs.solve import solve
    from workbench.verbs.study import study
    from workbench.verbs.sweep import sweep
    from workbench.verbs.trace import trace
    from workbench.verbs.vary import vary
    from workbench.verbs.verdict import verdict
    from workbench.verbs.verify import verify

VERBS = (
    "check", "compare", "convergence", "discharge", "exam", "export", "fit", "flow", "follow", "gradient", "painleve",
    "read", "reality", "report", "scene", "sensitivity", "show", "solutions", "solve", "study", "sweep", "trace",
    "vary", "verdict", "verify",
)  # fmt: skip

LAYERS = "jax", "torch"
"""Modules of layers, named as the package that each is for."""

# Origin of each name. They are imported on first use, so that `import workbench` takes no time.
_PLACES = {
    "algorithms": {"SOLVERS": "solvers"},
    "builtin.cases": {"CASES": "cases"},
    "builtin.formulations": {"FORMULATIONS": "formulations"},
    "comparison.derivative_error": ["derivative_error"],
    "comparison.metric": ["distance", "metric"],
    "comparison.metrics": {"METRICS": "metrics"},
    "engine.compiling": ["kernel"],
    "support": ["__version__"],
    "support.errors": ["DataError", "ModellingError", "UnknownNameError", "WorkbenchError"],
    "language.formulation": ["ContactSymbols", "SlidingSymbols", "formulation"],
    "language.modelling": [
        "Hooks",
        "box",
        "complements",
        "declare",
        "disc",
        "equals",
        "free",
        "friction_cone",
        "nonneg",
    ],
    "language.polygon": ["polygon"],
    "mechanics.case": ["Case", "Truth", "quantity"],
    "mechanics.contact": ["ContactSystem"],
    "mechanics.law": ["Law"],
    "step.sliding.system": ["SlidingSystem"],
    **{f"verbs.{verb}": [verb] for verb in VERBS},
    "verbs.check": ["check", "interval", "uncertain_mlcp"],
}
_FOUND = {
    (names[name] if isinstance(names, dict) else name): (module, name)
    for module, names in _PLACES.items()
    for name in names
}

__all__ = [
    "Case", "ContactSymbols", "ContactSystem", "DataError", "Hooks", "Law", "ModellingError", "SlidingSymbols",
    "SlidingSystem", "Truth", "UnknownNameError", "WorkbenchError", "box", "cases", "check", "compare",
    "complements", "convergence", "declare", "derivative_error", "disc", "discharge", "distance", "equals", "exam",
    "export", "fit", "flow", "follow", "formulation", "formulations", "free", "friction_cone", "gradient", "interval",
    "kernel", "metric", "metrics", "nonneg", "painleve", "polygon", "quantity", "read", "reality", "report", "scene",
    "sensitivity", "show", "solutions", "solve", "solvers", "study", "sweep", "trace", "uncertain_mlcp", "vary",
    "verdict", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in LAYERS:
        return import_module(f"workbench.verbs.{name}")
    if name not in _FOUND:
        raise AttributeError(f"module 'workbench' has no attribute '{name}'; it has {', '.join(__all__)}")
    module, attribute = _FOUND[name]
    found = getattr(import_module(f"workbench.{module}"), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
