"""Split the body of a model server into JSON texts: events of a stream, or a single document."""

from copilot_admin.agent.llm.provider_errors import WEB_PAGE, is_web_page
from copilot_admin.errors import ProviderBroke
from protocol.sse import BOM, Decoder, EventTooLarge, ServerEvent

DONE = b"[DONE]"
# A picture that a model draws is sent in one event, in base64.
MAX_EVENT_BYTES = 8 * 1024 * 1024
_TOO_LARGE = (
    "The model's provider sent more than 8 MiB at once, so the answer was ended. Ask again."
)


class BodyReader:
    """Reads blocks of bytes of any boundaries, and returns complete events.

    The first byte distinguishes a stream of events from a document: servers mislabel both.
    """

    def __init__(self) -> None:
        self._events = Decoder(max_event_bytes=MAX_EVENT_BYTES)
        self._document = bytearray()
        self._is_document: bool | None = None  # None while only blanks have arrived

    def feed(self, block: bytes) -> list[ServerEvent]:
        """Return the events that end with this block."""
        if self._is_document is None:
            block = block.lstrip(BOM + b" \t\r\n")
            if is_web_page(block):
                raise ProviderBroke(WEB_PAGE, detail=block.decode(errors="replace"))
            self._is_document = block.startswith((b"{", b"[")) if block else None
        if self._is_document:
            self._document += block
            if len(self._document) > MAX_EVENT_BYTES:
                raise ProviderBroke(_TOO_LARGE)
            return []
        try:
            return _split(self._events.feed(block))
        except EventTooLarge:
            raise ProviderBroke(_TOO_LARGE) from None

    def end(self) -> list[ServerEvent]:
        """Return what is pending at the end of the body: the document, or an unterminated event."""
        if self._is_document:
            return [("message", bytes(self._document))]
        return _split(self._events.end())


def _split(events: list[ServerEvent]) -> list[ServerEvent]:
    """Split documents that some servers send without blank lines between them."""
    split: list[ServerEvent] = []
    for name, data in events:
        lines = data.split(b"\n")
        are_events = all(line.startswith((b"{", DONE)) for line in lines)
        split += ((name, one) for one in (lines if are_events else [data]))
    return split
