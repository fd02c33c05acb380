"""Engines that sit the exam: those of the Python that WORKBENCH_ENGINES names, or of this one; others are skipped."""

import os
import sys

import numpy as np
import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.exams.experiments import EXPERIMENTS
from workbench.exams.subject import FOLDER, CannotPlayError, EngineSubject, FormulationSubject

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
