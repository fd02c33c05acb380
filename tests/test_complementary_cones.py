"""Complementary cones of two and three unknowns: numbers of solutions against brute force, and what a picture shows."""

import itertools
import math
import re
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from workbench.builtin.reports.figures.solution_counts import COLOURS
from workbench.cli.main import main
from workbench.matrices.solutions.complementary_cones import complementary_cones, direction
from workbench.support.errors import WorkbenchError

CENTRES, RADIUS = ((195.0, 190.0), (565.0, 190.0)), 165.0


def solve(A, b):
    """The solution of A x = b by Cramer's rule in fractions; None where A is singular."""

    def det(B):
        if not B:
            return Fraction(1)
        return sum(
            (-1) ** j * B[0][j] * det([[*row[:j], *row[j + 1 :]] for row in B[1:]]) for j in range(len(B)) if B[0][j]
        )

    d = det(A)
    if d == 0:
        return None
    k = range(len(A))
    return [Fraction(det([[b[i] if j == c else A[i][j] for j in k] for i in k])) / d for c in k]


def brute_force(M, q):
    """The number of solutions z of LCP(q, M) by all index sets; None where q is on the boundary of a cone."""
    n, found = len(q), 0
    for a in itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(n + 1)):
        z = solve([[int(M[i][j]) for j in a] for i in a], [-int(q[i]) for i in a])
        if z is None:
            # q is in general position: in the span of no n - 1 of the columns.
            continue
        w = [int(q[i]) + sum(int(M[i][j]) * x for j, x in zip(a, z, strict=True)) for i in range(n) if i not in a]
        if min([*z, *w]) == 0:
            return None
        found += min([*z, *w]) > 0
    return found


def matrices(n, many):
    """Random integer matrices, about half of them with a principal minor that is zero."""
    rng = np.random.default_rng(n)
    yield np.zeros((n, n), int)
    yield np.ones((n, n), int)
    yield -np.eye(n, dtype=int)
    yield 2 * np.ones((n, n), int) - 3 * np.eye(n, dtype=int)
    for i in range(many):
        yield rng.integers(-1 - i % 4, 2 + i % 4, (n, n))


def cones_of(M):
    return complementary_cones(fmpq_mat([[fmpq(int(x)) for x in row] for row in M]))


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "many"), [(2, 400), (3, 60)])
def test_every_region_has_the_number_of_solutions_that_brute_force_finds_in_it(n, many):
    degenerate = 0
    for M in matrices(n, many):
        cones = cones_of(M)
        degenerate += bool(cones.degenerate)
        for region in cones.regions:
            assert brute_force(M, region.inside) == region.count
            assert not cones.at_boundary(region.inside)
        # All directions are covered once.
        assert math.isclose(sum(region.share for region in cones.regions), 1.0, rel_tol=1e-9)
        assert all(region.share > 0 for region in cones.regions)
    assert degenerate > many / 4


def test_sectors_hold_one_number_of_solutions_each():
    rng = np.random.default_rng(1)
    for M in matrices(2, 100):
        cones = cones_of(M)
        for q in rng.integers(-9, 10, (20, 2)):
            count = brute_force(M, q)
            if count is None or any(g[0] * q[1] == g[1] * q[0] for g in cones.generators):
                continue
            angle = math.atan2(q[1], q[0])
            around = []
            for region in cones.regions:
                u, v = (math.atan2(r[1], r[0]) for r in region.outline[0])
                if (angle - u) % (2 * math.pi) < (v - u) % (2 * math.pi):
                    around.append(region.count)
            assert around == [count]


def spanned(v, a, b):
    """Whether v is a combination of a and b with factors that are not negative."""
    normal = np.cross(a, b)
    return normal.any() and v @ normal == 0 and np.cross(a, v) @ normal >= 0 and np.cross(v, b) @ normal >= 0


def test_regions_of_the_sphere_end_at_facets_and_at_the_rim_alone():
    for M in matrices(3, 12):
        columns = [*np.eye(3, dtype=int), *(-M.T)]
        facets = [(columns[i], columns[j]) for i, j in itertools.combinations(range(6), 2) if j - i != 3]
        for region in cones_of(M).regions:
            for loop in region.outline:
                for u, v in zip(loop, (*loop[1:], loop[0]), strict=True):
                    middle = np.array(u) + v
                    assert sum(u) == sum(v) == 0 or any(spanned(middle, a, b) for a, b in facets)


