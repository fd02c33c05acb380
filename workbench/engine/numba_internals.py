"""Internals of numba and llvmlite used by the engine, without a promise of stability.

All other code of the workbench uses `numba.njit` and `numba.types` only. If a new version of numba breaks something
here, `tests/test_numba_internals.py` names it: fix it in this module, if necessary by a function of the old name, and
then raise the cap in `pyproject.toml`.

Their purposes:

- `CPUDispatcher`, `Dispatcher`, `cpu_target`, `make_concrete_template`, `fix_returning_optional`, `cgutils`, `ir`,
  `add_symbol`: kernels that are called by name through a slot that is filled later. Numba only links.
- `_compiler` of a dispatcher: the function that it compiles, `py_func`, is given a name of its own in machine code.
- `CompileResultCacheImpl`, `InTreeCacheLocator`, `dumps`, `rtsys`: numba's cache depends on the function's file alone,
  and unpickles files in folders that others may write to.
- `with_wrapper`: numba makes the wrapper for Python with every function or never.
- `global_compiler_lock`, `Listener`, `register_listener`: signals and the garbage collector wait during compilation.
- `OptimizedOnce`: numba has LLVM optimise every function three times.
- `CompilerBase`, `DefaultPassBuilder`, `AnalysisPass`, `register_pass`, `IRLegalization`, `compute_cfg_from_blocks`: a
  kernel that takes stack memory within a loop is rejected.
- `typeof_impl`, `Purpose`, `AttributeTemplate`, `AbstractTemplate`, `infer_getattr`, `infer_global`, `signature`,
  `models`, `register_model`, `lower_builtin`, `lower_getattr_generic`, `unbox`, `NativeValue`, `make_array`,
  `populate_array`: packed arrays and vector lanes as types. `numba.extending` documents half of them.
- `_unboxers`, `unbox_function_type`: numba takes 20 microseconds to take a function from Python, since it asks twice
  for an address, each time by a signature that it unpickles.
- `address_of_array`: what it says, by the layout that NumPy gives its arrays in C.
- `intrinsic`, `_Intrinsic`: building blocks in LLVM that Python can call too.
- `config`: whether numba compiles and checks bounds.
"""

from collections.abc import Callable
from copy import copy
from typing import Any

from llvmlite import ir
from llvmlite.binding import add_symbol
from numba.core import caching, cgutils
from numba.core import config as _config
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.event import Listener
from numba.core.event import register as register_listener
from numba.core.imputils import fix_returning_optional
from numba.core.pythonapi import _unboxers
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.typed_passes import IRLegalization
from numba.core.types import FunctionType
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    make_concrete_template,
    signature,
)
from numba.core.typing.typeof import Purpose, typeof_impl
from numba.experimental.function_type import unbox_function_type
from numba.extending import (
    NativeValue,
    _Intrinsic,
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np.arrayobj import make_array, populate_array

# Its names are created from the environment.
config: Any = _config
# Numba 0.61 has it under another name.
InTreeCacheLocator: Any = vars(caching).get("InTreeCacheLocator") or vars(caching)["_InTreeCacheLocator"]


def _take_function(kind: Any, thing: Any, c: Any) -> NativeValue:
    """Generate how a first-class function is taken from Python: a kernel by its address, others as numba takes them."""
    builder, found = c.builder, cgutils.create_struct_proxy(kind)(c.context, c.builder)
    address = c.pyapi.call_method(thing, "__wrapper_address__", ())
    with builder.if_else(cgutils.is_null(builder, address)) as (other, kernel):
        with other:
            c.pyapi.err_clear()
            builder.store(unbox_function_type(kind, thing, c).value, found._getpointer())
        with kernel:
            found.jit_addr = found.c_addr = c.pyapi.long_as_voidptr(address)
            found.py_addr = builder.bitcast(thing, cgutils.voidptr_t)
            c.pyapi.decref(address)
    return NativeValue(found._getvalue())


# Numba's own refuses to register a second one.
_unboxers.functions[FunctionType] = _take_function


class _Callable(_Intrinsic):  # type: ignore[misc]
    """Numba's own raises NotImplementedError when called from Python."""

    python: Callable

    def __call__(self, *args: Any) -> Any:
        return self.python(*args)


def callable_intrinsic(compiled: Callable, python: Callable) -> Any:
    """Return an intrinsic for compiled code, with a function for calls from Python."""
    made: Any = intrinsic(compiled)
    made.__class__ = _Callable
    made.python = python
    return made


def address_of_array(builder: Any, array: Any) -> Any:
    """Generate the address of the numbers of a NumPy array (double), a Python object whose type is known.

    It is the first member of `PyArrayObject` after Python's own. Asked for in Python it takes longer than a kernel.
    """
    head = ir.Constant(ir.IntType(64), object.__basicsize__)
    place = builder.gep(builder.bitcast(array, ir.IntType(8).as_pointer()), [head])
    return builder.load(builder.bitcast(place, ir.DoubleType().as_pointer().as_pointer()))


class OptimizedOnce(JITCodeLibrary):
    """A function's code, optimised once, by LLVM's passes of level 2, after it is linked with the code that it calls.

    Numba optimises before linking, too, and after it by cheap passes and then by those of level 3: compilation takes a
    fifth longer, and kernels run no faster.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        made = self._codegen._module_pass_manager(opt=2)
        # Numba 0.61 makes no builder of passes.
        passes, *builder = made if isinstance(made, tuple) else (made,)
        passes.run(self._final_module, *builder)


def with_wrapper(made: Any, without_gil: bool) -> Any:
    """Return a compiled function with a wrapper for calls from Python, if it was compiled without one."""
    # The context of a function from disk does not count references.
    context = made.target_context.subtarget(enable_nrt=True)
    context.refresh()
    # The wrapper packs arrays by constants of its own, and an environment is loaded from disk once for each name.
    described = copy(made.fndesc)
    described.env_name += ".wrapper"
    environment = type(made.environment).from_fndesc(described)
    library = OptimizedOnce(context.codegen(), described.qualname)
    library.enable_object_caching()
    library.add_linking_library(rtsys.library)
    with context.push_code_library(library):
        context.create_cpython_wrapper(library, described, environment, made.call_helper, without_gil)
    entry_point = context.get_executable(library, described, environment)
    return made._replace(fndesc=described, environment=environment, library=library, entry_point=entry_point)


__all__ = [
    "AbstractTemplate",
    "AnalysisPass",
    "AttributeTemplate",
    "CPUDispatcher",
    "CompileResultCacheImpl",
    "CompilerBase",
    "DefaultPassBuilder",
    "Dispatcher",
    "IRLegalization",
    "InTreeCacheLocator",
    "Listener",
    "NativeValue",
    "OptimizedOnce",
    "Purpose",
    "_Intrinsic",
    "add_symbol",
    "address_of_array",
    "callable_intrinsic",
    "cgutils",
    "compute_cfg_from_blocks",
    "config",
    "cpu_target",
    "dumps",
    "fix_returning_optional",
    "global_compiler_lock",
    "infer_getattr",
    "infer_global",
    "intrinsic",
    "ir",
    "lower_builtin",
    "lower_getattr_generic",
    "make_array",
    "make_concrete_template",
    "models",
    "populate_array",
    "register_listener",
    "register_model",
    "register_pass",
    "rtsys",
    "signature",
    "typeof_impl",
    "unbox",
    "unbox_function_type",
    "with_wrapper",
]
