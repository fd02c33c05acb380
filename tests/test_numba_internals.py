"""A canary: each of numba's internals that the engine uses, in the smallest way in which it is used."""

import ast
import ctypes
import os
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from unittest import mock

import numba
import numpy as np
import pytest
from numba import njit, types
from numba.core import event

from workbench.engine import numba_internals as internals
from workbench.engine.compiling import kernel
from workbench.engine.interpreted import part

ROOT = Path(__file__).parents[1]
F64 = types.float64
MEND = """numba {version} has changed '{name}', which the engine takes from inside it:
{failed}
Mend it in workbench/engine/numba_internals.py (by a function or class of the old name, where need be), run the tests
with the new version and the oldest one, then raise the cap `numba<...` in pyproject.toml. Until then the cap holds."""


class Pair(types.Type):
    """Two numbers, known to compiled code alone."""

    def __init__(self):
        super().__init__(name="CanaryPair")


class Boxed:
    """What Python hands over."""

    value = 3.0


PAIR = Pair()


class First(types.Type):
    """The first number of an array."""

    def __init__(self):
        super().__init__(name="CanaryFirst")


class OfArray:
    """What holds one."""

    value = np.array([5.0, 6.0])


FIRST = First()


class OfPair(internals.AttributeTemplate):
    key = Pair

    def generic_resolve(self, kind, name):
        return F64 if name == "left" else None


def add(x, y):
    """What an operator of ours does, with types of ours."""
    raise NotImplementedError


class OfAdd(internals.AbstractTemplate):
    def generic(self, args, kws):
        return internals.signature(F64, *args) if args == (F64, F64) else None


def teach():
    """A type of its own: its form, attribute, unboxing, and a function of its own on numbers."""

    @internals.register_model(Pair)
    class _Model(internals.models.StructModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, [("left", F64), ("right", F64)])

    internals.infer_getattr(OfPair)
    internals.infer_global(add)(OfAdd)

    @internals.lower_getattr_generic(Pair)
    def view(context, builder, kind, value, name):
        return internals.cgutils.create_struct_proxy(kind)(context, builder, value=value).left

    @internals.lower_builtin(add, F64, F64)
    def lower(context, builder, sig, args):
        return builder.fadd(*args)

    @internals.unbox(Pair)
    def take(kind, thing, c):
        taken = internals.cgutils.create_struct_proxy(kind)(c.context, c.builder)
        value = c.pyapi.object_getattr_string(thing, "value")
        taken.left = taken.right = c.pyapi.float_as_double(value)
        c.pyapi.decref(value)
        return internals.NativeValue(taken._getvalue())

    @internals.register_model(First)
    class _First(internals.models.StructModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, [("left", F64)])

    @internals.lower_getattr_generic(First)
    def view_first(context, builder, kind, value, name):
        return internals.cgutils.create_struct_proxy(kind)(context, builder, value=value).left

    @internals.unbox(First)
    def take_first(kind, thing, c):
        taken = internals.cgutils.create_struct_proxy(kind)(c.context, c.builder)
        value = c.pyapi.object_getattr_string(thing, "value")
        taken.left = c.builder.load(internals.address_of_array(c.builder, value))
        c.pyapi.decref(value)
        return internals.NativeValue(taken._getvalue())

    @internals.infer_getattr
    class OfFirst(internals.AttributeTemplate):
        key = First

        def generic_resolve(self, kind, name):
            return F64 if name == "left" else None

    internals.typeof_impl.register(OfArray)(lambda value, c: FIRST)

    @internals.typeof_impl.register(Boxed)
    def kind_of(value, c):
        assert c.purpose in (internals.Purpose.argument, internals.Purpose.constant)
        return PAIR


teach()


def intrinsic(generate, kind=F64):
    """An intrinsic of one array or number."""

    def function(context, x):
        return kind(x), generate

    return internals.intrinsic(function)


