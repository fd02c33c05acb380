"""CND-17-1068: Negrut, Serban & Tasora's cone complementarity problem, its artefact, and its redundant impulses."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.sphere import Sphere
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.ccp import ccp
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.reproductions._conic import (
    EXACT,
    GRAVITY,
    STEP,
    SYSTEMS,
    box_on_corners,
    normal_range,
    relaxed_verdict,
    reordered,
)  # fmt: skip
from workbench.builtin.reports.reproductions.claims import (
    Check,
    Claim,
    Grid,
    Reproduction,
    ResultTable,
    Section,
    in_turn,
)
from workbench.mechanics.case import Array, Case, quantity
from workbench.problems.rank import rank
from workbench.step.one_step import pose, solve_system
from workbench.step.run import Run
from workbench.step.simulation import simulate
from workbench.support.progress import ProgressCallback

FINE = 1e-4
FLIGHT = 0.1
"""Position of zero force on a logarithmic axis of force over weight."""
OPTIMISERS = ("clarabel", "cvxpy:CLARABEL")
LANDED = 0.2
"""Time at which the sphere that starts from zero gap has landed for good [s]."""
ROUND_OFF = 1e-9
"""Relative difference up to which two answers are the same."""
LEVER = {Block: 1.0, Sphere: 3.5}
"""m times the tangential mobility of the contact point: 1 for a body that does not turn, 1 + m R^2/I for a sphere."""


@dataclass(frozen=True)
class RaisedSphere(Sphere):
    """The sphere above (or in) the floor."""

    gap: float = quantity(0.0, "m", "initial gap")

    def start(self) -> tuple[Array, Array]:
        q, v = super().start()
        q[2] += self.gap
        return q, v


def run(case: Case, h: float = STEP, formulation=ccp, duration: float | None = None) -> Run:
    """The case under the paper's time stepping: symplectic update, gap over step in the normal law."""
    solver = find_solver(EXACT if formulation is ccp else "coulomb-exact")
    return simulate(case, formulation, solver, h, duration, normal="gap")


def slip(r: Run) -> Array:
    """(K,) |u_t| [m/s] at the ends of the steps."""
    return np.linalg.norm(r.u_t[:, 0], axis=-1)


def gaps(r: Run) -> Array:
    """(K,) gap [m] at the ends of the steps; the record has those at their starts."""
    # At the end of the last step it is h (J_n v+ + phi/h), the gap of a sphere or a block being linear in z.
    return np.append(r.record.phi[1:, 0], r.h * r.u_n[-1, 0])


def load(r: Run) -> Array:
    """(K,) normal force over weight."""
    return r.p_n[:, 0] / (r.case.m * r.case.gravity * r.h)  # type: ignore[attr-defined]


def reproduce(progress: ProgressCallback) -> Reproduction:
    """All sections, in a few seconds with warm kernels."""
    return Reproduction(
        "Contact as a cone complementarity problem",
        "Negrut, Serban & Tasora: Posing Multibody Dynamics With Friction and Contact as a Differential "
        "Complementarity Problem, J. Comput. Nonlinear Dynam. 13(1), 014503, CND-17-1068",
        "The paper relaxes Coulomb's law so that each time step becomes a convex optimisation problem. We test its "
        "statements about that problem, and measure the artefact that it describes: a sliding contact keeps a gap.",
        in_turn((programme, lift_off, settled, vanishing, penetration, redundancy), progress),
    )


# The optimisation problem


