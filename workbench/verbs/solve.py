"""`solve`: one problem, one formulation, one solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.algorithms.tuning import Tuning
from workbench.comparison.solving import solve_within
from workbench.diagnostics.problem_check import in_rationals
from workbench.diagnostics.proved_answer import ProvedAnswer, proved_impulses, proved_solution
from workbench.engine.interpreted import interpreting
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.matrices.solutions.existence import rational_friction
from workbench.mechanics.contact import Array, ContactSystem
from workbench.problems.classes import MLCP, ConeProblem
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.problems.solution import Solution, Status
from workbench.readers.files import read_problem_file
from workbench.readers.npz import FileProblem
from workbench.step.one_step import solve_system
from workbench.step.sliding.system import SlidingSystem, solve_sliding
from workbench.support.errors import WorkbenchError
from workbench.verbs.find import find_formulation, find_solver
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

UNITS = {
    "v": ("m/s, rad/s", "velocity after the step"),
    "p_n": ("N s", "normal impulse of a contact"),
    "p_t": ("N s", "friction impulse, contact by contact"),
    "p_b": ("N s", "impulse of a bilateral constraint"),
    "p": ("N s", "contact impulses, normal ones first"),
    "u": ("m/s", "contact velocities W p + q"),
    "lambda_nb": ("N", "force of a bilateral contact, either sign"),
    "lambda_nu": ("N", "force of a unilateral contact"),
    "acceleration": ("m/s2, rad/s2", "generalised acceleration"),
    "z": ("of the problem", "solution"),
}


@dataclass(frozen=True, repr=False, eq=False)
class Solved(Result):
    """The solution of one problem: arrays by name (`values`, also as attributes) and their verification.

    For a `ContactSystem` v (n,), p_n (r,), p_t (d r,), p_b (m,); for a `SlidingSystem` lambda_nb (m_b,), lambda_nu
    (m_u,), acceleration (n,); for a friction problem p and u (n,); for an LCP, a box or a cone problem z (n,). NaN
    if the solver gave no result. `verified`: the problem's own residual is within `tolerance`. If the W of a friction
    problem was replaced by the nearest one of bodies, `moved` is the change of the exact velocity as a share of |q|,
    and u is that of the new W. `proof`, if requested, is the distance of an exact solution.
    """

    title: str
    values: dict[str, Array] = field(repr=False)
    solution: Solution = field(repr=False)
    moved: float | None = None
    proof: ProvedAnswer | None = field(default=None, repr=False)

    def __getattr__(self, name: str) -> Array:
        values = self.__dict__.get("values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"this result has no '{name}'; it has {', '.join(values)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.values]

    @property
    def status(self) -> Status:
        """The solver's own claim."""
        return self.solution.claimed

    @property
    def verified(self) -> bool:
        return self.solution.verified

    @property
    def residual(self) -> float:
        """The problem's own residual, dimensionless."""
        return self.solution.residual

    @property
    def tolerance(self) -> float:
        return self.solution.tolerance

    @property
    def words(self) -> list[str]:
        s = self.solution
        claim = f"{s.claimed.name}, " + ("verified" if s.verified else "not verified")
        through = f", through: {', '.join(s.path)}" if s.path else ""
        sentences = [f"{claim}: residual {s.residual:.1e}, tolerance {s.tolerance:.0e}, by {s.solver}{through}."]
        if self.moved is not None:
            sentences.append(
                "W is not symmetric positive semidefinite; the nearest that is was taken, which moves the exact "
                f"velocity by {self.moved:.1e} |q|."
            )
        if self.proof is not None:
            sentences.append(f"{self.proof.words[0].upper()}{self.proof.words[1:]}.")
        return sentences + [f"{text[0].upper()}{text[1:]}." for text in dict.fromkeys((s.why_not, s.proof)) if text]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per entry: quantity, index, value, unit."""
        import pandas as pd

        rows = [(name, i, x, UNITS[name][0]) for name, values in self.values.items() for i, x in enumerate(values)]
        frame = pd.DataFrame(rows, columns=["quantity", "index", "value", "unit"])
        frame.attrs["quantities"] = {name: UNITS[name][1] for name in self.values}
        return frame

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"answer": self.frame}


def solve(
    problem: Any, formulation: str | Formulation | None = None, solver: Any = None, *, start: Any = None,
    tolerance: float | None = None, max_iterations: int | None = None, seconds: float | None = None,
    prove: bool = False,
) -> Solved:  # fmt: skip
    """Solve a problem under a formulation by a solver, and verify the result by the problem's own residual.

    `problem` is a `ContactSystem`, a `SlidingSystem`, a friction problem, LCP, box or cone problem, or the path of a
    file with one. `formulation` is a name or a Formulation; the default is exact Coulomb friction ("coulomb"), for
    sliding systems "sliding-lcp"; LCPs, box and cone problems take none. `solver` is a name or a solver; the default,
    "auto", is the method for the problem's kind, followed by other methods if it fails.

    For a friction problem, LCP, box or cone problem: `start` (n,) are initial impulses or unknowns, or an earlier
    result; `tolerance` is the residual up to which the result counts as verified; `max_iterations` is the solver's own;
    after `seconds`, in another process, an iterative solver returns its best iterate (a script that uses this begins
    with `if __name__ == "__main__":`). `prove` requests a proof that an exact solution is near (`proof`), for LCPs,
    MLCPs, Coulomb's law and cone problems of up to 60 contacts, with the doubles of the data taken as exact numbers.

    Raises WorkbenchError if the problem cannot be read or posed, or the solver does not support these options; a solver
    that fails or refuses gives a result that says so.

    >>> import numpy as np
    >>> import workbench as wb
    >>> block = wb.ContactSystem(
    ...     M=2 * np.eye(3), v=[0.6, 0.8, 0], f=[0, 0, -2 * 9.81], h=0.01, mu=0.5,
    ...     J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]],
    ... )
    >>> answer = wb.solve(block)
    >>> answer.verified, answer.p_t.round(4).tolist()
    (True, [-0.0589, -0.0785])
    >>> wb.solve(block, "ccp").v.round(4).tolist()      # the cone problem lifts what slides
    [0.4565, 0.6086, 0.3804]
    """
    if isinstance(problem, str | Path):
        problem = read_problem_file(problem)
    method = None if solver is None else find_solver(solver)
    if isinstance(start, Solved):
        start = start.values.get("p", start.values.get("z"))
    tuning = Tuning(start, tolerance, max_iterations)
    if isinstance(problem, ContactSystem | SlidingSystem):
        if tuning.asked or seconds is not None or prove:
            raise WorkbenchError(
                f"a {type(problem).__name__} takes no start, tolerance, max_iterations, seconds or prove"
            )
        if isinstance(problem, ContactSystem):
            return _system(problem, find_formulation(formulation or "coulomb"), method)
        return _sliding(problem, find_formulation(formulation or "sliding-lcp"), method)
    if isinstance(problem, FrictionProblem | GlobalFrictionProblem):
        f = find_formulation(formulation or "coulomb")
        with interpreting(problem.size):
            answer = solve_within(problem, f, method, tuning, seconds)
        p, u = (np.full(problem.size, np.nan) if x is None else x for x in (answer.impulses, answer.velocities))
        title = f"{problem.kind} with {problem.contacts} contacts under {f.label}"
        proof = answer_proof(problem, f, p, answer.moved) if prove else None
        return Solved(title, dict(p=p, u=u), answer.solution, answer.moved, proof)
    if not isinstance(problem, MLCP | ConeProblem):
        raise WorkbenchError(
            f"a {type(problem).__name__} is not a problem that can be solved; give a ContactSystem, a SlidingSystem, a "
            "friction problem, an LCP, MLCP, ConicQP or CoulombNCP, or the path of a file"
        )
    if formulation is not None:
        raise WorkbenchError(f"a {problem.kind} is solved as it is; formulations are for systems and friction problems")
    with interpreting(problem.size):
        answer = solve_within(problem, None, method or default_solver(problem.kind), tuning, seconds)
    z = answer.solution.z
    proof = answer_proof(problem, None, z) if prove else None
    return Solved(f"{problem.kind} of size {problem.size}", {"z": z}, answer.solution, None, proof)


def answer_proof(
    problem: FileProblem | ConeProblem, f: Formulation | None, z: Array, moved: float | None = None
) -> ProvedAnswer:
    """Prove the distance of an exact solution from the solution z (n) of a problem, under its formulation if any.

    Raises WorkbenchError if the formulation is neither Coulomb's law nor the cone problem.
    """
    if isinstance(problem, MLCP):
        return proved_solution(problem, z)
    if f is not None and f.name not in ("coulomb", "ccp"):
        raise WorkbenchError(f"proofs are about coulomb and ccp; {f.label} is stated over other unknowns")
    if isinstance(problem, ConeProblem):
        friction, coulomb = rational_friction(problem.M, problem.q, problem.mu, problem.d), not problem.associated
    else:
        friction, coulomb = in_rationals(problem), f is None or f.name == "coulomb"
    proof = proved_impulses(friction, z, coulomb)
    if moved is not None and proof.distance is None:
        return ProvedAnswer(None, "the nearest W of bodies was taken for the problem's own")
    return proof


def _system(system: ContactSystem, f: Formulation, method: Any) -> Solved:
    n, m, r, d = system.size
    with interpreting(m + r + d * r):
        answer, solution = solve_system(f, system, method or default_solver(compiled(f, *system.size).kind))
    title = f"One step of {r} contact{'s' * (r > 1)} (n = {n}, m = {m}) under {f.label}"
    return Solved(title, dict(v=answer.v, p_n=answer.p_n, p_t=answer.p_t, p_b=answer.p_b), solution)


def _sliding(system: SlidingSystem, f: Formulation, method: Any) -> Solved:
    forces, a, solution = solve_sliding(f, system, method or default_solver("LCP"))
    title = f"{system.m_b} bilateral and {system.m_u} unilateral sliding contacts under {f.label}"
    return Solved(title, dict(lambda_nb=forces.lambda_nb, lambda_nu=forces.lambda_nu, acceleration=a), solution)