def attributes_and_unboxing():
    assert njit(lambda x: x.left)(Boxed()) == 3.0
    assert njit(lambda x: x.left)(OfArray()) == 5.0


def own_function():
    assert njit(lambda x, y: add(x, y))(1.0, 2.0) == 3.0


def llvm():
    def generate(context, builder, sig, args):
        return builder.fmul(args[0], internals.ir.Constant(internals.ir.DoubleType(), 7.0))

    direct = intrinsic(generate)
    assert isinstance(direct, internals._Intrinsic)
    assert direct._defn.__name__ == "function"
    assert njit(lambda x: direct(x))(2.0) == 14.0

    def function(context, x):
        return F64(x), generate

    both = internals.callable_intrinsic(function, lambda x: -x)
    assert njit(lambda x: both(x))(2.0) == 14.0
    assert both(2.0) == -2.0


def arrays():
    def generate(context, builder, sig, args):
        old = internals.make_array(sig.args[0])(context, builder, args[0])
        size = context.get_constant(types.intp, 8)
        count = context.get_constant(types.intp, 2)
        new = internals.make_array(sig.return_type)(context, builder)
        internals.populate_array(new, old.data, [count], [size], size, None)
        return builder.load(internals.make_array(sig.return_type)(context, builder, new._getvalue()).data)

    @internals.intrinsic
    def first(context, x):
        def lower(context, builder, sig, args):
            return generate(context, builder, internals.signature(x, x), args)

        return F64(x), lower

    assert njit(lambda x: first(x))(np.array([5.0, 6.0])) == 5.0


def called_by_name():
    """A function that is declared by hand, whose code stands where a symbol says."""
    made = njit(F64(F64))(lambda x: x + 1.0)
    place = ctypes.c_void_p()
    library = made.overloads[F64,].library
    place.value = library.get_pointer_to_function(made.overloads[F64,].fndesc.llvm_func_name)
    internals.add_symbol("canary.place", ctypes.addressof(place))
    kind = types.Function(internals.make_concrete_template("named", add_one, [F64(F64)]))

    def called(context, builder, sig, args):
        convention, word = context.call_conv, internals.cgutils.voidptr_t
        where = internals.ir.GlobalVariable(builder.module, word, "canary.place")
        function = convention.get_function_type(sig.return_type, sig.args).as_pointer()
        address = builder.load(where)
        with internals.cgutils.if_unlikely(builder, internals.cgutils.is_null(builder, address)):
            convention.return_user_exc(builder, RuntimeError, ("empty",))
        status, value = convention.call_function(
            builder, builder.bitcast(address, function), sig.return_type, sig.args, args
        )
        with internals.cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return internals.fix_returning_optional(context, builder, sig, status, value)

    internals.cpu_target.target_context.insert_func_defn([(called, add_one, (F64,))])
    internals.typeof_impl.register(type(add_one))(lambda value, c: kind)
    assert njit(lambda x: add_one(x))(1.0) == 2.0
    # What ctypes and LLVM refer to stays.
    called_by_name.kept = made, place


class Named:
    def __call__(self, x):
        raise NotImplementedError


add_one = Named()


def dispatchers():
    made = internals.CPUDispatcher(abs_of, locals={}, targetoptions={"nopython": True})
    assert isinstance(made, internals.Dispatcher)
    assert made.targetoptions["nopython"]
    with internals.global_compiler_lock:
        made.compile(F64(F64))
    made.disable_compile()
    assert list(made.overloads) == [(F64,)]
    assert {"compile", "get_call_template", "get_compile_result", "_compile_for_args"} <= set(dir(made))
    made._cache  # noqa: B018


def abs_of(x):
    return -x if x < 0.0 else x


