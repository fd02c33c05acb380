"""Each thing that the checker of certificates looks at: what just suffices is accepted, what just fails is refused."""

import random
from fractions import Fraction

import pytest

from tests import definitions
from tests.inequalities import feasible
from tests.proofs import LAWS, NOT_VERIFIED, REFUTED, counts, document, proves, result, shows, texts
from tests.stress import damaged
from tests.supports import COUNTS, FALSE_COUNTS, MINORS, ONE, SUPPORTS, cholesky, cones, ldl, tree
from workbench.certificates.inequalities import is_feasible
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.verify import verify

P_OF_ONE = {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["minors"]]}}
PD_OF_ONE = {"about": "PD", "verdict": "yes", "support": {"by": "ldl", "order": [0], "L": [[]], "D": ["2"]}}


def exact(rows):
    return [[Fraction(x) for x in row] for row in rows]


@pytest.mark.parametrize(("name", "verdict", "M", "good", "bad"), SUPPORTS)
def test_what_just_suffices_proves_and_what_just_fails_does_not(name, verdict, M, good, bad):
    truth = definitions.truth(definitions.whole(exact(M)))[name] == (verdict == "yes")
    assert good is None or truth
    assert good is None or proves(name, verdict, M, good)
    for support in bad:
        assert not proves(name, verdict, M, support), support


@pytest.mark.parametrize(
    ("name", "M"),
    [
        ("Z", [[1, "1/9"], [0, 1]]),
        ("copositive", [[0, -1], ["9/10", 0]]),
        ("copositive", [[-1, 0], [0, 1]]),
        ("strictly_copositive", [[1, 0], [0, 0]]),
        ("strictly_copositive", [[1, -1], ["9/10", 1]]),
        ("P", [[0]]),
    ],
)
def test_signs_of_entries_that_prove_nothing(name, M):
    assert not proves(name, "yes", M, {"by": "entries"})


def test_dominance_needs_the_signs_of_z():
    assert not proves("M", "yes", [[1, 5], [5, 1]], {"d": ["1", "1"]})
    assert not proves("H_plus", "yes", [[1, 5], [5, 1]], {"d": ["1", "1"]})
    assert not proves("H_plus", "yes", [[-2, 1], [1, -2]], {"d": ["1", "1"]})


def test_covers_that_suffice_and_covers_that_do_not():
    for M, q, count, support in COUNTS:
        assert definitions.solution_count(M, [int(x) for x in q]) == count
        assert counts(M, q, count, **support), (M, q)
        cover = support.get("cover")
        if cover:
            assert not counts(M, q, count, points=support["points"], cover=cover[:-1])
            assert not counts(M, q, count, points=support["points"], cover=[*cover, cover[-1]])
            assert not counts(M, q, count, points=support["points"])
    for M, q, count, support in FALSE_COUNTS:
        assert not counts(M, q, count, **support), (M, q, support)
    assert counts([[1]], ["0"], 1, [P_OF_ONE], by="P", points=[["0"]])
    assert not counts([[1]], ["0"], 1, [P_OF_ONE], by="P", points=[["1"]])
    assert not counts([[1]], ["0"], 0, [P_OF_ONE], by="P", points=[])
    assert not counts([[1]], ["0"], 1, by="P", points=[["0"]])


@pytest.mark.thorough
def test_a_random_support_proves_nothing_false():
    """Whatever vectors, entries and index sets are given: what is accepted is true."""
    chance, accepted = random.Random(3), 0
    numbers = ("-1", "0", "0", "1", "1", "2")
    for M, _ in small(150, 4):
        n, truth = len(M), definitions.truth(M)
        for _ in range(3):
            vectors = {key: [chance.choice(numbers) for _ in range(n)] for key in "xydqz"}
            some = chance.sample(range(n), chance.randint(0, n))
            x, y, z, d = (vectors[key] for key in "xyzd")
            none = ["none", y]
            for support in (
                *({key: vectors[key]} for key in "xyd"),
                {"entry": [chance.randrange(n), chance.randrange(n)]},
                {"index_set": some},
                {"q": vectors["q"], "z": z, "cover": chance.choice([[none], [["branch", 0], none, ["none", x]]])},
                cones(["cone", some], *([["empty", y[:1]]] * n)),
                tree(chance.choice([["diagonal", d], MINORS, ["quotient", M]])),
                {"by": "entries"},
                {**ldl(some, [["1"] * i for i in range(n)], d), "by": chance.choice(("ldl", "split"))},
                cholesky([0] * n, 0, [[int(i == j) for j in range(i + 1)] for i in range(n)]),
            ):
                for name in definitions.NAMES:
                    for verdict in ("yes", "no"):
                        if proves(name, verdict, M, support):
                            accepted += 1
                            assert truth[name] == (verdict == "yes"), (name, verdict, M, support)
    assert accepted > 2000


