"""Certificates of boxes of matrices and of uncertain LCPs: true ones are verified, forged ones are not."""

import copy
import json
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from tests import proofs
from tests.boxes import all_vertices_p, random_box, random_member, rational
from tests.forger import changed, sites, with_value
from tests.proofs import NOT_VERIFIED, REFUTED, texts
from tests.thorough import quickly
from workbench.certificates.documents import signed
from workbench.certificates.outcomes import VERIFIED, RefusedError
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
FORMS = [
    *(("all", by) for by in ("tree", "extreme", "vertices", "bisection", "implication")),
    *(("none", by) for by in ("vector", "columns", "extreme", "minor", "implication", "symmetric")),
    ("some", "members"),
]
"""By what a verdict may be proved."""


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
    ("seed", "count"), [(0, 6), pytest.param(1, 100, marks=pytest.mark.thorough)], ids=["few", "many"]
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
        assert seen >= {*FORMS, ("one", "P"), ("some", "basis"), ("none", "cover")}


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
    """Only an index whose component of uncertain entries has a pivot needs both signs."""
    half = [["branch", 0], ["minors"], ["minors"]]
    apart, joined = [["branch", 0], *half, *half], [["branch", 0], *half, ["minors"], *half]
    # Uncertain entries 20 and 12 join all three indices.
    for ends, proof, other in (([0, 0], apart, joined), ([1, 1], joined, apart)):
        box = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, ends[0]], [ends[1], 0, 0]]
        assert judged(*box, "P", "all", by="tree", tree=proof) == VERIFIED
        assert judged(*box, "P", "all", by="tree", tree=other) == NOT_VERIFIED


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
    documents = [certified(box, q) for box, q in boxes(seed, 8)]
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
                *({**claim["support"], "by": other} for _, other in FORMS if other != claim["support"].get("by")),
            ):
                claims = [*document["claims"][:k], {**claim, "support": change}, *document["claims"][k + 1 :]]
                found = verify(signed(document["problem"], claims, []))[k]
                assert found.result != VERIFIED, (claim, change)


EYE, NOTHING = [[1, 0], [0, 1]], [[0, 0], [0, 0]]


def judged(C, D, about, verdict, *known, even=False, **support):
    """The outcome of a claim on the box of C and D, of its symmetric members if `even`, resting on those before."""
    problem = {"M": texts(C), "radius": texts(D), "members": "symmetric" if even else "all"}
    return proofs.result(problem, about, verdict, support, known)


def claim(about, verdict, **support):
    return {"about": about, "verdict": verdict, "support": support}


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
    assert judged(EYE, NOTHING, "P", "all", by="tree", tree=tree) == NOT_VERIFIED


@pytest.mark.parametrize(
    "tree",
    [None, "x", [], [[]], [["cut", 0]], [["cut", 0, 5]], [["regular"]], [["other", ["1"]]], [["regular", ["1", "1"]]]],
)
def test_a_bisection_of_another_form_is_refused(tree):
    def outcome(tree, C=EYE):
        return judged(C, NOTHING, "nondegenerate", "all", even=True, by="bisection", tree=tree)

    good = [["regular", [["1"]], ["1"]]] * 2 + [["regular", [["1", "0"], ["0", "1"]], ["1", "1"]]]
    assert outcome(good) == VERIFIED
    assert outcome(good, NOTHING) == REFUTED
    for wrong in (tree, [*good, *(tree or [["regular", [["1"]], ["1"]]])]):
        assert outcome(wrong) == NOT_VERIFIED


def of_data(C, D, c, d, about, verdict, *known, **support):
    """The outcome of a claim on the LCPs of a box, with q within d of c."""
    problem = {"M": texts(C), "radius": texts(D), "members": "all", "q": texts(c), "q_radius": texts(d)}
    return proofs.result(problem, about, verdict, support, known)


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

    def outcome(verdict=("0", None), known=(), **changed):
        support = {"by": "cover", "lower": [["bound", ["0", "0"]]]} | changed
        found = verdict if not isinstance(verdict, tuple) else list(verdict)
        return of_data(EYE, NOTHING, [0, 0], [0, 0], "z_0", found, *known, **support)

    assert outcome() == VERIFIED
    assert outcome(lower=cover) != VERIFIED
    for verdict in (("1/100", None), ("0", "0"), ("0",), None, (None, None)):
        assert outcome(verdict) != VERIFIED
    for by in ("tree", "basis"):
        assert outcome(known=[claim("P", "all", by="tree", tree=[["dominant", ["1", "1"]]])], by=by) == NOT_VERIFIED