def programme() -> Section:
    rows, worst = [], {name: dict(residual=0.0, gap=0.0, objective=0.0, law=0.0) for name in (EXACT, *OPTIMISERS)}
    for title, system in SYSTEMS.items():
        problem = pose(ccp, system).problem()
        best = np.nan
        for name, w in worst.items():
            answer, solution = solve_system(ccp, system, find_solver(name))
            z = solution.z
            objective, gap = float(0.5 * z @ problem.M @ z + problem.q @ z), float(z @ (problem.M @ z + problem.q))
            best = objective if name == EXACT else best
            law = relaxed_verdict(system, answer)
            found = dict(
                residual=float(solution.residual), gap=abs(gap / best), objective=abs(objective / best - 1), law=law
            )
            for key, value in found.items():
                w[key] = max(w[key], value)
            rows.append((title, name, f"{objective:.9g}", *(f"{found[k]:.0e}" for k in ("gap", "residual", "law"))))
    optimum = max(worst[name]["objective"] for name in OPTIMISERS)
    return Section(
        "One step is a convex optimisation problem",
        "There are two ways to compute the impulses $\\gamma$: minimise the quadratic programme (11) with a general "
        "optimiser, or solve the complementarity problem (7) directly. The paper proves that both are the same. We "
        "use Clarabel for the first (called directly and through CVXPY), and a dedicated solver without optimisation "
        "for the second.\n\nThe residual is the natural map, free of units, zero for a solution of (7). "
        "The duality gap is zero for a minimiser of (11). The last column checks the three conditions of (5d) one by "
        "one on the resulting velocity.",
        (
            r"\min_{\gamma_i \in K_i}\ \tfrac12 \gamma^T N \gamma + p^T \gamma"
            r"\qquad\Longleftrightarrow\qquad K_i \ni \gamma_i \perp d_i = (N\gamma + p)_i \in K_i^*",
            r"K = \{\mu \gamma_n \ge |\gamma_t|\}, \qquad K^* = \{d_n \ge \mu |d_t|\}, \qquad "
            r"d = \left(u_n + \tfrac{\Phi}{h},\ u_t\right)",
        ),
        claims=(
            *(Claim(f"A minimiser of (11) solves the CCP (10): largest residual, {name}", 0.0, worst[name]["residual"],
                    tolerance=find_solver(name).tolerance, form=".1e") for name in OPTIMISERS),
            Claim("A solution of the CCP minimises (11): largest relative difference of the objectives", 0.0, optimum,
                  tolerance=ROUND_OFF, form=".1e"),
            Claim("No duality gap at the solution of the CCP: largest gap over objective", 0.0, worst[EXACT]["gap"],
                  tolerance=ROUND_OFF, form=".1e"),
            Claim("Eq. (5d) and the CCP (7) agree: largest residual of the three conditions of (5d)", 0.0,
                  worst[EXACT]["law"], tolerance=ROUND_OFF, form=".1e"),
        ),
        tables=(
            ResultTable(
                "Both ways on five systems",
                ("system", "solver", "objective [J]", "gap / objective", "CCP residual", "residual of (5d)"),
                tuple(rows),
            ),
        ),
    )  # fmt: skip


# The artefact of a sliding contact


def first_step(case: Block | Sphere, h: float) -> tuple[float, float]:
    """Sliding speed [m/s] and normal impulse [N s] of a first step from zero gap, in closed form."""
    k = LEVER[Block if isinstance(case, Block) else Sphere]
    after = (case.speed - k * case.mu * case.gravity * h) / (1 + k * case.mu**2)
    return after, case.m * (case.mu * after + case.gravity * h)


def of_first_step(case: Block | Sphere) -> list[Claim | Check]:
    """The first step of a sphere or a block from zero gap, and the gap that every later one leaves."""
    r = run(case, duration=0.8)
    after, impulse = first_step(case, STEP)
    pressed = np.flatnonzero(r.p_n[:, 0] > 0)
    own = np.abs(gaps(r)[pressed] - case.mu * STEP * slip(r)[pressed]).max()
    weight = case.m * case.gravity * STEP
    return [
        Check(f"{case.name}: upward velocity $\\mu|u_t|$ in the first step from zero gap", case.mu * after,
              float(r.u_n[0, 0]), "m/s", 1e-9, origin="closed form"),
        Check(f"{case.name}: excess normal impulse of that step, as a multiple of the weight's", impulse / weight - 1,
              float(load(r)[0] - 1), "-", 1e-6, origin="closed form"),
        Claim(f"{case.name}: a numerical gap equal in size to $\\mu h |u_t|$ at the end of every step that presses: "
              "largest difference", 0.0, float(own), "m", 1e-12, form=".1e"),
    ]  # fmt: skip


