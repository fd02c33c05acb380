"""Problems from other people's files: every layout, round trips, and files that are not what they say."""

import contextlib
import os
import random
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse

from tests import siconos_text as text
from workbench.diagnostics.problem_facts import problem_facts
from workbench.errors import DataError
from workbench.friction_problem import FrictionProblem, GlobalFrictionProblem, contact_by_contact, normals_first
from workbench.problems import LCP, MLCP
from workbench.readers.fclib import read_fclib
from workbench.readers.files import read_problem_file, write_problem_file

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


def written(tmp_path, content, name="problem.dat"):
    path = tmp_path / name
    path.write_text(content)
    return path


def read(tmp_path, content):
    return read_problem_file(written(tmp_path, content))


def local_data(rng, r=4, d=2):
    n = r * (1 + d)
    J = rng.normal(size=(n, 5))
    return J @ J.T + 1e-6 * rng.normal(size=(n, n)), rng.normal(size=n), rng.uniform(0.1, 1.0, r)


def global_data(rng, r=3, d=2, n=7):
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n), rng.normal(size=(n, r * (1 + d))), rng.normal(size=n), rng.normal(size=r * (1 + d))


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


def test_orders_are_inverse():
    for r, d in ((1, 1), (5, 2), (4, 1)):
        order = normals_first(r, d)
        assert np.array_equal(order[contact_by_contact(r, d)], np.arange(r * (1 + d)))
    assert normals_first(2, 2).tolist() == [0, 3, 1, 2, 4, 5]


def put(group, name, A, nz, room=0):
    """A matrix in FCLIB's layout: triplets (nz = 0), -1 compressed columns, -2 compressed rows."""
    B = {0: sparse.coo_array, -1: sparse.csc_array, -2: sparse.csr_array}[nz](A)
    first, second = (B.col, B.row) if nz == 0 else (B.indptr, B.indices)
    numbers = {"m": A.shape[0], "n": A.shape[1], "nzmax": B.nnz + room, "nz": nz or B.nnz}
    for key, value in numbers.items():
        group[f"{name}/{key}"] = np.array([value], dtype=np.int32)
    group[f"{name}/p"] = first.astype(np.int32)
    # Room that was allocated and never used.
    group[f"{name}/i"] = np.r_[second, np.full(room, -7)].astype(np.int32)
    group[f"{name}/x"] = np.r_[B.data, np.full(room, np.nan)]


def fclib(path, kind, matrices, vectors, dimension=3, nz=-2, room=0):
    with h5py.File(path, "w") as file:
        group = file.create_group(f"fclib_{kind}")
        for name, A in matrices.items():
            put(group, name, A, nz, room)
        for name, value in vectors.items():
            group[f"vectors/{name}"] = value
        group["spacedim"] = np.array([dimension], dtype=np.int32)
        # Stored solutions do not satisfy their problems and are not for us.
        file["solution/r"] = np.full(3, 1e9)
    return path


@pytest.mark.parametrize("room", [0, 4])
@pytest.mark.parametrize("nz", [0, -1, -2])
@pytest.mark.parametrize("d", [1, 2])
def test_fclib_local(tmp_path, d, nz, room):
    rng = np.random.default_rng(6)
    W, q, mu = local_data(rng, 4, d)
    problem = read_problem_file(fclib(tmp_path / "p.hdf5", "local", {"W": W}, {"q": q, "mu": mu}, 1 + d, nz, room))
    same = FrictionProblem.from_contacts(W, q, mu, d)
    assert np.array_equal(problem.dense, same.dense)
    assert np.array_equal(problem.q, same.q)
    assert problem.d == d


@pytest.mark.parametrize("nz", [0, -1, -2])
@pytest.mark.parametrize("stored", [np.triu, np.tril, np.asarray], ids=["upper", "lower", "both"])
def test_fclib_global_with_one_triangle_of_m(tmp_path, nz, stored):
    rng = np.random.default_rng(7)
    M, H, f, w = global_data(rng)
    mu = np.full(3, 0.4)
    path = fclib(tmp_path / "p", "global", {"M": stored(M), "H": H}, {"f": f, "w": w, "mu": mu}, nz=nz)
    problem = read_problem_file(path)
    assert np.array_equal(problem.M.toarray(), M)
    assert np.array_equal(problem.H.toarray(), H[:, normals_first(3, 2)])


