"""The residuals: zero at solutions, independent of units, and not to be fooled."""

import numpy as np
import pytest
from scipy import sparse

from workbench.algorithms.escalation import default_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP, equilibration, is_psd, is_symmetric
from workbench.problems.residual import FAR, FAR_SCALED
from workbench.step.one_step import pose
from workbench.support.errors import DataError

BY_NAME = {f.name: f for f in FORMULATIONS}
VARIANTS = [
    ("stewart-trinkle", {}),
    ("box", {"bounds": "coupled"}),
    ("box", {}),
    ("discrete-velocity", {}),
    ("ccp", {}),
]


def sliding_block(mass: float, length: float = 1.0) -> ContactSystem:
    """A block that slides obliquely; `mass` and `length` are the units."""
    return ContactSystem(
        M=mass * np.diag([2.0, 2.0, 2.0]), v=length * np.array([1.0, 0.4, -0.1]),
        f=mass * length * np.array([0, 0, -19.62]), h=0.01, J_n=[[0, 0, 1.0]], J_t=[[1.0, 0, 0], [0, 1.0, 0]], mu=0.5,
    )  # fmt: skip


@pytest.mark.parametrize(("name", "options"), [*VARIANTS, ("coulomb", {}), ("frictionless", {})])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_the_residual_does_not_depend_on_units(name, options, share):
    """Impulses wrong by a share are as wrong in tonnes and millimetres."""
    seen = []
    for mass, length in [(1.0, 1.0), (1e-9, 1.0), (1e9, 1.0), (1.0, 1e3), (1e-3, 1e-3)]:
        problem = pose(BY_NAME[name].with_options(**options), sliding_block(mass, length)).problem()
        solution = default_solver(problem.kind).solve(problem)
        assert solution.residual < 1e-12
        seen.append(float(problem.residual(share * solution.z)))
    assert min(seen) > 1e-4
    np.testing.assert_allclose(seen, seen[0], rtol=1e-6)


def test_equilibration_is_equivariant():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = rng.integers(2, 9)
        M = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.7)
        M[np.diag_indices(n)] = np.abs(np.diag(M)) * (rng.random(n) < 0.6)
        # Every row meets, if only through others, one with a diagonal entry: without it nothing sets a scale.
        M[0] = rng.uniform(0.5, 1.5, n)
        E = 10.0 ** rng.uniform(-6, 6, n)
        np.testing.assert_allclose(equilibration(E[:, None] * M * E), equilibration(M) / E, rtol=1e-9)
        assert np.isfinite(equilibration(M)).all()


def test_a_diagonal_entry_that_is_rounding_sets_no_scale():
    """Differences of large numbers leave 1e-17 where the formula has 0; it must not make that row large."""
    M = np.array([[2.0, 1.0], [-1.0, 0.0]])
    noisy = M + np.diag([0.0, 1e-17])
    assert (equilibration(noisy) < 2 * equilibration(M)).all()


def test_symmetry_is_seen_across_units():
    """[[1e12, 1], [-1, 0]]: the asymmetry is invisible beside the largest entry, and the whole point."""
    assert not is_symmetric(np.array([[1e12, 1.0], [-1.0, 0.0]]))
    assert is_symmetric(np.array([[1e12, 1.0], [1.0, 1e-6]]))
    assert is_psd(np.array([[1e12, 1.0], [1.0, 1e-6]]))
    assert not is_psd(np.array([[1e12, 1.0], [1.0, 1e-13]]))
    assert is_symmetric(sparse.csr_array([[2.0, 1.0], [1.0, 0.0]]))
    assert not is_symmetric(sparse.csr_array([[2.0, 1.0], [1.1, 0.0]]))


def test_a_point_far_out_on_a_ray_is_no_solution():
    """M = [[1, -1], [-1, 1]], q = (-1, -1) has none; z = (t, t) comes close relative to its own size only."""
    problem = LCP([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0])
    for t in (1e3, 1e7, 1e15):
        assert problem.residual(np.array([t, t])) > 0.5 / FAR_SCALED