def reshaped(value, depth=4):
    """The same with one part, down to some depth, of a shape that does not fit."""
    yield from (1, None, "x", {}, [], [[]], [None], [1, 2, 3, 4, 5])
    if depth and isinstance(value, list):
        for k, x in enumerate(value):
            yield from ([*value[:k], other, *value[k + 1 :]] for other in reshaped(x, depth - 1))
            yield value[:k] + value[k + 1 :]


def tried(problem, about, verdict, supports):
    """Supports that may be of any shape, many in a document; one by one where a document is refused for one of them."""
    claims = [{"about": about, "verdict": verdict, "support": support} for support in supports]
    for k in range(0, len(claims), 50):
        try:
            verify(document(problem, *claims[k : k + 50]))
        except RefusedError:
            for support in supports[k : k + 50]:
                result(problem, about, verdict, support)


def test_a_support_of_any_shape_is_refused_and_nothing_breaks():
    chance = random.Random(8)
    cases = [({"M": texts(M)}, name, verdict, good, 20) for name, verdict, M, good, _ in SUPPORTS if good]
    cases += [({"M": texts(M), "q": texts(q)}, "solutions", count, support, 60) for M, q, count, support in COUNTS]
    for problem, about, verdict, good, times in cases:
        tried(problem, about, verdict, [{**good, key: other} for key, x in good.items() for other in reshaped(x)])
        values = ({key: damaged(value, chance) for key, value in good.items()} for _ in range(times))
        tried(problem, about, verdict, [damaged(x, chance) for x in values])
    assert not proves("P", "yes", ONE, {"by": "implication", "from": "PD"}, [PD_OF_ONE])
    assert not proves("P", "yes", ONE, {"by": "implication", "from": ["PD", ["PD"]]}, [PD_OF_ONE])
    assert not proves("P", "no", ONE, {"by": "implication", "from": [], "conclusion": ["P0"]})
    assert not proves("PD", "no", ONE, {"by": "implication", "from": [], "conclusion": "Z"})
    assert not proves("beauty", "no", ONE, {"x": ["1"]})
    claim = {"about": "P", "verdict": "yes", "support": tree(MINORS)}
    (found,) = verify(document({"M": [[str(int(i == j)) for j in range(17)] for i in range(17)]}, claim))
    assert "too many to repeat" in found.reason
    for powers, bits in (([0, 10**9], 0), ([0, -(10**9)], 0), ([0, 0], -(10**9))):
        claim = {"about": "PD", "verdict": "yes", "support": cholesky(powers, bits, [[1], [0, 1]])}
        (found,) = verify(document({"M": [["1", "0"], ["0", "1"]]}, claim))
        assert "a power of two exceeds" in found.reason
    with pytest.raises(RefusedError, match="elimination makes more"):
        is_feasible([], exact([[sign, k] for k in range(150) for sign in (1, -1)]))


def small(count, seed, orders=(1, 2, 3, 3)):
    """Matrices of whole numbers and of rational ones, often singular."""
    chance = random.Random(seed)
    for _ in range(count):
        n, most = chance.choice(orders), chance.choice((1, 1, 3))
        M = [[chance.randint(-most, most) for _ in range(n)] for _ in range(n)]
        way = chance.random()
        if way < 0.3:
            M = [[sum(x * y for x, y in zip(u[:-1] or u, v[:-1] or v, strict=True)) for v in M] for u in M]
        elif way < 0.6:
            M = [[abs(x) if i == j or chance.random() < 0.5 else x for j, x in enumerate(r)] for i, r in enumerate(M)]
        if chance.random() < 0.3:
            M = [[(x if i == j else x - M[j][i]) for j, x in enumerate(row)] for i, row in enumerate(M)]
        yield M, chance


@pytest.mark.thorough
def test_what_is_repeated_over_all_index_sets_agrees_with_the_definitions():
    seen = set()
    for M, _ in small(400, 1):
        truth = definitions.truth(M)
        for name in (
            "P0", "nondegenerate", "E0", "E", "R0", "copositive", "strictly_copositive", "copositive_plus",
            "column_sufficient", "row_sufficient",
        ):  # fmt: skip
            assert proves(name, "yes", M, {"by": "repetition"}) == truth[name], (name, M)
            seen.add((name, truth[name]))
        assert proves("P", "yes", M, tree(MINORS)) == truth["P"]
    assert len(seen) == 20


