"""Linear equations and inequalities by elimination, in exact arithmetic. Standard library only."""

from collections.abc import Iterator

from workbench.certificates.exact import Rows, Vector
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import TooLongError

MOST = 20_000
"""Largest number of inequalities that elimination may produce."""


def is_feasible(equations: Rows, inequalities: Rows) -> bool:
    """Whether some x has row . (x, 1) = 0 and >= 0: Gauss on the equations, Fourier-Motzkin on the rest."""
    unknowns = len((equations + inequalities)[0]) - 1
    while equations:
        first, *equations = equations
        column = next((k for k in range(unknowns) if first[k]), None)
        if column is None:
            if first[-1]:
                return False
            continue
        equations = list(_eliminated(equations, first, column))
        inequalities = list(_eliminated(inequalities, first, column))
    for column in range(unknowns):
        below, above = ([row for row in inequalities if sign * row[column] > 0] for sign in (1, -1))
        inequalities = [row for row in inequalities if not row[column]]
        if len(below) * len(above) > MOST:
            raise TooLongError(f"elimination makes more than {MOST} inequalities")
        for low in below:
            for high in above:
                check_time()
                inequalities.append([u / low[column] - v / high[column] for u, v in zip(low, high, strict=True)])
    return all(row[-1] >= 0 for row in inequalities)


def _eliminated(rows: Rows, pivot: Vector, column: int) -> Iterator[Vector]:
    for row in rows:
        check_time()
        f = row[column] / pivot[column]
        yield [u - f * v for u, v in zip(row, pivot, strict=True)]
