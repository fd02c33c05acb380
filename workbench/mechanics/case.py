"""Cases: a system with compiled mechanics, parameters with units, and analytic truths to check it against."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from workbench.engine.interpreted import interpreting
from workbench.mechanics.parameters import Parameters, quantity
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.mechanics.sketch import Annotation, Shape, drawn, view
from workbench.mechanics.solids import GROUND, Plane, Point, Solid, rotated
from workbench.support.arrays import Array
from workbench.support.errors import DataError, UnknownNameError

FILLED = ("M", "f", "J_b", "g", "r_b", "J_n", "phi", "r_n", "J_t", "r_t", "mu", "mu_s", "e")
"""Quantities that the mechanics of a case may give."""
NEEDED = "M", "f", "J_n", "J_t", "phi", "mu"
"""Quantities that they must give."""


def simplest(x: float) -> Fraction:
    """Return the simplest rational that rounds to the double x, with a denominator up to a million; else x itself."""
    near = Fraction(x).limit_denominator(10**6)
    return near if float(near) == x else Fraction(x)


UNTURNED = (1.0, 0.0, 0.0, 0.0)
FLOOR = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Axes of a contact with a level floor: normal and tangents, the first of which is used in the plane."""


def planar_orientation(angle: Array, axis: Point = (0.0, -1.0, 0.0)) -> Array:
    """Unit quaternions (..., 1, 4) of one body rotated by an angle (...) [rad] from x to z, or about `axis`."""
    half = 0.5 * np.asarray(angle)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)[..., None, :]


def touching(points: Array, axes: Any) -> tuple[Array, Array]:
    """Contact points (..., r, 3) and their axes as (..., r, 1 + d, 3), given as (1 + d, 3) or larger."""
    axes = np.asarray(axes, dtype=float)
    return points, np.broadcast_to(axes, (*points.shape[:-1], *axes.shape[-2:]))


@dataclass(frozen=True)
class Truth:
    """One analytic truth: the computed value, the theoretical value, and the allowed difference.

    All three are in `unit`. `tolerance` is absolute, |computed - theory| <= tolerance, and follows from theory: the
    error of the time stepping (a multiple of h) if the theory concerns the continuous motion, round-off otherwise.
    `source` cites the theory.
    """

    name: str
    computed: float
    theory: float
    tolerance: float
    unit: str = ""
    source: str = ""

    @property
    def holds(self) -> bool:
        return bool(abs(self.computed - self.theory) <= self.tolerance)


