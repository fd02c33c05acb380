"""DETC2017-67988: phantom inertia, a friction model with a regular lead matrix, on the sliding and turning cube."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.hybrid import hybrid
from workbench.builtin.reports.figures.charts import COLOURS, Figure
from workbench.builtin.reports.reproductions._cube import (
    COARSE,
    COUPLED,
    FINE,
    FIXED,
    ITERATED,
    NAMED,
    OTHERS,
    REGULARISED,
    apart,
    name_of,
    path,
    rank_rows,
    regularised_step,
    run,
    runs,
    stop,
)  # fmt: skip
from workbench.builtin.reports.reproductions._phantom import influence_of_rho, solvers, window
from workbench.builtin.reports.reproductions.claims import Check, Claim, Reproduction, Section, Table, number_text
from workbench.comparison.jobs import Progress
from workbench.language.formulation import Formulation
from workbench.mechanics.relaxation import Relaxation
from workbench.step.run import Run
from workbench.step.simulation import simulate

Runs = dict[Formulation, Run]
FOUR = (anitescu_potra, box_friction, ITERATED, REGULARISED)
"""The paper's four: AP, box, hybrid, and its own."""
BY_FORMULA = "theory"


def reproduce(progress: Progress) -> Reproduction:
    """All sections; about 45 s of one core once the kernels are compiled."""
    progress("the cube at 10 and 1 ms", 0, 5)
    both = {h: runs(h) for h in (COARSE, FINE)}
    progress("ranks", 1, 5)
    ranked = ranks()
    progress("the window of rho", 2, 5)
    found = window()
    progress("which solver solves what", 3, 5)
    solved = solvers()
    progress("rho along the trajectory, single steps", 4, 5)
    return Reproduction(
        "Phantom inertia: a cube that slides and turns until it rests",
        "Peiret, Kövecses & Font-Llagunes: A friction model for non-singular complementarity formulations for "
        "multibody systems with contacts, DETC2017-67988",
        "A mass $\\rho$ between the two velocity parameters of Glocker's discretised friction makes the matrix of "
        "the complementarity problem regular. That claim holds, inside a window of $\\rho$; the new model with its "
        "lateral regularisation follows exact Coulomb friction. But the formulations do not all behave the same on "
        "this cube, and Anitescu and Potra's singular problem is solved by block pivoting too.",
        (trajectories(both), reference(both[FINE][coulomb]), ranked, found, solved, influence_of_rho(), errata()),
    )


def coordinates_apart(found: Runs) -> float:
    """Largest difference of a coordinate of the centre, regularised phantom inertia and iterated hybrid [m]."""
    return float(np.abs(path(found[REGULARISED]) - path(found[ITERATED])).max())


