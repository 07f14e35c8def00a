"""The pages of the review room that `review` times: lists, filters, searches, figures; needs Django set up."""

from collections.abc import Iterator, Mapping

from benchmarks.transcripts import COMMON, CYRILLIC, MIDDLE, RARE
from copilot_admin.models import Conversation, Copilot, Criterion, EndpointKey, Run

LIST = "/admin/copilot_admin/conversation/"
FIGURES = "/admin/figures/"


def pages() -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Each page's name, its address and the query of it."""
    for name, given in _lists():
        yield name, LIST, given
    for name, given in _figures():
        yield name, FIGURES, given
    longest = Conversation.objects.order_by("-n_turns")[0]
    yield f"conversation of {longest.n_turns} turns", f"{LIST}{longest.pk}/change/", {}
    for name, given in _behind():
        yield f"behind {name}", LIST, given


def _lists() -> Iterator[tuple[str, Mapping[str, str]]]:
    copilot = Copilot.objects.order_by("pk")[0]
    middle = Conversation.objects.order_by("last_at")[Conversation.objects.count() // 2]
    key = EndpointKey.objects.order_by("pk")[0]
    place = f"{int(middle.last_at.timestamp()) * 1_000_000}-{middle.pk}"
    yield "list", {}
    yield "list, from its middle", {"older": place}
    for name, value in {
        "copilot": copilot.slug,
        "version": "1",
        "model": "model-3",
        "provider": "Provider 1",
        "caller": f"key:{key.pk}",
        "user": "user-7",
        "days": "90",
        "until": "2026-09-15",
        "outcome": "failed",
        "error": "no-model",
        "judged": "down",
        "reason": "Slow",
        "tokens-from": "30000",
        "cost-from": "0.02",
        "ttft-from": "3.99",
        "call": "yes",
        "branch": "yes",
        "file": "yes",
        "state": "done",
        "label": str(Criterion.objects.get().pk),
    }.items():
        yield f"filter: {name}", {name: value}
    for name, value in {
        "version": "9",
        "model": "none",
        "provider": "none",
        "outcome": "cancelled",
        "error": "none",
        "reason": "none",
        "tokens-from": "999999999",
        "cost-from": "9999",
        "ttft-to": "0",
        "state": "in_review",
        "playground": "only",
    }.items():
        yield f"filter that leaves nothing: {name}", {name: value}
    yield "filter: a rare model", {"model": "model-39"}
    yield "two filters: model, branch", {"model": "model-3", "branch": "yes"}
    yield "two filters: caller, file", {"caller": f"key:{key.pk}", "file": "yes"}
    yield "nothing, from the middle", {"copilot": copilot.slug, "tokens-to": "1", "older": place}
    yield "search: common", {"q": COMMON}
    yield "search: one in a hundred turns", {"q": MIDDLE}
    yield "search: rare", {"q": RARE}
    yield "search: another alphabet", {"q": CYRILLIC}
    yield "search: no hit", {"q": "quetzalcoatl"}
    yield "search: a phrase without a hit", {"q": '"market market"'}
    yield "search: two signs", {"q": "zz"}
    yield "search: rare, with a filter", {"q": RARE, "copilot": copilot.slug}
    yield "search: no hit, with a filter", {"q": "quetzalcoatl", "model": "none"}
    yield "search: a run's id", {"q": str(Run.objects.values_list("pk", flat=True)[0])}
    yield "search: a trace id", {"q": "trace-1"}
    yield "search: a conversation's number", {"q": f"#{middle.pk}"}


def _figures() -> Iterator[tuple[str, Mapping[str, str]]]:
    for days in ("1", "7", "30", "90"):
        yield f"figures of {days} days", {"days": days}
    yield "figures of a year", {"since": "2025-11-23", "until": "2026-11-22"}
    yield "figures of dates long ago", {"since": "2026-08-25", "until": "2026-09-20"}
    copilot = Copilot.objects.order_by("pk")[0]
    yield "figures of one copilot", {"days": "90", "copilot": copilot.slug}


def _behind() -> Iterator[tuple[str, Mapping[str, str]]]:
    for what in (
        "questions", "conversations", "errors", "error:no-model", "slower:3500", "up", "unpriced",
    ):  # fmt: skip
        yield f"{what}, a month", {"counted": f"{what} 2026-10-20 2026-11-20"}
    yield "conversations, long ago", {"counted": "conversations 2026-08-25 2026-09-01"}
    yield "cancelled, of which there are none", {"counted": "cancelled 2026-10-20 2026-11-20"}
