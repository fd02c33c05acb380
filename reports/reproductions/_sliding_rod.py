"""The Painlevé-Klein rod on the page of hal-01224915: its map, five states, and what time stepping does."""

from dataclasses import replace

import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.algorithms.enumeration import all_solutions
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.reports.figures.charts import Figure
from workbench.builtin.reports.reproductions import _sliding_charts as charts
from workbench.builtin.reports.reproductions._sliding import (
    EXACT,
    T,
    at_start,
    critical_friction,
    critical_scales,
    is_p,
)
from workbench.builtin.reports.reproductions.claims import Check, Section
from workbench.diagnostics.proposition import balanced, bounds
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Array, Case
from workbench.mechanics.contact import ContactSystem
from workbench.step.one_step import pose
from workbench.step.run import Run
from workbench.step.simulation import simulate
from workbench.step.sliding.law import law_residual
from workbench.step.sliding.system import Multipliers

INDEPENDENT = (
    ("30°, $\\dot\\theta = 0$, $\\mu = 0.5$", 30.0, 0.0, 0.5, (3.7723791096,)),
    ("$\\tan\\theta = 2$, $\\dot\\theta = 0$, $\\mu = 1$", T, 0.0, 1.0, (24.525,)),
    ("$\\tan\\theta = 2$, 5 rad/s, $\\mu = 1$", T, 5.0, 1.0, (0.0,)),
    ("$\\tan\\theta = 2$, $\\dot\\theta = 0$, $\\mu = 1.4$", T, 0.0, 1.4, ()),
    ("$\\tan\\theta = 2$, 4 rad/s, $\\mu = 1.4$", T, 4.0, 1.4, (0.0, 56.260438200)),
)  # fmt: skip
BEFOREHAND = "independent figure"


def independent_checks() -> list[Check]:
    claims = []
    for words, angle, spin, mu, forces in INDEPENDENT:
        found = sorted(z.item() for z in all_solutions(at_start(Rod(angle=angle, spin=spin, mu=mu, speed=-1.0)).lcp))
        claims.append(Check(f"{words}: number of solutions", len(forces), len(found), origin=BEFOREHAND, form=".0f"))
        claims += [
            Check(f"{words}: $\\lambda_n$", noted, computed, "N", 6e-11 * max(1.0, noted), origin=BEFOREHAND,
                  form=".11g")
            for noted, computed in zip(forces, found, strict=False)
        ]  # fmt: skip
    claims.append(
        Check("and in closed form, $(32/\\sqrt5 - 9.81)/0.08$", (32 / np.sqrt(5) - 9.81) / 0.08, found[-1], "N", 1e-9,
              origin="closed form", form=".11g")
    )  # fmt: skip
    boundary = at_start(Rod(angle=T, spin=-np.sqrt(9.81 / np.sin(np.radians(T))), mu=4 / 3, speed=-1.0))
    worst = 0.0
    for force in (0.0, 1.0, 50.0):
        lam = Multipliers(np.zeros(0), np.array([force]))
        worst = max(worst, law_residual(boundary, boundary.acceleration(lam), *lam).worst)
    claims.append(
        Check("$\\mu = \\mu_c = 4/3$ and $b = 0$: any force will do. Largest residual of the law for 0, 1 and 50 N",
              0.0, worst, tolerance=1e-13, origin="theory", form=".1e")
    )  # fmt: skip
    return claims


def rod_map(spin: float, shape: tuple[int, int]) -> tuple[pd.DataFrame, int]:
    """Return the cells of the map over angle [deg] and mu, and the number that differ from the closed form."""
    x, y = (np.linspace(low, high, 2 * n + 1)[1::2] for n, low, high in ((shape[0], 10, 88), (shape[1], 0, 3)))
    kinds, differ = [], 0
    for angle in x:
        for mu in y:
            s = at_start(Rod(angle=angle, spin=spin, mu=mu, speed=-1.0))
            count, p, b = len(all_solutions(s.lcp)), bool(s.M_mu.item() > 0), np.sin(np.radians(angle)) * spin**2 - 9.81
            differ += (p, count) != ((True, 1) if mu < critical_friction(angle) else (False, 2 if b > 0 else 0))
            kinds.append(charts.kind(p, count))
    return charts.cells(x, y, kinds), differ


