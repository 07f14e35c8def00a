"""The way on which a reviewer reads: along a filtered list, or through a queue; it is in the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from copilot_admin.transcripts.search.phrases import clean_search
from copilot_admin.transcripts.search.saved_views import SEARCH_PARAMETER, read_query

LIST = "_changelist_filters"  # as the links of Django's lists have it
QUEUE = "queue"
# Directions, and names of the place where a page of the list begins.
OLDER, NEWER = "older", "newer"
PLACE = "place"
LONGEST_PLACE = 40
LONGEST = 8_000  # characters of filters in an address; 500 signs of any script are 6,000


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Where a reviewer comes from, and goes on to.

    Attributes:
        filters: The query of the list; empty for the whole list.
        queue: The id of the queue that he reads.
        place: Where the conversation stood in the list when he opened it; somebody who asks on in it
            takes it to the top.
    """

    filters: str
    queue: int | None
    place: str = ""

    @property
    def fields(self) -> Mapping[str, str]:
        """The way as fields of an address or a form."""
        queue = {} if self.queue is None else {QUEUE: str(self.queue)}
        place = {PLACE: self.place} if self.place else {}
        return {**({LIST: self.filters} if self.filters else {}), **queue, **place}

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
    filters, queue, place = (data.get(name, "") for name in (LIST, QUEUE, PLACE))
    return Way(
        filters=filters_in(filters) or "",
        queue=int(queue) if queue.isascii() and queue.isdecimal() and len(queue) <= 18 else None,
        place=place if len(place) <= LONGEST_PLACE else "",
    )


def filters_in(text: str) -> str | None:
    """The filters of a list as an address has them; of long words what is looked for.

    Returns:
        None: They are longer than an address may be. Who cut them would have others.
    """
    if len(text) > LONGEST:
        given = {
            name: clean_search(value) if name == SEARCH_PARAMETER else value
            for name, value in read_query(text).items()
        }
        text = urlencode(given)
    return text if len(text) <= LONGEST else None
