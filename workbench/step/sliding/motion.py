"""The continuous motion while all contacts slide, to which time stepping of a case must converge as h -> 0."""

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.algorithms.enumeration import all_solutions
from workbench.engine.lazy import integrate
from workbench.mechanics.contact import Array
from workbench.step.sliding.system import Multipliers, SlidingSystem
from workbench.support.errors import DataError

SystemAt = Callable[[Array, Array], SlidingSystem]
"""(q, v) -> the sliding contacts at that state."""


def unique_multipliers(system: SlidingSystem) -> Multipliers:
    """The multipliers of a sliding system; DataError where A is singular or the LCP has no or several solutions."""
    found = all_solutions(system.lcp)
    if len(found) != 1:
        raise DataError(f"the sliding forces are not unique: {len(found)} solutions")
    return system.multipliers(found[0])


def sliding_motion(system_at: SystemAt, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """State (q, v) after t seconds of q' = v, v' = a, to about ten digits; a by the sliding forces alone.

    For coordinates whose rates are the velocities. It sees no contact open: the caller must. Raises DataError where the
    forces are not unique on the way, or a slip reverses.
    """

    def signs(system: SlidingSystem) -> Array:
        return np.concatenate([np.ravel(system.xi_b), np.ravel(system.xi_u)])

    first = signs(system_at(q, v))

    def same(_: float, y: Array) -> float:
        return 0.5 if np.array_equal(signs(system_at(*np.split(y, 2))), first) else -0.5

    # Beyond a reversal friction throws the slip back and forth, in ever smaller steps.
    same.terminal = True  # type: ignore[attr-defined]

    def rate(_: float, y: Array) -> Array:
        system = system_at(*np.split(y, 2))
        return np.concatenate([y[len(q) :], system.acceleration(unique_multipliers(system))])

    if t == 0:
        return q, v
    found = integrate.solve_ivp(rate, (0.0, t), np.concatenate([q, v]), events=same, rtol=1e-10, atol=1e-12)
    if found.status == 1:
        raise DataError(f"a slip reverses after {found.t[-1]:.6g} s")
    y = found.y[:, -1]
    return y[: len(q)], y[len(q) :]


def steps_sliding(run: Any, closed: list[int]) -> int:
    """Return the number of steps of a plane run (`simulation.Run`) in which all contacts slide one way, with those
    listed closed."""
    slip = run.u_t[:, :, 0] * np.sign(run.u_t[:1, :, 0]) > 0
    holds = slip.all(axis=1) & (run.p_n[:, closed] > 0).all(axis=1)
    return int(run.steps if holds.all() else np.argmin(holds))
