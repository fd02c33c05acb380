"""Mechanics of a case for tests: its compiled data at a state, random states, rates along its kinematics."""

import numpy as np

from workbench.events.simulation import EventRun
from workbench.mechanics.core import Core


def scaled(case):
    """Every parameter changed by up to a fifth, so that none hides behind a default of one."""
    rng = np.random.default_rng(0)
    return case.with_parameters(**{name: value * rng.uniform(0.8, 1.2) for name, value, *_ in case.parameter_table()})


def filled(case, q, v):
    """The compiled mechanics' data, from rubbish where a case has to write, so that an entry left unwritten shows."""
    core = Core(case.size, 1e-3, 0.0, case.v_th)
    for name in ("M", "f", "J_b", "g", "J_n", "phi", "J_t", "mu", "heading"):
        getattr(core, name)[:] = 7.0
    core.frame[:] = 0.0
    case.fill(q, v, case.data(), core)
    return core


def moved(case, q, v, h):
    end = np.empty_like(q)
    case.advance(q, v, h, case.data(), end)
    return end


def states(case, seed, count=20):
    """Random velocities, and coordinates that random motions from the start lead to."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q, v = case.start()
        for _ in range(3):
            q = moved(case, q, rng.uniform(-3, 3, v.size), 0.1)
        yield q, rng.uniform(-5, 5, v.size)


def rate(case, function, q, v, h=1e-4):
    """d/dt function(q) along v, by central differences of second order in h, extrapolated to fourth."""
    near, far = ((function(moved(case, q, v, x)) - function(moved(case, q, v, -x))) / (2 * x) for x in (h, 2 * h))
    return (4 * near - far) / 3


def failing(truths):
    return {t.name for t in truths if not t.holds}


def energy_error(r: EventRun) -> float:
    """Return the energy at the end of an event-driven motion, plus the dissipation of friction and impacts, less the
    energy at the start [J]; zero for cases whose energy accounts for all other forces."""
    start, end = r.state(0.0), r.end
    gained = float(r.case.energy(end.q, end.v)) - float(r.case.energy(start.q, start.v))
    return gained + r.friction_work + r.impact_loss
