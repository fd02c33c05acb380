"""Planted bugs: 80 mistakes that a competent person could make, one at a time, to see whether a test notices.

None of them crashes: a sign, a unit, a tolerance of the wrong quantity, a claim that is not checked. Each is planted in
a copy of the tree (`tests.mutants`), where the tests that are likely to notice run, none of them thorough. A failing
test catches the bug if it passes without it.

    python -m tests.planted                  # all of them
    python -m tests.planted events readers   # those whose files' paths hold one of these words

A bug takes some seconds, or up to a minute where kernels are compiled anew.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants import ROOT, Bench, Mutant, import_others

LIMIT = 300.0
"""Seconds after which the tests of a bug are ended, which counts as not caught: the machine may just be busy."""


@dataclass(frozen=True)
class Bug:
    """A text that stands once in a file, what to put in its place, what then is wrong, and files of tests."""

    path: str
    text: str
    replacement: str
    wrong: str
    tests: tuple[str, ...]

    @property
    def mutant(self) -> Mutant:
        """The file with the bug; raises SystemExit unless the text stands there exactly once."""
        whole = (ROOT / self.path).read_text("utf-8")
        if whole.count(self.text) != 1:
            raise SystemExit(f"{self.path}: '{self.text}' stands there {whole.count(self.text)} times, once is needed")
        line = whole[: whole.index(self.text)].count("\n") + 1
        changed = whole.replace(self.text, self.replacement)
        return Mutant(self.path, line, "", self.text, self.replacement, changed)


BUGS = (
    Bug(
        "formulations/anitescu_potra.py",
        "bounce[i] = core.mu[i] * core.e[i] * p_n[i]",
        "bounce[i] = core.mu[i] * (1.0 + core.e[i]) * p_n[i]",
        "in decompression friction may also use what compression pressed, and has used already",
        ("test_restitution.py",),
    ),
    Bug(
        "cases/v_groove.py",
        "0.5 * self.R**2 * v[..., 2] ** 2",
        "self.R**2 * v[..., 2] ** 2",
        "the rotational energy of a disc is that of a hoop",
        ("test_field_cases.py", "test_case_registry.py", "test_cases.py", "test_loupe.py"),
    ),
    Bug(
        "workbench/mechanics/bodies.py",
        "turned(q, k, np.asarray(I) * omega)",
        "np.asarray(I) * turned(q, k, omega)",
        "principal moments of inertia along the axes of the world: the angular momentum of a turned body",
        ("test_bodies.py", "test_stack_cases.py", "test_notes.py", "test_cube.py"),
    ),
    Bug(
        "workbench/language/assemble/local.py",
        "across = (row[own] == 0) != (column[own] == block.m)",
        "across = (row[own] == 0) & (column[own] != block.m)",
        "friction that depends on p_n by a datum is taken for a disc whose rows are its own",
        ("test_mixed_sets.py", "test_local.py", "test_other_laws.py"),
    ),
    Bug(
        "workbench/language/mobility.py",
        "np.sqrt(squares) / np.sqrt(block.shape[0])",
        "np.sqrt(squares) / block.shape[0]",
        "a contact's mean mobility is divided by (1 + d)^2: compliances and regularisation are too small",
        ("test_engine_formulations.py", "test_formulations.py"),
    ),
    Bug(
        "workbench/algorithms/in_turn.py",
        "iterations += found.iterations",
        "iterations = found.iterations",
        "the cost of a sequence of solvers is that of the last one",
        ("test_sphere_sweeps.py", "test_first_order.py", "test_taking_over.py", "test_operators.py"),
    ),
    Bug(
        "workbench/problems/inertia.py",
        "np.concatenate([self.scale * f, -self.unit * b])",
        "np.concatenate([self.scale * f, self.unit * b])",
        "the prescribed rates b of bilateral constraints have the wrong sign: G^T v = b",
        ("test_global_problem.py", "test_operators.py", "test_bridges.py"),
    ),
    Bug(
        "workbench/problems/bridges/bounds.py",
        "np.maximum(-w[boxes], 0.0)",
        "np.maximum(w[boxes], 0.0)",
        "the multiplier of an upper bound is taken at the lower one: a solution is carried to a point that is none",
        ("test_bridges.py", "test_operators.py"),
    ),
    Bug(
        "workbench/problems/residual.py",
        "unit[k] * q[i], lower[i], upper[i]",
        "q[i], lower[i], upper[i]",
        "under an ellipse of friction coefficients free velocities are not scaled as the matrix is",
        ("test_mixed_sets.py", "test_other_laws.py", "test_residuals.py"),
    ),
    Bug(
        "workbench/problems/global_problem.py",
        "return self.H.T @ v, abs(self.H.T) @ abs(v)",
        "return self.H.T @ v, abs(self.H.T @ v)",
        "the round-off of W p is measured by its value instead of its terms, which may cancel",
        ("test_operators.py", "test_global_problem.py", "test_bridges.py"),
    ),
    Bug(
        "workbench/mechanics/core.py",
        "return speed <= core.v_th**2",
        "return speed <= core.v_th",
        "static friction acts up to a squared speed of v_th: bodies that slide at 3 cm/s stick",
        ("test_stepping.py", "test_field_cases.py", "test_other_laws.py", "test_local_steps.py"),
    ),
    Bug(
        "workbench/scenes/blocks.py",
        "frame[i, 0] * x - frame[i, 1] * y, frame[i, 1] * x + frame[i, 0] * y",
        "frame[i, 0] * x + frame[i, 1] * y, frame[i, 0] * y - frame[i, 1] * x",
        "friction in a scene is turned back from the axes in use by the wrong angle, minus theirs",
        ("test_scene_stepper.py", "test_agreement.py", "test_jammed.py"),
    ),
    Bug(
        "workbench/scenes/mujoco/rows.py",
        "found = file.geom_margin[a] + file.geom_margin[b]",
        "found = max(file.geom_margin[a], file.geom_margin[b])",
        "the margin of a contact is the larger one of two geoms' instead of their sum: its gap is too large",
        ("test_mujoco_scene.py", "test_mujoco.py", "test_mujoco_files.py"),
    ),
    Bug(
        "workbench/scenes/grains/neighbours.py",
        "for up in range(level[i], side.shape[0]):",
        "for up in range(level[i], min(level[i] + 2, side.shape[0])):",
        "grains of which one is more than four times as large as the other are no neighbours",
        ("test_grains.py", "test_grain_measures.py"),
    ),
    Bug(
        "workbench/step/sliding/law.py",
        "return max(self.dynamics, self.bilateral, self.complementarity)",
        "return max(self.dynamics, self.complementarity)",
        "the judge of sliding contacts does not look at bilateral rows",
        ("test_sliding.py", "test_painleve.py", "test_rods.py"),
    ),
    Bug(
        "workbench/events/impact.py",
        "u_n + x.e[on] * np.minimum(0.0, u_n)",
        "u_n + x.e[on] * u_n",
        "at an impact restitution acts on contacts that recede, too",
        ("test_events.py", "test_published_events.py", "test_stack_cases.py", "test_follow.py"),
    ),
    Bug(
        "workbench/derivatives/batch.py",
        "            due.v[j] += restored * core.J_n[i, j]\n",
        "",
        "the gradient by the velocity misses the approach speed that restitution gives back",
        ("test_layers.py", "test_impact_gradients.py"),
    ),
    Bug(
        "workbench/diagnostics/redundancy.py",
        "normal - mu[i] * (u_t[i] / max(slip[i], 1e-300)) @ tangents",
        "normal + mu[i] * (u_t[i] / max(slip[i], 1e-300)) @ tangents",
        "friction of a sliding contact points along the slip: which impulses are unique comes out wrong",
        ("test_redundancy.py", "test_redundant_contacts.py", "test_field_cases.py"),
    ),
    Bug(
        "workbench/judge/laws.py",
        "Discs(parts, None if law.limit is None else law.limit * h)",
        "Discs(parts, None if law.limit is None else law.limit)",
        "a friction force bounds impulses: the unit is missing the step",
        ("test_judged_laws.py", "test_other_laws.py"),
    ),
    Bug(
        "workbench/matrices/intervals/definite_member.py",
        "box.radius[i, j] * min(max(share, -one), one)",
        "box.radius[i, j] * share",
        "the positive definite member that is found may lie outside the box",
        ("test_box_certificates.py", "test_box_classes.py", "test_box_check.py"),
    ),
    Bug(
        "workbench/matrices/classes/sufficiency.py",
        "if d > 0 and a * d < p * q:",
        "if d > 0 and a * d <= p * q:",
        "a matrix whose determinant of order two is zero counts as one that is negative: not sufficient",
        ("test_matrix_classes.py", "test_structure.py", "test_stress.py"),
    ),
    Bug(
        "workbench/matrices/distances/error_bound.py",
        "bounds.append(_norm(shift) + distance.beta_2.upper * _norm(moved))",
        "bounds.append(distance.beta_2.upper * _norm(moved))",
        "the proved bound of an error leaves out the distance to the neighbouring point: it is too small",
        ("test_distance.py", "test_p_matrix.py"),
    ),
    Bug(
        "workbench/matrices/p_property/bounded.py",
        "(exact(upper[i]) - exact(lower[i])) / abs(x[i]) for i in both",
        "exact(upper[i]) - exact(lower[i]) for i in both",
        "one of the two solutions that refute uniqueness lies outside the box",
        ("test_bounded.py", "test_check.py"),
    ),
    Bug(
        "workbench/matrices/solutions/friction_cones.py",
        "if u_n < 0 or u_n * r_n != 0 or power > 0 or",
        "if u_n < 0 or u_n * r_n != 0 or",
        "friction along the slip, which drives, counts as a solution of Coulomb's law",
        ("test_existence.py", "test_coulomb_solutions.py"),
    ),
    Bug(
        "workbench/matrices/paths/roots.py",
        "return lo, hi if math.isinf(hi) or fmpq(*hi.as_integer_ratio()) >= self.hi else math.nextafter(hi, math.inf)",
        "return lo, hi",
        "the upper end of a bracket is rounded to nearest: half of them do not enclose their root",
        ("test_path.py", "test_vary.py", "test_painleve.py"),
    ),
    Bug(
        "workbench/problems/rank.py",
        "gap = float(sigma[r - 1] / sigma[r]) if sigma[r] > 0",
        "gap = float(sigma[0] / sigma[r]) if sigma[r] > 0",
        "how clear a numerical rank is comes out too high: the gap is measured from the largest singular value",
        ("test_check.py", "test_contact_data.py", "test_phantom.py"),
    ),
    Bug(
        "workbench/certificates/boxes.py",
        "times([[abs(v) for v in row] for row in R], times(D, x))",
        "times(R, times(D, x))",
        "a part of a box is accepted as regular by an inverse whose entries cancel",
        ("test_box_rank.py", "test_box_certificates.py", "test_forger.py"),
    ),
    Bug(
        "workbench/comparison/decision.py",
        'least = min(ratio, other.row["cost_low"] / self.row["cost_low"])',
        "least = ratio",
        "a formulation counts as cheaper though the quickest runs of both tie: the machine was busy",
        ("test_decision.py", "test_pages.py"),
    ),
    Bug(
        "workbench/comparison/metrics/balance.py",
        "float((left[size > 0] / size[size > 0]).max(initial=0.0))",
        "float((left[size > 0] / size[size > 0]).mean())",
        "the largest imbalance of momentum is a mean: one step that invents momentum hides among many",
        ("test_measured_numbers.py", "test_comparison.py"),
    ),
    Bug(
        "workbench/studies/convergence.py",
        "freedom = n - points - 1",
        "freedom = n - 2",
        "confidence intervals of an order are too narrow: the constant of every point is fitted, too",
        ("test_convergence.py", "test_study_tables.py", "test_orders.py"),
    ),
    Bug(
        "workbench/exams/recorded/folder.py",
        "states[:, 7:10] = about.length * _in_space(velocity)",
        "states[:, 7:10] = _in_space(velocity)",
        "recorded velocities in millimetres a second are read as metres a second",
        ("test_recordings.py", "test_reality.py"),
    ),
    Bug(
        "workbench/exams/trial.py",
        "mass * side * side / 3.0 for side in half",
        "mass * side * side / 12.0 for side in half",
        "a cuboid's inertia is that of whole edges, but half edges are given: a quarter",
        ("test_exam.py", "test_exam_run.py"),
    ),
    Bug(
        "workbench/readers/fclib.py",
        "return W - V @ X[:, :-1], q - V @ X[:, -1]",
        "return W - V @ X[:, :-1], q + V @ X[:, -1]",
        "the free velocity of bilateral rows has the wrong sign where they are eliminated",
        ("test_fclib_reader.py", "test_problem_files.py"),
    ),
    Bug(
        "reports/figures/grains.py",
        "* [1, -1] * SIDE",
        "* [1, 1] * SIDE",
        "the vertical of a picture points down: grains are drawn upside down",
        ("test_shown_numbers.py", "test_flow_figures.py"),
    ),
    Bug(
        "reports/pages/study.py",
        'SHOWN[c.shown][0] * x for c in errors),',
        "x for c in errors),",
        "a bound in percent or millimetres is compared with shares or metres: every variant is below it",
        ("test_shown_numbers.py", "test_study_tables.py"),
    ),
    Bug(
        "reports/text/decision.py",
        "doubts.append(\"Coulomb's law itself has several solutions here\")",
        "parts.append(\"Coulomb's law itself has several solutions here\")",
        "confidence is called high where Coulomb's law itself has several solutions",
        ("test_decision.py", "test_pages.py"),
    ),
    Bug(
        "reports/reproductions/claims.py",
        "truth.name, truth.theory, truth.computed, truth.unit",
        "truth.name, truth.computed, truth.theory, truth.unit",
        "what theory expects and what was computed are interchanged in a check of a reproduction",
        ("test_claims.py", "test_reproduce.py"),
    ),
    Bug(
        "workbench/cli/reality.py",
        '_bounds(o.e, "--e")',
        '_bounds(o.mu, "--e")',
        "the restitution is searched for in the range of the friction coefficient",
        ("test_reality.py", "test_cli.py"),
    ),
    Bug(
        "workbench/verbs/verdict.py",
        "found.normaliser, found.normaliser / found.rho)",
        "found.normaliser / found.rho, found.normaliser)",
        "impulses are compared with the scale of velocities, and velocities with that of impulses",
        ("test_judge_command.py", "test_judge_log.py"),
    ),
    Bug(
        "workbench/engine/double_double.py",
        "((a_high * b_high - p) + a_high * b_rest + a_rest * b_high) + a_rest * b_rest",
        "(a_high * b_high - p) + a_high * b_rest + a_rest * b_high",
        "the error of a product leaves out the low halves: 24 digits instead of 32",
        ("test_lemke.py", "test_redundant_contacts.py"),
    ),
)  # fmt: skip


SECOND = (
    Bug(
        "formulations/sap.py",
        "core.b_n[i] = core.r_n[i] + core.phi[i] / (core.h + tau_d)",
        "core.b_n[i] = core.r_n[i] + core.phi[i] / core.h",
        "the gap is over the step instead of the time h + tau_d of spring and damper",
        ("test_engine_formulations.py", "test_formulations.py"),
    ),
    Bug(
        "workbench/mechanics/relaxation.py",
        "rigid = 1.0 / h if core.law == GAP else 0.0",
        "rigid = 1.0 / h",
        "a relaxed row loses a gap term that only the gap law has put there",
        ("test_relaxation.py", "test_stepping.py"),
    ),
    Bug(
        "workbench/derivatives/fitting.py",
        "place.size / spare if spare else np.nan",
        "place.size / r.size if spare else np.nan",
        "the scatter is over all measurements instead of those beyond the parameters: errors are too small",
        ("test_fit.py",),
    ),
    Bug(
        "workbench/studies/study.py",
        "            begun |= missing\n",
        "",
        "a run that several points of a study share is made, and its rows written, once for each",
        ("test_studies.py",),
    ),
    Bug(
        "workbench/comparison/motion.py",
        "q, steps = run.states_q[ends], ends[1:] - 1",
        "q, steps = run.states_q[ends], ends[:-1]",
        "forces and slips are those of the step that begins at the moment, not of the one that ends",
        ("test_motion.py", "test_comparison.py"),
    ),
    Bug(
        "workbench/events/balls.py",
        "(self.b - quotient * other.b) / other.a",
        "(self.b + quotient * other.b) / other.a",
        "the derivative of a quotient has the sign of a product's",
        ("test_enclosure.py",),
    ),
    Bug(
        "workbench/exams/recorded/noise.py",
        "np.square(spin).mean() / 3.0",
        "np.square(spin).mean()",
        "the error about three axes is given as that about each",
        ("test_reality.py",),
    ),
    Bug(
        "workbench/scenes/grains/measures.py",
        "(wanted - count[k - 1]) / (count[k] - count[k - 1])",
        "(count[k] - wanted) / (count[k] - count[k - 1])",
        "interpolation runs backwards: the time of passing is mirrored between two moments",
        ("test_measured_numbers.py",),
    ),
    Bug(
        "workbench/comparison/metrics/rebound.py",
        "return _given_back(m, m.run) - _given_back(m, m.reference)",
        "return _given_back(m, m.reference) - _given_back(m, m.run)",
        "a lost rebound is positive and an invented one negative",
        ("test_measured_numbers.py", "test_restitution.py"),
    ),
    Bug(
        "workbench/comparison/metrics/creep.py",
        "return 1e6 * max(creeping, default=np.nan)",
        "return 1e3 * max(creeping, default=np.nan)",
        "a speed in micrometres a second is that in millimetres",
        ("test_measured_numbers.py",),
    ),
    Bug(
        "workbench/exams/record.py",
        'np.einsum("kbji,kbj->kbi"',
        'np.einsum("kbij,kbj->kbi"',
        "velocities are turned from body to world instead of from world to body: the energy of a turned body",
        ("test_exam.py",),
    ),
    Bug(
        "workbench/studies/refinement.py",
        "int(np.floor(self.end / h + 1e-6))",
        "int(np.floor(self.end / h + 1e-6)) + 1",
        "the window of an error holds a step beyond its phase",
        ("test_orders.py",),
    ),
    Bug(
        "workbench/exams/recorded/findings.py",
        "[2.5, 97.5])\n    return float(low)",
        "[25.0, 75.0])\n    return float(low)",
        "an interval that is called that of 95 % holds half",
        ("test_findings.py", "test_identified.py"),
    ),
    Bug(
        "workbench/matrices/solutions/planar_solutions.py",
        "sense = {FORTH: 1, BACK: -1, FRICTIONLESS: 0}[mode]",
        "sense = {FORTH: -1, BACK: 1, FRICTIONLESS: 0}[mode]",
        "friction of a contact that slips forth pushes it on",
        ("test_coulomb_solutions.py", "test_existence.py"),
    ),
    Bug(
        "reports/figures/sensitivity.py",
        '"value": value - rise, "top": value + rise',
        '"value": value + rise, "top": value - rise',
        "tangents have the slope of minus the derivative",
        ("test_shown_numbers.py",),
    ),
    Bug(
        "workbench/cli/fit.py",
        "to=o.to, step=step,",
        "to=o.to,",
        "the step that is asked for is not the one that is taken",
        ("test_fit.py",),
    ),
    Bug(
        "workbench/comparison/metrics/rest.py",
        'm.run.h * (m.steps[0] + begun) if begun else np.nan\n\n\n@metric(\n    "rest-place"',
        'm.run.h * begun if begun else np.nan\n\n\n@metric(\n    "rest-place"',
        "the time of rest is counted from the window's start instead of the motion's",
        ("test_measured_numbers.py",),
    ),
    Bug(
        "workbench/step/loops.py",
        "    copy(starts.memory[b], track.memory)\n",
        "",
        "runs that continue from another begin without the memory of the step before",
        ("test_onward.py",),
    ),
    Bug(
        "workbench/readers/matrix_market.py",
        "first = {None: 0, 1: 0, -1: 1}[sign]",
        "first = {None: 0, 1: 0, -1: 0}[sign]",
        "a skew-symmetric array is read with its diagonal, which its files leave out",
        ("test_problem_reader.py",),
    ),
    Bug(
        "workbench/scenes/mujoco/controls.py",
        "            table = table[:, order]\n",
        "",
        "columns of controls are taken in the file's order, whatever their names",
        ("test_mujoco_files.py",),
    ),
)  # fmt: skip
"""A second sample, planted when the first were all caught: what the tests do on bugs they were not written for."""


THIRD = (
    Bug(
        "workbench/comparison/nearest.py",
        "D = equilibration(S)",
        "D = np.ones(len(S))",
        "the nearest matrix is that in the unscaled norm: rows of light contacts change most",
        ("test_nearest.py",),
    ),
    Bug(
        "workbench/comparison/metrics/gaps.py",
        "np.maximum(m.reference.record.phi[m.starts(m.reference)], 0.0)",
        "m.reference.record.phi[m.starts(m.reference)]",
        "a penetration of the reference counts as lift of a run that does not penetrate",
        ("test_measured_numbers.py",),
    ),
    Bug(
        "workbench/comparison/scenes/discharge.py",
        "stdtrit(n - 2, 0.5 * (1 + SURE))",
        "stdtrit(n - 2, SURE)",
        "an interval of 95 % holds 90 %: the quantile is that of one side",
        ("test_discharge.py",),
    ),
    Bug(
        "workbench/comparison/scenes/horizon.py",
        "    return np.maximum.accumulate(apart)",
        "    return apart",
        "the reference is compared with the runs' present difference instead of the largest so far",
        ("test_horizon.py",),
    ),
    Bug(
        "workbench/comparison/merging.py",
        'newer = (other.provenance["created"], j) > (s.provenance["created"], i)',
        'newer = (other.provenance["created"], j) < (s.provenance["created"], i)',
        "of a run in two comparisons the older one is kept",
        ("test_file_comparison.py",),
    ),
    Bug(
        "workbench/exams/experiments/spin.py",
        "float(abs(record.speed(0.5)[5]))",
        "float(abs(record.speed(0.5)[4]))",
        "the spin that is left is measured about a horizontal axis, about which nothing ever turns",
        ("test_measured_numbers.py",),
    ),
    Bug(
        "workbench/exams/recorded/phases.py",
        "change + np.array([0.0, 0.0, body.gravity])",
        "change - np.array([0.0, 0.0, body.gravity])",
        "contact forces miss twice the weight: gentle impacts count as sliding",
        ("test_reality.py",),
    ),
    Bug(
        "workbench/matrices/solutions/impulse_bound.py",
        "(arb(dot(x, moved)) / 4)",
        "(arb(dot(x, moved)) / 8)",
        "the bound of all impulses is half as large: solutions lie beyond it",
        ("test_coulomb_solutions.py", "test_existence.py"),
    ),
    Bug(
        "workbench/matrices/intervals/symmetric_lcp.py",
        "return -first[1], -first[0]",
        "return first",
        "the derivative of z by q has the wrong sign: optima are sought at the wrong end",
        ("test_uncertain_mlcp.py",),
    ),
    Bug(
        "workbench/problems/bridges/generators.py",
        "0.5 * (second + off), 0.5 * (second - off)",
        "0.5 * (second - off), 0.5 * (second + off)",
        "an initial guess is carried over with its friction reversed",
        ("test_bridges.py", "test_tuning.py"),
    ),
    Bug(
        "workbench/problems/friction_problem.py",
        "        if abs(self.M - self.M.T).max() == 0:\n            W = 0.5 * (W + W.T)\n",
        "        W = 0.5 * (W + W.T)\n",
        "a mass matrix that is not symmetric leads to the W of another one",
        ("test_global_problem.py", "test_problem_files.py", "test_siconos_reader.py"),
    ),
    Bug(
        "workbench/scenes/mujoco/forces.py",
        "2 * self.poly[:, 0] * np.abs(v)",
        "self.poly[:, 0] * np.abs(v)",
        "the derivative of b v |v| is taken for b |v|",
        ("test_mujoco_scene.py", "test_mujoco.py", "test_mujoco_files.py"),
    ),
    Bug(
        "workbench/scenes/grains/walls.py",
        "hole = 0.5 * self.opening if",
        "hole = self.opening if",
        "the diameter of an opening is taken for its radius",
        ("test_grains.py", "test_grain_measures.py"),
    ),
    Bug(
        "workbench/scenes/jammed.py",
        "np.clip(s.phi / s.h, -recovery, None)",
        "s.phi / s.h",
        "overlaps are to be undone in one step instead of at the speed of recovery",
        ("test_jammed.py",),
    ),
    Bug(
        "workbench/studies/design.py",
        "r.at(shares[:, i])",
        "r.at(shares[:, 0])",
        "quantities of a sample vary together: its points lie on the diagonal of their ranges",
        ("test_design.py",),
    ),
    Bug(
        "workbench/algorithms/tuning.py",
        "solver.adjusted(share * self.tolerance, self.max_iterations)",
        "solver.adjusted(share * self.tolerance, None)",
        "a solver that misses the tolerance iterates beyond the limit that was given",
        ("test_tuning.py",),
    ),
    Bug(
        "workbench/judge/contacts.py",
        "mu * np.maximum(p_n, 0.0)",
        "mu * np.abs(p_n)",
        "friction of a contact that pulls is held within the cone of one that presses as much",
        ("test_judge.py", "test_judge_command.py"),
    ),
    Bug(
        "reports/text/sensitivity.py",
        "/ size)[known].max())",
        "/ size)[known].min())",
        "the check by difference quotients tells the smallest difference as the largest",
        ("test_shown_numbers.py",),
    ),
    Bug(
        "reports/figures/ranking.py",
        "share = factor * shared_up_to(d.own, d.known)",
        "share = shared_up_to(d.own, d.known)",
        "the band of the reference's error is in metres on an axis of millimetres",
        ("test_pages.py",),
    ),
    Bug(
        "workbench/cli/convergence.py",
        '"schemes": o.scheme,',
        '"schemes": None,',
        "the schemes that are asked for are not those that are taken",
        ("test_orders.py",),
    ),
)  # fmt: skip
"""A third sample, planted when both were all caught."""


def tested(bench: Bench, tests: Sequence[str], mutant: Mutant | None) -> tuple[str, str]:
    """How tests ended (`Bench.ended`), of a bug or of the code as it is, and the first that failed."""
    bench.begin(mutant.path if mutant else "", tests, mutant, marked="not thorough")
    while not (how := bench.ended(LIMIT)):
        time.sleep(0.02)
    failed = re.search(r"^(?:FAILED|ERROR) (tests/\S+?(?:\[.*?\])?)(?: - |$)", bench.said, re.MULTILINE)
    return how, failed[1] if failed else ""


def caught_by(bench: Bench, bug: Bug) -> str:
    """The test that catches a bug; empty where none does. Raises SystemExit where it fails without the bug, too."""
    how, test = tested(bench, [f"tests/{name}" for name in bug.tests], bug.mutant)
    if how != "failed":
        return ""
    if not test or tested(bench, [test], None)[0] != "passed":
        raise SystemExit(f"{bug.path}: {test or 'the tests'} fail without the bug, too\n{bench.said}")
    return test


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("words", nargs="*", metavar="WORD", help="parts of paths; default: all bugs")
    given = words.parse_args()
    bugs = [bug for bug in BUGS + SECOND + THIRD if not given.words or any(word in bug.path for word in given.words)]
    mutants = {bug: bug.mutant for bug in bugs}
    import_others()
    count = 0
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        bench = Bench(Path(folder).resolve() / "tree")
        for bug in bugs:
            begun = time.monotonic()
            test = caught_by(bench, bug)
            count += bool(test)
            how = f"caught by {test}" if test else "NOT CAUGHT"
            print(f"{how}, {time.monotonic() - begun:.0f} s", flush=True)
            print(f"    {bug.path}:{mutants[bug].line}: {bug.wrong}", flush=True)
    print(f"\n{count} of {len(bugs)} bugs are caught")
    sys.exit(count < len(bugs))


if __name__ == "__main__":
    # One processor; thread pools of libraries would not survive a fork.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "WORKBENCH_DATA": "nowhere"}
    main()
