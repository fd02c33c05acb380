"""An exact solution near a computed answer: proofs, what they do not prove, and certificates that repeat them."""

import copy
import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from tests.problem_files import data_folder
from tests.proofs import LAWS, document, shows, texts, with_digest
from workbench.certificates.outcomes import VERIFIED
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.diagnostics.problem_check import in_rationals
from workbench.diagnostics.proved_answer import proved_impulses, proved_solution
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import WorkbenchError


def random_problem(rng, r, d):
    n = r * (1 + d)
    A = rng.normal(size=(n, n + 3))
    q = rng.normal(size=n) - np.repeat([1, 0], [r, n - r])
    return FrictionProblem(A @ A.T / n, q, rng.uniform(0.2, 0.8, r), d)


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
def test_answers_to_random_problems_are_proved_to_round_off(law):
    rng, modes = np.random.default_rng(1), set()
    for k in range(12):
        problem = random_problem(rng, int(rng.integers(1, 9)), 1 + k % 2)
        answer = wb.solve(problem, law, prove=True)
        assert answer.proof.distance < 1e-12 * max(1.0, np.abs(answer.p).max()), answer.proof.words
        modes |= set(answer.proof.enclosure.equations.modes)
    assert modes == {"open", "stick", "slip", "slip+", "slip-"}


def test_no_perturbed_answer_is_proved_to_be_near():
    rng = np.random.default_rng(2)
    for k in range(10):
        problem = random_problem(rng, 1 + k % 4, 1 + k % 2)
        p, friction = wb.solve(problem).p, in_rationals(problem)
        for size in (1e-11, 1e-7, 1e-3):
            for _ in range(4):
                off = size * rng.choice([-1, 1], p.size)
                found = proved_impulses(friction, p + off)
                assert found.distance is None or found.distance > 0.9 * size


def test_the_distance_is_that_from_the_known_solution():
    # Slip along the first axis: p = (1, -mu, 0) exactly.
    problem = FrictionProblem(np.eye(3), np.array([-1.0, 3.0, 0.0]), 0.5)
    exact = proved_impulses(in_rationals(problem), np.array([1, -0.5, 0]))
    assert exact.distance < 1e-40
    off = proved_impulses(in_rationals(problem), np.array([1, -0.5 + 2.0**-20, 0]))
    assert off.distance == pytest.approx(2.0**-20, rel=1e-12)
    assert off.distance >= 2.0**-20


def test_what_is_not_isolated_or_on_a_border_is_not_proved():
    W = np.kron(np.ones((2, 2)), np.eye(3))
    order = [0, 3, 1, 2, 4, 5]
    problem = FrictionProblem(W[np.ix_(order, order)], np.array([-1, -1, 0.1, 0, 0.1, 0]), [0.5, 0.5])
    answer = wb.solve(problem, prove=True)
    assert answer.proof.distance is None
    assert "not isolated" in answer.words[-1]
    edge = wb.solve(FrictionProblem(np.eye(3), np.array([-1.0, 0.5, 0.0]), 0.5), prove=True)
    assert edge.proof.distance is None
    assert proved_impulses(in_rationals(problem), np.full(6, np.nan)).distance is None


def test_lcps_and_mlcps_are_solved_on_the_answers_basis():
    rng = np.random.default_rng(3)
    for n in (1, 3, 8):
        M = rng.normal(size=(n, n))
        M, q = M @ M.T + np.eye(n), rng.normal(size=n)
        answer = wb.solve(LCP(M, q), prove=True)
        assert answer.proof.distance < 1e-13
        away = proved_solution(LCP(M, q), answer.z + 1e-6 * (answer.z > 0) + 1e-12)
        assert away.distance is None or away.distance >= 1e-12
    box = wb.solve(MLCP(np.array([[2.0]]), np.array([-3.0]), np.zeros(1), np.ones(1)), prove=True)
    assert box.proof.words == "proved: the answer is an exact solution"
    # z_1 + z_2 = 1: a segment of solutions.
    segment = proved_solution(LCP(np.ones((2, 2)), -np.ones(2)), np.array([0.5, 0.5]))
    assert "no isolated solution" in segment.words


