"""Verdicts on large matrices: known by construction, equal to those on small ones, and their certificates."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite, savemat

import workbench as wb
import workbench.verbs.verify as verb
from tests.proofs import REFUTED, document, with_digest
from tests.thorough import quickly
from workbench.certificates import blocks, exact
from workbench.certificates.outcomes import VERIFIED
from workbench.certificates.verify import verify
from workbench.diagnostics import certificate, check, large_matrix
from workbench.matrices.classes import structure
from workbench.matrices.classes.matrix_classes import matrix_classes
from workbench.matrices.linear_algebra import sparse_form
from workbench.matrices.linear_algebra.blocks import irreducible_blocks, islands
from workbench.matrices.linear_algebra.definiteness import form_at, pivot_direction, proved_positive_definite
from workbench.problems.friction_problem import FrictionProblem
from workbench.readers.matrix import Matrix
from workbench.readers.problem import read_problem
from workbench.support.errors import DataError

ALWAYS = float("inf")
THRESHOLDS = {
    large_matrix: {"LARGEST_ORDER": 6, "LARGEST_P": 0, "WINDOW": 6},
    check: {"LARGEST_ORDER": 6, "LARGEST_P": 0, "LARGEST_BY_SETS": 0},
    structure: {"LARGEST_DENSE": 6, "FILLED": 1.0},
    certificate: {"LARGEST": 6},
    exact: {"ORDER": 6},
    blocks: {"ORDER": 6},
    verb: {"ORDER": 6},
}


@pytest.fixture
def large_from_seven(monkeypatch):
    """Matrices of order seven are treated as large ones."""
    for module, values in THRESHOLDS.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)


def second_differences(n, diagonal=2.0):
    """Tridiagonal (-1, diagonal, -1): its smallest eigenvalue is diagonal - 2 cos(pi / (n + 1))."""
    return sparse.diags_array([-np.ones(n - 1), np.full(n, diagonal), -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()


def p_block(rng, m):
    """Positive definite plus skew, its rows scaled: a P-matrix that is neither definite nor dominant."""
    A, K = rng.integers(-2, 3, (m, m)), rng.integers(-9, 10, (m, m))
    scale = np.exp2(rng.integers(-3, 4, m))
    return scale[:, None] * (A @ A.T + np.eye(m) + K - K.T)


def block_matrix(rng, sizes, lost=None, coupled=False):
    """Diagonal blocks, one of them with a negative minor, or block triangular and its rows and columns in disorder."""
    blocks = [p_block(rng, m) for m in sizes]
    if lost is not None:
        blocks[lost][0, 1] = blocks[lost][1, 0] = 2 * np.sqrt(blocks[lost][0, 0] * blocks[lost][1, 1])
    M = sparse.block_diag(blocks).toarray()
    if coupled:
        label = np.repeat(np.arange(len(sizes)), sizes)
        for _ in range(3 * len(M)):
            i, j = rng.integers(0, len(M), 2)
            if label[i] < label[j]:
                M[i, j] = 100 * rng.normal()
        # Each block leads to the next, so that there is one island.
        ends = np.cumsum(sizes)[:-1]
        M[ends - 1, ends] = 1.0
        order = rng.permutation(len(M))
        M = M[order][:, order]
    return M


def verdicts(found):
    return {name: entry["verdict"] for name, entry in found.data["classes"].items()}


def certified(M, found):
    """The claims that are verified, on the matrix itself."""
    checked = wb.verify(found.certificate(), of=M)
    assert checked.outcome == VERIFIED, checked.text
    return {f.about: f.claim for f in checked.findings}


@pytest.mark.parametrize("n", quickly([30, 610], lambda n: n == 30))
def test_a_sparse_definite_m_matrix_belongs_to_every_class(n, request):
    if n < 600:
        request.getfixturevalue("large_from_seven")
    M = second_differences(n).toarray()
    found = wb.check(M)
    assert set(verdicts(found).values()) == {"yes"}
    assert found.data["definiteness"]["verdict"] == "positive definite"
    claims = certified(M, found)
    assert {claims[name] for name in ("P", "PD", "M", "H_plus", "Q")} == {"yes"}


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.usefixtures("large_from_seven")
def test_blocks_decide_the_p_property_of_a_large_matrix(coupled):
    rng, sizes = np.random.default_rng(3), [2, 3, 4, 5, 3, 2] * 2
    M = block_matrix(rng, sizes, coupled=coupled)
    found = wb.check(M)
    assert found.data["blocks"]["count"] >= len(sizes)
    assert found.data["blocks"]["islands"] is not coupled
    yes = [name for name, verdict in verdicts(found).items() if verdict == "yes"]
    assert {"P", "P0", "nondegenerate", "E", "E0", "R0", "S", "Q"} <= set(yes)
    claims = certified(M, found)
    assert (claims["P"], claims["Q"], claims["blocks"]) == ("yes", "yes", "block triangular" if coupled else "islands")


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.usefixtures("large_from_seven")
def test_one_block_that_is_not_p_is_a_witness_for_the_whole(coupled):
    rng = np.random.default_rng(5)
    M = block_matrix(rng, [3] * 8, lost=5, coupled=coupled)
    found = wb.check(M)
    entry = found.data["p_matrix"]
    assert entry["verdict"] == "not P"
    a = entry["witness"]["index_set"]
    assert np.linalg.det(M[np.ix_(a, a)]) <= 0
    assert certified(M, found)["P"] == "no"


def test_small_matrices_get_the_same_verdicts_by_blocks_and_by_themselves(monkeypatch):
    """What is decided on blocks and sparse factors agrees with the search of all minors, and is proved."""
    rng = np.random.default_rng(11)
    for _ in range(8):
        sizes = rng.integers(1, 4, rng.integers(2, 4))
        blocks = [rng.integers(-2, 3, (m, m)).astype(float) for m in sizes]
        blocks = [A @ A.T if rng.random() < 0.4 else A for A in blocks]
        M = sparse.block_diag(blocks).toarray()
        if rng.random() < 0.5:
            label = np.repeat(np.arange(len(sizes)), sizes)
            M += (label[:, None] < label) * rng.integers(-2, 3, M.shape)
        order = rng.permutation(len(M))
        matrix = Matrix(M[order][:, order])
        plain = matrix_classes(matrix.exact, ALWAYS)
        with monkeypatch.context() as m:
            for name, value in (("LARGEST_ORDER", 3), ("LARGEST_P", 0)):
                m.setattr(large_matrix, name, value)
            m.setattr(structure, "LARGEST_DENSE", 3)
            m.setattr(structure, "FILLED", 1.0)
            found = large_matrix.judged(matrix, ALWAYS).classes
        for name, verdict in found.items():
            assert {verdict.verdict, plain[name].verdict} != {"yes", "no"}, (name, matrix.values)


def test_a_form_on_the_edge_is_never_called_definite():
    """Sparse and dense factors, on both sides of a known smallest eigenvalue."""
    n = 200
    least = 2 - 2 * np.cos(np.pi / (n + 1))
    for shift in (1e-9, 1e-12):
        M = second_differences(n, 2 - least - shift)
        found = sparse_form.sparse_form(M, ALWAYS)
        assert found.factor is None
        assert not proved_positive_definite(M.toarray())
    M = second_differences(n, 2 - least - 1e-9)
    found = sparse_form.sparse_form(M, ALWAYS)
    assert form_at(M, found.direction) < 0
    assert form_at(M.toarray(), pivot_direction(M.toarray())) < 0
    M = second_differences(n, 2 - least + 1e-9)
    assert sparse_form.sparse_form(M, ALWAYS).factor is not None
    assert proved_positive_definite(M.toarray())
    # A semidefinite form is singular, whatever rounding makes of it.
    ring = second_differences(n).tolil()
    ring[0, n - 1] = ring[n - 1, 0] = -1
    assert sparse_form.sparse_form(ring.tocsr(), ALWAYS).factor is None


def test_cancelled_entries_of_the_product_count_as_rounding():
    """The factor of another matrix leaves no dominance, however small the entries that differ."""
    S = sparse.csc_array(np.array([[2.0, 1e-3], [1e-3, 2.0]]))
    G = sparse.csr_array(np.diag([np.sqrt(2.0 - 1e-4), np.sqrt(2.0 - 1e-4)]))
    assert not sparse_form._leaves_dominance(S, abs(S), G)
    G = sparse.csr_array(np.diag([np.sqrt(2.0 - 2e-3), np.sqrt(2.0 - 2e-3)]))
    assert sparse_form._leaves_dominance(S, abs(S), G)


def test_blocks_come_in_the_order_of_the_triangular_form():
    rng = np.random.default_rng(2)
    M = block_matrix(rng, [3, 1, 4, 2, 5], coupled=True)
    blocks = irreducible_blocks(sparse.csr_array(M))
    assert sorted(map(len, blocks)) == [1, 2, 3, 4, 5]
    for k, rows in enumerate(blocks):
        for earlier in blocks[:k]:
            assert not M[np.ix_(rows, earlier)].any()
    assert islands(sparse.csr_array(M)) == [list(range(15))]
    # An entry in one direction couples.
    assert islands(sparse.csr_array(np.array([[1.0, 0, 0], [0, 1, 0], [1, 0, 1]]))) == [[0, 2], [1]]


def of(document):
    """The outcomes by subject, with the digest that fits."""
    return {f.about: f.result for f in verify(json.loads(json.dumps(with_digest(document))))}


def claim(document, about):
    return next(c for c in document["claims"] if c["about"] == about)


@pytest.mark.usefixtures("large_from_seven")
def test_forged_certificates_of_large_matrices_are_not_accepted():
    rng = np.random.default_rng(7)
    M = block_matrix(rng, [4] * 5)
    document = wb.check(M).certificate()
    assert of(document)["P"] == VERIFIED
    # An entry that couples two blocks.
    forged = copy.deepcopy(document)
    forged["problem"]["M"]["rows"][0][0].append(19)
    forged["problem"]["M"]["rows"][0][1].append("1")
    assert of(forged)["blocks"] == REFUTED
    assert of(forged)["P"] != VERIFIED
    # The same blocks, said to be triangular: true, but coupling back is not.
    triangular = copy.deepcopy(forged)
    claim(triangular, "blocks")["verdict"] = "block triangular"
    assert of(triangular)["P"] == VERIFIED
    triangular["problem"]["M"]["rows"][19][0].append(0)
    triangular["problem"]["M"]["rows"][19][1].append("1")
    assert of(triangular)["blocks"] == REFUTED
    # A block that is lost, one that belongs twice, one that differs from its kind.
    for change in (lambda kinds: kinds.pop(), lambda kinds: kinds[0]["rows"].append(kinds[0]["rows"][0])):
        forged = copy.deepcopy(document)
        change(claim(forged, "blocks")["support"]["kinds"])
        assert of(forged)["P"] != VERIFIED
    forged = copy.deepcopy(document)
    kinds = claim(forged, "blocks")["support"]["kinds"]
    kinds[0]["rows"] += kinds.pop()["rows"]
    assert of(forged)["blocks"] == REFUTED
    # A class that blocks do not decide, and the opposite verdict.
    for name, verdict in (("PD", "yes"), ("P", "no"), ("Q0", "no")):
        forged = copy.deepcopy(document)
        forged["claims"] = [c for c in forged["claims"] if c["about"] in ("blocks", "indefinite")]
        forged["claims"].append({"about": name, "verdict": verdict, "support": {"by": "blocks"}})
        assert of(forged)[name] != VERIFIED


@pytest.mark.usefixtures("large_from_seven")
def test_diagonal_blocks_do_not_decide_every_class():
    """Blocks of one row are positive definite, the whole is not; blocks without S do not keep the whole from it."""

    def claimed(M, about, verdict, single):
        problem = {"n": len(M), "rows": [[[j for j, x in enumerate(r) if x], [str(x) for x in r if x]] for r in M]}
        kinds = [{"rows": [[i]], "claims": [{"about": about, "verdict": verdict, "support": single}]} for i in range(8)]
        claims = [
            {"about": "blocks", "verdict": "block triangular", "support": {"kinds": kinds}},
            {"about": about, "verdict": verdict, "support": {"by": "blocks"}},
        ]
        return of(document({"M": problem}, *claims))

    definite = {"by": "ldl", "order": [0], "L": [[]], "D": ["2"]}
    upper = [[9 if j == i + 1 else int(i == j) for j in range(8)] for i in range(8)]
    found = claimed(upper, "PD", "yes", definite)
    assert (found["blocks"], found["PD"] == VERIFIED) == (VERIFIED, False)
    nilpotent = [[9 if j == i + 1 else 0 for j in range(8)] for i in range(8)]
    found = claimed(nilpotent, "S", "no", {"y": ["1"]})
    assert (found["blocks"], found["S"] == VERIFIED) == (VERIFIED, False)


@pytest.mark.usefixtures("large_from_seven")
def test_forged_factors_are_not_accepted():
    document = wb.check(second_differences(20).toarray()).certificate()
    assert of(document)["PD"] == VERIFIED

    def changed(change):
        forged = copy.deepcopy(document)
        change(forged, claim(forged, "PD")["support"])
        return of(forged)["PD"]

    def diagonal(forged, i, value):
        columns, entries = forged["problem"]["M"]["rows"][i]
        entries[columns.index(i)] = value

    assert changed(lambda forged, _: diagonal(forged, 10, "1")) == REFUTED
    assert changed(lambda _, s: s["G"][5][1].__setitem__(0, s["G"][5][1][0] // 2)) == REFUTED
    assert changed(lambda _, s: s["order"].__setitem__(0, s["order"][1])) != VERIFIED
    assert changed(lambda _, s: s["powers"].__setitem__(0, s["powers"][0] + 1)) == REFUTED
    assert changed(lambda _, s: s["G"][7][0].__setitem__(0, 19)) != VERIFIED
    assert changed(lambda _, s: s.update(bits=51)) == REFUTED
    document["claims"] = [{**c, "about": "PSD"} for c in document["claims"] if c["about"] == "PD"]
    assert of(document)["PSD"] != VERIFIED


@pytest.mark.usefixtures("large_from_seven")
def test_a_certificate_of_another_large_matrix_is_refused():
    M = second_differences(20).toarray()
    document = wb.check(M).certificate()
    M[0, 0] = 3
    with pytest.raises(wb.WorkbenchError, match="M differs"):
        wb.verify(document, of=M)


@pytest.mark.usefixtures("large_from_seven")
def test_what_is_left_open_is_said_in_one_line():
    """A cycle that is neither definite nor dominant, nor of blocks."""
    M = np.eye(12) + 1.5 * np.eye(12, k=1) + 1.5 * np.eye(12, k=-11)
    found = wb.check(M)
    open_ = [name for name, verdict in verdicts(found).items() if verdict == "undecided"]
    reasons = {found.data["classes"][name]["reason"] for name in open_}
    assert open_
    assert len(reasons) == 1
    assert " ".join(found.text.split()).count(reasons.pop()) >= 1


def test_sparse_files_are_read_as_typed(tmp_path):
    path = tmp_path / "M.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n700 700 3\n1 1 0.1\n700 2 1e-400\n3 3 4\n")
    M = read_problem(path)[0]
    assert M.values[0, 0] == 0.1
    assert structure.nonzeros(M)[1] == {699: structure.parse_rational("1e-400")}
    assert structure.nonzeros(M)[0] == {0: structure.parse_rational("0.1")}
    mmwrite(path, sparse.coo_array(second_differences(700)))
    assert (read_problem(path)[0].values == second_differences(700).toarray()).all()


def two_piles(rng, slip=0.0):
    """Two islands of a block on two contacts each in space, W definite by compliance, in disorder."""
    W = np.zeros((12, 12))
    for contacts in ((0, 2), (1, 3)):
        rows = [*contacts, *(4 + 2 * i + k for i in contacts for k in range(2))]
        A = rng.normal(size=(6, 6))
        W[np.ix_(rows, rows)] = A @ A.T + np.eye(6)
    return FrictionProblem(W, np.r_[-np.ones(4), np.full(8, slip)], np.full(4, 0.3))


def test_islands_of_contacts_are_checked_alone(monkeypatch):
    rng = np.random.default_rng(4)
    p = two_piles(rng, 0.2)
    whole = wb.check(p).data["problem"]["existence"]
    monkeypatch.setattr("workbench.diagnostics.problem_check.LARGEST", 10)
    found = wb.check(p)
    posed = found.data["problem"]
    assert [x["contacts"] for x in posed["islands"]["each"]] == [[0, 2], [1, 3]]
    assert [x["verdict"] for x in posed["existence"]] == [x["verdict"] for x in whole] == ["exists", "exists"]
    assert posed["computed"]["verified"]
    assert found.data["p_matrix"]["verdict"] == "P"
    document = found.certificate()
    assert wb.verify(document, of=p)
    # The islands in other words: one too few, and an entry that couples them.
    few = copy.deepcopy(document)
    for c in few["claims"]:
        c["support"]["islands"].pop()
    assert VERIFIED not in of(few).values()
    coupled = copy.deepcopy(document)
    coupled["problem"]["W"][0][1] = "1"
    assert set(of(coupled).values()) == {REFUTED}


def test_an_island_without_a_solution_leaves_the_whole_without_one(monkeypatch):
    """The second contact is pushed where nothing yields."""
    W = np.zeros((6, 6))
    W[np.ix_([0, 2, 3], [0, 2, 3])] = np.eye(3)
    p = FrictionProblem(W, -np.ones(6), np.ones(2))
    monkeypatch.setattr("workbench.diagnostics.problem_check.LARGEST", 5)
    found = wb.check(p)
    assert [x["verdict"] for x in found.data["problem"]["existence"]] == ["none", "none"]
    document = found.certificate()
    assert wb.verify(document, of=p)
    forged = copy.deepcopy(document)
    for c in forged["claims"]:
        c["support"]["contacts"] = [0]
    assert VERIFIED not in of(forged).values()


def test_an_island_beyond_rationals_is_decided_by_factors_or_left_open(monkeypatch):
    monkeypatch.setattr("workbench.diagnostics.problem_check.LARGEST", 5)
    monkeypatch.setattr("workbench.diagnostics.friction_check.LARGEST", 5)
    rng = np.random.default_rng(9)
    p = two_piles(rng, 0.2)
    posed = wb.check(p).data["problem"]
    assert [x["verdict"] for x in posed["existence"]] == ["exists", "exists"]
    assert "positive definite" in posed["islands"]["each"][0]["existence"][0]["proof"]
    singular = FrictionProblem(p.W.toarray() * np.outer(np.arange(12) > 3, np.arange(12) > 3), p.q, p.mu)
    entry = wb.check(singular).data["problem"]["existence"][0]
    assert entry["verdict"] == "undecided"
    assert "islands are open" in entry["reason"]


def test_midpoints_and_radii_of_an_archive_are_intervals(tmp_path):
    mid, rad = np.array([[2.0, 1.0], [1.0, 2.0]]), np.full((2, 2), 0.125)
    expected = wb.check(wb.interval(mid, rad), rhs=[-1, -1]).data["solutions"]
    np.savez(tmp_path / "a.npz", mid=mid, rad=rad, q=[-1.0, -1.0])
    savemat(tmp_path / "b.mat", {"midpoint": mid, "radius": rad, "q": np.array([[-1.0], [-1.0]])})
    for name in ("a.npz", "b.mat"):
        found = wb.check(tmp_path / name).data
        assert (found["solutions"]["lower"], found["solutions"]["upper"]) == (expected["lower"], expected["upper"])
    # Tenths and their differences are not rounded.
    np.savez(tmp_path / "c.npz", mid=[[0.1]], rad=[[0.3]])
    M = read_problem(tmp_path / "c.npz", intervals=True)[0]
    assert [Fraction(str(x.exact[0, 0])) for x in (M, M.upper)] == [
        Fraction(0.1) - Fraction(0.3),
        Fraction(0.1) + Fraction(0.3),
    ]
    np.savez(tmp_path / "d.npz", mid=mid, rad=-rad)
    with pytest.raises(DataError, match=r"d.npz: radius \[0, 0\] is -1/8"):
        read_problem(tmp_path / "d.npz", intervals=True)
    np.savez(tmp_path / "e.npz", mid=np.ones((201, 201)), rad=np.ones((201, 201)))
    with pytest.raises(DataError, match="201 x 201 intervals; at most 40000"):
        read_problem(tmp_path / "e.npz", intervals=True)
