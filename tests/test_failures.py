"""The benchmark of failures, in small: what it records, solves and compares."""

import pytest

from benchmarks.failures import compare, record, solve, table


@pytest.mark.thorough
def test_failures_are_counted_and_answers_compared(tmp_path):
    problems, outs = tmp_path / "problems", {"one": tmp_path / "one", "two": tmp_path / "two"}
    record(problems, runs=1, steps=5, quick=True)
    for out in outs.values():
        solve(problems, out)
    assert [path.stem for path in sorted(problems.iterdir())] == [
        "block+box-bounds_coupled", "block+coulomb", "wedged-box+box-bounds_coupled", "wedged-box+coulomb",
    ]  # fmt: skip
    assert compare(problems, outs) == ["| one | two | 20 | 0 | 0 | 0 () |"]
    rows = [line for line in table(problems, outs).splitlines() if line.startswith("| LCP | lemke |")]
    assert rows == ["| LCP | lemke | 10 | 0 | 0 |"]