def events():
    """Who holds the lock of the compiler is heard of, and when it is given back."""
    heard = []

    class Ear(internals.Listener):
        def on_start(self, event):
            heard.append("start")

        def on_end(self, event):
            heard.append("end")

    ear = Ear()
    internals.register_listener("numba:compiler_lock", ear)
    try:
        with internals.global_compiler_lock:
            assert heard == ["start"]
        assert heard == ["start", "end"]
    finally:
        event.unregister("numba:compiler_lock", ear)


def own_pass():
    """One that sees what is called within loops, by its type."""
    seen = []

    @internals.register_pass(mutates_CFG=False, analysis_only=True)
    class Looks(internals.AnalysisPass):
        _name = "canary_looks"

        def __init__(self):
            super().__init__()

        def run_pass(self, state):
            blocks = state.func_ir.blocks
            for loop in internals.compute_cfg_from_blocks(blocks).loops().values():
                calls = [call for label in loop.body for call in blocks[label].find_exprs("call")]
                seen.extend((getattr(state.typemap[c.func.name], "typing_key", None), c.loc.line) for c in calls)
            return False

    class Pipeline(internals.CompilerBase):
        def define_pipelines(self):
            manager = internals.DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.add_pass_after(Looks, internals.IRLegalization)
            manager.finalize()
            return [manager]

    same = intrinsic(lambda context, builder, sig, args: args[0])

    def total(n):
        s = same(0.0)
        for _ in range(n):
            s += same(1.0)
        return s

    made = internals.CPUDispatcher(total, locals={}, targetoptions={"nopython": True}, pipeline_class=Pipeline)
    assert made(3) == 3.0
    first = total.__code__.co_firstlineno
    assert [line - first for called, line in seen if called is same] == [3]


def optimized_once():
    """The passes run once, over code into which what it calls is linked, and functions are not optimised before."""

    class Pipeline(internals.CompilerBase):
        def define_pipelines(self):
            self.state.library = internals.OptimizedOnce(self.state.targetctx.codegen(), "canary_once")
            manager = internals.DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.finalize()
            return [manager]

    called = njit(F64(F64))(abs_of)
    made = internals.CPUDispatcher(
        lambda x: called(x) + 1.0, locals={}, targetoptions={"nopython": True}, pipeline_class=Pipeline
    )
    compiler = internals.cpu_target.target_context.codegen()
    modules = mock.Mock(side_effect=compiler._module_pass_manager)
    functions = mock.Mock(side_effect=compiler._function_pass_manager)
    with mock.patch.multiple(compiler, _module_pass_manager=modules, _function_pass_manager=functions):
        made.compile((F64,))
    assert (modules.call_count, functions.call_count) == (1, 0)
    assert made(-2.0) == 3.0


def functions_as_arguments():
    """A kernel is taken by its address; numba asks another function for what it was compiled to, which takes longer."""

    @njit(F64(types.FunctionType(F64(F64)), F64))
    def call(f, x):
        return f(x)

    asked = []
    for f in (njit(F64(F64))(abs_of), kernel(F64(F64))(abs_of)):
        # The first call also asks whether the function can be taken at all.
        assert call(f, -2.0) == 2.0
        results = mock.Mock(side_effect=f.get_compile_result)
        with mock.patch.object(type(f), "get_compile_result", results):
            assert call(f, -3.0) == 3.0
        asked.append(results.call_count)
    assert asked[0] > asked[1] == 0
    with pytest.raises(TypeError):
        call(abs, -2.0)


