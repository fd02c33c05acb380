"""hal-01224915: Blumentals, Brogliato & Bertails-Descoubes on contacts that slide, and when their forces are unique."""

import numpy as np
import pandas as pd

from workbench.algorithms.enumeration import all_solutions
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.reports.figures.charts import Figure
from workbench.builtin.reports.reproductions import _sliding
from workbench.builtin.reports.reproductions import _sliding_charts as charts
from workbench.builtin.reports.reproductions._sliding import EXACT, apart, at_start, is_p
from workbench.builtin.reports.reproductions._sliding_guide import guide
from workbench.builtin.reports.reproductions._sliding_rod import rod, stepping
from workbench.builtin.reports.reproductions.claims import Check, Claim, Reproduction, ResultTable, Section, in_turn
from workbench.diagnostics.proposition import bilateral_limit
from workbench.matrices.p_property.verdict import p_verdict, smallest_minor
from workbench.mechanics.case import Array
from workbench.readers.matrix import Matrix
from workbench.step.sliding.law import law_residual
from workbench.step.sliding.system import SlidingSystem
from workbench.support.progress import ProgressCallback

SIZES = [(m_b, m_u) for m_b in range(5) for m_u in range(5) if m_b + m_u]
"""(m_b, m_u) of the random systems."""


def reproduce(progress: ProgressCallback) -> Reproduction:
    """All sections, in some ten seconds."""
    return Reproduction(
        "Sliding friction: existence and uniqueness of contact forces",
        "Blumentals, Brogliato & Bertails-Descoubes: The Contact Problem in Lagrangian Systems subject to Bilateral "
        "and Unilateral constraints with sliding Coulomb's Friction, ECCOMAS Multibody Dynamics 2015, hal-01224915",
        "Rigid bodies with enough friction may have no contact force at all, or several: Painlevé's paradoxes. The "
        "paper gives a bound on friction below which this cannot happen. We compute its matrices, correct three "
        "misprints, and compare the bound with the true critical friction.",
        in_turn((reduction, misprints, rod, guide, regained, stepping), progress),
    )


# The reduction


