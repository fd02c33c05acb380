"""Options of formulations: refusals list what is right, and text says the same as values."""

import pytest

from tests.refusals import assert_names, refusal
from workbench.builtin.formulations import FORMULATIONS
from workbench.support.errors import UnknownNameError

NAMED = {f.name: f for f in FORMULATIONS}


@pytest.mark.parametrize("value", [None, [4], float("inf"), "four"])
def test_an_option_of_the_wrong_type_is_refused(value):
    assert_names(refusal(NAMED["anitescu-potra"].with_options, directions=value), "directions", "a whole number")


def test_an_unknown_option_lists_the_known():
    for f in FORMULATIONS:
        message = refusal(f.with_options, error=UnknownNameError, gamma=1)
        assert_names(message, f.name, "'gamma'", *(f.options or ["none"]))


@pytest.mark.parametrize(
    ("name", "option", "value", "right"),
    [
        ("stewart-trinkle", "axes", "sideways", ["fixed", "body", "sliding"]),
        ("box", "bounds", "none", ["last", "iterated", "coupled"]),
        ("phantom-inertia", "lateral", 3, ["none", "regularised"]),
        ("stewart-trinkle", "directions", "many", ["whole number"]),
        ("stewart-trinkle", "directions", 4.5, ["whole number"]),
        ("hybrid", "k_t", "stiff", ["a number"]),
        ("hybrid", "k_t", float("nan"), ["a number"]),
        ("phantom-inertia", "rho", "heavy", ["a number", "auto"]),
    ],
)
def test_a_wrong_option_value_lists_what_is_right(name, option, value, right):
    message = refusal(NAMED[name].with_options, **{option: value})
    assert_names(message, name, option, str(value), *right)


@pytest.mark.parametrize(
    ("name", "option", "value", "right"),
    [
        ("stewart-trinkle", "directions", 3, "even"),
        ("stewart-trinkle", "directions", -4, "even"),
        ("discrete-velocity", "directions", 2, "even"),
        ("phantom-inertia", "directions", 6, "multiple of 4"),
        ("phantom-inertia", "rho", 0.0, "positive"),
        ("phantom-inertia", "rho", float("inf"), "positive"),
        ("hybrid", "k_t", -1.0, "positive"),
    ],
)
def test_a_value_of_the_right_type_that_makes_no_model(name, option, value, right):
    f = NAMED[name].with_options(**{option: value})
    assert_names(refusal(f.declaration, 6, 0, 1, 2), option, str(value), right)


def test_options_as_text_are_the_options_as_values():
    text, value = ({"directions": kind("8"), "rho": kind("0.5")} for kind in (str, float))
    one, other = (NAMED["phantom-inertia"].with_options(**chosen) for chosen in (text, value))
    assert one.options == other.options
    assert one.label == other.label
    assert isinstance(one.options["directions"], int)
    assert NAMED["phantom-inertia"].with_options(rho="auto").label == "phantom-inertia"


def test_a_formulation_needs_contacts():
    assert_names(refusal(NAMED["frictionless"].declaration, 4, 0, 0, 2), "0 contacts")


def test_a_group_of_options_is_its_fields():
    """The softness of MuJoCo's contacts in four formulations, each with defaults of its own; a group itself is none."""
    for name, numbers in {
        "mujoco": (0.02, 1.0, 0.9, 0.95, 0.001, 1.0, 0.5, 3.0, 0.0),
        "mujoco-pyramid": (0.02, 1.0, 0.9, 0.95, 0.001, 1.0, 0.5, 3.0, 0.0, 0.0),
        "mujoco-noslip": (10.0, 0.02, 1.0, 0.9, 0.95, 0.001, 1.0, 0.5, 3.0, 0.0),
        "genesis": (0.01, 1.0, 0.9, 0.95, 0.001, 1.0, 0.5, 3.0, 0.0),
    }.items():
        f = NAMED[name].with_options(power="3")
        assert f.label == f"{name}:power=3"
        assert f.declaration(3, 0, 1, 2).hooks.numbers == numbers
        assert f.meanings["width"] == "penetration over which the impedance rises [m]"
        assert_names(refusal(f.with_options, error=UnknownNameError, soft=1), "'soft'", "timeconst")
        assert_names(refusal(f.with_options(dmin=2.0).declaration, 3, 0, 1, 2), "dmin=2", "0.9999")