def trajectories(both: dict[float, Runs]) -> Section:
    way = float(np.linalg.norm(np.diff(path(both[FINE][coulomb]), axis=0), axis=1).sum())
    rows, curves = [], []
    for h, found in both.items():
        for f, r in found.items():
            x, y, z = path(r)[-1]
            ended = "" if r.steps == r.steps_wanted else f"ended at step {r.steps}: {r.status.name.lower()}"
            rows.append((f"{h * 1e3:g} ms", name_of(f), f"{x:.4f}", f"{y:.4f}", f"{z:.4f}",
                         number_text(stop(r), ".3f"),
                         "–" if ended else number_text(apart(r, found[coulomb]), ".2e"),
                         ended or f"{r.residuals.max():.0e}"))  # fmt: skip
            k = np.arange(0, r.steps + 1, max(1, round(COARSE / h)))
            points = path(r)[k]
            curves.append(pd.DataFrame({"x": points[:, 0].round(5), "y": points[:, 1].round(5), "t": k * h,
                                        "model": name_of(f), "step": f"{h * 1e3:g} ms"}))  # fmt: skip
    claims = [
        Claim(f"Same behaviour at {h * 1e3:g} ms: {name_of(f)}, largest distance from exact Coulomb friction (at "
              f"most a tenth of the path of {way:.2f} m)", 0.1 * way, apart(both[h][f], both[h][coulomb]), "m",
              relation="≤", why=FAR.get(f, ""), form=".2e")
        for h in both for f in FOUR
    ]  # fmt: skip
    for h, found in both.items():
        own = apart(found[REGULARISED], found[ITERATED])
        others = min(apart(found[f], found[ITERATED]) for f in (anitescu_potra, box_friction))
        claims.append(Claim(f"At {h * 1e3:g} ms the new model is the closest to the hybrid: its distance over the "
                            "smallest of AP's and the box's", 1.0, own / others, relation="≤"))  # fmt: skip
    for h, allowed in ((COARSE, 1e-3), (FINE, 2e-5)):
        claims.append(Check("Phantom inertia, regularised, and the "
                            f"iterated hybrid at {h * 1e3:g} ms: largest difference of a coordinate",
                            allowed, coordinates_apart(both[h]), "m", relation="≤", origin="independent runs",
                            form=".1e"))  # fmt: skip
    claims.append(Check("With axes fixed in space phantom inertia is the box with coupled bounds: distance at 1 ms",
                        1e-8, apart(both[FINE][FIXED], both[FINE][COUPLED]), "m", relation="≤", origin=BY_FORMULA,
                        form=".1e"))  # fmt: skip
    return Section(
        "The trajectories of Figure 4",
        "A cube of 1 kg and 1 m starts with 5 m/s along y and turns at one revolution per second about the vertical, "
        "on four vertices with $\\mu = 1$ and the compliance of Table 1. Nothing else is changed between the "
        "models.\n\nThe cube is a hard test. With $\\mu = 1$ and the centre half an edge above the floor, friction "
        "moves the load to the front so far that the rearmost vertex carries nothing most of the time (it would stay "
        "loaded for $\\mu \\le 1/\\sqrt{2}$). Friction bounds taken from the last step's normal force, or too large "
        "in some direction, feed back into the load. Models that follow the direction of sliding, with bounds of the "
        "step itself, stay within millimetres of exact friction. The others do not.\n\nThe hybrid in one pass takes "
        "its bounds from the last step, a lag of first order: its largest distance from exact friction is "
        f"{1e3 * apart(both[COARSE][hybrid], both[COARSE][coulomb]):.0f} mm at 10 ms and "
        f"{1e3 * apart(both[FINE][hybrid], both[FINE][coulomb]):.1f} mm at 1 ms.",
        claims=tuple(claims),
        tables=(
            Table("End point of the centre, end of sliding, distance from exact Coulomb friction at the same step",
                  ("step", "model", "x [m]", "y [m]", "z [m]", "stops [s]", "distance [m]", "residual"), tuple(rows),
                  "Same relaxation for all. Distance: largest over the run. Residual: largest of the solved "
                  "problems' own, dimensionless; or where the run ended. Stops: all vertices slower than 1 mm/s for "
                  "good."),
        ),
        figures=(
            Figure("trajectory", "Fig. 4: path of the centre of mass, seen from above",
                   "Exact Coulomb, the iterated hybrid and phantom inertia with turned axes coincide at this scale; "
                   "so do phantom inertia with fixed axes, the coupled box and discrete velocity. Click a name to "
                   "single out its curve.", paths(pd.concat(curves))),
        ),
    )  # fmt: skip


FAR = {
    anitescu_potra: "The inscribed square gives up to 29 % less friction between its axes, and friction along them "
                    "that does not oppose the motion.",
    box_friction: "Each friction component has its bound, so that friction is up to 41 % too large; bounds come from "
                  "the last step's normal forces.",
}  # fmt: skip


def paths(curves: pd.DataFrame) -> alt.FacetChart:
    order = [name_of(f) for f in (*NAMED, *OTHERS)]
    pick = alt.selection_point(fields=["model"], bind="legend")
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(order))]
    return (
        alt.Chart(curves)
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X("x:Q", title="x [m]"),
            y=alt.Y("y:Q", title="y [m]"),
            order="t:Q",
            color=alt.Color("model:N", sort=order, scale=alt.Scale(domain=order, range=colours), title=None),
            strokeDash=alt.StrokeDash("model:N", sort=order, title=None, scale=alt.Scale(
                domain=order, range=[[1, 0] if i < len(COLOURS) else [5, 3] for i in range(len(order))])),
            opacity=alt.condition(pick, alt.value(0.95), alt.value(0.08)),
        )
        .add_params(pick)
        .properties(width=290, height=340)
        .facet(column=alt.Column("step:N", sort=["10 ms", "1 ms"], title=None))
    )  # fmt: skip


