"""The run of a case with parts (`Case.parts`): the runs of the parts, combined into one.

Vectors are combined on demand, matrices only if the whole ones are requested; the judge and the tables do not need
these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from workbench.judge import coulomb
from workbench.mechanics.law import COULOMB
from workbench.problems.classes import Array
from workbench.step.record import MEMORY, RunRecord
from workbench.step.run import Run
from workbench.support.errors import DataError

RESIDUALS = ("signorini", "cone", "dissipation", "natural_map", "law")
"""Residuals of a `coulomb.Verdict`, one per step."""


class PartIndices:
    """Positions of the parts' rows and velocities within the whole, of (n, m, r, d) in all."""

    def __init__(self, sizes: Sequence[tuple[int, int, int, int]]):
        n, m, r, d = (np.array(column) for column in zip(*sizes, strict=True))
        self.velocities, self.constraints, self.normals, self.slides = map(in_turn, (n, m, r, d * r))
        contacts, rows = int(r.sum()), int((r + d * r).sum())
        self.contacts = [
            np.r_[a, contacts + b.start : contacts + b.stop] for a, b in zip(self.normals, self.slides, strict=True)
        ]
        """Rows [n, t] of the contacts."""
        self.impulses = [
            np.r_[a, rows + b.start : rows + b.stop] for a, b in zip(self.contacts, self.constraints, strict=True)
        ]
        """Rows of the contacts and of the bilateral constraints."""


def in_turn(sizes: Any) -> list[slice]:
    """Return the slices of consecutive parts."""
    ends = np.cumsum(sizes)
    return [slice(int(b - size), int(b)) for size, b in zip(sizes, ends, strict=True)]


def joined(columns: Sequence[Array], places: Sequence[Any]) -> Array:
    """Combine columns (K, k) of the parts into those of the whole."""
    whole = np.empty((len(columns[0]), sum(c.shape[1] for c in columns)))
    for column, place in zip(columns, places, strict=True):
        whole[:, place] = column
    return whole


def blocks(parts: Sequence[Array], rows: Sequence[Any], columns: Sequence[Any]) -> Array:
    """Combine matrices (K, a, b) of the parts as blocks of the whole's. Raises DataError if memory does not suffice."""
    shape = len(parts[0]), sum(p.shape[1] for p in parts), sum(p.shape[2] for p in parts)
    size = 8.0 * np.prod(shape, dtype=float)
    if size > MEMORY:
        raise DataError(
            f"matrices of {len(parts)} parts together need {size / 1e9:.3g} GB; at most {MEMORY / 1e9:g} GB are used: "
            "give a shorter duration, a larger step or fewer parts"
        )
    whole = np.zeros(shape)
    for part, i, j in zip(parts, rows, columns, strict=True):
        whole[(slice(None), *np.ix_(_indices(i), _indices(j)))] = part
    return whole


def _indices(place: Any) -> Any:
    return np.arange(place.start, place.stop) if isinstance(place, slice) else place


class RecordOfParts:
    """The fields of `RunRecord`, combined on demand; the problem's numbers come part by part."""

    def __init__(self, records: Sequence[RunRecord], places: PartIndices):
        self.records, self.places = tuple(records), places

    def __getattr__(self, name: str) -> Any:
        if name not in RunRecord._fields:
            raise AttributeError(f"a record has no '{name}'; it has {', '.join(RunRecord._fields)}")
        found = self._whole(name, [getattr(r, name) for r in self.records])
        setattr(self, name, found)
        return found

    def _whole(self, name: str, columns: list[Array]) -> Array:
        places, widths = self.places, [c.shape[1] for c in columns]
        if name == "effort":
            return np.stack([sum(c[:, 0] for c in columns), np.max([c[:, 1] for c in columns], axis=0)], axis=1)
        if name == "J":
            return blocks(columns, places.contacts, places.velocities)
        if name == "J_b":
            return blocks(columns, places.constraints, places.velocities)
        if name in ("M", "mass"):
            return blocks(columns, in_turn(widths), in_turn(widths))
        if name == "p":
            return joined(columns, places.impulses)
        return joined(columns, places.contacts if name in ("rate", "eps") else in_turn(widths))


@dataclass(frozen=True, eq=False)
class RunOfParts(Run):
    """A `Run` whose steps were made by its `parts`, all of the same length."""

    parts: tuple[Run, ...] = field(repr=False, default=())

    @cached_property
    def _places(self) -> PartIndices:
        return PartIndices([p.case.size for p in self.parts])

    @cached_property
    def contact_impulse(self) -> Array:
        return joined([p.contact_impulse for p in self.parts], self._places.velocities)

    @cached_property
    def _Jv(self) -> Array:
        return joined([p._Jv for p in self.parts], self._places.contacts)

    @cached_property
    def W(self) -> Array:
        rows = self._places.contacts
        return blocks([p.W for p in self.parts], rows, rows)

    @cached_property
    def free_rates(self) -> Array:
        return joined([p.free_rates for p in self.parts], self._places.contacts)

    @cached_property
    def judged(self) -> coulomb.Verdict:
        """The worst residuals among the parts: uncoupled parts are judged separately, as in `coulomb.judge`."""
        return self._worst([p.judged for p in self.parts])

    @cached_property
    def judged_by_law(self) -> coulomb.Verdict:
        return self.judged if self.law == COULOMB else self._worst([p.judged_by_law for p in self.parts])

    def _worst(self, found: Sequence[coulomb.Verdict]) -> coulomb.Verdict:
        worst = (np.max([getattr(v, name) for v in found], axis=0) for name in RESIDUALS)
        by_contact = (joined([getattr(v, name) for v in found], self._places.normals) for name in ("rho", "normaliser"))
        return coulomb.Verdict(*worst, *by_contact)

    @cached_property
    def residuals(self) -> Array:
        """(K,) the largest residual among the problems of the parts."""
        return np.max([p.residuals for p in self.parts], axis=0) if self.steps else np.zeros(0)
