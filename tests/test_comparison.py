"""The comparator: what its numbers mean, what it does with failures, and a formulation that is not in the package."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import workbench as wb
from tests.tables import TIMES
from workbench.algorithms import find_solver
from workbench.algorithms.base import KernelSolver
from workbench.algorithms.lemke.method import lemke_kernel
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wedged_box import WedgedBox
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import Settings
from workbench.comparison.measured import rms
from workbench.comparison.verdicts import sliding_minor
from workbench.engine.compiling import kernel
from workbench.engine.kernels import SOLVE
from workbench.language.formulation import formulation
from workbench.language.modelling import complements, declare, equals, free, friction_cone, nonneg
from workbench.problems.solution import Status
from workbench.step.local_steps import local_steps
from workbench.step.simulation import simulate
from workbench.support.errors import DataError, WorkbenchError

BY_NAME = {f.name: f for f in FORMULATIONS}
COULOMB = BY_NAME["coulomb"]
SETTINGS = Settings(steps=(1e-3,), reference_step=2e-4, duration=0.2, reference="steps")
SINGULAR = int(Status.SINGULAR)


@formulation("viscous", friction="p_t = -c u_t up to a declared coefficient", source="this test")
def viscous(s, c: float = 0.05):
    """A formulation of the reader's own: Newtonian friction, no bound; a frictionless LCP with a damper."""
    v, p_n, p_t = free("v", s.n), nonneg("p_n", s.r), free("p_t", s.d * s.r)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        equals(p_t + c * s.ut(v, p_t)),
        complements(s.un(v, p_n), p_n),
        recover={"v": v, "p_n": p_n, "p_t": p_t},
    )


BLOWS_UP = viscous.with_options(c=-0.1)
"""Friction along the slip."""


@pytest.fixture(scope="module")
def result():
    chosen = [BY_NAME["box"], BY_NAME["anitescu-potra"], COULOMB, viscous]
    return compare_case(Wheel(), chosen, COULOMB, ["judice-pires", "lemke", "coulomb-exact"], SETTINGS)


def only(runs, label, solver, window="all"):
    rows = runs[(runs["label"] == label) & (runs["solver"] == solver) & (runs["window"] == window)]
    assert len(rows) == 1
    return rows.iloc[0]


def curve(result, label, solver, role="run"):
    t = result.trajectories
    return t[(t["label"] == label) & (t["solver"] == solver) & (t["role"] == role)]


def test_friction_rmsd_is_what_the_formulary_says(result):
    """RMS over the window of |p_t|/(mu p_n) minus the reference's at the step that starts at the same time."""
    row, own = only(result.runs, "box", "judice-pires"), curve(result, "box", "judice-pires")
    ratio = np.hypot(own["p_t1"], own["p_t2"]) / (0.3 * own["p_n"])
    reference = simulate(Wheel(), COULOMB, find_solver("coulomb-exact"), 2e-4, 0.2)
    ref_ratio = np.linalg.norm(reference.p_t[:, 0], axis=-1) / (0.3 * reference.p_n[:, 0])
    assert np.allclose(reference.t[::5] + 1e-3, own["t"], atol=1e-12)
    assert row["friction_rmsd"] == pytest.approx(np.sqrt(np.mean((ratio - ref_ratio[::5]) ** 2)), rel=1e-12)
    energy = reference.case.energy(reference.states_q, reference.states_v)
    v, mass = reference.states_v[:-1], reference.record.mass
    kinetic = 0.5 * np.einsum("ki,kij,kj->k", v, mass, v).max()
    scale = max(kinetic, np.ptp(energy))
    span = round(0.05 * len(own))
    mean = np.convolve(own["energy"] - energy[5::5], np.ones(span) / span)
    assert row["energy_error"] == pytest.approx(np.abs(mean).max() / scale, rel=1e-9)
    path = np.linalg.norm(np.diff(reference.states_q[:, :3], axis=0), axis=1).sum()
    apart = np.linalg.norm(own[["x", "y", "z"]].to_numpy() - reference.states_q[5::5, :3], axis=1)
    assert row["position_error"] == pytest.approx(apart.max() / path, rel=1e-12)
    dot = -(own["p_t1"] * own["u_t1"] + own["p_t2"] * own["u_t2"])
    cosine = dot / np.hypot(own["p_t1"], own["p_t2"]) / np.hypot(own["u_t1"], own["u_t2"])
    assert row["misalignment_rms"] == pytest.approx(np.degrees(rms(np.arccos(np.minimum(cosine, 1.0)))), rel=1e-6)


