"""Cases that consist of parts: they step as their parts do alone and as the whole does, and are judged as the whole."""

import pickle
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from benchmarks.rows import Row, Whole
from benchmarks.rows import fill as fill_row
from tests.tables import TIMES
from workbench.algorithms import find_solver
from workbench.algorithms.base import KernelSolver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.drawer import Drawer
from workbench.builtin.cases.gripper import Gripper
from workbench.builtin.cases.wedged_box import WedgedBox
from workbench.builtin.reports.pages.comparison import render
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import Settings
from workbench.engine.compiling import kernel
from workbench.engine.kernels import SOLVE
from workbench.language.assemble.find import compiled
from workbench.mechanics.case import Case
from workbench.mechanics.core import FILL, Core
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.solution import Status
from workbench.step.parts import blocks, must_be_apart
from workbench.step.record import RunRecord
from workbench.step.simulation import simulate
from workbench.support.errors import DataError
from workbench.support.output import provenance
from workbench.verbs.find import find_formulation

coulomb_kernel = find_solver("coulomb-exact").kernel
INACCURATE = int(Status.INACCURATE)

LABELS = [
    "frictionless", "stewart-trinkle", "box", "hybrid", "mujoco", "staggered", "ccp", "coulomb",
]  # fmt: skip
ROW = Row(stacks=3.0)


def run(case, label, steps=20, h=2e-3, solver=None, **options):
    f = find_formulation(label)
    size = case.parts[0].size if case.parts else case.size
    solver = default_solver(compiled(f, *size).kind) if solver is None else find_solver(solver)
    return simulate(case, f, solver, h, steps * h, **options)


class Together(Case):
    """Cases of any kind side by side, in plain Python."""

    name: ClassVar[str] = "together"
    parts: tuple = ()  # type: ignore[assignment]

    def __init__(self, *parts: Case) -> None:
        object.__setattr__(self, "members", parts)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "size", (*(sum(p.size[k] for p in parts) for k in range(3)), parts[0].size[3]))
        object.__setattr__(self, "v_th", parts[0].v_th)

    def whole(self) -> "Together":
        """The same as one system."""
        case = Together(*self.parts)
        object.__setattr__(case, "parts", ())
        return case

    def _each(self, q, v):
        at = np.zeros(4, dtype=int)
        for p in self.members:
            n_q, (n, m, r, d) = p.start()[0].size, p.size
            yield p, *(slice(a, a + b) for a, b in zip(at, (n_q, n, m, r), strict=True)), d
            at += (n_q, n, m, r)

    def start(self):
        q, v = zip(*(p.start() for p in self.members), strict=True)
        return np.concatenate(q), np.concatenate(v)

    def fill(self, q, v, data, core):
        for p, at, n, m, r, d in self._each(q, v):
            t, own = slice(d * r.start, d * r.stop), Core(p.size, core.h, core.law, core.v_th)
            p.fill(q[at].copy(), v[n].copy(), p.data(), own)
            core.M[n, n] = own.M
            for name, rows in (("J_b", m), ("J_n", r), ("J_t", t)):
                getattr(core, name)[rows, n] = getattr(own, name)
            for name, rows in (("f", n), ("g", m), ("r_b", m), ("eps_b", m), ("r_t", t), ("eps_t", t)):
                getattr(core, name)[rows] = getattr(own, name)
            for name in ("phi", "r_n", "eps_n", "mu", "mu_s", "e", "heading"):
                getattr(core, name)[r] = getattr(own, name)

    def advance(self, q, v, h, data, q_next):
        for p, at, n, *_ in self._each(q, v):
            moved = np.empty(at.stop - at.start)
            p.advance(q[at].copy(), v[n].copy(), h, p.data(), moved)
            q_next[at] = moved

    def centre(self, q):
        return np.mean([p.centre(q[..., at]) for p, at, *_ in self._each(q, q)], axis=0)

    def energy(self, q, v):
        return sum(p.energy(q[..., at], v[..., n]) for p, at, n, *_ in self._each(q, v))

    def sketch(self):
        return []

    def truths(self, reference):
        return []


MIXED = Together(Gripper(), Drawer(), WedgedBox(), Gripper(mu=0.9), Drawer(mu=0.1))


