"""No finished row of a study is lost, whatever happens to it; `python -m tests.faults` does this at more moments."""

import sys
from importlib.util import find_spec

import pytest

from tests.faults import FAULTS, dask_worker_killed, moments, tried

if sys.platform != "linux":
    pytest.skip("processes are found in /proc", allow_module_level=True)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_study_outlives(fault):
    if fault is dask_worker_killed and find_spec("distributed") is None:
        pytest.skip("distributed is not installed: pip install '.[test]'")
    (moment,) = moments(seed=149 + FAULTS.index(fault), count=1)
    assert tried(fault, moment) == []
