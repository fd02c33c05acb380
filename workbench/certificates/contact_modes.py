"""A box around a solution of a friction problem, checked by Krawczyk's test in rationals. Standard library only.

The support names a mode for every contact, and gives a centre x, radii r and a matrix C over the modes' unknowns, in
the order of the contacts. With u = W p + q, and k = 0 under Coulomb's law, k = mu in the cone problem:

    mode            unknowns         equations F                                       strictly
    open                                                                               u_n > k |u_t|
    frictionless    p_n              u_n                        (mu = 0)               p_n > 0
    stick           p                u                                                 |p_t| < mu p_n
    slip+, slip-    p_n              u_n - k x u_t              p_t = -mu x p_n        p_n > 0, x u_t > 0     (plane)
    slip            p_n, c, s, w     u_n - k w, u_t - w (c, s),                        p_n > 0, w > 0         (space)
                                     c^2 + s^2 - 1              p_t = -mu p_n (c, s)

F is quadratic, so that F' has the radii R = |F'(x + r) - F'(x)|, entry by entry with absolute coefficients, over the
box. If |C F(x)| + (|I - C F'(x)| + |C| R) r < r, then x - C F(x) + (I - C F') (y - x) maps the box into its interior,
and F has a zero there (Krawczyk 1969); where the inequalities hold all over the box, it solves the problem.
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.exact import Rows, Vector, dot, times, transposed, vector
from workbench.certificates.outcomes import RefusedError, RefutedError

Ball = tuple[Fraction, Fraction]
"""Midpoint and radius."""
ZERO, ONE = Fraction(0), Fraction(1)
SENSES = {"slip+": ONE, "slip-": -ONE, "frictionless": ZERO}
"""Directions of u_t where one unknown suffices."""


def check_enclosure(W: Rows, q: Vector, mu: Vector, d: int, coulomb: bool, support: dict[str, Any]) -> None:
    """Raise RefusedError unless the support encloses a solution."""
    modes = _modes(support["modes"], mu, d)
    sizes = [{"open": 0, "stick": 1 + d, "slip": 4}.get(mode, 1) for mode in modes]
    m = sum(sizes)
    x, r = vector(support["centre"], m, "the centre"), vector(support["radii"], m, "the radii")
    C = support["C"]
    if not isinstance(C, list) or len(C) != m:
        raise RefusedError(f"C is not a list of {m} rows")
    C = [vector(row, m, "a row of C") for row in C]
    lift = [ZERO if coulomb else c for c in mu]
    starts = [sum(sizes[:i]) for i in range(len(modes))]
    p, moves, bends = _impulses(modes, starts, x, mu, d, m)
    u = [a + b for a, b in zip(times(W, p), q, strict=True)]
    F, J = _equations(W, u, moves, modes, starts, x, lift, d)
    R = _radii(W, bends, modes, starts, r, lift, d)
    _krawczyk(F, J, R, C, r)
    # p over the box: the derivative's midpoint, and the product of two radii where a contact slides in space.
    p_off = [dot([abs(a) for a in row], r) for row in moves]
    for i, mode in enumerate(modes):
        if mode == "slip":
            for k in range(d):
                p_off[len(modes) + d * i + k] += mu[i] * r[starts[i]] * r[starts[i] + 1 + k]
    u_off = [dot([abs(a) for a in row], p_off) for row in W]
    for i, mode in enumerate(modes):
        own = [i, *range(len(modes) + d * i, len(modes) + d * (i + 1))]
        slip = (x[starts[i] + 3], r[starts[i] + 3]) if mode == "slip" else None
        _strictly(mode, [(p[k], p_off[k]) for k in own], [(u[k], u_off[k]) for k in own], slip, mu[i], lift[i])


def _modes(given: Any, mu: Vector, d: int) -> list[str]:
    if not isinstance(given, list) or len(given) != len(mu):
        raise RefusedError(f"modes is not a list of {len(mu)} names")
    for mode, friction in zip(given, mu, strict=True):
        sliding = ("frictionless",) if friction == 0 else ("stick", "slip") if d == 2 else ("stick", "slip+", "slip-")
        if not isinstance(mode, str) or mode not in ("open", *sliding):
            raise RefusedError(f"{str(mode)[:20]!r} is not a mode of a contact with this friction and {d} tangents")
    return given


def _impulses(
    modes: list[str], starts: list[int], x: Vector, mu: Vector, d: int, m: int
) -> tuple[Vector, Rows, list[dict[tuple[int, int], Fraction]]]:
    """p (n), dp/dx (n, m), and by row the |second derivatives| {(unknown, unknown): value}."""
    n = len(modes) * (1 + d)
    p, moves = [ZERO] * n, [[ZERO] * m for _ in range(n)]
    bends: list[dict[tuple[int, int], Fraction]] = [{} for _ in range(n)]
    for i, (mode, at) in enumerate(zip(modes, starts, strict=True)):
        if mode == "open":
            continue
        p[i], moves[i][at] = x[at], ONE
        for k in range(d):
            row = len(modes) + d * i + k
            if mode == "stick":
                p[row], moves[row][at + 1 + k] = x[at + 1 + k], ONE
            elif mode == "slip":
                p[row] = -mu[i] * x[at] * x[at + 1 + k]
                moves[row][at], moves[row][at + 1 + k] = -mu[i] * x[at + 1 + k], -mu[i] * x[at]
                bends[row] = {(at, at + 1 + k): mu[i], (at + 1 + k, at): mu[i]}
            else:
                p[row], moves[row][at] = -mu[i] * SENSES[mode] * x[at], -mu[i] * SENSES[mode]
    return p, moves, bends


def _product(W: Rows, columns: Rows) -> Rows:
    """W times a matrix given by its rows."""
    turned = transposed(columns)
    return [[dot(row, column) for column in turned] for row in W]


def _equations(
    W: Rows, u: Vector, moves: Rows, modes: list[str], starts: list[int], x: Vector, lift: Vector, d: int
) -> tuple[Vector, Rows]:
    """F and F' at the centre."""
    U, F, J = _product(W, moves), [], []
    for i, (mode, at) in enumerate(zip(modes, starts, strict=True)):
        tangents = range(len(modes) + d * i, len(modes) + d * (i + 1))
        if mode == "open":
            continue
        if mode == "stick":
            F += [u[k] for k in (i, *tangents)]
            J += [U[k] for k in (i, *tangents)]
        elif mode == "slip":
            c, s, w = x[at + 1 : at + 4]
            F.append(u[i] - lift[i] * w)
            J.append([a - lift[i] * (j == at + 3) for j, a in enumerate(U[i])])
            for k, e, row in zip((1, 2), (c, s), tangents, strict=True):
                F.append(u[row] - w * e)
                J.append([a - w * (j == at + k) - e * (j == at + 3) for j, a in enumerate(U[row])])
            F.append(c * c + s * s - 1)
            J.append([2 * c * (j == at + 1) + 2 * s * (j == at + 2) for j in range(len(x))])
        else:
            part = lift[i] * SENSES[mode]
            F.append(u[i] - part * u[tangents[0]] if part else u[i])
            J.append([a - part * b for a, b in zip(U[i], U[tangents[0]], strict=True)] if part else U[i])
    return F, J


