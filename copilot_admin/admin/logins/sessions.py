"""What a session keeps of a log-in with the firm's account."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
import time

from django.contrib import auth
from django.contrib.auth.models import User
from django.http import HttpRequest

from copilot_admin.accounts.sso_session import KEY, OIDC
from copilot_admin.admin.logins.backend import PATH

LONGEST_TOKEN = 8_000  # characters; a longer one is not given back when logging out


class LoginSource(StrEnum):
    """Who vouched for somebody."""

    OIDC = OIDC
    PROXY = "proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouching:
    """What a session keeps of who vouched for its account, and when.

    Attributes:
        at: Seconds since the epoch.
        mark: Of what was said, to see whether it is said anew.
        id_token: For the provider, when its session is to end too.
    """

    source: LoginSource
    at: float
    mark: str = ""
    id_token: str = field(default="", repr=False)


def vouching_of(request: HttpRequest) -> Vouching | None:
    """How the session of a request came to be; None: by a password, or there is none."""
    kept = request.session.get(KEY)
    if not isinstance(kept, dict):
        return None
    return Vouching(
        source=LoginSource(kept["source"]),
        at=kept["at"],
        mark=kept["mark"],
        id_token=kept["id_token"],
    )


def _with_new_rights(request: HttpRequest, user: User) -> None:
    async def same() -> User:
        return user

    request.user = user
    request.auser = same


def let_in(
    request: HttpRequest, user: User, *, source: LoginSource, mark: str = "", id_token: str = ""
) -> None:
    """Logs somebody in, or notes that he was vouched for again: then his forms stay valid."""
    if request.user.pk != user.pk or vouching_of(request) is None:
        auth.login(request, user, backend=PATH)
        request.session.set_expiry(None)
    else:
        _with_new_rights(request, user)
    token = id_token if len(id_token) <= LONGEST_TOKEN else ""
    vouching = Vouching(source=source, at=time.time(), mark=mark, id_token=token)
    request.session[KEY] = asdict(vouching)