def test_inequalities_by_elimination_agree_with_another_elimination():
    chance, found = random.Random(5), []
    for _ in range(200):
        columns = chance.randint(1, 3)
        rows = [[chance.randint(-2, 2) for _ in range(columns + 1)] for _ in range(chance.randint(1, 6))]
        k = chance.randint(0, min(2, len(rows) - 1))
        truth = feasible(rows + [[-x for x in row] for row in rows[:k]])
        assert is_feasible(exact(rows[:k]), exact(rows[k:])) == truth, (rows, k)
        found.append(truth)
    assert 20 < sum(found) < 180


I, NOUGHT, TURN, HALF = [[1, 0], [0, 1]], [[0, 0], [0, 0]], [[1, 1], [-1, 1]], "1/2"
SPACE, TOP = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], {"kind": "polyhedral", "x": ["0", "0", "0"]}

PARADOX = [
    ["branch", 2], ["branch", 3], ["none", ["1", "1/3", "0", "0"]], ["none", ["1", "0", "0", "-1"]],
    ["none", ["1", "1/6", "-1/6", "0"]],
]  # fmt: skip


def kind(name, **vectors):
    return {"kind": name, **vectors}


# Verdict, W, q, mu, tangents, support, and whether it proves that Coulomb's law, and the cone problem, has a solution.
FRICTION = [
    ("exists", NOUGHT, [0, 5], 1, 1, kind("no impulse"), (True, False)),
    ("exists", NOUGHT, [1, 1], 1, 1, kind("no impulse"), (True, True)),
    ("exists", NOUGHT, [1, 2], 1, 1, kind("no impulse"), (True, False)),
    ("exists", NOUGHT, [-1, 0], HALF, 1, kind("no impulse"), (False, False)),
    ("exists", I, [0, 0], 1, 1, kind("interior", x=["2", "1"]), (True, True)),
    ("exists", I, [0, 0], 1, 1, kind("interior", x=["1", "1"]), (False, False)),
    ("exists", I, [0, 0], 0, 1, kind("interior", x=["0", "1"]), (False, False)),
    ("exists", [[-1, 0], [0, 1]], [0, 0], 1, 1, kind("interior", x=["-2", "1"]), (False, False)),
    ("exists", [[0, 1], [1, 0]], [0, 0], 1, 1, kind("interior", x=["1", "2"]), (False, False)),
    ("exists", [[0, 1], [1, 5]], [0, 0], 1, 1, kind("interior", x=["1", "2"]), (False, False)),
    ("exists", I, [0, 0], 1, 1, kind("polyhedral", x=["1", "1"]), (True, True)),
    ("exists", I, [0, 0], 1, 1, kind("polyhedral", x=["1", "2"]), (False, False)),
    ("exists", TURN, [0, 0], 1, 1, kind("polyhedral", x=["1", "1"]), (False, False)),
    ("exists", SPACE, [1, 1, 0], 1, 2, TOP, (False, False)),
    ("exists", SPACE, [0, 1, 1], 0, 2, TOP, (True, True)),
    ("exists", I, [-1, -1], HALF, 1, kind("solution", r=["1", "1/2"]), (True, False)),
    ("exists", I, [-1, "-1/4"], HALF, 1, kind("solution", r=["1", "1/4"]), (True, False)),
    ("exists", I, [-1, 0], HALF, 1, kind("solution", r=["0", "0"]), (False, False)),
    ("exists", I, [0, 0], HALF, 1, kind("solution", r=["0", "0"]), (True, False)),
    ("exists", I, [0, -1], HALF, 1, kind("solution", r=["1", "1/2"]), (False, False)),
    ("exists", I, [-1, 1], HALF, 1, kind("solution", r=["1", "1/2"]), (False, False)),
    ("exists", I, [-1, -1], HALF, 1, kind("solution", r=["1", "1/4"]), (False, False)),
    ("exists", I, [1, 0], HALF, 1, kind("solution", r=["-1", "0"]), (False, False)),
    ("exists", I, [-1, -1], HALF, 1, kind("solution", r=["1", "1"]), (False, False)),
    ("none", NOUGHT, [-1, 0], 1, 1, kind("self-stress", r=["1", "0"]), (True, True)),
    ("none", NOUGHT, [0, 0], 1, 1, kind("self-stress", r=["1", "0"]), (False, False)),
    ("none", NOUGHT, [1, 0], 1, 1, kind("self-stress", r=["-1", "0"]), (False, False)),
    ("none", NOUGHT, [0, -1], 1, 1, kind("self-stress", r=["1", "1"]), (False, True)),
    ("none", NOUGHT, [0, -1], 1, 1, kind("self-stress", r=["1", "2"]), (False, False)),
    ("none", I, [-1, 0], 1, 1, kind("self-stress", r=["1", "0"]), (False, False)),
    ("none", [[0, 0], [1, 0]], [-1, 0], 1, 1, kind("self-stress", r=["1", "0"]), (True, True)),
    ("none", [[0, 1], [0, 0]], [-1, 0], 1, 1, kind("self-stress", r=["1", "0"]), (False, False)),
    ("none", NOUGHT, [-1, 0], 1, 1, kind("cover", cover=[["none", ["1", "0", "0", "0"]]]), (True, False)),
    ("none", [[0, 0, 0]] * 3, [0, -1, 0], 1, 2, kind("self-stress", r=["1", "1", "0"]), (False, True)),
    # Painleve's paradox: no impulse stops what slides, unless friction were less than mu.
    ("none", [[1, -3], [-3, 9]], [-1, -9], 1, 1, kind("cover", cover=PARADOX), (True, False)),
    ("none", [[1, -3], [-3, 9]], [-1, -9], HALF, 1, kind("cover", cover=PARADOX), (False, False)),
    ("none", NOUGHT, [0, 0], 1, 1, kind("cover", cover=[["none", ["1", "0", "0", "0"]]]), (False, False)),
]


