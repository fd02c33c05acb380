"""Well-posedness of sliding friction at a state, and the friction up to which it is well posed.

For sliding contacts: the number of solutions for the accelerations (`sliding_regime`), whether M_mu is a P-matrix, at
which friction this is lost (`critical_friction`), and what Proposition 1 of Blumentals, Brogliato and
Bertails-Descoubes (hal-01224915) guarantees.

A user-defined system is a function of its parameters, here a mass on a floor whose friction also lifts it:

    >>> import numpy as np
    >>> from workbench.diagnostics.painleve import painleve
    >>> from workbench.step.sliding.system import SlidingSystem, sliding_signs
    >>> def system(m=1.0, coupling=0.5, mu=0.3, v_t=-1.0):
    ...     M = m * np.array([[1.0, coupling], [coupling, 1.0]])
    ...     J_n, J_t = np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])
    ...     f = np.array([0.0, -9.81 * m])
    ...     return SlidingSystem(M, f, J_nu=J_n, J_tu=J_t, mu_u=mu, xi_u=sliding_signs(v_t))
    >>> found = painleve(system())
    >>> found.regime.kind, found.verdict.verdict
    ('unique', 'P')
    >>> round(found.losses[0].critical.value * 0.3, 12)
    2.0
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from workbench.diagnostics.critical_friction import CriticalFriction, critical_friction
from workbench.diagnostics.friction_line import FrictionLine
from workbench.diagnostics.proposition import LARGEST, Proposition, balanced, guaranteed, proposition
from workbench.diagnostics.sliding_regime import LARGEST_BALLS, TOLERANCE, Regime, open_p, regime
from workbench.matrices.distances.distance import Distance, distance
from workbench.matrices.p_property.verdict import p_verdict
from workbench.matrices.p_property.witness import PVerdict
from workbench.mechanics.case import Array, Case
from workbench.readers.matrix import Matrix
from workbench.step.sliding.exact import ExactSliding, as_doubles
from workbench.step.sliding.state import START, UNCERTAINTY, SlidingState, gives_its_own, sliding_system
from workbench.step.sliding.system import SlidingSystem
from workbench.support.errors import DataError

ALL = "all coefficients times"
"""Name of the line s -> s mu through the present coefficients."""


class FrictionIncrease(NamedTuple):
    """A line of increasing friction, mu_0 + s mu_1 (m,), bilateral contacts first, and the present s."""

    mu_0: Array
    mu_1: Array
    now: float


@dataclass(frozen=True, eq=False)
class Loss:
    """The critical friction along a line, and the largest friction guaranteed by Proposition 1, plain and for balanced
    rows (None where the proposition does not apply)."""

    name: str
    now: float
    critical: CriticalFriction
    plain: float | None
    balanced: float | None

    @property
    def ratio(self) -> float | None:
        """The better guarantee over the lower end of the critical friction; None where one is missing or infinite."""
        if self.plain is None or self.balanced is None or not self.critical.lo or np.isinf(self.critical.lo):
            return None
        return max(self.plain, self.balanced) / self.critical.lo


@dataclass(frozen=True, eq=False)
class Painleve:
    """The state's regime; the P verdict on M_mu with its proof or witness, and the distance of M_mu from the non-P
    matrices (both None where A is singular, the distance also where M_mu is not P); `open`, why the uncertainty of the
    data leaves the verdict open, if it does; Proposition 1 (None for more unilateral contacts than it supports); the
    critical friction along each line."""

    system: SlidingSystem
    regime: Regime
    verdict: PVerdict | None
    open: str
    distance: Distance | None
    proposition: Proposition | None
    losses: tuple[Loss, ...]

    @property
    def property_p(self) -> str:
        """ "P", "not P" or "undecided", for all data within the tolerance."""
        return "undecided" if self.open else self.verdict.verdict if self.verdict else "not P"


def painleve(
    system: SlidingSystem,
    exact: ExactSliding | None = None,
    lines: Mapping[str, FrictionIncrease] | None = None,
    tolerance: float = TOLERANCE,
    seconds: float = 20.0,
) -> Painleve:
    """Diagnose one state; `lines` default to all coefficients times s; `seconds` limits each of the longer steps.

    `exact`: the same contacts in rational data, which decide on a boundary, where doubles are "undecided". Raises
    DataError where there is neither friction nor a line along which to increase it.
    """
    mu = np.append(system.mu_b, system.mu_u)
    if lines is None:
        if not mu.any():
            raise DataError("all friction coefficients are zero; give a line along which to raise them")
        lines = {ALL: FrictionIncrease(np.zeros(len(mu)), mu, 1.0)}
    found = proposition(system) if system.m_u <= LARGEST else None
    verdict = _verdict(system, exact, seconds)
    P = verdict is not None and verdict.verdict == "P"
    return Painleve(
        system, regime(system, exact, tolerance, seconds), verdict, "" if exact else open_p(system, tolerance),
        distance(Matrix(system.M_mu)) if P else None, found,
        tuple(_loss(system, exact, name, line, found, seconds) for name, line in lines.items()),
    )  # fmt: skip


def _verdict(system: SlidingSystem, exact: ExactSliding | None, seconds: float) -> PVerdict | None:
    """The P verdict on M_mu, for few contacts computed from the data without rounding."""
    if exact is None and system.m_b + system.m_u > LARGEST_BALLS:
        try:
            return p_verdict(Matrix(system.M_mu).exact, seconds)
        except DataError:
            return None
    pair = (exact or as_doubles(system)).pair()
    return None if pair.P.det() == 0 else p_verdict(pair.P.solve(pair.Q), seconds)


def _loss(
    system: SlidingSystem,
    exact: ExactSliding | None,
    name: str,
    line: FrictionIncrease,
    found: Proposition | None,
    seconds: float,
) -> Loss:
    critical = critical_friction(system, line.mu_0, line.mu_1, exact, seconds)
    limits: list[float | None] = [None, None]
    if found is not None and found.plain is not None and found.balanced is not None:
        pairs = ((system, found.plain), (balanced(system), found.balanced))
        limits = [guaranteed(FrictionLine(s, line.mu_0, line.mu_1), b.mu_max_b, b.beta) for s, b in pairs]
    return Loss(name, line.now, critical, *limits)


def of_case(
    case: Case, given: Mapping[str, Fraction] | None = None, state: SlidingState = START, seconds: float = 20.0
) -> Painleve:
    """Diagnose a state of a case; `given`, its parameters as typed, for cases whose start is rational."""
    system = sliding_system(case, state)
    exact = case.exact_sliding(given or {}) if state.is_start and hasattr(case, "exact_sliding") else None
    tolerance = TOLERANCE if gives_its_own(case, state) else UNCERTAINTY
    found = friction_lines(case, state)
    mu = np.append(system.mu_b, system.mu_u)
    # One coefficient that scales all of them is the same as "all coefficients".
    if mu.any() and not any((line.mu_0 == 0).all() and (line.mu_1 > 0).all() for line in found.values()):
        found = {ALL: FrictionIncrease(np.zeros(len(mu)), mu, 1.0)} | found
    return painleve(system, exact, found, tolerance, seconds)


def friction_lines(case: Case, state: SlidingState = START) -> dict[str, FrictionIncrease]:
    """The friction coefficients among a case's parameters: those that change only mu at a state, and linearly."""
    found = {}
    for f in fields(case):
        try:
            at_0, at_1, at_2 = (sliding_system(replace(case, **{f.name: x}), state) for x in (0.0, 1.0, 2.0))
        except DataError:
            continue
        mu_0, mu_1, mu_2 = (np.append(s.mu_b, s.mu_u) for s in (at_0, at_1, at_2))
        rate = mu_1 - mu_0
        if rate.any() and np.array_equal(mu_2 - mu_1, rate) and _same_but_friction(at_0, at_1):
            found[f.name] = FrictionIncrease(mu_0, rate, float(getattr(case, f.name)))
    return found


def _same_but_friction(a: SlidingSystem, b: SlidingSystem) -> bool:
    names = (f.name for f in fields(SlidingSystem) if f.name not in ("mu_b", "mu_u"))
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
