"""Check a log of MuJoCo's states against Coulomb's law, step by step, beyond the engine's own report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.judge.contacts import SYMPTOMS, by_contact
from workbench.judge.coulomb import judge
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

LARGEST = {
    "normal_force": ("N", "largest normal force"),
    "friction_force": ("N", "largest friction force"),
    "beyond_force": ("N", "largest friction beyond mu times the normal force"),
    "depth": ("m", "largest overlap"),
    "creep": ("m/s", "largest sliding velocity although friction is not used up"),
    "opening": ("m/s", "largest velocity of leaving while it pushes"),
    "angle": ("degrees", "largest angle between friction and the direction opposite to the slip"),
}
COLUMNS = {
    "contact": ("", "geoms, and which of their contacts"),
    "mu": ("1", "friction coefficient"),
    "steps": ("1", "steps in which it touches"),
    **LARGEST,
    "symptoms": ("", "what can be seen of it, each with the number of steps"),
}
STEPS = {
    "contacts": ("1", "how many touch"),
    "natural_map": ("1", "residual of the whole law over the impulses"),
    "signorini": ("1", "residual of the normal law over the impulses"),
    "beyond_force": ("N", "friction beyond the cone"),
    "dissipation": ("J", "friction that is not maximally dissipative"),
    "gradient": ("1", "scaled gradient at which MuJoCo's solver stopped"),
    "off": ("m/s, rad/s", "velocity of the log that is not MuJoCo's"),
}


@dataclass(frozen=True, repr=False, eq=False)
class JudgedLog(Result):
    """`rows`, one per contact over the log; `steps`, one per step with the residuals of `workbench.judge.coulomb`."""

    title: str
    rows: pd.DataFrame = field(repr=False)
    steps: pd.DataFrame = field(repr=False)
    tolerance: float
    """Tolerance at which MuJoCo's solver stops."""

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"contacts": self.rows, "steps": self.steps}

    @property
    def words(self) -> list[str]:
        x, r = self.steps, len(self.rows)
        converged = (
            "converged in every step" if (x["gradient"] <= self.tolerance).all() else "did not converge in every step"
        )
        words = [
            f"{len(x)} steps, at most {x['contacts'].max()} contacts at once. MuJoCo's own report: its solver "
            f"{converged} (scaled gradient up to {x['gradient'].max():.1e}, tolerance {self.tolerance:.0e})."
        ]
        if x["off"].max() > 1e-6:
            words.append(
                f"MuJoCo does not reproduce this log with this model: velocities differ by up to {x['off'].max():.2g}. "
                "Forces are computed from the model at the log's states; for actuators give ctrl and act."
            )
        if not r:
            return [*words, "There is no contact."]
        worst = int(x["natural_map"].to_numpy().argmax())
        words.append(
            f"Coulomb's law: the relative natural-map residual is up to {x['natural_map'][worst]:.1e}, in step "
            f"{worst + 1}; friction exceeds the cone by up to {self.rows['beyond_force'].max():.3g} N."
        )
        seen = [
            f"{there.sum()} of {r} contacts: {name} ({meaning}){self._most(name)}."
            for name, meaning in SYMPTOMS.items()
            if (there := self.rows["symptoms"].str.contains(name, regex=False)).any()
        ]
        return [*words, *(seen or [f"No defect at any of {r} contacts."])]

    def _most(self, name: str) -> str:
        """The largest value of a symptom."""
        column = {"slips within the cone": "creep", "pushes while it opens": "opening", "goes in": "depth"}.get(name)
        return (
            f", up to {self.rows[column].max():.3g} {COLUMNS[column][0]}" + (" deep" if column == "depth" else "")
            if column
            else ""
        )


def verdict_of_log(path: str | Path, log: str | Path) -> JudgedLog:
    """Check every step of a log (`workbench.scenes.mujoco.log`) of a model against Coulomb's law."""
    import pandas as pd

    from workbench.scenes.mujoco.log import read_log, steps
    from workbench.scenes.mujoco.model import load_model
    from workbench.scenes.mujoco.rows import contact_name

    model = load_model(Path(path), {})[0]
    h, contacts, judged = float(model.opt.timestep), [], []
    for x in steps(model, read_log(log, model)):
        parts = x.p_n, x.p_t, x.u_n, x.u_t
        p, u = (np.concatenate([n, t.ravel()]) for n, t in (parts[:2], parts[2:]))
        found = judge(*parts, x.mu, x.W, u - x.W @ p)
        own = by_contact(*parts, x.mu, found.normaliser, found.normaliser / found.rho)
        judged.append({
            "contacts": len(x.key), "natural_map": float(found.natural_map), "signorini": float(found.signorini),
            "beyond_force": float(found.cone / h), "dissipation": float(found.dissipation), "gradient": x.gradient,
            "off": x.off,
        })  # fmt: skip
        creeps, opens = (own.symptoms[name] for name in ("slips within the cone", "pushes while it opens"))
        table = {
            "key": x.key, "mu": x.mu, "normal_force": own.pressure / h, "friction_force": own.friction / h,
            "beyond_force": own.beyond / h, "depth": -x.distance, "creep": np.where(creeps, own.slip, 0.0),
            "opening": np.where(opens, own.opening, 0.0), "angle": own.angle, **own.symptoms,
        }  # fmt: skip
        contacts.append(pd.DataFrame(table))
    frame = _described(pd.DataFrame(judged, columns=list(STEPS)), STEPS)
    rows = _by_contact(pd.concat(contacts), lambda key: contact_name(model, key))
    title = f"{Path(log).name} with {Path(path).name}: checked against Coulomb's law"
    return JudgedLog(title, rows, frame, float(model.opt.tolerance))


def _by_contact(all_: pd.DataFrame, name: Any) -> pd.DataFrame:
    """One row per contact over all steps, with the largest value of every number."""
    import pandas as pd

    rows = []
    for key, own in all_.groupby("key"):
        seen = [f"{what} {int(own[what].sum())}" for what in SYMPTOMS if own[what].any()]
        most = own[list(LARGEST)].max()
        rows.append({"contact": name(int(str(key))), "mu": own["mu"].max(), "steps": len(own), **most,
                     "symptoms": ", ".join(seen)})  # fmt: skip
    return _described(pd.DataFrame(rows, columns=list(COLUMNS)), COLUMNS)


def _described(frame: pd.DataFrame, columns: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    frame.attrs["columns"] = {name: {"unit": unit, "meaning": meaning} for name, (unit, meaning) in columns.items()}
    return frame
