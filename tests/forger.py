"""Forged certificates: `python -m tests.forger --count 100000 --seed 1 [--minutes 30]`.

True certificates of every kind of claim on small problems are changed in one or two places: fields, numbers, indices,
signs, last digits, bounds, names, order, types, the problem itself; the digest is made to fit. Whatever the verifier
then accepts must be true of the problem, by `tests.definitions`, which shares no code with it and decides by the
definitions in exact arithmetic. A certificate whose problem was changed is also verified as one of the true problem.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from time import process_time
from typing import Any

import numpy as np
from flint import fmpq_mat

import workbench as wb
from tests import definitions
from tests.coulomb_counts import number_of_solutions
from tests.proofs import document as certificate_of
from tests.proofs import with_digest
from tests.stress import KINDS, Document, random_matrices, right_hand_side, truths
from tests.supports import COUNTS, SUPPORTS
from workbench.certificates.coulomb_count import COUNT
from workbench.certificates.coulomb_uniqueness import EVERY_Q
from workbench.certificates.outcomes import VERIFIED, Finding, RefusedError
from workbench.certificates.problem import ProblemData, read_problem
from workbench.certificates.verify import verify
from workbench.matrices.linear_algebra.factors import factors
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem

SECONDS = 20.0
"""Allowed for one check, which takes milliseconds."""
SHOWN = 20
"""Failures that are printed."""
KEPT_KINDS = [kind for kind in KINDS if kind not in ("near singular", "scaled", "doubles", "decimals")]
"""Kinds of matrices with short numbers, for which the definitions are quick."""
KEYWORDS = (
    "entries", "implication", "tree", "ldl", "split", "cholesky", "cones", "repetition", "equations", "P", "branch",
    "blocks", "diagonal", "quotient", "transpose", "minors", "none", "point", "cone", "empty", "interior", "polyhedral",
    "definite", "solution", "self-stress", "cover", "no impulse",
    "enclosure", "open", "stick", "slip", "slip+", "slip-", "frictionless", "modes", "directions",
)  # fmt: skip
FIELDS = ("x", "y", "d", "q", "z", "r", "by", "tree", "cover", "index_set", "minor", "points", "factors", "diagonal",
          "modes", "centre", "radii", "C")  # fmt: skip
ABOUT = (
    *definitions.NAMES, "rank", "indefinite", "solutions", "distance_to_degenerate", "distance_to_non_p", "uniqueness",
    EVERY_Q, COUNT, "Coulomb's law", "cone problem",
)  # fmt: skip
VERDICTS = ("yes", "no", "unique", "not unique", "exists", "none", "infinite", 0, 1, 2, 3)

Path = tuple[str | int, ...]


def signed(problem: Document, claims: list[Document]) -> Document:
    """A certificate of these claims."""
    return certificate_of(problem, *claims)


def true_certificates(count: int, chance: random.Random) -> list[Document]:
    """Certificates of one claim, and what it rests on, in turn from every kind of claim, verdict and support."""
    pools: dict[tuple, list[Document]] = {}
    made = _made(chance)
    for _ in range(count):
        for document in _parts(next(made)):
            claim = document["claims"][0]
            support = claim["support"]
            form = (support.get("by") or support.get("kind"), *sorted(support), *_nodes(support))
            pools.setdefault((claim["about"], str(claim["verdict"])[:4], form), []).append(document)
    for document in _written_by_hand():
        pools.setdefault(("by hand", json.dumps(document)), []).append(document)
    for pool in pools.values():
        chance.shuffle(pool)
    found: list[Document] = []
    while len(found) < count:
        found += [pool.pop() for pool in pools.values() if pool]
        if not any(pools.values()):
            break
    return found


def _nodes(support: Document) -> tuple[str, ...]:
    return tuple(sorted({node[0] for node in support.get("tree", [])}))


def _parts(document: Document) -> Iterator[Document]:
    """Every claim as a certificate, before the claims that it rests on."""
    claims = {claim["about"]: claim for claim in document["claims"]}
    for about in claims:
        needed, k = [about], 0
        while k < len(needed):
            support, name = claims[needed[k]]["support"], needed[k]
            others = [*support.get("from", []), *([support["conclusion"]] if "conclusion" in support else [])]
            others += ["P"] if name == "distance_to_non_p" or support.get("by") == "P" else []
            needed += [other for other in others if other not in needed]
            k += 1
        yield signed(document["problem"], [claims[name] for name in needed])


def _made(chance: random.Random) -> Iterator[Document]:
    """Certificates as the library makes them: three of matrices or LCPs, then one with bounds, then two of friction."""
    matrices = (rows for kind, rows in random_matrices(chance) if kind in KEPT_KINDS)
    while True:
        for with_q in (True, True, False):
            M = next(matrices)
            q = [str(x) for x in right_hand_side(M, chance)]
            found = wb.check([[str(x) for x in row] for row in M], rhs=q if with_q else None, seconds=SECONDS)
            yield _read(found.certificate(SECONDS))
        n = chance.choice((1, 2, 3))
        M = [[float(chance.randint(-2, 2) + 2 * (i == j)) for j in range(n)] for i in range(n)]
        lower, upper = zip(*(_bounds(chance) for _ in range(n)), strict=True)
        problem: Any = MLCP(np.array(M), np.array([float(chance.randint(-2, 2)) for _ in M]), lower, upper)
        if problem.kind == "MLCP":
            yield _read(wb.check(problem, seconds=SECONDS).certificate(SECONDS))
        for problem in (_friction(chance, 1), _friction(chance, chance.choice((1, 2)))):
            yield _read(wb.check(problem, seconds=SECONDS).certificate(SECONDS))


def _bounds(chance: random.Random) -> tuple[float, float]:
    low, inf = float(chance.randint(-2, 1)), float("inf")
    return chance.choice([(-inf, inf), (low, inf), (-inf, low), (low, low), (low, low + 1), (0.0, inf)])


def _friction(chance: random.Random, d: int) -> FrictionProblem:
    """Two contacts in the plane or one in space; W = J J^T, sometimes singular, sometimes with another sign."""
    r = chance.choice((1, 2)) if d == 1 else 1
    n = r * (1 + d)
    columns = chance.choice((1, n - 1, n, n))
    J = np.array([[float(chance.randint(-1, 1)) for _ in range(columns)] for _ in range(n)])
    W = J @ J.T - 2.0 * np.eye(n) * (chance.random() < 0.2)
    q = np.array([float(chance.randint(-2, 1)) for _ in range(n)])
    return FrictionProblem(W, q, np.array([chance.choice((0.0, 0.5, 0.5, 1.0)) for _ in range(r)]), d)


def _read(document: Document) -> Document:
    """As it comes back from a file."""
    return json.loads(json.dumps(document))


def _written_by_hand() -> Iterator[Document]:
    """Supports that the library writes for larger problems only."""
    for name, verdict, M, good, _ in SUPPORTS:
        if good is not None:
            problem = {"M": [[str(x) for x in row] for row in M]}
            yield _read(signed(problem, [{"about": name, "verdict": verdict, "support": good}]))
    for M, q, count, support in COUNTS:
        problem = {"M": [[str(x) for x in row] for row in M], "q": q}
        yield _read(signed(problem, [{"about": "solutions", "verdict": count, "support": support}]))
    for W, d in (([[2, 1], [1, 2]], 1), ([[3, 1, 0], [-1, 2, 1], [0, 1, 2]], 2)):
        S = fmpq_mat(W) + fmpq_mat(W).transpose()
        support = {"kind": "definite", "factors": factors(S, True, float("inf"))}
        problem = {"W": [[str(x) for x in row] for row in W], "q": ["-1", *["1"] * d], "mu": ["1/2"], "d": d}
        yield _read(signed(problem, [{"about": law, "verdict": "exists", "support": support} for law in ABOUT[-2:]]))
    for law, M, W, s, verdict in (
        ("distance_to_degenerate", [["-2"]], ["-2"], "4", ["2", "2"]),
        ("distance_to_degenerate", [["2", "0"], ["0", "-2"]], ["2", "-2"], "4", ["2", "2"]),
        ("distance_to_degenerate", [["2", "1"], ["-1", "2"]], ["2", "2"], "4", ["3/2", "2"]),
    ):
        support = {"diagonal": {"W": W, "s": s}, "index_set": [0], "x": ["1"]}
        yield _read(signed({"M": M}, [{"about": law, "verdict": verdict, "support": support}]))


# What is changed. Each takes a value inside a certificate and gives another, or the same where it does not apply.


def _rational(value: Any) -> Fraction | None:
    try:
        return Fraction(value) if type(value) is str else None
    except (ValueError, ZeroDivisionError):
        return None


def _number(value: Any, chance: random.Random) -> Any:
    x = _rational(value)
    if x is None:
        return value
    unit = Fraction(1, x.denominator)
    return str(chance.choice([x + unit, x - unit, 2 * x, x / 2, Fraction(0), x + 1, 1 / x if x else x]))


def _sign(value: Any, _: random.Random) -> Any:
    x = _rational(value)
    return str(-x) if x else -value if type(value) is int else value


def _rounding(value: Any, chance: random.Random) -> Any:
    x = _rational(value)
    return value if x is None else str(x + chance.choice((-1, 1)) * Fraction(1, 10 ** chance.choice((3, 12))))


def _index(value: Any, chance: random.Random) -> Any:
    return value + chance.choice((-1, 1)) if type(value) is int else value


def _name(value: Any, chance: random.Random) -> Any:
    return chance.choice(KEYWORDS) if type(value) is str and _rational(value) is None else value


def _order(value: Any, chance: random.Random) -> Any:
    if type(value) is not list or len(value) < 2:
        return value
    i, j = chance.sample(range(len(value)), 2)
    return [value[j] if k == i else value[i] if k == j else x for k, x in enumerate(value)]


def _length(value: Any, chance: random.Random) -> Any:
    if type(value) is not list or not value:
        return value
    k = chance.randrange(len(value))
    return chance.choice([value[:k] + value[k + 1 :], [*value, value[k]], value[: k + 1] + value[k:]])


def _field(value: Any, chance: random.Random) -> Any:
    if type(value) is not dict:
        return value
    key, new = chance.choice([*value, "x"]), chance.choice(FIELDS)
    rest = {other: x for other, x in value.items() if other != key}
    return chance.choice([rest, {**rest, new: value.get(key)}, {**value, new: chance.choice(["1", ["1"], 0, "P"])}])


def _type(value: Any, chance: random.Random) -> Any:
    texts = [f"{value}/1", f" {value}", f"+{value}", f"{value}.0", f"{value}e0"] if _rational(value) is not None else []
    return chance.choice([None, True, False, 1.5, float("nan"), "", "1/0", "NaN", [], {}, [value], *texts])


CHANGES: dict[str, Callable[[Any, random.Random], Any]] = {
    "number": _number, "sign": _sign, "rounding": _rounding, "index": _index, "keyword": _name, "order": _order,
    "length": _length, "field": _field, "type": _type,
}  # fmt: skip


def sites(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where anything stands inside."""
    yield path
    if isinstance(value, dict | list):
        for key, x in value.items() if isinstance(value, dict) else enumerate(value):
            yield from sites(x, (*path, key))


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def with_value(value: Any, path: Path, new: Any) -> Any:
    """The same with another value at that place."""
    if not path:
        return new
    key, *rest = path
    inner = with_value(value[key], tuple(rest), new)
    return {**value, key: inner} if isinstance(value, dict) else [*value[:key], inner, *value[key + 1 :]]