@pytest.mark.parametrize(("verdict", "W", "q", "mu", "d", "support", "proved"), FRICTION)
def test_what_just_proves_existence_or_absence_and_what_just_does_not(verdict, W, q, mu, d, support, proved):
    for law, expected in zip(LAWS, proved, strict=True):
        found = shows(W, q, [mu], d, law, verdict, support)
        assert found == expected, law
        if found and d == 1:
            truth = definitions.has_planar_solution(exact(W), [Fraction(x) for x in q], [Fraction(mu)], law == LAWS[0])
            assert truth == (verdict == "exists")


@pytest.mark.parametrize(
    ("M", "verdict", "support", "proved"),
    [
        ([[2]], ["2", "2"], {"index_set": [0], "x": ["1"]}, True),
        ([[2]], ["2", "2"], {"index_set": [0], "x": ["0"]}, False),
        ([[2, 0], [0, 3]], ["2", "2"], {"index_set": [0, 1], "x": ["1", "0"]}, True),
        ([[2]], ["2", "1"], {"index_set": [0], "x": ["1"]}, False),
        ([[2]], ["2", "-2"], {"index_set": [0], "x": ["1"]}, False),
        ([[2]], ["3", "3"], {"index_set": [0], "x": ["1"]}, False),
        ([[2]], ["0", None], {}, True),
        ([[0]], ["0", "0"], {"index_set": [0], "x": ["1"]}, True),
        ([[2]], ["-1", None], {}, False),
        ([[2]], ["2", None], {"diagonal": {"W": ["2"], "s": "4"}}, True),
        ([[2]], ["2", None], {"diagonal": {"W": ["2"], "s": "3"}}, False),
        ([[2]], ["2", None], {"diagonal": {"W": ["2"], "s": "5"}}, False),
        ([[2]], ["2", None], {"diagonal": {"W": ["1"], "s": "4"}}, False),
        ([[-2]], ["2", None], {"diagonal": {"W": ["-2"], "s": "4"}}, True),
        ([[2, 0], [0, -2]], ["2", None], {"diagonal": {"W": ["2", "-2"], "s": "4"}}, True),
        ([[2, 1], [1, 2]], ["1", None], {}, True),
        ([[2, 1], [1, 2]], ["11/10", None], {}, False),
    ],
)
def test_bounds_of_a_distance_that_just_hold_and_that_just_do_not(M, verdict, support, proved):
    found = result({"M": texts(M)}, "distance_to_degenerate", verdict, support) == VERIFIED
    assert found == proved
    if found:
        assert definitions.encloses(exact(M), *(None if x is None else Fraction(x) for x in verdict))


def test_a_cover_that_branches_twice_on_an_index_proves_nothing():
    """On either side: after z_0 = 0, or after w_0 = 0. The point and the vectors hold as they stand."""
    branch, point = ["branch", 0], ["point", 0, ["0"]]
    for cover in (
        [branch, branch, point, point, ["none", ["-1"]]],
        [branch, point, branch, ["none", ["-1"]], ["none", ["-1"]]],
    ):
        claim = {"about": "solutions", "verdict": 1, "support": {"points": [["0"]], "cover": cover}}
        (found,) = verify(document({"M": [["1"]], "q": ["1"]}, claim))
        assert "branches twice on index 0" in found.reason


