"""Markdown: a document to read; what was said stands in fences, so it draws and fetches nothing."""

from collections.abc import Iterator
import re
from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from copilot_admin.transcripts.exports.conversations import ExportedConversation
from copilot_admin.transcripts.exports.format import About, ExportFormat
from copilot_admin.transcripts.exports.said import facts_of, facts_of_turn, parts_of

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+.!|~&:@/$^=-])")
_TICKS = re.compile(r"`+")


class Markdown(ExportFormat):
    """A heading for each conversation, a fence for each text."""

    name: ClassVar[str] = "md"
    label = _("Markdown")
    help = _("A document to read or to hand to a model. Texts stand as they were written.")
    media_type: ClassVar[str] = "text/markdown; charset=utf-8"

    def begin(self, about: About) -> Iterator[str]:
        """The title, and what was filtered."""
        yield f"# Transcripts\n\n{about.made_at:%Y-%m-%d %H:%M} UTC"
        yield f" · {plain(about.words)}\n" if about.words else "\n"

    def conversation(self, conversation: ExportedConversation) -> Iterator[str]:
        """The turns of the conversation, each with its parts."""
        title = plain(conversation.row.title) or "Conversation"
        yield f"\n## \\#{conversation.row.pk} {title}\n\n{plain(facts_of(conversation))}\n"
        for turn in conversation.turns():
            yield f"\n### {plain(facts_of_turn(turn))}\n"
            for part in parts_of(turn, with_data=conversation.options.with_data):
                yield f"\n**{plain(part.who)}**\n\n{fenced(part.text)}\n"


def plain(text: str) -> str:
    """A text in one line in which nothing is a mark."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def fenced(text: str) -> str:
    """A text as it was written: the fence is longer than any within it."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
