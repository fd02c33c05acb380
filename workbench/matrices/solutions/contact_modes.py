"""A proved solution of a friction problem: the equations of the contacts' modes, and an enclosure of their zero.

With u = W p + q, under Coulomb's law k = 0, of the cone problem (CCP) k = mu:

    mode            unknowns         equations                                              strictly
    open                                                                                    u_n > k |u_t|
    frictionless    p_n              u_n = 0                        (mu = 0)                p_n > 0
    stick           p                u = 0                                                  |p_t| < mu p_n
    slip, plane     p_n              u_n = k x u_t,  p_t = -mu x p_n,  x = 1, -1            p_n > 0, x u_t > 0
    slip, space     p_n, c, s, w     u_n = k w,  u_t = w (c, s),  c^2 + s^2 = 1,            p_n > 0, w > 0
                                     p_t = -mu p_n (c, s)

The equations F are quadratic. Krawczyk's test encloses a zero: with a centre x, radii r and any matrix C, if
|C F(x)| + (|I - C F'(x)| + |C| R) r < r, R the radii of F' over the box x +- r, then F has exactly one zero in the box.
If the strict inequalities hold all over the box, that zero is a solution, and the only one with its modes there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from workbench.matrices.linear_algebra.rationals import exact, nearest_double
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import Array

OPEN, STICK, SLIP, FORTH, BACK, FRICTIONLESS = "open", "stick", "slip", "slip+", "slip-", "frictionless"
BITS = 256
"""Working precision of a proof."""
NEWTON_STEPS = 12
SPARE = 100
"""Bits of the working precision reserved for rounding in a box's relative radii."""

