"""What is wrong with a copilot file: every fault, with the path of the key and what is right."""

from collections.abc import Iterable
from dataclasses import dataclass

from copilot_admin.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class FileFault:
    """One fault; `path` is like `copilots[0].features.feedback`, empty for the whole file."""

    path: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


class BadCopilotFile(ConfigurationError):
    """A copilot file that is refused as a whole; the text has a line for every fault."""

    def __init__(self, faults: Iterable[FileFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


def path_of(keys: Iterable[str | int]) -> str:
    """The path of a key as people write it."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text
