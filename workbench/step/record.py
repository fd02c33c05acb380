"""What a run leaves behind: one row of numbers a step, written by the stepper, and its columns under their names."""

from typing import NamedTuple

import numpy as np

from workbench.assemble.plan import Work
from workbench.errors import DataError
from workbench.mechanics.core import Core
from workbench.step.stepping import RunBuffer

MEMORY = 2e9
"""Bytes that the record of one run may take."""


class RunRecord(NamedTuple):
    """States, impulses and the problems that were solved, K steps long.

    Impulses p_t and the Jacobians are in the case's own axes; M, q_, lower, upper, mu, z are those of the problem.
    """

    q: np.ndarray  # (K + 1, n_q)
    v: np.ndarray  # (K + 1, n)
    after: np.ndarray  # (K, n): velocity that each step ends with
    p: np.ndarray  # (K, r + d r + m): p_n, p_t, p_b
    mass: np.ndarray  # (K, n, n)
    b: np.ndarray  # (K, n)
    J: np.ndarray  # (K, r + d r, n): J_n, J_t
    J_b: np.ndarray  # (K, m, n)
    rate: np.ndarray  # (K, r + d r): b_n, b_t
    eps: np.ndarray  # (K, r + d r): compliance of these rows
    r_t: np.ndarray  # (K, d r)
    phi: np.ndarray  # (K, r)
    friction: np.ndarray  # (K, r): mu of the contacts
    M: np.ndarray  # (K, n_c, n_c)
    q_: np.ndarray  # (K, n_c)
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray
    z: np.ndarray
    effort: np.ndarray  # (K, 2): iterations, passes


def width(core: Core, work: Work, n_q: int, steps: int) -> int:
    """Length of a row of `stepping.RunBuffer`; raises DataError where `steps` of them take more than `MEMORY`."""
    length = n_q + core.recorded.size + work.recorded.size
    size = 8 * steps * length
    if size > MEMORY:
        raise DataError(
            f"{steps} steps need {size / 1e9:.3g} GB for their record; at most {MEMORY / 1e9:g} GB are used"
        )
    return length


def record(core: Core, work: Work, track: RunBuffer, k: int) -> RunRecord:
    """The first k steps of a run, which led to the state of `track`; there is a row more for that."""
    n_q, n = track.q.size, track.v.size
    track.rows[k, :n_q], track.rows[k, n_q : n_q + n] = track.q, track.v
    return columns(core, work, track, track.rows[: k + 1], track.effort[:k])


def columns(core: Core, work: Work, track: RunBuffer, rows: np.ndarray, effort: np.ndarray) -> RunRecord:
    """The columns of k rows and of those behind them, which hold a state only; the others tell what they are."""
    n_q, n, k = track.q.size, track.v.size, len(effort)

    def column(x: Core | Work, first: str, last: str = "", rank: int = 1, skip: int = 0) -> np.ndarray:
        start = n_q + (core.recorded.size if x is work else 0) - x.place("recorded").start
        found = rows[:k, start + x.place(first).start + skip : start + x.place(last or first).stop]
        if rank == 1:
            return found
        across = getattr(x, first).shape[-1]
        return found.reshape(k, found.shape[1] // max(across, 1), across)

    return RunRecord(
        q=rows[:, :n_q], v=rows[:, n_q : n_q + n], after=column(work, "out")[:, :n],
        p=column(work, "out", skip=n), mass=column(core, "M", rank=2), b=column(core, "b"),
        J=column(core, "J_n", "J_t", rank=2), J_b=column(core, "J_b", rank=2), rate=column(core, "b_n", "b_t"),
        eps=column(core, "eps_n", "eps_t"), r_t=column(core, "r_t"), phi=column(core, "phi"),
        friction=column(core, "mu"), M=column(work, "M", rank=2), q_=column(work, "q"),
        lower=column(work, "lower"), upper=column(work, "upper"), mu=column(work, "mu"), z=column(work, "z"),
        effort=effort,
    )  # fmt: skip
