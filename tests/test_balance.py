"""Errors of balances: the reported number is that of the worst step."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.comparison.metrics import METRICS


def test_one_step_that_invents_momentum_is_not_lost_among_others():
    """A mass of 2 kg on the ground, 50 steps, in one of them the ground gives 1 % more than is taken."""
    steps, mass, weight = 50, 2.0, 0.02
    p = np.full((steps, 1), weight)
    p[20] *= 1.01
    shape = (steps, 1, 1)
    record = SimpleNamespace(
        mass=np.full(shape, mass), J=np.ones(shape), J_b=np.zeros((steps, 0, 1)), b=np.full((steps, 1), -weight), p=p,
        after=np.zeros((steps, 1)),
    )  # fmt: skip
    run = SimpleNamespace(record=record)
    error = METRICS.find("momentum-error").function
    assert error(SimpleNamespace(run=run, steps=np.arange(20))) == 0.0
    assert error(SimpleNamespace(run=run, steps=np.arange(steps))) == pytest.approx(0.01 / 2.01, rel=1e-12)
