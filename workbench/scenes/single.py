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

from typing import Any, NamedTuple

from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy
from workbench.language.estimate import NEGLIGIBLE, is_new, momentum
from workbench.mechanics.core import CORE, GAP
from workbench.step.stepping import AGAIN_T, GIVEN_T, REMEMBER_T, discretise

I64 = types.int64
FINE, COUPLED, BENT = 0, 1, 2
"""What hooks did: what they may; changed the momentum, which other contacts share; changed rows other than by turning
tangent axes or opening the contact."""
FLAT = 1e-12
"""A pivot of W below this share of its diagonal entry is rounding: the contact cannot move in that direction alone."""
BENDING = 1e-9
"""Change of a row, relative to its largest entry, that is no rounding of a turn."""


class Given(NamedTuple):
    """Data of all contacts, normal row first, in directions scaled by their coefficients (`rows`): `first` (r + 1,);
    phi, e, mu (r,); rate, eps, scale (R,); u, gain (R,), W and origin (r,) as in `rows.Motion`; heading (r, 2)."""

    first: Any
    phi: Any
    e: Any
    mu: Any
    rate: Any
    eps: Any
    scale: Any
    u: Any
    gain: Any
    heading: Any
    W: Any
    origin: Any


GIVEN_DATA = argument_type(
    Given, INDICES, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, VECTOR, INDICES
)


class CoreOffsets(NamedTuple):
    """Where in a core's numbers b, J_n (with J_t behind it), p_beyond and frame begin, and how many numbers J_n has."""

    b: int
    J: int
    p_beyond: int
    frame: int
    across: int


PLACES = argument_type(CoreOffsets, *(I64,) * 5)


class OneContact(NamedTuple):
    """The core of one contact with its numbers, those that all contacts begin with, and where they stand."""

    core: Any
    buffer: Any
    blank: Any
    places: Any


ONE = argument_type(OneContact, CORE, VECTOR, VECTOR, PLACES)


class Cores(NamedTuple):
    """The contacts of one kind: `members` (count,) their numbers, and as rows of theirs what their cores hold, `roots`
    the J (count, n n) of these before anything turned, what they remember, and numbers of their hooks."""

    members: Any
    states: Any
    roots: Any
    memory: Any
    numbers: Any


CORES = argument_type(Cores, INDICES, *(MATRIX,) * 4)


class ContactMotion(NamedTuple):
    """How the contacts of one kind move after a step: x (count, n) in the coordinates of their cores, p_n (count, 1)
    and p_t (count, d)."""

    x: Any
    p_n: Any
    p_t: Any


CONTACT_MOTION = argument_type(ContactMotion, *(MATRIX,) * 3)


class Outline(NamedTuple):
    """Of every contact the tangent axes in use (r, 2), and whether it is closed (r,)."""

    frame: Any
    closed: Any


OUTLINE = argument_type(Outline, MATRIX, INDICES)


@kernel(types.void(VECTOR, I64, PLACES, OUTLINE))
def draw(state, i, places, outline):
    """The outline of contact i by the numbers of its core."""
    outline.frame[i, 0], outline.frame[i, 1] = state[places.frame], state[places.frame + 1]
    outline.closed[i] = 0
    for a in range(places.across):
        if state[places.J + a] != 0.0:
            outline.closed[i] = 1


@kernel(types.void(CORE, VECTOR, VECTOR))
def coordinates(core, u, x):
    """x of J x = u, by the rows of J before anything turned them; u, x (1 + d,)."""
    for a in range(u.shape[0]):
        s = u[a]
        for b in range(a):
            s -= (core.J_n[0, b] if a == 0 else core.J_t[a - 1, b]) * x[b]
        pivot = core.J_n[0, 0] if a == 0 else core.J_t[a - 1, a]
        x[a] = s / pivot if pivot > 0.0 else 0.0


@kernel(types.void(CORES, INDICES, VECTOR, MATRIX), checked=False)
def all_coordinates(cores, first, u, x):
    """x (count, n) of every contact's velocities u (R,) before anything turned."""
    n, roots = x.shape[1], cores.roots
    for j in range(cores.members.shape[0]):
        i = cores.members[j]
        for a in range(n):
            x[j, a] = 0.0
            if a < first[i + 1] - first[i]:
                s, pivot = u[first[i] + a], roots[j, a * (n + 1)]
                for b in range(a):
                    s -= roots[j, a * n + b] * x[j, b]
                if pivot > 0.0:
                    x[j, a] = s / pivot


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


