"""Random contact systems of one instant, and the laws that a step has to obey, written out without CVXPY or kernels.

The laws follow the formulary contact by contact, from v+ and the impulses alone: they know no problem, solver or hook.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.language.formulation import Formulation
from workbench.mechanics.contact import ContactSolution, ContactSystem

Array = NDArray[np.float64]

SOFT = frozenset({"mujoco", "mujoco-pyramid", "mujoco-noslip", "genesis", "sap", "comfree", "hunt-crossley"})
"""Formulations with a compliance of their own, in the place of the run's normal law and relaxation."""
ASSOCIATED = frozenset({"ccp", "mujoco", "mujoco-pyramid", "sap", "comfree"})
"""Formulations under which a sliding contact lifts."""

SHAPES = {
    "one contact": dict(r=1, d=2),
    "two contacts, one constraint": dict(r=2, d=2, m=1),
    "three contacts": dict(r=3, d=2),
    "one planar contact": dict(r=1, d=1),
    "three planar contacts, two constraints": dict(r=3, d=1, m=2),
}
"""Few shapes, since a formulation is compiled once a shape."""


def random_system(
    seed: int,
    r: int,
    d: int,
    m: int = 0,
    mu: tuple[float, float] = (0.05, 1.0),
    duplicates: int = 0,
    **given: Any,
) -> ContactSystem:
    """A system of r contacts with d tangents and m constraints, n = 3 to 12 velocities, all rows independent.

    M is SPD with eigenvalues over two decades. The first contact approaches at about 1 m/s, the others approach or
    separate; contacts slide at 0, 0.05 or about 1 m/s; all rates, forces, gaps, restitutions and headings are random,
    but for normal="velocity", which has no gaps. `mu` is the range of the friction coefficients. The first `duplicates`
    contacts are there twice. `given` replaces data, with rows for r + duplicates contacts.
    """
    rng = np.random.default_rng([seed, r, d, m])
    rows = m + r * (1 + d)
    n = min(12, max(6, rows + 1))
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.geomspace(0.2, 20.0, n)) @ Q.T
    J_b, J_n, J_t = np.split(rng.standard_normal((rows, n)) / np.sqrt(n), [m, m + r])
    r_n, r_t = 0.1 * rng.standard_normal(r), 0.1 * rng.standard_normal(d * r)
    approach = np.where(np.arange(r) == 0, -1.0, rng.choice([-1.0, 1.0], r)) * rng.uniform(0.5, 1.5, r)
    slip = np.repeat(rng.choice([0.0, 0.05, 1.0], r), d) * rng.standard_normal(d * r)
    # The velocity with these contact velocities that lies nearest to a random one.
    J, wanted = np.vstack([J_b, J_n, J_t]), np.concatenate([np.zeros(m), approach - r_n, slip - r_t])
    v = rng.standard_normal(n)
    v += np.linalg.pinv(J) @ (wanted - J @ v)
    data: dict[str, Any] = dict(
        J_n=J_n, J_t=J_t, mu=rng.uniform(*mu, r), phi=0.005 * rng.standard_normal(r), r_n=r_n, r_t=r_t,
        e=rng.choice([0.0, 0.5], r),
    )  # fmt: skip
    turn = np.random.default_rng([seed, r]).uniform(-np.pi, np.pi, r)
    data["heading"] = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    if given.get("normal") == "velocity":
        data["phi"] = np.zeros(r)
    for name, value in data.items():
        rows_each = d if name in ("J_t", "r_t") else 1
        data[name] = np.concatenate([value, value[: rows_each * duplicates]])
    data |= dict(
        M=(M + M.T) / 2,
        v=v,
        f=5.0 * rng.standard_normal(n),
        h=0.01,
        J_b=J_b,
        g=1e-4 * rng.standard_normal(m),
        v_th=1e-6,
    )
    return ContactSystem(**(data | given))


def past(system: ContactSystem, seed: int, estimate: Array) -> tuple[tuple[Array, Array], Array]:
    """Impulses (p_n, p_t) of a step before, p_n of the second contact zero, and the loads that follow from them.

    A contact that bore nothing goes by the frictionless estimate if it closes now, else by its zero.
    """
    rng, (*_, r, d) = np.random.default_rng(seed), system.size
    p_n = rng.uniform(0.1, 2.0, r) * np.where(np.arange(r) == 1, 0.0, 1.0)
    last = p_n, 0.5 * (system.mu * p_n)[:, None] * rng.uniform(-1, 1, (r, d))
    closes = system.J_n @ system.v + system.r_n < -system.v_th
    return last, np.where(p_n > 0, p_n, np.where(closes, estimate, 0.0))


def particle(slip: tuple[float, float], mu: float = 0.5, fall: float = -1.0) -> ContactSystem:
    """A force-free particle of 2 kg that meets a floor, sliding at `slip` [m/s], falling at `fall` [m/s]."""
    axes = np.eye(3)
    return ContactSystem(2.0 * axes, np.array([*slip, fall]), np.zeros(3), 0.01, axes[2:], axes[:2], mu)


