"""The motion on a comparison's page: what the viewer is given, and what a reader does with it."""

import base64
import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.reports.figures.motion import drawn_tracks, farthest, framing, stills, tidy, view_of
from workbench.builtin.reports.pages import motion as page_of_motion
from workbench.builtin.reports.pages.comparison import render
from workbench.builtin.reports.pages.motion import HEAVIEST, motion_view
from workbench.mechanics.solids import cuboid

pytestmark = pytest.mark.thorough

PICTURE = """new Promise(done => {
  document.querySelector('#motion fieldset input').dispatchEvent(new Event('change'));
  requestAnimationFrame(() => done(document.querySelector('#motion canvas').toDataURL()));
})"""
READ = """new Promise(done => {
  document.querySelector('#motion fieldset input').dispatchEvent(new Event('change'));
  requestAnimationFrame(() => {
    const shown = document.querySelector('#motion canvas'), copy = document.createElement('canvas');
    [copy.width, copy.height] = [shown.width, shown.height];
    const flat = copy.getContext('2d');
    flat.drawImage(shown, 0, 0);
    done(flat.getImageData(0, 0, copy.width, copy.height));
  });
})"""
COVERED = """(async (first, second) => {
  const [a, b] = await Promise.all([first, second]), at = [], other = i => a.data[i] !== b.data[i];
  for (let i = 0; i < a.data.length; i += 4) if (other(i) || other(i + 3)) at.push(i / 4);
  const ends = (xs, n) => [xs.reduce((s, x) => Math.min(s, x)) / n, xs.reduce((s, x) => Math.max(s, x)) / n];
  return [...ends(at.map(i => i % a.width), a.width), ...ends(at.map(i => Math.floor(i / a.width)), a.height)];
})"""
NO_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null;"


@pytest.fixture(scope="module")
def compared():
    result = wb.compare("wheel", ["frictionless", "box", "ccp", "coulomb"], duration=0.1, reference_step=5e-4)
    return result.comparison


@pytest.fixture(scope="module")
def path(compared, tmp_path_factory):
    found = tmp_path_factory.mktemp("motion") / "wheel.html"
    found.write_text(render(compared, {}), "utf-8")
    return found


def given(c):
    viewer = motion_view(c)["viewer"]
    return json.loads(re.search(r"const motion = (.*?);\n", viewer).group(1))


def unpacked(x, shape):
    raw = base64.b64decode(x["bytes"])
    if not x["scale"]:
        return np.frombuffer(raw, "<f4").reshape(shape)
    whole = np.frombuffer(raw, "<i2").astype(float)
    return np.where(whole == -32768, np.nan, whole * x["scale"]).reshape(shape)


# What the viewer is given


def test_the_viewer_gets_the_tracks_as_they_are(compared):
    data = given(compared)
    tracks = drawn_tracks(compared)
    assert [x["label"] for x in data["tracks"]] == ["reference", "frictionless", "box", "ccp", "coulomb"]
    for x, track in zip(data["tracks"], tracks, strict=True):
        np.testing.assert_allclose(unpacked(x["position"], track.position.shape), track.position, rtol=1e-6, atol=1e-9)
        for name in ("orientation", "point", "slip"):
            wanted = getattr(track, name)
            np.testing.assert_allclose(
                unpacked(x[name], wanted.shape), wanted, atol=np.nanmax(abs(wanted)) / 60000, err_msg=name
            )
        # The floor's axes do not turn, and are there once.
        np.testing.assert_allclose(unpacked(x["axes"], track.axes.shape[1:]), track.axes[0], atol=2e-5)


def test_heavy_tracks_are_thinned(compared, monkeypatch):
    whole = given(compared)
    monkeypatch.setattr(page_of_motion, "HEAVIEST", 8000)
    thin = given(compared)
    assert thin["moments"] < whole["moments"] / 2
    assert thin["end"] <= whole["end"] < thin["end"] + 2 * thin["end"] / (thin["moments"] - 1)
    assert motion_view(compared)["motion"]["last"] == thin["moments"] - 1
    assert len(motion_view(compared)["viewer"]) < HEAVIEST


def test_a_card_says_the_section_of_its_friction_cone(compared):
    found = {x["label"]: x["section"] for x in given(compared)["tracks"]}
    square = {(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)}
    assert {tuple(x) for x in found["box"]["sticking"]} == square
    assert found["box"]["axes"] == ["fixed", "fixed"]
    assert found["frictionless"]["sticking"] == [[0.0, 0.0]]
    assert len(found["ccp"]["sliding"]) > 30
    assert found["reference"] == "disc"
    unbounded = [x | {"section": None, "sliding_section": None, "section_axes": None} for x in compared.mathematics]
    tracks = given(replace(compared, mathematics=tuple(unbounded)))["tracks"]
    assert [x["section"] for x in tracks] == ["disc", None, None, None, None]


