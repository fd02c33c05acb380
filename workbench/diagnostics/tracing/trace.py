"""Results of a traced method: its steps, its outcome, and an exact proof of the outcome."""

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from workbench.diagnostics.tracing.tableau import Tableau, TracedSystem, Vector


@dataclass(frozen=True, eq=False)
class PivotStep:
    """One pivot, or one exchange of several pairs; number 0 is the start.

    `entering` and `leaving` are the unknowns that became basic and nonbasic, `driven` the unknown whose growth chose
    them, `ratios` (unknown, ratio) how far it could grow before a basic one reaches zero, `rule` the reason for the
    choice in words. After the pivot: `basis` by rows, z and w (n,), t of Lemke's method, and `infeasible`, the indices
    of wrong sign.
    """

    number: int
    basis: tuple[int, ...]
    z: Vector
    w: Vector
    entering: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    driven: int | None = None
    ratios: tuple[tuple[int, fmpq], ...] = ()
    t: fmpq | None = None
    infeasible: tuple[int, ...] = ()
    rule: str = ""


@dataclass(frozen=True, eq=False)
class GaussSeidelSweep:
    """One sweep of projected Gauss-Seidel; number 0 is the start.

    z and w (n,) are the values after it, doubles or fractions; `change` is the change of z and `residual` the natural
    map, both in the norm sqrt(sum M_ii x_i^2), relative to the larger of z and diag(M)^-1 q.
    """

    number: int
    z: list
    w: list
    change: float | None
    residual: float


@dataclass(frozen=True, eq=False)
class Ray:
    """The half line (z, t) + s (dz, dt), s >= 0, on which a path diverges; dz (n,)."""

    dz: Vector
    dt: fmpq


@dataclass(frozen=True, eq=False)
class Trace:
    """All steps of a method (`solver`) on a problem, and its outcome.

    `outcome` is "solution", "ray", "cycle", "singular", "stopped" (the allowed number of steps is reached), or for
    sweeps in doubles "settled". `z` (n,) is the solution. `proof` is an x >= 0 with M^T x <= 0 and q^T x < 0, which
    proves that no z >= 0 has M z + q >= 0. `again` is the step whose state recurred in the last step.
    """

    solver: str
    system: TracedSystem
    steps: Sequence[PivotStep] | Sequence[GaussSeidelSweep]
    outcome: str
    because: str = ""
    z: list | None = None
    ray: Ray | None = None
    proof: Vector | None = None
    again: int | None = None

    @property
    def pivots(self) -> list[PivotStep]:
        """The steps of a pivoting method; empty for a method that sweeps."""
        return [step for step in self.steps if isinstance(step, PivotStep)]

    @property
    def sweeps(self) -> list[GaussSeidelSweep]:
        """The sweeps of a method that sweeps; empty for a pivoting method."""
        return [step for step in self.steps if isinstance(step, GaussSeidelSweep)]

    def tableau(self, number: int) -> Tableau:
        """Return the tableau after a pivot; raises IndexError if there is no pivot of this number."""
        found = self.system.tableau(self.pivots[number].basis)
        assert found is not None  # A step into a singular basis is never recorded.
        return found


def is_solution(system: TracedSystem, z: Vector) -> bool:
    """Return whether 0 <= z perp M z + q >= 0, exactly."""
    return all(x >= 0 and y >= 0 and x * y == 0 for x, y in zip(z, rows(system, z), strict=True))


def rows(system: TracedSystem, z: Sequence) -> list:
    """Return w = M z + q (n,)."""
    n = system.n
    return [sum((system.M[i, j] * z[j] for j in range(n)), system.q[i]) for i in range(n)]


def proves_no_solution(system: TracedSystem, x: Vector) -> bool:
    """Return whether x >= 0, M^T x <= 0, q^T x < 0: then x^T (M z + q) < 0 for every z >= 0."""
    n, M = system.n, system.M
    against = all(sum((M[i, j] * x[i] for i in range(n)), fmpq(0)) <= 0 for j in range(n))
    return against and min(x) >= 0 and sum((a * b for a, b in zip(system.q, x, strict=True)), fmpq(0)) < 0


def ends_solved(solver: str, system: TracedSystem, steps: Sequence[PivotStep]) -> Trace:
    """Return a trace that ends on a solution; asserts that it is one."""
    z = steps[-1].z
    assert is_solution(system, z), f"{solver}: {z} is no solution"
    return Trace(solver, system, steps, "solution", z=z)


def on_support(system: TracedSystem, z: Sequence) -> Vector | None:
    """Return the exact solution whose positive unknowns are those of z (n,), or None if there is none."""
    tableau = system.tableau(system.basis_of([i for i, x in enumerate(z) if x > 0]))
    if tableau is None:
        return None
    found = [x if b >= system.n else fmpq(0) for b, x in zip(tableau.basic, tableau.constants, strict=True)]
    return found if is_solution(system, found) else None


def set_text(indices: Sequence[int]) -> str:
    """Format an index set."""
    return "{" + ", ".join(map(str, indices)) + "}"
