"""All solutions of Coulomb's law for one q, island by island.

The velocities of an island's contacts depend on their own impulses only. A solution consists of one for each island, so
that their numbers multiply.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np
from flint import fmpq

from workbench.engine.timing import moment
from workbench.matrices.linear_algebra.rationals import submatrix
from workbench.matrices.solutions.contact_modes import Modes
from workbench.matrices.solutions.coulomb_solutions import CoulombSolution, CoulombSolutions, Near, coulomb_solutions
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import Array

T = TypeVar("T")

LISTED = 100
"""Largest number of solutions that are listed one by one."""


def islands_of(friction: RationalFriction) -> list[list[int]]:
    """The contacts of each island, by the entries of W that are exactly zero."""
    # SciPy's sparse matrices take a fifth of a second to import, which small checks do not need.
    from scipy import sparse

    from workbench.matrices.linear_algebra.blocks import islands

    r, d = len(friction.mu), friction.d
    contact = [*range(r), *(i for i in range(r) for _ in range(d))]
    places = {(contact[i], contact[j]) for i, row in enumerate(friction.W.tolist()) for j, x in enumerate(row) if x}
    rows, columns = zip(*places, strict=True) if places else ((), ())
    return islands(sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(r, r)))


def island(friction: RationalFriction, contacts: Sequence[int]) -> tuple[RationalFriction, list[int]]:
    """The problem of these contacts alone, and its rows."""
    r, d = len(friction.mu), friction.d
    rows = [*contacts, *(r + d * i + k for i in contacts for k in range(d))]
    return RationalFriction(
        submatrix(friction.W, rows), [friction.q[i] for i in rows], [friction.mu[i] for i in contacts], d
    ), rows


def solutions_by_islands(friction: RationalFriction, deadline: float, near: Near | None = None) -> CoulombSolutions:
    """All solutions of Coulomb's law, as `coulomb_solutions` finds them for each island.

    Where there are more than `LISTED` they are counted only.
    """
    parts = islands_of(friction)
    if len(parts) == 1:
        return coulomb_solutions(friction, deadline, near)
    alone = [island(friction, contacts) for contacts in parts]
    rows = [own for _, own in alone]

    def near_one(k: int) -> Near:
        def part() -> Array | None:
            around = near() if near else None
            return None if around is None else around[rows[k]]

        return part

    def solutions(k: int, end: float) -> CoulombSolutions:
        return coulomb_solutions(alone[k][0], end, near_one(k))

    numbers = [(*x.W.entries(), *x.q, *x.mu) for x, _ in alone]
    return _product(parts, rows, judged_once(parts, numbers, solutions, deadline))


def judged_once(
    parts: Sequence[Sequence[int]], numbers: Sequence[Hashable], judge: Callable[[int, float], T], deadline: float
) -> list[T]:
    """Return judge(k, end) of each island k, where islands with the same numbers are judged once.

    Each has an equal share of the time that is left, small ones first: they leave their time to larger ones.
    """
    alike: dict[Hashable, list[int]] = {}
    for k in sorted(range(len(parts)), key=lambda k: len(parts[k])):
        alike.setdefault(numbers[k], []).append(k)
    found: dict[int, T] = {}
    for position, group in enumerate(alike.values()):
        found |= dict.fromkeys(group, judge(group[0], moment(deadline, 1 / (len(alike) - position))))
    return [found[k] for k in range(len(parts))]


def _product(parts: list[list[int]], rows: list[list[int]], each: list[CoulombSolutions]) -> CoulombSolutions:
    lost = [contacts for contacts, x in zip(parts, each, strict=True) if x.count == 0]
    if lost:
        reason = f"the island of contact {lost[0][0] + 1} has none, all its modes were searched"
        return CoulombSolutions(0, reason=reason)
    reasons = [
        f"in the island of contact {contacts[0] + 1}: {x.reason}"
        for contacts, x in zip(parts, each, strict=True) if x.count is None
    ]  # fmt: skip
    number = math.prod(len(x.points) for x in each)
    some = itertools.product(*(x.points for x in each)) if number <= LISTED else ()
    points = sorted((_joined(parts, rows, chosen) for chosen in some), key=lambda x: tuple(x.p))
    found = CoulombSolutions(points=points, reason=reasons[0] if reasons else None)
    if not reasons:
        wide = [x.dimension for x in each if x.dimension]
        found.count = "infinite" if wide else number
        found.dimension = sum(wide) if wide else None
    return found


def _joined(parts: list[list[int]], rows: list[list[int]], chosen: Sequence[CoulombSolution]) -> CoulombSolution:
    """The solution that consists of these ones."""
    p, u = np.empty((2, sum(map(len, rows))))
    for own, x in zip(rows, chosen, strict=True):
        p[own], u[own] = x.p, x.u
    exact: dict[int, fmpq] = {}
    for own, x in zip(rows, chosen, strict=True):
        exact |= dict(zip(own, x.exact or (), strict=False))
    mode = {i: name for own, x in zip(parts, chosen, strict=True) for i, name in zip(own, x.modes, strict=True)}
    modes: Modes = tuple(mode[i] for i in sorted(mode))
    signs = [x.determinant for x in chosen if x.determinant is not None]
    return CoulombSolution(
        modes, p, u, max(x.distance for x in chosen),
        math.prod(signs) if len(signs) == len(chosen) else None,
        tuple(exact[i] for i in range(len(p))) if len(exact) == len(p) else None,
        tuple(sorted((own[i], how) for own, x in zip(parts, chosen, strict=True) for i, how in x.between)),
    )  # fmt: skip
