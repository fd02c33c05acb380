"""What a run leaves behind: one row of numbers a step, written by the stepper, and its columns under their names."""

from typing import NamedTuple

import numpy as np

from workbench.assembly import Work
from workbench.errors import DataError
from workbench.hooks import Core

MEMORY = 2e9
"""Bytes that the record of one run may take."""


class Record(NamedTuple):
    """States, impulses and the problems that were solved, K steps long.

    Impulses p_t and the Jacobians are in the case's own axes; M, q_, lower, upper, mu, z are those of the problem.
    """

    q: np.ndarray  # (K + 1, n_q)
    v: np.ndarray  # (K + 1, n)
    p: np.ndarray  # (K, r + d r + m): p_n, p_t, p_b
    mass: np.ndarray  # (K, n, n)
    b: np.ndarray  # (K, n)
    J: np.ndarray  # (K, r + d r, n): J_n, J_t
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


class Rows:
    """Room for the record of at most K steps: a row is [q, `Core.recorded`, `Work.recorded`].

    Raises DataError where that takes more than `MEMORY`.
    """

    def __init__(self, core: Core, work: Work, n_q: int, K: int) -> None:
        self.core, self.work, self.n_q = core, work, n_q
        width = n_q + self.core.recorded.size + self.work.recorded.size
        if 8 * K * width > MEMORY:
            raise DataError(
                f"{K} steps need {8 * K * width / 1e9:.3g} GB for their record; at most {MEMORY / 1e9:g} GB are used"
            )
        # empty, not zeros: the pages of a run that fails early are never touched.
        self.rows, self.effort = np.empty((K + 1, width)), np.zeros((K, 2), dtype=np.int64)

    def record(self, k: int, q: np.ndarray, v: np.ndarray) -> Record:
        """The first k steps, which led to the state (q, v)."""
        n = v.size
        self.rows[k, : self.n_q], self.rows[k, self.n_q : self.n_q + n] = q, v

        def columns(x: Core | Work, first: str, last: str = "", rank: int = 1, skip: int = 0) -> np.ndarray:
            start = self.n_q + (self.core.recorded.size if x is self.work else 0) - x.place("recorded").start
            found = self.rows[:k, start + x.place(first).start + skip : start + x.place(last or first).stop]
            width = getattr(x, first).shape[-1] if rank == 2 else 0
            return found.reshape(k, found.shape[1] // width, width) if width else found

        core, work = self.core, self.work
        return Record(
            q=self.rows[: k + 1, : self.n_q], v=self.rows[: k + 1, self.n_q : self.n_q + n],
            p=columns(work, "out", skip=n), mass=columns(core, "M", rank=2), b=columns(core, "b"),
            J=columns(core, "J_n", "J_t", rank=2), rate=columns(core, "b_n", "b_t"),
            eps=columns(core, "eps_n", "eps_t"), r_t=columns(core, "r_t"), phi=columns(core, "phi"),
            friction=columns(core, "mu"), M=columns(work, "M", rank=2), q_=columns(work, "q"),
            lower=columns(work, "lower"), upper=columns(work, "upper"), mu=columns(work, "mu"), z=columns(work, "z"),
            effort=self.effort[:k],
        )  # fmt: skip
