"""Derivatives of motions against closed forms, difference quotients of whole runs, and the motion itself."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import workbench as wb
from cases import CASES
from formulations import FORMULATIONS
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.pushed_box import PushedBox
from workbench.builtin.formulations.box import bounded
from workbench.builtin.formulations.box import given as given_bounds
from workbench.builtin.reports.text.sensitivity import sampled_in_words
from workbench.cli.main import main
from workbench.derivatives import sweep, taped
from workbench.derivatives.motion import (
    Motion,
    gradient_of,
    motion_derivatives,
    tangents_of,
)  # fmt: skip
from workbench.derivatives.one_step import carried
from workbench.derivatives.parameters import CaseParameter, moved
from workbench.engine.compiling import kernel
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN
from workbench.language.modelling import Declaration
from workbench.mechanics.case import Case, quantity
from workbench.mechanics.core import ADVANCE, AXES
from workbench.mechanics.relaxation import Relaxation
from workbench.step.simulation import simulate
from workbench.support.errors import DataError, UnknownNameError, WorkbenchError
from workbench.verbs.find import find_case, find_formulation

STEPS, SMALL = 60, 1e-2
"""Steps of a motion; a derivative [m/s, m] below which rounding of redundant contacts' impulses shows."""
SLIDING = ["coulomb", "ccp", "hybrid", "phantom-inertia", "box", "box:bounds=iterated", "staggered", "stewart-trinkle",
           "anitescu-potra", "mujoco", "sap"]  # fmt: skip


def end_of(case, formulation, steps, h=1e-3):
    from workbench.language.assemble.find import compiled

    run = simulate(case, formulation, default_solver(compiled(formulation, *case.size).kind), h, steps * h)
    return np.concatenate([run.states_q[-1], run.states_v[-1]])


def quotient(case, formulation, name, steps, share=1e-5):
    """Of order four, by whole runs whose parameter is moved by a share of it."""
    at, unit = moved(case, name)
    shift = share * unit
    ends = [end_of(at(k * shift), formulation, steps) for k in (1, -1, 2, -2)]
    return (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * shift)


def everything(case):
    q, v = case.start()
    return [f"q[{i}]" for i in range(len(q))] + [f"v[{i}]" for i in range(len(v))]


def assert_agrees(case, formulation, name, steps):
    found = motion_derivatives(case, formulation, everything(case), [name], 1e-3, steps * 1e-3)[1][name]
    assert found.reason == ""
    expected = quotient(case, formulation, name, steps)
    np.testing.assert_allclose(found.derivative, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)
    return found


@pytest.mark.share(3)
@pytest.mark.parametrize("label", SLIDING)
@pytest.mark.parametrize("name", ["mu", "gravity"])
def test_sliding_in_space_under_every_law(label, name):
    """A block pushed aslant through turning axes, lagged bounds and fixed points; sliding all the way."""
    case = find_case("block")
    found = assert_agrees(case, find_formulation(label), name, 20)
    assert found.kinks == ()


@pytest.mark.thorough
@pytest.mark.parametrize("label", ["coulomb", "ccp", "hybrid", "phantom-inertia", "stewart-trinkle"])
@pytest.mark.parametrize(("case", "name"), [("wheel", "mu"), ("wheel", "yaw_rate"), ("rod", "mu"), ("sphere", "speed")])
def test_motions_of_bodies(label, case, name):
    assert_agrees(find_case(case), find_formulation(label), name, STEPS)


@dataclass(frozen=True)
class OnBristles(Block):
    """A block whose friction is a spring, which has stored the last step's force, until it slides."""

    stiffness: float = quantity(1e4, "N/m", "stiffness of the bristles", "positive")

    @property
    def relaxation(self):
        return Relaxation(k_t=self.stiffness, b_t=1.0)


@pytest.mark.parametrize("speed", [3.0, 0.01])
@pytest.mark.parametrize("name", ["gravity", "speed", "stiffness"])
def test_the_force_of_bristles_goes_from_step_to_step(name, speed):
    """The formulation asks for no impulse of the last step, and relaxed rows do."""
    assert_agrees(OnBristles(speed=speed), find_formulation("coulomb"), name, 20)


def test_a_sliding_block_by_the_closed_form():
    """v = v0 - mu g t while it slides, exactly so by these steps; d/dmu is -g t, and d/dv0 is 1."""
    case = find_case("block", direction=0.0, mu=0.3, speed=3.0)
    values, found = motion_derivatives(case, find_formulation("coulomb"), ["v[0]", "x"], ["mu", "speed"], 1e-3, 0.1)
    assert values[0] == pytest.approx(3.0 - 0.3 * 9.81 * 0.1, abs=1e-9)
    np.testing.assert_allclose(found["mu"].derivative, [-0.981, -9.81 * 1e-6 * 100 * 101 / 2], rtol=1e-7)
    np.testing.assert_allclose(found["speed"].derivative, [1.0, 0.1], rtol=1e-7)


def test_what_sticks_does_not_move_and_who_sees_nothing_says_zero():
    """Along a fixed axis the box slides without the other direction: mu has no effect on it."""
    case = find_case("block", mu=0.3, speed=0.01)
    for label in ("coulomb", "stewart-trinkle", "box:bounds=coupled"):
        _, found = motion_derivatives(case, find_formulation(label), ["v[0]", "v[1]"], ["mu"], 1e-3, 0.05)
        assert found["mu"].reason == ""
        np.testing.assert_allclose(found["mu"].derivative, 0.0, atol=1e-9)


