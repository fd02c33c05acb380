"""Comparing on scenes: runs by body, where the comparison stops, symptoms, growth."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from tests.scenes import Balls
from tests.tables import TIMES
from workbench.algorithms import find_solver
from workbench.comparison.jobs import Settings
from workbench.comparison.measured import angles
from workbench.comparison.scenes import runs
from workbench.comparison.scenes.compare import compare_scene
from workbench.comparison.scenes.single import ZeroGapScene
from workbench.scenes.run import run
from workbench.scenes.stepper import SceneStepper
from workbench.support.errors import DataError, WorkbenchError
from workbench.verbs.find import find_formulation

SLIDES = dict(positions=[[0, 0, 0.1], [0, 0.5, 0.11]], velocities=[[1, 0.3, 0], [0.5, 0, 0]])
H, FINE, DURATION = 6e-3, 1e-3, 0.048
SETTINGS = Settings((H,), FINE, DURATION)
COULOMB = find_formulation("coulomb")


def compared(scene, *formulations, settings=SETTINGS, engines=(), **given):
    found = [*map(find_formulation, formulations), *engines]
    return compare_scene(scene, found, COULOMB, SceneStepper, settings, **given)


@pytest.fixture(scope="module")
def sliding():
    return compared(Balls(**SLIDES), "coulomb", "ccp", "mujoco")


@pytest.mark.thorough
def test_forces_by_body_are_those_of_newton():
    """The net wrench of every body is the rate of its momentum but for gravity."""
    scene = Balls(**SLIDES)
    track = run(scene, SceneStepper(scene, COULOMB, H), 30)
    assert track.finished
    v = track.v.reshape(-1, 2, 6)
    rate = np.diff(v, axis=0) / H * scene.inertia.reshape(2, 6)
    rate[..., 2] += 9.81
    np.testing.assert_allclose(track.touched.wrench, rate, atol=1e-7)
    assert track.touched.load.max() > 9


@pytest.mark.thorough
def test_without_friction_rigid_formulations_agree():
    c = compared(Balls(**SLIDES, mu=0.0), "coulomb", "box", "ccp")
    assert c.runs["verified"].all()
    for part in ("position", "orientation", "force", "moment"):
        np.testing.assert_allclose(c.runs[f"body_{part}_formulation"], 0, atol=1e-7)
    assert (c.runs["one_step_error"] < 1e-6).all()


def test_what_is_the_same_has_no_difference(sliding):
    own = sliding.runs.set_index("label").loc["coulomb"]
    assert own["body_position_formulation"] == 0
    # A single step begins with what one step before it left, a run with all of them: solvers round otherwise.
    assert own["one_step_error"] < 1e-15
    assert own["body_position_error"] == own["body_position_discretisation"] > 0
    # Of first order: the reference at twice its step is as far from it as the step's error is in five of its steps.
    assert own["body_position_reference"] == pytest.approx(own["body_position_error"] / (H / FINE - 1), rel=0.1)
    other = sliding.runs.set_index("label").loc["ccp"]
    assert other["body_position_formulation"] > 5 * own["body_position_error"]


@pytest.mark.thorough
def test_the_error_of_the_step_is_of_first_order(sliding):
    """Half the step, half the error."""
    half = compared(Balls(**SLIDES), "coulomb", settings=Settings((H / 2,), FINE / 2, DURATION)).runs.iloc[0]
    own = sliding.runs.iloc[0]
    for name in ("body_position_error", "body_position_reference"):
        assert half[name] == pytest.approx(own[name] / 2, rel=0.1)


@pytest.mark.thorough
def test_a_yaw_of_the_scene_changes_nothing_for_coulomb(sliding):
    turned = compared(Balls(**SLIDES, yaw=0.7), "coulomb").bodies
    errors = [x[x["label"] == "coulomb"] for x in (sliding.bodies, turned)]
    for name in ("position_error", "orientation_error", "force_error", "slip"):
        np.testing.assert_allclose(errors[1][name], errors[0][name], rtol=2e-4, atol=1e-8)


@pytest.mark.thorough
def test_the_worst_body_is_in_the_row(sliding):
    for name in ("position_error", "moment_error", "creep", "slip", "penetration"):
        worst = sliding.bodies.groupby("label", sort=False)[name].max()
        np.testing.assert_array_equal(sliding.runs[f"body_{name}"], worst)


@pytest.mark.thorough
def test_the_numbers_of_bodies_are_those_of_their_curves(sliding):
    """Fewer moments than are drawn: means and extremes over the curves are the numbers themselves."""
    runs = sliding.trajectories[sliding.trajectories["role"] == "run"]
    curves = runs.groupby(["label", "body"], sort=False)
    for name in ("position_error", "orientation_error"):
        np.testing.assert_allclose(curves[name].mean(), sliding.bodies[name], rtol=1e-12)
    deepest = np.maximum(-curves["gap"].min(), 0.0)
    np.testing.assert_allclose(deepest, sliding.bodies["penetration"], atol=1e-15)
    assert deepest.max() > 1e-5


@pytest.mark.thorough
def test_a_soft_formulation_sinks_and_creeps(sliding):
    """What rests on a spring sinks; a rigid one does neither."""
    rows = sliding.bodies[sliding.bodies["body"] == "ball 1"].set_index("label")
    assert rows["penetration"]["mujoco"] > 1e-5 > 1e-9 > rows["penetration"]["coulomb"]
    pushed = compared(Balls([[0, 0, 0.1]], [[0, 0, 0]], drive=(0.5, 0, 0)), "coulomb", "mujoco")
    creep = pushed.bodies.set_index("label")["creep"]
    assert creep["mujoco"] > 1e-4 > 1e-9 > creep["coulomb"]


@pytest.mark.parametrize(("name", "own"), [("mujoco", True), ("ccp", False)])
def test_a_soft_formulation_is_asked_at_states_of_its_own_run(name, own):
    """There exact friction takes what has gone in as touching; rigid ones are asked at states of exact friction."""
    asked = []

    def stepper(scene, f, h, solver):
        asked.append((f.name, isinstance(scene, ZeroGapScene), h))
        return SceneStepper(scene, f, h, solver)

    short = Settings((H,), FINE, 2 * H)
    compare_scene(Balls([[0, 0, 0.1]], [[1, 0, 0]]), [find_formulation(name)], COULOMB, stepper, short)
    assert [x for x in asked if x[1]] == [("coulomb", True, H)] * own
    assert asked.count((name, False, H)) == (1 if own else 2)


def test_growth_of_a_stable_scene_is_about_one():
    c = compared(Balls([[0, 0, 0.1], [0.4, 0, 0.1]], [[0, 0, 0], [0, 0, 0]]), "coulomb")
    assert c.scene.why == ""
    assert max(c.scene.growth) == pytest.approx(1, rel=0.2)


def test_the_comparison_stops_where_the_motion_is_chaotic():
    """A ball on the top of another: what it is off by grows without end, and the page says when that is too much."""
    scene = Balls([[1e-5, 0, 0.3]], [[0, 0, 0]], fixed=[[0, 0, 0.1]], drive=(0, 0, -900))
    c = compared(scene, "ccp", settings=Settings((1.2e-2,), 2e-3, 0.16))
    assert 0.03 < c.scene.until < 0.15
    assert "s: " in c.scene.why
    assert c.runs["clipped"].all()
    assert (c.runs["window_end"] == c.scene.until).all()
    assert c.trajectories["t"].max() <= c.scene.until + 1e-9
    assert max(c.scene.growth) > 20


class Ending(SceneStepper):
    """Steps that have no verified answer from a time on."""

    def step(self, q, v, t):
        found = super().step(q, v, t)
        # Every step takes more than the one before.
        found = found._replace(residual=1e-12 * (1 + t), iterations=1 + round(1e3 * t))
        return found._replace(residual=1.0) if t > 0.8 * DURATION else found


def test_a_run_without_an_answer_is_a_row_with_its_reason():
    def stepper(scene, f, h, solver):
        return (Ending if f.name == "ccp" else SceneStepper)(scene, f, h, solver)

    scene = Balls(**SLIDES)
    c = compare_scene(scene, [COULOMB, find_formulation("ccp")], COULOMB, stepper, SETTINGS)
    row = c.runs.set_index("label").loc["ccp"]
    assert not row["verified"]
    assert row["claimed"] == "INACCURATE"
    assert "at 0.042 s: residual 1.0e+00" in row["reason"]
    assert np.isnan(row["body_position_error"])
    # What is known of exact friction's steps does not depend on where a run ends.
    assert row["steps_examined"] == c.runs["steps_examined"].max() > 0
    assert c.scene.until == DURATION
    assert set(c.bodies["label"]) == {"coulomb"}


@pytest.mark.thorough
def test_where_the_reference_ends_the_comparison_does():
    scene = Balls(**SLIDES)
    c = compare_scene(scene, [find_formulation("ccp")], COULOMB, Ending, SETTINGS)
    assert c.scene.until == pytest.approx(0.036)
    assert "no verified step" in c.scene.why
    assert c.runs["verified"].all()
    # It ends itself after what is compared, and its numbers are of that alone.
    row = c.runs.iloc[0]
    assert row["claimed"] == "SOLVED"
    assert (row["steps"], row["reason"]) == (6, "")
    own = c.trajectories[(c.trajectories["role"] == "run") & (c.trajectories["body"] == "ball 1")]
    assert row["iterations"] == own["iterations"].sum()
    assert row["residual"] == own["residual"].max()


def test_a_row_stands_alone_where_exact_friction_has_no_answer_at_its_step():
    def stepper(scene, f, h, solver):
        return (Ending if f.name == "coulomb" and h == H else SceneStepper)(scene, f, h, solver)

    c = compare_scene(Balls(**SLIDES), [find_formulation("ccp")], COULOMB, stepper, SETTINGS)
    row = c.runs.iloc[0]
    assert c.scene.until == DURATION
    assert row["body_position_error"] > 0
    assert "body_position_formulation" not in c.runs or np.isnan(row["body_position_formulation"])
    assert np.isnan(row["one_step_error"])


class Refused(SceneStepper):
    def __init__(self, scene, f, h, solver):
        if f.name == "box":
            raise DataError("boxes are not for balls")
        super().__init__(scene, f, h, solver)


@pytest.mark.thorough
def test_a_formulation_that_is_refused_is_a_row():
    c = compare_scene(Balls(**SLIDES), [find_formulation("box"), COULOMB], COULOMB, Refused, SETTINGS)
    assert c.runs["reason"].tolist() == ["boxes are not for balls", ""]
    assert c.runs["claimed"].tolist() == ["REFUSED", "SOLVED"]


class Shifted:
    """An engine that moves as the reference does, a millimetre aside."""

    label, words = "engine:shifted", "A millimetre aside"

    def run(self, h, duration, progress=None):
        scene = Balls(**SLIDES)
        track = run(scene, SceneStepper(scene, COULOMB, FINE), round(duration / FINE))
        every = round(h / FINE)
        kept = vars(track) | {"h": h, "label": self.label}
        for name in ("q", "v", "position", "orientation", "energy"):
            kept[name] = kept[name][::every]
        for name in ("contacts", "residuals", "iterations"):
            kept[name] = kept[name][::every]
        kept["touched"] = type(track.touched)(*(x[::every] for x in track.touched))
        kept["position"] = kept["position"] + [1e-3, 0, 0]
        return type(track)(**kept)


@pytest.mark.thorough
def test_an_engine_is_a_row_beside_the_formulations():
    c = compared(Balls(**SLIDES), "coulomb", engines=[Shifted()])
    row = c.runs.set_index("label").loc["engine:shifted"]
    assert row["body_position_error"] == pytest.approx(1e-3, abs=1e-12)
    assert row["body_orientation_error"] < 1e-7
    assert c.scene.engines == {"engine:shifted": "A millimetre aside"}


class Forgetful(Shifted):
    """The same, without what touches in the last step."""

    label = "engine:forgetful"

    def run(self, h, duration, progress=None):
        track = super().run(h, duration)
        return dataclasses.replace(track, touched=type(track.touched)(*(x[:-1] for x in track.touched)))


@pytest.mark.thorough
def test_a_run_that_cannot_be_judged_is_a_row_with_its_reason_and_costs_no_other(sliding):
    c = compared(Balls(**SLIDES), "coulomb", "ccp", "mujoco", engines=[Forgetful()])
    row = c.runs.iloc[-1]
    assert (row["label"], row["claimed"], row["verified"]) == ("engine:forgetful", "FAILED", False)
    assert row["reason"].startswith("IndexError")
    others = [x.runs.iloc[:3].drop(columns=[*TIMES], errors="ignore") for x in (c, sliding)]
    pd.testing.assert_frame_equal(*others)
    pd.testing.assert_frame_equal(c.bodies, sliding.bodies)


def test_every_solver_makes_a_row_and_its_error_is_apart_from_the_formulations():
    """What a solver leaves unsolved is a part of its own; the formulation's part is that of the exact answer."""
    exact, crude = find_solver("blocks-exact"), find_solver("admm").adjusted(1e-3, None)
    scene, laws = Balls([[0, 0, 0.1], [0.2, 0, 0.1]], [[1, 0.3, 0], [0, 0, 0]]), ("coulomb", "ccp")
    short, solvers = Settings((H,), FINE, 3 * H), [dataclasses.replace(crude, tolerance=1e-2), exact]
    c = compared(scene, *laws, engines=[Shifted()], solvers=solvers, settings=short)
    rows, bodies = (x.set_index(["label", "solver"]).sort_index() for x in (c.runs, c.bodies))
    assert list(c.runs["solver"]) == ["admm", "blocks-exact"] * 2 + ["blocks-exact"]
    assert len(bodies.loc["ccp", "admm"]) == 2
    for label in laws:
        own, other = rows.loc[label, "admm"], rows.loc[label, "blocks-exact"]
        assert own["body_position_solver"] > 1e-7
        assert np.isnan(other["body_position_solver"])
        assert own["body_position_error"] != other["body_position_error"]
        for name in ("body_position_formulation", "body_position_discretisation", "one_step_error"):
            assert own[name] == other[name]
    alone = compared(scene, *laws, settings=short)
    columns = ["body_position_error", "one_step_error"]
    of_exact = c.runs[c.runs["solver"].eq("blocks-exact")].iloc[:2]
    np.testing.assert_array_equal(of_exact[columns].to_numpy(), alone.runs[columns].to_numpy())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings((7 * FINE,), FINE, DURATION), "an even number of times"),
        (Settings((4 * FINE,), FINE, DURATION), "6 at least"),
        (Settings((H,), FINE, H / 2), "at least one step"),
        (Settings((H, H), FINE, DURATION), "given twice"),
        (Settings((np.nan,), FINE, DURATION), "positive number of seconds"),
    ],
)
def test_unusable_settings_are_one_line(settings, words):
    with pytest.raises(DataError, match=words):
        compared(Balls(**SLIDES), "coulomb", settings=settings)


