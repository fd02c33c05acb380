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
from typing import NamedTuple

import cvxpy as cp
import numpy as np
from numba import njit, types

from workbench.errors import ModellingError
from workbench.formulation import CoreSymbol, Formulation, Symbols
from workbench.hooks import Core
from workbench.kernels import INDICES, MATRIX, VECTOR, lu_factor, lu_solve, spread
from workbench.modelling import Box, Declaration, Nonneg

KINDS = ("LCP", "MLCP", "conic QP", "Coulomb NCP")
AGREEMENT = 1e-9
"""Largest relative difference allowed between the stamped matrix and direct evaluation of the declaration."""


class Plan(NamedTuple):
    """A compiled declaration as plain arrays: the tensor in coordinates, and where things lie."""

    row: np.ndarray  # (nnz,)
    col: np.ndarray  # (nnz,) the constant is column n_free + n_partner
    par: np.ndarray  # (nnz,) position in theta
    val: np.ndarray  # (nnz,)
    lower: np.ndarray  # (n_partner,) constant bounds; nan where the bound is stamped
    upper: np.ndarray  # (n_partner,)
    n_free: int
    n_cone: int  # contacts in friction cones
    d: int


PLAN = types.NamedTuple(
    [INDICES, INDICES, INDICES, VECTOR, VECTOR, VECTOR, types.int64, types.int64, types.int64], Plan
)


class Work(NamedTuple):
    """Room for one step, allocated once: theta, the mixed system, the reduced problem and the solution."""

    theta: np.ndarray
    A: np.ndarray  # (rows, n_free + n_partner + 1)
    X: np.ndarray  # (n_free, n_partner + 1): A_ff^-1 [A_fc, a_f]
    M: np.ndarray  # (n_partner, n_partner)
    q: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray  # (n_cone,)
    z: np.ndarray  # (n_partner,)
    out: np.ndarray  # the answer's parts one after the other


WORK = types.NamedTuple([VECTOR, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR], Work)


@dataclass(frozen=True)
class Compiled:
    """A declaration compiled for one size, (n, m, r, d) for a time step; `seconds` is what that took."""

    declaration: Declaration
    symbols: Symbols
    plan: Plan
    kind: str
    size: tuple[int, ...]
    theta: np.ndarray
    own: slice
    seconds: float

    def room(self) -> tuple[Work, np.ndarray]:
        """Fresh arrays for stepping, and the view of theta that holds the formulation's own parameters."""
        n_f, n_c = self.plan.n_free, self.plan.lower.size
        theta = self.theta.copy()
        outputs = sum(self.symbols.answer.values())
        rows = n_f + n_c + outputs + 2 * n_c + self.plan.n_cone
        work = Work(
            theta, np.zeros((rows, n_f + n_c + 1)), np.zeros((n_f, n_c + 1)), np.zeros((n_c, n_c)), np.zeros(n_c),
            np.zeros(n_c), np.zeros(n_c), np.zeros(self.plan.n_cone), np.zeros(n_c), np.zeros(outputs),
        )  # fmt: skip
        return work, theta[self.own]

    def views(self, work: Work) -> dict[str, np.ndarray]:
        """The shared parameters by name, as views into `work.theta`."""
        views, start = {}, 0
        for name, shape in self.symbols.shapes.items():
            length = int(np.prod(shape))
            views[name] = work.theta[start : start + length].reshape(shape)
            start += length
        return views

    def core(self, work: Work, h: float, law: float, v_th: float) -> Core:
        """Contact data of a time step whose shared parameters are views into `work.theta`."""
        n, m, r, d = self.size
        return Core(
            h=float(h), law=law, v_th=float(v_th), v=np.zeros(n), f=np.zeros(n), g=np.zeros(m), r_b=np.zeros(m),
            phi=np.zeros(r), r_n=np.zeros(r), e=np.zeros(r), r_t=np.zeros(d * r), mu_s=np.zeros(r),
            heading=np.tile([1.0, 0.0], (r, 1)), frame=np.tile([1.0, 0.0], (r, 1)), **self.views(work),
        )  # fmt: skip


