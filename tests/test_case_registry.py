"""Every registered case: its mechanics against its energy and its gaps, its truths, all formulations on it."""

from dataclasses import fields

import numpy as np
import pytest

from tests import mechanics
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.figures.drawing import drawing
from workbench.language.assemble.find import compiled
from workbench.problems.solution import Status
from workbench.step.simulation import simulate
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

EVERY_CASE = pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
DRIVEN = {"sheath", "off-axis", "wedged-box", "gripper", "pinched-capsule", "pushed-box", "table", "three-bodies"}
"""Cases whose energy changes by more than contact forces: driven bodies and applied loads."""


@EVERY_CASE
def test_the_mass_matrix_is_spd_and_the_hessian_of_the_energy(kind):
    case = mechanics.scaled(kind())
    for q, v in mechanics.states(case, 1):
        M = mechanics.filled(case, q, v).M
        np.testing.assert_array_equal(M, M.T)
        np.linalg.cholesky(M)
        axes = np.eye(v.size)
        E_0, E = case.energy(q, 0 * v), [case.energy(q, x) for x in axes]
        hessian = [[case.energy(q, x + y) - E[j] - E[k] + E_0 for k, y in enumerate(axes)] for j, x in enumerate(axes)]
        np.testing.assert_allclose(M, hessian, rtol=1e-12, atol=1e-13 * (1 + abs(E_0)))


@EVERY_CASE
def test_motion_without_contact_keeps_the_energy_and_contact_forces_do_their_work(kind):
    case = mechanics.scaled(kind())
    if case.name in DRIVEN:
        pytest.skip("driven")
    rng = np.random.default_rng(2)
    for q, v in mechanics.states(case, 3):
        core = mechanics.filled(case, q, v)
        J = np.vstack([core.J_n, core.J_t])
        for force in (np.zeros(len(J)), rng.uniform(-5, 5, len(J))):
            a = np.linalg.solve(core.M, core.f + J.T @ force)
            # dE/dq along v, and dE/dv along a, where dE/dv = M v since M is the energy's Hessian.
            power = mechanics.rate(case, lambda x, v=v: case.energy(x, v), q, v) + v @ core.M @ a
            assert power == pytest.approx(force @ J @ v, abs=1e-8 * (np.abs(core.f) @ np.abs(v) + 1))


@EVERY_CASE
def test_energy_and_centre_take_whole_trajectories(kind):
    case = kind()
    r = run(case, "coulomb", 1e-2, 20)
    q, v = r.states_q, r.states_v
    singly = [case.energy(*state) for state in zip(q, v, strict=True)]
    np.testing.assert_allclose(case.energy(q, v), singly, rtol=1e-14)
    np.testing.assert_array_equal(case.centre(q), [case.centre(x) for x in q])
    assert case.centre(q).shape == (r.steps + 1, 3)


@EVERY_CASE
def test_every_parameter_has_a_unit_and_a_meaning_and_refuses_what_it_cannot_be(kind):
    case = kind()
    table = case.parameter_table()
    assert [row[0] for row in table] == [f.name for f in fields(case)]
    np.testing.assert_array_equal(case.data(), [row[1] for row in table])
    for f, (name, _, unit, meaning) in zip(fields(case), table, strict=True):
        assert all((unit.strip(), meaning.strip()))
        wrong = {"positive": [0.0, -1.0], "nonnegative": [-1e-9], "any": []}[f.metadata["sign"]]
        for value in [*wrong, np.nan, np.inf]:
            with pytest.raises(DataError, match=f"{case.name}: {name} = "):
                case.with_parameters(**{name: value})


@EVERY_CASE
def test_every_velocity_has_a_name_a_unit_and_a_meaning(kind):
    velocities = kind.velocities
    assert velocities
    assert kind.size[0] % len(velocities) == 0
    assert all(meaning for _, meaning in velocities.values())
    assert {unit for unit, _ in velocities.values()} <= {"m/s", "rad/s"}


@EVERY_CASE
def test_the_normal_rows_are_the_rates_of_the_gaps(kind):
    case = mechanics.scaled(kind())
    for q, v in mechanics.states(case, 5, 5):
        core = mechanics.filled(case, q, v)
        gap_rate = mechanics.rate(case, lambda x, v=v: mechanics.filled(case, x, v).phi, q, v)
        np.testing.assert_allclose(core.J_n @ v + core.r_n, gap_rate, rtol=0, atol=1e-8)


@EVERY_CASE
def test_the_bilateral_rows_are_the_rates_of_the_position_errors(kind):
    case = mechanics.scaled(kind())
    if not case.size[1]:
        pytest.skip("no bilateral constraints")
    for q, v in mechanics.states(case, 8, 5):
        core = mechanics.filled(case, q, v)
        error_rate = mechanics.rate(case, lambda x, v=v: mechanics.filled(case, x, v).g, q, v)
        np.testing.assert_allclose(core.J_b @ v + core.r_b, error_rate, rtol=0, atol=1e-8)


@EVERY_CASE
def test_the_truths_hold_for_exact_coulomb(kind):
    case = kind()
    truths = case.truths(run(case, "coulomb", 1e-3))
    assert (truths != [], mechanics.failing(truths)) == (True, set())
    assert all(t.name and t.unit and t.source and 0 < t.tolerance < np.inf for t in truths)


@EVERY_CASE
def test_the_sketch_can_be_drawn(kind):
    assert drawing(kind().sketch(), kind.name).startswith("<svg")


@pytest.mark.share(12)
@EVERY_CASE
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: f.name)
def test_every_formulation_is_solved_or_refused_with_the_way_out(kind, formulation):
    """Refused only where redundant contacts leave what the formulation eliminates undetermined; iterations may not
    settle, and then say so."""
    case = kind()
    r = run(case, formulation.label, 1e-3, 100, check=False)
    if r.status is Status.SINGULAR:
        assert "constraint relaxation" in r.reason
        assert formulation.name in ("discrete-velocity", "phantom-inertia")
    elif r.status is Status.NO_FIXED_POINT:
        # Springs of 1e6 N/m under a sleeve of 0.3 g: Newton's passes go to and fro where a contact opens.
        assert formulation.name == "staggered" or (case.name, formulation.name) == ("woodpecker", "hunt-crossley")
    elif r.status is Status.INACCURATE:
        # A mass ratio of 1e6 leaves the hybrid's bounds, one contact's impulse in another's rounding, no better.
        assert (case.name, formulation.name) == ("stacked-cubes", "hybrid")
        assert r.residuals.max() <= 1e-7
    else:
        assert (r.status, r.steps) == (Status.SOLVED, r.steps_wanted), r.reason
        assert r.residuals.max() <= r.tolerance


def run(case, label, h, steps=None, check=True):
    """A run of the case's own normal law and relaxation with the round-off solver; verified by its own residuals."""
    formulation = find_formulation(label)
    solver = default_solver(compiled(formulation, *case.size).kind)
    duration = case.duration if steps is None else min(case.duration, steps * h)
    r = simulate(case, formulation, solver, h, duration)
    if check:
        assert r.steps == r.steps_wanted, r.reason
        assert r.residuals.max() <= r.tolerance
    return r
