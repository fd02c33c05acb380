"""The command `workbench painleve CASE`."""

import argparse
import shlex
from contextlib import nullcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from workbench.cli.parsing import command
from workbench.cli.words import find_case
from workbench.errors import UnknownNameError, WorkbenchError
from workbench.output import json_text

if TYPE_CHECKING:
    from workbench.diagnostics.painleve_map import Axis
    from workbench.mechanics.case import Case

MOST_POINTS = 1000


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "painleve", "is the sliding friction of a case well posed, and up to which friction?",
        "painleve rod --set tan_theta=2 --set mu=4/3", "painleve rod --x theta=10:85:200 --y mu=0:3:200 --out rod.html",
    )  # fmt: skip
    p.add_argument("case", help="name of a case (see: workbench list cases)")
    p.add_argument(
        "--set", action="append", metavar="NAME=VALUE", default=[],
        help="a parameter of the case, repeatable; decimals and fractions such as 4/3 are taken exactly; the rod also "
        "takes tan_theta, xi and b",
    )  # fmt: skip
    p.add_argument("--x", metavar="NAME=FROM:TO:COUNT", help="map: the parameter along the abscissa")
    p.add_argument("--y", metavar="NAME=FROM:TO:COUNT", help="map: the parameter along the ordinate")
    p.add_argument("--json", action="store_true", help="for programs")
    p.add_argument("--out", metavar="FILE.html", help="also write the result as a page")
    p.set_defaults(run=run_painleve)


def run_painleve(o: argparse.Namespace) -> None:
    """Regime, P verdict, critical friction, Proposition 1; a map where two axes are given."""
    if (o.x is None) != (o.y is None):
        raise WorkbenchError("a map needs both --x and --y NAME=FROM:TO:COUNT")
    given = dict(map(exact_setting, o.set))
    case = case_with(o.case, given)
    axes = None if o.x is None else (parse_axis(case, o.x, "--x"), parse_axis(case, o.y, "--y"))
    if axes and axes[0].name == axes[1].name:
        raise WorkbenchError(f"--x and --y are both {axes[0].name}; a map needs two parameters")
    from workbench.output import provenance, replaced
    from workbench.verbs.painleve import painleve

    x, y = (None, None) if axes is None else axes
    with replaced(o.out) if o.out else nullcontext() as page:
        found = painleve(case, given, x=x, y=y)
        if page:
            facts = provenance(case=case.name, parameters=vars(case), command=f"workbench {shlex.join(o.words)}")
            page.write_text(found.html(facts), "utf-8")
    print(json_text(found.data) if o.json else found.text)
    if o.out and not o.json:
        print(f"report: {o.out}")


def case_with(name: str, given: dict[str, Fraction]) -> "Case":
    """The case of this name with parameters set."""
    return find_case(name).with_parameters(**{key: _double(value, key) for key, value in given.items()})


def _double(value: Fraction, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise WorkbenchError(f"--set {name}: the value is beyond the range of doubles") from None


def exact_setting(text: str) -> tuple[str, Fraction]:
    """NAME=VALUE with the value as it is written."""
    name, _, value = text.partition("=")
    try:
        return name, Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise WorkbenchError(f"--set {text}: give NAME=NUMBER, a decimal or a fraction such as 4/3") from None


def parse_axis(case: "Case", text: str, option: str) -> "Axis":
    """NAME=FROM:TO:COUNT as an axis, by the case's own name of the parameter."""
    import numpy as np

    from workbench.diagnostics.painleve_map import Axis

    name, _, rest = text.partition("=")
    try:
        low, high, count = rest.split(":")
        start, end, points = float(Fraction(low)), float(Fraction(high)), int(count)
    except (ValueError, ZeroDivisionError):
        raise WorkbenchError(f"{option} {text}: give NAME=FROM:TO:COUNT, such as mu=0:3:200") from None
    if not start < end or not 2 <= points <= MOST_POINTS:
        raise WorkbenchError(f"{option} {text}: FROM < TO and COUNT from 2 to {MOST_POINTS} are needed")
    name = case.aliases.get(name, name)
    # A name that the case does not know is told now, and what it knows; a value it refuses is a hole in the map.
    try:
        case.with_parameters(**{name: start})
    except UnknownNameError:
        raise
    except WorkbenchError:
        pass
    return Axis(name, np.linspace(start, end, points))
