"""Engines that sit the exam: those of the Python that WORKBENCH_ENGINES names, or of this one; others are skipped."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.exams.experiments import EXPERIMENTS
from workbench.exams.subject import ENGINES, FOLDER, EngineSubject, FormulationSubject
from workbench.exams.trial import Trial, TrialBody
from workbench.mechanics.solids import turning
from workbench.support.errors import WorkbenchError

H = 5e-3


def test_an_engine_that_dies_or_hangs_is_reported(tmp_path, monkeypatch):
    (tmp_path / "adapters").mkdir()
    (tmp_path / "protocol.py").write_text((FOLDER / "protocol.py").read_text())
    adapter = tmp_path / "adapters" / "mujoco.py"
    monkeypatch.setattr("workbench.exams.subject.FOLDER", tmp_path)
    trial = EXPERIMENTS["lift"].trials["ball"]
    for body, words in (("import os; os._exit(1)", "ended"), ("raise ValueError('not this')", "not this")):
        adapter.write_text(f"VERSION = 'none'\nclass World:\n    def __init__(self, *_, **__):\n        {body}\n")
        subject = EngineSubject("mujoco/elliptic")
        with pytest.raises(WorkbenchError, match=words):
            subject.play(trial, H)
        subject.close()


def test_an_engine_that_hangs_is_ended_when_its_patience_is(tmp_path, monkeypatch):
    (tmp_path / "adapters").mkdir()
    (tmp_path / "protocol.py").write_text((FOLDER / "protocol.py").read_text())
    # It would answer in the end.
    hangs = "import time\nVERSION = 'none'\nclass World:\n    def __init__(self, *_, **__):\n        time.sleep(4)\n"
    (tmp_path / "adapters" / "mujoco.py").write_text(hangs)
    monkeypatch.setattr("workbench.exams.subject.FOLDER", tmp_path)
    subject = EngineSubject("mujoco/elliptic")
    subject.engine = replace(subject.engine, patience=0.05)
    with pytest.raises(WorkbenchError, match=r"0\.05 s"):
        subject.play(EXPERIMENTS["lift"].trials["ball"], H)
    subject.close()


@pytest.mark.parametrize(
    ("name", "how"), [("bullet/5-sweeps", "pip install pybullet"), ("siconos/nsgs", "apt install python3-siconos")]
)
def test_an_engine_is_absent_where_a_module_that_it_needs_is(name, how, monkeypatch):
    monkeypatch.setitem(ENGINES, name, replace(ENGINES[name], needs=("no_such_module",)))
    with pytest.raises(WorkbenchError, match=rf"is absent: No module named 'no_such_module'; .*{how}"):
        EngineSubject(name)


def engine(name: str) -> EngineSubject:
    """An engine in the Python of WORKBENCH_ENGINES, or in this one; Siconos in Debian's."""
    here = os.environ.get("WORKBENCH_ENGINES", sys.executable)
    try:
        return EngineSubject(name, "/usr/bin/python3" if name.startswith("siconos") else here)
    except WorkbenchError as error:
        pytest.skip(str(error))


BALANCED = ["mujoco/elliptic", "drake/lagged", "bullet/50-sweeps", "dart/box", "pinocchio/admm", "siconos/nsgs"]


@pytest.mark.parametrize("name", BALANCED)
def test_an_engine_that_is_installed_balances_and_slides_as_coulomb_says(name):
    subject = engine(name)
    try:
        trial = EXPERIMENTS["stopping"].trials["1 kg at 1 m/s"]
        record = subject.play(trial, 2e-3)
    finally:
        subject.close()
    assert record.imbalance() < 1e-3
    assert record.most_contacts == 4
    (found,) = EXPERIMENTS["stopping"].measure({"1 kg at 1 m/s": record})
    assert found.error < 1
    assert np.allclose(np.linalg.norm(record.orientation, axis=-1), 1)


def test_pinocchios_admm_throws_a_fast_block_as_the_ccp_does_and_holds_it_by_default():
    trial, h = EXPERIMENTS["lift"].trials["block"], 2e-3
    for name, formulation in (("admm-ccp", "ccp"), ("admm", "coulomb")):
        subject = engine(f"pinocchio/{name}")
        found = subject.play(trial, h)
        subject.close()
        assert (
            np.abs(
                found.position - FormulationSubject(wb.formulations.find(formulation), "").play(trial, h).position
            ).max()
            < 1e-5
        )


def test_newtons_xpbd_creeps_in_proportion_to_the_step_and_tells_its_forces():
    subject, trial = engine("newton/xpbd"), EXPERIMENTS["slope"].trials["mu = 0.5, 20 degrees"]
    records = {h: subject.play(trial, h) for h in (5e-3, 1e-2)}
    subject.close()
    creep = {h: record.creep(0.1, 0.3) for h, record in records.items()}
    assert creep[1e-2] / creep[5e-3] == pytest.approx(2.0, rel=0.01)
    for record in records.values():
        assert record.most_contacts == 4
        assert record.imbalance() < 1e-5


def test_newtons_vbd_carries_a_ball_on_a_spring_and_tells_its_force():
    subject = engine("newton/vbd")
    record = subject.play(EXPERIMENTS["rest"].trials["ball"], H)
    subject.close()
    assert record.imbalance() < 1e-3
    assert record.position[0, 0, 2] - record.position[-1, 0, 2] == pytest.approx(9.81 / 2500, rel=1e-2)


