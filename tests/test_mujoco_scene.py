"""Models of MuJoCo as scenes: what an instant holds, against what MuJoCo itself computes and against differences."""

import pickle

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from workbench.builtin.formulations import FORMULATIONS  # noqa: E402
from workbench.mechanics.solids import Plane, rotated  # noqa: E402
from workbench.scenes.mujoco.engine import MujocoEngine  # noqa: E402
from workbench.scenes.mujoco.scene import MujocoScene  # noqa: E402
from workbench.scenes.stepper import SceneStepper  # noqa: E402

FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'
BOX = f"""<mujoco><option timestep="0.002"/><worldbody>{FLOOR}
<body name="box" pos="0 0 0.1005"><freejoint/><geom type="box" size=".1 .2 .1" friction="0.7 0.02 0.003"/></body>
</worldbody></mujoco>"""
ARM = """<mujoco><option timestep="0.01" integrator="{integrator}"/><worldbody>
<body name="upper"><joint name="shoulder" axis="0 1 0" damping="0.5 0.3 0.2" armature="0.1" stiffness="3 1"/>
 <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/>
 <body name="lower" pos="0 0 -.5"><joint name="elbow" axis="0 1 0" damping="0.5" stiffness="3"/>
  <geom type="capsule" fromto="0 0 0 0 0.1 -.5" size=".03"/></body></body>
<body name="ball" pos="1 0 0"><joint type="ball" damping="0.1"/><geom pos="0 .2 0" size=".1"/></body>
</worldbody>
<tendon><fixed name="t" damping="0.4" stiffness="2" armature="0.02">
 <joint joint="shoulder" coef="1"/><joint joint="elbow" coef="2"/></fixed></tendon>
<actuator><position joint="shoulder" kp="10" kv="1"/>
<general joint="elbow" damping="0.7" dyntype="filter" dynprm="0.1"/>
<velocity tendon="t" kv="0.3"/></actuator></mujoco>"""
ALL = """<mujoco>
<option timestep="0.002" cone="elliptic" tolerance="1e-14" iterations="200" ls_tolerance="1e-8" impratio="2">
<flag diagexact="enable" eulerdamp="disable"/></option><worldbody>
<geom name="floor" type="plane" size="5 5 .1" condim="1"/>
<body name="belt" pos="0 1 0.3">
 <joint name="slide" type="slide" axis="1 0 0" range="-0.01 0.01" limited="true" damping="5"/>
 <geom name="belt" type="box" size=".3 .3 .05" surfacevel="0.3 0 0 0 0 0"/></body>
<body name="cargo" pos="0 1 0.45"><freejoint/><geom name="cargo" type="box" size=".1 .1 .1" condim="4"/></body>
<body name="ball" pos="1 0 0.099"><freejoint/><geom name="ball" size=".1" condim="6" friction=".7 .02 .01"/></body>
<body name="puck" pos="2 0 0.049"><freejoint/><geom name="puck" type="cylinder" size=".1 .05" condim="1"/></body>
<body name="brick" pos="3 0 0.0495" euler="0 0 20"><freejoint/><geom name="brick" type="box" size=".2 .1 .05"/></body>
<body name="one" pos="0 0 1"><joint name="hinge" axis="0 1 0" frictionloss="0.05" range="-30 5"/>
 <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/>
 <body name="two" pos="0 0 -.3"><joint name="knee" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body>
</body>
<body name="hung" pos="0.2 0.01 0.7"><freejoint/><geom size=".03"/></body>
<body name="swivel" pos="-1 0 1"><joint name="swivel" type="ball" range="0 20"/><geom pos="0 0.2 0" size=".05"/></body>
</worldbody>
<tendon><fixed name="cord" range="-0.1 0.05" limited="true" frictionloss="0.02"><joint joint="hinge" coef="1"/>
<joint joint="knee" coef="-0.5"/></fixed></tendon>
<equality><connect body1="two" body2="hung" anchor=".2 0 0"/></equality>
<contact><exclude body1="two" body2="hung"/></contact></mujoco>"""


@pytest.fixture
def scene(tmp_path):
    def of(text, **given):
        path = tmp_path / "scene.xml"
        path.write_text(text)
        return MujocoScene(path, **given)

    return of


