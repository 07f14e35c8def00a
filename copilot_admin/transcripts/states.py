"""How far the review of a conversation has come; writes."""

from collections.abc import Iterable

from copilot_admin.models import Conversation, ReviewState


def state_after_verdict(readings: Iterable[bool]) -> ReviewState:
    """The state of a conversation that has just been judged.

    Args:
        readings: Of each reading that queues want of it, whether it is done; none when it is in
            no queue.
    """
    return ReviewState.DONE if all(readings) else ReviewState.IN_REVIEW


def lock(conversation_id: int) -> None:
    """Those who take, skip and judge a conversation at the same moment do so one after the other."""
    rows = Conversation.objects.select_for_update().filter(pk=conversation_id)
    rows.values_list("pk", flat=True).first()


def set_state(conversation_id: int, state: ReviewState) -> None:
    """Writes the state of a conversation."""
    Conversation.objects.filter(pk=conversation_id).update(review_state=state)


def begin(conversation_id: int) -> bool:
    """Somebody reads a conversation; returns whether it was new, another state stays."""
    new = Conversation.objects.filter(pk=conversation_id, review_state=ReviewState.NEW)
    return bool(new.update(review_state=ReviewState.IN_REVIEW))


def take_back(conversation_id: int) -> None:
    """Nobody reads any longer what was new; a state that it was given since stays."""
    read = Conversation.objects.filter(pk=conversation_id, review_state=ReviewState.IN_REVIEW)
    read.update(review_state=ReviewState.NEW)
