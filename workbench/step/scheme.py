"""Time-stepping schemes: where data are evaluated, which velocity is in the laws, and the position update.

    symplectic       data at q              laws on v+     q+ = q + h Gamma v+
    explicit         data at q              laws on v+     q+ = q + h Gamma v        (IDETC2016-60064 (7))
    moreau-jean      data at q_m            laws on v+     q_m = q + (1 - theta) h Gamma v,  q+ = q_m + theta h Gamma v+
    midpoint         data at q + h/2 v      laws on the mean velocity (v + v+)/2     q+ = q + h Gamma (v + v+)/2

Moreau's midpoint rule is moreau-jean with theta = 1/2 (Moreau 1988; Jean 1999), symplectic is theta = 1. All of them
use the problem of the formulation, M v_law = b + J^T p with the laws on v_law, with different numbers. Orders and
derivations: docs/explanation/schemes.md.

Under `midpoint` the mean velocity v_law satisfies the dynamics with doubled masses, (2 M) v_law = (2 M) v + h
f + J^T p, and v+ = 2 v_law - v. By itself this reflects: an impact would end with v+ = -v. So a step in which a contact
closes or begins to stick, and the next one, have the laws on v+ and the data at q + h v instead; each of them has a
local error of second order, which an order of two permits.
"""

from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.mechanics.case import Case
from workbench.mechanics.core import CORE, Core, sliding
from workbench.support.errors import DataError, UnknownNameError

MOREAU_JEAN, EXPLICIT, MIDPOINT = range(3)
KINDS = {"symplectic": MOREAU_JEAN, "explicit": EXPLICIT, "moreau-jean": MOREAU_JEAN, "midpoint": MIDPOINT}
SETTLED = 2
"""Steps for which a contact must be loaded or stick before the laws are on the mean velocity."""
NOTHING = 1e-9
"""Share of the momenta below which an impulse, and of the velocities below which sliding, counts as none."""
AT_START = 1e-9
"""Largest gap [m] and gap rate [m/s] of a contact that is closed at the start of a motion."""
SINCE = types.Array(types.int64, 2, "C")


@dataclass(frozen=True)
class Scheme:
    """A scheme by name; theta in [1/2, 1] is that of moreau-jean. Raises UnknownNameError or DataError."""

    name: str = "symplectic"
    theta: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in KINDS:
            raise UnknownNameError("scheme", self.name, list(KINDS))
        own = {"moreau-jean": (0.5, 1.0), "midpoint": (0.5, 0.5)}.get(self.name, (1.0, 1.0))
        if not own[0] <= self.theta <= own[1]:
            wanted = "a number from 0.5 to 1" if own[0] < own[1] else f"{own[0]:g}"
            raise DataError(f"theta = {self.theta:g} of the scheme {self.name}; {wanted} is needed")

    @property
    def kind(self) -> int:
        """The scheme's number in `KINDS`."""
        return KINDS[self.name]

    def __str__(self) -> str:
        own = self.name == "moreau-jean" and self.theta != 0.5
        return f"{self.name}:theta={self.theta:g}" if own else self.name


SYMPLECTIC = Scheme()


def find_scheme(given: "Scheme | str | None") -> Scheme:
    """Return the scheme for a name such as "midpoint" or "moreau-jean:theta=0.7"; None is symplectic.

    Raises UnknownNameError or DataError.
    """
    if isinstance(given, Scheme):
        return given
    if given is None:
        return SYMPLECTIC
    if not isinstance(given, str):
        raise UnknownNameError("scheme", str(given), list(KINDS))
    name, colon, option = given.partition(":")
    if not colon:
        return Scheme(name, 0.5 if name in ("moreau-jean", "midpoint") else 1.0)
    key, _, value = option.partition("=")
    try:
        theta = float(value)
    except ValueError:
        theta = float("nan")
    if key != "theta" or name != "moreau-jean":
        raise DataError(f"scheme '{given[:60]}'; the only one with a number is moreau-jean:theta=0.7")
    return Scheme(name, theta)


# State of `midpoint`. `since` (r, 3) counts for each contact the steps for which it has been loaded, and has stuck, and
# says whether its gap row was zero in the last step, which fails if a formulation opens contacts or makes them soft.
PRESSED, STUCK, HELD = range(3)


