"""What derivatives cost: of motions, in forward and reverse mode, against central differences and the run itself; of
one step, against the step; of cone complementarity problems, one by one and in batches, against diffcp (`pip install
diffcp`), which is left out where it is missing.

    python -m benchmarks.derivatives [--out FILE] [--quick]

Whatever is compared takes turns in one process and one thread, a turn being a few calls; the least mean processor time
of several turns counts. Ratios matter. Set OPENBLAS_NUM_THREADS=1: the processor time of other threads would count,
too.
"""

import argparse
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from workbench.algorithms import ROUND_OFF, find_solver
from workbench.derivatives.layer import ContactLayer, LayerStep, StepOutputs
from workbench.derivatives.motion import Motion, gradient_of, tangents_of
from workbench.derivatives.parameters import CaseParameter
from workbench.derivatives.sensitivity import Sensitivity, sensitivity_of
from workbench.problems.classes import ConicQP
from workbench.support.arrays import Array
from workbench.support.errors import WorkbenchError
from workbench.verbs.find import find_case, find_formulation

MOTIONS = (
    ("block", "coulomb"), ("block", "ccp"), ("wheel", "coulomb"), ("sphere", "coulomb"), ("gripper", "coulomb"),
    ("cube", "ccp"), ("cube", "stewart-trinkle"), ("block", "hybrid"), ("wheel", "hybrid"), ("cube", "coulomb"),
    ("cube", "anitescu-potra"), ("wheel", "stewart-trinkle"), ("wheel", "box"), ("cube", "box"), ("cube", "hybrid"),
)  # fmt: skip
"""Case and formulation: one to four contacts."""
AT_REST = (
    ("cube", "ccp", 1.0), ("cube", "stewart-trinkle", 1.0), ("cube", "coulomb", 1.0), ("cube", "hybrid", 1.0),
    ("cube", "box", 1.0), ("stacked-cubes", "ccp", 0.05), ("stacked-cubes", "coulomb", 0.05),
    ("stacked-cubes", "stewart-trinkle", 0.05), ("stacked-cubes", "anitescu-potra", 0.05),
)  # fmt: skip
"""Case, formulation, and seconds of motions that come to rest on redundant contacts, or begin there."""
HEAD = (
    "| case | formulation | contacts | parameters | run [us a step] | forward [runs] | reverse [runs] | in reverse "
    "| central differences over forward | over reverse |"
)
"""The head of a table of motions."""
LAYERS = ("coulomb", "ccp", "stewart-trinkle", "anitescu-potra", "box", "hybrid"), (1, 4, 20)
"""Formulations and contacts of single steps."""
H, DURATION, MANY = 1e-3, 0.2, 20
CONTACTS = 1, 2, 4, 8, 20
ROUNDS, MANY_ROUNDS, CALLS, ALTERNATING = 5, 50, 20, 500
BATCH = 64
"""Problems of a batch."""


class StartEntry(CaseParameter):
    """An entry of the state at the start as a parameter."""

    def __init__(self, case: Any, which: str, i: int) -> None:
        q, v = case.start()
        self.name, self.in_data_alone, self.along = f"{which}[{i}]", True, np.zeros(case.data().size)
        self.unit = 1.0
        self.q, self.v = np.zeros(q.size), np.zeros(v.size)
        getattr(self, which)[i] = 1.0


def parameters(case: Any) -> list[CaseParameter]:
    """The case's own that act by its data and start, then entries of the start, up to MANY in all."""
    own: list[CaseParameter] = []
    for f in fields(case):
        try:
            one = CaseParameter(case, f.name)
        except WorkbenchError:
            continue
        if one.in_data_alone:
            own.append(one)
    q, v = case.start()
    rest = [StartEntry(case, which, i) for which, x in (("v", v), ("q", q)) for i in range(x.size)]
    return [*own, *rest][:MANY]


def least(*work: Callable[[], Any], rounds: int = ROUNDS, calls: int = 1) -> list[float]:
    """Seconds of a call of each, which take turns of several calls: the least mean of all turns."""
    found = [np.inf] * len(work)
    for _ in range(rounds):
        for k, one in enumerate(work):
            start = process_time()
            for _ in range(calls):
                one()
            found[k] = min(found[k], (process_time() - start) / calls)
    return found