def test_a_step_between_two_modes_is_counted_and_has_the_derivative_ahead():
    """At mu = speed / (g h) one step's friction just stops it: with more friction nothing changes."""
    speed = 0.3 * 9.81 * 1e-3
    case = find_case("block", direction=0.0, mu=0.3, speed=speed)
    _, found = motion_derivatives(case, find_formulation("coulomb"), ["v[0]"], ["mu", "speed"], 1e-3, 1e-3)
    assert found["mu"].kinks == found["speed"].kinks == (0,)
    assert found["mu"].derivative[0] == pytest.approx(0.0, abs=1e-9)
    assert found["speed"].derivative[0] == pytest.approx(1.0, rel=1e-6)


def test_redundant_contacts_have_velocities_or_say_that_they_have_none():
    case = find_case("cube")
    for label in ("ccp", "stewart-trinkle"):
        _, found = motion_derivatives(case, find_formulation(label), ["v[0]"], ["gravity"], 1e-3, 3e-3)
        one = found["gravity"]
        assert np.isfinite(one.derivative[0]) or "step" in one.reason


def test_the_verb_holds_formulations_against_the_motion():
    found = wb.sensitivity("block", ["stewart-trinkle", "box"], of=["v[0]"], to=["mu"], duration=0.2)
    table = found.table.set_index("formulation")
    assert list(table.index) == ["event-driven motion", "coulomb", "stewart-trinkle", "box"]
    # It slides at 30 degrees; friction of a polygon's vertex is along the first axis, and has no cosine of that.
    assert abs(table.loc["coulomb", "error"]) < 1e-6
    own = table.drop(index="event-driven motion")
    assert (abs(own["derivative"] - own["quotient"]) <= 1e-6 * abs(own["quotient"])).all()
    assert table.loc["stewart-trinkle", "error"] == pytest.approx(1 / np.cos(np.pi / 6) - 1, rel=1e-5)
    words = " ".join(found.words)
    assert "Within 5 %: coulomb" in words
    assert "stewart-trinkle" not in words.split("Within 5 %:")[1].split(".")[0]


def test_derivatives_quotients_and_the_motion_end_with_the_same_step():
    """A duration of 15.6 steps is one of 15."""
    whole, more = (
        wb.sensitivity("block", ["coulomb", "ccp"], of="x", to="mu", duration=t).table for t in (0.015, 0.0156)
    )
    for name in ("value", "derivative", "quotient"):
        np.testing.assert_array_equal(whole[name], more[name])
    np.testing.assert_allclose(more["derivative"], more["quotient"], rtol=1e-8)


def test_samples_of_a_parameter_have_the_derivatives_of_their_own_runs():
    """A block slides by u = u0 - mu g t e under exact friction, along x under a polygon, at every mu."""
    found = wb.sensitivity("block", ["stewart-trinkle"], of="v[0]", to="mu", duration=0.01)
    samples, case = found.samples, wb.cases.find("block")()
    assert samples["at"].nunique() == 21
    assert (samples["at"].min(), samples["at"].max()) == pytest.approx((0.8 * case.mu, 1.2 * case.mu))
    c = np.cos(np.radians(case.direction))
    for label, cosine in [("event-driven motion", c), ("coulomb", c), ("stewart-trinkle", 1.0)]:
        own = samples[samples["formulation"] == label]
        np.testing.assert_allclose(own["value"], case.speed * c - own["at"] * case.gravity * 0.01 * cosine, rtol=1e-9)
        if label != "event-driven motion":
            np.testing.assert_allclose(own["derivative"], -case.gravity * 0.01 * cosine, rtol=1e-8)
    assert sampled_in_words(samples) == [
        "Of 21 values of mu from 0.24 to 0.36, every formulation has dv[0]/dmu at all of them, with the "
        "sign of the motion's slope."
    ]
    turned = samples.assign(derivative=np.where(samples["formulation"] == "coulomb", 1.0, samples["derivative"]))
    turned.loc[turned["formulation"] == "stewart-trinkle", "kinks"] = 1
    assert sampled_in_words(turned)[0].endswith(
        "coulomb has a derivative at 21, the wrong sign at 21; stewart-trinkle has a derivative at 0."
    )


def test_the_command(capsys, tmp_path):
    given = ["sensitivity", "block", "--of", "x", "--to", "mu", "--duration", "0.01", "-f", "box", "--quiet"]
    main([*given, "--json", "--out", str(tmp_path / "out")])
    data = json.loads(capsys.readouterr().out)
    assert [row["formulation"] for row in data["derivatives"]] == ["event-driven motion", "coulomb", "box"]
    assert (tmp_path / "out" / "derivatives.csv").exists()
    assert 'id="figure-objective-0"' in (tmp_path / "out" / "report.html").read_text("utf-8")
    main([*given, "--duration", "0.002"])
    assert "dx/dmu" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("block --of x --to friction", "unknown parameter 'friction' of block"),
        ("block --of w --to mu", "unknown output 'w'"),
        ("block --of x --to mu --set mu=-1", "mu = -1; a nonnegative number"),
        ("block --of x --to mu --step 0", "--step 0 is out of range"),
        ("nothing --of x --to mu", "unknown case 'nothing'"),
    ],
)
def test_what_the_command_cannot_be_asked_is_one_line(arguments, words, capsys):
    assert main(["sensitivity", *arguments.split(), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        # An output that is not determined, a run that fails, friction that begins, and no contact.
        ("table --of x --to width -f stewart-trinkle", "stewart-trinkle has no derivative by width: step "),
        ("table --of x --to mu -f staggered", "staggered has no derivative by mu: step 0 (t = 0 s): the state-"),
        ("block --of x --to mu --set mu=0 -f coulomb", "dx/dmu = -0.000127436 for exact Coulomb friction"),
        ("particle --of x --to mu -f ccp", "dx/dmu = 0 for the event-driven motion. All formulations agree."),
    ],
)
def test_what_has_no_derivative_or_a_plain_one_is_one_line(arguments, words, capsys):
    main(["sensitivity", *arguments.split(), "--duration", "0.005", "--quiet"])
    lines = " ".join(capsys.readouterr().out.split())
    assert words in lines


