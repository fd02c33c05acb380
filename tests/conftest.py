"""Fixtures that several test modules share."""

import pytest

from tests import systems as _systems


@pytest.fixture(scope="session")
def systems():
    """The module `systems`: random contact systems, and the laws that a step of them has to obey."""
    return _systems
