"""The wheel's mechanics against a derivation of their own: Lagrange's equations from points of the body, nothing else.

A rigid body is a cloud of points, x = centre + R b with R = Rz(psi) Rx(theta) Ry(phi). Its kinetic energy needs no more
than the second moments of mass P = diag(I_a/2, I_t - I_a/2, I_a/2), whose sums in pairs are the moments of inertia:

    T = m |v|^2 / 2 + tr(R' P R'^T) / 2        V = m g z        d/dt dT/dv - dT/dq + dV/dq = Q

No angular velocity appears. Derivatives are complex steps, f'(x) = Im f(x + i eps) / eps, exact to round-off.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.mechanics import filled
from workbench.builtin.cases.wheel import Wheel

EPS = 1e-30
X, Y, Z = np.eye(3)
CASES = [Wheel(), Wheel(R=0.3, m=2.5, I_a=0.1, I_t=0.07, mu=0.6, gravity=1.62)]


def rotation(axis, angle):
    """Rodrigues' formula (..., 3, 3) and its derivative by the angle, analytic: complex angles (...) will do."""
    S, angle = np.cross(np.eye(3), axis), np.asarray(angle)[..., None, None]
    R = np.eye(3) + np.sin(angle) * S + (1 - np.cos(angle)) * (S @ S)
    return R, S @ R


def attitude(q):
    """R (..., 3, 3) and its derivatives (..., 3, 3, 3) by psi, theta, phi."""
    (R1, D1), (R2, D2), (R3, D3) = (rotation(axis, q[..., i]) for axis, i in ((Z, 3), (X, 4), (Y, 5)))
    return R1 @ R2 @ R3, np.stack([D1 @ R2 @ R3, R1 @ D2 @ R3, R1 @ R2 @ D3], axis=-3)


def moments(case):
    return np.diag([case.I_a / 2, case.I_t - case.I_a / 2, case.I_a / 2])


def kinetic(case, q, v):
    rate = np.tensordot(v[3:], attitude(q)[1], 1)
    return 0.5 * case.m * (v[:3] @ v[:3]) + 0.5 * np.trace(rate @ moments(case) @ rate.T)


def mass(case, q):
    """Hessian (..., 6, 6) of T in v: R' = sum of v_k dR/dq_k makes it tr(dR/dq_j P dR/dq_k^T)."""
    D = attitude(q)[1]
    M = np.zeros((*q.shape[:-1], 6, 6), dtype=q.dtype)
    M[..., :3, :3] = case.m * np.eye(3)
    M[..., 3:, 3:] = np.einsum("...jab,...kab->...jk", D @ moments(case), D)
    return M


def forces(case, q, v):
    """-M' v + dT/dq - dV/dq: what Lagrange's equations leave on the right of M a."""
    derivatives = mass(case, q + 1j * EPS * np.vstack([v, np.eye(6)])).imag / EPS
    M_rate, dM = derivatives[0], derivatives[1:]
    return -M_rate @ v + 0.5 * dM @ v @ v - case.m * case.gravity * np.eye(6)[2]


def lowest(case, q):
    """Body coordinates of the rim's lowest point, for the tilt at q; the rim is R (cos a, 0, sin a) in the body.

    Its height A cos a + B sin a over the centre's, (A, B) from the last row of the attitude, is least against (A, B).
    """
    A, _, B = attitude(q)[0][2]
    return -case.R / np.sqrt(A * A + B * B) * np.array([A, 0.0, B])


def gap(case, q):
    """Height of the lowest point."""
    return q[2] + attitude(q)[0][2] @ lowest(case, q)


def contact_jacobian(case, q):
    """(3, 6), times v the velocity of the material point that is lowest now, a point fixed in the body."""
    return np.hstack([np.eye(3), (attitude(q)[1] @ lowest(case, q)).T])


