"""Verdicts and certificates against definitions: `python -m tests.stress --count 100000 --seed 1 [--minutes 15]`.

Each small matrix gets its verdicts from the library and from `tests.definitions`; its certificate is checked, and then
damaged: with the digest left as it is the whole must be refused, with a mended one no claim may hold that is false.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from tests import definitions
from tests.proofs import with_digest
from workbench.certificates.outcomes import VERIFIED, Finding, RefusedError
from workbench.certificates.verify import verify
from workbench.diagnostics.certificate import certificate
from workbench.diagnostics.wellposedness import class_entries, solutions_entry
from workbench.engine.timing import clock
from workbench.matrices.classes.matrix_classes import matrix_classes
from workbench.matrices.linear_algebra.definiteness import definiteness
from workbench.matrices.p_property.verdict import p_verdict
from workbench.matrices.p_property.witness import as_lines
from workbench.readers.matrix import Matrix, matrix_of

SECONDS = 60.0
"""Allowed for one matrix: far more than any needs."""
LIES = 10
"""Every so many matrices all supports are tried for all classes."""
SHOWN = 20
"""Failures that are printed."""

Rows = list[list[Fraction]]
Document = dict[str, Any]


def written(rows: Rows) -> Matrix:
    """A matrix that came as text."""
    return matrix_of([[str(x) for x in row] for row in rows], "M")


def every_matrix() -> Iterator[tuple[str, Rows]]:
    """All of order two with entries -3 to 3, and all of order three with entries -1 to 1."""
    for n, most in ((2, 3), (3, 1)):
        for entries in product(range(-most, most + 1), repeat=n * n):
            yield "all", [[Fraction(x) for x in entries[n * i : n * i + n]] for i in range(n)]


def random_matrices(chance: random.Random) -> Iterator[tuple[str, Rows]]:
    """Matrices of order one to four, of every kind in turn."""
    while True:
        for kind in KINDS:
            n, most = chance.choice((1, 2, 2, 3, 3, 3, 4, 4, 4, 4)), chance.choice((1, 1, 3))
            M = [[Fraction(chance.randint(-most, most)) for _ in range(n)] for _ in range(n)]
            yield kind, KINDS[kind](M, chance)


def _skew(M: Rows, chance: random.Random) -> Rows:
    diagonal = [Fraction(chance.choice((0, 0, 1, 2))) for _ in M]
    return [[diagonal[i] if i == j else x - M[j][i] for j, x in enumerate(row)] for i, row in enumerate(M)]


def _gram(M: Rows, chance: random.Random) -> Rows:
    kept = [row[: chance.randint(1, len(M))] for row in M] if chance.random() < 0.2 else [row[:-1] or row for row in M]
    k = min(map(len, kept))
    skew = _skew(M, chance) if chance.random() < 0.4 else [[Fraction(0)] * len(M)] * len(M)
    return [
        [
            sum((x * y for x, y in zip(u[:k], v[:k], strict=True)), Fraction(0)) + (s if i != j else 0)
            for j, (v, s) in enumerate(zip(kept, skew[i], strict=True))
        ]
        for i, u in enumerate(kept)
    ]


def _singular(M: Rows, chance: random.Random) -> Rows:
    """One row a combination of others, or a column."""
    i, factors = chance.randrange(len(M)), [Fraction(chance.randint(-1, 2)) for _ in M]
    combined = [
        sum((f * row[j] for k, (f, row) in enumerate(zip(factors, M, strict=True)) if k != i), Fraction(0))
        for j in range(len(M))
    ]
    rows = [combined if k == i else row for k, row in enumerate(M)]
    return rows if chance.random() < 0.5 else [list(column) for column in zip(*rows, strict=True)]


def _near(M: Rows, chance: random.Random) -> Rows:
    """Singular but for a last digit, in long decimals or doubles."""
    unit = Fraction(1, 10 ** chance.choice((15, 30, 60)) if chance.random() < 0.5 else 2**52)
    return [[x + chance.choice((-1, 0, 0, 1)) * unit for x in row] for row in _singular(M, chance)]


def _scaled(M: Rows, chance: random.Random) -> Rows:
    rows, columns = ([Fraction(10) ** chance.randint(-120, 120) for _ in M] for _ in "rc")
    return [[x * r * c for x, c in zip(row, columns, strict=True)] for r, row in zip(rows, M, strict=True)]


def _doubles(M: Rows, chance: random.Random) -> Rows:
    spread = chance.choice((0, 3, 250))
    return [
        [Fraction(chance.gauss(0, 1) * 10.0 ** chance.uniform(-spread, spread) if x else 0.0) for x in row] for row in M
    ]


def _near_p(M: Rows, chance: random.Random) -> Rows:
    """The signs of a skew matrix and a positive diagonal: P-matrices that are neither definite nor dominant."""
    rows = [
        [Fraction(1) if i == j else (1 + 3 * i) * abs(x) * (1 if j > i else -1) for j, x in enumerate(row)]
        for i, row in enumerate(M)
    ]
    order = chance.sample(range(len(M)), len(M))
    return [[rows[i][j] for j in order] for i in order]


KINDS = {
    "any": lambda M, _: M,
    "positive diagonal": lambda M, _: [[abs(x) + 1 if i == j else x for j, x in enumerate(r)] for i, r in enumerate(M)],
    "symmetric": lambda M, _: [[M[max(i, j)][min(i, j)] for j in range(len(M))] for i in range(len(M))],
    "skew": _skew,
    "gram": _gram,
    "singular": _singular,
    "Z": lambda M, _: [[x if i == j else -abs(x) for j, x in enumerate(row)] for i, row in enumerate(M)],
    "nonnegative": lambda M, _: [[abs(x) for x in row] for row in M],
    "triangular": lambda M, _: [[x * (i // 2 <= j // 2) for j, x in enumerate(row)] for i, row in enumerate(M)],
    "near P": _near_p,
    "near singular": _near,
    "scaled": _scaled,
    "decimals": lambda M, c: [[x and x + Fraction(c.randint(-(10**30), 10**30), 10**30) for x in row] for row in M],
    "doubles": _doubles,
}  # fmt: skip


def right_hand_side(M: Rows, chance: random.Random) -> list[Fraction]:
    """Small numbers; or -M z + w for complementary z, w >= 0, so that there is a solution, often a degenerate one."""
    if chance.random() < 0.5:
        return [Fraction(chance.randint(-3, 3)) for _ in M]
    z, w = [Fraction(chance.randint(0, 2)) for _ in M], [Fraction(chance.randint(0, 2)) for _ in M]
    return [
        (0 if x else v) - sum(m * y for m, y in zip(row, z, strict=True)) for row, x, v in zip(M, z, w, strict=True)
    ]


def verdicts(M: Matrix, q: Matrix) -> Document:
    """What `check` finds, without solvers and what is not certified."""
    p = p_verdict(M.exact, SECONDS)
    form = definiteness(M)
    return {
        "n": M.exact.nrows(),
        "rank": {"exact": int(M.exact.rank())},
        "definiteness": {"positive_direction": form.positive_direction, "negative_direction": form.negative_direction},
        "p_matrix": {"verdict": p.verdict, "tree": None if p.tree is None else as_lines(p.tree)},
        "classes": class_entries(matrix_classes(M.exact, clock() + SECONDS, p)),
        "solutions": solutions_entry(M.exact, q.exact.entries(), clock() + SECONDS, p.verdict == "P"),
    }


def truths(M: Rows, q: list[Fraction] | None) -> dict[str, Any]:
    """The verdict on everything that a certificate may claim, by definition."""
    rows = definitions.whole(M)
    found: dict[str, Any] = {name: "yes" if value else "no" for name, value in definitions.truth(rows).items()}
    found["rank"] = definitions.rank(rows)
    found["indefinite"] = "yes" if definitions.is_indefinite(rows) else "no"
    if q is not None:
        together = definitions.whole([[*row, c] for row, c in zip(M, q, strict=True)])
        found["solutions"] = definitions.solution_count([row[:-1] for row in together], [row[-1] for row in together])
    return found


def damaged(value: Any, chance: random.Random) -> Any:
    """The same with one number, text or entry changed, exchanged with another or left out, somewhere inside."""
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        if chance.random() < 0.03:
            return {other: x for other, x in value.items() if other != key}
        return {**value, key: damaged(value[key], chance)}
    if isinstance(value, list) and value:
        k, j = chance.randrange(len(value)), chance.randrange(len(value))
        way = chance.random()
        if way < 0.1:
            return value[:k] + value[k + 1 :]
        if way < 0.25:
            return [value[j] if i == k else value[k] if i == j else x for i, x in enumerate(value)]
        if way < 0.3:
            return [*value, value[k]]
        return [*value[:k], damaged(value[k], chance), *value[k + 1 :]]
    return _another(value, chance)


def _another(value: Any, chance: random.Random) -> Any:
    """Near to the value, or anything."""
    if isinstance(value, str) and chance.random() < 0.7:
        if value in ("yes", "no"):
            return "no" if value == "yes" else "yes"
        try:
            x = Fraction(value)
        except (ValueError, ZeroDivisionError):
            return chance.choice([*KEYWORDS, *definitions.NAMES])
        unit = Fraction(1, x.denominator)
        return str(chance.choice([-x, x + unit, x - unit, 2 * x, x / 3, Fraction(0)]))
    if type(value) is int and chance.random() < 0.7:
        return value + chance.choice((-1, 1))
    return chance.choice(["1", "-1", "0", 0, 1, 2, -1, None, True, 1.5, "1/0", [], {}, "infinite", "no", "yes"])


KEYWORDS = ("entries", "implication", "tree", "ldl", "split", "cones", "repetition", "P", "branch", "minors", "none")


class Stress:
    """Counts of what was tried, and the failures."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []

    def fail(self, what: str, document: Any) -> None:
        self.counts[what] += 1
        if len(self.failures) < SHOWN:
            self.failures.append(f"{what}: {document}")
            print(self.failures[-1], file=sys.stderr, flush=True)

    def one(self, rows: Rows, q: list[Fraction]) -> Document:
        """One matrix: its certificate, after the verdicts and the certificate were compared with the truth."""
        M, vector = written(rows), written([[x] for x in q])
        result, true = verdicts(M, vector), truths(rows, q)
        found = {name: entry["verdict"] for name, entry in result["classes"].items()}
        found["solutions"] = result["solutions"]["count"]
        found["rank"] = result["rank"]["exact"]
        both = result["definiteness"]["positive_direction"] and result["definiteness"]["negative_direction"]
        found["indefinite"] = "yes" if both else "no"
        said = [[str(x) for x in row] for row in rows], [str(x) for x in q]
        for name, verdict in found.items():
            self.counts["verdicts"] += 1
            if verdict in (None, "undecided"):
                self.fail("undecided", (name, *said))
            elif verdict != true[name]:
                self.fail("FALSE VERDICTS", (name, verdict, *said))
        document = json.loads(json.dumps(certificate(M, vector, result, SECONDS)))
        claimed = {claim["about"] for claim in document["claims"] + document["left_out"]}
        for name, verdict in found.items():
            if name not in claimed and verdict not in (None, "undecided") and (name, verdict) != ("indefinite", "no"):
                self.fail("verdicts without a claim", (name, *said))
        for left in document["left_out"]:
            self.fail("claims left out", (left, *said))
        for finding in verify(document):
            self.counts["claims"] += 1
            if finding.result != VERIFIED:
                self.fail(f"claims {finding.result}", (finding, *said))
        self._damage(document, true)
        if self.counts["matrices"] % LIES == 0:
            self.judge(with_lies(document, self.chance), true)
        self.counts["matrices"] += 1
        return document

    def _damage(self, whole: Document, true: dict[str, Any]) -> None:
        """Once anywhere, with the digest left; once in a claim or, seldom, in M or q, with the digest mended."""
        broken = damaged({key: value for key, value in whole.items() if key != "digest"}, self.chance)
        if _text(broken) != _text({key: value for key, value in whole.items() if key != "digest"}):
            self.counts["damaged"] += 1
            if self._verified({**broken, "digest": whole["digest"]}) is not None:
                self.fail("DAMAGE NOT NOTICED", broken)
        where = self.chance.choice(("claims", "claims", "long", "long", "problem"))
        if where == "long":
            where, k = "claims", self.chance.choice(_with_numbers(whole["claims"]))
            broken = {**whole, where: [damaged(x, self.chance) if i == k else x for i, x in enumerate(whole[where])]}
        else:
            broken = {**whole, where: damaged(whole[where], self.chance)}
        if _text(broken) != _text(whole):
            self.counts["damaged and mended"] += 1
            self.judge(with_digest(broken), true if where == "claims" else None)

    def _verified(self, document: Document) -> list[Finding] | None:
        """None where the whole is refused."""
        try:
            return verify(document)
        except RefusedError:
            return None
        except Exception as error:
            self.fail("CRASHES OF THE CHECKER", (repr(error), document))
            return None

    def judge(self, document: Document, true: dict[str, Any] | None = None) -> None:
        """Whatever holds in a document with a fitting digest is true of its M and q."""
        findings = self._verified(document)
        if findings is None:
            self.counts["damaged wholes refused"] += 1
            return
        if true is None:
            M, q = document["problem"]["M"], document["problem"].get("q")
            true = truths([[Fraction(x) for x in row] for row in M], None if q is None else [Fraction(x) for x in q])
        for finding in findings:
            if finding.result != VERIFIED:
                self.counts["damaged claims refused"] += 1
            elif str(true[finding.about]) != finding.claim:
                self.fail("FALSE CLAIMS HOLD", (finding, document))
            else:
                self.counts["true claims hold"] += 1


