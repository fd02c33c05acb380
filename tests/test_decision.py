"""Which formulation a comparison recommends: from the paths alone once more, and on tables that are made up."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.recommended import NAMES, agrees, tried
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.figures.comparison import figures
from workbench.builtin.reports.figures.ranking import ranking_figure
from workbench.builtin.reports.pages.motion import motion_view
from workbench.builtin.reports.text.conclusions import listed, summary
from workbench.builtin.reports.text.decision import confidence, defect, legend, price, recommendation, rows, time
from workbench.builtin.reports.text.headline import compared, extremes, headline, subject
from workbench.builtin.reports.text.mechanisms import FRICTION_LAW
from workbench.builtin.reports.text.names import named
from workbench.builtin.reports.text.terminal import print_comparison
from workbench.cli.main import main
from workbench.comparison.cost import costs, repeated
from workbench.comparison.decision import amount, decide, shown, stops
from workbench.comparison.families import family
from workbench.comparison.jobs import reference_of
from workbench.mechanics.case import Truth
from workbench.problems.friction_problem import FrictionProblem
from workbench.verbs.find import find_formulation


@pytest.fixture(scope="module")
def wheel():
    return wb.compare("wheel", NAMES, duration=0.3).comparison


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


def off(c, **errors):
    """The comparison with these errors of the motion [m]; the others are 5 m off, and no two runs are the same."""
    errors = {"coulomb": 0.004} | {x.replace("_", "-"): far for x, far in errors.items()}
    changed = with_rows(c, {"path_error": 5.0, "path_reference": 0.0005, "path_discretisation": 0.004})
    for label, far in errors.items():
        changed = with_rows(changed, {"path_error": far}, labelled(label))
    return replace(changed, motion=None)


def cost(c, **times):
    """The comparison with these costs [s], each known to a percent; the others take 10 µs."""
    changed = with_rows(c, {"cost": 1e-5, "cost_low": 0.99e-5, "cost_high": 1.01e-5, "timings": 3})
    for label, x in times.items():
        new = {"cost": x, "cost_low": 0.99 * x, "cost_high": 1.01 * x}
        changed = with_rows(changed, new, labelled(label.replace("_", "-")))
    return changed


def first(c):
    return {x.label for x in decide(c).first}


# From the paths


def test_places_are_those_of_the_paths(wheel):
    d = agrees(wheel)
    assert {"coulomb", "hybrid", "phantom-inertia"} <= {
        x for y in d.entries if y.place == 1 for x in (y.label, *y.alike)
    }
    assert d.entries[-1].place > 1
    assert headline(wheel).recommendation[0].startswith("Use ")


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES.names)
def test_places_are_those_of_the_paths_whatever_the_parameters(name):
    """`python -m tests.recommended` tries twenty sets of parameters of each case."""
    assert tried(name, 1) == []


def test_lengths_and_names_in_narrow_places(wheel):
    d = decide(wheel)
    found = {x: amount(x, d.error) for x in (1.5, 0.9996, 0.5, 5e-5, 5e-6, 5e-8, 1e-10, 0.0)}
    assert list(found.values()) == ["1.5 m", "1 m", "500 mm", "0.05 mm", "5 µm", "50 nm", "0 mm", "0 mm"]
    one = d.entries[0]
    three, four = (replace(one, others=(one.row,) * k).names for k in (2, 3))
    assert three == " = ".join([one.label] * 3)
    assert four == f"{three} and 1 more"


# Places


def test_all_within_the_error_of_the_step_and_the_uncertainty_share_the_first_place(wheel):
    c = off(wheel, hybrid=0.0044, phantom_inertia=0.0001, box=0.0046, ccp=0.005, stewart_trinkle=0.0052)
    places = {x.label: x.place for x in decide(c).entries}
    assert places == {
        "coulomb": 1, "phantom-inertia": 1, "hybrid": 1, "box": 4, "ccp": 4, "stewart-trinkle": 6, "frictionless": 7
    }  # fmt: skip
    assert decide(c).entries[0].label == "coulomb", "exact friction stands first among those who tie"


def test_runs_that_are_the_same_are_one_entry_and_others_are_not(wheel):
    """The path decides, and not the error: two runs may be as far off on two sides."""
    at = {x.label: x for x in wheel.motion.tracks if x.role == "run"}
    away = at["box"].position + np.array([0.0, 1e-2, 0.0])

    def moved(label, position):
        tracks = tuple(replace(x, position=position) if x.label == label else x for x in wheel.motion.tracks)
        return cost(replace(wheel, motion=replace(wheel.motion, tracks=tracks)))

    same = moved("ccp", at["box"].position + 1e-5)
    assert next(x for x in decide(same).entries if x.label == "box").every == "box = ccp"
    # Its point has one name, and the legend all.
    assert "box = ccp" in ranking_figure(same)[0].legend
    assert all("ccp" not in x.alike for x in decide(moved("ccp", away)).entries)
    # The one that is told to be cheaper is named first, with its own error.
    cheaper = next(x for x in decide(cost(same, ccp=2e-6)).entries if "box" in x.alike)
    assert (cheaper.label, cheaper.alike, cheaper.cost) == ("ccp", ("box",), 2e-6)
    assert cheaper.error == cheaper.row["path_error"]
    assert next(x for x in decide(cost(same, ccp=0.9e-5)).entries if "ccp" in x.alike).label == "box"
    # Where another one with the same run is clearly dearer, the cost is a range, and the legends say so.
    for dear, cell in ((1.4e-5, "10 µs"), (2e-5, "10–20 µs"), (2e-3, "10 µs–2.0 ms")):
        c = cost(same, ccp=dear)
        d, ranges = decide(c), "–" in cell
        assert next(x for x in rows(c, d) if x.names == "box = ccp").cost == cell
        assert ("A range of costs" in legend(c, d)) == ("others may cost more" in ranking_figure(c)[0].legend) == ranges
    # Neither exact friction nor none is one with anything.
    assert all(not x.alike for x in decide(moved("hybrid", at["coulomb"].position)).entries if x.exact)


def test_a_run_that_stops_or_has_no_answer_is_not_recommended(wheel):
    last = list(wheel.windows)[-1]
    assert list(wheel.windows) == ["sliding", "all"]
    broken = {"residual": np.nan, "verified": False, "steps": 200}
    cheap = cost(off(wheel, hybrid=0.004), hybrid=1e-6)
    assert decide(cheap).taken.label == "hybrid"
    early = with_rows(cheap, broken, lambda x: labelled("hybrid")(x) & (x["window"] == last))
    assert stops(early, 1e-3) == {"hybrid": pytest.approx(0.2)}
    assert decide(early).taken.label == "coulomb"
    assert next(x for x in rows(early, decide(early)) if x.names == "hybrid").verified == "to 0.2 s"
    assert "Stopped before the end at 0.3 s: hybrid at 0.2 s" in summary(early)[0]
    refused = with_rows(cheap, broken | {"claimed": "RAY"}, labelled("hybrid"))
    assert "hybrid" not in {x.label for x in decide(refused).entries}
    assert rows(refused, decide(refused))[-1][:4] == ("", "hybrid", "–", "no answer: ray")
    assert "6 of 7 runs are verified" in confidence(refused, decide(refused))
    two = with_rows(refused, {"verified": False, "claimed": "RAY"}, labelled("box"))
    assert rows(two, decide(two))[-1].names == "box, hybrid"
    assert [legend(x, decide(x)).endswith('"to T" under ok: the run stops at T, after the time compared.')
            for x in (early, refused)] == [True, False]  # fmt: skip


# What is recommended


def test_exact_friction_is_recommended_unless_another_is_told_to_be_cheaper(wheel):
    c = off(wheel, hybrid=0.004, phantom_inertia=0.004)
    words = recommendation(cost(c), decide(cost(c)))
    assert words[0] == "Use exact Coulomb friction: 10 µs a step; no equally accurate formulation is cheaper."
    assert words[1].startswith(
        "Equally accurate here: hybrid (box, MLCP, 10 µs), as long as contacts slide in slowly changing directions"
    )
    assert "phantom-inertia (polygon, LCP, 10 µs)" in words[1]
    # Why what costs less and is as accurate is not what to take.
    slightly = cost(c, phantom_inertia=0.9e-5)
    words = recommendation(slightly, decide(slightly))
    assert words[0].endswith("; no equally accurate formulation is clearly cheaper.")
    assert words[1].startswith("Equally accurate here: phantom-inertia (polygon, LCP, 9.0 µs), as long as")
    once = with_rows(slightly, {"timings": 1})
    assert "Costs within a factor of 3, because each is a single timing" in legend(once, decide(once))
    cheaper = cost(c, hybrid=2e-6)
    words = recommendation(cheaper, decide(cheaper))
    assert words[0].startswith(
        "Use hybrid: as accurate as exact Coulomb friction stepped at 1 ms, 5 times cheaper (2.0 µs a step), as long "
        "as contacts slide in slowly changing directions and normal forces change little"
    )
    # Who is cheaper and nearly as accurate is named beside it.
    near = cost(off(wheel, hybrid=0.0061, phantom_inertia=0.004), hybrid=2e-6)
    assert recommendation(near, decide(near))[1].startswith(
        "If an error of 6.1 mm is small enough, hybrid is 5 times cheaper, as long as contacts slide in slowly "
        "changing directions and normal forces change little"
    )
    # One at least as cheap and more accurate, whose timings scatter too much to call it cheaper, makes it no advice.
    both = cost(off(wheel, hybrid=0.0061, box=0.1, phantom_inertia=0.004), hybrid=2e-6, box=3e-6)
    scattered = with_rows(both, {"cost_high": 1e-5}, labelled("hybrid"))
    assert "small enough, hybrid is" in recommendation(both, decide(both))[1]
    assert not any("small enough" in x for x in recommendation(scattered, decide(scattered)))
    # Less than half as much again, or timings whose ranges meet, is no difference.
    assert decide(cost(c, hybrid=0.7e-5)).taken.exact
    wide = with_rows(cheaper, {"cost_high": 1e-5}, labelled("hybrid"))
    assert decide(wide).taken.exact
    dear = recommendation(
        cost(c, hybrid=1e-3, phantom_inertia=1e-3), decide(cost(c, hybrid=1e-3, phantom_inertia=1e-3))
    )
    assert "less than any other equally accurate formulation" in dear[0]
    # Once as quick is as quick: what else the machine did made the others longer.
    quick = with_rows(cheaper, {"cost_low": 2.5e-6}, labelled("coulomb"))
    assert decide(quick).taken.exact
    # A reader sees 2 and 10 us, and why they count as equal.
    for unsure in (quick, wide):
        words = recommendation(unsure, decide(unsure))[0]
        assert words.endswith("; timings scatter too much to call an equally accurate formulation cheaper.")
    # Of single timings more is asked.
    assert decide(with_rows(cost(c, hybrid=0.4e-5), {"timings": 1})).taken.exact
    assert decide(with_rows(cheaper, {"timings": 1})).taken.label == "hybrid"


@pytest.fixture(scope="module")
def plane():
    """A rod in the plane, of whose formulations many have the same runs."""
    return wb.compare("rod", [*NAMES, "anitescu-potra", "gauss-seidel"], duration=0.05).comparison


def test_every_formulation_that_is_named_has_its_own_condition_beside_it(plane, wheel):
    """Also of those whose runs are the same."""
    conditions = dict(zip(plane.runs["label"], plane.runs["condition"], strict=True))
    same = next(x for x in decide(plane).entries if x.label == "stewart-trinkle")
    assert {"anitescu-potra", "gauss-seidel", "phantom-inertia"} <= set(same.alike)
    parts = same.by_condition
    assert len(parts) == 2
    assert {y for x in parts for y in (x.label, *x.alike)} == {same.label, *same.alike}
    assert all(conditions[y] == x.condition for x in parts for y in (x.label, *x.alike))
    # Their costs differ, and one that is named costs less than exact friction.
    dear = cost(plane, coulomb=1e-5, stewart_trinkle=1.1e-5, gauss_seidel=0.9e-5)
    first, *_ = recommendation(dear, decide(dear))
    assert first.endswith("; no equally accurate formulation is clearly cheaper.")
    # A formulation that alone is clearly cheaper than exact friction is recommended, named after it or not.
    alone = cost(plane, coulomb=1e-5, stewart_trinkle=0.8e-5, gauss_seidel=0.6e-5)
    assert recommendation(alone, decide(alone))[0].startswith("Use gauss-seidel: as accurate as exact Coulomb friction")
    # Those with the same run that cost more are not called cheaper; three others are named.
    cheap = cost(plane, stewart_trinkle=2e-6)
    first, second = recommendation(cheap, decide(cheap))
    assert first == (
        "Use stewart-trinkle: as accurate as exact Coulomb friction stepped at 1 ms, 5 times cheaper (2.0 µs a step), "
        "without a condition in the plane."
    )
    assert second.startswith("Equally accurate here: gauss-seidel (")
    little = cost(plane, stewart_trinkle=2e-6, gauss_seidel=1.9e-6)
    assert recommendation(little, decide(little))[1].startswith(
        "Equally accurate here, at about the same cost or more: gauss-seidel (box, MLCP, 1.9 µs)"
    )
    every = cost(off(wheel, hybrid=0.004, phantom_inertia=0.004, box=0.004, ccp=0.004, stewart_trinkle=0.004))
    _, second = recommendation(every, decide(every))
    assert second.endswith("; also hybrid, phantom-inertia and ccp, under conditions of their own.")
    assert second.count("(") == 2
    words = " ".join(headline(cost(plane)).recommendation)
    assert "(polygon, LCP, " in words
    assert "), without a condition in the plane; " in words
    assert ", as long as a few sweeps are enough" in words
    # In space all that is recommended but exact friction has one.
    good = cost(off(wheel, hybrid=0.004, phantom_inertia=0.004))
    (_, second) = recommendation(good, decide(good))
    assert all(", as long as " in x for x in second.split("; "))


def test_the_question_has_the_size_of_what_moves_the_window_the_step_and_the_reference(wheel, plane, step, capsys):
    at = wheel.motion.tracks[0].position[wheel.motion.t <= 0.3 + 1e-9, 0]
    path = np.linalg.norm(np.diff(at, axis=0), axis=-1).sum()
    assert subject(wheel) == (
        f"{wheel.case.description}; 1 contact. Compared from 0 to 0.3 s in 1 ms steps; the wheel measures 1 m, the "
        f"reference path {path:.3g} m. Reference: Coulomb's law, event-driven."
    )
    rows = wheel.runs.set_index("window")
    assert (rows["body_size"] == 1.0).all()
    assert np.array_equal(rows["path_length"][["sliding"]].unique(), [path])
    assert "; the rod measures 2 m, the reference path " in subject(plane)
    # What is drawn of a point mass is no size of it, and what has no picture has none either.
    point = wb.compare("particle", ["coulomb"], duration=0.5).comparison
    assert "; the reference path measures " in subject(point)
    assert (point.runs["body_size"] == 0.0).all()
    assert "measures" not in subject(replace(wheel, motion=None))
    still = replace(wheel.motion.tracks[0], position=0 * wheel.motion.tracks[0].position)
    still = replace(wheel, motion=replace(wheel.motion, tracks=(still, *wheel.motion.tracks[1:])))
    assert "the wheel measures 1 m, nothing moves in the reference." in subject(still)
    undescribed = type("Bare", (type(wheel.case),), {"description": ""})()
    assert subject(replace(wheel, case=undescribed)).startswith("1 contact. Compared from 0 to 0.3 s in 1 ms steps; ")
    # The impulses of the step remove the approach at 2 and mu 2 = 1 of the sliding at 5.
    assert f"these change it by {100 * np.sqrt(5 / 29):.3g} %." in subject(step)
    assert "Reference: exact solution of Coulomb's law, residual " in subject(step)
    for c in (wheel, step):
        print_comparison(c)
        said = " ".join(capsys.readouterr().out.split())
        assert said.startswith(f"{c.name}: {subject(c)}")
        assert all(x in said for x in headline(c).sentences)


@pytest.mark.thorough
def test_the_law_is_exact_and_the_path_is_the_reference(wheel, step, plane, capsys):
    for c in (wheel, step, plane):
        print_comparison(c, everything=True)
        said = " ".join(capsys.readouterr().out.split())
        found = re.findall(r"exact (\w+)", f"{said} {compared(c)} {figures(c)[0].caption}")
        assert set(found) <= {"Coulomb", "friction", "solution"}, found


def test_names_of_points_at_both_ends_of_the_axis_stay_beside_it(wheel):
    c = cost(off(wheel, hybrid=0.0, phantom_inertia=0.0, box=0.0, ccp=9.5, stewart_trinkle=9.5, frictionless=9.5))
    chart = ranking_figure(c)[0].chart.to_dict()
    labels = [x["label"] for rows in chart["datasets"].values() for x in rows if "label" in x]
    (low, high), *_ = {
        tuple(x["encoding"]["y"]["scale"]["domain"]) for x in chart["layer"] if "scale" in x["encoding"]["y"]
    }
    assert low < min(labels)
    assert max(labels) < high


def test_families_have_the_same_word_in_the_sentence_and_in_the_legend(wheel):
    c = cost(off(wheel, hybrid=0.004, phantom_inertia=0.004))
    legend = {
        x["family"] for x in ranking_figure(c)[0].chart.to_dict()["datasets"].values() for x in x if "family" in x
    }
    assert legend == {"exact Coulomb", "box", "polygon", "cone", "no friction"}
    words = recommendation(c, decide(c))[1]
    assert set(re.findall(r"\((\w+), ", words)) == {"box", "polygon"} <= legend
    assert "other" not in {family(f.name) for f in FORMULATIONS}
    assert family("box:axes=sliding") == family("hybrid") == "box"
    assert family("mine") == "other"


def test_where_exact_friction_stands_alone_the_cheaper_ones_have_their_error_beside_them(wheel):
    c = cost(off(wheel, box=0.1, ccp=0.2), box=1e-6, ccp=2e-6)
    assert recommendation(c, decide(c)) == [
        "Use exact Coulomb friction (10 µs a step): no other formulation here is as accurate.",
        "If an error of 100 mm is small enough, box is 10 times cheaper, as long as contacts slide along the axes and "
        "normal forces change little from step to step.",
    ]
    assert recommendation(cost(c), decide(cost(c)))[0].endswith("no other formulation here is as accurate.")
    unverified = with_rows(cost(c), {"verified": False}, labelled("ccp"))
    assert "no other verified formulation here is as accurate" in recommendation(unverified, decide(unverified))[0]
    far = cost(c, box=1e-5 / 123)
    assert "enough, box is 120 times cheaper, as long as" in recommendation(far, decide(far))[1]
    # An error as large as that without friction is small enough for nobody.
    none = off(c, box=0.1, ccp=0.2, frictionless=0.05)
    assert not any("small enough" in x for x in recommendation(none, decide(none)))


def test_without_exact_friction_among_the_rows_its_error_is_still_the_measure(wheel):
    c = off(wheel, box=0.1, ccp=0.2)
    without = replace(c, runs=c.runs[c.runs["label"].isin(["box", "ccp"])])
    (words,) = recommendation(without, decide(without))
    assert words == (
        "No formulation here is as accurate as exact Coulomb friction stepped at 1 ms (error 4 mm). "
        "Smallest error: box (100 mm). Largest: ccp (200 mm)."
    )
    good = off(without, box=0.004)
    assert recommendation(good, decide(good))[0].startswith(
        "Use box: as accurate as exact Coulomb friction stepped at 1 ms"
    )
    alone = replace(c, runs=c.runs[c.runs["label"] == "ccp"])
    assert recommendation(alone, decide(alone)) == [
        "ccp (200 mm) is less accurate than exact Coulomb friction stepped at 1 ms (error 4 mm)."
    ]


def test_exact_friction_alone_is_compared_with_nothing(wheel):
    c = replace(wheel, runs=wheel.runs[wheel.runs["label"] == "coulomb"])
    (words,) = recommendation(c, decide(c))
    assert words.startswith("Exact Coulomb friction (")
    assert words.endswith(" a step) is the only formulation here: add others to compare.")
    assert "The run is verified" in confidence(c, decide(c))


def test_where_friction_changes_nothing_that_is_said(wheel):
    c = off(wheel, **{x.replace("-", "_"): 0.004 for x in NAMES})
    first, then = headline(c).recommendation
    assert first == "Friction is not tested here: the motion is the same without it."
    assert then.startswith("Equally accurate with friction: coulomb, ")
    said = [recommendation(x, decide(x))[1].rpartition("; ")[2] for x in (cost(c), cost(c, hybrid=2e-6))]
    assert said == ["none is clearly cheaper than exact Coulomb friction.", "hybrid costs least."]
    # Its time seems much shorter, but reaches that of exact friction.
    wide = with_rows(cost(c, hybrid=2e-6), {"cost_high": 1e-5}, labelled("hybrid"))
    assert recommendation(wide, decide(wide))[1].endswith(
        "; timings scatter too much to call one cheaper than exact Coulomb friction."
    )
    assert not decide(c).tested


def test_nothing_is_recommended_at_a_step_that_is_itself_far_off(wheel):
    """A tenth of the path is the limit."""
    path = float(wheel.runs["path_length"].iloc[0])
    fine, coarse = (off(wheel, coulomb=x * path, hybrid=0.05) for x in (0.09, 0.11))
    assert decide(fine).recommended is not None
    assert decide(coarse).recommended is None
    assert recommendation(coarse, decide(coarse)) == [
        "No formulation is recommended: exact Coulomb friction stepped at 1 ms is itself "
        f"{1100 * 0.1 * path:.3g} mm off the reference. Use a shorter step."
    ]
    assert confidence(coarse, decide(coarse)).startswith(
        f"Confidence: low, because the time step alone causes an error of {1100 * 0.1 * path:.3g} mm"
    )


def test_what_is_recommended_is_in_the_short_table_and_named_in_the_chart(step):
    """A problem has more formulations than rows on the first screen, and those left out first may be the cheapest."""
    many = cost(wb.compare(step.problem, list(FORMULATIONS.names[:19])).comparison)
    # No two answers are the same.
    many = replace(many, trajectories=many.trajectories.iloc[:0])
    before = decide(many)
    (chosen, *_) = (x.label for x in before.entries if x not in shown(before))
    good = with_rows(many, {"velocity_error": 1.0})
    good = with_rows(good, {"velocity_error": 1e-9}, labelled(chosen, "coulomb"))
    good = cost(good, **{chosen.replace("-", "_"): 1e-7})
    d = decide(good)
    assert d.recommended.label == chosen
    assert d.recommended in shown(d)
    assert len(shown(d)) <= len(shown(before))
    points = [x for rows in ranking_figure(good)[0].chart.to_dict()["datasets"].values() for x in rows if "taken" in x]
    assert {x["named"] for x in points if x["taken"]} == {True}


def test_what_is_as_accurate_as_exact_friction_is_on_the_first_screen(step):
    """Also a variant that the table leaves out, if it has too many rows, where others are more accurate."""
    many = cost(wb.compare(step.problem, list(FORMULATIONS.names[:19])).comparison)
    many = replace(many, trajectories=many.trajectories.iloc[:0])
    (aside, *_) = (x.label for x in decide(many).entries if x not in shown(decide(many)))
    good = with_rows(many, {"velocity_error": 1.0})
    good = with_rows(good, {"velocity_error": 1e-9}, labelled(aside, "coulomb"))
    d = decide(good)
    assert aside in {x.label for x in shown(d)}
    assert f"Equally accurate here: {aside} (" in recommendation(good, d)[1]


def test_a_tie_at_rank_1_below_the_error_of_the_step_is_explained(wheel):
    """Ranks are shared within 5 %, but at rank 1 by all errors below that of exact friction."""
    near, far = (off(wheel, hybrid=x) for x in (0.0039, 0.0001))
    said = [legend(x, decide(x)) for x in (near, far)]
    assert ["at rank 1 all errors below that of exact Coulomb friction" in x for x in said] == [False, True]
    assert [x.place for x in decide(far).entries if x.label in ("coulomb", "hybrid")] == [1, 1]


def test_velocities_that_the_path_of_the_centre_does_not_show_are_a_doubt(wheel):
    """A case without shapes may have several bodies, and its `centre` is one point."""
    without = off(wheel, hybrid=0.004, phantom_inertia=0.004)
    alike = with_rows(without, {"velocity_error": 0.01, "velocity_discretisation": 0.01, "velocity_reference": 0.0})
    unseen = with_rows(alike, {"velocity_error": 0.05}, labelled("hybrid", "box"))
    words = "the velocity error of hybrid exceeds that of exact Coulomb friction"
    assert [words in confidence(x, decide(x)) for x in (alike, unseen)] == [False, True]
    # Where the shapes are known, all bodies have their paths.
    shown_too = replace(unseen, motion=wheel.motion)
    assert words not in confidence(shown_too, decide(shown_too))


def test_a_problem_is_decided_by_its_velocity(step):
    d = decide(step)
    assert d.error.name == "velocity_error"
    assert d.taken in d.first
    places = {label: x.place for x in d.entries for label in (x.label, *x.alike)}
    assert places["coulomb"] == 1 < places["stewart-trinkle"] < places["frictionless"]
    assert "percent of |q|" in compared(step)
    assert "as accurate" in headline(cost(step, coulomb=1e-4)).recommendation[0]
    assert headline(cost(step)).recommendation[0].endswith("no equally accurate formulation is cheaper.")
    assert "answers are verified" in headline(step).confidence


def test_without_what_ranks_nothing_is_recommended(capsys):
    c = wb.compare("wheel", ["box", "ccp"], duration=0.02, metrics=["lift"]).comparison
    assert decide(c) is None
    assert headline(c).sentences == ["No formulation is recommended: the error that ranks them was not computed."]
    assert extremes(c) == ()
    print_comparison(c)
    assert "lift" in capsys.readouterr().out


# What stands beside it


def test_confidence_falls_with_what_is_not_known(wheel):
    c = replace(off(wheel, hybrid=0.004, box=0.1), remarks=())
    assert confidence(c, decide(c)).startswith(
        "Confidence: high. All 7 runs are verified; the reference path is known to 0.5"
    )
    close = off(c, hybrid=0.0044, box=0.0048)
    assert confidence(close, decide(close)).startswith(
        "Confidence: medium, because box is within the reference's uncertainty of rank 1. All 7 runs"
    )
    failing = replace(close, truths=(Truth("end of sliding", 3.0, 2.0, 0.1, "s", "of the test"),))
    assert confidence(failing, decide(failing)).startswith(
        "Confidence: low, because 1 of 1 checks against theory fail and box is within the reference's uncertainty"
    )
    several = "At 1 ms Coulomb's law has several solutions in 3 of 40 sampled steps"
    open_ = replace(c, remarks=(several,))
    assert confidence(open_, decide(open_)).startswith("Confidence: medium, because Coulomb's law itself has several ")
    assert several in headline(open_).notes
    unknown = with_rows(c, {"path_reference": np.nan})
    assert confidence(unknown, decide(unknown)).startswith("Confidence: medium, because the reference path was run ")


def test_confidence_is_low_where_a_start_next_to_this_one_may_rank_otherwise(wheel):
    """Ranks differ by 96 mm; with 0.1 µm at the start, 900 thousand times is 90 mm and a million times 100 mm."""
    c = replace(off(wheel, hybrid=0.004, box=0.1), remarks=())
    near, beyond = (confidence(x, decide(x)) for x in (with_rows(c, {"growth": g}) for g in (9e5, 1e6)))
    assert near.startswith("Confidence: high. All 7 runs are verified")
    assert near.endswith("; a 0.1 µm displacement of the start moves a body by up to 90 mm.")
    assert beyond.startswith(
        "Confidence: low, because a 0.1 µm displacement of the start moves a body by up to 100 mm, more than the 96 mm "
        "between rank 1 and box. All 7 runs"
    )


def test_a_case_tells_how_much_a_displacement_of_its_start_grows(wheel):
    """A block that slides keeps its displacement; a woodpecker's falls begin a step earlier or later."""
    block = wb.compare("block", ["coulomb"], reference_step=1e-3).comparison
    assert block.runs["growth"].to_numpy() == pytest.approx(1.0, rel=1e-3)
    assert wheel.runs["growth"].max() < 3.0
    c = wb.compare("woodpecker", ["coulomb", "ccp", "sap"], reference_step=1e-3).comparison
    assert "Confidence: low, because a 0.1 µm displacement of the start moves a body by " in headline(c).confidence


