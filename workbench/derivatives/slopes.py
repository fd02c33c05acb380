"""Slopes of the data of a step by its inputs, by central differences: the compiled part of a step's posing.

    inputs x    q, v, last step's v+, p_n, p_t, p_b, the rest of the memory, data of the case, v+
    data y      parameters of the mixed system, axes in use, the rest of the memory after the step, q+

Inputs that move different data are varied together, in groups (Curtis, Powell & Reid, J. Inst. Math. Appl. 13, 1974).
How a datum depends on an input is found at states of the motion and beside them (`find_kinds`). A slope that is the
same at all of them needs no evaluation at a step; a polynomial of degree one or two needs one or two, all else four. At
every step all inputs are varied at once in addition, to both sides; where that contradicts the slopes, as at a kink or
where a formula takes another branch, every input forms its own group at this step, with four evaluations.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from workbench.derivatives.differences import (
    AT,
    ERROR,
    ROUNDED,
    SHIFT,
    SLOPE,
    WIDTHS,
    are_rough,
    is_rough,
    refine,
    refine_slopes,
)
from workbench.derivatives.system import SYSTEM
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, copy_at, set_all
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.language.assemble.plan import WORK
from workbench.mechanics.core import CORE
from workbench.step.stepping import FUNCTIONS, SETTINGS, TRACK, begin_step

FAR, ALIKE = 1e-2, 2e-14
"""The fraction by which an input is varied on which a datum depends by a polynomial; fraction of the datum that may be
rounding where that is found out."""
STILL, FIXED, LINEAR, QUADRATIC, CURVED = range(5)
"""How a datum depends on an input: not; by the same slope everywhere; linearly; quadratically; otherwise."""
POINTS = 0, 0, 1, 2, 4
"""Evaluations that these need."""
STUCK = 0.1
"""The largest such change of a velocity in stick thresholds."""
TOGETHER, EQUAL = 1e-7, 1e-12
"""Allowed difference between the data's change along all inputs at once and the sum over the inputs, as a fraction of
the sum's terms and of the largest datum."""
I64, F64 = types.int64, types.float64
CODES = types.Array(types.int64, 2, "C")


