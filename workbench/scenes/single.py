"""Every contact of a scene as a system of its own, in the `Core` that hooks of formulations see.

Its velocities x are 1 + d coordinates in which the contact is all there is: with W = J M^-1 J^T the contact's own
block, and a mass m = 1 / W_nn,

    M = m 1,     J J^T = m W  (J lower triangular),     J x = u,     h f = m J^-1 (change of u that the forces make)

so that u_n, u_t, J_n M^-1 J_n^T, free velocities and whatever else does not depend on coordinates are those of the
scene. Hooks may turn tangent axes, open the contact and change its constants, compliances and coefficient. Momenta and
impulses elsewhere, which tell what counts as little, come as `b_beyond` and `p_beyond`. A contact without directions
is one with a single direction along which nothing moves, and no friction.

Cores of one size are kept as rows of numbers and copied into one `Core` in turn.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import VECTOR, copy
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch
from workbench.language.estimate import NEGLIGIBLE, is_new, momentum
from workbench.mechanics.core import CORE, GAP
from workbench.mechanics.instant import INSTANT
from workbench.scenes.rows import ROWS
from workbench.step.stepping import AGAIN_T, GIVEN_T, REMEMBER_T, discretise

I64 = types.int64
FINE, COUPLED, BENT = 0, 1, 2
"""What hooks did: what they may; changed the momentum, which other contacts share; changed rows other than by turning
tangent axes or opening the contact."""
FLAT = 1e-12
"""A pivot of W below this share of its diagonal entry is rounding: the contact cannot move in that direction alone."""
BENDING = 1e-9
"""Change of a row, relative to its largest entry, that is no rounding of a turn."""


class CoreOffsets(NamedTuple):
    """Where in a core's numbers some of them begin, J_n with J_t behind it, and how many numbers J_n has."""

    h: int
    b_beyond: int
    p_beyond: int
    b: int
    J: int
    frame: int
    b_n: int
    eps_n: int
    across: int


PLACES = argument_type(CoreOffsets, *(I64,) * 9)


class OneContact(NamedTuple):
    """The core of one contact, one with the numbers that all contacts begin with, and where these stand."""

    core: Any
    blank: Any
    places: Any


ONE = argument_type(OneContact, CORE, CORE, PLACES)


