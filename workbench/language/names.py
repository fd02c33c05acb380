"""Names of symbols in text and in LaTeX, and the meaning of the data."""

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "theta": "θ", "kappa": "κ", "lambda": "λ",
    "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω",
}  # fmt: skip

MEANINGS = {
    "M": "mass matrix",
    "b": r"M v + h f, momentum before the step plus impulse of the applied forces",
    "J_n": "normal Jacobian",
    "J_t": "tangent Jacobian, in the axes in use",
    "J_b": "bilateral constraint Jacobian",
    "b_n": "prescribed normal rate; plus gap/h under the gap law; plus restitution",
    "b_t": "prescribed sliding rate",
    "b_b": "stabilisation g/h of the bilateral constraints",
    "eps_n": "normal constraint relaxation (0: rigid)",
    "eps_t": "tangential constraint relaxation (0: rigid)",
    "eps_b": "bilateral constraint relaxation (0: rigid)",
    "mu": "friction coefficients",
    "limit": "bounds of the friction impulses, from an estimate of p_n",
    "A": "A_nb − A_tb diag(μ_b ξ_b): bilateral accelerations from bilateral forces > 0 and their friction",
    "Abar": "A_nb + A_tb diag(μ_b ξ_b): the same from bilateral forces < 0",
    "B": "A_nbnu − A_nbtu diag(μ_u ξ_u): bilateral accelerations from unilateral forces and their friction",
    "C": "A_nunb − A_nutb diag(μ_b ξ_b): unilateral accelerations from bilateral forces > 0 and their friction",
    "Cbar": "A_nunb + A_nutb diag(μ_b ξ_b): the same from bilateral forces < 0",
    "D": "A_nu − A_tu diag(μ_u ξ_u): unilateral accelerations from unilateral forces and their friction",
    "w_1": "bilateral accelerations without contact forces",
    "w_2": "unilateral accelerations without contact forces",
    "rho": "phantom inertia",
    "mu_w": "friction coefficient of each axis",
    "bounce": "mu e p_c, friction bound of the restitution impulse; p_n and beta are added to the compression's",
    "chi": "axes in use: 1 or 0",
}

VERBATIM = {"\\": r"\backslash ", "^": r"\wedge ", "~": r"\sim ", "·": r"\cdot ", "…": r"\dots "}


def verbatim(words: str) -> str:
    """Typeset program text verbatim in LaTeX formulas, in a form that converts to MathML."""
    escaped = (VERBATIM.get(c) or (f"\\{c}" if c in "_%#&${} " else c) for c in words)
    return rf"\mathrm{{{''.join(escaped)}}}"


def _parts(name: str) -> tuple[str, str, str]:
    """Base, subscript and sign of a name such as w_up, v+, lambda-."""
    base, _, sub = name.partition("_")
    sign = base[-1:] if base[-1:] in ("+", "-") else ""
    return base.removesuffix(sign), sub, sign


def text_name(name: str) -> str:
    base, sub, sign = _parts(name)
    return GREEK.get(base, base) + {"+": "⁺", "-": "⁻", "": ""}[sign] + (f"_{sub}" if sub else "")


def latex_name(name: str) -> str:
    """LaTeX of a name such as p_n, J_n, w_up, sigma, v+, lambda-, Abar."""
    base, sub, sign = _parts(name)
    if " " in base:
        base = rf"\text{{[{base}]}}"
    elif base in GREEK:
        base = r"\varepsilon" if base == "eps" else f"\\{base}"
    elif len(base) == 4 and base.endswith("bar"):
        base = rf"\bar{{{base[0]}}}"
    elif len(base) > 1:
        base = rf"\mathrm{{{base}}}"
    sub = sub.replace("_", ",")
    subscript = "" if not sub else f"_{{{sub}}}" if len(sub) == 1 else rf"_{{\mathrm{{{sub}}}}}"
    return base + subscript + (f"^{{{sign}}}" if sign else "")
