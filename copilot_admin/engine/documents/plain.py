"""Files that are text already: CSV, plain text, Markdown, and HTML without its tags."""

from collections.abc import Iterator

from copilot_admin.engine.documents.registry import DocumentPage, Format
from protocol.plain_text import html_text


def _text(data: bytes) -> Iterator[DocumentPage]:
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("binary")
    yield DocumentPage(number=1, text=_decoded(data))


def _html(data: bytes) -> Iterator[DocumentPage]:
    yield DocumentPage(number=1, text=html_text(_decoded(data)))


def _decoded(data: bytes) -> str:
    """UTF-8 or UTF-16 with its mark; else Windows' Latin letters, as older programs write."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


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
