"""FCLIB's HDF5: every storage of a matrix, bilateral constraints, and files that are not what they say."""

import random
import struct
import subprocess
import sys

import h5py
import numpy as np
import pytest
from scipy import sparse

from tests.problem_files import global_data, local_data, refused
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.sets import normals_first
from workbench.readers.files import read_problem_file
from workbench.support.errors import DataError


def copy(group, name, A, nz, room=0):
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
            copy(group, name, A, nz, room)
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


def test_rolling_friction_is_reported_and_not_left_out(tmp_path):
    W, q, mu = local_data(np.random.default_rng(9))
    path = fclib(tmp_path / "p.hdf5", "local", {"W": W}, {"q": q, "mu": mu, "mu_r": np.array([0, 0.2, 0.1, 0])})
    with pytest.raises(DataError, match=r"rolling friction of 2 contacts, mu_r up to 0\.2"):
        read_problem_file(path)
    path = fclib(tmp_path / "none.hdf5", "local", {"W": W}, {"q": q, "mu": mu, "mu_r": np.zeros(4)})
    assert np.array_equal(read_problem_file(path).mu, mu)


def test_a_problem_of_rolling_friction_is_refused_for_what_it_is(tmp_path):
    """Siconos' `Chute`: a group of its own, spacedim 5, five rows a contact."""
    vectors = {"f": np.ones(6), "w": np.zeros(20), "mu": np.ones(4), "mu_r": np.full(4, 0.1)}
    path = fclib(tmp_path / "p.hdf5", "global_rolling", {"M": np.eye(6), "H": np.ones((6, 20))}, vectors, 5)
    with pytest.raises(DataError, match=r"rolling friction of 4 contacts, with 5 rows each; contacts with 2 or 3"):
        read_problem_file(path)


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
        (replaced("fclib_local/W/m", [10**9]), "its vectors need"),
        (replaced("fclib_local/W/m", [-12]), "its vectors need"),
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


def endless_heap(whole):
    """The file with a free block of a local heap whose next one is itself: the HDF5 library never comes back."""
    at = -1
    while (at := whole.find(b"HEAP\0", at + 1)) >= 0:
        _, free, data = struct.unpack_from("<QQQ", whole, at + 8)
        if free != 1:
            return whole[: data + free] + struct.pack("<Q", free) + whole[data + free + 8 :]
    raise AssertionError("no local heap with a free block")


def test_hdf5_that_is_cut_off_or_damaged(tmp_path):
    """In a process of its own: where the HDF5 library should crash or hang, this test fails and not the run."""
    whole = hdf5(tmp_path, lambda file: None).read_bytes()
    rng = random.Random(15)
    (tmp_path / "damaged-endless.hdf5").write_bytes(endless_heap(whole))
    for k in range(60):
        damaged = bytearray(whole[: rng.randrange(8, len(whole))] if k % 4 == 0 else whole)
        for _ in range(rng.choice([1, 4, 20])):
            damaged[rng.randrange(8, len(damaged))] = rng.randrange(256)
        (tmp_path / f"damaged-{k}.hdf5").write_bytes(damaged)
    script = """
import sys, warnings, pathlib, resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from workbench.support.errors import DataError
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
