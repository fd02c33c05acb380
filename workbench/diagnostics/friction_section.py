"""The cross-section of the admissible friction set: the friction impulses that a declaration admits at p_n = 1.

It is computed from the declaration, for one contact of a unit mass pressed onto a plane by a unit impulse: all p_t for
which the unknowns lie in their sets and all sides of the relations that involve impulses only, not the motion, hold. A
side involves the motion if it contains any of the bodies' data; an unknown whose partner involves impulses only is a
slip, and slips are zero. So it is the set of friction impulses with which the contact may stick; Coulomb's is the disc
of radius mu. Its support function is a linear programme, or a conic one with a friction cone.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from workbench.engine.interpreted import SMALL, interpreting
from workbench.language.formulation import ContactSymbols, Formulation
from workbench.language.modelling import Complements, Declaration, Equals
from workbench.language.sets import Box, Nonneg
from workbench.mechanics.contact import ContactSystem
from workbench.mechanics.core import SHARED
from workbench.step import stepping
from workbench.step.one_step import filled, with_values
from workbench.step.stepper import Stepper
from workbench.support.arrays import Array
from workbench.support.errors import DataError

ROUND = 72
"""Number of vertices of a section with a curved boundary."""
MOST = 400
"""Largest number of vertices of a polygon; a section with more is taken to be round."""
NOTHING = 1e-9
"""Coefficient of a direction without friction."""
SAME_POINT = 1e-9
"""Points closer than this, relative to the largest, are identical."""


def friction_section(formulation: Formulation, mu: float = 1.0, slides: bool = False) -> Array | None:
    """Vertices (n, 2), anticlockwise, of the friction impulses admitted at p_n = 1, in the contact's tangent axes.

    Polygons are exact, round sections have `ROUND` boundary points; without friction only the origin is returned. With
    `slides` the contact has slid along its first axis before the step, which matters for declarations that depend on
    it: their axes are then the turned ones. None where friction is not bounded, as in penalty laws, and for
    formulations that make no time step in space. Raises DataError unless mu is a number >= 0, and the errors of
    declaring.
    """
    if not (np.isfinite(mu) and mu >= 0):
        raise DataError(f"mu = {mu}; a friction coefficient >= 0 is needed")
    return _section(formulation, float(mu), slides)


@lru_cache(maxsize=256)
def _section(formulation: Formulation, mu: float, slides: bool) -> Array | None:
    if formulation.symbols is not ContactSymbols:
        return None
    declaration = with_values(_begun(formulation, mu, slip=(float(slides), 0.0)))
    if "p_t" not in declaration.recover:
        return np.zeros((1, 2))
    found = _rim(_Impulses.of(declaration))
    if found is not None:
        found.flags.writeable = False
    return found


@lru_cache(maxsize=256)
def section_axes(formulation: Formulation) -> tuple[str, str]:
    """Direction of the first tangent axis of a contact that sticks before the step, and of one that slides.

    "fixed" is the case's own, "sliding" the sliding velocity before the step, "friction" the last friction impulse,
    "body" the body's yaw. Raises the errors of declaring.
    """
    directions = {"fixed": 0.0, "sliding": 0.4, "friction": 0.8, "body": 1.2}
    unit = {name: (float(np.cos(a)), float(np.sin(a))) for name, a in directions.items()}

    def found(slip: tuple[float, float]) -> str:
        stepper = _begun(formulation, 1.0, slip, unit["friction"], unit["body"])
        return min(unit, key=lambda name: np.linalg.norm(stepper.core.frame[0] - unit[name]))

    return found((0.0, 0.0)), found(unit["sliding"])


def _begun(
    formulation: Formulation, mu: float, slip: tuple[float, float], friction: tuple[float, float] = (0.0, 0.0),
    heading: tuple[float, float] = (1.0, 0.0),
) -> Stepper:  # fmt: skip
    """Begin a step of the pressed unit mass, with its `slip` [m/s], last friction impulse [N s] and yaw."""
    x, y, z = axes = np.eye(3)
    block = ContactSystem(
        M=axes, v=np.array([*slip, 0.0]), f=-z, h=1.0, J_n=z[None], J_t=np.array([x, y]), mu=mu, v_th=0.1,
        heading=np.array([heading]),
    )  # fmt: skip
    # One contact is a small task.
    with interpreting(SMALL):
        stepper = filled(formulation, block)
        if stepper.c.hooks.remember is None:
            # The last step had the same normal impulse.
            stepper.memory[:3] = 1.0, *friction
        stepping.discretise(stepper.core)
        stepper.begin()
    return stepper


@dataclass(frozen=True, eq=False)
class _Impulses:
    """Constraints of the unknowns z: E z = e, F z + f >= 0, lower <= z <= upper, C z + c in Lorentz cones.

    p_t = T z + t. The first row of each cone (C, c) is its axis.
    """

    E: Array
    e: Array
    F: Array
    f: Array
    lower: Array
    upper: Array
    cones: list[tuple[Array, Array]]
    T: Array
    t: Array

    @classmethod
    def of(cls, d: Declaration) -> "_Impulses":
        bodies = set(SHARED) - {"mu"}

        def of_motion(F: Any) -> bool:
            return any(p.name() in bodies for p in F.parameters())

        laws = [r for r in d.relations if isinstance(r, Complements) and not of_motion(r.F)]
        slips = {r.x.id for r in laws if isinstance(r.x.member_of, Nonneg)}
        equations = [r.F for r in d.relations if isinstance(r, Equals) and not of_motion(r.F)]
        limits = [r.F for r in laws if isinstance(r.x.member_of, Nonneg)]
        lower, upper = (np.concatenate([_bound(u, side, u.id in slips) for u in d.unknowns]) for side in (0, 1))
        E, e = _affine([*equations, d.recover["p_n"] - 1.0], d.unknowns)
        F, f = _affine(limits, d.unknowns)
        T, t = _affine([d.recover["p_t"]], d.unknowns)
        cones = [_round(c.x, d.unknowns) for c in d.cones]
        for u in d.discs:
            C, axis = _affine([u], d.unknowns)
            radius = np.ravel(_value(u.member_of.radius))[:1]
            cones.append((np.vstack([np.zeros(C.shape[1]), C]), np.append(radius, axis)))
        return cls(E, -e, F, f, lower, upper, cones, T, t)

    def farthest(self, direction: Array) -> Array | None:
        """p_t (2,) that is farthest in a direction; None where there is none."""
        z = self._by_cones(direction) if self.cones else self._by_planes(direction)
        return None if z is None else self.T @ z + self.t

    def _by_planes(self, direction: Array) -> Array | None:
        from scipy.optimize import linprog

        bounds = np.column_stack([self.lower, self.upper])
        found = linprog(-direction @ self.T, -self.F, self.f, self.E, self.e, bounds, method="highs")
        return found.x if found.status == 0 else None

    def _by_cones(self, direction: Array) -> Array | None:
        import clarabel
        from scipy import sparse

        rows, bounds, kinds = self._in_cones
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        P = sparse.csc_matrix((rows.shape[1], rows.shape[1]))
        answer = clarabel.DefaultSolver(P, -direction @ self.T, rows, bounds, kinds, settings).solve()
        return np.array(answer.x) if str(answer.status) in ("Solved", "AlmostSolved") else None

    @cached_property
    def _in_cones(self) -> tuple[Any, Array, list[Any]]:
        """A, b and cones K with b - A z in K, as Clarabel takes them."""
        import clarabel
        from scipy import sparse

        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        eye = np.eye(self.lower.size)
        A = [self.E, -self.F, -eye[low], eye[high], *(-C for C, _ in self.cones)]
        b = [self.e, self.f, -self.lower[low], self.upper[high], *(c for _, c in self.cones)]
        kinds: list[Any] = [clarabel.ZeroConeT(self.e.size)]
        if count := self.f.size + int(low.sum() + high.sum()):
            kinds.append(clarabel.NonnegativeConeT(count))
        kinds += [clarabel.SecondOrderConeT(c.size) for _, c in self.cones]
        return sparse.csc_matrix(np.vstack(A)), np.concatenate(b), kinds


def _round(x: Any, unknowns: list[Any]) -> tuple[Array, Array]:
    """A friction cone as a Lorentz cone; with several coefficients, in units of these."""
    C, axis = _affine([x.n, x.t], unknowns)
    mu = np.ravel(_value(x.mu))
    if x.each:
        # A zero coefficient admits almost nothing.
        C[1:] /= np.maximum(mu, NOTHING)[:, None]
    else:
        C[0] *= float(mu[0])
    return C, axis


def _value(x: Any) -> Array:
    from workbench.engine.lazy import cvxpy as cp

    return np.asarray(cp.Expression.cast_to_const(x).value, dtype=float)


def _bound(u: Any, side: int, is_slip: bool) -> Array:
    """The lower (side 0) or upper (1) bound of an unknown."""
    if is_slip:
        return np.zeros(u.size)
    if isinstance(u.member_of, Box):
        return np.broadcast_to(np.ravel(_value((u.member_of.lower, u.member_of.upper)[side])), u.size).astype(float)
    return np.full(u.size, 0.0 if isinstance(u.member_of, Nonneg) and side == 0 else (-np.inf, np.inf)[side])


def _affine(expressions: list[Any], unknowns: list[Any]) -> tuple[Array, Array]:
    """A and a with the expressions = A z + a, where z are the unknowns one after the other."""
    n = sum(u.size for u in unknowns)

    def rows() -> Array:
        return np.concatenate([np.zeros(0), *(np.ravel(_value(F)) for F in expressions)])

    for u in unknowns:
        u.value = np.zeros(u.size)
    a = rows()
    A = np.zeros((a.size, n))
    start = 0
    for u in unknowns:
        if any(u is v for F in expressions for v in F.variables()):
            for i in range(u.size):
                u.value = np.eye(u.size)[i]
                A[:, start + i] = rows() - a
            u.value = np.zeros(u.size)
        start += u.size
    return A, a


def _rim(impulses: _Impulses) -> Array | None:
    """The vertices of the projection onto p_t; None where it is unbounded or empty."""
    if impulses.cones:
        angles = 2 * np.pi * np.arange(ROUND) / ROUND
        points = [impulses.farthest(np.array([np.cos(a), np.sin(a)])) for a in angles]
        return None if any(p is None for p in points) else _vertices(np.array(points))
    # Directions that are not normal to a side of any polygon, so that each has one farthest point.
    points = [impulses.farthest(np.array([np.cos(a), np.sin(a)])) for a in (0.1234, 2.2345, 4.3456)]
    if any(p is None for p in points):
        return None
    rim, i = np.array(points), 0
    while i < len(rim) < MOST:
        p, q = rim[i], rim[(i + 1) % len(rim)]
        outward = np.array([q[1] - p[1], p[0] - q[0]])
        size = np.linalg.norm(outward)
        beyond = impulses.farthest(outward / size) if size > 0 else None
        if beyond is None or (beyond - p) @ outward <= SAME_POINT * size * np.abs(rim).max():
            i += 1
        else:
            rim = np.insert(rim, i + 1, beyond, axis=0)
    return _vertices(rim)


def _vertices(rim: Array) -> Array:
    """The corners of a convex set among its boundary points in anticlockwise order; for a segment its ends."""
    size = np.abs(rim).max()
    rim = np.where(np.abs(rim) <= SAME_POINT * size, 0.0, rim)
    keep: list[Array] = []
    for p in rim:
        if not keep or np.linalg.norm(np.array(keep) - p, axis=1).min() > SAME_POINT * size:
            keep.append(p)
    if len(keep) < 3:
        return np.array(keep)
    before, after = np.roll(keep, 1, axis=0), np.roll(keep, -1, axis=0)
    a, b = np.array(keep) - before, after - np.array(keep)
    corner = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) > SAME_POINT * size**2
    points = np.array(keep)
    if corner.any():
        return points[corner]
    end = points[np.linalg.norm(points - points[0], axis=1).argmax()]
    return np.array([end, points[np.linalg.norm(points - end, axis=1).argmax()]])