@pytest.mark.parametrize("label", LABELS)
def test_a_row_steps_as_its_stacks_do_alone(label):
    found = run(ROW, label)
    alone = [run(p, label) for p in ROW.parts]
    assert found.status is Status.SOLVED
    for k, one in enumerate(alone):
        np.testing.assert_array_equal(found.states_q[:, 7 * k : 7 * k + 7], one.states_q)
        np.testing.assert_array_equal(found.states_v[:, 6 * k : 6 * k + 6], one.states_v)
        np.testing.assert_array_equal(found.p_n[:, 4 * k : 4 * k + 4], one.p_n)
        np.testing.assert_array_equal(found.p_t[:, 4 * k : 4 * k + 4], one.p_t)
        for name, mine, its in zip(RunRecord._fields, found.parts[k].record, one.record, strict=True):
            np.testing.assert_array_equal(mine, its, err_msg=name)
    np.testing.assert_array_equal(found.residuals, np.max([r.residuals for r in alone], axis=0))
    np.testing.assert_array_equal(found.record.effort[:, 0], sum(r.record.effort[:, 0] for r in alone))
    np.testing.assert_array_equal(found.record.effort[:, 1], np.max([r.record.effort[:, 1] for r in alone], axis=0))
    energy = sum(r.case.energy(r.states_q, r.states_v) for r in alone)
    np.testing.assert_allclose(found.case.energy(found.states_q, found.states_v), energy, rtol=1e-14)


@pytest.mark.parametrize("scheme", ["symplectic", "explicit"])
@pytest.mark.parametrize("label", ["stewart-trinkle", "ccp", "coulomb"])
def test_the_whole_steps_as_the_row_does(label, scheme):
    """The answers of its parts are unique or picked alike, since its problems fall into parts too."""
    found, whole = run(ROW, label, scheme=scheme), run(Whole(stacks=3.0), label, scheme=scheme)
    np.testing.assert_allclose(found.states_q, whole.states_q, atol=1e-13)
    np.testing.assert_allclose(found.states_v, whole.states_v, atol=1e-12)
    np.testing.assert_allclose(found.p_t, whole.p_t, atol=1e-12)


@pytest.mark.parametrize("pair", ["row", "mixed"])
def test_the_judge_sees_what_it_sees_of_the_whole(pair):
    if pair == "row":
        found, whole = run(Row(stacks=2.0, height=2.0), "coulomb"), run(Whole(stacks=2.0, height=2.0), "coulomb")
    else:
        found, whole = run(MIXED, "coulomb", h=1e-3), run(MIXED.whole(), "coulomb", h=1e-3)
    assert found.status is whole.status is Status.SOLVED
    for name in ("p_n", "p_t", "u_n", "u_t", "mu", "W", "free_rates"):
        one, other = getattr(found, name), getattr(whole, name)
        np.testing.assert_allclose(one, other, atol=1e-9 * max(1.0, np.abs(other).max()), err_msg=name)
    for name in ("q", "v", "p", "mass", "b", "J", "rate", "eps", "r_t", "phi", "friction"):
        one, other = getattr(found.record, name), getattr(whole.record, name)
        np.testing.assert_allclose(one, other, atol=1e-9 * max(1.0, np.abs(other).max(initial=0)), err_msg=name)
    for name in ("rho", "normaliser"):
        np.testing.assert_allclose(getattr(found.judged, name), getattr(whole.judged, name), rtol=1e-9)
    for name in ("signorini", "cone", "dissipation", "natural_map"):
        assert getattr(found.judged, name).max() <= 1e-9
        assert getattr(whole.judged, name).max() <= 1e-9
    assert found.residuals.max() <= 1e-10


@pytest.mark.parametrize("label", ["frictionless", "ccp"])
def test_kinds_of_parts_may_be_mixed(label):
    """With joints, of different sizes, in any order; the second of a kind by the compiled loop."""
    found, whole = run(MIXED, label, h=1e-3), run(MIXED.whole(), label, h=1e-3)
    assert found.steps == whole.steps == 20
    np.testing.assert_allclose(found.states_v, whole.states_v, atol=1e-10)
    np.testing.assert_allclose(found.record.p[:, -4:], whole.record.p[:, -4:], atol=1e-10)


