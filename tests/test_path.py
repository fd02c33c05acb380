"""Solutions of an LCP along a parameter: closed forms, brute force at samples, algebraic critical values."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_poly

from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.paths.parametric import Parametric
from workbench.matrices.paths.path import SolutionPath, follow
from workbench.matrices.paths.roots import Root, real_roots
from workbench.matrices.solutions.solution_set import solution_set
from workbench.support.errors import DataError

ONE, T = fmpq_poly([1]), fmpq_poly([0, 1])


def followed(M, q, low=-1, high=1) -> SolutionPath:
    M = [[fmpq_poly(f) if isinstance(f, fmpq_poly) else fmpq_poly([f]) for f in row] for row in M]
    q = [f if isinstance(f, fmpq_poly) else fmpq_poly([f]) for f in q]
    return follow(Parametric.lcp(M, q), fmpq(low), fmpq(high), clock() + 60)


def summary(path: SolutionPath):
    """Counts on the intervals; of every critical value its number, the count there and the kinds of its events."""
    return [i.solutions.count for i in path.intervals], [
        (c.t.exact, c.solutions.count, [e.kind for e in c.events]) for c in path.critical
    ]


# Closed forms


def test_the_textbook_matrix():
    """M = [[1, t], [t, 1]], q = (-1, -1): P for |t| < 1, a segment of solutions at t = 1, three beyond."""
    path = followed([[ONE, T], [T, ONE]], [-1, -1], 0, 3)
    assert summary(path) == ([1, 3], [("1", "infinite", ["family"])])
    event = path.critical[0].events[0]
    assert (event.before, sorted(event.after)) == ([(0, 1)], [(0,), (0, 1), (1,)])
    assert path.end[1].count == 3


def test_a_value_of_no_consequence_is_left_out():
    """M is singular at t = -1 too, but only the bases without solutions notice: z = e / (1 + t) goes to infinity."""
    path = followed([[ONE, T], [T, ONE]], [-1, -1], -2, 0)
    assert summary(path) == ([0, 1], [("-1", 0, ["ray"])])
    path = followed([[ONE, T], [T, ONE]], [1, 1], -2, 3)
    assert summary(path) == ([2, 1], [("-1", 1, ["ray"])])


@pytest.mark.parametrize(
    ("M", "q", "counts", "at", "kind"),
    [
        (T, -1, [0, 1], 0, "ray"),
        (T, 1, [2, 1], 1, "ray"),
        (T, 0, [1, 1], "infinite", "family"),
        (T * T, -1, [1, 1], 0, "ray"),
        (1, T, [1, 1], 1, "exchange"),
        (-1, T, [0, 2], 1, "birth"),
        (-1, -T, [2, 0], 1, "fold"),
        (0, T, [0, 1], "infinite", "family"),
        (0, -T * T, [0, 0], "infinite", "family"),
        (-1, -T * T, [0, 0], 1, "isolated"),
    ],
)
def test_one_unknown(M, q, counts, at, kind):
    assert summary(followed([[M]], [q])) == (counts, [("0", at, [kind])])


def test_one_solution_branches_into_three():
    """z = 0 for t < 0; z = t e_1, t e_2 and t e / 3 for t > 0; all of them are zero at t = 0."""
    path = followed([[1, 2], [2, 1]], [-T, -T])
    assert summary(path) == ([1, 3], [("0", 1, ["branching"])])
    assert [len(side) for side in (path.critical[0].events[0].before, path.critical[0].events[0].after)] == [1, 3]


def test_two_solutions_touch():
    """z_0 = 0 and z_0 = t^2 / (1 - t^2) beside z_1 = 1 / (1 - t): the sample between -1 and 1 must not be zero."""
    path = followed([[-1 - T, 1], [0, 1 - T]], [-1 - T, -1], -1, 1)
    assert summary(path) == ([2, 2], [("0", 1, ["branching"])])


def test_families_of_solutions_all_along():
    """M = 0: every z_0 >= 0 where q_0 = 0; a second unknown that exchanges beside it is named."""
    path = followed([[0, 0], [0, 1]], [0, T])
    assert [i.solutions.count for i in path.intervals] == ["infinite", "infinite"]
    assert followed([[0]], [0]).critical == []
    assert summary(followed([[0, 0], [0, 0]], [T * T, T])) == ([0, 1], [("0", "infinite", ["family"])])


def test_families_that_are_there_at_one_value_or_go_to_infinity():
    """w_0 = t forbids z_0 but at t = 0; t z_0 >= 1 leaves z_0 infinite there."""
    assert summary(followed([[0, 0], [1, -1]], [T, -1])) == ([0, 0], [("0", "infinite", ["family"])])
    assert summary(followed([[0, 0], [T, -1]], [0, -1])) == ([0, "infinite"], [("0", 0, ["family"])])


def test_an_isolated_solution_whose_bases_are_all_singular():
    M = [[0, 0, 0], [1, -1, 0], [-1, 0, -1]]
    path = followed(M, [0, -1, T], 0, 2)
    assert summary(path) == ([0, "infinite"], [("1", 1, ["family"])])
    assert summary(followed(M, [0, -T, T], 1, 2)) == ([1], [])
    # z_3 = t as well, with z_1 and z_2 either positive or zero, from where 5 t - 1 >= 0.
    M = [[*row, x] for row, x in zip([*M, [10, 0, 0]], [1, 5, 0, -1], strict=True)]
    assert summary(followed(M, [0, -1, 1, T], 0, 1)) == ([1, 5], [("1/5", 3, ["birth", "birth"])])


# Random pencils against brute force


def brute_count(M, q) -> int | None:
    """Solutions of LCP(q, M), Fractions, by all index sets; None where a principal submatrix is singular."""
    n, found = len(q), set()
    for a in (a for k in range(n + 1) for a in itertools.combinations(range(n), k)):
        rows = [[M[i][j] for j in a] + [-q[i]] for i in a]
        for c in range(len(a)):
            r = next((i for i in range(c, len(a)) if rows[i][c]), None)
            if r is None:
                return None
            rows[c], rows[r] = rows[r], rows[c]
            rows[c] = [x / rows[c][c] for x in rows[c]]
            rows = [
                row if i == c else [x - row[c] * y for x, y in zip(row, rows[c], strict=True)]
                for i, row in enumerate(rows)
            ]
        z = [Fraction(0)] * n
        for row, j in zip(rows, a, strict=True):
            z[j] = row[-1]
        w = [sum(m * x for m, x in zip(row, z, strict=True)) + c for row, c in zip(M, q, strict=True)]
        if min(z) >= 0 and min(w) >= 0:
            found.add(tuple(z))
    return len(found)


def pencils(count, n, seed, largest=3):
    """Integer pencils M_0 + t M_1, q_0 + t q_1, entry by entry as (constant, slope)."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield tuple(rng.integers(-largest, largest + 1, (*shape, 2)).tolist() for shape in ((n, n), (n,)))


