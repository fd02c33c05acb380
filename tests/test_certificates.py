"""Certificates: all verdicts are proved to a checker of its own (see `test_checker` and `test_stress` for damage)."""

import base64
import copy
import json
import random
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from tests.proofs import NOT_VERIFIED, counts, document, proves, result, texts, with_digest
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.theorems import THEOREMS
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.diagnostics.certificate import certificate as make_certificate
from workbench.matrices.classes.matrix_classes import IMPLICATIONS
from workbench.matrices.solutions.solution_cover import support_of
from workbench.matrices.solutions.solution_set import solution_set
from workbench.readers.matrix import Matrix
from workbench.support.errors import DataError


def certificate(M, q=None, seconds=20.0):
    """As it comes back from a file."""
    return json.loads(json.dumps(wb.check(M, rhs=q, seconds=seconds).certificate(seconds)))


def samples(count, seed):
    """Matrices and right-hand sides with small entries, so that every degeneracy occurs."""
    chance = random.Random(seed)
    for k in range(count):
        n, entries = chance.choice((1, 2, 3, 3, 4)), chance.choice(((-1, 0, 1), range(-3, 4)))
        M = [[chance.choice(entries) for _ in range(n)] for _ in range(n)]
        if k % 4 == 0:
            M = (np.array(M) @ np.array(M).T).tolist()
        elif k % 4 == 1:
            M = [[abs(x) + 1 if i == j else x for j, x in enumerate(row)] for i, row in enumerate(M)]
        elif k % 4 == 2:
            # Signs of a skew matrix, and rows of different size: P-matrices that are neither definite nor dominant.
            M = [
                [1 if i == j else (1 + 3 * i) * abs(x) * (1 if j > i else -1) for j, x in enumerate(row)]
                for i, row in enumerate(M)
            ]
        yield M, [chance.choice(entries) for _ in range(n)]


def test_every_verdict_is_proved_to_the_checker():
    seen = set()
    for M, q in samples(60, 1):
        document = certificate(M, q)
        assert document["left_out"] == []
        for claim, finding in zip(document["claims"], verify(document), strict=True):
            assert finding.result == VERIFIED, (M, q, finding)
            seen.add((finding.about, str(claim["verdict"]), claim["support"].get("by")))
    assert {
        ("P", "yes", "tree"),
        ("PSD", "yes", "ldl"),
        ("Q0", "yes", "cones"),
        ("solutions", "infinite", None),
    } <= seen
    assert {("solutions", count, None) for count in "012"} <= seen
    assert {("copositive", "yes", "entries"), ("E0", "yes", "repetition"), ("Q", "no", None)} <= seen


@pytest.mark.thorough
@pytest.mark.parametrize("n", [3, 20, 60])
def test_definite_and_semidefinite_matrices_of_any_order_are_proved_by_factors(n):
    A = np.random.default_rng(n).integers(-9, 10, (n, n)).astype(float)
    K = A - A.T
    M = A @ A.T + n * np.eye(n) + K
    document = certificate(M)
    by = {claim["about"]: claim["support"].get("by") for claim in document["claims"]}
    assert by["PD"] == ("ldl" if n < 16 else "cholesky")
    assert {f.about for f in verify(document) if f.result == VERIFIED} >= {"PD", "PSD", "P", "Q", "R0"}
    support = next(claim["support"] for claim in document["claims"] if claim["about"] == "PD")
    assert not proves("PD", "yes", M - 1e-9 * np.diag([1e12, *[0.0] * (n - 1)]), support)
    if n <= 20:
        # All classes of order 20 would take the whole time allowed; what this is about takes a moment of it.
        semidefinite = certificate(A[:, :-1] @ A[:, :-1].T + K, seconds=2.0)
        assert all(finding.result in (VERIFIED, NOT_VERIFIED) for finding in verify(semidefinite))
        claimed = {claim["about"]: claim["verdict"] for claim in semidefinite["claims"]}
        assert (claimed["PSD"], claimed["PD"]) == ("yes", "no")


def test_a_frictional_matrix_is_proved_copositive_by_its_splitting():
    """The polygon's LCP: a semidefinite part, and a border of ones and mu."""
    M = [[3, 1, -1, 0], [1, 2, -2, 1], [-1, -2, 2, 1], ["1/2", -1, -1, 0]]
    document = certificate([[str(x) for x in row] for row in M])
    support = next(claim["support"] for claim in document["claims"] if claim["about"] == "copositive")
    assert support["by"] == "split"
    assert all(finding.result == VERIFIED for finding in verify(document))


def test_a_tree_of_principal_pivots_is_proved_and_no_other():
    """Ones and random entries of which no one diagonal W proves all: a branch, and leaves with a W each."""
    n = 16
    A = np.random.default_rng(5).uniform(-0.45, 0.45, (n, n))
    np.fill_diagonal(A, 1.0)
    document = certificate(A.tolist())
    claim = next(claim for claim in document["claims"] if claim["about"] == "P")
    assert claim["verdict"] == "yes"
    tree = claim["support"]["tree"]
    assert {line[0] for line in tree} == {"branch", "diagonal"}
    assert proves("P", "yes", A, {"by": "tree", "tree": tree})
    assert not proves("P", "yes", A, {"by": "tree", "tree": tree[:-1]})
    assert not proves("P", "yes", A, {"by": "tree", "tree": [*tree, ["minors"]]})
    assert not proves("P", "yes", A - 1.2 * np.eye(n), {"by": "tree", "tree": tree})


