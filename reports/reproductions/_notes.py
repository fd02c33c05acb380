"""Trinkle's final formulation (notes, p. 7 to 11) in plain numpy, corrected or with chosen misprints as printed.

Everything here is in the axes of the world, as the notes write it: v = (x', omega) per body, G_n = [n; r x n], J the
inertia matrix in world axes. The workbench has omega in body axes; the LCP does not know the difference.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import linprog

from workbench.builtin.cases.three_bodies import A, B, E, ThreeBodies
from workbench.builtin.formulations.stewart_trinkle import stewart_trinkle
from workbench.language.assemble.find import compiled
from workbench.mechanics.bodies import turned
from workbench.mechanics.case import Array, Case
from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import LCP
from workbench.step.one_step import pose
from workbench.step.stepper import Stepper

MISPRINTS = {
    "torque of body 2": "p. 8: $r \\times n$ and $r \\times t$ of body 2 without the minus sign",
    "gyroscopic sign": "p. 11: $T = +\\omega \\times J\\omega$",
    "gyroscopic impulse": "p. 11: $T$ added to impulses without $h$",
    "friction of obstacles": "p. 11: no $\\partial\\psi_t/\\partial t$ in the friction rows",
}
"""Misprints and omissions that change the LCP, by a short name."""


@dataclass(frozen=True, eq=False)
class NotesBody:
    """Mass [kg], principal moments J_0 (3,) [kg m2], centre x, attitude R (columns: body axes), rates, world axes."""

    m: float
    J_0: Array
    x: Array
    R: Array
    xdot: Array
    omega: Array

    @property
    def J(self) -> Array:
        return self.R @ np.diag(self.J_0) @ self.R.T


@dataclass(frozen=True, eq=False)
class NotesContact:
    """Contact of body 1, into which the normal points, with body 2; None is fixed or moves at w (3,) as prescribed."""

    first: int | None
    second: int | None
    point: Array
    n: Array
    t: Array
    gap: float
    mu: float
    w: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def F(self) -> Array:
        """(3, 2): the tangents t and o = n x t."""
        return np.column_stack([self.t, np.cross(self.n, self.t)])


def directions(n_d: int) -> Array:
    """A (2, n_d), equally spaced (p. 5)."""
    phi = 2 * np.pi * np.arange(n_d) / n_d
    return np.array([np.cos(phi), np.sin(phi)])


def wrench_columns(bodies: list[NotesBody], touch: NotesContact, D: Array, printed: Collection[str] = ()) -> Array:
    """Columns (6 bodies, k) of directions D (3, k) at a contact: [D; r x D] on body 1, all negated on body 2 (p. 7, 8).

    As printed, body 2 keeps the sign of r x n and r x t, and only r x o changes it: D is (n), or (t, o).
    """
    columns = np.zeros((6 * len(bodies), D.shape[1]))
    for k, sign in ((touch.first, 1.0), (touch.second, -1.0)):
        if k is not None:
            moments = sign * np.cross(touch.point - bodies[k].x, D.T).T
            if sign < 0 and "torque of body 2" in printed:
                moments[:, 0] *= -1
            columns[6 * k : 6 * k + 6] = np.vstack([sign * D, moments])
    return columns


@dataclass(frozen=True, eq=False)
class NotesLCP:
    """The matrices of p. 8 to 11 and the LCP (M_lcp, q) that they make."""

    G_n: Array
    G_f: Array
    M: Array
    v: Array
    p_app: Array
    T: Array
    M_lcp: Array
    q: Array

    def velocity(self, z: Array, factor: float = 1.0) -> Array:
        """v+ (6 bodies,) from z = (p_n, p_f, s); p. 11 prints the factor h before M^-1, which impulses do not have."""
        n_c, n_f = self.G_n.shape[1], self.G_f.shape[1]
        given = self.p_app + self.T + self.G_n @ z[:n_c] + self.G_f @ z[n_c : n_c + n_f]
        return self.v + factor * np.linalg.solve(self.M, given)


def final_formulation(
    bodies: list[NotesBody],
    touches: list[NotesContact],
    h: float,
    gravity: float,
    n_d: int,
    printed: Collection[str] = (),
) -> NotesLCP:
    """p. 11 with p_n = h f_n, p_f = h alpha; `printed` names the MISPRINTS to keep."""
    G_n = np.hstack([wrench_columns(bodies, c, c.n[:, None], printed) for c in touches])
    G_f = np.hstack([wrench_columns(bodies, c, c.F, printed) @ directions(n_d) for c in touches])
    M = block_diag(*(block_diag(b.m * np.eye(3), b.J) for b in bodies))
    U, Es = np.diag([c.mu for c in touches]), np.repeat(np.eye(len(touches)), n_d, axis=0)
    v = np.concatenate([np.concatenate([b.xdot, b.omega]) for b in bodies])
    p_app = h * np.concatenate([[0, 0, -b.m * gravity, 0, 0, 0] for b in bodies])
    sign = 1.0 if "gyroscopic sign" in printed else -1.0
    size = 1.0 if "gyroscopic impulse" in printed else h
    T = sign * size * np.concatenate([[0, 0, 0, *np.cross(b.omega, b.J @ b.omega)] for b in bodies])
    psi = np.array([c.gap / h - c.n @ c.w for c in touches])
    psi_t = np.concatenate([-(c.F @ directions(n_d)).T @ c.w for c in touches])
    if "friction of obstacles" in printed:
        psi_t[:] = 0.0
    G, free = np.hstack([G_n, G_f]), v + np.linalg.solve(M, p_app + T)
    n_c, n_f = len(touches), G_f.shape[1]
    lead = np.zeros((2 * n_c + n_f, 2 * n_c + n_f))
    lead[: n_c + n_f, : n_c + n_f] = G.T @ np.linalg.solve(M, G)
    lead[n_c : n_c + n_f, n_c + n_f :] = Es
    lead[n_c + n_f :, :n_c], lead[n_c + n_f :, n_c : n_c + n_f] = U, -Es.T
    q = np.concatenate([G_n.T @ free + psi, G_f.T @ free + psi_t, np.zeros(n_c)])
    return NotesLCP(G_n, G_f, M, v, p_app, T, lead, q)


# The three bodies, and the workbench's LCP beside the notes'


def three_bodies(case: ThreeBodies, q: Array, v: Array) -> tuple[list[NotesBody], list[NotesContact]]:
    """Bodies A, B, E and contacts 1 to 6 at a state, worked out from the shapes and not from the case's kernels."""
    bodies = []
    for k, (m, *J_0) in enumerate(case.inertias()):
        R = np.column_stack([turned(q, k, axis) for axis in np.eye(3)])
        x, rates = q[7 * k : 7 * k + 3], v[6 * k : 6 * k + 6]
        bodies.append(NotesBody(float(m), np.array(J_0), x, R, rates[:3], R @ rates[3:]))
    time, up = q[-1], np.array([0.0, 0.0, 1.0])
    plank, axle, rises = bodies[A].R, bodies[B].R[:, 1], case.rise * time * up
    height, along = 0.5 * case.rise * time**2, np.array([case.belt * time, 0.0, 0.0])

    def on_plank(ball: int | None, centre: Array, r: float, outward: Array, into_plank: bool, mu: float, w=0 * up):
        gap = float(outward @ (centre - bodies[A].x)) - 0.5 * case.thickness - r
        first, second = (A, ball) if into_plank else (ball, A)
        return NotesContact(
            first, second, centre - r * outward, -outward if into_plank else outward, plank[:, 0], gap, mu, w
        )

    def on_belt(centre: Array) -> NotesContact:
        point = centre - case.radius * up
        return NotesContact(
            B, None, point, up, np.array([1.0, 0.0, 0.0]), point[2] - height, case.mu_belt, along + rises
        )

    left, right = (bodies[B].x + side * 0.5 * case.gauge * axle for side in (1, -1))
    support, r, under = np.array([case.support, 0.0, height + case.radius]), case.radius, -plank[:, 2]
    return bodies, [
        on_plank(None, support, r, under, True, case.mu_support, rises),
        on_plank(B, left, r, under, False, case.mu_roller),
        on_belt(left),
        on_belt(right),
        on_plank(B, right, r, under, True, case.mu_roller),
        on_plank(E, bodies[E].x, case.radius_ball, -under, False, case.mu_ball),
    ]


