"""The client's artifact and citation markers in answers of the past.

Source: Workspace rewrites what an agent sent as artifacts and citations into
`<|start_artifact_id|>NAME<|end_artifact_id|>` and `<|start_citation_id|>ID<|end_citation_id|>`; the
feedback form keeps `<artifact className="NAME"/>` and `<citation className="ID"/>`. A model that
sees them imitates them.
"""

from collections.abc import Iterator
import re

_TAG = re.compile(r"<(?:artifact|citation)\b[^<>]*>|</(?:artifact|citation)\s*>")
_START = re.compile(r"<\|start_(artifact|citation)_id\|>")
_LEFTOVER = re.compile(r"<\|end_(?:artifact|citation)_id\|>")
_NAMED_TAG = re.compile(r"<artifact className=\"([^\"<>]{1,200})\" ?/>")
LONGEST_ID = 200  # of a marker that never ends only the marker itself is taken away


def artifact_names(text: str) -> tuple[str, ...]:
    """The names of the artifacts that stand in a text."""
    if "<" not in text:
        return ()
    marked = (text[start:end] for kind, start, end in _marked(text) if kind == "artifact")
    return (*marked, *(tag[1] for tag in _NAMED_TAG.finditer(text)))


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
        stripped = one.sub("", stripped)
    return stripped


def _marked(text: str) -> Iterator[tuple[str, int, int]]:
    """Finds ids between a marker and its end: the kind of the marker, where the id begins and ends."""
    start = 0
    for opening in _START.finditer(text):
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
