"""The judge against closed forms, known violations, and the problem classes' own residual."""

import numpy as np
import pytest

from workbench.judge.contacts import by_contact
from workbench.judge.coulomb import Discs, judge, misalignment, normalised_friction
from workbench.problems.classes import CoulombNCP
from workbench.support.errors import DataError

RESIDUALS = ("signorini", "cone", "dissipation", "natural_map", "law")
M, G, H, MU = 2.0, 9.81, 1e-2, 0.3


def block(v_x, v_z=0.0):
    """A block on a floor, one step of gravity: (p_n, p_t, u_n, u_t, mu, W, q) by Coulomb's law."""
    q = np.array([v_z - G * H, v_x, 0.0])
    p_n = max(0.0, -M * q[0])
    p_x = np.clip(-M * q[1], -MU * p_n, MU * p_n)
    u_n, u_t = q[0] + p_n / M, [q[1] + p_x / M, 0.0]
    return [p_n], [[p_x, 0.0]], [u_n], [u_t], [MU], np.eye(3) / M, q


@pytest.mark.parametrize("motion", [(0.0, 0.0), (0.02, 0.0), (1.0, 0.0), (-3.0, 0.0), (1.0, 5.0)])
def test_a_block_that_obeys_the_laws_is_acquitted(motion):
    verdict = judge(*block(*motion))
    assert max(getattr(verdict, name) for name in RESIDUALS) <= 1e-15


def test_each_violation_is_measured_where_it_belongs():
    p_n, p_t, u_n, u_t, mu, W, q = (np.asarray(a) for a in block(1.0))
    rho, excess = M, 0.01
    normaliser = judge(p_n, p_t, u_n, u_t, mu, W, q).normaliser
    # What the impulse is; the sliding velocity, ten times as fast, does not compete with it.
    np.testing.assert_allclose(normaliser, p_n * np.hypot(1, MU))

    sinking = judge(p_n, p_t, u_n - excess, u_t, mu, W, q)
    np.testing.assert_allclose(sinking.signorini, rho * excess / sinking.normaliser)
    np.testing.assert_allclose(sinking.normaliser, normaliser, rtol=0.1)
    assert sinking.cone == 0
    assert sinking.dissipation <= 1e-16

    adhesive = judge(-p_n, p_t, u_n, u_t, mu, W, q)
    np.testing.assert_allclose(adhesive.signorini, p_n[0] / normaliser)

    strong = judge(p_n, p_t * 1.1, u_n, u_t, mu, W, q)
    np.testing.assert_allclose(strong.cone, 0.1 * MU * p_n[0])
    assert strong.signorini <= 1e-16

    weak = judge(p_n, p_t * 0.9, u_n, u_t, mu, W, q)
    np.testing.assert_allclose(weak.dissipation, 0.1 * MU * p_n[0] * abs(u_t[0, 0]))
    assert weak.cone == 0

    askew = judge(p_n, p_t[:, ::-1], u_n, u_t, mu, W, q)
    np.testing.assert_allclose(askew.dissipation, MU * p_n[0] * abs(u_t[0, 0]))
    assert askew.cone <= 1e-16
    for verdict in (sinking, adhesive, strong, weak, askew):
        assert verdict.natural_map > 1e-4


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_an_adhesive_impulse_is_no_solution_even_without_friction(mu):
    verdict = judge([-1.0], [[0.0, 0.0]], [0.0], [[0.0, 0.0]], [mu], np.eye(3), [1.0, 0.0, 0.0])
    assert verdict.natural_map == 1
    assert verdict.signorini == 1


def random_solutions(rng, steps, r, d):
    """Arbitrary impulses over systems W, q: the verdict is not zero, and every region of the projection occurs."""
    n = r * (1 + d)
    B = rng.normal(size=(steps, n, n + 2))
    W, q, z = B @ B.transpose(0, 2, 1) / n, rng.normal(size=(steps, n)), rng.normal(size=(steps, n)) * 0.3
    mu = rng.choice([0.0, 0.3, 1.0, 2.0], size=(steps, r))
    u = np.einsum("sij,sj->si", W, z) + q
    z_t, u_t = (a[:, r:].reshape(steps, r, d) for a in (z, u))
    arguments = (z[:, :r], z_t, u[:, :r], u_t, mu, W, q)
    return W, q, z, mu, arguments


@pytest.mark.parametrize("d", [1, 2])
def test_the_law_agrees_with_the_problem_class(d):
    W, q, z, mu, arguments = random_solutions(np.random.default_rng(1), 200, 3, d)
    np.testing.assert_allclose(judge(*arguments).law, CoulombNCP(W, q, mu, d).residual(z), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2])
