"""When which bodies of a scene touch, stick and slide: known to a step where theory knows it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.scenes import Balls
from workbench.algorithms import find_solver
from workbench.builtin.reports.figures.timeline import MOST_PAIRS, main_contacts, timeline_figure
from workbench.comparison.columns import SCENE, TIMELINE
from workbench.comparison.contacts import timeline
from workbench.scenes.run import run
from workbench.scenes.stepper import SceneStepper
from workbench.verbs.find import find_formulation

G, MU, H = 9.81, 0.5, 4e-3
FALL, SPEED = 0.05, 0.3
PAIRS = ["body", "other"]


def of(found, label="coulomb", role="run", **pair):
    """The rows of a run, or of one of its pairs."""
    rows = found.timeline[(found.timeline["label"] == label) & (found.timeline["role"] == role)]
    return rows[(rows[list(pair)] == pd.Series(pair)).all(axis=1)] if pair else rows


@pytest.fixture(scope="module")
def thrown():
    """A ball that slides until it rolls, one that falls onto the ground beside it, and one far away that stays up."""
    scene = Balls(
        [[0, 0, 0.1], [0, 1, 0.1 + FALL], [0, 2, 9]], [[SPEED, 0, 0], [0, 0, 0], [0, 0, 0]], mu=MU
    )  # fmt: skip
    return wb.compare(scene, ["coulomb", "frictionless", "mujoco"], duration=0.16, steps=H)


@pytest.mark.parametrize(("label", "role", "h"), [("coulomb", "reference", H / 10), ("coulomb", "run", H)])
def test_contact_starts_when_what_falls_arrives(thrown, label, role, h):
    """After n steps of h it has fallen g h^2 n (n + 1) / 2, and contact begins with the step that would go farther."""
    rows = of(thrown, label, role, body="ball 2", other="world")
    n = np.arange(1000)
    begin = h * np.flatnonzero(G * h**2 * n * (n + 1) / 2 > FALL)[0] - h
    assert rows["start"].min() == pytest.approx(begin)
    assert begin == pytest.approx(np.sqrt(2 * FALL / G) - h, abs=0.51 * h)
    # It falls without sliding, and stays.
    assert rows["mode"].tolist() == ["sticking"]
    assert rows["end"].tolist() == pytest.approx([0.16])


def test_a_ball_slides_until_it_rolls(thrown):
    """Friction slows it by mu g and turns it by 5/2 mu g / R, so that v - w R = 0 after 2 v / (7 mu g)."""
    rows = of(thrown, role="reference", body="ball 1", other="world")
    assert rows["mode"].tolist() == ["sliding", "sticking"]
    assert rows["interval"].tolist() == [0, 0]
    # Sliding counts as sticking below v_th.
    until = 2 * (SPEED - Balls.v_th) / (7 * MU * G)
    assert rows["end"].iloc[0] == pytest.approx(until, abs=1.01 * H / 10)
    assert rows["end"].iloc[0] == rows["start"].iloc[1]
    # The distance and the impulse are those of constant forces, with speeds at the ends of steps.
    distance = 0.5 * until * (SPEED + Balls.v_th) - 0.5 * H / 10 * (SPEED - Balls.v_th)
    assert rows["slip"].iloc[0] == pytest.approx(distance, rel=0.005)
    assert rows["impulse"].sum() == pytest.approx(G * 0.16, rel=1e-6)
    assert of(thrown, "frictionless", body="ball 1")["mode"].tolist() == ["sliding"]


def test_balls_that_never_touch_have_no_rows_and_limits_of_what_is_compared_are_kept(thrown):
    assert set(of(thrown, role="reference")["body"]) == {"ball 1", "ball 2"}
    assert set(thrown.timeline["other"]) == {"world"}
    assert (thrown.timeline["end"] <= 0.16 + 1e-12).all()


def test_the_first_contact_of_every_run_is_among_its_numbers(thrown):
    rows = thrown.runs.set_index("label")
    assert rows.loc["coulomb", "first_contact"] == 0.0
    assert set(rows["first_pair"]) == {"ball 1–world"}


def test_columns_have_units_and_meanings(thrown):
    about = thrown.timeline.attrs["columns"]
    assert list(about) == list(thrown.timeline) == [x.name for x in TIMELINE if x.of >= SCENE]
    assert about["start"]["unit"] == about["end"]["unit"] == "s"
    assert (thrown.timeline["least_load"] > 0).all()


def test_what_is_saved_is_what_was_compared(thrown, tmp_path):
    thrown.save(tmp_path / "out")
    pd.testing.assert_frame_equal(wb.report(tmp_path / "out").timeline, thrown.timeline)
    assert len(pd.read_csv(tmp_path / "out" / "timeline.csv")) == len(thrown.timeline)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert 'id="figure-timeline"' in page
    # Below what is seen first, in a fold of its own.
    assert page.index('<div class="folds">') < page.index('id="contacts"') < page.index('id="figure-timeline"')


def bars(found):
    (figure,) = timeline_figure(found.comparison)
    chart = figure.chart.to_dict()
    (data,) = (rows for rows in chart["datasets"].values() if "mode" in rows[0])
    return figure, chart, pd.DataFrame(data)


def test_bars_are_what_the_reference_and_each_formulation_do(thrown):
    figure, chart, drawn = bars(thrown)
    assert set(drawn["label"]) == {"reference", "frictionless", "mujoco"}
    own = drawn[(drawn["label"] == "reference") & (drawn["pair"] == "ball 1–world")]
    assert own["mode"].tolist() == ["sliding", "sticking"]
    rows = of(thrown, role="reference", body="ball 1", other="world")
    np.testing.assert_allclose(own["to"], rows["end"], atol=0.16 / 100)
    # The formulation that is below at first differs longest: without friction nothing ever rolls.
    (chosen,) = chart["params"]
    assert (chosen["value"], chosen["bind"]["options"]) == ("frictionless", ["frictionless", "mujoco"])
    assert "0.01 m/s" in figure.caption


def test_what_touches_nothing_is_said_and_has_no_rows():
    found = wb.compare(Balls([[0, 0, 5.0], [0, 1, 5.0]], [[0, 0, 0]] * 2), ["coulomb", "ccp"], duration=0.02, steps=H)
    assert found.timeline.empty
    assert list(found.timeline) == [x.name for x in TIMELINE if x.of >= SCENE]
    assert found.runs["first_contact"].isna().all()
    assert str(found).splitlines()[1].startswith("No contact in 0.02 s")


def test_what_falls_is_not_in_contact_until_it_arrives():
    """Symplectic Euler falls g h t / 2 too far, which is all that runs differ by until then."""
    found = wb.compare(Balls([[0, 0, 0.1 + FALL]], [[0, 0, 0]]), ["coulomb", "box"], duration=0.12, steps=H)
    begin, h = np.sqrt(2 * FALL / G), H / 10
    (said,) = (x for x in found.words if x.startswith("No contact until"))
    words = "(ball 1–world); until then runs differ only by integration, by up to "
    assert words in said
    assert float(said.split()[3]) == pytest.approx(begin - h, abs=0.51 * h)
    assert float(said.partition(words)[2].split()[0]) == pytest.approx(1e3 * 0.5 * G * 0.9 * H * begin, rel=0.1)


def test_two_balls_on_each_other_are_one_pair_whatever_their_order():
    scene = Balls([[0, 0, 0.3], [0, 0, 0.1]], [[0, 0, 0]] * 2)
    found = wb.compare(scene, ["coulomb"], duration=0.04, steps=H)
    pairs = of(found, role="reference")[PAIRS].to_numpy().tolist()
    assert pairs == [["ball 2", "world"], ["ball 1", "ball 2"]]
    # The lower one bears both, and comes first.
    assert main_contacts(found.comparison) == [("ball 2", "world"), ("ball 1", "ball 2")]
    track = run(scene, SceneStepper(scene, find_formulation("coulomb"), H, find_solver("auto")), 4)
    turned = track.pressing._replace(pair=track.pressing.pair * 1)
    turned.pair[::3] = turned.pair[::3, ::-1]
    rows = [timeline({}, x, track, scene, 4 * H) for x in (track, replace(track, pressing=turned))]
    pd.testing.assert_frame_equal(*rows)


def test_many_pairs_are_not_all_drawn_and_the_caption_says_so():
    count = MOST_PAIRS + 2
    found = wb.compare(Balls([[0, 0.5 * i, 0.1] for i in range(count)], [[0, 0, 0]] * count), ["ccp"],
                       duration=3 * H, steps=H)  # fmt: skip
    figure, _, drawn = bars(found)
    assert drawn["pair"].nunique() == MOST_PAIRS
    assert "2 more are in timeline.csv" in figure.caption


def test_what_only_rounding_presses_is_open():
    scene = Balls([[0, 0, 0.1]], [[0, 0, 0]])
    track = run(scene, SceneStepper(scene, find_formulation("coulomb"), H, find_solver("auto")), 5)
    press = track.pressing._replace(load=track.pressing.load * [1, 1, 0.9e-9, 1, 1.1e-9])
    rows = timeline({}, replace(track, pressing=press), track, scene, 5 * H)
    assert rows["least_load"].tolist() == pytest.approx([1e-9 * G] * 2)
    assert rows["interval"].tolist() == [0, 1]
    np.testing.assert_allclose(rows[["start", "end"]], H * np.array([[0, 2], [3, 5]]))
    # What comes after the end of what is compared is left out.
    assert timeline({}, track, track, scene, 3 * H)["end"].tolist() == pytest.approx([3 * H])
    # An engine does not say how exact its answers are.
    engine = timeline({}, replace(track, pressing=press, tolerance=np.inf), track, scene, 5 * H)
    pd.testing.assert_frame_equal(engine, rows)


def test_contacts_of_one_pair_are_added_up():
    """A ball in a corner of two fixed ones touches what does not move at three places."""
    far = 0.2 / np.sqrt(2)
    scene = Balls([[0, 0, 0.1]], [[0, 0, 0]], fixed=[[far, far, 0.1], [far, -far, 0.1]], drive=[3.0, 0, 0])
    track = run(scene, SceneStepper(scene, find_formulation("coulomb"), H, find_solver("auto")), 2)
    assert track.pressed.tolist() == [3, 3]
    (rows,) = of(wb.compare(scene, ["coulomb"], duration=2 * H, steps=H)).to_dict("records")
    assert rows["impulse"] == pytest.approx(H * track.pressing.load.sum(), rel=1e-9)


def test_pairs_stand_in_the_order_of_their_impulses_in_the_reference(thrown):
    c = thrown.comparison
    pairs, rows = main_contacts(c), c.timeline.copy()
    assert len(pairs) > 1
    rows.loc[(rows["role"] == "run") & (rows["body"] == pairs[-1][0]), "impulse"] *= 1e6
    assert main_contacts(replace(c, timeline=rows)) == pairs
    rows.loc[(rows["role"] == "reference") & (rows["body"] == pairs[-1][0]), "impulse"] *= 1e6
    assert main_contacts(replace(c, timeline=rows))[0] == pairs[-1]
