"""Keys of pieces of data: `r<run>-…` of what a run put out, `n<message>-…` of what came back."""

from uuid import UUID

from copilot_admin.models import Conversation, Run
from copilot_admin.transcripts.queries import Tree


def turn_of_key(conversation: Conversation, tree: Tree, key: str) -> int | None:
    """The turn that holds a piece of data; None when the key is none of this conversation."""
    name = key.partition("-")[0]
    kind, rest = name[:1], name[1:]
    if kind == "n" and rest.isascii() and rest.isdecimal() and len(rest) <= 18:
        return tree.turn_above(int(rest))
    run = _run_id(rest) if kind == "r" else None
    if run is None:
        return None
    turns = Run.objects.filter(conversation=conversation, pk=run).values_list("turn_id", flat=True)
    return turns.first()


def _run_id(text: str) -> UUID | None:
    try:
        return UUID(hex=text)
    except ValueError:
        return None