def shaken(s, seed=0, speed=0.5):
    """The start with random velocities."""
    q, v = s.start()
    return q, v + speed * np.random.default_rng(seed).normal(size=v.size)


def at_limits(s):
    """A state close to all four limits."""
    q, v = shaken(s, speed=0.3)
    for name, value in {"slide": 0.009, "hinge": 0.087, "knee": 0.084}.items():
        q[s.model.joint(name).qposadr[0]] = value
    first = s.model.joint("swivel").qposadr[0]
    q[first : first + 4] = np.cos(0.17), np.sin(0.17), 0.0, 0.0
    return q, v


def data_at(s, q, v):
    """MuJoCo's data of the file's own model at a state."""
    d = mujoco.MjData(s.model)
    s.reset(d)
    d.qpos[:], d.act[:], d.qvel[:] = q[: s.model.nq], q[s.model.nq :], v
    d.ctrl[:] = s.controls.at(0.0)
    return d


def test_a_box_above_a_plane_has_four_contacts_that_are_seen_before_they_close(scene):
    s = scene(BOX)
    q, v = s.start()
    v[2] = -0.3
    given = s.instant(q, v, 0.0, s.step)
    assert given.first.tolist() == [0, 3, 6, 9, 12]
    np.testing.assert_allclose(given.phi, 0.0005, atol=1e-12)
    np.testing.assert_allclose(given.mu.reshape(4, 3), [[1.0, 1.0, 1.0]] * 4)
    np.testing.assert_allclose((given.J @ v)[given.first[:-1]], -0.3)
    after = s.instant(s.advance(q, v, s.step), v, s.step, s.step)
    np.testing.assert_allclose(after.phi, -0.0001, atol=1e-12)
    assert after.key.tolist() == given.key.tolist()
    assert s.instant(q, -v, 0.0, 1e-5).contacts == 0


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "discrete"])
def test_a_step_without_contacts_is_that_of_the_engine(scene, integrator):
    s = scene(ARM.format(integrator=integrator), ctrl=0.4)
    q, v = shaken(s, speed=1.0)
    q[-1] = 0.2
    given = s.instant(q, v, 0.0, s.step)
    d = data_at(s, q, v)
    mujoco.mj_step(s.model, d)
    after = v + s.step * np.linalg.solve(given.M.toarray(), given.f)
    np.testing.assert_allclose(after, d.qvel, rtol=0, atol=1e-13)
    np.testing.assert_allclose(s.advance(q, after, s.step), np.append(d.qpos, d.act), rtol=0, atol=1e-14)


def test_gaps_of_contacts_and_limits_change_as_their_rows_say(scene):
    s = scene(ALL)
    q, v = at_limits(s)
    h = 1e-6
    given, after = s.instant(q, v, 0.0, 0.02), s.instant(s.advance(q, v, h), v, 0.0, 0.02)
    rate = (given.J @ v)[given.first[:-1]]
    there = dict(zip(after.key.tolist(), after.phi, strict=True))
    names = [x["name"] for x in s.contact_names(given)]
    # The cylinder's contact points move on its rim.
    kept = [i for i, name in enumerate(names) if "puck" not in name]
    change = np.array([there[int(given.key[i])] - given.phi[i] for i in kept]) / h
    np.testing.assert_allclose(change, rate[kept], atol=2e-5)
    limits = {x.removeprefix("limit of ") for x in names if x.startswith("limit")}
    assert limits == {"joint 'slide'", "joint 'hinge'", "tendon 'cord'", "joint 'swivel'"}
    phi = {x: given.phi[i] for i, x in enumerate(names)}
    assert phi["limit of joint 'slide'"] == pytest.approx(0.001, abs=1e-12)
    assert phi["limit of tendon 'cord'"] == pytest.approx(0.005, abs=1e-12)
    assert phi["limit of joint 'swivel'"] == pytest.approx(np.radians(20) - 0.34, abs=1e-12)


