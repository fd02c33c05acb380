"""The page of one check: is this matrix, or this LCP, well posed? One HTML file that opens offline."""

import base64
import json
from typing import Any

from workbench.builtin.reports.figures.cones import TITLE, UNKNOWNS, picture
from workbench.builtin.reports.pages.page import environment
from workbench.builtin.reports.text.check import enclosure_text, number, rounded, vector

MEANINGS = {
    "P": "all principal minors are positive: one solution for every q",
    "P0": "no principal minor is negative",
    "nondegenerate": "no principal minor is zero: finitely many solutions for every q",
    "PD": "xᵀMx > 0 for x ≠ 0",
    "PSD": "xᵀMx ≥ 0",
    "Z": "no positive entry off the diagonal",
    "M": "Z and P",
    "H_plus": "the comparison matrix is M, and the diagonal positive",
    "column_sufficient": "xᵢ(Mx)ᵢ ≤ 0 for all i only if all are 0: the solution set is convex for every q",
    "row_sufficient": "Mᵀ is column sufficient: every stationary point of the quadratic program is a solution",
    "copositive": "xᵀMx ≥ 0 for x ≥ 0",
    "strictly_copositive": "xᵀMx > 0 for x ≥ 0, x ≠ 0",
    "copositive_plus": "copositive, and xᵀMx = 0, x ≥ 0 only if (M + Mᵀ)x = 0",
    "E0": "semimonotone: for x ≥ 0, x ≠ 0 some xₖ > 0 has (Mx)ₖ ≥ 0",
    "E": "strictly semimonotone: the same with (Mx)ₖ > 0: one solution for every q ≥ 0",
    "R0": "LCP(0, M) has only the solution 0: bounded solution sets",
    "S": "Mx > 0 for some x ≥ 0: feasible for every q",
    "Q": "a solution for every q",
    "Q0": "a solution for every feasible q",
}
IN_WORDS = ("by", "from", "conclusion")
"""Parts of a witness that its proof in words repeats."""
MOST_SHOWN = 40
"""Faces of the solution set that the page lists; the JSON has them all."""


LONGEST_PROOF = 1500
"""Characters of a proof that the page shows; the certificate has all of it."""
LARGEST_CERTIFICATE = 2_000_000
"""Characters of a certificate that the page holds."""


def render(
    result: dict[str, Any], name: str, provenance: dict[str, Any], certificate: dict[str, Any] | None = None
) -> str:
    """The whole page as text, from the result of `workbench.diagnostics.check.check_matrix` and its certificate."""
    document = "" if certificate is None else json.dumps(certificate)
    held = certificate if len(document) <= LARGEST_CERTIFICATE else None
    template = environment().get_template("check.html.j2")
    return template.render(
        r=result, name=name, provenance=provenance, classes=class_rows(result["classes"] or {}), most=MOST_SHOWN,
        number=number, vector=vector, between=enclosure_text, rounded=rounded,
        picture=picture(result) if result["n"] in UNKNOWNS else None, picture_title=TITLE,
        margin_of=lambda margin: enclosure_text(dict(zip(("lower", "upper"), margin["distance"], strict=True)), 4),
        certificate=f"data:application/json;base64,{base64.b64encode(document.encode()).decode()}" if held else None,
        proofs=proofs(held), left_out=[f"{x['about']} ({x['reason']})" for x in held["left_out"]] if held else [],
    )  # fmt: skip


def proofs(certificate: dict[str, Any] | None) -> dict[str, str]:
    """The support of each claim of a certificate, in JSON, cut where it is long."""
    if certificate is None:
        return {}
    shown = {claim["about"]: json.dumps(claim["support"]) for claim in certificate["claims"]}
    return {
        about: text if len(text) <= LONGEST_PROOF else f"{text[:LONGEST_PROOF]} ... ({len(text)} characters)"
        for about, text in shown.items()
    }


def class_rows(classes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return meaning, verdict and support of each class, with numbers shortened."""
    return [
        {
            "name": name,
            "meaning": MEANINGS[name],
            "verdict": entry["verdict"],
            "support": entry["proof"] or entry["reason"] or "",
            "witness": [
                (key.replace("_", " "), _shown(key, value))
                for key, value in (entry["witness"] or {}).items()
                if key not in IN_WORDS
            ],
        }
        for name, entry in classes.items()
    ]


def _shown(key: str, value: Any) -> str:
    if key == "index_set":
        return "{" + ", ".join(map(str, value)) + "}"
    if isinstance(value, list):
        return vector([str(x) for x in value])
    return number(str(value))
