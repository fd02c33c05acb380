"""What users see of a formulation's errors, in SI units, and what it gets wrong in a single step."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import workbench as wb
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.block import fill as fill_block
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.text.mechanisms import reasons
from workbench.comparison.cases import compare_case, from_exact
from workbench.comparison.failure import Failed
from workbench.comparison.jobs import Job, Settings
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metrics import METRICS
from workbench.comparison.metrics.isotropy import after_yaw
from workbench.engine.compiling import kernel
from workbench.language.assemble.find import compiled
from workbench.language.formulation import formulation
from workbench.language.modelling import complements, declare, equals, free, nonneg
from workbench.mechanics.core import FILL
from workbench.mechanics.relaxation import Relaxation
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation

pytestmark = pytest.mark.thorough

COULOMB = FORMULATIONS.find("coulomb")
NAMES = (
    "local-velocity-error", "creep", "lift", "penetration", "slip", "rest-time", "rest-place", "spin-down",
    "energy-gained", "yaw-spread", "momentum-error", "bilateral-error",
)  # fmt: skip
H = 1e-3
BLOCK = Block()


def case_of(name, **values):
    return CASES.find(name)().with_parameters(**values)


def row_of(case, f, duration, *names, h=H, fine=None, window="all", **settings):
    """The metrics of a formulation on a case, by compare."""
    f = find_formulation(f) if isinstance(f, str) else f
    chosen = Settings((h,), fine or h / 2, duration, **settings)
    runs = compare_case(case, [f], COULOMB, settings=chosen, metrics=names or NAMES).runs
    return runs[(runs["window"] == window) & ~runs["sampled"]].iloc[0]


def run_of(case, f, duration, h=H, **options):
    f = find_formulation(f) if isinstance(f, str) else f
    return simulate(case, f, default_solver(compiled(f, *case.size).kind), h, duration, **options)


def measured(run, reference=None, local=None):
    reference = reference or run
    return MeasuredRun(run, reference, None, None, np.arange(run.steps), None, None, None, local)


def value(name, m):
    return METRICS.find(name).function(m)


def test_creep_is_the_speed_at_which_the_soft_contact_sags():
    """The capsule between its plates: 4174 um/s, and a tenth of it with ten times the frictional impedance."""
    capsule = case_of("pinched-capsule")
    soft, stiff, exact = (
        row_of(capsule, f, 1.0, "creep")["creep"] for f in ("mujoco", "mujoco:impratio=10", "coulomb")
    )
    z = run_of(capsule, "mujoco", 1.0).states_q[:, 1]
    assert soft == pytest.approx(1e6 * (z[500] - z[1000]) / 0.5, rel=1e-4)
    assert (soft, stiff) == (pytest.approx(4174, abs=1), pytest.approx(417.4, abs=0.1))
    assert exact < 1e-6


def test_a_rebound_that_is_missing_is_reported():
    """Balls of restitution 0.5 and 0 beside one of 0.8, at ten times its step; MuJoCo's contact gives little back."""
    reference = run_of(case_of("bouncing-ball"), "coulomb", 1.3, H / 10)
    for e in (0.8, 0.5, 0.0):
        run = run_of(case_of("bouncing-ball", e=e), "coulomb", 1.3)
        assert value("rebound", measured(run, reference)) == pytest.approx(e - 0.8, abs=1e-9)
    ball = compare_case(
        case_of("bouncing-ball"), [find_formulation("mujoco"), COULOMB], COULOMB, settings=Settings((H,), H / 2, 0.52)
    )
    soft = ball.runs[ball.runs["label"] == "mujoco"].iloc[0]["rebound"]
    run = run_of(case_of("bouncing-ball"), "mujoco", 0.52)
    touches = np.flatnonzero(run.p_n[:, 0])
    struck, left = run.states_v[touches[0], 2], run.states_v[touches[-1] + 1, 2]
    assert 0.1 < -left / struck < 0.15
    # The reference's speeds are those at the ends of the step in which it strikes.
    assert soft == pytest.approx(-left / struck - 0.8, abs=2e-3)
    words = next(found for label, found in reasons(ball) if "mujoco" in label)
    assert f"impacts return {-soft:.2g} less of the approach velocity than in the reference" in words


def test_what_rests_and_shakes_does_not_strike():
    for name in ("block", "stacked-cubes"):
        rest = run_of(case_of(name), "mujoco", 0.1)
        assert np.isnan(value("rebound", measured(rest)))


def test_what_slides_in_the_reference_does_not_creep():
    assert np.isnan(row_of(BLOCK, "mujoco", 0.3, "creep")["creep"])
    assert row_of(BLOCK, "coulomb", 0.8, "creep")["creep"] < 1e-6


