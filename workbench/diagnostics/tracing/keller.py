"""Keller's principal pivoting for symmetric positive semidefinite M.

The driving variable is z_i of the infeasible index i with the largest predicted decrease w_i^2 / M_ii of 1/2 z^T M
z + q^T z: it grows while the rows of the basic z's stay zero. If w_i reaches zero first, z_i becomes basic; a basic z_j
that reaches zero first leaves, and the drive continues. Other w's may change their sign. If nothing ends a drive and M
is positive semidefinite, its direction p >= 0 has M p = 0 and q^T p < 0, and there is no solution.

The rules are those of the compiled `keller`, which however starts from the result of Gauss-Seidel sweeps; this one
starts, like Keller, from z = 0. If M is positive definite, both end on the same z, by different pivots.

Source: E. L. Keller, Mathematical Programming 5 (1973); CPS section 4.3.
"""

from flint import fmpq, fmpq_mat

from workbench.diagnostics.tracing.tableau import TracedSystem, Vector
from workbench.diagnostics.tracing.trace import PivotStep, Ray, Trace, ends_solved, proves_no_solution, rows, set_text


def trace(M: fmpq_mat, q: Vector, most: int) -> Trace:
    """Trace Keller's drives for a symmetric M (n, n) and q (n,), at most `most` pivots."""
    system = TracedSystem(M, q)
    basic, z = list[int](), [fmpq(0)] * system.n
    steps = [_step(system, 0, basic, z, "w = q, z = 0")]
    i = None
    while i is not None or steps[-1].infeasible:
        if len(steps) > most:
            return Trace("keller", system, steps, "stopped", f"{set_text(steps[-1].infeasible)} is infeasible")
        new = i is None
        if i is None:
            i = _most_promising(system, steps[-1])
        tableau = system.tableau(system.basis_of(basic))
        assert tableau is not None  # The basic block stays positive definite, whatever M.
        column = tableau.column(system.n + i)
        ratios = _ratios(system, column, basic, z, steps[-1].w, i)
        dz = [column[j] if j in basic else fmpq(int(j == i)) for j in range(system.n)]
        if not ratios:
            return _unbounded(system, steps, i, dz, column[i])
        # Ties: w_i, which ends the drive, comes first, then the z that has been basic longest.
        first, length = min(ratios, key=lambda ratio: ratio[1])
        z = [a + length * b for a, b in zip(z, dz, strict=True)]
        why = "largest w_i^2 / M_ii" if new else "the drive continues"
        rule = f"z_{i} is driven ({why}); {system.name(first)} is zero first"
        driven = system.n + i
        if first == i:
            basic.append(i)
            entering, i = driven, None
        else:
            basic.remove(first - system.n)
            entering = first - system.n
        steps.append(_step(system, len(steps), basic, z, rule, (entering,), (first,), driven, tuple(ratios)))
    return ends_solved("keller", system, steps)


def _most_promising(system: TracedSystem, step: PivotStep) -> int:
    """The infeasible index with the largest w_i^2 / M_ii, infinite if M_ii is not positive; the first among equals."""
    M, w = system.M, step.w
    return max(step.infeasible, key=lambda i: (M[i, i] <= 0, w[i] ** 2 / M[i, i] if M[i, i] > 0 else 0))


def _ratios(
    system: TracedSystem, column: Vector, basic: list[int], z: Vector, w: Vector, i: int
) -> list[tuple[int, fmpq]]:
    """Ratios: the growth of z_i at which w_i, and each basic z, reaches zero."""
    own = [(i, -w[i] / column[i])] if column[i] > 0 else []
    return own + [(system.n + j, z[j] / -column[j]) for j in basic if column[j] < 0]


def _step(
    system: TracedSystem, number: int, basic: list[int], z: Vector, rule: str, entering: tuple[int, ...] = (),
    leaving: tuple[int, ...] = (), driven: int | None = None, ratios: tuple[tuple[int, fmpq], ...] = (),
) -> PivotStep:  # fmt: skip
    w = rows(system, z)
    infeasible = tuple(i for i, x in enumerate(w) if x < 0)
    basis = system.basis_of(basic)
    return PivotStep(number, basis, z, w, entering, leaving, driven, ratios, infeasible=infeasible, rule=rule)


def _unbounded(system: TracedSystem, steps: list[PivotStep], i: int, dz: Vector, curvature: fmpq) -> Trace:
    """Return the trace that ends because z_i grows without bound."""
    because = f"nothing is zero however far z_{i} grows"
    if curvature < 0:
        because += f"; M is not positive semidefinite: p^T M p = {curvature} for the direction p of the drive"
    proof = dz if proves_no_solution(system, dz) else None
    return Trace("keller", system, steps, "ray", because, ray=Ray(dz, fmpq(0)), proof=proof)
