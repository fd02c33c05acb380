"""Proof of an exact solution near a computed one, with its distance, or the reason why there is no proof.

LCPs and MLCPs: the basis is read off the computed solution and solved in rationals. Friction problems, under Coulomb's
law and as cone problems: the contacts' modes are read off it, and Krawczyk's test encloses the zero of their equations
(`contact_modes`). Where these equations are singular, as with redundant contacts, the impulses are not isolated and
nothing is proved.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq_mat

from workbench.algorithms.escalation import default_solver
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError
from workbench.matrices.linear_algebra.rationals import as_text, exact, nearest_double
from workbench.matrices.p_property.bounded import solution_on_face
from workbench.matrices.solutions.contact_modes import EnclosedZero, ModeEquations, enclosed, modes_of
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import MLCP, Array, ConicQP, CoulombNCP
from workbench.readers.matrix import Matrix

LARGEST = 60
"""Largest number of contacts for which a proof is tried: a second or two."""


@dataclass(frozen=True, eq=False)
class ProvedAnswer:
    """`distance`: an exact solution is at most this far from the computed one in every unknown; None with the `reason`.

    `enclosure` is the proof of a friction problem.
    """

    distance: float | None
    reason: str = ""
    enclosure: EnclosedZero | None = None

    @property
    def words(self) -> str:
        if self.distance is None:
            return f"not proved: {self.reason}"
        if self.distance == 0.0:
            return "proved: the answer is an exact solution"
        return f"proved: an exact solution is within {self.distance:.1e} of every unknown"

    @cached_property
    def witness(self) -> dict[str, Any]:
        """The enclosure in the format of certificates."""
        assert self.enclosure is not None
        e = self.enclosure
        return {
            "kind": "enclosure", "modes": list(e.equations.modes), "centre": as_text(e.centre),
            "radii": as_text(e.radii), "C": [as_text([*map(exact, row)]) for row in e.C.tolist()],
        }  # fmt: skip


def proved_solution(problem: MLCP, z: Array, deadline: float = math.inf) -> ProvedAnswer:
    """Prove a computed solution z (n) of an LCP or MLCP."""
    if not np.isfinite(z).all():
        return ProvedAnswer(None, "the answer is not finite")
    M, q = Matrix(problem.M).exact, [*map(exact, problem.q)]
    try:
        x = solution_on_face(M, q, problem.lower, problem.upper, z, deadline)
    except OutOfTimeError:
        return ProvedAnswer(None, OUT_OF_TIME)
    if x is None:
        return ProvedAnswer(None, "no isolated solution has the same unknowns at their bounds")
    distance = max((float(abs(a - exact(b))) for a, b in zip(x, z.tolist(), strict=True)), default=0.0)
    return ProvedAnswer(math.nextafter(distance, math.inf) if distance else 0.0)


def proved_impulses(friction: RationalFriction, p: Array, coulomb: bool = True) -> ProvedAnswer:
    """Prove computed impulses p (n) of a friction problem, under Coulomb's law or as a cone problem."""
    if not np.isfinite(p).all():
        return ProvedAnswer(None, "the answer is not finite")
    if len(friction.mu) > LARGEST:
        return ProvedAnswer(None, f"{len(friction.mu)} contacts; proofs are made for up to {LARGEST}")
    u = velocities(friction, p)
    equations = ModeEquations(friction, modes_of(friction, p, u, coulomb), coulomb)
    found = enclosed(equations, equations.unknowns(p.tolist(), u.tolist()))
    if found is None:
        return ProvedAnswer(None, "the equations of its contact modes are singular: the impulses are not isolated")
    if not found.is_solution:
        return ProvedAnswer(None, "the exact solution of its contact modes is on their border, or beyond")
    return ProvedAnswer(found.distance(p.tolist()), "", found)


def velocities(friction: RationalFriction, p: Array) -> Array:
    """u = W p + q (n), to the nearest doubles."""
    image = (friction.W * fmpq_mat(len(p), 1, [*map(exact, p.tolist())])).entries()
    return np.array([nearest_double(a + b) for a, b in zip(image, friction.q, strict=True)])


def computed_impulses(law: CoulombNCP | ConicQP) -> Array:
    """Compute p (n) by the method for the law."""
    return default_solver(law.kind).first.solve(law).z
