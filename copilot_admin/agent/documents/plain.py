"""Files that are text already: CSV, plain text, Markdown, JSON, YAML, XML and logs."""

from collections.abc import Iterator

from copilot_admin.agent.documents.document import DocumentPage, Format
from copilot_admin.agent.documents.text_encodings import decode_text


def _read(data: bytes) -> Iterator[DocumentPage]:
    found = decode_text(data)
    yield DocumentPage(number=1, text=found.text, note=found.note)


TEXT = Format(
    data_types=(
        *("txt", "csv", "tsv", "md", "json", "jsonl"),
        *("yaml", "yml", "log", "xml", "ini", "toml"),
    ),
    label="text file",
    read=_read,
    is_text=True,
    samples={
        "csv": (b"\xef\xbb\xbfday,price\nMon,1", "day,price\nMon,1"),
        "txt": ("Käse".encode(), "Käse"),
        "md": ("# Käse".encode("utf-16"), "# Käse"),
    },
)
