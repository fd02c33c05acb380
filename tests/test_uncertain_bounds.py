"""MLCPs with bounds whose data are uncertain: bounds against linear programmes by orthant, members, certificates."""

import copy
import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

import workbench as wb
from tests.boxes import random_member, rational
from workbench.algorithms.escalation import default_solver
from workbench.certificates.documents import signed
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.matrices.p_property.bounded import solution_on_face
from workbench.problems.classes import MLCP
from workbench.readers.files import write_problem_file
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.support.errors import DataError, WorkbenchError


def random_problem(rng, n, spread=0.2, p=0.7):
    """A problem with bounds of every kind, exact and uncertain, around a matrix that is mostly P."""
    C = np.round(rng.standard_normal((n, n)) + (n if rng.random() < p else 0) * np.eye(n), 2)
    D = np.round(spread * rng.random((n, n)) * (rng.random((n, n)) < 0.7), 2)
    q = IntervalMatrix(
        rational(np.round(3 * rng.standard_normal((n, 1)), 2)), rational(np.round(spread * rng.random((n, 1)), 2))
    )
    lower, upper = [], []
    for _ in range(n):
        at = fmpq(int(rng.integers(-8, 9)), 8)
        wide, r, s = (fmpq(int(x), 8) for x in rng.integers(0, 4, 3))
        kind = rng.integers(0, 5)
        r, s = (r, s) if rng.random() < 0.5 else (fmpq(0), fmpq(0))
        lower.append(None if kind in (0, 1) else (at, at + r))
        upper.append(None if kind in (0, 2) else (at + r + wide, at + r + wide + s) if kind != 4 else lower[-1])
    return UncertainMLCP(IntervalMatrix(rational(C), rational(D)), q, lower, upper)


def doubles(A):
    return np.array([[nearest_double(x) for x in row] for row in A.tolist()])


def extremes(p):
    """The bounds of z by linear programmes over z itself, in each orthant and for each place of every unknown."""
    n = p.M.order
    C, D, (c,), (d,) = doubles(p.M.centre), doubles(p.M.radius), doubles(p.q.centre).T, doubles(p.q.radius).T
    ends = [[None if x is None else [*map(nearest_double, x)] for x in bounds] for bounds in (p.lower, p.upper)]
    found = np.full((n, 2), np.nan)
    for signs in itertools.product((1, -1), repeat=n):
        high, low = (C + D * signs, c + d), (C - D * signs, c - d)
        for places in itertools.product(("between", "lower", "upper"), repeat=n):
            A, b, box = [], [], []
            for i, place in enumerate(places):
                l, u = ends[0][i], ends[1][i]
                if (place == "lower" and l is None) or (place == "upper" and u is None):
                    break
                box.append([max(l[0] if l else -np.inf, 0 if signs[i] > 0 else -np.inf),
                            min(u[1] if u else np.inf, 0 if signs[i] < 0 else np.inf)])  # fmt: skip
                if place != "upper":
                    A.append(-high[0][i])
                    b.append(high[1][i])
                if place != "lower":
                    A.append(low[0][i])
                    b.append(-low[1][i])
                if place == "lower":
                    box[-1][1] = min(box[-1][1], l[1])
                if place == "upper":
                    box[-1][0] = max(box[-1][0], u[0])
            else:
                if any(x > y for x, y in box):
                    continue
                for k, sign in itertools.product(range(n), (1, -1)):
                    best = linprog(sign * np.eye(n)[k], np.array(A), np.array(b), bounds=box)
                    if best.status in (0, 3):
                        value = sign * best.fun if best.status == 0 else -sign * np.inf
                        end = int(sign < 0)
                        found[k, end] = (np.fmin, np.fmax)[end](found[k, end], value)
    return found


def as_doubles(ends, otherwise):
    return [otherwise if x is None else nearest_double(fmpq(x)) for x in ends]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.thorough) for k in range(2, 20))])
def test_bounds_agree_with_programmes_in_each_orthant(seed):
    p = random_problem(np.random.default_rng(seed), 2)
    found = wb.check(p).data["solutions"]
    true = extremes(p)
    if found["solvable"] == "none":
        assert np.isnan(true).all()
        return
    assert found["exact"]
    np.testing.assert_allclose(as_doubles(found["lower"], -np.inf), true[:, 0], atol=1e-7)
    np.testing.assert_allclose(as_doubles(found["upper"], np.inf), true[:, 1], atol=1e-7)


