"""Matrices as people paste them: read exactly, or refused in one line that says what to write."""

import html
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.pasted import NOTED, STYLES, matrix, mutilated, typeset
from workbench.readers.problem import read_problem
from workbench.readers.text import parse_text
from workbench.support.errors import WorkbenchError

AS_WRITTEN = "the numbers as written, exactly"
DOUBLES = "the stored doubles, each taken as an exact number (0.1 is 0.1 + 5.6e-18)"


def read(text: str):
    (found,) = parse_text(text, "text").values()
    return found


def fractions(found) -> list[list[Fraction]]:
    return [[Fraction(int(x.p), int(x.q)) for x in row] for row in found.exact.tolist()]


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_read_exactly(style):
    rng = random.Random(style)
    for _ in range(40):
        typed, meant = matrix(rng)
        found = read(STYLES[style](typed, rng))
        assert fractions(found) == meant
        assert all(found.values.ravel() == [float(x) for row in meant for x in row])
        assert [NOTED[style] in note for note in found.notes[:1]] == ([True] if style in NOTED else [])
        print_form = [[typeset(x, rng) for x in row] for row in typed]
        assert fractions(read(STYLES[style](print_form, rng))) == meant


@pytest.mark.thorough
def test_mutilated_text_is_read_or_refused_in_one_line(tmp_path):
    rng = random.Random(5)
    read_ones, refusals = 0, []
    for number in range(3000):
        text = mutilated(rng)
        suffix = ("txt", "csv", "json", "dat", "mtx")[number % 5 if number % 3 else 0]
        path = tmp_path / f"a.{suffix}"
        path.write_text(text, "utf-8", "surrogatepass")
        try:
            read_ones += read_problem(path)[0].exact.nrows() > 0
        except WorkbenchError as error:
            refusals.append(str(error))
    assert [words for words in refusals if not words or "\n" in words or len(words) > 300] == []
    assert 50 < read_ones < 2700


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,5;2,5\n3,0;4,0", "line 1, column 1: '1,5' has commas that may be decimal; write 1.5, 2.5, or 1, 5, 2, 5"),
        ("1,5 2,5", "line 1, column 2: '5 2' has commas that may be decimal; write 1.5, 2.5, or 1, 5, 2, 5"),
        ("1,5\t2,5", "write 1.5, 2.5, or 1, 5, 2, 5"),
        ("1,5, 2,5", "line 1: '1,5, 2,5' has commas that may be decimal; write 1.5, 2.5, or 1, 5, 2, 5"),
        ('"1,5","2,5"', "write 1.5, 2.5, or 1, 5, 2, 5"),
        ("1,05\n2,50", "line 1: '1,05' has commas that may be decimal; write 1.05, or 1, 05"),
        ("[1,05 2; 3 4]", "row 1: '1,05 2' has a comma that may be decimal"),
        ("[1,5 2,5; 3 4]", "row 1: '5 2' has both commas and blanks"),
        ("1 2; 3 4", "'1 2' has blanks inside; write 1, 2, 3, 4, or [1 2; 3 4] for rows"),
        ("1, 2 3", "'2 3' has blanks inside; write 1, 2, 3"),
        ("1\u202f234 5", "line 1: '1\\u202f234' may be one number or several; write 1234"),
        ("1\u200b2, 3", "'1\\u200b2' is not a number"),
        ("1\u2009½", "may be one number or several"),
        ("1.5½, 2", "is not a number"),
        ("[1 2; 3 4", "the bracket of line 1 is not closed; end it with ]"),
        ("[[1, 2], [3, 4]", "the bracket of line 1 is not closed; end it with ]]"),
        ("M = [1 2; 3]", "row 2 has 1 entries, row 1 has 2"),
        ("M = [1 2; 3 x]", "row 2, column 2: 'x' is not a number"),
        ("[[1, 2], [3, nan]]", "row 2, column 2 is nan; every entry must be finite"),
        ("[[1, 2j]]", "row 1, column 2: '2j' is not a real number, and complex ones are not read"),
        ("[1 2; 3 1-2.5i]", "complex"),
        ("[[1 2] [3 4]]", "is not rows in brackets"),
        ("[[1, 2] 3, [3, 4]]", "is not rows in brackets"),
        ("[[[1]], [[2]]]", "is not rows in brackets"),
        ("[1, 2,\n3, 4]", "a line that ends with a comma"),
        ("[[0. 0. ... 0.]\n [0. 0. ... 1.]]", "'...' instead of entries"),
        ("[1 2; 3 4]'", '"\'" follows the matrix'),
        ("[[1, 0], [0, 1]] * 2", "'* 2' follows the matrix"),
        ("inv([[1, 0], [0, 1]])", "not a number"),
        ("array([[1, 2]]", "no ) follows"),
        ("[[1]]\n[2]", "write a vector as q = [1; 2] on a line of its own"),
        ("1e999999999, 0", "line 1, column 1: '1e999999999' has an exponent beyond 9999"),
        ("[[1e-999999999]]", "exponent beyond 9999"),
        ("x, y, z\n1, 2", "line 1 names 3 columns, line 2 has 2 entries; begin a line that is not a row with #"),
        ("x, y\n", "no numbers"),
        ("nan, nan\n1, 2", "line 1, column 1 is nan"),
        ("a, 1\n2, 3", "line 2"),
        ("1, 2,\n3, ,", "line 2, column 2 is empty"),
        ("1, 2\n3, 4,,", "line 2, column 3 is empty"),
        ("50%, 20%", "'50%' is not a number"),
        ("M = [1]\nM = [2]", "line 2: M is there twice"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(text, words):
    with pytest.raises(WorkbenchError) as caught:
        parse_text(text, "text")
    assert words in str(caught.value), str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1½, −¾", [["3/2", "-3/4"]]),
        ("\ufeff1, 2", [["1", "2"]]),
        ("1\u00a02\u2003 3", [["1", "2", "3"]]),
        ("“1”, ‘2’", [["1", "2"]]),
        ("[[np.float64(0.1), np.int64(2)], [Fraction(4, 3), Fraction(-1, 2)]]", [["1/10", "2"], ["4/3", "-1/2"]]),
        ("# x = 1\n1 2 # y = 2\n% z\n3 4", [["1", "2"], ["3", "4"]]),
        ("[1 2 % first\n 3 4 # second\n]", [["1", "2"], ["3", "4"]]),
        ("[0.1]", [["1/10"]]),
        ("1e0000003", [["1000"]]),
    ],
)
def test_small_print(text, meant):
    assert [[str(x) for x in row] for row in read(text).exact.tolist()] == meant


