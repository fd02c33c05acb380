"""Print a declaration as mathematics: text, LaTeX, and the symbolic block matrix.

Every relation is expanded, from the CVXPY tree that is solved, into a sum of products of named leaves. Text, LaTeX and
the block matrix are three ways to write that sum; `Term.value` evaluates it, so that a test can compare the printed
formula with the numbers. A node that this module does not know is printed as CVXPY writes it: no formula is better than
a wrong one.
"""

import re
import textwrap
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.transpose import transpose
from cvxpy.atoms.affine.unary_operators import NegExpression

from workbench.language.modelling import ConeComplements, Declaration, Equals, FrictionCone, Relation
from workbench.language.names import MEANINGS, latex_name, text_name, verbatim
from workbench.language.sets import Box, DiscSet, Free, Nonneg

WIDTH = 100
"""Longest line of a page of text, block matrices excepted."""
LONGEST = 80
"""Printed characters of CVXPY's own notation for an unknown node."""


@dataclass(frozen=True)
class Factor:
    """A named leaf in a product; `diagonal` for a vector that multiplies entry by entry.

    Instead of a leaf it may hold a node that this module does not know, written as CVXPY writes it.
    """

    leaf: Any
    transposed: bool = False
    diagonal: bool = False
    dotted: str = ""  # name of the unknown that is printed as a dot

    @property
    def name(self) -> str:
        if isinstance(self.leaf, cp.Constant) and _is_unnamed(self.leaf):
            return "×".join(map(str, self.leaf.shape)) + " constant"
        return "v+" if isinstance(self.leaf, cp.Variable) and self.leaf.name() == "v" else self.leaf.name()

    @property
    def value(self) -> Any:
        value = self.leaf.value
        value = value.toarray() if hasattr(value, "toarray") else np.asarray(value)
        if self.diagonal:
            return np.diag(value)
        return value.T if self.transposed else value

    @property
    def is_known(self) -> bool:
        return isinstance(self.leaf, cp.Variable | cp.Parameter | cp.Constant)

    @property
    def unknowns(self) -> list[cp.Variable]:
        return self.leaf.variables()

    def without(self, unknown: cp.Variable) -> "Factor":
        """An unknown node as an operator: a dot replaces the unknown."""
        return replace(self, dotted=unknown.name())

    def _words(self, style: str) -> str:
        """Write a factor that is not a leaf: its expansion in brackets, or CVXPY's notation, cut off if long."""
        terms = expand(self.leaf)
        if all(f.leaf is not self.leaf for t in terms for f in t.factors):
            return f"({write_sum(terms, style)})"
        words = " ".join(str(self.leaf).split())
        if self.dotted:
            words = re.sub(rf"(?<!\w){re.escape(self.dotted)}(?!\w)", "·", words)
        words = words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
        words = words if re.fullmatch(r"\w+\(.*\)", words) else f"({words})"
        return words if style == "text" else verbatim(words)

    def text(self) -> str:
        if not self.is_known:
            return self._words("text") + ("ᵀ" if self.transposed else "") + ("∘" if self.diagonal else "")
        return text_name(self.name) + ("ᵀ" if self.transposed else "") + ("∘" if self.diagonal else "")

    def latex(self) -> str:
        if not self.is_known:
            after = r"^{\top}" if self.transposed else r" \circ " if self.diagonal else ""
            return self._words("latex") + after
        name = latex_name(self.name)
        if self.transposed:
            base, _, sub = name.partition("_")
            return f"{base}_{sub}^{{\\top}}" if sub else f"{base}^{{\\top}}"
        return name + (r" \circ " if self.diagonal else "")

    def matrix(self, style: str) -> str:
        """The factor as a block of a matrix."""
        if not self.diagonal:
            return self.text() if style == "text" else self.latex()
        name = getattr(replace(self, diagonal=False), style)()
        name = name[1:-1] if name.startswith("(") else name
        return f"diag({name})" if style == "text" else rf"\operatorname{{diag}}({name})"


