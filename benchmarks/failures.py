"""How often does each method fail, and does the answer depend on the processor?

    python -m benchmarks.failures [--processors NAME ...] [--runs 3] [--steps 80] [--folder FOLDER] [--out FILE]

Three stages, each in processes of its own:

record      every case under every formulation, with random parameters and steps; the posed problems of these steps
solve       the same problems, bit by bit, by every method under each processor that numba is told to compile for,
            with code caches of its own; then by the chain where the method to round-off fails; then with every entry of
            M and q moved by one unit in the last place
compare     the verified answers between processors

A failure is an answer that the problem's own residual does not let pass, whatever the method claims.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

PROCESSORS = ("x86-64-v2", "x86-64-v3", "skylake", "znver4")
SEED = 31
LAST_PLACES = 100.0
"""Multiple of the tolerance up to which unique answers of two processors may differ."""
MOVES = 30
"""How often the data of a problem are moved by one unit in the last place, to see what they determine."""
FEW = 3
"""Steps of a file that methods are given which are not compiled."""


def perturbed(case: Any, rng: np.random.Generator) -> Any:
    """The case with every number multiplied by a random factor between 0.74 and 1.35, where it allows that."""
    from workbench.support.errors import WorkbenchError

    for _ in range(20):
        changes = {
            f.name: getattr(case, f.name) * float(np.exp(rng.uniform(-0.3, 0.3)))
            for f in fields(case)
            if type(getattr(case, f.name)) is float and getattr(case, f.name)
        }
        try:
            made = replace(case, **changes)
            made.start()
            return made
        except (WorkbenchError, ValueError, ZeroDivisionError):
            continue
    return case


def record(folder: Path, runs: int, steps: int, quick: bool) -> None:
    """Write the posed problems of every case under every formulation, a file each."""
    from workbench.algorithms.escalation import default_solver
    from workbench.language.assemble.find import compiled
    from workbench.step.simulation import simulate
    from workbench.support.errors import WorkbenchError
    from workbench.verbs.find import find_case, find_formulation, find_formulations
    from workbench.verbs.registries import BY_KIND

    folder.mkdir(parents=True, exist_ok=True)
    cases = map(find_case, ("block", "wedged-box") if quick else BY_KIND["cases"][0].names)
    labels = ["box:bounds=coupled", "coulomb"] if quick else [
        *(f.name for f in find_formulations(None)), "box:bounds=coupled", "box:bounds=iterated",
        "hybrid:bounds=iterated",
    ]  # fmt: skip
    for case in cases:
        for label in labels:
            rng = np.random.default_rng([SEED, *map(ord, case.name + label)])
            parts: dict[str, list[Any]] = defaultdict(list)
            try:
                f = find_formulation(label)
                kind = compiled(f, *case.size).kind
            except WorkbenchError:
                continue
            # Kernels of mixed problems need their sets, too.
            if kind in ("equations", "mixed NCP"):
                continue
            endings: Counter[str] = Counter()
            for _ in range(runs):
                h = float(10.0 ** rng.uniform(-3.7, -2.0))
                made = perturbed(case, rng)
                try:
                    run = simulate(made, f, default_solver(kind), h, min(made.duration, 4 * steps * h))
                except WorkbenchError:
                    endings["refused"] += 1
                    continue
                endings[run.status.name] += 1
                chosen = np.unique(np.linspace(0, run.steps - 1, steps).astype(int)) if run.steps else []
                for name, column in (("M", "M"), ("q", "q_"), ("lower", "lower"), ("upper", "upper"), ("mu", "mu")):
                    parts[name].append(np.array(getattr(run.record, column)[chosen]))
            if not any(len(x) for x in parts["q"]):
                continue
            path = folder / f"{case.name}+{label.replace(':', '-').replace('=', '_')}.npz"
            arrays = {name: np.concatenate(some) for name, some in parts.items()}
            np.savez(path, kind=kind, d=case.size[3], **arrays)
            print(path.stem, kind, len(arrays["q"]), dict(endings), flush=True)


def methods(kind: str) -> list[Any]:
    """The methods for problems of a kind, the one to round-off first."""
    from workbench.algorithms import ROUND_OFF, SOLVERS

    found = [solver() if isinstance(solver, type) else solver for solver in SOLVERS]
    found = [s for s in found if kind in s.solves and s.name != "enumerate"]
    return sorted(found, key=lambda s: s.name != ROUND_OFF[kind])


def loop() -> Any:
    """The compiled loop over problems."""
    from numba import types

    from workbench.algorithms.components import solve_apart
    from workbench.engine.compiling import kernel
    from workbench.engine.kernels import INDICES, MATRIX, SOLVE_T, VECTOR, is_finite, set_all
    from workbench.problems.residual import bounded_residual, contact_residual

    cube = types.Array(types.float64, 3, "C")

    @kernel(types.void(SOLVE_T, types.int64, cube, *(MATRIX,) * 4, types.int64, MATRIX, INDICES, VECTOR))
    def each(solve, kind, M, q, lower, upper, mu, d, z, status, residual):
        info = np.zeros(1, dtype=np.int64)
        for k in range(q.shape[0]):
            set_all(0.0, z[k])
            status[k] = solve_apart(solve, M[k], q[k], lower[k], upper[k], mu[k], d, z[k], info)
            residual[k] = np.inf
            if is_finite(z[k]):
                if kind == 0:
                    residual[k] = bounded_residual(M[k], q[k], lower[k], upper[k], z[k])
                else:
                    residual[k] = contact_residual(M[k], q[k], mu[k], d, kind == 1, z[k])

    return each


def posed(kind: str, x: dict[str, Any], k: int) -> Any:
    """Problem k of a file."""
    from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP

    if kind == "LCP":
        return LCP(x["M"][k], x["q"][k])
    if kind == "MLCP":
        return MLCP(x["M"][k], x["q"][k], x["lower"][k], x["upper"][k])
    return (ConicQP if kind == "conic QP" else CoulombNCP)(x["M"][k], x["q"][k], x["mu"][k], int(x["d"]))


def moved(x: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The problems with every entry of M and q moved by one unit in the last place, up or down; zeros stay."""
    away = {
        name: np.where(
            x[name] == 0.0, 0.0, np.nextafter(x[name], np.where(rng.random(x[name].shape) < 0.5, -np.inf, np.inf))
        )
        for name in ("M", "q")
    }
    return x | away


