"""The modelling language: CVXPY expressions plus one relation, `complements`.

A formulation is a function that takes symbols (such as `ContactSymbols`) and returns a `Declaration`. Each unknown has
the set it lives in, and the set defines complementarity:

    free            F = 0
    nonneg          0 <= F  perp  x >= 0
    box             F >= 0 where x = l, F <= 0 where x = u, F = 0 between
    disc            contact by contact |x| <= radius, F = 0 inside, x = -radius F / |F| on the rim
    friction_cone   K contains x  perp  F in K*      (law="coulomb": F shifted by mu |F_t| along the normal)

CVXPY's tree is the only expression tree: `notation` prints it, `assembly` compiles it, and it is never written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench.engine.lazy import Lazy
from workbench.engine.lazy import cvxpy as cp
from workbench.language.sets import Box, DiscSet, Free, Nonneg
from workbench.mechanics.law import COULOMB, Law
from workbench.support.errors import ModellingError

if TYPE_CHECKING:
    from workbench.language import leaves, products
else:
    leaves, products = Lazy("workbench.language.leaves"), Lazy("workbench.language.products")


def free(name: str, size: int) -> leaves.Unknown:
    """An unrestricted unknown; its partner is an `equals` row."""
    return leaves.Unknown(name, size, Free())


def nonneg(name: str, size: int) -> leaves.Unknown:
    """A nonnegative unknown, the partner in one `complements`."""
    return leaves.Unknown(name, size, Nonneg())


def box(name: str, size: int, lower: Any, upper: Any) -> leaves.Unknown:
    """A bounded unknown; `lower`, `upper` are CVXPY expressions in parameters only, arrays or numbers."""
    for side, bound in (("lower", lower), ("upper", upper)):
        _data(bound, size, f"the {side} bound of '{name}'")
    unknown = leaves.Unknown(name, size, Box(lower, upper))
    if not (_is_parametric(lower) or _is_parametric(upper)):
        low, high = (np.broadcast_to(np.ravel(cp.Expression.cast_to_const(b).value), size) for b in (lower, upper))
        for i in np.flatnonzero(~(low <= high)):
            raise ModellingError(f"'{name}' has bounds {low[i]:g} and {high[i]:g}; lower <= upper is needed")
    return unknown


def disc(name: str, r: int, d: int, radius: Any) -> leaves.Unknown:
    """Friction impulses of r contacts with d directions each, (d r,), in discs: |x_i| <= radius_i, contact by contact.

    `radius` is data, >= 0, one for each contact or one for all: CVXPY expressions in parameters only, arrays or
    numbers. `complements(F, x)` then states maximum dissipation within the disc (Tresca friction): F_i = 0 inside it,
    F_i against x_i on its rim. The discs are intervals for d = 1 and balls for d > 2. If the radius is mu p_n, an
    unknown, use a friction cone.
    """
    _data(radius, r, f"the radius of '{name}'")
    if not _is_parametric(radius):
        value = np.ravel(cp.Expression.cast_to_const(radius).value)
        for i in np.flatnonzero(~((value >= 0) & (value < np.inf))):
            raise ModellingError(f"'{name}' has the radius {value[i]:g}; a number >= 0 is needed")
    return leaves.Unknown(name, d * r, DiscSet(radius, r))


def _data(value: Any, size: int, what: str, other: int | None = None) -> cp.Expression:
    """Return `value` as an expression affine in parameters only, with one entry, or `size` or `other` entries."""
    F = _affine(value, what, unknowns=False)
    if F.variables():
        raise ModellingError(
            f"{what} contains the unknown '{F.variables()[0].name()}'; "
            "it is data, so declare the coupling as relations of its own"
        )
    if F.size not in (1, size, other or size):
        also = f", or {other}, one for every direction" if other and other != size else ""
        raise ModellingError(f"{what} has {F.size} entries; {size} are needed{also}")
    return F


def _is_parametric(value: Any) -> bool:
    return bool(cp.Expression.cast_to_const(value).parameters())


@dataclass(frozen=True)
class FrictionCone:
    """A pair of unknowns (p_n, p_t) in K = {mu p_n >= |p_t|}, contact by contact; mu is data.

    `each`: mu (d r,) has a coefficient for every direction, the axes of an ellipsoid. `apart`: sliding (the first two
    directions), torsion (the third) and rolling (the others) are bounded separately.
    """

    n: leaves.Unknown
    t: leaves.Unknown
    mu: Any
    each: bool = False
    apart: bool = False

    @property
    def name(self) -> str:
        return f"({self.n.name()}, {self.t.name()})"


def friction_cone(
    mu: Any, r: int, d: int, names: tuple[str, str] = ("p_n", "p_t"), apart: bool = False
) -> FrictionCone:
    """Impulses of r contacts with d tangential directions each, in their friction cones; mu is data.

    For the returned `p`, `p.n` (r,) and `p.t` (d r,) [N s] are the normal and friction impulses, used in expressions
    like other unknowns; `p` itself goes into `complements((F_n, F_t), p)`. `names` are the printed names.

    mu has one entry for all contacts, one for each (r,), or one for every direction (d r,), contact by contact: the
    cone is then over the ellipsoid |(p_a / mu_a)| <= p_n. With torsion and rolling (d > 2), `apart` bounds sliding (the
    first two directions), torsion (the third) and rolling (the others) separately instead of all in one ball.
    """
    mu = _data(mu, r, f"the friction coefficient of {names}", d * r)
    n, t = leaves.Unknown(names[0], r, Free()), leaves.Unknown(names[1], d * r, Free())
    return FrictionCone(n, t, mu, d > 1 and mu.size == d * r and mu.size > 1, apart and d > 2)


@dataclass(frozen=True)
class Equals:
    """F = 0."""

    F: cp.Expression


@dataclass(frozen=True)
class Complements:
    """F complementary to the unknown x in the sense of x's set."""

    F: cp.Expression
    x: leaves.Unknown


