"""What a study's rows come to: tables that other programs read, and what is claimed of rows and of orders."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest

import workbench as wb
from tests.journals import write
from workbench.comparison.columns import CASE
from workbench.comparison.result import chosen_metrics
from workbench.studies import long_table
from workbench.studies.convergence import order
from workbench.studies.study import Study
from workbench.studies.tables import by_variant, errors_of, first_window, is_option, orders, shown_columns

METRICS = chosen_metrics(CASE, None)
H = 1e-3 * 0.5 ** np.arange(6)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A study of two points, and the table that it has written."""
    folder = tmp_path_factory.mktemp("study")
    with ThreadPoolExecutor(1) as here:
        given = {"parameters": {"mu": [0.2, 0.3]}, "duration": 0.01, "reference_step": 5e-4, "executor": here}
        found = wb.study("wheel", ["box", "coulomb"], workers=1, **given)
    found.write(folder)
    return found.rows, folder / "rows.parquet"


def polars(path):
    import polars

    frame = polars.read_parquet(path)
    return frame.columns, frame.filter(polars.col("label") == "box")["mu"].to_list(), frame["velocity_error"].to_list()


def duckdb(path):
    import duckdb

    whole = duckdb.sql(f"FROM '{path}'")
    of_box = duckdb.sql(f"SELECT mu FROM '{path}' WHERE label = 'box'").fetchall()
    return whole.columns, [mu for (mu,) in of_box], [x for (x,) in whole.select("velocity_error").fetchall()]


@pytest.mark.thorough
@pytest.mark.parametrize("reader", [polars, duckdb])
def test_other_programs_read_the_rows(written, reader):
    if importlib.util.find_spec(reader.__name__) is None:
        pytest.skip(f"{reader.__name__} is not installed")
    rows, path = written
    names, mu, errors = reader(path)
    assert list(names) == list(rows)
    assert mu == rows.query("label == 'box'")["mu"].tolist()
    assert [np.nan if x is None else x for x in errors] == pytest.approx(
        rows["velocity_error"].tolist(), abs=0, nan_ok=True
    )


def test_units_are_in_the_schema(written):
    rows, path = written
    said = parquet.read_table(path).schema.pandas_metadata["attributes"]["columns"]
    assert said == rows.attrs["columns"]
    assert said["window_start"]["unit"] == "s"


class Row(dict):
    """A row that counts those that there are."""

    alive, most = 0, 0

    def __init__(self, *given):
        super().__init__(*given)
        Row.alive += 1
        Row.most = max(Row.most, Row.alive)

    def __del__(self):
        Row.alive -= 1


NAN = float("nan")
KINDS = {
    "whole": [1, 2], "holed": [3, None, NAN], "sum": [0.1 + 0.2, 5e-324, -1 / 3], "mixed": [2, 0.5, float("inf")],
    "word": ["", "a,b", 'µ"\n', None, NAN], "sure": [True, False], "unsure": [True, False, None, NAN],
    "nothing": [None],
}  # fmt: skip


