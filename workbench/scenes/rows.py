"""Contact rows as compiled code takes them: every contact a dense block over the velocities that it touches.

The rows of contact i are [normal, directions], its columns column[start[i] : start[i + 1]], and its numbers stand at
place[i] : place[i + 1], row by row. A direction with a friction coefficient of its own is scaled by it, mu_a / mu, so
that the contact is isotropic with the one coefficient mu: u'_a = s_a u_a and p_a = s_a p'_a, by which |p'_t| <= mu p_n
is the ellipsoid of the coefficients and the flow that of largest dissipation.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, set_all
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch, scratch_indices
from workbench.engine.stored import Stored, add_product
from workbench.mechanics.instant import INSTANT
from workbench.problems.mass import MASS, factorise, own_products, solve_mass

I64 = types.int64


class ContactRows(Packed):
    """What a step's contacts are while they are posed, solved and read, in isotropic directions (R,): see the module.

    Before the step: scale (R,), mu (r,); b (n,) = M v + h f; velocities u (R,) and `gain`, what forces add to them;
    W_ii of every contact, flat, from origin[i] on. Gain and W are told where hooks may ask for them; else they are 0
    and the identity. As hooks leave them: the tangent axes in use, frame (r, 2), whether a contact is closed (r,), and
    b_n, eps_n (r,) of those without directions.

    Blocks are closed contacts with directions in the order of the instant, then for every copy of the system its
    contacts without directions, bilateral rows and rows of dry friction: order (r,) closed contacts, those with
    directions first; block (r,) the block of each, target (r,) its first row, -1 where it has none, jump (r,) how many
    rows on its next copy is; row, unknown, begin_L, begin_N where the rows, unknowns and numbers of L and N of every
    block begin, with room for all contacts; counts (9,) of closed contacts with directions, of those without, of all
    blocks, of their rows, unknowns, numbers of L and of N, and of the numbers in J and M of all.

    After it: velocities `moved` in the instant's axes, impulses in these (`own`) and in the axes in use, and P, the
    impulses in the rows of the instant as they are given.
    """

    sizes = ("n", "r", "ends", "R", "columns", "numbers", "products", "most")
    integers = (
        "start", "column", "place", "origin", "closed", "order", "block", "target", "jump", "row", "unknown", "begin_L",
        "begin_N", "counts",
    )  # fmt: skip
    fields: ClassVar[dict[str, tuple]] = {
        "start": ("ends",), "column": ("columns",), "place": ("ends",), "value": ("numbers",), "scale": ("R",),
        "mu": ("r",), "b": ("n",), "u": ("R",), "gain": ("R",), "W": ("products",), "origin": ("r",),
        "frame": ("r", 2), "closed": ("r",), "b_n": ("r",), "eps_n": ("r",), "order": ("r",), "block": ("r",),
        "target": ("r",), "jump": ("r",), "row": ("most",), "unknown": ("most",), "begin_L": ("most",),
        "begin_N": ("most",), "counts": (9,), "moved": ("R",), "own": ("R",), "in_use": ("R",), "P": ("R",),
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


ROWS = ContactRows.compiled


@kernel(types.void(INSTANT, ROWS), checked=False)
def count_columns(s, rows):
    """start, place (r + 1,)."""
    first, pointer, column, n = s.first, s.J_pointer, s.J_column, s.v.shape[0]
    start, place, seen = rows.start, rows.place, scratch_indices(n)
    for j in range(n):
        seen[j] = -1
    start[0] = place[0] = 0
    for i in range(first.shape[0] - 1):
        count = 0
        for k in range(pointer[first[i]], pointer[first[i + 1]]):
            if seen[column[k]] != i:
                seen[column[k]] = i
                count += 1
        start[i + 1] = start[i] + count
        place[i + 1] = place[i] + count * (first[i + 1] - first[i])


@kernel(types.void(INSTANT, ROWS))
def isotropic(s, rows):
    """scale (R,) of rows, and the coefficient (r,) that a contact then has: its first direction's, unless that is 0."""
    first, mu, scale = s.first, s.mu, rows.scale
    for i in range(first.shape[0] - 1):
        a, b = first[i], first[i + 1]
        one = 0.0
        if b > a + 1:
            one = mu[a + 1]
            if one == 0.0:
                for k in range(a + 1, b):
                    one = max(one, mu[k])
        rows.mu[i] = one
        scale[a] = 1.0
        for k in range(a + 1, b):
            scale[k] = mu[k] / one if one > 0.0 else 1.0