def test_cone_problems_are_proved_as_they_are():
    W, q = np.diag([1.0, 2.0, 2.0]), np.array([-1.0, 1.0, 0.5])
    for law in (CoulombNCP(W, q, np.array([0.3])), ConicQP(W, q, np.array([0.3]))):
        assert wb.solve(law, prove=True).proof.distance < 1e-14
    with pytest.raises(WorkbenchError, match="proofs are about coulomb and ccp"):
        wb.solve(FrictionProblem(W, q, 0.3), "stewart-trinkle", prove=True)


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
def test_contacts_without_friction_impulse_or_slip_are_proved(law):
    """One contact pressed in the normal direction, its twin lifted in it."""
    W = np.kron(np.eye(2), np.array([[3.0, 0, 0], [0, 1, 0.5], [0, 0.5, 1]]))
    order = [0, 3, 1, 2, 4, 5]
    problem = FrictionProblem(W[np.ix_(order, order)], np.array([-1.0, 1, 0, 0, 0, 0]), [0.5, 0.5])
    found = wb.solve(problem, law, prove=True).proof
    assert found.enclosure.equations.modes == ("stick", "open")
    assert found.distance < 1e-16


def test_a_cone_problem_is_proved_for_its_own_matrix():
    """W of no bodies: the solver takes another, and the solution of the given one is a little way off: p_n = 1 / 2."""
    W = np.array([[2.0, 0, 0], [1e-6, 1, 0], [0, 0, 1]])
    answer = wb.solve(FrictionProblem(W, np.array([-1.0, 0, 0]), 0.5), "ccp", prove=True)
    assert answer.moved is not None
    assert answer.proof.distance == pytest.approx(np.abs(answer.p - [0.5, -0.5e-6, 0]).max(), rel=1e-6)
    # Redundant contacts: nothing is proved, and the other matrix is the reason.
    twice = np.kron(W, np.ones((2, 2)))
    redundant = wb.solve(FrictionProblem(twice, np.array([-1.0, -1, 0, 0, 0, 0]), [0.5, 0.5]), "ccp", prove=True)
    assert "nearest W" in redundant.proof.reason


def test_frictionless_contacts_are_proved():
    problem = FrictionProblem(np.eye(6), np.array([-1, -1, 3, 0, 2, 0.0]), [0, 0.5])
    found = wb.solve(problem, prove=True).proof
    assert found.enclosure.equations.modes == ("frictionless", "slip")
    assert found.distance < 1e-15


def test_all_local_files_of_up_to_nine_contacts_are_proved():
    proved = []
    paths = sorted([*data_folder().glob("friction_3d/*"), *data_folder().glob("friction_2d/*")])
    if not paths:
        pytest.skip(f"no real problems in {data_folder()}; set WORKBENCH_DATA to a folder with some")
    for path in paths:
        problem = wb.read(path)
        if problem.contacts <= 9:
            answer = wb.solve(problem, prove=True)
            proved.append(answer.proof.distance)
    assert len(proved) == 11
    assert max(proved) < 1e-13


# Certificates


def fractions(x):
    return [Fraction(int(v.p), int(v.q)) for v in x]


def support_of(problem, coulomb=True):
    """The friction problem in the verifier's numbers, and the support."""
    friction = in_rationals(problem)
    found = proved_impulses(friction, wb.solve(problem, "coulomb" if coulomb else "ccp").p, coulomb)
    own = SimpleNamespace(
        W=[fractions(row) for row in friction.W.tolist()],
        q=fractions(friction.q),
        mu=fractions(friction.mu),
        d=friction.d,
    )
    return own, json.loads(json.dumps(found.witness))


def holds(own, law, support):
    return shows(own.W, own.q, own.mu, own.d, law, "exists", support)


