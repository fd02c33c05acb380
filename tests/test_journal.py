"""The journal of a study: records are complete or absent, whatever happens while they are written."""

import os
import tracemalloc
from hashlib import sha256

import numpy as np
import pytest

from tests.journals import Journal, read_journals, write
from workbench.support.errors import WorkbenchError

DIGITS = 16


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as found:
        yield found


def test_numbers_come_back_bit_for_bit(journal):
    row = {"a": 0.1 + 0.2, "b": 5e-324, "c": float("inf"), "d": np.float64(1 / 3), "e": np.True_, "f": "µ\n", "g": 7}
    journal.append([("k", [row | {"h": float("nan")}])])
    assert read_journals(journal.path.parent).rows == {"k": [row]}


def test_a_record_is_written_whole_and_synchronised_however_the_system_parts_it(journal, monkeypatch):
    calls, write, synchronise = [], os.write, os.fdatasync
    monkeypatch.setattr(os, "write", lambda file, content: calls.append("write") or write(file, content[:7]))
    monkeypatch.setattr(os, "fdatasync", lambda file: calls.append("synchronise") or synchronise(file))
    journal.append([("k", [{"a": 1, "b": None}])])
    assert read_journals(journal.path.parent).rows == {"k": [{"a": 1}]}
    assert calls == [*["write"] * (len(calls) - 1), "synchronise"]


def test_how_runs_ended_is_known_without_their_rows(journal):
    ends = {
        "good": "SOLVED SOLVED", "half": "SOLVED REFUSED", "refused": "REFUSED REFUSED", "long": "ITERATION_LIMIT",
        "broken": "SOLVED FAILED", "crashed": "CRASHED CRASHED", "late": "TIME_LIMIT SOLVED",
    }  # fmt: skip
    for key, claims in ends.items():
        journal.append([(key, [{"claimed": x, "verified": x == "SOLVED"} for x in claims.split()])])
    found = read_journals(journal.path.parent)
    assert {key for key, record in found.records.items() if record.verified} == {"good"}
    assert {key for key, record in found.records.items() if record.failed} == {"broken", "crashed", "late"}
    assert found.done(retry_failed=True) == {"good", "half", "refused", "long"}
    assert found.done(retry_failed=False) == set(ends)
    journal.path.write_bytes(b"x\ny\n")
    assert read_journals(journal.path.parent).damaged == {"journal.jsonl": 2}


def test_a_journal_that_is_read_leaves_its_rows_in_the_file(tmp_path):
    write(tmp_path, {str(i): [{"a": float(i), "words": f"{i}" * 5000}] for i in range(300)})
    tracemalloc.start()
    found = read_journals(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000 < (tmp_path / "journal.jsonl").stat().st_size
    assert [found.records[str(i)].rows[0]["a"] for i in (299, 0, 7)] == [299.0, 0.0, 7.0]
    (tmp_path / "journal.jsonl").write_bytes(b"x" * 100)
    with pytest.raises(WorkbenchError, match="has been damaged since it was read"):
        _ = found.records["0"].rows
    (tmp_path / "journal.jsonl").unlink()
    with pytest.raises(WorkbenchError, match="cannot be read"):
        _ = found.records["0"].rows


def test_the_latest_record_of_a_key_counts(journal):
    journal.append([("k", [{"a": 1}]), ("l", [{"a": 2}])])
    journal.append([("k", [{"a": 3}])])
    assert read_journals(journal.path.parent).rows == {"k": [{"a": 3}], "l": [{"a": 2}]}


def test_of_two_journals_the_record_that_was_written_last_counts(tmp_path, monkeypatch):
    """A shard may make again what failed in the whole, and the whole what failed in a shard."""
    for key, at in (("k", {"journal.jsonl": 5.0, "journal-1-of-2.jsonl": 7.0}),
                    ("l", {"journal.jsonl": 9.0, "journal-1-of-2.jsonl": 8.0})):  # fmt: skip
        for name, seconds in at.items():
            monkeypatch.setattr("workbench.studies.journal.time.time", lambda seconds=seconds: seconds)
            with Journal(tmp_path / name) as journal:
                journal.append([(key, [{"a": seconds}])])
    assert read_journals(tmp_path).rows == {"k": [{"a": 7.0}], "l": [{"a": 9.0}]}
    # A clock that was put back does not make the first line of a file the last.
    monkeypatch.setattr("workbench.studies.journal.time.time", lambda: 6.5)
    with Journal(tmp_path / "journal-1-of-2.jsonl") as journal:
        journal.append([("k", [{"a": 6.5}])])
    assert read_journals(tmp_path).rows["k"] == [{"a": 6.5}]


def test_of_records_of_one_moment_that_of_the_last_file_counts(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.studies.journal.time.time", lambda: 5.0)
    for name in ("journal.jsonl", "journal-1-of-2.jsonl"):
        with Journal(tmp_path / name) as journal:
            journal.append([("k", [{"a": name}])])
    assert read_journals(tmp_path).rows == {"k": [{"a": "journal.jsonl"}]}


def test_a_record_that_is_gone_since_it_was_read_is_reported(journal):
    journal.append([("k", [{"a": 1}])])
    record = read_journals(journal.path.parent).records["k"]
    journal.path.write_bytes(b"something else\n")
    with pytest.raises(WorkbenchError, match="has been damaged since it was read; the same command resumes"):
        _ = record.rows
    journal.path.unlink()
    with pytest.raises(WorkbenchError, match=r"journal\.jsonl' cannot be read: No such file"):
        _ = record.rows


def test_what_is_no_record_counts_as_damage_though_its_digest_fits(tmp_path):
    contents = [b"[]", b"{}", b'["key", "at", "rows"]', b'{"key": "k", "at": 1}']
    lines = [sha256(content).hexdigest()[:DIGITS].encode() + b" " + content + b"\n" for content in contents]
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines))
    assert (read_journals(tmp_path).records, read_journals(tmp_path).damaged) == ({}, {"journal.jsonl": len(contents)})


