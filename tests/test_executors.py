"""Wherever the units of a study are made, its table is the same: processes, Dask, MPI, jobs of submitit."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import pandas as pd
import pytest

from workbench.studies import executors
from workbench.studies.executors import done, pool_of
from workbench.studies.pools import Pool
from workbench.support.errors import WorkbenchError

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

AHEAD = 3
ATTEMPTS = 3

ROOT = Path(__file__).parents[1]
OWN = (ROOT / "tests" / "own_things.py").read_text("utf-8").partition("\ndef main()")[0]
STUDY = """
import sys
import workbench as wb
from workbench.comparison.columns import TIMES

@wb.metric("half-work", unit="J", meaning="a test")
def half_work(m):
    return STIFFENING * len(m.steps)

def study(executor, **more):
    found = wb.study(
        Drop(mass=3.0), [soft, "coulomb"], parameters={"mass": [1.0, 2.0, 3.0]}, steps=1e-2, reference_step=5e-3,
        metrics=["position-error", half_work], executor=executor, workers=2, **more,
    )
    rows = found.rows
    assert len(rows) == 6 and rows["half_work"].notna().all(), rows.T
    rows.drop(columns=[*TIMES]).to_parquet(sys.argv[1])
"""
PLACES = {
    "processes": "study('processes')",
    "dask": """
    from distributed import LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        study(cluster.scheduler_address.replace("tcp", "dask"))
    threads = dict(n_workers=1, threads_per_worker=2, processes=False, protocol="tcp")
    with LocalCluster(**threads, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address.replace("tcp", "dask")
        try:
            study(address)
        except wb.WorkbenchError as error:
            assert "workers of 2 threads; start some of one thread each: dask worker" in str(error), error
        else:
            raise AssertionError("two threads are not refused")
""",
    "mpi": "study('mpi')",
    "submitit": "study('submitit:local', folder='study')",
}
NEEDED = {"processes": "numpy", "dask": "distributed", "mpi": "mpi4py", "submitit": "submitit"}


def mpiexec():
    """The command of the same environment, or the system's."""
    return shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def made(where, folder):
    """The rows of a study whose formulation, case and metric stand in a script."""
    if find_spec(NEEDED[where]) is None or (where == "mpi" and mpiexec() is None):
        pytest.skip(f"{NEEDED[where]} is not installed: pip install '.[test]'")
    script = folder / "script.py"
    script.write_text(f'{OWN}{STUDY}\nif __name__ == "__main__":\n    {PLACES[where].strip()}\n', "utf-8")
    command = [sys.executable, "script.py", "rows.parquet"]
    if where == "mpi":
        # Root, as in a container, is refused otherwise, and so are more ranks than processors.
        ranks = [mpiexec(), "--allow-run-as-root", "--oversubscribe", "-n", "2"]
        command = [*ranks, sys.executable, "-m", "mpi4py.futures", *command[1:]]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return pd.read_parquet(folder / "rows.parquet")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return made("processes", tmp_path_factory.mktemp("processes"))


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["dask", "mpi", "submitit"])
def test_the_table_is_the_same_wherever_it_is_made(where, rows, tmp_path):
    pd.testing.assert_frame_equal(made(where, tmp_path), rows, check_exact=True)
    if where == "submitit":
        names = {path.name for path in (tmp_path / "study").iterdir()}
        assert names == {"journal-1-of-2.jsonl", "journal-2-of-2.jsonl", "plan.parquet"}


class KilledError(Exception):
    """What an executor raises that replaces its workers by itself."""


def test_units_whose_worker_died_are_made_again_alone_and_one_that_kills_is_reported():
    times = Counter()

    def unit(i):
        times[i] += 1
        if i == 3 or (i == 2 and times[i] == 1):
            raise KilledError(f"{i} was under way")
        return i * i

    with ThreadPoolExecutor(1) as threads:
        found = dict(done(Pool(lambda: nullcontext(threads), 1, KilledError), unit, iter(range(6))))
    assert isinstance(found[3], BrokenExecutor)
    assert {i: x for i, x in found.items() if i != 3} == {0: 0, 1: 1, 2: 4, 4: 16, 5: 25}
    assert times == {0: 1, 1: 1, 2: 2, 3: 2, 4: 1, 5: 1}


