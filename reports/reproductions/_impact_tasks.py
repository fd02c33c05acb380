"""The three tasks of arXiv 2207.05060: two coordinates of unit mass between impacts, their exact motions, and cases.

Gaps are J_i q + c_i, the force f is constant, and Newton's restitution e changes J_i v to -e J_i v. So the motion is a
polynomial between impacts, and the time of an impact solves a quadratic equation. The loss of a task is computed from
its start in ball arithmetic, as a series in one of the four numbers of the start, whose first coefficient is the
derivative (`exact_gradient`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import arb, arb_series, ctx

from workbench.engine.compiling import kernel
from workbench.mechanics.case import Case, quantity
from workbench.mechanics.core import ADVANCE, FILL
from workbench.support.arrays import Array

BITS = 128
"""Precision of the exact motions."""
START = ("q_1", "q_2", "v_1", "v_2")
"""The numbers of a task's start."""
ROWS, FORCE = 3 + len(START), 3 + len(START) + 6
"""Positions in the data of [J_i, c_i] and of the force, after v_th, the start, restitution and placement."""


@kernel(FILL)
def fill(q, v, data, core):
    """Unit masses, the force, and two contacts without friction."""
    for i in range(2):
        x, y = data[ROWS + 3 * i], data[ROWS + 3 * i + 1]
        core.M[i, i], core.M[i, 1 - i] = 1.0, 0.0
        core.f[i] = data[FORCE + i]
        core.J_n[i, 0], core.J_n[i, 1], core.J_t[i, 0], core.J_t[i, 1] = x, y, -y, x
        core.phi[i] = x * q[0] + y * q[1] + data[ROWS + 3 * i + 2]
        core.mu[i], core.e[i] = 0.0, data[E]


@kernel(ADVANCE)
def advance(q, v, h, data, q_next):
    """Write q + h v, from which an impact takes `placement` times the penetration along the normal."""
    q_next[0], q_next[1] = q[0] + h * v[0], q[1] + h * v[1]
    for i in range(2):
        x, y = data[ROWS + 3 * i], data[ROWS + 3 * i + 1]
        gap, u = x * q[0] + y * q[1] + data[ROWS + 3 * i + 2], x * v[0] + y * v[1]
        if gap <= 0.0 and u > 0.0:
            back = data[PLACEMENT] * gap / (x * x + y * y)
            q_next[0], q_next[1] = q_next[0] - x * back, q_next[1] - y * back


@dataclass(frozen=True)
class ImpactTask(Case):
    """A task: `rows` [J_i, c_i] of two gaps, the force, and the number of steps of the paper.

    Under Moreau's law a step that begins at a depth d below a surface is that of the impact. With `placement` 0 the
    time of the impact within its step has no effect. With 1 the ball is first moved to the surface, as by the
    projection of position-based dynamics; with 1 + e to e d above it, where it would be had it left the surface at the
    time of the impact.
    """

    size: ClassVar[tuple[int, int, int, int]] = (2, 0, 2, 1)
    normal: ClassVar[str] = "moreau"
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance)
    rows: ClassVar[Any]
    force: ClassVar[tuple[float, float]] = (0.0, 0.0)
    steps: ClassVar[int]

    q_1: float = quantity(0.0, "m", "first coordinate at the start")
    q_2: float = quantity(0.0, "m", "second coordinate at the start")
    v_1: float = quantity(0.0, "m/s", "its velocity")
    v_2: float = quantity(0.0, "m/s", "its velocity")
    e: float = quantity(1.0, "-", "restitution", "positive")
    placement: float = quantity(0.0, "-", "how many penetrations an impact moves back: 0, 1 or 1 + e")

    @property
    def h(self) -> float:
        """Step of the paper [s]."""
        return self.duration / self.steps

    def data(self) -> Array:
        return np.concatenate([super().data(), np.ravel(self.rows), self.force])

    def start(self) -> tuple[Array, Array]:
        return np.array([self.q_1, self.q_2]), np.array([self.v_1, self.v_2])

    def centre(self, q: Array) -> Array:
        return np.stack([q[..., 0], np.zeros_like(q[..., 0]), q[..., 1]], axis=-1)

    def energy(self, q: Array, v: Array) -> Array:
        return 0.5 * (v**2).sum(axis=-1) - q @ np.array(self.force)

    def loss(self, end: Array) -> tuple[float, Array]:
        """The loss of the coordinates (2,) at the end, and its gradient by them."""
        raise NotImplementedError

    def closed_form(self, start: Sequence[Any]) -> Any:
        """The loss of the event-driven motion that begins with the numbers `START`, balls or series of them."""
        raise NotImplementedError

    def exact_start(self) -> list[arb]:
        """The numbers `START`, as printed."""
        return [exact(getattr(self, name)) for name in START]


