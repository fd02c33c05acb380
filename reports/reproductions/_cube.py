"""The numbers behind the page of DETC2017-67988: runs of the cube, ranks, which solver solves what, single steps."""

from dataclasses import dataclass

import numpy as np

from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.ccp import ccp
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.discrete_velocity import discrete_velocity
from workbench.builtin.formulations.frictionless import frictionless
from workbench.builtin.formulations.hybrid import hybrid
from workbench.builtin.formulations.phantom_inertia import phantom_inertia
from workbench.builtin.formulations.stewart_trinkle import stewart_trinkle
from workbench.diagnostics.phantom import lead_matrices
from workbench.judge.coulomb import misalignment
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Array, Case
from workbench.mechanics.contact import ContactSystem
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.problems.rank import rank
from workbench.step.one_step import first_step, pose
from workbench.step.run import Run
from workbench.step.simulation import simulate
from workbench.support.errors import DataError

COARSE, FINE = 1e-2, 1e-3
"""The two steps of Fig. 4 [s]."""
NORMALS = Cube().relaxation.with_values(k_t=np.inf, b_t=0.0)
"""The reference's relaxation: the run's of normal rows, none of friction rows, which then obey Coulomb's law itself."""
STIFF = Cube().relaxation.with_values(k_t=1e12, b_t=0.0)
"""Hardly any in friction rows, for models that have no matrix without: it moves exact Coulomb friction by 3e-11 m."""
REGULARISED = phantom_inertia.with_options(lateral="regularised")
FIXED = phantom_inertia.with_options(axes="fixed")
ITERATED = hybrid.with_options(bounds="iterated")
COUPLED = box_friction.with_options(bounds="coupled")
NAMED = {
    coulomb: "Coulomb, compliant", anitescu_potra: "AP", box_friction: "box", COUPLED: "box, coupled bounds",
    hybrid: "hybrid, one pass", ITERATED: "hybrid, iterated", phantom_inertia: "phantom inertia",
    REGULARISED: "phantom, regularised", FIXED: "phantom, fixed axes", discrete_velocity: "discrete velocity",
    ccp: "CCP",
}  # fmt: skip
OTHERS = tuple(f for f in FORMULATIONS if f not in (*NAMED, frictionless, stewart_trinkle))
"""Whatever else is registered. Without friction the cube never stops, and Stewart-Trinkle's LCP is AP's here."""


def name_of(f: Formulation) -> str:
    return NAMED.get(f, f.label)


def run(case: Case, f: Formulation, h: float, relaxation: Relaxation | None = None) -> Run:
    """A run by the round-off solver of the formulation's kind."""
    return simulate(case, f, default_solver(compiled(f, *case.size).kind), h, relaxation=relaxation)


def runs(h: float) -> dict[Formulation, Run]:
    """The cube under every formulation, with the compliance of Table 1."""
    return {f: run(Cube(), f, h) for f in (*NAMED, *OTHERS)}


def rigid_tangents(f: Formulation, h: float) -> Run:
    """The cube without compliance of its friction rows, or hardly any where the matrix is singular without."""
    r = run(Cube(), f, h, NORMALS)
    return r if r.steps else run(Cube(), f, h, STIFF)


def path(r: Run) -> Array:
    """(K + 1, 3) the centre [m]."""
    return r.case.centre(r.states_q)


def apart(a: Run, b: Run) -> float:
    """Largest distance of the centres of two runs at the same time [m]."""
    k = min(a.steps, b.steps) + 1
    return float(np.linalg.norm(path(a)[:k] - path(b)[:k], axis=1).max())


def stop(r: Run) -> float:
    """End of the step after which no vertex slides faster than the stick threshold, for good [s]; nan if none."""
    slides = np.linalg.norm(r.u_t, axis=-1).max(axis=1) >= r.case.v_th
    return (
        float("nan") if r.steps < r.steps_wanted or slides[-1] else float(r.h * (slides.size - np.argmax(slides[::-1])))
    )


