"""The comparator: one case, many formulations, solvers and step sizes, judged against exact Coulomb friction.

The error budget (formulary, section 7) keeps three sources apart, each an RMS of the normalised friction:

    discretisation   exact Coulomb at this step        -  the reference, exact Coulomb at a much smaller step
    formulation      this formulation to round-off     -  exact Coulomb at this step
    solver           this solver's answer              -  this formulation to round-off

Step k of a run is compared with the reference step that starts at the same t_k; all runs of a comparison share the
position update and the normal law.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.algorithms import ROUND_OFF, find_solver, is_quadratic_program
from workbench.assemble.find import compiled
from workbench.comparison.jobs import Job, Progress, Settings, run_jobs
from workbench.diagnostics.lead_matrix import theory_of
from workbench.errors import WorkbenchError
from workbench.judge import coulomb
from workbench.language.formulation import ContactSymbols, Formulation
from workbench.language.notation import glossary, latex_blocks, relation, sets
from workbench.matrices.p_matrix import p_verdict_of, smallest_minor
from workbench.matrices.rank import rank, ranks
from workbench.mechanics.case import Case, Truth
from workbench.problems.classes import Array
from workbench.problems.solution import Status
from workbench.step.one_step import first_problem
from workbench.step.run import Run

ROUNDING = 1e-14
"""Share of the coordinates that a step may change by rounding alone."""
P_SECONDS = 0.5
"""Time for one P verdict of a comparison."""
GENERIC_SOLVER = "cvxpy:CLARABEL"
"""Shown beside the round-off solver where a formulation is also a convex (conic) QP."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Tidy frames of a comparison. `runs`: a row per run and window; `trajectories`: per run, step and contact;
    `diagnostics`: case, formulation, step, quantity, value, verdict, witness. NaN means "not defined".
    `mathematics` holds each formulation's relations, block matrix and source, printed from its declaration."""

    case: Case
    settings: Settings
    formulations: tuple[Formulation, ...]
    runs: pd.DataFrame
    trajectories: pd.DataFrame
    diagnostics: pd.DataFrame
    truths: tuple[Truth, ...]
    mathematics: tuple[dict[str, Any], ...]


