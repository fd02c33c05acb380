"""What is printed is what is solved: terms, text, LaTeX and block matrices are read back and held to the numbers."""

import html
import re
import shutil
import subprocess
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from latex2mathml.converter import convert

from tests.printed import as_text, greek, leaves, printed, printed_name, read_block, read_vector, table
from workbench.builtin.formulations import FORMULATIONS
from workbench.language import notation
from workbench.language.assemble.assembly import stamp
from workbench.language.assemble.find import compiled
from workbench.language.formulation import formulation
from workbench.language.modelling import box, complements, declare, equals, free, friction_cone, nonneg

OTHER_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "stewart-trinkle": [dict(directions=6)],
    "phantom-inertia": [dict(directions=8, lateral="regularised")],
    "box": [dict(bounds="coupled"), dict(bounds="iterated", axes="sliding")],
}
SPREAD = [f.with_options(**options) for f in FORMULATIONS for options in ({}, *OTHER_OPTIONS.get(f.name, []))]
SIZES = [(3, 0, 1, 1), (6, 1, 1, 2), (5, 2, 2, 1), (9, 1, 3, 2)]

each_formulation = pytest.mark.parametrize("f", SPREAD, ids=lambda f: f.label)
each_size = pytest.mark.parametrize("size", SIZES, ids=lambda s: "n{}-m{}-r{}-d{}".format(*s))


def fill(expressions, seed: int) -> None:
    """Random positive values for all parameters and random ones for all unknowns."""
    rng = np.random.default_rng(seed)
    for F in expressions:
        for p in F.parameters():
            p.value = rng.uniform(0.1, 1, p.shape)
        for u in F.variables():
            u.value = rng.standard_normal(u.shape)


# Terms


@pytest.mark.share(2)
@each_size
@each_formulation
def test_terms_sum_to_the_expression(f, size):
    declaration = f.declaration(*size)
    fill(printed(declaration), 0)
    for F in printed(declaration):
        terms = notation.expand(F)
        assert terms
        total = sum(np.broadcast_to(t.value, F.shape) for t in terms)
        np.testing.assert_allclose(total, F.value, rtol=1e-12, atol=1e-12)
        for t in terms:
            unknowns = [factor.leaf for factor in t.factors if isinstance(factor.leaf, cp.Variable)]
            assert unknowns == [t.unknown][: len(unknowns)]


def expressions() -> dict[str, Any]:
    x, w, c = free("x", 3), cp.Parameter(3, name="w"), cp.Parameter(name="c")
    P, C = cp.Parameter((3, 3), name="P"), cp.Constant(np.arange(9.0).reshape(3, 3), name="C")
    return {
        "x": x, "w": w, "-x": -x, "-1 (-x)": -1 * (-x), "x - w": x - w, "-(x - w)": -(x - w), "x + 1": x + 1,
        "2 x": 2 * x, "-2.5 P x": -2.5 * (P @ x), "3 (2 x)": 3 * (2 * x), "2 w": 2 * w, "c x": c * x,
        "P.T x": P.T @ x,
        "P C x": P @ (C @ x), "(P C).T x": (P @ C).T @ x, "P.T.T x": P.T.T @ x, "w o x": cp.multiply(w, x),
        "x o w": cp.multiply(x, w), "w o C x": cp.multiply(w, C @ x), "C (w o x)": C @ cp.multiply(w, x),
        "C (x - w o x) + w": C @ (x - cp.multiply(w, x)) + w, "x P": x @ P, "0 x + w": 0 * x + w,
    }  # fmt: skip


@pytest.mark.parametrize("name", expressions())
def test_terms_of_every_known_node(name):
    F = expressions()[name]
    fill([F], 1)
    total = sum(np.broadcast_to(t.value, F.shape) for t in notation.expand(F))
    np.testing.assert_allclose(total, F.value, rtol=1e-12, atol=1e-12)


def test_nothing_is_printed_for_zero():
    x = free("x", 2)
    assert notation.plain_relation(cp.Constant(np.zeros(2))) == "0"
    assert notation.plain_relation(x + np.zeros(2)) == "x"
    assert notation.plain_relation(np.zeros((2, 2)) @ x) == "0"