def test_the_motion_calls_recommended_what_is(wheel):
    """Another formulation than the recommended one may have the smallest error."""
    views = [motion_view(c)["motion"]["ranked"] for c in (cost(wheel), cost(wheel, hybrid=2e-6))]
    assert [next(iter(x.values())) for x in views] == ["smallest error", "recommended"]
    assert next(iter(views[1])) == decide(cost(wheel, hybrid=2e-6)).recommended.label == "hybrid"
    # Beside it the other's defect, as the table has it.
    d = decide(cost(wheel))
    assert views[0]["ccp"] == defect(cost(wheel), d, next(x for x in d.entries if x.label == "ccp"))


def test_where_no_symptom_shows_the_defect_is_the_contact_law(wheel, monkeypatch):
    law = [SimpleNamespace(short=FRICTION_LAW, far=np.nan)]
    monkeypatch.setattr("workbench.builtin.reports.text.decision.errs", lambda c, step: dict.fromkeys(NAMES, law))
    c = off(wheel)
    found = {x.label: defect(c, decide(c), x) for x in decide(c).entries}
    assert found["box"] == found["hybrid"] == "box friction"
    assert (found["stewart-trinkle"], found["ccp"]) == ("friction polygon", "associated flow")


def test_chart_and_motion_show_a_formulation_in_one_colour(wheel):
    view = motion_view(cost(wheel))["motion"]
    sets = ranking_figure(cost(wheel))[0].chart.to_dict()["datasets"].values()
    drawn = {x["name"].partition(" = ")[0]: x["colour"] for rows in sets for x in rows if "colour" in x}
    assert len(view["ranked"]) == 2
    for name, colour in zip(view["ranked"], view["colours"][1:], strict=True):
        assert drawn[name] == colour