def settings():
    words = "from numba.core import config; print(config.DISABLE_JIT, config.BOUNDSCHECK)"
    for value in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": value, "NUMBA_BOUNDSCHECK": value}
        done = subprocess.run(
            [sys.executable, "-c", words], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [value, value]
    assert hasattr(internals.config, "DISABLE_JIT")


def machine_code_on_disk():
    kept = internals.CompileResultCacheImpl(abs_of)
    assert any(kind is internals.InTreeCacheLocator for kind in kept._locator_classes)
    assert kept.locator.get_cache_path()
    assert "abs_of" in kept.filename_base
    result = njit(F64(F64))(abs_of).overloads[F64,]
    assert kept.check_cachable(result)
    context = internals.cpu_target.target_context
    internals.rtsys.initialize(context)
    again = kept.rebuild(context, pickle.loads(internals.dumps(kept.reduce(result))))
    assert again.signature == result.signature
    assert all(isinstance(part, str) for part in again.codegen.magic_tuple()[:2])


def wrapper_of_its_own():
    """What Python calls is made later, also for code from the disk, which knows less of how it was compiled."""
    bare = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made = internals.CPUDispatcher(abs_of, locals={}, targetoptions=bare)
    made.compile(F64(F64))
    (result,) = made.overloads.values()
    assert not result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name)
    kept = internals.CompileResultCacheImpl(abs_of)
    again = kept.rebuild(internals.cpu_target.target_context, pickle.loads(internals.dumps(kept.reduce(result))))
    for one in (result, again):
        with internals.global_compiler_lock:
            wrapped = internals.with_wrapper(one, False)
        assert wrapped.entry_point(-2.0) == 2.0
    assert {"_insert", "_search_new_conversions", "add_overload"} <= set(dir(made))


EXERCISES = {
    attributes_and_unboxing: (
        "AttributeTemplate", "NativeValue", "Purpose", "address_of_array", "cgutils", "infer_getattr",
        "lower_getattr_generic", "models", "register_model", "typeof_impl", "unbox",
    ),
    own_function: ("AbstractTemplate", "infer_global", "lower_builtin", "signature"),
    llvm: ("_Intrinsic", "callable_intrinsic", "intrinsic", "ir"),
    arrays: ("make_array", "populate_array"),
    called_by_name: ("add_symbol", "cpu_target", "fix_returning_optional", "make_concrete_template"),
    functions_as_arguments: ("unbox_function_type",),
    settings: ("config",),
    own_pass: (
        "AnalysisPass", "CompilerBase", "DefaultPassBuilder", "IRLegalization", "compute_cfg_from_blocks",
        "register_pass",
    ),
    optimized_once: ("OptimizedOnce",),
    dispatchers: ("CPUDispatcher", "Dispatcher", "global_compiler_lock"),
    events: ("Listener", "register_listener"),
    wrapper_of_its_own: ("with_wrapper",),
    machine_code_on_disk: ("CompileResultCacheImpl", "InTreeCacheLocator", "dumps", "rtsys"),
}  # fmt: skip


def failure(exercise):
    """The traceback of an exercise, empty where numba does what it did."""
    try:
        exercise()
    except Exception:
        return traceback.format_exc()
    return ""


@pytest.mark.thorough
@pytest.mark.parametrize(("inline", "compiled_alone"), [(True, 0), (False, 1)])
def test_a_part_of_a_loop_is_a_plain_function_in_python(inline, compiled_alone):
    made = part(inline)(abs_of)

    @njit
    def calls(x):
        return made(x)

    assert (made(-2.0), len(made.overloads)) == (2.0, 0)
    assert (calls(-2.0), len(made.overloads)) == (2.0, compiled_alone)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.__name__)
def test_what_the_engine_takes_from_inside_numba_still_does_what_it_did(exercise):
    failed = failure(exercise)
    assert not failed, MEND.format(version=numba.__version__, name="', '".join(EXERCISES[exercise]), failed=failed)


def test_everything_that_is_taken_is_exercised():
    assert sorted(name for names in EXERCISES.values() for name in names) == sorted(internals.__all__)


@pytest.mark.thorough
def test_only_one_module_knows_the_inside_of_numba():
    public = {"numba", "numba.types"}
    for folder in ("workbench", "formulations", "cases", "reports"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name == "numba_internals.py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                found = []
                if isinstance(node, ast.Import):
                    found = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    found = [str(node.module)]
                for name in found:
                    assert name in public or name.partition(".")[0] not in ("numba", "llvmlite"), f"{path}: {name}"
