"""Derivatives of steps that make passes: by tapes, all parameters at once, and by differences of pass after pass."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.builtin.formulations.box import SETTLED
from workbench.builtin.formulations.staggered import staggered
from workbench.derivatives.motion import Motion, tangents_of
from workbench.derivatives.parameters import CaseParameter
from workbench.engine.compiling import kernel
from workbench.language.estimate import has_settled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN
from workbench.verbs.find import find_case, find_formulation

STEPS = 8


@kernel(AGAIN)
def halfway(core, memory, own, numbers, v, p_n, p_t):
    """Go halfway from the friction of this pass's data to its solution."""
    change, size = 0.0, 0.0
    for i in range(own.shape[0]):
        change, size = max(change, abs(p_t[i] - own[i])), max(size, abs(p_t[i]))
        own[i] += 0.5 * (p_t[i] - own[i])
    return not has_settled(core, change, size, SETTLED)


@formulation("damped", friction="staggered projections, each pass halfway", source="this test")
def damped(s: ContactSymbols):
    """Its data after a pass depend on those before it."""
    found = staggered.build(s, 4, "fixed")
    return replace(found, hooks=replace(found.hooks, again=halfway))


@pytest.mark.parametrize(
    ("case", "label"),
    [
        ("wheel", "staggered"),
        ("tripod", damped),
        ("wheel", "hybrid:bounds=iterated,axes=sliding"),
        ("table", "gauss-seidel"),
        ("cube", "ipc"),
        ("rod", "ipc"),
        ("block", "hunt-crossley"),
        # Contacts that are open.
        ("wedged-box", "mujoco-noslip"),
        # Passes of compression and of restitution.
        ("bouncing-ball", "anitescu-potra:restitution=poisson"),
    ],
)
def test_passes_by_tapes_are_those_by_differences(case, label, monkeypatch):
    """Fixed points and given numbers of passes, redundant contacts, turning axes, memory, bilateral constraints."""
    case = find_case(case)
    motion = Motion(case, find_formulation(label) if isinstance(label, str) else label, 1e-3, STEPS * 1e-3)
    parameters = [CaseParameter(case, name) for name in ("mu", "gravity", "m", "e", "speed") if hasattr(case, name)]
    given, taken = motion.passes, []

    def one_by_one(count):
        passes = given(count)
        along = passes.along

        def counted(x, directions):
            found = along(x, directions)
            taken.append(found is not None)
            return found

        passes.along, passes.ahead = counted, lambda start, steps, state, *others: (start, state)
        return passes

    compiled = tangents_of(motion, parameters)
    monkeypatch.setattr(motion, "passes", one_by_one)
    by_tapes = tangents_of(motion, parameters)
    # Contacts that just begin to bear or to slide may be between two ways.
    assert sum(taken) >= STEPS - 2
    monkeypatch.setattr(motion, "passes", lambda count: None)
    by_differences = tangents_of(motion, parameters)
    assert compiled.reasons == by_tapes.reasons == by_differences.reasons == ("",) * len(parameters)
    assert compiled.alone < by_tapes.alone == STEPS
    for name in ("kinks", "jumps", "switches"):
        assert getattr(compiled, name) == getattr(by_tapes, name)
    size = np.abs(by_differences.inputs).max(axis=(0, 1), initial=1e-2)
    np.testing.assert_allclose(compiled.inputs / size, by_tapes.inputs / size, rtol=0, atol=1e-8)
    np.testing.assert_allclose(by_tapes.inputs / size, by_differences.inputs / size, rtol=0, atol=1e-6)
