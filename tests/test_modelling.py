"""Misuse of the modelling language: every refusal names the culprit, and says what would be right."""

import re
from dataclasses import replace
from typing import Any, Literal

import cvxpy as cp
import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.assemble.assembly import stamp
from workbench.assemble.find import compiled
from workbench.builtin.formulations import FORMULATIONS
from workbench.errors import DataError, ModellingError, UnknownNameError
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import never_again
from workbench.language.modelling import (
    Complements,
    ConeComplements,
    Declaration,
    Equals,
    Hooks,
    box,
    complements,
    declare,
    equals,
    free,
    friction_cone,
    nonneg,
)
from workbench.language.sets import Nonneg
from workbench.mechanics.contact import ContactSystem
from workbench.problems.solution import Status
from workbench.step.one_step import solve_system
from workbench.step.sweep import sweep

NAMED = {f.name: f for f in FORMULATIONS}


def refusal(function, *args, error=ModellingError, **kwargs) -> str:
    """The message of the refusal; always one line."""
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


def assert_names(message: str, *culprits: str) -> None:
    for culprit in culprits:
        assert culprit in message


def plain(F=None, p=None, hooks=None, **recover):
    """A formulation of the frictionless kind with one thing changed: the row F(s, v, p), the partner, the recovery."""

    @formulation("plain", friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        v, partner = free("v", s.n), p or nonneg("p_n", s.r)
        row = F(s, v, partner) if F else s.un(v, partner)
        back = {key: value(v, partner) for key, value in recover.items()}
        return declare(
            equals(s.balance(v, partner)),
            *s.bilateral(v),
            complements(row, partner),
            recover=dict(v=v, p_n=partner) | back,
            hooks=hooks,
        )

    return build


def compile_plain(F=None, p=None, hooks=None, **recover):
    return compiled(plain(F, p, hooks, **recover), 4, 0, 2, 1)


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
    assert_names(message, shown, "free, nonneg, box or friction_cone")


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


@pytest.mark.parametrize("value", [None, [4], float("inf"), "four"])
def test_an_option_of_the_wrong_type_is_refused(value):
    assert_names(refusal(NAMED["anitescu-potra"].with_options, directions=value), "directions", "a whole number")


def test_law_of_a_cone():
    cone = friction_cone(0.5, 1, 2)
    message = refusal(complements, (cone.n, cone.t), cone, law="tresca")
    assert_names(message, "'tresca'", "cone", "coulomb")


# The declaration as a whole


def test_a_declaration_is_made_of_relations():
    v = free("v", 2)
    message = refusal(declare, equals(v), v >= 0, recover=dict(v=v, p_n=v))
    assert_names(message, "Inequality", "equals", "complements")


def test_an_unknown_has_one_partner():
    v, p = free("v", 2), nonneg("gamma", 2)
    message = refusal(declare, equals(v - p), complements(v, p), complements(p, p), recover=dict(v=v, p_n=p))
    assert_names(message, "'gamma'", "two relations")
    cone = friction_cone(0.5, 1, 1, names=("gamma_n", "gamma_t"))
    relation = complements((cone.n, cone.t), cone)
    message = refusal(declare, relation, relation, recover=dict(v=cone.n, p_n=cone.n))
    assert_names(message, "'gamma_n'", "two relations")


@pytest.mark.parametrize("make", [nonneg, lambda name, size: box(name, size, 0, 1)])
def test_a_restricted_unknown_needs_a_relation(make):
    v, p, q = free("v", 2), nonneg("p", 2), make("gamma", 2)
    message = refusal(declare, equals(v - q), complements(v, p), recover=dict(v=v, p_n=p))
    assert_names(message, "'gamma'", "no relation")


def test_a_bare_cvxpy_variable():
    x, p = cp.Variable(2, name="gamma"), nonneg("p", 2)
    message = refusal(declare, equals(x - p), complements(x, p), recover=dict(v=x, p_n=p))
    assert_names(message, "'gamma'", "bare", "free, nonneg, box or friction_cone")


@pytest.mark.parametrize(("entries", "rows"), [(3, 2), (1, 3), (3, 0)])
def test_free_unknowns_and_equations_match(entries, rows):
    v, w, p = free("v", entries), free("w", 1), nonneg("p", 2)
    A, B = np.ones((rows, entries)), np.ones((2, entries))
    equations = [equals(A @ v)] if rows else []
    F = B @ v + np.ones((2, 1)) @ w
    message = refusal(declare, *equations, complements(F, p), recover=dict(v=v, p_n=p))
    assert_names(message, f"v ({entries})", "w (1)", f"{entries + 1} entries", f"{rows} rows")


def test_equations_without_free_unknowns():
    p = nonneg("p", 2)
    message = refusal(declare, equals(p), complements(p, p), recover=dict(v=p, p_n=p))
    assert_names(message, "none", "0 entries", "2 rows")


@pytest.mark.parametrize("kinds", [(free, free), (free, nonneg), (nonneg, free), (nonneg, nonneg)])
def test_two_unknowns_of_one_name(kinds):
    x, y = (make("gamma", 2) for make in kinds)
    p = nonneg("p", 2)
    relations = [complements(F, u) for F, u in ((x - p, x), (y + p, y), (x + y, p))]
    assert_names(refusal(declare, *relations, recover=dict(v=x, p_n=p)), "'gamma'", "two")


def test_two_unknowns_of_one_name_in_a_cone():
    cone, p = friction_cone(0.5, 1, 1, names=("gamma", "gamma")), nonneg("p", 1)
    relations = [complements((cone.n, cone.t), cone), complements(cone.n, p)]
    assert_names(refusal(declare, *relations, recover=dict(v=p, p_n=p)), "'gamma'", "two")


def test_what_recover_needs():
    v, p, other = free("v", 2), nonneg("p", 2), free("gamma", 2)

    def with_recover(**recover):
        @formulation("plain", friction="none", source="this test")
        def build(s: ContactSymbols) -> Declaration:
            return declare(equals(v - p), complements(v, p), recover=recover)

        return build.declaration(2, 0, 2, 1)

    with_recover(v=v, p_n=p, p_t=np.zeros(2), p_b=2 * v)
    for recover in ({}, {"v": v}, {"p_n": p}, {"v": v, "p_t": p}):
        message = refusal(with_recover, **recover)
        assert_names(message, "recover", "v and p_n", *recover)
    assert_names(refusal(with_recover, v=v, p_n=p, beta=p), "'beta'")
    assert_names(refusal(with_recover, v=v + other, p_n=p), "recover['v']", "'gamma'")
    assert_names(refusal(with_recover, v=v, p_n=p, p_t=cp.Variable(2, name="bare")), "recover['p_t']", "'bare'")


# Found when a size is compiled


@pytest.mark.parametrize(("key", "length"), [("v", 4), ("p_n", 2), ("p_t", 2), ("p_b", 0)])
def test_recovered_sizes(key, length):
    wrong = {key: lambda v, p: np.ones((3, 2)) @ p}
    assert_names(refusal(compile_plain, **wrong), f"recover['{key}']", "3 entries", str(length))


def test_a_parameter_without_value():
    c = cp.Parameter(2, name="compliance")

    def row(s, v, p):
        return s.un(v, p) + cp.multiply(c, p)

    message = refusal(compile_plain, row)
    assert_names(message, "'compliance'", ".value", "Hooks(own=...)")
    compile_plain(row, hooks=Hooks(own=(c,)))
    c.value = np.ones(2)
    compile_plain(row)


def test_a_bound_without_value():
    limit = cp.Parameter(2, name="limit")
    assert_names(refusal(compile_plain, p=box("p_n", 2, 0, limit)), "'limit'", "Hooks(own=...)")


def test_a_cone_stands_alone():
    @formulation("cone and more", friction="a mixture", source="this test")
    def build(s: ContactSymbols, beside: Literal["nothing", "orthant", "cone"] = "nothing") -> Declaration:
        v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d)
        z, K = nonneg("z", 1), friction_cone(s.mu, s.r, s.d, names=("z_n", "z_t"))
        others = {"nothing": [], "orthant": [complements(z, z)], "cone": [complements((K.n, K.t), K)]}
        cone = complements((s.un(v, p.n), s.ut(v, p.t)), p)
        return declare(equals(s.balance(v, p.n, p.t)), cone, *others[beside], recover=dict(v=v, p_n=p.n, p_t=p.t))

    assert compiled(build, 4, 0, 2, 1).kind == "conic QP"
    for beside in ("orthant", "cone"):
        assert_names(refusal(compiled, build.with_options(beside=beside), 4, 0, 2, 1), "cone", "beside", "alone")


