"""A case as a scene: the same mechanics over sparse bodies, so that cases of many bodies can be stepped."""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.stored import STORED, Stored, as_sparse
from workbench.mechanics.case import Case
from workbench.mechanics.core import CORE, VELOCITY, Core
from workbench.mechanics.instant import Instant
from workbench.mechanics.solids import Plane, Solid
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array

I64 = types.int64


@kernel(I64(VECTOR, STORED, I64, I64))
def take_entries(x, X, row, at):
    """The entries of x that are not zero as a row of X, from place `at` on; where the next one begins."""
    for j in range(x.shape[0]):
        if x[j] != 0.0:
            X.column[at], X.data[at] = j, x[j]
            at += 1
    X.pointer[row + 1] = at
    return at


@kernel(types.void(CORE, VECTOR, STORED, STORED, STORED, VECTOR, VECTOR, VECTOR), checked=False)
def gather(core, v, M, J, J_b, rate, eps, mu):
    """What a case has filled, contact by contact and sparse; rate, eps, mu (R,). The pointers begin with 0."""
    r, at = core.phi.shape[0], 0
    d = core.r_t.shape[0] // r
    for i in range(v.shape[0]):
        at = take_entries(core.M[i], M, i, at)
    at = 0
    for i in range(core.g.shape[0]):
        at = take_entries(core.J_b[i], J_b, i, at)
    at = 0
    for i in range(r):
        row, slip = i * (1 + d), 0.0
        at = take_entries(core.J_n[i], J, row, at)
        rate[row], eps[row], mu[row] = core.r_n[i], core.eps_n[i], 1.0
        for a in range(d * i, d * (i + 1)):
            row += 1
            at = take_entries(core.J_t[a], J, row, at)
            rate[row], eps[row], mu[row] = core.r_t[a], core.eps_t[a], core.mu[i]
            u = 0.0
            for j in range(v.shape[0]):
                u += core.J_t[a, j] * v[j]
            slip += (u + core.r_t[a]) ** 2
        # Static friction, by the rule of `stepping.discretise`.
        if core.mu_s[i] > core.mu[i] and np.sqrt(slip) <= core.v_th:
            for a in range(row - d + 1, row + 1):
                mu[a] = core.mu_s[i]


class CaseScene(Scene):
    """A case as it is without its relaxation, which belongs to a run; its contacts keep their places as keys."""

    def __init__(self, case: Case, step: float = 1e-3) -> None:
        case.must_fit()
        self.case, self.name, self.step, self.v_th = case, case.name, step, case.v_th
        named = {x.body: x.name for x in reversed(case.solids()) if isinstance(x, Solid)}
        count = case.poses(case.start()[0])[0].shape[-2]
        self.bodies = [named.get(k, f"body {k}") for k in range(count)]
        self.data, self.core = case.data(), Core(case.size, 1.0, VELOCITY, case.v_th)
        n, _, r, d = case.size
        none = np.zeros(0)
        # What no state changes: a case has no dry friction.
        self.first, self.key = np.arange(r + 1) * (1 + d), np.arange(r)
        self.dry = as_sparse(Stored.of_size(0, 0), (0, n)), none, none, none

    def start(self) -> tuple[Array, Array]:
        return self.case.start()

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        """Raises DataError where the mechanics give what does not fit."""
        core, (n, m, r, d) = self.core, self.case.size
        R = r * (1 + d)
        core.h, core.v = h, v
        core.eps_b[:] = core.eps_n[:] = core.eps_t[:] = 0.0
        self.case.fill(q, v, self.data, core)
        M, J, J_b = (Stored.of_size(rows, rows * n) for rows in (n, R, m))
        rate, eps, mu = np.empty(R), np.empty(R), np.empty(R)
        gather(core, core.v, M, J, J_b, rate, eps, mu)
        return Instant(
            h, as_sparse(M, (n, n)), core.v.copy(), core.f.copy(), self.first, as_sparse(J, (R, n)), mu,
            core.phi.copy(), rate, core.e.copy(), eps, self.key, core.heading.copy(), as_sparse(J_b, (m, n)),
            core.g.copy(), core.r_b.copy(), core.eps_b.copy(), *self.dry,
        )  # fmt: skip

    def advance(self, q: Array, v: Array, h: float) -> Array:
        q_next = np.empty_like(q)
        self.case.advance(q, v, h, self.data, q_next)
        return q_next

    def poses(self, q: Array) -> tuple[Array, Array]:
        return self.case.poses(q)

    def energy(self, q: Array, v: Array) -> float:
        return float(self.case.energy(q, v))

    def motion(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        return *self.case.poses(q), self.case.energy(q, v)

    def solids(self) -> tuple[Solid | Plane, ...]:
        return tuple(self.case.solids())