def refuted(C, D, about, verdict, **support):
    """Whether the numbers of a support contradict the verdict on a box, rather than prove it."""
    found = judged(C, D, about, verdict, **support)
    assert found in (REFUTED, VERIFIED)
    return found == REFUTED


def test_borders_of_the_tree():
    """Singular members at the border of the box: the pivot is zero there, and K u, and the form."""
    edge, inside = [[0, 1], [1, 0]], [[0, "9/10"], ["9/10", 0]]
    branch = [["branch", 1], ["minors"], ["minors"]]
    for tree in (branch, [["dominant", ["1", "1"]]], [["diagonal", ["1", "1"], ["1", "1"]]]):
        assert refuted(EYE, edge, "P", "all", by="tree", tree=tree)
        assert not refuted(EYE, inside, "P", "all", by="tree", tree=tree)
    assert refuted([[1]], [[1]], "P", "all", by="tree", tree=[["minors"]])
    assert refuted(EYE, NOTHING, "P", "all", by="tree", tree=[["dominant", ["0", "1"]]])
    for w, u in ((["0", "1"], ["1", "1"]), (["1", "1"], ["0", "1"])):
        assert refuted(EYE, NOTHING, "P", "all", by="tree", tree=[["diagonal", w, u]])


def test_borders_of_what_holds_for_none():
    """x_i (A x)_i <= 0 may be zero, and <A, X>; sufficient and PSD need less than zero."""
    null, minus = (NOTHING, NOTHING), ([[-1, 0], [0, 0]], NOTHING)
    assert not refuted(*null, "P", "none", by="vector", x=["1", "1"])
    assert refuted(*null, "P", "none", by="vector", x=["0", "0"])
    for name in ("column_sufficient", "row_sufficient"):
        assert refuted(*null, name, "none", by="vector", x=["1", "1"])
        assert not refuted(*minus, name, "none", by="vector", x=["1", "1"])
    assert not refuted(*null, "PD", "none", by="columns", columns=[["1", "0"]])
    assert refuted(*null, "PSD", "none", by="columns", columns=[["1", "0"]])
    assert refuted(*null, "PD", "none", by="columns", columns=[["0", "0"]])
    assert not refuted(*minus, "PSD", "none", by="columns", columns=[["1", "0"]])
    wide = [[-1, 0], [0, 0]], [[1, 0], [0, 0]]
    assert not refuted(*wide, "PD", "none", by="columns", columns=[["1", "0"]])
    assert refuted(*wide, "PSD", "none", by="columns", columns=[["1", "0"]])
    # x (A x) = (-1, 0) at x = (1, 1), and of the transpose (-2, 1).
    skew = [[-1, 0], [-1, 1]], NOTHING
    assert not refuted(*skew, "column_sufficient", "none", by="vector", x=["1", "1"])
    assert refuted(*skew, "row_sufficient", "none", by="vector", x=["1", "1"])
    assert not refuted(*null, "nondegenerate", "none", by="minor", index_set=[1])
    assert refuted(*null, "nondegenerate", "none", by="minor", index_set=[])
    assert refuted(*wide, "nondegenerate", "none", by="minor", index_set=[0])
    assert refuted(*minus, "nondegenerate", "none", by="minor", index_set=[0])


def test_borders_of_what_is_repeated():
    def wrong(radius, name):
        return refuted(EYE, radius, name, "all", by="vertices")

    assert wrong([[1, 0], [0, 0]], "nondegenerate")
    assert not wrong([["1/2", 0], [0, 0]], "nondegenerate")
    assert not wrong([[1, 0], [0, 0]], "PSD")
    assert wrong([["3/2", 0], [0, 0]], "PSD")
    # Signs matter here: the entries off the diagonal at opposite ends, or at equal ones.
    assert wrong([[0, 2], [2, 0]], "PSD")
    assert not wrong([[0, 1], [1, 0]], "PSD")
    for name in ("column_sufficient", "row_sufficient"):
        assert not wrong([[0, 1], ["1/2", 0]], name)
        assert wrong([[0, 3], [3, 0]], name)


