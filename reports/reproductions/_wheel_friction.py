"""Errors of friction in magnitude and direction: sections of the page of IDETC2016-60064."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.hybrid import hybrid
from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.reproductions._wheel import (
    DEVIATION,
    DURATION,
    ITERATED,
    MISALIGNMENT,
    NAMES,
    PAPER,
    STEP,
    percent,
    reference_of,
    row,
    steps_of,
)
from workbench.builtin.reports.reproductions.claims import Check, Claim, Grid, ResultTable, Section
from workbench.comparison.measured import rms
from workbench.comparison.result import Comparison
from workbench.judge.coulomb import misalignment
from workbench.language.formulation import Formulation


def squares(c: Comparison, f: Formulation) -> np.ndarray:
    """(K,) squared difference of the normalised friction from the reference, step by step."""
    reference = reference_of(c)["normalised_friction"].to_numpy()
    own = steps_of(c, f)["normalised_friction"].to_numpy()
    return (own - reference[: len(own)]) ** 2


def running(c: Comparison) -> pd.DataFrame:
    """Deviation [%] of each formulation (a column each) over the window from 0 to the index t [s]."""
    steps = np.arange(1, len(steps_of(c, coulomb)) + 1)
    deviation = {NAMES[f]: 100 * np.sqrt(np.cumsum(squares(c, f)) / steps) for f in PAPER}
    return pd.DataFrame(deviation, index=pd.Index(np.round(steps * STEP, 9), name="t"))


def deviations(longer: dict[str, Comparison]) -> Section:
    """Compare deviations from runs of LONG with several integrators, by name, the first of which is the paper's."""
    over = {name: running(c) for name, c in longer.items()}
    chosen = next(iter(over.values()))
    off = np.max([np.abs(chosen[NAMES[f]] - DEVIATION[f]) for f in (ITERATED, anitescu_potra, box_friction)], axis=0)
    met = chosen.index[off <= ALLOWED]
    drawn = chosen.iloc[19::20].melt(ignore_index=False, var_name="label", value_name="deviation").reset_index()
    published = pd.DataFrame({"y": sorted(set(DEVIATION.values()))})
    rules = alt.Chart(published).mark_rule(color="#999", strokeDash=[4, 4]).encode(y="y:Q")
    chart = lines(drawn, "deviation", "deviation over (0, T) [%]", ("t", "end T of the window [s]")) + rules
    return Section(
        "Deviation of friction from Coulomb's law",
        "The paper does not print the duration of the run, and half a second more or less changes the figures by up "
        "to 0.3 percentage points (tables below). So agreement within 0.1 is the best possible.\n\nWith iterated "
        f"bounds all three are met together for some ends of the run between {met.min():.2f} and {met.max():.2f} s, "
        "and for no others up to 8 s. Our 5 s are chosen for that reason: a reconstruction of the paper's conditions, "
        "not a prediction. The tables show the other results: the normal law hardly matters, but the symplectic "
        "update, which is not the paper's, does.",
        claims=(
            deviation(over, {"one pass": hybrid, "iterated": ITERATED}, ITERATED,
                      "The paper allows “a few iterations” of the bounds and does not say whether it made them. One "
                      "pass takes the bound from the last step's normal force, and makes the figure larger."),
            deviation(over, {"polygonal": anitescu_potra}, anitescu_potra),
            deviation(over, {"box": box_friction}, box_friction),
        ),
        figures=(
            Figure(
                "duration", "Effect of the unknown duration on the published figures",
                "Explicit update, velocity law. Dashed: the published 1.67, 3.76 and 9.70 %. All models jump at 2 s, "
                "where each stops sliding a few steps before or after the reference.", chart,
            ),
        ),
    )  # fmt: skip


ALLOWED = 0.1
"""Difference from a published deviation [%] or misalignment [deg] up to which they agree."""
ENDS = (2.5, 4.0, 4.5, 5.0, 5.5, 6.0, 8.0)
"""Ends of the run that are tried [s]."""
UNSTATED = "The paper states neither the end of the run nor the normal law."


def deviation(
    over: dict[str, pd.DataFrame], variants: dict[str, Formulation], chosen: Formulation, why: str = UNSTATED
) -> Claim:
    """The published deviation of a model against the end of the run, for its variants and the integrators."""
    rows = {
        f"{variant} / {integrator}": [float(frame[NAMES[f]][end]) for end in ENDS]
        for variant, f in variants.items() for integrator, frame in over.items()
    }  # fmt: skip
    computed = float(next(iter(over.values()))[NAMES[chosen]][DURATION])
    name = NAMES[chosen].partition(",")[0]
    return Claim(
        f"Deviation of the normalised friction, {name}", DEVIATION[chosen], computed, "%", ALLOWED, form=".2f",
        why=why,
        tried=Grid("variant / position update, normal law", "end of the run", tuple(f"{x:g} s" for x in ENDS), rows,
                   "One run of 8 s each, read off at several ends; computed above: explicit update as printed, "
                   f"velocity law, {DURATION:g} s."),
    )  # fmt: skip


