"""Bridges between kinds of problems: a solution of the image, carried back, solves the problem, and starts go there."""

import numpy as np
import pytest

from tests.block_problems import random_blocks
from tests.test_global_problem import plates
from workbench.algorithms import ROUND_OFF, find_solver
from workbench.problems.bridges import BRIDGES, de_saxce
from workbench.problems.bridges.dense import of_one_kind
from workbench.problems.bridges.factored import factor
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.examples import examples
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import APART, ASSOCIATED, COULOMB, DISC, NO_CONE, Sets
from workbench.support.errors import DataError

(TO_BLOCKS,) = (bridge for bridge in BRIDGES if bridge.name == "contacts and bilateral rows as blocks")

BY_NAME = {bridge.name: bridge for bridge in BRIDGES}
SEEDS, ENOUGH = range(4), 1e-9


def symmetric(rng, n, rank=None):
    J = rng.normal(size=(n, n + 2 if rank is None else rank))
    return J @ J.T


def definite(rng, n):
    """Positive definite, not symmetric."""
    K = rng.normal(size=(n, n))
    return symmetric(rng, n) + K - K.T


def bounded(rng, n, free=True):
    """An MLCP with every kind of bounds."""
    sides = rng.integers(0 if free else 1, 5, n)
    lower = np.where(np.isin(sides, (1, 3, 4)), -rng.random(n), -np.inf)
    upper = np.where(np.isin(sides, (2, 3)), rng.random(n), np.where(sides == 4, lower, np.inf))
    if free:
        lower[0], upper[0] = -np.inf, np.inf
    lower[-1], upper[-1] = -1.0, 1.0
    return MLCP(definite(rng, n), 9.0 * rng.normal(size=n), lower, upper)


def cones(rng, r, law, d=1):
    W, q = symmetric(rng, r * (1 + d)), rng.normal(size=r * (1 + d))
    return law(W, q, np.append(0.7, rng.choice([0.0, 0.3, 1.2], r - 1)), d)


def mixed(rng, count, laws, d=2, nonnegative=True, matrix=symmetric):
    """Cones under some of the laws and intervals, their unknowns in any order."""
    kinds = rng.choice([NO_CONE, *laws], count)
    m = np.where(kinds == NO_CONE, rng.integers(1, 3, count), 1 + d)
    n, numbers = int(m.sum()), np.where(kinds == NO_CONE, 0, 1)
    first, at = (np.append(0, np.cumsum(x)) for x in (m, numbers))
    sets = Sets(kinds, first, rng.permutation(n), at)
    mu = rng.choice([0.0, 0.4], int(at[-1]))
    if nonnegative:
        return MixedNCP(matrix(rng, n), rng.normal(size=n), 0.0, np.inf, mu, sets)
    given = bounded(rng, n)
    return MixedNCP(matrix(rng, n), given.q, given.lower, given.upper, mu, sets)


def over_bodies(rng, size, law):
    problem = plates(rng, 1 + size % 2, 2, 1 + size % 2, hinges=size % 2)
    return law(problem)


MADE = {
    "its sets one by one": (
        bounded, lambda rng, n: cones(rng, n, ConicQP, 2), lambda rng, n: cones(rng, n, CoulombNCP),
    ),
    "intervals as bounds": (
        lambda rng, n: mixed(rng, n, [], matrix=definite), lambda rng, n: mixed(rng, n, [], nonnegative=False),
    ),
    "free unknowns eliminated": (
        lambda rng, n: bounded(rng, n + 1), lambda rng, n: mixed(rng, n + 4, [COULOMB], nonnegative=False),
    ),
    "equations solved": (lambda rng, n: MLCP(definite(rng, n), rng.normal(size=n), -np.inf, np.inf),),
    "bounds with multipliers": (lambda rng, n: bounded(rng, n + 1, free=False),),
    "cones by their generators as an LCP": (
        lambda rng, n: cones(rng, n, ConicQP),
        lambda rng, n: ConicQP(symmetric(rng, 3 * n, 2 * n), symmetric(rng, 3 * n) @ np.ones(3 * n), np.zeros(n), 2),
    ),
    "Coulomb's law in the plane as an LCP": (
        lambda rng, n: cones(rng, n, CoulombNCP),
        lambda rng, n: CoulombNCP(definite(rng, 3 * n), rng.normal(size=3 * n), np.zeros(n), 2),
    ),
    "friction cones with associated flow": (
        lambda rng, n: mixed(rng, n, [ASSOCIATED]), lambda rng, n: mixed(rng, n, [], d=1),
    ),
    "friction cones under Coulomb's law": (
        lambda rng, n: mixed(rng, n, [COULOMB], d=1), lambda rng, n: mixed(rng, n, [], matrix=definite),
    ),
    "W formed": (
        lambda rng, n: over_bodies(rng, n, GlobalConicQP), lambda rng, n: over_bodies(rng, n, GlobalCoulombNCP),
    ),
    "contacts and bilateral rows as blocks": (
        lambda rng, n: over_bodies(rng, n, GlobalConicQP), lambda rng, n: over_bodies(rng, n, GlobalCoulombNCP),
    ),
    "friction cones over (M, H)": (
        lambda rng, n: random_blocks(rng, ["coulomb"], n), lambda rng, n: random_blocks(rng, ["ccp"], n),
        lambda rng, n: TO_BLOCKS.forward(examples(n)["Coulomb over (M, H)"]).problem,
    ),
    "L W R + N formed": (
        lambda rng, n: random_blocks(rng, ["coulomb", "ccp", "limit", "dry"], n),
        lambda rng, n: random_blocks(rng, ["box", "planar"], n),
    ),
    "W = J J^T over unit masses": (
        lambda rng, n: mixed(rng, n, [COULOMB, ASSOCIATED]),
        lambda rng, n: mixed(rng, n + 2, [ASSOCIATED], nonnegative=False),
    ),
}  # fmt: skip
"""Bridge: problems to which it applies, of a random generator and a size."""


