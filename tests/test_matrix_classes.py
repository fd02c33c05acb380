"""Matrix classes: every verdict against the definition, every witness checked, every inclusion of the theory kept."""

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.inequalities import feasible, index_sets, solvable, unit
from tests.proofs import proves
from tests.verdicts import ALWAYS, exact, fractions, samples, verdicts
from workbench.engine.timing import clock
from workbench.matrices.classes import principal
from workbench.matrices.classes.matrix_classes import CLASSES, matrix_classes
from workbench.matrices.classes.sufficiency import principal_transform
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities

# The definitions, as plainly as they can be written


def minors(M) -> list[int]:
    def det(B):
        return (
            sum((-1) ** j * B[0][j] * det([row[:j] + row[j + 1 :] for row in B[1:]]) for j in range(len(B))) if B else 1
        )

    return [det([[M[i][j] for j in a] for i in a]) for a in index_sets(len(M))]


def part(M, a):
    return [[M[i][j] for j in a] for i in a]


def nonnegative(n):
    return [unit(n, i) for i in range(n)]


def semimonotone(M, strictly: bool) -> bool:
    """No index set a and x > 0 with M_aa x < 0 (<= 0)."""
    slack = 0 if strictly else -1
    return not any(
        feasible([[-x for x in row] + [slack] for row in part(M, a)] + [unit(len(a), i, -1) for i in range(len(a))])
        for a in index_sets(len(M))
    )


def copositive(M, strictly: bool) -> bool:
    """Gaddum 1958: for each principal submatrix S_aa x >= 0 (> 0) has a solution x >= 0, x != 0."""
    S = (np.array(M) + np.array(M).T).tolist()
    slack = -1 if strictly else 0
    return all(
        feasible([[*row, slack] for row in part(S, a)] + nonnegative(len(a)) + [[1] * len(a) + [-1]])
        for a in index_sets(len(M))
    )


def regular(M) -> bool:
    """No index set a with x > 0 on it, M_aa x = 0 and M x >= 0 elsewhere."""
    n = len(M)
    return not any(
        feasible(
            [[*(M[i][j] for j in a), 0] for i in range(n)]
            + [[*(-M[i][j] for j in a), 0] for i in a]
            + [unit(len(a), i, -1) for i in range(len(a))]
        )
        for a in index_sets(n)
    )


def column_sufficient(M) -> bool:
    """No signs s and support a with |x| > 0 on a, x_i (M x)_i <= 0 on a and one of them < 0."""
    for a in index_sets(len(M)):
        for signs in itertools.product((1, -1), repeat=len(a) - 1):
            s = (1, *signs)
            D = [[-s[i] * s[j] * x for j, x in enumerate(row)] for i, row in enumerate(part(M, a))]
            for strict in range(len(a)):
                products = [[*row, -1 if i == strict else 0] for i, row in enumerate(D)]
                if feasible(products + [unit(len(a), i, -1) for i in range(len(a))]):
                    return False
    return True


BY_DEFINITION = {
    "P": lambda M: min(minors(M)) > 0,
    "P0": lambda M: min(minors(M)) >= 0,
    "nondegenerate": lambda M: 0 not in minors(M),
    "Z": lambda M: all(M[i][j] <= 0 for i in range(len(M)) for j in range(len(M)) if i != j),
    "S": lambda M: feasible([[*row, -1] for row in M] + nonnegative(len(M))),
    "E0": lambda M: semimonotone(M, False),
    "E": lambda M: semimonotone(M, True),
    "R0": regular,
    "copositive": lambda M: copositive(M, False),
    "strictly_copositive": lambda M: copositive(M, True),
}


def test_verdicts_agree_with_the_definitions():
    seen = set()
    for M in samples(60, 4, 0):
        found = verdicts(M)
        for name, holds in BY_DEFINITION.items():
            assert found[name] == ("yes" if holds(M) else "no"), (name, M)
        seen |= set(found.items())
    assert seen == {(name, verdict) for name in CLASSES for verdict in ("yes", "no")}


@pytest.mark.thorough
def test_sufficiency_agrees_with_the_definition():
    seen = set()
    for M in samples(300, 3, 1):
        found = verdicts(M)
        for name, matrix in (("column_sufficient", M), ("row_sufficient", np.transpose(M).tolist())):
            assert found[name] == ("yes" if column_sufficient(matrix) else "no"), (name, M)
        seen.add((found["column_sufficient"], found["row_sufficient"]))
    assert len(seen) == 4


