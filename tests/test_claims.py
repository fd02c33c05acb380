"""Claims of papers: verdicts follow from the numbers, and say where they hold."""

import numpy as np
import pytest

from workbench.builtin.reports.reproductions.claims import (
    Check,
    Claim,
    Grid,
    number_text,
)
from workbench.builtin.reports.text.mathematics import plain
from workbench.mechanics.case import Truth


def test_verdicts_follow_from_the_numbers():
    def verdict(expected, computed, tolerance=0.0, relation="="):
        return Claim("", expected, computed, tolerance=tolerance, relation=relation).verdict

    assert verdict(1.67, 1.73, 0.1) == "confirmed"
    assert verdict(1.67, 1.78, 0.1) == verdict(1.67, 1.56, 0.1) == "differs"
    assert verdict(1.0, 1.0) == "confirmed"
    assert verdict(1.0, np.nextafter(1.0, 2.0)) == "differs"
    assert verdict(1.0, 1.0, relation="≤") == verdict(1.0, 0.5, relation="≤") == "confirmed"
    assert verdict(1.0, 1.01, relation="≤") == "not confirmed"
    assert verdict(1.0, 1.01, 0.02, "≤") == verdict(1.0, 0.99, 0.02, "≥") == "confirmed"
    assert verdict(1.0, 0.99, relation="≥") == "not confirmed"
    for relation in ("=", "≤", "≥"):
        assert verdict(1.0, np.nan, 1e9, relation) == "not confirmed"
    assert verdict(1.0, np.inf, 1.0) == verdict(1.0, np.inf, relation="≤") == "not confirmed"


def test_a_disagreement_that_nobody_explained_says_so():
    assert Claim("", 1.0, 2.0).reason == "Not explained yet."
    assert Claim("", 1.0, 2.0, why="Rounded.").reason == "Rounded."
    assert Claim("", 1.0, 1.0).reason == ""


def test_numbers_are_printed_with_their_unit_and_relation():
    claim = Claim("", 14.0, 12.6, "°", relation="≥", form=".1f")
    assert (claim.expected_text, claim.computed_text) == ("≥ 14.0°", "12.6°")
    assert Claim("", 2.0, 1.5, "m/s").computed_text == "1.5\u202fm/s"
    assert Claim("", 2.0, np.nan).computed_text == "–"
    assert number_text(-0.0, ".1e") == "0"


def test_a_claim_tried_under_several_conditions_says_for_which_it_holds():
    def claim(*rows, relation="="):
        return Claim(
            "",
            0.0,
            rows[0][0],
            relation=relation,
            tried=Grid("s", "k", tuple("abcde"), dict(zip("ABC", rows, strict=False))),
        )

    everywhere, nowhere = (0, 0, 0, 0, 0), (1, 2, 3, 4, np.nan)
    assert (claim(everywhere).verdict, claim(everywhere).where) == ("confirmed", "")
    assert (claim(nowhere).verdict, claim(nowhere).where) == ("differs", "")
    assert claim(nowhere, relation="≤").verdict == "not confirmed"
    mixed = claim(everywhere, nowhere, (0, 0, 1, 1, 0))
    assert (mixed.verdict, mixed.where) == ("confirmed in part", "A; C (k: up to b, e)")
    assert claim((1, 0, 0, 1, 1), nowhere).where == "A (k: b to c)"
    assert claim((0, 0, 1, 1, 1), (0, 0, 2, 2, 2), (1, 1, 1, 0, 0)).where == "A · B (k: up to b); C (k: from d)"
    assert claim((1, 1, 1, 1, 0)).where == "k: e"
    # A bound.
    assert claim((-1, 0, 1, 2, 3), relation="≥").where == "k: from b"

    # A group where it holds in all of the group's settings, or else by setting; the same everywhere needs no names.
    def where(**rows):
        named = {name.replace("_", " / "): row for name, row in rows.items()}
        return Claim("", 0, next(iter(rows.values()))[0], tried=Grid("s", "k", ("a", "b"), named)).where

    assert where(A_1=(0, 0), A_2=(0, 1), B=(1, 1)) == "A (k: a)"
    assert where(A_1=(1, 0), A_2=(0, 1), B=(0, 0)) == "A / 1 (k: b); A / 2 (k: a); B"
    assert where(A_1=(1, 0), A_2=(0, 0), B=(1, 0)) == "k: b"
    with pytest.raises(ValueError, match="not among"):
        Claim("", 0.0, 5.0, tried=Grid("s", "k", ("a",), {"A": (0,)}))


def test_a_truth_of_a_case_is_a_check():
    check = Check.of(Truth("stop", 2.1, 2.0, 0.2, "s", "algebra"))
    assert (check.expected, check.computed, check.origin, check.verdict) == (2.0, 2.1, "algebra", "confirmed")
    assert check.kind == "check"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"friction up to $\mu < \mu_c$ at 5 %", "friction up to μ < μ_c at 5 %"),
        (r"$\|\Theta\| < 1/\beta_2$ holds", "‖Θ‖ < 1/β_2 holds"),
        (r"$T = -h\,\omega \times J\omega$", "T = -h ω × Jω"),
        (r"$A_{nb}^{-1} A_{tb}$ and $10^{-4}$", "A_nb^-1 A_tb and 10^-4"),
        ("no mathematics, 5 $ and 7 %", "no mathematics, 5 $ and 7 %"),
    ],
)
def test_mathematics_is_text_in_a_terminal(text, shown):
    assert plain(text) == shown
