"""Formulations of today's engines: what their sources derive of them in closed form, and their limits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.systems import particle, random_system
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.gripper import Gripper
from workbench.builtin.cases.particle import Particle
from workbench.builtin.cases.stacked_cubes import StackedCubes
from workbench.language.assemble.find import compiled
from workbench.mechanics.contact import ContactSolution, ContactSystem
from workbench.problems.solution import Status
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.support.errors import ModellingError
from workbench.verbs.find import find_formulation

G, M, H = 9.81, 2.0, 0.01


def solved(label: str, system: ContactSystem) -> ContactSolution:
    f = find_formulation(label)
    answer, solution = solve_system(f, system, default_solver(compiled(f, *system.size).kind))
    assert solution.claimed is Status.SOLVED, solution.reason
    assert solution.verified
    return answer


def stepped(label: str, case, h: float, duration: float, **options):
    f = find_formulation(label)
    run = simulate(case, f, default_solver(compiled(f, *case.size).kind), h, duration, **options)
    assert run.steps == run.steps_wanted, run.reason
    return run


def on_belt(mu: float, phi: float, belt: float, push: float, h: float = H) -> ContactSystem:
    """2 kg at rest on a belt that makes it slide at `belt` [m/s] along x, pushed along x by a force [N]."""
    axes = np.eye(3)
    return ContactSystem(M * axes, np.zeros(3), [push, 0, -M * G], h, axes[2:], axes[:2], mu, phi=phi, r_t=[belt, 0.0])


def assert_rests(label: str, system: ContactSystem) -> ContactSolution:
    """The state is a stationary one: v+ = v = 0."""
    answer = solved(label, system)
    np.testing.assert_allclose(answer.v, 0.0, atol=1e-12)
    assert answer.p_n.sum() == pytest.approx(M * G * system.h, rel=1e-9)
    return answer


# SAP

W_PARTICLE = np.sqrt(3) / (3 * M)


@pytest.mark.parametrize("slip", [1.5, 0.3])
def test_sap_takes_the_projection_s_region_when_a_particle_meets_the_floor(slip):
    mu, m_inverse = 0.5, 1 / M
    R_n, R_t = W_PARTICLE / (4 * np.pi**2), 1e-3 * W_PARTICLE
    answer = solved("sap", particle((slip, 0.0), mu))
    if slip == 0.3:
        expected = [1 / (m_inverse + R_n), -slip / (m_inverse + R_t)]
    else:
        p_n = (1 + mu * slip) / (m_inverse + R_n + mu**2 * (m_inverse + R_t))
        expected = [p_n, -mu * p_n]
    np.testing.assert_allclose([answer.p_n[0], answer.p_t[0]], expected, rtol=1e-12)


@pytest.mark.parametrize("options", ["", ":stiffness=1e4", ":stiffness=1e4,tau_d=0.02", ":stiffness=inf,beta=2"])
def test_what_slides_under_sap_rides_higher_by_mu_times_its_slip(options):
    """phi = (h + tau_d) (mu (|u_t| - R_t mu p_n) - R_n p_n): gliding, of the paper's section on its approximations."""
    o = find_formulation("sap" + options).options
    mu, slip, p_n = 0.4, 1e-3, M * G * H
    R_n = max(o["beta"] ** 2 / (4 * np.pi**2) * W_PARTICLE, 1 / (H * o["stiffness"] * (H + o["tau_d"])))
    R_t = o["sigma"] * W_PARTICLE
    phi = (H + o["tau_d"]) * (mu * (slip - R_t * mu * p_n) - R_n * p_n)
    answer = assert_rests("sap" + options, on_belt(mu, phi, slip, mu * M * G))
    assert answer.p_t[0] == pytest.approx(-mu * p_n, rel=1e-9)


def test_what_sap_holds_creeps_at_sigma_times_its_mobility():
    push = 3.0
    for sigma in (1e-3, 1e-4):
        R_n = max(W_PARTICLE / (4 * np.pi**2), 1 / (H * 1e6 * (H + 0.1)))
        creep = sigma * W_PARTICLE * push * H
        system = on_belt(0.8, -(H + 0.1) * R_n * M * G * H, creep, push)
        assert_rests(f"sap:sigma={sigma}", system)


def test_sap_tends_to_the_ccp_as_its_compliance_vanishes():
    apart = []
    for beta in (1e-1, 1e-2, 1e-3):
        found = []
        for seed in range(3):
            s = random_system(seed, r=2, d=2, mu=(0.1, 0.5), normal="gap", e=0.0)
            s = replace(s, phi=-np.abs(s.phi))
            f = f"sap:stiffness=inf,tau_d=0,beta={beta},sigma={beta**2}"
            found.append(np.abs(solved(f, s).v - solved("ccp", s).v).max())
        apart.append(max(found))
    assert apart[0] > 50 * apart[1] > 50 * 50 * apart[2] > 0


