"""Tapes: derivatives of recorded evaluations against differences, and where a tape does not hold."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import types

from workbench.algorithms.lemke.method import lemke_kernel
from workbench.derivatives import recording, tape, taped
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, largest_eigenvalue, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix

OF_TWO = types.void(VECTOR, VECTOR)


@kernel(OF_TWO)
def every_function(x, y):
    """All functions that a tape has."""
    a, b, c = x[0], x[1], x[2]
    y[0] = np.sin(a) * np.cos(b) + np.tan(0.1 * c) - a / b + 2.0 / c
    y[1] = np.sqrt(a * a + 1.0) + math.sqrt(b + 5.0) + np.exp(-a) + np.log(c) + np.hypot(a, b)
    y[2] = np.arctan2(a, b) + np.arctan(c) + np.arcsin(0.1 * a) + np.arccos(0.1 * b) + math.atan2(b, c)
    y[3] = np.sinh(a) + np.cosh(b) + np.tanh(c) + np.radians(a) + np.square(b) + c**1.5 + a**2 + b**-1.0
    y[4] = abs(a - b) + min(a, b, c) * max(a, 2.0) + np.minimum(a, c) + np.maximum(b, c) - np.abs(-c) + np.sign(a) * b
    y[5] = 0.0 * a + 1.0 * b - c + 3.0


@kernel(OF_TWO)
def solved(x, y):
    """A linear system with a matrix that varies."""
    n = y.shape[0]
    A, b, z, pivots = scratch_matrix(n, n), scratch(n), scratch(n), scratch_indices(n)
    for i in range(n):
        for j in range(n):
            A[i, j] = np.cos(x[0] * (i + 1.0) * (j + 2.0)) if i != j else x[1] * (i + 1.0)
        b[i] = x[2] - i
    lu_factor(A, pivots)
    lu_solve(A, pivots, b, z)
    for i in range(n):
        y[i] = z[i]


@kernel(OF_TWO)
def in_branches(x, y):
    """Another branch for another sign, and kinks at x_1 = 0."""
    y[0] = x[0] ** 2 if x[0] > 0.0 and max(x[1], 0.0) < 5.0 else -3.0 * x[0]
    y[1] = x[2] * max(x[1], 0.0)
    y[2] = 0.0 if np.isnan(x[2]) else x[2] * abs(x[1])


@kernel(OF_TWO)
def stiffest(x, y):
    """The largest eigenvalue of a matrix with x on the diagonal."""
    n = x.shape[0]
    S = scratch_matrix(n, n)
    for i in range(n):
        for j in range(n):
            S[i, j] = 0.2 * np.cos(x[i] + x[j])
        S[i, i] = 2.0 + x[i]
    y[0] = largest_eigenvalue(S)


def recorded(function, x, outputs):
    x = np.asarray(x)
    recorder, y = recording.Recorder(x, 1.0 + np.abs(x)), np.full(outputs, 0.0, dtype=object)
    recording.recordable(function)(np.array(recorder.x, dtype=object), y)
    return taped.widened(recorder.tape(y, len(recorder.operations)), len(x))


def values(record, x):
    tape.evaluate(record, np.asarray(x))
    return record.value[record.out]


def forward(record):
    """The derivatives (outputs, inputs)."""
    record.tangent[:] = 0.0
    record.tangent[: record.n_in, : record.n_in] = np.eye(record.n_in)
    tape.carry_tangents(record, record.first, record.N)
    return record.tangent[record.out, : record.n_in]


def reverse(record):
    rows = []
    for k in record.out:
        record.adjoint[:] = 0.0
        record.adjoint[k] = 1.0
        tape.carry_adjoints(record, record.N, record.first)
        rows.append(record.adjoint[: record.n_in].copy())
    return np.array(rows)


def differences(function, x, outputs):
    def of(x):
        y = np.zeros(outputs)
        function(np.array(x), y)
        return y

    s = 2e-4
    return np.stack([
        (8 * (of(x + s * e) - of(x - s * e)) - (of(x + 2 * s * e) - of(x - 2 * s * e))) / (12 * s)
        for e in np.eye(len(x))
    ], axis=1)  # fmt: skip


@pytest.mark.parametrize(("function", "outputs"), [(every_function, 6), (solved, 3)])
def test_tapes_have_the_derivatives_of_the_function_at_other_inputs(function, outputs):
    record = recorded(function, [1.1, -0.7, 2.3], outputs)
    for x in np.array([[1.1, -0.7, 2.3], [1.3, -0.9, 2.9], [0.6, -1.2, 2.1]]):
        y = np.zeros(outputs)
        function(x, y)
        np.testing.assert_allclose(values(record, x), y, rtol=1e-14, atol=1e-15)
        assert tape.path(record) == tape.SAME
        expected = differences(function, x, outputs)
        np.testing.assert_allclose(forward(record), expected, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(reverse(record), forward(record), rtol=1e-11, atol=1e-12)


def test_the_largest_eigenvalue_has_a_derivative_where_it_is_simple():
    """Far from where it was recorded, where Newton's method may find another one, the tape does not hold."""
    record = recorded(stiffest, [1.1, -0.7, 0.9], 1)
    for x in np.array([[1.1, -0.7, 0.9], [1.15, -0.72, 0.93], [1.05, -0.6, 0.8]]):
        y = np.zeros(1)
        stiffest(x, y)
        np.testing.assert_allclose(values(record, x), y, rtol=1e-14)
        assert tape.path(record) == tape.SAME
        np.testing.assert_allclose(forward(record), differences(stiffest, x, 1), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(reverse(record), forward(record), rtol=1e-11, atol=1e-12)
    values(record, [0.9, -0.7, 1.1])
    assert tape.path(record) == tape.OTHER
    with pytest.raises(recording.NotRecordableError):
        recorded(lambda x, y: y.__setitem__(0, largest_eigenvalue(np.array([[x[0], 0.0], [0.0, x[1]]]))), [1.0, 1.0], 1)


def test_a_tape_holds_where_all_branches_are_the_same():
    record = recorded(in_branches, [0.5, 0.5, 2.0], 3)
    for x, way in ([0.1, 0.1, 3.0], tape.SAME), ([-0.1, 0.1, 3.0], tape.OTHER), ([1e-12, 1.0, 3.0], tape.TIED), (
        [0.1, 0.1, np.nan], tape.OTHER
    ):  # fmt: skip
        tape.evaluate(record, np.array(x))
        assert tape.path(record) == way


def test_a_condition_holds_by_a_margin_of_how_far_its_numbers_move():
    @kernel(OF_TWO)
    def of(x, y):
        y[0] = x[0] if x[0] * x[0] < 1e-12 else 2.0 * x[0]
        y[1] = x[1] if x[1] > 0.0 else 2.0 * x[1]

    record = recorded(of, [1e-7, 1.0], 2)
    for x, way in (
        ([0.0, 1.0], tape.SAME),
        ([9.9e-7, 1.0], tape.SAME),
        ([1e-6 * (1 - 1e-11), 1.0], tape.TIED),
        ([0.0, 1e-12], tape.TIED),
    ):
        tape.evaluate(record, np.array(x))
        assert tape.path(record) == way


def test_kinks_have_two_derivatives_where_they_matter():
    record = recorded(in_branches, [0.5, 0.5, 2.0], 3)
    assert record.n_ties == 2
    for x, found in ([0.5, 1.0, 2.0], False), ([0.5, 0.0, 2.0], True), ([0.5, 0.0, 0.0], True):
        tape.evaluate(record, np.array(x))
        one = forward(record)
        assert tape.turn_ties(record) == found
        assert ((forward(record) != one).any(axis=1) == [False, *[found and x[2] != 0.0] * 2]).all()


def test_dead_operations_and_unbounded_derivatives_of_conditions_do_not_matter():
    @kernel(OF_TWO)
    def sticks(x, y):
        speed = np.sqrt(x[0] * x[0] + x[1] * x[1])
        unused = 0.0 * min(0.0, x[0])
        y[0] = x[1] / speed if max(speed, abs(x[0])) > 1.0 else x[0] + unused

    record = recorded(sticks, [0.0, 0.0], 1)
    values(record, [0.0, 0.0])
    assert record.n_ties == 0
    np.testing.assert_array_equal(reverse(record), [[1.0, 0.0]])
    np.testing.assert_array_equal(forward(record), [[1.0, 0.0]])


def test_what_cannot_be_recorded_is_refused():
    for function in (lambda x, y: y.__setitem__(0, float(x[0])), lambda x, y: y.__setitem__(0, math.gamma(x[0])),
                     lambda x, y: y.__setitem__(0, x[0] ** x[1])):  # fmt: skip
        with pytest.raises((recording.NotRecordableError, TypeError)):
            recorded(function, [1.0, 2.0], 1)


def test_a_frictionless_estimate_has_the_derivative_of_its_linear_system():
    functions = SimpleNamespace(lcp=recording.frictionless(lemke_kernel))

    def of(x, y):
        M, q, z = (np.full(shape, 0.0, dtype=object) for shape in ((2, 2), 2, 2))
        M[:] = [[2.0 * x[0], x[0]], [x[0], 2.0 * x[0]]]
        q[:] = -2.0 * x[1], -0.5 * x[1]
        bounds = np.zeros(2), np.full(2, np.inf)
        functions.lcp(M, q, *bounds, np.zeros(0), 2, z, np.zeros(1, dtype=int))
        y[:] = z

    record = recorded(of, [1.0, 1.0], 2)
    np.testing.assert_allclose(values(record, [1.0, 1.0]), [1.0, 0.0])
    np.testing.assert_allclose(forward(record), [[-1.0, 1.0], [0.0, 0.0]])
