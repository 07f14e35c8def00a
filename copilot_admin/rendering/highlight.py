"""Highlighting of search words in HTML that is already safe."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import unescape
import re

from django.utils.safestring import SafeString

from copilot_admin.storage.search_text import find_spans, normalize

# Characters of one piece of HTML. Beyond them nothing is highlighted.
MAX_HIGHLIGHTED = 60_000
_TOKEN = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>|[^<]+|<""")
_SIGN = re.compile(r"&(?:#\d+|#x[\da-fA-F]+|\w+);|.", re.DOTALL)
# Elements inside of a line: a phrase may begin in one and end in another.
_INLINE = re.compile(r"</?(?:a|b|code|del|em|i|s|span|strong)\b", re.IGNORECASE)

Place = tuple[int, int]  # a token and a sign of it


def highlight(safe: SafeString, phrases: Sequence[str]) -> SafeString:
    """Wrap every occurrence of the normalized phrases in `mark` elements."""
    tokens: list[str] = _TOKEN.findall(safe)
    shown, places = _signs(tokens)
    folded = normalize(shown)
    if not any(phrase in folded for phrase in phrases):
        return safe
    hits: dict[int, set[int]] = defaultdict(set)
    for start, end in find_spans(shown, phrases):
        for place in filter(None, places[start:end]):
            hits[place[0]].add(place[1])
    for number, signs in hits.items():
        tokens[number] = "".join(_with_marks(_SIGN.findall(tokens[number]), signs))
    return SafeString("".join(tokens))  # safe input, and only `mark` was added


def _signs(tokens: Sequence[str]) -> tuple[str, list[Place | None]]:
    shown: list[str] = []
    places: list[Place | None] = []
    length = 0
    for number, token in enumerate(tokens):
        length += len(token)
        if length > MAX_HIGHLIGHTED:
            break
        if token.startswith("<"):
            if not _INLINE.match(token):  # the line ends
                shown.append(" ")
                places.append(None)
            continue
        for sign, written in enumerate(_SIGN.findall(token)):
            seen = unescape(written)
            shown.append(seen)
            places += [(number, sign)] * len(seen)
    return "".join(shown), places


def _with_marks(signs: Sequence[str], hits: set[int]) -> Iterator[str]:
    is_open = False
    for number, sign in enumerate(signs):
        if (number in hits) is not is_open:
            yield "</mark>" if is_open else '<mark class="ca-hit">'
            is_open = not is_open
        yield sign
    if is_open:
        yield "</mark>"