def test_a_negative_normal_impulse_is_no_solution_without_friction():
    for kind in (ConicQP, CoulombNCP):
        assert kind(np.eye(3), [1.0, 0, 0], [0.0]).residual(np.array([-1.0, 0, 0])) > 0.5


def test_batches_are_judged_one_by_one():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((5, 4, 4))
    M, q, z = A @ np.swapaxes(A, 1, 2) + np.eye(4), rng.standard_normal((5, 4)), rng.random((5, 4))
    together = MLCP(M, q, -1.0, 2.0).residual(z)
    np.testing.assert_allclose(
        together, [float(MLCP(M[k], q[k], -1.0, 2.0).residual(z[k])) for k in range(5)], rtol=1e-12
    )


def test_data_are_copied_and_checked():
    M, q = np.eye(2), np.zeros(2)
    LCP(M, q)
    M[0, 0] = 2.0
    assert M.flags.writeable
    for make, words in [
        (lambda: LCP(np.ones((2, 3)), q), "square"),
        (lambda: LCP(np.eye(3), q), "q has shape"),
        (lambda: LCP(np.diag([1.0, np.nan]), q), "nan"),
        (lambda: LCP(1j * np.eye(2), q), "M has complex entries"),
        (lambda: LCP(sparse.csr_array(1j * np.eye(2)), q), "M has complex entries"),
        (lambda: MLCP(np.eye(2), q, 1.0, 0.0), "exceeds"),
        (lambda: MLCP(np.eye(2), q, np.nan, 0.0), "nan"),
        (lambda: ConicQP(np.eye(3), np.zeros(3), [-0.1]), "negative"),
        (lambda: ConicQP(np.eye(4), np.zeros(4), [0.1]), "unknowns"),
        (lambda: ConicQP(np.array([[1.0, 1, 0], [0, 1, 0], [0, 0, 1]]), np.zeros(3), [0.1]), "symmetric"),
    ]:
        with pytest.raises(DataError, match=words):
            make()


def test_a_normaliser_that_overflows_hides_nothing():
    with np.errstate(over="ignore"):
        assert CoulombNCP(1e300 * np.eye(3), np.array([-1e300, 1.0, 1.0]), [0.5]).residual(np.ones(3)) > 0.5
        assert LCP(np.eye(2), np.array([-1e300, 1.0])).residual(np.ones(2)) >= 1


def test_a_point_far_out_on_a_ray_passes_for_no_solution():
    """Nothing moves in the first row, which is violated; the second one of the LCP has slack, and M z grows there."""
    lcp = LCP(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([-1.0, 2.0]))
    W = np.zeros((3, 3))
    W[1, 1] = W[2, 2] = 1.0
    contact = CoulombNCP(W, np.array([-1.0, 0.2, 0.0]), np.array([0.5]))
    for far in (1e3, 1e9, 1e15, 1e30):
        assert lcp.residual(np.array([far, 0.0])) >= 0.1 / FAR_SCALED
        assert contact.residual(np.array([far, -0.2, 0.0])) >= 0.1


def test_impulses_that_move_nothing_count_up_to_a_bound():
    """Two contacts press on one body: z + t (1, -1) is as good; the same error weighs less as t grows, to a limit."""
    W = np.kron(np.ones((2, 2)), np.eye(3))
    order = [0, 3, 1, 2, 4, 5]
    problem = CoulombNCP(W[np.ix_(order, order)], np.array([-1.0, -1.0, 0, 0, 0, 0]), np.array([0.5, 0.5]))

    def off_by_a_thousandth(t):
        z = np.array([0.501, 0.5, t, 0.0, -t, 0.0])
        # The natural map in the data's own units, without its scale of |q|.
        return float(problem.residual(z)) / (problem.unscaled_residual(z) * np.sqrt(2))

    near, far, further = (off_by_a_thousandth(FAR * t) for t in (0.01, 1e3, 1e6))
    assert 0.5e-3 / FAR < far < near / 10
    np.testing.assert_allclose(further, far, rtol=1e-6)
