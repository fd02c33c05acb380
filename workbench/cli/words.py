"""Shared parsing of command-line words: numbers, cases, settings."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.support.errors import WorkbenchError
from workbench.support.numbers import exact_number, parse_entry

if TYPE_CHECKING:
    from workbench.mechanics.case import Case

PROOFS = 0.4
"""Fraction of the time reserved for writing proofs, if a certificate or a page is requested."""
OF_MODEL = "NAME=VALUE, such as geom/foot.friction=0.4"
"""The expected form of --set for a MuJoCo model."""


def number_option(text: str, what: str, unit: str) -> float:
    value = parse_entry(text.strip(), f"{what} in {unit}")
    if value <= 0:
        raise WorkbenchError(f"{what} {text[:40]} is out of range; a positive number of {unit} is needed")
    return value


def number_if_given(text: str | None, what: str, unit: str) -> float | None:
    return None if text is None else number_option(text, what, unit)


def whole_if_given(text: str | None, what: str) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 0 < len(text.lstrip("0")) < 10):
        raise WorkbenchError(f"{what} {text[:40]} is not a positive whole number; give one such as 50")
    return int(text)


def workers_of(wanted: int | None) -> int:
    """Number of processes: by default the number of processors."""
    if wanted is not None and wanted < 1:
        raise WorkbenchError(f"--workers {wanted}; a whole number >= 1 is needed")
    return wanted or os.cpu_count() or 1


def case_with_settings(name: str, settings: Sequence[str] = ()) -> "Case":
    """The case of this name, or at this place in user-defined code, with NAME=VALUE parameters set."""
    from workbench.verbs.find import find_case

    return find_case(name, **number_settings(settings))


def named_settings(settings: Sequence[str], wanted: str = "NAME=NUMBER") -> dict[str, str]:
    """The values of each NAME= of --set; raises WorkbenchError with the expected form."""
    values = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name and equals):
            raise WorkbenchError(f"--set {setting[:60]}: give {wanted}")
        values[name] = text
    return values


def number_settings(settings: Sequence[str]) -> dict[str, float]:
    """The numbers of each NAME= of --set."""
    texts = named_settings(settings)
    return {name: parse_entry(text.strip(), f"--set {name}={text}"[:66]) for name, text in texts.items()}


def state_settings(settings: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Separate settings of parameters from the state, q=... and v=..., as lists of numbers."""
    others, state = [], dict[str, Any]()
    for setting in settings:
        name, _, value = setting.partition("=")
        if name in ("q", "v"):
            state[name] = numbers(value, f"--set {name}")
        else:
            others.append(setting)
    return others, state


def numbers(text: str, what: str) -> list[float]:
    """Parse numbers separated by commas."""
    return [float(exact_number(part, what)) for part in text.split(",")]
