"""Values of a model that are set from outside: `geom/foot.friction = 0.4`, `option.timestep = 0.001`.

Names of elements and attributes are those of the file; numbers are in its units. Where fewer numbers are given than
the attribute has, the first ones are set. What is set for a body and belongs to geoms is set for all geoms of the body.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.scenes.mujoco.package import mujoco
from workbench.support.errors import DataError, UnknownNameError

KINDS = {
    "body": "bodies", "geom": "geoms", "joint": "joints", "site": "sites", "tendon": "tendons", "actuator": "actuators",
    "equality": "equalities", "pair": "pairs", "key": "keys", "mesh": "meshes",
}  # fmt: skip
GLOBAL = "option", "compiler", "stat"
ENUMS = {"cone": "mjtCone", "integrator": "mjtIntegrator", "solver": "mjtSolver", "jacobian": "mjtJacobian"}
NOT_VALUES = "parent", "signature", "id", "info", "alt", "compiler", "frame", "plugin", "userdata", "default"


def apply(spec: Any, sets: Mapping[str, str]) -> list[str]:
    """Sets every value; which of them are others than before.

    Raises DataError or UnknownNameError naming what is not there, with near names.
    """
    changed = []
    for target, text in sets.items():
        element, dot, attribute = target.rpartition(".")
        if not dot or not element:
            raise DataError(f"'{target}' is not of the form kind/name.attribute, such as geom/foot.friction")
        for owner, name in _owners(spec, element, attribute):
            before = np.copy(getattr(owner, name))
            _assign(owner, name, target, text)
            if target not in changed and not np.array_equal(before, getattr(owner, name)):
                changed.append(target)
    return changed


def _owners(spec: Any, element: str, attribute: str) -> list[tuple[Any, str]]:
    """What has the attribute, and its name there."""
    if element in GLOBAL:
        owner = getattr(spec, element)
        return [(owner, _attribute(owner, attribute, element))]
    kind, slash, name = element.partition("/")
    if not slash or kind not in KINDS:
        raise UnknownNameError("kind of element", kind, [*KINDS, *GLOBAL])
    named = {x.name: x for x in getattr(spec, KINDS[kind]) if x.name}
    if name not in named:
        raise UnknownNameError(kind, name, sorted(named))
    owner = named[name]
    if kind == "body" and _matching(owner, attribute) is None and owner.geoms:
        return [(geom, _attribute(geom, attribute, f"geom of the body '{name}'")) for geom in owner.geoms]
    return [(owner, _attribute(owner, attribute, kind))]


def _attributes(owner: Any) -> list[str]:
    names = (x for x in dir(owner) if not x.startswith("_") and x not in NOT_VALUES)
    return [x for x in names if isinstance(getattr(owner, x), int | float | str | np.ndarray) or x in ENUMS]


def _matching(owner: Any, attribute: str) -> str | None:
    """The attribute's name in MuJoCo's library, which is the file's up to underscores."""
    return {x.replace("_", ""): x for x in _attributes(owner)}.get(attribute.replace("_", ""))


def _attribute(owner: Any, attribute: str, kind: str) -> str:
    found = _matching(owner, attribute)
    if found is None:
        raise UnknownNameError(f"attribute of {kind}", attribute, _attributes(owner))
    return found


def _assign(owner: Any, name: str, target: str, text: str) -> None:
    before = getattr(owner, name)
    if name in ENUMS:
        members = getattr(mujoco(), ENUMS[name]).__members__
        known = {x.rpartition("_")[2].lower(): value for x, value in members.items()}
        if text.lower() not in known:
            raise UnknownNameError(name, text, list(known))
        setattr(owner, name, int(known[text.lower()]))
        return
    if isinstance(before, str):
        setattr(owner, name, text)
        return
    try:
        numbers = [float(x) for x in text.replace(",", " ").split()]
    except ValueError:
        raise DataError(f"{target} = '{text}'; numbers are needed") from None
    size = before.size if isinstance(before, np.ndarray) else 1
    if not numbers or len(numbers) > size or not np.isfinite(numbers).all():
        raise DataError(
            f"{target} = '{text}'; {'one number is' if size == 1 else f'up to {size} finite numbers are'} needed"
        )
    if isinstance(before, np.ndarray):
        before.reshape(-1)[: len(numbers)] = numbers
    else:
        setattr(owner, name, type(before)(numbers[0]))
