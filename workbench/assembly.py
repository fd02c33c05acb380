"""From a declaration to numbers: CVXPY's own canonicalisation gives a sparse tensor T with (A, a) = T theta.

theta holds the values of all parameters: the core parameters in the order of `Symbols.shapes`, the formulation's own,
and a final 1. The rows of (A, a) are

    [ equations | partners' rows | answer | lower bounds | upper bounds | friction coefficients ]

over the columns [ free unknowns | partners | constant ]; the answer, for a time step v+, p_n, p_t, p_b, is
`Symbols.answer`. Compiling happens once per size; a step only stamps.
Free unknowns x_f leave by Schur complement, M = A_cc - A_cf A_ff^-1 A_fc, and come back with the solution.
"""

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import cvxpy as cp
import numpy as np
from numba import njit, types

from workbench.errors import ModellingError
from workbench.formulation import CoreSymbol, Formulation, Symbols
from workbench.hooks import Core
from workbench.kernels import INDICES, SINGULAR_PIVOT, VECTOR
from workbench.layout import Laid
from workbench.modelling import Box, Declaration, Nonneg

KINDS = ("LCP", "MLCP", "conic QP", "Coulomb NCP")
AGREEMENT = 1e-9
"""Largest relative difference allowed between the stamped matrix and direct evaluation of the declaration."""


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


PLAN = types.NamedTuple([INDICES, INDICES, VECTOR, VECTOR, VECTOR, *4 * [types.int64]], Plan)


