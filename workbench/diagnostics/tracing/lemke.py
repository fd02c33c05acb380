"""Lemke's complementary pivoting, scheme I with the covering vector e: the path of almost complementary bases.

In w = q + M z + t e the covering unknown t enters at the least value with w >= 0. From then on the complement of the
unknown that has just left enters, and the basic unknown that reaches zero first leaves, until t leaves (a solution) or
none does (a secondary ray). In a tie t leaves; otherwise the lexicographic rule decides: the least row of the inverse
of the basis, divided by its entry in the pivot's column. This is the choice for q + (s, s^2, ..., s^n) with every small
s > 0, and no basis recurs. With `ties="first"` the topmost row of the tableau leaves instead, and degenerate problems
may cycle, for example the P-matrix [[1, 2, 0], [0, 1, 2], [2, 0, 1]] with q = -e.

The compiled `lemke` follows the same path for D M D, D q with D_i = M_ii^(-1/2), and for M itself if all M_ii are equal
and positive; it breaks ties by q + s p with a fixed p > 0, and may then take another path.

Source: C. E. Lemke, Management Science 11 (1965); CPS sections 4.4 and 4.9; cycling: M. M. Kostreva, Mathematical
Programming 16 (1979). Worst case: 2^n steps.
"""

from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from workbench.diagnostics.tracing.tableau import Tableau, TracedSystem, Vector
from workbench.diagnostics.tracing.trace import PivotStep, Ray, Trace, ends_solved, proves_no_solution

TIES = ("lexicographic", "first")


def trace(M: fmpq_mat, q: Vector, most: int, ties: str = "lexicographic") -> Trace:
    """Trace Lemke's path for M (n, n) and q (n,), at most `most` pivots; `ties` is one of `TIES`."""
    system = TracedSystem(M, q, covered=True)
    basis = list(range(system.n))
    steps = [_step(system, 0, basis, rule="w = q, z = 0")]
    if min(q) >= 0:
        return ends_solved("lemke", system, steps)
    entering, seen = system.t, dict[tuple, int]()
    while True:
        tableau = system.tableau(basis)
        assert tableau is not None
        column = tableau.column(entering)
        if entering == system.t:
            # t enters at the largest of the ratios, at which no constant is negative.
            ratios = [(b, -x) for b, x in zip(basis, tableau.constants, strict=True) if x < 0]
            r, rule = _chosen(tableau, [1] * system.n, [i for i, x in enumerate(q) if x == min(q)], ties)
            rule = f"smallest q_i, so that no w becomes negative{rule}"
        else:
            blocking = [i for i, x in enumerate(column) if x < 0]
            ratios = [(basis[i], tableau.constants[i] / -column[i]) for i in blocking]
            if not blocking:
                return _on_ray(system, steps, tableau, entering)
            least = min(ratio for _, ratio in ratios)
            tied = [i for i in blocking if tableau.constants[i] / -column[i] == least]
            if system.t in (basis[i] for i in tied):
                r, rule = basis.index(system.t), "smallest ratio; t leaves"
            else:
                r, rule = _chosen(tableau, [-x for x in column], tied, ties)
                rule = f"smallest ratio{rule}"
        if len(steps) > most:
            return Trace("lemke", system, steps, "stopped", f"t is not zero after {most} pivots")
        leaving, basis[r] = basis[r], entering
        steps.append(_step(system, len(steps), basis, entering, leaving, ratios, rule))
        if leaving == system.t:
            return ends_solved("lemke", system, steps)
        entering = system.complement(leaving)
        state = (*basis, entering)
        if state in seen:
            return Trace("lemke", system, steps, "cycle", again=seen[state])
        seen[state] = steps[-1].number


def _chosen(tableau: Tableau, divisors: Sequence, tied: list[int], ties: str) -> tuple[int, str]:
    """The leaving row among those that reach zero together, and the rule that chose it."""
    if len(tied) == 1:
        return tied[0], ""
    if ties == "first":
        return tied[0], f"; a tie of {len(tied)} rows, of which the first leaves"
    r = min(tied, key=lambda i: [x / divisors[i] for x in tableau.weights[i]])
    return r, f"; a tie of {len(tied)} rows, of which the lexicographically smallest leaves"


def _step(
    system: TracedSystem, number: int, basis: Sequence[int], entering: int | None = None, leaving: int = 0,
    ratios: Sequence[tuple[int, fmpq]] = (), rule: str = "",
) -> PivotStep:  # fmt: skip
    tableau = system.tableau(basis)
    assert tableau is not None
    x = [fmpq(0)] * (2 * system.n + 1)
    for b, value in zip(basis, tableau.constants, strict=True):
        x[b] = value
    w, z, t = x[: system.n], x[system.n : system.t], x[system.t]
    if entering is None:
        return PivotStep(0, tuple(basis), z, w, t=t, infeasible=tuple(i for i, y in enumerate(w) if y < 0), rule=rule)
    return PivotStep(number, tuple(basis), z, w, (entering,), (leaving,), entering, tuple(ratios), t, rule=rule)


def _on_ray(system: TracedSystem, steps: Sequence[PivotStep], tableau: Tableau, entering: int) -> Trace:
    """Return the trace that ends in a ray: the entering unknown grows without bound."""
    change = dict(zip(tableau.basic, tableau.column(entering), strict=True)) | {entering: fmpq(1)}
    dz = [change.get(system.n + i, fmpq(0)) for i in range(system.n)]
    ray = Ray(dz, change.get(system.t, fmpq(0)))
    because = f"no basic unknown falls as {system.name(entering)} grows"
    proof = dz if proves_no_solution(system, dz) else None
    return Trace("lemke", system, steps, "ray", because, ray=ray, proof=proof)
