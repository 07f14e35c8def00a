"""Names as parts of addresses: a slug from a name in any script, and one that is still free."""

from collections.abc import Container
from itertools import count

from copilot_admin.copilots.romanized import romanized
from copilot_admin.models import Copilot

LONGEST = 60
UNREAD = "copilot"  # of a name in whose script no letter can be read by itself, such as Chinese


def slug_of(name: str) -> str:
    """A slug that is like a name.

    The page writes slugs while a name is typed by the same rule (`slug.js`).
    """
    letters = "".join(
        character if character.isascii() and character.isalnum() else " "
        for character in romanized(name)
    )
    return "-".join(letters.split())[:LONGEST].rstrip("-") or UNREAD


def free_slug(wanted: str) -> str:
    """The slug, with a number if another copilot has it."""
    return _numbered(wanted, set(Copilot.objects.values_list("slug", flat=True)))


def _numbered(wanted: str, taken: Container[str]) -> str:
    if wanted not in taken:
        return wanted
    ends = (f"-{number}" for number in count(2))
    tries = (wanted[: LONGEST - len(end)].rstrip("-") + end for end in ends)
    return next(slug for slug in tries if slug not in taken)
