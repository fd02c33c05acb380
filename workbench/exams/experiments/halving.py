"""One trial with a step and with half of it: the difference is due to the engine's step, not its law."""

from collections.abc import Mapping
from dataclasses import replace

from workbench.exams.experiment import BEGIN, CREEP, END, Experiment, MeasuredQuantity
from workbench.exams.experiments import lift, rest, slope, stopping
from workbench.exams.record import Record

TRIALS = {
    "thrown block": stopping.EXPERIMENT.trials["1 kg at 2 m/s"],
    "fast block": lift.EXPERIMENT.trials["block"],
    "resting ball": rest.EXPERIMENT.trials["ball"],
    "block on a slope": slope.EXPERIMENT.trials["mu = 0.5, 20 degrees"],
}
HALVED = ", half the step"


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name in TRIALS:
        if name not in records or name + HALVED not in records:
            continue
        whole, half = records[name], records[name + HALVED]
        if name == "thrown block":
            speed = whole.trial.bodies[0].velocity[0]
            far, farther = (float(x.path()[-1, 0]) for x in (whole, half))
            bound = 0.25 * whole.h * speed + 1e-3
            found.append(MeasuredQuantity("change of the distance", name, farther - far, 0.0, bound, "m"))
        elif name == "fast block":
            high, higher = (float(x.path()[:, 2].max()) for x in (whole, half))
            found.append(MeasuredQuantity("change of the lift", name, higher - high, 0.0, 1e-3, "m"))
        elif name == "resting ball":
            deep, deeper = (rest.sunk(x) for x in (whole, half))
            found.append(MeasuredQuantity("change of the penetration", name, deeper - deep, 0.0, 1e-5, "m"))
        else:
            slow, slower = (x.creep(BEGIN, END) for x in (whole, half))
            found.append(MeasuredQuantity("change of creep", name, slower - slow, 0.0, CREEP, "m/s"))
    return found


EXPERIMENT = Experiment(
    "halving", "Independence of the step",
    "Four trials of other experiments are repeated with half the step. Stopping distance, lift, penetration and creep "
    "are properties of the law and of the block, so they must not depend on the step beyond a first-order error.",
    "convergence; Hairer, Nørsett and Wanner", "h v / 4 and 1 mm of the distance, 1 mm of lift, 10 µm, 10 µm/s",
    {**TRIALS, **{name + HALVED: replace(trial, finer=2) for name, trial in TRIALS.items()}}, measure,
)  # fmt: skip
