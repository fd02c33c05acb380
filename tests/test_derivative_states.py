"""A small draw of `tests.derivative_states`: derivatives of steps at random states, against differences."""

import numpy as np
import pytest

from formulations import FORMULATIONS
from tests.derivative_states import (
    AMPLIFIED,
    JUMP,
    Direction,
    Motion,
    Pair,
    Solution,
    State,
    Tally,
    carried,
    examine,
    judge,
    solved,
)
from workbench.derivatives.motion import motion_derivatives
from workbench.verbs.find import find_case, find_formulation

DRIFTS = "several neighbouring solutions or none: passes move friction that redundant contacts share"
DRAWN = [
    "coulomb/wheel", "ccp/cube", "box/sphere", "phantom-inertia/block", "stewart-trinkle/rod", "mujoco/gripper",
    "genesis/woodpecker", "comfree/drawer", "hybrid/wheel", "staggered/block", "gauss-seidel/bouncing-ball",
    "ipc/particle", "hunt-crossley/block",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", DRAWN)
def test_derivatives_at_random_states_are_those_of_differences(name):
    tally = examine(Pair(*name.split("/")), 12, seed=1)
    assert tally.fates["wrong"] == tally.fates["nan"] == 0, tally.lines
    every = sum(tally.fates.values())
    assert every > 100
    assert tally.fates["agreed"] + tally.fates["kinks"] > 0.9 * every, tally.fates
    assert np.mean(np.array(tally.errors) <= 1e-9) > 0.9


@pytest.mark.parametrize(
    ("name", "state", "direction", "fate"),
    [
        # Terms of order 1e3 cancel in the rows of a sweep.
        pytest.param("gauss-seidel/woodpecker", 0, "m_M", "agreed", marks=pytest.mark.thorough),
        # Contacts at both ends of a capsule, one of them without force, and slips that turn.
        pytest.param("ipc/pinched-capsule", 2, "coordinates", "kinks", marks=pytest.mark.thorough),
        # Light cubes move fast by a force: increments that follow them leave rounding.
        pytest.param("mujoco-noslip/stacked-cubes", 1, "forces", "agreed", marks=pytest.mark.thorough),
        # The last pass's slip is opposite to that before the step.
        ("ipc/gripper", 1, "m", "agreed"),
        # Rounding of a stiff system exceeds its estimate.
        ("ipc/woodpecker", 1, "forces", "agreed"),
        # Tangents of passes still converge after twenty, up to noise.
        ("staggered/cube", 0, "m", "agreed"),
        # A derivative of zero: the passes' tangents are rounding.
        ("hunt-crossley/drawer", 0, "radius", "agreed"),
    ],
)
def test_steps_that_iterate_their_data(name, state, direction, fate):
    pair = Pair(*name.split("/"))
    rng = np.random.default_rng([0, *name.encode()])
    drawn = [(x, z, pair.directions(x, rng)) for x, z in pair.states(4, rng)]
    x, z, directions = drawn[state]
    assert judge(Solution(pair, x, z), directions[direction][None], Tally())[0].fate == fate


@pytest.mark.parametrize(
    ("name", "state", "direction", "is_kink", "is_rough", "reason"),
    [
        # The first corner of a box lands while the others, which share the load in several ways, bear.
        ("box/pushed-box", 7, "coordinates", True, True, ""),
        ("box/pushed-box", 7, "restitution of contacts", False, False, JUMP),
        # Contacts with and without rebound: only one side is a neighbour.
        ("box/pushed-box", 8, "restitution of contacts", True, False, ""),
        # Noise of the data explains why tangents of passes do not converge further.
        ("staggered/cube", 0, "m", False, True, ""),
        # They do converge, as those by tapes have no noise.
        ("staggered/cube", 0, "coordinates", False, False, ""),
        ("hunt-crossley/block", 0, "coordinates", False, False, ""),
        ("ipc/cube", 9, "velocities", False, False, ""),
        # Passes add to friction that cancels in three bodies under one another, and velocities stay what they are.
        (
            "staggered/three-bodies",
            0,
            "restitution of contacts",
            False,
            False,
            "several neighbouring solutions or none: passes move friction that redundant contacts share",
        ),
    ],
)
def test_a_derivative_says_what_it_is(name, state, direction, is_kink, is_rough, reason):
    pair = Pair(*name.split("/"))
    rng = np.random.default_rng([3, *name.encode()])
    x, z, directions = [(x, z, pair.directions(x, rng)) for x, z in pair.states(12, rng)][state]
    (found,) = Solution(pair, x, z).derivatives(directions[direction][None])
    assert (found.is_kink, found.is_rough, found.reason) == (is_kink, is_rough, reason)


def test_a_false_derivative_is_found():
    pair, rng = Pair("coulomb", "block"), np.random.default_rng(2)
    ((x, z),) = pair.states(1, rng)

    class Wrong(Solution):
        def derivatives(self, tangents):
            return [x._replace(value=x.value * (1 + 1e-5)) for x in super().derivatives(tangents)]

    tangents = pair.directions(x, rng)["velocities"][None]
    assert judge(Solution(pair, x, z), tangents, Tally())[0].fate == "agreed"
    assert judge(Wrong(pair, x, z), tangents, Tally())[0].fate == "wrong"


@pytest.mark.parametrize("label", ["coulomb", "ccp", "stewart-trinkle", "gauss-seidel", "mujoco"])
def test_friction_that_begins_has_a_derivative(label):
    """At mu = 0 a block slides at 30 degrees to the axes: dv/dmu is -g t along the slip, or along a polygon's axis."""
    case = find_case("block", mu=0.0)
    _, found = motion_derivatives(case, find_formulation(label), ["v[0]"], ["mu", "gravity"], 1e-3, 3e-3)
    along = {"coulomb": np.cos(np.pi / 6), "ccp": np.cos(np.pi / 6), "mujoco": None}.get(label, 1.0)
    if along is not None:
        assert found["mu"].derivative[0] == pytest.approx(-9.81 * 3e-3 * along, rel=1e-8)
    assert found["mu"].reason == ""
    assert found["gravity"].derivative[0] == pytest.approx(0.0, abs=1e-12)


def test_friction_bounded_by_estimates_of_redundant_contacts_is_said_to_jump():
    """A box lands on its first corner while the others bear: without friction the corners may share the load in several
    ways, and each bounds the friction of that corner by another number."""
    pair = Pair("box", "pushed-box")
    q, _ = pair.plain.start()
    v = np.array([0.01, 0.05, -0.01, -0.03, 0.007, 0.04])

    def state(first):
        memory = np.concatenate([[first, 0.05, 0.03, 0.02], np.zeros(8)])
        return State(q, v, memory, np.zeros(pair.sizes[3] - pair.sizes[2]))

    def is_rough(first):
        by_speed = State(*(np.zeros(x.size) for x in state(first)))._replace(v=np.eye(6)[0])
        along = Direction(by_speed, np.zeros(pair.case.data().size))
        return carried(pair.step, solved(pair.step, state(first)), along).is_rough

    def velocities(first):
        end = pair.after(np.concatenate([*state(first), pair.case.data()]), np.zeros(12))
        return end[pair.sizes[0] : pair.sizes[1]]

    assert np.abs(velocities(0.1) - velocities(0.2)).max() > 1e-3
    assert is_rough(0.0)
    assert not is_rough(0.1)


@pytest.mark.share(6)
@pytest.mark.parametrize("name", FORMULATIONS.names)
def test_every_formulation_that_does_not_iterate_has_tapes(name):
    motion = Motion(find_case("wheel"), find_formulation(name), 1e-3, 3e-3)
    if motion.is_compiled:
        sweeps, tangents = motion.sweeps(1), np.zeros((4, 1, motion.n_s + motion.case.data().size))
        modes = np.zeros((1, sweeps.machine.system.x.size), dtype=np.int64)
        assert sweeps.ahead(2, 3, motion.record, tangents, modes, np.zeros((1, 1), dtype=np.int64)) == 3
        assert sweeps.machine.tape.n_out > 0
    else:
        assert name in ("mujoco-noslip", "gauss-seidel", "hunt-crossley", "ipc", "staggered")


def test_a_step_that_begins_to_make_other_passes_is_said_to_jump():
    """With any restitution Poisson's law takes two passes, of which the first leaves out the forces."""
    pair = Pair("anitescu-potra:restitution=poisson", "tripod")
    x = pair.start()
    at = State(*pair.parts(x)[:4])
    for name, is_rough in (("restitution of contacts", True), ("gravity", False)):
        *by, along = pair.parts(pair.directions(x, np.random.default_rng(0))[name])
        assert carried(pair.step, solved(pair.step, at), Direction(State(*by), along)).is_rough == is_rough


def test_steps_between_modes_leave_the_tapes_of_the_others():
    """The first step of a box on four corners cannot be recorded, whose estimate is not unique; the next can."""
    motion = Motion(find_case("pushed-box"), find_formulation("hybrid"), 1e-3, 3e-3)
    sweeps, n_x = motion.sweeps(1), motion.n_s + motion.case.data().size
    tangents = np.zeros((4, 1, n_x))
    tangents[:, 0, 0] = 1.0
    modes, notes = (np.zeros((1, n), dtype=np.int64) for n in (sweeps.machine.system.x.size, 1))
    for _ in range(5):
        assert sweeps.ahead(0, 1, motion.record, tangents, modes, notes) == 0
        assert sweeps.slopes(tangents[0]) is None
    sweeps.ahead(1, 2, motion.record, tangents, modes, notes)
    assert sweeps.slopes(tangents[1]) is not None


@pytest.mark.parametrize("state", [35, 198])
def test_errors_of_slopes_that_cancel_do_not_reach_velocities(state):
    """Of g - D u in a box that is held at both ends, where a kink is near or velocities cancel."""
    tally = examine(Pair("ipc", "wedged-box"), 1000, seed=3, only=state)
    assert tally.fates["agreed"] == sum(tally.fates.values()), tally.lines


@pytest.mark.parametrize(("name", "count", "state"), [("gauss-seidel/tripod", 25, 0), ("gauss-seidel/table", 50, 34)])
def test_gaps_over_the_step_round_as_coordinates_do(name, count, state):
    """At narrow steps the rounding of phi / h is a slope, which sweeps amplify."""
    tally = examine(Pair(*name.split("/")), count, seed=3, only=state)
    assert tally.fates["agreed"] == sum(tally.fates.values()), tally.lines


def test_velocities_that_change_fast_leave_tangents_of_passes_within_their_reach():
    """A table on stiff springs gains 1500 m/s per unit of its coordinates, and slips at 1e-3 m/s bend friction:
    tangents of passes did not converge, as if these had kinks."""
    tally = examine(Pair("hunt-crossley", "table"), 25, seed=3, only=12)
    assert tally.fates["agreed"] == sum(tally.fates.values()), tally.lines


def test_impulses_that_are_round_off_of_a_body_in_flight_do_not_keep_tangents_from_settling():
    tally = examine(Pair("hunt-crossley", "table"), 200, seed=3, only=11)
    assert tally.fates["agreed"] == sum(tally.fates.values()), tally.lines


def test_rounding_that_heavy_cubes_on_light_ones_amplify_is_said_to_be_the_reason():
    """By forces as large as the weight, 1e7 N, friction converges to 1e-6, and velocities of 1e-2 m/s not at all."""
    pair = Pair("staggered", "stacked-cubes")
    rng = np.random.default_rng([3, *pair.name.encode()])
    x, z, directions = [(x, z, pair.directions(x, rng)) for x, z in pair.states(25, rng)][1]
    (found,) = Solution(pair, x, z).derivatives(directions["forces"][None])
    assert AMPLIFIED in found.reason


def test_passes_that_end_before_their_data_converge_go_on():
    """Cubes far inside each other, whose impulses of 1e6 N s leave Newton's passes a round-off of 1 N s."""
    tally = examine(Pair("ipc", "stacked-cubes"), 25, seed=3, only=1)
    assert tally.fates["refused"] == 0, tally.lines


@pytest.mark.parametrize("state", [940, 942])
def test_a_condition_that_holds_just_so_leaves_the_slopes_of_a_tape(state):
    """A load of 0.1 N s on a floor of 1e10 N/m is a depth of 1e-10 m; differences of data that are on the verge of
    another branch are off by 1e-10, which four corners of a face amplify."""
    tally = examine(Pair("box", "cube"), 1000, seed=3, only=state)
    assert tally.fates["agreed"] == 12, tally.lines


@pytest.mark.parametrize(
    ("name", "seed", "state"),
    [
        # The solver keeps the solution from which it starts: nothing moves.
        ("discrete-velocity/cube", 3, 35),
        # The passes leave 1e-11 m/s, which changes as fast as friction near zero slip.
        ("hunt-crossley/block", 3, 476),
        # A box that is struck moves at 90 m/s after the step, known to 1e-8.
        ("ipc/wedged-box", 1, 34),
        # Gaps over the step round to more than velocities.
        ("gauss-seidel/drawer", 3, 50),
        # At one shift noise is small by chance.
        ("coulomb/cube", 4, 82),
    ],
)
def test_differences_that_mislead_are_not_held_against_a_derivative(name, seed, state):
    tally = examine(Pair(*name.split("/")), 1000, seed, only=state)
    assert tally.fates["agreed"] == sum(tally.fates.values()), tally.lines


def test_a_solution_that_is_known_badly_is_said_to_be():
    """Under the CCP four corners of a box slide in nearly the same direction, and hardly determine how they share the
    load: the solver's residual of 1e-10 leaves its impulses open, and derivatives by the mass are 8 % off."""
    pair = Pair("ccp", "pushed-box")
    tally = examine(pair, 1000, seed=2, only=59)
    assert tally.fates["wrong"] == tally.fates["unsettled"] == 0, tally.lines
    assert tally.fates["near"] > 5


def test_curvatures_that_differ_on_both_sides_show_in_differences_of_a_step():
    """Four corners of a box slide in the same direction, which determines nothing about their load; beside it they do,
    so that v is as s |s|, of which differences of order six and eight are off, and alike."""
    tally = examine(Pair("ccp", "pushed-box"), 1000, seed=3, only=956)
    assert tally.fates["set-valued"] == 1
    assert tally.fates["agreed"] == sum(tally.fates.values()) - 1, tally.lines


def test_modes_that_are_others_at_the_smallest_shift_are_near():
    """The other side of a drawer's pin is 7e-9 m/s away from contact, a change of coordinates by 1e-11."""
    tally = examine(Pair("gauss-seidel", "drawer"), 1000, seed=3, only=118)
    assert tally.fates["near"] > 0
    assert tally.fates["wrong"] == tally.fates["unsettled"] == 0, tally.lines


def test_the_friction_of_an_open_contact_has_one_mode():
    """The sweeps of `mujoco-noslip` copy the normal impulse: that of an open contact is zero nearby, too, but not that
    of one that touches without force, as where MuJoCo's damper balances the weight, and a press holds it."""
    pair = Pair("mujoco-noslip", "block")
    balance = pair.plain.gravity * 0.95 * 0.02 / 2
    for gap, v, slips in ((1e-3, [2.0, 0.0, 0.0], [1.0, 1.0]), (0.0, [0.0, 0.0, balance], [1.0, 0.0])):
        x = pair.start()
        x[2], x[3:6] = 0.5 * pair.plain.height + gap, v
        z = np.zeros(pair.step.stepper.work.z.size)
        assert pair.after(x, z) is not None
        solution, tangents = Solution(pair, x, z), pair.directions(x, np.random.default_rng(0))
        kind, _ = solved(pair.step, State(*pair.parts(x)[:4])).sensitivity.verdict
        assert (kind.name == "SMOOTH") == (slips[1] == 1.0)
        first = int(np.flatnonzero(tangents["forces"])[0])
        for slip, lift in zip(slips, (1.0, -1.0), strict=True):
            t = np.zeros(x.size)
            t[first], t[first + 2] = 0.1, lift
            (found,) = solution.derivatives(t[None])
            assert found.value[3] == pytest.approx(slip * 0.1 * 1e-3 / pair.plain.m, abs=1e-15)
            assert found.is_kink == (slips[0] != slips[1])
        if gap > 0.0:
            verdicts = judge(solution, np.array([*tangents.values()]), Tally())
            assert {one.fate for one in verdicts} == {"agreed"}
