"""Friction of one contact with phantom inertia: Figures 1 and 2 of DETC2017-67988."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.algorithms.enumeration import all_solutions
from workbench.builtin.reports.figures.charts import Chart, Figure, lines
from workbench.builtin.reports.reproductions import _tangent_plane as tangent
from workbench.builtin.reports.reproductions._cube import FIXED
from workbench.builtin.reports.reproductions.claims import Claim, Grid, Section
from workbench.mechanics.case import Array
from workbench.mechanics.contact import ContactSystem
from workbench.step.one_step import pose

MASS, MU, GRAVITY, STEP = 1.0, 0.5, 9.81, 1e-2
LIMIT = MU * MASS * GRAVITY
"""The largest friction force of the block [N]."""
RHOS = (1e-4, 1e-2, 1.0, 10.0, 1e4)
"""Phantom inertias [kg], away from the singular ones, k times the mass."""
PUSHES = np.linspace(-2, 2, 9)
"""Over LIMIT."""
ROUND_OFF = 1e-12


def pushed(push: float, angle: float = 0.0) -> ContactSystem:
    """A block at rest on a floor, pushed by a multiple of LIMIT at an angle [deg]."""
    turned = np.radians(angle)
    force = LIMIT * push * np.array([np.cos(turned), np.sin(turned)])
    axes = np.eye(3)
    return ContactSystem(
        MASS * axes, np.zeros(3), np.array([*force, -MASS * GRAVITY]), STEP, axes[2:], axes[:2], MU, normal="velocity"
    )


def axes_of(directions: int) -> Array:
    """(2, k) unit vectors e_j."""
    angle = 2 * np.pi * np.arange(directions // 2) / directions
    return np.array([np.cos(angle), np.sin(angle)])


Answer = tuple[float, Array, Array, Array]
"""p_n, p_t (2,), w_up (k,), w_lo (k,)."""


def answers(push: float, rho: float, directions: int = 4, angle: float = 0.0) -> list[Answer]:
    """All solutions of the block's LCP."""
    system = pushed(push, angle)
    found = []
    for z in all_solutions(pose(FIXED.with_options(rho=rho, directions=directions), system).problem()):  # type: ignore[arg-type]
        w_up, w_lo = np.split(z[1:], 2)
        # J_t v+ = E (w_up - w_lo), and the balance of momentum of a block that starts at rest.
        p_t = MASS * (axes_of(directions) @ (w_up - w_lo)) - STEP * system.f[:2]
        found.append((float(z[0]), p_t, w_up, w_lo))
    return found


def one_contact() -> Section:
    counts = {2: "two axes", 4: "four axes"}
    both, moved = ({words: [worst(k, rho)[i] for rho in RHOS] for k, words in counts.items()} for i in (0, 1))
    names = tuple(f"{x:g}" for x in RHOS)
    note = f"All solutions of the LCP, by enumeration; {PUSHES.size} pushes in each of three directions."
    return Section(
        "Friction of one contact: Figures 1 and 2",
        f"A block of {MASS:g} kg lies on a floor, $\\mu$ = {MU:g}, and is pushed. The tangent plane has k axes $e_j$; "
        "each bounds the component of friction along it from both sides, so that the force lies in a polygon "
        "circumscribed about Coulomb's disc. The saturations are the distances to the two bounds.\n\nWhile the contact "
        "sticks all velocity parameters are zero, and the saturations are those without phantom inertia (Fig. 1). "
        "Once it slides, one bound is reached, and $\\rho$ only adds to the other saturation, which is positive "
        "anyway (Fig. 2). So $\\rho$ changes neither the force nor when sliding begins.",
        (
            r"\tilde\sigma_{up} = \mu p_n - e_j^T p_t + \rho\, w_{up}, \qquad "
            r"\tilde\sigma_{lo} = \mu p_n + e_j^T p_t + \rho\, w_{lo}",
        ),
        claims=(
            Claim("“A solution where both parameters are positive is not possible, no matter how big rho is”: largest "
                  "smaller one of $w_{up}$ and $w_{lo}$", 0.0, both["two axes"][0], "m/s", ROUND_OFF,
                  form=".1e", tried=Grid("axes", "rho [kg]", names, both, note)),
            Claim("“It does not influence the stick-slip transition”: push along an axis; largest difference of "
                  "friction from the push, or from $\\mu m g$ where that is less, over $\\mu m g$", 0.0,
                  moved["two axes"][0], tolerance=ROUND_OFF, form=".1e",
                  tried=Grid("axes", "rho [kg]", names, moved, note)),
        ),
        figures=(
            Figure("sticking", "Fig. 1: the discretised friction model, sticking",
                   "Pushed at 35° by 0.8 $\\mu m g$. Grey: Coulomb's disc; dark: the polygon of the model; blue: the "
                   "axes; red: the friction force. Along each axis the two saturations, $\\sigma_{up}$ (orange) and "
                   "$\\sigma_{lo}$ (light blue), from the force's component to either bound.",
                   sticking()),
            Figure("saturations", "Fig. 2: phantom inertia in the stick-slip transition",
                   "The block pushed along an axis, $\\rho$ = 1 kg. Between −1 and 1 it sticks. Beyond, $\\sigma$ "
                   "without phantom inertia is 2, and $\\tilde\\sigma$ grows with the sliding velocity. The friction "
                   "force is the same for every $\\rho$.",
                   transition(1.0)),
        ),
    )  # fmt: skip


