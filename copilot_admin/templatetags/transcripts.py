"""Numbers, outcomes and states in the templates of conversations."""

from decimal import Decimal

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

from copilot_admin.admin.transcripts.outcomes import (
    Presentation,
    present_outcome,
    present_state,
)
from copilot_admin.models import Conversation, Run, Turn
from copilot_admin.pricing.money import FormattedCost, format_cost, format_cost_sums, format_exact
from copilot_admin.rendering import text
from copilot_admin.rendering.highlight import highlight
from copilot_admin.storage.search_text import normalize

MAX_MESSAGE = 200_000  # characters; a question may have 20 MB, which no browser draws in a second

register = template.Library()


@register.filter
def duration(ms: int | None) -> str:
    """Format milliseconds; "" if there are none."""
    return "" if ms is None else text.duration(ms)


@register.filter
def grouped(number: float) -> str:
    """Format a number with thousands separators."""
    return text.number_text(number)


@register.filter
def coordinate(number: float) -> str:
    """Format a number for SVG, the same in every language."""
    return f"{number:.1f}"


@register.filter
def as_outcome(outcome: str) -> Presentation:
    """Return the presentation of an outcome."""
    return present_outcome(outcome)


@register.filter
def as_state(state: str) -> Presentation:
    """Return the presentation of a turn's state."""
    return present_state(state)


@register.filter
def as_cost(run: Run) -> FormattedCost:
    """Format the cost of a run."""
    return format_cost(run.cost, run.cost_confidence)


@register.filter
def as_sum(sums: Conversation | Turn) -> FormattedCost:
    """Format the cost of a turn or a conversation."""
    return format_cost_sums(sums)


@register.filter
def as_price(amount: Decimal) -> str:
    """Format a price with all its digits."""
    return format_exact(amount)


@register.filter
def as_cell(value: object) -> str:
    """Format any value as short text."""
    return text.cell_text(value)  # type: ignore[arg-type]  # JSON out of the database


@register.filter
def as_json(value: object) -> str:
    """Format any value as indented JSON."""
    return text.pretty_json(value)  # type: ignore[arg-type]  # JSON out of the database


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
def says_them(context: template.Context, text: str) -> bool:
    """Return whether a text has one of the searched words."""
    phrases = context.get("phrases")
    if not phrases:
        return False
    folded = normalize(text)
    return any(phrase in folded for phrase in phrases)
