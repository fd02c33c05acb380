"""Misuse of relations and unknowns: every refusal names the culprit, and says what would be right."""

import re
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from tests.refusals import assert_names, compile_plain, refusal
from workbench.language.assemble.assembly import stamp
from workbench.language.formulation import ContactSymbols
from workbench.language.modelling import (
    Complements,
    ConeComplements,
    Equals,
    box,
    complements,
    equals,
    free,
    friction_cone,
    nonneg,
)
from workbench.language.sets import Nonneg

# The two sides of a relation


def test_a_relation_is_what_the_set_of_its_unknown_says():
    v, p, F = free("v", 2), nonneg("p", 2), np.ones(2)
    cone = friction_cone(0.5, 2, 2)
    assert isinstance(complements(F, v), Equals)
    relation = complements(F, p)
    assert isinstance(relation, Complements)
    assert isinstance(relation.x.member_of, Nonneg)
    laws: list[Any] = [complements((cone.n, cone.t), cone, **law) for law in ({}, {"law": "cone"}, {"law": "coulomb"})]
    assert all(isinstance(relation, ConeComplements) for relation in laws)
    assert [relation.coulomb for relation in laws] == [False, False, True]


@pytest.mark.parametrize("make", [free, nonneg, lambda name, size: box(name, size, 0, 1)])
@pytest.mark.parametrize("rows", [1, 3])
def test_sizes_that_do_not_match(make, rows):
    message = refusal(complements, free("F", rows), make("gamma", 2))
    assert_names(message, "'gamma'", f"{rows} rows", "2 entries")


def test_sizes_of_a_cone_pair():
    cone = friction_cone(0.5, 2, 2, names=("gamma_n", "gamma_t"))
    assert_names(refusal(complements, (cone.n, cone.n), cone), "'gamma_t'", "2 rows", "4 entries")
    assert_names(refusal(complements, (cone.t, cone.t), cone), "'gamma_n'", "4 rows", "2 entries")
    for F in (cone.n, (cone.n,), (cone.n, cone.t, cone.t), [cone.n, cone.t]):
        assert_names(refusal(complements, F, cone), "(gamma_n, gamma_t)", "pair")


@pytest.mark.parametrize(
    ("partner", "shown"),
    [
        (cp.Variable(2, name="bare"), "bare"),
        (cp.Parameter(2, name="load"), "load"),
        (cp.Constant([1, 2], name="C"), "C"),
        (2 * nonneg("gamma", 2), "gamma"),
        (nonneg("gamma", 2) + 1, "gamma"),
        (np.zeros(2), "ndarray"),
        (None, "None"),
    ],
)
def test_the_right_hand_side_is_an_unknown(partner, shown):
    message = refusal(complements, np.zeros(2), partner)
    assert_names(message, shown, "free, nonneg, box, disc or friction_cone")


@pytest.mark.parametrize("state", [equals, lambda F: complements(F, nonneg("gamma", 2))])
def test_a_term_that_is_not_affine_is_named(state):
    x, y, A = free("x", 2), free("y", 2), cp.Parameter((2, 2), name="A")
    for term in (cp.square(x), cp.multiply(x, y), cp.abs(y), cp.exp(A @ x), cp.maximum(x, 0)):
        message = refusal(state, A @ x + y - term)
        assert_names(message, str(term), "affine")


@pytest.mark.parametrize("state", [equals, lambda F: complements(F, nonneg("gamma", 2))])
def test_data_times_data_is_named(state):
    x, A, B = free("x", 2), cp.Parameter((2, 2), name="A"), cp.Parameter((2, 2), name="B")
    w, c = cp.Parameter(2, name="w"), cp.Parameter(name="c")
    for term in (A @ (B @ x), cp.multiply(w, A @ x), c * (A @ x), A @ w, cp.multiply(w, w)):
        message = refusal(state, x + B @ x + term)
        assert_names(message, str(term), "data with data")
    # One parameter beside each unknown, and constants as one likes, are data times unknown.
    state(A @ (np.ones((2, 2)) @ x) + cp.multiply(w, x) + c * x + A @ np.ones(2))


