"""Spheres between walls as a scene: who is close, what a step may close, and the contact data of it."""

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from workbench.engine.lazy import sparse
from workbench.engine.stored import as_stored
from workbench.mechanics.instant import Instant, InstantArrays, Places, set_bodies
from workbench.mechanics.solids import Plane, Solid
from workbench.scenes.grains import contacts
from workbench.scenes.grains.contacts import SphereContacts
from workbench.scenes.grains.neighbours import close_pairs
from workbench.scenes.grains.walls import Wall
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array
from workbench.support.errors import DataError

FASTEST = 1e6
"""Speed [m/s, rad/s] at the start, and gravity [m/s^2], at most."""
MASSES = (1e-100, 1e100)
"""Of a grain [kg]: others leave the range of a double when they are multiplied."""
MOST = 200_000
"""Grains of a scene: one step of them takes gigabytes."""
AHEAD = 0.05
"""Gap, beside the smaller radius, within which a contact is always taken along: a push travels through neighbours."""
OVERLAP = 1e-3
"""The same that grains may overlap by at the start, where overlaps are pushed apart."""


class Physics(TypedDict, total=False):
    """What all grains share: arguments of `Grains._take` by name."""

    mu: float
    density: float
    gravity: Any
    recovery: float


class Grains(Scene):
    """N spheres of radius (N,) [m] at x (N, 3) with velocities v (N, 6), linear and angular [m/s, rad/s], world axes.

    Fixed spheres, (F, 3) and (F,), are never moved. `mu` is the friction coefficient between spheres, 0.5 by default,
    walls have their own; density [kg/m^3], 1000 by default, gravity (3,) [m/s^2], by default 9.81 along -z. Coordinates
    are seven a grain, centre and quaternion, w first. `recovery` [m/s] is the speed at which overlaps are pushed apart,
    infinite by default. Raises DataError for data that are none, and for grains that overlap by more than `OVERLAP` at
    the start where that would throw them apart.
    """

    def __init__(
        self, radius: Any, x: Any, v: Any = None, *, walls: Sequence[Wall] = (), fixed: tuple[Any, Any] = ((), ()),
        step: float = 1e-3, name: str = "grains", **physics: Unpack[Physics],
    ) -> None:  # fmt: skip
        N = np.size(radius)
        if not 1 <= N <= MOST:
            raise DataError(f"{name}: {N} grains; 1 to {MOST} are possible")
        self.name, self.step, self.walls = name, step, tuple(walls)
        F = np.size(fixed[1])
        self.radius = np.append(_checked(name, "radius", radius, (N,)), _checked(name, "fixed radius", fixed[1], (F,)))
        if self.radius.min() <= 0:
            raise DataError(f"{name}: radius[{self.radius.argmin()}] = {self.radius.min():g} m; it must be positive")
        x = _checked(name, "x", x, (N, 3))
        self.fixed = _checked(name, "fixed", np.reshape(fixed[0], (-1, 3)), (F, 3))
        self.v = _checked(name, "v", np.zeros((N, 6)) if v is None else v, (N, 6))
        self.q = np.column_stack([x, np.tile([1.0, 0.0, 0.0, 0.0], (N, 1))])
        self._take(**physics)
        self._must_be_moderate()
        diagonal = np.repeat(np.stack([self.mass, self.inertia], axis=-1), 3, axis=1).ravel()
        self.M: Any = sparse.diags_array(diagonal, format="csr")
        self.stored = as_stored(self.M)
        self.weight = np.zeros((N, 6))
        self.weight[:, :3] = self.mass[:, None] * self.gravity
        self.bodies = [f"grain {i + 1}" for i in range(N)]
        self._must_not_overlap()

    def _take(
        self, mu: float = 0.5, density: float = 1000.0, gravity: Any = (0.0, 0.0, -9.81), recovery: float = np.inf
    ) -> None:
        """Friction, masses and gravity."""
        own = self.radius[: len(self.q)]
        self.mu, self.recovery, self.gravity = mu, recovery, _checked(self.name, "gravity", gravity, (3,))
        self.mass = 4 / 3 * np.pi * density * own**3
        self.inertia = 0.4 * self.mass * own**2

    def _must_be_moderate(self) -> None:
        for what, fast in (("a speed", np.abs(self.v).max()), ("gravity", np.abs(self.gravity).max())):
            if fast > FASTEST:
                raise DataError(f"{self.name}: {what} of {fast:g} at the start; up to {FASTEST:g} is possible")
        low, high = min(self.mass.min(), self.inertia.min()), max(self.mass.max(), self.inertia.max())
        if not MASSES[0] <= low <= high <= MASSES[1]:
            raise DataError(
                f"{self.name}: masses or inertias of {low:g} to {high:g}; {MASSES[0]:g} to {MASSES[1]:g} are possible"
            )

    def _must_not_overlap(self) -> None:
        t = self._touching(self.q[:, :3], self.v, 0.0, 0.0)
        if not np.isinf(self.recovery) or not t.phi.size:
            return
        depth = -t.phi / self.radius[t.b]
        worst = int(depth.argmax())
        if depth[worst] > OVERLAP:
            other = f"grains {t.a[worst] + 1} and" if t.a[worst] >= 0 else "a wall or a fixed grain and grain"
            raise DataError(
                f"{self.name}: {other} {t.b[worst] + 1} overlap by {-t.phi[worst]:g} m at the start, which a step "
                f"would undo; up to {OVERLAP:g} of the radius, {self.radius[t.b[worst]]:g} m, is possible"
            )

    def start(self) -> tuple[Array, Array]:
        return self.q.ravel().copy(), self.v.ravel().copy()

    def _candidates(self, x: Array, speed: Array, walls: list[SphereContacts], h: float) -> SphereContacts:
        """Every pair of spheres, and of sphere and wall, that may meet at speeds (N,) of the grains, and what g h adds.

        A grain that is fixed comes first.
        """
        N, P = len(x), len(self.radius)
        within = h * np.sqrt(1 + max([self.mu, *(wall.mu for wall in self.walls)]) ** 2)
        reach = (1 + 0.5 * AHEAD) * self.radius + within * h * np.linalg.norm(self.gravity)
        reach[:N] += within * speed
        i, j = close_pairs(np.concatenate([x, self.fixed]), reach)
        i, j = (np.ascontiguousarray(k[i < N]) for k in (i, j))
        phi, normal = np.empty(i.size), np.empty((i.size, 3))
        contacts.gaps(np.concatenate([x, self.fixed]), self.radius, i, j, phi, normal)
        still = j >= N
        arm_i, arm_j = (self.radius[k] + 0.5 * phi for k in (i, j))
        a, b = np.where(still, -1, i), np.where(still, i, j)
        normal[still] *= -1.0
        pairs = SphereContacts(
            a, b, i * (P + len(self.walls)) + j, np.full(i.size, self.mu), phi, normal, np.where(still, arm_j, arm_i),
            np.where(still, arm_i, arm_j), np.zeros((i.size, 3)),
        )  # fmt: skip
        near = [w.where(w.arm_b <= reach[:N] + within * np.linalg.norm(w.moved, axis=1)) for w in walls]
        return SphereContacts(*(np.concatenate(parts) for parts in zip(pairs, *near, strict=True)))

    def _at_walls(self, x: Array, t: float) -> list[SphereContacts]:
        """Every grain at every wall that stands."""
        N, P, found = len(x), len(self.radius), []
        b = np.arange(N)
        for k, wall in enumerate(self.walls):
            if wall.stands(t):
                distance, normal = wall.facing(x, t)
                moved = wall.velocity(x - distance[:, None] * normal, t)
                key, still, rough = b * (P + len(self.walls)) + P + k, np.full(N, -1), np.full(N, wall.mu)
                beside = distance - self.radius[:N]
                found.append(SphereContacts(still, b, key, rough, beside, normal, np.zeros(N), distance, moved))
        return found

    def _touching(self, x: Array, v: Array, t: float, h: float) -> SphereContacts:
        """Contacts that a step of h may close, or that friction with associated flow may push at: h |u| (1 + mu^2)^1/2.

        u is the relative velocity at the contact before the step, to which gravity may add h |g|; or that of another
        contact of the two grains: what strikes one of them sends it on as fast.
        """
        gained = h * float(np.linalg.norm(self.gravity))
        own = np.linalg.norm(v[:, :3], axis=1) + self.radius[: len(x)] * np.linalg.norm(v[:, 3:], axis=1)
        walls = self._at_walls(x, t)
        first = self._candidates(x, own, walls, h)
        speed, far = self._speeds(first, v), h * np.sqrt(1 + first.mu**2)
        meeting = first.phi <= far * (speed + gained)
        struck = np.zeros(len(x))
        for grain in (first.a, first.b):
            there = meeting & (grain >= 0)
            np.maximum.at(struck, grain[there], speed[there])
        fast = np.maximum(own, struck)
        near = self._candidates(x, fast, walls, h) if (fast > own).any() else first
        of_grain = np.append(struck, 0.0)
        speed = np.maximum(self._speeds(near, v), np.maximum(of_grain[near.a], of_grain[near.b]))
        smaller = np.minimum(self.radius[near.b], np.where(near.a >= 0, self.radius[near.a], np.inf))
        return near.where(near.phi <= AHEAD * smaller + h * np.sqrt(1 + near.mu**2) * (speed + gained))

    def _speeds(self, t: SphereContacts, v: Array) -> Array:
        """Sizes of the relative velocities at contacts [m/s]."""
        speed = np.empty(t.b.size)
        contacts.sliding_speeds(t.a, t.b, t.normal, t.arm_a, t.arm_b, t.moved, v, speed)
        return speed

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        given = self._touching(q.reshape(-1, 7)[:, :3], v.reshape(-1, 6), t, h)
        first = np.append(0, np.cumsum(np.where(given.mu > 0, 3, 1)))
        r, R, n, ends = given.phi.size, int(first[-1]), v.size, v.size + 1
        entries = int(6 * (first[1:] - first[:-1]) @ np.where(given.a >= 0, 2, 1))
        s: InstantArrays = InstantArrays.unset(
            n=n, r=r, ends=r + 1, R=R, m=0, k=0, M_ends=ends, M_entries=n, J_ends=R + 1, J_entries=entries, J_b_ends=1,
            J_b_entries=0, J_f_ends=1, J_f_entries=0,
        )  # fmt: skip
        places = Places.unset(r, R)
        set_bodies(h, np.ascontiguousarray(v), self.weight.ravel(), self.stored, s)
        s.first = first
        sound = contacts.write(given, q.reshape(-1, 7), s, places)
        return Instant.of_kernels(s, sound, places=places)

    def advance(self, q: Array, v: Array, h: float) -> Array:
        q_next = np.empty_like(q)
        contacts.advance(q, v, h, q_next)
        return q_next

    def poses(self, q: Array) -> tuple[Array, Array]:
        state = q.reshape(-1, 7)
        return state[:, :3].copy(), state[:, 3:].copy()

    def momentum(self, q: Array, v: Array) -> tuple[Array, Array]:
        v = v.reshape(-1, 6)
        return self.mass[:, None] * v[:, :3], self.inertia[:, None] * v[:, 3:]

    def energy(self, q: Array, v: Array) -> float:
        v, x = v.reshape(-1, 6), q.reshape(-1, 7)[:, :3]
        kinetic = 0.5 * (self.mass @ (v[:, :3] ** 2).sum(axis=1) + self.inertia @ (v[:, 3:] ** 2).sum(axis=1))
        return float(kinetic - self.mass @ (x @ self.gravity))

    def solids(self) -> tuple[Solid | Plane, ...]:
        """The walls, next to where the grains begin."""
        x, r = self.q[:, :3], self.radii()[:, None]
        low, high = (x - r).min(axis=0), (x + r).max(axis=0)
        return tuple(shape for wall in self.walls for shape in wall.shapes(low, high))

    def radii(self) -> Array:
        return self.radius[: len(self.mass)]


def _checked(scene: str, name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Data as an array of that shape, finite throughout."""
    value = np.array(value, dtype=float)
    if value.shape != shape:
        raise DataError(f"{scene}: {name} has shape {value.shape}; {shape} is needed")
    if not np.isfinite(value).all():
        raise DataError(f"{scene}: {name} has an entry that is {value[~np.isfinite(value)][0]}; all must be finite")
    return value
