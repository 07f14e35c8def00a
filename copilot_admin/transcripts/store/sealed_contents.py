"""What of the end of a run is stored in places of its own, packed once however often it is tried."""

from collections.abc import Sequence
from functools import cached_property

from copilot_admin.storage.blobs import BlobValue, to_big_blob
from copilot_admin.transcripts.matching.message_store import (
    NO_CONTENT,
    StoredContent,
    serialize_message,
)
from copilot_admin.transcripts.store.sealing import Sealed


class SealedContents:
    """The contents of replies and of what the run gave; packing a big one takes milliseconds."""

    def __init__(self, sealed: Sealed) -> None:
        self._sealed = sealed

    @cached_property
    def replies(self) -> Sequence[StoredContent]:
        """The content of each reply, in their order."""
        if not self._sealed.keep_content:
            return [NO_CONTENT for _ in self._sealed.replies]
        return [serialize_message(reply.message) for reply in self._sealed.replies]

    @cached_property
    def entries(self) -> Sequence[BlobValue | None]:
        """The payload of each entry as a blob; None if it is small and stands in the row of the entry."""
        payloads = (entry.payload for entry in self._sealed.entries)
        return [None if payload is None else to_big_blob(payload) for payload in payloads]

    def blobs(self) -> Sequence[BlobValue]:
        """Return all that is stored as blobs."""
        found = (*(reply.blob for reply in self.replies), *self.entries)
        return [one for one in found if one is not None]
