"""Cross-sections of admissible friction, read off declarations, against closed forms and against what sticks."""

import numpy as np
import pytest

import workbench as wb
from tests.systems import SOFT
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.formulations.sliding_lcp import sliding_lcp
from workbench.builtin.reports.text.cards import section_words
from workbench.comparison.result import mathematics
from workbench.diagnostics.friction_section import friction_section, section_axes
from workbench.engine.lazy import cvxpy as cp
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation


def section(name, mu=1.0, slides=False):
    return friction_section(find_formulation(name), mu, slides)


def area(vertices):
    x, y = vertices.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def corners(count, radius=1.0, first=0.0):
    angle = first + 2 * np.pi * np.arange(count) / count
    return radius * np.array([np.cos(angle), np.sin(angle)]).T


def in_order(vertices):
    return vertices[np.argsort(np.round(np.arctan2(vertices[:, 1], vertices[:, 0]), 9) % (2 * np.pi))]


@pytest.mark.parametrize("directions", [4, 6, 16])
def test_polygons_are_inscribed_or_circumscribed(directions):
    for mu in (1.0, 0.3):
        inscribed = section(f"stewart-trinkle:directions={directions}", mu)
        assert in_order(inscribed) == pytest.approx(in_order(corners(directions, mu)), abs=1e-12)
        assert area(inscribed) == pytest.approx(mu**2 * directions / 2 * np.sin(2 * np.pi / directions))
        around = section(f"discrete-velocity:directions={directions}", mu)
        half = np.pi / directions
        assert in_order(around) == pytest.approx(in_order(corners(directions, mu / np.cos(half), half)), abs=1e-12)
        assert area(around) == pytest.approx(mu**2 * directions * np.tan(half))


@pytest.mark.parametrize(
    "name", ["box", "box:bounds=iterated", "box:bounds=coupled", "hybrid", "hybrid:bounds=iterated", "phantom-inertia"]
)
def test_a_box_is_a_square_around_the_disc(name):
    assert in_order(section(name, 0.4)) == pytest.approx(
        0.4 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]), abs=1e-12
    )


@pytest.mark.parametrize("name", ["anitescu-potra", "anitescu-potra:restitution=poisson", "staggered"])
def test_the_other_inscribed_polygons_are_the_same_square(name):
    assert in_order(section(name)) == pytest.approx(corners(4), abs=1e-12)


@pytest.mark.parametrize("name", ["coulomb", "ccp", "mujoco", "genesis", "sap"])
def test_cones_have_coulombs_disc(name):
    found = section(name, 0.7)
    assert np.linalg.norm(found, axis=1) == pytest.approx(0.7, abs=1e-6)
    assert area(found) == pytest.approx(0.49 * np.pi, rel=2e-3)


def test_phantom_inertia_has_no_friction_across_the_slide_unless_it_is_regularised():
    assert in_order(section("phantom-inertia", slides=True)) == pytest.approx(np.array([[1, 0], [-1, 0]]))
    assert len(section("phantom-inertia:lateral=regularised", slides=True)) == 4
    assert len(section("phantom-inertia:axes=fixed", slides=True)) == 4


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("coulomb", ("fixed", "fixed")), ("box", ("fixed", "fixed")), ("box:axes=sliding", ("fixed", "sliding")),
        ("stewart-trinkle:axes=body", ("body", "body")), ("hybrid", ("friction", "sliding")),
        ("hybrid:axes=fixed", ("fixed", "fixed")), ("phantom-inertia", ("fixed", "sliding")),
    ],
)  # fmt: skip
def test_axes_turn_as_the_formulary_says(name, axes):
    assert section_axes(find_formulation(name)) == axes


@pytest.mark.parametrize("name", ["hunt-crossley", "ipc"])
def test_friction_that_a_velocity_alone_bounds_has_no_section(name):
    assert friction_section(find_formulation(name)) is None


@pytest.mark.parametrize("name", ["mujoco-pyramid", "comfree"])
def test_edges_and_facets_have_the_inscribed_square(name):
    assert in_order(section(name, 0.7)) == pytest.approx(0.7 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]))


def test_without_friction_there_is_the_origin():
    assert section("frictionless").tolist() == [[0.0, 0.0]]
    assert section("stewart-trinkle", 0.0).tolist() == [[0.0, 0.0]]


