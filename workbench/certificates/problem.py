"""The problem that a certificate is about, and its comparison with a given problem. Standard library only.

The fields determine the kind of problem; others are not allowed:

{M}                     a matrix (n, n), by its rows, or of any order {n, rows}: columns and entries other than zero
{M, q}                  the LCP 0 <= z  perp  M z + q >= 0
{M, q, lower, upper}    the MLCP with bounds, M in either form, each bound a number or null where there is none
{W, q, mu, d}           a friction problem, W in either form: normals first, then d tangents contact by contact,
                        mu (r) >= 0
{M, radius, members}    a box of matrices around M: "all" of them, or the "symmetric" ones
{M, q, radius, q_radius, members}       the LCP with M of this box and q within q_radius
{M, q, radius, q_radius, members, lower, upper}     the MLCP, each bound [from, to], or null where there is none
{functions, parameters, ranges}         sliding contacts: the name of their functions in `mechanisms`, or a `programme`,
                        the parameters that are fixed {name: number}, and the ranges [name, from, to] of the others
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import AnyRows, Rows, SparseRows, Vector, indices, rational, transposed, vector
from workbench.certificates.limits import DIMENSIONS, LARGEST_SIDE, ORDER
from workbench.certificates.outcomes import RefusedError

KINDS = {
    ("M",): "matrix",
    ("M", "q"): "LCP",
    ("M", "lower", "q", "upper"): "MLCP",
    ("W", "d", "mu", "q"): "friction problem",
    ("M", "members", "radius"): "interval matrix",
    ("M", "members", "q", "q_radius", "radius"): "uncertain LCP",
    ("M", "lower", "members", "q", "q_radius", "radius", "upper"): "uncertain MLCP",
    ("functions", "parameters", "ranges"): "sliding contacts",
}
"""The kind of problem by its fields in alphabetical order."""

LARGE = "large matrix"
"""The kind of a matrix that is given by its entries other than zero."""

Bounds = list[Fraction | None]
Ends = list[tuple[Fraction, Fraction] | None]


@dataclass(frozen=True)
class Ranges:
    """Sliding contacts by the name of their functions or by their operations (`programme`), the parameters that are
    fixed, and [from, to] of the others."""

    functions: str | dict[str, Any]
    parameters: dict[str, Fraction]
    ranges: dict[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class ProblemData:
    """The data of the claims; None for data that this kind of problem does not have.

    M (n, n) is the matrix, W of a friction problem; q (n); lower, upper (n) with None for no bound; mu (r), d tangents;
    radius (n, n) and q_radius (n) of uncertain data, whether only symmetric members count, and the `ends` (n) of
    uncertain lower and upper bounds; `sliding` contacts. Of a "large matrix" the rows hold the entries other than zero.
    """

    kind: str
    M: AnyRows
    q: Vector | None = None
    lower: Bounds | None = None
    upper: Bounds | None = None
    mu: Vector | None = None
    d: int | None = None
    radius: Rows | None = None
    q_radius: Vector | None = None
    symmetric: bool = False
    sliding: Ranges | None = None
    ends: tuple[Ends, Ends] | None = None


def read_problem(given: Any) -> ProblemData:
    """The problem of a certificate. RefusedError for other fields, inconsistent sizes, and empty bounds."""
    if not isinstance(given, dict):
        raise RefusedError("a certificate needs a problem, an object")
    fields = tuple(sorted(given))
    kind = KINDS.get(fields, "")
    if not kind:
        raise RefusedError(
            f"no kind of problem has the fields {{{', '.join(fields)[:60]}}}; docs/certificates.md lists those of each"
        )
    if kind == "sliding contacts":
        return ProblemData(kind, [], sliding=_ranges(given))
    name = "W" if kind == "friction problem" else "M"
    rows = given[name]
    if kind == "matrix" and isinstance(rows, dict):
        return ProblemData(LARGE, _large(rows))
    if kind == "friction problem" and isinstance(rows, dict):
        W = _large(rows)
        friction = _friction(given["mu"], given["d"], len(W))
        return ProblemData(kind, W, vector(given["q"], len(W), "q"), None, None, *friction)
    if kind == "MLCP" and isinstance(rows, dict):
        M = _large(rows)
        return ProblemData(kind, M, vector(given["q"], len(M), "q"), *_bounds(given["lower"], given["upper"], len(M)))
    if not isinstance(rows, list) or not 0 < len(rows) <= ORDER:
        raise RefusedError(f"{name} is not a list of 1 to {ORDER} rows")
    n = len(rows)
    written = [vector(row, n, f"row {i} of {name}") for i, row in enumerate(rows)]
    q = vector(given["q"], n, "q") if "q" in given else None
    if kind == "MLCP":
        return ProblemData(kind, written, q, *_bounds(given["lower"], given["upper"], n))
    if kind == "friction problem":
        return ProblemData(kind, written, q, None, None, *_friction(given["mu"], given["d"], n))
    if "radius" in given:
        radius = _spread(given["radius"], n)
        q_radius = None if q is None else _radii(given["q_radius"], n, "q_radius")
        symmetric = _is_symmetric(given["members"], written, radius)
        ends = _ends(given["lower"], given["upper"], n) if "lower" in given else None
        return ProblemData(kind, written, q, radius=radius, q_radius=q_radius, symmetric=symmetric, ends=ends)
    return ProblemData(kind, written, q)


def _radii(given: Any, n: int, what: str) -> Vector:
    found = vector(given, n, what)
    if min(found) < 0:
        raise RefusedError(f"{what} has a negative radius")
    return found


def _spread(rows: Any, n: int) -> Rows:
    if not isinstance(rows, list) or len(rows) != n:
        raise RefusedError(f"radius is not a list of {n} rows")
    return [_radii(row, n, f"row {i} of radius") for i, row in enumerate(rows)]


def _is_symmetric(members: Any, M: Rows, radius: Rows) -> bool:
    if members not in ("all", "symmetric"):
        raise RefusedError(f"the members are {str(members)[:20]!r}, not 'all' or 'symmetric'")
    if members == "symmetric" and not all(transposed(A) == A for A in (M, radius)):
        raise RefusedError("symmetric members need a symmetric box")
    return bool(members == "symmetric")


def _ranges(given: dict[str, Any]) -> Ranges:
    functions, parameters, ranges = (given[name] for name in ("functions", "parameters", "ranges"))
    if not isinstance(functions, str | dict) or not isinstance(parameters, dict) or not isinstance(ranges, list):
        raise RefusedError("sliding contacts need functions, parameters, and a list of ranges")
    found: dict[str, tuple[Fraction, Fraction]] = {}
    for entry in ranges:
        if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[0], str) or entry[0] in found:
            raise RefusedError("a range is not [name, from, to], or its name occurs twice")
        low, high = (rational(x) for x in entry[1:])
        if not low < high:
            raise RefusedError(f"the range of {entry[0][:20]!r} is empty")
        found[entry[0]] = (low, high)
    if not 0 < len(found) <= DIMENSIONS:
        raise RefusedError(f"from 1 to {DIMENSIONS} ranges are read")
    return Ranges(functions, {name: rational(x) for name, x in parameters.items()}, found)


def _large(given: dict[str, Any]) -> SparseRows:
    """The rows of {n, rows}, each a pair of lists: columns, and entries other than zero."""
    check_fields(given, ("n", "rows"), "M")
    n, rows = given["n"], given["rows"]
    if type(n) is not int or not 0 < n <= LARGEST_SIDE or not isinstance(rows, list) or len(rows) != n:
        raise RefusedError(f"M does not have a number n of rows, from 1 to {LARGEST_SIDE}, and n rows")
    found = []
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 2:
            raise RefusedError(f"row {i} of M is not a pair of lists")
        columns = indices(row[0], n, f"the columns of row {i} of M")
        entries = vector(row[1], len(columns), f"row {i} of M")
        if not all(entries):
            raise RefusedError(f"row {i} of M has an entry that is zero")
        found.append(dict(zip(columns, entries, strict=True)))
    return found


def _bounds(lower: Any, upper: Any, n: int) -> tuple[Bounds, Bounds]:
    found: list[Bounds] = []
    for what, given in (("lower", lower), ("upper", upper)):
        if not isinstance(given, list) or len(given) != n:
            raise RefusedError(f"{what} is not a list of {n} bounds")
        found.append([None if x is None else rational(x) for x in given])
    for i, (low, high) in enumerate(zip(*found, strict=True)):
        if low is not None and high is not None and low > high:
            raise RefusedError(f"no number lies between lower[{i}] and upper[{i}]")
    return found[0], found[1]


def _ends(lower: Any, upper: Any, n: int) -> tuple[Ends, Ends]:
    found: list[Ends] = []
    for what, given in (("lower", lower), ("upper", upper)):
        if not isinstance(given, list) or len(given) != n:
            raise RefusedError(f"{what} is not a list of {n} bounds")
        pairs = [None if x is None else vector(x, 2, f"an interval of {what}") for x in given]
        if any(x and x[0] > x[1] for x in pairs):
            raise RefusedError(f"an interval of {what} is empty")
        found.append([None if x is None else (x[0], x[1]) for x in pairs])
    for i, (low, high) in enumerate(zip(*found, strict=True)):
        if low and high and low[0] > high[1]:
            raise RefusedError(f"no number lies between lower[{i}] and upper[{i}]")
    return found[0], found[1]


def _friction(mu: Any, d: Any, n: int) -> tuple[Vector, int]:
    contacts = len(mu) if isinstance(mu, list) else 0
    if d not in (1, 2) or n != contacts * (1 + d):
        raise RefusedError(f"{contacts} contacts with d = {str(d)[:9]} tangents do not have {n} rows")
    found = vector(mu, contacts, "mu")
    if min(found) < 0:
        raise RefusedError("a coefficient of friction is negative")
    return found, d


def common(problem: ProblemData, given: ProblemData) -> ProblemData:
    """The common part of a certificate's problem and the given one: all, or the matrix of an LCP where one has no q.

    RefusedError if any number differs.
    """
    if {problem.kind, given.kind} == {"matrix", "LCP"}:
        problem, given = (ProblemData("matrix", p.M) for p in (problem, given))
    uncertain = {"interval matrix", "uncertain LCP", "uncertain MLCP"}
    if problem.kind != given.kind and "interval matrix" in (kinds := {problem.kind, given.kind}) and kinds <= uncertain:
        problem, given = (
            ProblemData("interval matrix", p.M, radius=p.radius, symmetric=p.symmetric) for p in (problem, given)
        )
    if problem.kind != given.kind:
        raise RefusedError(f"it is about another problem: its problem is of kind {problem.kind}, not {given.kind}")
    for name in ("M", "q", "lower", "upper", "mu", "d", "radius", "q_radius", "symmetric", "sliding", "ends"):
        if getattr(problem, name) != getattr(given, name):
            name = "W" if name == "M" and problem.mu is not None else "bounds" if name == "ends" else name
            raise RefusedError(f"it is about another problem than the one given: {name} differs")
    return problem
