"""Certificates of boxes of matrices and of uncertain LCPs: true ones are verified, forged ones are not."""

import copy
import json
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from tests.boxes import all_vertices_p, random_box, random_member, rational
from tests.forger import changed, sites, with_value
from tests.proofs import NOT_VERIFIED, REFUTED
from tests.thorough import quickly
from workbench.certificates.boxes import FIELDS, MatrixBox, check_box_class, check_claims
from workbench.certificates.documents import signed
from workbench.certificates.outcomes import VERIFIED, PremiseError, RefusedError, RefutedError
from workbench.certificates.signed_pivots import check_signed_tree, components
from workbench.certificates.uncertain import Uncertain, check_basis, check_bounds, check_solvable
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.diagnostics.box_certificate import certificate_of_box
from workbench.diagnostics.box_check import check_box
from workbench.engine.timing import clock
from workbench.matrices.classes.matrix_classes import class_verdict
from workbench.matrices.intervals.largest_uncertainty import BOXES, largest_uncertainty
from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.support.errors import WorkbenchError

ONE = "[2+-0.1 1; 1 2+-0.1]"


def certified(box, q=None):
    """The certificate as it comes back from a file."""
    problem = None if q is None else UncertainMLCP.lcp(box, q)
    return json.loads(json.dumps(certificate_of_box(box, problem, check_box(box, problem, 10.0), 10.0)))


def forged(document, change):
    """The certificate after a change, with a digest that fits."""
    content = copy.deepcopy(document)
    change(content)
    return signed(content["problem"], content["claims"], content["left_out"])


def support(document, about):
    return next(claim["support"] for claim in document["claims"] if claim["about"] == about)


def result(document, about):
    return next(f.result for f in verify(document) if f.about == about)


def boxes(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, 5))
        box = random_box(rng, n, bool(rng.random() < 0.4))
        middle, radius = rng.integers(-6, 5, n), rng.integers(0, 3, n)
        q = IntervalMatrix(*(fmpq_mat(n, 1, [fmpq(int(x), 8) for x in v]) for v in (2 * middle, radius)))
        yield box, q if rng.random() < 0.6 else None


@pytest.mark.parametrize(
    ("seed", "count"), [(0, 4), pytest.param(1, 100, marks=pytest.mark.thorough)], ids=["few", "many"]
)
def test_every_verdict_is_verified(seed, count):
    seen = set()
    for box, q in boxes(seed, count):
        document = certified(box, q)
        assert not document["left_out"]
        for found in verify(document):
            assert found.result == VERIFIED, (found, document)
        seen |= {(c["verdict"], c["support"]["by"]) for c in document["claims"] if isinstance(c["verdict"], str)}
    if count > 100:
        assert seen >= {*FIELDS, ("one", "P"), ("some", "basis"), ("none", "cover")}


@pytest.mark.parametrize("seed", range(3))
def test_no_proof_survives_a_radius_beyond_the_critical_one(seed):
    """Whatever tree proves P or PD at 0.9 r*, it does not prove the box at 1.001 r*, where the claim is false."""
    rng, done = np.random.default_rng(seed), 0
    while done < 4:
        n = int(rng.integers(2, 5))
        box = random_box(rng, n)
        box = IntervalMatrix(box.centre + rational(np.eye(n) * 1.5), box.radius)
        for name in ("P", "PD"):
            top = largest_uncertainty(box, name, clock() + 10).upper
            if not top:
                continue
            document = certified(box.scaled(top * fmpq(9, 10)))
            assert result(document, name) == VERIFIED
            wide = box.scaled(top * fmpq(1001, 1000))

            def widen(content, wide=wide):
                content["problem"]["radius"] = [[str(x) for x in row] for row in wide.radius.tolist()]

            assert result(forged(document, widen), name) == REFUTED
            done += 1


def test_a_tree_that_is_changed_proves_nothing():
    C = [["4", "1", "-1"], ["-2", "5", "2"], ["1", "-3", "4"]]
    document = wb.check(wb.interval(C, 1)).certificate()
    assert result(document, "P") == VERIFIED
    tree = support(document, "P")["tree"]
    for k in range(len(tree)):
        shorter = forged(document, lambda d, k=k: support(d, "P")["tree"].pop(k))
        assert result(shorter, "P") != VERIFIED
    assert result(forged(document, lambda d: support(d, "P")["tree"].append(["minors"])), "P") == NOT_VERIFIED
    assert result(forged(document, lambda d: support(d, "P").update(tree=[["minors"]])), "P") == NOT_VERIFIED
    # Nothing rests on a claim that is not verified.
    broken = forged(document, lambda d: support(d, "P").update(tree=[]))
    assert result(broken, "nondegenerate") == NOT_VERIFIED


def test_leaves_of_the_tree_are_checked():
    """Weights of another sign or size, on boxes whose first node is proved by its hull."""
    dominant = wb.check(wb.interval([["4", "1", "1"], ["1", "4", "1"], ["1", "1", "4"]], "1/2")).certificate()
    assert support(dominant, "P")["tree"][0][0] == "dominant"
    for u in (["0", "1", "1"], ["-1", "-1", "-1"], ["9", "1", "1"]):
        assert result(forged(dominant, lambda d, u=u: support(d, "P").update(tree=[["dominant", u]])), "P") == REFUTED
    skew = [["1", "2", "-2"], ["-2", "1", "2"], ["2", "-2", "1"]]
    stable = wb.check(wb.interval(skew, "1/7")).certificate()
    kind, w, u = support(stable, "P")["tree"][0]
    assert kind == "diagonal"
    assert result(stable, "P") == VERIFIED
    for wrong in ([kind, w, ["0", *u[1:]]], [kind, ["-1", *w[1:]], u], [kind, ["100", *w[1:]], u]):
        assert result(forged(stable, lambda d, x=wrong: support(d, "P").update(tree=[x])), "P") == REFUTED
    # W = I proves radii below 1/3: 2 (1 - r) > 4 r, the diagonal at its lower end.
    for radius, wanted in (("33/100", VERIFIED), ("1/3", REFUTED)):

        def widen(content, radius=radius):
            content["problem"]["radius"] = [[radius] * 3] * 3
            support(content, "P")["tree"] = [["diagonal", ["1"] * 3, ["1"] * 3]]

        assert result(forged(stable, widen), "P") == wanted


