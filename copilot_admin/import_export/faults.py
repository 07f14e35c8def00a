"""What is wrong with a copilot file: every fault, with the path of the key and what is right."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class FileFault:
    """One fault; `path` is like `copilots[0].features.feedback`, empty for the whole file."""

    path: str
    sentence: str

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