def reference(exact: Run) -> Section:
    undamped = Relaxation(k_n=1e10, b_n=1e8, k_t=1e8)
    at = {
        (damped, h): path(run(Cube(), coulomb, h, None if damped else undamped))[round(0.4 / h)]
        for damped in (True, False) for h in (FINE, FINE / 2)
    }  # fmt: skip
    limit = {damped: 2 * at[damped, FINE / 2] - at[damped, FINE] for damped in (True, False)}
    shift = 1e3 * float(np.linalg.norm(limit[True] - limit[False]))
    return Section(
        "Is the reference right?",
        "While the cube slides flat on the floor, its motion is an ordinary differential equation in the plane: "
        "vertices on equal springs under a rigid body share the load affinely, none pulling, friction opposes each "
        "vertex, and the moment of friction about the centre is balanced by the load. Integrated independently, it "
        "gives the numbers below.\n\nOne subtlety: eq. (42) feeds the bristle's damping with the whole sliding "
        "velocity of the last step, not with the bristle's rate. Sliding friction then opposes $u_t + (b_t/k_t) "
        f"\\dot u_t$, the velocity a millisecond ahead, whatever the step: {shift:.2f} mm at 0.4 s, extrapolated to "
        "$h = 0$. All runs share it.",
        (
            r"N_i = \max(0,\, c + a^T r_i), \qquad \sum_i N_i = m g, \qquad "
            r"\sum_i N_i \left(r_i - \frac{\mu\, l}{2}\, \frac{u_i}{|u_i|}\right) = 0",
        ),
        claims=tuple(map(Check.of, Cube().truths(exact))),
    )


def text(x: int | None) -> str:
    return "–" if x is None else str(x)


def ranks() -> Section:
    rows = rank_rows()
    lack = {
        x.formulation: x.size - (x.rank or 0)
        for x in rows
        if x.relaxed and x.matrix == "reduced" and x.system.startswith("cube")
    }
    predicted = [x for x in rows if x.predicted is not None]
    wrong = sum(x.lack != x.predicted for x in predicted)
    refused = [x for x in rows if x.rank is None]
    shown = tuple(
        (m.system, m.formulation, "yes" if m.relaxed else "no", m.size, text(m.rank), x.size, text(x.rank),
         text(m.lack), text(x.predicted))
        for m, x in zip(rows[::2], rows[1::2], strict=True) if x.system.startswith("cube") or not x.relaxed
    )  # fmt: skip
    return Section(
        "Who has full rank",
        "With contact rows that are independent, or relaxed, counting null vectors predicts the deficiency. AP: "
        "$A\\beta = 0$ with $\\mathbf{1}^T\\beta = 0$, that is $r(n_d - 3)$. Discrete velocity: $E(w_{up} - w_{lo}) "
        "= 0$, that is $r(n_d - 2)$. Phantom inertia and the bounded models: none.\n\nRigid, the cube's four normal "
        "and eight friction rows have rank 6, so every formulation is singular, and those that eliminate $p_t$ "
        "cannot even be reduced. That is as the paper says: redundancy needs relaxation.",
        (
            r"\begin{bmatrix} M & -J_t^T & -J_n^T & 0 & 0 \\ J_t & 0 & 0 & -E & E \\ J_n & 0 & 0 & 0 & 0 \\ "
            r"0 & E^T & \mu & 0 & \rho \\ 0 & -E^T & \mu & \rho & 0 \end{bmatrix}",
        ),
        claims=(
            Claim("AP's lead matrix is rank deficient: deficiency, cube, reduced", 1,
                  lack["anitescu-potra"], relation="≥"),
            Claim("Glocker's discrete-velocity model is rank deficient: deficiency, cube, reduced", 1,
                  lack["discrete-velocity"], relation="≥"),
            Claim("Phantom inertia has full rank: deficiency, cube, reduced", 0,
                  lack["phantom-inertia:axes=fixed"]),
            Claim("The same with eight directions", 0, lack["phantom-inertia:axes=fixed,directions=8"]),
            Claim("Redundant contacts need relaxation: problems of the rigid cube that cannot be reduced", 1,
                  len(refused), relation="≥"),
            Check(f"Deficiency as predicted: how many of {len(predicted)} matrices differ", 0, wrong,
                  origin=BY_FORMULA),
        ),
        tables=(
            Table("Lead matrices of the first step, 1 ms",
                  ("system", "formulation", "relaxed", "mixed size", "rank", "reduced size", "rank", "deficiency",
                   "predicted"), shown,
                  "Mixed: all unknowns; reduced: after the Schur complement. Relaxed: the stiffnesses of Table 1. "
                  "Rank: singular values above size × 2.2e-16 × the largest, nothing scaled. No rank (–): refused, "
                  "the free unknowns cannot be eliminated. The deficiency is the mixed matrix's, and the reduced "
                  "one's wherever there is one. Predicted for independent or relaxed rows."),
        ),
    )  # fmt: skip


