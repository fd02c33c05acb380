"""The benchmarks: the harness that compares peers, the problems they get, and one quick run of everything."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import chosen
from benchmarks.children.siconos_text import friction_text, mlcp_text
from benchmarks.comparisons import COMPARISONS, mlcp, warm
from benchmarks.harness import ROUNDS, Comparison, Failed, Missing, Options, Peer, Task, in_process
from benchmarks.measuring import compare
from benchmarks.peers import ours
from benchmarks.peers.child import Child
from benchmarks.peers.siconos import block_rows
from benchmarks.rows import row_problem
from benchmarks.tables import markdown, profile, summary
from benchmarks.towers import STATES, jacobians, tower, tower_problem
from workbench.algorithms import find_solver
from workbench.problems.classes import LCP, MLCP
from workbench.problems.sets import normals_first
from workbench.readers.files import read_problem_file

ROOT = Path(__file__).parents[1]
EYE = Task("eye", LCP(np.eye(2), [-1.0, 2.0]), "two unknowns")
ANSWER = np.array([1.0, 0.0])


def peer(name, z, seconds=1.0):
    return Peer(name, lambda: lambda task: (z, seconds, ""))


def comparison(*peers, tasks=(EYE,)):
    return Comparison("test", "Test", "", lambda options: list(tasks), peers)


def test_residuals_decide_who_solved_a_problem_and_times_are_compared_with_the_first_peers():
    off, nonsense = np.array([1.0 + 1e-7, 0.0]), np.array([np.nan, 1.0])
    peers = peer("ours", ANSWER), peer("slow", ANSWER, 4.0), peer("off", off, 0.5), peer("nonsense", nonsense, 0.1)
    result = compare(comparison(*peers), Options(quick=True))
    table = summary(result).set_index("peer")
    assert table["solved"].to_dict() == {"ours": 1, "slow": 1, "off": 0, "nonsense": 0}
    assert table["ratio"][["ours", "slow", "off"]].tolist() == [1.0, 4.0, 0.5]
    assert np.isnan(table["ratio"]["nonsense"])
    shares = profile(result).pivot_table(index="factor", columns="peer", values="share")
    assert shares.loc[1.0].to_dict() == {"ours": 1.0, "slow": 0.0, "off": 0.0, "nonsense": 0.0}
    assert shares["slow"][4.0] == 1.0
    text = markdown(compare(comparison(*peers, peer("ours too", ANSWER, 2.0)), Options(quick=True)))
    assert "two unknowns: 4 times as fast as slow, the fastest that solves 90 %." in text


def test_a_missing_peer_is_named_and_one_that_fails_has_a_row_with_the_reason():
    def broken(task):
        raise ZeroDivisionError("no pivot")

    def absent():
        raise ModuleNotFoundError("No module named 'elsewhere'")

    failing = Peer("failing", lambda: in_process(broken))
    result = compare(comparison(peer("ours", ANSWER), failing, Peer("absent", absent)), Options())
    assert result.missing == {"absent": "No module named 'elsewhere'"}
    row = next(r for r in result.rows if r["peer"] == "failing")
    assert row["remark"] == "ZeroDivisionError: no pivot"
    assert row["residual"] == np.inf
    assert "Missing: absent" in markdown(result)


def test_peers_take_turns_round_by_round():
    calls = []

    def called(name):
        def measure(task):
            calls.append((task.name, name))
            return ANSWER, 1e-6, ""

        return Peer(name, lambda: measure)

    compare(comparison(called("a"), called("b"), tasks=(EYE, replace(EYE, name="again"))), Options())
    warm_up = [("eye", "a"), ("eye", "b")]
    assert calls == warm_up + ROUNDS * warm_up + ROUNDS * [("again", "a"), ("again", "b")]


def test_a_solve_in_this_process_is_given_up_after_its_time():
    def ready(task):
        return lambda: lambda: time.sleep(5)

    with pytest.raises(Failed, match=r"no answer within 0\.05 s"):
        in_process(ready, limit=0.05)(EYE)


CHILD = """
import os, sys, time
sys.path.insert(0, {path!r})
from channel import serve
def answer(words, arrays):
    print("noise on standard output")
    if words["do"] == "die":
        os._exit(3)
    if words["do"] == "sleep":
        time.sleep(60)
    return {{"twice": 2 * words["value"]}}, {{"x": arrays["x"][::-1]}}
