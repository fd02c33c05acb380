"""Painlevé's rod, pushed along the ground: below mu = 4/3 it slides, above, its tip catches and it turns over."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, TrialBody

HALF, TIP, SPEED, END = 0.5, 0.002, 3.0, 0.03
"""Half length of the rod, radius of its tip [m], initial speed [m/s], time of measurement [s]."""
LEAN = float(np.arctan(2.0))
"""The angle between rod and ground at which the critical friction coefficient is smallest, 4/3."""
X, Z = HALF * float(np.cos(LEAN)), HALF * float(np.sin(LEAN)) + TIP
"""Vector from the contact to the centre of mass, horizontal and vertical [m]."""
INERTIA = HALF**2 / 3
"""Moment of inertia of a thin rod of 1 kg [kg m2]."""
SLIDES, CATCHES = "mu = 1", "mu = 2"
ROD = TrialBody(
    "rod", 1.0, (1e-4, INERTIA, INERTIA), ((-HALF, 0.0, 0.0, TIP),), (), ((0.0, 0.0, 0.0, HALF, 0.01, 0.01),),
    (0.0, 0.0, Z), (float(np.cos(0.5 * LEAN)), 0.0, -float(np.sin(0.5 * LEAN)), 0.0), (-SPEED, 0.0, 0.0, 0.0, 0.0, 0.0),
)  # fmt: skip


def rates(mu: float, state: np.ndarray) -> np.ndarray:
    """d/dt of (lean, turning, speed) of the rod of 1 kg whose tip slides towards -x, or is held where mu is infinite.

    The tip stays on the ground: N (1 + x (x - mu z) / I) = g - (z - r) w^2, the torque is N (mu z - x).
    """
    lean, turning, _ = state
    x, z = HALF * np.cos(lean), HALF * np.sin(lean) + TIP
    if np.isinf(mu):
        rate = -9.81 * x / (INERTIA + HALF**2)
        return np.array([turning, rate, 0.0])
    push = (9.81 - (z - TIP) * turning**2) / (1 + x * (x - mu * z) / INERTIA)
    return np.array([turning, push * (mu * z - x) / INERTIA, mu * push])


def theory(mu: float) -> tuple[float, float]:
    """Angular velocity [rad/s] and horizontal speed of the tip [m/s] at END, by the fourth-order Runge-Kutta method."""
    caught = mu > 4 / 3
    # The angular momentum about a tip that catches is conserved.
    state = np.array([LEAN, Z * SPEED / (INERTIA + X * X + Z * Z) if caught else 0.0, -SPEED])
    steps = 100
    h, mu = END / steps, np.inf if caught else mu
    for _ in range(steps):
        a = rates(mu, state)
        b = rates(mu, state + 0.5 * h * a)
        c = rates(mu, state + 0.5 * h * b)
        d = rates(mu, state + h * c)
        state = state + h / 6 * (a + 2 * b + 2 * c + d)
    lean, turning, speed = state
    return float(turning), 0.0 if caught else float(speed + turning * (HALF * np.sin(lean) + TIP))


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        turning, slip = theory(record.trial.mu)
        v = record.speed(END)
        lean = record.position[record.at(END), 0, 2]
        found.append(MeasuredQuantity("turning", name, float(-v[4]), turning, 0.05 * turning, "rad/s"))
        found.append(MeasuredQuantity("speed of the tip", name, float(v[0] - v[4] * lean), slip, 0.05 * SPEED, "m/s"))
    return found


EXPERIMENT = Experiment(
    "painleve", "Painlevé's rod",
    "A rod leans by arctan 2 and is pushed at 3 m/s with its tip behind. Friction rotates it and presses the tip "
    "against the ground. With mu = 1 the normal force is 2.5 times the weight, and the tip keeps sliding. Above mu = "
    "4/3 no force is large enough: the tip stops at once (impact without collision), and the rod rotates about it with "
    "its angular momentum about the tip.",
    "Painlevé 1895; Génot and Brogliato, Eur. J. Mech. A 18 (1999)",
    "5 % of the rotation and of 3 m/s after 30 ms, which are six steps of 5 ms",
    {name: Trial((ROD,), mu, END, settling=0.0) for name, mu in ((SLIDES, 1.0), (CATCHES, 2.0))}, measure,
)  # fmt: skip