def states(seed, count=25):
    """Random attitudes short of lying flat, where a disc has no single lowest point; speeds of a few rad/s and m/s."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-3, 3, (count, 6)), rng.uniform(-5, 5, (count, 6))
    q[:, 4] = rng.uniform(-1.3, 1.3, count)
    return zip(q, v, strict=True)


@pytest.mark.parametrize("case", CASES)
def test_the_mass_matrix_is_the_hessian_of_kinetic_energy(case):
    for q, v in states(1):
        M = filled(case, q, v).M
        np.testing.assert_allclose(M, mass(case, q), rtol=1e-12, atol=1e-13)
        # The same from the energy itself: T is a quadratic form, and polarisation gives its Hessian.
        T = [kinetic(case, q, x) for x in np.eye(6)]
        hessian = [
            [kinetic(case, q, x + y) - T[j] - T[k] for k, y in enumerate(np.eye(6))] for j, x in enumerate(np.eye(6))
        ]
        np.testing.assert_allclose(M, hessian, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("case", CASES)
def test_the_forces_are_those_of_lagranges_equations(case):
    for q, v in states(2):
        np.testing.assert_allclose(filled(case, q, v).f, forces(case, q, v), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("case", CASES)
def test_the_energy_is_kinetic_plus_potential_and_free_flight_keeps_it(case):
    for q, v in states(3):
        assert case.energy(q, v) == pytest.approx(kinetic(case, q, v) + case.m * case.gravity * q[2], rel=1e-13)
        core = filled(case, q, v)
        a = np.linalg.solve(core.M, core.f)
        power = case.energy(q + 1j * EPS * v, v + 1j * EPS * a).imag / EPS
        assert abs(power) <= 1e-11 * np.abs(core.f) @ np.abs(v)


@pytest.mark.parametrize("case", CASES)
def test_the_gap_is_the_height_of_the_lowest_point_of_the_disc(case):
    angle, radius = np.linspace(0, 2 * np.pi, 2000), np.linspace(0, case.R, 5)[:, None]
    disc = np.stack([radius * np.cos(angle), 0 * radius * angle, radius * np.sin(angle)], axis=-1)
    for q, v in states(4):
        phi = filled(case, q, v).phi[0]
        assert phi == pytest.approx(gap(case, q), abs=1e-13)
        heights = q[2] + disc @ attitude(q)[0][2]
        # Between samples the rim is at most R (1 - cos(da/2)) lower.
        assert phi - 1e-12 <= heights.min() <= phi + case.R * (1 - np.cos(np.pi / 1999)) + 1e-12


@pytest.mark.parametrize("case", CASES)
def test_the_normal_jacobian_is_the_gradient_of_the_gap(case):
    for q, v in states(5):
        gradient = np.array([gap(case, q + 1j * EPS * x).imag for x in np.eye(6)]) / EPS
        np.testing.assert_allclose(filled(case, q, v).J_n[0], gradient, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("case", CASES)
def test_the_jacobians_give_the_velocity_of_the_material_point_at_the_contact(case):
    for q, v in states(6):
        core, b = filled(case, q, v), lowest(case, q)
        moved = q + 1j * EPS * v
        point = moved[:3] + attitude(moved)[0] @ b
        np.testing.assert_allclose(core.J_t @ v, point[:2].imag / EPS, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(core.J_n @ v, point[2:].imag / EPS, rtol=1e-12, atol=1e-12)


def test_the_heading_lies_in_the_floor_and_in_the_disc():
    case = CASES[0]
    for q, v in states(7):
        heading = np.append(filled(case, q, v).heading[0], 0.0)
        axle = attitude(q)[0] @ Y
        assert abs(axle @ heading) <= 1e-14
        assert heading @ heading == pytest.approx(1.0)
        # Forward, for a wheel that stands and rolls with phi' > 0: to the right of its axle.
        assert np.cross(axle, heading)[2] < 0


def test_what_only_the_parameters_decide():
    for q, v in states(8, 3):
        core = filled(Wheel(mu=0.45), q, v)
        assert core.mu[0] == 0.45
        end = np.empty(6)
        Wheel.advance(q, v, 0.25, Wheel().data(), end)
        np.testing.assert_allclose(end, q + 0.25 * v, rtol=1e-15)


def test_the_start_is_that_of_table_1():
    q, v = Wheel().start()
    np.testing.assert_allclose(q, [0, 0, 0.5 * np.cos(np.pi / 9), 0, np.pi / 9, 0])
    np.testing.assert_allclose(v, [6, 0, 0, -2, 0, 0])
    assert gap(Wheel(), q) == pytest.approx(0.0, abs=1e-15)
    assert gap(Wheel(gap=0.01), Wheel(gap=0.01).start()[0]) == pytest.approx(0.01)


def sliding(case, q, v):
    """Acceleration, contact force and sliding velocity under gap = 0 and Coulomb friction mu lambda_n against u_t."""
    M, f, J = mass(case, q), forces(case, q, v), contact_jacobian(case, q)
    u_t = J[:2] @ v
    along = J[2] - case.mu * (u_t / np.linalg.norm(u_t)) @ J[:2]
    # 0 = d/dt (J_n v) = J_n a + J_n' v
    bias = contact_jacobian(case, q + 1j * EPS * v)[2].imag / EPS @ v
    X = np.linalg.solve(M, np.column_stack([f, along]))
    force = -(J[2] @ X[:, 0] + bias) / (J[2] @ X[:, 1])
    return X[:, 0] + force * X[:, 1], force, u_t


STOPPED = 1e-7
"""Speed [m/s] at which sliding counts as over: at a deceleration of the order of mu g, 1e-7 s before it is."""


@pytest.fixture(scope="module")
def slide():
    """The sliding phase, (q, v, work of friction), until it stops, at rtol 1e-10."""
    case = Wheel()

    def rate(t, y):
        a, force, u_t = sliding(case, y[:6], y[6:12])
        return np.concatenate([y[6:12], a, [-case.mu * force * np.linalg.norm(u_t)]])

    def speed(t, y):
        return np.linalg.norm(contact_jacobian(case, y[:6])[:2] @ y[6:12]) - STOPPED

    vars(speed)["terminal"] = True  # solve_ivp's way of asking to stop there
    start = np.concatenate([*case.start(), [0.0]])
    return solve_ivp(rate, (0, 3), start, "DOP853", events=speed, rtol=1e-10, atol=1e-11, dense_output=True)


@pytest.mark.thorough
def test_sliding_stops_where_the_references_of_the_wheel_say(slide):
    assert slide.t_events[0][0] == pytest.approx(2.006823, abs=5e-7)


@pytest.mark.thorough
def test_position_and_energy_after_one_second_are_the_references_of_the_wheel(slide):
    y = slide.sol(1.0)
    np.testing.assert_allclose(y[:3], [4.580594, -0.047405, 0.301374], rtol=0, atol=1e-6)
    assert Wheel().energy(y[:6], y[6:12]) == pytest.approx(8.972373, abs=1e-6)


@pytest.mark.thorough
def test_the_independent_integration_is_consistent(slide):
    """On the floor throughout, pressed against it, and losing the energy that friction takes."""
    case = Wheel()
    E_start = case.energy(*case.start())
    for t in np.linspace(0, 2, 41):
        q, v, work = np.split(slide.sol(t), [6, 12])
        assert abs(gap(case, q)) <= 1e-9
        assert abs(contact_jacobian(case, q)[2] @ v) <= 1e-9
        assert sliding(case, q, v)[1] > 0
        assert case.energy(q, v) - E_start == pytest.approx(work[0], abs=1e-8)
