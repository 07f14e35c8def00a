"""Who does something, and from where, as the trail keeps it: as text that outlives the account."""

from dataclasses import dataclass
import getpass
import hashlib
from ipaddress import ip_address
import os
from pathlib import Path
import sys
from typing import Self

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest

from copilot_admin.audit.texts import line
from copilot_admin.models.audit import LONGEST_AGENT, LONGEST_NAME, ActorKind

SESSION_LENGTH = 16  # hexadecimal digits: enough to tell sessions apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who does something.

    Attributes:
        kind: A person, a command, the server itself, or somebody who is not logged in.
        name: The account, or the operating system's user.
        id: Of the account.
        address: Where the request came from.
        session: A hash of the session, to tell one log-in from another.
        agent: The beginning of the client's name, or the command.
    """

    kind: ActorKind
    name: str
    id: int | None = None
    address: str = ""
    session: str = ""
    agent: str = ""

    @classmethod
    def of(cls, request: HttpRequest, user: AbstractBaseUser | None = None) -> Self:
        """Whoever sent a request.

        Args:
            request: uvicorn has looked through the proxies that `FORWARDED_ALLOW_IPS` names, so its
                address is that of the client.
            user: The account, where it is not yet, or no longer, that of the request.
        """
        account = user or getattr(request, "user", None)
        known = account is not None and account.pk is not None
        return cls(
            kind=ActorKind.PERSON if known else ActorKind.STRANGER,
            name=line(account.get_username(), LONGEST_NAME) if known and account else "",
            id=account.pk if account else None,
            address=_address(request),
            session=_session(request),
            agent=line(request.META.get("HTTP_USER_AGENT", ""), LONGEST_AGENT),
        )

    @classmethod
    def command(cls) -> Self:
        """Whoever runs a command of `manage.py`, as the operating system calls him.

        What was typed after the command's name is not kept: there may be secrets in it.
        """
        words = [Path(sys.argv[0]).name, *sys.argv[1:2]]
        return cls(
            kind=ActorKind.COMMAND,
            name=line(_system_user(), LONGEST_NAME),
            agent=line(" ".join(words), LONGEST_AGENT),
        )

    @classmethod
    def server(cls) -> Self:
        """The server itself, where it does in the background what nobody has just asked for."""
        return cls(kind=ActorKind.SERVER, name="server")


def _address(request: HttpRequest) -> str:
    try:
        return str(ip_address(request.META.get("REMOTE_ADDR", "").partition("%")[0]))
    except ValueError:  # a socket of this machine
        return ""


def _session(request: HttpRequest) -> str:
    key = getattr(getattr(request, "session", None), "session_key", None)
    return hashlib.sha256(key.encode()).hexdigest()[:SESSION_LENGTH] if key else ""


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # containers run as numbers that have no name
        return f"uid {os.getuid()}"
