"""Folders of recordings in every format, by their description, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from tests.tosses import RATE, tosses, write_tosses
from workbench.exams.recorded.folder import read_folder
from workbench.mechanics.case import planar_orientation
from workbench.mechanics.solids import rotated
from workbench.support.errors import DataError, WorkbenchError

BODY = """
[body]
mass = 0.37
inertia = [8.1e-4, 8.1e-4, 8.1e-4]
box = [0.1048, 0.1048, 0.1048]
"""
COLUMNS = """
[columns]
time = "t"
position = ["x", "y", "z"]
orientation = ["qw", "qx", "qy", "qz"]
velocity = ["vx", "vy", "vz"]
angular_velocity = ["wx", "wy", "wz"]
"""
NAMES = ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"]


@pytest.fixture(scope="module")
def one():
    return tosses(1, 30, mu=0.2, e=0.0)[0]


def described(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "recordings.toml").write_text(text, "utf-8")
    return folder


def write(ending, frame, path):
    columns = {name: frame[name].to_numpy() for name in frame}
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    elif ending == "npz":
        np.savez(path, **columns)
    else:
        savemat(path, columns)


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "mat"])
def test_every_format_gives_the_same_states(tmp_path, one, ending):
    folder = described(tmp_path / "data", BODY + COLUMNS)
    frame = pd.DataFrame(one.states, columns=NAMES).assign(t=one.t)
    for k in (10, 9):
        write(ending, frame, folder / f"drop{k}.{ending}")
    found = read_folder(folder)
    assert [r.name for r in found.recordings] == [f"drop9.{ending}", f"drop10.{ending}"]
    assert found.interval == pytest.approx(1 / RATE)
    for r in found.recordings:
        assert np.allclose(r.states, one.states, rtol=0, atol=1e-12)


def test_the_tosses_of_contactnets_need_no_description(tmp_path, one):
    found = read_folder(write_tosses(tmp_path / "data", (one,)))
    assert found.recordings[0].states == pytest.approx(one.states, abs=1e-12)
    assert (found.interval, found.description.body.mass) == (1 / 148, 0.37)


def test_velocities_in_axes_of_the_world_and_in_other_units(tmp_path, one):
    text = BODY + COLUMNS + '[units]\nlength = 0.001\nangular_velocity = "world"\n'
    folder = described(tmp_path / "data", text)
    states = one.states.copy()
    states[:, [0, 1, 2, 7, 8, 9]] *= 1000.0
    states[:, 10:13] = rotated(states[:, 3:7], states[:, 10:13])
    pd.DataFrame(states, columns=NAMES).assign(t=one.t).to_csv(folder / "a.csv", index=False)
    assert np.allclose(read_folder(folder).recordings[0].states, one.states, rtol=0, atol=1e-12)


def test_a_motion_in_a_plane_stays_there_without_velocities(tmp_path):
    text = BODY.replace("box = [0.1048, 0.1048, 0.1048]", "vertices = [[-0.1, 0, -0.05], [0.1, 0, -0.05]]")
    text += '[columns]\nposition = ["x", "z"]\nangle = "a"\n[units]\nrate = 100\n'
    folder = described(tmp_path / "data", text)
    t = np.arange(40) / 100.0
    frame = pd.DataFrame({"x": 0.3 * t, "z": 1.0 + t - 4.905 * t**2, "a": 2.0 * t})
    frame.to_csv(folder / "a.csv", index=False)
    s = read_folder(folder).recordings[0].states
    assert s[:, 7:10] == pytest.approx(np.stack([0.3 + 0 * t, 0 * t, 1 - 9.81 * t], axis=1), abs=1e-9)
    assert s[:, 3:7] == pytest.approx(planar_orientation(2.0 * t)[:, 0])
    assert s[:, 10:13] == pytest.approx(np.tile([0.0, -2.0, 0.0], (40, 1)), abs=1e-3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no shape"),
        (BODY, "position"),
        (BODY + COLUMNS + "[units]\nrate = 5\n", "needed once"),
        (BODY.replace("0.37", "-1") + COLUMNS, "mass = -1"),
        (BODY.replace("0.37", "nan") + COLUMNS, "mass = nan"),
        (BODY.replace("mass = 0.37", "") + COLUMNS, "mass is missing"),
        (BODY.replace("8.1e-4]", "8.1e-2]") + COLUMNS, "larger than the other two together"),
        (BODY.replace("box", "vertices") + COLUMNS, None),
        (BODY.replace("box = [0.1048, 0.1048, 0.1048]", 'vertices = "all"') + COLUMNS, "triples"),
        (BODY + "radius = 1\n" + COLUMNS, "radius"),
        (BODY + COLUMNS.replace('"x"', "true"), "list of names"),
        (BODY + COLUMNS + 'files = "*.csv"\n', "files"),
        ('files = "../*"\n' + BODY + COLUMNS, "pattern"),
        (BODY + COLUMNS + '[units]\nangular_velocity = "mine"\n', "body or world"),
        (BODY + COLUMNS + "[units\n", "not TOML"),
        ("body = 3\n" + COLUMNS, "not a table"),
    ],
)
def test_descriptions_that_do_not_fit_are_refused_in_one_line(tmp_path, one, text, words):
    folder = described(tmp_path / "data", text)
    pd.DataFrame(one.states, columns=NAMES).assign(t=one.t).to_csv(folder / "a.csv", index=False)
    if words is None:
        assert read_folder(folder).description.body.points.shape == (1, 3)
        return
    with pytest.raises(WorkbenchError, match=words) as caught:
        read_folder(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.assign(x=np.nan), "not finite"),
        (lambda f: f.assign(z=1e9), "beyond"),
        (lambda f: f.assign(qw=5.0), "length"),
        (lambda f: f.assign(t=f["t"] ** 2), "evenly"),
        (lambda f: f.assign(t=0.0), "evenly"),
        (lambda f: f.assign(x=np.inf), "not finite"),
        (lambda f: f.assign(t=f["t"].to_numpy()[::-1]), "time runs back after sample 0"),
        (lambda f: f.rename(columns={"t": "t;x"}), "no column 't'; its first line, cut at commas, has x, y"),
        (lambda f: f.head(0), "is empty"),
        (lambda f: f.head(3), "at least 5"),
        (lambda f: f.drop(columns="vy"), "no column 'vy'"),
        (lambda f: f.assign(vx="fast"), "not a CSV file of numbers"),
    ],
)
def test_a_recording_that_cannot_be_used_is_left_out_and_named(tmp_path, one, change, words):
    folder = described(tmp_path / "data", BODY + COLUMNS)
    frame = pd.DataFrame(one.states, columns=NAMES).assign(t=one.t)
    change(frame).to_csv(folder / "bad.csv", index=False)
    with pytest.raises(DataError, match=words):
        read_folder(folder)
    frame.to_csv(folder / "good.csv", index=False)
    found = read_folder(folder)
    assert [r.name for r in found.recordings] == ["good.csv"]
    assert words.split()[0] in found.left_out["bad.csv"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "mat", "pt", "xlsx"])
def test_files_of_any_bytes_are_left_out_in_one_line(tmp_path, ending):
    folder = described(tmp_path / "data", 'files = "a*"\n' + BODY + COLUMNS)
    random = np.random.default_rng(2)
    for k in range(15):
        (folder / f"a{k}.{ending}").write_bytes(random.bytes(200 * k))
    with pytest.raises(DataError, match="none of the 15 files") as caught:
        read_folder(folder)
    assert "\n" not in str(caught.value)


def test_a_folder_without_description_or_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"recordings\.toml"):
        read_folder(tmp_path)
    with pytest.raises(DataError, match="not a folder"):
        read_folder(tmp_path / "missing")
    with pytest.raises(DataError, match="has 0 files"):
        read_folder(described(tmp_path / "data", BODY + COLUMNS))
