"""What the indexes of requests have of a filter's value, by conversation, and the newest of it."""

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery

from copilot_admin.models import CopilotVersion, Run
from copilot_admin.review.filter import Entries, Newest
from copilot_admin.review.filtering.choices import whole_number


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
    """The highest id of a conversation, of a value whose entries an index has one after the other."""

    def newest(text: str) -> int | None:
        found: int | None = entries(text).aggregate(newest=Max("conversation"))["newest"]
        return found

    return newest


def newest_of_version(text: str) -> int | None:
    """The same of a version's number: the newest of each copilot's version, and of them the newest."""
    asked = Run.objects.filter(copilot_version=OuterRef("pk"), conversation__isnull=False)
    last = Subquery(asked.order_by("-conversation").values("conversation")[:1])
    versions = CopilotVersion.objects.filter(number=whole_number(text)).annotate(last=last)
    found: int | None = versions.aggregate(newest=Max("last"))["newest"]
    return found
