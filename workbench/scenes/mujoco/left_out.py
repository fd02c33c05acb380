"""What of a model a scene does not take over, by name, so that it can be said before a run."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.mechanics.instant import Instant
from workbench.scenes.mujoco.package import mujoco
from workbench.scenes.mujoco.rows import contact_name, limit_name

SHOWN = 5
"""Names that are listed of a kind."""


def left_out(model: Any) -> list[str]:
    """One line each, beginning with what it is about."""
    return [*_elements(model), *_options(model)]


def _elements(m: Any) -> Iterator[str]:
    mj = mujoco()
    if m.nflex:
        yield f"contacts of {m.nflex} flexes"
    if m.flg_adhesion:
        sticky = _names(m, "geom", np.flatnonzero(m.geom_adhesion))
        yield f"adhesion of geoms: {sticky or 'contact pairs'}"
    kinds = {
        "adhesion by actuators": m.actuator_trntype == mj.mjtTrn.mjTRN_BODY,
        "delayed controls of actuators": m.actuator_delay > 0,
        "actuators that need a user callback": (m.actuator_dyntype == mj.mjtDyn.mjDYN_USER)
        | (m.actuator_gaintype == mj.mjtGain.mjGAIN_USER)
        | (m.actuator_biastype == mj.mjtBias.mjBIAS_USER),
    }
    for what, which in kinds.items():
        if which.any():
            yield f"{what}: {_names(m, 'actuator', np.flatnonzero(which))}"
    if m.nplastic:
        yielding = _names(m, "joint", np.flatnonzero(m.jnt_plasticadr >= 0))
        yielding = yielding or _names(m, "tendon", np.flatnonzero(m.tendon_plasticadr >= 0)) or "flexes"
        yield f"plastic yield, whose springs stay as they are at the start: {yielding}"
    if m.nplugin:
        yield f"states of {m.nplugin} plugins, which stay as they are at the start"


def _options(m: Any) -> Iterator[str]:
    mj = mujoco()
    integrators = {
        mj.mjtIntegrator.mjINT_RK4: "the integrator RK4; steps are semi-implicit Euler's",
        mj.mjtIntegrator.mjINT_IMPLICIT: "implicit Coriolis and gyroscopic forces of the integrator implicit",
        mj.mjtIntegrator.mjINT_IMPLICITFAST: "implicit gyroscopic forces of the integrator implicitfast",
        mj.mjtIntegrator.mjINT_DISCRETE: "implicit springs of constraints of the integrator discrete",
    }
    chosen = integrators.get(mj.mjtIntegrator(m.opt.integrator))
    if chosen:
        yield chosen
    flags = {
        "sleeping bodies": mj.mjtEnableBit.mjENBL_SLEEP,
        "speculative contacts; those about to close are seen anyway": mj.mjtEnableBit.mjENBL_SPECULATIVE,
        "contacts of flexes by IPC": mj.mjtEnableBit.mjENBL_IPC,
    }
    for what, flag in flags.items():
        if m.opt.enableflags & flag:
            yield what


def _names(model: Any, kind: str, which: Any) -> str:
    names = [getattr(model, kind)(int(i)).name or f"{kind} {i}" for i in which]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def overlaps(model: Any, bodies: list[str], first: Instant, fastest: float) -> list[str]:
    """What is undone at no more than `fastest` [m/s, rad/s] since it is so far off in the first instant."""
    lines = []
    deep = first.phi < -fastest * first.h
    assert first.places is not None
    for what, here in (("overlaps", first.key >= 0), ("limits", first.key < 0)):
        which = np.flatnonzero(deep & here)
        if which.size:
            i = which[np.argmin(first.phi[which])]
            if what == "overlaps":
                who = " and ".join(f"'{bodies[b]}'" for b in first.places.pair[i] if b >= 0)
            else:
                who = limit_name(model, int(first.key[i]))
            lines.append(_undone(what, which.size, who, -first.phi[i], first.h, fastest))
    off = np.abs(first.g)
    if (off > fastest * first.h).any():
        lines.append(_undone("equalities", int((off > fastest * first.h).sum()), "", off.max(), first.h, fastest))
    return lines


def in_the_way(model: Any, first: Instant, jammed: NDArray[np.bool_], friction: bool) -> list[str]:
    """The overlaps and limits of the first instant that nothing can undo together, or that friction wedges."""
    there = np.flatnonzero(jammed)
    if not there.size:
        return []
    deepest = there[np.argmin(first.phi[there])]
    why = "friction wedges" if friction else "no motion can undo together"
    return [
        f"rigid recovery of {there.size} overlaps and limits that {why}, such as "
        f"{contact_name(model, int(first.key[deepest]))}, {-first.phi[deepest]:.3g} deep: they count as touching"
    ]


def locked(model: Any, keys: NDArray[np.int64]) -> list[str]:
    """The contacts of the first instant that only soft contact has, since nothing can part them."""
    if not keys.size:
        return []
    one = (
        f"{keys.size} contacts, such as {contact_name(model, int(keys[0]))}"
        if keys.size > 1
        else (f"the contact {contact_name(model, int(keys[0]))}")
    )
    return [
        f"{one}, where nothing can part the bodies: rigid contact has no force there, only soft contact, of which "
        "forces and depths are not counted"
    ]


def _undone(what: str, count: int, who: str, depth: float, h: float, fastest: float) -> str:
    at = f" at {who}" if who else ""
    return (
        f"rigid recovery of {count} {what} that are violated at the start, up to {depth:.3g}{at}, which would be at "
        f"{depth / h:.3g} a second: they recover at no more than {fastest:g} a second (m/s, rad/s)"
    )
