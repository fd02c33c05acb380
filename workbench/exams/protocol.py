"""Run a trial in any Python that has NumPy: the loop, and the JSON lines of an engine's process.

An adapter is a file with a class `World(trial, h, **settings)`, trial as from `Trial.plain`, h the step [s]:

    step()              one step
    push(velocity)      gives the bodies velocities (B, 6), linear and angular in the axes of the world
    pull(gravity)       changes gravity to (3,) [m/s2]
    state()             positions (B, 3) of the centres of mass, orientations (B, 4), scalar first, velocities (B, 6)
    contacts()          (a, b, point (3,), force (3,) [N]) of the last step's contacts: the force on body b from a, -1
                        for the ground, and opposite on a; None if the engine does not report it

and a `VERSION`. A world raises `ValueError` for what it cannot do. It is run as a script: `python protocol.py
ADAPTER.py [MODULE ...]`, with modules that must be available too.
"""

import base64
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

FIELDS = ("position", "orientation", "velocity", "wrench", "contacts")


def play(world: Any, trial: dict[str, Any], h: float) -> dict[str, np.ndarray]:
    """Run K steps; return K + 1 states, and for every step the (B, 6) contact wrench and the number of contacts.

    A wrench is a force [N] and a moment [N m] about the body's centre of mass at the start of the step. The state at
    the time of the push is that after the push.
    """
    pushed, steps = round(trial["settling"] / h), round((trial["settling"] + trial["duration"]) / h)
    velocity = np.array([body["velocity"] for body in trial["bodies"]], dtype=float)
    states, wrenches, counts = [_copied(world.state())], [], []
    for k in range(steps):
        if k == pushed and velocity.any():
            world.push(velocity)
            states[-1] = _copied(world.state())
        if k >= pushed and any(trial["swing"]):
            world.pull(gravity(trial, h, k))
        world.step()
        contacts = world.contacts()
        wrenches.append(_wrench(contacts, states[-1][0]))
        counts.append(np.nan if contacts is None else len(contacts))
        states.append(_copied(world.state()))
        if not (np.isfinite(states[-1][0]).all() and np.abs(states[-1][2]).max() < 1e6):
            raise ValueError(f"the motion explodes at {k * h:g} s")
    found = [np.array(x) for x in zip(*states, strict=True)]
    return dict(zip(FIELDS, [*found, np.array(wrenches), np.array(counts, dtype=float)], strict=True))


def gravity(trial: dict[str, Any], h: float, k: Any) -> np.ndarray:
    """Gravity [m/s2] at the midpoint of the k-th step, or of steps k (K, 1)."""
    since = np.maximum(0.0, k + 0.5 - round(trial["settling"] / h))
    return np.array(trial["gravity"]) + since * h * np.array(trial["swing"])


def _copied(state: Any) -> tuple:
    return tuple(np.array(x, dtype=float) for x in state)


def _wrench(contacts: Any, centre: np.ndarray) -> np.ndarray:
    total = np.full((len(centre), 6), np.nan if contacts is None else 0.0)
    if not contacts:
        return total
    first, second, point, force = (np.array(x) for x in zip(*contacts, strict=True))
    for body, sign in ((first, -1.0), (second, 1.0)):
        there = body >= 0
        moment = np.cross(point[there] - centre[body[there]], force[there])
        np.add.at(total, body[there], sign * np.concatenate([force[there], moment], axis=1))
    return total


def packed(x: np.ndarray) -> dict[str, Any]:
    """An array as text, without loss."""
    data = np.ascontiguousarray(x, dtype="<f8")
    return {"shape": data.shape, "bytes": base64.b64encode(data.tobytes()).decode()}


def unpacked(x: dict[str, Any]) -> np.ndarray:
    """The array from the text of `packed`."""
    return np.frombuffer(base64.b64decode(x["bytes"]), dtype="<f8").reshape(x["shape"]).astype(float)


def heard() -> Iterator[str]:
    """The lines of the standard input. The process ends when it closes, even in the middle of a computation."""
    lines: SimpleQueue[str] = SimpleQueue()
    # Not sys.stdin, which a terminating interpreter tries to close while it is being read.
    told = os.fdopen(os.dup(0))

    def hear() -> None:
        for line in told:
            lines.put(line)
        os._exit(0)

    Thread(target=hear, daemon=True).start()
    return iter(lines.get, None)


def serve(adapter: str, *needs: str) -> None:
    """Answer every line {"trial", "h", "settings"} by a line of arrays, or {"error"}; first, report the version.

    If the adapter, or a module that it needs, cannot be imported, the answer is {"absent"}.
    """
    lines = heard()
    # An engine's printed output must not mix with the lines.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(answer: dict[str, Any]) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    try:
        for name in needs:
            importlib.import_module(name)
        spec: Any = importlib.util.spec_from_file_location("adapter", adapter)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        return tell({"absent": str(error)})
    tell({"version": module.VERSION})
    for line in lines:
        asked = json.loads(line)
        try:
            world = module.World(asked["trial"], asked["h"], **asked["settings"])
            found = play(world, asked["trial"], asked["h"])
            tell({name: packed(x) for name, x in found.items()})
        except Exception as error:
            tell({"error": f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"})
    return None


if __name__ == "__main__":
    # The folder of this file contains modules with the names of packages.
    sys.path.pop(0)
    serve(*sys.argv[1:])