def member(p, rng):
    """A problem of the box, and its solution; None where none was found or its bounds exclude each other."""
    n = p.M.order
    A = random_member(p.M, rng)
    b = [
        c + d * fmpq(int(rng.integers(-8, 9)), 8)
        for c, d in zip(p.q.centre.entries(), p.q.radius.entries(), strict=True)
    ]
    low, high = ([None if x is None else x[0] + (x[1] - x[0]) * fmpq(int(rng.integers(0, 9)), 8) for x in bounds]
                 for bounds in (p.lower, p.upper))  # fmt: skip
    high = [y if low[i] is None or y is None or p.lower[i] != p.upper[i] else low[i] for i, y in enumerate(high)]
    if any(x is not None and y is not None and x > y for x, y in zip(low, high, strict=True)):
        return None
    ends = (np.array(as_doubles(x, side)) for x, side in ((low, -np.inf), (high, np.inf)))
    near = default_solver("MLCP").first.solve(MLCP(doubles(A), doubles(fmpq_mat(n, 1, b))[:, 0], *ends)).z
    z = solution_on_face(A, b, low, high, near) if np.isfinite(near).all() else None
    return None if z is None else (A, b, low, high, z)


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(6))
def test_solutions_of_members_are_within_and_in_their_places(seed):
    rng = np.random.default_rng(seed)
    p = random_problem(rng, 4, spread=0.1)
    found, solved = wb.check(p).data, 0
    s = found["solutions"]
    for _ in range(40):
        one = member(p, rng)
        if one is None:
            continue
        solved += 1
        *_, low, high, z = one
        assert s["solvable"] != "none"
        for i, x in enumerate(z):
            assert s["lower"][i] is None or fmpq(s["lower"][i]) <= x
            assert s["upper"][i] is None or x <= fmpq(s["upper"][i])
            place = s["signs"][i]
            assert place != "lower" or x == low[i]
            assert place != "upper" or x == high[i]
            assert place != "between" or not (x == low[i] or x == high[i])
    assert solved or s["solvable"] in ("none", "undecided") or found["uniqueness"]["verdict"] != "all"


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.thorough) for k in range(3, 40))])
def test_every_claim_is_verified(seed):
    rng = np.random.default_rng([7, seed])
    p = random_problem(rng, int(rng.integers(1, 5)), spread=rng.choice([0.02, 0.2, 1.0]))
    found = wb.check(p)
    document = json.loads(json.dumps(found.certificate()))
    assert not document["left_out"]
    outcomes = wb.verify(document, of=p)
    assert outcomes.holds, outcomes.frame
    assert {"solvable", "z_0"} <= {x.about for x in outcomes.findings} or found.data["solutions"]["solvable"] in (
        "none", "undecided",
    )  # fmt: skip


def changed(document, change):
    content = copy.deepcopy(document)
    change(content)
    return signed(content["problem"], content["claims"], content["left_out"])


def claim(document, about):
    return next(c for c in document["claims"] if c["about"] == about)


def outcome(document, about):
    return next(f.result for f in verify(document) if f.about == about)


DRIVE = [["2", "1"], ["1", "2"]]


def drive():
    """z_0 is free and z_1 in [-1/10, 1 +- 1/100]: 2 z_0 + z_1 = 1 and w_1 = z_0 + 2 z_1 + 1 > 0 at z_1 = -1/10."""
    return wb.uncertain_mlcp(
        wb.interval(DRIVE, "1/100"), wb.interval(["-1", "1"], "1/100"), [None, "-1/10"], [np.inf, ("99/100", "101/100")]
    )


def test_a_drive_at_its_lower_bound():
    found = wb.check(drive())
    s = found.data["solutions"]
    assert found.data["uniqueness"]["verdict"] == "all"
    assert s["signs"] == ["between", "lower"]
    assert s["solvable"] == "one"
    # Free row: (2 +- e) z_0 = 1 +- e + (1 +- e) / 10 with e = 1/100.
    assert s["lower"] == [str(fmpq(99 * 10 + 99, 1000) / fmpq(201, 100)), "-1/10"]
    assert s["upper"] == [str(fmpq(101 * 10 + 101, 1000) / fmpq(199, 100)), "-1/10"]
    assert s["exact"]
    text = found.text
    assert "certainly at the lower bound z_i for i = 1" in text
    assert "exactly one solution for every matrix of the box (1 free, 1 bounded unknowns)" in " ".join(text.split())


