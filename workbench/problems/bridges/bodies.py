"""Friction problems over (M, H) as contact blocks: bilateral rows become blocks of one free unknown.

    M v = H p + G p_b + f,   u = H^T v + w,   G^T v + b = 0     is     M v = f + J^T x,   F = J v + c

with the rows H^T of every contact and then G^T in J, c = [w, b], F complementary to x in its cone or F = 0.
"""

import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.classes import is_symmetric
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.problems.global_problem import GlobalConeProblem, GlobalConicQP, GlobalCoulombNCP
from workbench.problems.inertia import Inertia
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE, contact_by_contact
from workbench.support.arrays import Array
from workbench.support.errors import DataError


def applies(problem: GlobalConeProblem) -> str | None:
    M = problem.data.M
    if not is_symmetric(M):
        return "M is not symmetric"
    if not (M.diagonal() > 0).all():
        return "M is not positive definite"
    if not problem.data.b.size:
        # Already factored with the problem.
        return None
    try:
        Inertia(M, sparse.csr_array((M.shape[0], 0)))
    except DataError:
        return "M without the bilateral constraints is singular"
    return None


def forward(problem: GlobalConeProblem) -> Image:
    data = problem.data
    r, d, m = data.contacts, data.d, data.b.size
    order, contacts = contact_by_contact(r, d), data.size
    width = np.repeat([1 + d, 1], [r, m])
    first = np.append(0, np.cumsum(width))
    square = np.concatenate([np.tile(np.eye(1 + d).ravel(), r), np.ones(m)])
    cone = np.repeat([ASSOCIATED if problem.associated else COULOMB, NO_CONE], [r, m])
    J = sparse.vstack([data.H.T.tocsr()[order], data.G.T.tocsr()], format="csr")
    free = np.full(contacts + m, np.inf)
    blocks = ContactBlocks(
        data.M, data.f, J, first, first, square, np.zeros(square.size), square, np.append(data.w[order], data.b),
        np.zeros(contacts + m), -free, free, cone, np.append(data.mu, np.zeros(m)),
    )  # fmt: skip

    def back(x: Array) -> Array:
        z = np.empty(contacts)
        z[order] = x[:contacts]
        return z

    def there(z: Array) -> Array:
        return np.append(z[order], bilateral_impulses(data, z))

    return Image(blocks, back, there)


def bilateral_impulses(data: GlobalFrictionProblem, p: Array) -> Array:
    """Return p_b (m,) such that G^T v + b = 0 under contact impulses p."""
    K, n = data.inertia, data.f.size
    right = np.concatenate([K.scale * (data.H @ p + data.f), -K.unit * data.b])
    found: Array = K.unit * K.factors.solve(right)[n:] if data.b.size else np.zeros(0)
    return found


BRIDGE = Bridge(
    "contacts and bilateral rows as blocks",
    between((GlobalConicQP.kind, GlobalCoulombNCP.kind), ContactBlocks.kind),
    1,
    applies,
    forward,
)
