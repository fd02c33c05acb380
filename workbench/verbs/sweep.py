"""`sweep`: one step, or sliding contacts at one instant, of many systems with varying data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.language.formulation import Formulation
from workbench.mechanics.contact import ContactSystem
from workbench.problems.solution import Status
from workbench.step.sliding.sweep import SlidingSweep, sweep_sliding
from workbench.step.sliding.system import SlidingSystem
from workbench.step.sweep import StepSweep, sweep_steps
from workbench.support.errors import WorkbenchError
from workbench.verbs.find import find_formulation
from workbench.verbs.results import Result
from workbench.verbs.solve import UNITS

if TYPE_CHECKING:
    import pandas as pd


GIVEN = {
    "M": ("kg, kg m2", "mass matrix"), "v": ("m/s, rad/s", "velocity before the step"),
    "f": ("N, N m", "applied and gyroscopic forces"), "h": ("s", "step size"), "phi": ("m", "gap"),
    "J_n": ("of the velocities", "normal Jacobian"), "J_t": ("of the velocities", "tangent Jacobian"),
    "J_b": ("of the velocities", "Jacobian of the bilateral constraints"), "g": ("m", "position error of these"),
    "mu": ("1", "friction coefficient"), "mu_s": ("1", "static friction coefficient"), "e": ("1", "restitution"),
    "r_n": ("m/s", "prescribed normal rate"), "r_t": ("m/s", "prescribed sliding rate"),
    "r_b": ("m/s", "prescribed rate of the bilateral constraints"), "v_th": ("m/s", "stick threshold"),
    "eps_n": ("1/kg", "normal compliance"), "eps_t": ("1/kg", "tangential compliance"),
    "eps_b": ("1/kg", "compliance of the bilateral constraints"),
}  # fmt: skip
for _side in "bu":
    GIVEN |= {
        f"J_n{_side}": GIVEN["J_n"], f"J_t{_side}": ("of the velocities", "Jacobian of the sliding directions"),
        f"mu_{_side}": GIVEN["mu"], f"xi_{_side}": ("1", "sign of the sliding velocity"),
        f"w_n{_side}": ("m/s2", "bias acceleration along the normal"),
    }  # fmt: skip
"""Unit and meaning of the data that may vary; for sliding systems at bilateral and at unilateral contacts."""
LAST = {
    "status": ("", "what the solver claims, a name of `Status`"),
    "residual": ("1", "the problem's own residual; inf without an answer"),
}


@dataclass(frozen=True, repr=False, eq=False)
class Swept(Result):
    """The solutions of many systems, with arrays as attributes: those of `StepSweep` or `SlidingSweep`."""

    title: str
    varied: dict[str, Any] = field(repr=False)
    answer: StepSweep | SlidingSweep = field(repr=False)

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
        """One row per system: varied data, solution, status, residual; units and meanings in `attrs["columns"]`.

        A varied datum with the name of a result, such as v, is called v_given.
        """
        import pandas as pd

        answers = {n: x for n, x in vars(self.answer).items() if n in UNITS}
        given = {f"{n}_given" if n in answers else n: (x, GIVEN[n]) for n, x in self.varied.items()}
        columns: dict[str, Any] = {}
        about = {}
        for name, (x, known) in (given | {n: (x, UNITS[n]) for n, x in answers.items()}).items():
            flat = np.reshape(np.asarray(x, dtype=float), (len(self.answer.status), -1))
            for i in range(flat.shape[1]):
                column = name if flat.shape[1] == 1 else f"{name}[{i}]"
                columns[column], about[column] = flat[:, i], known
        columns["status"] = [Status(s).name for s in self.answer.status]
        columns["residual"] = self.answer.residuals
        frame = pd.DataFrame(columns)
        frame.attrs["columns"] = {c: dict(zip(("unit", "meaning"), x, strict=True)) for c, x in (about | LAST).items()}
        return frame

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"sweep": self.frame}


def sweep(
    formulation: str | Formulation, system: ContactSystem | SlidingSystem, *, solver: str | None = None,
    threads: int = 1, **varied: Any,
) -> Swept:  # fmt: skip
    """Solve many systems that differ in their data, in compiled loops without Python between them.

    `varied` names data of the system; each has a leading axis for the systems, followed by the datum's own shape,
    or a single number for all of its entries. Raises DataError for inconsistent shapes or invalid data,
    UnknownNameError for an unknown datum.

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
        answer: StepSweep | SlidingSweep = sweep_sliding(f, system, solver=solver, threads=threads, **varied)
    elif isinstance(system, ContactSystem):
        answer = sweep_steps(f, system, solver=solver, threads=threads, **varied)
    else:
        raise WorkbenchError(f"a {type(system).__name__} was given; a ContactSystem or a SlidingSystem is needed")
    return Swept(f"{len(answer.status)} systems under {f.label}", varied, answer)