# MuJoCo's pyramid


@pytest.mark.parametrize(("yaw", "share"), [(0.0, 1.0), (45.0, np.sqrt(0.5)), (90.0, 1.0)])
def test_the_pyramid_brakes_a_block_by_its_edge_along_the_axes_and_by_its_face_between_them(yaw, share):
    case = Block(direction=yaw)
    run = stepped("mujoco-pyramid", case, 1e-3, 0.5)
    speed, t = np.linalg.norm(run.states_v[:, :2], axis=1), run.h * np.arange(501)
    # Whatever it hops, friction is that share of mu p_n, and p_n is m (g t + change of the vertical velocity).
    slides = speed > 0.2
    kept = speed + share * case.mu * (case.gravity * t + run.states_v[:, 2])
    np.testing.assert_allclose(kept[slides], case.speed, rtol=1e-9)


def test_the_pyramid_is_as_soft_across_as_the_cone():
    """Creep R_t F / b of what is held: that of the cone, times A_e / A_nn = 1 + mu^2 for a particle."""
    mu, push, creeps = 0.6, 2.0, []
    for label in ("mujoco", "mujoco-pyramid"):
        z, v = 0.0, np.zeros(3)
        for _ in range(150):
            axes = np.eye(3)
            s = ContactSystem(M * axes, v, [push, 0, -M * G], H, axes[2:], axes[:2], mu, phi=min(z, 0.0))
            v = solved(label + ":dmin=0.9,dmax=0.9", s).v
            z += H * v[2]
        creeps.append(v[0])
    assert creeps[1] / creeps[0] == pytest.approx(1 + mu**2, rel=1e-6)


# MuJoCo's noslip


@pytest.mark.thorough
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_what_noslip_holds_does_not_creep(cone):
    """At the depth where the spring carries the weight; without sweeps the load slips at once."""
    d, push = 0.9, 2.0
    soft = {"elliptic": "mujoco", "pyramidal": "mujoco-pyramid"}[cone] + f":dmin={d},dmax={d}"
    mu, z, v = 0.6, 0.0, np.zeros(3)
    for _ in range(300):
        v = solved(soft, replace(on_belt(mu, min(z, 0.0), 0.0, push), v=v)).v
        z += H * v[2]
    held = replace(on_belt(mu, z, 0.0, push), v=np.zeros(3))
    assert solved(soft, held).v[0] > 1e-3
    assert_rests(f"mujoco-noslip:cone={cone},dmin={d},dmax={d},sweeps=1", held)


def test_noslip_changes_friction_alone_and_within_its_bound():
    changed = []
    for seed in range(4):
        s = random_system(seed, r=3, d=2, mu=(0.5, 2.0), normal="gap", e=0.0)
        s = replace(s, phi=-np.abs(s.phi))
        soft, swept = (solved(f, s) for f in ("mujoco", "mujoco-noslip:sweeps=5"))
        np.testing.assert_allclose(swept.p_n, soft.p_n, rtol=0, atol=1e-12 * soft.p_n.max())
        changed.append(np.abs(swept.p_t - soft.p_t).max())
        size = np.linalg.norm(swept.p_t.reshape(3, 2), axis=1)
        assert (size <= s.mu * swept.p_n * (1 + 1e-12)).all()
    assert max(changed) > 1e-2


# Genesis


@pytest.mark.parametrize("slip", [0.2, 3.0, 30.0])
def test_under_genesis_the_floor_pushes_as_hard_however_fast_and_rough_the_slide_is(slip):
    """p_n = ((1 - h b) 1 m/s + g h - ...) of the normal row alone; MuJoCo's cone has more as soon as it slides."""
    s = particle((slip, 0.0), 0.5)
    still = solved("genesis", particle((0.0, 0.0), 0.0))
    answer = solved("genesis", s)
    assert answer.p_n[0] == pytest.approx(still.p_n[0], rel=1e-12)
    assert answer.v[2] == pytest.approx(still.v[2], abs=1e-12)
    if slip > 1.0:
        assert answer.p_t[0] == pytest.approx(-0.5 * answer.p_n[0], rel=1e-12)
        assert solved("mujoco:timeconst=0.01", s).v[2] > still.v[2] + 0.1


