"""Studies: the plan, and that what is resumed equals what was never interrupted."""

import json
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.tables import TIMES
from workbench.cli.main import main
from workbench.comparison.columns import CASE
from workbench.comparison.jobs import Settings
from workbench.comparison.metrics.motion_errors import position_error
from workbench.comparison.result import chosen_metrics
from workbench.studies.executors import pool_of
from workbench.studies.tables import by_scheme, orders
from workbench.support.errors import DataError, UnknownNameError, WorkbenchError

HERE = ThreadPoolExecutor(1)
SHORT = {"duration": 0.01, "reference_step": 5e-4}


def study(**given):
    # In this process, which has imported everything; other processes are those of `test_executors` and `test_progress`.
    given = {"parameters": {"mu": [0.2, 0.3, 0.4]}, "executor": HERE, "workers": 1, **SHORT} | given
    return wb.study("wheel", given.pop("formulations", ["box", "coulomb"]), **given)


def timeless(rows):
    return rows.drop(columns=[*TIMES])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return study(folder=tmp_path_factory.mktemp("whole"))


def test_rows_are_those_of_comparisons(whole):
    for mu in (0.2, 0.4):
        case = wb.cases.find("wheel")(mu=mu)
        runs = wb.compare(case, ["box", "coulomb"], steps=1e-3, **SHORT).runs
        runs = runs[~runs["sampled"]].drop(columns=["body_size", "path_length", "growth"]).reset_index(drop=True)
        rows = whole.rows.query("mu == @mu").reset_index(drop=True)[list(runs)]
        pd.testing.assert_frame_equal(timeless(rows), timeless(runs), check_exact=True)


def test_what_is_varied_are_columns_with_units(whole):
    said = whole.rows.attrs["columns"]
    assert list(whole.rows)[:2] == ["point", "mu"]
    assert said["mu"]["meaning"] == "friction coefficient"
    assert set(whole.rows) <= set(said)


@pytest.mark.thorough
def test_schemes_are_varied_and_have_orders_of_their_own(tmp_path):
    """Rows are those of comparisons under each scheme; what is fitted over the steps is not pooled over schemes."""
    schemes, steps = ["symplectic", "moreau-jean:theta=0.7", "midpoint"], [2e-3, 1e-3, 5e-4]
    words = ["--vary", f"scheme={','.join(schemes)}", f"step={','.join(map(str, steps))}", "-f", "coulomb"]
    main(["study", "block", *words, "--duration", "0.2", "--workers", "1", "--out", str(tmp_path / "x"), "--quiet"])
    rows = pd.read_csv(tmp_path / "x" / "rows.csv")
    rows = rows[rows["window"] == "all"]
    assert rows["scheme"].unique().tolist() == schemes
    for scheme in schemes:
        runs = wb.compare("block", "coulomb", steps=1e-3, duration=0.2, scheme=scheme).runs
        own = rows.query("scheme == @scheme and step == 1e-3")["position_error"]
        assert own.tolist() == pytest.approx(runs.query("window == 'all' and not sampled")["position_error"], abs=1e-15)
    fitted = {label: x.p for _, label, x in orders(by_scheme(rows), position_error.column)}
    assert fitted == pytest.approx({f"coulomb, {x}": p for x, p in zip(schemes, (1, 1, 2), strict=True)}, abs=0.02)
    assert "coulomb, midpoint" in (tmp_path / "x" / "report.html").read_text("utf-8")


def test_a_study_goes_on_where_it_was(whole, tmp_path, monkeypatch):
    study(folder=tmp_path, parameters={"mu": [0.3]})
    made = []
    again = study(folder=tmp_path, progress=made.append)
    assert (made[0].kept, made[-1].made, made[-1].total) == (2, 4, 6)
    pd.testing.assert_frame_equal(timeless(again.rows), timeless(whole.rows), check_exact=True)
    study(folder=tmp_path, progress=made.append)
    assert made[-1].made == 0


def test_shards_make_the_whole(whole, tmp_path):
    for i in (1, 2):
        part = study(folder=tmp_path, shard=(i, 2))
        assert part.whole == (i == 2)
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["journal-1-of-2.jsonl", "journal-2-of-2.jsonl"]
    pd.testing.assert_frame_equal(timeless(part.rows), timeless(whole.rows), check_exact=True)


