"""`solve --out FOLDER` keeps each finished row as it comes, and goes on where it was interrupted."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.journals import kept, write
from workbench.algorithms import find_solver
from workbench.algorithms.tuning import UNTUNED, Tuning
from workbench.cli.main import main
from workbench.comparison import solving
from workbench.studies.problem_files import resumed
from workbench.verbs.find import find_formulation


@pytest.fixture
def problems(tmp_path, monkeypatch):
    """Three LCPs and a file that cannot be read, in a folder beside which results are written."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "problems"
    folder.mkdir()
    for i in range(3):
        np.savez(folder / f"{i}.npz", M=[[2.0, 1.0], [1.0, 2.0 + i]], q=[-5.0, -6.0])
    (folder / "x.npz").write_text("nothing")
    return folder


def made(monkeypatch, fails_at=None, error=KeyboardInterrupt):
    """The files of which rows are made from now on; at one of them an interruption comes."""
    names, row_of = [], solving.solve_row

    def counted(path, *rest, **others):
        if path.name == fails_at:
            raise error
        names.append(path.name)
        return row_of(path, *rest, **others)

    monkeypatch.setattr(solving, "solve_row", counted)
    return names


def timeless(path):
    return pd.read_csv(path).drop(columns=["build_time", "solve_time"])


def test_an_interrupted_command_goes_on_and_comes_to_the_same(problems, tmp_path, monkeypatch, capsys):
    assert main(["solve", "problems", "--out", "whole"]) == 0
    with monkeypatch.context() as m:
        made(m, "2.npz")
        with pytest.raises(SystemExit) as end:
            main(["solve", "problems", "--out", "part"])
    assert end.value.code == 130
    said = "workbench: interrupted; finished rows are kept in 'part/journal.jsonl'; the same command resumes\n"
    assert capsys.readouterr().err == said
    assert [path.name for path in (tmp_path / "part").iterdir()] == ["journal.jsonl"]
    with monkeypatch.context() as m:
        names = made(m)
        assert main(["solve", "problems", "--out", "part"]) == 0
    assert names == ["2.npz", "x.npz"]
    assert capsys.readouterr().out.startswith("2 of 4 rows were kept from before, in 'part/journal.jsonl'.")
    pd.testing.assert_frame_equal(timeless("part/results.csv"), timeless("whole/results.csv"), check_exact=True)
    assert (tmp_path / "part" / "provenance.json").exists()
    # Nothing is left to do, and rows for programs are those of the first time, times included.
    rows = (tmp_path / "part" / "results.csv").read_bytes()
    with monkeypatch.context() as m:
        names = made(m)
        capsys.readouterr()
        assert main(["solve", "problems", "--out", "part", "--json"]) == 0
    assert names == []
    assert list(json.loads(capsys.readouterr().out)[0]) == list(solving.COLUMNS)
    assert (tmp_path / "part" / "results.csv").read_bytes() == rows


def test_rows_of_a_changed_file_another_solver_or_a_failure_are_made_again(problems, monkeypatch):
    with monkeypatch.context() as m:
        made(m, "1.npz", error=RuntimeError)
        with pytest.raises(RuntimeError):
            main(["solve", "problems", "--out", "out"])
    names = made(monkeypatch)
    assert main(["solve", "problems", "--out", "out"]) == 0
    assert names == ["1.npz", "2.npz", "x.npz"]
    np.savez(problems / "0.npz", M=[[3.0, 1.0], [1.0, 2.0]], q=[-5.0, -6.0])
    assert main(["solve", "problems", "--out", "out"]) == 0
    assert names[3:] == ["0.npz"]
    assert main(["solve", "problems", "--out", "out", "--solver", "lemke"]) == 0
    assert len(names) == 8
    journal = (problems.parent / "out" / "journal.jsonl").read_bytes()
    assert journal.count(b"\n") == 9


def test_a_row_that_broke_is_made_again_and_one_without_an_answer_is_not(problems, monkeypatch):
    solve = solving.solve_problem

    def broken(problem, *rest):
        if problem.M[1, 1] == 3.0:
            raise MemoryError
        return solve(problem, *rest)

    with monkeypatch.context() as m:
        m.setattr(solving, "solve_problem", broken)
        assert main(["solve", "problems", "--out", "out"]) == 0
    assert "FAILED" in set(pd.read_csv("out/results.csv")["claimed"])
    names = made(monkeypatch)
    assert main(["solve", "problems", "--out", "out"]) == 0
    assert names == ["1.npz"]