def by_chain(kind: str, x: dict[str, Any], residual: Any, z: Any, counts: Counter[str]) -> None:
    """Hand the problems that the method to round-off has not solved to the chain, and count what becomes of them."""
    from workbench.algorithms.escalation import default_solver, in_steps

    chain = in_steps(default_solver(kind), kind)
    for k in np.flatnonzero(~(residual <= chain.tolerance)):
        found = chain.solve(posed(kind, x, k))
        counts["handed over"] += 1
        if found.proof:
            counts["proved to have no solution"] += 1
        elif found.verified:
            counts[f"solved by {found.solver}"] += 1
            z[k], residual[k] = found.z, found.residual
        else:
            counts["undecided"] += 1


def solve(folder: Path, out: Path) -> None:
    """Solve every recorded problem by every method; write counts and the answers of the chain."""
    each, tally = loop(), []
    kinds = {"LCP": 0, "MLCP": 0, "conic QP": 1, "Coulomb NCP": 2}
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.npz")):
        x = {name: np.ascontiguousarray(value) if value.ndim else value for name, value in np.load(path).items()}
        kind, d, count = str(x["kind"]), int(x["d"]), len(x["q"])
        data = [x[name] for name in ("M", "q", "lower", "upper", "mu")]
        for place, method in enumerate(methods(kind)):
            if method.why_not(posed(kind, x, 0)):
                continue
            if hasattr(method, "kernel"):
                z, status, residual = np.zeros(x["q"].shape), np.zeros(count, dtype=np.int64), np.full(count, np.inf)
                each(method.kernel, kinds[kind], *data, d, z, status, residual)
                failed, steps = int((~(residual <= method.tolerance)).sum()), count
            else:
                some = np.unique(np.linspace(0, count - 1, FEW).astype(int))
                failed, steps = sum(not method.solve(posed(kind, x, k)).verified for k in some), len(some)
            tally.append((path.stem, kind, method.name, steps, failed))
            if place == 0:
                counts: Counter[str] = Counter()
                by_chain(kind, x, residual, z, counts)
                other, found = moved(x, np.random.default_rng(SEED)), np.full(count, np.inf)
                z_moved = np.zeros(x["q"].shape)
                data_moved = [other[name] for name in ("M", "q", "lower", "upper", "mu")]
                each(method.kernel, kinds[kind], *data_moved, d, z_moved, status, found)
                counts["moved: failures"] = int((~(found <= method.tolerance)).sum())
                by_chain(kind, other, found, z_moved, Counter())
                counts["moved: another verdict"] = int(
                    ((found <= method.tolerance) != (residual <= method.tolerance)).sum()
                )
                np.savez(out / path.name, z=z, residual=residual, tolerance=method.tolerance)
                tally += [(path.stem, kind, f"{method.name}, {words}", count, n) for words, n in counts.items()]
    with open(out / "tally.csv", "w", encoding="utf-8") as file:
        file.writelines(",".join(f'"{item}"' for item in row) + "\n" for row in tally)


