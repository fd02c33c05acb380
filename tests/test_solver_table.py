"""The table of solvers, cell by cell: three examples of each kind are solved, or refused for a mathematical reason."""

import json
import re
from contextlib import suppress

import numpy as np
import pytest

from workbench.algorithms import SOLVERS, find_solver
from workbench.algorithms.asking import solved_by
from workbench.algorithms.escalation import default_solver
from workbench.algorithms.paths import objection
from workbench.algorithms.table import cells
from workbench.algorithms.tuning import Tuning
from workbench.cli.main import main
from workbench.problems.bridges import BRIDGES, de_saxce
from workbench.problems.classes import MLCP, CoulombNCP
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.examples import examples
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import COULOMB, NO_CONE, Sets
from workbench.problems.solution import Status
from workbench.support.errors import DataError

EXAMPLES = [examples(seed) for seed in range(3)]
KINDS = list(EXAMPLES[0])
NO_PROOF = {"Coulomb"}
"""First words of the examples for which no method is proven."""
NOTHING = {"mixed-exact", "blocks-exact"}
"""Solvers that promise nothing of sets of several kinds."""


def promised(solver, problem, path):
    """Whether theory promises an answer, W being symmetric positive definite and associated flow a convex problem."""
    if de_saxce.NAME in path or problem.split()[0] in NO_PROOF:
        return False
    return solver not in NOTHING


def test_the_examples_are_of_every_kind_that_there_is():
    known = {kind for solver in SOLVERS for kind in solver.solves}
    assert {problem.kind for problem in EXAMPLES[0].values()} == known
    assert {kind for bridge in BRIDGES for kind in frozenset(bridge.leads).union(*bridge.leads.values())} == known


@pytest.mark.share(9)
@pytest.mark.parametrize("problem", KINDS)
@pytest.mark.parametrize("name", SOLVERS.names)
def test_a_cell_is_verified_or_refused_for_a_mathematical_reason(name, problem):
    solver = find_solver(name)
    for given in EXAMPLES:
        why_not, found = objection(solver, given[problem]), solved_by(solver, given[problem])
        if why_not:
            assert (found.claimed, found.reason, found.path) == (Status.REFUSED, why_not, ())
            # That a solver knows other kinds is no reason by itself.
            assert not re.search(r"solves [^;]*, not|leads there from [^:]*$|are needed, not", why_not), why_not
            continue
        assert found.residual == pytest.approx(float(given[problem].residual(found.z)), rel=1e-6, abs=1e-13)
        if promised(name, problem, found.path):
            assert found.verified, found.why_not
        elif not found.verified:
            assert found.claimed is not Status.SOLVED or found.residual > found.tolerance
            assert found.why_not


TAKEN = 170
"""Cells of the table in which a solver takes a problem, of 288: fewer would be a bridge lost."""


def test_the_table_has_every_cell_and_as_many_paths_as_it_had():
    table = list(cells(list(SOLVERS)))
    assert [(cell.solver, cell.problem) for cell in table] == [(s.name, kind) for s in SOLVERS for kind in KINDS]
    assert sum(not cell.reason for cell in table) == TAKEN
    for cell in table:
        if cell.reason:
            assert (cell.path, cell.solved_as, cell.guaranteed_for) == ((), "", "")
        else:
            sequence = de_saxce.NAME in cell.path
            assert cell.guaranteed_for == ("" if sequence else find_solver(cell.solver).guaranteed_for)


@pytest.mark.parametrize(
    ("name", "problem", "path"),
    [
        ("lemke", "CCP in the plane", ("cones by their generators as an LCP",)),
        ("lemke", "Coulomb in the plane", ("Coulomb's law in the plane as an LCP",)),
        ("lemke", "MLCP", ("free unknowns eliminated", "bounds with multipliers")),
        ("blocks-exact", "CCP over (M, H)", ("contacts and bilateral rows as blocks",)),
        ("coulomb-exact", "Coulomb of spheres", ("friction cones over (M, H)",)),
        ("clarabel", "Coulomb over (M, H)", (de_saxce.NAME, "W formed")),
        ("nsgs", "Coulomb and bounds", ("W = J J^T over unit masses",)),
        ("nsgs", "Coulomb in space", ()),
    ],
)
def test_the_path_is_the_cheapest_one(name, problem, path):
    assert solved_by(find_solver(name), EXAMPLES[0][problem]).path == path


def test_blocks_with_other_rows_than_their_unknowns_come_back_as_blocks():
    """Of first-order methods, which project on the sets of impulses."""
    p, L = EXAMPLES[0]["Coulomb and bounds"], np.array([[2.0, 0.0], [1.0, 1.0]])
    upper, free = np.array([0, 0, 0, 1.0, 2.0]), np.zeros(5)
    blocks = ContactBlocks(
        np.eye(5), free, np.linalg.cholesky(p.M), [0, 3, 5], [0, 3, 5], np.append(np.eye(3), L.T), np.zeros(13),
        np.append(np.eye(3), L), p.q, free, -upper, upper, [COULOMB, 0], [0.4, 0.0],
    )  # fmt: skip
    found = solved_by(find_solver("nsgs"), blocks)
    assert found.verified
    assert found.path == ("L W R + N formed", "W = J J^T over unit masses")


@pytest.mark.parametrize("name", ["apgd", "pgs", "clarabel", "ccp-exact"])
@pytest.mark.parametrize("problem", ["Coulomb in the plane", "Coulomb in space", "Coulomb and bounds"])
def test_a_sequence_of_ccps_comes_to_coulombs_law(name, problem):
    """Without a proof; where the contacts slide, the first CCP alone does not."""
    for given in EXAMPLES:
        found = solved_by(find_solver(name), given[problem])
        assert found.verified or found.claimed is Status.REFUSED
        assert found.claimed is Status.REFUSED or found.path[0] == de_saxce.NAME