def test_bilateral_constraints_are_eliminated(tmp_path):
    rng = np.random.default_rng(8)
    M, H, f, w = global_data(rng)
    G, b, mu = rng.normal(size=(7, 2)), rng.normal(size=2), np.full(3, 0.4)
    vectors = {"f": f, "w": w, "mu": mu, "b": b}
    problem = read_problem_file(fclib(tmp_path / "g", "global", {"M": M, "H": H, "G": G}, vectors))
    p = rng.normal(size=9)
    v = np.linalg.solve(np.block([[M, -G], [G.T, np.zeros((2, 2))]]), np.r_[H @ p + f, -b])[:7]
    assert np.allclose(G.T @ v + b, 0.0, atol=1e-12)
    order = normals_first(3, 2)
    assert np.allclose((H.T @ v + w)[order], problem.local.dense @ p[order] + problem.local.q, rtol=1e-10)
    # The same problem in local form, with the rows of the bilateral constraints still in it.
    V, R = H.T @ np.linalg.solve(M, G), G.T @ np.linalg.solve(M, G)
    free = np.linalg.solve(M, f)
    local = {"W": H.T @ np.linalg.solve(M, H), "V": V, "R": R}
    vectors = {"q": H.T @ free + w, "s": G.T @ free + b, "mu": mu}
    same = read_problem_file(fclib(tmp_path / "l", "local", local, vectors))
    assert np.allclose(same.dense, problem.local.dense, rtol=1e-10)
    assert np.allclose(same.q, problem.local.q, rtol=1e-10)


def test_w_is_kept_as_it_comes(tmp_path):
    """Rank deficient and not symmetric: nothing is repaired, and the facts say so."""
    rng = np.random.default_rng(9)
    J = rng.normal(size=(12, 5))
    S = rng.normal(size=(12, 12))
    W = J @ J.T + 1e-4 * J @ (S[:5, :5] - S[:5, :5].T) @ J.T
    problem = read(tmp_path, text.local(W, np.ones(12), np.full(4, 0.5), 3))
    order = normals_first(4, 2)
    assert np.array_equal(problem.dense, W[np.ix_(order, order)])
    facts = problem_facts(problem)
    assert (facts["rank"], facts["rank_share"], facts["contacts"], facts["dimension"]) == (5, 5 / 12, 4, 3)
    assert facts["asymmetry"] == pytest.approx(np.linalg.norm(W - W.T) / np.linalg.norm(W), rel=1e-12)
    assert not facts["symmetric"]
    assert facts["eigenvalue_min"] == pytest.approx(0.0, abs=1e-10)


def test_facts_of_a_global_problem_and_of_an_mlcp():
    rng = np.random.default_rng(10)
    M, H, f, w = global_data(rng)
    facts = problem_facts(GlobalFrictionProblem(M, H, f, w, np.full(3, 0.1)))
    assert (facts["velocities"], facts["hardness"], facts["rank"], facts["psd"]) == (7, 9 / 7, 7, True)
    sigma = np.linalg.svd(H.T @ np.linalg.solve(M, H), compute_uv=False)
    assert facts["condition"] == pytest.approx(sigma[0] / sigma[6], rel=1e-6)
    facts = problem_facts(MLCP(np.diag([2.0, 1.0]), np.ones(2), np.array([-np.inf, 0.0]), np.array([np.inf, 1.0])))
    assert (facts["kind"], facts["size"], facts["equations"], facts["condition"]) == ("MLCP", 2, 1, 2.0)


def test_a_singular_mass_matrix_is_refused():
    problem = GlobalFrictionProblem(np.diag([1.0, 0.0]), np.ones((2, 2)), np.ones(2), np.ones(2), np.ones(1), 1)
    with pytest.raises(DataError, match="singular"):
        problem.local  # noqa: B018


def random_problems(rng):
    for r, d in ((1, 1), (4, 2), (7, 1)):
        W, q, mu = local_data(rng, r, d)
        yield FrictionProblem(W, q, mu, d)
        M, H, f, w = global_data(rng, r, d, 5)
        yield GlobalFrictionProblem(M, H, f, w, mu, d)
        yield GlobalFrictionProblem(M, H, f, w, mu, d, rng.normal(size=(5, 2)), rng.normal(size=2))
    M, q = rng.normal(size=(5, 5)), rng.normal(size=5)
    yield LCP(M, q)
    yield MLCP(M, q, np.array([-np.inf, 0, 0, -1, 0]), np.array([np.inf, np.inf, 1, 2, np.inf]))


