"""Takes what rules name out of texts, JSON and messages; whatever goes wrong, nothing unseen is stored."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import accumulate
import re
from typing import Any, TypeVar, cast

from copilot_admin.redaction.custom_expressions import SearchNotEnded, spans_of
from copilot_admin.redaction.kinds import (
    LONGEST,
    WORDS,
    DataKind,
    Span,
    find,
    is_account_number,
    names_account,
)
from copilot_admin.redaction.rules import Rules
from copilot_admin.redaction.spellings import folded
from protocol.json import Json
from protocol.pieces import PIECE
from protocol.walk import Scalar, rebuild

OWN_WORDS = "[redacted]"
NOT_STORED = "[not stored: what is to be redacted could not be looked for]"
LEAST_NUMBER = 10**11  # numbers with fewer digits are no numbers of cards
_LEAST_FLOAT = 10**14  # what companies are worth are floats with fewer
_MOST = 10**20  # and those with more neither; the digits of very long ones take long
_ENCODED = re.compile(r"(?:data:[\w.+/;=-]{0,100},)?[A-Za-z0-9+/=_\r\n-]+")
LEAST_ENCODED = 400  # characters; what is shorter holds no file
_LONG_LINE = 60  # base64 is broken into lines of 64 or 76

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text as it may be stored.

    Attributes:
        cuts: Where something was taken out, and what stands there now: start, end, words.
        shifts: By how many characters is moved what stands behind each cut.
    """

    text: str
    cuts: tuple[tuple[int, int, str], ...] = ()
    is_stored: bool = True
    shifts: Sequence[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lengths = (len(words) - (end - start) for start, end, words in self.cuts)
        object.__setattr__(self, "shifts", tuple(accumulate(lengths)))

    def moved(self, offset: int) -> int:
        """Where a place of the text is now; within what was taken out: at its beginning."""
        if not self.is_stored:
            return 0
        place = bisect_right(self.cuts, offset, key=lambda cut: cut[0])
        if not place:
            return offset
        start, end, _ = self.cuts[place - 1]
        before = self.shifts[place - 2] if place > 1 else 0
        return start + before if offset < end else offset + self.shifts[place - 1]


def told(texts: Iterable[str], rules: Rules) -> Mapping[str, RedactedText]:
    """Each of some texts as it may be stored; own expressions are looked for in all of them at once."""
    each = list(dict.fromkeys(texts))
    try:
        return _all_told(each, rules)
    except SearchNotEnded:
        return {text: _unseen(text) for text in each}


def redacted(values: Sequence[T], rules: Rules) -> list[T]:
    """JSON, texts and frozen values as they may be stored; with keys, and numbers that are long."""
    if not rules:
        return list(values)
    texts: dict[str, None] = {}

    def note(text: str) -> str:
        texts[text] = None
        return text

    accounts = DataKind.ACCOUNT in rules.kinds
    for value in values:
        _mapped(value, note, accounts=accounts)
    try:
        known = _all_told(list(texts), rules)
    except SearchNotEnded:
        return [cast(T, _unstored(value)) for value in values]

    def stored(text: str) -> str:
        return known[text].text

    return [cast(T, _mapped(value, stored, accounts=accounts)) for value in values]


def _all_told(texts: Sequence[str], rules: Rules) -> Mapping[str, RedactedText]:
    """Each of some texts, of which none is there twice.

    Raises:
        NotFound: Nobody knows where the own expressions are.
    """
    own: list[list[Span]] = [[] for _ in texts]
    if rules.expressions and texts:
        own = spans_of(rules.expressions, texts)
    return {text: _told(text, rules, spans) for text, spans in zip(texts, own, strict=True)}


def _unseen(text: str) -> RedactedText:
    return RedactedText(NOT_STORED, is_stored=False) if text else RedactedText("")


def _unstored(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"not stored": NOT_STORED}
    return _mapped(value, lambda text: _unseen(text).text)


def _told(text: str, rules: Rules, own: Iterable[Span]) -> RedactedText:
    if _is_file(text):
        return RedactedText(
            f"[a file of {len(text):,} characters in base64; it is not kept]", is_stored=False
        )
    found = [(start, end, OWN_WORDS) for start, end in own]
    seen = folded(text if rules.kinds else "")
    for kind in rules.kinds:
        # In parts, so that others have their turn between: one search keeps the interpreter's lock.
        for start in range(0, len(seen.text), PIECE):
            spans = find(kind, seen.text, start, start + PIECE)
            found += [(*seen.origin(span), WORDS[kind]) for span in spans]
    cuts = tuple(_side_by_side(sorted(found)))
    return RedactedText(_without(text, cuts), cuts) if cuts else RedactedText(text)


def _is_file(text: str) -> bool:
    if len(text) < LEAST_ENCODED or not _ENCODED.fullmatch(text):
        return False
    return len(text) / (text.count("\n") + 1) >= _LONG_LINE


def _side_by_side(found: Iterable[tuple[int, int, str]]) -> Iterable[tuple[int, int, str]]:
    last: tuple[int, int, str] | None = None
    for cut in found:
        if last is not None and cut[0] < last[1]:
            last = (last[0], max(last[1], cut[1]), last[2])
            continue
        if last is not None:
            yield last
        last = cut
    if last is not None:
        yield last


def _without(text: str, cuts: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    place = 0
    for start, end, words in cuts:
        parts += (text[place:start], words)
        place = end
    return "".join((*parts, text[place:]))


class _Ways(dict[str, Callable[[Scalar], Scalar]]):
    """What becomes of scalars by the name under which they stand, which alone may tell what they are.

    Args:
        usual: What becomes of those whose name tells nothing.
    """

    def __init__(self, usual: Callable[[Scalar], Scalar]) -> None:
        self._usual = usual

    def __missing__(self, name: str) -> Callable[[Scalar], Scalar]:
        self[name] = self._of_account if names_account(name) else self._usual
        return self[name]

    def _of_account(self, scalar: Scalar) -> Scalar:
        if isinstance(scalar, str) and len(scalar) < LONGEST:
            text = folded(scalar).text
        elif isinstance(scalar, int) and abs(scalar) < _MOST:
            text = str(scalar)
        else:
            return self._usual(scalar)
        return WORDS[DataKind.ACCOUNT] if is_account_number(text) else self._usual(scalar)


def _mapped(value: Any, of_text: Callable[[str], str], *, accounts: bool = False) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        changes = {
            one.name: _mapped(getattr(value, one.name), of_text, accounts=accounts)
            for one in fields(value)
        }
        return replace(value, **changes)
    if isinstance(value, tuple) and any(is_dataclass(one) for one in value):
        return tuple(_mapped(one, of_text, accounts=accounts) for one in value)
    if isinstance(value, str):
        return of_text(value)

    def of_scalar(scalar: Scalar) -> Scalar:
        if isinstance(scalar, str):
            return of_text(scalar)
        if isinstance(scalar, int | float) and abs(scalar) >= LEAST_NUMBER:
            digits = _digits(scalar)
            as_text = of_text(digits)
            return scalar if as_text == digits else as_text
        return scalar

    named = _Ways(of_scalar) if accounts else None
    if isinstance(value, tuple):
        elements = rebuild(list(value), scalar=of_scalar, named=named, key=of_text)
        return tuple(cast("list[Json]", elements))
    return rebuild(value, scalar=of_scalar, named=named, key=of_text)


def _digits(number: float) -> str:
    if abs(number) >= _MOST:
        return ""
    if not isinstance(number, int) and (abs(number) < _LEAST_FLOAT or number % 1):
        return ""
    return str(abs(int(number)))
