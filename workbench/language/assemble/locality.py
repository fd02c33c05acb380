"""Check that a formulation is local to its contacts: blocks and declaration agree for any number of contacts.

Values are compared at random data, with two and three contacts on a system of more velocities and a bilateral row: the
declaration itself, evaluated in plain numbers (`language.values`), and the sum over its contacts' blocks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from workbench.engine.lazy import Lazy
from workbench.language.assemble.rows import DeclaredRows, read_rows
from workbench.language.formulation import Formulation
from workbench.language.values import by_values
from workbench.support.arrays import Array
from workbench.support.errors import ModellingError

leaves: Any = Lazy("workbench.language.leaves")

CONTACT = "b_n", "b_t", "eps_n", "eps_t", "mu"
"""Data of single contacts among those that declarations share, in their order in theta."""
AGREEMENT = 1e-9
"""Largest relative difference allowed between the blocks and the declaration."""


class Velocity(NamedTuple):
    """A velocity of a declaration at one contact: the first row of its balance, its first column, the sign of M v."""

    row: int
    column: int
    sign: float


@dataclass(frozen=True)
class LocalityClaim:
    """The block to be checked (`local.LocalBlock`); `at_data` returns its matrix B for a contact's theta."""

    formulation: Formulation
    d: int
    velocities: list[Velocity]
    main: int
    own: slice
    theta: Array
    at_data: Callable[[Array], Array]


def not_local(formulation: Formulation, why: str) -> ModellingError:
    """Return the error that says why a formulation cannot be stated contact by contact."""
    return ModellingError(f"{formulation.label} is not local to its contacts: {why}")


def must_be_local(claim: LocalityClaim) -> None:
    """Raise ModellingError if two or three contacts differ from the sum of their blocks."""
    for r in (2, 3):
        try:
            with by_values():
                LocalityTest(claim, r).run()
        except Exception as error:
            if isinstance(error, ModellingError) and error.__cause__ is None:
                raise
            # It uses more of CVXPY than `values` covers.
            LocalityTest(claim, r).run()