def delassus(system: ContactSystem) -> tuple[Array, Array]:
    """W of the rows [J_n; J_t] and their free rates q, the bilateral rows holding whatever the contacts do."""
    n, m = system.size[:2]
    J = np.vstack([system.J_n, system.J_t])
    K = np.block([[system.M, -system.J_b.T], [system.J_b, np.diag(system.eps_b)]])
    X = np.linalg.solve(K, np.vstack([J.T, np.zeros((m, len(J)))]))[:n]
    free = np.linalg.solve(K, np.concatenate([system.M @ system.v + system.h * system.f, -system.g / system.h]))[:n]
    return J @ X, np.concatenate([normal_law(system, free), system.J_t @ free + system.r_t])


def normal_law(system: ContactSystem, v: Array, p_n: Array | float = 0.0) -> Array:
    """What is complementary to p_n, (r,) [m/s]: rate, gap term, restitution of approaching contacts, relaxation."""
    gap = system.phi / system.h if system.law == "gap" else 0.0
    rebound = system.e * np.minimum(0.0, system.J_n @ system.v + system.r_n)
    return system.J_n @ v + system.r_n + gap + rebound + system.eps_n * p_n


def slip(system: ContactSystem, v: Array) -> Array:
    """(r, d) sliding velocities J_t v + r_t [m/s]."""
    return (system.J_t @ v + system.r_t).reshape(system.size[2], -1)


def rates(formulation: Formulation, system: ContactSystem, answer: ContactSolution) -> tuple[Array, Array]:
    """What is complementary to p_n, (r,), and to p_t, (r, d) [m/s]: velocities, or MuJoCo's h (a + R f - a_ref).

    Of MuJoCo's contacts those with phi > 0 are open: their rate is the gap's, and nothing slides.
    """
    lift, u = normal_law(system, answer.v, answer.p_n), slip(system, answer.v)
    if formulation.name != "mujoco":
        return lift, u
    s, o, p_t = system, formulation.options, answer.p_t.reshape(u.shape)
    timeconst = max(o["timeconst"], 2 * s.h)
    b, k = 2 / (o["dmax"] * timeconst), 1 / (o["dmax"] * timeconst * o["dampratio"]) ** 2
    b_t = 2 / (o["dmax"] * max(o["timeconst_t"], 2 * s.h)) if o["timeconst_t"] else b
    before_n, before_t = s.J_n @ s.v + s.r_n, slip(s, s.v)
    phi = np.asarray(s.phi)
    for i in range(len(phi)):
        if phi[i] > 0:
            lift[i], u[i] = phi[i] / s.h, 0.0
            continue
        d = impedance(o, -phi[i])
        R = (1 - d) / d * s.J_n[i] @ np.linalg.solve(s.M, s.J_n[i])
        a_n, a_t = (s.J_n[i] @ answer.v + s.r_n[i] - before_n[i]) / s.h, (u[i] - before_t[i]) / s.h
        lift[i] = s.h * (a_n + R * answer.p_n[i] / s.h + b * before_n[i] + k * d * phi[i])
        u[i] = s.h * (a_t + R / o["impratio"] * p_t[i] / s.h + b_t * before_t[i])
    return lift, u


def impedance(options: dict[str, Any], depth: float) -> float:
    """MuJoCo's d at a depth [m], as its documentation has it."""
    o, x = options, min(1.0, depth / options["width"])
    m, p = o["midpoint"], o["power"]
    y = x**p / m ** (p - 1) if x <= m else 1 - (1 - x) ** p / (1 - m) ** (p - 1)
    return float(o["dmin"] + y * (o["dmax"] - o["dmin"]))


def corners(sides: int, radius: float, Q: Array, circumscribed: bool) -> Array:
    """Corners (sides, d) of the friction polygon in or about the disc of this radius, in the system's axes."""
    if len(Q) == 1:
        return np.array([[radius], [-radius]])
    angle = 2 * np.pi * (np.arange(sides) + (0.5 if circumscribed else 0.0)) / sides
    reach = radius / np.cos(np.pi / sides) if circumscribed else radius
    return reach * np.column_stack([np.cos(angle), np.sin(angle)]) @ Q


def polygon_error(p: Array, u: Array, corner: Array) -> float:
    """How far p (d,) lies outside the polygon, or falls short of the most dissipation -p.u that its corners offer."""
    if len(p) == 1:
        normals = np.array([[1.0], [-1.0]])
    else:
        # Among these are the normals of all edges of a regular polygon with 4, 8, 16 or 32 corners.
        angle = np.arctan2(corner[0, 1], corner[0, 0]) + np.pi * np.arange(64) / 32
        normals = np.column_stack([np.cos(angle), np.sin(angle)])
    outside = (normals @ p - (normals @ corner.T).max(axis=1)).max()
    return max(float(outside), abs(float((-corner @ u).max() + p @ u)))


