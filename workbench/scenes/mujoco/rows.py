"""The rows of one instant, as MuJoCo sets them up on the copy with raised margins.

MuJoCo's frame has the normal first, from the first geom to the second, so that J_n v is the rate of the gap; rows of
equalities are the derivatives of their errors, those of limits of the distance to the limit. Limits are contacts of no
direction, behind all others.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.stored import STORED, Stored, add_product, as_sparse, as_stored
from workbench.mechanics.instant import Places
from workbench.support.arrays import Array

EQUALITY, DRY_FRICTION, LIMIT_JOINT, LIMIT_TENDON = 0, (1, 2), 3, 4
"""MuJoCo's mjtConstraint."""
MOST = 64
"""Contacts of a pair of geoms that keys have numbers for; MuJoCo makes 50 at most."""
NO_FRICTION = 1e-5
"""MuJoCo's mjMINMU, to which it raises coefficients of zero."""
LOCKED = 1e-3
"""Share of the largest row of a contact up to which its normal row counts as zero: MuJoCo's normals of meshes are good
to 1e-3 rad."""
ROUNDING = 1e-9
"""The same share, up to which even a soft contact has no force: its rows are those of rounding errors."""
LEAST_IMPEDANCE, MOST_IMPEDANCE, SMALLEST = 0.0001, 0.9999, 1e-15
"""MuJoCo's mjMINIMP, mjMAXIMP and mjMINVAL."""
LARGEST = float(np.finfo(float).max)
SOFTNESS = "timeconst", "dampratio", "dmin", "dmax", "width", "impratio", "midpoint", "power", "timeconst_t"
"""Options of MuJoCo's formulations that every contact has for itself, and their numbers."""
TIMECONST, DAMPRATIO, DMIN, DMAX, WIDTH, IMPRATIO, MIDPOINT, POWER, TIMECONST_T = range(len(SOFTNESS))

I64, F64, PAIRS = types.int64, types.float64, types.Array(types.int64, 2, "C")
NUMBERS32 = types.Array(types.int32, 1, "C")
STRIDED32, STRIDED_ROWS32, STRIDED, STRIDED_ROWS = (types.Array(x, d, "A") for x in (types.int32, F64) for d in (1, 2))


class Constraints(NamedTuple):
    """The rows (nefc,) that MuJoCo has set up: the entries J[start : start + length] in the columns of the same places,
    kind (mjtConstraint), the number of the joint or tendon that a limit is `of`, and the position [m, rad]."""

    J: Any
    length: Any
    start: Any
    column: Any
    kind: Any
    of: Any
    position: Any


class Collisions(NamedTuple):
    """What MuJoCo has found to be near (ncon,), as its mjContact has it; `row` is the first of the constraints."""

    row: Any
    dim: Any
    geom: Any
    frame: Any
    friction: Any
    dist: Any
    point: Any
    drift: Any
    solref: Any
    solimp: Any
    solreffriction: Any


class Constants(NamedTuple):
    """What no step changes: the body (ngeom,) of a geom, -1 where it does not move; the margins [m] of the file, one of
    all contacts where it says so (`same`), else of geoms and of pairs (npair, 2); those of joints and tendons, and how
    soft their limits are."""

    body: Any
    same: bool
    margin: float
    geom_margin: Any
    pair: Any
    pair_margin: Any
    joint_margin: Any
    joint_solref: Any
    joint_solimp: Any
    tendon_margin: Any
    tendon_solref: Any
    tendon_solimp: Any
    impratio: float


class Rows(NamedTuple):
    """Contacts and limits as an `Instant` has them, with room for more: `row` (R,) of MuJoCo's, first (r + 1,), mu,
    rate (R,), acts (R, 6), phi (r,), pair of geoms (r,) as one number or a limit's key, point (r, 3), bodies (r, 2),
    softness (9, r); bilateral (m,) and dry (k,) rows of MuJoCo's; counts r, R, m, k."""

    row: Any
    first: Any
    mu: Any
    rate: Any
    acts: Any
    phi: Any
    key: Any
    point: Any
    bodies: Any
    softness: Any
    bilateral: Any
    dry: Any
    counts: Any


CONSTRAINTS = argument_type(Constraints, VECTOR, *(NUMBERS32,) * 5, VECTOR)
COLLISIONS = argument_type(
    Collisions, STRIDED32, STRIDED32, STRIDED_ROWS32, STRIDED_ROWS, STRIDED_ROWS, STRIDED, *(STRIDED_ROWS,) * 5
)
CONSTANTS = argument_type(
    Constants, INDICES, types.boolean, F64, VECTOR, PAIRS, VECTOR, VECTOR, MATRIX, MATRIX, VECTOR, MATRIX, MATRIX, F64
)  # fmt: skip
ROWS = argument_type(
    Rows, INDICES, INDICES, VECTOR, VECTOR, MATRIX, VECTOR, INDICES, MATRIX, PAIRS, MATRIX, *(INDICES,) * 3
)  # fmt: skip


