"""The way on which a reviewer reads: along a filtered list, or through a queue; it is in the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

LIST = "_changelist_filters"  # as the links of Django's lists have it
QUEUE = "queue"
LONGEST = 2_000  # characters of an address


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Where a reviewer comes from, and goes on to.

    Attributes:
        filters: The query of the list; empty for the whole list.
        queue: The id of the queue that he reads.
    """

    filters: str
    queue: int | None

    @property
    def fields(self) -> Mapping[str, str]:
        """The way as fields of an address or a form."""
        queue = {} if self.queue is None else {QUEUE: str(self.queue)}
        return {**({LIST: self.filters} if self.filters else {}), **queue}

    @property
    def query(self) -> str:
        """The end of an address without a query of its own."""
        return f"?{urlencode(self.fields)}" if self.fields else ""

    def to(self, name: str, *args: object) -> str:
        """The address of a page of conversations, on this way."""
        return reverse(f"admin:copilot_admin_conversation_{name}", args=args) + self.query

    @property
    def list_address(self) -> str:
        """The list, as it was filtered."""
        address = reverse("admin:copilot_admin_conversation_changelist")
        return f"{address}?{self.filters}" if self.filters else address


def way_in(data: QueryDict) -> Way:
    """The way that an address or a form names."""
    filters, queue = data.get(LIST, ""), data.get(QUEUE, "")
    return Way(
        filters=filters if len(filters) <= LONGEST else "",
        queue=int(queue) if queue.isascii() and queue.isdecimal() and len(queue) <= 18 else None,
    )
