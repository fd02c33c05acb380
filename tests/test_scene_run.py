"""Derivatives of runs of scenes against differences of whole runs, in MuJoCo models with contacts of several kinds."""

from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.derivatives.differences import differences
from workbench.derivatives.scene_run import scene_derivatives, scene_end, scene_output, scene_parameter
from workbench.scenes.run import run
from workbench.scenes.stepper import SceneStepper
from workbench.support.errors import DataError, UnknownNameError
from workbench.verbs.find import find_formulation

mujoco = pytest.importorskip("mujoco")

BOX = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1" friction="0.3"/>
<body name="box" pos="0 0 .0995"><freejoint/><geom type="box" size=".1 .1 .1" friction="0.3" mass="1.5"/></body>
</worldbody><keyframe><key name="thrown" qpos="0 0 .1 1 0 0 0" qvel="1 .2 0 0 0 .5"/></keyframe></mujoco>"""


def scene_of(tmp_path, text=BOX):
    from workbench.scenes.mujoco.scene import MujocoScene

    (tmp_path / "model.xml").write_text(text)
    return MujocoScene(tmp_path / "model.xml", key="thrown")


def quotient(scene, formulation, outputs, name, h, steps, shift):
    p = scene_parameter(scene, name)

    def of(s):
        q, v = scene_end(scene, formulation, h, steps, p, s)
        return [np.array([scene_output(scene, x)(p.moved(s), q, v) for x in outputs])]

    (fourth,), (second,) = differences(of, shift)
    return fourth, np.abs(fourth - second)


@pytest.mark.thorough
def test_a_thrown_box_moves_with_friction_mass_velocity_and_forces(tmp_path):
    """Four contacts that turn while they slide, come and go, under associated flow; the mass moves the energy alone."""
    scene, outputs, names = scene_of(tmp_path), ["q[0]", "v[0]", "v[5]", "energy"], ["mu", "mass[box]", "v[0]", "f[1]"]
    ccp, steps = find_formulation("ccp"), 20
    values, by = scene_derivatives(scene, ccp, outputs, names, scene.step, steps)
    assert np.isfinite(values).all()
    for name in names:
        found = by[name]
        assert (found.reason, found.kinks, found.jumps) == ("", (), ())
        expected, known = quotient(scene, ccp, outputs, name, scene.step, steps, 1e-5)
        np.testing.assert_allclose(found.derivative, expected, rtol=1e-7, atol=3 * known.max() + 1e-9, err_msg=name)
    assert by["mu"].events > 0 or by["mu"].switches > 0
    assert np.abs(by["mass[box]"].derivative[:3]).max() < 1e-9 < by["mass[box]"].derivative[3]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "label", "body", "steps"),
    [
        ("hopper", "coulomb", "hull", 60),
        ("hopper", "stewart-trinkle", "hull", 60),
        ("hopper", "sap", "hull", 60),
        ("quadruped", "ccp", "back", 40),
        ("quadruped", "hybrid", "back", 40),
        ("gripper", "coulomb", "finger_left", 8),
    ],
)
def test_robots_move_with_their_parameters(model, label, body, steps):
    from workbench.scenes.mujoco.scene import MujocoScene

    scene = MujocoScene(Path(__file__).parents[1] / "benchmarks" / "scenes" / f"{model}.xml")
    outputs, names = ["q[0]", "v[0]", "v[2]"], [f"mass[{body}]", "v[0]"]
    _, by = scene_derivatives(scene, find_formulation(label), outputs, names, scene.step, steps)
    for name in names:
        assert (by[name].reason, by[name].kinks) == ("", ())
        assert by[name].events > 0
        expected, known = quotient(scene, find_formulation(label), outputs, name, scene.step, steps, 1e-5)
        np.testing.assert_allclose(by[name].derivative, expected, rtol=1e-6, atol=3 * known.max() + 1e-9, err_msg=name)


BALL = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1" friction="0.3"/>
<body name="ball" pos="0 0 .0995"><freejoint/><geom type="sphere" size=".1" friction="0.3" mass="1.5"/></body>
</worldbody><keyframe><key name="thrown" qpos="0 0 .0995 1 0 0 0" qvel="1 .2 0 3 0 5"/></keyframe></mujoco>"""


@pytest.mark.parametrize("label", ["box", "hybrid", "stewart-trinkle", "discrete-velocity"])
def test_bounds_by_the_last_impulses_carry_their_tangents(label, tmp_path):
    """A ball that slides and spins, and whose load a force changes: friction follows one step later."""
    scene, names, steps = scene_of(tmp_path, BALL), ["f[2]", "mu", "v[0]", "mass[ball]"], 12
    law, outputs = find_formulation(label), ["v[0]", "v[4]", "q[1]"]
    _, by = scene_derivatives(scene, law, outputs, names, scene.step, steps)
    for name in names:
        assert (by[name].reason, by[name].kinks) == ("", ())
        expected, known = quotient(scene, law, outputs, name, scene.step, steps, 1e-5)
        np.testing.assert_allclose(by[name].derivative, expected, rtol=1e-6, atol=3 * known.max() + 1e-9, err_msg=name)
    assert by["f[2]"].derivative[0] > 1e-3


