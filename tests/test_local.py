"""The block of one contact: what it says at any number of contacts, the declaration says; others are refused."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from workbench.builtin.formulations import FORMULATIONS
from workbench.language.assemble.local import local_block
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import box, complements, declare, equals, free, friction_cone, nonneg
from workbench.language.polygon import half_plane, polygon
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE
from workbench.support.errors import ModellingError

NAMED = {f.name: f for f in FORMULATIONS}
STEPS = [f for f in FORMULATIONS if f.name not in ("gauss-seidel", "mujoco-noslip")]
OTHERS = [
    NAMED["box"].with_options(bounds="coupled"), NAMED["stewart-trinkle"].with_options(directions=8, axes="sliding"),
    NAMED["phantom-inertia"].with_options(directions=8, lateral="regularised"),
]  # fmt: skip
ALL = [(f, d) for f in STEPS for d in (1, 2, 3, 5)] + [*product(OTHERS, (1, 2, 4))]


@pytest.mark.share(2)
@pytest.mark.parametrize(("f", "d"), ALL, ids=lambda x: getattr(x, "label", x))
def test_every_formulation_is_local_with_any_number_of_directions(f, d):
    # The comparison with the declaration at two and three contacts is made when the block is read.
    block = local_block(f, d)
    assert block.copies == (2 if f.name in ("staggered", "comfree") else 1)
    cones = {"coulomb": COULOMB, "genesis": COULOMB, "ccp": ASSOCIATED, "mujoco": ASSOCIATED, "sap": ASSOCIATED}
    assert block.cone == cones.get(f.name, NO_CONE)
    assert block.m == block.copies * (1 + d)


def test_the_block_of_coulomb_is_the_contact_itself():
    B = local_block(NAMED["coulomb"], 2).at_data(np.array([3.0, 4.0, 5.0, 0.1, 0.2, 0.3, 0.7, 1.0]))
    one, eps, b = np.eye(3), np.diag([0.1, 0.2, 0.3]), np.array([[3.0], [4.0], [5.0]])
    np.testing.assert_array_equal(B[:6], np.block([[one, eps, b], [0 * one, one, 0 * b]]))
    assert B[-1, -1] == 0.7


def test_sweeps_over_all_contacts_are_no_contact_s_own():
    with pytest.raises(ModellingError, match="'U_nn' has 4 entries at 2 contacts and 1 at one"):
        local_block(NAMED["gauss-seidel"], 2)
    with pytest.raises(ModellingError, match="mujoco-noslip is not local to its contacts"):
        local_block(NAMED["mujoco-noslip"], 2)


def own(change):
    """Frictionless contact with something added: change(s, v, p_n) gives relations and an answer."""

    @formulation("mine", friction="none", source="test")
    def mine(s: ContactSymbols):
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        relations, recover = change(s, v, p_n)
        return declare(*relations, recover=dict(v=v, p_n=p_n) | recover)

    return mine


def plain(s, v, p_n, F=0.0, *more):
    return (equals(s.balance(v, p_n)), *s.bilateral(v), complements(s.un(v, p_n) + F, p_n), *more), {}


NOT_LOCAL = {
    "each contact sees the sum of all impulses": (
        lambda s, v, p_n: plain(s, v, p_n, np.ones((s.r, s.r)) @ p_n),
        "its relations at 2 contacts are not those of one",
    ),
    "a velocity that is no contact's": (
        lambda s, v, p_n: plain(s, v, p_n, np.ones((s.r, s.n)) @ v),
        "its relations at 2 contacts are not those of one",
    ),
    "one unknown for all contacts": (
        lambda s, v, p_n: plain(s, v, p_n, 0.0, equals(free("w", 1) - 1.0)),
        "'w' has 1 entries at 2 contacts and 1 at one",
    ),
    "twice the impulse": (
        lambda s, v, p_n: (plain(s, v, p_n)[0], dict(p_n=2 * p_n)),
        "the p_n that it recovers is not the impulse of its balance",
    ),
    "no bilateral rows": (
        lambda s, v, p_n: ((equals(s.M @ v - s.b - s.J_n.T @ p_n), complements(s.un(v, p_n), p_n)), {}),
        "bilateral rows do not act on every one of its velocities",
    ),
    "half the velocity": (
        lambda s, v, p_n: (plain(s, v, p_n)[0], dict(v=0.5 * v)),
        "the v+ that it recovers is not the velocity of a balance",
    ),
    "no balance": (
        lambda s, v, p_n: ((equals(v), complements(p_n, p_n)), {}),
        "no relation holds a balance M v+ = b + J^T p",
    ),
}


@pytest.mark.parametrize("what", NOT_LOCAL)
def test_what_is_not_local_to_its_contacts_is_reported(what):
    change, why = NOT_LOCAL[what]
    with pytest.raises(ModellingError) as said:
        local_block(own(change), 1)
    assert str(said.value) == f"mine is not local to its contacts: {why}"


def test_bounds_and_coefficients_of_other_contacts_are_reported():
    def bounded(s, v, _):
        # A contact that bears at most what all coefficients together allow.
        p_n = box("p_n", s.r, 0.0, np.ones((s.r, s.r)) @ s.mu)
        return plain(s, v, p_n)[0], dict(p_n=p_n)

    def shared(s, v, _):
        p = friction_cone(np.ones((s.r, s.r)) @ s.mu, s.r, s.d)
        F = complements((s.un(v, p.n), s.ut(v, p.t)), p)
        return (equals(s.balance(v, p.n, p.t)), *s.bilateral(v), F), dict(p_n=p.n, p_t=p.t)

    for change, why in ((bounded, "bounds of 'p_n' differ"), (shared, "friction coefficients of its cone differ")):
        with pytest.raises(ModellingError) as said:
            local_block(own(change), 1)
        assert str(said.value) == f"mine is not local to its contacts: {why}"


def test_an_adhesion_is_local():
    block = local_block(own(lambda s, v, p_n: plain(s, v, p_n, 0.25)), 2)
    assert block.at_data(np.r_[1.0, np.zeros(6), 1.0])[0, -1] == 1.25


def test_a_cone_of_other_unknowns_than_the_impulses_is_refused():
    @formulation("halves", friction="cone", source="test")
    def halves(s: ContactSymbols):
        v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d)
        F = complements((s.un(v, 2 * p.n), s.ut(v, 2 * p.t)), p)
        return declare(
            equals(s.balance(v, 2 * p.n, 2 * p.t)), *s.bilateral(v), F, recover=dict(v=v, p_n=2 * p.n, p_t=2 * p.t)
        )

    with pytest.raises(ModellingError, match="scenes take a cone for these alone"):
        local_block(halves, 2)


def test_poisson_restitution_is_refused():
    with pytest.raises(ModellingError, match=r"^anitescu-potra:restitution=poisson is not local .*'kick'"):
        local_block(NAMED["anitescu-potra"].with_options(restitution="poisson"), 2)


@pytest.mark.parametrize("d", [0, 6])
def test_other_numbers_of_directions_are_refused(d):
    with pytest.raises(ModellingError, match=f"d = {d} friction directions; 1 in the plane, 2 in space, up to 5"):
        local_block(NAMED["coulomb"], d)


@pytest.mark.parametrize("d", [1, 3, 4, 5])
def test_beyond_the_plane_polygons_are_the_cross_polytope_and_the_cube(d):
    (A, E), (axes, S) = polygon(8, 2, d), half_plane(8, 2, d)
    assert A.shape == (2 * d, 4 * d)
    corners = {tuple(x) for x in A.value[:d, : 2 * d].T}
    assert corners == {tuple(sign * x) for sign in (1, -1) for x in np.eye(d)}
    np.testing.assert_array_equal(A.value[d:, 2 * d :], A.value[:d, : 2 * d])
    np.testing.assert_array_equal(E.value.T @ np.ones(4 * d), 2 * d * np.ones(2))
    np.testing.assert_array_equal(axes.value, np.eye(2 * d))
    np.testing.assert_array_equal(S.value @ [1.0, 2.0], np.repeat([1.0, 2.0], d))
    assert isinstance(A, cp.Constant)