# Options


def test_an_unknown_option_lists_the_known():
    for f in FORMULATIONS:
        message = refusal(f.with_options, error=UnknownNameError, gamma=1)
        assert_names(message, f.name, "'gamma'", *(f.options or ["none"]))


@pytest.mark.parametrize(
    ("name", "option", "value", "right"),
    [
        ("stewart-trinkle", "axes", "sideways", ["fixed", "body", "sliding"]),
        ("box", "bounds", "none", ["last", "iterated", "coupled"]),
        ("phantom-inertia", "lateral", 3, ["none", "regularised"]),
        ("stewart-trinkle", "directions", "many", ["whole number"]),
        ("stewart-trinkle", "directions", 4.5, ["whole number"]),
        ("hybrid", "k_t", "stiff", ["a number"]),
        ("hybrid", "k_t", float("nan"), ["a number"]),
        ("phantom-inertia", "rho", "heavy", ["a number", "auto"]),
    ],
)
def test_a_wrong_option_value_lists_what_is_right(name, option, value, right):
    message = refusal(NAMED[name].with_options, **{option: value})
    assert_names(message, name, option, str(value), *right)


@pytest.mark.parametrize(
    ("name", "option", "value", "right"),
    [
        ("stewart-trinkle", "directions", 3, "even"),
        ("stewart-trinkle", "directions", -4, "even"),
        ("discrete-velocity", "directions", 2, "even"),
        ("phantom-inertia", "directions", 6, "multiple of 4"),
        ("phantom-inertia", "rho", 0.0, "positive"),
        ("phantom-inertia", "rho", float("inf"), "positive"),
        ("hybrid", "k_t", -1.0, "positive"),
    ],
)
def test_a_value_of_the_right_type_that_makes_no_model(name, option, value, right):
    f = NAMED[name].with_options(**{option: value})
    assert_names(refusal(f.declaration, 6, 0, 1, 2), option, str(value), right)