@kernel(types.boolean(CONSTRAINTS, COLLISIONS, I64, F64))
def parts(rows, found, i, share):
    """Whether anything can move along the normal of a contact by more than a `share` of what moves along others.

    Of a contact that nothing parts, as along a hinge's axis, rigid contact knows no force.
    """
    normal = largest = 0.0
    for k in range(found.row[i], found.row[i] + found.dim[i]):
        size = largest_entry(rows, k)
        largest = max(largest, size)
        if k == found.row[i]:
            normal = size
    return normal > share * max(largest, LOCKED)


@kernel(F64(CONSTRAINTS, I64))
def largest_entry(rows, k):
    """The largest modulus in row k."""
    most = 0.0
    for p in range(rows.start[k], rows.start[k] + rows.length[k]):
        most = max(most, abs(rows.J[p]))
    return most


@kernel(F64(CONSTANTS, I64, I64))
def margin(file, a, b):
    """The file's own margin of contacts between two geoms."""
    if file.same:
        return file.margin
    found = file.geom_margin[a] + file.geom_margin[b]
    for k in range(file.pair.shape[0]):
        if (file.pair[k, 0] == a and file.pair[k, 1] == b) or (file.pair[k, 0] == b and file.pair[k, 1] == a):
            found = file.pair_margin[k]
    return found


@kernel(types.void(MATRIX, I64, F64, F64, F64, STRIDED, F64, F64))
def soften(softness, i, impratio, timeconst, dampratio, solimp, stiffness_t, damping_t):
    """What MuJoCo's formulations are to take for contact i: MuJoCo's own solref, solimp and solreffriction.

    A negative solref is stiffness and damping themselves, from which time constant and damping ratio follow: timeconst
    = 2/damping, negative since no step bounds it, and dampratio = damping / (2 sqrt(stiffness)).
    """
    if timeconst <= 0.0 and dampratio <= 0.0:
        stiffness, damping = -timeconst, -dampratio
        timeconst = -2.0 / max(damping, SMALLEST)
        dampratio = damping / (2.0 * np.sqrt(max(stiffness, SMALLEST)))
    timeconst_t = stiffness_t
    if stiffness_t <= 0.0 and (stiffness_t != 0.0 or damping_t != 0.0):
        timeconst_t = -2.0 / max(-damping_t, SMALLEST)
    least = min(max(solimp[0], LEAST_IMPEDANCE), MOST_IMPEDANCE)
    most = min(max(solimp[1], LEAST_IMPEDANCE), MOST_IMPEDANCE)
    width = solimp[2]
    if width <= SMALLEST:
        # Over no width it does not rise: MuJoCo takes the mean.
        least, width = 0.5 * (least + most), LARGEST
    softness[TIMECONST, i], softness[DAMPRATIO, i], softness[TIMECONST_T, i] = timeconst, dampratio, timeconst_t
    softness[DMIN, i], softness[DMAX, i], softness[WIDTH, i] = least, most, width
    softness[MIDPOINT, i] = min(max(solimp[3], LEAST_IMPEDANCE), MOST_IMPEDANCE)
    softness[POWER, i], softness[IMPRATIO, i] = max(solimp[4], 1.0), impratio


@kernel(types.void(CONSTRAINTS, COLLISIONS, CONSTANTS, types.boolean, I64, ROWS))
def read_contacts(rows, found, file, locked, geoms, to):
    """The contacts of so many `geoms`, with `locked` ones or only those that `parts` (those act on no body).

    Directions without friction are left out, and those along which nothing can move.
    """
    r = R = 0
    to.first[0] = 0
    for c in range(found.row.shape[0]):
        if found.row[c] < 0 or found.geom[c, 0] < 0 or found.geom[c, 1] < 0:
            continue
        free = parts(rows, found, c, LOCKED)
        if not (parts(rows, found, c, ROUNDING) if locked else free):
            continue
        for a in range(found.dim[c]):
            mu = found.friction[c, a - 1] if a else 1.0
            if a and not (mu > NO_FRICTION and largest_entry(rows, found.row[c] + a) > 0.0):
                continue
            to.row[R], to.mu[R], to.rate[R] = found.row[c] + a, mu, found.drift[c, a - 1] if 1 <= a <= 3 else 0.0
            for k in range(3):
                to.acts[R, k] = found.frame[c, 3 * a + k] if a < 3 else 0.0
                to.acts[R, 3 + k] = found.frame[c, 3 * (a - 3) + k] if a >= 3 else 0.0
            R += 1
        one, other = found.geom[c, 0], found.geom[c, 1]
        to.phi[r], to.key[r] = found.dist[c] - margin(file, one, other), one * geoms + other
        to.bodies[r, 0], to.bodies[r, 1] = (file.body[one], file.body[other]) if free else (-1, -1)
        for k in range(3):
            to.point[r, k] = found.point[c, k]
        soften(
            to.softness, r, file.impratio, found.solref[c, 0], found.solref[c, 1], found.solimp[c],
            found.solreffriction[c, 0], found.solreffriction[c, 1],
        )  # fmt: skip
        r += 1
        to.first[r] = R
    to.counts[0], to.counts[1] = r, R


