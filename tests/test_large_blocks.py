"""Large irreducible matrices that are neither definite nor dominant: without cycles, and with rows in other units."""

import copy
import json
import time

import numpy as np
import pytest
from scipy import sparse

import workbench as wb
from tests.boxes import rational
from tests.proofs import proves
from tests.test_large_matrices import large_from_seven  # noqa: F401
from workbench.certificates.documents import signed
from workbench.certificates.outcomes import VERIFIED
from workbench.certificates.verify import verify
from workbench.matrices.classes import structure
from workbench.matrices.p_property.verdict import p_verdict
from workbench.problems.classes import MLCP
from workbench.readers.matrix import Matrix


def tree_matrix(rng, n, diagonal):
    """Random entries along the edges of a random tree, both directions."""
    A = np.diag(np.round(diagonal * (0.5 + rng.random(n)), 2))
    for j in range(1, n):
        i = int(rng.integers(0, j))
        A[i, j], A[j, i] = np.round(rng.standard_normal(2), 2)
    return A


def p_of(A, seconds=20.0):
    found = wb.check(A, seconds=seconds)
    return found, found.data["classes"]["P"]


@pytest.mark.parametrize("seed", range(30))
def test_verdicts_without_cycles_are_those_of_all_minors(seed, large_from_seven):  # noqa: F811
    rng = np.random.default_rng(seed)
    A = tree_matrix(rng, 9, rng.choice([0.5, 1.0, 2.0]))
    found, p = p_of(A)
    if p["verdict"] == "undecided":
        return
    assert p["verdict"] == ("yes" if p_verdict(rational(A), 10.0).verdict == "P" else "no")
    document = json.loads(json.dumps(found.certificate()))
    assert next(x for x in verify(document) if x.about == "P").result == VERIFIED


def test_few_matrices_without_cycles_stay_open():
    """By the structure alone: with its minors everything of order nine is decided."""
    rng, open_ = np.random.default_rng(1), 0
    for _ in range(60):
        s = structure.Structure.of(Matrix(tree_matrix(rng, 9, 1.0)), time.perf_counter() + 1e9, False)
        verdicts = {name: verdict for name, verdict, *_ in structure.findings(s)}
        open_ += "P" not in verdicts
    assert open_ == 0


@pytest.mark.parametrize("diagonal", [pytest.param(2.0, marks=pytest.mark.thorough), 0.2])
def test_a_long_tree_that_is_neither_definite_nor_dominant(diagonal):
    """Pairs of opposite signs of size nine next to a small diagonal, and pairs of one sign with product 1/4."""
    n = 1500 if diagonal == 2.0 else 400
    rng = np.random.default_rng(4)
    A = np.diag(np.full(n, diagonal))
    for j in range(1, n):
        i = max(0, j - int(rng.integers(1, 4)))
        A[i, j], A[j, i] = (9.0, -7.0) if j % 3 else (0.25, 1.0)
    found, p = p_of(A)
    assert found.data["classes"]["H_plus"]["verdict"] == "no"
    assert p["verdict"] == ("yes" if diagonal == 2.0 else "no")
    document = json.loads(json.dumps(found.certificate()))
    assert next(x for x in verify(document) if x.about == "P").result == VERIFIED
    if diagonal == 2.0:
        claim = next(c for c in document["claims"] if c["about"] == "P")
        assert claim["support"]["by"] == "forest"
        for change in (
            lambda c: c["support"]["d"].__setitem__(3, "0"),
            lambda c: c["support"]["d"].__setitem__(3, "1000"),
        ):
            forged = copy.deepcopy(document)
            change(next(c for c in forged["claims"] if c["about"] == "P"))
            forged = signed(forged["problem"], forged["claims"], [])
            assert next(x for x in verify(forged) if x.about == "P").result != VERIFIED


