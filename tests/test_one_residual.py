"""One measure for bounds, cones and discs, however the matrix is held: by its definition, in numpy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP, equilibration
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mixed import MixedNCP
from workbench.problems.residual import bounded_residuals
from workbench.problems.sets import APART, ASSOCIATED, COULOMB, DISC, NO_CONE, Sets

FAR, FAR_SCALED, FAINT, FAINT_SCALED, QUIET = 1e5, 1e3, 1e-5, 1e-4, 1e-6
"""What the measure takes for near and loud, written once more: none of them changes unseen."""

WIDTHS = {NO_CONE: (1, 2, 3), COULOMB: (2, 3), ASSOCIATED: (2, 3), APART: (4, 6), DISC: (1, 2, 3)}


def to_disc(y, radius):
    size = np.linalg.norm(y)
    return y if size <= radius else y * (radius / size)


def to_cone(y, mu):
    radius = np.linalg.norm(y[1:])
    if mu * radius <= -y[0]:
        return np.zeros(y.size)
    if radius <= mu * y[0]:
        return y
    p_n = (y[0] + mu * radius) / (1 + mu**2)
    return np.r_[p_n, mu * p_n * y[1:] / radius]


def distance(kind, mu, y, w):
    """How far y and w are from the law of their set."""
    y_n, norm = max(y[0], 0.0), np.linalg.norm
    if kind == DISC:
        return norm(y - to_disc(y - w, mu))
    if kind == ASSOCIATED:
        return max(norm(y - to_cone(y - w, mu)), norm(y[1:]) - mu * y_n)
    parts = [slice(1, 3), slice(3, 4), slice(4, 6)] if kind == APART else [slice(1, None)]
    found = [abs(min(y[0], w[0])), *(norm(y[k] - to_disc(y[k] - w[k], mu * y_n)) for k in parts)]
    if kind == COULOMB:
        shifted = np.r_[w[0] + mu * norm(w[1:]), w[1:]]
        found.append(norm(y - to_cone(y - shifted, mu)) / max(1.0, mu))
    return max(found)


def by_definition(M, q, sizes, terms, bounds, mu, kinds, first, z):
    """The residual of every set; sizes of what q is the sum of, terms of the rows of M z."""
    B, places = len(kinds), [slice(a, b) for a, b in pairwise(first)]
    D, moved, diagonal = np.ones(z.size), M @ z, np.diag(M)
    for kind, at in zip(kinds, places, strict=True):
        if kind == NO_CONE:
            D[at] = equilibration(M[at, at])
        elif (trace := diagonal[at].sum()) > 0:
            D[at] = np.sqrt((at.stop - at.start) / trace)
        elif z[at].any() and q[at].any():
            D[at] = np.sqrt(np.linalg.norm(z[at]) / np.linalg.norm(q[at]))
    y, w, free, moved, sizes, terms = z / D, D * (moved + q), D * q, D * moved, D * sizes, D * terms
    low, high = bounds[0] / D, bounds[1] / D
    reach = np.eye(B) + [[float((M[a, b] != 0).any() or (M[b, a] != 0).any()) for b in places] for a in places]
    reach = np.linalg.matrix_power(reach, B) > 0
    gap, motion, loud, scale, faint = ([None] * B for _ in range(5))
    for i, (kind, at) in enumerate(zip(kinds, places, strict=True)):
        free_i, moved_i, y_i = abs(free[at]), abs(moved[at]), y[at]
        if kind == NO_CONE:
            gap[i] = np.clip(w[at], y_i - high[at], y_i - low[at])
            slack = (gap[i] == 0) & ~((low[at] < y_i) & (y_i < high[at]))
            moves = np.where(slack, np.minimum(moved_i, free_i), np.maximum(moved_i, free_i))
            both = np.isfinite(low[at]) & np.isfinite(high[at])
            motion[i], loud[i] = np.maximum(moves, np.where(both, abs(y_i), 0.0)).max(), terms[at]
            up, down = np.minimum(-free[at], np.maximum(high[at], 0)), np.minimum(free[at], np.maximum(-low[at], 0))
            scale[i], faint[i] = np.maximum(up, down), FAINT * sizes[at].max()
            continue
        size, change, ahead, given = (np.linalg.norm(x) for x in (y_i, moved_i, w[at], free_i))
        radius = mu[i] / D[at][0] if kind == DISC else mu[i]
        gap[i] = distance(kind, radius, y_i, w[at])
        motion[i] = max(ahead, given) if size > 0 or gap[i] > 0 else min(change, given)
        motion[i] = max(motion[i], size) if kind == DISC else motion[i]
        competes = min(given, radius) if kind == DISC else -free[at][0]
        scale[i] = max(change, competes, FAINT * np.linalg.norm(sizes[at]))
        still = (z[at][diagonal[at] <= 0] != 0).any()
        loud[i], faint[i] = max(0.0 if still else size, FAINT * np.linalg.norm(terms[at])), 0.0
    for i, kind in enumerate(kinds):
        motion_i, loudest = (max(np.max(x[j]) for j in np.flatnonzero(reach[i])) for x in (motion, loud))
        if kind == NO_CONE:
            own = np.minimum(np.maximum(loud[i], FAINT_SCALED * loudest), FAR_SCALED * motion_i)
            scale[i] = np.maximum(np.maximum(scale[i], max(faint[j] for j in np.flatnonzero(reach[i]))), own)
        else:
            scale[i] = max(scale[i], min(loud[i], FAR * motion_i))
    found = np.zeros(B)
    for i, kind in enumerate(kinds):
        quiet = [np.max(scale[j]) for j in np.flatnonzero(reach[i]) if kinds[j] == NO_CONE]
        whole = np.maximum(scale[i], QUIET * max(quiet)) if kind == NO_CONE else scale[i]
        with np.errstate(divide="ignore", invalid="ignore"):
            found[i] = np.max(np.where(np.abs(gap[i]) > 0, np.abs(gap[i]) / whole, 0.0))
    return found


def random_sets(rng):
    """Kinds, where they begin, coefficients, bounds, J of M = J J^T in parts or not, q, a point on bounds or off."""
    kinds = rng.choice(5, int(rng.integers(1, 5)))
    widths = [int(rng.choice(WIDTHS[k])) for k in kinds]
    first = np.append(0, np.cumsum(widths))
    n, mu = int(first[-1]), np.where(kinds == NO_CONE, 0.0, rng.choice([0.0, 0.3, 1.5, 40.0], kinds.size))
    columns = int(rng.integers(1, n + 1))
    J, unit = rng.integers(-3, 4, (n, columns)).astype(float), 2.0 ** rng.integers(-2, 3, (n, 1))
    # Some rows are others once more: impulses that cancel there, however large, move nothing. All sums are exact.
    twin, far = rng.integers(0, n, n), np.zeros(n)
    same = rng.random(n) < 0.4
    J[same] = J[twin[same]]
    J *= unit
    for i in np.flatnonzero(rng.random(n) < 0.3):
        k = int(twin[i])
        if i != k and np.array_equal(J[i] / unit[i], J[k] / unit[k]):
            size = 2.0 ** rng.integers(4, 27)
            far[i], far[k] = far[i] + size / unit[i, 0], far[k] - size / unit[k, 0]
    part = np.repeat(rng.integers(0, 2, kinds.size), widths)
    if rng.random() < 0.3:
        J = np.hstack([np.where((part == k)[:, None], J, 0.0) for k in (0, 1)])
    J[np.repeat(rng.random(kinds.size) < 0.1, widths)] = 0.0
    q = rng.integers(-64, 65, n) * 2.0 ** rng.integers(-6, 4)
    lower = np.where(rng.random(n) < 0.5, 0.0, -np.inf)
    upper = np.where(rng.random(n) < 0.5, np.inf, rng.integers(0, 9, n) / 4.0)
    z = np.where(rng.random(n) < 0.7, rng.integers(-32, 33, n) / 16.0, 0.0)
    # Idle contacts far away, and others that press.
    idle = rng.random(kinds.size) < 0.3
    for i in np.flatnonzero(idle):
        z[first[i] : first[i + 1]], q[first[i]] = 0.0, 2.0 ** rng.integers(-2, 25)
    z += np.where(np.repeat(idle, widths), 0.0, far)
    return kinds, first, mu, (lower, upper), J, q, np.clip(z, lower, upper) if rng.random() < 0.5 else z


def test_the_residual_of_mixed_problems_is_the_formularys():
    rng = np.random.default_rng(0)
    for _ in range(150):
        kinds, first, mu, bounds, J, q, z = random_sets(rng)
        M, order = J @ J.T, rng.permutation(q.size)
        at = np.append(0, np.cumsum(kinds != NO_CONE))
        # Set by set the unknowns are those of z at `order`.
        back = np.argsort(order)
        problem = MixedNCP(
            M[np.ix_(back, back)], q[back], bounds[0][back], bounds[1][back], mu[kinds != NO_CONE],
            Sets(kinds, first, order, at),
        )  # fmt: skip
        expected = by_definition(M, q, abs(q), abs(M) @ abs(z), bounds, mu, kinds, first, z)
        np.testing.assert_allclose(problem.residual(z[back]), expected.max(), rtol=1e-7)


@pytest.mark.parametrize("few", [True, False])
def test_the_residual_of_contact_blocks_is_the_formularys(few, monkeypatch):
    """Terms of their own block one by one, all others together; sizes of what free velocities are summed from."""
    rng = np.random.default_rng(1)
    if not few:
        monkeypatch.setattr(ContactBlocks, "few", None)
    for _ in range(60):
        kinds, first, mu, bounds, J, q, z = random_sets(rng)
        M, n = J @ J.T, J.shape[1]
        b = rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 3)
        one = np.concatenate([np.eye(m).ravel() for m in np.diff(first)])
        problem = ContactBlocks(
            np.eye(n), b, J, first, first, one, 0.0 * one, one, q, np.zeros(q.size), *bounds, kinds, mu
        )
        sizes, terms, moved = abs(J) @ abs(b) + abs(q), abs(M) @ abs(z), M @ z
        if not few:
            terms = abs(J) @ abs(J.T @ z)
        for (a, e), kind in zip(pairwise(first), kinds, strict=True):
            if kind == NO_CONE:
                own = M[a:e, a:e]
                terms[a:e] = abs(own) @ abs(z[a:e]) + abs(moved[a:e] - own @ z[a:e])
        expected = by_definition(M, q + J @ b, sizes, terms, bounds, mu, kinds, first, z)
        np.testing.assert_allclose(problem.block_residuals(z), expected, rtol=1e-6)


@pytest.mark.parametrize(("law", "kind"), [(CoulombNCP, COULOMB), (ConicQP, ASSOCIATED)])
def test_cones_alone_are_measured_alike_dense_sparse_and_mixed(law, kind):
    rng = np.random.default_rng(2)
    for _ in range(100):
        r, d = int(rng.integers(1, 5)), int(rng.integers(1, 3))
        J = rng.standard_normal((r * (1 + d), int(rng.integers(1, 9)))) * (rng.random((r * (1 + d), 1)) < 0.9)
        W, q, mu = J @ J.T, rng.standard_normal(len(J)), rng.choice([0.0, 0.4, 3.0], r)
        order = np.column_stack([np.arange(r), r + d * np.arange(r)[:, None] + np.arange(d)]).ravel()
        first, at, none = (1 + d) * np.arange(r + 1), np.arange(r + 1), np.zeros(q.size)
        z = rng.standard_normal(q.size) * 10.0 ** rng.uniform(-3, 6)
        same = [
            law(W, q, mu, d), law(sparse.csr_array(W), q, mu, d),
            MixedNCP(W, q, none, none, mu, Sets(np.full(r, kind), first, order, at)),
        ]  # fmt: skip
        found = [float(problem.residual(z)) for problem in same]
        np.testing.assert_allclose(found, found[0], rtol=1e-7)


def test_small_numbers_are_measured_as_large_ones():
    """A power of two that all of z, q, bounds and radii have in common makes no difference, down to 1e-300."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        kinds, first, mu, bounds, J, q, z = random_sets(rng)
        at = np.append(0, np.cumsum(kinds != NO_CONE))
        sets, found = Sets(kinds, first, np.arange(q.size), at), []
        for unit in (1.0, 2.0**-950):
            limit = np.where(kinds == DISC, mu * unit, mu)[kinds != NO_CONE]
            problem = MixedNCP(J @ J.T, unit * q, unit * bounds[0], unit * bounds[1], limit, sets)
            found.append(float(problem.residual(unit * z)))
        assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_rows_of_an_lcp_round_together_though_nothing_couples_them():
    """Up to 1e-13 of the rest is the rounding of a method that solves all rows at once; more than that counts."""
    for small, share in ((0.9e-13, FAINT_SCALED), (1.1e-13, QUIET)):
        assert LCP(np.eye(2), [-1.0, -small]).residual([1.0, 0.0]) == pytest.approx(small / share)