def lift_off() -> Section:
    claims = [x for kind in (Sphere, Block) for x in of_first_step(kind())]
    steps = (10 * STEP, STEP, FINE)
    starts: dict[str, list[Sphere]] = {
        "from zero gap": [Sphere() for _ in steps],
        "from its own gap": [RaisedSphere(gap=Sphere().mu * h * Sphere().speed) for h in steps],
    }
    found = {name: [run(x, h, duration=0.8) for x, h in zip(own, steps, strict=True)] for name, own in starts.items()}
    height = {name: [float(gaps(r).max()) for r in own] for name, own in found.items()}
    smaller = {name: [x / y for x, y in pairwise(own)] for name, own in height.items()}
    claims.append(
        Claim("The artefact is of the size of $\\mu h |u_t|$, so ten times smaller at a tenth of the step: "
              "ratio of the sphere's largest gaps", 10.0, smaller["from zero gap"][1], tolerance=1.0, form=".2f",
              tried=Grid("start", "steps", ("10 ms over 1 ms", "1 ms over 0.1 ms"), smaller),
              why="Not from zero gap: the contact must leave the floor at $\\mu|u_t|$ for any step, and hops to "
              f"$(\\mu u_t)^2/2g$: {1e3 * height['from zero gap'][1]:.1f} mm at 1 ms, "
              f"{1e3 * height['from zero gap'][2]:.1f} mm at 0.1 ms.")
    )  # fmt: skip
    shown = {
        "from zero gap, 1 ms": found["from zero gap"][1], "from zero gap, 0.1 ms": found["from zero gap"][2],
        "from its own gap, 1 ms": found["from its own gap"][1],
    }  # fmt: skip
    drawn = [
        pd.DataFrame({"t": r.t + r.h, "label": label, "gap": 1e3 * gaps(r), "load": np.maximum(load(r), FLIGHT)})
        for label, r in shown.items()
    ]
    thinned = pd.concat([frame.iloc[:: round(len(frame) / 400)] for frame in drawn], ignore_index=True)
    at_1_ms = pd.concat([drawn[0], drawn[2]], ignore_index=True)
    return Section(
        "A sliding contact lifts off",
        "The relaxed normal law requires $u_n + \\Phi/h \\ge \\mu |u_t|$. For a loaded contact this is an equation, "
        "and the position update turns it into a gap: after the step it is $\\mu h |u_t|$ for any initial gap.\n\nA "
        "body that starts on the floor has no such gap. Its first step opens one, at the upward velocity $\\mu "
        "|u_t|$, which takes a larger normal impulse: the “excess normal force” of the paper.",
        (
            r"u_n = \mu |u_t| - \frac{\Phi}{h} \quad\Rightarrow\quad \Phi^+ = \Phi + h u_n = \mu h |u_t|",
            r"|u_t^+| = \frac{|u_t| - k \mu g h}{1 + k \mu^2}, \qquad p_n = m\,(\mu |u_t^+| + g h), \qquad "
            r"k = 1 \text{ (block)},\ \tfrac72 \text{ (sphere)}",
        ),
        claims=tuple(claims),
        figures=(
            Figure("gap", "Gap of a sphere thrown along the floor",
                   "Logarithmic. From zero gap the sphere hops, equally high at both steps, lands, and then slides "
                   "at its own gap $\\mu h |u_t|$, which shrinks with the step and goes to zero as it starts to roll.",
                   lines(thinned, "gap", "gap [mm]", log=True)),
            Figure("load", "Normal force over weight",
                   f"Logarithmic; flight is drawn at {FLIGHT:g}. Except in the first step, at the landing and when "
                   f"rolling begins, the floor carries only the weight.",
                   lines(at_1_ms, "load", "normal force / weight [-]", log=True)),
        ),
    )  # fmt: skip