def of_motion(name: str, label: str, duration: float) -> str:
    """The row of a motion."""
    case, formulation = find_case(name), find_formulation(label)
    motion, every = Motion(case, formulation, H, duration), parameters(case)
    # Redundant contacts leave no derivative by some entries of the start.
    moving = [p for p, why in zip(every, tangents_of(motion, every).reasons, strict=True) if not why]
    due = np.zeros(motion.states_q.shape), np.zeros(motion.states_v.shape)
    due[1][-1] = 1.0
    reverse = gradient_of(motion, *due, moving).in_reverse
    run, ahead, back = least(
        lambda: Motion(case, formulation, H, duration),
        lambda: tangents_of(Motion(case, formulation, H, duration), moving),
        lambda: gradient_of(Motion(case, formulation, H, duration), *due, moving),
    )
    K = len(moving)
    return (
        f"| {name} | {label} | {case.size[2]} | {K} | {1e6 * run / motion.steps:.0f} | {ahead / run:.1f} "
        f"| {back / run:.1f} | {reverse} of {motion.steps} | {2 * K * run / ahead:.1f} | {2 * K * run / back:.1f} |"
    )


def of_step(label: str, r: int) -> str:
    """The row of a step of random data with r contacts, as in a layer."""
    n, rng = 3 * r + 3, np.random.default_rng(1)
    layer, G = ContactLayer(find_formulation(label), (n, 0, r, 2), 1e-2), rng.normal(size=(n, n))
    J_n, J_t = rng.normal(size=(r, n)), rng.normal(size=(2 * r, n))
    data = dict(M=G @ G.T / n + np.eye(n), v=rng.normal(size=n), J_n=J_n, J_t=J_t, mu=rng.uniform(0.2, 0.8, size=r))
    due = StepOutputs(rng.normal(size=n), np.zeros(r), np.zeros(2 * r), np.zeros(0))
    made: list[LayerStep] = []
    # Of a new step every time: a sensitivity keeps its verdict.
    step, back = least(
        lambda: made.append(layer.step(data)), lambda: layer.gradient(made.pop(), due), rounds=MANY_ROUNDS
    )
    return f"| {label} | {r} | {1e3 * step:.2f} | {1e3 * back:.2f} | {back / step:.2f} |"


