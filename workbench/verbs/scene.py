"""`scene`: a system whose contacts come and go, from a model's file or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.builtin.cases import SCENES
from workbench.scenes.case import SceneCase
from workbench.scenes.scene import Scene
from workbench.support.errors import UnknownNameError, WorkbenchError
from workbench.support.numbers import parse_entry
from workbench.verbs.find import find_formulations, local_formulations, must_differ, several

if TYPE_CHECKING:
    from workbench.comparison.scenes.runs import SceneEngine
    from workbench.language.formulation import Formulation

MODELS = (".xml", ".mjcf", ".urdf", ".mjb")
"""Extensions of files that hold models of MuJoCo or URDF."""
ENGINE = "engine:mujoco"
DURATION = 0.5
"""Default duration [s] of a model's comparison, which the file does not specify."""


def scene(
    what: str | Path | Scene | SceneCase, values: Mapping[str, Any] | None = None, key: str | None = None,
    ctrl: str | float | None = None,
) -> Scene:  # fmt: skip
    """Return a scene from an MJCF, URDF or MJB file, or by name.

    For a model, `values` are set, {"geom/foot.friction": 0.4}, it starts from the keyframe `key`, and `ctrl` controls
    its actuators: a number, or a file whose columns are time [s] and the actuators. For a scene by name, `values` are
    its parameters. Raises WorkbenchError in one line.

    >>> import workbench as wb
    >>> hopper = wb.scene("hopper", {"N": 20})
    >>> len(hopper.bodies)
    20
    """
    if values is not None and not isinstance(values, Mapping):
        raise WorkbenchError(f"values = {values!r:.40}; values by name are needed")
    if isinstance(what, Scene):
        if values or key is not None or ctrl is not None:
            raise WorkbenchError(f"{what.name} is a scene already; values, key and ctrl are for a file or a name")
        return what
    if is_model(what):
        from workbench.scenes.mujoco.scene import MujocoScene

        return MujocoScene(Path(what), {name: str(x) for name, x in (values or {}).items()}, key, ctrl)  # type: ignore[arg-type]
    found = SCENES.find(what) if isinstance(what, str) else what
    case = found() if isinstance(found, type) else found
    if not isinstance(case, SceneCase):
        raise WorkbenchError(f"a scene, its name or the file of a model is needed; {type(what).__name__} was given")
    if key is not None or ctrl is not None:
        raise WorkbenchError(f"{case.name} has no keyframes and no actuators; key and ctrl are for files of models")
    return case.with_parameters(**{k: parse_entry(str(x), f"{k}={x}"[:60]) for k, x in (values or {}).items()}).scene()


def is_model(what: Any) -> bool:
    """Return whether it is the path of a model's file, by its extension."""
    return isinstance(what, str | Path) and Path(what).suffix.lower() in MODELS


def is_scene(what: Any) -> bool:
    """Return whether it is a scene, the name of one, or the path of a model's file."""
    own = isinstance(what, Scene | SceneCase) or (isinstance(what, type) and issubclass(what, SceneCase))
    return own or is_model(what) or (isinstance(what, str) and what in SCENES)


def duration_of(what: Any) -> float:
    """Default duration of a scene's comparison [s]."""
    case = SCENES.find(what) if isinstance(what, str) and what in SCENES else what
    return float(getattr(case, "duration", DURATION))


def find_engine(wanted: str, found: Scene) -> SceneEngine:
    """Find the engine engine:mujoco, or engine:mujoco,timeconst=0.002,cone=elliptic, on a scene from a model's file.

    Raises WorkbenchError for another name or option, or a scene that is not a MuJoCo model.
    """
    name, *options = wanted.split(",")
    if name != ENGINE:
        raise UnknownNameError("engine", name, [ENGINE])
    from workbench.scenes.mujoco.engine import MujocoEngine
    from workbench.scenes.mujoco.scene import MujocoScene

    if not isinstance(found, MujocoScene):
        raise WorkbenchError(f"{ENGINE} steps models from files; {found.name} is none")
    given: dict[str, Any] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in ("timeconst", "cone"):
            raise WorkbenchError(
                f"'{wanted}': '{option}' is not an option; {ENGINE} has timeconst=SECONDS and cone=KIND"
            )
        given[key] = value if key == "cone" else _seconds(value, wanted)
    return MujocoEngine(found, **given)


class ComparedScene(NamedTuple):
    """A scene as it is compared: for a time [s] by default, under formulations and engines."""

    scene: Scene
    duration: float
    formulations: tuple[Formulation, ...]
    engines: tuple[SceneEngine, ...]


def compared_scene(what: Any, wanted: Any) -> ComparedScene:
    """Find a scene and what it is compared under, by default all formulations that are local to their contacts and the
    engine that the scene comes from. Raises WorkbenchError where nothing is left, or labels are the same."""
    found, duration = scene(what), duration_of(what)
    if wanted is None:
        from workbench.scenes.mujoco.scene import MujocoScene

        own = (find_engine(ENGINE, found),) if isinstance(found, MujocoScene) else ()
        return ComparedScene(found, duration, local_formulations(), own)
    formulations, engines = formulations_and_engines(several(wanted))
    if not formulations and not engines:
        raise WorkbenchError("no formulation is given; name at least one, or leave the argument out for all")
    chosen, others = find_formulations(formulations), tuple(find_engine(name, found) for name in engines)
    must_differ(chosen)
    return ComparedScene(found, duration, chosen, others)


def formulations_and_engines(wanted: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Separate formulations from names of engines."""
    engines = [x for x in wanted if isinstance(x, str) and x.startswith("engine:")]
    return [x for x in wanted if x not in engines], engines


def _seconds(text: str, wanted: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WorkbenchError(f"'{wanted}': timeconst={text[:40]} is not a number of seconds") from None