def test_both_signs_are_needed():
    """[[1, a], [b, 1]] with |a|, |b| <= 3/2 is not P at a = b = 3/2; with |a| alone uncertain it is."""
    eye = [["1", "0"], ["0", "1"]]
    document = wb.check(wb.interval(eye, [["0", "3/2"], ["0", "0"]])).certificate()
    assert result(document, "P") == VERIFIED

    def widen(content):
        content["problem"]["radius"] = [["0", "3/2"], ["3/2", "0"]]

    for tree in ([["branch", 1], ["minors"], ["minors"]], [["branch", 0], ["minors"], ["minors"]]):
        assert result(forged(document, lambda d, t=tree: (widen(d), support(d, "P").update(tree=t))), "P") == REFUTED


def test_signs_count_within_a_component():
    """Uncertain entries 01 and 23 are in two components: of each only one index needs both signs."""
    radius = np.zeros((4, 4), dtype=object)
    radius[0, 1] = radius[1, 0] = radius[3, 2] = radius[2, 3] = "1"
    rows = [["2", "1", "0", "1"], ["1", "2", "-1", "0"], ["0", "1", "2", "1"], ["-1", "0", "1", "2"]]
    document = wb.check(wb.interval(rows, radius)).certificate()
    assert result(document, "P") == VERIFIED
    assert components([[Fraction(x) for x in row] for row in radius.tolist()]) == [0, 0, 2, 2]
    path = [[Fraction(0)] * 3 for _ in range(3)]
    path[2][0], path[1][2] = Fraction(1), Fraction(1)
    assert components(path) == [0, 0, 0]