class Cores(Packed):
    """The contacts of one kind: `members` (count,) their numbers, and as rows of theirs what their cores hold, `roots`
    the J of these before anything turned, what they remember, and numbers of their hooks; p_bar (count,) the estimates
    of their normal impulses; and room for the numbers of a block."""

    sizes = ("count", "size", "square", "width", "hooks", "numbers_of_block")
    integers = ("members",)
    fields: ClassVar[dict[str, tuple]] = {
        "members": ("count",), "states": ("count", "size"), "roots": ("count", "square"), "memory": ("count", "width"),
        "numbers": ("count", "hooks"), "p_bar": ("count",), "block": ("numbers_of_block",),
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


CORES = Cores.compiled


@kernel(types.void(VECTOR, I64, PLACES, ROWS))
def draw(state, i, places, rows):
    """What is seen of contact i by the numbers of its core."""
    rows.frame[i, 0], rows.frame[i, 1] = state[places.frame], state[places.frame + 1]
    rows.b_n[i], rows.eps_n[i] = state[places.b_n], state[places.eps_n]
    rows.closed[i] = 0
    for a in range(places.across):
        if state[places.J + a] != 0.0:
            rows.closed[i] = 1


@kernel(types.void(CORE, VECTOR, VECTOR))
def coordinates(core, u, x):
    """x of J x = u, by the rows of J before anything turned them; u, x (1 + d,)."""
    for a in range(u.shape[0]):
        s = u[a]
        for b in range(a):
            s -= (core.J_n[0, b] if a == 0 else core.J_t[a - 1, b]) * x[b]
        pivot = core.J_n[0, 0] if a == 0 else core.J_t[a - 1, a]
        x[a] = s / pivot if pivot > 0.0 else 0.0


@kernel(types.void(CORE, VECTOR, I64, I64, types.float64))
def root(core, W, origin, rows, mass):
    """J of the core: the Cholesky factor of mass W."""
    for a in range(rows):
        for b in range(a + 1):
            s = mass * W[origin + a * rows + b]
            whole = s
            for k in range(b):
                left = core.J_n[0, k] if a == 0 else core.J_t[a - 1, k]
                right = core.J_n[0, k] if b == 0 else core.J_t[b - 1, k]
                s -= left * right
            if a == b:
                s = s**0.5 if s > FLAT * whole else 0.0
            else:
                pivot = core.J_n[0, 0] if b == 0 else core.J_t[b - 1, b]
                s = s / pivot if pivot > 0.0 else 0.0
            if a == 0:
                core.J_n[0, b] = s
            else:
                core.J_t[a - 1, b] = s


@kernel(types.void(INSTANT, ROWS, CORES, types.float64, ONE), checked=False)
def fill_cores(s, rows, cores, recovery, one):
    """What the cores hold with the run's normal law and no hook yet; overlaps go at `recovery` [m/s] at most."""
    core, buffer, W, first, beyond = one.core, one.core.whole, rows.W, s.first, 0.0
    for k in range(rows.b.shape[0]):
        beyond = max(beyond, abs(rows.b[k]))
    for j in range(cores.members.shape[0]):
        i = cores.members[j]
        copy(one.blank.whole, buffer)
        buffer[one.places.h], buffer[one.places.b_beyond] = s.h, beyond
        a, count, at = first[i], first[i + 1] - first[i], rows.origin[i]
        largest = W[at]
        for k in range(1, count):
            largest = max(largest, W[at + k * (count + 1)])
        along = W[at] if W[at] > 0.0 else largest
        mass = 1.0 / along if along > 0.0 else 1.0
        for k in range(core.v.shape[0]):
            core.M[k, k] = mass
        root(core, W, at, count, mass)
        coordinates(core, rows.u[a : a + count], core.v[:count])
        coordinates(core, rows.gain[a : a + count], core.f[:count])
        for k in range(count):
            core.f[k] *= mass / s.h
        core.phi[0], core.e[0], core.mu[0] = s.phi[i], s.e[i], rows.mu[i]
        core.r_n[0], core.eps_n[0] = s.rate[a], s.eps[a]
        core.heading[0, 0], core.heading[0, 1] = s.heading[i, 0], s.heading[i, 1]
        for k in range(1, count):
            scale = rows.scale[a + k]
            core.r_t[k - 1], core.eps_t[k - 1] = scale * s.rate[a + k], scale * scale * s.eps[a + k]
        discretise(core)
        if core.law == GAP:
            core.b_n[0] += max(0.0, -recovery - s.phi[i] / s.h)
        copy(buffer, cores.states[j])
        copy(buffer[one.places.J :], cores.roots[j])
        draw(buffer, i, one.places, rows)


@kernel(types.boolean(INSTANT, ROWS), checked=False)
def parts_freely(s, rows):
    """Whether forces alone press no closed contact, so that the step without friction has no impulses."""
    pressed = s.g.shape[0] + s.limit.shape[0]
    for i in range(s.phi.shape[0]):
        a = s.first[i]
        pressed += rows.closed[i] and not rows.u[a] + rows.gain[a] + rows.b_n[i] >= 0.0
    return pressed == 0


@kernel(I64(CORES, types.boolean, types.boolean, ONE), checked=False)
def estimate(cores, start, free, one):
    """The normal impulses that contacts may have, p_bar (count,): the last step's, and of those without a past
    (`estimate.is_new`) 0 where nothing presses without friction, `free`, and else nan; returns how many of these."""
    core, unknown = one.core, 0
    for j in range(cores.members.shape[0]):
        copy(cores.states[j], core.whole)
        new = is_new(core, cores.memory[j], start, NEGLIGIBLE * momentum(core), 0)
        cores.p_bar[j] = cores.memory[j, 0] if not new else 0.0 if free else np.nan
        unknown += new and not free
    return unknown


@kernel(I64(CORE, VECTOR, PLACES, types.float64, types.float64))
def damage(core, before, places, c, s):
    """What a hook did beyond what it may, `before` being the core's numbers then and (c, s) how it turned the axes."""
    n = core.b.shape[0]
    at_b, at_J = places.b, places.J
    for k in range(n):
        if core.b[k] != before[at_b + k]:
            return COUPLED
    shut, same, largest = True, True, 0.0
    for k in range(n):
        shut = shut and core.J_n[0, k] == 0.0
        same = same and core.J_n[0, k] == before[at_J + k]
    wrong = 0.0
    for a in range(core.J_t.shape[0]):
        row = at_J + (1 + a) * n
        for k in range(n):
            expected = before[row + k]
            if core.J_t.shape[0] > 1 and a < 2:
                other = before[row + n + k] if a == 0 else before[row - n + k]
                expected = c * expected + (s if a == 0 else -s) * other
            wrong, largest = max(wrong, abs(core.J_t[a, k] - expected)), max(largest, abs(expected))
    return FINE if (shut or same) and wrong <= BENDING * largest else BENT


@kernel(I64(ROWS, CORES, GIVEN_T, ONE), checked=False)
def call_given(rows, cores, given, one):
    """The hook before a step, contact by contact; FINE, or what the first did that is wrong."""
    core, buffer = one.core, one.core.whole
    for j in range(cores.members.shape[0]):
        copy(cores.states[j], buffer)
        core.p_bar[0] = cores.p_bar[j]
        given(core, cores.memory[j], core.own, cores.numbers[j])
        wrong = damage(core, cores.states[j], one.places, core.frame[0, 0], core.frame[0, 1])
        if wrong:
            return wrong
        copy(buffer, cores.states[j])
        draw(buffer, cores.members[j], one.places, rows)
    return FINE


@kernel(types.void(INSTANT, ROWS, CORES, I64, VECTOR, VECTOR, VECTOR, VECTOR))
def motion(s, rows, cores, j, P, x, p_n, p_t):
    """How the j-th contact of a kind moves after a step: x (n,) in the coordinates of its core, by the rows of J before
    anything turned them, and its impulses p_n (1,), p_t of P (R,)."""
    i, n, roots = cores.members[j], x.shape[0], cores.roots[j]
    a, count = s.first[i], s.first[i + 1] - s.first[i]
    p_n[0] = P[a]
    for k in range(n):
        x[k] = 0.0
        if k > 0:
            p_t[k - 1] = P[a + k] if k < count else 0.0
        if k < count:
            u, pivot = rows.moved[a + k], roots[k * (n + 1)]
            for b in range(k):
                u -= roots[k * n + b] * x[b]
            if pivot > 0.0:
                x[k] = u / pivot


@kernel(I64(INSTANT, ROWS, CORES, AGAIN_T, ONE), checked=False)
def call_again(s, rows, cores, again, one):
    """The hook after a solve; returns how many contacts ask for another pass, or minus what was wrong."""
    core, buffer, n = one.core, one.core.whole, one.core.v.shape[0]
    x, p_n, p_t, largest, asked = scratch(n), scratch(1), scratch(n - 1), 0.0, 0
    for k in range(rows.in_use.shape[0]):
        largest = max(largest, abs(rows.in_use[k]))
    for j in range(cores.members.shape[0]):
        copy(cores.states[j], buffer)
        buffer[one.places.p_beyond] = largest
        motion(s, rows, cores, j, rows.in_use, x, p_n, p_t)
        asked += again(core, cores.memory[j], core.own, cores.numbers[j], x, p_n, p_t)
        wrong = damage(core, cores.states[j], one.places, 1.0, 0.0)
        if wrong:
            return -wrong
        copy(buffer, cores.states[j])
        draw(buffer, cores.members[j], one.places, rows)
    return asked


@kernel(types.void(INSTANT, ROWS, CORES, REMEMBER_T, ONE), checked=False)
def call_remember(s, rows, cores, remember, one):
    """The hook after a step, p_t in the instant's own axes."""
    core, n = one.core, one.core.v.shape[0]
    x, p_n, p_t = scratch(n), scratch(1), scratch(n - 1)
    for j in range(cores.members.shape[0]):
        copy(cores.states[j], core.whole)
        motion(s, rows, cores, j, rows.own, x, p_n, p_t)
        remember(core, cores.memory[j], core.own, cores.numbers[j], x, p_n, p_t)
