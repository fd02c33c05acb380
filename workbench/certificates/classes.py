"""Check whether the support of a verdict proves that M belongs to a class of LCP theory, or that it does not.

The classes are those of Cottle, Pang and Stone, The Linear Complementarity Problem (1992), chapter 3. `support` maps
names to exact numbers, indices counting from zero; docs/certificates.md lists the possible proofs of each class, and
`FORMS` the fields of each support: every field present is checked. Standard library only.
"""

from fractions import Fraction
from typing import Any

from workbench.certificates import blocks, factors, repetition, sparse_factors
from workbench.certificates.cones import check_cones
from workbench.certificates.documents import check_fields
from workbench.certificates.exact import (
    AnyRows,
    Rows,
    Vector,
    determinant,
    dot,
    indices,
    is_sparse,
    nonzeros,
    part,
    rational,
    symmetric,
    times,
    transposed,
    vector,
)
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import PremiseError, RefusedError, RefutedError
from workbench.certificates.pivots import check_tree
from workbench.certificates.solutions import check_no_solution
from workbench.certificates.theorems import follows

CLASSES = (
    "P", "P0", "nondegenerate", "PD", "PSD", "Z", "M", "H_plus", "column_sufficient", "row_sufficient", "copositive",
    "strictly_copositive", "copositive_plus", "E0", "E", "R0", "S", "Q", "Q0",
)  # fmt: skip

Support = dict[str, Any]

FORMS: dict[tuple[str, str | None], tuple[str, ...]] = {
    ("yes", "implication"): ("from",),
    ("yes", "entries"): ("",),
    ("yes", "tree"): ("tree",),
    ("yes", "cones"): ("cover",),
    ("yes", "forest"): ("d",),
    ("yes", "repetition"): ("",),
    ("yes", None): ("index_set", "d", "x"),
    ("no", "implication"): ("conclusion from",),
    ("no", None): (
        "entry", "y", "x", "index_set", "index_set minor", "index_set minor x", "cover q", "cover q z",
    ),
}  # fmt: skip
"""The fields that a support may have besides `by`, in alphabetical order, for a verdict and the value of `by`.

`factors` has separate fields."""


def check_class(M: AnyRows, name: str, verdict: str, support: Support, known: dict[str, Any]) -> None:
    """Raise RefusedError unless the support proves the verdict, "yes" or "no", on the class, given `known` verdicts."""
    if verdict not in ("yes", "no"):
        raise RefusedError(f"{str(verdict)[:20]!r} is not a verdict on a class, yes or no")
    by = support.get("by")
    if by == "blocks":
        blocks.check_class(name, verdict, support, known)
    elif is_sparse(M):
        _check_large(M, name, verdict, support, known)
    else:
        _check_written_out(M, name, verdict, support, known)


def _check_large(M: AnyRows, name: str, verdict: str, support: Support, known: dict[str, Any]) -> None:
    """The forms of support whose check needs the entries other than zero only."""
    if support.get("by") == "sparse_cholesky":
        sparse_factors.check(M, name, verdict, support)
        return
    short = {"implication", "entries", "forest"} if verdict == "yes" else {"implication"}
    if support.get("by") not in (None, *short) or "cover" in support or (verdict == "yes" and "index_set" in support):
        raise RefusedError(f"a large matrix cannot be proved {name} by these fields: {', '.join(support)[:60]}")
    _check_written_out(M, name, verdict, support, known)


def _check_written_out(M: Rows, name: str, verdict: str, support: Support, known: dict[str, Any]) -> None:
    by = support.get("by")
    if verdict == "yes" and isinstance(by, str) and by in factors.FIELDS:
        factors.check(M, name, support)
        return
    fields = " ".join(sorted(set(support) - {"by"}))
    if not isinstance(by, str | None) or fields not in FORMS.get((verdict, by), ()):
        raise RefusedError(f"a {verdict} by {str(by)[:20]!r} with the fields '{fields[:40]}' has no known form")
    if by == "implication":
        _check_implication(name, verdict, support, known)
    elif verdict == "yes":
        _check_yes(M, name, support)
    else:
        _check_no(M, name, support)


def _check_implication(name: str, verdict: str, support: Support, known: dict[str, str]) -> None:
    """From yes to yes; or the single open premise fails because the conclusion does."""
    others = support.get("from")
    if not isinstance(others, list) or not all(isinstance(x, str) for x in others):
        raise RefusedError("an implication needs a list of premises in 'from'")
    missing = [x for x in others if known.get(x) != "yes"]
    if missing:
        raise PremiseError(f"the premise {missing[0][:20]!r} is not verified")
    if verdict == "yes":
        if not follows(others, name):
            raise RefusedError(f"no theorem says that {' and '.join(others)} make {name}")
        return
    conclusion = support.get("conclusion")
    if not isinstance(conclusion, str) or known.get(conclusion) != "no":
        raise PremiseError(f"that it is not {str(conclusion)[:20]!r} is not verified")
    if not follows([*others, name], conclusion):
        raise RefusedError(f"no theorem says that {' and '.join([*others, name])} make {conclusion}")


