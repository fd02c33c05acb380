"""Quantities needed several times, of a run for each of its rows and curves: computed once, kept as long as the run."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from workbench.comparison.kinetic import kinetic
from workbench.support.arrays import Array

if TYPE_CHECKING:
    from workbench.step.run import Run

Thing = TypeVar("Thing")
Rest = ParamSpec("Rest")
Found = TypeVar("Found")


def once(function: Callable[Concatenate[Thing, Rest], Found]) -> Callable[Concatenate[Thing, Rest], Found]:
    """Cache the results of a function of a run, or of a comparison, by its other arguments; do not modify them."""
    known: WeakKeyDictionary[Thing, dict[Any, Found]] = WeakKeyDictionary()

    @wraps(function)
    def remembering(thing: Thing, *rest: Rest.args, **named: Rest.kwargs) -> Found:
        found, key = known.setdefault(thing, {}), (rest, *named.items())
        if key not in found:
            found[key] = function(thing, *rest, **named)
        return found[key]

    return remembering


@once
def energies(run: "Run") -> Array:
    """(K + 1,) [J] the mechanical energy at the start and after each step."""
    with np.errstate(over="ignore", invalid="ignore"):
        return run.case.energy(run.states_q, run.states_v)


@once
def velocities(run: "Run") -> Array:
    """(K + 1, n) at the start and after each step, in space (`Case.in_space`)."""
    return run.case.in_space(run.states_q, run.states_v)


@once
def contact_impulses(run: "Run") -> Array:
    """(K, n) the net impulse of all contacts on the bodies in each step, in space."""
    return run.case.in_space(run.states_q[:-1], run.contact_impulse)


@once
def fall(run: "Run") -> Array:
    """(K, n) velocities that the forces make in each step."""
    free = np.linalg.solve(run.record.mass, run.record.b[..., None])[..., 0]
    return np.asarray(free - run.states_v[:-1], dtype=float)


@once
def fastest(run: "Run") -> tuple[float, float]:
    """The largest speed before a step, and the largest that the forces make in one [sqrt J]."""
    before, made = (kinetic(run.record.mass, x).max() for x in (run.states_v[:-1], fall(run)))
    return float(before), float(made)
