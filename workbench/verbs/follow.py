"""`follow`: the motion of a case under Coulomb's law, from event to event, and its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.builtin.reports.text.follow import motions_in_words, sentences
from workbench.events.enclosure import EnclosedMotion, enclose
from workbench.events.simulation import EventRun, simulate_branches, simulate_events
from workbench.events.twice import SECOND, Uncertainty, differences, simulate_twice
from workbench.mechanics.case import Case
from workbench.support.errors import DataError
from workbench.support.output import provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_case
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Followed(Result):
    """`run`, the event-driven motion; `uncertainty`, its differences from a second integration; `proved`, the motion
    enclosed in ball arithmetic, None where that was not asked for; `motions`, every motion that Coulomb's law leaves
    with its uncertainty, empty where they were not asked for."""

    run: EventRun = field(repr=False)
    uncertainty: Uncertainty = field(repr=False)
    proved: EnclosedMotion | None = field(repr=False)
    motions: tuple[tuple[EventRun, Uncertainty], ...] = field(default=(), repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.run.case.name}: event-driven motion under Coulomb's law"

    @property
    def events(self) -> pd.DataFrame:
        """A row per event: t [s], contact, what, u_n, u_t [m/s] before it, lambda_n [N] after it, p_n [N s]; of several
        motions the number of each first, `motion`, from 1 on."""
        return self._of_all(EventRun.table)

    @property
    def modes(self) -> pd.DataFrame:
        """The modes of every contact: contact, start [s], end [s], mode; of several motions the number of each."""
        return self._of_all(EventRun.modes)

    def _of_all(self, rows: Callable[[EventRun], pd.DataFrame]) -> pd.DataFrame:
        if len(self.motions) < 2:
            return rows(self.run)
        import pandas as pd

        frames = {k: rows(run) for k, (run, _) in enumerate(self.motions, start=1)}
        return pd.concat(frames, names=["motion"]).reset_index("motion").reset_index(drop=True)

    @property
    def words(self) -> list[str]:
        if len(self.motions) > 1:
            return motions_in_words(self.motions)
        return sentences(self.run, self.uncertainty, self.proved)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"events": self.events, "modes": self.modes}

    @property
    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        proved = self.proved
        return {
            "case": self.run.case.name, "duration": self.run.duration, **_data(self.run, self.uncertainty),
            "motions": [_data(*motion) for motion in self.motions],
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
    what: str | Case | type[Case], *, duration: float | None = None, prove: bool = False, branches: bool = False,
    progress: ProgressCallback | None = None,
) -> Followed:  # fmt: skip
    """Follow the motion of a case under exact Coulomb friction, with rigid contacts, for `duration` [s] (None: the
    case's own), by two independent integrators; with `prove` also enclose it in ball arithmetic.

    Where several motions continue from a moment, `branches` follows each of them. A motion that cannot be continued
    ends early and says why; so does a proof. Raises DataError for a duration that is not positive, or where both
    `prove` and `branches` are asked for.

    >>> import workbench as wb
    >>> found = wb.follow("block")
    >>> found.events[["contact", "what"]].values.tolist()
    [[0, 'sticks']]
    >>> abs(float(found.events["t"].iloc[0]) - 1 / (0.15 * 9.81)) < 1e-12
    True
    """
    case = find_case(what)
    if prove and branches:
        raise DataError("a proof is of one motion; ask for prove or for branches")
    if progress:
        progress("following the motion", 0, 2 + prove)
    if branches:
        motions = tuple(
            (run, differences(run, simulate_events(case, duration, SECOND, run.choices)))
            for run in simulate_branches(case, duration)
        )
        return Followed(*motions[0], None, motions)
    run, uncertainty = simulate_twice(case, duration)
    if prove and progress:
        progress("proving it", 2, 3)
    return Followed(run, uncertainty, enclose(case, duration) if prove else None)


def _data(run: EventRun, uncertainty: Uncertainty) -> dict[str, Any]:
    """A motion, ready for JSON."""
    return {
        "end": run.end.t if run.stretches else 0.0, "reason": run.reason,
        "forks": [fork._asdict() for fork in run.forks], "events": run.table().to_dict("records"),
        "modes": run.modes().to_dict("records"), "uncertainty": vars(uncertainty),
    }  # fmt: skip
