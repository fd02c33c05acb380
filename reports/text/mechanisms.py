"""Mechanisms of a formulation's error, as far as the numbers of its row show them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.conclusions import CLEAR, NEGLIGIBLE, significant
from workbench.comparison.once import once
from workbench.comparison.result import Comparison

FRICTION_LAW = "friction law"
"""Short words where no symptom shows."""


class Reason(NamedTuple):
    """A mechanism in a few words, and in a sentence with its numbers; its displacement of a body [m], if known."""

    short: str
    words: str
    far: float = np.nan


def reasons(c: Comparison) -> list[tuple[str, list[str]]]:
    """Return the defects of a case's formulations in the first window, from the numbers; equal ones together."""
    known, alike = {f.label: f for f in c.formulations}, dict[tuple[str, ...], list[str]]()
    for label, found in errs(c).items():
        f = known[label]
        words = tuple(x.words for x in found)
        plain = f.axes == "sliding" or f.friction == "none"
        alike.setdefault(words, []).append(label if plain else f"{label} ({f.friction})")
    return [(", ".join(labels), list(found)) for found, labels in alike.items()]


@once
def errs(c: Comparison, step: float | None = None) -> dict[str, list[Reason]]:
    """Return by label the mechanisms of a case's formulations in the first window, at a step size [s] or the first."""
    if c.case is None:
        return {}
    rows = next(iter(c.windows.values()))
    rows = rows[rows["verified"] & (rows["step"] == (rows["step"].iloc[0] if step is None else step))]
    exact: Mapping[Any, Any] = next(iter(rows[rows["formulation"] == "coulomb"].to_dict("records")), {})
    rows = rows[rows["formulation"] != "coulomb"]
    known = {f.label: f for f in c.formulations}
    return {
        r["label"]: [Reason("no friction", "no friction")] if known[r["label"]].friction == "none"
        else what_errs(r, known[r["label"]].options, exact)
        for r in rows.drop_duplicates("label").to_dict("records")
    }  # fmt: skip


def what_errs(r: Mapping[Any, Any], options: Mapping[str, Any], exact: Mapping[Any, Any]) -> list[Reason]:
    """Return the reasons for a row's error beyond that of `exact` Coulomb friction at the same step."""

    def of(name: str, row: Mapping[Any, Any] = r) -> float:
        value = row.get(name, np.nan)
        return float(value) if pd.notna(value) else 0.0

    def own(name: str) -> float:
        return of(name, exact)

    def notable(name: str, least: float) -> bool:
        return of(name) > max(least, CLEAR * own(name))

    shape = "polygon" if "directions" in options else "box" * ("bounds" in options)
    corner = f" (a {shape} is not round)" if shape else ""
    found: list[Reason] = []

    def add(short: str, words: str, far: float = np.nan) -> None:
        found.append(Reason(short, words, far))

    if notable("lift", NOTABLE["lift"]):
        far = f"{of('lift'):.3g} mm" if of("lift") < 1e3 else f"{1e-3 * of('lift'):.3g} m"
        words = f"contacts open by up to {of('lift'):.3g} mm more than in the reference"
        add(f"opens contacts by {far}", words, 1e-3 * of("lift"))
        if pd.notna(exact.get("slip", np.nan)) and CLEAR * of("slip") < own("slip"):
            slips = f"slip {of('slip'):.0f} mm while closed ({own('slip'):.0f} mm under exact Coulomb friction)"
            add("less sliding", f"contacts {slips}", 1e-3 * of("lift"))
    if notable("creep", NOTABLE["creep"]):
        speed = of("creep")
        slow = f"{speed:.0f} µm/s" if speed < 1e3 else f"{1e-3 * speed:.3g} mm/s"
        how = f"creep at {slow}" if speed < 1e4 else f"slide at {1e-6 * speed:.3g} m/s"
        add(f"sticking contacts {how}", f"contacts that stick in the reference {how}")
    if notable("penetration", NOTABLE["lift"]):
        deep = f"{of('penetration'):.3g} mm"
        add(f"penetration of {deep}", f"bodies penetrate by up to {deep}", 1e-3 * of("penetration"))
    if abs(of("rebound")) > max(MISSING, CLEAR * abs(own("rebound"))):
        less, low = ("less", "low") if of("rebound") < 0 else ("more", "high")
        share = f"{abs(of('rebound')):.2g}"
        returned = f"impacts return {share} {less} of the approach velocity than in the reference"
        add(f"restitution too {low} by {share}", returned)
    if notable("energy_gained", NOTABLE["energy_gained"]):
        gained = f"{of('energy_gained'):.3g} J"
        add(f"energy gain of {gained}", f"contacts add up to {gained} to the bodies (a spring returns what it stored)")
    if of("misalignment_rms") > 1.0:
        angle = f"{of('misalignment_rms'):.3g}°"
        add(
            f"friction misaligned by {angle}",
            f"friction deviates by {angle} (RMS) from the direction opposite to sliding{corner}",
        )
    if of("yaw_spread") > 0.01:
        spread = percent(of("yaw_spread"))
        add(f"anisotropic, {spread}", f"rotating the scene changes a step by up to {spread}{corner}")
    if of("friction_rmsd") > 0.01:
        share = percent(of("friction_rmsd"))
        add(f"friction error {share}", f"|p_t|/(μ p_n) has an RMS error of {share}")
    compliance = percent(of("velocity_compliance"))
    if of("velocity_compliance") > max(of("velocity_formulation"), NEGLIGIBLE):
        add("the run's compliance", "its error comes more from the run's tangential compliance than from the model")
    elif of("velocity_compliance") > max(0.01, 0.5 * of("velocity_error")):
        add("the run's compliance", f"the run's tangential compliance alone changes its velocity by {compliance}")
    if of("velocity_discretisation") > max(of("velocity_formulation"), NEGLIGIBLE):
        add("the time step", "its error comes more from the time step than from the model")
    if found:
        return found
    left_out = [name.replace("_", " ") for name in SYMPTOMS if name not in r]
    if left_out:
        return [Reason("not measured", f"unknown, because these metrics were not computed: {', '.join(left_out)}")]
    if of("velocity_formulation") > 0.01:
        law = "the friction law itself; no other cause was found"
        return [Reason(FRICTION_LAW, law)]
    if max(of("velocity_formulation"), of("local_velocity_error")) < ROUND_OFF:
        return [Reason("none", "its velocities are those of exact Coulomb friction at this step")]
    far = f"the friction law causes a velocity error of {100 * of('velocity_formulation'):.2g} % in its run"
    local = f" and of {100 * of('local_velocity_error'):.3g} % in single steps" if of("local_velocity_error") else ""
    none = f"no cause was found; {far}{local}"
    return [Reason(FRICTION_LAW, none)]


def percent(share: float) -> str:
    """Return a share in percent with three digits."""
    return f"{significant(100 * share, 3)} %"


SYMPTOMS = (
    "lift", "creep", "penetration", "rebound", "energy_gained", "yaw_spread", "misalignment_rms", "friction_rmsd",
    "velocity_error",
)  # fmt: skip
"""Columns in which reasons are looked for."""
ROUND_OFF = 1e-9
"""Share of the velocity below which a difference is round-off."""
NOTABLE = {"lift": 0.1, "creep": 10.0, "energy_gained": 1e-3}
"""Symptoms [mm, µm/s, J] from which on they are named."""
MISSING = 0.05
"""Share of the approach from which on a rebound that is missing, or too much, is named."""