@kernel(types.void(CONSTRAINTS, CONSTANTS, ROWS))
def read_others(rows, file, to):
    """The limits of joints and tendons behind the contacts, and which rows are equalities and dry friction."""
    r, R, m, k = to.counts[0], to.counts[1], 0, 0
    for i in range(rows.kind.shape[0]):
        kind, of = rows.kind[i], rows.of[i]
        if kind == EQUALITY:
            to.bilateral[m] = i
            m += 1
        elif kind in DRY_FRICTION:
            to.dry[k] = i
            k += 1
        elif kind in (LIMIT_JOINT, LIMIT_TENDON):
            tendon = kind == LIMIT_TENDON
            lower = 1 if rows.J[rows.start[i]] > 0.0 else 0
            to.row[R], to.mu[R], to.rate[R] = i, 1.0, 0.0
            for p in range(6):
                to.acts[R, p] = 0.0
            for p in range(3):
                to.point[r, p] = 0.0
            to.bodies[r, 0] = to.bodies[r, 1] = -1
            to.key[r] = -1 - (4 * of + (2 if tendon else 0) + lower)
            to.phi[r] = rows.position[i] - (file.tendon_margin[of] if tendon else file.joint_margin[of])
            ref, imp = (file.tendon_solref, file.tendon_solimp) if tendon else (file.joint_solref, file.joint_solimp)
            soften(to.softness, r, file.impratio, ref[of, 0], ref[of, 1], imp[of], 0.0, 0.0)
            r, R = r + 1, R + 1
            to.first[r] = R
    to.counts[0], to.counts[1], to.counts[2], to.counts[3] = r, R, m, k


@kernel(types.void(CONSTRAINTS, INDICES, I64, STORED))
def take(rows, which, count, to):
    """The first so many rows of `which`, one after the other."""
    at = 0
    for i in range(count):
        k = which[i]
        for p in range(rows.start[k], rows.start[k] + rows.length[k]):
            to.column[at], to.data[at] = rows.column[p], rows.J[p]
            at += 1
        to.pointer[i + 1] = at


@kernel(types.void(CONSTRAINTS, COLLISIONS, CONSTANTS, types.boolean, I64, ROWS, STORED, STORED, STORED), checked=False)
def read_all(rows, found, file, locked, geoms, to, J, J_b, J_f):
    """Contacts and limits, equalities and dry friction, and their rows; the pointers begin with 0."""
    read_contacts(rows, found, file, locked, geoms, to)
    read_others(rows, file, to)
    take(rows, to.row, to.counts[1], J)
    take(rows, to.bilateral, to.counts[2], J_b)
    take(rows, to.dry, to.counts[3], J_f)


def constraints(data: Any) -> Constraints:
    return Constraints(
        data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind, data.efc_type, data.efc_id, data.efc_pos
    )


def collisions(data: Any) -> Collisions:
    c = data.contact
    return Collisions(
        c.efc_address, c.dim, c.geom, c.frame, c.friction, c.dist, c.pos, c.surfacevel, c.solref, c.solimp,
        c.solreffriction,
    )  # fmt: skip


def constants(file: Any, number: NDArray[np.int64], same: bool) -> Constants:
    """Of the model as its file has it, and the number of the moving body (nbody,) that each of its bodies belongs to;
    `same` where its option o_margin is that of all contacts."""
    pairs = np.stack([file.pair_geom1, file.pair_geom2], axis=1).astype(np.int64)
    return Constants(
        number[file.geom_bodyid], same, float(file.opt.o_margin), file.geom_margin, pairs, file.pair_margin,
        file.jnt_margin, file.jnt_solref, file.jnt_solimp, file.tendon_margin, file.tendon_solref_lim,
        file.tendon_solimp_lim, float(file.opt.impratio),
    )  # fmt: skip


