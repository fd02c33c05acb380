"""`follow`: the motion of a case under Coulomb's law, from event to event, and its proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.builtin.reports.text.follow import sentences
from workbench.events.enclosure import Enclosure, enclose
from workbench.events.simulation import EventRun
from workbench.events.twice import Uncertainty, simulate_twice
from workbench.mechanics.case import Case
from workbench.output import provenance
from workbench.progress import ProgressCallback
from workbench.verbs.find import find_case
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Followed(Result):
    """`run`, the event-driven motion; `uncertainty`, its differences from a second integration; `proved`, the motion
    enclosed in ball arithmetic, None where that was not asked for."""

    run: EventRun = field(repr=False)
    uncertainty: Uncertainty = field(repr=False)
    proved: Enclosure | None = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.run.case.name}: from event to event under Coulomb's law"

    @property
    def events(self) -> pd.DataFrame:
        """A row per event: t [s], contact, what, u_n, u_t [m/s] before it, lambda_n [N] after it, p_n [N s]."""
        return self.run.table()

    @property
    def modes(self) -> pd.DataFrame:
        """What every contact does from when to when: contact, start [s], end [s], mode."""
        return self.run.modes()

    @property
    def words(self) -> list[str]:
        return sentences(self.run, self.uncertainty, self.proved)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"events": self.events, "modes": self.modes}

    @property
    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        proved = self.proved
        return {
            "case": self.run.case.name, "duration": self.run.duration,
            "end": self.run.end.t if self.run.stretches else 0.0,
            "reason": self.run.reason, "events": self.events.to_dict("records"), "modes": self.modes.to_dict("records"),
            "uncertainty": vars(self.uncertainty),
            "proved": None if proved is None else {
                "reason": proved.reason,
                "events": [
                    {"contact": e.contact, "what": e.what, "t_low": e.t_low, "t_high": e.t_high} for e in proved.events
                ],
            },
        }  # fmt: skip

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.run.case.name, parameters=vars(self.run.case), duration=self.run.duration)


def follow(
    what: str | Case | type[Case], *, duration: float | None = None, prove: bool = False,
    progress: ProgressCallback | None = None,
) -> Followed:  # fmt: skip
    """Follow the motion of a case under exact Coulomb friction, with rigid contacts, for `duration` [s], None for its
    own, by two integrators that share nothing; with `prove` enclose it in ball arithmetic too.

    A motion that cannot be continued ends early and says why; so does a proof. Raises DataError for a duration that is
    not positive.

    >>> import workbench as wb
    >>> found = wb.follow("block")
    >>> found.events[["contact", "what"]].values.tolist()
    [[0, 'sticks']]
    >>> abs(float(found.events["t"].iloc[0]) - 1 / (0.15 * 9.81)) < 1e-12
    True
    """
    case = find_case(what)
    if progress:
        progress("following the motion", 0, 2 + prove)
    run, uncertainty = simulate_twice(case, duration)
    if prove and progress:
        progress("proving it", 2, 3)
    return Followed(run, uncertainty, enclose(case, duration) if prove else None)
