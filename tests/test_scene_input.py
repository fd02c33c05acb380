"""Models and their companions as people really hand them over: each is taken, or refused in one line that helps."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

import workbench as wb
from workbench.builtin.reports.text.terminal import print_comparison
from workbench.cli.main import main
from workbench.scenes.mujoco.engine import MujocoEngine
from workbench.scenes.mujoco.scene import MujocoScene
from workbench.support.errors import WorkbenchError

BOX = """<mujoco><option timestep="0.01"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="crate" pos="0 0 0.5"><freejoint/><geom name="sides" type="box" size="0.5 0.5 0.5"/></body>
</worldbody></mujoco>"""
ARM = """<mujoco><worldbody><body name="arm"><joint name="elbow"/><geom size="0.1"/></body></worldbody>
<actuator><motor name="pull" joint="elbow"/><motor name="push" joint="elbow"/></actuator>
<keyframe><key name="home" qpos="1"/></keyframe></mujoco>"""
ROBOT = """<robot name="r"><link name="a"/><link name="b">{0}</link><joint name="j" type="revolute"><parent link="a"/>
<child link="b"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MESH = '<collision><geometry><mesh filename="package://foo/meshes/b.stl"/></geometry></collision>'


def crate(old, new):
    assert old in BOX
    return BOX.replace(old, new)


def refused(act):
    """What a refusal says: one line, not too long to read."""
    with pytest.raises(WorkbenchError) as caught:
        act()
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 400
    return said


MODELS = [
    ("empty.xml", "", "empty file"),
    ("prose.xml", "Dear reader", "not XML"),
    ("noise.xml", "\x01<\x02>", "not XML"),
    ("cut.xml", BOX[:90], "not XML, or cut off"),
    ("part.xml", "<mujocoinclude/>", "the file that includes it"),
    ("page.xml", "<html></html>", "a model begins with <mujoco> or <robot>"),
    ("noise.mjb", "\x01\x02", "failed to load"),
    ("nan.xml", crate("0 0 0.5", "0 0 nan"), "not finite"),
    ("still.xml", "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>", "no body can move"),
    ("bare.xml", "<mujoco/>", "no body can move"),
    ("light.xml", crate('type="box"', 'type="box" mass="0"'), "give the body an <inertial>"),
    ("empty_body.xml", "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>", "<inertial>"),
    ("negative.xml", crate('type="box"', 'type="box" mass="-1"'), "negative"),
    ("self.xml", '<mujoco><include file="self.xml"/></mujoco>', "already included"),
    ("mesh.xml", BOX.replace("<worldbody>", '<asset><mesh file="no.stl"/></asset><worldbody>'), "no.stl"),
    ("friction.xml", crate('type="box"', 'type="box" friction="nan"'), "friction"),
    ("rough.xml", crate('type="box"', 'type="box" friction="-1"'), "friction is not negative"),
    ("instant.xml", crate("0.01", "0"), "the timestep is 0; a positive one is needed"),
    ("backwards.xml", crate("0.01", "-1"), "the timestep is -1"),
    ("package.urdf", ROBOT.format(MESH), "does not resolve ROS packages"),
    ("robot.xacro", "<robot/>", "must be expanded first"),
    ("hollow.urdf", ROBOT.format(""), "give the body an <inertial>"),
]


