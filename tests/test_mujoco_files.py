"""Files of models, controls and exported problems: what is wrong is said in one line, what is left out by name."""

import json
import sys

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from workbench.cli.main import main  # noqa: E402
from workbench.readers.files import read_problem_file  # noqa: E402
from workbench.scenes.export import exported  # noqa: E402
from workbench.scenes.mujoco import package  # noqa: E402
from workbench.scenes.mujoco.engine import MujocoEngine  # noqa: E402
from workbench.scenes.mujoco.scene import MujocoScene  # noqa: E402
from workbench.support.errors import DataError  # noqa: E402
from workbench.verbs.export import export  # noqa: E402

SOUND = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="box" pos="0 0 .0999"><freejoint name="root"/>
 <geom name="g" type="box" size=".1 .1 .1" friction="1.5"/></body>
<body name="arm" pos="1 0 1"><joint name="elbow" axis="0 1 0" range="-10 10"/><geom name="q" size=".1"/></body>
</worldbody><actuator><motor name="pull" joint="elbow"/><motor name="push" joint="elbow"/></actuator>
<keyframe><key name="home" qpos="0 0 .5 1 0 0 0 .1" ctrl="3 4"/></keyframe></mujoco>"""
BODY = "<mujoco><worldbody><body>{}</body></worldbody></mujoco>"
LINK = """<link name="a"/><link name="b">{}</link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>"""


@pytest.fixture
def path(tmp_path):
    def of(text, name="scene.xml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return of


def test_values_are_set_by_the_names_of_the_file(path):
    sets = {
        "geom/g.friction": "0.4", "body/arm.friction": "0.7 0.01", "joint/elbow.solreflimit": "0.05",
        "option.cone": "elliptic", "joint/elbow.range": "-20 20",
    }  # fmt: skip
    m = MujocoScene(path(SOUND), sets=sets).model
    np.testing.assert_allclose(m.geom("g").friction, [0.4, 0.005, 0.0001])
    np.testing.assert_allclose(m.geom("q").friction, [0.7, 0.01, 0.0001])
    np.testing.assert_allclose(m.joint("elbow").solref, [0.05, 1.0])
    np.testing.assert_allclose(m.joint("elbow").range, np.radians([-20, 20]))
    assert m.opt.cone == 1
    # A value that it has already is no mistake.
    assert MujocoScene(path(SOUND), sets={"geom/g.friction": "1.5"}).model.geom("g").friction[0] == 1.5


def test_a_keyframe_is_the_start_and_says_what_the_actuators_are_commanded(path):
    s = MujocoScene(path(SOUND), key="home")
    assert s.start()[0].tolist() == [0, 0, 0.5, 1, 0, 0, 0, 0.1]
    assert s.controls.at(7.0).tolist() == [3.0, 4.0]


def test_controls_are_held_from_their_time_to_the_next(path, tmp_path):
    named = path("time,push,pull\n0.1,1,2\n0.2,3,4\n", "named.csv")
    s = MujocoScene(path(SOUND), ctrl=str(named))
    times = (0.0, 0.1, 0.1999, 2 * 0.1, 0.3 - 0.1, 5.0)
    assert [s.controls.at(t).tolist() for t in times] == [[2, 1], [2, 1], [2, 1], [4, 3], [4, 3], [4, 3]]
    plain = path("1,2\n3,4\n5,6\n", "plain.csv")
    s = MujocoScene(path(SOUND), ctrl=str(plain))
    assert [s.controls.at(k * s.step).tolist() for k in range(4)] == [[1, 2], [3, 4], [5, 6], [5, 6]]
    np.save(tmp_path / "timed.npy", [[0.0, 1, 2], [1.0, 3, 4]])
    assert MujocoScene(path(SOUND), ctrl=str(tmp_path / "timed.npy")).controls.at(1.0).tolist() == [3, 4]
    s = MujocoScene(path(SOUND), ctrl=0.5)
    assert s.controls.at(0.0).tolist() == [0.5, 0.5]
    before = MujocoScene(path(SOUND), ctrl=0.0).instant(*s.start(), 0.0, s.step).f
    assert (s.instant(*s.start(), 0.0, s.step).f - before)[-1] == pytest.approx(1.0)


def test_what_is_not_taken_over_is_named(path):
    model = """<mujoco><option integrator="RK4"/><worldbody><geom type="plane" size="1 1 1"/>
    <body name="low" pos="0 0 -.018"><freejoint/><geom name="tape" size=".1" adhesion="2"/></body>
    <body pos="3 0 1"><joint name="bent" axis="0 1 0" range="0 10" ref="0"/><geom size=".1" pos="0 0 1"/></body>
    </worldbody><actuator><adhesion name="suck" body="low" ctrlrange="0 1"/>
    <general name="own" joint="bent" gaintype="user"/></actuator>
    <keyframe><key name="over" qpos="0 0 1 1 0 0 0 .5"/></keyframe></mujoco>"""
    said = "\n".join(MujocoScene(path(model)).left_out)
    for words in ("RK4", "adhesion of geoms: tape", "adhesion by actuators: suck", "callback: own", "'low'", "0.118"):
        assert words in said
    assert "59 a second" in said
    assert "joint 'bent'" in "\n".join(MujocoScene(path(model), key="over").left_out)
    assert MujocoScene(path(SOUND)).left_out == []


def test_the_root_of_a_urdf_is_said_to_be_fixed(path):
    solid = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    s = MujocoScene(path(f'<robot name="r">{LINK.format(solid)}</robot>', "robot.urdf"))
    assert s.start()[1].shape == (1,)
    assert s.facts()["note"] == ["the root link of a URDF is fixed to the world"]


def test_an_engine_that_breaks_ends_its_run_with_a_reason(path, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    broken = BODY.format('<joint type="slide" stiffness="-1e12"/><geom size=".1" pos="0 0 1"/>')
    track = MujocoEngine(MujocoScene(path(broken))).run(0.1, 10.0)
    assert not track.finished
    assert "unstable" in track.reason
    assert capfd.readouterr().err == ""
    assert [x.name for x in tmp_path.iterdir()] == ["scene.xml"]


def test_without_the_package_it_is_said_how_to_get_it(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    package.mujoco.cache_clear()
    try:
        with pytest.raises(DataError, match="pip install mujoco"):
            MujocoScene(path(SOUND))
    finally:
        package.mujoco.cache_clear()


@pytest.mark.parametrize("ending", [".hdf5", ".dat", ".npz"])
@pytest.mark.parametrize("local", [False, True])
def test_an_exported_problem_is_read_back_to_the_last_bit(path, tmp_path, ending, local):
    found = export(path(SOUND), at=0.01, local=local)
    out = found.problem_file(tmp_path / f"step{ending}")
    again = read_problem_file(out)
    for name in ("W", "q", "mu") if local else ("M", "H", "f", "w", "mu"):
        a, b = (getattr(x, name) for x in (found.problem, again))
        assert (a != b).sum() == 0, name
    named = json.loads((tmp_path / "step.names.json").read_text())
    assert [x["name"] for x in named["contacts"]] == [f"floor / g {k}" for k in range(4)]
    assert named["velocities"] == [*(f"root.{k}" for k in range(6)), "elbow"]


def test_an_exported_problem_states_the_step(path):
    """Its law holds for the impulses that carry the box, and its velocity is that of the instant's rows."""
    s = MujocoScene(path(SOUND))
    q, v = s.start()
    given = s.instant(q, v, 0.0, s.step)
    problem = exported(given, recovery=0.02).problem
    P = np.zeros(given.mu.size)
    P[given.first[:-1]] = 8.0 * 9.81 * s.step / 4
    # The workbench's order has all normals first.
    order = np.concatenate([given.first[:-1], np.delete(np.arange(P.size), given.first[:-1])])
    after = v + np.linalg.solve(given.M.toarray(), given.h * given.f + given.J.T @ P)
    expected = (given.J @ after + given.rate)[order]
    expected[:4] += np.maximum(given.phi / given.h, -0.02)
    np.testing.assert_allclose(problem.velocity(P[order]), expected, atol=1e-12)