def test_definite_matrices_by_eigenvalues():
    for M in samples(30, 5, 2):
        found = verdicts(M)
        smallest = np.linalg.eigvalsh(np.array(M) + np.array(M).T)[0]
        # The eigenvalues of small integer matrices are zero or well away from it.
        assert found["PSD"] == ("yes" if smallest > -1e-9 else "no")
        assert found["PD"] == ("yes" if smallest > 1e-9 else "no")


@pytest.mark.thorough
def test_solvability_agrees_with_a_grid_of_right_hand_sides():
    """A yes for Q or Q0 must hold at every q of a grid; a no comes with its q, checked with the witnesses."""
    tried = {"yes": 0, "no": 0}
    for M in samples(150, 3, 3):
        n, found = len(M), verdicts(M)
        tried[found["Q0"]] += 1
        for q in itertools.product((-2, -1, 0, 1), repeat=n):
            possible = feasible([[*row, c] for row, c in zip(M, q, strict=True)] + nonnegative(n))
            if found["Q"] == "yes" or (found["Q0"] == "yes" and possible):
                assert solvable(M, q), (M, q)
    assert min(tried.values()) > 10


def test_solvability_is_decided_where_cones_of_lower_dimension_run_through_the_gap():
    """A row of zeros puts half of the complementary cones into one hyperplane."""
    assert verdicts([[-1, 0, -1, 1], [-2, 1, 0, -2], [2, -1, -1, -1], [0, 0, 0, 0]])["Q0"] == "no"
    rng, seen = np.random.default_rng(7), set()
    for _ in range(40):
        n = int(rng.integers(2, 5))
        M = rng.integers(-2, 3, (n, n))
        M[-1] = 0
        seen.add(verdicts(M.tolist())["Q0"])
    assert seen == {"yes", "no"}


# Inclusions, each as the textbook has it


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [4, 5])
def test_the_inclusions_of_the_theory_hold(seed):
    inclusions = {
        "PD": "P PSD strictly_copositive",
        "PSD": "P0 column_sufficient row_sufficient copositive copositive_plus Q0",
        "P": "P0 nondegenerate E E0 R0 S Q Q0 column_sufficient row_sufficient",
        "M": "Z P H_plus",
        "H_plus": "P",
        "column_sufficient": "P0 E0",
        "row_sufficient": "P0 Q0",
        "strictly_copositive": "copositive_plus copositive E S Q",
        "copositive_plus": "copositive Q0",
        "copositive": "E0",
        "P0": "E0",
        "E": "E0 S R0 Q",
        "nondegenerate": "R0",
        "Z": "Q0",
        "Q": "Q0 S",
    }
    for M in samples(200, 5, seed):
        found = verdicts(M)
        yes = {name for name, verdict in found.items() if verdict == "yes"}
        assert "undecided" not in found.values()
        for name, larger in inclusions.items():
            assert name not in yes or set(larger.split()) <= yes, (name, M)
        assert ("M" in yes) == ({"Z", "P"} <= yes)
        assert ("Q" in yes) == ({"Q0", "S"} <= yes)
        assert not {"E0", "R0"} <= yes or "Q" in yes
        if np.array_equal(M, np.transpose(M)):
            for one, other in (("E0", "copositive"), ("E", "strictly_copositive"), ("PSD", "column_sufficient")):
                assert (one in yes) == (other in yes)
            assert ("P" in yes) == ("PD" in yes)


@pytest.mark.thorough
def test_invariance_under_positive_scaling_permutation_and_transposition():
    rng = np.random.default_rng(6)
    unchanged = set(CLASSES) - {"PD", "PSD", "copositive", "strictly_copositive", "copositive_plus"}
    same_transposed = {"P", "P0", "nondegenerate", "PD", "PSD", "Z", "M", "H_plus", "copositive", "E"}
    for M in samples(80, 4, 7):
        A, found = np.array(M), verdicts(M)
        n = len(M)
        D, E = np.diag(rng.integers(1, 6, n)), np.diag(rng.integers(1, 6, n))
        scaled = verdicts(D @ A @ E)
        assert {k: scaled[k] for k in unchanged} == {k: found[k] for k in unchanged}
        assert verdicts(D @ A @ D) == found
        order = rng.permutation(n)
        assert verdicts(A[np.ix_(order, order)]) == found
        transposed = verdicts(A.T)
        assert {k: transposed[k] for k in same_transposed} == {k: found[k] for k in same_transposed}
        assert transposed["row_sufficient"] == found["column_sufficient"]


# Named examples


