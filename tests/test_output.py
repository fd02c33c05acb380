"""Folders that are written whole, JSON that programs can read, and rows that say why they are not verified."""

import errno
import json
import os
import platform
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from workbench.algorithms.base import EXACT
from workbench.builtin.reports.pages.comparison import remove_others
from workbench.comparison.files import compare_problem
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.solution import Solution, Status
from workbench.support.errors import WorkbenchError
from workbench.support.output import json_rows, json_text, replaced, staged, write_json
from workbench.verbs.find import find_formulation
from workbench.verbs.solve import solve


def test_staging_replaces_whole_files_or_nothing(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "kept.txt").write_text("old")

    def interrupted():
        with staged(out) as stage:
            (stage / "kept.txt").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert (out / "kept.txt").read_text() == "old"
    with staged(out) as stage:
        (stage / "kept.txt").write_text("new")
        (stage / "sub").mkdir()
        (stage / "sub" / "more.txt").write_text("x")
    assert (out / "kept.txt").read_text() == "new"
    assert (out / "sub" / "more.txt").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize("call", ["chmod", "replace"])
def test_a_disk_that_is_full_at_the_last_moment_leaves_the_old_file_and_says_so(call, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "table.csv"
    path.write_text("old")
    monkeypatch.setattr(Path, call, full)
    says = pytest.raises(WorkbenchError, match=r"^cannot write to '.*table.csv': No space .*; make room there$")
    with says, replaced(path) as stage:
        stage.write_text("new")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"table.csv": "old"}


def test_what_another_comparison_has_left_goes_or_the_disk_is_named(tmp_path, monkeypatch):
    nothing = SimpleNamespace(case=None, scene=None, motion=None, problem=None)
    old = [tmp_path / "bodies.csv", tmp_path / "onward.parquet", tmp_path / "runs.csv"]
    for path in old:
        path.write_text("old")
    remove_others(nothing, tmp_path, None)
    assert [p.name for p in tmp_path.iterdir()] == ["runs.csv"]

    def broken(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "unlink", broken)
    with pytest.raises(WorkbenchError, match=r"^cannot write to '.*': Input/output error; choose another disk$"):
        remove_others(nothing, tmp_path, None)


def test_a_folder_may_be_a_disk_of_its_own(tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    replace = os.replace

    def across(source, target):
        if out not in Path(source).parents or out not in Path(target).parents:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        replace(source, target)

    monkeypatch.setattr(os, "replace", across)
    with staged(out) as stage:
        (stage / "sub").mkdir()
        (stage / "sub" / "more.txt").write_text("x")
    assert [p.name for p in out.iterdir()] == ["sub"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_what_killed_processes_have_left_goes(tmp_path):
    out, node = tmp_path / "out", platform.node()
    dead, alive = f".out-{node}-99999999-0", f".out-{node}-{os.getpid()}-0"
    for name in (dead, alive, f"out/{dead}", f"out/{alive}", f"out/.other-{node}-99999999-0"):
        (tmp_path / name).mkdir(parents=True)
    with staged(out) as stage:
        (stage / "x").write_text("")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["out", alive])
    assert sorted(p.name for p in out.iterdir()) == sorted(["x", alive, f".other-{node}-99999999-0"])


def parsed(text):
    """As strict readers of JSON do, which know no Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_what_is_not_finite_becomes_null(tmp_path):
    data = {
        "a": [1.5, np.inf, np.float32("nan")],
        "b": {"c": (-np.inf, True)},
        "d": np.array([1, 2]),
        "e": np.bool_(True),
    }
    plain = {"a": [1.5, None, None], "b": {"c": [None, True]}, "d": [1, 2], "e": True}
    assert parsed(json_text(data)) == plain
    write_json(tmp_path / "x.json", data | {"path": tmp_path})
    assert parsed((tmp_path / "x.json").read_text()) == plain | {"path": str(tmp_path)}
    frame = pd.DataFrame(
        {"x": [1.0, np.inf, np.nan], "n": pd.array([1, None, 3], dtype="Int64"), "t": ["a", None, "c"]}
    )
    assert parsed(json_rows(frame)) == [
        {"x": 1.0, "n": 1, "t": "a"}, {"x": None, "n": None, "t": None}, {"x": None, "n": 3, "t": "c"}
    ]  # fmt: skip


class Optimist:
    """Claims SOLVED whatever it hands back."""

    name, guaranteed_for, tolerance = "optimist", "nothing", EXACT
    solves = frozenset({"conic QP"})

    def why_not(self, problem):
        return None

    def solve(self, problem):
        z = np.zeros(problem.size)
        return Solution(z, Status.SOLVED, float(problem.residual(z)), EXACT, 0, 0.0, self.name)


def test_who_claims_a_solution_that_is_none_is_reported_why():
    problem = FrictionProblem(np.eye(3), np.array([-2.0, 4.0, 3.0]), np.array([0.5]), 2)
    ccp, coulomb = find_formulation("ccp"), find_formulation("coulomb")
    row = compare_problem("p", problem, [ccp], coulomb, [Optimist()]).runs.iloc[0]
    assert (row["claimed"], row["verified"]) == ("INACCURATE", False)
    assert (
        row["reason"] == f"optimist claims SOLVED, and the residual {row['residual']:.1e} is above the tolerance 1e-09"
    )
    assert any("is above the tolerance" in sentence for sentence in solve(problem, ccp, Optimist()).words)
    assert compare_problem("p", problem, [ccp], coulomb).runs["reason"].iloc[0] == ""
