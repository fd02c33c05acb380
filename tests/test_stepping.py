"""The compiled loop and the interpreted one: the same steps to the last bit."""

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.algorithms.base import KernelSolver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.bouncing_ball import BouncingBall
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.engine.compiling import kernel
from workbench.engine.kernels import SOLVE
from workbench.language.assemble.find import compiled
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.problems.solution import Status
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation

coulomb_kernel = find_solver("coulomb-exact").kernel

LABELS = [
    "frictionless", "stewart-trinkle:axes=sliding", "anitescu-potra:restitution=poisson,axes=body", "box",
    "box:bounds=iterated", "hybrid:bounds=iterated", "phantom-inertia", "mujoco", "staggered", "ccp", "coulomb",
]  # fmt: skip


def interpreted(kind):
    """The case with mechanics that are plain Python functions."""
    functions = {name: staticmethod(getattr(kind, name).py_func) for name in ("fill", "advance")}
    return type("Interpreted", (kind,), functions)


@pytest.mark.share(3)
@pytest.mark.parametrize("scheme", ["symplectic", "explicit"])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("kind", [Wheel, Cube], ids=lambda kind: kind.name)
def test_a_case_in_plain_python_takes_the_same_steps(kind, label, scheme):
    f = find_formulation(label)
    solver = default_solver(compiled(f, *kind.size).kind)
    relaxation = Relaxation(k_n=1e6, b_n=1e3, k_t=1e5, b_t=1e2, lateral=1.0)
    runs = [
        simulate(case, f, solver, 5e-3, 0.15, scheme=scheme, relaxation=relaxation)
        for case in (kind(), interpreted(kind)())
    ]
    assert [r.status for r in runs] == [Status.SOLVED] * 2
    for name, one, other in zip(runs[0].record._fields, *(r.record for r in runs), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


INACCURATE = int(Status.INACCURATE)


@kernel(SOLVE)
def unsure(M, q, lower, upper, mu, d, z, info):
    """Exact Coulomb friction, of impacts to seven digits."""
    status = coulomb_kernel(M, q, lower, upper, mu, d, z, info)
    if q[0] >= -1.0:
        return status
    for i in range(z.shape[0]):
        z[i] *= 1.0 + 1e-7
    return INACCURATE


UNSURE = KernelSolver("unsure", unsure, frozenset({"Coulomb NCP"}), "nothing", "a test")


@pytest.mark.parametrize("progress", [None, lambda done: None], ids=["at once", "in chunks"])
@pytest.mark.parametrize("kind", [BouncingBall, interpreted(BouncingBall)], ids=["compiled", "interpreted"])
def test_one_inaccurate_step_makes_the_run_inaccurate(kind, progress):
    case = kind()
    run = simulate(case, find_formulation("coulomb"), UNSURE, 1e-3, case.duration, progress=progress)
    assert (run.status, run.steps) == (Status.INACCURATE, run.steps_wanted)
    sure = run.record.q_[:, 0] >= -1.0
    assert 0 < (~sure).sum() < 0.1 * run.steps
    assert sure[0]
    assert sure[-1]


@pytest.mark.parametrize("label", LABELS)
def test_compliance_that_a_formulation_adds_lasts_for_its_step(label):
    f = find_formulation(label)
    run = simulate(Wheel(), f, default_solver(compiled(f, *Wheel.size).kind), 1e-3, 0.01, relaxation=RIGID)
    assert run.steps == 10
    assert not run.record.eps.any()
