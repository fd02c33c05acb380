"""Sliding contacts by name, as functions of their parameters: the numbers that decide how many answers they have.

With forces s_j and y_j >= 0, of which one of each pair is zero, contacts answer P s - Q y + w = 0. A bilateral contact
has the normal force s_j - y_j; a unilateral one has the force y_j, and s_j is the normal acceleration. With A_n and A_t
the normal accelerations by unit normal and tangential forces, c_j = mu_j xi_j, the columns are

    bilateral     P_j = (A_n - c_j A_t)_j,   Q_j = (A_n + c_j A_t)_j
    unilateral    P_j = -e_j,                Q_j = -(A_n - c_j A_t)_j

All rows are multiplied by one positive number, so that nothing is divided. Derived by hand from the mechanics of each
case (docs/formulary.md, section 9.8), not from the workbench's assembly. Standard library only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from workbench.certificates.forms import Form, constant
from workbench.certificates.outcomes import RefusedError

Number = Form | int
Column = list[Number]


@dataclass(frozen=True)
class Sliding:
    """P and Q (m columns), w (m); `locking`, positive where the contacts can lock, or None."""

    P: list[Column]
    Q: list[Column]
    w: Column
    locking: Form | None = None


class EnclosedParameters:
    """Numbers over a box by name. RefusedError for a name that is missing, and for a sign that is needed."""

    def __init__(self, given: dict[str, Form], reach: tuple[int, ...]) -> None:
        self.given, self.reach = given, reach

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def __getitem__(self, name: str) -> Form:
        if name not in self.given:
            raise RefusedError(f"the parameter {name!r} is missing")
        return self.given[name]

    def positive(self, *names: str) -> list[Form]:
        """These parameters, which must be positive."""
        found = [self[name] for name in names]
        for name, x in zip(names, found, strict=True):
            if x.sign != 1:
                raise RefusedError(f"the parameter {name!r} need not be positive")
        return found

    def direction(self, name: str) -> int:
        """The certain sign of a parameter."""
        return _certain(self[name])

    def waves(self, name: str) -> tuple[Form, Form]:
        """Cosine and sine of an angle in degrees."""
        angle = self[name].in_radians()
        return angle.cos(), angle.sin()


def _certain(x: Form) -> int:
    sign = x.sign
    if sign is None:
        raise RefusedError("a direction of sliding is not certain")
    return sign


def _unilateral(D: list[list[Number]], w: Column, locking: Form | None = None) -> Sliding:
    """From accelerations D (m, m) by unit forces."""
    m = range(len(w))
    P: list[Column] = [[-1 if i == j else 0 for i in m] for j in m]
    return Sliding(P, [[-D[i][j] for i in m] for j in m], w, locking)


def rod(p: EnclosedParameters) -> Sliding:
    """a = 1 + cos t (cos t + mu xi sin t) / kappa and b = l w^2 sin t - g, each times a positive number."""
    _, kappa, l = p.positive("m", "kappa", "l")
    friction, rate = p["mu"] * p.direction("xi" if "xi" in p else "speed"), p["spin"]
    if "tan_theta" in p:
        # a (1 + tan^2 t) and b sqrt(1 + tan^2 t).
        t = p["tan_theta"]
        square = t * t + 1
        a, b = kappa * square + friction * t + 1, l * (rate * rate) * t - p["gravity"] * square.sqrt()
    else:
        c, s = p.waves("angle")
        a, b = kappa + c * (c + friction * s), l * (rate * rate) * s - p["gravity"]
    return _unilateral([[a]], [p["b"] if "b" in p.given else b])


def rod_in_guide(p: EnclosedParameters) -> Sliding:
    """Foot in a guide, bilateral, head on a wall; rows times m kappa.

    With r(u) = (u_theta - l sin t u_x - l cos t u_z) / l, u^T M^-1 v = (u_x v_x + u_z v_z) / m + r(u) r(v) / (kappa m):
    r is -cos t and sin t for the normals (guide, wall), sin t and cos t for the tangents, zero for the forces.
    """
    m, kappa, l = p.positive("m", "kappa", "l")
    c, s = p.waves("angle")
    rate = p.direction("spin")
    friction = [p["mu_guide"] * (_certain(s) * rate), p["mu_wall"] * (_certain(c) * rate)]
    cc, cs, ss = c * c, c * s, s * s
    A_n: list[list[Form]] = [[kappa + cc, -cs], [-cs, kappa + ss]]
    A_t: list[list[Form]] = [[-cs, kappa - cc], [ss - kappa, cs]]
    turning, scale = l * (p["spin"] * p["spin"]), m * kappa
    w: Column = [scale * (turning * s - p["gravity"]), scale * (turning * c)]
    guide = [A_t[i][0] * friction[0] for i in (0, 1)]
    wall = [A_n[i][1] - A_t[i][1] * friction[1] for i in (0, 1)]
    P: list[Column] = [[A_n[i][0] - guide[i] for i in (0, 1)], [0, -1]]
    return Sliding(P, [[A_n[i][0] + guide[i] for i in (0, 1)], [-x for x in wall]], w)


def wedged_box(p: EnclosedParameters) -> Sliding:
    """Opposite corners on floor and roof, H across the slot and b along it; rows times 4 I, I = m D^2 / 12 for the
    diagonal D."""
    m, length, height, clearance = p.positive("m", "length", "height", "clearance")
    H = height + clearance
    diagonal = length * length + height * height
    square = diagonal - H * H
    b = square.sqrt()
    mu = p["mu"]
    # In units in which 4 I / m is D^2 / 3: three times everything, D^2 + 3 b^2.
    near, far = diagonal + square * 3, square * 3 - diagonal
    grip = mu * (b * H) * 3
    load = m * (p["gravity"] * diagonal)
    D: list[list[Number]] = [[near - grip, far + grip], [far - grip, near + grip]]
    return _unilateral(D, [-load, load], mu * H - b)


def tripod(p: EnclosedParameters) -> Sliding:
    """Three feet on a circle at 90, 210 and 330 degrees in pure translation; rows times 4 m I."""
    m, inertia, R, h = p.positive("m", "inertia", "radius", "height")
    c, s = p.waves("direction")
    lever = p["mu"] * h * p.direction("speed")
    root = R * constant(Fraction(3), R.reach).sqrt()
    # In coordinates twice as large 4 m I D_ij = 4 I + m (y_i (y_j - 2 mu h s) + x_i (x_j - 2 mu h c)).
    feet: list[tuple[Number, Form]] = [(0, R * 2), (-root, -R), (root, -R)]
    across, along = lever * s * 2, lever * c * 2
    D: list[list[Number]] = [
        [inertia * 4 + m * (y * (v - across) + (x if isinstance(x, int) else x * (-along + u))) for u, v in feet]
        for x, y in feet
    ]
    load = m * inertia * p["gravity"] * -4
    return _unilateral(D, [load, load, load])


FUNCTIONS: dict[str, Callable[[EnclosedParameters], Sliding]] = {
    "rod": rod,
    "rod-in-guide": rod_in_guide,
    "wedged-box": wedged_box,
    "tripod": tripod,
}
"""The mechanisms whose functions are known, by the name of their case."""
