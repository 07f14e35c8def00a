"""The client's artifact and citation markers in answers of the past.

Source: Workspace rewrites what an agent sent as artifacts and citations into
`<|start_artifact_id|>NAME<|end_artifact_id|>` and `<|start_citation_id|>ID<|end_citation_id|>`; the
feedback form keeps `<artifact className="NAME"/>` and `<citation className="ID"/>`. A model that
sees them imitates them.
"""

from collections.abc import Iterator
import re

from protocol.pieces import pieces_of

_TAG = re.compile(r"<(?:artifact|citation)\b[^<>]*>|</(?:artifact|citation)\s*>")
_START = re.compile(r"<\|start_(artifact|citation)_id\|>")
_LEFTOVER = re.compile(r"<\|end_(?:artifact|citation)_id\|>")
_NAMED_TAG = re.compile(r"<artifact className=\"([^\"<>]{1,200})\" ?/>")
LONGEST_ID = 200  # of a marker that never ends only the marker itself is taken away
_LONGEST_TAG = 128 * 1024  # characters; what is longer is no tag


def artifact_names(text: str) -> tuple[str, ...]:
    """The names of the artifacts that stand in a text."""
    if "<" not in text:
        return ()
    marked = (text[start:end] for kind, start, end in _marked(text) if kind == "artifact")
    return (*marked, *(tag[1] for tag in _each(_NAMED_TAG, text)))


def strip_markers(text: str) -> str:
    """The text without markers; of an unterminated one only its opening goes. Linear in time."""
    if "<" not in text:
        return text
    kept: list[str] = []
    start = 0
    for kind, begin, end in _marked(text):
        kept.append(text[start : begin - len(_opening(kind))])
        start = end + len(_ending(kind))
    kept.append(text[start:])
    stripped = "".join(kept)
    for one in (_START, _LEFTOVER, _TAG):
        stripped = "".join(one.sub("", piece) for piece in pieces_of(stripped, border=_before_tag))
    return stripped


def _each(sign: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Every place of a marker in a text, looked for by the piece."""
    start = 0
    for piece in pieces_of(text, border=_before_tag):
        yield from sign.finditer(text, start, start + len(piece))
        start += len(piece)


def _before_tag(text: str, at: int) -> int:
    """A place near this one that lies in no marker: before a bracket, of which none has a second one."""
    found = text.find("<", at, at + _LONGEST_TAG)
    return found if found >= 0 else min(at + _LONGEST_TAG, len(text))


def _marked(text: str) -> Iterator[tuple[str, int, int]]:
    """Finds ids between a marker and its end: the kind of the marker, where the id begins and ends."""
    start = 0
    for opening in _each(_START, text):
        if opening.start() < start:
            continue
        ending = _ending(opening[1])
        end = text.find(ending, opening.end(), opening.end() + LONGEST_ID + len(ending))
        if end >= 0:
            yield opening[1], opening.end(), end
            start = end + len(ending)


def _opening(kind: str) -> str:
    return f"<|start_{kind}_id|>"


def _ending(kind: str) -> str:
    return f"<|end_{kind}_id|>"