def _with_numbers(claims: list[Document]) -> list[int]:
    """The claims whose support is a tree, a cover, factors or points."""
    return [k for k, claim in enumerate(claims) if {"tree", "cover", "L", "points"} & set(claim["support"])] or [0]


def with_lies(document: Document, chance: random.Random) -> Document:
    """Every class claimed and denied on the support of every other; numbers of solutions with points left out."""
    supports = [claim["support"] for claim in document["claims"]]
    claims = [
        {"about": name, "verdict": verdict, "support": support}
        for name in definitions.NAMES
        for verdict in ("yes", "no")
        for support in supports
    ]
    solutions = next(claim["support"] for claim in document["claims"] if claim["about"] == "solutions")
    points, cover = solutions["points"], solutions.get("cover", [["point", 0, ["0"] * len(document["problem"]["M"])]])
    for count in range(len(points)):
        kept = chance.sample(points, count)
        closed = [["point", chance.randrange(count or 1), x[2]] if x[0] == "point" else x for x in cover]
        claims.append({"about": "solutions", "verdict": count, "support": {"points": kept, "cover": closed}})
    claims.append({"about": "solutions", "verdict": "infinite", "support": {"points": points[:2]}})
    lying = {**document, "claims": [*document["claims"], *claims]}
    return with_digest(lying)


def _text(document: Any) -> str:
    return json.dumps(document, sort_keys=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor time after which to stop")
    parser.add_argument("--all", action="store_true", help="all matrices of order 2 (-3..3) and 3 (-1..1) instead")
    given = parser.parse_args()
    np.seterr(all="ignore")
    stress, begun, said = Stress(given.seed), process_time(), 0.0
    matrices = every_matrix() if given.all else random_matrices(stress.chance)
    for k, (_, rows) in enumerate(matrices):
        spent = process_time() - begun
        if (k == given.count and not given.all) or spent > 60 * given.minutes:
            break
        if spent > said + 10:
            said = spent
            print(f"{k} matrices in {spent:.0f} s: {dict(stress.counts)}", file=sys.stderr, flush=True)
        stress.one(rows, right_hand_side(rows, stress.chance))
    spent = process_time() - begun
    for name, count in stress.counts.items():
        print(f"{count:>10}  {name}")
    print(f"{stress.counts['matrices'] / spent:.0f} matrices per second of processor time, {spent:.0f} s")
    sys.exit(1 if stress.failures else 0)


if __name__ == "__main__":
    main()
