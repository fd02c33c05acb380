"""arXiv 2207.05060: exact gradients of its tasks, the rewritten programs, and the cases that stand for the families."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.builtin.formulations.ccp import ccp
from workbench.builtin.formulations.frictionless import frictionless
from workbench.builtin.reports.reproductions import arxiv_2207_05060 as paper
from workbench.builtin.reports.reproductions._impact_tasks import START, BounceOnce, GroundAndWall, TwoBalls
from workbench.builtin.reports.reproductions._impact_tasks import exact_gradient as exact
from workbench.builtin.reports.reproductions._published_steps import (
    COMPLIANT,
    CONVEX,
    DIRECT,
    EXCHANGED,
    POSITION,
    PROJECTED,
    VELOCITY,
    Program,
)
from workbench.derivatives.motion import motion_derivatives
from workbench.events.simulation import simulate_events

TASKS = (BounceOnce(), GroundAndWall(), TwoBalls())
ROOT = np.sqrt(2.0)
YARDSTICKS = {
    "bounce-once": (1.2, (0.0, -1.0, 0.0, -1.0)),
    "ground-and-wall": (8.31613858220179, (-5.27712, 0.21628575484621935, -3.166272, -0.21222954800603156)),
    "two-balls": (
        2.05914350610859,
        (-0.5638022814495405, -0.4543205129295858, -0.7039822988696113, -0.314140495509515),
    ),
}
"""Loss and gradient; of the last two as difference quotients in 70 digits, with the impact times by Newton's method."""
PROGRAMS = [
    Program("direct", DIRECT),
    Program("direct", DIRECT, POSITION),
    Program("direct", DIRECT, VELOCITY),
    Program("convex", CONVEX),
    Program("convex", CONVEX, POSITION),
    Program("compliant", COMPLIANT, b=10.0),
    Program("projected", PROJECTED),
    Program("exchanged", EXCHANGED),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_exact_gradients_are_the_yardsticks(task):
    loss, by = exact(task)
    wanted, gradient = YARDSTICKS[task.name]
    assert loss == pytest.approx(wanted, abs=1e-12)
    np.testing.assert_allclose(by, gradient, rtol=0, atol=1e-10)


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_the_closed_form_is_the_event_driven_motion_from_any_start(task):
    rng = np.random.default_rng(0)
    for _ in range(3):
        moved = {name: getattr(task, name) + 0.1 * x for name, x in zip(START, rng.uniform(-1, 1, 4), strict=True)}
        beside = task.with_parameters(**moved)
        run = simulate_events(beside, beside.duration)
        assert run.reason == ""
        assert exact(beside)[0] == pytest.approx(task.loss(run.end.q)[0], abs=1e-10)


def quotient(of, shift=1e-6):
    return (of(shift) - of(-shift)) / (2 * shift)


@pytest.mark.share(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: f"{p.name}-{p.corrects}")
@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_derivatives_of_a_program_are_quotients_of_its_loss(program, task):
    # Not at the start of the first task, where the loss jumps.
    task = task.with_parameters(q_2=task.q_2 + 0.001, v_2=task.v_2 - 0.01)
    forces = np.tile(np.array(task.force), (task.steps, 1))
    _, by_start, by_force = program.gradient(task, forces)
    for j, name in enumerate(START):

        def by_number(s, name=name):
            return program.gradient(task.with_parameters(**{name: getattr(task, name) + s}))[0]

        assert by_start[j] == pytest.approx(quotient(by_number), rel=1e-4, abs=1e-6)
    for k, axis in ((0, 0), (40, 1), (task.steps - 1, 0)):

        def by_one(s, k=k, axis=axis):
            other = forces.copy()
            other[k, axis] += s
            return program.gradient(task, other)[0]

        assert by_force[k, axis] == pytest.approx(quotient(by_one, 1e-4), rel=1e-4, abs=1e-7)


def test_the_start_of_the_first_task_lies_on_a_jump():
    task, plain = BounceOnce(), Program("direct", DIRECT)
    heights = [plain.gradient(replace(task, q_2=task.q_2 + s))[0] for s in (-1e-9, 1e-9)]
    np.testing.assert_allclose(heights, [1.2 + 4 / 480, 1.2], rtol=0, atol=1e-8)
    by = plain.gradient(replace(task, q_2=task.q_2 + 1e-9))[1]
    np.testing.assert_allclose(by, [0, 1, 0, -0.1], rtol=0, atol=1e-12)
    timed = replace(plain, corrects=POSITION)
    for s in (-1e-9, 0.0, 1e-9):
        np.testing.assert_allclose(timed.gradient(replace(task, q_2=task.q_2 + s))[1], [0, -1, 0, -1], atol=1e-11)


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_the_impact_time_in_position_and_velocity_gives_the_gradient_of_the_motion(task):
    true = exact(task)[1]
    errors = [
        np.abs(Program("", DIRECT, VELOCITY).gradient(task, refined=times)[1] - true).max() for times in (1, 10, 100)
    ]
    assert errors[2] < 1e-3
    assert errors[2] <= max(errors[0] / 50, 1e-10)


def test_the_impact_time_in_position_alone_does_not_where_a_force_acts():
    task = GroundAndWall()
    by = Program("", DIRECT, POSITION).gradient(task, refined=100)[1]
    # The end of the motion, from its loss along y: the first of its coordinates is 0.868.
    above = np.sqrt(exact(task)[0] - (0.868 + 2) ** 2)
    assert by[1] == pytest.approx(-2 * task.e * above, abs=1e-3)
    assert by[0] == pytest.approx(exact(task)[1][0], abs=1e-10)


def test_interchanged_velocities_give_another_restitution():
    """It is e for a wall met at the end of a step, and 1 for one met at its beginning."""
    h, e = GroundAndWall().h, GroundAndWall().e
    for depth, wanted in ((1e-9, e), (1 - 1e-9, 1.0)):
        task = GroundAndWall(q_1=1.65 - (1 - depth) * h * 5.0, q_2=50.0, v_1=5.0, v_2=0.0)
        after = [Program("", kind).gradient(task)[0] for kind in (PROJECTED, EXCHANGED)]
        end = [np.sqrt(loss - (50 - 4.9 * 0.6 * (0.6 + h) - 1.5) ** 2) - 2 for loss in after]
        speed = [(1.65 - x) / (0.6 - h) for x in end]
        np.testing.assert_allclose(speed, [5 * e, 5 * wanted], rtol=1e-6)


def by_steps(task, formulation, placement):
    case = task.with_parameters(placement=placement)
    values, by = motion_derivatives(case, formulation, ["q[0]", "q[1]"], START, task.h, task.duration)
    _, slope = task.loss(values)
    return np.array([slope @ by[name].derivative for name in START])


@pytest.mark.thorough
def test_cases_have_the_gradients_of_their_families():
    bounce = BounceOnce(q_2=1 + paper.BESIDE)
    for f in (frictionless, ccp):
        np.testing.assert_allclose(by_steps(bounce, f, 0.0), [0, 1, 0, (217 - 263) / 480], atol=1e-7)
        np.testing.assert_allclose(by_steps(bounce, f, 2.0), [0, -1, 0, -1], atol=1e-7)
    np.testing.assert_allclose(by_steps(bounce, frictionless, 1.0), [0, 0, 0, -263 / 480], atol=1e-7)
    # MuJoCo's contact without damping is Warp's spring.
    warp = Program("", COMPLIANT).gradient(bounce)[1]
    np.testing.assert_allclose(by_steps(bounce, paper.spring(bounce), 0.0), warp, rtol=1e-3, atol=1e-7)
    wall = GroundAndWall()
    timed = by_steps(wall, frictionless, 1 + wall.e)
    np.testing.assert_allclose(timed[[0, 2]], exact(wall)[1][[0, 2]], atol=1e-7)
    assert timed[1] < 0 < exact(wall)[1][1]


def test_the_published_slope_by_the_first_force_has_another_running_cost():
    task = TwoBalls()
    ours = task.exact_slope_by_first_force()
    theirs = ours + task.weight * task.h * (1 - 2 * task.force[0])
    assert ours / ROOT == pytest.approx(0.000213801296, abs=1e-11)
    assert theirs / ROOT == pytest.approx(-0.0008888851, abs=1e-8)


def test_the_optimum_is_below_every_descent_of_the_motion():
    best = TwoBalls().exact_optimum()
    assert best == pytest.approx(1.3965421601, abs=1e-10)
    rng = np.random.default_rng(1)
    task = TwoBalls()
    for _ in range(5):
        # Forces that decrease linearly, about as strong as the best one.
        force = (
            np.tile(np.array([6 * rng.uniform(0.5, 1.5), 0.0]), (task.steps, 1))
            * np.linspace(2, 0, task.steps)[:, None]
        )
        assert paper.task_3(Program("", DIRECT, VELOCITY), task, force)[0] > best


@pytest.mark.thorough
def test_every_claim_that_differs_says_why():
    claims = paper.reproduce(lambda label, done, total: None).claims
    differ = [c.statement for c in claims if c.verdict != "confirmed"]
    assert differ == [
        "Analytical dl/d$u$ of the force in the first step",
        "Warp's task 2 with the velocities in their places: trained $v_x$",
    ]
    assert all(c.why for c in claims if c.statement in differ)
    assert len(claims) > 50
