"""Options of a formulation that single contacts may have for themselves."""

from functools import lru_cache

from workbench.language.formulation import Formulation
from workbench.language.values import by_values
from workbench.support.errors import ModellingError, WorkbenchError

SHARE = 2.0**-10
"""Relative change of an option by which its number is found."""


@lru_cache(maxsize=256)
def places_of_options(formulation: Formulation, d: int) -> dict[str, int]:
    """Which of the hooks' numbers is which option: of those that stand there as they are given.

    An option is changed a little, both ways, and found by what changes with it. One that the formulation was given
    another value than its default is not a contact's own and is left out.
    """
    found = {}
    for name, value in formulation.options.items():
        if type(value) is not float or value != formulation.defaults[name]:
            continue
        others = [value * (1.0 + sign * SHARE) if value else sign * SHARE for sign in (1, -1)]
        seen = [(value, _numbers(formulation, d))]
        for other in others:
            try:
                seen.append((other, _numbers(formulation.with_options(**{name: other}), d)))
            except WorkbenchError:
                # The other way is beyond what the option may be.
                continue
        places = [j for j in range(len(seen[0][1])) if all(numbers[j] == x for x, numbers in seen)]
        if len(seen) > 1 and len(places) == 1:
            found[name] = places[0]
    return found


def _numbers(formulation: Formulation, d: int) -> tuple[float, ...]:
    size = (1 + d, 0, 1, d)
    try:
        with by_values():
            return formulation.declaration(*size).hooks.numbers
    except WorkbenchError:
        raise
    except Exception:
        # It uses more of CVXPY than plain numbers can do.
        return formulation.declaration(*size).hooks.numbers


def own_places(formulation: Formulation, d: int, names: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Which of these names are options that contacts have for themselves, and their places among the hooks' numbers.

    Names that are no options of the formulation belong to others. Raises ModellingError for an option that a contact
    cannot have for itself.
    """
    places = places_of_options(formulation, d)
    for name in names:
        if name not in places and name in formulation.options and name not in formulation.chosen:
            raise ModellingError(
                f"{formulation.name} cannot take {name} from single contacts: its hooks do not get it as it is given"
            )
    return tuple((name, places[name]) for name in names if name in places)