@kernel(types.void(INSTANT, ROWS))
def fill_rows(s, rows):
    """The columns of every contact in ascending order, and its numbers."""
    first, pointer, index, data = s.first, s.J_pointer, s.J_column, s.J_data
    start, column, place, value, scale = rows.start, rows.column, rows.place, rows.value, rows.scale
    at = scratch_indices(s.v.shape[0])
    for i in range(first.shape[0] - 1):
        begin, width = start[i], 0
        for k in range(pointer[first[i]], pointer[first[i + 1]]):
            # Sorted as they come: contacts touch few velocities, and rows are sorted mostly.
            j, p = index[k], width
            while p > 0 and column[begin + p - 1] > j:
                p -= 1
            if p > 0 and column[begin + p - 1] == j:
                continue
            for q in range(width, p, -1):
                column[begin + q] = column[begin + q - 1]
            column[begin + p] = j
            width += 1
        for p in range(width):
            at[column[begin + p]] = p
        for a in range(first[i], first[i + 1]):
            row = place[i] + (a - first[i]) * width
            for p in range(width):
                value[row + p] = 0.0
            for k in range(pointer[a], pointer[a + 1]):
                value[row + at[index[k]]] += scale[a] * data[k]


@kernel(types.void(INSTANT, ROWS, VECTOR, VECTOR))
def velocities(s, rows, v, u):
    """u (R,): the rows times v (n,)."""
    first, start, column, place, value = s.first, rows.start, rows.column, rows.place, rows.value
    for i in range(first.shape[0] - 1):
        width = start[i + 1] - start[i]
        for a in range(first[i], first[i + 1]):
            row, total = place[i] + (a - first[i]) * width, 0.0
            for p in range(width):
                total += value[row + p] * v[column[start[i] + p]]
            u[a] = total


@kernel(I64(INSTANT, MASS, types.boolean, types.boolean, ROWS), checked=False)
def measure(s, mass, factored, hooked, rows):
    """The rows of contacts, and how they move; returns what `factorise` does.

    `mass` receives the factors of M where they are to be `factored`, and is read where contacts are `hooked`.
    """
    M = Stored(s.M_pointer, s.M_column, s.M_data)
    if factored:
        wrong = factorise(M, mass)
        if wrong:
            return wrong
    first, b, W, at = s.first, rows.b, rows.W, 0
    h, f, v = s.h, s.f, s.v
    count_columns(s, rows)
    isotropic(s, rows)
    fill_rows(s, rows)
    velocities(s, rows, v, rows.u)
    for j in range(v.shape[0]):
        b[j] = h * f[j]
    add_product(M, v, b)
    for i in range(first.shape[0] - 1):
        rows.origin[i] = at
        at += (first[i + 1] - first[i]) ** 2
    if hooked:
        own_products(first, rows.start, rows.column, rows.place, rows.value, mass, W)
        a = scratch(v.shape[0])
        for j in range(v.shape[0]):
            a[j] = h * f[j]
        solve_mass(mass, a)
        velocities(s, rows, a, rows.gain)
    else:
        set_all(0.0, rows.gain)
        set_all(0.0, W)
        for i in range(first.shape[0] - 1):
            for k in range(first[i + 1] - first[i]):
                W[rows.origin[i] + k * (first[i + 1] - first[i] + 1)] = 1.0
    return 0