def count_at(path: SolutionPath, t: Fraction):
    """The number of solutions at a rational t as the path has it."""
    x = fmpq(t.numerator, t.denominator)
    for end, solutions in (path.start, path.end):
        if end.lo == x:
            return solutions.count
    for c in path.critical:
        if c.t.lo == c.t.hi == x:
            return c.solutions.count
    return next(i.solutions.count for i in path.intervals if i.lo.hi < x < i.hi.lo)


@pytest.mark.parametrize(("n", "count"), [(1, 20), (2, 16), (3, 6)])
def test_random_pencils_agree_with_brute_force(n, count):
    compared = 0
    for M, q in pencils(count, n, seed=n):
        path = followed([[fmpq_poly(f) for f in row] for row in M], [fmpq_poly(f) for f in q], -2, 3)
        for k in range(50):
            t = -2 + Fraction(5 * k, 49)
            expected = brute_count([[x + t * y for x, y in row] for row in M], [x + t * y for x, y in q])
            if expected is not None:
                compared += 1
                assert count_at(path, t) == expected, (M, q, t)
    assert compared > 40 * count


def test_degenerate_pencils_agree_with_the_solution_set():
    """Entries -1, 0, 1: families, touching solutions and singular bases at many values, critical ones among them."""
    infinite = 0
    for M, q in pencils(120, 2, seed=11, largest=1):
        path = followed([[fmpq_poly(f) for f in row] for row in M], [fmpq_poly(f) for f in q], -2, 3)
        rational = [Fraction(c.t.exact) for c in path.critical if c.t.exact]
        for t in {Fraction(k, 4) for k in range(-8, 13)} | set(rational):
            x = fmpq(t.numerator, t.denominator)
            at_t = fmpq_mat([[c + x * s for c, s in row] for row in M]), [c + x * s for c, s in q]
            count = solution_set(*at_t, clock() + 60).count
            infinite += count == "infinite"
            assert count_at(path, t) == count, (M, q, t)
    assert infinite > 100


