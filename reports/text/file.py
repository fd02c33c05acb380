"""What a comparison on a file's problem says: its columns, its facts, and sentences made from its numbers."""

from typing import Any

import numpy as np

from workbench.builtin.reports.text.comparison import ROUND_OFF, Column, cell
from workbench.comparison.files import NOBODY, FileComparison

ERRORS: list[Column] = [
    ("velocity_error", "velocity [%]", "|u − u*| over |q|, u = W p + q, * the exact solution", 100, "{:.3g}"),
    ("formulation_error", "formul. [%]", "the same for the formulation to round-off", 100, "{:.3g}"),
    ("solver_error", "solver [%]", "|u − u°| over |q|, ° the formulation to round-off", 100, "{:.2g}"),
    ("impulse_error", "impulse [%]", "|p − p*| over |p*|, of contacts whose impulses are determined", 100, "{:.3g}"),
    ("impulse_formulation_error", "(formul.) [%]", "the same for the formulation to round-off", 100, "{:.3g}"),
    ("impulse_solver_error", "(solver) [%]", "|p − p°| over |p*| of the same contacts", 100, "{:.2g}"),
    ("friction_rmsd", "friction [%]", "RMS deviation of |p_t|/(μ p_n) over the same contacts", 100, "{:.3g}"),
    ("misalignment_rms", "misalign. [°]", "RMS angle between friction and −u_t, those that slide", 1, "{:.3g}"),
    ("other_mode", "other mode", "contacts open, sliding or sticking where the exact solution is not", 1, "{:.0f}"),
]


JUDGED: list[Column] = [
    ("residual", "residual", "of the problem posed, its own", 1, "{:.0e}"),
    ("signorini", "Signorini", "|min(p_n, ρ u_n)|∞ over the natural map's normaliser", 1, "{:.0e}"),
    ("cone", "cone", "largest (|p_t| − μ p_n)₊, in the file's unit of impulse", 1, "{:.0e}"),
    ("dissipation", "dissipation", "largest |μ p_n |u_t| + p_t·u_t|, in the file's unit of energy", 1, "{:.0e}"),
    ("natural_map", "natural map", "all of the law at once, with ρ = n / tr W", 1, "{:.0e}"),
    ("open", "open", "contacts that separate", 1, "{:.0f}"),
    ("sliding", "sliding", "contacts that slide", 1, "{:.0f}"),
    ("sticking", "sticking", "contacts at rest", 1, "{:.0f}"),
    ("iterations", "iter.", "iterations of the solver, in the last pass", 1, "{:.0f}"),
    ("solve_time", "time [ms]", "of the solver, in the last pass", 1e3, "{:.4g}"),
]


def defined(c: FileComparison, columns: list[Column]) -> list[Column]:
    """Without the columns that are not defined in any row, which `known_in_words` tells of."""
    return [column for column in columns if c.runs[column[0]].notna().any()]


def facts_in_words(c: FileComparison) -> str:
    """The problem in a sentence."""
    f = c.facts
    friction = f"{f['mu_min']:g}" if f["mu_min"] == f["mu_max"] else f"{f['mu_min']:g} to {f['mu_max']:g}"
    symmetric = "symmetric" if f["symmetric"] else f"relative asymmetry {f['asymmetry']:.1e}"
    return (
        f"{f['contacts']} contact{'s' if f['contacts'] > 1 else ''} in {'space' if c.d == 2 else 'the plane'}, "
        f"W {f['size']} × {f['size']} of rank {f['rank']}, {symmetric}, condition {f['condition'] or np.nan:.3g} on "
        f"its range, μ {friction}"
    )


def known_in_words(c: FileComparison) -> list[str]:
    """What is known of the exact solution, in sentences."""
    k, contacts = c.known, c.facts["contacts"]
    modes = ", ".join(f"{k[mode]} {mode}" for mode in ("open", "sliding", "sticking"))
    sentences = []
    if k["moved"] is not None:
        sentences.append(
            "This is the symmetric part (W + Wᵀ)/2 of the file's W; taking it moves the exact velocity by "
            f"{k['moved']:.1e} |q|."
        )
    elif not c.facts["symmetric"]:
        sentences.append(
            "W is not symmetric, and most formulations are stated over bodies, whose W is: --symmetric-part compares "
            "them on (W + Wᵀ)/2."
        )
    sentences += [f"Exact Coulomb friction (natural map {k['residual']:.0e}): {modes}."]
    if k["null_space"] == 0:
        sentences.append("Impulses: W has full rank, so the velocity determines all of them, under every formulation.")
    else:
        only = f"only the {k['comparable']} others" if k["comparable"] else "none"
        exact = (
            f"the exact ones with this velocity and these modes form a set of dimension {k['dimension']}"
            if k["dimension"] else "the exact ones are determined by the velocity and the modes"
        )  # fmt: skip
        sentences.append(
            f"Impulses: W is singular (null space of dimension {k['null_space']}), so the velocity leaves those of "
            f"{contacts - k['comparable']} of {contacts} contacts open; {exact}. Velocities are compared; of impulses "
            f"{only}."
        )
    return [
        *sentences,
        f"Velocity: {k['velocity']}{' to be the only one' * (k['velocity'] == 'not known')}; {k['reason']}.",
    ]


def summary(c: FileComparison) -> list[str]:
    """What the numbers say, in sentences made from the numbers."""
    rows = c.runs.to_dict("records")
    failed = [
        r["label"] if r["solver"] == NOBODY else f"{r['label']} by {r['solver']}" for r in rows if not r["verified"]
    ]
    counted = f"{len(rows) - len(failed)} of {len(rows)} rows are verified by the posed problem's own residual."
    sentences = [counted + (f" Not so: {', '.join(failed)}." if failed else "")]
    sure = c.runs[c.runs["verified"] & (c.runs["formulation"] != "coulomb")].dropna(subset=["formulation_error"])
    ranked = sure.drop_duplicates("label").sort_values("formulation_error").to_dict("records")
    if len(ranked) > 1 and ranked[-1]["formulation_error"] >= ROUND_OFF:
        closest, farthest = (_together(ranked, at) for at in (0, -1))
        sentences.append(f"The velocity closest to Coulomb's is that of {closest}, the farthest that of {farthest}.")
        agreed = [r["label"] for r in ranked if r["other_mode"] == 0]
        sentences.append(
            f"Every contact opens, slides or sticks as in the exact solution under {', '.join(agreed)}." if agreed
            else "No other formulation has every contact open, slide or stick as in the exact solution."
        )  # fmt: skip
    return sentences


def _together(ranked: list[dict[Any, Any]], at: int) -> str:
    """The formulations that share the place `at`, to three digits, and their error."""
    errors = [cell(r["formulation_error"], 100, "{:.3g}") for r in ranked]
    same = [r["label"] for r, error in zip(ranked, errors, strict=True) if error == errors[at]]
    return f"{', '.join(same)} ({errors[at]} %)"
