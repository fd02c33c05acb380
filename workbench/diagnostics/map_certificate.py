"""The certificate of a proved map: its boxes as a text, of which `verify` proves each verdict again.

The verifier has its own formulas and its own arithmetic, whose enclosures are not as narrow everywhere. A box that it
does not prove as it stands is cut further until it does, so that a certificate never claims what is not verified.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from workbench.certificates.documents import Entry, signed
from workbench.certificates.maps import ANSWERS, PROPERTY, Corner, Judge, halves
from workbench.certificates.mechanisms import FUNCTIONS
from workbench.certificates.outcomes import RefusedError
from workbench.certificates.problem import Ranges
from workbench.diagnostics.box_regime import VERDICTS
from workbench.diagnostics.proved_ranges import ProvedRanges
from workbench.engine.timing import OUT_OF_TIME, clock
from workbench.support.errors import DataError

CUTS = 8
"""Halvings of a box that the verifier does not prove, before its verdict is left out."""

LETTERS = {name: letter for letter, name in ANSWERS.items()}
SIGNS = {1: "+", 0: "-", -1: "?"}


def map_certificate(name: str, given: Mapping[str, Fraction], r: ProvedRanges, seconds: float) -> Entry:
    """The JSON-ready certificate of the map of the case of this name, its parameters `given` by their own names.

    Raises DataError for a case whose functions the verifier does not know by name, and where `seconds` do not suffice.
    """
    if name not in FUNCTIONS:
        raise DataError(f"{name}: the verifier of certificates has the functions of {', '.join(FUNCTIONS)} alone")
    fixed = {key: value for key, value in given.items() if key not in r.names}
    ranges = Ranges(name, fixed, dict(zip(r.names, r.ranges, strict=True)))
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
        "functions": name,
        "parameters": {key: str(value) for key, value in sorted(fixed.items())},
        "ranges": [[key, str(low), str(high)] for key, (low, high) in ranges.ranges.items()],
    }
    occurring = {key: str(shares[key]) for key in (*ANSWERS.values(), *PROPERTY.values()) if key in shares}
    claim = {"about": "map", "verdict": occurring, "support": {"tree": "".join(text)}}
    return signed(problem, [claim], [])


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