def settled() -> Section:
    k, mu = LEVER[Sphere], Sphere().mu
    own = {h: run(RaisedSphere(gap=mu * h * Sphere().speed), h) for h in (STEP, FINE)}
    exact = {h: run(Sphere(), h, coulomb) for h in (STEP, FINE)}
    r = own[STEP]
    slides = (r.t < Sphere.windows["sliding"][1] - 0.05) & (r.t >= 20 * STEP)
    forces = {
        start: [
            float(load(x)[within].max())
            for within in (r.t < STEP / 2, slides & (r.t < LANDED), slides & (r.t >= LANDED))
        ]
        for start, x in (("from zero gap", run(Sphere())), ("from its own gap", r))
    }
    ratio = np.linalg.norm(r.p_t[:, 0], axis=-1)[slides] / (mu * r.p_n[slides, 0])
    away = {h: float(np.linalg.norm(own[h].states_q[:, :3] - exact[h].states_q[:, :3], axis=-1).max()) for h in own}
    at = {h: float(gaps(own[h])[round(0.3 / h)]) for h in own}
    return Section(
        "Started at its own gap, the sphere slides as under Coulomb's law",
        "If the sphere starts with the gap $\\mu h |u_t|$, it does not hop. Friction is Coulomb's, the floor carries "
        "the weight, and the only artefact is a body that floats a little too high, at first order in $h$.\n\nThe "
        "normal force converges to the weight: it differs by the factor $1/(1 + k\\mu^2)$ in the first step, and each "
        "further step reduces the difference by $k\\mu^2/(1 + k\\mu^2)$.",
        (r"p_n^{l+1} (1 + k\mu^2) = m g h + k\mu^2 p_n^l \quad\Rightarrow\quad p_n \to m g h",),
        claims=(
            Check("Friction ratio $|p_t| / (\\mu p_n)$ while it slides: largest difference from 1", 0.0,
                  float(np.abs(ratio - 1).max()), "-", ROUND_OFF, origin="Coulomb", form=".1e"),
            Check("Normal force over weight in the first step, $1/(1 + k\\mu^2)$", 1 / (1 + k * mu**2),
                  float(load(r)[0]), "-", 1e-6, origin="closed form"),
            Claim("“When the bowling ball slides fast on the floor, there is a vertical force”: normal force over "
                  "weight, at least 1 % too much", 1.01, forces["from its own gap"][2], relation="≥", form=".4f",
                  tried=Grid("start", "phase", ("first step", "the landing", "later"), forces, "Largest of the phase. "
                             "The landing: 20 ms to 0.2 s; later: until 50 ms before it rolls."),
                  why="The force acts while the gap opens, in the first step and after a landing. Once the gap is "
                      "$\\mu h |u_t|$ no force is needed to keep it at any speed."),
            Claim("The gap is of first order in the step: gap at 0.3 s, 1 ms over 0.1 ms", 10.0, at[STEP] / at[FINE],
                  tolerance=0.5, form=".3f"),
            Check("So is the distance from exact Coulomb friction: largest over the run, 1 ms over 0.1 ms", 10.0,
                  away[STEP] / away[FINE], tolerance=0.5, origin="first order", form=".3f"),
        ),
        tables=(
            ResultTable("Sphere, 5 m/s, $\\mu = 0.2$",
                  ("step", "gap at 0.3 s [mm]", "largest distance from Coulomb [mm]"),
                  tuple((f"{1e3 * h:g} ms", 1e3 * at[h], 1e3 * away[h]) for h in own)),
        ),
    )  # fmt: skip