@dataclass(frozen=True)
class Term:
    """coefficient * factor * factor * ...; an unknown, if there is one, is the last factor."""

    coefficient: float
    factors: tuple[Factor, ...]

    @property
    def unknown(self) -> cp.Variable | None:
        unknowns = self.factors[-1].unknowns if self.factors else []
        return unknowns[0] if unknowns else None

    @property
    def value(self) -> Any:
        return self.coefficient * reduce(np.dot, (f.value for f in self.factors), np.float64(1.0))

    def write(self, style: str, skip_unknown: bool = False) -> str:
        """Write the product without its sign, in "text" or "latex"; without the unknown for a block of the matrix."""
        factors = self.factors
        if skip_unknown and self.unknown is not None:
            *before, last = factors
            factors = (*before,) if last.is_known else (*before, last.without(self.unknown))
        out = _product_of_blocks(factors, style) if skip_unknown else _product_of_vectors(factors, style)
        size = abs(self.coefficient)
        if size == 1 and out:
            return out
        number = f"{size:g}" if np.isfinite(size) else "∞" if style == "text" else r"\infty"
        return f"{number} {out}".strip() if size != 1 else ("I" if skip_unknown else "1")


def _product_of_blocks(factors: tuple[Factor, ...], style: str) -> str:
    """A block of a matrix; a factor that multiplies entry by entry becomes a diagonal matrix."""
    parts = [f.matrix(style) for f in factors]
    return " ".join([*parts, "I"] if parts and all(f.is_known and f.leaf.ndim == 0 for f in factors) else parts)


def _product_of_vectors(factors: tuple[Factor, ...], style: str) -> str:
    """A product that ends in a vector, with brackets around the arguments of an entrywise product."""
    out, entrywise = "", False
    for f in reversed(factors):
        if not out:
            out = f.text() if style == "text" else f.latex()
        elif f.diagonal:
            out, entrywise = getattr(f, style)() + (f"({out})" if " " in out.replace(" ∘ ", "∘") else out), True
        else:
            out, entrywise = f"{getattr(f, style)()} ({out})" if entrywise else f"{getattr(f, style)()} {out}", False
    return out


def _is_unnamed(leaf: cp.Constant) -> bool:
    return getattr(leaf, "_name", None) is None


def expand(F: Any) -> list[Term]:
    """Expand a CVXPY expression, affine in the unknowns, into a sum of Terms."""
    if isinstance(F, cp.Variable | cp.Parameter):
        return [Term(1.0, (Factor(F),))]
    if isinstance(F, cp.Constant):
        if F.is_scalar() and _is_unnamed(F):
            return [Term(float(F.value), ())] if F.value else []
        if not np.any(F.value if not hasattr(F.value, "toarray") else F.value.toarray()):
            return []
        return [Term(1.0, (Factor(F),))]
    if isinstance(F, AddExpression):
        return [term for arg in F.args for term in expand(arg)]
    if isinstance(F, NegExpression):
        return [Term(-t.coefficient, t.factors) for t in expand(F.args[0])]
    if isinstance(F, Promote) or type(F).__name__ == "broadcast_to":
        return expand(F.args[0])
    if isinstance(F, transpose):
        return [Term(t.coefficient, tuple(_flip(f) for f in reversed(t.factors))) for t in expand(F.args[0])]
    if isinstance(F, DivExpression):
        divisor = F.args[1].args[0] if isinstance(F.args[1], Promote) else F.args[1]
        if isinstance(divisor, cp.Constant) and divisor.is_scalar():
            return _product([Term(1.0 / float(divisor.value), ())], expand(F.args[0]))
    if isinstance(F, multiply):
        left, right = F.args if not F.args[0].variables() else F.args[::-1]
        terms = expand(left)
        if left.ndim == 0 or isinstance(left, Promote):
            return _product(terms, expand(right))
        if any(len(t.factors) != 1 for t in terms):
            terms = [Term(1.0, (Factor(left),))]
        return _product(
            [Term(t.coefficient, (Factor(t.factors[0].leaf, diagonal=True),)) for t in terms], expand(right)
        )
    if isinstance(F, MulExpression):
        return _product(expand(F.args[0]), expand(F.args[1]))
    return [Term(1.0, (Factor(F),))]


def _flip(f: Factor) -> Factor:
    return f if f.diagonal or f.leaf.ndim < 2 else replace(f, transposed=not f.transposed)


def _product(left: list[Term], right: list[Term]) -> list[Term]:
    return [Term(a.coefficient * b.coefficient, a.factors + b.factors) for a in left for b in right]


