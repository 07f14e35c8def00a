"""Actor and subject of an audit entry, as text that outlives accounts and rows."""

from dataclasses import dataclass
import getpass
import hashlib
from ipaddress import ip_address
import os
from pathlib import Path
import re
import sys
from typing import Self

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Model
from django.http import HttpRequest

from copilot_admin.models.audit import MAX_NAME_LENGTH, MAX_USER_AGENT_LENGTH, ActorKind

MAX_ID_LENGTH = 64
SESSION_HASH_DIGITS = 16  # hexadecimal: enough to distinguish sessions

# Their names quote conversations, which are erased on request; the trail can't be.
MODELS_WITHOUT_NAME = (
    *("componentcall", "conversation", "evaluationrun", "run", "testcase", "transcriptexport"),
    *("turn", "turnnote", "verdict"),
)
_CONTROL_CHARACTERS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def sanitize_line(text: str, max_length: int) -> str:
    """Return the start of a text as one line; control and direction characters become spaces."""
    return _CONTROL_CHARACTERS.sub(" ", text[:max_length])


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    kind: ActorKind
    name: str  # of the account, or of the operating system's user
    id: int | None = None
    address: str = ""
    session: str = ""  # hash of the session key
    agent: str = ""  # User-Agent header, or the command

    @classmethod
    def of(cls, request: HttpRequest, user: AbstractBaseUser | None = None) -> Self:
        """Return the sender of a request; `user` replaces `request.user` around a sign-in."""
        account = user or getattr(request, "user", None)
        account = account if account is not None and account.pk is not None else None
        try:
            address = str(ip_address(request.META.get("REMOTE_ADDR", "").partition("%")[0]))
        except ValueError:  # a Unix socket has no address
            address = ""
        session = getattr(getattr(request, "session", None), "session_key", None) or ""
        return cls(
            kind=ActorKind.PERSON if account else ActorKind.STRANGER,
            name=sanitize_line(account.get_username(), MAX_NAME_LENGTH) if account else "",
            id=account.pk if account else None,
            address=address,
            session=session and hashlib.sha256(session.encode()).hexdigest()[:SESSION_HASH_DIGITS],
            agent=sanitize_line(request.META.get("HTTP_USER_AGENT", ""), MAX_USER_AGENT_LENGTH),
        )

    @classmethod
    def command(cls) -> Self:
        """Return the operating system's user who runs a management command.

        Only the command's name is kept: its arguments may hold secrets.
        """
        words = [Path(sys.argv[0]).name, *sys.argv[1:2]]
        try:
            user = getpass.getuser()
        except (KeyError, OSError):  # containers may run as a number without a name
            user = f"uid {os.getuid()}"
        return cls(
            kind=ActorKind.COMMAND,
            name=sanitize_line(user, MAX_NAME_LENGTH),
            agent=sanitize_line(" ".join(words), MAX_USER_AGENT_LENGTH),
        )

    @classmethod
    def server(cls) -> Self:
        """Return the server itself, for background work that no request caused."""
        return cls(kind=ActorKind.SERVER, name="server")


@dataclass(frozen=True, slots=True)
class Subject:
    """Row or part of the product that something is done to."""

    kind: str  # model name in lower case, or the name of a part
    id: str = ""  # primary key; empty for singletons
    name: str = ""

    @classmethod
    def of(cls, row: Model) -> Self:
        kind = row._meta.model_name or ""
        return cls(kind, str(row.pk if row.pk is not None else "")[:MAX_ID_LENGTH], name_of(row))


def name_of(row: Model) -> str:
    """Return the display name of a row, as far as the trail may keep it."""
    if row._meta.model_name in MODELS_WITHOUT_NAME:
        return ""
    name = row.get_username() if isinstance(row, AbstractBaseUser) else str(row)
    return sanitize_line(name, MAX_NAME_LENGTH)
