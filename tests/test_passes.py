"""Derivatives of steps that make passes: by tapes, all parameters at once, and by differences of pass after pass."""

import numpy as np
import pytest

from workbench.derivatives.motion import Motion, tangents_of
from workbench.derivatives.parameters import CaseParameter
from workbench.verbs.find import find_case, find_formulation

STEPS = 8


@pytest.mark.parametrize(
    ("case", "label"),
    [
        ("wheel", "staggered"),
        ("wheel", "hybrid:bounds=iterated,axes=sliding"),
        ("table", "gauss-seidel"),
        ("cube", "ipc"),
        ("rod", "ipc"),
        ("block", "hunt-crossley"),
        # Passes of compression and of restitution.
        ("bouncing-ball", "anitescu-potra:restitution=poisson"),
    ],
)
def test_passes_by_tapes_are_those_by_differences(case, label, monkeypatch):
    """Fixed points and given numbers of passes, redundant contacts, turning axes, memory, bilateral constraints."""
    case = find_case(case)
    motion = Motion(case, find_formulation(label), 1e-3, STEPS * 1e-3)
    parameters = [CaseParameter(case, name) for name in ("mu", "gravity", "m", "e", "speed") if hasattr(case, name)]
    given, taken = motion.passes, []

    def watched(count):
        passes = given(count)
        along = passes.along

        def counted(x, directions):
            found = along(x, directions)
            taken.append(found is not None)
            return found

        passes.along = counted
        return passes

    monkeypatch.setattr(motion, "passes", watched)
    by_tapes = tangents_of(motion, parameters)
    # Contacts that just begin to bear or to slide may be between two ways.
    assert sum(taken) >= STEPS - 2
    monkeypatch.setattr(motion, "passes", lambda count: None)
    by_differences = tangents_of(motion, parameters)
    assert by_tapes.reasons == by_differences.reasons == ("",) * len(parameters)
    size = np.abs(by_differences.inputs).max(axis=(0, 1), initial=1e-2)
    np.testing.assert_allclose(by_tapes.inputs / size, by_differences.inputs / size, rtol=0, atol=1e-6)