def write_sum(terms: list[Term], style: str, skip_unknown: bool = False) -> str:
    """Write a sum of Terms as text or LaTeX; "0" if empty."""
    out = ""
    for t in terms:
        sign = "-" if t.coefficient < 0 else "+"
        minus = "−" if style == "text" else "-"
        lead = (minus if sign == "-" else "") if not out else (f" {minus} " if sign == "-" else " + ")
        out += lead + t.write(style, skip_unknown)
    return out or "0"


def plain_relation(F: cp.Expression) -> str:
    """Write an expression as one line of text."""
    return write_sum(expand(F), "text")


def relation(r: Relation, style: str = "text") -> str:
    """Write one relation in full: text, or LaTeX without surrounding delimiters."""
    words = {
        "text": dict(le=" ≤ ", ge=" ≥ ", perp="  ⊥  ", eq=" = ", inn=" ∋ ", el=" ∈ ", K="K_μ", dual="K_μ*"),
        "latex": dict(
            le=r" \le ", ge=r" \ge ", perp=r" \;\perp\; ", eq=" = ", inn=r" \ni ", el=r" \in ",
            K=r"\mathcal{K}_{\mu}", dual=r"\mathcal{K}_{\mu}^{*}",
        ),
    }[style]  # fmt: skip
    if isinstance(r, Equals):
        return f"{write_sum(expand(r.F), style)}{words['eq']}0"
    if isinstance(r, ConeComplements):
        F_n, F_t = write_sum(expand(r.F_n), style), write_sum(expand(r.F_t), style)
        if r.coulomb:
            F_n += _shift(r.x, style)
        names = f"({_name(r.x.n, style)}, {_name(r.x.t, style)})"
        tail = (", u_t = " if style == "text" else r",\quad u_t = ") + F_t if r.coulomb else ""
        second = "u_t" if r.coulomb else F_t
        return f"{words['K']}{words['inn']}{names}{words['perp']}({F_n}, {second}){words['el']}{words['dual']}{tail}"
    F, x = write_sum(expand(r.F), style), _name(r.x, style)
    if isinstance(r.x.member_of, DiscSet):
        radius = write_sum(expand(cp.Expression.cast_to_const(r.x.member_of.radius)), style)
        return f"{_length(x, style)}{words['le']}{radius}{words['perp']}{F}"
    if isinstance(r.x.member_of, Box):
        low, high = (
            write_sum(expand(cp.Expression.cast_to_const(b)), style) for b in (r.x.member_of.lower, r.x.member_of.upper)
        )
        return f"{low}{words['le']}{x}{words['le']}{high}{words['perp']}{F}"
    return f"0{words['le']}{x}{words['perp']}{F}{words['ge']}0"


def _shift(x: FrictionCone, style: str) -> str:
    """The term that De Saxce's form adds to the normal row: the support function of the discs allowed at p_n = 1."""
    mu = write_sum(expand(x.mu), style)
    if x.each:
        mu, own = "", f"({mu}) ∘ " if style == "text" else rf"({mu}) \circ "
    else:
        mu, own = f"{mu} ", ""
    parts = ("_sliding", "_torsion", "_rolling")[: 2 + (x.t.size > 3 * x.n.size)] if x.apart else ("",)
    written = text_name if style == "text" else latex_name
    symbols = [written(f"u_t{part}") for part in parts]
    sizes = " + ".join(_length(own + u, style) for u in symbols)
    return f" + {mu}{sizes}" if len(symbols) == 1 else f" + {mu}({sizes})"


def _length(x: str, style: str) -> str:
    return f"|{x}|" if style == "text" else rf"\lVert {x} \rVert"


def _name(u: cp.Variable, style: str) -> str:
    return getattr(Factor(u), style)()


def sets(declaration: Declaration) -> list[tuple[str, str]]:
    """(unknown, set in words) for every unknown."""
    in_cone = {u.id: c for c in declaration.cones for u in (c.x.n, c.x.t)}
    rows = []
    for u in declaration.unknowns:
        if u.id in in_cone:
            x = in_cone[u.id].x
            words = "friction cone K_μ" + ", a coefficient for every direction" * x.each
            words += ", sliding, torsion and rolling apart" * x.apart
        else:
            words = {Free: "free", Nonneg: "nonnegative", Box: "box", DiscSet: "disc"}[type(u.member_of)]
        rows.append((_name(u, "text"), f"{words}, {u.size} {'entry' if u.size == 1 else 'entries'}"))
    return rows


