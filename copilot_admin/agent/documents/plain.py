"""Files that are text already: CSV, plain text, Markdown, and HTML without its tags."""

from collections.abc import Iterator

from copilot_admin.agent.documents.formats import DocumentPage, Format
from copilot_admin.agent.documents.text_encodings import decode_text
from protocol.plain_text import html_text


def _text(data: bytes) -> Iterator[DocumentPage]:
    found = decode_text(data)
    yield DocumentPage(number=1, text=found.text, note=found.note)


def _html(data: bytes) -> Iterator[DocumentPage]:
    found = decode_text(data)
    yield DocumentPage(number=1, text=html_text(found.text), note=found.note)


TEXT = Format(
    data_types=("csv", "txt", "md"),
    label="text file",
    read=_text,
    is_text=True,
    samples={
        "csv": (b"\xef\xbb\xbfday,price\nMon,1", "day,price\nMon,1"),
        "txt": ("Käse".encode("cp1252"), "Käse"),
        "md": ("# Käse".encode("utf-16"), "# Käse"),
    },
)
HTML = Format(
    data_types=("html",),
    label="HTML file",
    read=_html,
    is_text=True,
    samples={"html": (b"<h1>Rates</h1><script>x()</script><p>rose</p>", "Rates\nrose")},
)