@pytest.mark.share(2)
@pytest.mark.parametrize("name", [name for name in FORMULATIONS.names if name not in {"frictionless", "ipc"} | SOFT])
def test_a_block_sticks_as_far_as_the_section_says(name):
    # Soft cones and smooth friction are left out: they creep in stick.
    f, mu = FORMULATIONS.find(name), 0.5
    rim = friction_section(f, mu)
    for angle in (0.3, 2.0, 4.4):
        direction = np.array([np.cos(angle), np.sin(angle)])
        outward = np.roll(rim, -1, axis=0) - rim
        outward = np.array([outward[:, 1], -outward[:, 0]]).T
        limit = min((n @ p) / (n @ direction) for n, p in zip(outward, rim, strict=True) if n @ direction > 1e-9)
        for share, sticks in ((0.98, True), (1.02, False)):
            push = -share * limit * direction
            block = wb.ContactSystem(
                M=np.eye(3), v=np.zeros(3), f=[*push, -1.0], h=1.0, J_n=[[0, 0, 1]], J_t=np.eye(3)[:2], mu=mu
            )
            speed = np.linalg.norm(wb.solve(block, f).v[:2])
            assert (speed < 1e-6) == sticks, (angle, share, speed)


@wb.formulation("viscous", friction="a viscous impulse", source="a test")
def viscous(s: wb.ContactSymbols):
    v, p_n, w = wb.free("v", s.n), wb.nonneg("p_n", s.r), wb.free("w", s.d * s.r)
    return wb.declare(
        wb.equals(s.balance(v, p_n, w)),
        *s.bilateral(v),
        wb.equals(w + s.ut(v, w)),
        wb.complements(s.un(v, p_n), p_n),
        recover=dict(v=v, p_n=p_n, p_t=w),
    )


@wb.formulation("elliptic", friction="an ellipse", source="a test")
def elliptic(s: wb.ContactSymbols, ratio: float = 0.25):
    v, p = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d)
    D = cp.Constant(np.kron(np.eye(s.r), np.diag([1.0, ratio][: s.d])), name="D")
    return wb.declare(
        wb.equals(s.balance(v, p.n, D @ p.t)),
        *s.bilateral(v),
        wb.complements((s.un(v, p.n), D @ s.ut(v, D @ p.t)), p, law="coulomb"),
        recover=dict(v=v, p_n=p.n, p_t=D @ p.t),
    )


def test_declarations_of_ones_own_have_a_section_where_friction_is_bounded():
    assert friction_section(viscous) is None
    x, y = friction_section(elliptic, 0.8).T
    assert (x / 0.8) ** 2 + (y / 0.2) ** 2 == pytest.approx(1.0, abs=1e-5)
    assert friction_section(sliding_lcp) is None


def test_of_a_segment_there_are_its_ends_and_words():
    segment = elliptic.with_options(ratio=0.0)
    ends = friction_section(segment, 0.5)
    assert sorted(ends.tolist()) == pytest.approx(np.array([[-0.5, 0.0], [0.5, 0.0]]), abs=1e-12)
    assert section_words(friction_section(segment), None).startswith(
        "Admits 0 to 100 % of μ pₙ depending on direction; area 0 %"
    )


@pytest.mark.parametrize("mu", [-0.1, float("nan"), float("inf")])
def test_a_coefficient_that_is_none_is_refused(mu):
    with pytest.raises(DataError, match="a friction coefficient >= 0 is needed"):
        section("box", mu)


def test_cards_have_the_section_or_say_that_there_is_none():
    chosen = [find_formulation(x) for x in ("box", "phantom-inertia", "phantom-inertia:directions=6")]
    box, phantom, odd = mathematics(chosen, (3, 0, 1, 1))
    assert sorted(box["section"]) == sorted(box["sliding_section"])
    assert len(phantom["section"]) == 4
    assert len(phantom["sliding_section"]) == 2
    # In space that one is refused, in the plane it is not.
    assert odd["section"] is None
    assert odd["failure"] is None


def test_a_notebook_shows_the_section_where_there_is_one():
    assert wb.show("stewart-trinkle", "rod")._repr_html_().count("<polygon") == 1
    assert wb.show("phantom-inertia", "rod")._repr_html_().count("<polygon") == 2
    assert "<svg" not in wb.show("sliding-lcp")._repr_html_()
    assert "<svg" not in wb.show("phantom-inertia:directions=6", "rod")._repr_html_()
