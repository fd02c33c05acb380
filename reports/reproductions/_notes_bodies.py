"""Pages 8 to 11 of the notes: three bodies, the final formulation, and the list of misprints."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.builtin.cases.three_bodies import ThreeBodies
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.stewart_trinkle import stewart_trinkle
from workbench.builtin.reports.figures.charts import Chart, Figure
from workbench.builtin.reports.reproductions import _notes as notes
from workbench.builtin.reports.reproductions.claims import Check, Claim, ResultTable, Section, Sketch
from workbench.language.notation import latex_blocks, relation
from workbench.mechanics.case import Array
from workbench.problems.classes import LCP
from workbench.problems.rank import rank
from workbench.step.run import Run
from workbench.step.simulation import simulate

STEP, N_D = 1e-3, 8
INSTANT = 0.1
"""Time [s] at which the matrices are printed: the ball still slides."""
ROUND_OFF, TINY = 1e-12, 1e-9
PRINTED = "the notes, as printed"
PARTNERS = (
    "A on the support",
    "B under A, left",
    "B on the belt, left",
    "B on the belt, right",
    "A on B, right",
    "E on A",
)
"""Body 1, into which the normal points, and what it touches, contact by contact."""
GRAPH = np.array([[1, 2, 0, 0, 1, 2], [0, 1, 1, 1, 2, 0], [0, 0, 0, 0, 0, 1]])
"""p. 9: is the row's body (A, B, E) body 1 or body 2 of the column's contact, or has it no part in it (0)?"""
SYMBOLS = (
    ("normal impulses", "$p_n$", "$p_n$"),
    ("friction impulses along the corners", "$p_f = h\\alpha$", "$\\beta$"),
    ("sliding speeds", "s", "$\\sigma$"),
    ("normal directions", "$G_n^T$", "$J_n$"),
    ("tangent directions", "$F^T$", "$J_t$"),
    ("directions of the corners", "$G_f^T = A^T F^T$", "$A^T J_t$"),
    ("friction coefficients", "U", "$\\mathrm{diag}(\\mu)$"),
    ("which multiplier belongs to which contact", "E", "E"),
    ("momentum without contact", "$M v^l + p_{app} + T$", "$b = M v + h f$"),
    ("gap and motion of obstacles", "$\\psi_n / h + \\partial\\psi_n/\\partial t$", "$b_n$"),
    ("sideways motion of obstacles", "missing", "$b_t = \\partial\\psi_t/\\partial t$"),
    ("compliance of contacts", "rigid", "$\\varepsilon_n = \\varepsilon_t = 0$"),
)

WHY = {
    "torque of body 2": "Forces and moments on body 2 are opposite to those on body 1: $-r_2 \\times n$. As printed "
    "the contact would rotate both bodies the same way, and relative velocities are wrong.",
    "gyroscopic sign": "$-\\omega \\times J\\omega$, see section 4.",
    "gyroscopic impulse": "T is added to impulses and so is multiplied by h.",
    "friction of obstacles": "The notes have $\\partial\\psi_n/\\partial t$ for motion-controlled bodies, but nothing "
    "in the friction rows: as printed a conveyor belt would not drag anything. It needs "
    "$\\partial\\psi_t/\\partial t$, minus the obstacle's velocity along $d_j$.",
    "h": "The factor h belongs to forces; with $p = h f$ it is already in the impulses.",
}


def three_bodies() -> Section:
    case = ThreeBodies()
    r = simulate(case, coulomb, find_solver("coulomb-exact"), STEP)
    q, v = r.states_q[round(INSTANT / STEP)], r.states_v[round(INSTANT / STEP)]
    found = notes.final_formulation(*notes.three_bodies(case, q, v), STEP, case.gravity, N_D)
    blocks = np.abs(found.G_n.reshape(3, 6, 6)).max(axis=1)
    J = r.record.J[round(INSTANT / STEP)]
    outside = found.M.copy()
    for k in range(3):
        outside[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = 0.0
    velocities = [f"{body}: {x}" for body in "ABE" for x in ("x'", "y'", "z'", "ωx", "ωy", "ωz")]
    rows = [(name, *(f"{x:.3g}" if abs(x) > ROUND_OFF else "·" for x in row))
            for name, row in zip(velocities, found.G_n, strict=True) if np.abs(row).max() > ROUND_OFF]  # fmt: skip
    return Section(
        "Three bodies, six contacts (p. 8, 9)",
        "The notes draw three bodies A, B, E and give the block matrix of contacts between them, but no shapes. Ours "
        "have the same contact graph, with the same choice of body 1 and body 2: a plank A lies on a "
        "fixed ball (contact 1) and on a roller B of two equal balls (2 and 5), which stands on a conveyor belt (3 and "
        "4); a ball E is thrown along the plank (6). Support and belt are motion-controlled as on p. 7: the platform "
        "rises with $a$ = 1 m/s², the belt accelerates with $c$ = 1.5 m/s².\n\nMost of the motion is known in closed "
        "form. The roller's centre moves at half the belt's speed, which takes a force of 0.6 $m_B c/4$ from the "
        "plank, held by friction at the support. The ball slides under its weight in the rising frame, m (g + a), then "
        "rolls at 5/7 of its speed.\n\nThe contact graph alone leaves contact forces undetermined: contacts 1 to 5 are "
        "15 rows of $G_n$ and $F$ on the 12 velocities of A and B. Three combinations of forces are in equilibrium, "
        "and of 18 rows 15 are independent. As long as these contacts stick, the motion does not depend on how a "
        "solver distributes the forces.",
        (
            r"G_n = \begin{bmatrix} G_{1n1} & G_{2n2} & 0 & 0 & G_{5n1} & G_{6n2} \\ 0 & G_{2n1} & G_{3n1} & G_{4n1} & "
            r"G_{5n2} & 0 \\ 0 & 0 & 0 & 0 & 0 & G_{6n1} \end{bmatrix}, \qquad "
            r"G_{n1} = \begin{bmatrix} \hat n \\ r_1 \times \hat n \end{bmatrix}, \quad "
            r"G_{n2} = -\begin{bmatrix} \hat n \\ r_2 \times \hat n \end{bmatrix}",
        ),
        sketches=(
            Sketch("three bodies",
                   "Plank A on the support (left) and the roller B (right), ball E on top. a: acceleration of the "
                   "platform; c: of the belt under the roller; v₀: the ball's start, 15° from the plank's direction.",
                   case.sketch()),
        ),
        claims=(
            Claim("Blocks of $G_n$ that are zero here and not in the notes, or the reverse", 0.0,
                  float(((blocks > ROUND_OFF) != (GRAPH > 0)).sum())),
            Claim("M is block diagonal, 18 × 18: largest entry outside the blocks", 0.0, float(np.abs(outside).max())),
            Check("Rank of the 18 contact rows", 15, rank(J).value, origin="12 velocities and 3 rows of contact 6"),
            *(Check.of(truth) for truth in case.truths(r)),
        ),
        tables=(
            ResultTable(f"$G_n$ at t = {INSTANT:g} s", ("", *(f"{i + 1}" for i in range(6))), tuple(rows),
                  "World axes; r × n in m; rows without an entry are left out, since all normals are vertical here. "
                  + "; ".join(f"{i + 1}: {x}" for i, x in enumerate(PARTNERS)) + "."),
        ),
    )  # fmt: skip


def worst(n_d: int, count: int = 10) -> notes.Agreement:
    """The largest disagreement of the notes' LCP and the workbench's at the start and at random states."""
    case = ThreeBodies()
    found = [notes.compare(case, *state, STEP, n_d) for state in [case.start(), *notes.states(case, 1, count)]]
    return notes.Agreement(*(max(getattr(x, name) for x in found) for name in ("M", "q", "mixed")))


def stepped() -> tuple[Run, LCP, Array, float]:
    """A run with N_D corners; the notes' LCP at INSTANT, its solution, the largest difference of v+ from the run."""
    case, k = ThreeBodies(), round(INSTANT / STEP)
    r = simulate(case, stewart_trinkle.with_options(directions=N_D), find_solver("lemke"), STEP)
    bodies, touches = notes.three_bodies(case, r.states_q[k], r.states_v[k])
    ours = notes.final_formulation(bodies, touches, STEP, case.gravity, N_D)
    problem = LCP(ours.M_lcp, ours.q)
    z = find_solver("lemke").solve(problem).z
    end = notes.in_body_axes(bodies, ours.velocity(z))
    return r, problem, z, float(np.abs(end - r.states_v[k + 1]).max())


