"""The page of hal-01224915 on a small scale: critical friction, all solutions, misprints, the steps of the rod."""

import itertools

import numpy as np
import pytest

from tests.sliding_systems import SIZES, random_system
from workbench.algorithms.enumeration import all_solutions
from workbench.builtin.reports.reproductions import (
    _sliding,
    _sliding_charts,
    _sliding_guide,
    _sliding_rod,
    hal_01224915,
)
from workbench.matrices.p_property.verdict import smallest_minor


def unconfirmed(section):
    return [c.statement for c in section.claims if c.verdict != "confirmed"]


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"b{s[0]}-u{s[1]}")
def test_the_first_critical_scale_is_where_the_p_property_is_lost(size):
    for seed in range(6):
        s = random_system(seed, *size)
        scales = _sliding.critical_scales(s)
        assert scales[-1] == np.inf
        if len(scales) == 1:
            assert smallest_minor(s.with_friction(1e3).M_mu) > 0
            continue
        inside = [smallest_minor(s.with_friction(x * scales[0]).M_mu) for x in (0.0, 0.3, 0.7, 1 - 1e-7)]
        assert min(inside) > 0
        assert smallest_minor(s.with_friction((1 + 1e-7) * scales[0]).M_mu) < 0
        np.testing.assert_allclose(_sliding.critical_scales(s.with_friction(2.0))[0], scales[0] / 2, rtol=1e-9)


@pytest.mark.parametrize(("size", "seeds"), [((0, 2), (1, 2, 48)), ((1, 1), (1, 2, 114)), ((0, 3), (1, 2, 38))])
def test_between_two_critical_scales_the_verdict_does_not_change(size, seeds):
    for seed in seeds:
        s, regained = random_system(seed, *size), False
        roots = _sliding.critical_scales(s)[:-1]
        for low, high in itertools.pairwise([*roots, 10 * roots[-1]]):
            signs = {smallest_minor(s.with_friction(x).M_mu) > 0 for x in np.linspace(low, high, 12)[1:-1]}
            assert len(signs) == 1
            regained |= signs == {True}
        assert hal_01224915.regains(s) == regained == (seed == seeds[-1])


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"b{s[0]}-u{s[1]}")
def test_trying_every_case_finds_the_solutions_of_the_lcp(size):
    for seed in range(5):
        s = random_system(seed, *size, mu=1.5)
        by_cases = sorted(np.concatenate(x).tolist() for x in _sliding.solutions_by_cases(s))
        by_lcp = sorted(np.concatenate(s.multipliers(z)).tolist() for z in all_solutions(s.lcp))
        assert len(by_cases) == len(by_lcp)
        np.testing.assert_allclose(by_cases, by_lcp, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kappa", [0.1, 1 / 3, 0.8])
def test_the_critical_friction_of_the_rod_in_a_guide_in_closed_form(kappa):
    for angle, spin in itertools.product((20.0, 38.0, 44.0, 52.0, 63.0, 80.0), (-1.0, 1.0)):
        case = _sliding_guide.RodInGuide(m=2.0, l=0.7, kappa=kappa, angle=angle, spin=spin, mu_guide=1.0, mu_wall=1.0)
        computed = _sliding.critical_scales(_sliding.at_start(case))[0]
        assert computed == pytest.approx(_sliding_guide.critical_of_guide(angle, spin > 0, kappa), rel=1e-7)


def test_cells_cover_the_map_once():
    x, y = np.array([0.5, 1.5, 2.5]), np.array([1.0, 3.0])
    frame = _sliding_charts.cells(x, y, ["a", "a", "a", "b", "b", "a"])
    assert list(frame["kind"]) == ["a", "a", "b", "b", "a"]
    assert list(zip(frame["y"], frame["y2"], strict=True)) == [(0, 4), (0, 2), (2, 4), (0, 2), (2, 4)]
    assert list(frame["x"]) == [0, 1, 1, 2, 2]


def test_a_small_map_of_the_rod_agrees_with_the_signs():
    frame, differ = _sliding_rod.rod_map(3.5, (8, 6))
    assert differ == 0
    assert set(frame["kind"]) == {"unique for every load (P)", "no solution", "two solutions"}


def test_exactly_the_misprints_differ():
    open_ones = unconfirmed(hal_01224915.misprints())
    assert len(open_ones) == 3
    assert all("as printed" in name for name in open_ones)


def test_the_steps_of_the_rod_meet_the_theory():
    assert unconfirmed(_sliding_rod.stepping()) == []
