"""Subjects of the exam: formulations of the workbench, and engines by their packages, each in a separate process."""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.exams import protocol
from workbench.exams.record import Record
from workbench.exams.scene import FormulationWorld
from workbench.exams.trial import Trial
from workbench.language.formulation import Formulation
from workbench.support.errors import WorkbenchError

FOLDER = Path(__file__).parent
PATIENCE, COMPILING = 120.0, 1200.0
"""Time limit of an engine for a trial [s], and of one that compiles its kernels when first needed."""


class CannotPlayError(WorkbenchError):
    """A subject cannot run a trial, or failed in it; the message gives the reason."""


class EndedError(CannotPlayError):
    """The process of an engine has ended, or was ended at its time limit; the next trial may start it again."""


class ExamSubject:
    """`name` in tables, `version` of the underlying software; `about` says in a few words what it is."""

    name: str
    version: str
    about: str = ""

    def play(self, trial: Trial, h: float) -> Record:
        """The record of a trial with steps of h [s]; raises CannotPlayError."""
        raise NotImplementedError

    def close(self) -> None:
        """End the started process."""


class FormulationSubject(ExamSubject):
    """A formulation in the workbench's own stepper."""

    def __init__(self, formulation: Formulation, version: str) -> None:
        self.formulation, self.name, self.version = formulation, formulation.label, version
        self.about = f"formulation in the workbench's time stepper: {formulation.friction}"

    def play(self, trial: Trial, h: float) -> Record:
        try:
            return Record(trial, h, **protocol.play(FormulationWorld(trial, self.formulation, h), trial.plain(), h))
        except (WorkbenchError, ValueError, np.linalg.LinAlgError) as error:
            raise CannotPlayError(str(error)) from error


@dataclass(frozen=True)
class Engine:
    """An engine of the list: its adapter's file, and its settings."""

    adapter: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    package: str = ""
    """The package names for `pip install`."""
    setting: str = ""
    """The settings in words."""
    patience: float = PATIENCE
    needs: tuple[str, ...] = ()
    """Modules needed in addition to those that the adapter imports."""
    how: str = ""
    """Installation instructions, if not by `pip install`."""


DEBIAN = "`apt install python3-siconos`, and `--python /usr/bin/python3`"
PINOCCHIO = "contact-workbench pin"
"""Its contact solvers are run in the workbench's stepper."""
ENGINES = {
    "mujoco/pyramidal": Engine("mujoco", {}, "mujoco", "pyramidal friction cone (default)"),
    "mujoco/elliptic": Engine("mujoco", {"cone": "elliptic"}, "mujoco", "elliptic friction cone"),
    "mujoco/impratio": Engine("mujoco", {"cone": "elliptic", "impratio": 100}, "mujoco", "elliptic cone, impratio 100"),
    "mujoco/noslip": Engine(
        "mujoco", {"cone": "elliptic", "noslip": 10}, "mujoco", "elliptic cone, 10 noslip iterations"
    ),
    "drake/sap": Engine("drake", {"approximation": "sap"}, "drake", "contact approximation kSap"),
    "drake/lagged": Engine("drake", {"approximation": "lagged"}, "drake", "contact approximation kLagged (default)"),
    "drake/similar": Engine("drake", {"approximation": "similar"}, "drake", "contact approximation kSimilar"),
    "drake/tamsi": Engine("drake", {"approximation": "tamsi"}, "drake", "contact approximation kTamsi"),
    "bullet/50-sweeps": Engine("bullet", {}, "pybullet", "50 Gauss-Seidel sweeps (default)"),
    "bullet/5-sweeps": Engine("bullet", {"sweeps": 5}, "pybullet", "5 Gauss-Seidel sweeps"),
    "dart/box": Engine("dart", {}, "dartpy", "LCP with box friction (default)"),
    "dart/nsgs": Engine("dart", {"solver": "nsgs"}, "dartpy", "Gauss-Seidel with friction cones"),
    "pinocchio/admm": Engine("pinocchio", {}, PINOCCHIO, "ADMM for Coulomb's law (default)"),
    "pinocchio/admm-ccp": Engine("pinocchio", {"ncp": False}, PINOCCHIO, "ADMM for the CCP"),
    "pinocchio/pgs": Engine("pinocchio", {"method": "PGS"}, PINOCCHIO, "Gauss-Seidel for Coulomb's law (default)"),
    "siconos/nsgs": Engine("siconos", {}, setting="Gauss-Seidel with friction cones (default)", how=DEBIAN),
    "siconos/threshold": Engine(
        "siconos",
        {"threshold": 1e-5},
        setting="Gauss-Seidel with friction cones, contacts at gaps up to 10 µm",
        how=DEBIAN,
    ),
    "newton/xpbd": Engine("newton", {}, "newton", "XPBD, 2 iterations (default)", COMPILING),
    "newton/vbd": Engine("newton", {"solver": "vbd"}, "newton", "VBD, 10 iterations (default)", COMPILING),
    "newton/mujoco": Engine(
        "newton", {"solver": "mujoco"}, "'newton[sim]'", "MuJoCo's C code by Newton", COMPILING, ("mujoco_warp",)
    ),
}
"""Engines by the names that `workbench exam` accepts."""


class EngineSubject(ExamSubject):
    """An engine in a separate process, run by `python`; raises WorkbenchError if that cannot import the engine."""

    def __init__(self, name: str, python: str = sys.executable) -> None:
        self.name, self.engine, self.python = name, ENGINES[name], python
        script, adapter = FOLDER / "protocol.py", FOLDER / "adapters" / f"{self.engine.adapter}.py"
        try:
            self.process = subprocess.Popen(
                [python, str(script), str(adapter), *self.engine.needs], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        except OSError as error:
            raise WorkbenchError(f"{python} cannot be started: {error.strerror}; a Python is needed") from None
        begun = self._read()
        if "version" not in begun:
            self.close()
            why = begun.get("absent", self.ended)
            how = self.engine.how or f"`{python} -m pip install {self.engine.package}`"
            raise WorkbenchError(f"{name} is absent: {why}; {how}")
        self.version = begun["version"]
        self.about = f"engine {self.version}: {self.engine.setting}"

    def __reduce__(self) -> tuple:
        return _opened, (self.name, self.python)

    def play(self, trial: Trial, h: float) -> Record:
        asked = {"trial": trial.plain(), "h": h, "settings": dict(self.engine.settings)}
        try:
            self.process.stdin.write(json.dumps(asked) + "\n")  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise EndedError("its process has ended") from None
        answer = self._read()
        if not answer:
            raise EndedError(self.ended)
        if "error" in answer:
            raise CannotPlayError(answer["error"])
        return Record(trial, h, **{name: protocol.unpacked(x) for name, x in answer.items()})

    @property
    def ended(self) -> str:
        """Reason why an engine did not answer."""
        return f"its process ended, or took more than {self.engine.patience:g} s"

    def _read(self) -> dict[str, Any]:
        # A hanging engine is ended, which gives an empty line.
        timer = threading.Timer(self.engine.patience, self.process.kill)
        timer.start()
        try:
            line = self.process.stdout.readline()  # type: ignore[union-attr]
        finally:
            timer.cancel()
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            return {}
        return found

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


_OPEN: list[EngineSubject] = []


def _opened(name: str, python: str) -> EngineSubject:
    """An engine for use in this process, which has one engine at a time."""
    if not (_OPEN and (_OPEN[0].name, _OPEN[0].python) == (name, python) and _OPEN[0].process.poll() is None):
        while _OPEN:
            _OPEN.pop().close()
        _OPEN.append(EngineSubject(name, python))
    return _OPEN[0]
