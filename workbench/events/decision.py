"""The next mode of closed contacts, from their contact problem at acceleration level.

With the bilateral rows and the normals of sliding contacts that stay closed eliminated, contacts at rest (u_t = 0)
satisfy

    K contains lambda  perp  (a_n + mu |a_t|, a_t) in K*,     a = W lambda + w

and sliding contacts 0 <= lambda_n perp a_n >= 0. Every subset of the sliding contacts is tried as the set that stays
closed, so that all solutions are found; a mode is accepted if its acceleration is unique.
"""

import itertools
from typing import NamedTuple

import numpy as np

from workbench.diagnostics.contact_exact import exact_contacts
from workbench.diagnostics.slip_modes import LARGEST, SEPARATION, STICK, ContactMotion, Motions, motions
from workbench.diagnostics.slip_modes_space import motions_in_space
from workbench.events.answers import STARTS, differ, distinct, others, solution_to_round_off
from workbench.events.modes import (
    EventError,
    Mode,
    Modes,
    NotUniqueError,
    eliminated,
    kept_rows,
    rates,
    sliding_matrix,
)
from workbench.matrices.p_property.verdict import p_verdict_of
from workbench.mechanics.case import Array
from workbench.mechanics.second_order import Dynamics
from workbench.problems.classes import CoulombNCP
from workbench.step.sliding.state import UNCERTAINTY, ClosedContacts
from workbench.support.errors import DataError

SIGN = 1e-9
"""Fraction of the accelerations and forces of the problem up to which one of them counts as zero."""
MOST_SLIDING = 8
"""Largest number of sliding contacts for which all subsets are tried."""
LEAST = 1.0
"""Acceleration [m/s2, rad/s2] below which differences are relative to this value."""


class NextModes(NamedTuple):
    """Modes (r,), sliding directions (r, d), zero where none, how their uniqueness is known, in words, and of how many
    answers they are one."""

    modes: Modes
    e: Array
    unique: str
    among: int = 1


class _Solution(NamedTuple):
    modes: Modes
    e: Array
    a: Array


def next_modes(x: Dynamics, on: list[int], resting: list[int], sticks: Array) -> NextModes:
    """The modes of the closed contacts `on`, of which `resting` have u_t = 0; sticks (r,) are the friction
    coefficients of contacts at rest.

    Raises EventError where no acceleration is found that solves the contact problem, verified by its residual,
    NotUniqueError where several are.
    """
    r, d = x.u_t.shape
    sliding = [i for i in on if i not in resting]
    if len(sliding) > MOST_SLIDING:
        raise EventError(f"{len(sliding)} contacts slide at once; their next modes are searched for {MOST_SLIDING}")
    e = np.zeros((r, d))
    for i in sliding:
        e[i] = x.u_t[i] / np.linalg.norm(x.u_t[i])
    found: list[_Solution] = []
    trouble = ""
    for stay in _subsets(sliding):
        try:
            solution = _with(x, list(stay), sliding, resting, e, sticks)
        except EventError as error:
            # Subsets of dependent contacts occur again as subsets of independent ones.
            trouble = trouble or str(error)
            continue
        if solution is not None and all(differ(solution.a, other.a, LEAST) for other in found):
            found.append(solution)
    if len(found) != 1 and trouble:
        raise EventError(trouble)
    said = _painleve(x, sliding, e) if len(found) != 1 and not resting else ""
    if not found:
        raise EventError(
            f"the next mode is not determined: no acceleration was found that solves the contact problem{said}"
        )
    if len(found) > 1:
        raise _several(
            f"the next mode is not determined: {len(found)} accelerations solve the contact problem{said}", on,
            [(s.modes, s.e) for s in found],
        )  # fmt: skip
    (solution,) = found
    return NextModes(solution.modes, solution.e, _uniqueness(x, on, sliding, resting, solution, sticks))


def _several(message: str, on: list[int], found: list[tuple[Modes, Array]]) -> NotUniqueError:
    """Next modes of which each solves the contact problem of the contacts `on`."""
    ways = [", ".join(f"contact {i} {_in_words(modes[i], e[i])}" for i in on) for modes, e in found]
    answers = [NextModes(*one, f"chosen among {len(found)}", len(found)) for one in found]
    return NotUniqueError(message, ways, answers)


def _in_words(mode: Mode, e: Array) -> str:
    if mode != Mode.SLIP or not e.any():
        return {Mode.OPEN: "opens", Mode.SLIP: "slides", Mode.STICK: "sticks"}[mode]
    if e.size == 1:
        return "slides forward" if e[0] > 0 else "slides backward"
    return f"slides at {np.degrees(np.arctan2(e[1], e[0])):.4g} degrees"