def apart(x: dict[str, Any], one: Any, other: Any) -> tuple[Any, Any]:
    """How far the velocities of two answers are apart, over the largest of their rows, and the impulses likewise.

    Impulses are the unknowns that move their own rows, and velocities what they make of these; the other rows are
    budgets of friction, and the other unknowns multipliers, which say nothing of the motion.
    """
    moves = np.diagonal(x["M"], axis1=1, axis2=2) > 0
    one, other = np.where(moves, one, 0.0), np.where(moves, other, 0.0)
    w, v = (np.where(moves, np.einsum("kij,kj->ki", x["M"], z) + x["q"], 0.0) for z in (one, other))
    speeds, q = np.abs(w - x["q"]), np.abs(x["q"])
    speed = np.where(moves, np.maximum(speeds, q), 0.0).max(axis=1, initial=0.0)
    impulse = np.maximum(np.abs(one), np.abs(other)).max(axis=1, initial=0.0)
    return tuple(
        np.abs(gap).max(axis=1, initial=0.0) / np.where(size > 0, size, 1.0)
        for gap, size in ((w - v, speed), (one - other, impulse))
    )  # type: ignore[return-value]


def undetermined(kind: str, x: dict[str, Any], k: int) -> float:
    """How far one unit in the last place of M and q moves the velocities of problem k, the most of `MOVES` moves.

    Answers of two processors that are no further apart than this differ by no more than the data leave open.
    """
    from workbench.algorithms.escalation import default_solver, in_steps

    one = {name: x[name][k : k + 1] for name in ("M", "q", "lower", "upper", "mu")}
    method = in_steps(default_solver(kind), kind)
    answer = method.solve(posed(kind, x, k)).z[None]
    far = 0.0
    for seed in range(MOVES):
        other = one | {"d": x["d"]} | moved(one, np.random.default_rng(seed))
        far = max(far, float(apart(one, answer, method.solve(posed(kind, other, 0)).z[None])[0][0]))
    return far


def compare(folder: Path, outs: dict[str, Path]) -> list[str]:
    """The verified answers between processors, as lines of a table."""
    names, lines = list(outs), []
    open_to: dict[tuple[str, int], float] = {}
    for a, one in enumerate(names):
        for other in names[a + 1 :]:
            compared = far = beyond = redundant = 0
            largest, where = 0.0, ""
            for path in sorted(folder.glob("*.npz")):
                x, found = dict(np.load(path)), [dict(np.load(outs[name] / path.name)) for name in (one, other)]
                tolerance = float(found[0]["tolerance"])
                both = (found[0]["residual"] <= tolerance) & (found[1]["residual"] <= tolerance)
                velocities, impulses = apart(x, *(f["z"] for f in found))
                velocities = np.where(both, velocities / tolerance, 0.0)
                compared += int(both.sum())
                for k in map(int, np.flatnonzero(velocities > LAST_PLACES)):
                    if (path.stem, k) not in open_to:
                        open_to[path.stem, k] = undetermined(str(x["kind"]), x, k) / tolerance
                    far += 1
                    beyond += bool(velocities[k] > 2.0 * open_to[path.stem, k])
                redundant += int((both & (velocities <= LAST_PLACES) & (impulses > LAST_PLACES * tolerance)).sum())
                if velocities.max(initial=0.0) > largest:
                    largest, where = float(velocities.max()), f"{path.stem}, step {int(velocities.argmax())}"
            lines.append(f"| {one} | {other} | {compared} | {redundant} | {far} | {beyond} | {largest:.2g} ({where}) |")
    return lines


