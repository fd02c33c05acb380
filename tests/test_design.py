"""What a study varies: lists, grids, quantities that go together, and samples."""

import numpy as np
import pytest

from workbench.studies.design import Range, Sample, points, together, varied
from workbench.support.errors import DataError


def test_values_are_lists_grids_and_ranges():
    assert varied("mu", "0.1,0.3").values == ((0.1,), (0.3,))
    assert [x for (x,) in varied("mu", "0:1:5").values] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert [x for (x,) in varied("k", "1e-2:1e2:5:log").values] == pytest.approx([1e-2, 1e-1, 1, 10, 100], rel=1e-14)
    assert varied("mu", "0.1:0.9") == Range("mu", 0.1, 0.9)
    assert varied("mu", (0.1, 0.9)) == Range("mu", 0.1, 0.9)
    assert varied("axes", "fixed,sliding").values == (("fixed",), ("sliding",))
    assert varied("scheme", "moreau-jean:theta=0.7,midpoint").values == (("moreau-jean:theta=0.7",), ("midpoint",))
    assert varied("mu", np.linspace(0, 1, 3)).values == ((0.0,), (0.5,), (1.0,))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("0.9:0.1:3", "the smaller one first"), ("0:1:1", "a whole number from 2"), ("0:1:2.5", "a whole number"),
        ("0:1:4:log", "a positive number"), ("1:2:3:4", "low:high:number"), ([], "no value"),
        ("0:1:9999999", "from 2 to"), ("1:1:3", "the smaller one first"),
        ((float("-inf"), 1.0), "two finite numbers"), ((0.0, float("inf")), "two finite numbers"),
    ],
)  # fmt: skip
def test_values_that_make_no_sense_are_refused(values, words):
    with pytest.raises(DataError, match=words):
        varied("mu", values)


def test_grids_are_all_pairs_and_quantities_go_together():
    found = points([varied("mu", "1,2"), together({"m": [3, 4], "R": [5, 6]})], [], None)
    assert [(p["mu"], p["m"], p["R"]) for p in found] == [(1, 3, 5), (1, 4, 6), (2, 3, 5), (2, 4, 6)]
    with pytest.raises(DataError, match="equally many values; there are: m 2, R 1"):
        together({"m": [3, 4], "R": [5]})
    with pytest.raises(DataError, match="mu is varied twice"):
        points([varied("mu", "1,2"), varied("mu", "3")], [], None)
    with pytest.raises(DataError, match="at most 1000000 are possible"):
        points([varied("a", "0:1:2000"), varied("b", "0:1:2000")], [], None)


def test_numbers_of_numpy_become_those_of_python_and_one_value_is_no_range():
    ((x,), (word,)) = varied("mu", [np.float64(0.5), "fixed"]).values
    assert (type(x), word) == (float, "fixed")
    assert varied("mu", (0.5,)).values == ((0.5,),)
    with pytest.raises(DataError, match="needs its values, not a range"):
        together({"m": "0.1:0.9", "R": [5]})


@pytest.mark.parametrize(
    ("ranges", "sample", "words"),
    [
        ([Range("a", 0, 1)], None, "a is a range"), ([], Sample("lhs", 4), "needs a range"),
        ([Range("a", 0, 1)], Sample("halton", 4), "it can be sobol, lhs, random"),
        ([Range("a", 0, 1)], Sample("lhs", 0), "a sample of 0 points"),
        ([Range("a", 0, 1)], Sample("lhs", 600_000), "a study of 1200000 points"),
    ],
)  # fmt: skip
def test_samples_that_make_no_sense_are_refused(ranges, sample, words):
    with pytest.raises(DataError, match=words):
        points([varied("mu", "1,2")], ranges, sample)


@pytest.mark.parametrize("method", ["sobol", "lhs", "random"])
def test_a_sample_has_as_many_points_as_are_wanted(method):
    found = points([varied("mu", "1,2")], [Range("a", 2.0, 4.0)], Sample(method, 6))
    assert [p["mu"] for p in found] == [1.0] * 6 + [2.0] * 6
    assert [p["a"] for p in found[:6]] == [p["a"] for p in found[6:]]
    assert len({p["a"] for p in found}) == 6
    assert all(2 <= p["a"] <= 4 for p in found)


@pytest.mark.parametrize("method", ["sobol", "lhs"])
def test_samples_fill_their_ranges_evenly(method):
    ranges = [Range("a", 2.0, 4.0), Range("b", 1e-3, 1e3, log=True)]
    found = points([], ranges, Sample(method, 64))
    shares = np.array([p["a"] for p in found]) / 2 - 1, (np.log10([p["b"] for p in found]) + 3) / 6
    for share in shares:
        assert sorted(np.floor(64 * share)) == list(range(64))
    # Together they fill the square: half of its cells at least have a point.
    assert len(set(zip(*(np.floor(8 * share) for share in shares), strict=True))) >= 32
    assert points([], ranges, Sample(method, 64)) == found
    assert points([], ranges, Sample(method, 64, seed=1)) != found
