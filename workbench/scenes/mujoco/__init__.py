"""Models of MuJoCo, MJCF and URDF, as scenes, and MuJoCo's own engine beside them, by the package of that name."""