@pytest.mark.parametrize("ending", ["hdf5", "h5", "npz"])
def test_round_trips_are_bit_for_bit(tmp_path, ending):
    for problem in random_problems(np.random.default_rng(11)):
        path = tmp_path / f"p.{ending}"
        if isinstance(problem, MLCP) and ending != "npz":
            with pytest.raises(DataError, match=r"write it as \.npz"):
                write_problem_file(problem, path)
            continue
        write_problem_file(problem, path)
        again = read_problem_file(path)
        assert type(again) is type(problem)
        for key, value in vars(problem).items():
            if key in ("M", "H", "G", "W", "f", "w", "b", "q", "mu", "lower", "upper", "d"):
                ours, theirs = (a.toarray() if sparse.issparse(a) else a for a in (value, getattr(again, key)))
                assert np.array_equal(ours, theirs), key
    assert [p.name for p in tmp_path.iterdir()] == [f"p.{ending}"]


def test_content_decides_not_the_ending(tmp_path):
    problem = next(random_problems(np.random.default_rng(12)))
    for ending, name in (("npz", "a.hdf5"), ("hdf5", "b.dat")):
        write_problem_file(problem, tmp_path / f"p.{ending}")
        (tmp_path / f"p.{ending}").rename(tmp_path / name)
        assert np.array_equal(read_problem_file(tmp_path / name).dense, problem.dense)
    W, q = problem.by_contacts()
    path = written(tmp_path, "\ufeff" + text.local(W.toarray(), q, problem.mu, 2), "c.npz")
    assert np.array_equal(read_problem_file(path).dense, problem.dense)


def test_arrays_of_an_npz_may_be_dense_or_integers(tmp_path):
    np.savez(tmp_path / "a.npz", W=np.diag([2, 1, 1]), q=np.array([-1, 0, 0]), mu=np.array([0.5], dtype=np.float32))
    problem = read_problem_file(tmp_path / "a.npz")
    assert (problem.contacts, problem.d) == (1, 2)
    np.savez_compressed(tmp_path / "b.npz", M=np.asfortranarray([[2.0, 1.0], [0.0, 1.0]]), q=np.ones(2))
    assert read_problem_file(tmp_path / "b.npz").M.tolist() == [[2.0, 1.0], [0.0, 1.0]]