def test_claims_on_a_drive_cannot_be_sharper():
    document = json.loads(json.dumps(wb.check(drive()).certificate()))
    assert {f.result for f in verify(document)} == {VERIFIED}
    for end, by in ((0, Fraction(1, 10**6)), (1, -Fraction(1, 10**6))):

        def narrow(d, end=end, by=by):
            claim(d, "z_0")["verdict"][end] = str(Fraction(claim(d, "z_0")["verdict"][end]) + by)

        assert outcome(changed(document, narrow), "z_0") != VERIFIED
    for change in (
        lambda d: claim(d, "basis").update(verdict=["between", "between"]),
        lambda d: claim(d, "basis").update(verdict=["between", "upper"]),
        lambda d: claim(d, "basis").update(verdict=["lower", "lower"]),
        lambda d: claim(d, "basis").update(verdict=["between"]),
        lambda d: claim(d, "basis")["support"].update(radii=["1/1000", "1/1000"]),
        lambda d: claim(d, "basis")["support"].update(radii=["1", "10"]),
    ):
        assert outcome(changed(document, change), "basis") != VERIFIED
    # The bounds rest on uniqueness and the basis.
    for about in ("uniqueness", "basis"):
        less = changed(document, lambda d, about=about: d["claims"].remove(claim(d, about)))
        assert outcome(less, "z_0") != VERIFIED
        assert outcome(less, "solvable") != VERIFIED or about == "basis"
    # With another bound w_1 may vanish, and z_1 leave its bound.
    wide = changed(document, lambda d: d["problem"].update(q_radius=["1/100", "2"]))
    assert outcome(wide, "basis") != VERIFIED


@pytest.mark.parametrize("by", ["P", "schur"])
def test_unknown_fields_of_a_uniqueness_proof_are_refused(by):
    document = json.loads(json.dumps(wb.check(drive() if by == "P" else saddle()).certificate()))
    assert claim(document, "uniqueness")["support"]["by"] == by
    extra = changed(document, lambda d: claim(d, "uniqueness")["support"].update(extra="1"))
    assert outcome(extra, "uniqueness") != VERIFIED


SADDLE = [["0", "1", "0"], ["-1", "2", "1"], ["0", "-1", "3"]]


def saddle(radius="1/20"):
    """z_0 and z_1 are free: no matrix is P, since the diagonal has a zero; the Schur complements are near 3."""
    return wb.uncertain_mlcp(wb.interval(SADDLE, radius), ["1", "-1", "-6"], [None, None, 0], [None, None, "9"])


def test_free_unknowns_whose_matrix_is_not_p():
    found = wb.check(saddle())
    assert found.data["classes"]["P"]["verdict"] != "all"
    assert found.data["uniqueness"]["verdict"] == "all"
    assert found.data["uniqueness"]["support"]["by"] == "schur"
    document = json.loads(json.dumps(found.certificate()))
    assert {f.result for f in verify(document)} == {VERIFIED}
    support = claim(document, "uniqueness")["support"]
    for name, value in (
        ("E", [["0"], ["0"]]), ("X", [["5"], ["5"]]), ("x", ["0", "1"]), ("R", [["0", "0"], ["0", "0"]]), ("tree", []),
        ("E", [["9"], ["9"]]), ("R", None), ("X", [["0"]]),
    ):  # fmt: skip
        forged = changed(document, lambda d, n=name, v=value: claim(d, "uniqueness")["support"].update({n: v}))
        assert outcome(forged, "uniqueness") != VERIFIED, (name, value)
    assert set(support) == {"by", "R", "x", "X", "E", "tree"}


def test_equations_alone():
    p = wb.uncertain_mlcp(wb.interval([["0", "2"], ["1", "0"]], "1/4"), ["-2", "-1"], [None] * 2, [None] * 2)
    found = wb.check(p)
    assert found.data["uniqueness"]["verdict"] == "all"
    assert found.data["solutions"]["signs"] == ["between"] * 2
    assert wb.verify(found.certificate(), of=p).holds
    # A singular member: [[2, 2], [2, 2]].
    wide = wb.check(wb.uncertain_mlcp(wb.interval([["0", "2"], ["1", "0"]], "2"), ["-2", "-1"], [None] * 2, [None] * 2))
    assert wide.data["uniqueness"]["verdict"] != "all"
    forged = changed(wb.check(p).certificate(), lambda d: d["problem"].update(radius=[["2", "2"], ["2", "2"]]))
    assert outcome(forged, "uniqueness") != VERIFIED


