"""Matrices in MatrixMarket's format; their numbers are taken as typed.

Source: R. F. Boisvert, R. Pozo, K. Remington, NIST IR 5935 (1996).
"""

from pathlib import Path

from workbench.problems.classes import Array
from workbench.readers.matrix import LARGEST_SIDE, Matrix, sparse_matrix_of
from workbench.support.errors import DataError
from workbench.support.numbers import exact_decimal, parse_entry

SYMMETRIES = {"general": None, "symmetric": 1, "skew-symmetric": -1}


def parse_market(text: str, name: str) -> Matrix:
    """A MatrixMarket file: array or coordinate, real, integer or pattern, general or (skew-)symmetric."""
    lines = text.splitlines()
    words = (lines[0] if lines else "").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise DataError(f"{name} is not a MatrixMarket file: line 1 must be %%MatrixMarket matrix ...")
    layout, kind, symmetry = words[2:]
    if layout not in ("array", "coordinate") or kind not in ("real", "integer", "pattern", "double"):
        raise DataError(f"{name} is a MatrixMarket file of kind '{layout[:40]} {kind[:40]}'; a real matrix is needed")
    if symmetry not in SYMMETRIES:
        raise DataError(f"{name} is {symmetry[:40]!r}; general, symmetric or skew-symmetric matrices can be read")
    body = [(i, line.split()) for i, line in enumerate(lines, start=1) if line.strip() and line[0] != "%"]
    if not body or len(body[0][1]) != (2 if layout == "array" else 3):
        raise DataError(f"{name} has no line with the numbers of rows and columns")
    m, n, *count = (_whole(word, f"{name}, line {body[0][0]}") for word in body[0][1])
    if not (1 <= m <= LARGEST_SIDE and 1 <= n <= LARGEST_SIDE):
        raise DataError(f"{name} says {m} x {n}; sides from 1 to {LARGEST_SIDE} can be read")
    if SYMMETRIES[symmetry] and m != n:
        raise DataError(f"{name} is {symmetry} and {m} x {n}; a square matrix is needed")
    sign = SYMMETRIES[symmetry]
    if layout == "array":
        first = {None: 0, 1: 0, -1: 1}[sign]
        needed = m * n if sign is None else n * (n + 1) // 2 - first * n
        entries = [(row, words[0]) for row, words in body[1:] if len(words) == 1]
        if len(entries) != needed or len(body) - 1 != needed:
            raise DataError(f"{name} has {len(body) - 1} lines of entries where {m} x {n} needs {needed}, one each")
        places = [(i, j) for j in range(n) for i in range(0 if sign is None else j + first, m)]
    else:
        places, entries = _coordinates(body[1:], count[0], m, n, kind == "pattern", name)
    rows: list[dict[int, str]] = [{} for _ in range(m)]
    for (i, j), (line, entry) in zip(places, entries, strict=True):
        parse_entry(entry, f"{name}, line {line}")
        rows[i][j] = entry
        if sign and i != j:
            rows[j][i] = entry if sign > 0 else entry[1:] if entry.startswith("-") else "-" + entry.removeprefix("+")
    return sparse_matrix_of(rows, n, name)


def _coordinates(
    body: list[tuple[int, list[str]]], count: int, m: int, n: int, pattern: bool, name: str
) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
    if len(body) != count:
        raise DataError(f"{name} has {len(body)} lines of entries where its header says {count}")
    places, entries = [], []
    for line, words in body:
        where = f"{name}, line {line}"
        if len(words) != (2 if pattern else 3):
            raise DataError(f"{where} has {len(words)} words; row, column{'' if pattern else ' and value'} are needed")
        i, j = _whole(words[0], where) - 1, _whole(words[1], where) - 1
        if not (0 <= i < m and 0 <= j < n):
            raise DataError(f"{where}: entry ({i + 1}, {j + 1}) lies outside the {m} x {n} matrix")
        places.append((i, j))
        entries.append((line, "1" if pattern else words[2]))
    if len(set(places)) != len(places):
        raise DataError(f"{name} gives an entry twice; every place may be named once")
    return places, entries


def _whole(word: str, place: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= 12):
        raise DataError(f"{place}: {word[:40]!r} is not a whole number, which is needed here")
    return int(word)


def write_market(A: Array, path: str | Path) -> None:
    """Write an array (m, n), column by column as the format requires, with digits that give exactly its doubles."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{A.shape[0]} {A.shape[1]}\n")
        file.writelines(f"{exact_decimal(x)}\n" for x in A.ravel(order="F").tolist())
