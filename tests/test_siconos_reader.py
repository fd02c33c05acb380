"""Siconos' text: every kind of problem in every layout, and texts that are not what they say."""

import numpy as np
import pytest
from flint import fmpq

from tests import siconos_text as text
from tests.problem_files import global_data, local_data, read, refused, written
from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.problems.sets import normals_first
from workbench.readers.files import read_problem_file, write_problem_file
from workbench.readers.matrix import Matrix
from workbench.readers.problem import read_problem
from workbench.readers.siconos import parse_typed_lcp
from workbench.support.errors import DataError

PRINTED = [
    text.dense, text.triplets, text.columns, text.rows, lambda A: text.blocks(A, *(_cut(side) for side in A.shape)),
    lambda A: text.blocks(A, *(_cut(side) for side in A.shape), trailing=False),
]  # fmt: skip
NAMES = ["dense", "triplets", "columns", "rows", "blocks", "blocks without trailing rows"]
layouts = pytest.mark.parametrize("printed", PRINTED, ids=NAMES)


def _cut(side):
    """Uneven blocks that make up a side."""
    return [1, side - 1] if side % 3 else [3] * (side // 3)


def sparse_like(rng, m, n):
    """A matrix with zeros, no symmetry, and an empty last block of rows."""
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6)
    A[-3:, :] = 0.0
    A[0, -1] = 1.5
    return A


@layouts
def test_lcp_in_every_layout(tmp_path, printed):
    rng = np.random.default_rng(1)
    M, q = sparse_like(rng, 9, 9), rng.normal(size=9)
    problem = read(tmp_path, text.lcp(M, q, printed) + "\n# a remark: 1 2 3\n")
    assert type(problem) is LCP
    assert np.array_equal(problem.M, M)
    assert np.array_equal(problem.q, q)


def test_dense_matrices_are_printed_column_by_column(tmp_path):
    problem = read(tmp_path, "2\n0\n2\n2\n2 2\n1 2 3 4\n-5 -6\n")
    assert problem.M.tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize(("whole", "parts"), [(True, False), (False, True), (True, True)])
def test_mlcp_in_every_layout(tmp_path, whole, parts):
    rng = np.random.default_rng(2)
    M, q = rng.normal(size=(6, 6)), rng.normal(size=6)
    # Without the blocks of M nothing says where equations stand; then they come first.
    equations = np.array([False, True, True, False, True, False]) if whole else np.arange(6) < 3
    problem = read(tmp_path, text.mlcp(M, q, equations, whole, parts) + "0.98 -0.0 0.5\n")
    assert type(problem) is MLCP
    assert np.array_equal(problem.M, M)
    assert np.array_equal(problem.q, q)
    assert np.array_equal(np.isinf(problem.lower), equations)
    assert np.isinf(problem.upper).all()


def test_the_least_mlcp_is_no_lcp(tmp_path):
    """1 1 1 1 is how an MLCP of two unknowns begins, and a block-sparse LCP of one."""
    M, q = np.array([[1.0, -1.0], [0.0, 2.0]]), np.array([-1.0, 3.0])
    problem = read(tmp_path, text.mlcp(M, q, np.array([True, False])) + "0.0 1.0")
    assert (type(problem), problem.M.tolist(), problem.lower.tolist()) == (MLCP, M.tolist(), [-np.inf, 0.0])
    problem = read(tmp_path, text.lcp(np.array([[3.0]]), np.array([-6.0]), lambda A: text.blocks(A, [1], [1])))
    assert (type(problem), problem.M.tolist(), problem.q.tolist()) == (LCP, [[3.0]], [-6.0])


@layouts
def test_relay_in_every_layout(tmp_path, printed):
    """w = M z + q, -w in the normal cone of [lower, upper]: the sign that z = P(z - w) has. Remarks are no bounds."""
    rng = np.random.default_rng(18)
    M, q, lower = sparse_like(rng, 9, 9), rng.normal(size=9), rng.normal(size=9)
    upper = lower + rng.random(9)
    problem = read(tmp_path, text.lcp(M, q, printed) + text.line(lower) + text.line(upper))
    assert type(problem) is MLCP
    assert all(
        np.array_equal(getattr(problem, name), value)
        for name, value in (("M", M), ("q", q), ("lower", lower), ("upper", upper))
    )
    for remark in ([], [upper, lower], [lower, lower], [lower, upper, [0.0]], [lower]):
        assert type(read(tmp_path, text.lcp(M, q, printed) + "".join(map(text.line, remark)))) is LCP


