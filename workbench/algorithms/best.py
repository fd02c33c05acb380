"""The best iterate so far, in memory that another process can read when a solver runs out of time.

Iterative solvers offer their iterates (`offer`). These are stored if a problem of their size is watched (`watch`), and
otherwise cost nothing. Pivoting methods have no iterates: until the last pivot their points are vertices that violate
some condition, and none is better than the one before.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from workbench.support.arrays import Array

HEAD = 2
"""Numbers before the iterate: the size of the watched problem, and the number of iterates stored."""
_place: Array = np.zeros(HEAD)
_image: tuple[int, Callable[[Array], Array]] | None = None
"""Size of the image that is solved instead of the watched problem, and the map back to its unknowns."""


def show(place: Array) -> None:
    """Store iterates from now on in `place` (HEAD + n at most,), where another process may read them."""
    global _place
    _place = place


@contextmanager
def watch(size: int) -> Iterator[None]:
    """Context in which iterates of problems of this size are stored."""
    _place[:HEAD] = size, 0.0
    try:
        yield
    finally:
        _place[0] = 0.0


@contextmanager
def carried_back(size: int, back: Callable[[Array], Array]) -> Iterator[None]:
    """Context in which iterates of an image of this size are mapped `back` to the watched problem and stored."""
    global _image
    before, _image = _image, (size, back)
    try:
        yield
    finally:
        _image = before


def watched(size: int) -> bool:
    """Return whether iterates of this size are stored."""
    if _image is not None and size != _image[0]:
        return False
    n = _place[0] if _image is not None else size
    return _place.size > HEAD and 0 < _place[0] == n <= _place.size - HEAD


def offer(z: Array) -> None:
    """Offer an iterate z (n,), the best so far."""
    if watched(z.size):
        given = z if _image is None else _image[1](z)
        _place[HEAD : HEAD + given.size] = given
        _place[1] += 1.0


def last_iterate(place: Array) -> Array | None:
    """Return the last stored iterate, or None.

    A solver that was ended while writing leaves a mixture of two, which the problem's own residual judges like any
    point."""
    size = int(place[0])
    return place[HEAD : HEAD + size].copy() if place.size >= HEAD + size > HEAD and place[1] else None