def test_members_are_in_the_box_and_proved():
    document = certified(IntervalMatrix(fmpq_mat([[1, 0], [0, -1]]), fmpq_mat([[0, 2], [2, 0]])))
    about = "nondegenerate"
    assert support(document, about)["by"] == "members"
    assert result(document, about) == VERIFIED

    def beyond(content):
        support(content, about)["inside"]["matrix"] = [["1", "0"], ["0", "-2"]]

    def swapped(content):
        found = support(content, about)
        found["inside"], found["outside"] = found["outside"], found["inside"]

    def unproved(content):
        support(content, about)["outside"]["claims"] = []

    for change in (beyond, swapped, unproved):
        assert result(forged(document, change), about) != VERIFIED
    even = certified(IntervalMatrix(fmpq_mat([[1, 0], [0, 1]]), fmpq_mat([[0, 2], [2, 0]]), True))
    # A member that is not symmetric is none.
    skew = [["1", "2"], ["-2", "1"]]
    claims = [{"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["minors"]]}}]
    change = lambda d: support(d, "P").update(inside={"matrix": skew, "claims": claims})  # noqa: E731
    assert result(even, "P") == VERIFIED
    assert result(forged(even, change), "P") == REFUTED


def test_the_verdict_decides_what_is_proved():
    document = wb.check(ONE).certificate()
    for verdict in ("none", "some", "undecided", None, ["all"]):

        def claim(content, verdict=verdict):
            content["claims"][0]["verdict"] = verdict

        assert result(forged(document, claim), "P") == NOT_VERIFIED
    everything = {f.about for f in verify(document)}
    assert everything >= {"P", "PD", "M", "H_plus"}


def test_bounds_of_solutions_cannot_be_narrower():
    """The bounds are attained, so any smaller one is false; M = [[2, 1], [1, 2]] +- 1/10, q = (-1, -1/2)."""
    rows = [["2", "1"], ["1", "2"]]
    document = json.loads(json.dumps(wb.check(wb.interval(rows, "1/10"), rhs=["-1", "-1/2"]).certificate()))
    verdicts = {claim["about"]: claim["verdict"] for claim in document["claims"]}
    assert (verdicts["z_0"], verdicts["z_1"]) == (["9/20", "10/19"], ["0", "1/20"])
    assert verdicts["solvable"] == "one"
    assert {f.result for f in verify(document)} == {VERIFIED}
    for k, end, by in ((0, 0, Fraction(1, 10**9)), (0, 1, -Fraction(1, 10**9)), (1, 1, -Fraction(1, 100))):

        def narrow(content, k=k, end=end, by=by):
            claim = next(c for c in content["claims"] if c["about"] == f"z_{k}")
            claim["verdict"][end] = str(Fraction(claim["verdict"][end]) + by)

        assert result(forged(document, narrow), f"z_{k}") == REFUTED
    for name in ("lower", "upper"):
        for k in range(len(support(document, "z_0")[name])):
            shorter = forged(document, lambda d, k=k, name=name: support(d, "z_0")[name].pop(k))
            assert result(shorter, "z_0") != VERIFIED


@pytest.mark.parametrize("seed", [0, 1, pytest.param(3, marks=pytest.mark.thorough)])
def test_bounds_of_symmetric_members_are_proved_and_not_narrower(seed):
    """Among them the yardstick [40/139, 20/53], which does not hold for all matrices of the box."""
    rng = np.random.default_rng(seed)
    n = min(2 + seed, 4)
    B = rng.standard_normal((n, n))
    C = np.round(B @ B.T + n * np.eye(n), 2) if seed else np.array([[2, 1], [1, 2]])
    D = np.round(0.1 * rng.random((n, n)), 2) if seed else np.full((2, 2), 0.1)
    radius = rational(np.maximum(D, D.T)) if seed else fmpq_mat([[fmpq(1, 10)] * 2] * 2)
    box = IntervalMatrix(rational(C), radius, True)
    document = certified(box, IntervalMatrix(rational(-np.ones((n, 1))), rational(np.zeros((n, 1)))))
    assert not document["left_out"]
    assert {x.result for x in verify(document)} == {"verified"}
    if not seed:
        (claim,) = [x for x in document["claims"] if x["about"] == "z_0"]
        assert claim["verdict"] == ["40/139", "20/53"]
    for about in [f"z_{k}" for k in range(n)]:
        assert support(document, about)["by"] == "symmetric"
        for end, by in ((0, Fraction(1, 10**9)), (1, -Fraction(1, 10**9))):

            def narrow(content, about=about, end=end, by=by):
                (claim,) = [x for x in content["claims"] if x["about"] == about]
                claim["verdict"][end] = str(Fraction(claim["verdict"][end]) + by)

            assert result(forged(document, narrow), about) == "refuted"

    def all_members(content):
        content["problem"]["members"] = "all"

    assert result(forged(document, all_members), "z_0") == "not verified"
    for change in (
        [],
        [["bound"]],
        [["cut", 0, n]],
        [["cut", 0, 0]],
        [["ends", 0]],
        [["bound"], ["bound"]],
        None,
        [None],
    ):

        def other(content, change=change):
            (claim,) = [x for x in content["claims"] if x["about"] == "z_0"]
            claim["support"]["lower"] = change

        assert result(forged(document, other), "z_0") in ("refuted", "not verified")

    def longer(content):
        (claim,) = [x for x in content["claims"] if x["about"] == "z_0"]
        claim["support"]["upper"].append(["bound"])

    assert result(forged(document, longer), "z_0") == "not verified"


def test_entries_move_to_an_end_only_where_the_sign_of_a_derivative_is_certain():
    """In the first the inverse is enclosed by [0, 1], which holds 0; in the second its entry changes its sign."""

    def outcome(C, D, c, d, verdict, name, nodes):
        rows, vectors = ([[[Fraction(x) for x in row] for row in A] for A in some] for some in ((C, D), ([c], [d])))
        p = Uncertain(MatrixBox(*rows, True), *(v[0] for v in vectors))
        try:
            known = {"P": "all", "basis": [*range(len(c))]}
            check_bounds(p, 0, verdict, {"by": "symmetric", name: nodes}, known)
        except RefutedError:
            return "refuted"
        return "verified"

    def halved(depth, *entry):
        return [["cut", *entry], *halved(depth - 1, *entry), *halved(depth - 1, *entry)] if depth else [["bound"]]

    one = [[2]], [[1]], ["-3/2"], ["1/2"]
    # z = -q / M is at least 1/3.
    assert outcome(*one, ["1/2", None], "lower", [["ends"], *halved(1, 0, 0)]) == "refuted"
    assert outcome(*one, ["3/10", None], "lower", [["cut", 0, -1], *(2 * halved(3, 0, 0))]) == "verified"
    two = [[1, "1/10"], ["1/10", 1]], [[0, "2/5"], ["2/5", 0]], [-1, -1], [0, "1/2"]
    # z_0 = (1 + a q_1) / (1 - a^2) is at most 145/91, at a = -3/10 and q_1 = -3/2.
    assert outcome(*two, [None, "29/20"], "upper", [["ends"], *halved(5, 0, 1)]) == "refuted"
    assert outcome(*two, [None, "8/5"], "upper", [["cut", 1, -1], *(2 * halved(7, 0, 1))]) == "verified"


def test_a_basis_is_enclosed():
    rows = [["2", "1"], ["1", "2"]]
    document = json.loads(json.dumps(wb.check(wb.interval(rows, "1/10"), rhs=["-1", "-1"]).certificate()))
    verdicts = {claim["about"]: claim["verdict"] for claim in document["claims"]}
    assert (verdicts["basis"], verdicts["z_0"]) == ([0, 1], ["4/15", "2/5"])
    assert {f.result for f in verify(document)} == {VERIFIED}
    changes = {
        "radii too large": lambda d: support(d, "basis").update(radii=["1", "1"]),
        "radii too small": lambda d: support(d, "basis").update(radii=["1/100", "1/100"]),
        "negative radii": lambda d: support(d, "basis").update(radii=["-1", "-1"]),
        "another R": lambda d: support(d, "basis").update(R=[["0", "0"], ["0", "0"]]),
        "another basis": lambda d: next(c for c in d["claims"] if c["about"] == "basis").update(verdict=[0]),
        "wider q": lambda d: d["problem"].update(q_radius=["1", "1"]),
        "wider M": lambda d: d["problem"].update(radius=[["1/2", "1"], ["1", "1/2"]]),
    }
    for words, change in changes.items():
        document_changed = forged(document, change)
        assert result(document_changed, "basis") != VERIFIED, words
        # Bounds on the face of a basis need it.
        assert result(document_changed, "z_0") != VERIFIED, words


def test_no_data_with_a_solution():
    """-z - 1 >= 0 for no z >= 0, while M = q = 0 have solutions."""
    document = wb.check(wb.interval([["-1"]], "1/2"), rhs=["-1"]).certificate()
    assert result(document, "solvable") == VERIFIED
    for change in (
        lambda d: d["problem"].update(q_radius=["1"]),
        lambda d: support(d, "solvable").update(cover=[["bound", ["0"]]]),
        lambda d: support(d, "solvable").update(cover=[["none", ["0"]]]),
        lambda d: support(d, "solvable").update(cover=[]),
    ):
        assert result(forged(document, change), "solvable") != VERIFIED


def contradicts_bounds(problem, box, about, verdict):
    """Whether the exact bounds of the unknowns contradict a claim on the solutions."""
    q = IntervalMatrix(*(fmpq_mat([[fmpq(x)] for x in problem[key]]) for key in ("q", "q_radius")))
    found = check_box(box, UncertainMLCP.lcp(box, q), 10.0)["solutions"]
    if about == "solvable":
        return found["solvable"] not in (verdict, "undecided", *(["one"] if verdict == "some" else []))
    if about == "basis":
        return found["solvable"] == "none" or (
            found["solvable"] == "one"
            and found["signs"] != ["positive" if i in verdict else "zero" for i in range(box.order)]
        )
    k = int(about[2:])
    if found["solvable"] == "none" or not found["exact"]:
        return False
    ends = zip((1, -1), (found["lower"][k], found["upper"][k]), verdict, strict=True)
    return any(
        said is not None and (true is None or sign * fmpq(true) < sign * fmpq(said)) for sign, true, said in ends
    )


def contradicted(problem, claim, rng):
    """Whether a member, or all vertices, contradict a claim on a box."""
    C, D = (fmpq_mat([[fmpq(x) for x in row] for row in problem[key]]) for key in ("M", "radius"))
    box = IntervalMatrix(C, D, problem["members"] == "symmetric")
    about, verdict = claim["about"], claim["verdict"]
    if about in ("basis", "solvable") or about.startswith("z_"):
        return contradicts_bounds(problem, box, about, verdict)
    if about == "P" and verdict == "all":
        return not all_vertices_p(box)
    if about.startswith("r_"):
        same = BOXES[about[2:]](box)
        low, high = (None if x is None else same.scaled(fmpq(x)) for x in verdict)
        return (low is not None and not all_vertices_p(low)) or (high is not None and all_vertices_p(high))
    members = [box.centre, *(random_member(box, rng) for _ in range(6))]
    if not box.symmetric or box.lower == box.lower.transpose():
        members += [box.lower, box.upper]
    if about == "rank":
        return min(A.rank() for A in members) < verdict
    seen = {class_verdict(A, about, clock() + 5).verdict for A in members}
    return (verdict == "all" and "no" in seen) or (verdict == "none" and "yes" in seen)


@pytest.mark.parametrize(
    ("seed", "count"), [(3, 6), pytest.param(4, 400, marks=pytest.mark.thorough)], ids=["few", "many"]
)
def test_what_is_accepted_of_changed_certificates_is_true(seed, count):
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    documents = [certified(box, q) for box, q in boxes(seed, min(8, count // 2))]
    refused = 0
    for _ in range(count):
        _, document = changed(chance.choice(documents), chance)
        document = signed(*(document.get(key) for key in ("problem", "claims", "left_out")))
        try:
            found = verify(document, seconds=20.0)
        except RefusedError:
            refused += 1
            continue
        for finding, claim in zip(found, document["claims"], strict=True):
            if finding.result == VERIFIED and chance.random() < 0.2:
                assert not contradicted(document["problem"], claim, rng), (claim, document["problem"])
    assert refused < count


def test_a_definite_box_is_not_taken_from_p():
    """Every matrix here is P, being triangular, and some are not definite."""
    box = IntervalMatrix(fmpq_mat([[1, -2], [0, 1]]), fmpq_mat([[0, 1], [0, 0]]))
    found = check_box(box, None, 10.0)["classes"]
    assert (found["P"]["verdict"], found["PD"]["verdict"]) == ("all", "some")
    assert {f.result for f in verify(certified(box))} == {VERIFIED}


def test_a_certificate_belongs_to_its_box():
    found = wb.check(ONE)
    assert wb.verify(found.certificate(), of=ONE).holds
    assert wb.verify(found.certificate(), of=wb.interval([["2", "1"], ["1", "2"]], [["1/10", "0"], ["0", "1/10"]]))
    with pytest.raises(WorkbenchError, match="radius differs"):
        wb.verify(found.certificate(), of="[2+-0.2 1; 1 2+-0.1]")
    with pytest.raises(WorkbenchError, match="kind interval matrix, not matrix"):
        wb.verify(found.certificate(), of=[[2, 1], [1, 2]])
    with_q = wb.check(ONE, rhs="[-1; -1]").certificate()
    assert wb.verify(with_q, of=ONE, rhs="[-1; -1]").holds
    with pytest.raises(WorkbenchError, match="q differs"):
        wb.verify(with_q, of=ONE, rhs="[-1; -2]")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"members": "most"}, "not 'all' or 'symmetric'"),
        ({"members": "symmetric", "radius": [["0", "1"], ["0", "0"]]}, "need a symmetric box"),
        ({"radius": [["0", "-1"], ["0", "0"]]}, "negative radius"),
        ({"radius": [["0", "0"]]}, "not a list of 2 rows"),
    ],
)
def test_a_box_that_is_none_is_refused(change, message):
    document = wb.check(ONE).certificate()
    with pytest.raises(WorkbenchError, match=message):
        wb.verify(forged(document, lambda d: d["problem"].update(change)))


def test_the_command_writes_what_verify_reads(tmp_path, capsys):
    proof = str(tmp_path / "p.json")
    assert main(["check", ONE, "--rhs", "[-1; -1]", "--certificate", proof]) == 0
    assert f"certificate: {proof}" in capsys.readouterr().out
    assert main(["verify", proof, "--of", ONE, "--rhs", "[-1; -1]"]) == 0
    text = capsys.readouterr().out
    assert "H_plus" in text
    assert "claims hold in exact arithmetic." in text


HOSTILE = (
    None,
    True,
    7,
    -1,
    "x",
    "1/0",
    [],
    ["1"],
    [[]],
    {},
    {"by": "tree"},
    [["branch"]],
    [["branch", 0, 0]],
    [["minors", 1]],
)


@pytest.mark.parametrize("seed", quickly(range(18), lambda seed: seed == 1))
def test_hostile_supports_are_refused_without_a_crash(seed):
    """At every place of a claim anything else may stand; whatever does is refused, or is true."""
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    (box, q), *_ = boxes(seed + 20, 1)
    document = certified(box, q)
    places = [path for path in sites(document["claims"]) if "support" in path]
    for path in chance.sample(places, min(10, len(places))):
        for value in HOSTILE:
            claims = with_value(document["claims"], path, value)
            about = claims[path[0]]["about"]
            try:
                found = verify(signed(document["problem"], claims, []))
            except RefusedError:
                continue
            (one,) = [f for f in found if f.about == about]
            if one.result == VERIFIED:
                assert not contradicted(document["problem"], claims[path[0]], rng), (path, value)


@pytest.mark.parametrize("count", quickly([2, 10], lambda count: count == 2))
def test_every_form_of_a_support_is_strict(count):
    """Another field, a missing one, another class or another verdict: none is verified."""
    seen = set()
    for box, q in boxes(9, count):
        document = certified(box, q)
        for k, claim in enumerate(document["claims"]):
            form = (claim["about"], str(claim["verdict"])[:4], claim["support"].get("by"))
            if form in seen:
                continue
            seen.add(form)
            for change in (
                {**claim["support"], "more": "1"},
                *({key: x for key, x in claim["support"].items() if key != left} for left in claim["support"]),
                *({**claim["support"], "by": other} for _, other in FIELDS if other != claim["support"].get("by")),
            ):
                claims = [*document["claims"][:k], {**claim, "support": change}, *document["claims"][k + 1 :]]
                found = verify(signed(document["problem"], claims, []))[k]
                assert found.result != VERIFIED, (claim, change)


IDENTITY = [[Fraction(i == j) for j in range(2)] for i in range(2)]
NOTHING = [[Fraction(0)] * 2 for _ in range(2)]


@pytest.mark.parametrize(
    "tree",
    [
        None, "minors", {}, [], ["minors"], [[]], [["branch"]], [["branch", 2]], [["branch", "0"]], [["minors"]],
        [["branch", 0], ["minors"]], [["branch", 0], ["minors", 0], ["minors"]], [["other", ["1", "1"]]],
        [["other", ["1", "1"], ["1", "1"]]], [["dominant", ["1"]]], [["dominant"]], [["diagonal", ["1", "1"]]],
        [["branch", 0], ["minors"], ["minors"], ["minors"]], [["dominant", ["1", "1"], ["1", "1"]]],
    ],
)  # fmt: skip
def test_a_tree_of_another_form_is_refused(tree):
    with pytest.raises(RefusedError) as refused:
        check_signed_tree(IDENTITY, NOTHING, tree)
    assert not isinstance(refused.value, RefutedError)


@pytest.mark.parametrize(
    "tree",
    [None, "x", [], [[]], [["cut", 0]], [["cut", 0, 5]], [["regular"]], [["other", ["1"]]], [["regular", ["1", "1"]]]],
)
def test_a_bisection_of_another_form_is_refused(tree):
    box = MatrixBox(IDENTITY, NOTHING, True)
    good = [["regular", [["1"]], ["1"]]] * 2 + [["regular", [["1", "0"], ["0", "1"]], ["1", "1"]]]
    check_box_class(box, "nondegenerate", "all", {"by": "bisection", "tree": good}, {})
    for wrong in (tree, [*good, *(tree or [["regular", [["1"]], ["1"]]])]):
        with pytest.raises(RefusedError):
            check_box_class(box, "nondegenerate", "all", {"by": "bisection", "tree": wrong}, {})
    with pytest.raises(RefutedError):
        check_box_class(
            MatrixBox(NOTHING, NOTHING, True), "nondegenerate", "all", {"by": "bisection", "tree": good}, {}
        )


def test_entries_that_vary_independently_are_not_halved_together():
    """[[1, a], [b, -1]] with a and b within 1.1 is nondegenerate if symmetric, and singular at a = 1, b = -1."""
    C = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(-1)]]

    def outcome(radius, symmetric, tree):
        box = MatrixBox(C, [[Fraction(0), Fraction(radius)], [Fraction(radius), Fraction(0)]], symmetric)
        return refuted(box, "nondegenerate", "all", by="bisection", tree=tree)

    box = IntervalMatrix(fmpq_mat([[1, 0], [0, -1]]), fmpq_mat([[0, fmpq(11, 10)], [fmpq(11, 10), 0]]), True)
    tree = support(certified(box), "nondegenerate")["tree"]
    assert any(node[0] == "cut" for node in tree)
    assert not outcome("11/10", True, tree)
    with pytest.raises(RefusedError, match="of no kind that is known"):
        outcome("11/10", False, tree)
    vertices = [["vertices"]] * 3
    assert outcome("11/10", False, vertices)
    assert not outcome("9/10", False, vertices)
    with pytest.raises(RefusedError, match="of no kind that is known"):
        outcome("9/10", False, [["vertices", 0]] * 3)