@pytest.mark.parametrize("coulomb", [True, False])
def test_the_verifier_repeats_the_test(coulomb):
    rng, law = np.random.default_rng(4), LAWS[not coulomb]
    for k in range(8):
        own, support = support_of(random_problem(rng, 1 + k % 3, 1 + k % 2), coulomb)
        assert holds(own, law, support)
        # Of another law, of another q or mu, a solution is elsewhere, unless nothing slides.
        moved = SimpleNamespace(**{**vars(own), "q": [x + Fraction(1, 1000) for x in own.q]})
        assert holds(moved, law, support) == (set(support["modes"]) == {"open"})
        if any(mode.startswith("slip") for mode in support["modes"]):
            assert not holds(own, LAWS[coulomb], support)
            assert not holds(
                SimpleNamespace(**{**vars(own), "mu": [x + Fraction(1, 1000) for x in own.mu]}), law, support
            )


ONE = FrictionProblem(np.array([[2.0, 0.5, 0.25], [0.5, 1, 0], [0.25, 0, 1]]), np.array([-1.0, 0.75, 0.5]), 0.5)


def changed(support, **parts):
    return {**copy.deepcopy(support), **parts}


def test_forged_enclosures_are_refused():
    own, support = support_of(ONE)
    assert support["modes"] == ["slip"]
    assert holds(own, LAWS[0], support)
    m = len(support["centre"])
    nudged = [str(Fraction(support["centre"][0]) + Fraction(1, 10**6)), *support["centre"][1:]]
    wide = [str(Fraction(r) * 10**90) for r in support["radii"]]
    forged = [
        changed(support, centre=nudged), changed(support, radii=wide), changed(support, radii=["0"] * m),
        changed(support, radii=[f"-{r}" for r in support["radii"]]), changed(support, C=[["0"] * m] * m),
        changed(support, C=support["C"][:-1]), changed(support, C=[row[:-1] for row in support["C"]]),
        changed(support, modes=["stick"]), changed(support, modes=["open"]), changed(support, modes=["frictionless"]),
        changed(support, modes=["slip+"]), changed(support, modes=["slip", "open"]), changed(support, modes="slip"),
        changed(support, modes=[1]), changed(support, centre=support["centre"][:-1]), changed(support, extra=[]),
        changed(support, modes=["open"], centre=[], radii=[], C=[]), changed(support, C=None),
    ]  # fmt: skip
    assert not any(holds(own, LAWS[0], one) for one in forged)


def enclosure(modes, centre, C, radius="1/1000000"):
    centre = [str(Fraction(x)) for x in centre]
    return {"kind": "enclosure", "modes": modes, "centre": centre, "radii": [radius] * len(centre), "C": C}


def matrix(rows):
    return [[str(Fraction(x)) for x in row] for row in np.linalg.inv(np.array(rows, dtype=float)).tolist()]