def test_steps_are_judged_one_by_one(d):
    *_, arguments = random_solutions(np.random.default_rng(2), 7, 4, d)
    together = judge(*arguments)
    for k in range(7):
        alone = judge(*(a[k] for a in arguments))
        for name in (*RESIDUALS, "rho", "normaliser"):
            np.testing.assert_allclose(getattr(together, name)[k], getattr(alone, name), rtol=1e-14)


def test_units_change_only_the_residuals_that_carry_them():
    *_, (p_n, p_t, u_n, u_t, mu, W, q) = random_solutions(np.random.default_rng(3), 20, 3, 2)
    mass, speed = 1e3, 1e-2
    p = mass * speed
    before = judge(p_n, p_t, u_n, u_t, mu, W, q)
    after = judge(p * p_n, p * p_t, speed * u_n, speed * u_t, mu, W / mass, speed * q)
    for name, factor in zip((*RESIDUALS, "rho", "normaliser"), (1, p, p * speed, 1, 1, mass, p), strict=True):
        np.testing.assert_allclose(getattr(after, name), factor * getattr(before, name), rtol=1e-12)


def test_answers_that_are_not_finite_have_infinite_residuals():
    p_n, p_t, u_n, u_t, *rest = (np.asarray(a) for a in block(1.0))
    verdict = judge(np.full_like(p_n, np.nan), p_t, u_n, u_t, *rest)
    assert all(getattr(verdict, name) == np.inf for name in RESIDUALS)
    assert judge(p_n, p_t, u_n + np.inf, u_t, *rest).natural_map == np.inf


def test_nothing_at_all_is_no_violation():
    one, two = np.zeros((5, 1)), np.zeros((5, 1, 2))
    assert not judge(one, two, one, two, 0.3, np.eye(3), np.zeros(3)).natural_map.any()
    none, nothing = np.zeros((5, 0)), np.zeros((5, 0, 2))
    assert not judge(none, nothing, none, nothing, np.zeros(0), np.zeros((0, 0)), np.zeros(0)).natural_map.any()


@pytest.mark.parametrize(
    "shapes", [((2,), (4,), (2,), (4,)), ((2,), (2, 6), (2,), (2, 6)), ((2,), (2, 2), (2,), (2, 1))]
)
def test_shapes_that_do_not_belong_together_are_refused(shapes):
    with pytest.raises(DataError, match="do not belong together"):
        judge(*(np.zeros(s) for s in shapes), 0.3, np.eye(6), np.zeros(6))


@pytest.mark.parametrize(("rows", "entries"), [(2, 3), (3, 2)])
def test_an_operator_or_a_free_velocity_of_another_size_is_refused(rows, entries):
    with pytest.raises(DataError, match=rf"W \({rows}, {rows}\) and q \({entries},\) do not belong to 3 impulses"):
        judge([0.0], [[0.0, 0.0]], [0.0], [[0.0, 0.0]], 0.3, np.eye(rows), np.zeros(entries))


def in_the_plane(p, u, q, W, mu=0.0):
    """The verdict on contacts in the plane, with impulses and velocities (r, 2) of normal and tangent."""
    p, u, q = (np.array(x, dtype=float) for x in (p, u, q))
    return judge(p[:, 0], p[:, 1:], u[:, 0], u[:, 1:], mu, W, np.concatenate([q[:, 0], q[:, 1]]))


def test_impulses_along_a_ray_are_measured_by_the_motion_around_them():
    """An impulse of any size is measured by 1e5 times the motion that it takes part in."""
    still = in_the_plane([[1e9, 0.0]], [[0.0, 0.0]], [[-1.0, 0.0]], np.eye(2))
    assert still.normaliser == pytest.approx([1e5])
    # It bears on nothing that slides, whose speed is none of its doing, though no impulse has to answer it.
    slides = in_the_plane([[1e9, 0.0]], [[0.0, 1e-3]], [[0.0, 1e-3]], np.eye(2))
    assert slides.natural_map == 0.0
    assert slides.normaliser == pytest.approx([1e2])
    # A contact that it is coupled to, and that opens freely, is no motion around it.
    W = np.eye(4)
    W[0, 1] = W[1, 0] = 0.5
    apart = in_the_plane([[1e9, 0.0], [0.0, 0.0]], [[0.0, 1e-3], [1.0, 0.0]], [[0.0, 1e-3], [1.0, 0.0]], W)
    assert apart.normaliser[0] == pytest.approx(1e2)


