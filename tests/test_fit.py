"""Fitted parameters: those of a motion's own data, standard errors against repetitions, and what is not determined."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import minimize

import workbench as wb
from workbench.builtin.reports.text.fit import sentences
from workbench.cli.main import main
from workbench.derivatives.fitting import Measurements, fit_parameters, measurements
from workbench.derivatives.motion import Motion
from workbench.mechanics.case import Case
from workbench.support.errors import DataError, UnknownNameError
from workbench.verbs.find import find_case, find_formulation

H = 1e-3


def own(case: Case, name: str, outputs: dict[str, int], duration: float = 0.3) -> pd.DataFrame:
    """Coordinates of a motion by steps under a formulation, at times between and at the steps."""
    motion = Motion(case, find_formulation(name), H, duration)
    t = np.linspace(0, duration, 24)
    steps = H * np.arange(motion.steps + 1)
    return pd.DataFrame({"t": t, **{key: np.interp(t, steps, motion.states_q[:, i]) for key, i in outputs.items()}})


@pytest.mark.parametrize("name", ["coulomb", "ccp", "box", "stewart-trinkle"])
def test_a_formulation_finds_the_parameters_of_its_own_motion(name):
    true = find_case("block").with_parameters(mu=0.27, speed=1.8)
    seen = own(true, name, {"q[0]": 0, "q[1]": 1})
    found = fit_parameters(find_case("block"), find_formulation(name), measurements(seen), ["mu", "speed"], H)
    np.testing.assert_allclose(found.values, [0.27, 1.8], rtol=1e-7)
    assert found.reason == ""
    assert found.residual < 1e-8


def test_restitution_is_found_through_impacts():
    true = find_case("bouncing-ball").with_parameters(e=0.7)
    seen = own(true, "coulomb", {"q[2]": 2}, 0.7)
    start = find_case("bouncing-ball").with_parameters(e=0.6)
    found = fit_parameters(start, find_formulation("coulomb"), measurements(seen), ["e"], H)
    assert found.values[0] == pytest.approx(0.7, rel=1e-7)


def noisy(rng: np.random.Generator) -> Measurements:
    t = np.linspace(0, 0.4, 21)
    s = 2 * t - 0.5 * 0.3 * 9.81 * t**2
    x, y = (s * c + rng.normal(0, 1e-3, t.size) for c in (np.cos(np.pi / 6), np.sin(np.pi / 6)))
    return Measurements(t, ("x", "y"), np.stack([x, y], axis=1), np.ones(2))


@pytest.mark.thorough
def test_the_velocity_at_the_start_is_found_with_friction():
    case = find_case("block")
    _, v = case.start()
    start = case.with_parameters(mu=0.25, speed=1.6, direction=0.4)
    found = wb.fit(start, own(case, "coulomb", {"x": 0, "y": 1}), ["coulomb"], to=["mu", "v[0]", "v[1]"])
    values = found.table.set_index("parameter")["value"]
    np.testing.assert_allclose(values[["mu", "v[0]", "v[1]"]], [case.mu, v[0], v[1]], rtol=1e-6)


def test_standard_errors_are_the_spread_of_repetitions():
    """200 data sets with other noise of 1 mm; the correlation of speed and friction is theirs, too."""
    rng, coulomb, case = np.random.default_rng(0), find_formulation("coulomb"), find_case("block")
    fits = [fit_parameters(case, coulomb, noisy(rng), ["mu", "speed"], H) for _ in range(200)]
    values = np.array([x.values for x in fits])
    np.testing.assert_allclose(np.mean([x.errors for x in fits], axis=0), values.std(axis=0, ddof=1), rtol=0.1)
    assert np.mean([x.correlation[0, 1] for x in fits]) == pytest.approx(np.corrcoef(values.T)[0, 1], abs=0.03)
    # Two standard errors hold the truth in 95 of 100; the step moves the speed by h mu g / 2.
    inside = [abs(x.values[0] - 0.3) < 2 * x.errors[0] for x in fits]
    assert 0.9 < np.mean(inside) < 0.99


def test_standard_errors_of_few_measurements_are_those_of_a_straight_line():
    """The speed of a sliding block is speed - mu g t: a linear regression, of five points by two parameters."""
    t, off = 0.05 * np.arange(5), 1e-3 * np.array([1.0, -2.0, 0.5, 1.5, -1.0])
    case = find_case("block").with_parameters(direction=0.0)
    seen = Measurements(t, ("v[0]",), (2.0 - 0.3 * 9.81 * t + off)[:, None], np.ones(1))
    found = fit_parameters(case, find_formulation("coulomb"), seen, ["speed", "mu"], 1e-2)
    (slope, speed), covariance = np.polyfit(t, seen.values[:, 0], 1, cov=True)
    per_slope, per_speed = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found.values, [speed, -slope / 9.81], rtol=1e-7)
    np.testing.assert_allclose(found.errors, [per_speed, per_slope / 9.81], rtol=1e-6)


def test_derivatives_take_a_tenth_of_the_runs_of_a_search():
    case, coulomb, given = find_case("block"), find_formulation("coulomb"), noisy(np.random.default_rng(1))
    found = fit_parameters(case.with_parameters(mu=0.2, speed=1.5), coulomb, given, ["mu", "speed"], H)
    steps = H * np.arange(401)

    def misfit(theta: np.ndarray) -> float:
        q = Motion(case.with_parameters(mu=theta[0], speed=theta[1]), coulomb, H, 0.4).states_q
        return float(sum(((np.interp(given.t, steps, q[:, i]) - given.values[:, i]) ** 2).sum() for i in (0, 1)))

    search = minimize(misfit, [0.2, 1.5], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-14})
    np.testing.assert_allclose(found.values, search.x, rtol=1e-6)
    assert found.runs * 10 < search.nfev


def test_a_rough_objective_has_no_standard_error_but_an_interval():
    """A soft contact bounces under the block: beside the fit the objective jumps, unseen by derivatives. The interval
    is that of 400 runs."""
    case, rng = find_case("block"), np.random.default_rng(2)
    seen = own(case, "coulomb", {"x": 0, "y": 1}, 0.2)
    seen[["x", "y"]] += rng.normal(0, 1e-3, (24, 2))
    found = wb.fit("block", seen, ["coulomb", "mujoco"], to="mu")
    table, given, steps = found.table.set_index("formulation"), measurements(seen), H * np.arange(201)
    assert np.isfinite(table.loc["coulomb", "standard_error"])
    assert np.isnan(table.loc["mujoco", "standard_error"])
    assert any("No standard error" in sentence and "mujoco" in sentence for sentence in found.words)

    def misfit(mu: float) -> float:
        q = Motion(case.with_parameters(mu=mu), find_formulation("mujoco"), H, 0.2).states_q
        at = np.stack([np.interp(given.t, steps, q[:, i]) for i in (0, 1)], axis=1)
        return float((((at - given.values) / given.sigma) ** 2).sum())

    low, high = table.loc["mujoco", ["low", "high"]]
    width, count = high - low, 48
    tried = np.linspace(low - width / 2, high + width / 2, 400)
    values = np.array([misfit(mu) for mu in tried])
    inside = tried[values <= values.min() * (1 + stats.f.ppf(0.95, 1, count - 1) / (count - 1))]
    np.testing.assert_allclose([low, high], [inside.min(), inside.max()], rtol=0, atol=0.06 * width)


def test_intervals_of_two_parameters_hold_the_truth_and_agree_with_standard_errors(monkeypatch):
    """Where the linear model holds values tried one by one, with the other parameter fitted, give the same interval."""
    case, coulomb, given = find_case("block"), find_formulation("coulomb"), noisy(np.random.default_rng(3))
    linear = fit_parameters(case, coulomb, given, ["mu", "speed"], H)
    quantile = stats.t.ppf(0.975, 2 * 21 - 2)
    for k, (low, high) in enumerate(linear.intervals):
        assert (linear.values[k] - low) / linear.errors[k] == pytest.approx(quantile)
        assert (high - linear.values[k]) / linear.errors[k] == pytest.approx(quantile)
    monkeypatch.setattr("workbench.derivatives.fitting.ALIKE", -1.0)
    tried = fit_parameters(case, coulomb, given, ["mu", "speed"], H)
    assert np.isnan(tried.errors).all()
    np.testing.assert_allclose(tried.intervals, linear.intervals, rtol=0, atol=0.03 * np.ptp(linear.intervals[0]))
    np.testing.assert_allclose(tried.values, linear.values, rtol=1e-6)


def test_an_interval_ends_where_the_case_refuses_values_or_nowhere(monkeypatch):
    """No coefficient is negative; an end that is sought within two thousandths of the value is not found."""
    case, coulomb = find_case("block").with_parameters(mu=0.02), find_formulation("coulomb")
    seen = own(case, "coulomb", {"x": 0}, 0.2)
    seen["x"] += np.random.default_rng(1).normal(0, 5e-3, 24)
    monkeypatch.setattr("workbench.derivatives.fitting.ALIKE", -1.0)
    found = fit_parameters(case, coulomb, measurements(seen), ["mu"], H)
    assert 0.0 <= found.intervals[0, 0] < 1e-4 < found.values[0] < found.intervals[0, 1] < np.inf
    monkeypatch.setattr("workbench.derivatives.fitting.WIDEST", 2)
    found = fit_parameters(case, coulomb, measurements(seen), ["mu"], H)
    assert found.intervals[0].tolist() == [-np.inf, np.inf]


def test_residuals_within_the_noise_share_the_first_place():
    """Of 50 residuals the root mean square has a standard error of a tenth."""
    rows = [
        {"formulation": name, "parameter": "mu", "value": value, "standard_error": error, "residual": residual,
         "low": value - 0.021, "high": value + 0.021, "runs": 5, "rough_steps": 0, "reason": ""}
        for name, value, error, residual in
        [("a", 0.30, np.nan, 0.0100), ("b", 0.31, 0.01, 0.0109), ("c", 0.40, 0.01, 0.0112)]
    ]  # fmt: skip
    said = sentences(pd.DataFrame(rows), {"measurements": 50, "of": ["x"], "step": H})
    assert said[:3] == [
        "Smallest residuals: a (1 %) with mu = 0.3 (0.279 to 0.321); b (1.09 %) with mu = 0.310 ± 0.010. Their "
        "residuals differ by less than the noise.",
        "More than 2 standard errors from b: c (mu = 0.400 ± 0.010).",
        "No standard error, because residuals near the fit do not grow as the derivatives say; 95 % intervals by "
        "values tried: a.",
    ]


def test_an_interval_without_an_end_is_said_to_have_none(tmp_path, monkeypatch, capsys):
    """On the terminal, and as nothing for a program that reads numbers."""
    seen = own(find_case("block"), "coulomb", {"x": 0}, 0.2)
    seen["x"] += np.random.default_rng(1).normal(0, 5e-3, 24)
    seen.to_csv(path := tmp_path / "seen.csv", index=False)
    monkeypatch.setattr("workbench.derivatives.fitting.ALIKE", -1.0)
    monkeypatch.setattr("workbench.derivatives.fitting.WIDEST", 2)
    assert "(−∞ to ∞)" in wb.fit("block", seen, ["coulomb"], to="mu").words[0]
    main(["fit", "block", str(path), "--to", "mu", "-f", "coulomb", "--json"])
    (row,) = json.loads(capsys.readouterr().out)["fits"]
    assert (row["low"], row["high"]) == (None, None)


def test_what_is_not_determined_is_refused():
    case, coulomb = find_case("block"), find_formulation("coulomb")
    seen = measurements(own(case, "coulomb", {"q[0]": 0}))
    with pytest.raises(DataError, match="do not depend on height"):
        fit_parameters(case, coulomb, seen, ["mu", "height"], H)
    with pytest.raises(DataError, match="do not distinguish mu, gravity"):
        fit_parameters(case, coulomb, seen, ["mu", "gravity"], H)
    with pytest.raises(DataError, match="2 measurements; 3 parameters"):
        fit_parameters(
            case, coulomb, Measurements(seen.t[:2], seen.names, seen.values[:2], seen.sigma), ["mu", "speed", "m"], H
        )
    with pytest.raises(UnknownNameError):
        fit_parameters(case, coulomb, seen, ["weight"], H)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1.0]}, "have the columns 'x'; t and one output at least"),
        ({"t": [0.0, 1.0], "x": [1.0, "b"]}, "is no number: 'b' in row 2 of column 'x'"),
        ({"t": [0.1, 0.1], "x": [1.0, 2.0]}, "times t are needed that rise.*; rows 1 and 2 have t = 0.1 and 0.1"),
        ({"t": [0.0, 0.2, 0.1], "x": [1.0, 2.0, 3.0]}, "; rows 2 and 3 have t = 0.2 and 0.1"),
        ({"t": [-1.0, 0.1], "x": [1.0, 2.0]}, "row 1 has t = -1, before the motion"),
        ({"t": [0.0, np.nan], "x": [1.0, 2.0]}, "row 2 has t = nan"),
        ({"t": [0.0], "x": [1.0]}, "two at least; here is 1"),
        ({"t": [0.0, 0.1], "x": [np.nan, np.nan]}, "infinite, or all missing"),
        ({"t": [0.0, 0.1], "x": [1e200, 0.0]}, "beyond 1e\\+150"),
        ({"t": [0.0, 0.1], "x": [1.0, 1j]}, "is no number"),
        ({"x" * 10**6: [1.0]}, r"columns 'x{40}'; t and"),
    ],
)
def test_measurements_that_are_none_are_named(columns, words):
    with pytest.raises(DataError, match=words):
        measurements(pd.DataFrame(columns))


def test_an_output_that_never_changes_is_a_measurement_too():
    """Its residuals are relative neither to a spread of zero nor to rounding."""
    straight = find_case("block").with_parameters(direction=0.0)
    seen = own(straight, "coulomb", {"x": 0, "y": 1})
    assert 0 < np.abs(seen["y"]).max() < 1e-18
    for y in (seen["y"] * np.arange(24) ** 2, 0.0):
        given, start = measurements(seen.assign(y=y)), straight.with_parameters(mu=0.25)
        found = fit_parameters(start, find_formulation("coulomb"), given, ["mu"], H)
        assert found.values[0] == pytest.approx(0.3, rel=1e-7)


def test_times_in_milliseconds_are_refused():
    """The block's 0.8 s are simulated up to a hundred times."""
    with pytest.raises(
        DataError, match="measurements up to t = 100 s; t is in seconds, and at most 80 s are simulated"
    ):
        wb.fit("block", pd.DataFrame({"t": [0.0, 100.0], "x": [0.0, 1.0]}), ["coulomb"], to="mu")


