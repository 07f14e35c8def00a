"""Origin of a reviewer, a filtered list or a review queue, carried in the query string."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from copilot_admin.transcripts.search.saved_views import SEARCH_PARAMETER, read_query
from copilot_admin.transcripts.search.text_index import clean_search

LIST = "_changelist_filters"  # as links of Django's change lists name it
QUEUE = "queue"
PLACE = "place"
MAX_PLACE_LENGTH = 40
MAX_FILTERS_LENGTH = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnContext:
    """Origin of a reviewer.

    Attributes:
        filters: Query string of the list.
        queue: Id of the review queue.
        place: Position of the conversation in the list when it was opened; new questions move it.
    """

    filters: str = ""
    queue: int | None = None
    place: str = ""

    @property
    def fields(self) -> Mapping[str, str]:
        """The context as hidden fields of a form."""
        named = {LIST: self.filters, QUEUE: str(self.queue or ""), PLACE: self.place}
        return {name: value for name, value in named.items() if value}

    @property
    def query(self) -> str:
        """The context as the query string of a URL that has no other."""
        return f"?{urlencode(self.fields)}" if self.fields else ""

    def url_of(self, name: str, *args: object) -> str:
        """Return the URL of a page of conversations with this context."""
        return reverse(f"admin:copilot_admin_conversation_{name}", args=args) + self.query

    @property
    def list_url(self) -> str:
        """URL of the list with its filters, or of the queue."""
        if self.queue is not None:
            return reverse("admin:copilot_admin_reviewqueue_change", args=[self.queue])
        url = reverse("admin:copilot_admin_conversation_changelist")
        return f"{url}?{self.filters}" if self.filters else url


def read_context(data: QueryDict) -> ReturnContext:
    """Read the context of a URL or a form."""
    queue, place = data.get(QUEUE, ""), data.get(PLACE, "")
    return ReturnContext(
        filters=read_filters_query(data.get(LIST, "")) or "",
        queue=int(queue) if queue.isascii() and queue.isdecimal() and len(queue) <= 18 else None,
        place=place if len(place) <= MAX_PLACE_LENGTH else "",
    )


def read_filters_query(text: str) -> str | None:
    """Return the query string of a list, its search words cut; None if it is too long."""
    if len(text) > MAX_FILTERS_LENGTH:
        given = read_query(text)
        if SEARCH_PARAMETER in given:
            given[SEARCH_PARAMETER] = clean_search(given[SEARCH_PARAMETER])
        text = urlencode(given)
    return text if len(text) <= MAX_FILTERS_LENGTH else None
