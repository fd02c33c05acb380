"""Steps shared by principal pivoting methods: exchanges of w_i and z_i whose basic one is negative.

In a complementary basis either w_i or z_i is basic; if the basic one is negative, the index i is infeasible.
"""

from flint import fmpq

from workbench.diagnostics.tracing.tableau import TracedSystem
from workbench.diagnostics.tracing.trace import PivotStep, Trace, set_text


def start(system: TracedSystem) -> PivotStep:
    """Start at z = 0: every w is basic."""
    step = exchanged(system, PivotStep(-1, system.basis_of(()), [], []), (), "w = q, z = 0")
    assert step is not None
    return step


def exchanged(system: TracedSystem, last: PivotStep, indices: tuple[int, ...], rule: str) -> PivotStep | None:
    """Return the step that exchanges w_i and z_i for these indices; None if the basis is singular."""
    leaving = tuple(last.basis[i] for i in indices)
    entering = tuple(map(system.complement, leaving))
    basis = tuple(system.complement(b) if i in indices else b for i, b in enumerate(last.basis))
    tableau = system.tableau(basis)
    if tableau is None:
        return None
    n, values = system.n, tableau.constants
    z = [x if b >= n else fmpq(0) for b, x in zip(basis, values, strict=True)]
    w = [x if b < n else fmpq(0) for b, x in zip(basis, values, strict=True)]
    infeasible = tuple(i for i, x in enumerate(values) if x < 0)
    return PivotStep(last.number + 1, basis, z, w, entering, leaving, infeasible=infeasible, rule=rule)


def unfinished(solver: str, system: TracedSystem, steps: list[PivotStep], most: int) -> Trace:
    """Return the trace that ends after the largest allowed number of exchanges."""
    wrong = set_text(steps[-1].infeasible)
    return Trace(solver, system, steps, "stopped", f"{wrong} is infeasible after {most} exchanges")


def singular(solver: str, system: TracedSystem, steps: list[PivotStep]) -> Trace:
    """Return the trace that ends because the single exchange of least index leads to a singular basis."""
    i = steps[-1].infeasible[0]
    there = sorted({*system.index_set(steps[-1].basis)} ^ {i})
    because = f"the exchange of w_{i} and z_{i} leads to a singular basis: det M_aa = 0 for a = {set_text(there)}"
    return Trace(solver, system, steps, "singular", because)