UNIT = [[Fraction(i == j) for j in range(3)] for i in range(3)]
LEVEL = [[Fraction(i == j) for j in range(2)] for i in range(2)]
HALF = Fraction(1, 2)
WRITTEN = [
    # Plane: rest, slip forth and back, separation, the strict inequalities one by one.
    (LEVEL, [-1, "1/4"], HALF, 1, enclosure(["stick"], [1, "-1/4"], matrix(np.eye(2))), (True, True)),
    (LEVEL, [-1, "1/2"], HALF, 1, enclosure(["stick"], [1, "-1/2"], matrix(np.eye(2))), (False, False)),
    (LEVEL, [1, 0], HALF, 1, enclosure(["stick"], [-1, 0], matrix(np.eye(2))), (False, False)),
    (LEVEL, [-1, 2], HALF, 1, enclosure(["slip+"], [1], [["1"]]), (True, False)),
    (LEVEL, [-1, -2], HALF, 1, enclosure(["slip-"], [1], [["1"]]), (True, False)),
    (LEVEL, [-1, -2], HALF, 1, enclosure(["slip+"], [1], [["1"]]), (False, False)),
    (LEVEL, [-1, "1/2"], HALF, 1, enclosure(["slip+"], [1], [["1"]]), (False, False)),
    (LEVEL, [1, 2], HALF, 1, enclosure(["slip+"], [-1], [["1"]]), (False, False)),
    # The cone problem lifts what slides: p_n (1 + mu^2) = 1 + mu u_t.
    (LEVEL, [-1, 2], HALF, 1, enclosure(["slip+"], ["8/5"], [["4/5"]]), (False, True)),
    (LEVEL, [-1, -2], HALF, 1, enclosure(["slip-"], ["8/5"], [["4/5"]]), (False, True)),
    (LEVEL, [1, 5], HALF, 1, enclosure(["open"], [], []), (True, False)),
    (LEVEL, [3, 5], HALF, 1, enclosure(["open"], [], []), (True, True)),
    (LEVEL, ["5/2", 5], HALF, 1, enclosure(["open"], [], []), (True, False)),
    (LEVEL, [0, 5], HALF, 1, enclosure(["open"], [], []), (False, False)),
    (LEVEL, [-1, 5], Fraction(0), 1, enclosure(["frictionless"], [1], [["1"]]), (True, True)),
    (LEVEL, [1, 5], Fraction(0), 1, enclosure(["frictionless"], [-1], [["1"]]), (False, False)),
    (LEVEL, [-1, 5], Fraction(0), 1, enclosure(["slip+"], [1], [["1"]]), (False, False)),
    (LEVEL, [-1, 5], HALF, 1, enclosure(["frictionless"], [1], [["1"]]), (False, False)),
    (LEVEL, [-1, 5], HALF, 1, enclosure(["slip"], [1, 1, 0, 4], matrix(np.eye(4))), (False, False)),
    # Space: friction (-3/10, -4/10) against a slip of 5 along (3/5, 4/5).
    (
        UNIT, [-1, "33/10", "44/10"], HALF, 2,
        enclosure(["slip"], [1, "3/5", "4/5", 5], matrix(
            [[1, 0, 0, 0], [-0.3, -5.5, 0, -0.6], [-0.4, 0, -5.5, -0.8], [0, 1.2, 1.6, 0]]
        )),
        (True, False),
    ),
    # The same direction named backwards, with a slip below zero: a zero of the equations, and no solution.
    (
        UNIT, [-1, "-27/10", "-36/10"], HALF, 2,
        enclosure(["slip"], [1, "3/5", "4/5", -5], matrix(
            [[1, 0, 0, 0], [-0.3, 4.5, 0, -0.6], [-0.4, 0, 4.5, -0.8], [0, 1.2, 1.6, 0]]
        )),
        (False, False),
    ),
    (
        UNIT, [1, "27/10", "36/10"], HALF, 2,
        enclosure(["slip"], [-1, "3/5", "4/5", 5], matrix(
            [[1, 0, 0, 0], [-0.3, -4.5, 0, -0.6], [-0.4, 0, -4.5, -0.8], [0, 1.2, 1.6, 0]]
        )),
        (False, False),
    ),
    (UNIT, [-1, "3/10", "3/10"], HALF, 2, enclosure(["stick"], [1, "-3/10", "-3/10"], matrix(np.eye(3))), (True, True)),
    (UNIT, [-1, "3/10", "2/5"], HALF, 2, enclosure(["stick"], [1, "-3/10", "-2/5"], matrix(np.eye(3))), (False, False)),
    (UNIT, [1, 1, 1], HALF, 2, enclosure(["open"], [], []), (True, True)),
    (UNIT, ["7/10", 1, 1], HALF, 2, enclosure(["open"], [], []), (True, False)),
]  # fmt: skip


@pytest.mark.parametrize(("W", "q", "mu", "d", "support", "expected"), WRITTEN)
def test_written_enclosures(W, q, mu, d, support, expected):
    own = SimpleNamespace(W=W, q=q, mu=[mu], d=d)
    assert tuple(holds(own, law, support) for law in LAWS) == expected


def test_a_box_too_wide_for_the_curvature_is_refused():
    own, support = support_of(ONE)
    # Krawczyk's test bounds how far F' moves over the box: radii of 1/2 are refused whatever else they satisfy.
    radii = [Fraction(1, 2)] * 4
    assert not holds(own, LAWS[0], changed(support, radii=[str(r) for r in radii]))
    radii = [Fraction(1, 200)] * 4
    assert holds(own, LAWS[0], changed(support, radii=[str(r) for r in radii]))


