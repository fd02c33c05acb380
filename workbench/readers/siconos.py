"""Problems in Siconos' text format: LCP, relay, MLCP, FrictionContactProblem (2D, 3D), GlobalFrictionContactProblem.

    LCP              n, M, q
    relay            n, M, q, lower, upper
    MLCP             flags of storage, n equations, m complementarities, [block ends, kinds, M, q], [A, B, C, D, a, b]
    local friction   dimension, contacts, M = W, q, mu
    global friction  dimension, contacts, M, H, q = f, b = w, mu

Matrices are those of `siconos_matrix`; the parts A, B, C, D of an MLCP are printed row by row. Text after the last
number is a comment; but exactly 2 n numbers after an LCP, lower <= upper and not all equal, are the bounds of a relay.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.problems.classes import LCP, MLCP, Array
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem, Sparse
from workbench.readers.matrix import Matrix, matrix_of
from workbench.readers.siconos_matrix import (
    STORAGES,
    WHOLE,
    Entries,
    TypedWords,
    Words,
    print_dense,
    print_matrix,
    read_entries,
)
from workbench.support.errors import DataError
from workbench.support.numbers import exact_decimal

ROLLING = 5
"""Number of rows of a contact with rolling friction."""

SiconosProblem = LCP | MLCP | FrictionProblem | GlobalFrictionProblem


def parse(text: str, name: str) -> SiconosProblem:
    """Parse the problem in a text; its first numbers tell the kind. Raises DataError in one line."""
    head = _head(text)
    first, second, third, fourth, fifth = (*head, *[-1] * 5)[:5]
    # An MLCP of one equation and one complementarity begins 1 1 1 1 0, an LCP of one unknown 1 1 1 1 and a size.
    if {first, second} in ({0, 1}, {1}) and min(third, fourth) >= 0 and (not first or fifth == 0):
        return _mlcp(Words(text, name))
    if first > 0 and second in STORAGES and third == fourth == first:
        return _lcp(Words(text, name))
    # Without contacts there is no local problem, but a global one, which begins with a square M.
    if first in (2, 3) and (second >= 1 or (second == 0 and fourth == fifth)) and third in STORAGES and len(head) == 5:
        return _friction(Words(text, name))
    raise DataError(f"{name} {_other_kind(head) or _nothing_known(head)}")


def _head(text: str) -> list[int]:
    """The integers with which the text begins, at most five."""
    found = (match.group() for match in itertools.islice(re.finditer(r"\S+", text), 5))
    return [int(word) for word in itertools.takewhile(WHOLE.fullmatch, found)]


def _other_kind(head: list[int]) -> str | None:
    """The other Siconos format that the text is in, and the supported ones; None if it is unknown."""
    if len(head) == 5 and head[1] >= 1 and head[2] in STORAGES:
        size, count, _, rows, columns = head
        if size == ROLLING and rows > 1:
            return f"is rolling friction of {count} contacts with {ROLLING} rows each; contacts of 2 or 3 can be read"
        if size == rows == columns and count < size:
            return f"is a second-order cone LCP of {size} unknowns in {count} cones; friction problems can be read"
    if len(head) >= 3 and head[0] in STORAGES and head[1] == head[2] >= 1:
        return (
            f"begins with a {head[1]} x {head[2]} matrix, as a bare matrix or a generic mechanical problem does; "
            "an LCP, a relay, an MLCP or a friction problem can be read"
        )
    return None


def _nothing_known(head: list[int]) -> str:
    return (
        f"is not a problem in Siconos' text format: it begins with {' '.join(map(str, head)) or 'no whole numbers'}; "
        "an LCP begins n 0 n n, an MLCP 1 1 n m 0, a friction problem 3 contacts 0"
    )


def _lcp(words: Words) -> LCP | MLCP:
    n = words.whole(1)
    M, q = _entries(words, n).dense(), words.numbers(n)
    bounds = _bounds(words, n)
    return MLCP(M, q, *bounds) if bounds else LCP(M, q)


def _entries(words: Words, n: int) -> Entries:
    M = read_entries(words)
    if M.shape != (n, n):
        raise DataError(f"{words.name}: M is {M.shape[0]} x {M.shape[1]}; {n} x {n} is needed")
    return M


def _bounds(words: Words, n: int) -> tuple[Array, Array] | None:
    """The bounds of a relay, if exactly 2 n valid numbers follow."""
    rest = [match.group() for match in itertools.islice(words.found, 2 * n + 1)]
    try:
        lower, upper = np.split(np.array(Words.as_numbers(words, rest)), 2)
    except (DataError, ValueError):
        return None
    fitting = lower.size == n and (lower <= upper).all() and (lower < upper).any()
    return (lower, upper) if fitting else None


def is_lcp(text: str) -> bool:
    """Return whether the text begins like an LCP: n, kind of storage, n and n again, one per line."""
    lines = list(itertools.islice((line.split() for line in text.splitlines() if line.strip()), 4))
    if [len(words) for words in lines] != [1, 1, 1, 1]:
        return False
    (n,), (storage,), (rows,), (columns,) = lines
    return storage in map(str, STORAGES) and n == rows == columns and n.isdecimal()


def parse_typed_lcp(text: str, name: str) -> tuple[Matrix, Matrix]:
    """M (n, n) and q (n, 1) of an LCP, their entries as typed. Raises DataError in one line."""
    words = TypedWords(text, name)
    n = words.whole(1)
    M, q = _entries(words, n), words.numbers(n)
    if _bounds(words, n):
        raise DataError(f"{name} is a relay, {n} unknowns with two bounds each; an LCP is needed here")
    return M.typed(f"{name}, M"), matrix_of([[x] for x in q], f"{name}, q")


def _mlcp(words: Words) -> MLCP:
    whole, parts = words.whole(), words.whole()
    n, m = words.whole(), words.whole()
    size = n + m
    words.must_hold(size)
    if not size:
        raise DataError(f"{words.name} is an MLCP without unknowns")
    equations = np.arange(size) < n
    if whole:
        ends, kinds = _blocks_of(words, size)
        equations = np.repeat(kinds, np.diff(ends)) == 0
        if equations.sum() != n:
            raise DataError(f"{words.name}: its blocks hold {equations.sum()} equations where its header says {n}")
        entries = read_entries(words)
        if entries.shape[0] > size == entries.shape[1] and parts and equations[:n].all():
            return _tall_mlcp(words, entries.dense(), n, m)
        if entries.shape != (size, size):
            raise DataError(f"{words.name}: M is {entries.shape[0]} x {entries.shape[1]}; {size} x {size} is needed")
        M, q = entries.dense(), words.numbers(size)
    if parts:
        A, B, C, D, a, b = _parts(words, n, m)
        order = np.concatenate([np.flatnonzero(equations), np.flatnonzero(~equations)])
        M_parts, q_parts = np.empty((size, size)), np.empty(size)
        M_parts[np.ix_(order, order)], q_parts[order] = np.block([[A, C], [D, B]]), np.concatenate([a, b])
        if whole and not (np.array_equal(M, M_parts) and np.array_equal(q, q_parts)):
            raise DataError(f"{words.name}: M and q differ from their parts A, B, C, D, a, b, which it also holds")
        M, q = M_parts, q_parts
    return MLCP(M, q, np.where(equations, -np.inf, 0.0), np.full(size, np.inf))


def _parts(words: Words, n: int, m: int) -> tuple[Array, ...]:
    """A (n, n), B (m, m), C (n, m), D (m, n), a (n,), b (m,)."""
    A, B, C, D = (words.numbers(i * j).reshape(i, j) for i, j in ((n, n), (m, m), (n, m), (m, n)))
    return A, B, C, D, words.numbers(n), words.numbers(m)


def _tall_mlcp(words: Words, M: Array, n: int, m: int) -> MLCP:
    """The MLCP of a tall M (rows, n + m), with rows - m > n equations: missing free unknowns for a square matrix are
    added as zero columns, after u.

    Only n + m numbers of such a q are printed, and of A and C those given by their strides; the end of q is b.
    """
    rows, size = M.shape
    q = words.numbers(size)
    _, B, _, D, _, b = _parts(words, n, m)
    known = rows - m
    if known > size:
        raise DataError(f"{words.name}: M is {rows} x {size}, and q is printed with {size} numbers; {known} are needed")
    if not (np.array_equal(M[known:], np.hstack([D, B])) and np.array_equal(q[known:], b[: size - known])):
        raise DataError(f"{words.name}: M and q differ from their parts D, B, b, which it also holds")
    square = np.hstack([M[:, :n], np.zeros((rows, rows - size)), M[:, n:]])
    lower = np.where(np.arange(rows) < known, -np.inf, 0.0)
    return MLCP(square, np.concatenate([q[:known], b]), lower, np.full(rows, np.inf))


def _blocks_of(words: Words, size: int) -> tuple[list[int], NDArray[np.int64]]:
    """Start and end of the blocks of rows, and the kind of each: 0 equations, 1 complementarities."""
    ends = [words.whole()]
    while ends[-1] < size:
        ends.append(words.whole(ends[-1] + 1))
    if ends[0] != 0 or ends[-1] != size:
        raise DataError(f"{words.name}: its blocks of rows end at {ends[-1]}; they must cover 0 to {size}")
    kinds = words.wholes(len(ends) - 1)
    if kinds.max() > 1:
        raise DataError(f"{words.name} has blocks of kind {kinds.max()}; 0 (equations) and 1 are known")
    return ends, kinds


def _friction(words: Words) -> FrictionProblem | GlobalFrictionProblem:
    dimension, contacts = words.whole(2), words.whole()
    size = dimension * contacts
    words.must_hold(size)
    M = read_entries(words).matrix()
    if M.shape == (size, size):
        # A global problem may have as many velocities as contact rows; then a second matrix follows, which is H.
        try:
            return _global(words.again(), M, contacts, dimension)
        except DataError:
            q, mu = words.numbers(size), words.numbers(contacts)
            return FrictionProblem.from_contacts(M, q, mu, dimension - 1)
    return _global(words, M, contacts, dimension)


def _global(words: Words, M: Sparse, contacts: int, dimension: int) -> GlobalFrictionProblem:
    n, size = M.shape[0], dimension * contacts
    if M.shape[1] != n:
        raise DataError(f"{words.name}: M is {n} x {M.shape[1]}; square, or {size} x {size}, is needed")
    H = read_entries(words).matrix()
    if H.shape != (n, size):
        raise DataError(f"{words.name}: H is {H.shape[0]} x {H.shape[1]}; {n} x {size} is needed")
    f, w, mu = words.numbers(n), words.numbers(size), words.numbers(contacts)
    return GlobalFrictionProblem.from_contacts(M, H, f, w, mu, dimension - 1)


def write_siconos(problem: SiconosProblem, path: str | Path) -> None:
    """Print a problem as Siconos does. Raises DataError for bounds that neither an MLCP nor a relay has, and for G.

    Every number is read back as the same double; those of an LCP are exact, since they are also read literally.
    """
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in _printed(problem))


def _printed(problem: SiconosProblem) -> Iterator[str]:
    """The lines of a problem."""
    if isinstance(problem, LCP):
        yield from _printed_lcp(problem)
    elif isinstance(problem, MLCP):
        yield from _printed_mlcp(problem)
    elif isinstance(problem, FrictionProblem):
        W, q = problem.by_contacts()
        yield from (str(1 + problem.d), str(problem.contacts), *print_matrix(W), _line(q), _line(problem.mu))
    elif problem.G.shape[1]:
        raise DataError(
            f"Siconos' layout has no bilateral constraints, and this problem has {problem.G.shape[1]}; write it as "
            ".hdf5, .npz or .mat, or as a local one"
        )
    else:
        H, w = problem.by_contacts()
        yield from (str(1 + problem.d), str(problem.contacts), *print_matrix(problem.M), *print_matrix(H))
        yield from map(_line, (problem.f, w, problem.mu))


def _printed_lcp(problem: MLCP) -> Iterator[str]:
    yield str(problem.size)
    yield from print_dense(problem.M, exact_decimal)
    yield " ".join(map(exact_decimal, problem.q.tolist()))


def _printed_mlcp(problem: MLCP) -> Iterator[str]:
    """Equations and complementarities by blocks of rows, or a relay."""
    lower, upper = problem.lower, problem.upper
    if np.isfinite([lower, upper]).all() and (lower < upper).any():
        yield from (*_printed_lcp(problem), _line(lower), _line(upper))
        return
    equations = lower == -np.inf
    other = (upper != np.inf) | ~(equations | (lower == 0))
    if other.any():
        i = int(np.argmax(other))
        raise DataError(
            f"Siconos' layouts have rows from -inf to inf or 0 to inf, or bounds that are all finite and not all "
            f"equal; row {i} goes from {lower[i]:g} to {upper[i]:g}; write the MLCP as .npz or .mat"
        )
    ends = [0, *(np.flatnonzero(np.diff(equations)) + 1).tolist(), problem.size]
    yield from ("1", "0", str(equations.sum()), str((~equations).sum()), " ".join(map(str, ends)))
    yield " ".join("0" if equations[k] else "1" for k in ends[:-1])
    yield from (*print_dense(problem.M), _line(problem.q))


def _line(values: Array) -> str:
    return " ".join(map(repr, values.tolist()))