@dataclass(frozen=True)
class ConeComplements:
    """(F_n, F_t) complementary to a friction-cone pair; `coulomb` adds De Saxce's mu |F_t| to F_n."""

    F_n: cp.Expression
    F_t: cp.Expression
    x: FrictionCone
    coulomb: bool


Relation = Equals | Complements | ConeComplements


def _affine(F: Any, where: str, unknowns: bool = True) -> cp.Expression:
    try:
        F = cp.Expression.cast_to_const(F)
        if F.is_constant() and not F.parameters():
            np.asarray(F.value, dtype=float)
    except (TypeError, ValueError):
        raise ModellingError(f"{where}: {F!r} is not a CVXPY expression") from None
    if F.ndim > 1:
        raise ModellingError(f"{where}: the expression has shape {F.shape}; relations are between vectors")
    for node in _postorder(F):
        if not node.is_affine():
            raise ModellingError(f"{where}: the term {node} is not affine in the unknowns")
        # CVXPY's rule for parametrised problems: at most one parameter multiplies each unknown.
        if not (node == 0).is_dpp():
            raise ModellingError(
                f"{where}: the term {node} multiplies data with data; {products.instead(node, unknowns)}"
            )
    return F


def _postorder(F: Any) -> Iterator[Any]:
    for arg in F.args:
        yield from _postorder(arg)
    yield F


def equals(F: Any) -> Equals:
    """The equation F = 0; its rows determine the free unknowns."""
    return Equals(_affine(F, "equals"))


def complements(F: Any, x: Any, law: str = "cone") -> Complements | ConeComplements | Equals:
    """F complementary to x. For a friction cone F is the pair (F_n, F_t), and `law` is "cone" or "coulomb".

    Raises ModellingError if x is not an unknown, the sizes differ, or F is not affine.
    """
    if isinstance(x, FrictionCone):
        if not (isinstance(F, tuple) and len(F) == 2):
            raise ModellingError(f"complements: the friction cone {x.name} needs a pair (F_n, F_t)")
        if law not in ("cone", "coulomb"):
            raise ModellingError(f"complements: law '{law}' is unknown; known: cone, coulomb")
        parts = [_affine(f, f"complements with {u.name()}") for f, u in zip(F, (x.n, x.t), strict=True)]
        for f, u in zip(parts, (x.n, x.t), strict=True):
            _same_size(f, u)
        return ConeComplements(parts[0], parts[1], x, law == "coulomb")
    if law != "cone":
        raise ModellingError(f"complements: law '{law}' belongs to a friction cone, not to '{x}'")
    if not isinstance(x, leaves.Unknown):
        raise ModellingError(
            f"complements: the right-hand side is {type(x).__name__} {x}; it must be an unknown made by free, nonneg, "
            "box, disc or friction_cone"
        )
    F = _affine(F, f"complements with {x.name()}")
    _same_size(F, x)
    return Equals(F) if isinstance(x.member_of, Free) else Complements(F, x)


