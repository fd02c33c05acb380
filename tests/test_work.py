"""One unit of work of a study: the rows that are missing, wherever it is made and whatever goes wrong."""

import pickle

import workbench as wb
from tests.refusals import plain
from workbench.comparison.failure import Failed
from workbench.comparison.jobs import Settings
from workbench.studies.plan import plan
from workbench.studies.work import Unit, lost, run_unit
from workbench.support.sources import digest_of

COULOMB = wb.formulations.find("coulomb")
BESIDE = ("case", "label", "solver", "step", "window", "window_start", "window_end", "clipped")


def half_work():
    @wb.metric("half-work", unit="J", meaning="a test")
    def half_work(m):
        return 0.5 * len(m.steps)

    return half_work


def unit(formulations=("box", "frictionless"), missing=(0,), metrics=(), **parameters):
    """The unit of a point of which the runs of these numbers are missing."""
    settings = Settings(steps=(1e-3, 2e-3), duration=0.006, reference_step=5e-4)
    chosen = [f if not isinstance(f, str) else wb.formulations.find(f) for f in formulations]
    case = wb.cases.find("wheel")(**parameters)
    (point,) = plan([case], chosen, [], metrics, settings, [{}])
    return Unit(7, point, COULOMB, tuple(metrics), frozenset(point.keys[k] for k in missing), digest_of())


def test_rows_of_a_lost_unit_are_those_that_it_would_have_made():
    work = unit(missing=(1, 2))
    made, instead = run_unit(work), lost(work, Failed("CRASHED", "its process died"))
    assert [key for key, _ in made] == [key for key, _ in instead] == [work.point.keys[1], work.point.keys[2]]
    for (_, rows), (_, others) in zip(made, instead, strict=True):
        assert [[row[name] for name in BESIDE] for row in rows] == [[row[name] for name in BESIDE] for row in others]
        assert all(row["verified"] for row in rows)
        said = {(row["claimed"], row["reason"], row["verified"]) for row in others}
        assert said == {("CRASHED", "its process died", False)}
    assert {row["window_end"] for _, rows in instead for row in rows} == {0.006}


def test_where_a_point_fails_the_missing_rows_have_the_reason_and_no_others():
    work = unit(missing=(3,), gravity=1e308)
    ((key, rows),) = run_unit(work)
    assert key == work.point.keys[3]
    assert all(not row["verified"] and "the reference run is not verified" in row["reason"] for row in rows)


def test_a_formulation_that_cannot_be_run_costs_no_other_its_rows():
    work = unit(["box", plain(F=lambda s, v, p: p * p)], missing=(0, 1))
    (refused,) = work.point.refused.values()
    (_, good), (_, bad) = run_unit(work)
    assert all(row["verified"] for row in good)
    assert {(row["claimed"], row["reason"], row["solver"]) for row in bad} == {(refused.claimed, refused.reason, "–")}


def test_a_unit_arrives_as_it_was_sent_with_metrics_that_cannot_be_imported():
    work = unit(metrics=(half_work(),), missing=(0, 3))
    found = pickle.loads(pickle.dumps(work))
    assert (found.number, found.missing, found.code) == (work.number, work.missing, work.code)
    assert [key for key, _ in found.wanted] == [work.point.keys[k] for k in (0, 3)]
    rows = [row for _, rows in run_unit(found) for row in rows]
    assert all(row["half_work"] == 0.5 * row["steps"] for row in rows)