def test_the_budget_parts_bound_the_total(result):
    """The parts are distances of runs in a chain, hence the triangle inequality."""
    names = ["friction_discretisation", "friction_formulation", "friction_solver"]
    parts = result.runs[names].sum(axis=1, skipna=False)
    total = result.runs["friction_error"]
    assert (total <= parts + 1e-12)[total.notna() & parts.notna()].all()
    exact = only(result.runs, "coulomb", "coulomb-exact")
    assert exact["friction_formulation"] == 0
    assert exact["friction_solver"] == 0
    assert exact["friction_error"] == exact["friction_discretisation"]


def test_the_curve_of_the_reference_has_its_uncertainty(result):
    """Twice its distance from the same at half the step."""
    own = curve(result, "coulomb", "coulomb-exact", "reference")
    other = simulate(Wheel(), COULOMB, find_solver("coulomb-exact"), 1e-4, 0.2)
    there = other.case.centre(other.states_q[np.rint(own["t"] / 1e-4).astype(int)])
    apart = np.linalg.norm(own[["x", "y", "z"]] - there, axis=1)
    np.testing.assert_allclose(own["position_error"], 2 * apart, rtol=1e-12)
    assert apart.max() > 1e-6


def test_what_needs_compliance_is_held_against_exact_friction_alike(monkeypatch):
    """Redundant contacts leave phantom inertia no step without compliance, and the others have no need of it."""
    soft, bases = Cube().relaxation, []

    def local(base, f, *given):
        bases.append((f.name, "alike" if base.relaxation == soft else "exact"))
        found = local_steps(base, f, *given)
        if bases[-1] != ("ccp", "exact"):
            return found
        # As if it had no answer to one step.
        after = found.record.after.copy()
        after[7] = np.nan
        return replace(found, record=found.record._replace(after=after))

    monkeypatch.setattr("workbench.comparison.cases.local_steps", local)
    chosen = [COULOMB, *(BY_NAME[x] for x in ("phantom-inertia", "box", "ccp"))]
    settings = Settings((1e-3,), 1e-3, 0.01, relaxation=soft, reference="steps")
    runs = compare_case(WedgedBox(), chosen, COULOMB, ["auto"], settings).runs
    rows = runs[runs["window"] == "all"].set_index("label")
    assert rows["verified"].all()
    assert rows["local_velocity_error"].notna().all()
    assert sorted(bases) == [
        ("box", "exact"), ("ccp", "alike"), ("ccp", "exact"), ("coulomb", "exact"),
        ("phantom-inertia", "alike"), ("phantom-inertia", "exact"),
    ]  # fmt: skip
    exact, other = rows.loc["coulomb"], rows.loc["phantom-inertia"]
    for x in ("velocity", "position", "energy"):
        assert exact[f"{x}_compliance"] == exact[f"{x}_error"] > 0
        assert other[f"{x}_compliance"] == exact[f"{x}_compliance"]
        assert exact[f"{x}_formulation"] == 0
        assert (rows[f"{x}_discretisation"] == 0).all(), "the reference has the same step"


