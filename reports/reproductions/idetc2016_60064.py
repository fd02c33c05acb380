"""IDETC2016-60064: the regularised friction model of Peiret, Gholami, Kövecses & Font-Llagunes on the sliding wheel."""

from dataclasses import replace

import altair as alt
import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.hybrid import hybrid
from workbench.builtin.formulations.phantom_inertia import phantom_inertia
from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.figures.comparison import curves_of
from workbench.builtin.reports.reproductions.claims import Check, Claim, Reproduction, Section, Table
from workbench.builtin.reports.reproductions.selection import one_solver, reference_of, row, steps_of
from workbench.comparison.cases import compare
from workbench.comparison.jobs import Progress, Settings
from workbench.comparison.measured import rms
from workbench.comparison.result import Comparison
from workbench.judge.coulomb import misalignment
from workbench.language.formulation import Formulation
from workbench.matrices.rank import rank
from workbench.mechanics.contact import ContactSystem
from workbench.step.one_step import pose
from workbench.step.simulation import simulate

ITERATED = hybrid.with_options(bounds="iterated")
PAPER = (coulomb, hybrid, ITERATED, anitescu_potra, box_friction)
NAMES = {
    coulomb: "exact Coulomb", hybrid: "regularised, one pass", ITERATED: "regularised, iterated",
    anitescu_potra: "polygonal", box_friction: "box",
}  # fmt: skip
DURATION, LONG, STEP, FINE, SLIDING = 5.0, 8.0, 1e-3, 1e-4, 1.98
DEVIATION = {hybrid: 1.67, ITERATED: 1.67, anitescu_potra: 3.76, box_friction: 9.70}
"""Published RMS deviation of the normalised friction [%]; the paper does not say whether the bounds were iterated."""
MISALIGNMENT = {hybrid: 0.7, anitescu_potra: 14.0, box_friction: 12.6}
"""Published RMS misalignment [deg]."""
SLOW = 1e-3  # a tenth of the paper's threshold v_th [m/s]
INDEPENDENT = {
    coulomb: ((0.0, 1e-9), (0.0, 0.01)),
    phantom_inertia: ((0.0, 5e-5), (0.175, 0.185)),
    phantom_inertia.with_options(lateral="regularised"): ((0.0, 0.01), (0.0, 0.01)),
    hybrid: ((0.151, 0.160), (0.0, 0.006)),
    ITERATED: ((0.0, 0.008), (0.0, 0.006)),
    anitescu_potra: ((2.9, 3.3), (12.5, 13.8)),
    anitescu_potra.with_options(directions=8): ((1.3, 1.7), (8.0, 8.3)),
    anitescu_potra.with_options(directions=16): ((0.445, 0.455), (4.85, 4.95)),
    box_friction: ((4.57, 4.76), (13.97, 14.37)),
}
"""Deviation [%], misalignment [deg] while sliding: ranges of independent runs, or a figure and half its last digit."""


def compared(
    chosen: tuple[Formulation, ...], duration: float, explicit: bool = True, normal: str = "velocity",
    steps: tuple[float, ...] = (STEP,),
) -> Comparison:  # fmt: skip
    """The wheel under these formulations, each by its round-off solver, beside exact Coulomb friction at 0.1 ms."""
    settings = Settings(steps, FINE, duration, explicit, normal)
    return one_solver(compare(Wheel(), chosen, coulomb, ("coulomb-exact", "lemke", "judice-pires"), settings))


def percent(c: Comparison, f: Formulation, column: str = "friction_rmsd", window: str = "all") -> float:
    return 100 * float(row(c, f, window)[column])


def reproduce(progress: Progress) -> Reproduction:
    """All sections; about a minute of one core when the kernels have to be compiled, a quarter of that when not."""
    progress("the published experiment", 0, 5)
    paper = compared(PAPER, DURATION)
    progress("the same for longer", 1, 5)
    longer = compared(PAPER, LONG)
    progress("four integrators", 2, 5)
    sliding = [compared(tuple(INDEPENDENT), SLIDING, e, g) for e in (True, False) for g in ("velocity", "gap")]
    progress("a tenth of the step", 3, 5)
    finer = compared((hybrid, anitescu_potra, box_friction), SLIDING, steps=(STEP, FINE))
    progress("the reference", 4, 5)
    return Reproduction(
        "A regularised contact model: the wheel that slides for two seconds",
        "Peiret, Gholami, Kövecses & Font-Llagunes: A regularized contact model for multibody system simulation, "
        "IDETC2016-60064",
        "A tilted wheel is thrown along the floor. Three friction models at 1 ms are compared with exact Coulomb "
        "friction at 0.1 ms. With iterated bounds the friction deviations come out as printed; two of the printed "
        "misalignments have very probably changed places; and almost all of the 1.67 % that the paper reports for "
        "its own model belongs to the step size, not to the model.",
        (
            experiment(reference_run()), deviations(paper, longer), budget(paper), angles(paper, sliding),
            over_time(paper), robust(sliding), tenth(finer), theory(), redundancy(),
        ),
    )  # fmt: skip


