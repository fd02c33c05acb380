"""Planted bugs can still be planted: their texts stand in the code, and the tests that are to catch them exist."""

from collections import Counter

import pytest

from tests.mutants import ROOT
from tests.planted import BUGS, SECOND, THIRD


@pytest.mark.parametrize("bug", BUGS + SECOND + THIRD, ids=lambda bug: bug.path)
def test_a_bug_has_one_place_and_tests(bug):
    changed = bug.mutant.text
    assert changed != (ROOT / bug.path).read_text("utf-8")
    compile(changed, bug.path, "exec")
    assert all((ROOT / "tests" / name).is_file() for name in bug.tests)


def test_there_are_forty_and_twice_twenty_in_as_many_files():
    assert (len(BUGS), len(SECOND), len(THIRD)) == (40, 20, 20)
    assert set(Counter(bug.path for bug in BUGS + SECOND + THIRD).values()) == {1}
