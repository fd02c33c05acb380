"""A declaration as a CVXPY problem, if its relations are the optimality conditions of a convex one.

Elimination of the free unknowns x_f leaves F = W z + q complementary to z in K. If W is symmetric positive
semidefinite, these are exactly the optimality conditions of

    minimise 1/2 z^T W z + q^T z     over z in K, with x_f from the equations.

For a time step W = J M^-1 J^T + diag(eps), and the minimum is that of the impulses. W and q follow the values of the
parameters, which may be changed between two solutions.
"""

from typing import Any

import cvxpy as cp
import numpy as np

from workbench.language.sets import Box, DiscSet, Nonneg
from workbench.problems.classes import SYMMETRY_TOLERANCE, Array
from workbench.support.errors import DataError, ModellingError

TRIALS = 2
"""Number of random data sets by which properties of a declaration are decided."""


def optimisation_problem(declaration: Any) -> cp.Problem:
    """See `Declaration.problem`."""
    must_be_convex(declaration)
    constraints: list[cp.Constraint] = [F == 0 for F in declaration.equations]
    if not declaration.partners:
        return cp.Problem(cp.Minimize(0), constraints)
    for u in declaration.partners:
        if isinstance(u.member_of, Nonneg):
            constraints.append(u >= 0)
        elif isinstance(u.member_of, Box):
            constraints += _within(u, u.member_of)
        elif isinstance(u.member_of, DiscSet):
            across = cp.reshape(u, (u.size // u.member_of.contacts, u.member_of.contacts), order="F")
            constraints.append(cp.SOC(u.member_of.radius + np.zeros(u.member_of.contacts), across, axis=0))
    for c in declaration.cones:
        constraints += _in_cone(c.x)
    z = cp.hstack(declaration.partners)
    R = cp.CallbackParam(lambda: _root(reduced(declaration)[0]), (z.size, z.size), name="root of W")
    q = cp.CallbackParam(lambda: reduced(declaration)[1], z.size, name="q")
    return cp.Problem(cp.Minimize(cp.sum_squares(R @ z) / 2 + q @ z), constraints)


def _in_cone(x: Any) -> list[cp.Constraint]:
    """Constraints of a friction cone."""
    p_n, mu, r = x.n, cp.Expression.cast_to_const(x.mu), x.n.size
    across: Any = cp.reshape(x.t, (x.t.size // r, r), order="F")
    d = x.t.size // r
    # If mu is zero, the cone alone would allow p_n < 0.
    found, radius = [p_n >= 0], cp.multiply(mu, p_n) if not x.each else p_n
    if x.each:
        # In units of the ellipsoid's axes, since CVXPY cannot divide by data: p_t = mu y with |y| <= p_n.
        y = cp.Variable((d, r))
        found.append(across == cp.multiply(cp.reshape(mu, (d, r), order="F"), y))
        across = y
    discs = [slice(0, 2), slice(2, 3), slice(3, d)] if x.apart else [slice(0, d)]
    return found + [cp.SOC(radius, across[rows], axis=0) for rows in discs if rows.start < d]


def _within(u: Any, bounds: Box) -> list[cp.Constraint]:
    """The finite bounds of an unknown, as constraints."""
    found: list[cp.Constraint] = []
    for bound, sign in ((bounds.lower, 1.0), (bounds.upper, -1.0)):
        F = cp.Expression.cast_to_const(bound)
        if F.parameters():
            found.append(sign * (u - F) >= 0)
            continue
        value = np.broadcast_to(np.ravel(F.value), (u.size,))
        finite = np.flatnonzero(np.isfinite(value))
        if finite.size:
            found.append(sign * (u[finite] - value[finite]) >= 0)
    return found


def must_be_convex(declaration: Any) -> None:
    """Raise ModellingError if the relations are not the optimality conditions of a convex problem."""
    refusal = "these relations are not the optimality conditions of a convex problem: "
    if any(c.coulomb for c in declaration.cones):
        raise ModellingError(f"{refusal}Coulomb's law shifts the cone with the sliding velocity; law='cone' does not")
    parameters = list(declaration.parameters.values())
    kept = [p.value for p in parameters]
    try:
        for trial in range(TRIALS):
            rng = np.random.default_rng(trial)
            for p in parameters:
                p.value = _some_value(p, rng)
            W = reduced(declaration)[0]
            apart, size = np.abs(W - W.T), np.abs(W).max(initial=0.0)
            if apart.max(initial=0.0) > SYMMETRY_TOLERANCE * size:
                names = [u.name() for u in declaration.partners for _ in range(u.size)]
                i, j = np.unravel_index(np.argmax(apart), W.shape)
                raise ModellingError(f"{refusal}the rows of '{names[i]}' and '{names[j]}' do not couple symmetrically")
            if W.size and np.linalg.eigvalsh(W)[0] < -SYMMETRY_TOLERANCE * size:
                raise ModellingError(f"{refusal}their matrix is not positive semidefinite")
    finally:
        for p, value in zip(parameters, kept, strict=True):
            p.value = value


def _some_value(p: cp.Parameter, rng: np.random.Generator) -> Array:
    """Random data for a parameter; the mass matrix is symmetric positive definite."""
    value = rng.uniform(0.5, 1.5, p.shape)
    if p.name() == "M":
        return value @ value.T + np.eye(len(value))
    return p.project(value)


def reduced(declaration: Any) -> tuple[Array, Array]:
    """Return W and q for the parameters' values; raises DataError if one has none, or if W is singular."""
    for name, p in declaration.parameters.items():
        if p.value is None:
            raise DataError(f"parameter '{name}' has no value; set declaration.parameters['{name}'].value")
    unknowns = declaration.unknowns
    kept, sizes = [u.value for u in unknowns], [u.size for u in unknowns]
    ends = np.cumsum(sizes)[:-1]

    def rows(x: Array) -> Array:
        for u, part in zip(unknowns, np.split(x, ends), strict=True):
            u.value = part
        return np.concatenate([np.asarray(F.value, dtype=float).ravel() for F in declaration.expressions])

    try:
        a = rows(np.zeros(sum(sizes)))
        A = np.array([rows(e) - a for e in np.eye(sum(sizes))]).T
    finally:
        for u, value in zip(unknowns, kept, strict=True):
            u.value = value
    n = sum(u.size for u in declaration.free)
    try:
        X = np.linalg.solve(A[:n, :n], np.column_stack([A[:n, n:], a[:n]]))
    except np.linalg.LinAlgError:
        raise DataError("the equations do not determine the free unknowns") from None
    return A[n:, n:] - A[n:, :n] @ X[:, :-1], a[n:] - A[n:, :n] @ X[:, -1]


def _root(W: Array) -> Array:
    """Return R with R^T R = W; raises DataError if W is not symmetric positive semidefinite."""
    size = np.abs(W).max(initial=0.0)
    if np.abs(W - W.T).max(initial=0.0) > SYMMETRY_TOLERANCE * size:
        raise DataError("the values of the parameters make a problem that is not symmetric; is M symmetric?")
    w, Q = np.linalg.eigh((W + W.T) / 2)
    if w[0] < -SYMMETRY_TOLERANCE * size:
        raise DataError(f"the values of the parameters make a problem that is not convex: eigenvalue {w[0]:.3g}")
    return np.sqrt(np.maximum(w, 0.0))[:, None] * Q.T
