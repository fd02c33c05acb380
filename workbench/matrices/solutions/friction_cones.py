"""A friction problem in rationals, and short functions that check statements about its solutions in exact arithmetic.

    K contains r  perp  u + E s in K*,    u = W r + q,    s_i = mu_i |u_t,i| (Coulomb's law), s = 0 (cone problem, CCP)

with the friction cones K = {r_n >= 0, mu r_n >= |r_t|}, their dual cones K* = {u_n >= mu |u_t|}, and E s = s_i n at
every contact. A vector of rationals is in a cone if inequalities between squares hold, so that nothing is rounded.

Existence. Let W be positive semidefinite, S = (W + W^T)/2, and S x + q in the interior of K* for some x. Then both
problems have a solution. With W + eps I instead of W, r is a continuous and bounded function of s, so that the map
s -> mu |u_t| has a fixed point (Brouwer). If these solutions r grew without bound as eps goes to zero, a limit e of
r/|r| would be in K with S e = 0 and q . e <= 0, since r . W r + eps |r|^2 + q . r + r . E s = 0, of which only q . r
may be negative; but q . e = (S x + q) . e > 0. For W = J M^-1 J^T this is the criterion of Acary, Cadoux, Lemarechal
and Malick (ZAMM 91, 2011): some velocity v has J v + b in the interior of K*. Its dual, q . e > 0 for all e != 0 in K
with S e = 0, is that of Klarbring and Pang (SIAM J. Optim. 8, 1998). If W is symmetric and K polyhedral (in the plane,
or without friction), S x + q in K* is enough: the set of velocities v with J v + b + E s in K* is then Lipschitz
continuous in s, hence the v of least energy in it is continuous, and linear constraints have multipliers without an
interior point.

No solution. If r in K has W^T r = 0 and q . r < 0, then r . u = q . r < 0 for all u = W x + q, so that none is in
K*, and the cone problem has no solution. Under Coulomb's law u + E s in K* means only u_n >= 0, and r must have no
tangential part: the cone problem may have no solution where Coulomb's has one.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from flint import fmpq, fmpq_mat

from workbench.matrices.linear_algebra.definiteness import signs_of_form, symmetric_part
from workbench.matrices.linear_algebra.rationals import Vector, affine, dot, identity, product


@dataclass(frozen=True, eq=False)
class RationalFriction:
    """W (n, n), q (n), mu (r) >= 0 and d tangents, n = r (1 + d); normals first, then tangents contact by contact."""

    W: fmpq_mat
    q: Vector
    mu: Vector
    d: int

    @cached_property
    def S(self) -> fmpq_mat:
        """(W + W^T)/2."""
        return symmetric_part(self.W)

    @cached_property
    def symmetric(self) -> bool:
        return self.W.transpose() == self.W

    @cached_property
    def psd(self) -> bool:
        """Whether W is positive semidefinite, by an exact LDL^T factorisation."""
        return signs_of_form(self.S).negative is None

    def decide(self, deadline: float) -> None:
        """Compute `psd` within a deadline, which the property does not have. Raises OutOfTimeError."""
        if "psd" not in vars(self):
            vars(self)["psd"] = signs_of_form(self.S, deadline).negative is None

    @property
    def polyhedral(self) -> bool:
        return self.d == 1 or not any(self.mu)

    @property
    def frictionless(self) -> "RationalFriction":
        """The problem with mu = 0: K* is then u_n >= 0, all that Coulomb's law requires of u + E s."""
        return replace(self, mu=[fmpq(0)] * len(self.mu))

    def reached(self, x: Vector) -> Vector:
        """S x + q."""
        return affine(self.S, x, self.q)

    def contacts(self, y: Vector) -> list[tuple[fmpq, fmpq, fmpq]]:
        """(y_n, |y_t|^2, mu) of every contact."""
        r, d = len(self.mu), self.d
        squares = [sum((x * x for x in y[r + d * i : r + d * (i + 1)]), fmpq(0)) for i in range(r)]
        return list(zip(y[:r], squares, self.mu, strict=True))

    def in_cone(self, y: Vector) -> bool:
        """Whether y is in K."""
        return all(n >= 0 and mu * mu * n * n >= t for n, t, mu in self.contacts(y))

    def in_dual(self, y: Vector, interior: bool = False) -> bool:
        """Whether y is in K*, or in its interior."""
        return all(
            (n > 0 and n * n > mu * mu * t) if interior else (n >= 0 and n * n >= mu * mu * t)
            for n, t, mu in self.contacts(y)
        )


def shows_absence(p: RationalFriction, r: Vector, coulomb: bool) -> bool:
    """Whether r (n) shows that the problem has no solution, exactly."""
    if len(r) != len(p.q) or dot(p.q, r) >= 0:
        return False
    return not any(product(p.W.transpose(), r)) and (p.frictionless if coulomb else p).in_cone(r)


def at_rest_without_impulse(p: RationalFriction, coulomb: bool) -> bool:
    """Whether r = 0 solves the problem."""
    return (p.frictionless if coulomb else p).in_dual(p.q)


def solves_coulomb(p: RationalFriction, r: Vector) -> bool:
    """Whether r (n) satisfies Signorini's and Coulomb's laws with u = W r + q, exactly."""
    if len(r) != len(p.q) or not p.in_cone(r):
        return False
    u = affine(p.W, r, p.q)
    k, d = len(p.mu), p.d
    for i, ((r_n, _, mu), (u_n, slip, _)) in enumerate(zip(p.contacts(r), p.contacts(u), strict=True)):
        own = slice(k + d * i, k + d * (i + 1))
        power = dot(r[own], u[own])
        # r_t . u_t = -mu r_n |u_t|, compared by squares.
        if u_n < 0 or u_n * r_n != 0 or power > 0 or power * power != mu * mu * r_n * r_n * slip:
            return False
    return True


def planar_lcp(p: RationalFriction) -> tuple[fmpq_mat, Vector]:
    """M, q of Coulomb's problem in the plane as an LCP in (r_n, beta, sigma), r_t = beta+ - beta- (Stewart-Trinkle)."""
    r = len(p.mu)
    W, I, zero = p.W.tolist(), identity(r).tolist(), [fmpq(0)] * r
    rows = [[*row, *(-x for x in row[r:]), *zero] for row in W[:r]]
    for sign in (1, -1):
        rows += [[*(sign * x for x in row), *(-sign * x for x in row[r:]), *I[i]] for i, row in enumerate(W[r:])]
    rows += [[*(mu * x for x in e), *(-x for x in e), *(-x for x in e), *zero] for mu, e in zip(p.mu, I, strict=True)]
    return fmpq_mat(rows), [*p.q, *(-x for x in p.q[r:]), *zero]


def planar_impulses(p: RationalFriction, z: Vector) -> Vector:
    """r (n) of a solution z of `planar_lcp`."""
    r = len(p.mu)
    return [*z[:r], *(a - b for a, b in zip(z[r : 2 * r], z[2 * r : 3 * r], strict=True))]
