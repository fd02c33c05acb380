"""Units of work that are kept as they are finished."""

import pytest

from workbench.studies import units
from workbench.studies.units import kept_or_made
from workbench.support.errors import WorkbenchError


def test_a_unit_whose_process_died_has_its_reason_and_is_made_again(tmp_path, monkeypatch):
    asked = []

    def done(pool, function, pairs):
        for pair in pairs:
            asked.append(pair[0])
            yield pair, RuntimeError("killed") if pair[0] == "b" and len(asked) < 3 else function(pair)

    monkeypatch.setattr(units, "done", done)
    work, times = {"a": 2, "b": 3}, lambda x: [{"found": 10 * x}]
    first = dict(kept_or_made(work, times, tmp_path, workers=2))
    assert first == {"a": [{"found": 20}], "b": [{"claimed": "CRASHED", "reason": "its process failed: killed"}]}
    assert dict(kept_or_made(work, times, tmp_path, workers=2)) == {"a": [{"found": 20}], "b": [{"found": 30}]}
    assert asked == ["a", "b", "b"]


def test_what_was_made_before_an_error_is_kept_and_without_a_folder_nothing_is(tmp_path):
    def fails(x: int) -> list[dict[str, int]]:
        if x == 0:
            raise ZeroDivisionError
        return [{"found": x}]

    folder = tmp_path / "new"
    with pytest.raises(ZeroDivisionError):
        dict(kept_or_made({"a": 1, "b": 0}, fails, folder))
    assert dict(kept_or_made({"a": 1}, lambda x: [])) == {"a": []}
    # Each is kept before it is handed out, and what others have kept there is not.
    several = kept_or_made({"b": 2, "c": 3}, fails, folder)
    assert next(several) == ("b", [{"found": 2}])
    # Where nothing is left to make, no function is asked, and another process may be at work there.
    assert dict(kept_or_made({"a": 0, "b": 0}, fails, folder)) == {"a": [{"found": 1}], "b": [{"found": 2}]}
    several.close()
    assert dict(kept_or_made({"b": 0, "c": 4}, fails, folder)) == {"b": [{"found": 2}], "c": [{"found": 4}]}
    (tmp_path / "file").touch()
    with pytest.raises(WorkbenchError, match="cannot write to"):
        dict(kept_or_made({"a": 1}, fails, tmp_path / "file" / "in"))
