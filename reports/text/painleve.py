"""Results of `painleve` as data for programs, as text for a terminal, and in sentences."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.builtin.reports.text import contacts
from workbench.builtin.reports.text.check import enclosure_text, in_lines
from workbench.diagnostics.critical_friction import CriticalFriction
from workbench.diagnostics.painleve import ALL, Loss, Painleve
from workbench.diagnostics.painleve_contacts import Alternatives
from workbench.diagnostics.painleve_map import NAMES, RegimeMap
from workbench.diagnostics.proposition import Inequalities
from workbench.diagnostics.sliding_regime import IsolatedSolution, Regime
from workbench.matrices.paths.roots import Root
from workbench.mechanics.case import Case

REGIME_WORDS = {
    "sliding": "Sliding: {sets} the law of sliding; all contacts stay closed.",
    "lift-off": "Lift-off: {sets} the law of sliding; {opening}.",
    "indeterminate": "Indeterminate: {sets} the law of sliding.",
    "inconsistent": "Inconsistent, Painlevé's paradox: no contact forces satisfy the law of sliding, and only an "
    "impulse can continue the motion. Time stepping, whose unknowns are impulses, takes an impact without collision.",
}


def as_data(
    p: Painleve | None, a: Alternatives, case: Case, given: Mapping[str, Any], regimes: RegimeMap | None = None
) -> dict[str, Any]:
    """JSON-ready; infinity is the string "inf"."""
    return plain({
        "case": case.name,
        "given": {key: str(value) for key, value in given.items()},
        "velocities": {name: unit for name, (unit, _) in named_velocities(case)},
        "in_words": in_words(p, a, regimes),
        "alternatives": contacts.as_data(a),
        "map": None if regimes is None else _map(regimes),
        **({} if p is None else _sliding(p)),
    })  # fmt: skip


def _sliding(p: Painleve) -> dict[str, Any]:
    """Return the findings on sliding contacts."""
    r, v = p.regime, p.verdict
    return {
        "contacts": {"bilateral": p.system.m_b, "unilateral": p.system.m_u},
        "regime": {
            "name": r.name, "kind": r.kind, "opening": r.opening, "as_given": r.as_given, "rational_data": r.exact,
            "tolerance": r.tolerance or None, "reason": r.reason or None, "answers": [_answer(a) for a in r.answers],
            "continua": [vars(c) for c in r.continua],
        },
        "p_matrix": {
            "verdict": p.property_p, "reason": p.open or None, "as_given": None if v is None else v.verdict,
            "proof": v and v.proof, "index_set": v and v.index_set, "minor": v and v.minor,
            "sign_reversal": v and v.sign_reversal,
        },
        "distance_to_non_p": None if p.distance is None else p.distance.entry(),
        "proposition_1": None if p.proposition is None else {
            "independent": p.proposition.independent,
            "plain": _bounds(p.proposition.plain), "balanced": _bounds(p.proposition.balanced),
        },
        "critical_friction": [_loss(x) for x in p.losses],
    }  # fmt: skip


def plain(x: Any) -> Any:
    """Nested data in types that JSON has."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [plain(value) for value in x]
    if isinstance(x, np.ndarray | np.generic):
        return x.tolist() if x.dtype.kind in "bi" else plain(x.tolist())
    if isinstance(x, float) and not math.isfinite(x):
        return "inf" if x > 0 else None
    return x


def _answer(a: IsolatedSolution) -> dict[str, Any]:
    # Exact multipliers of doubles have hundreds of digits and say no more than the doubles.
    short = a.exact if max(map(len, a.exact)) <= 40 else None
    return {**a.multipliers._asdict(), "exact": short, "acceleration": a.acceleration, "opening": a.opening}


def _bounds(b: Inequalities | None) -> dict[str, Any] | None:
    return None if b is None else vars(b)


def _loss(x: Loss) -> dict[str, Any]:
    c = x.critical
    intervals = None if c.intervals is None else [[_end(lo), _end(hi)] for lo, hi in c.intervals]
    return {
        "of": x.name, "now": x.now, "mu_c": c.value, "lo": c.lo, "hi": c.hi, "exact": short(c.exact),
        "method": c.method, "lost_on": c.lost_on, "p_intervals": intervals, "proposition_1_plain": x.plain,
        "proposition_1_balanced": x.balanced, "ratio": x.ratio,
    }  # fmt: skip