def test_the_extreme_members():
    """Of each class a box that is decided by an entry's other end."""
    twice, ones = [[2, 0], [0, 2]], [[1, 1], [1, 1]]
    for name, proof in (("M", {"d": ["1", "1"]}), ("H_plus", {"d": ["1", "1"]}), ("S", {"x": ["1", "1"]})):
        claims = [claim(name, "yes", **proof)]
        # L = [[1, -1], [-1, 1]], and its comparison matrix, and the larger moduli: singular.
        assert refuted(twice, ones, name, "all", by="extreme", claims=claims)
        assert not refuted(twice, EYE, name, "all", by="extreme", claims=claims)
    no, low = [claim("S", "no", y=["1", "1"])], [[-2, 0], [0, -2]]
    assert not refuted(low, ones, "S", "none", by="extreme", claims=no)
    assert refuted(low, [[2, "3/2"], ["3/2", 2]], "S", "none", by="extreme", claims=no)
    assert judged(twice, ones, "P", "all", by="extreme", claims=no) == NOT_VERIFIED


DEFINITE = claim("PD", "yes", by="ldl", order=[0, 1], L=[[], ["0"]], D=["2", "2"])
FOLLOWS = claim("P", "yes", by="implication", **{"from": ["PD"]})
NOT_P = claim("P", "no", index_set=[0, 1], minor="-3", x=["1", "-1"])


def of_members(inside, outside=([[1, 2], [2, 1]], [NOT_P]), even=False):
    """The outcome of "some are P" for the box of radius 2 off the diagonal of I, by two members with their claims."""
    two = [{"matrix": texts(rows), "claims": claims} for rows, claims in (inside, outside)]
    box = EYE, [[0, 2], [2, 0]]
    return judged(*box, "P", "some", even=even, by="members", inside=two[0], outside=two[1])


def test_members_at_and_beyond_the_border():
    proof = [claim("P", "yes", by="tree", tree=[["diagonal", ["1", "1"]]])]
    for rows, some, even in (
        (EYE, VERIFIED, VERIFIED), ([[1, 2], [-2, 1]], VERIFIED, REFUTED), ([[1, "201/100"], [0, 1]], REFUTED, REFUTED),
        ([[1, 0], ["-201/100", 1]], REFUTED, REFUTED), ([["99/100", 0], [0, 1]], REFUTED, REFUTED),
    ):  # fmt: skip
        assert of_members((rows, proof)) == some
        assert of_members((rows, proof), even=True) == even


def test_claims_on_a_member_are_in_order():
    """Each rests on earlier ones alone, and they end in the class."""
    assert of_members((EYE, [DEFINITE, FOLLOWS])) == VERIFIED
    for claims in (
        [FOLLOWS, DEFINITE], [FOLLOWS], [], None, [DEFINITE], [DEFINITE, {**FOLLOWS, "x": 1}],
        [claim("rank", 2)], [{**DEFINITE, "support": None}, FOLLOWS], [NOT_P], [FOLLOWS, DEFINITE, FOLLOWS],
    ):  # fmt: skip
        assert of_members((EYE, claims)) != VERIFIED
    assert of_members((EYE, [DEFINITE, FOLLOWS]), (EYE, [DEFINITE, FOLLOWS])) != VERIFIED


def test_borders_of_an_enclosed_basis():
    """M = 1, q = -1 within d: z = 1 within d, strictly for d < 1 only."""

    def outcome(d, radius, centre="1", R="-1", basis=(0,)):
        proof = {"centre": [centre], "radii": [radius], "R": [[R]]}
        return of_data([[1]], [[0]], [-1], [d], "basis", list(basis), **proof) == VERIFIED

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
    proof = {"centre": ["1", "2"], "radii": ["1/2", "1/2"], "R": [["-1", "0"], ["0", "1"]]}
    data = EYE, NOTHING, [-1, 2], [0, 0], "basis"
    assert of_data(*data, [0], **proof) == VERIFIED
    assert of_data(*data, [0, 1], **proof) != VERIFIED
    for wrong in (
        {"centre": ["1", "-2"]}, {"R": None}, {"R": [["-1", "0"]]}, {"R": [["-1"], ["1"]]}, {"R": proof["R"] * 2},
    ):  # fmt: skip
        assert of_data(*data, [0], **proof | wrong) != VERIFIED


