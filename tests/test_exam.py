"""The exam: its truths against closed forms, and formulations in it; `test_exam_run` has its course."""

import json
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import workbench as wb
from workbench.algorithms.contact_blocks import BlockSolver
from workbench.exams.experiments import EXPERIMENTS, painleve
from workbench.exams.protocol import packed, unpacked
from workbench.exams.record import Record
from workbench.exams.scene import FormulationWorld
from workbench.exams.subject import ENGINES, FormulationSubject
from workbench.exams.touching import frames
from workbench.exams.trial import Trial, cuboid_inertia
from workbench.support.errors import WorkbenchError

ROOMS = Path(__file__).parents[1] / "workbench" / "exams"
H = 5e-3


@cache
def played(formulation: str, experiment: str, trial: str, h: float = H) -> Record:
    return FormulationSubject(wb.formulations.find(formulation), "").play(EXPERIMENTS[experiment].trials[trial], h)


def measured(formulation: str, experiment: str, trial: str, h: float = H) -> dict[str, float]:
    found = EXPERIMENTS[experiment].measure({trial: played(formulation, experiment, trial, h)})
    return {x.quantity: x.value for x in found}


def test_every_file_of_experiments_and_adapters_is_listed():
    files = {path.stem for path in (ROOMS / "experiments").glob("*.py")} - {"__init__"}
    assert files == {x.measure.__module__.rpartition(".")[2] for x in EXPERIMENTS.values()}
    adapters = {path.stem for path in (ROOMS / "adapters").glob("*.py")} - {"__init__"}
    assert adapters == {x.adapter for x in ENGINES.values()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_what_it_is_and_where_its_truth_comes_from(name):
    x = EXPERIMENTS[name]
    assert x.trials
    assert all((x.title, x.what, x.source, x.bound))
    assert x.measure({}) == []


def test_what_slides_down_a_slope_has_the_acceleration_of_coulombs_law():
    found = measured("coulomb", "slope", "mu = 0.5, 30 degrees")["acceleration of slip"]
    assert found == pytest.approx(9.81 * (0.5 - 0.5 * np.sqrt(0.75)), rel=1e-9)


def test_what_rests_on_a_slope_does_not_creep_under_coulombs_law_and_creeps_where_contacts_are_soft():
    assert abs(measured("coulomb", "slope", "mu = 0.5, 20 degrees")["creep"]) < 1e-12
    assert measured("mujoco", "slope", "mu = 0.5, 20 degrees")["creep"] > 1e-3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("formulation", "slip"),
    [
        # mu u / sqrt(u^2 + v_s^2) = tan 20, and mu (2 y - y^2) = tan 20 with y = u / eps_v; both speeds are 1 mm/s.
        ("hunt-crossley", np.tan(np.pi / 9) / np.sqrt(0.25 - np.tan(np.pi / 9) ** 2)),
        ("ipc", 1 - np.sqrt(1 - 2 * np.tan(np.pi / 9))),
    ],
)
def test_smooth_friction_creeps_where_its_law_carries_the_load(formulation, slip):
    found = measured(formulation, "slope", "mu = 0.5, 20 degrees")["creep"]
    assert found == pytest.approx(1e-3 * slip, rel=1e-6)


@pytest.mark.thorough
def test_associated_flow_throws_a_fast_block_as_high_as_its_formula_says():
    # One impulse opens the contacts with mu |u_t|, and carries the weight for a step; then free flight, which the
    # velocities at the ends of steps make h v / 2 higher.
    h, mu = 2e-3, 0.5
    up = (mu * 6.0 - mu**2 * 9.81 * h) / (1 + mu**2)
    found = measured("ccp", "lift", "block", h)["lift"]
    assert found == pytest.approx(up**2 / (2 * 9.81) + 0.5 * h * up, abs=1e-5)
    assert measured("coulomb", "lift", "block")["lift"] < 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize(("formulation", "factor"), [("stewart-trinkle", np.sqrt(2)), ("box", np.sqrt(0.5))])