def _end(root: Root | None) -> dict[str, Any] | str:
    if root is None:
        return "inf"
    return {"lo": root.bracket[0], "hi": root.bracket[1], "exact": short(root.exact)}


def short(text: str | None) -> str | None:
    """A rational short enough to be read, else None."""
    return text if text is not None and len(text) <= 24 else None


def _map(m: RegimeMap) -> dict[str, Any]:
    return {
        "x": {"name": m.x.name, "values": m.x.values}, "y": {"name": m.y.name, "values": m.y.values},
        "shares": m.shares(), "friction_axis": m.friction,
        "critical": None if m.critical is None else [None if np.isnan(c) else c for c in m.critical],
        "regained": m.regained, "regimes": NAMES, **vars(m.cells),
    }  # fmt: skip


def in_words(p: Painleve | None, a: Alternatives, regimes: RegimeMap | None = None) -> list[str]:
    """Sentences made from the findings."""
    sentences = ([] if p is None else _sliding_words(p)) + contacts.in_words(a)
    if p is None:
        sentences.append(
            "The law of sliding has no direction here; give the one in which slip begins (--slip ANGLE), velocities "
            "(--set v=...), or a moment of the run (--at T)."
        )
    return [*sentences, _map_words(regimes)] if regimes is not None else sentences


def well_posed(p: Painleve) -> str:
    """Return in a sentence whether sliding friction is well posed, at the state and for all loads."""
    kind = p.regime.kind
    if kind == "undecided":
        return "Undecided at this state."
    if kind != "unique":
        return f"No: at this state it has {described(kind)}."
    every = {"P": " and for all loads", "undecided": "; for all loads that is undecided"}
    return f"Yes, at this state{every.get(p.property_p, '; for some other loads not')}."


def _sliding_words(p: Painleve) -> list[str]:
    sentences = [_regime_words(p.regime)]
    if p.property_p == "P":
        sentences.append("The matrix M_μ of the sliding LCP is a P-matrix: the accelerations are unique for all loads.")
    elif p.property_p == "undecided":
        sentences.append(f"Whether the matrix M_μ of the sliding LCP is a P-matrix is undecided: {p.open}.")
    elif p.verdict is None:
        sentences.append(
            "A = A_nb − A_tb [μ_b ξ_b] is singular: M_μ does not exist, and for some loads there is no unique solution."
        )
    else:
        sentences.append(
            "The matrix M_μ of the sliding LCP is not a P-matrix: for some loads there is no solution, or several."
        )
    return sentences + [_friction_words(x) for x in p.losses]


def _regime_words(r: Regime) -> str:
    alike = ", all with the same accelerations" if r.as_given == "infinitely many" and r.opening is not None else ""
    if r.kind == "undecided":
        words = f"How many sets of contact forces satisfy the law of sliding is undecided: {r.reason}."
        return f"{words} The stored numbers have {described(r.as_given)}{alike}."
    opening = r.opening or ()
    opens = f"contact{'s' * (len(opening) > 1)} {', '.join(map(str, opening))} open{'s' * (len(opening) == 1)}"
    sets = f"{r.kind} sets of contact forces{alike}{',' * bool(alike)} satisfy"
    sets = "one set of contact forces satisfies" if r.kind == "unique" else sets
    return f"{REGIME_WORDS[r.name].format(opening=opens, sets=sets)} {basis(r)}"


def regime_text(r: Regime) -> str:
    """Return the name of the regime and its number of solutions."""
    return f"{r.name} ({described(r.as_given)}{' for the stored numbers' if r.kind != r.as_given else ''})"


def basis(r: Regime) -> str:
    """Return the basis on which a regime is decided."""
    if r.exact:
        return "Decided exactly on rational data."
    if r.tolerance:
        return f"Decided exactly, with the same result for all data within a relative {r.tolerance:g}."
    return "Decided exactly for the stored doubles; with so many contacts no tolerance is applied."


def described(kind: str) -> str:
    """Return "one solution", "two solutions", ..."""
    return {"unique": "one solution", "none": "no solution", "undecided": "an unknown number of solutions"}.get(
        kind, f"{kind} solutions"
    )


