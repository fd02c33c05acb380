"""DETC2017-67988: phantom inertia, a friction model with a regular lead matrix, on the sliding and turning cube."""

import numpy as np

from workbench.algorithms import find_solver
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.reports.reproductions._cube import FINE, path, rank_rows, regularised_step
from workbench.builtin.reports.reproductions._cube_paths import cube_paths, parts, reference, trajectories
from workbench.builtin.reports.reproductions._phantom import full_rank, influence_of_rho, window
from workbench.builtin.reports.reproductions._pivoting import solvers
from workbench.builtin.reports.reproductions._saturation import one_contact
from workbench.builtin.reports.reproductions.claims import Check, Claim, Reproduction, ResultTable, Section
from workbench.step.simulation import simulate
from workbench.support.progress import ProgressCallback

BY_FORMULA = "theory"


def reproduce(progress: ProgressCallback) -> Reproduction:
    """All sections; about 45 s of one core once the kernels are compiled."""
    progress("the cube at 10 and 1 ms", 0, 5)
    paths = cube_paths()
    shown = (one_contact(), trajectories(paths), parts(paths), reference(paths))
    progress("ranks", 1, 5)
    ranked = ranks()
    progress("the window of rho", 2, 5)
    allowed = window()
    progress("problems solved by each solver", 3, 5)
    solved = solvers()
    progress("rho along the trajectory, single steps", 4, 5)
    return Reproduction(
        "Phantom inertia: a cube that slides and rotates until it rests",
        "Peiret, Kövecses & Font-Llagunes: A friction model for non-singular complementarity formulations for "
        "multibody systems with contacts, DETC2017-67988",
        "A mass $\\rho$ between the two velocity parameters of Glocker's discretised friction makes the matrix of "
        "the complementarity problem regular. This claim holds within a window of $\\rho$, and the new model with its "
        "lateral regularisation follows exact Coulomb friction. But the formulations do not all behave the same on "
        "this cube, and block pivoting also solves Anitescu and Potra's singular problem.",
        (*shown, ranked, allowed, solved, influence_of_rho(), errata()),
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
        "Ranks of the lead matrices",
        "With contact rows that are independent, or relaxed, counting null vectors predicts the deficiency. AP: "
        "$A\\beta = 0$ with $\\mathbf{1}^T\\beta = 0$, that is $r(n_d - 3)$. Discrete velocity: $E(w_{up} - w_{lo}) "
        "= 0$, that is $r(n_d - 2)$. Phantom inertia and the bounded models: none.\n\nIf rigid, the cube's four "
        "normal and eight friction rows have rank 6, so every formulation is singular, and those that eliminate $p_t$ "
        "cannot even be reduced. As the paper says, redundancy needs relaxation.",
        (
            r"\begin{bmatrix} M & -J_t^T & -J_n^T & 0 & 0 \\ J_t & 0 & 0 & -E & E \\ J_n & 0 & 0 & 0 & 0 \\ "
            r"0 & E^T & \mu & 0 & \rho \\ 0 & -E^T & \mu & \rho & 0 \end{bmatrix}",
        ),
        claims=(
            Claim("AP's lead matrix is rank deficient: deficiency, cube, reduced", 1,
                  lack["anitescu-potra"], relation="≥"),
            Claim("Glocker's discrete-velocity model is rank deficient: deficiency, cube, reduced", 1,
                  lack["discrete-velocity"], relation="≥"),
            full_rank(),
            Claim("Redundant contacts need relaxation: problems of the rigid cube that cannot be reduced", 1,
                  len(refused), relation="≥"),
            Check(f"Deficiency as predicted: how many of {len(predicted)} matrices differ", 0, wrong,
                  origin=BY_FORMULA),
        ),
        tables=(
            ResultTable("Lead matrices of the first step, 1 ms",
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
        "Misprinted equations",
        "Each printed equation is put in place of the right one for one step: (23) and (24) on the cube at 1 ms, the "
        "others on the wheel half a second into its slide, with its previous normal force. “Published” is the "
        "physical result; each claim says that the printed equation gives it.",
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
