"""`judge` and `wb.verdict`: answers from elsewhere held against Coulomb's law, contact by contact."""

import json

import numpy as np
import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.judge.contacts import SYMPTOMS, by_contact
from workbench.problems.friction_problem import FrictionProblem
from workbench.readers.answers import write_answer
from workbench.readers.fclib import write_fclib
from workbench.readers.files import write_problem_file
from workbench.support.errors import DataError, WorkbenchError


def brick(mu: float = 0.3, push: float = 0.5) -> FrictionProblem:
    """A mass point of 1 kg that falls at 1 m/s and slides along the first tangent."""
    return FrictionProblem(np.eye(3), np.array([-1.0, push, 0.0]), np.array([mu]))


def seen(p: list[float], problem: FrictionProblem | None = None) -> list[str]:
    rows = wb.verdict(problem or brick(), p).rows
    return [x for x in rows["symptoms"][0].split(", ") if x]


@pytest.mark.parametrize(
    ("p", "symptoms"),
    [
        ([1.0, -0.3, 0.0], []), ([1.0, -0.2, 0.0], ["slips within the cone"]), ([1.0, -0.5, 0.0], ["beyond the cone"]),
        ([0.5, -0.15, 0.0], ["goes in"]), ([1.5, -0.45, 0.0], ["pushes while it opens"]),
        ([1.0, 0.3, 0.0], ["pushes along the slip", "misaligned"]), ([-0.1, 0.0, 0.0], ["pulls", "goes in"]),
        ([1.0, -0.18, -0.24], ["misaligned"]),
    ],
)  # fmt: skip
def test_every_way_to_leave_the_law_is_seen_and_named(p, symptoms):
    assert seen(p) == symptoms
    assert set(symptoms) <= set(SYMPTOMS)


JUST, MORE = 5e-7, 2e-6
"""Of the scales: less than what counts as rounding, and more than that."""


@pytest.mark.parametrize(
    ("answer", "symptoms"),
    [
        (lambda x: ((-x, 0.0, 0.0), (0.0, 0.0, 0.0)), ["pulls"]),
        (lambda x: ((0.0, 0.0, 0.0), (-x, 0.0, 0.0)), ["goes in"]),
        (lambda x: ((x, 0.0, 0.0), (1.0, 0.0, 0.0)), ["pushes while it opens"]),
        (lambda x: ((1.0, 0.0, 0.0), (x, 0.0, 0.0)), ["pushes while it opens"]),
        (lambda x: ((1.0, -0.3 - x, 0.0), (0.0, 0.0, 0.0)), ["beyond the cone"]),
        (lambda x: ((1.0, -0.3 + x, 0.0), (0.0, 1.0, 0.0)), ["slips within the cone"]),
        (lambda x: ((1.0, -0.2, 0.0), (0.0, x, 0.0)), ["slips within the cone"]),
        (lambda x: ((0.0, x, 0.0), (0.0, 1.0, 0.0)), ["beyond the cone", "pushes along the slip", "misaligned"]),
    ],
)  # fmt: skip
def test_a_symptom_begins_where_rounding_ends(answer, symptoms):
    for size, expected in ((JUST, []), (MORE, symptoms)):
        p, u = map(np.array, answer(size))
        x = by_contact(p[:1], p[None, 1:], u[:1], u[None, 1:], np.array([0.3]), 1.0, 1.0)
        assert [name for name in SYMPTOMS if x.symptoms[name][0]] == expected


def test_friction_is_misaligned_from_a_degree_on():
    slope = np.deg2rad([0.9, 1.1])
    p_t, u_t = -0.3 * np.stack([np.cos(slope), np.sin(slope)], axis=1), np.tile([1.0, 0.0], (2, 1))
    x = by_contact(np.ones(2), p_t, np.zeros(2), u_t, np.full(2, 0.3), 1.0, 1.0)
    assert x.symptoms["misaligned"].tolist() == [False, True]


def test_the_contact_farthest_beyond_its_cone_is_named_and_long_lists_are_cut():
    r = 9
    p = np.concatenate([np.ones(r), np.stack([0.31 + 0.01 * np.arange(r), np.zeros(r)], axis=1).ravel()])
    problem = FrictionProblem(np.eye(3 * r), -p, np.full(r, 0.3))
    words = wb.verdict(problem, p, step=1e-3).words
    assert words[1] == "Friction exceeds the cone by up to 90 N, at contact 9."
    assert words[2].endswith("1, 2, 3, 4, 5, 6, 7, 8, ....")