def test_friction_within_a_square_depends_on_the_direction(formulation, factor):
    straight, across = (measured(formulation, "yaw", yaw)["distance"] for yaw in ("0 degrees", "45 degrees"))
    assert across / straight == pytest.approx(factor, rel=0.02)


@pytest.mark.thorough
def test_a_step_of_first_order_loses_half_a_step_of_the_stopping_distance():
    for h in (H, 2 * H):
        lost = 1 / (2 * 0.3 * 9.81) - measured("coulomb", "stopping", "1 kg at 1 m/s", h)["distance"]
        assert lost == pytest.approx(0.5 * h, rel=0.05)


@pytest.mark.thorough
def test_exact_coulomb_friction_passes_what_rolls_spins_and_is_pinched():
    trials = (("rolling", "2 m/s"), ("spin", "10 rad/s"), ("groove", "slides, mu = 0.2"))
    for name, trial in trials:
        found = EXPERIMENTS[name].measure({trial: played("coulomb", name, trial)})
        assert found
        assert all(x.error < 0.1 for x in found)


def test_a_block_on_a_belt_breaks_away_when_friction_is_used_up():
    found = measured("coulomb", "conveyor", "20 m/s3")
    assert abs(found["creep before it breaks away"]) < 1e-12
    assert found["largest friction"] == pytest.approx(0.5 * 9.81, rel=1e-9)
    assert found["speed of slip"] == pytest.approx(0.5 * 20 * (0.4 - 0.5 * 9.81 / 20) ** 2, rel=1e-3)
    record = played("coulomb", "conveyor", "20 m/s3")
    assert record.imbalance() < 1e-9
    assert replace(record, trial=replace(record.trial, swing=(0.0, 0.0, 0.0))).imbalance() > 0.5


def test_a_wedge_goes_away_from_under_a_block_where_nothing_rubs():
    found = EXPERIMENTS["wedge"].measure({"mu = 0": played("coulomb", "wedge", "mu = 0")})
    assert all(x.error < 1e-6 for x in found)
    # Momentum along the ground: what the wedge gets, the block gets the other way.
    record = played("coulomb", "wedge", "mu = 0")
    assert record.velocity[-1, :, 0] @ [2.0, 1.0] == pytest.approx(0, abs=1e-9)


def hertz(balls: int) -> np.ndarray:
    """Velocities of equal balls that touch, after the first came with 1, by Hertz's law between them (balls,)."""

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        push = np.maximum(0.0, y[: balls - 1] - y[1:balls]) ** 1.5
        return np.concatenate([y[balls:], np.diff(push, prepend=0.0, append=0.0) * -1.0])

    start = np.zeros(2 * balls)
    start[balls] = 1.0
    return solve_ivp(rates, (0.0, 40.0), start, rtol=1e-9, atol=1e-11).y[balls:, -1]


def test_an_impulse_goes_through_a_chain_as_hertz_says_and_not_as_newton_does_for_all_contacts_at_once():
    apart, touching, plastic = (measured("coulomb", "chain", trial) for trial in EXPERIMENTS["chain"].trials)
    name = list(EXPERIMENTS["chain"].trials)[1]
    (truth,) = (
        x.truth
        for x in EXPERIMENTS["chain"].measure({name: played("coulomb", "chain", name)})
        if x.quantity == "speed of the last ball"
    )
    assert truth == pytest.approx(hertz(5)[-1], abs=5e-5)
    assert apart["speed of the last ball"] == pytest.approx(1.0)
    assert touching["speed of the last ball"] == pytest.approx(0.4)
    assert plastic["speed of the last ball"] == pytest.approx(0.2)
    for found in (apart, touching, plastic):
        assert found["momentum"] == pytest.approx(1.0)
    assert touching["energy kept"] == pytest.approx(1.0)