def test_the_formulation_shown_first_is_the_farthest_with_friction(compared):
    tracks = drawn_tracks(compared)
    apart = {x.label: np.linalg.norm(x.position - tracks[0].position, axis=-1).mean() for x in tracks[1:]}
    del apart["frictionless"]
    assert tracks[farthest(compared, tracks)].label == max(apart, key=apart.get)
    bare = [x for x in tracks if x.role == "reference" or x.label == "frictionless"]
    assert bare[farthest(compared, bare)].label == "frictionless"
    assert farthest(compared, bare[:1]) == 0


def test_every_body_lies_within_every_picture(compared):
    reference, *tracks = drawn_tracks(compared)
    view = view_of(compared.motion)
    # One parts and comes back: pictures do not draw near again.
    away = np.sin(np.linspace(0, np.pi, len(compared.motion.t)))[:, None, None] * np.array([0.0, 3.0, 0.0])
    tracks = [reference, *tracks, replace(reference, position=reference.position + away)]
    for follows in (True, False):
        middle, half = framing(replace(view, follows=follows), tracks)
        for track in tracks:
            away = np.linalg.norm(track.position[:, 0] - middle, axis=-1)
            assert (away + view.reach <= half).all()
        assert (np.diff(half) >= 0).all()


def test_scales_are_one_two_or_five_times_a_power_of_ten():
    assert [tidy(x) for x in (0.3, 0.9, 14.1, 3100, 7.5e-5)] == [0.2, 1.0, 10.0, 2000.0, 1e-4]
    assert [tidy(x) for x in (0.0, np.nan, np.inf)] == [1.0, 1.0, 1.0]


def test_a_track_that_ends_early_or_runs_away_is_drawn_as_far_as_it_goes(compared):
    first, *runs = compared.motion.tracks
    moment = np.arange(len(compared.motion.t))[:, None, None]
    for wrong in (np.nan, np.inf, 1e9):
        lost = replace(runs[0], position=np.where(moment < 40, runs[0].position, wrong))
        c = replace(compared, motion=replace(compared.motion, tracks=(first, lost)))
        tracks = drawn_tracks(c)
        assert np.isfinite(tracks[1].position[:40]).all()
        assert np.isnan(tracks[1].position[40:]).all()
        pictures = stills(c.motion, tracks, ["currentColor", "#2653c9"])
        assert [t for t, _ in pictures][-1] == c.motion.t[39]
        assert all("nan" not in svg and "#2653c9" in svg for _, svg in pictures)
        assert np.isnan(unpacked(given(c)["tracks"][1]["position"], lost.position.shape)[40:]).all()


def test_it_opens_where_the_formulation_that_shows_what_goes_wrong_is_farthest(compared):
    tracks = drawn_tracks(compared)
    names = ["reference" if x.role == "reference" else x.label for x in tracks]
    last = names.index(motion_view(compared)["motion"]["shown"][-1])
    apart = np.linalg.norm(tracks[last].position - tracks[0].position, axis=-1).max(axis=1)
    assert given(compared)["begin"] == compared.motion.t[np.nanargmax(apart)] > 0
    still = replace(
        compared.motion, tracks=(tracks[0], *(replace(tracks[0], label=x.label, role="run") for x in tracks[1:]))
    )
    assert given(replace(compared, motion=still))["begin"] == pytest.approx(0.4 * still.t[-1], rel=0.02)


def test_bodies_too_small_for_squares_of_their_lengths_have_a_view():
    tiny = wb.compare(wb.cases["wheel"](R=1e-300), ["coulomb"], duration=0.01, reference="steps").comparison
    assert tiny.motion.sizes.max() == 0.0
    assert motion_view(tiny)["motion"]["shown"]


def test_times_beside_those_compared_are_said_to_be_so_and_are_not_shown_first(reader, tmp_path, compared):
    late = replace(compared, runs=compared.runs.assign(window_start=0.02, window_end=0.06))
    assert given(late)["compared"] == [0.02, 0.06]
    assert given(late)["begin"] <= 0.06 < given(compared)["begin"]
    path = tmp_path / "wheel.html"
    path.write_text(render(late, {}), "utf-8")
    page, words = reader.open(path), {}
    for time in (0.01, 0.02, 0.06, 0.08):
        page.evaluate(f"clock.set({time})")
        words[time] = page.locator("#motion .words").inner_text()
    assert words[0.01].startswith("Time 0.010 s, before the time compared. Distance from the reference: ")
    assert words[0.08].startswith("Time 0.080 s, after the time compared. Distance from the reference: ")
    assert all(words[x].startswith(f"Time {x:.3f} s. Distance from the reference: ") for x in (0.02, 0.06))


