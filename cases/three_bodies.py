"""Three bodies with six contacts, the example of Trinkle's notes (p. 8, 9), on a platform with prescribed motion.

The notes give the contact graph but no geometry. This geometry has the same graph, including bodies 1 and 2 of each
contact (the normal points into body 1): a plank A lies on a fixed ball and on a roller B of two equal balls, which
stands on a conveyor belt; a ball E is thrown along the plank.

    contact     1          2    3, 4      5    6                      1     2     3     4     5     6
    body 1      A          B    B         A    E                A  [ G_1n1 G_2n2  0     0    G_5n1 G_6n2 ]
    body 2      support    A    belt      B    A          G_n = B  [  0    G_2n1 G_3n1 G_4n1 G_5n2  0    ]
                                                                E  [  0     0     0     0     0    G_6n1 ]

Contacts 2 and 3 belong to one ball of the roller, 4 and 5 to the other. Support and belt are motion-controlled (notes,
p. 7): the platform rises with acceleration a, the belt moves along x with acceleration c. Contacts 1 to 5 are 15 rows
on the 12 velocities of A and B, so that the graph alone leaves three combinations of contact forces undetermined.

While the plank sticks to its support and the roller rolls, the motion is known: the platform carries m (g + a);
the roller's centre moves at half the belt's speed, which takes the force F = (m_B - I_B/R^2) c / 4 from the plank and,
once the ball rolls, from the support; and the ball slides under the weight m_E (g + a) for 2 v_0 / (7 mu (g + a)), then
rolls at 5/7 v_0.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.mechanics.bodies import (
    F64,
    GROUND,
    I64,
    RigidBodies,
    fill_body,
    fill_contact,
    move_obstacle,
    place,
    point_of,
    rotation,
    turned,
)
from workbench.mechanics.case import UNTURNED, Array, Truth, quantity
from workbench.mechanics.core import CORE, FILL
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, Y, ball, cuboid, cylinder

A, B, E = range(3)
INNER, OUTER = (1, 4, 5), (0, 2, 3)
"""Contacts between two of the bodies; contacts with motion-controlled bodies."""

# Positions in `ThreeBodies.data()`; the stick threshold and gravity come first.
G, M_A, M_B, M_E, LENGTH, WIDTH, THICK, RADIUS, GAUGE, R_E, SUPPORT = range(1, 12)
MU_SUPPORT, MU_ROLLER, MU_BELT, MU_BALL, RISE, BELT = range(14, 20)

STICKS = 1e-9
"""Fraction of the speeds of the motion below which a contact sticks: above round-off, far below a step's change."""


