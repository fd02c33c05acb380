"""Several solutions of Coulomb's law at single steps: how many, how far apart, and which one a formulation takes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from tests.scenes import Balls
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.rod import Rod
from workbench.comparison.jobs import Settings
from workbench.comparison.scenes.compare import compare_scene
from workbench.comparison.several import PosedStep, examine, several_solutions
from workbench.judge.coulomb import judge
from workbench.matrices.solutions.existence import rational_friction
from workbench.problems.friction_problem import FrictionProblem
from workbench.scenes.case_scene import CaseScene
from workbench.scenes.stepper import SceneStepper
from workbench.step.local_steps import local_steps
from workbench.verbs.find import find_formulation

COULOMB = find_formulation("coulomb")
COUPLED = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])
THREE = np.array([-0.44875, -0.2583333333, 0.8934561483])
LIFTING = Rod(mu=2.0, spin=4.0, speed=-10.0)
"""A rod in Painleve's paradox whose tip may open, slide or stick."""


def steps_of(W, q, mu, own, d=2):
    W, q = np.asarray(W, dtype=float), np.asarray(q, dtype=float)
    return [PosedStep(0, FrictionProblem(W, q, mu, d), np.zeros(q.size), np.asarray(own))]


def two_contacts(seed):
    """Two contacts with mu = 1.5 over four velocities: W is singular."""
    g = np.random.default_rng(seed)
    J = g.normal(size=(6, 4))
    return J @ J.T, g.normal(size=6), np.full(2, 1.5)


def test_solutions_of_one_contact_are_counted_and_told_apart():
    """A stick and two slides; what is farther than these are from one another is none of them."""
    found = examine(1.0, steps_of(COUPLED, THREE, [1.05], np.zeros(3)))
    (step,) = found.several.values()
    assert (found.examined, found.counted, found.seen) == (1, 1, [])
    for x, u in zip(step.points, step.u, strict=True):
        verdict = judge(x.p[:1], x.p[None, 1:], u[:1], u[None, 1:], np.array([1.05]), COUPLED, THREE)
        assert max(verdict.natural_map, verdict.signorini) < 1e-12
        np.testing.assert_allclose(COUPLED @ x.p + THREE, u, atol=1e-12)
    assert step.apart == max(np.linalg.norm(a - b) for a in step.u for b in step.u)
    assert step.points[step.reference].modes == ("stick",)
    for k, u in enumerate(step.u):
        assert step.nearest(u) == (k, 0.0)
        assert step.nearest(u + 1e-9).distance == 0.0
    away = np.array([0, 0, 10.0])
    assert step.nearest(away).number is None
    assert step.nearest(away).distance == np.linalg.norm(step.u - away, axis=1).min()
    edge = step.u[0] + np.array([0, 0, step.apart])
    assert step.nearest(step.u[0] + 0.999 * (edge - step.u[0])).number is not None
    # Below its critical friction the contact has one solution, whatever q is.
    one = examine(1.0, steps_of(COUPLED, THREE, [0.8], np.zeros(3)))
    assert (one.counted, one.several) == (1, {})


def test_what_is_not_counted_may_be_seen():
    """Redundant contacts: solved in reverse order another solution comes out, which is no proof."""
    W, q, mu = two_contacts(2660)
    law = FrictionProblem(W, q, mu, 2).coulomb()
    own = W @ default_solver(law.kind).solve(law).z + q
    found = examine(1e-3, steps_of(W, q, mu, own))
    ((k, apart),) = found.seen
    assert (found.counted, found.several, k) == (0, {}, 0)
    assert apart > 0.1
    rows = [1, 0, 4, 5, 2, 3]
    turned, p = FrictionProblem(W[np.ix_(rows, rows)], q[rows], mu, 2).coulomb(), np.zeros(6)
    p[rows] = default_solver(turned.kind).solve(turned).z
    assert law.residual(p) < 1e-9
    assert apart == pytest.approx(np.linalg.norm(W @ p + q - own))
    words = several_solutions(found, {})
    assert "several solutions in 1 of 1 examined steps" in words
    assert f"{apart:.2g} m/s" in words
    W, q, mu = two_contacts(0)
    law = FrictionProblem(W, q, mu, 2).coulomb()
    alone = examine(1e-3, steps_of(W, q, mu, W @ default_solver(law.kind).solve(law).z + q))
    assert several_solutions(alone, {}) == ""


