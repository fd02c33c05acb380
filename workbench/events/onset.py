"""The start of slip in space, where the sliding velocity is zero and its direction singular.

Along the motion after the start of slip the direction is analytic in time, and it attracts other motions stiffly. It is
approximated by a polynomial al(s), s = t - t_0, for each contact that begins to slide. Friction along it is prescribed,
which leaves a smooth motion. The coefficients are found by collocation: the velocities that this motion reaches have
the directions al(s_k) at as many times s_k. al(0) is that of the contact problem.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.events.modes import EventError, Modes
from workbench.events.motions import MotionState, Prescribed, angle_directions
from workbench.events.phase import Integrator, Phase, jacobian
from workbench.mechanics.case import Array
from workbench.mechanics.second_order import SecondOrder

DEGREE = 5
SPAN = 1e-2
"""Duration [s] of the first attempt."""
SHORTEST = 1e-6
RESOLVED = 1e-7
"""Largest last coefficient [rad] with which the polynomial resolves the direction. Later ones are smaller, and the
rest is an error across the sliding direction, which friction damps."""
SETTLED = 2e-13
"""Velocity across the direction, relative to the largest sliding speed, at which Newton's method has converged; twice
the integrator's absolute error also suffices."""
MOST = 8
NUDGE = 1e-4
"""Increment [rad] of the finite-difference Jacobian."""


def begin_slip(
    mechanics: SecondOrder,
    state: MotionState,
    modes: Modes,
    e: Array,
    which: NDArray[np.int64],
    end: float,
    method: Integrator,
) -> Phase:
    """The phase, up to `end` [s] at most, in which the contacts `which` begin to slide in the directions e (r, 2).

    Raises EventError where no polynomial resolves the directions.
    """
    first = np.arctan2(e[which, 1], e[which, 0])
    span = min(SPAN, end - state.t)
    while span > SHORTEST or span == end - state.t:
        found = _collocated(mechanics, state, modes, e, which, first, span, method)
        if found is not None and np.abs(found[:, -1]).max() <= RESOLVED:
            motion = Prescribed(mechanics, modes, e, which, found, state.t, span)
            phase = Phase(motion, method, [state.t], [motion.packed(state)])
            solver = method.solver(motion, state.t, phase.y[0], state.t + span)
            while solver.status == "running":
                phase.go_on(solver)
            return phase
        span *= 0.5
    raise EventError(f"at {state.t:.12g} s slip begins in a direction that no polynomial in time resolves")


def _moments(start: float, span: float) -> Array:
    return start + span * np.arange(1, DEGREE + 1) / DEGREE


def _collocated(
    mechanics: SecondOrder, state: MotionState, modes: Modes, e: Array, which: NDArray[np.int64], first: Array,
    span: float, method: Integrator,
) -> Array | None:  # fmt: skip
    """Coefficients (contacts, DEGREE + 1) by Newton's method with one Jacobian; None where it does not converge."""
    moments, k = _moments(state.t, span), len(which)
    # Unknowns are the angles at the times s_k relative to the first one.
    powers = (np.arange(1, DEGREE + 1)[:, None] / DEGREE) ** np.arange(1, DEGREE + 1)
    to_coefficients = np.linalg.inv(powers)

    def coefficients(angles: Array) -> Array:
        return np.column_stack([first, angles.reshape(k, DEGREE) @ to_coefficients.T])

    def misfit(angles: Array) -> tuple[Array, bool]:
        """Velocities across the polynomials' directions over (s_k / span)^2 (k DEGREE,) [m/s], and whether all are
        round-off along the way. Unlike angles they are almost linear in the polynomials."""
        motion = Prescribed(mechanics, modes, e, which, coefficients(angles), state.t, span)
        phase, found = Phase(motion, method, [state.t], [motion.packed(state)]), np.empty((k, DEGREE))
        ahead, off, fastest = True, 0.0, 0.0
        for column, moment in enumerate(moments):
            y = phase.after(-1, moment - phase.s[-1])
            phase.s.append(moment)
            phase.y.append(y)
            at = motion.state(moment, y)
            u = mechanics.without_biases(at.q, at.v).u_t[which]
            t = angle_directions(first + angles.reshape(k, DEGREE)[:, column])
            across = t[:, 0] * u[:, 1] - t[:, 1] * u[:, 0]
            found[:, column] = across * (DEGREE / (column + 1)) ** 2
            off, fastest = max(off, float(np.abs(across).max())), max(fastest, float(np.abs(u).max()))
            ahead &= bool((np.sum(t * u, axis=1) > 0).all())
        return found.ravel(), ahead and off <= max(SETTLED * fastest, 2 * method.atol)

    angles = np.zeros(k * DEGREE)
    now, settled = misfit(angles)
    slope = np.empty((angles.size, angles.size))
    for _ in range(MOST):
        if settled:
            return coefficients(angles)
        if not np.isfinite(now).all():
            return None
        if not angles.any():
            slope = jacobian(lambda x: misfit(x)[0], angles, np.full(angles.size, NUDGE))
        angles = angles - np.linalg.solve(slope, now)
        now, settled = misfit(angles)
    return None
