"""Sweeps of sliding contacts: the bits of single systems, closed forms, and what is wrong stays its own."""

from dataclasses import replace

import numpy as np
import pytest

from tests.sliding_systems import SIZES, random_system
from workbench.algorithms import find_solver
from workbench.builtin.cases.rod import Rod
from workbench.builtin.formulations.sliding_lcp import sliding_lcp
from workbench.problems.solution import Status
from workbench.step.sliding.sweep import sweep_sliding
from workbench.step.sliding.system import solve_sliding
from workbench.support.errors import DataError, UnknownNameError

LEMKE = find_solver("lemke")


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"b{s[0]}-u{s[1]}")
def test_a_sweep_has_the_bits_of_single_systems(size):
    B, rng, s = 24, np.random.default_rng(2), random_system(1, *size)
    spread = rng.uniform(0.5, 2.0, (B, len(s.M)))
    side = "b" if s.m_b else "u"
    varied = {
        "M": s.M * spread[:, :, None] * spread[:, None, :], "f": s.f + rng.normal(size=(B, len(s.f))),
        f"mu_{side}": np.linspace(0, 0.3, B), f"J_t{side}": rng.normal(size=(B, *getattr(s, f"J_t{side}").shape)),
    }  # fmt: skip
    answer = sweep_sliding(sliding_lcp, s, **varied)
    apart = sweep_sliding(sliding_lcp, s, **varied, threads=3)
    np.testing.assert_array_equal(answer.acceleration, apart.acceleration)
    assert answer.solved.sum() >= B // 2
    for k in np.flatnonzero(answer.solved)[::3]:
        single = replace(s, **{name: value[k] for name, value in varied.items()})
        multipliers, a, solution = solve_sliding(sliding_lcp, single, LEMKE)
        np.testing.assert_array_equal(answer.lambda_nb[k], multipliers.lambda_nb)
        np.testing.assert_array_equal(answer.lambda_nu[k], multipliers.lambda_nu)
        np.testing.assert_array_equal(answer.acceleration[k], a)
        assert answer.iterations[k] == solution.iterations
        assert answer.residuals[k] == pytest.approx(solution.residual, rel=1e-6, abs=1e-14)


def test_the_rod_over_friction_is_its_scalar_lcp():
    """a lambda + b with a = (1 + cos (cos - mu sin) / kappa) / m for xi = -1: -b / a where a > 0, none where a < 0."""
    rod, mu = Rod(angle=60.0), np.linspace(0, 3, 301)
    system = rod.sliding_system(*rod.start())
    answer = sweep_sliding(sliding_lcp, system, mu_u=mu)
    c, s = np.cos(np.radians(60.0)), np.sin(np.radians(60.0))
    a = (1 + c * (c - mu * s) / rod.kappa) / rod.m
    np.testing.assert_array_equal(answer.solved, a > 0)
    good = answer.solved
    np.testing.assert_allclose(answer.lambda_nu[good, 0], rod.gravity / a[good], rtol=1e-10)
    assert (answer.status[~good] == Status.RAY).all()
    assert np.isnan(answer.acceleration[~good]).all()
    assert np.isinf(answer.residuals[~good]).all()


def test_an_answer_that_fails_is_its_own_systems():
    s = random_system(1, 2, 1)
    f, J_nb = np.repeat([s.f], 4, 0), np.repeat([s.J_nb], 4, 0)
    good = sweep_sliding(sliding_lcp, s, f=f, J_nb=J_nb, mu_b=np.full(4, 0.1))
    f[1, 0], J_nb[2, 1] = np.nan, J_nb[2, 0]
    answer = sweep_sliding(sliding_lcp, s, f=f, J_nb=J_nb, mu_b=np.full(4, 0.1))
    assert answer.status.tolist() == [good.status[0], Status.NOT_FINITE, Status.SINGULAR, good.status[3]]
    np.testing.assert_array_equal(answer.lambda_nb[[0, 3]], good.lambda_nb[[0, 3]])
    assert np.isnan(answer.lambda_nb[1:3]).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "nothing varies"),
        ({"mu": [1.0]}, "unknown datum 'mu' of sliding contacts"),
        ({"mu_u": np.ones((2, 3))}, r"mu_u has shape \(2, 3\); \(2, 1\) or \(2,\)"),
        ({"mu_u": [1.0, -1.0]}, r"mu_u\[1, 0\] = -1; a nonnegative number"),
        ({"xi_u": [1.0, 0.5]}, r"xi_u\[1, 0\] = 0.5; the sign of a velocity"),
        ({"M": -np.ones((1, 3, 3))}, r"M\[0\] is not positive definite"),
        ({"mu_u": [1.0], "solver": "clarabel"}, "clarabel is not compiled"),
    ],
)
def test_what_makes_no_sweep_is_refused_in_one_line(given, words):
    rod = Rod()
    with pytest.raises((DataError, UnknownNameError), match=words) as error:
        sweep_sliding(sliding_lcp, rod.sliding_system(*rod.start()), **given)
    assert "\n" not in str(error.value)
