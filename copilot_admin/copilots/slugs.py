"""Slugs from names: ASCII letters and digits, and a number if the slug is taken."""

from itertools import count
import unicodedata

from copilot_admin.models import Copilot

LONGEST = 60
UNREAD = "copilot"  # of a name without a Latin letter or a digit
# Latin letters that do not decompose into an ASCII letter and a mark; `romanized.js` has them too
_LATIN = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "ø": "o",
        "œ": "oe",
        "đ": "d",
        "ð": "d",
        "ł": "l",
        "\u0131": "i",
        "þ": "th",
    }
)


def romanized(text: str) -> str:
    """Return a text in lower case with Latin letters as ASCII; other letters stay."""
    decomposed = unicodedata.normalize("NFKD", text.lower()).translate(_LATIN)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def slug_of(name: str) -> str:
    """Return a slug like a name; `slug.js` applies the same rule while the name is typed."""
    letters = "".join(
        character if character.isascii() and character.isalnum() else " "
        for character in romanized(name)
    )
    return "-".join(letters.split())[:LONGEST].rstrip("-") or UNREAD


def free_slug(wanted: str) -> str:
    """Return the slug, with a number if another copilot has it."""
    taken = set(Copilot.objects.values_list("slug", flat=True))
    if wanted not in taken:
        return wanted
    ends = (f"-{number}" for number in count(2))
    tries = (wanted[: LONGEST - len(end)].rstrip("-") + end for end in ends)
    return next(slug for slug in tries if slug not in taken)
