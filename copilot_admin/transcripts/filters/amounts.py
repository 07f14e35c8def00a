"""Filters by how much it was: tokens, costs, and seconds to the first token."""

from decimal import Decimal, InvalidOperation
from math import ceil, floor

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.transcripts.filters.choices import LARGEST, whole_number
from copilot_admin.transcripts.filters.filter import FilterControl, NoSuchValue, TranscriptFilter

MS_PER_SECOND = 1000
LONGEST = 20  # characters, and digits behind the point


def _milliseconds(text: str) -> Decimal:
    ms = _amount(text) * MS_PER_SECOND
    if ms > LARGEST:
        raise NoSuchValue(text)
    return ms


def _dollars(text: str) -> Decimal:
    return _amount(text.removeprefix("$"))


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text.replace(",", "."))
    except InvalidOperation as error:
        raise NoSuchValue(text) from error
    if not (amount.is_finite() and 0 <= amount <= LARGEST and len(text) <= LONGEST):
        raise NoSuchValue(text)
    if not amount:
        return Decimal(0)  # without the exponent that it may have
    if amount.adjusted() < -LONGEST:  # PostgreSQL has no such numbers
        raise NoSuchValue(text)
    return amount


AMOUNTS: tuple[TranscriptFilter, ...] = (
    TranscriptFilter(
        name="tokens-from",
        label=_("Tokens from"),
        widget=FilterControl.NUMBER,
        condition=lambda text: Q(tokens__gte=whole_number(text)),
    ),
    TranscriptFilter(
        name="tokens-to",
        begins_at="tokens-from",
        label=_("Tokens to"),
        widget=FilterControl.NUMBER,
        condition=lambda text: Q(tokens__lte=whole_number(text)),
    ),
    TranscriptFilter(
        name="cost-from",
        label=_("Cost from ($)"),
        widget=FilterControl.NUMBER,
        condition=lambda text: Q(cost__gte=_dollars(text)),
    ),
    TranscriptFilter(
        name="cost-to",
        begins_at="cost-from",
        label=_("Cost to ($)"),
        widget=FilterControl.NUMBER,
        condition=lambda text: Q(cost__lte=_dollars(text)),
    ),
    TranscriptFilter(
        name="ttft-from",
        label=_("First token from (s)"),
        widget=FilterControl.NUMBER,
        condition=lambda text: Q(ttft_ms__gte=ceil(_milliseconds(text))),
    ),
    TranscriptFilter(
        name="ttft-to",
        begins_at="ttft-from",
        label=_("First token to (s)"),
        widget=FilterControl.NUMBER,
        condition=lambda text: Q(ttft_ms__lte=floor(_milliseconds(text))),
    ),
)