def test_tangents_of_rounding_errors_overflow_without_a_word(tmp_path, capsys):
    """Their reach has no bound: at some speeds the block's height under the CCP has a derivative of 1e-310."""
    words = ["sensitivity", "block", "-f", "ccp", "--of", "x", "--to", "speed", "--quiet", "--out", str(tmp_path)]
    assert main(words) == 0
    assert capsys.readouterr().err == ""


def test_a_derivative_within_rounding_is_zero():
    """A box that is pushed stays on the ground whatever its friction: the rest is rounding of its velocity."""
    found = wb.sensitivity("pushed-box", ["coulomb"], of="v[2]", to="mu", duration=3e-3)
    assert (found.table["derivative"] == 0.0).all()
    assert found.words[0].endswith("All formulations agree.")
    some = wb.sensitivity("table", ["staggered"], of="x", to="mu", duration=2e-3)
    assert some.words[0].endswith("The others agree.")


COMPILED = [
    ("block", "coulomb", {}), ("wheel", "mujoco", {}), ("rod", "sap", {}), ("sphere", "stewart-trinkle", {}),
    ("wheel", "box", {}), ("gripper", "ccp", {}), ("cube", "ccp", {}),
    ("wheel", "hybrid", {}), ("table", "coulomb", dict(angle=25.0, rate=0.0, mu_s=0.35)),
]  # fmt: skip
"""Turning axes, compliance by the depth, lagged bounds, joints, relaxed rows, memory beyond the last impulses, four
feet that slide."""


def parameters_of(case):
    found = [
        CaseParameter(case, name) for name in ("mu", "gravity", "speed", "height", "m", "angle") if hasattr(case, name)
    ]
    return [p for p in found if p.in_data_alone]


@pytest.mark.share(4)
@pytest.mark.parametrize(("name", "label", "data"), COMPILED)
def test_compiled_steps_are_those_taken_one_by_one(name, label, data):
    case = find_case(name, **data)
    motion, parameters = Motion(case, find_formulation(label), 1e-3, 0.03), parameters_of(case)
    assert motion.is_compiled
    fast = tangents_of(motion, parameters)
    assert fast.alone < motion.steps
    motion.is_compiled = False
    slow = tangents_of(motion, parameters)
    assert slow.alone == motion.steps
    assert slow.reasons == fast.reasons == ("",) * len(parameters)
    for j, p in enumerate(parameters):
        # What one parameter's share of the motion is, in the states' own sizes.
        a, b = (np.concatenate([t.q[:, j], t.v[:, j]], axis=1) * p.unit for t in (fast, slow))
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * max(np.abs(b).max(), 1e-3), err_msg=p.name)


MASS = Block.places("m")


@kernel(ADVANCE)
def advance_by_mass(q, v, h, data, q_next):
    """Two kilograms go twice as far as one."""
    for i in range(q.shape[0]):
        q_next[i] = q[i] + data[MASS] * h * v[i]


class Geared(Block):
    """A block whose coordinates advance by its mass, too."""

    advance = staticmethod(advance_by_mass)


@pytest.mark.parametrize(
    ("case", "label"),
    [("table", "stewart-trinkle"), ("drawer", "stewart-trinkle"), ("block", "coulomb"), ("block", "hybrid"),
     ("wheel", "hybrid"), ("gripper", "ccp"), ("rod", "sap"), (Geared(), "coulomb")],
)  # fmt: skip
def test_a_step_by_its_tape_is_that_by_differences(case, label):
    """Steps between modes and others: elimination, turning axes, joints, lagged bounds, compliance."""
    case = find_case(case) if isinstance(case, str) else case
    motion = Motion(case, find_formulation(label), 1e-3, 5e-3)
    turning = [CaseParameter(case, name) for name in ("direction", "yaw_rate") if hasattr(case, name)]
    parameters = [*parameters_of(case), *turning]
    tangents, sweeps = tangents_of(motion, parameters), motion.sweeps(len(parameters))
    modes, notes = (np.zeros((1, n), int) for n in (sweeps.machine.system.x.size, len(parameters)))
    for k in range(1, motion.steps):
        sweeps.ahead(k, k + 1, motion.record, tangents.inputs.copy(), modes, notes)
        data = sweeps.slopes(tangents.inputs[k])
        x = motion.solved(k, motion.state(k))
        for j, p in enumerate(parameters):
            t = p.direction(motion.tangent(tangents.inputs[k, j]))
            one, other = carried(motion.step, x, t, data[j]), carried(motion.step, x, t)
            assert one.is_kink == other.is_kink
            # Impulses that nothing asks for may not be unique.
            compared = 2 if motion.step.velocities_alone else 4
            for a, b in zip(one.state[:compared], other.state[:compared], strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * max(np.abs(b).max(), 1e-2), err_msg=p.name)


