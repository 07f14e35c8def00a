"""Names as parts of addresses: a slug from a name in any script, and one that is still free."""

from collections.abc import Container
import hashlib
from itertools import count
import unicodedata

from copilot_admin.models import Copilot

LONGEST = 60
# Letters that do not come apart into a plain letter and a mark.
_PLAIN = str.maketrans(
    {"ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "đ": "d", "ł": "l", "\u0131": "i"}
)
_SHORT = 8  # hexadecimal digits that tell two names of one script apart


def slug_of(name: str) -> str:
    """A slug that is like a name; of one without any Latin letter or digit, a short mark.

    The page writes slugs while a name is typed by the same rule (`slug.js`).
    """
    plain = unicodedata.normalize("NFKD", name.lower().translate(_PLAIN))
    letters = "".join(
        character if character.isascii() and character.isalnum() else " "
        for character in plain
        if not unicodedata.combining(character)
    )
    slug = "-".join(letters.split())[:LONGEST].rstrip("-")
    return slug or f"copilot-{hashlib.sha256(name.encode()).hexdigest()[:_SHORT]}"


def free_slug(wanted: str) -> str:
    """The slug, with a number if another copilot has it."""
    return _numbered(wanted, set(Copilot.objects.values_list("slug", flat=True)))


def _numbered(wanted: str, taken: Container[str]) -> str:
    if wanted not in taken:
        return wanted
    ends = (f"-{number}" for number in count(2))
    tries = (wanted[: LONGEST - len(end)].rstrip("-") + end for end in ends)
    return next(slug for slug in tries if slug not in taken)