def test_textbook_examples():
    """Cottle, Pang and Stone: each pair of classes told apart."""
    assert verdicts([[0, 1], [0, 1]])["column_sufficient"] == "yes"
    assert verdicts([[0, 1], [0, 1]])["row_sufficient"] == "no"
    skew = verdicts([[0, 1], [-1, 0]])
    assert (skew["PSD"], skew["P"], skew["copositive_plus"], skew["Q"], skew["Q0"]) == ("yes", "no", "yes", "no", "yes")
    ones = verdicts([[1, 1], [1, 1]])
    assert (ones["strictly_copositive"], ones["Q"], ones["P"]) == ("yes", "yes", "no")
    murty = verdicts(np.tril(2 * np.ones((6, 6), dtype=int), -1) + np.eye(6, dtype=int))
    assert (murty["P"], murty["PSD"], murty["PD"], murty["H_plus"]) == ("yes", "yes", "no", "yes")
    negative = verdicts([[-1]])
    assert [name for name, verdict in negative.items() if verdict == "yes"] == ["nondegenerate", "Z", "R0", "Q0"]
    zero = verdicts(np.zeros((3, 3), dtype=int))
    assert [name for name, verdict in zero.items() if verdict == "no"] == [
        "P", "nondegenerate", "PD", "M", "H_plus", "strictly_copositive", "E", "R0", "S", "Q",
    ]  # fmt: skip


def test_the_form_of_horn_is_copositive_only():
    """Horn's form is copositive and no sum of a semidefinite and a nonnegative matrix (Hall and Newman 1963)."""
    signs = {0: 1, 1: -1, 2: 1, 3: 1, 4: -1}
    found = verdicts([[signs[(j - i) % 5] for j in range(5)] for i in range(5)])
    assert (found["copositive"], found["strictly_copositive"], found["PSD"], found["E0"]) == ("yes", "no", "no", "yes")


def test_friction_after_stewart_and_trinkle():
    """Two contacts in the plane: copositive, never P, with a zero diagonal where the slip bounds stand."""
    rng = np.random.default_rng(8)
    J = rng.integers(-3, 4, (6, 7))
    M = np.zeros((8, 8), dtype=int)
    M[:6, :6] = J @ J.T
    for i in range(2):
        M[6 + i, i] = 1
        M[6 + i, [2 + 2 * i, 3 + 2 * i]] = -1
        M[[2 + 2 * i, 3 + 2 * i], 6 + i] = 1
    found = verdicts(M, seconds=2)
    assert (found["copositive"], found["copositive_plus"], found["P"], found["R0"]) == ("yes", "no", "no", "no")


def test_one_bit_beside_the_boundary():
    """[[a, b], [b, b b / a]] in doubles: PSD or not by the exact minor, whatever the eigenvalues say."""
    rng = np.random.default_rng(9)
    seen = set()
    for _ in range(40):
        a, b = rng.uniform(1, 2, 2).tolist()
        M = [[a, -b], [-b, b * b / a]]
        minor = Fraction(a) * Fraction(M[1][1]) - Fraction(b) ** 2
        found = verdicts(M)
        expected = "yes" if minor >= 0 else "no"
        assert [found[name] for name in ("PSD", "P0", "copositive", "E0")] == [expected] * 4
        assert found["strictly_copositive"] == found["P"] == found["M"] == ("yes" if minor > 0 else "no")
        seen.add(minor > 0)
    assert seen == {True, False}


# Limits


# Kernels for more than 64 rows take seconds to compile.
@pytest.mark.parametrize("n", [14, 60, pytest.param(90, marks=pytest.mark.thorough)])
def test_the_deadline_is_kept_and_what_is_left_says_why(n):
    M = np.random.default_rng(10).standard_normal((n, n)) + 1.2 * np.sqrt(n) * np.eye(n)
    matrix_classes(exact(M), clock() + 0.3)  # compiles, which the deadline leaves out
    # Time of this process, which other work on the machine does not change.
    start = time.process_time()
    found = matrix_classes(exact(M), clock() + 0.3)
    assert time.process_time() - start < 1.5
    assert {entry.verdict for entry in found.values()} <= {"yes", "no", "undecided"}


def test_the_floating_point_filter_changes_no_verdict(monkeypatch):
    rng = np.random.default_rng(11)
    sought = {"negative", "zero", "E0", "E", "R0", "plus"}
    for k in range(6):
        M = rng.integers(-2, 4, (8, 8)) + (3 + k % 3) * np.eye(8, dtype=int)
        found = [set(principal.scan(exact(M), {name}, ALWAYS).found) for name in sought]
        with monkeypatch.context() as patch:
            patch.setattr(principal, "SMALLEST_FILTERED", 99)
            assert found == [set(principal.scan(exact(M), {name}, ALWAYS).found) for name in sought]


