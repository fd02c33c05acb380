"""Time steps of the programs that arXiv 2207.05060 compares, and their derivatives: unit masses with linear gaps.

A step takes q, v and the force f, (2,) each, to the next q and v. Its gaps are J_i q + c_i. With w = v + h f, the
velocity without contacts, the programs' steps are

    direct, convex    where g = J_i (q + h v) + c_i < 0 and J_i v < 0:    I = -(1 + e) J_i v / |J_i|^2
                      v+ = w + J_i^T I,    q+ = q + h v+ (DiffTaichi) or q + h v (DiffCoSim)
    compliant         where g = J_i q + c_i < 0:    I = h (-k g - b min(0, J_i v))
                      v+ = w + J_i^T I,    q+ = q + h v+
    projected         where g = J_i (q + h w) + c_i < 0:    q+ = q + h w - J_i^T g / |J_i|^2,    J_i v+ = -e J_i w
    exchanged         the same with J_i v+ = (1 - e) (J_i w - g / h) - J_i w

The last three are Warp's; "exchanged" is that of its task 2, where the velocities before and after the projection are
interchanged. After an impact the time t = g / J_i v of the step is left. The first two steps may correct the position
by it, q+ += (t - h) J_i^T I (`POSITION`); with I = -(1 + e) J_i (v + (h - t) f) / |J_i|^2 they correct the velocity too
(`VELOCITY`), which the paper does not have.

The derivative of a step is computed with a complex increment, exact to round-off; that of a run is their product, from
the last step to the first.
"""

from dataclasses import dataclass

import numpy as np
from numba import types

from workbench.builtin.reports.reproductions._impact_tasks import ImpactTask
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR
from workbench.support.arrays import Array

DIRECT, CONVEX, COMPLIANT, PROJECTED, EXCHANGED = range(5)
IGNORED, POSITION, VELOCITY = range(3)
"""Correction by the time of an impact within its step: none, of the position, or of the velocity, too."""
LEAST = 1e-3
"""Smallest approach speed by which a gap is divided [m/s]."""
INCREMENT = 1e-100
"""Imaginary increment of the derivatives."""
I64, STATE = types.int64, types.Array(types.complex128, 1, "C")


@kernel(types.void(I64, I64, MATRIX, VECTOR, STATE, STATE))
def take(kind, corrects, rows, numbers, z, after):
    """Write the next [q, v] (4,) of z = [q, v, f] (6,); rows [J_i, c_i] (r, 3), numbers [h, e, k, b]."""
    h, e, k, b = numbers[0], numbers[1], numbers[2], numbers[3]
    w_x, w_y, none = z[2] + h * z[4], z[3] + h * z[5], 0.0 * z[0]
    after[2], after[3], shift_x, shift_y = w_x, w_y, none, none
    for i in range(rows.shape[0]):
        x, y = rows[i, 0], rows[i, 1]
        size = x * x + y * y
        gap, u, w = x * z[0] + y * z[1] + rows[i, 2], x * z[2] + y * z[3], x * w_x + y * w_y
        shift, impulse = none, none
        if kind == COMPLIANT:
            if gap.real < 0.0:
                impulse = -h * (k * gap + (b * u if u.real < 0.0 else none))
        elif kind in (PROJECTED, EXCHANGED):
            gap += h * w
            if gap.real < 0.0:
                shift = -gap / size
                rebound = -e * w if kind == PROJECTED else (1.0 - e) * (w - gap / h) - w
                impulse = (rebound - w) / size
        else:
            gap += h * u
            if gap.real < 0.0 and u.real < 0.0:
                left = gap / (u if u.real < -LEAST else none - LEAST)
                struck = u + (h - left) * (x * z[4] + y * z[5]) if corrects == VELOCITY else u
                impulse = -(1.0 + e) * struck / size
                if corrects != IGNORED and left.real < h:
                    shift = (left - h) * impulse
        shift_x, shift_y = shift_x + x * shift, shift_y + y * shift
        after[2], after[3] = after[2] + x * impulse, after[3] + y * impulse
    if kind == CONVEX:
        w_x, w_y = z[2], z[3]
    elif kind in (DIRECT, COMPLIANT):
        w_x, w_y = after[2], after[3]
    after[0], after[1] = z[0] + h * w_x + shift_x, z[1] + h * w_y + shift_y


@kernel(types.void(I64, I64, MATRIX, VECTOR, MATRIX, MATRIX))
def run(kind, corrects, rows, numbers, forces, states):
    """Write the states (steps + 1, 4) of a run from states[0] under forces (steps, 2)."""
    z, after = np.zeros(6, dtype=np.complex128), np.zeros(4, dtype=np.complex128)
    for n in range(forces.shape[0]):
        for j in range(4):
            z[j] = states[n, j]
        z[4], z[5] = forces[n, 0], forces[n, 1]
        take(kind, corrects, rows, numbers, z, after)
        for j in range(4):
            states[n + 1, j] = after[j].real


@kernel(types.void(I64, I64, MATRIX, VECTOR, MATRIX, MATRIX, VECTOR, MATRIX))
def reverse(kind, corrects, rows, numbers, forces, states, due, found):
    """Take the gradient `due` (4,) of a function of the last state back to the first, and to the forces, `found`."""
    z, after, before = np.zeros(6, dtype=np.complex128), np.zeros(4, dtype=np.complex128), np.zeros(6)
    for n in range(forces.shape[0] - 1, -1, -1):
        for j in range(4):
            z[j] = states[n, j]
        z[4], z[5] = forces[n, 0], forces[n, 1]
        for j in range(6):
            z[j] += 1j * INCREMENT
            take(kind, corrects, rows, numbers, z, after)
            z[j] = z[j].real
            before[j] = 0.0
            for i in range(4):
                before[j] += due[i] * after[i].imag / INCREMENT
        for j in range(4):
            due[j] = before[j]
        found[n, 0], found[n, 1] = before[4], before[5]


@dataclass(frozen=True)
class Program:
    """The step of a program, `kind`, and what the time of an impact `corrects`; stiffness k [N/m] and damping b [N s/m]
    of its contacts if they are compliant."""

    name: str
    kind: int
    corrects: int = IGNORED
    k: float = 1e4
    b: float = 0.0

    def gradient(self, task: ImpactTask, forces: Array | None = None, refined: int = 1) -> tuple[float, Array, Array]:
        """The loss of a task by this step, and its derivatives by the start (4,) and the force of each step (steps, 2),
        steps being `refined` times as many as the paper's."""
        steps = task.steps * refined
        forces = np.tile(np.array(task.force), (steps, 1)) if forces is None else forces
        rows, numbers = np.array(task.rows), np.array([task.duration / steps, task.e, self.k, self.b])
        states, found = np.zeros((steps + 1, 4)), np.zeros((steps, 2))
        states[0] = np.concatenate(task.start())
        run(self.kind, self.corrects, rows, numbers, forces, states)
        loss, slope = task.loss(states[-1, :2])
        due = np.array([*slope, 0.0, 0.0])
        reverse(self.kind, self.corrects, rows, numbers, forces, states, due, found)
        return loss, due, found
