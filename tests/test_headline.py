"""The first sentences of a comparison: both senses of being close, who stops early, and what is known of it."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.reports.pages.motion import motion_view
from workbench.builtin.reports.text.conclusions import listed, stops, summary
from workbench.builtin.reports.text.headline import compared, extremes, headline, ranked
from workbench.builtin.reports.text.motion_sense import places
from workbench.mechanics.case import Truth
from workbench.problems.friction_problem import FrictionProblem

NAMES = ["frictionless", "stewart-trinkle", "box", "hybrid", "ccp", "coulomb"]


@pytest.fixture(scope="module")
def wheel():
    return wb.compare("wheel", NAMES, duration=0.3, reference_step=1e-3).comparison


@pytest.fixture(scope="module")
def step():
    """A contact that slides at 5 along 0.3 rad while it is pressed together at 2; W = I."""
    q = np.array([-2.0, 5 * np.cos(0.3), 5 * np.sin(0.3)])
    problem = FrictionProblem(np.eye(3), q, np.array([0.5]), 2)
    return wb.compare(problem, [*NAMES, "stewart-trinkle:axes=sliding"]).comparison


def with_rows(c, change, of=lambda runs: runs.index >= 0):
    """The comparison with some numbers of its rows changed."""
    runs = c.runs.copy()
    for name, value in change.items():
        runs.loc[of(runs), name] = value
    return replace(c, runs=runs)


def labelled(*labels):
    return lambda runs: runs["label"].isin(labels)


def moved(c, **far):
    """The comparison with the runs' ends set this far [m] from the reference's."""
    first, *runs = c.motion.tracks
    towards = np.linspace(0, 1, len(c.motion.t))[:, None, None] * np.array([1.0, 0.0, 0.0])
    at = {"coulomb": 0.0} | {label.replace("_", "-"): x for label, x in far.items()}
    runs = [replace(x, position=first.position + at.get(x.label, 5.0) * towards) for x in runs]
    return replace(c, motion=replace(c.motion, tracks=(first, *runs)))


def test_the_first_sentence_has_the_smallest_and_the_largest_error_of_the_table(wheel):
    rows = next(iter(wheel.windows.values()))
    rows = rows[~rows["sampled"] & ~rows["formulation"].isin(["coulomb", "hybrid"])]
    errors = rows.set_index("label")["local_velocity_error"]
    best, worst = extremes(wheel)
    assert (best, worst) == (errors.idxmin(), errors.idxmax())
    words = headline(wheel)[0]
    assert f"{best} comes closest to Coulomb's law ({100 * errors[best]:.3g} %)" in words
    assert f"{worst} stays farthest ({100 * errors[worst]:.3g} %)" in words
    # The hybrid's axes turn: it is closer than all that are ranked, and the sentence does not hide it.
    turned = next(iter(wheel.windows.values())).set_index("label")["local_velocity_error"]["hybrid"].iloc[0]
    assert f"not ranked here, bring hybrid to {100 * turned:.3g} %" in words
    assert sum(len(x.split()) for x in headline(wheel)) < 150


def test_what_is_compared_stands_at_the_top(wheel, step):
    words = compared(wheel)
    assert "at 1 ms a step" in words
    assert "0 s ≤ t < 0.3 s" in words
    assert "in percent of what contacts do to the velocity" in words
    assert "exact Coulomb friction at 1 ms." in words
    assert "Step by step" not in compared(with_rows(wheel, {"local_velocity_error": np.nan}))
    assert "percent of the velocity |q|" in compared(step)


def test_both_senses_are_reported_with_their_numbers(wheel):
    best, worst = extremes(wheel)
    assert best == "stewart-trinkle"
    assert worst == "ccp"
    reversed_, agrees = moved(wheel, ccp=0.016, stewart_trinkle=0.183), moved(wheel, stewart_trinkle=0.01)
    words = headline(reversed_)[1]
    at = "at 0.3 s, of those ranked,"
    assert words.startswith(f"The motion ranks otherwise: {at} ccp is nearest to the reference, 16 mm")
    assert "stewart-trinkle 183 mm" in words
    assert places(reversed_)["ccp"].end == pytest.approx(0.016)
    words = headline(agrees)[1]
    assert words.startswith(f"The motion agrees: {at} stewart-trinkle is nearest to the reference, 10 mm")
    assert "ccp 5 m" in words
    words = headline(moved(wheel, box=0.05))[1]
    assert "box is nearest to the reference, 50 mm, stewart-trinkle 5 m, ccp 5 m" in words
    # What exact friction at that step does itself is no difference.
    hidden = moved(wheel, **{x.replace("-", "_"): 0.05 for x in NAMES})
    assert headline(hidden)[1].startswith("The motion hides it: at 0.3 s all are within 60 mm")
    # How far it was on the way is said where that is much more.
    first, *runs = reversed_.motion.tracks
    away = [replace(x, position=x.position + 3.0 * (np.arange(len(x.position)) == 9)[:, None, None]) for x in runs]
    words = headline(replace(reversed_, motion=replace(reversed_.motion, tracks=(first, *away))))[1]
    assert "16 mm (up to 5.2 m before)" in words


def test_steps_that_cancel_are_a_reason_only_where_they_do(wheel):
    near = moved(wheel, ccp=0.016, stewart_trinkle=0.183)
    cancel = with_rows(near, {"wrench_error": 0.24, "local_velocity_error": 1.95}, labelled("ccp"))
    assert (
        "the impulses of ccp over 5 % of the window sum to 24 % off, less than in single steps" in headline(cancel)[1]
    )
    not_so = with_rows(near, {"wrench_error": 1.3, "local_velocity_error": 1.95}, labelled("ccp"))
    assert "less than in single steps" not in headline(not_so)[1]


def test_whose_path_is_closest_is_reported_where_another_one_ends_near(wheel):
    near = moved(wheel, ccp=0.016, stewart_trinkle=0.183)
    heard = with_rows(near, {"position_error": 0.001}, labelled("box"))
    assert headline(heard)[1].endswith("; over all of the window the path is closest under box (0.1 %).")
    same = with_rows(near, {"position_error": 0.001}, labelled("ccp"))
    assert "the path is closest" not in headline(same)[1]


def test_without_a_motion_velocities_of_runs_are_the_other_sense(wheel):
    still = replace(wheel, motion=None)
    chosen = with_rows(still, {"velocity_error": 0.001}, labelled("ccp"))
    assert "In the velocity of runs from the start ccp is closest (0.1 %), stewart-trinkle" in headline(chosen)[1]
    chosen = with_rows(still, {"velocity_error": 0.0001}, labelled("stewart-trinkle"))
    chosen = with_rows(chosen, {"velocity_reference": 0.0})
    assert headline(chosen)[1].startswith("Runs from the start agree: in velocity stewart-trinkle is among the closest")
    assert motion_view(still)["motion"] == {}


def test_a_run_that_stops_early_is_never_best_without_saying_so(wheel):
    def stopped(c, *labels):
        last = list(c.windows)[-1]
        broken = {"residual": np.nan, "verified": False, "steps": 200}
        return with_rows(c, broken, lambda x: labelled(*labels)(x) & (x["window"] == last))

    two = with_rows(wheel, {"local_velocity_error": 0.01}, labelled("stewart-trinkle", "box"))
    assert list(two.windows) == ["sliding", "all"]
    early = stopped(two, "stewart-trinkle")
    assert stops(two) == {}
    assert stops(early) == {"stewart-trinkle": pytest.approx(0.2)}
    assert extremes(two)[0] == "stewart-trinkle"
    assert extremes(early)[0] == "box"
    assert "stewart-trinkle (stops at 0.2 s) and box come closest" in headline(early)[0]
    assert "runs are verified in the window, and 1 of them stops after it;" in headline(early)[-1]
    assert "Before the end, at 0.3 s, stop stewart-trinkle at 0.2 s" in summary(early)[0]
    assert "bring hybrid to" in headline(two)[0]
    assert "bring hybrid to" not in headline(stopped(two, "hybrid"))[0]
    both = stopped(two, "stewart-trinkle", "box")
    assert motion_view(both)["motion"]["ranked"][0] == "stewart-trinkle (stops at 0.2 s)"


def test_the_lead_is_held_against_what_is_known(wheel):
    bare = with_rows(wheel, {"yaw_spread": 0.0})
    errors = ranked(bare).errors
    order = ranked(bare).order
    ratio = errors[order[1][0]] / errors[order[0]].max()
    assert f"{order[1][0]}, the next, is {ratio:.2g} times as far;" in headline(bare)[-1]
    assert "none of the reference's uncertainty" in headline(bare)[-1]
    turned = with_rows(wheel, {"yaw_spread": 0.9}, labelled("stewart-trinkle"))
    assert "times as far, in this heading of the scene;" in headline(turned)[-1]
    free = with_rows(wheel, {"local_velocity_error": 1e-4}, labelled("frictionless"))
    assert "friction hardly matters here" in headline(free)[-1]
    failing = replace(wheel, truths=(Truth("end of sliding", 3.0, 2.0, 0.1, "s", "of the test"),))
    assert "1 of 1 checks of the reference against theory fail" in headline(failing)[-1]


def test_the_animation_shows_whom_the_headline_names(wheel):
    page = motion_view(wheel)["motion"]
    assert page["shown"] == ["reference", *extremes(wheel)]
    assert page["ranked"] == list(extremes(wheel))
    # Where nothing is ranked, the one that is farthest.
    equal = with_rows(wheel, dict.fromkeys(("local_velocity_error", "velocity_error", "position_error"), 0.0))
    assert extremes(equal) is None
    assert len(motion_view(equal)["motion"]["shown"]) == 2
    assert "moves as under Coulomb's law" in headline(equal)[0]
    alone = with_rows(wheel, {"verified": False}, lambda x: ~x["label"].isin(["ccp", "coulomb"]))
    assert extremes(alone) is None
    assert headline(alone)[0].startswith("Beside Coulomb's law ccp is off by ")
    close = with_rows(wheel, {"local_velocity_error": 0.1})
    assert "all formulations are about as far from Coulomb's law (10 %)" in headline(close)[0]


def test_a_small_error_of_velocity_does_not_hide_friction(step):
    words = headline(step)
    best = ranked(step).order[0]
    friction = step.runs.drop_duplicates("label").set_index("label")["friction_error"]
    assert f"Friction itself is {100 * friction[best].max():.3g} % off under" in words[1]
    bare = step.runs.set_index("label")["velocity_error"]["frictionless"].iloc[0]
    assert f"leaving it out costs the velocity {100 * bare:.3g} %" in words[1]
    assert "own residual is" in words[-1]
    assert "reference's uncertainty" not in words[-1]


def test_what_all_names_are_with_is_said_once():
    assert listed(["a with fixed axes", "b with fixed axes"]) == "a and b (both with fixed axes)"
    assert listed(["a with fixed axes", "b with fixed axes", "c with fixed axes"]) == "a, b and c (all with fixed axes)"
    assert listed(["a with fixed axes", "b"]) == "a with fixed axes and b"
    assert listed(["a with fixed axes"]) == "a with fixed axes"


def test_the_only_formulation_is_reported_by_its_own_errors(wheel, step):
    def of_box(c):
        return replace(c, runs=c.runs[c.runs["label"] == "box"])

    for c, name in ((wheel, "local_velocity_error"), (step, "velocity_error")):
        alone = of_box(c)
        error = next(iter(alone.windows.values()))[name].iloc[0]
        assert f"Beside Coulomb's law box is off by {100 * error:.3g} % " in headline(alone)[0]
    far = places(wheel)["box"].end
    assert f"; at 0.3 s it is {1e3 * far:.3g} mm" in headline(of_box(wheel))[0]
    same = with_rows(wheel, dict.fromkeys(("local_velocity_error", "velocity_error", "position_error"), 0.0))
    assert len(headline(of_box(same))) == 1
