"""Conversations for exports: read one after the other, some turns at a time."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from copilot_admin.models import Conversation, CopilotVersion, CriterionKind, Verdict
from copilot_admin.models.privacy import ERASED
from copilot_admin.transcripts.queries.reading import (
    Attempt,
    Extent,
    TurnView,
    attempts_of,
    read_turns,
)
from copilot_admin.transcripts.queries.tree import Tree
from copilot_admin.transcripts.store.recorder import TOKENS

TURNS_AT_ONCE, TURNS_WITH_DATA = 20, 4  # in memory
MAX_EVENTS = 10_000  # of one request
NOT_KEPT = "[not kept: the copilot's logging keeps no content]"
LEFT_OUT = "[not exported: data was left out]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Optional parts: data of calls, tables and charts; system prompts of some copilots (None: all)."""

    with_data: bool = False
    with_prompts: bool = False
    prompts_of: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    """A question with its attempts to answer it and the verdicts of reviewers."""

    view: TurnView
    attempts: Sequence[Attempt]
    verdicts: Sequence[Verdict]

    @property
    def last(self) -> Attempt:
        return self.attempts[-1] if self.attempts else ()

    @property
    def question(self) -> str:
        return self.view.question.text if self.view.question else ""

    @property
    def answer(self) -> str:
        return "\n\n".join(run.answer for run in self.last if run.answer)

    @property
    def has_content(self) -> bool:
        """False if the copilot's logging stores no content."""
        return bool(self.question or self.answer or self.view.question is None)

    def describe(self) -> dict[str, Any]:
        row, place = self.view.row, self.view.place
        last = self.last[-1].row if self.last else None
        versions = [run.version for run in self.last if run.version is not None]
        feedback = self.view.feedback
        up = sum(one.is_good for one in feedback)
        confidence = "estimated" if row.cost_is_estimated else "exact"
        if row.n_unpriced:
            confidence = "partly" if row.cost else "unknown"
        return {
            "turn": row.pk,
            "follows": place.parent_id,
            "branch": place.branch,
            "asked_at": row.started_at.isoformat(),
            "content_kept": self.has_content,
            "version": versions[-1] if versions else None,
            "provider": last.provider if last else "",
            "model": last.model if last else "",
            "state": self.view.state,
            "outcome": last.outcome if last else "",
            "error_kind": last.error_code if last else "",
            "error": last.error if last else "",
            "attempts": len(self.attempts),
            "thumbs_up": up,
            "thumbs_down": len(feedback) - up,
            "reasons": list(dict.fromkeys(str(tag) for one in feedback for tag in one.tags)),
            "comments": [one.comment for one in feedback if one.comment],
            **_describe_verdicts(self.verdicts),
            "tokens": row.tokens,
            **{name: sum(getattr(run.row, name) for run in self.view.runs) for name in TOKENS},
            "cost_usd": f"{row.cost:f}" if row.cost or not row.n_unpriced else None,
            "cost_is": confidence,
            "requests_of_unknown_cost": row.n_unpriced,
            "first_token_ms": row.ttft_ms,
            "ms": row.ms,
        }


class ExportedConversation:
    """A conversation that is being exported; `is_gone` if it was deleted during the export."""

    def __init__(self, row: Conversation, options: ExportOptions) -> None:
        self.row, self.options, self.is_gone = row, options, False
        self.tree = Tree(row)
        self._prompts: dict[int, str] = {}
        self._verdicts: dict[int | None, list[Verdict]] = defaultdict(list)
        verdicts = Verdict.objects.filter(conversation=row).order_by("id")
        for verdict in verdicts.prefetch_related("marks__criterion"):
            self._verdicts[verdict.turn_id].append(verdict)

    def describe(self) -> dict[str, Any]:
        row, user = self.row, self.row.user
        return {
            "conversation": row.pk,
            "copilot": row.copilot.slug,
            "caller": row.principal,
            "user": user and {"id": user.identifier, "email": user.email, "name": user.name},
            "trace_id": row.trace_id,
            "review_state": row.review_state,
            **_describe_verdicts(self._verdicts[None]),
        }

    def turns(self, ids: Sequence[int] | None = None) -> Iterator[ExportedTurn]:
        """Yield these turns, or all of them, each after the one that it follows."""
        wanted = [place.id for place in self.tree.places] if ids is None else ids
        step = TURNS_WITH_DATA if self.options.with_data else TURNS_AT_ONCE
        for start in range(0, len(wanted), step):
            views = self._read(wanted[start : start + step])
            for pk in wanted[start : start + step]:
                if view := views.get(pk):
                    yield ExportedTurn(view, attempts_of(view.runs), self._verdicts[pk])

    def paths(self) -> Iterator[Sequence[int]]:
        """Yield the turns from each first question to each last one; one path without branches."""
        followed = {place.parent_id for place in self.tree.places}
        for leaf in self.tree.places:
            if leaf.id not in followed:
                yield [place.id for place in self.tree.path_to(leaf.id)]

    def prompt(self, version: int | None) -> str:
        """Return the system prompt of a version; "" if it isn't exported or was deleted."""
        copilots = self.options.prompts_of
        is_hidden = copilots is not None and self.row.copilot_id not in copilots
        if not self.options.with_prompts or version is None or is_hidden:
            return ""
        if version not in self._prompts:
            rows = CopilotVersion.objects.filter(copilot=self.row.copilot_id, number=version)
            document = rows.values_list("document", flat=True).first() or {}
            self._prompts[version] = str(document.get("system_prompt") or "")
        return self._prompts[version]

    def _read(self, ids: Collection[int]) -> Mapping[int, TurnView]:
        stays = Conversation.objects.filter(is_staying(), pk=self.row.pk)
        try:
            views = read_turns(self.row, self.tree, ids, extent=Extent(events=MAX_EVENTS))
        except KeyError:  # half of it was deleted between two statements
            views = {}
        # Its rows are deleted in several batches, so a partial read may be incomplete.
        self.is_gone = not stays.exists()
        return {} if self.is_gone else views


def is_staying() -> Q:
    """Return the condition that excludes conversations and copilots being deleted."""
    return Q(copilot__deletion_requested_at=None) & ~Q(principal__startswith=ERASED)


def read_conversation(pk: int, options: ExportOptions) -> ExportedConversation | None:
    """Read a conversation for an export; None if it was deleted or is being deleted."""
    rows = Conversation.objects.select_related("copilot", "user").filter(is_staying(), pk=pk)
    row = rows.first()
    return ExportedConversation(row, options) if row else None


def _describe_verdicts(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Return ratings, labels with scores (`wrong number`, `tone: 4`) and comments of reviewers."""
    labels = (
        mark.criterion.name
        + ("" if mark.criterion.kind == CriterionKind.LABEL else f": {mark.value}")
        for verdict in verdicts
        for mark in verdict.marks.all()
    )
    return {
        "ratings": [verdict.rating for verdict in verdicts],
        "labels": list(dict.fromkeys(labels)),
        "rating_comments": [verdict.comment for verdict in verdicts if verdict.comment],
    }
