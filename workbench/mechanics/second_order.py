"""The mechanics of a case at acceleration level: its data at one state, and the time derivatives of its rows.

A case gives the rows J and their rates r. Accelerations also need c = d/dt (J v + r) at fixed velocities, and the
coordinates' rates Gamma(q) v. Both are derivatives along the motion q(s) = advance(q, v, s) at s = 0, which the case
computes to round-off. They come from central differences of order ten, ten states a derivative: with an angular rate
omega and omega s = 1/32, the truncation error is (omega s)^10/2772, below 1e-17 relative, and round-off is some 32
units in the last place of J v, 1e-14 relative. The difference from order eight over the same states shows whether the
rows vary too fast for this; the step is then halved for good. The right step in metres depends on the unit of length.
So at the first state that moves, the step is doubled as long as the difference is mere round-off, except for cases with
quaternions or other coordinates that differ from their velocities.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.interpreted import python_of
from workbench.engine.kernels import VECTOR, set_all
from workbench.engine.scratch import scratch
from workbench.mechanics.case import Array, Case
from workbench.mechanics.core import ADVANCE_T, CORE, FILL_T, GAP, Core
from workbench.support.errors import DataError

ARC = 1 / 32
"""Initial bound on the change of an angle [rad] or a coordinate [m] over one spacing of the differences."""
SLOWEST = 1.0
"""Speed [rad/s, m/s] below which the spacing is no longer increased."""
BENDS = 1e-11
"""Relative difference of orders eight and ten above which the spacing is too wide: order ten is more accurate by (omega
s)^2/4 at least."""
NARROWEST = 2.0**-24
"""Share of `ARC` below which rows count as not smooth."""
WIDEST = 2.0**24
"""Multiple of `ARC` up to which the spacing may grow if the rows do not vary at all."""
TENTH = (5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260)
EIGHTH = (4 / 5, -1 / 5, 4 / 105, -1 / 280, 0.0)
"""Weights of f(k s) - f(-k s), k = 1 ... 5, over the spacing s (Fornberg 1988, Math. Comp. 51)."""


@kernel(types.float64(VECTOR, CORE, types.float64, types.float64, VECTOR, VECTOR))
def add_rows(v, core, tenth, eighth, along, bent):
    """Add the rows J v + r (bilateral, normal, tangential) with one weight to `along` and another to `bent`.

    Returns the largest sum of the absolute values of a row's terms."""
    m, r, largest = core.J_b.shape[0], core.J_n.shape[0], 0.0
    for row in range(along.shape[0]):
        if row < m:
            J, u = core.J_b[row], core.r_b[row]
        elif row < m + r:
            J, u = core.J_n[row - m], core.r_n[row - m]
        else:
            J, u = core.J_t[row - m - r], core.r_t[row - m - r]
        size = abs(u)
        for j in range(v.shape[0]):
            u += J[j] * v[j]
            size += abs(J[j] * v[j])
        along[row] += tenth * u
        bent[row] += eighth * u
        largest = max(largest, size)
    return largest


@kernel(
    types.UniTuple(types.float64, 2)(FILL_T, ADVANCE_T, VECTOR, VECTOR, VECTOR, types.float64, CORE, VECTOR, VECTOR),
    checked=False,  # `advance` has checked the state before.
)
def differentiate(fill, advance, q, v, data, spacing, core, rates, along):
    """Compute the rates (n_q,) of the coordinates and (m + r + d r,) of J v + r by differences of this spacing [s].

    Returns the largest difference between orders eight and ten (nan if something is not finite) and the size of the
    rows."""
    there, bent, size = scratch(q.shape[0]), scratch(along.shape[0]), 0.0
    set_all(0.0, rates)
    set_all(0.0, along)
    set_all(0.0, bent)
    for k in range(5):
        for side in (1.0, -1.0):
            advance(q, v, side * (k + 1) * spacing, data, there)
            fill(there, v, data, core)
            tenth, eighth = side * TENTH[k] / spacing, side * EIGHTH[k] / spacing
            size = add_rows(v, core, tenth, eighth, along, bent)
            for i in range(rates.shape[0]):
                rates[i] += tenth * there[i]
    apart = 0.0
    for row in range(along.shape[0]):
        if not abs(along[row] - bent[row]) <= apart:
            apart = abs(along[row] - bent[row])
    return apart, size