def rod() -> Section:
    angles = np.linspace(15, 85, 141)
    systems = [at_start(Rod(angle=angle, mu=1.0)) for angle in angles]
    true = np.array([critical_scales(s)[0] for s in systems])
    given = np.array([[b(s).scale for b in (bounds, lambda s: bounds(balanced(s)))] for s in systems[::10]])
    least = np.linspace(T - 1, T + 1, 2001)
    fine = [critical_scales(at_start(Rod(angle=angle, mu=1.0)))[0] for angle in least]
    towards = [is_p(at_start(Rod(angle=angle, mu=100.0, speed=1.0))) for angle in angles[::10]]
    spin = 3.5
    frame, differ = rod_map(spin, (78, 60))
    lift = float(np.degrees(np.arcsin(9.81 / spin**2)))
    return Section(
        "One contact: the Painlevé–Klein rod",
        "A uniform rod of mass $m$ and half length $l$, inertia $\\kappa m l^2$ about its centre ($\\kappa = 1/3$), "
        "slides with its tip on the floor, away from under its centre. Its LCP has one row, $0 \\le \\lambda_n \\perp "
        "a \\lambda_n + b \\ge 0$, and contains all of Painlevé's paradoxes. ($\\lambda_n$ is the force, $a "
        "\\lambda_n + b$ the acceleration of the tip away from the floor.)\n\nFriction at the tip rotates the rod "
        "into the floor. Beyond $\\mu_c$ this dominates: a larger force makes the tip approach faster, $a < 0$. If "
        "the tip accelerates towards the floor without force ($b < 0$), no force can stop it. If it lifts off without "
        "force ($b > 0$), it may do so, or stay in contact with a force $-b/a$.\n\nFor this one contact Proposition 1 "
        "is sharp: it requires $\\mu < \\mu_c$. Five states are compared with numbers computed beforehand by another "
        "program.",
        (
            r"a = \tfrac1m \left(1 + \tfrac1\kappa \cos\theta\,(\cos\theta - \mu \sin\theta)\right), \qquad "
            r"b = l \dot\theta^2 \sin\theta - g",
            r"\mu_c(\theta) = \frac{1 + \kappa (1 + \tan^2\theta)}{\tan\theta} \ \ge\ 2\sqrt{\kappa(1+\kappa)} = "
            r"\tfrac43\quad\text{at } \tan\theta = 2",
        ),
        claims=(
            Check("Critical friction by the general code against $\\mu_c(\\theta)$, 15° to 85°: largest relative "
                  "difference",
                  0.0, float(np.abs(true / critical_friction(angles) - 1).max()), tolerance=1e-12, origin="closed form",
                  form=".1e"),
            Check("Smallest critical friction", 4 / 3, float(min(fine)), tolerance=1e-9, origin="closed form",
                  form=".10g"),
            Check("at the angle", T, float(least[np.argmin(fine)]), "°", 1e-3, origin="$\\tan\\theta = 2$", form=".4f"),
            Check(f"The map: states of {78 * 60} whose number of solutions is not that of the signs of a and b", 0,
                  differ, origin="theory", form=".0f"),
            Check("Proposition 1 guarantees all of $[0, \\mu_c)$: largest relative difference of the guaranteed "
                  "friction from $\\mu_c$, plain and balanced", 0.0, float(np.abs(given / true[::10, None] - 1).max()),
                  tolerance=EXACT, origin="theory", form=".1e"),
            Check("The tip slides the other way: angles without a unique solution, even with $\\mu = 100$", 0,
                  towards.count(False), origin="theory", form=".0f",
                  why="Proposition 1 depends only on the norm of $\\Theta$, not on its sign, and ends at $\\mu_c$ "
                      "here too."),
            *independent_checks(),
        ),
        figures=(
            Figure("rod-map", f"Number of solutions of the rod at {spin:g} rad/s",
                   "Solid: the critical friction $\\mu_c$. Dashed: from here on the tip lifts off without force. Below "
                   "the solid line there is exactly one force (zero to the right of the dashed one).",
                   charts.regimes(frame, "angle θ [°]", "friction coefficient μ [-]",
                                  charts.curve(angles, critical_friction(angles)),
                                  charts.curve(np.array([lift, lift]), np.array([0.0, 3.0]), (4, 4)),
                                  charts.points([T], [4 / 3], ["tan θ = 2, μ = 4/3"]))),
        ),
    )  # fmt: skip


# Time stepping


STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
STEPPED = (coulomb, anitescu_potra)


def first_steps(case: Case, h: float, formulation: Formulation = coulomb) -> Run:
    """Three steps under the gap's normal law."""
    solver = default_solver("Coulomb NCP") if formulation is coulomb else find_solver("lemke")
    return simulate(case, formulation, solver, h, 3 * h, normal="gap")


def impulses(case: Case, contact: int = 0, formulation: Formulation = coulomb) -> Array:
    """Normal impulses [N s] of the first step, for all STEPS."""
    return np.array([first_steps(case, h, formulation).p_n[0, contact] for h in STEPS])


def three_answers(case: Rod, h: float) -> tuple[Array, Array]:
    """Normal impulses [N s], ascending, of a first step at a state with two forces: as expected, and all there are."""
    q, v = case.start()
    s = case.sliding_system(q, v)
    system = ContactSystem(M=s.M, v=v, f=s.f, h=h, J_n=s.J_nu, J_t=s.J_tu, mu=case.mu, normal="gap")
    # Unknowns p_n, two of friction along the line, a multiplier; friction that cancels itself adds no answer.
    found = [z[0] for z in all_solutions(pose(anitescu_potra, system).problem())]  # type: ignore[arg-type]
    expected = [*(h * z.item() for z in all_solutions(s.lcp)), case.impulse(h)]
    return np.sort(expected), np.unique(np.round(found, 12))


