"""Read e-mail (eml): headers, body and attachments; and RTF."""

from collections.abc import Callable, Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from striprtf.striprtf import rtf_to_text

from copilot_admin.agent.documents.document import DocumentPage, Format, UnreadableFile
from copilot_admin.agent.documents.html import html_to_text

MAX_ATTACHMENTS = 20
_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_email(
    data: bytes, read_attachment: Callable[[bytes, str], Iterator[DocumentPage]]
) -> Iterator[DocumentPage]:
    """Yield the message, then the pages of its attachments, which are read by bytes and name."""
    message = BytesParser(policy=policy.default).parsebytes(data)
    headers = [f"{name}: {message[name]}" for name in _HEADERS if message.get(name)]
    if not headers:
        raise ValueError("no message")
    body = message.get_body(preferencelist=("plain", "html"))
    content = body.get_content() if body else ""
    text = html_to_text(content) if body and body.get_content_subtype() == "html" else content
    yield DocumentPage(number=1, text="\n".join((*headers, "", text.strip())).strip())
    number = 1
    for index, part in enumerate(message.iter_attachments()):
        number += 1
        if index >= MAX_ATTACHMENTS:
            note = f"[only the first {MAX_ATTACHMENTS} attachments were read]"
            yield DocumentPage(
                number=number, text="", name="more attachments", note=note, noun="attachment"
            )
            return
        name = part.get_filename() or f"attachment {index + 1}"
        for page in _read_attachment(part, name, read_attachment):
            title = f"{name}, {page.name}" if page.name else name
            yield DocumentPage(
                number=number, name=title, text=page.text, note=page.note, noun="attachment"
            )
            number += 1


def _read_attachment(
    part: EmailMessage, name: str, read: Callable[[bytes, str], Iterator[DocumentPage]]
) -> Iterator[DocumentPage]:
    content = part.get_content() if part.get_content_type() == "message/rfc822" else None
    data = bytes(content) if content is not None else part.get_payload(decode=True)
    try:
        yield from read(data if isinstance(data, bytes) else b"", name)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # libraries raise anything for a damaged file
        reason = error.public if isinstance(error, UnreadableFile) else "it is damaged"
        yield DocumentPage(number=1, text="", note=f"[attachment {name}: {reason}]")


def _read_rtf(data: bytes) -> Iterator[DocumentPage]:
    text = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    lines = (line.rstrip() for line in text.splitlines())
    yield DocumentPage(number=1, text="\n".join(lines).strip())


RTF = Format(data_types=("rtf",), label="RTF file", read=_read_rtf)
