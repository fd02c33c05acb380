"""Regimes proved over boxes of parameters: no false proof, against exact verdicts of single states and closed forms."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb

from tests.sliding_systems import regime
from tests.thorough import quickly
from workbench.builtin.cases import CASES
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.cases.tripod import Tripod
from workbench.builtin.cases.wedged_box import WedgedBox
from workbench.diagnostics.box_regime import VERDICTS
from workbench.diagnostics.proved_ranges import proved_of_case, proved_ranges
from workbench.matrices.p_property.verdict import p_verdict
from workbench.mechanics.enclosed import over_box
from workbench.mechanics.functions import cos, radians, sin, sqrt
from workbench.step.sliding.exact import as_doubles
from workbench.step.sliding.rows import SlidingRows
from workbench.step.sliding.state import SlidingState, sliding_system
from workbench.support.errors import DataError, WorkbenchError

WRITTEN_FOR = "rod, rod-in-guide, tripod and wedged-box"

KINDS = {"unique": "unique", "none": "none"}
RANGES = {
    "rod": (Rod(), {"angle": (Fraction(10), Fraction(85)), "mu": (Fraction(0), Fraction(3))}),
    "rod, spinning": (Rod(mu=1.6), {"angle": (Fraction(30), Fraction(85)), "spin": (Fraction(1), Fraction(6))}),
    "rod in its guide": (
        RodInGuide(spin=1.0, mu_wall=1.0),
        {"angle": (Fraction(10), Fraction(85)), "mu_guide": (Fraction(0), Fraction(3))},
    ),
    "wedged box": (
        WedgedBox(),
        {"clearance": (Fraction(1, 2000), Fraction(4, 1000)), "mu": (Fraction(0), Fraction(3))},
    ),
    "tripod": (Tripod(), {"direction": (Fraction(0), Fraction(360)), "mu": (Fraction(0), Fraction(2))}),
}


def wedged(box):
    """The state that the wedged box is judged at: opposite corners touch, and slide forward."""
    H, _ = box.across
    return SlidingState(np.array([0.0, 0.5 * H, box.tilt]), np.array([1.0, 0.0, 0.0]), closed=(1, 2))


def system_at(case):
    return sliding_system(case, wedged(case)) if isinstance(case, WedgedBox) else sliding_system(case)


@cache
def found_of(name):
    """The map of one of the ranges, two percent undecided at most."""
    return proved_of_case(*(RANGES[name][0], {}, RANGES[name][1]), Fraction(1, 50))


def box_at(found, values):
    """The box in which the parameters lie."""
    low, high = found.edges()
    inside = ((low <= values) & (values <= high)).all(axis=1)
    return int(np.flatnonzero(inside)[0])


@pytest.mark.parametrize("name", quickly(RANGES, lambda name: name == "rod"))
def test_no_verdict_is_contradicted_by_a_state(name):
    case, ranges = RANGES[name]
    found = found_of(name)
    assert found.shares()["undecided"] <= 1 / 50
    assert found.volume.sum() == 1
    rng, seen = np.random.default_rng(1), set()
    ends = np.array([[float(x) for x in span] for span in ranges.values()])
    for u in rng.random((150, 2)):
        values = ends[:, 0] + u * (ends[:, 1] - ends[:, 0])
        k = box_at(found, values)
        here = case.with_parameters(**dict(zip(ranges, values.tolist(), strict=True)))
        system, verdict = system_at(here), VERDICTS[found.verdict[k]]
        seen.add(verdict)
        if verdict == "locking":
            H, b = here.across
            assert here.mu > b / H
        elif verdict != "undecided":
            kind = regime(system).kind
            assert KINDS.get(kind, "several") == verdict or kind == "undecided"
        if found.p[k] >= 0:
            pair = as_doubles(system).pair()
            is_p = pair.P.det() != 0 and p_verdict(pair.P.solve(pair.Q), 5.0).verdict == "P"
            assert is_p == found.p[k]
    assert len(seen - {"undecided"}) >= 2


def enclosed(found, points):
    """Whether the points (k, d), critical states, lie in boxes without a verdict on the P-property alone."""
    low, high = found.edges()
    return all(((low < x) & (x < high)).all(axis=1)[found.p == -1].any() for x in points)


def test_the_critical_friction_of_the_rod_is_enclosed_everywhere():
    """Genot & Brogliato 1999: mu_c = (1 + kappa (1 + tan^2)) / tan, for kappa = 1/3 at least 4/3."""
    found = found_of("rod")
    t = np.tan(np.radians(np.linspace(10.01, 84.99, 5000)))
    mu = (1 + (1 + t**2) / 3) / t
    points = np.column_stack([np.degrees(np.arctan(t)), mu])
    assert enclosed(found, points[mu < 3])
    low, high = found.edges()
    assert low[found.p == 0, 1].min() > 4 / 3 - 0.05
    assert high[found.p == 1, 1].max() == 3
    # From the other side the tip never jams.
    assert proved_of_case(
        Rod(speed=1.0), {}, {"angle": (Fraction(10), Fraction(85)), "mu": (Fraction(0), Fraction(3))}
    ).shares() == {"unique": 1.0}


@pytest.mark.thorough
@pytest.mark.parametrize("spin", [-1, 1])
def test_the_critical_friction_of_the_rod_in_its_guide_is_enclosed_everywhere(spin):
    """hal-01224915, figure 5, equal friction at both ends: three closed forms (formulary, section 5)."""
    case, kappa = RodInGuide(spin=spin), 1 / 3

    def rows(p):
        return case.sliding_rows({**p, "mu_guide": p["mu"], "mu_wall": p["mu"]})

    ranges = {"angle": (Fraction(10), Fraction(80)), "mu": (Fraction(0), Fraction(3, 2))}
    found = proved_ranges(rows, case.rationals({}), ranges)
    angle = np.radians(np.linspace(10.01, 79.99, 3000))
    t, s = np.tan(angle), np.sin(2 * angle)
    inside = s**2 - 1 + kappa**2
    pulled = np.where(inside >= 0, (s - np.sqrt(np.maximum(inside, 0))) / (1 - kappa), np.inf)
    limits = [(1 + kappa * (1 + t**2)) / t, np.full(len(t), np.sqrt((1 + kappa) / (1 - kappa)))]
    mu = np.min([*limits, *([pulled] if spin > 0 else [])], axis=0)
    assert enclosed(found, np.column_stack([np.degrees(angle), mu])[mu < 1.5])
    # Below the critical friction every box is proved P or undecided.
    low, high = found.edges()
    for k in np.flatnonzero(found.p == 0):
        near = (np.degrees(angle) >= low[k, 0]) & (np.degrees(angle) <= high[k, 0])
        assert (mu[near] <= low[k, 1] + 1e-12).all()


def test_the_wedged_box_locks_above_b_over_h_and_loses_uniqueness_later():
    found = found_of("wedged box")
    boxes = [WedgedBox(clearance=c) for c in np.linspace(0.00051, 0.00399, 500)]
    inertia = (boxes[0].length ** 2 + boxes[0].height ** 2) / 12
    (H, b), clearance = np.array([x.across for x in boxes]).T, np.array([x.clearance for x in boxes])
    lost = (inertia + b**2 / 4) / (b * H / 4)
    assert enclosed(found, np.column_stack([clearance, lost])[lost < 3])
    low, high = found.edges()
    locks = np.column_stack([clearance, b / H])
    open_ = found.verdict == VERDICTS.index("undecided")
    assert all(((low < x) & (x < high)).all(axis=1)[open_].any() for x in locks)


@pytest.mark.thorough
def test_the_tripod_loses_uniqueness_where_its_minors_say():
    """Closed values of the critical friction at three directions, and three-fold symmetry."""
    found = proved_of_case(*(RANGES["tripod"][0], {}, RANGES["tripod"][1]))
    exact = {0: 0.545275254, 30: 17 / 36, 90: 11 / 18}
    points = [((slip + turn) % 360 + 0.0, mu) for slip, mu in exact.items() for turn in (0, 120, 240)]
    low, high = found.edges()
    for x in points:
        assert ((low <= x) & (np.array(x) <= high)).all(axis=1)[found.p == -1].any()


def test_enclosed_numbers_hold_all_values_and_slopes():
    rng = np.random.default_rng(3)

    def f(x, y):
        return (x * x - 3 * y) * cos(x) / (2 + sin(radians(60 * y))) + sqrt(1 + x * y) - 1 / (x + y)

    for _ in range(20):
        at, half = rng.uniform(0.3, 0.7, 2), rng.uniform(0.0, 0.1, 2)
        x, y = (over_box(1, 2, at.tolist(), half.tolist(), k) for k in (0, 1))
        found = f(x, y)
        u = at + half * rng.uniform(-1, 1, (200, 2))
        values = f(*(1 + 2 * u).T)
        assert all(found.over.overlaps(arb(v, 1e-12)) for v in values)
        e = 1e-6
        for k in (0, 1):
            step = e * np.eye(2)[k]
            slope = (f(*(1 + 2 * (at + step))) - f(*(1 + 2 * (at - step)))) / (2 * e)
            assert found.slopes[k].overlaps(arb(slope, 1e-6))
        assert found.centre.overlaps(arb(f(*(1 + 2 * at)), 1e-12))
        # The excess over the range of the samples is small: second order in the widths.
        assert float(found.over.rad()) <= 0.5 * np.ptp(values) * 1.6 + 12 * half.max() ** 2


def test_three_parameters_and_a_witness():
    found = proved_of_case(
        Rod(),
        {},
        {
            "theta": (Fraction(50), Fraction(70)),
            "mu": (Fraction(1), Fraction(2)),
            "kappa": (Fraction(1, 4), Fraction(1, 2)),
        },
        Fraction(1, 4),
    )
    assert found.names == ("angle", "mu", "kappa")
    values, verdict = found.witness()
    here = Rod().with_parameters(**{name: float(x) for name, x in values.items()})
    assert verdict == regime(sliding_system(here)).kind == "none"
    assert proved_of_case(Rod(), {}, {"mu": (Fraction(0), Fraction(1))}).witness() is None


def test_what_is_given_exactly_is_taken_exactly():
    """At tan(theta) = 2 the critical friction is 4/3: up to there P, and the end itself is not proved."""
    rod, given = Rod().with_parameters(tan_theta=2.0), {"tan_theta": Fraction(2)}
    assert proved_of_case(rod, given, {"mu": (Fraction(0), Fraction(4, 3) - Fraction(1, 10**9))}).shares() == {
        "unique": 1.0
    }
    at_end = proved_of_case(rod, given, {"mu": (Fraction(1), Fraction(4, 3))})
    assert set(at_end.shares()) == {"unique", "undecided"}


def test_time_and_mistakes():
    ranges = {"angle": (Fraction(10), Fraction(85)), "mu": (Fraction(0), Fraction(3))}
    found = proved_of_case(Rod(), {}, ranges, Fraction(0), seconds=0.0)
    assert found.shares() == {"undecided": 1.0}
    assert proved_of_case(Rod(), {}, ranges, Fraction(0), seconds=0.3).seconds < 1.0
    with pytest.raises(DataError, match=r"wheel.*single states"):
        proved_of_case(CASES.find("wheel")(), {}, {"mu": (Fraction(0), Fraction(1))})
    with pytest.raises(DataError, match="xi = 0"):
        proved_of_case(Rod(), {}, {"xi": (Fraction(-1), Fraction(1)), "mu": (Fraction(0), Fraction(1))})
    with pytest.raises(DataError, match="from 0 to below 1"):
        proved_of_case(Rod(), {}, ranges, Fraction(-1))
    with pytest.raises(DataError, match="the first must be the smaller"):
        proved_of_case(Rod(), {}, {"mu": (Fraction(1), Fraction(1))})
    with pytest.raises(DataError, match="mu = -1"):
        proved_of_case(Rod(), {}, {"mu": (Fraction(-1), Fraction(1))})
    with pytest.raises(DataError, match="named twice"):
        proved_of_case(Rod(), {}, {"theta": (Fraction(1), Fraction(2)), "angle": (Fraction(1), Fraction(2))})
    with pytest.raises(DataError, match="tan_theta"):
        proved_of_case(
            Rod().with_parameters(tan_theta=2.0), {"tan_theta": Fraction(2)}, {"angle": (Fraction(10), Fraction(80))}
        )
    with pytest.raises(WorkbenchError, match="nu"):
        proved_of_case(Rod(), {}, {"nu": (Fraction(0), Fraction(1))})
    many = SlidingRows([[1]], [0], [[1]] * 5, [[0]] * 5, [0] * 5, [1] * 5)
    with pytest.raises(DataError, match="5 contacts"):
        proved_ranges(lambda p: many, {}, {"x": (Fraction(0), Fraction(1))})


def test_the_cases_that_have_it_are_those_that_the_refusal_names():
    have = [case.name for case in CASES if hasattr(case, "sliding_rows")]
    assert ", ".join(have[:-1]) + f" and {have[-1]}" == WRITTEN_FOR
