"""Notes in the margin of a turn; everybody reads them, each changes his own; writes."""

from copilot_admin.models import Conversation, Turn, TurnNote
from copilot_admin.transcripts.verdicts import Person

LONGEST = 10_000  # characters


def add_note(turn: Turn, author: Person, text: str) -> TurnNote:
    """Writes a reviewer's note into the margin of a turn."""
    return TurnNote.objects.create(turn=turn, author_id=author.pk, text=text)


def own_note(conversation: Conversation, note: int, author: Person) -> TurnNote | None:
    """A note that somebody wrote and may change; None for those of others."""
    rows = TurnNote.objects.filter(turn__conversation=conversation, author_id=author.pk)
    return rows.filter(pk=note).first()
