"""Error texts for products of data with data, which CVXPY's rule for parametrised problems forbids."""

from typing import Any

from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.transpose import transpose
from cvxpy.atoms.affine.unary_operators import NegExpression

from workbench.language.leaves import CoreSymbol


def instead(node: Any, unknowns: bool) -> str:
    """Say what to write for a node that multiplies data with data; `unknowns`: whether unknowns may stand there.

    A vector factor becomes an unknown with an equation, which is eliminated with the other free unknowns; data of other
    shapes, bounds and friction coefficients become parameters that a hook fills.
    """
    inner = next((a for a in node.args if a.variables()), node.args[-1])
    if unknowns and isinstance(node, multiply | MulExpression) and inner.ndim == 1:
        used = {u.name() for u in node.variables()}
        name = next(x for x in ("x", "y", "z", "w") if x not in used or x == "w")
        product = code(node, {id(inner): name})
        return f"write {product} with {name} = free('{name}', {inner.size}) and equals({name} - {_factor(inner, {})})"
    product = next((a for a in node.args if not a.variables()), node) if node.variables() else node
    words = code(product, {})
    if isinstance(node, DivExpression) and product is not node:
        words = f"1 / {words}"
    product = product.args[0] if isinstance(product, Promote) else product
    shape = product.size if len(product.shape) == 1 else product.shape
    return (
        f"write data = cp.Parameter({shape}, name='data') for {words}, list it in Hooks(given, own=(data,)), and let "
        "given(core, memory, own, numbers) fill own with it"
    )


def code(F: Any, names: dict[int, str]) -> str:
    """Write an expression as a line of Python, with `names` for nodes by their id; rare nodes in CVXPY's notation."""
    if id(F) in names:
        return names[id(F)]
    if isinstance(F, CoreSymbol):
        return f"s.{F.name()}"
    if isinstance(F, Promote):
        return code(F.args[0], names)
    if isinstance(F, transpose):
        return f"{_factor(F.args[0], names)}.T"
    if isinstance(F, NegExpression):
        return f"-{_factor(F.args[0], names)}"
    if isinstance(F, AddExpression):
        return " + ".join(code(a, names) for a in F.args)
    if isinstance(F, multiply):
        return f"cp.multiply({', '.join(code(a, names) for a in F.args)})"
    if isinstance(F, DivExpression):
        return " / ".join(_factor(a, names) for a in F.args)
    if isinstance(F, MulExpression):
        return " @ ".join(_factor(a, names) for a in F.args)
    return " ".join(str(F).split())


def _factor(F: Any, names: dict[int, str]) -> str:
    words = code(F, names)
    compound = isinstance(F, AddExpression | NegExpression | MulExpression) and not isinstance(F, multiply)
    return f"({words})" if compound and id(F) not in names else words
