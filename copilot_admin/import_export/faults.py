"""Faults of copilot files: the path of the key, a code, and a message."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.errors import ConfigurationError

MISSING: str | Promise = gettext_lazy("is missing.")  # the message of a required key
MAX_FAULTS = 1000


@dataclass(frozen=True, slots=True)
class FileFault:
    """One fault; `path` is like `copilots[0].features.feedback`, empty for the whole file."""

    path: str
    sentence: str
    code: str = "invalid"

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


class BadCopilotFile(ConfigurationError):
    """A copilot file that is rejected as a whole; the text has a line for each of its faults."""

    def __init__(self, faults: Iterable[FileFault]) -> None:
        first = tuple(islice(faults, MAX_FAULTS + 1))
        if len(first) > MAX_FAULTS:
            more = FileFault("", _("There are more errors. Fix these first."), "too_many")
            first = (*first[:MAX_FAULTS], more)
        self.faults = first
        super().__init__("\n".join(map(str, first)))


class BadQuestion(BadCopilotFile):
    """A test question that is rejected; the text has a line for each of its faults."""


def path_of(keys: Iterable[str | int]) -> str:
    """Return the path of a key as people write it."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text