def test_matrix_and_vector_in_one_text(tmp_path):
    for text in (
        "M = [2 1; 1 2];\nq = [-5; -7/2];",
        "[2 1; 1 2]\nq = [-5, -7/2]",
        "2, 1\n1, 2\n\nq =\n-5\n-7/2\n",
        "q = np.array([-5, -7/2])\nM = np.array([[2, 1], [1, 2]])",
        '{"M": [[2, 1], [1, 2]], "q": [-5, "-7/2"]}',
    ):
        (tmp_path / "a.txt").write_text(text)
        for source in (tmp_path / "a.txt", text) if text[0] in "{[Mq" else (tmp_path / "a.txt",):
            M, q = read_problem(source)
            assert fractions(M) == [[2, 1], [1, 2]]
            assert fractions(q) == [[-5], [Fraction(-7, 2)]]
    (tmp_path / "a.txt").write_text("A = [1]\nB = [2]")
    with pytest.raises(WorkbenchError, match="holds A, B; the matrix must be called M"):
        read_problem(tmp_path / "a.txt")
    M, q = read_problem("[2 1; 1 2]", "q = [-1/3; 1]")
    assert fractions(q) == [[Fraction(-1, 3)], [1]]
    with pytest.raises(WorkbenchError, match="2 x 2 matrix"):
        read_problem("[2 1; 1 2]", "[2 1; 1 2]")


@pytest.mark.parametrize(
    ("rows", "meant", "judged", "notes"),
    [
        ([[1, 0.1], [0, 2]], ["1", str(Fraction(0.1)), "0", "2"], DOUBLES, 0),
        (np.array([[1, 0.5], [0, 2]]), ["1", "1/2", "0", "2"], DOUBLES, 0),
        ([["0.1", 1], [Fraction(4, 3), Decimal("-0.3")]], ["1/10", "1", "4/3", "-3/10"], AS_WRITTEN, 0),
        ([["0.1", 0.1], [1, 2]], ["1/10", str(Fraction(0.1)), "1", "2"], AS_WRITTEN, 1),
        ([[2**53 + 1, 0], [0, 1]], [str(2**53 + 1), "0", "0", "1"], AS_WRITTEN, 0),
        ("[0.1 0; 0 1/3]", ["1/10", "0", "0", "1/3"], AS_WRITTEN, 0),
        ("x, y\n1, 0\n0, 1", ["1", "0", "0", "1"], AS_WRITTEN, 1),
    ],
)
def test_what_was_judged_is_reported(rows, meant, judged, notes, tmp_path):
    if isinstance(rows, str) and rows[0] != "[":
        (tmp_path / "a.csv").write_text(rows)
        rows = tmp_path / "a.csv"
    found = wb.check(rows, seconds=1)
    assert [x for row in found.data["M"] for x in row] == meant
    assert found.data["judged"] == judged
    assert len(found.data["notes"]) == notes
    text, page = " ".join(found.text.split()), html.unescape(found.html())
    assert f"judged {judged}" in text
    assert f"Judged: {judged}." in page
    assert all(note in text and note in page for note in found.data["notes"])


def test_matrix_and_vector_may_be_judged_differently():
    found = wb.check("[1 0; 0 1]", rhs=[0.5, 0.25], seconds=1)
    assert found.data["judged"] == f"of M {AS_WRITTEN}; of q {DOUBLES}"


@pytest.mark.parametrize(
    "rows", [[[Decimal("1e999999999")]], [[10**400]], [[True, "1"], [0, 1]], [[object()]], [[None]], 3, [["1"], [1, 2]]]
)
def test_rows_of_python_that_are_no_matrix(rows):
    with pytest.raises(WorkbenchError):
        wb.check(rows)


@pytest.mark.parametrize(
    "rows",
    [[["1e-320", "0"], ["0", "1"]], [["1e-320", "0"], ["0", "1e300"]], [["1e308", "1e308"], ["-1e308", "1e308"]]],
)
def test_entries_at_the_ends_of_the_doubles_leave_no_warning(rows):
    """Warnings are errors here."""
    found = wb.check(rows, rhs=["-1", "1"], seconds=1)
    assert found.data["p_matrix"]["verdict"] == "P"
    assert found.text
    assert found.html()
