"""Picture of a traced method: its path through the complementary cones, or its sweeps."""

from workbench.builtin.reports.figures import cones_path, sweeps_plane
from workbench.builtin.reports.figures.cones import Picture, require_drawable
from workbench.diagnostics.tracing.trace import Trace
from workbench.support.errors import WorkbenchError


def is_drawable(trace: Trace) -> bool:
    """Pivots are drawn for two and three unknowns, sweeps for two."""
    return trace.system.n == 2 or (trace.system.n == 3 and not trace.sweeps)


def title_of_picture(trace: Trace) -> str:
    """Return the caption of the picture."""
    return sweeps_plane.TITLE if trace.sweeps else cones_path.TITLE


def picture(trace: Trace) -> Picture:
    """The picture of a trace; raises WorkbenchError for unknowns that cannot be drawn."""
    if not trace.sweeps:
        require_drawable(trace.system.n)
        return cones_path.picture(trace)
    if not is_drawable(trace):
        raise WorkbenchError(f"sweeps are drawn for two unknowns; the matrix has {trace.system.n}")
    return sweeps_plane.picture(trace)