@pytest.mark.parametrize(("claimed", "again"), [("CRASHED", True), ("FAILED", True), ("TIME_LIMIT", False)])
def test_what_broke_is_made_again_and_what_was_late_is_late_at_the_same_limit(claimed, again, problems, monkeypatch):
    assert main(["solve", "problems", "--out", "out"]) == 0
    (key, rows), *_ = ((key, rows) for key, (_, rows) in kept(Path("out")).items() if rows[0]["file"].endswith("0.npz"))
    write(Path("out"), {key: [row | {"claimed": claimed} for row in rows]})
    names = made(monkeypatch)
    assert main(["solve", "problems", "--out", "out"]) == 0
    assert names == (["0.npz"] if again else [])


def test_a_row_is_kept_before_it_is_handed_out(problems):
    box, folder = find_formulation("box"), problems.parent / "out"
    tasks = [(problems / f"{i}.npz", box, None, False, UNTUNED) for i in (0, 1)]
    with resumed(tasks, None, folder) as (there, rows):
        assert (there, next(rows)["file"]) == (0, str(problems / "0.npz"))
        assert len(kept(folder)) == 1
    with resumed(tasks, None, folder) as (there, _):
        assert there == 1


def test_whatever_determines_a_row_decides_whether_it_is_kept(problems, monkeypatch):
    path, coulomb, folder = problems / "0.npz", find_formulation("coulomb"), problems.parent / "out"

    def make(*tasks):
        with resumed(tasks, None, folder) as (_, rows):
            assert len(list(rows)) == len(tasks)

    def is_kept(task, limit=None):
        with resumed([task], limit, folder) as (there, _):
            return there == 1

    plain, by_lemke = (path, coulomb, None, False, UNTUNED), (path, coulomb, "lemke", False, UNTUNED)
    gone = (problems / "gone", coulomb, None, False, UNTUNED)
    make(plain, by_lemke, gone)
    assert all(map(is_kept, (plain, by_lemke, gone)))
    assert not is_kept(plain, limit=1.0)
    # The row has the file's name; what cannot be read is not empty.
    for name, content in (("copy", path.read_bytes()), ("gone", b"")):
        (problems / name).write_bytes(content)
    for other in (
        (problems / "1.npz", coulomb, None, False, UNTUNED), (problems / "copy", coulomb, None, False, UNTUNED), gone,
        (path, find_formulation("box"), None, False, UNTUNED), (path, find_formulation("ccp"), None, False, UNTUNED),
        (path, coulomb, "keller", False, UNTUNED), (path, coulomb, None, True, UNTUNED),
        (path, coulomb, None, False, Tuning(tolerance=1e-3)), (path, coulomb, None, False, Tuning(max_iterations=7)),
        (path, coulomb, None, False, Tuning(start=np.ones(2))),
    ):  # fmt: skip
        assert not is_kept(other), other
    for code in (None, coulomb.build, type(find_solver("lemke"))):
        with monkeypatch.context() as m:
            m.setattr(
                "workbench.studies.problem_files.digest_of",
                lambda *things, code=code: "other" if code in things else "this",
            )
            assert not is_kept(by_lemke), code
            make(by_lemke)
            assert is_kept(by_lemke)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_a_full_disk_is_a_line_and_costs_no_finished_row(problems, monkeypatch, capsys):
    with monkeypatch.context() as m, open("/dev/full", "wb", buffering=0) as full:
        write, count = os.write, []

        def third(file, content):
            count.append(file)
            return write(file if len(count) < 3 else full.fileno(), content)

        m.setattr("workbench.studies.journal.os.write", third)
        assert main(["solve", "problems", "--out", "out"]) == 2
    assert "No space left on device; finished runs are kept" in capsys.readouterr().err
    names = made(monkeypatch)
    assert main(["solve", "problems", "--out", "out"]) == 0
    assert names == ["2.npz", "x.npz"]


def test_nothing_is_left_of_a_command_that_kept_nothing(problems, monkeypatch, capsys):
    made(monkeypatch, "0.npz")
    assert main(["solve", "problems", "--out", "new/out"]) == 130
    assert capsys.readouterr().err == "workbench: interrupted, nothing was written\n"
    assert not (problems.parent / "new").exists()
    # A folder that was there before stays.
    mine = problems.parent / "mine"
    mine.mkdir()
    with resumed([], None, mine), resumed([], None, problems.parent / "new"):
        pass
    assert list(mine.iterdir()) == []
    assert not (problems.parent / "new").exists()