def test_a_start_that_explodes_is_one_line():
    scene = Balls(SLIDES["positions"], [[1e8, 0, 0], [0, 0, 0]])
    with pytest.raises(WorkbenchError, match="there is no reference run: at 0 s: the motion explodes"):
        compared(scene, "coulomb")


def test_angles_are_those_of_the_rotation_between():
    half = np.array([0.1, 1.4])
    turned = np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], axis=-1)
    none = np.array([1.0, 0, 0, 0])
    np.testing.assert_allclose(angles(turned, none), 2 * half)
    np.testing.assert_allclose(angles(-turned, none), 2 * half)


@pytest.mark.thorough
def test_several_processes_make_the_same_runs(sliding, monkeypatch):
    """To the last bit."""
    monkeypatch.setattr(runs, "FEW", 0)
    said: list[tuple[str, int]] = []
    shared = compared(
        Balls(**SLIDES), "coulomb", "ccp", "mujoco", workers=2, progress=lambda label, k, _: said.append((label, k))
    )
    # A line a run and not a step: they were made elsewhere.
    finished = [k for label, k in said if not label.startswith("judging")]
    assert (len(finished), finished[-1]) == (6, 48 + 2 * 24 + 3 * 8)
    pd.testing.assert_frame_equal(
        shared.runs.drop(columns=[*TIMES], errors="ignore"), sliding.runs.drop(columns=[*TIMES], errors="ignore")
    )
    pd.testing.assert_frame_equal(shared.trajectories, sliding.trajectories)
