"""YAML as copilot files use it: the JSON-like core of version 1.2, read without surprises.

The parser's events become plain values here rather than in its constructors, for which a date is
an object, `0x1f` is 31 and `!!set` is a set. Here only true, false, null and decimal numbers are
not text. Source: https://yaml.org/spec/1.2.2/, chapter 10.3, without octal and hexadecimal numbers.
"""

from collections.abc import Callable, Iterator
from itertools import takewhile
import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.scanner import Scanner

from copilot_admin.import_export.faults import BadCopilotFile, FileFault

MOST_DEPTH = 40  # levels; a copilot file needs about eight
# The parser is pure Python. Measured: it takes 50 microseconds for a value, 20 for a line of a text,
# and 1.5 seconds for a million characters of words. A copilot has about two hundred values.
MOST_VALUES = 50_000
MOST_LINES = 50_000
MOST_CHARACTERS = 5_000_000
_LINE_ENDS = ("\n", "\r", "\x85", "\u2028", "\u2029")
_TOO_MUCH = {
    "characters": gettext_lazy(
        "YAML may have %(most)d characters; these are %(found)d. Split the file, or write it as JSON."
    ),
    "lines": gettext_lazy(
        "YAML may have %(most)d lines; these are %(found)d. Split the file, or write it as JSON."
    ),
}
# What the whole of an unquoted text is taken for; anything else is text.
NOT_TEXT: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile("true|True|TRUE"), lambda _: True),
    (re.compile("false|False|FALSE"), lambda _: False),
    (re.compile("~|null|Null|NULL|"), lambda _: None),
    (re.compile("[-+]?[0-9]+"), lambda text: _whole(text)),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), float),
    # Whoever loads a file refuses these; as texts they would stand where a number is wanted.
    (
        re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"),
        lambda text: float(text.replace(".", "")),
    ),
)


class _Refusal(MarkedYAMLError):
    """YAML that is no copilot file's, in words of ours."""


class _CarefulScanner(Scanner):
    """Has words for what the parser's own stumbles over, and for what it reads slowly."""

    def scan_flow_scalar_non_spaces(self, double: Any, start_mark: Any) -> Any:
        """Refuses an escape beyond the last of all characters."""
        try:
            return super().scan_flow_scalar_non_spaces(double, start_mark)
        except (ValueError, OverflowError) as error:
            raise _Refusal(
                problem=_("an escape in quotes is no character"),
                problem_mark=self.reader.get_mark(),
            ) from error

    def fetch_tag(self) -> None:
        """Refuses a tag where it begins: one of many "!" would be read in the square of its length."""
        raise _Refusal(
            problem=_("tags are not accepted: put text in quotes"),
            problem_mark=self.reader.get_mark(),
        )


def read_yaml(text: str) -> Any:
    """Reads one YAML document of plain values.

    Raises:
        BadCopilotFile: It is no YAML, or has aliases, tags, keys given twice, or too much to read
            in some seconds.
    """
    _check_size(text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _CarefulScanner
    try:
        return _document(_counted(yaml.parse(text)))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = {"line": mark.line + 1, "column": mark.column + 1} if mark else {}
        place = _("line %(line)d, column %(column)d") % at if at else ""
        raise BadCopilotFile([FileFault(place, _sentence(error))]) from error
    except (YAMLError, ValueError) as error:
        raise BadCopilotFile(
            [FileFault("", _("The file is no YAML: %(fault)s.") % {"fault": error})]
        ) from error


def _check_size(text: str) -> None:
    lines = sum(map(text.count, _LINE_ENDS)) + 1
    for number, most, name in (
        (len(text), MOST_CHARACTERS, "characters"),
        (lines, MOST_LINES, "lines"),
    ):
        if number > most:
            sentence = _TOO_MUCH[name] % {"most": most, "found": number}
            raise BadCopilotFile([FileFault("", sentence)])


def _counted(events: Iterator[Event]) -> Iterator[Event]:
    for number, event in enumerate(events):
        if number > MOST_VALUES:
            sentence = _(
                "there are more than %(most)d keys and values. Split the file, or write it as JSON"
            )
            raise _refusal(sentence % {"most": MOST_VALUES}, event)
        yield event


def _document(events: Iterator[Event]) -> Any:
    next(events)  # the start of the stream
    if not isinstance(next(events), DocumentStartEvent):
        return None
    value = _value(next(events), events, depth=1)
    next(events)  # the end of the document
    following = next(events)
    if isinstance(following, DocumentStartEvent):
        raise _refusal(_("there is more than one document in the file"), following)
    return value


def _value(event: Event, events: Iterator[Event], *, depth: int) -> Any:
    """The value that begins with this event; takes what belongs to it from the rest."""
    if isinstance(event, AliasEvent):
        raise _refusal(_("aliases are not accepted: write the value out"), event)
    if depth > MOST_DEPTH:
        raise _refusal(_("there are more than %(most)d levels") % {"most": MOST_DEPTH}, event)
    match event:
        case ScalarEvent():
            return _scalar(event)
        case SequenceStartEvent():
            items = takewhile(lambda one: not isinstance(one, SequenceEndEvent), events)
            return [_value(item, events, depth=depth + 1) for item in items]
        case _:
            return _mapping(events, depth=depth + 1)


def _mapping(events: Iterator[Event], *, depth: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for event in takewhile(lambda one: not isinstance(one, MappingEndEvent), events):
        key = _value(event, events, depth=depth)
        if not isinstance(key, str):
            raise _refusal(_("a key must be text: put it in quotes"), event)
        if key in values:
            raise _refusal(_("the key '%(key)s' is given twice") % {"key": key}, event)
        values[key] = _value(next(events), events, depth=depth)
    return values


def _scalar(event: ScalarEvent) -> Any:
    text: str = event.value
    if event.style:  # in quotes, or a block
        return text
    for pattern, convert in NOT_TEXT:
        if pattern.fullmatch(text):
            return _converted(convert, event)
    return text


def _converted(convert: Callable[[str], Any], event: ScalarEvent) -> Any:
    try:
        return convert(event.value)
    except (ValueError, OverflowError) as error:
        raise _refusal(_("the number has too many digits: put it in quotes"), event) from error


def _whole(text: str) -> int:
    """A whole number that can be compared with others.

    Raises:
        OverflowError: It is beyond what those can be.
        ValueError: It has more than 4,300 digits, which is the most that Python reads.
    """
    number = int(text)
    float(number)
    return number


def _sentence(error: MarkedYAMLError) -> str:
    problem = str(error.problem)
    if isinstance(error, _Refusal):
        return f"{problem}."
    if "'\\t'" in problem:
        return _("there is a tab. YAML is indented with blanks.")
    return _("this cannot be read as YAML: %(problem)s.") % {"problem": problem}


def _refusal(problem: str, event: Event) -> _Refusal:
    return _Refusal(problem=problem, problem_mark=event.start_mark)