def worst(k: int, rho: float) -> tuple[float, float]:
    """Over the pushes: largest min(w_up, w_lo) [m/s], and largest error of friction along an axis, over LIMIT."""
    both = moved = 0.0
    for push in PUSHES:
        for angle in (0.0, 20.0, 65.0):
            for _, p_t, w_up, w_lo in answers(push, rho, 2 * k, angle):
                both = max(both, float(np.minimum(w_up, w_lo).max()))
                if angle == 0.0:
                    moved = max(moved, abs(-p_t[0] / (STEP * LIMIT) - np.clip(push, -1, 1)))
    return both, moved


def sticking() -> alt.HConcatChart:
    panels = []
    for k in (2, 4):
        axes = axes_of(2 * k)
        ((p_n, p_t, *_),) = answers(0.8, 1.0, 2 * k, 35.0)
        force = p_t / (MU * p_n)
        layers = [
            tangent.line(tangent.disc(), tangent.GREY),
            tangent.line(tangent.circumscribed(axes), tangent.DARK, 1.6),
        ]
        for e in axes.T:
            at = (e @ force) * e
            layers += [
                tangent.line(np.array([at, e]), tangent.ORANGE, 3.0),
                tangent.line(np.array([at, -e]), "#7fa6c9", 3.0),
                tangent.line(np.array([force, at]), tangent.GREY, 1.0, (3, 3)),
            ]
        layers += [tangent.arrow(1.25 * e, tangent.BLUE, e) for e in axes.T]
        names = [f"e{j + 1}" for j in range(k)]
        layers += [tangent.words(1.4 * axes.T, names, tangent.BLUE), tangent.arrow(force, tangent.RED)]
        panels.append(tangent.panel(layers, f"{k} axes", 300, 1.5))
    return alt.hconcat(*panels, spacing=30)


def transition(rho: float) -> Chart:
    rows = []
    for push in np.linspace(-2, 2, 81):
        ((p_n, p_t, w_up, w_lo),) = answers(push, rho)
        size = MU * p_n
        up, lo = 1 - p_t[0] / size, 1 + p_t[0] / size
        values = {
            "friction force": p_t[0] / size, "σ up": up, "σ lo": lo, "σ̃ up": up + rho * w_up[0] / size,
            "σ̃ lo": lo + rho * w_lo[0] / size,
        }  # fmt: skip
        rows += [(push, name, value) for name, value in values.items()]
    frame = pd.DataFrame(rows, columns=["push", "label", "value"])
    return lines(frame, "value", "over μ p_n [-]", ("push", "push over μ m g [-]"))
