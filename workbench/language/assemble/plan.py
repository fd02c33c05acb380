"""A compiled declaration: the entries to stamp, their positions, and the work arrays of a step (see `assembly`)."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.engine.layout import Packed
from workbench.language.formulation import Formulation, Symbols
from workbench.language.modelling import Declaration, Hooks
from workbench.mechanics.core import Core
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import NO_CONE, Sets


class Plan(NamedTuple):
    """A compiled declaration as plain arrays: A[at] = val theta[par] for the first entries, += for the others.

    Entries that are the same at every step are not included; they are in `Compiled.constant`.
    """

    at: np.ndarray  # (nnz,) position in A, row by row
    par: np.ndarray  # (nnz,) position in theta
    val: np.ndarray  # (nnz,)
    lower: np.ndarray  # (n_partner,) constant bounds; nan if the bound is stamped
    upper: np.ndarray  # (n_partner,)
    first: int
    n_free: int
    n_cone: int  # coefficients of friction cones and radii of discs
    d: int


class Work(Packed):
    """The plan and the work arrays of one step: mixed system, elimination, reduced problem and solution."""

    sizes = ("n_f", "n_c", "n_o", "n_k", "rows", "columns", "right", "nnz", "n_i")
    integers = ("first", "at", "par", "info")
    fields: ClassVar[dict[str, tuple]] = {
        "first": (),
        "at": ("nnz",),
        "par": ("nnz",),
        "val": ("nnz",),
        "least": ("n_c",),  # `Plan.lower`
        "most": ("n_c",),  # `Plan.upper`
        "info": ("n_i",),  # iterations of a solver and, for mixed problems, the sets (`Sets.code`)
        "A": ("rows", "columns"),  # columns = n_free + n_partner + 1
        "LU": ("n_f", "n_f"),
        "scale": ("n_f",),
        "X": ("n_f", "right"),  # A_ff^-1 [A_fc, a_f]
        "x": ("n_f",),
        "out": ("n_o",),  # the answer's parts one after the other
        "M": ("n_c", "n_c"),
        "q": ("n_c",),
        "mu": ("n_k",),
        "lower": ("n_c",),
        "upper": ("n_c",),
        "z": ("n_c",),
    }
    spans: ClassVar[dict[str, tuple[str, str]]] = {
        "entries": ("A", "A"), "posed": ("M", "mu"), "recorded": ("out", "z"),
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


WORK = Work.compiled


@dataclass(frozen=True)
class Compiled:
    """A declaration compiled for one size, (n, m, r, d) for a time step; `seconds` is the compilation time."""

    formulation: Formulation
    size: tuple[int, ...]
    kind: str
    plan: Plan
    constant: np.ndarray
    theta: np.ndarray
    own: slice
    hooks: Hooks
    sets: Sets
    declared: Declaration | None = None
    seconds: float = 0.0

    @cached_property
    def declaration(self) -> Declaration:
        """The compiled declaration; declared again if the numbers came from disk, since solving does not need it."""
        return self.declared or self.formulation.declaration(*self.size)

    @cached_property
    def symbols(self) -> Symbols:
        return self.formulation.symbols(*self.size)

    @cached_property
    def still(self) -> NDArray[np.bool_]:
        """(n_partner,) whether what tells that an unknown is zero is the same at every step: the bounds of a row, or
        the normal row of a friction cone, if it contains no free unknowns."""
        p, columns = self.plan, self.constant.shape[1]
        rows = p.n_free + np.arange(p.lower.size)
        constant = ~np.isin(rows, p.at // columns) & ~self.constant[rows, : p.n_free].any(axis=1)
        is_row = np.zeros(p.lower.size, dtype=bool)
        is_row[self.sets.order] = np.repeat(self.sets.cone == NO_CONE, np.diff(self.sets.first))
        return np.where(is_row, ~np.isnan(p.lower) & ~np.isnan(p.upper), constant)

    def workspace(self) -> Work:
        """Return new work arrays for stepping, filled with all constants."""
        n_f, n_c, n_k = self.plan.n_free, self.plan.lower.size, self.plan.n_cone
        rows, columns = self.constant.shape
        outputs = sum(self.symbols.answer.values())
        sizes = dict(n_f=n_f, n_c=n_c, n_o=outputs, n_k=n_k, rows=rows, columns=columns, right=n_c + 1)
        sets = self.sets.code if self.kind == MixedNCP.kind else np.zeros(0, dtype=np.int64)
        work = Work(**sizes, nnz=self.plan.at.size, n_i=1 + sets.size)
        work.info[1:] = sets
        work.A, work.first, work.at, work.par = self.constant, self.plan.first, self.plan.at, self.plan.par
        work.val, work.least, work.most = self.plan.val, self.plan.lower, self.plan.upper
        return work

    def views(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """The shared parameters by name, as views into theta."""
        views, start = {}, 0
        for name, shape in self.symbols.shapes.items():
            length = int(np.prod(shape))
            views[name] = theta[start : start + length].reshape(shape)
            start += length
        return views

    def core(self, h: float, law: float, v_th: float) -> Core:
        """Return contact data of a time step, from whose theta declarations are stamped."""
        n_own, n_rest = self.own.stop - self.own.start, self.theta.size - self.own.stop
        core = Core(self.size, h, law, v_th, n_own, n_rest)
        core.theta = self.theta
        return core
