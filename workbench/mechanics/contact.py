"""Contact data of one instant as users give them, and their solution."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.support.arrays import Array
from workbench.support.errors import DataError

HEADING_TOLERANCE = 1e-9
"""Allowed deviation of the length of a given heading from one."""


def _real(name: str, value: Any) -> Array:
    """Return `value` as an array of doubles; raises DataError if it is ragged, complex or not numeric."""
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise TypeError
        return array.astype(float)
    except (TypeError, ValueError):
        shown = " ".join(repr(value).split())[:80]
        raise DataError(f"{name} = {shown} is not an array of real numbers") from None


def must_be_mass_matrix(M: Array) -> None:
    """Raise DataError unless the finite matrix M (n, n) is symmetric up to rounding, and positive definite."""
    largest = np.abs(M).max()
    if (np.abs(M - M.T) > 1e-12 * largest + 1e-10 * np.abs(M.T)).any():
        raise DataError("the mass matrix M is not symmetric")
    smallest = np.linalg.eigvalsh(M)[0]
    if smallest <= len(M) * np.finfo(float).eps * largest:
        raise DataError(f"the mass matrix M is not positive definite: its smallest eigenvalue is {smallest:.3g}")


def normal_law_for(normal: str | None, phi: Any) -> str:
    """Return the normal law for gaps phi [m]; raises DataError if the requested law needs gaps and there are none."""
    gaps = np.ravel(phi)[np.ravel(phi) != 0]
    if normal == "velocity" and gaps.size:
        raise DataError(
            f"phi = {gaps[0]:g} has no effect under normal='velocity' (u_n >= 0); write normal='gap' "
            "(u_n + phi/h >= 0) or normal='moreau' (open where phi > 0), or leave phi out"
        )
    return normal or ("gap" if gaps.size else "velocity")


@dataclass(frozen=True, eq=False)
class ContactSystem:
    """Formulary section 1: n velocities, m bilateral rows, r contacts with d = 1 (plane) or 2 (space) tangents each.

    M (n, n) SPD [kg, kg m2]; v, f (n,); h [s]; J_n (r, n), J_t (d r, n) ordered contact by contact; mu (r,) or number;
    phi (r,) gap [m]; r_n (r,), r_t (d r,) prescribed rates [m/s]; J_b (m, n), g (m,) bilateral constraints and their
    position error [m]; e (r,) restitution; eps_n, eps_t, eps_b constraint relaxation [1/kg], zero when rigid; v_th
    stick threshold [m/s]; normal the normal law (`core.NORMAL_LAWS`), by default "gap" if there are gaps and "velocity"
    otherwise; r_b (m,) prescribed rates of the bilateral constraints; mu_s (r,) static friction coefficient, used where
    it exceeds mu and the contact sticks; heading (r, 2), in space, unit tangents that turn with the bodies, in the axes
    of J_t: the first axes under axes=body; by default those of J_t. Arrays are stored read-only. Raises DataError
    naming the array, its value and what is expected.

    >>> wheel = dict(M=np.eye(2), v=[0, -1], f=[0, 0], h=0.01, J_n=[[0, 1]], J_t=[[1, 0]], mu=0.3)
    >>> ContactSystem(**wheel).law, ContactSystem(**wheel, phi=1e-3).law
    ('velocity', 'gap')
    """

    M: Array
    v: Array
    f: Array
    h: float
    J_n: Array
    J_t: Array
    mu: Array | float
    phi: Array | float = 0.0
    r_n: Array | float = 0.0
    r_t: Array | float = 0.0
    J_b: Array = field(default_factory=lambda: np.zeros((0, 0)))
    g: Array = field(default_factory=lambda: np.zeros(0))
    e: Array | float = 0.0
    eps_n: Array | float = 0.0
    eps_t: Array | float = 0.0
    eps_b: Array | float = 0.0
    v_th: float = 0.0
    normal: str | None = None
    r_b: Array | float = 0.0
    mu_s: Array | float = 0.0
    heading: Array | None = None

    def __post_init__(self) -> None:
        M, J_n, J_t, J_b = (_real(name, getattr(self, name)) for name in ("M", "J_n", "J_t", "J_b"))
        if M.ndim != 2 or M.shape[0] != M.shape[1] or not M.size:
            raise DataError(f"M has shape {M.shape}; a square mass matrix is needed")
        n = M.shape[0]
        if J_n.ndim != 2 or J_n.shape[1] != n or not J_n.size:
            raise DataError(f"J_n has shape {J_n.shape}; (r, {n}) with r >= 1 contacts is needed")
        r = J_n.shape[0]
        if J_t.ndim != 2 or J_t.shape not in ((r, n), (2 * r, n)):
            raise DataError(f"J_t has shape {J_t.shape}; ({r}, {n}) in the plane or ({2 * r}, {n}) in space is needed")
        J_b = J_b if J_b.size else np.zeros((0, n))
        if J_b.ndim != 2 or J_b.shape[1] != n:
            raise DataError(f"J_b has shape {J_b.shape}; (m, {n}) is needed")
        m, t = J_b.shape[0], J_t.shape[0]
        shapes = {
            "M": (n, n), "v": (n,), "f": (n,), "J_n": (r, n), "J_t": (t, n), "mu": (r,), "phi": (r,), "r_n": (r,),
            "r_t": (t,), "J_b": (m, n), "g": (m,), "e": (r,), "eps_n": (r,), "eps_t": (t,), "eps_b": (m,),
            "r_b": (m,), "mu_s": (r,), "heading": (r, 2),
        }  # fmt: skip
        given = {name: getattr(self, name) for name in shapes} | {"J_b": J_b}
        if self.heading is None:
            given["heading"] = np.tile([1.0, 0.0], (r, 1))
        for name, shape in shapes.items():
            value = _real(name, given[name])
            if value.shape != shape and value.ndim:
                raise DataError(f"{name} has shape {value.shape}; {shape} is needed")
            # Most have their shape: to ask NumPy takes as long as the checks.
            value = np.ascontiguousarray(value if value.shape == shape else np.broadcast_to(value, shape))
            if not np.isfinite(value).all():
                raise DataError(f"{name}{np.argwhere(~np.isfinite(value))[0].tolist()} is not finite")
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        self._check_physics()
        normal_law_for(self.normal, self.phi)

    def _check_physics(self) -> None:
        for name, least in (("h", np.nextafter(0, 1)), ("v_th", 0.0)):
            value = _real(name, getattr(self, name))
            if value.ndim or not (np.isfinite(value) and value >= least):
                sign = "positive" if least else "nonnegative"
                raise DataError(f"{name} = {getattr(self, name)}; a {sign} number is needed")
        for name in ("mu", "mu_s", "e", "eps_n", "eps_t", "eps_b"):
            value = getattr(self, name)
            if (value < 0).any():
                raise DataError(f"{name} = {value.min():g} is negative; {name} >= 0 is needed")
        length = np.linalg.norm(np.asarray(self.heading), axis=1)
        if np.abs(length - 1).max() > HEADING_TOLERANCE:
            i = int(np.abs(length - 1).argmax())
            raise DataError(f"heading[{i}] has the length {length[i]:g}; a unit vector is needed")
        must_be_mass_matrix(self.M)

    @property
    def n(self) -> int:
        return self.M.shape[0]

    @property
    def law(self) -> str:
        """The normal law in use, `normal` or the default for these gaps."""
        return normal_law_for(self.normal, self.phi)

    @property
    def size(self) -> tuple[int, int, int, int]:
        """(n, m, r, d)."""
        r = self.J_n.shape[0]
        return self.n, self.J_b.shape[0], r, self.J_t.shape[0] // r


@dataclass(frozen=True, eq=False)
class ContactSolution:
    """v+ (n,) [m/s, rad/s] and the impulses p_n (r,), p_t (d r,), p_b (m,) [N s], in the axes of the given system."""

    v: Array
    p_n: Array
    p_t: Array
    p_b: Array