class Sweep(Packed):
    """Work space for the derivative of a step. n_x inputs without v+, n_w with it, at most n_g groups, n_y data;
    columns of the mixed system, K tangents."""

    sizes = (
        "n_q", "n", "n_o", "n_m", "n_d", "n_x", "n_w", "n_g", "n_y", "n_f", "X", "B", "rows", "columns", "nnz", "K",
    )  # fmt: skip
    integers = (
        "asks", "row_of", "column_of", "order", "coefficient", "pivots", "planned", "alone", "used", "member",
        "members", "points", "narrow", "count", "at", "by",
    )  # fmt: skip
    fields: ClassVar[dict[str, tuple]] = {
        "asks": (),  # whether the impulses of a step have an effect on the next
        "row_of": ("nnz",),
        "column_of": ("nnz",),
        "order": ("X",),
        "coefficient": ("B",),  # index of a set's coefficient among the problem's, -1 for none
        "x": ("n_w",),
        "unit": ("n_w",),  # size of an input
        "moved": ("n_w",),
        "y": ("n_y",),
        "largest": (1,),  # largest of the finite y
        "ahead": ("n_y",),
        "behind": ("n_y",),
        # The first group, the first for which q+ is evaluated in place of contact data, and the end: of the groups made
        # beforehand, of those of single inputs (0 where they are not made yet), and of those in use.
        "planned": (3,),
        "alone": (3,),
        "used": (3,),
        "members": ("n_g",),  # number of inputs of a group, and the inputs
        "member": ("n_g", "n_w"),
        "points": ("n_g",),  # number of evaluations, `POINTS`
        "narrow": ("n_g",),  # the first width at which all slopes of a group were known at the last step
        "count": ("n_g",),  # number of slopes of a group, and for each its datum, its input, its value
        "at": ("n_g", "n_y"),
        "by": ("n_g", "n_y"),
        "slope": ("n_g", "n_y"),
        "w": ("columns",),  # [free unknowns, solution, 1]
        "raw": ("n_o",),  # the solution in the axes in use
        "LU": ("n_f", "n_f"),
        "pivots": ("n_f",),
        "q_ahead": ("n_q",),
        "dy": ("K", "n_y"),
        "answers": ("K", "n_o"),
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


MACHINE = argument_type(Machine, CORE, WORK, TRACK, FUNCTIONS, SETTINGS, SYSTEM, SWEEP)


@kernel(types.void(MACHINE, VECTOR))
def enter(m, x):
    """Copy the inputs x (n_w,) to the beginning of a step."""
    core, work, track, s = m.core, m.work, m.track, m.sweep
    n_q, n, r, t = track.q.shape[0], core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    n_o, n_d, after = work.out.shape[0], track.data.shape[0], n_q + n
    n_m = s.x.shape[0] - after - n_o - n_d - n
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


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def contact_data(m, x, y):
    """Compute all data of a step but q+, in y (n_y,), at the inputs x (n_w,); the core's are left there."""
    core, track, r = m.core, m.track, m.core.mu.shape[0]
    impulses = r + core.b_t.shape[0]
    enter(m, x)
    begin(m)
    copy_at(core.theta, y, 0)
    k = core.theta.shape[0]
    for i in range(r):
        y[k], y[k + 1] = core.frame[i, 0], core.frame[i, 1]
        k += 2
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


@kernel(types.void(MACHINE, MATRIX, CODES, MATRIX))
def find_kinds(m, samples, kinds, slopes):
    """Find how datum j depends on input i, `STILL` and so on in kinds[i, j] (n_w, n_y), at samples (., n_w) of inputs,
    and the fixed slopes. What is not finite does not move."""
    s, n_y, n_q, n, n_d = m.sweep, m.sweep.y.shape[0], m.track.q.shape[0], m.core.v.shape[0], m.track.data.shape[0]
    n_x = s.x.shape[0] - n
    x, moved, y, kind, slope, rounding = s.x, s.moved, s.y, STILL, 0.0, 0.0
    ends, size = scratch_matrix(3, n_y), scratch(n_y)
    set_all(0.0, size)
    for k in range(samples.shape[0]):
        step_data(m, samples[k], y)
        for j in range(n_y):
            size[j] = max(size[j], abs(y[j])) if y[j] - y[j] == 0.0 else size[j]
    for i in range(kinds.shape[0]):
        for j in range(n_y):
            kinds[i, j], slopes[i, j] = STILL, np.nan
    for k in range(samples.shape[0]):
        copy(samples[k], x)
        step_data(m, x, y)
        find_units(m)
        for i in range(kinds.shape[0]):
            # Impulses that nothing asks for have no effect.
            if x[i] - x[i] != 0.0 or (not s.asks and n_q + n <= i < n_x - n_d):
                continue
            step = FAR * s.unit[i]
            copy(x, moved)
            for side in range(3):
                moved[i] = x[i] + (side if side > 0 else -1.0) * step
                copy(y, ends[side])
                if i < n_x:
                    contact_data(m, moved, ends[side])
                coordinates_after(m, moved, ends[side])
            for j in range(n_y):
                if y[j] - y[j] != 0.0:
                    continue
                back, near, far = ends[0, j] - y[j], ends[1, j] - y[j], ends[2, j] - y[j]
                rounding, slope = ALIKE * max(size[j], abs(ends[2, j])), near / step
                if abs(near + back) <= rounding and abs(far - 2.0 * near) <= rounding:
                    same = slopes[i, j] != slopes[i, j] or abs(slopes[i, j] - slope) * step <= rounding
                    kind, slopes[i, j] = FIXED if same else LINEAR, slope
                else:
                    kind = QUADRATIC if abs(far - 3.0 * near - back) <= rounding else CURVED
                kinds[i, j] = max(kinds[i, j], kind)
    for i in range(kinds.shape[0]):
        for j in range(n_y):
            if kinds[i, j] == FIXED and slopes[i, j] == 0.0:
                kinds[i, j] = STILL


@kernel(types.boolean(MACHINE, VECTOR, F64))
def find_slope(m, t, unit):
    """Put the slope of the data along a tangent of the inputs but v+ (n_x,) into `ahead`, varied by fractions of this
    unit; return False where there may be a jump or kink within reach. Nonfinite entries have slope zero."""
    x, moved, y = m.sweep.x, m.sweep.moved, m.sweep.y
    values, known = scratch_matrix(4, y.shape[0]), scratch_matrix(4, y.shape[0])
    rounding = ROUNDED * m.sweep.largest[0] / (WIDTHS[0] * unit)
    set_all(np.inf, known[ERROR])
    copy(x, moved)
    for width in WIDTHS:
        step = width * unit
        for k in range(4):
            for i in range(t.shape[0]):
                moved[i] = x[i] + AT[k] * step * t[i]
            step_data(m, moved, values[k])
        if refine_slopes(y, values, step, unit, rounding, known):
            break
    copy(known[SLOPE], m.sweep.ahead)
    return not are_rough(y, unit, rounding, known)


@kernel(types.void(MACHINE, I64, F64, VECTOR))
def move_group(m, g, width, there):
    """Compute the data `there` (n_y,), contact data or q+, with a group's inputs moved by a fraction of their units."""
    s = m.sweep
    x, moved, unit, member = s.x, s.moved, s.unit, s.member[g]
    copy(x, moved)
    for j in range(s.members[g]):
        moved[member[j]] = x[member[j]] + width * unit[member[j]]
    if g < s.used[1]:
        contact_data(m, moved, there)
    else:
        coordinates_after(m, moved, there)


@kernel(types.void(MACHINE, I64))
def interpolate_group(m, g):
    """Compute the slopes by the inputs of a group on which data depend by polynomials; fixed slopes are known."""
    s, points = m.sweep, m.sweep.points[g]
    unit, y, there, at, by, slopes = s.unit, s.y, s.ahead, s.at[g], s.by[g], s.slope[g]
    for k in range(1, points + 1):
        move_group(m, g, k * FAR, there)
        share = 1.0 if points == 1 else 2.0 if k == 1 else -0.5
        for a in range(s.count[g]):
            slope = share * (there[at[a]] - y[at[a]]) / (FAR * unit[by[a]])
            slopes[a] = (slopes[a] if k > 1 else 0.0) + (slope if slope - slope == 0.0 else 0.0)


@kernel(types.boolean(MACHINE, I64))
def differ_group(m, g):
    """Compute the slopes by the inputs of a group, varied together; return False as `find_slope`."""
    s = m.sweep
    x, unit, y, at, by, slopes = s.x, s.unit, s.y, s.at[g], s.by[g], s.slope[g]
    values, known = scratch_matrix(4, y.shape[0]), scratch_matrix(4, s.count[g])
    rounding, smooth = ROUNDED * s.largest[0] / WIDTHS[0], True
    first, at_once = s.narrow[g], False
    while not at_once:
        set_all(np.inf, known[ERROR])
        for w in range(first, len(WIDTHS)):
            settled = True
            for k in range(4):
                move_group(m, g, AT[k] * WIDTHS[w], values[k])
            for k in range(s.count[g]):
                j = at[k]
                if x[by[k]] - x[by[k]] == 0.0:
                    # In units of the input.
                    far_back, back, near, far = values[0, j], values[1, j], values[2, j], values[3, j]
                    settled &= refine(y[j], far_back, back, near, far, WIDTHS[w], 1.0, rounding, known, k)
            if settled:
                break
        # If the last step's width does not do, all are tried.
        at_once = first == 0 or (settled and w == first)
        s.narrow[g], first = w if settled else 0, 0
    for k in range(s.count[g]):
        still = x[by[k]] - x[by[k]] != 0.0
        slopes[k] = 0.0 if still else known[SLOPE, k] / unit[by[k]]
        smooth &= still or not is_rough(y[at[k]], 1.0, rounding, known, k)
    return smooth


@kernel(types.boolean(MACHINE))
def add_up(m):
    """Return whether the data change along all inputs at once by the sum of their changes by single inputs."""
    s = m.sweep
    x, moved, unit, y, ahead, behind = s.x, s.moved, s.unit, s.y, s.ahead, s.behind
    n_q, n, n_y, share = m.track.q.shape[0], m.core.v.shape[0], y.shape[0], scratch(x.shape[0])
    expected, terms = scratch(n_y), scratch(n_y)
    set_all(0.0, expected)
    set_all(0.0, terms)
    set_all(0.0, share)
    for g in range(s.used[0], s.used[2]):
        for k in range(s.members[g]):
            # Unequal shares of either sign, so that no two changes cancel.
            i = s.member[g, k]
            size = 0.5 + (21 * i % 34) / 68.0
            step = SHIFT * unit[i]
            if n_q <= i < n_q + n:
                # What sticks stays sticking, so that what is different there shows.
                step = min(step, STUCK * m.core.v_th)
            share[i] = step * (size if i % 2 == 0 else -size)
    for g in range(s.used[0], s.used[2]):
        at, by, slopes = s.at[g], s.by[g], s.slope[g]
        for k in range(s.count[g]):
            change = slopes[k] * share[by[k]]
            if change - change == 0.0:
                expected[at[k]] += change
                terms[at[k]] += abs(change)
    for sign in range(2):
        for i in range(x.shape[0]):
            moved[i] = x[i] + (share[i] if sign == 0 else -share[i])
        step_data(m, moved, ahead if sign == 0 else behind)
    least, same = EQUAL * s.largest[0], True
    for j in range(n_y):
        change = 0.5 * (ahead[j] - behind[j])
        if change - change == 0.0:
            same &= abs(change - expected[j]) <= TOGETHER * terms[j] + max(least, EQUAL * abs(y[j]))
    return same


@kernel(types.void(MACHINE))
def part(m):
    """Use a group of every input that is in one, for the contact data and for q+."""
    s = m.sweep
    n_y, n_w = s.y.shape[0], s.x.shape[0]
    if s.alone[2] == 0:
        groups, first, last, grouped = s.planned[2], 0, n_y - m.track.q.shape[0], scratch_indices(n_w)
        for i in range(n_w):
            grouped[i] = 0
        for g in range(s.planned[2]):
            for k in range(s.members[g]):
                grouped[s.member[g, k]] = 1
        s.alone[0] = groups
        for kind in range(2):
            for i in range(n_w):
                if grouped[i]:
                    s.members[groups], s.member[groups, 0], s.count[groups] = 1, i, last - first
                    s.points[groups] = POINTS[CURVED]
                    for j in range(first, last):
                        s.at[groups, j - first], s.by[groups, j - first] = j, i
                    groups += 1
            s.alone[1 + kind], first, last = groups, last, n_y
    copy_used(s.alone, s.used)


@kernel(types.void(INDICES, INDICES), linked=True)
def copy_used(groups, used):
    """Copy the range of groups to those in use."""
    for k in range(3):
        used[k] = groups[k]


@kernel(types.boolean(MACHINE))
def find_slopes(m):
    """Compute the slopes of the data by the inputs of all groups; return False as `find_slope`."""
    s = m.sweep
    copy_used(s.planned, s.used)
    while True:
        for g in range(s.used[0], s.used[2]):
            if s.points[g] < POINTS[CURVED]:
                interpolate_group(m, g)
            elif not differ_group(m, g):
                return False
        if s.used[0] > 0 or add_up(m):
            return True
        part(m)


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def along(m, t, dy):
    """Compute the tangent dy (n_y,) of the data along a tangent of the inputs but v+ (n_x,), after `find_slopes`."""
    s = m.sweep
    set_all(0.0, dy)
    for g in range(s.used[0], s.used[2]):
        at, by, slopes = s.at[g], s.by[g], s.slope[g]
        for k in range(s.count[g]):
            if by[k] < t.shape[0]:
                dy[at[k]] += slopes[k] * t[by[k]]


@kernel(types.void(MACHINE, I64, VECTOR, VECTOR, VECTOR))
def weigh(m, first, due, total, size):
    """Compute the adjoint of the inputs (n_w,) from that of the data (n_y,), and the size of its terms, from the slopes
    of group `first` on: the transpose of `along`, v+ included."""
    s = m.sweep
    set_all(0.0, total)
    set_all(0.0, size)
    for g in range(first, s.used[2]):
        at, by, slopes = s.at[g], s.by[g], s.slope[g]
        for k in range(s.count[g]):
            term = due[at[k]] * slopes[k]
            total[by[k]] += term
            size[by[k]] += abs(term)
