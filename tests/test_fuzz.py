"""A few seconds of what `python -m tests.fuzz_readers` does for minutes, and files that have brought a reader down."""

import io
import struct
import tracemalloc
import zlib

import h5py
import numpy as np
import pytest
import scipy.io
from scipy import sparse

from tests.fuzz_readers import outcomes
from tests.problem_files import refused
from workbench.readers.problem import read_problem
from workbench.support.errors import DataError


def test_damaged_files_are_read_or_refused_in_one_line():
    found = list(outcomes(seed=7, seconds=40.0, count=100))
    assert [(n, outcome, words) for n, outcome, words in found if outcome not in ("read", "refused")] == []
    assert [n for n, _, _ in found] == list(range(100))
    assert 5 < sum(outcome == "read" for _, outcome, _ in found) < 50


def matlab(M, **options):
    file = io.BytesIO()
    scipy.io.savemat(file, {"M": M}, **options)
    return bytearray(file.getvalue())


@pytest.mark.parametrize(("number", "words"), [(4, "outside"), (2**31 - 1, "outside"), (-1, "outside")])
def test_row_numbers_of_a_sparse_matrix_in_a_matlab_file(tmp_path, number, words):
    """A number beyond the sides must not become an address."""
    content = matlab(sparse.csc_array(np.diag([1.0, 2.0, 3.0, 4.0])))
    place = content.index(struct.pack("<4i", 0, 1, 2, 3))
    content[place + 12 : place + 16] = struct.pack("<i", number)
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_problem(tmp_path / "a.mat")


def test_types_in_a_matlab_file_are_believed_only_if_known(tmp_path):
    content = matlab(np.diag([1.0, 2.0, 3.0]))
    place = content.index(struct.pack("<II", 9, 72))
    for kind in (0, 8, 10, 11, 14, 15, 18, 60000):
        content[place : place + 4] = struct.pack("<I", kind)
        (tmp_path / "a.mat").write_bytes(content)
        with pytest.raises(DataError, match=f"type {kind}"):
            read_problem(tmp_path / "a.mat")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_matlab_files_as_another_code_writes_them(tmp_path, packed, dtype):
    M = np.random.default_rng(1).integers(0, 100, (7, 7)).astype(dtype)
    q = np.arange(7.0)
    scipy.io.savemat(tmp_path / "a.mat", {"M": M, "s": {"a": 1.0}, "q": q}, do_compression=packed)
    read_M, read_q = read_problem(tmp_path / "a.mat")
    assert np.array_equal(read_M.values, M)
    assert np.array_equal(read_q.values.ravel(), q)
    scipy.io.savemat(tmp_path / "a.mat", {"M": sparse.csc_array(M.astype(float))}, do_compression=packed)
    assert np.array_equal(read_problem(tmp_path / "a.mat")[0].values, M)


def test_a_matlab_file_with_its_bytes_the_other_way_round(tmp_path):
    """Written by hand: M = [1 3; 2 4], entries as bytes in a small element."""
    name = struct.pack(">HH4s", 1, 1, b"M")
    entries = struct.pack(">HH4B", 4, 2, 1, 2, 3, 4)
    flags, sides = struct.pack(">IIII", 6, 8, 6, 0), struct.pack(">IIii", 5, 8, 2, 2)
    body = flags + sides + name + entries
    content = b"by hand".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(body)) + body
    (tmp_path / "a.mat").write_bytes(content)
    assert read_problem(tmp_path / "a.mat")[0].values.tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.thorough
def test_a_packed_array_unpacks_no_further_than_its_sides_allow(tmp_path):
    body = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, 3, 3) + struct.pack("<HH4s", 1, 1, b"M")
    entries = struct.pack("<II", 9, 2**30) + bytes(2**27)
    packed = zlib.compress(struct.pack("<II", 14, len(body) + len(entries)) + body + entries)
    content = b"bomb".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed
    (tmp_path / "a.mat").write_bytes(content)
    tracemalloc.start()
    with pytest.raises(DataError, match="damaged"):
        read_problem(tmp_path / "a.mat")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3e6


def test_an_array_with_the_wrong_number_of_sides_in_an_archive(tmp_path):
    np.savez(tmp_path / "a.npz", M=np.ones(4), H=np.ones((2, 3)), f=np.ones(2), w=np.ones(3), mu=np.ones(1))
    assert "M is 4; 2 x 2 is needed" in refused(tmp_path / "a.npz")


def test_the_header_of_an_array_that_no_parser_takes(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, (".ljust(117) + b"\n"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(DataError, match="not a readable"):
        read_problem(tmp_path / "a.npy")


def test_a_signalling_nan_is_refused_without_a_warning(tmp_path):
    """Its cast from 4 bytes to 8 sets a floating-point flag."""
    M = np.frombuffer(struct.pack("<4I", 0x7FA00000, 0, 0, 0), "<f4").reshape(2, 2)
    np.save(tmp_path / "a.npy", M)
    np.savez(tmp_path / "a.npz", M=M, q=np.ones(2))
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["fclib_local/spacedim"] = 2
        file["fclib_local/vectors/q"] = M.ravel()[:2]
        file["fclib_local/vectors/mu"] = np.ones(1)
    with pytest.raises(DataError, match="nan"):
        read_problem(tmp_path / "a.npy")
    assert "nan" in refused(tmp_path / "a.npz")
    assert "nan" in refused(tmp_path / "a.hdf5")
