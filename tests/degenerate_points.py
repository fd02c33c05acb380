"""One-sided derivatives at constructed degenerate solutions against one-sided differences:

    python -m tests.degenerate_points [--count 125] [--seed 0] [--only KIND]

Problems of each kind (LCP, MLCP, CCP, Coulomb) are built around a solution with at least one place between two modes:
an unknown and its velocity both zero, a row at its bound without velocity, a contact that sticks on the edge of its
cone, touches without force or has neither force nor velocity. In 20 directions each, every derivative that is found
must be that of a solution of the moved problem: differences of order two of the solutions that a method to round-off
finds there, at several steps, the best known of which counts.
"""

import argparse
from collections import Counter
from time import perf_counter

import numpy as np

from tests.test_sensitivity import nearby, random_mixed
from workbench.algorithms import ROUND_OFF, find_solver
from workbench.algorithms.asking import solved_from
from workbench.derivatives.sensitivity import sensitivity_of
from workbench.problems.classes import LCP, MLCP
from workbench.problems.problem import Problem
from workbench.problems.sets import ASSOCIATED, COULOMB
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SMOOTH, KINK = "differentiable", "one-sided derivatives only"
DIRECTIONS, RIGHT = 20, 1e-5
"""Directions at each point; relative difference up to which a derivative is that of differences."""
STEPS = (1e-4, 1e-5, 1e-6, 1e-7)
"""Steps of differences."""


def bounded(rng: np.random.Generator, n: int = 6, both: bool = False) -> tuple[Problem, Array]:
    """An LCP, or with `both` an MLCP, of a positive definite M that is not symmetric, at a degenerate solution."""
    X, Y = rng.normal(size=(n, n + 2)), rng.normal(size=(n, n))
    M = X @ X.T / n + 0.5 * (Y - Y.T)
    lower, upper = np.zeros(n), np.full(n, np.inf)
    if both:
        lower = rng.normal(size=n)
        upper = lower + rng.uniform(0.5, 2.0, size=n)
        equal = rng.random(n) < 0.2
        upper[equal] = lower[equal]
        lower[rng.random(n) < 0.1] = -np.inf
    top = np.where(np.isfinite(upper), upper, 2.0)
    floor = np.where(np.isfinite(lower), lower, top - 2.0)
    inside = floor + rng.uniform(0.2, 0.8, size=n) * (top - floor)
    place = rng.integers(0, 4, size=n)
    place[rng.integers(n)] = 1
    # Between the bounds; at the lower one without and with a velocity; the same above, where there is such a bound.
    at_upper = both & np.isfinite(upper) & ((rng.random(n) < 0.5) | ~np.isfinite(lower))
    z = np.where(place == 0, inside, np.where(at_upper, upper, lower))
    w = np.where(place >= 2, np.where(at_upper, -1.0, 1.0) * rng.uniform(0.5, 2.0, size=n), 0.0)
    q = w - M @ z
    return (MLCP(M, q, lower, upper) if both else LCP(M, q)), z


def contacts(rng: np.random.Generator, law: int) -> tuple[Problem, Array]:
    """A problem of three contacts in space under a law, one of them between two modes."""
    modes = [rng.choice(["edge", "touch", "nothing"]), *rng.choice(["slides", "sticks", "open", "edge", "touch"], 2)]
    return random_mixed(rng, [(3, law, mode) for mode in modes])


POINTS = {
    "LCP": bounded,
    "MLCP": lambda rng: bounded(rng, both=True),
    "CCP": lambda rng: contacts(rng, ASSOCIATED),
    "Coulomb": lambda rng: contacts(rng, COULOMB),
}
"""Degenerate points of each kind of problem."""


def direction(rng: np.random.Generator, problem: Problem) -> dict[str, Array]:
    """A change of all data of a problem; equal bounds do not cross, and W stays symmetric."""
    n = problem.size
    change = {"q": rng.normal(size=n)}
    if isinstance(problem, LCP | MLCP):
        change["M"] = rng.normal(size=(n, n))
    else:
        X = rng.normal(size=(n, n))
        change |= {"M": X + X.T, "mu": rng.normal(size=problem.mu.size)}
    if type(problem) is MLCP:
        low = rng.normal(size=n)
        change["lower"] = np.where(np.isfinite(problem.lower), low, 0.0)
        change["upper"] = np.where(np.isfinite(problem.upper), low + rng.random(n), 0.0)
    return change


def difference(problem: Problem, z: Array, change: dict[str, Array], along: Array, h: float) -> tuple[Array, float]:
    """The one-sided difference of order two of solutions near z + h along, and that of order one's distance to it."""
    solver, ends = find_solver(ROUND_OFF[problem.kind]), []
    for step in (h, 2 * h):
        found = solved_from(solver, nearby(problem, change, step), z + step * along)
        if not found.verified:
            return np.full(z.size, np.inf), np.inf
        ends.append(found.z)
    near, far = ((end - z) / (k * h) for k, end in zip((1, 2), ends, strict=True))
    return 2 * near - far, float(np.abs(near - far).max())


def examine(kind: str, count: int, seed: int) -> tuple[Counter[str], float, list[str]]:
    """Count the points by verdict and the directions by what became of them; the largest error, and bad ones."""
    fates: Counter[str] = Counter()
    worst, lines = 0.0, []
    for k in range(count):
        rng = np.random.default_rng([seed, k, *kind.encode()])
        problem, z = POINTS[kind](rng)
        s = sensitivity_of(problem, z)
        fates[str(s.verdict[0])] += 1
        assert s.system.count_between > 0
        assert s.verdict[0] != SMOOTH
        for j in range(DIRECTIONS):
            change = direction(rng, problem)
            try:
                found = s.along(**change)
            except DataError as error:
                fates["refused"] += 1
                lines.append(f"{kind} {k} direction {j}: {error}")
                continue
            if not found or (len(found) > 1 and s.verdict[0] == KINK):
                fates["wrong" if s.verdict[0] == KINK else "no solution nearby"] += 1
                continue
            for one in found:
                size = float(np.abs(one.z).max()) or 1.0
                tried = [difference(problem, z, change, one.z, h) for h in STEPS]
                off = min(float(np.abs(one.z - d).max()) / size for d, _ in tried)
                worst = max(worst, off if off <= RIGHT else 0.0)
                fates["agreed" if off <= RIGHT else "wrong"] += 1
                if off > RIGHT:
                    lines.append(f"{kind} {k} direction {j}: {off:.1e} off, {s.verdict[0]}, {len(found)} found")
    return fates, worst, lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=125, help="points of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(POINTS), nargs="*", default=list(POINTS))
    o = parser.parse_args()
    for kind in o.only:
        start = perf_counter()
        fates, worst, lines = examine(kind, o.count, o.seed)
        print(
            f"{kind}: {dict(fates)}, largest error {worst:.0e}, {perf_counter() - start:.0f} s", *lines[:9], sep="\n  "
        )


if __name__ == "__main__":
    main()
