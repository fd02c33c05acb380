"""Running scenes on steps and motions that are made up: what counts as a step, what is kept, what metrics see."""

from dataclasses import replace

import numpy as np
import pytest

from tests import tracks
from tests.scenes import Balls
from tests.tracks import step_by_body
from workbench.builtin.formulations import FORMULATIONS
from workbench.comparison.scenes import single
from workbench.comparison.scenes.bodies import SYMPTOMS
from workbench.comparison.scenes.measured import MeasuredScene
from workbench.problems.solution import Status
from workbench.scenes.posing import Memory
from workbench.scenes.run import perturbed, run
from workbench.scenes.stepper import SceneStepper, Stepped

TOO_FAST = 1e6

FLIES = dict(positions=[[0, 0, 1.0], [0, 1, 1.0]], velocities=[[0, 0, 0], [0, 0, 0]])
TOLERANCE = 1e-9


class Given:
    """A stepper whose steps are those of free flight, with `changes` to the one at a number."""

    label, solver, h = "given", "nobody", 0.125

    def __init__(self, scene, **changes):
        self.scene, self.changes, self.times = scene, changes, []

    def begin(self):
        pass

    def step(self, q, v, t):
        self.times.append(t)
        given = self.scene.instant(q, v, t, self.h)
        none = np.zeros(0)
        x = Stepped(q, v, np.zeros(given.mu.size), none, none, given, 0.0, TOLERANCE, 3, 1, Status.SOLVED, "")
        return x._replace(**self.changes) if len(self.times) == 3 else x


def judged(**changes):
    """A run of four steps, and the times that its stepper was given."""
    scene = Balls(**FLIES)
    stepper = Given(scene, **changes)
    return run(scene, stepper, 4), stepper.times


FAST = np.array([*np.zeros(11), -1.01 * TOO_FAST])
REFUSED = [
    ({"residual": 1.01 * TOLERANCE}, Status.INACCURATE, "residual 1.0e-09 above 1e-09"),
    ({"residual": np.nan}, Status.INACCURATE, "residual nan"),
    ({"q": np.full(14, np.inf)}, Status.NOT_FINITE, "explodes"),
    ({"v": FAST}, Status.NOT_FINITE, "1.0e+06 m/s"),
    ({"v": np.full(12, np.nan)}, Status.NOT_FINITE, "explodes"),
    ({"status": Status.INACCURATE, "reason": "why"}, Status.INACCURATE, "why"),
    ({"status": Status.NO_FIXED_POINT}, Status.NO_FIXED_POINT, Status.NO_FIXED_POINT.meaning),
]


@pytest.mark.parametrize(("changes", "status", "words"), REFUSED)
def test_a_step_that_does_not_count_ends_the_run(changes, status, words):
    track, times = judged(**changes)
    assert times == [0.0, 0.125, 0.25]
    assert (track.status, track.steps, track.finished) == (status, 2, False)
    assert track.reason.startswith("at 0.25 s: ")
    assert words in track.reason


def test_steps_at_the_bounds_count_and_the_least_tolerance_is_reported():
    track, times = judged(residual=0.5 * TOLERANCE, tolerance=0.5 * TOLERANCE, v=0.99 * FAST)
    assert times == [0.0, 0.125, 0.25, 0.375]
    assert track.finished
    assert (track.status, track.reason, track.tolerance) == (Status.SOLVED, "", 0.5 * TOLERANCE)
    assert track.iterations.tolist() == [3, 3, 3, 3]


def test_a_run_is_finished_when_all_steps_are_there():
    track, _ = judged()
    assert track.finished
    assert not replace(track, steps_wanted=5).finished


def test_the_start_is_displaced_by_a_size_and_at_no_other_speed():
    scene = Balls(**FLIES)
    (q, v), (q_0, v_0) = perturbed(scene, 1e-7), scene.start()
    moved = np.linalg.norm((scene.poses(q)[0] - scene.poses(q_0)[0]), axis=1)
    assert moved.max() == pytest.approx(1e-7, rel=1e-6)
    assert moved.min() > 0
    np.testing.assert_array_equal(v, v_0)


def touching(P, pair, rate=(0.0, 0.0, 0.0), gap=-1e-3):
    """A contact at the origin with these impulses, as it is listed by body."""
    acts = np.zeros((3, 6))
    acts[[0, 1, 2], [2, 0, 1]] = 1.0
    return step_by_body(P, pair, acts, rate=rate, gap=gap)


def test_what_one_body_does_to_the_other_is_reported_from_both_sides():
    step = touching([2.0, 0.0, 0.0], (0, 1), (0.0, 3.0, 4.0))
    assert step.slide.tolist() == [[-3.0, -4.0, 0.0], [3.0, 4.0, 0.0]]
    assert step.slip.tolist() == [5.0, 5.0]
    assert step.wrench[:, 2].tolist() == [-4.0, 4.0]
    assert step.load.tolist() == [4.0, 4.0]