@pytest.mark.parametrize(
    "cover",
    [
        None, "x", [], [[]], [["none"]], [["branch", 2]], [["branch", 0]], [["other", ["0", "0"]]], [["bound", ["0"]]],
        [["branch", 0], ["branch", 0], ["bound", ["0"] * 3], ["bound", ["0"] * 3], ["bound", ["0"] * 2]],
        [["bound", ["-1", "0"]]], [["none", ["0", "0"]]],
        [["bound", ["0", "0"]], ["bound", ["0", "0"]]],
    ],
)  # fmt: skip
def test_a_cover_of_another_form_is_refused(cover):
    """z >= 0 with M = I, q = 0: zero is a lower bound, by y = 0."""
    problem = Uncertain(MatrixBox(IDENTITY, NOTHING), [Fraction(0)] * 2, [Fraction(0)] * 2)
    good = {"by": "cover", "lower": [["bound", ["0", "0"]]]}
    check_bounds(problem, 0, ["0", None], good, {})
    with pytest.raises(RefusedError):
        check_bounds(problem, 0, ["0", None], {**good, "lower": cover}, {})
    with pytest.raises(RefusedError, match="cannot be proved by 'tree'"):
        check_bounds(problem, 0, ["0", None], {**good, "by": "tree"}, {"P": "all", "basis": [0]})
    for verdict in (["1/100", None], ["0", "0"], ["0"], None, [None, None]):
        with pytest.raises(RefusedError):
            check_bounds(problem, 0, verdict, good, {})
    with pytest.raises(PremiseError):
        check_bounds(problem, 0, ["0", None], {**good, "by": "basis"}, {"P": "all"})
    with pytest.raises(PremiseError):
        check_bounds(problem, 0, ["0", None], {**good, "by": "basis"}, {"basis": [0]})


