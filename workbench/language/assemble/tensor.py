"""Compile a declaration: CVXPY's own canonicalisation gives the sparse tensor T of `assembly`."""

from dataclasses import replace

import cvxpy as cp
import numpy as np

from workbench.language.assemble.plan import Compiled
from workbench.language.assemble.rows import DeclaredRows, read_rows
from workbench.language.formulation import Formulation
from workbench.support.errors import ModellingError

AGREEMENT = 1e-9
"""Largest relative difference allowed between the stamped matrix and direct evaluation of the declaration."""


def compile_declaration(formulation: Formulation, size: tuple[int, ...]) -> Compiled:
    """Declare, and read off the numbers; raises ModellingError."""
    r = read_rows(formulation, size)
    result = replace(r.compiled(*_entries(_tensor(r), r.shape, r.theta.size)), declared=r.declaration)
    # The tensor relies on CVXPY's internals, hence one comparison per compilation with its public `.value`.
    worst = r.difference(result, np.random.default_rng(1))
    if not worst <= AGREEMENT:
        raise ModellingError(f"the compiled declaration differs from direct evaluation by {worst:.1e} (relative)")
    return result


def _tensor(r: DeclaredRows) -> tuple:
    """CVXPY's parameter tensor of the stacked expressions, in coordinates (row, col, par, val)."""
    expressions, position, n_theta = r.expressions, r.position, r.theta.size
    rng = np.random.default_rng(0)
    parameters = {p.id: p for F in expressions for p in F.parameters()}.values()
    kept = [(p, p.value) for p in parameters]
    for p in parameters:
        p.value = p.project(rng.uniform(0.5, 1.5, p.shape))
    data = cp.Problem(cp.Minimize(0), [F == 0 for F in expressions]).get_problem_data(cp.CLARABEL)[0]
    for p, value in kept:
        p.value = value
    program = data["param_prob"]
    unknowns = r.declaration.unknowns
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
    row_of = _true_rows(r.rows)
    T = program.A.tocoo()
    flat, par = T.coords if hasattr(T, "coords") else (T.row, T.col)
    n_rows = row_of.size
    # In CVXPY's cone program F == 0 becomes -A x = a: both blocks have the opposite sign.
    row, col, val = row_of[flat % n_rows], column[flat // n_rows], -T.data
    order = np.lexsort((col, row))
    keep = order[val[order] != 0.0]
    return row[keep].astype(np.int64), col[keep], par_of[par][keep], val[keep]


def _entries(tensor: tuple, shape: tuple[int, int], n_theta: int) -> tuple:
    """The tensor in `Plan`'s form: the constant A, then at, par, val, and the number of first entries at a position.

    Entries are sorted by row and column; the order of several at one position, and so their sum, is unchanged.
    """
    row, col, par, val = tensor
    constant = np.zeros(shape)
    at = row * shape[1] + col
    # A position holds only a constant, or is stamped at every step, constants included.
    stamped = np.isin(at, at[par != n_theta - 1])
    np.add.at(constant.reshape(-1), at[~stamped], val[~stamped])
    at, par, val = at[stamped], par[stamped], val[stamped]
    again = np.append(False, at[1:] == at[:-1])[: at.size]
    order = np.argsort(again, kind="stable")
    return constant, at[order], par[order], val[order], int(np.sum(~again))


def _true_rows(rows: list) -> np.ndarray:
    found, start = [], 0
    for F in rows:
        size = F if isinstance(F, int) else F.size
        if not isinstance(F, int):
            found.append(start + np.arange(size, dtype=np.int64))
        start += size
    return np.concatenate(found)