class Mortal:
    """An executor that works at once; a unit that kills takes it down, and it takes no more."""

    def __init__(self):
        self.dead = False

    def submit(self, function, unit):
        if self.dead:
            raise BrokenExecutor("it is dead")
        future = Future()
        try:
            future.set_result(function(unit))
        except KilledError as error:
            self.dead = True
            future.set_exception(BrokenExecutor(str(error)))
        return future


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("killers", [{3}, {0, 3, 4, 9}, {9}], ids=str)
def test_every_unit_comes_once_though_executors_break(killers, workers):
    times = Counter()

    def unit(i):
        times[i] += 1
        if i in killers:
            raise KilledError(f"killed by {i}")
        return i * i

    found = list(done(Pool(lambda: nullcontext(Mortal()), workers), unit, iter(range(10))))
    assert sorted(i for i, _ in found) == list(range(10))
    assert {i for i, x in found if isinstance(x, BrokenExecutor)} == killers
    assert all(x == i * i for i, x in found if i not in killers)
    # Once beside others, where it is not lost before it begins, then alone.
    assert all(times[i] - ATTEMPTS in (0, 1) for i in killers)
    assert all(times[i] in (1, 2) for i in range(10) if i not in killers)


def test_few_units_are_under_way_at_once_and_each_comes_as_soon_as_it_is_made():
    taken, most, order, last = 0, 0, [], Event()

    def units():
        nonlocal taken
        while taken < 30:
            taken += 1
            yield taken

    def unit(i):
        # The first one ends when all others have come.
        return i > 1 or last.wait(60)

    with ThreadPoolExecutor(2) as threads:
        for i, found in done(Pool(lambda: nullcontext(threads), 2), unit, units()):
            assert found
            most = max(most, taken - len(order))
            order.append(i)
            if len(order) == 29:
                last.set()
    assert order[-1] == 1
    assert sorted(order) == list(range(1, 31))
    assert most == AHEAD * 2


def test_an_executor_that_has_given_up_ends_the_study_with_what_to_do():
    class Cancelled:
        def submit(self, function, unit):
            future = Future()
            assert future.cancel()
            future.set_running_or_notify_cancel()
            return future

    assert pool_of(Cancelled(), 5).workers == 5
    with pytest.raises(WorkbenchError, match="has stopped; finished runs are kept"):
        list(done(pool_of(Cancelled(), 1), abs, iter(range(3))))


def test_processes_have_one_thread_each_unless_the_environment_says_otherwise(monkeypatch):
    asked = []

    @contextmanager
    def processes(workers, imported):
        asked.append((workers, [os.environ.get(name) for name in THREADS]))
        yield

    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(THREADS[1], "7")
    monkeypatch.setattr(executors, "processes", processes)
    for wanted in (None, "processes"):
        with pool_of(wanted, 5).start():
            pass
        assert [os.environ.get(name) for name in THREADS] == [None, "7", None]
    with pytest.raises(ZeroDivisionError), pool_of(None, 1).start():
        raise ZeroDivisionError
    assert [os.environ.get(name) for name in THREADS] == [None, "7", None]
    assert asked == [(5, ["1", "7", "1"])] * 2 + [(1, ["1", "7", "1"])]


def test_a_program_read_from_standard_input_has_processes_too():
    program = """
from workbench.studies.executors import done, pool_of
print(sorted(done(pool_of(None, 1), abs, iter([-1, 2]))), __file__)
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-"], input=program, env=environment, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("[(-1, 1), (2, 2)] <stdin>\n", "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("threads", "executor 'threads'; it can be processes, dask://HOST:PORT, mpi"),
        ("dask://head", "dask://HOST:PORT, not dask://head"),
        ("mpi", "executor mpi is started by mpiexec -n 3 python -m mpi4py.futures -m workbench"),
    ],
)
def test_executors_that_cannot_be_used_say_what_would_be_right(name, words):
    with pytest.raises(WorkbenchError, match=words):
        pool_of(name, 1)