def test_what_sticks_under_genesis_moves_as_under_mujoco():
    for seed in range(3):
        s = random_system(seed, r=1, d=2, mu=(50.0, 60.0), normal="gap", e=0.0)
        one, other = (solved(f, replace(s, phi=-np.abs(s.phi))) for f in ("genesis:timeconst=0.02", "mujoco"))
        assert 0 < np.linalg.norm(one.p_t) < 0.9 * s.mu[0] * one.p_n[0], "it sticks"
        np.testing.assert_allclose(one.v, other.v, rtol=0, atol=1e-9)


def test_genesis_tends_to_exact_coulomb_friction_as_its_impedance_tends_to_one():
    """With a time constant of two steps or less, h b = 1 / dmax: after the step nothing of the velocity is left."""
    apart = []
    for d in (0.9, 0.99, 0.999):
        pairs = []
        for seed in range(3):
            s = random_system(seed, r=2, d=2, mu=(0.1, 0.5), normal="velocity", e=0.0)
            s = replace(s, phi=0.0 * np.asarray(s.phi))
            pairs.append(solved(f"genesis:timeconst=1e-6,dmin={d},dmax={d}", s).v - solved("coulomb", s).v)
        apart.append(np.abs(pairs).max())
    assert apart[0] > 5 * apart[1] > 25 * apart[2] > 0


# ComFree


def test_a_contact_of_comfree_by_itself_stops_where_it_touches():
    for gap in (0.0, 0.004, -0.002):
        s = replace(particle((0.0, 0.0)), phi=gap)
        for directions in (4, 8):
            assert solved(f"comfree:directions={directions}", s).v[2] == pytest.approx(-gap / H, abs=1e-12)


def test_contacts_of_comfree_that_share_a_body_push_as_many_times_too_hard():
    axes = np.eye(3)
    J_n, J_t = np.tile(axes[2:], (4, 1)), np.tile(axes[:2], (4, 1))
    four = ContactSystem(M * axes, [0.0, 0.0, -1.0], np.zeros(3), H, J_n, J_t, 0.5)
    assert solved("comfree", four).v[2] == pytest.approx(-1.0 + 4.0, abs=1e-12)


def test_what_slides_under_comfree_hovers_and_what_is_held_creeps():
    """One facet carries the slider, phi/h = mu u + g h - p_n/kappa; u = g h tan(slope) (2/mu^2 - 1) holds a weight."""
    mu, belt, kappa, p_n = 0.5, 2.0, 0.3, M * G * H
    ahead = belt + mu * G * H
    phi = H * (mu * ahead + G * H - p_n / kappa)
    answer = assert_rests(f"comfree:kappa={kappa}", on_belt(mu, phi, belt, mu * M * G))
    assert phi > 0
    assert answer.p_t[0] == pytest.approx(-mu * p_n, rel=1e-9)
    # With auto, kappa = m/4 of each of four facets, two of which share the push p_t = 2 kappa mu^2 (u + F h / m).
    push = 1.0
    creep = push * H / M * (2 / mu**2 - 1)
    assert_rests("comfree", on_belt(mu, 0.0, creep, push))


# Projected Gauss-Seidel, stopped


def stack(masses: tuple[float, float]) -> ContactSystem:
    """Two bodies one on the other on the floor, along the vertical alone, without friction."""
    J_n = np.array([[1.0, 0.0], [-1.0, 1.0]])
    return ContactSystem(np.diag(masses), np.zeros(2), -G * np.array(masses), H, J_n, np.zeros((2, 2)), 0.0)


@pytest.mark.parametrize("sweeps", [1, 2, 7])
def test_a_heavy_body_on_a_light_one_keeps_sinking_by_what_sweeps_leave(sweeps):
    """The lower contact keeps the share (m_2 / (m_1 + m_2))^k of its velocity (formulary, section 9.4)."""
    masses = 1.0, 30.0
    v = solved(f"gauss-seidel:sweeps={sweeps},start=zero", stack(masses)).v
    share = (masses[1] / sum(masses)) ** sweeps
    np.testing.assert_allclose(v[0], -share * G * H, rtol=1e-12)
    assert v[1] == pytest.approx(v[0], rel=1e-12), "the last row is right"


def test_many_sweeps_come_to_the_box_with_iterated_bounds():
    apart = []
    for sweeps in (2, 10, 50):
        pairs = [random_system(seed, r=2, d=2, mu=(0.05, 0.3)) for seed in range(4)]
        found = [solved(f"gauss-seidel:sweeps={sweeps}", s).v - solved("box:bounds=iterated", s).v for s in pairs]
        apart.append(np.abs(found).max())
    assert apart[0] > 1e-3
    assert apart[0] > 10 * apart[1]
    assert apart[2] < 1e-10