def changed(document: Document, chance: random.Random) -> tuple[str, Document]:
    """The certificate with one change somewhere inside, and the kind of change."""
    places = [path for path in sites(document) if path and path[0] != "digest"]
    while True:
        kind = chance.choice(["claim name", "verdict", "problem", "problem", *CHANGES])
        fitting = [path for path in places if _fits(path, kind)] or places
        for path in chance.choices(fitting, k=50):
            value = at(document, path)
            if kind == "claim name":
                new = chance.choice(ABOUT)
            elif kind == "verdict" and not isinstance(value, list):
                new = chance.choice(VERDICTS)
            else:
                change = CHANGES.get(kind) or chance.choice(list(CHANGES.values()))
                new = change(value, chance)
            if json.dumps(new) != json.dumps(value):
                return kind, with_value(document, path, new)


def _fits(path: Path, kind: str) -> bool:
    """Whether this kind of change is made there."""
    if kind == "claim name":
        return path[-1] == "about"
    if kind in ("verdict", "problem"):
        return kind in path
    return not {"verdict", "problem"} & set(path)


@lru_cache(maxsize=200)
def _truths(problem: str) -> dict[str, Any]:
    M, q = (json.loads(problem).get(key) for key in "Mq")
    return truths(_exact(M), None if q is None else [Fraction(x) for x in q])


