"""Slopes of the data of a step by its inputs, by central differences: the compiled part of a step's posing.

    inputs x    q, v, last step's v+, p_n, p_t, p_b, the rest of the memory, data of the case, v+
    data y      parameters of the mixed system, axes in use, the rest of the memory after the step, q+

Inputs that move different data are varied together, in groups (Curtis, Powell & Reid, J. Inst. Math. Appl. 13, 1974).
Which data an input moves is found at states of the motion and beside them (`find_moves`). At every step all inputs are
varied at once in addition; where that contradicts the slopes, every input forms its own group from there on.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from numba import types

from workbench.derivatives.system import SYSTEM
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, copy_at, set_all
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.language.assemble.plan import WORK
from workbench.mechanics.core import CORE
from workbench.step.stepping import FUNCTIONS, SETTINGS, TRACK, begin_step

WIDTHS = 1e-3, 3e-5, 1e-6
"""Fractions of a parameter and of the state by which they are varied for differences of order four: the first at which
the data are smooth enough is taken."""
ROUGH, LEVEL, ROUNDED = 1e-5, 1e-4, 1e-14
"""Relative disagreement of slopes of orders two and four up to which the latter are known to its square; share of the
data per unit of the input that counts as the size of a slope; fraction of the largest data that may be rounding."""
SHIFT = 1e-5
"""The fraction by which inputs are varied to see which data they move, and all of them at once."""
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
        "asks", "row_of", "column_of", "order", "coefficient", "pivots", "groups", "of_contacts", "alone", "member",
        "members", "count", "at", "by",
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
        "groups": (1,),
        "of_contacts": (1,),  # number of groups that contact data are evaluated for; of the others, q+ is
        "alone": (1,),  # whether every input forms its own group
        "members": ("n_g",),  # number of inputs of a group, and the inputs
        "member": ("n_g", "n_w"),
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


@kernel(types.void(MACHINE, MATRIX, CODES))
def find_moves(m, samples, moves):
    """Set moves[i, j] (n_w, n_y) for the data j that input i moves at one of the samples (., n_w), the others to 0."""
    s, d = m.sweep, 0.0
    x, moved, y, ahead = s.x, s.moved, s.y, s.ahead
    for i in range(moves.shape[0]):
        for j in range(moves.shape[1]):
            moves[i, j] = 0
    for k in range(samples.shape[0]):
        copy(samples[k], x)
        step_data(m, x, y)
        for i in range(x.shape[0]):
            copy(x, moved)
            d = SHIFT * (1.0 + abs(x[i]))
            moved[i] += d
            step_data(m, moved, ahead)
            for j in range(y.shape[0]):
                # What is not finite does not move.
                moves[i, j] |= ahead[j] != y[j] and (ahead[j] - ahead[j] == 0.0 or y[j] - y[j] == 0.0)


@kernel(types.void(MACHINE))
def find_units(m):
    """Compute the sizes of the state, the last solution, v+ and the contact data; those of the data are constant."""
    s, size = m.sweep, 0.0
    x, unit, y, n, n_d = s.x, s.unit, s.y, m.core.v.shape[0], m.track.data.shape[0]
    last = x.shape[0] - n
    for i in range(x.shape[0]):
        if i < last - n_d or i >= last:
            unit[i] = 1.0 + abs(x[i])
    for i in range(y.shape[0] - m.track.q.shape[0]):
        size = max(size, abs(y[i])) if y[i] - y[i] == 0.0 else size
    s.largest[0] = size


@kernel(F64(I64, F64, F64), linked=True)
def weight(k, side, step):
    """Weight of a value k = 1 or 2 steps to one side (1 or -1) in the slope of order four."""
    return side * (8.0 if k == 1 else -1.0) / (12.0 * step)


@kernel(types.void(VECTOR, VECTOR, I64, F64, F64, MATRIX))
def add_point(y, there, k, side, step, sums):
    """Add the data `there`, beside y by k steps to one side (1 or -1), to the sums (3, n_y): the slopes of orders four
    and two, and the even part of the change, which is zero to order four."""
    for i in range(y.shape[0]):
        sums[0, i] += weight(k, side, step) * there[i]
        sums[1, i] += side * there[i] / (2.0 * step) if k == 1 else 0.0
        sums[2, i] += (-4.0 if k == 1 else 1.0) * (there[i] - y[i]) / (4.0 * step)


@kernel(types.boolean(F64, F64, MATRIX, I64, F64))
def is_settled(y, unit, sums, i, rounding):
    """Return whether the slopes of orders four and two of datum i, y, by an input of this unit, agree and the even part
    vanishes, as they do except at kinks. Nonfinite slopes become zero."""
    if sums[0, i] - sums[0, i] != 0.0:
        sums[0, i] = 0.0
        return True
    size = max(abs(sums[0, i]), LEVEL * abs(y) / unit)
    return max(abs(sums[0, i] - sums[1, i]), abs(sums[2, i])) <= ROUGH * size + rounding


@kernel(types.boolean(MACHINE, VECTOR, F64))
def find_slope(m, t, unit):
    """Put the slope of the data along a tangent of the inputs but v+ (n_x,) into `ahead`, varied by fractions of this
    unit; return False where there may be a jump or kink within reach. Nonfinite entries have slope zero."""
    x, moved, y, there = m.sweep.x, m.sweep.moved, m.sweep.y, m.sweep.ahead
    sums = scratch_matrix(3, y.shape[0])
    copy(x, moved)
    for width in WIDTHS:
        step, smooth = width * unit, True
        for a in range(3):
            set_all(0.0, sums[a])
        for k in (1, 2):
            for side in (1.0, -1.0):
                for i in range(t.shape[0]):
                    moved[i] = x[i] + side * k * step * t[i]
                step_data(m, moved, there)
                add_point(y, there, k, side, step, sums)
        for i in range(y.shape[0]):
            smooth &= is_settled(y[i], unit, sums, i, ROUNDED * m.sweep.largest[0] / step)
        if smooth:
            copy(sums[0], there)
            return True
    return False


@kernel(types.boolean(MACHINE, I64))
def differ_group(m, g):
    """Compute the slopes by the inputs of a group, varied together; return False as `find_slope`."""
    s = m.sweep
    x, moved, unit, y, there, member = s.x, s.moved, s.unit, s.y, s.ahead, s.member[g]
    at, by, slopes, members = s.at[g], s.by[g], s.slope[g], s.members[g]
    sums = scratch_matrix(3, y.shape[0])
    copy(x, moved)
    for width in WIDTHS:
        smooth = True
        for a in range(3):
            set_all(0.0, sums[a])
        for k in (1, 2):
            for side in (1.0, -1.0):
                for j in range(members):
                    moved[member[j]] = x[member[j]] + side * k * width * unit[member[j]]
                if g < s.of_contacts[0]:
                    contact_data(m, moved, there)
                else:
                    coordinates_after(m, moved, there)
                # In units of the inputs, which a datum has one of.
                add_point(y, there, k, side, width, sums)
        for k in range(s.count[g]):
            i, j = by[k], at[k]
            if x[i] - x[i] == 0.0:
                smooth &= is_settled(y[j], 1.0, sums, j, ROUNDED * s.largest[0] / width)
            slopes[k] = sums[0, j] / unit[i] if x[i] - x[i] == 0.0 else 0.0
        if smooth:
            return True
    return False


@kernel(types.boolean(MACHINE))
def add_up(m):
    """Return whether the data change along all inputs at once by the sum of their changes by single inputs."""
    s = m.sweep
    x, moved, unit, y, ahead, behind = s.x, s.moved, s.unit, s.y, s.ahead, s.behind
    n_y, share = y.shape[0], scratch(x.shape[0])
    expected, terms = scratch(n_y), scratch(n_y)
    set_all(0.0, expected)
    set_all(0.0, terms)
    set_all(0.0, share)
    for g in range(s.groups[0]):
        for k in range(s.members[g]):
            # Unequal shares of either sign, so that no two changes cancel.
            i = s.member[g, k]
            size = 0.5 + 0.6180339887498949 * i % 0.5
            share[i] = SHIFT * unit[i] * (size if i % 2 == 0 else -size)
    for g in range(s.groups[0]):
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
    """Make a group of every input that is in one, for the contact data and for q+."""
    s = m.sweep
    n_y, n_w, old, groups = s.y.shape[0], s.x.shape[0], s.groups[0], 0
    grouped = scratch_indices(n_w)
    for i in range(n_w):
        grouped[i] = 0
    for g in range(old):
        for k in range(s.members[g]):
            grouped[s.member[g, k]] = 1
    first, last = 0, n_y - m.track.q.shape[0]
    for kind in range(2):
        for i in range(n_w):
            if grouped[i]:
                s.members[groups], s.member[groups, 0], s.count[groups] = 1, i, last - first
                for j in range(first, last):
                    s.at[groups, j - first], s.by[groups, j - first] = j, i
                groups += 1
        if kind == 0:
            s.of_contacts[0], first, last = groups, last, n_y
    s.alone[0], s.groups[0] = 1, groups


@kernel(types.boolean(MACHINE))
def find_slopes(m):
    """Compute the slopes of the data by the inputs of all groups; return False as `find_slope`."""
    s = m.sweep
    while True:
        for g in range(s.groups[0]):
            if not differ_group(m, g):
                return False
        if s.alone[0] or add_up(m):
            return True
        part(m)


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def along(m, t, dy):
    """Compute the tangent dy (n_y,) of the data along a tangent of the inputs but v+ (n_x,), after `find_slopes`."""
    s = m.sweep
    set_all(0.0, dy)
    for g in range(s.groups[0]):
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
    for g in range(first, s.groups[0]):
        at, by, slopes = s.at[g], s.by[g], s.slope[g]
        for k in range(s.count[g]):
            term = due[at[k]] * slopes[k]
            total[by[k]] += term
            size[by[k]] += abs(term)