@lru_cache(maxsize=256)
def compiled(formulation: Formulation, *size: int) -> Compiled:
    """Compile a formulation for one size: for a time step n velocities, m bilateral rows, r contacts, d tangents."""
    start = time.perf_counter()
    declaration, symbols = formulation.declaration(*size), formulation.symbols(*size)
    rows = _rows(declaration, symbols)
    expressions = [F for F in rows if isinstance(F, cp.Expression)]
    theta, position, own = _parameters(declaration, expressions, symbols)
    row, col, par, val = _tensor(declaration, rows, position, theta.size)
    lower, upper = _constant_bounds(declaration)
    n_free = sum(u.size for u in declaration.free)
    plan = Plan(row, col, par, val, lower, upper, n_free, *_cone_size(declaration, getattr(symbols, "d", 0)))
    result = Compiled(declaration, symbols, plan, _kind(declaration), size, theta, own, 0.0)
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


def _cone_size(declaration: Declaration, d: int) -> tuple[int, int]:
    return (declaration.cones[0].x.n.size, d) if declaration.cones else (0, d)


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


def _tensor(declaration: Declaration, rows: list, position: dict[int, np.ndarray], n_theta: int):
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
    work, _ = c.room()
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
        work.theta[position[key]] = np.ravel(p.value, order="F")
    stamp(c.plan, work)
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


@njit(types.void(PLAN, WORK), cache=True)
def stamp(plan, work):
    """A = T theta, and the bounds."""
    A, theta = work.A, work.theta
    for i in range(A.shape[0]):
        spread(0.0, A[i])
    for k in range(plan.row.size):
        A[plan.row[k], plan.col[k]] += plan.val[k] * theta[plan.par[k]]
    n_c = plan.lower.size
    last = A.shape[1] - 1
    first = plan.n_free + n_c + work.out.size
    for i in range(n_c):
        work.lower[i] = A[first + i, last] if np.isnan(plan.lower[i]) else plan.lower[i]
        work.upper[i] = A[first + n_c + i, last] if np.isnan(plan.upper[i]) else plan.upper[i]
    for i in range(plan.n_cone):
        work.mu[i] = A[first + 2 * n_c + i, last]


@njit(types.int64(PLAN, WORK), cache=True)
def eliminate(plan, work):
    """Schur complement on the free unknowns; 0, or 1 + the first dependent column of A_ff."""
    A, X, n_f, n_c = work.A, work.X, plan.n_free, plan.lower.size
    LU, pivots = np.empty((n_f, n_f)), np.empty(n_f, dtype=np.int64)
    for i in range(n_f):
        for j in range(n_f):
            LU[i, j] = A[i, j]
    missing = lu_factor(LU, pivots)
    if missing:
        return missing
    rhs, x = np.empty(n_f), np.empty(n_f)
    for j in range(n_c + 1):
        for i in range(n_f):
            rhs[i] = A[i, n_f + j]
        lu_solve(LU, pivots, rhs, x)
        for i in range(n_f):
            X[i, j] = x[i]
    for i in range(n_c):
        for j in range(n_c + 1):
            s = A[n_f + i, n_f + j]
            for k in range(n_f):
                s -= A[n_f + i, k] * X[k, j]
            if j < n_c:
                work.M[i, j] = s
            else:
                work.q[i] = s
    return 0


@njit(types.void(PLAN, WORK), cache=True)
def carry_back(plan, work):
    """The answer that belongs to the reduced solution z, into work.out."""
    A, X, z, n_f, n_c = work.A, work.X, work.z, plan.n_free, plan.lower.size
    x = np.empty(n_f)
    for i in range(n_f):
        s = X[i, n_c]
        for j in range(n_c):
            s += X[i, j] * z[j]
        x[i] = -s
    first = n_f + n_c
    for i in range(work.out.size):
        s = A[first + i, first]
        for j in range(n_f):
            s += A[first + i, j] * x[j]
        for j in range(n_c):
            s += A[first + i, n_f + j] * z[j]
        work.out[i] = s
