"""A step as a layer: gradients against differences, closed forms, kinks and redundant contacts; JAX and PyTorch."""

import numpy as np
import pytest

import workbench as wb
from tests.thorough import quickly
from workbench.builtin.formulations import FORMULATIONS
from workbench.derivatives.layer import ContactLayer, StepOutputs
from workbench.support.errors import DataError, ModellingError

ITERATING = {"mujoco-noslip", "gauss-seidel", "hunt-crossley", "ipc", "staggered"}
QUICK = {"coulomb", "ccp", "box", "hybrid", "stewart-trinkle"}
SIZE = 6, 1, 3, 2


def data(seed: int, size: tuple[int, int, int, int] = SIZE) -> dict[str, np.ndarray]:
    n, m, r, d = size
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    return {
        "M": B @ B.T + n * np.eye(n), "v": rng.normal(size=n), "f": rng.normal(size=n), "J_n": rng.normal(size=(r, n)),
        "J_t": rng.normal(size=(d * r, n)), "mu": rng.uniform(0.2, 0.8, r), "phi": rng.uniform(0, 0.01, r),
        "e": rng.uniform(0, 0.5, r), "r_n": 0.1 * rng.normal(size=r), "r_t": 0.1 * rng.normal(size=d * r),
        "eps_n": rng.uniform(1e-3, 1e-2, r), "eps_t": np.repeat(rng.uniform(1e-3, 1e-2, r), d),
        "J_b": rng.normal(size=(m, n)), "g": 0.01 * rng.normal(size=m), "r_b": 0.1 * rng.normal(size=m),
        "eps_b": rng.uniform(1e-3, 1e-2, m),
    }  # fmt: skip


def value(layer: ContactLayer, given: dict[str, np.ndarray], due: StepOutputs) -> float:
    return float(sum(a @ b for a, b in zip(layer.step(given).outputs, due, strict=True)))


