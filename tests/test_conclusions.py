"""The sentences of a comparison: each follows from the numbers that it names, and from these alone."""

import numpy as np
import pandas as pd

from workbench.builtin.cases.pinched_capsule import PinchedCapsule
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.text import conclusions, mechanisms
from workbench.comparison.cases import compare_case
from workbench.comparison.columns import Column
from workbench.comparison.jobs import Settings
from workbench.verbs.find import find_formulation

VELOCITY = Column("velocity_error", "1", "of the test", heading="velocity", shown="percent")
COULOMB = FORMULATIONS.find("coulomb")


def rows(**errors):
    """Rows of formulations with these velocity errors; axes are fixed."""
    return pd.DataFrame(
        {"label": list(errors), "formulation": list(errors), "axes": "fixed", "velocity_error": list(errors.values())}
    )


def compared(case, names, **settings):
    return compare_case(case, [find_formulation(x) for x in names], COULOMB, settings=Settings(**settings))


def test_a_ranking_keeps_those_together_that_are_not_told_apart():
    assert conclusions.ranking(rows(a=0.3, b=0.01, c=0.011, d=0.29), VELOCITY) == [["b", "c"], ["d", "a"]]
    assert conclusions.ranking(rows(a=0.3, b=0.01).assign(velocity_reference=0.2), VELOCITY) == [["b"], ["a"]]
    assert conclusions.ranking(rows(a=0.3, b=0.01).assign(velocity_reference=0.3), VELOCITY) == [["b", "a"]]
    assert conclusions.ranking(rows(a=0.3), VELOCITY) == []
    assert conclusions.ranking(rows(a=1e-15, b=1e-14), VELOCITY) == []


def test_turned_axes_are_no_matter_of_the_law():
    both = pd.concat([rows(box=0.2, ccp=0.1), rows(box=0.05).assign(axes="sliding", label="box:axes=sliding")])
    both["local_velocity_error"] = both["velocity_error"]
    both.loc[both["formulation"] == "ccp", "axes"] = ""
    words = conclusions.turned_axes(both, {"velocity_error": VELOCITY})
    assert "reduce the error of box (20 to 5)" in words
    assert "worsens" not in words
    # Single steps may get better where the motion gets worse.
    worse = both.assign(velocity_error=[0.05, 0.1, 0.2])
    assert "increase the error of box (5 to 20)" in conclusions.turned_axes(worse, {"velocity_error": VELOCITY})


def test_what_a_step_does_is_not_blamed_on_a_formulation():
    found = rows(a=0.1, b=0.1).assign(velocity_discretisation=0.02, velocity_formulation=[0.01, 0.03])
    words = conclusions.mostly_step_size(found)
    assert "of a comes more from the time step" in words
    assert "at the same step is 2 %" in words
    within = conclusions.within_reference(rows(a=0.1, b=0.2).assign(velocity_reference=0.15))
    assert within == "Velocity errors within the reference's uncertainty: a."


def test_reasons_are_symptoms_of_the_run():
    """The polygon's corner, the cone's lift and the bristle's creep, each where it is and nowhere else."""
    wheel = dict(mechanisms.reasons(compared(Wheel(), ["stewart-trinkle", "ccp", "coulomb"], duration=0.3)))
    polygon, cone = (next(v for k, v in wheel.items() if k.startswith(x)) for x in ("stewart-trinkle", "ccp"))
    assert any("a polygon is not round" in x for x in polygon)
    assert not any("contacts open" in x or "creep" in x for x in polygon)
    assert any("contacts open" in x for x in cone)
    assert not any("round" in x for x in cone)
    assert not any(k.startswith("coulomb") for k in wheel)
    capsule = dict(mechanisms.reasons(compared(PinchedCapsule(), ["mujoco", "stewart-trinkle"], duration=0.3)))
    (mujoco,) = [v for k, v in capsule.items() if k.startswith("mujoco")]
    assert any("creep at 4.17 mm/s" in x for x in mujoco)
    (alike,) = [v for k, v in capsule.items() if k.startswith("stewart-trinkle")]
    (reason,) = alike
    assert reason == "its velocities are those of exact Coulomb friction at this step"


