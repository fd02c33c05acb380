"""Existence of solutions of a friction problem (W, q, mu), under Coulomb's law or as a cone problem, with certificates.

The theorems, and the checks of their certificates, are in `solutions.friction_cones`. A verdict concerns the numbers
W, q and mu as given, with doubles taken as exact: if redundant contacts should make W singular and rounding has made
it indefinite, no theorem applies, and the verdict is "undecided".
"""

from dataclasses import dataclass
from typing import Any

from flint import fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError
from workbench.matrices.linear_algebra.definiteness import proved_positive_definite
from workbench.matrices.linear_algebra.rationals import as_text, doubles, exact
from workbench.matrices.solutions.cone_programmes import by_linear_programme, interior_velocity, self_stress
from workbench.matrices.solutions.friction_cones import (
    RationalFriction,
    at_rest_without_impulse,
    planar_impulses,
    planar_lcp,
    shows_absence,
)
from workbench.matrices.solutions.solution_set import first_solution
from workbench.support.arrays import Array

LARGEST = 90
"""Largest number of rows of W for which existence is decided in rationals."""

NOT_PSD = "W is not positive semidefinite, perhaps by rounding; the existence theorem requires it"


@dataclass(frozen=True, eq=False)
class Existence:
    """Verdict "exists", "none" or "undecided".

    `proof` is the evidence as text, `witness` in numbers: for "exists" {"kind": "no impulse"}, {"kind":
    "definite"}, {"kind": "interior", "x": x}, {"kind": "polyhedral", "x": x} or {"kind": "solution", "r": r}; for
    "none" {"kind": "self-stress", "r": r}, or nothing if all cases were searched. `reason` is why nothing was
    decided; `witness` may then hold a self-stress, for which the criterion fails.
    """

    verdict: str
    proof: str | None = None
    witness: dict[str, Any] | None = None
    reason: str | None = None


def existence(p: RationalFriction, coulomb: bool, deadline: float) -> Existence:
    """Whether Coulomb's problem, or else the cone problem, has a solution; `deadline` by `clock()`."""
    if at_rest_without_impulse(p, coulomb):
        return Existence("exists", "r = 0 is a solution", {"kind": "no impulse"})
    if len(p.q) > LARGEST:
        return _large(p)
    try:
        found = _shown(p, deadline) or _refuted(p, coulomb, deadline)
        return found or (_in_the_plane(p, deadline) if coulomb and p.d == 1 else _open(p, coulomb))
    except OutOfTimeError:
        return Existence("undecided", reason=OUT_OF_TIME)


def _large(p: RationalFriction) -> Existence:
    n = len(p.q)
    if proved_positive_definite(doubles(p.W)):
        words = "W is positive definite (Cholesky factor with an error bound), so that every velocity can be reached"
        return Existence("exists", words, {"kind": "definite"})
    return Existence("undecided", reason=f"W has {n} rows; up to {LARGEST} are taken in rationals")


def _shown(p: RationalFriction, deadline: float) -> Existence | None:
    """The theorem of Acary and others, if its criterion holds."""
    p.decide(deadline)
    if not p.psd:
        return None
    x = interior_velocity(p, lambda x: p.in_dual(p.reached(x), interior=True))
    if x is not None:
        words = "some velocity is in the interior of K* at all contacts (Acary, Cadoux, Lemarechal and Malick 2011)"
        return Existence("exists", words, {"kind": "interior", "x": as_text(x)})
    if p.polyhedral and p.symmetric:
        x, _ = by_linear_programme(p, deadline)
        if x is not None:
            words = "some velocity is in the polyhedral cones K* of all contacts, which is enough for such cones"
            return Existence("exists", words, {"kind": "polyhedral", "x": as_text(x)})
    return None


def _refuted(p: RationalFriction, coulomb: bool, deadline: float) -> Existence | None:
    """A self-stress on which q does negative work, with normal impulses only under Coulomb's law."""
    target = p.frictionless if coulomb else p
    if target.polyhedral:
        _, r = by_linear_programme(target, deadline)
    else:
        r = self_stress(p, lambda r: shows_absence(p, r, coulomb))
    if r is None or not shows_absence(p, r, coulomb):
        return None
    what = "u_n >= 0 at all contacts" if coulomb else "K* at all contacts"
    words = f"no velocity W r + q satisfies {what}: a self-stress r in K has W r = 0 and q . r < 0"
    return Existence("none", words, {"kind": "self-stress", "r": as_text(r)})


def _in_the_plane(p: RationalFriction, deadline: float) -> Existence:
    """Coulomb's problem in the plane as an LCP: a solution, or the proof that no complementary cone contains q."""
    M, q = planar_lcp(p)
    z = first_solution(M, q, deadline)
    if z is None:
        words = f"in the plane an LCP of {len(q)} unknowns, of which all complementary cones were searched, exactly"
        return Existence("none", words)
    r = planar_impulses(p, z)
    return Existence("exists", "r is a solution, exactly", {"kind": "solution", "r": as_text(r)})


def _open(p: RationalFriction, coulomb: bool) -> Existence:
    if not p.psd:
        return Existence("undecided", reason=NOT_PSD)
    r = self_stress(p, lambda r: shows_absence(p, r, coulomb=False)) if coulomb else None
    if r is not None:
        reason = "the cone problem has no solution, so that the criterion fails; under Coulomb's law one may exist"
        return Existence("undecided", witness={"kind": "self-stress", "r": as_text(r)}, reason=reason)
    return Existence("undecided", reason="neither a velocity inside K* nor a self-stress that excludes one was found")


def rational_friction(W: Array, q: Array, mu: Array, d: int) -> RationalFriction:
    """The problem of these doubles, taken as exact numbers."""
    return RationalFriction(fmpq_mat([[exact(x) for x in row] for row in W]), [*map(exact, q)], [*map(exact, mu)], d)
