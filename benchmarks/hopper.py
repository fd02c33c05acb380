"""The hopper as `workbench flow` runs it: processor time, contacts and residuals of its steps, law by law.

    python -m benchmarks.hopper [--grains 1000] [--duration 1] [--step 1e-3] [--law coulomb ccp] [--tight 0]

mu = 0.5, the first start. A line for every tenth of the motion, as soon as it is made: processor seconds of a step, the
problems' own residual (`Problem.residual`), the share of steps that stay above the tolerance that is asked for, 1e-3,
and the sweeps. With `--tight K` the K steps after 0.6 of the motion are made once more, to 1e-6, on and on from each
other even where that is not reached.
"""

import argparse
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.provenance import one_line, provenance
from workbench.scenes.grains.measures import Watched
from workbench.scenes.run import run
from workbench.verbs.flow import TOLERANCE, planned

MU, WINDOWS = 0.5, 10
TIGHT, WHEN = 1e-6, 0.6


class Timed:
    """A stepper that notes what its steps take, and tells it window by window."""

    def __init__(self, stepper, tolerance, window):
        self.stepper, self.tolerance, self.window = stepper, tolerance, window
        self.label, self.solver, self.h = stepper.label, stepper.solver, stepper.h
        self.rows = []

    def begin(self):
        self.stepper.begin()

    def step(self, q, v, t):
        begun = time.process_time()
        x = self.stepper.step(q, v, t)
        self.rows.append((time.process_time() - begun, x.given.contacts, x.residual, x.iterations))
        if len(self.rows) % self.window == 0:
            self.tell(t + self.h)
        return x

    def tell(self, t):
        seconds, contacts, residual, sweeps = np.transpose(self.rows[-self.window :])
        print(
            f"to {t:.3f} s | {seconds.mean():.3f} s, {seconds.max():.2f} at most | {contacts.mean():.0f} contacts | "
            f"median {np.median(residual):.1e}, 9 of 10 {np.quantile(residual, 0.9):.1e}, worst {residual.max():.1e}, "
            f"above {self.tolerance:g} {np.mean(residual > self.tolerance):.0%} | {np.median(sweeps):.0f} sweeps",
            flush=True,
        )


def stepper_of(law, grains, h, tolerance):
    plan = planned("hopper", [law], values={"N": grains}, mu=[MU], steps=[h], seeds=1, tolerance=tolerance)
    scene = plan.case.with_parameters(mu=MU).scene()
    return scene, plan.stepper(scene, plan.formulations[0], h)


def measure(law, grains, duration, h, tight):
    steps = round(duration / h)
    scene, stepper = stepper_of(law, grains, h, TOLERANCE)
    # What is compiled and imported at the first step is no part of a motion.
    stepper.step(*scene.start(), 0.0)
    begun, clock = time.process_time(), time.perf_counter()
    timed = Timed(stepper, TOLERANCE, max(steps // WINDOWS, 1))
    track = run(scene, Watched(timed, scene, 0.5 * duration), steps)
    seconds, clock = time.process_time() - begun, time.perf_counter() - clock
    rest = seconds - sum(row[0] for row in timed.rows)
    print(
        f"{law}: {track.steps} steps of {h:g} s, {track.status.name} {track.reason}: {seconds:.1f} processor "
        f"seconds, {rest:.1f} of them besides the steps; {clock:.1f} s by the clock",
        flush=True,
    )
    if tight:
        k = round(WHEN * track.steps)
        scene, stepper = stepper_of(law, grains, h, TIGHT)
        timed, q, v = Timed(stepper, TIGHT, 1), track.q[k], track.v[k]
        for i in range(k, k + tight):
            x = timed.step(q, v, i * h)
            q, v = x.q, x.v


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--grains", type=int, default=1000)
    p.add_argument("--duration", type=float, default=1.0)
    p.add_argument("--step", type=float, default=1e-3)
    p.add_argument("--law", nargs="+", default=["coulomb", "ccp"])
    p.add_argument("--tight", type=int, default=0)
    o = p.parse_args()
    print(one_line(provenance()))
    for law in o.law:
        measure(law, o.grains, o.duration, o.step, o.tight)


if __name__ == "__main__":
    main()