def test_the_ccp_has_one_price(wheel):
    lifted = with_rows(off(wheel), {"lift": 153.2}, labelled("ccp"))
    assert price(lifted, decide(lifted)) == (
        "Price of the CCP: associated flow opens sliding contacts by up to 153 mm; the centre of a body leaves the "
        "reference path by up to 5 m."
    )
    # A contact of the only body opens farther than its centre goes.
    tilts = with_rows(wheel, {"lift": 153.2, "path_error": 0.146}, labelled("ccp"))
    assert price(tilts, decide(tilts)).endswith(
        "by up to 153 mm; the wheel tilts, its centre leaving the reference path by up to 146 mm."
    )
    less = with_rows(tilts, {"lift": 145.0}, labelled("ccp"))
    assert price(less, decide(less)).endswith("; the centre of the wheel leaves the reference path by up to 146 mm.")
    # An error that exact friction has too is none of the CCP's.
    tied = with_rows(off(wheel, ccp=0.0041), {"lift": 0.593}, labelled("ccp"))
    assert price(tied, decide(tied)) == (
        "Price of the CCP: associated flow opens sliding contacts by up to 0.593 mm; the motion is as accurate as "
        "under exact Coulomb friction stepped at 1 ms."
    )
    # Contacts that open as much under exact friction open by the time step.
    late = with_rows(tied, {"lift": 0.5}, labelled("coulomb"))
    assert price(late, decide(late)).startswith(
        "Price of the CCP: none visible; contacts open no more than under exact"
    )
    # An error is not free where no contact opens.
    flat, free = (with_rows(off(wheel, ccp=x), {"lift": 0.05}, labelled("ccp")) for x in (5.0, 0.004))
    assert price(flat, decide(flat)) == (
        "Price of the CCP: contacts open by less than 0.1 mm; the centre of a body leaves the reference path by up to "
        "5 m."
    )
    assert price(free, decide(free)) == "Price of the CCP: none visible; contacts open by less than 0.1 mm."
    without = replace(lifted, runs=lifted.runs[lifted.runs["label"] != "ccp"])
    assert price(without, decide(without)) == ""