def reduction() -> Section:
    rng = np.random.default_rng(1)
    systems = [_sliding.random_system(rng, *size) for size in SIZES for _ in range(8)]
    worst = dict(matrix=0.0, vector=0.0, order=0.0, sum=0.0)
    lost = indefinite = counts = 0
    for s in systems:
        M, z = _sliding.eliminated(s)
        worst["matrix"] = max(worst["matrix"], apart(s.M_mu, M))
        worst["vector"] = max(worst["vector"], apart(s.z, z))
        small, large = (np.linalg.norm(s.with_friction(x).Theta, 2) for x in (1e-5, 1e-4))
        worst["order"] = max(worst["order"], abs(np.log10(large / small) - 1))
        lost += p_verdict(Matrix(s.M_0).exact).verdict != "P"
        counts += len(_sliding.solutions_by_cases(s)) != len(all_solutions(s.lcp))
        if s.m_b:
            low = s.with_friction(0.999 * bilateral_limit(s) / np.max(s.mu_b))
            indefinite += np.linalg.eigvalsh(low.blocks.A + low.blocks.A.T)[0] <= 0
            G = np.linalg.solve(low.inverse.nb, low.inverse.tb * low.mu_b * low.xi_b)
            worst["sum"] = max(worst["sum"], float(np.abs(np.linalg.eigvals(G)).max()))
    shape = f"{len(systems)} random systems, up to {SIZES[-1][0]} bilateral and {SIZES[-1][1]} unilateral contacts"
    return Section(
        "From the law to one matrix",
        "All contacts are closed and slide, so friction has a direction and its magnitude follows from the normal "
        "force. The unknowns are the normal forces. A bilateral contact may push or pull, with friction in both "
        "cases: $|\\lambda_n|$ enters. The paper splits $\\lambda_{nb} = \\lambda^+ - \\lambda^-$ and eliminates "
        "$\\lambda^+$; a linear complementarity problem (LCP) remains.\n\nIts matrix $M_\\mu$ decides: the solution is "
        "unique for every load exactly if $M_\\mu$ is a P-matrix (all principal minors positive). Without friction it "
        "always is. We compute $M_\\mu$ by the paper's blocks, and again by solving the dynamics and the bilateral "
        f"rows together, for {shape}.",
        (
            r"A = A_{nb} - A_{tb}[\mu_b \xi_b], \quad B = A_{nbnu} - A_{nbtu}[\mu_u \xi_u], \quad "
            r"C = A_{nunb} - A_{nutb}[\mu_b \xi_b], \quad D = A_{nu} - A_{tu}[\mu_u \xi_u]",
            r"\bar A = A_{nb} + A_{tb}[\mu_b \xi_b], \quad \bar C = A_{nunb} + A_{nutb}[\mu_b \xi_b], \qquad "
            r"A_{xy} = J_x M^{-1} J_y^T, \quad \xi = \operatorname{sgn}(v_t)",
            r"0 \le \begin{pmatrix} \lambda^- \\ \lambda_{nu} \end{pmatrix} \perp M_\mu \begin{pmatrix} \lambda^- \\ "
            r"\lambda_{nu} \end{pmatrix} + z \ge 0, \qquad M_\mu = \begin{pmatrix} A^{-1} \bar A & -A^{-1} B \\ "
            r"C A^{-1} \bar A - \bar C & D - C A^{-1} B \end{pmatrix} = M_0 + \Theta_\mu",
        ),
        claims=(
            Claim("$M_\\mu$ by blocks and by direct elimination: largest difference over the largest entry", 0.0,
                  worst["matrix"], tolerance=1e-11, form=".1e"),
            Claim("$z$ likewise", 0.0, worst["vector"], tolerance=1e-11, form=".1e"),
            Claim("The LCP has the solutions of the law itself, found by trying every sign of $\\lambda_{nb}$ with "
                  "every set of closed contacts: systems whose numbers of solutions differ", 0, counts, form=".0f"),
            Claim("$M_0$ is a P-matrix: systems in which it is not, by exact arithmetic", 0, lost, form=".0f"),
            Claim("$\\Theta_\\mu$ is of first order in $\\mu$: largest difference of the exponent from 1, "
                  "$\\mu$ times $10^{-5}$ and $10^{-4}$", 0.0, worst["order"], tolerance=1e-3, form=".1e"),
            Claim("$A$ is positive definite below $\\mu_{\\max}^b$: systems in which it is not at 99.9 % of it", 0,
                  int(indefinite), form=".0f"),
            Claim("There the series $K_\\mu$ converges: spectral radius of $A_{nb}^{-1} A_{tb} [\\mu_b \\xi_b]$, "
                  "largest", 1.0, worst["sum"], relation="≤"),
        ),
    )  # fmt: skip


# Misprints


def misprint_pairs(s: SlidingSystem, rng: np.random.Generator) -> list[tuple[Array, Array, Array]]:
    """(as printed, corrected, by elimination) of the second row of (3), the third line of the blocks, and J M^-1 J^T.

    For m_b = m_u >= 1, so that a block in the place of its transpose still fits.
    """
    b, a, m_b = s.blocks, s.inverse, s.m_b
    minus, nu = rng.uniform(0, 1, (2, m_b))
    plus = np.linalg.solve(b.A, b.Abar @ minus - b.B @ nu - b.w1)
    M, z = _sliding.eliminated(s)
    row = (M @ np.concatenate([minus, nu]) + z)[m_b:]
    rub = a.tb * (s.mu_b * s.xi_b)
    K = np.linalg.solve(a.nb - rub, rub)
    N = a.nutb * (s.mu_b * s.xi_b)
    J = np.vstack([s.J_nb, s.J_nu])
    frictionless = [np.block([[a.nb, a.nbnu], [lower, a.nu]]) for lower in (a.nbnu, a.nbnu.T)]
    others = b.D @ nu + b.w2
    return [
        (b.C @ plus - b.C @ minus + others, b.C @ plus - b.Cbar @ minus + others, row),
        (-2 * N + b.C @ K, -2 * N + 2 * b.C @ K, M[m_b:, :m_b]),
        (*frictionless, J @ np.linalg.solve(s.M, J.T)),
    ]


