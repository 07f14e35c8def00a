"""The text of a copilot file, YAML or JSON, as plain values that can be stored.

YAML is the JSON-like core of version 1.2. PyYAML's safe constructor makes dates of `2024-01-31`, 31 of
`0x1f` and sets of `!!set`, so values are built from the events of its C parser. Only true, false, null
and decimal numbers are not text.
Source: https://yaml.org/spec/1.2.2/, chapter 10.3, without octal and hexadecimal numbers.
"""

from collections.abc import Callable, Iterator
from itertools import takewhile
import json
import math
import re
import sys
from typing import Any

from django.utils.translation import gettext as _
import yaml
from yaml.error import MarkedYAMLError, YAMLError

from copilot_admin.import_export.errors import BadCopilotFile, FileError, path_of
from protocol.json import MalformedJson, clean_text, loads

MAX_BYTES = 10 * 1024 * 1024  # a few dozen copilots with an image of 200 kB each
_JSON_START = re.compile(r'\s*\{\s*(?:["}]|\Z)')
MAX_CHARACTERS = 5_000_000  # the parser reads about 2 million characters a second
MAX_DEPTH = 40  # levels; a copilot file needs about eight
# Conversions of unquoted texts; anything else is text. An integer of more digits becomes an
# infinite float, which is refused with its path.
CONVERSIONS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile("true|True|TRUE"), lambda _: True),
    (re.compile("false|False|FALSE"), lambda _: False),
    (re.compile("~|null|Null|NULL|"), lambda _: None),
    (re.compile("[-+]?[0-9]{1,300}"), int),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), float),
    (
        re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"),
        lambda text: float(text.replace(".", "")),
    ),
)
_TEXT = "tag:yaml.org,2002:str"
# Controls, line breaks of version 1.1 that are none in 1.2, and a space at the end of a line.
_ESCAPED = re.compile(
    "[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]| \n"
)


