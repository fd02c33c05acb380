"""A small example of each kind of problem, for the table of solvers in lists, documentation and tests.

W is symmetric positive definite in all of them, so that each has a solution, which for a CCP is unique.
"""

from typing import Any

import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP, Equations
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import ASSOCIATED, COULOMB, DISC, NO_CONE, Sets
from workbench.support.arrays import Array

CONTACTS, MU, BODIES = 3, 0.4, 2


def examples(seed: int = 0) -> dict[str, Any]:
    """Return example problems by description."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {"LCP": LCP(_definite(rng, 5), rng.normal(size=5))}
    lower, upper = np.array([0.0, -1.0, -np.inf, -np.inf, -0.5]), np.array([np.inf, 1.0, np.inf, 0.5, np.inf])
    found["MLCP"] = MLCP(_definite(rng, 5), rng.normal(size=5), lower, upper)
    found["equations"] = Equations(np.zeros((0, 0)), np.zeros(0))
    for place, d in (("in the plane", 1), ("in space", 2)):
        n = CONTACTS * (1 + d)
        data = _definite(rng, n), rng.normal(size=n), np.full(CONTACTS, MU), d
        found |= {f"CCP {place}": ConicQP(*data), f"Coulomb {place}": CoulombNCP(*data)}
    given = _global(rng)
    found |= {"CCP over (M, H)": GlobalConicQP(given), "Coulomb over (M, H)": GlobalCoulombNCP(given)}
    rows, c = rng.normal(size=(9, 6 * BODIES)), rng.normal(size=9)
    for word, law in (("CCP", ASSOCIATED), ("Coulomb", COULOMB)):
        found[f"{word} of blocks"] = _blocks(rows, c, law)
        found[f"{word} of spheres"] = _spheres(np.random.default_rng(seed), law)
    found["CCP and bounds"] = _mixed(_definite(rng, 5), rng.normal(size=5), ASSOCIATED)
    found["Coulomb and bounds"] = _mixed(_definite(rng, 5), rng.normal(size=5), COULOMB)
    found["a disc and bounds"] = _mixed(_definite(rng, 5), rng.normal(size=5), DISC)
    return found


def _definite(rng: np.random.Generator, n: int) -> Array:
    J = rng.normal(size=(n, n + 2))
    return J @ J.T + 0.1 * np.eye(n)


def _global(rng: np.random.Generator) -> GlobalFrictionProblem:
    """Two bodies with contacts and a bilateral row."""
    n, size = 6 * BODIES, 3 * CONTACTS
    M = np.kron(np.diag(rng.uniform(0.5, 2.0, BODIES)), _definite(rng, 6))
    H, G, mu = rng.normal(size=(n, size)), rng.normal(size=(n, 1)), np.full(CONTACTS, MU)
    return GlobalFrictionProblem(M, H, rng.normal(size=n), rng.normal(size=size), mu, 2, G, np.ones(1))


def _blocks(rows: Array, c: Array, law: int) -> ContactBlocks:
    """Two contacts in space, a limit, a joint with dry friction and a bilateral row."""
    m = np.array([3, 3, 1, 1, 1])
    first = np.append(0, np.cumsum(m))
    square = np.concatenate([np.eye(k).ravel() for k in m])
    lower, upper = np.full(9, -np.inf), np.full(9, np.inf)
    lower[6:8], upper[7] = (0.0, -0.3), 0.3
    cone, mu = np.where(m == 3, law, NO_CONE), np.where(m == 3, MU, 0.0)
    M, none = sparse.eye_array(rows.shape[1], format="csr"), np.zeros(square.size)
    return ContactBlocks(
        M, np.zeros(rows.shape[1]), rows, first, first, square, none, square, c, np.zeros(9), lower, upper, cone, mu
    )


def _spheres(rng: np.random.Generator, law: int) -> ContactBlocks:
    """A leaning column of spheres, the lowest one on a plane."""
    rows, radius = np.zeros((3 * CONTACTS, 6 * CONTACTS)), 0.5
    for i in range(CONTACTS):
        n = np.array([*rng.uniform(-0.3, 0.3, 2), 1.0])
        t = np.cross(n, [1.0, 0.0, 0.0])
        frame = np.array([n, t, np.cross(n, t)])
        frame /= np.linalg.norm(frame, axis=1, keepdims=True)
        turns = -radius * np.cross(frame[0], frame)
        rows[3 * i : 3 * i + 3, 6 * i : 6 * i + 6] = np.hstack([frame, turns])
        if i:
            rows[3 * i : 3 * i + 3, 6 * i - 6 : 6 * i] = np.hstack([-frame, turns])
    first, square = 3 * np.arange(CONTACTS + 1), np.tile(np.eye(3).ravel(), CONTACTS)
    mass = np.tile(np.repeat([1.0, 0.4 * radius**2], 3), CONTACTS)
    free, size = np.full(3 * CONTACTS, np.inf), 3 * CONTACTS
    return ContactBlocks(
        sparse.diags_array(mass, format="csr"), mass * rng.normal(size=mass.size), rows, first, first, square,
        np.zeros(square.size), square, np.zeros(size), np.zeros(size), -free, free, np.full(CONTACTS, law),
        np.full(CONTACTS, MU),
    )  # fmt: skip


def _mixed(M: Array, q: Array, law: int) -> MixedNCP:
    """A cone or disc of three unknowns, an unknown z >= 0 and a free one."""
    sets = Sets(np.array([law, NO_CONE, NO_CONE]), np.array([0, 3, 4, 5]), np.arange(5), np.array([0, 1, 1, 1]))
    lower, upper = np.array([-np.inf] * 3 + [0.0, -np.inf]), np.full(5, np.inf)
    return MixedNCP(M, q, lower, upper, np.full(1, MU), sets)
