"""Problems in files for the tests of readers: random ones, a folder of real ones, and how a file must be refused."""

import io
import os
import time
import tracemalloc
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse

from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.files import read_problem_file
from workbench.support.errors import DataError


def written(tmp_path, content, name="problem.dat"):
    path = tmp_path / name
    path.write_text(content)
    return path


def read(tmp_path, content):
    return read_problem_file(written(tmp_path, content))


def local_data(rng, r=4, d=2):
    n = r * (1 + d)
    J = rng.normal(size=(n, 5))
    return J @ J.T + 1e-6 * rng.normal(size=(n, n)), rng.normal(size=n), rng.uniform(0.1, 1.0, r)


def global_data(rng, r=3, d=2, n=7):
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n), rng.normal(size=(n, r * (1 + d))), rng.normal(size=n), rng.normal(size=r * (1 + d))


def random_problems(rng):
    for r, d in ((1, 1), (4, 2), (7, 1)):
        W, q, mu = local_data(rng, r, d)
        yield FrictionProblem(W, q, mu, d)
        M, H, f, w = global_data(rng, r, d, 5)
        yield GlobalFrictionProblem(M, H, f, w, mu, d)
        yield GlobalFrictionProblem(M, H, f, w, mu, d, rng.normal(size=(5, 2)), rng.normal(size=2))
    M, q = rng.normal(size=(5, 5)), rng.normal(size=5)
    yield LCP(M, q)
    yield MLCP(M, q, np.array([-np.inf, 0, 0, -1, 0]), np.array([np.inf, np.inf, 1, 2, np.inf]))


def refused(path, seconds=3.0, megabytes=60.0):
    """The one line with which a file is refused, quickly and without much memory."""
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(DataError) as caught:
            read_problem_file(path)
        assert tracemalloc.get_traced_memory()[1] < 1e6 * megabytes
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < seconds
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    return str(caught.value)


def data_folder():
    """Where real problems lie: the environment variable WORKBENCH_DATA, or shared/data beside the project."""
    return Path(os.environ.get("WORKBENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))


def matlab73(variables: dict) -> bytes:
    """A file of MATLAB's version 7.3 : arrays transposed, sparse ones as groups."""
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512) as stored:
        for name, value in variables.items():
            if sparse.issparse(value):
                columns, group = value.tocsc(), stored.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                group["ir"], group["jc"] = columns.indices.astype("u8"), columns.indptr.astype("u8")
                group["data"] = columns.data
            elif isinstance(value, dict):
                stored.create_group(name)
            else:
                stored.create_dataset(name, data=np.atleast_2d(value).T)
            kind = {dict: "struct"}.get(type(value), "char" if np.asarray(value).dtype == np.uint16 else "double")
            stored[name].attrs["MATLAB_class"] = np.bytes_(kind)
    content = bytearray(file.getvalue())
    content[:128] = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + bytes(8) + b"\x00\x02IM"
    return bytes(content)
