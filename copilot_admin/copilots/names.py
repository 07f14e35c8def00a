"""Names, slugs and tags of copilots; tags are part of no version."""

from collections.abc import Iterable, Sequence
from itertools import count
import re
import unicodedata

from anyascii import anyascii
from django.db.models import Model
from django.utils.translation import gettext as _

from copilot_admin.copilots.config_types import MAX_TAGS, tag_fault
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot
from copilot_admin.models.copilots import CopilotQuerySet

MAX_LENGTH = 60


def free_name(name: str, model: type[Model]) -> str:
    """Return the name, with a number if a row of the model has it in any case."""
    taken = {one.lower() for one in model._default_manager.values_list("name", flat=True)}
    names = (name, *(f"{name} {number}" for number in range(2, len(taken) + 3)))
    return next(one for one in names if one.lower() not in taken)


def slug_of(name: str) -> str:
    """Return the slug of a name, in ASCII."""
    words = re.sub(r"\W|_", " ", unicodedata.normalize("NFKC", name))
    ascii_words = re.sub(r"[^a-z0-9 ]", "", anyascii(words).lower())
    return "-".join(ascii_words.split())[:MAX_LENGTH].rstrip("-") or "copilot"


def free_slug(wanted: str) -> str:
    """Return the slug, with a number if another copilot has it."""
    taken = set(Copilot.objects.values_list("slug", flat=True))
    if wanted not in taken:
        return wanted
    ends = (f"-{number}" for number in count(2))
    tries = (wanted[: MAX_LENGTH - len(end)].rstrip("-") + end for end in ends)
    return next(slug for slug in tries if slug not in taken)


def tags_in(text: str, *, known: Iterable[str] = ()) -> list[str]:
    """Return the tags in a comma-separated text, spelled like known tags."""
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
    wanted = tag.casefold()
    rows = copilots.order_by("pk").values_list("pk", "tags")
    having = [pk for pk, tags in rows if wanted in map(str.casefold, tags)]
    return copilots.filter(pk__in=having)


def _few(tags: list[str]) -> list[str]:
    if len(tags) > MAX_TAGS:
        raise ConfigurationError(_("A copilot has %(most)d tags at most.") % {"most": MAX_TAGS})
    return tags
