"""Reading matrices: exact as typed, doubles as stored, and one clear line for everything hostile."""

import io
import os
from fractions import Fraction

import numpy as np
import pytest

from workbench.readers import text as reader
from workbench.readers.matrix import Matrix
from workbench.readers.problem import read_problem
from workbench.support.errors import DataError


def read_matrix(path) -> Matrix:
    return read_problem(path)[0]


def text_file(tmp_path, text: str | bytes):
    path = tmp_path / "given.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def entries(matrix: Matrix) -> list[Fraction]:
    return [Fraction(int(x.p), int(x.q)) for x in matrix.exact.entries()]


def refusal(path) -> str:
    """The message of the refusal; always one line."""
    with pytest.raises(DataError) as caught:
        read_matrix(path)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 250
    return message


@pytest.mark.parametrize("separator", [",", ";", " ", "\t", " , ", "  "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_separators_and_comments(tmp_path, separator, newline):
    lines = ["# a comment", separator.join(["1", "-2.5", "4/3"]), "", separator.join(["1e-3", "+.5", "7."]) + " # end"]
    matrix = read_matrix(text_file(tmp_path, newline.join(lines)))
    assert entries(matrix) == [1, Fraction(-5, 2), Fraction(4, 3), Fraction(1, 1000), Fraction(1, 2), 7]
    assert matrix.values.tolist() == [[1, -2.5, 4 / 3], [1e-3, 0.5, 7]]


def test_text_is_exact_and_values_are_nearest(tmp_path):
    rng = np.random.default_rng(0)
    typed = [
        [f"{p}/{q}" for p, q in zip(rng.integers(-(10**9), 10**9, 4), rng.integers(1, 10**9, 4), strict=True)],
        [f"{p}{p}/{q}{p}{q}" for p, q in rng.integers(10**12, 10**15, (4, 2))],
        [f"{x:.25e}" for x in rng.standard_normal(4)],
        ["0.1", "1e-400", "0e9999", "123456789012345678901234567890"],
    ]
    matrix = read_matrix(text_file(tmp_path, "\n".join(",".join(row) for row in typed)))
    truth = [Fraction(x) for row in typed for x in row]
    assert entries(matrix) == truth
    assert matrix.values.ravel().tolist() == [float(x) for x in truth]


def test_random_doubles_survive_both_ways(tmp_path):
    values = np.random.default_rng(1).standard_normal((7, 5)) * 10.0 ** np.arange(-2, 3)
    path = tmp_path / "a.npy"
    for stored in (values, np.asfortranarray(values), values.astype(">f8")):
        np.save(path, stored)
        matrix = read_matrix(path)
        assert (matrix.values == values).all()
        assert entries(matrix) == [Fraction(x) for x in values.ravel()]
    text = text_file(tmp_path, "\n".join(" ".join(map(repr, row)) for row in values.tolist()))
    assert (read_matrix(str(text)).values == values).all()


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f2", "f4", "?"])
def test_numeric_types(tmp_path, dtype):
    np.save(tmp_path / "a.npy", np.array([[1, 0], [1, 1]], dtype=dtype))
    assert read_matrix(tmp_path / "a.npy").values.tolist() == [[1, 0], [1, 1]]


def test_standard_input_and_byte_order_mark(monkeypatch, tmp_path):
    for mark in ("", "\ufeff"):
        monkeypatch.setattr("sys.stdin", io.StringIO(mark + "1, 1/3\n0, 1\n"))
        assert entries(read_matrix("-")) == [1, Fraction(1, 3), 0, 1]
    assert read_matrix(text_file(tmp_path, b"\xef\xbb\xbf1 2\n")).values.tolist() == [[1, 2]]


def test_values_cannot_be_changed(tmp_path):
    with pytest.raises(ValueError, match="read-only"):
        read_matrix(text_file(tmp_path, "1 2")).values[0, 0] = 3


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["no numbers"]),
        ("# only a comment\n\n", ["no numbers"]),
        ("1,2\n\n3,4,5\n", ["line 3", "3 entries", "line 1 has 2"]),
        ("1,2\n3\n", ["line 2", "1 entries"]),
        ("1,2\n3,x1\n", ["line 2, column 2", "'x1'", "4/3"]),
        ("1,2\n3,\n", ["line 2, column 2", "empty"]),
        ("1;2,5\n", ["line 1, column 2", "'2,5'"]),
        ("1 nan\n", ["line 1, column 2", "nan", "finite"]),
        ("1 2\n-Inf 2\n", ["line 2, column 1", "-Inf", "finite"]),
        ("1 2+3j\n", ["column 2", "'2+3j'", "complex"]),
        ("1 2/0\n", ["column 2", "'2/0'", "zero"]),
        ("1 2/-3\n", ["'2/-3'"]),
        ("1 1e400\n", ["column 2", "1.8e308"]),
        ("1 1" + "0" * 400 + "/3\n", ["column 2", "1.8e308"]),
        ("1 1e1000000000\n", ["'1e1000000000'", "exponent beyond 9999"]),
        ("0e-1000000000\n", ["exponent beyond 9999"]),
        ("1e-10000\n", ["exponent beyond 9999"]),
        ("1 " + "9" * 5000 + "\n", ["5000 characters", "1000"]),
        ("1 " + "x" * 900 + "\n", ["not a number"]),
        ("1_0\n", ["'1_0'"]),
        ("١\n", ["not a number"]),
        (b"\x00\x01\x02", ["line 1, column 1", "not a number"]),
        (b"1 2\n3 \xff\n", ["byte 6", "UTF-8"]),
        ("1 " * 5001, ["line 1", "5000 x 5000"]),
        ("1\n" * 5001, ["line 5001", "5000 x 5000"]),
    ],
)
def test_hostile_text(tmp_path, text, parts):
    message = refusal(text_file(tmp_path, text))
    assert all(part in message for part in parts), message
    assert "given.csv" in message


