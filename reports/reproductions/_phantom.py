"""The sections on rho of the page of DETC2017-67988: where the matrix is regular, and what rho does to the motion."""

from itertools import product

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.phantom_inertia import phantom_inertia
from workbench.builtin.reports.figures.charts import COLOURS, Figure
from workbench.builtin.reports.reproductions._cube import COARSE, FINE, FIXED, REGULARISED, apart, run
from workbench.builtin.reports.reproductions.claims import Check, Claim, Grid, ResultTable, Section
from workbench.diagnostics.phantom import Pencil, p_limit, pencil, scan, singular_values_of_rho, threshold
from workbench.matrices.p_property.verdict import p_verdict_of
from workbench.mechanics.case import Case
from workbench.step.one_step import first_step

DIRECTIONS = (4, 8, 16)
LOG_RHO = np.arange(-12, 4.01, 0.25)
DECADES = tuple(10.0**k for k in range(-6, 3))
BY_FORMULA = "theory"


def pencil_of(case: Case, directions: int = 4, h: float = FINE) -> Pencil:
    return pencil(first_step(case, FIXED.with_options(directions=directions), h))


def p_count(p: Pencil) -> int:
    """Return the number of scanned values that may give a P-matrix: all that are not proved to give none."""
    return sum(p_verdict_of(p.reduced(10.0**x), 2.0).verdict != "not P" for x in LOG_RHO)


def full_rank() -> Claim:
    """Rank deficiency of the cube's lead matrix over rho, axes, step, mixed and reduced."""
    tried = [10.0**k for k in (-10, -8, -6, -4, -2, 0, 2)]
    rows = {}
    for d, (words, h) in product((4, 8), (("10 ms", COARSE), ("1 ms", FINE))):
        p = pencil_of(Cube(), d, h)
        found = scan(p, [*tried, p.rho])
        for matrix in ("reduced", "mixed"):
            of = found[found["matrix"] == matrix]
            rows[f"{matrix}, {d // 2} axes / {words}"] = (of["size"] - of["rank"]).astype(float).tolist()
    return Claim(
        "Phantom inertia has full rank: rank deficiency of the relaxed cube's lead matrix", 0,
        rows["reduced, 2 axes / 1 ms"][-1],
        tried=Grid("matrix / step", "rho [kg]", (*(f"{x:g}" for x in tried), "default"), rows,
                   "Numerical rank, singular values above size × 2.2e-16 × the largest; start of the motion."),
        why="In exact arithmetic it has, for every rho > 0 except the isolated values of the next section. In "
            "doubles a very small rho is lost in the rounding of entries of $k_t h^2$.",
    )  # fmt: skip


def thresholds_of_the_cube(steps: tuple[float, ...]) -> dict[str, list[float]]:
    """log10 of rho [kg] below which the rank is lost, by matrix and tolerance, at every step [s]."""
    pencils = [pencil_of(Cube(), h=h) for h in steps]
    return {
        f"{words} / {how}": [float(np.log10(threshold(p, getattr(p, matrix), *given))) for p in pencils]
        for words, matrix in (("mixed matrix", "mixed"), ("reduced matrix, the LCP", "reduced"))
        for how, given in (("usual tolerance", ()), ("1e-12", (1e-12,)))
    }  # fmt: skip


def scans(pencils: dict[str, Pencil]) -> pd.DataFrame:
    """`scan` of every pencil, also close to the rho at which it is singular; `curve` names pencil and matrix."""
    made = []
    for name, p in pencils.items():
        near = np.concatenate([x * (1 + np.array([-1e-3, 0, 1e-3])) for x in singular_values_of_rho(p)])
        found = scan(p, np.sort(np.concatenate([10.0**LOG_RHO, near])))
        made.append(found.assign(curve=name + ", " + found["matrix"]))
    return pd.concat(made)