@pytest.mark.parametrize(
    "node",
    [cp.sum, cp.cumsum, lambda x: x[:2], lambda x: cp.hstack([x, x]), lambda x: cp.reshape(x, (3, 1), "C")],
)
def test_an_unknown_node_is_printed_as_cvxpy_writes_it(node):
    x, A = free("x_1", 3), cp.Parameter((3, 3), name="A")
    F = node(A @ x)
    fill([F], 2)
    for wrapped in (F, -F, 2 * F, F + 1):
        total = sum(np.broadcast_to(t.value, F.shape) for t in notation.expand(wrapped))
        np.testing.assert_allclose(total, wrapped.value, rtol=1e-12)
        text = notation.plain_relation(wrapped)
        assert str(F) in text
        assert text.startswith("−") == (wrapped.value.flat[0] == -F.value.flat[0])
        latex = notation.write_sum(notation.expand(wrapped), "latex")
        assert str(F).replace("_", r"\_").replace(" ", r"\ ") in latex
        assert "\\" not in convert(latex)
    # The block in the column of x_1 is an operator: what stands for the unknown is a dot.
    block = notation.write_sum(notation.expand(F), "text", skip_unknown=True)
    assert block.strip("()") == str(F).replace("x_1", "·").strip("()")


def test_special_characters_of_cvxpys_words_are_escaped():
    x, p = free("x", 3), cp.Parameter(3, name=r"50% of {a} & b_1^2 #~\c$")
    latex = notation.write_sum(notation.expand(cp.hstack([x, p])), "latex")
    assert latex.count("{") == latex.count("}")
    mathml = convert(latex)
    assert "\\" not in mathml.replace("&#x0005C;", "")
    words = "".join(re.findall(r">([^<>]*)<", mathml))
    for character in ("%", "{", "}", "#", "$", "_"):
        assert character in html.unescape(words)


def test_long_words_of_cvxpy_are_cut_off():
    x = free("x", 3)
    text = notation.plain_relation(cp.hstack([x[i % 3 : i % 3 + 1] for i in range(50)]))
    assert len(text) < 100
    assert "…" in text


def test_an_entrywise_product_with_several_factors_has_them_in_brackets():
    x, w, C = free("x", 3), cp.Parameter(3, name="w"), cp.Constant(np.ones((3, 3)), name="C")
    for F, text, latex in (
        (cp.multiply(w + 1, x), "(w + 1)∘x", r"(w + 1) \circ x"),
        (cp.multiply(C @ w, x), "(C w)∘x", r"(C w) \circ x"),
    ):
        fill([F], 3)
        np.testing.assert_allclose(sum(t.value for t in notation.expand(F)), F.value, rtol=1e-12)
        assert notation.plain_relation(F) == text
        assert notation.write_sum(notation.expand(F), "latex") == latex
    for left, block in ((w + 1, "diag(w + 1)"), (cp.cumsum(w), f"diag({cp.cumsum(w)})")):
        assert notation.write_sum(notation.expand(cp.multiply(left, x)), "text", skip_unknown=True) == block


def test_a_declaration_with_unknown_nodes_is_printed():
    """The sum of all normal impulses, as a row of a declaration."""

    @formulation("summed", friction="none", source="this test")
    def build(s):
        v, p_n, total = free("v", s.n), nonneg("p_n", s.r), free("total", 1)
        rows = equals(s.balance(v, p_n)), equals(total - cp.sum(cp.multiply(s.mu, p_n), keepdims=True))
        return declare(*rows, complements(s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n))

    declaration = build.declaration(3, 0, 2, 1)
    text = notation.text_page(declaration, "LCP")
    assert "total − Sum(mu * p_n, None, True) = 0" in text
    assert "−Sum(mu * ·, None, True)" in text
    assert ("μ", "friction coefficients") in notation.glossary(declaration)
    page = notation.latex_page(declaration, "summed")
    assert r"\mathrm{Sum(mu\ *\ p\_n,\ None,\ True)}" in page
    assert "\\" not in convert(notation.latex_blocks(declaration))


# Text


