"""What the templates of transcripts say of numbers, outcomes and states."""

from django import template

from copilot_admin.admin.transcripts.words import ShownWords, outcome_words, state_words
from copilot_admin.rendering import text

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
def as_cell(value: object) -> str:
    """Any value as short text."""
    return text.cell_text(value)  # type: ignore[arg-type]  # JSON out of the database


@register.filter
def as_json(value: object) -> str:
    """Any value as indented JSON."""
    return text.pretty_json(value)  # type: ignore[arg-type]  # JSON out of the database