def instant(r: Run, problem: LCP, z: Array) -> ResultTable:
    """The LCP's unknowns and their complements, contact by contact."""
    w, mu = problem.M @ z + problem.q, r.record.friction[0]
    rows = []
    for i, name in enumerate(PARTNERS):
        beta = z[6 + N_D * i : 6 + N_D * (i + 1)]
        s, share = z[6 + 6 * N_D + i], beta.sum() / (mu[i] * z[i])
        active = ", ".join(str(j + 1) for j in np.flatnonzero(beta > TINY * z[i]))
        numbers = [0.0 if abs(x) < TINY else float(x) for x in (problem.q[i], z[i] / STEP, w[i], share, s)]
        rows.append(
            (f"{i + 1}: {name}", mu[i], *numbers[:4], active or "–", numbers[4], "slides" if s > TINY else "sticks")
        )
    return ResultTable(
        f"One step in numbers, t = {INSTANT:g} s, {N_D} corners",
        ("contact", "μ", "q of the normal row [m/s]", "$f_n$ [N]", "its slack [m/s]", "$e^T\\alpha/(\\mu f_n)$",
         "active $\\alpha_j$", "s [m/s]", ""), tuple(rows),
        "Where a contact sticks, its friction is not unique, and Lemke's method finds one of the solutions.",
    )  # fmt: skip