def reference_run(h: float = FINE, duration: float = 2.2):
    """Exact Coulomb friction under the symplectic update and the gap law, the workbench's defaults."""
    return simulate(Wheel(), coulomb, find_solver("coulomb-exact"), h, duration, normal="gap")


def experiment(reference) -> Section:
    slip = np.linalg.norm(reference.u_t[:, 0], axis=-1)
    stop = float(reference.t[np.argmax(slip < SLOW)] + reference.h)
    return Section(
        "The experiment",
        "The wheel (radius 0.5 m, mass 1 kg, $\\mu = 0.3$) starts tilted by 20°, with 6 m/s forward and −2 rad/s "
        "about the vertical, exactly as in the paper's Table 1. It slides, slows down, and rolls on.\n\nThe paper "
        "measures two things: how far the size of friction is from Coulomb's, and how far its direction is from "
        "opposing the sliding velocity. Both are root mean squares over the steps; the angle counts only steps that "
        "slide faster than $v_{th}$ = 0.01 m/s.\n\nWhat the paper prints we take as printed: 1 ms steps, reference "
        "at 0.1 ms, explicit position update. It does not print the duration, the tangent axes, nor whether the "
        "friction bounds were iterated. We take 5 s, axes fixed in space for polygon and box, and a normal law at "
        "velocity level.",
        (
            r"\lambda = \frac{|p_t|}{\mu\, p_n}, \qquad "
            r"\text{deviation} = \sqrt{\frac{1}{K}\sum_{k=1}^{K} (\lambda_k - \lambda_k^{ref})^2}, \qquad "
            r"\text{misalignment}_k = \angle(p_{t,k},\, -u_{t,k})",
        ),
        (Claim("The wheel slides for the first two seconds", 2.0, stop, "s", 0.05),),
    )


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


def deviations(paper: Comparison, longer: Comparison) -> Section:
    why = (
        "The paper allows “a few iterations” of the bounds and does not say whether it made them. One pass takes the "
        "bound from the last step's normal force; iterated, the printed figure comes out (next row)."
    )
    claims = [
        Claim(f"Deviation of the normalised friction, {NAMES[f]}", published, percent(paper, f), "%", 0.1,
              why=why if f is hybrid else "", form=".2f") for f, published in DEVIATION.items()
    ]  # fmt: skip
    over = running(longer)
    off = np.max([np.abs(over[NAMES[f]] - DEVIATION[f]) for f in (ITERATED, anitescu_potra, box_friction)], axis=0)
    met = over.index[off <= 0.1]
    drawn = over.iloc[19::20].melt(ignore_index=False, var_name="label", value_name="deviation").reset_index()
    published = pd.DataFrame({"y": sorted(set(DEVIATION.values()))})
    rules = alt.Chart(published).mark_rule(color="#999", strokeDash=[4, 4]).encode(y="y:Q")
    chart = lines(drawn, "deviation", "deviation over (0, T) [%]", x_title="end T of the window [s]") + rules
    ends = (2.5, 4.0, 4.5, 5.0, 5.5, 6.0, 8.0)
    return Section(
        "How far friction is from Coulomb's",
        "The duration of the run is not printed, and half a second more or less moves the figures by up to 0.3 "
        "percentage points (table below). So 0.1 is as close as one can ask for.\n\nWith iterated bounds all three "
        f"are met together for some ends of the run between {met.min():.2f} and {met.max():.2f} s, and for no others "
        "up to 8 s. Our 5 s are chosen for that reason: a reconstruction of the paper's conditions, not a prediction.",
        claims=tuple(claims),
        tables=(
            Table("Deviation [%] against the end of the run", ("model", "published", *(f"{T:g} s" for T in ends)),
                  tuple((NAMES[f], f"{DEVIATION[f]:.2f}" if f in DEVIATION else "–",
                         *(f"{over[NAMES[f]][T]:.2f}" for T in ends)) for f in PAPER),
                  "One run of 8 s, read off at several ends."),
        ),
        figures=(
            Figure(
                "duration", "What the unknown duration does to the published figures",
                "Dashed: the published 1.67, 3.76 and 9.70 %. All models jump at 2 s, where each stops sliding at its "
                "own moment, a few steps from the reference's.", chart,
            ),
        ),
    )  # fmt: skip


