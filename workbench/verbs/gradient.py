"""`gradient`: the gradient of a function of a motion by many parameters, in one sweep back through its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.scenes.scene import Scene
from workbench.step.simulation import whole_steps
from workbench.support.arrays import Array
from workbench.support.numbers import must_be_seconds
from workbench.verbs.find import find_case, find_formulation, names_of
from workbench.verbs.scene import duration_of, is_scene, scene
from workbench.verbs.sensitivity import STEP

if TYPE_CHECKING:
    from workbench.derivatives.motion import Motion
    from workbench.derivatives.scene_run import SceneMotion


class Gradient(NamedTuple):
    """The `value` of a function of a motion and its derivatives `by` parameters; the `motion`'s `states_q` (steps + 1,
    n_q) and `states_v` (steps + 1, n), and how many of its steps `in_reverse` mode went back through, none of a scene.

    `kinks` and `jumps` are the steps, for each parameter that has some, at which its derivative is one-sided, and at
    which data jump nearby or are too noisy to tell. Without these `by` is the gradient.
    """

    value: float
    by: dict[str, float]
    motion: Motion | SceneMotion
    in_reverse: int
    kinks: dict[str, tuple[int, ...]]
    jumps: dict[str, tuple[int, ...]]


def gradient(
    what: str | Path | Case | type[Case] | Scene, formulation: str | Formulation = "coulomb", *,
    of: str | Callable[[Array, Array], tuple[float, Array, Array]], to: str | Sequence[str], step: float | None = None,
    duration: float | None = None,
) -> Gradient:  # fmt: skip
    """Return a function `of` the motion of a case or scene under a formulation, and its derivatives `to` parameters.

    `of` is an output of its end, x, y, z of the centre of mass [m], energy [J], q[i] or v[i]; or a function of all
    states, q (steps + 1, n_q) and v (steps + 1, n), that returns a number and its gradients by them, of the same
    shapes. Parameters are those of the case and q[i], v[i], the coordinates and velocities at its start (q[i] where
    each coordinate has its own velocity). Steps of `step` [s], 1 ms by default, over `duration` [s], the case's own by
    default. A scene, its name or the file of a model has the outputs, parameters and defaults of `sensitivity`.

    Reverse mode (Griewank & Walther 2008) takes some two to four runs for any number of parameters. It goes back as far
    as every step has a derivative by all of its inputs; where one has one-sided derivatives only, those along the
    parameters, for increasing values, are used in it and before, and `kinks` says so. Scenes take forward mode, six to
    ten runs for each parameter. Raises UnknownNameError for names that are not known, DataError where a parameter has
    no derivative, for a motion that does not reach its end, and for gradients of other shapes.

    >>> import numpy as np, workbench as wb
    >>> found = wb.gradient("block", "ccp", of="energy", to=["mu", "speed", "v[0]"], duration=0.1)
    >>> bool(found.by["mu"] < 0 < found.by["speed"])
    True
    >>> def way(q, v):                                 # the squared distance from x = 1 m, summed over all states
    ...     off = q[:, :1] - 1.0
    ...     return float((off**2).sum()), 2 * off * np.eye(q.shape[1])[0], np.zeros(v.shape)
    >>> bool(wb.gradient("block", "ccp", of=way, to="v[0]", duration=0.1).by["v[0]"] < 0)
    True
    """
    names, law = names_of("to", to), find_formulation(formulation)
    if is_scene(what):
        from workbench.derivatives.scene_run import scene_gradient

        on = scene(what)  # type: ignore[arg-type]
        step, duration = on.step if step is None else step, duration_of(what) if duration is None else duration
        must_be_seconds(step, duration)
        value, motion, by = scene_gradient(on, law, of, names, step, whole_steps(duration, step))
        return Gradient(value, _named(names, by.tolist()), motion, 0, *_steps(names, motion.kinks, motion.jumps))
    from workbench.derivatives.motion import motion_gradient

    case = find_case(what)  # type: ignore[arg-type]
    step, duration = STEP if step is None else step, case.duration if duration is None else duration
    must_be_seconds(step, duration)
    value, of_case, found = motion_gradient(case, law, of, names, step, duration)
    noted = _steps(names, found.kinks, found.jumps)
    return Gradient(value, _named(names, found.by.tolist()), of_case, found.in_reverse, *noted)


def _named(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    return dict(zip(names, values, strict=True))


def _steps(names: Sequence[str], *noted: Sequence[Sequence[int]]) -> list[dict[str, tuple[int, ...]]]:
    """The steps by parameter, where there are some."""
    return [{name: tuple(some) for name, some in zip(names, each, strict=True) if some} for each in noted]