@pytest.mark.thorough
def test_a_quotient_of_dominant_matrices_is_proved_and_so_is_its_transpose():
    """M = B C^-1 with B = [[3, 2], [0, 1]] and C = [[2, -1], [1, 2]], both row-dominant; M^T is not of this C."""
    M, C = [["4/5", "7/5"], ["-1/5", "2/5"]], [["2", "-1"], ["1", "2"]]
    assert proves("P", "yes", M, {"by": "tree", "tree": [["quotient", C]]})
    turned = [list(row) for row in zip(*M, strict=True)]
    assert proves("P", "yes", turned, {"by": "tree", "tree": [["transpose"], ["quotient", C]]})
    assert not proves("P", "yes", turned, {"by": "tree", "tree": [["quotient", C]]})
    assert not proves("P", "yes", M, {"by": "tree", "tree": [["quotient", [["1", "1"], ["0", "1"]]]]})
    assert not proves("P", "yes", M, {"by": "tree", "tree": [["quotient", [["-2", "1"], ["-1", "-2"]]]]})
    n = 30
    chance = np.random.default_rng(1)
    B, C = (dominant(chance, n) for _ in range(2))
    document = certificate((B @ np.linalg.inv(C)).tolist(), seconds=60.0)
    claim = next(claim for claim in document["claims"] if claim["about"] == "P")
    assert [finding.result for finding in verify(document) if finding.about == "P"] == [VERIFIED]
    assert "quotient" in {line[0] for line in claim["support"]["tree"]}


def dominant(chance, n):
    """Two random entries a row beside the diagonal, which exceeds their sum by 0.1 %."""
    M = np.zeros((n, n))
    for i in range(n):
        others = chance.choice([j for j in range(n) if j != i], 2, replace=False)
        M[i, others] = chance.normal(size=2)
        M[i, i] = 1.001 * np.abs(M[i]).sum()
    return M


@pytest.mark.parametrize(
    ("name", "M", "tree"),
    [
        ("a minor is zero", [[1, 1], [1, 1]], [["minors"]]),
        ("the pivot is negative", [[-1, 0], [0, 1]], [["branch", 0], ["minors"], ["minors"]]),
        ("not triangular", [[1, 2], [2, 1]], [["blocks", [[0], [1]]], ["minors"], ["minors"]]),
        ("an index twice", [[1, 2], [0, 1]], [["blocks", [[0], [0]]], ["minors"], ["minors"]]),
        ("W is zero", [[1, 0], [0, 1]], [["diagonal", ["0", "0"]]]),
        ("W does not fit", [[1, 9], [0, 1]], [["diagonal", ["1", "1"]]]),
        ("unknown", [[1]], [["trust me"]]),
    ],
)
def test_a_false_tree_proves_nothing(name, M, tree):
    assert not proves("P", "yes", M, {"by": "tree", "tree": tree}), name


def test_covers_of_degenerate_problems_are_accepted():
    """M_aa is singular in a branch, and only the signs of the unknowns leave the solution alone."""
    chance, pinned = random.Random(9), 0
    for _ in range(300):
        n = chance.choice((2, 3))
        M = [[chance.choice((-1, 0, 0, 1)) for _ in range(n)] for _ in range(n)]
        q = [chance.choice((0, 0, 0, 1, -1)) for _ in range(n)]
        found = solution_set(fmpq_mat(M), [fmpq(x) for x in q], float("inf"))
        if type(found.count) is int and found.count:
            support = support_of(fmpq_mat(M), [fmpq(x) for x in q], found, float("inf"))
            assert counts(M, q, found.count, **support)
            pinned += any(node[0] == "point" and set(node[2]) != {"0"} for node in support["cover"])
    assert pinned > 10


def test_a_matrix_without_a_certificate_is_reported_so(monkeypatch):
    with pytest.raises(DataError, match="2 x 3; certificates are written for square ones"):
        make_certificate(Matrix(np.eye(2, 3)), None, {"p_matrix": None})
    monkeypatch.setattr("workbench.diagnostics.certificate.MOST_ENTRIES", 600)
    with pytest.raises(DataError, match="601 x 601 with 601 entries other than zero"):
        make_certificate(Matrix(np.eye(601)), None, {"p_matrix": {}})


def test_the_checkers_theorems_are_those_that_verdicts_are_drawn_from():
    drawn = {(frozenset(premises), conclusion): source for premises, conclusion, source in IMPLICATIONS}
    assert drawn == THEOREMS


