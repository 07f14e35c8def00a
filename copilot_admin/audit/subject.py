"""What something is done to, as the trail keeps it."""

from dataclasses import dataclass
from typing import Self

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Model

from copilot_admin.audit.texts import line
from copilot_admin.models.audit import LONGEST_NAME

LONGEST_ID = 64
# Their names are what somebody asked, and that is erased when he wants it.
NAMELESS = frozenset(
    {
        "componentcall",
        "conversation",
        "replay",
        "run",
        "savedquestion",
        "transcriptexport",
        "turn",
        "turnnote",
        "verdict",
    }
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What something is done to.

    Attributes:
        kind: The name of a model in small letters, or of a part of the product.
        id: Its primary key; empty for what there is once.
        name: What people call it; empty where that is the content of a conversation.
    """

    kind: str
    id: str = ""
    name: str = ""

    @classmethod
    def of(cls, row: Model) -> Self:
        """The subject that stands for a row."""
        kind = row._meta.model_name or ""
        return cls(kind, str(row.pk if row.pk is not None else "")[:LONGEST_ID], name_of(row))


def name_of(row: Model) -> str:
    """What people call a row."""
    if row._meta.model_name in NAMELESS:
        return ""
    name = row.get_username() if isinstance(row, AbstractBaseUser) else str(row)
    return line(name, LONGEST_NAME)