def test_stills_have_the_distance_that_can_be_seen_beside_its_line(compared):
    """In the last one a run is 0.25 m off; another one, a millimetre off, has no line."""
    first = drawn_tracks(compared)[0]
    moment = np.linspace(0, 1, len(first.position))[:, None, None]
    off, near = (
        replace(first, role="run", label="ccp", position=first.position + far * moment * [0, 0, 1])
        for far in (0.25, 1e-3)
    )
    *_, (_, far) = stills(compared.motion, [first, off], ["currentColor", "#2653c9"])
    *_, (_, close) = stills(compared.motion, [first, near], ["currentColor", "#2653c9"])
    assert re.findall(r"<text[^>]*>([^<]*)", far) == ["250 mm"]
    assert "<text" not in close
    # Where nothing is a reference, nothing is off.
    other = [replace(x, role="run") for x in (first, off)]
    assert not any("<text" in svg for _, svg in stills(compared.motion, other, ["currentColor", "#2653c9"]))


def test_what_has_no_motion_has_no_viewer(compared):
    nothing = {"motion": {}, "viewer": ""}
    assert motion_view(replace(compared, motion=None)) == nothing
    assert motion_view(replace(compared, motion=replace(compared.motion, t=np.zeros(1)))) == nothing
    assert 'id="motion"' not in render(replace(compared, motion=None), {})


def test_a_name_cannot_leave_the_script(compared):
    first, run, *_ = compared.motion.tracks
    name = "</script><!--<script>"
    c = replace(compared, motion=replace(compared.motion, tracks=(first, replace(run, label=name))))
    assert "<script" not in motion_view(c)["viewer"]
    assert "<!--" not in motion_view(c)["viewer"]
    assert given(c)["tracks"][1]["label"] == name


# What a reader does


def picture(page):
    """What the canvas shows, once it has drawn."""
    return page.evaluate(PICTURE)


def rules(page):
    return page.evaluate("[...document.querySelectorAll('.clock_marks line')].map(x => x.getAttribute('transform'))")


def test_the_slider_moves_the_bodies_and_the_rule_of_every_figure_over_time(reader, path):
    page = reader.open(path)
    assert page.locator("#motion canvas").is_visible()
    assert not page.locator("#motion .stills").is_visible()
    before, places = picture(page), rules(page)
    assert len(places) == page.locator(".clock_marks").count() >= 5
    slider = page.locator("#motion").get_by_role("slider", name="time")
    slider.focus()
    page.keyboard.press("End")
    assert picture(page) != before
    assert "Time 0.100 s. Distance from the reference: " in page.locator("#motion .words").inner_text()
    assert not set(rules(page)) & set(places)
    assert {re.match(r"translate\((\d+)", x).group(1) for x in rules(page)} == {"760"}
    page.keyboard.press("Home")
    assert page.evaluate("clock.time") == 0
    assert set(rules(page)) == {"translate(0,0)"}


def test_the_words_tell_the_distance_of_the_chosen_formulations(reader, path, compared):
    page = reader.open(path)
    page.locator("#motion").get_by_role("checkbox", name="frictionless").check()
    page.evaluate("clock.set(0.1)")
    reference, *_ = tracks = drawn_tracks(compared)
    far = 1e3 * np.linalg.norm(
        next(x for x in tracks if x.label == "frictionless").position[-1] - reference.position[-1]
    )
    found = re.search(r"frictionless ([\d.]+)\smm", page.locator("#motion .words").inner_text())
    assert float(found.group(1)) == pytest.approx(far, rel=0.05)
    # The picture says the same of those whose line is long enough to be seen.
    picture(page)
    told = page.locator("#motion .numbers span").all_inner_texts()
    assert [x.split()[0] for x in told] == ["ccp"]
    assert told[0] in page.locator("#motion .words").inner_text()
    page.evaluate("clock.set(0)")
    picture(page)
    assert page.locator("#motion .numbers span").count() == 0