@pytest.mark.parametrize(("name", "label"), [("wheel", "hybrid"), ("cube", "ccp")])
def test_what_cannot_be_recorded_is_differentiated_by_differences(name, label, monkeypatch):
    """Steps are compiled all the same; in reverse there are none."""
    case = find_case(name)
    motion, parameters = Motion(case, find_formulation(label), 1e-3, 0.01), parameters_of(case)
    due = np.ones(motion.states_q.shape), np.ones(motion.states_v.shape)
    expected, (by, *_) = tangents_of(motion, parameters), gradient_of(motion, *due, parameters)

    def refuse(machine):
        raise TypeError("a table")

    monkeypatch.setattr(taped, "recorded", refuse)
    taped._tapes.cache_clear()
    found, (other, steps, *_) = tangents_of(motion, parameters), gradient_of(motion, *due, parameters)
    assert steps == 0
    assert found.alone <= taped.FAILURES
    for j, p in enumerate(parameters):
        a, b = (np.concatenate([t.q[:, j], t.v[:, j]], axis=1) * p.unit for t in (found, expected))
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-7 * max(np.abs(b).max(), 1e-3), err_msg=p.name)
    unit = np.array([p.unit for p in parameters])
    np.testing.assert_allclose(other * unit, by * unit, rtol=0, atol=1e-7 * np.abs(by * unit).max())


def test_a_wheel_that_falls_and_slides_has_a_tape_for_each():
    """Bounds are the last step's impulses, or the frictionless estimate where there was none."""
    motion = Motion(find_case("wheel", gap=5e-3), find_formulation("hybrid"), 1e-3, 0.1)
    taped._tapes.cache_clear()
    found = tangents_of(motion, parameters_of(motion.case))
    assert len(taped._tapes(taped.system_of(motion.sweeps().machine))) >= 3
    assert found.alone <= 1


def test_a_step_whose_conditions_hold_just_so_is_recorded_once():
    """The cube's corners share its load by gaps of 1e-12 m, by which the bounds of the first step are estimated."""
    motion = Motion(find_case("cube"), find_formulation("box"), 1e-3, 2e-3)
    taped._tapes.cache_clear()
    parameters = [CaseParameter(motion.case, "mu")]
    assert tangents_of(motion, parameters).alone == 0
    known = taped._tapes(taped.system_of(motion.sweeps().machine))
    count = len(known)
    assert tangents_of(motion, parameters).alone == 0
    assert len(known) == count


@pytest.mark.share(4)
@pytest.mark.parametrize(("name", "label", "data"), COMPILED[:-1])
def test_reverse_mode_is_the_transpose_of_forward_mode(name, label, data):
    """A function of all states, with any gradient by them."""
    case, rng = find_case(name, **data), np.random.default_rng(3)
    motion, parameters = Motion(case, find_formulation(label), 1e-3, 0.03), parameters_of(case)
    due = rng.normal(size=motion.states_q.shape), rng.normal(size=motion.states_v.shape)
    by, steps, *_ = gradient_of(motion, *due, parameters)
    assert steps > motion.steps // 3
    tangents = tangents_of(motion, parameters)
    expected = np.einsum("ki,kji->j", due[0], tangents.q) + np.einsum("ki,kji->j", due[1], tangents.v)
    scale = np.einsum("ki,kji->j", abs(due[0]), abs(tangents.q)) + np.einsum("ki,kji->j", abs(due[1]), abs(tangents.v))
    unit = np.array([p.unit for p in parameters])
    np.testing.assert_allclose(by * unit, expected * unit, rtol=0, atol=1e-6 * (scale * unit).max())


def test_four_feet_that_slide_have_the_derivative_of_one():
    """v = (g sin a - mu g cos a) t, however the feet share the load; no step is taken one by one."""
    case = find_case("table", angle=25.0, rate=0.0, mu_s=0.0)
    motion = Motion(case, find_formulation("coulomb"), 1e-3, 0.02)
    mu, gravity, height = (CaseParameter(case, name) for name in ("mu", "gravity", "height"))
    found = tangents_of(motion, [mu, gravity, height])
    a = np.radians(25.0)
    expected = [-9.81 * np.cos(a), np.sin(a) - 0.3 * np.cos(a), 0.0]
    np.testing.assert_allclose(found.v[-1, :, 0], 0.02 * np.array(expected), atol=1e-9)
    assert found.alone == 0


def test_the_gradient_of_an_output_in_reverse():
    names = ["mu", "speed", "gravity", "height", "direction", "q[0]", "v[1]"]
    for output in ("energy", "x", "v[1]"):
        found = wb.gradient("block", of=output, to=names, duration=0.1)
        values, forward = motion_derivatives(
            find_case("block"), find_formulation("coulomb"), [output], names, 1e-3, 0.1
        )
        assert found.value == values[0]
        expected = [forward[n].derivative[0] for n in names]
        assert [found.by[n] for n in names] == pytest.approx(expected, rel=1e-6, abs=1e-8)
        assert found.in_reverse == 100
        assert (found.kinks, found.jumps) == ({}, {})
    # Fixed points have no compiled steps: forward mode all the way.
    iterated = "box:bounds=iterated"
    found = wb.gradient("block", iterated, of="x", to="mu", duration=0.01)
    _, forward = motion_derivatives(find_case("block"), find_formulation(iterated), ["x"], ["mu"], 1e-3, 0.01)
    assert found.by["mu"] == pytest.approx(forward["mu"].derivative[0])
    assert found.in_reverse == 0
    with pytest.raises(DataError, match="no derivative by width: step "):
        wb.gradient("table", "stewart-trinkle", of="x", to=["mu", "width"], duration=0.01)


