"""Proofs of computed solutions on a folder of problems: `python -m tests.proved_answers --tries 5000 [--seed 1]`.

Every LCP, MLCP and friction problem of the folder (`data_folder`) is solved with `prove=True`, friction problems under
Coulomb's law and as cone problems. A solution is called regular here if it is strictly complementary and the matrix of
the active equations is regular. Both are judged in doubles, by code of this program alone: margins and singular values
are above `SMALL`; the equations of friction problems are those of the natural map, differentiated by differences.
Then proved solutions are perturbed by 1e-11 to 1e-3 of their size, in one or in all unknowns; the distance that is
proved for the perturbed one must not be smaller than the perturbation.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import workbench as wb
from tests.problem_files import data_folder
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.verbs.find import find_formulation
from workbench.verbs.solve import answer_proof

Problem = MLCP | FrictionProblem | GlobalFrictionProblem
SMALL = 1e-8
"""Margin or singular value, relative to the largest, up to which a solution is not called regular."""
STEP = 1e-9
"""Half the difference, relative to the largest impulse, by which the natural map is differentiated."""
LAWS = "coulomb", "ccp"
EXPONENTS, MOST = (-11, -3), 60
"""Powers of ten of perturbations relative to the largest unknown, and the most unknowns of perturbed solutions."""


def problems(folder: Path) -> Iterator[tuple[str, Problem, str]]:
    """Every problem of the folder with its file's name, under each of its laws; an LCP or MLCP has none."""
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".dat", ".hdf5")):
        problem = wb.read(path)
        yield from ((path.name, problem, law) for law in ([""] if isinstance(problem, MLCP) else LAWS))


def is_regular_matrix(A: np.ndarray) -> bool:
    if not A.size:
        return True
    s = np.linalg.svd(A, compute_uv=False)
    return bool(s[-1] > SMALL * s[0])


def is_regular_mlcp(problem: MLCP, z: np.ndarray) -> bool:
    w = problem.M @ z + problem.q
    margin, force = SMALL * max(1.0, np.abs(z).max()), SMALL * max(1.0, np.abs(w).max())
    inside = (z > problem.lower + margin) & (z < problem.upper - margin)
    return bool(np.all(inside | (np.abs(w) > force))) and is_regular_matrix(problem.M[np.ix_(inside, inside)])


def projected(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Projection of x (r, 1 + d) onto the cones |x_t| <= mu x_n."""
    t = np.linalg.norm(x[:, 1:], axis=1)
    along = np.maximum(x[:, 0] + mu * t, 0) / (1 + mu**2)
    slides = t > mu * x[:, 0]
    normal = np.where(slides, along, x[:, 0])
    share = np.where(slides, mu * along / np.where(t > 0, t, 1), 1)
    return np.column_stack([normal, x[:, 1:] * share[:, None]])


def is_regular_friction(problem: FrictionProblem, p: np.ndarray, associated: bool) -> bool:
    """Whether impulses p, normal ones first, are a regular zero of the natural map, and away from its kinks."""
    r, d, n = problem.contacts, problem.d, problem.size
    W, q = problem.by_contacts()
    W, mu = W.toarray(), problem.mu
    y = np.column_stack([p[:r], p[r:].reshape(r, d)]).ravel()
    largest = np.abs(W).max()
    size = max(np.abs(y).max(), np.abs(q).max() / largest)
    W, q, y = W / largest, q / (largest * size), y / size

    def argument(y: np.ndarray) -> np.ndarray:
        x, u = y.reshape(r, -1).copy(), (W @ y + q).reshape(r, -1).copy()
        if not associated:
            u[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
        return x - u

    def natural_map(y: np.ndarray) -> np.ndarray:
        return y - projected(argument(y), mu).ravel()

    x = argument(y)
    t = np.linalg.norm(x[:, 1:], axis=1)
    kinks = np.column_stack([t - mu * x[:, 0], x[:, 0] + mu * t])
    # Without friction the cone is a ray, whose projection bends at the plane x_n = 0 alone.
    kinks[mu == 0, 0] = np.inf
    if np.abs(kinks).min() <= SMALL or np.abs(natural_map(y)).max() > SMALL:
        return False
    steps = STEP * np.eye(n)
    return is_regular_matrix(np.column_stack([(natural_map(y + e) - natural_map(y - e)) / (2 * STEP) for e in steps]))


def is_regular(problem: Problem, law: str, z: np.ndarray) -> bool:
    if isinstance(problem, MLCP):
        return is_regular_mlcp(problem, z)
    local = problem if isinstance(problem, FrictionProblem) else problem.local
    return is_regular_friction(local, z, law == "ccp")


def perturbed(z: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Solution z with one unknown or all changed, and by how much the most changed one is."""
    size = 10 ** rng.uniform(*EXPONENTS) * max(1.0, np.abs(z).max())
    changed = np.zeros(z.size)
    if rng.random() < 0.5:
        changed[rng.integers(z.size)] = size * rng.choice([-1, 1])
    else:
        changed = size * rng.choice([-1, 1], z.size)
    return z + changed, float(np.abs(z + changed - z).max())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    counts, known = Counter[tuple[str, str]](), []
    for name, problem, law in problems(data_folder()):
        start = time.process_time()
        answer = wb.solve(problem, law or None, prove=True)
        kind, z = law or problem.kind, answer.values["z" if isinstance(problem, MLCP) else "p"]
        regular = answer.verified and is_regular(problem, law, z)
        proved = answer.proof.distance is not None
        what = "regular" if regular else "not regular" if answer.verified else "not solved"
        counts[kind, what] += 1
        counts[kind, f"{what}, proved"] += proved
        print(f"{name}, {kind}: {what}; {answer.proof.words} ({time.process_time() - start:.1f} s)", flush=True)
        if proved:
            known.append((problem, law, z, answer.proof.distance))
    for kind in dict.fromkeys(kind for kind, _ in counts):
        print(f"{kind}: {', '.join(f'{n} {what}' for (other, what), n in sorted(counts.items()) if other == kind)}")
    regular = sum(n for (_, what), n in counts.items() if what == "regular")
    proved = sum(n for (_, what), n in counts.items() if what == "regular, proved")
    print(f"{proved} of {regular} regular solutions proved")

    rng, wrong, near = np.random.default_rng(args.seed), 0, 0
    few = [one for one in known if one[2].size <= MOST]
    for k in range(args.tries):
        problem, law, z, distance = few[k % len(few)]
        moved, size = perturbed(z, rng)
        found = answer_proof(problem, find_formulation(law) if law else None, moved).distance
        near += found is not None
        wrong += found is not None and found < size - distance
    print(f"{args.tries} perturbed solutions of {len(few)} problems: {near} proved at their distance, {wrong} nearer")
    return 1 if wrong or proved < 0.9 * regular else 0


if __name__ == "__main__":
    sys.exit(main())