@dataclass(frozen=True, eq=False)
class Contact:
    """One contact after a step: impulses, rates, limit mu p_n, axes in use (rows of Q), and what it was before.

    `speed` is that before the step, zero where it stuck; `estimate` the p_n that bounds=last goes by; `last_n` and
    `last_t` the last step's impulses, zero without one.
    """

    p_n: float
    p: Array
    lift: float
    u: Array
    mu: float
    limit: float
    Q: Array
    turned: bool
    speed: float
    estimate: float
    last_n: float
    last_t: Array

    def polygon(self, sides: int, circumscribed: bool) -> float:
        return polygon_error(self.p, self.u, corners(sides, self.limit, self.Q, circumscribed))

    def box(self, limit: Array | float, C: Array | float = 0.0, rest: Array | float = 0.0) -> float:
        """Natural map of -limit <= p <= limit, complementary to u + C (p - rest), in the axes in use."""
        p, u = self.Q @ self.p, self.Q @ self.u
        return float(np.abs(p - np.clip(p - (u + C * (p - rest)), -limit, limit)).max())

    def cone(self, shift: float) -> float:
        """Violation of the cone, its dual and orthogonality, with De Saxce's shift of the normal rate."""
        friction, size, lift = float(np.linalg.norm(self.p)), float(np.linalg.norm(self.u)), self.lift + shift
        return max(friction - self.limit, self.mu * size - lift, abs(self.p_n * lift + float(self.p @ self.u)))


def _phantom(o: dict[str, Any], c: Contact) -> float:
    if not (c.turned and c.speed > 0.0):
        return c.polygon(o["directions"], circumscribed=True)
    if o["lateral"] == "regularised" and c.last_n > 0.0:
        return c.box(c.limit, np.array([0.0, c.speed / (c.mu * c.last_n)]))
    return c.box(np.array([c.limit, 0.0]))


def _bound(o: dict[str, Any], c: Contact) -> float:
    return c.mu * c.estimate if o["bounds"] == "last" else c.limit


def _hybrid(o: dict[str, Any], c: Contact, h: float) -> float:
    bound, C = _bound(o, c), np.full(len(c.p), 1.0 / (o["k_t"] * h**2))
    if not (c.turned and c.speed > 0.0):
        return c.box(bound, C, c.Q @ c.last_t)
    C[1] = c.speed / bound if bound > 0.0 else 0.0
    return c.box(bound, C, np.array([-bound, 0.0]))


LAWS: dict[str, Callable[[dict[str, Any], Contact, float], float]] = {
    "frictionless": lambda o, c, h: float(np.abs(c.p).max()),
    "stewart-trinkle": lambda o, c, h: c.polygon(o["directions"], circumscribed=False),
    "anitescu-potra": lambda o, c, h: c.polygon(o["directions"], circumscribed=False),
    "discrete-velocity": lambda o, c, h: c.polygon(o["directions"], circumscribed=True),
    "phantom-inertia": lambda o, c, h: _phantom(o, c),
    "box": lambda o, c, h: c.box(_bound(o, c)),
    "hybrid": _hybrid,
    "ccp": lambda o, c, h: c.cone(0.0),
    "mujoco": lambda o, c, h: c.cone(0.0),
    "staggered": lambda o, c, h: c.polygon(o["directions"], circumscribed=False),
    "coulomb": lambda o, c, h: c.cone(c.mu * float(np.linalg.norm(c.u))),
}
"""Name of a formulation: the error of a contact in its friction law, from its options, the contact and h."""


def contacts(
    formulation: Formulation,
    system: ContactSystem,
    answer: ContactSolution,
    estimate: Array,
    last: tuple[Array, Array] | None = None,
) -> list[Contact]:
    """The contacts after a step; `estimate` (r,) as in `Contact`, `last` the last step's p_n (r,) and p_t (r, d)."""
    before = slip(system, system.v)
    lift, u = rates(formulation, system, answer)
    r, d = u.shape
    last_n, last_t = (np.zeros(r), np.zeros((r, d))) if last is None else last
    p = answer.p_t.reshape(r, d)
    # In the plane there is nothing to turn.
    turned = formulation.axes == "sliding" and d == 2
    found = []
    for i in range(r):
        speed, Q = float(np.linalg.norm(before[i])), np.eye(d)
        along = before[i]
        if speed <= system.v_th:
            speed, along = 0.0, last_t[i] if formulation.name == "hybrid" else np.zeros(d)
        if turned and along.any():
            c, s = along / np.linalg.norm(along)
            Q = np.array([[c, s], [-s, c]])
        elif formulation.axes == "body" and d == 2:
            c, s = np.asarray(system.heading)[i]
            Q = np.array([[c, s], [-s, c]])
        mu, p_n = float(np.asarray(system.mu)[i]), float(answer.p_n[i])
        found.append(
            Contact(p_n, p[i], lift[i], u[i], mu, mu * p_n, Q, turned, speed, estimate[i], last_n[i], last_t[i])
        )
    return found