def test_painleves_rod_slides_below_the_critical_friction_and_catches_above():
    # With a thin tip the ground pushes with 1 / (1.6 - 1.2 mu) of the weight at first, which ends at mu = 4/3.
    x, z, I = painleve.X, painleve.Z, painleve.INERTIA
    for mu in (0.5, 1.0):
        assert 1 + x * (x - mu * z) / I == pytest.approx(1.6 - 1.2 * mu, abs=0.01)
        turning = painleve.rates(mu, np.array([painleve.LEAN, 0.0, -3.0]))[1]
        assert turning == pytest.approx(9.81 * (mu * z - x) / I / (1.6 - 1.2 * mu), rel=0.02)
    for trial in painleve.EXPERIMENT.trials:
        found = painleve.measure({trial: played("coulomb", "painleve", trial, 1e-3)})
        assert all(x.error < 0.05 for x in found)
    # At once: after a single step the tip stands.
    caught = played("coulomb", "painleve", "mu = 2", 1e-3)
    assert caught.velocity[1, 0, 0] - caught.velocity[1, 0, 4] * z == pytest.approx(0, abs=1e-3)
    assert -caught.velocity[1, 0, 4] == pytest.approx(z * 3.0 / (I + x * x + z * z), rel=0.01)


@pytest.mark.thorough
def test_a_step_of_first_order_loses_half_as_much_with_half_the_step():
    trials = [name for name in EXPERIMENTS["halving"].trials if name.startswith("thrown block")]
    records = {name: played("coulomb", "halving", name, h) for name, h in zip(trials, (H, 0.5 * H), strict=True)}
    (found,) = EXPERIMENTS["halving"].measure(records)
    assert found.value == pytest.approx(0.25 * H * 2.0, rel=0.01)


def test_a_record_whose_forces_are_wrong_is_out_of_balance():
    record = played("coulomb", "stopping", "1 kg at 1 m/s")
    assert record.imbalance() < 1e-9
    wrong = replace(record, wrench=record.wrench + np.array([0, 0, 0.01 * 9.81, 0, 0, 0]))
    assert wrong.imbalance() == pytest.approx(0.01, rel=1e-6)
    assert np.isnan(replace(record, wrench=record.wrench * np.nan).imbalance())


def test_energy_of_a_record_is_that_of_its_bodies():
    record = played("coulomb", "rolling", "2 m/s")
    start, end = record.energy[[record.pushed, -1]]
    assert start == pytest.approx(0.5 * 4 + 9.81 * 0.1)
    # Of a ball that slides and then rolls 5/7 of the kinetic energy is left.
    assert end - 0.981 == pytest.approx(5 / 7 * 2.0, rel=1e-6)


def test_contacts_of_a_stack_are_those_of_its_feet():
    """A cube on a cube, each on four feet: the contacts of each bear its own weight, and what stands on it, evenly."""
    record = played("coulomb", "stack", "ratio 1")
    assert (record.contacts == 8).all()
    assert np.abs(record.velocity).max() < 1e-9
    np.testing.assert_allclose(record.wrench, np.tile([0, 0, 9.81, 0, 0, 0], (*record.wrench.shape[:2], 1)), atol=1e-9)


def test_balls_touch_balls_along_the_line_of_their_centres():
    """Of two sizes, without friction or restitution: each takes half of the approach along that line."""
    trial = EXPERIMENTS["chain"].trials["touching, e = 0"]
    small, n = trial.bodies[0], np.array([0.6, 0.8, 0.0])
    (*_, radius) = small.spheres[0]
    large = replace(
        trial.bodies[1], spheres=((0.0, 0.0, 0.0, 0.2),), position=tuple(small.position + (radius + 0.2) * n)
    )
    two = replace(trial, bodies=(small, large), duration=2 * H)
    record = FormulationSubject(wb.formulations.find("coulomb"), "").play(two, H)
    np.testing.assert_allclose(record.velocity[-1, :, :3], [[1, 0, 0] - 0.3 * n, 0.3 * n], atol=1e-9)


