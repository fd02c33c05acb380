"""What the commands share in reading their words: numbers, cases, formulations, relaxations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import UnknownNameError, WorkbenchError

if TYPE_CHECKING:
    from workbench.language.formulation import Formulation
    from workbench.mechanics.case import Case
    from workbench.mechanics.relaxation import Relaxation


def number_option(text: str, what: str, unit: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise WorkbenchError(f"{what} '{text}' is not a number; give a positive number of {unit}") from None
    if not 0 < value < float("inf"):
        raise WorkbenchError(f"{what} {text} is out of range; give a positive number of {unit}")
    return value


def find_case(name: str, settings: Sequence[str] = ()) -> "Case":
    """The case of this name with NAME=VALUE parameters set."""
    from workbench.builtin.cases import CASES

    kind = CASES.find(name)
    values = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        try:
            values[key] = float(text)
        except ValueError:
            raise WorkbenchError(f"--set {setting}: give NAME=NUMBER") from None
    return kind().with_parameters(**values)


def find_formulation(text: str) -> "Formulation":
    """The formulation NAME or NAME:OPTION=VALUE,OPTION=VALUE."""
    from workbench.builtin.formulations import FORMULATIONS, SLIDING

    name, _, rest = text.partition(":")
    if name not in (*FORMULATIONS.names, *SLIDING.names):
        raise UnknownNameError("formulation", name, [*FORMULATIONS.names, *SLIDING.names])
    found = (FORMULATIONS if name in FORMULATIONS.names else SLIDING).find(name)
    options = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise WorkbenchError(f"formulation '{text}': '{part}' is no OPTION=VALUE")
        options[key] = value
    return found.with_options(**options)


def find_relaxation(text: str) -> "Relaxation":
    """The relaxation NAME=VALUE,NAME=VALUE, or rigid."""
    from workbench.mechanics.relaxation import RIGID

    values = {}
    for part in text.split(",") if text != "rigid" else []:
        key, _, value = part.partition("=")
        try:
            values[key] = float(value)
        except ValueError:
            raise WorkbenchError(f"--relax {part}: give NAME=NUMBER, or rigid") from None
    return RIGID.with_values(**values)
