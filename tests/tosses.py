"""Tosses of a cube that the workbench makes itself, as recordings and as files of ContactNets' format."""

from itertools import product
from pathlib import Path

import numpy as np

from tests.torch_files import write_torch
from workbench.exams.recorded.body import Body
from workbench.exams.recorded.noise import Noise
from workbench.exams.recorded.recording import Recording
from workbench.exams.recorded.throws import Subject, Thrower
from workbench.verbs.find import find_formulation

EDGE, RATE = 0.1048, 148.0
CUBE = Body(
    "cube", 0.37, np.full(3, 8.1e-4), 0.5 * EDGE * np.array(list(product((-1.0, 1.0), repeat=3))), 0.0, 0.0, 9.81
)
THROWER = Thrower(CUBE, 1.0 / (4 * RATE), 4, "moreau")
SILENT = Noise(0, np.zeros(3), np.zeros(3), 0.0, (0.0, 0.0))
"""Recordings without errors."""


def recording(states: np.ndarray, name: str = "x") -> Recording:
    """Recorded states (T, 13)."""
    return Recording(name, 1.0 / RATE, states)


def starts(count: int, seed: int) -> np.ndarray:
    """States (count, 13) of cubes thrown from a hand's height, turning."""
    random = np.random.default_rng(seed)
    found = np.zeros((count, 13))
    found[:, 2] = 0.1 + 0.05 * random.uniform(size=count)
    turn = random.normal(size=(count, 4))
    found[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
    found[:, 7:9] = random.normal(size=(count, 2))
    found[:, 10:13] = 4.0 * random.normal(size=(count, 3))
    return found


def tosses(
    count: int, samples: int, mu: float, e: float, seed: int = 1, formulation: str = "coulomb"
) -> tuple[Recording, ...]:
    """Recordings of throws that obey a formulation."""
    states, _ = THROWER.throw(
        Subject(find_formulation(formulation)), starts(count, seed), np.full(count, samples), mu, e
    )
    return tuple(recording(x, f"{k}.pt") for k, x in enumerate(states))


def write_tosses(folder: Path, recordings: tuple[Recording, ...]) -> Path:
    """Write recordings as ContactNets' files: half edges for lengths, and six columns of zeros."""
    folder.mkdir(exist_ok=True)
    for one in recordings:
        x = one.states.copy()
        x[:, [0, 1, 2, 7, 8, 9]] /= 0.5 * EDGE
        write_torch(folder / one.name, np.concatenate([x, np.zeros((len(x), 6))], axis=1)[None])
    return folder
