"""`show` for a scene: its contents, its contacts at the start, and the parts of its model that are not supported."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.builtin.reports.text.check import in_lines
from workbench.builtin.reports.text.scenes import counted
from workbench.mechanics.instant import KINDS, Instant
from workbench.scenes.scene import Scene
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

LIMIT = "limit"
MOST = 20
"""Largest number of bodies that are named."""


@dataclass(frozen=True, repr=False, eq=False)
class ShownScene(Result):
    """A scene at its start: `text`, and a `frame` of its contacts and limits."""

    scene: Scene
    instant: Instant = field(repr=False)

    @classmethod
    def of(cls, scene: Scene) -> ShownScene:
        """Show a scene; raises DataError if its start has no contact data."""
        return cls(scene, scene.instant(*scene.start(), 0.0, scene.step))

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.scene.name}: {_many(len(self.scene.bodies), 'moving body', 'moving bodies')}"

    @property
    def text(self) -> str:
        return "\n".join([self.title, *self.words])

    @property
    def words(self) -> list[str]:
        x, s = self.instant, self.scene
        facts = dict(s.facts())
        left_out, notes = facts.pop("left_out", ()), facts.pop("note", ())
        more = f" and {len(s.bodies) - MOST} more" if len(s.bodies) > MOST else ""
        own = {"velocities": x.v.size} | facts
        counts = [counted(value, name) for name, value in own.items() if value]
        said = [f"{', '.join(counts)}; step {1e3 * s.step:g} ms."]
        return [
            *said, *self._touching(), *(f"Ignored: {line}." for line in left_out),
            *(f"Note: {line}." for line in notes), in_lines(f"Bodies: {', '.join(s.bodies[:MOST])}{more}."),
        ]  # fmt: skip

    def _touching(self) -> list[str]:
        """The contacts and limits active at the start, by kind."""
        x, frame = self.instant, self.frame
        limits, contacts = frame[frame["kind"] == LIMIT], frame[frame["kind"] != LIMIT]
        said = []
        for near, words in ((False, "touching or overlapping"), (True, "open and near")):
            kinds = Counter(contacts["kind"][(contacts["gap"] > 0) == near])
            if kinds:
                friction = {kind: kind if kind == KINDS[0] else f"with {kind} friction" for kind in kinds}
                every = ", ".join(f"{n} {friction[kind]}" for kind, n in kinds.items())
                said.append(f"Contacts at the start, {words}: {every}.")
        if len(contacts) and contacts["gap"].min() < 0:
            at = contacts.sort_values("gap").to_dict("records")[0]
            said.append(f"Deepest penetration: {-1e3 * at['gap']:.3g} mm, {at['body']} in {at['against']}.")
        if len(limits):
            beyond = limits["gap"][limits["gap"] < 0]
            worst = f", {len(beyond)} of them violated, by up to {-beyond.min():.3g} (m or rad)" if len(beyond) else ""
            said.append(f"Joint limits reached: {len(limits)}{worst}.")
        rows = {"bilateral rows": x.g.size, "rows of dry friction": x.limit.size}
        if any(rows.values()):
            said.append(f"Also: {' and '.join(f'{n} {name}' for name, n in rows.items() if n)}.")
        return said or ["No contact at the start."]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per contact or limit at the start: kind, the bodies, gap [m], first friction coefficient."""
        import pandas as pd

        x, bodies = self.instant, self.scene.bodies
        pairs = x.places.pair if x.places else np.full((x.contacts, 2), -1)
        limit = [max(pair) < 0 for pair in pairs]
        named = [KINDS.get(int(d), f"{d} directions") for d in x.directions]
        kinds = [LIMIT if own else kind for kind, own in zip(named, limit, strict=True)]
        mu = [x.mu[first + 1] if d else np.nan for first, d in zip(x.first[:-1], x.directions, strict=True)]
        names = [["the ground" if b < 0 else bodies[b] for b in pair] for pair in pairs]
        frame = pd.DataFrame({
            "kind": kinds, "body": ["a joint" if own else pair[1] for own, pair in zip(limit, names, strict=True)],
            "against": ["" if own else pair[0] for own, pair in zip(limit, names, strict=True)], "gap": x.phi, "mu": mu,
        })  # fmt: skip
        frame.attrs["columns"] = COLUMNS
        return frame

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"contacts": self.frame}


COLUMNS: dict[str, Any] = {
    "kind": {"unit": "", "meaning": "what the contact resists, or that it is a limit"},
    "body": {"unit": "", "meaning": "the body"},
    "against": {"unit": "", "meaning": "what it is against"},
    "gap": {"unit": "m", "meaning": "gap, of the limit of a hinge an angle in rad"},
    "mu": {"unit": "1", "meaning": "friction coefficient of the first direction"},
}


def _many(n: int, one: str, several: str) -> str:
    return f"{n} {one if n == 1 else several}"