@dataclass(frozen=True)
class RankRow:
    """Expected and computed rank deficiency of a lead matrix; None if it cannot be posed."""

    system: str
    formulation: str
    relaxed: bool
    matrix: str
    size: int
    rank: int | None
    predicted: int | None

    @property
    def lack(self) -> int | None:
        return None if self.rank is None else self.size - self.rank


def predicted_lack(f: Formulation, r: int) -> int:
    """Rank deficiency with independent or relaxed contact rows: AP r (n_d - 3), discrete velocity r (n_d - 2).

    AP: A beta = 0 and sum of beta = 0. Discrete velocity: E (w_up - w_lo) = 0, 2 k - 2 dimensions of 2 k = n_d.
    """
    n_d = int(f.options.get("directions", 0))
    return r * {"anitescu-potra": n_d - 3, "discrete-velocity": n_d - 2}.get(f.name, 0)


def rank_rows(h: float = FINE) -> list[RankRow]:
    """One contact (wheel) and four (cube), rigid and relaxed as Table 1, mixed and reduced."""
    chosen = [f.with_options(directions=d) for f in (anitescu_potra, discrete_velocity, FIXED) for d in (4, 8)]
    chosen += [box_friction, COUPLED, ITERATED, ccp]
    rows = []
    for case in (Wheel(), Cube()):
        for relaxation in (RIGID, Cube().relaxation):
            for f in chosen:
                rows += _ranks_of(case, f, relaxation, h)
    return rows


def _ranks_of(case: Case, f: Formulation, relaxation: Relaxation, h: float) -> list[RankRow]:
    relaxed, r = relaxation != RIGID, case.size[2]
    # Rigid, the cube's contact rows depend on each other and the formula does not apply.
    predicted = predicted_lack(f, r) if relaxed or r == 1 else None
    stepper = first_step(case, f, h, relaxation=relaxation)
    n_c = stepper.c.plan.lower.size
    n = stepper.c.plan.n_free + n_c
    system = f"{case.name}, {r} contact{'s' * (r > 1)}"
    try:
        mixed, reduced = lead_matrices(stepper)
        found: tuple[int | None, int | None] = rank(mixed).value, rank(reduced).value
    except DataError:
        found = rank(stepper.work.A[:n, :n]).value, None
    return [
        RankRow(system, f.label, relaxed, matrix, size, value, predicted)
        for matrix, size, value in (("mixed", n, found[0]), ("reduced", n_c, found[1]))
    ]


def regularised_step(mu_across: float = 1.0, mu_along: float = 1.0, eps: float = 1.0) -> tuple[float, float]:
    """One step of the sliding wheel under phantom inertia with the lateral regularisation, friction data to be spoilt.

    Factors on the friction coefficients of the two axes and on the compliance eps_l = |u_t| / (mu p_n) across. Returns
    the friction impulse over mu p_n, and its misalignment [deg].
    """
    # Not along an axis, so that friction has to turn: from a run, half a second into the slide.
    r = simulate(Wheel(), coulomb, find_solver("coulomb-exact"), FINE, 0.5)
    k, mu = r.steps - 1, Wheel().mu
    M, b, J = r.record.mass[k], r.record.b[k], r.record.J[k]
    v = r.states_v[k]
    system = ContactSystem(M=M, v=v, f=(b - M @ v) / FINE, h=FINE, J_n=J[:1], J_t=J[1:], mu=mu, v_th=Wheel().v_th)
    stepper = pose(REGULARISED, system)
    speed = float(np.linalg.norm(J[1:] @ v))
    stepper.own[1:3] = mu * mu_along, mu * mu_across
    stepper.core.eps_t[1] = eps * speed / (mu * r.p_n[k - 1, 0])
    stepper.solve(find_solver("lemke"))
    out = stepper.work.out
    p_n, p_t = out[6], out[7:9]
    u = stepper.core.J_t @ out[:6]
    return float(np.linalg.norm(p_t) / (mu * p_n)), float(misalignment(p_t[None], u[None], 0.0)[0])
