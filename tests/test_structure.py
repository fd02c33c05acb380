"""What is known of matrices of any order agrees with exact verdicts on small ones, and its witnesses prove it."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.proofs import proves
from tests.verdicts import WRITTEN_LATER, exact, fractions, samples
from workbench.builtin.reports.pages.check import render
from workbench.builtin.reports.text.check import to_text
from workbench.diagnostics.check import check_matrix
from workbench.diagnostics.wellposedness import in_words
from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.classes.matrix_classes import matrix_classes, structured_classes
from workbench.matrices.classes.structure import Structure, findings, signs, spans
from workbench.matrices.linear_algebra.definiteness import form_at, positive_definite
from workbench.readers.matrix import Matrix

ALWAYS = float("inf")


def said(M):
    return list(findings(Structure.of(Matrix(M), clock() + 60, True)))


@pytest.mark.thorough
def test_findings_on_small_matrices_agree_with_exact_verdicts():
    seen = set()
    for M in samples(120, 4, 11):
        truth = matrix_classes(exact(M), ALWAYS)
        for name, verdict, _, witness in findings(Structure.of_rationals(exact(M), ALWAYS)):
            assert verdict == truth[name].verdict, (name, M)
            if witness and witness.get("by") not in WRITTEN_LATER and "q" not in witness:
                assert proves(name, verdict, fractions(M), witness), (name, M, witness)
            seen.add((name, verdict))
    both = {"Z", "H_plus", "PD", "PSD", "P", "S", "copositive"}
    assert seen >= {(name, verdict) for name in both for verdict in ("yes", "no")}


def comparable(n, factor, rng):
    """s I - N with N >= 0 sparse and s a multiple of its spectral radius: an M-matrix where that exceeds one."""
    N = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 3 / n)
    N += np.roll(np.eye(n), 1, axis=1)
    np.fill_diagonal(N, 0.0)
    return factor * np.abs(np.linalg.eigvals(N)).max() * np.eye(n) - N


@pytest.fixture(scope="module")
def large():
    rng, n = np.random.default_rng(3), 300
    A, low = rng.normal(size=(n, n)), rng.integers(-3, 4, (n, 20))
    joined = rng.uniform(size=(n, n)) < 2 / n
    edges = np.triu(joined | joined.T, 1) + 0.0
    edges += edges.T
    friction = np.zeros((n, n))
    friction[:100, :100] = low[:100] @ low[:100].T
    friction[:100, 100:] = rng.integers(1, 3, (100, 200))
    friction[100:, :100] = -rng.integers(0, 2, (200, 100))
    return {
        "definite": A @ A.T / n + 0.1 * np.eye(n) + A - A.T,
        "semidefinite": (low @ low.T).astype(float),
        "Laplacian": np.diag(edges.sum(axis=1)) - edges,
        "indefinite": A,
        "row-dominant": A + np.diag(1.001 * np.abs(A).sum(axis=1)),
        "column-dominant": A + np.diag(1.001 * np.abs(A).sum(axis=0)),
        "M": comparable(n, 1.0001, rng),
        "not M": comparable(n, 0.9999, rng),
        "triangular": (np.triu(A, 1) + np.diag(np.abs(np.diag(A))))[::-1, ::-1],
        "nonnegative": np.abs(A),
        "negative": -np.abs(A),
        "friction": friction,
    }


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("definite", "PD P S Q strictly_copositive", "Z"),
        ("semidefinite", "PSD P0 copositive_plus Q0 row_sufficient", "PD P"),
        ("Laplacian", "PSD Z P0", "PD P M H_plus"),
        ("indefinite", "", "PSD copositive P H_plus Z"),
        ("row-dominant", "H_plus P S", "Z M"),
        ("column-dominant", "H_plus P S", "Z M"),
        ("M", "M Z H_plus P S Q", ""),
        ("not M", "Z Q0", "M H_plus P"),
        ("triangular", "P S Q", "Z PSD"),
        ("nonnegative", "strictly_copositive S Q", "P P0 Z"),
        ("negative", "Z Q0", "S Q PSD copositive P"),
        ("friction", "copositive E0", "PSD PD P"),
    ],
)
def test_large_matrices_of_structure(large, name, yes, no):
    found = structured_classes(said(large[name]), "left open")
    missed = [c for c in yes.split() if found[c].verdict != "yes"] + [c for c in no.split() if found[c].verdict != "no"]
    assert not missed
    M = large[name]
    for c in ("H_plus", "P", "PD", "PSD", "S", "copositive"):
        x = (found[c].witness or {}).get("x")
        if x is not None:
            v = fmpq_mat(len(x), 1, [fmpq(t) for t in x])
            image = (exact(M) * v).entries()
            products = [a * b for a, b in zip(v.entries(), image, strict=True)]
            holds = {"S": min(image) > 0, "P": max(products) <= 0}.get(c, sum(products, fmpq(0)) <= 0)
            assert holds, c


def test_a_bound_on_the_form_is_above_it():
    rng = np.random.default_rng(5)
    for _ in range(100):
        n = int(rng.integers(1, 6))
        M, x = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-5, 5, (n, n)), rng.normal(size=n)
        truth = sum(Fraction(M[i, j]) * Fraction(x[i]) * Fraction(x[j]) for i in range(n) for j in range(n))
        assert Fraction(form_at(M, x)) > truth


def test_signs_of_a_text_are_those_of_its_digits():
    text = Matrix(np.array([[0.0, 1.0], [0.0, -2.0]]), ("-1e-400 1", "0.00e9 -2"))
    assert signs(text).tolist() == [[-1, 1], [0, -1]]
    assert ("P", "no") in [found[:2] for found in findings(Structure.of(text, clock() + 9, False))]


def test_rows_that_do_not_span_prove_nothing():
    T = exact([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert spans(T, [0, 2], ALWAYS)
    assert not spans(T, [0], ALWAYS)
    assert not spans(T, [0, 1], ALWAYS)
    assert spans(exact([[0, 0], [0, 0]]), [], ALWAYS)
    assert proves("PSD", "yes", fractions([[1, 1], [1, 1]]), {"index_set": [0]})
    assert not proves("PSD", "yes", fractions([[1, 1], [1, 2]]), {"index_set": [0]})
    assert proves("H_plus", "no", fractions([[1, 2], [2, 1]]), {"y": [1, 1]})
    assert not proves("H_plus", "no", fractions([[3, 2], [2, 3]]), {"y": [1, 1]})
    assert not proves("M", "no", fractions([[1, 2], [2, 1]]), {"y": [1, 1]})


def test_leading_minors_stop_at_the_deadline():
    S = exact(np.diag([1.0, 2.0, 3.0]))
    assert positive_definite(S)
    assert not positive_definite(exact([[1, 2], [2, 1]]))
    with pytest.raises(OutOfTimeError):
        positive_definite(S, clock() - 1)


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["definite", "not M", "row-dominant", "semidefinite"])
def test_without_time_a_large_matrix_has_a_page_all_the_same(large, name):
    result = check_matrix(Matrix(large[name]), 0.0, Matrix(np.ones((300, 1))))
    assert result["singular_values"] is None
    assert result["definiteness"]["smallest_eigenvalue"] is None
    text = to_text(json.loads(json.dumps(result)))
    assert "out of time" in text
    assert "out of time" in render(result, name, {})


@pytest.mark.parametrize("n", [3, 300])
def test_a_check_tells_what_it_does(n):
    said = []
    check_matrix(Matrix(np.eye(n)), 10.0, Matrix(np.ones((n, 1))), lambda *step: said.append(step))
    labels, done, total = zip(*said, strict=True)
    assert labels[0] == "the P-property"
    assert len(set(labels)) == len(labels)
    assert list(done) == list(range(len(done)))
    assert set(total) == {6}
    assert done[-1] < 6


@pytest.mark.thorough
def test_the_p_verdict_of_the_classes_is_that_of_the_page(large):
    for name, verdict in (("M", "P"), ("not M", "not P"), ("nonnegative", "not P"), ("definite", "P")):
        result = check_matrix(Matrix(large[name]), 20.0)
        assert result["p_matrix"]["verdict"] == verdict
        assert result["classes"]["P"]["verdict"] == ("yes" if verdict == "P" else "no")
        assert result["rank"]["exact"] == (300 if verdict == "P" else None)
        assert f"P-matrix          {'yes' if verdict == 'P' else 'no'}" in to_text(result)


def test_theory_promises_in_exact_arithmetic_and_what_happened_stands_beside_it():
    result = check_matrix(Matrix(np.array([[2.0, 1.0], [0.0, 3.0]])), 10.0, Matrix(np.array([[-1.0], [2.0]])))
    promise = "In exact arithmetic, theory guarantees that these methods succeed here: lemke, murty, judice-pires, "
    assert f"{promise}proximal, pgs, enumerate. Verified in floating point: all." in in_words(result)
    for entry in result["solvers"]:
        entry["verified"] = entry["name"] != "pgs"
    assert "lemke, murty, judice-pires, proximal, enumerate; not verified: pgs." in in_words(result)
    for entry in result["solvers"]:
        entry["verified"] = False
    assert "Verified in floating point: none; not verified: lemke" in in_words(result)
    for entry in result["solvers"]:
        entry["claimed"] = "not run"
    assert in_words(result).endswith("pgs, enumerate.")