def _subsets(sliding: list[int]) -> itertools.chain:
    sizes = range(len(sliding), -1, -1)
    return itertools.chain.from_iterable(itertools.combinations(sliding, size) for size in sizes)


def _with(
    x: Dynamics, stay: list[int], sliding: list[int], resting: list[int], e: Array, sticks: Array
) -> _Solution | None:
    """The solution in which the contacts `stay` continue to slide and the other sliding ones open, or None."""
    r, _ = x.u_t.shape
    modes = [Mode.OPEN] * r
    for i in stay:
        modes[i] = Mode.SLIP
    e = e.copy()
    for i in set(sliding) - set(stay):
        e[i] = 0.0
    if resting:
        answer = _at_rest(x, tuple(modes), e, resting, sticks)
        if answer is None:
            return None
        for i, (mode, direction) in answer.items():
            modes[i], e[i] = mode, direction
    try:
        found = rates(x, tuple(modes), e)
    except np.linalg.LinAlgError:
        return None
    scale = _force_scale(x)
    if any(found.lambda_n[i] < -SIGN * scale for i in stay):
        return None
    a_n = x.J_n @ found.a + x.c_n
    least = -SIGN * _acceleration_scale(x)
    if any(a_n[i] < least for i in (*sliding, *resting) if modes[i] == Mode.OPEN):
        return None
    return _Solution(tuple(modes), e, found.a)


def _force_scale(x: Dynamics) -> float:
    return max(float(np.abs(x.f).max()), float(np.abs(x.M @ np.ones(len(x.M))).max()))


def _acceleration_scale(x: Dynamics) -> float:
    return max(1.0, float(np.abs(np.linalg.solve(x.M, x.f)).max()))


def _at_rest(
    x: Dynamics, modes: Modes, e: Array, resting: list[int], sticks: Array
) -> dict[int, tuple[Mode, Array]] | None:
    """Mode and direction of every contact at rest, for fixed modes of the others. A contact with static friction
    sticks with its static coefficient or slips with the kinetic one."""
    mu = x.mu.copy()
    mu[resting] = np.maximum(sticks[resting], x.mu[resting])
    found = _solved(x, modes, e, resting, mu)
    if found is not None and (mu != x.mu).any() and any(mode == Mode.SLIP for mode, _ in found.values()):
        slips = [i for i, (mode, _) in found.items() if mode == Mode.SLIP]
        mu[slips] = x.mu[slips]
        found = _solved(x, modes, e, resting, mu)
    return found


def _solved(x: Dynamics, modes: Modes, e: Array, resting: list[int], mu: Array) -> dict[int, tuple[Mode, Array]] | None:
    problem = resting_problem(x, modes, e, resting, mu)
    solution = solution_to_round_off(problem)
    return None if solution is None else _read(problem, solution.z, resting)


def _read(problem: CoulombNCP, lam: Array, resting: list[int]) -> dict[int, tuple[Mode, Array]]:
    """Mode and direction of the contacts at rest under forces lam of theirs that solve the problem."""
    d, starts = problem.d, len(resting)
    a = problem.M @ lam + problem.q
    size, force = max(1.0, float(np.abs(problem.q).max())), float(np.abs(lam).max())
    found = {}
    for k, i in enumerate(resting):
        a_t = a[starts + d * k : starts + d * (k + 1)]
        slip = float(np.linalg.norm(a_t))
        if lam[k] <= SIGN * force and a[k] > SIGN * size:
            found[i] = Mode.OPEN, np.zeros(d)
        elif slip <= SIGN * size:
            found[i] = Mode.STICK, np.zeros(d)
        else:
            found[i] = Mode.SLIP, a_t / slip
    return found


def resting_problem(x: Dynamics, modes: Modes, e: Array, resting: list[int], mu: Array) -> CoulombNCP:
    """The contact problem of the contacts at rest with bilateral rows and contacts of `modes` eliminated:
    [J_n; J_t] a + c = W lambda + q, unknowns [lambda_n, lambda_t]."""
    n, d = len(x.M), x.u_t.shape[1]
    J = np.concatenate([x.J_n[resting], x.J_t[resting].reshape(-1, n)])
    c = np.concatenate([x.c_n[resting], x.c_t[resting].ravel()])
    kept = kept_rows(x, modes, e)
    A, F = np.concatenate([kept.A, J]), np.column_stack([kept.F, J.T])
    W = A @ np.linalg.solve(x.M, F)
    q = A @ np.linalg.solve(x.M, x.f) + np.concatenate([kept.c, c])
    left = eliminated(np.column_stack([W, q]), len(kept.A))
    return CoulombNCP(left[:, :-1], left[:, -1], mu[resting], d)