def test_a_defect_is_what_makes_the_error(wheel):
    d = decide(wheel)
    found = {label: defect(wheel, d, x) for x in d.entries for label in (x.label, *x.alike)}
    assert found["coulomb"] == found["hybrid"] == "none beyond the time step"
    assert found["frictionless"] == "no friction"
    assert found["ccp"].startswith("opens contacts by ")
    assert found["stewart-trinkle"].startswith("friction misaligned by ")
    # What lifts by a millimetre is not why a body is 5 m off.
    little = with_rows(off(wheel), {"lift": 1.0, "misalignment_rms": 20.0}, labelled("ccp"))
    ccp = next(x for x in decide(little).entries if x.label == "ccp")
    assert defect(little, decide(little), ccp) == "friction misaligned by 20°"
    much = with_rows(little, {"lift": 2000.0}, labelled("ccp"))
    assert defect(much, decide(much), ccp) == "opens contacts by 2 m"


def test_the_animation_shows_the_best_beside_exact_friction_and_the_defect_to_see(wheel):
    assert extremes(wheel)[1] == "ccp"
    assert extremes(wheel)[0] in first(wheel) - {"coulomb"}
    page = motion_view(wheel)["motion"]
    assert page["shown"] == ["reference", *extremes(wheel)]
    assert list(page["ranked"]) == list(extremes(wheel))
    alone = with_rows(wheel, {"verified": False}, lambda x: ~x["label"].isin(["ccp", "coulomb"]))
    assert extremes(alone) == ("ccp",)
    # Where the CCP is as good as exact friction, the defect is one of another family than the best, thus colour.
    good = off(wheel, hybrid=0.0039, ccp=0.004, stewart_trinkle=0.5, phantom_inertia=0.6, box=0.7)
    assert extremes(good) == ("hybrid", "phantom-inertia")
    polygons = off(wheel, phantom_inertia=0.0039, ccp=0.004, hybrid=0.5, stewart_trinkle=0.7, box=0.6)
    assert extremes(polygons) == ("phantom-inertia", "box")
    assert motion_view(replace(wheel, motion=None))["motion"] == {}