def test_the_number_of_solutions_rests_on_other_claims():
    """M = 1 within 1/4, q = -1: all matrices are P, and z is positive."""
    data = [[1]], [["1/4"]], [-1], [0], "solvable"
    everywhere = claim("P", "all", by="tree", tree=[["minors"]])
    positive = claim("basis", [0], centre=["1"], radii=["1/2"], R=[["-1"]])
    wide = [[0]], [[1]], [-1], [0], "solvable"
    inside = {"matrix": [["1"]], "claims": [claim("P", "yes", by="tree", tree=[["minors"]])]}
    outside = {"matrix": [["-1"]], "claims": [claim("P", "no", index_set=[0], minor="-1", x=["1"])]}
    some = claim("P", "some", by="members", inside=inside, outside=outside)
    assert of_data(*wide[:4], "P", "some", **some["support"]) == VERIFIED
    for verdict, by, known in (("one", "P", everywhere), ("some", "basis", positive)):
        assert of_data(*data, verdict, known, by=by) == VERIFIED
        assert of_data(*data, verdict, by=by) == NOT_VERIFIED
        assert of_data(*wide, verdict, some, by=by) == NOT_VERIFIED
        for wrong, more in (("none", {}), ({"one": "some"}.get(verdict, "one"), {}), (verdict, {"x": 1})):
            assert of_data(*data, wrong, known, by=by, **more) == NOT_VERIFIED


def test_no_solution_is_proved_by_a_cover():
    def outcome(C, cover, **more):
        return of_data([[C]], [["1/2"]], [-1], [0], "solvable", "none", by="cover", **{"cover": cover} | more)

    assert outcome(-1, [["none", ["1"]]]) == VERIFIED
    assert outcome(-1, [["none", ["1"]]], x=1) == outcome(-1, None) == NOT_VERIFIED
    assert outcome(-1, [["none", ["0"]]]) != VERIFIED
    assert of_data([[-1]], [["1/2"]], [-1], [0], "solvable", "none", by="cover") == NOT_VERIFIED
    # M z + q = 0 at z = 2 with M at its upper end 1/2.
    assert {outcome(0, [["none", [y]]]) for y in ("1", "0", "2")} == {REFUTED}


def test_what_rests_on_another_class():
    """The box is minus I, of which no member is PD, or I, of which all are."""
    minus, columns = [[-1, 0], [0, -1]], {"by": "columns", "columns": [["1", "0"]]}
    for name, other in (("P", "PD"), ("column_sufficient", "PSD"), ("row_sufficient", "PSD")):
        none, proof = claim(other, "none", **columns), {"by": "symmetric", "from": other}
        assert judged(minus, NOTHING, name, "none", none, even=True, **proof) == VERIFIED
        assert judged(minus, NOTHING, name, "none", none, **proof) == NOT_VERIFIED
        assert judged(minus, NOTHING, name, "none", even=True, **proof) == NOT_VERIFIED
        assert judged(minus, NOTHING, "S", "none", none, even=True, **proof) == NOT_VERIFIED
        for wrong in ("Z", None, name):
            assert judged(minus, NOTHING, name, "none", none, even=True, **proof | {"from": wrong}) == NOT_VERIFIED
    definite = claim("PD", "all", by="tree", tree=[["dominant", ["1", "1"]]])
    assert judged(EYE, NOTHING, "PD", "all", even=True, **definite["support"]) == VERIFIED
    assert judged(EYE, NOTHING, "P", "none", definite, even=True, by="symmetric", **{"from": "PD"}) == NOT_VERIFIED
    p = claim("P", "all", by="tree", tree=[["dominant", ["1", "1"]]])
    for known, others, wanted in (
        ([p], ["P"], VERIFIED), ([], ["P"], NOT_VERIFIED), ([p], "P", NOT_VERIFIED), ([p], [], NOT_VERIFIED),
        ([p, definite], ["P", "PD"], NOT_VERIFIED), ([p], [0], NOT_VERIFIED), ([p], None, NOT_VERIFIED),
        ([claim("S", "all", by="extreme", claims=[claim("S", "yes", x=["1", "1"])])], ["S"], NOT_VERIFIED),
    ):  # fmt: skip
        assert judged(EYE, NOTHING, "nondegenerate", "all", *known, by="implication", **{"from": others}) == wanted
    no_p = claim("P", "none", by="vector", x=["1", "0"])
    for C, known, conclusion, wanted in (
        (minus, [no_p], "P", VERIFIED), (minus, [], "P", NOT_VERIFIED), (EYE, [p], "P", NOT_VERIFIED),
        (minus, [no_p], "S", NOT_VERIFIED), (minus, [no_p], None, NOT_VERIFIED),
    ):  # fmt: skip
        found = judged(C, NOTHING, "PD", "none", *known, by="implication", conclusion=conclusion)
        assert found == wanted