def parts(pattern: str, text: str) -> tuple[str | Any, ...]:
    found = re.fullmatch(pattern, text)
    assert found, text
    return found.groups()


@pytest.mark.share(3)
@each_size
@each_formulation
def test_relations_read_as_the_numbers(f, size):
    declaration = f.declaration(*size)
    fill(printed(declaration), 2)
    values = table(declaration)
    for r in declaration.relations:
        text = notation.relation(r)
        assert "constant" not in text
        if hasattr(r, "F_n"):
            x_n, x_t, F_n, F_t, u_t = parts(r"K_μ ∋ \((.*), (.*)\)  ⊥  \((.*), (.*)\) ∈ K_μ\*(?:, u_t = (.*))?", text)
            assert (x_n, x_t) == (greek(r.x.n.name()), greek(r.x.t.name()))
            assert (F_t == "u_t", u_t is not None) == (r.coulomb, r.coulomb)
            assert F_n.endswith(" + μ |u_t|") == r.coulomb
            sides = [(r.F_n, F_n.removesuffix(" + μ |u_t|")), (r.F_t, u_t or F_t)]
        elif not hasattr(r, "x"):
            sides = [(r.F, text.removesuffix(" = 0"))]
            assert text.endswith(" = 0")
        elif hasattr(r.x.member_of, "lower"):
            low, x, high, F = parts(r"(.*) ≤ (.*) ≤ (.*)  ⊥  (.*)", text)
            assert x == greek(r.x.name())
            bounds = (r.x.member_of.lower, r.x.member_of.upper)
            sides = [(r.F, F), *zip((cp.Expression.cast_to_const(b) for b in bounds), (low, high), strict=True)]
        else:
            x, F = parts(r"0 ≤ (.*)  ⊥  (.*) ≥ 0", text)
            assert x == greek(r.x.name())
            sides = [(r.F, F)]
        for F, side in sides:
            np.testing.assert_allclose(read_vector(side, values, F.size), F.value, rtol=1e-12, atol=1e-12)


@pytest.mark.share(3)
@each_size
@each_formulation
def test_block_matrix_reads_as_the_stamped_matrix(f, size):
    c = compiled(f, *size)
    declaration: Any = c.declaration
    fill(printed(declaration), 3)
    work = c.workspace()
    core = c.core(0.01, False, 0.0)
    own = core.own
    for leaf in leaves(declaration):
        if isinstance(leaf, cp.Parameter) and hasattr(core, leaf.name()):
            getattr(core, leaf.name())[:] = leaf.value
    if own.size:
        own[:] = np.concatenate([np.ravel(p.value) for p in declaration.hooks.own])
    stamp(core.theta, work)
    values = table(declaration)
    labels, columns, blocks, constants = notation.block_matrix(declaration)
    unknowns, rows = declaration.unknowns, declaration.expressions
    assert columns == [printed_name(u) for u in unknowns]
    partners = [
        u for r in declaration.relations if hasattr(r, "x") for u in ([r.x.n, r.x.t] if hasattr(r, "F_n") else [r.x])
    ]
    assert labels == ["0"] * len(declaration.equations) + [greek(u.name()) for u in partners]
    assert [len(line) for line in blocks] == [len(unknowns)] * len(rows)
    i = 0
    for F, line, constant in zip(rows, blocks, constants, strict=True):
        j = 0
        for u, text in zip(unknowns, line, strict=True):
            block = read_block(text, values, (F.size, u.size))
            np.testing.assert_allclose(work.A[i : i + F.size, j : j + u.size], block, rtol=1e-12, atol=1e-12)
            j += u.size
        expected = read_vector(constant, values, F.size)
        np.testing.assert_allclose(work.A[i : i + F.size, j], expected, rtol=1e-12, atol=1e-12)
        i += F.size


def test_names_are_printed_in_greek_and_with_their_subscripts():
    for name, text, latex in (
        ("p_n", "p_n", "p_{n}"), ("v+", "v⁺", "v^{+}"), ("sigma", "σ", r"\sigma"), ("eps_n", "ε_n", r"\varepsilon_{n}"),
        ("w_up", "w_up", r"w_{\mathrm{up}}"), ("limit", "limit", r"\mathrm{limit}"), ("M", "M", "M"),
    ):  # fmt: skip
        assert notation.latex_name(name) == latex
        assert notation.plain_relation(free(name, 2)) == text