def test_bodies_fill_the_picture_however_flat_they_are(reader, compared, tmp_path):
    """A slab of 2 m at rest: what it covers is where the picture changes without it, and that is within and wide."""
    first, *runs = compared.motion.tracks
    still = replace(
        first, position=np.tile([0.0, 0.0, 0.05], (*first.position.shape[:2], 1)),
        orientation=np.tile([1.0, 0.0, 0.0, 0.0], (*first.position.shape[:2], 1)),
        point=0.0 * first.point, force=0.0 * first.force, slip=0.0 * first.slip,
    )  # fmt: skip
    motion = replace(compared.motion, bodies=[cuboid("slab", (1.0, 0.15, 0.05))], tracks=(still, *runs))
    path = tmp_path / "slab.html"
    path.write_text(render(replace(compared, motion=motion), {}), "utf-8")
    page = reader.open(path)
    for box in page.locator("#motion fieldset input[name=track]").all()[1:]:
        box.uncheck()
    follows = page.locator("#motion").get_by_role("checkbox", name="camera follows")
    for on in (True, False):
        follows.set_checked(on)
        page.evaluate(f"window.before = {READ}")
        page.locator("#motion fieldset input[name=track]").first.uncheck()
        left, right, top, bottom = page.evaluate(f"{COVERED}(window.before, {READ})")
        page.locator("#motion fieldset input[name=track]").first.check()
        assert 0.02 < left < right < 0.98
        assert 0.02 < top < bottom < 0.98
        assert right - left > 0.5


def test_labels_of_contacts_at_one_place_lie_beside_each_other(reader, compared, tmp_path):
    tracks = [
        replace(x, mu=np.repeat(x.mu, 6), **{
            name: np.repeat(getattr(x, name), 6, axis=1) for name in ("point", "axes", "force", "slip")
        })
        for x in compared.motion.tracks
    ]  # fmt: skip
    path = tmp_path / "labels.html"
    path.write_text(render(replace(compared, motion=replace(compared.motion, tracks=tuple(tracks))), {}), "utf-8")
    page = reader.open(path)
    picture(page)
    labels = page.locator("#motion .numbers span")
    assert set(labels.all_inner_texts()) >= set("012345")
    boxes = [x.bounding_box() for x in labels.all()]
    for a, b in combinations(boxes, 2):
        across, down = (
            min(a[x] + a[size], b[x] + b[size]) - max(a[x], b[x]) for x, size in (("x", "width"), ("y", "height"))
        )
        assert across <= 0 or down <= 0, (a, b)


def test_keys_turn_the_view_and_play(reader, path):
    page = reader.open(path)
    page.locator("#motion canvas").focus()
    first = picture(page)
    for key in ("ArrowLeft", "ArrowUp", "+"):
        before = picture(page)
        page.keyboard.press(key)
        assert picture(page) != before, key
    page.keyboard.press("Home")
    assert picture(page) == first
    page.evaluate("clock.set(0.095)")
    page.keyboard.press(" ")
    page.get_by_role("button", name="Play").wait_for()
    assert page.evaluate("clock.time") == 0.1
    # Once more from the beginning.
    page.keyboard.press(" ")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.keyboard.press(" ")
    assert page.evaluate("clock.time") < 0.05


def test_formulations_are_chosen_by_name_and_stand_side_by_side(reader, path):
    page = reader.open(path, width=360, dark=True)
    before = picture(page)
    page.locator("#motion").get_by_role("checkbox", name="ccp").check()
    page.locator("#motion").get_by_role("checkbox", name="reference").check()
    page.locator("#motion").get_by_role("checkbox", name="side by side").check()
    assert picture(page) != before
    names = page.locator("#motion .cells span").all_inner_texts()
    assert names[0] == "reference"
    assert "ccp" in names
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for box in page.locator("#motion fieldset input[name=track]").all():
        box.uncheck()
    assert picture(page) != before


def test_a_hand_turns_the_view_and_comes_nearer(reader, path):
    page = reader.open(path)
    page.locator("#motion canvas").scroll_into_view_if_needed()
    box = page.locator("#motion canvas").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    pictures = [picture(page)]
    # Whoever scrolls by does not change the picture; a click makes it the one that is worked on.
    page.mouse.wheel(0, 1)
    assert picture(page) == pictures[0]
    page.mouse.down()
    for x, y in ((100, 0), (100, -20)):
        page.mouse.move(box["x"] + 300 + x, box["y"] + 200 + y)
        pictures.append(picture(page))
    page.mouse.up()
    page.mouse.move(box["x"] + 350, box["y"] + 150)
    assert picture(page) == pictures[-1]
    page.mouse.wheel(0, -100)
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    pictures.append(picture(page))
    assert len(set(pictures)) == 4


def test_without_webgl_and_on_paper_there_are_still_pictures(reader, path):
    page = reader.open(path, script=NO_WEBGL)
    strip = page.locator("#motion .stills")
    assert strip.is_visible()
    assert not page.locator("#motion canvas").is_visible()
    assert strip.locator("svg").count() == 6
    assert "The motion of wheel over 0.1 s: reference in solid grey" in strip.get_attribute("aria-label")
    moving = reader.open(path)
    moving.emulate_media(media="print")
    assert moving.locator("#motion .stills").is_visible()
    assert not moving.locator("#motion canvas").is_visible()