def slopes(layer, given, due, name, along):
    """Differences of order two and of order four along a change of one datum."""
    ends = [value(layer, {**given, name: given[name] + s * 1e-5 * along}, due) for s in (1, -1, 2, -2)]
    return (ends[0] - ends[1]) / 2e-5, (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / 12e-5


@pytest.mark.share(4)
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("name", quickly(sorted({*FORMULATIONS.bundled} - ITERATING), QUICK.__contains__))
def test_gradients_by_all_data_are_those_of_differences(name, d):
    """Where differences of two orders agree: elsewhere there is a kink within their reach."""
    layer, compared = ContactLayer(FORMULATIONS.find(name), (*SIZE[:3], d), 0.01), 0
    for seed in range(4):
        given, rng = data(seed, (*SIZE[:3], d)), np.random.default_rng(seed)
        due = StepOutputs(*(rng.normal(size=x.size) for x in layer.step(given).outputs))
        try:
            found = layer.gradient(layer.step(given), due)
        except DataError as error:
            # Faces of a polygon that bear nothing are redundant.
            assert "share the load" in str(error)  # noqa: PT017
            continue
        for key in found:
            along = rng.normal(size=given[key].shape)
            along = along + along.T if key == "M" else along
            second, fourth = slopes(layer, given, due, key, along)
            if abs(second - fourth) <= 1e-5 * max(1.0, abs(fourth)):
                assert (found[key] * along).sum() == pytest.approx(fourth, rel=2e-6, abs=1e-5), (seed, key)
                compared += 1
    assert compared >= 30


@pytest.mark.parametrize("name", ["box", "hybrid", "sap"])
def test_a_hook_has_the_gradient_of_its_tape_or_that_of_differences(name, monkeypatch):
    def refuse(*given):
        raise TypeError("a table")

    layer, given = ContactLayer(FORMULATIONS.find(name), SIZE, 0.01), data(0)
    step = layer.step(given)
    due = StepOutputs(*(np.random.default_rng(0).normal(size=x.size) for x in step.outputs))
    by_tape = layer.gradient(step, due)
    assert len(layer.tapes) == 1
    layer.tapes.clear()
    monkeypatch.setattr(layer, "_recorded", refuse)
    by_differences = layer.gradient(step, due)
    for key, x in by_tape.items():
        np.testing.assert_allclose(x, by_differences[key], rtol=1e-7, atol=1e-7, err_msg=key)


@pytest.mark.parametrize("normal", ["velocity", "moreau"])
def test_gradients_are_those_of_the_normal_law(normal):
    """Under Moreau's law the first contact is open, and the others rebound; at velocity level gaps have no effect."""
    layer, given = ContactLayer(FORMULATIONS.find("coulomb"), SIZE, 0.01, normal=normal), data(2)
    given |= {"phi": np.array([0.01, 0.0, -0.01]), "r_n": np.array([-5.0, -5.0, -5.0])}
    step = layer.step(given)
    rng = np.random.default_rng(0)
    due = StepOutputs(*(rng.normal(size=x.size) for x in step.outputs))
    found = layer.gradient(step, due)
    for key in found:
        along = rng.normal(size=given[key].shape)
        along = along + along.T if key == "M" else along
        # A gap of zero is where Moreau's law changes.
        along = along * np.sign(np.abs(given["phi"])) if key == "phi" else along
        _, fourth = slopes(layer, given, due, key, along)
        assert (found[key] * along).sum() == pytest.approx(fourth, rel=2e-6, abs=1e-5), key
    assert (step.outputs.p_n[0] == 0) == (normal == "moreau")


def sliding(name: str = "coulomb", **options) -> tuple[ContactLayer, dict[str, np.ndarray]]:
    """A particle of 2 kg that slides at (3, 4) m/s, and falls at 1 m/s onto a plane that is there."""
    layer = ContactLayer(FORMULATIONS.find(name), (3, 0, 1, 2), 0.01, **options)
    J = np.eye(3)
    return layer, {"M": 2 * J, "v": np.array([3.0, 4.0, -1.0]), "J_n": J[2:], "J_t": J[:2], "mu": np.array([0.5])}


def hardly_sliding() -> dict[str, np.ndarray]:
    """The particle, oblique to the axes of the contact; friction leaves 1e-8 m/s of its speed."""
    return sliding()[1] | {"v": np.array([0.6 * (0.5 + 1e-8), 0.8 * (0.5 + 1e-8), -1.0])}


@pytest.mark.parametrize("name", ["stewart-trinkle", "box"])
@pytest.mark.parametrize("alone", [False, True])
def test_axes_along_the_sliding_direction_turn_impulses_back_and_move_with_it(name, alone, monkeypatch):
    """As under Coulomb's law, at a margin that is above the error, but not clear."""
    if alone:
        monkeypatch.setattr("workbench.derivatives.layer.POLISHED", -1.0)
    layer = ContactLayer(FORMULATIONS.find(name).with_options(axes="sliding"), (3, 0, 1, 2), 0.01, at_kinks="refuse")
    step, e = layer.step(hardly_sliding()), np.array([0.6, 0.8])
    np.testing.assert_allclose(step.outputs.p_t, -e, atol=1e-14)
    np.testing.assert_allclose(step.outputs.v, [*(1e-8 * e), 0.0], atol=1e-15)
    due = StepOutputs(np.array([1.0, 2.0, 0.0]), np.zeros(1), np.array([0.4, -0.1]), np.zeros(0))
    found = layer.gradient(step, due)
    # p_t = -2 mu w e and v+ = v + p_t / 2 with the approach w = 1.
    across, by_p = (np.eye(2) - np.outer(e, e)) / 0.5, due.p_t + due.v[:2] / 2
    np.testing.assert_allclose(found["v"], [*(due.v[:2] - across @ by_p), e @ by_p], atol=1e-7)
    assert found["mu"][0] == pytest.approx(-2 * e @ by_p, rel=1e-7)


def test_a_margin_below_the_error_of_the_solution_is_refused_as_a_kink():
    """Another body on two feet that nearly coincide makes the system nearly singular."""
    J, due = np.eye(8), StepOutputs(np.ones(8), np.zeros(3), np.zeros(6), np.zeros(0))
    given = {
        "M": np.diag([2.0] * 3 + [1.0] * 5), "mu": np.full(3, 0.5),
        "J_t": np.stack([J[0], J[1], J[3], J[4], J[3], J[4] + J[7]]),
    }  # fmt: skip
    given["v"] = np.array([*hardly_sliding()["v"], 1.0, 0.0, -1.0, 0.0, 0.0])
    layer = ContactLayer(FORMULATIONS.find("box").with_options(axes="sliding"), (8, 0, 3, 2), 0.01, at_kinks="refuse")
    apart, close = (np.stack([J[2], J[5] + x * J[6], J[5] - x * J[6]]) for x in (1.0, 1.5e-4))
    assert np.isfinite(layer.gradient(layer.step({**given, "J_n": apart}), due)["v"]).all()
    with pytest.raises(DataError, match="no gradient: between modes: 1 at its lower bound"):
        layer.gradient(layer.step({**given, "J_n": close}), due)


def test_a_sliding_particle_has_the_gradients_of_its_formula():
    """u+ = u (1 - mu w / |u|) with the approach w = 1: by mu -w u/|u|, by w -mu u/|u|."""
    layer, given = sliding()
    step = layer.step(given)
    np.testing.assert_allclose(step.outputs.v, [3 - 0.3, 4 - 0.4, 0], rtol=1e-12)
    due = StepOutputs(np.array([1.0, 2.0, 0.0]), np.zeros(1), np.zeros(2), np.zeros(0))
    found = layer.gradient(step, due)
    assert found["mu"][0] == pytest.approx(-(0.6 + 2 * 0.8), rel=1e-12)
    # u (1 - 0.1) + ...: d/du of u - mu w u/|u| is 1 - mu w (1 - e e^T) / 5.
    e = np.array([0.6, 0.8])
    by_u = (np.eye(2) - 0.1 * (np.eye(2) - np.outer(e, e))) @ [1.0, 2.0]
    np.testing.assert_allclose(found["v"], [*by_u, 0.5 * (0.6 + 2 * 0.8)], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "words"),
    [("coulomb", "touches without force"), ("stewart-trinkle", "at its lower bound without velocity")],
)
def test_a_kink_is_refused_or_has_the_gradient_of_one_side(name, words):
    """The particle touches without force: v_n+ = max(0, v_n-) has the slopes 0 and 1."""
    at_rest = {"v": np.array([3.0, 4.0, 0.0])}
    due = StepOutputs(np.array([0.0, 0.0, 1.0]), np.zeros(1), np.zeros(2), np.zeros(0))
    layer, given = sliding(name)
    found = layer.gradient(layer.step({**given, **at_rest}), due)
    np.testing.assert_allclose(found["v"], [0, 0, 1], atol=1e-12)
    layer, given = sliding(name, at_kinks="refuse")
    with pytest.raises(DataError, match=words):
        layer.gradient(layer.step({**given, **at_rest}), due)