def sliding(r: int, seed: int) -> ConicQP:
    """A CCP of r contacts in space with a well-conditioned W, most of which slide."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * r, 3 * r + 3))
    q = rng.normal(size=3 * r)
    q[:r] = -np.abs(q[:r]) - 1.0
    return ConicQP(J @ J.T, q, rng.uniform(0.2, 0.8, size=r), 2)


def as_cone_program(problem: ConicQP) -> tuple[Any, Any, Any, dict[str, Any]]:
    """min t + q p, |F p|^2 <= 2 t, p in the friction cones, as diffcp has it: A, b, c, cones with A (p, t) + s = b."""
    n, r = problem.size, problem.mu.size
    F = np.linalg.cholesky(problem.M).T
    rows = [np.zeros((n + 2, n + 1))]
    rows[0][0, n] = rows[0][1, n] = -1.0
    rows[0][1, n], rows[0][2:, :n] = -1.0, -np.sqrt(2.0) * F
    b = [np.concatenate([[1.0, -1.0], np.zeros(n)])]
    for i in range(r):
        cone = np.zeros((3, n + 1))
        cone[0, i] = -problem.mu[i]
        cone[1, r + 2 * i] = cone[2, r + 2 * i + 1] = -1.0
        rows.append(cone)
        b.append(np.zeros(3))
    # |F p|^2 <= 2 t as |(t - 1, sqrt(2) F p)| <= t + 1.
    return sparse.csc_matrix(np.vstack(rows)), np.concatenate(b), np.append(problem.q, 1.0), {"q": [n + 2, *[3] * r]}


def as_step(problem: ConicQP) -> dict[str, Array]:
    """Contact data of a step whose CCP is the problem: W = J J^T with bodies of unit mass, q = J v + r."""
    r, J = problem.mu.size, np.linalg.cholesky(problem.M)
    r_n, r_t = np.split(problem.q, [r])
    return dict(
        M=np.eye(problem.size), v=np.zeros(problem.size), J_n=J[:r], J_t=J[r:], mu=problem.mu, r_n=r_n, r_t=r_t
    )  # fmt: skip


def of_batch(diffcp: Any, r: int) -> str:
    """The row of a batch of problems of r contacts, which are the steps of a layer."""
    problems = [sliding(r, seed) for seed in range(BATCH)]
    n = problems[0].size
    layer = ContactLayer(find_formulation("ccp"), (n, 0, r, 2), 1.0, "velocity")
    every = [as_step(problem) for problem in problems]
    data = {name: np.stack([one[name] for one in every]) for name in every[0]}
    g = np.random.default_rng(2).normal(size=(BATCH, n))
    due = StepOutputs(np.zeros((BATCH, n)), g[:, :r], g[:, r:], np.zeros((BATCH, 0)))
    given = [list(x) for x in zip(*map(as_cone_program, problems), strict=True)]

    def ours() -> dict[str, Array]:
        return layer.gradient(layer.step(data), due)

    def its_own() -> Any:
        options = dict(n_jobs_forward=1, n_jobs_backward=1, solve_method="CLARABEL", mode="dense")
        _, ys, ss, _, back = diffcp.solve_and_derivative_batch(*given, **options)
        return back([np.append(x, 0.0) for x in g], [0.0 * y for y in ys], [0.0 * s for s in ss])

    (mine, its), found = least(ours, its_own), ours()
    by_q, theirs = np.concatenate([found["r_n"], found["r_t"]], axis=1), np.array([c[:n] for c in its_own()[2]])
    return (
        f"| {r} | {1e3 * mine / BATCH:.3f} | {its / mine:.0f} "
        f"| {np.abs(by_q - theirs).max() / np.abs(by_q).max():.0e} |"
    )


class Work(NamedTuple):
    """What a problem of r contacts asks for, of ours and of diffcp: the solution with its gradient, also with checks of
    the problem's data, and the gradient alone; the largest difference between the two."""

    r: int
    both: Callable[[], Any]
    checked: Callable[[], Any]
    alone: Callable[[], Any]
    its_both: Callable[[], Any]
    its_alone: Callable[[], Any]
    apart: float


def work_of(diffcp: Any, r: int) -> Work:
    """The work of a problem of r contacts."""
    problem, solver = sliding(r, 1), find_solver(ROUND_OFF[ConicQP.kind])
    g = np.random.default_rng(2).normal(size=problem.size)
    A, b, c, cones = as_cone_program(problem)

    def its_own() -> Any:
        _, y, s, _, back = diffcp.solve_and_derivative(A, b, c, cones, solve_method="CLARABEL", mode="dense")
        return back, (np.append(g, 0.0), np.zeros(y.size), np.zeros(s.size))

    def ours_solved(problem: ConicQP) -> Sensitivity:
        found = solver.solve(problem)
        return sensitivity_of(problem, found.z, found.residual)

    known, (back, given) = ours_solved(problem), its_own()
    ours, theirs = known.gradient(g).q, back(*given)[2][: problem.size][problem.by_set.order]
    return Work(
        r,
        lambda: ours_solved(problem).gradient(g),
        lambda: ours_solved(ConicQP(problem.M, problem.q, problem.mu, 2)).gradient(g),
        lambda: known.gradient(g),
        lambda: (lambda made: made[0](*made[1]))(its_own()),
        lambda: back(*given),
        float(np.abs(ours - theirs).max() / np.abs(ours).max()),
    )


def of_problem(work: Work) -> str:
    """The row of a problem in turns of several calls."""
    both, checked, alone, its_both, its_alone = least(*work[1:6], calls=CALLS)
    return (
        f"| {work.r} | {1e3 * both:.3f} | {its_both / both:.0f} | {1e3 * checked:.3f} | {its_both / checked:.0f} "
        f"| {1e3 * alone:.3f} | {its_alone / alone:.0f} | {work.apart:.0e} |"
    )


