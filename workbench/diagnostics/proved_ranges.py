"""Regimes of sliding contacts over a box of parameters, proved: branch and bound over boxes (`box_regime`).

The largest undecided box is cut across its longest side, relative to the range, until a stated share of the volume or
the time is left. Boxes are closed, so that a critical state lies in no box with a verdict on the P-property.
"""

import heapq
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from workbench.diagnostics.box_regime import OPEN, UNDECIDED, UNIQUE, VERDICTS, BoxRegime, box_regime
from workbench.engine.timing import clock
from workbench.mechanics.case import Array, Case
from workbench.mechanics.enclosed import over_box
from workbench.step.sliding.exact import as_rational
from workbench.step.sliding.rows import SlidingRows
from workbench.support.errors import DataError
from workbench.support.progress import ProgressCallback

SHARE = Fraction(1, 100)
"""Undecided share of the volume at which refinement ends by default."""
BITS = 64
"""Working precision of balls: their own rounding is far below the width of any box."""
LARGEST = 4
"""Contacts up to which boxes are judged."""
MOST_PARAMETERS = 4
FINEST = 2.0**-40
"""Smallest side of a box, relative to the range."""

Range = tuple[Fraction, Fraction]
START = "at the start"
P_WORDS = {1: "P", 0: "not P", -1: "undecided"}
"""Words for the verdict on M_mu in a box."""


@dataclass(frozen=True, eq=False)
class ProvedRanges:
    """Verdicts on all of a box of parameters: `names` and `ranges` (d) of those that vary.

    Box k of N is `ranges` times the unit-cube box with the corner `corner` (N, d) and the sides `side` (N, d), exact
    doubles. `verdict` (N,) indexes `VERDICTS`; `p` (N,) is 1 where M_mu is a P-matrix for all parameters of the box, 0
    where it is for none, -1 where that is undecided. `boxes` were evaluated in all, in `seconds`, each at the
    same `state` of the system.
    """

    names: tuple[str, ...]
    ranges: tuple[Range, ...]
    corner: Array
    side: Array
    verdict: NDArray[np.int64]
    p: NDArray[np.int64]
    boxes: int
    seconds: float
    state: str = START

    @property
    def volume(self) -> Array:
        """Share (N,) of each box."""
        return np.asarray(self.side.prod(axis=1))

    def share(self, where: NDArray[np.bool_]) -> float:
        """Share of the volume that some of the boxes make up."""
        return float(self.volume[where].sum())

    def shares(self) -> dict[str, float]:
        """Share of each verdict that occurs."""
        return {name: self.share(self.verdict == k) for k, name in enumerate(VERDICTS) if (self.verdict == k).any()}

    def value(self, k: int, u: Array) -> tuple[Fraction, ...]:
        """Exact parameters at u (d,) of the way through box k."""
        at = [Fraction(a) + Fraction(s) * Fraction(x) for a, s, x in zip(self.corner[k], self.side[k], u, strict=True)]
        return tuple(low + x * (high - low) for x, (low, high) in zip(at, self.ranges, strict=True))

    def edges(self) -> tuple[Array, Array]:
        """Lower and upper ends (N, d) of the boxes, rounded to doubles."""
        low, high = (np.array([float(r[k]) for r in self.ranges]) for k in (0, 1))
        return low + self.corner * (high - low), low + (self.corner + self.side) * (high - low)

    def witness(self) -> tuple[dict[str, Fraction], str] | None:
        """Return the middle of the largest box proved to have not exactly one solution, with its verdict, or None."""
        refuted = np.flatnonzero((self.verdict != UNIQUE) & (self.verdict != UNDECIDED))
        if not refuted.size:
            return None
        k = int(refuted[np.argmax(self.volume[refuted])])
        values = self.value(k, np.full(len(self.names), 0.5))
        return dict(zip(self.names, values, strict=True)), VERDICTS[self.verdict[k]]


