"""Balls on a level ground and on each other, as a scene."""

import numpy as np

from workbench.mechanics.instant import Instant, Places, instant
from workbench.mechanics.solids import Plane, ball
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array

GRAVITY = np.array([0.0, 0.0, -9.81])


class Balls(Scene):
    """Homogeneous balls of 1 kg and a tenth of a metre; q are positions and quaternions (B, 7), v velocities (B, 6).

    positions, velocities (B, 3); mu friction; fixed (F, 3) centres of balls that do not move; yaw [rad] by which all is
    turned; drive (3,) an acceleration that pushes every ball beside gravity.
    """

    name = "balls"
    step = 1e-3
    radius = 0.1

    def __init__(self, positions, velocities, mu=0.5, fixed=(), yaw=0.0, drive=(0.0, 0.0, 0.0), ahead=0.02):
        c, s = np.cos(yaw), np.sin(yaw)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self.positions, self.velocities = (np.asarray(x, dtype=float) @ turn.T for x in (positions, velocities))
        self.fixed = np.reshape(np.asarray(fixed, dtype=float), (-1, 3)) @ turn.T
        self.drive, self.mu, self.ahead = turn @ np.asarray(drive, dtype=float), mu, ahead
        self.bodies = [f"ball {i + 1}" for i in range(len(self.positions))]
        spin = 0.4 * self.radius**2
        self.inertia = np.tile([1.0, 1.0, 1.0, spin, spin, spin], len(self.bodies))

    def start(self):
        none = np.zeros_like(self.positions)
        q = np.concatenate([self.positions, np.tile([1.0, 0.0, 0.0, 0.0], (len(none), 1))], axis=1)
        return q.ravel(), np.concatenate([self.velocities, none], axis=1).ravel()

    def poses(self, q):
        x = q.reshape(-1, 7)
        return x[:, :3].copy(), x[:, 3:].copy()

    def advance(self, q: Array, v: Array, h: float) -> Array:
        x, u = q.reshape(-1, 7).copy(), v.reshape(-1, 6)
        x[:, :3] += h * u[:, :3]
        angle = np.linalg.norm(u[:, 3:], axis=1)
        axis = u[:, 3:] / np.where(angle > 0, angle, 1.0)[:, None]
        w, xyz = np.cos(0.5 * h * angle), np.sin(0.5 * h * angle)[:, None] * axis
        a, b = x[:, 3].copy(), x[:, 4:].copy()
        x[:, 3] = w * a - (xyz * b).sum(axis=1)
        x[:, 4:] = w[:, None] * b + a[:, None] * xyz + np.cross(xyz, b)
        x[:, 3:] /= np.linalg.norm(x[:, 3:], axis=1)[:, None]
        return x.ravel()

    def energy(self, q, v):
        return float(0.5 * self.inertia @ v**2 - (self.poses(q)[0] @ (GRAVITY + self.drive)).sum())

    def solids(self):
        return (
            Plane("ground"), *(ball(name, self.radius, body=i) for i, name in enumerate(self.bodies)),
            *(ball("rock", self.radius, centre=x, body=-1) for x in self.fixed),
        )  # fmt: skip

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        x, n = self.poses(q)[0], v.size
        points, normals, pairs, gaps = [], [], [], []

        def touches(point, normal, pair, gap):
            if gap < self.ahead:
                points.append(point), normals.append(normal), pairs.append(pair), gaps.append(gap)

        for i, p in enumerate(x):
            touches(p - [0, 0, self.radius], np.array([0.0, 0.0, 1.0]), (-1, i), p[2] - self.radius)
            for j, other in [*((-1, y) for y in self.fixed), *enumerate(x[:i])]:
                far = np.linalg.norm(p - other)
                touches(0.5 * (p + other), (p - other) / far, (j, i), far - 2 * self.radius)
        r = len(points)
        J, acts = np.zeros((3 * r, n)), np.zeros((3 * r, 6))
        for k, (point, normal, pair) in enumerate(zip(points, normals, pairs, strict=True)):
            across = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
            across /= np.linalg.norm(across)
            for a, axis in enumerate((normal, across, np.cross(normal, across))):
                acts[3 * k + a, :3] = axis
                for body, sign in zip(pair, (-1.0, 1.0), strict=True):
                    if body >= 0:
                        moment = np.cross(point - x[body], axis)
                        J[3 * k + a, 6 * body : 6 * body + 6] = sign * np.append(axis, moment)
        force = np.concatenate([np.tile(GRAVITY + self.drive, (len(x), 1)), np.zeros_like(x)], axis=1).ravel()
        return instant(
            h, np.diag(self.inertia), v, self.inertia * force, J=J, first=3 * np.arange(r + 1), mu=self.mu, phi=gaps,
            key=[1000 * a + b for a, b in pairs],
            places=Places(np.reshape(points, (-1, 3)), np.reshape(pairs, (-1, 2)).astype(np.int64), acts),
        )  # fmt: skip
