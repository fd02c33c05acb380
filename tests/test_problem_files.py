"""Problem files of every format: round trips, what decides the format, facts, archives, writing, real problems."""

import contextlib
import os
import random
import zipfile

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from tests import siconos_text as text
from tests.problem_files import data_folder, global_data, random_problems, read, refused, written
from workbench.algorithms.escalation import default_solver
from workbench.diagnostics.problem_facts import problem_facts
from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import (
    FrictionProblem,
    GlobalFrictionProblem,
    contact_by_contact,
    normals_first,
)
from workbench.readers.files import read_problem_file, write_problem_file
from workbench.readers.problem import read_problem
from workbench.support.errors import DataError, WorkbenchError


def test_orders_are_inverse():
    for r, d in ((1, 1), (5, 2), (4, 1)):
        order = normals_first(r, d)
        assert np.array_equal(order[contact_by_contact(r, d)], np.arange(r * (1 + d)))
    assert normals_first(2, 2).tolist() == [0, 3, 1, 2, 4, 5]


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


def test_matlab_files_hold_problems_under_the_names_of_npz(tmp_path):
    """MATLAB has no vectors: they come as rows or columns. Sparse and full, packed or not."""
    rng = np.random.default_rng(11)
    M, H, f, w = global_data(rng)
    mu, q, A = np.full(3, 0.1), rng.normal(size=9), rng.normal(size=(9, 9))
    path = tmp_path / "problem.mat"
    for packed in (False, True):
        scipy.io.savemat(path, {"M": A, "q": q[:, None], "note": "by hand"}, do_compression=packed)
        lcp = read_problem_file(path)
        assert (lcp.kind, lcp.M.tolist(), lcp.q.tolist()) == ("LCP", A.tolist(), q.tolist())
        scipy.io.savemat(path, {"W": sparse.csc_array(A), "q": q, "mu": mu}, do_compression=packed)
        local = read_problem_file(path)
        assert (local.kind, local.dense.tolist(), local.q.tolist()) == ("friction", A.tolist(), q.tolist())
        scipy.io.savemat(path, {"M": M, "H": H, "f": f, "w": w, "mu": mu}, do_compression=packed)
        bodies = read_problem_file(path)
        assert (bodies.kind, bodies.H.toarray().tolist(), bodies.d) == ("global friction", np.asarray(H).tolist(), 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"A": np.eye(2)}, "M, q or W, q, mu"),
        ({"M": np.eye(2), "q": np.ones(3)}, "q has shape"),
        ({}, "nothing"),
        ({"W": np.eye(3), "q": np.ones(2), "mu": [[0.5]]}, "W is 3 x 3; 2 x 2 is needed, as q has 2 entries"),
    ],
)
def test_matlab_files_that_hold_none(tmp_path, content, words):
    scipy.io.savemat(tmp_path / "problem.mat", content)
    message = refused(tmp_path / "problem.mat")
    assert message.startswith("problem.mat")
    assert words in message


def test_a_matrix_market_file_is_no_problem_and_the_line_says_what_to_do(tmp_path):
    (tmp_path / "M.mtx").write_text("%%MatrixMarket matrix array real general\n1 1\n2.0\n")
    assert "--rhs" in refused(tmp_path / "M.mtx")


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


def assert_same(problem, again):
    """Bit for bit, which equal bytes say."""
    assert type(again) is type(problem)
    for key in ("M", "H", "G", "W", "f", "w", "b", "q", "mu", "lower", "upper"):
        if hasattr(problem, key):
            ours, theirs = (getattr(p, key) for p in (problem, again))
            ours, theirs = (a.toarray() if sparse.issparse(a) else a for a in (ours, theirs))
            assert ours.shape == theirs.shape, key
            assert np.ascontiguousarray(ours).tobytes() == np.ascontiguousarray(theirs).tobytes(), key
    assert getattr(problem, "d", 0) == getattr(again, "d", 0)


HAVE_NO_PLACE = {
    "hdf5": ("LCP", "MLCP"), "h5": ("LCP", "MLCP"), "npz": (), "mat": (), "dat": ("bilateral", "MLCP"),
    "mtx": ("friction", "global friction", "bilateral", "MLCP"),
}  # fmt: skip


@pytest.mark.parametrize("ending", HAVE_NO_PLACE)
def test_round_trips_are_bit_for_bit(tmp_path, ending):
    path = tmp_path / f"p.{ending}"
    for problem in random_problems(np.random.default_rng(11)):
        kind = "bilateral" if getattr(problem, "b", np.zeros(0)).size else problem.kind
        if kind in HAVE_NO_PLACE[ending]:
            with pytest.raises(DataError, match=r"write (it|the MLCP) as (\.hdf5, )?\.npz"):
                write_problem_file(problem, path)
        elif ending != "mtx":
            write_problem_file(problem, path)
            assert_same(problem, read_problem_file(path))
        else:
            write_problem_file(problem, path)
            M, q = read_problem(path, tmp_path / "p_q.mtx")
            assert_same(problem, LCP(M.values, q.values[:, 0]))
    written = [f"p.{ending}"] + ["p_q.mtx"] * (ending == "mtx")
    assert sorted(p.name for p in tmp_path.iterdir()) == written