def test_events_account_for_every_change():
    """What begins less what ends at a critical value is what the counts beside it differ by."""
    kinds = set()
    for M, q in pencils(25, 3, seed=7):
        path = followed([[fmpq_poly(f) for f in row] for row in M], [fmpq_poly(f) for f in q], -2, 3)
        for c, (before, after) in zip(path.critical, itertools.pairwise(path.intervals), strict=True):
            kinds |= {e.kind for e in c.events}
            if "infinite" not in (before.solutions.count, after.solutions.count):
                change = sum(len(e.after) - len(e.before) for e in c.events)
                assert after.solutions.count - before.solutions.count == change
    assert {"birth", "fold", "exchange", "ray", "family"} <= kinds


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_algebraic_critical_values_are_judged_like_rational_ones(seed):
    """With t^2 for t the critical value c is the root of c: the same counts and events, in the field of that root."""
    irrational = 0
    for M, q in pencils(8, 2, seed):
        plain = followed([[fmpq_poly(f) for f in row] for row in M], [fmpq_poly(f) for f in q], 0, 9)
        squared = [[fmpq_poly([x, 0, y]) for x, y in row] for row in M], [fmpq_poly([x, 0, y]) for x, y in q]
        path = followed(*squared, 0, 3)
        assert [i.solutions.count for i in path.intervals] == [i.solutions.count for i in plain.intervals]
        for c, of_square in zip(path.critical, plain.critical, strict=True):
            irrational += c.t.exact is None
            assert c.t.value**2 == pytest.approx(of_square.t.value, rel=1e-12)
            assert c.solutions.count == of_square.solutions.count
            assert [(e.kind, e.before, e.after) for e in c.events] == [
                (e.kind, e.before, e.after) for e in of_square.events
            ]
    assert irrational > 2


def test_a_family_at_an_algebraic_value():
    """[[1, t^2 - 1], [t^2 - 1, 1]]: a segment of solutions at t = sqrt 2, three beyond."""
    x = T * T - 1
    path = followed([[1, x], [x, 1]], [-1, -1], 0, 3)
    assert summary(path) == ([1, 3], [(None, "infinite", ["family"])])
    assert path.critical[0].t.bracket[0] < 2**0.5 <= path.critical[0].t.bracket[1]


def test_rows_and_partners_may_be_exchanged():
    """R P s = R Q y - R w has the same solutions, and so has P y = Q s + w with R before it, s and y exchanged."""
    R = [[fmpq(2, 3), fmpq(1, 5)], [fmpq(1, 7), fmpq(1)]]
    for M, q in pencils(10, 2, seed=5):
        M, q = [[fmpq_poly(f) for f in row] for row in M], [fmpq_poly(f) for f in q]
        identity = [[ONE, 0 * ONE], [0 * ONE, ONE]]

        def times(A):
            return [[sum((R[i][k] * A[k][j] for k in range(2)), 0 * ONE) for j in range(len(A[0]))] for i in range(2)]

        w = [row[0] for row in times([[-f] for f in q])]
        ends = fmpq(-2), fmpq(3), clock() + 60
        plain = summary(follow(Parametric.lcp(M, q), *ends))
        assert summary(follow(Parametric.of(times(identity), times(M), w), *ends)) == plain
        exchanged = Parametric.of(times(M), times(identity), [-f for f in w])
        assert summary(follow(exchanged, *ends)) == plain


# Roots


def test_signs_at_an_irrational_root():
    """x - p/q at sqrt 2, for convergents p/q that agree with it to 400 digits; multiples of x^2 - 2 vanish."""
    [root] = [r for r in real_roots([fmpz_poly([-2, 0, 1])])[(-2, 0, 1)] if r.hi > 0]
    p, q = 1, 1
    for k in range(1100):
        x = root.at(fmpq_poly([fmpq(-p, q), 1]))
        # The convergents 1/1, 3/2, 7/5, ... lie below and above in turn.
        if k % 100 in (0, 99):
            assert root.sign(x) == (1 if k % 2 == 0 else -1)
        p, q = p + 2 * q, p + q
    assert root.sign(root.at(fmpz_poly([-4, 6, 2, -3]))) == 0
    assert root.at(root.inverse(root.at(fmpz_poly([1, 1]))) * fmpq_poly([1, 1])) == 1


def test_roots_closer_than_doubles_are_told_apart():
    tiny = fmpq(1, 10**60)
    roots = real_roots([fmpz_poly([-2, 0, 1]), (fmpq_poly([-2 - tiny, 0, 1])).numer(), fmpz_poly([-1, 0, 4])])
    ordered = sorted((r for some in roots.values() for r in some), key=lambda r: r.lo)
    assert len(ordered) == 6
    assert all(x.hi < y.lo for x, y in itertools.pairwise(ordered))
    assert [r.exact for r in ordered if r.exact] == ["-1/2", "1/2"]


# Limits


def test_refusals():
    with pytest.raises(DataError, match=r"order is 9.*up to order 8"):
        followed(np.eye(9, dtype=int).tolist(), [1] * 9)
    with pytest.raises(DataError, match="from 1 to 1"):
        followed([[1]], [1], 1, 1)
    with pytest.raises(OutOfTimeError):
        follow(Parametric.lcp([[ONE]], [ONE]), fmpq(0), fmpq(1), clock() - 1)


def test_a_root_at_the_end_of_the_range_is_no_event_within():
    path = followed([[T]], [-1], 0, 1)
    assert (summary(path), path.start[1].count) == (([1], []), 0)
    assert isinstance(path.intervals[0].sample, Root)