@kernel(types.void(CORE, I64, VECTOR, I64, VECTOR, F64, F64, F64, types.boolean, F64))
def fill_plank_contact(core, i, q, ball, centre, radius, half, side, plank_first, mu):
    """Contact i of the plank's upper (side 1) or lower (-1) face with a ball; the plank is body 1 if `plank_first`."""
    R, n, t, point = np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    rotation(q, A, R)
    gap = -half - radius
    for k in range(3):
        outward = side * R[k, 2]
        n[k], t[k] = -outward if plank_first else outward, R[k, 0]
        gap += outward * (centre[k] - q[7 * A + k])
        point[k] = centre[k] - radius * outward
    lower, upper = (ball, A) if plank_first else (A, ball)
    fill_contact(core, i, q, lower, upper, point, n, t, gap, mu)


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `ThreeBodies`."""
    radius, half, time = data[RADIUS], 0.5 * data[THICK], q[21]
    l, w, d = data[LENGTH] ** 2, data[WIDTH] ** 2, data[THICK] ** 2
    m, axle = data[M_A] / 12.0, 0.4 * data[M_B] * radius**2
    across, ball = axle + 0.25 * data[M_B] * data[GAUGE] ** 2, 0.4 * data[M_E] * data[R_E] ** 2
    fill_body(core, v, A, data[M_A], m * (w + d), m * (l + d), m * (l + w), data[G])
    fill_body(core, v, B, data[M_B], across, axle, across, data[G])
    fill_body(core, v, E, data[M_E], ball, ball, ball, data[G])
    n, t, s, x, moves = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    n[2] = t[0] = 1.0
    height = 0.5 * data[RISE] * time**2
    x[0], x[2], moves[2] = data[SUPPORT], height + radius, data[RISE] * time
    fill_plank_contact(core, 0, q, GROUND, x, radius, half, -1.0, True, data[MU_SUPPORT])
    R = np.empty((3, 3))
    rotation(q, A, R)
    move_obstacle(core, 0, R[:, 2].copy(), R[:, 0].copy(), moves)
    moves[0] = data[BELT] * time
    for side in range(2):
        s[1] = (0.5 - side) * data[GAUGE]
        point_of(q, B, s, x)
        fill_plank_contact(core, 1 + 3 * side, q, B, x, radius, half, -1.0, side == 1, data[MU_ROLLER])
        x[2] -= radius
        fill_contact(core, 2 + side, q, GROUND, B, x, n, t, x[2] - height, data[MU_BELT])
        move_obstacle(core, 2 + side, n, t, moves)
    point_of(q, E, np.zeros(3), x)
    fill_plank_contact(core, 5, q, E, x, data[R_E], half, 1.0, False, data[MU_BALL])


@dataclass(frozen=True)
class ThreeBodies(RigidBodies):
    """The notes' block matrices with numbers in them."""

    name: ClassVar[str] = "three-bodies"
    description: ClassVar[str] = "a plank on a support and a roller on a moving belt, a ball thrown along the plank"
    source: ClassVar[str] = "Trinkle, lecture notes “Add Coulomb friction”, 2018, p. 7 to 11"
    size: ClassVar[tuple[int, int, int, int]] = (18, 0, 6, 2)
    duration: ClassVar[float] = 0.5
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.13)}
    fill: ClassVar[Any] = staticmethod(fill)

    m_plank: float = quantity(2.0, "kg", "mass of the plank", "positive")
    m_roller: float = quantity(1.0, "kg", "mass of the roller, both balls", "positive")
    m_ball: float = quantity(0.5, "kg", "mass of the ball on the plank", "positive")
    length: float = quantity(1.6, "m", "length of the plank", "positive")
    width: float = quantity(0.3, "m", "width of the plank", "positive")
    thickness: float = quantity(0.04, "m", "thickness of the plank", "positive")
    radius: float = quantity(0.05, "m", "radius of the support and of the roller's balls", "positive")
    gauge: float = quantity(0.2, "m", "distance between the roller's balls", "positive")
    radius_ball: float = quantity(0.06, "m", "radius of the ball on the plank", "positive")
    support: float = quantity(-0.6, "m", "x of the support")
    roller: float = quantity(0.4, "m", "initial x of the roller")
    ball: float = quantity(-0.3, "m", "initial x of the ball")
    mu_support: float = quantity(0.5, "-", "friction coefficient at contact 1", "nonnegative")
    mu_roller: float = quantity(0.4, "-", "friction coefficient at contacts 2 and 5", "nonnegative")
    mu_belt: float = quantity(0.6, "-", "friction coefficient at contacts 3 and 4", "nonnegative")
    mu_ball: float = quantity(0.2, "-", "friction coefficient at contact 6", "nonnegative")
    rise: float = quantity(1.0, "m/s2", "upward acceleration of the platform", "nonnegative")
    belt: float = quantity(1.5, "m/s2", "acceleration of the belt along x")
    speed: float = quantity(1.0, "m/s", "initial speed of the ball", "positive")
    direction: float = quantity(15.0, "deg", "direction of that speed, from the x axis")

    def inertias(self) -> Array:
        plank, across = self.m_plank / 12, 0.25 * self.m_roller * self.gauge**2
        axle, ball = 0.4 * self.m_roller * self.radius**2, 0.4 * self.m_ball * self.radius_ball**2
        l, w, d = self.length**2, self.width**2, self.thickness**2
        return np.array(
            [
                [self.m_plank, plank * (w + d), plank * (l + d), plank * (l + w)],
                [self.m_roller, axle + across, axle, axle + across],
                [self.m_ball, ball, ball, ball],
            ]
        )

    def start(self) -> tuple[Array, Array]:
        top, angle = 2 * self.radius + self.thickness, np.radians(self.direction)
        x = place(
            ((0.0, 0.0, top - 0.5 * self.thickness),), ((self.roller, 0.0, self.radius),),
            ((self.ball, 0.0, top + self.radius_ball),),
        )  # fmt: skip
        v = np.zeros(18)
        v[12:14] = self.speed * np.array([np.cos(angle), np.sin(angle)])
        return np.append(x, 0.0), v

    def solids(self) -> list[Solid | Plane]:
        """Plank, roller and ball, and the moving bodies: the support on its pedestal, the belt under the roller."""
        r, w, gauge = self.radius, 0.5 * self.width, self.gauge
        support, belt = len(self.inertias()), len(self.inertias()) + 1
        return [
            cuboid("plank", (0.5 * self.length, w, 0.5 * self.thickness), body=A),
            cylinder("roller", 0.3 * r, gauge, axis=Y, body=B),
            *(ball("roller", r, (0.0, y, 0.0), B) for y in (-0.5 * gauge, 0.5 * gauge)),
            ball("ball", self.radius_ball, body=E),
            ball("support", r, (0.0, 0.0, r), support),
            cuboid("pedestal", (r, w, 0.3 * r), (0.0, 0.0, -0.3 * r), support),
            cuboid("belt", (0.4 * self.length, w, 0.3 * r), (0.0, 0.0, -0.3 * r), belt),
        ]

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Poses of the three bodies, and of support and belt, which move as prescribed."""
        position, orientation = super().poses(q)
        time, still = q[..., 21], np.zeros_like(q[..., 21])
        rise, run = 0.5 * self.rise * time**2, self.roller + 0.5 * self.belt * time**2
        moved = [np.stack([x, still, rise], axis=-1)[..., None, :] for x in (self.support + still, run)]
        unturned = [0 * orientation[..., :1, :] + UNTURNED for _ in moved]
        return np.concatenate([position, *moved], axis=-2), np.concatenate([orientation, *unturned], axis=-2)

    def annotations(self) -> list[Annotation]:
        (q, v), r, far = self.start(), self.radius, 0.15 * self.length
        x = q[14:17]
        return [
            Arrow(x, x + 2 * far * v[12:15] / self.speed, "v₀"),
            Arrow((self.roller, -self.width, 0.0), (self.roller + far, -self.width, 0.0), "c"),
            Arrow((self.support, 0.0, -4 * r), (self.support, 0.0, -1.5 * r), "a"),
        ]

    def wrench(self, run: Any, contacts: tuple[int, ...]) -> Array:
        """Impulse (3,) [N s] of contacts on the bodies over a run, and its moment about the origin (3,) [N m s]."""
        rows = np.concatenate([[i, 6 + 2 * i, 7 + 2 * i] for i in contacts])
        f = np.einsum("kij,ki->kj", run.record.J[:, rows], run.record.p[:, rows])
        q, total = run.states_q[:-1], np.zeros(6)
        for k in (A, B, E):
            force, moment = f[:, 6 * k : 6 * k + 3], f[:, 6 * k + 3 : 6 * k + 6]
            total[:3] += force.sum(axis=0)
            total[3:] += (np.cross(q[:, 7 * k : 7 * k + 3], force) + turned(q, k, moment)).sum(axis=0)
        return total

    def unbalanced(self, run: Any) -> Array:
        """Change of linear and angular momentum over a run less the impulses of weight and outer contacts, (6,)."""
        q, v, (m, *_) = run.states_q, run.states_v, self.inertias().T
        weight = np.array([0.0, 0.0, -m.sum() * self.gravity * run.h])
        given = self.wrench(run, OUTER)
        given[:3] += run.steps * weight
        given[3:] += np.cross(self.centre(q[:-1]), weight).sum(axis=0)
        gained = [self.momentum(v[-1]) - self.momentum(v[0]), *(self.angular_momentum(q, v)[[0, -1]])]
        return np.concatenate([gained[0], gained[2] - gained[1]]) - given

    def truths(self, reference: Any) -> list[Truth]:
        """Newton's laws for the whole system, and the closed forms while contacts 1 to 5 stick, as they do by default.

        Speeds of the platform reach the bodies one step late, so the tolerance is at least h times an acceleration; the
        angular balance is exact because every body rotates about a principal axis.
        """
        h, duration = reference.h, reference.h * reference.steps
        m, load = float(self.inertias()[:, 0].sum()), self.gravity + self.rise
        size = m * load * duration * self.length
        inner = np.abs(self.wrench(reference, INNER)).max()
        loose = np.abs(self.unbalanced(reference))
        newton = "Newton's third law"
        found = [
            Truth("impulse and moment of the inner contacts", float(inner), 0.0, 1e-12 * size, "N s, N m s", newton),
            Truth("unaccounted momentum", float(loose[:3].max()), 0.0, 1e-12 * size, "N s", "momentum balance"),
        ]
        speeds = self.speed + abs(self.belt) * duration
        if np.abs(reference.u_t[:, :5]).max() > STICKS * speeds or reference.steps < 3:
            return found
        bears = float(reference.p_n[-1, list(OUTER)].sum() / h)
        held = 0.25 * self.belt * 0.6 * self.m_roller
        rolls = np.linalg.norm(reference.u_t[:, 5], axis=-1) <= STICKS * speeds
        speed, lag = float(reference.states_v[-1, 6]), abs(self.belt) * h
        found += [
            Truth(
                "unaccounted angular momentum", float(loose[3:].max()), 0.0, 1e-9 * size, "N m s", "angular momentum"
            ),
            Truth("load on the platform", bears, m * load, 1e-9 * m * load, "N", "m (g + a)"),
            Truth("speed of the roller", speed, 0.5 * self.belt * duration, lag, "m/s", "half the belt's speed"),
        ]
        if self.mu_ball == 0 or not rolls.any() or rolls[-2] == 0:
            return found
        slides = 2 * self.speed / (7 * self.mu_ball * load)
        force, ball = float(reference.p_t[-1, 0, 0] / h), float(np.linalg.norm(reference.states_v[-1, 12:14]))
        return [
            *found,
            Truth("force of the support", force, held, 1e-9 * m * load, "N", "(m_B - I_B/R^2) c / 4"),
            Truth(
                "end of the ball's sliding", float(h * (np.argmax(rolls) + 1)), slides, 2 * h, "s", "under m (g + a)"
            ),
            Truth("final speed of the ball", ball, 5 / 7 * self.speed, 1e-9 * speeds, "m/s", "5/7 v_0"),
        ]
