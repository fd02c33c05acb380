"""A case as a scene: the same mechanics over sparse bodies, so that cases of many bodies can be stepped."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.interpreted import python_of
from workbench.engine.kernels import VECTOR, copy, set_all
from workbench.engine.stored import STORED, Stored
from workbench.mechanics.case import Case
from workbench.mechanics.core import ADVANCE_T, CORE, FILL_T, VELOCITY, Core, friction_coefficient
from workbench.mechanics.instant import INSTANT, Instant, InstantArrays, is_sound
from workbench.mechanics.solids import Plane, Solid
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array

I64 = types.int64


class Mechanics(NamedTuple):
    """A case: its functions, its data, and the core that they fill."""

    fill: Any
    advance: Any
    data: Any
    core: Any


MECHANICS = argument_type(Mechanics, FILL_T, ADVANCE_T, VECTOR, CORE)


@kernel(I64(VECTOR, STORED, I64, I64))
def take_entries(x, X, row, at):
    """The entries of x that are not zero as a row of X, from place `at` on; where the next one begins."""
    for j in range(x.shape[0]):
        if x[j] != 0.0:
            X.column[at], X.data[at] = j, x[j]
            at += 1
    X.pointer[row + 1] = at
    return at


@kernel(types.boolean(CORE, INSTANT), linked=True)
def gather(core, s):
    """What a case has filled for a step, contact by contact and sparse, and whether it is sound; keys are the contacts'
    places."""
    r, at = core.phi.shape[0], 0
    d = core.r_t.shape[0] // r
    M, J = Stored(s.M_pointer, s.M_column, s.M_data), Stored(s.J_pointer, s.J_column, s.J_data)
    J_b, rate, eps, mu = Stored(s.J_b_pointer, s.J_b_column, s.J_b_data), s.rate, s.eps, s.mu
    M.pointer[0] = J.pointer[0] = J_b.pointer[0] = s.J_f_pointer[0] = s.first[0] = 0
    s.free[0] = core.h
    copy(core.v, s.v)
    copy(core.f, s.f)
    copy(core.phi, s.phi)
    copy(core.e, s.e)
    copy(core.g, s.g)
    copy(core.r_b, s.r_b)
    copy(core.eps_b, s.eps_b)
    for i in range(core.v.shape[0]):
        at = take_entries(core.M[i], M, i, at)
    at = 0
    for i in range(core.g.shape[0]):
        at = take_entries(core.J_b[i], J_b, i, at)
    at = 0
    for i in range(r):
        row, own = i * (1 + d), friction_coefficient(core, i)
        s.first[i + 1], s.key[i] = row + 1 + d, i
        s.heading[i, 0], s.heading[i, 1] = core.heading[i, 0], core.heading[i, 1]
        at = take_entries(core.J_n[i], J, row, at)
        rate[row], eps[row], mu[row] = core.r_n[i], core.eps_n[i], 1.0
        for a in range(d * i, d * (i + 1)):
            row += 1
            at = take_entries(core.J_t[a], J, row, at)
            rate[row], eps[row], mu[row] = core.r_t[a], core.eps_t[a], own
    return is_sound(s)


@kernel(types.boolean(MECHANICS, VECTOR, VECTOR, INSTANT), checked=False)
def read(case, q, v, s):
    """The instant of a case at the state (q, v), and whether it is sound."""
    core = case.core
    copy(v, core.v)
    set_all(0.0, core.eps_b)
    set_all(0.0, core.eps_n)
    set_all(0.0, core.eps_t)
    case.fill(q, v, case.data, core)
    return gather(core, s)


class CaseScene(Scene):
    """A case as it is without its relaxation, which belongs to a run; its contacts keep their places as keys."""

    def __init__(self, case: Case, step: float = 1e-3) -> None:
        case.must_fit()
        self.case, self.name, self.step, self.v_th = case, case.name, step, case.v_th
        named = {x.body: x.name for x in reversed(case.solids()) if isinstance(x, Solid)}
        count = case.poses(case.start()[0])[0].shape[-2]
        self.bodies = [named.get(k, f"body {k}") for k in range(count)]
        self.data, self.core = case.data(), Core(case.size, 1.0, VELOCITY, case.v_th)
        self.read = read if case.is_compiled else python_of(read)
        n, m, r, d = case.size
        R = r * (1 + d)
        # A case has no dry friction.
        self.room: InstantArrays = InstantArrays.unset(
            n=n, r=r, ends=r + 1, R=R, m=m, k=0, M_ends=n + 1, M_entries=n * n, J_ends=R + 1, J_entries=R * n,
            J_b_ends=m + 1, J_b_entries=m * n, J_f_ends=1, J_f_entries=0,
        )  # fmt: skip

    def start(self) -> tuple[Array, Array]:
        return self.case.start()

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        """Raises DataError where the mechanics give what does not fit."""
        arrays = self.room.like()
        q, v = (np.ascontiguousarray(x, dtype=float) for x in (q, v))
        return Instant.of_kernels(arrays, self.read(self.mechanics(h), q, v, arrays))

    def mechanics(self, h: float) -> Mechanics:
        """What kernels take of the case, for steps of h [s]."""
        self.core.h = h
        return Mechanics(self.case.fill, self.case.advance, self.data, self.core)

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