def budget(paper: Comparison) -> Section:
    own, step = (
        percent(paper, ITERATED, name) for name in ("friction_rmsd_formulation", "friction_rmsd_discretisation")
    )
    square, t = squares(paper, coulomb), steps_of(paper, coulomb)["t"].to_numpy()
    share = 100 * float(square[np.abs(t - 2.0) < 0.02].sum() / square.sum())
    parts = ("friction_rmsd", "friction_rmsd_discretisation", "friction_rmsd_formulation")
    rows = [
        (NAMES[f], w, *(f"{percent(paper, f, x, w):.4f}" for x in parts)) for w in ("all", "sliding") for f in PAPER
    ]
    return Section(
        "Where the 1.67 % comes from",
        "A deviation from a finer reference has two causes: the model and the step. To tell them apart, run exact "
        f"Coulomb friction at the same 1 ms: whatever it scores is the step's doing.\n\nIt scores {step:.2f} %. The "
        f"regularised model with iterated bounds differs from it by {own:.2f} % only. So the published 1.67 % says "
        "hardly anything about the regularised model: exact friction does no better. The comparison with polygon and "
        f"box stands, and is even more in favour of the regularised model.\n\nWhat the step does: {share:.0f} % of "
        "the squared deviation of exact Coulomb is made within 20 ms of the end of sliding, because 1 ms and 0.1 ms "
        "stop a few steps apart and friction drops from 1 to less than a half there. The rest grows while the wheel "
        "rolls, as the two runs drift apart in time.",
        claims=(
            Check("Regularised model, bounds iterated: deviation from exact Coulomb friction at the same step", 1.67,
                  own, "%", 0.1, origin="if all were the model's", form=".2f",
                  why="The rest is discretisation, which all models share."),
            Check("Exact Coulomb friction at 1 ms deviates by as much as is published for the regularised model", 1.67,
                  step, "%", 0.1, origin="the paper, of its model", form=".2f"),
        ),
        tables=(
            Table("Error budget of the normalised friction [%]", ("model", "window", "total", "step", "model"),
                  tuple(rows), "Step: exact Coulomb at 1 ms against 0.1 ms. Model: against exact Coulomb at 1 ms. Root "
                  "mean squares do not add up."),
        ),
    )  # fmt: skip


def angle_below(c: Comparison, f: Formulation, threshold: float) -> float:
    """RMS misalignment [deg] over the steps that slide faster than this."""
    steps = steps_of(c, f)
    p_t, u_t = (steps[[f"{name}1", f"{name}2"]].to_numpy() for name in ("p_t", "u_t"))
    return rms(misalignment(p_t, u_t, threshold))


def angles(paper: Comparison, sliding: list[Comparison]) -> Section:
    computed = {f: float(row(paper, f)["misalignment_rms"]) for f in MISALIGNMENT}
    polygon, box = ([float(row(c, f)["misalignment_rms"]) for c in sliding] for f in (anitescu_potra, box_friction))
    swapped = "Very probably the two printed numbers changed places; see the two rows below."
    cause = (
        "Not settled. The figure hangs on the last few steps before the wheel stops, and on which of them count. Down "
        "to 1 mm/s it fits with one pass but not with iterated bounds, which are what fits the 1.67 %; 1 mm/s was "
        "picked among the thresholds of the table because it comes closest."
    )
    return Section(
        "How far friction is from opposing the motion: two numbers changed places",
        f"Printed are 14.0° for the polygon and 12.6° for the box. Computed are {computed[anitescu_potra]:.1f}° for "
        f"the polygon and {computed[box_friction]:.1f}° for the box: the same two numbers, the other way round.\n\nIt "
        "is not a matter of conventions: over four integrators the polygon stays within "
        f"{min(polygon):.1f}–{max(polygon):.1f}° and the box within {min(box):.1f}–{max(box):.1f}°, so that the box "
        "is always the worse one.",
        claims=(
            Claim("Misalignment, regularised", 0.7, computed[hybrid], "°", 0.1, why=cause, form=".2f"),
            *(Claim(f"Misalignment, {NAMES[f]}, counting steps down to 1 mm/s", 0.7, angle_below(paper, f, SLOW), "°",
                    0.1, form=".2f", why="See above.") for f in (hybrid, ITERATED)),
            Claim("Misalignment, polygonal", 14.0, computed[anitescu_potra], "°", 0.1, why=swapped, form=".1f"),
            Claim("Misalignment, box", 12.6, computed[box_friction], "°", 0.1, why=swapped, form=".1f"),
            Check("Printed for polygonal, computed for the box", 14.0, computed[box_friction], "°", 0.1,
                  origin="if swapped", form=".1f"),
            Check("Printed for the box, computed for polygonal", 12.6, computed[anitescu_potra], "°", 0.1,
                  origin="if swapped", form=".1f"),
            Check("Smallest misalignment of the box minus largest of the polygon, over four integrators, sliding", 0.0,
                  min(box) - max(polygon), "°", relation="≥", origin="if swapped", form=".1f"),
        ),
        tables=(
            Table(
                "Misalignment [°] against the speed above which a step counts as sliding",
                ("model", "10 cm/s", "1 cm/s (the paper's)", "1 mm/s", "0.1 mm/s"),
                tuple((NAMES[f], *(f"{angle_below(paper, f, v):.2f}" for v in (0.1, 0.01, SLOW, 1e-4))) for f in PAPER),
                "Polygon and box hardly notice; the regularised model's figure is made by a handful of steps.",
            ),
        ),
    )  # fmt: skip


