"""From a declaration to numbers: CVXPY's own canonicalisation gives the sparse tensor T of `assembly`."""

import cvxpy as cp
import numpy as np

from workbench.assemble.assembly import stamp
from workbench.assemble.plan import Compiled, Plan
from workbench.errors import ModellingError
from workbench.language.formulation import Formulation, Symbols
from workbench.language.leaves import CoreSymbol
from workbench.language.modelling import Box, Declaration, Nonneg

AGREEMENT = 1e-9
"""Largest relative difference allowed between the stamped matrix and direct evaluation of the declaration."""


def compile_declaration(formulation: Formulation, size: tuple[int, ...]) -> Compiled:
    """Declare, and read the numbers off; raises ModellingError."""
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
    kind, hooks = _kind(declaration), declaration.hooks
    result = Compiled(formulation, size, kind, plan, constant, theta, own, hooks, declaration)
    _compare_with_direct_evaluation(result, rows, position)
    return result


def _kind(declaration: Declaration) -> str:
    cones = declaration.cones
    if cones:
        if len(cones) > 1 or len(declaration.partners) != 2:
            raise ModellingError(
                "a friction cone stands beside other complementarities; one cone relation alone is solved"
            )
        return "Coulomb NCP" if cones[0].coulomb else "conic QP"
    if not declaration.partners:
        return "equations"
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
    work, theta = c.workspace(), c.theta.copy()
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
    stamp(theta, work)
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