def compare(
    case: Case,
    formulations: Sequence[Formulation],
    exact: Formulation,
    solvers: Sequence[str] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> Comparison:
    """Run every formulation with every solver at every step size and judge all of it against `exact`, exact Coulomb.

    Without `solvers` each formulation gets the solver that takes it to round-off and, where it is a convex QP,
    a generic optimiser too. `progress(label, done, total)` hears of finished steps. With `workers` > 1 the runs whose
    solvers are not compiled go to that many processes. Raises WorkbenchError for unusable settings or a reference that
    its own residual does not verify; a run that fails is a row with its reason.
    """
    must_make_steps(formulations)
    settings = (settings or Settings()).of_case(case)
    strides, duration = settings.strides(), settings.duration or case.duration
    plan = [
        Job(f, s, h) for h in settings.steps for f in formulations for s in solvers_for(case, f, solvers, h, settings)
    ]
    # Before any run: a declaration that cannot be printed should not cost a comparison.
    cards = tuple(mathematics(f, case.size) for f in formulations)
    fine = Job(exact, ROUND_OFF["Coulomb NCP"], settings.reference_step)
    needed = {fine: None}
    for job in plan:
        needed |= dict.fromkeys((job, _to_round_off(case, job), replace(fine, h=job.h)))
    runs = run_jobs(case, list(needed), settings, progress, workers)
    reference = runs[fine]
    if reference.steps < reference.steps_wanted or reference.residuals.max() > reference.tolerance:
        worst = f"residual {reference.residuals.max():.1e}" if reference.steps else "no step was made"
        raise WorkbenchError(f"the reference run is not verified ({worst}): {reference.reason}")
    rows, trajectories, diagnostics = [], [_trajectory(reference, "reference")], []
    for job in plan:
        run, at_step, to_round_off = runs[job], runs[replace(fine, h=job.h)], runs[_to_round_off(case, job)]
        for name, window in _windows(case, duration).items():
            rows.append(_row(run, reference, at_step, to_round_off, name, window, duration, strides[job.h]))
        trajectories.append(_trajectory(run, "run", reference, strides[job.h]))
        diagnostics += _diagnostics(run)
    return Comparison(
        case, settings, tuple(formulations), pd.DataFrame(rows), pd.concat(trajectories, ignore_index=True),
        pd.DataFrame(diagnostics).drop_duplicates(["label", "step", "quantity"], ignore_index=True),
        tuple(case.truths(reference)), cards,
    )  # fmt: skip


def must_make_steps(formulations: Sequence[Formulation]) -> None:
    """Raises WorkbenchError for a formulation that is not one of time steps."""
    for f in formulations:
        if f.symbols is not ContactSymbols:
            raise WorkbenchError(f"{f.label} is about {f.symbols.about} and makes no time steps to compare")


def _to_round_off(case: Case, job: Job) -> Job:
    return replace(job, solver=ROUND_OFF[compiled(job.formulation, *case.size).kind])


def solvers_for(case: Case, f: Formulation, names: Sequence[str], h: float, settings: Settings) -> list[str]:
    """The named solvers; without names the round-off one and, for a convex QP, the generic one."""
    if names:
        return [find_solver(name).name for name in names]
    chosen = [ROUND_OFF[compiled(f, *case.size).kind]]
    problem = first_problem(case, f, h, settings.normal or case.normal, settings.relaxation)
    if problem is not None and is_quadratic_program(problem):
        chosen.append(GENERIC_SOLVER)
    return chosen


def mathematics(f: Formulation, size: tuple[int, int, int, int]) -> dict[str, Any]:
    """What a reader needs to know of a formulation, printed from the declaration that is solved; size (n, m, r, d)."""
    c = compiled(f, *size)
    return {
        "label": f.label, "friction": f.friction, "source": f.source, "problem_class": c.kind,
        "theory": theory_of(f),
        "relations": [relation(r, "latex") for r in c.declaration.relations],
        "sets": sets(c.declaration), "blocks": latex_blocks(c.declaration), "glossary": glossary(c.declaration),
    }  # fmt: skip


def _windows(case: Case, duration: float) -> dict[str, tuple[float, float]]:
    return dict(case.windows) | {"all": (0.0, duration)}


def _in_window(t: Array, window: tuple[float, float]) -> NDArray[np.bool_]:
    # Half a nanosecond of slack: t_k = k h is not exact.
    return (t >= window[0] - 5e-10) & (t < window[1] - 5e-10)


def rms(x: Array) -> float:
    """Root mean square of the entries that are defined; nan where none is."""
    x = x[np.isfinite(x)]
    return float(np.sqrt(np.mean(x**2))) if x.size else np.nan


class Judged(Protocol):
    """Impulses p_n (K, r), p_t (K, r, d) and what the measures of friction need beside them; a `Run` is one."""

    @property
    def p_n(self) -> Array: ...
    @property
    def p_t(self) -> Array: ...
    @property
    def u_t(self) -> Array: ...
    @property
    def mu(self) -> Array: ...
    @property
    def v_th(self) -> float: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def judged(self) -> coulomb.Verdict: ...


def closed(run: Judged) -> NDArray[np.bool_]:
    """Whether each contact (K, r) carries more than the run's tolerance.

    Without that, the friction ratio and angle of an interior-point answer's p_n = 1e-10 in flight would be random.
    """
    return run.p_n > run.tolerance * run.judged.normaliser[:, None]


def friction(run: Judged) -> Array:
    """Normalised friction (K, r); 0 for contacts that are open."""
    return coulomb.normalised_friction(np.where(closed(run), run.p_n, 0.0), run.p_t, run.mu)


def misalignment(run: Judged) -> Array:
    """Angle between friction and -u_t (K, r) [deg]; nan where a contact is open, does not slide or has no friction."""
    rubs = np.linalg.norm(run.p_t, axis=-1) > run.tolerance * run.judged.normaliser[:, None]
    return np.where(closed(run) & rubs, coulomb.misalignment(run.p_t, run.u_t, run.v_th), np.nan)


def _row(
    run: Run, reference: Run, at_step: Run, to_round_off: Run, name: str, window: tuple[float, float], duration: float,
    stride: int,
) -> dict[str, Any]:  # fmt: skip
    end = min(window[1], duration)
    inside = _in_window(run.t, (window[0], end))
    wanted = int(_in_window(run.h * np.arange(run.steps_wanted, dtype=float), (window[0], end)).sum())
    complete = bool(inside.sum() == wanted and wanted > 0)
    residual = float(run.residuals[inside].max(initial=0.0)) if complete else np.nan
    tolerance = rank(run.record.M[0]).tolerance if run.steps else np.nan
    # A run that fails after the window has still solved all of the window.
    claimed = Status.SOLVED if complete and run.status is not Status.INACCURATE else run.status
    row: dict[str, Any] = {
        "case": run.case.name, "formulation": run.formulation.name, "label": run.formulation.label,
        "options": run.formulation.listed_options, "solver": run.solver,
        "problem_class": run.kind, "step": run.h, "window": name, "window_start": window[0], "window_end": end,
        "clipped": end < window[1], "steps": int(inside.sum()), "size": run.record.z.shape[1],
        "rank": int(rank(run.record.M[0]).value) if run.steps else np.nan,
        "rank_min": int(ranks(run.record.M[inside]).min()) if inside.any() else np.nan, "rank_tolerance": tolerance,
        "claimed": claimed.name, "verified": complete and residual <= run.tolerance, "residual": residual,
        "tolerance": run.tolerance, "reason": "" if claimed is Status.SOLVED else run.reason,
        "iterations": int(run.record.effort[inside, 0].sum()),
        "passes_max": int(run.record.effort[inside, 1].max(initial=0)),
        "build_time": run.build_time, "solve_time": run.solve_time,
    }  # fmt: skip
    return row | _metrics(run, reference, at_step, to_round_off, inside, stride, complete)


def _metrics(run, reference, at_step, to_round_off, inside, stride, complete) -> dict[str, float]:
    names = (
        "friction_rmsd", "misalignment_rms", "position_error", "energy_error", "signorini", "cone", "dissipation",
        "natural_map", "discretisation_error", "formulation_error", "solver_error",
    )  # fmt: skip
    if not complete:
        return dict.fromkeys(names, np.nan)
    k = np.flatnonzero(inside)
    case, own, exact_fine = run.case, friction(run)[k], friction(reference)[k * stride]
    judged = run.judged
    # States at the ends of the window's steps, beside the reference's states at the same times.
    here, there = k + 1, (k + 1) * stride
    centre, centre_ref = case.centre(run.states_q), case.centre(reference.states_q)
    path = np.linalg.norm(np.diff(centre_ref[k[0] * stride : there[-1] + 1], axis=0), axis=-1).sum()
    with np.errstate(over="ignore", invalid="ignore"):
        energy, energy_ref = (case.energy(r.states_q, r.states_v) for r in (run, reference))
        energy_error = np.abs(energy[here] - energy_ref[there]).max() / abs(energy_ref[0])
        distance = np.linalg.norm(centre[here] - centre_ref[there], axis=-1).max()
        # The path of a centre that rests is the rounding of its coordinates: nothing to divide by.
        moved = path > ROUNDING * len(k) * np.abs(centre_ref).max(initial=0.0)
        position_error = distance / path if moved else np.nan
    angle = misalignment(run)[k]

    def part(a: Run, b: Run) -> float:
        return rms(friction(a)[k] - friction(b)[k]) if min(a.steps, b.steps) > k[-1] else np.nan

    discretisation = rms(friction(at_step)[k] - exact_fine) if at_step.steps > k[-1] else np.nan
    values = (
        rms(own - exact_fine), rms(angle), position_error, energy_error,
        *(float(getattr(judged, name)[k].max()) for name in ("signorini", "cone", "dissipation", "natural_map")),
        discretisation, part(to_round_off, at_step), part(run, to_round_off),
    )  # fmt: skip
    return dict(zip(names, map(float, values), strict=True))


def sliding_minor(run: Run) -> Array:
    """(K,) smallest principal minor [1/kg^k] of the sliding matrix A_nn - A_nt [mu xi] of the contacts that slide.

    Positive: the matrix is a P-matrix and the sliding contact forces are unique (formulary, section 5). nan where no
    contact slides. Directions are those of the velocity before the step.
    """
    _, _, r, d = run.case.size
    before = np.einsum("kij,kj->ki", run.record.J[:, r:], run.states_v[:-1]) + run.record.r_t
    before = before.reshape(-1, r, d)
    speed = np.linalg.norm(before, axis=-1)
    slides = speed > run.case.v_th
    xi = np.where(slides[..., None], before / np.where(slides, speed, 1.0)[..., None], 0.0)
    W_nt = run.W[:, :r, r:].reshape(-1, r, r, d)
    D = run.W[:, :r, :r] - np.einsum("kijd,kjd->kij", W_nt, run.record.friction[..., None] * xi)
    minors = smallest_minor(D)
    return np.where(slides.any(axis=-1), minors, np.nan)


def _trajectory(run: Run, role: str, reference: Run | None = None, stride: int = 1) -> pd.DataFrame:
    """One row per step and contact; the reference is thinned to every tenth step to keep files small."""
    if not run.steps:
        return pd.DataFrame()
    thin = slice(None, None, 10 if role == "reference" else 1)
    _, _, r, d = run.case.size
    ratio, angle, judged = friction(run), misalignment(run), run.judged
    with np.errstate(over="ignore", invalid="ignore"):
        energy = run.case.energy(run.states_q, run.states_v)[1:]
    centre = run.case.centre(run.states_q)[1:]
    minor = sliding_minor(run)
    frames = []
    for i in range(r):
        columns: dict[str, Any] = {
            "case": run.case.name, "formulation": run.formulation.name, "label": run.formulation.label, "role": role,
            "solver": run.solver,
            "step": run.h, "contact": i, "t": run.t, "x": centre[:, 0], "y": centre[:, 1], "z": centre[:, 2],
            "gap": run.record.phi[:, i], "p_n": run.p_n[:, i], "u_n": run.u_n[:, i], "normalised_friction": ratio[:, i],
            "misalignment": angle[:, i], "energy": energy, "sliding_minor": minor, "residual": run.residuals,
            "natural_map": judged.natural_map, "iterations": run.record.effort[:, 0],
        }  # fmt: skip
        for j in range(d):
            columns[f"p_t{j + 1}"], columns[f"u_t{j + 1}"] = run.p_t[:, i, j], run.u_t[:, i, j]
        if reference is not None:
            k = (np.arange(run.steps) + 1) * stride
            columns["position_error"] = np.linalg.norm(centre - run.case.centre(reference.states_q[k]), axis=-1)
            columns["energy_error"] = np.abs(energy - run.case.energy(reference.states_q[k], reference.states_v[k]))
        frames.append(pd.DataFrame(columns).iloc[thin])
    return pd.concat(frames, ignore_index=True)


def _diagnostics(run: Run) -> list[dict[str, Any]]:
    """Rank of the lead matrix and the Painleve line, with their tolerances as witnesses."""
    if not run.steps:
        return []
    base = {
        "case": run.case.name, "formulation": run.formulation.name, "label": run.formulation.label, "step": run.h,
    }  # fmt: skip
    M = run.record.M
    first, lowest = rank(M[0]), int(ranks(M).min())
    n = M.shape[-1]
    minor = sliding_minor(run)
    worst = float(np.nanmin(minor)) if np.isfinite(minor).any() else np.nan
    when = float(run.t[np.nanargmin(minor)]) if np.isfinite(worst) else np.nan
    gap = "none" if first.gap is None else f"{first.gap:.1e}"
    return [
        base | {
            "quantity": "rank of the reduced lead matrix, first step", "value": float(first.value),
            "verdict": "full" if first.value == n else f"deficient by {n - first.value}",
            "witness": f"n = {n}, tolerance {first.tolerance:.1e}, gap {gap}",
        },
        base | {
            "quantity": "smallest rank along the trajectory", "value": float(lowest),
            "verdict": "full" if lowest == n else f"deficient by {n - lowest}", "witness": f"{run.steps} steps",
        },
        base | _p_row(M[0]),
        base | {
            "quantity": "smallest minor of the sliding matrix", "value": worst,
            "verdict": "not defined" if np.isnan(worst) else "P" if worst > 0 else "not P",
            "witness": "no sliding contact" if np.isnan(worst) else f"at t = {when:.4g} s",
        },
    ]  # fmt: skip


def _p_row(M: Array) -> dict[str, Any]:
    """Is the reduced lead matrix a P-matrix? By exact means within `P_SECONDS`, with what supports the verdict."""
    found = p_verdict_of(M, P_SECONDS)
    support = found.proof or found.reason or f"minor of rows {', '.join(map(str, found.index_set or ()))} <= 0"
    return {
        "quantity": "P-matrix? reduced lead matrix, first step", "value": np.nan, "verdict": found.verdict,
        "witness": support,
    }  # fmt: skip