class RowsOfStep(NamedTuple):
    """Contacts and limits, equalities and dry friction as an `Instant` has them, and which of MuJoCo's rows the last
    two are, `bilateral` (m,) and `friction` (k,)."""

    first: NDArray[np.int64]
    J: Any
    mu: Array
    phi: Array
    rate: Array
    key: NDArray[np.int64]
    numbers: dict[str, Array]
    places: Places
    J_b: Any
    bilateral: NDArray[np.int64]
    J_f: Any
    friction: NDArray[np.int64]


def read(model: Any, data: Any, file: Constants, locked: bool) -> RowsOfStep:
    """The rows that MuJoCo has set up; `locked` contacts, which nothing can part, are among them or left out."""
    most, entries = data.nefc, data.efc_J.size
    indices, numbers = np.empty((5, most + 1), dtype=np.int64), np.empty((3, most))
    row, first, key, bilateral, dry = indices
    mu, rate, phi = numbers
    to = Rows(
        row, first, mu, rate, np.empty((most, 6)), phi, key, np.empty((most, 3)), np.empty((most, 2), dtype=np.int64),
        np.empty((len(SOFTNESS), most)), bilateral, dry, np.empty(4, dtype=np.int64),
    )  # fmt: skip
    J, J_b, J_f = (Stored.of_size(most, entries) for _ in range(3))
    read_all(constraints(data), collisions(data), file, locked, model.ngeom, to, J, J_b, J_f)
    r, R, m, k = to.counts.tolist()
    return RowsOfStep(
        first[: r + 1], as_sparse(J, (R, model.nv)), mu[:R], phi[:r], rate[:R], with_occurrences(key[:r]),
        {name: x[:r] for name, x in zip(SOFTNESS, to.softness, strict=True)},
        Places(to.point[:r], to.bodies[:r], to.acts[:R]), as_sparse(J_b, (m, model.nv)), bilateral[:m],
        as_sparse(J_f, (k, model.nv)), dry[:k],
    )  # fmt: skip


def held(model: Any, data: Any) -> NDArray[np.int64]:
    """The keys of all contacts that nothing can part."""
    rows, found = constraints(data), collisions(data)
    there = np.flatnonzero((found.row >= 0) & (found.geom >= 0).all(axis=1))
    locked = [i for i in there if not parts(rows, found, i, LOCKED)]
    return with_occurrences(pairs(found.geom[locked], model.ngeom))


def soft_rows(data: Any, J: Any, row: NDArray[np.int64], v: Array, h: float) -> tuple[Array, Array]:
    """Rates and compliances with which rows J (k, n), MuJoCo's `row` (k,), are as soft as MuJoCo makes them.

    MuJoCo has (u+ - u)/h - a_ref + R f = 0 with p = h f, which is u+ + r + R p = 0 with r = -u - h a_ref.
    """
    u = np.zeros(row.size)
    add_product(as_stored(J), v, u)
    return -u - h * data.efc_aref[row], data.efc_R[row].copy()


def features(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """What all contacts (r,) of a pair of geoms share; a limit's own key."""
    return np.where(key >= 0, key // MOST, key)


def contact_name(model: Any, key: int) -> str:
    """A contact by its geoms and which of their contacts it is, or whose limit it is."""
    if key < 0:
        return f"limit of {limit_name(model, key)}"
    pair, occurrence = divmod(key, MOST)
    geoms = (model.geom(g).name or f"geom {g}" for g in divmod(pair, model.ngeom))
    return f"{' / '.join(geoms)} {occurrence}"


def limit_name(model: Any, key: int) -> str:
    """Whose limit has this key."""
    of, tendon = divmod((-1 - key) // 2, 2)
    element = model.tendon(of) if tendon else model.joint(of)
    return f"{'tendon' if tendon else 'joint'} '{element.name or of}'"


def pairs(geoms: NDArray[Any], ngeom: int) -> NDArray[np.int64]:
    """A number (r,) of every pair of geoms (r, 2)."""
    found: NDArray[np.int64] = geoms[:, 0].astype(np.int64) * ngeom + geoms[:, 1]
    return found


def with_occurrences(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """The key (r,) of every contact, by its pair of geoms and which of their contacts it is; a limit's is its own."""
    seen: dict[int, int] = {}
    found = key.copy()
    for i, pair in enumerate(key.tolist()):
        if pair >= 0:
            found[i] = MOST * pair + seen.setdefault(pair, 0)
            seen[pair] += 1
    return found
