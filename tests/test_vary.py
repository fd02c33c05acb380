"""Solutions along a parameter of cases and pencils: closed forms, the command, its page, and what is refused."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_poly

import workbench as wb
from workbench.builtin.reports.pages.vary import figure
from workbench.cli.main import main
from workbench.diagnostics.painleve import of_case
from workbench.diagnostics.sliding_regime import classified
from workbench.diagnostics.solution_paths import at_critical, curves, number
from workbench.diagnostics.varied import TOLERANCE, _polynomial
from workbench.engine.timing import clock
from workbench.matrices.paths.roots import real_roots
from workbench.matrices.solutions.solution_set import solution_set
from workbench.step.one_step import first_step
from workbench.step.sliding.exact import as_doubles
from workbench.step.sliding.state import sliding_system
from workbench.verbs.find import find_case


def between(found):
    return [i.solutions.count for i in found.paths.path.intervals]


def kinds(found):
    return [[e.kind for e in c.events] for c in found.paths.path.critical]


def count_at(found, t: Fraction):
    """The number of solutions at a value that is not critical."""
    x = fmpq(t.numerator, t.denominator)
    return next(i.solutions.count for i in found.paths.path.intervals if i.lo.hi < x < i.hi.lo)


# Cases


@pytest.mark.parametrize("tangent", ["2", "1/2", "3"])
@pytest.mark.parametrize("kappa", ["1/3", "2/7"])
@pytest.mark.parametrize(
    ("b", "counts", "at", "kind"),
    [("-1", [1, 0], 0, "ray"), ("1", [1, 2], 1, "ray"), ("0", [1, 1], "infinite", "family")],
)
def test_the_rod_changes_at_its_critical_friction(tangent, kappa, b, counts, at, kind):
    """mu_c = (1 + kappa (1 + tan^2)) / tan, and around it the table of the formulary, section 5."""
    found = wb.vary("rod", along=("mu", 0, 3), given={"tan_theta": tangent, "kappa": kappa, "b": b, "mu": 1})
    t, k = Fraction(tangent), Fraction(kappa)
    [row] = found.critical.itertuples()
    assert Fraction(row.exact) == (1 + k * (1 + t * t)) / t
    assert (between(found), row.count, row.kind) == (counts, at, kind)


def test_doubles_of_the_rod_are_taken_for_exact():
    found = wb.vary("rod", along=("mu", 0, 3))
    tangent = np.tan(np.radians(60))
    [row] = found.critical.itertuples()
    assert row.lo <= row.hi <= np.nextafter(row.lo, 9)
    assert row.lo == pytest.approx((1 + (1 + tangent**2) / 3) / tangent, rel=1e-14)
    assert "doubles at 9 values" in " ".join(found.text.split())
    assert "rational" not in found.text
    assert wb.vary("rod", "sliding-lcp", along=("mu", 0, 3)).text == found.text


@pytest.mark.parametrize(
    ("name", "parameter", "given", "changes"),
    [
        ("drawer", "mu", {"handle": "1/4"}, ["ray"]),
        ("rod-in-guide", "mu_guide", {"spin": 1, "angle": 30}, ["ray", "exchange"]),
        ("rod-in-guide", "mu_wall", {"spin": 1}, ["ray"]),
        ("rod", "gravity", {"tan_theta": 2, "spin": "3/2", "mu": "3/2"}, ["fold"]),
    ],
)  # fmt: skip
def test_counts_agree_with_the_regimes_at_single_values(name, parameter, given, changes):
    """Bilateral contacts among them: the regime eliminates half of the unknowns, the path does not."""
    exact = {key: Fraction(value) for key, value in given.items()}
    found = wb.vary(name, along=(parameter, "1/8", 3), given=given)
    assert kinds(found) == [[kind] for kind in changes]
    case = find_case(name, **{key: float(value) for key, value in exact.items()})
    for k in range(1, 16):
        t = Fraction(1, 8) + Fraction(23 * k, 128)
        there = case.with_parameters(**{parameter: float(t)})
        if hasattr(there, "exact_sliding"):
            data = there.exact_sliding({**exact, parameter: t})
        else:
            data = as_doubles(sliding_system(there))
        kind = classified(data, 10)[0]
        assert {0: "none", 1: "unique", 2: "two", "infinite": "infinitely many"}[count_at(found, t)] == kind


def test_the_first_step_under_a_formulation():
    """Stewart and Trinkle's LCP of the rod at single values of mu has as many solutions as the path says."""
    found = wb.vary("rod", "stewart-trinkle", along=("mu", 0, 3))
    assert between(found) == [1, "infinite"]
    assert found.paths.problem.names == ("p_n 0", "beta 0", "beta 1", "sigma 0")
    assert found.frame["what"].tolist()[1::2] == ["{0, 1, 3}", "a family within {0, 1, 2}"]
    f = wb.formulations.find("stewart-trinkle")
    for mu in (0.3, 1.2, 1.4, 2.5):
        problem = first_step(find_case("rod", mu=mu), f, 1e-3).problem()
        M, q = (
            [[fmpq(*x.as_integer_ratio()) for x in row] for row in a.tolist()] for a in (problem.M, problem.q[None])
        )
        assert count_at(found, Fraction(mu)) == solution_set(fmpq_mat(M), q[0], clock() + 10).count


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (dict(what="rod", along=("angle", 10, 80)), "enters the problem in no polynomial"),
        (dict(what="rod", along=("m", 1, 2)), "enters the problem in no polynomial"),
        (dict(what="rod", along=("m", 1, "1.001"), given={"tan_theta": 2}), "enters the problem in no polynomial"),
        (dict(what="rod", along=("nu", 0, 1)), "unknown parameter 'nu' of rod"),
        (dict(what="rod", along=("mu", 2, 2)), "from 2 to 2"),
        (dict(what="rod", along=("mu", 0, "x")), "mu: 'x' is not a number"),
        (dict(what="rod", along=("mu", 0, None)), "mu = None"),
        (dict(what="rod", along=("mu", 0, "1e999999999")), "1e999999999"),
        (dict(what="rod", along=("mu", 0, 10**400)), "beyond the range of doubles"),
        (dict(what="rod", along=("mu", 0, "1e-400")), "fewer than 9 doubles"),
        (dict(what="rod", along=("mu", 0, 1), given={"m": 10**400}), "m: the value is beyond the range of doubles"),
        (dict(what="rod", along=("mu", -1, 2)), "nonnegative"),
        (dict(what="rod", formulation="box", along=("mu", 0, 1)), "box poses no LCP"),
        (dict(what="cube", formulation="stewart-trinkle", along=("mu", 0, 1)), "the order is 24"),
        (dict(what="bouncing-ball", along=("mu", 0, 1)), "bouncing-ball"),
        (dict(what=[[1]], along=("t", 0, 1)), "nothing varies"),
        (dict(what=[[1]], pencil=[[1]], along=("t", 0, 1)), "no right-hand side"),
        (dict(what=[[1]], rhs=[1], pencil=[[1, 2], [3, 4]], along=("t", 0, 1)), "M1 is 2 x 2; it must be 1 x 1"),
        (dict(what=[[1]], rhs=[1], pencil_rhs=[1, 2], along=("t", 0, 1)), "q1 is 2 x 1; it must be 1 x 1"),
        (dict(what=np.eye(2), rhs=[1, 1], pencil=np.eye(2), along=("t", 0, 1), seconds=1e-9), "were not enough"),
    ],
)  # fmt: skip
def test_refusals_in_one_line(call, words):
    with pytest.raises(wb.WorkbenchError) as error:
        wb.vary(**call)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: wb.vary([[1]], rhs=[1], pencl=[[1]], along=("t", 0, 1)),
        lambda: wb.vary("rod", along=("mu", 0, 1), pencl=1),
        lambda: wb.study("wheel", "box", retry=True),
    ],
)
def test_unknown_keywords_are_refused(call):
    with pytest.raises(TypeError, match=r"pencl|retry"):
        call()


