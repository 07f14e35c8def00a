"""Makes ready what a large request brings before its newest message, where it is not stored yet.

Nearly always all of it is stored. Where a chat is new here, megabytes of results are cut and hashed, and
addresses cleaned: a second of work for which everybody would wait on the writer's thread.
"""

from dataclasses import replace

from copilot_admin.transcripts.matching.attaching import PreparedMessages
from copilot_admin.transcripts.matching.message_store import serialize_message
from copilot_admin.transcripts.store.opening import Prepared


def with_older(prepared: Prepared, incoming: PreparedMessages, *, start: int) -> Prepared:
    """The request with the contents of its messages from a place on.

    Args:
        prepared: The request.
        incoming: Its messages.
        start: The place.
    """
    messages = incoming.messages
    older = {
        place: serialize_message(messages[place].message)
        for place in range(start, len(messages) - 1)
    }
    return replace(prepared, incoming=replace(incoming, older=older))
