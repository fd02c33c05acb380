"""Constraint relaxation, Moreau's normal law and static friction, against their laws written out step by step."""

import numpy as np
import pytest

from tests.systems import SOFT
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.particle import Particle
from workbench.builtin.formulations import FORMULATIONS
from workbench.language.assemble.find import compiled
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.step.simulation import simulate
from workbench.support.errors import DataError, UnknownNameError
from workbench.verbs.find import find_formulation

RUBS = [f.name for f in FORMULATIONS if f.name not in {"frictionless", "staggered", "ipc", "gauss-seidel"} | SOFT]
"""Those whose friction is Coulomb's in some approximation, to whose rows the compliance is added, in one pass."""
G = 9.81


def run(case, label="coulomb", h=1e-3, duration=None, **options):
    f = find_formulation(label)
    r = simulate(case, f, default_solver(compiled(f, *case.size).kind), h, duration, **options)
    assert r.steps == r.steps_wanted, r.reason
    assert r.residuals.max() <= r.tolerance
    return r


def test_a_resting_body_sinks_until_its_springs_carry_it():
    case = Cube(speed=0.0, spin=0.0)
    r = run(case, duration=2.0, relaxation=Relaxation(k_n=2e4, b_n=2e3, k_t=1e6, b_t=1e3))
    np.testing.assert_allclose(r.record.phi[-1], -case.m * G / 4 / 2e4, rtol=1e-8)
    np.testing.assert_allclose(r.p_n[-1], case.m * G * r.h / 4, rtol=1e-9)


@pytest.mark.parametrize("label", ["coulomb", "stewart-trinkle", "phantom-inertia", "box"])
def test_a_closed_contact_is_a_spring_and_a_damper(label):
    k, b = 3e4, 5e2
    r = run(Block(), label, duration=0.2, relaxation=Relaxation(k_n=k, b_n=b))
    u = r.states_v[1:, 2]
    np.testing.assert_allclose(r.p_n[:, 0] / r.h, -k * (r.record.phi[:, 0] + r.h * u) - b * u, rtol=1e-9, atol=1e-9)
    # Nor does the normal law with the gap add to it.
    other = run(Block(), label, duration=0.2, relaxation=Relaxation(k_n=k, b_n=b), normal="velocity")
    np.testing.assert_allclose(other.states_v, r.states_v, atol=1e-12)


@pytest.mark.parametrize("label", RUBS)
def test_a_sticking_contact_is_a_bristle_under_every_formulation(label):
    """lambda+ = lambda - h k u+ - b (u+ - u), a block caught at the floor by its friction."""
    k, b = 4e3, 30.0
    case = Block(speed=0.005, mu=0.8)
    options = {"hybrid": ":bounds=iterated,k_t=inf", "box": ":bounds=iterated"}.get(label, "")
    r = run(case, label + options, duration=0.3, relaxation=Relaxation(k_t=k, b_t=b))
    u = r.states_v[:, :2]
    force = np.vstack([np.zeros(2), r.p_t[:, 0] / r.h])
    np.testing.assert_allclose(np.diff(force, axis=0), -r.h * k * u[1:] - b * np.diff(u, axis=0), atol=1e-8)
    # It starts unloaded at speed u_0, the damper of the bristle holding its spring at b u_0, and comes to rest there.
    assert np.linalg.norm(r.states_q[-1, :2]) == pytest.approx(b * case.speed / k, rel=0.05)


def test_what_is_relaxed_ever_less_becomes_rigid():
    rigid = run(Block(), duration=0.5)
    gaps = []
    for k in (1e7, 1e9):
        r = run(Block(), duration=0.5, relaxation=Relaxation(k_n=k, b_n=k / 100, k_t=k, b_t=k / 1000))
        gaps.append(np.abs(r.states_v - rigid.states_v).max())
    assert gaps[0] > 5 * gaps[1]
    assert gaps[1] < 1e-3


@pytest.mark.parametrize("label", RUBS)
def test_a_redundant_system_is_solved_under_every_formulation_with_equal_compliance(label):
    """Along an axis, where polygon and cone agree, weight and friction of the sliding cube are the same for all."""
    case = Cube(spin=0.0, mu=0.3)
    r = run(case, label, duration=0.2)
    if label == "ccp":
        # Associated flow lifts what slides: mu |u_t| = u_n, so that less weight presses and less friction slows.
        assert r.states_v[-1, 1] > 5 - 0.3 * G * 0.2
        return
    assert r.states_v[-1, 1] == pytest.approx(5 - 0.3 * G * 0.2, rel=1e-6)
    assert r.p_n[100:].sum(axis=1) / r.h == pytest.approx(case.m * G, rel=1e-4)


def test_the_lateral_term_turns_the_pyramid_to_the_sliding_direction_and_aligns_friction():
    angles = []
    for lateral in (0, 1):
        relaxation = Cube().relaxation.with_values(lateral=lateral)
        r = run(Cube(), "box:bounds=coupled", duration=0.2, relaxation=relaxation)
        pressed = (r.p_n > 1e-2 * G * r.h)[5:]
        p_t, u_t = r.p_t[5:][pressed], r.u_t[5:][pressed]
        cosine = -(p_t * u_t).sum(axis=-1) / np.linalg.norm(p_t, axis=-1) / np.linalg.norm(u_t, axis=-1)
        angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))).max())
    assert angles[0] > 20
    assert angles[1] < 1


@pytest.mark.parametrize(
    "values", [dict(k_n=-1.0), dict(k_t=np.nan), dict(b_n=np.inf), dict(k_b=0.0), dict(lateral=0.5)]
)
def test_relaxations_without_meaning_are_refused(values):
    with pytest.raises(DataError, match=next(iter(values))):
        Relaxation(**values)


def test_a_relaxation_is_named_as_the_command_line_takes_it():
    assert str(RIGID) == "rigid"
    assert str(RIGID.with_values(k_n=1e5, b_n=10)) == "k_n=100000,b_n=10"
    with pytest.raises(UnknownNameError, match="k_x"):
        RIGID.with_values(k_x=1.0)


def test_moreaus_law_lets_a_particle_fly_and_land_under_every_formulation():
    case = Particle()
    for f in FORMULATIONS:
        if f.name in SOFT | {"ccp"}:  # associated flow makes an oblique impact rebound at mu |u_t|
            continue
        r = run(case, f.name, normal="moreau", duration=0.6)
        flying = r.record.phi[:, 0] > 0
        assert not r.p_n[flying].any()
        assert not r.p_t[flying].any()
        assert flying[:100].all()
        fall = r.states_v[1:, 1][flying]
        np.testing.assert_allclose(fall, case.climb - G * r.h * np.arange(1, fall.size + 1), atol=1e-12)
        # It lands within one step's fall, and stays.
        assert r.record.phi.min() > -1.01 * abs(fall.min()) * r.h - 1e-3
        assert abs(r.states_v[-1, 1]) < 1e-12