def test_frames_are_right_handed_for_any_normal():
    normal = np.random.default_rng(0).normal(size=(50, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    found = frames(np.concatenate([normal, np.eye(3), -np.eye(3)]))
    assert np.allclose(found @ np.swapaxes(found, 1, 2), np.eye(3))
    assert np.allclose(np.linalg.det(found), 1)


def test_arrays_travel_to_the_last_bit():
    x = np.random.default_rng(1).normal(size=(3, 2)) * np.array([1e-300, np.nan])
    assert unpacked(json.loads(json.dumps(packed(x)))).tobytes() == x.tobytes()


@pytest.mark.parametrize("experiment", ["stack", "conveyor"])
def test_a_trial_that_has_travelled_is_the_same(experiment):
    trial = next(iter(EXPERIMENTS[experiment].trials.values()))
    found = Trial.of(json.loads(json.dumps(trial.plain())))
    assert json.dumps(found.plain()) == json.dumps(trial.plain())
    assert found.solids()[-1].name == trial.solids()[-1].name


def test_answers_of_another_solver_are_taken_within_its_own_tolerance():
    class Half(BlockSolver):
        def solve_from(self, problem, start):
            found = self.solve(problem)
            return replace(found, z=0.5 * found.z, residual=problem.residual(0.5 * found.z), tolerance=self.tolerance)

    trial = EXPERIMENTS["lift"].trials["ball"]
    lenient, strict = (
        FormulationWorld(trial, wb.formulations.find("coulomb"), H, Half(tolerance=x)) for x in (9, 1e-9)
    )
    lenient.step()
    assert lenient.state()[2][0, 2] == pytest.approx(-0.5 * 9.81 * H)
    with pytest.raises(ValueError, match="at 0 s"):
        strict.step()


def test_a_world_that_explodes_is_reported():
    trial = EXPERIMENTS["stopping"].trials["1 kg at 1 m/s"]
    falling = replace(trial, gravity=(0.0, 0.0, -1e9), planes=(((0, 0, 1), (0, 0, -1e9)),))
    with pytest.raises(WorkbenchError, match="explodes"):
        FormulationSubject(wb.formulations.find("coulomb"), "").play(falling, H)


def test_the_inertia_of_a_cuboid_is_the_integral_over_it():
    """Gauss points are exact for the squares of coordinates."""
    half, mass = np.array([0.3, 0.1, 0.2]), 2.5
    points = half / np.sqrt(3.0) * np.array(list(product((-1, 1), repeat=3)))
    moments = mass * ((points**2).sum(axis=1, keepdims=True) - points**2).mean(axis=0)
    np.testing.assert_allclose(cuboid_inertia(mass, half), moments, rtol=1e-12)


def test_the_energy_of_a_turned_body_is_by_its_own_axes():
    """A body with three different moments, turned by 60 degrees about z, rotates about the line x = y of the world."""
    body = replace(EXPERIMENTS["stopping"].trials["1 kg at 1 m/s"].bodies[0], mass=2.0, inertia=(1.0, 2.0, 4.0))
    orientation = np.array([[[np.sqrt(0.75), 0.0, 0.0, 0.5]], [[1.0, 0.0, 0.0, 0.0]]])
    velocity, where = np.array([[[3.0, 0.0, 0.0, 1.0, 1.0, 0.0]]] * 2), np.array([[[0.0, 0.0, 1.0]]] * 2)
    record = Record(Trial((body,), 0.3, 1.0), H, where, orientation, velocity, np.zeros((1, 1, 6)), np.zeros(1))
    c, s = 0.5, np.sqrt(0.75)
    spin = 0.5 * np.array([1.0 * (c + s) ** 2 + 2.0 * (c - s) ** 2, 1.0 + 2.0])
    # m v^2 / 2 = 9 J, m g h = 19.62 J.
    np.testing.assert_allclose(record.energy, 28.62 + spin, rtol=1e-12)
