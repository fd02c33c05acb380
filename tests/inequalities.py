"""Linear inequalities over integers by Fourier and Motzkin: slow, short, and like nothing in the library."""

from itertools import combinations, product
from math import gcd


def feasible(rows: list[list[int]]) -> bool:
    """Whether some x has row[:-1] . x + row[-1] >= 0 for every row."""
    for column in range(len(rows[0]) - 1):
        below = [row for row in rows if row[column] > 0]
        above = [row for row in rows if row[column] < 0]
        combined = {
            reduced([-high[column] * u + low[column] * v for u, v in zip(low, high, strict=True)])
            for low in below
            for high in above
        }
        rows = [row for row in rows if not row[column]] + [list(row) for row in combined]
    return all(row[-1] >= 0 for row in rows)


def reduced(row: list[int]) -> tuple[int, ...]:
    divisor = gcd(*row) or 1
    return tuple(x // divisor for x in row)


def index_sets(n: int):
    """All nonempty index sets."""
    return [a for k in range(1, n + 1) for a in combinations(range(n), k)]


def unit(n: int, i: int, constant: int = 0) -> list[int]:
    """The row x_i + constant."""
    return [int(j == i) for j in range(n)] + [constant]


def solvable(M, q) -> bool:
    """Whether LCP(q, M) has a solution, by definition."""
    n = len(q)
    rows = [[*M[i], q[i]] for i in range(n)]
    for a in [(), *index_sets(n)]:
        equal = [[-x for x in rows[i]] for i in a]
        zero = [[-x for x in unit(n, i)] for i in range(n) if i not in a]
        if feasible(rows + equal + [unit(n, i) for i in range(n)] + zero):
            return True
    return False


def solvable_between(M, q, lower, upper) -> bool:
    """Whether the MLCP has a solution, by definition; bounds are integers or None."""
    n = len(q)
    rows = [[*M[i], q[i]] for i in range(n)]
    choices = []
    for i in range(n):
        above = [] if lower[i] is None else [unit(n, i, -lower[i])]
        below = [] if upper[i] is None else [[-x for x in unit(n, i, -upper[i])]]
        places = [[*above, *below, rows[i], [-x for x in rows[i]]]]
        if above:
            places.append([*above, [-x for x in above[0]], *below, rows[i]])
        if below:
            places.append([*below, [-x for x in below[0]], *above, [-x for x in rows[i]]])
        if above and lower[i] == upper[i]:
            places.append([*above, *below])
        choices.append(places)
    return any(feasible([row for place in chosen for row in place]) for chosen in product(*choices))