def call_by_call(work: Work) -> str:
    """The row of a problem in turns of a call of each of two."""
    cells = [str(work.r)]
    for ours, its in ((work.both, work.its_both), (work.checked, work.its_both), (work.alone, work.its_alone)):
        taken = np.empty((ALTERNATING, 2))
        for k in range(2 * ALTERNATING):
            start = process_time()
            (its if k % 2 else ours)()
            taken[divmod(k, 2)] = process_time() - start
        for mine, other in (taken.min(axis=0), np.median(taken, axis=0)):
            cells += [f"{1e3 * mine:.3f}", f"{other / mine:.1f}"]
    return f"| {' | '.join(cells)} |"


def of_problems(quick: bool) -> list[str]:
    """A row for each size, if diffcp is there."""
    try:
        import diffcp
    except ImportError:
        return ["diffcp is missing: `pip install diffcp`."]
    contacts = CONTACTS[:1] if quick else CONTACTS
    every = [work_of(diffcp, r) for r in contacts]
    head = (
        "contacts", "solution and gradient [ms]", "diffcp, times that", "with checks of the data [ms]",
        "diffcp, times that", "gradient alone [ms]", "diffcp, times that", "largest difference",
    )  # fmt: skip
    return [
        f"| {' | '.join(head)} |", "|-|-|-|-|-|-|-|-|", *map(of_problem, every), "",
        "One call of ours, one of diffcp, and so on, which empties the caches of the processor: the least time and the "
        "median [ms], and those of diffcp, times that.", "",
        "| contacts | solution and gradient, least | diffcp | median | diffcp | with checks, least | diffcp | median "
        "| diffcp | gradient alone, least | diffcp | median | diffcp |",
        f"|{13 * '-|'}", *map(call_by_call, every), "",
        f"The same problems in batches of {BATCH}, with gradients by all data of the steps that they belong to "
        "(`ContactLayer`), per problem:", "",
        "| contacts | solution and gradient [ms] | diffcp, times that | largest difference |", "|-|-|-|-|",
        *(of_batch(diffcp, r) for r in contacts),
    ]  # fmt: skip


def table(quick: bool) -> str:
    """All, as Markdown."""
    motions, duration, at_rest = (MOTIONS[:1], 0.01, ()) if quick else (MOTIONS, DURATION, AT_REST)
    return "\n".join([
        "# What derivatives cost", "",
        "## Of motions", "",
        f"Steps of {1e3 * H:g} ms to {DURATION:g} s. Time in runs, the run itself included: 1 would be a gradient for "
        "nothing. Central differences take two runs a parameter. `in reverse`: steps that reverse mode took; up to "
        "those forward mode goes.", "",
        HEAD, "|-|-|-|-|-|-|-|-|-|-|", *[of_motion(*given, duration) for given in motions], "",
        "## Of motions that come to rest", "",
        "The cube tumbles, slides and comes to rest within its second; stacked cubes are at rest. Redundant contacts "
        "leave modes and load sharing undecided, and no derivative by some parameters, which are left out.", "",
        HEAD, "|-|-|-|-|-|-|-|-|-|-|", *[of_motion(*given) for given in at_rest], "",
        "## Of one step", "",
        "The gradient of a function of the velocities by all data of a step (`ContactLayer.gradient`) against the "
        "step itself (`ContactLayer.step`), without a batch.", "",
        "| formulation | contacts | step [ms] | gradient [ms] | gradient [steps] |", "|-|-|-|-|-|",
        *[of_step(label, r) for label in LAYERS[0] for r in (LAYERS[1][:1] if quick else LAYERS[1])], "",
        "## Of cone complementarity problems", "",
        "The gradient of a function of the impulses by q, in double precision; diffcp with Clarabel, its dense mode, "
        "one thread, without forming its cone program.", "", *of_problems(quick), "",
    ])  # fmt: skip


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/measured/derivatives.md")
    parser.add_argument("--quick", action="store_true")
    o = parser.parse_args()
    text = table(o.quick)
    Path(o.out).write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