def _same_size(F: cp.Expression, x: leaves.Unknown) -> None:
    if F.size != x.size:
        raise ModellingError(f"complements: the expression has {F.size} rows and '{x.name()}' has {x.size} entries")


BEFORE = "core", "memory", "own", "numbers"
AFTER = *BEFORE, "v", "p_n", "p_t"
PARAMETERS = {"given": BEFORE, "again": AFTER, "remember": AFTER}
"""Parameters of each hook."""


@dataclass(frozen=True)
class Hooks:
    """State-dependent data of a formulation, as compiled functions (signatures in `workbench.language.hooks`).

    given: fills `own` parameters and turns tangent frames before a step; again: asks for another pass of a fixed point;
    remember: stores what the next step needs. `own` are CVXPY parameters of the declaration, such as `cp.Parameter(3)`,
    whose values change from step to step: hooks receive them as one flat array `own`, one parameter after the other,
    and write them there. `numbers` are constant floats, mostly options of the formulation, which hooks receive as an
    array `numbers`. `memory` is the length of the memory that hooks keep from step to step, by default what
    `remember_impulses` needs. `estimate` fills `core.p_bar` before `given` (`estimate.normal_estimate`): "last" uses
    the last step's p_n, "start" the starting point of an iteration.
    """

    given: Callable | None = None
    again: Callable | None = None
    remember: Callable | None = None
    own: tuple[cp.Parameter, ...] = ()
    numbers: tuple[float, ...] = ()
    memory: int | None = None
    estimate: Literal["none", "last", "start"] = "none"

    def __post_init__(self) -> None:
        for name, wanted in PARAMETERS.items():
            hook = getattr(self, name)
            if hook is None:
                continue
            # Code with hooks has imported numba already; a declaration alone does not need it.
            from workbench.engine.interpreted import OFF, python_of

            if not (OFF or hasattr(hook, "py_func")):
                raise ModellingError(
                    f"hook {name} is not compiled; decorate it with kernel({name.upper()}): kernel is in "
                    f"workbench.engine.compiling, {name.upper()} in workbench.language.hooks"
                )
            found = tuple(signature(python_of(hook)).parameters)
            if len(found) != len(wanted):
                raise ModellingError(
                    f"hook {name} is {hook.__name__}({', '.join(found)}); {name}({', '.join(wanted)}) is needed"
                )