PLACEMENT, E = ImpactTask.places("placement", "e")


@dataclass(frozen=True)
class BounceOnce(ImpactTask):
    """Task 1: a ball of radius 0.1 m falls onto a floor without gravity; the loss is its height after 1 s."""

    name: ClassVar[str] = "bounce-once"
    duration: ClassVar[float] = 1.0
    steps: ClassVar[int] = 480
    rows: ClassVar[Any] = ((0.0, 1.0, -0.1), (0.0, 0.0, 1.0))

    q_1: float = quantity(-1.0, "m", "initial x")
    q_2: float = quantity(1.0, "m", "initial height of the centre")
    v_1: float = quantity(2.0, "m/s", "initial xdot")
    v_2: float = quantity(-2.0, "m/s", "initial zdot")

    def loss(self, end: Array) -> tuple[float, Array]:
        return float(end[1]), np.array([0.0, 1.0])

    def closed_form(self, start: Sequence[Any]) -> Any:
        _, y, _, v = start
        r, e, T = exact(0.1), exact(self.e), exact(self.duration)
        return r - e * v * (T - (r - y) / v)


@dataclass(frozen=True)
class GroundAndWall(ImpactTask):
    """Task 2: a ball of radius 0.1 m thrown on a floor and against a wall; the loss is its squared distance from a
    target after 0.6 s. It meets the floor first."""

    name: ClassVar[str] = "ground-and-wall"
    duration: ClassVar[float] = 0.6
    steps: ClassVar[int] = 288
    rows: ClassVar[Any] = ((0.0, 1.0, -0.1), (-1.0, 0.0, 1.65))
    force: ClassVar[tuple[float, float]] = (0.0, -9.8)
    target: ClassVar[tuple[float, float]] = (-2.0, 1.5)

    q_1: float = quantity(-0.5, "m", "initial x")
    q_2: float = quantity(1.0, "m", "initial height of the centre")
    v_1: float = quantity(5.0, "m/s", "initial xdot")
    v_2: float = quantity(-5.0, "m/s", "initial zdot")
    e: float = quantity(0.92, "-", "restitution", "positive")

    def loss(self, end: Array) -> tuple[float, Array]:
        apart = end - self.target
        return float(apart @ apart), 2 * apart

    def closed_form(self, start: Sequence[Any]) -> Any:
        x, y, v_x, v_y = start
        r, e, g, wall, T = map(exact, (0.1, self.e, -self.force[1], 1.65, self.duration))
        approach = (v_y * v_y + 2 * g * (y - r)).sqrt()
        left = T - (v_y + approach) / g
        x_apart = wall - e * v_x * (T - (wall - x) / v_x) - exact(self.target[0])
        y_apart = r + e * approach * left - g * left * left / 2 - exact(self.target[1])
        return x_apart * x_apart + y_apart * y_apart


