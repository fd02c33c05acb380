"""The bundled solvers, one algorithm per file. To add one, add a file and a line in `METHODS`.

Modules are imported on first use, since importing one compiles its kernels if none are cached.
"""

from typing import Any

from workbench.algorithms.base import Solver
from workbench.problems.classes import LCP, MLCP, ConicQP, MatrixProblem, is_psd
from workbench.support.errors import UnknownNameError, WorkbenchError
from workbench.support.registry import Registry

PARTS = "name", "solves", "guaranteed_for", "tolerance", "why_not", "solve"


def _lacking(thing: Any) -> list[str]:
    return [part for part in PARTS if not hasattr(thing, part)]


def _is_solver(thing: Any) -> bool:
    return not _lacking(thing)


def _line(solver: Any) -> str:
    return f"{', '.join(sorted(solver.solves))}; guaranteed for {solver.guaranteed_for}"


METHODS = {
    "lemke": "lemke.method.SOLVER",
    "murty": "murty.SOLVER",
    "judice-pires": "judice_pires.SOLVER",
    "proximal": "proximal.SOLVER",
    "keller": "keller.SOLVER",
    "pgs": "pgs.SOLVER",
    "enumerate": "enumeration.SOLVER",
    "coulomb-exact": "coulomb_exact.COULOMB_EXACT",
    "ccp-exact": "coulomb_exact.CCP_EXACT",
    "nsgs": "nsgs.SOLVER",
    "apgd": "apgd.SOLVER",
    "admm": "admm.SOLVER",
    "clarabel": "clarabel_direct.SOLVER",
    "elimination": "elimination.SOLVER",
    "blocks-exact": "contact_blocks.SOLVER",
    "interior-point": "sphere_interior.SOLVER",
    "mixed-exact": "mixed_exact.SOLVER",
}
"""Solvers by name: module and object within this package."""
SOLVERS = Registry(
    "solver",
    "workbench.algorithms",
    {"auto": "escalation.AUTO", **METHODS},
    _is_solver,
    _line,
    "workbench.solvers",
)
"""The automatic choice of a solver, and the solvers themselves. `cvxpy:NAME` is any installed CVXPY solver."""

ROUND_OFF = {
    "LCP": "lemke", "MLCP": "proximal", "conic QP": "ccp-exact", "global conic QP": "ccp-exact",
    "Coulomb NCP": "coulomb-exact", "global Coulomb NCP": "coulomb-exact", "equations": "elimination",
    "contact blocks": "blocks-exact", "mixed NCP": "mixed-exact",
}  # fmt: skip
"""For each kind of problem, the solver that solves it to round-off."""

OF_LCPS = "lemke", "murty", "judice-pires", "proximal", "keller", "pgs", "enumerate", "clarabel"
"""Solvers of LCPs, so that these can be found without importing others."""


RENAMED = {
    "spheres": "nsgs", "spheres-gradient": "apgd", "spheres-newton": "blocks-exact",
    "spheres-interior": "interior-point",
}  # fmt: skip
"""Names of former solvers for sphere contacts, with the solver that now covers their method."""


def find_solver(name: str | Solver) -> Solver:
    """Return the solver of this name, from a path to user code, or cvxpy:NAME; a solver object is returned unchanged.

    A class is instantiated. Raises UnknownNameError, which lists the known names, or WorkbenchError, which says what an
    object lacks to be a solver.
    """
    if not isinstance(name, str):
        found = name() if isinstance(name, type) else name
        if not _is_solver(found):
            raise WorkbenchError(f"{type(found).__name__} is not a solver; it lacks: {', '.join(_lacking(found))}")
        if type(found).__hash__ is None:
            raise WorkbenchError(f"{type(found).__name__} has no hash; a dataclass that is a solver has frozen=True")
        return found
    if name.startswith("cvxpy:"):
        from workbench.algorithms.cvxpy_conic import cvxpy_solver

        return cvxpy_solver(name.removeprefix("cvxpy:"))
    if name in RENAMED:
        raise WorkbenchError(
            f"solver '{name}' is now called '{RENAMED[name]}', which solves contacts of spheres by that method"
        )
    if ":" not in name and name not in SOLVERS and not name.endswith(".py"):
        raise UnknownNameError("solver", name, [*SOLVERS.names, "cvxpy:NAME", "FILE.py:SOLVER"])
    found = SOLVERS.find(name)
    return found() if isinstance(found, type) else found


def is_quadratic_program(problem: MatrixProblem) -> bool:
    """Return whether the problem is also a convex (conic) quadratic program, so that optimisation codes accept it."""
    return problem.size > 0 and isinstance(problem, LCP | MLCP | ConicQP) and is_psd(problem.M)
