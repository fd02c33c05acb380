"""What the tables say agrees with the motion: redundant, idle and bouncing contacts, compliance, several solutions."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.bouncing_ball import BouncingBall
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.drawer import Drawer
from workbench.builtin.cases.off_axis import OffAxis
from workbench.builtin.cases.pinched_capsule import PinchedCapsule
from workbench.builtin.cases.table import Table
from workbench.builtin.cases.wedged_box import WedgedBox
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.text.comparison import error_columns, rows_of
from workbench.builtin.reports.text.conclusions import ranking, summary
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import Settings
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metrics import METRICS
from workbench.comparison.reference import of_reference
from workbench.diagnostics.determinacy import determinacy
from workbench.mechanics.relaxation import RIGID
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation

pytestmark = pytest.mark.thorough

COULOMB = FORMULATIONS.find("coulomb")
ERRORS = ("friction", "wrench", "velocity", "position", "orientation", "energy")


def compared(case, names, solvers=(), **settings):
    chosen = [find_formulation(name) for name in names]
    return compare_case(case, chosen, COULOMB, solvers, Settings(**settings))


@pytest.fixture(scope="module")
def cube():
    names = ["stewart-trinkle", "box", "hybrid", "phantom-inertia", "box:axes=sliding", "ccp", "coulomb"]
    return compared(Cube(), names, ["auto"])


def verified(c, window="all"):
    runs = c.runs
    return runs[runs["verified"] & (runs["window"] == window)].drop_duplicates("label").set_index("label")


# Redundant and idle contacts


def test_undetermined_friction_of_the_cube_is_no_number(cube):
    """Four vertices on a rigid body: 12 impulses act in 6 directions, and the cube's rearmost ones carry nothing."""
    rows = verified(cube)
    assert (rows["free_directions"] == 6).all()
    assert rows[["friction_error", "friction_rmsd"]].isna().all(axis=None)
    parts = [f"{x}_{part}" for x in ERRORS for part in ("error", "formulation", "compliance", "discretisation")]
    percent = [x for x in parts if not x.startswith("orientation")]
    assert rows[percent].max(axis=None) < 3
    table = rows_of(cube.windows["all"], error_columns(cube))
    assert "n/u (6)" in table[0]["cells"]


def test_the_cube_is_ranked_as_it_moves(cube):
    """The hybrid's path is ten times closer than Stewart and Trinkle's, and the box is far off."""
    rows = verified(cube)
    path = rows["position_error"]
    assert 10 * path["hybrid"] < path["stewart-trinkle"] < path["box"]
    turned = next(s for s in summary(cube) if "reduce the error of" in s)
    assert "reduce the error of box" in turned
    assert "hybrid" not in turned


def test_a_solver_is_blamed_for_what_is_determined_alone():
    """Impulses of the wedged box and the pinched capsule are not unique; the optimisers' motion is right."""
    for case, name in ((WedgedBox(), "ccp"), (PinchedCapsule(), "hybrid")):
        c = compared(case, [name], ["cvxpy:CLARABEL"], duration=0.1, reference_step=1e-3)
        row = verified(c).iloc[0]
        assert row["free_directions"] > 0
        assert np.isnan(row["friction_solver"])
        assert row["velocity_solver"] < 1e-5
        assert row["wrench_solver"] < 1e-4


def test_determinacy_of_textbook_contacts():
    """A block on two feet in the plane: tangents are redundant, normals are not; on one foot all is determined."""
    mass = np.diag([2.0, 2.0, 0.1])[None]
    J = np.array([[0, 1, -1], [0, 1, 1], [1, 0, 0.5], [1, 0, 0.5]], dtype=float)[None]
    J_b, mu, both = np.zeros((1, 0, 3)), np.full((1, 2), 0.3), np.ones((1, 2), dtype=bool)
    found = determinacy(mass, J, J_b, mu, both)
    assert found.dimension == [1]
    assert not found.contacts.any()
    one = determinacy(mass, J, J_b, mu, np.array([[True, False]]))
    assert one.dimension == [0]
    assert one.contacts.all()
    assert determinacy(mass, J, J_b, np.zeros((1, 2)), both).contacts.all()
    # A joint that holds x takes over what friction does.
    held = determinacy(mass, J, np.array([[[1.0, 0.0, 0.5]]]), mu, np.array([[True, False]]))
    assert held.dimension == [1]
    assert not held.contacts[0, 0]
    for u in (1e-6, 1e6):
        units = np.diag([1.0, 1.0, u])
        assert determinacy(1e3 * units @ mass @ units, J @ units, J_b, mu, both).dimension == [1]


def test_idle_contacts_do_not_blur_the_others():
    """A table's legs leave their friction open; a ball that bounces has one contact, determined at every impact."""
    legs = verified(compared(Table(), ["coulomb"], duration=0.02, reference_step=1e-3)).iloc[0]
    assert legs["free_directions"] > 0
    ball = verified(compared(BouncingBall(), ["coulomb", "box"], reference_step=1e-3)).loc["coulomb"]
    assert ball["free_directions"] == 0