def test_a_gradient_tells_by_which_parameters_it_is_one_sided():
    """While the cube comes to rest, some steps have one-sided derivatives, and not the same by all parameters."""
    names, case = ["mu", "gravity", "v[5]"], find_case("cube")
    found = wb.gradient(case, of="x", to=names, duration=0.68)
    _, expected = motion_derivatives(case, find_formulation("coulomb"), ["x"], names, 1e-3, 0.68)
    assert 0 < len(found.kinks) <= len(names)
    for told, which in ((found.kinks, "kinks"), (found.jumps, "jumps")):
        assert told == {name: x for name in names if (x := getattr(expected[name], which))}


def way(q, v):
    """The squared distance from a point that moves, and an energy, over all states."""
    place = np.outer(np.linspace(0, 1, len(q)), np.arange(1, 1 + q.shape[1]))
    return float(((q - place) ** 2).sum() + 0.1 * (v**2).sum()), 2 * (q - place), 0.2 * v


@pytest.mark.parametrize(("case", "label"), [("block", "ccp"), ("wheel", "hybrid"), ("cube", "stewart-trinkle")])
def test_the_gradient_of_a_function_of_all_states_is_that_of_differences(case, label):
    """By parameters and velocities at the start, with runs of cases that begin there."""
    names, h, duration = ["mu", "v[0]", "v[2]"], 1e-3, 0.05
    found = wb.gradient(case, label, of=way, to=names, step=h, duration=duration)
    formulation, given = find_formulation(label), find_case(case)
    assert found.value == way(found.motion.states_q, found.motion.states_v)[0]
    for name in names:
        at, unit = moved(given, name)

        def of(s, at=at):
            motion = Motion(at(s), formulation, h, duration)
            return way(motion.states_q, motion.states_v)[0]

        s = 1e-4 * unit
        difference = (8 * (of(s) - of(-s)) - (of(2 * s) - of(-2 * s))) / (12 * s)
        assert found.by[name] == pytest.approx(difference, rel=1e-6)


def test_velocities_at_the_start_have_the_derivatives_of_the_closed_form():
    """A block slides v t - mu g t^2 / 2 along its velocity: dx/dv = t along it, t - mu g t^2 / (2 v) across."""
    t = 0.1
    block = wb.cases.find("block")().with_parameters(direction=0.0)
    table = wb.sensitivity(block, ["coulomb", "hybrid"], of="x", to="v[0]", duration=t).table
    np.testing.assert_allclose(table["derivative"], t, rtol=1e-9)
    np.testing.assert_allclose(table["quotient"], t, rtol=1e-7)
    sideways = wb.sensitivity(block, ["coulomb"], of="y", to="v[1]", duration=t).table.set_index("formulation")
    across = t - block.mu * block.gravity * t**2 / (2 * block.speed)
    assert sideways.loc["event-driven motion", "derivative"] == pytest.approx(across, rel=1e-8)
    assert abs(sideways.loc["coulomb", "error"]) < 0.01
    turned = wb.gradient(block, of="y", to="v[1]", duration=t)
    assert turned.by["v[1]"] == pytest.approx(sideways.loc["coulomb", "derivative"], rel=1e-6)


def test_what_a_gradient_cannot_be_asked_says_so():
    def wrong(q, v):
        return 1.0, q[:3], v

    for given, error, words in (
        (dict(of="x", to="q[0]"), UnknownNameError, r"unknown parameter .q\[0\]. of cube"),
        (dict(of="x", to="v[6]"), UnknownNameError, r"unknown parameter .v\[6\]. of cube"),
        (dict(of="w", to="mu"), UnknownNameError, "output"),
        (dict(of="x", to=[]), WorkbenchError, "to is empty"),
        (dict(of="x", to="mu", step=0.0), DataError, "step 0 s"),
        (dict(of=wrong, to="mu"), DataError, r"shapes \(3, 7\) and \(11, 6\); \(11, 7\) and \(11, 6\) are needed"),
        (dict(of=lambda q, v: 1.0, to="mu"), DataError, "no number with gradients"),
        (dict(of=lambda q, v: (np.nan, q, v), to="mu"), DataError, "value is nan; a finite one"),
        (dict(of=lambda q, v: (1.0, q, np.full(v.shape, np.inf)), to="mu"), DataError, "v, entry 0 at state 0, is inf"),
    ):
        with pytest.raises(error, match=words):
            wb.gradient("cube", "ccp", **(dict(duration=0.01) | given))


def test_what_cannot_be_asked_says_so():
    for given, error, words in (
        (dict(of="w", to="mu"), UnknownNameError, "output"),
        (dict(of="x", to="friction"), UnknownNameError, "unknown parameter .friction. of block"),
        (dict(of="x", to="mu", step=0.0), DataError, "step 0 s"),
        (dict(of="x", to="mu", duration=-1.0), DataError, "duration -1 s"),
        (dict(of="x", to="mu", formulations=[]), WorkbenchError, "no formulation"),
    ):
        with pytest.raises(error, match=words):
            wb.sensitivity("block", given.pop("formulations", ["coulomb"]), **given)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES.names)
