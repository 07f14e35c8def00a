"""The client's artifact and citation markers in earlier answers.

Source: Workspace rewrites what an agent sent as artifacts and citations into
`<|start_artifact_id|>NAME<|end_artifact_id|>` and `<|start_citation_id|>ID<|end_citation_id|>`; the
feedback form keeps `<artifact className="NAME"/>` and `<citation className="ID"/>`. A model that
sees them imitates them.
"""

import re

MAX_ID_CHARACTERS = 200  # of a marker that never ends only the marker itself is removed
_MARKED = re.compile(
    rf"<\|start_(artifact|citation)_id\|>(.{{0,{MAX_ID_CHARACTERS}}}?)<\|end_\1_id\|>", re.DOTALL
)
_LEFTOVER = re.compile(
    r"<\|(?:start|end)_(?:artifact|citation)_id\|>"
    r"|<(?:artifact|citation)\b[^<>]*>|</(?:artifact|citation)\s*>"
)
_NAMED_TAG = re.compile(r"<artifact className=\"([^\"<>]{1,200})\" ?/>")


def artifact_names(text: str) -> tuple[str, ...]:
    """Return the names of the artifacts that stand in a text."""
    marked = (match[2] for match in _MARKED.finditer(text) if match[1] == "artifact")
    return (*marked, *(tag[1] for tag in _NAMED_TAG.finditer(text)))


def strip_markers(text: str) -> str:
    """Return the text without markers; of an unterminated one only its opening goes."""
    return _LEFTOVER.sub("", _MARKED.sub("", text))