@dataclass(frozen=True)
class TwoBalls(ImpactTask):
    """Task 3: a ball of radius 0.2 m is pushed along a diagonal by 3 N along each axis and strikes another; the loss is
    the second one's squared distance from the origin after 1 s, and 0.1 times the integral of the squared force.

    The coordinates are those along the diagonal, so that derivatives by one of x and y are theirs over sqrt(2).
    """

    name: ClassVar[str] = "two-balls"
    duration: ClassVar[float] = 1.0
    steps: ClassVar[int] = 480
    rows: ClassVar[Any] = ((-1.0, 1.0, -0.4), (0.0, 0.0, 1.0))
    force: ClassVar[tuple[float, float]] = (3 * np.sqrt(2.0), 0.0)
    weight: ClassVar[float] = 0.1

    q_1: float = quantity(-2 * np.sqrt(2.0), "m", "initial place of the first ball")
    q_2: float = quantity(-np.sqrt(2.0), "m", "initial place of the second ball")

    def loss(self, end: Array) -> tuple[float, Array]:
        return float(end[1] ** 2) + 18 * self.weight, np.array([0.0, 2 * end[1]])

    def closed_form(self, start: Sequence[Any], first: Any = None) -> Any:
        """The loss; `first` is the force along the diagonal in the first step, where it differs from the others."""
        x, y, v, w = start
        T, h, weight = exact(self.duration), exact(self.duration) / self.steps, exact(self.weight)
        force = 3 * arb(2).sqrt()
        first = force if first is None else first
        # At the end of the first step, from which the force is constant.
        x, y, v = x + v * h + first * h * h / 2, y + w * h, v + first * h
        apart, closing = y - x - exact(0.4), v - w
        t = ((closing * closing + 2 * force * apart).sqrt() - closing) / force
        # Equal masses exchange their velocities.
        end = y + w * t + (v + force * t) * (T - h - t)
        return end * end + weight * (first * first * h + force * force * (T - h))

    def exact_slope_by_first_force(self) -> float:
        """d(loss)/d(force along the diagonal in the first step)."""
        with ctx.workprec(BITS):
            series = self.closed_form(self.exact_start(), arb_series([3 * arb(2).sqrt(), 1], prec=2))
            return number(series[1])

    def exact_optimum(self) -> float:
        """The smallest loss of all forces: that of the best time s of the impact, with the best speed v at it.

        A force that is linear in time brings the first ball over the gap d to the speed v in the time s at the least
        integral of its square, 4 (v^2 / s - 3 v d / s^2 + 3 d^2 / s^3). The loss is quadratic in v.
        """
        with ctx.workprec(BITS):
            s = arb("0.68")
            for _ in range(8):
                cost = self._cost(arb_series([s, 1], prec=3))
                s = (s - cost[1] / (2 * cost[2])).mid()
            return number(self._cost(s))

    def _cost(self, s: Any) -> Any:
        d, far, weight = arb(2).sqrt() - exact(0.4), arb(2).sqrt(), exact(self.weight)
        T = exact(self.duration)
        a, b = 4 * weight / s + (T - s) * (T - s), 12 * weight * d / (s * s) + 2 * far * (T - s)
        return far * far + 12 * weight * d * d / (s * s * s) - b * b / (4 * a)


def exact(x: float) -> arb:
    """The decimal number that a double prints as."""
    return arb(repr(float(x)))


def number(x: arb) -> float:
    """The double in the middle of a ball, which must be narrower than its last digit."""
    assert float(x.rad()) <= 1e-20 * max(1.0, abs(float(x.mid())))
    return float(x.mid())


def exact_gradient(task: ImpactTask) -> tuple[float, Array]:
    """The loss of the event-driven motion and its derivatives (4,) by the start."""
    with ctx.workprec(BITS):
        start, found = task.exact_start(), []
        for j in range(len(START)):
            series = [arb_series([x, int(i == j)], prec=2) for i, x in enumerate(start)]
            found.append(task.closed_form(series))
        return number(found[0][0]), np.array([number(x[1]) for x in found])
