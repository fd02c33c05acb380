"""The solver `auto`: whatever can be posed is given to the methods for its kind."""

import numpy as np
import pytest

import workbench as wb
from workbench.algorithms import ROUND_OFF, find_solver
from workbench.algorithms.escalation import default_solver
from workbench.problems.classes import LCP, MLCP
from workbench.problems.examples import examples
from workbench.problems.solution import Status
from workbench.step.simulation import simulate
from workbench.support.errors import WorkbenchError

AUTO = find_solver("auto")
EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_problem_is_solved(name):
    problem = EXAMPLES[name]
    found = AUTO.solve(problem)
    assert found.verified
    assert found.residual == pytest.approx(float(problem.residual(found.z)), abs=1e-14)
    assert found.solver == ROUND_OFF[problem.kind]
    again = AUTO.solve_from(problem, found.z)
    assert again.verified


@pytest.mark.thorough
def test_what_its_first_method_leaves_goes_on_to_exact_arithmetic():
    """Lemke's method ends on a ray; there is a solution z = (1, 0), and for the other q there is none."""
    M = np.array([[0.0, 1.0], [-1.0, 0.0]])
    none = AUTO.solve(LCP(M, np.array([-1.0, -1.0])))
    assert none.claimed is Status.NO_SOLUTION
    assert none.proof
    assert AUTO.solve(MLCP(M, np.array([-1.0, 2.0]), 0.0, 3.0)).verified


@pytest.mark.parametrize("name", ["CCP of spheres", "Coulomb in space"])
def test_the_tolerance_asked_for_is_that_of_the_grade(name):
    problem = EXAMPLES[name]
    found = AUTO.adjusted(1e-5, None).solve(problem)
    assert found.tolerance == 1e-5
    assert found.verified
    with pytest.raises(WorkbenchError, match="name a solver"):
        AUTO.adjusted(None, 5)


@pytest.mark.parametrize("formulation", ["coulomb", "box", "ccp"])
def test_a_run_is_that_of_the_default_to_the_last_bit(formulation):
    case, f = wb.cases.find("wheel")(), wb.formulations.find(formulation)
    one = simulate(case, f, AUTO, 1e-3, 0.05)
    other = simulate(case, f, default_solver(one.kind), 1e-3, 0.05)
    assert one.solver == other.solver == ROUND_OFF[one.kind]
    np.testing.assert_array_equal(one.states_v, other.states_v)


@pytest.mark.thorough
def test_it_can_be_named_where_solvers_are():
    runs = wb.compare("wheel", ["coulomb", "ccp"], solvers=["auto"], duration=0.02).runs
    assert dict(zip(runs["formulation"], runs["solver"], strict=True)) == {
        "coulomb": "coulomb-exact",
        "ccp": "ccp-exact",
    }
