"""Rod in a guide, for the page of hal-01224915: Proposition 1 and the friction at which uniqueness is lost."""

import numpy as np
import pandas as pd

from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.reproductions._sliding import (
    EXACT,
    T,
    at_start,
    critical_friction,
    critical_scales,
    is_p,
    random_rod,
    random_system,
)  # fmt: skip
from workbench.builtin.reports.reproductions.claims import Check, Claim, Grid, ResultTable, Section
from workbench.diagnostics.proposition import Inequalities, balanced, beta_2, bilateral_limit, bounds
from workbench.mechanics.case import Array
from workbench.step.sliding.system import SlidingSystem

SIZES = ((0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (1, 2), (3, 1), (2, 2), (1, 3), (2, 3))
"""(m_b, m_u) of the other random systems."""
RODS = 400
"""Random rods in a guide."""
SHOWN = 0.5
"""The friction at both ends for which the table gives all quantities."""
BESIDE = 1e-6
"""Relative distance below and above a critical friction at which the verdict is computed."""
TRUE = "true critical friction"
UNITS = (
    "$M_\\mu$ relates forces and accelerations of different units. Its P-property does not depend on the units, its "
    "norm does: the proposition is right in all units, and useful in some."
)


def critical_of_guide(angle: float, rising: bool, kappa: float = 1 / 3) -> float:
    """The rod in a guide, equal friction mu at both ends: its critical mu in closed form; angle in degrees."""
    both = np.sqrt((1 + kappa) / (1 - kappa))
    s = np.sin(2 * np.radians(angle))
    inside = s**2 - 1 + kappa**2
    pulled = (s - np.sqrt(inside)) / (1 - kappa) if rising and inside >= 0 else np.inf
    return float(min(both, pulled, critical_friction(angle, kappa)))


def both_bounds(s: SlidingSystem) -> tuple[Inequalities, Inequalities]:
    return bounds(s), bounds(balanced(s))


def over_the_angle(spin: float) -> pd.DataFrame:
    """Curves (angle, label, mu) for equal friction at both ends."""
    rows = []
    for angle in np.linspace(15, 85, 141):
        s = at_start(RodInGuide(angle=angle, spin=spin, mu_guide=1.0, mu_wall=1.0))
        plain, even = both_bounds(s)
        values = (plain.mu_max_b, critical_scales(s)[0], even.scale, plain.scale)
        names = ("bilateral limit", TRUE, "guaranteed, balanced", "guaranteed, plain")
        rows += [(angle, name, value) for name, value in zip(names, values, strict=True)]
    return pd.DataFrame(rows, columns=["angle", "label", "mu"])


def ratios(systems: list[SlidingSystem]) -> tuple[Array, int]:
    """(k, 2) guaranteed scale over the true one, plain and balanced; how often exact verdicts deny the true one."""
    rows, denied = [], 0
    for s in systems:
        true = critical_scales(s)[0]
        if np.isfinite(true):
            rows.append([b.scale / true for b in both_bounds(s)])
            denied += [is_p(s.with_friction(x * true)) for x in (0.5, 1 - BESIDE, 1 + BESIDE)] != [True, True, False]
    return np.array(rows), denied


def furthest(x: Array, expected: float) -> float:
    """Return the entry of x that differs most from the expected value."""
    return float(x.flat[np.argmax(np.abs(x - expected))])


def quantities() -> ResultTable:
    def norm(b: Inequalities) -> float:
        return np.nan if b.theta is None else b.theta

    rows: list[tuple[str | float, ...]] = []
    for spin, words in ((-1.0, "falling"), (1.0, "rising")):
        for angle in (15.0, 30.0, 45.0, 60.0, 75.0, 85.0):
            s = at_start(RodInGuide(angle=angle, spin=spin, mu_guide=SHOWN, mu_wall=SHOWN))
            plain, even = both_bounds(s)
            rows.append((
                words, f"{angle:g}°", plain.mu_max_b, norm(plain), 1 / plain.beta, norm(even), 1 / even.beta,
                "yes" if plain.holds or even.holds else "no", SHOWN * plain.scale, SHOWN * even.scale,
                SHOWN * float(critical_scales(s)[0]),
            ))  # fmt: skip
    return ResultTable(
        f"Proposition 1 at $\\mu = {SHOWN:g}$ at both ends",
        ("", "$\\theta$", "$\\mu_{\\max}^b$", "$\\|\\Theta\\|$", "$1/\\beta_2$", "$\\|\\Theta\\|$ bal.",
         "$1/\\beta_2$ bal.", "holds", "guaranteed $\\mu$", "bal.", "true"),
        tuple(rows),
        "m = 1 kg, l = 1 m. Spectral norms; bal.: rows scaled to unit effective mass. It holds where, in one of the "
        "scalings, $\\|\\Theta\\| < 1/\\beta_2$. Guaranteed: up to this $\\mu$ it holds throughout.",
    )  # fmt: skip


def beyond_vertices(s: SlidingSystem, rng: np.random.Generator) -> float:
    """The norm that beta_2 is the maximum of, at random places inside the cube, over beta_2: largest."""
    M, n = s.M_0, s.m_b + s.m_u
    norms = [np.linalg.norm(np.linalg.solve(np.eye(n) + d[:, None] * (M - np.eye(n)), np.diag(d)), 2)
             for d in rng.uniform(0, 1, (50, n))]  # fmt: skip
    return float(max(norms) / beta_2(M, s.m_b))


def guaranteed(of_rods: np.ndarray, of_others: np.ndarray) -> ResultTable:
    """The table of `ratios`, (N, 2) each."""
    return ResultTable(
        "Guaranteed over true friction", ("geometries", "how many", "scaling", "least", "median", "largest"),
        tuple(
            (words, str(len(x)), name, *(float(f(r)) for f in (np.min, np.median, np.max)))
            for words, x in (("rod in a guide", of_rods), ("other systems, up to 5 contacts", of_others))
            for name, r in (("plain", x[:, 0]), ("balanced", x[:, 1]), ("better", x.max(axis=1)))
        ),
        "Rods: m 0.1 to 10 kg, l 0.3 to 3 m, κ 0.1 to 0.9, 15° to 85°, any ratio of the two coefficients.",
    )  # fmt: skip


def shares(of_rods: np.ndarray) -> Figure:
    """Plot the distribution of the `ratios` (N, 2) of the rods."""
    scalings = {"plain": of_rods[:, 0], "balanced": of_rods[:, 1], "better of the two": of_rods.max(axis=1)}
    cumulated = [
        pd.DataFrame({"ratio": np.sort(x), "label": name, "share": 100 * np.arange(1, len(x) + 1) / len(x)})
        for name, x in scalings.items()
    ]
    return Figure(
        "ratios", f"Guaranteed fraction of the critical friction, {len(of_rods)} random rods in a guide",
        "Share of the geometries in which at most this fraction of the critical friction is guaranteed.",
        lines(pd.concat(cumulated, ignore_index=True), "share", "geometries [%]",
              ("ratio", "guaranteed friction / true critical friction [-]")),
    )  # fmt: skip


def guide() -> Section:
    rng = np.random.default_rng(3)
    rods = [at_start(random_rod(rng)) for _ in range(RODS)]
    others = [random_system(rng, *size) for size in SIZES for _ in range(15)]
    (of_rods, denied), (of_others, also) = ratios(rods), ratios(others)
    every = np.vstack([of_rods, of_others])
    curves = {spin: over_the_angle(spin) for spin in (-1.0, 1.0)}
    closed = max(
        abs(mu / critical_of_guide(angle, spin > 0) - 1)
        for spin, frame in curves.items()
        for angle, label, mu in frame.to_numpy()
        if label == TRUE
    )
    one = [random_system(rng, 1, 0) for _ in range(40)]
    lever = np.array([(s.inverse.tb * s.mu_b * s.xi_b).item() > 0 for s in one])
    single, _ = ratios(one)
    kilograms, in_grams = (both_bounds(at_start(RodInGuide(m=m, mu_guide=1.0, mu_wall=1.0))) for m in (1.0, 1000.0))
    grams = [b.scale / a.scale for a, b in zip(kilograms, in_grams, strict=True)]
    return Section(
        "Two contacts: range of Proposition 1",
        "A rod with its foot in a rough level guide, which holds it from both sides, and its head on a rough wall: "
        "one bilateral and one unilateral contact, the smallest system with all effects. The signs of friction depend "
        "on whether it falls or rises.\n\nProposition 1 reads: $\\mu_b < \\mu_{\\max}^b$ and $\\|\\Theta_\\mu\\|_2 < "
        "1/\\beta_2(M_0)$ suffice. $1/\\beta_2$ is the distance of $M_0$ to the nearest matrix that is not P, so a "
        "norm alone gives no better bound. But $\\Theta_\\mu$ is not an arbitrary matrix, and the norm depends on "
        "units. We therefore give the largest guaranteed friction twice, in SI units and with rows balanced to unit "
        "effective mass, together with the friction at which uniqueness is actually lost.\n\nThe true critical "
        "friction needs no search. For given signs of the bilateral forces and given closed contacts the problem is "
        "linear, and its determinant changes sign at an eigenvalue. For equal friction at both ends there is a closed "
        "form. $\\mu_{\\max}^b$ turns out to be the $\\mu_c$ of the rod on its tip. A second limit is the same at all "
        "angles. A third concerns the rising rod only, near 45°: the guide pulls the foot down, and the rod jams.",
        (
            r"\mu_{\max}^b = \frac{\sigma_{\min}(A_{nb})}{\sigma_{\max}(A_{tb})}, \qquad "
            r"\beta_2(M_0) = \max_{d \in [0,1]^n} \left\|(I - [d] + [d] M_0)^{-1} [d]\right\|_2 = "
            r"\max_\alpha \left\|(M_0)_{\alpha\alpha}^{-1}\right\|_2",
            r"\mu_{\text{true}} = \min\left\{ \mu_c(\theta),\ \sqrt{\frac{1+\kappa}{1-\kappa}},\ "
            r"\frac{\sin 2\theta - \sqrt{\sin^2 2\theta - 1 + \kappa^2}}{1-\kappa}"
            r"\ \text{(rising, where real)} \right\}",
        ),
        claims=(
            Claim("The bound is never above the truth: largest ratio of guaranteed to true critical friction, "
                  f"{len(every)} random geometries, both scalings", 1.0, float(every.max()), tolerance=EXACT,
                  relation="≤", form=".6f"),
            Check("The true critical friction is one: geometries in which the exact verdicts at 50 %, just before and "
                  "just beyond it are other than P, P, not P", 0, denied + also, origin="theory", form=".0f"),
            Check("It is that of the closed form, 15° to 85°, falling and rising: largest relative difference", 0.0,
                  float(closed), tolerance=EXACT, origin="derived here", form=".1e"),
            Check("$\\mu_{\\max}^b$ at $\\tan\\theta = 2$ is the rod's least critical friction", 4 / 3,
                  bilateral_limit(at_start(RodInGuide(angle=T))), tolerance=1e-12, origin="derived here", form=".10g"),
            Check("$\\beta_2$ is reached at a corner of the cube: largest ratio inside it, 50 places in each of 40 "
                  "systems", 1.0, max(beyond_vertices(s, rng) for s in others[:: max(1, len(others) // 40)][:40]),
                  relation="≤", tolerance=EXACT, origin="derived here"),
            Check("A single bilateral contact: $\\|\\Theta\\| = 2r/(1-r)$, $r = \\mu A_{tb}/A_{nb}$, so that a third "
                  "of the truth is guaranteed where friction turns the contact into its normal direction ($r > 0$)",
                  1 / 3, furthest(single[lever], 1 / 3), tolerance=1e-6, origin="derived here"),
            Check("and all of it where it turns away", 1.0, furthest(single[~lever], 1.0), tolerance=1e-6,
                  origin="derived here"),
            Check("The bound is free of units: in grams over in kilograms (60°, falling)", 1.0, grams[1],
                  tolerance=1e-6, origin="if free of units", why=UNITS,
                  tried=Grid("rows", "", ("grams over kilograms",), {"plain": grams[:1], "balanced": grams[1:]})),
        ),
        tables=(
            quantities(),
            guaranteed(of_rods, of_others),
        ),
        figures=(
            *(Figure(f"guide-{words}", f"Equal friction at both ends, {words}",
                     f"Friction guaranteed by Proposition 1 and true critical friction{extra} The bilateral limit is "
                     "$\\mu_{\\max}^b$, drawn up to 2.",
                     lines(frame[frame["mu"] <= 2], "mu", "friction coefficient μ [-]", ("angle", "angle θ [°]")))
              for (words, extra), frame in zip(
                  (("falling", "."), ("rising", ", which near 45° is lower: the rising rod jams.")), curves.values(),
                  strict=True)),
            shares(of_rods),
        ),
    )  # fmt: skip
