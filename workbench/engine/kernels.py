"""Compiled building blocks: the types that let one cached kernel serve every solver and hook, and a small dense LU.

Every pivoting or per-contact method is one compiled function of one signature, `SOLVE`:

    solve(M, q, lower, upper, mu, d, z, info) -> status

M (n, n), q, lower, upper (n,), mu (r,) friction coefficients of a cone problem (empty otherwise), d its number of
tangential directions; z (n,) receives the solution, info (1,) the number of iterations; status is a `solution.Status`.
Because a first-class function type is independent of the method, the time stepper is compiled only once.
"""

from typing import Any

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.interpreted import building_block
from workbench.engine.numba_internals import make_array
from workbench.engine.scratch import INDICES, MATRIX, VECTOR, scratch, scratch_indices, scratch_matrix

SOLVE = types.int64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, types.int64, VECTOR, INDICES)
SOLVE_T = types.FunctionType(SOLVE)

FAST: Any = {"fastmath": {"reassoc", "contract", "nsz"}}
"""Options of inner loops: sums in any order, so that they vectorise."""
FASTER: Any = {"fastmath": {"reassoc", "contract", "nsz", "nnan"}}
"""Options of inner loops with minima and maxima of values that cannot be nan."""

WITHIN: Any = {"linked": True, "forceinline": True, "_nrt": False}
"""Options of functions that a loop calls for every item of a group of arrays (`argument_type`): they are inlined and do
no reference counting for all those arrays, which would take longer than their work. They must not create an array or
keep a reference to one."""

FLOATS, INTEGERS = types.CPointer(types.float64), types.CPointer(types.int64)
"""Start of a row of numbers: functions called every microsecond take it instead of an array, whose seven words and two
reference counts cost more than the work. The caller holds the array itself. The length of such a row is unknown: with
bounds checks (NUMBA_BOUNDSCHECK=1), arrays are checked and addresses are not."""

SINGULAR_PIVOT = 1e-13
"""A pivot below this share of its row's largest original entry counts as zero."""


def _address(context, x):
    """Address of the numbers of the array x."""

    def generate(context, builder, signature, args):
        return make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(x.dtype)(x), generate