def errata() -> Section:
    right, by_t = regularised_step(), regularised_step(eps=1 / Wheel().mu)
    none, transposed = regularised_step(mu_across=0.0), regularised_step(mu_across=0.0, mu_along=0.0)
    heavy = simulate(Cube(gravity=9.81 / FINE), coulomb, find_solver("coulomb-exact"), FINE, FINE)
    first = simulate(Cube(), coulomb, find_solver("coulomb-exact"), FINE, FINE)
    moved = float(np.linalg.norm(first.states_v[1, :3]))
    weight = Cube().m * 9.81 * FINE
    return Section(
        "Printed equations that cannot be meant",
        "Each printed equation is put in place of the right one for one step: (23) and (24) on the cube at 1 ms, the "
        "others on the wheel half a second into its slide, with its previous normal force. “Published” is what "
        "physics asks for; each claim says that the printed equation delivers it.",
        (
            r"(23)\ q^+ = q + h\, \Gamma v^+ \qquad (24)\ b_0 = M v + h (f_a - c) \qquad "
            r"(39)\ \begin{bmatrix} 0 & E^T & \mu \\ 0 & -E^T & \mu \end{bmatrix} \text{ for } -H^T \qquad "
            r"(43)\ \varepsilon_l = \frac{|u_t|}{\mu_k \lambda_n h}",
        ),
        claims=(
            Claim("(23) $q^+ = q + \\Gamma v^+$: way of the centre in the first millisecond",
                  float(np.linalg.norm(np.diff(path(first), axis=0))), moved, "m", 1e-6, origin="speed × h",
                  why="The factor h is missing."),
            Claim("(24) $b_0 = M v - c + f_a$: normal impulse of the first millisecond", weight,
                  float(heavy.p_n.sum()), "N s", 0.01 * weight, origin="m g h", why="The factor h is missing."),
            Claim("(39) lower-left block $-H^T$: friction over $\\mu p_n$ while sliding", 1.0, transposed[0],
                  tolerance=1e-6, origin="Coulomb",
                  why="$-H^T$ has no $\\mu$, so that nothing bounds friction away from zero: no friction at all."),
            Claim("(43) with $\\lambda_t$: misalignment of friction", right[1], by_t[1], "°", 1e-4,
                  origin="with $\\lambda_n$",
                  why="The row across is $1/\\mu$ times too soft, and friction lags. On the cube, with $\\mu = 1$, the "
                      "misprint has no effect."),
            Claim("After (34) $\\mu_i = [\\mu_k, 0]$ kept for (43): misalignment of friction", right[1], none[1], "°",
                  1e-4,
                  origin="with $\\mu_i = [\\mu_k, \\mu_k]$",
                  why="Without a bound across there is no lateral force that (43) could regularise: both entries are "
                      "needed, as the paper says beside (43)."),
        ),
    )  # fmt: skip