def test_labels_of_rows_that_share_an_expression():
    v, p, q = free("v", 2), nonneg("p", 2), nonneg("q", 2)
    F = v - p + q
    declaration = declare(equals(F), complements(F, p), complements(F, q), recover=dict(v=v, p_n=p))
    assert notation.block_matrix(declaration)[0] == ["0", "p", "q"]


def test_constant_bounds_and_friction_are_printed():
    x = box("x", 1, -np.inf, 2.0)
    assert re.fullmatch(r"(−inf|−∞) ≤ x ≤ 2  ⊥  x", notation.relation(complements(x, x)))
    cone = friction_cone(0.5, 1, 1)
    text = notation.relation(complements((cone.n, cone.t), cone, law="coulomb"))
    assert "0.5 |u_t|" in text


@each_formulation
def test_text_page_holds_everything(f):
    declaration = f.declaration(6, 1, 2, 2)
    page = notation.text_page(declaration, "a class of problems")
    for expected in (*map(notation.relation, declaration.relations), "a class of problems"):
        assert " ".join(expected.split()) in " ".join(page.split())
    matrix = page.index("block matrix"), page.index("\ndata")
    assert max(map(len, (page[: matrix[0]] + page[matrix[1] :]).split("\n"))) <= 100
    data = [leaf for leaf in leaves(declaration) if isinstance(leaf, cp.Parameter)]
    shown = {name for name, meaning in notation.glossary(declaration) if meaning}
    left_hand = {p.id for F in declaration.expressions for p in F.parameters()}
    assert {greek(p.name()) for p in data if p.id in left_hand} <= shown
    assert "constant" not in " ".join(map(notation.relation, declaration.relations))
    words = dict(notation.sets(declaration))
    assert len(words) == len(declaration.unknowns)
    assert all(str(u.size) in words[printed_name(u)] for u in declaration.unknowns)


# LaTeX


@each_formulation
def test_latex_says_the_same_as_the_text(f):
    declaration = f.declaration(6, 1, 2, 2)
    for F in printed(declaration):
        terms = notation.expand(F)
        assert as_text(notation.write_sum(terms, "latex")) == notation.write_sum(terms, "text")
    text, latex = (notation.block_matrix(declaration, style) for style in ("text", "latex"))
    for one, other in zip(text[:2] + text[3:], latex[:2] + latex[3:], strict=True):
        assert one == [as_text(cell) for cell in other]
    assert text[2] == [[as_text(cell) for cell in line] for line in latex[2]]


@each_formulation
def test_latex_is_balanced(f):
    page = notation.latex_page(f.declaration(6, 1, 2, 2), f.label)
    depth = np.cumsum([{"{": 1, "}": -1}.get(character, 0) for character in page])
    assert depth.min() >= 0
    assert depth[-1] == 0
    environments = []
    for command, name in re.findall(r"\\(begin|end)\{([^}]*)\}", page):
        if command == "begin":
            environments.append(name)
        else:
            assert environments.pop() == name
    assert environments == []
    assert page.isascii() or "\\usepackage" in page


@each_formulation
def test_latex_becomes_mathml(f):
    declaration = f.declaration(6, 1, 2, 2)
    pieces = [notation.relation(r, "latex") for r in declaration.relations]
    for piece in (*pieces, notation.latex_blocks(declaration)):
        mathml = convert(piece)
        assert mathml.startswith("<math")
        # A command that the converter does not know would be left as it is.
        assert "\\" not in mathml


@each_formulation
def test_latex_compiles(f, tmp_path):
    program = shutil.which("pdflatex") or shutil.which("latex")
    if program is None:
        pytest.skip("neither pdflatex nor latex is on the path")
    (tmp_path / "page.tex").write_text(notation.latex_page(f.declaration(6, 1, 2, 2), f.label), encoding="utf-8")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.log").exists()
    assert list(tmp_path.glob("page.pdf")) or list(tmp_path.glob("page.dvi"))