def _after(context, p, k):
    """Address of the k-th number after p."""

    def generate(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return p(p, types.intp), generate


address: Any = building_block(_address, lambda x: np.ndarray(x.size, x.dtype, x))
after: Any = building_block(_after, lambda p, k: p[k:])


@kernel(types.int64(MATRIX, INDICES), **FAST)
def lu_factor(A, pivots):
    """Factorise A (n, n) in place with scaled partial pivoting; returns 0, or 1 + the first column without a pivot."""
    n = A.shape[0]
    scale = scratch(n)
    for i in range(n):
        pivots[i] = i
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
        scale[i] = largest
    for k in range(n):
        best, row = 0.0, -1
        for i in range(k, n):
            if scale[i] > 0.0 and abs(A[i, k]) / scale[i] > best:
                best, row = abs(A[i, k]) / scale[i], i
        if not best > SINGULAR_PIVOT:
            return k + 1
        if row != k:
            for j in range(n):
                A[k, j], A[row, j] = A[row, j], A[k, j]
            scale[k], scale[row] = scale[row], scale[k]
            pivots[k], pivots[row] = pivots[row], pivots[k]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                f = A[i, k] * inverse
                A[i, k] = f
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
    return 0


@kernel(types.void(MATRIX, INDICES, VECTOR, VECTOR), **FAST)
def lu_solve(LU, pivots, b, x):
    """Solve A x = b with the factors of `lu_factor`; b and x (n,) must be different arrays."""
    n = LU.shape[0]
    for i in range(n):
        s = b[pivots[i]]
        for j in range(i):
            s -= LU[i, j] * x[j]
        x[i] = s
    for i in range(n - 1, -1, -1):
        s = x[i]
        for j in range(i + 1, n):
            s -= LU[i, j] * x[j]
        x[i] = s / LU[i, i]


@kernel(types.int64(MATRIX, VECTOR, VECTOR, INDICES, types.boolean), **FAST)
def solve_on_basis(M, q, z, active, refine):
    """Solve M_aa z_a = -(q + M z_b)_a, a being the indices with active != 0, b the others; z (n,) is updated on a.

    One step of iterative refinement if `refine`. Returns 0, or 1 + the position in a of a missing pivot.
    """
    n = M.shape[0]
    a = scratch_indices(n)
    m = 0
    for i in range(n):
        if active[i] != 0:
            a[m] = i
            m += 1
    if m == 0:
        return 0
    LU = scratch_matrix(m, m)
    rhs, x, pivots = scratch(m), scratch(m), scratch_indices(m)
    for i in range(m):
        s = -q[a[i]]
        for j in range(n):
            if active[j] == 0:
                s -= M[a[i], j] * z[j]
        rhs[i] = s
        for j in range(m):
            LU[i, j] = M[a[i], a[j]]
    missing = lu_factor(LU, pivots)
    if missing:
        return missing
    lu_solve(LU, pivots, rhs, x)
    if refine:
        r, dx = scratch(m), scratch(m)
        for i in range(m):
            s = rhs[i]
            for j in range(m):
                s -= M[a[i], a[j]] * x[j]
            r[i] = s
        lu_solve(LU, pivots, r, dx)
        for i in range(m):
            x[i] += dx[i]
    for i in range(m):
        z[a[i]] = x[i]
    return 0


@kernel(types.float64(MATRIX), linked=True)
def larger_eigenvalue(S):
    """Return the larger eigenvalue of a symmetric S (2, 2)."""
    half = 0.5 * (S[0, 0] - S[1, 1])
    return 0.5 * (S[0, 0] + S[1, 1]) + np.sqrt(half * half + S[1, 0] * S[0, 1])


@kernel(types.float64(MATRIX), **FAST)
def largest_eigenvalue(S):
    """Return the largest eigenvalue of a symmetric S (n, n), which is overwritten.

    Jacobi rotations by row (Golub & Van Loan 2013, section 8.5).
    """
    n = S.shape[0]
    if n == 2:
        return larger_eigenvalue(S)
    turned = True
    while turned:
        turned = False
        for i in range(n):
            for j in range(i):
                # An entry negligible relative to the diagonal is skipped; so is nan, which then appears in the result.
                if abs(S[i, j]) > 1e-16 * np.sqrt(abs(S[i, i] * S[j, j])) and abs(S[i, j]) > 1e-300:
                    turned = True
                    ratio = (S[i, i] - S[j, j]) / (2.0 * S[i, j])
                    t = 1.0 / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
                    t = t if ratio >= 0.0 else -t
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    for k in range(n):
                        x, y = S[k, j], S[k, i]
                        S[k, j], S[k, i] = c * (x - t * y), c * (t * x + y)
                    for k in range(n):
                        x, y = S[j, k], S[i, k]
                        S[j, k], S[i, k] = c * (x - t * y), c * (t * x + y)
                    S[i, j] = S[j, i] = 0.0
    largest = S[0, 0]
    for i in range(n):
        largest = max(largest, S[i, i])
    return largest


@kernel(types.void(VECTOR, VECTOR), linked=True)
def copy(x, y):
    """Copy x to y. Numba compiles a loop ten times faster than a slice assignment with its shape checks."""
    for i in range(y.shape[0]):
        y[i] = x[i]


@kernel(types.void(VECTOR, VECTOR, types.int64), linked=True)
def copy_at(x, y, first):
    """Copy the entries of x into y from position `first` on."""
    for i in range(x.shape[0]):
        y[first + i] = x[i]


@kernel(types.void(types.float64, VECTOR), linked=True)
def set_all(value, y):
    """Set every entry of y to value."""
    for i in range(y.shape[0]):
        y[i] = value


@kernel(types.boolean(VECTOR), linked=True)
def is_finite(x):
    """Return whether no entry of x is nan or infinite."""
    strange = 0
    for i in range(x.shape[0]):
        # An entry minus itself is zero unless it is not finite.
        strange |= x[i] - x[i] != 0.0
    return strange == 0


@kernel(types.void(types.int64, types.int64, INDICES), linked=True)
def unite(a, b, part):
    """Unite the parts of a and b. Start with part[i] = i; after uniting all pairs, call `least_members`.

    Paths are compressed on the way up: in long chains they would be followed again for every pair.
    """
    while part[a] != a:
        part[a] = part[part[a]]
        a = part[a]
    while part[b] != b:
        part[b] = part[part[b]]
        b = part[b]
    if a != b:
        part[max(a, b)] = min(a, b)


@kernel(types.void(INDICES), linked=True)
def least_members(part):
    """Set part[i] to the least member of the part of i, for every i, after `unite`."""
    for i in range(part.shape[0]):
        # part[i] precedes i, and already refers to its least member.
        part[i] = part[part[i]]


@kernel(types.boolean(types.Array(types.float64, 2, "C", readonly=True), INDICES, INDICES))
def reaches_all(M, reached, left):
    """Return whether unknown 0 leads to all others along the rows of M, depth first; room for two times n."""
    n = M.shape[0]
    top, remaining = 1, n - 1
    reached[0] = 0
    for j in range(remaining):
        left[j] = j + 1
    while top > 0 and remaining > 0:
        top -= 1
        i, kept = reached[top], 0
        for k in range(remaining):
            j = left[k]
            if M[i, j] != 0.0:
                reached[top] = j
                top += 1
            else:
                left[kept] = j
                kept += 1
        remaining = kept
    return remaining == 0


@kernel(types.void(MATRIX, VECTOR, VECTOR, VECTOR), **FAST)
def affine(M, q, z, w):
    """Compute w = M z + q, all (n,)."""
    n = M.shape[0]
    for i in range(n):
        s = q[i]
        for j in range(n):
            s += M[i, j] * z[j]
        w[i] = s