def test_rows_of_other_versions_do_not_count(whole, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.support.sources._workbench", lambda: "other")
    from workbench.support.sources import digest_of

    digest_of.cache_clear()
    study(folder=tmp_path, parameters={"mu": [0.3]})
    monkeypatch.undo()
    digest_of.cache_clear()
    made = []
    again = study(folder=tmp_path, progress=made.append, parameters={"mu": [0.3]})
    assert (made[0].kept, made[-1].made) == (0, 2)
    assert "2 kept runs of other parameters, settings or versions are not used here." in again.words


def test_workers_of_another_version_end_a_study(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.studies.study.digest_of", lambda: "other")
    with pytest.raises(WorkbenchError, match="have another version of the workbench, or of NumPy"):
        study(folder=tmp_path)
    assert (tmp_path / "journal.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    "changed",
    [{"duration": 0.012}, {"reference_step": 2.5e-4}, {"scheme": "explicit"}, {"normal": "velocity"}, {"steps": 5e-4},
     {"formulations": ["box:bounds=iterated"]}, {"relaxation": "k_n=1e9"}, {"metrics": ["position-error"]}],
)  # fmt: skip
def test_whatever_determines_a_row_is_in_its_key(changed, tmp_path):
    from workbench.verbs.study import study as verb

    def keys(**given):
        settings = {"parameters": {"mu": [0.3]}, "executor": HERE, **SHORT} | given
        formulations = settings.pop("formulations", ["box"])
        monkey = pytest.MonkeyPatch()
        with monkey.context() as m:
            m.setattr("workbench.verbs.study.Study.run", lambda self, *_: None)
            found = verb("wheel", formulations, **settings)
        return {key for point in found.study.points for key in point.keys}

    assert keys() == keys()
    assert not keys() & keys(**changed)


def test_what_is_not_said_is_the_case_s_own():
    """A setting that is not given and one that is given as the case has it make the same run."""
    from workbench.studies.plan import column, plan

    box, cube = wb.formulations.find("box"), wb.cases.find("cube")()

    def point(settings, **place):
        (found,) = plan([cube], [box], [wb.solvers.find("keller")], [], settings, [place])
        return found

    own = Settings(duration=cube.duration, normal=cube.normal, relaxation=cube.relaxation)
    assert point(Settings()).keys == point(own).keys
    assert point(Settings()).settings == own
    # What two columns of `runs` would be called is told apart, and what is asked for twice is run once.
    assert [column(name) for name in ("mu", "solver")] == ["mu", "case.solver"]
    (once,) = plan([cube], [box, box], [wb.solvers.find("keller")], [], Settings(), [{}])
    assert len(once.jobs) == 1
    # What is varied of the compliance leaves the rest of it.
    varied = point(Settings(), **{"relax.k_n": 1e6}).settings.relaxation
    assert varied == cube.relaxation.with_values(k_n=1e6)
    assert varied.b_n == cube.b_n > 0


def test_what_is_run_and_its_code_are_in_its_key(monkeypatch):
    from workbench.studies import plan as room

    kind, box, keller = wb.cases.find("wheel"), wb.formulations.find("box"), wb.solvers.find("keller")
    (metric,), wheel = chosen_metrics(CASE, ["position-error"]), kind()

    def key(case=wheel, formulation=box, solver=keller, code=None):
        monkeypatch.setattr(room, "digest_of", lambda *things: "other" if code in things else "this")
        ((found,),) = (p.keys for p in room.plan([case], [formulation], [solver], [metric], Settings(), [{}]))
        return found

    others = [wb.formulations.find(name) for name in ("ccp", "coulomb", "frictionless")]
    keys = [
        key(), key(kind(mu=0.31)), key(wb.cases.find("sphere")()), key(type("Other", (kind,), {})()),
        *(key(formulation=f) for f in others),
        key(solver=wb.solvers.find("lemke")), key(code=kind), key(code=box.build), key(code=type(keller)),
        key(code=metric.function),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert key() == keys[0]


def test_settings_and_options_are_varied_too():
    given = {"step": "1e-3,5e-4", "stewart-trinkle.directions": [4, 8], "relax.k_n": [1e6]}
    rows = study(parameters=given, formulations="stewart-trinkle").rows
    assert set(rows["label"]) == {"stewart-trinkle", "stewart-trinkle:directions=8"}
    assert set(rows["step"]) == {1e-3, 5e-4}
    assert set(rows["relax.k_n"]) == {1e6}
    assert rows["verified"].all()
    with pytest.raises(UnknownNameError, match=r"quantity to vary 'boxx\.bounds'"):
        study(parameters={"boxx.bounds": [1]})
    with pytest.raises(UnknownNameError, match="parameter 'nu' of wheel; known: v_th, R"):
        study(parameters={"nu": [1]})
    with pytest.raises(DataError, match="not a whole multiple"):
        study(parameters={"step": [7e-4]})
    with pytest.raises(DataError, match=r"step 2 s is longer than the time compared, 1\.98 s"):
        study(parameters={"step": [1e-3, 2.0]}, duration=3.0)


def test_an_option_of_one_formulation_makes_no_other_run_of_another():
    made: list = []
    given = {"stewart-trinkle.directions": [4, 8, 16]}
    rows = study(parameters=given, formulations=["box", "stewart-trinkle"], progress=made.append).rows
    rows = rows[rows["window"] == "all"]
    assert (made[-1].made, made[-1].total) == (4, 4)
    assert rows["label"].tolist() == [
        "box",
        "stewart-trinkle",
        "stewart-trinkle:directions=8",
        "stewart-trinkle:directions=16",
    ]
    assert np.isnan(rows["stewart-trinkle.directions"].iloc[0])
    assert rows["stewart-trinkle.directions"].tolist()[1:] == [4, 8, 16]


def test_a_point_that_fails_is_rows_with_the_reason_and_can_be_made_again(tmp_path):
    found = study(parameters={"gravity": [9.81, 1e308]}, folder=tmp_path)
    rows = found.rows.set_index("gravity")
    assert rows.loc[9.81, "verified"].all()
    assert not rows.loc[1e308, "verified"].any()
    assert (rows.loc[1e308, "reason"] != "").all()


def killer(unit):
    """Takes its process down at one of the points."""
    if unit == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return unit * unit


@pytest.mark.thorough
def test_a_unit_that_kills_its_worker_is_found_and_costs_no_other():
    from workbench.studies.executors import done

    found = dict(done(pool_of(None, 2), killer, iter(range(8))))
    assert {unit: x for unit, x in found.items() if unit != 3} == {unit: unit * unit for unit in range(8) if unit != 3}
    assert "terminated abruptly" in str(found[3])
    for process in multiprocessing.active_children():
        process.join(30)
        assert not process.is_alive()


# The command line


@pytest.mark.thorough
def test_a_metric_from_a_file_goes_to_the_workers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "import workbench as wb\n\n\ndef seven():\n    return 7.0\n\n\n"
        '@wb.metric("seven", unit="1", meaning="always the same")\ndef of_all(m):\n    return seven()\n'
    )
    line = "wheel --vary mu=0.2,0.3 -f box --duration 0.01 --reference-step 5e-4 --metric ./own.py:of_all --out found"
    assert main(["study", *line.split(), "--workers", "2"]) == 0
    assert "2 of 2 runs are complete, 2 of them verified" in capsys.readouterr().out
    assert pd.read_parquet("found/rows.parquet")["seven"].eq(7.0).all()


@pytest.mark.thorough
def test_the_command_line_makes_the_same_as_a_description(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(
        'cases = ["wheel"]\nformulations = ["box"]\nduration = 0.01\nreference_step = 5e-4\nsteps = [1e-3]\n'
        "[vary]\nmu = '0.2,0.3'\n[[together]]\nm = [1.0, 2.0]\nspeed = [5.0, 6.0]\n"
    )
    assert main(["study", "mine.toml", "--workers", "1", "--quiet"]) == 0
    line = "wheel --vary mu=0.2,0.3 --zip m=1,2 speed=5,6 -f box --duration 0.01 --reference-step 5e-4 --out line"
    assert main(["study", *line.split(), "--workers", "1"]) == 0
    assert "4 of 4 runs are complete, 4 of them verified" in capsys.readouterr().out
    first, second = (pd.read_parquet(tmp_path / name / "rows.parquet") for name in ("mine", "line"))
    pd.testing.assert_frame_equal(timeless(first), timeless(second), check_exact=True)
    assert first["speed"].unique().tolist() == [5.0, 6.0]
    assert main(["study", "status", "line"]) == 0
    assert "4 of 4 runs are complete." in capsys.readouterr().out
    assert json.loads((tmp_path / "line" / "provenance.json").read_text())["command"].startswith(
        "workbench study wheel"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "nowhere"], "'nowhere' holds no study: plan.parquet is missing\n"),
        (["status"], "needs the folder"),
        (["wheel", "--vary", "mu"], "NAME=VALUES"),
        (["wheel", "--vary", "mu=0.1:0.9"], "mu is a range"), (["wheel", "--sample", "sobol"], "give a method"),
        (["wheel", "--shard", "3/2"], "counts from 1"), (["none.toml"], "cannot be read"),
        (["wheel", "--zip", "mu=1,2", "m=1"], "equally many values"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["study", *words, "--quiet"]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
