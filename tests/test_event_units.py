"""The same case in other units has the same events."""

import numpy as np
import pytest

from workbench.events.simulation import simulate_events
from workbench.mechanics.case import Case
from workbench.verbs.find import find_case

POWERS = {"m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "s2": (0, 0, 2), "m2": (2, 0, 0), "N": (1, 1, -2)}
"""Powers of length, mass and time in units; what is not here has none."""
UNITS = {"mm": (1e3, 1, 1), "um": (1e6, 1, 1), "km": (1e-3, 1, 1), "t": (1, 1e-3, 1), "g, ms": (1, 1e3, 1e3)}
"""How many of the units a metre, a kilogram and a second are."""


def in_units(case: Case, sizes: tuple[float, float, float]) -> Case:
    values = {}
    for name, _, unit, _ in case.parameter_table():
        over, _, below = unit.partition("/")
        factor = 1.0
        for part, sign in ((over, 1), (below, -1)):
            for word in part.split():
                factor *= float(np.prod(np.power(sizes, sign * np.array(POWERS.get(word, (0, 0, 0)), dtype=float))))
        values[name] = factor * getattr(case, name)
    case, kind = case.with_parameters(**values), type(case)
    other = type(kind.__name__, (kind,), {"duration": kind.duration * sizes[2], "__module__": kind.__module__})
    return other(**vars(case))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "parameters", "duration"),
    [
        ("block", {}, 0.8), ("particle", {}, 1.3), ("bouncing-ball", {}, 1.5), ("v-groove", {}, 0.5),
        ("rod", {"speed": 0.5}, 0.5), ("rod", {"angle": 40, "spin": 3.8}, 0.1), ("woodpecker", {}, 0.15),
        ("table", {}, 1.2),
    ],
)  # fmt: skip
def test_events_do_not_depend_on_the_units(name, parameters, duration):
    case = find_case(name, **parameters)
    found = simulate_events(case, duration)
    assert found.events
    for unit, sizes in UNITS.items():
        if unit == "um" and case.start()[0].size != case.start()[1].size:
            # Bodies with quaternions are not followed in micrometres.
            continue
        other = simulate_events(in_units(case, sizes), duration * sizes[2])
        assert other.reason == "", unit
        assert [(e.contact, e.what) for e in other.events] == [(e.contact, e.what) for e in found.events], unit
        assert [e.t / sizes[2] for e in other.events] == pytest.approx([e.t for e in found.events], abs=5e-12), unit