def cycle_document(corner):
    """A certificate of a tridiagonal matrix, with a corner entry that closes a cycle."""
    found, _ = p_of(np.diag([2.0] * 4) + np.diag([1.0, 1.0, 1.0], 1) + np.diag([0.5, -0.5, 0.5], -1))
    problem = found.certificate()["problem"]
    problem["M"][0][3] = corner
    return signed(problem, [{"about": "P", "verdict": "yes", "support": {"by": "forest", "d": ["1"] * 4}}], [])


def test_a_cycle_is_no_forest():
    for corner, wanted in (("0", True), ("1", False), ("-1/100", False)):
        (finding,) = verify(cycle_document(corner))
        assert (finding.result == VERIFIED) == wanted


@pytest.mark.thorough
@pytest.mark.parametrize("band", [2, 5])
def test_a_banded_matrix_in_other_units(band):
    """A definite banded matrix with rows of other units: W M + M^T W is definite for one diagonal W."""
    n, rng = 900, np.random.default_rng(band)
    offsets = range(-band, band + 1)
    B = sparse.diags_array([rng.standard_normal(n - abs(k)) for k in offsets], offsets=list(offsets), shape=(n, n))
    S = (B @ B.T).toarray() + 0.3 * np.eye(n)
    A = np.exp2(rng.integers(-8, 9, n))[:, None] * S
    found, p = p_of(A)
    assert found.data["classes"]["PD"]["verdict"] == "no"
    assert found.data["classes"]["H_plus"]["verdict"] == "no"
    assert p["verdict"] == "yes"
    document = json.loads(json.dumps(found.certificate()))
    assert next(x for x in verify(document) if x.about == "P").result == VERIFIED
    for change in (
        lambda c: c["support"].update(w=["1"] * n),
        lambda c: c["support"].update(w=["0"] * n),
        lambda c: c["support"].pop("w"),
        lambda c: c.update(about="PD"),
    ):
        forged = copy.deepcopy(document)
        claim = next(c for c in forged["claims"] if c["about"] == "P")
        change(claim)
        assert verify(signed(forged["problem"], [claim], []))[0].result != VERIFIED


def test_what_stays_open_is_told_in_one_line():
    # A cycle: all minors but the last are powers of 2, and that is 2^701 + 3^701.
    A = 2 * np.eye(701) + 3 * np.roll(np.eye(701), 1, axis=1)
    found, p = p_of(A)
    assert p["verdict"] == "undecided"
    assert "up to 600" in found.data["p_matrix"]["reason"]
    assert "windows of 40 rows" in found.data["p_matrix"]["reason"]
    assert "\n" not in found.data["p_matrix"]["reason"]


def large_mlcp(n, diagonal=2.0, free=True):
    """Second differences, rows of other units, with bounds of every kind."""
    M = np.diag(np.full(n, diagonal)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    lower, upper = np.full(n, -1.0), np.full(n, 1.0)
    lower[::3], upper[1::3] = -np.inf if free else -5.0, np.inf
    upper[::6] = np.inf if free else 5.0
    lower[2::7] = upper[2::7] = 0.5
    return MLCP(np.exp2(np.arange(n) % 5)[:, None] * M, np.sin(np.arange(n)), lower, upper)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [320, 700])
def test_large_problems_with_bounds(n):
    problem = large_mlcp(n)
    found = wb.check(problem)
    assert found.data["problem"]["uniqueness"]["verdict"] == "unique"
    assert found.data["problem"]["solutions"]["count"] == 1
    document = json.loads(json.dumps(found.certificate()))
    assert wb.verify(document, of=problem).holds
    forged = copy.deepcopy(document)
    forged["claims"][0]["support"]["claims"] = []
    assert not wb.verify(signed(forged["problem"], forged["claims"], []))


def test_a_large_problem_that_is_not_unique():
    """With a diagonal of 1/2 neighbours have a negative minor."""
    problem = large_mlcp(320, 0.5, free=False)
    found = wb.check(problem)
    assert found.data["problem"]["uniqueness"]["verdict"] == "not unique"
    assert "class test" in found.text
    open_ = wb.check(large_mlcp(320, 0.5)).data["problem"]["uniqueness"]
    assert open_["verdict"] == "undecided"
    assert "eliminated up to 300 rows" in open_["tests"]["class"]["reason"]


