"""What of the end of a run is stored in places of its own, packed once however often it is tried."""

from collections.abc import Sequence
from functools import cached_property

from copilot_admin.storage.packing import BIG, Packed, dumped, pack
from copilot_admin.transcripts.matching.content import NO_CONTENT, StoredContent, content_of
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
        return [content_of(reply.message) for reply in self._sealed.replies]

    @cached_property
    def entries(self) -> Sequence[Packed | None]:
        """What each entry holds, packed; None: it is small, and stands in the row of the entry."""
        payloads = (entry.payload for entry in self._sealed.entries)
        return [
            pack(payload) if payload is not None and len(dumped(payload)) > BIG else None
            for payload in payloads
        ]

    def packed(self) -> Sequence[Packed]:
        """All content that is packed and has to be stored."""
        found = (*(reply.packed for reply in self.replies), *self.entries)
        return [one for one in found if one is not None]