@pytest.mark.parametrize("name", ["stewart-trinkle", "anitescu-potra", "discrete-velocity"])
@pytest.mark.parametrize("v", [(0.0, 0.0, -1.0), (0.1, 0.0, -1.0), (0.1, 0.05, -1.0), (0.1, -0.1, -1.0)])
def test_a_polygon_that_sticks_keeps_its_velocity_of_zero(name, v):
    """Whichever facets bear: none without friction, one along its own direction. Nothing acts on the particle beside
    it, which touches without force or is open."""
    layer, J = ContactLayer(FORMULATIONS.find(name), (6, 0, 2, 2), 0.01), np.eye(6)
    fixed = {"M": 2 * J, "J_n": J[[2, 5]], "J_t": J[[0, 1, 3, 4]], "mu": np.full(2, 0.5)}
    for beside in ((0.3, 0.2, 0.0), (0.3, 0.2, 1.0), (0.0, 0.0, 1.0)):
        step = layer.step({**fixed, "v": np.array([*v, *beside])})
        for k in range(6):
            due = StepOutputs(J[k], np.zeros(2), np.zeros(4), np.zeros(0))
            np.testing.assert_allclose(layer.gradient(step, due)["v"], J[k] if k >= 3 else np.zeros(6), atol=1e-12)