def table(folder: Path, outs: dict[str, Path]) -> str:
    """All tables as Markdown."""
    import pandas as pd

    frames = {
        name: pd.read_csv(out / "tally.csv", names=["file", "kind", "method", "steps", "failed"])
        for name, out in outs.items()
    }
    whole = pd.concat([frame.assign(processor=name) for name, frame in frames.items()])
    plain = whole[~whole["method"].str.contains(",")]
    lines = [
        "# How often methods fail", "",
        f"{whole['file'].nunique()} pairs of a case and a formulation; {int(plain['steps'].sum())} steps solved; "
        f"{len(outs)} processors.", "",
        "## Failures by method, before anything takes over", "",
        "| class | method | steps | " + " | ".join(outs) + " |", "|" + "-|" * (3 + len(outs)),
    ]  # fmt: skip
    for (kind, method), some in plain.groupby(["kind", "method"], sort=False):
        by = some.groupby("processor")[["steps", "failed"]].sum()
        cells = [f"{int(by.loc[name, 'failed'])}" for name in outs]
        lines.append(f"| {kind} | {method} | {int(by['steps'].iloc[0])} | " + " | ".join(cells) + " |")
    lines += ["", "## After the chain, and with M and q moved by one unit in the last place", "",
              "| class | method to round-off | " + " | ".join(outs) + " |", "|" + "-|" * (2 + len(outs))]  # fmt: skip
    chained = whole[whole["method"].str.contains(",")]
    for (kind, method), some in chained.groupby(["kind", "method"]):
        by = some.groupby("processor")["failed"].sum()
        lines.append(f"| {kind} | {method} | " + " | ".join(str(int(by.get(name, 0))) for name in outs) + " |")
    columns = (
        "processor", "other", "both verified", "impulses not unique", f"velocities {LAST_PLACES:g} tolerances apart",
        "and further than the data leave open", "largest difference of velocities, in tolerances",
    )  # fmt: skip
    lines += ["", "## Verified answers between processors", "",
              "Velocities over the largest of their problem. Impulses of redundant contacts are not unique: what "
              "differs is counted, and moves nothing. The data leave open what one unit in the last place of M and q "
              f"moves: twice the most of {MOVES} random moves.", "",
              "| " + " | ".join(columns) + " |", "|" + "-|" * len(columns), *compare(folder, outs), ""]  # fmt: skip
    return "\n".join(lines)


def stage(name: str, *arguments: Any, processor: str = "", cache: str = "") -> None:
    """Run a stage in a process of its own; raises CalledProcessError."""
    environment = dict(os.environ)
    if processor:
        environment |= {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-m", "benchmarks.failures", "--stage", name, *map(str, arguments)],
                   env=environment, check=True)  # fmt: skip


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processors", nargs="+", default=PROCESSORS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--folder")
    parser.add_argument("--out", default="benchmarks/measured/failures.md")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--stage", nargs="+", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.stage:
        name, *rest = o.stage
        if name == "record":
            record(Path(rest[0]), int(rest[1]), int(rest[2]), rest[3] == "True")
        else:
            solve(Path(rest[0]), Path(rest[1]))
        return
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(o.folder or temporary)
        problems, outs = root / "problems", {name: root / name for name in o.processors}
        if not problems.exists():
            stage("record", problems, o.runs, o.steps, o.quick)
        for name, out in outs.items():
            if not (out / "tally.csv").exists():
                stage("solve", problems, out, processor=name, cache=str(root / f"code-{name}"))
        text = table(problems, outs)
    Path(o.out).write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