def test_rounding_is_no_obstacle_and_other_functions_are():
    t = [fmpq(k, 8) for k in range(9)]
    noise = [fmpq((-1) ** k, 10**13) for k in range(9)]
    straight = [2 + 3 * x for x in t]
    found = _polynomial(t, [x + e for x, e in zip(straight, noise, strict=True)], TOLERANCE * 5)
    assert found.degree() == 1
    assert abs(found(fmpq(1, 3)) - 3) < fmpq(1, 10**12)
    assert _polynomial(t, straight, fmpq(0)) == fmpq_poly([2, 3])
    assert _polynomial(t, [x**3 for x in t], fmpq(0)) == fmpq_poly([0, 0, 0, 1])
    assert _polynomial(t, [x**4 for x in t], TOLERANCE) is None
    assert _polynomial(t, [x + 1000 * e for x, e in zip(straight, noise, strict=True)], TOLERANCE * 5) is None


# Pencils, data, figure


PENCIL = dict(what=[[1, 0], [0, 1]], rhs=[-1, -1], pencil=[[0, 1], [1, 0]], along=("t", 0, 3))


def test_the_data_enclose_what_they_say():
    M = [[2, -1, 0], [1, -3, 2], [1, 1, 1]]
    slope = [[1, 2, -1], [0, 3, 1], [-2, 1, 0]]
    found = wb.vary(M, rhs=[1, 2, -3], pencil=slope, pencil_rhs=[0, -1, 1], along=("t", -2, 3))
    data = json.loads(json.dumps(found.data))
    irrational = 0
    for c in data["critical"]:
        lo, hi = (fmpq(*float(c[end]).as_integer_ratio()) for end in ("lo", "hi"))
        if c["exact"] is None:
            irrational += 1
            p = fmpq_poly([int(x) for x in c["polynomial"]])
            assert p(lo) * p(hi) < 0
        else:
            x = Fraction(c["exact"])
            assert lo <= fmpq(x.numerator, x.denominator) <= hi
    assert irrational
    for interval in data["intervals"]:
        x = Fraction(interval["sample"])
        t = fmpq(x.numerator, x.denominator)
        for s in interval["solutions"]:
            denominator, *numerators = (fmpz_poly([int(c) for c in f])(t) for f in (s["denominator"], *s["numerators"]))
            assert min(f / denominator for f in numerators) >= 0
        assert interval["count"] == len(interval["solutions"])


