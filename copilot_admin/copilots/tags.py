"""Tags of copilots, which are part of no version."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from copilot_admin.copilots.config_types import MAX_TAGS, tag_fault
from copilot_admin.errors import ConfigurationError
from copilot_admin.models.copilots import CopilotQuerySet


def tags_in(text: str, *, known: Iterable[str] = ()) -> list[str]:
    """Return the tags in a comma-separated text, spelled like known tags.

    Raises:
        ConfigurationError: One is not valid, or there are too many.
    """
    spelled = {tag.casefold(): tag for tag in known}
    found: dict[str, str] = {}
    for part in text.replace("\n", ",").split(","):
        tag = " ".join(part.split())
        if not tag:
            continue
        wrong = tag_fault(tag)
        if wrong:
            raise ConfigurationError(f"“{tag[:60]}”: {wrong}")
        found.setdefault(tag.casefold(), spelled.get(tag.casefold(), tag))
    return _few(list(found.values()))


def with_tags(
    tags: Sequence[str], *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> list[str]:
    """Return tags with some added, then some removed; raises `ConfigurationError` for too many."""
    gone = {tag.casefold() for tag in remove}
    found = {tag.casefold(): tag for tag in reversed([*tags, *add])}
    return _few([tag for key, tag in reversed(found.items()) if key not in gone])


def known_tags(copilots: CopilotQuerySet) -> list[str]:
    """Return the tags of some copilots, sorted; one query.

    Tags are one JSON column: those of some hundred copilots are read in a millisecond.
    """
    spelled: dict[str, str] = {}
    for tags in copilots.order_by("pk").values_list("tags", flat=True):
        for tag in tags:
            spelled.setdefault(tag.casefold(), tag)
    return [spelled[key] for key in sorted(spelled)]


def tagged(copilots: CopilotQuerySet, tag: str) -> CopilotQuerySet:
    """Return the copilots with a tag; case doesn't matter."""
    wanted = tag.casefold()
    rows = copilots.order_by("pk").values_list("pk", "tags")
    having = [pk for pk, tags in rows if wanted in map(str.casefold, tags)]
    return copilots.filter(pk__in=having)


def _few(tags: list[str]) -> list[str]:
    if len(tags) > MAX_TAGS:
        raise ConfigurationError(_("A copilot has %(most)d tags at most.") % {"most": MAX_TAGS})
    return tags