def test_a_batch_has_the_residuals_of_its_problems():
    """Each with data of its own, and many z for the same data."""
    rng = np.random.default_rng(3)
    J, q, z = rng.normal(size=(4, 6, 6)), rng.normal(size=(4, 6)), abs(rng.normal(size=(4, 6)))
    W, mu = J @ J.swapaxes(-1, -2), rng.uniform(0.2, 1.0, (4, 2))
    lower, upper = -rng.uniform(size=(4, 6)), rng.uniform(size=(4, 6))
    for make, data in ((LCP, (W, q)), (MLCP, (W, q, lower, upper)), (ConicQP, (W, q, mu)), (CoulombNCP, (W, q, mu))):
        one_by_one = [float(make(*(x[b] for x in data)).residual(z[b])) for b in range(4)]
        assert make(*data).residual(z).tolist() == one_by_one
        assert len(set(one_by_one)) == 4
        same = make(*(x[0] for x in data))
        assert same.residual(z).tolist() == [float(same.residual(z[b])) for b in range(4)]
        assert make(*data).residual(z[0]).tolist() == [
            float(make(*(x[b] for x in data)).residual(z[0])) for b in range(4)
        ]


@pytest.mark.parametrize("small", [0.0, 0.9e-12, 1.1e-12, 1e-6])
def test_a_diagonal_entry_that_is_rounding_has_the_scale_of_what_it_meets(small):
    """On either side of what counts as rounding; the residual has these units."""
    M = np.array([[1.0, 1.0, 0.0], [-1.0, small, 0.0], [0.0, 0.0, 4.0]])
    assert equilibration(M) == pytest.approx([1.0, small**-0.5 if small > 1e-12 else 1.0, 0.5])
    D, q = np.array([1.0, small**-0.5 if small > 1e-12 else 1.0, 0.5]), np.array([-1.0, 0.3, -2.0])
    z = np.array([0.2, 0.1, 0.3])
    scaled = LCP(D[:, None] * M * D, D * q)
    assert LCP(M, q).residual(z) == pytest.approx(scaled.residual(z / D), rel=1e-9)