@pytest.mark.parametrize(("n", "m", "more"), [(1, 1, 1), (2, 3, 2), (3, 2, 2), (0, 3, 1)])
def test_mlcp_with_more_equations_than_free_unknowns(tmp_path, n, m, more):
    """Unknowns that act on nothing make it square, and a solution of the tall one is one of the square one."""
    rng = np.random.default_rng(19)
    u, v, w = rng.normal(size=n), np.maximum(rng.normal(size=m), 0.0), np.zeros(n + more + m)
    w[n + more :] = np.where(v > 0, 0.0, rng.random(m))
    M = rng.normal(size=(n + more + m, n + m))
    q = w - M @ np.r_[u, v]
    problem = read(tmp_path, text.tall_mlcp(M, q, n, m))
    z = np.concatenate([u, np.zeros(more), v])
    assert problem.size == n + more + m
    assert np.allclose(problem.M @ z + problem.q, w)
    assert problem.residual(z) < 1e-14
    assert problem.residual(z + np.r_[np.zeros(n), rng.normal(size=more), np.zeros(m)]) < 1e-14
    assert problem.residual(z + np.r_[np.zeros(n + more), 0.1 * np.ones(m)]) > 1e-3


def test_mlcp_that_cannot_be_completed(tmp_path):
    """Of q only as many numbers are printed as M has columns, and after them b."""
    rng = np.random.default_rng(20)
    M, q = rng.normal(size=(5, 2)), rng.normal(size=5)
    assert "printed with 2 numbers; 4 are needed" in refused(written(tmp_path, text.tall_mlcp(M, q, 1, 1)))
    whole = "1\n0\n1\n1\n0 1 2\n0 1\n" + text.dense(M[:3]) + text.line(q[:2])
    assert "M is 3 x 2; 2 x 2 is needed" in refused(written(tmp_path, whole))
    wrong = text.line([7.0]).join(text.tall_mlcp(M[:3], q[:3], 1, 1).rsplit(text.line(M[2, 1]), 1))
    assert "differ from their parts" in refused(written(tmp_path, wrong))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("5\n2\n0\n10\n10\n10 10\n", "rolling friction of 2 contacts with 5 rows each"),
        ("6\n2\n1\n6\n6\n2\n", "second-order cone LCP of 6 unknowns in 2 cones"),
        ("1\n6\n6\n4\n2\n2\n", "begins with a 6 x 6 matrix"),
        ("2\n162\n162\n1\nCXSparse\n", "begins with a 162 x 162 matrix"),
    ],
)
def test_other_kinds_are_called_by_their_names(tmp_path, content, words):
    assert words in refused(written(tmp_path, content))


@layouts
def test_an_lcp_as_typed_is_the_lcp_in_doubles(tmp_path, printed):
    rng = np.random.default_rng(21)
    content = text.lcp(sparse_like(rng, 9, 9), rng.normal(size=9), printed)
    problem = read(tmp_path, content)
    M, q = parse_typed_lcp(content, "problem.dat")
    assert np.array_equal(M.values, problem.M)
    assert np.array_equal(q.values.ravel(), problem.q)
    M, q = parse_typed_lcp(content.replace(text.number(1.5), "3/2"), "problem.dat")
    assert (M.exact[0, 8], M.values[0, 8]) == (fmpq(3, 2), 1.5)


def test_mlcp_whose_two_copies_differ_is_refused(tmp_path):
    rng = np.random.default_rng(3)
    M, q, equations = rng.normal(size=(3, 3)), rng.normal(size=3), np.array([True, False, False])
    other = text.mlcp(M + np.eye(3), q, equations, whole=False).split("\n", 4)[4]
    with pytest.raises(DataError, match="differ from their parts"):
        read(tmp_path, text.mlcp(M, q, equations, parts=False).replace("1\n0\n", "1\n1\n", 1) + other)


@layouts
@pytest.mark.parametrize("d", [1, 2])
def test_local_friction_in_every_layout(tmp_path, printed, d):
    rng = np.random.default_rng(4)
    r = 3
    n = r * (1 + d)
    W, q, mu = sparse_like(rng, n, n), rng.normal(size=n), rng.uniform(0.1, 1.0, r)
    problem = read(tmp_path, text.local(W, q, mu, 1 + d, printed) + "0\n")
    assert type(problem) is FrictionProblem
    # Normals first, then tangents contact by contact; the law u = W p + q is the same in either order.
    p = rng.normal(size=n)
    by_contact = np.concatenate([np.r_[p[i], p[r + d * i : r + d * i + d]] for i in range(r)])
    u = problem.dense @ p + problem.q
    expected = W @ by_contact + q
    assert np.allclose(u[:r], expected[:: 1 + d], rtol=1e-14)
    assert np.allclose(u[r:].reshape(r, d), expected.reshape(r, 1 + d)[:, 1:], rtol=1e-14)
    assert np.array_equal(problem.mu, mu)


