"""How much a formulation over bodies takes of many contacts, what is refused, and what goes on without bodies."""

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.formulations import FORMULATIONS
from workbench.comparison import posing
from workbench.comparison.posing import needed_bytes, unknowns
from workbench.engine.lazy import sparse
from workbench.language.assemble.find import compiled
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.problems.sets import normals_first
from workbench.support.errors import DataError

BY_NAME = {f.name: f for f in FORMULATIONS}


def beads(r, d=2):
    """A row of bodies, each pressed on the one before: M, H, f, w, sparse, W with three blocks a row."""
    rng = np.random.default_rng(r)
    n = (1 + d) * r
    H = sparse.eye_array(n) - sparse.diags_array(np.ones(n - 1 - d), offsets=1 + d, shape=(n, n))
    order = normals_first(r, d)
    f = rng.normal(size=n)
    f[:: 1 + d] = -np.abs(f[:: 1 + d])
    return GlobalFrictionProblem(sparse.eye_array(n), sparse.csr_array(H)[:, order], f, np.zeros(n), np.full(r, 0.5), d)


@pytest.mark.parametrize("name", ["stewart-trinkle", "box", "frictionless", "mujoco"])
@pytest.mark.parametrize("d", [1, 2])
def test_the_number_of_unknowns_is_foreseen(name, d):
    f = BY_NAME[name]
    assert unknowns(f, 7, d) == compiled(f, (1 + d) * 7, 0, 7, d).plan.lower.size


def test_memory_grows_with_the_square_and_stewart_and_trinkle_needs_more_than_boxes():
    box, polygon = BY_NAME["box"], BY_NAME["stewart-trinkle"]
    finer = polygon.with_options(directions=8)
    assert needed_bytes(box, 800, 2) == pytest.approx(16 * needed_bytes(box, 200, 2))
    assert needed_bytes(box, 200, 2) < needed_bytes(polygon, 200, 2) < needed_bytes(finer, 200, 2)


def test_what_would_not_fit_is_refused_with_what_it_costs():
    problem = beads(1000)
    with pytest.raises(
        DataError, match=r"stewart-trinkle makes 6000 unknowns of 1000 contacts.* 9\.72 GB.*at most 4 GB"
    ):
        wb.solve(problem, BY_NAME["stewart-trinkle"])


@pytest.mark.parametrize("held", ["bodies", "W"])
def test_without_friction_many_contacts_are_solved_sparse(held, monkeypatch):
    """As a CCP without friction, with the answer that the LCP over bodies has."""
    problem = beads(40) if held == "bodies" else beads(40).local
    lcp = wb.solve(problem, BY_NAME["frictionless"])
    monkeypatch.setattr(posing, "needed_bytes", lambda *size: np.inf)
    answer = wb.solve(problem, BY_NAME["frictionless"])
    assert (lcp.solution.solver, answer.solution.solver) == ("lemke", "ccp-exact")
    assert answer.solution.verified
    assert (answer.p[40:] == 0).all()
    assert (answer.p[:40] > 0).any()
    assert np.allclose(answer.p, lcp.p, atol=1e-9)
    assert np.allclose(answer.u, lcp.u, atol=1e-9)
    with pytest.raises(DataError, match="dense matrices"):
        wb.solve(problem, BY_NAME["box"])


def test_thousands_of_contacts_without_friction():
    """More than could be held dense."""
    problem = beads(2500)
    answer = wb.solve(problem, BY_NAME["frictionless"])
    assert answer.solution.verified
    p_n, u_n = answer.p[:2500], answer.u[:2500]
    assert p_n.min() > -1e-9
    assert u_n.min() > -1e-9
    assert np.abs(p_n * u_n).max() < 1e-11 * p_n.max()
