"""Models of MuJoCo as scenes: what an instant holds, against what MuJoCo itself computes."""

import numpy as np
import pytest

mj = pytest.importorskip("mujoco")

from workbench.scenes.mujoco.scene import MujocoScene  # noqa: E402

BOX = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 .1"/>
<body name="box" pos="0 0 0.1005"><freejoint/><geom type="box" size=".1 .2 .1" friction="0.7 0.02 0.003"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def scene(tmp_path):
    def of(text, **given):
        path = tmp_path / "scene.xml"
        path.write_text(text)
        return MujocoScene(path, **given)

    return of


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