def _friction_words(x: Loss) -> str:
    c = x.critical
    what = "all coefficients times s, s" if x.name == ALL else x.name
    if c.lo is None:
        words = f"For {what} = 0 M_μ is not a P-matrix"
    elif math.isinf(c.lo):
        words = f"M_μ is a P-matrix for every {what} ≥ 0"
    else:
        words = f"M_μ is a P-matrix for {what} from 0 to {number(c)} (current value {x.now:g})"
    again = (c.intervals or ())[0 if c.lo is None else 1 :]
    if again:
        words += f"; it is one {'' if c.lo is None else 'again '}on {', '.join(map(_interval, again))}"
    if x.ratio is not None and x.plain is not None and x.balanced is not None:
        words += f"; Proposition 1 guarantees it up to {max(x.plain, x.balanced):.6g}, {100 * x.ratio:.3g} % of that"
    return words + "."


def number(c: CriticalFriction) -> str:
    """mu_c, as a fraction where it is a short one."""
    exact, value = short(c.exact), c.value
    if c.lo is None or c.hi is None or value is None:
        return "–"
    if math.isinf(c.lo):
        return "∞"
    if exact:
        return f"{exact} = {value:.10g}" if "/" in exact else exact
    return f"{c.lo:.10g}" if c.hi - c.lo < 1e-9 * c.lo else f"a value in [{c.lo:.6g}, {c.hi:.6g}]"


def _map_words(m: RegimeMap) -> str:
    shares = ", ".join(f"{100 * share:.3g} % {name}" for name, share in m.shares().items())
    words = f"Map over {m.x.name} and {m.y.name}: {shares}; M_μ is a P-matrix on {_percent(m.cells.p_matrix)}, "
    words += f"by Proposition 1 on {_percent(m.cells.proposition_1)}"
    if m.critical is not None and np.isfinite(m.critical).any():
        name, other = (m.y.name, m.x) if m.friction == "y" else (m.x.name, m.y)
        k = int(np.nanargmin(m.critical))
        words += f"; the critical {name} is smallest at {other.name} = {other.values[k]:.4g}: {m.critical[k]:.6g}"
    if m.regained:
        words += f"; on {m.regained} of its lines the P-property is lost (or absent at zero) and regained"
    return words + "."


def _percent(where: Any) -> str:
    return f"{100 * where.mean():.3g} %"


def to_text(p: Painleve | None, a: Alternatives, case: Case, regimes: RegimeMap | None = None) -> str:
    """Format the verdicts on a case for a terminal."""
    also = contacts.to_text(a)
    if p is None:
        closed = len(a.contacts.which)
        lines = [f"{case.name}: {closed} closed contact{'s' * (closed > 1)}, {len(a.at_rest)} at rest", "", *also]
    else:
        lines = [*_sliding_text(p, case), *(["", *also] if also else [])]
    return "\n".join([*lines, "", *map(in_lines, in_words(p, a, regimes))])


def sliding_contacts(p: Painleve) -> str:
    """Return the number of contacts that slide, by their kind."""
    kinds = [(p.system.m_b, "bilateral"), (p.system.m_u, "unilateral")]
    some = [f"{count} {kind}" for count, kind in kinds if count] or ["no"]
    return f"{' and '.join(some)} contact{'s' * (p.system.m_b + p.system.m_u != 1)}"