def test_polygons_that_stick_slide_or_are_open_are_not_between_modes():
    """Random contacts of each, whose modes hold at other solutions: nothing is refused, and nothing is one-sided."""
    size, seen = (27, 0, 8, 2), set()
    layer = ContactLayer(FORMULATIONS.find("stewart-trinkle"), size, 0.01, at_kinks="refuse")
    for seed in range(6):
        rng = np.random.default_rng(seed)
        given = data(seed, size) | {"mu": rng.uniform(0.2, 2.0, 8), "r_n": rng.normal(size=8)}
        step = layer.step(given)
        p_n, p_t = step.outputs.p_n, step.outputs.p_t.reshape(8, 2)
        share = np.abs(p_t).sum(axis=1) / np.maximum(given["mu"] * p_n, 1e-9)
        seen |= {"open" if p == 0 else "slides" if x > 1 - 1e-9 else "sticks" for p, x in zip(p_n, share, strict=True)}
        due = StepOutputs(rng.normal(size=27), np.zeros(8), rng.normal(size=16), np.zeros(0))
        found = layer.gradient(step, due)
        for name in ("v", "mu", "J_t", "r_n"):
            along = rng.normal(size=given[name].shape)
            second, fourth = slopes(layer, given, due, name, along)
            if abs(second - fourth) <= 1e-6 * max(1.0, abs(fourth)):
                assert (found[name] * along).sum() == pytest.approx(fourth, rel=1e-6, abs=1e-6), (seed, name)
    assert seen == {"open", "slides", "sticks"}


def test_redundant_contacts_have_gradients_of_velocities_alone():
    """Two feet of one particle: the motion is that of one foot, the share of the load is open."""
    one = ContactLayer(FORMULATIONS.find("frictionless"), (3, 0, 1, 2), 0.01)
    two = ContactLayer(FORMULATIONS.find("frictionless"), (3, 0, 2, 2), 0.01)
    _, given = sliding()
    twice = {**given, **{name: np.concatenate([given[name]] * 2) for name in ("J_n", "J_t", "mu")}}
    by_v = np.array([1.0, 2.0, 3.0])
    due = [StepOutputs(by_v, np.zeros(k), np.zeros(2 * k), np.zeros(0)) for k in (1, 2)]
    a, b = (layer.gradient(layer.step(x), g) for layer, x, g in zip((one, two), (given, twice), due, strict=True))
    np.testing.assert_allclose(a["v"], b["v"], atol=1e-12)
    np.testing.assert_allclose(a["M"], b["M"], atol=1e-12)
    # Of gaps that would contradict one another both feet have the same share.
    apart = two.gradient(two.step({**twice, "r_n": np.zeros(2)}), due[1])["r_n"]
    assert apart[0] == pytest.approx(apart[1])
    with pytest.raises(DataError, match="load sharing is not determined"):
        two.gradient(two.step(twice), due[1]._replace(p_n=np.array([1.0, 0.0])))
    whole = two.gradient(two.step(twice), due[1]._replace(v=0 * by_v, p_n=np.ones(2)))
    assert whole["v"][2] == pytest.approx(-2.0, rel=1e-12)


def test_the_estimate_of_redundant_contacts_has_a_gradient_of_what_their_load_sharing_does_not_move():
    """Two feet of one sliding particle: friction of both is that of one; the friction of either is open."""
    one, given = sliding("box")
    two = ContactLayer(FORMULATIONS.find("box"), (3, 0, 2, 2), 0.01)
    twice = {**given, **{name: np.concatenate([given[name]] * 2) for name in ("J_n", "J_t", "mu")}}
    due = [StepOutputs(np.array([1.0, 2.0, 0.0]), np.zeros(k), np.zeros(2 * k), np.zeros(0)) for k in (1, 2)]
    a, b = (x.gradient(x.step(g), d) for x, g, d in zip((one, two), (given, twice), due, strict=True))
    for name in ("v", "M"):
        np.testing.assert_allclose(a[name], b[name], atol=1e-12)
    with pytest.raises(DataError, match="load sharing is not determined"):
        two.gradient(two.step({**twice, "mu": np.array([0.5, 0.3])}), due[1])