def _check_yes(M: Rows, name: str, support: Support) -> None:
    n, by = len(M), support.get("by")
    if name == "P" and by == "tree":
        check_tree(M, support.get("tree"))
    elif name == "P" and by == "forest":
        _check_forest(M, vector(support["d"], n, "d"))
    elif by == "entries" and name in ENTRIES:
        if not ENTRIES[name](M):
            raise RefutedError(f"the signs of the entries do not make the matrix {name}")
    elif name == "PSD" and "index_set" in support:
        if not factors.spans(symmetric(M), indices(support["index_set"], n, "the index set")):
            raise RefutedError("the rows of the index set do not span a positive semidefinite form")
    elif by == "cones" and name == "Q0":
        check_cones(M, support.get("cover"))
    elif by == "repetition":
        repetition.check(M, name)
    elif name in ("H_plus", "M") and "d" in support:
        d = vector(support["d"], n, "d")
        C = comparison(M) if name == "H_plus" else M
        if not (_is_z(C) and min(d) > 0 and min(times(C, d)) > 0):
            raise RefutedError("d > 0 with a positive image does not show dominance")
    elif name == "S" and "x" in support:
        x = vector(support["x"], n, "x")
        if not (min(x) >= 0 and min(times(M, x)) > 0):
            raise RefutedError("x >= 0 with M x > 0 fails")
    else:
        raise RefusedError(f"a yes to {name} cannot be proved by {by!r}")


def _check_forest(M: AnyRows, d: Vector) -> None:
    """Where no two indices are coupled by two paths, pairs m_ij m_ji <= 0 drop out: expanding a minor along such a pair
    adds no negative term. What is left is similar to its comparison matrix by signs, an M-matrix where d > 0 has a
    positive image."""
    entries = [{j: x for j, x in nonzeros(row) if x} for row in M]
    label = list(range(len(M)))

    def root(i: int) -> int:
        while label[i] != i:
            label[i] = label[label[i]]
            i = label[i]
        return i

    for i, row in enumerate(entries):
        check_time()
        for j in row:
            if j < i or (j > i and i not in entries[j]):
                a, b = root(i), root(j)
                if a == b:
                    raise RefutedError(f"the indices {i} and {j} are coupled by two paths")
                label[a] = b
    for i, row in enumerate(entries):
        others = sum((abs(x) * d[j] for j, x in row.items() if j != i and x * entries[j].get(i, 0) > 0), Fraction(0))
        if d[i] <= 0 or row.get(i, Fraction(0)) * d[i] <= others:
            raise RefutedError(f"d does not show that pairs of one sign in row {i} are dominated by the diagonal")


def comparison(M: AnyRows) -> AnyRows:
    """m_ii on the diagonal, -|m_ij| off it."""
    changed = [{j: x if i == j else -abs(x) for j, x in nonzeros(row)} for i, row in enumerate(M)]
    return changed if is_sparse(M) else [[*row.values()] for row in changed]


def _is_z(M: AnyRows) -> bool:
    return all(x <= 0 for i, row in enumerate(M) for j, x in nonzeros(row) if i != j)


def _is_triangular(M: AnyRows) -> bool:
    """Whether M is triangular up to a permutation, with positive diagonal: rows with a diagonal entry only drop out."""
    n = len(M)
    others = [[j for j, x in nonzeros(row) if x and j != i] for i, row in enumerate(M)]
    left: list[int] = [len(row) for row in others]
    users: list[list[int]] = [[] for _ in M]
    for i, row in enumerate(others):
        for j in row:
            users[j].append(i)
    ended = [i for i in range(n) if not left[i]]
    for j in ended:
        for i in users[j]:
            left[i] -= 1
            if not left[i]:
                ended.append(i)
    return len(ended) == n and min(_diagonal(M)) > 0


def _diagonal(M: AnyRows) -> Vector:
    return [row.get(i, Fraction(0)) if isinstance(row, dict) else row[i] for i, row in enumerate(M)]


def _is_weakly_dominant(S: AnyRows) -> bool:
    """Whether no diagonal entry is below the sum of the absolute values of the others in its row."""
    return all(2 * d >= sum(abs(x) for _, x in nonzeros(row)) for d, row in zip(_diagonal(S), S, strict=True))


