"""`workbench follow`: the events of a case in words, as data, and proved."""

import json

import numpy as np
import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.errors import DataError


def test_the_block_slides_until_friction_has_stopped_it():
    case = wb.cases.find("block")()
    stop = case.speed / (case.mu * case.gravity)
    found = wb.follow("block", prove=True)
    assert found.words[0] == f"Contact 0 slides until {stop:.12g} s, sticks until 0.8 s."
    assert "differs by" in found.words[1]
    assert found.words[2].startswith("Proved to its end, 0.8 s: 1 event, known to")
    (event,) = found.proved.events
    assert event.t_low <= stop <= event.t_high
    assert found.uncertainty.t < 1e-9


def test_what_cannot_be_followed_or_proved_says_why():
    wedged = wb.follow("wedged-box")
    assert wedged.words[-1] == (
        f"It ends at {wedged.run.end.t:.12g} s: the impact is not unique: two velocities solve the impulses' problem."
    )
    cube = wb.follow("cube", prove=True).words
    assert cube[0].startswith("It does not begin: the motion is not unique")
    assert cube[1].startswith("Nothing is proved: ")
    with pytest.raises(DataError, match="a positive number"):
        wb.follow("block", duration=-1.0)


def test_the_command_prints_words_or_json_and_writes_a_folder(capsys, tmp_path):
    rod = ["follow", "rod", "--set", "speed=0.5", "--duration", "0.1", "--quiet"]
    main(rod)
    assert "Contact 0 slides until 0.0424454635834 s, sticks until 0.1 s." in capsys.readouterr().out
    main(
        ["follow", "rod", "--set", "speed=0.5", "--duration", "0.1", "--quiet", "--json", "--out", str(tmp_path / "x")]
    )
    found = json.loads(capsys.readouterr().out)
    assert [x["what"] for x in found["events"]] == ["sticks"]
    assert found["events"][0]["t"] == pytest.approx(0.0424454635834, abs=1e-12)
    assert found["proved"] is None
    assert (tmp_path / "x" / "events.csv").exists()
    assert "Contact 0 slides" in (tmp_path / "x" / "report.html").read_text("utf-8")


def test_frames_are_those_of_the_run():
    found = wb.follow("particle", duration=0.6)
    assert list(found.events["what"]) == ["touches down"]
    assert list(found.modes["mode"]) == ["open", "slip"]
    np.testing.assert_allclose(found.modes["start"].iloc[1], found.events["t"].iloc[0], rtol=0, atol=1e-15)