def test_every_case_and_formulation_agree_with_runs_or_say_why_not(name):
    """Eight steps, by mu or gravity. Runs far apart may switch, the rounding of solvers shows in close ones."""
    case = find_case(name)
    parameter = "mu" if hasattr(case, "mu") else "gravity"
    agreed, reasons = 0, []
    for label in FORMULATIONS.names:
        formulation = find_formulation(label)
        try:
            found = motion_derivatives(case, formulation, everything(case), [parameter], 1e-3, 8e-3)[1][parameter]
        except DataError as error:
            # The motion itself has no answer: redundant rows that a formulation eliminates.
            reasons.append(str(error))
            continue
        if found.reason or found.kinks or found.jumps:
            reasons.append(found.reason)
            continue
        assert np.isfinite(found.derivative).all()
        off = []
        # Vertices of polygons at rest leave velocities of 1e-10 m/s, in which close runs differ.
        for share in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7):
            expected = quotient(case, formulation, parameter, 8, share)
            off.append(np.abs(found.derivative - expected).max() / max(np.abs(expected).max(), SMALL))
        # Ten sweeps leave their fixed point by that much on the woodpecker.
        assert min(off) < (2e-5 if label == "gauss-seidel" else 1e-5), (label, off)
        agreed += 1
    assert agreed >= len(FORMULATIONS.names) // 2, reasons


def test_a_case_in_plain_python_moves_with_its_parameters_in_forces_and_kinematics():
    """One direction on a plane, rates of the coordinate scaled by `gear`: x = gear (v0 t - mu g h^2 n (n + 1)/2)."""

    @dataclass(frozen=True)
    class Geared(Case):
        name: ClassVar[str] = "geared"
        size: ClassVar[tuple[int, int, int, int]] = (2, 0, 1, 1)
        duration: ClassVar[float] = 0.05
        mu: float = quantity(0.3, "1", "friction", "nonnegative")
        gear: float = quantity(2.0, "1", "metres a unit of velocity", "positive")

        def mechanics(self, q, v):
            return dict(M=np.eye(2), f=np.array([0.0, -9.81]), J_n=np.array([[0.0, 1.0]]), J_t=np.array([[1.0, 0.0]]),
                        phi=np.zeros(1), mu=np.array([self.mu]))  # fmt: skip

        def advance(self, q, v, h, data, q_next):
            q_next[:] = q + h * self.gear * v

        def start(self):
            return np.zeros(2), np.array([1.0, 0.0])

        def centre(self, q):
            return np.stack([q[..., 0], 0 * q[..., 0], q[..., 1]], axis=-1)

        def energy(self, q, v):
            return 0.5 * (v**2).sum(axis=-1)

        def truths(self, run):
            return []

    _, found = motion_derivatives(Geared(), find_formulation("coulomb"), ["x"], ["mu", "gear"], 1e-3)
    fallen = 9.81e-6 * 50 * 51 / 2
    assert found["mu"].derivative[0] == pytest.approx(-2.0 * fallen, rel=1e-6)
    assert found["gear"].derivative[0] == pytest.approx(0.05 - 0.3 * fallen, rel=1e-6)


def test_a_run_that_does_not_reach_its_end_tells_no_derivative():
    """The fixed point of staggered projections does not settle on the table's redundant feet."""
    found = wb.sensitivity("table", ["staggered"], of="v[0]", to="mu", duration=2e-3)
    row = found.table.set_index("formulation").loc["staggered"]
    assert "did not settle" in row["reason"]
    assert np.isnan([row["derivative"], row["quotient"], row["value"]]).all()


@pytest.mark.parametrize(
    ("case", "label", "name"),
    [
        ("wheel", "hybrid:bounds=iterated", "mu"),
        ("wheel", "hybrid:bounds=iterated", "gravity"),
        ("bouncing-ball", "anitescu-potra:restitution=poisson", "e"),
        ("block", "anitescu-potra:restitution=poisson", "mu"),
    ],
)
def test_what_passes_change_is_carried_through_them(case, label, name):
    """Viscosity of `hybrid` by iterated bounds, and impulses of compression, which bounces or rests."""
    assert_agrees(find_case(case), find_formulation(label), name, 300 if case == "bouncing-ball" else 20)


@kernel(AGAIN)
def again_beside_own(core, memory, own, numbers, v, p_n, p_t):
    """Iterate bounds, and shift a row of the core once."""
    changes = abs(own[0] - core.mu[0] * p_n[0]) > 1e-12 * own[0]
    for i in range(own.shape[0]):
        own[i] = core.mu[0] * p_n[0]
    if memory[-1] != v[0]:
        core.b_t[0] += 0.1
        memory[-1] = v[0]
    return changes


def test_data_that_passes_change_beside_their_own_have_no_derivative():
    @formulation("shifted", friction="bounds and a row that passes change", source="none")
    def shifted(s: ContactSymbols) -> Declaration:
        return bounded(s, given_bounds, "iterated", again_beside_own, (AXES["fixed"],), s.r * (1 + s.d) + 1)

    _, found = motion_derivatives(find_case("block"), shifted, ["v[1]"], ["mu"], 1e-3, 3e-3)
    assert np.isnan(found["mu"].derivative).all()
    assert "more than the data that it iterates" in found["mu"].reason


