"""What is said of a comparison of a scene, on tables that are made up: who is alike, what shows, why it stops."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from workbench.builtin.reports.text import scenes
from workbench.builtin.reports.text.contact_modes import otherwise_words
from workbench.builtin.reports.text.headline import headline
from workbench.comparison.jobs import Settings
from workbench.comparison.result import Comparison
from workbench.comparison.scenes.bodies import ERRORS
from workbench.comparison.shown import SceneShown

H = 0.01
POSITION = ERRORS[0].of_worst()


def shown(**changes):
    given = dict(
        name="made up", bodies=("left", "right"), v_th=1e-4, velocities=12, duration=2.0, until=2.0, why="",
        growth=(1.0, 250.0), uncertainty=(1e-5, 2e-5), facts={}, left_out=(), engines={},
    )  # fmt: skip
    return SceneShown(**given | changes)


def comparison(errors, bodies=(), verified=None, **changes):
    """Rows of (position error, its part by the formulation) by label; the step makes 10 mm, the reference is known to
    0.1 mm. Rows of bodies are (label, body, column, value)."""
    runs = pd.DataFrame([
        {"label": label, "formulation": label.partition(":")[0], "step": h, "window": "compared", "axes": "",
         "verified": label not in (verified or {}), "sampled": False, "claimed": "SOLVED",
         "cost": 1e-3, "cost_low": 1e-3, "cost_high": 1e-3, "timings": 1, "solver": "one", "steps": 200,
         "window_start": 0.0, "window_end": 2.0, "residual": 0.0,
         "body_position_error": error, "body_position_formulation": part, "body_position_reference": 1e-4,
         "body_position_discretisation": 0.01, "reason": (verified or {}).get(label, "")}
        for h in (H, 2 * H) for label, (error, part) in errors.items()
    ])  # fmt: skip
    table = dict.fromkeys(("position_error", "penetration", "lift", "creep", "drift", "slip"), np.nan)
    rows = [table | {"label": x, "formulation": x, "solver": "exact", "step": h, "body": body,
                     name: value if h == H else 1e3}
            for h in (H, 2 * H) for x, body, name, value in bodies]  # fmt: skip
    bodies = pd.DataFrame(rows, columns=["label", "formulation", "solver", "step", "body", *table])
    formulations = [SimpleNamespace(label=x, friction="none" if x == "frictionless" else "cone") for x in errors]
    settings = Settings((H, 2 * H), 1e-3, 2.0)
    return Comparison("made up", tuple(formulations), (POSITION,), runs, runs[:0], runs[:0], (), settings=settings,
                      scene=shown(**changes), bodies=bodies)  # fmt: skip


def test_solvers_say_what_they_leave_unsolved():
    c = comparison({"coulomb": (0.01, 0.0), "ccp": (0.02, 0.02)})
    c.runs["solver"], c.runs["reason"] = "one", "it ended"
    once = scenes.summary(replace(c, runs=c.runs.assign(verified=False)))
    assert any(x.startswith("ccp is not compared") for x in once)
    by = [c.runs.assign(solver=x, body_position_solver=y) for x, y in (("one", np.nan), ("two", 3e-3), ("three", 1e-8))]
    twice = scenes.summary(replace(c, runs=pd.concat(by, ignore_index=True)))
    assert "The remaining residual of two moves bodies by 3 mm at most, under coulomb." in twice
    assert "The remaining residual of three moves bodies by less than a micrometre." in twice
    assert not any("one leaves" in x for x in twice)
    by[1]["verified"] = False
    words = scenes.summary(replace(c, runs=pd.concat(by, ignore_index=True)))
    assert any(x.startswith("ccp by two is not compared") for x in words)


def alike(c):
    return scenes.as_coulomb(c, scenes.first_rows(c))


@pytest.mark.parametrize(("part", "so"), [(4.9e-4, True), (5.1e-4, False)])
def test_a_row_is_as_exact_friction_if_it_makes_less_than_a_twentieth_of_what_the_step_makes(part, so):
    c = comparison({"coulomb": (0.01, 0.0), "ccp": (0.02, part), "box": (0.03, 0.02)})
    assert alike(c) == (["ccp"] if so else [])


def test_a_row_is_as_exact_friction_if_it_makes_less_than_is_known_or_seen():
    c = comparison({"coulomb": (0.01, 0.0), "ccp": (0.02, 9e-5), "box": (0.03, 2e-4), "hybrid": (0.02, 9e-7)})
    c.runs["body_position_discretisation"] = 0.0
    assert alike(c) == ["ccp", "hybrid"]
    c.runs["body_position_reference"] = 0.0
    assert alike(c) == ["hybrid"]
    c.runs.loc[c.runs["label"] == "hybrid", "verified"] = False
    assert alike(c) == []
    del c.runs["body_position_reference"]
    assert alike(c) == []


@pytest.mark.parametrize(
    ("name", "value", "exact", "said"),
    [
        ("penetration", 1.1e-4, 0.0, ["left penetrates by 0.11 mm"]),
        ("penetration", 0.9e-4, 0.0, []),
        ("creep", 2e-3, 1.5e-3, ["left creeps at 2 mm/s"]),
        ("creep", 2e-3, 1.8e-3, []),
        ("slip", 1.0, 0.0, []),
    ],
)
def test_symptoms_are_reported_where_they_can_be_seen_beyond_those_of_exact_friction(name, value, exact, said):
    rows = [("coulomb", "left", name, exact), ("ccp", "left", name, value), ("ccp", "right", name, 0.5 * value)]
    assert scenes.symptoms_of(comparison({}, rows), "ccp") == said


def test_the_first_step_size_is_reported():
    c = comparison({"coulomb": (0.01, 0.0)}, [("ccp", "left", "position_error", 1.0), ("ccp", "right", "lift", 0.25)])
    assert scenes.first_rows(c)["step"].tolist() == [H]
    assert scenes.symptoms_of(c, "ccp") == ["right lifts off by 250 mm"]


def test_how_sure_it_is_and_where_it_stops():
    errors = {"coulomb": (0.01, 0.0), "ccp": (0.02, 0.01)}
    words = headline(comparison(errors, (), {"ccp": "why not"}, until=1.5, why="it ended")).sentences
    assert "The comparison stops at 1.5 s: it ended." in words
    sure = next(x for x in words if x.startswith("Confidence"))
    assert sure.startswith(
        "Confidence: high. 1 of 2 runs are verified (not: ccp); the reference path is known to 0.1 mm"
    )
    assert sure.endswith("a 0.1 µm displacement of the start moves a body by up to 0.025 mm.")
    ran = headline(comparison(errors | {"engine:x": (0.3, 0.2)}, engines={"engine:x": "X"})).confidence
    assert "Both runs are verified; the run of engine:x cannot be verified; the reference" in ran
    # What is not verified is not offered, however cheap it is.
    offered = comparison({"coulomb": (0.01, 0.0), "engine:x": (0.1, 0.1), "ccp": (0.2, 0.2)}, engines={"engine:x": "X"})
    cheap = offered.runs["label"].isin(["engine:x", "ccp"])
    offered.runs.loc[cheap, ["cost", "cost_low", "cost_high"]] = 1e-4
    assert "If an error of 200 mm is small enough, ccp is 10 times cheaper." in headline(offered).recommendation
    calm = headline(comparison(errors, (), growth=(1.0, 1.4))).sentences
    assert "displacement" not in " ".join(calm)
    assert scenes.until_words(shown()) == "from 0 to 2 s"
    assert scenes.until_words(shown(until=1.5)) == "from 0 to 1.5 s of 2 s"


def test_confidence_is_low_where_another_start_may_rank_otherwise():
    """Ranks differ by 9 mm; with 0.1 µm at the start, 80 thousand times is 8 mm and 100 thousand times 10 mm."""
    errors = {"coulomb": (0.01, 0.0), "ccp": (0.019, 0.01)}
    near, beyond = (headline(comparison(errors, growth=(1.0, x))).confidence for x in (8e4, 1e5))
    assert near.startswith("Confidence: high. Both runs are verified")
    assert beyond.startswith(
        "Confidence: low, because a 0.1 µm displacement of the start moves a body by up to 10 mm, more than the 9 mm "
        "between rank 1 and ccp. Both runs"
    )
    tied = headline(comparison({"coulomb": (0.01, 0.0), "ccp": (0.01, 0.0)}, growth=(1.0, 1e5))).confidence
    assert tied.startswith("Confidence: high")


def test_what_overlaps_at_the_start_is_said():
    begun = "rigid recovery of two overlaps"
    words = headline(comparison({"coulomb": (0.01, 0.0), "ccp": (0.02, 0.01)}, left_out=("flexes", begun))).sentences
    assert any(x.startswith(f"Initial state: {begun}.") for x in words)


def touching(*rows):
    """Rows of `timeline`: role, label, body, mode, start, end; what does not move is the other body."""
    columns = ["role", "label", "body", "mode", "start", "end"]
    more = {"other": "world", "step": H, "solver": "one", "interval": 0, "impulse": 1.0, "least_load": 1e-9}
    return pd.DataFrame(rows, columns=columns).assign(**more)


LATE = "No contact until 0.5 s (left–world); until then runs differ only by integration, by up to 2 mm."
MADE_UP = {
    "from the start": ([("reference", "coulomb", "left", "sticking", 0.01, 2.0)], ""),
    "late": ([("reference", "coulomb", "left", "sticking", 0.5, 2.0)], LATE),
    "never": ([], "No contact in 2 s"),
    "under others alone": (
        [("run", "ccp", "left", "sticking", 0.5, 2.0)], "No contact in the reference in 2 s; other formulations"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "said"), MADE_UP.values(), ids=MADE_UP)
def test_where_contact_comes_late_or_never_that_is_said(rows, said):
    c = comparison({"coulomb": (0.01, 0.0), "ccp": (0.02, 0.01)})
    flown = pd.DataFrame({"role": "run", "t": [0.4, 0.5, 0.6], "position_error": [1e-3, 2e-3, 9e-3]})
    words = headline(replace(c, timeline=touching(*rows), trajectories=flown)).sentences
    assert said in " ".join(words)
    assert any(x.startswith("Use ") for x in words) == bool(rows)
    assert ("No contact" in " ".join(words)) == bool(said)


def test_what_joints_do_before_contact_is_no_integration():
    c = comparison({"coulomb": (0.01, 0.0)}, velocities=11)
    rows = touching(*MADE_UP["late"][0]), pd.DataFrame({"role": [], "t": [], "position_error": []})
    words = headline(replace(c, timeline=rows[0], trajectories=rows[1])).sentences
    assert "No contact until 0.5 s (left–world); until then runs differ only by integration and joints." in words


def test_what_contacts_do_otherwise_than_in_the_reference_is_said_where_it_lasts():
    c = comparison({"coulomb": (0.01, 0.0), "ccp": (0.02, 0.01), "box": (0.02, 0.01)})
    rows = touching(
        ("reference", "coulomb", "left", "sliding", 0.2, 0.5), ("reference", "coulomb", "left", "sticking", 0.5, 1.5),
        ("run", "coulomb", "left", "sliding", 0.21, 0.5), ("run", "coulomb", "left", "sticking", 0.5, 1.53),
        ("run", "ccp", "left", "sticking", 0.3, 0.6), ("run", "ccp", "left", "sliding", 0.6, 1.1),
        ("run", "box", "left", "sliding", 0.2, 0.5), ("run", "box", "left", "sticking", 0.5, 1.5),
        ("run", "box", "right", "sticking", 1.75, 2.0),
    )  # fmt: skip
    assert otherwise_words(replace(c, timeline=rows)) == [
        "ccp: left–world slides for 0.5 s instead of sticking; left–world sticks for 0.2 s instead of sliding; "
        "left–world is open for 0.5 s instead of closed.",
        "box: right–world is closed for 0.25 s instead of open.",
    ]


def test_the_only_body_has_the_models_name_and_not_that_of_its_shape():
    drawn = SimpleNamespace(across=[0.2], bodies=(SimpleNamespace(name="geom 1"),))
    assert scenes.body(SimpleNamespace(motion=drawn, scene=shown(bodies=("ball",)))) == "the ball"
    assert scenes.body(SimpleNamespace(motion=drawn, scene=None)) == "the geom 1"
    unnamed = shown(bodies=("body 1",))
    assert scenes.body(SimpleNamespace(motion=drawn, scene=unnamed)) == "the body"
    several = SimpleNamespace(across=[0.2, 0.1], bodies=drawn.bodies * 2)
    assert scenes.body(SimpleNamespace(motion=several, scene=shown())) == "a body"