def final() -> Section:
    declared = stewart_trinkle.with_options(directions=N_D).declaration(18, 0, 6, 2)
    r, problem, z, off = stepped()
    agreement = {n_d: worst(n_d) for n_d in (4, N_D)}
    names = {"M": "lead matrix M", "q": "vector q", "mixed": "rows of the mixed form"}
    case = ThreeBodies()
    small = notes.final_formulation(*notes.three_bodies(case, *case.start()), STEP, case.gravity, 4)
    wrong = {m: notes.compare(case, *next(notes.states(case, 2, 1)), STEP, N_D, (m,)) for m in notes.MISPRINTS}
    return Section(
        "The final formulation (p. 11)",
        "One formulation for any number of bodies and contacts. Below are the relations that the workbench prints "
        "from its declaration, then the block matrix; the table gives the corresponding symbols of the notes.\n\nWe "
        "assemble the LCP of p. 11 a second time, as in the notes: columns $[d;\\ r \\times "
        "d]$ in world axes, contact by contact and body by body. The workbench has the angular velocity in body axes, "
        "puts all rows in one system and eliminates v by a Schur complement: a different derivation of the same "
        "problem. Matrix "
        "and vector agree to round-off, at the start and at ten random states, tumbling bodies and open contacts "
        "included.\n\nThen each misprint is restored, one at a time.",
        (*(relation(x, "latex") for x in declared.relations), latex_blocks(declared)),
        claims=(
            *(Check(f"{n_d} corners, {words}: largest relative difference", 0.0, getattr(x, key), tolerance=ROUND_OFF,
                    origin="the workbench")
              for n_d, x in agreement.items() for key, words in names.items()),
            Check(f"One step from t = {INSTANT:g} s: velocities from the notes' LCP and the workbench's run, largest "
                  "difference", 0.0, off, "m/s", TINY, origin="the workbench"),
            *(Claim(f"As printed, {words}: relative difference of {'M' if x.M > ROUND_OFF else 'q'}", 0.0,
                    max(x.M, x.q), tolerance=ROUND_OFF, origin=PRINTED, why=WHY[m])
              for (m, words), x in zip(notes.MISPRINTS.items(), wrong.values(), strict=True)),
            Claim("As printed, $v + h M^{-1}(\\ldots)$ with impulses: $v^+$ in the rows of the LCP of the same page, "
                  "relative difference", 0.0, before_mass(case), tolerance=ROUND_OFF, origin=PRINTED, why=WHY["h"]),
        ),
        tables=(
            ResultTable("Symbols", ("meaning", "the notes", "the declaration"), SYMBOLS, words=True),
            instant(r, problem, z),
        ),
        figures=(
            Figure("lead", "The lead matrix of the three bodies, four corners",
                   "36 unknowns: six normal impulses, 24 multipliers, six s; lines between the three groups. Only "
                   "$G^T M^{-1} G$ contains mechanics; the last rows and columns contain U, $-E^T$ and E. The empty "
                   "blocks belong to contacts without a common body, such as 1 with 3 and 4, or 6 with 3 and "
                   "4.", spy(small.M_lcp, 6)),
        ),
    )  # fmt: skip


