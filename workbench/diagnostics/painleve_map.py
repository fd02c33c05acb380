"""Regimes of sliding contacts over two parameters: a map, in floating point, of what `painleve` decides at a point.

All 2^m complementary bases [P_j, Q_j] of `sliding.exact` are solved for the whole map at once, with rows scaled to unit
effective mass. A cell in which a determinant or an unknown is within `TOLERANCE` of zero is "undecided". The critical
friction drawn over the map is certified (`critical_friction`); the colours of the cells are not.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.diagnostics.critical_friction import by_polynomials
from workbench.diagnostics.painleve import FrictionIncrease, friction_lines
from workbench.diagnostics.painleve_cells import Cells, Stack, cells_of
from workbench.diagnostics.sliding_regime import REGIMES
from workbench.engine.timing import clock
from workbench.mechanics.case import Array, Case
from workbench.step.sliding.exact import as_doubles
from workbench.step.sliding.state import START, SlidingState, sliding_system
from workbench.step.sliding.system import SlidingSystem
from workbench.support.errors import DataError
from workbench.support.progress import ProgressCallback

LARGEST = 5
"""Largest number of contacts of a map."""
MOST_CELLS, LARGEST_VALUE = 1_000_000, 1e150
AT_ONCE = 20_000
"""Number of cells computed between two checks of the clock."""
SLIP = "slip"
"""Name of the axis along which all contacts slide in the direction of this angle [deg]."""
NAMES = (*REGIMES, "undecided", "no sliding state", "out of time")
"""Regimes of cells by number."""
NO_STATE, OUT_OF_TIME = NAMES.index("no sliding state"), NAMES.index("out of time")


class MapAxis(NamedTuple):
    """A parameter of the case, or `SLIP`, and its increasing values."""

    name: str
    values: Array


def axis(case: Case, name: str, values: Any) -> MapAxis:
    """An axis by the parameter's name in the case; DataError for values that are not finite and increasing."""
    found = np.asarray(values, dtype=float)
    if found.ndim != 1 or found.size < 1 or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise DataError(f"the axis {name} of a map needs finite numbers that increase")
    return MapAxis(case.aliases.get(name, name), found)


@dataclass(frozen=True, eq=False)
class RegimeMap:
    """`cells` (n_x, n_y): `regime` indexes `NAMES`. Where one axis is a friction coefficient, `friction` is "x" or "y"
    and `critical` (values along the other axis) its certified critical value there: inf where P is never lost, NaN
    where P fails at zero friction already, there is no state, or time was over; `regained`: the number of lines that
    lose and regain P."""

    x: MapAxis
    y: MapAxis
    cells: Cells
    friction: str | None
    critical: Array | None
    regained: int

    def shares(self) -> dict[str, float]:
        """Fraction of the cells in each regime that occurs."""
        regime = self.cells.regime
        return {name: float((regime == k).mean()) for k, name in enumerate(NAMES) if (regime == k).any()}