def test_a_search_without_a_result_is_not_repeated_for_steps_at_rest(monkeypatch):
    """Their problems differ by rounding alone."""
    W, q, mu = two_contacts(3)
    q[1] = 0.0
    searched = []
    monkeypatch.setattr("workbench.comparison.several.counted", lambda problem, *given: searched.append(problem.q[0]))
    steps = [x for a in (1, 1 + 1e-14, 2, 2, 1) for x in steps_of(W, a * q, mu, np.zeros(6), 2)]
    found = examine(1.0, [step._replace(k=k, exact=lambda: None) for k, step in enumerate(steps)])
    np.testing.assert_allclose(searched, [q[0], 2 * q[0]])
    assert (found.examined, found.counted) == (5, 0)


def test_a_step_whose_solutions_are_counted_is_not_one_of_those_where_another_was_seen(monkeypatch):
    """Two contacts apart, each of which sticks or slides in two ways: nine solutions."""
    W = np.kron(COUPLED, np.eye(2))[np.ix_(rows := [0, 1, 2, 4, 3, 5], rows)]
    q = np.repeat(THREE, 2)[rows]
    steps = steps_of(W, q, [1.05, 1.05], np.zeros(6))
    found = examine(1.0, steps)
    assert (found.counted, found.seen) == (1, [])
    assert len(found.several[0].points) == 9
    many = SimpleNamespace(count=9, points=found.several[0].points[:8])
    # A number of solutions without all of the solutions is none.
    monkeypatch.setattr("workbench.comparison.several.solutions_by_islands", lambda *given: many)
    (seen,) = (unknown := examine(1.0, steps)).seen
    assert (unknown.counted, unknown.several) == (0, {})
    assert seen[1] > 0.1


def test_a_formulation_s_distance_is_the_largest_of_all_steps():
    """From step to step comfree gets farther from every solution."""

    def distance(duration):
        found = wb.compare(LIFTING, ["comfree"], steps=1e-3, reference_step=1e-3, duration=duration)
        return found.runs["solution_distance"].max()

    assert distance(4e-3) > 1.02 * distance(1e-3)


def test_a_shift_that_does_not_contract_is_no_proof(tmp_path):
    """W = I and mu = 1 just so: the bound is one. A little below it is a proof."""
    for mu, proof in ((1.0, False), (0.999, True)):
        np.savez(path := tmp_path / "two.npz", W=np.eye(6), q=[-1.0, -1, 1, 0, 0, 1], mu=[mu, mu])
        known = wb.compare(path, ["coulomb"]).comparison.known
        assert ("shift contracts" in known["reason"]) == proof, known


@pytest.mark.parametrize("push", [0.2, 2.0])
def test_a_body_whose_legs_share_its_load_in_many_ways_is_not_searched(monkeypatch, push):
    """On four legs it sticks or slides, with a continuum of impulses: a search would end without a number."""
    legs = [(x, y, 0) for x in (-1, 1) for y in (-1, 1)]
    t1, t2, n = np.eye(3)
    J = np.array(
        [[*a, *np.cross(x, a)] for a, x in [*((n, x) for x in legs), *((t, x) for x in legs for t in (t1, t2))]]
    )
    problem = FrictionProblem(J @ J.T, J @ [push, 0, -1, 0, 0, 0], np.full(4, 0.5), 2)
    slides = push > 0.5
    own = J @ [push - 0.5, 0, 0, 0, 0, 0] if slides else np.zeros(12)
    step = PosedStep(0, problem, np.zeros(12), own, lambda: rational_friction(J @ J.T, problem.q, problem.mu, 2))
    assert examine(1.0, [step._replace(own=np.ones(12))]).counted == 0, "it is searched where nothing is known"
    monkeypatch.setattr("workbench.comparison.several.solutions_by_islands", None)
    assert examine(1.0, [step]).counted == 0
    with pytest.raises(TypeError):
        examine(1.0, [step._replace(own=np.ones(12))])