Modes = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ModeEquations:
    """The equations of `modes`, one per contact, under Coulomb's law or as a cone problem. Numbers are balls (arb)."""

    friction: RationalFriction
    modes: Modes
    coulomb: bool = True

    @cached_property
    def W(self) -> arb_mat:
        return arb_mat(self.friction.W)

    @cached_property
    def q(self) -> arb_mat:
        return arb_mat(len(self.friction.q), 1, self.friction.q)

    @cached_property
    def active(self) -> list[tuple[int, str, int, list[int]]]:
        """Contact, mode, index of its first unknown, and its rows, normal first; open contacts are omitted."""
        r, d = len(self.friction.mu), self.friction.d
        found, at = [], 0
        for i, mode in enumerate(self.modes):
            if mode != OPEN:
                found.append((i, mode, at, [i, *range(r + d * i, r + d * (i + 1))]))
                at += {STICK: 1 + d, SLIP: 4}.get(mode, 1)
        return found

    @property
    def size(self) -> int:
        return sum({OPEN: 0, STICK: 1 + self.friction.d, SLIP: 4}.get(mode, 1) for mode in self.modes)

    def unknowns(self, p: Sequence[float], u: Sequence[float]) -> list[fmpq]:
        """Approximate unknowns from impulses and velocities (n) in doubles."""
        x: list[float] = []
        for _, mode, _, rows in self.active:
            if mode == STICK:
                x += [p[k] for k in rows]
            elif mode == SLIP:
                slip = float(np.hypot(u[rows[1]], u[rows[2]])) or 1.0
                x += [p[rows[0]], u[rows[1]] / slip, u[rows[2]] / slip, slip]
            else:
                x.append(p[rows[0]])
        return [exact(value) for value in x]

    def impulses(self, x: Sequence[Any]) -> arb_mat:
        """p (n, 1)."""
        p = [arb(0)] * len(self.friction.q)
        for i, mode, at, rows in self.active:
            mu = self.friction.mu[i]
            if mode == STICK:
                for k, row in enumerate(rows):
                    p[row] = arb(x[at + k])
            else:
                p[rows[0]] = arb(x[at])
                for k, row in enumerate(rows[1:]):
                    p[row] = -arb(mu) * x[at] * self._direction(mode, x, at, k)
        return arb_mat(len(p), 1, p)

    def _direction(self, mode: str, x: Sequence[Any], at: int, k: int) -> Any:
        return x[at + 1 + k] if mode == SLIP else {FORTH: 1, BACK: -1, FRICTIONLESS: 0}[mode]

    def velocities(self, x: Sequence[Any]) -> arb_mat:
        """u = W p + q (n, 1)."""
        return self.W * self.impulses(x) + self.q

    def values(self, x: Sequence[Any]) -> list[arb]:
        """F (m)."""
        u, found = self.velocities(x).entries(), []
        for i, mode, at, rows in self.active:
            lift = 0 if self.coulomb else self.friction.mu[i]
            if mode == STICK:
                found += [u[row] for row in rows]
            elif mode == SLIP:
                c, s, slip = x[at + 1 : at + 4]
                found += [u[rows[0]] - lift * slip, u[rows[1]] - slip * c, u[rows[2]] - slip * s, c * c + s * s - 1]
            else:
                sense = self._direction(mode, x, at, 0)
                found.append(u[rows[0]] - lift * sense * u[rows[1]] if sense else u[rows[0]])
        return found

    def jacobian(self, x: Sequence[Any]) -> arb_mat:
        """F' (m, m)."""
        n, m = len(self.friction.q), self.size
        moved = [[arb(0)] * m for _ in range(n)]
        for i, mode, at, rows in self.active:
            mu = self.friction.mu[i]
            if mode == STICK:
                for k, row in enumerate(rows):
                    moved[row][at + k] = arb(1)
                continue
            moved[rows[0]][at] = arb(1)
            for k, row in enumerate(rows[1:]):
                moved[row][at] = -arb(mu) * self._direction(mode, x, at, k)
                if mode == SLIP:
                    moved[row][at + 1 + k] = -arb(mu) * x[at]
        U, J = (self.W * arb_mat(moved)).tolist(), []
        for i, mode, at, rows in self.active:
            lift = arb(0 if self.coulomb else self.friction.mu[i])
            if mode == STICK:
                J += [U[row] for row in rows]
            elif mode == SLIP:
                c, s, slip = x[at + 1 : at + 4]
                normal, first, second, unit = U[rows[0]], U[rows[1]], U[rows[2]], [arb(0)] * m
                normal[at + 3] -= lift
                first[at + 1] -= slip
                first[at + 3] -= c
                second[at + 2] -= slip
                second[at + 3] -= s
                unit[at + 1], unit[at + 2] = arb(2) * c, arb(2) * s
                J += [normal, first, second, unit]
            else:
                sense = self._direction(mode, x, at, 0)
                J.append([a - lift * sense * b for a, b in zip(U[rows[0]], U[rows[1]], strict=True)])
        return arb_mat(J)

    def margins(self, x: Sequence[Any]) -> list[arb]:
        """The quantities that must be positive, or zero in a degenerate solution: u_n - k |u_t| of open contacts, those
        of impulse and slip for others."""
        p, u, d = self.impulses(x).entries(), self.velocities(x).entries(), self.friction.d
        r, found = len(self.friction.mu), []
        for i, mode in enumerate(self.modes):
            tangents, mu = range(r + d * i, r + d * (i + 1)), self.friction.mu[i]
            if mode == OPEN:
                slip = _length([u[k] for k in tangents]) if not self.coulomb and mu else arb(0)
                found.append(u[i] - mu * slip)
            elif mode == STICK:
                found += [p[i], mu * p[i] - _length([p[k] for k in tangents])]
            else:
                found.append(p[i])
        for _, mode, at, rows in self.active:
            if mode == SLIP:
                found.append(arb(x[at + 3]))
            elif mode in (FORTH, BACK):
                found.append(u[rows[1]] * (1 if mode == FORTH else -1))
        return found

    def determinant(self, x: Sequence[Any]) -> arb:
        """det A, whose sign is the index: a slip has rows n, t, columns (1, -mu e), (0, t) and |u_t| / (mu p_n)."""
        n, columns, lines, bent = len(self.friction.q), [], [], []
        for i, mode, at, rows in self.active:
            mu = self.friction.mu[i]
            if mode == STICK:
                columns += [{row: 1} for row in rows]
                lines += [{row: 1} for row in rows]
                bent += [arb(0)] * len(rows)
                continue
            e = [self._direction(mode, x, at, k) for k in range(self.friction.d)]
            lift = 0 if self.coulomb else mu
            columns.append({rows[0]: arb(1)} | {row: -mu * y for row, y in zip(rows[1:], e, strict=True)})
            lines.append({rows[0]: arb(1)} | {row: -lift * y for row, y in zip(rows[1:], e, strict=True)})
            bent.append(arb(0))
            if mode == SLIP:
                across = {rows[1]: -e[1], rows[2]: e[0]}
                columns.append(across)
                lines.append(across)
                bent.append(x[at + 3] / (mu * x[at]))
        if not lines:
            return arb(1)
        L = arb_mat([[line.get(k, 0) for k in range(n)] for line in lines])
        R = arb_mat([[column.get(k, 0) for k in range(n)] for column in columns]).transpose()
        A = L * self.W * R
        for k, value in enumerate(bent):
            A[k, k] += value
        return A.det()


def _length(x: list[Any]) -> Any:
    """The norm of balls; Arb's square root is undefined on balls around zero, which hold negative numbers too."""
    least, largest = ([bound(value) for value in x] for bound in (arb.abs_lower, arb.abs_upper))
    return sum((y * y for y in least), arb(0)).sqrt().union(sum((y * y for y in largest), arb(0)).sqrt())