def exact(rows):
    return [[Fraction(x) for x in row] for row in rows]


def refuted(box, name, verdict, **proof):
    """Whether the numbers of a support contradict the verdict; anything else that refuses it is an error."""
    try:
        check_box_class(box, name, verdict, proof, {})
    except RefutedError:
        return True
    return False


def test_borders_of_the_tree():
    """Singular members at the border of the box: the pivot is zero there, and K u, and the form."""
    edge, inside = exact([[0, 1], [1, 0]]), exact([[0, "9/10"], ["9/10", 0]])
    branch = [["branch", 1], ["minors"], ["minors"]]
    for tree in (branch, [["dominant", ["1", "1"]]], [["diagonal", ["1", "1"], ["1", "1"]]]):
        assert refuted(MatrixBox(IDENTITY, edge), "P", "all", by="tree", tree=tree)
        assert not refuted(MatrixBox(IDENTITY, inside), "P", "all", by="tree", tree=tree)
    zero = MatrixBox(exact([[1]]), exact([[1]]))
    assert refuted(zero, "P", "all", by="tree", tree=[["minors"]])
    assert refuted(MatrixBox(IDENTITY, NOTHING), "P", "all", by="tree", tree=[["dominant", ["0", "1"]]])
    for w, u in ((["0", "1"], ["1", "1"]), (["1", "1"], ["0", "1"])):
        assert refuted(MatrixBox(IDENTITY, NOTHING), "P", "all", by="tree", tree=[["diagonal", w, u]])


