"""The rows of a declaration: all of a compiled one except the tensor, which needs CVXPY's canonicalisation.

Declarations use CVXPY, or plain numbers within `language.values.by_values`: this module works with either.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.engine.lazy import Lazy
from workbench.engine.lazy import cvxpy as cp
from workbench.language.assemble.assembly import stamp
from workbench.language.assemble.plan import Compiled, Plan
from workbench.language.formulation import Formulation, Symbols
from workbench.language.modelling import Complements, ConeComplements, Declaration
from workbench.language.sets import Box, DiscSet, Nonneg
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import APART, ASSOCIATED, COULOMB, DISC, NO_CONE, Sets
from workbench.support.errors import ModellingError

leaves: Any = Lazy("workbench.language.leaves")


@dataclass(frozen=True)
class DeclaredRows:
    """The rows of a declaration of one size, in the order of `assembly`, and their metadata."""

    formulation: Formulation
    size: tuple[int, ...]
    declaration: Declaration
    symbols: Symbols
    rows: list
    """Each is an expression, or a number of empty rows."""
    theta: np.ndarray
    position: dict[int, np.ndarray]
    """Positions in theta of every parameter, in Fortran order as in CVXPY."""
    own: slice
    lower: np.ndarray
    upper: np.ndarray
    kind: str
    sets: Sets

    @property
    def expressions(self) -> list:
        return [F for F in self.rows if not isinstance(F, int)]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of A with its constant column."""
        n_free = sum(u.size for u in self.declaration.free)
        return sum(F if isinstance(F, int) else F.size for F in self.rows), n_free + self.lower.size + 1

    def compiled(self, constant: np.ndarray, at: np.ndarray, par: np.ndarray, val: np.ndarray, first: int) -> Compiled:
        """Combine the rows with a tensor, given as `Plan`'s entries."""
        n_cone = int(self.sets.at[-1])
        n_free = self.shape[1] - self.lower.size - 1
        plan = Plan(at, par, val, self.lower, self.upper, first, n_free, n_cone, getattr(self.symbols, "d", 0))
        hooks = replace(self.declaration.hooks, own=())
        return Compiled(self.formulation, self.size, self.kind, plan, constant, self.theta, self.own, hooks, self.sets)

    def difference(self, c: Compiled, rng: np.random.Generator) -> float:
        """Return the largest difference of a stamped row from its value at random data.

        The difference is relative to 1 and the row's terms.

        It sets the declaration's unknowns, and leaves its parameters unchanged.
        """
        work, theta = c.workspace(), self.theta.copy()
        parameters = {p.id: p for F in self.expressions for p in F.parameters()}
        kept = [(p, p.value) for p in parameters.values()]
        # Away from zero, where entries of a column would not show.
        x = rng.choice([-1.0, 1.0], work.A.shape[1]) * rng.uniform(0.5, 1.5, work.A.shape[1])
        x[-1] = 1.0
        start = 0
        for u in self.declaration.unknowns:
            u.value = x[start : start + u.size]
            start += u.size
        for key, p in parameters.items():
            p.value = p.project(rng.uniform(0.5, 1.5, p.shape))
            theta[self.position[key]] = np.ravel(p.value, order="F")
        # Stamp NaN first: a step must not leave anything behind for the next one.
        stamp(np.full(theta.size, np.nan), work)
        stamp(theta, work)
        direct = [np.zeros(F) if isinstance(F, int) else np.atleast_1d(np.asarray(F.value)) for F in self.rows]
        for p, value in kept:
            p.value = value
        scale = np.abs(work.A) @ np.abs(x) + 1.0
        return float(np.max(np.abs(work.A @ x - np.concatenate(direct)) / scale))


def read_rows(formulation: Formulation, size: tuple[int, ...]) -> DeclaredRows:
    """Declare, and read everything that needs no tensor; raises ModellingError."""
    declaration, symbols = formulation.declaration(*size), formulation.symbols(*size)
    rows = _rows(declaration, symbols)
    theta, position, own = _parameters(declaration, [F for F in rows if not isinstance(F, int)], symbols)
    lower, upper = _constant_bounds(declaration)
    kind = _kind(declaration)
    sets = _sets(declaration)
    return DeclaredRows(formulation, size, declaration, symbols, rows, theta, position, own, lower, upper, kind, sets)


