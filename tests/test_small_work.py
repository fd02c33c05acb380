"""Small work is interpreted where its kernels are not compiled: at once, for a bounded time, with the same verdicts."""

import json
import math

import numpy as np
import pytest

import workbench as wb
from tests.processes import ROOT, run, two_modules
from workbench.algorithms import METHODS, OF_LCPS, find_solver
from workbench.engine import interpreted
from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import FrictionProblem


def lcps():
    """Matrices of whole numbers, symmetric, skew but for the diagonal, and of any numbers; up to four unknowns."""
    rng = np.random.default_rng(3)
    for k in range(120):
        n = 1 + k % 4
        B = rng.integers(-3, 4, size=(n, n)).astype(float)
        M = (B, B @ B.T, B - B.T + np.eye(n), rng.normal(size=(n, n)))[k // 4 % 4]
        yield M, rng.integers(-3, 4, size=n).astype(float)


def posed():
    """Problems with bounds, and with friction in space, by each formulation over W and one over bodies."""
    rng = np.random.default_rng(4)
    for k in range(12):
        n = 1 + k % 4
        B, ends = rng.normal(size=(n, n)), np.sort(rng.normal(size=(2, n)), axis=0)
        yield MLCP(B @ B.T + 0.1 * np.eye(n), rng.normal(size=n), *ends), None
    for k in range(8):
        B = rng.normal(size=(6, 6))
        problem = FrictionProblem(B @ B.T + 0.1 * np.eye(6), rng.normal(size=6), rng.uniform(0.1, 0.6, size=2))
        yield problem, ("coulomb", "ccp", "stewart-trinkle", "coulomb")[k % 4]


def singular():
    """Friction problems whose W is singular, which have many solutions and lead methods to their last stages."""
    rng = np.random.default_rng(5)
    for k in range(24):
        n = 3 + 3 * (k % 2)
        J = rng.normal(size=(n, n - 2))
        problem = FrictionProblem(J @ J.T, rng.normal(size=n), rng.uniform(0.0, 1.0, size=n // 3))
        yield problem, ("coulomb", "ccp")[k // 2 % 2]


def boxes():
    """Matrices with uncertain entries, symmetric or not, up to three unknowns; the smallest uncertainty is none."""
    rng = np.random.default_rng(6)
    for k in range(16):
        n = 1 + k % 3
        B = rng.integers(-3, 4, size=(n, n))
        yield wb.interval((B @ B.T + np.eye(n) if k % 2 else B).tolist(), [0, "1/10", "1/2", 1][k // 4])


def verdicts():
    """What is exact about LCPs, and which solvers end verified; answers to other problems where they are unique."""
    found = []
    for M, q in lcps():
        data = wb.check(M, rhs=q, seconds=60.0).data
        classes = {name: entry["verdict"] for name, entry in data["classes"].items()}
        solvers = [[entry["name"], entry["verified"]] for entry in data["solvers"]]
        found.append([data["p_matrix"]["verdict"], classes, data["solutions"]["count"], solvers])
    for box in boxes():
        data = wb.check(box, rhs=[-1] * box.order, seconds=60.0).data
        found.append(
            [{name: entry["verdict"] for name, entry in data["classes"].items()}, data["solutions"]["solvable"]]
        )
    answers = []
    for problem, formulation in posed():
        answer = wb.solve(problem, formulation)
        assert answer.verified
        answers.append(next(iter(answer.values.values())).tolist())
    found += [wb.solve(problem, formulation).verified for problem, formulation in singular()]
    return {"verdicts": found, "answers": answers}


ALL_INTERPRETED = """
import json
from workbench.engine import compiling, interpreted
interpreted.SECONDS = interpreted.UNSOUGHT = float("inf")
from tests.test_small_work import verdicts
found = verdicts()
assert not [kernel for kernel in compiling.PLACES.values() if kernel.overloads]
print(json.dumps(found))
"""


@pytest.mark.thorough
def test_verdicts_and_answers_are_those_of_compiled_code(tmp_path, monkeypatch):
    interpreted_ones = json.loads(" ".join(run(ALL_INTERPRETED, ROOT, NUMBA_CACHE_DIR=str(tmp_path))))
    monkeypatch.setattr(interpreted, "SECONDS", 0.0)
    monkeypatch.setattr(interpreted, "UNSOUGHT", 0.0)
    compiled_ones = verdicts()
    assert interpreted_ones["verdicts"] == compiled_ones["verdicts"]
    for one, other in zip(interpreted_ones["answers"], compiled_ones["answers"], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


COUNTING = """
from numba.core import event
class Compiled(event.Listener):
    count = 0
    def on_start(self, event):
        Compiled.count += 1
    def on_end(self, event):
        pass
event.register("numba:compile", Compiled())
{work}
print("compiled", Compiled.count)
"""
COMMANDS = """
from workbench.cli.main import main
for words in {commands}:
    assert main(words) == 0
"""
PICTURES = """
import workbench as wb
from workbench.diagnostics.friction_section import friction_section, section_axes
sections = [friction_section(wb.formulations.find(name), slides=True) for name in ("coulomb", "box")]
section_axes(wb.formulations.find("mujoco-pyramid"))
sketches = [wb.cases.find(name)().sketch() for name in ("rod", "sphere-stack")]
assert all(len(x) > 1 for x in sections + sketches)
"""
VERDICT = """
import numpy as np
from workbench.comparison.verdicts import p_verdict_in_short
B = np.random.default_rng(7).normal(size=(20, 20))
# A P-matrix whose symmetric part is indefinite: only the search for a diagonal proves it.
M = (B @ B.T + np.eye(20)) * np.logspace(-2, 2, 20)
assert np.linalg.eigvalsh(M + M.T)[0] < 0
print(p_verdict_in_short(M).verdict)
"""
STEPS = """
import numpy as np
import workbench as wb
between_plates = dict(M=np.eye(2), v=[1, 0], f=[0, -9.81], h=0.01, J_n=[[0, 1], [0, -1]], J_t=[[1, 0], [1, 0]])
for law in ("coulomb", "ccp", "stewart-trinkle", "mujoco"):
    assert wb.solve(wb.ContactSystem(**between_plates, mu=0.5), law).verified
assert wb.check("wheel", "ccp").report.p_verdict == "P"
"""
FILES = {
    "lcp.npz": {"M": [[2.0, 1.0], [1.0, 2.0]], "q": [-1.0, -1.0]},
    "bounds.npz": {"M": [[2.0, 1.0], [1.0, 2.0]], "q": [-1.0, -1.0], "lower": [-1.0, 0.0], "upper": [0.1, math.inf]},
    "friction.npz": {"W": [[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.7]], "q": [-1.0, 0.8, 0.2], "mu": [0.5]},
}


def test_small_commands_compile_nothing(tmp_path):
    commands = [
        ["check", "[2 1; 1 4/3]", "--rhs", "[-1; 1]"], ["solve", "friction.npz", "-f", "stewart-trinkle"],
        ["painleve", "rod"], ["list", "solvers"], ["check", "[2+-0.1 1; 1 2+-0.1]", "--rhs", "[-1; -1]"],
    ]  # fmt: skip
    for name, arrays in FILES.items():
        np.savez(tmp_path / name, **{key: np.array(values) for key, values in arrays.items()})
        commands += [["check", name], ["solve", name]]
    words = run(
        COUNTING.format(work=COMMANDS.format(commands=commands)), tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")
    )
    assert words[-2:] == ["compiled", "0"]


def test_friction_sections_and_sketches_of_cases_compile_nothing(tmp_path):
    words = run(COUNTING.format(work=PICTURES), tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert words == ["compiled", "0"]


def test_steps_of_small_systems_compile_nothing(tmp_path):
    words = run(COUNTING.format(work=STEPS), tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert words == ["compiled", "0"]


def test_a_verdict_of_a_comparison_compiles_nothing(tmp_path):
    words = run(COUNTING.format(work=VERDICT), tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert words == ["P", "compiled", "0"]


REFERENCE = """
import sys
from workbench.algorithms.coulomb_exact import contacts_in_one_go
from workbench.cli.compare import chosen
from workbench.cli.main import parsed
from workbench.comparison.event_steps import event_motion
from workbench.verbs.find import find_formulation
case, _ = chosen(parsed(["compare", "wheel"]))
motion = event_motion(case, find_formulation("coulomb"), 2.05)
print(len(motion.first.events), bool(contacts_in_one_go.place), bool({"altair", "cvxpy"} & set(sys.modules)))
"""


@pytest.mark.thorough
def test_the_reference_of_a_comparison_compiles_no_solver_and_loads_neither_cvxpy_nor_altair(tmp_path):
    assert run(REFERENCE, tmp_path) == ["1", "False", "False"]


PATIENCE = """
from workbench.engine import interpreted
from workbench.engine.interpreted import interpreting
import high, low
interpreted.UNSOUGHT, interpreted.SECONDS = {unsought}, {seconds}
with interpreting({unknowns}):
    print(high.whole(1.0), bool(high.whole.place), bool(low.other.place), interpreted.seconds_interpreted() > 0.0)
"""


@pytest.fixture
def of_project(tmp_path):
    """A function: what a fresh process prints that interprets and looks for machine code as long as it is told."""
    project = two_modules(tmp_path)

    def words(**numbers):
        return run(PATIENCE.format(**numbers), project, NUMBA_CACHE_DIR=str(project / "cache"))

    return words


@pytest.mark.thorough
def test_large_work_and_what_comes_after_the_time_for_interpreting_are_compiled(of_project):
    few, many = interpreted.SMALL, interpreted.SMALL + 1
    assert of_project(unsought=0.0, seconds=9.0, unknowns=few) == ["3.0", "False", "False", "True"]
    assert of_project(unsought=0.0, seconds=9.0, unknowns=many) == ["3.0", "True", "True", "False"]
    # Now they are on the disk, which is looked at after a while.
    assert of_project(unsought=9.0, seconds=9.0, unknowns=few) == ["3.0", "False", "False", "True"]
    assert of_project(unsought=0.0, seconds=9.0, unknowns=few) == ["3.0", "True", "True", "False"]


@pytest.mark.thorough
def test_without_time_left_for_interpreting_everything_is_compiled(of_project):
    assert of_project(unsought=0.0, seconds=0.0, unknowns=1) == ["3.0", "True", "True", "False"]


SLOW = """
import time
from workbench.engine import interpreted
interpreted.UNSOUGHT, interpreted.SECONDS = 0.0, 0.2
import high, low
part, spent = low.part.py_func, []
def slow(a):
    end = time.{clock}() + 0.3
    while time.{clock}() < end:
        time.sleep({pause})
    return part(a)
high.whole.py_func.__globals__["part"] = slow
with interpreted.interpreting(1):
    print(high.whole(1.0), bool(high.whole.place), bool(low.other.place), interpreted.seconds_interpreted() > 0.3)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(("clock", "pause", "over"), [("thread_time", 0.0, True), ("monotonic", 0.1, False)])
def test_the_rest_of_an_interpreted_kernel_is_compiled_once_the_processor_time_is_over(tmp_path, clock, pause, over):
    work = SLOW.format(clock=clock, pause=pause)
    words = run(work, two_modules(tmp_path), NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert words == ["3.0", "False", str(over), str(over)]


def test_kernels_that_take_addresses_are_interpreted_from_python_also_when_they_are_compiled():
    from workbench.algorithms.lemke.small import power_of_two, scale
    from workbench.engine.kernels import address

    rng = np.random.default_rng(0)
    M, q = np.eye(3) + rng.uniform(size=(3, 3)), rng.normal(size=3)
    assert find_solver("lemke").solve(LCP(np.eye(3), -np.ones(3))).verified
    assert scale.takes_addresses
    assert not power_of_two.takes_addresses
    scale.ready()
    D, expected = np.zeros(3), np.zeros(3)
    scale(3, address(M), address(q), address(D))
    scale.py_func(3, address(M), address(q), address(expected))
    np.testing.assert_array_equal(D, expected)
    assert D.all()


def test_the_methods_that_a_check_tries_are_those_that_take_lcps():
    assert list(OF_LCPS) == [name for name in METHODS if LCP.kind in find_solver(name).solves]
