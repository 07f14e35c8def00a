"""Note which models, errors and reasons there are, so that filters can offer them."""

from collections.abc import Iterable

from copilot_admin.models import SeenKind, SeenValue

MAX_LENGTH = 200
MAX_REASONS = 1000  # callers type them; more than a filter offers aren't noted


def note_seen(kind: SeenKind, values: Iterable[str]) -> None:
    """Note values of a kind, unless they were noted before."""
    found = sorted({value[:MAX_LENGTH] for value in values if value})
    if not found:
        return
    noted = SeenValue.objects.filter(kind=kind)
    new = sorted(set(found) - set(noted.filter(value__in=found).values_list("value", flat=True)))
    if not new or (kind is SeenKind.REASON and noted.count() >= MAX_REASONS):
        return
    SeenValue.objects.bulk_create(
        [SeenValue(kind=kind, value=value) for value in new], ignore_conflicts=True
    )
