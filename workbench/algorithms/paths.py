"""The path from a problem to a solver: the cheapest chain of bridges to a problem that the solver accepts.

The search uses the actual problem, since the conditions of a bridge depend on the numbers; images are formed when the
search reaches them. It is A* with the cost of the remaining way if every bridge applies as lower bound (Hart, Nilsson &
Raphael 1968), so that images off the way are not formed. A bridge is crossed at most once from each kind of problem. If
no chain leads from Coulomb's law to a solver, one from the CCP is used for a sequence of CCPs (`crossing`). A problem
without unknowns is accepted by any solver.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any

import numpy as np

from workbench.algorithms.base import Solver
from workbench.problems.bridges import BRIDGES, Bridge, Image, de_saxce
from workbench.problems.contact_blocks import ContactBlocks
from workbench.support.arrays import Array
from workbench.support.errors import DataError


@dataclass(frozen=True)
class BridgePath:
    """Bridges in the order in which they are crossed from `start`, and their images.

    `is_sequence`: the start is the CCP that replaces Coulomb's law.
    """

    start: Any
    bridges: tuple[Bridge, ...] = ()
    images: tuple[Image, ...] = ()
    is_sequence: bool = False
    further: dict[Bridge, "BridgePath | DataError"] = field(default_factory=dict, compare=False, repr=False)
    """Cached results of crossing one more bridge."""

    @property
    def end(self) -> Any:
        """The problem that the solver receives."""
        return self.images[-1].problem if self.images else self.start

    @property
    def names(self) -> tuple[str, ...]:
        first = (de_saxce.NAME,) if self.is_sequence else ()
        return first + tuple(bridge.name for bridge in self.bridges)

    @property
    def is_exact(self) -> bool:
        """Whether a proof for the image is valid for the problem."""
        return all(bridge.exact for bridge in self.bridges)

    @property
    def leads_back(self) -> bool:
        """Whether the last two bridges undo each other; blocks come back with other rows, their unknowns."""
        kinds = [self.start.kind, *(image.problem.kind for image in self.images)]
        *_, first, between, last = ["", "", *kinds]
        return first == last != between and last != ContactBlocks.kind

    def over(self, bridge: Bridge) -> "BridgePath":
        """Return this path with one more bridge. Raises DataError if that bridge does not apply."""
        found = self.further.get(bridge)
        if found is None:
            try:
                if reason := bridge.applies(self.end):
                    raise DataError(reason)
                image = bridge.forward(self.end)
                found = BridgePath(self.start, (*self.bridges, bridge), (*self.images, image))
            except DataError as error:
                found = error
            self.further[bridge] = found
        if isinstance(found, DataError):
            raise found
        return found

    def back(self, z: Array) -> Array:
        for image in reversed(self.images):
            z = image.back(z)
        return z

    def there(self, z: Array) -> Array:
        for image in self.images:
            z = image.there(z)
        return z


def path_to(
    solver: Solver, problem: Any, like: Sequence[str] = (), begun: BridgePath | None = None
) -> BridgePath | str:
    """Return the path from a problem to a solver, or the reason why there is none.

    `begun` is the empty path at which searches for other solvers of the same problem began: images are formed once.
    Similar problems, such as those of the steps of a run, usually have the same path: the path with the names `like` is
    used if it leads to the solver, without a search for a cheaper one.
    """
    if not problem.size:
        return BridgePath(problem)
    if like and (known := _along(like, solver, problem)):
        return known
    path = _chain(solver, begun or BridgePath(problem), problem.kind)
    if isinstance(path, BridgePath) or not de_saxce.is_shifted(problem):
        return path
    try:
        other = _chain(solver, BridgePath(de_saxce.associated(problem, np.zeros(problem.size))), problem.kind)
    except DataError:
        return path
    return replace(other, is_sequence=True) if isinstance(other, BridgePath) else other


def objection(solver: Solver, problem: Any) -> str | None:
    """Return why a solver accepts a problem neither directly nor by a path, or None if it does."""
    if problem.kind in solver.solves and solver.why_not(problem) is None:
        return None
    path = path_to(solver, problem)
    return path if isinstance(path, str) else None


def _along(names: Sequence[str], solver: Solver, problem: Any) -> BridgePath | None:
    """Return the path with these names, if it leads from a problem to a solver."""
    rest = [name for name in names if name != de_saxce.NAME]
    is_sequence = len(rest) < len(names)
    if is_sequence and not de_saxce.is_shifted(problem):
        return None
    try:
        start = de_saxce.associated(problem, np.zeros(problem.size)) if is_sequence else problem
        path = BridgePath(start)
        for name in rest:
            bridge = next((b for b in BRIDGES if b.name == name and path.end.kind in b.leads), None)
            if bridge is None:
                return None
            path = path.over(bridge)
    except DataError:
        return None
    if path.end.kind not in solver.solves or solver.why_not(path.end) is not None:
        return None
    return replace(path, is_sequence=is_sequence)


def _chain(solver: Solver, start: BridgePath, kind: str) -> BridgePath | str:
    """Return the cheapest chain from the end of a path, or the reason of the solver or of a bridge against it.

    `kind` is the name of the problem in that reason.
    """
    refusals: list[str] = []
    obstacles: dict[str, str] = {}
    others: list[str] = []
    crossed: set[tuple[Bridge, str]] = set()
    order, left = count(), _left(frozenset(solver.solves))
    ahead: list[tuple[float, int, int, BridgePath, Bridge | None]] = [(0, next(order), 0, start, None)]
    while ahead:
        _, _, cost, path, bridge = heappop(ahead)
        if bridge is not None:
            begun = bridge, path.end.kind
            if begun in crossed:
                continue
            try:
                path = path.over(bridge)
            except DataError as error:
                after = f" (after: {', '.join(path.names)})" if path.bridges else ""
                if bridge.leads[path.end.kind] & solver.solves:
                    # Ordered by last occurrence, each with the message of its first occurrence, after the fewest
                    # bridges.
                    obstacles[str(error)] = obstacles.pop(str(error), f"{error}{after}")
                else:
                    others.append(f"{error}{after}")
                continue
            crossed.add(begun)
            if path.leads_back:
                continue
        if path.end.kind in solver.solves:
            reason = solver.why_not(path.end)
            if reason is None:
                return path
            refusals.append(reason)
        for next_bridge in BRIDGES:
            if path.end.kind in next_bridge.leads and (next_bridge, path.end.kind) not in crossed:
                there = cost + next_bridge.cost
                least = min(left.get(end, inf) for end in next_bridge.leads[path.end.kind])
                heappush(ahead, (there + least, next(order), there, path, next_bridge))
    nowhere = f"{solver.name} solves {', '.join(sorted(solver.solves))}; no bridge leads there from {kind}"
    if refusals:
        return refusals[0]
    # The last obstacle before the solver is the one that nothing else precedes.
    reason = [*obstacles.values()][-1] if obstacles else next(iter(others), "")
    return f"{nowhere}: {reason}" if reason else nowhere


@cache
def _left(solves: frozenset[str]) -> Mapping[str, float]:
    """Lower bound of the cost from each kind of problem to one of these; other kinds have none."""
    found = dict.fromkeys(solves, 0.0)
    for _ in BRIDGES:
        for bridge in BRIDGES:
            for kind, ends in bridge.leads.items():
                cost = bridge.cost + min(found.get(end, inf) for end in ends)
                if cost < found.get(kind, inf):
                    found[kind] = cost
    return found