def load(data: bytes) -> Any:
    """Read a file: JSON if it starts like a JSON object, else YAML."""
    if len(data) > MAX_BYTES:
        sentence = _("The file is larger than %(limit)d MB.") % {"limit": MAX_BYTES // 1024**2}
        raise BadCopilotFile.of_file(sentence)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadCopilotFile.of_file(_("The file is not UTF-8 text.")) from error
    value = _read_json(data) if _JSON_START.match(text) else read_yaml(text)
    if errors := list(_find_unstorable(value)):
        raise BadCopilotFile(errors)
    return value


def describe_json_error(error: ValueError) -> str:
    """Return where a text is not valid JSON; the error may be one of encoding."""
    if not isinstance(error, MalformedJson):
        return _("It contains an incomplete character. Type it again.")
    if error.place is None:
        return error.public
    line, column = error.place
    return _("Not valid JSON at line %(line)d, column %(column)d.") % {
        "line": line,
        "column": column,
    }


def _read_json(data: bytes) -> Any:
    try:
        return loads(data)
    except MalformedJson as error:
        raise BadCopilotFile.of_file(describe_json_error(error)) from error


def _find_unstorable(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[FileError]:
    match value:
        case dict():
            for key, item in value.items():
                yield from _find_unstorable(key, path)
                yield from _find_unstorable(item, (*path, key))
        case list():
            for index, item in enumerate(value):
                yield from _find_unstorable(item, (*path, index))
        case str() if clean_text(value) != value:
            yield FileError(path_of(path), _("contains characters that can't be stored."))
        case float() if not math.isfinite(value):
            yield FileError(path_of(path), _("must be a finite number, or text in quotes."))


def read_yaml(text: str) -> Any:
    """Read one YAML document of plain values, without aliases, tags and duplicate keys."""
    if len(text) > MAX_CHARACTERS:
        sentence = _("YAML may have %(most)d characters. Split the file, or write it as JSON.")
        raise BadCopilotFile.of_file(sentence % {"most": MAX_CHARACTERS})
    try:
        return _read_document(yaml.parse(text, Loader=yaml.CSafeLoader))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = {"line": mark.line + 1, "column": mark.column + 1} if mark else {}
        place = _("line %(line)d, column %(column)d") % at if at else ""
        sentence = _("this is not YAML of a copilot file: %(problem)s.") % {
            "problem": error.problem
        }
        raise BadCopilotFile([FileError(place, sentence)]) from error
    except (YAMLError, ValueError, OverflowError) as error:
        sentence = _("The file is not YAML: %(fault)s.") % {"fault": error}
        raise BadCopilotFile.of_file(sentence) from error


def _read_document(events: Iterator[yaml.Event]) -> Any:
    next(events)  # the start of the stream
    if not isinstance(next(events), yaml.DocumentStartEvent):
        return None
    value = _read_value(next(events), events, depth=1)
    next(events)  # the end of the document
    following = next(events)
    if isinstance(following, yaml.DocumentStartEvent):
        raise _refusal(_("there is more than one document in the file"), following)
    return value


def _read_value(event: yaml.Event, events: Iterator[yaml.Event], *, depth: int) -> Any:
    if isinstance(event, yaml.AliasEvent):
        raise _refusal(_("aliases are not accepted, write the value out"), event)
    if getattr(event, "tag", None):
        raise _refusal(_("tags are not accepted, put text in quotes"), event)
    if depth > MAX_DEPTH:
        raise _refusal(_("there are more than %(most)d levels") % {"most": MAX_DEPTH}, event)
    match event:
        case yaml.ScalarEvent(style=None | "", value=text):
            return next((to(text) for pattern, to in CONVERSIONS if pattern.fullmatch(text)), text)
        case yaml.ScalarEvent(value=text):
            return text
        case yaml.SequenceStartEvent():
            items = takewhile(lambda one: not isinstance(one, yaml.SequenceEndEvent), events)
            return [_read_value(item, events, depth=depth + 1) for item in items]
        case _:
            return _read_mapping(events, depth=depth + 1)


def _read_mapping(events: Iterator[yaml.Event], *, depth: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for event in takewhile(lambda one: not isinstance(one, yaml.MappingEndEvent), events):
        key = _read_value(event, events, depth=depth)
        if not isinstance(key, str):
            raise _refusal(_("a key must be text, put it in quotes"), event)
        if key in values:
            raise _refusal(_("the key '%(key)s' is given twice") % {"key": key}, event)
        values[key] = _read_value(next(events), events, depth=depth)
    return values


def _refusal(problem: str, event: yaml.Event) -> MarkedYAMLError:
    mark: Any = event.start_mark  # of the C parser
    return MarkedYAMLError(problem=problem, problem_mark=mark)


# Texts that a reader of version 1.2 (ours) or 1.1 (PyYAML) would take for another type.
_NOT_TEXT: tuple[re.Pattern[str], ...] = (
    *(pattern for pattern, _ in CONVERSIONS),
    *(pattern for rows in yaml.SafeDumper.yaml_implicit_resolvers.values() for _, pattern in rows),
)


class _Dumper(yaml.SafeDumper):
    """Writes every value out, and quotes texts that look like another type."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_number(self, data: float) -> yaml.ScalarNode:
        """Write 1.0e-05: version 1.1 takes 1e-05 for a text."""
        node: yaml.ScalarNode = super().represent_float(data)
        if "." not in node.value:
            node.value = node.value.replace("e", ".0e")
        return node

    def represent_text(self, data: str) -> yaml.ScalarNode:
        return self.represent_scalar(_TEXT, data, style=_style(data))


_Dumper.add_representer(float, _Dumper.represent_number)
_Dumper.add_representer(str, _Dumper.represent_text)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def write_yaml(value: Any) -> str:
    """Return plain values as YAML; texts of several lines stay readable."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=sys.maxsize,
    )
    return text


def _style(text: str) -> str | None:
    if _ESCAPED.search(text):
        return '"'
    if "\n" in text:
        return "|"
    return "'" if any(pattern.fullmatch(text) for pattern in _NOT_TEXT) else None
