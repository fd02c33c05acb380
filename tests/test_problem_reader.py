"""Reading LCPs: one problem in every format is one problem, and everything hostile is one clear line."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from tests.problem_files import matlab73
from workbench.cli.main import main
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.readers.problem import read_problem
from workbench.support.errors import DataError

M = np.array([[2.0, 1.0, 0.0], [-0.5, 3.0, 1.0], [0.0, 4.0, -1.25]])
Q = np.array([-5.0, 0.25, 6.0])


def siconos(matrix=M, q=Q, remark="") -> str:
    """The format as Siconos prints it: column by column."""
    n = len(q)
    columns = "\n".join(" ".join(f"{x:.24e}" for x in column) for column in matrix.T)
    return f"{n}\n0\n{n}\n{n}\n{n}\t{n}\n{columns}\n{' '.join(f'{x:.24e}' for x in q)}{remark}"


def market(matrix=M) -> str:
    rows = [f"{i + 1} {j + 1} {float(x)!r}" for (i, j), x in np.ndenumerate(matrix) if x]
    n = len(matrix)
    return "\n".join(["%%MatrixMarket matrix coordinate real general", "% remark", f"{n} {n} {len(rows)}", *rows])


def write_all(folder):
    """M and q in every format: (file, --rhs or None)."""
    np.save(folder / "m.npy", M)
    np.save(folder / "q.npy", Q)
    np.savez(folder / "a.npz", M=M, q=Q)
    np.savez_compressed(folder / "b.npz", M)
    scipy.io.savemat(folder / "a.mat", {"M": M, "q": Q.reshape(-1, 1)})
    scipy.io.savemat(folder / "sparse.mat", {"M": scipy.sparse.csc_matrix(M), "q": Q}, do_compression=True)
    scipy.io.mmwrite(folder / "scipy.mtx", scipy.sparse.coo_matrix(M))
    scipy.io.mmwrite(folder / "array.mtx", M)
    texts = {
        "a.json": json.dumps({"M": M.tolist(), "q": Q.tolist()}),
        "rows.json": json.dumps(M.tolist()),
        "a.dat": siconos(),
        "remark.dat": siconos(remark="\n\nRemark: it is unique\n"),
        "text.dat": "\n".join(" ".join(map(repr, row)) for row in M.tolist()),
        "m.csv": "\n".join(",".join(map(repr, row)) for row in M.tolist()),
        "m.mtx": market(),
        "q.txt": " ".join(map(repr, Q.tolist())),
        "column.csv": "\n".join(map(repr, Q.tolist())),
        "q.json": json.dumps({"q": Q.tolist()}),
        "list.json": json.dumps(Q.tolist()),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "b.mat").write_bytes(matlab73({"M": M, "q": Q[:, None]}))
    (folder / "c.mat").write_bytes(matlab73({"M": scipy.sparse.csc_array(M), "q": Q}))
    whole = ["a.npz", "a.mat", "sparse.mat", "b.mat", "c.mat", "a.json", "a.dat", "remark.dat"]
    alone = ["m.npy", "b.npz", "scipy.mtx", "array.mtx", "rows.json", "text.dat", "m.csv", "m.mtx"]
    vectors = ["q.npy", "a.npz", "a.mat", "q.txt", "column.csv", "q.json", "list.json"]
    return [(name, None) for name in whole] + [
        (name, vectors[i % len(vectors)]) for i, name in enumerate([*alone, *alone])
    ]


def test_every_format_holds_the_same_problem(tmp_path):
    for name, rhs in write_all(tmp_path):
        matrix, q = read_problem(tmp_path / name, None if rhs is None else tmp_path / rhs)
        assert (matrix.values == M).all(), name
        assert (q.values == Q.reshape(-1, 1)).all(), (name, rhs)
        assert [nearest_double(x) for x in q.exact.entries()] == Q.tolist()


def test_a_matrix_without_a_vector(tmp_path):
    write_all(tmp_path)
    for name in ("m.npy", "b.npz", "m.mtx", "rows.json", "m.csv"):
        assert read_problem(tmp_path / name)[1] is None


def test_rhs_takes_the_place_of_the_files_own(tmp_path):
    write_all(tmp_path)
    (tmp_path / "other.txt").write_text("1/3 0 7")
    _, q = read_problem(tmp_path / "a.json", tmp_path / "other.txt")
    assert [str(x) for x in q.exact.entries()] == ["1/3", "0", "7"]


def test_what_is_typed_is_exact(tmp_path, monkeypatch):
    text = '{"M": [[0.1, "4/3"], [1e-3, 12345678901234567890]], "q": ["-1/3", 0.2]}'
    (tmp_path / "a.json").write_text(text)
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    for source in (tmp_path / "a.json", "-"):
        matrix, q = read_problem(source)
        assert [str(x) for x in matrix.exact.entries()] == ["1/10", "4/3", "1/1000", "12345678901234567890"]
        assert [str(x) for x in q.exact.entries()] == ["-1/3", "1/5"]
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix array real general\n1 1\n0.1\n")
    assert str(read_problem(tmp_path / "a.mtx")[0].exact[0, 0]) == "1/10"


def test_siconos_matrices_are_read_column_by_column(tmp_path):
    (tmp_path / "a.dat").write_text("2\n0\n2\n2\n2 2\n1 2\n3 4\n5 6\n")
    assert read_problem(tmp_path / "a.dat")[0].values.tolist() == [[1, 3], [2, 4]]
    blocks = "3\n1\n3\n3\n3\n2\n2\n1 3\n1 3\n3\n3\n0 2 3\n0 1 1\n0\n9\n1\n1 2\n2\n3 4 5 6\n7 8 9\n"
    (tmp_path / "b.dat").write_text(blocks)
    matrix, q = read_problem(tmp_path / "b.dat")
    assert matrix.values.tolist() == [[9, 1, 2], [0, 3, 5], [0, 4, 6]]
    assert q.values.ravel().tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    ("header", "body", "rows"),
    [
        ("coordinate real symmetric", "2 2 2\n1 1 3\n2 1 -4\n", [[3, -4], [-4, 0]]),
        ("coordinate integer skew-symmetric", "2 2 1\n2 1 5\n", [[0, -5], [5, 0]]),
        ("coordinate pattern general", "2 3 2\n1 3\n2 1\n", [[0, 0, 1], [1, 0, 0]]),
        ("array real symmetric", "2 2\n1\n2\n3\n", [[1, 2], [2, 3]]),
        ("array real skew-symmetric", "2 2\n-7\n", [[0, 7], [-7, 0]]),
        ("array real general", "2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]]),
    ],
)
def test_matrix_market_symmetries(tmp_path, header, body, rows):
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix {header}\n% remark\n{body}")
    assert read_problem(tmp_path / "a.mtx")[0].values.tolist() == rows


def refusal(path, rhs=None) -> str:
    """The message of the refusal; always one line."""
    with pytest.raises(DataError) as caught:
        read_problem(path, rhs)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("a.json", "", "not readable JSON"),
        ("a.json", "[[1, 2], [3", "not readable JSON"),
        ("a.json", '{"A": [[1]]}', 'no "M"'),
        ("a.json", "7", 'no "M"'),
        ("a.json", '{"M": [1, 2]}', "list of rows"),
        ("a.json", '{"M": []}', "list of rows"),
        ("a.json", '{"M": [[1, 2], [3]]}', "row 1 has 1 entries"),
        ("a.json", '{"M": [[1, true]]}', "bool"),
        ("a.json", '{"M": [[null]]}', "NoneType"),
        ("a.json", '{"M": [[NaN]]}', "NaN"),
        ("a.json", '{"M": [["1+2j"]]}', "complex"),
        ("a.json", '{"M": [["__import__"]]}', "not a number"),
        ("a.json", '{"M": [[1]], "q": 3}', "list of numbers"),
        ("a.json", '{"M": [[1]], "q": [1, 2]}', "2 entries"),
        ("a.json", '{"M": [[1, 2]], "q": [1, 2]}', "square"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", '{"M": [[1e999]]}', "1.8e308"),
        ("a.mtx", "1 2\n3 4\n", "not a MatrixMarket file"),
        ("a.mtx", "", "not a MatrixMarket file"),
        ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "complex"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n", "hermitian"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n", "no line"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n", "header says 3"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "outside"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n", "twice"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n", "finite"),
        ("a.mtx", "%%MatrixMarket matrix array real general\n100000 100000\n1\n", "sides from 1 to 5000"),
        ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "needs 4"),
        ("a.mtx", "%%MatrixMarket matrix array real symmetric\n2 3\n1\n", "square"),
        ("a.dat", "2\n0\n2\n2\n2 2\n1 2 3\n", "ends 1 short"),
        ("a.dat", "2\n0\n2\n2\n2 2\n1 2 3 4\n5\n", "1 short"),
        ("a.dat", "2\n0\n2\n2\n3 3\n1 2 3 4\n5 6\n", "two different sizes"),
        ("a.dat", "2\n0\n2\n2\n2 2\n1 2 x 4\n5 6\n", "'x'"),
        ("a.dat", "2\n0\n2\n2\n2 2\n1 2 nan 4\n5 6\n", "finite"),
        ("a.dat", "2\n2\n2\n2\n0 1\n", "layout 0"),
        ("a.dat", "1\n2\n1\n1\n1 CS triplet: 1-by-1, nzmax: 2 nnz: 2\n0 0 : 1 0 0 : 2\n5\n", "twice"),
        ("a.dat", "1\n0\n1\n1\n1 1\n2\n-1\n0 1\n", "relay"),
        ("a.dat", "99999\n0\n99999\n99999\n99999 99999\n1\n", "cut off"),
        ("a.dat", "5001\n2\n5001\n5001\n1 CS triplet: 5001-by-5001, nzmax: 0 nnz: 0\n" + "1 " * 5001, "up to 5000"),
        ("a.dat", "2\n1\n2\n2\n1\n2\n2\n1 2\n1 3\n3\n1\n0 1 1\n0\n0\n1\n5 6\n", "does not fit"),
        ("a.npz", b"", "cut off, empty, or of another kind"),
        ("a.npz", b"PK\x03\x04" + bytes(40), "not a readable .npz"),
        ("a.npz", b"1,2\n3,4\n", "not a readable .npz"),
        ("a.mat", b"", "not a readable MATLAB"),
        ("a.mat", b"1,2\n3,4\n", "not a readable MATLAB"),
        ("a.mat", b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(400), "not a readable MATLAB"),
        ("a.csv", "1,2\n3\n", "line 2"),
    ],
)
def test_hostile_files(tmp_path, name, content, part):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refusal(path)
    assert part in message, message


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("the file was unpickled",))


def test_an_empty_name_and_a_wrong_right_hand_side_are_named_as_such():
    assert "the name of a file is empty" in refusal("")
    with pytest.raises(DataError, match="the right-hand side, row 2, column 1: 'x'"):
        read_problem("[1 2; 2 1]", "[1; x]")


def test_nothing_is_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", M=np.array([[Bomb()]], dtype=object))
    assert "object" in refusal(tmp_path / "a.npz")


def test_a_sparse_archive_of_scipy_is_refused_with_the_format_that_is_read(tmp_path):
    A = scipy.sparse.csr_array(M)
    scipy.sparse.save_npz(tmp_path / "a.npz", A)
    assert "a.npz is a sparse matrix of SciPy; save it by scipy.io.mmwrite('matrix.mtx', A)" in refusal(
        tmp_path / "a.npz"
    )
    scipy.io.mmwrite(tmp_path / "matrix.mtx", A)
    assert np.array_equal(read_problem(tmp_path / "matrix.mtx")[0].values, M)


def test_archives_that_lie(tmp_path):
    def archive(**members: bytes):
        path = tmp_path / "a.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for key, content in members.items():
                file.writestr(f"{key}.npy", content)
        return path

    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"

    def array(shape: bytes, data: bytes) -> bytes:
        text = (header % shape).ljust(117) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data

    assert "at most 5000" in refusal(archive(M=array(b"200000, 200000", bytes(64))))
    assert "32 bytes of data where" in refusal(archive(M=array(b"5, 5", bytes(32))))
    assert "must be called M" in refusal(archive(a=array(b"1, 1", bytes(8)), b=array(b"1, 1", bytes(8))))
    assert "nothing" in refusal(archive())
    path = archive(M=array(b"40, 40", bytes(12_800)))
    path.write_bytes(path.read_bytes()[:-30])
    assert "not a readable .npz" in refusal(path)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ({"M": np.array([[1 + 2j]])}, "complex"),
        ({"M": "text"}, "char"),
        ({"M": {"a": 1}}, "struct"),
        ({"M": np.array([[{}, 1]], dtype=object)}, "cell"),
        ({"M": np.array([[np.nan]])}, "nan"),
        ({"a": M, "b": M}, "must be called M"),
        ({}, "nothing"),
        ({"M": np.zeros((2, 2, 2))}, "shape"),
        ({"M": np.zeros((0, 0))}, "shape"),
        ({"M": M, "q": np.ones(2)}, "2 entries"),
    ],
)
def test_matlab_files_that_hold_no_problem(tmp_path, content, part):
    scipy.io.savemat(tmp_path / "a.mat", content)
    message = refusal(tmp_path / "a.mat")
    assert part in message, message


def test_truncated_matlab_file(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"M": np.random.default_rng(0).standard_normal((30, 30))}, do_compression=True)
    whole = (tmp_path / "a.mat").read_bytes()
    for length in range(0, len(whole) - 8, 500):
        (tmp_path / "a.mat").write_bytes(whole[:length])
        assert refusal(tmp_path / "a.mat")


def test_headers_of_matrices_are_judged_before_they_are_made(tmp_path):
    """Two lines that claim 25 million entries cost neither time nor memory."""
    head = "%%MatrixMarket matrix"
    for layout in ("array real general\n5000 5000\n1\n", "array real skew-symmetric\n5000 5000\n1\n"):
        (tmp_path / "a.mtx").write_text(f"{head} {layout}")
        tracemalloc.start()
        assert "where 5000 x 5000 needs" in refusal(tmp_path / "a.mtx")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1e6


def test_vectors_that_do_not_fit(tmp_path):
    write_all(tmp_path)
    (tmp_path / "long.txt").write_text("1 2 3 4")
    (tmp_path / "wide.csv").write_text("1,2\n3,4\n")
    assert "4 entries" in refusal(tmp_path / "m.csv", tmp_path / "long.txt")
    assert "2 x 2 matrix" in refusal(tmp_path / "m.csv", tmp_path / "wide.csv")
    assert "does not exist" in refusal(tmp_path / "m.csv", tmp_path / "missing.txt")
    assert "standard input" in refusal("-", "-")
    (tmp_path / "wide2.csv").write_text("1,2,3\n4,5,6\n")
    assert "square" in refusal(tmp_path / "wide2.csv", tmp_path / "q.txt")


# The command


def test_check_of_a_whole_problem(tmp_path, capsys):
    (tmp_path / "a.json").write_text('{"M": [[2, 1], [1, 2]], "q": [-5, "-6"]}')
    assert main(["check", str(tmp_path / "a.json"), "--json", "--out", str(tmp_path / "page.html")]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["solutions"]["count"] == 1
    assert result["solutions"]["points"] == [["4/3", "7/3"]]
    assert result["solutions"]["dimension"] == 0
    assert result["classes"]["PD"] == {
        "verdict": "yes", "proof": "exact LDL^T: every pivot is positive", "witness": {"by": "factors"}, "reason": None,
    }  # fmt: skip
    assert {s["name"]: s["verified"] for s in result["solvers"]}["lemke"] is True
    assert "exactly one solution for every q" in result["in_words"]
    page = (tmp_path / "page.html").read_text()
    assert "4/3, 7/3" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_check_says_what_this_q_does(tmp_path, capsys):
    for text, count, words in (
        ('{"M": [[-1]], "q": [-1]}', 0, "no solution"),
        ('{"M": [[-1]], "q": [1]}', 2, "exactly 2 solutions"),
        ('{"M": [[1, 1], [1, 1]], "q": [-1, -1]}', "infinite", "infinitely many"),
    ):
        (tmp_path / "a.json").write_text(text)
        assert main(["check", str(tmp_path / "a.json"), "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        assert result["solutions"]["count"] == count
        assert words in result["in_words"]
        assert main(["check", str(tmp_path / "a.json")]) == 0
        assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.json", "--time-limit", "0"],
        ["a.json", "--time-limit", "soon"],
        ["a.json", "--rhs", "missing"],
        ["a.json", "--out", "."],
        ["a.json", "--out", "missing/page.html"],
        ["text.mat"],
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text("[[1]]")
    (tmp_path / "text.mat").write_text("1 2")
    assert main(["check", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().split("\n")) == 1


def test_the_page_escapes_names_and_shows_every_verdict(tmp_path, capsys):
    name = "<b>&.csv"
    (tmp_path / name).write_text("1,-2\n0,1\n")
    assert main(["check", str(tmp_path / name), "--out", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "<b>&.csv" not in page
    assert "&lt;b&gt;&amp;.csv" in page
    assert page.count('class="yes">yes') + page.count('class="no">no') + page.count("undecided") >= 19
    capsys.readouterr()


def test_names_that_cannot_be_printed_stay_on_the_line(tmp_path):
    """A name in a file may end lines or colour a terminal."""
    np.savez(tmp_path / "a.npz", **{"\n": np.eye(2), "x\x1b[31m": np.eye(2)})
    assert (
        refusal(tmp_path / "a.npz")
        == r"a.npz holds \n, x\x1b[31m; the matrix must be called M, or be chosen, as in a.npz:\n"
    )


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ({"M": np.frombuffer(b"t\0e\0", np.uint16)}, "char"),
        ({"M": {}}, "of class struct"),
        ({"M": np.array([[1.0, np.nan]])}, "entry [0, 1] is nan"),
        ({"M": np.zeros((1, 5001))}, "at most 5000"),
        ({"M": scipy.sparse.csc_array((5001, 2))}, "at most 5000"),
        ({"a": M, "b": M}, "holds a, b; the matrix must be called M, or be chosen, as in a.mat:a"),
        ({"M": M.astype(complex)}, "complex"),
        ({}, "nothing"),
    ],
)
def test_matlab_files_of_version_73_that_hold_no_problem(tmp_path, content, part):
    (tmp_path / "a.mat").write_bytes(matlab73(content))
    message = refusal(tmp_path / "a.mat")
    assert part in message, message


def test_an_array_of_several_is_chosen(tmp_path):
    np.savez(tmp_path / "a.npz", A=M, B=2 * M, b=Q)
    (tmp_path / "a.mat").write_bytes(matlab73({"A": M, "B": 2 * M, "b": Q}))
    for suffix in ("npz", "mat"):
        path = tmp_path / f"a.{suffix}"
        matrix, q = read_problem(f"{path}:B", f"{path}:b")
        assert (matrix.values == 2 * M).all()
        assert (q.values.ravel() == Q).all()
        assert (
            refusal(path) == f"a.{suffix} holds A, B, b; the matrix must be called M, or be chosen, as in a.{suffix}:A"
        )
        assert refusal(f"{path}:C") == f"a.{suffix} holds A, B, b, and no C"
    np.savez(tmp_path / "one.npz", stiffness=M)
    assert (read_problem(tmp_path / "one.npz")[0].values == M).all()