def test_options_as_text_are_the_options_as_values():
    text, value = ({"directions": kind("8"), "rho": kind("0.5")} for kind in (str, float))
    one, other = (NAMED["phantom-inertia"].with_options(**chosen) for chosen in (text, value))
    assert one.options == other.options
    assert one.label == other.label
    assert isinstance(one.options["directions"], int)
    assert NAMED["phantom-inertia"].with_options(rho="auto").label == "phantom-inertia"


def test_a_formulation_needs_contacts():
    assert_names(refusal(NAMED["frictionless"].declaration, 4, 0, 0, 2), "0 contacts")


def test_hooks_are_kept_with_the_declaration():
    hooks = Hooks(again=never_again, numbers=(1.0, 2.0))
    assert compile_plain(hooks=hooks).declaration.hooks is hooks
    assert compile_plain().declaration.hooks == Hooks()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("M", "heavy"),
        ("M", [[1.0, 2.0], [3.0]]),
        ("M", 1j * np.eye(3)),
        ("h", None),
        ("h", np.nan),
        ("v_th", -1.0),
        ("v_th", np.nan),
        ("J_b", 0.5),
        ("J_b", np.ones(3)),
        ("mu", [0.1, 0.2]),
        ("f", [np.inf, 0.0, 0.0]),
    ],
)
def test_contact_data_that_is_no_data(name, value):
    data = dict(M=np.eye(3), v=np.zeros(3), f=np.zeros(3), h=1e-2, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)
    assert_names(refusal(ContactSystem, error=DataError, **(data | {name: value})), name)


BLOCK = dict(M=np.eye(3), v=[0.0, 0, -1], f=np.zeros(3), h=0.01, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)


def test_gaps_choose_the_law_that_knows_them():
    """phi = 4 mm let the block fall at 0.4 m/s: phi/h = 0.4."""
    lemke = find_solver("lemke")
    laws = {}
    for given in (dict(), dict(phi=4e-3), dict(phi=4e-3, normal="gap"), dict(phi=-4e-3, normal="moreau")):
        system = ContactSystem(**BLOCK, **given)
        laws[system.law] = solve_system(NAMED["frictionless"], system, lemke)[0].v[2]
        assert replace(system, phi=0.0).law == (given.get("normal") or "velocity")
    assert laws == {"velocity": 0.0, "gap": pytest.approx(-0.4), "moreau": 0.0}
    assert replace(ContactSystem(**BLOCK), phi=4e-3).law == "gap"
    assert ContactSystem(**BLOCK, normal="velocity").law == "velocity"


def test_gaps_without_effect_are_refused():
    message = refusal(ContactSystem, **BLOCK, phi=[4e-3], normal="velocity", error=DataError)
    assert_names(message, "phi = 0.004", "normal='velocity'", "normal='gap'", "moreau", "leave phi out")


def test_swept_gaps_choose_the_law_too():
    v = sweep(NAMED["frictionless"], ContactSystem(**BLOCK), phi=[0.0, 4e-3, 1.0]).v[:, 2]
    np.testing.assert_allclose(v, [0.0, -0.4, -1.0], atol=1e-14)
    explicit = ContactSystem(**BLOCK, normal="velocity")
    message = refusal(sweep, NAMED["frictionless"], explicit, phi=[0.0, 4e-3], error=DataError)
    assert_names(message, "phi = 0.004", "normal='gap'")
    assert (sweep(NAMED["frictionless"], explicit, phi=[0.0, 0.0]).v == 0).all()


def test_no_answer_is_nan():
    """A refusal must not look like a body at rest."""
    data = dict(M=np.eye(3), v=np.ones(3), f=np.zeros(3), h=1e-2, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)
    answer, solution = solve_system(NAMED["coulomb"], ContactSystem(**data), find_solver("lemke"))
    assert solution.claimed is Status.REFUSED
    assert np.isnan(answer.v).all()
    assert np.isnan(answer.p_n).all()


def test_unequal_relaxation_does_not_survive_turned_axes():
    data = dict(M=np.eye(3), v=np.ones(3), f=np.zeros(3), h=1e-2, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)
    system = ContactSystem(**data, eps_t=[0.0, 5.0])
    solve_system(NAMED["box"], system, find_solver("judice-pires"))
    turned = NAMED["box"].with_options(axes="sliding")
    message = refusal(solve_system, turned, system, find_solver("judice-pires"), error=DataError)
    assert_names(message, "eps_t", "turn")