class LocalityTest:
    """A declaration at r contacts, with random values for its data and unknowns, and its blocks."""

    def __init__(self, claim: LocalityClaim, r: int) -> None:
        d = claim.d
        self.claim, self.r, self.rng = claim, r, np.random.default_rng(r)
        self.one: DeclaredRows = read_rows(claim.formulation, (1 + d, 0, 1, d))
        self.all: DeclaredRows = read_rows(claim.formulation, (r * (1 + d) + 2, 1, r, d))
        starts = np.cumsum([0, *(u.size for u in self.one.declaration.free)])
        names = dict(zip(starts.tolist(), (u.name() for u in self.one.declaration.free), strict=False))
        self.speeds = [names[v.column] for v in claim.velocities]
        """Names of the velocities."""

    def run(self) -> None:
        """Raise ModellingError if declaration and blocks differ."""
        data = {name: self.rng.uniform(0.5, 1.5, shape) for name, shape in self.all.symbols.shapes.items()}
        thetas, x = self._thetas(data), self._unknowns()
        v: dict[str, Any] = {u.name(): u.value for u in self.all.declaration.free if u.name() in self.speeds}
        blocks, impulse = [], np.zeros((len(self.speeds), data["M"].shape[0]))
        d, k = self.claim.d, x.shape[1]
        for i, theta in enumerate(thetas):
            J = np.vstack([data["J_n"][i], data["J_t"][d * i : d * (i + 1)]])
            u = np.concatenate([J @ v[name] for name in self.speeds])
            blocks.append(self.claim.at_data(theta) @ np.concatenate([u, x[i], [1.0]]))
            impulse += blocks[i][k : k + u.size].reshape(-1, 1 + d) @ J
        found = np.array(blocks)
        self._relations(data, v, found, impulse)
        self._answer(found[:, k + self.claim.main * (1 + d) :][:, : 1 + d])
        self._bounds(found[:, k + len(self.speeds) * (1 + d) :])

    def _thetas(self, data: dict[str, Array]) -> Array:
        """Return theta of every contact, and set the declaration's parameters to the same values."""
        thetas = np.tile(self.claim.theta, (self.r, 1))
        parts = [data[name].reshape(self.r, -1) for name in CONTACT]
        thetas[:, : self.claim.own.start] = np.hstack(parts)
        start = self.claim.own.start
        for p, one in zip(self.all.declaration.hooks.own, self.one.declaration.hooks.own, strict=True):
            value = p.project(self.rng.uniform(0.5, 1.5, p.shape))
            # One value for each contact, or the same for all.
            p.value = value
            flat = np.ravel(value, order="F")
            self._must_be_shared_out(p, one, flat.size not in (one.size, self.r * one.size))
            thetas[:, start : start + one.size] = flat if flat.size == one.size else flat.reshape(self.r, -1)
            start += one.size
        for F in self.all.expressions:
            for p in F.parameters():
                if isinstance(p, leaves.CoreSymbol):
                    p.value = data[p.name()]
        return thetas

    def _unknowns(self) -> Array:
        """Set random values of the unknowns; returns those of every contact's block (r, k)."""
        sizes = {u.name(): u for u in self.one.declaration.unknowns}
        x = [np.zeros((self.r, 0))]
        for u in self.all.declaration.unknowns:
            u.value = self.rng.standard_normal(u.size)
            if u.name() in sizes and u.name() not in self.speeds:
                self._must_be_shared_out(u, sizes[u.name()], u.size != self.r * sizes[u.name()].size)
                x.append(u.value.reshape(self.r, -1))
        return np.hstack(x)

    def _must_be_shared_out(self, at_many: Any, at_one: Any, wrong: bool) -> None:
        if wrong:
            name, sizes = at_many.name(), f"{at_many.size} entries at {self.r} contacts and {at_one.size} at one"
            raise not_local(self.claim.formulation, f"'{name}' has {sizes}")

    def _relations(self, data: dict[str, Array], v: dict[str, Array], found: Array, impulse: Array) -> None:
        """Check balances, bilateral rows and the relations of contacts."""
        balances = iter(sorted(range(len(self.speeds)), key=lambda i: self.claim.velocities[i].row))
        used, ones = 0, iter(self.one.declaration.expressions)
        multipliers = self._multipliers()
        for F in self.all.declaration.expressions:
            names = {p.name() for p in F.parameters() if isinstance(p, leaves.CoreSymbol)}
            if "J_b" in names and "M" not in names:
                speed, p_b = next((s, p) for s, p in multipliers.items() if s in {u.name() for u in F.variables()})
                expected = data["J_b"] @ v[speed] + data["b_b"] + data["eps_b"] * p_b
            elif "M" in names:
                next(ones)
                i = next(balances)
                speed = self.speeds[i]
                balance = data["M"] @ v[speed] - data["b"] - impulse[i] - data["J_b"].T @ multipliers[speed]
                expected = self.claim.velocities[i].sign * balance
            else:
                size = next(ones).size
                expected = found[:, used : used + size].ravel()
                used += size
            self._must_agree(
                F.value,
                expected,
                f"its relations at {self.r} contacts are not those of one",
            )

    def _multipliers(self) -> dict[str, Array]:
        """The bilateral impulses of every velocity."""
        mine = {u.name() for u in self.one.declaration.unknowns}
        found = {}
        for F in self.all.declaration.equations:
            unknowns = F.variables()
            speed = next((u.name() for u in unknowns if u.name() in self.speeds), None)
            others = [u.value for u in unknowns if u.name() not in mine]
            if speed and len(others) == 1:
                found[speed] = others[0]
        if set(found) != set(self.speeds):
            raise not_local(self.claim.formulation, "bilateral rows do not act on every one of its velocities")
        return found

    def _answer(self, P: Array) -> None:
        """Check that the recovered velocity and impulses belong to the same balance."""
        recover = self.all.declaration.recover
        parts = {"p_n": P[:, 0], "p_t": P[:, 1:].ravel()}
        for name, expected in parts.items():
            value = recover[name].value if name in recover else np.zeros(expected.size)
            self._must_agree(value, expected, f"the {name} that it recovers is not the impulse of its balance")

    def _bounds(self, found: Array) -> None:
        """Check bounds, and friction coefficients or radii."""
        k = (found.shape[1] - 1) // 2
        n_c = self.one.lower.size
        rows = self.all.rows[len(self.all.declaration.expressions) + len(self.all.symbols.answer) :]
        partners = self.all.declaration.partners
        for side, first, given in ((0, k - n_c, self.all.lower), (1, 2 * k - n_c, self.all.upper)):
            at, start = first, 0
            for F, u in zip(rows[side * len(partners) :], partners, strict=False):
                size = u.size // self.r
                value = given[start : start + u.size] if isinstance(F, int) else F.value
                expected = found[:, at : at + size].ravel()
                with np.errstate(invalid="ignore"):
                    self._must_agree(
                        np.where(value == expected, 0.0, value - expected), 0.0, f"bounds of '{u.name()}' differ"
                    )
                at, start = at + size, start + u.size
        if self.all.sets.at[-1]:
            what = "friction coefficients of its cone" if self.all.declaration.cones else "radii of its disc"
            self._must_agree(rows[-1].value, found[:, -1], f"{what} differ")

    def _must_agree(self, value: Any, expected: Any, what: str) -> None:
        value = np.ravel(np.asarray(value, dtype=float))
        expected = np.broadcast_to(expected, value.shape)
        scale = 1.0 + np.abs(expected).max(initial=0.0)
        if not np.abs(value - expected).max(initial=0.0) <= AGREEMENT * scale:
            raise not_local(self.claim.formulation, what)
