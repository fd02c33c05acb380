"""When contacts of cases stick and slide, and which events a run misses: known where theory has closed forms."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.builtin.reports.figures.timeline import timeline_figure
from workbench.builtin.reports.text.contact_modes import lives, otherwise_words, slip_words
from workbench.comparison.columns import CASE, EVENTS, TIMELINE
from workbench.comparison.contacts import ModeChange, changes, unmatched
from workbench.support.errors import DataError
from workbench.verbs.find import find_case

H = 1e-3
BLOCK, PARTICLE = find_case("block"), find_case("particle")
FEW = ["box", "stewart-trinkle", "coulomb"]


def of(found, label="coulomb", role="run"):
    frame = found.timeline
    return frame[(frame["label"] == label) & (frame["role"] == role)]


@pytest.fixture(scope="module")
def block():
    return wb.compare(BLOCK, ["box", "hybrid", "ipc", "coulomb"], steps=H)


@pytest.fixture(scope="module")
def particle():
    return wb.compare(PARTICLE, FEW, steps=H)


def test_a_block_slides_until_friction_has_stopped_it(block):
    """It stops after v / (mu g), having slid v^2 / (2 mu g); the formulations' modes end v_th / (mu g) sooner."""
    exact = of(block, role="reference")
    speed, deceleration = BLOCK.speed, BLOCK.mu * BLOCK.gravity
    stop = speed / deceleration
    assert exact["mode"].tolist() == ["sliding", "sticking"]
    assert exact["interval"].tolist() == [0, 0]
    np.testing.assert_allclose(exact[["start", "end"]], [[0, stop], [stop, 0.8]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(exact["slip"], [0.5 * speed * stop, 0.0], atol=1e-7)
    weight = BLOCK.gravity  # Its mass is 1 kg.
    np.testing.assert_allclose(exact["impulse"], [weight * stop, weight * (0.8 - stop)], rtol=1e-10)
    for label in ("hybrid", "ipc", "coulomb"):
        rows = of(block, label)
        assert rows["mode"].tolist() == ["sliding", "sticking"]
        assert rows["end"].iloc[0] == pytest.approx(stop - BLOCK.v_th / deceleration, abs=2 * H)
        assert rows["slip"].iloc[0] == pytest.approx(0.5 * speed * stop, rel=0.01)


def test_a_box_that_stops_too_soon_is_told(block):
    """Along both axes the box has more friction than the disc, so that the block stops early."""
    rows = block.runs[block.runs["window"] == "all"].drop_duplicates("label").set_index("label")
    early = of(block, role="reference")["end"].iloc[0] - of(block, "box")["end"].iloc[0]
    assert early > 0.05
    assert rows.loc["box", "mode_time"] == pytest.approx(1e3 * (early - BLOCK.v_th / (BLOCK.mu * BLOCK.gravity)), abs=1)
    events = ["missed_events", "spurious_events"]
    assert rows.loc["box", events].tolist() == [1, 1]
    assert (rows.loc[["hybrid", "ipc", "coulomb"], events] == 0).all(axis=None)
    assert rows.loc["coulomb", "mode_time"] <= 1.0
    of_box = block.events[block.events["label"] == "box"].set_index("role")
    assert of_box["what"].to_dict() == {"missed": "sticks", "spurious": "sticks"}
    assert of_box.loc["spurious", "t"] == pytest.approx(of(block, "box")["end"].iloc[0])
    c = block.comparison
    assert slip_words(c) == [f"Sticking where the reference slides: box ({early:.2g} s)."]
    assert slip_words(c)[0] in block.words
    assert otherwise_words(c) == [f"box: contact 0 sticks for {early:.2g} s instead of sliding."]
    assert lives(c) == ["Contact 0: sliding until 0.67958 s, then sticking until the end."]


def test_the_page_says_why_a_missed_event_has_another_time_than_that_of_the_reference(block):
    exact, missed = (block.events[block.events["role"] == role]["t"].iloc[0] for role in ("reference", "missed"))
    assert exact - missed == pytest.approx(BLOCK.v_th / (BLOCK.mu * BLOCK.gravity), abs=2 * H)
    words = f"sticks as soon as it slides slower than the stick threshold of {BLOCK.v_th:g} m/s, in the reference too"
    assert words in block.html()


def test_a_particle_flies_slides_and_sticks(particle):
    """It falls for sqrt(2 z / g), and slides until friction has used up what the impact has left."""
    exact = of(particle, role="reference")
    assert exact["mode"].tolist() == ["sliding", "sticking"]
    lands, stops = exact["start"]
    q, v = PARTICLE.start()
    assert lands == pytest.approx(
        (v[1] + np.sqrt(v[1] ** 2 + 2 * PARTICLE.gravity * q[1])) / PARTICLE.gravity, abs=1e-12
    )
    found = particle.events[particle.events["role"] == "reference"]
    assert found["what"].tolist() == ["touches down", "sticks"]
    np.testing.assert_allclose(found["t"], [lands, stops], atol=0)
    impact = found["p_n"].iloc[0]
    # The impulse of the impact belongs to the contact that begins with it.
    weight = found["lambda_n"].iloc[1]
    assert exact["impulse"].iloc[0] == pytest.approx(impact + weight * (stops - lands), rel=1e-9)
    rows = of(particle)
    np.testing.assert_allclose(rows["start"], [lands, stops - PARTICLE.v_th * (stops - lands) / 3.0], atol=3 * H)


@pytest.mark.thorough
def test_frames_have_their_columns_and_are_saved_and_loaded(particle, tmp_path):
    for frame, columns in ((particle.timeline, TIMELINE), (particle.events, EVENTS)):
        assert list(frame) == list(frame.attrs["columns"]) == [x.name for x in columns if x.of >= CASE]
    out = tmp_path / "out"
    particle.save(out)
    for name in ("timeline", "events"):
        pd.testing.assert_frame_equal(getattr(wb.report(out), name), getattr(particle, name))
        assert len(pd.read_csv(out / f"{name}.csv")) == len(getattr(particle, name))
    page = (out / "report.html").read_text("utf-8")
    assert page.index('id="contacts"') < page.index('id="figure-timeline"') < page.index("Events of the reference")
    assert "0.4370903613" in page
    # A comparison that was saved without a timeline says so, and has none; one that lacks its file is damaged.
    (out / "events.parquet").unlink()
    with pytest.raises(DataError, match=r"events.parquet' cannot be read"):
        wb.report(out)
    content = json.loads((out / "comparison.json").read_text())
    del content["contacts"]
    (out / "comparison.json").write_text(json.dumps(content))
    older = wb.report(out)
    assert older.timeline.empty
    assert 'id="contacts"' not in older.html()


@pytest.mark.thorough
def test_comparisons_that_are_merged_have_the_timelines_of_all(particle, tmp_path):
    parts = [wb.compare(PARTICLE, [x], steps=H, metrics=["mode-time"]) for x in ("box", "coulomb")]
    for i, x in enumerate(parts):
        x.save(tmp_path / str(i))
    both = wb.report([tmp_path / "0", tmp_path / "1"])
    for name in ("timeline", "events"):
        own = getattr(particle, name)
        pd.testing.assert_frame_equal(
            getattr(both, name), own[own["label"] != "stewart-trinkle"].reset_index(drop=True)
        )


def test_bars_are_those_of_the_reference_and_of_the_formulation_that_differs_most(block):
    (figure,) = timeline_figure(block.comparison)
    chart = figure.chart.to_dict()
    (data,) = (rows for rows in chart["datasets"].values() if "mode" in rows[0])
    drawn = pd.DataFrame(data)
    assert set(drawn["label"]) == {"reference", "box", "hybrid", "ipc"}
    assert set(drawn["pair"]) == {"contact 0"}
    assert drawn[drawn["label"] == "reference"]["to"].tolist() == pytest.approx([0.6796, 0.8], abs=0.8 / 380)
    (chosen,) = chart["params"]
    assert chosen["value"] == "box"


def test_a_creep_where_exact_friction_sticks_is_told(block):
    """Planted by hand: what sticks in a run slides."""
    c, rows = block.comparison, block.timeline.copy()
    rows.loc[(rows["label"] == "ipc") & (rows["role"] == "run"), "mode"] = "sliding"
    stop = of(block, role="reference")["end"].iloc[0]
    said = slip_words(replace(c, timeline=rows))
    assert said[0] == f"Slipping where the reference sticks: ipc ({0.8 - stop:.2g} s)."


def test_a_stepped_reference_has_the_modes_of_its_steps():
    found = wb.compare(PARTICLE, ["coulomb"], steps=H, reference="steps")
    exact = of(found, role="reference")
    assert exact["mode"].tolist() == ["sliding", "sticking"]
    assert (exact["step"] == 1e-4).all()
    assert exact["start"].iloc[0] == pytest.approx(0.43709, abs=2e-4)
    listed = found.events[found.events["role"] == "reference"]
    assert listed["what"].tolist() == ["touches down", "sticks"]
    assert listed["p_n"].isna().all()
    assert (found.events["role"] == "reference").all()


def test_redundant_contacts_are_compared_by_their_motion():
    """The other sides of the guide touch and bear nothing, in the reference and in the runs."""
    found = wb.compare("rod-in-guide", ["stewart-trinkle", "coulomb"], steps=H, duration=0.1)
    assert set(found.timeline["contact"]) == {0, 2}
    assert (found.runs["mode_time"].dropna() == 0).all()
    assert found.events.empty


S, T, O = "sliding", "sticking", "open"


def seen(*pieces, h=1e-3):
    mode = np.concatenate([np.tile(x, n * len(np.atleast_1d(x)))[:n] for x, n in pieces])[:, None]
    return [(round(x.t / h), x.what) for x in changes(mode.astype(str), h, 0.0, 5 * h)]


def test_chattering_makes_no_events_and_short_touches_do():
    assert seen((S, 10), (T, 10)) == [(10, "sticks")]
    assert seen((S, 10), ([T, S], 100), (T, 10)) == [(110, "sticks")]
    assert seen(([S, O], 100)) == []
    assert seen((S, 20), (O, 5), (S, 20)) == []
    assert seen((S, 20), (O, 6), (S, 20)) == [(20, "lifts off"), (26, "touches down")]
    assert seen((O, 20), (S, 1), (O, 20)) == [(20, "touches down"), (21, "lifts off")]
    # What slides anew after a flight has not begun to slip.
    assert seen((T, 10), (O, 10), (S, 10)) == [(10, "lifts off"), (20, "touches down")]


def test_events_match_within_the_tolerance_one_to_one():
    def at(*times):
        return [ModeChange(t, 0, "sticks") for t in times]

    def counts(here, there, **rest):
        return tuple(map(len, unmatched(here, there, 0.1, rest.get("window", (0.0, 10.0)))))

    assert counts(at(1.05), at(1.0)) == (0, 0)
    assert counts(at(1.2), at(1.0)) == (1, 1)
    assert counts(at(0.95, 1.05), at(1.0)) == (0, 1)
    assert counts(at(), at(1.0, 2.0)) == (2, 0)
    assert counts(at(1.0), [ModeChange(1.0, 1, "sticks")]) == (1, 1)
    assert counts(at(1.0), [ModeChange(1.0, 0, "slips")]) == (1, 1)
    # The other one may lie beyond the end.
    assert counts(at(9.95), at()) == (0, 0)