def vanishing() -> Section:
    rolling, smooth = run(Sphere()), run(Sphere(mu=0.0))
    rolls = (rolling.t > 0.9) & (slip(rolling) < ROUND_OFF)
    return Section(
        "Cases without artefact",
        "The term is $\\mu h |u_t|$: zero without friction, and zero once the ball rolls without slip. The paper "
        "says so of the force that the term causes; we test the force and the gap.",
        claims=(
            Claim("Rolling: largest difference of normal force over weight from 1, last tenth of a second", 0.0,
                  float(np.abs(load(rolling)[rolls] - 1).max(initial=0 if rolls.any() else np.nan)), "-", ROUND_OFF,
                  form=".1e"),
            Check("Rolling: largest gap", 0.0, float(np.abs(gaps(rolling)[rolls]).max()), "m", 1e-12, origin="theory",
                  form=".1e"),
            Claim("No friction, sliding at 5 m/s: largest difference of normal force over weight from 1", 0.0,
                  float(np.abs(load(smooth) - 1).max()), "-", ROUND_OFF, form=".1e"),
            Check("No friction: largest gap", 0.0, float(np.abs(gaps(smooth)).max()), "m", 1e-12, origin="theory",
                  form=".1e"),
        ),
    )  # fmt: skip


# Stabilisation


def penetration() -> Section:
    depth, solver = 1e-3, find_solver(EXACT)
    sunk = {h: run(RaisedSphere(mu=0.0, gap=-depth), h, duration=1.2) for h in (STEP, FINE)}
    dropped = run(RaisedSphere(mu=0.0, gap=0.5))
    closed = int(np.argmax(dropped.p_n[:, 0] > 0))
    wheel = {h: run(Wheel(), h, coulomb).record.phi for h in (STEP, FINE)}
    system = SYSTEMS["random, 3 contacts, 2 bilateral"]
    joints = system.J_b @ solve_system(ccp, system, solver)[0].v + system.g / system.h
    height = float(gaps(sunk[FINE]).max())
    return Section(
        "Stabilisation: penetration is corrected in one step",
        "The term $\\Phi/h$ requires a gap that is closed at the end of the step. A body that starts 1 mm deep is "
        "thrown out at $-\\Phi/h$: the correction takes one step, so its velocity is larger for smaller steps. "
        "Nothing removes this velocity afterwards: at 0.1 ms the body leaves the floor at 10 m/s and rises "
        f"{height:.1f} m. The paper warns of this and suggests limiting the velocity. (A sphere without friction, so "
        "that nothing else happens.)",
        (r"u_n + \frac{\Phi}{h} \ge 0, \qquad p_n = m \left(g h - \frac{\Phi}{h}\right) \text{ for a body at rest}",),
        claims=(
            Claim("Eq. (6): velocity $-\\Phi/h$ after one step from 1 mm deep", depth / STEP,
                  float(sunk[STEP].states_v[1, 2]), "m/s", ROUND_OFF),
            Claim("A negative gap is non-negative after one step: gap", 0.0, float(gaps(sunk[STEP])[0]), "m", 1e-12,
                  form=".1e"),
            Claim("Large when the step is small: normal force of that step, 0.1 ms over 1 ms", 100.0,
                  float(load(sunk[FINE])[0] / load(sunk[STEP])[0]), tolerance=2.0, origin="closed form, gravity apart"),
            Check("How high a start from 1 mm deep throws it, $(\\Phi/h)^2/2g$, at 0.1 ms",
                  (depth / FINE) ** 2 / 2 / GRAVITY, height, "m", 1e-3, origin="closed form"),
            Claim("(ii) Penetration from discretisation stays small: wheel at 1 ms, deepest over radius", 1e-3,
                  -float(wheel[STEP].min()) / Wheel().R, relation="≤", origin="“large negative gaps are unlikely”",
                  form=".1e",
                  why="There is none: the error of the wheel's curvature is a lift of half a micrometre."),
            Check("The Taylor expansion (6) has a second-order error in the step: largest gap, 1 ms over 0.1 ms", 100.0,
                  float(wheel[STEP].max() / wheel[FINE].max()), tolerance=5.0, origin="second order"),
            Claim("(iii) A fast fall onto a contact known in advance: deepest penetration", 0.0,
                  -float(min(gaps(dropped).min(), 0.0)), "m", 1e-12, form=".1e"),
            Claim("The impact is inelastic: largest gap after it", 0.0, float(np.abs(gaps(dropped)[closed:]).max()),
                  "m", 1e-12, form=".1e"),
            Claim("Eq. (5c): bilateral rows, $g/h + J_b v^+$, largest", 0.0, float(np.abs(joints).max()), "m/s",
                  ROUND_OFF, form=".1e"),
        ),
    )  # fmt: skip