def test_a_free_body_by_the_closed_form(tmp_path):
    """x = x0 + t v0 + f t (t + h) / 2 m, and the energy is proportional to the mass."""
    scene = scene_of(tmp_path, BOX.replace('qpos="0 0 .1 ', 'qpos="0 0 3 '))
    h, steps, m, g = 0.002, 5, 1.5, 9.81
    t = h * steps
    _, by = scene_derivatives(
        scene, find_formulation("coulomb"), ["q[0]", "v[0]", "energy"], ["v[0]", "f[0]", "mu", "mass[box]"], h, steps
    )
    np.testing.assert_allclose(by["v[0]"].derivative, [t, 1.0, m], rtol=1e-9)
    np.testing.assert_allclose(by["f[0]"].derivative, [t * (t + h) / 2 / m, t / m, t], rtol=1e-8)
    np.testing.assert_allclose(by["mu"].derivative, 0.0, atol=1e-12)
    inertia = 0.1**2 * 2 / 3
    energy = (1.04 + (g * t) ** 2 + inertia * 0.25) / 2 + g * (3.0 - g * t * (t + h) / 2)
    np.testing.assert_allclose(by["mass[box]"].derivative, [0.0, 0.0, energy], rtol=1e-8, atol=1e-9)


def test_the_gradient_of_a_function_of_all_states(tmp_path):
    """By velocities, a force, a mass and friction, of a box that turns while it slides on its corners."""
    scene, names, steps = scene_of(tmp_path), ["v[0]", "v[5]", "f[1]", "mu", "mass[box]"], 12
    weights = np.random.default_rng(2).normal(size=(2, steps + 1, 7))

    def of(q, v):
        return float((weights[0] * q**2).sum() + (weights[1, :, :6] * v).sum()), 2 * weights[0] * q, weights[1, :, :6]

    found = wb.gradient(scene, "ccp", of=of, to=names, duration=steps * scene.step)
    assert (found.kinks, found.jumps, found.in_reverse) == ({}, {}, 0)

    def value(name, s):
        moved = scene_parameter(scene, name).moved(s)
        track = run(moved, SceneStepper(moved, find_formulation("ccp"), scene.step), steps)
        return [np.array(of(track.q, track.v)[0])]

    assert found.value == pytest.approx(float(value("mu", 0.0)[0]), rel=1e-12)
    for name in names:
        (fourth,), (second,) = differences(lambda s, name=name: value(name, s), 1e-5)
        assert found.by[name] == pytest.approx(float(fourth), rel=1e-6, abs=3 * abs(fourth - second) + 1e-7), name


def test_the_gradient_of_an_output_is_its_derivative(tmp_path):
    scene, names = scene_of(tmp_path), ["v[0]", "mass[box]"]
    _, by = scene_derivatives(scene, find_formulation("ccp"), ["energy"], names, scene.step, 5)
    found = wb.gradient(scene, "ccp", of="energy", to=names, duration=5 * scene.step)
    assert found.by == {name: by[name].derivative[0] for name in names}
    with pytest.raises(DataError, match="not determine"):
        wb.gradient(scene, "coulomb", of="v[0]", to="mu", duration=scene.step)
    with pytest.raises(DataError, match="shapes"):
        wb.gradient(scene, "ccp", of=lambda q, v: (0.0, q, v[0]), to="mu", duration=scene.step)


def test_what_a_scene_does_not_have_says_so(tmp_path):
    scene, none = scene_of(tmp_path), find_formulation("ccp")
    for outputs, names in ((["x"], ["mu"]), (["v[6]"], ["mu"]), (["v[0]"], ["v[6]"]), (["v[0]"], ["mass[bax]"])):
        with pytest.raises(UnknownNameError):
            scene_derivatives(scene, none, outputs, names, scene.step, 1)
    with pytest.raises(DataError, match="positive"):
        scene.with_mass("box", -1.0)
    with pytest.raises(DataError, match="iterates"):
        scene_derivatives(scene, find_formulation("box:bounds=iterated"), ["v[0]"], ["mu"], scene.step, 2)
    _, by = scene_derivatives(scene, find_formulation("box"), ["v[0]"], ["mu"], scene.step, 4)
    assert "impulses that the law does not determine" in by["mu"].reason
    _, by = scene_derivatives(scene, find_formulation("coulomb"), ["v[0]"], ["mu"], scene.step, 1)
    assert "not determine" in by["mu"].reason
    assert np.isnan(by["mu"].derivative).all()


def test_the_command_takes_a_model(capsys, tmp_path):
    from workbench.cli.main import main

    scene_of(tmp_path)
    given = ["sensitivity", str(tmp_path / "model.xml"), "--key", "thrown", "--of", "v[0]", "--to", "f[0]", "-f", "ccp"]
    main([*given, "--duration", "0.004", "--quiet", "--out", str(tmp_path / "found")])
    out = capsys.readouterr().out
    assert "dv[0]/df[0]" in out
    assert (tmp_path / "found" / "report.html").exists()
    found = wb.sensitivity(wb.scene(tmp_path / "model.xml"), ["ccp"], of="v[0]", to=["mu", "v[0]"], duration=0.004)
    table = found.table.set_index(["parameter", "formulation"])
    assert table.loc[("v[0]", "ccp"), "derivative"] == pytest.approx(table.loc[("v[0]", "ccp"), "quotient"], abs=1e-7)
