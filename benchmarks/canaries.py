"""Words of which each belongs to one user alone: found anywhere else they tell of a mix-up."""

from hashlib import blake2b
import re

_CANARY = re.compile(rb"cnry[0-9a-f]{16}")


def canary_of(user: str) -> str:
    """The word of a user, by his id."""
    return f"cnry{blake2b(user.encode(), digest_size=8).hexdigest()}"


def canaries_in(data: bytes) -> frozenset[str]:
    """Whose words are in some bytes."""
    return frozenset(word.decode() for word in _CANARY.findall(data))