class Dynamics(NamedTuple):
    """A state at acceleration level: formulary, section 1, with rows contact by contact.

    M (n, n), f (n,); J_b (m, n), J_n (r, n), J_t (r, d, n); biases c_b (m,), c_n (r,), c_t (r, d) [m/s2], so that the
    rows' accelerations are J a + c; g (m,), phi (r,) [m]; u_b (m,), u_n (r,), u_t (r, d) [m/s]; mu, mu_s, e (r,); rate
    (n_q,) of the coordinates.
    """

    M: Array
    f: Array
    J_b: Array
    J_n: Array
    J_t: Array
    c_b: Array
    c_n: Array
    c_t: Array
    g: Array
    phi: Array
    u_b: Array
    u_n: Array
    u_t: Array
    mu: Array
    mu_s: Array
    e: Array
    rate: Array


class SecondOrder:
    """The mechanics of one case at acceleration level.

    `differences` is the largest relative difference of the two orders met so far, an upper bound of the truncation
    error."""

    def __init__(self, case: Case) -> None:
        _, m, r, d = case.size
        self.case, self.data, self.arc, self.differences, self._grown = case, case.data(), ARC, 0.0, False
        self._core = Core(case.size, 1.0, GAP, case.v_th)
        self.coordinates = len(case.start()[0])
        self._rows = m + r + d * r
        self._differentiate = differentiate if case.is_compiled else python_of(differentiate)

    def advanced(self, q: Array, v: Array, s: float) -> Array:
        """Return the coordinates from `advance` after s seconds at v; s = 0 normalises quaternions."""
        there = np.empty_like(q)
        self.case.advance(q, v, s, self.data, there)
        return there

    def at(self, q: Array, v: Array) -> Dynamics:
        """Return the mechanics at coordinates q (n_q,), velocities v (n,).

        Quaternions are normalised first, so that trial states of an integrator are accepted. Raises DataError if rows
        are not smooth."""
        q = self.advanced(q, v, 0.0)
        return self._filled(q, v, *self._derivatives(q, v))

    def in_core(self, q: Array, v: Array) -> tuple[Core, Array, Array]:
        """Return the mechanics in a core that the next call overwrites.

        Also returns the coordinates' rates (n_q,) and the biases of all rows (m + r + d r,)."""
        q = self.advanced(q, v, 0.0)
        rates, along = self._derivatives(q, v)
        self._core.v[:] = v
        self.case.fill(q, v, self.data, self._core)
        return self._core, rates, along

    def without_biases(self, q: Array, v: Array) -> Dynamics:
        """Return the mechanics at a state in a tenth of the time of `at`, with biases and rates nan."""
        _, m, r, d = self.case.size
        return self._filled(q, v, np.full(q.size, np.nan), np.full(m + r + d * r, np.nan))

    def _filled(self, q: Array, v: Array, rates: Array, along: Array) -> Dynamics:
        _, m, r, d = self.case.size
        core, n = self._core, v.size
        core.v[:] = v
        self.case.fill(q, v, self.data, core)
        J_n, J_t, J_b = core.J_n.copy(), core.J_t.copy(), core.J_b.copy()
        return Dynamics(
            core.M.copy(), core.f.copy(), J_b, J_n, J_t.reshape(r, d, n),
            along[:m], along[m : m + r], along[m + r :].reshape(r, d), core.g.copy(), core.phi.copy(),
            J_b @ v + core.r_b, J_n @ v + core.r_n, (J_t @ v + core.r_t).reshape(r, d),
            core.mu.copy(), core.mu_s.copy(), core.e.copy(), rates,
        )  # fmt: skip

    def _derivatives(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Rates (n_q,) of the coordinates, and of J v + r (m + r + d r,) at fixed v."""
        speed = max(float(np.abs(v).max(initial=0.0)), SLOWEST)
        core, rates, along = self._core, np.empty(q.size), np.empty(self._rows)

        def bend(arc: float) -> float:
            """Variation of the rows over an arc, relative to the terms of the rates, since these may cancel."""
            spacing = arc / speed
            apart, size = self._differentiate(
                self.case.fill, self.case.advance, q, v, self.data, spacing, core, rates, along
            )
            if not np.isfinite(apart):
                raise DataError(f"{self.case.name}: the rows of this state are not finite; give smaller q and v")
            return apart / (speed * size) if size else 0.0

        # Quaternions vary even if no row does, and no difference shows how much.
        if not self._grown and speed > SLOWEST and q.size == v.size:
            self._grown = True
            while self.arc < WIDEST * ARC and bend(2 * self.arc) <= 16 * np.finfo(float).eps / self.arc:
                self.arc *= 2
        while True:
            found = bend(self.arc)
            # A difference within round-off does not count.
            if found <= BENDS + 32 * np.finfo(float).eps / self.arc:
                self.differences = max(self.differences, found)
                return rates, along
            self.arc *= 0.5
            if self.arc < NARROWEST * ARC:
                raise DataError(f"{self.case.name}: the rows of a contact or joint are not smooth along the motion")