def test_the_terminal_has_ten_rows_at_most_and_all_where_they_are_asked_for(capsys):
    some = [*NAMES, "anitescu-potra", "sap", "mujoco", "genesis", "hunt-crossley", "ipc", "comfree"]
    c = wb.compare("wheel", some, solvers="auto", metrics=["path-error"], duration=0.02).comparison
    d = decide(c)
    assert len(shown(d)) == 10 < len(d.entries)
    assert {x.label for x in shown(d)} >= {"coulomb", "ccp", "frictionless"}
    print_comparison(c)
    few = capsys.readouterr().out
    hidden = [x for x in d.entries if x not in shown(d)]
    assert all(f"{x.label} ({amount(x.error, d.error)})" in " ".join(few.split()) for x in hidden)
    print_comparison(c, everything=True)
    everything = capsys.readouterr().out
    assert "--all" in few
    assert "--all" not in everything
    assert all(x in everything for x in c.runs["label"])


def test_costs_are_medians_of_runs_that_are_repeated_in_turn():
    assert costs([3.0, 1.0, 2.0], 10) == {"cost": 0.2, "cost_low": 0.1, "cost_high": 0.3, "timings": 3}
    made = []

    def again(key):
        made.append(key)
        if key == "breaks":
            raise ValueError
        return SimpleNamespace(solve_time=0.1 * len(made))

    def run(seconds, steps=10):
        return SimpleNamespace(solve_time=seconds, steps=steps, steps_wanted=10)

    runs = {"a": run(0.4), "long": run(50.0), "stopped": run(0.1, 3), "b": run(0.2), "breaks": run(0.1)}
    found = repeated(runs, again)
    # In turn, without the first ones, and nothing of what is long, ended early or failed the second time.
    assert made == ["a", "b", "breaks"] * 5
    assert set(found) == {"a", "b"}
    assert found["a"]["cost"] == pytest.approx(0.07)
    assert found["b"]["cost_low"] == pytest.approx(0.02)
    assert found["a"]["timings"] == 5
    assert [time(x) for x in (3.21e-6, 9.97e-6, 1.234e-4, 0.5, 12.0, np.nan)] == [
        "3.2 µs", "10 µs", "120 µs", "500 ms", "12 s", "–"
    ]  # fmt: skip