def at_start(case: Case, core: Core) -> NDArray[np.int64]:
    """Return `since` at the start of a case, where closed contacts are held; writes its data into the core."""
    q, v = case.start()
    core.v = v
    case.fill(q, v, case.data(), core)
    since = np.zeros((core.mu.size, 3), dtype=np.int64)
    since[:, HELD] = (core.phi <= AT_START) & (np.abs(core.J_n @ v + core.r_n) <= AT_START)
    return since


@kernel(types.void(CORE, types.float64))
def pose_mean(core, theta):
    """Convert gaps and errors to the start of the step, by the rows at q + theta h v, and masses to M / theta."""
    n, ahead = core.v.shape[0], theta * core.h
    for i in range(core.phi.shape[0]):
        s = core.r_n[i]
        for j in range(n):
            s += core.J_n[i, j] * core.v[j]
        core.phi[i] -= ahead * s
    for i in range(core.g.shape[0]):
        s = core.r_b[i]
        for j in range(n):
            s += core.J_b[i, j] * core.v[j]
        core.g[i] -= ahead * s
    for i in range(n):
        for j in range(n):
            core.M[i, j] /= theta


@kernel(types.void(CORE, SINCE))
def keep_closed(core, since):
    """Close contacts that are held, despite a gap due to curvature."""
    for i in range(core.phi.shape[0]):
        if since[i, HELD]:
            core.phi[i] = min(core.phi[i], 0.0)


@kernel(types.void(CORE, SINCE))
def hold(core, since):
    """Put rigid rows of joints, and of held contacts, at velocity level.

    Correcting their gaps, or a rebound, would make the velocities oscillate, v+ = -v."""
    for i in range(core.phi.shape[0]):
        if since[i, HELD]:
            core.b_n[i] = core.r_n[i]
    for i in range(core.g.shape[0]):
        core.b_b[i] = core.r_b[i]


@kernel(types.float64(VECTOR))
def fastest(v):
    """Return the largest absolute entry."""
    size = 0.0
    for j in range(v.shape[0]):
        size = max(size, abs(v[j]))
    return size


@kernel(types.boolean(CORE, VECTOR, types.int64))
def presses(core, p_n, i):
    """Return whether contact i has an impulse."""
    return p_n[i] > NOTHING * fastest(core.b)


@kernel(types.boolean(CORE, VECTOR, VECTOR, types.int64))
def sticks(core, v, p_n, i):
    """Return whether contact i is loaded and does not slide at the velocity v, or would slide back at 2 v - v-."""
    if not presses(core, p_n, i):
        return False
    d = core.J_t.shape[0] // core.mu.shape[0]
    before, along, now, arm = 0.0, 0.0, 0.0, 0.0
    for row in range(d * i, d * (i + 1)):
        last = sliding(core, row)
        change = 0.0
        for j in range(v.shape[0]):
            change += core.J_t[row, j] * (v[j] - core.v[j])
            arm += abs(core.J_t[row, j])
        u = last + change
        before, along, now = before + last * last, along + last * u, now + u * u
    return 2.0 * along < before or now <= (NOTHING * arm * fastest(v)) ** 2


@kernel(types.boolean(CORE, SINCE, VECTOR, VECTOR))
def changes(core, since, v, p_n):
    """Return whether a contact has just closed, or begun to stick."""
    for i in range(since.shape[0]):
        if presses(core, p_n, i) and since[i, PRESSED] < SETTLED:
            return True
        if sticks(core, v, p_n, i) and since[i, STUCK] < SETTLED:
            return True
    return False


@kernel(types.void(CORE, SINCE, VECTOR, VECTOR))
def count(core, since, v, p_n):
    """Update `since` after a step with the velocity v of the laws and impulses p_n."""
    for i in range(since.shape[0]):
        pressing = presses(core, p_n, i)
        since[i, PRESSED] = min(since[i, PRESSED] + 1, SETTLED) if pressing else 0
        since[i, STUCK] = min(since[i, STUCK] + 1, SETTLED) if sticks(core, v, p_n, i) else 0
        row, arm = core.b_n[i], 0.0
        for j in range(v.shape[0]):
            row += core.J_n[i, j] * v[j]
            arm += abs(core.J_n[i, j])
        since[i, HELD] = 1 if pressing and abs(row) <= NOTHING * arm * fastest(v) else 0