def regime_map(
    case: Case,
    x: MapAxis,
    y: MapAxis,
    state: SlidingState = START,
    progress: ProgressCallback | None = None,
    seconds: float = math.inf,
) -> RegimeMap:
    """The map of a case over two of its parameters, at a state. Friction axes are cheap, others need a system per line.

    What `seconds` do not suffice for is "out of time". Raises DataError for too many contacts or cells, or where no
    point of the map has a sliding state.
    """
    if x.values.size * y.values.size > MOST_CELLS:
        raise DataError(f"{x.values.size} x {y.values.size} cells; at most {MOST_CELLS} are drawn")
    for largest, name in ((np.abs(a.values).max(), a.name) for a in (x, y)):
        if not largest <= LARGEST_VALUE:
            raise DataError(f"{name} goes to {largest:.3g}; beyond {LARGEST_VALUE:g} squares overflow")
    end, report = clock() + seconds, progress or (lambda *_: None)
    if SLIP in (x.name, y.name):
        if case.size[3] == 1:
            raise DataError(f"{case.name} is plane, its contacts slide to one side or the other; no axis {SLIP} there")
        state = state._replace(slip=(0.0,))
    lines = friction_lines(case, state)
    cheap = {a.name for a in (x, y) if a.name in lines}
    systems, late = _systems(case, [a for a in (x, y) if a.name not in cheap], (x, y), state, report, end)
    first = next((s for s in systems.flat if s is not None), None)
    if first is None:
        raise DataError(f"{case.name}: no point of the map has contacts that slide")
    if sum(first.size) > LARGEST:
        raise DataError(f"{case.name}: {sum(first.size)} contacts; a map takes at most {LARGEST}")
    cells = Cells.filled((x.values.size, y.values.size), OUT_OF_TIME)
    where = np.array([[s is not None and s.size == first.size for s in row] for row in systems])
    cells.regime[~np.broadcast_to(where | late, cells.regime.shape)] = NO_STATE
    stack = Stack.of([s for s, w in zip(systems.flat, where.flat, strict=True) if w])
    friction = _friction(case, lines, x, y, cheap, first, state)
    # Systems along a friction axis are the same except for their coefficients.
    full = np.broadcast_to(where, cells.regime.shape)
    index = np.broadcast_to((np.cumsum(where.ravel()) - 1).reshape(where.shape), full.shape)[full]
    mu = stack.mu[index] if friction is None else friction[full]
    places = np.flatnonzero(full)
    for k in range(0, len(places), AT_ONCE):
        if k and clock() > end:
            break
        part = slice(k, k + AT_ONCE)
        cells.write(places[part], cells_of(stack, index[part], mu[part]))
        report("cells", min(k + AT_ONCE, len(places)), len(places))
    for side, a, other in (("y", y, systems[:, 0]), ("x", x, systems[0, :])):
        if cheap == {a.name}:
            critical, regained = _critical(lines[a.name], list(other), report, end)
            return RegimeMap(x, y, cells, side, critical, regained)
    return RegimeMap(x, y, cells, None, None, 0)


def _systems(
    case: Case,
    changing: list[MapAxis],
    axes: tuple[MapAxis, MapAxis],
    state: SlidingState,
    report: ProgressCallback,
    end: float,
) -> tuple[NDArray, NDArray[np.bool_]]:
    """Systems (n_x or 1, n_y or 1) over the axes that change more than friction, None where nothing slides; and a
    mask of those for which there was no time."""
    shape = [a.values.size if a in changing else 1 for a in axes]
    found, late = np.full(shape, None, dtype=object), np.zeros(shape, dtype=bool)
    for k, ij in enumerate(np.ndindex(*shape)):
        if k and clock() > end:
            late.ravel()[k:] = True
            break
        values = {a.name: float(a.values[i]) for a, i in zip(axes, ij, strict=True) if a in changing}
        slip = values.pop(SLIP, None)
        here = state if slip is None else state._replace(slip=(slip,))
        try:
            found[ij] = sliding_system(case.with_parameters(**values), here)
        except DataError:
            if not k and shape == [1, 1]:
                raise
        report("systems", k + 1, found.size)
    return found, late


def _friction(
    case: Case,
    lines: Mapping[str, FrictionIncrease],
    x: MapAxis,
    y: MapAxis,
    cheap: set[str],
    first: SlidingSystem,
    state: SlidingState,
) -> Array | None:
    """Coefficients mu (n_x, n_y, m) over the map; None where no axis is a friction coefficient."""
    if not cheap:
        return None
    rates = np.zeros((x.values.size, y.values.size, sum(first.size)))
    for a, values in ((x, x.values[:, None, None]), (y, y.values[None, :, None])):
        if a.name in cheap:
            rates += values * lines[a.name].mu_1
    at_zero = sliding_system(case.with_parameters(**dict.fromkeys(cheap, 0.0)), state)
    return rates + np.append(at_zero.mu_b, at_zero.mu_u)


def _critical(
    line: FrictionIncrease, systems: list[SlidingSystem | None], report: ProgressCallback, end: float
) -> tuple[Array, int]:
    """Certified critical values along a friction axis, and the number of its lines that regain the P-property."""
    values, regained = np.full(len(systems), np.nan), 0
    for i, system in enumerate(systems):
        if clock() > end:
            break
        if system is None:
            continue
        found = by_polynomials(as_doubles(system), line.mu_0.tolist(), line.mu_1.tolist())
        values[i] = np.nan if found.lo is None else found.lo
        regained += len(found.intervals or ()) > (found.lo is not None)
        report("critical friction", i + 1, len(systems))
    return values, regained
