"""Reading a model: MJCF, URDF or MJB, with a line for whatever is wrong with it."""

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.scenes.mujoco.package import mujoco
from workbench.scenes.mujoco.settings import apply
from workbench.support.errors import DataError

LARGEST = 100_000_000
"""Bytes of a description; meshes are in files of their own."""
FINITE = "qpos0", "body_pos", "body_mass", "body_inertia", "geom_pos", "geom_size", "geom_friction", "dof_damping"
FINITE_OPTIONS = "timestep", "gravity", "wind", "magnetic", "density", "viscosity", "impratio"
ADVICE = {
    r"XML parse error|XML_ERROR": "the file is not XML, or cut off",
    r"model type: 'mujocoinclude'": "this is a part of a model; give the file that includes it",
    r"Unrecognized XML model type": "a model begins with <mujoco> or <robot>",
    r"package:": "MuJoCo does not resolve ROS packages; write paths relative to the file, or put "
    '<mujoco><compiler meshdir="..." strippath="true"/></mujoco> into the robot element',
    r"mass and inertia of moving bodies": "give the body an <inertial> with mass and inertia, or a geom with a density",
    r"positive eigenvalues|A \+ B >= C": "write the inertia of a solid, or put "
    '<compiler balanceinertia="true" boundinertia="1e-6"/> into the model, in a URDF within <mujoco> in <robot>',
    r"decoder": "MuJoCo reads .xml, .urdf and .mjb; a .xacro must be expanded first",
    r"allocate memory": 'give the model <size memory="1G"/>, or as much as there is',
    r"Error opening file": "that file is missing or cannot be read",
}
"""What to do about what MuJoCo says, by what it says."""


def load_model(path: Path, sets: Mapping[str, str]) -> tuple[Any, list[str]]:
    """The compiled model of a file with some values set to others, `settings`, and what MuJoCo warns of.

    Raises DataError in one line.
    """
    mj = mujoco()
    if not path.is_file():
        raise DataError(f"{path} is not a file")
    if path.stat().st_size > LARGEST and path.suffix != ".mjb":
        raise DataError(f"{path} has {path.stat().st_size:.3g} bytes; a model's description has at most {LARGEST:.0e}")
    with warnings_of_mujoco() as said, warnings.catch_warnings(record=True) as by_python:
        warnings.simplefilter("always")
        try:
            model = _compiled(path, sets)
        except (ValueError, mj.FatalError, RuntimeError) as reason:
            raise DataError(f"{path}: {explained(str(reason))}") from None
    _sound(path, model)
    if path.suffix == ".urdf" and not (model.jnt_type == mj.mjtJoint.mjJNT_FREE).any():
        said.append("the root link of a URDF is fixed to the world")
    return model, said + [" ".join(str(w.message).split()) for w in by_python]


def _compiled(path: Path, sets: Mapping[str, str]) -> Any:
    mj = mujoco()
    if path.suffix == ".mjb":
        if sets:
            raise DataError(f"{path} is compiled; values can be set in its description (.xml, .urdf) only")
        return mj.MjModel.from_binary_path(str(path))
    spec = mj.MjSpec.from_file(str(path))
    changed = apply(spec, sets)
    model = spec.compile()
    for target in changed:
        other = mj.MjSpec.from_file(str(path))
        apply(other, {name: value for name, value in sets.items() if name != target})
        if np.array_equal(_bytes(model), _bytes(other.compile())):
            raise DataError(
                f"{target} = {sets[target]} changes nothing, since something else decides; a body's mass, for one, is "
                "that of its geoms unless it has an <inertial>"
            )
    return model


def _bytes(model: Any) -> NDArray[np.uint8]:
    """All that a model holds."""
    held = np.zeros(mujoco().mj_sizeModel(model), dtype=np.uint8)
    mujoco().mj_saveModel(model, None, held)
    return held


def explained(message: str) -> str:
    """MuJoCo's message in one line, and what to do."""
    text = re.sub(r"^(XML )?Error: |The static bodies of the spec were fused .*", "", " ".join(message.split())).strip()
    advice = next((what for pattern, what in ADVICE.items() if re.search(pattern, text)), "")
    return f"{text}; {advice}" if advice else text


@contextmanager
def warnings_of_mujoco() -> Iterator[list[str]]:
    """What MuJoCo warns of within the block, instead of on the standard error and in a file MUJOCO_LOG.TXT."""
    mj, said = mujoco(), list[str]()
    before = mj.get_mju_user_warning()
    mj.set_mju_user_warning(lambda text: said.append(" ".join(text.split())))
    try:
        yield said
    finally:
        mj.set_mju_user_warning(before)


def _sound(path: Path, model: Any) -> None:
    """Raises DataError where the model holds what cannot be stepped."""
    held = {name: getattr(model, name) for name in FINITE}
    held |= {f"option {name}": getattr(model.opt, name) for name in FINITE_OPTIONS}
    for name, values in held.items():
        if not np.isfinite(values).all():
            raise DataError(f"{path}: {name} has an entry that is not finite; all must be")
    for name in ("geom_friction", "pair_friction", "dof_frictionloss", "tendon_frictionloss"):
        values = getattr(model, name)
        if (values < 0).any():
            raise DataError(f"{path}: {name} has an entry {values.min():g}; friction is not negative")
    if model.nv == 0:
        raise DataError(f"{path}: no body can move; give a body a <joint> or <freejoint/>")
    if not model.opt.timestep > 0:
        raise DataError(f"{path}: the timestep is {model.opt.timestep:g}; a positive one is needed")
