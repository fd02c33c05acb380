"""Laws other than Coulomb's, exact: their motions in closed form, and the judge that knows which law it holds."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import workbench as wb
from tests.scenes import Balls
from workbench.algorithms.escalation import default_solver
from workbench.builtin.reports.text.comparison import held_against
from workbench.language.assemble.local import local_block
from workbench.mechanics.instant import instant
from workbench.mechanics.law import Law
from workbench.problems.solution import Status
from workbench.scenes.stepper import SceneStepper
from workbench.step.simulation import simulate
from workbench.support.errors import ModellingError
from workbench.verbs.find import find_formulation, find_formulations

G, H = 9.81, 1e-3
EXACT = default_solver("mixed NCP")
ELLIPTIC, ROLLING, COHESIVE, COULOMB = map(find_formulation, ("elliptic", "rolling", "cohesive", "coulomb"))


@dataclass(frozen=True)
class Slid(wb.Case):
    """A unit mass in the plane z = 0, pressed by its weight and pulled along the plane."""

    name: ClassVar[str] = "slid"
    description: ClassVar[str] = "a block that is pulled over a plane"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 2)
    duration: ClassVar[float] = 0.1

    mu: float = wb.quantity(0.4, "-", "friction coefficient", "nonnegative")
    v_x: float = wb.quantity(1.0, "m/s", "velocity at the start")
    v_y: float = wb.quantity(1.0, "m/s", "velocity at the start")
    pull_x: float = wb.quantity(0.0, "N", "force along the plane")
    pull_y: float = wb.quantity(0.0, "N", "force along the plane")

    def mechanics(self, q, v):
        f = np.array([self.pull_x, self.pull_y, -G])
        return dict(M=np.eye(3), f=f, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], phi=q[2], mu=self.mu)

    def start(self):
        return np.zeros(3), np.array([self.v_x, self.v_y, 0.0])

    def centre(self, q):
        return q

    def energy(self, q, v):
        return 0.5 * (v**2).sum(axis=-1) + G * (q[..., 2] + 1.0)


def test_a_block_on_a_slope_slides_across_the_grain_as_the_closed_form_says():
    # Pulled so that it keeps its direction: pull = a d + mu g S^2 d / |S d|, and its speed grows by a.
    d, S, a, mu = np.array([0.6, 0.8]), np.array([1.0, 0.4]), 1.5, 0.4
    pull = a * d + mu * G * S**2 * d / np.linalg.norm(S * d)
    case = Slid(mu=mu, v_x=0.6, v_y=0.8, pull_x=pull[0], pull_y=pull[1])
    run = simulate(case, ELLIPTIC.with_options(ratio=0.4), EXACT, H, 0.05)
    assert (run.status, run.steps) == (Status.SOLVED, 50)
    expected = (1.0 + a * H * np.arange(51))[:, None] * d
    np.testing.assert_allclose(run.states_v[:, :2], expected, atol=1e-12)
    # Coulomb's disc turns it.
    other = simulate(case, COULOMB, default_solver("Coulomb NCP"), H, 0.05)
    assert np.abs(other.states_v[-1, :2] - expected[-1]).max() > 0.01


def test_a_free_slide_keeps_the_invariant_of_the_ellipse():
    """v_y / v_y0 = (v_x / v_x0)^(ratio^2) while it slides, to first order in the step."""
    run = simulate(Slid(), ELLIPTIC.with_options(ratio=0.5), EXACT, H, 0.2)
    v_x, v_y = run.states_v[:, 0], run.states_v[:, 1]
    np.testing.assert_allclose(v_y, v_x**0.25, rtol=2e-3)
    assert v_x[-1] < 0.5


@pytest.mark.thorough
def test_the_judge_knows_the_ellipse_and_says_so():
    compared = wb.compare(
        Slid(), ["elliptic", "coulomb"], steps=5e-3, reference_step=5e-3, duration=0.05,
        metrics=["misalignment-rms", "law-misalignment", "natural-map", "law-natural-map"],
    )  # fmt: skip
    words = "Residuals and cost, with residuals of other laws: elliptic (elliptic Coulomb, 1 : 0.5)"
    assert held_against(compared.comparison) == words
    found = compared.runs.set_index("label")
    own, exact = found.loc["elliptic"], found.loc["coulomb"]
    assert (own["law"], exact["law"]) == ("elliptic Coulomb, 1 : 0.5", "Coulomb")
    assert own["misalignment_rms"] > 10
    assert own["natural_map"] > 0.1
    assert own["law_misalignment"] < 1e-6
    assert own["law_natural_map"] < 1e-12
    assert np.isnan(exact["law_misalignment"])
    assert np.isnan(exact["law_natural_map"])
    assert exact["natural_map"] < 1e-12


class Ball(Balls):
    """One ball whose contact resists torsion (3 directions) and rolling (5); mu are the coefficients of its rows."""

    def __init__(self, mu, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
        super().__init__([[0.0, 0.0, 0.1]], [velocity])
        self.rows, self.spin_at_start = np.append(1.0, mu), spin

    def start(self):
        q, v = super().start()
        v[3:] = self.spin_at_start
        return q, v

    def instant(self, q, v, t, h):
        R = self.radius
        # Normal, slides of the lowest point along x and y, spin about z, rolling about x and y.
        J = np.zeros((6, 6))
        J[0, 2] = J[1, 0] = J[2, 1] = J[3, 5] = J[4, 3] = J[5, 4] = 1.0
        J[1, 4], J[2, 3] = -R, R
        m = self.rows.size
        force = np.concatenate([[0.0, 0.0, -G], np.zeros(3)])
        return instant(h, np.diag(self.inertia), v, force, J=J[:m], first=[0, m], mu=self.rows, phi=[q[2] - R], key=[7])


def ran(scene, f, steps):
    stepper = SceneStepper(scene, f, H)
    (q, v), found = scene.start(), []
    for _ in range(steps):
        step = stepper.step(q, v, 0.0)
        assert step.status is Status.SOLVED, step.reason
        q, v = step.q, step.v
        found.append(v)
    return np.array(found)


STEPS = np.arange(1, 41)


def test_a_spinning_ball_stops_by_torsion():
    """omega = omega_0 - mu_s m g t / I, exactly at the ends of the steps, and then it rests."""
    slowing = 0.02 * G / (0.4 * 0.01)
    spin = ran(Ball([0.5, 0.5, 0.02], spin=(0.0, 0.0, 1.0)), ROLLING, 40)[:, 5]
    np.testing.assert_allclose(spin, np.maximum(1.0 - slowing * H * STEPS, 0.0), atol=1e-12)
    assert (abs(spin) < 1e-14).sum() >= 10


def test_a_rolling_ball_stops_by_rolling_friction():
    """It rolls on at v_0 - 5/7 mu_r g / R t, by the moment mu_r m g, without sliding."""
    v = ran(Ball([0.5, 0.5, 0.02, 0.004, 0.004], (0.005, 0.0, 0.0), (0.0, 0.05, 0.0)), ROLLING, 40)
    expected = np.maximum(0.005 - 5 / 7 * 0.004 * G / 0.1 * H * STEPS, 0.0)
    np.testing.assert_allclose(v[:, 0], expected, atol=1e-12)
    np.testing.assert_allclose(v[:, 4], expected / 0.1, atol=1e-11)
    assert (expected == 0).any()


@pytest.mark.parametrize(("f", "share"), [(ROLLING, 1.0), (COULOMB, 0.5)], ids=["rolling", "coulomb"])
def test_spin_takes_from_the_grip_only_where_one_ball_bounds_both(f, share):
    """Of a slide and a spin that move the scaled rows alike, one ball leaves each about cos(60°) here; apart, all."""
    # In the terms of the round cone the rows move by u_t = 1 and s omega = sqrt(3), s = mu_s / mu.
    v = ran(Ball([0.5, 0.5, 0.1], (1.0, 0.0, 0.0), (0.0, 0.0, np.sqrt(3.0) / 0.2)), f, 1)[0]
    np.testing.assert_allclose((1.0 - v[0]) / (0.5 * G * H), share, rtol=0.02)


def test_a_formulation_of_torsion_is_local_and_of_two_directions_coulombs():
    assert [local_block(ROLLING, d).cone for d in (1, 2, 3, 5)] == [1, 1, 3, 3]
    np.testing.assert_array_equal(
        simulate(Slid(), ROLLING, default_solver("Coulomb NCP"), H, 0.01).states_v,
        simulate(Slid(), COULOMB, default_solver("Coulomb NCP"), H, 0.01).states_v,
    )


def ceiling(**more):
    """A block of 1 kg that touches a ceiling, pushed sideways."""
    data = dict(M=np.eye(3), v=[0, 0, 0], f=[0, 0, -G], h=H, J_n=[[0, 0, -1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)
    return wb.ContactSystem(**(data | more))


@pytest.mark.parametrize("cohesion", [5.0, 9.80, 9.82, 20.0])
def test_a_block_hangs_from_the_ceiling_up_to_its_weight(cohesion):
    answer = wb.solve(ceiling(), COHESIVE.with_options(cohesion=cohesion))
    assert answer.verified
    assert answer.v[2] == pytest.approx(-H * max(G - cohesion, 0.0), abs=1e-15)
    assert answer.p_n[0] == pytest.approx(-H * min(G, cohesion))


def test_what_hangs_bears_friction_of_the_rest_of_the_pull():
    hanging = COHESIVE.with_options(cohesion=G + 2.0)
    for push, slides in ((0.99, False), (1.01, True)):
        answer = wb.solve(ceiling(f=[push, 0, -G]), hanging)
        assert answer.v[0] == pytest.approx(H * (push - 1.0) if slides else 0.0, abs=1e-12)


def test_a_gap_pulls_nothing():
    answer = wb.solve(ceiling(phi=0.01), COHESIVE.with_options(cohesion=20.0))
    assert answer.p_n[0] == 0.0


@wb.formulation("magnet", friction="Coulomb's disc, and a contact that bears a pull of c", source="this test")
def magnet(s: wb.ContactSymbols, c: float = 3.0 * H):
    v, x = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d)
    p_n = x.n - c
    return wb.declare(
        wb.equals(s.balance(v, p_n, x.t)),
        *s.bilateral(v),
        wb.complements((s.un(v, p_n), s.ut(v, x.t)), x, law="coulomb"),
        recover=dict(v=v, p_n=p_n, p_t=x.t),
    )


def test_a_ball_in_a_scene_hangs_by_its_pull():
    ball = Ball([0.5, 0.5])
    up = SceneStepper(ball, magnet, H)
    q, v = ball.start()
    v[2] = 0.002
    step = up.step(q, v, 0.0)
    # It leaves the ground at 2 mm/s, which its pull slows beside its weight.
    assert step.v[2] == pytest.approx(max(0.002 - H * (G + 3.0), 0.0), abs=1e-15)
    fast = v.copy()
    fast[2] = 1.0
    step = up.step(q, fast, 0.0)
    assert step.v[2] == pytest.approx(1.0 - H * (G + 3.0), abs=1e-12)
    assert step.P[0] == pytest.approx(-3.0 * H)


def test_other_laws_are_compared_where_somebody_asks():
    assert not {"elliptic", "rolling", "cohesive"} & {f.name for f in find_formulations(None)}
    assert find_formulation("elliptic:ratio=0.3").law.axes[1] == 0.3


@pytest.mark.parametrize(("name", "said"), [
    ("elliptic:ratio=-1", "ratio=-1; a number >= 0 is needed"),
    ("cohesive:cohesion=-2", r"cohesion=-2; a number >= 0 \[N\] is needed"),
])  # fmt: skip
def test_options_of_other_laws_are_checked(name, said):
    with pytest.raises(ModellingError, match=said):
        find_formulation(name).declaration(3, 0, 1, 2)


def test_laws_are_checked():
    with pytest.raises(ModellingError, match="law 'steep': axes has -1; numbers >= 0 are needed"):
        Law("steep", axes=(1.0, -1.0))
    with pytest.raises(ModellingError, match="law 'short' has 2 axes; contacts have 3 directions"):
        Law("short", axes=(1.0, 2.0)).ratios(3)
    with pytest.raises(ModellingError, match="declare: law is 'coulomb'; it must be a Law"):
        wb.declare(recover={}, law="coulomb")