def _sliding_text(p: Painleve, case: Case) -> list[str]:
    r, lines = p.regime, [f"{case.name}: {sliding_contacts(p)} slide{'s' * (p.system.m_b + p.system.m_u == 1)}"]
    lines += ["", f"regime        {regime_text(r)}"]
    for x in r.answers:
        lines.append(f"  lambda      {forces(x)}")
        lines.append(f"  accelerations  {accelerations(case, x.acceleration)}")
    for c in r.continua:
        lines.append(f"  dimension {c.dimension}: corners {[vector(x) for x in c.corners]}, "
                     f"directions {[vector(x) for x in c.directions]}")  # fmt: skip
    lines.append(f"P-matrix      {p.property_p}" + (f", {p.verdict.proof}" if p.verdict and p.verdict.proof else ""))
    if p.verdict and p.verdict.index_set is not None and not p.open:
        lines.append(f"  minor       {float_of(p.verdict.minor)} on {set(p.verdict.index_set)}")
    if p.distance and not p.open:
        lines.append(
            f"  distance    {enclosure_text(p.distance.entry(), 8)} to the nearest matrix that is not P (1/beta_2)"
        )
    lines += ["", "critical friction      now        mu_c                 P intervals"]
    for loss in p.losses:
        lines.append(f"  {loss.name:<20} {loss.now:<10.6g} {number(loss.critical):<20} {spans(loss.critical)}")
    lines += ["", "Proposition 1          mu_max^b   |Theta|_2  beta_2     holds  " + "guaranteed: "
              + ", ".join(x.name for x in p.losses)]  # fmt: skip
    for name in ("plain", "balanced"):
        b = p.proposition and getattr(p.proposition, name)
        if b:
            theta = "-" if b.theta is None else f"{b.theta:.5g}"
            shown = ", ".join(f"{getattr(x, name):.6g}" for x in p.losses)
            holds = "yes" if b.holds else "no"
            lines.append(f"  {name:<20} {b.mu_max_b:<10.5g} {theta:<10} {b.beta:<10.5g} {holds:<6} {shown}")
    if p.proposition is None or p.proposition.plain is None:
        lines.append("  not applicable: " + ("too many contacts" if p.proposition is None else "dependent constraints"))
    return lines


def spans(c: CriticalFriction) -> str:
    """The intervals of friction with the P-property."""
    if c.intervals is None:
        return f"[0, {c.lo:.8g})" if c.lo else "–"
    shown = list(map(_interval, c.intervals))
    if shown and c.lo is not None:
        shown[0] = "[" + shown[0][1:]
    return ", ".join(shown) or "none"


def _interval(ends: tuple[Root, Root | None]) -> str:
    lo, hi = ends
    return f"({lo.value:.8g}, {'∞' if hi is None else format(hi.value, '.8g')})"


def forces(a: IsolatedSolution) -> str:
    """Multipliers, as fractions where these are short."""
    values = np.append(*a.multipliers)
    return "[" + ", ".join(
        e if len(e) <= 12 else f"{x:.10g}" for e, x in zip(a.exact, values, strict=True)
    ) + "] N"  # fmt: skip


def vector(x: Any) -> str:
    """Format numbers of one unit or similar size; values below 1e-12 of the largest are printed as 0."""
    return f"[{', '.join(rounded(x))}]"


def rounded(x: Any) -> list[str]:
    """Format each number; values below 1e-12 of the largest are 0."""
    x = np.asarray(x, dtype=float)
    return [f"{v:.6g}" for v in np.where(np.abs(x) > 1e-12 * np.abs(x).max(), x, 0.0)]


def named_velocities(case: Case) -> list[tuple[str, tuple[str, str]]]:
    """Return name, unit and meaning of every velocity of a case; v_1, v_2, ... if it declares none."""
    n, declared = case.size[0], list(case.velocities.items())
    if not declared:
        return [(f"v_{i + 1}", ("", "")) for i in range(n)]
    own = len(declared)
    bodies = [f" of body {k + 1}" if n > own else "" for k in range(n // own)]
    return [(name + body, unit) for body in bodies for name, unit in declared]


def accelerations(case: Case, values: Any) -> str:
    """Format the rates of a case's velocities by name, with units."""
    return ", ".join(
        f"{name}' = {x}{f' {unit}2' if unit else ''}"
        for (name, (unit, _)), x in zip(named_velocities(case), rounded(values), strict=True)
    )


def parameters(case: Case) -> str:
    """Return the parameters of a case with their units."""
    about = {
        name: "" if unit == "-" else "°" if unit == "deg" else f" {unit}" for name, _, unit, _ in case.parameter_table()
    }
    return ", ".join(f"{name} = {getattr(case, name):.6g}{unit}" for name, unit in about.items() if name != "v_th")


def meanings(case: Case) -> list[str]:
    """Return what the velocities of a case are; those of one meaning together."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, about in case.velocities.items():
        found.setdefault(about, []).append(name)
    return [f"{', '.join(names)} [{unit}]: {meaning}" for (unit, meaning), names in found.items()]


def float_of(text: str | None) -> str:
    """A rational "p/q" as a short number."""
    from fractions import Fraction

    return "-" if text is None else f"{float(Fraction(text)):.6g}"