def test_free_directions_are_those_of_the_reference():
    """Two corners of the drawer touch; all of MuJoCo's soft ones do, and that is no fact of the reference."""
    c = compared(Drawer(), ["mujoco", "coulomb"], ["ccp-exact", "coulomb-exact"], duration=0.1, reference_step=1e-3)
    rows = verified(c)
    assert (rows["free_directions"] == 1).all()
    assert rows["friction_error"].isna().all()


# The reference


def test_the_reference_has_no_tangential_compliance():
    """The cube at 1 ms with relaxed normals ends at (.440369, 1.581250); with the run's bristles at (.4398, 1.5810)."""
    settings = Settings().of_case(Cube())
    rows = of_reference(Cube(), settings)
    assert (rows.k_n, rows.b_n) == (settings.relaxation.k_n, settings.relaxation.b_n)
    c = compared(Cube(), ["coulomb"], reference_step=1e-3)
    end = c.trajectories[c.trajectories["role"] == "run"].iloc[-1]
    assert np.hypot(end["x"] - 0.439774, end["y"] - 1.581002) < 2e-6
    run = simulate(Cube(), COULOMB, default_solver("Coulomb NCP"), 1e-3, relaxation=rows)
    assert run.states_q[-1, :2] == pytest.approx([0.440369, 1.581250], abs=1e-6)
    # The whole distance is compliance's, and exact friction has no error of formulation.
    row = verified(c).loc["coulomb"]
    assert row["position_formulation"] == 0
    assert row["position_discretisation"] == 0
    assert row["position_compliance"] == row["position_error"] > 0
    apart = np.linalg.norm(run.states_q[1:, :3] - c.trajectories[["x", "y", "z"]].to_numpy()[-3200:-2400], axis=1)
    path = np.linalg.norm(np.diff(run.states_q[:, :3], axis=0), axis=1).sum()
    assert row["position_error"] == pytest.approx(apart.max() / path, rel=1e-9)


def test_compliance_that_is_physics_stays_in_the_reference():
    class Rubber(Cube):
        elastic = True

    settings = Settings().of_case(Rubber())
    assert of_reference(Rubber(), settings) == settings.relaxation
    assert of_reference(Cube(), Settings(relaxation=RIGID).of_case(Cube())) == RIGID


def test_discretisation_is_seen_where_friction_does_not_change():
    """While the wheel slides its friction is constant, and its path at 1 ms is off all the same."""
    row = verified(compared(Wheel(), ["coulomb"]), "sliding").loc["coulomb"]
    # Of a step in which the direction turns the impulse is a little less than mu p_n.
    assert row["friction_rmsd_discretisation"] < 1e-6
    assert 5e-4 < row["position_discretisation"] < 2e-3
    assert row["position_reference"] < 0.2 * row["position_discretisation"]


def test_the_uncertainty_of_the_reference_is_its_error():
    """A block's distance is off by h v_0/2: doubling the difference that half the step makes gives just that."""
    case = Block()
    row = verified(compared(case, ["coulomb"], reference_step=1e-3, reference="steps")).loc["coulomb"]
    stopped = case.speed / (case.mu * case.gravity)
    path = 0.5 * case.speed * stopped
    assert row["position_reference"] == pytest.approx(0.5 * 1e-3 * case.speed / path, rel=2e-2)


def test_energy_has_a_scale_where_it_starts_at_zero():
    rows = verified(compared(OffAxis(), ["coulomb", "box"]))
    assert np.isfinite(rows["energy_error"]).all()
    assert rows["energy_error"]["box"] > 0.1
    assert rows["energy_error"]["coulomb"] < 1e-9


def test_a_body_at_rest_has_a_position_error():
    rows = verified(compared(PinchedCapsule(), ["mujoco", "coulomb"], ["auto"], duration=0.2))
    assert rows["position_error"]["coulomb"] < 1e-6
    assert rows["position_error"]["mujoco"] > 0.1


@pytest.mark.parametrize("case", [PinchedCapsule(), WedgedBox()], ids=lambda case: case.name)
def test_what_falls_beside_a_reference_that_rests_is_wrong_altogether_and_no_more(case):
    """Thousands of percent of a rest that hardly moves would say no more than that: nothing is held."""
    c = compared(case, ["frictionless", "mujoco", "coulomb"], ["auto"], reference_step=1e-3)
    for window in c.windows:
        rows = verified(c, window)
        assert (rows.loc["frictionless", ["velocity_error", "position_error"]] > 0.9).all()
        errors = [f"{x}_error" for x in ("velocity", "position", "energy")]
        assert rows[errors].max(axis=None) <= 2
        assert rows.loc["mujoco", "velocity_error"] < 0.5 * rows.loc["frictionless", "velocity_error"]


