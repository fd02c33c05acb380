"""Sliding contacts of whole cases: their systems, maps over two parameters, and many contacts at once."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.mechanics import filled
from tests.sliding_systems import heap, painleve
from workbench.builtin.cases import CASES
from workbench.builtin.cases.drawer import Drawer
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.diagnostics.painleve import ALL, friction_lines, of_case
from workbench.diagnostics.painleve_map import NAMES, MapAxis, regime_map
from workbench.diagnostics.proposition import balanced
from workbench.matrices.p_property.verdict import p_verdict
from workbench.readers.matrix import Matrix
from workbench.step.sliding.exact import as_doubles
from workbench.step.sliding.state import SlidingState, from_mechanics, sliding_system
from workbench.support.errors import DataError

# Systems of cases


class Squared(Drawer):
    """Friction that is no linear function of its parameter."""

    def sliding_system(self, q, v):
        s = super().sliding_system(q, v)
        return replace(s, mu_b=s.mu_b**2)


class Pushed(Drawer):
    """Friction whose parameter does something else as well."""

    def sliding_system(self, q, v):
        return replace(super().sliding_system(q, v), f=np.array([self.mu, 0.0, 1.0]))


def test_what_is_not_friction_alone_is_no_line_of_friction():
    assert list(friction_lines(Squared())) == list(friction_lines(Pushed())) == []


def test_the_drawer_s_systems_are_the_time_stepping_s_mechanics():
    rng = np.random.default_rng(2)
    for _ in range(10):
        case = Drawer(**{name: value * rng.uniform(0.7, 1.3) for name, value, *_ in Drawer.parameter_table()})
        q, v = rng.uniform(-1, 1, 3), rng.uniform(-5, 5, 3)
        s, core = case.sliding_system(q, v), filled(case, q, v)
        for side, sign in ((0, 1), (1, -1)):
            np.testing.assert_allclose(s.J_nb, sign * core.J_n[side::2], rtol=0, atol=1e-14)
            np.testing.assert_allclose(s.J_tb, core.J_t[side::2], rtol=0, atol=1e-14)
        np.testing.assert_allclose(s.M, core.M, rtol=1e-14)
        np.testing.assert_allclose(s.f, core.f, rtol=1e-14)
        there = [filled(case, q + h * v, v).J_n[0::2] @ v for h in (1e-5, -1e-5)]
        np.testing.assert_allclose(s.w_nb, (there[0] - there[1]) / 2e-5, atol=1e-6)


@pytest.mark.parametrize("case", [Drawer(m=1.25, mu=0.25, handle=0.2, speed=-0.5), Rod(angle=45.0, m=1.5, l=0.75)])
def test_rational_data_are_those_of_the_doubles(case):
    exact, s = case.exact_sliding({}), case.sliding_system(*case.start())
    for x, y in zip(vars(exact.pair()).values(), vars(as_doubles(s).pair()).values(), strict=True):
        x, y = ([float(Fraction(int(e.p), int(e.q))) for e in z.entries()] for z in (x, y))
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-13)


@pytest.mark.thorough
def test_the_lines_of_a_case_are_its_friction_coefficients():
    names = {kind.name: list(friction_lines(kind())) for kind in CASES if kind.name != "particle"}
    assert names["rod-in-guide"] == ["mu_guide", "mu_wall"]
    assert names["rod"] == names["drawer"] == names["block"] == ["mu"]
    line = friction_lines(RodInGuide(mu_guide=0.7))["mu_wall"]
    np.testing.assert_array_equal([line.mu_0, line.mu_1], [[0.7, 0.0], [0.0, 1.0]])
    assert line.now == 0.2
    assert [x.name for x in of_case(RodInGuide()).losses] == [ALL, "mu_guide", "mu_wall"]


def test_a_case_s_compiled_mechanics_give_the_system_it_states():
    case = Rod(spin=2.0)
    q, v = case.start()
    stated, compiled = case.sliding_system(q, v), from_mechanics(case, SlidingState(q, v))
    for name in ("M", "f", "J_nu", "mu_u"):
        np.testing.assert_allclose(getattr(compiled, name), getattr(stated, name), rtol=1e-14)
    # There the sliding direction is the tangent, here it is the velocity's, with xi = 1.
    np.testing.assert_allclose(compiled.J_tu * compiled.xi_u[:, None], stated.J_tu * stated.xi_u[:, None], atol=1e-15)
    # A drawer that turns: the rates of its rows at fixed velocity.
    case = Drawer()
    q, v = np.array([0.0, 0.3, 0.0]), np.array([0.5, 0.0, 0.0])
    for turning in (0.0, 1.5):
        v[2] = turning
        v[1] = -0.5 * case.length * turning
        compiled, stated = from_mechanics(case, SlidingState(q, v)), case.sliding_system(q, v)
        assert compiled.m_u == (4 if turning == 0 else 3)
        np.testing.assert_allclose(np.abs(compiled.w_nu), abs(stated.w_nb[0]), atol=1e-9)


# Maps


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("case", "x", "y"),
    [(Rod(), ("angle", 10, 85), ("mu", 0.01, 3)), (RodInGuide(spin=1.0), ("mu_wall", 0.01, 3), ("angle", 10, 85)),
     (RodInGuide(spin=1.0, angle=30.0), ("mu_guide", 0.01, 3), ("mu_wall", 0.01, 3)),
     (Drawer(), ("handle", -0.2, 0.3), ("mu", 0.01, 2)),
     (Drawer(radius=0.05, length=1.0), ("offset", 0.1, 0.5), ("mu", 0.001, 0.06)),
     (Rod(mu=1.4), ("angle", 10, 85), ("spin", 0, 6))],
    ids=lambda x: x.name if hasattr(x, "name") else x[0],
)  # fmt: skip
def test_a_map_shows_what_is_decided_at_its_points(case, x, y):
    axes = [MapAxis(name, np.linspace(low, high, 37)) for name, low, high in (x, y)]
    m = regime_map(case, *axes)
    rng = np.random.default_rng(5)
    found, counts = set(), {"none": 0, "unique": 1, "two": 2}
    for i, j in rng.integers(0, 37, (40, 2)):
        s = sliding_system(case.with_parameters(**{x[0]: axes[0].values[i], y[0]: axes[1].values[j]}))
        found_here = painleve(s)
        r, p, cells = found_here.regime, found_here.proposition, m.cells
        assert NAMES[cells.regime[i, j]] == r.name
        assert cells.answers[i, j] == (counts[r.kind] if r.kind in counts else int(r.kind))
        assert cells.p_matrix[i, j] == (p.verdict.verdict == "P")
        assert cells.proposition_1[i, j] == (p.verdict.verdict == "P" and p.holds)
        found.add(r.name)
    if y[0] == "spin":
        assert found == {"sliding", "lift-off", "indeterminate", "inconsistent"}
    assert sum(m.shares().values()) == pytest.approx(1.0)
    if m.friction == "y" and case.name == "rod":
        t = np.tan(np.radians(axes[0].values))
        np.testing.assert_allclose(m.critical, (1 + (1 + t * t) / 3) / t, rtol=1e-12)
    if m.critical is not None:
        green = m.cells.p_matrix if m.friction == "y" else m.cells.p_matrix.T
        values = (m.y if m.friction == "y" else m.x).values
        for column, critical in zip(green, m.critical, strict=True):
            assert (column == (values < critical)).all()


@pytest.mark.thorough
def test_the_rod_s_map_is_that_of_its_closed_form():
    case, angle, spin = Rod(mu=1.7), np.linspace(5, 85, 60), np.linspace(0, 6, 60)
    found = regime_map(case, MapAxis("angle", angle), MapAxis("spin", spin)).cells
    for t, row, answers in zip(np.radians(angle), found.regime, found.answers, strict=True):
        a = 1 + np.cos(t) * (np.cos(t) - case.mu * np.sin(t)) / case.kappa
        b = case.l * np.sin(t) * spin**2 - case.gravity
        names = np.where(b < 0, "sliding", "lift-off") if a > 0 else np.where(b < 0, "inconsistent", "indeterminate")
        assert [NAMES[k] for k in row] == names.tolist()
        np.testing.assert_array_equal(answers, 1 if a > 0 else np.where(b < 0, 0, 2))


def test_a_map_tells_undecided_cells_and_those_without_sliding():
    # mu = 5/3 at 45 degrees is on the boundary; with zero spin the guide's contacts do not slide.
    m = regime_map(Rod(), MapAxis("angle", np.array([45.0, 46.0])), MapAxis("mu", np.array([1.0, 5 / 3, 2.0])))
    assert [NAMES[k] for k in m.cells.regime[0]] == ["sliding", "undecided", "inconsistent"]
    assert m.cells.proposition_1[0].tolist() == [True, False, False]
    m = regime_map(RodInGuide(), MapAxis("spin", np.array([-1.0, 0.0, 1.0])), MapAxis("mu_wall", np.array([0.1, 0.2])))
    assert [NAMES[k] for k in m.cells.regime[1]] == ["no sliding state"] * 2
    assert np.isnan(m.critical[1])
    with pytest.raises(DataError, match="at most 1000000"):
        regime_map(Rod(), MapAxis("mu", np.zeros(1001)), MapAxis("angle", np.zeros(1000)))
    particle = next(c for c in CASES if c.name == "particle")()
    with pytest.raises(DataError, match="no point of the map"):
        regime_map(particle, MapAxis("mu", np.array([0.0, 1.0])), MapAxis("speed", np.array([1.0, 2.0])))
    cells = regime_map(
        RodInGuide(spin=1.0, angle=30.0), MapAxis("mu_guide", np.array([1.6])), MapAxis("mu_wall", np.array([0.2]))
    ).cells
    assert (NAMES[cells.regime[0, 0]], cells.answers[0, 0], cells.p_matrix[0, 0]) == ("sliding", 1, False)


# Large systems


@pytest.mark.parametrize(
    ("space", "seed", "scale"), [pytest.param(False, 0, 0.5492973, marks=pytest.mark.thorough), (True, 1, 1.0899920)]
)
def test_sixty_contacts_one_per_cent_below_their_critical_friction(space, seed, scale):
    """`scale`: where the P-property was found lost, by bisection between verdicts."""
    s = heap(seed, 60, space)
    verdicts = [p_verdict(Matrix(s.with_friction(k * scale).M_mu).exact).verdict for k in (0.99, 1.0001)]
    assert verdicts == ["P", "not P"]


@pytest.mark.thorough
def test_many_contacts_are_marched_and_the_bracket_holds():
    s = heap(3, 16)
    p = painleve(s, seconds=3.0)
    c = p.losses[0].critical
    assert 0 < c.lo < c.hi < np.inf
    assert c.intervals is None
    for scale, expected in ((c.lo, "P"), (0.5 * c.lo, "P"), (c.hi, "not P")):
        M = Matrix(balanced(s.with_friction(scale)).M_mu).exact
        assert p_verdict(M).verdict == expected
    r = painleve(heap(0, 16), seconds=3.0).regime
    assert (r.kind, r.as_given, r.exact, r.tolerance) == ("unique", "unique", False, 0.0)
    assert p.proposition is None
    assert p.losses[0].plain is None