def before_mass(case: ThreeBodies) -> float:
    """Relative difference of G_n^T v+ with the printed factor h before M^-1 from what the LCP says."""
    q, v = next(notes.states(case, 2, 1))
    ours = notes.final_formulation(*notes.three_bodies(case, q, v), STEP, case.gravity, N_D)
    z = np.random.default_rng(0).uniform(0, 1, ours.q.size)
    right, printed = (ours.G_n.T @ ours.velocity(z, factor) for factor in (1.0, STEP))
    return float(np.abs(printed - right).max() / np.abs(right).max())


def spy(M: Array, r: int) -> Chart:
    """The non-zero entries of a matrix, by sign, with the lines between its blocks, for r contacts."""
    i, j = np.nonzero(np.abs(M) > ROUND_OFF)
    cells = pd.DataFrame({"column": j, "row": i, "sign": np.where(M[i, j] > 0, "positive", "negative")})
    n = len(M)
    ends = pd.DataFrame({"at": [r - 0.5, n - r - 0.5]})
    scale = alt.Scale(domain=[-0.5, n - 0.5], nice=False)
    x = alt.X("column:Q", scale=scale, title=None, axis=None)
    y = alt.Y("row:Q", scale=alt.Scale(domain=[n - 0.5, -0.5], nice=False), title=None, axis=None)
    colour = alt.Color(
        "sign:N", title=None, scale=alt.Scale(domain=["positive", "negative"], range=["#2b5a8c", "#e08a1e"])
    )
    dots = alt.Chart(cells).mark_square(size=70, opacity=1).encode(x, y, colour)
    rules = alt.Chart(ends).mark_rule(color="#999")
    frame = [rules.encode(x=alt.X("at:Q", scale=scale, axis=None)), rules.encode(y=alt.Y("at:Q", axis=None))]
    return alt.layer(dots, *frame).properties(width=380, height=380)


def misprints() -> Section:
    rows = (
        ("2", "sticking: $\\alpha_1 + \\alpha_2 = \\mu f_n$", "$\\alpha_1 + \\alpha_2 \\le \\mu f_n$", "1"),
        ("2", "s is the sliding speed", "in space: the speed along the best corner", "2"),
        ("5", "F is 2 × 2", "3 × 2, or D is 2 × $n_d$ in tangent axes", "sizes"),
        ("7", "last row (c, b, a)", "(−c, b, a)", "4"),
        ("7", "no factor before B", "½", "4"),
        ("7", "B for $\\omega$ in body axes, $r \\times n$ in the world's", "the same axes for both", "4"),
        ("8", "body 2: $r \\times \\hat n$, $r \\times \\hat t$", "$-r \\times \\hat n$, $-r \\times \\hat t$", "6"),
        ("11", "$h M^{-1}$ with impulses", "$M^{-1}$", "6"),
        ("11", "$T = \\omega \\times J\\omega$", "$T = -h\\, \\omega \\times J\\omega$", "4, 6"),
        ("11", "friction rows without $\\partial\\psi_t/\\partial t$", "$+\\, \\partial\\psi_t/\\partial t$", "6"),
    )
    return Section(
        "Corrections to the notes",
        "Some may come from the scan, in which minus signs are easily lost. None affects the method.",
        tables=(ResultTable("Misprints "
                      "and omissions", ("page", "as printed", "should be", "shown in section"), rows, words=True),),
    )  # fmt: skip
