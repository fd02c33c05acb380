"""Compiled functions that are linked by name and compiled at their first call.

Numba links the code of every function into all of its callers, where it is optimised and turned into machine code
again: a chain of helpers, methods and drivers would be compiled repeatedly, including functions that are never called.
A `kernel` is compiled, or loaded from disk, once and at its first call, from Python or from compiled code. Its callers
hold a slot for its address, which is empty until then:

    @kernel(types.float64(MATRIX, VECTOR), **FAST)
    def largest(M, q): ...

A call through the slot costs a nanosecond or two and is never inlined; helpers of a few lines within inner loops are
better `linked=True`, as in plain numba.

The cached code of a kernel is stale if any of its sources changes: the code and the file of the function, of everything
linked into it and of the modules that define its types in numba and that compile it, options, constants, and signatures
of kernels that it calls by name. Functions of plain numba may call kernels too, but numba's cache does not see these
sources: do not use `njit(cache=True)` for them.
"""

import ctypes
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from copy import copy
from enum import EnumMeta
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
import numpy.ma  # Numba imports it when it first meets an array, while clocks run.
from numba import types

from workbench.engine import disk
from workbench.engine.interpreted import OFF, in_python, interpreted, is_interpreted
from workbench.engine.loops import Pipeline
from workbench.engine.numba_internals import (
    CompileResultCacheImpl,
    CPUDispatcher,
    Dispatcher,
    InTreeCacheLocator,
    Purpose,
    _Intrinsic,
    add_symbol,
    cgutils,
    config,
    cpu_target,
    dumps,
    fix_returning_optional,
    global_compiler_lock,
    ir,
    make_concrete_template,
    rtsys,
    typeof_impl,
    with_wrapper,
)
from workbench.engine.quiet import no_collection
from workbench.engine.timing import standing_still
from workbench.engine.travel import Travelling, found_elsewhere

