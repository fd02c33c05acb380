"""`sweep`: one step, or sliding contacts at one instant, of many systems whose data vary."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.language.formulation import Formulation
from workbench.mechanics.contact import ContactSystem
from workbench.problems.solution import Status
from workbench.sliding.sweep import SlidingSweep, sweep_sliding
from workbench.sliding.system import SlidingSystem
from workbench.step.sweep import Sweep
from workbench.step.sweep import sweep as sweep_steps
from workbench.verbs.find import find_formulation
from workbench.verbs.results import Result
from workbench.verbs.solve import UNITS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Swept(Result):
    """The answers to many systems, whose arrays are attributes: those of `step.sweep.Sweep` or of `SlidingSweep`."""

    title: str
    varied: dict[str, Any] = field(repr=False)
    answer: Sweep | SlidingSweep = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "answer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.answer, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *vars(self.answer)]

    @property
    def words(self) -> list[str]:
        a = self.answer
        ok = int(np.sum(a.solved))
        sentences = [f"{ok} of {len(a.status)} systems are solved, in {1e3 * a.seconds:.3g} ms by {a.solver}."]
        counts = {Status(s).name: int((a.status == s).sum()) for s in np.unique(a.status) if s != Status.SOLVED}
        return sentences + [f"Other ends: {', '.join(f'{n} {name}' for name, n in counts.items())}."] * bool(counts)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per system: what varies, the answer, status, residual."""
        import pandas as pd

        columns: dict[str, Any] = {}
        arrays = self.varied | {n: x for n, x in vars(self.answer).items() if n in UNITS}
        for name, x in arrays.items():
            flat = np.reshape(np.asarray(x, dtype=float), (len(self.answer.status), -1))
            columns |= {name if flat.shape[1] == 1 else f"{name}[{i}]": flat[:, i] for i in range(flat.shape[1])}
        columns["status"] = [Status(s).name for s in self.answer.status]
        columns["residual"] = self.answer.residuals
        frame = pd.DataFrame(columns)
        known = {c: UNITS[c.partition("[")[0]] for c in frame.columns if c.partition("[")[0] in UNITS}
        frame.attrs["columns"] = {c: {"unit": unit, "meaning": meaning} for c, (unit, meaning) in known.items()}
        return frame

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"sweep": self.frame}


def sweep(
    formulation: str | Formulation, system: ContactSystem | SlidingSystem, *, solver: str | None = None,
    threads: int = 1, **varied: Any,
) -> Swept:  # fmt: skip
    """Solve many systems that differ in their data, in compiled loops without Python between them.

    `varied` names data of the system; each has an axis for the systems in front, and behind it the datum's own shape or
    a number for all of its entries. Raises DataError for shapes that do not fit or data that make no system,
    UnknownNameError for a datum that there is not.

    >>> import numpy as np
    >>> import workbench as wb
    >>> block = wb.ContactSystem(
    ...     M=2 * np.eye(3), v=[0.6, 0.8, 0], f=[0, 0, -2 * 9.81], h=0.01, mu=0.5,
    ...     J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]],
    ... )
    >>> answer = wb.sweep("coulomb", block, mu=np.linspace(0, 1, 5))
    >>> np.linalg.norm(answer.p_t, axis=1).round(4).tolist()
    [0.0, 0.0491, 0.0981, 0.1472, 0.1962]
    """
    f = find_formulation(formulation)
    if isinstance(system, SlidingSystem):
        answer: Sweep | SlidingSweep = sweep_sliding(f, system, solver=solver, threads=threads, **varied)
    elif isinstance(system, ContactSystem):
        answer = sweep_steps(f, system, solver=solver, threads=threads, **varied)
    else:
        raise WorkbenchError(f"a {type(system).__name__} was given; a ContactSystem or a SlidingSystem is needed")
    return Swept(f"{len(answer.status)} systems under {f.label}", varied, answer)