@pytest.mark.parametrize("bound", [np.inf, -np.inf])
def test_bounds_that_leave_no_number_are_met_by_none(bound):
    lower, upper = np.array([0.0, bound]), np.array([np.inf, bound])
    for z in ([0.0, 0.0], [1.0, 1e300], [0.0, bound]):
        assert MLCP(np.eye(2), [1.0, 0.0], lower, upper).residual(z) == np.inf


def test_data_that_are_not_finite_have_no_residual():
    """Problems refuse them; compiled loops pose problems without asking."""
    M, q, z, found = np.eye(2)[None].copy(), np.ones((1, 2)), np.zeros((1, 2)), np.zeros(1)
    lower, upper = np.zeros((1, 2)), np.full((1, 2), np.inf)
    bounded_residuals(M, q, lower, upper, z, found)
    assert found[0] == 0.0
    for data in (M, q):
        for bad in (np.nan, np.inf, -np.inf):
            kept, data[0, -1] = data.copy(), bad
            bounded_residuals(M, q, lower, upper, z, found)
            data[:] = kept
            assert found[0] == np.inf


@pytest.mark.parametrize("problem", [ConicQP, CoulombNCP])
def test_an_impulse_where_nothing_moves_is_a_solution(problem):
    """A contact between bodies that are held: any impulse within the cone does, and none without."""
    held = problem(np.zeros((3, 3)), np.zeros(3), [0.5])
    assert held.residual([2.0, 0.6, 0.8]) == 0.0
    assert held.residual([2.0, 1.2, 1.6]) > 0.1