def test_the_cone_lifts_what_it_slides():
    """The small cube at 6 m/s: some 0.2 m under the CCP, a good tenth under MuJoCo's, nothing under Coulomb's law."""
    cube = case_of("cube", edge=0.1, speed=6, spin=0, mu=0.5)
    lifts = {f: row_of(cube, f, 0.5, "lift", h=5e-3, fine=5e-4)["lift"] for f in ("ccp", "mujoco", "coulomb")}
    assert lifts["ccp"] > 197
    assert lifts["mujoco"] > 82
    assert lifts["coulomb"] < 1e-3


def test_lift_and_penetration_are_gaps():
    run, exact = run_of(BLOCK, "ccp", 0.5), run_of(BLOCK, "coulomb", 0.5)
    z = run.states_q[:-1, 2] - 0.5 * BLOCK.height
    assert value("lift", measured(run, exact)) == pytest.approx(1e3 * z.max(), rel=1e-12)
    assert z.max() > 1e-3
    assert value("penetration", measured(run, exact)) == 0.0
    soft = run_of(BLOCK, "mujoco", 0.5)
    assert value("penetration", measured(soft, exact)) == -1e3 * soft.record.phi.min() > 0
    # A reference in flight is no excuse for less, and one below the ground none for more.
    low = replace(exact, record=exact.record._replace(phi=exact.record.phi - 1.0))
    assert value("lift", measured(run, low)) == value("lift", measured(run, exact))


def test_the_block_slides_as_far_and_rests_when_the_textbook_says():
    row = row_of(BLOCK, "coulomb", 0.8)
    stop = BLOCK.speed / (BLOCK.mu * BLOCK.gravity)
    assert row["rest_time"] == pytest.approx(stop - BLOCK.v_th / (BLOCK.mu * BLOCK.gravity), abs=2 * H)
    assert row["slip"] == pytest.approx(1e3 * BLOCK.speed * stop / 2, rel=2e-3)
    # First order: the distance is off by h v_0/2.
    assert row["rest_place"] == pytest.approx(1e3 * BLOCK.speed * H / 2, rel=0.02)
    never = row_of(BLOCK, "frictionless", 0.8, "rest-time", "rest-place")
    assert never[["rest_time", "rest_place"]].isna().all()
    assert row_of(BLOCK, "frictionless", 0.8, "slip")["slip"] == pytest.approx(1e3 * BLOCK.speed * 0.8, rel=1e-9)


def test_a_spin_has_ended_where_nothing_turns_any_more():
    run = run_of(case_of("cube"), "coulomb", 1.5, relaxation=case_of("cube").relaxation)
    turning = np.linalg.norm(run.states_v[1:, 3:], axis=1)
    found = value("spin-down", measured(run))
    k = round(found / H)
    assert 100 < k < run.steps
    assert turning[k:].max() < 0.0101 * turning.max()
    assert turning[k - 1] > 0.0099 * turning.max()
    early = replace(measured(run), steps=np.arange(50))
    assert np.isnan(value("spin-down", early))
    assert np.isnan(row_of(BLOCK, "coulomb", 0.1, "spin-down")["spin_down"])


def test_contacts_in_flight_neither_creep_nor_slip():
    run = run_of(BLOCK, "ccp", 0.5)
    flies = run.p_n[:, 0] == 0
    assert flies.any()
    expected = 1e3 * H * np.linalg.norm(run.u_t[~flies, 0], axis=-1).sum()
    assert value("slip", measured(run)) == pytest.approx(expected, rel=1e-12)
    resting = run_of(BLOCK, "coulomb", 0.8)
    p, after = resting.record.p.copy(), resting.record.after.copy()
    p[740:], after[740:, 0] = 0.0, 1.0
    up = replace(resting, record=resting.record._replace(p=p, after=after))
    assert value("creep", measured(up, resting)) < 1e-6


def test_a_body_that_spins_where_it_stands_does_not_rest():
    run = run_of(case_of("cube", speed=0.0), "coulomb", 1.5, relaxation=case_of("cube").relaxation)
    slides = (np.linalg.norm(run.u_t, axis=-1) > run.v_th).any(axis=1)
    assert np.linalg.norm(run.states_v[:, :2], axis=1).max() < 1e-6
    assert value("rest-time", measured(run)) == pytest.approx(H * (1 + np.flatnonzero(slides)[-1]))


@formulation("driving", friction="p_t = c u_t: an engine", source="this test")
def driving(s, c: float = 0.01):
    v, p_n, p_t = free("v", s.n), nonneg("p_n", s.r), free("p_t", s.d * s.r)
    return declare(
        equals(s.balance(v, p_n, p_t)), equals(p_t - c * s.ut(v, p_t)), complements(s.un(v, p_n), p_n),
        recover={"v": v, "p_n": p_n, "p_t": p_t},
    )  # fmt: skip