def test_where_metrics_were_left_out_a_reason_may_be_hidden():
    few = compare_case(Wheel(), [find_formulation("stewart-trinkle")], COULOMB, settings=Settings(duration=0.3),
                  metrics=["velocity-error", "lift"])  # fmt: skip
    ((_, (reason,)),) = mechanisms.reasons(few)
    assert reason == (
        "unknown, because these metrics were not computed: creep, penetration, rebound, energy gained, yaw spread, "
        "misalignment rms, friction rmsd"
    )


def test_who_is_not_verified_is_reported_by_what_became_of_it():
    runs = pd.DataFrame({
        "label": list("abcd"), "solver": "lemke", "verified": [False, False, False, True], "tolerance": 1e-9,
        "claimed": ["REFUSED", "INACCURATE", "NO_FIXED_POINT", "SOLVED"], "residual": [np.nan, 2e-6, np.nan, 1e-12],
        "steps": [0, 10, 7, 10],
    })  # fmt: skip
    assert conclusions.not_verified(runs) == [
        "Refused (see the table): a by lemke.",
        "Residual above the tolerance: b by lemke (2e-06, allowed 1e-09).",
        "No solution found at some step (see the table): c by lemke.",
    ]
    assert conclusions.not_verified(runs[3:]) == []


def test_parts_that_are_larger_than_the_whole_are_reported():
    found = rows(a=0.2, b=0.2).assign(velocity_formulation=[0.4, 0.2], velocity_compliance=[0.3, np.nan])
    words = conclusions.cancelled(found)
    assert words.endswith("a (40 % from the formulation, 30 % from the run's tangential compliance; 20 % in total).")
    assert conclusions.cancelled(found[1:]) == ""


def test_what_is_equal_in_three_digits_keeps_the_order_of_the_table():
    assert conclusions.ranking(rows(a=0.1 + 1e-9, c=0.5, b=0.1), VELOCITY) == [["a", "b"], ["c"]]


def test_modes_are_those_of_every_formulation_whatever_its_axes():
    found = rows(a=0.1, b=0.1, c=0.1).assign(other_mode=[0, 1, 0], axes=["fixed", "fixed", "sliding"])
    assert conclusions.same_modes(found).endswith("under a and c.")
    assert "every contact has the mode" in conclusions.same_modes(found)
    assert conclusions.same_modes(found[1:2].assign(label="x")) == ""
    assert "No other formulation" in conclusions.same_modes(found.assign(other_mode=1))


def test_runs_are_counted_apart_from_cross_checks():
    runs = pd.DataFrame({"verified": [True, True, True, False], "sampled": [False, False, True, True]})
    assert conclusions.verified_in_words(runs, runs["sampled"], True) == (
        "2 of 2 runs are verified in every step of the window, and 1 of 2 cross-checks in sampled steps"
    )
    words = [conclusions.verified_in_words(runs, again, False) for again in (runs["sampled"] & False, runs["sampled"])]
    assert words == ["3 of 4 answers are verified", "2 of 2 answers are verified, and 1 of 2 cross-checks"]


def test_impacts_at_other_instants_are_reported():
    found = rows(a=0.1, b=0.1)
    assert conclusions.impacts(found) == ""
    assert conclusions.impacts(found.assign(wrench_discretisation=0.01)) == ""
    assert "a wrench error of 200 %" in conclusions.impacts(found.assign(wrench_discretisation=2.0))


def test_what_is_not_defined_gives_no_sentence():
    nothing = pd.DataFrame({"label": ["a", "b"], "formulation": ["a", "b"], "velocity_error": [np.nan, np.nan]})
    for say in (conclusions.within_reference, conclusions.mostly_step_size, conclusions.redundancy):
        assert say(nothing) == ""
    assert conclusions.ranking(nothing, VELOCITY) == []
