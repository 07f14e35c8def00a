"""Turns become saved questions of their copilot, with what was answered as the baseline; writes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.utils.translation import gettext as _

from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.recorded import answer_of, entry_of, is_running
from copilot_admin.import_export.questions import fill, put_last, read_question
from copilot_admin.models import Conversation, Copilot, RecordedAnswer, SavedQuestion, Turn
from copilot_admin.transcripts.queries import Tree, TurnView, read_request, read_tree, read_turns

MOST_AT_ONCE = 200  # turns of one selection; each may have brought some MB


class Fate(StrEnum):
    """What became of a turn that was to be saved."""

    SAVED = "saved"
    SAVED_BEFORE = "saved-before"
    NOT_KEPT = "not-kept"
    RUNNING = "running"
    COPILOT_AWAY = "copilot-away"
    REFUSED = "refused"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What became of one turn.

    Attributes:
        question: The id of the saved question, also of the one that was there before.
        why: Of one that was refused, in words.
    """

    conversation: int
    turn: int
    copilot: int
    fate: Fate
    question: int | None = None
    why: str = ""

    @property
    def sentence(self) -> str:
        """What became of it, for whoever wanted it saved."""
        return self.why or {
            Fate.SAVED: _("Saved."),
            Fate.SAVED_BEFORE: _("The same question is saved already."),
            Fate.NOT_KEPT: _("Its words were not kept, so there is nothing to ask."),
            Fate.RUNNING: _("It is still being answered. Save it when the answer is whole."),
            Fate.COPILOT_AWAY: _("Its copilot is in the archive or being deleted."),
            Fate.GONE: _("It is not there any more."),
        }.get(self.fate, "")


def turns_of(conversations: Iterable[int], *, only_bad: bool) -> list[tuple[int, int]]:
    """The questions of some conversations, `MOST_AT_ONCE` and one more at most; the newest first.

    Args:
        conversations: Their ids.
        only_bad: Those alone that got a thumb down.

    Returns:
        Ids of conversations and turns.
    """
    turns = Turn.objects.filter(conversation__in=list(conversations), human_node__isnull=False)
    if only_bad:
        turns = turns.filter(feedback__value__lt=0).distinct()
    newest = turns.order_by("-conversation_id", "id").values_list("conversation_id", "pk")
    return list(newest[: MOST_AT_ONCE + 1])


def learn(turns: Sequence[tuple[int, int]], *, label: str = "") -> Iterator[Learned]:
    """Saves turns one after the other, each in a transaction of its own, and says what became of it.

    Args:
        turns: Ids of conversations and turns, those of a conversation side by side.
        label: Under which the questions are kept.
    """
    tree: Tree | None = None
    conversation: Conversation | None = None
    for conversation_id, turn in turns:
        if conversation is None or conversation.pk != conversation_id:
            rows = Conversation.objects.select_related("copilot")
            conversation = rows.filter(pk=conversation_id).first()
            tree = read_tree(conversation) if conversation else None
        if conversation is None or tree is None:
            yield Learned(conversation=conversation_id, turn=turn, copilot=0, fate=Fate.GONE)
        else:
            yield _learn(conversation, tree, turn, label=label)


def path_to(tree: Tree, turn: int) -> list[int]:
    """The turns from the first question to one; nothing when there is no such turn."""
    parents = {place.turn.pk: place.parent_id for place in tree.places}
    path: list[int] = []
    here: int | None = turn
    while here is not None and here in parents:
        path.insert(0, here)
        here = parents[here]
    return path


def _learn(conversation: Conversation, tree: Tree, turn: int, *, label: str) -> Learned:
    fate, question, why = _saved(conversation, tree, turn, label=label)
    return Learned(
        conversation=conversation.pk,
        turn=turn,
        copilot=conversation.copilot_id,
        fate=fate,
        question=question,
        why=why,
    )


def _saved(
    conversation: Conversation, tree: Tree, turn: int, *, label: str
) -> tuple[Fate, int | None, str]:
    if conversation.copilot.is_archived or conversation.copilot.is_being_deleted:
        return Fate.COPILOT_AWAY, None, ""
    of_turn = RecordedAnswer.objects.filter(turn=turn, question__copilot=conversation.copilot_id)
    if (known := of_turn.values_list("pk", flat=True).first()) is not None:
        return Fate.SAVED_BEFORE, known, ""
    above = path_to(tree, turn)
    views = read_turns(conversation, tree, above)
    asked = views.get(turn)
    if asked is None:
        return Fate.GONE, None, ""
    if asked.question is None or not asked.question.text.strip():
        return Fate.NOT_KEPT, None, ""
    if is_running(asked):
        return Fate.RUNNING, None, ""
    try:
        fate, question = _keep(
            _question(conversation, [views[one] for one in above], label=label),
            answer_of(asked, conversation=conversation.pk),
        )
    except ConfigurationError as error:
        return Fate.REFUSED, None, error.public
    return fate, question, ""


def _question(conversation: Conversation, path: Sequence[TurnView], *, label: str) -> SavedQuestion:
    """The last turn of a path as a question that is not stored yet.

    Raises:
        ConfigurationError: It brings more than a question may, or what a question cannot hold.
    """
    kept = [run.id for run in path[-1].runs if run.has_request]
    entry = read_question(entry_of(path, read_request(kept[0]) if kept else None, label=label))
    saved = SavedQuestion(
        copilot=conversation.copilot, origin=conversation.origin or conversation.pk
    )
    fill(saved, entry.row())
    return saved


def _keep(saved: SavedQuestion, answer: RecordedAnswer | None) -> tuple[Fate, int]:
    """Stores a question with its baseline, unless the same one is there.

    Raises:
        ConfigurationError: There are as many as a copilot may have.
    """
    with transaction.atomic():
        # Of two people who save the same question, one has to wait and finds it saved.
        Copilot.objects.select_for_update(of=("self",), no_key=True).get(pk=saved.copilot_id)
        same = SavedQuestion.objects.filter(copilot=saved.copilot_id, digest=saved.digest)
        if (known := same.values_list("pk", flat=True).first()) is not None:
            return Fate.SAVED_BEFORE, known
        put_last(saved)
        if answer is not None:
            answer.question = saved
            answer.save(force_insert=True)
    return Fate.SAVED, saved.pk
