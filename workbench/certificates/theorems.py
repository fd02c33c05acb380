"""Theorems about classes of matrices, for the checking of certificates.

Each has premises, a conclusion, and a source: a section of Cottle, Pang and Stone, The Linear Complementarity Problem
(1992), or a paper. The checker keeps its own list, typed from the book: a certificate may use no other theorem.
"""

THEOREMS: dict[tuple[frozenset[str], str], str] = {
    (frozenset(premises.split()), conclusion): source
    for premises, conclusion, source in (
        ("P", "P0", "3.4"),
        ("P", "nondegenerate", "3.6"),
        ("P", "column_sufficient", "3.5"),
        ("P", "row_sufficient", "3.5"),
        ("P", "E", "3.9"),
        ("P", "Q", "3.3"),
        ("P0 nondegenerate", "P", "3.4"),
        ("P0 Q", "R0", "Aganagic and Cottle, Math. Program. 16, 1979"),
        ("P0", "E0", "3.9"),
        ("PD", "P", "3.1"),
        ("PD", "PSD", "3.1"),
        ("PD", "strictly_copositive", "3.8"),
        ("PSD", "copositive_plus", "3.8"),
        ("PSD", "column_sufficient", "3.5"),
        ("PSD", "row_sufficient", "3.5"),
        ("PSD", "Q0", "3.1"),
        ("M", "Z", "3.11"),
        ("M", "P", "3.11"),
        ("M", "H_plus", "3.3"),
        ("Z P", "M", "3.11"),
        ("Z H_plus", "M", "3.3"),
        ("Z", "Q0", "3.11"),
        ("H_plus", "P", "3.3"),
        ("column_sufficient", "P0", "3.5"),
        ("row_sufficient", "P0", "3.5"),
        ("row_sufficient", "Q0", "3.5"),
        ("strictly_copositive", "copositive_plus", "3.8"),
        ("strictly_copositive", "E", "3.9"),
        ("copositive_plus", "copositive", "3.8"),
        ("copositive_plus", "Q0", "3.8"),
        ("copositive", "E0", "3.9"),
        ("E", "E0", "3.9"),
        ("E", "R0", "3.9"),
        ("E", "Q", "3.9"),
        ("E0 R0", "Q", "3.9"),
        ("nondegenerate", "R0", "3.6"),
        ("Q", "Q0", "3.2"),
        ("Q", "S", "3.1"),
        ("Q0 S", "Q", "3.1"),
    )
}


def follows(premises: list[str], conclusion: str) -> bool:
    """Whether a theorem gives the conclusion from the premises."""
    return (frozenset(premises), conclusion) in THEOREMS