def test_a_journal_that_cannot_be_opened_is_reported(tmp_path):
    with pytest.raises(WorkbenchError, match=r"cannot write to '.*journal\.jsonl': No such file or directory"):
        Journal(tmp_path / "nowhere" / "journal.jsonl")
    (tmp_path / "journal.jsonl").mkdir()
    with pytest.raises(WorkbenchError, match=r"journal\.jsonl' cannot be read: Is a directory"):
        read_journals(tmp_path)


def test_a_record_that_was_cut_off_or_changed_is_absent_and_reported(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append([(key, [{"a": i}]) for i, key in enumerate("klm")])
    whole = path.read_bytes()
    first, second = (len(line) for line in whole.splitlines(keepends=True)[:2])
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=60):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        found = read_journals(tmp_path)
        lost = "k" if place < first else "l" if place < first + second else "m"
        assert lost not in found.rows or place in (first - 1, first + second - 1)
        assert sum(found.damaged.values()) >= 1
        assert len(found.rows) >= 1
    for length in (1, *rng.integers(1, len(whole), size=30)):
        path.write_bytes(whole[:length])
        assert len(read_journals(tmp_path).rows) == whole[:length].count(b"\n")
        # What is written later stands on a line of its own; it ends a record that misses nothing but that.
        with Journal(path) as journal:
            journal.append([("new", [{}])])
        assert len(read_journals(tmp_path).rows) == (whole[:length] + b"\n").count(b"}]}\n") + 1


def test_two_processes_do_not_write_to_one_journal(journal):
    with pytest.raises(WorkbenchError, match="another process is using"):
        Journal(journal.path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_a_full_disk_is_reported_and_takes_nothing_back(tmp_path, journal, monkeypatch):
    journal.append([("k", [{"a": 1}])])
    with open("/dev/full", "wb", buffering=0) as full:
        write = os.write

        def half(file, content):
            # Half of it still fits.
            write(file, content[: len(content) // 2])
            return write(full.fileno(), content)

        monkeypatch.setattr("workbench.studies.journal.os.write", half)
        with pytest.raises(WorkbenchError, match="No space left on device; finished runs are kept"):
            journal.append([("l", [{"a": 2}])])
        monkeypatch.undo()
    journal.append([("m", [{"a": 3}])])
    assert read_journals(tmp_path).rows == {"k": [{"a": 1}], "m": [{"a": 3}]}
    assert read_journals(tmp_path).damaged == {}