serve(answer)
"""


@pytest.mark.thorough
def test_a_child_that_dies_or_sleeps_fails_and_another_takes_its_place():
    script = CHILD.format(path=str(ROOT / "benchmarks" / "children"))
    child = Child([sys.executable, "-c", script], limit=1.0)
    x = {"x": np.array([1.0, 2.0])}
    words, arrays = child.ask({"do": "answer", "value": 3}, x)
    assert words["twice"] == 6
    np.testing.assert_array_equal(arrays["x"], [2.0, 1.0])
    first = child.process.pid
    with pytest.raises(Failed, match="exit 3"):
        child.ask({"do": "die"}, x)
    with pytest.raises(Failed, match="no answer within 1 s"):
        child.ask({"do": "sleep"}, x)
    assert child.ask({"do": "answer", "value": 5}, x)[0]["twice"] == 10
    assert child.process.pid != first
    child.stop()


def test_a_child_that_cannot_start_is_missing():
    with pytest.raises(Missing, match="ModuleNotFoundError"):
        Child([sys.executable, "-c", "import no_such_module"]).start()
    with pytest.raises(Missing, match="No such file"):
        Child([str(ROOT / "no-such-python")]).start()


@pytest.mark.parametrize("in_blocks", [False, True])
def test_siconos_text_of_a_friction_problem_is_what_the_reader_reads(in_blocks, tmp_path):
    problem = row_problem(8, 4)
    W, q = problem.by_contacts()
    (tmp_path / "p.dat").write_text(friction_text(block_rows(W, 3) if in_blocks else W.toarray(), q, problem.mu))
    again = read_problem_file(tmp_path / "p.dat")
    np.testing.assert_array_equal(again.dense, problem.dense)
    np.testing.assert_array_equal(again.q, problem.q)
    np.testing.assert_array_equal(again.mu, problem.mu)


def test_siconos_text_of_a_mixed_problem_is_what_the_reader_reads(tmp_path):
    M, q, free = mlcp.task(3, 0).data
    (tmp_path / "p.dat").write_text(mlcp_text(M, q, free))
    again = read_problem_file(tmp_path / "p.dat")
    np.testing.assert_array_equal(again.M, M)
    np.testing.assert_array_equal(again.q, q)
    assert (np.isneginf(again.lower) == (np.arange(q.size) < free)).all()


def test_a_box_on_the_ground_has_the_velocity_of_its_corners():
    system, v = tower(4, 0), np.array([0.1, 0.2, -0.3, 0.3, -0.2, 0.5])
    corners = 0.5 * np.array([[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]])
    u = v[:3] + np.cross(v[3:], corners)
    np.testing.assert_allclose(system.J_n @ v, u[:, 2], atol=1e-15)
    np.testing.assert_allclose((system.J_t @ v).reshape(4, 2), u[:, :2], atol=1e-15)


def test_impulses_between_boxes_have_no_resultant_and_no_moment():
    rng = np.random.default_rng(5)
    shift = rng.uniform(-0.1, 0.1, (3, 2))
    J = np.vstack(jacobians(12, shift))
    p = rng.normal(size=36) * np.repeat(np.r_[np.zeros(4), np.ones(8)], 3)[normals_first(12, 2)]
    wrench = (J.T @ p).reshape(3, 6)
    centres = np.column_stack([shift, np.arange(3)])
    np.testing.assert_allclose(wrench[:, :3].sum(axis=0), 0.0, atol=1e-14)
    moment = wrench[:, 3:] + np.cross(centres, wrench[:, :3])
    np.testing.assert_allclose(moment.sum(axis=0), 0.0, atol=1e-14)
    assert np.abs(wrench).min() > 1e-3


def test_states_of_towers_differ_and_redundant_contacts_are_redundant():
    qs = [tower_problem(4, k).q / np.linalg.norm(tower_problem(4, k).q) for k in range(len(STATES))]
    assert min(np.linalg.norm(a - b) for i, a in enumerate(qs) for b in qs[:i]) > 1e-6
    assert np.linalg.matrix_rank(tower_problem(4, 0).dense) == 6
    assert np.linalg.matrix_rank(tower_problem(8, 0).dense) == 12


@pytest.mark.thorough
def test_the_lcp_and_the_velocity_form_of_a_box_problem_have_its_solution():
    task = mlcp.task(6, 1)
    problem, (M, q, free) = task.problem, task.data
    z = find_solver("proximal").solve(problem).z
    w = problem.M @ z + problem.q
    above = np.flatnonzero(np.isfinite(problem.upper))
    # A finite upper bound's multiplier is what pushes back there.
    s = np.maximum(-w, 0.0)[above]
    y = z - problem.lower
    assert mlcp.as_lcp(problem).residual(np.concatenate([y, s])) < 1e-12
    system = tower(6, 1)
    J = np.vstack([system.J_n, system.J_t])
    v = np.linalg.solve(system.M, system.M @ system.v + system.h * system.f + J.T @ z)
    bounds = np.where(np.arange(q.size) < free, -np.inf, 0.0)
    assert MLCP(M, q, bounds, np.inf).residual(np.concatenate([v, y, s])) < 1e-12


def test_a_warm_pair_keeps_its_basis_and_not_its_solution():
    task = warm.task(24, 0)
    before = find_solver("lemke").solve(task.data).z
    assert task.problem.residual(1.01 * before) < 1e-12
    assert task.problem.residual(before) > 1e-4


def test_what_the_workbenchs_kernel_says_is_its_remark():
    measure = ours.solver("lemke").load()
    assert measure(EYE)[2] == ""
    assert measure(replace(EYE, problem=LCP(-np.eye(2), [-1.0, -1.0])))[2] == "RAY"


def test_of_a_batch_every_problem_is_judged_by_itself():
    batch = LCP(np.stack(3 * [np.eye(2)]), np.tile([-1.0, 2.0], (3, 1)))
    z = np.stack([ANSWER, ANSWER * (1 + 1e-9), [np.nan, 0.0]])
    task = replace(EYE, problem=batch, count=3)
    row = compare(comparison(peer("ours", z, 6.0), tasks=(task,)), Options()).rows[0]
    assert (row["problems"], row["solved"], row["closely"]) == (3, 2, 1)
    assert row["seconds"] == 2.0
    assert row["residual"] == np.inf


def test_a_row_has_one_block_a_tower():
    problem = row_problem(12, 4)
    one = tower_problem(4, 1)
    W, q = problem.by_contacts()
    V, p = one.by_contacts()
    np.testing.assert_array_equal(W.toarray()[12:24, 12:24], V.toarray())
    np.testing.assert_array_equal(q[12:24], p)
    assert not W.toarray()[12:24, :12].any()


@pytest.mark.thorough
def test_one_command_compares_without_any_peer_and_writes_tables_and_charts(tmp_path):
    names = {"lcp", "batch", "growth", "growth-steps"}
    environment = {k: v for k, v in os.environ.items() if k != "WORKBENCH_DATA"}
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", "--out", str(tmp_path), "--only", *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = pd.DataFrame(found["rows"])
    assert set(rows["comparison"]) == names <= {c.name for c in COMPARISONS}
    ours = rows[rows["peer"] == rows.groupby("comparison")["peer"].transform("first")]
    assert (ours["solved"] == ours["problems"]).all()
    for name in names:
        assert (tmp_path / f"{name}.md").stat().st_size
    assert "<svg" in (tmp_path / "lcp-size.svg").read_text()
    assert (tmp_path / "lcp-size.png").read_bytes().startswith(b"\x89PNG")


def test_a_peer_is_not_asked_above_its_contacts_and_no_data_are_made_for_it():
    tasks = [replace(EYE, name=f"{n} contacts", contacts=n) for n in (10, 11)]
    asked = []
    few = Peer("few", lambda: lambda task: (asked.append(task.contacts), (ANSWER, 1.0, ""))[1], most=10)
    rows = compare(comparison(peer("all", ANSWER), few, tasks=tasks), Options()).rows
    assert set(asked) == {10}
    assert [r["remark"] for r in rows if r["peer"] == "few"] == ["", "not asked above 10 contacts"]


def test_friction_problems_without_a_folder_say_so():
    friction = next(c for c in COMPARISONS if c.name == "friction")
    with pytest.raises(Missing, match="WORKBENCH_DATA"):
        friction.tasks(Options())


def test_what_auto_chooses_stands_beside_the_fastest_that_solve_all():
    cell = chosen.Cell("LCP", "three of them", None, lambda seed: LCP([[2.0 + seed]], [-1.0]))
    spent = {"auto": (3, 40.0), "lemke": (3, 20.0), "pgs": (2, 1.0), "keller": (3, 5e6)}
    found = [chosen.Row(cell, name, solved, time, 2 * time) for name, (solved, time) in spent.items()]
    row = chosen.table(found, 3).splitlines()[-1]
    assert "40 µs, 80 µs | 3 | lemke 20 µs, 40 µs; keller 5 s, 10 s | 2 | 3 | 2.00" in row


def test_every_solver_that_takes_a_problem_as_it_is_is_tried_and_a_slow_one_once(monkeypatch):
    made = [chosen.Cell("LCP", f"n = {n}", None, lambda seed, n=n: chosen.definite(n, seed)) for n in (2, 3)]
    monkeypatch.setattr(chosen, "cells", lambda: iter(made))
    rows = list(chosen.rows(2, 0.0))
    first = [row.solver for row in rows if row.cell is made[0]]
    assert first[0] == "auto"
    assert {"lemke", "enumerate", "clarabel"} < set(first)
    assert not {"coulomb-exact", "mixed-exact"} & set(first)
    assert all(row.solved == 2 and 0 < row.median <= row.worst for row in rows)
    assert len(rows) == len(first), "all were slower than the limit of nothing"