def test_every_bridge_is_tested_and_named_once():
    assert list(MADE) == [bridge.name for bridge in BRIDGES]
    assert len(BY_NAME) == len(BRIDGES)


@pytest.mark.parametrize(("name", "make"), [(name, make) for name, some in MADE.items() for make in some])
def test_a_solution_of_the_image_carried_back_solves_the_problem(name, make):
    """To round-off, as the image is solved; and the start that a solution makes solves the image."""
    bridge = BY_NAME[name]
    for seed in SEEDS:
        problem = make(np.random.default_rng(seed), 1 + 2 * seed)
        assert bridge.applies(problem) is None
        image = bridge.forward(problem)
        assert image.problem.kind in bridge.leads[problem.kind]
        found = find_solver(ROUND_OFF[image.problem.kind]).solve(image.problem)
        assert found.verified
        z = image.back(found.z)
        assert z.shape == (problem.size,)
        assert problem.residual(z) <= ENOUGH
        assert image.problem.residual(image.there(z)) <= ENOUGH
        # What is no solution of the image is none of the problem.
        if image.problem.size:
            assert problem.residual(image.back(found.z + 0.1)) > 1e-6


def test_bridges_that_round_nothing_leave_the_matrix_as_it_is():
    rng = np.random.default_rng(7)
    for bridge in (bridge for bridge in BRIDGES if bridge.exact):
        problem = MADE[bridge.name][0](rng, 4)
        image = bridge.forward(problem)
        assert np.array_equal(image.problem.M, problem.M)
        assert np.array_equal(image.problem.q, problem.q)


def test_unknowns_as_cones_keep_a_matrix_definite():
    problem = mixed(np.random.default_rng(5), 4, [])
    W = BY_NAME["friction cones with associated flow"].forward(problem).problem.M
    assert np.linalg.eigvalsh(W)[0] >= np.linalg.eigvalsh(problem.M)[0] - 1e-12


def ellipse(directions):
    """One cone with a coefficient for every direction."""
    n = 1 + directions.size
    sets = Sets([COULOMB], [0, n], np.arange(n), [0, n - 1])
    return MixedNCP(symmetric(np.random.default_rng(0), n), np.full(n, -1.0), 0.0, np.inf, directions, sets)


def test_an_elliptic_cone_is_a_round_one_in_other_units():
    problem = ellipse(np.array([0.2, 0.7]))
    image = BY_NAME["friction cones under Coulomb's law"].forward(problem)
    found = find_solver("coulomb-exact").solve(image.problem)
    assert problem.residual(image.back(found.z)) <= ENOUGH
    assert image.problem.mu.tolist() == [0.7]


def test_cones_and_discs_of_one_unknown_are_intervals():
    sets = Sets([COULOMB, DISC, NO_CONE], np.arange(4), [2, 0, 1], [0, 1, 2, 2])
    problem = MixedNCP(np.eye(3), np.array([-3.0, 0.5, 0.5]), -np.inf, 1.0, [0.7, 0.2], sets)
    image = BY_NAME["intervals as bounds"].forward(problem)
    assert image.problem.lower.tolist() == [-0.2, -np.inf, 0.0]
    assert image.problem.upper.tolist() == [0.2, 1.0, np.inf]
    z = image.back(find_solver("proximal").solve(image.problem).z)
    assert z == pytest.approx([0.2, -0.5, 0.0])
    assert problem.residual(z) <= ENOUGH


def one_set(cone, m=3, mu=(0.5,)):
    return MixedNCP(np.eye(m), -np.ones(m), -np.inf, np.inf, mu, Sets([cone], [0, m], np.arange(m), [0, len(mu)]))