def test_a_document_that_cannot_be_read_is_refused():
    claims = [{"about": "Z", "verdict": "yes", "support": {"by": "entries"}}]
    good = document({"M": ONE}, *claims)
    assert [finding.result for finding in verify(good)] == [VERIFIED]
    for other in (
        {**good, "digest": None},
        document({"M": []}, *claims),
        document({"M": "1"}, *claims),
        document({"M": {"0": ["1"]}}, *claims),
        document({"M": 1}, *claims),
        document({"M": [["1"], ["1"]]}, *claims),
        document({"M": ONE}, claims={}),
        document({"M": ONE}, claims=1),
        document({"M": ONE}, *claims, 1),
        document({"M": ONE, "q": ["1", "1"]}, *claims),
        [good],
    ):
        with pytest.raises(RefusedError):
            verify(other)


def test_claims_are_read_as_they_are_and_may_rest_on_later_ones():
    implied = {"about": "P", "verdict": "yes", "support": {"by": "implication", "from": ["H_plus"]}}
    dominant = {"about": "H_plus", "verdict": "yes", "support": {"d": ["1"]}}
    first = {"about": "P0", "verdict": "yes", "support": {"by": "implication", "from": ["P"]}}
    assert [f.result for f in verify(document({"M": ONE}, first, implied, dominant))] == [VERIFIED] * 3
    around = {"about": "H_plus", "verdict": "yes", "support": {"by": "implication", "from": ["M"]}}
    back = {"about": "M", "verdict": "yes", "support": {"by": "implication", "from": ["Z", "H_plus"]}}
    signs = {"about": "Z", "verdict": "yes", "support": {"by": "entries"}}
    assert [f.result for f in verify(document({"M": ONE}, around, back, signs))] == [
        NOT_VERIFIED,
        NOT_VERIFIED,
        VERIFIED,
    ]
    alone = {"about": "solutions", "verdict": 1, "support": {"by": "P", "points": [["1"]]}}
    for claim, q, expected in (
        ({"about": "rank", "verdict": 1, "support": {}}, None, VERIFIED),
        ({"about": "rank", "verdict": 2, "support": {}}, None, REFUTED),
        ({"about": "rank", "verdict": "1", "support": {}}, None, REFUTED),
        ({"about": "rank", "verdict": 1, "support": {"by": "repetition"}}, None, NOT_VERIFIED),
        ({"about": "rank", "verdict": 1, "support": None}, None, NOT_VERIFIED),
        ({"about": "beauty", "verdict": "yes", "support": {"by": "entries"}}, None, NOT_VERIFIED),
        ({"about": "Z", "verdict": "perhaps", "support": {"by": "entries"}}, None, NOT_VERIFIED),
        ({"about": "P", "verdict": "no", "support": {}}, None, NOT_VERIFIED),
        (
            {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["transpose"]] * 9999}},
            None,
            NOT_VERIFIED,
        ),
        (alone, ["-1"], VERIFIED),
        (alone, ["1"], REFUTED),
        (alone, None, NOT_VERIFIED),
    ):
        assert (
            verify(document({"M": ONE} if q is None else {"M": ONE, "q": q}, implied, dominant, claim))[-1].result
            == expected
        ), claim


@pytest.mark.parametrize(
    ("support", "result"),
    [
        ({"positive": ["1", "0"], "negative": ["0", "1"]}, VERIFIED),
        ({"positive": ["1", "0"], "negative": ["1", "0"]}, REFUTED),
        ({"positive": ["1", "1"], "negative": ["0", "1"]}, REFUTED),
        ({"positive": ["1", "0"], "negative": ["1", "1"]}, REFUTED),
        ({"positive": ["1", "0"]}, NOT_VERIFIED),
        ({"positive": ["1", "0"], "negative": ["0", "1"], "by": "x"}, NOT_VERIFIED),
    ],
)
def test_a_form_of_both_signs_is_shown_by_two_vectors(support, result):
    M = [["1", "0"], ["0", "-1"]]
    claim = {"about": "indefinite", "verdict": "yes", "support": support}
    assert verify(document({"M": M}, claim))[0].result == result
    assert verify(document({"M": M}, {**claim, "verdict": "no"}))[0].result == NOT_VERIFIED
