"""Steps per second on the wheel: every formulation in the compiled stepper, and the optimisers' loops beside it.

    python benchmarks/wheel_steps.py [--smoke]

All figures come from one process, medians of repeated runs, interleaved; ratios are against the fastest row. The
residual is the problem's own, largest over the run.
"""

import argparse
from statistics import median

from cases import CASES
from formulations import FORMULATIONS
from workbench.assembly import compiled
from workbench.formulation import Formulation
from workbench.simulation import simulate
from workbench.solvers import ROUND_OFF, find_solver

VARIANTS = {"anitescu-potra": {"directions": 16}, "hybrid": {"bounds": "iterated"}}
LOOPS = [("ccp", "clarabel"), ("ccp", "cvxpy:CLARABEL"), ("box", "cvxpy:CLARABEL")]


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true", help="a few steps only: does it run?")
    smoke = parser.parse_args().smoke
    case = CASES[0]()
    by_name = {f.name: f for f in FORMULATIONS}
    rows: list[tuple[Formulation, str, float]] = []
    for f in FORMULATIONS:
        rows.append((f, ROUND_OFF[compiled(f, *case.size).kind], 2.0))
        if f.name in VARIANTS:
            g = f.with_options(**VARIANTS[f.name])
            rows.append((g, ROUND_OFF[compiled(g, *case.size).kind], 2.0))
    rows += [(by_name[name], solver, 0.2) for name, solver in LOOPS]
    repeats, scale = (1, 0.01) if smoke else (5, 1.0)
    rates: list[list[float]] = [[] for _ in rows]
    residuals = [0.0] * len(rows)
    for _ in range(repeats):
        for i, (f, name, duration) in enumerate(rows):
            run = simulate(case, f, find_solver(name), 1e-3, duration * scale)
            rates[i].append(run.steps / run.solve_time)
            residuals[i] = max(residuals[i], float(run.residuals.max()))
    fastest = max(median(r) for r in rates)
    print("| formulation | solver | steps/s | spread | of the fastest | residual |\n|---|---|---|---|---|---|")
    for (f, name, _), r, residual in zip(rows, rates, residuals, strict=True):
        m = median(r)
        spread = f"{min(r) / m:.2f}-{max(r) / m:.2f}"
        print(f"| {f.label} | {name} | {m:,.0f} | {spread} | {m / fastest:.3g} | {residual:.0e} |")


if __name__ == "__main__":
    main()