def proved_ranges(
    rows: Callable[[Mapping[str, Any]], SlidingRows], given: Mapping[str, Fraction], ranges: Mapping[str, Range],
    share: Fraction = SHARE, seconds: float = math.inf, progress: ProgressCallback | None = None,
) -> ProvedRanges:  # fmt: skip
    """Judge all parameters within `ranges`, the others as `given`; `rows` is the mechanics in numbers of any kind.

    Stops where the undecided share, of the verdicts and of the P-property, is at most `share`, or after `seconds`.
    Raises DataError for empty ranges, a share outside [0, 1), too many parameters and too many contacts.

    >>> from fractions import Fraction
    >>> def mass(p):  # A mass on a floor whose friction also lifts it.
    ...     M = [[1, p["coupling"]], [p["coupling"], 1]]
    ...     return SlidingRows(M, [0, -10], [[0, 1]], [[1, 0]], [p["mu"]], [-1])
    >>> found = proved_ranges(mass, {"coupling": Fraction(1, 2)}, {"mu": (Fraction(0), Fraction(4))})
    >>> {name: round(part, 2) for name, part in found.shares().items()}
    {'unique': 0.5, 'none': 0.5, 'undecided': 0.01}
    """
    names, start = tuple(ranges), clock()
    if not 1 <= len(names) <= MOST_PARAMETERS:
        raise DataError(f"{len(names)} parameters vary; from 1 to {MOST_PARAMETERS} are judged at once")
    for name, (low, high) in ranges.items():
        if not low < high:
            raise DataError(f"{name} goes from {low} to {high}; the first must be the smaller one")
    if not 0 <= share < 1:
        raise DataError(f"the share that may be left undecided is {float(share):g}; from 0 to below 1 is needed")
    report = progress or (lambda *_: None)
    spans = [(as_rational(low), as_rational(high) - as_rational(low)) for low, high in ranges.values()]
    fixed = {name: arb(as_rational(value)) for name, value in given.items() if name not in ranges}

    def judged(corner: tuple[float, ...], side: tuple[float, ...], known: BoxRegime) -> BoxRegime:
        half = [0.5 * s for s in side]
        at = [c + h for c, h in zip(corner, half, strict=True)]
        here = {name: over_box(*spans[k], at, half, k) for k, name in enumerate(names)}
        return box_regime(lambda: rows(fixed | here), known)

    with ctx.workprec(BITS):
        m = len(rows(fixed | {name: arb(low) for name, (low, _) in zip(names, spans, strict=True)}).mu)
        if m > LARGEST:
            raise DataError(f"{m} contacts; over boxes of parameters at most {LARGEST} are judged")
        return _refined(judged, names, tuple(ranges.values()), float(share), start, seconds, report)


def _refined(
    judged: Callable[..., BoxRegime], names: tuple[str, ...], ranges: tuple[Range, ...], share: float, start: float,
    seconds: float, report: ProgressCallback,
) -> ProvedRanges:  # fmt: skip
    d, number = len(names), itertools.count()
    done: list[tuple[tuple[float, ...], tuple[float, ...], BoxRegime]] = []
    heap: list[tuple[float, int, tuple[float, ...], tuple[float, ...], BoxRegime]] = []
    # Volumes of what is open, of the verdict and of P: sums of dyadic numbers, which doubles hold exactly.
    open_now, boxes = np.zeros(2), 0

    def enter(corner: tuple[float, ...], side: tuple[float, ...], known: BoxRegime) -> None:
        found, volume = judged(corner, side, known), math.prod(side)
        open_now[:] += volume * np.array([found.verdict == UNDECIDED, found.p is None])
        if found.decided:
            done.append((corner, side, found))
        else:
            heapq.heappush(heap, (-volume, next(number), corner, side, found))

    enter((0.0,) * d, (1.0,) * d, OPEN)
    while heap and open_now.max() > share and clock() < start + seconds:
        volume, _, corner, side, found = heapq.heappop(heap)
        k = max(range(d), key=lambda i: side[i])
        if side[k] <= FINEST:
            heapq.heappush(heap, (volume, next(number), corner, side, found))
            break
        open_now[:] += volume * np.array([found.verdict == UNDECIDED, found.p is None])
        half = tuple(0.5 * s if i == k else s for i, s in enumerate(side))
        enter(corner, half, found)
        enter(tuple(c + half[i] if i == k else c for i, c in enumerate(corner)), half, found)
        boxes += 2
        if boxes % 64 == 0:
            report("area proved [%]", round(100 * (1 - float(open_now.max()))), 100)
    done += [(corner, side, found) for _, _, corner, side, found in heap]
    return ProvedRanges(
        names, ranges, np.array([c for c, _, _ in done]), np.array([s for _, s, _ in done]),
        np.array([f.verdict for *_, f in done]), np.array([-1 if f.p is None else int(f.p) for *_, f in done]),
        boxes + 1, clock() - start,
    )  # fmt: skip


def proved_of_case(
    case: Case, given: Mapping[str, Fraction], ranges: Mapping[str, Range], share: Fraction = SHARE,
    seconds: float = math.inf, progress: ProgressCallback | None = None,
) -> ProvedRanges:  # fmt: skip
    """Judge the sliding contacts of a case over ranges of its parameters, the others as `given` or its own.

    Raises DataError for a case that does not write them in numbers of any kind, and for parameters it cannot have.
    """
    if not hasattr(case, "sliding_rows"):
        raise DataError(
            f"{case.name}: its contacts are known at single states only; over boxes of parameters they are for "
            f"{WRITTEN_FOR}, and for a case of your own with sliding_rows(parameters)"
        )
    own = {case.aliases.get(name, name): span for name, span in ranges.items()}
    if len(own) < len(ranges):
        raise DataError(f"{', '.join(ranges)}: one parameter is named twice")
    # Also the middle: a parameter such as a sign has ends that are allowed, and nothing between them.
    for ends in itertools.product(*((low, (low + high) / 2, high) for low, high in own.values())):
        # Also refuses what is given and varies under another name.
        values = {case.aliases.get(name, name): float(value) for name, value in given.items()}
        case.with_parameters(**values | dict(zip(own, map(float, ends), strict=True)))
    found = proved_ranges(case.sliding_rows, case.rationals(given), own, share, seconds, progress)
    return replace(found, state=getattr(case, "sliding_rows_at", START))


WRITTEN_FOR = "rod, rod-in-guide, tripod and wedged-box"
"""The cases that have `sliding_rows`; tests hold this to them."""
