"""Engines that sit the exam: those of the Python that WORKBENCH_ENGINES names, or of this one; others are skipped."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.exams.experiments import EXPERIMENTS
from workbench.exams.subject import ENGINES, FOLDER, CannotPlayError, EngineSubject, FormulationSubject

H = 5e-3


def test_an_engine_that_dies_or_hangs_is_told(tmp_path, monkeypatch):
    (tmp_path / "adapters").mkdir()
    (tmp_path / "protocol.py").write_text((FOLDER / "protocol.py").read_text())
    adapter = tmp_path / "adapters" / "mujoco.py"
    monkeypatch.setattr("workbench.exams.subject.FOLDER", tmp_path)
    trial = EXPERIMENTS["lift"].trials["ball"]
    for body, words in (("import os; os._exit(1)", "ended"), ("raise ValueError('not this')", "not this")):
        adapter.write_text(f"VERSION = 'none'\nclass World:\n    def __init__(self, *_, **__):\n        {body}\n")
        subject = EngineSubject("mujoco/elliptic")
        with pytest.raises(CannotPlayError, match=words):
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
    with pytest.raises(CannotPlayError, match=r"0\.05 s"):
        subject.play(EXPERIMENTS["lift"].trials["ball"], H)
    subject.close()


def test_an_engine_is_absent_where_a_module_that_it_needs_is(monkeypatch):
    needs = replace(ENGINES["bullet/5-sweeps"], needs=("no_such_module",))
    monkeypatch.setitem(ENGINES, "bullet/5-sweeps", needs)
    with pytest.raises(WorkbenchError, match=r"is absent: No module named 'no_such_module'; .* install pybullet"):
        EngineSubject("bullet/5-sweeps")


def engine(name: str) -> EngineSubject:
    """An engine in the Python of WORKBENCH_ENGINES, or in this one."""
    try:
        return EngineSubject(name, os.environ.get("WORKBENCH_ENGINES", sys.executable))
    except WorkbenchError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["mujoco/elliptic", "drake/lagged", "bullet/50-sweeps", "dart/box", "pinocchio/admm"])
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