def _is_nonnegative(S: AnyRows) -> bool:
    return all(x >= 0 for row in S for _, x in nonzeros(row))


ENTRIES = {
    "Z": _is_z,
    "P": _is_triangular,
    "PSD": lambda M: _is_weakly_dominant(symmetric(M)),
    "copositive": lambda M: _is_nonnegative(symmetric(M)),
    "strictly_copositive": lambda M: _is_nonnegative(symmetric(M)) and min(_diagonal(M)) > 0,
}


def _check_no(M: Rows, name: str, support: Support) -> None:
    n = len(M)
    if "entry" in support and name in ("Z", "M"):
        entry = indices(support["entry"], n, "the entry")
        # Two different indices: the second row and column of the submatrix are those of the entry.
        if len(entry) != 2 or not part(M, entry)[0][1] > 0:
            raise RefutedError(f"{entry} is not a positive entry off the diagonal")
    elif name in ("S", "H_plus", "M") and "y" in support:
        y, of = vector(support["y"], n, "y"), comparison(M) if name == "H_plus" else M
        if not (min(y) >= 0 and any(y) and max(times(transposed(of), y)) <= 0):
            raise RefutedError("y >= 0, not zero, with a product that is nowhere positive fails")
    elif name in ("Q", "Q0") and "q" in support:
        _check_unsolvable(M, name, support)
    elif "index_set" in support:
        _check_minor(name, M, support)
    elif "x" in support:
        _check_vector(name, M, support)
    else:
        raise RefusedError(f"a no to {name} cannot be proved by {', '.join(support)}")


def _check_unsolvable(M: Rows, name: str, support: Support) -> None:
    q = vector(support["q"], len(M), "q")
    if name == "Q0" or "z" in support:
        z = vector(support.get("z"), len(M), "z")
        if min(z) < 0 or min(w + c for w, c in zip(times(M, z), q, strict=True)) < 0:
            raise RefutedError("the LCP is not feasible at z, and says nothing on Q0")
    check_no_solution(M, q, support.get("cover"))


def _check_minor(name: str, M: Rows, support: Support) -> None:
    """Check that the principal minor contradicts the class, and that its value or vector, if given, is right."""
    a = indices(support["index_set"], len(M), "the index set")
    minor = determinant(part(comparison(M) if name == "H_plus" else M, a))
    if name in ("P", "M", "H_plus"):
        contradicts = minor <= 0
    else:
        contradicts = (name == "P0" and minor < 0) or (name == "nondegenerate" and minor == 0)
    if not contradicts:
        raise RefutedError(f"the principal minor of {a} does not contradict {name}")
    if "minor" in support and rational(support["minor"]) != minor:
        raise RefutedError(f"the principal minor of {a} has another value")
    if "x" in support:
        _check_vector(name, M, support)


def _check_vector(name: str, M: Rows, support: Support) -> None:
    x = vector(support["x"], len(M), "x")
    if not any(x) or not _vector_contradicts(name, M, x):
        raise RefutedError(f"the vector x does not contradict {name}")


def _vector_contradicts(name: str, M: Rows, x: Vector) -> bool:
    image = times(transposed(M) if name == "row_sufficient" else M, x)
    products = [u * v for u, v in zip(x, image, strict=True)]
    form, nonnegative = sum(products), min(x) >= 0
    inside = [v for u, v in zip(x, image, strict=True) if u > 0]
    return {
        "PD": form <= 0,
        "PSD": form < 0,
        "column_sufficient": max(products) <= 0 and min(products) < 0,
        "row_sufficient": max(products) <= 0 and min(products) < 0,
        "copositive": nonnegative and form < 0,
        "strictly_copositive": nonnegative and form <= 0,
        "copositive_plus": nonnegative and (form < 0 or (form == 0 and any(times(symmetric(M), x)))),
        "E0": nonnegative and max(inside, default=Fraction(0)) < 0,
        "E": nonnegative and max(inside, default=Fraction(1)) <= 0,
        "R0": nonnegative and min(image) >= 0 and not any(products),
        "P": max(products) <= 0,
        "P0": all(product < 0 for u, product in zip(x, products, strict=True) if u),
    }.get(name, False)


def check_indefinite(M: Rows, verdict: Any, support: Support) -> None:
    """Raise RefusedError unless the verdict is "yes", and x^T M x positive at one vector and negative at the other."""
    check_fields(support, ("positive", "negative"), "the support")
    if verdict != "yes":
        raise RefusedError("only that the form takes both signs can be proved")
    for key, sign in (("positive", 1), ("negative", -1)):
        x = vector(support.get(key), len(M), key)
        if not sign * dot(x, times(M, x)) > 0:
            raise RefutedError(f"x^T M x is not {key} at that vector")