def test_problems_of_the_parts_are_blocks_of_the_whole_one():
    found, whole = run(ROW, "stewart-trinkle"), run(Whole(stacks=3.0), "stewart-trinkle")
    problem = found.record
    assert problem.M.shape == whole.record.M.shape
    np.testing.assert_allclose(
        np.sort(np.linalg.svd(problem.M[0], compute_uv=False)),
        np.sort(np.linalg.svd(whole.record.M[0], compute_uv=False)), atol=1e-12,
    )  # fmt: skip
    w = np.einsum("kij,kj->ki", problem.M, problem.z) + problem.q_
    assert np.abs(np.minimum(problem.z, w)).max() < 1e-12


@pytest.mark.thorough
def test_a_comparison_of_a_row_is_that_of_the_whole():
    exact, polygon = find_formulation("coulomb"), find_formulation("stewart-trinkle")
    settings = Settings(steps=(2e-3,), reference_step=1e-3, duration=0.02)
    a, b = (compare_case(kind(stacks=2.0), [polygon], exact, [], settings) for kind in (Row, Whole))
    numbers = a.runs.select_dtypes("number").drop(columns=[*TIMES, "iterations", "rank_tolerance"])
    for name in numbers:
        np.testing.assert_allclose(a.runs[name], b.runs[name], rtol=1e-6, atol=1e-11, err_msg=name)
    assert list(a.diagnostics["verdict"]) == list(b.diagnostics["verdict"])
    assert "stewart-trinkle" in render(a, provenance(case="row"))


@pytest.mark.thorough
def test_more_contacts_than_minors_are_taken_of_are_compared():
    c = compare_case(
        ROW, [find_formulation("ccp")], find_formulation("coulomb"), settings=Settings((2e-3,), 2e-3, 0.02)
    )
    assert ROW.size[2] > 8
    assert c.runs["verified"].all()
    assert c.trajectories["sliding_minor"].isna().all()
    last = c.diagnostics.iloc[-1]
    assert (last["verdict"], last["witness"]) == ("not defined", f"{ROW.size[2]} contacts; minors are taken of up to 8")
    assert "minors are taken of up to 8" in render(c, provenance(case="row"))


@kernel(FILL)
def fill_belt(q, v, data, core):
    """As `Row`, where the ground below the second stack moves."""
    fill_row(q, v, data, core)
    if data[4] == 2.0:
        core.r_t[0] = 0.1


@dataclass(frozen=True)
class Belt(Row):
    fill: ClassVar[Any] = staticmethod(fill_belt)


@pytest.mark.parametrize("label", ["stewart-trinkle", "box", "hybrid", "coulomb"])
def test_no_part_leaves_anything_to_the_next(label):
    """Neither data that only it has, nor impulses, nor a guess; of those with compliance the last impulses count."""
    relaxation = Relaxation(k_n=1e6, b_n=1e3, k_t=1e5, b_t=1e2, lateral=1.0)
    parts = tuple(Belt(begin=2.0 * k, slowest=v, fastest=v) for k, v in enumerate((0.5, 0.7, 0.01, 1.0)))
    found = run(Together(*parts), label, relaxation=relaxation)
    for k, part in enumerate(parts):
        alone = run(part, label, relaxation=relaxation)
        for name, mine, its in zip(RunRecord._fields, found.parts[k].record, alone.record, strict=True):
            np.testing.assert_array_equal(mine, its, err_msg=name)


@kernel(FILL)
def fill_until(q, v, data, core):
    """As `Row`, until the first cube has moved by 12 mm: its gap is no number then."""
    fill_row(q, v, data, core)
    if q[0] > data[4] + 0.012:
        core.phi[0] = np.nan


@dataclass(frozen=True)
class Ending(Row):
    fill: ClassVar[Any] = staticmethod(fill_until)


