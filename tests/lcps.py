"""Matrices of the classes that theory makes promises for, at random, and what a solution has to be."""

import numpy as np

from workbench.algorithms.lemke import path as lemke_path
from workbench.algorithms.lemke import sparse_rows as lemke_rows
from workbench.algorithms.lemke.workspace import Workspace
from workbench.problems.solution import Status


def symmetric_pd(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.3 * np.eye(n)


def nonsymmetric_pd(rng, n):
    K = 3 * rng.normal(size=(n, n))
    return symmetric_pd(rng, n) + K - K.T


def p_not_pd(rng, n):
    """Unit triangular, hence every principal minor is 1; an entry of 5 makes the symmetric part indefinite."""
    M = np.eye(n) + np.triu(2 * rng.normal(size=(n, n)), 1)
    M[0, 1] = 5
    order = rng.permutation(n)
    return np.ascontiguousarray(M[np.ix_(order, order)])


def h_plus(rng, n):
    """Rows of a strictly diagonally dominant matrix, columns rescaled: H+, no longer dominant."""
    M = rng.normal(size=(n, n))
    np.fill_diagonal(M, 0)
    np.fill_diagonal(M, 1.2 * np.abs(M).sum(1) + 0.1)
    return M * 10 ** rng.uniform(-1, 1, n)


def m_matrix(rng, n):
    M = -np.abs(h_plus(rng, n))
    np.fill_diagonal(M, -np.diag(M))
    return M


def assert_solved(solution):
    assert solution.claimed is Status.SOLVED, solution
    assert solution.verified, solution


def lemke_workspace(M):
    """The workspace of Lemke's path with M (n, n) as it is, no scaling, and the covering vector of ones."""
    n = len(M)
    work = Workspace(N=n + 1)
    assert lemke_rows.read(M, work)
    work.D = work.d = 1.0
    lemke_path.lay_columns(n, work)
    return work
