"""A reader of printed relations, which knows mathematics and names but not CVXPY."""

import re
import unicodedata
from typing import Any

import cvxpy as cp
import numpy as np


def leaves(declaration) -> list:
    """Every parameter, unknown and constant that is printed, each once."""
    found: dict[int, cp.Expression] = {}
    for F in printed(declaration):
        for leaf in (*F.parameters(), *F.variables(), *F.constants()):
            found.setdefault(id(leaf), leaf)
    return list(found.values())


def printed(declaration) -> list[Any]:
    """Left-hand sides, bounds and friction coefficients."""
    sets = [u.member_of for u in declaration.partners]
    bounds = [getattr(x, side) for x in sets for side in ("lower", "upper") if hasattr(x, side)]
    coefficients = [r.x.mu for r in declaration.cones]
    return [*declaration.expressions, *(cp.Expression.cast_to_const(F) for F in (*bounds, *coefficients))]


# A reader of the print, which knows mathematics and names but not CVXPY


def table(declaration) -> dict[str, np.ndarray]:
    """Printed name: value."""
    values: dict[str, np.ndarray] = {}
    for leaf in leaves(declaration):
        value = leaf.value.toarray() if hasattr(leaf.value, "toarray") else np.asarray(leaf.value)
        name = printed_name(leaf) if isinstance(leaf, cp.Variable) else greek(leaf.name())
        assert np.array_equal(values.get(name, value), value), f"two leaves print as {name}"
        values[name] = value
    return values


def printed_name(u: cp.Variable) -> str:
    return "v⁺" if u.name() == "v" else greek(u.name())


def greek(name: str) -> str:
    base, _, sub = name.partition("_")
    base = {"eps": "epsilon"}.get(base, base)
    letter = unicodedata.lookup(f"GREEK SMALL LETTER {base.upper()}") if base in GREEK_NAMES else base
    return letter + (f"_{sub}" if sub else "")


GREEK_NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "theta", "mu", "rho", "sigma", "phi", "chi", "omega")


def read_factor(token: str, values: dict[str, np.ndarray]):
    """A number, the unit matrix as 1, a matrix, or diag(x) for an entrywise factor; what has one entry is a number."""
    if re.fullmatch(r"[\d.]+(e-?\d+)?", token):
        return float(token)
    if token == "I":
        return 1.0
    diagonal = re.fullmatch(r"diag\((.*)\)", token) or re.fullmatch(r"(.*)∘", token)
    value = values[diagonal[1] if diagonal else token.removesuffix("ᵀ")]
    if value.size == 1:
        return value.item()
    if diagonal:
        assert value.ndim == 1
        return np.diag(value)
    assert value.ndim == 2 or not token.endswith("ᵀ")
    return value.T if token.endswith("ᵀ") else value


def read_sum(text: str, values: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The value of every term of a printed sum."""
    terms = []
    pieces = re.split(r"(?:^| )([−+]) ?", text if text.startswith("−") else f"+ {text}")[1:]
    for sign, body in zip(pieces[::2], pieces[1::2], strict=True):
        product = {"+": 1.0, "−": -1.0}[sign]
        # Products associate to the right, so brackets only help the reader.
        while body != (body := re.sub(r"(?<!diag)\(([^()]*)\)", r"\1", body)):
            pass
        for token in body.replace("∘", "∘ ").split():
            product = np.dot(product, read_factor(token, values))
        terms.append(np.asarray(product))
    return terms


def read_vector(text: str, values: dict[str, np.ndarray], size: int) -> np.ndarray:
    return np.sum([np.broadcast_to(np.ravel(term), size) for term in read_sum(text, values)], axis=0)


def read_block(text: str, values: dict[str, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """A block as the matrix it stands for; a number or a scalar symbol is a multiple of the unit matrix."""
    if text == "0":
        return np.zeros(shape)
    terms = read_sum(text, values)
    return np.sum([x.reshape(shape) if x.size > 1 else x * np.eye(*shape) for x in terms], axis=0)


def as_text(latex: str) -> str:
    """LaTeX of a sum in the spelling of the text."""
    letters = {"varepsilon": "epsilon"}
    latex = latex.replace(r"v^{+}", "v⁺").replace(r"^{\top}", "ᵀ").replace(r" \circ ", "∘").replace("-", "−")
    latex = latex.replace(r"\operatorname{diag}", "diag")
    latex = re.sub(r"\\(?:mathrm|text)\{([^{}]*)\}", r"\1", latex)
    latex = re.sub(r"_\{([^{}]*)\}", r"_\1", latex)
    return re.sub(
        r"\\([a-z]+)", lambda m: unicodedata.lookup(f"GREEK SMALL LETTER {letters.get(m[1], m[1]).upper()}"), latex
    )