def test_the_faster_of_two_falls_is_not_the_lesser_error():
    """Thrown away ever faster, a body is ever farther from the reference."""
    m = measured_of(Block(), 0.02)
    errors = []
    for factor in (0.5, 2.0, 1e3, 1e9):
        record = m.run.record._replace(
            v=m.run.record.v * (1 + factor * np.linspace(0, 1, len(m.run.record.v))[:, None])
        )
        thrown = replace(m, run=replace(m.run, record=record))
        errors.append(thrown.velocities_apart(thrown.run, thrown.reference))
    assert (np.diff(errors) > 0).all()
    assert errors[-1] == pytest.approx(1.0, abs=1e-6)


class Rolled(BouncingBall):
    """The same ball, whose principal axes lie otherwise: which axes a ball calls its own is nothing of its motion."""

    def start(self):
        q, v = super().start()
        q[3:7] = 0.5, -0.5, 0.5, 0.5
        return q, self.in_space(q, v, back=True)


def test_velocities_and_wrenches_do_not_depend_on_the_axes_of_the_bodies():
    m = measured_of(BouncingBall(), 0.6)
    other = simulate(Rolled(), COULOMB, default_solver("Coulomb NCP"), 1e-3, 0.6)
    assert np.abs(other.states_v - m.run.states_v).max() > 10
    assert m.velocities_apart(other, m.run) < 1e-9
    assert METRICS.find("wrench-error").function(m, other, m.run) < 1e-9


# Impacts, which come at another step


def measured_of(case, duration):
    run = simulate(case, COULOMB, default_solver("Coulomb NCP"), 1e-3, duration)
    return MeasuredRun(run, run, None, None, np.arange(run.steps), None, None, None)


def test_an_impact_that_comes_late_is_a_small_error_and_one_that_is_missing_a_whole_one():
    """A ball's first impact, put s steps later: 2 s over the span of 30; away altogether: all of it is lost."""
    m = measured_of(BouncingBall(), 0.6)
    k = int(np.flatnonzero(m.run.p_n[:, 0])[0])
    assert (m.run.p_n[:, 0] > 0).sum() == 1
    friction, wrench, energy = (METRICS.find(f"{x}-error").function for x in ("friction", "wrench", "energy"))
    rubs = np.linalg.norm(m.run.p_t[k, 0]) / (0.2 * m.run.p_n[k, 0])
    for late in (0, 1, 5):
        p, J = (np.roll(x, late, axis=0) for x in (m.run.record.p, m.run.record.J))
        other = replace(m.run, record=m.run.record._replace(p=p, J=J))
        # The axes of the ball turn by a tenth in that time, which the rolled record does not know.
        assert wrench(m, other, m.run) == pytest.approx(2 * late / 30, rel=0.02)
        assert friction(m, other, m.run) == pytest.approx(rubs * np.sqrt(2 * late / 30), rel=1e-12)
    missing = replace(m.run, record=m.run.record._replace(p=0 * m.run.record.p))
    assert wrench(m, missing, m.run) == pytest.approx(1.0, abs=1e-12)
    assert friction(m, missing, m.run) == pytest.approx(rubs, rel=1e-12)
    v, q = m.run.record.v.copy(), m.run.record.q.copy()
    v[k + 1], q[k + 1] = v[k], q[k]
    late = replace(m.run, record=m.run.record._replace(v=v, q=q))
    lost = np.ptp(m.case.energy(m.run.states_q, m.run.states_v)[k : k + 2])
    assert energy(m, late, m.run) == pytest.approx(lost / (30 * m.energy(late, m.run)), rel=0.1)


def test_exact_friction_itself_is_close_on_a_ball_that_bounces():
    """At ten times the reference's step every impact is some steps late; a missing rebound is another matter."""
    rows = verified(compared(BouncingBall(), ["coulomb", "mujoco"], ["ccp-exact", "coulomb-exact"]))
    own, soft = rows.loc["coulomb"], rows.loc["mujoco"]
    assert own["wrench_error"] < 0.05
    assert own["friction_error"] < 0.15
    assert own["energy_error"] < 0.01
    assert soft["wrench_error"] > 1
    assert soft["energy_error"] > 0.3


def test_errors_within_the_references_uncertainty_are_not_ranked():
    c = compared(Wheel(), ["stewart-trinkle", "anitescu-potra", "frictionless", "box"], ["lemke"], duration=0.2)
    rows = verified(c).reset_index()
    column = next(m.column for m in c.metrics if m.name == "velocity-error")
    order = ranking(rows, column)
    assert {"stewart-trinkle", "anitescu-potra"} <= set(order[0])
    assert order[-1] == ["frictionless"]
    blurred = rows.assign(velocity_reference=10.0)
    assert len(ranking(blurred, column)) == 1