@pytest.mark.parametrize("ending", ["exact", "second"])
def test_a_run_that_ends_early_leaves_its_part_of_the_budget_open(monkeypatch, ending):
    """Exact friction at the step of the run ends amid the window, or the reference at half its step has no answer."""
    steps = {"exact": 1e-3, "second": SETTINGS.reference_step / 2}

    def made(case, f, solver, h, duration, **given):
        if f is COULOMB and h == steps[ending]:
            if ending == "second":
                raise DataError("no motion")
            duration /= 2
        return simulate(case, f, solver, h, duration, **given)

    monkeypatch.setattr("workbench.comparison.jobs.simulate", made)
    c = compare_case(Wheel(), [BY_NAME["box"]], COULOMB, ["judice-pires"], replace(SETTINGS, duration=0.02))
    row = c.runs.iloc[0]
    assert (row["verified"], row["notes"]) == (True, "")
    missing = {"exact": {"discretisation", "formulation"}, "second": {"reference"}}[ending]
    for part in ("reference", "discretisation", "formulation", "solver"):
        assert np.isnan(row[f"velocity_{part}"]) == (part in missing), part
    assert np.isnan(row["local_velocity_error"]) == (ending == "exact")
    uncertain = c.trajectories.loc[c.trajectories["role"] == "reference", "position_error"]
    assert uncertain.isna().all() if ending == "second" else uncertain.notna().all()


def test_what_cannot_be_shown_says_why_and_costs_no_other():
    """A case of somebody's own that has no energy far away and no contact points elsewhere; no metric needs either."""
    reached = 0.02 * Block().speed

    class Fragile(Block):
        def energy(self, q, v):
            if np.any(q[..., 0] > reached - 1e-4):
                raise ArithmeticError("too far")
            return super().energy(q, v)

        def contacts(self, q):
            if np.any(q[..., 0] > 0):
                raise ArithmeticError("nowhere")
            return super().contacts(q)

    chosen = [BY_NAME["frictionless"], COULOMB]
    c = compare_case(
        Fragile(direction=0.0), chosen, COULOMB, ["auto"], replace(SETTINGS, duration=0.02), metrics=["position-error"]
    )
    rows = c.runs[c.runs["window"] == "all"].set_index("label")
    assert rows["reason"].tolist() == ["ArithmeticError: too far", ""]
    assert rows["verified"].tolist() == [False, True]
    assert c.motion is None
    assert "The motion is not shown: ArithmeticError: nowhere" in c.remarks


def test_the_same_lcp_by_two_solvers_is_one_trajectory(result):
    """A refused pairing is a row with its reason; a possible one agrees with the round-off solver."""
    refused = only(result.runs, "coulomb", "lemke")
    assert refused["claimed"] == "REFUSED"
    assert "Coulomb NCP" in refused["reason"]
    assert not refused["verified"]
    assert np.isnan(refused["friction_rmsd"])
    lcp = only(result.runs, "viscous", "judice-pires")
    assert lcp["verified"]
    a, b = curve(result, "viscous", "lemke"), curve(result, "viscous", "judice-pires")
    assert np.allclose(a[["x", "y", "z"]], b[["x", "y", "z"]], atol=1e-12)


def test_a_declared_formulation_gets_everything(result):
    """Not in the package: compiled stepping, a comparison row, a rank and its mathematics, from the one declaration."""
    row, own = only(result.runs, "viscous", "lemke"), curve(result, "viscous", "lemke")
    assert (row["claimed"], row["verified"], row["rank"]) == ("SOLVED", True, 1)
    assert np.allclose(own[["p_t1", "p_t2"]], -0.05 * own[["u_t1", "u_t2"]].to_numpy(), atol=1e-13)
    card = next(m for m in result.mathematics if m["label"] == "viscous")
    assert any("0.05" in r and "p_{t}" in r for r in card["relations"])
    assert card["problem_class"] == "LCP"


def test_a_window_that_begins_after_the_end_has_no_rows_and_the_answer_is_on_the_run():
    # The tippe top's own window begins at 1 s.
    found = wb.compare("tippe-top", ["ccp", "coulomb"], duration=0.01, reference="steps", reference_step=5e-4)
    assert set(found.runs["window"]) == {"all"}
    assert (found.runs["steps"] == 10).all()
    assert found.runs["verified"].all()
    assert found.words[0].startswith("Use ")


@pytest.mark.parametrize(("duration", "shown"), [(0.456, {"all"}), (0.46, {"sliding", "all"})])
def test_a_window_in_which_no_step_begins_has_no_rows(duration, shown):
    """The particle's window begins at 0.45 s, the last step of 10 ms at 0.44 or 0.45 s."""
    found = wb.compare(
        "particle", ["ccp", "coulomb"], steps=[1e-3, 1e-2], duration=duration, reference="steps", reference_step=5e-4
    )
    assert set(found.runs["window"]) == shown
    assert (found.runs["steps"] > 0).all()