def test_rows_are_relative_velocities_at_the_contact_in_its_frame(scene):
    """Against `mj_jac` of both bodies, on the file's own model with gaps, where contacts have no rows."""
    s = scene(ALL)
    q, v = shaken(s, speed=0.3)
    given = s.instant(q, v, 0.0, s.step)
    names = [x["name"] for x in s.contact_names(given)]
    d = data_at(s, q, v)
    s.model.geom_gap[:] = 0.01
    mujoco.mj_fwdPosition(s.model, d)
    occurrence, seen = {}, 0
    for c in d.contact:
        geoms = " / ".join(s.model.geom(int(g)).name or f"geom {g}" for g in c.geom)
        occurrence[geoms] = occurrence.get(geoms, -1) + 1
        name = f"{geoms} {occurrence[geoms]}"
        if name not in names:
            continue
        jac = np.zeros((2, 2, 3, s.model.nv))
        for side, g in enumerate(c.geom):
            mujoco.mj_jac(s.model, d, jac[side, 0], jac[side, 1], c.pos, s.model.geom_bodyid[g])
        frame = c.frame.reshape(3, 3)
        rows = np.concatenate(frame @ (jac[1] - jac[0]))[: c.dim]
        i = names.index(name)
        here = slice(given.first[i], given.first[i + 1])
        np.testing.assert_allclose(given.J[here].toarray(), rows, atol=1e-12)
        twist = np.concatenate(jac[1] - jac[0])
        np.testing.assert_allclose(given.places.acts[here] @ twist, rows, atol=1e-12)
        np.testing.assert_allclose(given.places.point[i], c.pos, atol=1e-12)
        np.testing.assert_allclose(given.mu[here][1:], c.friction[: c.dim - 1])
        seen += 1
    assert seen == sum(not x.startswith("limit") for x in names)


def test_condim_and_friction_of_zero_make_the_directions(scene):
    kinds = {(1, ".7 .02 .01"): 0, (3, ".7 .02 .01"): 2, (4, ".7 .02 .01"): 3, (6, ".7 .02 .01"): 5}
    kinds |= {(6, ".7 0 0"): 2, (6, ".7 .02 0"): 3, (3, "0 0 0"): 0}
    for (condim, friction), directions in kinds.items():
        common = f'condim="{condim}" friction="{friction}"'
        s = scene(f"""<mujoco><worldbody><geom type="plane" size="1 1 1" {common}/>
        <body pos="0 0 .099"><freejoint/><geom size=".1" {common}/></body></worldbody></mujoco>""")
        given = s.instant(*s.start(), 0.0, s.step)
        assert given.directions.tolist() == [directions], (condim, friction)
        np.testing.assert_allclose(given.mu[1:3], 0.7)


def test_directions_along_which_nothing_moves_are_left_out(scene):
    s = scene(f"""<mujoco><worldbody>{FLOOR}<body pos="0 0 .099"><joint type="slide" axis="1 0 0"/>
    <joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/><geom size=".1"/></body></worldbody></mujoco>""")
    given = s.instant(*s.start(), 0.0, s.step)
    assert given.directions.tolist() == [1]
    np.testing.assert_allclose(np.abs(given.J.toarray()), [[0, 1, 0], [1, 0, 0.0995]], atol=1e-12)


def test_gaps_are_measured_from_the_margin_of_the_file(scene):
    """The sum of two geoms' margins, that of a pair, that of the override; speeds raise what is seen, not the gap."""

    def gap(more, extra="", height=0.11, speed=5.0, floor=FLOOR):
        s = scene(f"""<mujoco>{extra}<worldbody>{floor}<body pos="0 0 {height}"><freejoint/>
        <geom name="g" size=".1" {more}/></body></worldbody>{PAIR if extra == "" and not more else ""}</mujoco>""")
        q, v = s.start()
        v[2] = -speed
        return s.instant(q, v, 0.0, s.step).phi

    PAIR = '<contact><pair geom1="floor" geom2="g" margin="0.003"/></contact>'
    np.testing.assert_allclose(gap('margin="0.004"'), [0.006], atol=1e-12)
    np.testing.assert_allclose(gap(""), [0.007], atol=1e-12)
    both = FLOOR.replace("/>", ' margin="0.001"/>')
    np.testing.assert_allclose(gap('margin="0.004"', floor=both), [0.005], atol=1e-12)
    override = '<option o_margin="0.008"><flag override="enable"/></option>'
    np.testing.assert_allclose(gap('margin="0.004"', override, 0.1085, 0.1), [0.0005], atol=1e-12)


