"""Friction of one contact in the regularised model: Figures 1 and 2 of IDETC2016-60064."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.hybrid import hybrid
from workbench.builtin.reports.figures.charts import Chart, Figure, lines
from workbench.builtin.reports.reproductions import _tangent_plane as tangent
from workbench.builtin.reports.reproductions.claims import Check, Claim, Grid, Section
from workbench.judge.coulomb import misalignment
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Array
from workbench.mechanics.contact import ContactSystem
from workbench.step import stepping
from workbench.step.one_step import filled

MASS, MU, GRAVITY, STEP = Wheel().m, Wheel().mu, 9.81, 1e-3
LIMIT = MU * MASS * GRAVITY
"""The largest friction force of a block with the wheel's mass and friction [N]."""
RIGID = hybrid.with_options(k_t=np.inf)
"""The bristle infinitely stiff, eq. (29): what sticks does not move at all."""
PUSHED = (0.0, 15.0, 30.0, 45.0)
"""Directions of the push [deg] in the table."""
AT_REST = 1e-14
"""Speed up to which the block has not moved, round-off [m/s]."""
LAST = 30.0
"""Direction of the push that the last friction force balanced, in the figure [deg]."""


def towards(angle: float) -> Array:
    """The unit vector at an angle [deg]."""
    return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])


def step(f: Formulation, push: Array, speed: float = 0.0, last: Array | None = None) -> tuple[Array, Array]:
    """Friction over mu p_n and sliding velocity [m/s] after a step of a block on a floor, both (2,).

    It is pushed by `push` (2,) over LIMIT, slides along x at `speed` [m/s], and its last friction was `last` (2,) over
    LIMIT.
    """
    axes = np.eye(3)
    force = np.array([*(LIMIT * push), -MASS * GRAVITY])
    v = np.array([speed, 0.0, 0.0])
    system = ContactSystem(MASS * axes, v, force, STEP, axes[2:], axes[:2], MU, normal="velocity", v_th=Wheel().v_th)
    stepper = filled(f, system)
    stepping.discretise(stepper.core)
    stepper.memory[:3] = STEP * np.array([MASS * GRAVITY, *(LIMIT * (np.zeros(2) if last is None else last))])
    stepper.begin()
    stepper.solve(find_solver("coulomb-exact" if f is coulomb else "judice-pires"))
    out = stepper.work.out
    stepping.turn_back(stepper.core, out[4:6])
    return out[4:6] / (MU * out[3]), out[:2].copy()


def onset(f: Formulation, angle: float, last: float | None = None) -> Array:
    """Friction (2,) over mu p_n at which a block begins to slide, pushed at an angle; to 1e-7.

    `last` is the direction of the push that the last friction force balanced; None for the same.
    """
    balanced = -0.5 * towards(angle if last is None else last)
    low, high = 0.0, 2.0
    while high - low > 1e-7:
        push = 0.5 * (low + high)
        _, u = step(f, push * towards(angle), last=balanced)
        low, high = (low, push) if np.abs(u).max() > AT_REST else (push, high)
    return -low * towards(angle)