def test_borders_of_what_holds_for_none():
    """x_i (A x)_i <= 0 may be zero, and <A, X>; sufficient and PSD need less than zero."""
    null, minus = MatrixBox(NOTHING, NOTHING), MatrixBox(exact([[-1, 0], [0, 0]]), NOTHING)
    assert not refuted(null, "P", "none", by="vector", x=["1", "1"])
    assert refuted(null, "P", "none", by="vector", x=["0", "0"])
    for name in ("column_sufficient", "row_sufficient"):
        assert refuted(null, name, "none", by="vector", x=["1", "1"])
        assert not refuted(minus, name, "none", by="vector", x=["1", "1"])
    assert not refuted(null, "PD", "none", by="columns", columns=[["1", "0"]])
    assert refuted(null, "PSD", "none", by="columns", columns=[["1", "0"]])
    assert refuted(null, "PD", "none", by="columns", columns=[["0", "0"]])
    assert not refuted(minus, "PSD", "none", by="columns", columns=[["1", "0"]])
    wide = MatrixBox(exact([[-1, 0], [0, 0]]), exact([[1, 0], [0, 0]]))
    assert not refuted(wide, "PD", "none", by="columns", columns=[["1", "0"]])
    assert refuted(wide, "PSD", "none", by="columns", columns=[["1", "0"]])
    # x (A x) = (-1, 0) at x = (1, 1), and of the transpose (-2, 1).
    skew = MatrixBox(exact([[-1, 0], [-1, 1]]), NOTHING)
    assert not refuted(skew, "column_sufficient", "none", by="vector", x=["1", "1"])
    assert refuted(skew, "row_sufficient", "none", by="vector", x=["1", "1"])
    assert not refuted(null, "nondegenerate", "none", by="minor", index_set=[1])
    assert refuted(null, "nondegenerate", "none", by="minor", index_set=[])
    assert refuted(wide, "nondegenerate", "none", by="minor", index_set=[0])
    assert refuted(minus, "nondegenerate", "none", by="minor", index_set=[0])