def test_limits_are_measured_from_the_margin_of_the_file(scene):
    """Each joint's and tendon's own, above and below; softness too is their own, as of MuJoCo's solref."""
    s = scene("""<mujoco><compiler angle="radian"/><worldbody>
    <body><joint name="a" range="-0.1 0.1" limited="true" margin="0.02" solreflimit="0.03 0.9"/><geom size=".1"/>
    <body><joint name="b" axis="0 1 0" range="-0.2 0.3" limited="true" margin="0.05"/><geom size=".1"/></body>
    </body></worldbody><tendon><fixed name="t" range="-0.1 0.365" limited="true" margin="0.01" solreflimit="-50 -2">
    <joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon></mujoco>""")
    given = s.instant(np.array([0.09, 0.27]), np.zeros(2), 0.0, s.step)
    found = {x["name"]: i for i, x in enumerate(s.contact_names(given))}
    assert sorted(found) == ["limit of joint 'a'", "limit of joint 'b'", "limit of tendon 't'"]
    a, b, t = (found[f"limit of {x}"] for x in ("joint 'a'", "joint 'b'", "tendon 't'"))
    np.testing.assert_allclose(given.phi[[a, b, t]], [0.1 - 0.09 - 0.02, 0.3 - 0.27 - 0.05, 0.365 - 0.36 - 0.01])
    np.testing.assert_allclose(given.numbers["timeconst"][[a, b, t]], [0.03, 0.02, -2 / 2])
    np.testing.assert_allclose(given.numbers["dampratio"][[a, b, t]], [0.9, 1.0, 2 / (2 * np.sqrt(50))])
    below = s.instant(np.array([-0.09, 0.0]), np.zeros(2), 0.0, s.step)
    lower = [x["name"] for x in s.contact_names(below)].index("limit of joint 'a'")
    assert below.key[lower] != given.key[a]


def test_limits_that_close_within_the_step_are_seen(scene):
    """By the speed before the step or by that after it; of a ball joint whatever axis it turns about."""
    s = scene("""<mujoco><option timestep="0.1"/><worldbody><body><joint name="a" type="slide" axis="0 0 -1"/>
    <geom size=".1"/></body></worldbody><tendon><fixed name="t" range="-1 0.05" limited="true">
    <joint joint="a" coef="1"/></fixed></tendon></mujoco>""")
    still = np.zeros(1)
    # It falls by 0.098 m in the step.
    assert s.instant(still, still, 0.0, 0.1).contacts == 1
    assert s.instant(still, still, 0.0, 0.01).contacts == 0
    # Thrown up at 0.9 m/s it is slow at the end of the step.
    assert s.instant(still, np.array([-0.9]), 0.0, 0.1).contacts == 1
    ball = scene("""<mujoco><option gravity="0 0 0"/><compiler angle="radian"/><worldbody><body>
    <joint type="ball" range="0 0.3" limited="true"/><geom size=".1" pos="0.3 0 0"/></body></worldbody></mujoco>""")
    q = np.array([np.cos(0.14), 0.0, 0.0, np.sin(0.14)])
    for axis in range(3):
        assert ball.instant(q, 20.0 * np.eye(3)[axis], 0.0, 1e-3).contacts == 1
    assert ball.instant(q, np.full(3, 0.1), 0.0, 1e-3).contacts == 0


def test_what_a_turning_body_moves_towards_the_floor_is_seen(scene):
    """A ball at the end of an arm, at 5 m/s by the spin, against the 5 m/s of the arm's centre: 10 m/s or none."""
    s = scene(f"""<mujoco><option gravity="0 0 0"/><worldbody>{FLOOR}<body pos="0 0 0.125"><freejoint/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom size=".1" pos="0.5 0 0" mass="0"/></body></worldbody>
    </mujoco>""")
    q, v = s.start()
    for spin, seen in ((10.0, 1), (-10.0, 0)):
        # Forwards about y, the end of the arm goes down.
        v[2], v[4] = -5.0, spin
        assert s.instant(q, v, 0.0, 2e-3).contacts == seen