def other_lines(s: SlidingSystem) -> float:
    """Largest difference, relative, of the first, second and fourth line of the block expansion from elimination."""
    a, C, m_b = s.inverse, s.blocks.C, s.m_b
    rub_b, rub_u, N = a.tb * (s.mu_b * s.xi_b), a.nbtu * (s.mu_u * s.xi_u), a.nutb * (s.mu_b * s.xi_b)
    K = np.linalg.solve(a.nb - rub_b, rub_b)
    mixed, R = np.linalg.solve(a.nb, a.nbnu), np.linalg.solve(a.nb, rub_u)
    bracket = (np.eye(m_b) + K) @ R - K @ mixed
    M, _ = _sliding.eliminated(s)
    fourth = a.nu - a.nbnu.T @ mixed - a.tu * (s.mu_u * s.xi_u) + N @ mixed + C @ bracket
    pairs = (
        (np.eye(m_b) + 2 * K, M[:m_b, :m_b]), (-mixed + bracket, M[:m_b, m_b:]), (fourth, M[m_b:, m_b:]),
    )  # fmt: skip
    return max(apart(printed, true) for printed, true in pairs)


def misprints() -> Section:
    rng = np.random.default_rng(2)
    found, norms, others = [], [], []
    for m in (2, 3):
        for _ in range(20):
            s = _sliding.random_system(rng, m, m)
            pairs = misprint_pairs(s, rng)
            others.append(other_lines(s))
            Theta = s.Theta
            Theta[m:, :m] = pairs[1][0]
            norms.append(np.linalg.norm(Theta, 2) / np.linalg.norm(s.Theta, 2))
            found.append([(apart(printed, true), apart(mended, true)) for printed, mended, true in pairs])
    off = np.array(found)
    names = (
        ("Eq. (3), second row", ", $-(A_{nunb} - A_{nutb}[\\mu_b \\xi_b])\\,\\lambda^-$"),
        ("Block expansion, third line", ", $-2 A_{nutb}[\\mu_b \\xi_b] + C K_\\mu$"),
        ("Frictionless matrix after (2)", ", lower left block $A_{nbnu}$"),
    )
    should = (
        "The bar is missing: $-(A_{nunb} + A_{nutb}[\\mu_b \\xi_b])\\,\\lambda^- = -\\bar C \\lambda^-$, since "
        "friction grows with $|\\lambda_n| = \\lambda^+ + \\lambda^-$. Eq. (4) has it right.",
        "A factor is missing: $\\ldots + 2 C K_\\mu$, as $C(I + 2K_\\mu) - \\bar C$ shows. "
        f"As printed, $\\|\\Theta_\\mu\\|_2$ comes out {min(norms):.2f} to {max(norms):.2f} times as large.",
        "It should be $A_{nbnu}^T$; as printed the block does not even fit unless $m_b = m_u$. $A_c$ has it right.",
    )
    claims = []
    for i, ((name, term), why) in enumerate(zip(names, should, strict=True)):
        claims += [
            Claim(f"{name}, as printed{term}: median relative difference from direct elimination", 0.0,
                  float(np.median(off[:, i, 0])), tolerance=EXACT, form=".2g", why=why),
            Check(f"{name}, corrected: largest difference", 0.0, float(off[:, i, 1].max()), tolerance=1e-11,
                  origin="this page", form=".1e"),
        ]  # fmt: skip
    claims.append(
        Claim("The other three lines of the block expansion, as printed: largest difference", 0.0, max(others),
              tolerance=1e-11, form=".1e")
    )  # fmt: skip
    return Section(
        "Three misprints",
        "As printed, three of the formulas disagree with the law they come from. None affects the paper's "
        "results: the LCP (4) and Proposition 1 are right. But $\\Theta_\\mu$ computed from the printed expansion is "
        f"wrong. Measured on {len(found)} random systems with friction up to 0.3.",
        claims=tuple(claims),
    )


# Lost and regained


def regains(s: SlidingSystem) -> bool:
    """Return whether M_mu, its P-property once lost, has it again at a larger multiple of the friction."""
    roots = _sliding.critical_scales(s)[:-1]
    return any(is_p(s.with_friction(x)) for x in [*np.sqrt(roots[:-1] * roots[1:]), *2 * roots[-1:]])


def guide_map(angle: float, n: int) -> pd.DataFrame:
    """Cells over mu_wall and mu_guide for the rising rod."""
    x = np.linspace(0, 2, 2 * n + 1)[1::2]
    systems = [at_start(RodInGuide(angle=angle, spin=1.0, mu_guide=g, mu_wall=w)) for w in x for g in x]
    p = smallest_minor(np.array([s.M_mu for s in systems])) > 0
    kinds = [charts.kind(bool(yes), len(all_solutions(s.lcp))) for s, yes in zip(systems, p, strict=True)]
    return charts.cells(x, x, kinds).assign(panel=f"{angle:g}°")


