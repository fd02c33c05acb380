"""The best iterate so far, in memory where another process can have it when a solver's time is over.

A solver that has iterates offers them as it goes (`offer`). They are kept where somebody has asked to watch a problem
of their size (`watch`), and cost nothing elsewhere. Pivoting methods have no iterates: until the last pivot their
points are vertices that violate something, none better than the one before.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from workbench.arrays import Array

HEAD = 2
"""Numbers before the iterate: the size of the problem that is watched, and how many iterates have come."""
_place: Array = np.zeros(HEAD)
_image: tuple[int, Callable[[Array], Array]] | None = None
"""Size of the image that is solved in place of the problem that is watched, and the way back from its unknowns."""


def show(place: Array) -> None:
    """Keep iterates from now on in `place` (HEAD + n at most,), where another process may read them."""
    global _place
    _place = place


@contextmanager
def watch(size: int) -> Iterator[None]:
    """Keep what is offered of problems of this size."""
    _place[:HEAD] = size, 0.0
    try:
        yield
    finally:
        _place[0] = 0.0


@contextmanager
def carried_back(size: int, back: Callable[[Array], Array]) -> Iterator[None]:
    """Keep what is offered of an image of this size, carried `back` to the problem that is watched."""
    global _image
    before, _image = _image, (size, back)
    try:
        yield
    finally:
        _image = before


def watched(size: int) -> bool:
    """Whether iterates of this size are kept."""
    if _image is not None and size != _image[0]:
        return False
    n = _place[0] if _image is not None else size
    return _place.size > HEAD and 0 < _place[0] == n <= _place.size - HEAD


def offer(z: Array) -> None:
    """An iterate z (n,), the best so far."""
    if watched(z.size):
        given = z if _image is None else _image[1](z)
        _place[HEAD : HEAD + given.size] = given
        _place[1] += 1.0


def last_iterate(place: Array) -> Array | None:
    """The last iterate in a place, None where none has come. A solver that was ended while it wrote leaves a mixture of
    two, which the problem's own residual judges like any other point."""
    size = int(place[0])
    return place[HEAD : HEAD + size].copy() if place.size >= HEAD + size > HEAD and place[1] else None
