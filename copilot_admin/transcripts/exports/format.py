"""What a format of exports is, and all of them: every subclass in the modules of `formats`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar

from django.utils.functional import Promise

from copilot_admin.transcripts.exports import formats
from copilot_admin.transcripts.exports.conversations import ExportedConversation


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What an export says of itself.

    Attributes:
        words: What was filtered, for people; "" for everything.
        made_at: When it was begun.
    """

    words: str
    made_at: datetime


class ExportFormat(ABC):
    """A form in which transcripts are written, piece by piece; it keeps nothing between two calls.

    Attributes:
        name: In addresses and commands; also the end of the file's name.
        label: For people; `help` says in a sentence what it is for.
        has_data: It can hold data; `has_prompts`: system prompts.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    help: ClassVar[str | Promise]
    media_type: ClassVar[str]
    has_data: ClassVar[bool] = True
    has_prompts: ClassVar[bool] = False

    def begin(self, about: About) -> Iterator[str]:
        """What stands before the first conversation."""
        yield from ()

    @abstractmethod
    def conversation(self, conversation: ExportedConversation) -> Iterator[str]:
        """One conversation. Every text in it may be hostile."""

    def end(self) -> Iterator[str]:
        """What stands behind the last one."""
        yield from ()


@cache
def all_formats() -> Mapping[str, ExportFormat]:
    """Every format by its name, in the order of the modules' names."""
    modules = [
        import_module(f"{formats.__name__}.{module.name}")
        for module in iter_modules(formats.__path__)
    ]
    classes = [
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, ExportFormat) and one is not ExportFormat
    ]
    return {one.name: one() for one in classes}
