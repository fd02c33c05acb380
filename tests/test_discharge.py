"""Beverloo's law fitted to constructed discharges, and to runs of a hopper over its opening."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.comparison.scenes.discharge import Discharge, beverloo, laws
from workbench.scenes.grains.measures import fall_time
from workbench.support.errors import DataError, WorkbenchError

ACROSS = np.repeat([4.0, 5.0, 6.0, 7.0], 3)


def discharges(C, k, scatter, rng, power=2.5):
    return (C ** (1 / power) * (ACROSS - k) + rng.normal(0, scatter, ACROSS.size)) ** power


def test_the_law_is_found_where_it_holds_exactly():
    law = beverloo(ACROSS, discharges(0.6, 1.4, 0.0, np.random.default_rng(0)))
    np.testing.assert_allclose([law.C, law.C_low, law.C_high], 0.6, rtol=1e-6)
    np.testing.assert_allclose([law.k, law.k_low, law.k_high], 1.4, rtol=1e-6)


def test_intervals_hold_as_often_as_they_say():
    rng, held, bent = np.random.default_rng(1), np.zeros(2), 0
    for _ in range(400):
        law = beverloo(ACROSS, discharges(0.58, 1.5, 0.1, rng))
        held += [law.C_low <= 0.58 <= law.C_high, law.k_low <= 1.5 <= law.k_high]
        bent += law.straight < 0.05
    assert ((held > 0.92 * 400) & (held < 0.98 * 400)).all()
    assert 0.02 * 400 < bent < 0.08 * 400


def test_another_law_is_seen():
    rng = np.random.default_rng(2)
    assert beverloo(ACROSS, discharges(0.6, 1.4, 0.02, rng, power=1.0)).straight < 0.01


def test_too_few_runs_tell_no_interval_and_no_number_is_made_up():
    two = beverloo([4.0, 5.0], [3.0, 7.0])
    assert np.isfinite([two.C, two.k]).all()
    assert np.isnan([two.C_low, two.k_low, two.straight]).all()
    # Nothing but scatter: the opening at which the line is zero may be anywhere.
    wild = beverloo([4.0, 5.0, 6.0, 7.0], [3.0, 9.0, 3.1, 9.5])
    assert np.isnan([wild.C_low, wild.C_high, wild.k_low, wild.k_high]).all()
    assert np.isnan(beverloo([4.0, 5.0, 6.0], [9.0, 5.0, 3.0]).C)
    with pytest.raises(DataError, match="1 openings with a discharge; at least two are needed"):
        beverloo([4.0, 4.0], [3.0, 3.1])
    rows = pd.DataFrame({"formulation": "ccp", "mu": 0.5, "step": 1e-3, "across": [4.0, 5.0], "rate": [1.0, np.nan]})
    (row,) = laws(rows).to_dict("records")
    assert np.isnan(row["C"])
    assert row["runs"] == 1


def test_half_a_fall_is_timed_between_the_moments():
    t = np.linspace(0, 1, 11)
    # At rest up to 0.2 s, then falling evenly from 2 to 1 m in 0.46 s.
    z = np.interp(t, [0.2, 0.66], [2.0, 1.0])
    assert fall_time(z, t, 0.2) == pytest.approx(0.23)
    assert np.isnan(fall_time(z[::-1], t, 0.2))
    assert np.isnan(fall_time(z, t, 2.0))


@pytest.fixture(scope="module")
def found():
    values = {"N": 60, "bin": 0.09, "opens": 0.01}
    return wb.discharge([0.06, 0.07, 0.08], ["ccp"], values=values, steps=[5e-3], seeds=2, duration=0.15)


@pytest.mark.thorough
def test_a_hopper_over_its_opening_gives_a_law_and_its_page(found, tmp_path):
    rows = found.rows
    assert rows["opening"].tolist() == [0.06, 0.06, 0.07, 0.07, 0.08, 0.08]
    np.testing.assert_allclose(rows["across"], rows["opening"] / 0.01, rtol=0.05)
    np.testing.assert_allclose(rows["rate"] * rows["bulk"] * np.sqrt(9.81) * 0.01**2.5, rows["discharge"], rtol=0.1)
    assert (rows["bulk"] < 2500).all()
    assert any("Here the bin is 1.1 times the widest" in word for word in found.words)
    law = found.laws.iloc[0]
    assert law["runs"] == 6
    # So few grains in so short a time fall through rather than flow: no interval, hence no number.
    assert np.isnan(law["C_low"])
    assert found.words[0] == "Ccp at μ = 0.5 and 5 ms: 6 runs with a discharge do not determine C and k."
    found.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert 'id="figure-discharge"' in page
    assert 'aria-label="Beverloo’s law"' in page
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {"laws.csv", "discharge.csv", "report.html"}


@pytest.mark.thorough
def test_discharges_that_keep_to_the_law_are_reported_with_intervals(found):
    rng, flows = np.random.default_rng(3), []
    for flow in found.runs.flows:
        d, rows = 2 * flow.radius, flow.rows
        free = 0.6**0.4 * (flow.case.opening / d - 1.4) + rng.normal(0, 0.02, len(rows))
        flows.append(replace(flow, rows=rows.assign(discharge=free**2.5 * rows["bulk"] * np.sqrt(9.81) * d**2.5)))
    kept = replace(found, runs=Discharge(tuple(flows)))
    law = kept.laws.iloc[0]
    assert law["C_low"] < 0.6 < law["C_high"]
    assert law["k_low"] < 1.4 < law["k_high"]
    said = f"Ccp at μ = 0.5 and 5 ms: C = {float(f'{law.C:.2g}'):g} ("
    assert kept.words[0].startswith(said)
    assert "The runs do not contradict the law" in kept.words[0]
    assert kept.words[-1].startswith("Confidence: each interval is a 95 % interval")


@pytest.mark.thorough
def test_a_hopper_that_has_not_opened_tells_nothing():
    case = {"N": 9, "opens": 1.0}
    none = wb.discharge([0.04, 0.05], ["ccp"], values=case, steps=[5e-3], seeds=1, duration=0.02)
    assert none.rows[["discharge", "delay", "bulk", "height"]].isna().all().all()
    assert "do not determine C and k" in none.words[0]
    assert not any("Confidence" in word for word in none.words)
    assert "figure-discharge" not in none.html()


@pytest.mark.thorough
def test_what_makes_no_law_is_refused_in_a_line(capsys):
    with pytest.raises(WorkbenchError, match="1 openings; a fit of Beverloo's law needs at least two"):
        wb.discharge([0.04, 0.04])
    with pytest.raises(DataError, match=r"opening = 0.2 m; less than the bin's 0.08 m"):
        wb.discharge([0.04, 0.2])
    for words, said in (
        (["flow", "packing", "--openings", "0.04,0.05"], "--openings is for the hopper; packing has no opening"),
        (
            ["flow", "hopper", "--openings", "0.04,0.05", "--roughness", "0.1"],
            "--roughness and --openings exclude each other",
        ),
        (["flow", "hopper", "--openings", "0.04,wide"], "--openings"),
    ):
        assert main(words) != 0
        assert said in capsys.readouterr().err