def test_equalities_and_dry_friction_are_rows_of_their_own(scene):
    s = scene(ALL)
    q, v = shaken(s)
    h = 1e-6
    given, after = s.instant(q, v, 0.0, s.step), s.instant(s.advance(q, v, h), v, 0.0, s.step)
    assert given.g.size == 3
    np.testing.assert_allclose((after.g - given.g) / h, given.J_b @ v, atol=2e-5)
    np.testing.assert_allclose(given.limit, s.step * np.array([0.05, 0.02]))
    hinge, knee = (s.model.joint(x).dofadr[0] for x in ("hinge", "knee"))
    expected = np.zeros((2, v.size))
    expected[0, hinge] = expected[1, hinge] = 1.0
    expected[1, knee] = -0.5
    np.testing.assert_allclose(given.J_f.toarray(), expected, atol=1e-15)


def test_a_moving_surface_is_a_prescribed_rate(scene):
    s = scene(ALL)
    q, v = s.start()
    q[s.model.joint("slide").qposadr[0]] = 0.0
    given = s.instant(q, v, 0.0, s.step)
    on_belt = [i for i, x in enumerate(s.contact_names(given)) if x["name"].startswith("belt / cargo")]
    rates = np.array([given.rate[given.first[i] : given.first[i] + 3] for i in on_belt])
    assert len(on_belt) == 4
    np.testing.assert_allclose(np.abs(rates).max(axis=1), 0.3)
    d = data_at(s, q, v)
    mujoco.mj_forward(s.model, d)
    for c in d.contact:
        if s.model.geom("belt").id in c.geom and s.model.geom("cargo").id in c.geom:
            np.testing.assert_allclose(d.efc_vel[c.efc_address : c.efc_address + 3], rates[0], atol=1e-12)


@pytest.mark.parametrize(("name", "cone"), [("mujoco", "elliptic"), ("mujoco-pyramid", "pyramidal")])
def test_the_formulations_of_mujoco_make_the_steps_of_the_engine(scene, name, cone):
    """Contacts of all kinds, limits, an equality, dry friction and a belt, from the engine's own states."""
    s = scene(ALL.replace('cone="elliptic"', f'cone="{cone}"'))
    stepper = SceneStepper(s, FORMULATIONS.find(name), s.step)
    d = data_at(s, *shaken(s, speed=0.1))
    worst, kinds = 0.0, set()
    for _ in range(12):
        q, v = np.append(d.qpos, d.act), d.qvel.copy()
        x = stepper.step(q, v, d.time)
        mujoco.mj_step(s.model, d)
        kinds |= set(x.given.directions[x.given.phi <= 0].tolist())
        worst = max(worst, np.abs(x.v - d.qvel).max())
    assert kinds == {0, 2, 3, 5}
    # MuJoCo's Newton method stops where its cost, a square, no longer improves.
    assert worst < 1e-8


@pytest.mark.parametrize(
    "own",
    [
        'solimp="0.8 0.95 0.002 0.3 3"', 'solimp="0.8 0.95 0.002 0.7 1"', 'solimp="0.8 0.95 0 0.7 2"',
        'solreffriction="0.05 1"', 'solreffriction="0.003 1"', 'solref="-3000 -600"',
        'solref="-3000 -40" solimp="0.7 0.9 0.001 0.2 4" solreffriction="-5 -9"',
    ],
)  # fmt: skip
def test_the_softness_of_a_pair_is_the_engine_s(scene, own):
    """A ball that is 0.4 mm deep and slides: one step."""
    axes = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    s = scene(f"""<mujoco><option timestep="0.004" cone="elliptic" impratio="3" iterations="200" tolerance="0">
    <flag eulerdamp="disable" diagexact="enable"/></option><worldbody>{FLOOR}
    <body pos="0 0 .0996">{axes}<geom name="ball" size=".1" mass="2"/></body></worldbody>
    <contact><pair geom1="floor" geom2="ball" friction="0.3 0.3 0.01 0.001 0.001" {own}/></contact></mujoco>""")
    d = mujoco.MjData(s.model)
    d.qvel[:] = 0.4, -0.2, -0.05
    x = SceneStepper(s, next(f for f in FORMULATIONS if f.name == "mujoco"), s.step).step(
        d.qpos.copy(), d.qvel.copy(), 0.0
    )
    mujoco.mj_step(s.model, d)
    np.testing.assert_allclose(x.v, d.qvel, rtol=0, atol=1e-14)


