"""Check whether Coulomb's law has one solution for every q, by W and mu alone. Standard library only.

unique, kind      "criterion"    one contact, a = W_nn, c = W_nt, b = W_tn, B = W_tt, t normal to the unit vector e:
                                 in space for all e: a - mu c.e > 0 and
                                 (a - mu c.e) t.Bt - (c.t) (b.t - mu t.Be) > 0; in the plane a > mu |c| and det W > 0;
                                 without friction a > 0
                  "contraction"  S = (W + W^T) / 2 is positive definite; with k = `normal` and m = `tangential`
                                 k 1 - (S^-1)_nn and m S - W_t^T D^2 W_t are positive semidefinite, D = diag(mu) on
                                 the tangential rows W_t of W, and k m < 1
                  "islands"      every one of the `islands`, each {contacts, support}, has one
not unique, kind  "contact"      the contact i has at least two solutions for some `q` (1 + d), counted with `count`, a
                                 support of `coulomb_count`; large q_n open all other contacts in both

For the proofs see docs/formulary.md, section 3, `diagnostics.contact_uniqueness` and `diagnostics.coulomb_contraction`.
With E the normal unit vectors, k 1 - E^T S^-1 E is positive semidefinite if and only if S - E E^T / k is.
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.coulomb_count import count
from workbench.certificates.documents import check_fields
from workbench.certificates.exact import (
    Rows,
    determinant,
    dot,
    index,
    is_positive_definite,
    is_positive_semidefinite,
    is_sparse,
    part,
    rational,
    symmetric,
    transposed,
    vector,
)
from workbench.certificates.friction import Friction
from workbench.certificates.outcomes import RefusedError, RefutedError
from workbench.certificates.polynomials import (
    DIRECTION,
    ROUND,
    Polynomial,
    added,
    number_of_roots,
    product,
    scaled,
    sturm_chain,
)

EVERY_Q = "solutions of Coulomb's law for every q"
"""What the claim is about."""
FIELDS = {
    ("unique", "criterion"): (),
    ("unique", "contraction"): ("normal", "tangential"),
    ("unique", "islands"): ("islands",),
    ("not unique", "contact"): ("contact", "q", "count"),
}
"""The fields of a support besides `kind`, for a verdict and a kind."""


def check_every_q(p: Friction, verdict: Any, support: dict[str, Any]) -> None:
    """Raise RefusedError unless every q has one solution ("unique"), or some q more than one ("not unique")."""
    kind = support.get("kind")
    if not isinstance(kind, str) or not isinstance(verdict, str) or (verdict, kind) not in FIELDS:
        raise RefusedError(f"{str(verdict)[:20]!r} cannot be proved by {str(kind)[:20]!r}")
    check_fields(support, ("kind", *FIELDS[verdict, kind]), "the support")
    if kind == "islands":
        for island, own in p.islands(support["islands"]):
            check_every_q(island, verdict, own)
    elif kind == "contact":
        _check_contact(p, support)
    elif is_sparse(p.W):
        raise RefusedError(f"{verdict!r} cannot be proved by {kind!r} for a large W")
    elif kind == "criterion":
        _check_criterion(p)
    else:
        _check_contraction(p, rational(support["normal"]), rational(support["tangential"]))


def _check_criterion(p: Friction) -> None:
    if len(p.mu) != 1:
        raise RefusedError("the criterion is for one contact")
    (a, *c), mu = p.W[0], p.mu[0]
    if mu == 0:
        holds = a > 0
    elif p.d == 1:
        holds = a > mu * abs(c[0]) and determinant(p.W) > 0
    else:
        holds = a > 0 and a * a > mu * mu * dot(c, c) and _is_positive(slide_determinant(p))
    if not holds:
        raise RefutedError("the criterion for one contact does not hold")


def slide_determinant(p: Friction) -> Polynomial:
    """The second condition in space times (1 + s^2)^3, s the tangent of half the angle of e."""
    (a, *c), (b, B), mu = p.W[0], ([row[0] for row in p.W[1:]], [row[1:] for row in p.W[1:]]), p.mu[0]
    e = DIRECTION
    t = [scaled(Fraction(-1), e[1]), e[0]]

    def along(v: list[Fraction], u: Any) -> Polynomial:
        return added(*(scaled(x, f) for x, f in zip(v, u, strict=True)))

    # t.B as two polynomials.
    tB = [along([B[0][k], B[1][k]], t) for k in range(2)]
    stiff = added(scaled(a, ROUND), scaled(-mu, along(c, e)))
    across = added(*(product(f, g) for f, g in zip(tB, t, strict=True)))
    beside = added(*(product(f, g) for f, g in zip(tB, e, strict=True)))
    pushed = added(product(along(b, t), ROUND), scaled(-mu, beside))
    return added(product(stiff, across), scaled(Fraction(-1), product(along(c, t), pushed)))


def _is_positive(f: Polynomial) -> bool:
    """Whether f of degree 6 is positive everywhere; then its leading coefficient is, the value at e = (-1, 0)."""
    return len(f) == 7 and f[0] > 0 and number_of_roots(sturm_chain(f)) == 0


def _check_contraction(p: Friction, k: Fraction, m: Fraction) -> None:
    if not (k > 0 and m > 0 and k * m < 1):
        raise RefutedError("the bounds are no contraction")
    r, d, n = len(p.mu), p.d, len(p.q)
    S: Rows = [[x / 2 for x in row] for row in symmetric(p.W)]
    rest = [[x - (i == j and i < r) / k for j, x in enumerate(row)] for i, row in enumerate(S)]
    slips = transposed([[p.mu[i // d] * x for x in p.W[r + i]] for i in range(n - r)])
    moved = [[m * S[i][j] - dot(slips[i], slips[j]) for j in range(n)] for i in range(n)]
    if not (is_positive_definite(S) and is_positive_semidefinite(rest) and is_positive_semidefinite(moved)):
        raise RefutedError("the bounds of the contraction do not hold")


def _check_contact(p: Friction, support: dict[str, Any]) -> None:
    r, d = len(p.mu), p.d
    i = index(support["contact"], r, "the contact")
    rows = [i, *range(r + d * i, r + d * (i + 1))]
    alone = Friction(part(p.W, rows), vector(support["q"], 1 + d, "q"), [p.mu[i]], d)
    if not isinstance(support["count"], dict):
        raise RefusedError("the support of the number of solutions is not an object")
    if count(alone, support["count"]) < 2:
        raise RefutedError(f"the contact {i} alone has no two solutions for this q")
