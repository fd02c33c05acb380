"""Júdice and Pires' block principal pivoting: w_i and z_i are exchanged for all infeasible i at once.

After `PATIENCE` exchanges without a new minimum of the number of infeasible indices, or after a block exchange that
leads to a singular basis, which is undone, it makes Murty's single exchanges until there is a new minimum. The rules
and `PATIENCE` are those of the compiled `judice-pires`.

Source: J. J. Júdice, F. M. Pires, Computers & Operations Research 21 (1994). It ends on the solution if M is a
P-matrix; otherwise it may cycle or meet a singular basis.
"""

from flint import fmpq_mat

from workbench.algorithms.judice_pires import PATIENCE
from workbench.diagnostics.tracing.exchanges import exchanged, singular, start, unfinished
from workbench.diagnostics.tracing.tableau import TracedSystem, Vector
from workbench.diagnostics.tracing.trace import PivotStep, Trace, ends_solved, set_text


def trace(M: fmpq_mat, q: Vector, most: int) -> Trace:
    """Trace block exchanges for M (n, n) and q (n,), at most `most`, block or single."""
    system = TracedSystem(M, q)
    steps, seen = [start(system)], dict[tuple, int]()
    fewest, patience = system.n + 1, PATIENCE
    while (last := steps[-1]).infeasible:
        if len(steps) > most:
            return unfinished("judice-pires", system, steps, most)
        count = len(last.infeasible)
        fewest, patience = (count, PATIENCE) if count < fewest else (fewest, patience - 1)
        state = (*last.basis, fewest, max(patience, 0))
        if state in seen:
            return Trace("judice-pires", system, steps, "cycle", again=seen[state])
        seen[state] = last.number
        if patience > 0:
            step = exchanged(system, last, last.infeasible, "block: all that are infeasible")
        else:
            step = exchanged(system, last, last.infeasible[:1], f"single: least index of {set_text(last.infeasible)}")
        if step is None and patience <= 0:
            return singular("judice-pires", system, steps)
        if step is None:
            rule = f"block {set_text(last.infeasible)} leads to a singular basis and is taken back"
            step, patience = (
                PivotStep(last.number + 1, last.basis, last.z, last.w, infeasible=last.infeasible, rule=rule),
                0,
            )
        steps.append(step)
    return ends_solved("judice-pires", system, steps)
