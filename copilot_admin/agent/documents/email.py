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

# Reader of an attachment: its bytes, name and type.
AttachmentReader = Callable[[bytes, str, str], Iterator[DocumentPage]]


def read_email(data: bytes, read_attachment: AttachmentReader) -> Iterator[DocumentPage]:
    """Yield the message, then the pages of its attachments."""
    message = BytesParser(policy=policy.default).parsebytes(data)
    if not any(message.get(name) for name in _HEADERS):
        raise ValueError("no message")
    headers = [f"{name}: {message[name]}" for name in _HEADERS if message.get(name)]
    body = message.get_body(preferencelist=("plain", "html"))
    text = _read_body(body) if isinstance(body, EmailMessage) else ""
    yield DocumentPage(number=1, text="\n".join((*headers, "", text)).strip())
    number = 1
    for index, part in enumerate(message.iter_attachments()):
        name = part.get_filename() or f"attachment {index + 1}"
        if index >= MAX_ATTACHMENTS:
            note = f"[only the first {MAX_ATTACHMENTS} attachments were read]"
            yield DocumentPage(
                number=number + 1, text="", name="more attachments", note=note, noun="attachment"
            )
            return
        try:
            for page in read_attachment(_payload(part), name, part.get_content_type()):
                number += 1
                title = f"{name}, {page.name}" if page.name else name
                yield DocumentPage(
                    number=number, name=title, text=page.text, note=page.note, noun="attachment"
                )
        except (UnreadableFile, ValueError, OSError, KeyError) as error:
            number += 1
            reason = error.public if isinstance(error, UnreadableFile) else "it is damaged"
            note = f"[attachment {name}: {reason}]"
            yield DocumentPage(number=number, name=name, text="", note=note, noun="attachment")


def _read_body(body: EmailMessage) -> str:
    content = body.get_content()
    text = content if isinstance(content, str) else ""
    return html_to_text(text) if body.get_content_subtype() == "html" else text.strip()


def _payload(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_content()
        return bytes(inner) if isinstance(inner, EmailMessage) else b""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _read_rtf(data: bytes) -> Iterator[DocumentPage]:
    if not data.lstrip().startswith(b"{\\rtf"):
        raise ValueError("no RTF")
    text = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    lines = (line.rstrip() for line in text.splitlines())
    yield DocumentPage(number=1, text="\n".join(lines).strip())


RTF = Format(
    data_types=("rtf",),
    label="RTF file",
    read=_read_rtf,
    samples={"rtf": (rb"{\rtf1\ansi Rates \b rose\b0 .}", "Rates rose.")},
)