# Redundancy


def redundancy() -> Section:
    resting, sliding = (0.0, 0.0, 0.0), (1.0, 0.5, 0.0)
    problem = pose(ccp, box_on_corners(resting)).problem()
    weight = 3.0 * GRAVITY * STEP
    rows, spread, same, ranges = [], {}, {}, {}
    for title, v in (("at rest", resting), ("sliding", sliding)):
        velocities, impulses = reordered(v)
        spread[title] = float(np.ptp(impulses, axis=0).max()) / weight
        same[title] = float(np.ptp(velocities, axis=0).max())
        ranges[title] = normal_range(box_on_corners(v), velocities[0]) / weight
        shares = np.column_stack([impulses.min(axis=0) / weight, impulses.max(axis=0) / weight, ranges[title]])
        # Adding 0 turns what rounds to -0 into 0.
        rows += [(title, f"corner {i + 1}", *(f"{round(x, 4) + 0.0:.4f}" for x in s)) for i, s in enumerate(shares)]
    return Section(
        "Redundant contacts: the velocity is unique, the impulses are not",
        "A table has four legs and needs three. “Due to the presence of redundant constraints, the matrix N … is "
        "symmetric positive semi-definite. As such, a solution …, while global, is not unique.” A box on four "
        "corners shows it: If the corners are listed in another order, Gauss-Seidel sweeps give other impulses, and "
        "the same velocity to the last digits.\n\nHow far can the impulses differ? All solutions form a "
        "convex set: impulses in their cones that give this velocity and do no work against $d$. The least and the "
        "most that one corner may carry are two more conic programmes.",
        (r"\{\gamma \in K:\ D \gamma = M (v^+ - v) - h f,\ \gamma^T d = 0\}, \qquad d = D^T v^+ + (\Phi/h, 0, 0)",),
        claims=(
            Claim("N is singular: rank of the 12 × 12 matrix of four corners", 11, rank(problem.M).value, relation="≤"),
            Claim("and positive semi-definite: smallest eigenvalue over the largest", 0.0,
                  float(np.linalg.eigvalsh(problem.M)[0] / np.linalg.eigvalsh(problem.M)[-1]), tolerance=1e-14,
                  relation="≥", form=".1e"),
            *(Check(f"Box {title}: the velocity is the same for all 24 orders of the corners: largest difference", 0.0,
                    same[title], "m/s", 1e-10, origin="strict convexity in v", form=".1e") for title in same),
            *(Claim(f"Box {title}: the impulses are not unique: normal impulse of one corner over weight, largest "
                    "difference between orders, at least 1 %", 0.01, spread[title], relation="≥") for title in spread),
            Check("Box at rest: the most that one corner may carry, over weight", 0.5, float(ranges["at rest"][:,
                  1].max()),
                  tolerance=1e-6, origin="statics: $p_1 + p_2 = W/2$"),
            Check("Box at rest: the least that one corner may carry, over weight", 0.0, float(ranges["at rest"][:,
                  0].min()),
                  tolerance=1e-6, origin="statics", form=".1e"),
        ),
        tables=(
            ResultTable("Share of the weight that each corner carries",
                  ("box", "corner", "least of 24 orders", "most of 24 orders", "least possible", "most possible"),
                  tuple(rows),
                  "Possible: over all solutions, by conic programmes."),
        ),
    )  # fmt: skip
