"""What the templates of transcripts say of numbers, outcomes and states."""

from decimal import Decimal

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

from copilot_admin.admin.transcripts.words import ShownWords, outcome_words, state_words
from copilot_admin.models import Conversation, Run, Turn
from copilot_admin.pricing.money import FormattedCost, format_cost, format_cost_sums, format_exact
from copilot_admin.rendering import text
from copilot_admin.rendering.highlight import highlight
from copilot_admin.storage.search_text import normalize

MOST_OF_A_MESSAGE = (
    200_000  # characters; a question may have 20 MB, which no browser draws in a second
)

register = template.Library()


@register.filter
def duration(ms: int | None) -> str:
    """Milliseconds as people say them; nothing when nobody measured."""
    return "" if ms is None else text.duration(ms)


@register.filter
def grouped(number: float) -> str:
    """A number with its thousands apart."""
    return text.number_text(number)


@register.filter
def coordinate(number: float) -> str:
    """A number for SVG, the same in every language."""
    return f"{number:.1f}"


@register.filter
def as_outcome(outcome: str) -> ShownWords:
    """How an outcome is shown."""
    return outcome_words(outcome)


@register.filter
def as_state(state: str) -> ShownWords:
    """How the state of a turn is shown."""
    return state_words(state)


@register.filter
def as_cost(run: Run) -> FormattedCost:
    """How the cost of a run is shown."""
    return format_cost(run.cost, run.cost_confidence)


@register.filter
def as_sum(sums: Conversation | Turn) -> FormattedCost:
    """How the cost of a turn or a conversation is shown."""
    return format_cost_sums(sums)


@register.filter
def as_price(amount: Decimal) -> str:
    """A price with its digits."""
    return format_exact(amount)


@register.filter
def as_cell(value: object) -> str:
    """Any value as short text."""
    return text.cell_text(value)  # type: ignore[arg-type]  # JSON out of the database


@register.filter
def as_json(value: object) -> str:
    """Any value as indented JSON."""
    return text.pretty_json(value)  # type: ignore[arg-type]  # JSON out of the database


@register.filter
def beginning(text: str) -> str:
    """As much of a message as a page shows."""
    return text[:MOST_OF_A_MESSAGE]


@register.filter
def has_more(text: str) -> bool:
    return len(text) > MOST_OF_A_MESSAGE


@register.simple_tag(takes_context=True)
def with_marks(context: template.Context, value: object) -> SafeString:
    """A text or safe HTML, with the words marked that were searched for on this page."""
    safe = SafeString(conditional_escape(value))  # type: ignore[arg-type]  # it takes anything
    phrases = context.get("phrases")
    return highlight(safe, phrases) if phrases else safe


@register.simple_tag(takes_context=True)
def says_them(context: template.Context, text: str) -> bool:
    """Whether a text has one of the words that were searched for on this page."""
    phrases = context.get("phrases")
    if not phrases:
        return False
    folded = normalize(text)
    return any(phrase in folded for phrase in phrases)