def test_what_a_problem_file_has_no_place_for_is_said(path):
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
    <body pos="0 0 .0995"><freejoint/><geom type="box" size=".1 .1 .1" friction="1.5" condim="6"/></body>
    <body pos="1 0 .0995"><joint type="ball" pos=".05 0 0" frictionloss="1"/>
    <geom name="q" size=".1"/></body></worldbody>
    <contact><pair geom1="floor" geom2="q" friction="1 .5 .01 .01 .01"/></contact></mujoco>"""
    s = MujocoScene(path(text))
    given = s.instant(*s.start(), 0.0, s.step)
    problem, changes = exported(given)
    assert changes == [
        "contacts whose torsional and rolling friction is left out: 4",
        "contacts whose second direction is scaled, since it has a friction coefficient of its own: 1",
        "joints' and tendons' dry friction that is left out: 3",
    ]
    assert sorted(problem.mu) == [1.0, 1.5, 1.5, 1.5, 1.5]
    i = int(np.argmin(problem.mu))
    scaled = problem.H.toarray()[:, 5 + 2 * i + 1]
    np.testing.assert_allclose(scaled, 0.5 * given.J.toarray()[given.first[i] + 2], atol=1e-15)
    above = MujocoScene(path(SOUND), key="home")
    with pytest.raises(DataError, match="there is no contact"):
        exported(above.instant(*above.start(), 0.0, 1e-4))


def test_the_command_line_exports_a_model(path, tmp_path, capsys):
    out = tmp_path / "step.npz"
    assert main(["export", str(path(SOUND)), str(out), "--at", "0.004", "--set", "geom/g.friction=0.4"]) == 0
    assert "4 contacts with 2 tangential directions each, 7 velocities." in capsys.readouterr().out
    assert read_problem_file(out).mu.tolist() == [1.0] * 4
    assert main(["export", str(path(SOUND)), str(out), "--step-number", "3"]) == 2
    assert main(["export", "cube", str(out), "--key", "home"]) == 2
    assert "--key is for MuJoCo models" in capsys.readouterr().err