def drawn(svg):
    """Colour and loops of points of every region of a picture on the sphere."""
    for d, colour in re.findall(r'<path class="region" d="([^"]*)" fill="(#\w+)"', svg):
        loops = [np.array([p.split(",") for p in loop.split("L")], float) for loop in d.replace("Z", "").split("M")[1:]]
        yield colour, loops


def surrounded(point, loops):
    """By the angle that the loops turn about the point."""
    turns = 0.0
    for loop in loops:
        x, y = (loop - point).T
        angles = np.arctan2(y, x)
        steps = np.diff(np.r_[angles, angles[0]])
        turns += ((steps + np.pi) % (2 * np.pi) - np.pi).sum() / (2 * np.pi)
    return round(abs(turns)) % 2 == 1


def lambert(q):
    """The point of a direction, and of which half, by the polar coordinates about (1, 1, 1)."""
    p = np.asarray(q, float) / np.linalg.norm(q)
    back = int(p.sum() < 0)
    axis = (1 - 2 * back) * np.ones(3) / np.sqrt(3)
    polar = np.arccos(np.clip(p @ axis, -1, 1))
    up = np.array([-1, -1, 2]) / np.sqrt(6)
    azimuth = np.arctan2(p @ up, p @ np.cross(up, axis))
    r = np.sqrt(2) * RADIUS * np.sin(polar / 2)
    return np.array(CENTRES[back]) + r * np.array([np.cos(azimuth), -np.sin(azimuth)])


@pytest.mark.thorough
def test_the_colour_at_a_direction_on_the_sphere_tells_its_number_of_solutions():
    rng = np.random.default_rng(2)
    seen = 0
    for M in matrices(3, 8):
        regions = list(drawn(wb.check(M).picture().svg))
        for q in rng.integers(-9, 10, (25, 3)):
            count = brute_force(M, q) if q.any() else None
            if count is None:
                continue
            point = lambert(q)
            around = [colour for colour, loops in regions if surrounded(point, loops)]
            edge = min(np.abs(np.concatenate(loops) - point).sum(axis=1).min() for _, loops in regions)
            if edge > 8:
                assert around == [COLOURS[count]]
                seen += 1
    assert seen > 120


def test_the_lines_on_the_sphere_are_the_facets_of_the_cones():
    for M in itertools.islice(matrices(3, 6), 3, None):
        columns = [*np.eye(3), *(-M.T)]
        svg = wb.check(M).picture().svg
        lines = re.findall(r'<path d="M([^"]*)" fill="none" stroke="#444"/>', svg)
        points = np.array([p.split(",") for line in lines for p in line.split("L")], float)
        for i, j in itertools.combinations(range(6), 2):
            a, b = (x / (np.linalg.norm(x) or 1) for x in (columns[i], columns[j]))
            if j - i == 3 or np.linalg.norm(np.cross(a, b)) < 1e-9:
                continue
            for t in np.linspace(0.01, 0.99, 7):
                # Points of a line are 3 degrees apart, at most 9 px.
                assert np.linalg.norm(points - lambert((1 - t) * a + t * b), axis=1).min() < 9


def test_the_degree_is_the_same_in_all_regions_of_a_nondegenerate_matrix():
    degrees = set()
    for M in itertools.chain(matrices(2, 60), matrices(3, 20)):
        cones = cones_of(M)
        if not cones.degenerate:
            assert len({region.degree for region in cones.regions}) == 1
            degrees.add(cones.regions[0].degree)
    assert {-1, 0, 1} <= degrees


def test_index_is_the_sign_of_the_principal_minor():
    cones = cones_of([[2, 3, 0], [1, 1, 0], [0, 0, -1]])
    assert {cone.index_set: cone.index for cone in cones.cones} == {
        (): 1, (0,): 1, (1,): 1, (2,): -1, (0, 1): -1, (0, 2): -1, (1, 2): -1, (0, 1, 2): 1,
    }  # fmt: skip