@kernel(types.void(CORES, GIVEN_DATA, types.float64, ONE, OUTLINE), checked=False)
def fill_cores(cores, data, recovery, one, outline):
    """What the cores hold with the run's normal law and no hook yet; overlaps go at `recovery` [m/s] at most."""
    core, buffer = one.core, one.buffer
    for j in range(cores.members.shape[0]):
        i = cores.members[j]
        copy(one.blank, buffer)
        a, rows, at = data.first[i], data.first[i + 1] - data.first[i], data.origin[i]
        largest = data.W[at]
        for k in range(1, rows):
            largest = max(largest, data.W[at + k * (rows + 1)])
        along = data.W[at] if data.W[at] > 0.0 else largest
        mass = 1.0 / along if along > 0.0 else 1.0
        for k in range(core.v.shape[0]):
            core.M[k, k] = mass
        root(core, data.W, at, rows, mass)
        coordinates(core, data.u[a : a + rows], core.v[:rows])
        coordinates(core, data.gain[a : a + rows], core.f[:rows])
        for k in range(rows):
            core.f[k] *= mass / core.h
        core.phi[0], core.e[0], core.mu[0] = data.phi[i], data.e[i], data.mu[i]
        core.r_n[0], core.eps_n[0] = data.rate[a], data.eps[a]
        core.heading[0, 0], core.heading[0, 1] = data.heading[i, 0], data.heading[i, 1]
        for k in range(1, rows):
            s = data.scale[a + k]
            core.r_t[k - 1], core.eps_t[k - 1] = s * data.rate[a + k], s * s * data.eps[a + k]
        discretise(core)
        if core.law == GAP:
            core.b_n[0] += max(0.0, -recovery - core.phi[0] / core.h)
        copy(buffer, cores.states[j])
        copy(buffer[one.places.J :], cores.roots[j])
        draw(buffer, i, one.places, outline)


@kernel(types.void(CORES, types.boolean, ONE, VECTOR), checked=False)
def find_new(cores, start, one, new):
    """new (count,): 1 for contacts without a past to estimate their normal impulse by (`estimate.is_new`)."""
    core = one.core
    for j in range(new.shape[0]):
        copy(cores.states[j], one.buffer)
        new[j] = 1.0 if is_new(core, cores.memory[j], start, NEGLIGIBLE * momentum(core), 0) else 0.0


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


@kernel(I64(CORES, VECTOR, GIVEN_T, ONE, OUTLINE), checked=False)
def call_given(cores, p_bar, given, one, outline):
    """The hook before a step, contact by contact; FINE, or what the first did that is wrong."""
    core, buffer = one.core, one.buffer
    for j in range(cores.members.shape[0]):
        copy(cores.states[j], buffer)
        core.p_bar[0] = p_bar[j]
        given(core, cores.memory[j], core.own, cores.numbers[j])
        wrong = damage(core, cores.states[j], one.places, core.frame[0, 0], core.frame[0, 1])
        if wrong:
            return wrong
        copy(buffer, cores.states[j])
        draw(buffer, cores.members[j], one.places, outline)
    return FINE


@kernel(I64(CORES, CONTACT_MOTION, types.float64, AGAIN_T, ONE, OUTLINE, INDICES), checked=False)
def call_again(cores, found, largest, again, one, outline, asked):
    """The hook after a solve; asked (1,) receives how many contacts ask for another pass. FINE, or what is wrong.

    p_t is in the axes in use, `largest` the largest impulse of all contacts [N s].
    """
    core, buffer = one.core, one.buffer
    asked[0] = 0
    for j in range(cores.members.shape[0]):
        copy(cores.states[j], buffer)
        buffer[one.places.p_beyond] = largest
        if again(core, cores.memory[j], core.own, cores.numbers[j], found.x[j], found.p_n[j], found.p_t[j]):
            asked[0] += 1
        wrong = damage(core, cores.states[j], one.places, 1.0, 0.0)
        if wrong:
            return wrong
        copy(buffer, cores.states[j])
        draw(buffer, cores.members[j], one.places, outline)
    return FINE


@kernel(types.void(CORES, CONTACT_MOTION, REMEMBER_T, ONE), checked=False)
def call_remember(cores, found, remember, one):
    """The hook after a step, p_t in the instant's own axes."""
    core = one.core
    for j in range(cores.members.shape[0]):
        copy(cores.states[j], one.buffer)
        remember(core, cores.memory[j], core.own, cores.numbers[j], found.x[j], found.p_n[j], found.p_t[j])