def test_windows_are_clipped_and_flagged(result):
    sliding = result.runs[result.runs["window"] == "sliding"]
    assert sliding["clipped"].all()
    assert (sliding["window_end"] == 0.2).all()
    assert not result.runs[result.runs["window"] == "all"]["clipped"].any()


def test_a_run_that_fails_midway_is_a_row(monkeypatch):
    """Two tangential impulses for one direction: the elimination is singular, which is said with the rows."""

    @formulation("doubled", friction="the same friction twice", source="this test")
    def doubled(s):
        v, p_n, a, b = free("v", s.n), nonneg("p_n", s.r), free("a", s.d * s.r), free("b", s.d * s.r)
        return declare(
            equals(s.balance(v, p_n, a + b)),
            equals(s.ut(v, a)),
            equals(s.ut(v, b)),
            complements(s.un(v, p_n), p_n),
            recover={"v": v, "p_n": p_n, "p_t": a},
        )

    result = compare_case(Wheel(), [doubled], COULOMB, settings=SETTINGS)
    row = only(result.runs, "doubled", "lemke")
    assert row["claimed"] == "SINGULAR"
    assert "dependent rows" in row["reason"]
    assert "step 0" in row["reason"]
    assert np.isnan(row["friction_rmsd"])
    # Of a run without a step there is nothing to show.
    assert [x.label for x in result.motion.tracks] == ["coulomb"]


@kernel(SOLVE)
def slippery(M, q, lower, upper, mu, d, z, info):
    """Lemke's method, which gives up where hardly anything slides."""
    fastest = 0.0
    for i in range(1, q.shape[0]):
        fastest = max(fastest, abs(q[i]))
    if fastest < 0.01:
        for i in range(z.shape[0]):
            z[i] = 1.0
        return SINGULAR
    return lemke_kernel(M, q, lower, upper, mu, d, z, info)


SLIPPERY = KernelSolver("slippery", slippery, frozenset({"LCP"}), "nothing", "a test")


@pytest.mark.thorough
def test_a_run_that_fails_after_a_window_has_solved_that_window():
    """The solver gives up at the end of sliding; until then its answer counts."""
    f = BY_NAME["anitescu-potra"]
    settings = Settings(steps=(1e-3,), reference_step=1e-3)
    runs = compare_case(Wheel(), [f], COULOMB, [SLIPPERY, "lemke"], settings).runs
    within, whole = (only(runs, f.label, "slippery", w) for w in ("sliding", "all"))
    assert (within["claimed"], within["verified"], within["reason"]) == ("SOLVED", True, "")
    assert within["friction_rmsd"] == pytest.approx(only(runs, f.label, "lemke", "sliding")["friction_rmsd"], rel=1e-6)
    assert whole["claimed"] != "SOLVED"
    assert not whole["verified"]
    assert "step 2000 (t = 2 s)" in whole["reason"]
    assert np.isnan(whole["friction_rmsd"])


@pytest.mark.thorough
def test_a_reference_is_accepted_on_its_residual_only():
    """A wrong 'exact' formulation whose solver leaves a residual must not become the reference."""

    @formulation("coulomb", friction="a cone nobody can satisfy: mu p_n drives the contact apart", source="this test")
    def unsolvable(s):
        v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d)
        return declare(
            equals(s.balance(v, p.n, p.t)),
            complements((-s.un(v, p.n) - 10.0, s.ut(v, p.t)), p, law="coulomb"),
            recover={"v": v, "p_n": p.n, "p_t": p.t},
        )

    with pytest.raises(WorkbenchError, match="not verified"):
        compare_case(Wheel(speed=0.0), [COULOMB], unsolvable, settings=SETTINGS)