def _kind(declaration: Declaration) -> str:
    cones = declaration.cones
    if len(cones) == 1 and len(declaration.partners) == 2 and not (cones[0].x.each or cones[0].x.apart):
        return "Coulomb NCP" if cones[0].coulomb else "conic QP"
    if cones or declaration.discs:
        return MixedNCP.kind
    if not declaration.partners:
        return "equations"
    return "LCP" if all(isinstance(u.member_of, Nonneg) for u in declaration.partners) else "MLCP"


def _sets(declaration: Declaration) -> Sets:
    """The sets of the partners: every bounded entry, every contact of a cone or disc."""
    cone: list[int] = []
    count: list[int] = []
    order, place = [np.zeros((0, 1), dtype=np.int64)], 0
    for relation in declaration.relations:
        if isinstance(relation, ConeComplements):
            x, r = relation.x, relation.x.n.size
            if x.apart and not relation.coulomb:
                raise ModellingError(
                    f"{x.name}: torsion and rolling apart are solved under law='coulomb' alone; "
                    "the convex problem that law='cone' means is declaration.problem()"
                )
            code, own, d = COULOMB if relation.coulomb else ASSOCIATED, x.t.size // r if x.each else 1, x.t.size // r
            tangents = place + r + np.arange(d * r).reshape(r, d)
            order.append(np.column_stack([place + np.arange(r), tangents]))
            code = APART if x.apart else code
        elif isinstance(relation, Complements):
            u = relation.x
            is_disc = isinstance(u.member_of, DiscSet)
            r = u.member_of.contacts if isinstance(u.member_of, DiscSet) else u.size
            code, own = (DISC, 1) if is_disc else (NO_CONE, 0)
            order.append(place + np.arange(u.size).reshape(r, -1))
        else:
            continue
        cone, count = cone + [code] * r, count + [own] * r
        place += order[-1].size
    sizes = [rows.shape[1] for rows in order for _ in rows]
    first, at = (np.append(0, np.cumsum(some)).astype(np.int64) for some in (sizes, count))
    return Sets(np.array(cone), first, np.concatenate([rows.ravel() for rows in order]), at)


def _rows(declaration: Declaration, symbols: Symbols) -> list:
    """Expressions, or numbers of empty rows, in the order of `assembly`."""
    rows: list = list(declaration.expressions)
    p_b = next((u for u in declaration.free if u.name() == "p_b"), None)
    recover = {"p_b": p_b} | declaration.recover
    for key, length in symbols.answer.items():
        F = recover.get(key)
        if F is not None and F.size != length:
            raise ModellingError(f"recover['{key}'] has {F.size} entries; the system has {length}")
        rows.append(int(length) if F is None else F)
    for side in ("lower", "upper"):
        for u in declaration.partners:
            bound = cp.Expression.cast_to_const(getattr(u.member_of, side)) if isinstance(u.member_of, Box) else None
            rows.append(int(u.size) if bound is None or not bound.parameters() else bound + np.zeros(u.size))
    for relation in declaration.relations:
        if isinstance(relation, ConeComplements):
            x = relation.x
            rows.append(cp.Expression.cast_to_const(x.mu) + np.zeros(x.t.size if x.each else x.n.size))
        elif isinstance(relation, Complements) and isinstance(relation.x.member_of, DiscSet):
            within = relation.x.member_of
            rows.append(cp.Expression.cast_to_const(within.radius) + np.zeros(within.contacts))
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
    """theta with its constants, the position in it of every parameter (Fortran order, as in CVXPY), the own part."""
    used = {p.id: p for F in expressions for p in F.parameters()}
    values, position, start = [], {}, 0
    core = {p.name(): p for p in used.values() if isinstance(p, leaves.CoreSymbol)}
    hooks = declaration.hooks
    statics = [p for p in used.values() if not isinstance(p, leaves.CoreSymbol) and all(p is not o for o in hooks.own)]
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
