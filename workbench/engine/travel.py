"""Functions and classes of a script, a notebook or a file loaded by its path travel to other processes by value.

Pickle sends a function or a class by its name, under which the other process imports it. What cannot be imported there
is sent as cloudpickle's bytes instead, with a name of its own: sent twice it arrives once, and what comes back is what
was sent. Things that hold such functions (kernels, formulations, cases) reduce to `Travelling` ones.
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
"""What has been sent or has arrived, by its name."""


def found_elsewhere(thing: Any) -> Any:
    """What another process finds under a function's or class's module and name; None where it finds nothing."""
    module = sys.modules.get(thing.__module__)
    if module is None or thing.__module__ == "__main__" or not _is_importable(thing.__module__):
        return None
    try:
        return attrgetter(thing.__qualname__)(module)
    except AttributeError:
        return None


def _is_importable(name: str) -> bool:
    """Whether the import system leads from the name of a module to the file that the module came from."""
    file, parent = getattr(sys.modules[name], "__file__", None), name.rpartition(".")[0]
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    specs = (finder.find_spec(name, path) for finder in sys.meta_path)
    spec = next((spec for spec in specs if spec is not None), None)
    return spec is not None and (file is None or Path(spec.origin or "").absolute() == Path(file).absolute())


class Travelling:
    """A function or class on its way: pickled by value, unpickled as itself."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.name = NAMES.setdefault(thing, uuid4().hex)
        THINGS[self.name] = thing

    def __reduce__(self) -> tuple:
        import cloudpickle

        class Pickler(cloudpickle.Pickler):
            """cloudpickle's; what travels within a thing is a part of the same bytes, which may be circular."""

            def reducer_override(self, one: Any) -> Any:
                return (arrive, (one.name, one.thing)) if isinstance(one, Travelling) else super().reducer_override(one)

        module = sys.modules.get(self.thing.__module__)
        if module is not None and module.__name__ != "__main__":
            # Whatever else of the same file the thing refers to cannot be imported either.
            cloudpickle.register_pickle_by_value(module)
        content = BytesIO()
        Pickler(content).dump(self.thing)
        return unpacked, (self.name, content.getvalue())


class Parcel:
    """A thing on its way whose class may be one that the other process cannot import; it is unpickled as itself."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __reduce__(self) -> tuple:
        import cloudpickle

        module = sys.modules.get(type(self.thing).__module__)
        if module is not None and module.__name__ != "__main__" and not _is_importable(module.__name__):
            cloudpickle.register_pickle_by_value(module)
        return pickle.loads, (cloudpickle.dumps(self.thing),)


def arrive(name: str, thing: Any) -> Any:
    """What is known by this name, from now on this thing."""
    NAMES.setdefault(thing, name)
    return THINGS.setdefault(name, thing)


def unpacked(name: str, content: bytes) -> Any:
    """The thing of this name, made of its bytes where it has not been here before."""
    known = THINGS.get(name)
    return arrive(name, pickle.loads(content)) if known is None else known
