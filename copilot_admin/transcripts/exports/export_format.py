"""The interface of export formats."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from django.utils.functional import Promise

from copilot_admin.transcripts.exports.reading import ExportedConversation

NOT_KEPT = "[not kept: the copilot's logging keeps no content]"
LEFT_OUT = "[not exported: data was left out]"
NOTHING_CAME = "[nothing came back for this call]"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The filters of an export as text, "" for none, and its time."""

    words: str
    made_at: datetime


class ExportFormat(ABC):
    """A file format, written piece by piece; it has no state between two calls.

    Attributes:
        name: In URLs and commands; also the extension of the file.
        label: For people; `help` describes the format in a sentence.
        has_data: It can hold data; `has_prompts`: system prompts.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    help: ClassVar[str | Promise]
    media_type: ClassVar[str]
    has_data: ClassVar[bool] = True
    has_prompts: ClassVar[bool] = False

    def begin(self, about: About) -> Iterator[str]:
        """Yield the text before the first conversation."""
        yield from ()

    @abstractmethod
    def conversation(self, conversation: ExportedConversation) -> Iterator[str]:
        """Yield one conversation. Every text in it may be hostile."""

    def end(self) -> Iterator[str]:
        """Yield the text after the last conversation."""
        yield from ()