def _radii(
    W: Rows, bends: list[dict[tuple[int, int], Fraction]], modes: list[str], starts: list[int], r: Vector, lift: Vector,
    d: int,
) -> Rows:  # fmt: skip
    """R, the largest distance of F' from its value at the centre."""
    m = len(r)
    off = [[ZERO] * m for _ in bends]
    for row, some in enumerate(bends):
        for (j, k), value in some.items():
            off[row][j] += value * r[k]
    U, R = _product([[abs(a) for a in row] for row in W], off), []
    for i, (mode, at) in enumerate(zip(modes, starts, strict=True)):
        tangents = range(len(modes) + d * i, len(modes) + d * (i + 1))
        if mode == "open":
            continue
        if mode == "stick":
            R += [U[k] for k in (i, *tangents)]
        elif mode == "slip":
            R.append(U[i])
            for k, row in zip((1, 2), tangents, strict=True):
                R.append([a + r[at + 3] * (j == at + k) + r[at + k] * (j == at + 3) for j, a in enumerate(U[row])])
            R.append([2 * r[j] * (j in (at + 1, at + 2)) for j in range(m)])
        else:
            part = lift[i] * abs(SENSES[mode])
            R.append([a + part * b for a, b in zip(U[i], U[tangents[0]], strict=True)] if part else U[i])
    return R


def _krawczyk(F: Vector, J: Rows, R: Rows, C: Rows, r: Vector) -> None:
    m = len(r)
    if not m:
        return
    CJ, spread = _product(C, J), _product([[abs(a) for a in row] for row in C], R)
    for i, row in enumerate(C):
        off = [abs((i == j) - CJ[i][j]) + spread[i][j] for j in range(m)]
        # No radius is negative then.
        if abs(dot(row, F)) + dot(off, r) >= r[i]:
            raise RefutedError("the box is not mapped into its interior")


def _strictly(mode: str, p: list[Ball], u: list[Ball], slip: Ball | None, mu: Fraction, lift: Fraction) -> None:
    """Raise RefutedError unless the contact's inequalities hold for all numbers of the balls."""
    (p_n, p_n_off), (u_n, u_n_off) = p[0], u[0]
    if mode == "open":
        least = u_n - u_n_off
        holds = least > 0 and least**2 > lift**2 * _most(u[1:])
    elif mode == "stick":
        least = p_n - p_n_off
        holds = least > 0 and (mu * least) ** 2 > _most(p[1:])
    elif slip is not None:
        holds = p_n > p_n_off and slip[0] > slip[1]
    else:
        holds = p_n > p_n_off and (mode == "frictionless" or SENSES[mode] * u[1][0] > u[1][1])
    if not holds:
        raise RefutedError(f"a contact in the box need not be in the mode {mode!r}")


def _most(balls: list[Ball]) -> Fraction:
    """The largest sum of squares."""
    return sum(((abs(a) + off) ** 2 for a, off in balls), ZERO)