def test_a_sequence_that_comes_to_no_end_says_so():
    """Redundant contacts with much friction."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(9, 3))
    problem = CoulombNCP(J @ J.T, rng.normal(size=9), np.full(3, 3.0), 2)
    found = solved_by(find_solver("clarabel"), problem)
    assert found.path == (de_saxce.NAME,)
    assert found.residual == pytest.approx(float(problem.residual(found.z)))
    assert not found.verified
    assert found.claimed is not Status.SOLVED
    assert found.why_not


@pytest.mark.parametrize("name", ["apgd", "pgs", "nsgs"])
def test_a_start_goes_over_the_bridges_too(name):
    """From a solution there is little to do."""
    problem = EXAMPLES[0]["MLCP" if name == "nsgs" else "Coulomb in the plane"]
    usual = solved_by(find_solver(name), problem)
    again = Tuning(start=solved_by(find_solver("mixed-exact"), problem).z).solved(find_solver(name), problem)
    assert again.verified
    assert again.path == usual.path != ()
    assert again.iterations < usual.iterations


def test_a_matrix_that_is_not_symmetric_is_the_reason():
    rng = np.random.default_rng(0)
    W = np.eye(9) + 0.1 * rng.normal(size=(9, 9))
    problem = CoulombNCP(W, rng.normal(size=9), np.full(3, 0.3), 2)
    for name, words in (
        ("blocks-exact", "semidefinite"),
        ("interior-point", "semidefinite"),
        ("clarabel", "associated"),
    ):
        assert words in objection(find_solver(name), problem)
    assert objection(find_solver("mixed-exact"), problem) is None


def test_no_proof_comes_over_a_bridge_that_rounds():
    """No solution: the proof is one for a mixed problem of the same numbers, and none for bounds that are moved."""
    chain = default_solver("LCP")
    moved = solved_by(chain, MLCP(-np.eye(2), -np.ones(2), 1.0, np.inf))
    assert (moved.claimed, moved.proof, moved.verified) == (Status.INFEASIBLE, "", False)
    assert "no solution" in moved.reason
    sets = Sets([NO_CONE, NO_CONE], [0, 1, 2], [0, 1], [0, 0, 0])
    same = solved_by(chain, MixedNCP(-np.eye(2), -np.ones(2), 0.0, np.inf, [], sets))
    assert (same.claimed, same.verified) == (Status.NO_SOLUTION, True)
    assert same.path == ("intervals as bounds",)


@pytest.mark.thorough
def test_the_command_line_prints_the_table(capsys):
    assert main(["list", "solvers", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert len(records) == len(KINDS) * len(SOLVERS.names)
    lemke = [record for record in records if record["solver"] == "lemke"]
    assert lemke[1] == {
        "solver": "lemke", "problem": "MLCP", "path": ["free unknowns eliminated", "bounds with multipliers"],
        "solved_as": "LCP", "guaranteed_for": find_solver("lemke").guaranteed_for, "reason": "",
    }  # fmt: skip
    assert main(["list", "lemke", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == lemke
    assert main(["list", "solvers"]) == 0
    (line,) = (x for x in capsys.readouterr().out.split("\n") if re.match("clarabel +[0-9]", x))
    assert line.split()[1:5] == ["0", "0", "0", "0"]
    assert line.split()[5] == "s"
    assert main(["list", "keller"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Coulomb in the plane through: Coulomb's law as a sequence of CCPs, cones by their generators" in shown
    assert "no finite set" in shown
    assert main(["list", "wheel", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "wheel"
    assert main(["list", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) >= {"cases", "solvers"}
    assert main(["list", "metrics", "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.share(8)
@pytest.mark.parametrize("problem", KINDS)
@pytest.mark.parametrize("name", SOLVERS.names)
def test_no_chain_of_bridges_is_cheaper(name, problem):
    """Against all chains of less cost, one after another."""
    solver, given = find_solver(name), EXAMPLES[0][problem]
    found, costs = solved_by(solver, given), {bridge.name: bridge.cost for bridge in BRIDGES}
    if not found.path or de_saxce.NAME in found.path:
        return
    ahead, most = [(0, given)], sum(costs[name] for name in found.path)
    while ahead:
        cost, there = ahead.pop()
        assert cost >= most or there.kind not in solver.solves or solver.why_not(there) is not None
        for bridge in BRIDGES:
            if there.kind in bridge.leads and cost + bridge.cost < most and bridge.applies(there) is None:
                with suppress(DataError):
                    ahead.append((cost + bridge.cost, bridge.forward(there).problem))


@pytest.mark.share(8)
@pytest.mark.parametrize("name", SOLVERS.names)
def test_a_path_is_taken_again_where_it_leads_to_the_solver(name):
    solver = find_solver(name)
    for problem in KINDS:
        first, second = (solved_by(solver, given[problem]) for given in EXAMPLES[:2])
        if first.claimed is Status.REFUSED or second.claimed is Status.REFUSED:
            continue
        assert solved_by(solver, EXAMPLES[1][problem], like=first.path).path == first.path
        # Whatever others did, there is a path.
        for names in (["no bridge"], [BRIDGES[-1].name], [de_saxce.NAME]):
            assert solved_by(solver, EXAMPLES[1][problem], like=names).claimed is not Status.REFUSED
