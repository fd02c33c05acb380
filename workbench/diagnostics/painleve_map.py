"""Regimes of sliding contacts over two parameters: a map, in floating point, of what `painleve` decides at a point.

For every cell all 2^m complementary bases [P_j, Q_j] of `sliding_exact` are solved for the whole map at once, rows
scaled to unit effective mass. A cell in which a determinant or an unknown is within `TOLERANCE` of zero is "undecided".
The critical friction drawn over the map is certified (`critical_friction`), as are none of the cells' colours.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.diagnostics.critical_friction import by_polynomials
from workbench.diagnostics.painleve import Line, friction_lines
from workbench.diagnostics.proposition import betas_2, bilateral_limits
from workbench.diagnostics.sliding_exact import as_doubles, index_sets
from workbench.errors import DataError
from workbench.mechanics.case import Array, Case
from workbench.sliding.state import sliding_system
from workbench.sliding.system import SlidingStack, SlidingSystem

TOLERANCE = 1e-9
"""Relative size below which a determinant or an unknown counts as zero, so that the cell is undecided."""
LARGEST = 5
"""Contacts up to which a map is made."""
MOST_CELLS = 1_000_000
KINDS = (
    "unique, by Proposition 1", "unique, P", "unique here, not P", "none", "two", "three or more", "undecided",
    "no sliding state",
)  # fmt: skip
PROPOSITION, P_MATRIX, UNIQUE, NONE, TWO, MORE, UNDECIDED, NO_STATE = range(8)


class Axis(NamedTuple):
    """A parameter of the case and its values, increasing."""

    name: str
    values: Array


@dataclass(frozen=True, eq=False)
class RegimeMap:
    """`kind` (n_x, n_y) indexes `KINDS`. Where one axis is a friction coefficient, `friction` is "x" or "y" and
    `critical` (values along the other axis) its certified critical value there: inf where none is lost, nan where P
    fails at zero friction already or there is no state; `regained`: how many of these lines lose P and regain it."""

    x: Axis
    y: Axis
    kind: NDArray[np.int64]
    friction: str | None
    critical: Array | None
    regained: int

    def shares(self) -> dict[str, float]:
        """Share of each kind that occurs among the cells."""
        return {name: float((self.kind == k).mean()) for k, name in enumerate(KINDS) if (self.kind == k).any()}


def regime_map(case: Case, x: Axis, y: Axis, progress: Callable[[int, int], None] | None = None) -> RegimeMap:
    """The map of a case over two of its parameters, at its start. Friction axes are cheap, others a system a line.

    Raises DataError for too many contacts or cells, or where no point of the map has a sliding state.
    """
    if x.values.size * y.values.size > MOST_CELLS:
        raise DataError(f"{x.values.size} x {y.values.size} cells; at most {MOST_CELLS} are drawn")
    lines = friction_lines(case)
    cheap = {axis.name for axis in (x, y) if axis.name in lines}
    systems = _systems(case, [a for a in (x, y) if a.name not in cheap], (x, y), progress)
    first = next((s for s in systems.flat if s is not None), None)
    if first is None:
        raise DataError(f"{case.name}: no point of the map has contacts that slide")
    if sum(first.size) > LARGEST:
        raise DataError(f"{case.name}: {sum(first.size)} contacts; a map takes at most {LARGEST}")
    kind = np.full((x.values.size, y.values.size), NO_STATE)
    where = np.array([[s is not None and s.size == first.size for s in row] for row in systems])
    stack = _Stack.of([s for s, w in zip(systems.flat, where.flat, strict=True) if w])
    friction = _friction(case, lines, x, y, cheap, first)
    # Systems along a friction axis are one and the same, its coefficients differ.
    full = np.broadcast_to(where, kind.shape)
    index = np.broadcast_to((np.cumsum(where.ravel()) - 1).reshape(where.shape), kind.shape)[full]
    kind[full] = kinds(stack, index, stack.mu[index] if friction is None else friction[full])
    for side, axis, other in (("y", y, systems[:, 0]), ("x", x, systems[0, :])):
        if cheap == {axis.name}:
            critical, regained = _critical(lines[axis.name], list(other))
            return RegimeMap(x, y, kind, side, critical, regained)
    return RegimeMap(x, y, kind, None, None, 0)


def _systems(case: Case, changing: list[Axis], axes: tuple[Axis, Axis], progress: Callable | None) -> NDArray:
    """Systems (n_x or 1, n_y or 1) over the axes that change more than friction; None where nothing slides."""
    shape = [axis.values.size if axis in changing else 1 for axis in axes]
    found = np.full(shape, None, dtype=object)
    for k, ij in enumerate(np.ndindex(*shape)):
        values = {a.name: float(a.values[i]) for a, i in zip(axes, ij, strict=True) if a in changing}
        try:
            found[ij] = sliding_system(case.with_parameters(**values))
        except DataError:
            if not k and shape == [1, 1]:
                raise
        if progress:
            progress(k + 1, found.size)
    return found


def _friction(
    case: Case, lines: Mapping[str, Line], x: Axis, y: Axis, cheap: set[str], first: SlidingSystem
) -> Array | None:
    """Coefficients mu (n_x, n_y, m) over the map; None where no axis is one."""
    if not cheap:
        return None
    rates = np.zeros((x.values.size, y.values.size, sum(first.size)))
    for axis, values in ((x, x.values[:, None, None]), (y, y.values[None, :, None])):
        if axis.name in cheap:
            rates += values * lines[axis.name].mu_1
    at_zero = case.with_parameters(**dict.fromkeys(cheap, 0.0))
    # Where the start itself does not slide, the coefficients are those at any state of the map.
    try:
        start = sliding_system(at_zero)
    except DataError:
        start = first
    return rates + np.append(start.mu_b, start.mu_u)


class _Stack(NamedTuple):
    """A_n, A_t (N, m, m), w, mu, xi (N, m) of N systems with rows as they are, and m_b."""

    A_n: Array
    A_t: Array
    w: Array
    mu: Array
    xi: Array
    m_b: int

    @classmethod
    def of(cls, systems: list[SlidingSystem]) -> "_Stack":
        s = SlidingStack.of(systems)
        a, b = s.inverse, s.blocks
        A_n, A_t = (
            np.concatenate([np.concatenate(upper, axis=-1), np.concatenate(lower, axis=-1)], axis=-2)
            for upper, lower in (((a.nb, a.nbnu), (a.nunb, a.nu)), ((a.tb, a.nbtu), (a.nutb, a.tu)))
        )
        w, mu, xi = (np.concatenate(x, axis=-1) for x in ((b.w1, b.w2), (s.mu_b, s.mu_u), (s.xi_b, s.xi_u)))
        return cls(A_n, A_t, w, mu, xi, systems[0].m_b)

    def balanced(self) -> "_Stack":
        """Rows scaled to unit effective mass, w to a largest entry of one."""
        d = 1 / np.sqrt(np.einsum("kii->ki", self.A_n))
        both = d[:, :, None] * d[:, None, :]
        w = d * self.w
        largest = np.abs(w).max(axis=1, keepdims=True)
        return self._replace(A_n=both * self.A_n, A_t=both * self.A_t, w=w / np.where(largest > 0, largest, 1.0))


def kinds(stack: _Stack, index: NDArray[np.int64], mu: Array) -> NDArray[np.int64]:
    """The kind of every cell: system `index` (K,) of the stack with the coefficients mu (K, m)."""
    even = stack.balanced()
    c = mu * stack.xi[index]
    P, Q = _pair(even, index, c)
    # What a column adds up from, before friction may cancel it; the slacks' columns are unit vectors.
    size = np.linalg.norm(np.abs(even.A_n[index]) + np.abs(even.A_t[index] * c[:, None, :]), axis=1)
    slack_size = np.where(np.arange(c.shape[1]) < even.m_b, size, 1.0)
    count, doubt, sign = np.zeros(len(index), dtype=int), np.zeros(len(index), dtype=bool), []
    for a in index_sets(mu.shape[1]):
        C = P.copy()
        C[:, :, list(a)] = Q[:, :, list(a)]
        scale = np.where(np.isin(np.arange(c.shape[1]), a), size, slack_size)
        det = np.linalg.det(C / scale[:, None, :])
        flat = np.abs(det) <= TOLERANCE
        doubt |= flat
        sign.append(np.where(flat, 0, np.sign(det)))
        C[flat] = np.eye(C.shape[-1])
        x = -np.linalg.solve(C, even.w[index][:, :, None])[:, :, 0]
        x[:, list(a)] *= -1
        slack = TOLERANCE * np.maximum(1.0, np.abs(x).max(axis=1, keepdims=True))
        out, inside = (x < -slack).any(axis=1), (x > slack).all(axis=1)
        count += inside & ~flat
        doubt |= ~out & ~inside & ~flat
    is_p = np.abs(np.sum(sign, axis=0)) == len(sign)
    kind = np.select([count == 0, is_p, count == 1, count == 2], [NONE, P_MATRIX, UNIQUE, TWO], MORE)
    kind[is_p & (count == 1) & proposition_1(stack, index, c)] = PROPOSITION
    kind[doubt] = UNDECIDED
    return kind


def _pair(stack: _Stack, index: NDArray[np.int64], c: Array) -> tuple[Array, Array]:
    """P and Q (K, m, m) of `sliding_exact`."""
    rubbing = stack.A_t[index] * c[:, None, :]
    P, Q = stack.A_n[index] - rubbing, stack.A_n[index] + rubbing
    m_b, m = stack.m_b, c.shape[1]
    Q[:, :, m_b:] = -P[:, :, m_b:]
    P[:, :, m_b:] = -np.eye(m)[:, m_b:]
    return P, Q


def proposition_1(stack: _Stack, index: NDArray[np.int64], c: Array) -> NDArray[np.bool_]:
    """Whether Proposition 1 holds in each cell, with the rows as they are or balanced."""
    holds = np.zeros(len(index), dtype=bool)
    m_b = stack.m_b
    highest = np.abs(c[:, :m_b]).max(axis=1, initial=0.0)
    for s in (stack, stack.balanced()):
        M_0 = np.linalg.solve(*_pair(s, np.arange(len(s.A_n)), np.zeros(s.mu.shape)))
        limit = bilateral_limits(s.A_n[:, :m_b, :m_b], s.A_t[:, :m_b, :m_b])
        low = np.flatnonzero(highest < limit[index])
        M_mu = np.linalg.solve(*_pair(s, index[low], c[low]))
        holds[low] |= np.linalg.norm(M_mu - M_0[index[low]], 2, axis=(1, 2)) * betas_2(M_0, m_b)[index[low]] < 1
    return holds


def _critical(line: Line, systems: list[SlidingSystem | None]) -> tuple[Array, int]:
    """Certified critical values along a friction axis, and how many of these lines regain the P-property."""
    values, regained = np.full(len(systems), np.nan), 0
    for i, system in enumerate(systems):
        if system is None:
            continue
        found = by_polynomials(as_doubles(system), line.mu_0.tolist(), line.mu_1.tolist())
        values[i] = np.nan if found.lo is None else found.lo
        regained += len(found.intervals or ()) > (found.lo is not None)
    return values, regained