class Work(Laid):
    """Room for one step, allocated once: the mixed system, its elimination, the reduced problem and the solution."""

    sizes = ("n_f", "n_c", "n_o", "n_k", "rows", "columns", "right")
    fields: ClassVar[dict[str, tuple]] = {
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

    declaration: Declaration
    symbols: Symbols
    plan: Plan
    constant: np.ndarray
    kind: str
    size: tuple[int, ...]
    theta: np.ndarray
    own: slice
    seconds: float

    def room(self) -> Work:
        """Fresh arrays for stepping, with all that stays the same in them."""
        n_f, n_c, n_k = self.plan.n_free, self.plan.lower.size, self.plan.n_cone
        rows, columns = self.constant.shape
        outputs = sum(self.symbols.answer.values())
        work = Work(n_f=n_f, n_c=n_c, n_o=outputs, n_k=n_k, rows=rows, columns=columns, right=n_c + 1)
        work.A[:] = self.constant
        return work

    def views(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """The shared parameters by name, as views into theta."""
        views, start = {}, 0
        for name, shape in self.symbols.shapes.items():
            length = int(np.prod(shape))
            views[name] = theta[start : start + length].reshape(shape)
            start += length
        return views

    def core(self, h: float, law: float, v_th: float) -> tuple[Core, np.ndarray]:
        """Contact data of a time step, and theta, which lies at its end: the shared parameters are the same memory."""
        core = Core(self.size, h, law, v_th, self.theta.size - self.own.start)
        core.extra[:] = self.theta[self.own.start :]
        return core, core.after("M")


@lru_cache(maxsize=256)
def compiled(formulation: Formulation, *size: int) -> Compiled:
    """Compile a formulation for one size: for a time step n velocities, m bilateral rows, r contacts, d tangents."""
    start = time.perf_counter()
    declaration, symbols = formulation.declaration(*size), formulation.symbols(*size)
    rows = _rows(declaration, symbols)
    expressions = [F for F in rows if isinstance(F, cp.Expression)]
    theta, position, own = _parameters(declaration, expressions, symbols)
    lower, upper = _constant_bounds(declaration)
    n_free = sum(u.size for u in declaration.free)
    shape = sum(F.size if isinstance(F, cp.Expression) else F for F in rows), n_free + lower.size + 1
    tensor = _tensor(declaration, rows, position, theta.size)
    constant, at, par, val, first = _entries(tensor, shape, theta.size)
    n_cone = declaration.cones[0].x.n.size if declaration.cones else 0
    plan = Plan(at, par, val, lower, upper, first, n_free, n_cone, getattr(symbols, "d", 0))
    result = Compiled(declaration, symbols, plan, constant, _kind(declaration), size, theta, own, 0.0)
    _compare_with_direct_evaluation(result, rows, position)
    return replace(result, seconds=time.perf_counter() - start)


def _kind(declaration: Declaration) -> str:
    cones = declaration.cones
    if cones:
        if len(cones) > 1 or len(declaration.partners) != 2:
            raise ModellingError(
                "a friction cone stands beside other complementarities; one cone relation alone is solved"
            )
        return "Coulomb NCP" if cones[0].coulomb else "conic QP"
    return "LCP" if all(isinstance(u.member_of, Nonneg) for u in declaration.partners) else "MLCP"


def _rows(declaration: Declaration, symbols: Symbols) -> list:
    """Expressions, or a number of empty rows, in the order of the module docstring."""
    rows: list = list(declaration.expressions)
    p_b = next((u for u in declaration.free if u.name() == "p_b"), None)
    recover = {"p_b": p_b} | declaration.recover
    for key, length in symbols.answer.items():
        F = recover.get(key)
        if F is not None and F.size != length:
            raise ModellingError(f"recover['{key}'] has {F.size} entries; the system has {length}")
        rows.append(length if F is None else F)
    for side in ("lower", "upper"):
        for u in declaration.partners:
            bound = cp.Expression.cast_to_const(getattr(u.member_of, side)) if isinstance(u.member_of, Box) else None
            rows.append(u.size if bound is None or not bound.parameters() else bound + np.zeros(u.size))
    if declaration.cones:
        x = declaration.cones[0].x
        rows.append(cp.Expression.cast_to_const(x.mu) + np.zeros(x.n.size))
    return rows


def _constant_bounds(declaration: Declaration) -> tuple[np.ndarray, np.ndarray]:
    sides = []
    for side, default in (("lower", 0.0), ("upper", np.inf)):
        parts = [np.zeros(0)]
        for u in declaration.partners:
            value: object = default
            if isinstance(u.member_of, Box):
                bound = cp.Expression.cast_to_const(getattr(u.member_of, side))
                value = np.nan if bound.parameters() else bound.value
            parts.append(np.broadcast_to(np.asarray(value, dtype=float).ravel(), (u.size,)))
        sides.append(np.concatenate(parts))
    return sides[0], sides[1]


def _parameters(declaration, expressions, symbols) -> tuple[np.ndarray, dict[int, np.ndarray], slice]:
    """theta with its constants, the positions in it of every parameter (in Fortran order, CVXPY's), the own part."""
    used = {p.id: p for F in expressions for p in F.parameters()}
    values, position, start = [], {}, 0
    core = {p.name(): p for p in used.values() if isinstance(p, CoreSymbol)}
    hooks = declaration.hooks
    statics = [p for p in used.values() if not isinstance(p, CoreSymbol) and all(p is not o for o in hooks.own)]
    for name, shape in symbols.shapes.items():
        length = int(np.prod(shape))
        if name in core:
            position[core[name].id] = start + np.arange(length).reshape(shape).ravel(order="F")
        values.append(np.zeros(length))
        start += length
    own_start = start
    for p in (*hooks.own, *statics):
        if p.value is None and all(p is not o for o in hooks.own):
            raise ModellingError(
                f"parameter '{p.name()}' is left without a value; set .value or list it in Hooks(own=...)"
            )
        position[p.id] = start + np.arange(p.size).reshape(p.shape).ravel(order="F")
        values.append(np.full(p.size, np.nan) if p.value is None else np.ravel(np.asarray(p.value, dtype=float)))
        start += p.size
    values.append(np.ones(1))
    own_size = sum(p.size for p in hooks.own)
    return np.concatenate(values), position, slice(own_start, own_start + own_size)


def _tensor(declaration: Declaration, rows: list, position: dict[int, np.ndarray], n_theta: int) -> tuple:
    """CVXPY's parameter tensor of the stacked expressions, in coordinates (row, col, par, val)."""
    expressions = [F for F in rows if isinstance(F, cp.Expression)]
    rng = np.random.default_rng(0)
    parameters = {p.id: p for F in expressions for p in F.parameters()}.values()
    kept = [(p, p.value) for p in parameters]
    for p in parameters:
        p.value = p.project(rng.uniform(0.5, 1.5, p.shape))
    data = cp.Problem(cp.Minimize(0), [F == 0 for F in expressions]).get_problem_data(cp.CLARABEL)[0]
    for p, value in kept:
        p.value = value
    program = data["param_prob"]
    unknowns = declaration.unknowns
    n_x = program.x.size
    column = np.full(n_x + 1, -1, dtype=np.int64)
    start = 0
    for u in unknowns:
        if u.id in program.var_id_to_col:
            first = program.var_id_to_col[u.id]
            column[first : first + u.size] = start + np.arange(u.size)
        start += u.size
    column[n_x] = start
    par_of = np.full(program.A.shape[1], -1, dtype=np.int64)
    for key, first in program.param_id_to_col.items():
        if key in position:
            par_of[first : first + position[key].size] = position[key]
    par_of[-1] = n_theta - 1
    row_of = _true_rows(rows)
    T = program.A.tocoo()
    flat, par = T.coords if hasattr(T, "coords") else (T.row, T.col)
    n_rows = row_of.size
    # CVXPY states F == 0 as -A x = a in its cone program: both blocks come with the sign turned.
    row, col, val = row_of[flat % n_rows], column[flat // n_rows], -T.data
    order = np.lexsort((col, row))
    keep = order[val[order] != 0.0]
    return row[keep].astype(np.int64), col[keep], par_of[par][keep], val[keep]


def _entries(tensor: tuple, shape: tuple[int, int], n_theta: int) -> tuple:
    """The tensor as `Plan` wants it: the constant A, then at, par, val, and how many entries come first at their place.

    Entries are sorted by row and column; the order of several at one place, and so their sum, stays as it is.
    """
    row, col, par, val = tensor
    constant = np.zeros(shape)
    at = row * shape[1] + col
    # A place holds a constant alone, or is stamped anew at every step, constants and all.
    stamped = np.isin(at, at[par != n_theta - 1])
    np.add.at(constant.reshape(-1), at[~stamped], val[~stamped])
    at, par, val = at[stamped], par[stamped], val[stamped]
    again = np.append(False, at[1:] == at[:-1])[: at.size]
    order = np.argsort(again, kind="stable")
    return constant, at[order], par[order], val[order], int(np.sum(~again))


def _true_rows(rows: list) -> np.ndarray:
    found, start = [], 0
    for F in rows:
        size = F.size if isinstance(F, cp.Expression) else F
        if isinstance(F, cp.Expression):
            found.append(start + np.arange(size, dtype=np.int64))
        start += size
    return np.concatenate(found)


def _compare_with_direct_evaluation(c: Compiled, rows: list, position: dict[int, np.ndarray]) -> None:
    """The tensor rests on CVXPY's internals, hence one comparison per compilation with its public `.value`."""
    rng = np.random.default_rng(1)
    work, theta = c.room(), c.theta.copy()
    parameters = {p.id: p for F in rows if isinstance(F, cp.Expression) for p in F.parameters()}
    kept = [(p, p.value) for p in parameters.values()]
    x = rng.standard_normal((work.A.shape[1],))
    x[-1] = 1.0
    start = 0
    for u in c.declaration.unknowns:
        u.value = x[start : start + u.size]
        start += u.size
    for key, p in parameters.items():
        p.value = p.project(rng.uniform(0.5, 1.5, p.shape))
        theta[position[key]] = np.ravel(p.value, order="F")
    stamp(c.plan, theta, work)
    stamped = work.A @ x
    direct = np.concatenate(
        [np.atleast_1d(np.asarray(F.value)) if isinstance(F, cp.Expression) else np.zeros(F) for F in rows]
    )
    for p, value in kept:
        p.value = value
    scale = np.abs(work.A) @ np.abs(x) + 1.0
    worst = np.max(np.abs(stamped - direct) / scale)
    if not worst <= AGREEMENT:
        raise ModellingError(f"the compiled declaration differs from direct evaluation by {worst:.1e} (relative)")


@njit(types.void(PLAN, VECTOR, WORK), cache=True)
def stamp(plan, theta, work):
    """A = T theta, and the bounds."""
    flat = work.A.reshape(-1)
    for k in range(plan.first):
        flat[plan.at[k]] = plan.val[k] * theta[plan.par[k]]
    for k in range(plan.first, plan.at.size):
        flat[plan.at[k]] += plan.val[k] * theta[plan.par[k]]
    A, n_c = work.A, plan.lower.size
    last = A.shape[1] - 1
    row = plan.n_free + n_c + work.out.size
    for i in range(n_c):
        work.lower[i] = A[row + i, last] if np.isnan(plan.lower[i]) else plan.lower[i]
        work.upper[i] = A[row + n_c + i, last] if np.isnan(plan.upper[i]) else plan.upper[i]
    for i in range(plan.n_cone):
        work.mu[i] = A[row + 2 * n_c + i, last]


@njit(types.int64(WORK), cache=True, error_model="numpy")
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


@njit(types.int64(WORK), cache=True, error_model="numpy")
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


@njit(types.void(WORK), cache=True)
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
