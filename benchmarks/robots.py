"""Contact problems of a robot's step: scenes that MuJoCo describes, stepped under Coulomb's law to 1e-9.

Each has redundant contacts: a ragdoll, a gripper and boxes (37 velocities), stacked boxes, a table with a load on four
legs. Contacts are those within 3 mm; q_n = v_n + phi / h, and not below -0.1 m/s for overlaps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from workbench.algorithms.small_cones import solve_small
from workbench.problems.classes import Array
from workbench.problems.sets import ASSOCIATED, COULOMB, BlockSets

STEP, LOOK_AHEAD, RECOVERY = 2e-3, 3e-3, 0.1


def box(at: str, size: str = ".1 .1 .1", mu: float = 0.6, mass: float = 1.0) -> str:
    return f'<body pos="{at}"><freejoint/><geom type="box" size="{size}" mass="{mass}" friction="{mu}"/></body>'


def limb(at: str, to: str, mass: float, *axes: str) -> str:
    joints = "".join(f'<joint type="hinge" axis="{axis}" damping=".5" armature=".01"/>' for axis in axes)
    return f'<body pos="{at}">{joints}<geom type="capsule" fromto="0 0 0 {to}" size=".04" mass="{mass}"/></body>'


RAGDOLL = f"""<body pos="-.8 0 .5" euler="10 40 5"><freejoint/><geom type="capsule" size=".08 .15" mass="8"/>
  {limb("0 0 .3", "0 0 .05", 2, "0 1 0")}{limb(".1 0 .1", ".25 0 0", 1.5, "0 1 0", "1 0 0")}
  {limb("-.1 0 .1", "-.25 0 0", 1.5, "0 1 0", "1 0 0")}{limb(".07 0 -.2", "0 0 -.3", 3, "0 1 0")}
  {limb("-.07 0 -.2", "0 0 -.3", 3, "0 1 0")}{limb("0 .1 -.1", "0 .2 0", 1, "1 0 0")}
  {limb("0 -.1 -.1", "0 -.2 0", 1, "1 0 0")}</body>"""
GRIPPER = """<body pos="0 0 .2"><joint name="lift" type="slide" axis="0 0 1" damping="20"/>
  <geom type="box" size=".1 .04 .02" mass="1" contype="0" conaffinity="0"/>
  <body><joint type="hinge" axis="0 0 1" damping="1"/>
    <geom type="box" size=".1 .04 .02" mass=".5" contype="0" conaffinity="0"/>
    <body pos="-.14 0 -.08"><joint name="left" type="slide" axis="1 0 0" damping="5"/>
      <geom type="box" size=".01 .03 .08" mass=".2" friction="1"/></body>
    <body pos=".14 0 -.08"><joint name="right" type="slide" axis="-1 0 0" damping="5"/>
      <geom type="box" size=".01 .03 .08" mass=".2" friction="1"/></body></body></body>"""
MOTORS = '<actuator><motor joint="lift"/><motor joint="left"/><motor joint="right"/></actuator>'
LEGS = "".join(box(f"{x} {y} .24", ".03 .03 .24", 0.5) for x in (-0.3, 0.3) for y in (-0.3, 0.3))
SCENES = {
    "robot": (box(".5 0 .101") + box(".52 .02 .302") + box("0 0 .1") + RAGDOLL + GRIPPER, MOTORS),
    "stack": ("".join(box(f"{0.003 * k} 0 {0.1 + 0.2 * k}", mu=0.5) for k in range(5)), ""),
    "table": (box("0 0 .5", ".4 .4 .02", 0.4, 5) + LEGS + box(".05 .1 .62", mass=10), ""),
}


@dataclass(frozen=True, eq=False)
class Step:
    """One step's contact problem, contact by contact, normal first: W (3 r, 3 r), q, mu (r,), keys of the contacts.

    `start` (3 r,) are the impulses of the step before; `islands` the contacts of each; `state` (model, q, v, control).
    """

    W: Array
    q: Array
    mu: Array
    keys: list[Any]
    start: Array
    islands: list[Array]
    state: tuple[Any, Array, Array, Array]
    d = 2

    @property
    def contacts(self) -> int:
        return self.mu.size

    def by_contacts(self) -> tuple[Any, Array]:
        """W and q, as `FrictionProblem` gives them."""
        return csr_array(self.W), self.q


def rows(contacts: Array) -> Array:
    return (3 * contacts[:, None] + np.arange(3)).ravel()


def sets(mu: Array, associated: bool) -> BlockSets:
    """As `solve_small` takes them."""
    free = np.full(3 * mu.size, np.inf)
    cone = np.full(mu.size, ASSOCIATED if associated else COULOMB)
    return BlockSets(3 * np.arange(mu.size + 1), cone, mu, -free, free)


def solve(step: Step, start: Array, associated: bool = False) -> Array:
    """The impulses (3 r,), island by island."""
    p, info = np.empty(step.q.size), np.zeros(1, dtype=np.int64)
    for island in step.islands:
        k = rows(island)
        z = start[k]
        solve_small(step.W[np.ix_(k, k)], step.q[k], sets(step.mu[island], associated), z, z, info)
        p[k] = z
    return p


def steps(name: str, count: int) -> Iterator[Step]:
    """The steps of a scene that have at least two contacts. Needs the package mujoco."""
    import mujoco

    bodies, motors = SCENES[name]
    floor = '<geom type="plane" size="10 10 .1" friction="0.8"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{floor}{bodies}</worldbody>{motors}</mujoco>")
    model.opt.timestep = STEP
    model.geom_margin[:] = model.geom_gap[:] = LOOK_AHEAD
    data, before = mujoco.MjData(model), {}
    data.qvel[:] = np.random.default_rng(1).normal(0, 0.1, model.nv)
    for k in range(count):
        if model.nu:
            closing = 25 * min(8e-3 * k, 1.0)
            data.ctrl[:] = 17 + 6 * np.sin(6e-3 * k), closing, closing
        mujoco.mj_forward(model, data)
        M, J, v, step = pose(mujoco, model, data, before)
        p = solve(step, step.start)
        if step.mu.size >= 2:
            yield step
        before = dict(zip(step.keys, p.reshape(-1, 3), strict=True))
        data.qvel[:] = v + np.linalg.solve(M, J.T @ p)
        mujoco.mj_integratePos(model, data.qpos, data.qvel, STEP)


def pose(mujoco: Any, model: Any, data: Any, before: dict) -> tuple[Array, Array, Array, Step]:
    """M (n, n), J (3 r, n), the free velocities (n,) and the step's contact problem."""
    n, r = model.nv, data.ncon
    M, J, one, other = np.zeros((n, n)), np.zeros((3 * r, n)), np.zeros((3, n)), np.zeros((3, n))
    mujoco.mj_fullM(model, data, M)
    M += STEP * np.diag(model.dof_damping)
    v = data.qvel + STEP * np.linalg.solve(M, data.qfrc_passive + data.qfrc_actuator - data.qfrc_bias)
    mu, gaps, keys = np.empty(r), np.empty(r), []
    for i in range(r):
        contact = data.contact[i]
        for jacobian, geom in ((one, contact.geom1), (other, contact.geom2)):
            mujoco.mj_jac(model, data, jacobian, None, contact.pos, model.geom_bodyid[geom])
        J[3 * i : 3 * i + 3] = contact.frame.reshape(3, 3) @ (other - one)
        mu[i], gaps[i] = contact.friction[0], contact.dist
        pair = int(contact.geom1), int(contact.geom2)
        keys.append((*pair, sum(key[:2] == pair for key in keys)))
    W, q = J @ np.linalg.solve(M, J.T), J @ v
    q[::3] += np.maximum(gaps / STEP, -RECOVERY)
    start = np.array([before.get(key, np.zeros(3)) for key in keys]).reshape(-1)
    size = np.abs(W).reshape(r, 3, r, 3).max(axis=(1, 3)) if r else np.zeros((0, 0))
    count, label = connected_components(size > 1e-14 * size.max(initial=0.0)) if r else (0, np.zeros(0))
    islands = [np.flatnonzero(label == k) for k in range(count)]
    state = model, data.qpos.copy(), data.qvel.copy(), data.ctrl.copy()
    return M, J, v, Step((W + W.T) / 2, q, mu, keys, start, islands, state)
