"""MuJoCo's soft contact with elliptic cones: the CCP with its own compliance, spring and damper.

With A = J M^-1 J^T and the reference acceleration a_ref = -b u - k d phi (without k along the tangents), a closed
contact satisfies K contains f perp a + R f - a_ref in K*. Multiplied by h, with a = (u+ - u)/h and p = h f, this is the
CCP with

    eps = R,    R_n = (1 - d)/d A_nn,    R_t = R_n / impratio
    u_n+ + eps_n p_n - (1 - h b) u_n + h k d phi            b = 2 / (dmax timeconst)
    u_t+ + eps_t p_t - (1 - h b_t) u_t                      k = 1 / (dmax timeconst dampratio)^2

The impedance d(phi) rises from dmin to dmax over a penetration of `width` [m], as a power up to the midpoint and
mirrored after it; timeconst [s] is at least 2 h (refsafe). b_t equals b, or with `timeconst_t` follows from a separate
time constant of the tangents (solreffriction). An open contact, phi > 0, has no force (margin 0).

Included: the above, from mj_makeImpedance and mj_referenceConstraint, with MuJoCo's defaults. Differences: A_nn is
exact (MuJoCo's flag diagexact), while MuJoCo's default is the bodies' mean translational mobility in the first
configuration; a contact at phi = 0 is closed, as MuJoCo's documentation says, though not its code; cases have no
negative solref and no torsional and rolling friction. The spring and damper replace the restitution and the gap term of
the run's normal law. Bilateral constraints are relaxed as the run specifies; MuJoCo softens them like contacts.

The associated flow of a slip u_t asks for a height of about phi = mu b |u_t| / (k d), where spring and damper are in
balance. There is no contact above phi = 0, so a sliding contact hops. A sticking one creeps at R_t |f_t| / b.
"""

from dataclasses import astuple, dataclass, replace
from typing import Annotated

import numpy as np
from numba import types

from workbench.builtin.formulations.ccp import ccp
from workbench.engine.compiling import kernel
from workbench.engine.scratch import scratch_matrix
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN
from workbench.language.mobility import mobilities
from workbench.language.modelling import Declaration, Hooks
from workbench.mechanics.core import open_contact, rate, sliding
from workbench.support.errors import ModellingError

IMPEDANCES = 0.0001, 0.9999
"""MuJoCo's mjMINIMP and mjMAXIMP."""


@dataclass(frozen=True)
class Softness:
    """Options of the contact softness; raises ModellingError for values that MuJoCo does not accept."""

    timeconst: Annotated[float, "time constant of the spring and damper [s], at least two steps"] = 0.02
    dampratio: Annotated[float, "damping ratio; 1 is critical"] = 1.0
    dmin: Annotated[float, "impedance at no penetration"] = 0.9
    dmax: Annotated[float, "impedance at penetrations of width and more"] = 0.95
    width: Annotated[float, "penetration over which the impedance rises [m]"] = 0.001
    impratio: Annotated[float, "ratio of frictional to normal impedance"] = 1.0
    midpoint: Annotated[float, "fraction of width at which the impedance is halfway"] = 0.5
    power: Annotated[float, "exponent of the impedance curve up to midpoint, at least 1"] = 2.0

    def __post_init__(self) -> None:
        for name in ("timeconst", "dampratio", "width", "impratio"):
            _must_be(name, getattr(self, name), 0.0, False)
        for name in ("dmin", "dmax", "midpoint"):
            d = getattr(self, name)
            if not IMPEDANCES[0] <= d <= IMPEDANCES[1]:
                what = "a number" if name == "midpoint" else "an impedance"
                raise ModellingError(f"{name}={d:g}; {what} from {IMPEDANCES[0]:g} to {IMPEDANCES[1]:g} is needed")
        _must_be("power", self.power, 1.0, True)

    def numbers(self, timeconst_t: float = 0.0) -> tuple[float, ...]:
        """Return the numbers of the hook, followed by the time constant along the tangents."""
        _must_be("timeconst_t", timeconst_t, 0.0, True)
        return *astuple(self), timeconst_t


def _must_be(name: str, value: float, least: float, itself: bool) -> None:
    """Raise ModellingError unless `value` is finite and above `least` (or equal to it, if `itself`)."""
    if not (np.isfinite(value) and (value > least or (itself and value == least))):
        what = f"number from {least:g} on" if itself else "positive number"
        raise ModellingError(f"{name}={value:g}; a {what} is needed")


USUAL = Softness()
"""MuJoCo's defaults."""


@formulation(
    "mujoco",
    friction="Coulomb's cone with associated flow, softened by MuJoCo's regulariser",
    source="Todorov 2014, ICRA, doi 10.1109/ICRA.2014.6907751; MuJoCo documentation, Computation and Solver parameters",
    condition="contacts may be compliant, and may open while they slide",
)
def mujoco(
    s: ContactSymbols,
    soft: Softness = USUAL,
    timeconst_t: Annotated[float, "time constant of tangential damping [s]; 0: the same as timeconst"] = 0.0,
) -> Declaration:
    return replace(ccp.build(s), hooks=Hooks(given, numbers=soft.numbers(timeconst_t)))


NUMBER = types.float64


@kernel(NUMBER(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER))
def impedance(depth, dmin, dmax, width, midpoint, power):
    """Impedance d at a penetration `depth` >= 0 [m]: two powers that meet at the midpoint."""
    x = min(depth / width, 1.0)
    share, part = (midpoint, x) if x <= midpoint else (1.0 - midpoint, 1.0 - x)
    # The default power 2 is computed without powers, which round.
    y = 1.0 / share * part * part if power == 2.0 else share ** (1.0 - power) * part**power
    return dmin + (dmax - dmin) * (y if x <= midpoint else 1.0 - y)


@kernel(NUMBER(NUMBER, NUMBER))
def safe(timeconst, h):
    """Return a time constant of at least two steps, unless a scene gives it as negative (MuJoCo's direct damping)."""
    return max(timeconst, 2.0 * h) if timeconst > 0.0 else -timeconst


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set the rows: numbers = [timeconst, dampratio, dmin, dmax, width, impratio, midpoint, power, timeconst_t]."""
    dampratio, dmin, dmax, width, impratio = numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    timeconst = safe(numbers[0], core.h)
    k, b = 1.0 / (dmax * timeconst * dampratio) ** 2, 2.0 / (dmax * timeconst)
    b_t = b if numbers[8] == 0.0 else 2.0 / (dmax * safe(numbers[8], core.h))
    r = core.mu.shape[0]
    d_t = core.J_t.shape[0] // r
    W = scratch_matrix(r, (1 + d_t) ** 2)
    mobilities(core, W)
    for i in range(r):
        if core.phi[i] > 0.0:
            open_contact(core, i)
            continue
        d = impedance(-core.phi[i], dmin, dmax, width, numbers[6], numbers[7])
        R = (1.0 - d) / d * W[i, 0]
        u_n = core.r_n[i]
        for j in range(core.v.shape[0]):
            u_n += core.J_n[i, j] * core.v[j]
        # This compliance replaces the run's relaxation.
        core.eps_n[i] = R
        core.b_n[i] = core.r_n[i] - (1.0 - core.h * b) * u_n + core.h * k * d * core.phi[i]
        for j in range(d_t * i, d_t * (i + 1)):
            core.eps_t[j] = R / impratio
            core.b_t[j] = rate(core, j) - (1.0 - core.h * b_t) * sliding(core, j)