def one_contact() -> Section:
    # Along the last friction, and aside of it.
    rows = {
        f"turned axes / pushed {aside:g}° aside of the last force": [size(RIGID, angle, aside) for angle in PUSHED]
        for aside in (0.0, 22.5, 45.0)
    } | {"fixed axes / any last force": [size(box_friction, angle) for angle in PUSHED]}
    lateral = 0.1
    turned, u = step(RIGID, across(lateral), 1.0)
    angle = float(misalignment(turned[None], u[None], 0.0)[0])
    return Section(
        "Friction of one contact: Figures 1 and 2",
        f"A block with the wheel's mass and $\\mu$ = {MU:g} shows the two ideas. Sticking: a square bounds the "
        f"friction force in two directions. With directions fixed in space a force between them may grow to "
        "$\\sqrt2 \\mu \\lambda_N$ before the block slides. The paper rotates one of them to the last friction force, "
        "so that the nearest point of the boundary lies on Coulomb's disc. If the load rotates in the meantime the "
        "force reaches the square elsewhere.\n\nSliding: along the last sliding direction friction is dry, "
        "$-\\mu\\lambda_N$; across it is viscous, with $b_\\mu = \\mu\\lambda_N / |v_T|$, so that the force follows "
        "the direction of the velocity. The page of the paper with (18) to (23) and Fig. 2 is missing in our copy; "
        "what we draw is the "
        "model of eq. (27).",
        (r"\lambda_{T} \to \begin{bmatrix} -\mu\lambda_N \\ 0 \end{bmatrix} \ (15), \qquad "
         r"\lambda_{T2} = -b_\mu v_{T2}, \quad |\lambda_{T2}| \le \mu\lambda_N",),
        claims=(
            Claim("(15): the block begins to slide when friction reaches $\\mu\\lambda_N$: friction at that moment "
                  "over $\\mu\\lambda_N$", 1.0, next(iter(rows.values()))[0], tolerance=1e-6, form=".4f",
                  tried=Grid("axes / push", "direction of the push", tuple(f"{x:g}°" for x in PUSHED), rows),
                  why="This is the closest transition, that of a load which grows without changing direction."),
            Check(f"Sliding at 1 m/s and turning by {np.degrees(np.arctan(lateral)):.1f}° in a step of 1 ms: "
                  "misalignment of friction", 0.0, angle, "°", 0.05, origin="aligned", form=".3f",
                  why="Without the viscous force it would be the whole angle."),
        ),
        figures=(
            Figure("boundaries", "Fig. 1: friction in the tangent plane, and where sticking ends",
                   "In units of $\\mu\\lambda_N$; grey: Coulomb's disc. Dashed: the boundary with directions fixed in "
                   "space; dark: turned to the last friction force, red. Dots: friction at which a block pushed ever "
                   f"harder begins to slide. Left: pushed at {LAST:g}°, then in any direction. Right: pushed in any "
                   "direction from the start; blue with fixed, red with turned directions.", boundaries()),
            Figure("kinetic", "Fig. 2: friction of a block that slides at 1 m/s and is pushed across",
                   "One step of 1 ms. Along the sliding direction the regularised force stays at $-\\mu\\lambda_N$; "
                   "across it follows the velocity, up to the bound. Both are Coulomb's to first order in the angle.",
                   kinetic()),
        ),
    )  # fmt: skip


def size(f: Formulation, angle: float, aside: float = 0.0) -> float:
    """Friction over mu p_n at which sliding begins, the last friction having been `aside` [deg] of the push."""
    return float(np.linalg.norm(onset(f, angle, angle - aside)))


def across(lateral: float) -> Array:
    """The push that gives a block sliding along x this velocity across [m/s], and makes up for friction across."""
    return np.array([0.0, MASS * lateral / (STEP * LIMIT) + np.clip(lateral, -1, 1)])


def boundaries() -> alt.HConcatChart:
    angles = np.arange(0.0, 360.0, 15.0)
    square = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1], [1, 1]], dtype=float)
    c, s = towards(LAST)
    turned = square @ np.array([[c, s], [-s, c]])
    base = [
        tangent.line(tangent.disc(), tangent.GREY),
        tangent.line(square, tangent.DARK, 1.2, (5, 4)),
    ]
    once = tangent.dots(np.array([onset(RIGID, x, LAST) for x in angles]), tangent.RED)
    left = [*base, tangent.line(turned, tangent.DARK, 1.6), once, tangent.arrow(-0.5 * towards(LAST), tangent.RED)]
    both = [
        tangent.dots(np.array([onset(f, x) for x in angles]), colour)
        for f, colour in ((box_friction, tangent.BLUE), (RIGID, tangent.RED))
    ]
    titles = (f"last friction against {LAST:g}°", "last friction against the push")
    panels = [tangent.panel(x, title, 320, 1.6) for x, title in zip((left, [*base, *both]), titles, strict=True)]
    return alt.hconcat(*panels, spacing=30)


def kinetic() -> Chart:
    rows = []
    for lateral in np.linspace(-2, 2, 41):
        for f, name in ((RIGID, "regularised"), (coulomb, "Coulomb")):
            friction, u = step(f, across(lateral), 1.0)
            rows += [
                (u[1] / u[0], f"{words}, {name}", x) for words, x in zip(("along", "across"), friction, strict=True)
            ]
    frame = pd.DataFrame(rows, columns=["turn", "label", "friction"])
    return lines(frame, "friction", "friction over μ p_n [-]", ("turn", "velocity across over velocity along [-]"))
