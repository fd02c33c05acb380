"""Pickling by value of functions and classes from a script, a notebook or a file loaded by its path.

Pickle stores a function or a class by its name, under which the other process imports it. Objects that cannot be
imported there are sent as cloudpickle's bytes with a name of their own instead: sent twice they arrive once, and an
object that comes back is the original. Objects that hold such functions (kernels, formulations, cases) reduce to
`Travelling` ones.
"""

import pickle
import sys
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary, WeakValueDictionary

NAMES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
THINGS: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Objects that have been sent or have arrived, by name."""


def found_elsewhere(thing: Any) -> Any:
    """Return the object that another process finds by a function's or class's module and name, or None."""
    module = sys.modules.get(thing.__module__)
    if module is None or thing.__module__ == "__main__" or not _is_importable(thing.__module__):
        return None
    try:
        return attrgetter(thing.__qualname__)(module)
    except AttributeError:
        return None


def _is_importable(name: str) -> bool:
    """Return whether importing this name leads to the file from which the module was loaded."""
    file, parent = getattr(sys.modules[name], "__file__", None), name.rpartition(".")[0]
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    specs = (finder.find_spec(name, path) for finder in sys.meta_path)
    spec = next((spec for spec in specs if spec is not None), None)
    return spec is not None and (file is None or Path(spec.origin or "").absolute() == Path(file).absolute())


class Travelling:
    """Wrapper of a function or class: pickled by value, unpickled as the object itself."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.name = NAMES.setdefault(thing, uuid4().hex)
        THINGS[self.name] = thing

    def __reduce__(self) -> tuple:
        import cloudpickle

        class Pickler(cloudpickle.Pickler):
            """cloudpickle's pickler; nested objects are a part of the same bytes, which may be circular."""

            def reducer_override(self, one: Any) -> Any:
                return (arrive, (one.name, one.thing)) if isinstance(one, Travelling) else super().reducer_override(one)

        module = sys.modules.get(self.thing.__module__)
        if module is not None and module.__name__ != "__main__":
            # Other objects of the same file cannot be imported either.
            cloudpickle.register_pickle_by_value(module)
        content = BytesIO()
        Pickler(content).dump(self.thing)
        return unpacked, (self.name, content.getvalue())


class Parcel:
    """Wrapper of an object whose class may not be importable elsewhere; it is unpickled as the object itself."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __reduce__(self) -> tuple:
        import cloudpickle

        module = sys.modules.get(type(self.thing).__module__)
        if module is not None and module.__name__ != "__main__" and not _is_importable(module.__name__):
            cloudpickle.register_pickle_by_value(module)
        return pickle.loads, (cloudpickle.dumps(self.thing),)


def arrive(name: str, thing: Any) -> Any:
    """Return the object known by this name, which is set to `thing` if there is none."""
    NAMES.setdefault(thing, name)
    return THINGS.setdefault(name, thing)


def unpacked(name: str, content: bytes) -> Any:
    """Return the object of this name, made from its bytes if it has not arrived before."""
    known = THINGS.get(name)
    return arrive(name, pickle.loads(content)) if known is None else known
