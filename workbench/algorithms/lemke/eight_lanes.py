"""Lemke's path for eight problems of one order up to `SMALL` in vector lanes, with the pivots of `small`.

Every lane follows its own path: its pivot row and column are masks, and a lane that has ended waits until all have. The
arithmetic is that of `small`, in the same order, so that z has the same bits. The order n is a constant of the compiled
loop, one for each size (`eights`): unrolled, it is half as fast again.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numba import njit, types

from workbench.algorithms.lemke.path import PIVOT, RELATIVE_TIE, TIE, general
from workbench.algorithms.lemke.small import CLOSE, MOST
from workbench.algorithms.lemke.workspace import EIGHT_NUMBERS, place_eight
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, address, after
from workbench.engine.lanes import (
    LANES,
    gather,
    load,
    power_above,
    root,
    scatter,
    size_of,
    some,
    splat,
    store,
    where,
)  # fmt: skip
from workbench.problems.residual import FAR_SCALED
from workbench.problems.solution import Status

I64, SOLVED = types.int64, int(Status.SOLVED)
CUBE = types.Array(types.float64, 3, "C")


@njit(inline="always")
def load_problems(n, M, q, step, A, b):
    """Load A (n n) and b (n) into vector lanes."""
    for k in range(n * n):
        store(A, k, gather(after(M, k), step))
    for k in range(n):
        store(b, k, gather(after(q, k), n))


@njit(inline="always")
def scale(n, A, b, D):
    """Scale in lanes; see `small.scale`."""
    zero, one = splat(0.0), splat(1.0)
    for i in range(n):
        store(D, i, one / root(load(A, n * i + i)))
    for i in range(n):
        has = load(A, n * i + i) > zero
        if some(where(has, zero, one) > zero):
            met = zero
            for j in range(n):
                x, y = size_of(load(A, n * i + j)), size_of(load(A, n * j + i))
                x = where(x > y, x, y) * load(D, j)
                met = where((x > met) & (load(A, n * j + j) > zero), x, met)
            store(D, i, where(has, load(D, i), where(met > zero, one / met, one)))
    size = zero
    for i in range(n):
        x = load(D, i) * size_of(load(b, i))
        size = where(x > size, x, size)
    return where(size > zero, power_above(size), size)


@njit(inline="always")
def accepted(n, A, b, D, size, z):
    """Return a mask; see `small.is_solution`."""
    zero = splat(0.0)
    worst, largest, whole = zero, zero, zero
    for i in range(n):
        w = load(b, i)
        activity = size_of(w)
        for j in range(n):
            term = load(A, n * i + j) * load(z, j)
            w = w + term
            activity = activity + size_of(term)
        wrong = load(D, i) * where(load(z, i) > zero, size_of(w), zero - w)
        worst = where(wrong > worst, wrong, worst)
        activity = load(D, i) * activity
        largest = where(activity > largest, activity, largest)
        whole = whole + w
    near = largest <= splat(FAR_SCALED) * size
    return (worst <= splat(CLOSE) * largest) & near & (whole - whole == zero)


@njit(inline="always")
def blocking_rows(n, W, T, basic, col):
    """Return the blocking row in each lane for the columns in col (n), -1 for a ray; see `small.blocking_row`."""
    zero, none, pivot = splat(0.0), splat(-1.0), splat(PIVOT)
    theta, best = splat(np.inf), none
    for i in range(n):
        t = load(col, i)
        ratio = where(t > pivot, load(T, W * i + n + 1) / t, splat(np.inf))
        less = ratio < theta
        best, theta = where(less, splat(float(i)), best), where(less, ratio, theta)
    theta = where(theta > zero, theta, zero)
    ties = zero
    for i in range(n):
        t, b = load(col, i), load(T, W * i + n + 1)
        tied = (t > pivot) & (b - theta * t <= splat(TIE) + splat(RELATIVE_TIE) * b)
        ties = ties + where(tied, splat(1.0), zero)
    several = ties > splat(1.5)
    if some(several):
        least, last, chosen = splat(np.inf), splat(2.0 * n), best
        for i in range(n):
            t, b = load(col, i), load(T, W * i + n + 1)
            tied = several & (t > pivot) & (b - theta * t <= splat(TIE) + splat(RELATIVE_TIE) * b)
            # The covering variable's row precedes all others.
            ratio = where(load(basic, i) == last, splat(-np.inf), load(T, W * i + n + 2) / t)
            less = tied & (ratio < least)
            chosen, least = where(less, splat(float(i)), chosen), where(less, ratio, least)
        best = chosen
    return best


@njit(inline="always")
def pivot(n, W, T, row, col, r, c):
    """Exchange row r with column c, whose entries are in col, in each lane; a lane with r = -1 is unchanged."""
    zero, one = splat(0.0), splat(1.0)
    f = one
    for i in range(n):
        f = where(r == splat(float(i)), load(col, i), f)
    f = one / f
    for j in range(W):
        x = zero
        for i in range(n):
            x = where(r == splat(float(i)), load(T, W * i + j), x)
        store(row, j, where(c == splat(float(j)), one, x) * f)
    for j in range(W):
        x, in_column = load(row, j), c == splat(float(j))
        for i in range(n):
            y = where(in_column, zero, load(T, W * i + j)) - load(col, i) * x
            store(T, W * i + j, where(r == splat(float(i)), x, y))


@njit(inline="always")
def solve_eight(n, M, q, step, z, work, solved, pivots):
    """Solve eight LCPs of order 0 < n <= SMALL without warm start.

    Their matrices begin `step` numbers apart at M; constants and solutions are consecutive at q and z. solved (8)
    receives 1 where z is a solution, pivots (8) their number.
    """
    W = n + 3
    A, b, D, answer = address(work.A), address(work.q), address(work.D), address(work.z)
    T, row, col, p = address(work.T), address(work.row), address(work.col), address(work.p)
    basic, nonbasic = address(work.basic), address(work.nonbasic)
    zero, one, none, last = splat(0.0), splat(1.0), splat(-1.0), splat(2.0 * n)
    load_problems(n, M, q, step, A, b)
    size = scale(n, A, b, D)
    general(n, 1, p)
    least, r = zero, none
    for i in range(n):
        for j in range(n):
            store(T, W * i + j, (zero - load(D, i)) * load(A, n * i + j) * load(D, j))
        x = load(D, i) * load(b, i) / size
        store(T, W * i + n, none)
        store(T, W * i + n + 1, x)
        store(T, W * i + n + 2, splat(p[i]))
        store(col, i, none)
        store(basic, i, splat(float(i)))
        store(nonbasic, i, splat(float(n + i)))
        # Among equal constants, the one with the smaller perturbation.
        other = zero
        for k in range(i):
            other = where(r == splat(float(k)), splat(p[k]), other)
        first = (x < least) | ((x == least) & (splat(p[i]) < other))
        least, r = where(first, x, least), where(first, splat(float(i)), r)
    store(nonbasic, n, last)
    r = where((size > zero) & (least < zero), r, none)
    c, count, ended = splat(float(n)), zero, where(r > none, zero, one)
    for _ in range(MOST):
        moving = r > none
        if not some(moving):
            break
        c = where(moving, c, none)
        for i in range(n):
            store(col, i, where(moving, load(col, i), zero))
        pivot(n, W, T, row, col, r, c)
        count = count + where(moving, one, zero)
        leaving, entering = zero, zero
        for i in range(n):
            leaving = where(r == splat(float(i)), load(basic, i), leaving)
        for j in range(n + 1):
            here = c == splat(float(j))
            entering = where(here, load(nonbasic, j), entering)
            store(nonbasic, j, where(here, leaving, load(nonbasic, j)))
        for i in range(n):
            store(basic, i, where(r == splat(float(i)), entering, load(basic, i)))
        done = moving & (leaving == last)
        ended = where(done, one, ended)
        partner = where(leaving < splat(float(n)), leaving + splat(float(n)), leaving - splat(float(n)))
        c = none
        for j in range(n + 1):
            c = where(load(nonbasic, j) == partner, splat(float(j)), c)
        for i in range(n):
            t = zero
            for j in range(n + 1):
                t = where(c == splat(float(j)), load(T, W * i + j), t)
            store(col, i, t)
        r = where(done, none, where(moving, blocking_rows(n, W, T, basic, col), none))
    for j in range(n):
        x = zero
        for i in range(n):
            x = where(load(basic, i) == splat(float(n + j)), load(D, j) * load(T, W * i + n + 1) * size, x)
        x = where(x > zero, x, zero)
        store(answer, j, x)
        scatter(after(z, j), n, x)
    good = accepted(n, A, b, D, size, answer) & (ended > zero)
    store(solved, 0, where(good, one, zero))
    store(pivots, 0, count)


@cache
def eights(n: int) -> Callable:
    """Return the compiled loop part(M, q, first, last, z, status, iterations) over LCPs of order 0 < n <= SMALL.

    It solves `first` to `last` eight at a time in vector lanes and leaves the status of unsolved problems, and of the
    last few, unchanged. M (B or 1, n, n), q, z (B, n), status, iterations (B,).
    """

    @kernel(types.void(CUBE, MATRIX, I64, I64, MATRIX, INDICES, INDICES), nogil=True)
    def part(M, q, first, last, z, status, iterations):
        step = n * n if M.shape[0] > 1 else 0
        numbers, solved, pivots = np.empty(EIGHT_NUMBERS), np.empty(LANES), np.empty(LANES)
        work = place_eight(address(numbers))
        for k in range(first, last - LANES + 1, LANES):
            solve_eight(
                n, after(address(M), step * k), after(address(q), n * k), step, after(address(z), n * k), work,
                address(solved), address(pivots),
            )  # fmt: skip
            for lane in range(LANES):
                if solved[lane] == 1.0:
                    status[k + lane], iterations[k + lane] = SOLVED, int(pivots[lane])
        # The arrays must stay alive until the last call.
        numbers[0], solved[0], pivots[0] = 0.0, 0.0, 0.0

    return part
