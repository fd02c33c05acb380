"""The command `workbench painleve CASE`."""

import argparse
import json
import shlex
from contextlib import nullcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import PROOFS, number_option, numbers, state_settings
from workbench.support.errors import WorkbenchError
from workbench.support.numbers import exact_number
from workbench.support.output import json_text, page_path

if TYPE_CHECKING:
    from workbench.mechanics.case import Case

MOST_POINTS = 1000
LONGEST_AXIS = 1e300
"""Distance of its ends above which doubles do not represent the steps of an axis."""


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    p = command(
        commands, "painleve", "decide whether sliding in a case is well posed, and up to which friction coefficient",
        "painleve rod --set tan_theta=2 --set mu=4/3", "painleve rod --x theta=10:85:200 --y mu=0:3:200 --out rod.html",
        "painleve wheel --x slip=0:360:73 --y mu=0:3:100 --out wheel.html", "painleve bouncing-ball --at 0.7",
        "painleve block --set v=0,2,0", "painleve rod --x theta=10:85 --y mu=0:3 --prove --certificate proof.json",
    )  # fmt: skip
    p.add_argument("case", help="name of a case (see: workbench list cases)")
    p.add_argument(
        "--set", action="append", metavar="NAME=VALUE", default=[],
        help="parameter of the case, a decimal or a fraction such as 4/3, both exact (the rod also takes tan_theta, xi "
        "and b), or its state as q=0,0.1,... and v=...; repeatable",
    )  # fmt: skip
    p.add_argument("--at", metavar="T", help="use the state after T seconds under exact Coulomb friction")
    p.add_argument(
        "--slip", metavar="ANGLE[,ANGLE...]",
        help="sliding direction of the closed contacts [degrees from the first tangent axis], one for all or one for "
        "each; in the plane 0 or 180; default: that of the state",
    )  # fmt: skip
    p.add_argument("--x", metavar="NAME=FROM:TO:COUNT", help="map: parameter, or slip, along the horizontal axis")
    p.add_argument("--y", metavar="NAME=FROM:TO:COUNT", help="map: parameter, or slip, along the vertical axis")
    p.add_argument(
        "--prove", action="store_true",
        help="prove the map box by box, with --x and --y NAME=FROM:TO, until less than 1 %% is undecided",
    )  # fmt: skip
    p.add_argument(
        "--certificate", metavar="FILE.json", help="with --prove: also write the proofs (see: workbench verify)"
    )
    p.add_argument("--time-limit", metavar="S", default="60", help="time limit [s]; default: 60")
    p.add_argument("--json", action="store_true", help="print the result as JSON")
    p.add_argument("--out", type=page_path, metavar="FILE.html", help="also write the result as a page")
    p.add_argument("--quiet", action="store_true", help="print no progress")
    p.set_defaults(run=run_painleve)


def run_painleve(o: argparse.Namespace) -> None:
    """Print regime, P verdict, critical friction and Proposition 1; draw a map if two axes are given."""
    if (o.x is None) != (o.y is None):
        raise WorkbenchError("a map needs both --x and --y NAME=FROM:TO:COUNT")
    seconds = number_option(o.time_limit, "--time-limit", "seconds")
    state: dict[str, Any] = {} if o.at is None else {"at": float(exact_number(o.at, "--at"))}
    if o.slip is not None:
        state["slip"] = numbers(o.slip, "--slip")
    parameters, own = state_settings(o.set)
    state |= own
    given = dict(map(exact_setting, parameters))
    case = case_with(o.case, given)
    if o.prove and o.x is None:
        raise WorkbenchError("--prove needs --x and --y NAME=FROM:TO, the parameters over which to prove")
    if o.certificate and not o.prove:
        raise WorkbenchError("--certificate needs --prove: only a proved map has a certificate")
    axes: Any = None
    if o.x is not None:
        read = parse_range if o.prove else parse_axis
        axes = read(case, o.x, "--x"), read(case, o.y, "--y")
    if axes and axes[0][0] == axes[1][0]:
        raise WorkbenchError(f"--x and --y are both {axes[0][0]}; a map needs two parameters")
    from workbench.support.output import provenance, replaced
    from workbench.verbs.painleve import painleve

    x, y = (None, None) if axes is None else axes
    with (
        replaced(o.out) if o.out else nullcontext() as page,
        replaced(o.certificate) if o.certificate else nullcontext() as proofs,
    ):
        with CommandProgress(o.quiet) as progress:
            search = seconds * (1.0 - (PROOFS if proofs else 0.0))
            found = painleve(case, given, **state, x=x, y=y, prove=o.prove, seconds=search, progress=progress)
        if proofs:
            proofs.write_text(json.dumps(found.certificate(PROOFS * seconds), indent=1), "utf-8")
        if page:
            facts = provenance(case=case.name, parameters=vars(case), command=f"workbench {shlex.join(o.words)}")
            page.write_bytes(found.html(facts).encode())
    print(json_text(found.data) if o.json else found.text)
    for what, path in (("report", o.out), ("certificate", o.certificate)):
        if path and not o.json:
            print(f"{what}: {path}")


def case_with(name: str, given: dict[str, Fraction]) -> "Case":
    """The case of this name with parameters set."""
    from workbench.verbs.find import find_case

    return find_case(name, **{key: float(value) for key, value in given.items()})


def exact_setting(text: str) -> tuple[str, Fraction]:
    """NAME=VALUE with the value as typed."""
    name, equals, value = text.partition("=")
    if not equals:
        raise WorkbenchError(f"--set {text[:60]}: give NAME=NUMBER, a decimal or a fraction such as 4/3")
    return name, exact_number(value, f"--set {text[:60]}")


def parse_range(case: "Case", text: str, option: str) -> tuple[str, tuple[Fraction, Fraction]]:
    """NAME=FROM:TO, by the case's own name of the parameter, the ends as they are typed."""
    name, _, span = text.partition("=")
    ends, place = span.split(":"), f"{option} {text[:60]}"
    if not name or len(ends) != 2:
        raise WorkbenchError(f"{place}: give NAME=FROM:TO, such as mu=0:3")
    return case.aliases.get(name, name), (exact_number(ends[0], place), exact_number(ends[1], place))


def parse_axis(case: "Case", text: str, option: str) -> tuple[str, Any]:
    """NAME=FROM:TO:COUNT as an axis of a map: the parameter's name in the case, and its values."""
    import numpy as np

    from workbench.verbs.painleve import map_axis

    name, _, rest = text.partition("=")
    given, place = rest.split(":"), f"{option} {text[:60]}"
    if len(given) != 3:
        raise WorkbenchError(f"{place}: give NAME=FROM:TO:COUNT, such as mu=0:3:200")
    low, high, count = (exact_number(x, place) for x in given)
    start, end = float(low), float(high)
    if not start < end < start + LONGEST_AXIS:
        raise WorkbenchError(f"{place}: FROM < TO is needed, within the range of doubles")
    if count.denominator != 1 or not 2 <= count <= MOST_POINTS:
        raise WorkbenchError(f"{place}: COUNT must be a whole number from 2 to {MOST_POINTS}")
    return map_axis(case, name, np.linspace(start, end, int(count)))
