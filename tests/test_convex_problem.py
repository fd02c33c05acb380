"""The CVXPY problem of a declared step: its solution is the step's, and it takes own objectives and constraints."""

import cvxpy as cp
import numpy as np
import pytest

from formulations import FORMULATIONS
from tests.declared import declared
from workbench.algorithms.escalation import default_solver
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, box, complements, declare, equals, free, nonneg
from workbench.mechanics.contact import ContactSystem
from workbench.step.one_step import solve_system
from workbench.support.errors import DataError, ModellingError

BY_NAME = {f.name: f for f in FORMULATIONS}
CONVEX = ("frictionless", "box", "hybrid", "ccp", "mujoco", "mujoco-pyramid", "sap", "comfree")
TANGENTS = {"hunt-crossley", "ipc"}
"""Formulations that are solved by tangents: each of these is a problem of its own."""
BLOCK = ContactSystem(2 * np.eye(3), [0.6, 0.8, -1.0], [0, 0, -20.0], 0.01, [[0, 0, 1]], [[1, 0, 0], [0, 1, 0]], 0.5)


@pytest.mark.parametrize("name", CONVEX)
def test_the_minimum_is_the_step(name, systems):
    f = BY_NAME[name]
    for seed, (shape, eps) in enumerate([("one contact", 0.0), ("three planar contacts, two constraints", 0.05)]):
        system = systems.random_system(seed, **systems.SHAPES[shape], eps_n=eps, eps_t=eps)
        answer, solution = solve_system(f, system, default_solver(compiled(f, *system.size).kind))
        assert solution.verified
        declaration = declared(f, system)
        problem = declaration.problem()
        assert problem.is_dcp(dpp=True)
        problem.solve("CLARABEL")
        np.testing.assert_allclose(declaration.recover["v"].value, answer.v, rtol=0, atol=2e-4)
        np.testing.assert_allclose(declaration.recover["p_n"].value, answer.p_n, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", sorted({*BY_NAME} - {*CONVEX} - TANGENTS))
def test_relations_that_are_no_optimality_conditions_are_refused(name):
    with pytest.raises(ModellingError, match="not the optimality conditions of a convex problem: ") as caught:
        BY_NAME[name].declaration(*BLOCK.size).problem()
    assert "couple symmetrically" in str(caught.value) or name in {"coulomb", "genesis", "mujoco-noslip"}
    with pytest.raises(ModellingError, match="do not couple symmetrically"):
        BY_NAME["box"].with_options(bounds="coupled").declaration(*BLOCK.size).problem()


def test_a_problem_takes_constraints_and_objectives_of_ones_own():
    problem = declared(BY_NAME["ccp"], BLOCK).problem()
    v, p_n = problem.var_dict["v"], problem.var_dict["p_n"]
    weaker = cp.Problem(problem.objective, [*problem.constraints, p_n <= 0.4])
    weaker.solve("CLARABEL")
    # An impulse of 0.4 N s on 2 kg, which fall at 1.1 m/s.
    np.testing.assert_allclose([p_n.value[0], v.value[2]], [0.4, -1.1 + 0.2], atol=1e-6)
    # The least push that stops the fall; friction may be what it likes.
    least = cp.Problem(cp.Minimize(cp.sum(p_n)), [*problem.constraints, v[2] >= 0])
    least.solve("CLARABEL")
    np.testing.assert_allclose(p_n.value, 2.2, atol=1e-6)


def test_data_are_set_anew_by_their_names():
    declaration = declared(BY_NAME["ccp"], BLOCK)
    problem = declaration.problem()
    for mu, fall in ((0.0, -2.0), (0.1, -3.0), (2.0, -1.0), (0.0, 1.0)):
        data = declaration.parameters
        data["mu"].value, data["b"].value = np.full(1, mu), 2 * np.array([0.6, 0.8, fall])
        problem.solve("CLARABEL")
        system = ContactSystem(2 * np.eye(3), [0.6, 0.8, fall], np.zeros(3), 0.01, BLOCK.J_n, BLOCK.J_t, mu)
        answer, _ = solve_system(BY_NAME["ccp"], system, default_solver("conic QP"))
        np.testing.assert_allclose(problem.var_dict["v"].value, answer.v, atol=1e-5)


def test_data_that_are_missing_or_make_no_convex_problem_are_named():
    declaration = BY_NAME["frictionless"].declaration(*BLOCK.size)
    problem = declaration.problem()
    assert all(p.value is None for p in declaration.parameters.values())
    with pytest.raises(DataError, match=r"parameter 'M' has no value; set declaration.parameters\['M'\].value"):
        problem.solve("CLARABEL")
    for name, p in declared(BY_NAME["frictionless"], BLOCK).parameters.items():
        declaration.parameters[name].value = p.value
    problem.solve("CLARABEL")
    for M, words in ((-np.eye(3), "not convex"), (np.zeros((3, 3)), "do not determine")):
        declaration.parameters["M"].value = M
        with pytest.raises(DataError, match=words):
            problem.solve("CLARABEL")


def test_what_a_problem_is_made_of_keeps_its_values():
    declaration = declared(BY_NAME["box"], BLOCK)
    values = {name: p.value.copy() for name, p in declaration.parameters.items()}
    declaration.problem().solve("CLARABEL")
    for name, p in declaration.parameters.items():
        np.testing.assert_array_equal(p.value, values[name])
    # The declaration that is compiled is another one.
    assert all(p.value is None for p in compiled(BY_NAME["box"], *BLOCK.size).declaration.parameters.values())


def test_infinite_and_numerical_bounds_and_equations_alone():
    @formulation("pushed", friction="none", source="this test")
    def pushed(s: ContactSymbols) -> Declaration:
        v, p_n = free("v", s.n), box("p_n", s.r, -np.inf, 0.5)
        return declare(equals(s.balance(v, p_n)), complements(s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n))

    problem = declared(pushed, BLOCK).problem()
    problem.solve("CLARABEL")
    np.testing.assert_allclose(problem.var_dict["p_n"].value, 0.5, atol=1e-6)

    @formulation("spring", friction="none", source="this test")
    def spring(s: ContactSymbols) -> Declaration:
        v, p_n = free("v", s.n), free("p_n", s.r)
        return declare(equals(s.balance(v, p_n)), equals(p_n + 2 * s.un(v, p_n)), recover=dict(v=v, p_n=p_n))

    problem = declared(spring, BLOCK).problem()
    problem.solve("CLARABEL")
    np.testing.assert_allclose(problem.var_dict["p_n"].value, 2 * 2.2 / 4, atol=1e-6)


def test_a_matrix_that_is_symmetric_but_no_convex_one_is_refused():
    @formulation("pull", friction="none", source="this test")
    def pull(s: ContactSymbols) -> Declaration:
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        return declare(equals(s.balance(v, p_n)), complements(-s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n))

    with pytest.raises(ModellingError, match="not positive semidefinite"):
        pull.declaration(*BLOCK.size).problem()
