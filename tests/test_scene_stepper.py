"""Contacts posed one by one: the laws of every formulation, the steps of the cases, contacts that come and go."""

from dataclasses import replace

import numpy as np
import pytest

from tests.test_formulations import LAWS, VARIANTS, obeys_the_laws, rebound, solve
from workbench.algorithms import default_solver
from workbench.assemble.find import compiled
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import FORMULATIONS
from workbench.engine.compiling import kernel
from workbench.errors import DataError, ModellingError
from workbench.language.formulation import ContactSymbols
from workbench.language.hooks import GIVEN
from workbench.language.modelling import Hooks
from workbench.mechanics.contact import ContactSolution
from workbench.mechanics.instant import instant
from workbench.mechanics.relaxation import RIGID
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.solution import Status
from workbench.scenes.case_scene import CaseScene
from workbench.scenes.memory import Memory
from workbench.scenes.posing import Poser
from workbench.scenes.scene import Scene
from workbench.scenes.stepper import SceneStepper
from workbench.step.simulation import simulate

NAMED = {f.name: f for f in FORMULATIONS}
STEPS = [f for f in FORMULATIONS if f.symbols is ContactSymbols]
SOLVER = default_solver(ContactBlocks.kind)


def interleaved(normal, tangent):
    """Rows contact by contact, the normal first."""
    r, row = normal.shape[0], normal.shape[1:]
    return np.concatenate([normal[:, None], tangent.reshape(r, -1, *row)], axis=1).reshape(-1, *row)


def instant_of(s):
    """A `ContactSystem` as an instant."""
    _, _, r, d = s.size
    rate, eps = interleaved(s.r_n, s.r_t), interleaved(s.eps_n, s.eps_t)
    return instant(
        s.h, s.M, s.v, s.f, first=np.arange(r + 1) * (1 + d), J=interleaved(s.J_n, s.J_t), mu=np.repeat(s.mu, 1 + d),
        phi=s.phi, rate=rate, e=s.e, eps=eps, heading=s.heading, J_b=s.J_b, g=s.g, r_b=s.r_b, eps_b=s.eps_b,
    )  # fmt: skip


def answer_of(formulation, s, last=None):
    """One step of a `ContactSystem`, contact by contact; `last` are the impulses of the one before."""
    at, memory, (_, _, r, d) = instant_of(s), Memory(), s.size
    poser = Poser(formulation, s.law, s.v_th)
    if last is not None:
        rows = np.full((r, poser.kind(d).memory), np.nan)
        rows[:, : 1 + d] = np.hstack([last[0][:, None], last[1]])
        memory.keep(d, at.key, rows)
    posed = poser.pose(at, memory)
    for _ in range(50):
        solution = SOLVER.solve(posed.problem())
        assert solution.claimed is Status.SOLVED
        if not posed.again(solution.z):
            P, p_b, _ = posed.impulses(solution.z)
            P = P.reshape(r, 1 + d)
            return ContactSolution(posed.velocity(solution.z), P[:, 0], P[:, 1:].ravel(), p_b)
    return None


LOCAL = [f for f in VARIANTS if f.symbols is ContactSymbols and f.options.get("restitution") != "poisson"]


@pytest.mark.parametrize("f", LOCAL, ids=lambda f: f.label)
def test_a_step_obeys_the_dynamics_and_its_own_contact_laws(systems, f):
    for seed, (shape, past) in enumerate([("two contacts, one constraint", False), ("three contacts", True)]):
        system = systems.random_system(seed, normal=LAWS[seed], mu=(0.05, 0.5), **systems.SHAPES[shape], **rebound(f))
        *_, r, d = system.size
        estimate, last = solve(NAMED["frictionless"], system).p_n, None
        if past:
            rng = np.random.default_rng(seed)
            p_n = rng.uniform(0.1, 2.0, r) * np.where(np.arange(r) == 1, 0.0, 1.0)
            last = p_n, 0.5 * (system.mu * p_n)[:, None] * rng.uniform(-1, 1, (r, d))
            closes = system.J_n @ system.v + system.r_n < -system.v_th
            estimate = np.where(p_n > 0, p_n, np.where(closes, estimate, 0.0))
        answer = answer_of(f, system, last)
        if answer is None:
            assert f.options.get("bounds") == "iterated" or f.name == "staggered"
            continue
        obeys_the_laws(systems, f, system, answer, estimate, last)
