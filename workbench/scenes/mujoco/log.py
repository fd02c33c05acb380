"""A log of MuJoCo's states with its model: what its contacts did in every step, as Coulomb's law asks for it."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.readers.npz import read_arrays
from workbench.readers.text import read_text
from workbench.scenes.mujoco.model import warnings_of_mujoco
from workbench.scenes.mujoco.package import mujoco
from workbench.scenes.mujoco.rows import NO_FRICTION, pairs, with_occurrences
from workbench.support.arrays import Array
from workbench.support.errors import DataError

NAMES = ("qpos", "qvel", "ctrl", "act", "time")
"""Columns of a log; the first two must be there."""


class Touched(NamedTuple):
    """r contacts of a step: impulses [N s], velocities after it [m/s], distances before it [m], and MuJoCo's report."""

    key: NDArray[np.int64]
    p_n: Array
    p_t: Array
    """(r, 2)"""
    u_n: Array
    u_t: Array
    """(r, 2)"""
    mu: Array
    W: Array
    """(3 r, 3 r) in the order [n, t] [1/kg]"""
    distance: Array
    gradient: float
    """The scaled gradient at which MuJoCo's solver stopped."""
    off: float
    """By how much a velocity of the log is not what MuJoCo makes of the state before it [m/s, rad/s]."""


def read_log(path: str | Path, model: Any) -> dict[str, Array]:
    """`qpos` (T, nq), `qvel` (T, nv), and ctrl, act, time where they are given, of an .npz or a .csv.

    Columns of a .csv are named qpos0, qpos1, ..., qvel0, ..., time. Raises DataError in one line.
    """
    path = Path(path)
    if path.suffix.lower() not in (".npz", ".csv"):
        raise DataError(f"{path.name} is not a log of states; .npz or .csv with qpos and qvel is needed")
    found = read_arrays(path, NAMES) if path.suffix.lower() == ".npz" else _read_csv(path)
    log = {name: np.asarray(x, dtype=float) for name, x in found.items()}
    widths = {"qpos": model.nq, "qvel": model.nv, "ctrl": model.nu, "act": model.na}
    T = len(log["qpos"]) if log.get("qpos", np.zeros(0)).ndim == 2 else 0
    for name, width in widths.items():
        if name not in log and name not in ("qpos", "qvel"):
            continue
        shape = log[name].shape if name in log else None
        if shape != (T, width) or T < 2:
            has = f"of shape {shape}" if shape else "missing"
            raise DataError(f"{path.name}: {name} is {has}; (T, {width}) with two states at least is needed")
    for name, x in log.items():
        if not np.isfinite(x).all():
            raise DataError(f"{path.name}: {name} holds {x[~np.isfinite(x)][0]}; every number must be finite")
    h, apart = model.opt.timestep, np.diff(log.get("time", np.zeros(0)))
    if apart.size and not np.allclose(apart, h, rtol=1e-6):
        raise DataError(f"{path.name}: states are {apart.max():g} s apart and a step is {h:g} s; every step is needed")
    return log


def _read_csv(path: Path) -> dict[str, Array]:
    text, name = read_text(path)
    lines = list(csv.reader(text.splitlines()))
    kinds = [word.strip().rstrip("0123456789[]_.") for word in (lines[0] if lines else [])]
    try:
        table = np.array([[float(x) for x in line] for line in lines[1:] if line])
        found = {kind: table[:, [k == kind for k in kinds]] for kind in NAMES if kind in kinds}
    except (ValueError, IndexError):
        raise DataError(f"{name} is not a table of numbers below names such as qpos0, qvel0, time") from None
    return found | ({"time": found["time"][:, 0]} if "time" in found else {})


def steps(model: Any, log: dict[str, Array]) -> Iterator[Touched]:
    """What touched in every step of the log, by MuJoCo's own forces at its states and the log's next velocities."""
    mj, h = mujoco(), model.opt.timestep
    if model.opt.integrator == mj.mjtIntegrator.mjINT_RK4:
        raise DataError("the model's integrator is RK4, which has forces of four stages in a step; Euler is needed")
    d, M = mj.MjData(model), np.zeros((model.nv, model.nv))
    with warnings_of_mujoco():
        for k in range(len(log["qpos"]) - 1):
            d.qpos[:], d.qvel[:], d.time = log["qpos"][k], log["qvel"][k], k * h
            for name in ("ctrl", "act"):
                if name in log:
                    getattr(d, name)[:] = log[name][k]
            # Kinematics, contacts, forces and inertia stay those of the start of the step.
            mj.mj_step(model, d)
            mj.mj_fullM(model, d, M)
            yield _touched(model, d, log["qvel"][k + 1], M, h)


def _gradient(d: Any) -> float:
    """The scaled gradient at which the solver stopped, the largest of the islands."""
    islands = max(1, d.nisland)
    last, gradient = d.solver_niter[:islands], d.solver.gradient.reshape(mujoco().mjNISLAND, -1)
    return float(max((gradient[i, min(n, gradient.shape[1]) - 1] for i, n in enumerate(last) if n), default=0.0))


def _touched(model: Any, d: Any, v: Array, M: Array, h: float) -> Touched:
    """The contacts of the step of h [s] that d has made, after which the log has velocities v."""
    mj, c = mujoco(), d.contact
    there = np.flatnonzero((c.efc_address >= 0) & (c.geom >= 0).all(axis=1))
    r, force, jac = there.size, np.zeros(6), np.zeros((2, 3, model.nv))
    p, J = np.zeros((r, 3)), np.zeros((r, 3, model.nv))
    for i, k in enumerate(there):
        mj.mj_contactForce(model, d, k, force)
        for side in (0, 1):
            mj.mj_jac(model, d, jac[side], None, c.pos[k], model.geom_bodyid[c.geom[k, side]])
        p[i], J[i] = h * force[:3], c.frame[k].reshape(3, 3) @ (jac[1] - jac[0])
    u = J @ v
    u[:, 1:] += c.surfacevel[there, :2]
    rows = np.concatenate([J[:, 0], J[:, 1:].reshape(2 * r, model.nv)])
    mu = np.where((c.dim[there] > 1) & (c.friction[there, 0] > NO_FRICTION), c.friction[there, 0], 0.0)
    key = with_occurrences(pairs(c.geom[there], model.ngeom))
    W, distance = rows @ np.linalg.solve(M, rows.T), c.dist[there].copy()
    off = float(np.abs(d.qvel - v).max())
    return Touched(key, p[:, 0], p[:, 1:], u[:, 0], u[:, 1:], mu, W, distance, _gradient(d), off)