def _exact(M: list[list[str]]) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in M]


def truth(problem: Document, claim: Document) -> bool | None:
    """Whether the claim is true of the problem, by definition; None where the definitions cannot tell."""
    about, verdict = claim["about"], claim["verdict"]
    if about == EVERY_Q:
        numbers = numbers_of_solutions(json.dumps({key: problem[key] for key in ("W", "mu", "d")}))
        if verdict == "unique":
            return numbers <= {1}
        return True if verdict == "not unique" and max(numbers, default=0) > 1 else None
    if about == COUNT:
        W = np.array(_exact(problem["W"]), dtype=float)
        q, mu = (np.array([Fraction(x) for x in problem[key]], dtype=float) for key in ("q", "mu"))
        number = number_of_solutions(W, q, mu, problem["d"])
        return None if number is None else type(verdict) is int and verdict == number
    if "W" in problem:
        found = has_solution(problem, about == "Coulomb's law")
        return None if found is None else verdict == ("exists" if found else "none")
    M = _exact(problem["M"])
    if about == "uniqueness":
        lower, upper = ([None if x is None else Fraction(x) for x in problem[key]] for key in ("lower", "upper"))
        pairs = zip(lower, upper, strict=True)
        kinds = ["free" if a is b is None else "fixed" if a == b else "bounded" for a, b in pairs]
        free, bounded = ([i for i, kind in enumerate(kinds) if kind == wanted] for wanted in ("free", "bounded"))
        return verdict == ("unique" if definitions.is_unique(definitions.whole(M), free, bounded) else "not unique")
    if about.startswith("distance"):
        low, high = (None if x is None else Fraction(x) for x in verdict)
        if about == "distance_to_non_p" and _truths(json.dumps(problem))["P"] == "no":
            return low <= 0 and (high is None or high >= 0)
        return definitions.encloses(M, low, high)
    found = _truths(json.dumps(problem))[about]
    return type(verdict) is type(found) and verdict == found


