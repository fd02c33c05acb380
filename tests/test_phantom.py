"""The window of the phantom inertia: singular values in closed form, thresholds of rank, the P-property."""

import numpy as np
import pytest

from tests.systems import particle, random_system
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.particle import Particle
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.discrete_velocity import discrete_velocity
from workbench.builtin.formulations.phantom_inertia import phantom_inertia
from workbench.builtin.reports.reproductions._cube import predicted_lack, rank_rows, regularised_step
from workbench.diagnostics.phantom import lead_matrices, p_limit, pencil, scan, singular_values_of_rho, threshold
from workbench.matrices.p_property.verdict import p_verdict_of
from workbench.mechanics.relaxation import RIGID
from workbench.problems.rank import rank
from workbench.step.one_step import first_step, pose
from workbench.support.errors import DataError

FIXED = phantom_inertia.with_options(axes="fixed")


def pencil_of(case, directions=4, h=1e-3):
    return pencil(first_step(case, FIXED.with_options(directions=directions), h))


def closed_form(stepper, k):
    """k eig(K), K = [W^-1]_tt of the relaxed Delassus operator, repeated values once."""
    c = stepper.core
    J = np.vstack([c.J_n, c.J_t])
    W = J @ np.linalg.solve(c.M, J.T) + np.diag(np.concatenate([c.eps_n, c.eps_t]))
    r = len(c.phi)
    values = k * np.linalg.eigvalsh(np.linalg.inv(W)[r:, r:])
    return values[np.concatenate([[True], np.diff(values) > 1e-6 * values[1:]])]


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("case", [Wheel(), Cube(), Cube(mu=0.3, m=2.0, edge=0.5)], ids=["wheel", "cube", "small cube"])
def test_the_matrix_is_singular_where_rho_meets_k_times_the_effective_tangential_mass(case, k):
    stepper = first_step(case, FIXED.with_options(directions=2 * k), 1e-3)
    found = singular_values_of_rho(pencil(stepper))
    np.testing.assert_allclose(found, closed_form(stepper, k), rtol=1e-6)
    # None lies below k / lambda_max(W_tt), k times the formulation's default.
    assert found[0] >= k * pencil(stepper).rho * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_random_contacts_too(seed):
    stepper = pose(FIXED, random_system(seed, 2, 2))
    np.testing.assert_allclose(singular_values_of_rho(pencil(stepper)), closed_form(stepper, 2), rtol=1e-6)


def test_the_particle_is_singular_at_k_times_its_mass():
    for k in (2, 4):
        system = particle((1.0, 0.5))
        p = pencil(pose(FIXED.with_options(directions=2 * k), system))
        assert singular_values_of_rho(p) == pytest.approx([k * system.M[0, 0]], rel=1e-9)
    # In the plane there is one axis, and E E^T = 1.
    assert singular_values_of_rho(pencil_of(Particle())) == pytest.approx([2 * Particle().m], rel=1e-9)


def test_the_determinant_of_both_matrices_changes_sign_or_vanishes_at_the_wheels_singular_values():
    p = pencil_of(Wheel())
    found = singular_values_of_rho(p)
    np.testing.assert_allclose(found, [1.197, 1.412], atol=5e-4)
    for matrix in (p.mixed, p.reduced):
        signs = [np.linalg.slogdet(matrix(x))[0] for x in (found[0] * 0.99, found.mean(), found[1] * 1.01)]
        assert signs[0] == -signs[1] == signs[2]


def test_the_pencil_is_the_matrix_that_is_posed_and_leaves_the_stepper_as_it_was():
    for x in (1e-3, 0.7):
        stepper = first_step(Cube(), FIXED.with_options(rho=x), 1e-3)
        mixed, reduced = lead_matrices(stepper)
        p = pencil(stepper)
        assert p.rho == x == stepper.own[0]
        np.testing.assert_allclose(p.reduced(x), reduced, rtol=1e-12, atol=1e-12 * np.abs(reduced).max())
        np.testing.assert_allclose(p.mixed(x), mixed, rtol=1e-14, atol=1e-14)


def test_the_threshold_is_where_the_rank_is_lost():
    for p in (pencil_of(Wheel()), pencil_of(Cube())):
        for matrix in (p.mixed, p.reduced):
            x = threshold(p, matrix)
            assert rank(matrix(1.02 * x)).value == len(matrix(1))
            assert rank(matrix(0.5 * x)).value < len(matrix(1))
    assert threshold(p, p.mixed, 1e-10) > 10 * threshold(p, p.mixed, 1e-12)


def test_stiff_relaxation_raises_the_threshold():
    steps = [threshold(p, p.reduced) for p in (pencil_of(Cube(), h=h) for h in (1e-4, 1e-3, 1e-2))]
    assert steps == sorted(steps)
    assert steps[2] > 1e3 * steps[1]


def test_the_scan_tells_rank_and_condition():
    p = pencil_of(Wheel())
    found = scan(p, [1e-20, 0.5, singular_values_of_rho(p)[0], 1e4]).set_index(["matrix", "rho"])
    assert (found["rank"] == found["size"])["reduced"].tolist() == [False, True, False, True]
    M = p.reduced(0.5)
    assert found.loc[("reduced", 0.5), "smallest"] == pytest.approx(1 / np.linalg.cond(M))
    assert found.loc[("mixed", 0.5), "size"] == 13


def test_the_wheels_matrix_is_a_p_matrix_up_to_twice_the_default_and_never_with_four_axes():
    p = pencil_of(Wheel())
    limit = p_limit(p, 2.0)
    assert limit == pytest.approx(1.1522, abs=1e-4)
    assert limit <= 2 * p.rho * (1 + 2e-5)
    verdicts = [p_verdict_of(p.reduced(x)).verdict for x in (1e-9, 1e-3, p.rho, 1.1521, 1.1523, 10.0)]
    assert verdicts == ["P"] * 4 + ["not P"] * 2
    four = pencil_of(Wheel(), 8)
    assert np.isnan(p_limit(four, 2.0))
    assert {p_verdict_of(four.reduced(10.0**x)).verdict for x in range(-12, 5)} == {"not P"}


def test_redundant_rigid_contacts_are_refused():
    with pytest.raises(DataError, match="constraint relaxation"):
        pencil(first_step(Cube(), FIXED, 1e-3, relaxation=RIGID))


def test_ranks_are_as_predicted_and_as_counted_on_random_contacts():
    rows = [x for x in rank_rows() if x.predicted is not None]
    assert len(rows) >= 40
    assert [x.lack for x in rows] == [x.predicted for x in rows]
    for f in (anitescu_potra, discrete_velocity):
        for n_d in (4, 6, 10):
            own = f.with_options(directions=n_d)
            for M in lead_matrices(pose(own, random_system(n_d, 2, 2))):
                assert len(M) - rank(M).value == predicted_lack(own, 2)


def test_spoilt_friction_data_show_in_one_step():
    """What the printed equations (39) and (43) of DETC2017-67988 and its mu_i would do to friction while sliding."""
    share, angle = regularised_step()
    assert (share, angle < 2e-3) == (pytest.approx(1, abs=1e-6), True)
    assert regularised_step(eps=1 / Wheel().mu)[1] > 10 * angle
    assert regularised_step(mu_across=0.0)[1] > 10 * angle
    assert regularised_step(mu_across=0.0, mu_along=0.0)[0] < 1e-9