def window() -> Section:
    wheel, cube = pencil_of(Wheel()), pencil_of(Cube())
    at = {(n, k): singular_values_of_rho(pencil_of(c, k)) for n, c in (("wheel", Wheel()), ("cube", Cube()))
          for k in DIRECTIONS}  # fmt: skip
    limit = p_limit(wheel, 1.5 * at["wheel", 4][-1])
    steps = (COARSE, FINE, FINE / 10)
    thresholds = thresholds_of_the_cube(steps)
    low, high = (10 ** f([f(row) for row in thresholds.values()]) for f in (min, max))
    # Beyond some 20 unknowns the minors are too many.
    decided = {("wheel", 4): wheel, ("wheel", 8): pencil_of(Wheel(), 8), ("cube", 4): cube}
    counts = {key: p_count(p) for key, p in decided.items()}
    listed = [
        (n, k // 2, ", ".join(f"{x:.6g}" for x in values), str(counts.get((n, k), "–")))
        for (n, k), values in at.items()
    ]
    return Section(
        "Range of the phantom inertia",
        "The lead matrix is affine in $\\rho$, so the values at which it is singular are generalised eigenvalues. "
        "Three conditions limit the choice.\n\nToo small: the numerical rank is lost. The threshold depends on step, "
        "scaling and rank tolerance, not on the cube alone: stiff relaxation (entries up to $k_t h^2$) raises it, "
        f"from {low:.0e} to {high:.0e} kg on this cube. The paper's 1e-8 kg lies within; it fits the mixed matrix "
        "near 1 ms with the usual tolerance.\n\nIsolated values: the matrix is singular where $\\rho$ equals $k$ "
        "times an eigenvalue of $K$, the effective tangential mass with the normal rows fixed. None is below $k / "
        "\\lambda_{max}(W_{tt})$; the workbench's default is $1 / \\lambda_{max}(W_{tt})$.\n\nP-property (exactly one "
        "solution for all data, for which pivoting methods are guaranteed): on the wheel with two axes only below a "
        "limit; with more than two axes never; on the cube with $\\mu = 1$ never.",
        (
            r"\det\left(A + \rho B\right) = 0 \iff \rho = 2\, \mathrm{eig}(E^T K E) = k\, \mathrm{eig}(K), \qquad "
            r"K = [W^{-1}]_{tt}",
        ),
        claims=(
            Claim("“Rank-deficient for values of rho < 1e-8 kg”: log₁₀ of the threshold [kg], cube, within half a "
                  "decade", -8.0, thresholds["mixed matrix / usual tolerance"][1], tolerance=0.5, form=".2f",
                  tried=Grid("matrix / tolerance of the rank", "step", tuple(f"{h * 1e3:g} ms" for h in steps),
                             thresholds, "Usual tolerance: singular values above size × 2.2e-16 × the largest count; "
                                         "the other: above 1e-12 × the largest. No scaling, fixed axes, start of the "
                                         "motion."),
                  why="The paper does not state the matrix, the step or the tolerance."),
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
            ResultTable("Singular values of rho [kg], 1 ms", ("system", "axes k", "singular at rho", "P-matrix at"),
                  tuple(listed),
                  f"P-matrix at: how many of {LOG_RHO.size} values of rho from 1e-12 to 1e4 kg give one, in exact "
                  "arithmetic; – not decided."),
        ),
        figures=(
            Figure("rho", "Distance from singularity against the phantom inertia",
                   "Smallest over largest singular value, the inverse of the condition number: mixed and reduced "
                   "without scaling, and the reduced matrix equilibrated ($D M D$, free of units). The notches are "
                   "the isolated singular values.", conditions(scans({"wheel": wheel, "cube": cube}))),
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


def influence_of_rho() -> Section:
    variants = {"plain": phantom_inertia, "regularised": REGULARISED, "fixed axes": FIXED}
    moved, pivots = {}, {}
    for (name, f), (words, h) in product(variants.items(), (("10 ms", COARSE), ("1 ms", FINE))):
        base = run(Cube(), f, h)
        found = [run(Cube(), f.with_options(rho=x), h) for x in DECADES]
        ended = [r.steps < r.steps_wanted for r in found]
        own = f"{name} / {words}"
        moved[own] = [np.nan if e else apart(r, base) for r, e in zip(found, ended, strict=True)]
        pivots[own] = [float(r.record.effort[:, 0].sum() / base.record.effort[:, 0].sum()) for r in found]

    def grid(rows: dict[str, list[float]], note: str) -> Grid:
        return Grid("variant / step", "rho [kg]", tuple(f"{x:g}" for x in DECADES), rows, note)

    return Section(
        "Effect of rho on the motion",
        "None, to round-off, as the paper says: $\\rho$ couples $w_{up}$ to the condition of $w_{lo}$ and vice versa, "
        "one of which is always zero, so that Lemke's final basis does not contain it. Only the path depends on it. "
        "(With block pivoting rho may decide whether a solution is found: see the section before.) Eight decades of "
        "$\\rho$ compared with the default, by Lemke's method.",
        claims=(
            Claim("“No significant effect on the dynamics”: largest distance from the run with the default rho", 1e-6,
                  moved["regularised / 10 ms"][0], "m", relation="≤", origin="“no significant”, our reading",
                  form=".1e", tried=grid(moved, "Distances of the centre.")),
            Claim("“… or the performance”: Lemke's pivots over those with the default rho", 1.0,
                  pivots["regularised / 10 ms"][0], tolerance=0.25, origin="“no significant”, our reading",
                  form=".2f", tried=grid(pivots, "Pivots of the whole run.")),
        ),
    )  # fmt: skip