def products() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Products of data with data in which one factor is a vector, and the names in them."""
    s = ContactSymbols(4, 0, 2, 1)
    v, p_n = free("v", 4), nonneg("p_n", 2)
    k, c = cp.Parameter(2, name="k"), cp.Parameter(name="c")
    names = dict(s=s, v=v, p_n=p_n, k=k, c=c, cp=cp, np=np)
    F = {
        "data": cp.multiply(s.mu, s.eps_n), "matrix and data": s.M @ s.b, "number": c * s.mu,
        "nested": cp.multiply(s.mu, cp.multiply(s.eps_n, p_n)),
        "transposed": s.J_n.T @ cp.multiply(k, s.J_n @ v + s.b_n),
        "difference": cp.multiply(s.mu, s.J_n @ v - k), "from the left": (v @ s.M) @ s.b,
        "far in": 2 * (s.M @ (s.M @ v)) + v,
    }  # fmt: skip
    return {name: (term, names) for name, term in F.items()}


@pytest.mark.parametrize("name", products())
def test_the_line_that_replaces_a_product_of_data_says_the_same(name):
    F, names = products()[name]
    message = refusal(equals, F)
    found = re.search(
        r"the term (.*) multiplies data with data; write (.*) with (\w+) = (free\(.*\)) and equals\((.*)\)$", message
    )
    names = names | {"free": free, found[3]: eval(found[4], names | {"free": free})}
    new, equation = eval(found[2], names), eval(found[5], names)
    assert isinstance(equals(new), Equals)
    assert isinstance(equals(equation), Equals)
    rng = np.random.default_rng(0)
    for leaf in (*F.parameters(), *F.variables()):
        leaf.value = rng.uniform(0.5, 1.5, leaf.shape)
    names[found[3]].value = np.zeros(names[found[3]].size)
    names[found[3]].value = -equation.value
    node = next(n for n in every_node(F) if str(n) == found[1])
    np.testing.assert_allclose(new.value, node.value, rtol=1e-14)


def every_node(F):
    return [F, *(n for a in F.args for n in every_node(a))]


@pytest.mark.parametrize(
    ("product", "parameter"),
    [
        (lambda s, v, c: s.J_n @ s.M @ v, "cp.Parameter((2, 4), name='data') for s.J_n @ s.M"),
        (lambda s, v, c: c * c * v, "cp.Parameter((), name='data') for cp.multiply(c, c)"),
        (lambda s, v, c: (s.J_n @ v) / c, "cp.Parameter((), name='data') for 1 / c"),
    ],
)
def test_a_product_of_data_that_is_no_vector_is_a_parameter_of_the_formulation(product, parameter):
    s, c = ContactSymbols(4, 0, 2, 1), cp.Parameter(name="c")
    message = refusal(equals, product(s, free("v", 4), c))
    assert_names(message, parameter, "Hooks(given, own=(data,))", "given(core, memory, own, numbers)")


def test_a_product_of_data_in_a_bound_is_a_parameter_of_the_formulation():
    s, k = ContactSymbols(4, 0, 2, 1), cp.Parameter(2, name="k")
    for state in (lambda F: box("q", 2, -F, 0), lambda F: friction_cone(F, 2, 1)):
        message = refusal(state, cp.multiply(s.mu, k))
        assert_names(
            message, "data = cp.Parameter(2, name='data') for cp.multiply(s.mu, k)", "Hooks(given, own=(data,))"
        )


def test_products_of_data_and_constants_are_data():
    s, p = ContactSymbols(4, 0, 2, 1), nonneg("p_n", 2)
    C = cp.Constant(np.arange(1.0, 5.0).reshape(2, 2), name="C")
    for F in (C @ s.mu, cp.multiply(3 * s.mu, p) / 2, (C @ s.J_n) @ free("v", 4), cp.multiply([1.0, 2.0], C @ s.mu)):
        equals(F)
    limit = 2 * cp.multiply(np.array([1.0, 3.0]), C @ s.mu)
    c = compile_plain(p=box("p_n", 2, 0, limit))
    work, theta = c.workspace(), c.theta.copy()
    c.views(theta)["mu"][:] = 0.5, 0.25
    stamp(theta, work)
    np.testing.assert_allclose(work.upper, [2 * (0.5 + 2 * 0.25), 6 * (3 * 0.5 + 4 * 0.25)])


def test_relations_are_between_vectors():
    assert_names(refusal(equals, cp.Parameter((2, 3), name="A")), "(2, 3)")


# Unknowns


@pytest.mark.parametrize("size", [0, -1])
def test_an_unknown_has_entries(size):
    for make in (free, nonneg, lambda name, size: box(name, size, 0, 1)):
        assert_names(refusal(make, "gamma", size), "'gamma'", str(size))
    assert_names(refusal(friction_cone, 0.5, size, 2), "'p_n'")
    assert_names(refusal(friction_cone, 0.5, 1, size), "'p_t'")


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_bound_is_data(side):
    p_n, w = nonneg("p_n", 2), cp.Parameter(2, name="w")
    others = {"lower": -1.0, "upper": 1.0}
    for bound in (p_n, 0.5 * p_n, w + cp.multiply(w, p_n)):
        message = refusal(box, "gamma", 2, **(others | {side: bound}))
        assert_names(message, side, "'gamma'", "'p_n'", "data")
    for bound in (np.zeros(3), cp.Parameter(3, name="w")):
        message = refusal(box, "gamma", 2, **(others | {side: bound}))
        assert_names(message, side, "'gamma'", f"{bound.size} entries", "2")
    message = refusal(box, "gamma", 2, **(others | {side: np.zeros((2, 2))}))
    assert_names(message, side, "'gamma'", "(2, 2)", "vectors")
    for bound in (0.0, others[side] * np.inf, [0.0, 1.0], w, -w, cp.Parameter(name="c")):
        box("gamma", 2, **(others | {side: bound}))


@pytest.mark.parametrize(("lower", "upper"), [(1.0, 0.0), (np.nan, 1.0), ([0.0, 2.0], [1.0, 1.0])])
def test_bounds_out_of_order_are_refused(lower, upper):
    assert_names(refusal(box, "gamma", 2, lower, upper), "'gamma'", "lower <= upper")


def test_friction_coefficients_are_data_of_the_right_size():
    for mu, words in [(np.zeros(3), "3 entries"), (nonneg("p_n", 2), "'p_n'")]:
        assert_names(refusal(friction_cone, mu, 2, 2), "friction coefficient", words)


def test_law_of_a_cone():
    cone = friction_cone(0.5, 1, 2)
    message = refusal(complements, (cone.n, cone.t), cone, law="tresca")
    assert_names(message, "'tresca'", "cone", "coulomb")
