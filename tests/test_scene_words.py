"""What is said of a comparison of a scene, on tables that are made up: who is alike, what shows, why it stops."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from workbench.builtin.reports.text import scenes
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
         "verified": label not in (verified or {}),
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
    assert any(x.startswith("Ccp is not compared") for x in once)
    by = [c.runs.assign(solver=x, body_position_solver=y) for x, y in (("one", np.nan), ("two", 3e-3), ("three", 1e-8))]
    twice = scenes.summary(replace(c, runs=pd.concat(by, ignore_index=True)))
    assert "What two leaves unsolved moves bodies by 3 mm at most, under coulomb." in twice
    assert "What three leaves unsolved moves bodies by less than a micrometre." in twice
    assert not any("one leaves" in x for x in twice)
    by[1]["verified"] = False
    words = scenes.summary(replace(c, runs=pd.concat(by, ignore_index=True)))
    assert any(x.startswith("Ccp by two is not compared") for x in words)


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


def test_alike_rows_and_the_farthest_are_in_the_first_sentence():
    c = comparison({"coulomb": (0.01, 0.0), "ccp": (0.01, 1e-5), "box": (0.05, 0.04), "hybrid": (0.03, 0.02)})
    words = scenes.headline(c)[0]
    assert words.startswith("Over 2 s of motion ccp cannot be told from exact Coulomb friction, which at this step is")
    assert "itself 10 mm off; box moves farthest from it (50 mm)" in words
    assert "friction plays no part" not in words
    closer = comparison({"coulomb": (0.01, 0.0), "ccp": (0.01, 1e-5), "box": (0.002, 0.008)})
    assert "itself 10 mm off; box comes closer to the reference than that (2 mm)" in scenes.headline(closer)[0]
    bare = comparison({"coulomb": (0.01, 0.0), "frictionless": (0.01, 1e-5), "box": (0.05, 0.04)})
    assert "friction plays no part so far" in scenes.headline(bare)[0]


@pytest.mark.parametrize(("error", "so"), [(0.9e-6, True), (1.1e-6, False)])
def test_less_than_a_micrometre_is_no_difference(error, so):
    c = comparison({"coulomb": (0.0, 0.0), "ccp": (error, 0.5), "box": (0.5 * error, 0.5)})
    assert scenes.headline(c)[0].startswith("All rows move as under Coulomb's law") == so


def test_engines_have_a_place_among_the_formulations_or_a_reason():
    errors = {"coulomb": (0.01, 0.0), "ccp": (0.02, 0.01), "engine:x": (0.05, 0.04), "box": (0.06, 0.05)}
    places = [("engine:x", "left", "position_error", 0.01), ("engine:x", "right", "position_error", 0.05)]
    c = comparison(errors, places, engines={"engine:x": "x"})
    assert "Engine:x is 50 mm off (right), place 2 of 3." in scenes.headline(c)
    c = comparison(errors, places, {"engine:x": "it broke"}, engines={"engine:x": "x"})
    assert "Engine:x is not compared (it broke)." in scenes.headline(c)


@pytest.mark.parametrize(
    ("name", "value", "exact", "said"),
    [
        ("penetration", 1.1e-4, 0.0, ["left goes in by 0.11 mm"]),
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
    assert scenes.farthest_body(c, "ccp") == "left"
    assert scenes.farthest_body(c, "box") == ""
    assert scenes.symptoms_of(c, "ccp") == ["right is lifted by 250 mm"]


def test_how_sure_it_is_and_where_it_stops():
    errors = {"coulomb": (0.01, 0.0), "ccp": (0.02, 0.01)}
    words = scenes.headline(comparison(errors, (), {"ccp": "why not"}, until=1.5, why="it ended"))
    assert "The comparison stops at 1.5 s: it ended." in words
    assert words[-1].startswith("How sure: 1 of 2 rows come to the end of what is compared; the reference is known to")
    assert "0.02 mm on average" in words[-1]
    assert words[-1].endswith("has grown 250 times (at right).")
    calm = scenes.headline(comparison(errors, (), growth=(1.0, 1.4)))
    assert calm[-1].endswith("a displacement of the start by 1e-7 m has not grown.")
    assert scenes.until_words(shown()) == "from 0 to 2 s"
    assert scenes.until_words(shown(until=1.5)) == "from 0 to 1.5 s of 2 s"
    assert [scenes.times(x) for x in (1.0, 9999.0, 1e4)] == ["1 times", "10000 times", "more than 10000 times"]


def test_what_overlaps_at_the_start_comes_first():
    begun = "rigid recovery of two overlaps"
    words = scenes.headline(comparison({"coulomb": (0.01, 0.0), "ccp": (0.02, 0.01)}, left_out=("flexes", begun)))
    assert words[0].startswith(f"Mind the start: {begun}.")
