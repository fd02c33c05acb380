"""What a change to the solvers costs and brings: the same problems by this checkout and by another one.

    git worktree add ../before REVISION
    python -m benchmarks.side_by_side ../before [--rounds 3] [--out FILE]

Posed steps of every case under every formulation (recorded by this checkout), problem files ($WORKBENCH_DATA), plates
on redundant corners (random, seeded) and packings of spheres, each by the method that takes its class to round-off,
without what takes over; and whole steps of scenes. Processes of the two checkouts take turns; the least processor time
of the rounds counts. A problem counts as solved by its own residual.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LAWS = ("coulomb", "ccp")
MOST, ENOUGH = 30, 5e-3
"""Times that a problem is solved at most, and seconds after which it is not any more."""
STEPS, CASES, MODELS = 100, ("wheel", "cube", "stacked-cubes"), ("gripper", "quadruped", "ragdoll")
"""Steps of a scene; those that are cases, and those that are models of MuJoCo."""
SLOWER = 1.1
"""Ratio of times from which a problem is named."""
Row = tuple[str, str, int, int, float, float]
"""Set, problem, problems, how many are solved, the largest residual, microseconds of one."""


def steps(folder: Path) -> Iterator[Row]:
    """Posed steps, by compiled loops."""
    from numba import types

    from benchmarks.failures import methods
    from workbench.algorithms.components import solve_apart
    from workbench.engine.compiling import kernel
    from workbench.engine.kernels import INDICES, MATRIX, SOLVE_T, set_all

    cube = types.Array(types.float64, 3, "C")

    @kernel(types.void(SOLVE_T, cube, *(MATRIX,) * 4, types.int64, MATRIX, INDICES))
    def each(solve, M, q, lower, upper, mu, d, z, info):
        for k in range(q.shape[0]):
            set_all(0.0, z[k])
            solve_apart(solve, M[k], q[k], lower[k], upper[k], mu[k], d, z[k], info)

    for path in sorted(folder.glob("*.npz")):
        x = {name: np.ascontiguousarray(value) if value.ndim else value for name, value in np.load(path).items()}
        kind, z, info = str(x["kind"]), np.zeros(x["q"].shape), np.zeros(1, dtype=np.int64)
        method = methods(kind)[0]
        data = [x[name] for name in ("M", "q", "lower", "upper", "mu")]
        each(method.kernel, *(one[:1] for one in data), int(x["d"]), z[:1], info)
        begun = time.process_time()
        each(method.kernel, *data, int(x["d"]), z, info)
        spent = time.process_time() - begun
        residuals = np.array([posed_residual(kind, x, k, z[k]) for k in range(len(z))])
        solved = int((residuals <= method.tolerance).sum())
        yield f"steps, {kind}", path.stem, len(z), solved, float(residuals.max()), 1e6 * spent / len(z)


def posed_residual(kind: str, x: dict[str, Any], k: int, z: Any) -> float:
    from benchmarks.failures import posed

    return float(posed(kind, x, k).residual(z)) if np.isfinite(z).all() else np.inf


def timed(solver: Any, fresh: Callable[[], Any]) -> tuple[Any, float]:
    """The answer to a problem, and microseconds, the least of some solves; the first solve compiles."""
    found, spent, least = solver.solve(fresh()), 0.0, np.inf
    for _ in range(MOST):
        problem = fresh()
        begun = time.process_time()
        solver.solve(problem)
        one = time.process_time() - begun
        spent, least = spent + one, min(least, one)
        if spent > ENOUGH:
            break
    return found, 1e6 * least


def files() -> Iterator[Row]:
    """Problems in files."""
    from workbench.algorithms import ROUND_OFF, find_solver
    from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
    from workbench.readers.files import read_problem_file
    from workbench.support.errors import WorkbenchError

    root = Path(os.environ.get("WORKBENCH_DATA", "."))
    for path in sorted(p for p in root.glob("*/*") if p.suffix in (".dat", ".hdf5")):
        read = read_problem_file(path)
        for law in LAWS if "friction" in read.kind else ("",):
            try:
                if read.kind == "global friction":
                    problem: Any = (GlobalCoulombNCP if law == "coulomb" else GlobalConicQP)(read)
                else:
                    problem = getattr(read, law)() if law else read
                solver = find_solver(ROUND_OFF[problem.kind])
                found, spent = timed(solver, lambda problem=problem: problem)
            except WorkbenchError:
                continue
            yield f"files, {read.kind}", f"{path.name} {law}", 1, int(found.verified), found.residual, spent


def plates() -> Iterator[Row]:
    """Plates that lie on one another on four corners each: W has a rank of half its size."""
    from workbench.algorithms import find_solver
    from workbench.problems.classes import ConicQP, CoulombNCP

    for count in (4, 8, 16, 32, 48, 96):
        for law, kind, name in (("coulomb", CoulombNCP, "coulomb-exact"), ("ccp", ConicQP, "ccp-exact")):
            solved, worst, spent = 0, 0.0, 0.0
            seeds = range(20 if count < 96 else 5)
            for seed in seeds:
                problem = kind(*plate_data(count, seed))
                found, one = timed(find_solver(name), lambda problem=problem: problem)
                solved, worst, spent = solved + found.verified, max(worst, found.residual), spent + one
            yield f"plates, {law}", f"{count} contacts", len(seeds), solved, worst, spent / len(seeds)


def plate_data(count: int, seed: int) -> tuple[Any, Any, Any]:
    """W, q, mu of plates under so many contacts."""
    # Older revisions have it nowhere else.
    from workbench.problems.friction_problem import normals_first

    rng = np.random.default_rng([seed, count])
    J = corners(count)
    inertia = 10.0 ** rng.uniform(-1, 1, J.shape[1])
    W = (J / inertia) @ J.T
    q = J @ rng.normal(size=J.shape[1]) - np.tile([0.3 + seed % 2, 0, 0], count)
    order = normals_first(count, 2)
    W = 0.5 * (W + W.T)
    return W[np.ix_(order, order)], q[order], rng.uniform(0.1, 1.5, count)


def corners(count: int) -> Any:
    """J (3 count, 6 bodies) of contacts of redundant corners."""
    bodies = count // 4
    J = np.zeros((3 * count, 6 * bodies))
    for i in range(count):
        corner = np.array([i & 1, (i >> 1) & 1, 0.0]) - [0.5, 0.5, 0.5]
        body, rows = i // 4, slice(3 * i, 3 * i + 3)
        one = np.column_stack([np.eye(3)[[2, 0, 1]], np.cross(np.eye(3)[[2, 0, 1]], -corner)])
        J[rows, 6 * body : 6 * body + 6] = one
        if body:
            J[rows, 6 * body - 6 : 6 * body] = -one
    return J


def packings() -> Iterator[Row]:
    """Spheres that move, and at rest."""
    from dataclasses import replace

    from benchmarks.packings import packing
    from workbench.algorithms import find_solver

    for N in (30, 100, 300):
        for law in LAWS:
            for state in ("moving", "at rest"):
                solved, worst, spent = 0, 0.0, []
                for seed in range(3):
                    blocks = packing(N, state, law, seed).blocks
                    found, one = timed(find_solver("blocks-exact"), lambda blocks=blocks: replace(blocks))
                    solved, worst = solved + found.verified, max(worst, found.residual)
                    spent.append(one)
                yield f"packings, {law}", f"{N} spheres, {state}", 3, solved, worst, float(np.mean(spent))


def scenes() -> Iterator[Row]:
    """Steps of scenes, cases among them, recording included; the first run compiles."""
    from workbench.scenes.case_scene import CaseScene
    from workbench.scenes.run import run
    from workbench.scenes.stepper import SceneStepper
    from workbench.verbs.find import find_case, find_formulation

    found: dict[str, Any] = {name: CaseScene(find_case(name)) for name in CASES}
    if find_spec("mujoco"):
        from workbench.scenes.mujoco.scene import MujocoScene

        found |= {name: MujocoScene(Path(__file__).parent / "scenes" / f"{name}.xml") for name in MODELS}
    for law in (*LAWS, "stewart-trinkle"):
        for name, scene in found.items():
            stepper, least = SceneStepper(scene, find_formulation(law)), np.inf
            for _ in range(4):
                begun = time.process_time()
                track = run(scene, stepper, STEPS)
                count = track.steps
                least = min(least, (time.process_time() - begun) / max(count, 1))
            solved = int((track.residuals <= track.tolerance).sum())
            yield f"scenes, {law}", name, STEPS, solved, float(track.residuals.max(initial=0.0)), 1e6 * least


def table(before: dict[str, Row], now: dict[str, Row]) -> str:
    """Sets of problems, and the problems that differ most, as Markdown."""
    lines = [
        "# Side by side", "",
        "The processor time of a set is the sum over its problems, as many times as each occurs.", "",
        "| set | problems | solved before | solved now | largest residual before | now | time before | now | ratio |",
        "|" + "-|" * 9,
    ]  # fmt: skip
    for name in dict.fromkeys(row[0] for row in now.values()):
        one, other = ([row for row in rows.values() if row[0] == name] for rows in (before, now))
        spent = [sum(row[2] * row[5] for row in rows) for rows in (one, other)]
        lines.append(
            f"| {name} | {sum(r[2] for r in other)} | {sum(r[3] for r in one)} | {sum(r[3] for r in other)} | "
            f"{max(r[4] for r in one):.0e} | {max(r[4] for r in other):.0e} | {1e-3 * spent[0]:.3g} ms | "
            f"{1e-3 * spent[1]:.3g} ms | {spent[1] / spent[0]:.2f} |"
        )
    both = [(now[key][5] / before[key][5], key) for key in now if key in before]
    slower = sorted((ratio, key) for ratio, key in both if ratio > SLOWER)
    lines += ["", f"Problems that take more than {SLOWER:g} times as long: {len(slower)} of {len(both)}.", ""]
    lines += [
        f"- {key}: {before[key][5]:.3g} to {now[key][5]:.3g} µs, {ratio:.2f} times" for ratio, key in reversed(slower)
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a checkout of the other revision")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", default="benchmarks/measured/side-by-side.md")
    parser.add_argument("--quick", action="store_true", help="two cases, no packings")
    parser.add_argument("--only", nargs="+", choices=["steps", "files", "plates", "scenes", "packings"])
    parser.add_argument("--child", metavar="FOLDER", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.child:
        sets = {"steps": lambda: steps(Path(o.child)), "files": files, "plates": plates, "scenes": scenes}
        sets |= {} if o.quick else {"packings": packings}
        print(json.dumps([row for name, rows in sets.items() if name in (o.only or sets) for row in rows()]))
        return
    here, best = Path(__file__).parents[1], [{}, {}]  # type: list[dict[str, Row]]
    with tempfile.TemporaryDirectory() as folder:
        made_of = f"record(Path({folder!r}), 1, 40, {o.quick})"
        code = f"from pathlib import Path; from benchmarks.failures import record; {made_of}"
        if "steps" in (o.only or ["steps"]):
            subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": str(here)})
        for k in range(2 * o.rounds):
            tree = (Path(o.before).resolve(), here)[k % 2]
            print(f"round {k // 2 + 1} of {o.rounds}, {'now' if k % 2 else 'before'}", file=sys.stderr, flush=True)
            some = [*(["--quick"] if o.quick else []), *(["--only", *o.only] if o.only else [])]
            command = [sys.executable, __file__, str(tree), "--child", folder, *some]
            made = subprocess.run(
                command,
                check=True,
                capture_output=True,
                text=True,
                env=os.environ | {"PYTHONPATH": str(tree)},
                cwd=folder,
            )
            for row in json.loads(made.stdout.splitlines()[-1]):
                kept = best[k % 2].setdefault(f"{row[0]}: {row[1]}", row)
                kept[5] = min(kept[5], row[5])
    text = table(*best)
    Path(o.out).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