@pytest.mark.thorough
def test_workers_give_the_same_rows():
    chosen = [BY_NAME["ccp"], BY_NAME["frictionless"]]
    names = ["clarabel", "cvxpy:CLARABEL", "lemke"]
    settings = Settings(steps=(5e-3,), reference_step=1e-3, duration=0.1)
    alone, together = (compare_case(Wheel(), chosen, COULOMB, names, settings, workers=w) for w in (1, 2))
    assert {"clarabel", "cvxpy:CLARABEL"} <= set(alone.runs["solver"])
    timed = [*TIMES]
    assert alone.runs.drop(columns=timed).equals(together.runs.drop(columns=timed))


@pytest.mark.thorough
def test_generic_solvers_appear_where_the_problem_is_a_convex_qp():
    settings = Settings(steps=(5e-3,), reference_step=5e-3, duration=0.05)
    runs = compare_case(Wheel(), list(FORMULATIONS), COULOMB, settings=settings).runs
    generic = set(runs[runs["solver"] == "cvxpy:CLARABEL"]["formulation"])
    assert generic == {"frictionless", "box", "hybrid", "ccp", "mujoco", "mujoco-pyramid", "sap", "comfree", "ipc"}
    assert runs["verified"].all()
    assert (runs["friction_solver"].dropna() < 1e-5).all()


def test_sliding_minor_is_the_scalar_of_a_single_contact():
    """W_nn - mu W_nt.u_t/|u_t|, here from the wheel's mass matrix and Jacobians directly."""
    run = simulate(Wheel(), COULOMB, find_solver("coulomb-exact"), 1e-3, 0.2)
    k = 120
    J, M = run.record.J[k], run.record.mass[k]
    u = J[1:] @ run.states_v[k]
    W = J @ np.linalg.inv(M) @ J.T
    assert sliding_minor(run)[k] == pytest.approx(W[0, 0] - 0.3 * W[0, 1:] @ u / np.linalg.norm(u), rel=1e-12)
    assert run.status is Status.SOLVED


@pytest.mark.parametrize("steps", [(1.5e-4,), (0.0,), (-1e-3,), (np.nan,), (1e-5,)])
def test_unusable_steps_are_refused(steps):
    with pytest.raises(DataError, match="step"):
        compare_case(Wheel(), [COULOMB], COULOMB, settings=Settings(steps=steps, reference_step=1e-4, duration=0.1))


def test_changing_one_sign_changes_print_matrix_and_verdict_together():
    from workbench.diagnostics.check import check_matrix
    from workbench.language.assemble.find import compiled
    from workbench.language.notation import relation
    from workbench.readers.matrix import Matrix
    from workbench.step.one_step import first_problem

    def declared(sign):
        @formulation(f"signed{sign:+d}", friction="none", source="this test")
        def build(s):
            v, p_n = free("v", s.n), nonneg("p_n", s.r)
            balance = s.M @ v - s.b - sign * (s.J_n.T @ p_n)
            return declare(equals(balance), complements(s.un(v, p_n), p_n), recover={"v": v, "p_n": p_n})

        return build

    seen = []
    for sign in (1, -1):
        f = declared(sign)
        problem = first_problem(Wheel(), f, 1e-3, normal="gap")
        words = relation(compiled(f, *Wheel.size).declaration.relations[0])
        verdict = check_matrix(Matrix(np.array(problem.M), None))["p_matrix"]["verdict"]
        seen.append((words, float(problem.M[0, 0]), verdict))
    (plus_words, plus, plus_verdict), (minus_words, minus, minus_verdict) = seen
    assert "− J_nᵀ p_n" in plus_words
    assert "+ J_nᵀ p_n" in minus_words
    assert plus == pytest.approx(-minus)
    assert plus_verdict == "P"
    assert minus_verdict == "not P"


def test_cvxpy_is_the_expression_tree():
    """The declaration's expressions are CVXPY's own: evaluating them with .value is the definition of the numbers."""
    declaration = viscous.declaration(6, 0, 1, 2)
    assert all(isinstance(F, cp.Expression) for F in declaration.expressions)


