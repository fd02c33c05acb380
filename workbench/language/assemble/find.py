"""Find the compiled declaration of a formulation: in this process, on disk, or by compiling it now."""

from dataclasses import replace
from functools import lru_cache
from time import perf_counter

from workbench.engine.timing import standing_still
from workbench.language.assemble.plan import Compiled
from workbench.language.assemble.store import load_declaration, made_alone, save_declaration
from workbench.language.formulation import Formulation


@lru_cache(maxsize=256)
def compiled(formulation: Formulation, *size: int) -> Compiled:
    """Compile a formulation for one size: for a time step n velocities, m bilateral rows, r contacts, d tangents."""
    start = perf_counter()
    with standing_still():
        c = load_declaration(formulation, size)
        if c is None:
            from workbench.language.assemble.tensor import compile_declaration

            with made_alone(formulation, size):
                # Another process may have compiled it in the meantime.
                c = load_declaration(formulation, size)
                if c is None:
                    c = compile_declaration(formulation, size)
                    save_declaration(c)
    return replace(c, seconds=perf_counter() - start)
