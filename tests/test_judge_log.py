"""`judge` of a log of MuJoCo's states with its model."""

import json

import numpy as np
import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.scenes.mujoco.log import steps
from workbench.support.errors import WorkbenchError

mujoco = pytest.importorskip("mujoco")

SLOPE = """<mujoco><option timestep="0.002" cone="{cone}" gravity="{along} 0 -9.2"/><worldbody>
<geom name="ground" type="plane" size="1 1 .1" friction="0.5 0 0"/>
<body pos="0 0 .1"><freejoint/><geom name="block" type="box" size=".2 .2 .1" mass="2" friction="0.5 0 0"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def logged(tmp_path):
    def make(cone: str = "pyramidal", along: float = 3.0, steps: int = 60, skip: int = 20):
        path = tmp_path / "slope.xml"
        path.write_text(SLOPE.format(cone=cone, along=along))
        model = mujoco.MjModel.from_xml_path(str(path))
        data, states = mujoco.MjData(model), []
        for _ in range(steps):
            states.append((data.time, data.qpos.copy(), data.qvel.copy()))
            mujoco.mj_step(model, data)
        time, qpos, qvel = (np.array(x)[skip:] for x in zip(*states, strict=True))
        return path, {"time": time, "qpos": qpos, "qvel": qvel}

    return make


def judged(tmp_path, path, log):
    np.savez(tmp_path / "log.npz", **log)
    return wb.verdict(path, tmp_path / "log.npz")


def test_creep_is_seen_where_mujoco_reports_that_all_is_well(tmp_path, logged):
    found = judged(tmp_path, *logged())
    assert "converged in every step" in found.words[0]
    assert len(found.rows) == 4
    assert found.rows["symptoms"].str.contains("slips within the cone").all()
    assert not found.rows["symptoms"].str.contains("along the slip").any()
    # The block slides down the slope as fast as its states say.
    log = logged()[1]
    assert found.rows["creep"].max() == pytest.approx(np.linalg.norm(log["qvel"][1:, :2], axis=1).max(), rel=0.05)
    assert found.steps["natural_map"].max() > 1e-5


def test_forces_are_those_that_move_the_body(tmp_path, logged):
    path, log = logged("elliptic", along=8.0, skip=0)
    model = mujoco.MjModel.from_xml_path(str(path))
    change = 2.0 * np.diff(log["qvel"], axis=0)
    found = list(steps(model, log))
    for x, dp in zip(found, change, strict=True):
        # MuJoCo's solver stops where its forces are off by up to 3e-4 N.
        assert x.off < 1e-9
        assert x.p_n.sum() == pytest.approx(dp[2] + 2.0 * 0.002 * 9.2, abs=1e-6)
        assert np.linalg.norm(x.p_t.sum(axis=0)) == pytest.approx(abs(dp[0] - 2.0 * 0.002 * 8.0), abs=1e-6)
    # It slides, so that all friction is used, and what the law says of that holds.
    rows = judged(tmp_path, path, log).rows
    friction, normal = (rows[x].to_numpy() for x in ("friction_force", "normal_force"))
    assert friction == pytest.approx(0.5 * normal, rel=0.05)
    assert rows["depth"].max() == pytest.approx(max(-x.distance.min() for x in found if x.distance.size))


def test_a_log_of_another_scene_is_reported(tmp_path, logged):
    path, log = logged()
    log["qvel"] = log["qvel"] + 0.01 * np.arange(len(log["qvel"]))[:, None]
    assert "MuJoCo does not reproduce this log" in judged(tmp_path, path, log).words[1]


def test_what_flies_shows_nothing(tmp_path, logged):
    path, log = logged()
    log["qpos"][:, 2] += 1.0
    del log["time"]
    assert judged(tmp_path, path, log).words[-1] == "There is no contact."


def test_a_log_may_be_a_table_and_the_command_tells_contacts(tmp_path, capsys, logged):
    path, log = logged(steps=24)
    names = [f"{kind}{i}" for kind in ("qpos", "qvel") for i in range(log[kind].shape[1])]
    rows = np.column_stack([log["time"], log["qpos"], log["qvel"]])
    text = "\n".join([",".join(["time", *names]), *(",".join(map(repr, row.tolist())) for row in rows)])
    (tmp_path / "log.csv").write_text(text)
    assert main(["judge", str(path), str(tmp_path / "log.csv"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [x["contact"] for x in said] == [f"ground / block {i}" for i in range(4)]
    assert main(["judge", str(path), str(tmp_path / "log.csv"), "--out", str(tmp_path / "out")]) == 0
    assert {x.name for x in (tmp_path / "out").iterdir()} >= {"contacts.csv", "steps.csv", "report.html"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"qvel": np.zeros((40, 5))}, r"qvel is of shape \(40, 5\)"), ({"qpos": np.zeros(3)}, "qpos is of shape"),
        ({"time": np.arange(40) * 0.01}, "every step is needed"), ({"qvel": np.full((40, 6), np.nan)}, "finite"),
    ],
)  # fmt: skip
def test_logs_that_do_not_fit_are_refused_in_one_line(tmp_path, logged, change, words):
    path, log = logged()
    with pytest.raises(WorkbenchError, match=words) as said:
        judged(tmp_path, path, log | change)
    assert "\n" not in str(said.value)
    with pytest.raises(WorkbenchError, match="a log of its states is needed"):
        wb.verdict(path)