@pytest.mark.parametrize("n", [2, 5, 18])
def test_distances_are_enclosed_and_no_other_bounds_are(n):
    """I + c E, all entries of E one: the least singular value of every block of order two or more is one."""
    M = np.eye(n) + np.full((n, n), 0.125)
    document = certificate(M.tolist())
    claim = next(claim for claim in document["claims"] if claim["about"] == "distance_to_non_p")
    lower, upper = (float(Fraction(x)) for x in claim["verdict"])
    assert lower <= 1.0 <= upper < 1.0 + 1e-6
    assert {f.about for f in verify(document) if f.result == VERIFIED} >= {
        "distance_to_non_p",
        "distance_to_degenerate",
    }
    for factor_below, factor_above in ((1.5, 1.5), (0.5, 0.5)):
        false = copy.deepcopy(document)
        for other in false["claims"]:
            if other["about"].startswith("distance"):
                other["verdict"] = [str(Fraction(lower * factor_below)), str(Fraction(upper * factor_above))]
        false = with_digest(false)
        assert not {f.about for f in verify(false) if f.result == VERIFIED} & {
            "distance_to_non_p",
            "distance_to_degenerate",
        }


def test_implications_need_what_they_rest_on():
    M, support = [[1]], {"by": "implication", "from": ["PD"]}
    definite = {"about": "PD", "verdict": "yes", "support": {"by": "ldl", "order": [0], "L": [[]], "D": ["2"]}}
    P = {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["minors"]]}}
    assert proves("P", "yes", M, support, [definite])
    assert not proves("P", "yes", M, support, [{**definite, "verdict": "no"}])
    assert not proves("P", "yes", M, support)
    assert not proves("PD", "yes", M, {"by": "implication", "from": ["P"]}, [P])
    backwards = {"by": "implication", "from": ["P0"], "conclusion": "P"}
    weak = {"about": "P0", "verdict": "yes", "support": {"by": "repetition"}}
    no = {"about": "P", "verdict": "no", "support": {"index_set": [0]}}
    assert proves("nondegenerate", "no", [[0]], backwards, [weak, no])
    assert not proves("nondegenerate", "no", M, backwards, [weak, P])


def test_the_checker_needs_python_alone():
    code = (
        "import sys, workbench.certificates.verify\n"
        "outside = {m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names) - {'workbench'}\n"
        "inside = {m for m in sys.modules if m.startswith('workbench.') and 'certificates' not in m}\n"
        "print(sorted(inside), 'numpy' in outside, 'flint' in outside)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False False"


def test_a_page_links_each_verdict_to_its_proof_and_holds_a_certificate_that_verifies():
    page = wb.check([[1, 2], [2, 1]], rhs=[-3, -4]).html()
    held = re.search(r'href="data:application/json;base64,([^"]*)"', page)
    assert held
    assert wb.verify(json.loads(base64.b64decode(held[1])), of=[[1, 2], [2, 1]], rhs=[-3, -4]).holds
    links = re.findall(r'href="#(proof-\w+)"', page)
    assert len(links) == 19
    assert all(f'id="{link}"' in page for link in links)


def test_from_a_matrix_to_a_verified_certificate_on_the_command_line(tmp_path, capsys):
    (tmp_path / "M.csv").write_text("2 -1\n-1 4/3\n", "utf-8")
    (tmp_path / "other.csv").write_text("2 -1\n-1 1.3\n", "utf-8")
    matrix, proof = str(tmp_path / "M.csv"), str(tmp_path / "proof.json")
    assert main(["check", matrix, "--certificate", proof]) == 0
    assert main(["verify", proof, "--of", matrix]) == 0
    assert "claims hold" in capsys.readouterr().out
    assert main(["verify", proof, "--of", str(tmp_path / "other.csv")]) == 2
    assert "about another problem" in capsys.readouterr().err
    document = json.loads((tmp_path / "proof.json").read_text("utf-8"))
    document["claims"][0]["verdict"] = 1
    (tmp_path / "proof.json").write_text(json.dumps(document), "utf-8")
    assert main(["verify", proof]) == 2
    assert "damaged" in capsys.readouterr().err
    document = with_digest(document)
    (tmp_path / "proof.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(SystemExit) as end:
        main(["verify", proof, "--json"])
    assert end.value.code == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["holds"]) == ("refuted", False)
    assert found["claims"][0] == {"about": "rank", "claim": "1", "result": "refuted", "reason": "the rank is 2"}


def test_ranks_and_minors_are_exact():
    chance = random.Random(7)
    for _ in range(60):
        n = chance.randint(1, 5)
        M = [[Fraction(chance.randint(-3, 3), chance.randint(1, 3)) for _ in range(n)] for _ in range(n)]
        exact, problem = fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in M]), {"M": texts(M)}
        for rank in range(n + 1):
            assert (result(problem, "rank", rank, {}) == VERIFIED) == (rank == exact.rank())
        minor = exact.det()
        for said in (minor, minor + 1):
            support = {"index_set": list(range(n)), "minor": str(said)}
            assert (result(problem, "P", "no", support) == VERIFIED) == (said == minor <= 0)


@pytest.mark.parametrize("given", ["1e9", "1/0", "½", "", "1.5", None, True, 1.5, "--1", "1" + " ", "1_000", "+1"])
def test_a_number_is_a_fraction_of_integers(given):
    with pytest.raises(RefusedError):
        verify(document({"M": [[given]]}))
