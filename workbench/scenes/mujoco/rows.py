"""The rows of one instant, as MuJoCo sets them up on the copy with raised margins.

MuJoCo's frame has the normal first, from the first geom to the second, so that J_n v is the rate of the gap; rows of
equalities are the derivatives of their errors, those of limits of the distance to the limit.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.mechanics.instant import Places
from workbench.scenes.mujoco.bodies import Bodies
from workbench.scenes.mujoco.forces import kept_rows
from workbench.scenes.mujoco.look_ahead import LookAhead

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
IMPEDANCES, SMALLEST = (0.0001, 0.9999), 1e-15
"""MuJoCo's mjMINIMP and mjMAXIMP, and its mjMINVAL."""


def jacobian(data: Any, n: int) -> Any:
    """All rows (nefc, n) that MuJoCo has set up, sparse."""
    return kept_rows(data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind, n)


@dataclass(frozen=True, eq=False)
class Unilateral:
    """Contacts or limits as an `Instant` has them, and MuJoCo's parameters of them: solref (r, 2), solimp (r, 5) and,
    as `friction`, solreffriction (r, 2)."""

    row: NDArray[np.int64]
    """(R,) rows of all that MuJoCo has set up"""
    first: NDArray[np.int64]
    mu: Array
    phi: Array
    rate: Array
    key: NDArray[np.int64]
    solref: Array
    solimp: Array
    friction: Array
    places: Places


def parting(data: Any, J: Any, share: float = LOCKED) -> NDArray[np.bool_]:
    """Whether anything can move along the normal of each of MuJoCo's contacts (ncon,) that has rows, by more than a
    `share` of what moves along others.

    Of a contact that nothing parts, as along a hinge's axis, rigid contact knows no force.
    """
    c, size = data.contact, np.zeros(data.nefc + 6)
    np.maximum.at(size, np.repeat(np.arange(data.nefc), np.diff(J.indptr)), np.abs(J.data))
    rows = np.where(np.arange(6) < c.dim[:, None], size[c.efc_address[:, None] + np.arange(6)], 0.0)
    return rows[:, 0] > share * np.maximum(rows.max(axis=1, initial=0.0), LOCKED)


def contacts(model: Any, data: Any, J: Any, ahead: LookAhead, bodies: Bodies, locked: bool) -> Unilateral:
    """The contacts, `locked` ones too or only those that something can part (`parting`); locked ones act on no body.

    Directions without friction are left out, and those along which nothing can move.
    """
    c, free = data.contact, parting(data, J)
    kept_ones = parting(data, J, ROUNDING) if locked else free
    there = np.flatnonzero((c.efc_address >= 0) & (c.geom >= 0).all(axis=1) & kept_ones)
    dim, geoms, frame = c.dim[there], c.geom[there], c.frame[there].reshape(-1, 3, 3)
    friction = np.concatenate([np.ones((there.size, 1)), c.friction[there]], axis=1)
    row = c.efc_address[there, None] + np.arange(6)
    kept = (np.arange(6) < dim[:, None]) & (friction > NO_FRICTION)
    moves = np.zeros(data.nefc + 6, dtype=bool)
    moves[np.repeat(np.arange(data.nefc), np.diff(J.indptr))[J.data != 0]] = True
    kept &= moves[row] | (np.arange(6) == 0)
    drift = np.zeros((there.size, 6))
    drift[:, 1:4] = c.surfacevel[there]
    acts = np.zeros((there.size, 6, 6))
    acts[:, :3, :3] = acts[:, 3:, 3:] = frame
    pair = np.where(free[there, None], bodies.number[model.geom_bodyid[geoms]], -1)
    places = Places(c.pos[there].copy(), pair, acts[kept])
    return Unilateral(
        row[kept], np.append(0, np.cumsum(kept.sum(axis=1))), friction[kept],
        c.dist[there] - ahead.contact_margin(geoms), drift[kept], contact_keys(geoms, model.ngeom),
        c.solref[there].copy(), c.solimp[there].copy(), c.solreffriction[there].copy(), places,
    )  # fmt: skip


def held(model: Any, data: Any, J: Any) -> NDArray[np.int64]:
    """The keys of all contacts that nothing can part."""
    c = data.contact
    there = (c.efc_address >= 0) & (c.geom >= 0).all(axis=1) & ~parting(data, J)
    return contact_keys(c.geom[there], model.ngeom)