def test_forces_between_two_bodies_cancel():
    """A contact pushes its bodies apart with opposite forces, whose moments about one point cancel too."""
    random = np.random.default_rng(3)
    acts = random.standard_normal((3, 6))
    point, centre, P = random.standard_normal((1, 3)), random.standard_normal((2, 3)), random.standard_normal(3)
    step = step_by_body(P, (0, 1), acts, point=point, centre=centre)
    np.testing.assert_allclose(step.wrench[1, :3], P @ acts[:, :3] / 0.5)
    about_zero = step.wrench[:, 3:] + np.cross(centre, step.wrench[:, :3])
    np.testing.assert_allclose(step.wrench[:, :3].sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(about_zero.sum(axis=0), 0, atol=1e-12)


def test_symptoms_are_in_the_axes_of_the_contact():
    """What slides along a tangent slips, whatever torsion and rolling there are besides."""
    acts = np.zeros((4, 6))
    acts[[0, 1, 2], [2, 0, 1]] = 1.0
    acts[3, 5] = 1.0
    step = step_by_body([2.0] * 4, (-1, 0), acts, rate=[9, 3, 4, 7], gap=-1e-3, h=0.1, centre=np.zeros((1, 3)))
    assert step.slip == [5.0]
    assert step.slide.tolist() == [[3.0, 4.0, 0.0]]
    assert (step.load, step.gap) == (20.0, -1e-3)


def test_a_contact_that_pulls_by_rounding_bears_no_load_and_has_no_place():
    step = touching([-1e-17, 0.0, 0.0], (-1, 0), (0.0, 3.0, 4.0))
    assert step.load.tolist() == step.slip.tolist() == [0.0, 0.0]
    assert np.isnan(step.place).all()
    assert step.gap.tolist()[0] == -1e-3
    # The other body touches nothing.
    assert np.isnan(step.gap[1])


def test_sliding_velocities_hold_what_surfaces_do_by_themselves():
    scene = Balls([[0, 0, 0.1]], [[0, 0, 0]])
    given = scene.instant(*scene.start(), 0.0, 0.125)
    moving = replace(given, rate=np.array([0.0, 0.25, 0.0]))
    stepper = Given(scene)
    scene.instant = lambda *_: moving
    pressed = np.array([1.0, 0.0, 0.0])
    x = stepper.step(*scene.start(), 0.0)
    stepper.step = lambda *_: x._replace(P=pressed)
    assert run(scene, stepper, 1).touched.slip.tolist() == [[0.25]]


def test_memory_is_for_rows_of_one_width():
    memory, keys = Memory(), np.array([7, 3, 5])
    memory.keep("sort", keys, np.array([[7.0, 7.0], [3.0, 3.0], [5.0, 5.0]]))
    np.testing.assert_array_equal(memory.recall("sort", np.array([5, 6, 7]), 2)[:, 0], [5.0, np.nan, 7.0])
    assert np.isnan(memory.recall("sort", keys, 3)).all()
    assert np.isnan(memory.recall("other", keys, 2)).all()


# What metrics see

K, STRIDE, V_TH = 4, 3, 1e-3


def each(*values):
    """(count, 1) a number for the body in every step."""
    return np.array(values, dtype=float)[:, None]


def symptoms(own, reference):
    """Symptoms of a run of K steps beside a reference that takes `STRIDE` steps for each."""
    run_, fine = tracks.track(K, 0.5, **own), tracks.track(K * STRIDE, 0.5 / STRIDE, **reference)
    m = MeasuredScene(run_, fine, run_, run_, np.arange(K), fine, V_TH)
    return m, {x.column.name: x.function(m)[0] for x in SYMPTOMS}


def test_a_body_sticks_where_it_touches_and_does_not_slide_all_through_the_step():
    """In the reference the body flies in a part of the second step and slides in a part of the third."""
    load, slip = np.ones(12), np.full(12, 0.5 * V_TH)
    load[4], slip[8] = 0.0, 2 * V_TH
    reference = {"load": each(*load), "slip": each(*slip)}
    slide = np.zeros((K, 1, 3))
    slide[:, 0, 0] = 0.1, 10.0, 10.0, 0.3
    m, found = symptoms({"load": each(1, 1, 1, 1), "slip": each(0.1, 10, 10, 0.3), "slide": slide}, reference)
    assert m.sticking[:, 0].tolist() == [True, False, False, True]
    assert m.carried[:, 0].tolist() == [True, False, True, True]
    assert found["creep"] == pytest.approx(0.2)
    assert found["drift"] == pytest.approx(0.5 * 0.4)
    # Where the run itself does not touch there is no sliding speed.
    assert symptoms({"load": each(1, 1, 1, 0), "slip": each(0.1, 10, 10, 0.3)}, reference)[1]["creep"] == 0.1
    nowhere = symptoms({"load": each(1, 1, 1, 1)}, {"load": each(*np.zeros(12))})[1]
    assert np.isnan([nowhere["creep"], nowhere["drift"]]).all()


def test_a_body_is_lifted_beyond_the_gap_of_the_reference_while_that_presses():
    load = np.ones(12)
    load[9:] = 0.0
    reference = {"load": each(*load), "gap": each(*[0, 0, 0, 3, 3, 3, -1, -1, -1, 0, 0, 0])}
    assert symptoms({"gap": each(1, 5, 1.5, 9)}, reference)[1]["lift"] == 2.0
    # What has gone in there is no height from which to count.
    assert symptoms({"gap": each(0, 3, 2.5, 9)}, reference)[1]["lift"] == 2.5
    assert symptoms({"gap": each(1, -5, -2, np.nan)}, reference)[1]["penetration"] == 5.0


def test_forces_are_means_over_the_same_time():
    wrench = np.zeros((12, 1, 6))
    wrench[:, 0, 0] = np.arange(12)
    m, _ = symptoms({}, {"wrench": wrench})
    np.testing.assert_allclose(m.mean(m.reference, "wrench")[:, 0, 0], [1.0, 4.0, 7.0, 10.0])

    class OfTwo(MeasuredScene):
        span = 2

    assert m.span == 1
    assert MeasuredScene(**vars(m) | {"steps": np.arange(60)}).span == 3
    np.testing.assert_allclose(OfTwo(**vars(m)).smooth(m.reference, "wrench")[:, 0, 0], [2.5, 5.5, 8.5])


# Single steps


def test_single_steps_come_after_the_one_before_and_count_if_verified():
    scene = Balls(**FLIES)
    track = run(scene, Given(scene), 4)
    stepper = Given(scene)
    assert single.from_own(stepper, track, np.array([0, 3])) == pytest.approx(0.0)
    # The first has none before it.
    assert stepper.times == [0.0, 0.25, 0.375]
    unsure = Given(scene, residual=2 * TOLERANCE)
    with pytest.raises(single.WorkbenchError, match=r"at 0\.375 s has no verified solution"):
        single.from_own(unsure, track, np.array([0, 3]))


def test_the_error_of_a_single_step_is_beside_what_contacts_change():
    """One answer changes the momentum by twice what the other does: their difference is two thirds of the mean."""
    scene = Balls([[0, 0, 0.1]], [[0, 0, 0]])
    given = scene.instant(*scene.start(), 0.0, 0.125)
    free = given.h * given.f / given.M.diagonal()
    change = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert single._apart([(given, free + change, free + 2 * change)]) == pytest.approx(2 / 3)


def test_what_has_gone_in_is_taken_as_touching_and_what_has_come_apart_as_joined():
    scene = Balls([[0, 0, 0.09]], [[0, 0, 0]])
    assert scene.instant(*scene.start(), 0.0, 0.1).phi[0] < 0
    found = single.ZeroGapScene(scene).under("coulomb").instant(*scene.start(), 0.0, 0.1)
    assert found.phi.tolist() == [0.0]
    given = scene.instant(*scene.start(), 0.0, 0.1)
    one = np.ones(1)
    joined = replace(given, J_b=given.J[:1], g=one, r_b=one, eps_b=one)
    scene.instant = lambda *_: joined
    assert single.ZeroGapScene(scene).instant(*scene.start(), 0.0, 0.1).g.tolist() == [0.0]
    above = Balls([[0, 0, 0.11]], [[0, 0, 0]])
    assert single.ZeroGapScene(above).instant(*above.start(), 0.0, 0.1).phi == pytest.approx(0.01)


@pytest.mark.parametrize(("name", "solver"), [("coulomb", "coulomb-exact"), ("ccp", "clarabel"), ("box", "lemke")])
def test_a_solver_of_other_problems_steps_a_scene_over_bridges(name, solver):
    """In flight, too, where there is nothing to solve."""
    falls = Balls(positions=[[0, 0, 0.13], [0.05, 0, 0.35]], velocities=[[1, 0, -1], [0, 0, -1]])
    f = FORMULATIONS.find(name)
    usual, found = (run(falls, SceneStepper(falls, f, 1e-2, solver=x), 12) for x in (None, solver))
    assert found.finished
    assert min(usual.contacts) == 0 < max(usual.contacts)
    np.testing.assert_allclose(found.v, usual.v, atol=1e-5)


def test_cones_in_space_end_the_run_of_a_solver_of_lcps():
    falls = Balls(positions=[[0, 0, 0.1]], velocities=[[1, 0, -1]])
    found = run(falls, SceneStepper(falls, FORMULATIONS.find("ccp"), 1e-2, solver="lemke"), 12)
    assert (found.status, found.finished) == (Status.REFUSED, False)
    assert "no finite set" in found.reason