@dataclass(frozen=True)
class Case(Parameters, ABC):
    """A mechanical system with contacts. Subclasses are frozen dataclasses whose fields are `quantity`s.

    Three class variables are needed: `name`; `size`, (n velocities, m bilateral rows, r contacts, d tangential
    directions); `duration` of a run [s]. `windows` maps a name to (start, end) [s]; the window "all", the whole run,
    always exists. `normal` is the normal law that suits the case, "velocity", "gap" (the default) or "moreau"
    (`workbench.mechanics.core.NORMAL_LAWS`; formulary, section 1). `elastic` says that the tangential compliance of its
    `relaxation` is physical, not numerical, so that exact Coulomb friction has it too. `aliases` maps other names of
    parameters to their own.

    The mechanics are either a method `mechanics(q, v)` in plain Python, or, some fifty times faster, two compiled
    functions `fill` and `advance` (`core.FILL`, `core.ADVANCE`) that read `data()`. Both take the same steps.

    Its shapes are given once, in space: `solids`, their `poses` and `contacts`, and `annotations` of the sketch. A case
    without solids can be compared like any other, but has no sketch and no animation.

    A case whose contacts slide at its start may give them at acceleration level, `sliding_system(q, v)`, and in
    rational numbers, `exact_sliding(given)`, None for a state that has none (see `cases.rod`).
    """

    description: ClassVar[str] = ""
    source: ClassVar[str] = ""
    size: ClassVar[tuple[int, int, int, int]]
    duration: ClassVar[float]
    windows: ClassVar[dict[str, tuple[float, float]]] = {}
    elastic: ClassVar[bool] = False
    normal: ClassVar[str] = "gap"
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Unit and meaning of each velocity by its name, such as {"x'": ("m/s", "velocity of the tip")}; where there are
    more velocities than names, those of one body after the other."""

    v_th: float = quantity(0.01, "m/s", "speed below which a contact counts as sticking", "positive")

    def __post_init__(self) -> None:
        own = type(self)
        for wanted, example in (("name", '"slope"'), ("size", "(3, 0, 1, 2)"), ("duration", "1.0")):
            if not hasattr(own, wanted):
                raise DataError(f"{own.__name__} has no {wanted}; give it as {wanted}: ClassVar = {example}")
        super().__post_init__()

    def rationals(self, given: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the given parameters by canonical name, and the others as the simplest rational of their double."""
        own = {f.name: simplest(float(getattr(self, f.name))) for f in fields(self)}
        return own | {self.aliases.get(key, key): value for key, value in given.items()}

    @classmethod
    def places(cls, *names: str) -> Any:
        """Positions of these parameters in `data`, one or several; raises UnknownNameError."""
        known = [f.name for f in fields(cls)]
        for name in names:
            if name not in known:
                raise UnknownNameError(f"parameter of {cls.name}", name, known)
        found = tuple(map(known.index, names))
        return found if len(found) > 1 else found[0]

    def must_fit(self) -> None:
        """Raise DataError if the case's data are inconsistent at its start."""
        n = self.size[0]
        q, v = (np.asarray(x, dtype=float) for x in self.start())
        if q.ndim != 1 or v.shape != (n,):
            raise DataError(
                f"{self.name}: start gives shapes {q.shape}, {v.shape}; coordinates and {n} velocities (`size`) needed"
            )
        for what, found, wanted in (("centre", self.centre(q), (3,)), ("energy", self.energy(q, v), ())):
            if np.shape(found) != wanted:
                raise DataError(f"{self.name}: {what} of one state has shape {np.shape(found)}; {wanted} is needed")
        # More states than coordinates, so that the two axes cannot be confused.
        K = max(q.size, n) + 1
        self._many_states_must_fit(np.tile(q, (K, 1)), np.tile(v, (K, 1)))
        self._solids_must_fit(q)

    def _many_states_must_fit(self, q: Array, v: Array) -> None:
        for what, arguments, wanted in (("centre", (q,), (len(q), 3)), ("energy", (q, v), (len(q),))):
            try:
                found = f"shape {np.shape(getattr(self, what)(*arguments))}"
            except Exception as error:
                found = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
            if found != f"shape {wanted}":
                raise DataError(
                    f"{self.name}: {what} of {len(q)} states at once, q {q.shape}, v {v.shape}, gives {found}; "
                    f"{wanted} is needed: write q[..., 0] for q[0], and sum(axis=-1)"
                )

    def _solids_must_fit(self, q: Array) -> None:
        solids = self.solids()
        if not solids:
            return
        _, _, r, d = self.size
        bodies = 1 + max(x.body if isinstance(x, Solid) else GROUND for x in solids)
        wanted = (bodies, 3), (bodies, 4), (r, 3), (r, 1 + d, 3)
        names = "positions", "orientations", "contact points", "contact axes"
        for what, found, shape in zip(names, (*self.poses(q), *self.contacts(q)), wanted, strict=True):
            if np.shape(found) != shape:
                raise DataError(f"{self.name}: {what} of one state have shape {np.shape(found)}; {shape} is needed")

    def data(self) -> Array:
        """The parameters in order, for the compiled mechanics."""
        return np.array([float(getattr(self, f.name)) for f in fields(self)])

    @property
    def relaxation(self) -> Relaxation:
        """Compliance of the constraint rows unless the run sets another."""
        return RIGID

    @property
    def parts(self) -> "tuple[Case, ...]":
        """Parts that are never coupled, empty for a case in one piece; `step.parts` steps them one by one.

        Coordinates, velocities, constraints and contacts of the case are those of the parts, one part after the other.
        """
        return ()

    def mechanics(self, q: Array, v: Array) -> Mapping[str, Any]:
        """Contact data at a state by their names in formulary section 1.

        M (n, n), f (n,), J_n (r, n), J_t (d r, n), phi (r,), mu (r,), and, if not zero, J_b, g, r_b, r_n, r_t, mu_s,
        e."""
        raise NotImplementedError(f"{self.name} has neither a method mechanics(q, v) nor a compiled fill")

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        """Write the mechanics into `core`; compiled cases replace this."""
        given_data = self.mechanics(q, v)
        missing = [name for name in NEEDED if name not in given_data]
        if missing:
            raise DataError(f"{self.name}: mechanics gives no {', '.join(missing)}; {', '.join(NEEDED)} are needed")
        for name, value in given_data.items():
            given = np.asarray(value, dtype=float)
            if name not in FILLED:
                raise UnknownNameError(f"contact datum of {self.name}", name, list(FILLED))
            wanted = np.shape(getattr(core, name))
            if given.ndim and given.shape != wanted:
                raise DataError(f"{self.name}: mechanics gives {name} of shape {given.shape}; {wanted} is needed")
            setattr(core, name, given)
        smallest = np.linalg.eigvalsh(core.M)[0] if np.isfinite(core.M).all() else np.nan
        if not smallest > 0 or not np.allclose(core.M, core.M.T, rtol=1e-10, atol=1e-12 * smallest):
            raise DataError(f"{self.name}: the mass matrix M that mechanics gives is not symmetric positive definite")

    @property
    def is_compiled(self) -> bool:
        """True if `fill` and `advance` are compiled functions."""
        return all(hasattr(f, "py_func") for f in (self.fill, self.advance))

    def advance(self, q: Array, v: Array, h: float, data: Array, q_next: Array) -> None:
        """Write q + h v, for velocities that are the rates of the coordinates; other cases write q + h Gamma(q) v."""
        q_next[:] = q + h * v

    @abstractmethod
    def start(self) -> tuple[Array, Array]:
        """Initial coordinates q and velocities v."""

    @abstractmethod
    def centre(self, q: Array) -> Array:
        """Centre of mass (..., 3) [m] of coordinates q (..., n_q)."""

    @abstractmethod
    def energy(self, q: Array, v: Array) -> Array:
        """Mechanical energy (...) [J], with zero potential at the floor."""

    def orientation(self, q: Array) -> Array:
        """Orientations (..., bodies, 4) of the rotating bodies: unit quaternions, scalar first, body to world."""
        return np.zeros((*q.shape[:-1], 0, 4))

    def solids(self) -> Sequence[Solid | Plane]:
        """Shapes of bodies and ground, for sketch and animation; a case without solids has neither."""
        return ()

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Positions (..., B, 3) [m] and orientations (..., B, 4) of the bodies with `solids`.

        Unit quaternions, scalar first, body to world; by default those of one body about its centre.
        """
        position, orientation = self.centre(q)[..., None, :], self.orientation(q)
        return position, orientation if orientation.shape[-2] else np.broadcast_to(UNTURNED, (*position.shape[:-1], 4))

    def points(self, q: Array, s: Any, body: int = 0) -> Array:
        """The points s (k, 3) [m] of a body in the world, (..., k, 3)."""
        position, orientation = (x[..., body, None, :] for x in self.poses(q))
        return position + rotated(orientation, np.asarray(s, dtype=float))

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """Contact points in the world (..., r, 3) [m], as points of one of the bodies, and axes (..., r, 1 + d, 3).

        The axes are the normal and the tangents of J_n and J_t. Required of a case with `solids`.
        """
        raise DataError(f"{self.name} gives solids and not where they touch; contacts(q) is needed")

    def in_space(self, q: Array, v: Array, back: bool = False) -> Array:
        """Convert velocities v (..., n) at q (..., n_q) to axes that do not rotate with the bodies, or `back`.

        Only such velocities can be added or compared at different coordinates; v itself if no axes rotate.
        """
        return v

    def annotations(self) -> Sequence[Annotation]:
        """Arrows, lines and marks in space for the sketch, in addition to the solids: initial velocities, forces."""
        return ()

    def sketch(self) -> Sequence[Shape]:
        """The case at its start, as plane shapes in metres; empty without `solids`."""
        solids = self.solids()
        if not solids:
            return ()
        q = self.start()[0]
        # A single evaluation is a small task, however many unknowns the case has.
        with interpreting(1):
            return drawn(solids, *self.poses(q), self.annotations(), view(self.contacts(q)[1]))

    def truths(self, reference: Any) -> list[Truth]:
        """Analytic truths, computed from a reference run (`run.Run` under exact Coulomb friction)."""
        return []
