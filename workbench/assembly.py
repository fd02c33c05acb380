"""A declaration as numbers, a sparse tensor T with (A, a) = T theta, and what a step does with it.

theta holds the values of all parameters: the core parameters in the order of `Symbols.shapes`, the formulation's own,
and a final 1. The rows of (A, a) are

    [ equations | partners' rows | answer | lower bounds | upper bounds | friction coefficients ]

over the columns [ free unknowns | partners | constant ]; the answer, for a time step v+, p_n, p_t, p_b, is
`Symbols.answer`. Compiling (`workbench.tensor`) happens once per size; a step only stamps.
Free unknowns x_f leave by Schur complement, M = A_cc - A_cf A_ff^-1 A_fc, and come back with the solution.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import njit, types

from workbench.compiling import kernel
from workbench.formulation import Formulation, Symbols
from workbench.hooks import Core
from workbench.kernels import SINGULAR_PIVOT, VECTOR
from workbench.layout import Laid
from workbench.modelling import Declaration, Hooks
from workbench.timing import clock


class Plan(NamedTuple):
    """A compiled declaration as plain arrays: A[at] = val theta[par] for the first entries, += for the others.

    Entries that are the same at every step are not among them: they stand in `Compiled.constant`.
    """

    at: np.ndarray  # (nnz,) position in A, row by row
    par: np.ndarray  # (nnz,) position in theta
    val: np.ndarray  # (nnz,)
    lower: np.ndarray  # (n_partner,) constant bounds; nan where the bound is stamped
    upper: np.ndarray  # (n_partner,)
    first: int
    n_free: int
    n_cone: int  # contacts in friction cones
    d: int


class Work(Laid):
    """The plan and room for one step: the mixed system, its elimination, the reduced problem and the solution."""

    sizes = ("n_f", "n_c", "n_o", "n_k", "rows", "columns", "right", "nnz")
    integers = ("first", "at", "par")
    fields: ClassVar[dict[str, tuple]] = {
        "first": (),
        "at": ("nnz",),
        "par": ("nnz",),
        "val": ("nnz",),
        "least": ("n_c",),  # `Plan.lower`
        "most": ("n_c",),  # `Plan.upper`
        "A": ("rows", "columns"),  # columns = n_free + n_partner + 1
        "LU": ("n_f", "n_f"),
        "scale": ("n_f",),
        "X": ("n_f", "right"),  # A_ff^-1 [A_fc, a_f]
        "x": ("n_f",),
        "out": ("n_o",),  # the answer's parts one after the other
        "M": ("n_c", "n_c"),
        "q": ("n_c",),
        "mu": ("n_k",),
        "lower": ("n_c",),
        "upper": ("n_c",),
        "z": ("n_c",),
    }
    spans: ClassVar[dict[str, tuple[str, str]]] = {"posed": ("M", "mu"), "recorded": ("out", "z")}

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


WORK = Work.compiled


@dataclass(frozen=True)
class Compiled:
    """A declaration compiled for one size, (n, m, r, d) for a time step; `seconds` is what that took."""

    formulation: Formulation
    size: tuple[int, ...]
    kind: str
    plan: Plan
    constant: np.ndarray
    theta: np.ndarray
    own: slice
    hooks: Hooks
    declared: Declaration | None = None
    seconds: float = 0.0

    @cached_property
    def declaration(self) -> Declaration:
        """What was compiled; declared anew where the numbers came from the disk, since solving does without it."""
        return self.declared or self.formulation.declaration(*self.size)

    @cached_property
    def symbols(self) -> Symbols:
        return self.formulation.symbols(*self.size)

    def room(self) -> Work:
        """Fresh arrays for stepping, with all that stays the same in them."""
        n_f, n_c, n_k = self.plan.n_free, self.plan.lower.size, self.plan.n_cone
        rows, columns = self.constant.shape
        outputs = sum(self.symbols.answer.values())
        sizes = dict(n_f=n_f, n_c=n_c, n_o=outputs, n_k=n_k, rows=rows, columns=columns, right=n_c + 1)
        work = Work(**sizes, nnz=self.plan.at.size)
        work.A, work.first, work.at, work.par = self.constant, self.plan.first, self.plan.at, self.plan.par
        work.val, work.least, work.most = self.plan.val, self.plan.lower, self.plan.upper
        return work

    def views(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """The shared parameters by name, as views into theta."""
        views, start = {}, 0
        for name, shape in self.symbols.shapes.items():
            length = int(np.prod(shape))
            views[name] = theta[start : start + length].reshape(shape)
            start += length
        return views

    def core(self, h: float, law: float, v_th: float) -> Core:
        """Contact data of a time step, whose theta is stamped."""
        n_own, n_rest = self.own.stop - self.own.start, self.theta.size - self.own.stop
        core = Core(self.size, h, law, v_th, n_own, n_rest)
        core.theta = self.theta
        return core


@lru_cache(maxsize=256)
def compiled(formulation: Formulation, *size: int) -> Compiled:
    """Compile a formulation for one size: for a time step n velocities, m bilateral rows, r contacts, d tangents."""
    from workbench.store import load, save

    start = clock()
    c = load(formulation, size)
    if c is None:
        from workbench.tensor import compile_declaration

        c = compile_declaration(formulation, size)
        save(c)
    return replace(c, seconds=clock() - start)


@kernel(types.void(VECTOR, WORK))
def stamp(theta, work):
    """A = T theta, and the bounds."""
    A, at, par, val = work.A, work.at, work.par, work.val
    flat = A.reshape(-1)
    for k in range(work.first):
        flat[at[k]] = val[k] * theta[par[k]]
    for k in range(work.first, at.shape[0]):
        flat[at[k]] += val[k] * theta[par[k]]
    n_c, last = work.q.shape[0], A.shape[1] - 1
    row = last + work.out.shape[0]
    for i in range(n_c):
        work.lower[i] = A[row + i, last] if np.isnan(work.least[i]) else work.least[i]
        work.upper[i] = A[row + n_c + i, last] if np.isnan(work.most[i]) else work.most[i]
    for i in range(work.mu.shape[0]):
        work.mu[i] = A[row + 2 * n_c + i, last]


@njit(inline="always")
def factor(work):
    """LU and X from A: Gauss elimination of the free unknowns, all right-hand sides at once, row by row.

    Scaled partial pivoting. Returns 0, or 1 + the first dependent column of A_ff.
    """
    A, LU, X, scale = work.A, work.LU, work.X, work.scale
    n, width = X.shape
    for i in range(n):
        largest = 0.0
        for j in range(n):
            LU[i, j] = A[i, j]
            largest = max(largest, abs(A[i, j]))
        for j in range(width):
            X[i, j] = A[i, n + j]
        scale[i] = largest
    for k in range(n):
        best, row = 0.0, -1
        for i in range(k, n):
            if scale[i] > 0.0 and abs(LU[i, k]) / scale[i] > best:
                best, row = abs(LU[i, k]) / scale[i], i
        if not best > SINGULAR_PIVOT:
            return k + 1
        if row != k:
            scale[k], scale[row] = scale[row], scale[k]
            for j in range(n):
                LU[k, j], LU[row, j] = LU[row, j], LU[k, j]
            for j in range(width):
                X[k, j], X[row, j] = X[row, j], X[k, j]
        for i in range(k + 1, n):
            if LU[i, k] != 0.0:
                f = LU[i, k] / LU[k, k]
                for j in range(k + 1, n):
                    LU[i, j] -= f * LU[k, j]
                for j in range(width):
                    X[i, j] -= f * X[k, j]
    return 0


@kernel(types.int64(WORK))
def eliminate(work):
    """Schur complement on the free unknowns; 0, or 1 + the first dependent column of A_ff."""
    A, LU, X, M = work.A, work.LU, work.X, work.M
    missing = factor(work)
    if missing:
        return missing
    n_f, width = X.shape
    n_c = width - 1
    for i in range(n_f - 1, -1, -1):
        for k in range(i + 1, n_f):
            f = LU[i, k]
            if f != 0.0:
                for j in range(width):
                    X[i, j] -= f * X[k, j]
        for j in range(width):
            X[i, j] /= LU[i, i]
    for i in range(n_c):
        for j in range(n_c):
            M[i, j] = A[n_f + i, n_f + j]
        q = A[n_f + i, n_f + n_c]
        for k in range(n_f):
            f = A[n_f + i, k]
            if f != 0.0:
                for j in range(n_c):
                    M[i, j] -= f * X[k, j]
                q -= f * X[k, n_c]
        work.q[i] = q
    return 0


@kernel(types.void(WORK))
def carry_back(work):
    """The answer that belongs to the reduced solution z, into work.out."""
    A, X, z, x, out = work.A, work.X, work.z, work.x, work.out
    n_f, n_c = X.shape[0], X.shape[1] - 1
    for i in range(n_f):
        s = X[i, n_c]
        for j in range(n_c):
            s += X[i, j] * z[j]
        x[i] = -s
    first = n_f + n_c
    for i in range(out.shape[0]):
        s = A[first + i, first]
        for j in range(n_f):
            s += A[first + i, j] * x[j]
        for j in range(n_c):
            s += A[first + i, n_f + j] * z[j]
        out[i] = s
