"""A formulation and a case of somebody's own, and what becomes of them in other processes.

Run as a script it steps them here and in a fresh process, and writes `things.pickle`, by
cloudpickle, and `run.pickle`, by pickle, into the folder where it runs.
"""

import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, ClassVar, Literal

import numpy as np
from numba import types

from workbench.algorithms import find_solver
from workbench.engine.compiling import PLACES, kernel
from workbench.engine.lazy import cvxpy as cp
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.mechanics.case import Case, quantity
from workbench.mechanics.core import ADVANCE, CORE, FILL
from workbench.step.simulation import simulate

STIFFENING = 0.5


@kernel(types.float64(CORE), linked=True)
def stiffening(core):
    return STIFFENING * core.h


@kernel(GIVEN)
def given(core, memory, own, numbers):
    own[0] = numbers[0] * stiffening(core)


def softened(s: ContactSymbols, v, p_n, k):
    return s.un(v, p_n) + cp.multiply(k, p_n)


@formulation("soft", friction="none", source="a test")
def soft(s: ContactSymbols, rate: float = 2.0, friction: Literal["none"] = "none") -> Declaration:
    k, v, p_n = cp.Parameter(1, name="k"), free("v", s.n), nonneg("p_n", s.r)
    return declare(
        equals(s.balance(v, p_n)),
        complements(softened(s, v, p_n, k), p_n),
        recover=dict(v=v, p_n=p_n),
        hooks=Hooks(given, own=(k,), numbers=(rate,)),
    )


@kernel(FILL)
def fill(q, v, data, core):
    core.M[0, 0] = core.M[1, 1] = data[1]
    core.f[1] = -9.81 * data[1]
    core.J_n[0, 1] = core.J_t[0, 0] = 1.0
    core.phi[0] = q[1]
    core.mu[0] = 0.3


@kernel(ADVANCE)
def advance(q, v, h, data, q_next):
    for i in range(2):
        q_next[i] = q[i] + h * v[i]


@dataclass(frozen=True)
class Drop(Case):
    """A particle that falls 15 mm."""

    name: ClassVar[str] = "drop"
    description: ClassVar[str] = "a falling particle"
    source: ClassVar[str] = "a test"
    size: ClassVar = (2, 0, 1, 1)
    duration: ClassVar[float] = 0.2
    windows: ClassVar = {}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance)
    mass: float = quantity(2.0, "kg", "mass", "positive")

    def start(self):
        return np.array([0.0, 0.015]), np.array([1.0, 0.0])

    def centre(self, q):
        return np.stack([q[..., 0], 0.0 * q[..., 0], q[..., 1]], axis=-1)

    def energy(self, q, v):
        return 0.5 * self.mass * (v**2).sum(axis=-1) + 9.81 * self.mass * q[..., 1]

    def sketch(self):
        return []

    def truths(self, reference):
        return []


def stepped(case, f):
    """A run, how many kernels of this file the process knows, and how many declarations it has compiled."""
    run = simulate(case, f, find_solver("lemke"), 1e-2)
    return run, sum(k.py_func.__name__ in ("fill", "given") for k in PLACES.values()), compiled.cache_info().misses


def digest(run):
    return run.states_q.tobytes().hex()[-48:], run.status.name, run.steps, bool(run.residuals.max() < 1e-9)


def main() -> None:
    """See the module."""
    import cloudpickle

    case, f = Drop(mass=3.0), soft.with_options(rate=5.0)
    here, kernels, _ = stepped(case, f)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        runs = [pool.submit(simulate, case, f, find_solver("lemke"), 1e-2).result() for _ in range(2)]
        counted = [pool.submit(len, [case, f, here]).result()]
    assert counted == [3]
    for run in runs:
        assert digest(run) == digest(here)
        # What comes back is what was sent.
        assert type(run.case) is Drop
        assert (run.case, run.formulation) == (case, f)
        assert run.formulation.build is f.build
    with open("things.pickle", "wb") as file:
        file.write(cloudpickle.dumps((case, f, stepped, digest)))
    with open("run.pickle", "wb") as file:
        file.write(pickle.dumps((case, f, here)))
    print(digest(here), kernels)


if __name__ == "__main__":
    main()
