"""How far a study is: rates, what workers are at, and what becomes of units whose processes died."""

from concurrent.futures import BrokenExecutor
from types import SimpleNamespace

import workbench as wb
from workbench.comparison.jobs import Settings
from workbench.studies import study as module
from workbench.studies.plan import plan
from workbench.studies.study import Progress, Workers, where


def test_rates_are_of_what_was_made_since_and_of_what_is_left():
    assert (Progress(4, 3, 10, 0.5).rate, Progress(4, 3, 10, 0.5).left) == (6.0, 0.5)
    assert (Progress(4, 0, 10, 9.0).rate, Progress(4, 0, 10, 9.0).left) == (0.0, float("inf"))
    assert (Progress(10, 0, 10, 0.0).rate, Progress(10, 0, 10, 0.0).left) == (0.0, 0.0)


def test_workers_take_the_next_unit_when_they_have_finished(monkeypatch):
    now, said = [0.0], []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    units = [SimpleNamespace(number=k, point=SimpleNamespace(given={"k": k})) for k in range(5)]
    workers = Workers(2)

    def at():
        return [(int(place.removeprefix("k = ")), since) for place, since in workers.under_way()]

    handed = workers.given(iter(units), lambda: said.append(at()))
    for _ in range(4):
        next(handed)
    # The first two are begun at once, which is reported; the others wait.
    assert said == [[(0, 0.0)], [(0, 0.0), (1, 0.0)]]
    now[0] = 7.0
    workers.finished(units[1])
    assert at() == [(0, 0.0), (2, 7.0)]
    # One that was to come is finished elsewhere.
    now[0] = 8.0
    workers.finished(units[3])
    workers.finished(units[0])
    assert at() == [(2, 7.0)]


def test_a_place_is_reported_by_its_values():
    assert where(SimpleNamespace(given={"mu": 0.123456789, "m": 2, "law": "a"})) == "mu = 0.123457, m = 2, law = a"


class Dead:
    """An executor whose processes have died, and die again."""

    def submit(self, function, unit):
        raise BrokenExecutor("dead")


def test_runs_whose_processes_died_crashed_and_are_made_again_where_that_is_wanted(tmp_path):
    given = {"parameters": {"mu": [0.2, 0.3]}, "duration": 0.01, "workers": 1, "folder": tmp_path}
    rows = wb.study("wheel", ["box", "coulomb"], executor=Dead(), **given).rows
    assert set(rows["claimed"]) == {"CRASHED"}
    assert set(rows["reason"]) == {"its process has died, 3 times"}
    assert len(rows[rows["window"] == "all"]) == 4
    said = []
    wb.study("wheel", ["box", "coulomb"], executor=Dead(), retry_failed=True, progress=said.append, **given)
    assert (said[0].kept, said[-1].made, said[-1].total) == (0, 4, 4)
    # Of a shard what is its own is counted, and its rows are a table though others are missing.
    part = wb.study("wheel", "box", executor=Dead(), shard=(2, 2), progress=said.append, **given | {"duration": 0.02})
    assert (said[-1].kept, said[-1].made, said[-1].total) == (0, 1, 1)
    assert set(part.rows["point"]) == {1}


def test_a_run_is_the_same_beside_other_steps_and_with_its_metrics_in_another_order():
    from workbench.comparison.columns import CASE
    from workbench.comparison.result import chosen_metrics

    case, box = wb.cases.find("wheel")(), wb.formulations.find("box")
    first, second = chosen_metrics(CASE, ["position-error", "velocity-error"])

    def keys(steps, *metrics):
        (point,) = plan([case], [box], [wb.solvers.find("keller")], metrics, Settings(steps=steps), [{}])
        return point.keys

    (alone,) = keys((1e-3,), first, second)
    assert keys((5e-4, 1e-3), second, first)[1] == alone
    assert keys((5e-4, 1e-3), first)[1] != alone