@lru_cache(maxsize=200)
def numbers_of_solutions(problem: str) -> frozenset[int]:
    """The numbers of solutions of a friction problem that occur among fifty q, most of them with a known solution."""
    given = json.loads(problem)
    W, mu = np.array(_exact(given["W"]), dtype=float), np.array([Fraction(x) for x in given["mu"]], dtype=float)
    rng, found = np.random.default_rng(0), set()
    for k in range(50):
        p = rng.normal(size=len(W)) * rng.integers(0, 2, len(W))
        q = rng.normal(size=len(W)) if k % 5 == 0 else rng.normal() * rng.integers(0, 2, len(W)) - W @ p
        found.add(number_of_solutions(W, q, mu, given["d"]))
    return frozenset(x for x in found if x is not None)


def has_solution(problem: Document, coulomb: bool) -> bool | None:
    """Whether a friction problem has one. In space, of one contact, None unless definiteness or a self-stress tells."""
    W, q, mu = _exact(problem["W"]), *([Fraction(x) for x in problem[key]] for key in ("q", "mu"))
    if problem["d"] == 1:
        return definitions.has_planar_solution(W, q, mu, coulomb)
    slip = q[1] ** 2 + q[2] ** 2
    if q[0] >= 0 and (coulomb or q[0] ** 2 >= mu[0] ** 2 * slip):
        return True
    S = definitions.whole([[W[i][j] + W[j][i] for j in range(3)] for i in range(3)])
    minors = [definitions.determinant(definitions.part(S, a)) for a in definitions.index_sets(3)]
    if min(minors) > 0:
        return True
    if min(minors) < 0 or definitions.rank(S) != 2 or definitions.turned(W) != W:
        return None
    # W is semidefinite, and its null space a line: whether the line meets the cone K, and on which side q is.
    columns = definitions.adjugate(S)
    e = next([Fraction(x) for x in row] for row in columns if any(row))
    e = e if e[0] >= 0 else [-x for x in e]
    outside = e[1] ** 2 + e[2] ** 2 > (mu[0] * e[0]) ** 2
    work = definitions.dot(q, e)
    if outside or work > 0:
        return True
    return False if work < 0 and (not coulomb or not any(e[1:])) else None


