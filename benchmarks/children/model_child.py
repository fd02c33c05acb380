"""Tries one model after the other: loads, looks at, steps and compares it. python -m benchmarks.children.model_child"""

import traceback
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import mujoco
import numpy as np

from benchmarks.children.channel import serve
from workbench.support.errors import WorkbenchError

Row = dict[str, Any]
SOON = 0.1
"""Seconds of MuJoCo's own motion within which something must touch."""


def features(model: Any) -> Row:
    """What the model has that a solver of contacts must know."""
    tendon, dof = model.tendon_frictionloss, model.dof_frictionloss
    return {
        "bodies": model.nbody - 1,
        "velocities": model.nv,
        "actuators": model.nu,
        "limits": int(model.jnt_limited.sum() + model.tendon_limited.sum()),
        "equalities": model.neq,
        "dry friction": int((dof > 0).sum() + (tendon > 0).sum()),
        "torsion or rolling": bool(np.isin(model.geom_condim, (4, 6)).any()),
        "flexes": model.nflex,
        "tendons": model.ntendon,
        "step": model.opt.timestep,
    }


def engine(model: Any, steps: int) -> Row:
    """MuJoCo's own steps: the most contacts, and seconds a step."""
    data, most = mujoco.MjData(model), 0
    begun = perf_counter()
    for _ in range(steps):
        mujoco.mj_step(model, data)
        most = max(most, data.ncon)
    return {"engine": (perf_counter() - begun) / steps, "contacts": most}


def stepped(path: str, formulation: str, steps: int, limit: float) -> Row:
    """So many steps of a formulation, or as many as `limit` seconds allow, and whether all had a verified answer."""
    from workbench.problems.solution import Status
    from workbench.scenes.mujoco.scene import MujocoScene
    from workbench.scenes.run import run
    from workbench.scenes.stepper import SceneStepper
    from workbench.verbs.find import find_formulation

    class Over(Exception):  # noqa: N818
        pass

    taken: list[float] = []

    def progress(done: int) -> None:
        taken.append(perf_counter())
        if taken[-1] - begun > limit:
            raise Over

    scene = MujocoScene(path)
    left = "; ".join(scene.left_out)
    begun = perf_counter()
    stepper = SceneStepper(scene, find_formulation(formulation), scene.step)
    try:
        track = run(scene, stepper, steps, progress=progress)
    except Over:
        outcome, reason, worst = "slow", f"{len(taken)} steps in {limit:g} s", np.nan
    else:
        solved = track.status is Status.SOLVED
        outcome = "stepped" if solved else "refused" if track.status is Status.REFUSED else "stopped"
        reason, worst = track.reason, float(track.residuals.max(initial=0.0))
    return {
        "outcome": outcome, "reason": reason, "steps": len(taken), "residual": worst, "left out": left,
        "second step on": float(np.median(np.diff(taken))) if len(taken) > 1 else np.nan,
    }  # fmt: skip


def refusal(path: str) -> str:
    """What the workbench says of a file that MuJoCo does not take."""
    from workbench.scenes.mujoco.scene import MujocoScene

    try:
        MujocoScene(path)
    except WorkbenchError as said:
        return str(said).removeprefix(f"{path}: ")
    return ""


def compared(path: str, model: Any, steps: int, labels: list[str]) -> Row:
    """A comparison over so many of the model's steps by the command's own verb: processor seconds, how far each row is
    from the reference [m], and why rows are not verified, or what its page says first where all are."""
    import workbench as wb

    begun = process_time()
    result = wb.compare(path, labels, duration=steps * model.opt.timestep)
    page, rows = result.html(), result.runs.set_index("label")
    ended = [f"{label}: {reason}" for label, reason in rows["reason"].items() if reason]
    return {
        "outcome": "compared", "seconds": process_time() - begun, "rows": len(rows),
        "verified": int(rows["verified"].sum()), "until": result.comparison.scene.until, "page": len(page),
        "reason": "; ".join(ended or result.words[:3]), **rows["body_position_error"],
    }  # fmt: skip


def touches(path: str) -> bool:
    """Whether MuJoCo takes a model, and by its own steps something touches within 0.1 s."""
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError:
        return False
    return bool(model.nv) and engine(model, round(SOON / model.opt.timestep))["contacts"] > 0


def answer(words: Row, _: Row) -> tuple[Row, Row]:
    """A row of one model; what is refused says so in one line, and what breaks says where."""
    path = words["path"]
    if words.get("touches"):
        return {"touches": touches(path)}, {}
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as reason:
        return {"outcome": "no model", "reason": refusal(path) or " ".join(str(reason).split())}, {}
    row = features(model)
    try:
        if words["compared"]:
            return row | compared(path, model, words["compared"], words["labels"]), {}
        if model.nv:
            row |= engine(model, words["steps"])
        return row | stepped(path, words["formulation"], words["steps"], words["limit"]), {}
    except WorkbenchError as refused:
        return row | {"outcome": "refused", "reason": str(refused)}, {}
    except Exception as broken:
        where = traceback.extract_tb(broken.__traceback__)[-1]
        what = f"{type(broken).__name__}: {broken} ({Path(where.filename).name}:{where.lineno})"
        return row | {"outcome": "broken", "reason": " ".join(what.split())[:200]}, {}


if __name__ == "__main__":
    # What MuJoCo warns of would be written to a file in this folder.
    mujoco.set_mju_user_warning(lambda text: None)
    serve(answer)
