"""Motions that Coulomb's law allows for closed contacts: separation, stick, slip in either sense, and their number.

In the plane the accelerations of the rows are a = W lambda + w. A contact at rest (u_n = u_t = 0) has four modes:

    separation      lambda = 0,                                     a_n > 0
    stick           a_n = a_t = 0,                                  |lambda_t| < mu lambda_n
    forward slip    a_n = 0,  lambda_t = -mu lambda_n,  a_t > 0,    lambda_n > 0
    reverse slip    a_n = 0,  lambda_t = +mu lambda_n,  a_t < 0,    lambda_n > 0

Every choice of one mode per contact is a linear system, and is tried, exactly: 4^r of them (Génot & Brogliato, Eur.
J. Mech. A 18, 1999; Or & Rimon, Nonlinear Dyn. 67, 2012). For a contact that slides the velocity determines the slip.
Motions that need an impulse obey the same conditions with velocities u+ = W p + u instead of accelerations, p != 0: the
impact without collision, which ends in stick at one contact at least.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_mat

from workbench.diagnostics.contact_exact import ExactContacts, with_uncertainty
from workbench.diagnostics.sliding_regime import INCONSISTENT, INDETERMINATE
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.step.sliding.exact import ball_arithmetic

SEPARATION, STICK, FORWARD, REVERSE, SMOOTH = "separation", "stick", "forward slip", "reverse slip", "frictionless"
LARGEST = 4
"""Largest number of contacts for which all choices are tried."""


@dataclass(frozen=True, eq=False)
class ContactMotion:
    """The mode of each contact, and its rows' forces [N] (impulses [N s]) and accelerations [m/s2] (velocities after
    [m/s]), (r, 1 + d) each; `angle`, the directions of slip in space [deg], None where there is none."""

    modes: tuple[str, ...]
    forces: list[list[float]]
    rates: list[list[float]]
    angle: tuple[float | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Motions:
    """All motions of the data as exact numbers; `open` is why their number is unknown, if it is."""

    found: list[ContactMotion]
    open: str = ""

    @property
    def name(self) -> str:
        """The modes of the contacts if there is one motion; else "indeterminate", "inconsistent" or "undecided"."""
        if self.open:
            return "undecided"
        if len(self.found) == 1:
            return ", ".join(self.found[0].modes)
        return INDETERMINATE if self.found else INCONSISTENT


@dataclass(frozen=True, eq=False)
class _Tried:
    """Forces and rates of all rows for a choice, and the numbers that must be positive."""

    forces: list[Any]
    rates: list[Any]
    margins: list[Any]


def motions(e: ExactContacts, tolerance: float, speed: float) -> Motions:
    """The motions of contacts in the plane; those with |u_t| > `speed` slide, and forward is their direction.

    The data may be off by `tolerance` relative; the result is open where it depends on that.
    """
    ahead = _facing(e)
    sliding = [abs(nearest_double(ahead.u[ahead.normal(i) + 1, 0])) > speed for i in range(e.r)]
    ways = [_ways(slides, m) for slides, m in zip(sliding, e.mu, strict=True)]
    return _all(ahead, ways, sliding, tolerance)


def impacts(e: ExactContacts, tolerance: float) -> Motions:
    """Possible impacts without collision of contacts in the plane, at least one of which slides."""
    ahead = _facing(e)
    given = ExactContacts(ahead.W, ahead.u, ahead.u, ahead.mu, 1)
    return _all(given, [_ways(False, m) for m in e.mu], [False] * e.r, tolerance, needed=STICK)


def _ways(slides: bool, mu: fmpq) -> tuple[str, ...]:
    if mu == 0:
        return SEPARATION, SMOOTH
    return (SEPARATION, FORWARD) if slides else (SEPARATION, STICK, FORWARD, REVERSE)


def _facing(e: ExactContacts) -> ExactContacts:
    """Turn the tangents so that no contact slides backwards."""
    sign = [fmpq(1)] * e.W.nrows()
    for i in range(e.r):
        if e.u[e.normal(i) + 1, 0] < 0:
            sign[e.normal(i) + 1] = fmpq(-1)
    turn = fmpq_mat(len(sign), len(sign), [sign[i] * (i == j) for i in range(len(sign)) for j in range(len(sign))])
    return ExactContacts(turn * e.W * turn, turn * e.w, turn * e.u, e.mu, e.d)


def _all(
    e: ExactContacts, ways: Sequence[tuple[str, ...]], sliding: Sequence[bool], tolerance: float, needed: str = ""
) -> Motions:
    if e.r > LARGEST:
        return Motions([], f"{e.r} contacts; all choices are tried for {LARGEST} at most")
    found: dict[tuple, ContactMotion] = {}
    choices = [modes for modes in itertools.product(*ways) if not needed or needed in modes]
    for modes in choices:
        try:
            tried = _tried(e, modes, sliding)
        except ZeroDivisionError:
            # The balls below leave it open, unless they exclude it.
            continue
        if all(x >= 0 for x in tried.margins) and any(tried.forces) >= bool(needed):
            found.setdefault(tuple(tried.forces), _motion(e, modes, tried))
    with ball_arithmetic():
        near = with_uncertainty(e, tolerance)
        reason = next(filter(None, (_open(near, modes, sliding, tolerance) for modes in choices)), "")
    return Motions(list(found.values()), reason)


def _tried(e: ExactContacts, modes: Sequence[str], sliding: Sequence[bool]) -> _Tried:
    """Solve the rows for a choice, in rationals or balls; ZeroDivisionError where its forces are not unique."""
    size, kind = e.W.nrows(), type(e.W)
    equations: list[int] = []
    # Each unknown with the rows that it acts on, and its coefficients.
    unknowns: list[dict[int, Any]] = []
    for i, mode in enumerate(modes):
        n, t = e.normal(i), e.normal(i) + 1
        if mode == STICK:
            equations += [n, t]
            unknowns += [{n: fmpq(1)}, {t: fmpq(1)}]
        elif mode != SEPARATION:
            equations.append(n)
            unknowns.append({n: fmpq(1), t: -_sense(mode) * e.mu[i]})
    E = kind(size, max(len(unknowns), 1), [u.get(row, fmpq(0)) for row in range(size) for u in unknowns or [{}]])
    forces = kind(size, 1, [fmpq(0)] * size)
    if unknowns:
        WE = e.W * E
        K = kind(len(equations), len(equations), [WE[row, j] for row in equations for j in range(len(equations))])
        forces = E * K.solve(kind(len(equations), 1, [-e.w[row, 0] for row in equations]))
    rates = e.W * forces + e.w
    return _Tried(_list(forces), _list(rates), list(_margins(e, modes, sliding, forces, rates)))


def _sense(mode: str) -> int:
    return {FORWARD: 1, REVERSE: -1}.get(mode, 0)


def _margins(e: ExactContacts, modes: Sequence[str], sliding: Sequence[bool], forces: Any, rates: Any) -> Iterator[Any]:
    for i, mode in enumerate(modes):
        n, t = e.normal(i), e.normal(i) + 1
        if mode == SEPARATION:
            yield rates[n, 0]
        elif mode == STICK:
            yield e.mu[i] * forces[n, 0] - forces[t, 0]
            yield e.mu[i] * forces[n, 0] + forces[t, 0]
        else:
            yield forces[n, 0]
            if _sense(mode) and not sliding[i]:
                yield _sense(mode) * rates[t, 0]


def _open(near: ExactContacts, modes: Sequence[str], sliding: Sequence[bool], tolerance: float) -> str:
    words = f"within {tolerance:g} of the data it is open whether ({', '.join(modes)}) is possible"
    try:
        margins = _tried(near, modes, sliding).margins
    except ZeroDivisionError:
        return f"within {tolerance:g} of the data the forces of ({', '.join(modes)}) are not determined"
    return "" if any(x < 0 for x in margins) or all(x > 0 for x in margins) else words


def _motion(e: ExactContacts, modes: tuple[str, ...], tried: _Tried) -> ContactMotion:
    n = 1 + e.d

    def rows(values: list[fmpq]) -> list[list[float]]:
        return [[nearest_double(x) for x in values[i : i + n]] for i in range(0, len(values), n)]

    return ContactMotion(modes, rows(tried.forces), rows(tried.rates))


def _list(x: fmpq_mat | arb_mat) -> list[fmpq | arb]:
    return [x[i, 0] for i in range(x.nrows())]