def test_modes_that_hold_by_little_are_compiled_with_the_verdict_of_single_steps():
    """The cube comes to rest, and two of its contacts reach the edge of their cones within 1e-10."""
    motion = Motion(find_case("cube"), find_formulation("ccp"), 1e-3, 1.0)
    parameters = parameters_of(motion.case)
    assert tangents_of(motion, parameters).alone == 0
    sweeps, least = motion.sweeps(1), np.inf
    room, modes = sweeps.room, np.zeros((1, sweeps.machine.system.x.size), dtype=int)
    for k in range(905, 920):
        none = np.zeros((k + 2, 1, room.n_w - motion.states_v.shape[1]))
        assert sweeps.ahead(k, k + 1, motion.record, none, modes, np.zeros((1, 1), dtype=int)) == k + 1
        s = motion.solved(k, motion.state(k)).sensitivity
        assert not s.system.between
        assert s.margin == pytest.approx(room.margin[0], rel=1e-3)
        Y, _ = sweep.linearise(sweeps.machine)
        condition = s.system.condition
        assert sweep.condition(sweeps.machine, Y, 0.0) == pytest.approx(condition, rel=1e-4)
        assert condition * (1 - 1e-4) <= sweep.condition(sweeps.machine, Y, 10 * condition) < 10 * condition
        least = min(least, s.margin)
    assert least < 1e-10


@pytest.mark.parametrize("label", ["coulomb", "ccp"])
def test_steps_of_bodies_at_rest_are_compiled_although_their_velocities_are_rounding(label):
    """Redundant contacts bear thousands of newtons, and leave velocities of 1e-17 m/s."""
    case = find_case("stacked-cubes")
    motion = Motion(case, find_formulation(label), 1e-3, 0.01)
    found = tangents_of(motion, [CaseParameter(case, name) for name in ("mu", "m")])
    assert found.alone == 0
    assert found.reasons == ("", "")
    assert np.abs(motion.states_v).max() < 1e-9
    assert np.abs(found.v).max() < 1e-9


@pytest.mark.share(10)
@pytest.mark.parametrize(
    ("label", "steps"),
    [("coulomb", (669, 683, 684, 690)), ("box", (0, 388, 392, 896, 970, 999))],
)
def test_steps_between_modes_are_compiled_with_the_kinks_and_jumps_of_single_steps(label, steps):
    """The cube comes to rest on four corners, of which some are on the edge of their cones or at their bounds, with no
    velocity, or one that the error of the solution hides; under box friction estimates hold just so, too."""
    motion = Motion(find_case("cube"), find_formulation(label), 1e-3, 1.0)
    parameters = parameters_of(motion.case)
    found, sweeps = tangents_of(motion, parameters), motion.sweeps(len(parameters))
    assert found.alone == 0
    assert found.reasons == ("",) * len(parameters)
    modes, notes = (np.zeros((1, n), int) for n in (sweeps.machine.system.x.size, len(parameters)))
    kinks = 0
    for k in steps:
        sweeps.ahead(k, k + 1, motion.record, found.inputs.copy(), modes, notes)
        data, x = sweeps.slopes(found.inputs[k]) or [None] * len(parameters), motion.solved(k, motion.state(k))
        for j, p in enumerate(parameters):
            one = carried(motion.step, x, p.direction(motion.tangent(found.inputs[k, j])), data[j])
            assert (k in found.kinks[j], k in found.jumps[j]) == (one.is_kink, one.is_rough), (k, p.name)
            kinks += one.is_kink
            # Off the tape, both are differences of data that amplify rounding.
            share, least = (1e-9, 1e-3) if data[j] is not None else (1e-6, 0.1)
            for a, b in zip((found.q, found.v), one.state[:2], strict=False):
                np.testing.assert_allclose(a[k + 1, j], b, rtol=0, atol=share * max(np.abs(b).max(), least))
    assert kinks > 3


@pytest.mark.parametrize("label", ["box", "hybrid"])
def test_reverse_mode_takes_steps_whose_conditions_hold_just_so(label):
    """The derivative is that on this side of them, as forward."""
    motion = Motion(find_case("cube"), find_formulation(label), 1e-3, 0.05)
    parameters, due = parameters_of(motion.case), (np.zeros(motion.states_q.shape), np.zeros(motion.states_v.shape))
    due[0][-1], due[1][-1] = 1.0, 1.0
    by, steps, *_ = gradient_of(motion, *due, parameters)
    assert steps == motion.steps
    tangents = tangents_of(motion, parameters)
    end = np.concatenate([tangents.q[-1], tangents.v[-1]], axis=1).sum(axis=1)
    unit = np.array([p.unit for p in parameters])
    np.testing.assert_allclose(by * unit, end * unit, rtol=0, atol=1e-8 * np.abs(end * unit).max())


def test_the_mobility_of_a_contact_whose_axes_turn_jumps_nowhere():
    """Two eigenvalues of W_tt come close while the wheel rolls over, and are told apart."""
    motion = Motion(find_case("wheel"), find_formulation("phantom-inertia"), 1e-3, 0.42)
    found = tangents_of(motion, [CaseParameter(motion.case, name) for name in ("mu", "speed")])
    assert found.jumps == found.kinks == ((), ())
    assert found.alone == 0


