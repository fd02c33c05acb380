"""Functions that must not be called within a loop: a kernel that does so is rejected at compilation.

Loops are those of the compiled code: including the loops of every function that numba inlines (`inline="always"`), but
not those around calls of other functions, which release their stack memory on return.
"""

from typing import Any

from workbench.engine.numba_internals import (
    AnalysisPass,
    CompilerBase,
    DefaultPassBuilder,
    IRLegalization,
    OptimizedOnce,
    compute_cfg_from_blocks,
    register_pass,
)
from workbench.support.errors import WorkbenchError

ONCE: dict[Any, str] = {}
"""Intrinsics for use outside loops, and their names."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _Once(AnalysisPass):
    """Compiler pass that raises WorkbenchError for a call of one of `ONCE` within a loop."""

    _name = "once"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Check the function; nothing is changed."""
        blocks = state.func_ir.blocks
        for loop in compute_cfg_from_blocks(blocks).loops().values():
            for call in (call for label in loop.body for call in blocks[label].find_exprs("call")):
                called = getattr(state.typemap[call.func.name], "typing_key", None)
                if called in ONCE:
                    raise WorkbenchError(
                        f"{state.func_id.func_qualname} calls {ONCE[called]} within a loop, line {call.loc.line} of "
                        f"{call.loc.filename}: it would take more of the stack in every pass; call it before the loop"
                    )
        return False


class Pipeline(CompilerBase):
    """Numba's pipeline with this check, and with code that is optimised once."""

    def define_pipelines(self) -> list:
        """Return the pipeline for compiled code."""
        self.state.library = OptimizedOnce(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(_Once, IRLegalization)
        manager.finalize()
        return [manager]
