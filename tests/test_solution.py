"""What a solver hands back: a solution is verified by its residual and its point, whatever the solver claims of it."""

import numpy as np
import pytest

from workbench.problems.solution import Solution, Status

TOLERANCE = 1e-9


def solution(claimed=Status.SOLVED, residual=0.0, z=(1.0, 2.0), **more):
    return Solution(np.array(z), claimed, residual, TOLERANCE, 3, 0.1, "keller", **more)


@pytest.mark.parametrize("claimed", Status)
def test_the_residual_decides_and_not_the_claim_but_for_a_fixed_point_that_did_not_settle(claimed):
    assert solution(claimed).verified == (claimed is not Status.NO_FIXED_POINT)
    assert not solution(claimed, residual=1.0).verified


@pytest.mark.parametrize(("residual", "verified"), [
    (TOLERANCE, True), (np.nextafter(TOLERANCE, 1), False), (2 * TOLERANCE, False), (np.nan, False), (np.inf, False),
])  # fmt: skip
def test_the_residual_is_at_most_the_tolerance(residual, verified):
    assert solution(residual=residual).verified is verified


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_point_that_is_not_finite_is_not_verified(number):
    found = solution(z=(1.0, number))
    assert not found.verified
    assert found.why_not == "keller claims SOLVED, and its answer is not finite"


def test_a_proof_is_verified_and_needs_no_point():
    assert solution(Status.NO_SOLUTION, np.nan, (np.nan, np.nan), proof="a ray").verified


def test_what_is_not_verified_has_a_reason_and_what_is_has_only_its_own():
    assert solution().why_not == ""
    assert solution(reason="it took two stages").why_not == "it took two stages"
    assert solution(residual=1.0, reason="a ray").why_not == "a ray"
    words = "keller claims RAY, and the residual 2.0e-01 is above the tolerance 1e-09"
    assert solution(Status.RAY, residual=0.2).why_not == words


def test_every_status_has_a_meaning_of_its_own():
    assert len({status.meaning for status in Status}) == len(Status)


def test_a_reason_goes_with_the_claim_that_it_explains():
    """What is solved after all is not at a limit; what else is said of it stays."""
    assert solution(Status.RAY, reason=Status.RAY.meaning).reason == ""
    assert solution(Status.RAY, residual=1.0, reason=Status.RAY.meaning).reason == Status.RAY.meaning
    assert solution(Status.INACCURATE, reason="the best iterate").reason == "the best iterate"
