"""MuJoCo's soft contact: the engine's own numbers, depth at rest, sliding, creep, and what the options do."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.systems import impedance
from workbench.algorithms import find_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.particle import Particle
from workbench.builtin.cases.sphere import Sphere
from workbench.builtin.formulations import FORMULATIONS
from workbench.language.formulation import Formulation
from workbench.mechanics.contact import ContactSolution, ContactSystem
from workbench.problems.solution import Status
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.support.errors import ModellingError

MUJOCO = next(f for f in FORMULATIONS if f.name == "mujoco")
EXACT = find_solver("ccp-exact")
G = 9.81

ENGINE = [
    (0.001, 0.609, -0.001426, (0.33, -1.303, 0.272), (2.232, -2.685, 2.906), (0.02, 1.0, 0.9, 0.95, 0.001, 1.0),
     (0.32364867534332853, -1.275496044549113, 0.31257123867666886)),
    (0.005, 0.64, -4.1e-05, (0.028, 0.547, -0.221), (-0.815, -2.411, 2.994), (0.02, 1.0, 0.9, 0.95, 0.001, 10.0),
     (0.019559927459359513, 0.39886471081275265, -0.04029633139811631)),
    (0.02, 0.307, -0.000605, (-0.782, -0.257, 0.002), (-1.378, 6.47, 5.034), (0.05, 0.7, 0.9, 0.95, 0.001, 1.0),
     (-0.7021882143549683, -0.17117890697700977, 0.16866578602287022)),
    (0.001, 0.969, -0.001087, (-0.175, -0.422, 0.064), (1.087, 10.589, -5.56), (0.05, 0.7, 0.9, 0.95, 0.001, 10.0),
     (-0.16872399744579, -0.4062281942929028, 0.06373508912578409)),
    (0.005, 0.821, -0.00092, (0.647, 0.663, -0.154), (-8.24, 0.837, 0.545), (0.02, 1.0, 0.5, 0.99, 0.003, 1.0),
     (0.5275393443591909, 0.5562952323522553, -0.02263228004031778)),
    (0.02, 0.882, -0.000889, (-0.072, -0.945, -0.029), (0.477, 0.178, -2.531), (0.02, 1.0, 0.5, 0.99, 0.003, 10.0),
     (-0.04004787115604113, -0.5621247572956225, 0.1826684736603685)),
    (0.001, 0.856, -0.001025, (0.321, -0.818, 0.219), (-2.507, 4.396, -5.359), (0.05, 0.7, 0.5, 0.99, 0.003, 1.0),
     (0.31625357668589793, -0.8066040124219414, 0.21800451448300354)),
    (0.005, 0.889, -0.001315, (-1.249, -0.314, 0.016), (1.364, -4.911, -5.537), (0.05, 0.7, 0.5, 0.99, 0.003, 10.0),
     (-1.1355979702342962, -0.2928212660387919, 0.08242996861600761)),
]  # fmt: skip
"""One step of MuJoCo 4.0.0 (elliptic cone, Newton, tolerance 0, Euler): a sphere of 2 kg on three slide joints, so that
its approximate diagonal of A is exact, on a plane. (h, mu, phi, v, force beside gravity, `SOFTNESS`, v+)."""
SOFTNESS = "timeconst", "dampratio", "dmin", "dmax", "width", "impratio"


def particle(h: float, mu: float, phi: float, v, force=(0.0, 0.0, 0.0)) -> ContactSystem:
    """2 kg on the floor, under gravity and a force [N]."""
    axes = np.eye(3)
    return ContactSystem(2 * axes, v, np.add(force, [0, 0, -2 * G]), h, axes[2:], axes[:2], mu, phi=phi)


def step(f: Formulation, system: ContactSystem) -> ContactSolution:
    answer, solution = solve_system(f, system, EXACT)
    assert solution.claimed is Status.SOLVED
    assert solution.verified
    return answer


@pytest.mark.parametrize("row", ENGINE)
def test_a_step_is_the_engine_s(row):
    h, mu, phi, v, force, options, expected = row
    f = MUJOCO.with_options(**dict(zip(SOFTNESS, options, strict=True)))
    np.testing.assert_allclose(step(f, particle(h, mu, phi, v, force)).v, expected, rtol=0, atol=1e-12)


def depth_at_rest(o: dict) -> float:
    """R m g + k d phi = 0, R = (1 - d)/(d m) and k = 1/(dmax timeconst dampratio)^2, for the depth -phi [m]."""
    s = (o["dmax"] * o["timeconst"] * o["dampratio"]) ** 2
    return brentq(lambda x: x - (1 - (d := impedance(o, x))) / d**2 * G * s, 0.0, 1.0, xtol=1e-18)


OPTIONS = [{}, dict(timeconst=0.05), dict(dampratio=1.5), dict(dmin=0.6, width=0.01), dict(dmin=0.8, dmax=0.8)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_particle_on_the_floor_sinks_to_the_depth_where_spring_and_compliance_carry_it(options):
    f = MUJOCO.with_options(**options)
    depth = depth_at_rest(f.options)
    run = simulate(Particle(height=0.01, speed=0.0, climb=0.0), f, EXACT, 1e-3, 3.0)
    assert run.states_q[-1, 1] == pytest.approx(-depth, rel=1e-9)
    np.testing.assert_allclose(run.states_v[-1], 0.0, atol=1e-9)
    assert run.p_n[-1, 0] == pytest.approx(G * 1e-3, rel=1e-9)


def test_the_depth_at_rest_of_a_constant_impedance_is_the_documentation_s():
    """r = a (1 - d) timeconst^2 dampratio^2: there a particle stays."""
    for d, timeconst, dampratio in ((0.5, 0.02, 1.0), (0.9, 0.04, 2.0), (0.99, 0.1, 0.3)):
        f = MUJOCO.with_options(dmin=d, dmax=d, timeconst=timeconst, dampratio=dampratio)
        depth = G * (1 - d) * timeconst**2 * dampratio**2
        assert depth_at_rest(f.options) == pytest.approx(depth, rel=1e-12)
        np.testing.assert_allclose(step(f, particle(0.01, 0.5, -depth, np.zeros(3))).v, 0.0, atol=1e-15)


@pytest.mark.parametrize("h", [1e-3, 5e-4])
def test_a_sliding_block_hops_and_loses_mu_g_of_its_speed_on_average(h):
    """Friction is mu p_n wherever it slides, and p_n is m (g t + change of the vertical velocity)."""
    case = Block(direction=20.0)
    run = simulate(case, MUJOCO, EXACT, h)
    speed = np.linalg.norm(run.states_v[:, :2], axis=1)
    t = h * np.arange(len(speed))
    slides = speed > 0.5
    kept = speed + case.mu * (case.gravity * t + run.states_v[:, 2])
    np.testing.assert_allclose(kept[slides], case.speed, rtol=0, atol=1e-12)
    # The associated flow throws it up, by less than a millimetre; it is open in most steps, and yet mu g on average.
    height = run.states_q[:, 2] - 0.5 * case.height
    assert 0 < height.max() < 1e-3
    assert (run.p_n == 0)[slides[:-1]].mean() > 0.5
    assert np.polyfit(t[slides], speed[slides], 1)[0] == pytest.approx(-case.mu * case.gravity, rel=0.02)


@pytest.mark.parametrize("options", [{}, dict(impratio=10.0), dict(timeconst=0.05, dmin=0.8)], ids=str)
def test_a_stuck_particle_creeps_under_a_load(options):
    """u+ = u and p_t = -h F give h b u = R_t h F: the speed R_t F / b, with R_t = (1 - d)/(d m impratio)."""
    f, h, load = MUJOCO.with_options(**options), 0.01, np.array([3.0, -4.0])
    o = f.options
    depth = depth_at_rest(o)
    d = impedance(o, depth)
    creep = (1 - d) / (d * 2.0 * o["impratio"]) * load * o["dmax"] * o["timeconst"] / 2
    v, z = np.zeros(3), 0.0
    for _ in range(200):
        v = step(f, particle(h, 0.8, min(z, 0.0), v, (*load, 0.0))).v
        z += h * v[2]
    np.testing.assert_allclose(v, [*creep, 0.0], rtol=0, atol=1e-10)
    assert z == pytest.approx(-depth, rel=1e-8)


def test_a_sphere_keeps_its_angular_momentum_about_the_floor_and_ends_up_rolling():
    case = Sphere()
    run = simulate(case, MUJOCO, EXACT, 1e-3, 3.0)
    speed = np.linalg.norm(run.states_v[-1, :2])
    assert run.status is Status.SOLVED
    assert speed == pytest.approx(5 / 7 * case.speed, rel=1e-9)


def test_an_open_contact_exerts_nothing_and_a_touching_one_does():
    free = particle(0.01, 0.5, 1e-9, (1.0, 0.0, -1.0))
    answer = step(MUJOCO, free)
    np.testing.assert_array_equal([*answer.p_n, *answer.p_t], 0.0)
    np.testing.assert_allclose(answer.v, [1.0, 0.0, -1.0 - 0.01 * G], rtol=0, atol=1e-15)
    assert step(MUJOCO, replace(free, phi=0.0)).p_n[0] > 0.1


def test_the_run_s_normal_law_and_restitution_give_way_to_the_spring_and_damper():
    system = particle(0.01, 0.5, -1e-4, (1.0, 0.0, -1.0))
    v = step(MUJOCO, system).v
    np.testing.assert_array_equal(step(MUJOCO, replace(system, normal="gap", e=0.7)).v, v)


def test_a_moving_floor_is_a_moving_frame():
    """r_n, r_t are rates of the floor: only the relative velocity counts."""
    system, away = particle(0.01, 0.5, -1e-4, (1.0, 0.2, -1.0)), np.array([0.3, -0.4, 0.2])
    moving = replace(system, v=system.v + away, r_n=-away[2:], r_t=-away[:2])
    np.testing.assert_allclose(step(MUJOCO, moving).v, step(MUJOCO, system).v + away, rtol=0, atol=1e-14)


def test_a_time_constant_below_two_steps_is_raised_to_two_steps():
    system = particle(0.01, 0.5, -1e-4, (1.0, 0.0, -0.1))
    v = [step(MUJOCO.with_options(timeconst=t), system).v for t in (1e-4, 0.02, 0.021)]
    np.testing.assert_array_equal(v[0], v[1])
    assert np.abs(v[2] - v[1]).max() > 1e-6


@pytest.mark.parametrize(
    "wrong", [dict(timeconst=0.0), dict(dampratio=-1.0), dict(dmin=0.0), dict(dmax=1.0), dict(width=0.0),
              dict(impratio=float("inf"))], ids=str,
)  # fmt: skip
def test_options_outside_their_range_are_refused_in_one_line(wrong):
    (name,) = wrong
    with pytest.raises(ModellingError, match=rf"^{name}=[^\n]* is needed$"):
        MUJOCO.with_options(**wrong).declaration(3, 0, 1, 2)
