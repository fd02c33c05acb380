"""Compiled functions that find each other by name, each compiled when it is first called.

Numba links the code of every function into all of its callers, to be optimised and turned into machine code once more
in each of them: a chain of helpers, methods and drivers was compiled over and over, and so was what is never called.
A `kernel` is compiled, or taken from numba's cache, once and when it is first called, from Python or from compiled
code. Its callers hold a place for its address, which is empty until then:

    @kernel(types.float64(MATRIX, VECTOR), **FAST)
    def largest(M, q): ...

A call through the place costs a nanosecond or two and is never inlined; helpers of a few lines within inner loops are
better off `linked=True`, as numba does it.

What the cached code of a kernel was made from makes it stale: its own file and this one, the files of what was linked
into it, the numbers and the signatures that it found in its module. Functions of plain numba may call kernels too, but
numba's cache does not see what they are made from: `njit(cache=True)` is not for them.
"""

import ctypes
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy.ma  # noqa: F401  Numba asks for it when it first meets an array, while clocks run.
from llvmlite import ir
from llvmlite.binding import add_symbol
from numba import types
from numba.core import cgutils, imputils
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime import rtsys
from numba.core.typing.templates import make_concrete_template
from numba.core.typing.typeof import Purpose, typeof_impl

from workbench.timing import standing_still


class Kernel(CPUDispatcher):
    """What `kernel` returns: called from Python and handed to compiled code like any function of numba's."""

    def __init__(self, function: Callable, signature: Any, linked: bool, options: dict[str, Any]) -> None:
        super().__init__(function, locals={}, targetoptions={"nopython": True, "error_model": "numpy", **options})
        self.declared, self.linked = signature, linked
        # Functions made in a loop differ in what they close over.
        closed = [cell.cell_contents for cell in function.__closure__ or ()]
        self.symbol = f"{function.__module__}.{function.__qualname__}{signature}{closed or ''}"
        self.kind = types.Function(make_concrete_template(function.__name__, self, [signature]))
        cpu_target.target_context.insert_func_defn([(self._call, self, signature.args)])
        self.place = ctypes.c_void_p()
        PLACES[ctypes.addressof(self.place)] = self
        add_symbol(self.symbol, ctypes.addressof(self.place))

    def __reduce__(self) -> Any:
        return self.py_func.__qualname__

    def ready(self) -> None:
        """Compile it or take it from the disk where that has not been done."""
        if self.place:
            return
        with global_compiler_lock, no_collection(), standing_still():
            if not self.overloads:
                self._cache = _Cache(self.py_func)
                super().compile(self.declared)
                self.disable_compile()
            made: Any = self.overloads[self.declared.args]
            self.place.value = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)

    def get_compile_result(self, signature: Any) -> Any:
        """As numba's, of first-class functions."""
        self.ready()
        return super().get_compile_result(signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """As numba's, of what is linked."""
        self.ready()
        return super().get_call_template(args, kws)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        # The first call from Python asks for what it is to call.
        self.ready()
        return self

    def _call(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """A call of what the place holds, by numba's convention: an error is passed on."""
        convention, anything = context.call_conv, cgutils.voidptr_t
        place = builder.module.globals.get(self.symbol) or ir.GlobalVariable(builder.module, anything, self.symbol)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load(place))):
            fill = ir.FunctionType(ir.IntType(64), [anything.as_pointer()])
            outcome = builder.call(cgutils.get_or_insert_function(builder.module, fill, FILL), [place])
            for code, error in FAILURES.items():
                with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", outcome, outcome.type(code))):
                    convention.return_user_exc(builder, error, (f"compiling {self.symbol}",))
        kind = convention.get_function_type(signature.return_type, signature.args)
        function = builder.bitcast(builder.load(place), kind.as_pointer())
        status, value = convention.call_function(builder, function, signature.return_type, signature.args, args)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return imputils.fix_returning_optional(context, builder, signature, status, value)


def kernel(signature: Any, *, linked: bool = False, **options: Any) -> Callable[[Callable], Any]:
    """A decorator: compiled for one signature, kept on disk; `options` are those of `numba.njit`."""
    return lambda function: Kernel(function, signature, linked, options)


@typeof_impl.register(Kernel)
def _type(value: Kernel, c: Any) -> Any:
    """Handed over as an argument it is a first-class function; in the code of another one, a name."""
    return types.Dispatcher(value) if value.linked or c.purpose is Purpose.argument else value.kind


PLACES: dict[int, Kernel] = {}
"""The kernel that belongs to a place."""
FILL = "workbench.compiling.fill"
FAILURES = {0: RuntimeError, 2: KeyboardInterrupt}
"""What compiled code raises where a place was not filled; 0 is what ctypes returns, having printed an exception."""


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
def _fill(place: int) -> int:
    """Called by compiled code that finds a place empty: 1, or one of `FAILURES`."""
    try:
        PLACES[place].ready()
    except KeyboardInterrupt:
        return 2
    return 1


add_symbol(FILL, ctypes.cast(_fill, ctypes.c_void_p).value)


@contextmanager
def no_collection() -> Iterator[None]:
    """Compiling makes millions of objects, and the garbage collector would go through them for a fifth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Cache(FunctionCache):
    """Numba's, which goes by the function's own file alone."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = tuple(sorted(set(_sources(function))))

    def load_overload(self, signature: Any, context: Any) -> Any:
        """As numba's, which first imports all that compiling might need: that takes ten times as long as the rest."""
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)


def _sources(function: Callable) -> Iterator[str]:
    """What the code of a function is made from, as words."""
    for place in (__file__, function.__code__.co_filename):
        found = os.stat(place)
        yield f"{place} {found.st_mtime_ns} {found.st_size}"
    for name in function.__code__.co_names:
        thing = function.__globals__.get(name)
        if isinstance(thing, Kernel) and not thing.linked:
            yield thing.symbol
        elif isinstance(thing, Dispatcher):
            yield from _sources(thing.py_func)
        elif isinstance(thing, int | float):
            yield f"{name} {thing!r}"
