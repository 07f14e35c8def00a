"""The client's artifact and citation markers in answers of the past.

Source: Workspace rewrites what an agent sent as artifacts and citations into
`<|start_artifact_id|>NAME<|end_artifact_id|>` and `<|start_citation_id|>ID<|end_citation_id|>`; the
feedback form keeps `<artifact className="NAME"/>` and `<citation className="ID"/>`. A model that
sees them imitates them.
"""

import re

_TAG = re.compile(r"<(?:artifact|citation)\b[^<>]*>|</(?:artifact|citation)\s*>")
_START = re.compile(r"<\|start_(artifact|citation)_id\|>")
_LEFTOVER = re.compile(r"<\|end_(?:artifact|citation)_id\|>")
_LONGEST_ID = 200  # of a marker that never ends only the marker itself is taken away


def strip_markers(text: str) -> str:
    """The text without markers; of an unterminated one only its opening goes. Linear in time."""
    if "<" not in text:
        return text
    kept: list[str] = []
    start = 0
    for opening in _START.finditer(text):
        if opening.start() < start:
            continue
        kept.append(text[start : opening.start()])
        ending = f"<|end_{opening[1]}_id|>"
        end = text.find(ending, opening.end(), opening.end() + _LONGEST_ID + len(ending))
        start = opening.end() if end < 0 else end + len(ending)
    kept.append(text[start:])
    return _TAG.sub("", _LEFTOVER.sub("", "".join(kept)))
