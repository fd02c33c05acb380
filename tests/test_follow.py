"""`workbench follow`: the events of a case in words, as data, and proved."""

import json

import numpy as np
import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.support.errors import DataError


@pytest.mark.thorough
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
    assert found.words[1].endswith(" s in event times.")
    # Of events that there are not no accuracy is stated.
    assert wb.follow("block", duration=0.5 * stop).words[1].endswith(" in coordinates and velocities.")


def test_what_cannot_be_followed_or_proved_says_why(tmp_path):
    wedged = wb.follow("wedged-box")
    assert wedged.words[-1] == (
        f"It ends at {wedged.run.end.t:.12g} s: the impact is not unique: 2 velocities solve the impulses' problem. "
        "Either contact 1 opens, contact 2 slides; or contact 1 sticks, contact 2 sticks; --branches follows each."
    )
    cube = wb.follow("cube", prove=True)
    assert cube.words[0].startswith("It does not begin: the motion is not unique")
    assert cube.words[1].startswith("Nothing is proved: ")
    cube.save(tmp_path / "cube")
    assert (tmp_path / "cube" / "modes.csv").read_text("utf-8").strip() == "contact,start,end,mode"
    with pytest.raises(DataError, match="a positive number"):
        wb.follow("block", duration=-1.0)
    for given in ({}, {"prove": True}, {"branches": True}):
        with pytest.raises(
            DataError, match=r"duration 1e\+09 s; motions are followed for at most 80 s, 100 times the case's"
        ):
            wb.follow("block", duration=1e9, **given)


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


@pytest.mark.thorough
def test_several_motions_are_told_apart(capsys):
    painleve = ["--set", "mu=2", "--set", "angle=60", "--set", "spin=8", "--duration", "0.1"]
    main(["follow", "rod", *painleve, "--branches", "--quiet"])
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == [
        "Coulomb's law admits 2 motions.", "Motion 1: at 0 s contact 0 slides backward.",
        "Motion 2: at 0 s contact 0 opens.",
    ]  # fmt: skip
    main(["follow", "rod", *painleve, "--branches", "--json", "--quiet"])
    found = json.loads(capsys.readouterr().out)
    assert [m["forks"][0]["taken"] for m in found["motions"]] == [0, 1]
    assert all(m["uncertainty"]["same_events"] for m in found["motions"])
    main(["follow", "rod", *painleve, "--quiet"])
    said = " ".join(capsys.readouterr().out.lower().split())
    assert "either contact 0 slides backward; or contact 0 opens" in said
    several = wb.follow(wb.cases.find("rod")().with_parameters(mu=2.0, angle=60.0, spin=8.0), branches=True)
    assert set(several.modes["motion"]) == {1, 2}
    assert wb.follow("block", branches=True).words == wb.follow("block").words
    with pytest.raises(DataError, match="for prove or for branches"):
        wb.follow("block", prove=True, branches=True)