@dataclass(frozen=True, eq=False)
class Declaration:
    """A mixed complementarity problem over simple sets, with the map from its solution to v+ and the impulses."""

    relations: tuple[Relation, ...]
    recover: dict[str, cp.Expression]
    hooks: Hooks
    law: Law = COULOMB

    @cached_property
    def free(self) -> list[leaves.Unknown]:
        """Free unknowns, in order of appearance."""
        partners = {u.id for u in self.partners}
        seen = {u.id: u for F in self.expressions for u in F.variables() if u.id not in partners}
        return list(seen.values())

    @cached_property
    def partners(self) -> list[leaves.Unknown]:
        """Unknowns in complementarity relations, in the order of the relations."""
        found: list[leaves.Unknown] = []
        for relation in self.relations:
            if isinstance(relation, ConeComplements):
                found += [relation.x.n, relation.x.t]
            elif isinstance(relation, Complements):
                found.append(relation.x)
        return found

    @property
    def unknowns(self) -> list[leaves.Unknown]:
        return self.free + self.partners

    @cached_property
    def equations(self) -> list[cp.Expression]:
        return [r.F for r in self.relations if isinstance(r, Equals)]

    @cached_property
    def expressions(self) -> list[cp.Expression]:
        """All left-hand sides: equations first, then the relations' rows in the order of `partners`."""
        rows = list(self.equations)
        for relation in self.relations:
            if isinstance(relation, ConeComplements):
                rows += [relation.F_n, relation.F_t]
            elif isinstance(relation, Complements):
                rows.append(relation.F)
        return rows

    @property
    def cones(self) -> list[ConeComplements]:
        return [r for r in self.relations if isinstance(r, ConeComplements)]

    @property
    def discs(self) -> list[leaves.Unknown]:
        return [u for u in self.partners if isinstance(u.member_of, DiscSet)]

    @cached_property
    def parameters(self) -> dict[str, cp.Parameter]:
        """The data by name: parameters of the relations, bounds, radii and friction coefficients."""
        bounds = [side for u in self.partners if isinstance(u.member_of, Box) for side in vars(u.member_of).values()]
        radii = [u.member_of.radius for u in self.discs]
        data = map(cp.Expression.cast_to_const, [*bounds, *radii, *(c.x.mu for c in self.cones)])
        return {p.name(): p for F in (*self.expressions, *data) for p in F.parameters()}

    def problem(self) -> cp.Problem:
        """The convex problem whose optimality conditions are the relations; objectives and constraints may be added.

        Its variables are the unknowns (`problem.var_dict["v"]`), its data `parameters`, whose values must be set before
        it is solved and may be changed later (`step.one_step.declared` sets them from a system). It minimises 1/2 p^T W
        p + q^T p over the impulses in their sets, with the equations as constraints. Raises ModellingError for
        relations that are not optimality conditions: exact Coulomb friction, polygons, pyramids. For box formulations
        it is the problem of one pass, with the bounds that the parameters hold.
        """
        from workbench.language.optimisation import optimisation_problem

        return optimisation_problem(self)


def declare(
    *relations: Relation, recover: dict[str, Any] | None = None, hooks: Hooks | None = None, law: Law = COULOMB
) -> Declaration:
    """Collect relations into a Declaration and check that it is well posed.

    `recover` maps the names of an answer (`formulation.Symbols.answer`; for a time step "v", "p_n" and, with friction,
    "p_t") to expressions in the unknowns. `law` is the law that the relations discretise; answers are judged against it
    as well as against Coulomb's. Raises ModellingError naming the culprit: an unknown with two partners or none, or a
    number of free unknowns that differs from the number of equations.
    """
    for relation in relations:
        if not isinstance(relation, Relation):
            what = (
                "put a * before several, as in *s.bilateral(v)"
                if isinstance(relation, tuple)
                else "use equals(...) or complements(...)"
            )
            raise ModellingError(f"declare: {relation!r} is not a relation; {what}")
    if recover is None:
        raise ModellingError("declare: recover is missing; name the answer, as in recover=dict(v=v, p_n=p_n, p_t=p_t)")
    recovered = {k: _affine(e, f"recover['{k}']") for k, e in recover.items()}
    if not isinstance(law, Law):
        raise ModellingError(f"declare: law is {law!r}; it must be a Law, as in law=Law('elliptic', axes=(1.0, 0.5))")
    declaration = Declaration(relations, recovered, hooks or Hooks(), law)
    for u in declaration.partners:
        if sum(u is other for other in declaration.partners) > 1:
            raise ModellingError(f"'{u.name()}' is the partner of two relations; an unknown has one")
    for u in declaration.free:
        if not isinstance(u, leaves.Unknown):
            raise ModellingError(
                f"'{u.name()}' is a bare CVXPY variable; make it with free, nonneg, box, disc or friction_cone"
            )
        if not isinstance(u.member_of, Free):
            raise ModellingError(f"'{u.name()}' is restricted but no relation has it as partner")
    names = [u.name() for u in declaration.unknowns]
    for name in names:
        if names.count(name) > 1:
            raise ModellingError(f"two different unknowns are called '{name}'")
    unknowns, rows = sum(u.size for u in declaration.free), sum(F.size for F in declaration.equations)
    if unknowns != rows:
        listed = ", ".join(f"{u.name()} ({u.size})" for u in declaration.free) or "none"
        raise ModellingError(
            f"free unknowns {listed} make {unknowns} entries but the equals relations have {rows} rows"
        )
    known = {u.id for u in declaration.unknowns}
    for key, F in declaration.recover.items():
        strangers = [u.name() for u in F.variables() if u.id not in known]
        if strangers:
            raise ModellingError(f"recover['{key}'] uses '{strangers[0]}', which appears in no relation")
    return declaration