@kernel(FILL)
def fill_belt(q, v, data, core):
    """As `Block`, on a belt that runs away with it at 3 m/s."""
    fill_block(q, v, data, core)
    core.r_t[0] = -3.0


@dataclass(frozen=True)
class Belt(Block):
    fill: ClassVar[Any] = staticmethod(fill_belt)


def test_energy_is_gained_only_by_what_is_not_passive():
    run = run_of(BLOCK, driving, 0.1)
    gained = np.diff(BLOCK.energy(run.states_q, run.states_v)[[0, -1]])[0]
    assert value("energy-gained", measured(run)) == pytest.approx(gained, rel=1e-9)
    assert gained > 0.1
    for f in ("coulomb", "box", "stewart-trinkle", "ccp"):
        assert row_of(BLOCK, f, 0.8, "energy-gained")["energy_gained"] < 1e-12
    slid = run_of(BLOCK, "coulomb", 0.3)
    p = slid.record.p.copy()
    p[200:, 1:3] *= -1
    work = BLOCK.mu * BLOCK.gravity * H * BLOCK.m * np.linalg.norm(0.5 * (slid.states_v[:-1] + slid.v_after), axis=1)
    turned = replace(slid, record=slid.record._replace(p=p))
    assert value("energy-gained", measured(turned)) == pytest.approx(work[200:].sum(), rel=1e-6)
    assert work[200:].sum() < work[:200].sum()
    belt = run_of(Belt(speed=1e-3), "coulomb", 0.5)
    assert np.diff(belt.case.energy(belt.states_q, belt.states_v)[[0, -1]])[0] > 0.5
    assert value("energy-gained", measured(belt)) < 1e-12


def test_a_yaw_turns_the_box_and_nothing_that_is_isotropic():
    """Box friction is sqrt 2 mu p_n along a diagonal of the axes, which a yaw of 33.75 deg turns by 56.25."""
    step = row_of(BLOCK, "box", 0.3, "yaw-spread")["yaw_spread"]
    assert step == pytest.approx(2**1.5 * BLOCK.mu * np.sin(np.radians(28.125)) / np.hypot(1, BLOCK.mu), rel=1e-9)
    for f in ("coulomb", "ccp", "mujoco", "hybrid", "phantom-inertia", "box:axes=sliding", "frictionless"):
        assert row_of(BLOCK, f, 0.3, "yaw-spread")["yaw_spread"] < 1e-12, f
    assert np.isnan(row_of(case_of("pinched-capsule"), "box", 0.1, "yaw-spread")["yaw_spread"])


@pytest.mark.parametrize("label", ["coulomb", "hybrid", "mujoco"])
def test_a_yaw_turns_what_is_remembered_too(label):
    """The block comes to rest on a bristle, which holds the friction of the step before it, in whatever axes."""
    run = run_of(BLOCK, "coulomb", 0.75, relaxation=Relaxation(k_n=1e6, b_n=1e3, k_t=1e4, b_t=1e1))
    f = find_formulation(label)
    local = from_exact(Job(f, default_solver(compiled(f, *BLOCK.size).kind), H), run, run)
    assert np.abs(run.p_t[-70:]).min(axis=0).max() > 1e-6
    assert value("yaw-spread", replace(measured(run, None, local), steps=np.arange(680, 750))) < 1e-9


@pytest.mark.parametrize("label", ["box", "hybrid", "staggered"])
def test_without_a_yaw_the_steps_are_the_local_ones(label):
    """In which the last impulses count: they change from step to step on a soft floor."""
    run = run_of(BLOCK, "coulomb", 0.1, relaxation=Relaxation(k_n=1e4))
    f = find_formulation(label)
    local = from_exact(Job(f, default_solver(compiled(f, *BLOCK.size).kind), H), run, run)
    k = np.array([1, 20, 21, 99])
    np.testing.assert_allclose(after_yaw(local, 0.0, k), local.v_after[k], rtol=1e-12)
    assert np.ptp(run.p_n[18:22]) > 1e-4


def test_momentum_that_no_impulse_accounts_for_is_reported():
    run = run_of(BLOCK, "coulomb", 0.1)
    assert value("momentum-error", measured(run)) < 1e-14
    wrong = replace(run, record=run.record._replace(p=1.01 * run.record.p))
    kick = H * BLOCK.gravity * np.hypot(1, BLOCK.mu)
    free = np.linalg.norm(run.states_v[:-1] - np.array([0, 0, H * BLOCK.gravity]), axis=1)
    assert value("momentum-error", measured(wrong)) == pytest.approx(
        (0.01 * kick / (free + 1.01 * kick)).max(), rel=1e-6
    )
    for name in ("drawer", "cube", "gripper"):
        assert row_of(case_of(name), "coulomb", 0.05, "momentum-error")["momentum_error"] < 1e-11


