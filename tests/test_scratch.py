"""Arrays on the stack, where kernels may ask for them, and the numerics of small matrices that live there."""

from pathlib import Path

import numpy as np
import pytest
from numba import njit, types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, largest_eigenvalue
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.support.errors import WorkbenchError

LITTLE = 256

I64, F64 = types.int64, types.float64


@kernel(F64(I64, I64))
def sums(n, m):
    """n(n-1)/2 of a vector, twice that of indices, the sum of i j of a matrix: all three at once."""
    x, rows, A = scratch(n), scratch_indices(n), scratch_matrix(n, m)
    for i in range(n):
        x[i], rows[i] = i, 2 * i
        for j in range(m):
            A[i, j] = i * j
    total = 0.0
    for i in range(n):
        total += x[i] + rows[i]
        for j in range(m):
            total += A[i, j]
    return total


@kernel(F64(I64, I64, I64))
def many(n, m, calls):
    total = 0.0
    for _ in range(calls):
        total += sums(n, m)
    return total


@kernel(F64(MATRIX))
def trace(A):
    total = 0.0
    for i in range(A.shape[0]):
        total += A[i, i]
    return total


@kernel(F64(I64))
def trace_of_identity(n):
    A = scratch_matrix(n, n)
    for i in range(n):
        for j in range(n):
            A[i, j] = 1.0 if i == j else 0.0
    return trace(A)


@pytest.mark.parametrize("n", [0, 1, 3, 16, LITTLE - 1, LITTLE, LITTLE + 1, 1000])
def test_arrays_on_the_stack_and_beyond_are_apart(n):
    for m in (0, 1, 5):
        assert sums(n, m) == 1.5 * n * (n - 1) + n * (n - 1) / 2 * m * (m - 1) / 2


def test_what_a_call_takes_it_gives_back():
    """A million calls would take gigabytes of stack."""
    assert many(16, 16, 1_000_000) == 1_000_000 * sums(16, 16)


def last_of(n):
    x = scratch(n)
    x[n - 1] = n
    return x[n - 1]


def calls(part):
    @kernel(F64(I64, I64))
    def total(n, calls):
        s = 0.0
        for _ in range(calls):
            s += part(n)
        return s

    return total


def in_a_while(n):
    x, k = scratch(n), 0
    while k < n:
        rows = scratch_indices(n)
        rows[k] = k
        k += 1
    return x[0]


def in_a_nested_loop(n):
    for i in range(n):
        if i > 2:
            continue
        for _ in range(n):
            A = scratch_matrix(n, n)
            A[i, i] = 1.0
    return 0.0


in_a_part = calls(njit(inline="always")(last_of))


@pytest.mark.parametrize(
    ("refused", "name", "line"),
    [
        (kernel(F64(I64))(in_a_while), "in_a_while calls scratch_indices", "rows = scratch_indices(n)"),
        (kernel(F64(I64))(in_a_nested_loop), "in_a_nested_loop calls scratch_matrix", "A = scratch_matrix(n, n)"),
        (in_a_part, "total calls scratch", "x = scratch(n)"),
        (njit(lambda n: in_a_part(n, n)), "total calls scratch", "x = scratch(n)"),
    ],
)
def test_a_kernel_that_asks_for_them_in_a_loop_is_refused(refused, name, line):
    with pytest.raises(WorkbenchError) as found:
        refused(*[3] * (2 if refused is in_a_part else 1))
    words = str(found.value)
    assert name in words
    number = int(words.partition(", line ")[2].partition(" ")[0])
    assert Path(__file__).read_text().split("\n")[number - 1].strip() == line
    assert "\n" not in words


@pytest.mark.parametrize("part", [kernel(F64(I64), linked=True)(last_of), njit(last_of), kernel(F64(I64))(last_of)])
def test_functions_called_in_a_loop_give_the_stack_back_even_where_they_are_linked_in(part):
    """A million calls would take gigabytes of stack."""
    assert calls(part)(200, 1_000_000) == 200e6


def test_other_kernels_take_them_as_any_array():
    assert [trace_of_identity(n) for n in (1, 7, 40)] == [1.0, 7.0, 40.0]


def test_the_largest_eigenvalue_is_lapack_s():
    rng = np.random.default_rng(0)
    for k in range(300):
        n = rng.integers(1, 12)
        B = rng.normal(size=(n, rng.integers(1, n + 2))) * 10.0 ** rng.uniform(-4, 4, (n, 1))
        C = rng.normal(size=(n, n))
        S = B @ B.T if k % 2 else C + C.T
        known = np.linalg.eigvalsh(S)
        assert largest_eigenvalue(S.copy()) == pytest.approx(known[-1], abs=1e-14 * np.abs(known).max())


def test_the_largest_eigenvalue_of_what_has_none():
    assert largest_eigenvalue(np.zeros((3, 3))) == 0.0
    assert np.isnan(largest_eigenvalue(np.full((2, 2), np.nan)))
