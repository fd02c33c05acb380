"""State-dependent data of a formulation: the contact data that hooks see, and the signatures they are compiled to.

    given(core, memory, own, numbers)                                before a step
    again(core, memory, own, numbers, v, p_n, p_t) -> bool           after a solve: is another pass needed?
    remember(core, memory, own, numbers, v, p_n, p_t)                after a step

`core` is a `Core`; `own` the formulation's own parameters, `numbers` its constants (`modelling.Hooks`). In `again`,
v (n,) [m/s, rad/s], p_n (r,), p_t (d r,) [N s] are the pass's solution in the axes of `core`; in `remember`, p_t is
in the case's own axes, never in turned ones. Memory starts as NaN, which compares false with everything: "no previous
step". A hook is `kernel(GIVEN)`, `kernel(AGAIN)` or `kernel(REMEMBER)`; being first-class functions, hooks cost no
recompilation of the stepper.
"""

from typing import Annotated, Literal

from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.mechanics.core import CORE, turn_axes

Axes = Annotated[
    Literal["fixed", "body", "sliding"],
    "tangent axes: fixed in space, along the body's heading, or along the sliding direction",
]
"""The option `axes` of formulations whose friction depends on the tangent axes; see `Formulation.axes`."""

GIVEN = types.void(CORE, VECTOR, VECTOR, VECTOR)
AGAIN = types.boolean(CORE, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
REMEMBER = types.void(CORE, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)


@kernel(GIVEN)
def given_axes(core, memory, own, numbers):
    """The default: no data of its own; numbers = [axes], or nothing for axes fixed in space."""
    if numbers.shape[0] > 0:
        turn_axes(core, numbers[0])


@kernel(AGAIN)
def never_again(core, memory, own, numbers, v, p_n, p_t):
    """One pass a step."""
    return False


@kernel(REMEMBER)
def remember_impulses(core, memory, own, numbers, v, p_n, p_t):
    """memory = [p_n (r), p_t (d r), whatever else the formulation keeps], the default."""
    r = p_n.shape[0]
    for i in range(r):
        memory[i] = p_n[i]
    for i in range(p_t.shape[0]):
        memory[r + i] = p_t[i]
