"""How what was chosen or typed in a filter is read."""

from collections.abc import Callable

from django.db.models import Q

from copilot_admin.models import SeenKind, SeenValue
from copilot_admin.transcripts.filters.filter import Choices, NoSuchValue

MOST_CHOICES = 1000  # of one filter; what is beyond can be typed where typing is possible
LARGEST = 2**31 - 1


def whole_number(text: str) -> int:
    """A number as it is typed.

    Raises:
        NoSuchValue: It is none, or greater than a column takes.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= LARGEST):
        raise NoSuchValue(text)
    return int(text)


def one_of(**conditions: Q) -> Callable[[str], Q]:
    """The condition of each choice."""

    def condition(text: str) -> Q:
        if text not in conditions:
            raise NoSuchValue(text)
        return conditions[text]

    return condition


def seen(kind: SeenKind) -> Callable[[], Choices]:
    """The values of a kind that were seen, as choices."""

    def choices() -> Choices:
        values = SeenValue.objects.filter(kind=kind).order_by("value")
        return [(value, value) for value in values.values_list("value", flat=True)[:MOST_CHOICES]]

    return choices
