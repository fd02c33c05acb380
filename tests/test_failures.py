"""The benchmark of failures, in small: what it records, solves and compares."""

import numpy as np
import pytest

from benchmarks.failures import LAST_PLACES, compare, perturbed, record, solve, table, undetermined
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation


@pytest.mark.thorough
def test_failures_are_counted_and_answers_compared(tmp_path):
    problems, outs = tmp_path / "problems", {"one": tmp_path / "one", "two": tmp_path / "two"}
    record(problems, runs=1, steps=5, quick=True)
    for out in outs.values():
        solve(problems, out)
    assert [path.stem for path in sorted(problems.iterdir())] == [
        "block+box-bounds_coupled", "block+coulomb", "wedged-box+box-bounds_coupled", "wedged-box+coulomb",
    ]  # fmt: skip
    assert compare(problems, outs) == ["| one | two | 20 | 0 | 0 | 0 | 0 () |"]
    rows = [line for line in table(problems, outs).splitlines() if line.startswith("| LCP | lemke |")]
    assert rows == ["| LCP | lemke | 10 | 0 | 0 |"]


@pytest.mark.parametrize(("seed", "h"), [(2, 1e-3), (4, 1e-3)])
def test_the_last_place_of_the_data_moves_no_stack_by_much(seed, h):
    """Stacked cubes, the upper one 8e5 times as heavy, whose contacts are redundant: of several ends of Lemke's paths
    the one with the least residual is taken. The first one moves by up to 340 tolerances.
    """
    case, lemke = perturbed(CASES.find("stacked-cubes")(), np.random.default_rng(seed)), default_solver("LCP")
    record = simulate(case, find_formulation("anitescu-potra"), lemke, h, 30 * h).record
    x = {"M": record.M, "q": record.q_, "lower": record.lower, "upper": record.upper, "mu": record.mu, "d": 3}
    assert case.ratio > 7e5
    assert max(undetermined("LCP", x, k) for k in range(0, 30, 3)) < LAST_PLACES * lemke.tolerance
