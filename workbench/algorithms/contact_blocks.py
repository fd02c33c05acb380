"""Contact blocks of any sets to round-off, island by island.

Packings of spheres have methods of their own: `sphere_newton`, and for the CCP of many `sphere_gradient` before it. All
others are solved island by island: single blocks by themselves (`block_sweeps`), small islands by the dense methods
(`block_islands`), what has only equalities by one factorisation (`block_equalities`), the rest, and those where these
fail, by Newton's method over bodies (`block_newton`), and where velocities almost fit together once more
(`block_misfit`). A guess that solves an island is its answer, and a start elsewhere; where Newton's method finds no
solution from it, it begins from zero. Guarantees are those of the methods; the problem's own residual grades every
island and the whole.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms import best
from workbench.algorithms.base import EXACT, refusal
from workbench.engine.timing import clock
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import ASSOCIATED
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array
from workbench.support.errors import DataError

if TYPE_CHECKING:
    from workbench.algorithms.block_islands import Island

ENOUGH, AT_LAST = 1e-11, EXACT
"""Residuals at which nothing more is done, if not adjusted: in general, and of small islands whose method has come as
far as rounding lets it (`few_blocks.FINAL`)."""
MANY, FOR_GRADIENTS = 50, 1000
"""Blocks from which on contacts of spheres are solved as a packing, and of associated flow by gradients first."""
MOST = 1000
"""Newton steps on an island from one start, if not adjusted; fewer leave no time for other methods after them."""


Indices = NDArray[np.int64]


@dataclass
class IslandAnswers:
    """The best answers x (X,) of all islands so far, the residuals of blocks (B,), iterations, what stages came to."""

    problem: ContactBlocks
    x: Array
    residuals: Array = field(default_factory=lambda: np.zeros(0))
    iterations: int = 0
    stages: list[str] = field(default_factory=list)

    def offer(self, x: Array) -> None:
        """Take of x, another answer to all islands, what is better, island by island."""
        p = self.problem
        found = p.block_residuals(x)
        worst, worst_found = (self.by_island(some) for some in (self.residuals, found))
        better = worst_found < worst
        self.residuals = np.where(better, found, self.residuals)
        self.x = np.where(better[p.block_of_unknown], x, self.x)
        self.show()

    def put(self, blocks: Indices, unknowns: Indices, x: Array, residuals: Array) -> None:
        """Take another answer to one island, with the residuals of its blocks, if it is better."""
        if residuals.max() < self.residuals[blocks].max():
            self.x[unknowns], self.residuals[blocks] = x, residuals
            self.show()

    def show(self) -> None:
        """To whoever watches."""
        if best.watched(self.problem.size):
            best.offer(self.x)

    def by_island(self, residuals: Array) -> Array:
        """(B,) the largest of the island of every block."""
        largest = np.zeros(self.problem.blocks)
        np.maximum.at(largest, self.problem.part, residuals)
        return largest[self.problem.part]


class FewAnswer(NamedTuple):
    """An answer to few blocks, found in one compiled call: what its `Solution` says."""

    z: Array
    residual: float
    tolerance: float
    iterations: int
    claimed: Status = Status.SOLVED
    reason: str = ""


@dataclass(frozen=True)
class BlockSolver:
    """See the module. `enough` is the residual at which it stops, `most` the number of Newton steps on an island."""

    enough: float = ENOUGH
    most: int = MOST
    name: str = "blocks-exact"
    solves: frozenset[str] = frozenset({ContactBlocks.kind})
    guaranteed_for: str = "islands of one kind, where their method is; others: no proof, checked by the residual"
    tolerance: float = EXACT

    def why_not(self, problem: Any) -> str | None:
        """Contact blocks are taken, whatever their sets."""
        return None if problem.kind in self.solves else f"{self.name} solves contact blocks, not {problem.kind}"

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "BlockSolver":
        """Another residual at which it stops, and another number of Newton steps at most on an island."""
        return replace(self, enough=tolerance or self.enough, most=max_iterations or self.most)

    def solve(self, problem: Any, guess: Array | None = None) -> Solution:
        """Solve one problem from a guess x (X,) or from nothing.

        Raises DataError where the guess has another shape.
        """
        if reason := self.why_not(problem):
            return refusal(self, problem, reason)
        start = clock()
        p: ContactBlocks = problem
        x = np.zeros(p.size)
        if guess is not None:
            if np.shape(guess) != x.shape:
                raise DataError(f"the guess has shape {np.shape(guess)}; the problem's unknowns have {x.shape}")
            x[:] = guess
            x[~np.isfinite(x)] = 0.0
        progress = IslandAnswers(p, x)
        self.all_islands(progress)
        residual = float(progress.residuals.max(initial=0.0))
        claimed = Status.SOLVED if residual <= self.tolerance else Status.INACCURATE
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        return Solution(
            progress.x, claimed, residual, self.tolerance, progress.iterations, clock() - start, self.name, reason,
            tuple(progress.stages),
        )  # fmt: skip

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """As `solve`, from a start (X,)."""
        return self.solve(problem, start)

    def at_once(self, p: ContactBlocks, guess: Array) -> FewAnswer | None:
        """Solve a few blocks whose islands all have a compiled method from a guess (X,); None where that is not enough.

        The answer is that of `solve`, which takes ten times as long around the same call.
        """
        if p.few is None or p.blocks >= MANY:
            return None
        x = np.empty(p.size)
        done, residual, iterations, _ = self._few(p, guess, x, np.empty(p.blocks))
        return FewAnswer(x, residual, self.tolerance, int(iterations)) if done and residual <= self.tolerance else None

    def _few(self, p: ContactBlocks, guess: Array, x: Array, residuals: Array) -> tuple[bool, float, float, float]:
        """`few_blocks.solve_few`: whether that is enough, the largest residual, iterations, islands solved."""
        # Lazy, since listing solvers needs no compiled code.
        from workbench.algorithms.few_blocks import solve_few

        found = np.empty(3)
        done = solve_few(p.arrays, p.few, self.enough, self.at_last, guess, x, residuals, found)
        return done, *found.tolist()

    def all_islands(self, progress: IslandAnswers) -> None:
        """Every island that is not solved yet, by the ways that the module names."""
        p = progress.problem
        if p.blocks >= MANY or not p.few:
            progress.residuals = p.block_residuals(progress.x)
            if progress.residuals.max(initial=0.0) <= self.enough or (p.blocks >= MANY and self.as_spheres(progress)):
                return
        if p.few and self.few(progress):
            return
        # Lazy, since SciPy's graphs take longer to import than small problems to solve.
        from workbench.algorithms.block_equalities import solve_equalities
        from workbench.algorithms.block_islands import islands, solve_islands, solve_single
        from workbench.algorithms.block_newton import solve_island

        left = [some for some in islands(p) if progress.residuals[some.blocks].max() > self.enough]
        x = progress.x.copy()
        at_once = [some for some in left if some.method and some.blocks.size > 1 and not p.few]
        if single := [some for some in left if some.blocks.size == 1 and not (some.method and p.few)]:
            solve_single(p, np.concatenate([some.blocks for some in single]), x)
            progress.stages.append(f"{len(single)} islands of one block")
        if at_once:
            progress.iterations += solve_islands(p, at_once, x)
            progress.stages.append(f"{len(at_once)} small islands")
        if single or at_once:
            progress.offer(x)
        for some in left:
            if progress.residuals[some.blocks].max() > self.enough_for(some):
                part, unknowns = p.among(some.blocks), np.sort(some.unknowns)
                if (x_e := solve_equalities(part)) is not None:
                    progress.put(some.blocks, unknowns, x_e, part.block_residuals(x_e))
                    progress.stages.append(f"{some.blocks.size} equalities at once")
                    if progress.residuals[some.blocks].max() <= self.enough:
                        continue
                x_k, iterations, stages = solve_island(part, progress.x[unknowns], self.enough, self.most)
                progress.put(some.blocks, unknowns, x_k, part.block_residuals(x_k))
                progress.iterations += iterations
                progress.stages += [f"{some.blocks.size} blocks, {stage}" for stage in stages]
                self.once_more(progress, some.blocks, unknowns, part)

    def few(self, progress: IslandAnswers) -> bool:
        """Of blocks that are dense matrices already the islands that have a method; whether that was enough."""
        p = progress.problem
        progress.residuals = np.empty(p.blocks)
        done, _, iterations, solved = self._few(p, progress.x, progress.x, progress.residuals)
        progress.iterations += int(iterations)
        if solved:
            progress.stages.append(f"{solved:.0f} small islands")
            progress.show()
        return done

    def as_spheres(self, progress: IslandAnswers) -> bool:
        """All contacts by the methods for packings, if they are of spheres; whether that was enough."""
        from workbench.algorithms import sphere_gradient, sphere_newton

        p = progress.problem
        enough = max(self.enough, sphere_newton.STOP)
        methods: list[Any] = [sphere_newton.SOLVER]
        if p.blocks >= FOR_GRADIENTS and (p.cone == ASSOCIATED).all():
            methods.insert(0, sphere_gradient.SOLVER)
        if self.most < MOST or isinstance(packed := methods[-1].packed(p), str):
            return False
        for method in methods:
            found = method.adjusted(enough, None).solve_packed(p, packed, progress.x)
            progress.offer(found.z)
            progress.iterations += found.iterations
            progress.stages.append(f"{p.blocks} contacts of spheres, {method.name}: {found.residual:.1e}")
            if progress.residuals.max() <= enough:
                return True
        return False

    def enough_for(self, island: "Island") -> float:
        """The residual at which an island is left as it is."""
        from workbench.algorithms.few_blocks import FINAL

        return self.at_last if island.method in FINAL else self.enough

    @property
    def at_last(self) -> float:
        """The same of an island whose method can come no further."""
        return AT_LAST if self.enough == ENOUGH else self.enough

    def once_more(self, progress: IslandAnswers, blocks: Indices, unknowns: Indices, part: ContactBlocks) -> None:
        """An island that Newton's method over blocks leaves unsolved, with what does not fit together magnified."""
        from workbench.algorithms.block_misfit import solve_magnified

        enough = max(self.enough, self.tolerance)
        if self.most < MOST or progress.residuals[blocks].max() <= enough:
            return
        if found := solve_magnified(part, progress.x[unknowns]):
            x, iterations = found
            progress.put(blocks, unknowns, x, part.block_residuals(x))
            progress.iterations += iterations
            progress.stages.append(f"with what does not fit magnified: {progress.residuals[blocks].max():.1e}")


SOLVER = BlockSolver()
