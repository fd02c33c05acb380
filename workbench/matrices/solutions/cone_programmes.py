"""Vectors that decide whether a friction problem has a solution: proposed by linear and conic programmes, then rounded.

Polyhedral cones are decided by exact linear programming, in either case. For others an interior-point method in
floating point makes a proposal, which is rounded to short rationals; it is returned only if `friction_cones` confirms
it in exact arithmetic.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.lazy import cvxpy as cp
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.in_time import echelon, null_space, pivots
from workbench.matrices.linear_algebra.rationals import Vector, doubles, product, spread, submatrix
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.support.arrays import Array

LENGTHS = (4, 12, 26, 52)
"""Bits to which a proposal is rounded, relative to its largest entry: the shortest valid one is taken."""
SINGULAR = 1e-10
"""Relative size of singular values that count as zero in a proposal."""
CLEAR = 1e-7
"""Margins of an interior point method below this count as zero."""


def by_linear_programme(p: RationalFriction, deadline: float) -> tuple[Vector, None] | tuple[None, Vector]:
    """x (n) with S x + q in the polyhedral K*, or r (n) in K with S r = 0 and q . r < 0. Raises OutOfTimeError."""
    C = _faces(p)
    basis = pivots(*echelon(p.S, deadline))
    A = C * submatrix(p.S, range(len(p.q)), basis)
    bound = [-x for x in product(C, p.q)]
    rows = [[*row, *(-x for x in row)] for row in A.tolist()] if basis else [[fmpq(0)]] * C.nrows()
    found, y = solve_inequalities(fmpq_mat(rows), bound, deadline)
    if found is None:
        return None, product(C.transpose(), y or [])
    parts = zip(found, found[len(basis) :], strict=False)
    return spread(len(p.q), basis, [plus - minus for plus, minus in parts]), None


def _faces(p: RationalFriction) -> fmpq_mat:
    """C with K* = {u : C u >= 0}: u_n + mu u_t and u_n - mu u_t of a contact in the plane, u_n without friction."""
    r, n = len(p.mu), len(p.q)
    rows = []
    for i, mu in enumerate(p.mu):
        for sign in (1, -1) if mu else (0,):
            row = [fmpq(0)] * n
            row[i] = fmpq(1)
            row[r + p.d * i] = sign * mu
            rows.append(row)
    return fmpq_mat(rows)


def interior_velocity(p: RationalFriction, accept: Callable[[Vector], bool]) -> Vector | None:
    """An accepted x (n), with S x + q well inside K* if there is such a point; None if none was found."""
    S, q, mu, D, size = _scaled(p)
    r = mu.size
    # Where S is regular every velocity can be reached, for example the one with which all contacts open.
    with suppress(np.linalg.LinAlgError):
        opening = np.linalg.lstsq(S, np.repeat([1.0, 0.0], [r, q.size - r]) - q, rcond=SINGULAR)[0]
        found = _shortest(size * D * opening, accept)
        if found is not None:
            return found
    x: Any = cp.Variable(q.size)
    margin: Any = cp.Variable()
    u = S @ x + q
    slip = cp.norm(cp.reshape(u[r:], (r, p.d), order="C"), 2, axis=1)
    limits = [u[:r] - margin >= cp.multiply(mu, slip), margin <= 1]
    values = _maximised(margin, limits, x)
    return _shortest(size * D * values, accept) if values is not None and margin.value > CLEAR else None


def self_stress(p: RationalFriction, accept: Callable[[Vector], bool]) -> Vector | None:
    """An accepted r (n) in K with S r = 0 and q . r < 0; None if none was found.

    Contacts are in the interior of their cones where possible, so that r may be rounded; the others are unloaded.
    """
    S, q, mu, D, _ = _scaled(p)
    k = mu.size
    r: Any = cp.Variable(q.size)
    inside: Any = cp.Variable(k)
    tangential = cp.norm(cp.reshape(r[k:], (k, p.d), order="C"), 2, axis=1)
    limits = [
        S @ r == 0, q @ r == -1, tangential <= cp.multiply(mu, r[:k] - inside), r[:k] >= inside, inside >= 0,
        inside <= 1,
    ]  # fmt: skip
    values = _maximised(cp.sum(inside), limits, r)
    if values is None:
        return None
    columns = _columns_of_contacts(p, np.greater(inside.value, CLEAR))
    return _from_null_space(p, columns, D * values, accept)


def _columns_of_contacts(p: RationalFriction, inside: np.ndarray) -> list[int]:
    """The entries of r that may differ from zero."""
    r, d = len(p.mu), p.d
    tangents = [r + d * i + j for i in range(r) if inside[i] and p.mu[i] for j in range(d)]
    return [i for i in range(r) if inside[i]] + tangents


def _from_null_space(
    p: RationalFriction, columns: list[int], r: Array, accept: Callable[[Vector], bool]
) -> Vector | None:
    """An accepted vector near r (n), zero outside these columns, with S r = 0 exactly."""
    if not columns:
        return None
    loose, basis = null_space(submatrix(p.S, range(len(p.q)), columns))

    def completed(free: Vector) -> Vector:
        return spread(len(p.q), columns, product(fmpq_mat(basis).transpose(), free))

    found = _shortest(r[np.array(columns)[loose]], lambda free: accept(completed(free))) if loose else None
    return None if found is None else completed(found)


def _shortest(x: Array, accept: Callable[[Vector], bool]) -> Vector | None:
    """x rounded to the smallest accepted number of bits; None if even doubles are not accepted."""
    size = float(np.abs(x).max(initial=0.0))
    if not np.isfinite(size) or size == 0:
        return None
    for bits in LENGTHS:
        unit = Fraction(2) ** (int(np.ceil(np.log2(size))) - bits)
        whole = [round(Fraction(float(v)) / unit) * unit for v in x]
        rounded = [fmpq(v.numerator, v.denominator) for v in whole]
        if accept(rounded):
            return rounded
    return None


def _scaled(p: RationalFriction) -> tuple[Array, Array, Array, Array, float]:
    """D S D, D q over its size, mu, D (n), and that size: one factor per contact leaves the cones unchanged."""
    r = len(p.mu)
    S, q, mu = doubles(p.S), doubles(p.q), doubles(p.mu)
    contact = np.concatenate([np.arange(r), np.repeat(np.arange(r), p.d)])
    size = np.zeros(r)
    np.maximum.at(size, contact, np.abs(np.diag(S)))
    D = np.where(size > 0, 1 / np.sqrt(np.where(size > 0, size, 1.0)), 1.0)[contact]
    largest = float(np.abs(D * q).max()) or 1.0
    return D[:, None] * S * D, D * q / largest, mu, D, largest


def _maximised(objective: Any, limits: list, x: Any) -> Array | None:
    """The solution x of the programme; None if it has none."""
    try:
        # An inaccurate proposal does no harm: the returned vector is checked exactly.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cp.Problem(cp.Maximize(objective), limits).solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return None
    return x.value
