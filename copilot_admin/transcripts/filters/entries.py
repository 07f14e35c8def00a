"""What the indexes of requests have of a filter's value, by conversation, and the newest of it."""

from collections.abc import Sequence

from django.db.models import OuterRef, Q, QuerySet, Subquery

from copilot_admin.models import CopilotVersion, Run
from copilot_admin.transcripts.filters.choices import whole_number
from copilot_admin.transcripts.filters.filter import Entries, Newest

# Of one value, or one copilot's version: a page is full with eight requests of each conversation.
MOST_ENTRIES = 400
MOST_VERSIONS = (
    300  # as many times the entries of one are read: 120,000 at most, from the index alone
)


def of_version(text: str) -> "QuerySet[Run]":
    """Requests that a version with this number of whatever copilot answered."""
    return Run.objects.filter(copilot_version__number=whole_number(text))


def of_model(text: str) -> "QuerySet[Run]":
    """Requests that a model answered."""
    return Run.objects.filter(model=text)


def of_provider(text: str) -> "QuerySet[Run]":
    """Requests that a provider got."""
    return Run.objects.filter(provider=text)


def of_error(text: str) -> "QuerySet[Run]":
    """Requests that ended in a kind of error."""
    return Run.objects.filter(~Q(error_code=""), error_code=text)


def newest_of(entries: Entries) -> Newest:
    """The highest ids of conversations, of a value whose entries an index has one after the other."""

    def newest(text: str, top: int) -> Sequence[int]:
        asked = entries(text).filter(conversation__lte=top).order_by("-conversation")
        read = asked.values_list("conversation", flat=True)[:MOST_ENTRIES]
        return tuple(dict.fromkeys(read))

    return newest


def newest_of_version(text: str, top: int) -> Sequence[int]:
    """The same of a version's number, of which an index has those of each copilot one after the other.

    From where the version that was asked most lately has as many entries as are read of one, no other
    has more than these.
    """
    asked = Run.objects.filter(copilot_version=OuterRef("pk"), conversation__lte=top)
    ids = asked.order_by("-conversation").values("conversation")
    found = CopilotVersion.objects.filter(number=whole_number(text)).order_by()
    versions = found.annotate(
        newest=Subquery(ids[:1]), floor=Subquery(ids[MOST_ENTRIES - 1 : MOST_ENTRIES])
    ).values_list("pk", "newest", "floor")[: MOST_VERSIONS + 1]
    read = [(pk, floor or 0) for pk, newest, floor in versions if newest is not None]
    if not read or len(versions) > MOST_VERSIONS:
        return ()
    highest = max(floor for _, floor in read)
    # Not sorted and cut there: PostgreSQL took that for a walk along all requests, newest first.
    runs = Run.objects.filter(
        copilot_version__in=[pk for pk, _ in read],
        conversation__gte=highest,
        conversation__lte=top,
    ).order_by()
    return sorted(set(runs.values_list("conversation", flat=True)), reverse=True)