def test_timings_of_rows_are_those_of_their_own_runs(wheel):
    runs = wheel.runs[~wheel.runs["sampled"]]
    assert (runs["cost_low"] <= runs["cost"]).all()
    assert (runs["cost"] <= runs["cost_high"]).all()
    assert (runs["timings"] == 5).all()
    assert wheel.runs[wheel.runs["sampled"]]["cost"].isna().all()


def test_what_is_compared_stands_at_the_top(wheel):
    assert compared(wheel).startswith(
        "Formulations with 1 ms steps are compared with the reference, Coulomb's law (event-driven),"
    )
    stepped = replace(wheel, settings=replace(wheel.settings, reference="steps"))
    assert "the reference, Coulomb's law (stepped at 0.1 ms)," in compared(stepped)
    assert "0 s ≤ t < 0.3 s" in compared(wheel)
    assert sum(len(x.split()) for x in headline(wheel).sentences) < 150


def test_the_error_budget_has_rows_and_plots_that_say_something(wheel):
    (figure,) = [x for x in figures(named(wheel)) if x.name == "budget"]
    rows = pd.DataFrame(next(iter(figure.chart.to_dict()["datasets"].values())))
    assert set(rows["run"]) <= {f.label for f in named(wheel).formulations}, "a cross-check of samples has no row"
    assert set(rows["part"]) >= {"total", "step size", "formulation"}
    runs = next(iter(wheel.windows.values())).drop_duplicates("label").set_index("label")
    own = rows[(rows["run"] == "ccp") & (rows["field"] == "velocity [%]")].set_index("part")["error"]
    assert own["total"] == pytest.approx(100 * runs["velocity_error"]["ccp"], rel=1e-4)
    assert own["formulation"] == pytest.approx(100 * runs["velocity_formulation"]["ccp"], rel=1e-4)
    assert rows["error"].min() > 1e-6


