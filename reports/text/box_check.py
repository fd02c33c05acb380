"""The check of a box of matrices in lines of text."""

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any

from flint import fmpq

from workbench.builtin.reports.text.check import LONGEST_VECTOR, enclosure_text, number, rounded, vector

Entry = dict[str, Any]
LARGEST_SHOWN = 6
"""Order up to which a member is shown in full."""
_SOLVABLE = {
    "one": "exactly one solution for all data of the boxes",
    "some": "at least one solution for all data of the boxes",
    "none": "no solution for any data of the boxes",
    "undecided": "not proved that all data of the boxes have a solution",
}


def text_rows(name: str, entry: Entry) -> list[tuple[str, str]]:
    """The result of `check_box` as labels and words."""
    n, classes = entry["n"], entry["classes"]
    kind = "symmetric matrices only" if entry["symmetric"] else "entries independent of each other"
    rows = [("box", f"{name}: {n} x {n}, {entry['uncertain_entries']} of {n * n} entries uncertain, {kind}")]
    p = classes["P"]
    rows.append(("P-matrix", _verdict(p)))
    rows += _witnesses(p)
    rows += list(_by_verdict({name: found for name, found in classes.items() if name != "P"}))
    rows.append(("rank", _rank_in_words(entry)))
    for name, found in entry["largest_uncertainty"].items():
        rows.append((f"r* for {name.replace('_', ' ')}", _bracket_in_words(found)))
    if entry["uniqueness"]:
        rows += _uniqueness_rows(entry["uniqueness"])
    return [*rows, *_solution_rows(entry)] if entry["solutions"] else rows


def _uniqueness_rows(found: Entry) -> Iterator[tuple[str, str]]:
    kinds = ", ".join(f"{len(some)} {name}" for name, some in found["bounds"].items() if some)
    words = {
        "all": "exactly one solution for every matrix of the box",
        "not all": "not unique for some matrix of the box",
        "undecided": "undecided",
    }[found["verdict"]]
    support = found["proof"] or found["reason"]
    yield "for every q", f"{words} ({kinds} unknowns){f': {support}' if support else ''}"
    if found["verdict"] == "not all":
        yield "not unique", f"{_matrix(found['support']['matrix'])}, by x = {vector(found['support']['x'])}"


def _rank_in_words(entry: Entry) -> str:
    n, found, member = entry["n"], entry["rank"], entry["rank"]["member"]
    if found["at_least"] == n or entry["classes"]["nondegenerate"]["verdict"] == "all":
        return f"{n} for every matrix of the box"
    words = f"at least {found['at_least']} for every matrix of the box"
    return words + (f"; {member['rank']} for {_matrix(member['matrix'])}" if member else "")


def _verdict(found: Entry) -> str:
    words = {"all": "all", "some": "some, not all", "none": "none", "undecided": "undecided"}[found["verdict"]]
    detail = found["proof"] or found["reason"]
    return f"{words}: {detail}" if detail else words


def _witnesses(found: Entry) -> Iterator[tuple[str, str]]:
    if found["outside"]:
        member = found["outside"]
        witness = member["witness"]
        shown = f"{_matrix(member['matrix'])} is not"
        if "index_set" in witness and "minor" in witness:
            indices = ", ".join(map(str, witness["index_set"]))
            shown += f": principal minor of rows and columns {{{indices}}} (from 0) is {number(witness['minor'])}"
        yield "not P", shown
    if found["outside"] and found["inside"]:
        yield "P", f"{_matrix(found['inside']['matrix'])} is"


def _matrix(rows: list[list[str]]) -> str:
    if len(rows) > LARGEST_SHOWN:
        return f"a member of order {len(rows)} (see --json)"
    return "[" + "; ".join(" ".join(map(number, row)) for row in rows) + "]"


def _by_verdict(classes: Entry) -> Iterator[tuple[str, str]]:
    labels = {"all": "all are", "some": "some are", "none": "none is", "undecided": "undecided"}
    for verdict, label in labels.items():
        names = [name.replace("_", " ") for name, found in classes.items() if found["verdict"] == verdict]
        if names:
            yield label, ", ".join(names)
    for name, found in classes.items():
        if found["verdict"] == "undecided":
            open_ = f"; {_matrix(found['outside']['matrix'])} is not" if found["outside"] else ""
            yield "", f"{name.replace('_', ' ')}: {found['reason']}{open_}"


def _bracket_in_words(found: Entry) -> str:
    if found["upper"] == 0:
        return "the centre of the box is not in the class"
    if found["upper"] is None and found["reason"] == "nothing is uncertain":
        return found["reason"]
    reason = f" ({found['reason']})" if found["reason"] else ""
    return f"all are, up to {enclosure_text(found)} times these radii and no further{reason}"


_PLACES = {
    "positive": "certainly", "zero": "certainly", "between": "certainly between the bounds",
    "lower": "certainly at the lower bound", "upper": "certainly at the upper bound", "undetermined": "",
}  # fmt: skip


def _solution_rows(entry: Entry) -> Iterator[tuple[str, str]]:
    found = entry["solutions"]
    yield "solvable", _SOLVABLE[found["solvable"]]
    if found["solvable"] == "none":
        return
    n = len(found["signs"])
    for kind, words in _PLACES.items():
        indices = [str(i) for i in range(n) if found["signs"][i] == kind]
        if indices:
            yield kind, f"{words} z_i for i = {', '.join(indices)}".lstrip()
    tight = "each bound is attained" if found["exact"] else found["reason"] or "not all bounds are attained"
    yield "bounds of z", tight
    for i in range(min(n, LONGEST_VECTOR)):
        yield "", f"z_{i} in [{_end(found['lower'][i], -1)}, {_end(found['upper'][i], 1)}]"
    if found["centre"]:
        yield "middle", f"z = {vector(found['centre'])}"


def _end(exact: str | None, side: int) -> str:
    """An end as it is when short, else six digits of it, rounded outward."""
    if exact is None:
        return "inf" if side > 0 else "-inf"
    if len(exact) <= 9:
        return exact
    x = fmpq(exact)
    value = int(x.p) / int(x.q)
    return rounded(value, 6, ROUND_CEILING if side > 0 else ROUND_FLOOR)
