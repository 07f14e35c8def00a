"""Data between marks that it cannot fake."""

import json

from copilot_admin.agent.prompt.room import DataRoom
from protocol.json import Json

OLD_DATA = "[left out: older data that no longer fits]"


def block(text: str, *, room: DataRoom, source: str, **about: Json) -> str:
    """Data between marks that it cannot fake, with where it is from."""
    notes = {"source": source, **{key: value for key, value in about.items() if value}}
    marks = " ".join(f"{key}={json.dumps(note, ensure_ascii=False)}" for key, note in notes.items())
    body = room.take(text) if room.left else OLD_DATA
    return f"<data {inert(marks)}>\n{inert(body)}\n</data>"


def inert(text: str) -> str:
    """A text that ends no block."""
    return text.replace("</data>", "<\\/data>")
