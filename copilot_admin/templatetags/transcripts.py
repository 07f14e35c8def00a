"""Numbers, outcomes and states in the templates of conversations."""

from collections.abc import Sequence

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

from copilot_admin.admin.transcripts.conversation_page import RunPart
from copilot_admin.admin.transcripts.facts import present_outcome
from copilot_admin.models import Run
from copilot_admin.pricing.cost import FormattedCost, format_cost, format_cost_sums, format_exact
from copilot_admin.rendering import text
from copilot_admin.rendering.markdown import highlight
from copilot_admin.storage.search_text import normalize

MAX_MESSAGE = 200_000  # characters; a question may have 20 MB, which no browser draws in a second

register = template.Library()
register.filter("grouped", text.number_text)
register.filter("as_outcome", present_outcome)
register.filter("as_sum", format_cost_sums)
register.filter("as_price", format_exact)
register.filter("as_cell", text.cell_text)
register.filter("as_json", text.pretty_json)


@register.filter
def duration(ms: int | None) -> str:
    return "" if ms is None else text.duration(ms)


@register.filter
def coordinate(number: float) -> str:
    return f"{number:.1f}"


@register.filter
def as_cost(run: Run) -> FormattedCost:
    return format_cost(run.cost, run.cost_confidence)


@register.filter
def beginning(text: str) -> str:
    """Cut a message to what a page shows."""
    return text[:MAX_MESSAGE]


@register.filter
def has_more(text: str) -> bool:
    return len(text) > MAX_MESSAGE


@register.simple_tag(takes_context=True)
def with_marks(context: template.Context, value: object) -> SafeString:
    """Mark the searched words in a text or safe HTML."""
    safe = SafeString(conditional_escape(value))  # type: ignore[arg-type]  # it takes anything
    phrases = context.get("phrases")
    return highlight(safe, phrases) if phrases else safe


@register.simple_tag(takes_context=True)
def says_them(context: template.Context, answer: Sequence[RunPart]) -> bool:
    """Return whether an answer has one of the searched words."""
    folded = normalize("\n".join(part.run.answer for part in answer))
    return any(phrase in folded for phrase in context.get("phrases") or ())
