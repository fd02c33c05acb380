"""Event-driven motions against examples that others publish: nosnoc's, and Siconos'."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from cases.woodpecker import LOWER, Woodpecker
from tests.mechanics import energy_error
from workbench.algorithms.escalation import default_solver
from workbench.events.simulation import simulate_events
from workbench.mechanics.case import Case
from workbench.step.run import Run
from workbench.step.simulation import simulate
from workbench.support.arrays import Array
from workbench.verbs.find import find_formulation

pytestmark = pytest.mark.thorough


@dataclass(frozen=True)
class Blocks(Case):
    """Three blocks in a row between springs and dampers, the last one driven, each pressed on the floor by 1 N.

    Stewart 1996, J. Austral. Math. Soc. Ser. B 37, 288-308, with the numbers of nosnoc's example of it. Coordinates are
    the places of the blocks, their heights, and the time.
    """

    name: ClassVar[str] = "blocks"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 3, 1)
    duration: ClassVar[float] = 5.0

    def start(self) -> tuple[Array, Array]:
        return np.array([-1.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0]), np.array([-1.0, 1.0, 1.0, 0.0, 0.0, 0.0])

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        K = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
        core.M[:], core.J_t[:], core.J_n[:] = np.eye(6), np.eye(6)[:3], np.eye(6)[3:]
        core.f[:3] = -K @ q[:3] - v[:3] + [0.0, 0.0, 10 * np.cos(np.pi * q[6])]
        core.f[3:], core.phi[:], core.mu[:] = -1.0, q[3:6], 0.3

    def advance(self, q: Array, v: Array, h: float, data: Array, q_next: Array) -> None:
        q_next[:6], q_next[6] = q[:6] + h * v, q[6] + h

    def centre(self, q: Array) -> Array:
        return q[..., :3]

    def energy(self, q: Array, v: Array) -> Array:
        return 0.5 * (v**2).sum(axis=-1)


SWITCHES = {
    0: [0.248685443, 2.256012225, 3.728993614],
    1: [0.207736371, 2.395885092, 3.717620191, 4.711122874],
    2: [0.918254723, 1.869399223, 2.853528712, 3.880610720, 4.879304838],
}
"""Times [s] at which nosnoc 0.2.0 (finite elements with switch detection, 4 stages of Radau IIA, 240 steps of 3
elements, complementarity tolerance 1e-9) has the velocity of each block of its example at zero."""


def test_stewarts_blocks_switch_where_nosnoc_finds_it():
    r = simulate_events(Blocks())
    assert r.reason == ""
    for block, times in SWITCHES.items():
        assert [e.t for e in r.events if e.contact == block] == pytest.approx(times, abs=3e-9)
    # The first block comes to rest and stays; the others turn round.
    assert [e.contact for e in r.events if e.what == "sticks"] == [0]
    assert {e.what for e in r.events} == {"sticks", "reverses"}


class Siconos(Woodpecker):
    """The start of Siconos' example: rounded to four digits, the sleeve's edge is 0.9 um within the pole."""

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, -0.1036, -0.2788]), np.array([-0.3411, 4.8572e-15, -7.4583])


STRIKES = [0.07792, 0.08104, 0.08162, 0.11882, 0.12152, 0.22400, 0.22710, 0.22768, 0.26482, 0.26752]
"""Ends [s] of the steps with an impact in Siconos' published result of this example, 2e-5 s each."""
STATES = {
    0.06: ((-0.004407447581, -0.1036, -0.226943999353), (0.0, 0.0, 17.630261478709)),
    0.1: ((-0.007080097509, 0.021319228250, 0.008269873864), (-0.076034965106, -4.074657747636, -5.856867881263)),
    0.2: ((-0.023883450407, -0.103454261228, -0.330947978855), (0.0, 0.0, 16.460752159542)),
    0.29998: ((-0.041348186768, -0.103468468272, -0.340933975504), (-0.260137331, 0.0, -8.327555353239)),
}
"""Coordinates and velocities there at some times [s]."""


def stepped(case: Case, h: float, duration: float) -> Run:
    solver = default_solver("Coulomb NCP")
    return simulate(case, find_formulation("coulomb"), solver, h, duration, scheme="moreau-jean")


def strikes(r: Run) -> list[float]:
    """Ends of the steps in which velocities jump."""
    jumps = (np.abs(np.diff(r.states_v, axis=0)) / [0.02, 1.0, 0.5]).max(axis=1) > 1
    return list(r.h * (np.flatnonzero(jumps) + 1))


def test_the_woodpecker_strikes_in_the_steps_of_siconos():
    """The same scheme and step: springs are implicit there, which makes a difference of second order."""
    r = stepped(Siconos(), 2e-5, 0.3)
    assert strikes(r) == pytest.approx(STRIKES, abs=1.01 * r.h)
    for t, (q, v) in STATES.items():
        k = round(t / r.h)
        assert r.states_q[k] == pytest.approx(q, abs=3e-5)
        assert r.states_v[k] == pytest.approx(v, abs=6e-4)


def test_that_time_stepping_converges_to_the_event_driven_motion():
    case, h = Woodpecker(), 1e-5
    exact = simulate_events(case, 0.13)
    coarse, fine = stepped(case, h, 0.13), stepped(case, h / 4, 0.13)
    # Sliding, stuck, and open, and not yet struck: of second order.
    apart = [float(np.abs(r.states_v[round(0.07 / r.h)] - exact.state(0.07).v).max()) for r in (coarse, fine)]
    assert apart[0] < 3e-5
    assert apart[0] / apart[1] == pytest.approx(16, rel=0.3)
    # After five impacts: of first.
    for r in (coarse, fine):
        assert np.abs(r.states_v[-1] - exact.end.v).max() < 2e3 * r.h
        assert strikes(r) == pytest.approx([e.t for e in exact.events if e.what == "touches down"], abs=1e-4)


def test_the_woodpecker_jams_and_slides_in_turn():
    """Events of one cycle, and the motion of the linear equations while the lower edge slides."""
    case = Woodpecker()
    r = simulate_events(case)
    assert [(e.contact, e.what) for e in r.events][:9] == [
        (1, "sticks"), (1, "slips"), (1, "lifts off"), (2, "touches down"), (0, "touches down"),
        (2, "touches down"), (2, "lifts off"), (1, "touches down"), (1, "touches down"),
    ]  # fmt: skip
    slides = r.state(0.02)
    assert (slides.q[2], slides.v[2]) == pytest.approx(case.sliding(0.02), abs=1e-12)
    assert r.modes()[lambda m: m["contact"] == LOWER]["mode"].tolist()[:4] == ["slip", "stick", "slip", "open"]
    assert abs(energy_error(r)) < 1e-15
