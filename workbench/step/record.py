"""The record of a run: one row of numbers a step, written by the stepper, with named columns."""

from typing import NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.interpreted import python_of
from workbench.engine.kernels import MATRIX, VECTOR, copy, copy_at
from workbench.language.assemble.plan import Work
from workbench.mechanics.case import Case
from workbench.mechanics.core import CORE, FILL_T, NORMAL_LAWS, Core
from workbench.step.stepping import discretise
from workbench.support.errors import DataError

MEMORY = 2e9
"""Largest size of the record of one run, in bytes."""


class RunRecord(NamedTuple):
    """States, impulses and the solved problems of K steps.

    Impulses p_t and the Jacobians are in the case's own axes; M, q_, lower, upper, mu, z are those of the problem.
    """

    q: np.ndarray  # (K + 1, n_q)
    v: np.ndarray  # (K + 1, n)
    after: np.ndarray  # (K, n): velocity at the end of each step
    p: np.ndarray  # (K, r + d r + m): p_n, p_t, p_b
    mass: np.ndarray  # (K, n, n)
    b: np.ndarray  # (K, n)
    J: np.ndarray  # (K, r + d r, n): J_n, J_t
    J_b: np.ndarray  # (K, m, n)
    rate: np.ndarray  # (K, r + d r): b_n, b_t
    eps: np.ndarray  # (K, r + d r): compliance of these rows
    r_t: np.ndarray  # (K, d r)
    phi: np.ndarray  # (K, r)
    friction: np.ndarray  # (K, r): friction coefficients of the contacts
    M: np.ndarray  # (K, n_c, n_c)
    q_: np.ndarray  # (K, n_c)
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray
    z: np.ndarray
    effort: np.ndarray  # (K, 2): iterations, passes


def width(core: Core, work: Work, n_q: int, steps: int) -> int:
    """Return the length of a row of `stepping.RunBuffer`; raises DataError if `steps` of them exceed `MEMORY`."""
    length = n_q + core.recorded.size + work.recorded.size
    must_fit(steps, length)
    return length


def must_fit(steps: int, length: int) -> None:
    """Raise DataError if so many rows of so many numbers exceed `MEMORY`."""
    size = 8 * steps * length
    if size > MEMORY:
        raise DataError(
            f"{steps} steps need {size / 1e9:.3g} GB for their record; at most {MEMORY / 1e9:g} GB are used: give a "
            "shorter duration or a larger step"
        )


def columns(core: Core, work: Work, rows: np.ndarray, effort: np.ndarray) -> RunRecord:
    """Return the columns of k rows and of additional ones that hold a state only, by the layout of the arguments."""
    n, k = core.v.size, len(effort)
    n_q = rows.shape[1] - core.recorded.size - work.recorded.size
    own, solved = rows[:k, n_q:], rows[:k, n_q + core.recorded.size :]
    out = column(work, solved, "out")
    return RunRecord(
        q=rows[:, :n_q], v=rows[:, n_q : n_q + n], after=out[:, :n], p=out[:, n:], **mechanics(core, own),
        M=column(work, solved, "M", rank=2), q_=column(work, solved, "q"), lower=column(work, solved, "lower"),
        upper=column(work, solved, "upper"), mu=column(work, solved, "mu"), z=column(work, solved, "z"),
        effort=effort,
    )  # fmt: skip


def mechanics(core: Core, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of a case's mechanics from rows (K, .) of `Core.recorded`."""
    return {
        "mass": column(core, rows, "M", rank=2), "b": column(core, rows, "b"),
        "J": column(core, rows, "J_n", "J_t", rank=2), "J_b": column(core, rows, "J_b", rank=2),
        "rate": column(core, rows, "b_n", "b_t"), "eps": column(core, rows, "eps_n", "eps_t"),
        "r_t": column(core, rows, "r_t"), "phi": column(core, rows, "phi"), "friction": column(core, rows, "mu"),
    }  # fmt: skip


def column(x: Core | Work, rows: np.ndarray, first: str, last: str = "", rank: int = 1) -> np.ndarray:
    """Return a field, or the fields from first to last, from recorded rows (K, .)."""
    start = x.place("recorded").start
    found = rows[:, x.place(first).start - start : x.place(last or first).stop - start]
    if rank == 1:
        return found
    across = getattr(x, first).shape[-1]
    return found.reshape(len(rows), found.shape[1] // max(across, 1), across)


@kernel(types.void(FILL_T, MATRIX, MATRIX, VECTOR, CORE, MATRIX))
def visit(fill, q, v, data, core, rows):
    """Fill `Core.recorded` (K, .) of a case at states q (K, n_q), v (K, n), as for steps that begin there."""
    for k in range(q.shape[0]):
        copy(v[k], core.v)
        fill(q[k], v[k], data, core)
        discretise(core)
        copy_at(core.recorded, rows[k], 0)


def visits_must_fit(case: Case, count: int) -> None:
    """Raise DataError if `mechanics` of a case at so many states exceed `MEMORY`."""
    must_fit(count, Core(case.size, 0.0, 0.0, 0.0).recorded.size)


def visited(case: Case, q: np.ndarray, v: np.ndarray, h: float, normal: str) -> dict[str, np.ndarray]:
    """Return `mechanics` of a case at states q (K, n_q), v (K, n), for steps of h [s], with all rows rigid.

    Raises DataError if these exceed `MEMORY`.
    """
    core = Core(case.size, h, NORMAL_LAWS[normal], case.v_th)
    visits_must_fit(case, len(q))
    rows = np.empty((len(q), core.recorded.size))
    go = visit if case.is_compiled else python_of(visit)
    go(case.fill, q, v, case.data(), core, rows)
    return mechanics(core, rows)
