"""Theory and numbers of a formulation on a case: rank of its lead matrix, redundancy, guarantees, P window of rho.

The problem is that of the case's first step, with the case's normal law and relaxation.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.algorithms.escalation import default_solver
from workbench.diagnostics.phantom import lead_matrices, p_limit, pencil, singular_values_of_rho
from workbench.diagnostics.posed_problem import (
    LARGEST_EXACT,
    distance_entry,
    entry_rows,
    existence_entry,
    reduced_exactly,
    solutions_of,
    uniqueness_entry,
)
from workbench.diagnostics.redundancy import Redundancy, redundancy
from workbench.engine.timing import clock, seconds_left
from workbench.language.formulation import Formulation
from workbench.matrices.classes.matrix_classes import matrix_classes
from workbench.matrices.linear_algebra.rationals import exact as exact_number
from workbench.matrices.p_property.verdict import p_verdict
from workbench.matrices.p_property.witness import PVerdict
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.mechanics.case import Case
from workbench.mechanics.contact import ContactSolution
from workbench.problems.classes import MLCP, Array
from workbench.problems.mixed import MixedNCP
from workbench.problems.rank import Rank, rank
from workbench.problems.solution import Status
from workbench.readers.matrix import Matrix
from workbench.step.one_step import first_step
from workbench.step.stepper import Stepper
from workbench.support.errors import DataError

THEORY = {
    "frictionless": "symmetric PSD: accelerations unique, normal impulses too where the Jacobian has full row rank",
    "stewart-trinkle": "copositive, never P (its diagonal has zeros): Lemke finds a solution if q^T v >= 0 for every "
    "solution v of LCP(0, M); solutions need not be unique",
    "discrete-velocity": "rank deficient by r (n_d - 2), never P; solved by Lemke, not unique",
    "phantom-inertia": "full rank for independent or relaxed contacts and generic rho; with two axes a P-matrix for "
    "rho in a window, with more never",
    "box": "for given bounds unique friction where W is positive definite; the iteration of the bounds is not covered",
    "hybrid": "for given bounds unique friction where W + C is positive definite; the iteration is not covered",
    "ccp": "a convex programme: the velocity is unique, the impulses where W is positive definite",
    "coulomb": "a solution exists under the criterion of Acary, Cadoux, Lemarechal & Malick (2011); no uniqueness",
    "mujoco": "strictly convex by its regulariser: velocity and impulses unique",
    "elliptic": "the same as exact Coulomb friction, in directions scaled by their coefficients",
    "rolling": "the same as exact Coulomb friction if nothing resists torsion or rolling; else no theorem is claimed",
    "cohesive": "the same as exact Coulomb friction, with the cohesion among the forces",
    "mujoco-pyramid": "convex, strictly where mu > 0: velocity and impulses unique",
    "mujoco-noslip": "the soft solve is convex and every sweep triangular: one solution; how near many sweeps come to "
    "Coulomb's law is not promised, since normal impulses stay as they are",
    "genesis": "existence under a criterion of exact Coulomb friction; no general theorem on uniqueness",
    "sap": "strictly convex by its compliance and regularisation: velocity and impulses unique",
    "comfree": "a closed form: one solution for any data",
    "gauss-seidel": "every sweep is a triangular P-matrix, with one solution; how near many sweeps come to the "
    "contacts' own law is not promised",
    "hunt-crossley": "friction=lagged and similar are convex: the velocity is unique; that Newton's passes settle is "
    "not promised, nor uniqueness for friction=implicit",
    "ipc": "for given bounds convex: velocity and friction unique; that the passes settle is not promised",
    "staggered": "no guarantee that the projections settle; where they do, a solution of the polygon's problem",
}
THEORY["anitescu-potra"] = THEORY["stewart-trinkle"]


LARGEST_CLASSES = 14
"""Largest order for which matrix classes are determined."""


def theory_of(formulation: Formulation) -> str:
    """Known theory of a formulation, in a line."""
    return THEORY.get(formulation.name, "a user-defined declaration; no theorem is claimed")


@dataclass(frozen=True, eq=False)
class LeadMatrixReport:
    """All results of `lead_matrix`, ready to be printed; numbers in the units of the matrix."""

    case: str
    formulation: str
    where: str
    problem_class: str
    theory: str
    size: dict[str, int]
    rank: dict[str, int | None]
    tolerance: dict[str, float | None]
    refused: str
    p_verdict: str
    p_support: str
    classes: dict[str, str]
    redundancy: Redundancy | None
    posed: dict[str, Any]
    rho: dict[str, Any] = field(default_factory=dict)


def lead_matrix(
    case: Case, formulation: Formulation, exact: Formulation, h: float = 1e-3, seconds: float = 10.0,
    start: tuple[Array, Array] | None = None, where: str = "first step",
) -> LeadMatrixReport:  # fmt: skip
    """Diagnose a formulation at a case's first step of h [s]; `exact` is exact Coulomb friction, for the redundancy.

    `start` are other initial coordinates q and velocities v than the case's own; `where` names them.
    """
    deadline = clock() + seconds
    stepper = first_step(case, formulation, h, start=start)
    n_c = stepper.c.plan.lower.size
    n = stepper.c.plan.n_free + n_c
    refused, verdict, support, classes, rho, posed = "", "undecided", "", {}, {}, {}
    of_reduced: Rank | None = None
    try:
        mixed, reduced = lead_matrices(stepper)
        M, q = _exactly(stepper, reduced)
        of_mixed, of_reduced = rank(mixed), rank(reduced)
    except DataError as error:
        refused, of_mixed = str(error), rank(stepper.work.A[:n, :n])
    else:
        found = p_verdict(M, 0.3 * seconds)
        verdict, support = found.verdict, found.proof or found.reason or f"minor of rows {list(found.index_set or ())}"
        if n_c <= LARGEST_CLASSES:
            all_classes = matrix_classes(M, clock() + seconds_left(deadline, 0.5), found)
            classes = {name: entry.verdict for name, entry in all_classes.items()}
        posed = _posed(stepper, M, q, found, deadline)
        if formulation.name == "phantom-inertia":
            rho = _window(first_step(case, formulation, h, start=start), deadline)
    return LeadMatrixReport(
        case.name, formulation.label, where, stepper.c.kind, theory_of(formulation),
        {"mixed": n, "reduced": n_c}, {"mixed": of_mixed.value, "reduced": of_reduced.value if of_reduced else None},
        {"mixed": of_mixed.tolerance, "reduced": of_reduced.tolerance if of_reduced else None}, refused,
        verdict, support, classes, _redundancy(case, exact, h, start), posed, rho,
    )  # fmt: skip


def _exactly(stepper: Stepper, reduced: Array) -> tuple[fmpq_mat, list[fmpq]]:
    """M and q of the problem that a stepper poses, eliminated in rationals up to the largest order that allows it.

    Rounding in the elimination would make the matrix of redundant contacts indefinite.
    """
    free, n = stepper.c.plan.n_free, stepper.c.plan.n_free + len(reduced)
    if n > LARGEST_EXACT:
        return Matrix(reduced).exact, [*map(exact_number, stepper.work.q)]
    return reduced_exactly(stepper.work.A[:n, : n + 1], free)


def _posed(stepper: Stepper, M: fmpq_mat, q: list[fmpq], p: PVerdict, deadline: float) -> dict[str, Any]:
    """Entries of `posed_problem` on the problem that a stepper poses; p is the verdict on its reduced matrix M."""
    problem, free = stepper.problem(), stepper.c.plan.n_free
    n = free + problem.size
    if n > LARGEST_EXACT:
        return {}
    entries: dict[str, Any] = {"distance": distance_entry(problem.M, p, seconds_left(deadline, 0.3))}
    if problem.kind == MixedNCP.kind:
        return entries
    if not isinstance(problem, MLCP):
        friction = RationalFriction(M, q, [*map(exact_number, problem.mu)], problem.d)
        return entries | {"existence": [existence_entry(friction, not problem.associated, seconds_left(deadline, 0.5))]}
    ends, system = np.full(free, np.inf), stepper.work.A[:n, : n + 1]
    mixed = MLCP(system[:, :-1], system[:, -1], np.append(-ends, problem.lower), np.append(ends, problem.upper))
    unique = p.verdict == "P"
    if problem.kind == MLCP.kind:
        A = Matrix(mixed.M).exact
        entries["uniqueness"] = uniqueness_entry(A, mixed.lower, mixed.upper, seconds_left(deadline, 0.5))
        unique = entries["uniqueness"]["verdict"] == "unique"
    near = np.append(np.zeros(free), default_solver(problem.kind).solve(problem).z)
    return entries | {"solutions": solutions_of(mixed, unique, seconds_left(deadline, 0.5), near)}


def _redundancy(case: Case, exact: Formulation, h: float, start: tuple[Array, Array] | None) -> Redundancy | None:
    """Redundancy of one step of exact Coulomb friction; None where that step is not solved."""
    n, _, r, d = case.size
    stepper = first_step(case, exact, h, start=start)
    solution, _, _ = stepper.solve(default_solver("Coulomb NCP"))
    if solution.claimed not in (Status.SOLVED, Status.INACCURATE):
        return None
    v, p_n, p_t, p_b = np.split(stepper.work.out.copy(), [n, n + r, n + r + d * r])
    return redundancy(stepper.core, ContactSolution(v, p_n, p_t, p_b))


def _window(stepper: Stepper, deadline: float) -> dict[str, Any]:
    """rho in use, its singular values, and the upper end of the P-property [kg]."""
    p = pencil(stepper)
    singular = singular_values_of_rho(p)
    rho = {"in_use": p.rho, "singular_values": singular.tolist(), "p_limit": None}
    left = deadline - clock()
    if left > 0 and p_verdict(Matrix(p.reduced(p.rho)).exact, min(1.0, left)).verdict == "P":
        rho["p_limit"] = p_limit(p, 10 * max(singular.max(initial=0.0), p.rho), left)
    return rho


def as_data(r: LeadMatrixReport) -> dict[str, Any]:
    """The report for JSON; infinite ends of ranges are null."""
    d = r.redundancy
    return {
        "case": r.case, "formulation": r.formulation, "where": r.where,
        "problem_class": r.problem_class, "theory": r.theory,
        "size": r.size, "rank": r.rank, "rank_tolerance": r.tolerance, "refused": r.refused or None,
        "p_matrix": {"verdict": r.p_verdict, "support": r.p_support or None}, "classes": r.classes,
        "problem": r.posed or None,
        "rho": r.rho or None,
        "redundancy": d and {
            "dimension": d.dimension, "modes": list(d.modes), "impulses": [
                {"name": name, "value": float(value), "range": [float(x) if np.isfinite(x) else None for x in ends],
                 "determined": bool(known)}
                for name, value, ends, known in zip(d.entries, d.values, d.ranges, d.determined, strict=True)
            ],
        },
    }  # fmt: skip


def text_rows(r: LeadMatrixReport) -> list[tuple[str, str]]:
    """The report as labels and texts."""
    rows = [("formulation", f"{r.formulation} on {r.case}, {r.where}: {r.problem_class}"), ("theory", r.theory)]
    for name in ("mixed", "reduced"):
        found, tolerance = r.rank[name], r.tolerance[name]
        if found is not None:
            rows.append((f"rank, {name}", f"{found} of {r.size[name]} (singular values above {tolerance:.3g})"))
    if r.refused:
        rows.append(("not reducible", r.refused))
    else:
        rows.append(("P-matrix", f"{r.p_verdict}: {r.p_support}"))
    rows += entry_rows(r.posed)
    for verdict, label in (("yes", "is"), ("no", "is not"), ("undecided", "undecided")):
        names = [name.replace("_", " ") for name, found in r.classes.items() if found == verdict]
        if names:
            rows.append((label, ", ".join(names)))
    if r.rho:
        singular = ", ".join(f"{x:.6g}" for x in r.rho["singular_values"])
        window = "not found" if r.rho["p_limit"] is None else f"up to {r.rho['p_limit']:.6g}"
        rows.append(("rho [kg]", f"{r.rho['in_use']:.6g} in use; singular at {singular or 'none'}; P-matrix {window}"))
    d = r.redundancy
    if d is None:
        rows.append(("impulses", "exact Coulomb friction was not solved at this step"))
    elif d.dimension == 0:
        rows.append(("impulses", f"all determined; contacts {', '.join(d.modes)}"))
    else:
        known = [name for name, yes in zip(d.entries, d.determined, strict=True) if yes]
        rows.append(("impulses", f"a set of dimension {d.dimension}; contacts {', '.join(d.modes)}"))
        rows.append(("determined", ", ".join(known) or "none"))
        for name, ends, yes in zip(d.entries, d.ranges, d.determined, strict=True):
            if not yes:
                rows.append((name, f"{ends[0]:.6g} to {ends[1]:.6g} N s"))
    return rows
