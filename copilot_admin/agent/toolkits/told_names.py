"""Names that models and clients wrote, as a sentence repeats them: none of them without an end."""

from collections.abc import Iterable
from itertools import islice

LONGEST = 100  # characters of one
MOST = 50  # what a model is to choose from fits; of thousands it would be told nothing


def quoted(name: object) -> str:
    """A name in quotes.

    Examples:
        >>> quoted("price")
        "'price'"
        >>> quoted("x" * 1_000_000) == repr("x" * 100 + "…")
        True
    """
    return repr(cut(name if isinstance(name, str) else str(name)))


def listed(names: Iterable[str]) -> str:
    """Some names in a row; of very many the first.

    Examples:
        >>> listed(["date", "price"])
        'date, price'
        >>> listed(map(str, range(80_000))).endswith("48, 49, …")
        True
    """
    left = iter(names)
    first = map(cut, islice(left, MOST))
    return ", ".join((*first, *("…" for _ in islice(left, 1))))


def cut(name: str) -> str:
    """The beginning of a name that is too long to be repeated."""
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
