"""Motions that Coulomb's law allows for one contact at rest in space: separation, stick, and every direction of slip.

Slip that begins in the unit direction t has lambda_t = -mu lambda_n t, a_n = 0 and a_t = alpha t with alpha > 0, so

    lambda_n = -w_n / (W_nn - mu W_nt t),    t x (w_t (W_nn - mu W_nt t) - w_n (W_tn - mu W_tt t)) = 0

With p the tangent of half the angle of t the latter is a polynomial of degree four: four directions at most. Its
real roots are isolated, exactly for the data as exact numbers, and balls decide the signs of lambda_n and alpha.
"""

import math
from collections.abc import Iterator
from typing import Any

from flint import arb, ctx, fmpq, fmpq_mat, fmpq_poly

from workbench.diagnostics.contact_exact import ExactContacts, with_uncertainty
from workbench.diagnostics.critical_friction import isolated
from workbench.diagnostics.slip_modes import SEPARATION, SMOOTH, STICK, ContactMotion, Motions
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.step.sliding.exact import ball_arithmetic

SLIP = "slip"
BITS = (128, 512, 2048)
"""Working precisions that are tried for the sign of an unknown."""
ARCS = 256
"""Number of arcs on which slip is excluded where every direction solves the equation."""


def motions_in_space(e: ExactContacts, tolerance: float) -> Motions:
    """The motions of one contact at rest. Separation and stick hold for all data within `tolerance` relative, or the
    result is open; directions of slip are those of the data as exact numbers."""
    modes = (SEPARATION, SMOOTH if e.mu[0] == 0 else STICK)
    found = [m for mode in modes if (m := _held(e, mode)) is not None]
    with ball_arithmetic():
        near = with_uncertainty(e, tolerance)
        unsure = [mode for mode in modes if not _sure(near, mode)]
    reason = f"within {tolerance:g} of the data it is open whether {unsure[0]} is possible" if unsure else ""
    if e.mu[0] == 0:
        return Motions(found, reason)
    slips, undecided = _slips(e)
    return Motions([*found, *slips], reason or undecided)


def impacts_in_space(e: ExactContacts, tolerance: float) -> Motions:
    """Decide if an impact without collision may stop the slip of one contact; other final states are not searched."""
    given = ExactContacts(e.W, e.u, e.u, e.mu, 2)
    stopped = _held(given, STICK)
    with ball_arithmetic():
        near = with_uncertainty(given, tolerance)
        sure = _sure(near, STICK)
    reason = "" if sure else f"within {tolerance:g} of the data it is open whether an impulse can stop the slip"
    return Motions([stopped] if stopped else [], reason)


def _forces(e: ExactContacts, mode: str) -> Any:
    """Forces (3, 1) of stick or separation; ZeroDivisionError where W is singular."""
    kind, none = type(e.W), fmpq(0)
    if mode == STICK:
        return e.W.solve(e.w) * kind(1, 1, [fmpq(-1)])
    return kind(3, 1, [-e.w[0, 0] / e.W[0, 0] if mode == SMOOTH else none, none, none])


def _margins(e: ExactContacts, mode: str, forces: Any) -> list[Any]:
    if mode == SEPARATION:
        return [e.w[0, 0]]
    if mode == SMOOTH:
        return [forces[0, 0]]
    most, sheared = e.mu[0] * forces[0, 0], [forces[k, 0] for k in (1, 2)]
    return [forces[0, 0], most * most - sum(x * x for x in sheared)]


def _decided(margins: list[Any]) -> bool:
    return any(x < 0 for x in margins) or all(x > 0 for x in margins)


def _sure(near: ExactContacts, mode: str) -> bool:
    try:
        return _decided(_margins(near, mode, _forces(near, mode)))
    except ZeroDivisionError:
        return False


