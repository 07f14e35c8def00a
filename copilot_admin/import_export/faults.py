"""Faults of copilot files: the path of the key, a sentence, and both in words."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
import re

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class FileFault:
    """One fault; `path` is like `copilots[0].features.feedback`, empty for the whole file."""

    path: str
    sentence: str
    code: str = "invalid"

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


MISSING: str | Promise = gettext_lazy("is missing.")  # the sentence of a key that must be there
MOST_TOLD = 1000


class BadCopilotFile(ConfigurationError):
    """A copilot file that is refused as a whole; the text has a line for each of its first faults."""

    def __init__(self, faults: Iterable[FileFault]) -> None:
        first = tuple(islice(faults, MOST_TOLD + 1))
        self.faults = first if len(first) <= MOST_TOLD else (*first[:MOST_TOLD], _and_more())
        super().__init__("\n".join(map(str, self.faults)))


def _and_more() -> FileFault:
    return FileFault("", _("There are more faults than these. Mend these first."))


def path_of(keys: Iterable[str | int]) -> str:
    """The path of a key as people write it."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


_STEP = re.compile(r"(?:^|\.)([\w-]+)((?:\[[0-9]{1,9}\])*)")
_INDEX = re.compile(r"[0-9]+")
_PATH = re.compile(r"[\w-]+(?:\[[0-9]{1,9}\])*(?:\.[\w-]+(?:\[[0-9]{1,9}\])*)*")
_ONE_OF = {
    "columns": gettext_lazy("column"),
    "copilots": gettext_lazy("copilot"),
    "custom_features": gettext_lazy("control"),
    "earlier": gettext_lazy("earlier message"),
    "files": gettext_lazy("file"),
    "items": gettext_lazy("item"),
    "models": gettext_lazy("model"),
    "params": gettext_lazy("parameter"),
    "providers": gettext_lazy("provider"),
    "questions": gettext_lazy("test case"),
    "rows": gettext_lazy("row"),
    "skills": gettext_lazy("skill"),
    "starters": gettext_lazy("starter"),
    "tools": gettext_lazy("MCP tool"),
    "widgets": gettext_lazy("widget"),
}
_ORDINALS = (
    gettext_lazy("the first %s"),
    gettext_lazy("the second %s"),
    gettext_lazy("the third %s"),
    gettext_lazy("the fourth %s"),
    gettext_lazy("the fifth %s"),
)


class BadQuestion(BadCopilotFile):
    """A saved question that is refused; the text has a line for each of its first faults, in words."""

    def __init__(self, faults: Iterable[FileFault]) -> None:
        super().__init__(faults)
        self.public = "\n".join(map(in_words, self.faults))


def in_words(fault: FileFault) -> str:
    """A fault as a sentence: `widgets[0].id: is missing.` is that the first widget has no id."""
    parent, _dot, key = fault.path.rpartition(".")
    if fault.sentence == MISSING and _names_of(parent) and not key.endswith("]"):
        return _("%(place)s has no %(key)s.") % {"place": place_of(parent), "key": key}
    place = place_of(fault.path)
    return f"{place}: {fault.sentence}" if place else fault.sentence


def place_of(path: str) -> str:
    """A path in words, outer things first: `widgets[0].columns[1]` as `The first widget, the second column`.

    What is no path, such as the name of a file, stays as it is.
    """
    file, colon, inner = path.rpartition(": ")
    names = _names_of(inner)
    if not names:
        return path
    place = ", ".join([file, *names] if colon else names)
    return place[:1].upper() + place[1:] if not colon else place


def _names_of(path: str) -> list[str]:
    inner = path.rpartition(": ")[2]
    if "[" not in inner or not _PATH.fullmatch(inner):
        return []
    return [name for key, counts in _STEP.findall(inner) for name in _names(key, counts)]


def _names(key: str, counts: str) -> list[str]:
    numbers = [int(one) for one in _INDEX.findall(counts)]
    if not numbers:
        return [key]
    what = str(_ONE_OF.get(key, _("entry of %s") % key))
    first, inner = numbers[0], [_counted(_("entry"), one) for one in numbers[1:]]
    return [_counted(what, first), *inner]


def _counted(what: str, index: int) -> str:
    if index < len(_ORDINALS):
        return str(_ORDINALS[index]) % what
    return _("%(what)s %(number)d") % {"what": what, "number": index + 1}