def refused(path, seconds=3.0, megabytes=60.0):
    """The one line with which a file is refused, quickly and without much memory."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with pytest.raises(DataError) as caught:
            read_problem_file(path)
        assert tracemalloc.get_traced_memory()[1] < 1e6 * megabytes
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - start < seconds
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    return str(caught.value)


GOOD = text.local(np.diag([2.0, 1.0, 1.0]), np.array([-1.0, 0.0, 0.5]), np.array([0.3]), 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no problem as Siconos prints them"),
        ("hello world", "no problem"),
        ("1 2 3 4 5", "no problem"),
        (GOOD.replace("3\n1\n", "3\n-1\n", 1), "no problem"),
        (GOOD.replace("3\n1\n", "3\n999999999\n", 1), "cut off"),
        (GOOD.replace("0\n3\n3\n3\t3", "0\n900000000\n900000000\n900000000\t900000000"), "cut off"),
        (GOOD.replace("0\n3\n3\n", "0\n3\n-3\n"), "whole number >= 1"),
        (GOOD.replace("0\n3\n3\n", "0\n3\n99999999999999999999\n"), "no problem"),
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
        ("3\n1\n2\n3\n3\n2\nCXSparse\n3-by-3, nzmax: 9 nnz: 1, 1-norm: 1\n row 0", "cut off|short|no head"),
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
            refused(written(tmp_path, content[:length]))


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is a folder" in refused(tmp_path)
    assert "does not exist" in refused(tmp_path / "nothing")
    assert "no plain file" in refused(tmp_path / "pipe")
    assert "no plain file" in refused("/dev/zero")
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    assert "no text" in refused(tmp_path / "bytes")
    refused("a\0b")


def hdf5(tmp_path, change):
    """A sound local problem in HDF5, then changed."""
    W, q, mu = local_data(np.random.default_rng(14))
    path = fclib(tmp_path / "p.hdf5", "local", {"W": W}, {"q": q, "mu": mu})
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def replaced(key, value, **options):
    def change(file):
        del file[key]
        file.create_dataset(key, data=value, **options)

    return change


def huge(key, **options):
    def change(file):
        del file[key]
        file.create_dataset(key, shape=(10**12,), dtype="f8", **options)

    return change


def linked(link):
    def change(file):
        del file["fclib_local/W"]
        file["fclib_local/W"] = link

    return change


def without(key):
    def change(file):
        del file[key]

    return change


def virtual(file):
    layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
    layout[:] = h5py.VirtualSource("elsewhere.hdf5", "x", shape=(4,))
    del file["fclib_local/vectors/mu"]
    file.create_virtual_dataset("fclib_local/vectors/mu", layout)


def external(file):
    del file["fclib_local/vectors/mu"]
    file.create_dataset("fclib_local/vectors/mu", shape=(4,), dtype="f8", external=[("/etc/passwd", 0, 32)])


def referenced(file):
    del file["fclib_local/vectors/mu"]
    file["fclib_local/vectors"].create_dataset("mu", data=np.array([file.ref] * 4, dtype=h5py.ref_dtype))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without("fclib_local"), "without fclib_local"),
        (without("fclib_local/W"), "no 'W'"),
        (without("fclib_local/W/x"), "no 'x'"),
        (without("fclib_local/spacedim"), "no 'spacedim'"),
        (replaced("fclib_local/spacedim", [4]), "2 or 3"),
        (replaced("fclib_local/spacedim", [2.5]), "whole number"),
        (replaced("fclib_local/W/m", [10**9]), "the vectors beside it"),
        (replaced("fclib_local/W/m", [-12]), "the vectors beside it"),
        (replaced("fclib_local/W/nz", [-3]), "nz is -3"),
        (replaced("fclib_local/W/nz", [10**9]), "are needed"),
        (replaced("fclib_local/W/p", np.zeros(3)), "13 are needed"),
        (replaced("fclib_local/W/p", [0, *[10**9] * 12]), "are needed"),
        (replaced("fclib_local/W/p", [0, 5, 3, *[144] * 10]), "list of starts"),
        (replaced("fclib_local/W/i", np.full(144, 12)), "from 0 to 11"),
        (replaced("fclib_local/W/i", np.full(144, -1)), "from 0 to 11"),
        (replaced("fclib_local/W/i", np.full(144, 0.5)), "whole numbers"),
        (replaced("fclib_local/W/x", np.full(144, np.nan)), "nan"),
        (replaced("fclib_local/W/x", np.full(144, "a", dtype="S3")), "type"),
        (replaced("fclib_local/W/x", np.ones(144, dtype=complex)), "type"),
        (replaced("fclib_local/W/x", np.zeros(144, dtype=[("a", "f8")])), "type"),
        (replaced("fclib_local/W/x", np.ones((12, 12))), "vector"),
        (replaced("fclib_local/W/x", h5py.Empty("f8")), "vector|shape"),
        (replaced("fclib_local/vectors/mu", np.full(4, -0.1)), "negative"),
        (replaced("fclib_local/vectors/mu", np.full(5, 0.1)), "q has shape|shape"),
        (replaced("fclib_local/vectors/mu", np.zeros(0)), "no contacts|shape"),
        (huge("fclib_local/vectors/q", chunks=(1000,)), "claims"),
        (huge("fclib_local/vectors/mu", chunks=(1000,), compression="gzip"), "claims"),
        (linked(h5py.SoftLink("/solution")), "link to elsewhere"),
        (linked(h5py.SoftLink("/fclib_local/W")), "link to elsewhere"),
        (linked(h5py.ExternalLink("/etc/passwd", "/W")), "link to elsewhere"),
        (virtual, "other files"),
        (external, "other files"),
        (referenced, "type"),
    ],
)
def test_hdf5_that_is_not_what_it_says(tmp_path, change, words):
    path = hdf5(tmp_path, change)
    assert refused(path).startswith("p.hdf5")
    with pytest.raises(DataError, match=words):
        read_problem_file(path)


def test_hdf5_that_is_cut_off_or_damaged(tmp_path):
    """In a process of its own: where the HDF5 library should crash, this test fails and not the run."""
    whole = hdf5(tmp_path, lambda file: None).read_bytes()
    rng = random.Random(15)
    for k in range(60):
        damaged = bytearray(whole[: rng.randrange(8, len(whole))] if k % 4 == 0 else whole)
        for _ in range(rng.choice([1, 4, 20])):
            damaged[rng.randrange(8, len(damaged))] = rng.randrange(256)
        (tmp_path / f"damaged-{k}.hdf5").write_bytes(damaged)
    script = """
