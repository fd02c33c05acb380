"""Small declarations with random data, and a solver in two loops."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.algorithms.lemke.method import SOLVER as LEMKE
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import (
    Declaration,
    complements,
    declare,
    equals,
    free,
    nonneg,
)
from workbench.mechanics.contact import ContactSystem
from workbench.step.one_step import declared as declared


def frictionless(name, law=None, balance=None, hooks=None, more=None, adhesion=0.0):
    """A frictionless step to which law(s, p_n), balance(s, v), relations more(s, p_n) or an adhesion are added."""

    def build(s: ContactSymbols) -> Declaration:
        v, p = free("v", s.n), nonneg("p", s.r)
        p_n = p - adhesion if adhesion else p
        D, F = s.balance(v, p_n), s.un(v, p_n)
        rows = equals(D + balance(s, v) if balance else D), *s.bilateral(v), *(more(s, p) if more else ())
        return declare(*rows, complements(F + law(s, p) if law else F, p), recover=dict(v=v, p_n=p_n), hooks=hooks)

    return formulation(name, friction="none", source="this test")(build)


def spd(rng, n: int) -> np.ndarray:
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (Q * np.geomspace(0.3, 3.0, n)) @ Q.T


def system_of(rng, n, m, r, d, **given) -> ContactSystem:
    data = dict(
        M=spd(rng, n), v=rng.standard_normal(n), f=rng.standard_normal(n), h=0.01, J_b=rng.standard_normal((m, n)),
        g=0.01 * rng.standard_normal(m), J_n=rng.standard_normal((r, n)), J_t=rng.standard_normal((d * r, n)),
        mu=rng.uniform(0.1, 1.0, r), phi=0.01 * rng.standard_normal(r), r_n=rng.standard_normal(r),
        r_t=rng.standard_normal(d * r), e=rng.uniform(0, 1, r),
    )  # fmt: skip
    return ContactSystem(**(data | given))


# The same solver, hidden from the compiled loop.
IN_PYTHON = SimpleNamespace(
    name=LEMKE.name, solves=LEMKE.solves, tolerance=LEMKE.tolerance, why_not=LEMKE.why_not, solve=LEMKE.solve
)
each_loop = pytest.mark.parametrize("solver", [LEMKE, IN_PYTHON], ids=["compiled", "python"])
