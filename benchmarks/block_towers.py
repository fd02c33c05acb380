"""Steps of towers of boxes as contact blocks, beside the solvers that take the same step as one problem.

`python -m benchmarks.block_towers [--floors 20 50 200] [--steps 10]`: every tower takes steps of 1 ms under every
formulation, from rest, with the middle box pushed, and falling apart; each step begins from the answer before. Cones go
to `coulomb-exact` and `ccp-exact` over (M, H), polygons to `lemke` and boxes to `proximal` over dense matrices, up to
LARGEST unknowns, on the first step. Seconds are those of the processor.
"""

import argparse
import os
import resource
import time
from dataclasses import replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from tests.block_problems import FORMULATIONS, tower
from workbench.algorithms.escalation import default_solver
from workbench.problems.bridges import cones_over_bodies
from workbench.problems.bridges.dense import of_one_kind
from workbench.problems.sets import NO_CONE

LARGEST = 1200
"""Unknowns up to which dense matrices are formed."""
H, GRAVITY, MU = 1e-3, 9.81, 0.5
STATES = {"resting": {}, "pushed": {"push": 0.02}, "falling apart": {"shake": 0.05}}


def as_one_problem(p):
    """The same step as a problem of another kind, and its default solver; None where it is none or too large."""
    laws = set(p.cone.tolist())
    if laws == {NO_CONE}:
        symmetric = (p.whole[0] - p.whole[2].T).nnz == 0 and (p.whole[1] - p.whole[1].T).nnz == 0
        plain = not p.lower.any() and (p.upper == np.inf).all()
        return of_one_kind(p).problem if p.size <= LARGEST and (plain or symmetric) else None
    return cones_over_bodies.BRIDGE.forward(p).problem


def following(p, x, gap):
    """The step after the one that x solves; the gaps (B,) grow where contacts open."""
    v = p.velocities(x)
    gap += H * (p.J @ v)[p.row[:-1]]
    np.maximum(gap, 0.0, out=gap)
    weight = np.zeros(p.b.size)
    weight[2::6] = -H * GRAVITY * p.M.diagonal()[2::6]
    c = p.c.copy()
    c[p.unknown[:-1]] = gap / H
    return replace(p, b=p.M @ v + weight, c=c)


def seconds(solve):
    start = time.process_time()
    found = solve()
    return found, time.process_time() - start


def measure(floors, name, state, steps):
    """A line of the table."""
    solver, spent, residuals, x = default_solver("contact blocks"), [], [], None
    p = first = tower(floors, FORMULATIONS[name](MU), **STATES[state])
    gap = np.zeros(p.blocks)
    for _ in range(steps):
        found, took = seconds(lambda p=p, x=x: solver.solve(p, x))
        spent.append(took)
        residuals.append(found.residual)
        x = found.z
        p = following(p, x, gap)
    other, beside = as_one_problem(first), ""
    if other is not None:
        found, took = seconds(lambda: default_solver(other.kind).solve(other))
        beside = f"{took / spent[0]:.1f} ({found.residual:.0e})"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    median, worst = np.median(spent[1:]), max(spent[1:])
    return (
        f"| {name} | {floors} | {state} | {spent[0]:.2f} | {median:.3f} | {worst:.2f} | {max(residuals):.0e} "
        f"| {beside} | {memory:.0f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--floors", type=int, nargs="+", default=[20, 50, 200])
    parser.add_argument("--steps", type=int, default=10)
    asked = parser.parse_args()
    for name in FORMULATIONS:
        measure(3, name, "pushed", 2)
    head = (
        "formulation, floors, state, first step [s], median [s], worst [s], residual, one problem / blocks, memory [MB]"
    )
    print("| " + " | ".join(head.split(", ")) + " |\n|" + "---|" * 9)
    for floors in asked.floors:
        for name in FORMULATIONS:
            for state in STATES:
                print(measure(floors, name, state, asked.steps), flush=True)


if __name__ == "__main__":
    main()