import sys, warnings, pathlib, resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from workbench.errors import DataError
from workbench.readers.files import read_problem_file
for path in sorted(pathlib.Path(sys.argv[1]).glob("damaged-*")):
    try:
        read_problem_file(path)
    except DataError as error:
        assert "\\n" not in str(error), error
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_npz_that_is_not_what_it_says(tmp_path):
    path = tmp_path / "p.npz"

    def archive(**members):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in members.items():
                file.writestr(f"{name}.npy", content)
        return path

    def npy(shape="(2,)", descr="'<f8'", data=b"\0" * 16):
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data

    assert "does not fit" in refused(archive(M=npy("(1000000, 1000000)"), q=npy()))
    assert "does not fit" in refused(archive(M=npy("(20000, 20000)", data=b"\0" * 10**7), q=npy()))
    assert "does not fit" in refused(archive(M=npy("(-1, 2)"), q=npy()))
    assert "readable" in refused(archive(M=npy("(-1, -2)"), q=npy()))
    assert "type" in refused(archive(M=npy(descr="'|O'"), q=npy()))
    assert "type" in refused(archive(M=npy(descr="'<c16'"), q=npy()))
    assert "readable" in refused(archive(M=npy(descr="__import__('os').getpid()"), q=npy()))
    assert "readable" in refused(archive(M=b"nothing", q=npy()))
    assert "square" in refused(archive(M=npy(), q=npy())) or "shape" in refused(path)
    assert "found q" in refused(archive(q=npy()))
    np.savez(path, W=np.eye(5), q=np.ones(5), mu=np.ones(2))
    assert "do not belong to 2 contacts" in refused(path)
    np.savez(path, q=np.ones(3), mu=np.ones(1), **{"W.i": np.array([9]), "W.j": np.array([0]), "W.x": np.ones(1)})
    assert "outside" in refused(path)
    np.savez(path, q=np.ones(3), mu=np.ones(1), **{"W.i": np.array([0]), "W.x": np.ones(1)})
    assert "missing" in refused(path)
    np.savez(path, W=np.full((3, 3), np.nan), q=np.ones(3), mu=np.ones(1))
    assert "nan" in refused(path)
    np.savez(path, W=np.eye(3), q=np.ones(3), mu=np.array([{}], dtype=object))
    assert "type" in refused(path)
    np.savez_compressed(path, M=np.random.default_rng(0).normal(size=(30, 30)), q=np.ones(30))
    whole = path.read_bytes()
    rng = random.Random(16)
    for k in range(60):
        damaged = bytearray(whole[: rng.randrange(4, len(whole))] if k % 4 == 0 else whole)
        damaged[rng.randrange(4, len(damaged))] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):
            read_problem_file(path)


def test_writing_to_a_place_that_is_not_there(tmp_path):
    problem = next(random_problems(np.random.default_rng(17)))
    with pytest.raises(DataError, match="cannot write"):
        write_problem_file(problem, tmp_path / "no" / "p.npz")
    with pytest.raises(DataError, match=r"\.hdf5 \(FCLIB\) or \.npz"):
        write_problem_file(problem, tmp_path / "p.dat")
    (tmp_path / "p.npz").mkdir()
    with pytest.raises(DataError, match="cannot write"):
        write_problem_file(problem, tmp_path / "p.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["p.npz"]


def data_folder():
    """Where real problems lie: the environment variable WORKBENCH_DATA, or shared/data beside the project."""
    return Path(os.environ.get("WORKBENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="module")
def real_files():
    files = sorted(p for ending in ("dat", "hdf5") for p in data_folder().rglob(f"*.{ending}"))
    if not files:
        pytest.skip(f"no real problems in {data_folder()}; set WORKBENCH_DATA to a folder with some")
    return files


def test_real_files_are_read_and_survive_a_round_trip(real_files, tmp_path):
    kinds = {"lcp": {"LCP"}, "mlcp": {"MLCP"}, "friction_2d": {"friction"}, "friction_3d_global": {"global friction"}}
    for path in real_files:
        problem = read_problem_file(path)
        assert problem.kind in kinds.get(path.parent.name, {"friction", "global friction"}), path
        write_problem_file(problem, tmp_path / "p.npz")
        again = read_problem_file(tmp_path / "p.npz")
        if not isinstance(problem, MLCP):
            write_problem_file(problem, tmp_path / "p.hdf5")
            assert read_fclib(tmp_path / "p.hdf5").mu.tolist() == problem.mu.tolist() == again.mu.tolist()
        for name in ("q", "W", "M", "H", "f", "w"):
            if hasattr(problem, name):
                difference = getattr(problem, name) - getattr(again, name)
                assert abs(difference).max() == 0.0, (path, name)