def test_what_no_impulse_has_to_answer_counts_for_rounding_alone():
    fast = in_the_plane([[0.0, 0.0]], [[0.0, 1.0]], [[0.0, 1.0]], np.eye(2))
    assert fast.normaliser == pytest.approx([1e-5])


def test_impulses_elsewhere_count_by_the_velocities_that_they_make():
    """At a contact that W couples to the impulse, by that entry of W; not at one that it reaches through others."""
    W = np.eye(10)
    for k in range(3):
        W[k, k + 1] = W[k + 1, k] = 0.1
    p = [[1.0, 0.0], *[[0.0, 0.0]] * 4]
    found = in_the_plane(p, [[0.0, 0.0]] * 5, [[-1.0, 0.0], *[[0.0, 0.0]] * 4], W)
    assert found.normaliser == pytest.approx([1.0, 1e-6, 0.0, 0.0, 0.0])


def test_an_impulse_counts_beside_the_motion_of_what_it_is_coupled_to_directly_or_through_others():
    """Up to 1e5 times that; the last contact, with as large an impulse, is coupled to nothing that moves."""
    W = np.eye(8)
    for k in range(2):
        # The operator couples both ways, in whichever triangle it is given.
        W[k, k + 1] = 1e-20
    p = [[0.0, 0.0], [0.0, 0.0], [1e9, 0.0], [1e9, 0.0]]
    moves = [[-1.0, 0.0], *[[0.0, 0.0]] * 3]
    found = in_the_plane(p, moves, moves, W)
    assert found.normaliser == pytest.approx([1.0, 0.0, 1e5, 0.0])


def test_an_impulse_that_moves_nothing_is_no_scale():
    W = np.diag([1.0, 0.0])
    found = in_the_plane([[1.0, 0.5]], [[0.0, 0.0]], [[-0.1, 0.0]], W)
    assert (found.rho, found.normaliser) == (pytest.approx([2.0]), pytest.approx([0.2]))
    assert in_the_plane([[1.0, 0.0]], [[0.0, 0.0]], [[-0.1, 0.0]], W).normaliser == pytest.approx([1.0])


def test_where_nothing_can_move_the_unit_is_that_of_the_impulse_over_the_free_velocity():
    found = in_the_plane([[3.0, 0.0], [0.0, 0.0], [3.0, 0.0]], [[0.0, 0.0]] * 3,
                         [[-2.0, 0.0], [-2.0, 0.0], [0.0, 0.0]], np.zeros((6, 6)))  # fmt: skip
    assert found.rho.tolist() == [1.5, 1.0, 1.0]