def over_time(paper: Comparison) -> Section:
    """Fig. 4 and Fig. 5 a, b, c."""
    start = Wheel().centre(Wheel().start()[0])
    curves = curves_of(paper)
    away = np.linalg.norm(curves[["x", "y", "z"]].to_numpy() - start, axis=-1)
    energy = float(Wheel().energy(*Wheel().start()))
    curves = curves.assign(
        label=curves["label"].map({f.label: name for f, name in NAMES.items()}),
        position=100 * curves["position_error"] / away, joule=100 * curves["energy_error"] / energy,
    )  # fmt: skip
    ratio = {
        (name, w): float(row(paper, box_friction, w)[name]) / float(row(paper, anitescu_potra, w)[name])
        for name in ("position_error", "energy_error", "misalignment_rms") for w in ("sliding", "all")
    }  # fmt: skip
    best = {
        name.partition("_")[0]: max(float(row(paper, f)[name]) for f in (hybrid, ITERATED))
        / min(float(row(paper, f)[name]) for f in (anitescu_potra, box_friction))
        for name in ("friction_rmsd", "position_error", "energy_error")
    }
    return Section(
        "Over time: Figures 4 and 5",
        "“Similar” and “roughly the same” are read as: within a quarter. Errors in position and energy are the largest "
        "of the run, 0 to 5 s, unless it says: while sliding, 0 to 1.98 s. The regularised model enters with its worse "
        "variant, against the better of the two others.",
        claims=(
            *(Claim(f"Regularised model better than both others: ratio of the errors in {words}", 1.0, value,
                    relation="≤") for words, value in best.items()),
            Claim("Polygon and box have roughly the same position error: ratio box to polygon, while sliding", 1.0,
                  ratio["position_error", "sliding"], tolerance=0.25),
            Claim("The same over the whole run", 1.0, ratio["position_error", "all"], tolerance=0.25,
                  why="The box's error swings to both sides of the polygon's, which is steady (Fig. 5 a below); its "
                  "largest value is larger."),
            Claim("The polygon has less energy error than the box: ratio box to polygon", 1.0,
                  ratio["energy_error", "all"], relation="≥"),
            Claim("The misalignment of polygon and box is similar: ratio", 1.0, ratio["misalignment_rms", "all"],
                  tolerance=0.25),
        ),
        figures=(
            Figure(
                "friction", "Fig. 4: normalised friction $|p_t| / (\\mu p_n)$",
                "Sliding must keep it at 1. The box bounds each component by itself, so that friction in between is "
                "larger; the polygon, inside the disc, falls below just before the wheel stops. Click a name to single "
                "out its curve.", lines(curves, "normalised_friction", "normalised friction [-]"),
            ),
            Figure(
                "position", "Fig. 5 a: position error",
                "The centre's distance from the reference over that from its own start.",
                lines(curves, "position", "position error [%]"),
            ),
            Figure(
                "energy", "Fig. 5 b: energy error",
                "Over the initial energy, potential zero at the floor.", lines(curves, "joule", "energy error [%]"),
            ),
            Figure(
                "misalignment", "Fig. 5 c: misalignment of friction",
                "Angle between friction and the direction against sliding, while sliding faster than 0.01 m/s.",
                lines(curves, "misalignment", "misalignment [°]"),
            ),
        ),
    )  # fmt: skip