def test_pencils_from_files_typed_and_in_parts(tmp_path, capsys):
    for name, text in {"M0": "1 0\n0 1\n", "M1": "0,1\n1,0\n", "q0": "-1 -1\n", "q1": "1\n1/3\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    M_0, M_1, q_0, q_1 = (str(tmp_path / f"{name}.csv") for name in ("M0", "M1", "q0", "q1"))
    given = ["check", M_0, "--rhs", q_0]

    def critical(*options):
        assert main([*given, *options, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        return [(c["exact"], [e["kind"] for e in c["events"]]) for c in data["critical"]]

    assert critical("--pencil", M_1, "--vary", "t=0:3") == [("1", ["family"])]
    assert critical("--pencil-rhs", q_1, "--vary", "t=-2:10/3") == [("1", ["exchange"]), ("3", ["exchange"])]
    # z = (1 - t, 1 - t/3) under M_0 alone; under M_0 + t M_1 z_0 vanishes where (1 - t) = t (1 - t/3).
    both = critical("--pencil", M_1, "--pencil-rhs", q_1, "--vary", "t=0:2")
    assert both == [(None, ["exchange"])]
    assert wb.vary(M_0, rhs=q_0, pencil=M_1, along=("t", 0, 3)).data["critical"][0]["exact"] == "1"


def test_curves_meet_at_critical_values_and_families_are_drawn():
    found = wb.vary(**PENCIL)
    frame = curves(found.paths)
    z_0 = frame[frame["name"] == "z_0"]
    for (support, _), curve in z_0.groupby(["support", "branch"]):
        expected = {"{0, 1}": 1 / (1 + curve["t"]), "{0}": 1 + 0 * curve["t"], "{1}": 0 * curve["t"]}[support]
        assert curve["value"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-14)
    assert set(z_0["support"]) == {"{0, 1}", "{0}", "{1}"}
    assert at_critical(found.paths).to_numpy().tolist() == [["z_0", 1.0, 0.0, 1.0], ["z_1", 1.0, 0.0, 1.0]]
    chart = figure(found.paths).chart.to_dict()
    assert len(chart["vconcat"]) == 2
    ray = wb.vary([[0]], rhs=[0], pencil=[[1]], along=("t", -1, 1))
    assert at_critical(ray.paths).to_numpy().tolist() == [["z_0", 0.0, 0.0, np.inf]]
    point = wb.vary([[-1, 0], [0, -1]], rhs=[-1, 1], pencil_rhs=[1, -1], along=("t", 0, 3))
    assert at_critical(point.paths).to_numpy().tolist() == [["z_0", 1.0, 0.0, 0.0], ["z_1", 1.0, 0.0, 0.0]]
    alone = wb.vary([[-1]], rhs=[0], pencil_rhs=["0"], along=("t", -1, 1))
    assert figure(alone.paths).chart.to_dict()["vconcat"]
    assert between(alone) == [1]


def test_forces_of_bilateral_contacts_have_either_sign():
    """The drawer's pins: lambda_nb from the path are those of its multipliers, without friction minus each other."""
    found = wb.vary("drawer", along=("mu", 0, "1/2"))
    frame = curves(found.paths)
    start = frame[frame["t"] == 0].set_index("name")["value"]
    [answer] = of_case(find_case("drawer", mu=0.0), {"mu": Fraction(0)}).regime.answers
    assert start.to_numpy() == pytest.approx(answer.multipliers.lambda_nb, rel=1e-12)
    assert start.min() < 0 < start.max()


def test_numbers_of_a_field_to_the_last_digit():
    """p - q sqrt 2 = +-1 / (p + q sqrt 2) for convergents p / q, of up to 30 digits."""
    root = max(real_roots([fmpz_poly([-2, 0, 1])])[(-2, 0, 1)], key=lambda r: r.value)
    p, q = 1, 1
    for k in range(80):
        assert number(root, (fmpq(p), fmpq(-q))) == pytest.approx((-1) ** (k + 1) / (p + q * 2**0.5), rel=1e-13, abs=0)
        p, q = p + 2 * q, p + q
    assert number(root, ()) == 0


# The command


def test_the_command_writes_a_page(tmp_path, capsys):
    out = tmp_path / "rod.html"
    words = ["check", "--case", "rod", "--set", "tan_theta=2", "--set", "spin=5", "--vary", "mu=0:3", "--out", str(out)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "4/3 = 1.333333333  1          ray: a solution comes from infinity (none before, {0} after)" in printed
    assert f"report: {out}" in printed
    page = out.read_text("utf-8")
    assert 'id="figure-paths"' in page
    body = page.split("<script>")[0]
    assert "4/3 = 1.333333333" in body
    assert "check --case rod" in body
    assert "undefined" not in body.lower()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["M.csv", "--vary", "t=0:1"], "--pencil FILE"), (["M.csv", "--pencil", "M.csv"], "--vary NAME=FROM:TO"),
        (["--case", "rod", "--vary", "mu"], "NAME=FROM:TO"), (["--case", "rod", "--vary", "mu=0:1:2"], "NAME=FROM:TO"),
        (["--case", "rod", "--vary", "mu=0:1e999999999"], "1e999999999"),
        (["--case", "rod", "--vary", "mu=0:nan"], "nan"), (["--case", "rod", "--vary", "=0:1"], "NAME=FROM:TO"),
        (["--case", "rod", "--pencil", "M.csv", "--vary", "mu=0:1"], "--rhs, --pencil and --pencil-rhs are for files"),
        (["--vary", "mu=0:1"], "FILE"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(words, expected, capsys):
    assert main(["check", *words]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