def test_a_comparison_says_where_a_step_has_several_solutions():
    """The rod's tip may open, slide or stick: exact Coulomb friction opens it, the CCP holds it."""
    names, steps = ["coulomb", "ccp", "comfree", "mujoco"], [4e-3, 1e-3]
    found = wb.compare(LIFTING, names, steps=steps, reference_step=1e-3, duration=4e-3).comparison
    runs = found.runs[~found.runs["sampled"].astype(bool) & (found.runs["window"] == "all")]
    assert (found.runs["notes"] == "").all(), "every metric is measured, or undefined"
    # All of the steps.
    for column in ("steps_examined", "steps_counted", "steps_several"):
        assert (runs[column] == runs["steps"]).all(), column
    assert (runs["several_from"] == 0).all()
    assert (runs["solutions_apart"] > 9).all()
    remarks = [x for x in found.remarks if "several solutions" in x]
    assert len(remarks) == len(steps)
    for h, remark in zip(steps, remarks, strict=True):
        rows, all_steps = runs[runs["step"] == h].set_index("label"), round(4e-3 / h)
        assert (rows.loc["coulomb", "took_reference"], rows.loc["coulomb", "solution_distance"]) == (all_steps, 0)
        assert (rows.loc["ccp", "took_other"], rows.loc["ccp", "took_reference"]) == (all_steps, 0)
        # A soft formulation has springs of its own, which the exact run does not compress.
        assert rows.loc["mujoco", ["took_reference", "took_other", "took_none"]].isna().all()
        assert f"At {1e3 * h:g} ms Coulomb's law has several solutions, proved, in {all_steps} of {all_steps}" in remark
        assert "(1: open, index +1, the reference; 2: slip-, index -1; 3: stick, index +1)" in remark
        assert "the reference's solution: coulomb (0 m/s); another solution: ccp (0 m/s); none, farther" in remark
        assert f"comfree ({rows.loc['comfree', 'solution_distance']:.2g} m/s). A distance from" in remark


@pytest.mark.parametrize("other", ["unsolved", "compliant"])
def test_only_steps_from_the_examined_states_take_a_solution(monkeypatch, other):
    """All of them: a formulation may have no answer to one, or only to those from compliant states."""

    def local(base, *given):
        found = local_steps(base, *given)
        if other == "compliant":
            return replace(found, base=replace(base))
        after = found.record.after.copy()
        after[2] = np.nan
        return replace(found, record=found.record._replace(after=after))

    monkeypatch.setattr("workbench.comparison.cases.local_steps", local)
    found = wb.compare(LIFTING, ["ccp"], reference_step=1e-3, duration=4e-3, solvers=["auto"]).comparison
    assert (found.runs["steps_several"] == 4).all()
    assert found.runs[["took_reference", "took_other", "took_none"]].isna().all(axis=None)
    assert not any("ccp" in x for x in found.remarks)


def test_a_comparison_on_a_scene_says_so_too():
    scene, settings = CaseScene(LIFTING, 1e-3), Settings((1e-3,), 1e-4, 0.006)
    formulations = [find_formulation(x) for x in ("coulomb", "ccp", "mujoco")]
    found = compare_scene(scene, formulations, COULOMB, SceneStepper, settings)
    rows = found.runs.set_index("label")
    assert (rows["steps_several"] > 0).all()
    assert rows.loc["coulomb"]["took_reference"] == rows.loc["coulomb"]["steps_several"]
    assert rows.loc["ccp"]["took_other"] == rows.loc["ccp"]["steps_several"]
    assert np.isnan(rows.loc["mujoco"]["took_none"])
    assert any("another solution: ccp" in x for x in found.remarks)
    # Balls on the ground have one solution.
    balls = Balls([[0, 0, 0.1], [0, 0.5, 0.11]], [[1, 0.3, 0], [0.5, 0, 0]])
    plain = compare_scene(balls, formulations[:1], COULOMB, SceneStepper, Settings((6e-3,), 1e-3, 0.048))
    assert (plain.runs["steps_several"] == 0).all()
    assert (plain.runs["steps_counted"] > 0).all()


@pytest.mark.parametrize(("mu", "several"), [(1.05, 1), (0.8, 0)])
def test_a_problem_with_several_solutions_says_which_one_each_formulation_takes(tmp_path, mu, several):
    path = tmp_path / "coupled.npz"
    np.savez(path, W=COUPLED, q=THREE, mu=[mu])
    found = wb.compare(path, ["coulomb", "ccp", "stewart-trinkle"]).comparison
    rows = found.runs.drop_duplicates("label").set_index("label")
    assert (rows["steps_several"] == several).all()
    if not several:
        assert (found.known["velocity"], found.remarks) == ("unique", ())
        assert "exactly one solution" in found.known["reason"]
        return
    assert found.known["velocity"] == "not unique"
    assert "exactly 3 solutions, the farthest 0.21 |q| away" in found.known["reason"]
    (remark,) = found.remarks
    assert "proved to be exactly 3. 1: slip, index +1; nearest to it: no formulation." in remark
    assert "2: slip, index -1; nearest to it: no formulation." in remark
    assert "3: stick, index +1, the reference; nearest to it: coulomb (0 %), ccp (0 %)." in remark
    assert "Farther from each than they are from one another: stewart-trinkle (23 %)." in remark
    assert (rows.loc["ccp"]["took_reference"], rows.loc["stewart-trinkle"]["took_none"]) == (1, 1)