def test_warm_starting_adds_up_the_sweeps_of_many_steps():
    """A cube on a lighter one: from nothing, few sweeps leave it sinking; from the last step's impulses it rests."""
    case, sinks = StackedCubes(ratio=5.0), {}
    for start in ("zero", "last"):
        run = stepped(f"gauss-seidel:sweeps=4,start={start}", case, 1e-3, 0.3, normal="velocity")
        sinks[start] = np.abs(run.states_v[-1]).max()
    assert sinks["zero"] > 1e-3 > 1e-5 > sinks["last"]


# Hunt and Crossley


def rebound(d: float, v: float) -> float:
    """e of ln((1 + d v) / (1 - d e v)) = d v (1 + e), which no stiffness, mass or exponent changes."""
    return brentq(
        lambda e: np.log((1 + d * v) / (1 - d * e * v)) - d * v * (1 + e), 1e-9, min(1.0, (1 - 1e-12) / (d * v))
    )


@pytest.mark.parametrize("d", [0.05, 0.3, 2.0])
def test_a_particle_rebounds_as_hunt_and_crossley_s_spring_loses_energy(d):
    case = Particle(height=0.01, speed=0.0, climb=-1.0, gravity=1e-9)
    expected, errors = rebound(d, 1.0), []
    for h in (2e-4, 1e-4):
        run = stepped(f"hunt-crossley:stiffness=1e4,dissipation={d}", case, h, 0.08)
        errors.append(run.states_v[-1, 1] - expected)
    # Implicit Euler's own loss is of first order.
    assert abs(errors[1]) < 0.03
    assert abs(2 * errors[1] - errors[0]) < 0.1 * abs(errors[0])