def robust(sliding: list[Comparison]) -> Section:
    claims, rows = [], []
    for f, limits in INDEPENDENT.items():
        both = [[percent(c, f) for c in sliding], [float(row(c, f)["misalignment_rms"]) for c in sliding]]
        rows.append((f.label, *(f"{min(values):.4f} – {max(values):.4f}" for values in both)))
        for what, unit, values, (least, most) in zip(
            ("deviation", "misalignment"), ("%", "°"), both, limits, strict=True
        ):
            middle = (least + most) / 2
            farthest = values[int(np.argmax(np.abs(np.array(values) - middle)))]
            # A range that starts at zero is a bound.
            claim = Check(f"{f.label}: {what}", most, farthest, unit, 0.0, "≤", "independent runs", form=".3g")
            between = replace(claim, expected=middle, tolerance=most - middle, relation="=")
            claims.append(claim if least == 0.0 else between)
    return Section(
        "The robust comparison: while it slides",
        "Before the wheel stops nothing depends on when it stops, and Coulomb's law is simple: the normalised "
        "friction is 1. Over the window from 0 to 1.98 s conventions hardly matter, so this is the comparison to "
        "trust. The numbers to compare with are an independent program's, a range over several integrators; computed "
        "is the one of our four integrators that is farthest from its middle.\n\nTurning the friction axes to the "
        "sliding direction is what makes the regularised model (and phantom inertia) accurate. More directions help "
        "the polygon; two fixed axes cannot help the box.",
        claims=tuple(claims),
        tables=(
            Table("Least and most over four integrators (explicit or symplectic, velocity or gap law)",
                  ("formulation", "deviation from 1 [%]", "misalignment [°]"), tuple(rows)),
        ),
    )  # fmt: skip


def tenth(finer: Comparison) -> Section:
    expected = {
        hybrid: (10.0, 1.0, "One pass takes the bounds from the last step: a lag of one step, hence first order."),
        anitescu_potra: (1.0, 0.15, "The polygon is inscribed in Coulomb's disc at any step."),
        box_friction: (1.0, 0.05, "A square is no disc at any step."),
    }
    error = {(f, h): 100 * float(row(finer, f, step=h)["friction_rmsd"]) for f in expected for h in (STEP, FINE)}
    return Section(
        "A ten times smaller step: which errors stay",
        "An error of the model stays; an error of the step falls with it.",
        claims=tuple(
            Check(f"{NAMES[f]}: deviation at 1 ms over deviation at 0.1 ms", ratio, error[f, STEP] / error[f, FINE],
                  tolerance=tolerance, origin="theory", why=why, form=".2f")
            for f, (ratio, tolerance, why) in expected.items()
        ),
        tables=(
            Table("Deviation from 1 while sliding [%]", ("model", "1 ms", "0.1 ms"),
                  tuple((NAMES[f], *(f"{error[f, h]:.3f}" for h in (STEP, FINE))) for f in expected)),
        ),
    )  # fmt: skip


def theory() -> Section:
    fine, coarse = (Wheel().truths(reference_run(h)) for h in (FINE, STEP))
    order = coarse[1].computed / fine[1].computed
    return Section(
        "Is the reference right?",
        "The reference is checked against a solution that shares nothing with it: the equations of the sliding wheel "
        "by an adaptive Runge-Kutta method. Time stepping is of first order, so ten times smaller steps must be ten "
        "times closer.",
        claims=(
            *map(Check.of, fine),
            Check("Order of the time stepping: distance from theory at t = 1 s, 1 ms over 0.1 ms", 10.0, order,
                  tolerance=1.0, origin="first order", form=".2f"),
        ),
    )  # fmt: skip


def redundancy() -> Section:
    """A planar bar on two feet: its two friction rows are the same row."""
    bar = ContactSystem(
        M=np.diag([2.0, 2.0, 0.5]), v=np.array([1.0, 0.0, 0.0]), f=np.array([0.0, -2 * 9.81, 0.0]), h=STEP,
        J_n=np.array([[0.0, 1.0, -1.0], [0.0, 1.0, 1.0]]), J_t=np.array([[1.0, 0.0, 0.2], [1.0, 0.0, 0.2]]), mu=0.3,
        v_th=0.01,
    )  # fmt: skip
    found = {f: rank(pose(f, bar).problem().M).value for f in (box_friction, hybrid)}
    return Section(
        "Redundant friction",
        "A bar stands on two feet at the same height: the floor cannot tell which foot carries how much of the "
        "friction, and the two friction rows of the matrix are equal. The bristle's compliance $1/(k_T h^2)$ on the "
        "diagonal cures it.",
        claims=(
            Check("Rank of the reduced 4 × 4 lead matrix, box", 3, found[box_friction], origin="one redundancy"),
            Claim("With the bristle the lead matrix has full rank whatever the rank of D: rank of the 4 × 4 matrix", 4,
                  found[hybrid]),
        ),
    )  # fmt: skip
