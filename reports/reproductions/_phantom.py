"""The sections on rho and on solvers of the page of DETC2017-67988."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.discrete_velocity import discrete_velocity
from workbench.builtin.formulations.phantom_inertia import phantom_inertia
from workbench.builtin.reports.figures.charts import COLOURS, Figure
from workbench.builtin.reports.reproductions._cube import (
    COARSE,
    COUPLED,
    FINE,
    FIXED,
    ITERATED,
    REGULARISED,
    apart,
    run,
    solver_frame,
)
from workbench.builtin.reports.reproductions.claims import Check, Claim, Section, Table, number_text
from workbench.diagnostics.phantom import Pencil, p_limit, pencil, scan, singular_values_of_rho, threshold
from workbench.matrices.p_matrix import p_verdict_of
from workbench.mechanics.case import Case
from workbench.step.one_step import first_step
from workbench.step.simulation import simulate

DIRECTIONS = (4, 8, 16)
LOG_RHO = np.arange(-12, 4.01, 0.25)
DECADES = tuple(10.0**k for k in range(-6, 3))
BY_FORMULA = "theory"


def pencil_of(case: Case, directions: int = 4, h: float = FINE) -> Pencil:
    return pencil(first_step(case, FIXED.with_options(directions=directions), h))


def p_count(p: Pencil) -> int:
    """How many values of the scan may give a P-matrix: all that are not proved to give none."""
    return sum(p_verdict_of(p.reduced(10.0**x), 2.0).verdict != "not P" for x in LOG_RHO)


def window() -> Section:
    wheel, cube = pencil_of(Wheel()), pencil_of(Cube())
    at = {(n, k): singular_values_of_rho(pencil_of(c, k)) for n, c in (("wheel", Wheel()), ("cube", Cube()))
          for k in DIRECTIONS}  # fmt: skip
    limit = p_limit(wheel, 1.5 * at["wheel", 4][-1])
    scans = []
    for name, p in (("wheel", wheel), ("cube", cube)):
        near = np.concatenate([x * (1 + np.array([-1e-3, 0, 1e-3])) for x in singular_values_of_rho(p)])
        found = scan(p, np.sort(np.concatenate([10.0**LOG_RHO, near])))
        scans.append(found.assign(curve=name + ", " + found["matrix"]))
    steps = {h: pencil_of(Cube(), h=h) for h in (COARSE, FINE, FINE / 10)}
    lost = {h: (threshold(p, p.mixed), threshold(p, p.reduced), threshold(p, p.mixed, 1e-12)) for h, p in steps.items()}
    lost_wheel = (threshold(wheel, wheel.mixed), threshold(wheel, wheel.reduced), threshold(wheel, wheel.mixed, 1e-12))
    rows = [("wheel, 1 ms", *(f"{x:.1e}" for x in lost_wheel))]
    rows += [(f"cube, {h * 1e3:g} ms", *(f"{x:.1e}" for x in values)) for h, values in lost.items()]
    # Beyond some 20 unknowns the minors are too many.
    decided = {("wheel", 4): wheel, ("wheel", 8): pencil_of(Wheel(), 8), ("cube", 4): cube}
    counts = {key: p_count(p) for key, p in decided.items()}
    listed = [
        (n, k // 2, ", ".join(f"{x:.6g}" for x in values), str(counts.get((n, k), "–")))
        for (n, k), values in at.items()
    ]
    return Section(
        "The window of the phantom inertia",
        "The lead matrix is affine in $\\rho$, so the values at which it is singular are generalised eigenvalues. "
        "Three things bound a good choice.\n\nToo small: the numerical rank is lost. The threshold is no property of "
        "the cube but of step, scaling and rank tolerance: stiff relaxation (entries up to $k_t h^2$) raises it, from "
        f"{min(map(min, lost.values())):.0e} to {max(map(max, lost.values())):.0e} kg on this cube (first table). The "
        "paper's 1e-8 kg lies within; it fits the mixed matrix near 1 ms with the usual tolerance.\n\nIsolated values: "
        "the matrix is singular where $\\rho$ meets $k$ times an eigenvalue of $K$, the effective tangential mass with "
        "the normal rows held. None lies below $k / \\lambda_{max}(W_{tt})$; the workbench's default is "
        "$1 / \\lambda_{max}(W_{tt})$.\n\nP-property (exactly one solution whatever the data, which pivoting methods "
        "are guaranteed for): on the wheel with two axes only below a limit; with more than two axes never; on the "
        "cube with $\\mu = 1$ never.",
        (
            r"\det\left(A + \rho B\right) = 0 \iff \rho = 2\, \mathrm{eig}(E^T K E) = k\, \mathrm{eig}(K), \qquad "
            r"K = [W^{-1}]_{tt}",
        ),
        claims=(
            Claim("Below 1e-8 kg the matrix becomes rank deficient: log₁₀ of the threshold [kg], cube, mixed matrix, "
                  "1 ms, within half a decade", -8.0, float(np.log10(lost[FINE][0])), tolerance=0.5, form=".2f"),
            Claim("The same of the reduced matrix, the LCP itself", -8.0, float(np.log10(lost[FINE][1])),
                  tolerance=0.5, form=".2f",
                  why="The paper says neither which matrix, nor at which step, nor with which tolerance."),
            Check("Wheel, two axes: first singular value of rho", 1.197, at["wheel", 4][0], "kg", 5e-4,
                  origin="independent runs", form=".5f"),
            Check("Wheel, two axes: second singular value of rho", 1.412, at["wheel", 4][1], "kg", 5e-4,
                  origin="independent runs", form=".5f"),
            Check("Four axes double them: first, wheel", 2 * at["wheel", 4][0], at["wheel", 8][0], "kg", 1e-6,
                  origin=BY_FORMULA, form=".6f"),
            Check("Wheel, two axes: P-matrix up to", 1.152, limit, "kg", 5e-4, origin="independent runs", form=".5f"),
            Check("That limit is $2 / \\lambda_{max}(W_{tt})$", 2 * wheel.rho, limit, "kg", 1e-4, origin=BY_FORMULA,
                  form=".5f"),
            Check("The default is inside: default over limit", 1.0, wheel.rho / limit, relation="≤",
                  origin=BY_FORMULA),
            Check(f"Wheel, four axes: values of rho that give a P-matrix, of {LOG_RHO.size} scanned", 0,
                  counts["wheel", 8], origin=BY_FORMULA),
        ),
        tables=(
            Table("Least rho [kg] with full numerical rank, two axes",
                  ("system", "mixed", "reduced", "mixed, tolerance 1e-12"), tuple(rows),
                  "Singular values above size × 2.2e-16 × the largest count; last column above 1e-12 × the largest. "
                  "Nothing scaled, axes fixed, start of the motion."),
            Table("Singular values of rho [kg], 1 ms", ("system", "axes k", "singular at rho", "P-matrix at"),
                  tuple(listed),
                  f"P-matrix at: how many of {LOG_RHO.size} values of rho from 1e-12 to 1e4 kg give one, in exact "
                  "arithmetic; – not decided."),
        ),
        figures=(
            Figure("rho", "How close to singular, over the phantom inertia",
                   "Smallest over largest singular value, the inverse of the condition number: mixed and reduced as "
                   "they are, and the reduced matrix equilibrated ($D M D$, free of units). The notches are the "
                   "isolated singular values.", conditions(pd.concat(scans))),
        ),
    )  # fmt: skip


def conditions(scans: pd.DataFrame) -> alt.Chart:
    data = scans[["rho", "curve", "smallest"]].assign(smallest=scans["smallest"].clip(lower=1e-18))
    order = list(dict.fromkeys(data["curve"]))
    pick = alt.selection_point(fields=["curve"], bind="legend")

    def axis(count: int) -> alt.Axis:
        return alt.Axis(format=".0e", tickCount=count)

    return (
        alt.Chart(data)
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X("rho:Q", title="ρ [kg]", scale=alt.Scale(type="log"), axis=axis(9)),
            y=alt.Y("smallest:Q", title="σ_min / σ_max", scale=alt.Scale(type="log"), axis=axis(9)),
            color=alt.Color("curve:N", sort=order, title=None, scale=alt.Scale(domain=order, range=COLOURS[:6])),
            opacity=alt.condition(pick, alt.value(0.95), alt.value(0.08)),
        )
        .add_params(pick)
        .properties(width=620, height=300)
    )  # fmt: skip


def solvers() -> Section:
    chosen = [f.with_options(directions=d) for f in (anitescu_potra, phantom_inertia, FIXED) for d in DIRECTIONS]
    names = ("lemke", "murty", "judice-pires", "keller", "pgs")
    cube = solver_frame(Cube(), [*chosen, discrete_velocity, box_friction, COUPLED, ITERATED], names)
    wheel = solver_frame(Wheel(), [anitescu_potra, discrete_velocity, FIXED, FIXED.with_options(directions=8)],
                         (*names, "enumerate"))  # fmt: skip
    whole = simulate(Cube(), anitescu_potra, find_solver("judice-pires"), COARSE)
    over_rho = solver_frame(Cube(), [FIXED.with_options(rho=x) for x in DECADES], ("lemke", "murty", "judice-pires"))

    def table(title: str, frame: pd.DataFrame, note: str = "") -> Table:
        rows = [
            (str(label), *(number_text(float(x), "g") if x == x else "refused" for x in row))
            for label, row in zip(frame.index, frame.to_numpy(), strict=True)
        ]
        return Table(title, ("formulation", *frame.columns), tuple(rows), note)

    failing = over_rho["judice-pires"].to_numpy(dtype=float)
    fixed8, ap, own = "phantom-inertia:axes=fixed,directions=8", "anitescu-potra", "phantom-inertia"
    why = (
        "A singular matrix as a whole does not matter to principal pivoting, only singular principal blocks on its "
        "way do. Murty's method completes the run too."
    )
    return Section(
        "Which algorithm solves which problem",
        "Every problem along a formulation's own trajectory at 10 ms is given to every algorithm from scratch. Counted "
        "are answers whose residual, computed by the problem and not by the solver, is above 1e-9.\n\nMore than two "
        "axes fixed in space, all in use, break the principal pivoting methods, as the paper noticed. It is not the "
        "block that breaks them: Murty's single exchanges fail on as many problems. Lemke's path copes. With axes "
        "turned to the sliding direction, two in use while sliding and all while sticking, nothing fails.\n\nToo large "
        "a $\\rho$ harms too: with two fixed axes block pivoting fails on "
        f"{failing[0]:g} problems at {DECADES[0]:g} kg, and on {failing[-1]:g} at {DECADES[-1]:g} kg, beyond the first "
        "singular values (last table).",
        claims=(
            Claim("AP can only be solved using Lemke: steps of the whole run that block pivoting cannot solve", 1,
                  whole.steps_wanted - whole.steps, relation="≥", why=why),
            Claim("Lemke solves AP: steps of its own run that it does not reach", 0,
                  round(Cube.duration / COARSE) - int(cube["problems"][ap])),
            Claim("Block pivoting solves the new model with two axes: problems left unsolved", 0,
                  float(cube["judice-pires"][own])),
            Claim("Block pivoting has problems with more than two directions in the tangent plane: unsolved, four axes",
                  1, float(cube["judice-pires"][fixed8]), relation="≥"),
            Claim("There are no issues with single pivoting such as Lemke's: unsolved, four axes", 0,
                  float(cube["lemke"][fixed8])),
            Claim("The same of Murty's single pivoting: unsolved, four axes", 0, float(cube["murty"][fixed8]),
                  why="With more than two axes the matrix is no P-matrix, and least-index pivoting cycles or meets "
                      "singular bases just as block pivoting does."),
        ),
        tables=(
            table("Cube, 10 ms: problems left unsolved", cube,
                  "Problems: steps that the formulation's own run reached. Keller needs a symmetric matrix, "
                  "projected Gauss-Seidel (pgs) a positive diagonal, Lemke an LCP."),
            table("Wheel, 10 ms: problems left unsolved", wheel, "Enumeration of all bases takes up to 12 unknowns."),
            table("Cube, 10 ms, two fixed axes: problems left unsolved over rho", over_rho),
        ),
    )  # fmt: skip


def influence_of_rho() -> Section:
    found = {x: run(Cube(), REGULARISED.with_options(rho=x), COARSE) for x in DECADES}
    base = run(Cube(), REGULARISED, COARSE)
    rows = []
    for x, r in found.items():
        k = min(r.steps, base.steps) + 1
        speed = float(np.abs(r.states_v[:k] - base.states_v[:k]).max())
        rows.append((f"{x:g}", r.steps, speed, apart(r, base), int(r.record.effort[:, 0].sum())))
    pivots = [row[4] for row in rows]
    return Section(
        "What rho does to the motion",
        "Nothing, as the paper says, and to the last bit: $\\rho$ couples $w_{up}$ to the condition of $w_{lo}$ and "
        "the other way round, of which one is always zero, so that the basis Lemke ends on does not contain it. Only "
        "the way there depends on it. Eight decades of $\\rho$ at 10 ms, regularised.",
        claims=(
            Claim("rho does not change the trajectory: largest distance over eight decades", 1e-6,
                  max(row[3] for row in rows), "m", relation="≤", origin="the paper: “no significant effect”",
                  form=".1e"),
            Claim("rho does not change the performance: most pivots over least", 1.0, max(pivots) / min(pivots),
                  tolerance=0.25, form=".3f"),
        ),
        tables=(
            Table("Against the default rho, 10 ms",
                  ("rho [kg]", "steps", "velocity differs by [m/s, rad/s]", "centre by [m]", "Lemke's pivots"),
                  tuple(rows)),
        ),
    )  # fmt: skip