RNG = np.random.default_rng(3)
REFUSED = [
    ("cones by their generators as an LCP", cones(RNG, 2, ConicQP, 2), "no finite set"),
    ("Coulomb's law in the plane as an LCP", cones(RNG, 2, CoulombNCP, 2), "no finite set"),
    ("intervals as bounds", one_set(COULOMB), "no finite set of faces"),
    ("intervals as bounds", one_set(DISC, 2), "no finite set of faces"),
    ("intervals as bounds", one_set(COULOMB, 2), "not a product of intervals"),
    ("free unknowns eliminated", MLCP(np.ones((3, 3)), np.ones(3), [-np.inf, -np.inf, 0], np.inf), "singular"),
    ("free unknowns eliminated", LCP(np.eye(2), np.ones(2)), "no unknown is free"),
    ("free unknowns eliminated", one_set(COULOMB), "no unknown is free"),
    ("equations solved", bounded(RNG, 4), "not determined by equations"),
    ("equations solved", MLCP(np.ones((2, 2)), np.ones(2), -np.inf, np.inf), "singular"),
    ("bounds with multipliers", bounded(RNG, 4), "free"),
    ("bounds with multipliers", MLCP(np.eye(2), np.ones(2), 0.0, np.inf), "already"),
    ("bounds with multipliers", MLCP(np.eye(2), np.ones(2), 1.0, 1.0), "fixed"),
    ("friction cones with associated flow", mixed(RNG, 3, [ASSOCIATED], matrix=definite), "not symmetric"),
    ("friction cones with associated flow", one_set(COULOMB), "no associated flow"),
    ("friction cones under Coulomb's law", one_set(ASSOCIATED), "under Coulomb"),
    ("friction cones under Coulomb's law", one_set(COULOMB, 6), "one direction, or all two"),
    ("friction cones under Coulomb's law", one_set(DISC), "a disc"),
    ("friction cones under Coulomb's law", one_set(APART), "torsion"),
    ("friction cones under Coulomb's law", ellipse(np.array([0.0, 0.7])), "none in the other"),
    ("friction cones under Coulomb's law", mixed(RNG, 4, [COULOMB], nonnegative=False), "other than z >= 0"),
    ("friction cones over (M, H)", random_blocks(RNG, ["limit"]), "one law"),
    ("friction cones over (M, H)", examples()["CCP of blocks"], "bounds"),
    ("friction cones over (M, H)", random_blocks(RNG, ["rolling"]), "one direction, or all two"),
    ("W = J J^T over unit masses", mixed(RNG, 3, [COULOMB], matrix=definite), "not symmetric positive semidefinite"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "problem", "reason"), REFUSED)
def test_a_bridge_says_why_it_does_not_apply(name, problem, reason):
    assert problem.kind in BY_NAME[name].leads
    assert reason in BY_NAME[name].applies(problem)


def test_sparse_matrices_are_not_made_dense():
    from scipy import sparse

    for law in (ConicQP, CoulombNCP):
        problem = law(sparse.eye_array(4, format="csr"), -np.ones(4), np.full(2, 0.5), 1)
        for bridge in BRIDGES:
            if problem.kind in bridge.leads:
                assert "sparse" in bridge.applies(problem)


def test_a_factor_is_one_of_w_and_wants_it_semidefinite():
    rng = np.random.default_rng(1)
    W = symmetric(rng, 6, rank=4)
    J = factor(W)
    assert J.shape == (6, 4)
    np.testing.assert_allclose(J @ J.T, W, atol=1e-12)
    assert factor(np.zeros((2, 2))).shape == (2, 1)
    with pytest.raises(DataError, match="semidefinite"):
        factor(-W)


def test_blocks_of_one_kind_are_one_dense_problem_and_others_are_none():
    rng = np.random.default_rng(2)
    kinds = {"coulomb": CoulombNCP, "ccp": ConicQP, "limit": LCP, "dry": MLCP}
    assert {name: type(of_one_kind(random_blocks(rng, [name])).problem) for name in kinds} == kinds
    with pytest.raises(DataError, match="several kinds"):
        of_one_kind(random_blocks(rng, ["rolling"]))


@pytest.mark.parametrize("seed", SEEDS)
def test_with_the_shift_of_its_solution_coulombs_law_is_a_ccp(seed):
    """De Saxce's, however the problem is held; a contact that slides has a shift."""
    rng = np.random.default_rng(seed)
    problems = [
        CoulombNCP(symmetric(rng, 9), rng.normal(size=9), np.full(3, 0.4), 2),
        GlobalCoulombNCP(plates(rng, 1, 3)),
        random_blocks(rng, ["coulomb", "limit", "planar"], 5),
        mixed(rng, 5, [COULOMB]),
    ]
    for problem in problems:
        z = find_solver(ROUND_OFF[problem.kind]).solve(problem).z
        assert de_saxce.is_shifted(problem)
        flowing = de_saxce.associated(problem, de_saxce.shift(problem, z))
        assert not de_saxce.is_shifted(flowing)
        assert problem.residual(z) <= ENOUGH
        assert flowing.residual(z) <= 1e3 * ENOUGH


def test_a_problem_without_coulombs_law_has_no_shift():
    rng = np.random.default_rng(4)
    some = [
        cones(rng, 2, ConicQP),
        LCP(np.eye(2), np.ones(2)),
        mixed(rng, 3, [ASSOCIATED]),
        random_blocks(rng, ["ccp"]),
    ]
    assert not any(map(de_saxce.is_shifted, some))
    W = definite(rng, 4)
    with pytest.raises(DataError, match="symmetric"):
        de_saxce.associated(CoulombNCP(W, np.ones(4), np.ones(2), 1), np.zeros(4))
