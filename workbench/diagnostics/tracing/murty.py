"""Murty's principal pivoting of least index: w_i and z_i are exchanged for the least infeasible i.

The rule is that of the compiled `murty`, which factors the basic block at each exchange, while this one computes the
tableau.

Source: K. G. Murty, Opsearch 11 (1974); CPS section 4.2. It ends on the solution if M is a P-matrix, after at most 2^n
- 1 exchanges; otherwise it may cycle or meet a singular basis.
"""

from flint import fmpq_mat

from workbench.diagnostics.tracing.exchanges import exchanged, singular, start, unfinished
from workbench.diagnostics.tracing.tableau import TracedSystem, Vector
from workbench.diagnostics.tracing.trace import Trace, ends_solved, set_text


def trace(M: fmpq_mat, q: Vector, most: int) -> Trace:
    """Trace single exchanges of least index for M (n, n) and q (n,), at most `most`."""
    system = TracedSystem(M, q)
    steps = [start(system)]
    seen = {steps[0].basis: 0}
    while steps[-1].infeasible:
        if len(steps) > most:
            return unfinished("murty", system, steps, most)
        last = steps[-1]
        step = exchanged(system, last, last.infeasible[:1], f"smallest index of {set_text(last.infeasible)}")
        if step is None:
            return singular("murty", system, steps)
        steps.append(step)
        # The next step depends on the basis alone.
        if step.basis in seen:
            return Trace("murty", system, steps, "cycle", again=seen[step.basis])
        seen[step.basis] = step.number
    return ends_solved("murty", system, steps)
