"""Files that are text already: CSV, plain text, Markdown, JSON, YAML, XML and logs."""

from collections.abc import Iterator
import json

from copilot_admin.agent.documents.document import DocumentPage, Format
from copilot_admin.agent.documents.text_encodings import decode_text


def _read(data: bytes) -> Iterator[DocumentPage]:
    found = decode_text(data)
    yield DocumentPage(number=1, text=found.text, note=found.note)


def _read_json(data: bytes) -> Iterator[DocumentPage]:
    """Read JSON; a file on one line is laid out, and one with an error is text all the same."""
    found = decode_text(data)
    text, note = found.text, found.note
    try:
        value = json.loads(text)
        if "\n" not in text.strip():
            text = json.dumps(value, ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        note = note or "[it is not valid JSON]"
    yield DocumentPage(number=1, text=text, note=note)


TEXT = Format(
    data_types=("csv", "tsv", "txt", "md", "yaml", "yml", "log", "xml", "jsonl", "ini", "toml"),
    label="text file",
    read=_read,
    is_text=True,
    samples={
        "csv": (b"\xef\xbb\xbfday,price\nMon,1", "day,price\nMon,1"),
        "txt": ("Käse".encode("cp1252"), "Käse"),
        "md": ("# Käse".encode("utf-16"), "# Käse"),
    },
)
JSON = Format(
    data_types=("json",),
    label="JSON file",
    read=_read_json,
    is_text=True,
    samples={"json": (b'{"close": 1.5}', '{\n "close": 1.5\n}')},
)
