"""Momentum and energy balance with the subject's own forces: a check of all else, including an engine's adapter."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.experiments import lift, rolling, stack, stopping
from workbench.exams.record import Record

TRIALS = {
    "thrown block": stopping.EXPERIMENT.trials["1 kg at 2 m/s"],
    "fast block": lift.EXPERIMENT.trials["block"],
    "thrown ball": rolling.EXPERIMENT.trials["2 m/s"],
    "two cubes": stack.EXPERIMENT.trials["ratio 1"],
}


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        off = record.imbalance()
        if np.isfinite(off):
            found.append(MeasuredQuantity("momentum", name, off, 0.0, 1e-3, "weights"))
        energy = record.energy[record.pushed :]
        kinetic = sum(0.5 * body.mass * body.velocity[0] ** 2 for body in record.trial.bodies)
        gained = float((energy - energy[0]).max())
        found.append(MeasuredQuantity("energy gained", name, gained, 0.0, 0.01 * kinetic + 1e-3, "J"))
    return found


EXPERIMENT = Experiment(
    "balance", "Momentum and energy",
    "In every step the reported contact forces and the weight account for the change of momentum of every body, and "
    "after the initial push no body gains energy. Passing shows that the adapter reads the subject correctly.",
    "Newton 1687", "0.1 % of the weight; 1 % of the kinetic energy and 1 mJ", TRIALS, measure,
)  # fmt: skip