def test_wrenches_of_the_engine_are_what_momenta_change_by(scene):
    s = scene(ALL, sets={"option.gravity": "2 1 -9.81"})
    track = MujocoEngine(s).run(s.step, 40 * s.step)
    assert track.finished
    free = [i for i, x in enumerate(s.bodies) if x in ("cargo", "ball", "puck", "brick")]
    momenta = [s.momentum(q, v) for q, v in zip(track.q, track.v, strict=True)]
    linear = np.array([p[free] for p, _ in momenta])
    weight = np.array([s.model.body(s.bodies[i]).mass[0] for i in free])[:, None] * [-2.0, -1.0, 9.81]
    np.testing.assert_allclose(track.touched.wrench[:, free, :3], np.diff(linear, axis=0) / s.step + weight, atol=1e-5)
    angular = np.array([L[free] for _, L in momenta])
    # But for the ball the axes turn within the step.
    spun = np.diff(angular, axis=0) / s.step
    np.testing.assert_allclose(track.touched.wrench[:, free, 3:], spun, atol=0.02)
    np.testing.assert_allclose(track.touched.wrench[:, s.bodies.index("ball"), 3:], spun[:, 1], atol=1e-5)
    assert (np.abs(track.touched.wrench[-1, free, 2]) > 1.0).all()
    assert track.iterations.max() > 0


def test_momenta_and_energy_are_those_of_the_engine(scene):
    s = scene(ARM.format(integrator="Euler"))
    q, v = shaken(s)
    d = data_at(s, q, v)
    mujoco.mj_forward(s.model, d)
    mujoco.mj_subtreeVel(s.model, d)
    p, L = s.momentum(q, v)
    mass = s.model.body_subtreemass[0]
    np.testing.assert_allclose(p.sum(axis=0), mass * d.subtree_linvel[0], atol=1e-13)
    about_origin = L + np.cross(s.poses(q)[0], p)
    total = d.subtree_angmom[0] + np.cross(d.subtree_com[0], mass * d.subtree_linvel[0])
    np.testing.assert_allclose(about_origin.sum(axis=0), total, atol=1e-13)
    mujoco.mj_energyPos(s.model, d)
    mujoco.mj_energyVel(s.model, d)
    assert s.energy(q, v) == pytest.approx(d.energy.sum(), abs=1e-13)


def test_links_that_are_welded_together_are_one_body(scene):
    s = scene("""<mujoco><worldbody><body name="arm"><freejoint/><geom size=".1"/>
    <body name="hand" pos="1 0 0"><geom size=".1"/></body></body></worldbody></mujoco>""")
    assert s.bodies == ["arm"]
    q, v = s.start()
    v[5] = 2.0
    np.testing.assert_allclose(s.poses(q)[0], [[0.5, 0, 0]], atol=1e-12)
    m = s.model.body("hand").mass[0]
    p, L = s.momentum(q, v)
    np.testing.assert_allclose(p, [[0, 2 * m, 0]], atol=1e-12)
    np.testing.assert_allclose(L, [[0, 0, 2 * (2 * m * 0.25 + 2 * 0.4 * m * 0.01)]], rtol=1e-9)


def test_shapes_lie_where_their_geoms_are(scene):
    s = scene(ALL)
    shown = s.solids()
    assert [x.name for x in shown if isinstance(x, Plane)] == ["floor"]
    q, _ = s.start()
    position, orientation = s.poses(q)
    d = data_at(s, *s.start())
    mujoco.mj_kinematics(s.model, d)
    brick = next(x for x in shown if x.name == "brick")
    x = rotated(orientation[brick.body], brick.vertices) + position[brick.body]
    local = (x - d.geom("brick").xpos) @ d.geom("brick").xmat.reshape(3, 3)
    np.testing.assert_allclose(np.abs(local).max(axis=0), [0.2, 0.1, 0.05], atol=1e-12)
    for solid in shown:
        if not isinstance(solid, Plane):
            a, b, c = solid.vertices[solid.triangles].transpose(1, 0, 2)
            assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0, solid.name


def test_a_scene_is_the_same_after_pickling(scene):
    s = scene(ALL, sets={"geom/ball.friction": "0.9"}).softened()
    again = pickle.loads(pickle.dumps(s))
    q, v = shaken(s)
    a, b = (x.instant(q, v, 0.0, s.step) for x in (s, again))
    assert np.array_equal(a.mu, b.mu)
    assert np.array_equal(a.eps_b, b.eps_b)
    assert a.eps_b.all()