@pytest.mark.parametrize("ending", ["npz", "mat", "dat"])
def test_every_double_survives(tmp_path, ending):
    """The least and the largest that are read, negative zero, and all digits between; nothing is rounded on the way."""
    rng = np.random.default_rng(24)
    M = rng.normal(size=(6, 6)) * 10.0 ** rng.integers(-300, 149, size=(6, 6))
    M[0] = [5e-324, -2.2250738585072014e-308, -0.0, 0.1, 1 / 3, -9.999999999999999e149]
    free = np.array([-np.inf, 0.0, 0.0, -np.inf, -np.inf, 0.0])
    bounds = [(free, np.inf), (np.zeros(6), np.inf), (M[0] - 1, M[0] + 0.3)]
    for problem in (LCP(M, M[0]), *(MLCP(M, M[1], *b) for b in bounds)):
        write_problem_file(problem, tmp_path / f"p.{ending}")
        assert_same(problem, read_problem_file(tmp_path / f"p.{ending}"))
    friction = FrictionProblem(np.diag(M[0]) + np.diag(M[1, 1:], 1), M[2], np.array([0.1, 1 / 3]))
    write_problem_file(friction, tmp_path / f"p.{ending}")
    assert_same(friction, read_problem_file(tmp_path / f"p.{ending}"))


@pytest.mark.parametrize("ending", ["hdf5", "npz", "mat", "dat"])
def test_free_motion_and_matrices_without_entries_survive(tmp_path, ending):
    nothing = np.zeros(0)
    free = GlobalFrictionProblem(2.0 * np.eye(4), np.zeros((4, 0)), np.ones(4), nothing, nothing)
    for problem in (free, FrictionProblem(np.zeros((3, 3)), -np.ones(3), np.ones(1))):
        write_problem_file(problem, tmp_path / f"p.{ending}")
        assert_same(problem, read_problem_file(tmp_path / f"p.{ending}"))


@pytest.mark.parametrize("ending", ["mat", "dat", "mtx"])
def test_what_is_too_long_to_be_read_back_is_not_written(tmp_path, monkeypatch, ending):
    monkeypatch.setattr("workbench.readers.files.LARGEST_TEXT", 5000)
    monkeypatch.setattr("workbench.readers.text.LARGEST_TEXT", 5000)
    M = np.random.default_rng(25).normal(size=(30, 30))
    with pytest.raises(DataError, match=r"write it as \.npz"):
        write_problem_file(LCP(M, M[0]), tmp_path / f"p.{ending}")
    assert not list(tmp_path.iterdir())
    n = 5001
    if ending == "mat":
        with pytest.raises(DataError, match="W is 5001 x 5001; sides up to 5000"):
            write_problem_file(FrictionProblem(sparse.eye_array(n), np.ones(n), np.ones(n // 3)), tmp_path / "p.mat")
        assert not list(tmp_path.iterdir())


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


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is a folder" in refused(tmp_path)
    assert "does not exist" in refused(tmp_path / "nothing")
    assert "not a regular file" in refused(tmp_path / "pipe")
    assert "not a regular file" in refused("/dev/zero")
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    assert "not text" in refused(tmp_path / "bytes")
    refused("a\0b")


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
    with pytest.raises(WorkbenchError, match="cannot write"):
        write_problem_file(problem, tmp_path / "no" / "p.npz")
    with pytest.raises(DataError, match=r"written as \.hdf5, \.h5, \.npz, \.mat, \.dat, \.mtx"):
        write_problem_file(problem, tmp_path / "p.csv")
    (tmp_path / "p.npz").mkdir()
    with pytest.raises(WorkbenchError, match="cannot write"):
        write_problem_file(problem, tmp_path / "p.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["p.npz"]


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
        for ending in ("mat", "dat", "npz"):
            if ending == "dat" and getattr(problem, "b", np.zeros(0)).size:
                continue
            write_problem_file(problem, tmp_path / f"p.{ending}")
            again = read_problem_file(tmp_path / f"p.{ending}")
            assert_same(problem, again)
        if not isinstance(problem, MLCP):
            write_problem_file(problem, tmp_path / "p.hdf5")
            assert read_problem_file(tmp_path / "p.hdf5").mu.tolist() == problem.mu.tolist() == again.mu.tolist()
        for name in ("q", "W", "M", "H", "f", "w"):
            if hasattr(problem, name):
                difference = getattr(problem, name) - getattr(again, name)
                assert abs(difference).max() == 0.0, (path, name)


def test_real_lcps_and_mlcps_are_solved_or_refuted(real_files):
    for path in real_files:
        if path.parent.name in ("lcp", "mlcp"):
            problem = read_problem_file(path)
            found = default_solver(problem.kind).solve(problem)
            assert found.verified, (path, found.reason)
            assert found.proof or problem.residual(found.z) < 1e-12, path
