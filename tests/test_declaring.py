"""Misuse of a whole declaration: what relations, unknowns and recovery lack, before and after it is compiled."""

from typing import Literal

import cvxpy as cp
import numpy as np
import pytest

from tests.refusals import assert_names, compile_plain, refusal
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import never_again
from workbench.language.modelling import (
    Declaration,
    Hooks,
    box,
    complements,
    declare,
    equals,
    free,
    friction_cone,
    nonneg,
)


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
    assert_names(message, "'gamma'", "bare", "free, nonneg, box, disc or friction_cone")


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


def test_a_cone_may_stand_beside_other_sets():
    @formulation("cone and more", friction="a mixture", source="this test")
    def build(s: ContactSymbols, beside: Literal["nothing", "orthant", "cone"] = "nothing") -> Declaration:
        v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d)
        z, K = nonneg("z", 1), friction_cone(s.mu, s.r, s.d, names=("z_n", "z_t"))
        others = {"nothing": [], "orthant": [complements(z, z)], "cone": [complements((K.n, K.t), K)]}
        cone = complements((s.un(v, p.n), s.ut(v, p.t)), p)
        return declare(equals(s.balance(v, p.n, p.t)), cone, *others[beside], recover=dict(v=v, p_n=p.n, p_t=p.t))

    assert compiled(build, 4, 0, 2, 1).kind == "conic QP"
    for beside in ("orthant", "cone"):
        assert compiled(build.with_options(beside=beside), 4, 0, 2, 1).kind == "mixed NCP"


def test_hooks_are_kept_with_the_declaration():
    hooks = Hooks(again=never_again, numbers=(1.0, 2.0))
    assert compile_plain(hooks=hooks).declaration.hooks is hooks
    assert compile_plain().declaration.hooks == Hooks()