def test_newtons_mujoco_moves_as_mujoco_does_and_balances():
    trial, found = EXPERIMENTS["lift"].trials["block"], {}
    for name in ("newton/mujoco", "mujoco/pyramidal"):
        subject = engine(name)
        found[name] = subject.play(trial, H)
        subject.close()
        assert found[name].imbalance() < 1e-4
    # Single precision against double, over a flight of 3 m.
    newton, own = (found[name].position for name in ("newton/mujoco", "mujoco/pyramidal"))
    assert np.abs(newton - own).max() < 1e-5


@pytest.fixture(scope="module")
def siconos():
    subject = engine("siconos/nsgs")
    yield subject
    subject.close()


def test_siconos_turns_a_leaning_body_as_it_was_pushed_and_keeps_its_angular_momentum(siconos):
    given = (1.0, 2.0, 3.0, 4.0, -3.0, 5.0)
    lean = (0.5, 0.5, -0.1, 0.7)
    body = TrialBody("body", 2.0, (0.01, 0.02, 0.025), ((0.0, 0.0, 0.0, 0.05),), orientation=lean, velocity=given)
    record = siconos.play(Trial((body,), 0.5, 0.1, planes=(), settling=0.0), 2e-3)
    turned, spin = turning(record.orientation[:, 0]), record.velocity[:, 0, 3:]
    momentum = (turned * body.inertia @ turned.transpose(0, 2, 1) @ spin[..., None])[..., 0]
    assert np.allclose(record.velocity[0, 0], given, rtol=0, atol=1e-12)
    assert np.abs(momentum - momentum[0]).max() < 1e-5 * np.linalg.norm(momentum[0])
    # It is not that nothing turns.
    assert np.abs(spin - spin[0]).max() > 0.5


def test_siconos_tells_forces_where_they_act(siconos):
    record = siconos.play(EXPERIMENTS["rolling"].trials["2 m/s"], 2e-3)
    torque = record.trial.bodies[0].inertia[0] * np.diff(record.velocity[:, 0, 3:], axis=0) / record.h
    sliding = slice(record.pushed, None)
    assert np.abs(torque[sliding]).max() > 0.5
    assert np.abs(torque - record.wrench[:, 0, 3:])[sliding].max() < 2e-3


def test_siconos_slides_down_a_plane_that_leans_in_two_directions(siconos):
    normal = np.array([0.3, -0.4, 0.75**0.5])
    start = tuple((0.1 * normal).tolist())
    ball = TrialBody("ball", 1.0, (0.004,) * 3, ((0.0, 0.0, 0.0, 0.1),), position=start)
    plane = (tuple(normal.tolist()), (0.0, 0.0, 0.0))
    record = siconos.play(Trial((ball,), 0.0, 0.2, planes=(plane,)), H)
    gravity = np.array([0.0, 0.0, -9.81])
    found = [record.acceleration(0.0, 0.2, axis) for axis in range(3)]
    assert np.allclose(found, gravity - gravity @ normal * normal, rtol=0, atol=0.01)


def test_siconos_touches_the_ground_with_a_rods_tip_at_one_point(siconos):
    trial = EXPERIMENTS["painleve"].trials["mu = 2"]
    assert siconos.play(trial, H / trial.finer).contacts.max() == 1


def test_siconos_stands_on_all_feet_in_every_step_with_a_threshold(siconos):
    trial = EXPERIMENTS["conveyor"].trials["20 m/s3"]
    held = engine("siconos/threshold")
    records = [siconos.play(trial, 1e-3), held.play(trial, 1e-3)]
    held.close()
    assert records[0].contacts.min() < 4
    assert records[1].contacts.min() == 4
    assert all(record.imbalance() < 1e-9 for record in records)
    # What two feet did not carry in one step all carry in the next, and friction with it.
    carried = [np.abs(record.wrench[:, 0, 2] - 9.81).max() for record in records]
    assert carried[0] > 6
    assert carried[1] < 0.05


def test_siconos_4_4_has_the_friction_that_its_skew_contact_frame_gives(siconos):
    if not siconos.version.startswith("Siconos 4.4.0"):
        pytest.skip("its contact frames are right since 4.5.0")
    trial = EXPERIMENTS["wedge"].trials["mu = 0.3"]
    record = siconos.play(trial, 1e-3)
    s, c = np.sin(np.pi / 6), np.cos(np.pi / 6)
    normal, along = np.array([-s, 0.0, -c]), np.array([c, 0.0, -s])
    # 4.4.0 takes (0, -z, x) for a tangent of the normal (x, y, z) where z is largest, in place of (0, -z, y).
    first = np.array([0.0, -normal[2], normal[0]]) / np.hypot(normal[2], normal[0])
    second = np.cross(normal, first)
    slip = np.array([along @ first, along @ second])
    friction = trial.mu * slip / np.linalg.norm(slip)
    force = normal + friction[0] * first + friction[1] * second
    wrong = 9.81 * (s - c * (force @ along) / (force @ normal))
    # The block slides on a wedge that rests.
    found = np.array([record.acceleration(0.1, 0.2, axis, body=1) for axis in range(3)]) @ along
    assert record.imbalance() < 1e-9
    assert found == pytest.approx(wrong, rel=1e-4)
    assert wrong > 1.14 * 9.81 * (s - trial.mu * c)


@pytest.mark.thorough
def test_mujocos_creep_goes_with_impratio_and_its_noslip_ends_it():
    trial = EXPERIMENTS["slope"].trials["mu = 0.5, 20 degrees"]
    creep = {}
    for name in ("elliptic", "impratio", "noslip"):
        subject = engine(f"mujoco/{name}")
        x = subject.play(trial, 2e-3).path()[:, 0]
        creep[name] = (x[-1] - x[50]) / 0.2
        subject.close()
    assert creep["elliptic"] == pytest.approx(100 * creep["impratio"], rel=0.01)
    assert creep["noslip"] < 1e-6
