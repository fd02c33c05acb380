"""What is known of a study from its folder alone, while it is being made."""

import time

import pandas as pd
import pytest

from tests.journals import Journal
from workbench.studies.status import status
from workbench.support.errors import WorkbenchError

PLAN = "plan.parquet"

NOW = 1e6


@pytest.fixture
def at(tmp_path, monkeypatch):
    """Writes records at a time, each of which is a key with what its windows claim."""
    monkeypatch.setattr(time, "time", lambda: NOW)

    def written(seconds, *records, name="journal.jsonl", reason=""):
        with monkeypatch.context() as m, Journal(tmp_path / name) as file:
            m.setattr(time, "time", lambda: seconds)
            for key, *claims in records:
                rows = [{"claimed": x, "verified": x == "SOLVED", "reason": reason} for x in claims]
                file.append([(key, rows)])

    return written


def planned(folder, keys):
    pd.DataFrame({"key": list(keys)}).to_parquet(folder / PLAN)


def test_the_rate_is_that_of_lately_and_reported_only_while_somebody_is_at_work(tmp_path, at):
    planned(tmp_path, "abcdefghij")
    at(NOW - 1000, ("a", "SOLVED"))
    at(NOW - 300, ("b", "SOLVED"))
    at(NOW - 40, ("c", "SOLVED"), ("d", "SOLVED"))
    # Of another plan, and of the future: a clock was put back.
    at(NOW - 20, ("x", "SOLVED"))
    at(NOW + 5, ("e", "SOLVED"))
    assert status(tmp_path) == ["5 of 10 runs are complete.", "No process is running it."]
    with Journal(tmp_path / "journal-1-of-2.jsonl"):
        # Three in 40 s.
        assert status(tmp_path)[1:] == [
            "1 process is running it (journal-1-of-2.jsonl).",
            "0.075 runs per second; about 67 s left.",
        ]
        with Journal(tmp_path / "journal-2-of-2.jsonl"):
            said = "2 processes are running it (journal-1-of-2.jsonl, journal-2-of-2.jsonl)."
            assert status(tmp_path)[1] == said


def test_a_rate_is_reported_of_what_was_made_in_this_moment_and_none_of_what_was_made_long_ago(tmp_path, at):
    planned(tmp_path, "abc")
    with Journal(tmp_path / "journal-1-of-1.jsonl"):
        at(NOW - 301, ("a", "SOLVED"))
        assert len(status(tmp_path)) == 2
        at(NOW, ("a", "SOLVED"), ("b", "SOLVED"))
        assert status(tmp_path)[2:] == ["2 runs per second; about 0 s left."]


def test_runs_that_failed_are_counted_once_each_by_reason_and_the_most_frequent_first(tmp_path, at):
    keys = [f"{reason}{i}" for i in range(7) for reason in range(i + 1)]
    planned(tmp_path, [*keys, "good", "refused"])
    for key in keys:
        at(NOW, (key, "FAILED", "FAILED"), reason=f"reason {key[0]}")
    at(NOW, ("good", "SOLVED", "SOLVED"))
    # An answer that is not verified, or refused, has not failed.
    at(NOW, ("refused", "REFUSED", "ITERATION_LIMIT"), reason="no")
    assert status(tmp_path)[2:] == [f"{7 - i} failed: reason {i}" for i in range(5)]


def test_damage_is_reported_for_each_file(tmp_path, at):
    planned(tmp_path, "ab")
    at(NOW, ("a", "SOLVED"))
    (tmp_path / "journal-1-of-2.jsonl").write_bytes(b"x\n")
    (tmp_path / "journal-2-of-2.jsonl").write_bytes(b"x\ny\n")
    assert status(tmp_path) == [
        "1 of 2 runs are complete.",
        "No process is running it.",
        "1 damaged line in journal-1-of-2.jsonl; these runs will be repeated.",
        "2 damaged lines in journal-2-of-2.jsonl; these runs will be repeated.",
    ]


@pytest.mark.parametrize("content", [b"", b"no parquet", None], ids=["empty", "text", "no key"])
def test_a_plan_that_cannot_be_read_is_reported(content, tmp_path):
    if content is None:
        pd.DataFrame({"mu": [0.3]}).to_parquet(tmp_path / PLAN)
    else:
        (tmp_path / PLAN).write_bytes(content)
    with pytest.raises(WorkbenchError, match=r"holds no study: its plan\.parquet cannot be read"):
        status(tmp_path)


def test_a_folder_without_a_plan_holds_no_study(tmp_path):
    with pytest.raises(WorkbenchError, match=r"holds no study: plan\.parquet is missing"):
        status(tmp_path)