def test_borders_of_what_is_repeated():
    singular, regular = MatrixBox(IDENTITY, exact([[1, 0], [0, 0]])), MatrixBox(IDENTITY, exact([["1/2", 0], [0, 0]]))
    assert refuted(singular, "nondegenerate", "all", by="vertices")
    assert not refuted(regular, "nondegenerate", "all", by="vertices")
    assert not refuted(singular, "PSD", "all", by="vertices")
    assert refuted(MatrixBox(IDENTITY, exact([["3/2", 0], [0, 0]])), "PSD", "all", by="vertices")
    # Signs matter here: the entries off the diagonal at opposite ends, or at equal ones.
    assert refuted(MatrixBox(IDENTITY, exact([[0, 2], [2, 0]])), "PSD", "all", by="vertices")
    assert not refuted(MatrixBox(IDENTITY, exact([[0, 1], [1, 0]])), "PSD", "all", by="vertices")
    for name in ("column_sufficient", "row_sufficient"):
        assert not refuted(MatrixBox(IDENTITY, exact([[0, 1], ["1/2", 0]])), name, "all", by="vertices")
        assert refuted(MatrixBox(IDENTITY, exact([[0, 3], [3, 0]])), name, "all", by="vertices")


def test_the_extreme_members():
    """Of each class a box that is decided by an entry's other end."""
    box = MatrixBox(exact([[2, 0], [0, 2]]), exact([[1, 1], [1, 1]]))
    yes = {"M": {"d": ["1", "1"]}, "H_plus": {"d": ["1", "1"]}, "S": {"x": ["1", "1"]}}
    for name, proof in yes.items():
        claims = [{"about": name, "verdict": "yes", "support": proof}]
        # L = [[1, -1], [-1, 1]], and its comparison matrix, and the larger moduli: singular.
        assert refuted(box, name, "all", by="extreme", claims=claims)
        narrow = MatrixBox(box.C, exact([[1, 0], [0, 1]]))
        assert not refuted(narrow, name, "all", by="extreme", claims=claims)
    no = [{"about": "S", "verdict": "no", "support": {"y": ["1", "1"]}}]
    low = MatrixBox(exact([[-2, 0], [0, -2]]), exact([[1, 1], [1, 1]]))
    assert not refuted(low, "S", "none", by="extreme", claims=no)
    assert refuted(MatrixBox(low.C, exact([[2, "3/2"], ["3/2", 2]])), "S", "none", by="extreme", claims=no)
    with pytest.raises(RefusedError):
        check_box_class(box, "P", "all", {"by": "extreme", "claims": no}, {})
    # U = [[2, 1], [1, 2]] is no M-matrix, but with -1 in place of one of these entries there is one.
    mixed = MatrixBox(exact([[2, 0], [0, 2]]), exact([[0, 1], [1, 0]]))
    no_z = [{"about": "M", "verdict": "no", "support": {"entry": [0, 1]}}]
    with pytest.raises(RefusedError):
        check_box_class(mixed, "M", "none", {"by": "extreme", "claims": no_z}, {})


@pytest.mark.parametrize("rows", [[["1", "0"]], [["1", "0"], ["0", "1"], ["0", "0"]], [], None, "rows"])
def test_a_member_of_another_size_is_refused(rows):
    given = {"matrix": rows, "claims": []}
    with pytest.raises(RefusedError, match="not a list of 2 rows"):
        check_box_class(
            MatrixBox(IDENTITY, NOTHING), "P", "some", {"by": "members", "inside": given, "outside": given}, {}
        )


def test_members_at_and_beyond_the_border():
    box = MatrixBox(IDENTITY, exact([[0, 1], [1, 0]]))
    MatrixBox(IDENTITY, exact([[0, 1], [1, 0]]), True).check_member(exact([[1, 1], [1, 1]]))
    box.check_member(exact([[1, 1], [-1, 1]]))
    for wrong in ([[1, "101/100"], [0, 1]], [[1, 0], ["-101/100", 1]], [["99/100", 0], [0, 1]]):
        with pytest.raises(RefutedError):
            box.check_member(exact(wrong))
    with pytest.raises(RefutedError):
        MatrixBox(box.C, box.D, True).check_member(exact([[1, 1], [-1, 1]]))


def test_borders_of_an_enclosed_basis():
    """M = 1, q = -1 within d: z = 1 within d, strictly for d < 1 only."""

    def outcome(d, radius, centre="1", R="-1", basis=(0,)):
        p = Uncertain(MatrixBox(exact([[1]]), exact([[0]])), [Fraction(-1)], [Fraction(d)])
        try:
            check_basis(p, list(basis), {"centre": [centre], "radii": [radius], "R": [[R]]})
        except RefusedError:
            return False
        return True

    assert outcome("1/2", "3/4")
    assert not outcome("1/2", "1/2")
    assert not outcome("1/2", "1")
    assert not outcome("1", "3/2")
    assert not outcome("0", "0")
    assert outcome("0", "1/2", centre="5/4")
    assert not outcome("0", "1/4", centre="5/4")
    assert outcome("0", "9/10", R="-1/2")
    assert not outcome("0", "9/10", R="1")
    assert not outcome("0", "1/2", basis=())
    # The second unknown is zero, and its slack is 2: G = diag(-1, 1), q = (-1, 2).
    p = Uncertain(MatrixBox(IDENTITY, NOTHING), [Fraction(-1), Fraction(2)], [Fraction(0)] * 2)
    proof = {"centre": ["1", "2"], "radii": ["1/2", "1/2"], "R": [["-1", "0"], ["0", "1"]]}
    check_basis(p, [0], proof)
    for wrong in (
        {"centre": ["1", "-2"]},
        {"R": None},
        {"R": [["-1", "0"]]},
        {"R": [["-1"], ["1"]]},
        {"R": proof["R"] * 2},
    ):
        with pytest.raises(RefusedError):
            check_basis(p, [0], proof | wrong)
    with pytest.raises(RefusedError):
        check_basis(p, [0, 1], proof)


