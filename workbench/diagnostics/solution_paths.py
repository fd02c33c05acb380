"""Solutions along a parameter as numbers for plots and text: curves, families, isolated values."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from flint import fmpq, fmpq_poly

from workbench.diagnostics.varied import Varied
from workbench.matrices.linear_algebra.rationals import exact, nearest_double
from workbench.matrices.paths.local_solutions import Point, support
from workbench.matrices.paths.parametric import Basis
from workbench.matrices.paths.path import SolutionPath
from workbench.matrices.paths.roots import Root

PER_INTERVAL = 48
"""Number of parameter values at which a solution is drawn between two critical values."""


@dataclass(frozen=True, eq=False)
class SolutionPaths:
    """A problem over a parameter and its solutions."""

    problem: Varied
    path: SolutionPath


def labels(point: Point) -> str:
    """The indices of positive unknowns, as a set."""
    return "{" + ", ".join(map(str, support(point))) + "}"


def shown(problem: Varied, t: Root, point: Point) -> list[float]:
    """The displayed values of a solution at t, as doubles."""
    n = len(point) // 2
    s, y = ([number(t, x) for x in part] for part in (point[:n], point[n:]))
    return [s[j] - y[j] if j < problem.split else y[j] for j in range(n)]


def number(t: Root, coefficients: tuple[fmpq, ...]) -> float:
    """The double nearest to a number of the field of t."""
    while True:
        lo, hi = (nearest_double(fmpq_poly(list(coefficients))(x)) for x in (t.lo, t.hi))
        if lo == hi or abs(lo - hi) <= 1e-14 * abs(lo + hi):
            return 0.5 * (lo + hi)
        t = t.narrowed()


def curves(paths: SolutionPaths) -> pd.DataFrame:
    """Solutions between critical values: name, t, value, support, and `branch`, one number for each curve.

    At the ends of an interval they have their limits, where these are finite.
    """
    rows, branch = [], 0
    for interval in paths.path.intervals:
        for point, found in interval.solutions.points.items():
            basis = next((b for b in found if b.regular), None)
            if basis is None:
                continue
            for t in _grid(interval.lo.hi, interval.hi.lo):
                denominator = basis.denominator(t)
                if denominator != 0:
                    values = _named(paths.problem, basis, t, denominator)
                    name = labels(point)
                    rows += [
                        (label, nearest_double(t), value, name, branch)
                        for label, value in zip(paths.problem.names, values, strict=True)
                    ]
            branch += 1
    return pd.DataFrame(rows, columns=["name", "t", "value", "support", "branch"])


def _grid(lo: fmpq, hi: fmpq) -> list[fmpq]:
    """Rational values from lo to hi, denser near the ends, where curves are steep."""
    shares = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, PER_INTERVAL))
    return [lo + (hi - lo) * exact(x) for x in shares]


def _named(problem: Varied, basis: Basis, t: fmpq, denominator: fmpq) -> list[float]:
    x = [nearest_double(f(t) / denominator) for f in basis.numerators]
    y = [value if j in basis.a else 0.0 for j, value in enumerate(x)]
    return [(x[j] if j not in basis.a else -x[j]) if j < problem.split else y[j] for j in range(len(x))]


def at_critical(paths: SolutionPaths) -> pd.DataFrame:
    """Solutions at a critical value that no curve shows: name, t, and `low`, `high` of infinitely many solutions (inf
    along a ray), equal for a solution at this value alone."""
    rows = []
    for c in paths.path.critical:
        for point in (point for e in c.events if e.kind == "isolated" for point in e.points):
            values = shown(paths.problem, c.t, point)
            rows += [(name, c.t.value, x, x) for name, x in zip(paths.problem.names, values, strict=True)]
        for face in c.solutions.faces:
            corners = np.array([shown(paths.problem, c.t, p) for p in face.vertices])
            rays = np.array([shown(paths.problem, c.t, p) for p in face.rays]).reshape(-1, corners.shape[1])
            low = np.where((rays < 0).any(axis=0), -np.inf, corners.min(axis=0))
            high = np.where((rays > 0).any(axis=0), np.inf, corners.max(axis=0))
            rows += [(name, c.t.value, *ends) for name, *ends in zip(paths.problem.names, low, high, strict=True)]
    return pd.DataFrame(rows, columns=["name", "t", "low", "high"])
