"""Slugs from names: ASCII letters and digits, and a number if the slug is taken."""

from itertools import count
import re
import unicodedata

from anyascii import anyascii

from copilot_admin.models import Copilot

MAX_LENGTH = 60
UNREAD = "copilot"  # of a name without a letter or a digit


def slug_of(name: str) -> str:
    """Return a slug like a name; `slug.js` applies the same rule to Latin letters."""
    words = re.sub(r"\W|_", " ", unicodedata.normalize("NFKC", name))
    ascii_words = re.sub(r"[^a-z0-9 ]", "", anyascii(words).lower())
    return "-".join(ascii_words.split())[:MAX_LENGTH].rstrip("-") or UNREAD


def free_slug(wanted: str) -> str:
    """Return the slug, with a number if another copilot has it."""
    taken = set(Copilot.objects.values_list("slug", flat=True))
    if wanted not in taken:
        return wanted
    ends = (f"-{number}" for number in count(2))
    tries = (wanted[: MAX_LENGTH - len(end)].rstrip("-") + end for end in ends)
    return next(slug for slug in tries if slug not in taken)
