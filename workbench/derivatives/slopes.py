"""The data of a step as a function of its inputs, and their slope along a tangent by differences: the compiled part.

    inputs x    q, v, last step's v+, p_n, p_t, p_b, the rest of the memory, data of the case, v+
    data y      parameters of the mixed system, axes in use, the rest of the memory after the step, q+

Derivatives come from a tape of the evaluation (`tape`). Where there is none, they are taken along one tangent after the
other by differences.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from workbench.derivatives.differences import AT, ERROR, ROUNDED, SLOPE, ULP, WIDTHS, are_rough, refine_slopes
from workbench.derivatives.system import SYSTEM
from workbench.derivatives.tape import TAPE
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import VECTOR, copy, copy_at, set_all
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch_matrix
from workbench.language.assemble.plan import WORK
from workbench.mechanics.core import CORE
from workbench.step.stepping import FUNCTIONS, SETTINGS, TRACK, begin_step

I64, F64 = types.int64, types.float64


class Sweep(Packed):
    """Work space for the derivative of a step of n_w inputs, n_y data, K tangents (`columns`)."""

    sizes = ("n_o", "n_w", "n_y", "n_f", "X", "B", "columns", "nnz", "K")
    integers = ("asks", "way", "row_of", "column_of", "order", "coefficient", "pivots")
    fields: ClassVar[dict[str, tuple]] = {
        "asks": (),  # whether the impulses of a step have an effect on the next
        "way": (1,),  # whether the tape holds at the inputs (`tape.path`)
        "row_of": ("nnz",),
        "column_of": ("nnz",),
        "order": ("X",),
        "coefficient": ("B",),  # index of a set's coefficient among the problem's, -1 for none
        "x": ("n_w",),
        "unit": ("n_w",),  # size of an input
        "moved": ("n_w",),
        "y": ("n_y",),
        "largest": (1,),  # largest of the finite y
        "margin": (1,),  # the smallest relative margin of a mode
        "w": ("columns",),  # [free unknowns, solution, 1]
        "raw": ("n_o",),  # the solution in the axes in use
        "LU": ("n_f", "n_f"),
        "pivots": ("n_f",),
        "dy": ("n_y", "K"),
        "answers": ("n_o", "K"),
        "terms": ("K",),  # sizes of the terms of their sums
    }

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


SWEEP = Sweep.compiled


class Machine(NamedTuple):
    """Data of a step: the stepper's parts, and work space for its derivative."""

    core: Any
    work: Any
    track: Any
    functions: Any
    settings: Any
    system: Any
    sweep: Any
    tape: Any


MACHINE = argument_type(Machine, CORE, WORK, TRACK, FUNCTIONS, SETTINGS, SYSTEM, SWEEP, TAPE)


@kernel(types.void(MACHINE, VECTOR))
def enter(m, x):
    """Copy the inputs x (n_w,) to the beginning of a step."""
    core, work, track = m.core, m.work, m.track
    n_q, n, r, t = track.q.shape[0], core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    n_o, n_d, after = work.out.shape[0], track.data.shape[0], n_q + n
    n_m = x.shape[0] - after - n_o - n_d - n
    for i in range(n_q):
        track.q[i] = x[i]
    for i in range(n):
        track.v[i] = x[n_q + i]
    for i in range(n_o):
        work.out[i] = x[after + i]
    # The default memory (`hooks.remember_impulses`), and the rest of it.
    for i in range(min(r + t, track.memory.shape[0])):
        track.memory[i] = x[after + n + i]
    for i in range(n_m):
        track.memory[r + t + i] = x[after + n_o + i]
    for i in range(n_d):
        track.data[i] = x[after + n_o + n_m + i]


@kernel(types.void(MACHINE))
def begin(m):
    """Compute the contact data of the entered step in the core. A separate kernel, because inlining by numba shares
    names with the caller."""
    begin_step(0, m.core, m.work, m.track, m.functions, m.settings)


@kernel(I64(CORE, VECTOR))
def read_data(core, y):
    """Copy the parameters of the mixed system and the axes in use to the beginning of y (n_y,); return their number."""
    copy_at(core.theta, y, 0)
    k = core.theta.shape[0]
    for i in range(core.mu.shape[0]):
        y[k], y[k + 1] = core.frame[i, 0], core.frame[i, 1]
        k += 2
    return k


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def contact_data(m, x, y):
    """Compute all data of a step but q+, in y (n_y,), at the inputs x (n_w,); the core's are left there."""
    core, track = m.core, m.track
    impulses = core.mu.shape[0] + core.b_t.shape[0]
    enter(m, x)
    begin(m)
    k = read_data(core, y)
    for i in range(impulses, track.memory.shape[0]):
        y[k + i - impulses] = track.memory[i]


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def coordinates_after(m, x, y):
    """Compute q+ at the inputs x (n_w,), the last data of y (n_y,)."""
    n, n_q, n_d = m.core.v.shape[0], m.track.q.shape[0], m.track.data.shape[0]
    last = x.shape[0] - n
    m.functions.advance(x[:n_q], x[last:], m.core.h, x[last - n_d : last], y[y.shape[0] - n_q :])


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def step_data(m, x, y):
    """Compute all data y (n_y,) of a step with the inputs x (n_w,)."""
    contact_data(m, x, y)
    coordinates_after(m, x, y)


@kernel(types.void(MACHINE))
def find_units(m):
    """Compute the sizes of the state, the last solution, v+ and the contact data; those of the data are constant.

    Impulses have the size of the largest: next to a small one the data may be curved."""
    s, size, largest = m.sweep, 0.0, 0.0
    x, unit, y, n, n_d = s.x, s.unit, s.y, m.core.v.shape[0], m.track.data.shape[0]
    last, first = x.shape[0] - n, m.track.q.shape[0] + 2 * n
    end = first + m.work.out.shape[0] - n
    for i in range(first, end):
        largest = max(largest, abs(x[i])) if x[i] - x[i] == 0.0 else largest
    for i in range(x.shape[0]):
        if i < last - n_d or i >= last:
            unit[i] = largest if first <= i < end and largest > 0.0 else 1.0 + abs(x[i])
    for i in range(y.shape[0] - m.track.q.shape[0]):
        size = max(size, abs(y[i])) if y[i] - y[i] == 0.0 else size
    s.largest[0] = size


@kernel(types.boolean(MACHINE, VECTOR, F64, VECTOR))
def find_slope(m, t, unit, slope):
    """Compute the slope (n_y,) of the data along a tangent of the inputs but v+ (n_x,), varied by fractions of this
    unit; return False where there may be a jump or kink within reach. Nonfinite entries have slope zero."""
    x, moved, y = m.sweep.x, m.sweep.moved, m.sweep.y
    values, known = scratch_matrix(4, y.shape[0]), scratch_matrix(4, y.shape[0])
    rounded = ROUNDED * m.sweep.largest[0]
    rounding, noise = rounded / (WIDTHS[0] * unit), ULP * rounded
    set_all(np.inf, known[ERROR])
    copy(x, moved)
    for width in WIDTHS:
        step = width * unit
        for k in range(4):
            for i in range(t.shape[0]):
                moved[i] = x[i] + AT[k] * step * t[i]
            step_data(m, moved, values[k])
        if refine_slopes(y, values, step, unit, rounding, noise, known):
            break
    copy(known[SLOPE], slope)
    return not are_rough(y, unit, rounding, known)