@layouts
@pytest.mark.parametrize(("d", "n"), [(2, 7), (1, 6), (2, 9)], ids=["space", "plane", "as many velocities as rows"])
def test_global_friction_in_every_layout(tmp_path, printed, d, n):
    rng = np.random.default_rng(5)
    r = 3
    M, H, f, w = global_data(rng, r, d, n)
    problem = read(tmp_path, text.global_(M, H, f, w, np.full(r, 0.3), 1 + d, printed))
    assert type(problem) is GlobalFrictionProblem
    order = normals_first(r, d)
    W = H.T @ np.linalg.solve(M, H)
    assert np.allclose(problem.local.dense, W[np.ix_(order, order)], rtol=1e-12)
    assert np.allclose(problem.local.q, (H.T @ np.linalg.solve(M, f) + w)[order], rtol=1e-12)
    assert np.array_equal(problem.local.dense, problem.local.dense.T)


GOOD = text.local(np.diag([2.0, 1.0, 1.0]), np.array([-1.0, 0.0, 0.5]), np.array([0.3]), 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("hello world", "not a problem"),
        ("1 2 3 4 5", "not a problem"),
        (GOOD.replace("3\n1\n", "3\n-1\n", 1), "not a problem"),
        (GOOD.replace("3\n1\n", "3\n999999999\n", 1), "cut off"),
        (GOOD.replace("0\n3\n3\n3\t3", "0\n900000000\n900000000\n900000000\t900000000"), "cut off"),
        (GOOD.replace("0\n3\n3\n", "0\n3\n-3\n"), "whole number >= 0"),
        (GOOD.replace("0\n3\n3\n", "0\n3\n99999999999999999999\n"), "not a problem"),
        (GOOD.replace("3\t3", "3\t2"), "two different sizes"),
        (GOOD.replace("5.000", "nan  ", 1), "nan"),
        (GOOD.replace(text.number(0.5), "1e999"), "1e999"),
        (GOOD.replace(text.number(0.5), "inf"), "inf"),
        (GOOD.replace(text.number(0.5), "-1e200"), r"q holds 1.0e\+200"),
        (GOOD.replace(text.number(2.0), "1e200"), r"W holds 1.0e\+200"),
        (GOOD.replace(text.number(0.5), "__import__('os')"), "where a number is needed"),
        (GOOD.replace(text.number(0.3), text.number(-0.3)), "negative"),
        (GOOD[: len(GOOD) // 2], "cut off|short"),
        ("3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 5\n0\n0\n" + "1 " * 20, "table of its 1 blocks"),
        ("3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n7\n0\n" + "1 " * 20, "table of its 1 blocks"),
        ("3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n0\n4\n" + "1 " * 20, "do not follow"),
        ("3\n1\n1\n3\n3\n900000000\n1\n1\n3\n3\n2\n900000000\n0 1\n0\n", "cut off"),
        ("3\n1\n2\n3\n3\n7\nCXSparse 3-by-3, nzmax: 1 nnz: 1, 1-norm: 1\n", "layout 7"),
        ("3\n1\n2\n3\n3\n1\nCXSparse\ntriplet: 3-by-3, nzmax: 9 nnz: 90000000000\n", "cut off"),
        ("3\n1\n2\n3\n3\n1\nCXSparse\ntriplet: 3-by-3, nzmax: 9 nnz: 1\n 0 3 : 1.0\n 0 0 0 0.3", "outside"),
        ("3\n1\n2\n3\n3\n2\nCXSparse\n3-by-3, nzmax: 9 nnz: 1, 1-norm: 1\n row 0", "cut off|short|not the head"),
        ("3\n1\n2\n3\n3\n2\nCXSparse\n4-by-3, nzmax: 9 nnz: 1, 1-norm: 1\n" + "0 " * 30, "3 x 3 is needed"),
        ("1\n1\n2\n1\n0 1 5\n0 1\n" + "0 " * 40, "must cover|kind"),
        ("1\n1\n2\n1\n0 2 3\n0 2\n" + "0 " * 40, "kind"),
        ("1\n1\n2\n1\n0 1 3\n0 1\n" + "0 " * 40, "equations"),
        ("0\n1\n900000000\n1\n", "cut off"),
    ],
)
def test_text_that_is_not_what_it_says(tmp_path, content, words):
    path = written(tmp_path, content)
    message = refused(path)
    assert message.startswith("problem.dat")
    with pytest.raises(DataError, match=words):
        read_problem_file(path)


def test_text_cut_off_anywhere(tmp_path):
    rng = np.random.default_rng(13)
    W, q, mu = local_data(rng)
    for printed in PRINTED:
        content = text.local(W, q, mu, 3, printed).rstrip()
        # The last cut leaves a shorter last number, which nothing can tell from a number.
        for length in np.linspace(0, len(content) - 40, 25).astype(int):
            assert refused(written(tmp_path, content[:length]))


def sparse_friction(rng, r, d, n):
    """A local and a global problem with few entries."""
    size = r * (1 + d)
    M, H = np.diag(rng.uniform(1.0, 2.0, n)), rng.normal(size=(n, size)) * (rng.random((n, size)) < 0.3)
    yield GlobalFrictionProblem(M, H, rng.normal(size=n), rng.normal(size=size), rng.random(r), d)
    if r:
        yield FrictionProblem(np.diag(rng.uniform(1.0, 2.0, size)), rng.normal(size=size), rng.random(r), d)


def test_what_is_written_begins_like_no_other_kind(tmp_path):
    """Small and sparse ones are the closest: 2 1 2 2 2 is an LCP of two unknowns, or one contact in the plane."""
    rng = np.random.default_rng(22)
    path = tmp_path / "problem.dat"
    for r, d in ((0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2), (5, 2)):
        for n in (1, 2, 3, 4, 6, 9):
            for problem in sparse_friction(rng, r, d, n):
                write_problem_file(problem, path)
                again = read_problem_file(path)
                assert (type(again), again.d) == (type(problem), d)
                assert all(
                    abs(getattr(problem, key) - getattr(again, key)).max(initial=0.0) == 0.0
                    if isinstance(getattr(problem, key), np.ndarray)
                    else (getattr(problem, key) != getattr(again, key)).nnz == 0
                    for key in ("W", "M", "H", "q", "f", "w", "mu")
                    if hasattr(problem, key)
                )
    for n in (1, 2, 3):
        M, q = rng.normal(size=(n, n)), np.arange(n) - 1.0
        for lower, upper in ((0.0, np.inf), (-np.inf, np.inf), (np.where(q < 0, -np.inf, 0.0), np.inf), (q, q + 1)):
            write_problem_file(MLCP(M, q, lower, upper), path)
            again = read_problem_file(path)
            assert type(again) is MLCP
            assert (again.lower == lower).all()
            assert (again.upper == upper).all()


def test_sparse_matrices_are_written_in_as_many_lines_as_they_have_entries(tmp_path):
    """And contact by contact: the normal row of the second contact is row 3."""
    W, mu = np.diag(np.arange(1.0, 13.0)), np.array([0.1, 0.2, 0.3, 0.4])
    write_problem_file(FrictionProblem(W, np.arange(12.0), mu), tmp_path / "problem.dat")
    lines = (tmp_path / "problem.dat").read_text().splitlines()
    assert lines[:7] == ["3", "4", "2", "12", "12", "1", "CXSparse"]
    assert lines[7] == "triplet: 12-by-12, nzmax: 12 nnz: 12"
    assert lines[11].split() == ["3", "3", ":", "2.0"]
    assert lines[20].split()[:4] == ["0.0", "4.0", "5.0", "1.0"]


def test_an_lcp_is_written_so_that_its_text_means_the_doubles(tmp_path):
    """0.1 as text is 1/10, and the double is another number: a singular matrix of doubles must stay so."""
    M = np.array([[0.1, 0.3], [0.2, 0.6]])
    write_problem_file(LCP(M, M[0]), tmp_path / "problem.dat")
    write_problem_file(LCP(M, M[0]), tmp_path / "problem.mtx")
    for path, rhs in (("problem.dat", None), ("problem.mtx", tmp_path / "problem_q.mtx")):
        typed, q = read_problem(tmp_path / path, rhs)
        assert typed.exact == Matrix(M).exact
        assert q.exact == Matrix(M[:1].T).exact
        assert typed.written is not None


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        ([0.0, 0.0], [1.0, np.inf], "row 0 goes from 0 to 1"),
        ([-np.inf, -1.0], [np.inf, np.inf], "row 1 goes from -1 to inf"),
        ([-np.inf, 0.0], [0.0, np.inf], "row 0 goes from -inf to 0"),
        ([2.0, 3.0], [2.0, 3.0], "row 0 goes from 2 to 2"),
    ],
)
def test_bounds_that_the_layout_has_not(tmp_path, lower, upper, words):
    with pytest.raises(DataError, match=words):
        write_problem_file(MLCP(np.eye(2), np.ones(2), np.array(lower), np.array(upper)), tmp_path / "problem.dat")
    assert not list(tmp_path.iterdir())
