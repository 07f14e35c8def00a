"""A conversation as an export is handed it: facts at once; turns a few at a time, or with those of others."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from copilot_admin.models import Conversation, CopilotVersion, Verdict
from copilot_admin.transcripts.exports.selection import stays
from copilot_admin.transcripts.queries import (
    Attempt,
    Extent,
    Together,
    Tree,
    TurnView,
    attempts_of,
    read_tree,
    read_turns,
)

TURNS_AT_ONCE, TURNS_WITH_DATA = 20, 4  # in memory
MOST_EVENTS = 10_000  # of one request


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What an export has beside what was said.

    Attributes:
        with_data: What the client sent back, what tools gave, tables and charts.
        with_prompts: The system prompts of versions.
        prompts_of: Of the versions of these copilots alone; None: of all.
    """

    with_data: bool = False
    with_prompts: bool = False
    prompts_of: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedTurn:
    """A question with its attempts to answer it.

    Attributes:
        last: The runs of the newest attempt, in their order; empty where nothing is left of it.
        verdicts: What reviewers think of it.
    """

    view: TurnView
    attempts: Sequence[Attempt]
    verdicts: Sequence[Verdict]

    @property
    def last(self) -> Attempt:
        """The runs of the newest attempt."""
        return self.attempts[-1] if self.attempts else ()

    @property
    def question(self) -> str:
        """What was asked."""
        return self.view.question.text if self.view.question else ""

    @property
    def answer(self) -> str:
        """What the newest attempt said, all its legs."""
        return "\n\n".join(run.answer for run in self.last if run.answer)

    @property
    def is_kept(self) -> bool:
        return bool(self.question or self.answer or self.view.question is None)


class Shelf:
    """What several conversations share while they are written: they are read at once.

    Attributes:
        together: Their texts.
        prompts: System prompts that one of them wanted, by copilot and number of a version.
        verdicts: What reviewers think, by conversation.
    """

    def __init__(self, conversations: Collection[int], options: ExportOptions) -> None:
        self.together = Together(conversations)
        self.prompts: dict[tuple[int, int], str] = {}
        self.verdicts = _verdicts_of(conversations)
        self.staying = _staying(conversations)  # after all else was read


class ExportedConversation:
    """One conversation, while it is being written.

    Attributes:
        row: Its facts; its copilot is there too.
        options: What is wanted of it.
        shelf: Where it was read already; None: it is read turn by turn.
    """

    def __init__(
        self, row: Conversation, options: ExportOptions, shelf: Shelf | None = None
    ) -> None:
        self.row = row
        self.options = options
        self._was_gone = False  # when it was last read
        self._shelf = shelf
        self._prompts = shelf.prompts if shelf else {}

    @cached_property
    def tree(self) -> Tree:
        """How its turns hang together."""
        return self._shelf.together.trees[self.row.pk] if self._shelf else read_tree(self.row)

    @property
    def n_turns(self) -> int:
        """How many turns it has."""
        return len(self.tree.places)

    @property
    def is_gone(self) -> bool:
        return self._was_gone or not (self.n_turns or _staying([self.row.pk]))

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """What reviewers think of it as a whole."""
        return self._verdicts.get(None, ())

    def turns(self, ids: Sequence[int] | None = None) -> Iterator[ExportedTurn]:
        """Its turns, each after the one that it follows; those that are deleted meanwhile are left out.

        Args:
            ids: Only these, in their order.
        """
        wanted = [place.turn.pk for place in self.tree.places] if ids is None else ids
        step = TURNS_WITH_DATA if self.options.with_data else TURNS_AT_ONCE
        for start in range(0, len(wanted), step):
            views = self._read(wanted[start : start + step])
            for pk in wanted[start : start + step]:
                if view := views.get(pk):
                    yield self._exported(view)

    def ways(self) -> Iterator[Sequence[int]]:
        """Ids of turns from each first question to each last one; one way where nothing was edited."""
        parents = {place.turn.pk: place.parent_id for place in self.tree.places}
        followed = set(parents.values())
        for leaf in parents:
            if leaf not in followed:
                yield _way_to(leaf, parents)

    def prompt(self, version: int | None) -> str:
        """The system prompt of a version of its copilot; "" where it is not wanted, not his to see, or gone."""
        of_which = self.options.prompts_of
        if not self.options.with_prompts or version is None:
            return ""
        if of_which is not None and self.row.copilot_id not in of_which:
            return ""
        key = (self.row.copilot_id, version)
        if key not in self._prompts:
            of_number = CopilotVersion.objects.filter(
                copilot=self.row.copilot_id, number=version
            ).first()
            document = of_number.document if of_number else {}
            self._prompts[key] = str(document.get("system_prompt") or "")
        return self._prompts[key]

    @cached_property
    def _verdicts(self) -> Mapping[int | None, list[Verdict]]:
        of_all = self._shelf.verdicts if self._shelf else _verdicts_of([self.row.pk])
        found: dict[int | None, list[Verdict]] = defaultdict(list)
        for verdict in of_all.get(self.row.pk, ()):
            found[verdict.turn_id].append(verdict)
        return found

    def _read(self, ids: Collection[int]) -> Mapping[int, TurnView]:
        try:
            if self._shelf:
                found = self._shelf.together.turns(self.row.pk, ids)
            else:
                found = read_turns(self.row, self.tree, ids, extent=Extent(events=MOST_EVENTS))
        except KeyError:
            if _staying([self.row.pk]):
                raise
            found = {}  # it was deleted between two statements
        # Its rows go in several batches: what was read of it may be half of it.
        shelf = None if self.options.with_data else self._shelf
        staying = shelf.staying if shelf else _staying([self.row.pk])
        self._was_gone = self.row.pk not in staying
        return {} if self._was_gone else found

    def _exported(self, view: TurnView) -> ExportedTurn:
        return ExportedTurn(
            view=view,
            attempts=attempts_of(view.runs),
            verdicts=self._verdicts.get(view.id, ()),
        )


def _staying(conversations: Collection[int]) -> frozenset[int]:
    rows = Conversation.objects.filter(stays(), pk__in=conversations).order_by()
    return frozenset(rows.values_list("pk", flat=True))


def _verdicts_of(conversations: Collection[int]) -> Mapping[int, list[Verdict]]:
    found: dict[int, list[Verdict]] = defaultdict(list)
    rows = Verdict.objects.filter(conversation__in=conversations).order_by("id")
    for verdict in rows.prefetch_related("marks__criterion"):
        found[verdict.conversation_id].append(verdict)
    return found


def _way_to(leaf: int, parents: Mapping[int, int | None]) -> list[int]:
    way: list[int] = []
    turn: int | None = leaf
    while turn is not None:
        way.append(turn)
        turn = parents.get(turn)
    return way[::-1]
