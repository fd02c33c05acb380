"""State-dependent data of a formulation: the contact data available to hooks, and the signatures of compiled hooks.

    given(core, memory, own, numbers)                                before a step
    again(core, memory, own, numbers, v, p_n, p_t) -> bool           after a solve: is another pass needed?
    remember(core, memory, own, numbers, v, p_n, p_t)                after a step

`core` is a `Core`; `own` are the formulation's own parameters, `numbers` its constants (`modelling.Hooks`). In `again`,
v (n,) [m/s, rad/s], p_n (r,), p_t (d r,) [N s] are the pass's solution in the axes of `core`; in `remember`, p_t is in
the case's own axes, never in rotated ones. Memory is initially NaN, which compares false with everything and means "no
previous step". A hook is `kernel(GIVEN)`, `kernel(AGAIN)` or `kernel(REMEMBER)`. Hooks are first-class functions, so
the stepper need not be recompiled for them.
"""

from typing import Annotated, Literal

from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.mechanics.core import CORE, turn_axes

Axes = Annotated[
    Literal["fixed", "body", "sliding"],
    "tangent axes: fixed in space, along the body's yaw direction, or along the sliding direction",
]
"""The option `axes` of formulations whose friction depends on the tangent axes; see `Formulation.axes`."""

GIVEN = types.void(CORE, VECTOR, VECTOR, VECTOR)
AGAIN = types.boolean(CORE, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
REMEMBER = types.void(CORE, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)


@kernel(GIVEN)
def given_axes(core, memory, own, numbers):
    """The default: no data of its own; numbers = [axes], or empty for axes fixed in space."""
    if numbers.shape[0] > 0:
        turn_axes(core, numbers[0])


@kernel(AGAIN)
def never_again(core, memory, own, numbers, v, p_n, p_t):
    """Never ask for another pass: one pass a step."""
    return False


@kernel(REMEMBER)
def remember_impulses(core, memory, own, numbers, v, p_n, p_t):
    """Store memory = [p_n (r), p_t (d r), anything else that the formulation keeps]; the default."""
    r = p_n.shape[0]
    for i in range(r):
        memory[i] = p_n[i]
    for i in range(p_t.shape[0]):
        memory[r + i] = p_t[i]