@pytest.mark.parametrize(("h", "duration"), [(7e-4, 0.1), (3e-4, 0.05), (1e-3, 0.0106), (1e-3, 0.0104)])
def test_durations_that_are_no_whole_number_of_steps(h, duration):
    runs = compare_case(Wheel(), [BY_NAME["box"]], COULOMB, ["proximal"], Settings((h,), 1e-4, duration)).runs
    steps = runs[runs["window"] == "all"]["steps"]
    assert (steps == int(duration / h + 1e-3)).all()
    assert runs["friction_rmsd"].notna().all()


@pytest.mark.thorough
def test_no_friction_has_no_direction():
    runs = compare_case(Wheel(mu=0.0), list(FORMULATIONS), COULOMB, settings=Settings((1e-3,), 1e-3, 0.05)).runs
    assert runs["verified"].all()
    assert runs["misalignment_rms"].isna().all()


def test_a_contact_without_impulses_stays_solvable():
    """The wheel falls upwards: impulses of pure rounding must not become compliances."""
    settings = Settings((1e-3,), 1e-3, 0.1)
    runs = compare_case(Wheel(gravity=-1.0), [BY_NAME["hybrid"], BY_NAME["box"]], COULOMB, ["proximal"], settings).runs
    assert (runs["claimed"] == "SOLVED").all()
    assert runs["verified"].all()


def test_build_time_is_that_of_compiling():
    """Also where the declaration was compiled before; CVXPY's canonicalisation alone takes ten milliseconds."""
    runs = compare_case(Wheel(), [BY_NAME["box"]], COULOMB, settings=Settings((1e-3,), 1e-3, 0.01)).runs
    assert (runs["build_time"] > 1e-3).all()


def test_a_run_that_blows_up_has_its_curve_and_a_reason_and_nothing_warns():
    """Warnings are errors here, and an error would be a row without a curve."""
    c = compare_case(Wheel(), [BLOWS_UP], COULOMB, [], SETTINGS)
    row = c.runs.iloc[0]
    assert 10 < row["steps"] < 200
    assert row["reason"]
    assert np.isnan(row["velocity_error"])
    assert not np.isfinite(c.trajectories.loc[c.trajectories["role"] == "run", "position_error"]).all()


def test_every_verified_row_is_told_as_soon_as_it_is_ready():
    """By its error, in the order of the runs, all before the first row is shown; a plain callback hears of none.

    Nor does anybody hear of a run that blows up.
    """

    class Hears:
        def __init__(self):
            self.heard = []

        def __call__(self, label, done, total):
            self.heard.append(label)

        def say(self, line):
            self.heard.append(line)

    hears, plain = Hears(), []
    given = [FORMULATIONS.find("box"), BLOWS_UP, FORMULATIONS.find("ccp")], COULOMB, ["auto"], SETTINGS
    found = compare_case(Wheel(), *given, hears)
    compare_case(Wheel(), *given, lambda label, done, total: plain.append(label))
    rows = found.runs[(found.runs["window"] == found.runs["window"].iloc[0]) & found.runs["verified"]]
    assert rows["label"].tolist() == ["box", "ccp"]
    told = [line for line in hears.heard if ": error " in line]
    for line, row in zip(told, rows.itertuples(), strict=True):
        assert line.startswith(f"{row.label}, {row.solver}: error ")
        assert float(line.split()[-2]) == pytest.approx(1e3 * row.path_error, rel=5e-3)
    assert [label for label in hears.heard if label not in told] == plain
    # The first one while the next formulation is yet to run.
    assert hears.heard.index(told[0]) < next(k for k, x in enumerate(hears.heard) if x.startswith("ccp"))
    # Nothing is told of a run that stops, whose steps are verified until then.
    hears = Hears()
    stops = [BY_NAME["anitescu-potra"]], COULOMB, [SLIPPERY], replace(SETTINGS, duration=0.05)
    found = compare_case(Block(speed=0.1), *stops, hears)
    assert (found.runs["steps"] > 20).all()
    assert not [line for line in hears.heard if ": error " in line]
    # With an event-driven reference it waits for no other run.
    hears = Hears()
    compare_case(Wheel(), *given[:3], Settings((1e-3,), 5e-4, 0.01), hears)
    first, exact = (
        next(k for k, x in enumerate(hears.heard) if x.startswith(word)) for word in ("box, proximal: error", "coulomb")
    )
    assert first < exact