def block_matrix(
    declaration: Declaration, style: str = "text"
) -> tuple[list[str], list[str], list[list[str]], list[str]]:
    """(row labels, column labels, blocks, constant column) of the mixed system, symbols as in the relations."""
    columns = declaration.unknowns
    rows = ["0"] * len(declaration.equations) + [_name(u, style) for u in declaration.partners]
    blocks, constants = [], []
    for F in declaration.expressions:
        terms = expand(F)
        blocks.append([write_sum([t for t in terms if t.unknown is u], style, skip_unknown=True) for u in columns])
        constants.append(write_sum([t for t in terms if t.unknown is None], style))
    return rows, [_name(u, style) for u in columns], blocks, constants


def glossary(declaration: Declaration) -> list[tuple[str, str]]:
    """(symbol, meaning) of the data in the declaration, in order of appearance."""
    seen: dict[str, str] = {}
    bounds = [
        cp.Expression.cast_to_const(bound)
        for u in declaration.partners
        if isinstance(u.member_of, Box)
        for bound in (u.member_of.lower, u.member_of.upper)
    ]
    bounds += [cp.Expression.cast_to_const(u.member_of.radius) for u in declaration.discs]
    for F in [*declaration.expressions, *bounds, *(cp.Expression.cast_to_const(c.x.mu) for c in declaration.cones)]:
        for t in expand(F):
            for f in t.factors:
                for p in f.leaf.parameters():
                    seen.setdefault(p.name(), MEANINGS.get(p.name(), "set by the formulation in every step"))
                if isinstance(f.leaf, cp.Constant):
                    seen.setdefault(f.name, f"constant, {'×'.join(map(str, f.leaf.shape))}")
    return [(text_name(name), meaning) for name, meaning in seen.items()]


def text_page(declaration: Declaration, kind: str) -> str:
    """Relations, sets, class, block matrix and glossary as plain text."""
    lines = ["relations"]
    lines += [_wrapped(f"  {relation(r)}", 6) for r in declaration.relations]
    lines += ["", "unknowns"] + [_wrapped(f"  {name:<8} {words}", 11) for name, words in sets(declaration)]
    lines += [
        "",
        f"problem class  {kind}",
        "",
        "block matrix (rows: equations, then the relations complementary to unknowns; last column: constant)",
    ]
    rows, columns, blocks, constants = block_matrix(declaration)
    table = [["", *columns, "1"]] + [[row, *b, c] for row, b, c in zip(rows, blocks, constants, strict=True)]
    widths = [max(len(line[j]) for line in table) for j in range(len(table[0]))]
    lines += ["  " + "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in table]
    lines += ["", "data"] + [_wrapped(f"  {name:<8} {meaning}", 11) for name, meaning in glossary(declaration)]
    return "\n".join(lines)


def _wrapped(line: str, hang: int) -> str:
    indent = " " * hang
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def latex_relations(declaration: Declaration) -> str:
    """All relations as one aligned display."""
    return (
        "\\begin{gather*}\n" + " \\\\\n".join(relation(r, "latex") for r in declaration.relations) + "\n\\end{gather*}"
    )


def latex_blocks(declaration: Declaration) -> str:
    """The mixed system as a block matrix times the unknowns plus the constants."""
    _, columns, blocks, constants = block_matrix(declaration, "latex")
    matrix = " \\\\\n".join(" & ".join(row) for row in blocks)
    x, a = (" \\\\ ".join(v) for v in (columns, constants))
    return (
        f"\\begin{{bmatrix}}\n{matrix}\n\\end{{bmatrix}}\n\\begin{{bmatrix}} {x} \\end{{bmatrix}}\n+ "
        f"\\begin{{bmatrix}} {a} \\end{{bmatrix}}"
    )


def latex_page(declaration: Declaration, title: str) -> str:
    """A complete LaTeX document."""
    lines = [
        "\\documentclass{article}", "\\usepackage{amsmath,amssymb}", "\\setcounter{MaxMatrixCols}{20}",
        "\\begin{document}", f"\\section*{{{title.replace('_', chr(92) + '_')}}}",
        latex_relations(declaration), "\\begin{equation*}", latex_blocks(declaration), "\\end{equation*}",
        "\\end{document}",
    ]  # fmt: skip
    return "\n".join(lines)
