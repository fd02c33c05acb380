"""Formulations, cases, kernels and runs in other processes, which cannot import where they come from."""

import copy
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.thorough import quickly
from workbench.algorithms import find_solver
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.comparison.metrics import METRICS
from workbench.engine.lazy import cvxpy as cp
from workbench.language.formulation import ContactSymbols, SlidingSymbols
from workbench.step.simulation import simulate

OWN = Path(__file__).with_name("own_things.py")
ELSEWHERE = """
import pickle
import sys

with open(sys.argv[1], "rb") as file:
    case, f, stepped, digest = pickle.load(file)
assert "own_things" not in sys.modules
first, kernels, declarations = stepped(case, f)
with open(sys.argv[1], "rb") as file:
    again = pickle.load(file)
# What has been here is not made, or compiled, a second time.
assert again[0] == case and type(again[0]) is type(case)
assert again[1] == f and again[1].build is f.build
assert stepped(*again[:2])[1:] == (kernels, declarations)
print(digest(first), kernels)
"""
RUN_ELSEWHERE = """
import pickle

from workbench.algorithms import find_solver
from workbench.step.simulation import simulate

with open("run.pickle", "rb") as file:
    case, f, run = pickle.load(file)
again = simulate(case, f, find_solver("lemke"), 1e-2)
assert run.compiled is None
assert (run.states_q == again.states_q).all()
assert (run.residuals == again.residuals).all() and len(run.residuals) == 20
assert run.case == case
print("the same")
"""


def python(folder: Path, *words: str) -> str:
    """What a fresh Python process prints; it must not fail."""
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.fixture(scope="module", params=quickly(["script", "no file"], "no file".__eq__))
def own(request, tmp_path_factory):
    """A folder with what `own_things` has written, and what it printed."""
    folder = tmp_path_factory.mktemp("own")
    # The second is as in a notebook: nothing to import, and no file to run again.
    words = [str(OWN)] if request.param == "script" else ["-c", OWN.read_text("utf-8")]
    return folder, python(folder, *words)


@pytest.mark.thorough
def test_what_a_script_defines_steps_alike_in_a_spawned_and_in_a_foreign_process(own):
    folder, here = own
    (folder / "elsewhere.py").write_text(ELSEWHERE, "utf-8")
    assert python(folder, "elsewhere.py", "things.pickle") == here


@pytest.mark.thorough
def test_a_run_travels_without_its_declaration_and_compiles_it_anew(own):
    assert python(own[0], "-c", RUN_ELSEWHERE) == "the same"


@pytest.mark.thorough
@pytest.mark.parametrize("registered", quickly([True, False], bool))
def test_what_a_file_loaded_by_its_path_defines_steps_alike_in_a_foreign_process(registered, tmp_path, monkeypatch):
    copied = tmp_path / "hidden" / "strange-name.py"
    copied.parent.mkdir()
    copied.write_text(OWN.read_text("utf-8"), "utf-8")
    spec = importlib.util.spec_from_file_location("strange", copied)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module while it is executed.
    monkeypatch.setitem(sys.modules, "strange", module)
    spec.loader.exec_module(module)
    if not registered:
        monkeypatch.delitem(sys.modules, "strange")
    case, f = module.Drop(mass=3.0), module.soft.with_options(rate=5.0)
    assert pickle.loads(pickle.dumps((case, f))) == (case, f)
    assert pickle.loads(pickle.dumps(module.fill)) is module.fill
    here = module.stepped(case, f)[0]
    (tmp_path / "run.pickle").write_bytes(pickle.dumps((case, f, here)))
    assert python(tmp_path, "-c", RUN_ELSEWHERE) == "the same"


def test_what_can_be_imported_travels_by_name():
    for thing in (*FORMULATIONS, Wheel(), FORMULATIONS.find("box").with_options(bounds="iterated"), Wheel.fill):
        content = pickle.dumps(thing)
        # Options and their meanings, but no code.
        assert len(content) < 2000
        assert b"cloudpickle" not in content
        other = pickle.loads(content)
        assert other is thing if thing is Wheel.fill else other == thing


def test_metrics_come_back_with_their_functions():
    for metric in METRICS:
        other = pickle.loads(pickle.dumps(metric))
        assert other == metric
        assert other.function is metric.function
    own = wb.distance("apart", unit="m", meaning="a distance")(lambda m, a, b: 7.0)
    other = pickle.loads(pickle.dumps(own))
    assert (other.column, other.parts, other.function(None, None, None)) == (own.column, own.parts, 7.0)


def test_runs_of_cases_and_of_parts_come_back_whole():
    run = simulate(Wheel(), FORMULATIONS.find("stewart-trinkle"), find_solver("lemke"), 1e-3, 0.02)
    residuals = run.residuals.copy()
    for other in (pickle.loads(pickle.dumps(run)), copy.copy(run), copy.deepcopy(run)):
        assert (other.case, other.formulation, other.reason) == (run.case, run.formulation, run.reason)
        for name, column in run.record._asdict().items():
            np.testing.assert_array_equal(getattr(other.record, name), column)
        np.testing.assert_array_equal(other.residuals, residuals)
        np.testing.assert_array_equal(other.W, run.W)


def test_symbols_come_back_with_their_sizes_and_make_their_own_parameters():
    for symbols in (ContactSymbols(6, 1, 2, 2), SlidingSymbols(1, 2)):
        name = next(iter(symbols.shapes))
        made = getattr(symbols, name)
        for other in (pickle.loads(pickle.dumps(symbols)), copy.copy(symbols), copy.deepcopy(symbols)):
            assert str(other) == str(symbols)
            assert other.shapes == symbols.shapes
            assert getattr(other, name).shape == made.shape
            with pytest.raises(AttributeError, match="has no 'nonsense'"):
                _ = other.nonsense
    blank = object.__new__(ContactSymbols)
    with pytest.raises(AttributeError):
        _ = blank.anything


def test_modules_imported_late_travel():
    other = pickle.loads(pickle.dumps(cp))
    assert other.Parameter is cp.Parameter
