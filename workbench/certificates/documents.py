"""Read a certificate's JSON strictly: types, fields, limits, version and digest. Standard library only.

An accepted document has one meaning: keys occur once, no field is unknown, numbers are whole or strings "p/q".
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from workbench.certificates.limits import DEPTH, LARGEST, MOST_VALUES, WHOLE_DIGITS
from workbench.certificates.outcomes import RefusedError

FORMAT, VERSION = "contact workbench certificate", 2

FIELDS = ("format", "version", "problem", "claims", "left_out", "digest")
CLAIM_FIELDS = ("about", "verdict", "support")
LEFT_OUT_FIELDS = ("about", "reason")

Document = dict[str, Any]
Entry = dict[str, Any]


def read_document(path: str | Path) -> Document:
    """The JSON object in a file. RefusedError if it is not a JSON object; OSError if the file cannot be read."""
    with open(path, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise RefusedError(f"it has more than {LARGEST} bytes, the largest certificate that is read")
    try:
        return json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise RefusedError("it is not JSON; a certificate is written by check --certificate") from None


def _object(pairs: list[tuple[str, Any]]) -> Document:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RefusedError(f"the key {twice[:40]!r} occurs twice in one object; every key may occur once")
    return found


def _whole(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > WHOLE_DIGITS:
        raise RefusedError(f"it holds a whole number of {digits} digits; at most {WHOLE_DIGITS} are read")
    return int(text)


def _no_number(text: str) -> NoReturn:
    raise RefusedError(f"it holds the number {text[:40]}; exact numbers are whole, or texts such as '-4/3'")


def _too_deep() -> RefusedError:
    return RefusedError(f"its lists and objects lie deeper than {DEPTH} inside each other")


def admit(given: Any) -> Document:
    """The certificate as given, with its claims as objects with the right fields.

    RefusedError for another format or version, for a type, size, depth or field that a certificate does not have, and
    if the content does not match the digest.
    """
    document = dict(given) if isinstance(given, Mapping) else given
    _check_values(document)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise RefusedError(f"this is not a certificate: its format is not {FORMAT!r}")
    version = document.get("version")
    if version != VERSION:
        raise RefusedError(
            f"version {version!r:.20} of the format is not read, only {VERSION}; write the certificate anew"
        )
    check_fields(document, FIELDS, "the certificate")
    for key, names in (("claims", CLAIM_FIELDS), ("left_out", LEFT_OUT_FIELDS)):
        if not isinstance(document[key], list):
            raise RefusedError(f"a certificate needs a list of {key}")
        for entry in document[key]:
            check_fields(entry, names, f"an entry of {key}")
            if not all(isinstance(entry.get(name, ""), str) for name in LEFT_OUT_FIELDS):
                raise RefusedError(f"what an entry of {key} is about, and its reason, are texts")
    if document["digest"] != digest(document):
        raise RefusedError("the content does not fit its digest: it was damaged or edited")
    return document


def signed(problem: Entry, claims: list[Entry], left_out: list[Entry]) -> Document:
    """A certificate of these claims, with its digest."""
    document = {"format": FORMAT, "version": VERSION, "problem": problem, "claims": claims, "left_out": left_out}
    return {**document, "digest": digest(document)}


def digest(document: Document) -> str:
    """SHA-256 of all but the digest itself, with sorted keys and no spaces."""
    content = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def check_fields(given: Any, names: Iterable[str], what: str) -> None:
    """Raise RefusedError unless this is an object with exactly these fields."""
    if not isinstance(given, dict):
        raise RefusedError(f"{what} is not an object")
    missing, unknown = [name for name in names if name not in given], [key for key in given if key not in names]
    if missing:
        raise RefusedError(f"{what} lacks the field {missing[0]!r}")
    if unknown:
        raise RefusedError(f"{what} has the field {unknown[0][:40]!r}, which is unknown")


def _check_values(document: Any) -> None:
    """Raise RefusedError for values that JSON does not have, and for too many, too long or too deep ones.

    It walks by iterators, so that a Python object that contains itself, or one list many times, ends at a limit.
    """
    end, stack, values, size = object(), [iter((document,))], 0, 0
    while stack:
        value = next(stack[-1], end)
        if value is end:
            stack.pop()
            continue
        values += 1
        if type(value) is dict:
            if not all(type(key) is str for key in value):
                raise RefusedError("an object has a key that is not text")
            size += sum(map(len, value))
            stack.append(iter(value.values()))
        elif type(value) is list:
            stack.append(iter(value))
        elif type(value) is str:
            size += len(value)
        elif type(value) is int:
            if abs(value) >= 10**WHOLE_DIGITS:
                raise RefusedError(f"it holds a whole number of more than {WHOLE_DIGITS} digits")
        elif value is not None:
            raise RefusedError(
                f"it holds {str(value)[:40]!r} of type {type(value).__name__}; "
                "a certificate has objects, lists, texts, whole numbers and null"
            )
        if len(stack) > DEPTH + 1:
            raise _too_deep()
        if values > MOST_VALUES or size > LARGEST:
            raise RefusedError(f"it is larger than {MOST_VALUES} values or {LARGEST} characters")