def test_only_directions_of_columns_matter():
    rng = np.random.default_rng(3)
    for n in (2, 3):
        for M in itertools.islice(matrices(n, 10), 10):
            assert cones_of(M * rng.integers(1, 10**9, n)) == cones_of(M)
    M, q = [[1, 2], [3, 1]], [-1, -2]
    assert wb.check(M, rhs=q).picture().svg == wb.check(M, rhs=[1000 * x for x in q]).picture().svg
    assert direction([fmpq(2, 3), fmpq(-4, 9)]) == (3, -2)


def test_boundaries_are_found_exactly():
    # The cones of 1 + 2^-60 are thinner than doubles resolve.
    cones = complementary_cones(fmpq_mat([[fmpq(1), fmpq(1)], [fmpq(1), 1 + fmpq(1, 2**60)]]))
    assert cones.at_boundary((-1, -1))
    assert not cones.at_boundary((-(2**61), -(2**61) - 1))
    assert len(cones.regions) == 4
    space = cones_of([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert space.at_boundary((1, -1, 0))
    assert not space.at_boundary((1, -1, 1))
    # No cone has its own boundary inside.
    assert not any(cone.surrounds((1, -1, 0)) for cone in space.cones)


def texts(svg):
    """All words of a picture, which is well-formed XML."""
    return [x.text for x in ElementTree.fromstring(svg).iter("text")]


def counts(svg):
    return sorted(re.findall(r'class="count"[^>]*>(\d)<', svg))


@pytest.mark.parametrize(
    ("M", "q", "expected", "words"),
    [
        ([[2, -1], [1, 1]], [-1, -1], "1111", {"one solution: 100 %", "q: one solution", "−M₀", "I₁", "q"}),
        ([[1, 2], [3, 1]], [-1, -1], "1113", {"3 solutions: 12.5 %", "q: 3 solutions"}),
        ([[0, 1], [1, 0]], [1, -1], "0011", {"no solution: 50.0 %", "q: no solution", "I₀ (∞)", "−M₁ (∞)"}),
        ([[-1, 0], [0, -1]], None, "04", {"4 solutions: 25.0 %"}),
        ([[1, 1], [1, 1]], [-2, -2], "111", {"−M₀, −M₁, q (∞)", "q: infinitely many solutions"}),
        ([[0, 0], [0, 0]], [0, 0], "01", {"I₀ (∞)", "no solution: 75.0 %"}),
        ([["1", "1"], ["1", "1.0000000000000000000000001"]], [-1, -2], "1111", {"one solution: 100 %", "q"}),
    ],
)  # fmt: skip
def test_the_picture_of_the_plane_names_what_it_shows(M, q, expected, words):
    svg = wb.check(M, rhs=q).picture().svg
    assert counts(svg) == list(expected)
    assert words <= set(texts(svg))
    assert svg.count('class="region"') == len(expected)


def test_sectors_have_the_colour_and_the_extent_of_their_number():
    shapes = r'A145.0,145.0 0 (\d) 0 [^"]*" fill="(#\w+)"'
    assert re.findall(shapes, wb.check([[0, 0], [0, 0]]).picture().svg) == [("0", COLOURS[1]), ("1", COLOURS[0])]
    assert re.findall(shapes, wb.check([[-1, 0], [0, -1]]).picture().svg) == [("0", COLOURS[4]), ("1", COLOURS[0])]


def places(svg):
    """Where the numbers of solutions stand in the plane, from the middle of the disc upwards and to the right."""
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" font-size="(\d+)"[^>]*class="count"[^>]*>(\d)<', svg)
    return {count: (float(x) - 380, 185 - float(y) + 0.35 * int(size)) for x, y, size, count in found}


def test_numbers_stand_beside_q_and_outside_of_narrow_sectors():
    found = places(wb.check([["1", "2"], ["2.1", "4"]]).picture().svg)
    assert math.hypot(*found["3"]) > 150
    assert math.hypot(*found["1"]) < 145
    for M, q in (([["1", "2"], ["2.1", "1"]], (-1, -1)), ([[-1, 0], [0, -1]], (1, 1))):
        for x, y in places(wb.check(M, rhs=q).picture().svg).values():
            assert x * q[0] + y * q[1] < 0 or abs(x * q[1] - y * q[0]) / math.hypot(*q) > 8
            assert math.hypot(x, y) < 145


def test_the_picture_of_the_sphere_names_what_it_shows():
    picture = wb.check([[1, 2, 2], [2, 1, 2], [2, 2, 1]], rhs=["-2", "-2.1", "-2"]).picture()
    named = set(texts(picture.svg))
    assert {"I₀", "I₁", "I₂", "−M₀", "−M₁", "−M₂", "q", "q: 7 solutions"} <= named
    assert set(counts(picture.svg)) == {"1", "3", "5", "7"}
    assert "z &gt; 0 on {0, 2}, index −1" in picture.svg
    assert "the degree, +1." in picture.caption
    shares = [float(x) for text in named for x in re.findall(r"solutions?: ([\d.]+) %", text)]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(100, abs=0.3)


def test_the_caption_tells_what_cannot_be_seen():
    caption = wb.check([[1, 1], [1, 1]], rhs=[-2, -2]).picture().caption
    assert "α = {0, 1}" in caption
    assert "infinitely many solutions on −M₀, −M₁." in caption
    assert "This q lies on a boundary." in caption
    nothing = wb.check(np.zeros((3, 3)), rhs=[0, 0, 0]).picture().caption
    assert "column 0 and 1 and 2 of M" in nothing
    assert "q = 0 has no direction" in nothing
    assert "degree" not in nothing


@pytest.mark.parametrize(
    ("M", "shown"),
    [
        ([["1e300", "1", "0"], ["1e-300", "2", "1"], ["0", "1e200", "1"]], {"1", "3"}),
        ([["1", "1", "1"], ["1", "1.00000000000000000001", "1"], ["1", "1", "1"]], {"1"}),
        ([["-1/3", "1e-30", "0"], ["1e-30", "-1/7", "0"], ["0", "0", "1e-300"]], {"0", "4"}),
    ],
)
def test_matrices_of_all_sizes_are_drawn(M, shown):
    svg = wb.check(M, seconds=2).picture().svg
    assert "nan" not in svg
    assert "inf" not in svg
    assert set(counts(svg)) == shown
    ElementTree.fromstring(svg)


def test_the_command_writes_the_picture_and_the_page_has_it_first(tmp_path, capsys):
    matrix, page = tmp_path / "m.csv", tmp_path / "page.html"
    matrix.write_text("1,2\n3,1\n")
    for name, start in {"a.svg": b"<svg", "a.pdf": b"%PDF", "a.PNG": b"\x89PNG"}.items():
        assert main(["check", str(matrix), "--picture", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(start)
        assert f"picture: {tmp_path / name}" in capsys.readouterr().out
    q = tmp_path / "q.csv"
    q.write_text("-1,-1\n")
    assert main(["check", str(matrix), "--rhs", str(q), "--out", str(page)]) == 0
    text = page.read_text()
    order = (
        "For this q there are exactly 3",
        "<svg",
        "<table",
        "Solutions for this q",
        "Classes of M",
        "<h2>Solvers",
    )
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    matrix.write_text("1,2,0,0\n3,1,0,0\n0,0,1,0\n0,0,0,1\n")
    assert main(["check", str(matrix), "--out", str(page)]) == 0
    assert "<svg" not in page.read_text()


def test_what_cannot_be_drawn_is_reported_in_one_line(tmp_path, capsys):
    matrix = tmp_path / "m.csv"
    matrix.write_text("1")
    for name, words in {"a.gif": "ends in '.gif'", "a.svg": "two or three unknowns; the matrix has 1"}.items():
        assert main(["check", str(matrix), "--picture", str(tmp_path / name)]) == 2
        assert words in capsys.readouterr().err
        assert not (tmp_path / name).exists()
    assert main(["check", "--case", "wheel", "-f", "box", "--picture", "a.svg"]) == 2
    with pytest.raises(WorkbenchError, match="the matrix has 4"):
        wb.check(np.eye(4)).picture()
    with pytest.raises(WorkbenchError, match=r"svg, \.pdf or \.png"):
        wb.check(np.eye(2)).picture().write(tmp_path / "a.html")


def test_a_notebook_shows_the_picture_before_the_table(tmp_path):
    found = wb.check(np.eye(2))
    text = found._repr_html_()
    assert text.index("<svg") < text.index("<table")
    assert "<svg" not in wb.check(np.eye(4))._repr_html_()
    file = ElementTree.parse(found.picture().write(tmp_path / "a.svg")).getroot()
    assert file.tag == "{http://www.w3.org/2000/svg}svg"
    assert found.picture().caption[:20] in found.picture()._repr_html_()
