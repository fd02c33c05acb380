"""Trinkle's lecture notes "Add Coulomb friction" (13 April 2018, p. 1 to 11), from a particle to the final LCP."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.algorithms.enumeration import all_solutions
from workbench.builtin.cases.spatial_particle import SpatialParticle
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.stewart_trinkle import stewart_trinkle
from workbench.builtin.reports.figures.charts import Chart, Figure, lines
from workbench.builtin.reports.reproductions import _notes as notes
from workbench.builtin.reports.reproductions import _tangent_plane as tangent
from workbench.builtin.reports.reproductions._notes_bodies import (
    N_D,
    PRINTED,
    ROUND_OFF,
    STEP,
    final,
    misprints,
    three_bodies,
)
from workbench.builtin.reports.reproductions.claims import (
    Check,
    Claim,
    Reproduction,
    ResultTable,
    Section,
    Sketch,
    in_turn,
    number_text,
)
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Array, Case
from workbench.problems.classes import LCP
from workbench.step.run import Run
from workbench.step.simulation import simulate
from workbench.support.progress import ProgressCallback

DURATION, CLOSED = 1.5, "closed form"
PLANE = np.array([[-1.0, 1.0]])
"""p. 3: d_1 to the left, d_2 to the right."""
LIMIT = 0.5
"""mu f_n of the examples of p. 3 and 4 [N]."""


def reproduce(progress: ProgressCallback) -> Reproduction:
    """All sections, in a few seconds with warm kernels."""
    return Reproduction(
        "Add Coulomb friction: from a particle to the LCP of many bodies",
        "Trinkle: lecture notes “Add Coulomb friction”, 13 April 2018, pages 1 to 11",
        "The notes develop the time step of Stewart and Trinkle from first principles. We follow them page by page: "
        "their statements are tested with numbers, their example of three bodies is given a geometry and run, and "
        "their final formulation is assembled as in the notes and compared with the workbench's. The two agree to "
        "round-off once the misprints are corrected; restored one at a time, each changes the numbers. All "
        "differences below are such misprints, or “relative speed” interpreted in space.",
        in_turn((plane, polygon, thrown, body, three_bodies, final, misprints), progress),
    )


def run(case: Case, formulation: Formulation) -> Run:
    solver = find_solver("coulomb-exact" if formulation is coulomb else "lemke")
    return simulate(case, formulation, solver, STEP, DURATION)


def sided(directions: int) -> Formulation:
    return stewart_trinkle.with_options(directions=directions)


# Pages 1 to 4


EXAMPLES = {
    "slides right, $v_t$ = 1": (1.0, LIMIT), "slides left, $v_t$ = −1": (-1.0, LIMIT), "rests": (0.0, LIMIT),
    "slides right, $f_n$ = 0": (1.0, 0.0), "rests, $f_n$ = 0": (0.0, 0.0),
}  # fmt: skip


def example(v: float, limit: float) -> LCP:
    """The LCP of p. 3, unknowns (alpha_1, alpha_2, s)."""
    return notes.friction_lcp(np.array([v]), PLANE, limit)


def interval(low: float, high: float) -> str:
    """The values of an unknown over all solutions."""
    if high - low < ROUND_OFF:
        return number_text(low)
    return f"{number_text(low)} to {number_text(high)}" if np.isfinite(high) else f"≥ {number_text(low)}"


def plane() -> Section:
    found = {name: notes.ranges(example(*data)) for name, data in EXAMPLES.items()}
    right, left, rest = list(found.values())[:3]
    wanted = {"right": (right, [LIMIT, 0.0, 1.0]), "left": (left, [0.0, LIMIT, 1.0])}
    corners = [z[0] + z[1] for z in all_solutions(example(0.0, LIMIT))]
    claims = [
        Claim(f"Slide {way} at 1 m/s: $\\alpha_1 = {a:g}, \\alpha_2 = {b:g}, s = {s:g}$ and nothing else; largest "
              "distance of any solution", 0.0, float(np.abs(x - np.array([[a], [b], [s]])).max()), tolerance=ROUND_OFF)
        for way, (x, (a, b, s)) in wanted.items()
    ]  # fmt: skip
    return Section(
        "In the plane: two multipliers and a speed (p. 1–4)",
        "Friction is split into two nonnegative parts, $\\lambda_t = \\alpha_1 - \\alpha_2$, and a third unknown, s, "
        "indicates whether the contact slides. Three complementarity conditions then express Coulomb's law.\n\nWith "
        "the velocity given, the notes solve them by hand. Their matrix is skew-symmetric, so $z^T (M z + q) = q^T z$ "
        "and all solutions together are one polyhedron: $z \\ge 0$, $M z + q \\ge 0$, $q^T z = 0$. The table gives "
        f"all of it, for $\\mu f_n$ = {LIMIT:g} N and, as on p. 3, $d_1$ pointing to the left.",
        (
            r"0 \le \begin{bmatrix} \alpha_1 \\ \alpha_2 \\ s \end{bmatrix} \;\perp\; "
            r"\begin{bmatrix} 0 & 0 & 1 \\ 0 & 0 & 1 \\ -1 & -1 & 0 \end{bmatrix} "
            r"\begin{bmatrix} \alpha_1 \\ \alpha_2 \\ s \end{bmatrix} + "
            r"\begin{bmatrix} -v_t \\ v_t \\ \mu f_n \end{bmatrix} \ge 0",
        ),
        claims=(
            *claims,
            Claim("Rest: s = 0 in every solution; largest s", 0.0, float(rest[2, 1]), "m/s", ROUND_OFF),
            Claim("Sticking: $\\alpha_1 + \\alpha_2 = \\mu f_n$ (p. 2); least sum over the solutions", LIMIT,
                  float(min(corners)), "N", ROUND_OFF, origin=PRINTED,
                  why="At rest any sum up to $\\mu f_n$ is a solution: $\\alpha_1 + \\alpha_2 \\le \\mu f_n$, as on "
                      "p. 4."),
            Check("Sticking, corrected: largest sum over the solutions", LIMIT, float(max(corners)), "N", ROUND_OFF,
                  "≤", origin="theory"),
            Claim("$f_n = 0$ at rest: s > 0 is possible (p. 4); residual of $\\alpha_1 = \\alpha_2 = 0$, s = 1", 0.0,
                  float(example(0.0, 0.0).residual(np.array([0.0, 0.0, 1.0]))), tolerance=ROUND_OFF,
                  why="Without a normal force nothing bounds s from above, at rest or sliding: it is at least the "
                      "speed."),
        ),
        tables=(
            ResultTable("All solutions of the examples",
                  ("particle", "$\\alpha_1$ [N]", "$\\alpha_2$ [N]", "s [m/s]", "corners"),
                  tuple((name, *(interval(*r) for r in x), str(len(all_solutions(example(*EXAMPLES[name])))))
                        for name, x in found.items()),
                  "At rest the solutions fill a triangle in the plane of $\\alpha_1, \\alpha_2$: its corners are no "
                  "force, and full friction to either side. The two multipliers of p. 2 need not be complementary "
                  "there; only their difference, the force, means something."),
        ),
    )  # fmt: skip


# Pages 5 and 6


def polygon_solutions(angle: float, n_d: int = N_D) -> list[Array]:
    """Corners of the solution set (alpha, s) of a particle sliding at 1 m/s at an angle [rad], mu f_n = 1."""
    D = notes.directions(n_d)
    return all_solutions(notes.friction_lcp(np.array([np.cos(angle), np.sin(angle)]), D, 1.0))


def polygon() -> Section:
    half = np.pi / N_D
    angles = np.concatenate([np.linspace(-np.pi, np.pi, 47), half * np.arange(1, 2 * N_D, 2)])
    solutions = [polygon_solutions(a) for a in angles]
    speeds = np.array([z[-1] for found in solutions for z in found])
    spread = [np.flatnonzero(np.sum(found, axis=0)[:-1] > ROUND_OFF) for found in solutions]
    apart = max(min(i[-1] - i[0], N_D - (i[-1] - i[0])) for i in spread)
    full = max(abs(z[:-1].sum() - 1) for found in solutions for z in found)
    shown = (180.0, 190.0, 202.5, 215.0)
    return Section(
        "In space: a polygon for Coulomb's disc (p. 5, 6)",
        "In space the friction force lies in a plane. The notes replace the disc of possible forces by a regular "
        "polygon with corners $\\mu f_n d_j$ and one multiplier for each: $f_f = D \\alpha$, $D = F A$. The conditions "
        "stay the same; s is now the largest component of the velocity against a corner.\n\nThe figure shows eight "
        "corners and four directions of sliding. The force is at the corner that opposes sliding best, so its "
        f"direction is up to 180°/$n_d$ = {180 / N_D:g}° off; sliding half-way between two corners, it may be anywhere "
        "on the edge.",
        (
            r"0 \le \alpha \;\perp\; D^T v + e\, s \ge 0, \qquad 0 \le s \;\perp\; \mu f_n - e^T \alpha \ge 0",
            r"D = F A, \qquad F = [\hat t\ \ \hat o], \qquad A = \begin{bmatrix} 1 & \cos\varphi & \cdots & "
            r"\cos (n_d - 1)\varphi \\ 0 & \sin\varphi & \cdots & \sin (n_d - 1)\varphi \end{bmatrix}, "
            r"\qquad \varphi = \frac{2\pi}{n_d}",
        ),
        claims=(
            Claim("Sliding: $e^T \\alpha = \\mu f_n$; largest difference over 55 directions", 0.0, float(full), "N",
                  ROUND_OFF),
            Claim("Sliding: one $\\alpha_j$ or two neighbours, all others zero; most steps between two active "
                  "corners", 1, float(apart), relation="≤"),
            Claim("“Relative speed, s”: least s at 1 m/s", 1.0, float(speeds.min()), "m/s", ROUND_OFF,
                  origin="the notes, p. 2, in the plane",
                  why="In space s is the speed along the best corner, between $\\cos(\\pi/n_d)$ times the speed and "
                  "all of it."),
            Check("The same in space: least s at 1 m/s is $\\cos(\\pi/n_d)$", float(np.cos(half)), float(speeds.min()),
                  "m/s", ROUND_OFF, origin=CLOSED),
            Check("Largest s at 1 m/s", 1.0, float(speeds.max()), "m/s", ROUND_OFF, origin=CLOSED),
        ),
        figures=(
            Figure("polygon", "The friction polygon and its force",
                   "Grey: Coulomb's disc and the polygon inside it, in units of $\\mu f_n$. Blue: the sliding "
                   "direction. Red: the friction force; for 202.5° both ends of the edge of possible forces.",
                   polygon_chart(shown)),
        ),
    )  # fmt: skip


def polygon_chart(degrees: tuple[float, ...]) -> Chart:
    A = notes.directions(N_D)
    outline = [tangent.line(tangent.disc(), tangent.GREY), tangent.line(np.column_stack([A, A[:, :1]]).T, tangent.DARK)]
    outline.append(tangent.words(1.24 * A.T, [f"d{j + 1}" for j in range(N_D)], tangent.DARK))
    panels = []
    for degree in degrees:
        angle = np.radians(degree)
        slides = tangent.arrow(0.8 * np.array([np.cos(angle), np.sin(angle)]), tangent.BLUE)
        forces = [tangent.arrow(A @ z[:-1], tangent.RED) for z in polygon_solutions(angle)]
        panels.append(tangent.panel([*outline, slides, *forces], f"slides at {degree:g}°"))
    return alt.hconcat(*panels, spacing=8)


def thrown() -> Section:
    case, sides = SpatialParticle(), (4, 8, 16)
    runs = {"Coulomb": run(case, coulomb)} | {f"{n} corners": run(case, sided(n)) for n in sides}
    landing = case.impact()[0]
    shares = multiplier_shares(runs["8 corners"])
    claims = [Check.of(truth) for truth in case.truths(runs["Coulomb"])]
    for n in sides:
        slips = np.linalg.norm(runs[f"{n} corners"].u_t[:, 0], axis=-1) > 1e-9 * case.speed
        stop = STEP * (np.flatnonzero(slips)[-1] + 2)
        claims.append(Check(f"{n} corners: end of sliding", landing + case.polygon_stop(n), float(stop), "s", 2 * STEP,
                            origin=CLOSED, form=".4f"))  # fmt: skip
    paths = pd.concat(
        [pd.DataFrame({"x": q[::8, 0], "y": q[::8, 1], "label": name}) for name, q in
         ((name, r.states_q[round(landing / STEP):]) for name, r in runs.items())], ignore_index=True,
    )  # fmt: skip
    return Section(
        "A particle thrown over a rough plane (p. 6)",
        "The full model of p. 6: flight, impact, sliding, rest, thrown at 10° to the first corner. Coulomb's law is "
        "isotropic: the path is straight, and the particle stops like the planar one. With a polygon, friction points "
        "to a corner. The path bends until its direction is half-way between two corners; from there on two "
        "multipliers share the load and the path is straight.\n\nWith u along the axis of the nearest corner and w "
        "across it after the "
        "throw, the particle stops after $(u + w \\tan(\\pi/n_d))/(\\mu g)$, later than Coulomb's $\\sqrt{u^2 + "
        "w^2}/(\\mu g)$. The impact counts as additional sliding time. Time stepping agrees with this to one step.",
        (
            r"v^{l+1} = v^l + h M^{-1} (g^l + \hat n f_n^{l+1} + D \alpha^{l+1}), \qquad "
            r"0 \le f_n^{l+1} \;\perp\; \psi_n^l + h\, \hat n^T v^{l+1} + h\, \partial \psi_n^l / \partial t \ge 0",
        ),
        sketches=(Sketch("spatial particle", "The particle at its start.", case.sketch()),),
        claims=tuple(claims),
        figures=(
            Figure("path", "Where it slides: the path seen from above, from the impact on",
                   "Coulomb's path is straight. Four corners bend it towards 45°, eight towards 22.5°, sixteen "
                   "towards 11.25°: half-way between the two corners nearest to it. Axes to different scales.",
                   lines(paths, "y", "y [m]", ("x", "x [m]"))),
            Figure("multipliers", "Which multipliers are active, eight corners",
                   "Shares $\\alpha_j / (\\mu f_n)$ while in contact. First the corner against x alone ($d_5$), then "
                   "it and its neighbour ($d_6$) by halves; at rest all are zero.",
                   lines(shares, "share", "αj / (μ fn) [-]")),
        ),
    )  # fmt: skip


def multiplier_shares(r: Run) -> pd.DataFrame:
    """alpha_j over mu f_n of a single contact with N_D corners, in long form, for those that are ever active."""
    z, mu = r.record.z, r.record.friction[:, 0]
    closed = z[:, 0] > ROUND_OFF
    share = z[closed, 1 : N_D + 1] / (mu * z[:, 0])[closed, None]
    active = np.flatnonzero(share.max(axis=0) > ROUND_OFF)
    t = r.t[closed] + r.h
    return pd.concat([pd.DataFrame({"t": t, "share": share[:, j], "label": f"α{j + 1}"}) for j in active])


# Page 7


def body() -> Section:
    omega = np.array([1.0, 2.0, 2.0])
    exact = np.array([np.cos(1.5), *(np.sin(1.5) * omega / 3)])
    ends = {name: notes.turn(omega, 1.0, name) for name in ((), ("last row",), ("factor",))}
    norms = {name: float(np.linalg.norm(q)) for name, q in ends.items()}
    turned_by = {name: float(np.degrees(2 * np.arctan2(np.linalg.norm(q[1:]), q[0]))) for name, q in ends.items()}
    away = float(np.abs(ends[()] - exact).max())
    spins = {(h, sign): notes.spun(h, sign=sign) for h in (1e-2, 1e-3) for sign in (-1.0, 1.0)}
    fine = spins[1e-3, -1.0]
    return Section(
        "A rigid body: quaternion and gyroscopic term (p. 7, 11)",
        "For a body of finite extent the velocity becomes $(x', \\omega)$, directions become $[d;\\ r \\times d]$, and "
        "the attitude is a unit quaternion (a, b, c, d).\n\nThe scan of p. 7 has a last row (c, b, a) in the matrix "
        "from $\\omega$ to the quaternion's rates, and no factor ½. We rotate a body at a constant $\\omega$ = (1, 2, "
        "2) rad/s for one second, that is by 3 rad or 171.9°. The matrix belongs to $\\omega$ in body axes, while "
        "$r \\times n$ on the same page is in those of the world: take both in the same axes.\n\nPage 11 has $T = "
        "+\\omega \\times J\\omega$ on the side of the forces. With that sign a free body keeps its energy and the "
        "magnitude of its angular momentum, but not the direction: in space L rotates for any step.",
        (
            r"\begin{bmatrix} a' \\ b' \\ c' \\ d' \end{bmatrix} = \tfrac12 \begin{bmatrix} -b & -c & -d \\ a & -d & c "
            r"\\ d & a & -b \\ -c & b & a \end{bmatrix} \omega, \qquad T = -h\, \omega \times J \omega",
        ),
        claims=(
            Claim("Last row (c, b, a): norm of the quaternion after 1 s", 1.0, norms[("last row",)], tolerance=1e-9,
                  origin=PRINTED, why="The last row is (−c, b, a); its columns are then orthogonal to the quaternion."),
            Claim("No factor ½: angle turned after 1 s, modulo 360°", float(np.degrees(3)), turned_by[("factor",)], "°",
                  1e-6, origin=PRINTED, why="The body rotates twice as fast: by 343.8°."),
            Check("Corrected: norm after 1 s", 1.0, norms[()], tolerance=1e-9, origin="theory", form=".10g"),
            Check("Corrected: largest error of an entry of the quaternion", 0.0, away, tolerance=1e-9, origin=CLOSED),
            Claim("$T = +h\\, \\omega \\times J\\omega$: relative change of L in 1 s, steps of 1 ms", 0.0,
                  spins[1e-3, 1.0], tolerance=2e-3, origin=PRINTED, why="The sign is minus: $J\\omega' + \\omega "
                  "\\times J\\omega$ is the moment."),
            Check("Corrected: the same", 0.0, fine, tolerance=2e-3, origin="theory"),
            Check("Corrected: first order in the step, change at 10 ms over that at 1 ms", 10.0,
                  spins[1e-2, -1.0] / fine, tolerance=0.2, origin="first order"),
        ),
        tables=(
            ResultTable("Relative change of the angular momentum of a free body in 1 s",
                  ("step", "$T = -h\\,\\omega \\times J\\omega$", "$T = +h\\,\\omega \\times J\\omega$ (printed sign)"),
                  tuple((f"{1e3 * h:g} ms", spins[h, -1.0], spins[h, 1.0]) for h in (1e-2, 1e-3))),
        ),
    )  # fmt: skip