def test_the_command_reads_a_file_and_prints_words_or_json(capsys, tmp_path):
    path = tmp_path / "seen.csv"
    seen = own(find_case("block").with_parameters(mu=0.25), "coulomb", {"x": 0, "y": 1})
    seen.loc[3, "x"] = np.nan
    seen.to_csv(path, index=False)
    given = ["fit", "block", str(path), "--to", "mu", "-f", "coulomb", "-f", "stewart-trinkle", "--quiet"]
    main([*given, "--json", "--out", str(tmp_path / "out")])
    found = json.loads(capsys.readouterr().out)
    assert found["measurements"] == 2 * len(seen) - 1
    first = found["fits"][0]
    assert (first["formulation"], first["parameter"]) == ("coulomb", "mu")
    assert first["value"] == pytest.approx(0.25, rel=1e-6)
    assert (tmp_path / "out" / "report.html").exists()
    main(given)
    said = capsys.readouterr().out
    assert "Smallest residual: coulomb (" in said
    assert "stewart-trinkle  mu" in said
    assert main(["fit", "block", str(tmp_path / "none.csv"), "--to", "mu", "--quiet"]) == 2
    assert "none.csv does not exist; give a CSV file" in capsys.readouterr().err


def test_every_option_of_the_command_reaches_the_fit(monkeypatch):
    asked = {}

    def noted(case, file, formulations, **given):
        asked.update(case=case, file=file, formulations=formulations, **given)
        raise DataError("noted")

    monkeypatch.setattr("workbench.verbs.fit.fit", noted)
    words = ["fit", "block", "seen.csv", "--to", "mu", "speed", "-f", "ccp", "--set", "mu=0.45", "--step", "2e-3"]
    assert main([*words, "--quiet"]) != 0
    assert (asked["case"].mu, asked["file"], asked["formulations"]) == (0.45, "seen.csv", ["ccp"])
    assert (asked["to"], asked["step"]) == (["mu", "speed"], 2e-3)