def limits(data: Any, J: Any, file: Any) -> Unilateral:
    """The limits of joints and tendons, as contacts of no direction."""
    row = np.flatnonzero((data.efc_type == LIMIT_JOINT) | (data.efc_type == LIMIT_TENDON))
    of, tendon, r = data.efc_id[row], data.efc_type[row] == LIMIT_TENDON, row.size
    joint = np.where(tendon, 0, of)

    def of_file(name: str, tendons: str) -> Array:
        both = np.zeros((r, *getattr(file, name).shape[1:]))
        both[~tendon], both[tendon] = getattr(file, name)[joint[~tendon]], getattr(file, tendons)[of[tendon]]
        return both

    lower = J.data[J.indptr[row]] > 0 if r else np.zeros(0, dtype=bool)
    none = np.zeros((r, 3))
    return Unilateral(
        row, np.arange(r + 1), np.ones(r), data.efc_pos[row] - of_file("jnt_margin", "tendon_margin"), np.zeros(r),
        _limit_keys(of.astype(np.int64), tendon, lower), of_file("jnt_solref", "tendon_solref_lim"),
        of_file("jnt_solimp", "tendon_solimp_lim"), np.zeros((r, 2)),
        Places(none, np.full((r, 2), -1), np.zeros((r, 6))),
    )  # fmt: skip


def joined(a: Unilateral, b: Unilateral) -> Unilateral:
    """Both, one after the other."""
    values = {f.name: np.concatenate([getattr(x, f.name) for x in (a, b)]) for f in fields(a) if f.name != "places"}
    values["first"] = np.append(a.first, a.first[-1] + b.first[1:])
    places = [np.concatenate([getattr(x.places, k) for x in (a, b)]) for k in ("point", "pair", "acts")]
    return Unilateral(**values, places=Places(*places))


def soft_rows(data: Any, J: Any, row: NDArray[np.int64], v: Array, h: float) -> tuple[Array, Array]:
    """Rates and compliances with which rows of equalities and dry friction are as soft as MuJoCo makes them.

    MuJoCo has (u+ - u)/h - a_ref + R f = 0 with p = h f, which is u+ + r + R p = 0 with r = -u - h a_ref.
    """
    return -(J[row] @ v) - h * data.efc_aref[row], data.efc_R[row].copy()


def soft_numbers(solref: Array, solimp: Array, friction: Array, impratio: float) -> dict[str, Array]:
    """What MuJoCo's formulations are to take for every contact: MuJoCo's own parameters, `friction` its solreffriction.

    A negative solref is stiffness and damping themselves, from which time constant and damping ratio follow: timeconst
    = 2/damping, negative since no step bounds it, and dampratio = damping / (2 sqrt(stiffness)).
    """
    timeconst, dampratio = solref.T.copy()
    direct = (timeconst <= 0) & (dampratio <= 0)
    stiffness, damping = -solref[direct].T
    timeconst[direct] = -2 / np.maximum(damping, SMALLEST)
    dampratio[direct] = damping / (2 * np.sqrt(np.maximum(stiffness, SMALLEST)))
    timeconst_t = friction[:, 0].copy()
    own = (timeconst_t <= 0) & friction.any(axis=1)
    timeconst_t[own] = -2 / np.maximum(-friction[own, 1], SMALLEST)
    least, most = IMPEDANCES
    dmin, dmax = np.minimum(np.maximum(solimp[:, :2], least), most).T.copy()
    width, flat = solimp[:, 2].copy(), solimp[:, 2] <= SMALLEST
    # Over no width it does not rise: MuJoCo takes the mean.
    dmin[flat], width[flat] = 0.5 * (dmin + dmax)[flat], np.finfo(float).max
    midpoint, power = np.minimum(np.maximum(solimp[:, 3], least), most), np.maximum(solimp[:, 4], 1.0)
    return {
        "timeconst": timeconst, "dampratio": dampratio, "dmin": dmin, "dmax": dmax, "width": width,
        "impratio": np.full(len(solref), impratio), "midpoint": midpoint, "power": power, "timeconst_t": timeconst_t,
    }  # fmt: skip


def features(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """What all contacts (r,) of a pair of geoms share; a limit's own key."""
    return np.where(key >= 0, key // MOST, key)


def _limit_keys(of: NDArray[np.int64], tendon: NDArray[np.bool_], lower: NDArray[np.bool_]) -> NDArray[np.int64]:
    return -1 - (4 * of + 2 * tendon + lower)


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


def contact_keys(geoms: NDArray[np.int64], ngeom: int) -> NDArray[np.int64]:
    """A number (r,) of every contact, by its pair of geoms and which of their contacts it is."""
    pair: NDArray[np.int64] = geoms[:, 0].astype(np.int64) * ngeom + geoms[:, 1]
    occurrence = np.zeros(pair.size, dtype=np.int64)
    seen: dict[int, int] = {}
    for i, p in enumerate(pair.tolist()):
        occurrence[i] = seen[p] = seen.get(p, -1) + 1
    return MOST * pair + occurrence