def in_body_axes(bodies: list[NotesBody], v: Array) -> Array:
    """Velocities (6 bodies,) with every omega turned into its body's axes, as the workbench has them."""
    parts = v.reshape(-1, 6)
    return np.concatenate([np.concatenate([x[:3], b.R.T @ x[3:]]) for b, x in zip(bodies, parts, strict=True)])


def states(case: Case, seed: int, count: int) -> Iterator[tuple[Array, Array]]:
    """Random velocities, and coordinates that random motions from the start lead to."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q, v = case.start()
        for _ in range(3):
            end = np.empty_like(q)
            case.advance(q, rng.uniform(-3, 3, v.size), 0.1, case.data(), end)
            q = end
        yield q, rng.uniform(-5, 5, v.size)


def system_at(case: Case, q: Array, v: Array, h: float) -> ContactSystem:
    """The contact data that the case's compiled mechanics write at a state."""
    core = Stepper(compiled(stewart_trinkle, *case.size), h, case.normal, case.v_th).core
    case.fill(q, v, case.data(), core)
    names = ("M", "f", "J_n", "phi", "r_n", "J_t", "r_t", "mu")
    return ContactSystem(v=v, h=h, normal=case.normal, **{name: getattr(core, name).copy() for name in names})


def disagreement(x: Array, y: Array, sizes: tuple[int, ...]) -> float:
    """Largest difference of two vectors or matrices, relative to the largest entry of its block; blocks of `sizes`."""
    ends = [0, *np.cumsum(sizes)]
    parts = [slice(i, j) for i, j in pairwise(ends)]
    blocks = [(i,) for i in parts] if x.ndim == 1 else [(i, j) for i in parts for j in parts]
    found = [(np.abs(x[b] - y[b]).max(), np.abs(y[b]).max()) for b in blocks]
    return float(max(gap / size if size > 0 else gap for gap, size in found))


