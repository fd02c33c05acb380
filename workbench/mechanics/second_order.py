"""The mechanics of a case at acceleration level: what a case gives at one state, and the rates of its rows.

A case gives the rows J and their rates r. Accelerations need c = d/dt (J v + r) at fixed velocities as well, and the
coordinates' rates Gamma(q) v. Both are derivatives along the motion q(s) = advance(q, v, s) at s = 0, which the case
takes as exactly as its arithmetic is. They come from central differences of order ten, ten states a derivative: with
the rate omega of what turns and omega s = 1/32 the truncation error is (omega s)^10/2772, below 1e-17 relative, and
round-off is some 32 units of the last place of J v, 1e-14 relative. The difference from order eight over the same
states tells whether the rows bend faster than that; the step is then halved for good.
"""

from typing import NamedTuple

import numpy as np

from workbench.errors import DataError
from workbench.mechanics.case import Array, Case
from workbench.mechanics.core import GAP, Core

ARC = 1 / 32
"""Largest change of an angle [rad] or a coordinate [m] over one spacing of the differences, at first."""
SLOWEST = 1.0
"""Speed [rad/s, m/s] below which the spacing no longer grows."""
BENDS = 1e-11
"""Relative difference of orders eight and ten from which on the spacing is too wide: order ten is finer by
(omega s)^2/4 at least."""
NARROWEST = 2.0**-24
"""Share of `ARC` below which rows count as not smooth."""
STATES = 1.0, 2.0, 3.0, 4.0, 5.0, -1.0, -2.0, -3.0, -4.0, -5.0
"""Where the differences are taken, in spacings."""
TENTH = np.array([5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260])
EIGHTH = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280, 0.0])
"""Weights of f(k s) - f(-k s), k = 1 ... 5, over the spacing s (Fornberg 1988, Math. Comp. 51)."""


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
    """The mechanics of one case at acceleration level; `differences` is the largest relative difference of two orders
    of the derivatives met so far, which bounds their truncation error from above."""

    def __init__(self, case: Case) -> None:
        n, m, r, d = case.size
        self.case, self.data, self.arc, self.differences = case, case.data(), ARC, 0.0
        self._core = core = Core(case.size, 1.0, GAP, case.v_th)
        self._rows, self._rates = np.empty((10, m + r + d * r, n)), np.empty((10, m + r + d * r))
        parts = slice(0, m), slice(m, m + r), slice(m + r, None)
        self._copies = [
            [(to[i, part], given) for part, given in zip(parts, source, strict=True) if given.size]
            for i in range(10)
            for to, source in (
                (self._rows, (core.J_b, core.J_n, core.J_t)),
                (self._rates, (core.r_b, core.r_n, core.r_t)),
            )
        ]

    def advanced(self, q: Array, v: Array, s: float) -> Array:
        """The coordinates `advance` gives after s seconds at v; s = 0 brings quaternions to unit length."""
        there = np.empty_like(q)
        self.case.advance(q, v, s, self.data, there)
        return there

    def at(self, q: Array, v: Array) -> Dynamics:
        """The mechanics at coordinates q (n_q,), velocities v (n,); quaternions are brought to unit length before, so
        that trial states of an integrator are as good as any. Raises DataError where rows are not smooth."""
        q = self.advanced(q, v, 0.0)
        return self._filled(q, v, *self._derivatives(q, v))

    def without_biases(self, q: Array, v: Array) -> Dynamics:
        """The mechanics at a state in a tenth of the time, biases and rates nan."""
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
        while True:
            there, values = self._sampled(q, v, self.arc / speed)
            if not np.isfinite(values).all():
                raise DataError(f"{self.case.name}: the rows of this state are not finite; give smaller q and v")
            spacing = self.arc / speed
            changes = values[:5] - values[5:]
            tenth, eighth = TENTH @ changes / spacing, EIGHTH @ changes / spacing
            # The sizes of what the rates are sums of, since they may cancel.
            size = float((np.abs(self._rows[0]) @ np.abs(v) + np.abs(self._rates[0])).max(initial=0.0)) * speed
            bend = float(np.abs(tenth - eighth).max(initial=0.0)) / size if size else 0.0
            # What rounding alone makes of the difference is no bend.
            if bend <= BENDS + 32 * np.finfo(float).eps / self.arc:
                self.differences = max(self.differences, bend)
                return TENTH @ (there[:5] - there[5:]) / spacing, tenth
            self.arc *= 0.5
            if self.arc < NARROWEST * ARC:
                raise DataError(f"{self.case.name}: the rows of a contact or joint are not smooth along the motion")

    def _sampled(self, q: Array, v: Array, s: float) -> tuple[Array, Array]:
        """Coordinates (10, n_q) and J v + r (10, rows) at +k s, then at -k s."""
        core, case, data = self._core, self.case, self.data
        there = np.empty((10, q.size))
        for i, k in enumerate(STATES):
            case.advance(q, v, k * s, data, there[i])
            case.fill(there[i], v, data, core)
            for to, given in (*self._copies[2 * i], *self._copies[2 * i + 1]):
                to[:] = given
        return there, self._rows @ v + self._rates