def test_what_all_names_are_with_is_said_once():
    assert listed(["a with fixed axes", "b with fixed axes"]) == "a and b (both with fixed axes)"
    assert listed(["a with fixed axes", "b with fixed axes", "c with fixed axes"]) == "a, b and c (all with fixed axes)"
    assert listed(["a with fixed axes", "b"]) == "a with fixed axes and b"
    assert listed(["a with fixed axes"]) == "a with fixed axes"


def test_conditions_are_those_of_the_options():
    box, ccp = find_formulation("box"), find_formulation("ccp")
    fixed, turned = (box.with_options(axes=x, bounds="iterated").condition(2) for x in ("fixed", "sliding"))
    assert (fixed, turned) == ("contacts slide along the axes", "contacts slide in slowly changing directions")
    assert box.condition(1) == "normal forces change little from step to step"
    assert box.condition(2) == f"{fixed} and {box.condition(1)}"
    assert ccp.condition(2) == ccp.condition(1) == "sliding contacts may open"
    assert find_formulation("coulomb").condition(2) == ""


@pytest.mark.thorough
def test_axes_are_those_that_a_formulation_is_published_with_unless_both_are_asked_for(tmp_path, capsys):
    words = ["compare", "wheel", "-f", "box", "-f", "hybrid", "-f", "ccp", "--duration", "0.02", "--json", "--quiet"]
    for more, labels in (
        ([], ["box", "hybrid", "ccp"]),
        (["--axes", "both"], ["box", "box:axes=sliding", "hybrid:axes=fixed", "hybrid", "ccp"]),
    ):
        assert main([*words, *more, "--out", str(tmp_path / "out")]) == 0
        rows_of_it = json.loads(capsys.readouterr().out)
        assert list(dict.fromkeys(x["label"] for x in rows_of_it)) == labels


def test_any_step_has_a_reference_that_fits_into_it():
    c = wb.compare("wheel", ["box"], steps=2.5e-4, duration=0.01).comparison
    assert c.settings.reference_step == 2.5e-4 / 3
    assert c.runs["verified"].all()
    assert reference_of([1e-3]) == reference_of([1e-3, 5e-4]) == 1e-4
    for steps in ([1e-3 / 3], [7e-4, 1.1e-3], [1e-2]):
        assert reference_of(steps) <= 1e-4
        assert all(abs(h / reference_of(steps) - round(h / reference_of(steps))) < 1e-9 for h in steps)
    # Steps that share none of its size are refused in words, not stepped for hours.
    assert reference_of([1e-3, 1.000001e-3]) == 1e-4
