"""Sliding looked at away from the start of a case: states of one's own, moments of a run, directions of slip."""

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.cases import CASES
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.sphere import Sphere
from workbench.builtin.cases.wheel import Wheel
from workbench.diagnostics.painleve_map import NAMES, axis, regime_map
from workbench.step.sliding.state import SlidingState, sliding_system
from workbench.support.errors import DataError


def row(system):
    """The force per newton of friction, as it enters the dynamics."""
    return (system.xi_u[:, None] * system.J_tu)[0]


def test_a_direction_of_slip_is_that_of_a_velocity_in_this_direction():
    for case in (Block(), Sphere()):
        q, v = case.start()
        for angle in (0.0, 30.0, 135.0, 200.0, -90.0, 300.0, 720.0 + 45.0):
            along = np.radians(angle)
            moving = np.zeros_like(v)
            moving[:2] = np.cos(along), np.sin(along)
            given, said = (
                sliding_system(case, SlidingState(q, moving)),
                sliding_system(case, SlidingState(q, 0 * v, slip=(angle,))),
            )
            np.testing.assert_allclose(row(said), row(given), atol=1e-14)
            assert said.mu_u == given.mu_u
    for xi, angle in ((1.0, 0.0), (-1.0, 180.0), (-1.0, -180.0)):
        case = Rod(speed=xi * 2.0)
        np.testing.assert_allclose(
            row(sliding_system(case, SlidingState(slip=(angle,)))), row(sliding_system(case)), atol=1e-15
        )


def test_a_moment_of_the_run_is_its_state():
    # The block slides straight and slows down by mu g.
    case = Block()
    _, v = case.start()
    there = wb.painleve(case, at=0.1)
    found, u = there.state, there.contacts.contacts.u_t
    speed, slower = np.linalg.norm(v), np.linalg.norm(v) - 0.1 * case.mu * case.gravity
    assert slower > case.v_th
    np.testing.assert_allclose(np.linalg.norm(u), slower, rtol=1e-9)
    np.testing.assert_allclose(there.data["state"]["v"], slower * v / speed, atol=1e-9)
    np.testing.assert_allclose(found.system.J_tu[0], v / speed, atol=1e-9)
    np.testing.assert_allclose(found.regime.answers[0].acceleration, -case.mu * case.gravity * v / speed, atol=1e-6)
    # At rest in the end, it has no direction of slip of its own.
    assert wb.painleve(case, at=case.duration).state is None
    with pytest.raises(DataError, match=r"does not slide.*slip ANGLE.*v=.*at T"):
        sliding_system(case, SlidingState(v=np.zeros(3)))
    # In flight, and on the floor.
    with pytest.raises(DataError, match="no contact is closed"):
        wb.painleve("particle", at=0.3)
    assert wb.painleve("particle", at=0.5).state.regime.name == "sliding"
    with pytest.raises(wb.WorkbenchError, match="the time was over"):
        wb.painleve("tippe-top", at=3.0, seconds=1e-6)


def test_every_case_can_be_put_into_a_state_that_slides():
    moments = {"particle": 0.5, "spatial-particle": 0.9}
    for kind in CASES:
        case = kind()
        if kind.name in moments:
            system = wb.painleve(case, at=moments[kind.name]).state.system
        elif kind.name == "bouncing-ball":
            q, v = case.start()
            q[2], v[2] = case.R, 0.0
            system = wb.painleve(case, q=q, v=v).state.system
        else:
            system = sliding_system(case, SlidingState(slip=(0.0,)))
        assert system.m_u >= 1


def test_a_map_over_the_direction_of_slip():
    case = Wheel()
    slip, mu = axis(case, "slip", np.linspace(0.0, 330.0, 12)), axis(case, "mu", np.linspace(0.1, 8.0, 8))
    m = regime_map(case, slip, mu)
    assert m.friction == "y"
    assert len(m.shares()) == 2
    for i, angle in enumerate(slip.values):
        system = sliding_system(case, SlidingState(slip=(angle,)))
        a = system.inverse
        against = a.tu.item() / a.nu.item()
        assert m.critical[i] == (pytest.approx(1 / against) if against > 0 else np.inf)
        here = wb.painleve(case, {"mu": mu.values[6]}, slip=angle).state
        assert NAMES[m.cells.regime[i, 6]] == here.regime.name
        assert m.cells.p_matrix[i, 6] == (here.property_p == "P")
