"""The rows of one instant, as MuJoCo sets them up on the copy with raised margins.

MuJoCo's frame has the normal first, from the first geom to the second, so that J_n v is the rate of the gap; rows of
equalities are the derivatives of their errors, those of limits of the distance to the limit. Limits are contacts of no
direction, behind all others.

Kernels that are given the groups of MuJoCo's arrays do not count references to these (`_nrt`), which takes as long as
the reading; so they must not create arrays.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.layout import Packed
from workbench.engine.stored import STORED, Stored, add_product
from workbench.mechanics.instant import (
    INSTANT,
    PLACES,
    Instant,
    InstantArrays,
    Places,
    are_finite,
    is_sound,
    set_bodies,
)
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
    kind (mjtConstraint), the number of the joint or tendon that a limit is `of`, and the position [m, rad]; the largest
    force of dry friction, and what soft rows have for themselves, reference acceleration and regularisation R."""

    J: Any
    length: Any
    start: Any
    column: Any
    kind: Any
    of: Any
    position: Any
    friction: Any
    reference: Any
    softness: Any


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


class Constants(Packed):
    """What no step changes: the body (ngeom,) of a geom, -1 where it does not move; the margins [m] of the file, one of
    all contacts where it says so (`same`), else of geoms and of pairs (npair, 2); those of joints and tendons, and how
    soft their limits are."""

    sizes = ("geoms", "pairs", "joints", "tendons")
    integers = ("body", "same", "pair")
    fields: ClassVar[dict[str, tuple]] = {
        "body": ("geoms",), "same": (), "margin": (), "geom_margin": ("geoms",), "pair": ("pairs", 2),
        "pair_margin": ("pairs",), "joint_margin": ("joints",), "joint_solref": ("joints", 2),
        "joint_solimp": ("joints", 5), "tendon_margin": ("tendons",), "tendon_solref": ("tendons", 2),
        "tendon_solimp": ("tendons", 5), "impratio": (),
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class ModelDynamics(NamedTuple):
    """What belongs to no contact: the step h [s], velocities and forces (n,), and inertia M (n, n) by rows."""

    h: float
    v: Any
    f: Any
    M: Any


class Chosen(Packed):
    """Which of MuJoCo's rows an instant has, with room for more: `row` (R,) of its contacts and limits, first (r + 1,),
    `source` (r,) MuJoCo's contact, -1 of limits, `bilateral` (m,), `dry` (k,); counts r, R, m, k, and of the numbers in
    these rows, of contacts and limits, bilateral and dry."""

    sizes = ("most", "ends")
    integers = ("row", "first", "source", "bilateral", "dry", "counts")
    fields: ClassVar[dict[str, tuple]] = {
        "row": ("most",), "first": ("ends",), "source": ("most",), "bilateral": ("most",), "dry": ("most",),
        "counts": (7,),
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


CHOSEN = Chosen.compiled
CONSTRAINTS = argument_type(Constraints, VECTOR, *(NUMBERS32,) * 5, *(VECTOR,) * 4)
COLLISIONS = argument_type(
    Collisions, STRIDED32, STRIDED32, STRIDED_ROWS32, STRIDED_ROWS, STRIDED_ROWS, STRIDED, *(STRIDED_ROWS,) * 5
)
CONSTANTS = Constants.compiled
BODIES = argument_type(ModelDynamics, F64, VECTOR, VECTOR, STORED)
OTHER_ROOM = -1
"""What `read` returns where an instant has other sizes than its rows."""


@kernel(types.boolean(CONSTRAINTS, COLLISIONS, I64, F64), _nrt=False)
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


@kernel(F64(CONSTRAINTS, I64), _nrt=False)
def largest_entry(rows, k):
    """The largest modulus in row k."""
    most = 0.0
    for p in range(rows.start[k], rows.start[k] + rows.length[k]):
        most = max(most, abs(rows.J[p]))
    return most


@kernel(F64(CONSTANTS, I64, I64), _nrt=False)
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


@kernel(types.void(CONSTRAINTS, COLLISIONS, types.boolean, CHOSEN), checked=False, _nrt=False)
def choose(rows, found, locked, to):
    """Contacts, with `locked` ones or only those that `parts`, limits behind them, equalities and dry friction.

    Directions without friction are left out, and those along which nothing can move.
    """
    row, first, source, bilateral, dry, counts = to.row, to.first, to.source, to.bilateral, to.dry, to.counts
    r, R, m, k, J, J_b, J_f = 0, 0, 0, 0, 0, 0, 0
    first[0] = 0
    for c in range(found.row.shape[0]):
        if found.row[c] < 0 or found.geom[c, 0] < 0 or found.geom[c, 1] < 0:
            continue
        if not parts(rows, found, c, ROUNDING if locked else LOCKED):
            continue
        for a in range(found.dim[c]):
            if a == 0 or (found.friction[c, a - 1] > NO_FRICTION and largest_entry(rows, found.row[c] + a) > 0.0):
                row[R] = found.row[c] + a
                J += rows.length[row[R]]
                R += 1
        source[r] = c
        r += 1
        first[r] = R
    for i in range(rows.kind.shape[0]):
        kind, length = rows.kind[i], rows.length[i]
        if kind == EQUALITY:
            bilateral[m] = i
            m, J_b = m + 1, J_b + length
        elif kind in DRY_FRICTION:
            dry[k] = i
            k, J_f = k + 1, J_f + length
        elif kind in (LIMIT_JOINT, LIMIT_TENDON):
            row[R], source[r] = i, -1
            r, R, J = r + 1, R + 1, J + length
            first[r] = R
    counts[0], counts[1], counts[2], counts[3] = r, R, m, k
    counts[4], counts[5], counts[6] = J, J_b, J_f


@kernel(types.void(CONSTRAINTS, COLLISIONS, CONSTANTS, CHOSEN, INSTANT, PLACES, MATRIX), _nrt=False)
def write_contacts(rows, found, file, chosen, s, places, softness):
    """The contacts and limits of an instant; contacts that nothing `parts` act on no body."""
    first, point, pair, acts = s.first, places.point, places.pair, places.acts
    for i in range(s.phi.shape[0]):
        c, R = chosen.source[i], chosen.first[i]
        first[i + 1], s.mu[R], pair[i, 0], pair[i, 1] = chosen.first[i + 1], 1.0, -1, -1
        if c < 0:
            k = chosen.row[R]
            tendon, of, lower = rows.kind[k] == LIMIT_TENDON, rows.of[k], 1 if rows.J[rows.start[k]] > 0.0 else 0
            for p in range(6):
                acts[R, p] = 0.0
            for p in range(3):
                point[i, p] = 0.0
            s.key[i] = -1 - (4 * of + (2 if tendon else 0) + lower)
            s.phi[i] = rows.position[k] - (file.tendon_margin[of] if tendon else file.joint_margin[of])
            ref, imp = (file.tendon_solref, file.tendon_solimp) if tendon else (file.joint_solref, file.joint_solimp)
            soften(softness, i, file.impratio, ref[of, 0], ref[of, 1], imp[of], 0.0, 0.0)
            continue
        for k in range(R, first[i + 1]):
            a = chosen.row[k] - found.row[c]
            if a:
                s.mu[k] = found.friction[c, a - 1]
            if 1 <= a <= 3:
                s.rate[k] = found.drift[c, a - 1]
            for p in range(3):
                acts[k, p] = found.frame[c, 3 * a + p] if a < 3 else 0.0
                acts[k, 3 + p] = found.frame[c, 3 * (a - 3) + p] if a >= 3 else 0.0
        one, other = found.geom[c, 0], found.geom[c, 1]
        s.phi[i], s.key[i] = found.dist[c] - margin(file, one, other), one * file.body.shape[0] + other
        if parts(rows, found, c, LOCKED):
            pair[i, 0], pair[i, 1] = file.body[one], file.body[other]
        for p in range(3):
            point[i, p] = found.point[c, p]
        soften(
            softness, i, file.impratio, found.solref[c, 0], found.solref[c, 1], found.solimp[c],
            found.solreffriction[c, 0], found.solreffriction[c, 1],
        )  # fmt: skip


@kernel(types.void(CONSTRAINTS, INDICES, I64, STORED), _nrt=False)
def take(rows, which, count, to):
    """The first so many rows of `which`, one after the other."""
    at = 0
    for i in range(count):
        k = which[i]
        for p in range(rows.start[k], rows.start[k] + rows.length[k]):
            to.column[at], to.data[at] = rows.column[p], rows.J[p]
            at += 1
        to.pointer[i + 1] = at


@kernel(types.void(CONSTRAINTS, INDICES, STORED, F64, VECTOR, VECTOR, VECTOR))
def soften_rows(rows, which, J, h, v, rate, compliance):
    """Rates and compliances with which rows J (k, n), MuJoCo's `which`, are as soft as MuJoCo makes them.

    MuJoCo has (u+ - u)/h - a_ref + R f = 0 with p = h f, which is u+ + r + R p = 0 with r = -u - h a_ref.
    """
    add_product(J, v, rate)
    for i in range(rate.shape[0]):
        rate[i] = -rate[i] - h * rows.reference[which[i]]
        compliance[i] = rows.softness[which[i]]


@kernel(types.void(INDICES), checked=False)
def number_occurrences(key):
    """Replace the number of every pair of geoms (r,) by a key, with which of their contacts it is; limits keep theirs.

    Contacts of a pair are mostly one after the other.
    """
    for i in range(key.shape[0] - 1, -1, -1):
        if key[i] >= 0:
            before = 0
            for j in range(i):
                before += key[j] == key[i]
            key[i] = MOST * key[i] + before


@kernel(types.boolean(CONSTRAINTS, COLLISIONS, CONSTANTS, types.boolean, CHOSEN, INSTANT, PLACES, MATRIX), _nrt=False)
def write(rows, found, file, soft, chosen, s, places, softness):
    """All rows of an instant whose bodies are set, equalities and dry friction as `soft` as MuJoCo has them or rigid;
    whether it is sound."""
    J, J_b = Stored(s.J_pointer, s.J_column, s.J_data), Stored(s.J_b_pointer, s.J_b_column, s.J_b_data)
    J_f, m, k = Stored(s.J_f_pointer, s.J_f_column, s.J_f_data), s.g.shape[0], s.limit.shape[0]
    write_contacts(rows, found, file, chosen, s, places, softness)
    number_occurrences(s.key)
    take(rows, chosen.row, s.mu.shape[0], J)
    take(rows, chosen.bilateral, m, J_b)
    take(rows, chosen.dry, k, J_f)
    for i in range(k):
        s.limit[i] = s.h * rows.friction[chosen.dry[i]]
    if soft:
        soften_rows(rows, chosen.bilateral, J_b, s.h, s.v, s.r_b, s.eps_b)
        soften_rows(rows, chosen.dry, J_f, s.h, s.v, s.r_f, s.eps_f)
    else:
        for i in range(m):
            s.g[i] = rows.position[chosen.bilateral[i]]
    wrong = 0
    for a in range(softness.shape[0]):
        for i in range(softness.shape[1]):
            wrong += not np.isfinite(softness[a, i])
    return wrong == 0 and is_sound(s) and are_finite(places)


@kernel(
    I64(CONSTRAINTS, COLLISIONS, CONSTANTS, types.boolean, BODIES, CHOSEN, INSTANT, PLACES, MATRIX),
    checked=False,
    _nrt=False,
)
def read(rows, found, file, soft, bodies, chosen, s, places, softness):
    """All of an instant: whether it is sound, or `OTHER_ROOM`; `chosen.counts` says then for what room is needed."""
    choose(rows, found, soft, chosen)
    counts = chosen.counts
    there = (
        s.phi.shape[0], s.mu.shape[0], s.g.shape[0], s.limit.shape[0], s.J_data.shape[0], s.J_b_data.shape[0],
        s.J_f_data.shape[0],
    )  # fmt: skip
    for i in range(counts.shape[0]):
        if counts[i] != there[i]:
            return OTHER_ROOM
    set_bodies(bodies.h, bodies.v, bodies.f, bodies.M, s)
    return 1 if write(rows, found, file, soft, chosen, s, places, softness) else 0


def constraints(data: Any) -> Constraints:
    return Constraints(
        data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind, data.efc_type, data.efc_id, data.efc_pos,
        data.efc_frictionloss, data.efc_aref, data.efc_R,
    )  # fmt: skip


def collisions(data: Any) -> Collisions:
    c = data.contact
    return Collisions(
        c.efc_address, c.dim, c.geom, c.frame, c.friction, c.dist, c.pos, c.surfacevel, c.solref, c.solimp,
        c.solreffriction,
    )  # fmt: skip


def constants(file: Any, number: NDArray[np.int64], same: bool) -> Constants:
    """Of the model as its file has it, and the number of the moving body (nbody,) that each of its bodies belongs to;
    `same` where its option o_margin is that of all contacts."""
    found: Constants = Constants.unset(geoms=file.ngeom, pairs=file.npair, joints=file.njnt, tendons=file.ntendon)
    found.body, found.same, found.margin = number[file.geom_bodyid], same, file.opt.o_margin
    found.geom_margin, found.pair_margin, found.impratio = file.geom_margin, file.pair_margin, file.opt.impratio
    found.pair = np.stack([file.pair_geom1, file.pair_geom2], axis=1)
    found.joint_margin, found.joint_solref, found.joint_solimp = file.jnt_margin, file.jnt_solref, file.jnt_solimp
    found.tendon_margin = file.tendon_margin
    found.tendon_solref, found.tendon_solimp = file.tendon_solref_lim, file.tendon_solimp_lim
    return found


class Reader:
    """Reads instants off the rows that MuJoCo has set up; the room for which these are is made beforehand."""

    def __init__(self, file: Constants, n: int) -> None:
        self.file, self.n = file, n
        self.chosen: Chosen = Chosen(most=0, ends=1)

    def instant(self, data: Any, soft: bool, h: float, f: Array, M: Stored) -> Instant:
        """The instant of bodies with inertia M (n, n) and forces f (n,), for a step of h [s] from the data's v.

        Equalities and dry friction are as `soft` as MuJoCo has them, with contacts that nothing can part among the
        others; or they are rigid, without these. Raises DataError where MuJoCo's numbers are no contact data.
        """
        rows, found, chosen = constraints(data), collisions(data), self.chosen
        if data.nefc > chosen.most:
            chosen = self.chosen = Chosen(most=2 * data.nefc, ends=2 * data.nefc + 1)
        bodies, sound = ModelDynamics(h, data.qvel, f, M), OTHER_ROOM
        # Most steps have as many rows as the last one.
        while sound == OTHER_ROOM:
            r, R, m, k, J, J_b, J_f = chosen.counts.tolist()
            s: InstantArrays = InstantArrays.unset(
                n=self.n, r=r, ends=r + 1, R=R, m=m, k=k, M_ends=self.n + 1, M_entries=M.data.size, J_ends=R + 1,
                J_entries=J, J_b_ends=m + 1, J_b_entries=J_b, J_f_ends=k + 1, J_f_entries=J_f,
            )  # fmt: skip
            places, softness = Places.unset(r, R), np.empty((len(SOFTNESS), r))
            sound = read(rows, found, self.file, soft, bodies, chosen, s, places, softness)
        return Instant.of_kernels(s, bool(sound), dict(zip(SOFTNESS, softness, strict=True)), places)


def held(model: Any, data: Any) -> NDArray[np.int64]:
    """The keys of all contacts that nothing can part."""
    rows, found = constraints(data), collisions(data)
    there = np.flatnonzero((found.row >= 0) & (found.geom >= 0).all(axis=1))
    locked = [i for i in there if not parts(rows, found, i, LOCKED)]
    return with_occurrences(pairs(found.geom[locked], model.ngeom))


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
    found = key.copy()
    number_occurrences(found)
    return found