@dataclass(frozen=True, eq=False)
class EnclosedZero:
    """A box with exactly one zero of the equations: rational centre and radii (m), and the C (m, m) of the test."""

    equations: ModeEquations
    centre: list[fmpq]
    radii: list[fmpq]
    C: Array

    @property
    def box(self) -> list[arb]:
        return [arb(c, r) for c, r in zip(self.centre, self.radii, strict=True)]

    def margins(self) -> list[arb]:
        with ctx.workprec(BITS):
            return self.equations.margins(self.box)

    def determinant(self) -> arb:
        with ctx.workprec(BITS):
            return self.equations.determinant(self.box)

    def impulses(self) -> list[arb]:
        with ctx.workprec(BITS):
            return self.equations.impulses(self.box).entries()

    def velocities(self) -> list[arb]:
        with ctx.workprec(BITS):
            return self.equations.velocities(self.box).entries()

    @property
    def is_solution(self) -> bool:
        """Whether all inequalities hold strictly."""
        return all(margin > 0 for margin in self.margins())

    def distance(self, p: Sequence[float]) -> float:
        """An upper bound, rounded up, of the distance from impulses p (n) to the solution, in the largest entry."""
        with ctx.workprec(BITS):
            own = self.equations.impulses(self.box).entries()
            parts = [abs(x - arb(exact(y))).upper() for x, y in zip(own, p, strict=True)]
        return max((float(np.nextafter(float(part), np.inf)) for part in parts), default=0.0)


def enclosed(equations: ModeEquations, x: list[fmpq]) -> EnclosedZero | None:
    """The zero that Newton's method finds from x (m), enclosed; None if it finds none, or none that is isolated."""
    if not x:
        return EnclosedZero(equations, [], [], np.zeros((0, 0)))
    with ctx.workprec(BITS):
        centre = [arb(value).mid() for value in x]
        for _ in range(NEWTON_STEPS):
            F = arb_mat(len(centre), 1, equations.values(centre))
            try:
                step = equations.jacobian(centre).solve(F).entries()
            except ZeroDivisionError:
                return None
            centre = [(a - b).mid() for a, b in zip(centre, step, strict=True)]
            if not all(value.is_finite() for value in centre):
                return None
            if all(abs(b).upper() <= arb(2) ** (SPARE - BITS) * _scale(a) for a, b in zip(centre, step, strict=True)):
                break
        return _tested(equations, centre)


def _scale(x: arb) -> arb:
    return max(abs(x).upper(), arb(2) ** -900)


def _tested(equations: ModeEquations, centre: list[arb]) -> EnclosedZero | None:
    """Krawczyk's test around the centre."""
    m = len(centre)
    J = equations.jacobian(centre)
    try:
        inverse = J.inv()
    except ZeroDivisionError:
        return None
    C = np.array([[float(value) for value in row] for row in inverse.tolist()])
    if not np.isfinite(C).all():
        return None
    by = arb_mat(C.tolist())
    rest = [abs(x).upper() for x in (by * arb_mat(m, 1, equations.values(centre))).entries()]
    radii = [2 * b + arb(2) ** (SPARE - BITS) * _scale(a) for a, b in zip(centre, rest, strict=True)]
    radii = [x.upper() for x in radii]
    box = [arb(c.mid().fmpq(), x.upper().fmpq()) for c, x in zip(centre, radii, strict=True)]
    off = by * equations.jacobian(box)
    for i in range(m):
        spread = sum((abs(off[i, j] - int(i == j)).upper() * radii[j] for j in range(m)), arb(0))
        if not rest[i] + spread < radii[i]:
            return None
    return EnclosedZero(equations, [c.mid().fmpq() for c in centre], [x.upper().fmpq() for x in radii], C)


def modes_of(friction: RationalFriction, p: Array, u: Array, coulomb: bool = True) -> Modes:
    """The modes of a solution p, u (n), decided by the larger of impulse and velocity, in units of each contact."""
    r, d, found = len(friction.mu), friction.d, []
    for i, coefficient in enumerate(friction.mu):
        rows, mu = slice(r + d * i, r + d * (i + 1)), nearest_double(coefficient)
        own = [i, *range(r + d * i, r + d * (i + 1))]
        unit = sum(nearest_double(friction.W[k, k]) for k in own) / len(own) or 1.0
        slip = float(np.linalg.norm(u[rows]))
        if unit * p[i] <= u[i] - (0.0 if coulomb else mu * slip):
            found.append(OPEN)
        elif mu == 0.0:
            found.append(FRICTIONLESS)
        elif slip <= unit * (mu * p[i] - float(np.linalg.norm(p[rows]))):
            found.append(STICK)
        else:
            found.append(SLIP if d == 2 else FORTH if u[rows][0] > 0 else BACK)
    return tuple(found)