def budget(paper: Comparison, longer: dict[str, Comparison]) -> Section:
    own, step = (
        percent(paper, ITERATED, name) for name in ("friction_rmsd_formulation", "friction_rmsd_discretisation")
    )
    square, t = squares(paper, coulomb), steps_of(paper, coulomb)["t"].to_numpy()
    over = {name: running(c) for name, c in longer.items()}
    ratios = {
        name: [float(frame[NAMES[coulomb]][end] / frame[NAMES[ITERATED]][end]) for end in ENDS]
        for name, frame in over.items()
    }  # fmt: skip
    share = 100 * float(square[np.abs(t - 2.0) < 0.02].sum() / square.sum())
    parts = ("friction_rmsd", "friction_rmsd_discretisation", "friction_rmsd_formulation")
    rows = [
        (NAMES[f], w, *(f"{percent(paper, f, x, w):.4f}" for x in parts)) for w in ("all", "sliding") for f in PAPER
    ]
    return Section(
        "Origin of the 1.67 %",
        "A deviation from a finer reference has two causes: the model and the step. To separate them, run exact "
        f"Coulomb friction at the same 1 ms: its deviation comes from the time step.\n\nIt is {step:.2f} %. The "
        f"regularised model with iterated bounds differs from it by {own:.2f} % only. So the published 1.67 % says "
        "little about the regularised model, since exact friction deviates as much. The comparison with polygon and "
        f"box remains valid and is even more in favour of the regularised model.\n\nEffect of the step: {share:.0f} % "
        "of the squared deviation of exact Coulomb occurs within 20 ms of the end of sliding, because the runs with 1 "
        "ms and 0.1 ms stop a few steps apart and friction drops from 1 to less than a half there. The rest grows "
        "while the wheel "
        "rolls, as the two runs drift apart in time.",
        claims=(
            Check("Exact Coulomb friction at 1 ms deviates as much as the regularised model with iterated bounds: "
                  "ratio", 1.0, ratios["explicit, velocity"][ENDS.index(DURATION)], tolerance=0.1,
                  origin="if the step makes it", form=".2f",
                  why="Soon after sliding has ended a few steps determine the figures, and one more or less matters.",
                  tried=Grid("position update, normal law", "end of the run", tuple(f"{x:g} s" for x in ENDS), ratios)),
            Check("Regularised model, bounds iterated: deviation from exact Coulomb friction at the same step, at most "
                  "half of the published", 0.5 * 1.67, own, "%", relation="≤", origin="if the step makes most of it",
                  form=".2f"),
        ),
        tables=(
            ResultTable("Error budget of the normalised friction [%]", ("model", "window", "total", "step", "model"),
                  tuple(rows), "Step: exact Coulomb at 1 ms against 0.1 ms. Model: against exact Coulomb at 1 ms. Root "
                  "mean squares do not add up."),
        ),
    )  # fmt: skip


def angle_below(c: Comparison, f: Formulation, threshold: float) -> float:
    """RMS misalignment [deg] over the steps that slide faster than this."""
    steps = steps_of(c, f)
    p_t, u_t = (steps[[f"{name}1", f"{name}2"]].to_numpy() for name in ("p_t", "u_t"))
    return rms(misalignment(p_t, u_t, threshold))


THRESHOLDS = {"10 cm/s": 0.1, "1 cm/s": Wheel().v_th, "1 mm/s": 1e-3, "0.1 mm/s": 1e-4}
"""Speeds [m/s] above which a step counts as sliding; the paper's own is 1 cm/s."""


def misaligned(paper: Comparison, variants: dict[str, Formulation], published: float, why: str) -> Claim:
    """The published misalignment of a model, over the speed above which a step counts as sliding."""
    rows = {name: [angle_below(paper, f, v) for v in THRESHOLDS.values()] for name, f in variants.items()}
    first = next(iter(variants))
    return Claim(
        f"Misalignment, {NAMES[variants[first]].partition(',')[0]}", published, rows[first][1], "°", ALLOWED, why=why,
        form=".2f", tried=Grid("variant", "steps counted as sliding: faster than", tuple(THRESHOLDS), rows),
    )  # fmt: skip


def angles(paper: Comparison, sliding: list[Comparison]) -> Section:
    computed = {f: float(row(paper, f)["misalignment_rms"]) for f in MISALIGNMENT}
    polygon, box = ([float(row(c, f)["misalignment_rms"]) for c in sliding] for f in (anitescu_potra, box_friction))
    swapped = "Very probably the two printed numbers are interchanged; see the checks below."
    cause = (
        "Not settled. The figure depends on the last few steps before the wheel stops, and on which of them count. At "
        "the paper's threshold neither variant gives it, and the combination that does uses one pass, while the "
        "published deviation needs iterated bounds."
    )
    return Section(
        "Misalignment of friction: two interchanged numbers",
        f"Printed are 14.0° for the polygon and 12.6° for the box. Computed are {computed[anitescu_potra]:.1f}° for "
        f"the polygon and {computed[box_friction]:.1f}° for the box: the same two numbers, interchanged.\n\nThis does "
        f"not depend on conventions: over four integrators the polygon stays within "
        f"{min(polygon):.1f}–{max(polygon):.1f}° and the box within {min(box):.1f}–{max(box):.1f}°, so that the box "
        f"always has the larger one. For polygon and box it hardly matters which steps count as sliding; a few steps "
        f"determine the regularised model's figure.",
        claims=(
            misaligned(paper, {"one pass": hybrid, "iterated": ITERATED}, MISALIGNMENT[hybrid], cause),
            misaligned(paper, {"polygonal": anitescu_potra}, MISALIGNMENT[anitescu_potra], swapped),
            misaligned(paper, {"box": box_friction}, MISALIGNMENT[box_friction], swapped),
            Check("Printed for polygonal, computed for the box", 14.0, computed[box_friction], "°", ALLOWED,
                  origin="if swapped", form=".1f"),
            Check("Printed for the box, computed for polygonal", 12.6, computed[anitescu_potra], "°", ALLOWED,
                  origin="if swapped", form=".1f"),
            Check("Smallest misalignment of the box minus largest of the polygon, over four integrators, sliding", 0.0,
                  min(box) - max(polygon), "°", relation="≥", origin="if swapped", form=".1f"),
        ),
    )  # fmt: skip
