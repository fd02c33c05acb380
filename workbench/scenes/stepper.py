"""Stepping a scene: at every state its contacts are posed anew, solved, checked, and remembered by their keys."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms import find_solver
from workbench.algorithms.asking import solved_from
from workbench.algorithms.base import Solver
from workbench.algorithms.contact_blocks import BlockSolver, FewAnswer
from workbench.algorithms.escalation import HOPELESS, Chain, in_steps
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import Instant
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import APART, ASSOCIATED, COULOMB
from workbench.problems.solution import Solution, Status
from workbench.scenes.case_scene import CaseScene
from workbench.scenes.jammed import jammed
from workbench.scenes.posing import Memory, Posed, Poser, shape_of
from workbench.scenes.scene import Scene
from workbench.scenes.steady import Steps, Stops, run_again
from workbench.step.stepping import PASSES
from workbench.support.arrays import Array
from workbench.support.errors import DataError


class Stepped(NamedTuple):
    """One step: the state after it, and the impulses [N s] that took what was `given` there.

    P (R,) of the contacts in the rows of `given`, p_b of its bilateral rows, p_f of its dry friction. The residual is
    the problem's own of the last pass; `iterations` are those of all passes.
    """

    q: Array
    v: Array
    P: Array
    p_b: Array
    p_f: Array
    given: Instant
    residual: float
    tolerance: float
    iterations: int
    passes: int
    status: Status
    reason: str


class SceneStepper:
    """A scene under a formulation, with a solver for contact blocks, at a step h [s].

    `others` counts the problems that another method of the solver's chain has solved (`escalation`), by its name.
    `normal` is the normal law (`core.NORMAL_LAWS`), `passes` how many a fixed point may take. Raises UnknownNameError,
    DataError or ModellingError.
    """

    def __init__(
        self, scene: Scene, formulation: Formulation, h: float | None = None, solver: str | Solver | None = None,
        normal: str = "gap", passes: int = PASSES,
    ) -> None:  # fmt: skip
        self.scene, self.formulation = scene.under(formulation.name), formulation
        self.h = scene.step if h is None else h
        if not (np.isfinite(self.h) and self.h > 0):
            raise DataError(f"step = {self.h:g} s; a positive number is needed")
        if not (isinstance(passes, int | np.integer) and passes >= 1):
            raise DataError(f"passes = {passes}; a whole number >= 1 is needed")
        self.asked = in_steps(find_solver(solver or "auto"), ContactBlocks.kind)
        self.label, self.solver, self.passes = formulation.label, self.asked.name, passes
        self.poser = Poser(formulation, normal, scene.v_th, scene.recovery)
        first: Any = self.asked.first if isinstance(self.asked, Chain) and self.asked.asked is None else self.asked
        # A solver derived from it may solve otherwise.
        self.at_once = first.at_once if type(first) is BlockSolver else None
        self.stops: Any = Stops(first.enough, first.at_last, first.tolerance, passes) if self.at_once else None
        self.posed: Posed | None = None
        self.begin()

    def begin(self) -> None:
        """As for a first run: no contact is remembered, nothing is counted, and the whole chain of solvers is there."""
        self.method, self.memory, self.lost, self.others = self.asked, Memory(), 0, Counter[str]()
        self.steady = False

    def step(self, q: Array, v: Array, t: float) -> Stepped:
        """From the state (q, v) at the time t; raises DataError where the scene has no contact data for it."""
        given = self.scene.instant(q, v, t, self.h)
        solution, iterations, passes, settled = self._like_last(given) or self._anew(given)
        posed: Any = self.posed
        v_next, (P, p_b, p_f) = posed.velocity(solution.z), posed.impulses(solution.z)
        status, reason = solution.claimed, solution.reason
        if status is Status.INACCURATE:
            reason = self._jam(given, posed.blocks) or reason
        if not settled:
            status = Status.NO_FIXED_POINT
            reason = f"the state-dependent data did not settle within {passes} pass{'' if passes == 1 else 'es'}"
        q_next = self.scene.advance(q, v_next, self.h)
        return Stepped(
            q_next, v_next, P, p_b, p_f, given, solution.residual, solution.tolerance, iterations, passes, status,
            reason,
        )  # fmt: skip

    def ahead(self, steps: Steps) -> int:
        """Steps of a compiled case from the first of the states on, as long as they are like the last one, in one
        compiled call; returns how many were made."""
        posed, scene = self._last(), self.scene
        # A scene derived from a case's may step otherwise.
        if not (posed and type(scene) is CaseScene and scene.case.is_compiled and posed.last):
            return 0
        made: int = run_again(scene.mechanics(self.h), scene.room, *posed.last, self.stops, steps)
        return made

    def _last(self) -> Posed | None:
        """The last step, if it was solved at once and is what is remembered."""
        return self.posed if self.posed and self.steady and self.posed.memory is self.memory else None

    def _like_last(self, given: Instant) -> tuple[FewAnswer, int, int, bool] | None:
        """As `_solve`, in one compiled call; None where the step is not like the last one, nor that solved at once."""
        posed = self._last()
        found = posed.follow(given, self.stops) if posed and posed.shape == shape_of(given) else None
        if not found:
            return None
        _, residual, tolerance, iterations, passes = found[1].tolist()
        return FewAnswer(found[0], residual, tolerance, int(iterations)), int(iterations), int(passes), True

    def _anew(self, given: Instant) -> tuple[Solution | FewAnswer, int, int, bool]:
        """As `_solve`, with all that comes before, and remembered."""
        posed = self.posed = self.poser.pose(given, self.memory, self.method, self.posed)
        found = self._solve(posed)
        self.steady = isinstance(found[0], FewAnswer)
        posed.remember(found[0].z)
        return found

    def _jam(self, given: Instant, blocks: ContactBlocks) -> str:
        """Why there is nothing to solve, where overlaps hold each other, or friction wedges them; else empty."""
        if not given.numbers.keys().isdisjoint(self.formulation.options):
            return ""
        if (found := jammed(given, self.scene.recovery)).any():
            which = self._named(given, found)
            return f"no motion can undo {which}: rigid contact has no answer there"
        cones = np.isin(blocks.cone, (COULOMB, ASSOCIATED, APART)).any()
        if cones and (found := jammed(given, self.scene.recovery, friction=True)).any():
            which = self._named(given, found)
            return f"friction wedges {which}: no motion can undo them, and Coulomb's law need not have an answer there"
        return ""

    def _named(self, given: Instant, found: NDArray[np.bool_]) -> str:
        """How many overlaps, limits and equalities, and one of them by name."""
        contacts = np.flatnonzero(found[: given.contacts])
        names = getattr(self.scene, "contact_names", None)
        such = f", such as {names(given)[contacts[0]]['name']}" if names and contacts.size else ""
        kinds = "overlaps and limits" if contacts.size == found.sum() else "overlaps, limits and equalities"
        return f"{found.sum()} {kinds} together{such}"

    def _solve(self, posed: Posed) -> tuple[Solution | FewAnswer, int, int, bool]:
        """Pass after pass: the last solution, all iterations, the passes, and whether they have settled.

        They have where no other is asked for, or where others change nothing: a solver takes a start that solves its
        problem for the answer, and what solves the problem of every pass is a fixed point as exactly as it solves any.
        """
        iterations, x, unchanged = 0, None, 0
        for passes in range(1, self.passes + 1):
            problem = posed.problem()
            solution = self._solved(problem, posed.guess() if x is None else x)
            unchanged = unchanged + 1 if x is not None and np.array_equal(solution.z, x) else 0
            iterations, x = iterations + solution.iterations, solution.z
            if solution.claimed not in (Status.SOLVED, Status.INACCURATE) or not posed.again(x):
                return solution, iterations, passes, True
            # Once is not enough: after a slip that turned back, the tangent is not that at the answer.
            if unchanged == 2:
                return solution, iterations, passes, True
        return solution, iterations, self.passes, False

    def _solved(self, problem: ContactBlocks, guess: Array) -> Solution | FewAnswer:
        if self.at_once and (few := self.at_once(problem, guess)):
            self.lost = 0
            return few
        found = solved_from(self.method, problem, guess)
        if found.solver != self.solver:
            self.others[found.solver] += 1
        self.lost = 0 if found.verified else self.lost + 1
        if self.lost == HOPELESS and isinstance(self.method, Chain):
            self.method = self.method.first
        return found
