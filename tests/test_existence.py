"""Whether a friction problem has a solution: by hand, by definition in Python's fractions, and beside a solver."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from tests.inequalities import feasible, solvable
from workbench.algorithms import find_solver
from workbench.engine.timing import clock
from workbench.matrices.solutions.existence import LARGEST, existence, rational_friction
from workbench.matrices.solutions.friction_cones import (
    RationalFriction,
    planar_lcp,
    shows_absence,
    solves_coulomb,
)
from workbench.problems.classes import CoulombNCP

CLAMP = np.array([[0, 1], [0, -1], [1, 0], [1, 0]])
"""J of a particle in the plane between a floor and a ceiling."""
CLAMP_IN_SPACE = np.array([[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])


def decided(J, q, mu, d, coulomb=True, seconds=10.0):
    W = np.asarray(J, float) @ np.asarray(J, float).T
    p = rational_friction(W, np.asarray(q, float), np.full(len(W) // (1 + d), float(mu)), d)
    return p, existence(p, coulomb, clock() + seconds)


def fractions(x):
    return [Fraction(str(v)) for v in x]


def confirmed(p: RationalFriction, found, coulomb: bool) -> bool:
    """The certificate, in Python's fractions and by no code of the library."""
    n, r, d = len(p.q), len(p.mu), p.d
    W, q, mu = [fractions(row) for row in p.W.tolist()], fractions(p.q), fractions(p.mu)
    kind, y = found.witness["kind"], fractions(found.witness.get("x") or found.witness.get("r") or [0] * n)

    def parts(v):
        return [(v[i], sum(x * x for x in v[r + d * i : r + d * (i + 1)]), mu[i]) for i in range(r)]

    if kind == "self-stress":
        balanced = all(sum(W[i][j] * y[i] for i in range(n)) == 0 for j in range(n))
        cone = all(a >= 0 and t <= (0 if coulomb else m * m * a * a) for a, t, m in parts(y))
        return balanced and cone and sum(a * b for a, b in zip(y, q, strict=True)) < 0
    u = [sum((W[i][j] + W[j][i]) / 2 * y[j] for j in range(n)) + q[i] for i in range(n)]
    if kind == "interior":
        return all(a > 0 and a * a > m * m * t for a, t, m in parts(u))
    if kind == "no impulse" and coulomb:
        return min(q[:r]) >= 0
    assert kind in ("polyhedral", "no impulse")
    return all(a >= 0 and a * a >= m * m * t for a, t, m in parts(u))


@pytest.mark.parametrize(
    ("q", "coulomb", "cone"),
    [
        ([-1, -1, 0, 0], "none", "none"),  # the walls close
        ([1, -1, 0, 0], "exists", "exists"),  # they move along
        ([1, -0.5, 0, 0], "exists", "exists"),  # they open
        ([1, -1, 1, -1], "exists", "none"),  # they slide apart: the CCP would have the gap open, which it cannot
        ([-1, 1.5, 2, -2], "exists", "none"),
        ([0, 0, 2, -2], "exists", "none"),  # nothing approaches: no impulse is needed
    ],
)
def test_a_clamped_particle(q, coulomb, cone):
    for law, expected in ((True, coulomb), (False, cone)):
        p, found = decided(CLAMP, q, 0.5, 1, law)
        assert found.verdict == expected
        if found.witness["kind"] == "solution":
            assert solves_coulomb(p, [fmpq(x) for x in found.witness["r"]])
        else:
            assert confirmed(p, found, law)


def test_the_cone_problem_may_have_no_solution_where_coulombs_has_one():
    """In space: floor and ceiling slide apart. The CCP lifts a sliding contact, and there is no room."""
    p, found = decided(CLAMP_IN_SPACE, [1, -1, 1, 0, -1, 0], 0.5, 2, coulomb=False)
    assert found.verdict == "none"
    assert confirmed(p, found, coulomb=False)
    p, found = decided(CLAMP_IN_SPACE, [1, -1, 1, 0, -1, 0], 0.5, 2)
    assert found.verdict == "undecided"
    assert "cone problem has no solution" in found.reason
    # Found by hand: both slip, the floor's friction is -1/2 more than nothing.
    assert solves_coulomb(p, [fmpq(0), fmpq(1), *[fmpq(0)] * 2, fmpq(1, 2), fmpq(0)])
    assert not shows_absence(p, [fmpq(x) for x in found.witness["r"]], coulomb=True)
    assert shows_absence(p, [fmpq(x) for x in found.witness["r"]], coulomb=False)


def test_in_the_plane_both_problems_are_decided_as_by_definition():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(30):
        r = int(rng.integers(1, 3))
        J, q = rng.integers(-1, 2, (2 * r, 2)), rng.integers(-2, 3, 2 * r)
        W = J @ J.T
        p, found = decided(J, q, 1, 1, coulomb=False)
        rows = [[*(W[i] + s * W[r + i]), q[i] + s * q[r + i]] for i in range(r) for s in (1, -1)]
        assert (found.verdict == "exists") == feasible([[int(x) for x in row] for row in rows]), (J, q)
        assert found.verdict != "undecided"
        assert confirmed(p, found, coulomb=False)
        seen.add((r, found.verdict))
        if r == 1:
            _, found = decided(J, q, 1, 1)
            M, constant = planar_lcp(p)
            whole = [[int(x.p) for x in row] for row in M.tolist()], [int(x.p) for x in constant]
            assert (found.verdict == "exists") == solvable(*whole), (J, q)
    assert seen == {(1, "exists"), (1, "none"), (2, "exists"), (2, "none")}


