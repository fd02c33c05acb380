"""The page of DETC2017-67988: what the cube is held against, and where its claims hold."""

from functools import cache

import numpy as np
import pytest

from workbench.builtin.cases.cube import Cube
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.hybrid import hybrid
from workbench.builtin.reports.reproductions import _cube_paths as page
from workbench.builtin.reports.reproductions import _phantom, _pivoting, _saturation
from workbench.builtin.reports.reproductions import _tangent_plane as tangent
from workbench.builtin.reports.reproductions._cube import COARSE, FINE, FIXED, ITERATED, REGULARISED, run

pytestmark = pytest.mark.thorough

paths = cache(page.cube_paths)


def verdicts(section, kind):
    return {c.verdict for c in section.claims if c.kind == kind}


def test_the_reference_has_compliance_in_its_normal_rows_only():
    for r in paths().exact.values():
        assert np.isinf(r.relaxation.k_t)
        assert (r.relaxation.k_n, r.relaxation.b_n) == (Cube().k_n, Cube().b_n)
    for found in paths().runs.values():
        assert all(r.relaxation == Cube().relaxation for r in found.values())


def test_it_ends_where_independent_runs_and_theory_do():
    for section in (page.parts(paths()), page.reference(paths())):
        assert verdicts(section, "check") == {"confirmed"}
        assert verdicts(section, "claim") == set()


def test_the_runs_compliance_is_not_taken_for_the_models_error():
    # It moves Coulomb friction by 0.65 mm, and the two models by a fiftieth of that.
    assert 6e-4 < paths().distance(coulomb, FINE) < 7e-4
    for f in (REGULARISED, ITERATED):
        assert paths().distance(f, FINE) < 1.5e-5


def test_the_claims_on_the_paths_say_for_which_models_they_hold():
    same, closest, closer = [c for c in page.trajectories(paths()).claims if c.kind == "claim"]
    for claim in (same, closest, closer):
        assert claim.verdict == "confirmed in part"
    assert "AP" not in same.where
    assert "box" not in same.where
    for claim in (closest, closer):
        assert page.name_of(REGULARISED) in claim.where
        assert page.name_of(FIXED) not in claim.where
    assert f"phantom inertia / {page.name_of(hybrid)}" in closer.where
    assert f"phantom inertia / {page.name_of(ITERATED)}" not in closer.where


def test_block_pivoting_fails_as_often_as_an_independent_run_found():
    assert {c.verdict for c in _pivoting.counted_elsewhere()} == {"confirmed"}


def test_block_pivoting_is_confirmed_for_small_rho_only():
    claim = _pivoting.block_pivoting()
    assert claim.where == "plain (rho [kg]: up to 0.01, default); regularised (rho [kg]: 1e-08, default)"


def test_the_phantom_inertia_is_read_off_the_problem():
    r = run(Cube(), REGULARISED.with_options(rho=0.3), COARSE)
    assert [_pivoting.rho_of(r, k) for k in (0, 5, 70)] == pytest.approx([0.3] * 3, rel=1e-9)


def test_full_rank_holds_within_the_window():
    claim = _phantom.full_rank()
    assert claim.verdict == "confirmed in part"
    assert claim.tried is not None
    assert all(row[-1] == 0 for row in claim.tried.rows.values())
    assert all(row[0] > 0 for name, row in claim.tried.rows.items() if "reduced" in name)


@pytest.mark.parametrize("k", [2, 4])
def test_the_pushed_blocks_friction_stays_in_the_polygon_that_is_drawn(k):
    axes = _saturation.axes_of(2 * k)
    corners = tangent.circumscribed(axes)
    np.testing.assert_allclose(np.abs(corners @ axes).max(axis=1), 1.0, rtol=1e-12)
    assert len(corners) == 2 * k + 1
    for push, angle in ((0.4, 10.0), (1.8, 10.0), (1.8, 100.0)):
        ((p_n, p_t, w_up, w_lo),) = _saturation.answers(push, 0.3, 2 * k, angle)
        force = p_t / (_saturation.MU * p_n)
        assert np.abs(axes.T @ force).max() <= 1 + 1e-12
        sticks = push < 1
        if sticks:
            assert np.linalg.norm(force) == pytest.approx(push, rel=1e-9)
        assert (max(w_up.max(), w_lo.max()) == 0) == sticks


def test_neither_the_force_nor_the_transition_depends_on_rho():
    for rho in (1e-3, 50.0):
        assert max(_saturation.worst(2, rho)) <= 1e-12