def test_the_number_of_solutions_rests_on_other_claims():
    p = Uncertain(MatrixBox(exact([[-1]]), exact([["1/2"]])), [Fraction(-1)], [Fraction(0)])
    for verdict, proof, known in (("one", {"by": "P"}, {"P": "all"}), ("some", {"by": "basis"}, {"basis": [0]})):
        check_solvable(p, verdict, proof, known)
        for other in ({}, {"P": "some"}, {"P": "none"}):
            with pytest.raises(PremiseError):
                check_solvable(p, verdict, proof, other)
        for wrong, support_ in (
            ("none", proof),
            ({"one": "some"}.get(verdict, "one"), proof),
            (verdict, {**proof, "x": 1}),
        ):
            with pytest.raises(RefusedError):
                check_solvable(p, wrong, support_, known)
    cover = {"by": "cover", "cover": [["none", ["1"]]]}
    check_solvable(p, "none", cover, {})
    for wrong in ({**cover, "x": 1}, {**cover, "cover": [["none", ["0"]]]}, {"by": "cover"}):
        with pytest.raises(RefusedError):
            check_solvable(p, "none", wrong, {})
    # M z + q = 0 at z = 2 with M at its upper end 1/2.
    some = Uncertain(MatrixBox(exact([[0]]), exact([["1/2"]])), [Fraction(-1)], [Fraction(0)])
    for y in ("1", "0", "2"):
        with pytest.raises(RefutedError):
            check_solvable(some, "none", {"by": "cover", "cover": [["none", [y]]]}, {})


def test_what_rests_on_another_class():
    box, even = MatrixBox(IDENTITY, NOTHING), MatrixBox(IDENTITY, NOTHING, True)

    def outcome(box, name, verdict, known, **proof):
        try:
            check_box_class(box, name, verdict, proof, known)
        except PremiseError:
            return "premise"
        except RefusedError:
            return "refused"
        return "verified"

    for name, other in (("P", "PD"), ("column_sufficient", "PSD"), ("row_sufficient", "PSD")):
        proof = {"by": "symmetric", "from": other}
        assert outcome(even, name, "none", {other: "none"}, **proof) == "verified"
        assert outcome(box, name, "none", {other: "none"}, **proof) == "refused"
        assert outcome(even, name, "none", {"Z": "none"}, by="symmetric", **{"from": "Z"}) == "refused"
        assert outcome(even, "S", "none", {other: "none"}, **proof) == "refused"
        assert outcome(even, "S", "none", {None: "none"}, by="symmetric", **{"from": None}) == "refused"
        for known in ({}, {other: "all"}, {other: "some"}):
            assert outcome(even, name, "none", known, **proof) == "premise"
    assert outcome(box, "nondegenerate", "all", {"P": "all"}, by="implication", **{"from": ["P"]}) == "verified"
    assert outcome(box, "PD", "none", {"P": "none"}, by="implication", conclusion="P") == "verified"
    for known in ({}, {"P": "some"}):
        assert outcome(box, "nondegenerate", "all", known, by="implication", **{"from": ["P"]}) == "premise"
        assert outcome(box, "PD", "none", known, by="implication", conclusion="P") == "premise"
    assert outcome(box, "nondegenerate", "all", {"P": "none"}, by="implication", **{"from": ["P"]}) == "premise"
    assert outcome(box, "PD", "none", {"P": "all"}, by="implication", conclusion="P") == "premise"
    known = {"S": "all", "P": "all", "PD": "all"}
    for others in ("P", [], ["P", "PD"], [0], ["S"], None):
        assert outcome(box, "nondegenerate", "all", known, by="implication", **{"from": others}) == "refused"
    assert outcome(box, "P", "none", {"S": "none"}, by="implication", conclusion="S") == "refused"
    assert outcome(box, "P", "none", {None: "none"}, by="implication", conclusion=None) == "premise"


def test_claims_on_a_member_are_in_order():
    """Each rests on earlier ones alone, and they end in the class."""
    definite = {"about": "PD", "verdict": "yes", "support": {"by": "ldl", "order": [0], "L": [[]], "D": ["2"]}}
    follows = {"about": "P", "verdict": "yes", "support": {"by": "implication", "from": ["PD"]}}
    A = exact([[1]])
    check_claims(A, "P", "yes", [definite, follows])
    for name, verdict, claims in (
        ("P", "yes", [follows, definite]), ("P", "yes", [follows]), ("P", "no", [definite, follows]),
        ("S", "yes", [definite, follows]), ("P", "yes", []), ("P", "yes", None),
        ("P", "yes", [definite, {**follows, "x": 1}]),
        ("rank", 1, [{"about": "rank", "verdict": 1, "support": {}}]), ("PD", "yes", [{**definite, "support": None}]),
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            check_claims(A, name, verdict, claims)
