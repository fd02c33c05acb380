"""A case as a scene: the same mechanics over sparse bodies, so that cases of many bodies can be stepped."""

from typing import Any

import numpy as np
from numba import types

from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.stored import stored
from workbench.mechanics.case import Case
from workbench.mechanics.core import VELOCITY, Core
from workbench.mechanics.instant import Instant, instant
from workbench.mechanics.solids import Plane, Solid
from workbench.scenes.scene import Scene

I64 = types.int64


@kernel(types.void(MATRIX, I64, I64, I64, INDICES))
def count_entries(A, per, stride, first, counts):
    """How many entries of each row are not zero; row i of A is row (i // per) stride + first + i % per of the whole."""
    for i in range(A.shape[0]):
        found = 0
        for j in range(A.shape[1]):
            if A[i, j] != 0.0:
                found += 1
        counts[(i // per) * stride + first + i % per] = found


@kernel(types.void(MATRIX, I64, I64, I64, INDICES, INDICES, VECTOR))
def take_entries(A, per, stride, first, pointer, index, data):
    """Those entries, in the rows of the whole."""
    for i in range(A.shape[0]):
        k = pointer[(i // per) * stride + first + i % per]
        for j in range(A.shape[1]):
            if A[i, j] != 0.0:
                index[k], data[k] = j, A[i, j]
                k += 1


def of_dense(*parts: tuple[Array, int, int, int]) -> Any:
    """Dense matrices as one sparse one; (per, stride, first) tells which rows are a part's (`count_entries`)."""
    rows = sum(len(part[0]) for part in parts)
    pointer = np.zeros(rows + 1, dtype=np.int64)
    for part in parts:
        count_entries(*part, pointer[1:])
    np.cumsum(pointer, out=pointer)
    index, data = np.empty(pointer[-1], dtype=np.int64), np.empty(pointer[-1])
    for part in parts:
        take_entries(*part, pointer, index, data)
    return stored(pointer, index, data, (rows, parts[0][0].shape[1]))


class CaseScene(Scene):
    """A case as it is without its relaxation, which belongs to a run; its contacts keep their places as keys."""

    def __init__(self, case: Case, step: float = 1e-3) -> None:
        case.must_fit()
        self.case, self.name, self.step, self.v_th = case, case.name, step, case.v_th
        named = {x.body: x.name for x in reversed(case.solids()) if isinstance(x, Solid)}
        count = case.poses(case.start()[0])[0].shape[-2]
        self.bodies = [named.get(k, f"body {k}") for k in range(count)]
        self.data, self.core = case.data(), Core(case.size, 1.0, VELOCITY, case.v_th)

    def start(self) -> tuple[Array, Array]:
        return self.case.start()

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        """Raises DataError where the mechanics give what does not fit."""
        core, (r, d) = self.core, self.case.size[2:]
        core.h, core.v = h, v
        core.eps_b[:] = core.eps_n[:] = core.eps_t[:] = 0.0
        self.case.fill(q, v, self.data, core)
        rows = (core.r_n, core.r_t), (core.eps_n, core.eps_t)
        rate, eps, mu = np.empty((r, 1 + d)), np.empty((r, 1 + d)), np.empty((r, 1 + d))
        for whole, (normal, tangential) in zip((rate, eps), rows, strict=True):
            whole[:, 0], whole[:, 1:] = normal, tangential.reshape(r, d)
        mu[:] = core.mu[:, None]
        J = of_dense((core.J_n, 1, 1 + d, 0), (core.J_t, d, 1 + d, 1))
        if (core.mu_s > core.mu).any():
            # Static friction, by the rule of `stepping.discretise`.
            slip = np.linalg.norm((J @ v).reshape(r, 1 + d)[:, 1:] + rate[:, 1:], axis=1)
            stuck = (core.mu_s > core.mu) & (slip <= core.v_th)
            mu[stuck] = core.mu_s[stuck, None]
        return instant(
            h, of_dense((core.M, 1, 1, 0)), v, core.f.copy(), first=np.arange(r + 1) * (1 + d), J=J, mu=mu.ravel(),
            phi=core.phi, rate=rate.ravel(), e=core.e, eps=eps.ravel(), heading=core.heading,
            J_b=of_dense((core.J_b, 1, 1, 0)), g=core.g, r_b=core.r_b, eps_b=core.eps_b,
        )  # fmt: skip

    def advance(self, q: Array, v: Array, h: float) -> Array:
        q_next = np.empty_like(q)
        self.case.advance(q, v, h, self.data, q_next)
        return q_next

    def poses(self, q: Array) -> tuple[Array, Array]:
        return self.case.poses(q)

    def energy(self, q: Array, v: Array) -> float:
        return float(self.case.energy(q, v))

    def solids(self) -> tuple[Solid | Plane, ...]:
        return tuple(self.case.solids())
