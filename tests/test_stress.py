"""A short stretch of `tests.stress` with every test run, and the oracle by which it judges against itself."""

import random

import pytest

from tests import definitions
from tests.inequalities import solvable
from tests.stress import Stress, random_matrices, right_hand_side
from workbench.certificates.theorems import THEOREMS

pytestmark = pytest.mark.thorough


def test_no_verdict_is_false_no_claim_is_refused_and_no_damage_proves_anything_false():
    stress = Stress(5)
    for _, (_, rows) in zip(range(140), random_matrices(stress.chance), strict=False):
        stress.one(rows, right_hand_side(rows, stress.chance))
    assert stress.failures == []
    assert stress.counts["claims"] > 3000
    assert stress.counts["damaged claims refused"] > 5000
    assert stress.counts["true claims hold"] > 3000


def whole_matrices(count, seed):
    """As they are tried, in whole numbers of moderate size."""
    made = random_matrices(random.Random(seed))
    kept = (rows for kind, rows in made if kind not in ("near singular", "scaled", "decimals", "doubles"))
    return [definitions.whole(rows) for _, rows in zip(range(count), kept, strict=False)]


def test_the_oracles_classes_obey_the_theorems_and_their_definitions_at_random_vectors():
    chance, seen = random.Random(1), set()
    for M in whole_matrices(250, 2):
        n, truth = len(M), definitions.truth(M)
        seen |= set(truth.items())
        for premises, conclusion in THEOREMS:
            assert truth[conclusion] or not all(truth[name] for name in premises), (M, premises, conclusion)
        for _ in range(40):
            x = [chance.randint(-2, 2) for _ in range(n)]
            if not any(x):
                continue
            image, turned = definitions.image(M, x), definitions.image(definitions.turned(M), x)
            products, form = [u * v for u, v in zip(x, image, strict=True)], definitions.dot(x, image)
            assert form > 0 or not truth["PD"]
            assert form >= 0 or not truth["PSD"]
            assert max(products) > 0 or not truth["P"]
            assert max(products) > 0 or not any(products) or not truth["column_sufficient"]
            products_of_rows = [u * v for u, v in zip(x, turned, strict=True)]
            assert max(products_of_rows) > 0 or not any(products_of_rows) or not truth["row_sufficient"]
            if min(x) < 0:
                continue
            assert form >= 0 or not truth["copositive"]
            assert form > 0 or not truth["strictly_copositive"]
            assert (
                form or not truth["copositive_plus"] or [u + v for u, v in zip(image, turned, strict=True)] == [0] * n
            )
            assert max(v for u, v in zip(x, image, strict=True) if u) >= 0 or not truth["E0"]
            assert max(products) > 0 or not truth["E"]
            assert min(image) < 0 or any(products) or not truth["R0"]
            assert min(image) <= 0 or truth["S"]
    assert len(seen) == 2 * len(definitions.NAMES)


def test_the_oracle_counts_solutions_and_finds_the_right_hand_sides_without_one():
    chance, without = random.Random(3), 0
    for M in whole_matrices(80, 4):
        n, q = len(M), [chance.randint(-3, 3) for _ in M]
        assert bool(definitions.solution_count(M, q)) == solvable(M, q), (M, q)
        gap = definitions.uncovered_q(M)
        if gap is not None:
            without += 1
            assert definitions.solution_count(M, gap) == 0, (M, gap)
            continue
        for _ in range(5):
            w, z = ([chance.randint(0, 3) for _ in range(n)] for _ in "wz")
            feasible = [x - y for x, y in zip(w, definitions.image(M, z), strict=True)]
            assert definitions.solution_count(M, feasible) != 0, (M, feasible)
    assert 10 < without < 70
    assert definitions.solution_count([[1, 2], [2, 1]], [-3, -4]) == 3
    assert definitions.solution_count([[0, 1], [1, 0]], [0, 0]) == "infinite"
    assert definitions.rank([[1, 2], [2, 4]]) == 1
