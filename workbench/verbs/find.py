"""Find formulations, cases and solvers by name, by place in user-defined code, or as objects, one or several."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.algorithms import find_solver as find_solver
from workbench.builtin.cases import CASES, SCENES
from workbench.builtin.formulations import FORMULATIONS, REGISTRIES
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.support.errors import DataError, ModellingError, UnknownNameError, WorkbenchError
from workbench.support.numbers import must_be_seconds, parse_entry


def find_formulation(wanted: str | Formulation) -> Formulation:
    """Find the formulation NAME, FILE.py:NAME or package.module:NAME, each followed by :OPTION=VALUE,..., or an object.

    Raises UnknownNameError, which lists the known names, or WorkbenchError.

    >>> find_formulation("stewart-trinkle:directions=8").label
    'stewart-trinkle:directions=8'
    """
    if isinstance(wanted, Formulation):
        return wanted
    if not isinstance(wanted, str):
        raise WorkbenchError(f"a formulation or its name is needed; {type(wanted).__name__} was given")
    names = [name for registry in REGISTRIES for name in registry.names]
    known = wanted.partition(":")[0] in names
    # A built-in name, or FILE.py:NAME and module:NAME; the rest are options.
    words = wanted.split(":", 1 if known else 2)
    place, rest = (words[0], words[1:]) if known else (":".join(words[:2]), words[2:])
    options = {}
    for part in rest[0].split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise WorkbenchError(f"formulation '{wanted}': '{part}' is not OPTION=VALUE")
        options[key] = value
    if ":" not in place and not place.endswith(".py") and place not in names:
        if place in CASES:
            raise WorkbenchError(f"{place} is a case, which workbench list {place} describes; name a formulation")
        raise UnknownNameError("formulation", place, [*names, "FILE.py:NAME"])
    return next((r for r in REGISTRIES if place in r), FORMULATIONS).find(place).with_options(**options)


def find_case(wanted: str | Case | type[Case], **parameters: float) -> Case:
    """Find the case NAME, FILE.py:NAME or package.module:NAME, or an object, with these parameters set.

    Raises UnknownNameError, which lists the known names or parameters, or WorkbenchError.

    >>> find_case("wheel", mu=0.3).mu
    0.3
    """
    found = CASES.find(wanted) if isinstance(wanted, str) else wanted
    if isinstance(found, type):
        found = found()
    if not isinstance(found, Case):
        raise WorkbenchError(f"a case or its name is needed; {type(found).__name__} was given")
    return found.with_parameters(**parameters)


def must_be_known(what: Any) -> None:
    """Raise UnknownNameError for a plain name that is neither a case nor a scene, DataError for an absent file."""
    if isinstance(what, str) and ":" not in what and Path(what).suffix not in ("", ".py") and not Path(what).exists():
        raise DataError(f"{what} does not exist; name a case, a scene, or a file with a problem or a model")
    if isinstance(what, str) and not {".", ":", "/"} & set(what) and what not in CASES and what not in SCENES:
        if what and Path(what).is_dir():
            raise DataError(f"{what} is a folder; name a case, a scene, or a file with a problem or a model")
        if what in FORMULATIONS:
            raise WorkbenchError(f"{what} is a formulation, which -f {what} chooses; name a case, such as wheel")
        raise UnknownNameError("case or scene", what, [*CASES.names, *SCENES.names, "FILE.py:CASE", "MODEL.xml"])


def find_formulations(wanted: Sequence[Any] | Any | None) -> tuple[Formulation, ...]:
    """Several formulations, or one; by default all bundled ones that make time steps under Coulomb's law."""
    if wanted is None:
        return tuple(FORMULATIONS.find(name) for name in FORMULATIONS.bundled)
    some = wanted if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]
    return tuple(map(find_formulation, some))


def local_formulations() -> tuple[Formulation, ...]:
    """All bundled formulations that are local to their contacts, as scenes need them, whose contacts come and go."""
    return tuple(filter(_is_local, find_formulations(None)))


def _is_local(f: Formulation) -> bool:
    from workbench.language.assemble.local import local_block

    try:
        local_block(f, 2)
    except ModellingError:
        return False
    return True


def along_both_axes(formulations: Sequence[Formulation] | None = None) -> tuple[Formulation, ...]:
    """Formulations, by default all bundled ones; each with tangent axes both with fixed axes and with axes along the
    sliding direction.

    >>> [f.label for f in along_both_axes() if f.name in ("box", "ccp", "hybrid")]
    ['box', 'box:axes=sliding', 'hybrid:axes=fixed', 'hybrid', 'ccp']
    """
    found: dict[str, Formulation] = {}
    for f in find_formulations(None) if formulations is None else formulations:
        for x in [f] if f.axes is None else [f.with_options(axes=axes) for axes in ("fixed", "sliding")]:
            found.setdefault(x.label, x)
    return tuple(found.values())


def several(given: Any) -> list[Any]:
    """A list from one object or several."""
    return list(given) if isinstance(given, list | tuple | set | np.ndarray) else [given]


def names_of(what: str, given: Any) -> list[str]:
    """A list of names; raises WorkbenchError for none, for one given twice, and for other things."""
    names = several(given)
    if not names:
        raise WorkbenchError(f"{what} is empty; name at least one")
    if wrong := [x for x in names if not isinstance(x, str)]:
        raise WorkbenchError(f"{what} holds {wrong[0]!r}; names are needed")
    if twice := [x for x in names if names.count(x) > 1]:
        raise WorkbenchError(f"{what} holds {twice[0]} twice; each is needed once")
    return names


def steps_of(given: Any) -> tuple[Any, ...]:
    """Steps, one or several [s]; raises as `must_be_seconds`, and WorkbenchError for none."""
    steps = tuple(several(given))
    if not steps:
        raise WorkbenchError("no step is given; name at least one, or leave the argument out")
    for h in steps:
        must_be_seconds(h)
    return steps


def must_differ(formulations: Sequence[Formulation]) -> None:
    """Raise WorkbenchError if two different formulations have the same label: their rows would be indistinguishable."""
    known: dict[str, Formulation] = {}
    for f in formulations:
        if known.setdefault(f.label, f).build is not f.build:
            raise WorkbenchError(f"two formulations are called '{f.label}'; rename one of them")


def find_relaxation(wanted: str | Relaxation | None) -> Relaxation | None:
    """Find the relaxation NAME=VALUE,NAME=VALUE, or rigid; a Relaxation or None, the case's own, is returned as it is.

    >>> find_relaxation("k_n=1e6").k_n
    1000000.0
    """
    if wanted is None or isinstance(wanted, Relaxation):
        return wanted
    if not isinstance(wanted, str):
        raise WorkbenchError(f"relaxation {wanted!r:.40}; give NAME=NUMBER, or rigid")
    values = {}
    for part in wanted.split(",") if wanted != "rigid" else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise WorkbenchError(f"relaxation {part[:60]}: give NAME=NUMBER, or rigid")
        place = f"relaxation {part[:60]}"
        values[key] = math.inf if value.strip() == "inf" else parse_entry(value.strip(), place)
    return RIGID.with_values(**values)
