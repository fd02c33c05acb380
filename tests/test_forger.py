"""Forged certificates prove nothing false: a short stretch of `tests.forger`, and the definitions it judges by."""

import random
from collections import Counter

import pytest

from tests import definitions
from tests.forger import ABOUT, CHANGES, Forger, has_solution
from tests.inequalities import solvable_between
from workbench.certificates.problem import KINDS


@pytest.mark.parametrize(("count", "certificates"), [(1000, 12), pytest.param(8000, 200, marks=pytest.mark.thorough)])
def test_what_is_accepted_of_forged_certificates_is_true(count, certificates):
    forger = Forger(3, certificates)
    assert {document["claims"][0]["about"] for document in forger.originals} == {*ABOUT}
    kinds = {tuple(sorted(document["problem"])) for document in forger.originals}
    # Boxes and maps have their own forgers: test_box_certificates.py, test_map_certificates.py.
    assert kinds == {fields for fields in KINDS if not {"radius", "ranges"} & set(fields)}
    for _ in range(count):
        forger.one()
    assert forger.failures == []
    assert set(forger.counts) == {*CHANGES, "claim name", "verdict", "problem", "two at a time"}
    total = sum(forger.counts.values(), Counter())
    assert total["refused"] > 0.8 * count
    assert total["accepted, true"] > 0.02 * count
    assert total["accepted, undecided"] < 0.005 * count


def test_the_oracle_of_bounded_problems_agrees_with_the_search_of_all_right_hand_sides():
    """Unique for every q makes every q solvable; where it is not, some q has none or two."""
    chance, seen = random.Random(2), set()
    for _ in range(60):
        n = chance.choice((1, 2))
        M = [[chance.randint(-2, 2) for _ in range(n)] for _ in range(n)]
        kinds = [chance.choice(("free", "bounded", "fixed")) for _ in range(n)]
        low = [None if kind == "free" else 0 for kind in kinds]
        high = [0 if kind == "fixed" else None for kind in kinds]
        free, bounded = ([i for i in range(n) if kinds[i] == kind] for kind in ("free", "bounded"))
        unique = definitions.is_unique(M, free, bounded)
        seen.add(unique)
        if unique:
            for _ in range(5):
                assert solvable_between(M, [chance.randint(-3, 3) for _ in range(n)], low, high)
    assert seen == {True, False}
    assert not definitions.is_unique([[-1, 0], [0, 1]], [], [0, 1])
    assert definitions.is_unique([[-1, 0], [0, 1]], [0], [1])
    assert definitions.is_unique([[0, 1], [1, 0]], [0, 1], [])
    assert not definitions.is_unique([[0, 1], [1, 0]], [0], [1])


def test_the_oracle_of_distances_has_the_known_ones():
    for M, sigma in (([[2]], 2), ([[-2, 0], [0, 3]], 2), ([[1, 1], [1, 1]], 0), ([[3, 4], [-4, 3]], 3)):
        assert definitions.encloses(M, sigma, sigma)
        assert definitions.encloses(M, sigma, None)
        assert not definitions.encloses(M, sigma + 1, None)
        assert sigma == 0 or not definitions.encloses(M, 0, sigma - 1)
    assert not definitions.encloses([[2]], 0, -2)


@pytest.mark.parametrize(
    ("W", "q", "mu", "coulomb", "cone"),
    [
        ([[1, 0], [0, 1]], [1, 5], 0.5, True, True),
        ([[1, 0], [0, 1]], [-1, 5], 0.5, True, True),
        ([[0, 0], [0, 0]], [1, 5], 0.5, True, False),
        ([[0, 0], [0, 0]], [-1, 0], 0.5, False, False),
        ([[-1, 0], [0, -1]], [-1, 0], 0.5, False, False),
        # The contact opens, and the cone problem's velocity leaves K* unless r_t stops the sliding.
        ([[0, 0], [0, 1]], [1, 5], 1, True, True),
        # Painleve: at u_n = q_n - W_nt mu r_n < 0 sliding has no impulse that opens the contact.
        ([[1, 2], [2, 5]], [-1, -9], 1, True, True),
        ([[1, -3], [-3, 9]], [-1, -9], 1, False, False),
    ],
)
def test_the_oracle_of_planar_friction_has_the_known_answers(W, q, mu, coulomb, cone):
    problem = {"W": [[str(x) for x in row] for row in W], "q": [str(x) for x in q], "mu": [str(mu)], "d": 1}
    assert has_solution(problem, coulomb=True) == coulomb
    assert has_solution(problem, coulomb=False) == cone
