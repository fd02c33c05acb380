"""What is kept of a run is that run's own, is worked out once, and goes with it."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.comparison.columns import TRAJECTORIES, framed
from workbench.comparison.once import energies, once
from workbench.step.simulation import simulate


def run_of(mass):
    return simulate(Wheel(m=mass), FORMULATIONS.find("coulomb"), find_solver("coulomb-exact"), 1e-2, 0.05)


def test_each_run_has_its_own_and_takes_it_along():
    light, heavy = run_of(1.0), run_of(2.0)
    asked, made = [], once(lambda run: asked.append(run) or run.states_v.copy())
    assert made(light) is made(light)
    assert len(asked) == 1
    assert energies(heavy)[0] > 1.5 * energies(light)[0]
    np.testing.assert_array_equal(energies(light), light.case.energy(light.states_q, light.states_v))
    kept = weakref.ref(made(light))
    asked.clear()
    del light
    gc.collect()
    assert kept() is None


def test_further_arguments_tell_results_apart():
    run, made = run_of(1.0), once(lambda run, factor=1.0: factor * run.states_v)
    assert made(run) is made(run)
    assert made(run, 2.0) is made(run, 2.0)
    np.testing.assert_array_equal(made(run, factor=3.0), 3.0 * made(run))
    np.testing.assert_array_equal(made(run, 2.0), 2.0 * made(run))


def test_what_columns_mean_is_changed_in_one_frame_alone():
    frame = framed([{"p_n": 1.0, "u_n": 2.0}], TRAJECTORIES, frozenset())
    other = frame.copy()
    assert other.attrs["columns"] == frame.attrs["columns"]
    with pytest.raises(TypeError, match="replace all of it"):
        other.attrs["columns"]["p_n"]["unit"] = "N"
    other.attrs["columns"]["p_n"] = {"unit": "N"}
    assert frame.attrs["columns"]["p_n"]["unit"] == "N s"
    sent = pickle.loads(pickle.dumps(frame))
    assert sent.attrs["columns"] == frame.attrs["columns"]