def test_a_member_that_is_not_unique():
    p = wb.uncertain_mlcp(wb.interval([["1", "1"], ["1", "1"]], "1/2"), ["0", "0"], [0, 0], [1, 1])
    found = wb.check(p)
    assert found.data["uniqueness"]["verdict"] == "not all"
    assert found.data["solutions"]["solvable"] == "some"
    document = json.loads(json.dumps(found.certificate()))
    assert outcome(document, "uniqueness") == VERIFIED
    assert outcome(document, "solvable") == VERIFIED
    for change in (
        {"matrix": [["1", "0"], ["0", "1"]]}, {"matrix": [["9", "9"], ["9", "9"]]},
        {"x": ["1", "1"]}, {"x": ["0", "0"]},
    ):  # fmt: skip
        forged = changed(document, lambda d, c=change: claim(d, "uniqueness")["support"].update(c))
        assert outcome(forged, "uniqueness") != VERIFIED
    # Without an upper bound nothing says that there is a solution.
    open_ = changed(document, lambda d: d["problem"]["upper"].__setitem__(0, None))
    assert outcome(open_, "solvable") != VERIFIED


def test_fixed_unknowns_have_no_slack():
    """z_0 = 1/2 whatever w_0 is; row 1 is 2 z_1 + 1/2 - 3 = 0 within its bounds."""
    p = wb.uncertain_mlcp(wb.interval([["-5", "3"], ["1", "2"]], 0), ["1", "-3"], ["1/2", 0], ["1/2", 9])
    found = wb.check(p).data
    assert found["uniqueness"]["verdict"] == "all"
    assert (found["solutions"]["lower"], found["solutions"]["upper"]) == (["1/2", "5/4"], ["1/2", "5/4"])


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([0], [1, 1], "lower has 1 entries"),
        ([0, 2], [1, 1], "no number lies between"),
        ([0, (1, 0)], [1, 1], "smaller number first"),
        ([0, "x"], [1, 1], "lower"),
        ([0, (0, 1, 2)], [3, 3], "3 numbers"),
        (0, [1, 1], "give a bound for each"),
        ([np.inf, 0], [np.inf, 1], "lower"),
    ],
)
def test_bounds_that_are_none_are_refused(lower, upper, message):
    with pytest.raises(WorkbenchError, match=message):
        wb.uncertain_mlcp(wb.interval(DRIVE), ["-1", "1"], lower, upper)


def test_bounds_of_a_certificate_are_read_strictly():
    document = json.loads(json.dumps(wb.check(drive()).certificate()))
    for bounds in ([None], [None, "1"], [None, ["1", "0"]], [None, ["1"]], None, [None, ["2", "3"]]):
        with pytest.raises(RefusedError):
            verify(changed(document, lambda d, b=bounds: d["problem"].update(lower=b)))
    other = wb.uncertain_mlcp(wb.interval(DRIVE, "1/100"), wb.interval(["-1", "1"], "1/100"), [None, 0], [None, 1])
    with pytest.raises(WorkbenchError, match="bounds differs"):
        wb.verify(document, of=other)


def test_the_command_checks_a_file(tmp_path, capsys):
    file, radii, page, proof = (str(tmp_path / name) for name in ("p.npz", "r.npz", "p.html", "p.json"))
    problem = MLCP(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, 1.0]), [-np.inf, -0.125], [np.inf, 1.0])
    write_problem_file(problem, Path(file))
    np.savez(radii, lower=[0.0, 2.0**-10])
    words = ["check", file, "--uncertainty", "1e-3", "--plus-minus", radii]
    assert main([*words, "--out", page, "--certificate", proof]) == 0
    text = capsys.readouterr().out
    assert "z_1 in [-129/1024, -127/1024]" in text
    assert "at the lower bound z_i for i = 1" in text
    assert main(["verify", proof]) == 0
    assert "uniqueness" in capsys.readouterr().out
    assert "certainly at its lower bound" in (tmp_path / "p.html").read_text("utf-8")
    np.savez(radii, lower=[0.0, -1e-3])
    assert main(words) != 0
    assert "lower has a radius that is not a number >= 0" in capsys.readouterr().err


def test_an_lcp_stated_with_bounds_has_the_answers_of_an_lcp():
    box, q = wb.interval(DRIVE, "1/10"), ["-1", "-1/2"]
    stated = wb.check(wb.uncertain_mlcp(box, q, [0, 0], [None, None])).data
    assert stated == wb.check(box, rhs=q).data
    # An upper bound that is never reached changes nothing.
    wide = wb.check(wb.uncertain_mlcp(box, q, [0, 0], [9, 9])).data["solutions"]
    for name in ("lower", "upper", "exact", "solvable"):
        assert wide[name] == stated["solutions"][name]


def test_another_shape_of_q_is_refused():
    with pytest.raises(DataError, match="q has 3 entries"):
        wb.uncertain_mlcp(wb.interval(DRIVE), ["1", "2", "3"], [0, 0], [1, 1])
