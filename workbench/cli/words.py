"""What the commands share in reading their words: numbers, cases, formulations, relaxations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.language.formulation import Formulation
    from workbench.mechanics.case import Case


def number_option(text: str, what: str, unit: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise WorkbenchError(f"{what} '{text}' is not a number; give a positive number of {unit}") from None
    if not 0 < value < float("inf"):
        raise WorkbenchError(f"{what} {text} is out of range; give a positive number of {unit}")
    return value


def find_case(name: str, settings: Sequence[str] = ()) -> "Case":
    """The case of this name, or at this place in somebody's own code, with NAME=VALUE parameters set."""
    from workbench.verbs.find import find_case as find

    values = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        try:
            values[key] = float(text)
        except ValueError:
            raise WorkbenchError(f"--set {setting}: give NAME=NUMBER") from None
    return find(name, **values)


def find_formulation(text: str) -> "Formulation":
    """The formulation of this name or place, with its options."""
    from workbench.verbs.find import find_formulation as find

    return find(text)
