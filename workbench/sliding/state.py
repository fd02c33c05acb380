"""The sliding contacts of any case at a state, from its compiled mechanics: the problem of accelerations there.

Bilateral constraints of the case enter without friction, closed contacts as unilateral ones with their sliding
direction e_t, J_t = e_t^T J_t, xi = 1. What the velocities do to a constraint row, d/dt (J v + r) at fixed v, comes
from differences along the motion.
"""

import numpy as np

from workbench.errors import DataError
from workbench.mechanics.case import Array, Case
from workbench.mechanics.core import Core
from workbench.sliding.system import SlidingSystem

CLOSED = 1e-9
"""Gap [m] and separating speed [m/s] up to which a contact counts as closed."""
STEP = 1e-3
"""Time [s] over which rows are differenced, to fourth order."""
UNCERTAINTY = 1e-9
"""Relative uncertainty of a system that was made this way, from the differences."""


def sliding_system(case: Case, q: Array | None = None, v: Array | None = None) -> SlidingSystem:
    """The sliding contacts at (q, v), or at the start: as the case gives them, else from its compiled mechanics.

    Raises DataError where a closed contact does not slide (|u_t| <= v_th), or none is closed.
    """
    if q is None or v is None:
        q, v = case.start()
    if gives_its_own(case):
        system: SlidingSystem = case.sliding_system(q, v)  # type: ignore[attr-defined]
        return system
    return from_mechanics(case, q, v)


def gives_its_own(case: Case) -> bool:
    """Whether the case states its sliding contacts itself."""
    return hasattr(case, "sliding_system")


def from_mechanics(case: Case, q: Array, v: Array) -> SlidingSystem:
    """The sliding contacts at (q, v) from the compiled mechanics; DataError as `sliding_system`."""
    _, m, _, d = case.size
    core = _filled(case, q, v)
    u_n, u_t = core.J_n @ v + core.r_n, (core.J_t @ v + core.r_t).reshape(-1, d)
    closed = np.flatnonzero((core.phi <= CLOSED) & (u_n <= CLOSED))
    speed = np.linalg.norm(u_t, axis=1)
    still = [i for i in closed if speed[i] <= case.v_th]
    if still:
        raise DataError(
            f"{case.name}: contact {still[0]} is closed and does not slide, |u_t| = {speed[still[0]]:g} m/s; the "
            f"law of sliding needs more than v_th = {case.v_th:g} m/s"
        )
    if not len(closed):
        raise DataError(f"{case.name}: no contact is closed at this state; nothing slides")
    along = (u_t / np.where(speed > 0, speed, 1.0)[:, None])[closed]
    J_t = np.einsum("id,idn->in", along, core.J_t.reshape(-1, d, len(v))[closed])
    bias = _bias(case, q, v)
    return SlidingSystem(
        core.M, core.f, core.J_b, np.zeros((m, len(v))), 0.0, 1.0, bias[:m],
        core.J_n[closed], J_t, core.mu[closed], 1.0, bias[m + closed],
    )  # fmt: skip


def _filled(case: Case, q: Array, v: Array) -> Core:
    core = Core(case.size, STEP, 0.0, case.v_th)
    core.v[:] = v
    case.fill(np.asarray(q, dtype=float), np.asarray(v, dtype=float), case.data(), core)
    return core


def _bias(case: Case, q: Array, v: Array) -> Array:
    """d/dt (J v + r) of the bilateral, then the normal rows at fixed velocities [m/s2]."""

    def rates(h: float) -> Array:
        there = np.empty_like(q)
        case.advance(q, v, h, case.data(), there)
        core = _filled(case, there, v)
        return np.concatenate([core.J_b @ v + core.r_b, core.J_n @ v + core.r_n])

    near, far = ((rates(x) - rates(-x)) / (2 * x) for x in (STEP, 2 * STEP))
    bias: Array = (4 * near - far) / 3
    return bias
