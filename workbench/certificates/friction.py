"""Check whether a friction problem has a solution, under Coulomb's law or as a cone problem. Standard library only.

W (n, n), q (n), mu (r) >= 0, d tangents, n = r (1 + d): normals first, then tangents contact by contact. All cones are
compared by squares. For the proofs see docs/formulary.md, section 3, and `solutions.friction_cones`.

exists, kind  "no impulse"   r = 0 is a solution
              "interior"     W + W^T is positive semidefinite, and u = (W + W^T) x / 2 + q has u_n > mu |u_t| everywhere
              "polyhedral"   the same with >=, for a symmetric W in the plane or without friction
              "definite"     W + W^T is positive definite, by `factors`
              "solution"     r satisfies Coulomb's law
              "enclosure"    a box of modes, centre, radii and C holds a solution, by `contact_modes`
              "islands"      every one of the `islands`, each {contacts, support}, has a solution
none, kind    "self-stress"  r in K (Coulomb's law: without tangential part) has W^T r = 0 and q . r < 0
              "cover"        in the plane: the LCP of Stewart and Trinkle has no solution (`solutions`)
              "island"       some `contacts`, whose velocities depend on their own impulses only, have none

Islands are contacts whose velocities depend on their own impulses only. A large W needs islands, or r = 0.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from workbench.certificates import factors
from workbench.certificates.contact_modes import check_enclosure
from workbench.certificates.documents import check_fields
from workbench.certificates.exact import (
    AnyRows,
    Rows,
    Vector,
    dot,
    indices,
    is_positive_semidefinite,
    is_sparse,
    nonzeros,
    part,
    symmetric,
    times,
    transposed,
    vector,
)
from workbench.certificates.outcomes import RefusedError, RefutedError
from workbench.certificates.solutions import check_no_solution

LAWS = ("Coulomb's law", "cone problem")

FIELDS = {
    ("exists", "no impulse"): (),
    ("exists", "interior"): ("x",),
    ("exists", "polyhedral"): ("x",),
    ("exists", "definite"): ("factors",),
    ("exists", "solution"): ("r",),
    ("exists", "enclosure"): ("modes", "centre", "radii", "C"),
    ("exists", "islands"): ("islands",),
    ("none", "island"): ("contacts", "support"),
    ("none", "self-stress"): ("r",),
    ("none", "cover"): ("cover",),
}
"""The fields of a support besides `kind`, for a verdict and a kind."""


@dataclass(frozen=True)
class Friction:
    """The data of a friction problem, of consistent sizes, and its cones."""

    W: AnyRows
    q: Vector
    mu: Vector
    d: int

    def contacts(self, y: Vector) -> list[tuple[Fraction, Vector, Fraction]]:
        """(y_n, y_t, mu) of every contact."""
        r, d = len(self.mu), self.d
        return [(y[i], y[r + d * i : r + d * (i + 1)], self.mu[i]) for i in range(r)]

    def island(self, contacts: list[int]) -> "Friction":
        """The problem of these contacts alone. RefusedError if an impulse of another contact changes a velocity."""
        r, d = len(self.mu), self.d
        rows = [*contacts, *(r + d * i + k for i in contacts for k in range(d))]
        own = set(rows)
        if any(x and j not in own for i in rows for j, x in nonzeros(self.W[i])):
            raise RefutedError(f"the velocity of a contact of {contacts[:3]} depends on the impulse of another contact")
        return Friction(part(self.W, rows), [self.q[i] for i in rows], [self.mu[i] for i in contacts], d)

    def islands(self, given: Any) -> list[tuple["Friction", dict[str, Any]]]:
        """The problems of islands, each {contacts, support}, and their supports. RefusedError unless the islands share
        out all contacts."""
        if not isinstance(given, list):
            raise RefusedError("the islands are not a list")
        found, seen = [], []
        for island in given:
            check_fields(island, ("contacts", "support"), "an island")
            contacts = indices(island["contacts"], len(self.mu), "the contacts")
            if not contacts or not isinstance(island["support"], dict):
                raise RefusedError("an island needs contacts and a support")
            found.append((self.island(contacts), island["support"]))
            seen += contacts
        if sorted(seen) != list(range(len(self.mu))):
            raise RefusedError("the islands do not share out all contacts")
        return found

    def in_dual(self, u: Vector, interior: bool = False, mu: bool = True) -> bool:
        """Whether u_n >= mu |u_t| at every contact, or > in the interior; without mu, u_n >= 0."""
        for u_n, u_t, friction in self.contacts(u):
            slip = friction**2 * dot(u_t, u_t) if mu else Fraction(0)
            if u_n < 0 or u_n**2 < slip or (interior and u_n**2 == slip):
                return False
        return True

    def in_cone(self, r: Vector) -> bool:
        """Whether r_n >= 0 and |r_t| <= mu r_n at every contact."""
        return all(r_n >= 0 and dot(r_t, r_t) <= (mu * r_n) ** 2 for r_n, r_t, mu in self.contacts(r))


def check_existence(p: Friction, law: str, verdict: Any, support: dict[str, Any]) -> None:
    """Raise RefusedError unless the support proves that the problem has a solution ("exists") or none ("none")."""
    coulomb, kind, n = law == LAWS[0], support.get("kind"), len(p.q)
    if not isinstance(kind, str) or not isinstance(verdict, str) or (verdict, kind) not in FIELDS:
        raise RefusedError(f"{str(verdict)[:20]!r} cannot be proved by {str(kind)[:20]!r}")
    check_fields(support, ("kind", *FIELDS[verdict, kind]), "the support")
    if is_sparse(p.W) and kind not in ("no impulse", "islands", "island"):
        raise RefusedError(f"{verdict!r} cannot be proved by {kind!r} for a large W")
    if kind == "islands":
        for island, own in p.islands(support["islands"]):
            check_existence(island, law, "exists", own)
        holds = True
    elif kind == "island":
        contacts = indices(support["contacts"], len(p.mu), "the contacts")
        if not contacts or not isinstance(support["support"], dict):
            raise RefusedError("an island needs contacts and a support")
        check_existence(p.island(contacts), law, verdict, support["support"])
        holds = True
    elif kind == "no impulse":
        holds = p.in_dual(p.q, mu=not coulomb)
    elif kind in ("interior", "polyhedral"):
        holds = _reaches_inside(p, vector(support["x"], n, "x"), kind)
    elif kind == "definite":
        factors.check(p.W, "PD", support["factors"])
        holds = True
    elif kind == "enclosure":
        check_enclosure(p.W, p.q, p.mu, p.d, coulomb, support)
        holds = True
    elif kind == "solution" and coulomb:
        holds = solves_coulomb(p, vector(support["r"], n, "r"))
    elif kind == "self-stress":
        r = vector(support["r"], n, "r")
        cone = p.in_cone(r) and not (coulomb and any(r[len(p.mu) :]))
        holds = cone and not any(times(transposed(p.W), r)) and dot(p.q, r) < 0
    elif kind == "cover" and coulomb and p.d == 1:
        check_no_solution(*_planar_lcp(p), support["cover"])
        holds = True
    else:
        raise RefusedError(f"{verdict!r} cannot be proved by {kind!r} for this law and {p.d} tangents")
    if not holds:
        raise RefutedError(f"the {kind} does not prove it")


def _reaches_inside(p: Friction, x: Vector, kind: str) -> bool:
    S = symmetric(p.W)
    if not is_positive_semidefinite(S):
        return False
    u = [a / 2 + b for a, b in zip(times(S, x), p.q, strict=True)]
    if kind == "interior":
        return p.in_dual(u, interior=True)
    return transposed(p.W) == p.W and (p.d == 1 or not any(p.mu)) and p.in_dual(u)


def solves_coulomb(p: Friction, r: Vector) -> bool:
    u = [a + b for a, b in zip(times(p.W, r), p.q, strict=True)]
    if not p.in_cone(r):
        return False
    for (r_n, r_t, mu), (u_n, u_t, _) in zip(p.contacts(r), p.contacts(u), strict=True):
        power = dot(r_t, u_t)
        # r_t . u_t = -mu r_n |u_t|, compared by squares.
        if u_n < 0 or u_n * r_n or power > 0 or power**2 != (mu * r_n) ** 2 * dot(u_t, u_t):
            return False
    return True


def _planar_lcp(p: Friction) -> tuple[Rows, Vector]:
    """M and q of Coulomb's problem in the plane as an LCP in r_n, the two parts of r_t, and the slip sigma."""
    r, zero = len(p.mu), [Fraction(0)] * len(p.mu)
    unit = [[Fraction(i == j) for j in range(r)] for i in range(r)]
    rows = [[*row, *(-x for x in row[r:]), *zero] for row in p.W[:r]]
    for sign in (1, -1):
        rows += [[*(sign * x for x in row), *(-sign * x for x in row[r:]), *unit[i]] for i, row in enumerate(p.W[r:])]
    rows += [[*(p.mu[i] * x for x in e), *(-x for x in e), *(-x for x in e), *zero] for i, e in enumerate(unit)]
    return rows, [*p.q, *(-x for x in p.q[r:]), *zero]
