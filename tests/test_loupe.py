"""The step under the loupe: numbers and words of a moment, the picture, and the script that goes to other moments."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.reports.figures.comparison import undetermined
from workbench.builtin.reports.pages.loupe import loupe
from workbench.builtin.reports.text.headline import extremes
from workbench.builtin.reports.text.loupe import (
    STATES,
    VALUES,
    StepContact,
    cells,
    faults,
    grouped,
    in_words,
    lead,
    number,
)
from workbench.comparison.measured_problem import ProblemStep
from workbench.problems.friction_problem import FrictionProblem

pytestmark = pytest.mark.thorough


def moment(
    state=1, p_n=2.0, p_t=(-1.0, 0.0), slack=0.0, u_t=(3.0, 0.0), mu=0.5, gap=0.0, least=(1e-9, 1e-6), determined=True
):  # fmt: skip
    return StepContact(state, p_n, *p_t, slack, *u_t, mu, 0.0, 1.0, gap, *least, determined)


EXACT = moment()


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (EXACT, []),
        (moment(p_t=(-1.41, 0)), ["friction is 41 % above μ pₙ"]),
        (moment(p_t=(-20, 0)), ["friction is 20 times μ pₙ"]),
        (moment(p_t=(-0.7, 0)), ["friction is 70 % of μ pₙ"]),
        (moment(p_t=(0, 0)), ["slides without friction"]),
        (moment(p_t=(-np.cos(0.2), np.sin(0.2))), ["friction deviates by 11° from the direction opposite to sliding"]),
        (moment(slack=1.5), ["presses while separating, u_n + φ/h = 1.5 m/s"]),
        (moment(slack=131, gap=0.131), ["presses while separating, u_n + φ/h = 131 m/s at a gap of 131 mm"]),
        (moment(slack=1.5, gap=np.nan), ["presses while separating, u_n = 1.5"]),
        (moment(slack=-0.25), ["violates the normal law, u_n + φ/h = -0.25 m/s"]),
        (moment(p_n=0, p_t=(0.1, 0)), ["has friction without a normal force"]),
        (moment(p_n=0, p_t=(0, 0)), []),
        (moment(state=2, u_t=(0, 0)), ["sticks where the reference slides"]),
        (moment(state=0, p_n=0, p_t=(0, 0), slack=1.0), ["is open where the reference slides"]),
        (StepContact(*np.full(len(VALUES), np.nan)), ["has no answer"]),
    ],
)
def test_a_contact_is_reported_what_it_does_otherwise_than_coulombs_law(x, words):
    assert [text for _, text in faults(x, EXACT)] == words


def test_pairs_that_are_broken_are_marked():
    shown = cells(moment(p_t=(-1.41, 0)), EXACT, 0.01)
    assert shown[0] == ("slides", False)
    assert shown[1:4] == [("0", False), ("200", False), ("0", False)]
    assert shown[4:] == [("-41", True), ("3", True), ("1.41", True), ("0", False)]
    assert [broken for _, broken in cells(moment(slack=1.0), EXACT, 1.0)] == [False, False, True, True, *[False] * 4]
    assert np.isnan(moment(p_n=0).share)
    assert moment(p_t=(0.0, 1.0)).angle == pytest.approx(90.0)
    assert cells(moment(slack=131.0, gap=0.131), EXACT, 1.0)[1] == ("131", False)


@pytest.mark.parametrize(
    "x",
    [
        moment(slack=1e-17, u_t=(0, 0), state=2), moment(slack=9e-7, u_t=(0, 0), state=2),
        moment(slack=-9e-7, u_t=(0, 0), state=2), moment(p_n=5e-9, p_t=(1e-9, 0)), moment(p_t=(-1.41e-8, 0), p_n=2e-8),
    ],
)  # fmt: skip
def test_what_the_tolerance_of_the_run_leaves_open_is_no_fault(x):
    """Neither rounding nor impulses as small as a verified step may be off by; what counts as none is shown as 0."""
    assert faults(x, x) == []
    assert not any(broken for _, broken in cells(x, x, 1.0))
    assert cells(x, x, 1.0)[3][0] == "0"


def test_friction_that_the_motion_does_not_determine_gets_no_verdict():
    for x, exact in ((moment(determined=False), EXACT), (EXACT, moment(determined=False))):
        beyond = moment(p_t=(1.41, 3.0), determined=x.determined)
        assert in_words(beyond, exact) == "the motion does not determine its friction"
        assert [text for text, _ in cells(beyond, exact, 1.0)][4::2] == ["n/u", "n/u"]
        assert not any(broken for _, broken in cells(beyond, exact, 1.0))
    # What is about the motion stays.
    sticks = moment(state=2, u_t=(0, 0), determined=False)
    assert faults(sticks, EXACT) == [("", "sticks where the reference slides")]


def test_what_is_alike_is_said_once():
    beyond = moment(p_t=(-1.41, 0))
    assert grouped(["a", "b", "c"], [beyond, EXACT, beyond], EXACT) == [
        ("a, c", "friction is 41 % above μ pₙ"), ("b", "Coulomb's law holds"),
    ]  # fmt: skip
    assert lead("0.50 s", 3, EXACT, 0.01) == (
        "At 0.50 s, contact 3 slides at 3 m/s under Coulomb's law, with a normal force of 200 N."
    )


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0"), (1.2345, "1.23"), (-0.00123456, "-0.00123"), (1e-5, "1.0e-5"), (2e5, "2.0e+5"), (81234.0, "81200"),
        (np.inf, "–"),
    ],
)  # fmt: skip
def test_numbers_are_short(x, text):
    assert number(x) == text


@pytest.fixture(scope="module")
def compared():
    names = ["box", "box:axes=sliding", "stewart-trinkle", "phantom-inertia", "frictionless", "ccp", "coulomb"]
    return wb.compare("wheel", names, duration=0.02, metrics=["velocity-error"])


@pytest.fixture(scope="module")
def page(compared, tmp_path_factory):
    return compared.page(tmp_path_factory.mktemp("loupe") / "wheel.html")


def held(shown):
    data = json.loads(shown["data"])
    shape = len(data["labels"]), len(data["t"]), len(data["contacts"]), len(VALUES)
    return data, np.frombuffer(base64.b64decode(data["values"]), dtype=np.float32).reshape(shape)


def test_the_page_holds_what_the_runs_did(compared):
    data, values = held(loupe(compared.comparison))
    rows = compared.trajectories
    box = rows[(rows["label"] == "box") & (rows["role"] == "run")]
    own = values[data["labels"].index("box"), :, 0]
    assert data["t"] == pytest.approx(box["t"].to_list())
    names = ["p_n", "p_t1", "p_t2", "u_n", "u_t1", "u_t2", "mu"]
    assert [STATES[int(x)] for x in own[:, 0]] == list(box["mode"].map({"sliding": "slides", "sticking": "sticks"}))
    assert own[:, 1:8] == pytest.approx(box[names].to_numpy(), rel=1e-6)
    reference = rows[rows["role"] == "reference"]
    near = np.abs(reference["t"].to_numpy()[:, None] - data["t"]).argmin(axis=0)
    assert values[0, :, 0, 1:8] == pytest.approx(reference[names].to_numpy()[near], rel=1e-6)
    turned = values[data["labels"].index("box:axes=sliding"), 1:, 0, 8]
    before = rows[(rows["label"] == "box:axes=sliding")][["u_t1", "u_t2"]].to_numpy()[:-1]
    assert turned == pytest.approx(np.arctan2(before[:, 1], before[:, 0]), rel=1e-6)
    assert not own[:, 8].any()


CELLS = """() => [...document.querySelectorAll('#loupe .pairs tbody tr')].map(row =>
    [...row.cells].slice(1).map(x => [x.textContent, x.classList.contains('no')]))"""
PLACES = """() => [...document.querySelectorAll('#loupe svg [data-run]')].map(run => [
    run.getAttribute('display'), run.querySelector('.point:not([display=none])')?.getAttribute('d') ?? null,
    ...[run.querySelector('.point'), run.querySelector('.slip'), run.querySelector('.stick')].map(x =>
        x && x.getAttribute('display') !== 'none' ? x.transform.baseVal.consolidate()?.matrix : null),
    run.querySelector('line').getAttribute('x2'),
].map(m => m instanceof SVGMatrix ? [m.a, m.b, m.c, m.d, m.e, m.f] : m))"""


def said(page):
    return [page.locator(".lead-words").text_content(), *page.locator("#loupe .words li").all_text_contents()]


def alike(a, b):
    """Whether two answers of PLACES are the same but for rounding."""
    numbers = [np.array(re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", json.dumps(x)), dtype=float) for x in (a, b)]
    return numbers[0] == pytest.approx(numbers[1], abs=0.11)


@pytest.fixture
def without(chromium, page, tmp_path):
    """The page as it is where no script runs."""
    path = tmp_path / "still.html"
    path.write_text(re.sub(r"<script>.*?</script>", "", page.read_text("utf-8"), flags=re.S), "utf-8")
    context = chromium.new_context()
    shown = context.new_page()
    shown.goto(path.as_uri())
    yield shown
    context.close()


def test_the_script_says_and_draws_what_the_page_says_without_it(reader, page, without):
    shown = reader.open(page)
    assert said(shown) == said(without)
    assert shown.evaluate(CELLS) == without.evaluate(CELLS)
    assert alike(shown.evaluate(PLACES), without.evaluate(PLACES))
    assert without.locator(".controls").is_hidden()
    assert shown.locator(".controls").is_visible()


def test_other_moments_are_chosen_by_keyboard_and_by_the_clock(reader, page, compared):
    shown = reader.open(page)
    data, values = held(loupe(compared.comparison))
    times = []
    shown.evaluate("clock.listen(t => { window.heard = t; })")
    shown.locator("#loupe [name=time]").focus()
    for key in ("End", "Home", "ArrowRight"):
        shown.keyboard.press(key)
        times.append(shown.evaluate("heard"))
    assert times == pytest.approx([data["t"][-1], *data["t"][:2]])
    shown.evaluate(f"clock.set({data['t'][7]} + 1e-4)")
    assert shown.locator("#loupe [name=time]").input_value() == "7"
    box = data["labels"].index("box")
    exact, own = (StepContact(*values[run, 7, 0].astype(float)) for run in (0, box))
    wanted = [[text, bool(broken)] for text, broken in cells(own, exact, data["h"][box])]
    assert shown.evaluate(CELLS)[box] == wanted
    assert said(shown)[0].startswith(f"At {data['t'][7]:.3f} s, contact 0")
    shown.locator("#loupe").get_by_role("checkbox", name="box with turned axes").check()
    places, turned = shown.evaluate(PLACES), data["labels"].index("box:axes=sliding")
    cos, sin = places[turned][4][:2]
    assert np.arctan2(sin, cos) == pytest.approx(-values[turned, 7, 0, 8], rel=1e-4)
    speeds = np.linalg.norm(values[:, 7, 0, 5:7], axis=-1)
    on = [j for j, place in enumerate(places) if place[0] is None]
    drawn = [float(places[j][5]) for j in on]
    assert drawn == pytest.approx(list(84.0 * np.minimum(speeds[on] / speeds[0], 1.8)), rel=1e-4)


def test_formulations_and_the_unit_are_chosen(reader, page, compared):
    shown = reader.open(page)
    data, values = held(loupe(compared.comparison))
    turned = shown.locator("#loupe").get_by_role("checkbox", name="box with turned axes")
    group = shown.locator(f"#loupe svg [data-run='{data['labels'].index('box:axes=sliding')}']")
    assert not turned.is_checked()
    assert group.get_attribute("display") == "none"
    turned.check()
    assert group.get_attribute("display") is None
    assert any("box with turned axes" in words for words in said(shown))
    shown.locator("#loupe [name=unit]").select_option("in newtons")
    k, i = data["at"]
    radius = values[0, k, i, 7] * values[0, k, i, 1] / data["h"][0]
    assert shown.locator("#loupe .scale").text_content() == f"The circle's radius is {number(float(radius))} N."
    # In newtons the reference's own disc is the circle, so that its cross stays where it is.
    cross = shown.evaluate(PLACES)[0][2]
    share_of = values[0, k, i, 2:4] / (values[0, k, i, 7] * values[0, k, i, 1])
    assert cross[4:] == pytest.approx([105 * share_of[0], -105 * share_of[1]], abs=0.01)


@pytest.mark.parametrize(
    "case", ["wheel", "cube", "block", "sphere", "drawer", "gripper", "particle", "rod", "v-groove"]
)
def test_exact_coulomb_friction_never_breaks_its_own_law(case):
    """At any moment of the page, at any contact, and whatever it is held against has the same answer."""
    compared = wb.compare(case, ["coulomb"], metrics=["velocity-error"]).comparison
    assert compared.runs["verified"].all()
    _, values = held(loupe(compared))
    contacts = [StepContact(*x) for x in values[1].reshape(-1, len(VALUES)).astype(float)]
    answered = [x for x in contacts if not np.isnan(x.state)]
    assert len(answered) > 0.9 * len(contacts)
    assert {words for x in answered for _, words in faults(x, x)} == set()
    assert any(x.p_n > x.least_p for x in answered)


def test_friction_that_the_velocity_does_not_determine_is_not_drawn_on_the_first_screen():
    """Twice the same contact: how much of its friction each of the two bears is open."""
    J = np.random.default_rng(0).normal(size=(6, 6))
    W, q, mu = J @ J.T, J @ np.ones(6), np.array([0.3, 0.5])
    once = FrictionProblem(W, q, mu, 2)
    twice = FrictionProblem(np.tile(W, (2, 2)), np.tile(q, 2), np.tile(mu, 2), 2)
    shown = [loupe(wb.compare(p, ["box", "ccp", "coulomb"]).comparison) for p in (once, twice)]
    assert [len(x["few"]) for x in shown] == [2, 0]


@pytest.mark.parametrize("seed", range(4))
def test_the_judge_the_frames_and_the_loupe_mean_the_same_by_open_sliding_and_sticking(seed):
    """Counts, other modes and states, over contacts of which many open, slide or stick, under all formulations."""
    rng, r = np.random.default_rng(seed), 12
    J = rng.normal(size=(3 * r, 3 * r + 2))
    problem = FrictionProblem(J @ J.T, rng.normal(size=3 * r), rng.uniform(0.2, 1.0, r), 2)
    compared = wb.compare(problem, ["box", "ccp", "stewart-trinkle", "discrete-velocity"]).comparison
    shown = loupe(compared)
    data, values = held(shown)
    # The first screen shows exact friction and the two formulations that the motion would show, in the same words.
    few = [label for label, *_ in shown["few"]]
    assert few == list(extremes(compared))
    assert shown["first"].count("data-run=") == 1 + len(few)
    assert all(
        any(label in some and told == words for some, told in shown["words"]) for label, _, _, words in shown["few"]
    )
    firsts, rows = compared.runs.drop_duplicates("label").set_index("label"), compared.trajectories
    words = {"open": "open", "slides": "sliding", "sticks": "sticking"}
    assert len(np.unique(values[..., 0])) == 3
    for run, modes in ((run, [text for text, _ in x["modes"]]) for run, x in enumerate(shown["runs"])):
        states = [STATES[int(x)] for x in values[run, 0, :, 0]]
        assert modes == states
        if run:
            label = data["labels"][run]
            own = rows[(rows["label"] == label) & (rows["solver"] == firsts["solver"][label])]
            assert list(own["mode"]) == [words[x] for x in states]
            counts = [states.count(x) for x in words]
            assert counts == list(firsts.loc[label, ["open", "sliding", "sticking"]])
            assert sum(other for _, other in shown["runs"][run]["modes"]) == firsts["other_mode"][label]
            # What presses is not open, and what neither presses nor leaves is not either.
            for x in (StepContact(*y) for y in values[run, 0].astype(float)):
                assert (x.state == 0) == (x.p_n <= x.least_p and x.slack > x.least_u)
        else:
            assert [states.count(x) for x in words] == [compared.known[x] for x in words.values()]


def test_all_parts_of_the_page_open_at_one_moment_and_step_together(reader, page, compared):
    shown = reader.open(page)
    data, _ = held(loupe(compared.comparison))

    def times():
        motion, own = shown.locator("#motion .words").text_content(), shown.locator("#loupe output").text_content()
        return motion.split("Time ")[1].split(". ")[0].rstrip("."), own, shown.evaluate("clock.time")

    motion, own, clock = times()
    assert motion == own
    assert clock == pytest.approx(data["t"][data["at"][0]])
    for key in ("Home", "ArrowRight", "End"):
        shown.locator("#motion [name=time]").focus()
        shown.keyboard.press("ArrowRight")
        motion, own, clock = times()
        assert motion == own
        shown.locator("#loupe [name=time]").focus()
        shown.keyboard.press(key)
        motion, own, clock = times()
        assert motion == own == f"{clock:.3f} s"


def test_it_fits_a_telephone_in_the_dark(reader, page):
    shown = reader.open(page, width=360, dark=True)
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_file_and_the_plane_are_put_under_the_loupe_too(reader, tmp_path):
    rng = np.random.default_rng(3)
    J = rng.normal(size=(9, 6))
    problem = FrictionProblem(J @ J.T, np.concatenate([-np.ones(3), rng.normal(size=6)]), np.full(3, 0.4), 2)
    of_file = wb.compare(problem, ["box", "ccp"], metrics=["velocity-error"])
    shown = reader.open(of_file.page(tmp_path / "file.html"))
    shown.locator("#loupe [name=contact]").select_option("1")
    assert said(shown)[0].startswith("Contact 1 ")
    assert shown.locator("#loupe [name=time]").count() == 0
    plane = wb.compare("rod", ["box"], duration=0.01, metrics=["velocity-error"])
    shown = reader.open(plane.page(tmp_path / "plane.html"))
    assert shown.locator("#loupe svg[role=img] .stick").count() == 0
    assert shown.locator("#loupe svg[role=img] .point").count() == 2


def test_many_contacts_leave_out_moments_and_the_least_loaded(compared, monkeypatch):
    monkeypatch.setattr("workbench.builtin.reports.pages.loupe.NUMBERS", len(VALUES) * 8 * 5)
    data, values = held(loupe(compared.comparison))
    assert len(data["t"]) == 5
    assert values.size <= len(VALUES) * 8 * 5
    assert data["t"][0] == pytest.approx(1e-3)
    assert data["t"][-1] == pytest.approx(0.02)


def test_a_run_that_blows_up_has_no_numbers_from_there_on(compared):
    """Beyond single precision, that is, which pages hold numbers in."""
    rows = compared.trajectories.copy()
    rows.loc[(rows["label"] == "box") & (rows["t"] > 0.0105), ["p_n", "p_t1"]] = 1e60
    data, values = held(loupe(replace(compared.comparison, trajectories=rows)))
    late = np.array(data["t"]) > 0.0105
    np.testing.assert_array_equal(np.isnan(values[data["labels"].index("box"), :, 0, 1:3]).all(axis=1), late)
    assert not np.isinf(values).any()


def test_captions_tell_of_friction_that_the_motion_leaves_open(compared):
    curves = compared.trajectories[compared.trajectories["role"] == "run"]
    assert undetermined(curves) == ""
    half = curves.assign(determined=np.arange(len(curves)) % 2 == 0, mode="sliding")
    assert undetermined(half).startswith("At 50 % of the closed-contact samples")
    assert undetermined(half.assign(mode="open")) == ""


def test_what_touches_without_pressing_and_what_presses_while_it_leaves_is_not_open():
    """Four contacts: one leaves, one touches, one presses and leaves, one presses and rests."""
    q = np.array([1.0, 0.0, 0.5, -1.0, *[2.0, 0.0] * 3, 0.0, 0.0])
    p = np.array([0.0, 0.0, 1.0, 1.0, *[0.0] * 8])
    step = ProblemStep(FrictionProblem(np.eye(12), q, np.full(4, 0.5), 2), p, 1e-9, np.full(4, 1e-6))
    assert step.modes == ("open", "sliding", "sliding", "sticking")