def test_the_time_limit_holds_between_rows_of_a_product():
    """Of many contacts the products with W are long, and nothing else is."""
    r, n = 60, 180
    W = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    q = [Fraction(-1)] * r + [Fraction(0)] * 2 * r
    support = enclosure(["stick"] * r, [1, 0, 0] * r, [["1" if i == j else "0" for j in range(n)] for i in range(n)])
    problem = {"W": texts(W), "q": texts(q), "mu": ["1/2"] * r, "d": 2}
    claim = {"about": LAWS[0], "verdict": "exists", "support": support}
    (found,) = verify(document(problem, claim), seconds=0.2)
    assert found.reason == "the time limit of 0.2 s was over"


def test_a_box_too_wide_for_the_curvature_of_the_impulse_is_refused():
    # Much mobility along the plane: how p_t = -mu p_n (c, s) bends decides, which is from a radius of 0.00395 on.
    W = [[Fraction(1), 0, 0], [0, Fraction(100), 0], [0, 0, Fraction(100)]]
    own = SimpleNamespace(W=W, q=[-1, 33, 44], mu=[HALF], d=2)
    J = [[1, 0, 0, 0], [-30, -55, 0, -0.6], [-40, 0, -55, -0.8], [0, 1.2, 1.6, 0]]
    for r, expected in (("3/1000", True), ("6/1000", False)):
        assert holds(own, LAWS[0], enclosure(["slip"], [1, "3/5", "4/5", 5], matrix(J), r)) == expected


def test_another_contact_counts_the_curvature_of_a_slide():
    # The second contact opens by q_n - mu p_n c of the first, over the box less than at its centre by a term of r^2.
    W = [[Fraction(i == j) for j in range(6)] for i in range(6)]
    W[1][2] = Fraction(1)
    r = Fraction(1, 200)
    J = [[1, 0, 0, 0], [-0.3, -5.5, 0, -0.6], [-0.4, 0, -5.5, -0.8], [0, 1.2, 1.6, 0]]
    support = enclosure(["slip", "open"], [1, "3/5", "4/5", 5], matrix(J), str(r))
    for room, expected in ((r * r / 4, False), (r * r, True)):
        opens = Fraction(3, 10) + Fraction(4, 5) * r + room
        q = [Fraction(x) for x in (-1, opens, "33/10", "44/10", 0, 0)]
        assert holds(SimpleNamespace(W=W, q=q, mu=[HALF, HALF], d=2), LAWS[0], support) == expected


def indefinite():
    """A problem whose existence no theorem shows: W is not positive semidefinite."""
    return FrictionProblem(np.array([[1, 0, 0], [0, -0.1, 0], [0, 0, 1.0]]), np.array([-1, 5.0, 1.0]), 0.5)


def test_a_computed_solution_shows_existence_and_its_certificate_is_verified(tmp_path, capsys):
    problem = indefinite()
    checked = wb.check(problem)
    entry = checked.data["problem"]["existence"][0]
    assert (entry["verdict"], entry["witness"]["kind"]) == ("exists", "enclosure")
    assert "Krawczyk" in dict(checked.rows)["Coulomb's law"]
    document = json.loads(json.dumps(checked.certificate()))
    assert all(finding.result == VERIFIED for finding in verify(document))
    assert any(claim["support"]["kind"] == "enclosure" for claim in document["claims"])
    document["problem"]["q"][0] = "-2"
    content = {k: v for k, v in document.items() if k != "digest"}
    assert any(f.result != VERIFIED for f in verify(with_digest(content)))


def test_the_command_prints_proofs(tmp_path, capsys):
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"W": ONE.dense.tolist(), "q": ONE.q.tolist(), "mu": [0.5]}))
    assert main(["solve", str(path), "--prove"]) == 0
    assert "proved: an exact solution is within" in capsys.readouterr().out
    assert main(["solve", str(path), "--prove", "--json", "-f", "ccp"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["proved"] < 1e-14
    assert row["not_proved"] is None
    assert main(["solve", str(path), "--prove", "--out", str(tmp_path / "folder")]) != 0
    assert "--prove prints" in capsys.readouterr().err
    assert main(["solve", str(path), "--prove", "-f", "box"]) != 0
