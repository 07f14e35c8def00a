"""Free names and slugs of new rows."""

from itertools import count
import re
import unicodedata

from anyascii import anyascii
from django.db.models import Model

from copilot_admin.models import Copilot

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
