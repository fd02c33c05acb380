"""Where NUMBA_DISABLE_JIT=1 nothing is compiled, everything runs, and the numbers are the same to round-off."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.algorithms import ROUND_OFF, find_solver
from workbench.algorithms.batch import solve_batch
from workbench.cli.main import main
from workbench.language.assemble.find import compiled
from workbench.problems.classes import LCP, MLCP
from workbench.step.simulation import simulate

ROOT = Path(__file__).parents[1]
FORMULATIONS = ("stewart-trinkle", "box", "hybrid", "phantom-inertia", "mujoco", "staggered", "ccp", "coulomb")


def spoken(*words):
    """What a command says in JSON."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main([*words, "--json"]) == 0
    return json.loads(said.getvalue())


def commands(folder):
    """Friction, residuals and errors of a comparison; the verdicts of a check and of a solve."""
    steps = ("--duration", "0.004", "--reference-step", "2e-4")
    rows = spoken("compare", "wheel", *steps, "--out", f"{folder}/wheel", "--quiet")
    measured = [[row[name] or 0.0 for name in ("energy_error", "position_error", "iterations")] for row in rows]
    M = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.5, -1.0, 2.0]])
    np.savez(f"{folder}/small.npz", M=M, q=np.array([-1.0, 1.0, -2.0]))
    np.savetxt(f"{folder}/matrix.csv", M, delimiter=",")
    answer = spoken("solve", f"{folder}/small.npz")
    checked = spoken("check", f"{folder}/matrix.csv")
    assert checked["p_matrix"]["verdict"] == "P"
    return {"compare": measured, "solve": [row["residual"] < 1e-12 for row in answer]}


def stepped(name):
    """Where the cube is after three steps under a formulation."""
    case, formulation = wb.cases["cube"](), wb.formulations[name]
    solver = find_solver(ROUND_OFF[compiled(formulation, *case.size).kind])
    run = simulate(case, formulation, solver, 1e-3, 3e-3)
    return [*np.ravel(run.record.q), *np.ravel(run.record.v)]


def solved():
    """Answers of every kernel to one problem, and of the vector lanes and the box solver to many."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(7, 7))
    M, q = B @ B.T + np.eye(7), rng.normal(size=7)
    lcp, boxed, found = LCP(M, q), MLCP(M, q, -np.ones(7), np.ones(7)), {}
    for name in ("lemke", "murty", "keller", "enumerate", "proximal", "judice-pires", "pgs"):
        solver = find_solver(name)
        solution = solver.solve(lcp if "LCP" in solver.solves else boxed)
        # Pivots too: a wrong one leads to another method, and to the same answer.
        found[name] = [*solution.z.tolist(), solution.iterations]
    for n in (1, 5, 9, 12):
        # Far from symmetric: unknowns that have left the basis come back. Eight and eight in lanes, three alone.
        B, C = rng.normal(size=(2, 19, n, n))
        M = B @ B.transpose(0, 2, 1) + 9.0 * (C - C.transpose(0, 2, 1)) + 0.1 * np.eye(n)
        answer = solve_batch(M, rng.normal(size=(19, n)))
        found[f"{n} in a batch"] = [*answer.z.ravel().tolist(), *answer.iterations.tolist()]
    return found


def numbers():
    """What is compared."""
    with tempfile.TemporaryDirectory() as folder:
        return commands(folder) | solved() | {name: stepped(name) for name in FORMULATIONS}


@pytest.fixture(scope="module")
def interpreted():
    """The numbers of a process that compiles nothing."""
    code = "import json, sys; from tests.test_interpreted import numbers; print(json.dumps(numbers()))"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.thorough
def test_the_numbers_are_those_of_compiled_code(interpreted):
    known = numbers()
    assert known.keys() == interpreted.keys()
    for name, values in known.items():
        np.testing.assert_allclose(interpreted[name], values, rtol=1e-7, atol=1e-10, err_msg=name)


HOOK = """
from numba import njit
from workbench.algorithms import find_solver
from workbench.language.hooks import GIVEN
from workbench.language.modelling import Hooks

@njit(GIVEN)
def hook(core, memory, own, numbers):
    pass

assert Hooks(given=hook).given is hook
kernel = find_solver("lemke").kernel
assert type(kernel) is type(hook) is type(lambda: None)
print(kernel.py_func.__name__)
"""


def test_kernels_and_hooks_are_functions_that_a_debugger_enters():
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"}
    assert subprocess.check_output([sys.executable, "-c", HOOK], env=environment, text=True) == "lemke_kernel\n"