def test_exact_answers_show_nothing_and_relaxed_ones_what_they_relax():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(12, 6))
    problem = FrictionProblem(J @ J.T, J @ rng.normal(size=6), np.array([0.3, 0.5, 0.5, 0.8]))
    exact = wb.verdict(problem, wb.solve(problem, "coulomb").p)
    assert exact.words[-1] == "No defect at any of 4 contacts."
    assert exact.verdict.natural_map < 1e-10
    for formulation, symptom in (("ccp", "pushes while it opens"), ("box", "beyond the cone")):
        assert wb.verdict(problem, wb.solve(problem, formulation).p).contacts.symptoms[symptom].any()


def test_a_violation_is_reported_in_newtons_where_the_step_is_known():
    found = wb.verdict(brick(), [1.0, -0.5, 0.0], step=1e-3)
    assert found.rows["beyond"][0] == pytest.approx(0.2)
    assert found.rows["beyond_force"][0] == pytest.approx(200.0)
    assert "200 N, at contact 1" in " ".join(found.words)
    assert np.isnan(wb.verdict(brick(), [1.0, -0.5, 0.0]).rows["beyond_force"][0])


def test_scales_take_the_place_of_units():
    for scale in (1e-9, 1.0, 1e9):
        problem = FrictionProblem(np.eye(3) / scale, np.array([-1.0, 0.5, 0.0]), np.array([0.3]))
        assert seen([scale, -0.3 * scale, 0.0], problem) == []
        assert seen([scale, -0.31 * scale, 0.0], problem) == ["beyond the cone"]


def test_contacts_are_judged_along_leading_axes():
    p_n, p_t = np.array([[1.0], [1.0]]), np.array([[[-0.3, 0.0]], [[-0.5, 0.0]]])
    u_n, u_t = np.zeros((2, 1)), np.array([[[0.2, 0.0]], [[0.0, 0.0]]])
    found = by_contact(p_n, p_t, u_n, u_t, np.array([0.3]), 1.0, 1.0)
    assert found.symptoms["beyond the cone"].tolist() == [[False], [True]]


@pytest.mark.parametrize("ending", ["npz", "csv", "hdf5"])
def test_answers_come_from_files_of_every_kind(tmp_path, capsys, ending):
    problem, p = brick(), np.array([1.0, -0.5, 0.0])
    given, answer = tmp_path / "problem.hdf5", tmp_path / f"answer.{ending}"
    write_fclib(problem, given)
    write_answer(problem, {"p": p, "u": problem.velocity(p)}, answer)
    asked = ["judge", str(given), str(answer)] if ending != "hdf5" else ["judge", str(answer)]
    assert main([*asked, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["symptoms"] == "beyond the cone"
    assert row["beyond"] == pytest.approx(0.2)
    assert main([*asked, "--step", "1e-3", "--out", str(tmp_path / "out")]) == 0
    assert "exceeds the cone by up to 200 N" in capsys.readouterr().out
    assert (tmp_path / "out" / "contacts.csv").exists()


def test_mistakes_are_reported(tmp_path):
    with pytest.raises(WorkbenchError, match=r"\(3,\) impulses are needed"):
        wb.verdict(brick(), [1.0])
    with pytest.raises(WorkbenchError, match="nan"):
        wb.verdict(brick(), [1.0, np.nan, 0.0])
    with pytest.raises(WorkbenchError, match="an answer is needed"):
        wb.verdict(brick())
    with pytest.raises(WorkbenchError, match="step = -1 s"):
        wb.verdict(brick(), [1.0, 0.0, 0.0], step=-1.0)
    (tmp_path / "short.csv").write_text("p\n1\n")
    with pytest.raises(DataError, match=r"short\.csv is not a solution: its first line must be quantity,index,value"):
        wb.verdict(brick(), tmp_path / "short.csv")
    with pytest.raises(DataError, match=r"absent\.npz does not exist"):
        wb.verdict(brick(), tmp_path / "absent.npz")
    write_fclib(brick(), tmp_path / "alone.hdf5")
    with pytest.raises(DataError, match="solution"):
        wb.verdict(tmp_path / "alone.hdf5")


@pytest.mark.parametrize("ending", [".npz", ".hdf5", ".dat"])
def test_a_problem_without_a_solution_is_told_what_is_missing(tmp_path, capsys, ending):
    path = tmp_path / f"problem{ending}"
    write_problem_file(brick(), path)
    assert main(["judge", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"workbench: problem{ending} holds no solution; give a file with one: impulses p in .npz")
    assert said.count("\n") == 1