def test_in_space_every_verdict_has_its_certificate_and_a_solver_agrees():
    rng = np.random.default_rng(2)
    solver, count = find_solver("coulomb-exact"), {}
    for _ in range(16):
        r = int(rng.integers(1, 5))
        J, q = rng.integers(-2, 3, (3 * r, int(rng.integers(1, 5)))), rng.integers(-2, 3, 3 * r) * rng.choice([1, 1000])
        mu = int(rng.integers(0, 3)) / 2
        for coulomb in (True, False):
            p, found = decided(J, q, mu, 2, coulomb)
            count[coulomb, found.verdict] = count.get((coulomb, found.verdict), 0) + 1
            if found.verdict != "undecided":
                assert confirmed(p, found, coulomb), (J, q, mu, found)
            if coulomb:
                answer = solver.solve(CoulombNCP((J @ J.T).astype(float), q.astype(float), np.full(r, mu), 2))
                if found.verdict == "exists":
                    assert answer.verified, (J, q, mu)
                if found.verdict == "none":
                    assert not answer.verified, (J, q, mu)
    assert min(count[c, v] for c in (True, False) for v in ("exists", "none")) >= 2
    assert count.get((False, "undecided"), 0) <= 2


def test_a_matrix_that_is_not_symmetric():
    """A positive semidefinite W needs the symmetric part alone; boundary points are not enough then."""
    W, q, mu = np.array([[1.0, 1.0], [-1.0, 0.0]]), np.array([-1.0, 0.5]), np.array([0.25])
    found = existence(rational_friction(W, q, mu, 1), True, clock() + 10)
    assert (found.verdict, found.witness["kind"]) == ("exists", "interior")


def test_certificates_are_judged_by_themselves():
    one, zero = fmpq(1), fmpq(0)
    closing, _ = decided(CLAMP, [-1, -1, 0, 0], 0.5, 1)
    assert shows_absence(closing, [one, one, zero, zero], coulomb=True)
    # q . r > 0; not balanced; friction under Coulomb's law; beyond the cone; too short.
    wrong = ([-one, -one, zero, zero], [one, zero, zero, zero], [one, one, fmpq(1, 2), fmpq(-1, 2)], [one])
    assert not any(shows_absence(closing, r, coulomb=True) for r in wrong)
    assert shows_absence(closing, wrong[2], coulomb=False)
    assert not shows_absence(closing, [one, one, one, -one], coulomb=False)


def test_coulombs_law_between_squares():
    p, _ = decided(CLAMP_IN_SPACE[[0, 2, 3]], [-1, 3, 4], 0.5, 2)
    good = [fmpq(1), fmpq(-3, 10), fmpq(-4, 10)]
    assert solves_coulomb(p, good)
    for k, change in ((0, 1), (0, -1), (1, 1), (2, -1)):
        bad = list(good)
        bad[k] += fmpq(change, 100)
        assert not solves_coulomb(p, bad)
    assert not solves_coulomb(p, [fmpq(1), fmpq(3, 10), fmpq(4, 10)])
    assert not solves_coulomb(p, good[:2])
    parting = RationalFriction(p.W, [fmpq(1), fmpq(0), fmpq(0)], p.mu, 2)
    assert solves_coulomb(parting, [fmpq(0)] * 3)
    assert not solves_coulomb(parting, [fmpq(1), fmpq(0), fmpq(0)])


def test_boundaries_of_the_cones():
    p, _ = decided(CLAMP_IN_SPACE[[0, 2, 3]], [0, 0, 0], 0.5, 2)
    edge = [fmpq(5), fmpq(6), fmpq(8)]
    assert p.in_dual(edge)
    assert not p.in_dual(edge, interior=True)
    assert p.in_dual([fmpq(6), *edge[1:]], interior=True)
    assert p.in_cone([fmpq(10), fmpq(3), fmpq(4)])
    assert not p.in_cone([fmpq(9), fmpq(3), fmpq(4)])
    for upside_down in ([fmpq(-10), fmpq(3), fmpq(4)], [fmpq(-10), fmpq(0), fmpq(0)]):
        assert not p.in_cone(upside_down)
        assert not p.in_dual(upside_down)


def test_what_no_theorem_covers_is_undecided():
    _, late = decided(CLAMP, [-1, -1, 0, 0], 0.5, 1, seconds=-1.0)
    assert (late.verdict, late.reason) == ("undecided", "out of time")
    W = np.diag([1.0, -1e-17, 1.0])
    found = existence(rational_friction(W, np.array([-1.0, 0, 0]), np.array([0.5]), 2), True, clock() + 10)
    assert "not positive semidefinite" in found.reason
    n = LARGEST + 3
    W, q = np.eye(n), np.r_[-np.ones(n // 3), np.zeros(2 * n // 3)]
    large = existence(rational_friction(W, q, np.full(n // 3, 0.5), 2), True, clock() + 10)
    assert (large.verdict, large.witness["kind"]) == ("exists", "definite")
    W[0, 0] = 0.0
    large = existence(rational_friction(W, q, np.full(n // 3, 0.5), 2), True, clock() + 10)
    assert large.verdict == "undecided"