class Forger:
    """Counts of what was forged, by kind of change, and the failures."""

    def __init__(self, seed: int, certificates: int) -> None:
        self.chance = random.Random(seed)
        self.counts: dict[str, Counter[str]] = {}
        self.failures: list[str] = []
        self.originals = true_certificates(certificates, self.chance)
        for document in self.originals:
            for claim, finding in zip(document["claims"], verify(document), strict=True):
                if finding.result != VERIFIED or truth(document["problem"], claim) is False:
                    self.fail("a true certificate is refused", (finding, document))

    def fail(self, what: str, document: Any) -> None:
        self.failures.append(f"{what}: {document}")
        if len(self.failures) <= SHOWN:
            print(self.failures[-1], file=sys.stderr, flush=True)

    def one(self) -> None:
        """One forged certificate, with one change or two."""
        true = self.chance.choice(self.originals)
        kind, forged = changed(true, self.chance)
        if self.chance.random() < 0.4:
            kind, forged = "two at a time", changed(forged, self.chance)[1]
            if json.dumps(forged) == json.dumps(true):
                return
        forged = with_digest(forged)
        results = [self.judged(forged, forged.get("problem"), None)]
        if json.dumps(forged.get("problem")) != json.dumps(true["problem"]):
            results.append(self.judged(forged, true["problem"], read_problem(true["problem"])))
        counts = self.counts.setdefault(kind, Counter())
        counts["mutants"] += 1
        counts[max(results, key=OUTCOMES.index)] += 1

    def judged(self, forged: Document, problem: Any, given: ProblemData | None) -> str:
        """What came of the forged certificate, as one of this problem."""
        findings = self._verified(forged, given)
        if not findings:
            return "refused"
        if any(finding.result != VERIFIED for finding in findings):
            accepted = "refused"
        else:
            accepted = "accepted, true"
        for claim, finding in zip(forged["claims"], findings, strict=True):
            if finding.result == VERIFIED:
                true = truth(problem, claim)
                if true is False:
                    self.fail("ACCEPTED FALSELY", (finding, forged, given))
                    return "accepted falsely"
                if true is None and accepted != "refused":
                    accepted = "accepted, undecided"
        return accepted

    def _verified(self, document: Document, given: ProblemData | None) -> list[Finding]:
        """Nothing where the whole is refused."""
        try:
            return verify(document, given, SECONDS)
        except RefusedError:
            return []
        except Exception as error:
            self.fail("CRASHES OF THE VERIFIER", (repr(error), document))
            return []

    def table(self) -> str:
        """Markdown: mutants by kind of change, and what came of them."""
        rows = [(kind, *(str(counts[name]) for name in ("mutants", *OUTCOMES))) for kind, counts in self.counts.items()]
        total = sum(self.counts.values(), Counter())
        rows = [*sorted(rows), ("all", *(str(total[name]) for name in ("mutants", *OUTCOMES)))]
        head = ("change", "mutants", *OUTCOMES)
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("-",) * len(head), *rows))


OUTCOMES = ("refused", "accepted, true", "accepted, undecided", "accepted falsely")
"""From best to worst."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--certificates", type=int, default=300, help="true ones that are changed; default 300")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor time after which to stop")
    given = parser.parse_args()
    np.seterr(all="ignore")
    forger, begun, said = Forger(given.seed, given.certificates), process_time(), 0.0
    for k in range(given.count):
        spent = process_time() - begun
        if spent > 60 * given.minutes:
            break
        if spent > said + 30:
            said = spent
            print(f"{k} mutants in {spent:.0f} s, {len(forger.failures)} failures", file=sys.stderr, flush=True)
        forger.one()
    print(f"{len(forger.originals)} true certificates\n\n{forger.table()}")
    sys.exit(1 if forger.failures else 0)


if __name__ == "__main__":
    main()
