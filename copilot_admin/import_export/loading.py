"""The text of a copilot file, YAML or JSON, as plain values that can be stored."""

from collections.abc import Iterator, Mapping
from itertools import chain
import json
import math
import re
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.import_export.faults import BadCopilotFile, FileFault, path_of
from copilot_admin.import_export.yaml_reading import read_yaml
from protocol.json import clean_text
from protocol.strict_json import MalformedJson, loads

_SENTENCES: Mapping[str, Promise] = {
    "not-utf8": gettext_lazy("It is not encoded as UTF-8. Save it as UTF-8."),
    "too-deep": gettext_lazy("It is nested too deeply. Write it flatter."),
}


def json_fault(error: ValueError) -> str:
    """A sentence or two about what cannot be read, with its place and what to do.

    Args:
        error: A `MalformedJson`, or of a text that cannot be written as UTF-8.
    """
    if not isinstance(error, MalformedJson):
        return _("It contains an incomplete character. Type it again.")
    if error.place is None:
        return str(_SENTENCES.get(error.code, error.public))
    line, column = error.place
    return _(
        "It cannot be read at line %(line)d, column %(column)d. Names and texts stand in double "
        "quotes, with a comma between two entries and none behind the last."
    ) % {"line": line, "column": column}


MOST_BYTES = 10 * 1024 * 1024  # a few dozen copilots with an image of 200 kB each
# What is longer is refused before each of it is looked at: it is no copilot, and takes seconds.
MOST_KEYS = 1000
MOST_ENTRIES = 10_000
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_JSON_START = re.compile(r'\s*\{\s*(?:["}]|\Z)')


def load(data: bytes) -> Any:
    """Reads a file. What starts like an object of JSON is JSON, everything else YAML.

    Raises:
        BadCopilotFile: It is too big, or cannot be read; the text says where.
    """
    if len(data) > MOST_BYTES:
        sentence = _("The file is too big: %(most)d MB are the most.")
        sentence %= {"most": MOST_BYTES // 1024**2}
        raise BadCopilotFile([FileFault("", sentence)])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadCopilotFile([FileFault("", _undecoded(data, at=error.start))]) from error
    value = _read_json(data) if _JSON_START.match(text) else read_yaml(text)
    faults = _unstorable(value)
    first = next(faults, None)
    if first is not None:
        raise BadCopilotFile(chain([first], faults))
    return value


def _undecoded(data: bytes, *, at: int) -> str:
    if b"\0" in data and not data.startswith(_UTF_16):
        return _("The file is no text. Choose one that ends in .yaml, .yml, .json or .zip.")
    return _("The file is not UTF-8 (byte %(place)d). Save it as UTF-8.") % {"place": at}


def _read_json(data: bytes) -> Any:
    try:
        return loads(data)
    except MalformedJson as error:
        sentence = _("The file is no JSON that can be read. %(fault)s")
        raise BadCopilotFile([FileFault("", sentence % {"fault": json_fault(error)})]) from error


def _unstorable(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[FileFault]:
    match value:
        case dict() if len(value) > MOST_KEYS:
            yield FileFault(path_of(path), _too_many_keys(len(value)))
        case list() if len(value) > MOST_ENTRIES:
            yield FileFault(path_of(path), _too_many_entries(len(value)))
        case dict():
            for key in value:
                yield from _unstorable(key, path)
            for key, item in value.items():
                yield from _unstorable(item, (*path, key))
        case list():
            for index, item in enumerate(value):
                yield from _unstorable(item, (*path, index))
        case str() if clean_text(value) != value:
            yield FileFault(path_of(path), _("holds characters that cannot be stored."))
        case float() if not math.isfinite(value):
            yield FileFault(path_of(path), _no_finite_number(value))


def _no_finite_number(value: float) -> str:
    if math.isnan(value):
        return _("is no number. Write one, or put the text in quotes.")
    return _("is a number without an end. Write another, or put the text in quotes.")


def _too_many_keys(count: int) -> str:
    sentence = ngettext(
        "has %(count)d key; %(most)d are the most.",
        "has %(count)d keys; %(most)d are the most.",
        count,
    )
    return sentence % {"count": count, "most": MOST_KEYS}


def _too_many_entries(count: int) -> str:
    sentence = ngettext(
        "has %(count)d entry; %(most)d are the most.",
        "has %(count)d entries; %(most)d are the most.",
        count,
    )
    return sentence % {"count": count, "most": MOST_ENTRIES}


def as_json(value: Any) -> str:
    """Plain values as JSON that people can read."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
