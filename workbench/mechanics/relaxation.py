"""Constraint relaxation: stiffness and damping in place of rigid constraint rows, under any formulation.

A row with stiffness k and damping b gets the diagonal eps = 1/(k h^2 + b h) and the constant eps h k delta, delta being
its position violation (formulary, section 4; DETC2017-67988, eqs. (40)-(42)). Friction rows act as bristles: their
constant is -eps h (lambda_t + b u_t) with the last step's friction force and sliding velocity, so that during stick

    lambda_t+ = lambda_t - h k u_t+ - b (u_t+ - u_t).
"""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.mechanics.core import CORE, GAP, MOREAU, across_row, sliding, turn_to_sliding
from workbench.support.errors import DataError, UnknownNameError


@dataclass(frozen=True)
class Relaxation:
    """Stiffness k [N/m] and damping b [N s/m] of normal, friction and bilateral rows; infinite stiffness is rigid.

    lateral = 1 also aligns the axes of a sliding contact in space with its sliding direction and makes the row across
    it viscous, eps_l = |u_t| / (mu p_n) with the last step's p_n (DETC2017-67988, eq. (43) with lambda_n), so that
    friction stays aligned. Raises DataError for negative or undefined numbers and for k = b = 0.
    """

    k_n: float = np.inf
    b_n: float = 0.0
    k_t: float = np.inf
    b_t: float = 0.0
    k_b: float = np.inf
    b_b: float = 0.0
    lateral: float = 0.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not value >= 0 or (f.name.startswith("b_") and np.isinf(value)):
                raise DataError(f"relaxation {f.name} = {value:g}; a nonnegative number is needed")
        for row in "ntb":
            if getattr(self, f"k_{row}") == getattr(self, f"b_{row}") == 0:
                raise DataError(f"relaxation k_{row} = b_{row} = 0; a row without stiffness needs damping")
        if self.lateral not in (0, 1):
            raise DataError(f"relaxation lateral = {self.lateral:g}; 0 or 1 is needed")

    def with_values(self, **values: float) -> Self:
        """Return the same relaxation with other numbers; raises UnknownNameError or DataError."""
        names = [f.name for f in fields(self)]
        for key in values:
            if key not in names:
                raise UnknownNameError("relaxation", key, names)
        return type(self)(**{name: values.get(name, getattr(self, name)) for name in names})

    def data(self) -> np.ndarray:
        """The numbers in order, for the compiled stepper."""
        return np.array([float(getattr(self, f.name)) for f in fields(self)])

    def __str__(self) -> str:
        given = [f"{f.name}={getattr(self, f.name):g}" for f in fields(self) if getattr(self, f.name) != f.default]
        return ",".join(given) or "rigid"


RIGID = Relaxation()

COUNT = len(fields(Relaxation))
K_N, B_N, K_T, B_T, K_B, B_B, LATERAL = range(COUNT)


@kernel(types.boolean(VECTOR), linked=True)
def is_rigid(numbers):
    """Return whether no row is relaxed."""
    finite = np.isfinite(numbers[K_N]) or np.isfinite(numbers[K_T]) or np.isfinite(numbers[K_B])
    return not finite and numbers[LATERAL] == 0.0


@kernel(types.float64(types.float64, types.float64, types.float64))
def compliance(k, b, h):
    """Return eps = 1/(k h^2 + b h) [1/kg]."""
    return 1.0 / (k * h * h + b * h)


@kernel(types.void(CORE, VECTOR, VECTOR))
def relax(core, numbers, last_p_t):
    """Write compliances and constants of the relaxed rows; last_p_t (d r,) [N s] in the case's axes, nan if none."""
    h = core.h
    if np.isfinite(numbers[K_N]):
        eps = compliance(numbers[K_N], numbers[B_N], h)
        for i in range(core.phi.shape[0]):
            if core.law == MOREAU and core.phi[i] > 0.0:
                continue
            rigid = 1.0 / h if core.law == GAP else 0.0
            core.eps_n[i] = eps
            core.b_n[i] += (eps * h * numbers[K_N] - rigid) * core.phi[i]
    if np.isfinite(numbers[K_B]):
        eps = compliance(numbers[K_B], numbers[B_B], h)
        for i in range(core.g.shape[0]):
            core.eps_b[i] = eps
            core.b_b[i] += (eps * h * numbers[K_B] - 1.0 / h) * core.g[i]
    if np.isfinite(numbers[K_T]):
        eps = compliance(numbers[K_T], numbers[B_T], h)
        for i in range(core.b_t.shape[0]):
            last = 0.0 if np.isnan(last_p_t[i]) else last_p_t[i]
            core.eps_t[i] = eps
            core.b_t[i] -= eps * (last + h * numbers[B_T] * sliding(core, i))


@kernel(types.void(CORE, VECTOR, VECTOR))
def relax_across(core, numbers, last_p_n):
    """Regularise sliding contacts in space laterally; last_p_n (r,) [N s], nan if none."""
    if numbers[LATERAL] == 0.0 or core.J_t.shape[0] == core.mu.shape[0]:
        return
    for i in range(core.mu.shape[0]):
        speed, limit = turn_to_sliding(core, i), core.mu[i] * last_p_n[i]
        if speed > core.v_th and limit > 0.0:
            across_row(core, i, speed / limit)