STATES = ((60.0, 0.2, 0.2, 1), (30.0, 0.0, 1.6, 0), (60.0, 1.6, 0.0, 2), (20.0, 1.6, 1.6, 3))
"""angle [deg], mu_guide, mu_wall, number of solutions of the rising rod."""


def regained() -> Section:
    claims, rows, worst, differ = [], [], 0.0, 0
    for mu_wall, relation in ((0.2, "≤"), (0.8, "≥"), (1.6, "≤")):
        s = at_start(RodInGuide(angle=30.0, spin=1.0, mu_guide=1.6, mu_wall=mu_wall))
        verdict = p_verdict(Matrix(s.M_mu).exact).verdict
        claims.append(
            Check(f"30°, rising, $\\mu$ of the guide 1.6, of the wall {mu_wall:g}: smallest principal minor of "
                  "$M_\\mu$", 0.0, float(smallest_minor(s.M_mu)), relation=relation, origin="independent figure",  # type: ignore[arg-type]
                  why=f"Exact verdict: {verdict}.")
        )  # fmt: skip
    for angle, mu_guide, mu_wall, expected in STATES:
        s = at_start(RodInGuide(angle=angle, spin=1.0, mu_guide=mu_guide, mu_wall=mu_wall))
        name = f"{angle:g}°, guide {mu_guide:g}, wall {mu_wall:g}"
        answers = [s.multipliers(z) for z in all_solutions(s.lcp)]
        claims.append(
            Check(f"{name}: number of solutions", expected, len(answers), origin="independent figure", form=".0f")
        )
        worst = max(worst, *(law_residual(s, s.acceleration(lam), *lam).worst for lam in answers), 0.0)
        found, by_cases = (
            sorted(np.concatenate(lam).tolist() for lam in lams) for lams in (answers, _sliding.solutions_by_cases(s))
        )
        differ += len(by_cases) != len(found) or not np.allclose(by_cases, found, rtol=EXACT, atol=EXACT)
        verdict = p_verdict(Matrix(s.M_mu).exact).verdict
        rows += [(name, verdict, *forces) for forces in found or [[np.nan, np.nan]]]
    claims += [
        Check("All these forces obey the law: largest residual", 0.0, worst, tolerance=1e-12, origin="theory",
              form=".1e"),
        Check("These are all solutions: states in which trying every case separately finds others", 0, differ,
              origin="theory", form=".0f"),
    ]  # fmt: skip
    rng = np.random.default_rng(4)
    counts = [
        (f"{m_b} bilateral, {m_u} unilateral", "100",
         str(sum(regains(_sliding.random_system(rng, m_b, m_u)) for _ in range(100))))
        for m_b, m_u in ((0, 2), (1, 1), (0, 3), (1, 2), (2, 1))
    ]  # fmt: skip
    return Section(
        "Loss and recovery of the P-property",
        "The P-property may be regained as friction grows: the rising rod at 30° loses it with friction of the guide "
        "and regains it when the wall becomes rougher. A bisection for “the” critical friction is therefore unsound; "
        "the first root is the critical one.\n\n“Not P” does not mean that this state has no solution. It means that "
        "some loads have none or several; for a given state the solutions must be counted: none, one, two or three.",
        claims=tuple(claims),
        tables=(
            ResultTable("Rising at 1 rad/s: all solutions",
                  ("state", "$M_\\mu$", "guide [N]", "wall [N]"),
                  tuple(rows), "Forces: normal ones; the guide's is positive where it holds the foot up."),
            ResultTable("Random systems with friction increased at a fixed ratio: how many regain the P-property",
                  ("contacts", "systems", "regain P"), tuple(counts)),
        ),
        figures=(
            Figure("guide-map", "Number of solutions of the rising rod at 1 rad/s",
                   "At three angles. At 30° with friction 1.6 of the guide, $M_\\mu$ is not P if the wall is smooth, P "
                   "if it is rougher, and not P again beyond.",
                   charts.panels(pd.concat([guide_map(angle, 40) for angle in (20.0, 30.0, 50.0)]),
                                 "friction of the wall [-]", "friction of the guide [-]")),
        ),
    )  # fmt: skip