def test_a_spinning_disc_in_flight_leaves_round_off_to_which_hunt_and_crossley_s_passes_settle():
    """Its momentum is far smaller than that over its radius, which is what impulses at its contacts round to."""
    rng, R = np.random.default_rng(0), 0.01
    for _ in range(300):
        c, s = np.cos(angle := rng.uniform(0.3, 1.2)), np.sin(angle)
        M, v = np.diag([1.0, 1.0, 0.5 * R**2]), rng.normal(size=3) * [0.01, 0.01, 1000.0]
        J_n, J_t = [[c, s, 0.0], [-c, s, 0.0]], [[s, -c, R], [s, c, R]]
        system = ContactSystem(M, v, [0.0, -G, 0.0], 1e-3, J_n, J_t, 0.3, phi=0.1)
        flown = v + np.array([0.0, -G * 1e-3, 0.0])
        np.testing.assert_allclose(solved("hunt-crossley", system).v, flown, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("label", ["hunt-crossley", "ipc"])
def test_coupled_bodies_in_flight_fly_on(label):
    """Impulses at open contacts are round-off, which a nearly singular M makes larger than any of its entries tells."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        J = rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-3, 0, (1, 3))
        J_n, J_t = rng.normal(size=(2, 3, 3)) * [1.0, 0.01, 0.01]
        system = ContactSystem(J.T @ J, rng.normal(size=3), np.zeros(3), 1e-3, J_n, J_t, 0.5, phi=0.1)
        np.testing.assert_allclose(solved(label, system).v, system.v, rtol=1e-6, atol=1e-6)


def test_joints_that_close_in_a_step_leave_round_off_to_which_hunt_and_crossley_s_passes_settle():
    """Fingers some millimetres off their guides move there, by impulses to which those of open contacts round."""
    rng = np.random.default_rng(0)
    q, v = Gripper().start()
    for _ in range(20):
        # The ball is above the floor and between the fingers.
        apart = q + 5e-3 * rng.normal(size=q.size) + np.array([0.0, 0.03, 0.0, -0.03, 0.0, 0.03, 0.0, 0.0])
        displaced = type("Apart", (Gripper,), {"start": lambda self, q=apart: (q, v)})()
        run = stepped("hunt-crossley", displaced, 1e-3, 1e-3)
        np.testing.assert_allclose(run.states_v[-1, :2], [0.0, -G * 1e-3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("friction", ["implicit", "lagged", "similar"])
def test_what_slides_under_hunt_and_crossley_s_law_lifts_only_where_friction_is_similar(friction):
    """Depth k x (1 - d z) = m g with x = -(phi + h z), z = -mu (sqrt(u^2 + eps^2) - eps) for similar friction, or 0."""
    mu, slip, k, d, v_s = 0.4, 0.01, 1e5, 2.0, 1e-3
    root = np.hypot(slip, v_s)
    z = -mu * (root - v_s) if friction == "similar" else 0.0
    phi = -M * G / (k * (1 - d * z)) - H * z
    push = mu * M * G * slip / root
    answer = assert_rests(
        f"hunt-crossley:friction={friction},stiffness={k},dissipation={d},v_s={v_s},sigma=0",
        on_belt(mu, phi, slip, push),
    )
    assert answer.p_t[0] == pytest.approx(-push * H, rel=1e-9)


def test_a_stiff_and_steep_smooth_law_is_coulomb_s():
    case = Block(direction=30.0)
    exact = stepped("coulomb", case, 1e-3, 0.5).states_q[-1]
    apart = []
    for k, v_s in ((1e5, 1e-2), (1e7, 1e-4), (1e9, 1e-6)):
        found = stepped(f"hunt-crossley:stiffness={k},v_s={v_s}", case, 1e-3, 0.5).states_q[-1]
        apart.append(np.abs(found - exact).max())
    assert apart[0] > 10 * apart[1] > 100 * apart[2] > 0
    assert apart[2] < 1e-6


def test_lagged_friction_is_the_normal_impulse_of_the_step_before():
    case = Particle(height=1e-9, climb=0.0)
    run = stepped("hunt-crossley:friction=lagged,sigma=0,v_s=1e-6", case, 1e-3, 0.2)
    before, friction = run.p_n[:-1, 0], np.abs(run.p_t[1:, 0, 0])
    assert np.ptp(before[1:]) > 1e-3
    np.testing.assert_allclose(friction[1:], case.mu * before[1:], rtol=1e-9)


def test_lagged_friction_stops_at_an_impact_what_it_should_only_slow():
    """n_0 = h k (-phi) (1 - d u_n) before the step is no estimate of the impulse that stops a fall."""
    system = replace(particle((3.0, 0.0), 0.3), phi=-1e-4)
    slip = {name: solved(f"hunt-crossley:friction={name}", system).v[0] for name in ("implicit", "lagged")}
    assert slip["implicit"] == pytest.approx(3.0 - 0.3, abs=0.05)
    assert abs(slip["lagged"]) < 0.01


# IPC's friction


@pytest.mark.parametrize("share", [0.2, 0.75, 0.99])
def test_what_ipc_holds_creeps_where_its_mollifier_bears_the_load(share):
    """2 y - y^2 = F / (mu m g) at the slip y eps_v."""
    mu, eps_v = 0.5, 1e-3
    creep = eps_v * (1 - np.sqrt(1 - share))
    for bounds in ("last", "iterated"):
        assert_rests(f"ipc:bounds={bounds},eps_v={eps_v}", on_belt(mu, 0.0, creep, share * mu * M * G))


def test_a_particle_that_ipc_stops_slips_by_what_the_mollifier_takes():
    slip, mu, eps_v = 0.3, 0.5, 1e-2
    # m (slip - y eps_v) = mu p_n (2 y - y^2), and p_n = m.
    y = brentq(lambda y: slip - y * eps_v - mu * (2 * y - y**2), 0, 1, xtol=1e-15)
    assert solved(f"ipc:eps_v={eps_v}", particle((slip, 0.0), mu)).v[0] == pytest.approx(y * eps_v, rel=1e-10)
    assert solved(f"ipc:eps_v={eps_v}", particle((1.5, 0.0), mu)).v[0] == pytest.approx(1.5 - mu, rel=1e-12)


def test_faster_than_eps_v_ipc_s_friction_is_coulomb_s():
    exact, run = (stepped(label, Block(direction=30.0), 1e-3, 0.5) for label in ("coulomb", "ipc"))
    np.testing.assert_allclose(run.states_v[100:400], exact.states_v[100:400], atol=1e-12)


@pytest.mark.parametrize(
    "label",
    ["sap:stiffness=0", "sap:beta=inf", "sap:tau_d=-1", "comfree:kappa=0", "gauss-seidel:sweeps=0",
     "gauss-seidel:sweeps=51",
     "mujoco-noslip:sweeps=0", "hunt-crossley:stiffness=inf", "hunt-crossley:v_s=0", "hunt-crossley:sigma=-1",
     "ipc:eps_v=0", "mujoco-pyramid:impratio=0"],
)  # fmt: skip
def test_options_without_meaning_are_refused_in_a_line(label):
    with pytest.raises(ModellingError, match=label.split(":")[1].split("=")[0]) as refusal:
        solved(label, particle((1.0, 0.0)))
    assert "\n" not in str(refusal.value)