@pytest.mark.parametrize("count", [1, 6, 7, 40])
def test_a_long_table_is_that_of_pandas_and_holds_a_batch_at_once(count, tmp_path, monkeypatch):
    monkeypatch.setattr(long_table, "BATCH", 7)

    def rows(kind=dict):
        rng = np.random.default_rng(count)
        for _ in range(count):
            row = {name: values[rng.integers(len(values))] for name, values in KINDS.items()}
            yield kind({name: x for name, x in row.items() if x is not None or rng.integers(2)})

    # What is None has no type to pandas.
    present = [{name: x for name, x in row.items() if x is not None} for row in rows()]
    whole = pd.DataFrame(present, columns=list(KINDS))
    whole.attrs["columns"] = {name: {"unit": name} for name in KINDS}
    whole.to_parquet(tmp_path / "whole.parquet", index=False)
    whole.to_csv(tmp_path / "whole.csv", index=False)
    table = long_table.LongTable(lambda: rows(Row), whole.attrs["columns"])
    Row.most = 0
    table.write(tmp_path / "rows.parquet", tmp_path / "rows.csv")
    assert Row.most <= 8
    found, wanted = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("rows", "whole"))
    assert found.equals(wanted)
    assert pd.read_parquet(tmp_path / "rows.parquet").attrs == whole.attrs
    assert (tmp_path / "rows.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    some = table.frame(["sum", "word"])
    pd.testing.assert_frame_equal(some, pd.read_parquet(tmp_path / "whole.parquet")[["sum", "word"]], check_exact=True)
    assert some.attrs["columns"] == {"sum": {"unit": "sum"}, "word": {"unit": "word"}}


def test_values_of_several_kinds_are_text_and_no_rows_a_table():
    table = long_table.LongTable(lambda: iter([{"a": 4}, {"a": "auto"}, {}, {"a": True}]), {"a": {}})
    assert table.frame()["a"].tolist()[:2] == ["4", "auto"]
    assert table.frame()["a"].isna().tolist() == [False, False, True, False]
    assert long_table.LongTable(lambda: iter(()), {"a": {}}).frame().shape == (0, 1)


def test_rows_that_failed_are_made_again_where_that_is_wanted(tmp_path):
    said = []
    with ThreadPoolExecutor(1) as here:
        given = {"parameters": {"mu": [0.2]}, "duration": 0.01, "reference_step": 5e-4, "executor": here, "workers": 1}
        given |= {"folder": tmp_path, "progress": said.append}
        found = wb.study("wheel", ["box", "coulomb"], **given)
        (key, *_) = found.study.points[0].keys
        write(tmp_path, {key: [row | {"claimed": "FAILED", "verified": False} for row in found.kept.rows[key]]})
        wb.study("wheel", ["box", "coulomb"], **given)
        assert said[-1].made == 0
        again = wb.study("wheel", ["box", "coulomb"], retry_failed=True, **given)
    assert (said[-1].kept, said[-1].made) == (1, 1)
    assert again.rows["verified"].all()


def test_a_shard_is_every_nth_point_from_the_ith():
    shards = [Study(tuple("abcdefg"), None, (), {}, (i, 3)).own for i in (1, 2, 3)]
    assert [[point for _, point in own] for own in shards] == [["a", "d", "g"], ["b", "e"], ["c", "f"]]
    assert shards[1] == [(1, "b"), (4, "e")]


def frame(rows, names="case label solver step window point verified velocity_error cost"):
    return pd.DataFrame(rows, columns=names.split())


def test_tables_are_over_the_first_window_and_each_solver_by_itself():
    rows = frame([
        ("c", "a", "s", 1e-3, "early", 0, True, 0.1, 1.0),
        ("c", "a", "s", 1e-3, "early", 1, True, 0.3, 3.0), ("c", "a", "t", 1e-3, "early", 1, False, 0.7, 3.0),
        ("c", "a", "s", 1e-3, "all", 0, True, 9.0, 9.0), ("d", "a", "s", 1e-3, "all", 0, True, 0.4, 2.0),
    ])  # fmt: skip
    first = first_window(rows)
    assert first["window"].tolist() == ["early", "early", "early", "all"]
    table = by_variant(first, errors_of(METRICS, first))
    assert table["velocity_error_worst"].tolist() == [0.3, 0.7, 0.4]
    assert table["unverified"].tolist() == [0.0, 1.0, 0.0]
    assert table["points"].tolist() == [2, 1, 1]
    # Points are counted, however many rows they have; variants come in the order of the rows.
    assert by_variant(rows, [])["points"].tolist() == [2, 1, 1]
    assert by_variant(rows[::-1], [])["case"].tolist() == ["d", "c", "c"]


def test_orders_are_those_of_verified_rows_of_the_first_solver():
    variants = (("s", True, 1.0), ("s", False, 1e3), ("t", True, 1e-3))
    rows = frame([
        ("c", "a", solver, h, "all", k, verified, factor * h ** (1 if solver == "s" else 2), 1.0)
        for h in H for k, (solver, verified, factor) in enumerate(variants)
    ])  # fmt: skip
    rows.loc[~rows["verified"], "velocity_error"] = 1.0
    (column,) = errors_of(METRICS, rows)
    ((case, label, found),) = orders(rows, column)
    assert (case, label, found.steps) == ("c", "a", 6)
    assert (found.p, found.limit) == (pytest.approx(1.0), 0.0)
    assert orders(rows[rows["step"] == H[0]], column) == []


def test_orders_know_the_reference_of_each_point_and_need_two_steps():
    errors = H * (1 + 0.1 * np.sin(np.arange(6)))
    own = np.array([np.full(6, NAN), errors, 2 * errors])
    rows = [("c", "a", "s", h, "all", k, True, own[k, i], 1.0) for i, h in enumerate(H) for k in range(3)]
    rows += [("c", "twice", "s", h, "all", 1, True, h, 1.0) for h in H[:2]]
    rows = frame([*rows, ("c", "once", "s", H[0], "all", 0, True, 1.0, 1.0)])
    (column,) = errors_of(METRICS, rows)
    # The first point has no errors, and its reference does not count; the largest of a point's does.
    known = rows["point"].map({0: 1.0, 1: 0.003, 2: 0.006}) * rows["step"]
    for given in (rows, rows.assign(velocity_reference=known)):
        found = {label: x for _, label, x in orders(given, column)}
        assert list(found) == ["a", "twice"]
        uncertainty = np.array([0.003, 0.006]) * H[0] if given is not rows else None
        assert found["a"] == order(H[::-1], own[1:, ::-1], uncertainty)
    assert found["a"].p_low < order(H, own[1:]).p_low
    assert (found["twice"].steps, found["twice"].p) == (2, pytest.approx(1.0))
    assert [label for _, label, _ in orders(rows[rows["step"] >= H[1]], column)] == ["a", "twice"]


def test_errors_are_those_with_a_value_somewhere_in_their_order():
    rows = frame([("c", "a", "s", 1e-3, "all", k, True, [NAN, 0.1][k], 1.0) for k in (0, 1)])
    rows = rows.assign(friction_error=NAN, local_velocity_error=[NAN, 0.3], path_error=1e-3, position_error=0.2)
    found = errors_of(METRICS, rows)
    # First the one by which comparisons rank.
    assert [c.name for c in found] == ["path_error", "velocity_error", "local_velocity_error"]
    assert not any(c.heading.endswith("error") for c in found)


def test_an_option_is_named_by_a_formulation_and_a_dot():
    rows = pd.DataFrame({"formulation": ["box", "ccp"]})
    assert [is_option(rows, name) for name in ("box.bounds", "box", "relax.k_n", "mu")] == [True, False, False, False]


def test_the_page_has_all_that_is_varied_and_of_the_rest_what_it_shows():
    names = [
        "point",
        "mu",
        "relax.k_n",
        "case",
        "label",
        "notes",
        "velocity_error",
        "velocity_reference",
        "rank",
        "mass",
    ]
    shown = ["point", "mu", "relax.k_n", "case", "label", "velocity_error", "velocity_reference"]
    assert shown_columns(iter(names)) == shown


def test_a_limit_is_reported_only_where_the_other_model_fits_worse():
    # A power with scatter: the second model always leaves less, and the F test does not find it better.
    rng = np.random.default_rng(5)
    said = [order(H, H * np.exp(0.05 * rng.standard_normal(H.size))).falls for _ in range(60)]
    assert said.count("limit") <= 8
    # Of three steps the second has no freedom, and decides only where the first finds no order.
    assert order(H[:3], 0.2 + 0.01 * H[:3] / H[0]).falls == "limit"
    assert order(H[:3], 0.2 * H[:3]).falls == "vanishes"


def test_an_error_that_grows_as_the_step_shrinks_comes_to_no_limit():
    for h in (H, H[:3]):
        assert order(h, 0.1 * h**-0.5).falls == "not"
        assert order(h, np.full(h.size, 0.2)).falls == "limit"


def test_intervals_of_many_points_count_the_constants_of_each():
    # Slope and 40 constants from 80 numbers leave 39 of freedom; pairs of lines of slopes 0.9 and 1.1 scatter about 1.
    slopes = np.tile([0.9, 1.1], 20)[:, None]
    found = order(H[[0, 5]], 3 * H[[0, 5]] ** slopes)
    x = np.log(H[5] / H[0])
    # Each pair deviates from the common line by 0.1 x / 2 at both ends.
    width = 2.0227 * np.sqrt(40 * 2 * (0.1 * x / 2) ** 2 / 39 / (40 * x**2 / 2))
    assert (found.p_low, found.p_high) == (pytest.approx(1 - width, abs=1e-4), pytest.approx(1 + width, abs=1e-4))


def test_round_off_has_no_order_and_the_last_error_is_that_of_the_smallest_step():
    errors = np.where(np.arange(6) < 3, 2 * H, 1e-13)
    found = order(H, errors)
    assert (found.steps, found.last) == (3, pytest.approx(2 * H[2]))
    assert found.p == pytest.approx(1.0)


def test_the_uncertainty_of_the_reference_widens_both_ways():
    # Of three steps the other model has no freedom, so that all three fits are of the same one.
    h, errors = H[:3], 3.0 * H[None, :3]
    alone, found = order(h, errors), order(h, errors, np.array([0.02 * h[-1]]))
    assert found.p == alone.p
    assert found.p_low < alone.p_low - 1e-4
    assert found.p_high > alone.p_high + 1e-4
