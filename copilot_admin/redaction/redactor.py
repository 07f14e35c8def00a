"""Removal of personal data from texts, JSON and messages before they are stored."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
import logging
import re
from typing import Any, TypeVar, cast

from copilot_admin.redaction.kinds import (
    WORDS,
    DataKind,
    Span,
    find_personal_data,
    is_account_number,
    names_account,
)
from copilot_admin.redaction.rules import Rules, find_matches

logger = logging.getLogger(__name__)

EXPRESSION_LABEL = "[redacted]"
NOT_STORED = "[not stored: what is to be redacted could not be looked for]"
MIN_CARD_NUMBER = 10**11  # numbers with fewer digits are no numbers of cards
_MIN_CARD_FLOAT = 10**14  # values of companies are floats with fewer digits
_MAX_NUMBER = 10**20
_BASE64 = re.compile(r"(?:data:[\w.+/;=-]{0,100},)?[A-Za-z0-9+/=_\r\n-]+")
MIN_FILE_LENGTH = 400  # characters in base64
_MIN_LINE_LENGTH = 60  # base64 is broken into lines of 64 or 76

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text as it may be stored."""

    text: str
    cuts: tuple[tuple[int, int, str], ...] = ()  # start, end and label of each removed part
    is_stored: bool = True

    def moved(self, offset: int) -> int:
        """Return the new place of an offset; inside a removed part, that of its start."""
        if not self.is_stored:
            return 0
        shift = 0
        for start, end, label in self.cuts:
            if offset < end:
                return min(offset, start) + shift
            shift += len(label) - (end - start)
        return offset + shift


def redact_texts(texts: Iterable[str], rules: Rules) -> Mapping[str, RedactedText]:
    """Return each text as it may be stored."""
    unique = list(dict.fromkeys(texts))
    try:
        matches = find_matches(rules.expressions, unique)
    except TimeoutError:
        logger.error("expressions for redaction took too long: texts are not stored")  # noqa: TRY400  # the traceback says no more
        unsearched = RedactedText(NOT_STORED, is_stored=False)
        return {text: unsearched if text else RedactedText("") for text in unique}
    found = zip(unique, matches, strict=True)
    return {text: _redact_text(text, rules.kinds, spans) for text, spans in found}


def redact_values(values: Sequence[T], rules: Rules) -> list[T]:
    """Return JSON, texts and frozen dataclasses as they may be stored, keys included."""
    if not rules:
        return list(values)
    has_accounts = DataKind.ACCOUNT in rules.kinds
    texts: dict[str, str] = {}
    for value in values:
        _map_texts(value, lambda text: texts.setdefault(text, text), has_accounts=has_accounts)
    redacted = redact_texts(texts, rules)
    return [
        cast(T, _map_texts(value, lambda text: redacted[text].text, has_accounts=has_accounts))
        for value in values
    ]


def _redact_text(text: str, kinds: Iterable[DataKind], matches: Iterable[Span]) -> RedactedText:
    if _is_file(text):
        label = f"[a file of {len(text):,} characters in base64; it is not kept]"
        return RedactedText(label, is_stored=False)
    found = [(start, end, EXPRESSION_LABEL) for start, end in matches]
    found += [(start, end, WORDS[kind]) for start, end, kind in find_personal_data(text, kinds)]
    cuts: list[tuple[int, int, str]] = []
    for start, end, label in sorted(found):
        if cuts and start < cuts[-1][1]:  # overlaps
            first, last, kept = cuts[-1]
            cuts[-1] = (first, max(last, end), kept)
        else:
            cuts.append((start, end, label))
    parts: list[str] = []
    place = 0
    for start, end, label in cuts:
        parts += (text[place:start], label)
        place = end
    return RedactedText("".join((*parts, text[place:])), tuple(cuts))


def _is_file(text: str) -> bool:
    if len(text) < MIN_FILE_LENGTH or not _BASE64.fullmatch(text):
        return False
    return len(text) / (text.count("\n") + 1) >= _MIN_LINE_LENGTH


def _map_texts(
    value: Any, change: Callable[[str], str], *, has_accounts: bool, name: str = ""
) -> Any:
    """Rebuild a value with changed texts, keys and long numbers; `name` is its key.

    With `has_accounts`, numbers under a key such as `account` are account numbers.
    """

    def map_member(member: Any, key: str) -> Any:
        return _map_texts(member, change, has_accounts=has_accounts, name=key)

    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{one.name: map_member(getattr(value, one.name), "") for one in fields(value)}
        )
    if isinstance(value, Mapping):
        members: dict[str, Any] = {}
        for key, member in value.items():
            members.setdefault(change(key), map_member(member, key))
        return members
    if isinstance(value, list | tuple):
        elements = [map_member(one, name) for one in value]
        return tuple(elements) if isinstance(value, tuple) else elements
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    if has_accounts and names_account(name) and is_account_number(value):
        return WORDS[DataKind.ACCOUNT]
    if isinstance(value, str):
        return change(value)
    least = MIN_CARD_NUMBER if isinstance(value, int) else _MIN_CARD_FLOAT
    if not least <= abs(value) < _MAX_NUMBER or value % 1:
        return value
    digits = str(abs(int(value)))
    changed = change(digits)
    return value if changed == digits else changed