def test_no_answer_hides_behind_what_moves_nothing_or_is_beyond_the_largest_number():
    nothing = in_the_plane([[np.nan, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], np.zeros((2, 2)))
    huge = in_the_plane([[1.0, 0.0]], [[1.7e308, 0.0]], [[-1.7e308, 0.0]], np.eye(2))
    for verdict in (nothing, huge):
        assert all(getattr(verdict, name) == np.inf for name in RESIDUALS)


def test_friction_beyond_one_of_several_discs_is_beyond():
    discs = Discs((slice(0, 1), slice(1, 2)), 1.0)
    found = judge([1.0], [[3.0, 0.5]], [0.0], [[0.0, 0.0]], 0.0, np.eye(3), [-1.0, 0.0, 0.0], discs)
    assert found.cone == 2.0


LITTLE, MORE = 1e-6, 3e-6
"""What is rounding yet, of scales of one, and what is no more."""
CREEP, BEYOND, ALONG, ASKEW = "slips within the cone", "beyond the cone", "pushes along the slip", "misaligned"
SEEN = {
    "rests": (1.0, (0.0, 0.0), 0.0, (0.0, 0.0), []),
    "slides": (1.0, (-0.5, 0.0), 0.0, (1.0, 0.0), []),
    "pulls": (-MORE, (0.0, 0.0), 0.0, (0.0, 0.0), ["pulls"]),
    "pulls as rounding does": (-LITTLE, (0.0, 0.0), 0.0, (0.0, 0.0), []),
    "goes in": (0.0, (0.0, 0.0), -MORE, (0.0, 0.0), ["goes in"]),
    "goes in as rounding does": (0.0, (0.0, 0.0), -LITTLE, (0.0, 0.0), []),
    "pushes while it opens": (MORE, (0.0, 0.0), MORE, (0.0, 0.0), ["pushes while it opens"]),
    "pushes a little while it opens": (LITTLE, (0.0, 0.0), MORE, (0.0, 0.0), []),
    "pushes while it opens a little": (MORE, (0.0, 0.0), LITTLE, (0.0, 0.0), []),
    "beyond": (0.0, (MORE, 0.0), 0.0, (0.0, 0.0), [BEYOND]),
    "beyond as rounding is": (0.0, (LITTLE, 0.0), 0.0, (0.0, 0.0), []),
    "creeps": (1.0, (-0.2, 0.0), 0.0, (MORE, 0.0), [CREEP]),
    "creeps as rounding does": (1.0, (-0.2, 0.0), 0.0, (LITTLE, 0.0), []),
    "uses friction up but for rounding": (1.0, (-(0.5 - LITTLE), 0.0), 0.0, (1.0, 0.0), []),
    "slips under no load": (LITTLE, (0.0, 0.0), 0.0, (1.0, 0.0), []),
    "pushed by rounding": (1.0, (LITTLE, 0.0), 0.0, (1.0, 0.0), [CREEP]),
    "pushed": (1.0, (MORE, 0.0), 0.0, (1.0, 0.0), [CREEP, ALONG, ASKEW]),
    "pushed, and rests": (1.0, (0.5, 0.0), 0.0, (LITTLE, 0.0), []),
    "across": (1.0, (0.0, 0.5), 0.0, (1.0, 0.0), [ASKEW]),
    "askew by five degrees": (1.0, (-0.5 * np.cos(np.radians(5)), 0.5 * np.sin(np.radians(5))), 0.0, (1.0, 0.0),
                              [ASKEW]),
    "askew by half a degree": (1.0, (-0.5 * np.cos(np.radians(0.5)), 0.5 * np.sin(np.radians(0.5))), 0.0, (1.0, 0.0),
                               []),
}  # fmt: skip
"""Impulses and velocities of a contact with mu = 0.5, and the symptoms to be seen."""


@pytest.mark.parametrize("what", SEEN)
def test_symptoms_of_a_contact(what):
    p_n, p_t, u_n, u_t, symptoms = SEEN[what]
    # Friction is strong where even little load could be too much of it.
    mu = 3.0 if what == "slips under no load" else 0.5
    found = by_contact(np.array([p_n]), np.array([p_t]), np.array([u_n]), np.array([u_t]), np.array([mu]), 1.0, 1.0)
    assert [name for name, there in found.symptoms.items() if there[0]] == symptoms


def test_all_friction_of_a_contact_that_pulls_is_beyond_the_cone():
    found = by_contact(*(np.array(x) for x in ([-1.0], [[0.3, 0.4]], [0.0], [[0.0, 0.0]], [0.5])), 1.0, 1.0)
    assert found.beyond == pytest.approx([0.5])


def test_normalised_friction_is_one_on_the_rim_and_zero_without_contact():
    p_n, mu = np.array([2.0, 5.0, 0.0, 3.0]), np.array([0.3, 0.4, 0.3, 0.0])
    p_t = np.array([[0.36, -0.48], [0.0, 1.0], [0.0, 0.2], [0.0, 0.0]])
    np.testing.assert_allclose(normalised_friction(p_n, p_t, mu), [1.0, 0.5, 0.0, 0.0], rtol=1e-15)


def test_misalignment_of_known_angles_is_exact_even_near_0_and_180():
    angle = np.array([0.0, 1e-12, 1e-7, 1e-3, 14.0, 90.0, 179.9999999, 180.0])
    theta = np.radians(angle)
    u_t = np.broadcast_to([-3.0, 0.0], (8, 2))
    for sign in (1, -1):
        p_t = np.stack([np.cos(theta), sign * np.sin(theta)], axis=-1)
        np.testing.assert_allclose(misalignment(p_t, u_t, 1e-3), angle, rtol=1e-13)


def test_misalignment_is_the_same_in_every_tangent_frame():
    rng = np.random.default_rng(4)
    p_t, u_t, turn = rng.normal(size=(50, 3, 2)), rng.normal(size=(50, 3, 2)), rng.uniform(0, 2 * np.pi)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    np.testing.assert_allclose(misalignment(p_t @ R.T, u_t @ R.T, 0.0), misalignment(p_t, u_t, 0.0), rtol=1e-12)


def test_misalignment_is_defined_only_where_something_slides_and_rubs():
    p_t, u_t = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), np.array([[1e-3, 0.0], [1.0, 0.0], [1.0, 0.0]])
    assert np.isnan(misalignment(p_t, u_t, 1e-3)).tolist() == [True, True, False]


def test_misalignment_in_the_plane_is_0_or_180():
    np.testing.assert_array_equal(misalignment([[-1.0], [1.0]], [[2.0], [2.0]], 0.1), [0.0, 180.0])