@dataclass(frozen=True)
class Agreement:
    """Relative differences of the notes' LCP from the workbench's: matrix, vector, and the rows of the mixed form."""

    M: float
    q: float
    mixed: float


def compare(case: ThreeBodies, q: Array, v: Array, h: float, n_d: int, printed: Collection[str] = ()) -> Agreement:
    """Compare the notes' LCP with the compiled declaration of stewart-trinkle at a state.

    Mixed form: for random z, v+ by the notes' dynamics has to satisfy the declaration's equations, and the partners'
    rows at (v+, z) have to be M z + q.
    """
    bodies, touches = three_bodies(case, q, v)
    ours = final_formulation(bodies, touches, h, case.gravity, n_d, printed)
    stepper = pose(stewart_trinkle.with_options(directions=n_d), system_at(case, q, v, h))
    problem = stepper.problem()
    n, _, r, _ = case.size
    sizes = (r, n_d * r, r)
    z = np.random.default_rng(0).uniform(0, 1, sum(sizes))
    rows = stepper.work.A[: n + z.size]
    x = np.concatenate([in_body_axes(bodies, ours.velocity(z)), z, [1.0]])
    wanted = np.concatenate([np.zeros(n), ours.M_lcp @ z + ours.q])
    size = np.abs(rows) @ np.abs(x)
    mixed = np.abs(rows @ x - wanted) / np.where(size > 0, size, 1.0)
    return Agreement(
        disagreement(ours.M_lcp, problem.M, sizes), disagreement(ours.q, problem.q, sizes), float(mixed.max())
    )


# Friction at a given velocity (p. 1 to 6)


def friction_lcp(v: Array, D: Array, limit: float) -> LCP:
    """p. 3: 0 <= (alpha, s) perp (D^T v + e s, limit - e^T alpha) >= 0 for a given v (d,), directions D (d, n_d)."""
    n_d = D.shape[1]
    M = np.zeros((n_d + 1, n_d + 1))
    M[:n_d, n_d], M[n_d, :n_d] = 1.0, -1.0
    return LCP(M, np.append(D.T @ v, limit))


def ranges(problem: LCP) -> Array:
    """(n, 2): least and largest value of every unknown over all solutions of an LCP with skew-symmetric M.

    There z^T M z = 0, so that the solutions are exactly the polyhedron z >= 0, M z + q >= 0, q^T z = 0.
    """
    M, q = problem.M, problem.q
    found = []
    for c in np.eye(q.size):
        ends = [linprog(s * c, -M, q, q[None], [0.0]) for s in (1.0, -1.0)]
        found.append([s * x.fun if x.status == 0 else s * -np.inf for s, x in zip((1.0, -1.0), ends, strict=True)])
    return np.array(found) + 0.0


# What the other misprints do (p. 7, 11)


def quaternion_rates(q: Array, printed: Collection[str] = ()) -> Array:
    """(4, 3): from omega in body axes to the rates of (a, b, c, d); corrected, 1/2 B with last row (-c, b, a)."""
    a, b, c, d = q
    last = c if "last row" in printed else -c
    rates = np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [last, b, a]])
    return rates if "factor" in printed else 0.5 * rates


def turn(omega: Array, duration: float, printed: Collection[str] = (), steps: int = 200) -> Array:
    """Quaternion after turning at a constant omega (3,) [rad/s] in body axes from (1, 0, 0, 0); Runge-Kutta."""
    q, h = np.array([1.0, 0.0, 0.0, 0.0]), duration / steps
    for _ in range(steps):
        k_1 = quaternion_rates(q, printed) @ omega
        k_2 = quaternion_rates(q + 0.5 * h * k_1, printed) @ omega
        k_3 = quaternion_rates(q + 0.5 * h * k_2, printed) @ omega
        k_4 = quaternion_rates(q + h * k_3, printed) @ omega
        q = q + h / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4)
    return q


def spun(h: float, duration: float = 1.0, sign: float = -1.0) -> float:
    """Relative change of the angular momentum in space of a free body under T = sign h omega x J omega.

    Energy and |L| would not notice the sign: both are kept by either.
    """
    J, R, omega = np.array([0.1, 0.2, 0.3]), np.eye(3), np.array([1.0, 2.0, 1.0])
    start = R @ (J * omega)
    for _ in range(round(duration / h)):
        omega = omega + sign * h * np.cross(omega, J * omega) / J
        R = R @ rotation_by(h * omega)
    return float(np.linalg.norm(R @ (J * omega) - start) / np.linalg.norm(start))


def rotation_by(turn_: Array) -> Array:
    """The rotation matrix of a rotation vector (3,) [rad], Rodrigues."""
    angle = np.linalg.norm(turn_)
    K = np.cross(np.eye(3), turn_)
    return np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * np.sinc(0.5 * angle / np.pi) ** 2 * K @ K