def test_too_much_text(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "LARGEST_TEXT", 1_000_000)
    assert "1 million" in refusal(text_file(tmp_path, "1 " * 500_001))


def test_paths_that_are_no_files(tmp_path):
    assert "does not exist" in refusal(tmp_path / "missing.csv")
    assert "does not exist" in refusal(tmp_path / "missing.npy")
    assert "folder" in refusal(tmp_path)
    assert "cannot be read" in refusal("a\0b.csv")
    assert "cannot be read" in refusal("a" * 5000)
    assert "cannot be read" in refusal(text_file(tmp_path, "1") / "below.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path):
    path = text_file(tmp_path, "1")
    path.chmod(0)
    assert "Permission denied" in refusal(path)


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.arange(3.0), "shape (3,)"),
        (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
        (np.zeros((0, 3)), "shape (0, 3)"),
        (np.array(1.0), "shape ()"),
        (np.array([[1, np.nan]]), "entry [0, 1] is nan"),
        (np.array([[1], [-np.inf]]), "entry [1, 0] is -inf"),
        (np.array([[1 + 2j]]), "complex128"),
        (np.array([["1"]]), "<U1"),
        (np.zeros((1, 1), dtype=[("a", float)]), "type"),
        (np.zeros((1, 1), dtype="M8[D]"), "datetime64"),
        (np.array([[2**53 + 1]]), "2^53"),
        (np.array([[-(2**63)]]), "2^53"),
        (np.zeros((1, 5001)), "5000 x 5000"),
    ],
)
def test_arrays_that_are_no_matrices(tmp_path, array, part):
    np.save(tmp_path / "a.npy", array)
    message = refusal(tmp_path / "a.npy")
    assert part in message, message
    assert "a.npy" in message


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("the file was unpickled",))


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[Bomb()]], dtype=object), allow_pickle=True)
    assert "object" in refusal(tmp_path / "a.npy")


def header(shape: str, descr: str = "'<f8'", version: int = 1) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "not a readable"),
        (b"1,2\n3,4\n", "not a readable"),
        (b"\x93NUMPY", "not a readable"),
        (b"PK\x03\x04" + bytes(60), "not a readable"),
        (header("(2, 2)")[:40], "not a readable"),
        (header("(2, 2)") + bytes(24), "24 bytes of data where (2, 2)"),
        (header("(2, 2)") + bytes(40), "40 bytes of data where (2, 2)"),
        (header("(4000, 4000)") + bytes(8), "need 128000000"),
        (header("(4294967296, 4294967296)"), "at most 5000 x 5000"),
        (header(f"({10**40}, 2)"), "at most 5000 x 5000"),
        (header("(-2, -2)") + bytes(32), "two non-empty dimensions"),
        (header("'two'"), "not a readable"),
        (header("(2, 2)", "'nonsense'"), "not a readable"),
        (header("(" * 3000 + "2" + ",)" * 3000), "not a readable"),
        (header("(2, 2)", version=9), "format (9, 0)"),
        (header("(2, 2)", version=3) + bytes(32), "format (3, 0)"),
    ],
)
def test_hostile_npy(tmp_path, content, part):
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    message = refusal(path)
    assert part in message, message


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((0, 0)), np.array([[np.nan]])])
def test_matrix_validates(values):
    with pytest.raises(DataError):
        Matrix(values)
