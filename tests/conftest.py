"""Fixtures that several test modules share."""

import os

# Several test processes share a machine: threads of the BLAS would wait on each other. Before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from tests import systems as _systems


@pytest.fixture(scope="session")
def systems():
    """The module `systems`: random contact systems, and the laws that a step of them has to obey."""
    return _systems
