"""The certificate of a proved map: its boxes as a text, of which `verify` proves each verdict again.

The verifier has its own formulas and its own arithmetic, whose enclosures are not as narrow everywhere. A box that it
does not prove as it stands is cut further until it does, so that a certificate never claims what is not verified.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from workbench.certificates.documents import Entry, signed
from workbench.certificates.maps import ANSWERS, PROPERTY, Corner, Judge, halves
from workbench.certificates.mechanisms import FUNCTIONS
from workbench.certificates.outcomes import RefusedError
from workbench.certificates.problem import Ranges
from workbench.diagnostics.box_regime import VERDICTS, columns_of
from workbench.diagnostics.proved_ranges import BITS, ProvedRanges, as_rational
from workbench.engine.timing import OUT_OF_TIME, clock
from workbench.mechanics.enclosed import over_box
from workbench.mechanics.functions import UncertainSignError
from workbench.mechanics.traced import Programme
from workbench.step.sliding.rows import inverted
from workbench.support.errors import DataError

CUTS = 8
"""Halvings of a box that the verifier does not prove, before its verdict is left out."""

LETTERS = {name: letter for letter, name in ANSWERS.items()}
SIGNS = {1: "+", 0: "-", -1: "?"}


def map_certificate(case: Any, given: Mapping[str, Fraction], r: ProvedRanges, seconds: float) -> Entry:
    """The JSON-ready certificate of the map of a case, its parameters `given` by their own names.

    Functions that the verifier does not know by name are written down as operations. Raises DataError where these need
    a sign that is not certain over the ranges, and where `seconds` do not suffice.
    """
    fixed = {key: value for key, value in given.items() if key not in r.names}
    spans = dict(zip(r.names, r.ranges, strict=True))
    functions = case.name if case.name in FUNCTIONS else programme_of(case, fixed, spans)
    ranges = Ranges(functions, fixed, spans)
    judge, end = Judge(ranges), clock() + seconds
    shares: dict[str, Fraction] = {}
    text: list[str] = []
    for letters, volume in _tree(r, judge):
        if clock() > end:
            raise DataError(f"{OUT_OF_TIME}: the certificate was not written within {seconds:.2g} s; allow more time")
        text.append(letters)
        for verdict in (ANSWERS.get(letters[0]), PROPERTY.get(letters[1:])):
            if verdict and volume:
                shares[verdict] = shares.get(verdict, Fraction(0)) + volume
    problem = {
        "functions": functions,
        "parameters": {key: str(value) for key, value in sorted(fixed.items())},
        "ranges": [[key, str(low), str(high)] for key, (low, high) in ranges.ranges.items()],
    }
    occurring = {key: str(shares[key]) for key in (*ANSWERS.values(), *PROPERTY.values()) if key in shares}
    claim = {"about": "map", "verdict": occurring, "support": {"tree": "".join(text)}}
    return signed(problem, [claim], [])


def programme_of(case: Any, fixed: Mapping[str, Fraction], spans: Mapping[str, tuple[Fraction, Fraction]]) -> Entry:
    """The mechanics of a case as a list of operations (`certificates.programme`). Raises DataError."""
    programme, d = Programme(), len(spans)
    half = [0.5] * d
    with ctx.workprec(BITS):
        values: dict[str, Any] = {name: arb(as_rational(x)) for name, x in fixed.items()}
        for k, (name, (low, high)) in enumerate(spans.items()):
            values[name] = over_box(as_rational(low), as_rational(high - low), half, half, k)
        try:
            data = case.sliding_rows({name: programme.parameter(name, x) for name, x in values.items()})
            system = inverted(data)
            P, Q = columns_of(data, system)
        except UncertainSignError:
            raise DataError(f"{case.name}: a sign that its mechanics needs is not certain over the ranges") from None
        except TypeError as why:
            raise DataError(f"{case.name}: its mechanics cannot be written down as operations: {why}") from None
    of = programme.reference
    lists = {"P": P, "Q": Q}
    found: Entry = {name: [[of(x) for x in column] for column in columns] for name, columns in lists.items()}
    found |= {"w": [of(x) for x in system.w], "locking": None if data.locking is None else of(data.locking)}
    return {"steps": programme.steps, **found}


def _tree(r: ProvedRanges, judge: Judge) -> Iterator[tuple[str, Fraction]]:
    """The text piece by piece: cuts with volume zero, and ends of boxes with their volume."""
    boxes = {(tuple(c), tuple(s)): k for k, (c, s) in enumerate(zip(r.corner.tolist(), r.side.tolist(), strict=True))}
    d = len(r.names)
    stack: list[tuple[Corner, Corner, str | None, int]] = [((Fraction(0),) * d, (Fraction(1),) * d, None, 0)]
    while stack:
        corner, side, verdict, cuts = stack.pop()
        if verdict is None:
            # Sides and corners are dyadic, and so exact as doubles.
            k = boxes.get((tuple(map(float, corner)), tuple(map(float, side))))
            verdict = None if k is None else LETTERS[VERDICTS[r.verdict[k]]] + SIGNS[int(r.p[k])]
        if verdict is not None and cuts == CUTS and not _holds(judge, corner, side, verdict):
            verdict = "??"
        if verdict is not None and _holds(judge, corner, side, verdict):
            volume = Fraction(1)
            for x in side:
                volume *= x
            yield verdict, volume
            continue
        axis = max(range(d), key=lambda i: side[i])
        yield str(axis), Fraction(0)
        stack += [(*half, verdict, cuts + (verdict is not None)) for half in halves(corner, side, axis)[::-1]]


def _holds(judge: Judge, corner: Corner, side: Corner, verdict: str) -> bool:
    try:
        judge.check(corner, side, *verdict)
    except RefusedError:
        return False
    return True