@pytest.mark.parametrize(("name", "text", "said"), MODELS, ids=[name for name, _, _ in MODELS])
def test_a_model_that_cannot_be_run_is_refused_in_one_line(name, text, said, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.write_text(text)
    heard = refused(lambda: MujocoScene(path))
    assert said in heard
    assert name in heard
    assert "fused" not in heard
    # MuJoCo itself writes warnings to the standard error and a file.
    assert capfd.readouterr().err == ""
    assert [x.name for x in tmp_path.iterdir()] == [name]


BOTH = ROBOT.format("").replace('<link name="a"/>', f'<link name="a">{MESH}</link>')
BAD = [
    ("zero.xml", crate('type="box"', 'type="box" mass="0"'), [], "give the body an <inertial>"),
    ("mesh.xml", BOX.replace("<worldbody>", '<asset><mesh file="no.stl"/></asset><worldbody>'), [], "no.stl"),
    ("cut.xml", BOX[:90], [], "not XML, or cut off"),
    ("both.urdf", BOTH, [], "does not resolve ROS packages"),
    ("hollow.urdf", ROBOT.format(""), [], "give the body an <inertial>"),
    ("arm.xml", ARM, ["--ctrl", "nan.csv"], "'pull' of row 2 is not finite"),
]


@pytest.mark.parametrize("command", [["compare"], ["export", "step.npz"], ["slides"]], ids=lambda x: x[0])
@pytest.mark.parametrize(("name", "text", "more", "said"), BAD, ids=[name for name, *_ in BAD])
def test_bad_models_and_controls_are_one_line_on_the_command_line(
    command, name, text, more, said, tmp_path, monkeypatch, capfd
):
    """No command begins to compute, and none leaves anything behind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    (tmp_path / "nan.csv").write_text("time,pull,push\n0,1,1\n1,nan,1\n")
    assert main([command[0], name, *command[1:], *more]) == 2
    answer = capfd.readouterr().err
    assert said in answer
    assert (more[-1] if more else name) in answer
    assert answer.count("\n") == 1
    assert sorted(x.name for x in tmp_path.iterdir()) == sorted([name, "nan.csv"])


def test_an_overlap_at_the_start_is_shown_before_anything_runs(tmp_path, capsys):
    (tmp_path / "deep.xml").write_text(crate("0 0 0.5", "0 0 0.1"))
    assert main(["show", str(tmp_path / "deep.xml")]) == 0
    assert "violated at the start, up to 0.4 at 'crate'" in " ".join(capsys.readouterr().out.split())


def test_a_file_that_is_not_there_and_a_folder_are_told_apart_from_models(tmp_path):
    assert "is not a file" in refused(lambda: MujocoScene(tmp_path / "none.xml"))
    assert "is not a file" in refused(lambda: MujocoScene(tmp_path))


@pytest.mark.parametrize("name", ["häßlich/中 🤖", "a b", "a=b.c, d", "<&>"])
def test_names_may_be_of_any_letters(name, tmp_path):
    from xml.sax.saxutils import escape

    folder = tmp_path / "ein Ordner 中"
    folder.mkdir()
    (folder / "ö b.xml").write_text(BOX.replace("crate", escape(name)))
    scene = MujocoScene(folder / "ö b.xml")
    assert scene.bodies == [name]
    assert scene.instant(*scene.start(), 0.0, scene.step).contacts == 4


def test_a_model_without_contacts_or_limits_has_an_instant_with_none(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    scene = MujocoScene(tmp_path / "arm.xml")
    at = scene.instant(*scene.start(), 0.0, scene.step)
    assert (at.contacts, at.J.shape, at.J_b.shape, at.J_f.shape) == (0, (0, 1), (0, 1), (0, 1))


def test_an_overlap_at_the_start_is_reported_by_body_and_size(tmp_path):
    (tmp_path / "deep.xml").write_text(crate("0 0 0.5", "0 0 0.1"))
    (said,) = MujocoScene(tmp_path / "deep.xml").left_out
    assert "0.4" in said
    assert "crate" in said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"duration": 0.0}, "duration"),
        ({"duration": -1.0}, "duration"),
        ({"duration": float("nan")}, "duration"),
        ({"duration": 1e-4}, "at least one step of 0.01 s"),
        ({"duration": 1e9}, " GB, more than "),
        ({"steps": [0.0]}, "step"),
        ({"steps": [1e-12]}, " GB, more than "),
        ({"steps": [0.01], "reference_step": 1.0}, "reference step"),
        ({"formulations": ["engine:mujocoo"]}, "did you mean 'engine:mujoco'"),
    ],
    ids=str,
)
def test_a_comparison_that_cannot_be_made_of_a_model_is_refused_before_it_runs(asked, said, tmp_path):
    (tmp_path / "box.xml").write_text(BOX)
    assert said in refused(lambda: wb.compare(tmp_path / "box.xml", **{"formulations": ["box"], **asked}))


CONTROLS = [
    ("nan.csv", "time,pull,push\n0,nan,1\n", "'pull' of row 1 is not finite"),
    ("inf.csv", "time,pull,push\n0,1,1\n1,0,-inf\n", "'push' of row 2 is not finite"),
    ("short.csv", "time,pull\n0,1\n", "no column 'push'"),
    ("strange.csv", "time,pull,push,twist\n0,1,1,1\n", "a column 'twist'"),
    ("words.csv", "time,pull,push\n0,a,b\n", "row 1 is '0,a,b'"),
    ("timeless.csv", "pull,push\n1,2\n", "no column 'time'"),
    ("twice.csv", "time,pull,push,push\n0,1,2,3\n", "two columns 'push'"),
    ("still.csv", "time,pull,push\n0,1,2\n0,3,4\n", "row 2 is not after"),
    ("lacking.csv", "time,pull,push\n0,1\n", "row 1"),
    ("empty.csv", "", "no row"),
    ("header.csv", "time,pull,push\n", "no row"),
    ("back.csv", "time,pull,push\n1,1,1\n0,1,1\n", "times must rise"),
    ("ragged.csv", "1,2\n3\n", "row 2 is '3'"),
    ("wide.csv", "1,2,3,4,5\n", "5 columns"),
    ("broken.npy", "x", "not an .npy file of numbers"),
]


@pytest.mark.parametrize(("name", "text", "said"), CONTROLS, ids=[name for name, _, _ in CONTROLS])
def test_a_file_of_controls_that_cannot_be_followed_is_refused_by_row_and_name(name, text, said, tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / name).write_text(text)
    heard = refused(lambda: MujocoScene(tmp_path / "arm.xml", ctrl=str(tmp_path / name)))
    assert said in heard
    assert name in heard


def test_controls_that_are_no_rows_of_numbers_are_refused(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "box.xml").write_text(BOX)
    np.save(tmp_path / "deep.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "things.npy", np.array([{1: 2}], dtype=object))

    def given(ctrl, model="arm.xml"):
        return refused(lambda: MujocoScene(tmp_path / model, ctrl=ctrl))

    assert "(2, 2, 2)" in given(str(tmp_path / "deep.npy"))
    assert "not an .npy file of numbers" in given(str(tmp_path / "things.npy"))
    assert "is not a file" in given("none.csv")
    assert "not finite" in given("nan")
    assert "no actuators" in given("1", "box.xml")


SETS = [
    ({"geom/sides.friction": "nan"}, "finite numbers are needed"),
    ({"geom/sides.friction": ""}, "finite numbers are needed"),
    ({"geom/sides.friction": "1 2 3 4"}, "up to 3"),
    ({"geom/side.friction": "1"}, "did you mean 'sides'"),
    ({"geom/sides.grip": "1"}, "unknown attribute"),
    ({"geom/sides.frction": "1"}, "did you mean 'friction'"),
    ({"geom/sides.friction": "a"}, "numbers are needed"),
    ({"body/crate.mass": "5"}, "changes nothing"),
    ({"option.cone": "round"}, "pyramidal, elliptic"),
    ({"gem/sides.friction": "1"}, "did you mean 'geom'"),
    ({"friction": "1"}, "is not of the form kind/name.attribute"),
    ({"geom/sides.mass": "0"}, "mass"),
    ({"option.timestep": "0"}, "the timestep is 0"),
]


@pytest.mark.parametrize(("sets", "said"), SETS, ids=[str(*x.items()) for x, _ in SETS])
def test_a_value_that_cannot_be_set_is_refused(sets, said, tmp_path):
    (tmp_path / "box.xml").write_text(BOX)
    assert said in refused(lambda: MujocoScene(tmp_path / "box.xml", sets=sets))


@pytest.mark.parametrize("key", ["house", "", "0"])
def test_a_keyframe_that_does_not_exist_is_refused_with_those_that_do(key, tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "box.xml").write_text(BOX)
    assert "it has home" in refused(lambda: MujocoScene(tmp_path / "arm.xml", key=key))
    assert "it has none" in refused(lambda: MujocoScene(tmp_path / "box.xml", key=key))


def test_a_motion_that_touches_nothing_is_reported_too(tmp_path, capsys):
    (tmp_path / "fall.xml").write_text(crate("0 0 0.5", "0 0 5"))
    found = wb.compare(tmp_path / "fall.xml", ["box", "engine:mujoco"], duration=0.02)
    assert "No contact in 0.02 s: contact formulations cannot differ" in str(found)
    assert "Use " not in str(found)
    assert 'id="figure-ranking"' not in found.html(), "all rows are the same"
    print_comparison(found.comparison)
    assert "main defect" not in capsys.readouterr().out


@pytest.mark.parametrize(("tilt", "soft"), [("1e-4", 4), ("1e-14", 0)])
def test_a_contact_that_nothing_can_part_is_left_to_soft_contact_and_named(tmp_path, tilt, soft):
    """A puck on a table; where what parts it is rounding, soft contact has no force either. None acts on the puck."""
    slides = f'<joint type="slide" axis="1 0 {tilt}"/><joint type="slide" axis="0 1 0"/>'
    (tmp_path / "puck.xml").write_text(crate("<freejoint/>", slides).replace("0 0 0.5", "0 0 0.48"))
    scene = MujocoScene(tmp_path / "puck.xml")
    (line,) = scene.left_out
    assert "where nothing can part the bodies: rigid contact has no force there" in line
    assert line.startswith("4 contacts, such as ")
    state = (*scene.start(), 0.0, 1e-3)
    assert scene.instant(*state).contacts == 0
    own = scene.under("mujoco").instant(*state)
    assert own.contacts == soft
    assert (own.places.pair == -1).all()
    engine = MujocoEngine(scene).run(1e-3, 2e-3)
    assert np.isnan(engine.touched.gap).all()