def test_the_filter_clears_nothing_that_is_sought():
    """Submatrices beside the boundary: a cleared one has a positive minor and no negative solution, exactly."""
    rng = np.random.default_rng(12)
    cleared = 0
    for _ in range(60):
        B = rng.standard_normal((4, 4))
        B[3] = rng.uniform(-1, 1, 3) @ B[:3] + 10.0 ** rng.uniform(-17, -8) * rng.standard_normal(4)
        if principal._cleared(B, np.array([[0, 1, 2, 3]]), True, True)[0]:
            cleared += 1
            assert exact(B).det() > 0
            assert max(exact(B).solve(fmpq_mat(4, 1, [fmpq(1)] * 4)).entries()) > 0
    assert cleared > 5
    for k in (3, 4, 5):
        B = -np.eye(k) + 0.1 * rng.uniform(-1, 1, (k, k))
        assert not principal._cleared(B, np.arange(k)[None], False, True)[0]
        assert principal._cleared(-B, np.arange(k)[None], True, True)[0]


# Parts


def test_inequalities_have_a_solution_or_a_certificate():
    rng = np.random.default_rng(13)
    solved = 0
    for _ in range(300):
        m, n = rng.integers(1, 7, 2)
        A, b = exact(rng.integers(-3, 4, (m, n))), [fmpq(int(x)) for x in rng.integers(-3, 4, m)]
        x, y = solve_inequalities(A, b, ALWAYS)
        if x is not None:
            solved += 1
            assert min(x) >= 0
            assert all(u >= v for u, v in zip((A * fmpq_mat(n, 1, x)).entries(), b, strict=True))
        else:
            assert min(y) >= 0
            assert max((fmpq_mat(1, m, y) * A).entries()) <= 0
            assert sum((u * v for u, v in zip(y, b, strict=True)), fmpq(0)) > 0
    assert 50 < solved < 250


@pytest.mark.thorough
@pytest.mark.parametrize("shift", [-0.5, 0.0, 0.5])
def test_strict_solvability_of_larger_matrices(shift):
    """A matrix game: S iff its value is positive; a fair game (antisymmetric, value zero) needs exact arithmetic."""
    K = np.random.default_rng(15).integers(-3, 4, (14, 14))
    found = matrix_classes(exact(K - K.T + shift), clock() + 1)["S"]
    assert found.verdict == ("yes" if shift > 0 else "no")
    assert proves("S", found.verdict, fractions(K - K.T + shift), found.witness)


def test_principal_transforms_exchange_what_they_should():
    rng = np.random.default_rng(14)
    M = exact(rng.integers(-3, 4, (4, 4)))
    x = fmpq_mat(4, 1, [fmpq(int(v)) for v in rng.integers(-3, 4, 4)])
    y = M * x
    for a in index_sets(4):
        T = principal_transform(M, a)
        if T is not None:
            u = fmpq_mat(4, 1, [y[i, 0] if i in a else x[i, 0] for i in range(4)])
            assert (T * u).entries() == [x[i, 0] if i in a else y[i, 0] for i in range(4)]


@pytest.mark.parametrize(
    ("name", "M", "witness"),
    [
        ("P", [[1, 0], [0, 1]], {"index_set": [0, 1]}),
        ("P0", [[0]], {"index_set": [0]}),
        ("nondegenerate", [[1]], {"index_set": [0]}),
        ("PD", [[1]], {"x": ["1"]}),
        ("PD", [[-1]], {"x": ["0"]}),
        ("PSD", [[0]], {"x": ["1"]}),
        ("Z", [[1, 0], [0, 1]], {"entry": [0, 0]}),
        ("M", [[1, 1], [0, 1]], {"d": ["1", "1"]}),
        ("H_plus", [[1, 2], [0, 1]], {"d": ["1", "1"]}),
        ("column_sufficient", [[0]], {"x": ["1"]}),
        ("copositive", [[0, -1], [-1, 0]], {"x": ["1", "-1"]}),
        ("strictly_copositive", [[1]], {"x": ["1"]}),
        ("copositive_plus", [[0, 1], [-1, 0]], {"x": ["1", "0"]}),
        ("E0", [[0]], {"x": ["1"]}),
        ("E", [[-1]], {"x": ["-1"]}),
        ("R0", [[1]], {"x": ["1"]}),
        ("S", [[1]], {"x": ["0"]}),
        ("S", [[1]], {"y": ["1"]}),
        ("Q", [[1]], {"q": ["-1"]}),
        ("Q0", [[-1]], {"q": ["-1"], "z": ["1"]}),
        ("P", [[1]], {"x": ["1", "1"]}),
    ],
)
def test_a_false_witness_proves_nothing(name, M, witness):
    assert not proves(name, "no", fractions(M), witness)
    assert not proves(name, "yes", fractions(M), witness)