def refuted(A, seconds=20.0):
    """The classes that a certificate refutes, all of them verified."""
    found = wb.check(A, seconds=seconds)
    claims = verify(json.loads(json.dumps(found.certificate())))
    assert all(claim.result == VERIFIED for claim in claims), [(c.about, c.result) for c in claims]
    return {name for name, entry in found.data["classes"].items() if entry["verdict"] == "no"}


def ring(n, diagonal):
    """Second differences with both ends joined: cycles, and the eigenvalues diagonal - 2 cos(2 pi k / n)."""
    A = np.diag(np.full(n, diagonal)) - np.eye(n, k=1) - np.eye(n, k=-1)
    A[0, -1] = A[-1, 0] = -1
    return A


@pytest.mark.thorough
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_symmetric_matrix_is_p_if_it_is_definite_only(sign):
    """The negative eigenvalues belong to vectors that are spread over all rows."""
    n = 700
    A = np.sqrt(np.outer(1 + np.arange(n) % 3, 1 + np.arange(n) % 3)) * ring(n, 2 - 1e-3)
    # Signs of rows and columns that make no Z-matrix of it.
    A *= np.outer(np.sign(np.sin(np.arange(n) + sign)), np.sign(np.sin(np.arange(n) + sign)))
    A = np.tril(A) + np.tril(A, -1).T
    assert {"P", "P0", "column_sufficient", "row_sufficient", "PD", "PSD", "H_plus"} <= refuted(A)


def test_an_eigenvector_of_few_rows_is_cut_off():
    A = ring(700, 3.0)
    A[300:303, 300:303] += 1.5 * (np.eye(3) - np.ones((3, 3)))
    assert {"P", "P0", "column_sufficient", "row_sufficient"} <= refuted(A)


@pytest.mark.thorough
def test_a_window_of_a_band_refutes_the_whole():
    """Three rows whose minors of order two are positive and whose determinant is not, in rows of other units."""
    n, rng = 700, np.random.default_rng(5)
    A = 4 * np.eye(n) + sum(np.diag(rng.uniform(-1, 1, n - abs(k)), k) for k in (-1, 1, 2))
    A[350:353, 350:353] = [[4, 1, -9], [-9, 4, 1], [1, -9, 4]]
    A = (np.exp2(rng.integers(-8, 8, n))[:, None] * A)[np.ix_(*[rng.permutation(n)] * 2)]
    assert np.linalg.det([[4, 1, -9], [-9, 4, 1], [1, -9, 4]]) < -500
    assert {"P", "P0", "H_plus", "column_sufficient"} <= refuted(A)


@pytest.mark.thorough
def test_lost_dominance_is_found_where_iteration_is_slow():
    """A positive definite band in other units: P, and no H-matrix by a few rows."""
    n, rng = 700, np.random.default_rng(0)
    A = 2.5 * np.eye(n) + sum(np.diag(rng.uniform(-1, 0, n - abs(k)), k) for k in (-2, -1, 1, 2))
    A[100:104, 100:104] += 0.7 * (np.ones((4, 4)) - np.eye(4))
    A = np.exp2(rng.integers(-5, 5, n))[:, None] * (A + A.T)
    C = 2 * np.diag(np.diag(A)) - np.abs(A)
    lost = np.linalg.solve(C, np.diag(C)).min() < 0
    assert ("H_plus" in refuted(A)) == lost


@pytest.mark.parametrize(("x", "holds"), [(["1", "-1"], True), (["1", "0"], False), (["1", "-1/2"], False)])
def test_a_vector_refutes_p0_where_all_its_products_are_negative(x, holds):
    assert proves("P0", "no", [["1", "2"], ["2", "1"]], {"x": x}) == holds
