"""Friction problems with rows of W that are zero: an answer or a proof that there is none, at once."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import workbench as wb
from workbench.comparison.unmoved import refutation
from workbench.problems.friction_problem import FrictionProblem

FORMULATIONS = ("coulomb", "ccp", "frictionless")


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("approaching", [False, True])
def test_ten_thousand_contacts_that_nothing_moves(formulation, approaching):
    r = 10_000
    q = np.zeros(3 * r)
    q[:r] = 1.0
    q[r - 1] = -1e-300 if approaching else 1.0
    answer = wb.solve(FrictionProblem(sparse.csr_array((3 * r, 3 * r)), q, np.ones(r), 2), formulation)
    assert answer.verified
    assert answer.status.name == ("NO_SOLUTION" if approaching else "SOLVED")
    assert ("contact 9999 keeps its normal velocity -1e-300 < 0" in answer.solution.proof) == approaching


def test_a_velocity_outside_the_dual_cone_refutes_the_cone_problem_alone():
    """u_n against mu |u_t| in exact arithmetic; Coulomb's law lets such a contact slide without an impulse."""
    rng = np.random.default_rng(0)
    refuted = 0
    for _ in range(120):
        mu, (a, b) = rng.uniform(0.1, 2), rng.normal(size=2)
        n = mu * np.hypot(a, b) * (1 + rng.choice([-1e-15, -1e-16, 0, 1e-16, 1e-15]))
        problem = FrictionProblem(sparse.csr_array((3, 3)), np.array([n, a, b]), np.array([mu]), 2)
        outside = Fraction(n) ** 2 < Fraction(mu) ** 2 * (Fraction(a) ** 2 + Fraction(b) ** 2)
        assert bool(refutation(problem, "ccp")) == outside
        assert not refutation(problem, "coulomb")
        refuted += outside
    assert 50 < refuted < 250


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_that_something_moves_prove_nothing(make):
    W = np.zeros((6, 6))
    W[0, 0], q, mu = 1.0, np.array([-1.0, 2.0, 1.0, 0.0, 1.0, 0.0]), np.full(2, 0.5)
    assert refutation(FrictionProblem(make(W), q, mu, 2), "ccp") == ""
    W[0, 0], W[0, 5] = 0.0, -1e-300
    assert refutation(FrictionProblem(make(W), q, mu, 2), "ccp") == ""
    W[0, 5] = 0.0
    assert "contact 0 keeps" in refutation(FrictionProblem(make(W), q, mu, 2), "coulomb")
    stored_zeros = sparse.csr_array(([0.0, 0.0], ([0, 0], [0, 5])), shape=(6, 6))
    assert "contact 0 keeps" in refutation(FrictionProblem(stored_zeros, q, mu, 2), "coulomb")