ALWAYS: dict[str, Any] = {
    "nopython": True, "error_model": "numpy", "boundscheck": bool(config.BOUNDSCHECK),
    "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip
"""Options of every kernel. With NUMBA_BOUNDSCHECK=1 numba checks bounds by default, but does not report the option.
Wrappers take a fifth of the compilation time. The one for Python is made at the first call from Python
(`_make_for_python`). The one for C is called only if a first-class function has no address by numba's own convention,
which kernels have.
"""


class Kernel(CPUDispatcher):
    """Result of `kernel`: callable from Python, and usable in compiled code like any numba function."""

    def __init__(self, function: Callable, signature: Any, linked: bool, options: dict[str, Any]) -> None:
        super().__init__(function, locals={}, targetoptions={**ALWAYS, **options}, pipeline_class=Pipeline)
        self.declared, self.linked = signature, linked
        # Computed now: by the time of the first call the files may have changed.
        self.of_types = list(_of_types(signature))
        # Functions made in a loop differ in their closures.
        self.closed = _digest(_closed(function, set())) if function.__closure__ else ""
        self.symbol = f"{function.__module__}.{function.__qualname__}{signature}{self.closed}"
        # Another function of the same name, as in the other branch of an `if`, keeps its own callers.
        if SYMBOLS.setdefault(self.symbol, function.__code__) != function.__code__:
            self.symbol += _digest(_code(function.__code__))
        self.kind = types.Function(make_concrete_template(function.__name__, self, [signature]))
        cpu_target.target_context.insert_func_defn([(self.called, self, signature.args)])
        self.takes_addresses = any(map(_holds_addresses, signature.args))
        self.sought = False
        self.for_python: Any = None
        self.place = ctypes.c_void_p()
        PLACES[ctypes.addressof(self.place)] = self
        add_symbol(self.symbol, ctypes.addressof(self.place))

    def __reduce__(self) -> Any:
        if found_elsewhere(self.py_func) is self:
            return self.py_func.__qualname__
        options = {name: value for name, value in self.targetoptions.items() if ALWAYS.get(name) != value}
        return arrived, (Travelling(self.py_func), self.declared, self.linked, options)

    def ready(self) -> None:
        """Compile it or load it from disk, unless that has been done."""
        if not self.place:
            self._make(compiling=True)

    def is_ready(self) -> bool:
        """Return whether it need not be compiled, loading it from disk if it is there. The disk is searched once."""
        if not self.place and not self.sought:
            self.sought = True
            with suppress(_NotOnDiskError):
                self._make(compiling=False)
        return bool(self.place)

    def _make(self, compiling: bool) -> None:
        """Load it from disk, or compile it if allowed; otherwise raise _NotOnDiskError."""
        with standing_still(), global_compiler_lock, no_collection():
            if not self.overloads:
                with ExitStack() as held:
                    self._cache = _Cache(self, held if compiling else None)
                    self._compiler.py_func = self._cache.named(self.py_func)  # type: ignore[attr-defined]
                    super().compile(self.declared)
                # Python cannot call machine code that takes addresses: numba asks for the target at every call.
                if not self.takes_addresses:
                    self.disable_compile()
            made: Any = self.overloads[self.declared.args]
            self.made = made
            # Numba asks for an address whenever Python passes the kernel, which takes 20 microseconds.
            made.library.get_pointer_to_function = cache(made.library.get_pointer_to_function)
            address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
            # Compiled code that passes it as a first-class function, which is not stored on disk, refers to this
            # symbol.
            add_symbol(made.fndesc.llvm_cfunc_wrapper_name, address)
            self.place.value = address

    def add_overload(self, made: Any) -> None:
        """Like numba's, but without the wrapper for calls from Python."""
        self.overloads[self.declared.args] = made

    def _search_new_conversions(self, *args: Any, **kws: Any) -> bool:
        """Like numba's, which is called if there is no wrapper for Python yet, as at the first call."""
        first = self.for_python is None
        if first:
            self._make_for_python()
        return super()._search_new_conversions(*args, **kws) or first  # type: ignore[misc]

    def _make_for_python(self) -> None:
        """Make or load the wrapper for Python: it unpacks arguments, calls the kernel and packs the result.

        Two kernels out of three are called by kernels only and have none.
        """
        with standing_still(), global_compiler_lock, no_collection(), ExitStack() as held:
            if self.for_python is None:
                kept = self._cache.of_wrapper(self.made, held)
                wrapped = kept.load_overload(self.declared, self.targetctx)
                if wrapped is None:
                    wrapped = with_wrapper(self.made, bool(self.targetoptions.get("nogil")))
                    kept.save_overload(self.declared, wrapped)
                codes = [kind._code for kind in self.declared.args]
                self._insert(codes, wrapped.entry_point)  # type: ignore[attr-defined]
                # Inserted code does not count as referenced.
                self.for_python = wrapped

    def __wrapper_address__(self) -> int:
        """Address required by numba for first-class functions: nonzero, and never called."""
        self.ready()
        return self.place.value or 0

    def get_compile_result(self, signature: Any) -> Any:
        """Like numba's, for first-class functions."""
        self.ready()
        # Numba's own searches its overloads, which takes most of the startup time of a short run.
        return self.made if signature == self.declared else super().get_compile_result(signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Like numba's, for linked functions."""
        self.ready()
        return super().get_call_template(args, kws)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        # The first call from Python asks for the target.
        if self.takes_addresses or is_interpreted(self.is_ready):
            return in_python(self.py_func)
        self.ready()
        return self

    def called(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Generate a call of the address in the slot, by numba's convention: an error is passed on."""
        convention, anything = context.call_conv, cgutils.voidptr_t
        place = builder.module.globals.get(self.symbol) or ir.GlobalVariable(builder.module, anything, self.symbol)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load(place))):
            failed = builder.call(_filler(context, builder.module), [place])
            with cgutils.if_unlikely(builder, failed):
                convention.return_exc(builder)
        kind = convention.get_function_type(signature.return_type, signature.args)
        function = builder.bitcast(builder.load(place), kind.as_pointer())
        status, value = convention.call_function(builder, function, signature.return_type, signature.args, args)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return fix_returning_optional(context, builder, signature, status, value)


class UncheckedKernel(Kernel):
    """A kernel whose arguments from Python are not checked: numba's type check takes longer than the rest of a call.

    The caller must have made or checked them: an array of another type is read as the declared one.
    """

    def __call__(self, *args: Any) -> Any:
        made = self.for_python
        return super().__call__(*args) if made is None else made.entry_point(*args)


def kernel(signature: Any, *, linked: bool = False, checked: bool = True, **options: Any) -> Callable[[Callable], Any]:
    """Decorator for a function compiled for one signature and stored on disk; `options` are those of `numba.njit`.

    Without `checked` it is an `UncheckedKernel`, unless array bounds are checked.
    """
    kind = Kernel if checked or ALWAYS["boundscheck"] else UncheckedKernel
    return interpreted if OFF else lambda function: kind(function, signature, linked, options)


def arrived(function: Callable, signature: Any, linked: bool, options: dict[str, Any]) -> Kernel:
    """Return the kernel of a function from another process, the same one however often it arrives."""
    known = next((k for k in PLACES.values() if k.py_func is function), None)
    return known or Kernel(function, signature, linked, options)


@typeof_impl.register(Kernel)
def _type(value: Kernel, c: Any) -> Any:
    """As an argument it is a first-class function; in the code of another function, a name."""
    return types.Dispatcher(value) if value.linked or c.purpose is Purpose.argument else value.kind


def argument_type(group: type, *fields: types.Type) -> types.BaseTuple:
    """Return the type of arguments that are passed together: a named tuple class with the types of its fields.

    Values of other types are rejected, as numba rejects such arguments. By default numba would not recognise functions
    in a tuple as first-class ones, nor take an array without gaps for one that may have them.
    """
    kind = types.BaseTuple.from_types(fields, group)

    @typeof_impl.register(group)
    def found(value: Any, c: Any) -> types.BaseTuple:
        pairs = zip(fields, value, strict=True)
        return types.BaseTuple.from_types([_type_in_group(wanted, x, c) for wanted, x in pairs], group)

    return kind


def _type_in_group(wanted: types.Type, value: Any, c: Any) -> types.Type:
    if isinstance(wanted, types.FunctionType) and isinstance(value, Dispatcher):
        return wanted
    found = typeof_impl(value, c)
    strided = isinstance(found, types.Array) and isinstance(wanted, types.Array) and wanted.layout == "A"
    return wanted if strided and found.copy(layout="A") == wanted else found


PLACES: dict[int, Kernel] = {}
"""The kernel of each slot. It lives as long as the process, since code that calls it may."""
SYMBOLS: dict[str, CodeType] = {}
"""Code of the first kernel with each symbol."""
FILL = "workbench.engine.compiling.fill"
"""Symbol of `_fill` in compiled code."""


def _fill(place: int) -> None:
    """Fill a slot that compiled code has found empty."""
    PLACES[place].ready()


add_symbol(FILL, id(_fill))


def _filler(context: Any, module: Any) -> Any:
    """Return a module's function that calls `_fill` for a slot and returns whether an exception is set.

    Not through ctypes, which prints exceptions and discards them: a signal handler may raise one, too.
    """
    kind = ir.FunctionType(ir.IntType(1), [cgutils.voidptr_t.as_pointer()])
    function = cgutils.get_or_insert_function(module, kind, f"{FILL}.call")
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        builder = ir.IRBuilder(function.append_basic_block())
        python = context.get_python_api(builder)
        held = python.gil_ensure()
        place = python.long_from_ssize_t(builder.ptrtoint(function.args[0], python.py_ssize_t))
        made = python.call_function_objargs(ir.GlobalVariable(module, python.pyobj.pointee, FILL), [place])
        python.decref(place)
        python.decref(made)
        python.gil_release(held)
        builder.ret(cgutils.is_null(builder, made))
    return function


def _holds_addresses(kind: types.Type) -> bool:
    """Return whether values of a type are or contain addresses, which Python cannot represent."""
    return isinstance(kind, types.CPointer) or any(map(_holds_addresses, getattr(kind, "types", ())))


class _NotOnDiskError(Exception):
    """A kernel would have to be compiled."""


class _Cache:
    """Machine code of one kernel on disk: a file (`disk`) in the folder in which numba would store it.

    If it is missing there, it is compiled while its lock is `held`; without a lock, loading raises _NotOnDiskError.
    Numba's own cache depends on the function's file and bytecode alone, and unpickles what it finds.
    """

    def __init__(self, kernel: Kernel, held: ExitStack | None) -> None:
        self._held = held
        self.cache_path = None
        with suppress(RuntimeError, OSError):
            # Otherwise no folder is writable, or the function comes from no file: it is compiled in every process.
            self._impl = _Place(kernel.py_func)
            self.cache_path = self._impl.locator.get_cache_path()
        # The content of the file depends on all this; another processor, another closure or checked bounds have their
        # own file.
        self._made_from = f"{numba.__version__} {_digest(_made_from(kernel))}".encode()
        self._which = f"{kernel.declared} {kernel.closed} {kernel.targetoptions['boundscheck']}"

    def named(self, function: Any) -> FunctionType:
        """The function by a name of its own in machine code.

        Numba distinguishes functions of one name, as of several closures, by a number that counts within a process.
        The code of two that were stored by two processes would be linked by the same name.
        """
        found = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        found.__qualname__ = f"k{_digest([self._which, self._made_from])[:16]}.{function.__qualname__}"
        found.__module__ = function.__module__
        return found

    def of_wrapper(self, made: Any, held: ExitStack) -> "_Cache":
        """The same for the wrapper for Python, which names the kernel by a symbol that changes with its sources."""
        other = copy(self)
        other._held, other._which = held, f"{self._which} called by Python"
        other._made_from = self._made_from + made.fndesc.llvm_func_name.encode()
        return other

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Like numba's, which first imports all that compilation might need, at ten times the cost of the rest."""
        rtsys.initialize(context)
        found = self._loaded(context)
        if found is None:
            if self._held is None:
                raise _NotOnDiskError
            if self.cache_path is not None:
                # Held until it is saved. If another process is compiling it, wait and load its result.
                self._held.enter_context(disk.alone(self._name(context.codegen()), Path(self.cache_path)))
                found = self._loaded(context)
        return found

    def _loaded(self, context: Any) -> Any:
        if self.cache_path is None:
            return None
        content = disk.read(self._name(context.codegen()), self._made_from, Path(self.cache_path))
        # If it is intact but cannot be loaded, for lack of memory say, it is compiled again.
        with suppress(Exception):
            return None if content is None else self._impl.rebuild(context, pickle.loads(content))
        return None

    def save_overload(self, signature: Any, made: Any) -> None:
        """Store the code, if possible."""
        if self.cache_path is not None and self._impl.check_cachable(made):
            content = dumps(self._impl.reduce(made))
            disk.write(self._name(made.codegen), content, self._made_from, Path(self.cache_path))

    def _name(self, codegen: Any) -> str:
        return f"{self._impl.filename_base}.{_digest([self._which, repr(codegen.magic_tuple())])[:16]}.nbc"


class _OwnTree(InTreeCacheLocator):
    """The folder of the source; if others may write to it, numba falls back to the user's folder."""

    @classmethod
    def from_function(cls, function: Any, file: Any) -> Any:
        found = super().from_function(function, file)
        return None if found is None or disk.why_unsafe(Path(found.get_cache_path()).resolve()) else found


class _Place(CompileResultCacheImpl):
    """The folder, and the stored data: numba's, except for folders of others."""

    _locator_classes = [  # noqa: RUF012
        _OwnTree if kind is InTreeCacheLocator else kind for kind in CompileResultCacheImpl._locator_classes
    ]


def _digest(words: Iterable[str | bytes]) -> str:
    digest = hashlib.sha256()
    for word in words:
        content = word.encode() if isinstance(word, str) else word
        digest.update(b"%d " % len(content) + content)
    return digest.hexdigest()


@cache
def _content(file: str) -> bytes:
    """Digest of a file's content; empty if functions come from no file."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).digest()
    except OSError:
        return b""


def _made_from(kernel: Kernel) -> Iterator[str | bytes]:
    """Sources of a kernel's code, as words; its closure separately."""
    yield from kernel.of_types
    yield _options(kernel)
    yield from _function(kernel.py_func, set())


def _of_types(signature: Any) -> Iterator[str | bytes]:
    """Modules that compile and that define the types of a signature in numba, and the layouts of these."""
    for name in (__name__, Pipeline.__module__, with_wrapper.__module__):
        yield _content(sys.modules[name].__file__ or "")
    kinds = [signature.return_type, *signature.args]
    for kind in kinds:
        yield _content(sys.modules[type(kind).__module__].__file__ or "")
        yield f"{kind!r}{getattr(kind, 'fields', ())}"
        # Also for nested groups.
        kinds += getattr(kind, "types", ())


def _options(dispatcher: Dispatcher) -> str:
    given = dispatcher.targetoptions.items()
    return str(sorted((name, sorted(value) if isinstance(value, set) else value) for name, value in given))


def _function(function: Callable, met: set) -> Iterator[str | bytes]:
    """Sources of a function's code as imported, since its file may have changed since."""
    if function in met:
        return
    met.add(function)
    yield _content(function.__code__.co_filename)
    yield from _code(function.__code__)
    names = sorted(set(_names(function.__code__)))
    for name in names:
        if name in function.__globals__:
            yield name
            yield from _thing(function.__globals__[name], names, met)
    yield from _thing((function.__defaults__,), names, met)


def _code(code: CodeType) -> Iterator[str | bytes]:
    """Not by `marshal`, whose bytes depend on other holders of a constant, and which does not know slices."""
    yield code.co_code
    yield f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_firstlineno}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _closed(function: Callable, met: set) -> Iterator[str | bytes]:
    names = sorted(set(_names(function.__code__)))
    for cell in function.__closure__ or ():
        yield from _thing(cell.cell_contents, names, met)


