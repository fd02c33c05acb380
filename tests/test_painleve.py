"""Well-posedness of sliding friction: regimes, critical friction, Proposition 1 beside it, maps."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from tests.sliding_systems import SIZES, painleve, random_system, regime
from workbench.algorithms.enumeration import all_solutions
from workbench.builtin.cases import CASES
from workbench.builtin.cases.drawer import Drawer
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.diagnostics.critical_friction import by_march, critical_friction
from workbench.diagnostics.friction_line import FrictionLine
from workbench.diagnostics.painleve import of_case
from workbench.diagnostics.proposition import balanced, bounds
from workbench.matrices.p_property.verdict import p_verdict, smallest_minor
from workbench.readers.matrix import Matrix
from workbench.step.sliding.exact import as_doubles, exact_rows
from workbench.step.sliding.law import law_residual
from workbench.step.sliding.state import sliding_system
from workbench.step.sliding.system import SlidingSystem
from workbench.support.errors import DataError

NAMES = {0: "none", 1: "unique", 2: "two"}

T = np.degrees(np.arctan(2.0))
INDEPENDENT = [
    (30.0, 0.0, 0.5, "unique", [3.7723791096]), (T, 0.0, 1.0, "unique", [24.525]), (T, 5.0, 1.0, "unique", [0.0]),
    (T, 0.0, 1.4, "none", []), (T, 4.0, 1.4, "two", [0.0, (32 / np.sqrt(5) - 9.81) / 0.08]),
]  # fmt: skip


def exact_rod(**given):
    """The rod at its start, and its rational data, from parameters as typed."""
    values = {key: Fraction(value) for key, value in given.items()}
    case = Rod().with_parameters(**{key: float(value) for key, value in values.items()})
    return case, case.exact_sliding(values)


# Regimes


@pytest.mark.parametrize(("angle", "spin", "mu", "kind", "forces"), INDEPENDENT)
def test_the_rod_has_the_forces_worked_out_independently(angle, spin, mu, kind, forces):
    case = Rod(angle=angle, spin=spin, mu=mu, speed=-1.0)
    s = case.sliding_system(*case.start())
    results = [regime(s)]
    if angle == T:
        case, exact = exact_rod(tan_theta=2, thetadot=int(spin), mu=str(mu), speed=-1)
        results.append(regime(s, exact))
        assert results[1].exact
    for r in results:
        assert (r.kind, r.as_given, r.reason) == (kind, kind, "")
        found = sorted(a.multipliers.lambda_nu.item() for a in r.answers)
        np.testing.assert_allclose(found, forces, rtol=0, atol=1e-9 * max([1.0, *forces]))
        for a in r.answers:
            assert law_residual(s, a.acceleration, *a.multipliers).worst <= 1e-9


@pytest.mark.parametrize("angle", [{"tan_theta": 2, "mu": "4/3"}, {"theta": 45, "mu": "5/3"}])
@pytest.mark.parametrize(
    ("extra", "kind"),
    [({"thetadot": 0}, "none"), ({"b": "-1/1000000000000000000"}, "none"), ({"b": 0}, "infinitely many"),
     ({"b": "1/1000000000000000000"}, "unique"), ({"thetadot": 5}, "unique")],
)  # fmt: skip
def test_on_the_rod_s_boundary_the_regime_is_exact(angle, extra, kind):
    case, exact = exact_rod(**angle, **extra)
    s = case.sliding_system(*case.start())
    r = regime(s, exact)
    assert (r.kind, r.exact) == (kind, True)
    pair = exact.pair()
    assert pair.Q.det() == 0
    if kind == "infinitely many":
        (line,) = r.continua
        assert (line.dimension, line.corners, line.directions) == (1, [[0.0]], [[1.0]])
    if kind == "unique":
        assert [a.exact for a in r.answers] == [["0"]]
    # The doubles of the same state cannot tell, and say so; a little further away they can, but for b itself.
    assert regime(s).kind == "undecided"
    beyond = Rod(angle=case.angle, mu=case.mu * (1 + 1e-9), spin=case.spin)
    assert (regime(beyond.sliding_system(*beyond.start())).kind == "undecided") == ("b" in extra)


def test_the_rod_is_exact_for_other_names_and_refuses_what_cannot_be():
    case, exact = exact_rod(tan_theta="3/4", mu=1, b="1/10", xi=1)
    assert case.speed > 0
    a, b = case.scalar_lcp(*case.start())
    assert b == pytest.approx(0.1, abs=1e-14)
    pair = exact.pair()
    # Without friction's sign a = (1 + c (c + mu xi s) / kappa) / m with c = 4/5, s = 3/5.
    assert -pair.Q[0, 0] == fmpq(1) + fmpq(3) * fmpq(4, 5) * fmpq(7, 5)
    assert float(a) == pytest.approx(1 + 3 * 0.8 * 1.4, rel=1e-14)
    assert pair.w[0, 0] == fmpq(1, 10)
    assert Rod(angle=50.0).exact_sliding({}) is None
    for wrong in ({"b": -10.0}, {"b": 0.0, "angle": -30.0}, {"xi": 0.5}, {"tan_theta": 1.0, "theta": 3.0},
                  {"b": 0.0, "spin": 1.0}):  # fmt: skip
        with pytest.raises(DataError, match="rod: "):
            Rod().with_parameters(**wrong)


def test_random_systems_have_the_regime_that_enumeration_finds():
    kinds = set()
    for seed, size in itertools.product(range(8), SIZES):
        s = random_system(seed, *size, mu=1.5)
        r = regime(s)
        n = len(all_solutions(s.lcp))
        assert r.kind == r.as_given == NAMES.get(n, str(n))
        kinds.add(r.kind)
        for a in r.answers:
            assert law_residual(s, a.acceleration, *a.multipliers).worst <= 1e-9
        pair = as_doubles(s).pair()
        M = np.array([float(Fraction(int(x.p), int(x.q))) for x in pair.P.solve(pair.Q).entries()])
        np.testing.assert_allclose(M.reshape(sum(size), -1), s.M_mu, rtol=0, atol=1e-9 * np.abs(s.M_mu).max())
    assert {"unique", "none", "two"} <= kinds


@pytest.mark.parametrize(("load", "kind"), [(3, "unique"), (-3, "none"), (0, "infinitely many")])
def test_a_singular_A_is_no_obstacle(load, kind):
    """A = A_nb - mu xi A_tb = 0: lambda+ does nothing, lambda- = 3 w / 8."""
    inertia, data = [[1, 0.5], [0.5, 1]], dict(mu=[2], xi=[-1], m_b=1)
    exact = exact_rows(inertia, [0, 0], [[0, 1]], [[1, 0]], w_n=[load], **data)
    s = SlidingSystem(np.array(inertia), np.zeros(2), np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), 2.0, -1.0, load)
    r = regime(s, exact)
    assert r.kind == kind
    if load > 0:
        assert r.answers[0].exact == [f"-{Fraction(3 * load, 8)}"]
    p = painleve(s, exact)
    assert (p.verdict, p.property_p, p.losses[0].critical.exact, p.losses[0].critical.lost_on) == (
        None, "not P", "1", ())  # fmt: skip
    assert regime(s).kind == "undecided"


def test_redundant_contacts_leave_the_forces_open():
    """A block on four points: the forces form a line, and no tolerance leaves it one."""
    p = of_case(next(c for c in CASES if c.name == "cube")())
    assert (p.regime.kind, p.regime.as_given, p.regime.continua[0].dimension) == ("undecided", "infinitely many", 1)
    assert p.property_p == "undecided"
    assert p.losses[0].critical.lo is None
    with pytest.raises(DataError, match="no contact is closed"):
        of_case(next(c for c in CASES if c.name == "particle")())
    with pytest.raises(DataError, match="does not slide"):
        sliding_system(next(c for c in CASES if c.name == "block")(speed=0.005))
    with pytest.raises(DataError, match="tolerance 0"):
        regime(random_system(0, 1, 1), tolerance=0.0)


@pytest.mark.parametrize(("mu", "load", "kind", "name"), [
    ((1, 1), -10, "infinitely many", "sliding"), ((1, 2), -10, "infinitely many", "indeterminate"),
    ((1, 1), 10, "unique", "lift-off"), ((1, 2), 10, "unique", "lift-off"),
])  # fmt: skip
def test_forces_that_are_open_may_leave_one_motion(mu, load, kind, name):
    """A block on two points below each other: how they share the load moves it only where their friction differs."""
    exact = exact_rows([[1, 0], [0, 1]], [0, load], [[0, 1]] * 2, [[1, 0]] * 2, mu, [1, 1], 0)
    system = SlidingSystem(np.eye(2), np.array([0.0, load]), J_nu=np.array([[0.0, 1.0]] * 2),
                           J_tu=np.array([[1.0, 0.0]] * 2), mu_u=np.array(mu, dtype=float), xi_u=1.0)  # fmt: skip
    r = regime(system, exact)
    assert (r.kind, r.name) == (kind, name)
    # No tolerance leaves the two points exactly redundant.
    assert regime(system).name == "undecided"
    assert regime(system).opening == r.opening == {"sliding": (), "indeterminate": None, "lift-off": (0, 1)}[name]


# Critical friction


def test_the_critical_friction_of_the_rod():
    for t in (Fraction(2), Fraction(1, 2), Fraction(3, 4), Fraction(7, 3)):
        for kappa in (Fraction(1, 3), Fraction(1, 2)):
            case, exact = exact_rod(tan_theta=t, kappa=kappa, mu="1/2")
            c = critical_friction(case.sliding_system(*case.start()), 0.0, 1.0, exact)
            assert Fraction(c.exact) == (1 + kappa * (1 + t * t)) / t
            assert c.lo <= float(Fraction(c.exact)) <= c.hi
            assert c.lost_on == (0,)
            assert len(c.intervals) == 1
    p = of_case(Rod(angle=T))
    assert p.losses[0].critical.value == pytest.approx(4 / 3, rel=1e-14)
    assert p.losses[0].ratio == pytest.approx(1.0, rel=1e-9)
    assert of_case(Rod(speed=1.0)).losses[0].critical.lo == np.inf


def test_the_rod_in_its_guide_is_p_between_two_frictions_of_the_wall():
    case = RodInGuide(angle=30.0, spin=1.0, mu_guide=1.6)
    c = next(x.critical for x in of_case(case).losses if x.name == "mu_wall")
    assert (c.lo, c.hi) == (None, None)
    ((lo, hi),) = c.intervals
    assert (round(lo.value, 3), round(hi.value, 3)) == (0.261, 1.407)
    for root, sign in ((lo, 1), (hi, -1)):
        for step in (1e-12, -1e-12):
            s = RodInGuide(angle=30.0, spin=1.0, mu_guide=1.6, mu_wall=root.value * (1 + step))
            M = Matrix(s.sliding_system(*s.start()).M_mu).exact
            assert (p_verdict(M).verdict == "P") == (step * sign > 0)


def test_the_drawer_jams_at_L_over_2_e():
    rng = np.random.default_rng(7)
    for _ in range(20):
        L, e, r, m = rng.uniform(0.1, 2.0, 4)
        case = Drawer(length=L, offset=e, radius=r, m=m)
        s = case.sliding_system(*case.start())
        c = critical_friction(s, 0.0, 1.0)
        assert c.value == pytest.approx(L / (2 * e), rel=1e-12)
        assert case.critical == pytest.approx(L / (2 * e), rel=1e-15)
        assert bounds(s).mu_max_b == pytest.approx(min(2 * r * r, L * L / 2) / (L * e), rel=1e-12)
        dets = [np.linalg.det(s.with_friction(x).blocks.A) for x in (0.0, 1.0, 7.0)]
        np.testing.assert_allclose(dets, (L / (m * r)) ** 2, rtol=1e-9)
        definite = [
            np.linalg.eigvalsh(x + x.T)[0] > 0
            for x in (s.with_friction(k * 2 * r / e / 0.2).blocks.A for k in (0.999, 1.001))
        ]
        assert definite == [True, False]
    p = of_case(Drawer(), {"L": Fraction("0.4"), "e": Fraction("0.3")})
    assert p.losses[0].critical.exact == "2/3"
    kinds = {}
    for handle, mu in itertools.product(("-1/10", "0", "1/10"), ("1/2", "2/3", "1")):
        given = {"handle": Fraction(handle), "mu": Fraction(mu)}
        case = Drawer().with_parameters(**{k: float(v) for k, v in given.items()})
        kinds[handle, mu] = regime(case.sliding_system(*case.start()), case.exact_sliding(given)).kind
    assert list(kinds.values()) == [
        "unique", "none", "none", "unique", "infinitely many", "unique", "unique", "unique", "two"]  # fmt: skip


def is_p(s, mu_0, mu_1, values):
    """Whether M_mu is P at mu_0 + x mu_1 for each x of values, by minors in floating point."""
    line = FrictionLine(s, mu_0, mu_1)
    return smallest_minor(np.array([line.at(x).M_mu for x in values])) > 0


@pytest.mark.thorough
def test_brackets_and_intervals_agree_with_a_dense_scan():
    rng, regained = np.random.default_rng(8), 0
    scan = np.linspace(1e-3, 8.0, 80)
    lines = []
    for seed, size in itertools.product(range(10), [(1, 1), (2, 0), (2, 1), (0, 3), (2, 2)]):
        s = random_system(seed, *size, mu=1.0)
        mu_1 = np.append(s.mu_b, s.mu_u)
        lines.append((s, np.zeros(len(mu_1)) if seed % 2 else 3.0 * np.roll(mu_1, 1), mu_1))
    for _ in range(30):
        case = RodInGuide(angle=rng.uniform(15, 50), spin=1.0)
        lines.append((case.sliding_system(*case.start()), np.array([rng.uniform(1.2, 2.5), 0.0]), np.array([0.0, 1.0])))
    for s, mu_0, mu_1 in lines:
        c = critical_friction(s, mu_0, mu_1)
        regained += len(c.intervals) > (c.lo is not None)
        inside = np.any([(lo.value < scan) & (scan < (hi.value if hi else np.inf)) for lo, hi in c.intervals], axis=0)
        np.testing.assert_array_equal(is_p(s, mu_0, mu_1, scan), inside if c.intervals else False)
        if c.lo is not None and np.isfinite(c.lo):
            assert 0 < c.hi - c.lo <= 1e-14 * c.hi
            assert is_p(s, mu_0, mu_1, [c.lo * (1 - 1e-9), c.hi * (1 + 1e-9)]).tolist() == [True, False]
            assert c.lo <= c.intervals[0][1].value <= c.hi
    assert regained > 3


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (0, 3)], ids=str)
def test_the_march_arrives_below_the_first_root_and_the_search_above_it(size):
    for seed in range(2):
        s = random_system(seed, *size, mu=1.0)
        mu = np.append(s.mu_b, s.mu_u)
        exact, march = critical_friction(s, 0.0, mu), by_march(FrictionLine(balanced(s), 0 * mu, mu), 10.0)
        if exact.lo == np.inf:
            assert march.hi == np.inf
            continue
        assert march.lo < exact.lo
        assert march.lo > 0.999 * exact.lo
        assert march.hi >= exact.lo * (1 - 1e-12)


def test_a_friction_line_s_bound_holds_and_is_no_rough_one():
    rng = np.random.default_rng(3)
    for seed, size in itertools.product(range(5), SIZES):
        s = random_system(seed, *size)
        mu_0, mu_1 = rng.uniform(0, 0.2, (2, sum(size)))
        line = FrictionLine(s, mu_0, mu_1)
        here = line.at(0.3)
        for x in (1e-4, 1e-2, 0.1):
            change = np.linalg.norm(line.at(0.3 + x).M_mu - here.M_mu, 2)
            bound = x * here.slope + x * x * here.bend / (1 - x * here.t)
            assert x * here.t < 1
            assert change <= bound * (1 + 1e-8)
            assert x > 1e-4 or change >= bound * (1 - 1e-2)
            assert here.safe_step(bound) == pytest.approx(x, rel=1e-6)


def test_negative_coefficients_and_frictionless_systems_are_reported():
    s = random_system(0, 1, 1)
    with pytest.raises(DataError, match="mu_0 = -1"):
        critical_friction(s, -1.0, 1.0)
    with pytest.raises(DataError, match="coefficients are zero"):
        painleve(s.with_friction(0.0))


def test_dependent_contacts_are_not_p_at_zero_friction():
    s = random_system(1, 0, 2)
    twice = SlidingSystem(s.M, s.f, J_nu=s.J_nu[[0, 0]], J_tu=s.J_tu, mu_u=s.mu_u, xi_u=s.xi_u)
    c = critical_friction(twice, 0.0, 1.0)
    assert (c.lo, c.hi, c.value) == (None, None, None)


# Proposition 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [RodInGuide, Drawer], ids=lambda k: k.name)
def test_proposition_1_stays_below_the_critical_friction(kind):
    rng = np.random.default_rng(11)
    ratios = []
    for _ in range(50):
        if kind is Drawer:
            L, e, r, m = rng.uniform(0.1, 2.0, 4)
            case = Drawer(length=L, offset=e, radius=r, m=m)
        else:
            case = RodInGuide(m=rng.uniform(0.1, 10), l=rng.uniform(0.2, 3), kappa=rng.uniform(0.1, 1),
                              angle=rng.uniform(5, 85), spin=rng.choice([-1.0, 1.0]),
                              mu_guide=rng.uniform(0.1, 1), mu_wall=rng.uniform(0.1, 1))  # fmt: skip
        s = case.sliding_system(*case.start())
        c = critical_friction(s, 0.0, np.append(s.mu_b, s.mu_u))
        for b in (bounds(s), bounds(balanced(s))):
            assert 0 < b.scale <= c.lo * (1 + 1e-9)
            ratios.append(b.scale / c.lo)
    # It is sufficient only: mostly well below.
    assert 0.2 < np.median(ratios) < 0.95


def test_where_the_bilateral_limit_binds_it_is_the_guarantee():
    """A drawer with little inertia: |Theta| would allow more friction than mu_max_b = 2 r_g^2 / (L e)."""
    (x,) = of_case(Drawer(radius=0.05, length=1.0)).losses
    assert x.plain == pytest.approx(2 * 0.05**2 / 0.3, rel=1e-12)
    assert x.ratio == pytest.approx(x.plain / (1.0 / 0.6), rel=1e-12)