def _uniqueness(
    x: Dynamics, on: list[int], sliding: list[int], resting: list[int], solution: _Solution, sticks: Array
) -> str:
    """Return the proof that the acceleration is unique; raises NotUniqueError if others are found."""
    if not on:
        return "no contact is closed"
    if not resting:
        verdict = p_verdict_of(sliding_matrix(x, tuple(Mode.SLIP if i in sliding else Mode.OPEN for i in range(
            len(x.mu))), x.u_t / np.maximum(np.linalg.norm(x.u_t, axis=1), 1e-300)[:, None]))  # fmt: skip
        if verdict.verdict == "P":
            return f"W_s is a P-matrix: {verdict.proof}"
        return "one acceleration among all subsets of closed sliding contacts"
    found = _enumerated(x, on, resting, sticks)
    if found is not None and found.found:
        accelerations = [np.ravel(m.rates) for m in found.found]
        if not any(differ(accelerations[0], other, LEAST) for other in accelerations[1:]):
            return "all motions of Coulomb's law were enumerated"
        words = " or ".join(", ".join(m.modes) for m in found.found)
        every = [_of_motion(x, m, on, resting) for m in found.found]
        raise _several(f"the next mode is not unique: {words}", on, every)
    modes = tuple(m if i in sliding else Mode.OPEN for i, m in enumerate(solution.modes))
    problem = resting_problem(x, modes, solution.e, resting, np.maximum(sticks, x.mu))
    first = solution_to_round_off(problem)
    if first is None:
        return "a second solution was not searched for"
    several = distinct(others(problem, first.z, problem.M, LEAST), first.z, problem.M, LEAST)
    if len(several) > 1:
        every = [_with_resting(solution, _read(problem, z, resting)) for z in several]
        raise _several(
            f"the next mode is not unique: {len(several)} accelerations solve the contact problem", on, every
        )
    return f"no second solution from {STARTS} starts"


def _with_resting(solution: _Solution, answer: dict[int, tuple[Mode, Array]]) -> tuple[Modes, Array]:
    """The modes of a solution, with those of the contacts at rest in another answer."""
    modes, e = list(solution.modes), solution.e.copy()
    for i, (mode, direction) in answer.items():
        modes[i], e[i] = mode, direction
    return tuple(modes), e


def _of_motion(x: Dynamics, motion: ContactMotion, on: list[int], resting: list[int]) -> tuple[Modes, Array]:
    """Modes and directions of an enumerated motion of the contacts `on`."""
    modes, e = [Mode.OPEN] * len(x.mu), np.zeros_like(x.u_t)
    for i, mode, rates_i in zip(on, motion.modes, motion.rates, strict=True):
        if mode == SEPARATION:
            continue
        along = np.array(rates_i[1:]) if i in resting else x.u_t[i]
        size = float(np.linalg.norm(along))
        slides = mode != STICK and size > 0
        modes[i] = Mode.SLIP if slides else Mode.STICK
        if slides:
            e[i] = along / size
    return tuple(modes), e


def _enumerated(x: Dynamics, on: list[int], resting: list[int], sticks: Array) -> Motions | None:
    """All motions, by the exact enumerations of `diagnostics`; None for contacts that they do not support."""
    d = x.u_t.shape[1]
    if (d == 1 and len(on) > LARGEST) or (d == 2 and (len(on) > 1 or on != resting)) or (sticks > x.mu).any():
        return None
    u_t = x.u_t[on].copy()
    u_t[[i in resting for i in on]] = 0.0
    here = ClosedContacts(
        np.array(on), x.M, x.f, x.J_b, x.c_b, x.J_n[on], x.c_n[on], x.J_t[on], x.c_t[on], u_t, x.mu[on]
    )
    try:
        exact = exact_contacts(here)
    except DataError:
        return None
    return motions(exact, UNCERTAINTY, 0.0) if d == 1 else motions_in_space(exact, UNCERTAINTY)


def _painleve(x: Dynamics, sliding: list[int], e: Array) -> str:
    """Describe W_s and b of sliding contacts where W_s is not a P-matrix."""
    r = len(x.mu)
    modes = tuple(Mode.SLIP if i in sliding else Mode.OPEN for i in range(r))
    W_s = sliding_matrix(x, modes, e)
    free = x.J_n[sliding] @ np.linalg.solve(x.M, x.f) + x.c_n[sliding]
    return f" (Painlevé: W_s = {_numbers(W_s)} 1/kg, b = {_numbers(free)} m/s2)"


def _numbers(X: Array) -> str:
    return ", ".join(f"{v:.3g}" for v in np.ravel(X))