def _thing(thing: Any, names: list[str], met: set) -> Iterator[str | bytes]:
    """Sources that a function takes from an object by using these names."""
    if isinstance(thing, Kernel) and not thing.linked:
        yield thing.symbol
    elif isinstance(thing, Dispatcher):
        yield _options(thing)
        yield from _function(thing.py_func, met)
        yield from _closed(thing.py_func, met)
    elif isinstance(thing, _Intrinsic):
        yield from _function(thing._defn, met)
        yield from _closed(thing._defn, met)
    elif isinstance(thing, FunctionType) and not _of_library(thing.__module__):
        yield from _function(thing, met)
        yield from _closed(thing, met)
    elif isinstance(thing, ModuleType):
        for name in () if _of_library(thing.__name__) else names:
            part = vars(thing).get(name)
            # A package's own modules, but no module that it imports.
            if not isinstance(part, ModuleType) or part.__name__.startswith(f"{thing.__name__}."):
                yield name
                yield from _thing(part, names, met)
    elif isinstance(thing, tuple):
        for part in thing:
            yield from _thing(part, names, met)
    elif isinstance(thing, np.ndarray):
        yield f"{thing.dtype} {thing.shape}"
        yield thing.tobytes()
    elif isinstance(thing, EnumMeta):
        yield repr(list(thing))
    else:
        # Code with an address in place of a name is never loaded from disk.
        yield getattr(thing, "__qualname__", None) or repr(thing)


def _of_library(module: str) -> bool:
    """Return whether it changes only with numba's version, or not at all."""
    return module.partition(".")[0] in {"llvmlite", "math", "numba", "numpy"}