def _held(e: ExactContacts, mode: str) -> ContactMotion | None:
    """The motion in which the contact separates, sticks, or slides without friction; None where this is impossible, or
    where its forces are not unique, in which case `_sure` is not certain either."""
    try:
        forces = _forces(e, mode)
    except ZeroDivisionError:
        return None
    if any(x < 0 for x in _margins(e, mode, forces)):
        return None
    return _motion(mode, forces, e.W * forces + e.w, None)


def _motion(mode: str, forces: Any, rates: Any, angle: float | None) -> ContactMotion:
    force, rate = ([[nearest_double(x[k, 0]) for k in range(3)]] for x in (forces, rates))
    return ContactMotion((mode,), force, rate, (angle,))


def _slips(e: ExactContacts) -> tuple[list[ContactMotion], str]:
    """All motions that slip, and why one is open."""
    half = fmpq_poly([0, 1])
    T, D = (1 - half * half, 2 * half), 1 + half * half
    G = _cross(T, _pull(e, T, D))
    if G == 0:
        return [], "" if all(
            any(x < 0 for x in _slip_margins(e, t)) for t in _arcs()
        ) else "every direction of slip may be possible"
    found: list[ContactMotion] = []
    # p is infinite at the angle of 180 degrees; there G has no term p^4.
    straight = [(arb(-1), arb(0))] if G.degree() < 4 else []
    for bits in BITS:
        with ctx.workprec(bits):
            roots = isolated([f for f, _ in G.numer().factor()[1] if f.degree() > 0])
            balls = [arb((r.lo + r.hi) / 2, (r.hi - r.lo) / 2) for r, _ in roots]
            tried = [*straight, *(((1 - p * p) / (1 + p * p), 2 * p / (1 + p * p)) for p in balls)]
            margins = [_slip_margins(e, t) for t in tried]
            found = [_slip(e, t) for t, m in zip(tried, margins, strict=True) if all(x > 0 for x in m)]
            if all(map(_decided, margins)):
                return found, ""
    return found, "a direction of slip lies on the border of what is possible"


def _cross(a: Any, b: Any) -> Any:
    return a[0] * b[1] - a[1] * b[0]


def _pull(e: ExactContacts, t: Any, one: Any) -> tuple[Any, Any]:
    """w_t (W_nn - mu W_nt t) - w_n (W_tn - mu W_tt t), homogeneous in (t, one)."""
    W, w, mu = e.W, e.w, e.mu[0]
    stiff = W[0, 0] * one - mu * (W[0, 1] * t[0] + W[0, 2] * t[1])
    rows = (W[k, 0] * one - mu * (W[k, 1] * t[0] + W[k, 2] * t[1]) for k in (1, 2))
    x, y = (w[k, 0] * stiff - w[0, 0] * row for k, row in zip((1, 2), rows, strict=True))
    return x, y


def _slip_margins(e: ExactContacts, t: tuple[arb, arb]) -> list[arb]:
    """lambda_n and alpha of slip in a direction of balls."""
    stiff = arb(e.W[0, 0]) - e.mu[0] * (e.W[0, 1] * t[0] + e.W[0, 2] * t[1])
    x, y = _pull(e, t, arb(1))
    return [-arb(e.w[0, 0]) / stiff, (x * t[0] + y * t[1]) / stiff]


def _slip(e: ExactContacts, t: tuple[arb, arb]) -> ContactMotion:
    normal = _slip_margins(e, t)[0]
    exact = [x.mid().fmpq() for x in (normal, -e.mu[0] * normal * t[0], -e.mu[0] * normal * t[1])]
    forces = fmpq_mat(3, 1, exact)
    rates = e.W * forces + e.w
    # Zero by its equation, which the midpoint of a ball satisfies only to its precision.
    rates[0, 0] = fmpq(0)
    return _motion(SLIP, forces, rates, math.degrees(math.atan2(float(t[1]), float(t[0]))))


def _arcs() -> Iterator[tuple[arb, arb]]:
    for k in range(ARCS):
        angle = arb(2 * k + 1, 1) * arb.pi() / ARCS
        yield angle.cos(), angle.sin()
