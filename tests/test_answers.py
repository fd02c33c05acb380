"""Answers in files: written by `solve --out`, read by `--start`."""

import h5py
import numpy as np
import pytest

import workbench as wb
from tests.problem_files import global_data
from tests.test_tuning import chain, pressed
from workbench.cli.main import main
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.problems.sets import normals_first
from workbench.readers.answers import ENDINGS, read_answer, write_answer
from workbench.readers.files import read_problem_file, write_problem_file
from workbench.support.errors import DataError


def held(hinges):
    rng = np.random.default_rng(3)
    M, H, f, w = global_data(rng)
    G, b = (rng.normal(size=(7, 2)), rng.normal(size=2)) if hinges else (None, np.zeros(0))
    return GlobalFrictionProblem(M, H, f, w, np.full(3, 0.4), 2, G, b)


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", [pressed, lambda: held(False), lambda: held(True)], ids=["local", "global", "hinged"])
def test_impulses_come_back_bit_for_bit(tmp_path, ending, make):
    problem, path = make(), tmp_path / f"answer{ending}"
    answer = wb.solve(problem)
    write_answer(problem, answer.values, path)
    assert np.array_equal(read_answer(path, problem), answer.p)


@pytest.mark.parametrize("hinges", [False, True])
def test_fclibs_solution_is_one_of_the_problem_beside_it(tmp_path, hinges):
    problem, path = held(hinges), tmp_path / "answer.hdf5"
    answer = wb.solve(problem)
    write_answer(problem, answer.values, path)
    same = read_problem_file(path)
    assert np.array_equal(same.f, problem.f)
    with h5py.File(path) as file:
        s = {key: file[f"solution/{key}"][()] for key in file["solution"]}
    order = np.argsort(normals_first(3, 2))
    assert np.array_equal(s["r"], answer.p[order])
    assert np.allclose(s["u"], (problem.H.T @ s["v"] + problem.w)[order], atol=1e-10)
    forces = problem.f + problem.H @ answer.p + (problem.G @ s["l"] if hinges else 0.0)
    assert np.allclose(problem.M @ s["v"], forces, atol=1e-9)
    assert np.allclose(problem.G.T @ s["v"] + problem.b, 0.0, atol=1e-10)


@pytest.mark.thorough
@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_unknowns_of_an_lcp_too(tmp_path, ending):
    answer = wb.solve(chain())
    write_answer(chain(), answer.values, tmp_path / f"z{ending}")
    assert np.array_equal(read_answer(tmp_path / f"z{ending}", chain()), answer.z)
    with pytest.raises(DataError, match="FCLIB's layout"):
        write_answer(chain(), answer.values, tmp_path / "z.hdf5")
    assert [p.name for p in tmp_path.iterdir()] == [f"z{ending}"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "quantity,index,value\np,0,1.0\n", r"shape \(1,\); this problem has 60"),
        ("a.csv", "quantity,index,value\np,1,1.0\n", "index 1 found where 0 is needed"),
        ("a.csv", "quantity,index,value\np,0,one\n", "line 2 is not of the form quantity"),
        ("a.csv", "quantity,index,value\nz,0,1.0\n", "holds no solution"),
        ("a.csv", "x\n1\n", "its first line must be quantity,index,value"),
        ("a.csv", "quantity,index,value\n" + "".join(f"p,{i},nan\n" for i in range(60)), "holds nan"),
        ("a.npz", "no archive", "not a readable .npz"),
        ("a.hdf5", "no HDF5", "not a readable HDF5"),
        ("a.txt", "1 2 3", "holds no solution"),
        ("missing.npz", None, "missing.npz"),
    ],
)
def test_what_is_no_answer_is_refused_in_a_line(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=words) as caught:
        read_answer(tmp_path / name, pressed())
    assert "\n" not in str(caught.value)


def test_the_command_writes_an_answer_and_starts_from_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_problem_file(pressed(), "p.npz")
    assert main(["solve", "p.npz", "--out", "first.hdf5"]) == 0
    assert main(["solve", "p.npz", "--start", "first.hdf5", "--out", "second.csv", "--time-limit", "60"]) == 0
    first, second = (read_answer(name, pressed()) for name in ("first.hdf5", "second.csv"))
    W = pressed().dense
    assert np.allclose(W @ first, W @ second, atol=1e-9)
    write_problem_file(chain(), "z.npz")
    assert main(["solve", "z.npz", "--solver", "pgs", "--max-iterations", "2", "--tolerance", "1e-3"]) == 0
    assert "2" in capsys.readouterr().out.splitlines()[-2].split()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["p.npz", "q.npz", "--out", "a.npz"], "one problem and one solver"),
        (["p.npz", "--solver", "coulomb-exact", "--solver", "lemke", "--start", "a.npz"], "one problem and one solver"),
        (["p.npz", "--start", "a.npz"], "a.npz"),
        (["p.npz", "--solver", "lemke", "--out", "a.npz"], "no solution to write"),
        (["p.npz", "--max-iterations", "many"], "--max-iterations"),
        (["p.npz", "--tolerance", "-1"], "--tolerance"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    for name in ("p.npz", "q.npz"):
        write_problem_file(pressed(2), name)
    assert main(["solve", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.npz", "q.npz"]