def test_an_estimate_between_two_modes_is_a_kink_of_the_step():
    """Without friction the second particle touches without force; friction of the first, to which it is bound, opens
    it. What would press on it would make friction there."""
    J, due = np.eye(6), StepOutputs(np.array([0.0, 0, 0, 1, 0, 0]), np.zeros(2), np.zeros(4), np.zeros(0))
    M = 2 * J
    M[0, 5] = M[5, 0] = 0.5
    given = {
        "M": M, "v": np.array([3.0, 4, -1, 0.3, 0.2, 0]), "J_n": J[[2, 5]], "J_t": J[[0, 1, 3, 4]],
        "mu": np.full(2, 0.5),
    }  # fmt: skip
    layer = ContactLayer(FORMULATIONS.find("box"), (6, 0, 2, 2), 0.01)
    step = layer.step(given)
    assert step.outputs.v[5] > 0.1
    np.testing.assert_allclose(layer.gradient(step, due)["v"], [0, 0, 0, 1, 0, 0], atol=1e-12)
    layer = ContactLayer(FORMULATIONS.find("box"), (6, 0, 2, 2), 0.01, at_kinks="refuse")
    with pytest.raises(DataError, match="without velocity"):
        layer.gradient(layer.step(given), due)


def test_the_gradient_of_an_estimate_by_the_mass_is_not_symmetric():
    layer, given, rng = ContactLayer(FORMULATIONS.find("box"), SIZE, 0.01), data(0), np.random.default_rng(0)
    step = layer.step(given)
    due = StepOutputs(*(rng.normal(size=x.size) for x in step.outputs))
    along = rng.normal(size=(6, 6))
    _, fourth = slopes(layer, given, due, "M", along)
    assert (layer.gradient(step, due)["M"] * along).sum() == pytest.approx(fourth, rel=1e-7)


@pytest.mark.parametrize("name", ["coulomb", "box"])
def test_a_batch_is_its_steps_and_what_it_shares_collects_their_sum(name):
    """Contacts slide, stick, open and touch, which is between modes."""
    layer, given = sliding(name)
    speeds = np.array([[3.0, 4.0, -1.0], [1.0, 0.0, -2.0], [0.1, 0.0, -1.0], [3.0, 4.0, 0.0], [3.0, 4.0, 1.0]])
    steps = layer.step({**given, "v": speeds})
    assert steps.outputs.v.shape == (5, 3)
    due = StepOutputs(np.ones((5, 3)), np.zeros((5, 1)), np.zeros((5, 2)), np.zeros((5, 0)))
    found = layer.gradient(steps, due)
    one = StepOutputs(np.ones(3), np.zeros(1), np.zeros(2), np.zeros(0))
    alone = [layer.step({**given, "v": v}) for v in speeds]
    np.testing.assert_array_equal(steps.outputs.v, [step.outputs.v for step in alone])
    single = [layer.gradient(step, one) for step in alone]
    np.testing.assert_array_equal(found["v"], [x["v"] for x in single])
    np.testing.assert_allclose(found["mu"], sum(x["mu"] for x in single), rtol=1e-14)
    assert {name: x.shape for name, x in found.items()} == {
        name: np.shape(x) for name, x in {**given, "v": speeds}.items()
    }


@pytest.mark.parametrize("name", ["coulomb", "ccp", "stewart-trinkle", "box"])
def test_a_step_without_an_answer_is_an_error_within_a_batch_too(name):
    """A particle between two plates that approach each other at 2 m/s, and one between plates that part."""
    layer = ContactLayer(FORMULATIONS.find(name), (3, 0, 2, 2), 0.01)
    J = np.eye(3)
    given = {
        "M": J, "v": np.zeros(3), "J_n": np.stack([J[2], -J[2]]), "J_t": np.concatenate([J[:2], J[:2]]),
        "mu": np.full(2, 0.5),
    }  # fmt: skip
    assert not layer.step({**given, "r_n": np.ones(2)}).outputs.v.any()
    for r_n in (-np.ones(2), np.array([[1.0, 1.0], [-1.0, -1.0]])):
        with pytest.raises(DataError, match="the step has no answer"):
            layer.step({**given, "r_n": r_n})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mu": None}, "mu is missing"),
        ({"nu": np.ones(1)}, "a step has no 'nu'"),
        ({"mu": np.array([-0.1])}, r"mu = -0\.1 is negative"),
        ({"v": np.array([np.nan, 0, 0])}, "v has an entry that is not finite"),
        ({"v": np.ones(4)}, r"v has shape \(4,\); \(3,\) is needed"),
        ({"v": np.ones((2, 3)), "mu": np.ones((3, 1))}, "axes of a batch do not fit"),
        ({"v": 1j * np.ones(3)}, "v is no array of real numbers"),
        ({"v": [[1], [1, 2]]}, "v is no array of real numbers"),
    ],
)
def test_data_that_do_not_fit_are_named(change, words):
    layer, given = sliding()
    with pytest.raises(DataError, match=words):
        layer.step({name: x for name, x in {**given, **change}.items() if x is not None})