def truths(words: str, case: Rod | RodInGuide, h: float) -> list[Check]:
    """The truths of a case about the forces of its first step."""
    made = [Check.of(truth) for truth in case.truths(first_steps(case, h)) if "first step" in truth.name]
    return [replace(claim, statement=f"{words}: {claim.statement}") for claim in made]


def stepping() -> Section:
    unique, none, two = (Rod(angle=T, mu=mu, spin=spin, speed=-1.0) for mu, spin in ((1.0, 0), (1.4, 0), (1.4, 4)))
    jam = RodInGuide(angle=30.0, spin=1.0, mu_guide=0.0, mu_wall=1.6)
    h = np.array(STEPS)
    (exact,) = all_solutions(at_start(unique).lcp)
    claims: list[Check] = []
    shown: dict[str, Array] = {}
    for f in STEPPED:
        force, stop = impulses(unique, formulation=f) / h, impulses(none, formulation=f)
        rest = max(abs(first_steps(none, x, f).u_t[0, 0, 0]) for x in STEPS)
        claims += [
            Check(f"{f.name}, one force exists ($\\mu = 1$): impulse of the first step over the step against the LCP's "
                  "force, steps of 10 ms to 1 µs, largest relative difference", 0.0,
                  float(np.abs(force / exact - 1).max()), tolerance=EXACT, origin="theory", form=".1e"),
            Check(f"{f.name}, none exists ($\\mu = 1.4$): impulse of the first step at 1 µs", none.impulse(0.0),
                  float(stop[-1]), "N s", 1e-4, origin="impact without collision", form=".5f"),
            Check(f"{f.name}: it stops the slip at once, largest sliding velocity after the first step", 0.0,
                  float(rest), "m/s", EXACT, origin="theory", form=".1e"),
        ]  # fmt: skip
        if f is coulomb:
            off = stop - none.impulse(0.0)
            claims.append(
                Check("Its distance from the limit is of first order in the step: least ratio per decade", 10.0,
                      float((off[:-1] / off[1:]).min()), tolerance=0.1, origin="theory", form=".4f")
            )  # fmt: skip
            shown |= {"rod, μ = 1: one force": impulses(unique), "rod, μ = 1.4: none": stop}
    expected, found = three_answers(two, 1e-4)
    claims += [
        Check("Two forces exist (4 rad/s): normal impulses that solve the LCP of a step of 0.1 ms, how many", 3,
              len(found), origin="theory", form=".0f"),
        Check("They are the LCP's forces times the step, and the impulse that stops the slip: largest difference", 0.0,
              float(np.abs(found - expected).max()) if len(found) == 3 else np.nan, "N s", EXACT, origin="theory",
              form=".1e"),
        *truths("Two forces", two, 1e-4),
        *truths("Rod in a guide, 60°, falling", RodInGuide(), 1e-3),
    ]  # fmt: skip
    wall = impulses(jam, contact=2)
    claims.append(
        Check("Rod in a guide where no forces exist (30°, rising, guide 0, wall 1.6): first impulse of the wall at 1 "
              "µs over that at 10 µs", 1.0, float(wall[-1] / wall[-2]), tolerance=0.01, origin="theory", form=".4f")
    )  # fmt: skip
    shown |= {"rod in a guide, rising, wall 1.6: none": wall}
    frame = pd.DataFrame([(x, p, name) for name, ps in shown.items() for x, p in zip(STEPS, ps, strict=True)],
                         columns=["h", "impulse", "label"])  # fmt: skip
    return Section(
        "Time stepping in these states",
        "Time stepping solves for impulses and end velocities, and its contacts may stop sliding within the step. So "
        "it has a solution even where no force exists. The first step uses the matrices of the start, so its force "
        "must be that of the LCP, exactly and at any step, as long as the contacts slide.\n\nWhere no force exists "
        "the impulse does not shrink with the step. It stops the slip at once: an impact without collision, whose "
        "limit depends on the momenta alone. Where two forces exist, this impulse is a third solution, and the "
        "solver, not the theory, selects one of the three.",
        (r"p_n \to \frac{W_{nt}\, v_t}{W_{nn} W_{tt} - W_{nt}^2} \ne 0 \quad (h \to 0), \qquad W = J M^{-1} J^T",),
        claims=tuple(claims),
        figures=(
            Figure("impulse", "Normal impulse of the first step",
                   "A force gives an impulse proportional to the step. Where no force exists a finite impulse remains.",
                   charts.over_step(frame)),
        ),
    )  # fmt: skip
