"""Who asks: the user that a token or a trusted proxy names, parsed once at the door."""

from dataclasses import dataclass
from enum import StrEnum


class UserSource(StrEnum):
    """Who says who the user is."""

    TOKEN = "token"  # noqa: S105  # a word, not a secret
    PROXY = "proxy"
    ADMIN = "admin"  # a builder who tries a draft: his log-in says it


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingUser:
    """The user of a copilot, as whoever vouches for him names him.

    Attributes:
        id: What tells users apart; never "".
        email: "" if it is not known.
        name: For people; "" if it is not known.
        source: Who vouches for him.
    """

    id: str
    email: str = ""
    name: str = ""
    source: UserSource = UserSource.TOKEN