def test_bilateral_rows_have_an_error_where_there_are_any():
    """The gripper's joints, rigid, and as springs."""
    gripper = case_of("gripper")
    rigid, soft = (
        row_of(gripper, "coulomb", 0.1, "bilateral-error", relaxation=x)["bilateral_error"]
        for x in (Relaxation(), Relaxation(k_b=1e3))
    )
    assert rigid < 1e-12
    assert 1e-4 < soft < 1
    assert np.isnan(row_of(BLOCK, "coulomb", 0.1, "bilateral-error")["bilateral_error"])


def test_without_friction_a_local_step_misses_the_friction_of_the_contacts_force():
    """On a sliding block: mu g h of the mean of g h sqrt(1 + mu^2) and g h, at every step, however long the run."""
    row = row_of(BLOCK, "frictionless", 0.5, "local-velocity-error")
    assert row["local_velocity_error"] == pytest.approx(2 * BLOCK.mu / (np.hypot(1, BLOCK.mu) + 1), rel=1e-12)
    assert row_of(BLOCK, "coulomb", 0.5, "local-velocity-error")["local_velocity_error"] == 0.0
    ball = case_of("bouncing-ball")
    assert np.isnan(row_of(ball, "frictionless", 0.01, "local-velocity-error")["local_velocity_error"])
    flight = run_of(ball, "coulomb", 0.01)
    local = from_exact(Job(COULOMB, default_solver("Coulomb NCP"), H), flight, flight)
    pushed = replace(local, record=local.record._replace(after=local.record.after + 1.0))
    assert np.isnan(value("local-velocity-error", measured(flight, None, pushed)))


def test_local_steps_are_as_compliant_as_the_formulation_needs():
    """Redundant contacts leave phantom inertia no step without compliance, and the box one: alike, and rigid."""
    cube = case_of("cube")
    soft, rigid = cube.relaxation, cube.relaxation.with_values(k_t=np.inf, b_t=0.0)
    exact, alike = (run_of(cube, "coulomb", 0.05, relaxation=x) for x in (rigid, soft))
    for label, base in (("phantom-inertia", alike), ("box", exact)):
        f = find_formulation(label)
        job = Job(f, default_solver(compiled(f, *cube.size).kind), H, soft)
        found = from_exact(job, exact, alike)
        assert found.base is base, label
        assert np.isfinite(found.v_after).all()
        reasons = [Failed("FAILED", words) for words in ("of the rigid", "of the soft")]
        assert from_exact(job, *reasons) is reasons[0]


def test_without_an_answer_to_every_step_there_is_no_local_error():
    run = run_of(BLOCK, "coulomb", 0.05)
    f = find_formulation("box")
    local = from_exact(Job(f, default_solver("MLCP"), H), run, run)
    assert value("local-velocity-error", measured(run, None, local)) > 0.1
    after = local.record.after.copy()
    after[7] = np.nan
    broken = replace(local, record=local.record._replace(after=after))
    assert np.isnan(value("local-velocity-error", measured(run, None, broken)))
    assert np.isnan(value("local-velocity-error", measured(run)))


@pytest.mark.parametrize("name", ["wheel", "off-axis", "gripper", "wedged-box", "bouncing-ball", "particle"])
def test_symptoms_are_numbers_or_not_defined_and_never_infinite(name):
    """From the start on, where gaps and impulses may be zero, under what errs most."""
    for f in ("ccp", "frictionless"):
        row = row_of(case_of(name), f, 0.05, fine=H)
        values = row[[x.replace("-", "_") for x in NAMES]].astype(float)
        assert not np.isinf(values).any()
        assert (values.dropna() >= 0).all()
        assert row["notes"] == ""


def test_springs_that_exact_states_do_not_press_in_have_no_local_error():
    assert np.isnan(row_of(BLOCK, "mujoco", 0.01, "local-velocity-error")["local_velocity_error"])
    assert row_of(BLOCK, "ccp", 0.01, "local-velocity-error")["local_velocity_error"] > 0


def test_a_yaw_of_the_scene_changes_a_box_and_not_a_cone():
    found = wb.compare("block", ["coulomb", "box"], metrics=["yaw-spread"], duration=0.02, reference_step=1e-3)
    rows = found.runs[(found.runs["window"] == "all") & (found.runs["axes"] != "sliding")].set_index("label")
    assert rows.loc["coulomb", "yaw_spread"] < 1e-9
    assert rows.loc["box", "yaw_spread"].max() > 0.1