def test_a_gradient_that_does_not_fit_is_named_and_no_steps_have_no_gradients():
    layer, given = sliding()
    due = layer.step(given).outputs
    with pytest.raises(DataError, match=r"gradient by v has shape \(2,\); \(3,\) is needed"):
        layer.gradient(layer.step(given), due._replace(v=np.ones(2)))
    nothing = layer.step({**given, "v": np.ones((0, 3))})
    assert [x.shape for x in nothing.outputs] == [(0, *x.shape) for x in due]
    gradients = layer.gradient(nothing, nothing.outputs)
    assert gradients["v"].shape == (0, 3)
    assert not gradients["M"].any()


def test_options_that_do_not_fit_are_named():
    given = {"size": SIZE, "h": 0.01}
    for options, words in [
        ({"h": 0.0}, "step 0 s"), ({"h": "x"}, "step 'x'"), ({"at_kinks": "guess"}, "at_kinks = 'guess'"),
        ({"size": "abcd"}, "size = 'abcd'; whole numbers"), ({"size": 3}, "size = 3"), ({"size": (3, 0, 1)}, "size = "),
        ({"size": (0, 0, 1, 2)}, "at least one velocity"), ({"size": (10**6, 0, 1, 2)}, "take 8000.0 GB, more than 1"),
    ]:  # fmt: skip
        with pytest.raises(DataError, match=words) as heard:
            ContactLayer(FORMULATIONS.find("coulomb"), **given | options)
        assert "\n" not in str(heard.value)
    with pytest.raises(ModellingError, match="iterates its data"):
        ContactLayer(FORMULATIONS.find("ipc"), SIZE, 0.01)


def test_jax_differentiates_within_its_transformations():
    jax = pytest.importorskip("jax")
    from jax.test_util import check_grads

    with jax.enable_x64(True):
        given = data(1, (6, 0, 2, 2))
        layer = wb.jax.ContactLayer("coulomb", (6, 0, 2, 2), 0.01)

        def of(v, mu):
            return layer(**{**given, "v": v, "mu": mu}).v

        check_grads(of, (given["v"], given["mu"]), order=1, modes=("rev",))
        by_mu = jax.grad(lambda mu, v: (of(v, mu) ** 2).sum())
        speeds = np.random.default_rng(2).normal(size=(3, 6))
        single = np.stack([by_mu(given["mu"], v) for v in speeds])
        np.testing.assert_allclose(jax.vmap(by_mu, (None, 0))(given["mu"], speeds), single, rtol=1e-12)
        np.testing.assert_allclose(jax.jit(by_mu)(given["mu"], speeds), single.sum(0), rtol=1e-12)
        with pytest.raises(DataError, match="M is missing"):
            layer(v=given["v"])


def test_pytorch_differentiates():
    torch = pytest.importorskip("torch")
    given = {name: torch.tensor(x) for name, x in data(1, (6, 0, 2, 2)).items()}
    layer = wb.torch.ContactLayer("coulomb", (6, 0, 2, 2), 0.01)

    def of(v, mu, J_n):
        return layer(**{**given, "v": v, "mu": mu, "J_n": J_n})

    moved = [given[name].clone().requires_grad_() for name in ("v", "mu", "J_n")]
    assert torch.autograd.gradcheck(of, moved)
    speeds = torch.tensor(np.random.default_rng(2).normal(size=(3, 6)), requires_grad=True)
    assert torch.autograd.gradcheck(of, [speeds, *moved[1:]])
    with pytest.raises(DataError, match="M is missing"):
        layer(v=given["v"])
