"""What was measured with which versions on what machine."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "contact-workbench", "numpy", "scipy", "numba", "clarabel", "scs", "cvxpy", "drake", "pin", "quantecon", "lemkelcp",
)  # fmt: skip


def provenance() -> dict[str, str]:
    """Versions by package, "missing" where there is none; Python, processor, cores."""
    found = {"python": platform.python_version(), "processor": _processor(), "cores": str(os.cpu_count())}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found | {"python3-siconos": _debian("python3-siconos")}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _debian(package: str) -> str:
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    except OSError:
        return "missing"
    return done.stdout.strip() or "missing"


def one_line(found: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in found.items())