@pytest.mark.parametrize("label", ["stewart-trinkle", "anitescu-potra"])
def test_polygons_of_bodies_at_rest_are_compiled_wherever_a_vertex_puts_their_load(label):
    """Of eight corners any may bear nothing at a vertex, or friction up to its bound; the cubes stay where they are."""
    case = find_case("stacked-cubes")
    motion = Motion(case, find_formulation(label), 1e-3, 0.02)
    parameters = [CaseParameter(case, name) for name in ("mu", "m", "gravity")]
    sweeps, K, n_q = motion.sweeps(2), 2, motion.states_q.shape[1]
    assert tangents_of(motion, parameters).alone == 0
    # The lower cube moves along, and starts with a velocity.
    moving = np.zeros((motion.steps + 1, K, motion.n_s + case.data().size))
    moving[0, 0, 0] = moving[0, 1, n_q] = 1.0
    modes = np.zeros((motion.steps, sweeps.machine.system.x.size), dtype=int)
    assert sweeps.ahead(0, motion.steps, motion.record, moving, modes, np.zeros((motion.steps, K), int)) == motion.steps
    np.testing.assert_allclose(moving[1:, 0, :n_q], np.eye(n_q)[[0] * motion.steps], atol=1e-6)
    np.testing.assert_allclose(moving[1:, 1, : n_q + motion.states_v.shape[1]], 0.0, atol=1e-6)


def test_as_many_parameters_at_once_as_there_are_move_as_each_alone():
    """Tangents take eight columns at once, some of them unused; contacts are redundant, too."""
    case = find_case("cube")
    for label, duration in (("coulomb", 0.05), ("stewart-trinkle", 0.02)):
        motion = Motion(case, find_formulation(label), 1e-3, duration)
        every = [CaseParameter(case, name) for name in ("mu", "gravity", "m", "edge", "speed", "spin")] * 3
        alone = [tangents_of(motion, [p]).inputs[:, 0] for p in every[:6]]
        for K in (2, 7, 8, 9, 17):
            found = tangents_of(motion, every[:K]).inputs
            for j in range(K):
                size = np.abs(alone[j % 6]).max()
                np.testing.assert_allclose(found[:, j], alone[j % 6], rtol=0, atol=1e-9 * size, err_msg=every[j].name)


def test_a_parameter_without_derivative_leaves_no_later_steps_of_others_to_single_steps():
    case = find_case("stacked-cubes")
    motion = Motion(case, find_formulation("stewart-trinkle"), 1e-3, 0.03)
    first, *others = [CaseParameter(case, name) for name in ("edge", "mu", "m", "gravity")]
    found = tangents_of(motion, [first, *others])
    assert found.reasons[0].startswith("step 1: ")
    assert found.alone == 2
    assert np.isnan(found.inputs[2:, 0]).all()
    n = motion.states_q.shape[1] + motion.states_v.shape[1]
    np.testing.assert_allclose(found.inputs[:, 1:, :n], tangents_of(motion, others).inputs[..., :n], rtol=0, atol=1e-9)


class Aslant(PushedBox):
    """A box that slides aslant, not pushed: how its four corners share the load is open."""

    def start(self):
        return super().start()[0], np.array([0.6, 0.8, 0.0, 0.0, 0.0, 0.0])


def test_a_spin_that_depends_on_how_sliding_corners_share_the_load_has_no_compiled_derivative():
    """Friction across the sliding direction turns with the spin at each corner, in proportion to its load."""
    motion = Motion(Aslant(force=0.0), find_formulation("coulomb"), 1e-3, 0.002)
    n_q, sweeps = motion.states_q.shape[1], motion.sweeps(1)
    modes, notes = np.zeros((1, sweeps.machine.system.x.size), dtype=int), np.zeros((1, 1), dtype=int)
    for i, left in ((0, 2), (1, 2), (5, 1)):
        moving = np.zeros((3, 1, motion.n_s + motion.case.data().size))
        moving[1, 0, n_q + i] = 1.0
        assert sweeps.ahead(1, 2, motion.record, moving, modes, notes) == left


def test_forces_of_many_directions_at_a_kink():
    """Where M is a P-matrix there is one solution for each; others may have several, which an effect may tell apart."""
    rng, K = np.random.default_rng(1), 16
    for N in (1, 2, 3, 5):
        G, q, force, count = rng.normal(size=(N, N)), rng.normal(size=(N, K)), np.empty((N, K)), np.zeros(K, int)
        M = G @ G.T + np.triu(rng.normal(size=(N, N)), 1) * 0.1 + np.eye(N)
        sweep.find_forces(M, q, np.eye(N), np.ones(K), force, count)
        assert (count == 1).all()
        np.testing.assert_allclose(np.minimum(force, M @ force + q), 0.0, atol=1e-12)
    M, q, force, count = np.array([[1.0, 2.0], [2.0, 1.0]]), np.full((2, 8), -1.0), np.empty((2, 8)), np.zeros(3, int)
    q[:, 1] = 1.0
    sweep.find_forces(M, q, np.eye(2), np.ones(3), force, count)
    assert count.tolist() == [2, 1, 2]
    sweep.find_forces(M, q, np.zeros((1, 2)), np.ones(3), force, count)
    assert count.tolist() == [1, 1, 1]
    sweep.find_forces(-np.eye(2), q, np.eye(2), np.ones(3), force, count)
    assert count.tolist() == [0, 2, 0]
