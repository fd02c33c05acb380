"""By which mechanism a formulation errs, as far as it shows in the numbers of its row."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.conclusions import CLEAR, NEGLIGIBLE
from workbench.comparison.result import Comparison


def reasons(c: Comparison) -> list[tuple[str, list[str]]]:
    """What formulations of a case get wrong in the first window, as far as the numbers show it; alike ones together."""
    known, alike = {f.label: f for f in c.formulations}, dict[tuple[str, ...], list[str]]()
    for label, found in errs(c).items():
        f = known[label]
        alike.setdefault(tuple(found), []).append(label if f.axes == "sliding" else f"{label} ({f.friction})")
    return [(", ".join(labels), list(found)) for found, labels in alike.items()]


def errs(c: Comparison) -> dict[str, list[str]]:
    """By label, what formulations of a case get wrong in the first window at the first step size."""
    if c.case is None:
        return {}
    rows = next(iter(c.windows.values()))
    rows = rows[rows["verified"] & (rows["step"] == rows["step"].iloc[0])]
    exact: Mapping[Any, Any] = next(iter(rows[rows["formulation"] == "coulomb"].to_dict("records")), {})
    rows = rows[rows["formulation"] != "coulomb"]
    known = {f.label: f for f in c.formulations}
    return {
        r["label"]: ["it has no friction"] if known[r["label"]].friction == "none"
        else what_errs(r, known[r["label"]].options, exact)
        for r in rows.drop_duplicates("label").to_dict("records")
    }  # fmt: skip


def what_errs(r: Mapping[Any, Any], options: Mapping[str, Any], exact: Mapping[Any, Any]) -> list[str]:
    """What a row's numbers say of why it errs, beyond what `exact` Coulomb friction at the same step does itself."""

    def of(name: str, row: Mapping[Any, Any] = r) -> float:
        value = row.get(name, np.nan)
        return float(value) if pd.notna(value) else 0.0

    def own(name: str) -> float:
        return of(name, exact)

    def notable(name: str, least: float) -> bool:
        return of(name) > max(least, CLEAR * own(name))

    shape = "polygon" if "directions" in options else "box" * ("bounds" in options)
    corner = f" (a {shape} is not round)" if shape else ""
    found = []
    if notable("lift", NOTABLE["lift"]):
        found.append(f"contacts are lifted, by up to {of('lift'):.3g} mm more than in the reference")
        if pd.notna(exact.get("slip", np.nan)) and CLEAR * of("slip") < own("slip"):
            found.append(f"contacts slip {of('slip'):.0f} mm in touch, where exact friction slips {own('slip'):.0f} mm")
    if notable("creep", NOTABLE["creep"]):
        speed = of("creep")
        how = f"creep, at {speed:.0f} µm/s" if speed < 1e4 else f"slide, at {1e-6 * speed:.3g} m/s"
        found.append(f"contacts that stick in the reference {how}")
    if notable("penetration", NOTABLE["lift"]):
        found.append(f"bodies go into one another by up to {of('penetration'):.3g} mm")
    if abs(of("rebound")) > max(MISSING, CLEAR * abs(own("rebound"))):
        less = "less" if of("rebound") < 0 else "more"
        found.append(f"impacts give back {abs(of('rebound')):.2g} of the approach {less} than in the reference")
    if notable("energy_gained", NOTABLE["energy_gained"]):
        found.append(
            f"contacts give up to {of('energy_gained'):.3g} J to the bodies (a spring gives back what it took)"
        )
    if of("yaw_spread") > 0.01:
        found.append(f"its steps would change by {100 * of('yaw_spread'):.3g} % were the scene turned{corner}")
    if of("misalignment_rms") > 1.0:
        found.append(f"friction is {of('misalignment_rms'):.3g}° (RMS) off the direction against sliding{corner}")
    if of("friction_rmsd") > 0.01:
        found.append(f"|p_t|/(μ p_n) is {100 * of('friction_rmsd'):.3g} % (RMS) off")
    if of("velocity_compliance") > max(of("velocity_formulation"), NEGLIGIBLE):
        found.append("more of its error is the run's tangential compliance than the model")
    elif of("velocity_compliance") > max(0.01, 0.5 * of("velocity_error")):
        found.append(
            f"the run's tangential compliance alone changes its velocity by {100 * of('velocity_compliance'):.3g} %"
        )
    if of("velocity_discretisation") > max(of("velocity_formulation"), NEGLIGIBLE):
        found.append("more of its error is the step size than the model")
    if found:
        return found
    left_out = [name.replace("_", " ") for name in SYMPTOMS if name not in r]
    if left_out:
        return [f"not known, since these metrics were left out: {', '.join(left_out)}"]
    if of("velocity_formulation") > 0.01:
        return ["its law of friction itself: none of the other reasons that are looked for shows"]
    far = f"the law of friction makes {100 * of('velocity_formulation'):.2g} % of the velocity of its run"
    local = f" and {100 * of('local_velocity_error'):.3g} % of its single steps" if of("local_velocity_error") else ""
    return [f"none of the reasons that are looked for shows; {far}{local}"]


SYMPTOMS = (
    "lift", "creep", "penetration", "rebound", "energy_gained", "yaw_spread", "misalignment_rms", "friction_rmsd",
    "velocity_error",
)  # fmt: skip
"""Columns in which reasons are looked for."""
NOTABLE = {"lift": 0.1, "creep": 10.0, "energy_gained": 1e-3}
"""Symptoms [mm, µm/s, J] from which on they are named."""
MISSING = 0.05
"""Share of the approach from which on a rebound that is missing, or too much, is named."""