def test_a_run_ends_where_its_first_part_does():
    """The fastest one is the last."""
    row = Ending(stacks=3.0, fastest=2.0)
    found, alone = run(row, "stewart-trinkle"), [run(p, "stewart-trinkle") for p in row.parts]
    steps = [r.steps for r in alone]
    assert steps[2] == min(steps) < steps[1] < steps[0]
    assert found.status is alone[2].status is Status.NOT_FINITE
    assert found.reason == f"part 2: {alone[2].reason}"
    assert found.steps == found.residuals.size == steps[2]
    assert found.states_q.shape == (steps[2] + 1, 21)
    np.testing.assert_array_equal(found.states_q[:, :7], alone[0].states_q[: steps[2] + 1])


def test_a_refusal_is_the_row_s():
    found = run(ROW, "stewart-trinkle", solver="keller")
    assert (found.status, found.steps) == (Status.REFUSED, 0)
    assert "symmetric" in found.reason


def test_solvers_that_are_not_compiled_step_parts_too():
    found = run(ROW, "ccp", steps=3, solver="clarabel")
    assert found.steps == 3
    np.testing.assert_allclose(found.states_v, run(ROW, "ccp", steps=3).states_v, atol=1e-5)


@pytest.mark.parametrize(("case", "calls"), [(Row(stacks=120.0), 20), (MIXED, 3)])
def test_progress_goes_up_to_all_steps(case, calls):
    heard: list[int] = []
    run(case, "frictionless", steps=4, h=1e-3, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 4
    assert len(heard) > calls


def test_a_run_may_come_from_another_process():
    found = run(ROW, "coulomb")
    back = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(back.residuals, found.residuals)
    np.testing.assert_array_equal(back.judged.natural_map, found.judged.natural_map)


@kernel(FILL)
def fill_coupled(q, v, data, core):
    """A row whose first two cubes share inertia."""
    fill_row(q, v, data, core)
    if v.shape[0] > 6:
        core.M[0, 6] = core.M[6, 0] = 0.1


@kernel(FILL)
def fill_touching(q, v, data, core):
    """A row whose first contact is one between the first two cubes."""
    fill_row(q, v, data, core)
    if v.shape[0] > 6:
        core.J_n[0, 8] = -1.0


def of(kind, **given):
    """A kind of row with other functions or properties."""
    return type("Row", (kind,), given)(stacks=2.0)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (of(Row, fill=staticmethod(fill_coupled)), "M of row couples its parts"),
        (of(Row, fill=staticmethod(fill_touching)), "J_n of row couples its parts"),
        (of(Row, parts=property(lambda s: Row.parts.fget(s)[:1])), r"= \(6, 0, 4, 2\) together; the case has \(12, 0,"),
        (of(Row, parts=property(lambda s: Row.parts.fget(s)[::-1])), "the start q of row is not that of its parts"),
        (of(Row, parts=property(lambda s: tuple(replace(p, gravity=9.0) for p in Row.parts.fget(s)))), "f of row at"),
        (Together(Row(stacks=2.0), Row()), "has parts of its own"),
    ],
)
def test_what_is_coupled_is_not_taken_apart(case, words):
    with pytest.raises(DataError, match=words):
        run(case, "frictionless")


def test_parts_of_cases_are_apart_and_others_are_refused():
    for case in (ROW, Row(stacks=3.0, height=2.0), MIXED):
        assert len(case.parts) > 1
        must_be_apart(case, case.parts)
        with pytest.raises(DataError):
            must_be_apart(case, case.parts[:-1])


def test_matrices_of_the_whole_are_not_made_where_they_do_not_fit():
    part = np.broadcast_to(0.0, (1000, 300, 300))
    with pytest.raises(DataError, match=r"matrices of 10 parts together need 72 GB; at most 2 GB"):
        blocks([part] * 10, [], [])


@kernel(SOLVE)
def unsure(M, q, lower, upper, mu, d, z, info):
    """Exact Coulomb friction to seven digits."""
    coulomb_kernel(M, q, lower, upper, mu, d, z, info)
    for i in range(z.shape[0]):
        z[i] *= 1.0 + 1e-7
    return INACCURATE


def test_no_part_is_less_sure_than_its_solver():
    solver = KernelSolver("unsure", unsure, frozenset({"Coulomb NCP"}), "nothing", "a test")
    found = run(ROW, "coulomb", solver=solver)
    assert [p.status for p in found.parts] == [Status.INACCURATE] * 3
    assert found.status is Status.INACCURATE
