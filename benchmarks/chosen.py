"""Whether `auto` chooses well: what it chooses beside every other solver that takes a problem as it is.

    python -m benchmarks.chosen [--seeds 5] [--limit 5] [--out FILE]

For every kind of problem, size and structure five seeds: how many each solver solves within the tolerance asked for, by
the problem's own residual, the median of its processor times and the worst. A solver that takes longer than the limit
for one problem is left out of the larger ones of its kind.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.side_by_side import plate_data, timed

SIZES = (6, 60, 300)
CONTACTS = (1, 4, 20, 100)


class Cell(NamedTuple):
    """Problems of one kind: its name, what they are, the tolerance asked for (None: as it comes), a problem a seed."""

    kind: str
    about: str
    tolerance: float | None
    make: Callable[[int], Any]


class Row(NamedTuple):
    """What a solver did with the problems of a cell, in microseconds."""

    cell: Cell
    solver: str
    solved: int
    median: float
    worst: float


def cells() -> Iterator[Cell]:
    """All kinds, the smallest problems first."""
    from benchmarks.comparisons import lcp, mlcp
    from benchmarks.rows import row_problem
    from benchmarks.towers import tower_problem

    for n in SIZES:
        yield Cell("LCP", f"polygon friction on towers, n = {n}", None, lambda seed, n=n: lcp.task(n, seed).problem)
        yield Cell("LCP", f"symmetric positive definite, n = {n}", None, lambda seed, n=n: definite(n, seed))
        yield Cell("LCP", f"positive definite, not symmetric, n = {n}", None, lambda seed, n=n: skew(n, seed))
    for r in CONTACTS[1:]:
        yield Cell("MLCP", f"box friction on towers, {r} contacts", None, lambda seed, r=r: mlcp.task(r, seed).problem)
    for law in ("ccp", "coulomb"):
        for r in CONTACTS:
            for tolerance in (None, 1e-6):
                about = f"towers, {r} contacts"
                yield Cell(law, about, tolerance, lambda seed, r=r, law=law: getattr(tower_problem(r, seed), law)())
        for r in (16, 48):
            yield Cell(law, f"redundant plates, {r} contacts", None, lambda seed, r=r, law=law: plates(r, seed, law))
        yield Cell(law, "25 towers of 4 contacts", None, lambda seed, law=law: getattr(row_problem(100, 4), law)())
        for N in (30, 300):
            for state in ("moving", "at rest"):
                yield Cell(
                    f"{law}, contact blocks", f"{N} spheres, {state}", None,
                    lambda seed, N=N, state=state, law=law: packed(N, state, law, seed),
                )  # fmt: skip


def definite(n: int, seed: int) -> Any:
    """Random and well conditioned, half of the unknowns positive."""
    from workbench.problems.classes import LCP

    rng = np.random.default_rng([seed, n])
    J = rng.normal(size=(n, 2 * n))
    return LCP(J @ J.T / n, rng.normal(size=n))


def skew(n: int, seed: int) -> Any:
    """The same with a skew part as large."""
    from workbench.problems.classes import LCP

    rng = np.random.default_rng([seed, n])
    A, J = rng.normal(size=(n, n)), rng.normal(size=(n, 2 * n))
    return LCP((J @ J.T + (A - A.T) * np.sqrt(n)) / n, rng.normal(size=n))


def plates(count: int, seed: int, law: str) -> Any:
    """As in `side_by_side`."""
    from workbench.problems.friction_problem import FrictionProblem

    return getattr(FrictionProblem(*plate_data(count, seed)), law)()


def packed(N: int, state: str, law: str, seed: int) -> Any:
    from benchmarks.packings import packing

    return packing(N, state, law, seed).blocks


def rows(seeds: int, limit: float) -> Iterator[Row]:
    """Every cell, solver by solver, `auto` first."""
    from workbench.algorithms import SOLVERS, find_solver

    slow: set[tuple[str, str]] = set()
    for cell in cells():
        problems = [cell.make(seed) for seed in range(seeds)]
        print(f"{cell.kind}: {cell.about}", file=sys.stderr, flush=True)
        for name in ("auto", *(x for x in SOLVERS.names if x != "auto")):
            solver: Any = find_solver(name)
            if cell.tolerance is not None:
                if not hasattr(solver, "adjusted"):
                    continue
                solver = solver.adjusted(cell.tolerance, None)
            fits = problems[0].kind in solver.solves and all(solver.why_not(p) is None for p in problems)
            if not fits or (cell.kind, name) in slow:
                continue
            measured = [timed(solver, lambda p=p: fresh(p)) for p in problems]
            spent = [one for _, one in measured]
            solved = sum(
                p.residual(f.z) <= (cell.tolerance or solver.tolerance)
                for p, (f, _) in zip(problems, measured, strict=True)
            )
            if max(spent) > 1e6 * limit:
                slow.add((cell.kind, name))
            yield Row(cell, name, int(solved), float(np.median(spent)), max(spent))


def fresh(problem: Any) -> Any:
    """The problem without what it has calculated already."""
    from dataclasses import replace

    return replace(problem) if problem.kind == "contact blocks" else problem


def table(found: list[Row], seeds: int) -> str:
    """Markdown: of every cell `auto` and the three fastest others that solve all."""
    lines = [
        "# What auto chooses", "",
        f"{seeds} seeds a row; processor time of one solve from Python, median and worst; solved by the problem's own "
        "residual. Of the other solvers that take the problem as it is the three fastest that solve all, and how many "
        "there are.", "",
        "| kind | problems | tolerance | auto | solved | others that solve all: median, worst | solve all | of | "
        "auto's median over the fastest's |", "|" + "-|" * 9,
    ]  # fmt: skip
    for cell in dict.fromkeys(row.cell for row in found):
        auto, *others = [row for row in found if row.cell == cell]
        good = sorted((row for row in others if row.solved == seeds), key=lambda row: row.median)
        words = "; ".join(f"{row.solver} {time(row.median)}, {time(row.worst)}" for row in good[:3])
        ratio = f"{auto.median / good[0].median:.2f}" if good else "-"
        lines.append(
            f"| {cell.kind} | {cell.about} | {cell.tolerance or 'as it comes'} | {time(auto.median)}, "
            f"{time(auto.worst)} | {auto.solved} | {words} | {len(good)} | {len(others)} | {ratio} |"
        )
    return "\n".join([*lines, ""])


def time(microseconds: float) -> str:
    for most, unit, scale in ((1e3, "µs", 1.0), (1e6, "ms", 1e-3), (np.inf, "s", 1e-6)):
        if microseconds < most:
            return f"{microseconds * scale:.3g} {unit}"
    return "-"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--out", default="benchmarks/measured/chosen.md")
    o = parser.parse_args()
    text = table(list(rows(o.seeds, o.limit)), o.seeds)
    Path(o.out).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
