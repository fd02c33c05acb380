"""Instances printed in the literature of interval matrices and of linear complementarity, with their sources."""

from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from workbench.certificates.verify import verify
from workbench.problems.classes import LCP

SIX = [
    [-0.7267, 0.3215, 0.4428, -0.3401, 0.0279, -0.0413], [0.1583, 0.9376, -0.8380, 0.5187, -0.2159, 0.1201],
    [0.8271, -0.2549, -0.8813, -0.3767, -0.4145, -0.3428], [-0.8641, -0.9621, 0.2400, 0.5504, -0.3624, 0.9646],
    [-0.7942, 0.9878, 0.6991, -0.2685, -0.9371, 0.8826], [0.0365, -0.3602, 0.7635, 0.8513, -0.8853, -0.4667],
]  # fmt: skip
SIX_Q = [0.4392, -0.1077, 0.9563, 0.3622, 0.5596, 0.4114]
FOURTEEN = [
    [0.9386, -0.6988, -0.7893, -0.2195, 1.7427, 0.9490], [-1.0832, -0.4880, -1.4139, -1.2790, 0.8263, 2.4433],
    [-0.5260, 0.0625, 1.3281, -0.1677, 0.0968, 0.5732], [0.4761, -0.1149, 0.9270, 0.2517, 0.6730, 0.3699],
    [-0.5097, 0.0598, 1.2549, -0.2111, -0.1048, 0.5168], [-0.8018, -0.3242, -0.9472, -1.1696, -0.6309, 1.4841],
    [0.5393, -0.3410, -0.2909, -0.4911, -1.0329, 0.0143], [0.5397, -0.3415, -0.2879, -0.4862, -1.0383, -0.0061],
    [-0.8696, -0.3802, -0.6665, -0.6765, -1.2099, -0.6854], [-0.5861, -0.0316, 1.1487, -0.0659, -0.3870, -0.2889],
    [0.6969, -0.3484, -0.4560, 1.4469, 2.4215, -1.3586], [-1.5772, -0.7017, -1.3336, 1.1955, 3.2669, -2.6450],
    [-0.5519, 0.0907, 1.0958, 0.7770, 0.9372, -0.9246], [0.4035, -0.0022, 0.6541, 1.2087, 1.3381, -0.8798],
]  # fmt: skip
"""w - z of every solution."""
NEARLY_MINUS_I = [
    [-0.9968, 0.0643, -0.0134, 0.0826, 0.0476, 0.0795], [-0.0550, -1.0261, 0.0222, 0.0181, 0.0023, -0.0633],
    [-0.0633, -0.0941, -1.0903, 0.0150, -0.0610, -0.0957], [-0.0567, -0.0616, 0.0615, -1.0999, 0.0735, -0.0818],
    [-0.0146, -0.0506, 0.0017, -0.0682, -0.9732, 0.0043], [0.0941, 0.0134, -0.0369, -0.0450, -0.0210, -1.0332],
]  # fmt: skip
NEARLY_MINUS_I_Q = [0.4341, 0.2847, 0.6537, 0.1906, 0.0641, 0.2679]
BARTH_NUDING = [[(2, 4), (-2, 1)], [(-1, 2), (2, 4)]]


def box(rows):
    """The interval matrix with entries (low, high)."""
    middle, radius = ([[str(Fraction(b + s * a, 2)) for a, b in row] for row in rows] for s in (1, -1))
    return wb.interval(middle, radius)


def hull(A, b):
    """Bounds of the solutions of A x = b for all data: an MLCP whose unknowns have no bounds."""
    free = [None] * len(b)
    found = wb.check(wb.uncertain_mlcp(box(A), box([[(-high, -low)] for low, high in b]), free, free)).data["solutions"]
    assert found["exact"]
    return [(Fraction(x), Fraction(y)) for x, y in zip(found["lower"], found["upper"], strict=True)]


def test_hulls_of_interval_equations():
    """Barth & Nuding (1974), as printed with VERENCLINTHULL of Rohn's VERSOFT; Hansen (1992), and the tests of
    IntervalRootFinding.jl."""
    assert hull(BARTH_NUDING, [(-2, 2), (-2, 2)]) == [(-4, 4), (-4, 4)]
    assert hull([[(2, 3), (0, 1)], [(1, 2), (2, 3)]], [(0, 120), (60, 240)]) == [(-120, 90), (-60, 240)]


@pytest.mark.parametrize(
    ("rows", "verdicts"),
    [
        (BARTH_NUDING, {"nondegenerate": "all", "H_plus": "some", "M": "some"}),
        ([[(2, 4), (-1, 1)], [(-1, 1), (2, 4)]], {"nondegenerate": "all", "H_plus": "all"}),
        ([[(2, 2), (-1, 0)], [(-1, 0), (2, 2)]], {"M": "all", "P": "all", "H_plus": "all"}),
    ],
)
def test_classes_of_interval_matrices(rows, verdicts):
    """Horacek, Interval linear and nonlinear systems (2019), sections 4.2 to 4.6, as in IntervalLinearAlgebra.jl: these
    are H-matrices or not, M-matrices or not, and (strongly) regular. "Not" of a box is "some" here, or "none"."""
    found = wb.check(box(rows)).data["classes"]
    assert {name: found[name]["verdict"] for name in verdicts} == verdicts


def test_numbers_of_solutions_of_linear_complementarity_problems():
    """The examples of VERLCPALL in Rohn's VERSOFT (2008): 14 solutions, all of them printed, and 64 = 2^6."""
    found = wb.solutions(LCP(np.array(SIX), np.array(SIX_Q)))
    assert found.count == 14
    z = np.array([[float(Fraction(x)) for x in point] for point in found.data["points"]])
    ours = z @ np.array(SIX).T + SIX_Q - z
    away = np.abs(ours[:, None] - np.array(FOURTEEN)[None]).max(axis=2)
    # The data are printed with four digits, and so are the solutions.
    assert away.min(axis=0).max() < 2e-3
    assert len(set(away.argmin(axis=0))) == 14
    assert wb.solutions(LCP(np.array(NEARLY_MINUS_I), np.array(NEARLY_MINUS_I_Q))).count == 64


@pytest.mark.parametrize("rows", [SIX, NEARLY_MINUS_I])
def test_all_matrices_near_those_of_verlcpall_are_nondegenerate(rows):
    """Order 6, each entry within 1 %: 7,812 determinants of vertices, and most minors need none of them."""
    found = wb.check(wb.interval(rows, (np.abs(rows) / 100).tolist()))
    assert found.data["classes"]["nondegenerate"]["verdict"] == "all"
    document = found.certificate()
    assert {x.result for x in verify(document) if x.about == "nondegenerate"} == {"verified"}
    inside = {
        node[0]
        for claim in document["claims"]
        if claim["about"] == "nondegenerate"
        for node in claim["support"]["tree"]
    }
    assert inside == {"regular", "vertices"}


@pytest.mark.parametrize("n", [2, 5, 9])
def test_a_linear_complementarity_problem_may_have_two_to_the_n_solutions(n):
    """The remark of VERLCPALL: of M = -I and q = 1 all vectors of signs are w - z."""
    found = wb.solutions(LCP(-np.eye(n), np.ones(n)))
    assert found.count == 2**n
    assert {tuple(map(Fraction, point)) for point in found.data["points"]} == set(np.ndindex(*[2] * n))
